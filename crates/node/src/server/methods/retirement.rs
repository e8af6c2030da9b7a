//! Retiring agents: what goes with them is said first, and removed only as it was said.

use edgeplane_lifecycle::Input;
use edgeplane_types::PolicyAction;
use edgeplane_wire::{
    api::agent::{AgentParams, ChangeResult, RetireParams, RetirementPlan},
    rpc::RpcError,
};

use super::{Session, agent};
use crate::{
    agent::{Command, LifeRequest},
    gate::Asked,
    record::Origin,
};

pub(in crate::server) async fn plan(
    session: &Session,
    params: &AgentParams,
) -> Result<RetirementPlan, RpcError> {
    agent(session, &params.agent)?.ask(Command::Removal).await?
}

pub(in crate::server) async fn perform(
    session: &Session,
    params: RetireParams,
) -> Result<ChangeResult, RpcError> {
    let agent = agent(session, &params.agent)?;
    let asked = Asked::act(PolicyAction::Supervise, &session.caller, &agent);
    session.shared.gate.decide(&session.shared, &asked)?;
    let request = LifeRequest { plan: Some(params.plan), ..LifeRequest::new(Input::Retire, params.reason) };
    let origin = Origin::actor(session.caller.actor());
    agent.ask(|reply| Command::Life(request, origin, reply)).await?
}
