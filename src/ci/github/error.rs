//! Why GitHub refused something, told apart by what helps; no message holds the token.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::super::{Notice, http::HttpError};
use crate::text::excerpt;

/// How much of GitHub's own words is kept, in characters.
const SAID: usize = 240;
/// The longest wait that is told, in seconds: limits are counted by the hour.
const LONGEST: u64 = 24 * 60 * 60;
/// How many single errors of a validation are kept.
const ERRORS: usize = 3;
/// What a failure means when GitHub's words hold this, in lower case. The first row that fits counts.
const WORDS: &[(&str, Kind)] = &[
    ("code security must be enabled", Kind::FeatureOff),
    ("advanced security must be enabled", Kind::FeatureOff),
    ("code scanning is not enabled", Kind::FeatureOff),
    ("rate limit", Kind::RateLimit),
    ("archived", Kind::Archived),
    ("issue is locked", Kind::Locked),
    ("conversation is locked", Kind::Locked),
    ("conversation locked", Kind::Locked),
    ("rule violations", Kind::Protected),
    ("protected branch", Kind::Protected),
    ("repository is empty", Kind::Empty),
    ("too long", Kind::TooLong),
    ("reference already exists", Kind::Conflict),
    ("not a fast forward", Kind::Conflict),
    ("sha\" wasn't supplied", Kind::Conflict),
];

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The token is none that GitHub knows.
    BadCredentials,
    /// The token lacks a permission.
    NoPermission,
    /// Code scanning is not switched on.
    FeatureOff,
    /// Not there, or not to be seen with this token.
    NotFound,
    /// It was there once.
    Gone,
    /// Too many calls.
    RateLimit,
    /// The conversation takes no comments.
    Locked,
    /// The repository is read-only.
    Archived,
    /// A rule protects the branch.
    Protected,
    /// The repository has no commit.
    Empty,
    /// The text is longer than GitHub takes.
    TooLong,
    /// The request is larger than GitHub takes.
    TooLarge,
    /// Somebody else was faster.
    Conflict,
    /// GitHub finds the request wrong.
    Invalid,
    /// GitHub has a fault.
    Server,
    /// An answer that no description of the API holds.
    Unexpected,
    /// The answers came, but the time for publishing was over before the work was done.
    Late,
    /// What is configured cannot be used (the repository's name, the token's characters).
    Unusable,
    /// No answer.
    Transport,
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause}")]
pub struct ApiError {
    /// What kind of failure it is.
    pub kind: Kind,
    /// The HTTP status, when there was an answer.
    pub status: Option<u16>,
    cause: String,
    transport: Option<HttpError>,
    /// After which a GET may be sent again.
    pub(super) again: Option<Duration>,
}

impl ApiError {
    /// A failure without an HTTP error behind it.
    pub(super) fn new(kind: Kind, cause: impl Into<String>) -> Self {
        Self { kind, status: None, cause: cause.into(), transport: None, again: None }
    }

    /// A call that got no answer.
    pub(super) fn transport(error: HttpError) -> Self {
        let passing = matches!(error, HttpError::Dns { .. } | HttpError::Refused { .. } | HttpError::Broken { .. });
        Self {
            kind: Kind::Transport,
            status: error.code(),
            cause: error.to_string(),
            transport: Some(error),
            again: passing.then_some(Duration::from_millis(500)),
        }
    }

    /// An answer that is no success.
    pub(super) fn answer(status: u16, headers: &HeaderMap, body: &[u8], token: &str) -> Self {
        let said = said(body).map(|said| hide(&said, token));
        let lower = said.as_deref().unwrap_or_default().to_ascii_lowercase();
        let exhausted = header(headers, "x-ratelimit-remaining").is_some_and(|left| left.trim() == "0");
        let kind = match status {
            401 => Kind::BadCredentials,
            429 => Kind::RateLimit,
            403 if exhausted || headers.contains_key("retry-after") => Kind::RateLimit,
            400..=499 => {
                let word = WORDS.iter().find(|(word, _)| lower.contains(word)).map(|(_, kind)| *kind);
                word.unwrap_or(match status {
                    403 => Kind::NoPermission,
                    404 => Kind::NotFound,
                    409 => Kind::Conflict,
                    410 => Kind::Gone,
                    413 => Kind::TooLarge,
                    400 | 422 => Kind::Invalid,
                    _ => Kind::Unexpected,
                })
            }
            500.. => Kind::Server,
            _ => Kind::Unexpected,
        };
        let again = match kind {
            Kind::RateLimit => pause(headers),
            Kind::Server => Some(pause(headers).unwrap_or(Duration::from_millis(500))),
            _ => None,
        };
        let cause = match said {
            Some(said) => format!("GitHub answered {status}: {}", excerpt(&said, SAID)),
            None => format!("GitHub answered {status}"),
        };
        Self { kind, status: Some(status), cause, transport: None, again }
    }

    /// What helps. `permission` is what the call needs, as a workflow writes it.
    pub fn remedy(&self, permission: &str) -> String {
        match self.kind {
            Kind::BadCredentials => "check that the token is whole and has not expired".to_owned(),
            Kind::NoPermission => format!(
                "give the job the permission `{permission}`; runs for forks and Dependabot never have it: publish from a \
                 workflow_run workflow there"
            ),
            Kind::FeatureOff => {
                "switch on code scanning in the repository's security settings, or do without the upload".to_owned()
            }
            Kind::NotFound => {
                format!("check the repository's name, and that the token may see it (permission `{permission}`)")
            }
            Kind::Gone => "this repository does not offer it (any more): switch it on, or do without".to_owned(),
            Kind::RateLimit => match self.again {
                Some(wait) if wait.as_secs() > LONGEST => "run the job again tomorrow".to_owned(),
                Some(wait) => format!("run the job again in {} seconds", wait.as_secs().max(1)),
                None => "run the job again later; a token of its own has its own limit".to_owned(),
            },
            Kind::Locked => "unlock the conversation, or do without the comment".to_owned(),
            Kind::Archived => "nothing can be written to an archived repository".to_owned(),
            Kind::Protected => {
                "a branch rule refuses the commit: let it except the badge branch, or name another one".to_owned()
            }
            Kind::Empty => "push a first commit".to_owned(),
            Kind::TooLong | Kind::TooLarge => {
                "publish fewer servers at a time; the whole report is the artifact".to_owned()
            }
            Kind::Conflict => "run the job again; something else wrote at the same time".to_owned(),
            Kind::Invalid => "that is a defect of sealmark: please report it with this line".to_owned(),
            Kind::Server => "run the job again; the fault is on GitHub's side".to_owned(),
            Kind::Unexpected => {
                "check that the address of the API leads to GitHub, and no proxy answers for it".to_owned()
            }
            Kind::Late => "run the job again; nothing was changed by halves".to_owned(),
            Kind::Unusable => "set the variable again, without spaces and line breaks around the value".to_owned(),
            Kind::Transport => self.transport.as_ref().map_or("run the job again", HttpError::hint).to_owned(),
        }
    }

    /// The line for the log: what was not done, why, and what helps.
    pub fn notice(&self, what: &str, permission: &str) -> Notice {
        Notice::Failed { what: what.to_owned(), cause: self.cause.clone(), remedy: self.remedy(permission) }
    }
}

/// A text without the token, should the other side repeat it.
pub(super) fn hide(text: &str, token: &str) -> String {
    if token.is_empty() { text.to_owned() } else { text.replace(token, "***") }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// How long GitHub wants to be left alone: by its own clock, as the runner's may be wrong.
fn pause(headers: &HeaderMap) -> Option<Duration> {
    if let Some(seconds) = header(headers, "retry-after").and_then(|text| text.trim().parse().ok()) {
        return Some(Duration::from_secs(seconds));
    }
    let reset: i64 = header(headers, "x-ratelimit-reset")?.trim().parse().ok()?;
    let now = chrono::DateTime::parse_from_rfc2822(header(headers, "date")?).ok()?.timestamp();
    u64::try_from(reset.checked_sub(now)?).ok().map(Duration::from_secs)
}

/// GitHub's message and its first single errors.
fn said(body: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(body).ok()?;
    let mut said = document.get("message")?.as_str()?.to_owned();
    let errors = document.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for error in errors.iter().take(ERRORS) {
        let text = error.as_str().or_else(|| error.get("message")?.as_str());
        let pieces = || ["resource", "field", "code"].iter().filter_map(|name| error.get(*name)?.as_str());
        match text {
            Some(text) => said.push_str(&format!("; {text}")),
            None => said.push_str(&format!("; {}", pieces().collect::<Vec<_>>().join(" "))),
        }
    }
    Some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str, headers: &[(&'static str, &str)]) -> ApiError {
        let headers = headers
            .iter()
            .map(|(name, value)| (reqwest::header::HeaderName::from_static(name), value.parse().unwrap()));
        ApiError::answer(status, &headers.collect(), body.as_bytes(), "ghs_secret")
    }

    fn kind(status: u16, message: &str) -> Kind {
        answer(status, &serde_json::json!({ "message": message }).to_string(), &[]).kind
    }

    #[test]
    fn what_github_says_tells_one_403_from_another() {
        for (message, expected) in [
            ("Resource not accessible by integration", Kind::NoPermission),
            ("Must have admin rights to Repository.", Kind::NoPermission),
            ("Advanced Security must be enabled for this repository to use code scanning.", Kind::FeatureOff),
            ("Code Security must be enabled for this repository to use code scanning.", Kind::FeatureOff),
            ("GitHub Code Security or GitHub Advanced Security must be enabled for this", Kind::FeatureOff),
            ("Code scanning is not enabled for this repository.", Kind::FeatureOff),
            ("You have exceeded a secondary rate limit.", Kind::RateLimit),
            ("API rate limit exceeded for installation.", Kind::RateLimit),
            ("Repository was archived so is read-only.", Kind::Archived),
            ("Unable to create comment because issue is locked.", Kind::Locked),
            ("Repository rule violations found", Kind::Protected),
        ] {
            assert_eq!(kind(403, message), expected, "{message}");
        }
    }

    #[test]
    fn every_other_status_has_its_kind() {
        assert_eq!(kind(401, "Bad credentials"), Kind::BadCredentials);
        assert_eq!(kind(404, "Not Found"), Kind::NotFound);
        assert_eq!(kind(409, "badges/x.svg does not match 1"), Kind::Conflict);
        assert_eq!(kind(409, "Repository rule violations found"), Kind::Protected);
        assert_eq!(kind(409, "Git Repository is empty."), Kind::Empty);
        assert_eq!(kind(410, "Issues are disabled for this repo"), Kind::Gone);
        assert_eq!(kind(413, "Payload too large"), Kind::TooLarge);
        assert_eq!(kind(422, "Reference already exists"), Kind::Conflict);
        assert_eq!(kind(422, "Validation Failed"), Kind::Invalid);
        assert_eq!(kind(503, "Service unavailable"), Kind::Server);
        assert_eq!(kind(302, "Found"), Kind::Unexpected);
        let long = r#"{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"unprocessable",
            "field":"data","message":"Body is too long (maximum is 65536 characters)"}]}"#;
        assert_eq!(answer(422, long, &[]).kind, Kind::TooLong);
    }

    #[test]
    fn how_long_to_wait_is_reckoned_by_githubs_clock() {
        let asked = answer(429, "{}", &[("retry-after", "7")]);
        assert_eq!(asked.again, Some(Duration::from_secs(7)));
        assert_eq!(asked.remedy(""), "run the job again in 7 seconds");
        let absurd = answer(429, "{}", &[("retry-after", "18446744073709551615")]);
        assert_eq!(absurd.remedy(""), "run the job again tomorrow");
        let date = ("date", "Tue, 01 Dec 2026 00:00:00 GMT");
        let reset = ("x-ratelimit-reset", "1796083210");
        let limited = answer(403, "{}", &[("x-ratelimit-remaining", "0"), date, reset]);
        assert_eq!((limited.kind, limited.again), (Kind::RateLimit, Some(Duration::from_secs(10))));
        let near = answer(403, "{}", &[("x-ratelimit-remaining", "1"), date, reset]);
        assert_eq!((near.kind, near.again), (Kind::NoPermission, None));
        assert_eq!(answer(429, "{}", &[]).again, None);
    }

    #[test]
    fn the_permission_is_named_and_the_token_is_not() {
        let body = r#"{"message":"Resource not accessible by ghs_secret\n ::error::x"}"#;
        let error = answer(403, body, &[]);
        let line = error.notice("the comment was not written", "pull-requests: write").line();
        assert!(line.contains("the permission `pull-requests: write`"), "{line}");
        assert!(
            !line.contains("ghs_secret") && !line.contains(char::is_control) && !line.contains(" ::error"),
            "{line}"
        );
        assert!(!format!("{error:?}").contains("ghs_secret"));
    }

    #[test]
    fn a_body_that_is_no_json_is_left_out() {
        let error = answer(502, "<html>Bad gateway</html>", &[]);
        assert_eq!(error.to_string(), "GitHub answered 502");
        assert_eq!(error.again, Some(Duration::from_millis(500)));
    }
}
