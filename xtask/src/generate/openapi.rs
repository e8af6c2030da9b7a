//! The catalogue over HTTP, as OpenAPI 3.1: `spec/openapi.json`.
//!
//! Knows how a method is called over HTTP and how OpenAPI says so. Which methods there are stands in the catalogue.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::ErrorName;
use edgeplane_wire::catalogue::{
    later::Later,
    opening::{is_in_parts, is_opening},
};
use serde_json::{Map, Value, json};

use super::{
    model::{self, FAILURE, Model, REF, Served, pascal},
    page, pretty,
};

/// Where a type is in this document.
const SCHEMAS: &str = "#/components/schemas/";

/// What each profile is for.
const PROFILES: &[(&str, &str)] = &[
    ("core", "What every endpoint answers."),
    ("conversation", "What is said, and what waits for a person."),
    ("runtime", "Agents: declaring, starting, speaking to, watching."),
    ("policy", "The rules of who may do what."),
    ("security", "Tokens and keys."),
    ("memory", "What an agent keeps."),
    ("stream", "Events: read, followed, projected."),
    ("evidence", "Proof of what happened."),
    ("observe", "Where the time of a request went."),
];

/// The whole document.
pub(super) fn document(model: &Model, later: &[Later]) -> anyhow::Result<String> {
    let (mut types, params) = model.with_context();
    types.extend(envelopes());
    let mut shared = Shared::default();
    let mut paths = Map::new();
    paths.insert("/v1/rpc".to_owned(), rpc(&mut shared));
    paths.insert("/v1/stream".to_owned(), stream(model, &mut shared));
    for served in &model.methods {
        let params = params.get(served.method.name).map_or(served.params.as_str(), String::as_str);
        paths.insert(format!("/v1/{}", served.method.name), path(served, params, &mut shared));
    }
    let later: Vec<Value> = later
        .iter()
        .map(|later| json!({ "name": later.name, "summary": later.summary, "effect": later.effect.as_str() }))
        .collect();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "EdgePlane",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "One catalogue of methods, here over HTTP. Made from it by `cargo xtask generate`; a change of this file is lost.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }],
        "tags": tags(model),
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer", "description": "A token of the node, of an epoch, or of an issuer that the node trusts. Never in an address." } },
            "parameters": shared.parameters,
            "responses": shared.responses,
            "schemas": types,
        },
        "x-edgeplane-later": later,
    });
    retarget(&mut document);
    keep_used(&mut document);
    pretty(&document)
}

/// The profiles that serve something, in the catalogue's order.
fn tags(model: &Model) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let profiles = model.methods.iter().map(Served::profile).filter(|profile| seen.insert(*profile));
    let about = |profile: &str| PROFILES.iter().find(|(name, _)| *name == profile).map(|(_, about)| *about);
    profiles
        .map(|profile| match about(profile) {
            Some(about) => json!({ "name": profile, "description": about }),
            None => json!({ "name": profile }),
        })
        .collect()
}

/// What several operations have in common, by its name.
#[derive(Debug, Default)]
struct Shared {
    responses: BTreeMap<String, Value>,
    parameters: BTreeMap<String, Value>,
}

impl Shared {
    /// A failure with a status, and the names that it may have.
    fn response(&mut self, status: u16, names: &[&str]) -> Value {
        let name =
            format!("{status}{}", names.iter().map(|name| pascal(name)).collect::<Vec<_>>().join("Or"));
        let response = json!({
            "description": names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            "content": content(FAILURE),
            "x-edgeplane-errors": names,
        });
        let target = format!("#/components/responses/{name}");
        self.responses.insert(name, response);
        json!({ "$ref": target })
    }

    /// A header that says a part of the context.
    fn header(&mut self, (name, header, about, schema): (&str, &str, &str, Value)) -> Value {
        let parameter = json!({ "name": header, "in": "header", "description": about, "schema": schema });
        self.parameters.insert(name.to_owned(), parameter);
        json!({ "$ref": format!("#/components/parameters/{name}") })
    }

    /// The context as headers. What stands in the body as well must be the same there.
    fn context(&mut self) -> Vec<Value> {
        let text = || json!({ "type": "string" });
        [
            ("IdempotencyKey", "Idempotency-Key", "`ctx.idempotency_key`", text()),
            ("RequestId", "X-Request-Id", "`ctx.request_id`; the answer bears it again.", text()),
            (
                "Deadline",
                "X-Deadline-Ms",
                "`ctx.deadline_ms`",
                json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX }),
            ),
            ("Traceparent", "traceparent", "`ctx.traceparent`", text()),
            ("Tenant", "X-EdgePlane-Tenant", "`ctx.tenant`", text()),
        ]
        .map(|header| self.header(header))
        .into()
    }
}

/// One method.
fn path(served: &Served, params: &str, shared: &mut Shared) -> Value {
    let method = served.method;
    let description = format!(
        "A token needs: {}. Who: {}. A repetition without a key {}.",
        page::need(method),
        page::audience(method),
        page::repeat(method),
    );
    let mut errors = served.errors();
    let goes_on = is_opening(method.name) || is_in_parts(method.name, &json!({ "stream": true }));
    let description = if goes_on {
        errors.push(ErrorName::Unsupported);
        format!(
            "{description} What goes on behind its answer is `unsupported` here: `POST /v1/rpc` with `Accept: \
             text/event-stream` and `GET /v1/stream` have room for it."
        )
    } else {
        description
    };
    json!({ "post": {
        "operationId": method.name.replace('/', "."),
        "tags": [served.profile()],
        "summary": method.summary.trim(),
        "description": description,
        "parameters": shared.context(),
        "requestBody": { "required": true, "content": content(params) },
        "responses": responses(shared, &errors, &served.result),
        "x-edgeplane-effect": method.effect.as_str(),
        "x-edgeplane-audience": method.audience.as_str(),
        "x-edgeplane-needs": method.need.as_str(),
        "x-edgeplane-repeat": method.repeat.as_str(),
        "x-edgeplane-since": method.since,
    } })
}

fn content(name: &str) -> Value {
    json!({ "application/json": { "schema": { "$ref": format!("{REF}{name}") } } })
}

/// The answers by their status: the result, and each error with those that share its status.
fn responses(shared: &mut Shared, errors: &[ErrorName], result: &str) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
    for error in errors {
        by_status.entry(error.http_status()).or_default().insert(error.as_str());
    }
    // Before there is a request: a body of another kind, and one that took too long.
    by_status.entry(415).or_default().insert(ErrorName::InvalidRequest.as_str());
    by_status.entry(408).or_default().insert(ErrorName::DeadlineExceeded.as_str());
    let mut responses = Map::new();
    responses.insert("200".to_owned(), json!({ "description": "Done.", "content": content(result) }));
    for (status, names) in by_status {
        let names: Vec<&str> = names.into_iter().collect();
        responses.insert(status.to_string(), shared.response(status, &names));
    }
    responses
}

/// Any request, as it would be over the socket.
fn rpc(shared: &mut Shared) -> Value {
    let errors = [
        ErrorName::ParseError,
        ErrorName::InvalidRequest,
        ErrorName::Unauthenticated,
        ErrorName::PermissionDenied,
        ErrorName::TooLarge,
        ErrorName::Unsupported,
        ErrorName::RateLimited,
        ErrorName::Unavailable,
        ErrorName::OutcomeUnknown,
    ];
    let mut responses = responses(shared, &errors, "RpcResponse");
    // What was wrong before there was a request to answer is told as an answer, too.
    for (status, response) in &mut responses {
        if status != "200" {
            *response = json!({ "description": "There was no request to answer.", "content": content("RpcResponse") });
        }
    }
    json!({ "post": {
        "operationId": "rpc",
        "tags": ["core"],
        "summary": "Answers one JSON-RPC 2.0 request.",
        "description": "The request as it would be over the socket. What the method itself fails with stands in the answer, whose status is 200; other statuses say that there was no request to answer. With `Accept: text/event-stream` the answer, and what the node says unasked before it, comes as server-sent events.",
        "parameters": shared.context(),
        "requestBody": { "required": true, "content": content("RpcRequest") },
        "responses": responses,
    } })
}

/// Events as they come: a subscription, whose parameters stand in the address.
fn stream(model: &Model, shared: &mut Shared) -> Value {
    let errors = [
        ErrorName::InvalidRequest,
        ErrorName::InvalidParams,
        ErrorName::Unauthenticated,
        ErrorName::PermissionDenied,
        ErrorName::PolicyBlocked,
        ErrorName::NotFound,
        ErrorName::ReplayGap,
        ErrorName::Backpressure,
        ErrorName::RateLimited,
        ErrorName::QuotaExhausted,
        ErrorName::Internal,
        ErrorName::Unavailable,
        ErrorName::OutcomeUnknown,
        ErrorName::DeadlineExceeded,
    ];
    let mut responses = responses(shared, &errors, "RpcResponse");
    let events = json!({ "text/event-stream": { "schema": { "type": "string" } } });
    responses.insert("200".to_owned(), json!({ "description": "Server-sent events: `subscribed`, `stream/event`, `stream/state`, each with what the notification carries as its data. The `id` is the place behind it.", "content": events }));
    let mut parameters = Vec::new();
    let subscribe = model.methods.iter().find(|served| served.method.name == "stream/subscribe");
    if let Some(schema) = subscribe.and_then(|served| model.types.get(&served.params)) {
        query(model, schema, "", &mut parameters);
    }
    parameters.push(json!({
        "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" },
        "description": "The `id` of the last event that was seen. It stands above every place that the address names.",
    }));
    json!({ "get": {
        "operationId": "stream",
        "tags": ["stream"],
        "summary": "Follows events of the record as server-sent events.",
        "description": "What `stream/subscribe` takes, in the address: a list as several, the fields of an object behind its name and a dot.",
        "parameters": parameters,
        "responses": responses,
    } })
}

/// The fields of an object as parameters of an address.
fn query(model: &Model, schema: &Value, before: &str, into: &mut Vec<Value>) {
    for field in model::fields(schema) {
        let named = field.schema["$ref"].as_str().and_then(|target| target.strip_prefix(REF));
        let inner =
            named.and_then(|name| model.types.get(name)).filter(|inner| inner["properties"].is_object());
        if let Some(inner) = inner.filter(|_| before.is_empty()) {
            query(model, inner, &format!("{}.", field.name), into);
            continue;
        }
        let mut schema = field.schema.clone();
        if let Some(fields) = schema.as_object_mut() {
            fields.shift_remove("description");
            fields.shift_remove("default");
            // An address cannot say that something is nothing.
            if let Some(Value::Array(kinds)) = fields.get_mut("type") {
                kinds.retain(|kind| kind != "null");
            }
        }
        into.push(json!({
            "name": format!("{before}{}", field.name), "in": "query", "description": model::about(field.schema),
            "schema": schema,
        }));
    }
}

/// What the bindings add to the types of the catalogue.
fn envelopes() -> BTreeMap<String, Value> {
    let id = json!({ "type": ["string", "integer"], "description": "Given back as it is." });
    let version = json!({ "const": "2.0" });
    let request = json!({
        "type": "object",
        "description": "A request of JSON-RPC 2.0; without `id` a notification.",
        "properties": {
            "jsonrpc": version,
            "id": id,
            "method": { "type": "string", "description": "`profile/object.action`." },
            "params": { "type": "object", "description": "What the method takes, and `ctx`." },
        },
        "required": ["jsonrpc", "method"],
    });
    let response = json!({
        "type": "object",
        "description": "An answer of JSON-RPC 2.0: a result or an error.",
        "properties": {
            "jsonrpc": version,
            "id": { "type": ["string", "integer", "null"], "description": "That of the request." },
            "result": { "description": "What the method gives." },
            "error": { "$ref": format!("{REF}{FAILURE}") },
        },
        "required": ["jsonrpc", "id"],
        "oneOf": [{ "required": ["result"] }, { "required": ["error"] }],
    });
    BTreeMap::from([("RpcRequest".to_owned(), request), ("RpcResponse".to_owned(), response)])
}

/// Types are elsewhere in this document than in the model.
fn retarget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (word, value) in fields.iter_mut() {
                let name = value.as_str().and_then(|target| target.strip_prefix(REF));
                match name.map(|name| format!("{SCHEMAS}{name}")) {
                    Some(target) if word == "$ref" => *value = Value::String(target),
                    _ => retarget(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(retarget),
        _ => {}
    }
}

/// Takes out the types that nothing in the document speaks of: those of notifications, which HTTP does not have.
fn keep_used(document: &mut Value) {
    loop {
        let mut used = BTreeSet::new();
        spoken_of(document, &mut used);
        let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") else { return };
        let before = schemas.len();
        schemas.retain(|name, _| used.contains(name));
        if schemas.len() == before {
            return;
        }
    }
}

fn spoken_of(value: &Value, used: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (word, value) in fields {
                match value.as_str().and_then(|target| target.strip_prefix(SCHEMAS)) {
                    Some(name) if word == "$ref" => {
                        used.insert(name.to_owned());
                    }
                    _ => spoken_of(value, used),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| spoken_of(value, used)),
        _ => {}
    }
}
