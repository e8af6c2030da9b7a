//! What is kept of what a server lists, and what is left out.

use serde_json::json;

use super::*;

fn taken(tools: Vec<Value>) -> Inventory {
    let mut found = Inventory::default();
    found.take(OfferKind::Tool, tools);
    found.leave_out_lookalikes();
    found
}

fn names(found: &Inventory) -> Vec<&str> {
    found.offers().map(|offer| offer.native_id.as_str()).collect()
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

/// Proves CAP-012.
#[test]
fn what_is_listed_twice_and_differs_is_offered_by_nobody() {
    let other = json!({ "name": "a", "description": "another", "inputSchema": { "type": "object" } });
    let found = taken(vec![tool("a"), tool("b"), other, tool("a"), tool("b")]);
    assert_eq!(names(&found), ["b"]);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
}

/// Proves CAP-012.
#[test]
fn names_that_look_alike_are_offered_by_nobody() {
    let found = taken(vec![tool("send"), tool("Send"), tool("read"), tool("se nd")]);
    assert_eq!(names(&found), ["read"]);
    assert!(found.problems[0].contains("look alike"), "{:?}", found.problems);
}

/// Proves CAP-012.
#[test]
fn what_is_no_offer_is_left_out_and_said() {
    let bad = [
        json!(7),
        json!({ "inputSchema": {} }),
        json!({ "name": "x\u{1b}[2J", "inputSchema": {} }),
        json!({ "name": "y".repeat(NAME_BYTES_MAX + 1), "inputSchema": {} }),
        json!({ "name": "s", "inputSchema": "object" }),
        json!({ "name": "t", "inputSchema": { "type": "array" } }),
        json!({ "name": "p", "inputSchema": { "type": "object", "properties": [] } }),
        json!({ "name": "r", "inputSchema": { "type": "object", "required": "all" } }),
        json!({ "name": "o", "inputSchema": {}, "outputSchema": 1 }),
        json!({ "name": "d", "description": "d".repeat(OFFER_BYTES_MAX), "inputSchema": {} }),
    ];
    let count = bad.len();
    let mut all = bad.to_vec();
    all.push(tool("good"));
    let found = taken(all);
    assert_eq!(names(&found), ["good"]);
    assert_eq!(found.problems.len(), count, "{:?}", found.problems);
    assert!(found.problems.iter().all(|problem| !problem.contains('\u{1b}')));
}

/// Proves CAP-013.
#[test]
fn digest_is_of_what_is_said_and_not_of_its_order() {
    let one = json!({ "name": "a", "inputSchema": { "type": "object", "properties": { "x": {}, "y": {} } } });
    let same =
        json!({ "inputSchema": { "properties": { "y": {}, "x": {} }, "type": "object" }, "name": "a" });
    let other =
        json!({ "name": "a", "inputSchema": { "type": "object", "properties": { "x": {}, "z": {} } } });
    let digest =
        |value: &Value| taken(vec![value.clone()]).find(OfferKind::Tool, "a").unwrap().digest.clone();
    assert_eq!(digest(&one), digest(&same));
    assert_ne!(digest(&one), digest(&other));
}

#[test]
fn arguments_of_prompts_become_a_schema() {
    let mut found = Inventory::default();
    let prompt =
        json!({ "name": "p", "arguments": [{ "name": "topic", "required": true }, { "name": "tone" }] });
    found.take(OfferKind::Prompt, vec![prompt]);
    let schema = &found.find(OfferKind::Prompt, "p").unwrap().input_schema;
    assert_eq!(schema["required"], json!(["topic"]));
    assert_eq!(schema["properties"]["tone"]["type"], "string");
}
