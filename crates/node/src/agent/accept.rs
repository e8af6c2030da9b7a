//! Accepting: each message durable, or refused with a reason, before anything happens to it.
//!
//! Those that come at the same time wait for the disk together; each is accepted or refused for itself.

use std::collections::{HashMap, HashSet};

use edgeplane_store::{AppendError, Committed, MessageRow};
use edgeplane_types::{
    Envelope, ErrorName, EventId, Evidence, Fact, Ingress, MessageId, Receipt, Rung, SafeLabel, Timestamp,
};
use edgeplane_wire::rpc::RpcError;
use tokio::sync::oneshot;

use super::{Actor, Command, delivery::Fresh};
use crate::{
    admission::{self, Admitted},
    caller::Caller,
    record::{Draft, Origin, refused},
};

/// Messages that are made durable together.
const AT_ONCE: usize = 64;

/// A message that is durable.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) message_id: MessageId,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) duplicate: bool,
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

/// How many messages are on their way into the record, of all senders and of each.
#[derive(Debug, Default)]
struct UnderWay {
    all: u64,
    of: HashMap<SafeLabel, u64>,
}

impl UnderWay {
    fn begin(&mut self, sender: SafeLabel) {
        self.all = self.all.saturating_add(1);
        let own = self.of.entry(sender).or_default();
        *own = own.saturating_add(1);
    }

    fn of(&self, sender: &SafeLabel) -> u64 {
        self.of.get(sender).copied().unwrap_or(0)
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
        let (draft, new) = match self.prepare(admitted, along, &UnderWay::default())? {
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
        let (mut under_way, mut count) = (Vec::with_capacity(group.len()), UnderWay::default());
        for (admitted, reply) in group {
            let sender = admitted.caller.principal.clone();
            let key = admitted.saying.idempotency_key.clone();
            if key.is_some_and(|key| !keys.insert((sender.clone(), key))) {
                // The record says whether it is the same message, and must have the one before for that.
                self.finish(&mut under_way).await;
                count = UnderWay::default();
            }
            match self.prepare(admitted, |_id| Vec::new(), &count) {
                Ok(Prepared::New(draft, new)) => {
                    self.shared.failpoint("accept.before");
                    under_way.push((new, self.shared.record.submit(*draft), reply));
                    count.begin(sender);
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

    /// What is to be written for a message, if it may be accepted while `under_way` others are.
    fn prepare(
        &self,
        admitted: Admitted,
        along: impl FnOnce(MessageId) -> Vec<Fact>,
        under_way: &UnderWay,
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
        // What is decided must not wait for room: there was some when it was asked.
        if saying.ingress != Ingress::Action {
            self.check_room(under_way.all)?;
            self.check_share(&caller, under_way.of(&caller.principal))?;
        }
        let now = self.shared.record.now();
        let mut draft = Draft::default();
        let (content_digest, content_bytes) = draft.body(content);
        let envelope = Envelope {
            id: self.shared.record.mint().id(),
            target: self.identity.id,
            channel,
            ingress: saying.ingress,
            source: caller.source(saying.display_name.as_deref().map(admission::shown_name)),
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
        let origin = Origin::actor(actor);
        for fact in along(envelope.id) {
            self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        }
        let row = just_accepted(&envelope);
        let fact = Fact::MessageAccepted { envelope: Box::new(envelope) };
        let event = self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        Ok(Prepared::New(Box::new(draft), Box::new(New { event, row, begun: now })))
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
        Ok(Accepted { message_id: new.row.envelope.id, receipts, duplicate: false })
    }

    /// Refuses what would be one message too many, where so many others are on their way into the record.
    pub(super) fn check_room(&self, under_way: u64) -> Result<(), RpcError> {
        let id = self.identity.id;
        let waiting = self.shared.record.look_up(|reader| reader.waiting_count(&id))?;
        let waiting = waiting.saturating_add(under_way);
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
    Ok(Accepted { message_id: known.envelope.id, receipts: known.receipts.clone(), duplicate: true })
}
