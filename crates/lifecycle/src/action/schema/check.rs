//! Compares a value with a schema and names the first place that does not fit.

use serde_json::{Map, Value};

use super::{Keywords, Rule, Schema, Span, Type, below};

/// Where a value is not what its schema asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` should {expected}")]
pub struct Mismatch {
    /// Where.
    pub at: String,
    /// What it should do.
    pub expected: String,
}

impl Schema {
    /// Checks a value.
    ///
    /// # Errors
    /// When it does not fit; the first place is named.
    pub fn check(&self, value: &Value) -> Result<(), Mismatch> {
        check(&self.root, value, "#")
    }
}

fn require(fits: bool, at: &str, expected: impl FnOnce() -> String) -> Result<(), Mismatch> {
    if fits { Ok(()) } else { Err(Mismatch { at: at.to_owned(), expected: expected() }) }
}

fn check(rule: &Rule, value: &Value, at: &str) -> Result<(), Mismatch> {
    let rules = match rule {
        Rule::Anything => return Ok(()),
        Rule::Nothing => return require(false, at, || "not be there".to_owned()),
        Rule::Keywords(rules) => rules,
    };
    if let Some(types) = &rules.types {
        require(types.contains(&Type::of(value)), at, || {
            let words: Vec<_> = types.iter().map(|allowed| allowed.as_str()).collect();
            format!("be of the type {}", words.join(" or "))
        })?;
    }
    if let Some(values) = &rules.one_of {
        require(values.contains(value), at, || "be one of the values of `enum`".to_owned())?;
    }
    if let Some(exactly) = &rules.exactly {
        require(value == exactly, at, || "be the value of `const`".to_owned())?;
    }
    match value {
        Value::String(text) => check_span(rules.length, text.chars().count(), at, "characters"),
        Value::Number(_) => check_range(rules, value, at),
        Value::Array(items) => check_items(rules, items, at),
        Value::Object(fields) => check_fields(rules, fields, at),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_span(span: Span, found: usize, at: &str, what: &str) -> Result<(), Mismatch> {
    let found = u64::try_from(found).unwrap_or(u64::MAX);
    if let Some(min) = span.min {
        require(found >= min, at, || format!("have at least {min} {what}"))?;
    }
    if let Some(max) = span.max {
        require(found <= max, at, || format!("have at most {max} {what}"))?;
    }
    Ok(())
}

fn check_range(rules: &Keywords, value: &Value, at: &str) -> Result<(), Mismatch> {
    let Some(found) = value.as_i64() else {
        return require(false, at, || "be an integer of at most 53 bits".to_owned());
    };
    if let Some(minimum) = rules.minimum {
        require(found >= minimum, at, || format!("be at least {minimum}"))?;
    }
    if let Some(maximum) = rules.maximum {
        require(found <= maximum, at, || format!("be at most {maximum}"))?;
    }
    Ok(())
}

fn check_items(rules: &Keywords, items: &[Value], at: &str) -> Result<(), Mismatch> {
    check_span(rules.count, items.len(), at, "items")?;
    for (index, item) in items.iter().enumerate() {
        check(&rules.items, item, &below(at, &index.to_string()))?;
    }
    Ok(())
}

fn check_fields(rules: &Keywords, fields: &Map<String, Value>, at: &str) -> Result<(), Mismatch> {
    for name in &rules.required {
        require(fields.contains_key(name), &below(at, name), || "be there".to_owned())?;
    }
    for (name, field) in fields {
        let rule = rules.properties.get(name).unwrap_or(&rules.additional);
        check(rule, field, &below(at, name))?;
    }
    Ok(())
}
