//! Whether an answer fits its question.

use edgeplane_types::decision::Action;
use serde_json::Value;

use super::schema::{Mismatch, Schema, SchemaError, has_exact_numbers, json_bytes};

/// Longest answer in bytes of JSON: it stands in the record as it is.
pub const ANSWER_BYTES_MAX: usize = 16_384;

/// Why an answer does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Too long.
    #[error("it has {found} bytes of JSON; it may have {ANSWER_BYTES_MAX}")]
    TooLong {
        /// How long it is.
        found: usize,
    },
    /// The record holds no such number.
    #[error("it has a number that is not an integer of at most 53 bits")]
    Number,
    /// None of the choices.
    #[error("it is none of the choices: {choices}")]
    NoChoice {
        /// The values that may be given.
        choices: String,
    },
    /// Not what the schema asks for.
    #[error("it is not what the schema asks for: {0}")]
    Mismatch(Mismatch),
    /// The schema of a recorded action is not understood.
    #[error("the schema of the question cannot be used")]
    Schema(#[source] SchemaError),
    /// Not words.
    #[error("it is not a text")]
    NoText,
}

/// Checks an answer: one of the choices, a value of the schema, or words.
pub(super) fn check_answer(action: &Action, value: &Value) -> Result<(), AnswerError> {
    let found = json_bytes(value);
    if found > ANSWER_BYTES_MAX {
        return Err(AnswerError::TooLong { found });
    }
    if !has_exact_numbers(value) {
        return Err(AnswerError::Number);
    }
    if let Some(schema) = &action.schema {
        let schema = Schema::parse(schema).map_err(AnswerError::Schema)?;
        return schema.check(value).map_err(AnswerError::Mismatch);
    }
    let Value::String(text) = value else {
        return Err(AnswerError::NoText);
    };
    if action.choices.is_empty() || action.choices.iter().any(|choice| choice.value.as_str() == text) {
        return Ok(());
    }
    let choices: Vec<_> = action.choices.iter().map(|choice| choice.value.as_str()).collect();
    Err(AnswerError::NoChoice { choices: choices.join(", ") })
}
