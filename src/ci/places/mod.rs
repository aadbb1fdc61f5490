//! Where the sources of a checkout register a server's tools. A place that is not sure is none.

mod registration;
mod walk;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use self::registration::{Names, registrations};
use crate::report::{Place, Places};

/// Below this a literal is only a mention.
const SURE: i32 = 50;
/// Candidates of a name that are kept; a name that stands in more places is no sign of anything.
const MOST: usize = 64;

/// Looks the tools (server, tool) up in the sources below `root`. Give it every tool of each server: a name that two
/// different servers have is only found where the path names the server.
///
/// Reads at most 20 000 files and 64 MiB, never follows a link, and depends on nothing but the files: no clock. Files that
/// cannot be read are passed over.
pub fn find(root: &Path, tools: &[(String, String)]) -> Places {
    let names = Names::new(tools.iter().map(|(_, tool)| tool.as_str()));
    if names.is_empty() {
        return Places::default();
    }
    let mut found: HashMap<String, Vec<Candidate>> = HashMap::new();
    walk::walk(root, &mut |file| {
        for hit in registrations(file.language, &file.text, &names) {
            let score = hit.score - file.doubt;
            let candidates = found.entry(hit.name).or_default();
            if score >= SURE && candidates.len() < MOST {
                candidates.push(Candidate { score, place: Place { path: file.path.clone(), line: hit.line } });
            }
        }
    });
    let owners = Owners::new(tools);
    let mut places = BTreeMap::new();
    for (server, tool) in tools {
        let Some(candidates) = found.get(tool) else { continue };
        let own = |candidate: &&Candidate| !owners.shared(tool) || names_server(&candidate.place.path, server);
        if let Some(place) = best(candidates.iter().filter(own)) {
            places.insert((server.clone(), tool.clone()), place.clone());
        }
    }
    Places { registered: places, ..Places::default() }
}

struct Candidate {
    score: i32,
    place: Place,
}

/// The one best candidate; two that are equally good are none.
fn best<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<&'a Place> {
    let mut best: Option<&Candidate> = None;
    let mut unique = true;
    for candidate in candidates {
        match best {
            Some(known) if candidate.score < known.score || candidate.place == known.place => {}
            Some(known) if candidate.score == known.score => unique = false,
            _ => (best, unique) = (Some(candidate), true),
        }
    }
    best.filter(|_| unique).map(|candidate| &candidate.place)
}

/// Which different servers have a tool of a name. Servers with the same tools are one server in several configurations.
struct Owners<'a>(HashMap<&'a str, usize>);

impl<'a> Owners<'a> {
    fn new(tools: &'a [(String, String)]) -> Self {
        let mut servers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (server, tool) in tools {
            servers.entry(server).or_default().insert(tool);
        }
        let different: BTreeSet<BTreeSet<&str>> = servers.into_values().collect();
        let mut owners = HashMap::new();
        for tool in different.into_iter().flatten() {
            *owners.entry(tool).or_default() += 1;
        }
        Self(owners)
    }

    fn shared(&self, tool: &str) -> bool {
        self.0.get(tool).is_some_and(|owners| *owners > 1)
    }
}

/// Whether a part of the path is the server's name.
fn names_server(path: &str, server: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let server = plain(server);
    path.split('/')
        .any(|part| plain(part) == server || part.split_once('.').is_some_and(|(stem, _)| plain(stem) == server))
}

#[cfg(test)]
mod tests;
