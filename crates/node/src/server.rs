//! Listening sockets and the conversations on them: lines in, answers and notifications out.
//!
//! Owns connections. What a method does is the dispatcher's; who calls is decided once, when a connection is
//! accepted.

mod call;
mod connection;
mod dispatch;
mod methods;
mod standing;
mod subscription;
mod token;

use std::{
    io,
    os::unix::net::UnixListener as StdListener,
    pin::Pin,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use edgeplane_types::{ErrorName, EventId, TraceContext};
use edgeplane_wire::{
    catalogue::{
        Request,
        opening::{is_in_parts, is_opening},
    },
    rpc::{self, Id, RpcError},
};
use serde_json::{Value, value::RawValue};
use tokio::{net::UnixListener, sync::Notify};
use tokio_util::sync::CancellationToken;

use crate::{
    caller::{self, Caller, CallingAgent},
    outbound::Outbound,
    shared::Shared,
    tokens, trace,
};

pub(crate) use call::Calls;
pub(crate) use methods::traces::habits;
pub use methods::verify_offline;
pub(crate) use methods::{start_when_ready, take_up_deliveries, turn_of_message};

/// How long accepting pauses when the process has no more descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves a socket until the token says stop. `own` is the epoch whose socket it is.
pub(crate) fn serve(
    shared: &Arc<Shared>,
    listener: StdListener,
    own: Option<CallingAgent>,
    until: CancellationToken,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    let shared = Arc::clone(shared);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        loop {
            let accepted = tokio::select! {
                () = until.cancelled() => return,
                () = shared.stopping.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => {
                    let caller = caller::identify(&stream, own.as_ref(), shared.as_ref());
                    connection::start(&shared, stream.into_split(), caller);
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    });
    Ok(())
}

/// Bytes that wait between the node and an edge in its process.
const EDGE_BYTES: usize = 64 << 10;

/// What an edge has seen of whoever it speaks for, before they say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presented {
    /// Nothing.
    Nothing,
    /// They proved to have the key of a certificate that an authority of the operator's choice has signed.
    Certificate {
        /// SHA-256 of the certificate as it is transferred.
        sha256: [u8; 32],
    },
}

/// A conversation within the process, for an edge that speaks for somebody far away: nothing is known of them until
/// they show a token, unless they presented a certificate that somebody has made a credential.
pub(crate) fn converse(shared: &Arc<Shared>, presented: Presented) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(EDGE_BYTES);
    let over_an_edge = "it came over an edge of the node".to_owned();
    let caller = match presented {
        Presented::Nothing => Caller::unknown(over_an_edge),
        Presented::Certificate { sha256 } => {
            tokens::bearer_of_certificate(shared, &sha256).unwrap_or_else(|error| {
                tracing::debug!(%error, "a certificate is no credential here");
                let hex = tokens::hexadecimal(&sha256);
                Caller::unknown(format!("{over_an_edge} with the certificate sha256:{hex}: {error}"))
            })
        }
    };
    connection::start(shared, tokio::io::split(ours), caller);
    theirs
}

/// A conversation: who it is with, and what it has opened.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    pub(crate) outbound: Outbound,
    pub(crate) opened: Arc<connection::Opened>,
    /// Told as soon as what was asked is durable, if the answer comes later.
    pub(crate) effect: Arc<Notify>,
    /// Cancelled once the answer to this request is on its way: what follows from it comes after it.
    pub(crate) answered: CancellationToken,
    /// Whether the answer is what an earlier request with the same key heard.
    pub(crate) replayed: Arc<AtomicBool>,
    /// The event by which a call under a key began: what is made is named by it, so that a repetition finds it.
    pub(crate) began: Option<EventId>,
}

/// Calls a method for an automation that fired, with its context in `params.ctx`. Nobody hears what comes in parts.
pub(crate) async fn call_for_automation(
    shared: &Arc<Shared>,
    caller: Caller,
    (method, params): (&str, Value),
) -> Result<Box<RawValue>, RpcError> {
    if is_opening(method) || is_in_parts(method, &params) {
        let what = format!("{method} goes on behind its answer, which nobody hears here");
        return Err(RpcError::new(ErrorName::Unsupported, what));
    }
    Box::pin(call::request(Session::beside(shared, &caller, Arc::default()), method, params)).await
}

/// A call of a method by somebody who is not on a connection of their own for it: read and allowed, and not made yet.
pub(crate) struct Prepared {
    session: Session,
    method: &'static str,
    request: Request,
    /// The request in which it was asked for.
    trace: Option<Arc<TraceContext>>,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Prepared {
    /// Reads a call as the dispatcher does, with the caller's own scopes and audience.
    ///
    /// # Errors
    /// What the method would answer to a caller that may not call it, or to parameters that it does not take.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        caller: &Caller,
        method: &'static str,
        params: Value,
    ) -> Result<Self, RpcError> {
        let session = Session::beside(shared, caller, Arc::default());
        dispatch::check_audience(&session, method)?;
        let request = Request::read(method, params)?;
        dispatch::check(&session, &request)?;
        Ok(Self { session, method, request, trace: trace::current() })
    }

    /// Makes it. Boxed as a trait object: among the methods is the one that makes calls.
    pub(crate) fn serve(self) -> Pin<Box<dyn Future<Output = Result<Value, RpcError>> + Send>> {
        Box::pin(async move {
            let work = Box::pin(dispatch::serve(&self.session, self.request));
            let raw = match self.trace {
                Some(trace) => trace::serve(&self.session.shared, trace, work).await?,
                None => work.await?,
            };
            serde_json::from_str(raw.get())
                .map_err(|error| RpcError::new(ErrorName::Internal, format!("{}: {error}", self.method)))
        })
    }
}

impl Session {
    /// A conversation of which nobody reads what it is told besides answers.
    fn beside(shared: &Arc<Shared>, caller: &Caller, effect: Arc<Notify>) -> Self {
        let (outbound, _nobody) = Outbound::new();
        Self {
            shared: Arc::clone(shared),
            caller: caller.clone(),
            outbound,
            opened: Arc::default(),
            effect,
            answered: CancellationToken::new(),
            replayed: Arc::default(),
            began: None,
        }
    }
}

/// Calls a method for an agent that asked through its driver. The key keeps a repeated question from acting twice.
pub(crate) async fn call_for_agent(
    shared: &Arc<Shared>,
    caller: &Caller,
    call: (&str, Value),
    names: (&Id, &str),
    effect: Arc<Notify>,
) -> Vec<u8> {
    let ((method, mut params), (id, key)) = (call, names);
    call::put_own_key(caller, method, &mut params, Some(key));
    // What is said over the driver stands in the recording, where no token may be.
    let refused = [
        "stream/subscribe",
        "stream/unsubscribe",
        "observe/tap.open",
        "runtime/agent.attach",
        "security/token.epoch",
    ];
    // Asked again after a crash they would say it twice; the driver has lines of its own for both.
    let has_a_line = ["runtime/item.report", "runtime/status.report"].contains(&method);
    // Nobody reads notifications there: an answer in parts would wait for ever.
    let streams = method == "runtime/agent.ask" && params.get("stream") == Some(&Value::Bool(true));
    if refused.contains(&method) || has_a_line || streams {
        let method = if streams { "runtime/agent.ask with `stream`" } else { method };
        let error = RpcError::new(ErrorName::Unsupported, format!("{method} is not served over the driver"))
            .hint("connect to the socket in EDGEPLANE_SOCKET");
        return rpc::failure(Some(id), &error);
    }
    let session = Session::beside(shared, caller, effect);
    // What an agent says of its own accord over the driver belongs to the turn that it is in.
    let trace = trace::begin(shared, caller, method, &call::trace_of_line(&mut params), &params);
    let serve = Box::pin(async {
        let allowed = dispatch::check_audience(&session, method);
        match allowed.and_then(|()| Request::read(method, params)) {
            Ok(request) => dispatch::checked(&session, request).await,
            Err(error) => Err(error),
        }
    });
    match trace::serve(shared, trace, serve).await {
        Ok(result) => rpc::success(id, result),
        Err(error) => rpc::failure(Some(id), &error),
    }
}
