//! The server as an answerer of HTTP requests, for whoever listens.
//!
//! One endpoint is for one bearer: sessions of one are not found at another. Who may speak, from where, is decided before
//! a request comes here.

use std::{convert::Infallible, fmt, pin::Pin, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::Deserialize;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{Choice, Way, capabilities::Capabilities, handler::Handler, link::Link};

/// Sessions that one bearer may have; more are refused until one is idle for five minutes or ended.
pub const SESSIONS_MAX: usize = 64;

/// An answer in the making. Its body may go on for as long as a subscription does.
pub type HttpAnswer = Pin<Box<dyn Future<Output = Response<BoxBody<Bytes, Infallible>>> + Send>>;

type Answering = dyn Fn(Request<Full<Bytes>>) -> HttpAnswer + Send + Sync;

/// Answers the HTTP requests of one bearer. Dropping it ends whatever it has open.
pub struct HttpEndpoint {
    answering: Box<Answering>,
    sessions: Arc<LocalSessionManager>,
    _until: DropGuard,
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint").finish_non_exhaustive()
    }
}

impl HttpEndpoint {
    /// The tools, resources and prompts of a node, and those of its capabilities that are chosen, for whom the node knows
    /// that way.
    #[must_use]
    pub fn new(way: Way, choice: Choice) -> Self {
        let link = Link::new(way);
        let capabilities = Capabilities::new(Arc::clone(&link), choice);
        Self::over(move || Handler::new(Arc::clone(&link), Arc::clone(&capabilities)))
    }

    /// The same for any server, such as the one that the conformance suite asks for.
    #[must_use]
    pub fn over<H: ServerHandler>(make: impl Fn() -> H + Send + Sync + 'static) -> Self {
        let until = CancellationToken::new();
        let sessions = Arc::new(LocalSessionManager::default());
        // Where requests may come from was looked at before; here the address is what it was sent to.
        let config = StreamableHttpServerConfig::default()
            .with_cancellation_token(until.child_token())
            .disable_allowed_hosts();
        let service = StreamableHttpService::new(move || Ok(make()), Arc::clone(&sessions), config);
        let answering = move |request: Request<Full<Bytes>>| -> HttpAnswer {
            let service = service.clone();
            Box::pin(async move { service.handle(request).await })
        };
        Self { answering: Box::new(answering), sessions, _until: until.drop_guard() }
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Bytes>) -> Response<BoxBody<Bytes, Infallible>> {
        if begins_session(request.body()) && self.sessions.sessions.read().await.len() >= SESSIONS_MAX {
            return refused();
        }
        (self.answering)(request.map(Full::new)).await
    }
}

/// Whether a request is the handshake of a session.
fn begins_session(body: &Bytes) -> bool {
    #[derive(Deserialize)]
    struct Begun<'a> {
        #[serde(borrow)]
        method: std::borrow::Cow<'a, str>,
    }
    serde_json::from_slice::<Begun<'_>>(body).is_ok_and(|begun| begun.method == "initialize")
}

fn refused() -> Response<BoxBody<Bytes, Infallible>> {
    let what =
        format!("no more than {SESSIONS_MAX} sessions of one bearer: end one, or use a revision without\n");
    let mut response = Response::new(Full::new(Bytes::from(what)).boxed());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}
