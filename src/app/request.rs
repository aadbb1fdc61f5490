//! What this invocation asks of the configuration: its flags, its environment, its working directory.

use std::{collections::BTreeMap, io};

use crate::{
    cli::{SourceArgs, flags::FromFlag},
    config::{FlagValue, Request, user_config_path},
};

/// Puts the request together.
///
/// # Errors
/// The working directory is gone or cannot be read.
pub fn request(source: &SourceArgs, values: Vec<FromFlag>) -> io::Result<Request> {
    let env = environment();
    Ok(Request {
        cwd: std::env::current_dir()?,
        config: source.config.clone(),
        user_config: user_config_path(&env),
        flags: values.into_iter().map(|(flag, key, value)| FlagValue { flag, key, value }).collect(),
        server: source.server.clone(),
        ci: is_ci(&env),
        env,
    })
}

/// The environment; what is not UTF-8 can be neither a setting nor a reference.
pub fn environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Whether this is a CI job: `CI` is `true` or `1`, as nearly every platform sets it.
pub fn is_ci(env: &BTreeMap<String, String>) -> bool {
    env.get("CI").is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_is_what_platforms_set_and_can_be_switched_off() {
        let with = |value: &str| is_ci(&BTreeMap::from([("CI".to_owned(), value.to_owned())]));
        assert!(with("true") && with("1") && with("True"));
        assert!(!with("false") && !with("0") && !with("") && !is_ci(&BTreeMap::new()));
    }
}
