//! Flags as settings: which key each one sets, and to what.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    CheckArgs, CompareArgs, GateArgs, HeaderLine, LetterArgs, LimitArgs, ReportArgs, RunArgs, SandboxArgs, SettingArgs,
    SurfaceArgs, TargetArgs, values::word,
};

/// One setting from a flag: the flag as typed (`--fail-under`), the key's dotted path, the value.
pub type FromFlag = (&'static str, String, Value);

/// What is wrong with flags in a way that clap cannot see, or must not print: a header's value may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// A header that is none; the reason does not repeat it.
    #[error("{flag} cannot be used: {reason}")]
    BadHeader {
        /// `--header` or `--bearer`.
        flag: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The same header twice.
    #[error("the header {0} is given twice")]
    HeaderTwice(String),
}

impl FlagError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadHeader { .. } => "write it as --header 'Name: value'; a value can be `${VAR}`, in single quotes",
            Self::HeaderTwice(_) => "keep one of them; --bearer counts as the header Authorization",
        }
    }
}

impl RunArgs {
    /// The settings these flags make, in the order of the help text.
    pub fn values(&self) -> Result<Vec<FromFlag>, FlagError> {
        let mut values = self.settings.values()?;
        if let Some((program, args)) = self.argv.split_first() {
            values.extend(command("--", program, args));
        }
        Ok(values)
    }
}

impl SurfaceArgs {
    /// The settings these flags make.
    pub fn values(&self) -> Result<Vec<FromFlag>, FlagError> {
        let mut values = Vec::new();
        values.extend(self.source.profile.as_ref().map(|name| from("--profile", "profile", json!(name))));
        values.extend(self.target.values()?);
        if let Some((program, args)) = self.argv.split_first() {
            values.extend(command("--", program, args));
        }
        Ok(values)
    }
}

impl SettingArgs {
    /// The settings these flags make, in the order of the help text.
    pub fn values(&self) -> Result<Vec<FromFlag>, FlagError> {
        let mut values = Vec::new();
        values.extend(self.source.profile.as_ref().map(|name| from("--profile", "profile", json!(name))));
        values.extend(self.target.values()?);
        values.extend(self.checks.values());
        values.extend(self.gate.values());
        values.extend(self.compare.values());
        values.extend(self.report.values());
        values.extend(self.sandbox.values());
        values.extend(self.limits.values());
        Ok(values)
    }
}

impl TargetArgs {
    fn values(&self) -> Result<Vec<FromFlag>, FlagError> {
        let mut values = Vec::new();
        if let Some((program, args)) = self.start.as_ref().and_then(|line| line.0.split_first()) {
            values.extend(command("--start", program, args));
        }
        values.extend(self.url.as_ref().map(|url| from("--url", "server.url", json!(url))));
        values.extend(self.headers()?);
        values.extend(self.name.as_ref().map(|name| from("--name", "name", json!(name))));
        values.extend(self.start_timeout.map(|sec| from("--start-timeout", "server.start_timeout_sec", json!(sec))));
        values.extend(
            self.connect_timeout.map(|sec| from("--connect-timeout", "server.connect_timeout_sec", json!(sec))),
        );
        if !self.pass_env.is_empty() {
            values.push(from("--pass-env", "server.pass_env", json!(self.pass_env)));
        }
        Ok(values)
    }

    /// One `server.headers.<name>` each; a name may hold dots, the key's last word takes all that remains.
    fn headers(&self) -> Result<Vec<FromFlag>, FlagError> {
        let parse = |flag: &'static str, text: &str| {
            text.parse::<HeaderLine>().map_err(|reason| FlagError::BadHeader { flag, reason })
        };
        let named = self.header.iter().map(|text| parse("--header", text)).collect::<Result<Vec<_>, _>>()?;
        let bearer = self.bearer.iter().map(|token| parse("--bearer", &format!("Authorization: Bearer {token}")));
        let bearer = bearer.collect::<Result<Vec<_>, _>>()?;
        let all: Vec<_> = named.iter().chain(&bearer).collect();
        let repeated = all
            .iter()
            .enumerate()
            .find(|(at, header)| all.iter().take(*at).any(|earlier| earlier.name.eq_ignore_ascii_case(&header.name)));
        if let Some((_, header)) = repeated {
            return Err(FlagError::HeaderTwice(header.name.clone()));
        }
        let set =
            |flag, header: &HeaderLine| from(flag, &format!("server.headers.{}", header.name), json!(header.value));
        let named = named.iter().map(|header| set("--header", header));
        Ok(named.chain(bearer.iter().map(|header| set("--bearer", header))).collect())
    }
}

impl CheckArgs {
    fn values(&self) -> Option<FromFlag> {
        (!self.pack.is_empty()).then(|| from("--pack", "packs", json!(self.pack)))
    }
}

impl GateArgs {
    /// The settings of the gate's flags.
    pub fn values(&self) -> Vec<FromFlag> {
        let mut values = self.letter.values();
        if !self.fail_on.is_empty() {
            let words: Vec<_> = self.fail_on.iter().map(word).collect();
            values.push(from("--fail-on", "output.fail_on", json!(words)));
        }
        values
    }
}

impl LetterArgs {
    /// The settings of these flags.
    pub fn values(&self) -> Vec<FromFlag> {
        let mut values = Vec::new();
        values.extend(self.fail_under.map(|gate| {
            let word = gate.letter.map_or("none".to_owned(), String::from);
            from("--fail-under", "output.fail_under", json!(word))
        }));
        values.extend(self.soft_fail.then(|| from("--soft-fail", "output.exit_policy.soft_fail", json!(true))));
        values
    }

    /// What to tell the user once about how a flag was read.
    pub fn note(&self) -> Option<String> {
        let gate = self.fail_under?;
        let (typed, letter) = (gate.typed_lower?, gate.letter?);
        Some(format!("--fail-under {typed} is read as {letter}"))
    }
}

impl CompareArgs {
    /// The settings of the comparison's flags.
    pub fn values(&self) -> Vec<FromFlag> {
        let path = |flag, key, path: &Option<std::path::PathBuf>| {
            path.as_deref().map(|path| from(flag, key, path_value(path)))
        };
        let mut values = Vec::new();
        values.extend(path("--baseline", "output.baseline", &self.baseline));
        values.extend(path("--write-baseline", "output.write_baseline", &self.write_baseline));
        values.extend(path("--surface", "output.surface", &self.surface));
        values.extend(path("--write-surface", "output.write_surface", &self.write_surface));
        values
    }
}

impl ReportArgs {
    /// The settings of the report's flags.
    pub fn values(&self) -> Vec<FromFlag> {
        let mut values = Vec::new();
        if !self.format.is_empty() {
            let words: Vec<_> = self.format.iter().map(word).collect();
            values.push(from("--format", "output.format", json!(words)));
        }
        values.extend(self.out.as_deref().map(|path| from("--out", "output.out", path_value(path))));
        values.extend(self.out_dir.as_deref().map(|path| from("--out-dir", "output.out_dir", path_value(path))));
        values.extend(self.template.as_deref().map(|path| from("--template", "output.template", path_value(path))));
        values.extend(self.verbosity.map(|level| from("--verbosity", "output.verbosity", json!(word(&level)))));
        values.extend(self.no_redact.then(|| from("--no-redact", "output.redact", json!(false))));
        values
    }
}

impl SandboxArgs {
    fn values(&self) -> Vec<FromFlag> {
        let mut values = Vec::new();
        values.extend(self.no_sandbox.then(|| from("--no-sandbox", "sandbox.enabled", json!(false))));
        values.extend(self.sandbox_dir.as_deref().map(|path| from("--sandbox-dir", "sandbox.dir", path_value(path))));
        values.extend(self.keep_sandbox.then(|| from("--keep-sandbox", "sandbox.keep", json!(true))));
        values
    }
}

impl LimitArgs {
    fn values(&self) -> Vec<FromFlag> {
        let mut values = Vec::new();
        values.extend(self.timeout_probe.map(|sec| from("--timeout-probe", "timeout_probe_sec", json!(sec))));
        values.extend(self.pack_timeout.map(|sec| from("--pack-timeout", "pack_timeout_sec", json!(sec))));
        values.extend(self.jobs.map(|jobs| from("--jobs", "jobs", json!(jobs))));
        values
    }
}

fn from(flag: &'static str, key: &str, value: Value) -> FromFlag {
    (flag, key.to_owned(), value)
}

/// Both halves of a command line: a flag always replaces program and arguments together.
fn command(flag: &'static str, program: &str, args: &[String]) -> [FromFlag; 2] {
    [from(flag, "server.command", json!(program)), from(flag, "server.args", json!(args))]
}

fn path_value(path: &Path) -> Value {
    json!(path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn run(words: &[&str]) -> Result<Vec<FromFlag>, FlagError> {
        let cli = Cli::try_parse_from(["sealmark", "run"].iter().chain(words)).unwrap();
        match cli.command {
            Command::Run(args) => args.values(),
            other => panic!("not run: {other:?}"),
        }
    }

    fn value(values: &[FromFlag], key: &str) -> Value {
        values.iter().find(|(_, found, _)| found == key).map_or(Value::Null, |(_, _, value)| value.clone())
    }

    #[test]
    fn no_flag_sets_nothing() {
        assert_eq!(run(&[]).unwrap(), []);
    }

    #[test]
    fn start_sets_program_and_arguments() {
        let values = run(&["--start", "node 'a b.js' -x"]).unwrap();
        assert_eq!(value(&values, "server.command"), "node");
        assert_eq!(value(&values, "server.args"), json!(["a b.js", "-x"]));
    }

    #[test]
    fn words_after_the_dashes_are_the_command_and_keep_their_dashes() {
        let values = run(&["--pack", "core", "--", "node", "--pack", "x"]).unwrap();
        assert_eq!(value(&values, "packs"), json!(["core"]));
        assert_eq!(value(&values, "server.args"), json!(["--pack", "x"]));
    }

    #[test]
    fn formats_come_from_commas_and_repeats() {
        let values = run(&["--format", "json,junit", "--format", "text"]).unwrap();
        assert_eq!(value(&values, "output.format"), json!(["json", "junit", "text"]));
    }

    #[test]
    fn a_bearer_is_a_header_and_clashes_with_one() {
        let values = run(&["--url", "http://x", "--bearer", "${T}"]).unwrap();
        assert_eq!(value(&values, "server.headers.Authorization"), "Bearer ${T}");
        let clash = run(&["--url", "http://x", "--bearer", "t", "--header", "authorization: Basic x"]);
        assert_eq!(clash, Err(FlagError::HeaderTwice("Authorization".to_owned())));
    }

    #[test]
    fn a_header_that_is_none_is_refused_without_repeating_it() {
        for words in [&["--header", "Bearer hunter2"][..], &["--bearer", "hunter2\nX: y"]] {
            let error = run(words).unwrap_err();
            assert!(!format!("{error} {}", error.hint()).contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_lower_case_gate_is_read_as_upper_case_and_said() {
        let cli = Cli::try_parse_from(["sealmark", "run", "--fail-under", "b"]).unwrap();
        let Command::Run(args) = cli.command else { panic!("not run") };
        assert_eq!(value(&args.values().unwrap(), "output.fail_under"), "B");
        assert_eq!(args.settings.gate.letter.note().unwrap(), "--fail-under b is read as B");
    }

    #[test]
    fn contradictions_are_usage_errors() {
        for words in [
            &["run", "--start", "a", "--", "b"][..],
            &["run", "--out", "a", "--out-dir", "b"],
            &["run", "--no-sandbox", "--keep-sandbox"],
            &["run", "--timeout-probe", "0"],
            &["run", "--jobs", "0"],
            &["describe"],
            &["describe", "--json", "--schema"],
        ] {
            assert!(Cli::try_parse_from(["sealmark"].iter().chain(words)).is_err(), "{words:?}");
        }
    }
}
