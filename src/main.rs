//! The binary: one crypto provider, one command, one exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all: reqwest panics when it finds no provider. A second installation is no error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    sealmark::app::main(std::env::args_os()).into()
}
