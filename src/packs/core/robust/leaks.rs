//! Texts that show a server's internals: stack traces, source paths, a runtime's own exception lines.

use super::matcher::{Matcher, head};

/// A leak: what kind, and the text that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Leak {
    /// `a Python stack trace`.
    pub(in super::super) what: &'static str,
    /// The place in the text.
    pub(in super::super) shown: String,
}

/// Stack traces and exception lines that no validator writes on purpose.
static RULES: [Matcher; 16] = [
    Matcher::new(
        "a Python stack trace",
        &["Traceback", "File \""],
        r#"Traceback \(most recent call last\)|\bFile "[^"\n]+", line \d+"#,
    ),
    Matcher::new(
        "a Node.js stack trace",
        &["(/", "(file:", "(node:", ":\\", "at /", "at file:", "at node:", "at async file:", "at async /"],
        r"\bat (?:[^\s()]+ )*\(?(?:file://|node:|/|[A-Za-z]:\\)[^\n()]+:\d+:\d+",
    ),
    Matcher::new(
        "a Java stack trace",
        &[".java:", ".kt:", ".scala:", "Exception in thread "],
        r"\bat [\w.$<>]+\([\w$]+\.(?:java|kt|scala):\d+\)|Exception in thread ",
    ),
    Matcher::new(
        "a Go stack trace",
        &["goroutine ", "panic: ", "runtime error: "],
        r"\bgoroutine \d+ \[|\bpanic: |runtime error: (?:invalid memory|index out of|slice bounds|integer divide)",
    ),
    Matcher::new(
        "a Rust panic",
        &["panicked at ", "::unwrap()", "RUST_BACKTRACE"],
        r"\bpanicked at |called `(?:Option|Result)::unwrap\(\)`|note: run with `RUST_BACKTRACE",
    ),
    Matcher::new(
        "a .NET stack trace",
        &[":line ", "Unhandled exception. System."],
        r"\n\s+at [\w.`<>]+\([^)\n]*\) in [^\n]+:line \d+|Unhandled exception\. System\.",
    ),
    Matcher::new(
        "a PHP stack trace",
        &["Stack trace:", "PHP ", ".php"],
        r"Stack trace:\s+#0|PHP (?:Fatal error|Warning|Notice)|(?:Fatal error|Uncaught [A-Z]\w+(?:Error|Exception)): .* in \S+\.php",
    ),
    Matcher::new("a Ruby stack trace", &[".rb:"], r"\.rb:\d+:in [`']"),
    Matcher::new(
        "an unhandled JavaScript error",
        &["Cannot ", " is not a function", " is not iterable", "undefined is not an object", "Maximum call stack"],
        r"Cannot (?:read|set) propert(?:y|ies) .*of (?:undefined|null)|Cannot destructure property|[\w.$\[\]]+ is not a function\b|\b[\w.$]+ is not iterable\b|undefined is not an object|Cannot convert undefined or null to object|Maximum call stack size exceeded",
    ),
    Matcher::new(
        "an unhandled Node.js error",
        &[
            "argument must be ",
            "property must be ",
            "The argument '",
            "The property '",
            " is out of range. It must be ",
            "ERR_",
        ],
        r#"The "[\w.\[\]]+" (?:argument|property) must be (?:of type|an instance of|one of type) .+Received|The (?:argument|property) '[\w.\[\]]+' .+\. Received |The value of "[\w.\[\]]+" is out of range\. It must be .+\. Received |\bERR_(?:INVALID_ARG_(?:TYPE|VALUE)|OUT_OF_RANGE)\b"#,
    ),
    Matcher::new(
        "an unhandled Python error",
        &[
            "' object ",
            "Error: ",
            "index out of range",
            " indices must be",
            "required positional argument",
            "unexpected keyword argument",
            "argument of type '",
            "has no len()",
            "unsupported operand",
            "can only concatenate",
            "os.PathLike",
            "cannot unpack",
        ],
        r"'\w+' object (?:has no attribute|is not (?:iterable|subscriptable|callable)|does not support item|cannot be interpreted)|\b(?:Key|UnboundLocal|Attribute|Name|Index|Recursion)Error: |(?:list|tuple|string) index out of range|(?:list|string) indices must be|missing \d+ required positional arguments?: |got an unexpected keyword argument|argument of type '\w+' is not |object of type '\w+' has no len\(\)|unsupported operand type\(s\)|can only concatenate \w+ |expected str, bytes or os\.PathLike object, not |cannot unpack non-iterable|argument should be a str or an os\.PathLike",
    ),
    Matcher::new(
        "an unhandled Go error",
        &["interface conversion: ", "nil pointer dereference", "reflect: call of "],
        r"interface conversion: |nil pointer dereference|reflect: call of ",
    ),
    Matcher::new(
        "an unhandled Java error",
        &["java.lang.", "java.util.", "java.io."],
        r"\bjava\.(?:lang|util|io)\.\w+(?:Exception|Error)\b|class java\.lang\.\w+ cannot be cast",
    ),
    Matcher::new(
        "an unhandled .NET error",
        &["Object reference not set", "System."],
        r"Object reference not set to an instance|\bSystem\.(?:\w+\.)*\w+Exception\b",
    ),
    Matcher::new("an unhandled Ruby error", &["undefined method "], r"undefined method [`']\w+[`'?!]* for "),
    Matcher::new(
        "an unhandled PHP error",
        &["Undefined ", "Argument #"],
        r"Undefined (?:array key|index|offset|variable|property)\b|Argument #\d+ \(\$\w+\) must be of type",
    ),
];

/// The text of a Python `KeyError` and nothing else: the quoted key.
static BARE_KEY: Matcher = Matcher::new(
    "an unhandled Python KeyError",
    &["'"],
    r"^\s*(?:Error(?: executing tool \S+)?: )?'[A-Za-z_][\w.-]*'\s*$",
);

/// An exception class in front of a text of its own; only telling when the text does not read as validation.
static TYPE_ERROR: Matcher = Matcher::new(
    "an unhandled runtime error",
    &["TypeError", "ReferenceError", "NullPointerException"],
    r"\b(?:Uncaught |Unhandled )?(?:TypeError|ReferenceError|NullPointerException)(?: \[\w+\])?: ([^\n]*)",
);

/// Ends of source file names.
const SOURCES: &[&str] = &[
    ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".kt", ".rb", ".php", ".cs", ".cpp",
    ".cc",
];

/// An absolute path of a source file, with the line when one follows.
static SOURCE_PATH: Matcher = Matcher::new(
    "an absolute source path",
    SOURCES,
    r#"(?:^|[\s"'`(\[=:,>])(?:file://)?((?:(?:/[\w.@+~-]+)+|[A-Za-z]:\\(?:[\w.@+~ -]+\\)+[\w.-]+)\.(?:py|[cm]?js|tsx?|jsx|go|rs|java|kt|rb|php|cs|cpp|cc))((?::|", line |\(|:line |\son line )\d+)?"#,
);

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

/// Bytes of a text that are read: what leaks stands near the message.
const MAX_TEXT: usize = 16 * 1024;
/// A bare key is a short text.
const MAX_KEY: usize = 200;

/// What a refusal gives away, if anything. Paths of ours are placeholders in `text` by now: naming them is no leak.
pub(in super::super) fn leak(text: &str) -> Option<Leak> {
    let text = head(text, MAX_TEXT);
    let shows = |what: &'static str, shown: &str| Some(Leak { what, shown: shown.trim().to_owned() });
    for rule in &RULES {
        if let Some(found) = rule.find(text, text) {
            return shows(rule.what, found.as_str());
        }
    }
    if text.len() <= MAX_KEY && BARE_KEY.find(text, text).is_some() {
        return shows(BARE_KEY.what, text);
    }
    if let Some(found) = TYPE_ERROR.find(text, text) {
        let message = found.as_str().to_lowercase();
        let deliberate = ["must be", "must have", "expected", "required", "invalid", "should be", "missing"]
            .iter()
            .any(|word| message.contains(word));
        if !deliberate {
            return shows(TYPE_ERROR.what, found.as_str());
        }
    }
    if !names_source(text) {
        return None;
    }
    for found in SOURCE_PATH.regex().captures_iter(text).take(64) {
        let path = found.get(1).map_or("", |path| path.as_str());
        let with_line = found.get(2).is_some();
        if with_line || INSTALLED.iter().any(|folder| path.contains(folder)) {
            return shows(SOURCE_PATH.what, found.get(0).map_or("", |all| all.as_str()));
        }
    }
    None
}

/// Whether a source file's ending stands in the text at all (`.py`, and not the `.py` of `.pydantic`).
fn names_source(text: &str) -> bool {
    (text.contains('/') || text.contains('\\'))
        && SOURCES.iter().any(|end| {
            text.match_indices(end)
                .any(|(at, found)| !text[at + found.len()..].starts_with(|next: char| next.is_alphanumeric()))
        })
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
            "Error: The \"options.cwd\" property must be of type string or an instance of Buffer or URL. Received type number (4242)",
            "The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received 'a\\x00b'",
            "The value of \"length\" is out of range. It must be >= 0 && <= 9007199254740991. Received -1",
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
            assert!(leak(text).is_some(), "{text}");
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
            "The \"path\" property must be of type string",
            "The argument 'path' is required",
            "ValueError: depth should be positive",
            "File not found: /sandbox/root/app.py",
            "Access denied - path outside allowed directories: /etc/app/config.py not in /data",
            "Unknown tool: sealmark-no-such-tool",
            "Look at https://example.invalid/docs/tool.js:12 for help",
            "'path' is required",
            "connect ECONNREFUSED 127.0.0.1:1",
        ] {
            assert_eq!(leak(text), None, "{text}");
        }
        assert_eq!(leak("cannot parse {sandbox}/a.py:3"), None);
        assert!(leak("cannot parse /opt/box/a.py:3").is_some());
    }
}
