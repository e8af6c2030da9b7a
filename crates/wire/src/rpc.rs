//! JSON-RPC 2.0, one object a line.
//!
//! Batches are not taken. The error's `data.name` is the contract; the number and the text may change.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, CapabilityId, ErrorName, InvocationId, NodeId, RunId, SafeLabel, SessionId, SubscriptionId,
    TaskId, ThreadId, TurnId, WorkspaceId, error::Effect,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// Longest line in bytes, in both directions.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// What precedes a method's own parameters: who asks, for how long, under which trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestContext {
    /// The caller's name for this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The caller's key against doing it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Milliseconds that the caller waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// W3C trace context. One that is malformed is none: a new trace begins.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_nothing")]
    pub traceparent: Option<String>,
    /// What vendors of tracing keep with it, at most 512 bytes; kept in the record if it is well formed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_nothing")]
    pub tracestate: Option<String>,
    /// What the caller says beside it, at most 1,024 bytes; kept in the record if it is well formed.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "text_or_nothing")]
    pub baggage: Option<String>,
    /// The namespace; `local` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// For whom the caller speaks. Only one whose token has the scope `delegate` may say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<DelegatedPrincipal>,
    /// What the request is about. Each must be there and open to the caller, and contradict nothing else that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selectors: Option<Selectors>,
}

/// For whom a service speaks: an identity beside its own, never instead of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelegatedPrincipal {
    /// The user.
    pub user_id: SafeLabel,
    /// What the user may do; of that counts what the service may do, too.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Where the service keeps what it knows of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims_ref: Option<String>,
    /// For whom the user speaks, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<SafeLabel>,
}

/// What a request is about, beside what its parameters say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each names a noun of the glossary by its id")]
pub struct Selectors {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability_id: Option<CapabilityId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<InvocationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<SubscriptionId>,
}

/// What an answer says of itself. It stands as `meta` in the result of a request that came with a context.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResultMeta {
    /// The caller's name for the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Position of the node's record that the answer knows at least.
    pub as_of_seq: u64,
    /// The trace that the request said it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Whether the key of the request was used before, and this is what came of it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
}

/// What says nothing but where a request belongs must never make it fail: anything but a text is passed over.
fn text_or_nothing<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(Some(text)),
        _ => Ok(None),
    }
}

/// A failure as it crosses the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RpcError {
    /// The number that belongs to `data.name`.
    pub code: i32,
    /// For people.
    pub message: String,
    /// For programs. Boxed, because every result has room for it.
    pub data: Box<ErrorData>,
}

/// The half of a failure that programs read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorData {
    /// The contract.
    pub name: ErrorName,
    /// Whether an identical retry can help.
    pub retryable: bool,
    /// Whether anything was changed.
    pub effect: Effect,
    /// What to do next, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Milliseconds after which a retry may succeed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Who failed: the node's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// What failed: the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What the request named, by the names of its fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ids: BTreeMap<String, String>,
    /// Whether the key of the request was used before, and this is what came of it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Everything that is wrong, where it is more than one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Value>,
    /// Of a `replay_gap`: what can be had instead of what is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Box<Gap>>,
}

/// What can be had of a stream instead of what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The oldest number that there is.
    pub oldest_seq: u64,
    /// The number that a snapshot would stand for, behind which the stream goes on without a gap.
    pub snapshot_seq: u64,
    /// The version of the projection that is served.
    pub projection_version: u32,
}

impl RpcError {
    /// A failure that changed nothing.
    #[must_use]
    pub fn new(name: ErrorName, message: impl Into<String>) -> Self {
        let data = ErrorData {
            name,
            retryable: name.is_retryable(),
            effect: Effect::None,
            hint: None,
            retry_after_ms: None,
            service: None,
            operation: None,
            ids: BTreeMap::new(),
            replayed: false,
            violations: Vec::new(),
            gap: None,
        };
        Self { code: name.code(), message: printable(message.into()), data: Box::new(data) }
    }

    /// The same failure with the next step for people.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.data.hint = Some(printable(hint.into()));
        self
    }

    /// The same failure with what it changed. What may have changed something is never said to be harmless to repeat.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.data.effect = effect;
        self.data.retryable = self.name().is_retryable() && effect == Effect::None;
        self
    }

    /// The same failure with the time after which a retry may succeed.
    #[must_use]
    pub fn retry_after(mut self, millis: u64) -> Self {
        self.data.retry_after_ms = Some(millis);
        self
    }

    /// The failure's name.
    #[must_use]
    pub fn name(&self) -> ErrorName {
        self.data.name
    }
}

/// A failure often repeats what was said, and is printed: control characters in it are made visible.
fn printable(text: String) -> String {
    if text.chars().any(char::is_control) {
        return text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    }
    text
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}

/// Any line that may arrive, sorted by which fields it has.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// Wants an answer.
    Request {
        /// To be given back as it is.
        id: Id,
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Wants none.
    Notification {
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Answers a request of ours.
    Response {
        /// The request's id.
        id: Id,
        /// The result or the failure.
        outcome: Result<Box<RawValue>, RpcError>,
    },
}

/// A request's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

#[derive(Deserialize)]
struct Raw {
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "present_raw")]
    result: Option<Box<RawValue>>,
    error: Option<Value>,
}

/// Tells `"id": null` from no id at all.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Tells `"result": null`, which is a result, from none.
fn present_raw<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// Reads a line.
///
/// # Errors
/// `parse_error` if it is not JSON, `invalid_request` if it is not a message of JSON-RPC 2.0.
pub fn parse_line(line: &[u8]) -> Result<Incoming, RpcError> {
    let raw: Raw = serde_json::from_slice(line).map_err(|error| {
        let name = if error.is_data() { ErrorName::InvalidRequest } else { ErrorName::ParseError };
        RpcError::new(name, format!("not a JSON-RPC message: {error}"))
    })?;
    if raw.jsonrpc.as_deref() != Some("2.0") {
        return Err(RpcError::new(ErrorName::InvalidRequest, "`jsonrpc` must be \"2.0\""));
    }
    let id = match raw.id {
        None => None,
        Some(Value::String(text)) => Some(Id::Text(text)),
        Some(Value::Number(number)) if number.is_i64() => number.as_i64().map(Id::Number),
        Some(Value::Null) if raw.error.is_some() => None,
        Some(_) => {
            return Err(RpcError::new(ErrorName::InvalidRequest, "`id` must be a string or an integer"));
        }
    };
    let params = raw.params.unwrap_or(Value::Null);
    let result = raw.result.filter(|result| raw.error.is_none() || result.get() != "null");
    match (raw.method, id, result, raw.error) {
        (Some(method), Some(id), None, None) => Ok(Incoming::Request { id, method, params }),
        (Some(method), None, None, None) => Ok(Incoming::Notification { method, params }),
        (None, Some(id), Some(result), None) => Ok(Incoming::Response { id, outcome: Ok(result) }),
        (None, id, None, Some(error)) => {
            let id = id.unwrap_or(Id::Number(-1));
            Ok(Incoming::Response { id, outcome: Err(foreign_error(&error)) })
        }
        _ => {
            Err(RpcError::new(ErrorName::InvalidRequest, "neither a request, a notification nor a response"))
        }
    }
}

/// An error object, also one of a peer that knows nothing of our `data`.
fn foreign_error(error: &Value) -> RpcError {
    serde_json::from_value(error.clone()).unwrap_or_else(|_not_ours| {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("unnamed failure");
        RpcError::new(ErrorName::Internal, message)
    })
}

#[derive(Serialize)]
struct Out<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

fn line<P: Serialize>(out: &Out<'_, P>) -> Vec<u8> {
    // Our own types always serialize: their maps have string keys and their numbers are finite.
    let mut bytes = serde_json::to_vec(out).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// A request as a line.
pub fn request<P: Serialize>(id: &Id, method: &str, params: P) -> Vec<u8> {
    line(&Out {
        jsonrpc: "2.0",
        id: Some(id),
        method: Some(method),
        params: Some(params),
        result: None,
        error: None,
    })
}

/// A notification as a line.
pub fn notification<P: Serialize>(method: &str, params: P) -> Vec<u8> {
    line(&Out {
        jsonrpc: "2.0",
        id: None,
        method: Some(method),
        params: Some(params),
        result: None,
        error: None,
    })
}

/// A successful response as a line.
pub fn success<R: Serialize>(id: &Id, result: R) -> Vec<u8> {
    line(&Out { jsonrpc: "2.0", id: Some(id), method: None, params: None, result: Some(result), error: None })
}

/// A failed response as a line; without an id if the request's could not be read.
#[must_use]
pub fn failure(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    match id {
        Some(id) => line(&Out::<()> {
            jsonrpc: "2.0",
            id: Some(id),
            method: None,
            params: None,
            result: None,
            error: Some(error),
        }),
        None => {
            let mut bytes =
                serde_json::to_vec(&serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": error }))
                    .unwrap_or_default();
            bytes.push(b'\n');
            bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let found = match parse_line(line.as_bytes()) {
            Ok(Incoming::Request { method, .. }) => format!("request {method}"),
            Ok(Incoming::Notification { method, .. }) => format!("notification {method}"),
            Ok(Incoming::Response { outcome: Ok(_), .. }) => "result".to_owned(),
            Ok(Incoming::Response { outcome: Err(error), .. }) => format!("failure {}", error.message),
            Err(error) => error.data.name.as_str().to_owned(),
        };
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_are_sorted_by_their_fields() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"core/health"}"#, "request core/health");
        check(r#"{"jsonrpc":"2.0","id":"a","method":"core/health","params":{}}"#, "request core/health");
        check(r#"{"jsonrpc":"2.0","method":"x/y"}"#, "notification x/y");
        check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result");
        check(r#"{"jsonrpc":"2.0","id":1}"#, "invalid_request");
        // Some peers name the result that a failure does not have.
        check(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-1,"message":"no"}}"#, "failure no");
        check(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":-1,"message":"no"}}"#, "invalid_request");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "result");
        check(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#, "failure no");
        check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#, "failure no");
    }

    #[test]
    fn wrong_lines_are_named() {
        check("", "parse_error");
        check("{", "parse_error");
        check("[]", "invalid_request");
        check("7", "invalid_request");
        check("{}", "invalid_request");
        check(r#"{"jsonrpc":"1.0","id":1,"method":"x/y"}"#, "invalid_request");
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"x/y"}"#, "invalid_request");
        check(r#"{"jsonrpc":"2.0","id":{},"method":"x/y"}"#, "invalid_request");
        check(r#"{"jsonrpc":"2.0","id":null,"method":"x/y"}"#, "invalid_request");
        check(r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "invalid_request");
    }

    /// Proves CALL-042.
    #[test]
    fn what_may_have_changed_something_is_not_to_be_repeated() {
        for name in ErrorName::ALL {
            let error = RpcError::new(*name, "x");
            assert_eq!((error.data.retryable, error.data.effect), (name.is_retryable(), Effect::None));
            for effect in [Effect::Applied, Effect::Unknown] {
                assert!(!error.clone().effect(effect).data.retryable, "{name:?}");
            }
            assert_eq!(error.clone().effect(Effect::None), error);
        }
    }

    #[test]
    fn failures_are_fit_to_be_printed() {
        let error = RpcError::new(ErrorName::NotFound, "no agent `\u{1b}[2Ja\n`").hint("\u{7}look");
        assert_eq!(error.message, "no agent `\u{fffd}[2Ja\u{fffd}`");
        assert_eq!(error.data.hint.as_deref(), Some("\u{fffd}look"));
    }

    #[test]
    fn answers_are_single_lines() {
        let error = RpcError::new(ErrorName::NotFound, "no agent `a\nb`").hint("look");
        for bytes in
            [failure(None, &error), failure(Some(&Id::Number(1)), &error), success(&Id::Number(1), "x\ny")]
        {
            assert_eq!(bytes.iter().filter(|b| **b == b'\n').count(), 1);
            assert_eq!(bytes.last(), Some(&b'\n'));
        }
    }
}
