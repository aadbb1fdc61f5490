//! What the configuration says of tools, held against those that a server lists.

use std::collections::BTreeMap;

use crate::{
    classify::{self, Confidence, ToolClass},
    config::Settings,
    model::{Override, Tool},
};

/// Where `tools:` of the configuration and the listed tools do not fit. Empty when no tool was listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fit {
    /// An override to a class that no parameter of the tool can carry: nothing more was done.
    pub impossible: Option<Impossible>,
    /// Patterns of `tools.exclude` that match no tool.
    pub excludes: Vec<String>,
    /// Overrides of tools that are not listed.
    pub overrides: Vec<String>,
    /// The names of the tools.
    pub listed: Vec<String>,
}

/// An override that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impossible {
    /// The tool.
    pub tool: String,
    /// The class it was given.
    pub class: String,
    /// The parameters of the tool that take text.
    pub takes_text: Vec<String>,
}

/// Holds the settings against the tools.
pub(super) fn fit(settings: &Settings, tools: &[Tool]) -> Fit {
    if tools.is_empty() {
        return Fit::default();
    }
    let overrides = overrides(settings);
    let impossible = tools.iter().find_map(|tool| {
        let class = classify::classify(tool, &overrides);
        let targets = matches!(class.kind, ToolClass::Path | ToolClass::Url | ToolClass::Git);
        let set = class.confidence == Confidence::Set && targets && class.parameter.is_none();
        set.then(|| Impossible {
            tool: tool.name.clone(),
            class: class.kind.as_str().to_owned(),
            takes_text: classify::text_parameters_of(tool),
        })
    });
    let listed: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let idle = |pattern: &&String| !listed.iter().any(|name| matches_pattern(pattern, name));
    let excludes = settings.tools_exclude.iter().filter(idle).cloned().collect();
    let unlisted = settings.tools_overrides.keys().filter(|tool| !listed.contains(tool)).cloned().collect();
    Fit { impossible, excludes, overrides: unlisted, listed }
}

/// The overrides as a trace's header keeps them.
pub(super) fn overrides(settings: &Settings) -> BTreeMap<String, Override> {
    let given = settings.tools_overrides.iter();
    given.map(|(tool, set)| (tool.clone(), Override { class: set.class.clone(), params: set.params.clone() })).collect()
}

/// `*` matches any run of characters, everything else itself.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{config::settings::ToolOverride, model::EventRef};

    fn tool(name: &str, properties: serde_json::Value) -> Tool {
        let raw = json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
        Tool { name: name.to_owned(), raw, listed_in: EventRef(0) }
    }

    fn settings(overrides: &[(&str, &str, Option<&str>)]) -> Settings {
        let mut settings = config_of_nothing();
        for (tool, class, parameter) in overrides {
            let params = parameter.iter().map(|name| ((*class).to_owned(), (*name).to_owned())).collect();
            settings.tools_overrides.insert((*tool).to_owned(), ToolOverride { class: (*class).to_owned(), params });
        }
        settings
    }

    fn config_of_nothing() -> Settings {
        let request = crate::config::Request { fileless: true, ..crate::config::Request::default() };
        crate::config::resolve(&request).unwrap().settings
    }

    #[test]
    fn an_override_needs_a_parameter_that_can_carry_its_class() {
        let number = tool("add", json!({"a": {"type": "number"}}));
        let text = tool("echo", json!({"text": {"type": "string"}}));
        for (tool, class, parameter, possible) in [
            (&number, "path", None, false),
            (&number, "url", Some("a"), false),
            (&number, "opaque", None, true),
            (&number, "command", None, true),
            (&text, "path", None, true),
            (&text, "git", Some("text"), true),
            (&text, "git", Some("txt"), false),
        ] {
            let found = fit(&settings(&[(&tool.name, class, parameter)]), std::slice::from_ref(tool)).impossible;
            assert_eq!(found.is_none(), possible, "{} as {class} through {parameter:?}", tool.name);
        }
    }

    #[test]
    fn words_that_match_no_listed_tool_are_collected_unless_nothing_is_listed() {
        let mut settings = settings(&[("ecco", "text", None)]);
        settings.tools_exclude = vec!["adm*".to_owned(), "ec*".to_owned()];
        let found = fit(&settings, &[tool("echo", json!({}))]);
        assert_eq!((found.excludes, found.overrides), (vec!["adm*".to_owned()], vec!["ecco".to_owned()]));
        assert_eq!(fit(&settings, &[]), Fit::default());
    }

    #[test]
    fn a_pattern_matches_whole_names() {
        for (pattern, name, matches) in [
            ("admin_*", "admin_drop", true),
            ("admin_*", "my_admin_drop", false),
            ("*_raw", "read_raw", true),
            ("*_raw", "read_raw2", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
            ("*", "", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), matches, "{pattern} on {name}");
        }
    }
}
