//! The server itself: its sockets, its paths and its end.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use edgeplane_os::{Clock as _, SystemClock};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{
    Asked, Dialect, Fault, Received, Reply, Rule, Script, anthropic, chat, gemini,
    kept::{Decision, Kept, prompts, tool_results},
    play::{self, PIECES_MAX, Play},
    responses,
    speech::{Answer, error_body, quota_body, speak},
};

/// More than any program sends: a long conversation with all its tools is some hundred KiB.
const REQUEST_BYTES_MAX: usize = 64 << 20;

/// What every listing of models has; requests may name any other.
const MODEL: &str = "mock-model";

/// A model server on loopback. Dropping it ends it and every answer that it was giving.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    kept: Kept,
    /// Makes ids that no other server of this machine gives at the same time.
    port: u16,
    answers: AtomicU64,
}

type Served = State<Arc<Shared>>;

impl ModelServer {
    /// A server on a port that is free.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start(script: Script) -> Self {
        Self::start_at(0, script).expect("a model server on loopback")
    }

    /// A server on this port, for one that comes back where it was.
    ///
    /// # Errors
    /// If the port is taken, or no thread can be made.
    pub fn start_at(port: u16, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { kept: Kept::new(script.rules), port, answers: AtomicU64::new(0) });
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let router = router(Arc::clone(&shared));
        let serve = move || {
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener);
                let listener = listener.expect("a listener that does not block");
                // Both arms are given up together with the server.
                tokio::select! {
                    _ = axum::serve(listener, router) => {}
                    _ = ended => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("model-server".to_owned()).spawn(serve)?;
        Ok(Self { port, shared, end: Some(end), thread: Some(thread) })
    }

    /// The port on loopback.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it is, without a path behind it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Adds a rule behind the others.
    pub fn rule(&self, rule: Rule) {
        self.shared.kept.add_rule(rule);
    }

    /// The exact texts that users sent, one for each turn that began, in their order.
    #[must_use]
    pub fn received_prompts(&self) -> Vec<String> {
        prompts(&self.requests())
    }

    /// What tools gave back, each once, in their order.
    #[must_use]
    pub fn tool_results(&self) -> Vec<String> {
        tool_results(&self.requests())
    }

    /// Every request for an answer, in their order.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.shared.kept.requests()
    }

    /// What the script wanted and no request allowed, such as a tool that was not offered.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.shared.kept.problems()
    }

    /// Requests to paths that are not served, such as telemetry.
    #[must_use]
    pub fn strays(&self) -> Vec<String> {
        self.shared.kept.strays()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has failed the requests of the test already.
            let _ended = thread.join();
        }
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/models", get(list_models))
        .route("/v1/models/{model}", get(show_model).post(generate))
        .route("/v1beta/models", get(list_gemini_models))
        .route("/v1beta/models/{model}", post(generate))
        .fallback(stray)
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
        .with_state(shared)
}

async fn chat(State(shared): Served, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    with_json(Dialect::Chat, &body, async |body| {
        let asked = chat::read(&body);
        shared.answer(Request { uri, headers, body, asked, as_list: false }).await
    })
    .await
}

async fn responses(State(shared): Served, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    with_json(Dialect::Responses, &body, async |body| {
        let asked = responses::read(&body);
        shared.answer(Request { uri, headers, body, asked, as_list: false }).await
    })
    .await
}

async fn messages(State(shared): Served, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    with_json(Dialect::Anthropic, &body, async |body| {
        let asked = anthropic::read(&body);
        shared.answer(Request { uri, headers, body, asked, as_list: false }).await
    })
    .await
}

async fn count_tokens(body: Bytes) -> Response {
    with_json(Dialect::Anthropic, &body, async |body| {
        json_response(StatusCode::OK, &anthropic::count(&anthropic::read(&body)))
    })
    .await
}

async fn generate(
    State(shared): Served,
    Path(call): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (model, verb) = call.rsplit_once(':').unwrap_or((&call, ""));
    let streamed = verb == "streamGenerateContent";
    let as_events = uri.query().is_some_and(|query| query.split('&').any(|part| part == "alt=sse"));
    with_json(Dialect::Gemini, &body, async |body| match verb {
        "generateContent" | "streamGenerateContent" => {
            let asked = gemini::read(&body, model, streamed);
            let as_list = streamed && !as_events;
            shared.answer(Request { uri, headers, body, asked, as_list }).await
        }
        "countTokens" => json_response(StatusCode::OK, &gemini::count(&gemini::read(&body, model, false))),
        other => failure(Dialect::Gemini, 404, &format!("models do not know `{other}`")),
    })
    .await
}

async fn list_models(headers: HeaderMap) -> Response {
    let listed = if headers.contains_key("anthropic-version") {
        let model = json!({ "type": "model", "id": MODEL, "display_name": MODEL, "created_at": "2026-01-01T00:00:00Z" });
        json!({ "data": [model], "has_more": false, "first_id": MODEL, "last_id": MODEL })
    } else {
        json!({ "object": "list", "data": [openai_model(MODEL)] })
    };
    json_response(StatusCode::OK, &listed)
}

async fn show_model(Path(model): Path<String>) -> Response {
    json_response(StatusCode::OK, &openai_model(&model))
}

async fn list_gemini_models() -> Response {
    let methods = json!(["generateContent", "streamGenerateContent", "countTokens"]);
    let model = json!({ "name": format!("models/{MODEL}"), "supportedGenerationMethods": methods });
    json_response(StatusCode::OK, &json!({ "models": [model] }))
}

fn openai_model(model: &str) -> Value {
    json!({ "id": model, "object": "model", "created": 0, "owned_by": "edgeplane" })
}

async fn stray(State(shared): Served, method: Method, uri: Uri) -> Response {
    shared.kept.stray(format!("{method} {uri}"));
    let text = format!("no model server has {}", uri.path());
    json_response(StatusCode::NOT_FOUND, &json!({ "error": { "message": text } }))
}

/// A request for an answer.
struct Request {
    uri: Uri,
    headers: HeaderMap,
    body: Value,
    asked: Asked,
    as_list: bool,
}

impl Shared {
    async fn answer(self: Arc<Self>, request: Request) -> Response {
        let Request { uri, headers, body, asked, as_list } = request;
        let dialect = asked.dialect;
        let headers = headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        match self.kept.decide(uri.to_string(), headers.collect(), body, asked.clone()) {
            Decision::Play(reply) => self.play(asked, reply, as_list).await,
            Decision::Fail(fault, reply) => match fault {
                Fault::TooManyRequests { retry_after_s } => {
                    let mut response = failure(dialect, 429, "the script allows no request now");
                    response.headers_mut().insert(header::RETRY_AFTER, retry_after_s.into());
                    response
                }
                Fault::QuotaUsedUp => json_response(StatusCode::TOO_MANY_REQUESTS, &quota_body(dialect)),
                Fault::Status(status) => failure(dialect, status, "the script makes this request fail"),
                Fault::Stall => match play::stall().await {},
                Fault::Cut => self.play(asked, play::cut(reply), as_list).await,
            },
        }
    }

    async fn play(self: Arc<Self>, asked: Asked, reply: Reply, as_list: bool) -> Response {
        let number = self.answers.fetch_add(1, Ordering::Relaxed);
        let now = SystemClock.now();
        // Unlike those of a server that had this port before, since programs keep ids in their sessions.
        let id = format!("{:x}{:x}{number:x}", now.as_micros(), self.port);
        let answer = Answer::new(&asked, id.clone(), now.as_micros() / 1_000_000);
        let speech = speak(&asked, answer, as_list);
        let stream = asked.stream;
        let play = Play::new(speech, asked, id);
        if stream {
            return self.stream(play, reply, as_list);
        }
        let (whole, problems) = play.whole(reply).await;
        problems.into_iter().for_each(|problem| self.kept.problem(problem));
        match whole {
            Some(whole) => json_response(StatusCode::OK, &whole),
            None => cut_response(),
        }
    }

    fn stream(self: Arc<Self>, play: Play, reply: Reply, as_list: bool) -> Response {
        let (sender, mut receiver) = mpsc::channel(PIECES_MAX);
        // Ends by itself when the answer is given or nobody listens, and with the runtime at the latest.
        tokio::spawn(async move {
            let problems = play.stream(reply, sender).await;
            problems.into_iter().for_each(|problem| self.kept.problem(problem));
        });
        let body = Body::from_stream(stream::poll_fn(move |context| receiver.poll_recv(context)));
        let kind = if as_list { "application/json" } else { "text/event-stream" };
        ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], body).into_response()
    }
}

/// Half an answer, and then the connection breaks.
fn cut_response() -> Response {
    let pieces = [Ok(Bytes::from_static(b"{")), Err(io::Error::other("the script cuts the answer here"))];
    let body = Body::from_stream(stream::iter(pieces));
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn with_json(dialect: Dialect, body: &Bytes, then: impl AsyncFnOnce(Value) -> Response) -> Response {
    match serde_json::from_slice(body) {
        Ok(body) => then(body).await,
        Err(error) => failure(dialect, 400, &format!("the request is no JSON: {error}")),
    }
}

fn failure(dialect: Dialect, status: u16, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json_response(code, &error_body(dialect, status, message))
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
