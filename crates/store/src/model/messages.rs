//! Messages: which wait, which rungs each has reached. The envelope stays in the event that accepted it.

use edgeplane_types::{
    Envelope, Epoch, Evidence, Fact, MessageId, Priority, Receipt, Rung, StreamName, Timestamp,
};
use rusqlite::{ffi, params};

use super::{Definition, FoldError, Step, json};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 2,
    schema: "
        CREATE TABLE message (
            accepted_pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            target BLOB NOT NULL,
            principal TEXT NOT NULL,
            key TEXT,
            priority INTEGER NOT NULL,
            expires INTEGER,
            waiting INTEGER NOT NULL,
            state TEXT NOT NULL,
            epoch INTEGER,
            reason TEXT,
            receipts TEXT NOT NULL
        ) STRICT;
        CREATE INDEX message_inbox ON message (target, accepted_pos);
        CREATE INDEX message_waiting ON message (target, priority, accepted_pos) WHERE waiting = 1;
        CREATE INDEX message_expiry ON message (target, expires) WHERE waiting = 1 AND expires IS NOT NULL;
        CREATE UNIQUE INDEX message_key ON message (target, principal, key) WHERE key IS NOT NULL;",
    tables: &[("message", "accepted_pos")],
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
        Fact::MessageRequeued { message_id } => wait_again(step, *message_id),
        Fact::MessageExpired { message_id } => climb(step, *message_id, (Expired, BY_THE_NODE), None, None),
        _ => Ok(()),
    }
}

/// Which of two waiting messages goes first, as a number.
fn rank(priority: Priority) -> i64 {
    match priority {
        Priority::High => 0,
        Priority::Normal => 1,
        Priority::Low => 2,
    }
}

fn receipt(step: &Step<'_>, rung: Rung, evidence: Evidence) -> Result<String, FoldError> {
    json(&Receipt { rung, evidence, at: step.event.ts })
}

fn accept(step: &Step<'_>, envelope: &Envelope) -> Result<(), FoldError> {
    if step.event.stream != StreamName::Agent(envelope.target) {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    let principal = envelope.source.principal.as_str();
    step.insert(
        "INSERT INTO message (accepted_pos, id, target, principal, key, priority, expires, waiting, state,
                              receipts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9)",
        params![
            int(step.pos),
            envelope.id.as_bytes(),
            envelope.target.as_bytes(),
            principal,
            envelope.idempotency_key,
            rank(envelope.priority),
            envelope.expires_at.map(Timestamp::as_micros),
            Rung::Accepted.as_str(),
            receipt(step, Rung::Accepted, BY_THE_NODE)?,
        ],
        |error| taken(error, envelope),
    )
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

/// Lets a message wait once more, on the rung where it is.
fn wait_again(step: &Step<'_>, message: MessageId) -> Result<(), FoldError> {
    match step.run("UPDATE message SET waiting = 1 WHERE id = ?1", [message.as_bytes()])? {
        0 => Err(FoldError::UnknownMessage(message)),
        _ => Ok(()),
    }
}

/// Puts a message on a rung. Every rung but the first ends its waiting.
fn climb(
    step: &Step<'_>,
    message: MessageId,
    (rung, evidence): (Rung, Evidence),
    epoch: Option<Epoch>,
    reason: Option<&str>,
) -> Result<(), FoldError> {
    let changed = step.run(
        "UPDATE message SET state = ?2, waiting = 0, receipts = receipts || ',' || ?3,
                            epoch = coalesce(?4, epoch), reason = coalesce(?5, reason)
         WHERE id = ?1",
        params![
            message.as_bytes(),
            rung.as_str(),
            receipt(step, rung, evidence)?,
            epoch.map(|epoch| int(epoch.0)),
            reason,
        ],
    )?;
    if changed == 0 { Err(FoldError::UnknownMessage(message)) } else { Ok(()) }
}
