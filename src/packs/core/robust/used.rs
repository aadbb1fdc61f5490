//! Error texts that show an invalid call was carried out before it failed.

use super::matcher::{Matcher, head};

/// What only a call that went ahead can report, whatever was wrong with it.
static WENT_AHEAD: [Matcher; 8] = [
    Matcher::new(
        "the network",
        &["econn", "enotfound", "eai_again", "etimedout", "ehostunreach", "enetunreach", "getaddrinfo"],
        r"\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|getaddrinfo)\b",
    ),
    Matcher::new(
        "the network",
        &[
            "connection refused",
            "service not known",
            "name resolution",
            "no such host",
            "nodename nor",
            "net::err_",
            "dial tcp",
        ],
        r"(?i)connection refused|name or service not known|temporary failure in name resolution|no such host|nodename nor servname|net::ERR_|\bdial tcp\b",
    ),
    Matcher::new(
        "a request",
        &["fetch failed", "error sending request", "max retries", "request ", "attempts failed", "failed to connect"],
        r"(?i)\bfetch failed\b|error sending request for url|max retries exceeded|\brequest (?:to \S+ )?failed\b|all connection attempts failed|failed to connect to ",
    ),
    Matcher::new(
        "a status",
        &["http", "status", "returned", "responded"],
        r"(?i)\b(?:http(?: error| status)?(?: code)?:? ?|status(?: code)?:? |(?:returned|responded with) )(?:40[13478]|410|429|5\d\d)\b",
    ),
    Matcher::new(
        "the file system",
        &["enoent", "enotdir", "eisdir", "eacces", "eperm", "enametoolong", "eexist", "enotempty", "[errno "],
        r"\b(?:ENOENT|ENOTDIR|EISDIR|EACCES|EPERM|ENAMETOOLONG|EEXIST|ENOTEMPTY)\b|\[Errno \d+\]",
    ),
    Matcher::new("the file system", &["no such file", "(os error "], r"(?i)no such file or directory|\(os error \d+\)"),
    Matcher::new(
        "a program",
        &["command not found", "command failed", "fatal: ", "exited with", "exit code"],
        r"(?i)command not found|command failed: |\bfatal: |exited with (?:code|status) \d|exit code:? \d",
    ),
    Matcher::new(
        "a statement",
        &["syntax error", "unrecognized token", "no such table", "no such column", "relation "],
        r"(?i)syntax error at or near|near .+: syntax error|unrecognized token|no such (?:table|column)|relation .+ does not exist",
    ),
];

/// What a lookup of a value that was taken as it is reports, in lower case.
const LOOKED_UP: &[&str] = &[
    "not found",
    "does not exist",
    "doesn't exist",
    "no such ",
    "not a git repository",
    "unable to find",
    "could not find",
    "cannot find",
    "not readable",
    "failed to open",
    "failed to read",
    "failed to load",
    "failed to execute",
    "failed to run",
];

/// Bytes of a text that are read.
const MAX_TEXT: usize = 16 * 1024;

/// The part of an error text that shows the call was carried out. `wrong` is the value of another type that the call carried,
/// as text: an error that looked it up shows that it was taken for a valid one.
pub(in super::super) fn used(text: &str, wrong: Option<&str>) -> Option<String> {
    let text = head(text, MAX_TEXT);
    let lower = text.to_lowercase();
    if let Some(found) = WENT_AHEAD.iter().find_map(|rule| rule.find(text, &lower)) {
        return Some(around(text, found.start(), found.end()));
    }
    let wrong = wrong?;
    // A validator that quotes the value while it names the type it wants has not used it.
    let validates = ["expected", "must be", "should be", "not of type", "invalid type", "validation"];
    text.lines().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let stands = line.match_indices(wrong).any(|(at, _)| stands_alone(line, at, wrong));
        if !stands || validates.iter().any(|words| lower.contains(words)) {
            return None;
        }
        let (at, words) = LOOKED_UP.iter().find_map(|words| Some((lower.find(words)?, words)))?;
        Some(around(line, at, at + words.len()))
    })
}

/// A finding with some of the line it stands in.
fn around(text: &str, start: usize, end: usize) -> String {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before: Vec<char> = text[line..start].chars().rev().take(60).collect();
    let after = text[end..].lines().next().unwrap_or_default().chars().take(80);
    before.into_iter().rev().chain(text[start..end].chars()).chain(after).collect::<String>().trim().to_owned()
}

/// Whether `value` at `at` is not part of a longer word or number.
fn stands_alone(line: &str, at: usize, value: &str) -> bool {
    let edge = |character: Option<char>| !character.is_some_and(char::is_alphanumeric);
    edge(line[..at].chars().next_back()) && edge(line[at + value.len()..].chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_call_that_went_ahead_are_recognised() {
        for text in [
            "Error: ENOENT: no such file or directory, open '/box/sealmark-probe'",
            "sealmark-probe: Error - ENOENT: no such file or directory, open '/box/sealmark-probe'",
            "Curl request failed: request to http://127.0.0.1:9/ failed, reason: connect ECONNREFUSED 127.0.0.1:9",
            "{\"message\":\"getaddrinfo ENOTFOUND {host}\",\"code\":\"ENOTFOUND\"}",
            "open 4242: no such file or directory",
            "spawn /bin/sh ENOENT",
            "Error: HTTP request to MyGene.info failed. Retry the remote source.",
            "Error: Command failed: git reset HEAD \"4242\"\nfatal: ambiguous argument",
            "Error calling backend: HTTP 502",
            "Request failed with status code 404",
            "near \"4242\": syntax error",
            "bash: line 1: 4242: command not found",
            "[Errno 2] No such file: '4242'",
            "Failed to connect to database: connect",
        ] {
            assert!(used(text, None).is_some(), "{text}");
        }
        for text in [
            "Path does not exist: 4242",
            "Error: Not a git repository (workingDirectory 4242)",
            "timezone 4242 not found",
        ] {
            assert!(used(text, Some("4242")).is_some(), "{text}");
        }
    }

    #[test]
    fn refusals_are_not_read_as_use() {
        for text in [
            "Tool sealmark-no-such-tool not found",
            "Invalid input: expected string, received number at path",
            "Input should be a valid string [type=string_type, input_value=4242, input_type=int]",
            "Error executing tool x: 1 validation error for xArguments",
            "Access denied - path outside allowed directories: /box/4242 not in /data",
            "Unknown operation \"4242\". Supported operations: get_info",
            "status must be one of 200, 404",
            "HTTP 400: path is required",
            "failed to deserialize parameters: invalid type: integer `4242`, expected a string",
            "4242 does not exist in the schema: path must be a string",
            "parameter 14242 not found",
        ] {
            assert_eq!(used(text, Some("4242")), None, "{text}");
        }
    }
}
