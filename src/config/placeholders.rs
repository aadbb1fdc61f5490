//! `{name}` and `${VAR:-default}` in texts of the configuration.

use std::collections::BTreeMap;

use super::{error::ConfigError, suggest::suggest, yaml::cut};

/// The placeholders of this build, with what they stand for.
pub const PLACEHOLDERS: &[(&str, &str)] = &[
    ("sandbox", "the sandbox's root: an owned directory, and the working directory of a stdio server"),
    ("dir", "the same as `{sandbox}`"),
    ("sandbox_home", "the server's home directory in the sandbox"),
];

/// Placeholders of the methodology whose target this build does not have: the name before any colon, and what it needs.
const PLANNED: &[(&str, &str)] = &[
    ("dsn", "the db pack"),
    ("host", "the db pack"),
    ("port", "the db pack"),
    ("user", "the db pack"),
    ("password", "the db pack"),
    ("database", "the db pack"),
    ("role", "the db pack"),
    ("sqlite_path", "the sqlite pack"),
    ("duckdb_path", "a DuckDB target"),
    ("upstream", "the upstream stub"),
    ("upstream_token", "the upstream stub"),
    ("bearer", "the upstream pack"),
    ("listener", "the net pack's listener"),
    ("canary", "custom probes"),
    ("token", "custom probes"),
    ("matrix", "custom probes"),
];

/// The longest word in braces that is looked at.
const MAX_WORD: usize = 64;
/// Defaults within defaults.
const MAX_NESTING: usize = 8;

/// A text taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// As it stands.
    Text(&'t str),
    /// `{name}` with its braces, and the name.
    Placeholder(&'t str, &'t str),
    /// `${NAME}` or `${NAME:-default}`.
    Variable(&'t str, Option<&'t str>),
}

/// What a placeholder is in this build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It will be filled.
    Known,
    /// It needs what this build does not have.
    Needs(&'static str),
    /// It stays as it is; the known one that it resembles.
    Unknown(Option<&'static str>),
}

/// Takes a text apart. `$${` is a literal `${`; braces that hold no single word are text.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, ConfigError> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &text[at..];
        let (piece, length) = if rest.starts_with("$${") {
            (Piece::Text("${"), 3)
        } else if rest.starts_with("${") {
            variable(rest)?
        } else if let Some(name) = word_in_braces(rest) {
            (Piece::Placeholder(&rest[..name.len() + 2], name), name.len() + 2)
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if start < at {
            pieces.push(Piece::Text(&text[start..at]));
        }
        pieces.push(piece);
        at += length;
        start = at;
    }
    if start < text.len() {
        pieces.push(Piece::Text(&text[start..]));
    }
    Ok(pieces)
}

/// The word of `{word}`, `{word:word}` or `{word.word}` at the start of a text.
fn word_in_braces(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    // Longer words are none of ours; without a limit a text of braces would be read once per brace.
    let end = inner.bytes().take(MAX_WORD + 1).position(|byte| byte == b'}')?;
    let word = &inner[..end];
    let first = word.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    let plain = word.chars().all(|char| char.is_ascii_alphanumeric() || "_-:.".contains(char));
    (first && plain).then_some(word)
}

fn variable(text: &str) -> Result<(Piece<'_>, usize), ConfigError> {
    let wrong = |why: String| {
        ConfigError::new(why).hinting("a variable is written ${NAME} or ${NAME:-default}; $${ stands for a literal ${")
    };
    let (mut depth, mut deepest) = (0_usize, 0);
    let end = text.char_indices().find_map(|(at, char)| match char {
        '{' => {
            depth += 1;
            deepest = deepest.max(depth);
            None
        }
        '}' => {
            depth -= 1;
            (depth == 0).then_some(at)
        }
        _ => None,
    });
    let Some(end) = end else { return Err(wrong(format!("`{}` is never closed", cut(text)))) };
    if deepest > MAX_NESTING {
        return Err(wrong(format!("braces nested more than {MAX_NESTING} deep")));
    }
    let inner = &text[2..end];
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let plain = name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    if name.is_empty() || !plain || name.starts_with(|char: char| char.is_ascii_digit()) {
        return Err(wrong(format!("`${{{}}}` names no variable", cut(inner))));
    }
    Ok((Piece::Variable(name, default), end + 1))
}

/// What a placeholder's name means here.
pub(crate) fn meaning(name: &str) -> Meaning {
    let stem = name.split([':', '.']).next().unwrap_or(name);
    if PLACEHOLDERS.iter().any(|(known, _)| *known == name) {
        return Meaning::Known;
    }
    // `{token.x}` is none of ours, `{dsn:analyst}` and `{matrix.name}` are.
    let form = match stem {
        "dsn" | "bearer" => name == stem || name.contains(':'),
        "matrix" => name.contains('.'),
        _ => name == stem,
    };
    match PLANNED.iter().find(|(planned, _)| *planned == stem).filter(|_| form) {
        Some((_, needs)) => Meaning::Needs(needs),
        None => Meaning::Unknown(suggest(name, PLACEHOLDERS.iter().map(|(known, _)| *known))),
    }
}

/// The words in single braces of a text, also those within defaults; text that cannot be taken apart has none.
pub fn placeholders_of(text: &str) -> Vec<&str> {
    let Ok(pieces) = pieces(text) else { return Vec::new() };
    pieces
        .into_iter()
        .flat_map(|piece| match piece {
            Piece::Placeholder(_, name) => vec![name],
            Piece::Variable(_, Some(default)) => placeholders_of(default),
            Piece::Variable(_, None) | Piece::Text(_) => Vec::new(),
        })
        .collect()
}

/// A text with its placeholders and variables filled in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expanded {
    /// The text.
    pub text: String,
    /// Values that came from `${VAR}`: secrets.
    pub from_env: Vec<String>,
    /// The names of those variables, in the same order.
    pub variables: Vec<String>,
}

/// Fills in `{name}` from `values` and `${VAR}` from `env`, in one pass: what was filled in is not read again. A word
/// that is not in `values` stays as it stands. An empty variable takes its default, as in a shell.
///
/// # Errors
/// A variable that is not set and has no default; `${` that is never closed or names no variable.
pub fn expand(
    text: &str,
    values: &BTreeMap<&str, String>,
    env: &BTreeMap<String, String>,
) -> Result<Expanded, ConfigError> {
    let mut expanded = Expanded::default();
    for piece in pieces(text)? {
        match piece {
            Piece::Text(text) => expanded.text.push_str(text),
            Piece::Placeholder(whole, name) => match values.get(name) {
                Some(value) => expanded.text.push_str(value),
                None => expanded.text.push_str(whole),
            },
            Piece::Variable(name, default) => match (env.get(name), default) {
                (Some(value), default) if !value.is_empty() || default.is_none() => {
                    expanded.text.push_str(value);
                    if !value.is_empty() {
                        expanded.from_env.push(value.clone());
                        expanded.variables.push(name.to_owned());
                    }
                }
                (_, Some(default)) => {
                    let inner = expand(default, values, env)?;
                    expanded.text.push_str(&inner.text);
                    expanded.from_env.extend(inner.from_env);
                    expanded.variables.extend(inner.variables);
                }
                (_, None) => {
                    return Err(ConfigError::new(format!("the variable {name} is not set"))
                        .hinting(format!("set {name}, or write ${{{name}:-default}}")));
                }
            },
        }
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> BTreeMap<&'static str, String> {
        BTreeMap::from([("sandbox", "/s".to_owned()), ("dir", "/s".to_owned()), ("sandbox_home", "/h".to_owned())])
    }

    fn env() -> BTreeMap<String, String> {
        [("SET", "value"), ("EMPTY", ""), ("SNEAKY", "{sandbox}${SET}")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn texts_are_filled_in() {
        for (text, expected) in [
            ("{sandbox}/x", "/s/x"),
            ("{dir}{sandbox_home}", "/s/h"),
            ("${SET}", "value"),
            ("a${SET}b{sandbox}c", "avalueb/sc"),
            ("${UNSET:-default}", "default"),
            ("${EMPTY:-default}", "default"),
            ("${EMPTY}", ""),
            ("${UNSET:-}", ""),
            ("${UNSET:-{sandbox}/db}", "/s/db"),
            ("${UNSET:-${SET}}", "value"),
            ("$${SET} $$ $SET", "${SET} $$ $SET"),
            ("{\"a\":1}", "{\"a\":1}"),
            ("{}", "{}"),
            ("{1,3}", "{1,3}"),
            ("{unknown}", "{unknown}"),
            ("{sandbox", "{sandbox"),
            ("{{sandbox}}", "{/s}"),
            ("é{sandbox}é", "é/sé"),
            // What was filled in is not read again.
            ("${SNEAKY}", "{sandbox}${SET}"),
        ] {
            assert_eq!(expand(text, &values(), &env()).unwrap().text, expected, "{text}");
        }
    }

    #[test]
    fn what_came_from_the_environment_is_reported_once_each() {
        let expanded = expand("${SET}-${EMPTY}-${UNSET:-x}", &values(), &env()).unwrap();
        assert_eq!(expanded.from_env, ["value"]);
        assert_eq!(expanded.variables, ["SET"]);
    }

    #[test]
    fn mistakes_name_the_variable_and_the_next_step() {
        for (text, message) in [
            ("${UNSET}", "the variable UNSET is not set"),
            ("x${", "`${` is never closed"),
            ("${SET", "`${SET` is never closed"),
            ("${}", "`${}` names no variable"),
            ("${1X}", "`${1X}` names no variable"),
            ("${A-b}", "`${A-b}` names no variable"),
        ] {
            let error = expand(text, &values(), &env()).unwrap_err();
            assert_eq!(error.to_string(), message, "{text}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn words_have_a_meaning_or_resemble_one() {
        assert_eq!(meaning("sandbox"), Meaning::Known);
        assert_eq!(meaning("sandbx"), Meaning::Unknown(Some("sandbox")));
        assert_eq!(meaning("id"), Meaning::Unknown(None));
        assert_eq!(meaning("dsn:analyst"), Meaning::Needs("the db pack"));
        assert_eq!(meaning("bearer"), Meaning::Needs("the upstream pack"));
        assert_eq!(meaning("matrix.x"), Meaning::Needs("custom probes"));
        assert_eq!(meaning("host.name"), Meaning::Unknown(None));
        assert_eq!(meaning("user"), Meaning::Needs("the db pack"));
    }

    #[test]
    fn words_are_listed_also_within_defaults() {
        assert_eq!(placeholders_of("{a} ${B:-{c}} $${d} {\"e\":{}}"), ["a", "c"]);
    }
}
