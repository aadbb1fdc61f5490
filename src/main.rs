//! The binary: one crypto provider, one command, one exit code.

use std::process::ExitCode;

/// musl's own gives memory back to the system at every turn, which costs a third of the time that reading a fleet takes.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    // First of all: reqwest panics when it finds no provider. A second installation is no error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    sealmark::app::main(std::env::args_os()).into()
}
