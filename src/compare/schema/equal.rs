//! Equality of JSON values: as JSON Schema means it, and of whole documents within a budget.

use serde_json::{Number, Value};

use super::Budget;

/// Integers below this magnitude are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether two values are equal as JSON Schema means it: `1` is `1.0`, and members have no order.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || exact(left).is_some_and(|one| Some(one) == exact(right))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| same(left, right)))
        }
        (left, right) => left == right,
    }
}

/// The number as a double that lost nothing.
pub(super) fn exact(number: &Number) -> Option<f64> {
    number.as_f64().filter(|number| number.abs() < EXACT)
}

/// Whether two documents are equal but for the order of members; `false` when the budget does not reach to tell.
pub(super) fn identical(left: &Value, right: &Value, budget: &mut Budget) -> bool {
    let mut pending = vec![(left, right)];
    while let Some((left, right)) = pending.pop() {
        if std::ptr::eq(left, right) {
            continue;
        }
        if !budget.take(1) {
            return false;
        }
        match (left, right) {
            (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
                pending.extend(left.iter().zip(right));
            }
            (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
                for (name, left) in left {
                    let Some(right) = right.get(name) else { return false };
                    pending.push((left, right));
                }
            }
            (Value::Array(_) | Value::Object(_), _) => return false,
            (left, right) if left != right => return false,
            _ => {}
        }
    }
    true
}
