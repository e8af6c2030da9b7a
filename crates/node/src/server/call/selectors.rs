//! What a context says that a request is about: each thing must be there, be open to the caller, and fit the rest.

use edgeplane_types::{AgentId, ErrorName, MessageId, ResourceUri, Tenant, WorkspaceId};
use edgeplane_wire::rpc::{RpcError, Selectors};
use serde_json::Value;

use super::Session;
use crate::server::methods;

/// Refuses selectors that name nothing that the caller may see, and such that contradict each other or the parameters.
pub(super) fn check(session: &Session, selectors: &Selectors, params: &Value) -> Result<(), RpcError> {
    nothing_of_later(selectors)?;
    if let Some(id) = selectors.workspace_id {
        methods::workspaces::seen(session, id).map_err(|_hidden| unknown("workspace_id"))?;
        if workspace(params).is_some_and(|other| other != id) {
            return Err(contradiction("workspace_id", "workspace_id"));
        }
    }
    if let Some(epoch) = selectors.binding_epoch {
        binding(session, epoch, selectors.workspace_id, params)?;
    }
    if selectors.host_id.is_some_and(|id| id != session.shared.identity.id) {
        return Err(unknown("host_id"));
    }
    if selectors.subscription_id.is_some_and(|id| session.opened.subscription(&id).is_none()) {
        return Err(unknown("subscription_id"));
    }
    let mut about: Vec<(&'static str, AgentId)> = Vec::new();
    if let Some(id) = selectors.agent_id {
        let found = session.shared.agent(&Tenant::default(), &id.to_string());
        about.push(("agent_id", found.map_err(|_gone| unknown("agent_id"))?.id));
    }
    let record = &session.shared.record;
    if let Some(id) = selectors.session_id {
        let row = record.look_up(|reader| reader.talk(&id))?;
        about.push(("session_id", row.ok_or_else(|| unknown("session_id"))?.agent));
    }
    if let Some(id) = selectors.thread_id {
        let row = record.look_up(|reader| reader.thread(&id))?;
        about.push(("thread_id", row.ok_or_else(|| unknown("thread_id"))?.agent));
    }
    if let Some(id) = selectors.turn_id {
        // A turn and the message that began it have the same number.
        let row = methods::visible_message(session, MessageId::from_bytes(*id.as_bytes()));
        about.push(("turn_id", row.map_err(|_hidden| unknown("turn_id"))?));
    }
    of_work(session, selectors, params)?;
    if let Some(text) = &selectors.resource_uri {
        about.extend(resource(session, text)?.map(|agent| ("resource_uri", agent)));
    }
    same_fields(selectors, params)?;
    if let Some(text) = params.get("agent").and_then(Value::as_str)
        && let Ok(agent) = session.shared.agent(&Tenant::default(), text)
    {
        about.push(("agent", agent.id));
    }
    match about.iter().find(|(_, id)| about.first().is_some_and(|(_, first)| first != id)) {
        None => Ok(()),
        Some((name, _)) => {
            let first = about.first().map(|(first, _)| *first).unwrap_or_default();
            Err(contradiction(name, first))
        }
    }
}

/// A binding that is named must live, and be of the workspace that is named.
fn binding(session: &Session, epoch: u64, of: Option<WorkspaceId>, params: &Value) -> Result<(), RpcError> {
    let found = methods::workspaces::bindings::seen_binding(session, epoch)?;
    let found = found.ok_or_else(|| unknown("binding_epoch"))?;
    match of.or_else(|| workspace(params)) {
        Some(other) if other != found.workspace => Err(contradiction("binding_epoch", "workspace_id")),
        _ => Ok(()),
    }
}

/// The workspace that the parameters name, also that to which a run is to be bound.
fn workspace(params: &Value) -> Option<WorkspaceId> {
    let named = params.get("workspace_id").or_else(|| params.get("binding")?.get("workspace_id"));
    named.and_then(Value::as_str).and_then(|text| text.parse().ok())
}

/// A task and a run that are named must be the caller's business, and one another's.
fn of_work(session: &Session, selectors: &Selectors, params: &Value) -> Result<(), RpcError> {
    let task =
        selectors.task_id.map(|id| methods::work::seen(session, id).map_err(|_hidden| unknown("task_id")));
    let task = task.transpose()?.map(|row| row.id);
    let Some(id) = selectors.run_id else { return Ok(()) };
    let run = methods::work::seen_run(session, id).map_err(|_hidden| unknown("run_id"))?;
    let named = params.get("task_id").and_then(Value::as_str).and_then(|text| text.parse().ok());
    match task.or(named) {
        Some(other) if other != run.started.task_id => Err(contradiction("run_id", "task_id")),
        _ => Ok(()),
    }
}

/// The agent that a resource belongs to, if it is one's. Resources are open to operators only.
fn resource(session: &Session, text: &str) -> Result<Option<AgentId>, RpcError> {
    let nothing = || unknown("resource_uri");
    let uri = text.parse::<ResourceUri>().map_err(|_bad| nothing())?;
    if !session.caller.is_operator() {
        return Err(nothing());
    }
    let row = session.shared.record.look_up(|reader| reader.resource(&uri))?;
    row.filter(|row| row.digest.is_some()).map(|row| row.owner).ok_or_else(nothing)
}

/// What no node has yet cannot be named.
fn nothing_of_later(selectors: &Selectors) -> Result<(), RpcError> {
    let later = [
        ("capability_id", selectors.capability_id.is_some()),
        ("invocation_id", selectors.invocation_id.is_some()),
    ];
    match later.into_iter().find(|(_, is_there)| *is_there) {
        None => Ok(()),
        Some((name, _)) => Err(unknown(name)),
    }
}

/// Parameters that have a selector's name must say the same.
fn same_fields(selectors: &Selectors, params: &Value) -> Result<(), RpcError> {
    let said = serde_json::to_value(selectors).unwrap_or_default();
    for (name, value) in said.as_object().into_iter().flatten() {
        if params.get(name).is_some_and(|other| !other.is_null() && other != value) {
            return Err(contradiction(name, name));
        }
    }
    Ok(())
}

fn unknown(name: &str) -> RpcError {
    RpcError::new(
        ErrorName::NotFound,
        format!("`ctx.selectors.{name}` names nothing that the caller may see"),
    )
}

fn contradiction(name: &str, other: &str) -> RpcError {
    let what =
        format!("`ctx.selectors` contradict the request: `{name}` and `{other}` are about different things");
    RpcError::new(ErrorName::InvalidParams, what)
}
