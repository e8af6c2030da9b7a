//! What holds for a call: the rules in force first, then what whoever answers for the capability says. The strictest counts.

use std::sync::Arc;

use edgeplane_policy::Decision;
use edgeplane_types::{ErrorName, MessageId, Permission, PolicyAction, SafeLabel};
use edgeplane_wire::{api::capability::PermissionView, rpc::RpcError};

use super::Found;
use crate::{agent::AgentHandle, caller::Caller, gate::Asked, shared::Shared};

/// The rule by which an operator needs no other leave: whoever would be asked asks.
const OWN_LEAVE: &str = "operators-ask-nobody";

/// The rule by which what an automation of an operator calls is not asked about.
const NOBODY_ASKED: &str = "automations-are-not-asked";

/// Who calls.
#[derive(Debug)]
pub(crate) struct By<'a> {
    pub(crate) caller: &'a Caller,
    /// The agent that calls; none: an operator.
    pub(crate) agent: Option<&'a AgentHandle>,
}

fn asked<'a>(by: &By<'a>, agent: &'a AgentHandle, name: &'a str) -> Asked<'a> {
    Asked { capability: Some(name), ..Asked::act(PolicyAction::Invoke, by.caller, agent) }
}

/// What holds, without counting it or noting a refusal.
pub(crate) fn evaluate(shared: &Shared, by: &By<'_>, found: &Found) -> PermissionView {
    if let Some(agent) = by.agent
        && let Decision::Refuse(refusal) = shared.gate.would(shared, &asked(by, agent, &found.name()))
    {
        return PermissionView { decision: Permission::Deny, rule: refusal.rule, reason: refusal.reason };
    }
    of_owner(by, found)
}

/// Lets a call pass, or has it asked about; a refusal is noted in the stream of the agent that calls, with the turn that
/// led to the call.
///
/// # Errors
/// `policy_blocked` or `rate_limited`, with the rule's name.
pub(super) fn pass(
    shared: &Arc<Shared>,
    by: &By<'_>,
    found: &Found,
    causation: Option<MessageId>,
) -> Result<PermissionView, RpcError> {
    let name = found.name();
    if let Some(agent) = by.agent {
        shared.gate.decide(shared, &Asked { causation, ..asked(by, agent, &name) })?;
    }
    let holds = of_owner(by, found);
    if holds.decision != Permission::Deny {
        return Ok(holds);
    }
    Err(match by.agent {
        Some(agent) => {
            let asked = Asked { causation, ..asked(by, agent, &name) };
            shared.gate.beyond(shared, &asked, denial(found), holds.reason)
        }
        None => RpcError::new(ErrorName::PolicyBlocked, format!("{}: rule {}", holds.reason, holds.rule)),
    })
}

/// Notes that an agent could not call what it wanted: the connector's server does not let the node in.
pub(crate) fn locked_out(shared: &Arc<Shared>, by: &By<'_>, capability: &str, reason: &str) {
    if let Some(agent) = by.agent {
        // Without what led to it the refusal is noted all the same.
        let causation = super::door::cause(shared, by.caller).ok().flatten();
        let asked = Asked { causation, ..asked(by, agent, capability) };
        shared.gate.beyond(shared, &asked, "connector-credentials", reason.to_owned());
    }
}

/// By which rule it is refused what whoever answers for a capability does not let be called.
fn denial(found: &Found) -> &'static str {
    match found.connector() {
        Some(_) => "connector-deny",
        None => found.holds().1,
    }
}

fn of_owner(by: &By<'_>, found: &Found) -> PermissionView {
    let (decision, rule, owner) = found.holds();
    let (decision, rule, reason) = match decision {
        Permission::Allow => (decision, rule, format!("{owner} lets it be called")),
        Permission::Ask if by.agent.is_none() && by.caller.automation.is_some() => (
            Permission::Deny,
            NOBODY_ASKED,
            "an automation calls it, and nobody is there to be asked".to_owned(),
        ),
        Permission::Ask if by.agent.is_none() => {
            (Permission::Allow, OWN_LEAVE, "whoever would be asked calls it".to_owned())
        }
        Permission::Ask => (decision, rule, format!("{owner} has a person asked before it is called")),
        Permission::Deny => (decision, rule, format!("{owner} does not let it be called")),
    };
    PermissionView { decision, rule: SafeLabel::sanitized(rule), reason }
}
