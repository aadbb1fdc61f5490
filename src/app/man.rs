//! `man`: manual pages from the clap command.

use std::{fs, io, path::Path};

use super::{Exit, command_line, console};
use crate::cli::ManArgs;

/// Prints the main page, or writes one page per command.
pub fn man(args: &ManArgs) -> Exit {
    let Some(dir) = &args.out_dir else {
        return match page(command_line::command()) {
            Ok(text) => console::answer(&String::from_utf8_lossy(&text)),
            Err(error) => failed(Path::new("standard output"), &error),
        };
    };
    let written = fs::create_dir_all(dir)
        .and_then(|()| pages(command_line::command()))
        .and_then(|pages| pages.into_iter().try_for_each(|(name, text)| fs::write(dir.join(name), text)));
    match written {
        Ok(()) => Exit::Ok,
        Err(error) => failed(dir, &error),
    }
}

/// Every page with its file name: `sealmark.1`, `sealmark-run.1`, `sealmark-config-show.1`.
pub fn pages(command: clap::Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = command.disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    collect(&root, "", &mut pages)?;
    Ok(pages)
}

fn collect(command: &clap::Command, parent: &str, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    if command.is_hide_set() {
        return Ok(());
    }
    let name =
        if parent.is_empty() { command.get_name().to_owned() } else { format!("{parent}-{}", command.get_name()) };
    pages.push((format!("{name}.1"), page(command.clone().name(name.clone()))?));
    command.get_subcommands().try_for_each(|sub| collect(sub, &name, pages))
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}

fn failed(place: &Path, error: &io::Error) -> Exit {
    console::line(&format!("error: the manual could not be written to {}: {error}", place.display()));
    Exit::Failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_per_visible_command() {
        let names: Vec<_> =
            pages(command_line::command()).unwrap().into_iter().map(|(name, text)| (name, text.len())).collect();
        assert!(names.iter().all(|(_, length)| *length > 200));
        let names: Vec<_> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"sealmark.1") && names.contains(&"sealmark-config-show.1"), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("demo-server")), "{names:?}");
    }
}
