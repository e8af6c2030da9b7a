//! The end of a turn that somebody asks for: durable before the program is asked, and asked again by a daemon that comes
//! back.

use edgeplane_driver::native;
use edgeplane_manifest::Driver;
use edgeplane_store::{MessageRow, Reader};
use edgeplane_types::{
    DeliveryMode, Epoch, ErrorName, Fact, MessageId, Rung, TurnId, fact::InterruptRequested,
};
use edgeplane_wire::{
    api::conversation::turn::{InterruptOutcome, QueueFate},
    rpc::RpcError,
    shim::{InputKind, ToShim},
};

use super::{
    Actor,
    begin::{message_of, turn_of},
};
use crate::record::{Draft, Origin, refused};

/// Waiting turns that are dropped at once; more are refused.
const DROPPED_MAX: usize = 1_000;

/// Open turns that are looked at.
const OPEN_MAX: usize = 64;

/// A change of a turn that somebody asks for.
#[derive(Debug)]
pub(crate) enum TurnRequest {
    Interrupt { turn: TurnId, reason: String, queued: QueueFate },
    Remove { turn: TurnId, reason: String },
    Promote { turn: TurnId },
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct TurnChanged {
    pub(crate) outcome: InterruptOutcome,
    pub(crate) dropped: Vec<TurnId>,
}

const DONE: TurnChanged = TurnChanged { outcome: InterruptOutcome::Accepted, dropped: Vec::new() };

impl Actor {
    pub(super) async fn change_turn(
        &mut self,
        request: TurnRequest,
        origin: &Origin,
    ) -> Result<TurnChanged, RpcError> {
        match request {
            TurnRequest::Interrupt { turn, reason, queued } => {
                self.interrupt(turn, (reason, queued), origin).await
            }
            TurnRequest::Remove { turn, reason } => {
                let row = self.own_turn(turn)?;
                self.check_waits(&row)?;
                let mut draft = Draft::default();
                self.draft_drop(&mut draft, origin, row.envelope.id, &reason);
                self.commit_turn(draft, "queue.before").await?;
                Ok(DONE)
            }
            TurnRequest::Promote { turn } => {
                let row = self.own_turn(turn)?;
                self.check_waits(&row)?;
                if row.envelope.mode != DeliveryMode::Queue {
                    let what = format!("turn {turn} waits for no turn's end: it goes before all that do");
                    return Err(RpcError::new(ErrorName::InvalidState, what));
                }
                let mut draft = Draft::default();
                let fact = Fact::MessagePromoted { message_id: row.envelope.id };
                self.shared.record.add(&mut draft, self.stream(), origin, fact);
                self.commit_turn(draft, "queue.before").await?;
                self.delivery.fresh = None;
                Ok(DONE)
            }
        }
    }

    async fn commit_turn(&self, draft: Draft, failpoint: &'static str) -> Result<(), RpcError> {
        self.shared.failpoint(failpoint);
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    fn own_turn(&self, turn: TurnId) -> Result<MessageRow, RpcError> {
        let id = message_of(turn);
        let row = self.shared.record.look_up(|reader| reader.message(&id))?;
        let own = row.filter(|row| row.envelope.target == self.identity.id);
        own.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no turn {turn}")))
    }

    /// Refuses what is not certain to wait.
    fn check_waits(&self, row: &MessageRow) -> Result<(), RpcError> {
        let turn = turn_of(row.envelope.id);
        let what = match row.waiting {
            false => format!("turn {turn} does not wait: its message is {}", row.state),
            true if self.delivery.is_in_flight(row.envelope.id) => {
                format!("turn {turn} is on its way to the program")
            }
            true if self.live.as_ref().is_some_and(|live| live.link.is_none()) => {
                let what = format!("turn {turn} may be on its way: the agent's shim cannot be asked now");
                return Err(RpcError::new(ErrorName::Unavailable, what));
            }
            true => return Ok(()),
        };
        Err(RpcError::new(ErrorName::InvalidState, what).hint("`conversation/turn.get` tells how it is"))
    }

    /// A waiting message is not wanted any more: it is no dead letter, either.
    fn draft_drop(&self, draft: &mut Draft, origin: &Origin, message_id: MessageId, reason: &str) {
        let reason = || reason.to_owned();
        for fact in [
            Fact::MessageRejected { message_id, reason: reason() },
            Fact::MessageDropped { message_id, reason: reason() },
        ] {
            self.shared.record.add(draft, self.stream(), origin, fact);
        }
    }

    async fn interrupt(
        &mut self,
        turn: TurnId,
        (reason, queued): (String, QueueFate),
        origin: &Origin,
    ) -> Result<TurnChanged, RpcError> {
        let row = self.own_turn(turn)?;
        let id = row.envelope.id;
        let is_on_its_way = self.delivery.is_in_flight(id);
        let runs = is_on_its_way || self.runs(&row);
        let waits = row.waiting && !is_on_its_way;
        if !runs && !waits {
            return Ok(TurnChanged { outcome: InterruptOutcome::NoOp, dropped: Vec::new() });
        }
        let mut draft = Draft::default();
        if waits {
            self.check_waits(&row)?;
            self.draft_drop(&mut draft, origin, id, &reason);
        } else {
            if matches!(self.manifest.spec.driver, Driver::Terminal { .. }) {
                let what = format!(
                    "agent `{}` runs on a terminal: what ends a turn there is a key",
                    self.identity.name
                );
                return Err(RpcError::new(ErrorName::Unsupported, what)
                    .hint("`edgeplane signal --mode interrupt`, or `edgeplane attach`"));
            }
            let keeps_queue = queued == QueueFate::Keep;
            let asked = InterruptRequested { turn_id: turn, reason: reason.clone(), keeps_queue };
            self.shared.record.add(&mut draft, self.stream(), origin, Fact::TurnInterruptRequested(asked));
        }
        let dropped = match queued {
            QueueFate::Keep => Vec::new(),
            QueueFate::Drop => self.draft_drop_queue(&mut draft, origin, (&row, &reason))?,
        };
        self.commit_turn(draft, "interrupt.before").await?;
        self.shared.failpoint("interrupt.after");
        if runs && !is_on_its_way {
            self.ask_for_end(id, &reason).await;
        }
        Ok(TurnChanged { outcome: InterruptOutcome::Accepted, dropped })
    }

    /// Drops what waits in the thread of a turn besides it.
    fn draft_drop_queue(
        &self,
        draft: &mut Draft,
        origin: &Origin,
        (row, reason): (&MessageRow, &str),
    ) -> Result<Vec<TurnId>, RpcError> {
        let (agent, thread) = (self.identity.id, row.envelope.thread);
        let waiting = self.shared.record.look_up(|reader| reader.next_waiting(&agent, DROPPED_MAX))?;
        let of_thread = waiting.iter().filter(|other| {
            let id = other.envelope.id;
            other.envelope.thread == thread && id != row.envelope.id && !self.delivery.is_in_flight(id)
        });
        let mut dropped = Vec::new();
        for other in of_thread {
            self.draft_drop(draft, origin, other.envelope.id, reason);
            dropped.push(turn_of(other.envelope.id));
        }
        Ok(dropped)
    }

    /// Whether the live program has a turn that is not over.
    pub(super) fn runs(&self, row: &MessageRow) -> bool {
        let epoch = self.live.as_ref().map(|live| live.place.epoch);
        let has = matches!(row.state, Rung::Injected | Rung::Observed);
        has && !row.waiting && epoch.is_some() && row.epoch == epoch
    }

    /// Asks the program for the end of a turn, once: the same line whichever daemon asks.
    async fn ask_for_end(&mut self, message_id: MessageId, reason: &str) {
        match &self.manifest.spec.driver {
            Driver::Native { .. } => {
                let mut id = *message_id.as_bytes();
                id.iter_mut().for_each(|byte| *byte ^= 0x1b);
                let line = native::turn_interrupt_asked(message_id, reason);
                if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
                    link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: &line });
                }
            }
            Driver::Acp { .. } | Driver::Exec { .. } => {
                if self.delivery.turns.running() == Some(message_id) {
                    self.acp_cancel(message_id).await;
                }
            }
            Driver::Terminal { .. } => {}
        }
    }

    /// Asks for the end of the turn that runs, because a message of another thread may not wait for it.
    pub(super) async fn ask_for_end_of_running(&mut self, reason: &str) {
        if let Some(running) = self.delivery.turns.running() {
            self.ask_for_end(running, reason).await;
        }
    }

    /// Asks for the end of a turn that was asked for before the program had it.
    pub(super) async fn interrupt_again(&mut self, message_id: MessageId) {
        let turn = turn_of(message_id);
        let asked = self.shared.record.look_up(|reader| reader.interrupt_of(&turn));
        if let Ok(Some(row)) = asked {
            self.ask_for_end(message_id, &row.asked.reason).await;
        }
    }

    /// Asks for the ends that a former daemon had made durable and perhaps not asked for.
    pub(super) async fn recall_interrupts(&mut self, epoch: Epoch) {
        let agent = self.identity.id;
        let read = move |reader: &Reader| reader.open_turns(&agent, epoch, OPEN_MAX);
        for turn in self.shared.record.read(read).await.unwrap_or_default() {
            self.interrupt_again(turn.message_id).await;
        }
    }

    /// Whether a message was to go into a turn that is over.
    pub(super) fn has_missed_its_turn(&self, envelope: &edgeplane_types::Envelope) -> bool {
        envelope.into_turn.is_some_and(|turn| self.delivery.turns.running() != Some(message_of(turn)))
    }
}
