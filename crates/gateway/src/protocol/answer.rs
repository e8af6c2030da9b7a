//! Answers as HTTP has them: a status by the name of an error, and JSON.

use axum::body::Body;
use bytes::Bytes;
use edgeplane_client::CallError;
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{self, Id, RpcError};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use crate::bearer::Refusal;

/// What answers are.
pub(crate) const JSON: &str = "application/json";

/// The caller's name for a request, which its answer bears again.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// JSON with a status.
pub(crate) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer realm=\"edgeplane\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The status that belongs to a name.
pub(crate) fn status(name: ErrorName) -> StatusCode {
    StatusCode::from_u16(name.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A failure as an object.
pub(crate) fn object(status: StatusCode, error: &RpcError) -> Response<Body> {
    json(status, serde_json::to_vec(error).unwrap_or_default())
}

/// A failure as an object, with the status of its name.
pub(crate) fn failed(error: &RpcError) -> Response<Body> {
    object(status(error.name()), error)
}

/// A failure as a message of JSON-RPC.
pub(crate) fn failed_message(status: StatusCode, id: Option<&Id>, error: &RpcError) -> Response<Body> {
    json(status, rpc::failure(id, error))
}

/// Why whoever asks is not heard, as a failure.
pub(crate) fn refused(refusal: &Refusal) -> Response<Body> {
    failed(&of_refusal(refusal))
}

/// Why whoever asks is not heard.
pub(crate) fn of_refusal(refusal: &Refusal) -> RpcError {
    match refusal {
        Refusal::NoToken => RpcError::new(
            ErrorName::Unauthenticated,
            "no token: one is taken, as `Authorization: Bearer …`",
        )
        .hint("an agent gets one with the method security/token.epoch, others with `edgeplane token create`"),
        Refusal::Refused(why) => RpcError::new(ErrorName::Unauthenticated, why.clone()),
        Refusal::Unavailable(why) => RpcError::new(ErrorName::Unavailable, why.clone()),
    }
}

/// Why a call has no result.
pub(crate) fn of_call(error: CallError) -> RpcError {
    match error {
        CallError::Rpc(error) => error,
        // What the node says and a client cannot read is a defect of ours, not of whoever asked.
        CallError::Protocol { .. } => RpcError::new(ErrorName::Internal, error.to_string())
            .effect(edgeplane_types::error::Effect::Unknown),
        other => {
            let effect = match other.name() {
                ErrorName::OutcomeUnknown => edgeplane_types::error::Effect::Unknown,
                _ => edgeplane_types::error::Effect::None,
            };
            RpcError::new(other.name(), other.to_string()).effect(effect)
        }
    }
}

/// There is no such place.
pub(crate) fn nothing_here() -> RpcError {
    RpcError::new(ErrorName::NotFound, "there is nothing here")
        .hint("the protocol is below /v1, the Model Context Protocol at /mcp, where they are served")
}

/// The caller's name for a request, to be given back.
pub(super) fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(REQUEST_ID).cloned()
}

/// Gives an answer the name that its request had.
pub(super) fn named(mut response: Response<Body>, request_id: Option<HeaderValue>) -> Response<Body> {
    if let Some(request_id) = request_id {
        response.headers_mut().insert(REQUEST_ID, request_id);
    }
    response
}
