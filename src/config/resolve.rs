//! The layers, read and laid over each other, become settings.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    catalog::{Catalog, Key},
    environment::{self, FlagValue},
    error::{ConfigError, Origin},
    file::{self, Contents, Definition},
    keys::CLASSES,
    layer::{Entry, Layer, Merged, Rank},
    profiles,
    registry::{self, Registry},
    secrets,
    server::{self, Inputs},
    settings::{CheckSettings, FailOn, Format, OutputSettings, SandboxSettings, Settings, ToolOverride, Verbosity},
    standing,
    suggest::hint_for,
};

/// What an invocation asks with; the caller reads the environment, the configuration reads the files.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// `--config`; without it `sealmark.yaml` in the working directory, if it is there.
    pub config: Option<PathBuf>,
    /// The user's file; it need not exist.
    pub user_config: Option<PathBuf>,
    /// The whole environment, for `SEALMARK_*` and `${VAR}`.
    pub env: BTreeMap<String, String>,
    /// The flags that are settings, in the order given.
    pub flags: Vec<FlagValue>,
    /// `--server`, as often as it was given; each names a server, several with commas between them, or `all`.
    pub server: Vec<String>,
    /// Whether a CI job was detected.
    pub ci: bool,
    /// Whether files are left alone: for commands that must come out the same everywhere.
    pub fileless: bool,
}

/// The settings, and every value with its origin.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// What every other room reads.
    pub settings: Settings,
    /// What was set, with origins.
    pub merged: Merged,
    pub(crate) catalog: Catalog,
    pub(crate) profiles: BTreeMap<String, Definition>,
    pub(crate) server_names: Vec<String>,
    cwd: PathBuf,
}

impl Resolved {
    /// Whether there is a server to start or to connect to. `config show` works without one, a run does not.
    ///
    /// # Errors
    /// Nothing names a server.
    pub fn require_servers(&self) -> Result<(), ConfigError> {
        if !self.settings.servers.is_empty() {
            return Ok(());
        }
        let hint = "pass --start \"<command>\" or --url <endpoint>, or write `server:` into sealmark.yaml";
        let part = self.merged.below(&["server"]).min_by_key(|(_, setting)| setting.order);
        Err(match (part, &self.settings.path) {
            (Some((_, setting)), _) => {
                ConfigError::at(&setting.origin, "`server` has neither `command` nor `url`").hinting(hint)
            }
            (None, Some(path)) => {
                ConfigError::at_text(&file::shown(path, &self.cwd), "names no server to grade").hinting(hint)
            }
            (None, None) => ConfigError::new("there is no server to grade and no sealmark.yaml here").hinting(hint),
        })
    }

    /// Whether the `ci` profile was taken because a CI job was detected.
    pub fn profile_from_ci(&self) -> bool {
        self.merged.origin_at(&["profile"]) == Origin::Ci
    }

    /// The mistake of an override to a class that no parameter of the tool can carry (known once the tools are listed).
    /// `takes_text` are the parameters that could carry it.
    pub fn override_without_parameter(&self, tool: &str, class: &str, takes_text: &[String]) -> ConfigError {
        let origin = self.merged.origin_at(&["tools", "overrides", tool, "class"]);
        let named = self.settings.tools_overrides.get(tool).and_then(|set| set.params.get(class));
        let message = match named {
            Some(named) => {
                format!(
                    "`tools.overrides.{tool}`: the tool has no parameter {:?} that takes text",
                    super::yaml::cut(named)
                )
            }
            None => format!("`tools.overrides.{tool}`: no parameter of the tool can carry a {class}"),
        };
        let named_one = format!("{{ class: {class}, params: {{ {class}: <parameter> }} }}");
        ConfigError::at(&origin, message).hinting(match takes_text {
            [] => format!("none of its parameters takes text: give it the class opaque, or name one: {named_one}"),
            names => format!("name one of {}: {named_one}", names.join(", ")),
        })
    }

    /// What to say of patterns and overrides that matched no tool, once the tools (`listed`) are known.
    pub fn unmatched(&self, excludes: &[String], overrides: &[String], listed: &[String]) -> Vec<String> {
        let at = |path: &[&str]| match self.merged.origin_at(path) {
            Origin::Default => String::new(),
            origin => format!("{origin}: "),
        };
        let near = |word: &str| {
            let near = super::suggest::suggest(word, listed.iter().map(String::as_str));
            near.map(|near| format!(" Did you mean `{}`?", super::yaml::cut(near))).unwrap_or_default()
        };
        let excludes = excludes.iter().map(|pattern| {
            let at = at(&["tools", "exclude"]);
            format!("{at}`tools.exclude` {pattern:?} matches no tool that is listed.{}", near(pattern))
        });
        let overrides = overrides.iter().map(|tool| {
            let at = at(&["tools", "overrides", tool, "class"]);
            format!("{at}`tools.overrides.{tool}`: no tool of that name is listed.{}", near(tool))
        });
        excludes.chain(overrides).collect()
    }
}

/// Where the user's file lies: `$XDG_CONFIG_HOME/sealmark/config.yaml`, below `~/.config` when that is not set;
/// `%APPDATA%` on Windows.
pub fn user_config_path(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let dir = |name: &str| env.get(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    let base = if cfg!(windows) {
        dir("APPDATA")
    } else {
        dir("XDG_CONFIG_HOME").or_else(|| dir("HOME").map(|home| home.join(".config")))
    };
    base.map(|base| base.join("sealmark").join("config.yaml"))
}

/// Resolves an invocation. Reads the named files and nothing else; looks at paths that a command names.
///
/// # Errors
/// Any mistake in a file, variable or flag: with its place, its cause and the next step.
pub fn resolve(request: &Request) -> Result<Resolved, ConfigError> {
    resolve_with(request, Registry::built_in())
}

/// [`resolve`] for any registry.
pub(crate) fn resolve_with(request: &Request, registry: Registry) -> Result<Resolved, ConfigError> {
    let catalog = Catalog::of(registry);
    let mut files = Files::read(request, &catalog)?;
    let mut warnings = std::mem::take(&mut files.warnings);
    let mut known_servers = BTreeSet::new();
    for entry in [&files.user, &files.project, &files.local].into_iter().flatten() {
        if let [servers, name, ..] = entry.path.as_slice()
            && servers == "servers"
        {
            known_servers.insert(name.clone());
        }
    }
    let variables = environment::variables(&request.env, &known_servers, &catalog, &mut warnings)?;
    let flags = environment::flags(&request.flags, &catalog, &mut warnings)?;
    let own = Layer::of(Rank::User, files.user)
        .under(Layer::of(Rank::Project, files.project))
        .under(Layer::of(Rank::Local, files.local))
        .under(Layer::of(Rank::Variables, variables))
        .under(Layer::of(Rank::Flags, flags));
    let (profile, asked) = selected_profile(&own, request.ci, &catalog);
    let mut below = profiles::entries(&profile, &asked, &files.profiles, &catalog.registry)?;
    if asked == Origin::Ci {
        below.push(Entry { path: vec!["profile".to_owned()], value: Some(json!(profile)), origin: asked });
    }
    let merged = Merged::of(&Layer::of(Rank::Profile, below).under(own), &catalog);
    let settings = settings(request, &merged, &catalog, profile, files.path, warnings)?;
    let server_names = server::names(&merged);
    let cwd = request.cwd.clone();
    Ok(Resolved { settings, merged, catalog, profiles: files.profiles, server_names, cwd })
}

/// The files of an invocation.
#[derive(Default)]
struct Files {
    path: Option<PathBuf>,
    user: Vec<Entry>,
    project: Vec<Entry>,
    local: Vec<Entry>,
    profiles: BTreeMap<String, Definition>,
    warnings: Vec<String>,
}

impl Files {
    fn read(request: &Request, catalog: &Catalog) -> Result<Self, ConfigError> {
        if request.fileless {
            return Ok(Self::default());
        }
        let cwd = &request.cwd;
        let read = |path: &Path, local: bool| -> Result<Option<Contents>, ConfigError> {
            match file::load(path, &file::shown(path, cwd))? {
                Some(text) => file::parse(&text, &file::source(path, cwd, local), catalog).map(Some),
                None => Ok(None),
            }
        };
        let user = match &request.user_config {
            Some(path) => read(&cwd.join(path), false)?.unwrap_or_default(),
            None => Contents::default(),
        };
        let path = cwd.join(request.config.as_deref().unwrap_or(Path::new("sealmark.yaml")));
        let project = read(&path, false)?;
        if let (Some(asked), None) = (&request.config, &project) {
            return Err(ConfigError::at(&Origin::Flag("--config"), format!("there is no file {}", asked.display()))
                .hinting("check the path; without --config, sealmark.yaml in the working directory is read"));
        }
        let local = read(&path.with_file_name("sealmark.local.yaml"), true)?.unwrap_or_default();
        let found = project.is_some();
        let mut files = Self {
            path: found.then_some(path),
            user: Vec::new(),
            project: Vec::new(),
            local: Vec::new(),
            profiles: BTreeMap::new(),
            warnings: Vec::new(),
        };
        let parts =
            [(user, &mut files.user), (project.unwrap_or_default(), &mut files.project), (local, &mut files.local)];
        for (contents, entries) in parts {
            *entries = contents.entries;
            files.profiles.extend(contents.profiles);
            files.warnings.extend(contents.warnings);
        }
        Ok(files)
    }
}

/// The profile that was asked for; in a CI job `ci`, unless a profile or another output was asked for.
fn selected_profile(own: &Layer, ci: bool, catalog: &Catalog) -> (String, Origin) {
    let merged = Merged::of(own, catalog);
    if let Some(setting) = merged.setting(&["profile"]) {
        return (setting.value.as_str().unwrap_or_default().to_owned(), setting.origin.clone());
    }
    let output_asked = ["format", "out", "out_dir"]
        .iter()
        .any(|key| merged.setting(&["output", key]).is_some_and(|setting| setting.rank >= Rank::Variables));
    let origin = merged.origin_at(&["profile"]);
    if ci && !output_asked && origin == Origin::Default {
        return ("ci".to_owned(), Origin::Ci);
    }
    ("standard".to_owned(), origin)
}

/// Reads values that took effect.
struct Values<'v> {
    merged: &'v Merged,
    catalog: &'v Catalog,
    cwd: &'v Path,
}

impl<'v> Values<'v> {
    fn value(&self, path: &[&str]) -> Option<&'v Value> {
        let path: Vec<String> = path.iter().map(|word| (*word).to_owned()).collect();
        let default = |key: &'v Key| key.default.as_ref();
        self.merged.setting(&path).map(|setting| &setting.value).or_else(|| self.catalog.key(&path).and_then(default))
    }

    fn text(&self, path: &[&str]) -> Option<&'v str> {
        self.value(path)?.as_str()
    }

    fn flag(&self, path: &[&str]) -> bool {
        self.value(path) == Some(&Value::Bool(true))
    }

    fn number(&self, path: &[&str]) -> Option<u64> {
        self.value(path)?.as_u64()
    }

    fn texts(&self, path: &[&str]) -> Vec<String> {
        let items = self.value(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// An output path: always from the working directory.
    fn output(&self, path: &[&str]) -> Option<PathBuf> {
        self.text(path).map(PathBuf::from)
    }

    /// An input path: from the directory of the file that names it.
    fn input(&self, path: &[&str]) -> Option<PathBuf> {
        let setting = self.merged.setting(path)?;
        let text = Path::new(setting.value.as_str()?);
        let base = setting.origin.base(self.cwd);
        Some(if base == self.cwd { text.to_owned() } else { base.join(text) })
    }
}

fn settings(
    request: &Request,
    merged: &Merged,
    catalog: &Catalog,
    profile: String,
    path: Option<PathBuf>,
    mut warnings: Vec<String>,
) -> Result<Settings, ConfigError> {
    let values = Values { merged, catalog, cwd: &request.cwd };
    let sandbox = SandboxSettings {
        enabled: values.flag(&["sandbox", "enabled"]),
        dir: values.input(&["sandbox", "dir"]),
        keep: values.flag(&["sandbox", "keep"]),
    };
    let inputs = Inputs {
        merged,
        catalog,
        cwd: &request.cwd,
        env: &request.env,
        select: &request.server,
        sandboxed: sandbox.enabled,
    };
    let servers = server::servers(&inputs, &mut warnings)?;
    let chosen = values.texts(&["packs"]);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Settings {
        path,
        profile,
        servers,
        partial: !request.server.is_empty(),
        packs: catalog.registry.pack_ids().into_iter().map(str::to_owned).filter(|id| chosen.contains(id)).collect(),
        checks: checks(&values),
        tools_exclude: values.texts(&["tools", "exclude"]),
        tools_overrides: overrides(merged)?,
        not_covered_extra: values.texts(&["notCovered", "extra"]),
        timeout_probe: Duration::from_secs(values.number(&["timeout_probe_sec"]).unwrap_or_default()),
        timeout_pack: Duration::from_secs(values.number(&["pack_timeout_sec"]).unwrap_or_default()),
        jobs: values.number(&["jobs"]).and_then(|jobs| usize::try_from(jobs).ok()).unwrap_or_else(cores),
        sandbox,
        output: output(&values),
        standing: standing::of(merged, catalog),
        warnings,
        secrets: secrets::gather(merged, &request.env),
    })
}

fn checks(values: &Values<'_>) -> BTreeMap<String, CheckSettings> {
    let checks = values.catalog.registry.checks.iter();
    checks
        .map(|check| {
            let at = |key| values.value(&["checks", check.id, key]);
            let settings = CheckSettings {
                enabled: values.flag(&["checks", check.id, "enabled"]),
                severity: at("severity").and_then(Value::as_str).and_then(registry::severity).unwrap_or(check.severity),
                knobs: check
                    .knobs
                    .iter()
                    .map(|knob| (knob.key.to_owned(), at(knob.key).unwrap_or(&knob.default).clone()))
                    .collect(),
            };
            (check.id.to_owned(), settings)
        })
        .collect()
}

fn overrides(merged: &Merged) -> Result<BTreeMap<String, ToolOverride>, ConfigError> {
    let mut tools: BTreeMap<String, ToolOverride> = BTreeMap::new();
    for (path, setting) in merged.below(&["tools", "overrides"]) {
        let text = setting.value.as_str().unwrap_or_default().to_owned();
        let Some((tool, words)) = path.split_first() else { continue };
        let entry =
            tools.entry(tool.clone()).or_insert_with(|| ToolOverride { class: String::new(), params: BTreeMap::new() });
        match words {
            [_, class] if CLASSES.contains(&class.as_str()) => {
                entry.params.insert(class.clone(), text);
            }
            [_, class] => {
                let message = format!("`tools.overrides.{tool}.params`: unknown class `{}`", super::yaml::cut(class));
                return Err(
                    ConfigError::at(&setting.origin, message).maybe_hinting(hint_for(class, CLASSES.iter().copied()))
                );
            }
            _ => entry.class = text,
        }
    }
    match tools.iter().find(|(_, entry)| entry.class.is_empty()) {
        Some((tool, _)) => {
            let origin = merged.below(&["tools", "overrides", tool]).next().map(|(_, setting)| setting.origin.clone());
            Err(ConfigError::at(&origin.unwrap_or(Origin::Default), format!("`tools.overrides.{tool}` has no `class`"))
                .maybe_hinting(hint_for("", CLASSES.iter().copied())))
        }
        None => Ok(tools),
    }
}

fn output(values: &Values<'_>) -> OutputSettings {
    let words = values.texts(&["output", "format"]);
    let formats: Vec<Format> =
        words.iter().filter_map(|word| Format::ALL.into_iter().find(|format| format.as_str() == word)).collect();
    let policy = |key| ["output", "exit_policy", key];
    OutputSettings {
        formats: if formats.is_empty() { vec![Format::Text] } else { formats },
        out: values.output(&["output", "out"]),
        out_dir: values.output(&["output", "out_dir"]),
        template: values.input(&["output", "template"]),
        verbosity: match values.text(&["output", "verbosity"]) {
            Some("quiet") => Verbosity::Quiet,
            Some("verbose") => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
        redact: values.flag(&["output", "redact"]),
        fail_under: values
            .text(&["output", "fail_under"])
            .filter(|word| *word != "none")
            .and_then(|word| word.chars().next()),
        soft_fail: values.flag(&policy("soft_fail")),
        inconclusive_fails: values.text(&policy("treat_inconclusive_as")) == Some("fail"),
        critical_fail: values.number(&policy("critical_fail")).and_then(|code| u8::try_from(code).ok()).unwrap_or(0),
        fail_on: fail_on(&values.texts(&["output", "fail_on"])),
        baseline: values.input(&["output", "baseline"]),
        write_baseline: values.output(&["output", "write_baseline"]),
        surface: values.input(&["output", "surface"]),
        write_surface: values.output(&["output", "write_surface"]),
    }
}

/// `any` is the gate and regressions; each other word stands for itself.
fn fail_on(words: &[String]) -> FailOn {
    let has = |word: &str| words.iter().any(|given| given == word);
    let any = has("any") || words.is_empty();
    FailOn { gate: any, regressions: any || has("regressions"), drift: has("drift") }
}
