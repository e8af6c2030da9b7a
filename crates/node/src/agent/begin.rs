//! Turns that somebody begins or steers: decided where the queue is, so that what is said of them is so.
//!
//! A turn is a message and nothing besides. What is added here is where it belongs, what becomes of it while the agent is
//! busy, and that an id chosen by its sender begins it once.

use edgeplane_store::MessageRow;
use edgeplane_types::{
    DeliveryMode, ErrorName, Fact, MessageId, Phase, RunId, Rung, ThreadId, TurnId, fact::ThreadCreated,
};
use edgeplane_wire::{
    api::{
        conversation::turn::{Disposition, OnBusy},
        workspace::BindingParam,
    },
    rpc::RpcError,
};

use super::{Accepted, Actor};
use crate::{
    admission::Admitted,
    record::{Draft, Origin},
    workspaces::{ToBind, WantedBinding},
};

/// Waiting messages among which the place of one is looked for; farther behind, its place is not said.
const PLACES_MAX: usize = 1_000;

/// A turn that somebody wants to begin.
#[derive(Debug)]
pub(crate) struct ToBegin {
    pub(crate) admitted: Admitted,
    pub(crate) on_busy: OnBusy,
    /// The thread that is made together with it.
    pub(crate) create: Option<ThreadCreated>,
    /// What else is to become durable with it.
    pub(crate) along: Draft,
    /// The workspace that its run is bound to with it, and the right to bind that. Whoever holds that right may wait for
    /// an engine, so an engine never waits for it.
    pub(crate) binding: Option<(BindingParam, ToBind)>,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) message_id: MessageId,
    pub(crate) thread: Option<ThreadId>,
    /// The turn that it is, or goes into.
    pub(crate) turn_id: TurnId,
    pub(crate) disposition: Disposition,
    pub(crate) queue_position: Option<u64>,
    pub(crate) next_seq: u64,
    pub(crate) duplicate: bool,
}

/// The turn that a message is.
pub(crate) fn turn_of(message_id: MessageId) -> TurnId {
    TurnId::from_bytes(*message_id.as_bytes())
}

/// The message that a turn is.
pub(crate) fn message_of(turn_id: TurnId) -> MessageId {
    MessageId::from_bytes(*turn_id.as_bytes())
}

impl Actor {
    /// The id of a turn that has ended: that of its message, or a new one if the program began it by itself.
    pub(super) fn turn_id_of(&self, message_id: Option<MessageId>) -> TurnId {
        message_id.map_or_else(|| self.shared.record.mint().id(), turn_of)
    }

    /// The thread of a message that led to something, if that is not the first one.
    pub(super) fn thread_of(&self, message_id: Option<MessageId>) -> Option<ThreadId> {
        let id = message_id?;
        let row = self.shared.record.look_up(|reader| reader.message(&id));
        row.ok().flatten().and_then(|row| row.envelope.thread)
    }

    /// Begins a turn, or says why not; then it is delivered as far as it can be.
    pub(super) async fn begin(&mut self, wanted: ToBegin) -> Result<Begun, RpcError> {
        let ToBegin { mut admitted, on_busy, create, mut along, binding } = wanted;
        if let Some(known) = self.begun_before(&admitted)? {
            let accepted = self.accept(admitted, |_id| Vec::new()).await?;
            return self.begun(&accepted, Some(known));
        }
        self.check_thread(admitted.saying.thread, create.as_ref())?;
        match admitted.saying.into_turn {
            Some(turn) => self.check_steers(turn)?,
            None => self.meet_busy(&mut admitted, on_busy)?,
        }
        self.bind_along(&mut along, &admitted, binding.as_ref())?;
        let facts = create.map(Fact::ThreadCreated).into_iter().collect();
        let accepted = self.accept_in(along, admitted, |_id| facts).await?;
        drop(binding);
        self.pump().await;
        self.begun(&accepted, None)
    }

    /// Adds to what becomes durable with a turn that its run is bound to a workspace.
    fn bind_along(
        &self,
        along: &mut Draft,
        admitted: &Admitted,
        binding: Option<&(BindingParam, ToBind)>,
    ) -> Result<(), RpcError> {
        let (Some((to, right)), Some(message)) = (binding, admitted.saying.message_id) else { return Ok(()) };
        let run = RunId::from_bytes(*message.as_bytes());
        let wanted = WantedBinding::of_run(*to, self.identity.id, run);
        right.add(&self.shared, along, &wanted.attached, &Origin::actor(admitted.actor.clone()))?;
        Ok(())
    }

    /// The message that a repetition is about.
    fn begun_before(&self, admitted: &Admitted) -> Result<Option<MessageRow>, RpcError> {
        let saying = &admitted.saying;
        if let Some(key) = &saying.idempotency_key
            && let Some(known) = self.known_by_key(&admitted.caller, key)?
        {
            return Ok(Some(known));
        }
        let Some(id) = saying.message_id else { return Ok(None) };
        self.shared.record.look_up(|reader| reader.message(&id))
    }

    fn check_thread(&self, thread: Option<ThreadId>, create: Option<&ThreadCreated>) -> Result<(), RpcError> {
        let Some(thread) = thread else { return Ok(()) };
        self.check_threads()?;
        let row = self.shared.record.look_up(|reader| reader.thread(&thread))?;
        match (row, create) {
            (None, Some(_)) => self.check_threads_room(),
            (Some(_), Some(_)) => Err(RpcError::new(
                ErrorName::Conflict,
                format!("thread {thread} exists already: begin the turn in it"),
            )),
            (Some(row), None) if row.agent == self.identity.id && row.archived_at.is_some() => {
                let what = format!("thread {thread} is archived and takes no turns");
                Err(RpcError::new(ErrorName::InvalidState, what).hint("fork it, or make a new one"))
            }
            (Some(row), None) if row.agent == self.identity.id => Ok(()),
            _ => Err(RpcError::new(ErrorName::NotFound, format!("no thread {thread}"))),
        }
    }

    /// Whether several threads can be kept apart: somebody must know when a turn is over.
    pub(super) fn check_threads(&self) -> Result<(), RpcError> {
        let name = &self.identity.name;
        if self.is_set() {
            let what =
                format!("agent `{name}` is a set of replicas that remember nothing: it has one thread");
            return Err(RpcError::new(ErrorName::Unsupported, what));
        }
        if !self.is_structured() {
            let what = format!(
                "agent `{name}` runs on a terminal, which does not say when a turn is over: it has one thread"
            );
            return Err(RpcError::new(ErrorName::Unsupported, what)
                .hint("a program that speaks a protocol can have several"));
        }
        Ok(())
    }

    /// Refuses what would be one thread too many.
    pub(super) fn check_threads_room(&self) -> Result<(), RpcError> {
        let id = self.identity.id;
        let living = self.shared.record.look_up(|reader| reader.living_threads(&id))?;
        if living < super::threads::THREADS_MAX {
            return Ok(());
        }
        let what = format!("agent `{}` has {living} threads that are not archived", self.identity.name);
        Err(RpcError::new(ErrorName::QuotaExhausted, what).hint("archive some of them"))
    }

    /// Whether something can be said into this turn now.
    fn check_steers(&self, turn: TurnId) -> Result<(), RpcError> {
        let name = &self.identity.name;
        if !self.is_native() {
            let what = format!("the program of agent `{name}` takes nothing within a turn");
            return Err(RpcError::new(ErrorName::Unsupported, what)
                .hint("interrupt the turn, or begin another one behind it"));
        }
        match self.delivery.turns.running() {
            Some(running) if running == message_of(turn) => Ok(()),
            Some(running) => Err(RpcError::new(
                ErrorName::InvalidState,
                format!("turn {turn} does not run: agent `{name}` is busy with turn {}", turn_of(running)),
            )),
            None => Err(RpcError::new(
                ErrorName::InvalidState,
                format!("turn {turn} does not run: agent `{name}` is busy with none"),
            )
            .hint("`conversation/turn.get` tells what became of it")),
        }
    }

    /// What becomes of a turn while the agent is busy.
    fn meet_busy(&self, admitted: &mut Admitted, on_busy: OnBusy) -> Result<(), RpcError> {
        let Some(why) = self.why_busy()? else { return Ok(()) };
        match on_busy {
            OnBusy::Queue => Ok(()),
            OnBusy::Reject => {
                let what = format!(
                    "agent `{}` is busy and the turn says `on_busy: reject`: {why}",
                    self.identity.name
                );
                Err(RpcError::new(ErrorName::InvalidState, what)
                    .hint("`on_busy: queue` lets it wait; `conversation/queue.list` shows what waits"))
            }
            OnBusy::Steer => {
                let running = self.delivery.turns.running();
                let thread = admitted.saying.thread;
                let of_thread = running.filter(|running| self.thread_of(Some(*running)) == thread);
                // What waits, or runs in another thread, is nothing that it could go into.
                let Some(running) = of_thread else { return Ok(()) };
                let turn = turn_of(running);
                self.check_steers(turn)?;
                admitted.saying.mode = DeliveryMode::Steer;
                admitted.saying.into_turn = Some(turn);
                Ok(())
            }
        }
    }

    /// Why a turn could not begin at once.
    fn why_busy(&self) -> Result<Option<String>, RpcError> {
        let id = self.identity.id;
        let tells = !self.is_native() || self.tells_ends();
        if let Some(running) = self.delivery.turns.running().filter(|_| tells) {
            return Ok(Some(format!("turn {} runs", turn_of(running))));
        }
        if let Some(on_its_way) = self.delivery.in_flight() {
            return Ok(Some(format!("turn {} begins", turn_of(on_its_way))));
        }
        let waiting = self.shared.record.look_up(|reader| reader.waiting_count(&id))?;
        if waiting > 0 {
            return Ok(Some(format!("{waiting} wait before it")));
        }
        let phase = self.life.state().phase();
        let takes = self.is_set() || matches!(phase, Phase::Running | Phase::Starting | Phase::Hibernated);
        Ok((!takes).then(|| format!("it is {phase}")))
    }

    fn begun(&self, accepted: &Accepted, known: Option<MessageRow>) -> Result<Begun, RpcError> {
        let id = accepted.message_id;
        let record = &self.shared.record;
        let Some(row) = record.look_up(|reader| reader.message(&id))?.or(known) else {
            return Err(RpcError::new(ErrorName::Internal, format!("message {id} is missing")));
        };
        let next_seq = match accepted.seq {
            Some(seq) => seq,
            None => {
                let found = record.look_up(|reader| reader.events_from_pos(row.accepted_pos, 1, &[]))?;
                found.first().map_or(1, |committed| committed.event.seq)
            }
        };
        let is_there = !row.waiting && row.state != Rung::Accepted;
        let disposition = match row.envelope.into_turn {
            Some(_) => Disposition::Steered,
            None if is_there || self.delivery.is_in_flight(id) => Disposition::Started,
            None => Disposition::Queued,
        };
        let queue_position = match disposition {
            Disposition::Queued => self.place_in_queue(id)?,
            Disposition::Started | Disposition::Steered => None,
        };
        Ok(Begun {
            message_id: id,
            thread: row.envelope.thread,
            turn_id: row.envelope.into_turn.unwrap_or_else(|| turn_of(id)),
            disposition,
            queue_position,
            next_seq,
            duplicate: accepted.duplicate,
        })
    }

    fn place_in_queue(&self, message_id: MessageId) -> Result<Option<u64>, RpcError> {
        let id = self.identity.id;
        let waiting = self.shared.record.look_up(|reader| reader.next_waiting(&id, PLACES_MAX))?;
        let place = waiting.iter().position(|row| row.envelope.id == message_id);
        Ok(place.and_then(|place| u64::try_from(place).ok()).map(|place| place.saturating_add(1)))
    }
}
