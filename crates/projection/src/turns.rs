//! Which turns there are: what became of each message that was sent to an agent.
//!
//! A turn is a message that was put to the agent. A message that another stream accepted, such as one that a set handed
//! to its replica, is met for the first time when it is put, and what it said is not known here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use edgeplane_types::{
    AgentId, Authority, Channel, DeliveryMode, Envelope, Epoch, Event, Fact, MessageId, Priority, SafeLabel,
    SessionId, ThreadId, Timestamp, TurnId,
};
use serde::{Deserialize, Serialize};

use crate::{
    entry::Ids,
    subject::{Subject, main_thread, turn_of},
};

/// Messages with nothing more to come of which everything is still known. Of an older one only its thread is: if it
/// comes back after so many others, what it said is a gap.
const CLOSED_MAX: usize = 1_024;

/// Older messages of which the thread is known, where it is not the main one. Beyond that the oldest are taken for ones
/// of the main thread.
const FAR_MAX: usize = 20_000;

/// How far a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Its message waits.
    Queued,
    /// Its message was written to the program.
    Started,
    /// The program acts on it.
    Observed,
    /// It is over.
    Ended,
    /// Its epoch ended before it did.
    Cut,
    /// Its message was refused, came too late or was given up.
    Failed,
    /// Nobody knows whether its message was written.
    Ambiguous,
    /// Another agent has it.
    Moved,
}

impl Stage {
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Started | Self::Observed)
    }

    fn is_closed(self) -> bool {
        !self.is_open() && self != Self::Queued
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Started => "started",
            Self::Observed => "observed",
            Self::Ended => "ended",
            Self::Cut => "cut",
            Self::Failed => "failed",
            Self::Ambiguous => "ambiguous",
            Self::Moved => "moved",
        }
    }
}

/// What a message said of itself when it was accepted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Words {
    pub(crate) principal: SafeLabel,
    pub(crate) channel: Channel,
    pub(crate) authority: Authority,
    pub(crate) mode: DeliveryMode,
    pub(crate) priority: Priority,
    pub(crate) content_digest: String,
    pub(crate) content_bytes: u64,
    pub(crate) at: Timestamp,
}

/// A turn that is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) stage: Stage,
    /// None: the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thread: Option<ThreadId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
    pub(crate) epoch: Epoch,
    /// How often it was put to the program.
    pub(crate) attempts: u32,
    /// Whether its end with what it gave is known.
    pub(crate) answered: bool,
    /// None: another stream accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<Words>,
}

impl Turn {
    fn met(stage: Stage) -> Self {
        Self { stage, thread: None, trace: None, epoch: Epoch(0), attempts: 0, answered: false, words: None }
    }

    fn accepted(envelope: &Envelope, at: Timestamp) -> Self {
        let words = Words {
            principal: envelope.source.principal.clone(),
            channel: envelope.channel,
            authority: envelope.authority,
            mode: envelope.mode,
            priority: envelope.priority,
            content_digest: envelope.content_digest.clone(),
            content_bytes: envelope.content_bytes,
            at,
        };
        Self {
            thread: envelope.thread,
            trace: envelope.traceparent.clone(),
            words: Some(words),
            ..Self::met(Stage::Queued)
        }
    }
}

/// A turn that moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) message: MessageId,
    /// None: it was not known.
    pub(crate) was: Option<Stage>,
    pub(crate) now: Stage,
    /// Whether it was put to the program just now.
    pub(crate) put: bool,
    /// Whether what it gave was known before.
    pub(crate) answered_before: bool,
}

impl Change {
    pub(crate) fn left_queue(&self) -> bool {
        self.was == Some(Stage::Queued) && self.now != Stage::Queued
    }

    pub(crate) fn joined_queue(&self) -> bool {
        self.was != Some(Stage::Queued) && self.now == Stage::Queued
    }
}

/// Every turn that is known of an agent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Turns {
    agent: Option<AgentId>,
    session: Option<SessionId>,
    known: BTreeMap<MessageId, Turn>,
    open: BTreeSet<MessageId>,
    closed: VecDeque<MessageId>,
    far: BTreeMap<MessageId, ThreadId>,
    queued: u64,
}

impl Turns {
    pub(crate) fn new(subject: &Subject) -> Self {
        Self { agent: subject.agent, session: subject.session, ..Self::default() }
    }

    pub(crate) fn session(&self) -> Option<SessionId> {
        self.session
    }

    pub(crate) fn main(&self) -> Option<ThreadId> {
        self.session.map(main_thread)
    }

    pub(crate) fn get(&self, message: MessageId) -> Option<&Turn> {
        self.known.get(&message)
    }

    /// The thread of a message, and of what belongs to none.
    pub(crate) fn thread(&self, message: Option<MessageId>) -> Option<ThreadId> {
        let named = message.and_then(|message| match self.get(message) {
            Some(turn) => turn.thread,
            None => self.far.get(&message).copied(),
        });
        named.or_else(|| self.main())
    }

    pub(crate) fn trace(&self, message: Option<MessageId>) -> Option<&str> {
        message.and_then(|message| self.get(message)?.trace.as_deref())
    }

    /// How many messages wait.
    pub(crate) fn depth(&self) -> u64 {
        self.queued
    }

    /// What belongs to a message is about these.
    pub(crate) fn ids(&self, message: Option<MessageId>) -> Ids {
        Ids {
            agent_id: self.agent,
            session_id: self.session,
            thread_id: self.thread(message),
            turn_id: message.map(turn_of),
            message_id: message,
            ..Ids::default()
        }
    }

    /// What a turn's end is about: one without a message has an id of its own.
    pub(crate) fn ids_of_end(&self, turn: TurnId, message: Option<MessageId>) -> Ids {
        let ids = self.ids(message);
        Ids { turn_id: ids.turn_id.or(Some(turn)), ..ids }
    }

    /// Takes in an event, and says which turn it moved.
    pub(crate) fn follow(&mut self, event: &Event) -> Option<Change> {
        let (message, epoch, now) = match &event.fact {
            Fact::AgentDeclared { agent_id, session_id, .. } => {
                self.agent = self.agent.or(Some(*agent_id));
                self.session = self.session.or(Some(*session_id));
                return None;
            }
            Fact::MessageAccepted { envelope } => {
                let turn = Turn::accepted(envelope, event.ts);
                let was = self.known.insert(envelope.id, turn).map(|turn| turn.stage);
                return Some(self.moved(envelope.id, was, Stage::Queued, false));
            }
            Fact::MessageInjected { message_id, epoch, .. } => (*message_id, Some(*epoch), Stage::Started),
            Fact::MessageObserved { message_id, epoch, .. } => (*message_id, Some(*epoch), Stage::Observed),
            Fact::MessageTurnEnded { message_id, epoch, .. } => (*message_id, Some(*epoch), Stage::Ended),
            Fact::TurnCompleted { message_id: Some(message_id), epoch, .. } => {
                (*message_id, Some(*epoch), Stage::Ended)
            }
            Fact::MessageAmbiguous { message_id, epoch, .. } => (*message_id, Some(*epoch), Stage::Ambiguous),
            Fact::MessageRejected { message_id, .. }
            | Fact::MessageExpired { message_id }
            | Fact::MessageDeadLettered { message_id, .. } => (*message_id, None, Stage::Failed),
            Fact::MessageRequeued { message_id } => (*message_id, None, Stage::Queued),
            Fact::MessageAssigned { message_id, .. } | Fact::MessageReturned { message_id, .. } => {
                (*message_id, None, Stage::Moved)
            }
            _ => return None,
        };
        Some(self.step(&event.fact, (message, epoch), now))
    }

    fn step(&mut self, fact: &Fact, (message, epoch): (MessageId, Option<Epoch>), now: Stage) -> Change {
        let was = self.known.get(&message).map(|turn| turn.stage);
        let far = &mut self.far;
        let turn = self
            .known
            .entry(message)
            .or_insert_with(|| Turn { thread: far.remove(&message), ..Turn::met(now) });
        let answered_before = turn.answered;
        let is_same_epoch = epoch == Some(turn.epoch);
        // A turn whose end was known before its beginning was noted does not begin again.
        let now = match now {
            Stage::Started | Stage::Observed if turn.stage == Stage::Ended && is_same_epoch => Stage::Ended,
            Stage::Started if turn.stage == Stage::Observed && is_same_epoch => Stage::Observed,
            now => now,
        };
        let put = now.is_open() && !(was.is_some_and(Stage::is_open) && is_same_epoch);
        turn.attempts += u32::from(put);
        turn.epoch = epoch.unwrap_or(turn.epoch);
        turn.stage = now;
        turn.answered = match fact {
            Fact::TurnCompleted { .. } => true,
            _ if put => false,
            _ => turn.answered,
        };
        Change { answered_before: answered_before && !put, ..self.moved(message, was, now, put) }
    }

    fn moved(&mut self, message: MessageId, was: Option<Stage>, now: Stage, put: bool) -> Change {
        let change = Change { message, was, now, put, answered_before: false };
        self.queued = self.queued.saturating_add(u64::from(change.joined_queue()));
        self.queued = self.queued.saturating_sub(u64::from(change.left_queue()));
        if now.is_open() {
            self.open.insert(message);
        } else if was.is_some_and(Stage::is_open) {
            self.open.remove(&message);
        }
        if now.is_closed() && !was.is_some_and(Stage::is_closed) {
            self.closed.push_back(message);
        }
        self.forget();
        change
    }

    fn forget(&mut self) {
        while self.closed.len() > CLOSED_MAX {
            let Some(oldest) = self.closed.pop_front() else { return };
            // One that came back from there waits or runs, and will be closed once more.
            if !self.known.get(&oldest).is_some_and(|turn| turn.stage.is_closed()) {
                continue;
            }
            if let Some(thread) = self.known.remove(&oldest).and_then(|turn| turn.thread) {
                self.far.insert(oldest, thread);
            }
            if self.far.len() > FAR_MAX {
                self.far.pop_first();
            }
        }
    }

    /// An epoch is over: the turns that ran in it, or in one before, are cut.
    pub(crate) fn cut(&mut self, epoch: Epoch) -> Vec<Change> {
        let open: Vec<_> = self.open.iter().copied().collect();
        let mut cut = Vec::new();
        for message in open {
            let Some(turn) = self.known.get_mut(&message) else { continue };
            if turn.epoch > epoch {
                continue;
            }
            let was = turn.stage;
            turn.stage = Stage::Cut;
            cut.push(self.moved(message, Some(was), Stage::Cut, false));
        }
        cut
    }
}
