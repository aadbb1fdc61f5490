//! Values of variables and event payloads, each in the shape it must have: what has another one counts as missing.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::Value;

/// Longest value that is looked at, in bytes: a variable of a whole message or list is none of ours.
const LONGEST: usize = 4096;

/// The environment of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Env<'e>(pub(super) &'e BTreeMap<String, String>);

impl<'e> Env<'e> {
    /// A value of one line.
    pub(super) fn text(self, name: &str) -> Option<&'e str> {
        self.0.get(name).map(String::as_str).and_then(line)
    }

    /// Whether a variable is there at all, whatever it holds.
    pub(super) fn has(self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_empty())
    }

    /// Whether a variable says yes: it is set, and not to `false` or `0`.
    pub(super) fn on(self, name: &str) -> bool {
        self.has(name) && !self.off(name)
    }

    /// Whether a variable says no.
    pub(super) fn off(self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.eq_ignore_ascii_case("false") || value == "0")
    }

    pub(super) fn number(self, name: &str) -> Option<u64> {
        number(self.text(name)?)
    }

    pub(super) fn sha(self, name: &str) -> Option<String> {
        sha(self.text(name)?)
    }

    pub(super) fn branch(self, name: &str) -> Option<String> {
        branch(self.text(name)?)
    }

    pub(super) fn url(self, name: &str) -> Option<String> {
        url(self.text(name)?)
    }

    pub(super) fn path(self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The first of the variables that holds anything: its name, never its value.
    pub(super) fn first_set(self, names: &[&str]) -> Option<String> {
        names
            .iter()
            .find(|name| self.0.get(**name).is_some_and(|value| !value.trim().is_empty()))
            .map(|name| (*name).to_owned())
    }
}

/// A text that is not empty, not giant, and on one line.
pub(super) fn line(text: &str) -> Option<&str> {
    (!text.is_empty() && text.len() <= LONGEST && !text.chars().any(char::is_control)).then_some(text)
}

/// A positive number in plain digits.
pub(super) fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| plain && *number > 0)
}

/// A whole commit id. Zeros stand for "none".
pub(super) fn sha(text: &str) -> Option<String> {
    let whole = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (whole && text.bytes().any(|byte| byte != b'0')).then(|| text.to_ascii_lowercase())
}

/// A name that git takes for a branch or a tag (the rules of `git check-ref-format`).
pub(super) fn branch(text: &str) -> Option<String> {
    let name = line(text)?;
    let refused = |c: char| c.is_whitespace() || "~^:?*[\\".contains(c);
    let wrong = name.chars().any(refused)
        || name.starts_with(['-', '/'])
        || name.ends_with(['/', '.'])
        || ["..", "@{", "//"].iter().any(|part| name.contains(part))
        || name.split('/').any(|part| part.starts_with('.') || part.ends_with(".lock"));
    (!wrong && name != "@").then(|| name.to_owned())
}

/// `owner/name`.
pub(super) fn repository(text: &str) -> Option<String> {
    let (owner, name) = text.split_once('/')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let named = !name.is_empty() && name.len() <= 255 && name.chars().all(plain) && !matches!(name, "." | "..");
    (named && login(owner).is_some()).then(|| text.to_owned())
}

/// The name of a GitHub account.
pub(super) fn login(text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (!text.is_empty() && text.len() <= 255 && text.chars().all(plain) && !matches!(text, "." | ".."))
        .then(|| text.to_owned())
}

/// An address of the web without a login, a query or a slash at its end.
pub(super) fn url(text: &str) -> Option<String> {
    let parsed = reqwest::Url::parse(line(text)?).ok()?;
    let plain = matches!(parsed.scheme(), "https" | "http")
        && parsed.host_str().is_some_and(|host| !host.is_empty())
        && parsed.username().is_empty()
        && parsed.password().is_none()
        && parsed.query().is_none()
        && parsed.fragment().is_none();
    plain.then(|| parsed.as_str().trim_end_matches('/').to_owned())
}

/// A member of a payload, by its path.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key)).filter(|value| !value.is_null())
}

/// A text of a payload, on one line.
pub(super) fn text_at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v str> {
    at(value, path)?.as_str().and_then(line)
}

/// A positive number of a payload.
pub(super) fn number_at(value: &Value, path: &[&str]) -> Option<u64> {
    at(value, path)?.as_u64().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_shape_is_missing() {
        assert_eq!(number("7"), Some(7));
        for wrong in ["", "0", "-7", "+7", "7\n", " 7", "7a", "99999999999999999999999"] {
            assert_eq!(number(wrong), None, "{wrong:?}");
        }
        assert_eq!(sha(&"Ab".repeat(20)).as_deref(), Some("ab".repeat(20).as_str()));
        for wrong in ["", "abc", &"0".repeat(40), &"g".repeat(40), &"a".repeat(41)] {
            assert_eq!(sha(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_branch_is_what_git_takes_for_one() {
        for name in ["main", "feature/a-b", "dependabot/npm_and_yarn/x-1.2", "ümlaut", "a#b", "v1.0", "a@b", "a%b<c>"]
        {
            assert_eq!(branch(name).as_deref(), Some(name));
        }
        let wrong =
            ["", "a\nb", "a b", "-a", "/a", "a/", "a..b", "a.lock", "a/.b", "@", "a@{1}", "a\\b", "a\u{1b}b", "a:b"];
        for name in wrong {
            assert_eq!(branch(name), None, "{name:?}");
        }
        assert_eq!(branch(&"a".repeat(LONGEST + 1)), None);
    }

    #[test]
    fn a_repository_cannot_leave_its_place_in_a_path() {
        for name in ["acme/server", "a-b/c.d_e"] {
            assert_eq!(repository(name).as_deref(), Some(name));
        }
        for name in ["", "acme", "a/b/c", "../b", "a/..", "a/b?x", "a/b#", "a b/c", "a/b\n", "/b", "a/", "a%2f/b"] {
            assert_eq!(repository(name), None, "{name:?}");
        }
    }

    #[test]
    fn an_address_is_of_the_web_and_carries_no_login() {
        for (text, expected) in [
            ("https://api.github.com", "https://api.github.com"),
            ("https://git.example/api/v3/", "https://git.example/api/v3"),
            ("http://127.0.0.1:4011", "http://127.0.0.1:4011"),
            ("https://gitlab.example/sub/api/v4", "https://gitlab.example/sub/api/v4"),
        ] {
            assert_eq!(url(text).as_deref(), Some(expected));
        }
        for wrong in [
            "",
            "api.github.com",
            "ftp://a",
            "file:///etc/passwd",
            "https://user@host/",
            "https://user:pw@host/",
            "https://host/?q",
            "https://host/#f",
            "https://",
            "https://ho st/",
            "https://host/\nx",
        ] {
            assert_eq!(url(wrong), None, "{wrong:?}");
        }
    }
}
