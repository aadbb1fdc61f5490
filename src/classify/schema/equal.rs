//! Equality and order of JSON values, with doubt where floating point loses digits.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::Admits;

/// Integers up to this magnitude are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether two values are equal as JSON Schema means it (`1` equals `1.0`, objects regardless of order).
/// `steps` is charged per node; at zero the answer is `Unsure`.
pub(super) fn same(left: &Value, right: &Value, steps: &mut u32) -> Admits {
    if *steps == 0 {
        return Admits::Unsure;
    }
    *steps -= 1;
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match order(left, right) {
            Some(order) => Admits::from_bool(order == Ordering::Equal),
            None => Admits::Unsure,
        },
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Admits::No;
            }
            left.iter().zip(right).fold(Admits::Yes, |so_far, (left, right)| match so_far {
                Admits::No => Admits::No,
                so_far => so_far.and(same(left, right, steps)),
            })
        }
        (Value::Object(left), Value::Object(right)) => {
            if left.len() != right.len() {
                return Admits::No;
            }
            left.iter().fold(Admits::Yes, |so_far, (key, left)| match (so_far, right.get(key)) {
                (Admits::No, _) | (_, None) => Admits::No,
                (so_far, Some(right)) => so_far.and(same(left, right, steps)),
            })
        }
        (left, right) => Admits::from_bool(left == right),
    }
}

/// The order of two numbers; none where a double may have lost digits.
pub(super) fn order(left: &Number, right: &Number) -> Option<Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => {
            let (left, right) = (left.as_f64()?, right.as_f64()?);
            // Beyond the exact range only a clear distance is certain.
            if (left.abs() > EXACT || right.abs() > EXACT) && (left - right).abs() <= left.abs().max(right.abs()) * 1e-9
            {
                return None;
            }
            left.partial_cmp(&right)
        }
    }
}

/// The number as an integer when it is written as one, or is a whole double that lost nothing.
pub(super) fn whole(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i64() {
        return Some(i128::from(value));
    }
    if let Some(value) = number.as_u64() {
        return Some(i128::from(value));
    }
    let value = number.as_f64()?;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i128)
}
