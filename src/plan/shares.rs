//! Servers dealt out to jobs: by name for `--shard`, by how long each took for a matrix. Pure.

/// The positions in `names` that the `index`th of `count` shares (from 1) takes, ascending.
///
/// Dealt in the order of the names: neither the files' order nor the machine matters, every name is in exactly one share,
/// and servers of a kind, which are often named alike, are spread. A share beyond the number of names is empty.
pub fn share(names: &[&str], index: u32, count: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|at| names[*at]);
    let (index, count) = (index.max(1) as usize, count.max(1) as usize);
    let mut taken: Vec<usize> = order.into_iter().skip(index - 1).step_by(count).collect();
    taken.sort_unstable();
    taken
}

/// Positions in `servers` for at most `jobs` jobs that take about equally long, longest job first; no job is empty.
///
/// Each server is its name and how long it took, in milliseconds; one that is not known counts as the median of the known
/// ones. The longest goes first to the job that has least to do, which is never more than a third above the best.
pub fn balanced(servers: &[(&str, Option<u64>)], jobs: usize) -> Vec<Vec<usize>> {
    let mut known: Vec<u64> = servers.iter().filter_map(|(_, took)| *took).collect();
    known.sort_unstable();
    let usual = known.get(known.len() / 2).copied().unwrap_or(1);
    let took = |at: usize| servers[at].1.unwrap_or(usual);
    let mut order: Vec<usize> = (0..servers.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(took(*at)), servers[*at].0));
    let mut dealt: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); jobs.clamp(1, servers.len().max(1))];
    for at in order {
        if let Some((total, members)) = dealt.iter_mut().min_by_key(|(total, members)| (*total, members.len())) {
            *total = total.saturating_add(took(at));
            members.push(at);
        }
    }
    dealt.retain(|(_, members)| !members.is_empty());
    dealt.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    dealt.iter_mut().for_each(|(_, members)| members.sort_unstable());
    dealt.into_iter().map(|(_, members)| members).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_follow_the_names_and_keep_the_files_order() {
        let names = ["web", "fs", "git", "db", "mail"];
        // By name: db fs git mail web.
        assert_eq!(share(&names, 1, 2), [0, 2, 3]);
        assert_eq!(share(&names, 2, 2), [1, 4]);
        assert_eq!(share(&names, 1, 1), [0, 1, 2, 3, 4]);
        assert_eq!(share(&names, 6, 6), [] as [usize; 0]);
    }

    #[test]
    fn the_longest_server_has_a_job_of_its_own() {
        let servers = [("a", Some(10)), ("b", Some(100)), ("c", Some(20)), ("d", Some(30)), ("e", Some(40))];
        assert_eq!(balanced(&servers, 2), [vec![1], vec![0, 2, 3, 4]]);
        assert_eq!(balanced(&servers, 9).len(), 5);
    }

    #[test]
    fn a_new_server_counts_as_the_median_and_without_times_all_count_the_same() {
        let servers = [("a", Some(1)), ("b", Some(50)), ("c", Some(900)), ("new", None)];
        assert_eq!(balanced(&servers, 3), [vec![2], vec![0, 1], vec![3]]);
        let equal = [("a", None), ("b", None), ("c", None), ("d", None)];
        assert_eq!(balanced(&equal, 2), [vec![0, 2], vec![1, 3]]);
        let instant = [("a", Some(0)), ("b", Some(0)), ("c", Some(0))];
        assert_eq!(balanced(&instant, 3).len(), 3);
        assert!(balanced(&[], 3).is_empty());
    }

    proptest! {
        #[test]
        fn every_server_is_in_exactly_one_share(count in 1..20u32, names in prop::collection::btree_set("[a-z]{1,4}", 0..40)) {
            let names: Vec<&str> = names.iter().map(String::as_str).rev().collect();
            let mut all: Vec<usize> = (1..=count).flat_map(|index| share(&names, index, count)).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..names.len()).collect::<Vec<_>>());
            let sizes: Vec<usize> = (1..=count).map(|index| share(&names, index, count).len()).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }

        #[test]
        fn a_share_does_not_depend_on_the_order_of_the_file(names in prop::collection::vec("[a-z]{1,4}", 0..20).prop_shuffle()) {
            let mut sorted = names.clone();
            sorted.sort();
            sorted.dedup();
            let mut names = names;
            let mut seen = std::collections::BTreeSet::new();
            names.retain(|name| seen.insert(name.clone()));
            let taken = |names: &[String]| -> std::collections::BTreeSet<String> {
                let refs: Vec<&str> = names.iter().map(String::as_str).collect();
                share(&refs, 2, 3).into_iter().map(|at| names[at].clone()).collect()
            };
            prop_assert_eq!(taken(&names), taken(&sorted));
        }

        #[test]
        fn a_matrix_holds_every_server_once_and_no_job_is_needlessly_long(
            jobs in 1..12usize,
            times in prop::collection::vec(prop::option::of(0..1000u64), 1..40),
        ) {
            let names: Vec<String> = (0..times.len()).map(|at| format!("s{at}")).collect();
            let servers: Vec<(&str, Option<u64>)> = names.iter().map(String::as_str).zip(times.iter().copied()).collect();
            let dealt = balanced(&servers, jobs);
            let mut all: Vec<usize> = dealt.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..servers.len()).collect::<Vec<_>>());
            prop_assert_eq!(dealt.len(), jobs.min(servers.len()));
            // Graham: no job is longer than the mean and one server more.
            if times.iter().all(Option::is_some) {
                let took = |job: &Vec<usize>| job.iter().filter_map(|at| times[*at]).sum::<u64>();
                let (total, longest) = (times.iter().flatten().sum::<u64>(), times.iter().flatten().max().copied().unwrap_or(0));
                prop_assert!(dealt.iter().map(took).max().unwrap_or(0) <= total / dealt.len() as u64 + longest + 1);
            }
        }
    }
}
