//! What was asked for by name and is not published, where no adapter says so: one line each. Defaults ask for nothing.

use super::{BadgePlace, Capability, Context, Event, Notice, Options, Platform, When};

/// What this platform does not have, and what this event has no place for: a comment outside of a request, badges outside of
/// a push to the default branch. The latter is no failure: it comes with the event that it belongs to.
pub fn without_a_place(context: &Context, options: &Options) -> Vec<Notice> {
    let can = &context.capabilities;
    let on = |platform| context.platform == platform;
    let (github, gitlab) = (on(Platform::GitHub), on(Platform::GitLab));
    // A branch that cannot be told from the default branch may be it.
    let known = context.event != Event::Branch || context.default_branch.is_some();
    let asked = [
        (
            matches!(options.comment, When::Always | When::OnChange),
            "no comment",
            &can.comment,
            github || gitlab,
            context.pull_request.is_none(),
        ),
        (
            options.badge != BadgePlace::Off,
            "no badges",
            &can.badge,
            github && known,
            context.event != Event::DefaultBranch,
        ),
        (options.upload_sarif, "no SARIF upload", &can.sarif, github, context.event == Event::MergeQueue),
    ];
    let told = asked.into_iter().filter_map(|(wanted, what, can, has, elsewhere)| match can {
        Capability::No { why, remedy } if wanted && (!has || elsewhere) => {
            let (what, why, remedy) = (what.to_owned(), why.clone(), remedy.clone());
            Some(if has { Notice::OutOfPlace { what, why, remedy } } else { Notice::Skipped { what, why, remedy } })
        }
        _ => None,
    });
    told.collect()
}

/// What is due in this event and cannot be done because GitHub gave no token.
pub fn without_a_token(context: &Context, options: &Options) -> Vec<Notice> {
    let can = &context.capabilities;
    let comment = options.comment != When::Off && context.pull_request.is_some();
    let badge = options.badge != BadgePlace::Off && context.event == Event::DefaultBranch;
    let sarif = options.upload_sarif && context.event != Event::MergeQueue;
    let due = [
        (comment, "no comment", &can.comment),
        (badge, "no badges", &can.badge),
        (sarif, "no SARIF upload", &can.sarif),
    ];
    let told = due.into_iter().filter_map(|(due, what, can)| match can {
        Capability::No { why, remedy } if due => {
            let (what, why, remedy) = (what.to_owned(), why.clone(), remedy.clone());
            let always = what == "no comment" && options.comment == When::Always;
            Some(if always {
                Notice::Failed { what, cause: why, remedy }
            } else {
                Notice::Skipped { what, why, remedy }
            })
        }
        _ => None,
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ci::detect;

    fn options(comment: When, badge: BadgePlace, upload_sarif: bool) -> Options {
        Options {
            comment,
            comment_key: String::new(),
            upload_sarif,
            annotations: false,
            summary: false,
            badge,
            artifact_name: String::new(),
            baseline_job: None,
        }
    }

    fn all() -> Options {
        options(When::Always, BadgePlace::Branch("badges".to_owned()), true)
    }

    fn on(variables: &[(&str, &str)]) -> Context {
        let env: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        detect(&env, None)
    }

    #[test]
    fn a_platform_without_it_says_so_for_everything_that_was_asked_for() {
        for variables in [&[][..], &[("CI", "true")], &[("CI", "true"), ("CIRCLECI", "true")], &[("CI", "false")]] {
            let told = without_a_place(&on(variables), &all());
            assert_eq!(told.len(), 3, "{variables:?}: {told:?}");
            assert!(told.iter().all(|notice| matches!(notice, Notice::Skipped { .. })), "{told:?}");
            assert_eq!(without_a_place(&on(variables), &options(When::Auto, BadgePlace::Off, false)), []);
        }
        let told = without_a_place(&on(&[("GITLAB_CI", "true")]), &all());
        assert!(told[0].line().contains("belongs to no merge request"), "{told:?}");
        assert!(
            matches!(told[..], [Notice::OutOfPlace { .. }, Notice::Skipped { .. }, Notice::Skipped { .. }]),
            "{told:?}"
        );
    }

    #[test]
    fn what_belongs_to_another_event_is_told_and_no_failure() {
        let mut context =
            on(&[("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "push"), ("GITHUB_REF", "refs/heads/x")]);
        let told = without_a_place(&context, &all());
        assert!(
            matches!(told[..], [Notice::OutOfPlace { .. }, Notice::Skipped { .. }]),
            "unknown default branch: {told:?}"
        );
        context.default_branch = Some("main".to_owned());
        let told = without_a_place(&context, &options(When::OnChange, BadgePlace::Directory("b".to_owned()), false));
        assert!(matches!(told[..], [Notice::OutOfPlace { .. }, Notice::OutOfPlace { .. }]), "{told:?}");
        assert!(told[0].line().starts_with("note: no comment: this run belongs to no pull request ("), "{told:?}");
        assert_eq!(
            without_a_place(&context, &options(When::Auto, BadgePlace::Off, true)),
            [],
            "without a token: told there"
        );
        let told = without_a_token(&context, &all());
        assert!(matches!(&told[..], [Notice::Skipped { what, .. }] if what == "no SARIF upload"), "{told:?}");
    }

    #[test]
    fn a_comment_that_must_be_is_a_warning_without_a_token() {
        let context = Context {
            pull_request: Some(crate::ci::PullRequest {
                number: Some(1),
                head: None,
                head_sha: None,
                base_branch: None,
                project: None,
            }),
            ..on(&[("GITHUB_ACTIONS", "true")])
        };
        for (comment, failed) in [(When::Always, true), (When::Auto, false)] {
            let told = without_a_token(&context, &options(comment, BadgePlace::Off, false));
            assert!(told.len() == 1 && told[0].failed() == failed, "{told:?}");
        }
    }
}
