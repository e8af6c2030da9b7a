//! One subscription: what it was given, what it acknowledged, and the task that hands it the next.
//!
//! A subscriber takes its entries from what all subscribers of a projection share, at its own pace. What is not kept
//! there any more it reads from the record, a page at a time. Nobody waits for it: neither the record, nor whoever
//! makes the projection, nor other subscribers.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use edgeplane_types::{ErrorName, SubscriptionId};
use edgeplane_wire::{
    api::stream::{BACKPRESSURE, Repaired, StreamState, SubscriptionView},
    rpc::{self, RpcError},
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{Session, connection::HANGS_UP, standing};
use crate::{
    outbound::{Line, NotSent},
    projections::{After, Item, Lease, Reading},
};

/// How long a subscriber with `max_inflight` may acknowledge nothing while it has as many as that; then it is ended.
const ACK_TIME_MAX: Duration = Duration::from_secs(15);

/// Bytes of entries that are handed over as one line of lines, where many wait: fewer, and each costs a waking.
const TOGETHER_BYTES: usize = 64 << 10;

/// Bytes of entries that are taken from what is shared at one go.
const TAKEN_BYTES: usize = 1 << 20;

/// How long the last word of an ended subscription may wait for a reader that is slow.
const LAST_WORD_TIME_MAX: Duration = Duration::from_secs(5);

/// What a subscriber wants.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) types: Vec<String>,
    pub(super) max_inflight: Option<u32>,
    pub(super) heartbeat: Option<Duration>,
}

impl Wanted {
    pub(super) fn takes(&self, kind: &str) -> bool {
        self.types.is_empty() || takes(&self.types, kind)
    }
}

/// Whether a type is one of those, of which each may end in a star.
pub(super) fn takes(types: &[String], kind: &str) -> bool {
    types.iter().any(|wanted| match wanted.strip_suffix('*') {
        Some(prefix) => kind.starts_with(prefix),
        None => wanted == kind,
    })
}

/// A subscription.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: SubscriptionId,
    wanted: Wanted,
    lease: Lease,
    flow: Mutex<Flow>,
    /// Told when something was acknowledged.
    acked: Notify,
    until: CancellationToken,
    why: OnceLock<String>,
}

/// How far a subscription is.
#[derive(Debug)]
struct Flow {
    state: &'static str,
    /// Everything up to this number was handed over or passed over.
    at: u64,
    /// The last that was handed over, or where it began.
    delivered: u64,
    acked: u64,
    /// What was handed over and not acknowledged, where that is counted.
    unacked: VecDeque<u64>,
}

/// Why a subscription ends.
enum End {
    /// There is no reader any more: nobody can be told.
    Gone,
    /// For this reason.
    Reason(String),
}

impl From<NotSent> for End {
    fn from(_: NotSent) -> Self {
        Self::Gone
    }
}

impl Subscription {
    pub(super) fn new(id: SubscriptionId, lease: Lease, wanted: Wanted, after: u64) -> Arc<Self> {
        let flow =
            Flow { state: "replaying", at: after, delivered: after, acked: after, unacked: VecDeque::new() };
        Arc::new(Self {
            id,
            wanted,
            lease,
            flow: Mutex::new(flow),
            acked: Notify::new(),
            until: CancellationToken::new(),
            why: OnceLock::new(),
        })
    }

    fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it, with the reason that its subscriber is told.
    pub(super) fn end(&self, why: &str) {
        // The first reason is the reason.
        drop(self.why.set(why.to_owned()));
        self.until.cancel();
    }

    /// The source that it is of.
    pub(super) fn source(&self) -> &crate::projections::Source {
        &self.lease.topic.source
    }

    /// Notes that everything up to a number is done with.
    pub(super) fn acknowledge(&self, n: u64) -> Result<(u64, u64), RpcError> {
        let mut flow = self.flow();
        if n > flow.at {
            let what = format!("nothing beyond {} was handed over yet", flow.at);
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
        flow.acked = flow.acked.max(n);
        while flow.unacked.front().is_some_and(|first| *first <= n) {
            flow.unacked.pop_front();
        }
        self.acked.notify_one();
        Ok((flow.acked, count(flow.unacked.len())))
    }

    pub(super) fn view(&self) -> SubscriptionView {
        let source = self.source();
        let (head, _) = self.lease.topic.how_far();
        let flow = self.flow();
        SubscriptionView {
            subscription_id: self.id,
            target: source.subject.target.clone(),
            projection: source.kind.name().to_owned(),
            projection_version: source.kind.version(),
            state: flow.state.to_owned(),
            n: flow.at,
            acked: flow.acked,
            lag: head.saturating_sub(flow.at),
            inflight: count(flow.unacked.len()),
            max_inflight: self.wanted.max_inflight,
        }
    }
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Hands a subscriber what it wants, until it unsubscribes, goes, or may have it no longer.
pub(super) async fn serve(session: Session, subscription: Arc<Subscription>, repaired: Option<Repaired>) {
    let server = Server { session: &session, of: &subscription };
    // Each arm only waits or is done for good; what was handed over is known to the subscription.
    let end = tokio::select! {
        biased;
        () = subscription.until.cancelled() => {
            End::Reason(subscription.why.get().cloned().unwrap_or_default())
        }
        why = standing::lost(&session.shared, &session.caller) => End::Reason(why),
        () = subscription.lease.topic.replaced.cancelled() => {
            End::Reason("the projection was made anew and differs".to_owned())
        }
        end = server.work(repaired) => end,
    };
    session.opened.unsubscribed(&subscription.id);
    if let End::Reason(why) = end
        && why != HANGS_UP
    {
        let ended = server.state_line("ended", (!why.is_empty()).then_some(why), None);
        // Whoever reads nothing is told nothing.
        drop(timeout(LAST_WORD_TIME_MAX, session.outbound.send(ended)).await);
    }
}

struct Server<'a> {
    session: &'a Session,
    of: &'a Subscription,
}

impl Server<'_> {
    /// Ends only because it must.
    async fn work(&self, repaired: Option<Repaired>) -> End {
        self.session.answered.cancelled().await;
        if let Some(repaired) = repaired {
            let line = self.state_line("repaired", None, Some(repaired));
            if self.session.outbound.send(line).await.is_err() {
                return End::Gone;
            }
        }
        match self.hand_over().await {
            Ok(never) => never,
            Err(end) => end,
        }
    }

    async fn hand_over(&self) -> Result<End, End> {
        let topic = &self.of.lease.topic;
        let mut head = topic.head.subscribe();
        let mut behind: Option<Reading> = None;
        let mut told = "";
        loop {
            head.borrow_and_update();
            let at = self.of.flow().at;
            match topic.after(at, TAKEN_BYTES) {
                After::Items(items) => {
                    behind = None;
                    // The newest entry as it comes is no news about the stream.
                    if told.is_empty() && items.len() > 1 {
                        told = self.tell("replaying").await?;
                    }
                    self.deliver(&items).await?;
                }
                After::Behind => {
                    if told != "replaying" {
                        told = self.tell("replaying").await?;
                    }
                    let reading = self.read(behind.take(), at).await?;
                    behind = Some(reading);
                }
                After::Nothing => {
                    if told != "live" {
                        told = self.tell("live").await?;
                    }
                    self.wait(&mut head).await?;
                }
            }
        }
    }

    /// Waits for something to hand over; says now and then that it does.
    async fn wait(&self, head: &mut tokio::sync::watch::Receiver<u64>) -> Result<(), End> {
        let Some(heartbeat) = self.of.wanted.heartbeat else {
            // The projection is used, so it is there.
            return head.changed().await.map_err(|_gone| End::Reason("the projection ended".to_owned()));
        };
        let mut beat = Instant::now() + heartbeat;
        loop {
            match tokio::time::timeout_at(beat, head.changed()).await {
                Ok(changed) => {
                    return changed.map_err(|_gone| End::Reason("the projection ended".to_owned()));
                }
                Err(_elapsed) => {
                    beat = Instant::now() + heartbeat;
                    // One that waits unread says as much as another.
                    match self.session.outbound.offer(self.state_line("live", None, None)) {
                        Err(NotSent::Gone) => return Err(End::Gone),
                        Ok(()) | Err(NotSent::Full) => {}
                    }
                }
            }
        }
    }

    /// Hands over a page of what the record has.
    async fn read(&self, reading: Option<Reading>, after: u64) -> Result<Reading, End> {
        let shared = &self.session.shared;
        let permit = shared.projections.permit().await;
        let (dir, source) = (shared.projections.dir.clone(), self.of.source().clone());
        let page = shared.record.read(move |reader| {
            let _held = permit;
            let mut reading = reading.unwrap_or_else(|| Reading::begin(&dir, reader, &source, after));
            let page = reading.page(reader, usize::MAX)?;
            Ok((reading, page))
        });
        let (reading, page) = page.await.map_err(|error| End::Reason(error.message))?;
        if page.end && page.items.is_empty() {
            // What is not in the record was never handed out, so this is damage.
            return Err(End::Reason(format!("the record ends behind {after}")));
        }
        self.deliver(&page.items).await?;
        Ok(reading)
    }

    /// Hands over entries, many at a time where nobody counts them.
    async fn deliver(&self, items: &[Arc<Item>]) -> Result<(), End> {
        let wanted = &self.of.wanted;
        let mut together = Vec::new();
        for item in items {
            if !wanted.takes(&item.kind) {
                self.of.flow().at = item.n;
                continue;
            }
            if wanted.max_inflight.is_some() {
                self.room().await?;
            }
            let own = self.head(item.n);
            if items.len() == 1 {
                self.session.outbound.send(Line::shared(own, Arc::clone(&item.tail))).await?;
                continue;
            }
            together.extend_from_slice(&own);
            together.extend_from_slice(&item.tail);
            // With `max_inflight` none may wait here while the subscriber is waited for.
            if together.len() >= TOGETHER_BYTES || wanted.max_inflight.is_some() {
                self.session.outbound.send(std::mem::take(&mut together)).await?;
            }
        }
        if !together.is_empty() {
            self.session.outbound.send(together).await?;
        }
        Ok(())
    }

    /// The words before an entry, which counts as handed over from here on.
    fn head(&self, n: u64) -> Vec<u8> {
        let mut flow = self.of.flow();
        let before = std::mem::replace(&mut flow.delivered, n);
        flow.at = n;
        if self.of.wanted.max_inflight.is_some() {
            flow.unacked.push_back(n);
        }
        drop(flow);
        let id = self.of.id;
        let mut head = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"stream/event\",\"params\":{{\"subscription_id\":\"{id}\","
        );
        if !self.of.wanted.types.is_empty() {
            head.push_str(&format!("\"prev_n\":{before},"));
        }
        head.into_bytes()
    }

    /// Waits until the subscriber has room for one more.
    async fn room(&self) -> Result<(), End> {
        let max = self.of.wanted.max_inflight.unwrap_or(u32::MAX);
        let is_full = || count(self.of.flow().unacked.len()) >= u64::from(max);
        if !is_full() {
            return Ok(());
        }
        let before = self.of.flow().state;
        self.tell("lagging").await?;
        while is_full() {
            // An acknowledgement that came in between left its mark.
            if timeout(ACK_TIME_MAX, self.of.acked.notified()).await.is_err() && is_full() {
                return Err(End::Reason(BACKPRESSURE.to_owned()));
            }
        }
        self.tell(if before == "lagging" { "replaying" } else { before }).await.map(drop)
    }

    async fn tell(&self, state: &'static str) -> Result<&'static str, End> {
        self.of.flow().state = state;
        self.session.outbound.send(self.state_line(state, None, None)).await?;
        Ok(state)
    }

    fn state_line(&self, state: &str, reason: Option<String>, repaired: Option<Repaired>) -> Vec<u8> {
        let id = self.of.id.to_string();
        rpc::notification("stream/state", StreamState { id, state: state.to_owned(), reason, repaired })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_matched_whole_or_by_their_beginning() {
        let types = ["message.*".to_owned(), "agent.started".to_owned()];
        assert!(takes(&types, "message.accepted") && takes(&types, "agent.started"));
        assert!(!takes(&types, "agent.starting") && !takes(&types, "messages"));
    }
}
