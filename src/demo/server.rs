//! The demo server's protocol: JSON-RPC, both eras, lists with cursors, errors with the codes the specification gives them.

use serde_json::{Map, Value, json};

use super::{Mode, broken, catalog, tools};
use crate::model::Revision;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
/// Legacy revisions only; modern ones answer with [`INVALID_PARAMS`].
const RESOURCE_NOT_FOUND: i64 = -32002;
const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Entries on one page of a list.
const PAGE: usize = 4;
/// How long a client may keep a list or a note: they never change.
const TTL_MS: u64 = 3_600_000;
/// Messages in one batch (only revision 2025-03-26 has batches).
const MAX_BATCH: usize = 100;

/// A JSON-RPC error.
struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Fault {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

type Answer = Result<Map<String, Value>, Fault>;
type Params = Map<String, Value>;

/// One conversation.
pub(super) struct Server {
    mode: Mode,
    secret: Option<String>,
    /// What `initialize` settled on.
    revision: Option<Revision>,
}

impl Server {
    pub(super) fn new(mode: Mode, secret: Option<&str>) -> Self {
        Self { mode, secret: secret.map(str::to_owned), revision: None }
    }

    /// The answer to a line that exceeds `limit` bytes.
    pub(super) fn too_long(&self, limit: u64) -> Value {
        self.error(None, Fault::new(INVALID_REQUEST, format!("the message is longer than {limit} bytes")))
    }

    /// The answer to one line; none for notifications and responses.
    pub(super) fn answer(&mut self, line: &[u8]) -> Option<Value> {
        match serde_json::from_slice(line) {
            Err(_) => Some(self.error(None, Fault::new(PARSE_ERROR, "the message is not JSON in UTF-8"))),
            Ok(Value::Object(message)) => self.message(message),
            Ok(Value::Array(batch)) if self.revision == Some(Revision::V2025_03_26) => self.batch(batch),
            Ok(_) => Some(self.error(None, Fault::new(INVALID_REQUEST, "a message is one JSON object"))),
        }
    }

    fn batch(&mut self, batch: Vec<Value>) -> Option<Value> {
        if batch.is_empty() || batch.len() > MAX_BATCH {
            let why = format!("a batch has between 1 and {MAX_BATCH} messages");
            return Some(self.error(None, Fault::new(INVALID_REQUEST, why)));
        }
        let answer = |message| match message {
            Value::Object(message) => self.message(message),
            _ => Some(self.error(None, Fault::new(INVALID_REQUEST, "a message is one JSON object"))),
        };
        let answers: Vec<Value> = batch.into_iter().filter_map(answer).collect();
        (!answers.is_empty()).then_some(Value::Array(answers))
    }

    fn message(&mut self, mut message: Map<String, Value>) -> Option<Value> {
        let id = message.remove("id");
        let usable = id.as_ref().is_some_and(|id| id.is_string() || id.is_i64() || id.is_u64());
        let invalid = |why| Fault::new(INVALID_REQUEST, why);
        let fault = match (message.get("jsonrpc").and_then(Value::as_str), message.get("method")) {
            (Some("2.0"), Some(Value::String(_))) if id.is_none() => return None,
            (Some("2.0"), Some(Value::String(_))) if usable => None,
            (Some("2.0"), Some(Value::String(_))) => Some(invalid("`id` must be a string or an integer")),
            (Some("2.0"), None) if message.contains_key("result") || message.contains_key("error") => return None,
            (Some("2.0"), _) => Some(invalid("`method` must be a string")),
            _ => Some(invalid("`jsonrpc` must be \"2.0\"")),
        };
        let id = id.filter(|_| usable);
        if let Some(fault) = fault {
            return Some(self.error(id, fault));
        }
        let params = match message.remove("params") {
            None => Ok(Map::new()),
            Some(Value::Object(params)) => Ok(params),
            Some(_) => Err(Fault::new(INVALID_PARAMS, "`params` must be an object")),
        };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        Some(match params.and_then(|params| self.request(method, &params)) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(fault) => self.error(id, fault),
        })
    }

    /// An error response. Without an id it has none where the schema allows that, and `null` as JSON-RPC says elsewhere.
    fn error(&self, id: Option<Value>, fault: Fault) -> Value {
        let mut error = json!({ "code": fault.code, "message": fault.message });
        if let Some(data) = fault.data {
            error["data"] = data;
        }
        let has_null = self.revision.is_some_and(|revision| revision < Revision::V2025_11_25);
        match id.or_else(|| has_null.then_some(Value::Null)) {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "error": error }),
        }
    }

    fn request(&mut self, method: &str, params: &Params) -> Answer {
        let meta = params.get("_meta").and_then(Value::as_object);
        if method == "server/discover" || meta.is_some_and(|meta| meta.contains_key(META_VERSION)) {
            require_modern(meta)?;
            return self.modern(method, params);
        }
        match method {
            "initialize" => self.initialize(params),
            "ping" => Ok(Map::new()),
            _ if self.revision.is_none() => Err(Fault::new(
                INVALID_PARAMS,
                format!("send `initialize` first, or name a revision in `params._meta[\"{META_VERSION}\"]`"),
            )),
            _ => self.either_era(method, params, RESOURCE_NOT_FOUND),
        }
    }

    fn modern(&self, method: &str, params: &Params) -> Answer {
        let mut result = match method {
            "server/discover" => members(json!({
                "supportedVersions": [Revision::NEWEST_MODERN],
                "capabilities": capabilities(),
                "instructions": self.instructions(),
            })),
            _ => self.either_era(method, params, INVALID_PARAMS)?,
        };
        result.insert("resultType".to_owned(), json!("complete"));
        if !matches!(method, "tools/call" | "prompts/get") {
            result.insert("ttlMs".to_owned(), json!(TTL_MS));
            result.insert("cacheScope".to_owned(), json!("public"));
        }
        result.insert("_meta".to_owned(), json!({ META_SERVER: catalog::server_info() }));
        Ok(result)
    }

    fn initialize(&mut self, params: &Params) -> Answer {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let asked = asked.ok_or_else(|| Fault::new(INVALID_PARAMS, "`protocolVersion` must be a string"))?;
        if !params.get("capabilities").is_some_and(Value::is_object) {
            return Err(Fault::new(INVALID_PARAMS, "`capabilities` must be an object"));
        }
        let named = |key| params.get("clientInfo").and_then(|client| client.get(key)).is_some_and(Value::is_string);
        if !named("name") || !named("version") {
            return Err(Fault::new(INVALID_PARAMS, "`clientInfo` must have a `name` and a `version`"));
        }
        let spoken = Revision::parse(asked).filter(|revision| *revision <= Revision::NEWEST_LEGACY);
        let revision = *self.revision.insert(spoken.unwrap_or(Revision::NEWEST_LEGACY));
        Ok(members(json!({
            "protocolVersion": revision,
            "capabilities": capabilities(),
            "serverInfo": catalog::server_info(),
            "instructions": self.instructions(),
        })))
    }

    fn instructions(&self) -> &'static str {
        match self.mode {
            Mode::Honest => catalog::INSTRUCTIONS,
            Mode::Broken => broken::INSTRUCTIONS,
        }
    }

    fn either_era(&self, method: &str, params: &Params, not_found: i64) -> Answer {
        match method {
            "tools/list" => page("tools", catalog::tools(self.mode), params),
            "tools/call" => self.call(params),
            "prompts/list" => page("prompts", catalog::prompts(), params),
            "prompts/get" => prompt(params),
            "resources/list" => page("resources", catalog::resources(), params),
            "resources/templates/list" => page("resourceTemplates", catalog::templates(), params),
            "resources/read" => read(params, not_found),
            _ => Err(Fault::new(METHOD_NOT_FOUND, format!("there is no method `{}`", tools::brief(method)))),
        }
    }

    fn call(&self, params: &Params) -> Answer {
        let name = text(params, "name")?;
        let none = Map::new();
        let arguments = match params.get("arguments") {
            None => &none,
            Some(Value::Object(arguments)) => arguments,
            Some(_) => {
                return Err(Fault::new(INVALID_PARAMS, "`arguments` must be an object; leave it out to pass none"));
            }
        };
        let outcome = tools::call(self.mode, self.secret.as_deref(), name, arguments).ok_or_else(|| {
            let why = format!("there is no tool `{}`; call tools/list to see which there are", tools::brief(name));
            Fault::new(INVALID_PARAMS, why)
        })?;
        Ok(members(match outcome {
            Ok(value) => {
                json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value, "isError": false })
            }
            Err(refusal) => json!({ "content": [{ "type": "text", "text": refusal }], "isError": true }),
        }))
    }
}

/// What every modern request must carry (specification 2026-07-28, `basic/index`, `_meta`).
fn require_modern(meta: Option<&Map<String, Value>>) -> Result<(), Fault> {
    let Some(version) = meta.and_then(|meta| meta.get(META_VERSION)).and_then(Value::as_str) else {
        return Err(Fault::new(INVALID_PARAMS, format!("`params._meta[\"{META_VERSION}\"]` must be a string")));
    };
    if version != Revision::NEWEST_MODERN.as_str() {
        return Err(Fault {
            code: UNSUPPORTED_PROTOCOL_VERSION,
            message: "unsupported protocol version".to_owned(),
            data: Some(json!({ "supported": [Revision::NEWEST_MODERN], "requested": version })),
        });
    }
    if !meta.and_then(|meta| meta.get(META_CAPABILITIES)).is_some_and(Value::is_object) {
        return Err(Fault::new(INVALID_PARAMS, format!("`params._meta[\"{META_CAPABILITIES}\"]` must be an object")));
    }
    Ok(())
}

fn capabilities() -> Value {
    json!({ "tools": {}, "prompts": {}, "resources": {} })
}

/// One page of a list. The cursor is the number of entries before it.
fn page(key: &str, entries: Vec<Value>, params: &Params) -> Answer {
    let start = match params.get("cursor") {
        None => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|cursor| cursor.strip_prefix("after-")?.parse::<usize>().ok())
            .filter(|start| *start > 0 && *start < entries.len() && start % PAGE == 0)
            .ok_or_else(|| Fault::new(INVALID_PARAMS, "that cursor is none of ours; start again without one"))?,
    };
    let more = entries.len() > start + PAGE;
    let mut result = Map::new();
    result.insert(key.to_owned(), entries.into_iter().skip(start).take(PAGE).collect());
    if more {
        result.insert("nextCursor".to_owned(), json!(format!("after-{}", start + PAGE)));
    }
    Ok(result)
}

fn prompt(params: &Params) -> Answer {
    if text(params, "name")? != "summarize_notes" {
        return Err(Fault::new(INVALID_PARAMS, "there is no such prompt; call prompts/list to see which there are"));
    }
    let topic = params.get("arguments").and_then(|arguments| arguments.get("topic")).and_then(Value::as_str);
    let topic = topic.filter(|topic| !topic.is_empty() && topic.chars().count() <= 200);
    let topic = topic.ok_or_else(|| Fault::new(INVALID_PARAMS, "`topic` must be a text of 1 to 200 characters"))?;
    let text = format!("Use search_notes to find the notes about \"{topic}\" and summarize them in two sentences.");
    Ok(members(json!({
        "description": "A short summary of the notes on a topic.",
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    })))
}

fn read(params: &Params, not_found: i64) -> Answer {
    let uri = text(params, "uri")?;
    let note = catalog::note(uri).ok_or_else(|| {
        Fault::new(not_found, "there is no such resource; call resources/list to see which there are")
    })?;
    Ok(members(json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": note.text }] })))
}

fn text<'p>(params: &'p Params, key: &str) -> Result<&'p str, Fault> {
    let found = params.get(key).and_then(Value::as_str);
    found.ok_or_else(|| Fault::new(INVALID_PARAMS, format!("`{key}` must be a string")))
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
