//! The listener: loopback only, and the order of the checks.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State,
    routing::any,
    serve::Listener as _,
};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    bearer::{Bearers, Refusal},
    bounded::{Bounded, CONNECTIONS_MAX},
    origin,
};

/// Longest body of a request in bytes: as long as the content of a message may be, and what is around it.
pub const BODY_BYTES_MAX: usize = 5 << 20;

/// How long the head of a request may take, from the moment at which it is waited for. Programs of this machine need no
/// millisecond; who holds connections without saying anything gives them up.
const HEAD_TIME_MAX: Duration = Duration::from_secs(15);

/// How long the body of a request may take.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// Longest head of a request in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;

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
        let serving = tokio::spawn(serve(listener, router, ended, HEAD_TIME_MAX));
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

/// Serves each connection in a task of its own, until the end. The head of a request must come in `head_time`, also of
/// the next one on a connection that is kept: who says nothing makes room.
async fn serve(mut listener: Bounded, router: Router, ended: CancellationToken, head_time: Duration) {
    loop {
        // Losing the race loses no connection: it waits in the kernel's queue.
        let stream = tokio::select! {
            () = ended.cancelled() => return,
            (stream, _) = listener.accept() => stream,
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_time)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let ended = ended.clone();
        // It ends with its peer, or with the gateway.
        drop(tokio::spawn(async move {
            let served = tokio::select! {
                () = ended.cancelled() => return,
                served = connection => served,
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended before its request did");
            }
        }));
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
    match tokio::time::timeout(BODY_TIME_MAX, to_bytes(body, BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => endpoint.answer(Request::from_parts(parts, body)).await,
        Ok(Err(_too_long)) => too_long(),
        Err(_elapsed) => said(StatusCode::REQUEST_TIMEOUT, "the body took longer than 30 s"),
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

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;

    /// Proves MCP-025.
    #[tokio::test]
    async fn who_does_not_finish_the_head_of_a_request_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ended = CancellationToken::new();
        let router = Router::new().fallback(no_such_place);
        let head_time = Duration::from_millis(200);
        let serving = tokio::spawn(serve(Bounded::new(listener, 2), router, ended.clone(), head_time));
        let mut slow = Vec::new();
        for said in ["GET /mcp HTTP/1.1\r\nHost: x\r\nX-Slow:", ""] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            slow.push(stream);
        }
        // There is no room until the others have lost theirs.
        let mut third = TcpStream::connect(address).await.unwrap();
        third.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        third.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        for mut stream in slow {
            let mut rest = Vec::new();
            // A reset is an end as well.
            drop(stream.read_to_end(&mut rest).await);
            assert!(!rest.starts_with(b"HTTP/1.1 2"), "{rest:?}");
        }
        ended.cancel();
        serving.await.unwrap();
    }
}
