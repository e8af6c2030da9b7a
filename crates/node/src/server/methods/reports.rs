//! What agents report of themselves, each over its own socket.

use edgeplane_types::{ErrorName, SafeLabel};
use edgeplane_wire::{
    api::report::{HookParams, HookResult, ItemParams, ReportResult, StatusParams},
    rpc::RpcError,
};

use super::{Session, agent};
use crate::{
    agent::{Command, Report, hook_kind},
    caller::CallingAgent,
    record::Origin,
};

/// Longest text of a report in bytes, as long as the content of a message may be.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// The only author of a report is the caller: no parameter names one.
fn author(session: &Session) -> Result<CallingAgent, RpcError> {
    let own = session.caller.agent.clone().filter(|own| session.caller.is_agent(own.id));
    own.ok_or_else(|| {
        let what = format!("`{}` is no agent beyond doubt: rule agents-only", session.caller.principal);
        RpcError::new(ErrorName::PermissionDenied, what)
            .hint("an agent reports, over the socket in EDGEPLANE_SOCKET")
    })
}

async fn report(session: &Session, text: &str, report: Report) -> Result<ReportResult, RpcError> {
    let own = author(session)?;
    if text.len() > TEXT_BYTES_MAX {
        let what = format!("a report of {} bytes, at most {TEXT_BYTES_MAX} are taken", text.len());
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    let handle = agent(session, &own.id.to_string())?;
    let origin = Origin::actor(session.caller.actor());
    handle.ask(|reply| Command::Report(own.epoch, report, origin, reply)).await?
}

pub(in crate::server) async fn item(session: &Session, params: ItemParams) -> Result<ReportResult, RpcError> {
    let ItemParams { kind, text, message_id } = params;
    if kind == SafeLabel::sanitized("status") {
        let what = "what an agent is doing is no item".to_owned();
        return Err(RpcError::new(ErrorName::InvalidParams, what).hint("`runtime/status.report` says it"));
    }
    let said = text.clone();
    report(session, &said, Report::Item { kind, text, message_id }).await
}

pub(in crate::server) async fn status(
    session: &Session,
    params: StatusParams,
) -> Result<ReportResult, RpcError> {
    let StatusParams { activity, text } = params;
    let said = text.clone();
    report(session, &said, Report::Status { activity, text }).await
}

pub(in crate::server) async fn hook(session: &Session, params: HookParams) -> Result<HookResult, RpcError> {
    let (own, kind) = (author(session)?, hook_kind(&params.kind)?);
    let handle = agent(session, &own.id.to_string())?;
    let origin = Origin::actor(session.caller.actor());
    handle.ask(|reply| Command::Hook(own.epoch, kind, params.report, origin, reply)).await?
}
