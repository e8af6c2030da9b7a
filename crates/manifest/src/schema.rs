//! The JSON Schema of a manifest, generated from the types.

use std::sync::OnceLock;

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::Value;

use crate::{AutomationManifest, ConnectorManifest, Manifest, ScheduleManifest, WorkflowManifest};

/// Address of the schema. It names the schema and need not be reachable.
pub const SCHEMA_ID: &str = "https://edgeplane.dev/schemas/v1alpha1/manifest.schema.json";

/// What a document declares: an agent, a schedule for one, a connector, an automation, or a workflow.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used: the kind of a document decides how it is read")]
enum Document {
    Agent(Box<Manifest>),
    Schedule(Box<ScheduleManifest>),
    Connector(Box<ConnectorManifest>),
    Automation(Box<AutomationManifest>),
    Workflow(Box<WorkflowManifest>),
}

/// The JSON Schema (draft 2020-12) of one document, with its keys in reading order when printed.
///
/// Beside the vocabulary of JSON Schema it has `x-edgeplane-min` and `x-edgeplane-max`: bounds of a quantity, in the
/// quantity's own spelling.
#[must_use]
pub fn schema() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document>();
    schema.insert("$id".to_owned(), SCHEMA_ID.into());
    schema.insert("title".to_owned(), "EdgePlane manifest".into());
    schema
}

/// The schema as a value, made once.
pub(crate) fn value() -> &'static Value {
    static VALUE: OnceLock<Value> = OnceLock::new();
    VALUE.get_or_init(|| schema().to_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`crate::shape`] reads or may leave unread. A keyword beyond it would be shown and not checked.
    const KEYWORDS: [&str; 27] = [
        "$schema",
        "$id",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "properties",
        "additionalProperties",
        "patternProperties",
        "required",
        "oneOf",
        "anyOf",
        "const",
        "default",
        "format",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "x-edgeplane-min",
        "x-edgeplane-max",
    ];

    fn check(schema: &Value, path: &str) {
        let Some(entries) = schema.as_object() else { return };
        for (key, inner) in entries {
            assert!(KEYWORDS.contains(&key.as_str()), "{path} has `{key}`, which nothing checks");
            let path = format!("{path}/{key}");
            match (key.as_str(), inner) {
                ("properties" | "patternProperties" | "$defs", Value::Object(all)) => {
                    for (name, inner) in all {
                        let is_ruled = key != "patternProperties" || crate::rule::by_pattern(name).is_some();
                        assert!(is_ruled, "{path} has a pattern without a rule: {name}");
                        check(inner, &format!("{path}/{name}"));
                    }
                }
                ("oneOf" | "anyOf", Value::Array(all)) => all.iter().for_each(|inner| check(inner, &path)),
                ("items", inner) => check(inner, &path),
                ("pattern", Value::String(pattern)) => {
                    assert!(crate::rule::by_pattern(pattern).is_some(), "{path} has no rule: {pattern}");
                }
                ("properties" | "description", other) => assert!(other.is_string(), "{path}"),
                _ => {}
            }
        }
        let is_closed = entries.get("type").is_none_or(|kind| kind != "object")
            || entries.get("additionalProperties") == Some(&Value::Bool(false));
        assert!(is_closed, "{path} takes keys that nobody knows");
    }

    #[test]
    fn everything_in_the_schema_is_checked() {
        check(value(), "#");
    }

    #[test]
    fn every_field_is_described() {
        fn walk(schema: &Value, path: &str) {
            match schema {
                Value::Object(entries) => {
                    for (key, inner) in entries {
                        if let (true, Some(all)) = (key == "properties", inner.as_object()) {
                            for (name, field) in all {
                                let described = field.get("description").is_some()
                                    || field.get("const").is_some()
                                    || [
                                        "service", "artifact", "file", "env", "exec", "stdio", "http",
                                        "oauth", "event", "schedule", "webhook", "method", "task",
                                    ]
                                    .contains(&name.as_str());
                                assert!(described, "{path}/{name} has no description");
                            }
                        }
                        walk(inner, &format!("{path}/{key}"));
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| walk(item, path)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        walk(value(), "#");
    }
}
