//! The schemas that an answer may have: a closed part of JSON Schema, read whole or refused.
//!
//! A keyword that is not understood is refused by its name when the action is opened, because a rule that is passed
//! over lets an answer through that whoever asked did not allow. `pattern` is left out on purpose: a regular
//! expression of a stranger is a program. The `jsonschema` crate was not taken: it brings over fifty crates, among
//! them two engines for regular expressions and a source of randomness, for the dozen keywords of a form.
//!
//! Numbers are integers of at most 53 bits, as everywhere in the record.

mod check;
mod parse;

use std::collections::BTreeMap;

use serde_json::Value;

pub use check::Mismatch;
pub use parse::SchemaError;

/// Largest schema in bytes of JSON.
pub const SCHEMA_BYTES_MAX: usize = 16_384;

/// How deep schemas may stand in each other. Both reading and checking go that deep and no deeper.
pub const SCHEMA_DEPTH_MAX: usize = 16;

/// Largest integer that every reader of JSON reads exactly: 2^53 - 1.
const INTEGER_MAX: u64 = (1 << 53) - 1;

/// A schema that was read whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    root: Rule,
}

/// What one place of a value may hold.
#[derive(Debug, Clone, Default, PartialEq)]
enum Rule {
    /// `true`, or nothing said.
    #[default]
    Anything,
    /// `false`.
    Nothing,
    /// An object of keywords.
    Keywords(Box<Keywords>),
}

/// Keywords that say something; those that only describe are passed over.
#[derive(Debug, Clone, Default, PartialEq)]
struct Keywords {
    /// `type`; none: any.
    types: Option<Vec<Type>>,
    /// `enum`.
    one_of: Option<Vec<Value>>,
    /// `const`.
    exactly: Option<Value>,
    /// `properties`.
    properties: BTreeMap<String, Rule>,
    /// `required`.
    required: Vec<String>,
    /// `additionalProperties`.
    additional: Rule,
    /// `items`.
    items: Rule,
    /// `minLength` and `maxLength`, in characters.
    length: Span,
    /// `minItems` and `maxItems`.
    count: Span,
    /// `minimum` and `maximum`.
    minimum: Option<i64>,
    maximum: Option<i64>,
}

/// A lowest and a highest number of things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Span {
    min: Option<u64>,
    max: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Null,
    Boolean,
    Integer,
    String,
    Array,
    Object,
}

impl Type {
    const ALL: [Self; 6] =
        [Self::Null, Self::Boolean, Self::Integer, Self::String, Self::Array, Self::Object];

    fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == word)
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

/// Where something stands in a schema or a value: a JSON pointer behind `#`.
fn below(at: &str, step: &str) -> String {
    format!("{at}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The size of a value as JSON without blanks.
pub(super) fn json_bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// Whether every number of a value is an integer that every reader of JSON reads exactly.
///
/// It goes as deep as the value, which a parser of JSON has bounded.
pub(super) fn has_exact_numbers(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            size.is_some_and(|size| size <= INTEGER_MAX)
        }
        Value::Array(items) => items.iter().all(has_exact_numbers),
        Value::Object(fields) => fields.values().all(has_exact_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests;
