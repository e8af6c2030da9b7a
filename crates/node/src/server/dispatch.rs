//! From a request to its method: context, audience, deadline.

use std::time::Duration;

use base64::Engine as _;
use edgeplane_types::{ErrorName, Tenant};
use edgeplane_wire::{
    catalogue::{self, Audience, Request},
    rpc::{RequestContext, RpcError},
};
use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{Session, methods};

/// Longest deadline in milliseconds; a longer one is cut to this: a day.
const DEADLINE_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// Serves a request as it came over a wire, with its context in `params.ctx`.
pub(super) async fn request(
    session: &Session,
    method: &str,
    mut params: Value,
) -> Result<Box<RawValue>, RpcError> {
    let context = take_context(&mut params)?;
    check_tenant(&context)?;
    if let (Some(key), Some(fields)) = (&context.idempotency_key, params.as_object_mut())
        && method == "runtime/agent.signal"
    {
        fields.entry("idempotency_key").or_insert_with(|| Value::String(key.clone()));
    }
    // Before the parameters are read: whoever may not call it learns nothing of what it takes.
    check_audience(session, method)?;
    let request = Request::read(method, params)?;
    let Some(deadline_ms) = context.deadline_ms else { return call(session, request).await };
    let deadline = Duration::from_millis(deadline_ms.min(DEADLINE_MS_MAX));
    match tokio::time::timeout(deadline, call(session, request)).await {
        Ok(result) => result,
        Err(_) => Err(RpcError::new(
            ErrorName::DeadlineExceeded,
            format!("{method} was not done in {deadline_ms} ms"),
        )
        .effect(edgeplane_types::error::Effect::Unknown)),
    }
}

fn take_context(params: &mut Value) -> Result<RequestContext, RpcError> {
    let Some(fields) = params.as_object_mut() else { return Ok(RequestContext::default()) };
    match fields.remove("ctx") {
        None => Ok(RequestContext::default()),
        Some(context) => serde_json::from_value(context)
            .map_err(|error| RpcError::new(ErrorName::InvalidParams, format!("`ctx`: {error}"))),
    }
}

/// There is one tenant here; what belongs to another is not found.
fn check_tenant(context: &RequestContext) -> Result<(), RpcError> {
    match &context.tenant {
        Some(tenant) if tenant != Tenant::default().as_str() => {
            Err(RpcError::new(ErrorName::NotFound, "no such tenant on this node"))
        }
        _ => Ok(()),
    }
}

/// Serves a request whose parameters have been read.
pub(super) async fn call(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    check_audience(session, request.method())?;
    match request {
        Request::CoreInitialize(params) => raw(methods::core::initialize(session, &params)?),
        Request::CoreDescribe(params) => raw(methods::core::describe(&params)),
        Request::CoreHealth(_) => raw(methods::core::health(session)),
        Request::NodeStatus(_) => raw(methods::core::status(session).await?),
        Request::NodeStop(params) => {
            methods::core::stop(session);
            raw(params)
        }
        Request::AgentApply(params) => raw(methods::apply::apply(session, params).await?),
        Request::AgentInstall(params) => raw(methods::install::install(session, &params).await?),
        Request::AgentList(params) => raw(methods::agents::list(session, params).await?),
        Request::AgentGet(params) => raw(methods::agents::get(session, &params).await?),
        Request::AgentStart(params) => raw(methods::agents::start(session, params).await?),
        Request::AgentStop(params) => raw(methods::agents::stop(session, params).await?),
        Request::AgentRestart(params) => raw(methods::agents::restart(session, params).await?),
        Request::AgentFreeze(params) => raw(methods::agents::freeze(session, params).await?),
        Request::AgentUnfreeze(params) => raw(methods::agents::unfreeze(session, params).await?),
        Request::AgentRetire(params) => raw(methods::agents::retire(session, params).await?),
        Request::AgentRelease(params) => raw(methods::agents::release(session, params).await?),
        Request::AgentWait(params) => raw(methods::agents::wait(session, params).await?),
        Request::EpochList(params) => raw(methods::agents::epochs(session, &params).await?),
        Request::AgentSignal(params) => raw(methods::messages::signal(session, params).await?),
        Request::InboxList(params) => raw(methods::messages::inbox(session, params).await?),
        Request::MessageGet(params) => raw(methods::messages::get(session, params).await?),
        Request::ScheduleList(_)
        | Request::ScheduleHistory(_)
        | Request::ScheduleRun(_)
        | Request::SchedulePause(_)
        | Request::ScheduleResume(_)
        | Request::ScheduleRemove(_) => schedules(session, request).await,
        // Served from the next commits on.
        Request::MessageSubmit(_)
        | Request::TopicPublish(_)
        | Request::AgentBroadcast(_)
        | Request::AgentAsk(_)
        | Request::MessageVerify(_)
        | Request::MessageSign(_)
        | Request::DeadLetterList(_)
        | Request::DeadLetterReplay(_)
        | Request::DeadLetterDrop(_)
        | Request::ActionOpen(_)
        | Request::ActionList(_)
        | Request::ActionGet(_)
        | Request::ActionDecide(_)
        | Request::ActionCancel(_)
        | Request::RuleList(_)
        | Request::DecisionExplain(_)
        | Request::RuleCheck(_)
        | Request::RuleReload(_)
        | Request::TokenCreate(_)
        | Request::TokenList(_)
        | Request::TokenRevoke(_)
        | Request::TokenEpoch(_)
        | Request::KeyList(_)
        | Request::KeyRotate(_) => Err(RpcError::new(ErrorName::Unsupported, "not served yet")),
        Request::AgentAttach(params) => raw(methods::terminals::attach(session, params).await?),
        Request::AgentDetach(params) => raw(methods::terminals::detach(session, &params)?),
        Request::AgentWrite(params) => raw(methods::terminals::write(session, params).await?),
        Request::AgentResize(params) => raw(methods::terminals::resize(session, params).await?),
        Request::AgentSnapshot(params) => raw(methods::terminals::snapshot(session, &params).await?),
        Request::RecordingRead(params) => raw(methods::terminals::recording(session, params).await?),
        Request::MemoryGet(params) => methods::memory::get(session, params).await,
        Request::MemoryPut(params) => methods::memory::put(session, params).await,
        Request::MemoryList(params) => methods::memory::list(session, params).await,
        Request::MemoryDelete(params) => methods::memory::delete(session, params).await,
        Request::MemoryHistory(params) => methods::memory::history(session, params).await,
        Request::StreamRead(params) => raw(methods::streams::read(session, params).await?),
        Request::StreamSubscribe(params) => raw(methods::streams::subscribe(session, params)?),
        Request::StreamUnsubscribe(params) => raw(methods::streams::unsubscribe(session, &params)?),
        Request::AuditVerify(_) => raw(methods::audit::verify(session).await?),
    }
}

async fn schedules(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::ScheduleList(params) => raw(methods::schedules::list(session, params).await?),
        Request::ScheduleHistory(params) => raw(methods::schedules::history(session, params).await?),
        Request::ScheduleRun(params) => raw(methods::schedules::run(session, params).await?),
        Request::SchedulePause(params) => raw(methods::schedules::pause(session, params).await?),
        Request::ScheduleResume(params) => raw(methods::schedules::resume(session, params).await?),
        Request::ScheduleRemove(params) => raw(methods::schedules::remove(session, params).await?),
        other => Err(RpcError::new(ErrorName::Internal, format!("{} is no schedule's", other.method()))),
    }
}

/// Refuses what a caller may not do, and names the rule. Whether an agent asks for itself, the method checks.
fn check_audience(session: &Session, method: &str) -> Result<(), RpcError> {
    let Some(row) = catalogue::find(method) else { return Ok(()) };
    let allowed = match row.audience {
        Audience::Anyone | Audience::OwnerOrOperator => true,
        Audience::Operator => session.caller.is_operator(),
    };
    if allowed {
        return Ok(());
    }
    let who = &session.caller.principal;
    Err(RpcError::new(
        ErrorName::PermissionDenied,
        format!("`{who}` may not call {}: rule operators-only", row.name),
    )
    .hint("only an operator, from outside of any agent, may do this"))
}

pub(super) fn raw<T: Serialize>(value: T) -> Result<Box<RawValue>, RpcError> {
    to_raw_value(&value)
        .map_err(|error| RpcError::new(ErrorName::Internal, format!("the result cannot be written: {error}")))
}

/// Bytes from base64.
pub(super) fn decoded(data: &str) -> Result<Vec<u8>, RpcError> {
    base64::engine::general_purpose::STANDARD
        .decode(data)
        .map_err(|error| RpcError::new(ErrorName::InvalidParams, format!("`data` is not base64: {error}")))
}
