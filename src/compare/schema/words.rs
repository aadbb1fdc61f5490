//! The keywords of JSON Schema: which are understood, which are only compared, which decide nothing.

use serde_json::Value;

use super::alternative::Kind;

/// Values of one `enum`; a longer one is compared for equality alone.
pub(super) const MOST_VALUES: usize = 300;

/// Keywords that say nothing of which values are accepted, or are handled as branches.
pub(super) fn is_silent(word: &str) -> bool {
    !is_understood(word) && !is_opaque(word)
}

/// Keywords that are compared by their meaning.
pub(super) fn is_understood(word: &str) -> bool {
    matches!(
        word,
        "type"
            | "enum"
            | "const"
            | "required"
            | "minLength"
            | "maxLength"
            | "pattern"
            | "format"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "multipleOf"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "$ref"
            | "allOf"
            | "anyOf"
            | "oneOf"
    )
}

/// Keywords that decide, and are compared for equality alone.
pub(super) fn is_opaque(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "minContains"
            | "maxContains"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "dependentSchemas"
            | "dependencies"
            | "$dynamicRef"
            | "$recursiveRef"
    )
}

/// Whether a keyword's value is of the kind that the keyword asks for.
pub(super) fn fits(word: &str, value: &Value) -> bool {
    let names = |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    match word {
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0)
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|step| step > 0.0),
        "pattern" | "format" | "$ref" => value.is_string(),
        "uniqueItems" => value.is_boolean(),
        "required" => names(value),
        "dependentRequired" => value.as_object().is_some_and(|all| all.values().all(names)),
        "properties" | "patternProperties" => value.is_object(),
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => value.is_array(),
        "enum" => value.as_array().is_some_and(|values| values.len() <= MOST_VALUES),
        "items" => value.is_object() || value.is_boolean() || value.is_array(),
        "additionalProperties" | "additionalItems" | "propertyNames" => value.is_object() || value.is_boolean(),
        "type" => match value {
            Value::String(word) => Kind::of_word(word).is_some(),
            Value::Array(words) => words.iter().all(|word| word.as_str().and_then(Kind::of_word).is_some()),
            _ => false,
        },
        _ => true,
    }
}
