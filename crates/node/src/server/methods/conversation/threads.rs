//! Threads: made, called, archived, forked, rolled back, compacted.

use edgeplane_driver::render::SUMMARY_BYTES_MAX;
use edgeplane_store::{ReadError, ThreadFilter, ThreadRow};
use edgeplane_types::{
    ErrorName, Fact, SessionId, ThreadId, TurnId,
    fact::{ThreadArchived, ThreadCreated, ThreadParent, ThreadUpdated},
};
use edgeplane_wire::{
    api::conversation::thread::{
        ThreadArchiveParams, ThreadCompactParams, ThreadCompactResult, ThreadCreateParams, ThreadForkParams,
        ThreadListParams, ThreadListResult, ThreadParams, ThreadRollbackParams, ThreadRollbackResult,
        ThreadUpdateParams, ThreadView,
    },
    rpc::RpcError,
};

use super::{
    super::agent,
    Session, check_chosen, check_owner, checked_labels, checked_reason, checked_title, decide, meant,
    next_of, rows,
    sessions::owned,
    thread, thread_of, unavailable,
    view::{self, Seen},
};
use crate::{
    agent::{AgentHandle, Command, check_version, message_of, newest_given},
    record::Origin,
};

/// A thread as it is now.
pub(super) fn one(session: &Session, id: ThreadId) -> Result<ThreadView, RpcError> {
    let row = thread(session, id)?;
    let seen = Seen::of(&session.shared, row.agent)?;
    session.shared.record.look_up(|reader| view::thread(reader, &seen, row))
}

pub(in crate::server) async fn create(
    session: &Session,
    params: ThreadCreateParams,
) -> Result<ThreadView, RpcError> {
    if let Some(parent) = params.parent_thread_id {
        if params.session_id.is_some() {
            let what = "a fork becomes part of its agent's first session";
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
        let ThreadCreateParams { thread_id: fork_id, agent, title, labels, .. } = params;
        let params = ThreadForkParams { thread_id: parent, turn_id: None, agent, fork_id, title, labels };
        return fork(session, params).await;
    }
    let handle = match params.session_id {
        Some(id) => {
            let row = session.shared.record.look_up(|reader| reader.talk(&id))?;
            let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no session {id}")))?;
            check_owner(session, row.agent)?;
            let handle = agent(session, &row.agent.to_string())?;
            let named = params.agent.as_deref().map(|name| agent(session, name)).transpose()?;
            if named.is_some_and(|named| named.id != handle.id) {
                return Err(RpcError::new(ErrorName::InvalidParams, "the session is of another agent"));
            }
            handle
        }
        None => meant(session, params.agent.as_deref())?,
    };
    let wanted = ThreadToMake {
        id: params.thread_id,
        session: params.session_id,
        title: checked_title(params.title.as_deref())?,
        labels: params.labels,
        parent: None,
    };
    make(session, &handle, wanted).await
}

/// A thread that somebody wants.
struct ThreadToMake {
    id: Option<ThreadId>,
    session: Option<SessionId>,
    title: Option<String>,
    labels: super::Labels,
    parent: Option<ThreadParent>,
}

async fn make(session: &Session, handle: &AgentHandle, wanted: ThreadToMake) -> Result<ThreadView, RpcError> {
    check_owner(session, handle.id)?;
    checked_labels(&wanted.labels)?;
    if let Some(id) = &wanted.id {
        check_chosen(id.as_bytes(), "the id of the thread")?;
    }
    let main = super::main_thread(session, handle.id)?.session;
    let thread_id: ThreadId = wanted.id.unwrap_or_else(|| session.shared.record.mint().id());
    let created = ThreadCreated {
        thread_id,
        session_id: wanted.session.unwrap_or(main),
        title: wanted.title,
        labels: wanted.labels,
        parent: wanted.parent,
    };
    let agent_id = handle.id;
    decide(session, handle, true, move |reader| {
        let read = |error: ReadError| unavailable(&error);
        if let Some(known) = reader.thread(&thread_id).map_err(read)? {
            let is_same = known.agent == agent_id
                && !known.is_main
                && known.session == created.session_id
                && known.title == created.title
                && known.labels == created.labels
                && known.parent == created.parent;
            if is_same {
                return Ok(Vec::new());
            }
            let what = format!("thread {thread_id} exists already, and is another one");
            return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new thread"));
        }
        let talk = reader.talk(&created.session_id).map_err(read)?;
        if talk.is_none_or(|talk| talk.archived_at.is_some()) {
            let what = format!("session {} is archived", created.session_id);
            return Err(RpcError::new(ErrorName::InvalidState, what));
        }
        Ok(vec![Fact::ThreadCreated(created)])
    })
    .await?;
    one(session, thread_id)
}

pub(in crate::server) fn get(session: &Session, params: &ThreadParams) -> Result<ThreadView, RpcError> {
    let row = thread_of(session, params.thread_id, params.agent.as_deref())?;
    let seen = Seen::of(&session.shared, row.agent)?;
    session.shared.record.look_up(|reader| view::thread(reader, &seen, row))
}

pub(in crate::server) async fn list(
    session: &Session,
    params: ThreadListParams,
) -> Result<ThreadListResult, RpcError> {
    let agent = match params.session_id {
        Some(id) => {
            let row = session.shared.record.look_up(|reader| reader.talk(&id))?;
            let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no session {id}")))?;
            check_owner(session, row.agent)?;
            Some(row.agent)
        }
        None => owned(session, params.agent.as_deref())?,
    };
    let (rows, cursor) = (rows(params.limit), params.cursor);
    let filter = ThreadFilter { agent, session: params.session_id, archived: params.archived };
    let found = session.shared.record.read(move |reader| reader.threads(&filter, rows, cursor)).await?;
    let next = next_of(&found, rows, |row| row.created_pos);
    let mut items = Vec::with_capacity(found.len());
    for row in found {
        let seen = Seen::of(&session.shared, row.agent)?;
        items.push(session.shared.record.look_up(|reader| view::thread(reader, &seen, row))?);
    }
    Ok(ThreadListResult { items, next })
}

/// A thread for those who may change it, and who writes of it.
fn own(session: &Session, id: ThreadId) -> Result<(ThreadRow, AgentHandle), RpcError> {
    let row = thread_of(session, Some(id), None)?;
    let handle = agent(session, &row.agent.to_string())?;
    Ok((row, handle))
}

pub(in crate::server) async fn update(
    session: &Session,
    params: ThreadUpdateParams,
) -> Result<ThreadView, RpcError> {
    let (row, handle) = own(session, params.thread_id)?;
    params.labels.as_ref().map(checked_labels).transpose()?;
    let title = checked_title(params.title.as_deref())?;
    let (id, if_version) = (row.id, params.if_version);
    let (sets_title, labels) = (params.title.is_some(), params.labels);
    decide(session, &handle, false, move |reader| {
        let Some(row) = reader.thread(&id).map_err(|error| unavailable(&error))? else {
            return Ok(Vec::new());
        };
        check_version(&row, if_version)?;
        let updated = ThreadUpdated {
            thread_id: id,
            title: if sets_title { title } else { row.title.clone() },
            labels: labels.unwrap_or_else(|| row.labels.clone()),
        };
        if updated.title == row.title && updated.labels == row.labels {
            return Ok(Vec::new());
        }
        Ok(vec![Fact::ThreadUpdated(updated)])
    })
    .await?;
    one(session, id)
}

pub(in crate::server) async fn archive(
    session: &Session,
    params: ThreadArchiveParams,
) -> Result<ThreadView, RpcError> {
    let (row, handle) = own(session, params.thread_id)?;
    let reason = checked_reason(params.reason.as_deref(), "somebody asked for it")?;
    let (id, if_version) = (row.id, params.if_version);
    let seen = Seen::of(&session.shared, row.agent)?;
    decide(session, &handle, false, move |reader| {
        let read = |error: ReadError| unavailable(&error);
        let Some(row) = reader.thread(&id).map_err(read)? else { return Ok(Vec::new()) };
        if row.archived_at.is_some() {
            return Ok(Vec::new());
        }
        check_version(&row, if_version)?;
        let busy = match row.is_main {
            true => Some("is the agent's first one, which lives as long as the agent"),
            false if view::open_turn(reader, &seen, &row).map_err(read)?.is_some() => {
                Some("has a turn that runs")
            }
            false if !view::queue(reader, &row, 1).map_err(read)?.is_empty() => Some("has turns that wait"),
            false => None,
        };
        if let Some(why) = busy {
            return Err(RpcError::new(ErrorName::InvalidState, format!("thread {id} {why}"))
                .hint("`conversation/turn.interrupt` with `queued: drop` ends its turns"));
        }
        Ok(vec![Fact::ThreadArchived(ThreadArchived { thread_id: id, reason })])
    })
    .await?;
    one(session, id)
}

pub(in crate::server) async fn fork(
    session: &Session,
    params: ThreadForkParams,
) -> Result<ThreadView, RpcError> {
    let parent = thread_of(session, Some(params.thread_id), None)?;
    let handle = match params.agent.as_deref() {
        Some(name) => agent(session, name)?,
        None => agent(session, &parent.agent.to_string())?,
    };
    let title = checked_title(params.title.as_deref())?;
    // A repetition goes on from where the first one did, however far the parent is by now.
    let known = match params.fork_id {
        Some(id) => session.shared.record.look_up(|reader| reader.thread(&id))?,
        None => None,
    };
    let before = known.and_then(|known| known.parent).filter(|of| of.thread_id == parent.id);
    let through = match (params.turn_id, before) {
        (Some(turn), _) => Some(turn),
        (None, Some(before)) => before.through,
        (None, None) => session.shared.record.read(move |reader| newest_given(reader, &parent, None)).await?,
    };
    let parent = thread(session, params.thread_id)?;
    if let Some(turn) = params.turn_id {
        check_point(session, &parent, turn)?;
    }
    let parent = ThreadParent { agent_id: parent.agent, thread_id: parent.id, through };
    let wanted = ThreadToMake {
        id: params.fork_id,
        session: None,
        title,
        labels: params.labels,
        parent: Some(parent),
    };
    make(session, &handle, wanted).await
}

/// Refuses to fork behind what is no part of a thread's history.
fn check_point(session: &Session, thread: &ThreadRow, turn: TurnId) -> Result<(), RpcError> {
    let id = message_of(turn);
    let row = session.shared.record.look_up(|reader| reader.message(&id))?;
    let own = row.filter(|row| view::is_of(thread, row) && row.envelope.into_turn.is_none());
    let Some(row) = own else {
        return Err(RpcError::new(ErrorName::NotFound, format!("no turn {turn} in thread {}", thread.id)));
    };
    let removed = session.shared.record.look_up(|reader| reader.removed_turn(&turn))?;
    if removed.is_some() || row.waiting || row.epoch.is_none() {
        let why = if removed.is_some() { "was rolled back" } else { "has not begun" };
        return Err(RpcError::new(ErrorName::InvalidState, format!("turn {turn} {why}")));
    }
    Ok(())
}

pub(in crate::server) async fn roll_back(
    session: &Session,
    params: ThreadRollbackParams,
) -> Result<ThreadRollbackResult, RpcError> {
    let (row, handle) = own(session, params.thread_id)?;
    let reason = checked_reason(params.reason.as_deref(), "somebody asked for it")?;
    let (id, to_turn) = (row.id, params.to_turn);
    let params = ThreadRollbackParams { reason: Some(reason), ..params };
    let origin = Origin::actor(session.caller.actor());
    let done = handle.ask(|reply| Command::RollBack(params, origin, reply)).await??;
    session.effect.notify_one();
    Ok(ThreadRollbackResult {
        thread: one(session, id)?,
        to_turn,
        removed: done.removed,
        surviving: done.surviving,
        rebuilt: done.rebuilt,
        continuity: done.continuity,
    })
}

pub(in crate::server) async fn compact(
    session: &Session,
    params: ThreadCompactParams,
) -> Result<ThreadCompactResult, RpcError> {
    if params.summary.trim().is_empty() || params.summary.len() > SUMMARY_BYTES_MAX {
        let what = format!("a summary has 1 to {SUMMARY_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::InvalidParams, what)
            .hint("say in it what the turns came to; they themselves stay in the record"));
    }
    let (row, handle) = own(session, params.thread_id)?;
    let reason = checked_reason(params.reason.as_deref(), "somebody asked for it")?;
    let params = Box::new(ThreadCompactParams { reason: Some(reason), ..params });
    let (origin, authority) = (Origin::actor(session.caller.actor()), session.caller.authority());
    let done = handle.ask(|reply| Command::Compact(params, authority, origin, reply)).await??;
    session.effect.notify_one();
    Ok(ThreadCompactResult {
        thread: one(session, row.id)?,
        through: done.fact.through,
        turns: done.fact.turns,
        open_actions: done.fact.open_actions,
        tokens_before: done.fact.tokens_before,
        rebuilt: done.rebuilt,
    })
}
