//! What changed of prompts, resources and resource templates.

use std::collections::BTreeMap;

use super::{
    DriftLevel, Offer,
    drift::{Changes, Place, change, text_detail},
};
use crate::{
    report::result::{PromptFacts, ResourceFacts, SurfaceFacts},
    text::excerpt,
};

/// Longest name that a detail shows, in characters.
const NAME: usize = 60;

/// One kind of listing: its method, what it is called and the words of its changes.
struct List {
    method: &'static str,
    offer: Offer,
    what: &'static str,
    removed: &'static str,
    added: &'static str,
}

pub(super) fn compare(changes: &mut Changes, old: &SurfaceFacts, new: &SurfaceFacts) {
    let prompts = List {
        method: "prompts/list",
        offer: Offer::Prompt,
        what: "prompt",
        removed: "prompt-removed",
        added: "prompt-added",
    };
    list(changes, &prompts, (old, new), (&old.prompts, &new.prompts), prompt);
    let resources = List {
        method: "resources/list",
        offer: Offer::Resource,
        what: "resource",
        removed: "resource-removed",
        added: "resource-added",
    };
    list(changes, &resources, (old, new), (&old.resources, &new.resources), resource);
    let templates = List {
        method: "resources/templates/list",
        offer: Offer::ResourceTemplate,
        what: "resource template",
        removed: "resource-template-removed",
        added: "resource-template-added",
    };
    list(changes, &templates, (old, new), (&old.resource_templates, &new.resource_templates), resource);
}

fn list<T: PartialEq>(
    changes: &mut Changes,
    list: &List,
    (old, new): (&SurfaceFacts, &SurfaceFacts),
    (olds, news): (&BTreeMap<String, T>, &BTreeMap<String, T>),
    each: fn(&mut Changes, Place<'_>, &T, &T),
) {
    for (name, entry) in olds {
        let place = (list.offer, name.as_str());
        match news.get(name) {
            Some(later) if later == entry => {}
            Some(later) => each(changes, place, entry, later),
            None if new.unread.contains_key(list.method) => {}
            None => changes.push(DriftLevel::Breaking, place, list.removed, format!("{} removed", list.what)),
        }
    }
    if !old.unread.contains_key(list.method) {
        for name in news.keys().filter(|name| !olds.contains_key(*name)) {
            changes.push(DriftLevel::Info, (list.offer, name), list.added, format!("{} added", list.what));
        }
    }
}

fn prompt(changes: &mut Changes, place: Place<'_>, old: &PromptFacts, new: &PromptFacts) {
    changes.text(place, "title-changed", "title", (old.title.as_ref(), new.title.as_ref()));
    changes.text(place, "description-changed", "description", (old.description.as_ref(), new.description.as_ref()));
    changes.members(place, "entry-changed", (&old.other, &new.other));
    let mut names: Vec<&String> = old.arguments.keys().chain(new.arguments.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let shown = excerpt(name, NAME);
        let (level, kind, detail) = match (old.arguments.get(name), new.arguments.get(name)) {
            (None, Some(true)) => {
                (DriftLevel::Breaking, "argument-required", format!("required argument {shown} added"))
            }
            (None, Some(false)) => (DriftLevel::Info, "argument-added", format!("optional argument {shown} added")),
            (Some(_), None) => (DriftLevel::Breaking, "argument-removed", format!("argument {shown} removed")),
            (Some(false), Some(true)) => {
                (DriftLevel::Breaking, "argument-required", format!("argument {shown} is required now"))
            }
            (Some(true), Some(false)) => {
                (DriftLevel::Info, "argument-optional", format!("argument {shown} is optional now"))
            }
            _ => {
                let of = |side: &PromptFacts| side.argument_descriptions.get(name).cloned();
                let (old, new) = (of(old), of(new));
                if old == new {
                    continue;
                }
                let detail = text_detail(&format!("argument {shown}: description"), old.as_ref(), new.as_ref());
                (DriftLevel::Notable, "argument-description-changed", detail)
            }
        };
        changes.push(level, place, kind, detail);
    }
}

fn resource(changes: &mut Changes, place: Place<'_>, old: &ResourceFacts, new: &ResourceFacts) {
    changes.text(place, "title-changed", "title", (old.title.as_ref(), new.title.as_ref()));
    changes.text(place, "description-changed", "description", (old.description.as_ref(), new.description.as_ref()));
    if old.mime_type != new.mime_type {
        let detail = match (&old.mime_type, &new.mime_type) {
            (Some(old), Some(new)) => format!("media type {} → {}", excerpt(old, NAME), excerpt(new, NAME)),
            (old, new) => format!("media type {}", change(old.is_some(), new.is_some())),
        };
        changes.push(DriftLevel::Notable, place, "mime-type-changed", detail);
    }
    changes.members(place, "entry-changed", (&old.other, &new.other));
}
