//! The way to the node, and who the node says that we are.
//!
//! Owns the connection: it is made at the first call and again after a daemon has gone and come back. A call is never
//! made twice.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use edgeplane_client::{CallError, Client, Notifications};
use edgeplane_types::{AgentId, ErrorName};
use edgeplane_wire::{
    api::{
        capability::InvocationView,
        core::{InitializeParams, InitializeResult, PROTOCOL_VERSIONS},
        stream::{SubscribeParams, Target},
    },
    catalogue::{Call, CapabilityInvoke, CoreInitialize, StreamSubscribe},
    rpc::RpcError,
};
use serde_json::Value;
use tokio::{
    sync::{Mutex, OnceCell, broadcast},
    task::JoinHandle,
};

/// How long an ordinary answer may take before the daemon counts as hung.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How long a watcher waits before it looks for a daemon that has gone.
const AGAIN: Duration = Duration::from_millis(500);

/// Changes that a slow watcher may be behind; with more it is told that everything may have changed.
const CHANGES_MAX: usize = 256;

/// A connection in the making.
pub type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Notifications), CallError>> + Send>>;

/// How to reach the node, each time anew.
pub struct Way {
    /// Makes a connection.
    pub connect: Box<dyn Fn() -> Connecting + Send + Sync>,
    /// The token that is shown on it, if there is one.
    pub token: Option<String>,
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What the token is made of is not shown.
        f.debug_struct("Way").field("token", &self.token.is_some()).finish_non_exhaustive()
    }
}

/// Something that may have changed what a resource shows.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// An event of the record.
    Event(Arc<Value>),
    /// Events may have been missed.
    Anything,
}

/// The way to the node.
#[derive(Debug)]
pub(crate) struct Link {
    way: Way,
    open: Mutex<Option<Arc<Open>>>,
    changes: broadcast::Sender<Change>,
    is_watched: AtomicBool,
    are_capabilities_watched: AtomicBool,
}

/// A connection on which the node knows us.
#[derive(Debug)]
pub(crate) struct Open {
    client: Client,
    /// What the node said when it was greeted.
    pub(crate) greeting: InitializeResult,
    /// Those who ask while it is asked for wait for the answer, too.
    subscribed: OnceCell<()>,
    subscribed_to_capabilities: OnceCell<()>,
    pump: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.pump.abort();
    }
}

impl Link {
    pub(crate) fn new(way: Way) -> Arc<Self> {
        let (changes, _) = broadcast::channel(CHANGES_MAX);
        let (is_watched, are_capabilities_watched) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { way, open: Mutex::new(None), changes, is_watched, are_capabilities_watched })
    }

    /// The connection, made if there is none.
    pub(crate) async fn open(self: &Arc<Self>) -> Result<Arc<Open>, CallError> {
        let mut open = self.open.lock().await;
        if let Some(open) = open.as_ref().filter(|open| !open.client.is_closed()) {
            return Ok(Arc::clone(open));
        }
        *open = None;
        let (client, notifications) = (self.way.connect)().await?;
        let params = InitializeParams {
            versions: PROTOCOL_VERSIONS.iter().map(|version| (*version).to_owned()).collect(),
            client: Some(concat!("edgeplane-mcp/", env!("CARGO_PKG_VERSION")).to_owned()),
            token: self.way.token.clone(),
        };
        let greeting = client.call_within::<CoreInitialize>(ANSWER_TIME, &params).await?;
        let pump = tokio::spawn(pump(Arc::downgrade(self), notifications));
        let made = Arc::new(Open {
            client,
            greeting,
            subscribed: OnceCell::new(),
            subscribed_to_capabilities: OnceCell::new(),
            pump,
        });
        if self.is_watched.load(Ordering::Relaxed) {
            subscribe(&made).await?;
        }
        if self.are_capabilities_watched.load(Ordering::Relaxed) {
            subscribe_to_capabilities(&made).await?;
        }
        *open = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Calls a method and waits no longer than for an ordinary answer.
    pub(crate) async fn call<C: Call>(self: &Arc<Self>, params: &C::Params) -> Result<C::Result, CallError> {
        self.call_within::<C>(ANSWER_TIME, params).await
    }

    /// Calls a method and waits no longer than `time`.
    pub(crate) async fn call_within<C: Call>(
        self: &Arc<Self>,
        time: Duration,
        params: &C::Params,
    ) -> Result<C::Result, CallError> {
        self.open().await?.client.call_within::<C>(time, params).await
    }

    /// Asks for a call of a capability, with parameters that hold more than the method's own.
    pub(crate) async fn invoke(
        self: &Arc<Self>,
        time: Duration,
        params: Value,
    ) -> Result<InvocationView, CallError> {
        let (open, method) = (self.open().await?, CapabilityInvoke::NAME);
        let raw = tokio::time::timeout(time, open.client.call_raw(method, params))
            .await
            .map_err(|_elapsed| CallError::Deadline { method: method.to_owned(), after: time })??;
        serde_json::from_str(raw.get()).map_err(|error| CallError::Protocol {
            method: method.to_owned(),
            detail: format!("its result is not what the catalogue says: {error}"),
        })
    }

    /// The agent that we are, for what is an agent's own.
    pub(crate) async fn own_id(self: &Arc<Self>) -> Result<AgentId, CallError> {
        let open = self.open().await?;
        open.own_id().ok_or_else(|| {
            let who = &open.greeting.caller.principal;
            RpcError::new(ErrorName::InvalidState, format!("`{who}` is no agent, so nothing here is its own"))
                .hint("let an agent's program start `edgeplane mcp`; as an operator use `edgeplane inbox`, `memory` or `action` with the agent's name")
                .into()
        })
    }

    /// Every change from now on.
    pub(crate) async fn watch(self: &Arc<Self>) -> Result<broadcast::Receiver<Change>, CallError> {
        let changes = self.changes.subscribe();
        self.is_watched.store(true, Ordering::Relaxed);
        let open = self.open().await?;
        subscribe(&open).await?;
        Ok(changes)
    }

    /// Every change from now on by which other capabilities may be offered, and how far our calls of them are. Fewer than
    /// what [`Self::watch`] asks for: a node has more messages than declarations.
    pub(crate) async fn watch_capabilities(
        self: &Arc<Self>,
    ) -> Result<broadcast::Receiver<Change>, CallError> {
        let changes = self.changes.subscribe();
        self.are_capabilities_watched.store(true, Ordering::Relaxed);
        let open = self.open().await?;
        subscribe_to_capabilities(&open).await?;
        Ok(changes)
    }
}

impl Open {
    pub(crate) fn own_id(&self) -> Option<AgentId> {
        self.greeting.caller.agent_id
    }
}

/// Asks for the events that can change a resource: all of the agent's own stream, and those of messages anywhere,
/// because what became of a message that it sent stands in the stream of another.
async fn subscribe(open: &Open) -> Result<(), CallError> {
    open.subscribed.get_or_try_init(|| ask_for_events(open)).await.map(|&()| ())
}

async fn ask_for_events(open: &Open) -> Result<(), CallError> {
    let messages = SubscribeParams { types: vec!["message.*".to_owned()], ..SubscribeParams::default() };
    let own = open
        .own_id()
        .map(|id| SubscribeParams { target: Target::agent(id.to_string()), ..SubscribeParams::default() });
    for params in own.into_iter().chain([messages]) {
        open.client.call_within::<StreamSubscribe>(ANSWER_TIME, &params).await?;
    }
    Ok(())
}

async fn subscribe_to_capabilities(open: &Open) -> Result<(), CallError> {
    open.subscribed_to_capabilities.get_or_try_init(|| ask_for_capabilities(open)).await.map(|&()| ())
}

async fn ask_for_capabilities(open: &Open) -> Result<(), CallError> {
    let offers = [
        "capability.registered",
        "capability.withdrawn",
        "resource.put",
        "resource.deleted",
        "policy.loaded",
    ];
    let calls = vec!["invocation.progressed".to_owned()];
    let offers = SubscribeParams { types: offers.map(str::to_owned).to_vec(), ..SubscribeParams::default() };
    // An agent's calls stand in its own stream, an operator's in the node's.
    let target = open.own_id().map(|id| Target::agent(id.to_string())).unwrap_or_default();
    let calls = SubscribeParams { target, types: calls, ..SubscribeParams::default() };
    for params in [offers, calls] {
        open.client.call_within::<StreamSubscribe>(ANSWER_TIME, &params).await?;
    }
    Ok(())
}

/// Hands the events of a connection to those who watch, and finds the next daemon for them when one has gone.
async fn pump(link: Weak<Link>, mut notifications: Notifications) {
    while let Some(notification) = notifications.next().await {
        let Some(link) = link.upgrade() else { return };
        if notification.method == "stream/event"
            && let Some(event) = notification.params.get("event")
        {
            // Nobody listens just now: whoever begins to reads the resource itself first.
            drop(link.changes.send(Change::Event(Arc::new(event.clone()))));
        }
    }
    // The connection itself ends this task when it is replaced, so the search goes on in one of its own.
    drop(tokio::spawn(find_again(link)));
}

/// Boxed, because making a connection is part of it and it is part of a connection.
fn find_again(link: Weak<Link>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        loop {
            tokio::time::sleep(AGAIN).await;
            let Some(link) = link.upgrade() else { return };
            if link.changes.receiver_count() == 0 {
                return;
            }
            if link.open().await.is_ok() {
                drop(link.changes.send(Change::Anything));
                return;
            }
        }
    })
}
