//! The node's protocol below `/v1`: calls, streams and sockets.
//!
//! Owns the routes. Each of the modules below owns one way to speak; none of them knows what a method does.

pub(crate) mod answer;
mod body;
mod context;
mod feed;
mod hook;
mod json;
mod pool;
mod query;
mod socket;
mod unary;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::State,
    routing::{get, post},
};
use edgeplane_client::CallError;
use edgeplane_wire::{
    api::{Empty, core::HealthResult},
    catalogue::{Call as _, CoreHealth, NodeStatus},
};
use http::{HeaderValue, Request, Response, StatusCode, header, request::Parts};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use tower_http::{
    CompressionLevel,
    compression::{CompressionLayer, DefaultPredicate, Predicate as _, predicate::SizeAbove},
    decompression::RequestDecompressionLayer,
};

use crate::{
    bearer::Refusal,
    conversation::{Converse, Credentials, Presented},
};
use pool::Pool;

pub use body::BODY_BYTES_MAX;

/// Answers with the numbers of the node, as text.
pub type Metrics = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> + Send + Sync>;

/// How long the node may take to say how it is.
const HEALTH_TIME_MAX: Duration = Duration::from_secs(5);

/// Shorter answers are not compressed: it would cost more time than the bytes that it saves.
const COMPRESSED_BYTES_MIN: u64 = 1_024;

/// What the routes need.
#[derive(Clone)]
pub struct Protocol {
    /// Begins a conversation with the node.
    pub converse: Converse,
    /// The description of the protocol at `/v1/openapi.json`; without it there is no such place.
    pub openapi: Option<&'static str>,
    /// What answers at `/metrics` whoever may ask how the node is; without it there is no such place.
    pub metrics: Option<Metrics>,
}

impl fmt::Debug for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Protocol").finish_non_exhaustive()
    }
}

/// What is shared by all requests.
struct Served {
    protocol: Protocol,
    pool: Pool,
    /// Room for bodies that are more than a few lines.
    large_bodies: Semaphore,
    /// Sockets that are open.
    tasks: TaskTracker,
}

type Shared = Arc<Served>;

/// Every route.
pub(crate) fn router(protocol: Protocol, tasks: TaskTracker) -> Router {
    let (has_openapi, has_metrics) = (protocol.openapi.is_some(), protocol.metrics.is_some());
    let served = Arc::new(Served {
        pool: Pool::new(Arc::clone(&protocol.converse)),
        protocol,
        large_bodies: Semaphore::new(body::LARGE_AT_ONCE),
        tasks,
    });
    let mut whole =
        Router::new().route("/v1/rpc", post(unary::rpc)).route("/v1/{profile}/{action}", post(unary::sugar));
    if has_openapi {
        whole = whole.route("/v1/openapi.json", get(openapi));
    }
    if has_metrics {
        whole = whole.route("/metrics", get(metrics));
    }
    let large = DefaultPredicate::new().and(SizeAbove::new(COMPRESSED_BYTES_MIN));
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(large);
    whole
        .layer(compression)
        .layer(RequestDecompressionLayer::new())
        // Nothing below is compressed: what it says must arrive as soon as it is said.
        .route("/v1/stream", get(feed::stream))
        // What is signed is the bytes as they came.
        .route("/v1/hooks/{name}", post(hook::deliver))
        .route("/v1/ws", get(socket::open))
        .route("/healthz", get(health))
        .with_state(served)
}

/// By what whoever sent a request wants to be known.
fn credentials(parts: &Parts) -> Result<Credentials, Refusal> {
    let presented = parts.extensions.get::<Presented>().copied().unwrap_or(Presented::Nothing);
    Credentials::read(&parts.headers, presented)
}

async fn openapi(State(served): State<Shared>) -> Response<Body> {
    let mut response = Response::new(Body::from(served.protocol.openapi.unwrap_or_default()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(answer::JSON));
    response
}

/// Whether the node serves, for those that start and end it: nothing more, so no token is asked for.
async fn health(State(served): State<Shared>) -> Response<Body> {
    let asked = async {
        let call = served.pool.call(&Credentials::NOBODY).await.ok()?;
        let raw = call.make(CoreHealth::NAME, &json!(Empty {})).await.ok()?;
        serde_json::from_str::<HealthResult>(raw.get()).ok()
    };
    let found = tokio::time::timeout(HEALTH_TIME_MAX, asked).await;
    let is_well = matches!(found, Ok(Some(health)) if health.status == "ok");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    response
}

/// The numbers of the node, for whoever may ask how it is.
async fn metrics(State(served): State<Shared>, request: Request<Body>) -> Response<Body> {
    let credentials = match credentials(&request.into_parts().0) {
        Ok(credentials) => credentials,
        Err(refusal) => return answer::refused(&refusal),
    };
    let call = match served.pool.call(&credentials).await {
        Ok(call) => call,
        Err(refusal) => return answer::refused(&refusal),
    };
    match (call.make(NodeStatus::NAME, &Value::Null).await, &served.protocol.metrics) {
        (Ok(_may_ask), Some(metrics)) => metrics().await,
        (Ok(_may_ask), None) => answer::object(StatusCode::NOT_FOUND, &answer::nothing_here()),
        (Err(error), _) => answer::failed(&answer::of_call(error)),
    }
}

/// Whether a call failed because its caller is not known any more.
fn is_stranger(error: &CallError) -> bool {
    error.name() == edgeplane_types::ErrorName::Unauthenticated
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;

    use super::*;
    use crate::fake::{self, Said};

    async fn get(router: &Router, path: &str, token: &str) -> (u16, String) {
        let mut request = Request::get(path);
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let response =
            TowerToHyperService::new(router.clone()).call(request.body(Body::empty()).unwrap()).await;
        let (parts, body) = response.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
    }

    /// Proves BIND-060.
    #[tokio::test]
    async fn what_is_handed_in_is_served_to_whoever_may_see_it() {
        let (converse, _counts) = fake::node(|method| match method {
            "core/health" => Said::Result(json!({ "status": "degraded", "checks": [] })),
            _ => Said::Result(json!({})),
        });
        let metrics: Metrics = Arc::new(|| Box::pin(async { Response::new(Body::from("up 1\n")) }));
        let whole = Protocol { converse, openapi: Some("{\"openapi\":\"3.1.0\"}"), metrics: Some(metrics) };
        let bare = Protocol { openapi: None, metrics: None, ..whole.clone() };
        let whole = router(whole, TaskTracker::new());
        assert_eq!(get(&whole, "/v1/openapi.json", "").await, (200, "{\"openapi\":\"3.1.0\"}".to_owned()));
        assert_eq!(get(&whole, "/metrics", "a").await, (200, "up 1\n".to_owned()));
        assert_eq!(get(&whole, "/metrics", "").await.0, 401);
        assert_eq!(get(&whole, "/metrics", "bad").await.0, 401);
        assert_eq!(get(&whole, "/healthz", "").await, (503, String::new()));
        let bare = router(bare, TaskTracker::new());
        assert_eq!(get(&bare, "/metrics", "a").await.0, 404);
        assert_ne!(get(&bare, "/v1/openapi.json", "a").await.0, 200);
    }
}
