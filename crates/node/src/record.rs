//! The record as engines use it: drafts in, durable events out, readers on workers.
//!
//! Owns ids and times of events. What an event means is the store's and the engines' business.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use edgeplane_os::Mint;
use edgeplane_store::{
    AppendError, Batch, Body, Committed, CommittedEvent, NewEvent, ReadError, Reader, Store,
};
use edgeplane_types::{
    ErrorName, EventId, Fact, StreamName, Timestamp, TraceContext,
    fact::{Actor, Consumed},
};
use edgeplane_wire::rpc::RpcError;
use tokio::sync::{broadcast, oneshot};

use crate::{storage::Shortage, trace};

/// Committed events that a follower may be behind before it must read them from the record instead.
const FOLLOWER_EVENTS_MAX: usize = 4096;

/// The same for those who follow some events only: all of one commit, should each be such a one, and some more.
const CHOSEN_EVENTS_MAX: usize = 2048;

/// A change in the making: facts that become durable together or not at all.
#[derive(Debug, Default, Clone)]
pub(crate) struct Draft {
    batch: Batch,
}

/// A draft on its way into the record.
#[derive(Debug)]
pub(crate) struct Pending(oneshot::Receiver<Result<Committed, AppendError>>);

/// Who makes it happen, and what led to it.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) actor: Actor,
    pub(crate) cause: Option<EventId>,
    pub(crate) consumed: Option<Consumed>,
    /// The request that asked for it.
    pub(crate) trace: Option<Arc<TraceContext>>,
}

impl Origin {
    /// The node, by one of its rules.
    pub(crate) fn node(rule: &str) -> Self {
        let rule = edgeplane_types::SafeLabel::sanitized(rule);
        Self { actor: Actor::Node { rule }, cause: None, consumed: None, trace: None }
    }

    /// Somebody, by the request that is being served.
    pub(crate) fn actor(actor: Actor) -> Self {
        Self { actor, cause: None, consumed: None, trace: trace::current() }
    }
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.events.is_empty()
    }

    /// Adds a body and gives its digest and size.
    pub(crate) fn body(&mut self, bytes: Vec<u8>) -> (String, u64) {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let body = Body::new(bytes);
        let digest = body.digest().to_string();
        self.batch.bodies.push(body);
        (digest, size)
    }

    /// Lets it use the reserve when the disk is full.
    pub(crate) fn critical(mut self) -> Self {
        self.batch.critical = true;
        self
    }
}

/// Somebody who follows some events only.
#[derive(Debug)]
struct Choosy {
    wants: fn(&Fact) -> bool,
    sender: broadcast::Sender<CommittedEvent>,
}

/// The record.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    store: Store,
    reader: Reader,
    /// For look-ups.
    near: Reader,
    mint: Mint,
    followers: broadcast::Sender<CommittedEvent>,
    choosy: Arc<RwLock<Vec<Choosy>>>,
    changes: Arc<AtomicU64>,
    head: Arc<AtomicU64>,
    /// How often something was put or deleted as a resource.
    resources: Arc<AtomicU64>,
    shortage: Arc<Shortage>,
    turns: Arc<trace::Turns>,
}

impl Record {
    pub(crate) fn new(store: Store, mint: Mint) -> Self {
        let (followers, _) = broadcast::channel(FOLLOWER_EVENTS_MAX);
        let sender = followers.clone();
        let changes = Arc::<AtomicU64>::default();
        let changed = Arc::clone(&changes);
        let reader = store.reader();
        // Where it cannot be read now, the next event tells.
        let head = Arc::new(AtomicU64::new(reader.head_pos().unwrap_or(0)));
        let moved = Arc::clone(&head);
        let resources = Arc::<AtomicU64>::default();
        let put = Arc::clone(&resources);
        let choosy = Arc::<RwLock<Vec<Choosy>>>::default();
        let choosing = Arc::clone(&choosy);
        store.observe(Arc::new(move |events: &[CommittedEvent]| {
            let deciding = events.iter().filter(|committed| !committed.event.fact.is_piece()).count();
            if let Some(last) = events.last() {
                moved.fetch_max(last.pos, Ordering::Release);
            }
            if events.iter().any(|committed| is_of_resource(&committed.event.fact)) {
                put.fetch_add(1, Ordering::Release);
            }
            changed.fetch_add(u64::try_from(deciding).unwrap_or(u64::MAX), Ordering::Release);
            if sender.receiver_count() > 0 {
                for event in events {
                    // Nobody listens any more: nothing is lost, the event is in the record.
                    drop(sender.send(event.clone()));
                }
            }
            for follower in choosing.read().unwrap_or_else(PoisonError::into_inner).iter() {
                for event in events.iter().filter(|committed| (follower.wants)(&committed.event.fact)) {
                    drop(follower.sender.send(event.clone()));
                }
            }
        }));
        let reader = store.reader();
        let near = reader.for_look_ups();
        Self {
            store,
            reader,
            near,
            mint,
            followers,
            choosy,
            changes,
            head,
            resources,
            shortage: Arc::default(),
            turns: Arc::default(),
        }
    }

    /// Grows with each event that decides something, before whoever asked for it is told. What was read from the record
    /// and depends on such events only is still so while this is the same.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Position of the newest event: what whoever asked for a change was told is not behind it.
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Grows with each resource that is put or deleted as one, before whoever asked for it is told: what was read of a
    /// connector is still so while this is the same as before it was read. Agents, schedules and rules, which are shown
    /// as resources, too, have facts of their own and are not counted.
    pub(crate) fn resource_changes(&self) -> u64 {
        self.resources.load(Ordering::Acquire)
    }

    pub(crate) fn mint(&self) -> &Mint {
        &self.mint
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// What commits found out about the room that there is.
    pub(crate) fn shortage(&self) -> &Shortage {
        &self.shortage
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.mint.clock.now()
    }

    pub(crate) fn monotonic_ms(&self) -> u64 {
        self.mint.clock.monotonic_ms()
    }

    /// Every event from now on, in order.
    pub(crate) fn follow(&self) -> broadcast::Receiver<CommittedEvent> {
        self.followers.subscribe()
    }

    /// The events from now on that `wants` names, in order: for those who listen as long as the node lives, and whom every
    /// event would wake.
    pub(crate) fn follow_only(&self, wants: fn(&Fact) -> bool) -> broadcast::Receiver<CommittedEvent> {
        let (sender, receiver) = broadcast::channel(CHOSEN_EVENTS_MAX);
        self.choosy.write().unwrap_or_else(PoisonError::into_inner).push(Choosy { wants, sender });
        receiver
    }

    /// Adds a fact to a draft and gives its event's id.
    pub(crate) fn add(&self, draft: &mut Draft, stream: StreamName, origin: &Origin, fact: Fact) -> EventId {
        let id = self.mint.id();
        draft.batch.events.push(NewEvent {
            id,
            stream,
            ts: self.now(),
            actor: origin.actor.clone(),
            cause: origin.cause,
            consumed: origin.consumed,
            trace: self.trace_of(origin, &fact),
            fact,
        });
        id
    }

    /// The request that a fact belongs to: what happens to a message or in its turn belongs to the message's own. Pieces
    /// of a turn name their message and stand for themselves, because there are so many of them.
    fn trace_of(&self, origin: &Origin, fact: &Fact) -> Option<Box<TraceContext>> {
        match (fact, fact.message_id()) {
            (_, Some(_)) if fact.is_piece() => None,
            (Fact::MessageAccepted { .. }, _) | (_, None) => origin.trace.as_deref().cloned().map(Box::new),
            (_, Some(message_id)) => self.turns.context(&self.near, message_id),
        }
    }

    /// Makes a draft durable.
    pub(crate) async fn commit(&self, draft: Draft) -> Result<Committed, AppendError> {
        self.outcome(self.submit(draft)).await
    }

    /// Hands a draft to the writer. Several are made durable together if none is waited for before the last is handed
    /// over.
    pub(crate) fn submit(&self, draft: Draft) -> Pending {
        let (done, result) = oneshot::channel();
        self.store.submit(
            draft.batch,
            Box::new(move |outcome| {
                // Whoever waited has gone; the outcome is in the record.
                drop(done.send(outcome));
            }),
        );
        Pending(result)
    }

    /// Waits for what becomes of a draft.
    pub(crate) async fn outcome(&self, pending: Pending) -> Result<Committed, AppendError> {
        let outcome = pending.0.await.unwrap_or(Err(AppendError::Closed));
        self.shortage.note(&outcome);
        outcome
    }

    /// Reads on a worker.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, RpcError> {
        let reader = self.reader.clone();
        let result = tokio::task::spawn_blocking(move || read(&reader)).await;
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(RpcError::new(
                ErrorName::Unavailable,
                format!("cannot read the record: {}", chain(&error)),
            )),
            Err(_) => Err(RpcError::new(ErrorName::Internal, "a reader of the record was cut off")),
        }
    }

    /// Reads at once, for look-ups by key that take microseconds.
    pub(crate) fn look_up<T>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, ReadError>,
    ) -> Result<T, RpcError> {
        read(&self.near).map_err(|error| {
            RpcError::new(ErrorName::Unavailable, format!("cannot read the record: {}", chain(&error)))
        })
    }
}

fn is_of_resource(fact: &Fact) -> bool {
    matches!(fact, Fact::ResourcePut(_) | Fact::ResourceDeleted(_))
}

/// An error and everything under it, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// What a caller is told when the record does not take a change.
pub(crate) fn refused(error: &AppendError) -> RpcError {
    let text = chain(error);
    match error {
        AppendError::StorageFull => RpcError::new(ErrorName::StorageFull, text)
            .hint("free space where the state directory is; stop, kill and freeze work meanwhile"),
        AppendError::Backpressure => RpcError::new(ErrorName::Backpressure, text),
        AppendError::Damaged => {
            RpcError::new(ErrorName::RecordDamaged, text).hint("run `edgeplane audit verify`")
        }
        AppendError::TooLarge { .. } => RpcError::new(ErrorName::TooLarge, text),
        _ => RpcError::new(ErrorName::Unavailable, text),
    }
}
