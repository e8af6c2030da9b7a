//! Accepting: each message durable, or refused with a reason, before anything happens to it.
//!
//! Those that come at the same time wait for the disk together; each is accepted or refused for itself.

use std::collections::{HashMap, HashSet};

use edgeplane_store::{AppendError, Committed, MessageRow};
use edgeplane_types::{
    Envelope, ErrorName, EventId, Evidence, Fact, Ingress, MessageId, Receipt, Rung, SafeLabel, StreamName,
    ThreadId, Timestamp, fact::SubagentInput,
};
use edgeplane_wire::rpc::RpcError;
use tokio::sync::oneshot;

use super::{Actor, Command, delivery::Fresh};
use crate::{
    admission::{self, Admitted},
    caller::Caller,
    record::{Draft, Origin, refused},
    trace,
};

/// Messages that are made durable together.
const AT_ONCE: usize = 64;

/// A message that is durable.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) message_id: MessageId,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) duplicate: bool,
    /// The number of the event that accepted it, where it was accepted just now.
    pub(crate) seq: Option<u64>,
}

/// Who waits for a message to be accepted.
type Waiting = oneshot::Sender<Result<Accepted, RpcError>>;

/// What an acceptance comes to before anything is written.
enum Prepared {
    /// It was accepted before.
    Known(Accepted),
    New(Box<Draft>, Box<New>),
}

/// A message on its way into the record.
struct New {
    /// The event that accepts it.
    event: EventId,
    row: MessageRow,
    begun: Timestamp,
}

/// How many messages wait, of all senders and of each, those included that are on their way into the record. Looked up
/// before the first of them is: later nobody could tell which of them the record counts already.
#[derive(Debug, Default)]
pub(super) struct Counts {
    all: Option<u64>,
    of: HashMap<SafeLabel, u64>,
}

impl Counts {
    pub(super) fn all(&mut self, look_up: impl FnOnce() -> Result<u64, RpcError>) -> Result<u64, RpcError> {
        let known = self.all.map_or_else(look_up, Ok)?;
        self.all = Some(known);
        Ok(known)
    }

    pub(super) fn of(
        &mut self,
        sender: &SafeLabel,
        look_up: impl FnOnce() -> Result<u64, RpcError>,
    ) -> Result<u64, RpcError> {
        if let Some(known) = self.of.get(sender) {
            return Ok(*known);
        }
        let known = look_up()?;
        self.of.insert(sender.clone(), known);
        Ok(known)
    }

    fn one_more(&mut self, sender: &SafeLabel) {
        let of_sender = self.of.get_mut(sender);
        for count in self.all.iter_mut().chain(of_sender) {
            *count = count.saturating_add(1);
        }
    }
}

impl Actor {
    /// Makes a message durable together with the facts that go along with it, or says why not; then it will be
    /// delivered.
    pub(super) async fn accept(
        &mut self,
        admitted: Admitted,
        along: impl FnOnce(MessageId) -> Vec<Fact>,
    ) -> Result<Accepted, RpcError> {
        self.accept_in(Draft::default(), admitted, along).await
    }

    /// The same together with what a draft holds already. Nothing of that is kept if the message is not new.
    pub(super) async fn accept_in(
        &mut self,
        draft: Draft,
        admitted: Admitted,
        along: impl FnOnce(MessageId) -> Vec<Fact>,
    ) -> Result<Accepted, RpcError> {
        let (draft, new) = match self.prepare((draft, admitted), along, &mut Counts::default())? {
            Prepared::Known(accepted) => return Ok(accepted),
            Prepared::New(draft, new) => (draft, new),
        };
        self.shared.failpoint("accept.before");
        let outcome = self.shared.record.commit(*draft).await;
        let accepted = self.accepted(&new, outcome)?;
        self.delivery.fresh = Some(Fresh { row: new.row, parts: Vec::new() });
        Ok(accepted)
    }

    /// Accepts a message and those that wait in the mailbox right behind it, and delivers.
    pub(super) async fn accept_waiting(&mut self, admitted: Admitted, reply: Waiting) {
        let mut behind = Vec::new();
        let mut other = None;
        while behind.len() < AT_ONCE && other.is_none() {
            match self.mailbox.try_recv() {
                Ok(Command::Signal(admitted, reply)) => behind.push((*admitted, reply)),
                Ok(command) => other = Some(command),
                Err(_) => break,
            }
        }
        if behind.is_empty() {
            let result = self.accept_next(admitted).await;
            drop(reply.send(result));
        } else {
            behind.insert(0, (admitted, reply));
            self.accept_together(behind).await;
        }
        self.pump().await;
        if let Some(command) = other {
            Box::pin(self.command(command)).await;
        }
    }

    async fn accept_together(&mut self, group: Vec<(Admitted, Waiting)>) {
        self.delivery.fresh = None;
        let mut keys = HashSet::new();
        let (mut under_way, mut counts) = (Vec::with_capacity(group.len()), Counts::default());
        for (admitted, reply) in group {
            let sender = admitted.caller.speaker();
            let key = admitted.saying.idempotency_key.clone();
            if key.is_some_and(|key| !keys.insert((sender.clone(), key))) {
                // The record says whether it is the same message, and must have the one before for that.
                self.finish(&mut under_way).await;
            }
            match self.prepare((Draft::default(), admitted), |_id| Vec::new(), &mut counts) {
                Ok(Prepared::New(draft, new)) => {
                    self.shared.failpoint("accept.before");
                    under_way.push((new, self.shared.record.submit(*draft), reply));
                    counts.one_more(&sender);
                }
                Ok(Prepared::Known(accepted)) => drop(reply.send(Ok(accepted))),
                Err(error) => drop(reply.send(Err(error))),
            }
        }
        self.finish(&mut under_way).await;
    }

    async fn finish(&mut self, under_way: &mut Vec<(Box<New>, crate::record::Pending, Waiting)>) {
        for (new, pending, reply) in under_way.drain(..) {
            let outcome = self.shared.record.outcome(pending).await;
            drop(reply.send(self.accepted(&new, outcome)));
        }
    }

    /// What is to be written for a message, if it may be accepted where so many wait.
    fn prepare(
        &self,
        (mut draft, admitted): (Draft, Admitted),
        along: impl FnOnce(MessageId) -> Vec<Fact>,
        counts: &mut Counts,
    ) -> Result<Prepared, RpcError> {
        let Admitted {
            caller,
            actor,
            saying,
            content,
            channel,
            authority,
            hops,
            causation,
            on_behalf_of,
            rule,
        } = admitted;
        if let Some(key) = &saying.idempotency_key
            && let Some(known) = self.known_by_key(&caller, key)?
        {
            return same_message(&known, &caller, &content).map(Prepared::Known);
        }
        if let Some(id) = saying.message_id
            && let Some(known) = self.shared.record.look_up(|reader| reader.message(&id))?
        {
            return self.same_turn(&known, &caller, (&content, saying.thread)).map(Prepared::Known);
        }
        // What is decided must not wait for room: there was some when it was asked.
        if saying.ingress != Ingress::Action {
            self.check_room(counts)?;
            self.check_share(&caller, counts)?;
        }
        let now = self.shared.record.now();
        let trace =
            saying.trace.clone().unwrap_or_else(|| trace::own(&self.shared, &caller, &saying, causation));
        let (content_digest, content_bytes) = draft.body(content);
        let envelope = Envelope {
            id: saying.message_id.unwrap_or_else(|| self.shared.record.mint().id()),
            target: self.identity.id,
            channel,
            ingress: saying.ingress,
            source: caller.source(saying.display_name.as_deref().map(admission::shown_name)),
            authority,
            on_behalf_of,
            topic: saying.topic,
            origin: saying.origin,
            rule: Some(rule),
            thread: saying.thread,
            into_turn: saying.into_turn,
            fence: saying.message_id.map(|_chosen| self.fence()),
            reply_to: saying.reply_to,
            causation,
            hops,
            mode: saying.mode,
            priority: saying.priority,
            expires_at: saying.expires_in_ms.map(|ms| now.plus_millis(ms)),
            idempotency_key: saying.idempotency_key,
            traceparent: Some(trace.traceparent.to_string()),
            content_digest,
            content_bytes,
        };
        let origin = Origin { trace: Some(trace), ..Origin::actor(actor) };
        for fact in along(envelope.id) {
            self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        }
        self.tell_parent(&mut draft, &origin, envelope.id);
        let row = just_accepted(&envelope);
        let fact = Fact::MessageAccepted { envelope: Box::new(envelope) };
        let event = self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        Ok(Prepared::New(Box::new(draft), Box::new(New { event, row, begun: now })))
    }

    /// Adds a message to the history of the parent, if there is one, whoever said it.
    fn tell_parent(&self, draft: &mut Draft, origin: &Origin, message_id: MessageId) {
        let Some(parent) = self.identity.parent else { return };
        let input = SubagentInput { subagent_id: self.identity.id, message_id };
        self.shared.record.add(draft, StreamName::Agent(parent), origin, Fact::SubagentInput(input));
    }

    /// What the sender is told.
    fn accepted(&mut self, new: &New, outcome: Result<Committed, AppendError>) -> Result<Accepted, RpcError> {
        let committed = outcome.map_err(|error| refused(&error))?;
        self.shared.failpoint("accept.after");
        let its_own = committed.events.iter().find(|committed| committed.event.id == new.event);
        let at = its_own.map_or(new.begun, |committed| committed.event.ts);
        if new.row.expires_at.is_some() {
            self.arm_expiry();
        }
        let receipts = vec![Receipt { rung: Rung::Accepted, evidence: Evidence::Kernel, at }];
        let seq = its_own.map(|committed| committed.event.seq);
        Ok(Accepted { message_id: new.row.envelope.id, receipts, duplicate: false, seq })
    }

    /// Refuses what would be one message too many.
    pub(super) fn check_room(&self, counts: &mut Counts) -> Result<(), RpcError> {
        let id = self.identity.id;
        let waiting = counts.all(|| self.shared.record.look_up(|reader| reader.waiting_count(&id)))?;
        if waiting < u64::from(self.manifest.spec.inbox.max) {
            return Ok(());
        }
        let error = RpcError::new(
            ErrorName::Backpressure,
            format!("{waiting} messages wait for agent `{}` already", self.identity.name),
        );
        Err(error.hint("wait until it has read some, or raise `spec.inbox.max`"))
    }

    /// What a fence ends with where the sender chose the id: made when the content is there, so that its author
    /// cannot have known it.
    fn fence(&self) -> SafeLabel {
        let mut chance = [0; 6];
        self.shared.record.mint().entropy.fill(&mut chance);
        SafeLabel::sanitized(&chance.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    /// A message under an id that is used. Somebody else hears no more than that it is.
    fn same_turn(
        &self,
        known: &MessageRow,
        caller: &Caller,
        (content, thread): (&[u8], Option<ThreadId>),
    ) -> Result<Accepted, RpcError> {
        let is_same = known.addressed == self.identity.id
            && known.envelope.thread == thread
            && caller.is_source(&known.envelope.source)
            && known.envelope.content_digest == edgeplane_proof::digest(content).to_string();
        if !is_same {
            let what = format!("the id {} is used for something else", known.envelope.id);
            return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new turn"));
        }
        let receipts = known.receipts.clone();
        Ok(Accepted { message_id: known.envelope.id, receipts, duplicate: true, seq: None })
    }

    pub(super) fn known_by_key(&self, caller: &Caller, key: &str) -> Result<Option<MessageRow>, RpcError> {
        let (target, principal) = (self.identity.id, caller.speaker());
        self.shared.record.look_up(|reader| reader.message_by_idempotency(&target, &principal, key))
    }

    /// Accepts a message; in an empty inbox it is the next, which [`Self::pump`] is told. Call that right behind this.
    pub(super) async fn accept_next(&mut self, admitted: Admitted) -> Result<Accepted, RpcError> {
        let id = self.identity.id;
        let waiting = self.shared.record.look_up(|reader| reader.waiting_count(&id));
        let parts = matches!(waiting, Ok(0)).then(|| admitted.saying.parts.clone());
        self.delivery.fresh = None;
        let result = self.accept(admitted, |_id| Vec::new()).await;
        self.delivery.fresh = match (self.delivery.fresh.take(), parts) {
            (Some(fresh), Some(parts)) => Some(Fresh { parts, ..fresh }),
            _ => None,
        };
        result
    }
}

/// A message that nothing has happened to yet.
fn just_accepted(envelope: &Envelope) -> MessageRow {
    MessageRow {
        accepted_pos: 0,
        envelope: envelope.clone(),
        addressed: envelope.target,
        receipts: Vec::new(),
        state: Rung::Accepted,
        waiting: true,
        epoch: None,
        reason: None,
        expires_at: envelope.expires_at,
        given_up: false,
        dropped: None,
    }
}

/// A message under a key that is used. Somebody else of the same name hears no more than that it is.
fn same_message(known: &MessageRow, caller: &Caller, content: &[u8]) -> Result<Accepted, RpcError> {
    let is_same = known.envelope.content_digest == edgeplane_proof::digest(content).to_string();
    if !(is_same && caller.is_source(&known.envelope.source)) {
        return Err(RpcError::new(ErrorName::IdempotencyMismatch, "the key was used for another message")
            .hint("use a new key for a new message"));
    }
    let receipts = known.receipts.clone();
    Ok(Accepted { message_id: known.envelope.id, receipts, duplicate: true, seq: None })
}
