//! Environment and event payload → [`Context`]: which platform, which event, which rights. Pure.

mod facts;
mod github;
mod github_rights;
mod gitlab;
mod vendors;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Capabilities, Capability, Context, Platform};
use facts::Env;

/// Says where a job runs and what it may do.
///
/// `event` is the payload that `GITHUB_EVENT_PATH` names, `None` when there is none or it could not be read. `PWD`
/// has to be the working directory. The most specific platform wins; `CI=false` switches every one of them off.
/// Values of a wrong shape (an id that is no number, a branch with a line feed) count as missing.
pub fn detect(env: &BTreeMap<String, String>, event: Option<&Value>) -> Context {
    let env = Env(env);
    if env.off("CI") {
        let off = Capability::no("CI=false switches the detection off", "leave CI to the platform");
        return Context { capabilities: all(&off), ..Context::default() };
    }
    let mut context = if env.on("GITHUB_ACTIONS") || env.on("GITEA_ACTIONS") || env.on("FORGEJO_ACTIONS") {
        github::context(env, event)
    } else if env.on("GITLAB_CI") {
        gitlab::context(env)
    } else if let Some(context) = vendors::context(env) {
        context
    } else if env.on("CI") {
        Context { platform: Platform::Generic, capabilities: files_alone(&Platform::Generic), ..Context::default() }
    } else {
        return Context::default();
    };
    context.directory = directory(env, &context);
    context
}

/// The working directory below the workspace.
fn directory(env: Env<'_>, context: &Context) -> Option<String> {
    let below = env.path("PWD")?.strip_prefix(context.workspace.as_ref()?).ok()?.to_str()?.replace('\\', "/");
    Some(below)
}

/// What a platform offers for which sealmark writes files and nothing else.
fn files_alone(platform: &Platform) -> Capabilities {
    let name = platform.name();
    let no = |what: &str, remedy: &str| Capability::no(format!("{what} on {name}"), remedy);
    let files = "use the report files: --format junit,json,markdown --out-dir DIR";
    Capabilities {
        comment: no("sealmark writes no comments", files),
        baseline: no("sealmark fetches no baseline", "keep an earlier JSON report and pass it with --baseline FILE"),
        badge: no("sealmark commits no badges", "use --format badge or shields"),
        sarif: no("sealmark uploads no SARIF", "use --format sarif"),
        summary: no("there is no job summary", "the log has it; --format markdown writes it to a file"),
        annotations: no("there are no annotations", "use --format junit"),
        outputs: no("there are no outputs", "read the JSON report, or use the exit code"),
    }
}

/// The same for everything.
fn all(capability: &Capability) -> Capabilities {
    Capabilities {
        comment: capability.clone(),
        baseline: capability.clone(),
        badge: capability.clone(),
        sarif: capability.clone(),
        summary: capability.clone(),
        annotations: capability.clone(),
        outputs: capability.clone(),
    }
}

#[cfg(test)]
mod tests;
