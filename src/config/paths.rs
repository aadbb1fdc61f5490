//! Paths of the user: relative ones in commands, staged ones, and real ones that a server could touch.

use std::path::{Component, Path, PathBuf};

use super::naming::{first_positional, stem};

/// An argument that names an existing relative path, made absolute. A word without a separator counts only when it is
/// a file: `build` in `npm run build` is a script's name, also beside a directory of that name.
pub fn absolutize(arg: &str, base: &Path) -> Option<PathBuf> {
    if arg.is_empty() || arg.starts_with('-') || arg.contains('\0') || Path::new(arg).is_absolute() {
        return None;
    }
    let path = base.join(arg);
    let is_path = arg == "." || arg == ".." || arg.contains(std::path::is_separator);
    let exists = if is_path { path.exists() } else { path.is_file() };
    exists.then_some(path)
}

/// The same for the program: only a word with a separator is a path, as in a shell.
pub(crate) fn absolutize_program(program: &str, base: &Path) -> Option<PathBuf> {
    program.contains(std::path::is_separator).then(|| absolutize(program, base)).flatten()
}

/// Checks where a file may be staged; an error is its message and hint.
pub(crate) fn staged_path(path: &str) -> Result<(), (String, Option<String>)> {
    let roots = ["{sandbox}", "{dir}", "{sandbox_home}"];
    let wrong = |why: &str| {
        let hint = "write {sandbox}/<name> or {sandbox_home}/<name>".to_owned();
        Err((format!("{:?} {why}", super::yaml::cut(path)), Some(hint)))
    };
    let Some(rest) = roots.iter().find_map(|root| path.strip_prefix(root)) else {
        return wrong("is outside the sandbox: a staged path starts with {sandbox}, {dir} or {sandbox_home}");
    };
    match rest.strip_prefix(['/', '\\']) {
        Some(below) if !below.is_empty() => inside(below).or_else(wrong),
        _ => wrong("names a directory, not a file in it"),
    }
}

/// Whether the part below the root stays inside it.
pub(crate) fn inside(below: &str) -> Result<(), &'static str> {
    let mut parts = below.split(['/', '\\']);
    if below.contains('\0') {
        Err("holds a NUL")
    } else if parts.any(|part| part == "..") {
        Err("leaves the sandbox: `..` is refused")
    } else if below.ends_with(['/', '\\']) {
        Err("names a directory, not a file in it")
    } else if Path::new(below).is_absolute() || below.starts_with('\\') {
        Err("has a second root")
    } else {
        Ok(())
    }
}

/// Variables that say where programs and libraries are, not where data is.
const SEARCH_VARIABLES: &[&str] = &[
    "PATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "NODE_PATH",
    "GEM_PATH",
    "GEM_HOME",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "CLASSPATH",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "PERL5LIB",
];

/// Options of launchers whose value is a program or a project, not data.
const PROGRAM_OPTIONS: &[&str] = &[
    "--directory",
    "--project",
    "--from",
    "--with",
    "--with-editable",
    "--python",
    "--prefix",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--manifest-path",
    "--package",
    "--env-file",
    "--tsconfig",
    "-jar",
    "-cp",
    "-classpath",
    "-C",
    "-r",
];

/// The parts of a started server that point at a real path on this machine: `(key, what stands there)`.
/// `exists` tells whether a path is there.
pub(crate) fn real_paths<'s>(
    command: &'s [String],
    env: impl Iterator<Item = (&'s str, &'s str)>,
    exists: impl Fn(&Path) -> bool,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let args = command.get(1..).unwrap_or_default();
    let script = first_positional(command);
    let mut before = "";
    for (index, arg) in args.iter().enumerate() {
        let (option, value) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, value),
            _ => (before, arg.as_str()),
        };
        let launches = PROGRAM_OPTIONS.contains(&option) || script == Some(index);
        if !launches && points_out(value, &exists) {
            found.push(("args".to_owned(), arg.clone()));
        }
        before = if arg.starts_with('-') { arg } else { "" };
    }
    for (name, value) in env {
        if !SEARCH_VARIABLES.contains(&name) && points_out(value, &exists) {
            found.push((format!("env.{name}"), value.to_owned()));
        }
    }
    found
}

/// Whether a value is an absolute path of this machine: it is there, or could be made there. `/mcp` is a route.
fn points_out(value: &str, exists: &impl Fn(&Path) -> bool) -> bool {
    let value = value.strip_prefix("file://localhost").or_else(|| value.strip_prefix("file://")).unwrap_or(value);
    let path = Path::new(value);
    if !path.is_absolute() || value.starts_with("//") || value.starts_with("/dev/") || value.contains('{') {
        return false;
    }
    let names = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
    match names {
        0 => true,
        1 => exists(path),
        _ => exists(path) || path.parent().is_some_and(exists),
    }
}

/// The name that a real path would get in the sandbox.
pub(crate) fn sandboxed(value: &str) -> String {
    let value = value.rsplit_once('=').map_or(value, |(_, path)| path);
    match Path::new(value).file_name().and_then(|name| name.to_str()) {
        Some(name) => format!("{{sandbox}}/{name}"),
        None => "{sandbox}".to_owned(),
    }
}

/// The stem of a program's name in lower case.
pub(crate) fn program(command: &[String]) -> String {
    command.first().map(|program| stem(program).to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn relative_paths_that_exist_become_absolute() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("dist/sub")).unwrap();
        std::fs::write(dir.path().join("dist/index.js"), "").unwrap();
        std::fs::write(dir.path().join("server.py"), "").unwrap();
        let at = |path: &str| Some(dir.path().join(path));
        for (arg, expected) in [
            ("dist/index.js", at("dist/index.js")),
            ("./dist", at("./dist")),
            ("server.py", at("server.py")),
            (".", at(".")),
            // A directory's bare name may be a script's.
            ("dist", None),
            ("missing.js", None),
            ("/etc/hostname", None),
            ("--port", None),
            ("", None),
            ("a\0b", None),
            ("https://host/x", None),
        ] {
            assert_eq!(absolutize(arg, dir.path()), expected, "{arg}");
        }
        assert_eq!(absolutize_program("server.py", dir.path()), None);
        assert_eq!(absolutize_program("./server.py", dir.path()), at("./server.py"));
    }

    #[test]
    fn staged_files_stay_in_the_sandbox() {
        for good in
            ["{sandbox}/a", "{dir}/a/b.ini", "{sandbox_home}/.config/x", "{sandbox}/..a", "{sandbox}/${NAME}.txt"]
        {
            assert_eq!(staged_path(good), Ok(()), "{good}");
        }
        for bad in [
            "/etc/passwd",
            "a",
            "{sandbox}",
            "{sandbox}/",
            "{sandbox}a",
            "{sandbox}/../x",
            "{sandbox}/a/../../x",
            "{sandbox}\\..\\x",
            "{sandbox}//etc/x",
            "{sandbox}/a\0",
            "{home}/x",
            "{sandbox}/a/",
            "",
        ] {
            assert!(staged_path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn data_paths_are_pointed_out_and_programs_are_not() {
        let there = |path: &Path| ["/", "/home", "/home/me", "/home/me/data", "/srv"].contains(&path.to_str().unwrap());
        let none: [(&str, &str); 0] = [];
        for (line, expected) in [
            ("npx server-filesystem /home/me/data", vec!["/home/me/data"]),
            ("node /home/me/data", vec![]),
            ("node --import /home/me/x.js /home/me/data /home/me/new", vec!["/home/me/new"]),
            ("uv --directory /home/me/data run server", vec![]),
            ("server --data=/home/me/data", vec!["--data=/home/me/data"]),
            ("server --data /home/me/data", vec!["/home/me/data"]),
            ("server --route /mcp --base /api/v1", vec![]),
            ("server /", vec!["/"]),
            ("server /dev/null", vec![]),
            ("server file:///home/me/data", vec!["file:///home/me/data"]),
            ("java -jar /home/me/data /srv", vec!["/srv"]),
        ] {
            let command = words(line);
            let found: Vec<String> =
                real_paths(&command, none.into_iter(), there).into_iter().map(|(_, value)| value).collect();
            assert_eq!(found, expected, "{line}");
        }
        let env = [
            ("MEMORY_FILE_PATH", "/home/me/memory.json"),
            ("PATH", "/home/me:/x"),
            ("ROUTE", "/mcp"),
            ("X", "{sandbox}/x"),
        ];
        assert_eq!(
            real_paths(&words("server"), env.into_iter(), there),
            [("env.MEMORY_FILE_PATH".to_owned(), "/home/me/memory.json".to_owned())]
        );
    }
}
