//! Traces: what became of a request, and what it comes to.

use std::sync::Arc;

use edgeplane_store::{ReadError, Reader};
use edgeplane_types::{AgentId, ErrorName, Fact, MessageId, Rung, ThreadId, Timestamp, TurnId};
use edgeplane_wire::{
    api::trace::{Explanation, TraceDetail, TraceParams, Waterfall},
    rpc::RpcError,
};

use super::{Session, terminals::agent_id};
use crate::{
    shared::Shared,
    trace::{
        gather::{self, Gathered, Habits, Which},
        spans, verdict,
    },
};

/// How long a turn may be silent when its agent's manifest does not say, in milliseconds.
const QUIET_MS: u64 = 60_000;

/// Messages of an agent among which the newest one with a turn is looked for.
const NEWEST_MAX: usize = 200;

/// Events on each side of a turn's moment in which its end is looked for.
const AROUND: usize = 2_000;

/// What is looked for before a trace can be read.
#[derive(Debug, Clone, Copy)]
enum Sought {
    Known(Which),
    Turn(TurnId),
    Thread(ThreadId),
    Agent(AgentId),
}

pub(in crate::server) async fn get(session: &Session, params: TraceParams) -> Result<Waterfall, RpcError> {
    let detail = params.detail;
    let mut waterfall = read(session, params).await?;
    if detail == TraceDetail::Brief {
        for span in &mut waterfall.spans {
            span.attributes.clear();
            span.events.clear();
        }
    }
    Ok(waterfall)
}

pub(in crate::server) async fn explain(
    session: &Session,
    params: TraceParams,
) -> Result<Explanation, RpcError> {
    Ok(verdict::explain(&read(session, params).await?))
}

async fn read(session: &Session, params: TraceParams) -> Result<Waterfall, RpcError> {
    let sought = sought(session, params)?;
    let (as_of, lookup) = (session.shared.record.now(), habits(&session.shared));
    let found = session.shared.record.read(move |reader| {
        let Some(which) = which(reader, sought)? else { return Ok(None) };
        gather::gather(reader, which, as_of, lookup)
    });
    let Some(found) = found.await? else {
        let error = RpcError::new(ErrorName::NotFound, "the record has no such trace");
        return Err(error.hint("`edgeplane inbox AGENT --all` lists messages, each of which has a trace"));
    };
    check_part(session, &found)?;
    Ok(spans::waterfall(&found))
}

fn sought(session: &Session, params: TraceParams) -> Result<Sought, RpcError> {
    let TraceParams { trace_id, message_id, turn_id, thread_id, agent, detail: _ } = params;
    let agent = agent.map(|name| agent_id(session, &name)).transpose()?;
    let named = [
        trace_id.map(|id| Sought::Known(Which::Trace(id))),
        message_id.map(|id| Sought::Known(Which::Message(id))),
        turn_id.map(Sought::Turn),
        thread_id.map(Sought::Thread),
        agent.map(Sought::Agent),
    ];
    let mut named = named.into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one),
        _ => {
            let what = "exactly one of `trace_id`, `message_id`, `turn_id`, `thread_id` and `agent` is given";
            Err(RpcError::new(ErrorName::InvalidParams, what))
        }
    }
}

/// Agents see the traces in which they had a part.
fn check_part(session: &Session, found: &Gathered) -> Result<(), RpcError> {
    let caller = &session.caller;
    let is_caller = |id: AgentId| caller.is_agent(id);
    let has_part = found.messages.iter().any(|passage| {
        is_caller(passage.envelope.target) || passage.envelope.source.agent_id.is_some_and(is_caller)
    });
    if caller.is_operator() || has_part {
        return Ok(());
    }
    let who = &caller.principal;
    Err(RpcError::new(
        ErrorName::PermissionDenied,
        format!("`{who}` had no part in this trace: rule owner-or-operator"),
    ))
}

fn which(reader: &Reader, sought: Sought) -> Result<Option<Which>, ReadError> {
    let message = match sought {
        Sought::Known(which) => return Ok(Some(which)),
        Sought::Turn(id) => of_turn(reader, id)?,
        Sought::Thread(id) => of_thread(reader, id)?,
        Sought::Agent(id) => newest(reader, &id)?,
    };
    Ok(message.map(Which::Message))
}

/// The message of a turn: the one with the same UUID, or the one that the turn's end names.
fn of_turn(reader: &Reader, id: TurnId) -> Result<Option<MessageId>, ReadError> {
    let same = MessageId::from_bytes(*id.as_bytes());
    if reader.message(&same)?.is_some() {
        return Ok(Some(same));
    }
    // Its id says when it was made, and its end was recorded then.
    let ms = id.as_bytes().iter().take(6).fold(0_i64, |ms, byte| ms << 8 | i64::from(*byte));
    let at = reader.pos_at(Timestamp::from_micros(ms.saturating_mul(1_000)))?;
    let from = at.saturating_sub(u64::try_from(AROUND).unwrap_or(0)).max(1);
    let around = reader.events_from_pos(from, AROUND.saturating_mul(2), &["turn.completed"])?;
    Ok(around.iter().find_map(|committed| match &committed.event.fact {
        Fact::TurnCompleted { turn_id, message_id, .. } if *turn_id == id => *message_id,
        _ => None,
    }))
}

/// The newest message of a thread; an agent's first thread has the UUID of its session.
fn of_thread(reader: &Reader, id: ThreadId) -> Result<Option<MessageId>, ReadError> {
    if let Some(committed) = reader.newest_in_thread(&id.to_string())? {
        return Ok(committed.event.fact.message_id());
    }
    let agents = reader.agents(&edgeplane_store::AgentFilter::default())?;
    let own = agents.iter().find(|row| row.session_id.as_bytes() == id.as_bytes());
    own.map_or(Ok(None), |row| newest(reader, &row.id))
}

/// An agent's newest message with a turn, or without any the newest that came.
fn newest(reader: &Reader, id: &AgentId) -> Result<Option<MessageId>, ReadError> {
    let rows = reader.inbox_of_set(id, NEWEST_MAX)?;
    let has_turn = |receipt: &edgeplane_types::Receipt| receipt.rung == Rung::Injected;
    let with_turn = rows.iter().rfind(|row| row.receipts.iter().any(has_turn));
    Ok(with_turn.or(rows.last()).map(|row| row.envelope.id))
}

/// What manifests say of agents that their record does not. Of one that is gone nothing is known, so nothing of it is
/// taken for a timeout by a limit that it never had.
pub(crate) fn habits(shared: &Arc<Shared>) -> impl Fn(AgentId) -> Habits + Send + use<> {
    let shared = Arc::clone(shared);
    move |id| {
        let profile = shared.agent_by_id(id).map(|agent| agent.profile());
        Habits {
            ends_turns: profile.as_ref().is_none_or(|profile| profile.ends_turns),
            quiet_ms: profile.and_then(|profile| profile.quiet_ms).unwrap_or(QUIET_MS),
        }
    }
}
