//! The methods of the catalogue, one module a profile or object.

pub(super) mod actions;
pub(super) mod adapters;
pub(super) mod agents;
pub(super) mod apply;
pub(super) mod artifacts;
pub(super) mod ask;
pub(super) mod audit;
pub(super) mod automations;
pub(super) mod benchmark;
pub(super) mod capabilities;
pub(super) mod contexts;
pub(super) mod conversation;
pub(super) mod core;
pub(super) mod dead_letters;
pub(super) mod evidence;
pub(super) mod inference;
pub(super) mod install;
pub(super) mod machine;
pub(super) mod memory;
pub(super) mod messages;
pub(super) mod overrides;
pub(super) mod policy;
pub(super) mod processes;
pub(super) mod reports;
pub(super) mod resources;
mod retired;
pub(super) mod retirement;
pub(super) mod schedules;
pub(super) mod security;
pub(super) mod spread;
pub(super) mod streams;
pub(super) mod subagents;
pub(super) mod taps;
pub(super) mod terminals;
pub(crate) mod traces;
pub(super) mod transcript;
pub(super) mod vouch;
pub(super) mod work;
pub(super) mod workspaces;

use edgeplane_types::{AgentId, ErrorName, MessageId, Tenant};
use edgeplane_wire::rpc::RpcError;

use super::Session;
use crate::agent::AgentHandle;

pub(crate) use apply::start_when_ready;
pub use audit::verify_offline;
pub(crate) use conversation::{deliveries::take_up as take_up_deliveries, turn_of_message};

/// The agent that a message was put to, if the caller may see the message.
pub(super) fn visible_message(session: &Session, id: MessageId) -> Result<AgentId, RpcError> {
    messages::visible(session, id).map(|row| row.envelope.target)
}

/// The agent of this name or id.
fn agent(session: &Session, name: &str) -> Result<AgentHandle, RpcError> {
    session.shared.agent(&Tenant::default(), name)
}

/// The agent of this name or id, if it has a program of its own.
fn agent_itself(session: &Session, name: &str) -> Result<AgentHandle, RpcError> {
    let found = agent(session, name)?;
    check_no_set(session, &found)?;
    Ok(found)
}

/// Refuses a set, where only one of its replicas can be meant.
fn check_no_set(session: &Session, agent: &AgentHandle) -> Result<(), RpcError> {
    if agent.profile().replicas.is_none() {
        return Ok(());
    }
    let names: Vec<String> =
        session.shared.replicas_of(agent.id).iter().map(|replica| replica.name.to_string()).collect();
    let what = format!("agent `{}` is a set of replicas and has no program of its own", agent.name);
    Err(RpcError::new(ErrorName::InvalidState, what).hint(format!("name one of {}", names.join(", "))))
}

/// Refuses callers that are neither operators nor this agent.
fn check_owner(session: &Session, id: AgentId) -> Result<(), RpcError> {
    if session.caller.is_operator() || session.caller.is_agent(id) {
        return Ok(());
    }
    let who = &session.caller.principal;
    Err(RpcError::new(
        ErrorName::PermissionDenied,
        format!("`{who}` may see only its own: rule owner-or-operator"),
    ))
}
