//! What got worse and what got better: verdicts by rank, packs by letter.
//!
//! A regression is a check whose verdict dropped in rank (pass > part > fail), a pack whose letter dropped, or a pack that
//! had a letter and has none now. Every check counts, advisory and candidate ones as well: a baseline holds what was reached,
//! and a check that no letter depends on is the very one whose loss nobody else would notice. What has no rank
//! (inconclusive, not applicable), a new check and a check that is gone are noted and are never regressions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Change, Comparison, Drift, DriftLevel, Offer, ServerComparison, drift};
use crate::{
    model::Verdict,
    report::result::{CheckResult, PackResult, RunResult, Status},
    text::{excerpt, terminal},
};

/// Longest name of a server in a note, in characters.
const NAME: usize = 80;

/// What a pack without a letter is called.
const NOT_GRADED: &str = "not graded";

/// Compares the servers of one invocation with those of an earlier one, matched by name. Pure.
pub fn compare(before: &[RunResult], after: &[RunResult]) -> Comparison {
    let earlier: HashMap<&str, &RunResult> = before.iter().rev().map(|run| (run.name.as_str(), run)).collect();
    let servers = after.iter().map(|run| match earlier.get(run.name.as_str()) {
        Some(before) => server(before, run),
        None => ServerComparison {
            name: run.name.clone(),
            notes: vec![terminal::line(&format!(
                "the baseline does not hold {}: there is nothing to compare it with",
                excerpt(&run.name, NAME)
            ))],
            without_grades: true,
            without_surface: true,
            ..ServerComparison::default()
        },
    });
    let mut servers: Vec<_> = servers.collect();
    let now: BTreeSet<&str> = after.iter().map(|run| run.name.as_str()).collect();
    let gone = before.iter().filter(|run| !now.contains(run.name.as_str()));
    let mut notes = Vec::new();
    let held = before.iter().map(|run| run.name.clone()).collect();
    if !before.is_empty() && !after.is_empty() && servers.iter().all(|server| server.before.is_none()) {
        notes.push("nothing was compared: servers are matched by name, and no name is on both sides".to_owned());
        notes.extend(gone.map(|run| format!("the server {} of the baseline was not graded now", run.name)));
    } else if !after.is_empty() {
        servers.extend(gone.map(removed));
    }
    Comparison { servers, notes, held: Some(held) }
}

/// A server of the baseline that was not graded now: agents that use it find nothing there.
fn removed(before: &RunResult) -> ServerComparison {
    let drift = Drift {
        level: DriftLevel::Breaking,
        offer: Offer::Server,
        name: String::new(),
        kind: "server-removed",
        detail: "the baseline holds it, and it was not graded now".to_owned(),
        text: None,
    };
    let letters = Some(letters_of(before));
    ServerComparison { name: before.name.clone(), before: letters, drift: vec![drift], ..ServerComparison::default() }
}

/// Pack id → letter.
fn letters_of(run: &RunResult) -> BTreeMap<String, Option<char>> {
    run.packs.0.iter().map(|(id, pack)| (id.clone(), pack.grade)).collect()
}

fn server(before: &RunResult, after: &RunResult) -> ServerComparison {
    let mut found = ServerComparison {
        name: after.name.clone(),
        before: Some(letters_of(before)),
        notes: standing(before, after),
        without_grades: before.status != Status::Graded,
        ..ServerComparison::default()
    };
    let ended = matches!(after.status, Status::Failed | Status::Interrupted);
    let earlier: HashMap<&str, &PackResult> = before.packs.0.iter().map(|(id, pack)| (id.as_str(), pack)).collect();
    for (id, pack) in &after.packs.0 {
        match earlier.get(id.as_str()) {
            Some(earlier) => {
                letters(id, earlier, pack, ended, &mut found);
                checks(id, earlier, pack, &mut found);
            }
            None => found.notes.extend(letter(pack).map(|letter| format!("pack {id} is new: {letter} now"))),
        }
    }
    let now: BTreeSet<&str> = after.packs.0.iter().map(|(id, _)| id.as_str()).collect();
    for (id, pack) in before.packs.0.iter().filter(|(id, _)| !now.contains(id.as_str())) {
        found.regressions.extend(letter(pack).map(|letter| change(id, None, letter, NOT_GRADED)));
    }
    if let Some(side) = unlisted(before).map(|why| ("baseline", why)).or(unlisted(after).map(|why| ("run", why))) {
        found.notes.push(format!("what the server offers was not compared, as the {} {}", side.0, side.1));
        found.without_surface = true;
    } else {
        found.drift = drift::drift(&before.server, &after.server);
        found.drift.sort_by_key(|drift| drift.level);
    }
    found
}

/// What limits the comparison as a whole.
fn standing(before: &RunResult, after: &RunResult) -> Vec<String> {
    let mut notes = Vec::new();
    let (then, now) = (&before.sealmark.methodology, &after.sealmark.methodology);
    if then != now {
        notes.push(format!("graded by another methodology: {then} then, {now} now"));
    }
    let (then, now) = (&before.config, &after.config);
    let word = |standard: bool| if standard { "STANDARD" } else { "CUSTOM" };
    if then.standard != now.standard {
        notes.push(format!(
            "{} then, {} now: the settings may explain what changed",
            word(then.standard),
            word(now.standard)
        ));
    }
    if then.hash != now.hash {
        let keys: BTreeSet<&String> = then.locked.keys().chain(now.locked.keys()).collect();
        let differ: Vec<&str> =
            keys.into_iter().filter(|key| then.locked.get(*key) != now.locked.get(*key)).map(String::as_str).collect();
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        let hashes = format!("hash {} then, {} now", short(&then.hash), short(&now.hash));
        // Another methodology alone makes another hash, and is said already.
        match differ.is_empty() {
            false => notes.push(format!("graded with other settings ({hashes}): {}", differ.join(", "))),
            true if notes.is_empty() => notes.push(format!("graded under another configuration ({hashes})")),
            true => {}
        }
    }
    let ending = |run: &RunResult| match run.status {
        Status::Graded => None,
        Status::NothingGraded => Some("no pack was graded"),
        Status::Failed => Some("the run failed"),
        Status::Interrupted => Some("the run was interrupted"),
    };
    notes.extend(ending(before).map(|what| format!("{what} then, so little can be compared")));
    notes.extend(ending(after).map(|what| format!("{what} now")));
    notes
}

/// Why a run says nothing about what its server offers.
fn unlisted(run: &RunResult) -> Option<&'static str> {
    match run.status {
        Status::Failed => Some("failed"),
        Status::Interrupted => Some("was interrupted"),
        Status::NothingGraded if run.server.surface.tools.is_empty() => Some("graded nothing and saw no tool"),
        Status::Graded | Status::NothingGraded => None,
    }
}

fn letters(id: &str, before: &PackResult, after: &PackResult, ended: bool, found: &mut ServerComparison) {
    match (before.grade, after.grade) {
        (Some(then), Some(now)) => {
            let (before, after) = (starred(then, before), starred(now, after));
            // Letters sort from good to bad.
            match then.cmp(&now) {
                std::cmp::Ordering::Less => found.regressions.push(change(id, None, before, after)),
                std::cmp::Ordering::Greater => found.improvements.push(change(id, None, before, after)),
                std::cmp::Ordering::Equal if before == after => {}
                std::cmp::Ordering::Equal => found.notes.push(format!(
                    "pack {id}: {before} then, {after} now (provisional, marked *: a critical check was inconclusive)"
                )),
            }
        }
        (Some(then), None) => {
            found.regressions.push(change(id, None, starred(then, before), NOT_GRADED));
            let reason = after.reason.as_ref().filter(|_| !ended);
            found.notes.extend(reason.map(|reason| format!("pack {id} is not graded now: {reason}")));
        }
        (None, Some(now)) => found.notes.push(format!("pack {id}: not graded then, {} now", starred(now, after))),
        (None, None) => {}
    }
}

fn checks(id: &str, before: &PackResult, after: &PackResult, found: &mut ServerComparison) {
    let earlier: HashMap<&str, &CheckResult> =
        before.checks.iter().rev().map(|check| (check.id.as_str(), check)).collect();
    // That a pack as a whole has no letter any more is said once.
    let lost = before.grade.is_some() && after.grade.is_none();
    let mut new = Vec::new();
    for check in &after.checks {
        let Some(earlier) = earlier.get(check.id.as_str()) else {
            new.push(format!("{} ({})", check.id, check.verdict.as_str()));
            continue;
        };
        let (then, now) = (earlier.verdict, check.verdict);
        let changed = || change(id, Some(&check.id), then.as_str(), now.as_str());
        match (rank(then), rank(now)) {
            (Some(high), Some(low)) if low < high => found.regressions.push(changed()),
            (Some(low), Some(high)) if low < high => found.improvements.push(changed()),
            (Some(_), Some(_)) => {}
            _ if then == now || lost => {}
            _ => found.notes.push(format!("check {}: {} then, {} now", check.id, then.as_str(), now.as_str())),
        }
    }
    if !new.is_empty() {
        found.notes.push(format!("pack {id} has new checks: {}", new.join(", ")));
    }
    let now: BTreeSet<&str> = after.checks.iter().map(|check| check.id.as_str()).collect();
    let gone = before.checks.iter().filter(|check| !now.contains(check.id.as_str()));
    let gone: Vec<String> = gone.map(|check| format!("{} ({} then)", check.id, check.verdict.as_str())).collect();
    if !gone.is_empty() {
        found.notes.push(format!("pack {id} has lost checks: {}", gone.join(", ")));
    }
}

/// Higher is better; what was not judged has no rank.
fn rank(verdict: Verdict) -> Option<u8> {
    match verdict {
        Verdict::Pass => Some(2),
        Verdict::Part => Some(1),
        Verdict::Fail => Some(0),
        Verdict::Inconclusive | Verdict::Na => None,
    }
}

fn letter(pack: &PackResult) -> Option<String> {
    pack.grade.map(|letter| starred(letter, pack))
}

fn starred(letter: char, pack: &PackResult) -> String {
    if pack.provisional { format!("{letter}*") } else { letter.to_string() }
}

fn change(pack: &str, check: Option<&str>, before: impl Into<String>, after: impl Into<String>) -> Change {
    Change { pack: pack.to_owned(), check: check.map(str::to_owned), before: before.into(), after: after.into() }
}

#[cfg(test)]
mod tests;
