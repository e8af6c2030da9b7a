//! Reads a schema, or names what in it is not understood.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    Keywords, Rule, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, Schema, Type, below, has_exact_numbers, json_bytes,
};

/// Longest name of a keyword that stands in an error, in characters.
const SHOWN_CHARS_MAX: usize = 64;

/// Why a schema is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Too large.
    #[error("it has {found} bytes of JSON; it may have {SCHEMA_BYTES_MAX}")]
    TooLarge {
        /// How large it is.
        found: usize,
    },
    /// Too deep.
    #[error("schemas stand in each other more than {SCHEMA_DEPTH_MAX} deep at `{at}`")]
    TooDeep {
        /// Where.
        at: String,
    },
    /// A keyword that is not understood.
    #[error("the keyword `{keyword}` at `{at}` is not supported")]
    Keyword {
        /// Which.
        keyword: String,
        /// Where.
        at: String,
    },
    /// A keyword that has not the value it should.
    #[error("`{at}` should be {expected}")]
    Value {
        /// Where.
        at: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// When it is too large, or not wholly understood.
    pub fn parse(schema: &Value) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError::Value { at: "#".to_owned(), expected: "an object of keywords" });
        }
        let found = json_bytes(schema);
        if found > SCHEMA_BYTES_MAX {
            return Err(SchemaError::TooLarge { found });
        }
        Ok(Self { root: rule(schema, "#", 1)? })
    }
}

fn rule(schema: &Value, at: &str, depth: usize) -> Result<Rule, SchemaError> {
    if depth > SCHEMA_DEPTH_MAX {
        return Err(SchemaError::TooDeep { at: at.to_owned() });
    }
    match schema {
        Value::Bool(true) => Ok(Rule::Anything),
        Value::Bool(false) => Ok(Rule::Nothing),
        Value::Object(fields) => keywords(fields, at, depth).map(|rules| Rule::Keywords(Box::new(rules))),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(SchemaError::Value { at: at.to_owned(), expected: "a schema: an object, true or false" })
        }
    }
}

fn keywords(fields: &Map<String, Value>, at: &str, depth: usize) -> Result<Keywords, SchemaError> {
    let mut rules = Keywords::default();
    for (keyword, value) in fields {
        let here = below(at, &shown(keyword));
        match keyword.as_str() {
            "type" => rules.types = Some(types(value, &here)?),
            "enum" => rules.one_of = Some(one_of(value, &here)?),
            "const" => rules.exactly = Some(exact(value, &here)?.clone()),
            "properties" => {
                for (name, schema) in object(value, &here)? {
                    rules.properties.insert(name.clone(), rule(schema, &below(&here, name), depth + 1)?);
                }
            }
            "required" => rules.required = required(value, &here)?,
            "additionalProperties" => rules.additional = rule(value, &here, depth + 1)?,
            "items" => rules.items = rule(value, &here, depth + 1)?,
            "minLength" => rules.length.min = Some(count(value, &here)?),
            "maxLength" => rules.length.max = Some(count(value, &here)?),
            "minItems" => rules.count.min = Some(count(value, &here)?),
            "maxItems" => rules.count.max = Some(count(value, &here)?),
            "minimum" => rules.minimum = Some(integer(value, &here)?),
            "maximum" => rules.maximum = Some(integer(value, &here)?),
            // These describe and allow nothing and forbid nothing; the keywords above mean the same in each dialect.
            "title" | "description" | "$comment" | "$schema" => text(value, &here)?,
            _ => return Err(SchemaError::Keyword { keyword: shown(keyword), at: at.to_owned() }),
        }
    }
    Ok(rules)
}

fn wrong(at: &str, expected: &'static str) -> SchemaError {
    SchemaError::Value { at: at.to_owned(), expected }
}

fn types(value: &Value, at: &str) -> Result<Vec<Type>, SchemaError> {
    let expected = "one or more different ones of null, boolean, integer, string, array, object";
    let words = match value {
        Value::Array(words) if !words.is_empty() => words.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut types = Vec::new();
    for word in words {
        let found = word.as_str().and_then(Type::from_word).filter(|found| !types.contains(found));
        types.push(found.ok_or_else(|| wrong(at, expected))?);
    }
    Ok(types)
}

fn one_of(value: &Value, at: &str) -> Result<Vec<Value>, SchemaError> {
    match exact(value, at)? {
        Value::Array(values) if !values.is_empty() => Ok(values.clone()),
        _ => Err(wrong(at, "a list of one or more values")),
    }
}

fn exact<'a>(value: &'a Value, at: &str) -> Result<&'a Value, SchemaError> {
    if has_exact_numbers(value) {
        Ok(value)
    } else {
        Err(wrong(at, "without numbers but integers of at most 53 bits"))
    }
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, SchemaError> {
    value.as_object().ok_or_else(|| wrong(at, "an object"))
}

fn required(value: &Value, at: &str) -> Result<Vec<String>, SchemaError> {
    let expected = "a list of different names";
    let names = value.as_array().ok_or_else(|| wrong(at, expected))?;
    let mut seen = BTreeSet::new();
    for name in names {
        let is_new = name.as_str().is_some_and(|name| seen.insert(name.to_owned()));
        if !is_new {
            return Err(wrong(at, expected));
        }
    }
    Ok(seen.into_iter().collect())
}

fn count(value: &Value, at: &str) -> Result<u64, SchemaError> {
    value.as_u64().ok_or_else(|| wrong(at, "a whole number from 0"))
}

fn integer(value: &Value, at: &str) -> Result<i64, SchemaError> {
    value
        .as_i64()
        .filter(|_| has_exact_numbers(value))
        .ok_or_else(|| wrong(at, "an integer of at most 53 bits"))
}

fn text(value: &Value, at: &str) -> Result<(), SchemaError> {
    if value.is_string() { Ok(()) } else { Err(wrong(at, "a text")) }
}

fn shown(keyword: &str) -> String {
    keyword.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect()
}
