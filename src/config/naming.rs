//! A server's display name from its command or URL, and which argument is the program.

use std::path::Path;

/// Programs that run the script they are given.
const INTERPRETERS: &[&str] = &[
    "node",
    "deno",
    "bun",
    "python",
    "python3",
    "pypy3",
    "ruby",
    "perl",
    "php",
    "sh",
    "bash",
    "zsh",
    "dash",
    "tsx",
    "ts-node",
    "lua",
    "pwsh",
    "powershell",
    "dotnet",
    "rscript",
    "julia",
    "elixir",
    "guile",
];
/// Programs that fetch and run a package.
const RUNNERS: &[&str] = &["npx", "bunx", "pnpx", "uvx", "pipx"];
/// Launchers with a word before what they run.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx", "exec"]),
    ("yarn", &["dlx", "exec"]),
    ("bun", &["x", "run"]),
    ("uv", &["run", "tool"]),
    ("pipx", &["run"]),
    ("deno", &["run"]),
    ("go", &["run"]),
    ("docker", &["run"]),
    ("podman", &["run"]),
    ("poetry", &["run"]),
    ("dotnet", &["run", "exec"]),
];
/// Options that take the word after them.
const VALUED: &[&str] = &[
    "-p",
    "--package",
    "--from",
    "--with",
    "--with-editable",
    "--python",
    "--directory",
    "--project",
    "--registry",
    "--prefix",
    "-C",
    "-e",
    "--env",
    "-v",
    "--volume",
    "--mount",
    "--name",
    "--network",
    "--net",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "--env-file",
    "--platform",
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--tsconfig",
    "-W",
    "-X",
    "-cp",
    "-classpath",
    "--index",
    "--index-url",
    "--extra-index-url",
];
/// Stems that say nothing about a server.
const PLAIN_STEMS: &[&str] = &[
    "index", "main", "server", "app", "cli", "start", "run", "stdio", "__main__", "mod", "dist", "build", "src", "lib",
    "out", "bin", "mcp",
];

/// The position, among the arguments, of the script or package that the command runs.
pub(crate) fn first_positional(command: &[String]) -> Option<usize> {
    let args = command.get(1..)?;
    let program = super::paths::program(command);
    let version_free = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let interprets = INTERPRETERS.contains(&program.as_str()) || INTERPRETERS.contains(&version_free);
    let subcommands =
        SUBCOMMANDS.iter().find(|(name, _)| *name == program).map(|(_, words)| *words).unwrap_or_default();
    if program == "java" {
        return args.iter().position(|arg| arg == "-jar").map(|at| at + 1).filter(|at| *at < args.len());
    }
    if !interprets && !RUNNERS.contains(&program.as_str()) && subcommands.is_empty() {
        return None;
    }
    let mut skip = false;
    let mut inside = subcommands.is_empty() || interprets;
    for (at, arg) in args.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        // `-c TEXT` and `-e TEXT` are programs themselves; `-m MODULE` names one.
        if interprets && ["-c", "-e", "--eval"].contains(&arg.as_str()) {
            return None;
        }
        if interprets && arg == "-m" {
            return Some(at + 1).filter(|at| *at < args.len());
        }
        if arg.starts_with('-') {
            skip = VALUED.contains(&arg.as_str());
        } else if subcommands.contains(&arg.as_str()) && (!inside || interprets) {
            inside = true;
        } else if inside {
            return Some(at);
        } else {
            return None;
        }
    }
    None
}

/// What a command is called: the package, the script, or the program.
pub(crate) fn of_command(command: &[String]) -> Option<String> {
    let program = command.first()?;
    let named = first_positional(command).and_then(|at| command.get(at + 1));
    let name = match named {
        // `uv run python server.py`: the command within the command.
        Some(word) if INTERPRETERS.contains(&stem(word)) && first_positional(command).is_some() => {
            let at = first_positional(command)?;
            return of_command(&command[at + 1..]);
        }
        Some(word) => of_word(word),
        None => stem(program).to_owned(),
    };
    (!name.is_empty()).then_some(name)
}

/// A package's or script's name.
fn of_word(word: &str) -> String {
    // `git+https://host/owner/name@ref`, `image:tag`, `name==1.2`, `name[extra]`.
    let scoped = word.starts_with('@');
    let bare = word.split("==").next().unwrap_or(word).split('[').next().unwrap_or(word);
    let bare = match bare.char_indices().skip(1).find(|(_, char)| *char == '@') {
        Some((at, _)) => &bare[..at],
        None => bare,
    };
    if scoped {
        return bare.rsplit('/').next().unwrap_or(bare).to_owned();
    }
    let parts: Vec<&str> = bare.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".." | "...")).collect();
    let Some((last, above)) = parts.split_last() else { return String::new() };
    let own = stem(last.split(':').next().unwrap_or(last));
    if !PLAIN_STEMS.contains(&own) {
        return own.to_owned();
    }
    let telling = above.iter().rev().find(|part| !PLAIN_STEMS.contains(*part) && !part.starts_with(['{', '$']));
    telling.map_or_else(|| own.to_owned(), |part| (*part).to_owned())
}

/// A file's name without its extension; a name that is all extension keeps it.
pub(crate) fn stem(word: &str) -> &str {
    const EXTENSIONS: &[&str] = &[
        "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "py", "rb", "pl", "php", "sh", "jar", "exe", "cmd", "bat",
        "ps1", "lua", "git", "dll", "go", "phar", "pyz",
    ];
    let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && EXTENSIONS.contains(&extension.to_lowercase().as_str()) => stem,
        _ => name,
    }
}

/// The host of a URL, as a display name.
pub(crate) fn of_url(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next()?,
        None => host.split(':').next()?,
    };
    (!host.is_empty() && !host.contains(['$', '{'])).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_the_server_is_called() {
        for (line, expected) in [
            ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
            ("npx -y @modelcontextprotocol/server-everything@2026.1.1 stdio", "server-everything"),
            ("npx --package foo bar-mcp", "bar-mcp"),
            ("npx -y some-mcp@latest {sandbox}", "some-mcp"),
            ("uvx mcp-server-time", "mcp-server-time"),
            ("uvx mcp-server-time==1.2 --local-timezone=UTC", "mcp-server-time"),
            ("uvx --from git+https://x/y mcp-thing", "mcp-thing"),
            ("uv --directory /x run mcp-thing", "mcp-thing"),
            ("uv run python weather.py", "weather"),
            ("uv run weather.py", "weather"),
            ("node dist/index.js", "index"),
            ("node packages/weather/dist/index.js --stdio", "weather"),
            ("node --import tsx ./weather-server.ts", "weather-server"),
            ("python3.12 -m mcp_server_time", "mcp_server_time"),
            ("python server.py", "server"),
            ("/usr/bin/python3 /opt/notes/server.py", "notes"),
            ("./target/release/my-server --port 8000", "my-server"),
            ("my-server", "my-server"),
            ("sh -c exec", "sh"),
            ("docker run -i --rm -e KEY mcp/fetch:latest", "fetch"),
            ("go run ./cmd/weather", "weather"),
            ("java -jar target/weather.jar", "weather"),
            ("bun run src/weather.ts", "weather"),
            ("deno run --allow-net weather.ts", "weather"),
            ("C:/tools/server.exe", "server"),
        ] {
            let command: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(of_command(&command).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(of_command(&[]), None);
    }

    #[test]
    fn a_url_is_called_by_its_host() {
        for (url, expected) in [
            ("https://mcp.example.com/mcp", Some("mcp.example.com")),
            ("http://localhost:8000/mcp", Some("localhost")),
            ("http://[::1]:8000/mcp", Some("::1")),
            ("https://u:p@host/x", Some("host")),
            ("${BASE}/mcp", None),
            ("http://${HOST}/mcp", None),
        ] {
            assert_eq!(of_url(url).as_deref(), expected, "{url}");
        }
    }
}
