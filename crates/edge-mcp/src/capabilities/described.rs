//! What a client is told of a capability: as its owner describes it, bounded, with whose words they are.
//!
//! Nothing that a server or an agent claims decides anything here: what is said of safety is what the node takes for true.

use std::sync::Arc;

use edgeplane_driver::render;
use edgeplane_types::{BackingKind, CapabilityKind, EffectClass, Permission};
use edgeplane_wire::api::capability::CapabilityView;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// Where the metadata of a tool and of a call say which capability it is, and its digest.
pub(crate) const META: &str = "dev.edgeplane/capability";

/// Longest title in bytes.
const TITLE_BYTES_MAX: usize = 128;

/// Longest description in bytes; of what is longer the beginning is shown.
const DESCRIPTION_BYTES_MAX: usize = 4 << 10;

/// Longest schema in bytes of JSON. A tool with a longer one is left out: no model would read it.
const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// Methods for which the node has tools of its own: two for one thing would only be asked which is the right one.
const OWN: &[&str] = &[
    "edgeplane:memory/entry.delete",
    "edgeplane:memory/entry.get",
    "edgeplane:memory/entry.list",
    "edgeplane:memory/entry.put",
    "edgeplane:runtime/agent.list",
    "edgeplane:runtime/agent.signal",
    "edgeplane:runtime/message.get",
];

/// Whether a capability is something that is called with an object, for which there is no tool yet.
pub(crate) fn is_called(view: &CapabilityView) -> bool {
    let kind = match view.kind {
        CapabilityKind::Tool
        | CapabilityKind::Operation
        | CapabilityKind::Workflow
        | CapabilityKind::Automation => true,
        CapabilityKind::Resource | CapabilityKind::Prompt => false,
    };
    kind && !OWN.contains(&view.name.as_str())
}

/// A capability as a tool of this name, or why it cannot be one.
pub(crate) fn described(name: String, view: &CapabilityView) -> Result<Tool, String> {
    let input = input_schema(view.input_schema.as_ref()).map_err(|why| left_out(view, why))?;
    let capability = json!({ "id": view.capability_id, "name": view.name, "digest": view.digest });
    let mut meta = MetaObject::default();
    meta.insert(META.to_owned(), capability);
    let mut tool = Tool::new(name, description(view), input)
        .with_title(title(view))
        .with_annotations(annotations(view.effect.class))
        .with_meta(meta);
    if let Some(output) = output_schema(view.output_schema.as_ref()) {
        tool = tool.with_raw_output_schema(Arc::new(output));
    }
    Ok(tool)
}

fn left_out(view: &CapabilityView, why: &str) -> String {
    let name: String = render::clean(&view.name).chars().take(120).collect();
    format!("`{name}`: {why}")
}

/// The schema of what it is given.
///
/// # Errors
/// Why that is none of an object, or too long.
fn input_schema(schema: Option<&Value>) -> Result<JsonObject, &'static str> {
    let Some(Value::Object(schema)) = schema else { return Err("its input schema is no object") };
    if !is_of_object(schema) {
        return Err("its input schema is not of an object");
    }
    if is_long(schema) {
        return Err("its input schema has more than 64 KiB");
    }
    let mut schema = schema.clone();
    schema.entry("type").or_insert_with(|| Value::from("object"));
    without_headers(&mut schema);
    Ok(schema)
}

/// The schema of what it gives, if a client can check an answer by it.
pub(crate) fn output_schema(schema: Option<&Value>) -> Option<JsonObject> {
    let schema =
        schema?.as_object().filter(|schema| schema.get("type").is_some_and(|kind| kind == "object"))?;
    (!is_long(schema)).then(|| schema.clone())
}

fn is_of_object(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_none_or(|kind| kind == "object")
        && schema.get("properties").is_none_or(Value::is_object)
}

fn is_long(schema: &Map<String, Value>) -> bool {
    serde_json::to_vec(schema).map_or(true, |json| json.len() > SCHEMA_BYTES_MAX)
}

/// Takes out by which header of HTTP a field would be sent: that was meant for the connection to its own server, and here
/// would have a client put into headers what it is to give to a tool.
fn without_headers(schema: &mut Map<String, Value>) {
    schema.remove("x-mcp-header");
    for value in schema.values_mut() {
        each_object(value);
    }
}

fn each_object(value: &mut Value) {
    match value {
        Value::Object(object) => without_headers(object),
        Value::Array(values) => values.iter_mut().for_each(each_object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn title(view: &CapabilityView) -> String {
    let title = view.title.as_deref().map(|title| words(title, TITLE_BYTES_MAX).replace('\n', " "));
    title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| words(&view.name, TITLE_BYTES_MAX))
}

/// The words of others, without what acts, and with nothing that looks like the node's own lines.
fn words(text: &str, bytes_max: usize) -> String {
    let (mut words, is_cut) = render::words(text, bytes_max);
    if is_cut {
        words.push_str(" […]");
    }
    words
}

/// What the node says of it, and then what its owner does.
fn description(view: &CapabilityView) -> String {
    let owner = &view.backing.owner;
    let native = words(&view.backing.native_id, TITLE_BYTES_MAX).replace('\n', " ");
    let (what, whose) = match view.backing.kind {
        BackingKind::Connector => (format!("`{native}` of connector `{owner}`"), Some("its server")),
        BackingKind::Agent => (format!("`{native}` offered by agent `{owner}`"), Some("that agent")),
        BackingKind::Builtin => (format!("Method `{owner}/{native}` of this node"), None),
        BackingKind::Workflow => (format!("Workflow `{owner}` of this node"), None),
        BackingKind::Automation => (format!("Has automation `{owner}` of this node fire"), None),
    };
    let asked = match view.policy.decision {
        Permission::Ask => ", a person is asked before it is called",
        Permission::Allow | Permission::Deny => "",
    };
    let said = view.description.as_deref().map(|text| words(text, DESCRIPTION_BYTES_MAX));
    match (said.filter(|said| !said.trim().is_empty()), whose) {
        (Some(said), Some(whose)) => format!("{what}{asked}. In the words of {whose}:\n{said}"),
        (Some(said), None) => format!("{what}{asked}.\n{said}"),
        (None, _) => format!("{what}{asked}."),
    }
}

/// What it does to the world as far as somebody vouches for it; else the worst.
fn annotations(class: EffectClass) -> ToolAnnotations {
    let (reads, destroys, open) = match class {
        EffectClass::None | EffectClass::Read => (true, false, false),
        EffectClass::Write => (false, false, false),
        EffectClass::External => (false, true, true),
        EffectClass::Destructive => (false, true, false),
    };
    // Only what does nothing is known to do nothing more when it is done again.
    ToolAnnotations::new().read_only(reads).destructive(destroys).idempotent(reads).open_world(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MCP-042.
    #[test]
    fn schema_is_of_an_object_or_the_tool_is_left_out() {
        let check = |schema: Value, expected: Result<Value, &str>| {
            assert_eq!(input_schema(Some(&schema)).map(Value::Object), expected, "{schema}");
        };
        check(json!({}), Ok(json!({ "type": "object" })));
        check(
            json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } }),
            Ok(json!({ "type": "object", "properties": { "a": { "type": "string" } } })),
        );
        check(json!({ "type": "array" }), Err("its input schema is not of an object"));
        check(json!({ "type": ["object", "null"] }), Err("its input schema is not of an object"));
        check(json!({ "properties": [] }), Err("its input schema is not of an object"));
        check(json!(true), Err("its input schema is no object"));
        check(json!({ "title": "t".repeat(65 << 10) }), Err("its input schema has more than 64 KiB"));
        assert_eq!(output_schema(Some(&json!({ "type": "array" }))), None);
        assert_eq!(output_schema(Some(&json!({ "anyOf": [] }))), None);
    }

    /// Proves MCP-043.
    #[test]
    fn what_nobody_vouches_for_is_taken_for_the_worst() {
        let check = |class, expected: [bool; 4]| {
            let hints = annotations(class);
            let said =
                [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint];
            assert_eq!(said, expected.map(Some), "{class:?}");
        };
        check(EffectClass::None, [true, false, true, false]);
        check(EffectClass::Read, [true, false, true, false]);
        check(EffectClass::Write, [false, false, false, false]);
        check(EffectClass::External, [false, true, false, true]);
        check(EffectClass::Destructive, [false, true, false, false]);
    }
}
