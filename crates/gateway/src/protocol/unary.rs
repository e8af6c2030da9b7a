//! One call in one request: as a message of JSON-RPC, or as a path with parameters as its body.

use axum::{
    body::Body,
    extract::{Path, State},
};
use edgeplane_client::CallError;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    catalogue::{
        Call as _, CoreInitialize,
        opening::{is_in_parts, is_opening},
    },
    rpc::{self, Id, Incoming, RpcError},
};
use http::{HeaderMap, Request, Response, StatusCode, header, request::Parts};
use serde_json::{Value, value::RawValue};

use super::{Served, Shared, answer, body, context, credentials, feed, is_stranger};
use crate::{bearer::Refusal, conversation::Credentials};

/// What an answer in events is asked for by.
const EVENT_STREAM: &str = "text/event-stream";

/// A failure of a request, and its status if that is not the one of its name.
struct Failure {
    status: StatusCode,
    error: RpcError,
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        Self { status: answer::status(error.name()), error }
    }
}

impl From<body::Unread> for Failure {
    fn from((status, error): body::Unread) -> Self {
        Self { status, error }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        answer::of_refusal(&refusal).into()
    }
}

/// `POST /v1/rpc`: a request of JSON-RPC, and its response. What the node answered is 200, whether it is a result or a
/// failure; what was wrong with the request itself has the status of the failure.
pub(super) async fn rpc(State(served): State<Shared>, request: Request<Body>) -> Response<Body> {
    let request_id = answer::request_id(request.headers());
    let mut id = None;
    let response = match answer_rpc(&served, request, &mut id).await {
        Ok(response) => response,
        Err(Failure { status, error }) => answer::failed_message(status, id.as_ref(), &error),
    };
    answer::named(response, request_id)
}

async fn answer_rpc(
    served: &Shared,
    request: Request<Body>,
    known_as: &mut Option<Id>,
) -> Result<Response<Body>, Failure> {
    let (parts, body) = request.into_parts();
    let credentials = known(served, &parts).await?;
    let bytes = body::read(served, &parts.headers, body).await?;
    let (id, method, params) = match rpc::parse_line(&bytes)? {
        Incoming::Request { id, method, params } => (id, method, params),
        Incoming::Notification { .. } => {
            return Err(unheard("a notification has no answer: give it an id").into());
        }
        Incoming::Response { .. } => return Err(unheard("nobody has asked for a response").into()),
    };
    drop(bytes);
    *known_as = Some(id.clone());
    let params = context::put(params, context::read(&parts.headers)?)?;
    if wants_events(&parts.headers) {
        let params = as_bearer(&credentials, &method, params)?;
        return Ok(feed::call(served, &credentials, (id, method, params)).await?);
    }
    Ok(match call(served, &credentials, &method, params).await? {
        Ok(result) => answer::json(StatusCode::OK, rpc::success(&id, result)),
        Err(error) if is_stranger(&error) => return Err(answer::of_call(error).into()),
        Err(error) => answer::failed_message(StatusCode::OK, Some(&id), &answer::of_call(error)),
    })
}

/// `POST /v1/{profile}/{object.action}`: the parameters of a method, and its result or its failure.
pub(super) async fn sugar(
    State(served): State<Shared>,
    Path((profile, action)): Path<(String, String)>,
    request: Request<Body>,
) -> Response<Body> {
    let request_id = answer::request_id(request.headers());
    let response = match answer_sugar(&served, &format!("{profile}/{action}"), request).await {
        Ok(response) => response,
        Err(Failure { status, error }) => answer::object(status, &error),
    };
    answer::named(response, request_id)
}

async fn answer_sugar(
    served: &Shared,
    method: &str,
    request: Request<Body>,
) -> Result<Response<Body>, Failure> {
    let (parts, body) = request.into_parts();
    let credentials = known(served, &parts).await?;
    let bytes = body::read(served, &parts.headers, body).await?;
    let params: Value = if bytes.is_empty() {
        Value::Null
    } else {
        let not_json = |error| RpcError::new(ErrorName::ParseError, format!("the body is not JSON: {error}"));
        serde_json::from_slice(&bytes).map_err(not_json)?
    };
    drop(bytes);
    let params = context::put(params, context::read(&parts.headers)?)?;
    match call(served, &credentials, method, params).await? {
        Ok(result) => Ok(answer::json(StatusCode::OK, String::from(Box::<str>::from(result)))),
        Err(error) => Err(answer::of_call(error).into()),
    }
}

/// What a request wants to be known by, once the node has taken it: a stranger's body is not read.
async fn known(served: &Served, parts: &Parts) -> Result<Credentials, Failure> {
    let credentials = credentials(parts)?;
    served.pool.call(&credentials).await?;
    if parts.uri.query().is_some_and(|query| !query.is_empty()) {
        return Err(unheard("nothing is taken from the address of a call").into());
    }
    Ok(credentials)
}

/// Makes a call in a conversation that others of the bearer share.
async fn call(
    served: &Served,
    credentials: &Credentials,
    method: &str,
    params: Value,
) -> Result<Result<Box<RawValue>, CallError>, Failure> {
    if is_opening(method) || is_in_parts(method, &params) {
        let what = format!("{method} goes on behind its answer, which one answer over HTTP does not");
        let error = RpcError::new(ErrorName::Unsupported, what)
            .hint("POST /v1/rpc with `Accept: text/event-stream`, GET /v1/stream or GET /v1/ws do");
        return Err(error.into());
    }
    let params = as_bearer(credentials, method, params)?;
    let place = served.pool.call(credentials).await?;
    Ok(place.make(method, &params).await)
}

/// Whoever greets the node shows the token of its header once more, and no other: others share the conversation.
fn as_bearer(credentials: &Credentials, method: &str, params: Value) -> Result<Value, RpcError> {
    if method != CoreInitialize::NAME {
        return Ok(params);
    }
    let mut fields = match params {
        Value::Null => serde_json::Map::new(),
        Value::Object(fields) => fields,
        other => return Ok(other),
    };
    if fields.get("token").is_some_and(|token| !token.is_null()) {
        return Err(unheard("over HTTP the token stands in Authorization alone"));
    }
    if let Some(token) = &credentials.token {
        fields.insert("token".to_owned(), Value::from(token.as_str()));
    }
    Ok(Value::Object(fields))
}

/// Whether events are wanted rather than one document.
fn wants_events(headers: &HeaderMap) -> bool {
    let wanted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = wanted
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim());
    // The first of them that is offered.
    let offered = kinds.find(|kind| {
        [EVENT_STREAM, answer::JSON, "application/*", "*/*"]
            .iter()
            .any(|known| kind.eq_ignore_ascii_case(known))
    });
    offered.is_some_and(|kind| kind.eq_ignore_ascii_case(EVENT_STREAM))
}

fn unheard(what: &str) -> RpcError {
    RpcError::new(ErrorName::InvalidRequest, what)
}
