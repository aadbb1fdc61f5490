//! `judge`: a recording → the same report, without a server.

use std::{io::Read, path::Path};

use super::{Exit, compared::Compared, conclude, config_cmd, console};
use crate::{
    cli::{ColorWhen, JudgeArgs, SourceArgs},
    config, files,
    model::{Surface, Trace, trace::SCHEMA},
    report::build::{self, Facts},
    text::Redactor,
};

/// Largest recording that is read.
const MAX_BYTES: u64 = 1 << 30;

/// Runs the command.
pub fn judge(args: &JudgeArgs, color: ColorWhen) -> Exit {
    let trace = match read(&args.recording) {
        Ok(trace) => trace,
        Err(why) => {
            console::line(&format!("error: {}: {why}", args.recording.display()));
            console::line("hint: a recording is what `sealmark run --record FILE` writes");
            return Exit::Usage;
        }
    };
    let mut values = args.gate.values();
    values.extend(args.report.values());
    // The settings of a report alone: what was graded and how stands in the recording.
    let mut request = match config_cmd::request(&SourceArgs::default(), values) {
        Ok(request) => request,
        Err(exit) => return exit,
    };
    request.fileless = true;
    let settings = match config::resolve(&request) {
        Ok(resolved) => resolved.settings,
        Err(error) => return config_cmd::mistake(&error),
    };
    if let Some(note) = args.gate.note() {
        console::line(&format!("note: {note}"));
    }
    let Ok(facts) = serde_json::from_value::<Facts>(trace.header.report.clone()) else {
        console::line(&format!("error: {}: the recording has no report facts", args.recording.display()));
        return Exit::Usage;
    };
    if let Err(exit) = conclude::precheck(&settings, None) {
        return exit;
    }
    let compared = match Compared::read(&settings.output, false) {
        Ok(compared) => compared,
        Err(exit) => return exit,
    };
    let redactor = Redactor::new(&trace.header.placeholders, &[], settings.output.redact);
    let surface = Surface::read(&trace);
    let judged = crate::judge::judge(&trace, &surface);
    let result = build::build(&trace, &surface, &judged, facts, &redactor);
    conclude::conclude(&[result], &settings, color, &compared, None).exit
}

fn read(path: &Path) -> Result<Trace, String> {
    let mut file = files::open(path).map_err(|error| error.to_string())?;
    // What is no recording is told by its first byte, before it is read whole.
    let mut first = [0];
    let begun = file.read(&mut first).map_err(|error| error.to_string())?;
    if begun == 0 || first != *b"{" {
        return Err("not a recording: it does not begin with `{`".to_owned());
    }
    let mut text = "{".to_owned();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_BYTES {
        return Err("larger than 1 GiB".to_owned());
    }
    /// The first member alone: a file of another kind is named before its missing members are.
    #[derive(serde::Deserialize)]
    struct Kind {
        schema: Option<String>,
    }
    let kind: Kind = serde_json::from_str(&text).map_err(|error| format!("not a recording: {error}"))?;
    if kind.schema.as_deref() == Some(crate::report::result::SCHEMA) {
        return Err("it is a JSON report, which is what was judged and no recording".to_owned());
    }
    let trace: Trace = serde_json::from_str(&text).map_err(|error| format!("not a recording: {error}"))?;
    match trace.schema.as_str() {
        SCHEMA => Ok(trace),
        other => {
            Err(format!("its schema is {:?}; this version reads {SCHEMA}", other.chars().take(40).collect::<String>()))
        }
    }
}
