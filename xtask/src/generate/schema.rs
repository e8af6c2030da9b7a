//! JSON Schemas as people read them: a type in a few words, an object as a table of its fields.

use serde_json::Value;

use super::page::anchor;

/// The fields of an object as a table, or the words for what is no object.
pub(super) fn fields(schema: &Value) -> String {
    if !schema["properties"].is_object() && schema["type"] != "object" {
        return format!(" {}.\n", words(schema));
    }
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return " none.\n".to_owned();
    };
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|found| found == name));
    let mut table = "\n\n| field | type | | meaning |\n|---|---|---|---|\n".to_owned();
    let (first, second): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| required(name));
    for (name, property) in first.into_iter().chain(second) {
        let need = match (required(name), property.get("default")) {
            (true, _) => "required".to_owned(),
            (false, None | Some(Value::Null)) => "optional".to_owned(),
            (false, Some(default)) => format!("`{default}` if not given"),
        };
        let row =
            format!("| `{name}` | {} | {} | {} |", words(property), cell(&need), cell(&about(property)));
        table.push_str(&row);
        table.push('\n');
    }
    table
}

/// A named type: what it is for, and its words, variants or fields.
pub(super) fn definition(schema: &Value) -> String {
    let mut text = String::new();
    let about = about(schema);
    if !about.is_empty() {
        text.push_str(&format!("{}\n\n", sentence(&about)));
    }
    let Some(variants) = schema["oneOf"].as_array() else {
        if schema["properties"].is_object() {
            text.push_str(fields(schema).trim_start());
        } else {
            text.push_str(&format!("{}.\n", words(schema)));
        }
        return text;
    };
    let is_word = |variant: &Value| variant["const"].is_string() || variant["enum"].is_array();
    if variants.iter().all(is_word) {
        text.push_str("| word | meaning |\n|---|---|\n");
        for variant in variants {
            text.push_str(&format!("| {} | {} |\n", words(variant), cell(&self::about(variant))));
        }
        return text;
    }
    for variant in variants {
        let about = sentence(&self::about(variant));
        text.push_str(&format!("One of: {about}\n\n{}\n", fields(variant).trim()));
        text.push('\n');
    }
    format!("{}\n", text.trim_end())
}

/// A type in a few words.
fn words(schema: &Value) -> String {
    if let Some(target) = schema["$ref"].as_str() {
        if target == "#" {
            return "the same kind".to_owned();
        }
        let name = target.rsplit('/').next().unwrap_or(target);
        return format!("[{name}](#{})", anchor(name));
    }
    if let Some(word) = schema.get("const") {
        return code(&as_word(word));
    }
    if let Some(all) = schema["enum"].as_array() {
        return all.iter().map(|word| code(&as_word(word))).collect::<Vec<_>>().join(", ");
    }
    if let Some(all) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let some = all.iter().filter(|one| one["type"] != "null").map(words);
        return some.collect::<Vec<_>>().join(" or ");
    }
    match kinds(schema).as_slice() {
        [] => "any JSON value".to_owned(),
        kinds => kinds.iter().map(|kind| of_kind(kind, schema)).collect::<Vec<_>>().join(" or "),
    }
}

/// The JSON types that a schema allows, but for null: what may be absent says so elsewhere.
fn kinds(schema: &Value) -> Vec<&str> {
    let listed = schema["type"].as_array().map(|all| all.iter().filter_map(Value::as_str).collect());
    let all: Vec<&str> = listed.unwrap_or_else(|| schema["type"].as_str().into_iter().collect());
    all.into_iter().filter(|kind| *kind != "null").collect()
}

fn of_kind(kind: &str, schema: &Value) -> String {
    match kind {
        "array" => match (schema["prefixItems"].as_array(), schema.get("items")) {
            (Some(parts), _) => format!("list of {}", parts.iter().map(words).collect::<Vec<_>>().join(", ")),
            (None, Some(items)) => format!("list of {}", words(items)),
            (None, None) => "list".to_owned(),
        },
        "object" => match schema.get("additionalProperties").filter(|values| values.is_object()) {
            Some(values) => format!("object of {}", words(values)),
            None => "object".to_owned(),
        },
        "string" => match schema["pattern"].as_str() {
            Some(pattern) => format!("string like {}", code(pattern)),
            None => "string".to_owned(),
        },
        other => other.to_owned(),
    }
}

fn about(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

fn sentence(text: &str) -> String {
    if text.is_empty() || text.ends_with(['.', ':']) { text.to_owned() } else { format!("{text}.") }
}

fn as_word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn code(text: &str) -> String {
    cell(&format!("`{text}`"))
}

/// Text for a cell of a table, where a bar would end it.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '|' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
