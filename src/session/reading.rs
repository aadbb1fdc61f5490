//! What a response amounts to: the text a reader would see, an error's words.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::model::Outcome;

/// Bytes of readable text an outcome holds.
pub(super) const TEXT: usize = 64 * 1024;

/// The outcome of a JSON-RPC result.
pub(super) fn result(result: &Value) -> Outcome {
    let mut text = Text::default();
    for key in ["content", "contents"] {
        for block in result.get(key).and_then(Value::as_array).into_iter().flatten() {
            text.block(block);
        }
    }
    for message in result.get("messages").and_then(Value::as_array).into_iter().flatten() {
        match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().for_each(|block| text.block(block)),
            Some(block) => text.block(block),
            None => {}
        }
    }
    if let Some(structured) = result.get("structuredContent") {
        text.json(structured);
    }
    Outcome::Result { is_error: result.get("isError").and_then(Value::as_bool), text: text.finish() }
}

/// The outcome of a JSON-RPC error.
pub(super) fn error(error: &Value) -> Outcome {
    let mut text = Text::default();
    match error.get("message") {
        Some(Value::String(message)) => text.line(message),
        Some(other) => text.json(other),
        None => {}
    }
    match error.get("data") {
        Some(Value::String(data)) => text.line(data),
        Some(Value::Null) | None => {}
        Some(data) => text.json(data),
    }
    Outcome::Error { code: error.get("code").and_then(Value::as_i64), message: text.finish() }
}

/// Shortens the text of an outcome to `limit` bytes.
pub(super) fn cut(outcome: &mut Outcome, limit: usize) {
    let text = match outcome {
        Outcome::Result { text, .. } => text,
        Outcome::Error { message, .. } => message,
        Outcome::Malformed { why } => why,
    };
    text.truncate(floor(text, limit));
    text.shrink_to_fit();
}

fn floor(text: &str, limit: usize) -> usize {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Lines up to a bound.
#[derive(Default)]
struct Text(Vec<u8>);

impl Text {
    fn block(&mut self, block: &Value) {
        if let Some(text) = block.get("text").and_then(Value::as_str) {
            self.line(text);
        }
        if let Some(text) = block.pointer("/resource/text").and_then(Value::as_str) {
            self.line(text);
        }
    }

    fn line(&mut self, text: &str) {
        self.separate();
        // A full buffer is the bound, no failure.
        let _ = self.write_all(text.as_bytes());
    }

    fn json(&mut self, value: &Value) {
        self.separate();
        let _ = value.serialize(&mut serde_json::Serializer::new(&mut *self));
    }

    fn separate(&mut self) {
        if !self.0.is_empty() {
            let _ = self.write_all(b"\n");
        }
    }

    fn finish(self) -> String {
        let mut text = match String::from_utf8(self.0) {
            Ok(text) => text,
            // Only the cut at the bound can split a character.
            Err(error) => {
                let end = error.utf8_error().valid_up_to();
                String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned()
            }
        };
        text.shrink_to_fit();
        text
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(TEXT - self.0.len());
        self.0.extend_from_slice(&bytes[..taken]);
        // Zero tells a serializer to stop.
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_readable_text_is_joined() {
        let outcome = result(&json!({
            "isError": true,
            "content": [
                { "type": "text", "text": "one" },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                { "type": "resource", "resource": { "uri": "x:y", "text": "two" } },
                5,
            ],
            "structuredContent": { "a": [1] },
        }));
        assert_eq!(outcome, Outcome::Result { is_error: Some(true), text: "one\ntwo\n{\"a\":[1]}".to_owned() });
        let prompt = result(&json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "hi" } }] }));
        assert_eq!(prompt, Outcome::Result { is_error: None, text: "hi".to_owned() });
    }

    #[test]
    fn texts_end_at_the_bound_between_characters() {
        let Outcome::Result { text, .. } =
            result(&json!({ "content": [{ "text": "é".repeat(TEXT) }], "structuredContent": [1] }))
        else {
            panic!()
        };
        assert_eq!(text.len(), TEXT);
        let Outcome::Result { mut text, .. } =
            result(&json!({ "content": [{ "text": format!("x{}", "é".repeat(TEXT)) }] }))
        else {
            panic!()
        };
        assert_eq!(text.len(), TEXT - 1);
        text.truncate(5);
        let mut outcome = Outcome::Error { code: None, message: text };
        cut(&mut outcome, 4);
        assert_eq!(outcome, Outcome::Error { code: None, message: "xé".to_owned() });
    }

    #[test]
    fn an_error_shows_its_message_and_data() {
        let outcome = error(&json!({ "code": -32602, "message": "bad", "data": { "path": "x" } }));
        assert_eq!(outcome, Outcome::Error { code: Some(-32602), message: "bad\n{\"path\":\"x\"}".to_owned() });
        assert_eq!(error(&json!({ "code": "x" })), Outcome::Error { code: None, message: String::new() });
    }
}
