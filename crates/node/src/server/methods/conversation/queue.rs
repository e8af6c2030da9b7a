//! The queue: what waits, in the order of delivery. It is the inbox, so it outlives every restart.

use edgeplane_store::MessageRow;
use edgeplane_types::TurnId;
use edgeplane_wire::{
    api::conversation::turn::{
        QueueListParams, QueueRemoveParams, QueueResult, QueuedTurn, TurnParams, TurnView,
    },
    rpc::RpcError,
};

use super::{
    super::agent,
    Session, check_owner, checked_reason, rows, thread_of, turns,
    view::{self, QUEUE_MAX},
    whose,
};
use crate::{
    agent::{Command, TurnRequest},
    record::Origin,
};

pub(in crate::server) async fn list(
    session: &Session,
    params: QueueListParams,
) -> Result<QueueResult, RpcError> {
    let rows = rows(params.limit);
    let (agent, found) = match (params.thread_id, params.agent.as_deref()) {
        (Some(id), named) => {
            let thread = thread_of(session, Some(id), named)?;
            let agent = thread.agent;
            (agent, session.shared.record.read(move |reader| view::queue(reader, &thread, rows)).await?)
        }
        (None, named) => {
            let id = whose(session, named)?;
            check_owner(session, id)?;
            let waiting =
                session.shared.record.read(move |reader| reader.next_waiting(&id, QUEUE_MAX)).await?;
            let turns = (1..).zip(waiting).filter(|(_, row)| row.envelope.into_turn.is_none());
            (id, turns.take(rows).collect::<Vec<(u64, MessageRow)>>())
        }
    };
    let waiting = session.shared.record.look_up(|reader| reader.waiting_count(&agent))?;
    let items = found
        .iter()
        .map(|(position, row)| Ok(QueuedTurn { position: *position, turn: turns::shown(session, row)? }))
        .collect::<Result<_, RpcError>>()?;
    Ok(QueueResult { items, waiting })
}

pub(in crate::server) async fn remove(
    session: &Session,
    params: QueueRemoveParams,
) -> Result<TurnView, RpcError> {
    let reason = checked_reason(params.reason.as_deref(), "it was taken out of the queue")?;
    change(session, params.turn_id, TurnRequest::Remove { turn: params.turn_id, reason }).await?;
    turns::shown(session, &turns::row_of(session, params.turn_id)?)
}

pub(in crate::server) async fn promote(
    session: &Session,
    params: TurnParams,
) -> Result<QueueResult, RpcError> {
    let row = turns::row_of(session, params.turn_id)?;
    change(session, params.turn_id, TurnRequest::Promote { turn: params.turn_id }).await?;
    let agent = Some(row.envelope.target.to_string());
    list(session, QueueListParams { thread_id: None, agent, limit: super::LIST_MAX }).await
}

async fn change(session: &Session, turn: TurnId, request: TurnRequest) -> Result<(), RpcError> {
    let row = turns::row_of(session, turn)?;
    let handle = agent(session, &row.envelope.target.to_string())?;
    let origin = Origin::actor(session.caller.actor());
    let done = handle.ask(|reply| Command::Turn(request, origin, reply)).await?;
    session.effect.notify_one();
    done.map(drop)
}
