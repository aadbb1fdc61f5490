//! What must not stand in any output: values by their name, by the file they stand in, and by `${VAR}`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    layer::{Merged, Setting},
    placeholders::{Piece, expand, pieces},
};

/// What stands in a secret's place.
pub const REDACTED: &str = "<redacted>";

/// Shorter secrets would blot out ordinary words.
const MIN_SECRET: usize = 4;
/// The same for values that are secret only by where they come from (`${PORT}`, a local file).
const MIN_UNNAMED: usize = 6;

/// Words of a name that announce a secret.
const WORDS: &[&str] = &[
    "key",
    "secrets",
    "passphrase",
    "pwd",
    "pass",
    "auth",
    "authorization",
    "bearer",
    "credential",
    "credentials",
    "cookie",
    "accesskey",
    "secretkey",
    "jwt",
    "pat",
    "dsn",
    "private",
];
/// Words that end so announce one too (`PGPASSWORD`, `authtoken`).
const ENDINGS: &[&str] = &["password", "passwd", "secret", "token", "apikey"];

/// Whether a name of a variable, header or option announces a secret (`API_KEY`, `X-Auth-Token`, `dbPassword`).
pub fn is_secret_name(name: &str) -> bool {
    let mut word = String::new();
    let mut lower_before = false;
    let mut found = false;
    for char in name.chars().chain(['_']) {
        let boundary = !char.is_alphanumeric() || (char.is_uppercase() && lower_before);
        if boundary {
            found |= WORDS.contains(&word.as_str()) || ENDINGS.iter().any(|ending| word.ends_with(ending));
            word.clear();
        }
        lower_before = char.is_lowercase();
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
    }
    found
}

/// A value as it may be shown beside its name: references and placeholders as written, literal secrets hidden.
pub fn shown(name: &str, value: &str) -> String {
    if is_secret_name(name) && !literal(value).is_empty() { REDACTED.to_owned() } else { without_userinfo(value) }
}

/// The literal part of a value, without an authorization scheme's word.
fn literal(value: &str) -> String {
    let Ok(pieces) = pieces(value) else { return value.to_owned() };
    let text: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Placeholder(..) | Piece::Variable(..) => "",
        })
        .collect();
    let text = text.trim();
    if is_scheme(text) { String::new() } else { text.to_owned() }
}

/// Whether a word is an authorization scheme.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// A URL without the user and password that it may carry.
fn without_userinfo(value: &str) -> String {
    match userinfo(value) {
        Some(secret) => value.replacen(secret, REDACTED, 1),
        None => value.to_owned(),
    }
}

/// `user:password` of a URL, when it is literal.
fn userinfo(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (userinfo, _) = authority.rsplit_once('@')?;
    (userinfo.contains(':') && !userinfo.contains(['$', '{'])).then_some(userinfo)
}

/// The secrets of a literal value below a name.
pub(crate) fn of_literal(name: &str, value: &str, local: bool) -> Vec<String> {
    let mut found = Vec::new();
    let named = is_secret_name(name);
    let text = literal(value);
    if named && text.chars().count() >= MIN_SECRET || local && is_unusual(&text) {
        // The credential without its scheme is what a server would show.
        if let Some((scheme, credential)) = text.split_once(' ')
            && is_scheme(scheme)
            && credential.chars().count() >= MIN_SECRET
        {
            found.push(credential.trim().to_owned());
        }
        found.push(text);
    }
    if let Some((_, password)) = userinfo(value).and_then(|userinfo| userinfo.split_once(':'))
        && password.chars().count() >= MIN_SECRET
    {
        found.push(password.to_owned());
    }
    for pair in value.split_once('?').map(|(_, query)| query.split('&')).into_iter().flatten() {
        if let Some((key, value)) = pair.split_once('=')
            && is_secret_name(key)
            && value.chars().count() >= MIN_SECRET
            && !value.contains(['$', '{'])
        {
            found.push(value.to_owned());
        }
    }
    found
}

/// The secrets of arguments: what follows an option that announces one (`--api-key K`, `--token=T`).
pub(crate) fn of_arguments(args: &[String], local: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut before: Option<&str> = None;
    for arg in args {
        let (name, value) = match (arg.strip_prefix('-'), arg.split_once('=')) {
            (Some(_), Some((name, value))) => (name, value),
            (Some(_), None) => ("", ""),
            (None, _) => (before.unwrap_or_default(), arg.as_str()),
        };
        found.extend(of_literal(name, value, local));
        before = arg.starts_with('-').then_some(arg.as_str());
    }
    found
}

/// Arguments as they may be shown.
pub(crate) fn shown_arguments(args: &[String]) -> Vec<String> {
    let mut before: Option<&str> = None;
    args.iter()
        .map(|arg| {
            let name = before.take().unwrap_or_default();
            if !arg.starts_with('-') {
                return shown(name, arg);
            }
            before = Some(arg);
            match arg.split_once('=') {
                Some((name, value)) => format!("{name}={}", shown(name, value)),
                None => arg.clone(),
            }
        })
        .collect()
}

/// Whether a value that came from `${VAR}` below a name has to be hidden.
pub(crate) fn hides_reference(name: &str, variable: &str, value: &str) -> bool {
    let named = is_secret_name(name) || is_secret_name(variable);
    named && value.chars().count() >= MIN_SECRET || is_unusual(value)
}

/// Every secret that the servers' settings hold, longest first.
pub(crate) fn gather(merged: &Merged, env: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    let none = BTreeMap::new();
    for (path, Setting { value, origin, .. }) in merged.below(&["server"]).chain(merged.below(&["servers"])) {
        let name = path.last().map(String::as_str).unwrap_or_default();
        let texts = texts(value);
        // A program's bare name stands in every second message.
        let local = origin.is_local() && (name != "command" || texts.iter().any(|text| text.contains(['/', '\\'])));
        if name == "args" {
            found.extend(of_arguments(&texts, local));
        } else {
            found.extend(texts.iter().flat_map(|text| of_literal(name, text, local)));
        }
        for expanded in texts.iter().filter_map(|text| expand(text, &none, env).ok()) {
            let pairs = expanded.variables.iter().zip(expanded.from_env);
            found.extend(
                pairs.filter(|(variable, value)| hides_reference(name, variable, value)).map(|(_, value)| value),
            );
        }
    }
    found.sort_by(|one, two| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
    found.dedup();
    found
}

/// The texts of a setting's value: itself, its items, the contents of its files.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.get("content").map(texts).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A server's setting as it may be shown: `name` is its last word.
pub(crate) fn shown_value(name: &str, value: &Value, local: bool) -> Value {
    // A choice of words is no secret.
    let hidden = |text: &str| local && name != "cwd" && !literal(text).is_empty();
    match value {
        // It must load again.
        Value::String(text) if name == "url" && hidden(text) => {
            Value::from(format!("{}://{REDACTED}", text.split_once("://").map_or("http", |(scheme, _)| scheme)))
        }
        Value::String(text) if hidden(text) => Value::from(REDACTED),
        Value::String(text) => Value::from(shown(name, text)),
        Value::Array(items) if name == "args" && !local => {
            let args: Vec<String> = items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect();
            shown_arguments(&args).into()
        }
        Value::Array(items) => items.iter().map(|item| shown_value(name, item, local)).collect(),
        // Staged files: the content is hidden, the path is not.
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                (key.clone(), if key == "content" { shown_value(name, value, local) } else { value.clone() })
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Long enough, and neither a number nor a word that stands everywhere.
fn is_unusual(value: &str) -> bool {
    value.chars().count() >= MIN_UNNAMED
        && value.parse::<f64>().is_err()
        && !["localhost", "production", "development", "staging", "disabled", "enabled", "default", "127.0.0.1"]
            .contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_announce_secrets_by_their_words() {
        for name in [
            "API_KEY",
            "X-Api-Key",
            "token",
            "GITHUB_TOKEN",
            "dbPassword",
            "Authorization",
            "--auth-token",
            "PGPASSWORD",
            "apiKey",
            "client_secret",
            "MY_PAT",
            "DATABASE_DSN",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["MONKEY", "MAX_TOKENS", "AUTHOR", "PATH", "KEYBOARD", "PASSAGE", "MEMORY_FILE_PATH", "", "compass"]
        {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn references_are_shown_as_written_and_literals_are_not() {
        for (name, value, expected) in [
            ("API_KEY", "${MY_KEY}", "${MY_KEY}"),
            ("Authorization", "Bearer ${TOKEN}", "Bearer ${TOKEN}"),
            ("Authorization", "Bearer abc123", REDACTED),
            ("API_KEY", "pre-${MY_KEY}", REDACTED),
            ("LOG_LEVEL", "debug", "debug"),
            ("DB", "postgres://me:hunter22@db/x", "postgres://<redacted>@db/x"),
            ("API_KEY", "", ""),
        ] {
            assert_eq!(shown(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn a_credential_is_scrubbed_with_and_without_its_scheme() {
        assert_eq!(of_literal("Authorization", "Bearer abc123", false), ["abc123", "Bearer abc123"]);
        assert_eq!(of_literal("X", "https://u:passw0rd@h/p?api_key=zzzz9&x=1", false), ["passw0rd", "zzzz9"]);
        assert!(of_literal("API_KEY", "abc", false).is_empty());
        assert!(of_literal("LOG_LEVEL", "debug-all", false).is_empty());
    }

    #[test]
    fn everything_unusual_of_a_local_file_is_scrubbed() {
        assert_eq!(of_literal("HOST", "db.internal.example", true), ["db.internal.example"]);
        assert!(of_literal("PORT", "8080", true).is_empty());
        assert!(of_literal("MODE", "production", true).is_empty());
    }

    #[test]
    fn options_that_announce_a_secret_hide_what_follows() {
        let args = ["--api-key", "abcd", "--token=efgh", "--port", "8080", "x"].map(str::to_owned);
        assert_eq!(of_arguments(&args, false), ["abcd", "efgh"]);
        assert_eq!(shown_arguments(&args), ["--api-key", REDACTED, "--token=<redacted>", "--port", "8080", "x"]);
    }
}
