//! Conversations: sessions and threads, turns, items, the queue, outputs and their deliveries.
//!
//! Owns who may do which of them and how they are shown. What changes is written by the engine of the agent that the
//! conversation is with; everything that is shown is read from the record.

pub(in crate::server) mod deliveries;
pub(in crate::server) mod outputs;
pub(in crate::server) mod queue;
pub(in crate::server) mod read;
pub(in crate::server) mod sessions;
pub(in crate::server) mod threads;
pub(in crate::server) mod turns;
mod view;

use edgeplane_store::{MessageRow, Reader, ThreadRow};
use edgeplane_types::{AgentId, ErrorName, Fact, ThreadId};
use edgeplane_wire::{
    api::conversation::{
        LABEL_KEY_BYTES_MAX, LABELS_MAX, LIST_MAX, Labels, REASON_BYTES_MAX, TITLE_BYTES_MAX, turn::TurnView,
    },
    rpc::RpcError,
};

use super::{Session, agent, check_owner, terminals::agent_id};
use crate::{
    agent::{AgentHandle, Command, Deciding},
    record::{Origin, Record},
    shared::Shared,
};

/// The turn that a message is, as the record alone says it.
pub(crate) fn turn_of_message(shared: &Shared, row: &MessageRow) -> Result<TurnView, RpcError> {
    turns::recorded(shared, row)
}

/// How many entries of a list somebody wants.
pub(super) fn rows(limit: u32) -> usize {
    usize::try_from(limit.clamp(1, LIST_MAX)).unwrap_or(1)
}

/// Whether an id that a caller chose is one of ours: a UUID of version 7. What the node itself tells programs by other
/// ids than of messages has other versions, so that nobody's turn can stand in the way of it.
pub(super) fn check_chosen(bytes: &[u8; 16], what: &str) -> Result<(), RpcError> {
    let [_, _, _, _, _, _, version, _, variant, ..] = bytes;
    if version >> 4 == 7 && variant >> 6 == 2 {
        return Ok(());
    }
    Err(RpcError::new(ErrorName::InvalidParams, format!("{what} has no UUID of version 7")))
}

/// A title as it is kept: on one line, with nothing that acts on a terminal; none if it is empty.
pub(super) fn checked_title(title: Option<&str>) -> Result<Option<String>, RpcError> {
    let Some(title) = title else { return Ok(None) };
    if title.len() > TITLE_BYTES_MAX {
        let what = format!("a title has at most {TITLE_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let shown = crate::admission::shown_name(title);
    Ok(Some(shown).filter(|title| !title.trim().is_empty()))
}

pub(super) fn checked_labels(labels: &Labels) -> Result<(), RpcError> {
    let is_key = |key: &String| {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        !key.is_empty() && key.len() <= LABEL_KEY_BYTES_MAX && key.chars().all(known)
    };
    if labels.len() > LABELS_MAX || !labels.keys().all(is_key) {
        let what = format!(
            "at most {LABELS_MAX} labels, each key 1 to {LABEL_KEY_BYTES_MAX} of letters, digits and `._-/`"
        );
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    Ok(())
}

/// A reason as it is kept: on one line.
pub(super) fn checked_reason(reason: Option<&str>, otherwise: &str) -> Result<String, RpcError> {
    let reason = reason.unwrap_or(otherwise);
    if reason.len() > REASON_BYTES_MAX {
        let what = format!("a reason has at most {REASON_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    Ok(crate::admission::shown_name(reason))
}

/// Refuses an output that is not there, or is another's.
pub(super) fn check_output(session: &Session, id: edgeplane_types::OutputId) -> Result<(), RpcError> {
    outputs::found(session, id).map(drop)
}

/// The agent that somebody means: the named one, or the caller itself.
fn meant(session: &Session, named: Option<&str>) -> Result<AgentHandle, RpcError> {
    match (named, &session.caller.agent) {
        (Some(name), _) => agent(session, name),
        (None, Some(own)) => agent(session, &own.id.to_string()),
        (None, None) => Err(RpcError::new(ErrorName::InvalidParams, "name the agent that is meant")),
    }
}

/// A thread by its id, or the first one of an agent; for those who may see it.
fn thread_of(session: &Session, id: Option<ThreadId>, named: Option<&str>) -> Result<ThreadRow, RpcError> {
    let row = match (id, named) {
        (Some(id), None) => thread(session, id)?,
        (Some(_), Some(_)) => {
            return Err(RpcError::new(ErrorName::InvalidParams, "name a thread or an agent, not both"));
        }
        (None, named) => main_thread(session, whose(session, named)?)?,
    };
    check_owner(session, row.agent)?;
    Ok(row)
}

/// The id of the agent that somebody means, also of one that is retired.
fn whose(session: &Session, named: Option<&str>) -> Result<AgentId, RpcError> {
    match (named, &session.caller.agent) {
        (Some(name), _) => agent_id(session, name),
        (None, Some(own)) => Ok(own.id),
        (None, None) => Err(RpcError::new(ErrorName::InvalidParams, "name a thread or an agent")),
    }
}

fn thread(session: &Session, id: ThreadId) -> Result<ThreadRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.thread(&id))?;
    row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no thread {id}")))
}

/// The first thread of an agent has the UUID of its first session.
fn main_thread(session: &Session, id: AgentId) -> Result<ThreadRow, RpcError> {
    let row = session.shared.record.look_up(|reader| {
        let Some(agent) = reader.agent_by_id(&id)? else { return Ok(None) };
        reader.thread(&ThreadId::from_bytes(*agent.session_id.as_bytes()))
    })?;
    row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("agent {id} has no thread")))
}

/// Has an agent's engine write what follows from the record.
async fn decide(
    session: &Session,
    handle: &AgentHandle,
    adds_thread: bool,
    decide: impl FnOnce(&Reader) -> Result<Vec<Fact>, RpcError> + Send + 'static,
) -> Result<(), RpcError> {
    let decide = Box::new(move |record: &Record| {
        // What is to be written says for itself why it cannot be.
        let mut decided = Ok(Vec::new());
        record.look_up(|reader| {
            decided = decide(reader);
            Ok(())
        })?;
        decided
    });
    let deciding = Deciding { adds_thread, decide };
    let origin = Origin::actor(session.caller.actor());
    let done = handle.ask(|reply| Command::Decide(deciding, origin, reply)).await?;
    session.effect.notify_one();
    done
}

/// What a page ends with, if there may be more.
pub(super) fn next_of<T>(found: &[T], rows: usize, cursor: impl Fn(&T) -> u64) -> Option<u64> {
    if found.len() < rows { None } else { found.last().map(cursor) }
}

/// Something that is not there. Whoever may see only its own is not told whether it is another's.
fn not_there(session: &Session, what: &str) -> RpcError {
    if session.caller.is_operator() {
        return RpcError::new(ErrorName::NotFound, format!("no {what}"));
    }
    let who = &session.caller.principal;
    let what = format!("`{who}` has no {what}, and may see only its own: rule owner-or-operator");
    RpcError::new(ErrorName::PermissionDenied, what)
}

fn unavailable(error: &edgeplane_store::ReadError) -> RpcError {
    let text = crate::record::chain(error);
    RpcError::new(ErrorName::Unavailable, format!("cannot read the record: {text}"))
}
