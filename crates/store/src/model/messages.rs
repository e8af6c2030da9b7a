//! Messages: which rungs each has reached, which wait and in whose turn, which were given up, what they amount to.
//! The envelope stays in the event that accepted it.

mod turns;
mod waiting;

use edgeplane_types::{
    AgentId, Authority, DeliveryMode, Envelope, Epoch, Evidence, Fact, MessageId, Priority, Receipt, Rung,
    StreamName, ThreadId, Timestamp, TurnId, fact::Actor,
};
use rusqlite::{ffi, params};

use super::{Definition, FoldError, Step, json};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 8,
    schema: "
        CREATE TABLE message (
            accepted_pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            target BLOB NOT NULL,
            addressed BLOB,
            sender INTEGER NOT NULL,
            keyed INTEGER NOT NULL,
            key TEXT,
            priority INTEGER NOT NULL,
            authority INTEGER NOT NULL,
            channel TEXT NOT NULL,
            content_bytes INTEGER NOT NULL,
            reply_to BLOB,
            thread BLOB,
            into_turn BLOB,
            expires INTEGER,
            waiting INTEGER NOT NULL,
            given_up INTEGER NOT NULL,
            open_since INTEGER,
            answered INTEGER,
            state TEXT NOT NULL,
            epoch INTEGER,
            reason TEXT,
            dropped TEXT,
            receipts TEXT NOT NULL
        ) STRICT;
        CREATE INDEX message_inbox ON message (target, accepted_pos);
        CREATE INDEX message_waiting ON message (target, accepted_pos) WHERE waiting = 1;
        CREATE INDEX message_lane ON message (sender, priority, authority, accepted_pos) WHERE waiting = 1;
        CREATE INDEX message_expiry ON message (target, expires) WHERE waiting = 1 AND expires IS NOT NULL;
        CREATE UNIQUE INDEX message_key ON message (keyed, key) WHERE key IS NOT NULL;
        CREATE INDEX message_addressed ON message (addressed, accepted_pos) WHERE addressed IS NOT NULL;
        CREATE INDEX message_given_up ON message (target, accepted_pos) WHERE given_up = 1;
        CREATE INDEX message_given_up_anywhere ON message (accepted_pos) WHERE given_up = 1;
        CREATE INDEX message_open ON message (target, epoch, open_since) WHERE open_since IS NOT NULL;
        CREATE INDEX message_open_authority ON message (target, epoch, authority)
            WHERE open_since IS NOT NULL;
        CREATE INDEX message_thread ON message (thread, accepted_pos) WHERE thread IS NOT NULL;
        CREATE INDEX message_reply ON message (reply_to, accepted_pos) WHERE reply_to IS NOT NULL;

        -- Who ever sent to an inbox, the position at which each was served last, and how much of theirs waits.
        CREATE TABLE sender (
            id INTEGER PRIMARY KEY,
            target BLOB NOT NULL,
            principal TEXT NOT NULL,
            served INTEGER NOT NULL,
            waiting INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX sender_name ON sender (target, principal);

        -- A sender with something waiting at a priority and of an authority, and the oldest of that.
        CREATE TABLE lane (
            sender INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            authority INTEGER NOT NULL,
            target BLOB NOT NULL,
            served INTEGER NOT NULL,
            first_pos INTEGER NOT NULL,
            PRIMARY KEY (sender, priority, authority)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX lane_turn ON lane (target, priority, served, first_pos);

        -- The turn of an agent that ended last in its newest epoch, and the position at which it was opened.
        CREATE TABLE turn_over (
            target BLOB PRIMARY KEY,
            epoch INTEGER NOT NULL,
            message INTEGER NOT NULL,
            since INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- What an agent heard during its turns, and where in the record it last heard something so light.
        CREATE TABLE heard (
            target BLOB NOT NULL,
            authority INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            PRIMARY KEY (target, authority)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE waiting_total (
            target BLOB NOT NULL,
            priority INTEGER NOT NULL,
            messages INTEGER NOT NULL,
            content_bytes INTEGER NOT NULL,
            PRIMARY KEY (target, priority)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE rung_total (
            target BLOB NOT NULL,
            rung TEXT NOT NULL,
            messages INTEGER NOT NULL,
            PRIMARY KEY (target, rung)
        ) STRICT, WITHOUT ROWID;",
    tables: &[
        ("message", "accepted_pos"),
        ("sender", "id"),
        ("lane", "sender, priority, authority"),
        ("turn_over", "target"),
        ("heard", "target, authority"),
        ("waiting_total", "target, priority"),
        ("rung_total", "target, rung"),
    ],
    fold,
};

/// What the node itself did and made durable is known by the kernel's word that it is.
const BY_THE_NODE: Evidence = Evidence::Kernel;

/// What a crash hid is known by nothing having been heard.
const BY_NOBODY: Evidence = Evidence::Silence;

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    use Rung::{Ambiguous, DeadLettered, Expired, Injected, Observed, Rejected, TurnEnded};
    match &step.event.fact {
        Fact::MessageAccepted { envelope } => accept(step, envelope),
        Fact::MessageInjected { message_id, epoch, evidence } => {
            climb(step, *message_id, (Injected, *evidence), Some(*epoch), None)
        }
        Fact::MessageObserved { message_id, epoch, evidence } => {
            climb(step, *message_id, (Observed, *evidence), Some(*epoch), None)
        }
        Fact::MessageTurnEnded { message_id, epoch, evidence } => {
            climb(step, *message_id, (TurnEnded, *evidence), Some(*epoch), None)
        }
        Fact::MessageAmbiguous { message_id, epoch, reason } => {
            climb(step, *message_id, (Ambiguous, BY_NOBODY), Some(*epoch), Some(reason))
        }
        Fact::MessageRejected { message_id, reason } => {
            climb(step, *message_id, (Rejected, BY_THE_NODE), None, Some(reason))
        }
        Fact::MessageDeadLettered { message_id, reason } => {
            climb(step, *message_id, (DeadLettered, BY_THE_NODE), None, Some(reason))
        }
        Fact::MessageExpired { message_id } => climb(step, *message_id, (Expired, BY_THE_NODE), None, None),
        Fact::MessageRequeued { message_id } => wait_again(step, *message_id),
        Fact::MessageAssigned { message_id, member } => hand_over(step, *message_id, *member),
        Fact::MessageReturned { message_id, set, .. } => hand_over(step, *message_id, *set),
        Fact::MessageDropped { message_id, reason } => drop_for_good(step, *message_id, reason),
        Fact::MessagePromoted { message_id } => promote(step, *message_id),
        Fact::TurnCompleted { message_id: Some(message_id), .. } => answer(step, *message_id),
        Fact::AnswerHeard { epoch, authority, .. } => turns::answered(step, *epoch, *authority),
        _ => Ok(()),
    }
}

/// A message as far as the folding of later facts needs it.
struct Place {
    pos: i64,
    target: [u8; 16],
    sender: i64,
    priority: i64,
    authority: i64,
    content_bytes: i64,
    waiting: bool,
    given_up: bool,
    open_since: Option<i64>,
    epoch: Option<i64>,
    state: String,
}

impl Place {
    /// Since which position its turn is open, if it is and in this epoch.
    fn open_in(&self, epoch: Epoch) -> Option<i64> {
        self.open_since.filter(|_| self.epoch == Some(int(epoch.0)))
    }
}

fn place(step: &Step<'_>, message: MessageId) -> Result<Place, FoldError> {
    let found = step.find(
        "SELECT accepted_pos, target, sender, priority, authority, content_bytes, waiting, given_up,
                open_since, epoch, state
         FROM message WHERE id = ?1",
        [message.as_bytes()],
        |row| {
            Ok(Place {
                pos: row.get(0)?,
                target: row.get(1)?,
                sender: row.get(2)?,
                priority: row.get(3)?,
                authority: row.get(4)?,
                content_bytes: row.get(5)?,
                waiting: row.get(6)?,
                given_up: row.get(7)?,
                open_since: row.get(8)?,
                epoch: row.get(9)?,
                state: row.get(10)?,
            })
        },
    )?;
    found.ok_or(FoldError::UnknownMessage(message))
}

/// How many priorities there are: those that a sender may ask for, and ahead of them that of promoted messages.
pub(crate) const PRIORITIES: i64 = 4;

/// The priority of what was promoted.
const PROMOTED: i64 = 0;

/// Which of two waiting messages goes first, as a number: what does not wait for a turn's end goes before all that
/// does, and either by its priority.
fn rank(envelope: &Envelope) -> i64 {
    let priority = match envelope.priority {
        Priority::High => 1,
        Priority::Normal => 2,
        Priority::Low => 3,
    };
    match envelope.mode {
        DeliveryMode::Queue => priority,
        DeliveryMode::Steer | DeliveryMode::Interrupt => priority - PRIORITIES,
    }
}

/// How light an authority is, as a number: its place among all of them.
pub(crate) fn lightness(authority: Authority) -> i64 {
    let place = Authority::ALL.iter().position(|other| *other == authority);
    place.and_then(|place| i64::try_from(place).ok()).unwrap_or(i64::MAX)
}

fn receipt(step: &Step<'_>, rung: Rung, evidence: Evidence) -> Result<String, FoldError> {
    json(&Receipt { rung, evidence, at: step.event.ts })
}

fn accept(step: &Step<'_>, envelope: &Envelope) -> Result<(), FoldError> {
    if step.event.stream != StreamName::Agent(envelope.target) {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    let sender = waiting::sender(step, envelope.target.as_bytes(), envelope.source.principal.as_str())?;
    let (priority, content_bytes) = (rank(envelope), int(envelope.content_bytes));
    let authority = lightness(envelope.authority);
    step.insert(
        "INSERT INTO message (accepted_pos, id, target, sender, keyed, key, priority, authority, channel,
                              content_bytes, reply_to, expires, waiting, given_up, state, receipts, thread,
                              into_turn)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1, 0, ?12, ?13, ?14, ?15)",
        params![
            int(step.pos),
            envelope.id.as_bytes(),
            envelope.target.as_bytes(),
            sender,
            envelope.idempotency_key,
            priority,
            authority,
            envelope.channel.as_str(),
            content_bytes,
            envelope.reply_to.as_ref().map(MessageId::as_bytes),
            envelope.expires_at.map(Timestamp::as_micros),
            Rung::Accepted.as_str(),
            receipt(step, Rung::Accepted, BY_THE_NODE)?,
            envelope.thread.as_ref().map(ThreadId::as_bytes),
            envelope.into_turn.as_ref().map(TurnId::as_bytes),
        ],
        |error| taken(error, envelope),
    )?;
    let (pos, target) = (int(step.pos), *envelope.target.as_bytes());
    let state = Rung::Accepted.as_str().to_owned();
    let place = Place {
        pos,
        target,
        sender,
        priority,
        authority,
        content_bytes,
        waiting: true,
        given_up: false,
        open_since: None,
        epoch: None,
        state,
    };
    waiting::begin(step, &place)?;
    count(step, &place, Rung::Accepted.as_str(), 1)
}

/// Both indexes are unique ones, so only SQLite's words tell which was met; the key is looked at if they do not say.
fn taken(error: &rusqlite::Error, envelope: &Envelope) -> FoldError {
    let by_id = match error {
        rusqlite::Error::SqliteFailure(ffi::Error { .. }, Some(text)) => text.contains("message.id"),
        _ => envelope.idempotency_key.is_none(),
    };
    match &envelope.idempotency_key {
        Some(key) if !by_id => {
            FoldError::KeyUsed { principal: envelope.source.principal.to_string(), key: key.clone() }
        }
        _ => FoldError::AcceptedTwice(envelope.id),
    }
}

/// Lets a message that was given up wait once more, on the rung where it is; the node also one whose turn was cut
/// short and is open no more with that.
///
/// The node's own second attempt ends with the message's time. Whoever else asks for one knows that the time is over.
fn wait_again(step: &Step<'_>, message: MessageId) -> Result<(), FoldError> {
    let place = place(step, message)?;
    let by_the_node = matches!(step.event.actor, Actor::Node { .. });
    if !(place.given_up || by_the_node && place.open_since.is_some()) {
        return Err(FoldError::NotGivenUp(message));
    }
    step.run(
        "UPDATE message SET waiting = 1, given_up = 0, open_since = NULL,
                            expires = CASE WHEN ?2 OR expires > ?3 THEN expires END
         WHERE accepted_pos = ?1",
        params![place.pos, by_the_node, step.ts()],
    )?;
    waiting::begin(step, &place)
}

/// Moves a waiting message from a set to one of its replicas or back: it waits there, on the rung where it is, and
/// whoever has it writes of it. To whom it was addressed stays known, and so does the key of its sender.
fn hand_over(step: &Step<'_>, message: MessageId, to: AgentId) -> Result<(), FoldError> {
    let place = place(step, message)?;
    if *step.agent()?.as_bytes() != place.target {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    if !place.waiting {
        return Err(FoldError::NotWaiting(message));
    }
    let principal: Option<String> =
        step.find("SELECT principal FROM sender WHERE id = ?1", [place.sender], |row| row.get(0))?;
    let sender = waiting::sender(step, to.as_bytes(), &principal.unwrap_or_default())?;
    step.run(
        "UPDATE message SET target = ?2, sender = ?3, addressed = coalesce(addressed, target)
         WHERE accepted_pos = ?1",
        params![place.pos, to.as_bytes(), sender],
    )?;
    waiting::end(step, &place)?;
    waiting::serve(step, &place)?;
    count(step, &place, &place.state, -1)?;
    let moved = Place { target: *to.as_bytes(), sender, ..place };
    waiting::begin(step, &moved)?;
    count(step, &moved, &moved.state, 1)
}

/// Puts a message that waits for a turn's end before all others that do.
fn promote(step: &Step<'_>, message: MessageId) -> Result<(), FoldError> {
    let place = place(step, message)?;
    if *step.agent()?.as_bytes() != place.target {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    if !place.waiting {
        return Err(FoldError::NotWaiting(message));
    }
    if place.priority <= PROMOTED {
        return Ok(());
    }
    step.run("UPDATE message SET priority = ?2 WHERE accepted_pos = ?1", params![place.pos, PROMOTED])?;
    waiting::end(step, &place)?;
    waiting::begin(step, &Place { priority: PROMOTED, ..place })
}

/// Takes a message off the list of those that were given up. What happened to it stays as it is.
fn drop_for_good(step: &Step<'_>, message: MessageId, reason: &str) -> Result<(), FoldError> {
    let place = place(step, message)?;
    if !place.given_up {
        return Err(FoldError::NotGivenUp(message));
    }
    step.run(
        "UPDATE message SET given_up = 0, dropped = ?2 WHERE accepted_pos = ?1",
        params![place.pos, reason],
    )?;
    Ok(())
}

/// Notes the first turn of its own agent that ended with a message. A program can name any message, also one that is
/// none of its own or never was: then its turn answers nothing.
fn answer(step: &Step<'_>, message: MessageId) -> Result<(), FoldError> {
    step.run(
        "UPDATE message SET answered = coalesce(answered, ?3) WHERE id = ?1 AND target = ?2",
        params![message.as_bytes(), step.agent()?.as_bytes(), int(step.pos)],
    )?;
    Ok(())
}

/// Puts a message on a rung. Every rung but the first ends its waiting.
fn climb(
    step: &Step<'_>,
    message: MessageId,
    (rung, evidence): (Rung, Evidence),
    epoch: Option<Epoch>,
    reason: Option<&str>,
) -> Result<(), FoldError> {
    let place = place(step, message)?;
    if *step.agent()?.as_bytes() != place.target {
        // What another agent says of a message changes nothing of it.
        return Ok(());
    }
    let opens = matches!(rung, Rung::Injected | Rung::Observed);
    // What anything inside the agent can say makes no word of the agent weigh more: the turn stays open for that.
    let stays = rung == Rung::TurnEnded && evidence == Evidence::Hook;
    let gives_up = matches!(rung, Rung::Ambiguous | Rung::Rejected | Rung::Expired | Rung::DeadLettered);
    // A turn whose end was known before its beginning was noted does not begin again.
    step.run(
        "UPDATE message SET state = ?2, waiting = 0, receipts = receipts || ',' || ?3,
                            epoch = coalesce(?4, epoch), reason = coalesce(?5, reason),
                            given_up = ?6 AND dropped IS NULL,
                            open_since = CASE
                                WHEN ?9 OR (state = 'turn_ended' AND epoch = ?4) THEN open_since
                                WHEN NOT ?7 THEN NULL
                                WHEN epoch = ?4 THEN coalesce(open_since, ?8)
                                ELSE ?8 END
         WHERE accepted_pos = ?1",
        params![
            place.pos,
            rung.as_str(),
            receipt(step, rung, evidence)?,
            epoch.map(|epoch| int(epoch.0)),
            reason,
            gives_up,
            opens,
            int(step.pos),
            stays,
        ],
    )?;
    match (rung, epoch) {
        (Rung::TurnEnded, Some(epoch)) if !stays => turns::over(step, &place, epoch)?,
        (Rung::Observed, Some(epoch)) if place.open_in(epoch).is_none() => {
            turns::opened_by_its_word(step, &place, epoch)?;
        }
        _ => {}
    }
    if place.waiting {
        waiting::end(step, &place)?;
        if rung != Rung::Expired {
            waiting::serve(step, &place)?;
        }
    }
    if place.state != rung.as_str() {
        count(step, &place, &place.state, -1)?;
        count(step, &place, rung.as_str(), 1)?;
    }
    Ok(())
}

/// Counts a message among those of its inbox that are on a rung, or no more.
fn count(step: &Step<'_>, place: &Place, rung: &str, messages: i64) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO rung_total (target, rung, messages) VALUES (?1, ?2, ?3)
         ON CONFLICT (target, rung) DO UPDATE SET messages = messages + ?3",
        params![place.target, rung, messages],
    )?;
    Ok(())
}
