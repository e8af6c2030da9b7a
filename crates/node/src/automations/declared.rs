//! Who may declare an automation, and with what.

use edgeplane_manifest::{AutomationAct, AutomationSpec, AutomationTrigger};
use edgeplane_store::{ResourceFilter, ResourceRow};
use edgeplane_types::{ActsAs, ErrorName, Ingress, Proof, ResourceKind, ResourceUri};
use edgeplane_wire::{
    catalogue::{self, Audience, Need, opening::is_opening},
    rpc::RpcError,
};

use super::OF_AGENT_MAX;
use crate::{
    admission::{self, Saying},
    caller::{AGENT_AUTHORITY_MAX, Bears, Caller},
    resources,
    shared::Shared,
};

/// Methods that are for people and agents themselves: what decides, what gives rights, what makes automations.
const NOT_FOR_AUTOMATIONS: [&str; 8] = [
    "core/",
    "security/",
    "resource/",
    "runtime/agent.apply",
    "capability/automation.",
    "capability/webhook.",
    "capability/permission.resolve",
    "conversation/action.respond",
];

fn denied(caller: &Caller, rule: &str, hint: &str) -> RpcError {
    let what = format!("`{}` may not declare an automation: rule {rule}", caller.principal);
    RpcError::new(ErrorName::PermissionDenied, what).hint(hint)
}

/// As whom an automation acts that this caller declares.
///
/// # Errors
/// When it is somebody whom the node cannot ask about again when the automation acts.
pub(crate) fn acts_as(shared: &Shared, caller: &Caller) -> Result<ActsAs, RpcError> {
    if caller.automation.is_some() {
        return Err(denied(caller, "automations-make-none", "declare it yourself"));
    }
    if caller.speaks_for.is_some() {
        return Err(denied(caller, "nobody-in-anothers-name", "leave `ctx.principal` out"));
    }
    let principal = caller.principal.clone();
    if let Some(agent) = &caller.agent {
        if !caller.is_agent(agent.id) {
            return Err(denied(caller, "agents-beyond-doubt", "declare it over the agent's own socket"));
        }
        // What led the agent to it lasts as long as the automation does.
        let led = admission::led_by(shared, agent, &Saying::plain(Vec::new(), Ingress::Signal))?;
        let authority = caller.authority().at_most(led.authority);
        return Ok(ActsAs { principal, agent_id: Some(agent.id), token_id: None, authority });
    }
    let authority = caller.authority().at_most(AGENT_AUTHORITY_MAX);
    match (caller.proof, caller.bears) {
        (Proof::Uid, None) => Ok(ActsAs { principal, agent_id: None, token_id: None, authority }),
        (Proof::OperatorToken, Some(Bears::Named(id))) => {
            Ok(ActsAs { principal, agent_id: None, token_id: Some(id), authority })
        }
        _ => Err(denied(
            caller,
            "a-standing-principal",
            "the node must know whoever declares it when it acts: a token of the node, not of another issuer",
        )),
    }
}

/// Refuses what an automation may not do, or not for whoever declares it.
///
/// # Errors
/// With the rule's name.
pub(crate) fn check(
    shared: &Shared,
    caller: &Caller,
    uri: &ResourceUri,
    spec: &AutomationSpec,
) -> Result<(), RpcError> {
    if let AutomationAct::Method(method) = &spec.act {
        check_method(caller, &method.name)?;
    }
    if caller.agent.is_none() {
        return Ok(());
    }
    if matches!(spec.on, AutomationTrigger::Webhook(_)) {
        return Err(denied(caller, "agents-have-no-webhooks", "a secret is an operator's to hand out"));
    }
    let filter = ResourceFilter { kind: Some(ResourceKind::Automation), ..ResourceFilter::default() };
    let most = usize::try_from(resources::OF_KIND_MAX).unwrap_or(usize::MAX);
    let rows = shared.record.look_up(|reader| reader.resources(&filter, most))?;
    let is_another = |row: &&ResourceRow| resources::concerns(caller, row) && row.path != uri.path();
    if rows.iter().filter(is_another).count() >= OF_AGENT_MAX {
        let what = format!("an agent has at most {OF_AGENT_MAX} automations");
        return Err(RpcError::new(ErrorName::QuotaExhausted, what).hint("delete one first"));
    }
    Ok(())
}

/// Refuses a method that no automation calls, or none of this caller's.
pub(super) fn check_method(caller: &Caller, name: &str) -> Result<(), RpcError> {
    let Some(row) = catalogue::find(name) else {
        let what = format!("`value.do.method.name`: this node serves no method `{}`", shown(name));
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    };
    let is_refused = NOT_FOR_AUTOMATIONS.iter().any(|begin| name.starts_with(begin));
    if is_refused || is_opening(name) || row.need == Need::Uid {
        let hint = format!("{name} is not called by automations, whoever declares them");
        return Err(denied(caller, "not-for-automations", &hint));
    }
    if caller.agent.is_some() && row.audience == Audience::Operator {
        let hint = format!("{name} is an operator's, and an agent's automation may do what the agent may");
        return Err(denied(caller, "operators-only", &hint));
    }
    if let (Some(scopes), Need::Scope(scope)) = (&caller.scopes, row.need)
        && !scopes.contains(&scope)
    {
        let hint = format!("the token does not allow {name}");
        return Err(denied(caller, &format!("scope-{}", scope.as_str()), &hint));
    }
    Ok(())
}

fn shown(name: &str) -> String {
    edgeplane_driver::render::clean(name).chars().take(80).collect()
}
