//! What a server offers: tools, prompts, resources, instructions, as read from the recorded listings.

use serde_json::Value;

use super::trace::EventRef;

mod lenient;
mod read;

/// One tool as listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name, exactly as listed.
    pub name: String,
    /// The whole entry as the server sent it.
    pub raw: Value,
    /// The listing reply it stands in.
    pub listed_in: EventRef,
}

impl Tool {
    /// The tool's description, when it has a textual one.
    pub fn description(&self) -> Option<&str> {
        self.raw.get("description").and_then(Value::as_str)
    }

    /// The declared input schema, when it is an object.
    pub fn input_schema(&self) -> Option<&Value> {
        self.raw.get("inputSchema").filter(|schema| schema.is_object())
    }

    /// A boolean annotation (`readOnlyHint`), when declared as a boolean.
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.raw.get("annotations")?.get(name)?.as_bool()
    }
}

/// One list (`tools/list`, `prompts/list`, …) as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing<T> {
    /// The entries in order.
    pub entries: Vec<T>,
    /// Whether the server was asked for it.
    pub asked: bool,
    /// Why nothing could be read from it, when that is so (the quoted reason).
    pub rejected: Option<String>,
    /// A bound that ended the paging (`more than 50 pages`, `repeated cursor`).
    pub bound: Option<String>,
    /// Why a page could not be read although others were: the entries are not the whole list.
    pub broken_off: Option<String>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), asked: false, rejected: None, bound: None, broken_off: None }
    }
}

/// The texts of a handshake.
#[derive(Debug, Clone, PartialEq)]
pub struct Greeting {
    /// The reply they stand in.
    pub at: EventRef,
    /// `instructions` as sent.
    pub instructions: Option<String>,
    /// `serverInfo` as sent.
    pub server_info: Option<Value>,
    /// The revision a legacy handshake chose.
    pub revision: Option<String>,
}

/// Everything the server offers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Surface {
    /// `serverInfo` as sent (legacy: of the initialize result; modern: of the discover result's `_meta`).
    pub server_info: Option<Value>,
    /// The reply the handshake fields come from.
    pub handshake: Option<EventRef>,
    /// `instructions` as sent.
    pub instructions: Option<String>,
    /// `capabilities` as sent.
    pub capabilities: Option<Value>,
    /// What a server of both eras says of itself in the era it is not graded in.
    pub other_era: Option<Greeting>,
    /// Revisions the server says it speaks (discover) or the one it chose (initialize).
    pub revisions: Vec<String>,
    /// The tools.
    pub tools: Listing<Tool>,
    /// The prompts: whole entries.
    pub prompts: Listing<(EventRef, Value)>,
    /// The resources: whole entries.
    pub resources: Listing<(EventRef, Value)>,
    /// The resource templates: whole entries.
    pub templates: Listing<(EventRef, Value)>,
}
