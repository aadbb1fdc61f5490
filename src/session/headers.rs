//! HTTP headers: what a frame demands of its request, and what a record may hold of a response's.

use std::time::Duration;

use base64::Engine as _;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;

use super::error::SessionError;
use crate::model::{Era, Revision};

/// Headers of one response that are recorded.
const COUNT: usize = 100;
/// Bytes of one header value that are recorded.
const VALUE: usize = 4096;

pub(super) const SESSION: &str = "mcp-session-id";
pub(super) const PROTOCOL: &str = "mcp-protocol-version";

/// The headers the user asked for.
///
/// # Errors
/// Names the header that cannot be sent, never its value.
pub(super) fn configured(headers: &[(String, String)]) -> Result<HeaderMap, SessionError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let refuse = |why| SessionError::Header { name: name.clone(), why };
        let key = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| refuse("it is no header name"))?;
        let mut value = HeaderValue::from_bytes(value.trim().as_bytes())
            .map_err(|_| refuse("its value holds control characters"))?;
        value.set_sensitive(true);
        map.append(key, value);
    }
    Ok(map)
}

/// The headers that follow from a frame: the revision, and in the modern era its method and name.
/// `word` is the revision as the server spelled it, when that is none we know.
pub(super) fn of_frame(frame: &[u8], era: Era, revision: Revision, word: Option<&str>) -> HeaderMap {
    let mut map = HeaderMap::new();
    let frame: Value = serde_json::from_slice(frame).unwrap_or(Value::Null);
    let method = frame.get("method").and_then(Value::as_str).unwrap_or_default();
    let mut put = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            map.insert(name, value);
        }
    };
    match era {
        Era::Legacy if method == "initialize" => {}
        Era::Legacy => put(PROTOCOL, word.unwrap_or(revision.as_str())),
        Era::Modern => {
            let meta = frame.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str);
            put(PROTOCOL, meta.unwrap_or(revision.as_str()));
            if !method.is_empty() {
                put("mcp-method", method);
            }
            let name = match method {
                "tools/call" | "prompts/get" => frame.pointer("/params/name"),
                "resources/read" => frame.pointer("/params/uri"),
                _ => None,
            };
            if let Some(name) = name.and_then(Value::as_str) {
                put("mcp-name", &spelled(name));
            }
        }
    }
    map
}

/// A value as `Mcp-Name` spells it: as it is, or in base64 where a header could not carry it.
fn spelled(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if plain {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(value))
    }
}

/// A response's headers as they are recorded; values that are secrets are left out.
pub(super) fn recorded(headers: &HeaderMap) -> Vec<(String, String)> {
    let secret = |name: &str| {
        matches!(name, "set-cookie" | "authorization" | "proxy-authorization" | "authentication-info" | "x-api-key")
    };
    headers
        .iter()
        .take(COUNT)
        .map(|(name, value)| {
            let bytes = value.as_bytes();
            let text = if secret(name.as_str()) {
                String::new()
            } else {
                String::from_utf8_lossy(&bytes[..bytes.len().min(VALUE)]).into_owned()
            };
            (name.as_str().to_owned(), text)
        })
        .collect()
}

/// Whether a response only says that it comes too soon (429, or 503 with `Retry-After`), and how long to wait: as long as
/// it says in seconds, half a second when it does not say.
pub(super) fn too_often(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let after = headers.get("retry-after");
    let applies =
        status == StatusCode::TOO_MANY_REQUESTS || (status == StatusCode::SERVICE_UNAVAILABLE && after.is_some());
    let seconds = after.and_then(|value| value.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
    applies.then(|| seconds.unwrap_or(Duration::from_millis(500)))
}

/// The media type of a response, lower case, without parameters.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get("content-type").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_rate_is_told_from_a_refusal() {
        let after = |value: &str| HeaderMap::from_iter([(reqwest::header::RETRY_AFTER, value.parse().unwrap())]);
        let seconds = |count| Some(Duration::from_secs(count));
        assert_eq!(too_often(StatusCode::TOO_MANY_REQUESTS, &after("3")), seconds(3));
        assert_eq!(too_often(StatusCode::SERVICE_UNAVAILABLE, &after("1")), seconds(1));
        assert!(too_often(StatusCode::TOO_MANY_REQUESTS, &after("Fri, 31 Dec 1999 23:59:59 GMT")).is_some());
        assert!(too_often(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new()).is_some());
        assert_eq!(too_often(StatusCode::SERVICE_UNAVAILABLE, &HeaderMap::new()), None);
        assert_eq!(too_often(StatusCode::BAD_REQUEST, &after("3")), None);
    }

    #[test]
    fn modern_frames_name_their_method_and_target() {
        let frame = br#"{"method":"tools/call","params":{"name":"l\u00f6schen"}}"#;
        let map = of_frame(frame, Era::Modern, Revision::V2026_07_28, None);
        assert_eq!(map["mcp-method"], "tools/call");
        assert_eq!(map["mcp-name"], "=?base64?bMO2c2NoZW4=?=");
        assert_eq!(map[PROTOCOL], "2026-07-28");
        let frame = br#"{"method":"resources/read","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}"#;
        let map = of_frame(frame, Era::Modern, Revision::V2026_07_28, None);
        assert_eq!((map["mcp-name"].as_bytes(), map[PROTOCOL].as_bytes()), (&b"a:b"[..], &b"x"[..]));
    }

    #[test]
    fn values_a_header_would_change_are_encoded() {
        for value in [" a", "a ", "a\nb", "é", "=?base64?eA==?="] {
            assert!(spelled(value).starts_with("=?base64?"), "{value}");
            assert_ne!(spelled(value), value);
        }
        assert_eq!(spelled("read file"), "read file");
    }

    #[test]
    fn legacy_frames_carry_the_revision_after_the_handshake_only() {
        assert!(of_frame(br#"{"method":"initialize"}"#, Era::Legacy, Revision::NEWEST_LEGACY, None).is_empty());
        let map = of_frame(br#"{"method":"ping"}"#, Era::Legacy, Revision::NEWEST_LEGACY, Some("2099-01-01"));
        assert_eq!(map[PROTOCOL], "2099-01-01");
        assert_eq!(map.len(), 1);
    }

    #[test]
    fn secrets_and_control_characters_stay_out() {
        let mut map = HeaderMap::new();
        map.insert("set-cookie", HeaderValue::from_static("a=b"));
        map.insert("x-kind", HeaderValue::from_static("c"));
        assert_eq!(recorded(&map), [("set-cookie".to_owned(), String::new()), ("x-kind".to_owned(), "c".to_owned())]);
        let refused = configured(&[("X-A".to_owned(), "se\ncret".to_owned())]).unwrap_err().to_string();
        assert!(refused.contains("X-A") && !refused.contains("cret"), "{refused}");
        assert!(configured(&[("a b".to_owned(), String::new())]).is_err());
    }
}
