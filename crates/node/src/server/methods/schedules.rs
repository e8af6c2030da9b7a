//! Schedules: list them, tell what became of their occurrences, run, pause, resume and remove them.

use std::collections::BTreeMap;

use edgeplane_store::{Occurrence, OccurrenceRow, Reader, ScheduleRow};
use edgeplane_types::{AgentId, AgentName, ErrorName, MessageId};
use edgeplane_wire::{
    api::{
        Empty,
        schedule::{
            HistoryParams, HistoryResult, ListParams, ListResult, Occurred, OccurrenceView, RunResult,
            ScheduleParams, ScheduleView,
        },
    },
    rpc::RpcError,
};

use super::{Session, agent, check_owner};
use crate::{
    agent::{AgentHandle, Command, ScheduleRequest, ScheduleVerb},
    record::Origin,
    schedule,
};

/// Most occurrences in one history.
const HISTORY_MAX: u32 = 10_000;

pub(in crate::server) async fn list(session: &Session, params: ListParams) -> Result<ListResult, RpcError> {
    let one = match (&params.agent, &session.caller.agent) {
        (Some(named), _) => Some(agent(session, named)?),
        // An agent sees its own.
        (None, Some(own)) => Some(agent(session, &own.id.to_string())?),
        (None, None) => None,
    };
    let handles = match one {
        Some(handle) => {
            check_owner(session, handle.id)?;
            vec![handle]
        }
        None if session.caller.is_operator() => session.shared.agents(),
        None => {
            let who = &session.caller.principal;
            let what = format!("`{who}` may see only its own: rule owner-or-operator");
            return Err(RpcError::new(ErrorName::PermissionDenied, what));
        }
    };
    let names: BTreeMap<AgentId, AgentName> =
        handles.into_iter().map(|handle| (handle.id, handle.name)).collect();
    let mut items = session
        .shared
        .record
        .read(move |reader| {
            let one = names.keys().next().filter(|_| names.len() == 1);
            let rows = one.map_or_else(|| reader.schedules(), |id| reader.schedules_of(id))?;
            let named = rows.iter().filter_map(|row| Some((names.get(&row.agent)?, row)));
            Ok(named.map(|(agent, row)| view(reader, agent, row)).collect::<Vec<_>>())
        })
        .await?;
    items.sort_by(|a, b| (&a.agent, &a.name).cmp(&(&b.agent, &b.name)));
    Ok(ListResult { items })
}

fn view(reader: &Reader, agent: &AgentName, row: &ScheduleRow) -> ScheduleView {
    // Of one whose words are damaged or erased, what became of it is still told.
    let body = schedule::body(reader, row).ok();
    let compiled =
        body.as_ref().and_then(|body| schedule::compile(row.agent, &row.name, body, row.declared_at).ok());
    ScheduleView {
        agent: agent.clone(),
        name: row.name.clone(),
        when: body.as_ref().map(|body| body.timing.when()).unwrap_or_default(),
        spec: body.map(|body| body.canonical_json()).unwrap_or_default(),
        in_manifest: row.in_manifest,
        paused: row.paused,
        next_at: compiled.and_then(|compiled| compiled.due_after(row.accounted_until)),
        accounted_until: row.accounted_until,
        ran: row.ran,
        skipped: row.skipped,
        missed: row.missed,
    }
}

pub(in crate::server) async fn history(
    session: &Session,
    params: HistoryParams,
) -> Result<HistoryResult, RpcError> {
    let handle = agent(session, &params.agent)?;
    check_owner(session, handle.id)?;
    let rows = usize::try_from(params.limit.min(HISTORY_MAX)).unwrap_or(0);
    let (id, name) = (handle.id, params.name.clone());
    let found = session
        .shared
        .record
        .read(move |reader| {
            let Some(_known) = reader.schedule(&id, &name)? else { return Ok(None) };
            reader.schedule_history(&id, &name, rows, None).map(Some)
        })
        .await?;
    match found {
        Some(rows) => Ok(HistoryResult { items: rows.into_iter().map(occurrence).collect() }),
        None => {
            let (agent, name) = (&handle.name, &params.name);
            let what = format!("agent `{agent}` never had a schedule `{name}`");
            Err(RpcError::new(ErrorName::NotFound, what)
                .hint(format!("`edgeplane schedule list {agent}` shows those that it has")))
        }
    }
}

fn occurrence(row: OccurrenceRow) -> OccurrenceView {
    let (due_at, outcome) = match row.what {
        Occurrence::Ran { due_at, message_id, cause } => (due_at, Occurred::Ran { cause, message_id }),
        Occurrence::Skipped { due_at, reason, detail } => (due_at, Occurred::Skipped { reason, detail }),
        Occurrence::Missed { from, to, count, reason } => (from, Occurred::Missed { reason, to, count }),
    };
    OccurrenceView { due_at, at: row.at, outcome }
}

async fn ask(
    session: &Session,
    handle: &AgentHandle,
    request: ScheduleRequest,
) -> Result<Option<MessageId>, RpcError> {
    let origin = Origin::actor(session.caller.actor());
    handle.ask(|reply| Command::Schedule(request, origin, reply)).await?
}

pub(in crate::server) async fn run(session: &Session, params: ScheduleParams) -> Result<RunResult, RpcError> {
    let handle = agent(session, &params.agent)?;
    let sent = ask(session, &handle, ScheduleRequest { name: params.name, verb: ScheduleVerb::Run }).await?;
    let message_id = sent.ok_or_else(|| RpcError::new(ErrorName::Internal, "the run gave no message"))?;
    session.effect.notify_one();
    Ok(RunResult { message_id })
}

pub(in crate::server) async fn pause(
    session: &Session,
    params: ScheduleParams,
) -> Result<ScheduleView, RpcError> {
    change(session, params, ScheduleVerb::Pause).await
}

pub(in crate::server) async fn resume(
    session: &Session,
    params: ScheduleParams,
) -> Result<ScheduleView, RpcError> {
    change(session, params, ScheduleVerb::Resume).await
}

async fn change(
    session: &Session,
    params: ScheduleParams,
    verb: ScheduleVerb,
) -> Result<ScheduleView, RpcError> {
    let handle = agent(session, &params.agent)?;
    let ScheduleParams { name, .. } = params;
    ask(session, &handle, ScheduleRequest { name: name.clone(), verb }).await?;
    let (id, agent) = (handle.id, handle.name);
    let seen = session.shared.record.read(move |reader| {
        let row = reader.schedule(&id, &name)?.filter(|row| !row.removed);
        Ok(row.map(|row| view(reader, &agent, &row)))
    });
    seen.await?.ok_or_else(|| RpcError::new(ErrorName::NotFound, "the schedule was removed meanwhile"))
}

pub(in crate::server) async fn remove(session: &Session, params: ScheduleParams) -> Result<Empty, RpcError> {
    let handle = agent(session, &params.agent)?;
    ask(session, &handle, ScheduleRequest { name: params.name, verb: ScheduleVerb::Remove }).await?;
    Ok(Empty {})
}
