//! The messages we send.

use serde_json::{Value, json};

use crate::model::Revision;

/// Adds the `_meta` members that every modern request carries, keeping what is there.
pub(super) fn modern(params: Value, revision: Revision) -> Value {
    let mut params = match params {
        Value::Null => json!({}),
        params => params,
    };
    if let Some(members) = params.as_object_mut() {
        let meta = members.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            let mut fill = |name: &str, value: Value| {
                meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
            };
            fill("protocolVersion", Value::from(revision.as_str()));
            fill("clientInfo", client_info());
            fill("clientCapabilities", json!({}));
        }
    }
    params
}

/// Who we say we are.
pub(super) fn client_info() -> Value {
    json!({ "name": "sealmark", "version": env!("CARGO_PKG_VERSION") })
}

/// A request, or a notification when it has no id.
pub(super) fn framed(id: Option<u64>, method: &str, params: Value) -> Vec<u8> {
    let mut frame = serde_json::Map::new();
    frame.insert("jsonrpc".to_owned(), Value::from("2.0"));
    if let Some(id) = id {
        frame.insert("id".to_owned(), Value::from(id));
    }
    frame.insert("method".to_owned(), Value::from(method));
    if !params.is_null() {
        frame.insert("params".to_owned(), params);
    }
    Value::Object(frame).to_string().into_bytes()
}
