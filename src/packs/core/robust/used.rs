//! Error texts that show an invalid call was carried out before it failed.

use std::sync::LazyLock;

use regex_lite::Regex;

/// What only a call that went ahead can report, whatever was wrong with it.
static WENT_AHEAD: LazyLock<Regex> = LazyLock::new(|| {
    let parts = [
        // The network.
        r"\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b",
        r"\bgetaddrinfo\b|(?i:connection refused|name or service not known|temporary failure in name resolution|no such host)",
        r"(?i:\bfetch failed\b|error sending request for url|max retries exceeded|nodename nor servname)|net::ERR_|\bdial tcp\b",
        r"(?i:\brequest (?:to \S{1,200} )?failed\b|all connection attempts failed|failed to connect to )",
        r"(?i:\bhttp(?: error| status)?(?: code)?:? ?(?:40[13478]|410|429|5\d\d)\b|\bstatus(?: code)?:? (?:40[13478]|410|429|5\d\d)\b|\b(?:returned|responded with) (?:40[13478]|410|429|5\d\d)\b)",
        // The file system.
        r"\b(?:ENOENT|ENOTDIR|EISDIR|EACCES|EPERM|ENAMETOOLONG|EEXIST|ENOTEMPTY)\b|\[Errno \d+\]",
        r"(?i:no such file or directory|is a directory \(os error|not a directory \(os error|\(os error \d+\))",
        // Programs and SQL.
        r"(?i:command not found|command failed: |\bfatal: |exited with (?:code|status) \d|exit code:? \d)",
        r"(?i:syntax error at or near|near .{1,40}: syntax error|unrecognized token|no such (?:table|column)|relation .{1,80} does not exist)",
    ];
    Regex::new(&parts.join("|")).expect("a constant pattern that the tests compile")
});

/// What a lookup of a value that was taken as it is reports.
static LOOKED_UP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bnot found\b|does not exist|doesn't exist|no such |not a git repository|unable to find|could not find|cannot find|not readable|failed to (?:open|read|load|execute|run)")
        .expect("a constant pattern that the tests compile")
});

/// The part of an error text that shows the call was carried out. `wrong` is the value of another type that the call carried,
/// as text: an error that looked it up shows that it was taken for a valid one.
pub(in super::super) fn used(text: &str, wrong: Option<&str>) -> Option<String> {
    if let Some(found) = WENT_AHEAD.find(text) {
        return Some(around(text, found.start(), found.end()));
    }
    let wrong = wrong?;
    let line = text.lines().find(|line| stands_in(line, wrong) && LOOKED_UP.is_match(line))?;
    // A validator that quotes the value while it names the type it wants has not used it.
    let validates = ["expected", "must be", "should be", "not of type", "invalid type", "validation"]
        .iter()
        .any(|word| line.to_lowercase().contains(word));
    (!validates)
        .then(|| LOOKED_UP.find(line).map_or_else(|| line.to_owned(), |found| around(line, found.start(), found.end())))
}

/// A finding with some of the line it stands in.
fn around(text: &str, start: usize, end: usize) -> String {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let before: Vec<char> = text[line..start].chars().rev().take(60).collect();
    let after = text[end..].lines().next().unwrap_or_default().chars().take(80);
    before.into_iter().rev().chain(text[start..end].chars()).chain(after).collect::<String>().trim().to_owned()
}

/// Whether `value` stands in a line, not as part of a longer word or number.
fn stands_in(line: &str, value: &str) -> bool {
    line.match_indices(value).any(|(at, found)| {
        let edge = |character: Option<char>| !character.is_some_and(char::is_alphanumeric);
        edge(line[..at].chars().next_back()) && edge(line[at + found.len()..].chars().next())
    })
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
