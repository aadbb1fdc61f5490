//! The tools of the pinned public servers, for tests.

use serde_json::Value;

use crate::model::{EventRef, Tool};

/// Every tool of `tests/data/listings`, in the files' order.
pub(super) fn tools() -> Vec<Tool> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/listings");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let listing: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for raw in listing["tools"].as_array().unwrap() {
            tools.push(Tool {
                name: raw["name"].as_str().unwrap().to_owned(),
                raw: raw.clone(),
                listed_in: EventRef(0),
            });
        }
    }
    tools
}
