//! One connection to one server, from the greeting to its end.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http::{HeaderName, HeaderValue};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient,
    model::{
        CallToolRequestParams, ClientRequest, GetPromptRequestParams, InputRequest, InputRequiredResult,
        InputResponses, ListPromptsRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, Request, RequestOptionalParam, ServerResult,
    },
    service::{ClientInitializeError, PeerRequestOptions, RunningService, ServiceError},
    transport::{
        DynamicTransportError, StreamableHttpClientTransport, common::client_side_sse::ExponentialBackoff,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Map, Value};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Address, Asking, CallFailure, Ended, Failure, Inventory, Limits, Listening, OfferKind, Program, Question,
    Target,
    failure::said,
    guard::Guard,
    handler::{Handler, Watchers},
    limits::{CALLS_MAX, FRAME_BYTES_MAX, PAGES_MAX, PERSON_LOOK, ROUNDS_MAX},
    lines::Lines,
    oauth::Tokens,
    process::Process,
    questions::{self, Asked, Askers},
    shown::{Refused, Shown, Unsent, unsent},
    verdict::Verdict,
};

/// How often a stream of a server over HTTP is taken up again before the connection is given up.
const STREAM_RETRIES_MAX: usize = 5;

/// A connection.
#[derive(Debug)]
pub struct Session {
    service: tokio::sync::Mutex<Option<RunningService<RoleClient, Handler>>>,
    peer: Peer<RoleClient>,
    process: Option<Process>,
    verdict: Verdict,
    watchers: Watchers,
    asking: Asking,
    askers: Askers,
    changes: watch::Receiver<u64>,
    waiting: AtomicUsize,
    begun: Instant,
    limits: Limits,
    ending: CancellationToken,
}

/// How a server is spoken to.
struct Manner {
    lifecycle: ClientLifecycleMode,
    limits: Limits,
    asking: Asking,
}

/// A call of something that is offered.
#[derive(Debug, Clone)]
pub struct Call {
    /// What kind of thing is called.
    pub kind: OfferKind,
    /// What the server calls it.
    pub native_id: String,
    /// What it is given.
    pub input: Map<String, Value>,
    /// How long it may take.
    pub timeout: Duration,
}

/// What a server said to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Its answer, as it came.
    pub value: Value,
    /// Whether it says that it failed.
    pub is_error: bool,
}

impl Session {
    /// Connects.
    ///
    /// # Errors
    /// When there is no connection within the time for it; nothing is left running then.
    pub async fn open(target: &Target, limits: Limits, asking: Asking) -> Result<Self, Failure> {
        let manner = Manner { lifecycle: both(), limits, asking };
        match target {
            Target::Program(program) => Self::run(program, manner).await,
            Target::Address(address) => match Self::reach(address, manner).await {
                // It says yes to whatever it is asked, and means nothing by it.
                Err(Failure::Unexpected(_)) => {
                    let lifecycle = ClientLifecycleMode::Initialize;
                    Self::reach(address, Manner { lifecycle, limits, asking }).await
                }
                reached => reached,
            },
        }
    }

    async fn run(program: &Program, manner: Manner) -> Result<Self, Failure> {
        let (process, streams) = Process::start(program).await?;
        let verdict = Verdict::default();
        let transport = Guard::new(Lines::new(streams, verdict.clone()), verdict.clone());
        Self::greet(transport, Some(process), verdict, manner).await
    }

    async fn reach(address: &Address, manner: Manner) -> Result<Self, Failure> {
        let limits = manner.limits;
        let mut headers = HashMap::new();
        for (name, value) in &address.headers {
            let setup = |what: &str| Failure::Setup(format!("header `{}` {what}", said(name)));
            let parsed: HeaderName = name.parse().map_err(|_bad| setup("is no name of a header"))?;
            let mut value: HeaderValue =
                value.parse().map_err(|_bad| setup("has a value that cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(parsed, value);
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
            .custom_headers(headers)
            .max_sse_event_size(FRAME_BYTES_MAX);
        if let Some(bearer) = &address.bearer {
            config = config.auth_header(bearer.clone());
        }
        let mut retries = ExponentialBackoff::default();
        retries.max_times = Some(STREAM_RETRIES_MAX);
        retries.max_delay = Some(limits.rest_max);
        config.retry_config = Arc::new(retries);
        let (verdict, refused) = (Verdict::default(), Refused::default());
        let tokens = address.oauth.clone().map(|oauth| Tokens::new(oauth, &address.url)).transpose();
        let shown = tokens.and_then(|tokens| Shown::new(tokens, refused.clone(), verdict.clone()));
        let shown = shown.map_err(Failure::Setup)?;
        let inner = StreamableHttpClientTransport::with_client(shown, config);
        let transport = Guard::new(inner, verdict.clone());
        let greeted = Self::greet(transport, None, verdict, manner).await;
        // Whatever became of it: it was refused for what was shown.
        greeted.map_err(|failure| refused.take().map_or(failure, Failure::Unauthorized))
    }

    async fn greet<T>(
        transport: T,
        process: Option<Process>,
        verdict: Verdict,
        manner: Manner,
    ) -> Result<Self, Failure>
    where
        T: rmcp::transport::Transport<RoleClient> + 'static,
    {
        let (changes, changing) = watch::channel(0);
        let Manner { lifecycle, limits, asking } = manner;
        let (watchers, askers) = (Watchers::default(), Askers::default());
        let handler = Handler { watchers: watchers.clone(), changes, asking, askers: askers.clone() };
        let greeting = Box::pin(handler.serve_with_lifecycle(transport, lifecycle));
        let failure = match timeout(limits.greeting, greeting).await {
            Ok(Ok(service)) => {
                return Ok(Self {
                    peer: service.peer().clone(),
                    service: tokio::sync::Mutex::new(Some(service)),
                    process,
                    verdict,
                    watchers,
                    asking,
                    askers,
                    changes: changing,
                    waiting: AtomicUsize::new(0),
                    begun: Instant::now(),
                    limits,
                    ending: CancellationToken::new(),
                });
            }
            Ok(Err(error)) => match &error {
                ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
                    if process.is_some() =>
                {
                    None
                }
                ClientInitializeError::ExpectedInitResult(_) => {
                    Some(Failure::Unexpected(said(&chain(&error))))
                }
                error => Some(Failure::Greeting(said(&chain(error)))),
            },
            Err(_late) => Some(Failure::Silent(limits.greeting)),
        };
        let Some(process) = process else {
            return Err(failure.unwrap_or(Failure::Greeting("it closed the connection".to_owned())));
        };
        process.end(&limits).await;
        let ended = ended(&verdict, Some(&process));
        Err(match failure {
            Some(failure) if verdict.get().is_none() && ended.stderr.is_empty() => failure,
            Some(failure) => Failure::Greeting(format!("{failure}: {ended}")),
            None => Failure::Ended(ended),
        })
    }

    /// Which version of the protocol is spoken.
    #[must_use]
    pub fn protocol(&self) -> String {
        self.peer.peer_info().map(|info| info.protocol_version.to_string()).unwrap_or_default()
    }

    /// What the server calls itself, and its version.
    #[must_use]
    pub fn server(&self) -> Option<(String, String)> {
        let info = self.peer.peer_info()?;
        info.server_info.as_ref().map(|server| (said(&server.name), said(&server.version)))
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.peer.is_transport_closed() || self.verdict.get().is_some() || self.ending.is_cancelled()
    }

    /// How long it lives.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// How often the server said that it offers something else now.
    #[must_use]
    pub fn changes(&self) -> u64 {
        *self.changes.borrow()
    }

    /// How it ended.
    #[must_use]
    pub fn ended(&self) -> Ended {
        ended(&self.verdict, self.process.as_ref())
    }

    /// The last lines of its program's standard error.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.process.as_ref().map(|process| process.tail().lines()).unwrap_or_default()
    }

    /// Ends the connection, and the program with everything that it started.
    pub async fn close(&self) {
        self.ending.cancel();
        self.verdict.say("it was ended");
        let service = self.service.lock().await.take();
        if let Some(service) = service {
            service.cancellation_token().cancel();
            // The kit waits for answers of ours that are on their way, and then closes its end.
            drop(timeout(self.limits.end, service.waiting()).await);
        }
        if let Some(process) = &self.process {
            process.end(&self.limits).await;
        }
    }

    /// Asks what the server offers.
    ///
    /// # Errors
    /// When it does not answer, or with an error. A list that it does not serve is empty.
    pub async fn inventory(&self) -> Result<Inventory, Failure> {
        let mut found = Inventory::default();
        let info = self.peer.peer_info();
        let offers = |kind: OfferKind| {
            info.as_ref().is_none_or(|info| match kind {
                OfferKind::Tool => info.capabilities.tools.is_some(),
                OfferKind::Resource => info.capabilities.resources.is_some(),
                OfferKind::Prompt => info.capabilities.prompts.is_some(),
            })
        };
        for kind in OfferKind::ALL.iter().copied().filter(|kind| offers(*kind)) {
            self.pages(kind, &mut found).await?;
        }
        found.leave_out_lookalikes();
        Ok(found)
    }

    async fn pages(&self, kind: OfferKind, found: &mut Inventory) -> Result<(), Failure> {
        let key = kind.list_key();
        let mut cursor: Option<String> = None;
        let mut cursors: HashSet<String> = HashSet::new();
        for _ in 0..PAGES_MAX {
            let mut page = self.page(kind, cursor.take()).await?;
            let Some(Value::Array(listed)) = page.get_mut(key).map(Value::take) else {
                return Err(Failure::Unexpected(format!("a page of {key} without a list of them")));
            };
            if !found.take(kind, listed) {
                return Ok(());
            }
            let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
            let Some(next) = next else { return Ok(()) };
            if !cursors.insert(next.to_owned()) {
                found.problem(format!("its pages of {key} go round in a circle: the rest is left out"));
                return Ok(());
            }
            cursor = Some(next.to_owned());
        }
        found.problem(format!("it lists more than {PAGES_MAX} pages of {key}: the rest is left out"));
        Ok(())
    }

    async fn page(&self, kind: OfferKind, cursor: Option<String>) -> Result<Value, Failure> {
        let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let request = match kind {
            OfferKind::Tool => ClientRequest::ListToolsRequest(ListToolsRequest::from(optional(params))),
            OfferKind::Resource => {
                ClientRequest::ListResourcesRequest(ListResourcesRequest::from(optional(params)))
            }
            OfferKind::Prompt => {
                ClientRequest::ListPromptsRequest(ListPromptsRequest::from(optional(params)))
            }
        };
        let limit = self.limits.page;
        let options = PeerRequestOptions::with_timeout(limit);
        let asked = self.peer.send_cancellable_request(request, options).await;
        let answer = match asked {
            Ok(handle) => handle.await_response().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(result) => {
                serde_json::to_value(result).map_err(|error| Failure::Unexpected(error.to_string()))
            }
            Err(ServiceError::McpError(error)) => {
                Err(Failure::Refused { code: i64::from(error.code.0), message: said(&error.message) })
            }
            Err(ServiceError::Timeout { .. }) => Err(Failure::Silent(limit)),
            Err(ServiceError::TransportSend(error)) if self.process.is_none() => {
                Err(self.unsent(&error).await.unwrap_or_else(|| Failure::Unexpected(said(&chain(&error)))))
            }
            Err(_other) => Err(Failure::Ended(self.settled().await)),
        }
    }

    /// Calls something.
    ///
    /// # Errors
    /// When there is no answer of the server that is one; what may have happened nevertheless is said.
    pub async fn call(
        &self,
        call: Call,
        cancelled: &CancellationToken,
        listening: Listening,
    ) -> Result<Said, CallFailure> {
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst);
        let answer = if waiting < CALLS_MAX {
            Box::pin(self.rounds(call, cancelled, listening)).await
        } else {
            Err(CallFailure::Busy { waiting })
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    /// Makes a call, and once more with what was answered as long as the server asks.
    async fn rounds(
        &self,
        call: Call,
        cancelled: &CancellationToken,
        listening: Listening,
    ) -> Result<Said, CallFailure> {
        let entered = self.askers.enter(listening.questions.clone());
        let mut more = More::default();
        for _ in 0..ROUNDS_MAX {
            let request = request_of(call.clone(), more);
            let (limit, progress) = (call.timeout, listening.progress.as_ref());
            let result = self.ask(request, (limit, &entered.asked), cancelled, progress).await?;
            let ServerResult::InputRequiredResult(required) = result else { return said_of(&result) };
            let asker = listening.questions.as_ref().filter(|_| self.asking == Asking::Form);
            let answering = answers(required, asker, &entered.asked);
            // Cancel-safe: a question that is dropped is taken back.
            more = tokio::select! {
                answered = answering => answered?,
                () = cancelled.cancelled() => return Err(CallFailure::Cancelled),
                () = self.ending.cancelled() => return Err(CallFailure::Broken(self.ended())),
            };
        }
        Err(CallFailure::NeedsInput(format!("it asked {ROUNDS_MAX} times")))
    }

    async fn ask(
        &self,
        request: ClientRequest,
        (limit, asked): (Duration, &Asked),
        cancelled: &CancellationToken,
        progress: Option<&watch::Sender<Option<crate::Progress>>>,
    ) -> Result<ServerResult, CallFailure> {
        if self.is_over() {
            return Err(CallFailure::Unreachable(Failure::Ended(self.settled().await)));
        }
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(_closed) => return Err(CallFailure::Unreachable(Failure::Ended(self.settled().await))),
        };
        let token = handle.progress_token.clone();
        let mut told = self.watchers.watch(token.clone());
        let late = tokio::time::sleep(limit);
        tokio::pin!(late);
        let mut is_told = true;
        let answer = loop {
            // Cancel-safe: a receiver that is polled again gives the same answer, and a channel loses nothing.
            tokio::select! {
                biased;
                answer = &mut handle.rx => break Ok(answer),
                () = cancelled.cancelled() => break Err(CallFailure::Cancelled),
                () = self.ending.cancelled() => break Err(CallFailure::Broken(self.ended())),
                () = asked.answered.notified() => late.as_mut().reset(Instant::now() + limit),
                // A person takes as long as they take; that is bounded by whoever asks them.
                () = &mut late => match asked.is_open() {
                    true => late.as_mut().reset(Instant::now() + PERSON_LOOK),
                    false => break Err(CallFailure::Late(limit)),
                },
                changed = told.changed(), if is_told => match changed {
                    Ok(()) => hand_on(&mut told, progress),
                    Err(_) => is_told = false,
                },
            }
        };
        self.watchers.forget(&token);
        hand_on(&mut told, progress);
        match answer {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(error))) => Err(self.failed(error).await),
            Ok(Err(_gone)) => Err(CallFailure::Broken(self.settled().await)),
            Err(failure) => {
                let reason = failure.to_string();
                // A server that reads nothing is not waited for.
                drop(timeout(self.limits.end, handle.cancel(Some(reason))).await);
                Err(failure)
            }
        }
    }

    async fn failed(&self, error: ServiceError) -> CallFailure {
        match error {
            ServiceError::McpError(error) => {
                CallFailure::Refused { code: i64::from(error.code.0), message: said(&error.message) }
            }
            ServiceError::TransportSend(error) if self.process.is_none() => match self.unsent(&error).await {
                Some(failure) => CallFailure::Unreachable(failure),
                None => CallFailure::Unexpected(said(&chain(&error))),
            },
            ServiceError::UnexpectedResponse => CallFailure::Unexpected("another kind of answer".to_owned()),
            _ => CallFailure::Broken(self.settled().await),
        }
    }

    /// Why something that was sent over HTTP came to nobody who does it, if that is known.
    async fn unsent(&self, error: &DynamicTransportError) -> Option<Failure> {
        Some(match unsent(error)? {
            Unsent::Refused(why) => Failure::Unauthorized(why),
            Unsent::Gone => Failure::Ended(self.settled().await),
        })
    }

    /// How it ended, once that is known: a program's end is seen a moment after its output is closed.
    async fn settled(&self) -> Ended {
        if let Some(process) = &self.process {
            process.ended_within(self.limits.end).await;
        }
        self.ended()
    }
}

/// The newer form, and the older one for whoever does not know it.
fn both() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

fn optional<M: Default>(
    params: Option<PaginatedRequestParams>,
) -> RequestOptionalParam<M, PaginatedRequestParams> {
    RequestOptionalParam { method: M::default(), params, extensions: rmcp::model::Extensions::default() }
}

/// Hands on what a server said last of how far it is, if that is not known yet.
fn hand_on(
    told: &mut watch::Receiver<Option<crate::Progress>>,
    progress: Option<&watch::Sender<Option<crate::Progress>>>,
) {
    let newest = told.borrow_and_update().clone();
    if let (Some(newest), Some(progress)) = (newest, progress)
        && progress.borrow().as_ref() != Some(&newest)
    {
        progress.send_replace(Some(newest));
    }
}

/// What a request is made again with.
#[derive(Debug, Default)]
struct More {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// What is said to everything that a server asks before it goes on.
async fn answers(
    required: InputRequiredResult,
    asker: Option<&mpsc::Sender<Question>>,
    asked: &Asked,
) -> Result<More, CallFailure> {
    let needs = |what: &str| Err(CallFailure::NeedsInput(what.to_owned()));
    let Some(requests) = required.input_requests else {
        return Ok(More { responses: None, state: required.request_state });
    };
    let Some(asker) = asker else { return needs("it answered `input_required`") };
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        let InputRequest::Elicitation(request) = request else {
            return needs("it asks for something else than an answer of a person");
        };
        let result = questions::put(asked, asker, request.params).await;
        let value =
            serde_json::to_value(&result).map_err(|error| CallFailure::NeedsInput(error.to_string()))?;
        responses.insert(key, value);
    }
    Ok(More { responses: Some(responses), state: required.request_state })
}

fn request_of(call: Call, more: More) -> ClientRequest {
    let More { responses, state } = more;
    match call.kind {
        OfferKind::Tool => {
            let mut params = CallToolRequestParams::new(call.native_id).with_arguments(call.input);
            (params.input_responses, params.request_state) = (responses, state);
            ClientRequest::CallToolRequest(Request::new(params))
        }
        OfferKind::Resource => {
            let mut params = ReadResourceRequestParams::new(call.native_id);
            (params.input_responses, params.request_state) = (responses, state);
            ClientRequest::ReadResourceRequest(Request::new(params))
        }
        OfferKind::Prompt => {
            let mut params = GetPromptRequestParams::new(call.native_id).with_arguments(call.input);
            (params.input_responses, params.request_state) = (responses, state);
            ClientRequest::GetPromptRequest(Request::new(params))
        }
    }
}

/// What an answer says, if it is one.
fn said_of(result: &ServerResult) -> Result<Said, CallFailure> {
    let is_task = matches!(result, ServerResult::CreateTaskResult(_));
    let value = serde_json::to_value(result).map_err(|error| CallFailure::Unexpected(error.to_string()))?;
    let is_answer =
        ["content", "structuredContent", "contents", "messages"].iter().any(|key| value.get(key).is_some());
    if is_task || !is_answer {
        return Err(CallFailure::Unexpected(said(&value.to_string())));
    }
    let is_error = value.get("isError").and_then(Value::as_bool).unwrap_or_default();
    Ok(Said { value, is_error })
}

fn ended(verdict: &Verdict, process: Option<&Process>) -> Ended {
    Ended {
        how: verdict.get().unwrap_or_else(|| "the other end closed it".to_owned()),
        exit: process.and_then(Process::exit).map(|exit| exit.to_string()),
        stderr: process.map(|process| process.tail().lines()).unwrap_or_default(),
    }
}

/// An error with what led to it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
