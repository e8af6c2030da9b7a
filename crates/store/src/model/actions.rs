//! Pending actions: what is asked, who voted, what was decided. The words stay in the events.
//!
//! Invariant: an action resolves once, every vote is about the digest of exactly what is asked, and a key of an agent
//! opens one action.

use edgeplane_types::{
    ActionId, AgentId, Fact,
    decision::{Action, ActionKind},
};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 2,
    schema: "
        CREATE TABLE action (
            opened_pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            agent BLOB NOT NULL,
            kind TEXT NOT NULL,
            key TEXT,
            digest TEXT NOT NULL,
            expires INTEGER NOT NULL,
            resolved_pos INTEGER
        ) STRICT;
        CREATE INDEX action_of_agent ON action (agent, opened_pos);
        CREATE UNIQUE INDEX action_key ON action (agent, key) WHERE key IS NOT NULL;
        CREATE INDEX action_pending ON action (opened_pos) WHERE resolved_pos IS NULL;
        CREATE INDEX action_expiry ON action (expires) WHERE resolved_pos IS NULL;
        CREATE INDEX action_expiry_of_agent ON action (agent, expires, kind) WHERE resolved_pos IS NULL;
        CREATE TABLE vote (
            action INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            PRIMARY KEY (action, pos)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("action", "opened_pos"), ("vote", "action, pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::ActionOpened { action } => open(step, action),
        Fact::ActionVoted { action_id, digest, .. } => {
            let pending = pending(step, *action_id)?;
            if pending.digest != *digest {
                return Err(FoldError::OtherDigest(*action_id));
            }
            step.run(
                "INSERT INTO vote (action, pos) VALUES (?1, ?2)",
                params![pending.opened_pos, int(step.pos)],
            )?;
            Ok(())
        }
        Fact::ActionResolved { action_id, .. } => {
            let pending = pending(step, *action_id)?;
            step.run(
                "UPDATE action SET resolved_pos = ?2 WHERE opened_pos = ?1",
                params![pending.opened_pos, int(step.pos)],
            )?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn open(step: &Step<'_>, action: &Action) -> Result<(), FoldError> {
    if step.agent()? != action.agent_id {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    step.insert(
        "INSERT INTO action (opened_pos, id, agent, kind, key, digest, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            int(step.pos),
            action.id.as_bytes(),
            action.agent_id.as_bytes(),
            kind_word(action.kind),
            action.idempotency_key,
            action.digest,
            action.expires_at.as_micros(),
        ],
        |error| taken(error, action),
    )
}

/// What an action has in common with another one: the id, or the key.
fn taken(error: &rusqlite::Error, action: &Action) -> FoldError {
    let by_key =
        matches!(error, rusqlite::Error::SqliteFailure(_, Some(text)) if text.contains("action.key"));
    match &action.idempotency_key {
        Some(key) if by_key => {
            FoldError::KeyUsed { principal: action.principal.to_string(), key: key.clone() }
        }
        _ => FoldError::OpenedTwice(action.id),
    }
}

/// The word of a kind in the rows.
pub(crate) fn kind_word(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Approval => "approval",
        ActionKind::Question => "question",
    }
}

/// An action that is not decided.
struct Pending {
    opened_pos: i64,
    digest: String,
}

/// The action that a vote or a decision in this stream is about, if it can still be.
fn pending(step: &Step<'_>, id: ActionId) -> Result<Pending, FoldError> {
    let found = step.find(
        "SELECT opened_pos, digest, agent, resolved_pos IS NULL FROM action WHERE id = ?1",
        [id.as_bytes()],
        |row| {
            let agent = AgentId::from_bytes(row.get(2)?);
            Ok((Pending { opened_pos: row.get(0)?, digest: row.get(1)? }, agent, row.get(3)?))
        },
    )?;
    match found {
        None => Err(FoldError::UnknownAction(id)),
        Some((_, agent, _)) if agent != step.agent()? => Err(FoldError::WrongStream(step.event.stream)),
        Some((_, _, false)) => Err(FoldError::ResolvedAlready(id)),
        Some((pending, _, true)) => Ok(pending),
    }
}
