//! A quotation in a line of evidence.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::value::RawValue;

/// What was sent or what came back. It is held as the JSON string that it is in a report until somebody wants the text: most
/// of a fleet's report are quotations that no page shows, and undoing their escapes takes longer than all the rest.
#[derive(Clone)]
pub struct Quote(Box<str>);

impl Quote {
    /// The quotation of that text.
    pub fn new(text: &str) -> Self {
        Self(serde_json::Value::from(text).to_string().into_boxed_str())
    }

    /// The text.
    pub fn text(&self) -> Cow<'_, str> {
        let inner = self.0.get(1..self.0.len() - 1).unwrap_or_default();
        if inner.contains('\\') {
            Cow::Owned(serde_json::from_str(&self.0).expect("it was parsed when it was read"))
        } else {
            Cow::Borrowed(inner)
        }
    }
}

impl std::fmt::Debug for Quote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Quote {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Quote {}

impl Serialize for Quote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Quote {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        // A value that is skipped is held to the grammar alone: half of a surrogate pair passes it and is no text.
        if !raw.starts_with('"') || raw.contains("\\u") {
            serde_json::from_str::<String>(&raw).map_err(|error| {
                let message = error.to_string();
                D::Error::custom(message.split(" at line ").next().unwrap_or_default())
            })?;
        }
        Ok(Self(raw))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_the_same_after_writing_and_reading(text in any::<String>(), raw in "[a\"\\\\/\u{e9}\u{7}]{0,9}") {
            for text in [text, raw] {
                let quote = Quote::new(&text);
                prop_assert_eq!(quote.text(), text.as_str());
                let written = serde_json::to_string(&quote).expect("JSON");
                prop_assert_eq!(&written, &serde_json::to_string(&text).expect("JSON"));
                prop_assert_eq!(&serde_json::from_str::<Quote>(&written).expect("a quotation"), &quote);
                let value = serde_json::to_value(&quote).expect("JSON");
                prop_assert_eq!(&serde_json::from_value::<Quote>(value).expect("a quotation"), &quote);
            }
        }
    }

    #[test]
    fn spellings_of_one_text_are_the_same_quotation() {
        let read = |json: &str| serde_json::from_str::<Quote>(json).expect("a quotation");
        assert_eq!(read(r#""a\/\u0062""#), read(r#" "a/b" "#));
        assert_ne!(read(r#""a\\u0062""#), read(r#""ab""#));
        assert_eq!(read(r#""\ud83d\ude00""#).text(), "\u{1f600}");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for wrong in
            ["1", "null", "{}", "[\"a\"]", r#""\ud800""#, r#""\udc00\ud800""#, "\"\u{1}\"", "\"open", r#""\x""#]
        {
            assert!(serde_json::from_str::<Quote>(wrong).is_err(), "{wrong}");
        }
        let error = serde_json::from_str::<Quote>("1").expect_err("no text").to_string();
        assert!(error.contains("invalid type: integer `1`, expected a string"), "{error}");
    }
}
