//! The listener: who may connect, from where, and the order of the checks.

use std::{io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State,
    middleware::{self, Next},
    routing::any,
    serve::Listener as _,
};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use hyper::{body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    task::JoinHandle,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    bearer::{Bearers, Refusal},
    bounded::{Bounded, Counted},
    conversation::Presented,
    protocol::{self, Protocol, answer},
    site::{HostName, Site},
    tls::Tls,
};

/// Connections at a time of a listener for the protocol: room for a thousand subscribers and as many callers.
pub const CONNECTIONS_MAX: usize = 2_048;

/// Connections at a time of a listener for the Model Context Protocol alone.
pub const MCP_CONNECTIONS_MAX: usize = 256;

/// Longest body of a request of the Model Context Protocol in bytes: as long as the content of a message may be, and what
/// is around it.
pub const MCP_BODY_BYTES_MAX: usize = 5 << 20;

/// How long the head of a request may take, from the moment at which it is waited for, and the greeting of TLS before it.
/// Programs of this machine need no millisecond; who holds connections without saying anything gives them up.
const HEAD_TIME_MAX: Duration = Duration::from_secs(15);

/// How long the body of a request may take.
pub(crate) const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// Longest head of a request in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// How long what is under way may take when the gateway ends.
const END_TIME_MAX: Duration = Duration::from_secs(2);

/// Where the server of the Model Context Protocol is.
const MCP_PATH: &str = "/mcp";

/// Keys of an address that look as if a secret stood behind them.
const SECRET_KEYS: [&str; 4] = ["token", "access_token", "authorization", "bearer"];

/// Why nothing is listened to.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// It could be reached from another machine, and nothing would be encrypted.
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

/// Where and how a gateway listens.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address; port 0 takes any that is free.
    pub address: SocketAddr,
    /// What encrypts it. Without it only an address of this machine alone is listened on.
    pub tls: Option<Tls>,
    /// Names by which an encrypted listener is called besides those of its certificate.
    pub hosts: Vec<HostName>,
    /// Connections at a time; who comes beyond waits.
    pub connections_max: usize,
}

impl Config {
    /// Whether it may be listened on at all.
    ///
    /// # Errors
    /// If another machine could reach what is not encrypted.
    pub fn check(&self) -> Result<(), ListenError> {
        match &self.tls {
            None if !self.address.ip().is_loopback() => Err(ListenError::NotLoopback(self.address)),
            _ => Ok(()),
        }
    }

    fn site(&self) -> Site {
        match &self.tls {
            None => Site::ThisMachine,
            Some(tls) => Site::Named { hosts: self.hosts.clone(), certificate: tls.certificate() },
        }
    }
}

/// What is served behind a listener.
#[derive(Debug, Default)]
pub struct Routes {
    router: Router,
    /// What goes on behind an answer.
    tasks: TaskTracker,
}

impl Routes {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The Model Context Protocol at `/mcp`, for each bearer its own endpoint.
    #[must_use]
    pub fn with_mcp(mut self, bearers: Bearers) -> Self {
        self.router = self.router.route(MCP_PATH, any(answer_mcp).with_state(Arc::new(bearers)));
        self
    }

    /// The node's own protocol below `/v1`.
    #[must_use]
    pub fn with_protocol(mut self, protocol: Protocol) -> Self {
        self.router = self.router.merge(protocol::router(protocol, self.tasks.clone()));
        self
    }

    /// The same with what somebody adds.
    #[must_use]
    pub fn map(mut self, add: impl FnOnce(Router) -> Router) -> Self {
        self.router = add(self.router);
        self
    }
}

/// A gateway that listens. Dropping it ends the listening and every answer that is under way.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    serving: JoinHandle<()>,
    tasks: TaskTracker,
    closing: CancellationToken,
    _until: DropGuard,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Gateway {
    /// Listens.
    ///
    /// # Errors
    /// If the address is another machine's to reach and nothing is encrypted, or cannot be had.
    pub async fn listen(config: Config, routes: Routes) -> Result<Self, ListenError> {
        config.check()?;
        let bind = |source| ListenError::Bind { address: config.address, source };
        let listener = TcpListener::bind(config.address).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let listener = Bounded::new(listener, config.connections_max);
        let site = Arc::new(config.site());
        let router =
            routes.router.fallback(no_such_place).layer(middleware::from_fn_with_state(site, from_where));
        let (until, closing) = (CancellationToken::new(), CancellationToken::new());
        let door = Door {
            router,
            tls: config.tls,
            head_time: HEAD_TIME_MAX,
            tasks: routes.tasks.clone(),
            until: until.clone(),
            closing: closing.clone(),
        };
        let serving = tokio::spawn(serve(listener, door));
        Ok(Self { address, serving, tasks: routes.tasks, closing, _until: until.drop_guard() })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets nobody else in, and lets what is under way come to its end for a short while.
    pub async fn end(self) {
        self.closing.cancel();
        self.tasks.close();
        if tokio::time::timeout(END_TIME_MAX, self.tasks.wait()).await.is_err() {
            tracing::info!("some answers over HTTP were cut off");
        }
    }
}

/// What each connection needs.
#[derive(Clone)]
struct Door {
    router: Router,
    tls: Option<Tls>,
    head_time: Duration,
    tasks: TaskTracker,
    /// Everything ends at once.
    until: CancellationToken,
    /// Nothing new begins.
    closing: CancellationToken,
}

/// Serves each connection in a task of its own, until the end. The head of a request must come in `head_time`, also of
/// the next one on a connection that is kept: who says nothing makes room.
async fn serve(mut listener: Bounded, door: Door) {
    loop {
        // Losing the race loses no connection: it waits in the kernel's queue.
        let stream = tokio::select! {
            () = door.until.cancelled() => return,
            () = door.closing.cancelled() => return,
            (stream, _) = listener.accept() => stream,
        };
        // It ends with its peer, or with the gateway.
        drop(door.tasks.spawn(connection(stream, door.clone())));
    }
}

async fn connection(stream: Counted, door: Door) {
    let Some(tls) = door.tls.clone() else { return speak(stream, Presented::Nothing, door).await };
    let greeted = tokio::select! {
        () = door.until.cancelled() => return,
        () = door.closing.cancelled() => return,
        greeted = tokio::time::timeout(door.head_time, tls.accept(stream)) => greeted,
    };
    match greeted {
        Ok(Ok((stream, presented))) => speak(stream, presented, door).await,
        Ok(Err(error)) => tracing::debug!(%error, "a connection was not encrypted as it should be"),
        Err(_elapsed) => tracing::debug!("a connection was not encrypted in time"),
    }
}

async fn speak<S>(stream: S, presented: Presented, door: Door)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Door { router, head_time, until, closing, .. } = door;
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(presented);
        TowerToHyperService::new(router.clone()).call(request)
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_time)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
    );
    let served = tokio::select! {
        () = until.cancelled() => return,
        served = connection.as_mut() => served,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                () = until.cancelled() => return,
                served = connection => served,
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended before its request did");
    }
}

/// Looks at where a request comes from before anything else of it is looked at.
async fn from_where(State(site): State<Arc<Site>>, request: Request<Body>, next: Next) -> Response<Body> {
    if !site.allows(request.headers()) {
        let what = match *site {
            Site::ThisMachine => "only programs of this machine are served: Host or Origin is not its own",
            Site::Named { .. } => "Host or Origin is no name of this listener",
        };
        return answer::object(StatusCode::FORBIDDEN, &RpcError::new(ErrorName::PermissionDenied, what));
    }
    let query = request.uri().query().unwrap_or_default();
    if let Some((key, _)) = form_urlencoded::parse(query.as_bytes())
        .find(|(key, _)| SECRET_KEYS.iter().any(|secret| key.trim().eq_ignore_ascii_case(secret)))
    {
        let what =
            format!("`{key}` in an address: tokens belong into Authorization, addresses stand in logs");
        return answer::failed(&RpcError::new(ErrorName::InvalidRequest, what));
    }
    next.run(request).await
}

async fn no_such_place() -> Response<Body> {
    answer::failed(&answer::nothing_here())
}

/// Whose it is, then how long it is: a stranger's body is not read.
async fn answer_mcp(State(bearers): State<Arc<Bearers>>, request: Request<Body>) -> Response<Body> {
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
    match tokio::time::timeout(BODY_TIME_MAX, to_bytes(body, MCP_BODY_BYTES_MAX)).await {
        Ok(Ok(body)) => endpoint.answer(Request::from_parts(parts, body)).await,
        Ok(Err(_too_long)) => too_long(),
        Err(_elapsed) => said(StatusCode::REQUEST_TIMEOUT, "the body took longer than 30 s"),
    }
}

/// Whether the body is longer than it may be, as the request itself says. One that says nothing is counted as it comes.
fn is_too_long(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > MCP_BODY_BYTES_MAX)
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

    /// Proves MCP-025, BIND-070.
    #[tokio::test]
    async fn who_does_not_finish_the_head_of_a_request_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ended = CancellationToken::new();
        let door = Door {
            router: Router::new().fallback(no_such_place),
            tls: None,
            head_time: Duration::from_millis(200),
            tasks: TaskTracker::new(),
            until: ended.clone(),
            closing: CancellationToken::new(),
        };
        let serving = tokio::spawn(serve(Bounded::new(listener, 2), door));
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
