//! Which automations an event concerns.

use edgeplane_manifest::{AutomationEvent, AutomationTrigger};
use edgeplane_store::{CommittedEvent, ReadError, Reader};
use edgeplane_types::{AgentId, StreamName, Tenant};
use serde_json::Value;

use super::{InForce, fill};
use crate::shared::Shared;

/// Whether an automation fires for an event. What it says as JSON is made when it is first needed.
pub(super) fn concerns(
    shared: &Shared,
    reader: &Reader,
    automation: &InForce,
    (event, said): (&CommittedEvent, &mut Option<Value>),
) -> Result<bool, ReadError> {
    let AutomationTrigger::Event(wanted) = &automation.spec.on else { return Ok(false) };
    let kind = event.event.fact.type_name();
    if !automation.spec.enabled || !wanted.types.iter().any(|name| name.as_str() == kind) {
        return Ok(false);
    }
    if !is_about(shared, reader, automation, wanted, event)? {
        return Ok(false);
    }
    if wanted.fields.is_empty() {
        return Ok(true);
    }
    let said = said.get_or_insert_with(|| serde_json::to_value(&event.event).unwrap_or_default());
    let holds = |(place, value): (&edgeplane_types::SafeLabel, &String)| {
        fill::at(said, place.as_str()).and_then(fill::plain).as_ref() == Some(value)
    };
    Ok(wanted.fields.iter().all(holds))
}

/// Whether an event is about the agents that are meant. An agent's automation sees what is about that agent alone.
fn is_about(
    shared: &Shared,
    reader: &Reader,
    automation: &InForce,
    wanted: &AutomationEvent,
    event: &CommittedEvent,
) -> Result<bool, ReadError> {
    let own = automation.acts_as.agent_id;
    if own.is_none() && wanted.agent.is_none() && wanted.labels.is_empty() {
        return Ok(true);
    }
    let Some(about) = agent_of(reader, event)? else { return Ok(false) };
    if own.is_some_and(|own| own != about) {
        return Ok(false);
    }
    if let Some(name) = &wanted.agent {
        let named = shared.agent(&Tenant::default(), name.as_str());
        if named.map_or(true, |agent| agent.id != about) {
            return Ok(false);
        }
    }
    if wanted.labels.is_empty() {
        return Ok(true);
    }
    let labels = shared.agent_by_id(about).map(|agent| agent.profile().labels.clone()).unwrap_or_default();
    Ok(wanted.labels.iter().all(|(key, value)| labels.get(key.as_str()) == Some(value)))
}

/// The agent that an event is about: whose stream it is in, or whose work its task is.
pub(super) fn agent_of(reader: &Reader, event: &CommittedEvent) -> Result<Option<AgentId>, ReadError> {
    if let StreamName::Agent(agent) = event.event.stream {
        return Ok(Some(agent));
    }
    let Some(task) = event.event.fact.task_id() else { return Ok(None) };
    Ok(reader.task(&task)?.and_then(|row| row.assignee))
}
