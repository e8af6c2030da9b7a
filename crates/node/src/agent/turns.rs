//! Which turn of a native program runs, as far as delivery cares: whether a queued message waits, and which turn an
//! interrupting one ends.
//!
//! A program that never says that a turn is over must not wait for ever, so its turns hold nothing up before it has
//! said so once in its epoch, or its manifest says that its turns can be interrupted. That it observed a message is no
//! such word: many observe and never end.

use std::time::Duration;

use edgeplane_types::{DeliveryMode, Envelope, Epoch, Fact, MessageId, Rung, ThreadId};
use tokio::time::Instant;

use super::{Actor, rehydration};

/// How long a turn in which nothing is heard holds up what is queued, where no `health.quietFor` says it.
const QUIET_MAX: Duration = Duration::from_secs(600);

/// What is known of the turns of one epoch.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The message that began the running turn, and since when it runs.
    running: Option<(MessageId, Instant)>,
    /// The thread that the running turn belongs to, if that is not the agent's first one.
    thread: Option<ThreadId>,
    /// Whether the program has said in this epoch that a turn was over.
    says_ends: bool,
    /// A message whose turn was over before it was known to be injected.
    ended_early: Option<MessageId>,
    /// Whether a message waits for the turn's end.
    holds_up: bool,
    /// Whether the epoch was given a message, and whether the turn of one is over.
    pub(super) was_given: bool,
    pub(super) one_is_over: bool,
}

impl Turns {
    pub(super) fn running(&self) -> Option<MessageId> {
        self.running.map(|(message_id, _)| message_id)
    }

    /// Whether the running turn belongs to another thread than a message.
    pub(super) fn is_apart(&self, envelope: &Envelope) -> bool {
        self.running.is_some() && self.thread != envelope.thread
    }

    /// A message was injected. One that steers belongs to the turn that runs.
    fn began(&mut self, envelope: &Envelope) {
        self.was_given = true;
        if self.running.is_none() || envelope.mode != DeliveryMode::Steer {
            self.running = Some((envelope.id, Instant::now()));
            self.thread = envelope.thread;
        }
    }

    /// The program says that a turn is over, perhaps that of a message that is not known to be injected yet.
    fn ended(&mut self, message_id: Option<MessageId>, in_flight: Option<MessageId>) {
        self.says_ends = true;
        if in_flight.is_some() && (message_id.is_none() || message_id == in_flight) {
            self.ended_early = in_flight;
        }
        if message_id.is_none() || message_id == self.running() {
            self.over();
        }
    }

    fn over(&mut self) {
        self.one_is_over |= self.running.is_some();
        self.running = None;
        self.holds_up = false;
    }
}

impl Actor {
    /// Whether its native program is known to say when a turn is over.
    pub(super) fn tells_ends(&self) -> bool {
        self.delivery.turns.says_ends || self.manifest.spec.offers.interruption || self.forgets()
    }

    /// Whether a queued message must wait for the end of a turn; if so, its end is looked for. Turns of two threads
    /// never overlap, whatever the program says of their ends.
    pub(super) fn waits_for_turn(&mut self, is_apart: bool) -> bool {
        let tells = self.tells_ends() || is_apart;
        let waits = self.is_native() && tells && self.delivery.turns.running.is_some();
        self.delivery.turns.holds_up = waits;
        waits
    }

    /// When a turn that holds something up will have been quiet for too long.
    pub(super) fn turn_timer(&self) -> Option<Instant> {
        if self.is_acp() {
            // Its turns end with an answer, and nothing else would be understood meanwhile.
            return None;
        }
        let turns = &self.delivery.turns;
        let (_, began) = turns.running.filter(|_| turns.holds_up)?;
        let limit = self.manifest.spec.health.as_ref().and_then(|health| health.quiet_for);
        let limit = limit.map_or(QUIET_MAX, |limit| Duration::from_millis(limit.as_millis()));
        let heard = self.live.as_ref()?.output_at.map_or(began, |at| at.max(began));
        Some(heard + limit)
    }

    pub(super) async fn turn_due(&mut self, now: Instant) {
        if self.turn_timer().is_some_and(|at| at <= now) {
            tracing::info!(agent = %self.identity.name, "a turn was quiet for too long; what is queued goes on");
            self.turn_over().await;
        }
    }

    /// No turn runs any more.
    pub(super) async fn turn_over(&mut self) {
        self.delivery.turns.over();
        self.pump().await;
    }

    /// A message of a native program was injected.
    pub(super) fn turn_began(&mut self, message_id: MessageId) {
        let row = self.shared.record.look_up(|reader| reader.message(&message_id)).ok().flatten();
        let Some(row) = row else { return };
        // A program may be faster with its answer than its shim with the word that it was given the question.
        let is_over = row.receipts.iter().any(|receipt| receipt.rung == Rung::TurnEnded);
        if is_over || self.delivery.turns.ended_early.take() == Some(message_id) {
            (self.delivery.turns.was_given, self.delivery.turns.one_is_over) = (true, true);
            return;
        }
        self.health.turn_began(message_id);
        self.delivery.turns.began(&row.envelope);
    }

    /// A native program says that a turn is over.
    pub(super) fn turn_ended(&mut self, message_id: Option<MessageId>) {
        self.health.turn_ended(message_id);
        let in_flight = self.delivery.in_flight();
        self.delivery.turns.ended(message_id, in_flight);
    }

    /// Finds out which turn runs in an epoch that a former daemon began.
    pub(super) async fn recall_turns(&mut self, epoch: Epoch) {
        let (id, stream) = (self.identity.id, self.stream());
        let read = move |reader: &edgeplane_store::Reader| {
            let events = reader.last_events(&stream, rehydration::EVENTS_MAX)?;
            let says_ends = events.iter().any(
                |read| matches!(&read.event.fact, Fact::TurnCompleted { epoch: of, .. } if *of == epoch),
            );
            let open = rehydration::open_messages(reader, (&id, epoch), &events)?;
            let was_given = reader.leading(&id, epoch)?.is_some_and(|leading| leading.message_id.is_some());
            Ok((says_ends, open, was_given))
        };
        let Ok((says_ends, open, was_given)) = self.shared.record.read(read).await else { return };
        self.delivery.turns.says_ends |= says_ends;
        self.delivery.turns.was_given |= was_given;
        self.delivery.turns.one_is_over |= was_given && open.is_empty();
        let began = open.iter().rfind(|row| row.envelope.mode != DeliveryMode::Steer).or(open.first());
        if let Some(row) = began {
            self.delivery.turns.running = Some((row.envelope.id, Instant::now()));
            self.delivery.turns.thread = row.envelope.thread;
        }
    }
}
