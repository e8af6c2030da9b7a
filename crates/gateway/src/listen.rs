//! The listener: loopback only, and the order of the checks.

use std::{io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State,
    routing::any,
};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    bearer::{Bearers, Refusal},
    bounded::{Bounded, CONNECTIONS_MAX},
    origin,
};

/// Longest body of a request in bytes: as long as the content of a message may be, and what is around it.
pub const BODY_BYTES_MAX: usize = 5 << 20;

/// Where the server of the Model Context Protocol is.
const MCP_PATH: &str = "/mcp";

/// Why nothing is listened to.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// It could be reached from another machine.
    #[error("`{0}` is no address of this machine alone")]
    NotLoopback(SocketAddr),
    /// The address cannot be had.
    #[error("cannot listen on `{address}`")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// A gateway that listens. Dropping it ends the listening and every answer that is under way.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    serving: JoinHandle<()>,
    _until: DropGuard,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Gateway {
    /// Listens on an address of this machine alone; port 0 takes any that is free.
    ///
    /// # Errors
    /// If the address is another machine's to reach, or cannot be had.
    pub async fn listen(address: SocketAddr, bearers: Bearers) -> Result<Self, ListenError> {
        Self::listen_with(address, Self::router(bearers)).await
    }

    /// The same with a router that has been added to.
    ///
    /// # Errors
    /// As [`Self::listen`].
    pub async fn listen_with(address: SocketAddr, router: Router) -> Result<Self, ListenError> {
        if !address.ip().is_loopback() {
            return Err(ListenError::NotLoopback(address));
        }
        let bind = |source| ListenError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let listener = Bounded::new(listener, CONNECTIONS_MAX);
        let until = CancellationToken::new();
        let ended = until.clone();
        let serving = tokio::spawn(async move {
            let serving = axum::serve(listener, router).with_graceful_shutdown(ended.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(%error, "the gateway ended");
            }
        });
        Ok(Self { address, serving, _until: until.drop_guard() })
    }

    /// Every route with its checks.
    pub fn router(bearers: Bearers) -> Router {
        Router::new().route(MCP_PATH, any(answer)).fallback(no_such_place).with_state(Arc::new(bearers))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn no_such_place() -> Response<Body> {
    said(StatusCode::NOT_FOUND, "there is nothing here; the Model Context Protocol is at /mcp")
}

/// Where it comes from, then whose it is, then how long it is: a stranger's body is not read.
async fn answer(State(bearers): State<Arc<Bearers>>, request: Request<Body>) -> Response<Body> {
    if !origin::is_local(request.headers()) {
        return said(
            StatusCode::FORBIDDEN,
            "only programs of this machine are served: Host or Origin is not its own",
        );
    }
    if request.uri().query().is_some_and(|query| !query.is_empty()) {
        return said(
            StatusCode::BAD_REQUEST,
            "nothing is taken from an address: tokens belong into Authorization",
        );
    }
    let endpoint = match bearers.endpoint(request.headers()).await {
        Ok(endpoint) => endpoint,
        Err(refusal) => return refused(&refusal),
    };
    if is_too_long(request.headers()) {
        return too_long();
    }
    let (mut parts, body) = request.into_parts();
    // Whoever answers has a connection of this bearer, and no need for the secret.
    parts.headers.remove(header::AUTHORIZATION);
    match to_bytes(body, BODY_BYTES_MAX).await {
        Ok(body) => endpoint.answer(Request::from_parts(parts, body)).await,
        Err(_too_long) => too_long(),
    }
}

/// Whether the body is longer than it may be, as the request itself says. One that says nothing is counted as it comes.
fn is_too_long(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > BODY_BYTES_MAX)
}

fn too_long() -> Response<Body> {
    said(StatusCode::PAYLOAD_TOO_LARGE, "the body is longer than 5 MiB, or was cut off")
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let (status, what) = match refusal {
        Refusal::NoToken => (
            StatusCode::UNAUTHORIZED,
            "no token: an agent gets one with the method security/token.epoch, others with `edgeplane token create`"
                .to_owned(),
        ),
        Refusal::Refused(why) => (StatusCode::UNAUTHORIZED, why.clone()),
        Refusal::Unavailable(why) => (StatusCode::SERVICE_UNAVAILABLE, why.clone()),
    };
    let mut response = said(status, &what);
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer realm=\"edgeplane\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn said(status: StatusCode, what: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{what}\n")));
    *response.status_mut() = status;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}
