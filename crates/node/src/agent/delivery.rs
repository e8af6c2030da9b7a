//! Delivery: accept durably, inject once, and say how far each message has come.
//!
//! One message is on its way at a time. Its id is the input's id, so a shim that has written it says so however
//! often it is asked, and a daemon that comes back asks instead of guessing.

use std::{collections::BTreeMap, time::Duration};

use edgeplane_driver::{
    native,
    render::{self, Attempt, Bounds},
    terminal,
};
use edgeplane_lifecycle::State;
use edgeplane_manifest::{Ambiguous, Driver};
use edgeplane_store::MessageRow;
use edgeplane_types::{
    Authority, Desired, Envelope, Epoch, ErrorName, Evidence, Fact, Ingress, MessageId, Part, Receipt, Rung,
};
use edgeplane_wire::{
    cast::CastEvent,
    rpc::RpcError,
    shim::{InputKind, InputOutcome, ToShim},
};
use tokio::time::Instant;

use super::Actor;
use crate::{
    admission::Admitted,
    caller::Caller,
    record::{Draft, Origin, refused},
    recordings,
};

/// How long a full shim is left alone before it is offered a message again.
const FULL_RETRY: Duration = Duration::from_millis(50);

/// Waiting messages that are read at once where all of them are gone through.
const WAITING_AT_ONCE: usize = 1_024;

/// What is on its way.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    in_flight: Option<MessageId>,
    /// The epoch whose recording was asked what it holds. What it said may stand in the reserve, where no reader
    /// sees it, so it is asked once.
    settled: Option<Epoch>,
    retry_at: Option<Instant>,
}

impl Delivery {
    pub(super) fn timer(&self) -> Option<Instant> {
        self.retry_at
    }

    pub(super) fn is_in_flight(&self, message_id: MessageId) -> bool {
        self.in_flight == Some(message_id)
    }

    /// The message that is on its way, and that the program may have already.
    pub(super) fn in_flight(&self) -> Option<MessageId> {
        self.in_flight
    }

    pub(super) fn epoch_over(&mut self) {
        self.in_flight = None;
        self.retry_at = None;
    }
}

/// A message that is durable.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) message_id: MessageId,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) duplicate: bool,
}

impl Actor {
    /// Makes a message durable together with the facts that go along with it, or says why not; then it will be
    /// delivered.
    pub(super) async fn accept(
        &mut self,
        admitted: Admitted,
        along: impl FnOnce(MessageId) -> Vec<Fact>,
    ) -> Result<Accepted, RpcError> {
        let Admitted { caller, saying, content, channel, authority, hops, causation, on_behalf_of, rule } =
            admitted;
        if let Some(key) = &saying.idempotency_key
            && let Some(known) = self.known_by_key(&caller, key)?
        {
            return same_message(&known, &content);
        }
        // What is decided must not wait for room: there was some when it was asked.
        if saying.ingress != Ingress::Action {
            self.check_room()?;
        }
        let now = self.shared.record.now();
        let mut draft = Draft::default();
        let (content_digest, content_bytes) = draft.body(content);
        let envelope = Envelope {
            id: self.shared.record.mint().id(),
            target: self.identity.id,
            channel,
            ingress: saying.ingress,
            source: caller.source(saying.display_name.map(|name| render::clean(&name))),
            authority,
            on_behalf_of,
            topic: saying.topic,
            origin: saying.origin,
            rule: Some(rule),
            thread: None,
            reply_to: saying.reply_to,
            causation,
            hops,
            mode: saying.mode,
            priority: saying.priority,
            expires_at: saying.expires_in_ms.map(|ms| now.plus_millis(ms)),
            idempotency_key: saying.idempotency_key,
            traceparent: None,
            content_digest,
            content_bytes,
        };
        let (message_id, expires) = (envelope.id, envelope.expires_at.is_some());
        let origin = Origin::actor(caller.actor());
        for fact in along(message_id) {
            self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        }
        let fact = Fact::MessageAccepted { envelope: Box::new(envelope) };
        let accepted = self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        let committed = self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        let its_own = committed.events.iter().find(|committed| committed.event.id == accepted);
        let at = its_own.map_or(now, |committed| committed.event.ts);
        if expires {
            self.arm_expiry();
        }
        let receipts = vec![Receipt { rung: Rung::Accepted, evidence: Evidence::Kernel, at }];
        Ok(Accepted { message_id, receipts, duplicate: false })
    }

    /// Refuses what would be one message too many.
    pub(super) fn check_room(&self) -> Result<(), RpcError> {
        let id = self.identity.id;
        let waiting = self.shared.record.look_up(|reader| reader.waiting_count(&id))?;
        if waiting < u64::from(self.manifest.spec.inbox.max) {
            return Ok(());
        }
        let error = RpcError::new(
            ErrorName::Backpressure,
            format!("{waiting} messages wait for agent `{}` already", self.identity.name),
        );
        Err(error.hint("wait until it has read some, or raise `spec.inbox.max`"))
    }

    fn known_by_key(&self, caller: &Caller, key: &str) -> Result<Option<MessageRow>, RpcError> {
        let (target, principal) = (self.identity.id, caller.principal.clone());
        self.shared.record.look_up(|reader| reader.message_by_idempotency(&target, &principal, key))
    }

    /// Sends the next waiting message on its way, if the agent can take one.
    pub(super) async fn pump(&mut self) {
        while self.delivery.in_flight.is_none() && self.can_take() {
            let id = self.identity.id;
            let Ok(waiting) = self.shared.record.look_up(|reader| reader.next_waiting(&id, 1)) else {
                return;
            };
            let Some(row) = waiting.into_iter().next() else { return };
            if !self.send(row).await {
                return;
            }
        }
    }

    fn can_take(&self) -> bool {
        let linked = self.live.as_ref().is_some_and(|live| live.link.is_some() && live.process.is_some());
        // One that is about to be suspended takes no more, either.
        let runs_on = self.life.desired() != Desired::Frozen;
        linked
            && runs_on
            && matches!(self.life.state(), State::Running(_))
            && self.delivery.retry_at.is_none()
    }

    /// Sends one message, or settles it without; tells whether another may follow.
    async fn send(&mut self, row: MessageRow) -> bool {
        // One that waits although its first attempt came to an unknown end is waiting for its second.
        let attempt = if is_ambiguous(&row) { Attempt::Again } else { Attempt::First };
        let (envelope, expires_at) = (row.envelope, row.expires_at);
        let message_id = envelope.id;
        if expires_at.is_some_and(|at| at <= self.shared.record.now()) {
            // Its timer is due; a shim may have to be asked, and what waits behind it goes on with the answer.
            self.expire().await;
            return false;
        }
        let parts = match self.content(&envelope) {
            Ok(parts) => parts,
            Err(reason) => return self.settle([Fact::MessageDeadLettered { message_id, reason }]).await,
        };
        let bytes = match self.manifest.spec.driver.clone() {
            Driver::Native { .. } => native::deliver(&envelope, &parts, attempt, Bounds::NATIVE),
            Driver::Terminal { comment, submit, .. } => {
                if envelope.authority > Authority::Delegated {
                    let reason =
                        format!("authority `{}` is too light for a plain terminal", envelope.authority);
                    return self.settle([Fact::MessageRejected { message_id, reason }]).await;
                }
                let typing = terminal::Typing { comment, submit: submit.as_str().as_bytes().to_vec() };
                terminal::keys(&render::render(&envelope, &parts, attempt, Bounds::TERMINAL), &typing)
            }
        };
        let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) else { return false };
        link.send(&ToShim::Input { id: *message_id.as_bytes(), kind: InputKind::Message, bytes: &bytes });
        self.delivery.in_flight = Some(message_id);
        false
    }

    fn content(&self, envelope: &Envelope) -> Result<Vec<Part>, String> {
        let digest = envelope.content_digest.parse().map_err(|_bad| "its digest is damaged".to_owned())?;
        let body =
            self.shared.record.look_up(|reader| reader.body(&digest)).map_err(|error| error.message)?;
        match body {
            Some(edgeplane_store::StoredBody::Bytes(bytes)) => {
                serde_json::from_slice(&bytes).map_err(|error| format!("its content cannot be read: {error}"))
            }
            Some(edgeplane_store::StoredBody::Erased { reason }) => {
                Err(format!("its content was erased: {reason}"))
            }
            None => Err("its content is missing".to_owned()),
        }
    }

    /// Records what became of messages, all or nothing; says whether that was possible.
    pub(super) async fn settle(&self, facts: impl IntoIterator<Item = Fact>) -> bool {
        let draft = self.settlement(facts);
        draft.is_empty() || self.shared.record.commit(draft).await.is_ok()
    }

    /// Gives up what waits: nobody will ever take it.
    pub(super) fn give_up_waiting(&self, draft: &mut Draft, origin: &Origin) {
        let id = self.identity.id;
        let mut after_pos = 0;
        loop {
            let page =
                self.shared.record.look_up(|reader| reader.waiting_page(&id, after_pos, WAITING_AT_ONCE));
            let page = page.unwrap_or_default();
            let Some(last) = page.last() else { return };
            after_pos = last.accepted_pos;
            for row in page {
                let reason = "the agent was deleted".to_owned();
                let fact = Fact::MessageDeadLettered { message_id: row.message_id, reason };
                self.shared.record.add(draft, self.stream(), origin, fact);
            }
        }
    }

    fn settlement(&self, facts: impl IntoIterator<Item = Fact>) -> Draft {
        let mut draft = Draft::default();
        for fact in facts {
            self.shared.record.add(&mut draft, self.stream(), &Origin::node("delivery"), fact);
        }
        draft
    }

    /// What a shim says became of an input.
    pub(super) async fn input_done(&mut self, id: [u8; 16], outcome: InputOutcome) {
        let message_id = MessageId::from_bytes(id);
        if self.expiry_answered(message_id, outcome).await {
            return self.pump().await;
        }
        if self.delivery.in_flight != Some(message_id) {
            return;
        }
        let epoch = self.live.as_ref().map_or(self.last_epoch, |live| live.place.epoch);
        let fact = match outcome {
            InputOutcome::Written | InputOutcome::Duplicate => injected(message_id, epoch),
            InputOutcome::LineTooLong => Fact::MessageRejected {
                message_id,
                reason: "too_large: a line of more than 4,095 bytes would be cut by the terminal".to_owned(),
            },
            InputOutcome::Full => {
                self.delivery.in_flight = None;
                self.delivery.retry_at = Some(Instant::now() + FULL_RETRY);
                return;
            }
            InputOutcome::Queued => return,
            // The program reads no more; its end is about to be known, and the message waits for the next epoch.
            InputOutcome::Closed | InputOutcome::Unknown => return,
        };
        let injected = matches!(fact, Fact::MessageInjected { .. });
        if self.settle([fact]).await {
            if injected && self.is_native() {
                self.health.turn_began(message_id);
            }
            self.delivery.in_flight = None;
            self.pump().await;
        } else {
            // No space to note it: the shim remembers, and is asked again.
            self.delivery.in_flight = None;
            self.delivery.retry_at = Some(Instant::now() + Duration::from_secs(1));
        }
    }

    pub(super) async fn delivery_due(&mut self, now: Instant) {
        if self.delivery.retry_at.is_some_and(|at| at <= now) {
            self.delivery.retry_at = None;
            self.pump().await;
        }
    }

    /// Finds out what became of messages that were on their way when an epoch ended without its shim's word.
    ///
    /// The shim marks a message in the recording before it writes the first byte and again after the last. Any that
    /// waits may have been on its way: one that came later may go first.
    pub(super) async fn settle_in_flight(&mut self, epoch: Epoch) {
        if self.delivery.settled == Some(epoch) {
            return;
        }
        let id = self.identity.id;
        let Ok(waiting) = self.shared.record.look_up(|reader| reader.waiting_count(&id)) else { return };
        let mut facts = Vec::new();
        if waiting > 0 {
            let found = marks(&self.shared.place(id, &self.identity.name, epoch).dir);
            let ids: Vec<MessageId> = found.keys().copied().collect();
            let Ok(rows) = self.shared.record.look_up(|reader| reader.waiting_among(&id, &ids)) else {
                return;
            };
            for row in rows {
                // A former daemon may have settled the same end, and let the message wait again.
                let is_known = is_ambiguous(&row) && row.epoch == Some(epoch);
                if let Some(mark) = found.get(&row.envelope.id).filter(|_| !is_known) {
                    facts.extend(self.marked(&row, epoch, *mark));
                }
            }
        }
        // What belongs to an end must be known before the next epoch, also without space: else it is written twice.
        let draft = self.settlement(facts).critical();
        if draft.is_empty() || self.shared.record.commit(draft).await.is_ok() {
            self.delivery.settled = Some(epoch);
        }
    }

    /// What a mark in the recording of an epoch that is over means for a message.
    fn marked(&self, row: &MessageRow, epoch: Epoch, mark: Mark) -> Vec<Fact> {
        let message_id = row.envelope.id;
        if mark == Mark::Whole {
            return vec![injected(message_id, epoch)];
        }
        let reason = "the epoch ended while the message was being written".to_owned();
        let ambiguous = Fact::MessageAmbiguous { message_id, epoch, reason };
        match self.manifest.spec.delivery.ambiguous {
            // Once more, not for ever: a message whose second attempt ends so too may be what ends the program.
            Ambiguous::Redeliver if is_ambiguous(row) => vec![ambiguous],
            Ambiguous::Redeliver => vec![ambiguous, Fact::MessageRequeued { message_id }],
            Ambiguous::Hold => vec![ambiguous],
            Ambiguous::Drop => {
                let reason = "ambiguous, and the manifest says drop".to_owned();
                vec![ambiguous, Fact::MessageDeadLettered { message_id, reason }]
            }
        }
    }
}

/// Whether a crash left unknown, in this epoch or one before, whether the message was written.
fn is_ambiguous(row: &MessageRow) -> bool {
    row.receipts.iter().any(|receipt| receipt.rung == Rung::Ambiguous)
}

/// A message was written, as its shim says or left in the recording.
pub(super) fn injected(message_id: MessageId, epoch: Epoch) -> Fact {
    Fact::MessageInjected { message_id, epoch, evidence: Evidence::Shim }
}

/// What a recording says of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Begun,
    Whole,
}

/// What a recording says of the messages in it, by their ids.
fn marks(dir: &std::path::Path) -> BTreeMap<MessageId, Mark> {
    let mut found = BTreeMap::new();
    let all = recordings::segments(dir).unwrap_or_default();
    let mut begun: Option<MessageId> = None;
    // A message is on its way for moments: the newest two segments hold every trace of it.
    for segment in all.iter().skip(all.len().saturating_sub(2)) {
        let Ok(segment) = recordings::Segment::open(dir, *segment) else { continue };
        drop(segment.visit(|timed| {
            match timed.event {
                CastEvent::Other { code: 'm', data } => {
                    // A mark that is no id is none of a message.
                    begun = data.parse().ok();
                    if let Some(id) = begun {
                        found.entry(id).or_insert(Mark::Begun);
                    }
                }
                CastEvent::Other { code: 'i', .. } => {
                    if let Some(id) = begun.take() {
                        found.insert(id, Mark::Whole);
                    }
                }
                _ => {}
            }
            std::ops::ControlFlow::Continue(())
        }));
    }
    found
}

fn same_message(known: &MessageRow, content: &[u8]) -> Result<Accepted, RpcError> {
    if known.envelope.content_digest != edgeplane_proof::digest(content).to_string() {
        return Err(RpcError::new(ErrorName::IdempotencyMismatch, "the key was used for another message")
            .hint("use a new key for a new message"));
    }
    Ok(Accepted { message_id: known.envelope.id, receipts: known.receipts.clone(), duplicate: true })
}
