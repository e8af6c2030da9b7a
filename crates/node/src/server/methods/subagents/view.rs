//! Subagents as they are shown.

use edgeplane_store::{ReadError, Reader, SubagentRow};
use edgeplane_types::{AgentId, Epoch, ErrorName, Phase, ThreadId};
use edgeplane_wire::{
    api::subagent::{DEPTH_MAX, LIST_MAX, SubagentListParams, SubagentListResult, SubagentView},
    rpc::RpcError,
};

use super::{super::terminals, Session, concerns, invalid};

/// A subagent as seen from right above it.
pub(super) fn view(session: &Session, id: AgentId) -> Result<SubagentView, RpcError> {
    let found = session.shared.record.look_up(|reader| {
        reader.at_one_moment(|reader| {
            let row = reader.subagent(&id)?;
            row.map(|row| shown(reader, row, 1)).transpose()
        })
    })?;
    found.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no subagent {id}")))
}

pub(super) fn shown(reader: &Reader, row: SubagentRow, depth: u32) -> Result<SubagentView, ReadError> {
    let agent = reader.agent_by_id(&row.id)?;
    let parent = reader.agent_by_id(&row.parent)?;
    let (task, run) = match &row.spawned.task_id {
        Some(task) => (reader.task(task)?, reader.last_run(task)?),
        None => (None, None),
    };
    Ok(SubagentView {
        subagent_id: row.id,
        name: row.spawned.name,
        parent: parent.map_or_else(|| row.parent.to_string(), |parent| parent.name.to_string()),
        parent_id: row.parent,
        depth,
        status: row.status,
        reason: row.reason.filter(|reason| !reason.is_empty()),
        phase: agent.as_ref().map_or(Phase::Retired, |agent| agent.phase),
        epoch: agent.map_or(Epoch(0), |agent| agent.epoch),
        session_id: row.spawned.session_id,
        thread_id: ThreadId::from_bytes(*row.spawned.session_id.as_bytes()),
        task_id: row.spawned.task_id,
        task_state: task.map(|task| task.state),
        run_id: run.map(|run| run.id),
        isolation: row.spawned.isolation,
        on_parent_exit: row.spawned.on_parent_exit,
        last_message_id: row.last_message,
        closing_because: row.closing.map(|closing| closing.reason),
        spawned_by: row.by.name().clone(),
        spawned_at: row.spawned_at,
        closed_at: row.closed_at,
    })
}

pub(in crate::server) async fn list(
    session: &Session,
    params: SubagentListParams,
) -> Result<SubagentListResult, RpcError> {
    if !(1..=DEPTH_MAX).contains(&params.depth) {
        return Err(invalid(format!("`depth` is 1 to {DEPTH_MAX} generations")));
    }
    let own = session.caller.agent.as_ref().map(|own| own.id.to_string());
    let Some(name) = params.parent.clone().or(own) else {
        return Err(invalid("say under which agent").hint("name it as `parent`"));
    };
    let top = terminals::agent_id(session, &name)?;
    let is_theirs = session.caller.is_operator() || session.caller.is_agent(top);
    if !is_theirs {
        let row = session.shared.record.look_up(|reader| reader.subagent(&top))?;
        if !row.map(|row| concerns(session, &row)).transpose()?.unwrap_or(false) {
            return Err(super::denied(
                session,
                &format!("sees the agents under itself only, not under `{name}`"),
            ));
        }
    }
    let most = usize::try_from(params.limit.clamp(1, LIST_MAX)).unwrap_or(1);
    let (depth, all) = (params.depth, params.all);
    let read = session.shared.record.read(move |reader| {
        reader.at_one_moment(|reader| {
            let mut items = Vec::new();
            let is_whole = gather(reader, (top, 1), (depth, all, most), &mut items)?;
            Ok(SubagentListResult { items, more: !is_whole })
        })
    });
    read.await
}

/// Adds those under an agent, each before its own. Says whether there was room for all.
fn gather(
    reader: &Reader,
    (parent, level): (AgentId, u32),
    (depth, all, most): (u32, bool, usize),
    items: &mut Vec<SubagentView>,
) -> Result<bool, ReadError> {
    for row in reader.subagents_of(&parent, all, most)? {
        if items.len() >= most {
            return Ok(false);
        }
        let id = row.id;
        items.push(shown(reader, row, level)?);
        let below = level.saturating_add(1);
        if below <= depth && !gather(reader, (id, below), (depth, all, most), items)? {
            return Ok(false);
        }
    }
    Ok(true)
}
