//! Variables with which a server could publish in the user's name: what is withheld, and what is given back.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use crate::text::Redactor;

/// Tokens by their whole name. Their values are looked for in every other variable as well.
const TOKENS: &[&str] = &[
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
    "GITLAB_TOKEN",
    "CI_JOB_TOKEN",
    "CI_BUILD_TOKEN",
    "CI_REGISTRY_PASSWORD",
    "CI_DEPLOY_PASSWORD",
    "CI_DEPENDENCY_PROXY_PASSWORD",
    "SIGSTORE_ID_TOKEN",
    "SYSTEM_ACCESSTOKEN",
    "AZURE_DEVOPS_EXT_PAT",
    "BITBUCKET_STEP_OIDC_TOKEN",
    "CIRCLE_TOKEN",
    "BUILDKITE_AGENT_ACCESS_TOKEN",
    "BUILDKITE_AGENT_TOKEN",
    "DRONE_NETRC_PASSWORD",
    "CI_NETRC_PASSWORD",
];

/// Addresses with a token in them, and files through which a server could set the job's results, environment and search
/// path.
const HANDLES: &[&str] = &[
    "CI_REPOSITORY_URL",
    "CI_DEPLOY_USER",
    "DRONE_NETRC_FILE",
    "GITHUB_OUTPUT",
    "GITHUB_ENV",
    "GITHUB_PATH",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_STATE",
];

/// Tokens shorter than this are no tokens, and their value would be found everywhere.
const SHORTEST: usize = 8;

/// The user's environment, sorted out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// What a server may inherit.
    pub(super) vars: BTreeMap<OsString, OsString>,
    /// What it gets because the user names it.
    pub(super) passed: BTreeMap<OsString, OsString>,
    /// What it does not get: name and reason.
    pub(super) withheld: Vec<String>,
    /// Names that the user gives and that are not set.
    pub(super) missing: Vec<String>,
}

impl Given {
    /// Values that no report may quote; a short one is no token and stands everywhere.
    pub(super) fn passed_secrets(&self) -> impl Iterator<Item = String> {
        let values = self.passed.values().map(|value| value.to_string_lossy().into_owned());
        values.filter(|value| value.len() >= SHORTEST)
    }
}

/// Leaves out of an environment what can publish in the user's name, unless `pass` names it.
pub(super) fn withhold(outer: &BTreeMap<OsString, OsString>, pass: &[String]) -> Given {
    let secrets: Vec<String> = (outer.iter())
        .filter(|(name, _)| name.to_str().is_some_and(is_token))
        .map(|(_, value)| value.to_string_lossy().trim().to_owned())
        .filter(|value| value.len() >= SHORTEST)
        .collect();
    let redactor = (!secrets.is_empty()).then(|| Redactor::new(&[], &secrets, true));
    let holds_token = |value: &OsStr| {
        let text = value.to_string_lossy();
        redactor.as_ref().is_some_and(|redactor| redactor.apply(&text) != text)
    };
    let mut given = Given::default();
    given.missing.extend(pass.iter().filter(|name| !outer.contains_key(OsStr::new(name))).cloned());
    for (name, value) in outer {
        let word = name.to_string_lossy();
        let reason = if publishes(&word) {
            Some("can publish")
        } else if holds_token(value) {
            Some("holds a token")
        } else {
            None
        };
        if pass.iter().any(|pass| *pass == word) {
            given.passed.insert(name.clone(), value.clone());
        } else if let Some(reason) = reason {
            given.withheld.push(format!("{word} ({reason})"));
        } else {
            given.vars.insert(name.clone(), value.clone());
        }
    }
    given
}

/// Whether that variable holds a token that could publish in our user's name.
fn is_token(name: &str) -> bool {
    TOKENS.contains(&name)
        || (name.starts_with("ACTIONS_") && name.contains("TOKEN") && !name.ends_with("_URL"))
        || ["CI_JOB_JWT", "CIRCLE_OIDC_TOKEN"].iter().any(|prefix| name.starts_with(prefix))
        || name.ends_with("_GITLAB_TOKEN")
        || (name.starts_with("SEALMARK_") && name.contains("TOKEN"))
        || name == "INPUT_TOKEN"
}

/// Whether that variable could publish in our user's name, or forge what the job publishes.
fn publishes(name: &str) -> bool {
    is_token(name)
        || HANDLES.contains(&name)
        || name.starts_with("ACTIONS_ID_TOKEN_REQUEST_")
        || name.starts_with("INPUT_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outer(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn names(given: &Given) -> Vec<&str> {
        given.vars.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn publishing_tokens_are_known_by_name() {
        for name in [
            "GITHUB_TOKEN",
            "ACTIONS_RUNTIME_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_URL",
            "CI_JOB_TOKEN",
            "CI_JOB_JWT_V2",
            "CI_REPOSITORY_URL",
            "MY_GITLAB_TOKEN",
            "SEALMARK_TOKEN",
            "SYSTEM_ACCESSTOKEN",
            "CIRCLE_OIDC_TOKEN_V2",
            "GITHUB_ENV",
            "INPUT_TOKEN",
        ] {
            assert!(publishes(name), "{name}");
        }
        for name in [
            "PATH",
            "API_TOKEN",
            "GITHUB_SHA",
            "GITHUB_EVENT_PATH",
            "ACTIONS_CACHE_URL",
            "MCP_TOKEN",
            "CI_JOB_URL",
            "SEALMARK_PROFILE",
            "NODE_AUTH_TOKEN",
        ] {
            assert!(!publishes(name), "{name}");
        }
    }

    #[test]
    fn a_tokens_value_is_found_in_other_variables_however_it_is_spelled() {
        let token = "ghs_16C7e42F292c6912E7710c838347Ae178B4a";
        let given = withhold(
            &outer(&[
                ("GITHUB_TOKEN", token),
                ("PLAIN", &format!("x{token}y")),
                ("A_URL", &format!("https://x-access-token:{token}@github.com/a/b")),
                // `x-access-token:` and the token, as actions/checkout writes it into git's settings.
                (
                    "GIT_CONFIG_VALUE_0",
                    "AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46Z2hzXzE2QzdlNDJGMjkyYzY5MTJFNzcxMGM4MzgzNDdBZTE3OEI0YQ==",
                ),
                ("HOME", "/home/me"),
                ("GITHUB_SHA", "ghs_"),
            ]),
            &[],
        );
        assert_eq!(names(&given), ["GITHUB_SHA", "HOME"]);
        let withheld = [
            "A_URL (holds a token)",
            "GITHUB_TOKEN (can publish)",
            "GIT_CONFIG_VALUE_0 (holds a token)",
            "PLAIN (holds a token)",
        ];
        assert_eq!(given.withheld, withheld);
    }

    #[test]
    fn a_short_or_empty_token_takes_nothing_with_it() {
        let given = withhold(&outer(&[("GITHUB_TOKEN", "true"), ("GITLAB_TOKEN", ""), ("CI", "true"), ("X", "")]), &[]);
        assert_eq!(names(&given), ["CI", "X"]);
    }

    #[test]
    fn one_is_given_back_by_name_alone_and_named() {
        let env =
            outer(&[("GITHUB_TOKEN", "ghs_0123456789"), ("GH_TOKEN", "ghs_0123456789"), ("CI", "true"), ("X", "y")]);
        let given = withhold(&env, &["GITHUB_TOKEN", "CI", "NO_SUCH"].map(str::to_owned));
        assert_eq!(names(&given), ["X"]);
        assert_eq!(given.passed, outer(&[("CI", "true"), ("GITHUB_TOKEN", "ghs_0123456789")]));
        assert_eq!(given.passed_secrets().collect::<Vec<_>>(), ["ghs_0123456789"]);
        assert_eq!(
            (given.withheld, given.missing),
            (vec!["GH_TOKEN (can publish)".to_owned()], vec!["NO_SUCH".to_owned()])
        );
    }
}
