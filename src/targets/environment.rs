//! The server's environment: made from nothing, plus what a program needs to be found, installed and shown in the user's language.
//!
//! What is inherited, and why:
//! - `PATH`: absolute entries only. Directories under the user's home stay when they exist, because that is where
//!   nvm, pyenv, rustup and pip put the programs people start; relative entries go, they would mean the sandbox.
//! - Language and time zone: `LANG`, `LANGUAGE`, `LC_*`, `TZ`.
//! - Certificates, proxies and package registries ([`CERTIFICATES`], [`NETWORK`]); a URL that holds a login is withheld.
//! - Caches and homes of installers ([`HOMES`]), so that `npx` and `uvx` do not download everything anew.
//!
//! The user's `.npmrc` and `pip.conf` are copied into the sandbox home without logins. Nothing else of the outer
//! environment reaches the server, so no secret in it does.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use rustix::fs::Access;

use super::sandbox::Sandbox;

/// A complete environment for a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// Every variable, sorted by name.
    pub vars: Vec<(OsString, OsString)>,
    /// Names of what came from the user's environment or home, for the report.
    pub inherited: Vec<String>,
    /// What would have been inherited and was not because it holds a login: name and reason (`HTTP_PROXY (holds a login)`).
    pub withheld: Vec<String>,
}

type Outer = BTreeMap<OsString, OsString>;

/// Language and time, inherited as they are; `LC_*` besides.
const LANGUAGE: &[&str] = &["LANG", "LANGUAGE", "TZ"];

/// Where certificates are, for the runtimes that ask the environment.
const CERTIFICATES: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "GIT_SSL_CAINFO",
    "NIX_SSL_CERT_FILE",
    "DENO_CERT",
    "npm_config_cafile",
];

/// How the network and the package registries are reached; inherited unless a value holds a login.
const NETWORK: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "npm_config_registry",
    "NPM_CONFIG_REGISTRY",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_TRUSTED_HOST",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "GOPROXY",
    "GOSUMDB",
];

/// Installers' caches and homes: variable, default place under the user's home, and whether it is named even before it exists.
const HOMES: &[(&str, &str, bool)] = &[
    ("npm_config_cache", ".npm", true),
    ("UV_CACHE_DIR", ".cache/uv", true),
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python", false),
    ("PIP_CACHE_DIR", ".cache/pip", false),
    ("CARGO_HOME", ".cargo", false),
    ("RUSTUP_HOME", ".rustup", false),
    ("PYENV_ROOT", ".pyenv", false),
    ("VOLTA_HOME", ".volta", false),
    ("ASDF_DATA_DIR", ".asdf", false),
    ("MISE_DATA_DIR", ".local/share/mise", false),
    ("GOMODCACHE", "go/pkg/mod", false),
    ("GOCACHE", ".cache/go-build", false),
    ("DENO_DIR", ".cache/deno", false),
    ("BUN_INSTALL_CACHE_DIR", ".bun/install/cache", false),
    ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", false),
    ("PUPPETEER_CACHE_DIR", ".cache/puppeteer", false),
];

/// Settings of an `.npmrc` that are copied; everything else may be a login or a secret of the user's own.
const NPMRC_KEYS: &[&str] = &[
    "registry",
    "cafile",
    "ca",
    "strict-ssl",
    "proxy",
    "https-proxy",
    "noproxy",
    "fund",
    "audit",
    "update-notifier",
    "yes",
    "offline",
    "prefer-offline",
    "prefer-online",
    "fetch-retries",
    "fetch-timeout",
    "legacy-peer-deps",
    "nodedir",
    "ignore-scripts",
    "omit-lockfile-registry-resolved",
];

/// Configuration files larger than this are not read.
const MAX_CONFIG: u64 = 256 * 1024;

/// Makes the environment of a server in `sandbox` from the user's own.
pub(super) fn scrub(sandbox: &Sandbox, outer: &Outer) -> Environment {
    let home = outer.get(OsStr::new("HOME")).map(PathBuf::from).filter(|home| home.is_absolute() && home.is_dir());
    let mut made = Made { outer, vars: BTreeMap::new(), inherited: Vec::new(), withheld: Vec::new() };
    made.owned(sandbox);
    made.path(home.as_deref());
    let locale = outer.keys().filter_map(|name| name.to_str()).filter(|name| name.starts_with("LC_"));
    for name in
        LANGUAGE.iter().copied().chain(locale).chain(CERTIFICATES.iter().copied()).chain(NETWORK.iter().copied())
    {
        made.inherit(name);
    }
    if let Some(home) = &home {
        made.homes(home);
        made.npmrc(home, sandbox.home());
        made.pip(home, sandbox.home());
    }
    Environment { vars: made.vars.into_iter().collect(), inherited: made.inherited, withheld: made.withheld }
}

struct Made<'o> {
    outer: &'o Outer,
    vars: BTreeMap<OsString, OsString>,
    inherited: Vec<String>,
    withheld: Vec<String>,
}

impl Made<'_> {
    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.vars.insert(name.into(), value.into());
    }

    fn outer(&self, name: &str) -> Option<&OsString> {
        self.outer.get(OsStr::new(name)).filter(|value| !value.is_empty())
    }

    /// The directories that are the server's own.
    fn owned(&mut self, sandbox: &Sandbox) {
        let home = sandbox.home();
        for (name, below) in [
            ("HOME", ""),
            ("USERPROFILE", ""),
            ("APPDATA", "AppData/Roaming"),
            ("LOCALAPPDATA", "AppData/Local"),
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
        ] {
            self.set(name, if below.is_empty() { home.to_owned() } else { home.join(below) });
        }
        for name in ["TMPDIR", "TMP", "TEMP"] {
            self.set(name, sandbox.temp());
        }
        self.set("TERM", "dumb");
    }

    fn path(&mut self, home: Option<&Path>) {
        let mut kept: Vec<PathBuf> = Vec::new();
        let mut personal = 0;
        for entry in self.outer("PATH").into_iter().flat_map(std::env::split_paths) {
            if !entry.is_absolute() || kept.contains(&entry) {
                continue;
            }
            // A home of `/` (containers) does not make the whole system personal.
            if home.is_some_and(|home| home.parent().is_some() && entry.starts_with(home)) {
                if !entry.is_dir() {
                    continue;
                }
                personal += 1;
            }
            kept.push(entry);
        }
        let Ok(path) = std::env::join_paths(&kept) else { return };
        if kept.is_empty() {
            return self.set("PATH", "/usr/local/bin:/usr/bin:/bin");
        }
        self.set("PATH", path);
        self.inherited.push(match personal {
            0 => "PATH (system part)".to_owned(),
            1 => "PATH (system part and 1 directory under home)".to_owned(),
            many => format!("PATH (system part and {many} directories under home)"),
        });
    }

    fn inherit(&mut self, name: &str) {
        let Some(value) = self.outer(name).cloned() else { return };
        if holds_login(&value.to_string_lossy()) {
            self.withheld.push(format!("{name} (holds a login)"));
        } else {
            self.set(name, value);
            self.inherited.push(name.to_owned());
        }
    }

    fn homes(&mut self, home: &Path) {
        let xdg = |name, default: &str| {
            self.outer(name).map(PathBuf::from).filter(|dir| dir.is_absolute()).unwrap_or_else(|| home.join(default))
        };
        let (cache, data) = (xdg("XDG_CACHE_HOME", ".cache"), xdg("XDG_DATA_HOME", ".local/share"));
        let creatable = rustix::fs::access(home, Access::WRITE_OK).is_ok();
        for &(name, default, always) in HOMES {
            let value = self.outer(name).map(PathBuf::from).unwrap_or_else(|| {
                if let Ok(below) = Path::new(default).strip_prefix(".cache") {
                    cache.join(below)
                } else if let Ok(below) = Path::new(default).strip_prefix(".local/share") {
                    data.join(below)
                } else {
                    home.join(default)
                }
            });
            let usable = value.is_dir() || (always && creatable);
            if !usable {
                continue;
            }
            if name == "CARGO_HOME" && ["credentials.toml", "credentials"].iter().any(|file| value.join(file).exists())
            {
                self.withheld.push(format!("{name} (holds a login)"));
                continue;
            }
            self.set(name, value);
            self.inherited.push(name.to_owned());
        }
    }

    /// Copies what is harmless of the user's `.npmrc`.
    fn npmrc(&mut self, home: &Path, sandbox_home: &Path) {
        let given = self.outer("npm_config_userconfig").or_else(|| self.outer("NPM_CONFIG_USERCONFIG"));
        let file = given.map(PathBuf::from).unwrap_or_else(|| home.join(".npmrc"));
        let Some(text) = small(&file) else { return };
        let mut kept = String::new();
        let mut left_out = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';', '['])) {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            let key = key.trim();
            let known = NPMRC_KEYS.contains(&key) || (key.starts_with('@') && key.ends_with(":registry"));
            // `${VAR}` would be looked up in an environment that does not have it.
            if known && !holds_login(value) && !value.contains("${") {
                kept.push_str(line);
                kept.push('\n');
            } else {
                left_out |= key.contains("_auth") || key.contains("_password") || holds_login(value);
            }
        }
        if !kept.is_empty() && write(&sandbox_home.join(".npmrc"), &kept) {
            self.inherited.push(".npmrc (settings, no logins)".to_owned());
        }
        if left_out {
            self.withheld.push(".npmrc logins".to_owned());
        }
    }

    /// Copies the user's `pip.conf`, when nothing in it looks like a login.
    fn pip(&mut self, home: &Path, sandbox_home: &Path) {
        let config = self.outer("XDG_CONFIG_HOME").map(PathBuf::from).unwrap_or_else(|| home.join(".config"));
        let given = self.outer("PIP_CONFIG_FILE").map(PathBuf::from);
        let files = given.into_iter().chain([config.join("pip/pip.conf"), home.join(".pip/pip.conf")]);
        let Some(text) = files.into_iter().find_map(|file| small(&file)) else { return };
        if text.split_whitespace().any(holds_login) || ["password", "token"].iter().any(|word| text.contains(word)) {
            return self.withheld.push("pip.conf (holds a login)".to_owned());
        }
        if write(&sandbox_home.join(".config/pip/pip.conf"), &text) {
            self.inherited.push("pip.conf".to_owned());
        }
    }
}

/// Whether a value holds URLs of which one carries a user, a password or a token.
fn holds_login(value: &str) -> bool {
    value.split([' ', ',', '\t', '\n', '"', '\'']).any(|part| {
        let rest = part.split_once("://").map_or(part, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let query = rest.split_once('?').map_or("", |(_, query)| query).to_ascii_lowercase();
        authority.contains('@')
            || ["token", "password", "key", "secret", "auth"].iter().any(|word| query.contains(word))
    })
}

/// The text of a configuration file, unless it is missing, too large or not text.
fn small(file: &Path) -> Option<String> {
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_CONFIG + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_CONFIG && !bytes.contains(&0)).then(|| String::from_utf8(bytes).ok())?
}

/// Writes into the sandbox home; a copy that cannot be written is only a comfort lost.
fn write(file: &Path, text: &str) -> bool {
    file.parent().is_some_and(|dir| fs::create_dir_all(dir).is_ok()) && fs::write(file, text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::SandboxSettings;

    fn sandbox() -> Sandbox {
        Sandbox::create(&SandboxSettings { enabled: true, dir: None, keep: false }).unwrap()
    }

    fn outer(pairs: &[(&str, &str)]) -> Outer {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn get<'e>(made: &'e Environment, name: &str) -> Option<&'e str> {
        made.vars.iter().find(|(key, _)| key == name).and_then(|(_, value)| value.to_str())
    }

    #[test]
    fn no_secret_of_the_outer_environment_is_inherited() {
        let home = tempfile::tempdir().unwrap();
        let secrets = [
            ("AWS_SECRET_ACCESS_KEY", "s3cr3t-1"),
            ("GITHUB_TOKEN", "s3cr3t-2"),
            ("NPM_TOKEN", "s3cr3t-3"),
            ("npm_config_//registry.example/:_authToken", "s3cr3t-4"),
            ("HTTPS_PROXY", "http://user:s3cr3t-5@proxy:8080"),
            ("http_proxy", "user:s3cr3t-6@proxy:8080"),
            ("PIP_INDEX_URL", "https://s3cr3t-7@pypi.example/simple"),
            ("UV_INDEX", "a=https://ok.example b=https://__token__:s3cr3t-8@host/simple"),
            ("GOPROXY", "https://proxy.example?token=s3cr3t-9"),
            ("NODE_OPTIONS", "--require s3cr3t-10"),
            ("SSH_AUTH_SOCK", "/run/s3cr3t-11"),
            ("SEALMARK_OUTPUT__DIR", "s3cr3t-12"),
        ];
        let mut user = outer(&secrets);
        user.extend(outer(&[("HOME", home.path().to_str().unwrap()), ("PATH", "/usr/bin")]));
        let sandbox = sandbox();
        let made = scrub(&sandbox, &user);
        for (name, value) in &made.vars {
            assert!(!value.to_string_lossy().contains("s3cr3t"), "{name:?}={value:?}");
        }
        for name in ["HTTPS_PROXY", "http_proxy", "PIP_INDEX_URL", "UV_INDEX", "GOPROXY"] {
            assert!(made.withheld.contains(&format!("{name} (holds a login)")), "{name}: {:?}", made.withheld);
        }
    }

    #[test]
    fn language_certificates_and_plain_proxies_are_inherited_and_named() {
        let user = outer(&[
            ("LANG", "de_DE.UTF-8"),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
            ("HTTPS_PROXY", "http://proxy:8080"),
            ("no_proxy", "localhost,127.0.0.1"),
            ("NODE_EXTRA_CA_CERTS", "/etc/ca.pem"),
            ("PATH", "/usr/bin:/bin"),
        ]);
        let sandbox = sandbox();
        let made = scrub(&sandbox, &user);
        let names = ["PATH (system part)", "LANG", "TZ", "LC_ALL", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "no_proxy"]
            .map(str::to_owned);
        assert_eq!(made.inherited, names);
        assert_eq!(get(&made, "LC_ALL"), Some("C.UTF-8"));
        assert!(made.withheld.is_empty());
    }

    #[test]
    fn the_path_keeps_personal_tools_and_loses_relative_entries() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".nvm/bin")).unwrap();
        let at = |below: &str| home.path().join(below).display().to_string();
        let path = format!("{}:.:node_modules/.bin::/usr/bin:{}:/usr/bin", at(".nvm/bin"), at("gone/bin"));
        let user = outer(&[("HOME", home.path().to_str().unwrap()), ("PATH", &path)]);
        let sandbox = sandbox();
        let made = scrub(&sandbox, &user);
        assert_eq!(get(&made, "PATH").unwrap(), format!("{}:/usr/bin", at(".nvm/bin")));
        assert!(made.inherited.contains(&"PATH (system part and 1 directory under home)".to_owned()));
    }

    #[test]
    fn a_home_of_slash_leaves_the_system_part_the_system_part() {
        let sandbox = sandbox();
        let made = scrub(&sandbox, &outer(&[("HOME", "/"), ("PATH", "/usr/bin:/bin")]));
        assert_eq!(made.inherited.first().map(String::as_str), Some("PATH (system part)"));
    }

    #[test]
    fn home_and_temporary_files_are_the_sandboxs_own() {
        let sandbox = sandbox();
        let made =
            scrub(&sandbox, &outer(&[("HOME", "/root"), ("TMPDIR", "/var/tmp"), ("XDG_CONFIG_HOME", "/root/.c")]));
        for name in
            ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"]
        {
            assert!(Path::new(get(&made, name).unwrap()).starts_with(sandbox.home()), "{name}");
        }
        assert_eq!(Path::new(get(&made, "TMPDIR").unwrap()), sandbox.temp());
        assert_eq!(get(&made, "PATH"), Some("/usr/local/bin:/usr/bin:/bin"));
    }

    #[test]
    fn caches_point_at_the_users_own_and_a_cargo_home_with_a_login_does_not() {
        let home = tempfile::tempdir().unwrap();
        let cache = tempfile::tempdir().unwrap();
        for dir in [".cargo", ".rustup"] {
            fs::create_dir(home.path().join(dir)).unwrap();
        }
        let user = outer(&[
            ("HOME", home.path().to_str().unwrap()),
            ("PATH", "/bin"),
            ("XDG_CACHE_HOME", cache.path().to_str().unwrap()),
        ]);
        let sandbox = sandbox();
        let made = scrub(&sandbox, &user);
        assert_eq!(made.inherited[1..], ["npm_config_cache", "UV_CACHE_DIR", "CARGO_HOME", "RUSTUP_HOME"]);
        assert_eq!(get(&made, "npm_config_cache"), home.path().join(".npm").to_str());
        assert_eq!(get(&made, "UV_CACHE_DIR"), cache.path().join("uv").to_str());
        fs::write(home.path().join(".cargo/credentials.toml"), "x").unwrap();
        let made = scrub(&sandbox, &user);
        assert_eq!(get(&made, "CARGO_HOME"), None);
        assert_eq!(made.withheld, ["CARGO_HOME (holds a login)"]);
    }

    #[test]
    fn an_npmrc_is_copied_without_its_logins() {
        let home = tempfile::tempdir().unwrap();
        let text = "registry=https://mirror.example/npm/\n@team:registry = https://team.example\n\
                    //mirror.example/:_authToken=s3cr3t\n_auth=s3cr3t\n//t/:_password=s3cr3t\nmy-own=s3cr3t\n\
                    https-proxy=http://u:s3cr3t@p:1\n; note s3cr3t\ncafile=${HOME}/ca.pem\nfund=false\n";
        fs::write(home.path().join(".npmrc"), text).unwrap();
        let sandbox = sandbox();
        let made = scrub(&sandbox, &outer(&[("HOME", home.path().to_str().unwrap())]));
        let copy = fs::read_to_string(sandbox.home().join(".npmrc")).unwrap();
        assert_eq!(copy, "registry=https://mirror.example/npm/\n@team:registry = https://team.example\nfund=false\n");
        assert!(made.inherited.contains(&".npmrc (settings, no logins)".to_owned()));
        assert!(made.withheld.contains(&".npmrc logins".to_owned()));
    }

    #[test]
    fn a_pip_conf_is_copied_only_without_a_login() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".pip")).unwrap();
        let file = home.path().join(".pip/pip.conf");
        let user = outer(&[("HOME", home.path().to_str().unwrap())]);
        fs::write(&file, "[global]\nindex-url = https://u:p@host/simple\n").unwrap();
        let sandbox = sandbox();
        assert_eq!(scrub(&sandbox, &user).withheld, ["pip.conf (holds a login)"]);
        assert!(!sandbox.home().join(".config/pip/pip.conf").exists());
        fs::write(&file, "[global]\nindex-url = https://host/simple\n").unwrap();
        assert!(scrub(&sandbox, &user).inherited.contains(&"pip.conf".to_owned()));
        assert!(sandbox.home().join(".config/pip/pip.conf").exists());
    }
}
