//! What agents offer: registered, taken back, answered.

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::capability::{
        CompleteInvocationParams, InvocationView, RegisterCapabilityParams, RegistrationView,
        WithdrawCapabilityParams,
    },
    rpc::RpcError,
};

use super::{Session, missing, row, view_for};
use crate::{
    capabilities,
    server::methods::{agent_itself, check_owner},
};

/// Refuses agents that the kernel does not name: an offer is bound to a process that it sees.
fn check_seen(session: &Session) -> Result<(), RpcError> {
    if session.caller.is_operator() || session.caller.is_seen_as_agent() {
        return Ok(());
    }
    let what = format!("`{}` is not seen to be an agent: rule offering-agent", session.caller.principal);
    Err(RpcError::new(ErrorName::PermissionDenied, what).hint("speak over the socket in EDGEPLANE_SOCKET"))
}

pub(in crate::server) async fn register(
    session: &Session,
    params: RegisterCapabilityParams,
) -> Result<RegistrationView, RpcError> {
    let named = match (&params.agent, &session.caller.agent) {
        (Some(named), _) => named.clone(),
        (None, Some(own)) => own.id.to_string(),
        (None, None) => {
            let what = "`agent` says whose it is to be";
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
    };
    let agent = agent_itself(session, &named)?;
    check_owner(session, agent.id)?;
    check_seen(session)?;
    let registered = capabilities::register(&session.shared, &session.caller, &agent, &params).await?;
    session.effect.notify_one();
    Ok(registered)
}

pub(in crate::server) async fn withdraw(
    session: &Session,
    params: WithdrawCapabilityParams,
) -> Result<RegistrationView, RpcError> {
    let check = |id| check_owner(session, id).and_then(|()| check_seen(session));
    let shown = capabilities::withdraw(&session.shared, &session.caller, &params.capability, check).await?;
    session.effect.notify_one();
    Ok(shown)
}

pub(in crate::server) async fn complete(
    session: &Session,
    params: CompleteInvocationParams,
) -> Result<InvocationView, RpcError> {
    let CompleteInvocationParams { invocation_id, output, error } = params;
    let answer = match (output, error) {
        (Some(output), None) => Ok(output),
        (None, Some(error)) => Err(error),
        _ => {
            let what = "exactly one of `output` and `error` says what came of it";
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
    };
    let before = row(&session.shared, invocation_id)?;
    let is_own = before.agent.is_some_and(|agent| session.caller.is_agent(agent));
    let answers = before.asked.offered_by.is_some_and(|by| session.caller.is_agent(by.agent_id));
    if !is_own && !answers && !session.caller.is_operator() {
        return Err(missing(invocation_id));
    }
    capabilities::complete(&session.shared, &session.caller, &before, answer).await?;
    session.effect.notify_one();
    view_for(session, row(&session.shared, invocation_id)?.into())
}
