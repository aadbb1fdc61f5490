//! The claims of parameters to a class: names and formats decide, words around them support.

use super::{
    super::{names::words, parameters::Parameter},
    Confidence, ToolClass,
};
use crate::model::Tool;

/// One parameter's claim to a class.
pub(super) struct Claim<'p> {
    pub(super) class: ToolClass,
    pub(super) confidence: Confidence,
    pub(super) parameter: &'p Parameter,
    pub(super) reason: String,
}

/// What the whole tool says, for parameters that need support.
pub(super) struct Facts {
    name: Vec<String>,
    description: String,
    /// The words of every text parameter's name, joined by spaces.
    siblings: Vec<String>,
}

impl Facts {
    pub(super) fn of(tool: &Tool, parameters: &[Parameter]) -> Self {
        let description: String = tool.description().unwrap_or_default().chars().take(4_000).collect();
        Self {
            name: words(&tool.name),
            description: description.to_lowercase(),
            siblings: parameters.iter().map(|parameter| parameter.words.join(" ")).collect(),
        }
    }

    fn named(&self, any: &[&str]) -> bool {
        self.name.iter().any(|word| any.contains(&word.as_str()))
    }

    fn sibling(&self, any: &[&str]) -> bool {
        self.siblings.iter().any(|name| any.contains(&name.as_str()))
    }

    pub(super) fn claims<'p>(&self, parameter: &'p Parameter) -> Vec<Claim<'p>> {
        let found = [
            (ToolClass::Sql, self.sql(parameter)),
            (ToolClass::Git, self.git(parameter)),
            (ToolClass::Command, self.command(parameter)),
            (ToolClass::Path, self.path(parameter)),
            (ToolClass::Url, self.url(parameter)),
        ];
        found
            .into_iter()
            .filter_map(|(class, answer)| {
                let (confidence, because) = answer?;
                let reason = format!(
                    "`{}` takes {}{}: {because}",
                    parameter.name,
                    class.thing(),
                    if parameter.list { " (a list)" } else { "" }
                );
                Some(Claim { class, confidence, parameter, reason })
            })
            .collect()
    }

    fn sql(&self, parameter: &Parameter) -> Answer {
        let name = parameter.words.join(" ");
        if matches!(name.as_str(), "sql" | "sql query" | "sqlquery" | "sql statement" | "sql queries" | "sql text") {
            return Some((Confidence::High, "its name"));
        }
        if !matches!(name.as_str(), "query" | "statement" | "queries" | "statements" | "query string") {
            return None;
        }
        let own = speaks_sql(&parameter.written);
        let confidence = match (own, self.named(SQL_WORDS)) {
            (true, _) => Confidence::High,
            (false, true) => Confidence::Medium,
            // Only the tool's description does: a list of statements to analyse, a search in a database.
            (false, false) if has_word(&self.description, &["sql"]) => Confidence::Low,
            _ => return None,
        };
        let searches = has_word(
            &parameter.description,
            &["search", "keyword", "keywords", "question", "natural", "substring", "term"],
        );
        let because = if own { "its name and its description" } else { "its name, and SQL words around it" };
        Some((if searches && !own { Confidence::Low } else { confidence }, because))
    }

    fn git(&self, parameter: &Parameter) -> Answer {
        let name = parameter.words.join(" ");
        let git = self.named(&["git"]) || has_word(&self.description, &["git"]);
        let hosted = self.sibling(&["owner", "org", "organization", "workspace", "project key"]);
        match name.as_str() {
            _ if hosted => None,
            "repo path"
            | "repository path"
            | "repo dir"
            | "repo directory"
            | "repository directory"
            | "git dir"
            | "repo root"
            | "git path"
            | "working tree" => Some((Confidence::High, "its name")),
            "repo" | "repository" => {
                let local = has_word(&parameter.description, &["path", "directory", "folder", "local"]);
                Some(match (git, local) {
                    (true, true) => (Confidence::High, "its name and its description"),
                    (true, false) | (false, true) => (Confidence::Medium, "its name, and words around it"),
                    _ => (Confidence::Low, "its name alone"),
                })
            }
            "directory" | "path" | "cwd" | "dir" | "working directory" | "workdir" | "working dir" | "folder"
                if self.name.first().is_some_and(|word| word == "git")
                    && !self.sibling(&["repo path", "repo", "repository"]) =>
            {
                Some((Confidence::High, "the directory of a git tool"))
            }
            _ => None,
        }
    }

    fn command(&self, parameter: &Parameter) -> Answer {
        let last = parameter.words.last()?.as_str();
        let running = self.named(RUNNING) || has_word(&self.description, &RUNNING[2..]);
        let only_looks = self.named(&[
            "transform",
            "parse",
            "explain",
            "format",
            "lint",
            "validate",
            "check",
            "history",
            "list",
            "search",
            "filter",
            "allow",
            "block",
            "describe",
        ]);
        match last {
            "command" | "cmd" | "commands" | "cmdline" => {}
            "line" if parameter.words.iter().any(|word| word == "command") => {}
            "script" | "code"
                if self.named(&[
                    "run",
                    "exec",
                    "execute",
                    "shell",
                    "bash",
                    "eval",
                    "python",
                    "node",
                    "terminal",
                    "interpreter",
                ]) =>
            {
                return Some(if only_looks {
                    (Confidence::Low, "its name, but the tool does not say that it runs it")
                } else {
                    (Confidence::Medium, "the tool's name says that it runs it")
                });
            }
            _ => return None,
        }
        Some(match (running, only_looks) {
            (_, true) => (Confidence::Low, "its name, but the tool does not say that it runs it"),
            (true, false) => (Confidence::High, "its name, and the tool says that it runs it"),
            (false, false) => (Confidence::Medium, "its name"),
        })
    }

    fn path(&self, parameter: &Parameter) -> Answer {
        let last = parameter.words.last()?.as_str();
        let own = &parameter.description;
        let files = &["file", "files", "directory", "directories", "folder", "folders", "filesystem", "dir", "mkdir"];
        if matches!(parameter.format.as_deref(), Some("path" | "file-path" | "filepath" | "file" | "directory-path")) {
            return Some((Confidence::High, "its format"));
        }
        // Where a command or a repository works is not what the tool reads or writes.
        let place =
            parameter.words.iter().any(|word| matches!(word.as_str(), "cwd" | "workdir" | "workspace" | "working"))
                || own.contains("working directory")
                || own.contains("run the command in");
        // A path of something else: inside a document, an object, a URL.
        let elsewhere =
            parameter.words.iter().any(|word| {
                matches!(
                    word.as_str(),
                    "json"
                        | "jsonpath"
                        | "xml"
                        | "xpath"
                        | "x"
                        | "key"
                        | "field"
                        | "object"
                        | "property"
                        | "url"
                        | "api"
                        | "css"
                        | "class"
                        | "module"
                        | "route"
                        | "http"
                        | "query"
                )
            }) || ["json path", "jsonpath", "xpath", "api path", "url path", "request path", "endpoint", "route"]
                .iter()
                .any(|words| own.contains(words));
        let by_words = has_word(own, &["path", "paths", "directory", "folder"]) || own.contains("file://");
        match last {
            _ if place => None,
            "path" | "paths" | "filepath" | "filepaths" | "pathname" => Some(match elsewhere {
                true => (Confidence::Low, "its name, but it seems to be a path inside something else"),
                false => (Confidence::High, "its name"),
            }),
            "directory" | "dir" | "folder" | "directories" | "folders" | "dirs" | "dirname" => {
                Some((Confidence::High, "its name"))
            }
            "file" | "filename" | "files" | "filenames" => {
                let more = by_words || parameter.words.len() > 1 || self.named(files) || has_word(own, files);
                Some((if more { Confidence::High } else { Confidence::Medium }, "its name"))
            }
            "source" | "src" | "destination" | "dest" | "dst" | "root" => {
                let paired = self.sibling(&["source", "src"]) && self.sibling(&["destination", "dest", "dst"]);
                match (by_words && !own.contains("url"), self.named(files)) {
                    (true, true) => Some((Confidence::High, "its name, its description and the tool's name")),
                    (false, true) if paired => {
                        Some((Confidence::High, "a source and a destination, and the tool's name"))
                    }
                    (true, false) => Some((Confidence::Medium, "its description")),
                    (false, true) => Some((Confidence::Medium, "its name and the tool's name")),
                    _ => None,
                }
            }
            "uri" | "uris" | "url" | "urls" if own.contains("file://") => {
                let only = !own.contains("http");
                Some((
                    if only { Confidence::High } else { Confidence::Medium },
                    "its description names file:// addresses",
                ))
            }
            "name" | "pattern" | "glob" | "query" | "id" | "content" | "contents" | "text" | "message" | "body"
            | "data" => None,
            _ => {
                let told = [
                    "path to ",
                    "path of ",
                    "file path",
                    "absolute path",
                    "relative path",
                    "directory path",
                    "filesystem path",
                ];
                (told.iter().any(|words| own.contains(words)) && !elsewhere)
                    .then_some((Confidence::Medium, "its description"))
            }
        }
    }

    fn url(&self, parameter: &Parameter) -> Answer {
        let last = parameter.words.last()?.as_str();
        let own = &parameter.description;
        if own.contains("file://") && !own.contains("http") {
            return None;
        }
        if last == "proxy" || own.starts_with("optional proxy") {
            return Some((Confidence::Low, "it names a proxy"));
        }
        if matches!(parameter.format.as_deref(), Some("uri" | "url" | "iri" | "uri-reference" | "uri-template")) {
            let resource = last == "uri" && has_word(own, &["resource"]) && !own.contains("http");
            return Some((if resource { Confidence::Low } else { Confidence::High }, "its format"));
        }
        let fetching = self.named(FETCHING) || has_word(&self.description, FETCHING);
        match last {
            "url" | "urls" => {
                let sent_elsewhere = parameter
                    .words
                    .iter()
                    .any(|word| matches!(word.as_str(), "callback" | "redirect" | "avatar" | "homepage"));
                Some((if sent_elsewhere { Confidence::Medium } else { Confidence::High }, "its name"))
            }
            "uri" | "uris" | "href" | "hrefs" => {
                let web = own.contains("http") || has_word(own, &["url", "web", "website", "page"]) || fetching;
                Some((if web { Confidence::High } else { Confidence::Low }, "its name"))
            }
            "link" | "links" | "website" | "webpage" | "site" | "endpoint" | "address" | "webhook" => {
                let web = own.contains("http://") || own.contains("https://") || has_word(own, &["url", "urls"]);
                web.then_some((Confidence::Medium, "its name and its description"))
            }
            "string" | "header" | "headers" | "pattern" | "template" | "filter" | "query" | "content" | "text"
            | "body" | "message" => None,
            _ if has_word(own, &["url", "urls"])
                && (own.starts_with("url")
                    || own.starts_with("the url")
                    || own.contains("url to")
                    || own.contains("url of")) =>
            {
                Some((Confidence::Medium, "its description"))
            }
            _ => None,
        }
    }
}

type Answer = Option<(Confidence, &'static str)>;

const SQL_WORDS: &[&str] = &[
    "sql",
    "sqlite",
    "postgres",
    "postgresql",
    "psql",
    "pg",
    "mysql",
    "mariadb",
    "duckdb",
    "clickhouse",
    "snowflake",
    "bigquery",
    "database",
    "db",
];
/// The first two are too common to count in a description.
const RUNNING: &[&str] = &[
    "run",
    "runs",
    "exec",
    "execute",
    "executes",
    "shell",
    "bash",
    "terminal",
    "process",
    "subprocess",
    "powershell",
    "cli",
    "command-line",
];
const FETCHING: &[&str] =
    &["fetch", "fetches", "download", "crawl", "scrape", "browse", "navigate", "curl", "http", "web", "request"];

/// SQL by its own words: the language or an engine, or a statement's head in capitals.
fn speaks_sql(text: &str) -> bool {
    let lower = text.to_lowercase();
    let engines = ["sql", "sqlite", "postgres", "postgresql", "mysql", "mariadb", "duckdb"];
    let heads = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE TABLE"];
    has_word(&lower, &engines) || heads.iter().any(|head| has_word(text, &[head]))
}

/// Whether one of `any` stands in `text` as a word (letters, digits and hyphens around it end the match).
fn has_word(text: &str, any: &[&str]) -> bool {
    any.iter().any(|word| {
        text.match_indices(word).any(|(at, found)| {
            let edge = |character: Option<char>| {
                !character.is_some_and(|character| character.is_alphanumeric() || character == '_')
            };
            edge(text[..at].chars().next_back()) && edge(text[at + found.len()..].chars().next())
        })
    })
}
