//! Keys that are not settings here: planned ones, refused ones, and old ones that are read over.

/// Why a key is no setting of this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// A later version has it.
    Planned,
    /// No version will have it.
    Plugins,
    /// Once a setting; ignored with a warning.
    Ignored,
}

/// Top-level or dotted keys of features that this build does not have.
const PLANNED: &[&str] = &[
    "probes",
    "upstream",
    "scope",
    "identities",
    "sql_tools",
    "corpus",
    "net",
    "db",
    "pg",
    "postgres",
    "sqlite",
    "git",
    "fs",
    "exec",
    "active",
    "yes",
];

/// Keys of old files that nothing reads.
const IGNORED: &[&str] = &["retries.call", "retries.connect", "concurrency", "output.interactive"];

/// Packs of the methodology; the ones that the registry holds are never looked up here.
const PLANNED_PACKS: &[&str] = &[
    "db",
    "sqlite",
    "fs",
    "git",
    "net",
    "http",
    "effects",
    "exec",
    "scope",
    "sql-guard",
    "upstream",
    "spec",
    "custom",
];

/// Looks a dotted key up, or a key below it.
pub(crate) fn reserved(dotted: &str) -> Option<Reserved> {
    let within = |known: &str| dotted.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if IGNORED.iter().any(|known| within(known)) {
        Some(Reserved::Ignored)
    } else if dotted == "plugins" || dotted.starts_with("plugins.") {
        Some(Reserved::Plugins)
    } else if PLANNED.iter().any(|known| within(known)) {
        Some(Reserved::Planned)
    } else {
        None
    }
}

/// Whether only keys below it are known (`retries:` holds nothing but ignored keys).
pub(crate) fn holds_ignored(dotted: &str) -> bool {
    IGNORED.iter().any(|known| known.strip_prefix(dotted).is_some_and(|rest| rest.starts_with('.')))
}

/// Whether it is a pack of the methodology that this build does not have.
pub(crate) fn planned_pack(id: &str) -> bool {
    PLANNED_PACKS.contains(&id)
}

/// The pack that a check of the methodology belongs to, when this build does not have it.
pub(crate) fn pack_of_planned_check(id: &str) -> Option<&'static str> {
    if id == "mutating-sql" {
        return Some("db");
    }
    PLANNED_PACKS
        .iter()
        .filter(|pack| id.strip_prefix(**pack).is_some_and(|rest| rest.starts_with('-')))
        .max_by_key(|pack| pack.len())
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_key_is_told_from_an_unknown_one() {
        assert_eq!(reserved("upstream.kind"), Some(Reserved::Planned));
        assert_eq!(reserved("retries.call"), Some(Reserved::Ignored));
        assert_eq!(reserved("retries.other"), None);
        assert_eq!(reserved("concurrency.packs"), Some(Reserved::Ignored));
        assert_eq!(reserved("plugins"), Some(Reserved::Plugins));
        assert_eq!(reserved("upstreams"), None);
        assert!(holds_ignored("retries"));
    }

    #[test]
    fn a_planned_check_names_its_pack() {
        assert_eq!(pack_of_planned_check("sql-guard-rowcap"), Some("sql-guard"));
        assert_eq!(pack_of_planned_check("fs-size-cap"), Some("fs"));
        assert_eq!(pack_of_planned_check("mutating-sql"), Some("db"));
        assert_eq!(pack_of_planned_check("protocol"), None);
    }
}
