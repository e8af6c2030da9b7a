//! Waiting for subagents: looked at whenever the record says something of agents, messages or tasks.

use std::time::Duration;

use edgeplane_store::{ReadError, Reader, SubagentRow};
use edgeplane_types::{AgentId, ErrorName, Phase};
use edgeplane_wire::{
    api::subagent::{SubagentWaitParams, SubagentWaitResult, WAIT_MAX, WAIT_MS_MAX, WaitFor, WaitUntil},
    rpc::RpcError,
};
use tokio::sync::broadcast;

use super::{Session, found, invalid, is_over, view::shown};

pub(in crate::server) async fn wait(
    session: &Session,
    params: SubagentWaitParams,
) -> Result<SubagentWaitResult, RpcError> {
    if params.subagents.is_empty() || params.subagents.len() > WAIT_MAX {
        return Err(invalid(format!("name 1 to {WAIT_MAX} subagents")));
    }
    // Followed from before they are looked at, so that nothing can be missed.
    let mut following = session.shared.record.follow();
    let mut ids = Vec::with_capacity(params.subagents.len());
    for name in &params.subagents {
        ids.push(found(session, name)?.id);
    }
    let timeout = Duration::from_millis(params.timeout_ms.min(WAIT_MS_MAX));
    let waited = tokio::time::timeout(timeout, async {
        loop {
            let reached = reached(session, &ids, params.until)?;
            let is_there = match params.wait_for {
                WaitFor::Any => !reached.is_empty(),
                WaitFor::All => reached.len() == ids.len(),
            };
            if is_there {
                return Ok(Some(reached));
            }
            if !changed(&mut following).await {
                return Ok(None);
            }
        }
    });
    let reached = match waited.await {
        Ok(Ok(Some(reached))) => reached,
        Ok(Ok(None)) => return Err(RpcError::new(ErrorName::Unavailable, "the node ends")),
        Ok(Err(error)) => return Err(error),
        Err(_elapsed) => {
            let what = format!("the subagents have not come to it after {} ms", params.timeout_ms);
            return Err(RpcError::new(ErrorName::DeadlineExceeded, what)
                .hint("`edgeplane subagent list` shows where they are"));
        }
    };
    let items = session.shared.record.look_up(|reader| {
        let mut items = Vec::with_capacity(ids.len());
        for id in &ids {
            if let Some(row) = reader.subagent(id)? {
                items.push(shown(reader, row, 1)?);
            }
        }
        Ok(items)
    })?;
    Ok(SubagentWaitResult { items, reached })
}

/// Waits for something that may change how an agent is; false if the node ends.
async fn changed(following: &mut broadcast::Receiver<edgeplane_store::CommittedEvent>) -> bool {
    loop {
        match following.recv().await {
            Ok(event) if event.event.fact.is_piece() => {}
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return true,
            Err(broadcast::error::RecvError::Closed) => return false,
        }
    }
}

fn reached(session: &Session, ids: &[AgentId], until: WaitUntil) -> Result<Vec<AgentId>, RpcError> {
    session.shared.record.look_up(|reader| {
        let mut reached = Vec::new();
        for id in ids {
            let Some(row) = reader.subagent(id)? else { continue };
            let is_there = is_over(&row) || (until == WaitUntil::Idle && is_idle(reader, &row)?);
            reached.extend(is_there.then_some(*id));
        }
        Ok(reached)
    })
}

/// Whether a subagent runs, nothing waits for it, and it is in no turn.
fn is_idle(reader: &Reader, row: &SubagentRow) -> Result<bool, ReadError> {
    let Some(agent) = reader.agent_by_id(&row.id)? else { return Ok(false) };
    let runs = matches!(agent.phase, Phase::Running | Phase::Hibernated);
    if !runs || row.closing.is_some() || reader.waiting_count(&row.id)? > 0 {
        return Ok(false);
    }
    Ok(reader.open_turns(&row.id, agent.epoch, 1)?.is_empty())
}
