//! Configuration files: read whole, bounded, and taken apart into entries with their lines.

use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    catalog::{Branch, Catalog, KeyPath, child},
    error::{ConfigError, Origin, Place, Source},
    layer::Entry,
    reserved::{Reserved, holds_ignored, reserved},
    suggest::{hint_for, suggest},
    value::{self, Mismatch},
    yaml::{self, Content, Node, cut},
};
use crate::files;

/// A larger file is not a configuration.
const MAX_BYTES: u64 = 1 << 20;

/// A profile that a file defines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Where it stands.
    pub place: Place,
    /// The profile below it, with the place that says so.
    pub extends: Option<(String, Origin)>,
    /// Its settings; paths as at top level.
    pub entries: Vec<Entry>,
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Contents {
    pub entries: Vec<Entry>,
    pub profiles: BTreeMap<String, Definition>,
    pub warnings: Vec<String>,
}

/// Reads a file, the only I/O of the configuration. `Ok(None)` when it does not exist.
pub(crate) fn load(path: &Path, shown: &str) -> Result<Option<String>, ConfigError> {
    let unreadable = |why: String| {
        ConfigError::at_text(shown, format!("cannot be read: {why}")).hinting("check the path and its permissions")
    };
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // A parent that is a file: nothing can stand there.
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(None),
        Err(_) if path.is_dir() => {
            return Err(ConfigError::at_text(shown, "is a directory, not a file").hinting("name the file in it"));
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(
            ConfigError::at_text(shown, "is larger than 1 MiB").hinting("a configuration is a few lines of YAML")
        );
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        ConfigError::at_text(&format!("{shown}:{line}"), "is not UTF-8 text").hinting("save it as UTF-8")
    })
}

/// A path as it is shown: relative when it lies below the working directory.
pub(crate) fn shown(path: &Path, cwd: &Path) -> String {
    let short = path.strip_prefix(cwd).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
    short.display().to_string()
}

/// The source of a file.
pub(crate) fn source(path: &Path, cwd: &Path, local: bool) -> Arc<Source> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).map_or_else(|| cwd.to_owned(), PathBuf::from);
    Arc::new(Source { shown: shown(path, cwd), dir, local })
}

/// Takes a file's text apart.
pub(crate) fn parse(text: &str, source: &Arc<Source>, catalog: &Catalog) -> Result<Contents, ConfigError> {
    let at = |line| Origin::File(Place { source: source.clone(), line });
    let root = yaml::parse(text).map_err(|error| {
        ConfigError::at(&at(error.line), error.message).maybe_hinting(error.hint.map(str::to_owned))
    })?;
    let mut walk = Walk { source, catalog, contents: Contents::default(), below_profile: None };
    match &root.content {
        Content::Null => {}
        Content::Map(_) => walk.walk(&root, &catalog.root, &mut Vec::new())?,
        _ => {
            let message = format!("expected a mapping of settings, found {}", root.describe());
            return Err(ConfigError::at(&at(root.line), message).hinting("start with `server:` and its `command:`"));
        }
    }
    Ok(walk.contents)
}

struct Walk<'w> {
    source: &'w Arc<Source>,
    catalog: &'w Catalog,
    contents: Contents,
    /// The profile being defined.
    below_profile: Option<String>,
}

impl Walk<'_> {
    fn at(&self, line: u32) -> Origin {
        Origin::File(Place { source: self.source.clone(), line })
    }

    fn entry(&mut self, path: &KeyPath, value: Option<serde_json::Value>, line: u32) {
        let place = Place { source: self.source.clone(), line };
        let profile =
            self.below_profile.as_ref().and_then(|name| Some((name.clone(), self.contents.profiles.get_mut(name)?)));
        match profile {
            Some((name, definition)) => {
                let origin = Origin::Profile(name, Some(place));
                definition.entries.push(Entry { path: path.clone(), value, origin });
            }
            None => self.contents.entries.push(Entry { path: path.clone(), value, origin: Origin::File(place) }),
        }
    }

    fn walk(&mut self, node: &Node, branch: &Branch, path: &mut KeyPath) -> Result<(), ConfigError> {
        if node.content == Content::Null {
            self.entry(path, None, node.line);
            return Ok(());
        }
        match (branch, &node.content) {
            (Branch::Leaf(index), _) => {
                let catalog = self.catalog;
                let kind = catalog.keys[*index].kind;
                let mut notes = Vec::new();
                let value = value::read(kind, node, &catalog.registry, &mut notes)
                    .map_err(|mismatch| self.mismatch(path, node, mismatch))?;
                let at = self.at(node.line);
                self.contents.warnings.extend(notes.into_iter().map(|note| format!("{at}: {note}")));
                self.entry(path, Some(value), node.line);
                Ok(())
            }
            (_, Content::Map(entries)) => {
                entries.iter().try_for_each(|(word, line, below)| self.word(word, *line, below, branch, path))
            }
            (Branch::Section(known), _) => {
                let words: Vec<&str> = known.iter().map(|(word, _)| word.as_str()).collect();
                let message = format!("`{}`: expected a mapping, found {}", path.join("."), node.describe());
                Err(ConfigError::at(&self.at(node.line), message).maybe_hinting(hint_for("", words)))
            }
            (Branch::Named(what, _), _) => {
                let message = format!("`{}`: expected a mapping by {what}, found {}", path.join("."), node.describe());
                Err(ConfigError::at(&self.at(node.line), message))
            }
        }
    }

    fn word(
        &mut self,
        word: &str,
        line: u32,
        node: &Node,
        branch: &Branch,
        path: &mut KeyPath,
    ) -> Result<(), ConfigError> {
        if path.is_empty() && self.below_profile.is_none() && word == "profiles" {
            return self.profiles(node);
        }
        if word.is_empty() || word.chars().any(char::is_control) {
            let message = format!("{:?} is no name", cut(word));
            return Err(ConfigError::at(&self.at(line), message));
        }
        let name = self.unaliased(word, branch);
        let Some(below) = child(branch, &name) else { return self.unknown(word, line, node, branch, path) };
        path.push(name);
        if let Branch::Leaf(index) = below
            && let Some(alias) = self.catalog.keys[*index].alias
            && self.is_set(path)
        {
            let message = format!("`{}` is set twice: it is also spelled `{alias}`", path.join("."));
            return Err(ConfigError::at(&self.at(line), message).hinting("keep one of them"));
        }
        self.walk(node, below, path)?;
        path.pop();
        Ok(())
    }

    /// The table's spelling of a key.
    fn unaliased(&self, word: &str, branch: &Branch) -> String {
        let Branch::Section(known) = branch else { return word.to_owned() };
        let aliased = known.iter().find(|(_, below)| match below {
            Branch::Leaf(index) => self.catalog.keys[*index].alias == Some(word),
            _ => false,
        });
        aliased.map_or_else(|| word.to_owned(), |(name, _)| name.clone())
    }

    /// Whether this file set the path already; YAML's own repeats are caught before, so only by its other spelling.
    fn is_set(&self, path: &KeyPath) -> bool {
        let entries = match self.below_profile.as_ref().and_then(|profile| self.contents.profiles.get(profile)) {
            Some(definition) => &definition.entries,
            None => &self.contents.entries,
        };
        entries.iter().any(|entry| entry.path == *path)
    }

    fn mismatch(&self, path: &KeyPath, node: &Node, mismatch: Mismatch) -> ConfigError {
        let mut error = ConfigError::at(&self.at(mismatch.line), format!("`{}`: {}", path.join("."), mismatch.message));
        if path.last().is_some_and(|last| last == "command") && matches!(node.content, Content::List(_)) {
            error = error.hinting("put the program in `command` and the rest in `args`");
        }
        error.maybe_hinting(mismatch.hint)
    }

    fn unknown(
        &mut self,
        word: &str,
        line: u32,
        node: &Node,
        branch: &Branch,
        path: &mut KeyPath,
    ) -> Result<(), ConfigError> {
        path.push(word.to_owned());
        let dotted = path.join(".");
        let at = self.at(line);
        let result = match reserved(&dotted) {
            Some(Reserved::Ignored) => {
                self.contents
                    .warnings
                    .push(format!("{at}: `{dotted}` is an old key that nothing reads; it is ignored."));
                Ok(())
            }
            None if holds_ignored(&dotted) => match &node.content {
                Content::Map(entries) => entries.iter().try_for_each(|(below, line, node)| {
                    self.unknown(below, *line, node, &Branch::Section(Vec::new()), path)
                }),
                _ => Ok(()),
            },
            Some(Reserved::Plugins) => Err(ConfigError::at(
                &at,
                "`plugins` cannot be loaded: sealmark is one static program and runs no foreign code",
            )
            .hinting("checks of your own are declared under `probes:`, which is not part of this version yet")),
            Some(Reserved::Planned) => Err(ConfigError::at(&at, format!("`{dotted}` is not part of this version"))
                .hinting("remove it, or use a version of sealmark that has it")),
            None => Err(self.unknown_error(word, &dotted, &at, branch)),
        };
        path.pop();
        result
    }

    fn unknown_error(&self, word: &str, dotted: &str, at: &Origin, branch: &Branch) -> ConfigError {
        let known: Vec<&str> = match branch {
            Branch::Section(known) => known.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        };
        if let Some(pack) = dotted.strip_prefix("checks.").and_then(super::reserved::pack_of_planned_check) {
            return ConfigError::at(at, format!("`{dotted}`: the {pack} pack is not part of this version"))
                .hinting("remove it, or use a version of sealmark that has it");
        }
        let error = ConfigError::at(at, format!("unknown key `{}`", cut(dotted)));
        if word == "<<" {
            return error.hinting("YAML merge keys are not read; use an alias for the whole value");
        }
        if self.below_profile.is_some()
            && child(&self.catalog.root, dotted.split('.').next().unwrap_or_default()).is_some()
        {
            return error.hinting("a profile says how to grade, not what: it cannot hold this key");
        }
        let near = suggest(word, known.iter().copied()).map(|found| {
            let above = dotted.strip_suffix(word).unwrap_or_default();
            format!("did you mean `{above}{found}`?")
        });
        let elsewhere = || self.catalog.elsewhere(word).map(|found| format!("did you mean `{found}`?"));
        error.maybe_hinting(near.or_else(elsewhere).or_else(|| hint_for(word, known)))
    }

    fn profiles(&mut self, node: &Node) -> Result<(), ConfigError> {
        let entries = match &node.content {
            Content::Null => return Ok(()),
            Content::Map(entries) => entries,
            _ => {
                let message = format!("`profiles`: expected a mapping by profile name, found {}", node.describe());
                return Err(ConfigError::at(&self.at(node.line), message));
            }
        };
        let catalog = self.catalog;
        for (name, line, below) in entries {
            let at = self.at(*line);
            if super::profiles::is_shipped(name) {
                return Err(ConfigError::at(&at, format!("`profiles.{name}`: a profile of that name is built in"))
                    .hinting(format!("choose another name and write `extends: {name}` below it")));
            }
            let place = Place { source: self.source.clone(), line: *line };
            self.contents.profiles.insert(name.clone(), Definition { place, extends: None, entries: Vec::new() });
            let settings = match &below.content {
                Content::Null => continue,
                Content::Map(settings) => settings,
                _ => {
                    let message =
                        format!("`profiles.{name}`: expected a mapping of settings, found {}", below.describe());
                    return Err(ConfigError::at(&self.at(below.line), message));
                }
            };
            self.below_profile = Some(name.clone());
            for (word, line, value) in settings {
                if word == "extends" {
                    let Some(parent) = value::text(value) else {
                        let message =
                            format!("`profiles.{name}.extends`: expected a profile's name, found {}", value.describe());
                        return Err(ConfigError::at(&self.at(value.line), message));
                    };
                    let origin = self.at(value.line);
                    if let Some(definition) = self.contents.profiles.get_mut(name) {
                        definition.extends = Some((parent.to_owned(), origin));
                    }
                    continue;
                }
                self.word(word, *line, value, &catalog.profile, &mut Vec::new())?;
            }
            self.below_profile = None;
        }
        Ok(())
    }
}
