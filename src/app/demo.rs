//! `demo`: grades the server that is built in, and is that server when asked to be.

use std::io;

use serde_json::json;

use super::{
    Exit, config_cmd, console,
    run::{self, Besides},
};
use crate::{
    cli::{ColorWhen, DemoArgs, DemoMode, DemoServerArgs, SourceArgs},
    config, demo,
};

/// Grades the demo server.
pub fn demo(args: &DemoArgs, color: ColorWhen) -> Exit {
    let program = match std::env::current_exe() {
        Ok(program) => program.display().to_string(),
        Err(error) => {
            console::line(&format!("error: this program's own path could not be found: {error}"));
            return Exit::Failure;
        }
    };
    let mode = word(args.mode);
    let mut values = vec![
        ("demo", "server.command".to_owned(), json!(program)),
        ("demo", "server.args".to_owned(), json!(["demo-server", "--mode", mode])),
        ("demo", "name".to_owned(), json!(format!("sealmark-demo-{mode}"))),
    ];
    values.extend(args.gate.values());
    values.extend(args.report.values());
    // The demo is the same everywhere: a project's own file does not take part.
    let mut request = match config_cmd::request(&SourceArgs::default(), values) {
        Ok(request) => request,
        Err(exit) => return exit,
    };
    request.fileless = true;
    match config::resolve(&request) {
        Ok(resolved) => run::grade(&resolved, Besides { color, ..Besides::default() }),
        Err(error) => config_cmd::mistake(&error),
    }
}

/// Serves the demo server on standard input and output.
pub fn serve(args: &DemoServerArgs) -> Exit {
    let mode = match args.mode {
        DemoMode::Honest => demo::Mode::Honest,
        DemoMode::Broken => demo::Mode::Broken,
    };
    let secret = std::env::var("SEALMARK_CANARY").ok();
    match demo::serve(mode, secret.as_deref(), io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => Exit::Ok,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
        Err(error) => {
            console::line(&format!("error: the demo server stopped: {error}"));
            Exit::Failure
        }
    }
}

fn word(mode: DemoMode) -> &'static str {
    match mode {
        DemoMode::Honest => "honest",
        DemoMode::Broken => "broken",
    }
}
