//! `POST /v1/hooks/NAME`: deliveries to automations, in the form of Standard Webhooks.
//!
//! No token is asked for: what is delivered is signed with a secret, and the node, which knows it, decides whether the
//! signature counts. What came is handed over byte for byte.

use axum::{
    body::Body,
    extract::{Path, State},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::automation::{DELIVERY_BYTES_MAX, DeliverWebhookParams},
    catalogue::{Call as _, WebhookDeliver},
    rpc::RpcError,
};
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::value::RawValue;

use super::{Shared, answer};
use crate::{conversation::Credentials, listen::BODY_TIME_MAX};

/// The headers of a delivery.
const ID: &str = "webhook-id";
const TIMESTAMP: &str = "webhook-timestamp";
const SIGNATURE: &str = "webhook-signature";

/// Longest of them in bytes.
const HEADER_BYTES_MAX: usize = 1_024;

type Failure = (StatusCode, RpcError);

pub(super) async fn deliver(
    State(served): State<Shared>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Response<Body> {
    match take(&served, name, request).await {
        Ok(result) => answer::json(StatusCode::ACCEPTED, String::from(Box::<str>::from(result))),
        Err((status, error)) => answer::object(status, &error),
    }
}

async fn take(served: &Shared, name: String, request: Request<Body>) -> Result<Box<RawValue>, Failure> {
    let (parts, body) = request.into_parts();
    let headers = &parts.headers;
    let named = |key: &str| named(headers, key);
    let (id, timestamp, signatures) = (named(ID)?, named(TIMESTAMP)?, named(SIGNATURE)?);
    let is_json = is_json(headers)?;
    let body = read(headers, body).await?;
    let body = STANDARD.encode(body);
    let params = DeliverWebhookParams { name, id, timestamp, signatures, is_json, body };
    let params = serde_json::to_value(&params).unwrap_or_default();
    let failed = |error: RpcError| (answer::status(error.name()), error);
    let place = served.pool.call(&Credentials::NOBODY).await;
    let place = place.map_err(|refusal| failed(answer::of_refusal(&refusal)))?;
    let called = place.make(WebhookDeliver::NAME, &params).await;
    called.map_err(|error| failed(answer::of_call(error)))
}

fn refused(status: StatusCode, name: ErrorName, what: String) -> Failure {
    (status, RpcError::new(name, what))
}

fn named(headers: &HeaderMap, key: &str) -> Result<String, Failure> {
    let value = headers.get(key).and_then(|value| value.to_str().ok());
    match value.filter(|value| !value.is_empty() && value.len() <= HEADER_BYTES_MAX) {
        Some(value) => Ok(value.to_owned()),
        None => {
            let what = format!("a delivery has the header `{key}`, of at most {HEADER_BYTES_MAX} bytes");
            Err(refused(StatusCode::BAD_REQUEST, ErrorName::InvalidRequest, what))
        }
    }
}

fn is_json(headers: &HeaderMap) -> Result<bool, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_encoded = headers.contains_key(header::CONTENT_ENCODING);
    match essence.as_str() {
        _ if is_encoded => {}
        "application/json" => return Ok(true),
        essence if essence.ends_with("+json") => return Ok(true),
        essence if essence.starts_with("text/") => return Ok(false),
        _ => {}
    }
    let what = "a delivery is application/json or text, and not compressed".to_owned();
    Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorName::InvalidRequest, what))
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
    let too_long = || {
        let what = format!("a delivery has at most {DELIVERY_BYTES_MAX} bytes");
        refused(StatusCode::PAYLOAD_TOO_LARGE, ErrorName::TooLarge, what)
    };
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if length.is_some_and(|length: usize| length > DELIVERY_BYTES_MAX) {
        return Err(too_long());
    }
    let reading = Limited::new(body, DELIVERY_BYTES_MAX).collect();
    match tokio::time::timeout(BODY_TIME_MAX, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(error)) => {
            let what = format!("the delivery cannot be read: {error}");
            Err(refused(StatusCode::BAD_REQUEST, ErrorName::InvalidRequest, what))
        }
        Err(_elapsed) => {
            let what = format!("the delivery took longer than {} s", BODY_TIME_MAX.as_secs());
            Err(refused(StatusCode::REQUEST_TIMEOUT, ErrorName::DeadlineExceeded, what))
        }
    }
}
