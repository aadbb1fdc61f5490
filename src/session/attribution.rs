//! Which request an unreadable frame was meant to answer: the top-level `id` in its first or last bytes.

use serde_json::Value;

use super::parse::string_end;

/// Bytes at either end that are searched.
const END: usize = super::frame::END;

/// The id that the frame with these ends answers, when it looks like a JSON-RPC response at all.
pub(super) fn answered(head: &[u8], tail: &[u8]) -> Option<Value> {
    let head = &head[..head.len().min(END)];
    let tail = &tail[tail.len().saturating_sub(END)..];
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if !head.starts_with(b"{") || (find(head, b"\"jsonrpc\"").is_none() && find(tail, b"\"jsonrpc\"").is_none()) {
        return None;
    }
    match in_head(head) {
        Head::Id(id) => Some(id),
        Head::Method => None,
        Head::Neither => in_tail(tail),
    }
}

enum Head {
    Id(Value),
    Method,
    Neither,
}

/// Walks the members of the outermost object as far as the bytes go.
fn in_head(text: &[u8]) -> Head {
    let mut found = Head::Neither;
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some(end) = string_end(text, at) else { break };
                let rest = text[end..].trim_ascii_start();
                if depth == 1 && rest.starts_with(b":") {
                    match &text[at..end] {
                        b"\"id\"" => match scalar(&rest[1..]) {
                            Some((id, _)) if matches!(found, Head::Neither) => found = Head::Id(id),
                            _ => {}
                        },
                        b"\"method\"" => return Head::Method,
                        _ => {}
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The last `"id"` whose object is closed right behind it, together with the whole text.
fn in_tail(text: &[u8]) -> Option<Value> {
    let at = memchr::memmem::rfind(text, b"\"id\"")?;
    let rest = text[at + 4..].trim_ascii_start().strip_prefix(b":")?;
    let (id, rest) = scalar(rest)?;
    let rest = rest.trim_ascii_end().strip_suffix(b"}")?;
    let closes = !rest.iter().any(|byte| matches!(byte, b'{' | b'}' | b'[' | b']'));
    (closes && find(rest, b"\"method\"").is_none()).then_some(id)
}

/// A whole number or a string at the start of `text`, and what follows.
fn scalar(text: &[u8]) -> Option<(Value, &[u8])> {
    let text = text.trim_ascii_start();
    let end = if text.first() == Some(&b'"') {
        string_end(text, 0)?
    } else {
        let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
        if matches!(text.get(end), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        end
    };
    Some((serde_json::from_slice(text.get(..end)?).ok()?, &text[end..]))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn both(text: &str) -> Option<Value> {
        answered(text.as_bytes(), text.as_bytes())
    }

    #[test]
    fn the_outermost_id_is_found_at_either_end() {
        assert_eq!(both(r#"{"jsonrpc":"2.0","id":7,"result":{"id":9,"#), Some(json!(7)));
        assert_eq!(both(r#"{ "jsonrpc" : "2.0", "id" : "7" , "result":"#), Some(json!("7")));
        let long = format!(r#"{{"result":{{"text":"{}"}},"id":12,"jsonrpc":"2.0"}}"#, "x".repeat(9_000));
        assert_eq!(both(&long), Some(json!(12)));
    }

    #[test]
    fn an_inner_id_or_one_within_a_text_is_not_taken() {
        assert_eq!(both(r#"{"jsonrpc":"2.0","result":{"id":7,"#), None);
        assert_eq!(both(r#"{"jsonrpc":"2.0","result":{"id":7}}"#), None);
        assert_eq!(both(r#"{"jsonrpc":"2.0","result":"\"id\":7"}"#), None);
        let long = format!(r#"{{"jsonrpc":"2.0","result":{{"text":"{}","id":12}}}}"#, "x".repeat(9_000));
        assert_eq!(both(&long), None);
    }

    #[test]
    fn requests_log_lines_and_fractions_answer_nothing() {
        assert_eq!(both(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list","#), None);
        assert_eq!(both(r#"{"level":"info","id":7,"text":"#), None);
        assert_eq!(both(r#"[{"jsonrpc":"2.0","id":7"#), None);
        assert_eq!(both(r#"{"jsonrpc":"2.0","id":7.5,"result":1"#), None);
    }
}
