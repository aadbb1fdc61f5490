//! A server that could not be started: said on standard error, with the end of what it wrote there itself.

use std::path::{Path, PathBuf};

use super::{conclude::REPORTS, console};
use crate::{
    config::Settings,
    files,
    run::Failure,
    text::{Redactor, terminal},
};

/// Says what happened and what to do; returns where the server's stderr was saved, when it was.
pub(super) fn announce(settings: &Settings, name: &str, failure: &Failure, redactor: &Redactor) -> Option<String> {
    let shown = |text: &str| terminal::line(&redactor.apply(text));
    console::line(&format!("error: {}: {}", shown(name), shown(&failure.message)));
    if let Some(hint) = &failure.hint {
        console::line(&format!("hint: {}", shown(hint)));
    }
    save_stderr(settings, name, &redactor.apply(&failure.stderr))
}

/// Lines of a failed server's stderr that are shown.
const SHOWN: usize = 20;
/// Characters of each of them.
const WIDTH: usize = 300;

/// Shows the last lines of a failed server's stderr and saves all that was kept beside the report, where there is one.
fn save_stderr(settings: &Settings, name: &str, stderr: &str) -> Option<String> {
    if stderr.trim().is_empty() {
        return None;
    }
    let mut saved = None;
    let output = &settings.output;
    let base = match (&output.out, &output.out_dir) {
        (Some(out), _) => Some(out.clone()),
        (None, Some(dir)) => Some(dir.join("sealmark-report")),
        (None, None) => (output.formats.len() > 1).then(|| Path::new(REPORTS).join("sealmark-report")),
    };
    if let Some(base) = base {
        let mut file = base.into_os_string();
        if settings.servers.len() > 1 {
            let plain: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
            file.push(format!(".{plain}"));
        }
        file.push(".stderr.log");
        let file = PathBuf::from(file);
        match files::write(&file, stderr.as_bytes()) {
            Ok(()) => {
                console::line(&format!("the server's stderr is in {}", file.display()));
                saved = Some(file.display().to_string());
            }
            Err(error) => console::line(&format!("warning: {} could not be written: {error}", file.display())),
        }
    }
    let lines: Vec<_> = stderr.lines().collect();
    console::line("the server's last lines on stderr:");
    for line in lines.iter().skip(lines.len().saturating_sub(SHOWN)) {
        let cut: String = line.chars().take(WIDTH).collect();
        console::line(&format!("  | {}{}", terminal::line(&cut), if cut.len() < line.len() { "…" } else { "" }));
    }
    saved
}
