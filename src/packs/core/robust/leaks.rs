//! Texts that show a server's internals: stack traces, source paths, a runtime's own exception lines.

use std::sync::LazyLock;

use regex_lite::Regex;

/// A leak: what kind, and the text that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Leak {
    /// `a Python stack trace`.
    pub(in super::super) what: &'static str,
    /// The place in the text.
    pub(in super::super) shown: String,
}

fn rule(what: &'static str, pattern: &str) -> (&'static str, Regex) {
    (what, Regex::new(pattern).expect("a constant pattern that the tests compile"))
}

/// Stack traces and exception lines that no validator writes on purpose.
static RULES: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    vec![
        rule("a Python stack trace", r#"Traceback \(most recent call last\)|\bFile "[^"\n]{1,300}", line \d+"#),
        rule(
            "a Node.js stack trace",
            r"\bat (?:[^\s()]{1,200} ){0,4}\(?(?:file://|node:|/|[A-Za-z]:\\)[^\n()]{1,300}:\d+:\d+",
        ),
        rule("a Java stack trace", r"\bat [\w.$<>]{3,200}\([\w$]{1,80}\.(?:java|kt|scala):\d+\)|Exception in thread "),
        rule(
            "a Go stack trace",
            r"\bgoroutine \d+ \[|\bpanic: |runtime error: (?:invalid memory|index out of|slice bounds|integer divide)",
        ),
        rule(
            "a Rust panic",
            r"thread '[^'\n]{0,80}' (?:\(\d+\) )?panicked at|\bpanicked at |called `(?:Option|Result)::unwrap\(\)`|note: run with `RUST_BACKTRACE",
        ),
        rule(
            "a .NET stack trace",
            r"\n\s+at [\w.`<>]{3,200}\([^)\n]{0,200}\) in [^\n]{1,200}:line \d+|Unhandled exception\. System\.",
        ),
        rule(
            "a PHP stack trace",
            r"Stack trace:\s+#0|PHP (?:Fatal error|Warning|Notice)|(?:Fatal error|Uncaught [A-Z]\w+(?:Error|Exception)): .{0,300} in \S+\.php",
        ),
        rule("a Ruby stack trace", r"\.rb:\d+:in [`']"),
        rule(
            "an unhandled JavaScript error",
            r"Cannot read propert(?:y|ies) .{0,80}?of (?:undefined|null)|Cannot destructure property|\b[\w.$\[\]]{1,80} is not a function\b|\b[\w.$]{1,80} is not iterable\b|undefined is not an object|Cannot convert undefined or null to object|Maximum call stack size exceeded|Cannot set propert(?:y|ies) of (?:undefined|null)",
        ),
        rule(
            "an unhandled Node.js error",
            r#"The "[\w.\[\]]{1,80}" argument must be (?:of type|an instance of|one of type) .{1,200}Received|\bERR_INVALID_ARG_TYPE\b"#,
        ),
        rule(
            "an unhandled Python error",
            r"'\w{1,40}' object (?:has no attribute|is not (?:iterable|subscriptable|callable)|does not support item|cannot be interpreted)|\bKeyError: |\bUnboundLocalError: |\bAttributeError: |\bNameError: |\bIndexError: |\bRecursionError: |(?:list|tuple|string) index out of range|(?:list|string) indices must be|missing \d+ required positional arguments?: |got an unexpected keyword argument|argument of type '\w{1,40}' is not |object of type '\w{1,40}' has no len\(\)|unsupported operand type\(s\)|can only concatenate \w{1,20} |expected str, bytes or os\.PathLike object, not |cannot unpack non-iterable|argument should be a str or an os\.PathLike",
        ),
        rule("an unhandled Go error", r"interface conversion: |nil pointer dereference|reflect: call of "),
        rule(
            "an unhandled Java error",
            r"\bjava\.(?:lang|util|io)\.\w{1,60}(?:Exception|Error)\b|class java\.lang\.\w{1,40} cannot be cast",
        ),
        rule(
            "an unhandled .NET error",
            r"Object reference not set to an instance|\bSystem\.(?:\w{1,40}\.){0,3}\w{1,40}Exception\b",
        ),
        rule("an unhandled Ruby error", r"undefined method [`']\w{1,60}[`'?!]* for "),
        rule(
            "an unhandled PHP error",
            r"Undefined (?:array key|index|offset|variable|property)\b|Argument #\d+ \(\$\w{1,40}\) must be of type",
        ),
    ]
});

/// The text of a Python `KeyError` and nothing else: the quoted key.
static BARE_KEY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:Error(?: executing tool \S{1,120})?: )?'[A-Za-z_][\w.-]{0,80}'\s*$")
        .expect("a constant pattern that the tests compile")
});

/// An exception class in front of a text of its own; only telling when the text does not read as validation.
static TYPE_ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:Uncaught |Unhandled )?(?:TypeError|ReferenceError|NullPointerException)(?: \[\w{1,60}\])?: ([^\n]{0,200})").expect("a constant pattern that the tests compile")
});

const SOURCES: &str = "pyc?|[cm]?js|tsx?|jsx|go|rs|java|kt|rb|php|cs|cpp|cc";

/// An absolute path of a source file, with the line when one follows.
static SOURCE_PATH: LazyLock<Regex> = LazyLock::new(|| {
    let unix = r"(?:/[\w.@+~-]{1,120}){2,30}";
    let windows = r"[A-Za-z]:\\(?:[\w.@+~ -]{1,120}\\){1,30}[\w.-]{1,120}";
    let pattern = format!(
        r#"(?:^|[\s"'`(\[=:,>])(?:file://)?((?:{unix}|{windows})\.(?:{SOURCES}))((?::|", line |\(|:line |\son line )\d+)?"#
    );
    Regex::new(&pattern).expect("a constant pattern that the tests compile")
});

/// Directories that only hold installed code.
const INSTALLED: &[&str] = &[
    "/node_modules/",
    "/site-packages/",
    "/dist-packages/",
    "/usr/lib/",
    "/usr/local/lib/",
    "/go/pkg/mod/",
    "/.cargo/registry/",
    "/rustc/",
    "\\node_modules\\",
    "\\site-packages\\",
];

/// What a refusal gives away, if anything. `owned` are paths the harness or the user gave the server: naming them is no leak.
pub(in super::super) fn leak(text: &str, owned: &[&str]) -> Option<Leak> {
    for (what, regex) in RULES.iter() {
        if let Some(found) = regex.find(text) {
            return Some(Leak { what, shown: found.as_str().to_owned() });
        }
    }
    if BARE_KEY.is_match(text) {
        return Some(Leak { what: "an unhandled Python KeyError", shown: text.trim().to_owned() });
    }
    if let Some(found) = TYPE_ERROR.captures(text) {
        let message = found.get(1).map_or("", |message| message.as_str()).to_lowercase();
        let deliberate = ["must be", "must have", "expected", "required", "invalid", "should be", "missing"]
            .iter()
            .any(|word| message.contains(word));
        if !deliberate {
            let shown = found.get(0).map_or(String::new(), |line| line.as_str().to_owned());
            return Some(Leak { what: "an unhandled runtime error", shown });
        }
    }
    for found in SOURCE_PATH.captures_iter(text).take(64) {
        let path = found.get(1).map_or("", |path| path.as_str());
        let with_line = found.get(2).is_some();
        let ours = owned.iter().any(|owned| path.starts_with(owned));
        if !ours && (with_line || INSTALLED.iter().any(|folder| path.contains(folder))) {
            return Some(Leak {
                what: "an absolute source path",
                shown: found.get(0).map_or(String::new(), |all| all.as_str().trim().to_owned()),
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internals_are_recognised_in_every_language() {
        for text in [
            "Traceback (most recent call last):\n  File \"/srv/x.py\", line 3, in f",
            "Error: boom\n    at Object.read (/srv/app/dist/index.js:12:7)",
            "Error: x\n    at async file:///srv/app/index.mjs:3:1",
            "Error: x\n    at node:internal/fs:12:3",
            "java.lang.NullPointerException\n\tat com.acme.Tool.call(Tool.java:42)",
            "panic: runtime error: invalid memory address or nil pointer dereference\ngoroutine 1 [running]:",
            "thread 'main' panicked at src/main.rs:3:5:\ncalled `Option::unwrap()` on a `None` value",
            "System.NullReferenceException: Object reference not set to an instance of an object.",
            "Fatal error: Uncaught TypeError: f(): Argument #1 ($a) must be of type string, int given in /var/www/x.php on line 3",
            "/srv/app/lib/tool.rb:12:in `call': undefined method `strip' for 4242:Integer",
            "TypeError: Cannot read properties of undefined (reading 'split')",
            "Failed to connect to database: str.charAt is not a function",
            "The \"command\" argument must be of type string. Received type number (4242)",
            "The \"chunk\" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received type number (4242)",
            "'NoneType' object has no attribute 'strip'",
            "KeyError: 'path'",
            "'repo_path'",
            "Error executing tool x: 'path'",
            "read() missing 1 required positional argument: 'path'",
            "expected str, bytes or os.PathLike object, not int",
            "interface conversion: interface {} is float64, not string",
            "ReferenceError: foo is not defined",
            "failed in /usr/lib/python3/dist-packages/x/tool.py",
            "failed in /srv/app/tool.py:12",
            "Cannot find module '/srv/app/node_modules/x/index.js'",
            r"failed in C:\app\src\tool.py:12",
        ] {
            assert!(leak(text, &[]).is_some(), "{text}");
        }
    }

    #[test]
    fn validation_texts_and_owned_paths_are_no_leak() {
        for text in [
            "Error executing tool fs_read: 1 validation error for fs_readArguments\npath\n  Field required [type=missing, input_value={}, input_type=dict]\n    For further information visit https://errors.pydantic.dev/2.14/v/missing",
            "MCP error -32602: Input validation error: Invalid arguments for tool read_file: Invalid input: expected string, received undefined at path",
            "[\n  {\n    \"code\": \"invalid_type\",\n    \"expected\": \"string\",\n    \"path\": [\"path\"],\n    \"message\": \"Required\"\n  }\n]",
            "Input validation error: 'repo_path' is a required property",
            "Input validation error: None is not of type 'string'",
            "failed to deserialize parameters: invalid type: integer `4242`, expected a string",
            "missing field `path` at line 1 column 2",
            "json: cannot unmarshal number into Go struct field Args.path of type string",
            "Key: 'Args.Path' Error:Field validation for 'Path' failed on the 'required' tag",
            "data must have required property 'path'",
            "TypeError: path must be a string",
            "ValueError: depth should be positive",
            "File not found: /sandbox/root/app.py",
            "Access denied - path outside allowed directories: /etc/app/config.py not in /data",
            "Unknown tool: sealmark-no-such-tool",
            "Look at https://example.invalid/docs/tool.js:12 for help",
            "'path' is required",
            "connect ECONNREFUSED 127.0.0.1:1",
        ] {
            assert_eq!(leak(text, &[]), None, "{text}");
        }
        assert_eq!(leak("cannot parse /tmp/box/work/a.py:3", &["/tmp/box"]), None);
        assert!(leak("cannot parse /opt/box/a.py:3", &["/tmp/box"]).is_some());
    }
}
