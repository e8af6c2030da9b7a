//! Tools of the fixture that need something of the client before they are done.
//!
//! What the fixture must remember between two rounds goes to the client and back, with a seal that only the fixture
//! makes.

use std::collections::BTreeMap;

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, InputRequest, InputRequests, InputRequiredResult},
    service::RequestContext,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::fixture::{complete, of};

/// Their names.
pub(crate) const TOOLS: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

const KEY: &str = "a key that the client does not have";

/// A state with its seal. The key stands around it, so that nothing can be appended to what is sealed.
fn seal(state: &str) -> String {
    let digest = Sha256::digest(format!("{KEY} {state} {KEY}"));
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{state}.{hex}")
}

/// The state behind a seal.
fn unseal(sealed: &str) -> Result<String, ErrorData> {
    let state = sealed.rsplit_once('.').map_or("", |(state, _)| state);
    if seal(state) == sealed {
        return Ok(state.to_owned());
    }
    Err(ErrorData::invalid_params("the request state is not what this server sealed", None))
}

pub(crate) fn elicit(message: &str, property: &str, kind: &str) -> InputRequest {
    let schema =
        json!({ "type": "object", "properties": { property: { "type": kind } }, "required": [property] });
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    of(json!({ "method": "elicitation/create", "params": params }))
}

fn sample(words: &str) -> InputRequest {
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": words } }]);
    of(json!({ "method": "sampling/createMessage", "params": { "messages": messages, "maxTokens": 100 } }))
}

fn roots() -> InputRequest {
    of(json!({ "method": "roots/list", "params": {} }))
}

fn done(words: &str) -> CallToolResponse {
    CallToolResponse::Complete(complete(json!({ "content": [{ "type": "text", "text": words }] })))
}

fn needs<const N: usize>(all: [(&str, InputRequest); N], state: Option<&str>) -> CallToolResponse {
    let requests: InputRequests = all.into_iter().map(|(key, request)| (key.to_owned(), request)).collect();
    InputRequiredResult::new(Some(requests), state.map(seal)).into()
}

/// Answers a call of one of these tools; nothing for another.
pub(crate) fn tool(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let none = BTreeMap::new();
    let responses = request.input_responses.as_ref().unwrap_or(&none);
    // Whatever is not shaped like an answer is asked for again.
    let answer = |key: &str| responses.get(key).filter(|answer| answer.is_object());
    let state = request.request_state.as_deref().map(unseal).transpose()?;
    let word =
        |answer: &Value, path: &str| answer.pointer(path).and_then(Value::as_str).unwrap_or("?").to_owned();
    Ok(Some(match request.name.as_ref() {
        "test_input_required_result_elicitation" => match answer("user_name") {
            Some(answer) => done(&format!("Hello, {}!", word(answer, "/content/name"))),
            None => needs([("user_name", elicit("What is your name?", "name", "string"))], None),
        },
        "test_input_required_result_sampling" => match answer("capital_question") {
            Some(answer) => done(&word(answer, "/content/text")),
            None => needs([("capital_question", sample("What is the capital of France?"))], None),
        },
        "test_input_required_result_list_roots" => match answer("client_roots") {
            Some(answer) => done(&format!("Roots: {}", answer["roots"])),
            None => needs([("client_roots", roots())], None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            match state {
                Some(_) => done("state-ok"),
                None => needs([("confirm", elicit("Please confirm", "ok", "boolean"))], Some("confirm")),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let keys = ["user_name", "greeting", "client_roots"];
            if state.is_some() && keys.iter().all(|key| answer(key).is_some()) {
                done("All inputs received")
            } else {
                let all = [elicit("What is your name?", "name", "string"), sample("Greet"), roots()];
                let [name, greeting, client_roots] = all;
                needs([(keys[0], name), (keys[1], greeting), (keys[2], client_roots)], Some("gather"))
            }
        }
        "test_input_required_result_multi_round" => match state.as_deref() {
            None => needs([("step1", elicit("Step 1: your name?", "name", "string"))], Some("1")),
            Some("1") => needs([("step2", elicit("Step 2: your colour?", "color", "string"))], Some("2")),
            Some(_) => done("Multi-round flow complete"),
        },
        "test_input_required_result_capabilities" => with_capabilities(request, context),
        "test_streaming_elicitation" => {
            needs([("value", elicit("Provide a value", "value", "string"))], None)
        }
        _ => return Ok(None),
    }))
}

/// Asks only for what the client says that it can give.
fn with_capabilities(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let capabilities = context.meta.client_capabilities().unwrap_or_default();
    let mut requests = InputRequests::new();
    if capabilities.elicitation.is_some() {
        requests.insert("user_name".to_owned(), elicit("What is your name?", "name", "string"));
    }
    if capabilities.sampling.is_some() {
        requests.insert("greeting".to_owned(), sample("Greet"));
    }
    if capabilities.roots.is_some() {
        requests.insert("client_roots".to_owned(), roots());
    }
    if request.input_responses.is_some() || requests.is_empty() {
        return done("Capability-aware flow complete");
    }
    InputRequiredResult::from_input_requests(requests).into()
}

/// A schema of which nothing may be lost on its way.
pub(crate) fn whole_schema() -> Value {
    let word = json!({ "type": "string" });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": word, "city": word },
        } },
        "properties": {
            "name": word,
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": word,
            "email": word,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(crate) fn person_schema() -> Value {
    let word = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "properties": { "username": word("User's response"), "email": word("User's email address") },
        "required": ["username", "email"],
    })
}

pub(crate) fn defaults_schema() -> Value {
    json!({ "type": "object", "properties": {
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    } })
}

pub(crate) fn choices_schema() -> Value {
    let titled = |value: &str, title: &str| json!({ "const": value, "title": title });
    let three = json!([titled("value1", "First"), titled("value2", "Second"), titled("value3", "Third")]);
    json!({ "type": "object", "properties": {
        "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
        "titledSingle": { "type": "string", "oneOf": three },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": { "type": "string", "enum": ["option1", "option2", "option3"] },
        },
        "titledMulti": { "type": "array", "items": { "anyOf": three } },
    } })
}
