//! Texts that must be caught and texts that must pass, rule by rule.

use super::*;
