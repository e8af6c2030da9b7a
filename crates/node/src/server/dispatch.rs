//! From a request to its method: who may call it, and which room performs it.

use base64::Engine as _;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    catalogue::{self, Audience, Request},
    rpc::RpcError,
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Session, call, methods};
use crate::tokens;

/// Serves a request whose parameters have been read, if the caller may make it.
pub(super) async fn checked(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    check(session, &request)?;
    serve(session, request).await
}

/// Serves a request that the caller may make.
pub(super) async fn serve(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::CoreInitialize(params) => raw(methods::core::initialize(session, &params)?),
        Request::CoreDescribe(params) => raw(methods::core::describe(&params)),
        Request::CoreHealth(_) => raw(methods::core::health(session)),
        Request::CoreCancel(params) => raw(call::cancel(session, &params)),
        Request::NodeStatus(_) => raw(methods::core::status(session).await?),
        Request::NodeStop(params) => raw(methods::core::stop(session, params)),
        Request::AgentApply(params) => raw(methods::apply::apply(session, params).await?),
        Request::AgentInstall(params) => raw(methods::install::install(session, &params).await?),
        Request::AgentList(params) => raw(methods::agents::list(session, params).await?),
        Request::AgentGet(params) => raw(methods::agents::get(session, &params).await?),
        Request::AgentStart(params) => raw(methods::agents::start(session, params).await?),
        Request::AgentStop(params) => raw(methods::agents::stop(session, params).await?),
        Request::AgentRestart(params) => raw(methods::agents::restart(session, params).await?),
        Request::AgentFreeze(params) => raw(methods::agents::freeze(session, params).await?),
        Request::AgentUnfreeze(params) => raw(methods::agents::unfreeze(session, params).await?),
        Request::AgentHibernate(params) => raw(methods::agents::hibernate(session, params).await?),
        Request::AgentRetire(params) => raw(methods::agents::retire(session, params).await?),
        Request::RetirementPerform(params) => raw(methods::retirement::perform(session, params).await?),
        Request::RetirementPlan(params) => raw(methods::retirement::plan(session, &params).await?),
        Request::AgentRelease(params) => raw(methods::agents::release(session, params).await?),
        Request::AgentWait(params) => raw(methods::agents::wait(session, params).await?),
        Request::EpochList(params) => raw(methods::agents::epochs(session, &params).await?),
        Request::ActionOpen(params) => raw(methods::actions::open(session, params).await?),
        Request::ActionList(params) => raw(methods::actions::list(session, params).await?),
        Request::ActionGet(params) => raw(methods::actions::get(session, &params)?),
        Request::ActionRespond(params) => raw(methods::actions::decide(session, params).await?),
        Request::ActionCancel(params) => raw(methods::actions::cancel(session, &params).await?),
        Request::MessageVerify(params) => raw(methods::vouch::verify(session, params).await?),
        Request::MessageSign(params) => raw(methods::vouch::sign(session, params).await?),
        Request::TokenCreate(params) => raw(methods::security::create(session, params).await?),
        Request::CertificateAdd(params) => raw(methods::security::add_certificate(session, params).await?),
        Request::TokenList(_) => raw(methods::security::list(session).await?),
        Request::TokenRevoke(params) => raw(methods::security::revoke(session, params).await?),
        Request::TokenEpoch(_) => raw(methods::security::epoch(session).await?),
        Request::KeyList(_) => raw(methods::security::keys(session).await?),
        Request::KeyRotate(_) => raw(methods::security::rotate(session).await?),
        Request::ScheduleList(_)
        | Request::ScheduleHistory(_)
        | Request::ScheduleRun(_)
        | Request::SchedulePause(_)
        | Request::ScheduleResume(_)
        | Request::ScheduleRemove(_) => schedules(session, request).await,
        Request::AgentAttach(params) => raw(methods::terminals::attach(session, params).await?),
        Request::AgentDetach(params) => raw(methods::terminals::detach(session, &params)?),
        Request::AgentWrite(params) => raw(methods::terminals::write(session, params).await?),
        Request::AgentResize(params) => raw(methods::terminals::resize(session, params).await?),
        Request::AdapterList(_) => raw(methods::adapters::list(session).await?),
        Request::AdapterCheck(params) => raw(methods::adapters::check(session, params).await?),
        Request::AgentSnapshot(params) => raw(methods::terminals::snapshot(session, &params).await?),
        Request::RecordingRead(params) => raw(methods::terminals::recording(session, params).await?),
        Request::MemoryGet(params) => methods::memory::get(session, params).await,
        Request::MemoryPut(params) => methods::memory::put(session, params).await,
        Request::MemoryList(params) => methods::memory::list(session, params).await,
        Request::MemoryDelete(params) => methods::memory::delete(session, params).await,
        Request::MemoryHistory(params) => methods::memory::history(session, params).await,
        Request::ItemReport(params) => raw(methods::reports::item(session, params).await?),
        Request::HookReport(params) => raw(methods::reports::hook(session, params).await?),
        Request::StatusReport(params) => raw(methods::reports::status(session, params).await?),
        Request::TranscriptRead(params) => raw(methods::transcript::read(session, params).await?),
        other => call_about_rules(session, other).await,
    }
}

/// Serves what is about rules.
async fn call_about_rules(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::RuleList(_) => raw(methods::policy::list(session)),
        Request::DecisionExplain(params) => raw(methods::policy::explain(session, &params)?),
        Request::RuleCheck(params) => raw(methods::policy::check(session, params).await?),
        Request::RuleReload(_) => raw(methods::policy::reload(session).await),
        of_messages => call_about_messages(session, of_messages).await,
    }
}

/// Serves what is about messages.
async fn call_about_messages(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::AgentSignal(params) => raw(methods::messages::signal(session, params).await?),
        Request::InboxList(params) => raw(methods::messages::inbox(session, params).await?),
        Request::MessageGet(params) => raw(methods::messages::get(session, params).await?),
        Request::MessageSubmit(params) => raw(methods::messages::submit(session, params).await?),
        Request::TopicPublish(params) => raw(methods::spread::publish(session, params).await?),
        Request::AgentBroadcast(params) => raw(methods::spread::broadcast(session, params).await?),
        Request::AgentAsk(params) => raw(methods::ask::ask(session, params).await?),
        Request::DeadLetterList(params) => raw(methods::dead_letters::list(session, params).await?),
        Request::DeadLetterReplay(params) => raw(methods::dead_letters::replay(session, params).await?),
        Request::DeadLetterDrop(params) => raw(methods::dead_letters::drop_for_good(session, params).await?),
        other => call_about_work(session, other).await,
    }
}

/// Serves what is about tasks and runs.
async fn call_about_work(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    use methods::work;
    match request {
        Request::TaskCreate(params) => raw(work::create(session, params).await?),
        Request::TaskUpdate(params) => raw(work::update(session, params).await?),
        Request::TaskStart(params) => raw(work::start(session, params).await?),
        Request::TaskProgress(params) => raw(work::progress(session, params).await?),
        Request::TaskPause(params) => raw(work::pause(session, params).await?),
        Request::TaskResume(params) => raw(work::resume(session, params).await?),
        Request::TaskCancel(params) => raw(work::cancel(session, params).await?),
        Request::TaskRetry(params) => raw(work::retry(session, params).await?),
        Request::TaskComplete(params) => raw(work::complete(session, params).await?),
        Request::TaskFail(params) => raw(work::fail(session, params).await?),
        Request::TaskArchive(params) => raw(work::archive(session, params).await?),
        Request::TaskGet(params) => raw(work::get(session, params).await?),
        Request::TaskList(params) => raw(work::list(session, params).await?),
        Request::TaskGraph(params) => work::graph(session, params).await,
        Request::TaskLink(params) => raw(work::link(session, params).await?),
        Request::TaskUnlink(params) => raw(work::unlink(session, params).await?),
        Request::RunStart(params) => raw(work::run_start(session, params).await?),
        Request::RunPause(params) => raw(work::run_pause(session, params).await?),
        Request::RunResume(params) => raw(work::run_resume(session, params).await?),
        Request::RunList(params) => raw(work::run_list(session, params).await?),
        Request::RunCancel(params) => raw(work::run_cancel(session, params).await?),
        Request::RunGet(params) => raw(work::run_get(session, &params)?),
        other => call_about_jobs(session, other).await,
    }
}

/// Serves what is about jobs.
async fn call_about_jobs(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    use methods::work::jobs;
    match request {
        Request::JobCreate(params) => raw(jobs::create(session, params).await?),
        Request::JobGet(params) => raw(jobs::get(session, params).await?),
        Request::JobList(params) => raw(jobs::list(session, params).await?),
        Request::JobCancel(params) => raw(jobs::cancel(session, params).await?),
        Request::JobItemAssign(params) => raw(jobs::assign(session, params).await?),
        Request::JobItemRetry(params) => raw(jobs::retry(session, params).await?),
        Request::JobItemReport(params) => raw(jobs::report(session, params).await?),
        // Each hand holds the request, and some requests are large.
        other => Box::pin(call_about_subagents(session, other)).await,
    }
}

/// Serves what is about subagents.
async fn call_about_subagents(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    use methods::subagents;
    match request {
        Request::SubagentSpawn(params) => raw(Box::pin(subagents::spawn(session, params)).await?),
        Request::SubagentSend(params) => raw(subagents::send(session, params).await?),
        Request::SubagentWait(params) => raw(Box::pin(subagents::wait(session, params)).await?),
        Request::SubagentResume(params) => raw(subagents::resume(session, params).await?),
        Request::SubagentClose(params) => raw(subagents::close(session, params).await?),
        Request::SubagentList(params) => raw(subagents::list(session, params).await?),
        other => call_about_conversations(session, other).await,
    }
}

/// Serves what is about sessions, threads, turns and what came of them.
async fn call_about_conversations(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    use methods::conversation::{deliveries, outputs, queue, read, sessions, threads, turns};
    match request {
        Request::SessionCreate(params) => raw(sessions::create(session, params).await?),
        Request::SessionGet(params) => raw(sessions::get(session, &params)?),
        Request::SessionList(params) => raw(sessions::list(session, params).await?),
        Request::SessionArchive(params) => raw(sessions::archive(session, params).await?),
        Request::ThreadCreate(params) => raw(threads::create(session, params).await?),
        Request::ThreadGet(params) => raw(threads::get(session, &params)?),
        Request::ThreadList(params) => raw(threads::list(session, params).await?),
        Request::ThreadUpdate(params) => raw(threads::update(session, params).await?),
        Request::ThreadArchive(params) => raw(threads::archive(session, params).await?),
        Request::ThreadRead(params) => raw(read::read(session, params).await?),
        Request::ThreadResume(params) => raw(read::resume(session, params).await?),
        Request::ThreadFork(params) => raw(threads::fork(session, params).await?),
        Request::ThreadRollback(params) => raw(threads::roll_back(session, params).await?),
        Request::ThreadCompact(params) => raw(threads::compact(session, params).await?),
        Request::TurnStart(params) => raw(turns::start(session, params).await?),
        Request::TurnSteer(params) => raw(turns::steer(session, params).await?),
        Request::TurnInterrupt(params) => raw(turns::interrupt(session, params).await?),
        Request::TurnGet(params) => raw(turns::get(session, &params)?),
        Request::TurnList(params) => raw(turns::list(session, params).await?),
        Request::ItemList(params) => raw(methods::transcript::items::list(session, params).await?),
        Request::QueueList(params) => raw(queue::list(session, params).await?),
        Request::QueueRemove(params) => raw(queue::remove(session, params).await?),
        Request::QueuePromote(params) => raw(queue::promote(session, params).await?),
        Request::OutputGet(params) => raw(outputs::get(session, params).await?),
        Request::OutputList(params) => raw(outputs::list(session, params).await?),
        Request::DeliveryCreate(params) => raw(deliveries::create(session, params).await?),
        Request::DeliveryAck(params) => raw(deliveries::acknowledge(session, params).await?),
        Request::DeliveryList(params) => raw(deliveries::list(session, params).await?),
        other => call_about_machines(session, other).await,
    }
}

/// Serves what is about the machine, processes on it and what holds agents back.
async fn call_about_machines(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::ProcessList(params) => raw(methods::processes::list(session, params).await?),
        Request::ProcessGet(params) => raw(methods::processes::get(session, params).await?),
        Request::ProcessRead(params) => raw(methods::processes::read(session, params).await?),
        Request::ProcessWrite(params) => raw(methods::processes::write(session, params).await?),
        Request::ProcessTerminate(params) => raw(methods::processes::terminate(session, params).await?),
        Request::EnvironmentGet(params) => raw(methods::machine::environment(session, params).await?),
        Request::HostList(params) => raw(methods::machine::hosts(session, params).await?),
        Request::HostGet(params) => raw(methods::machine::host(session, params).await?),
        Request::OverrideApply(params) => raw(methods::overrides::apply(session, params).await?),
        Request::OverrideLift(params) => raw(methods::overrides::lift(session, params).await?),
        Request::OverrideList(params) => raw(methods::overrides::list(session, params).await?),
        Request::OverrideGet(params) => raw(methods::overrides::get(session, &params)?),
        other => call_about_resources(session, other).await,
    }
}

/// Serves what is about configuration and administrative state, and about models.
async fn call_about_resources(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::ResourceGet(params) => raw(methods::resources::get(session, params).await?),
        Request::ResourceList(params) => raw(methods::resources::list(session, params).await?),
        Request::ResourcePut(params) => raw(methods::resources::put(session, params).await?),
        Request::ResourcePatch(params) => raw(methods::resources::patch(session, params).await?),
        Request::ResourceDelete(params) => raw(methods::resources::delete(session, params).await?),
        Request::ResourceHistory(params) => raw(methods::resources::history(session, params).await?),
        Request::ModelList(params) => raw(methods::inference::models(session, params).await?),
        Request::RouteResolve(params) => raw(methods::inference::route(session, params).await?),
        Request::UsageGet(params) => raw(methods::inference::usage(session, params).await?),
        Request::LimitGet(params) => raw(methods::inference::limits(session, params).await?),
        other => call_about_capabilities(session, other).await,
    }
}

/// Serves what is about capabilities and calls of them.
async fn call_about_capabilities(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    use methods::capabilities;
    match request {
        Request::CapabilityList(params) => raw(capabilities::list(session, params).await?),
        Request::CapabilityGet(params) => raw(capabilities::get(session, params).await?),
        Request::CapabilitySearch(params) => raw(capabilities::search(session, params).await?),
        Request::CapabilityInvoke(params) => raw(Box::pin(capabilities::invoke(session, params)).await?),
        Request::InvocationGet(params) => raw(capabilities::invocation_get(session, &params)?),
        Request::InvocationAwait(params) => raw(capabilities::invocation_await(session, params).await?),
        Request::InvocationComplete(params) => raw(capabilities::offers::complete(session, params).await?),
        Request::CapabilityRegister(params) => raw(capabilities::offers::register(session, params).await?),
        Request::CapabilityWithdraw(params) => raw(capabilities::offers::withdraw(session, params).await?),
        Request::InvocationCancel(params) => raw(capabilities::invocation_cancel(session, params).await?),
        Request::PermissionEvaluate(params) => raw(capabilities::evaluate(session, params).await?),
        Request::PermissionResolve(params) => raw(capabilities::resolve(session, params).await?),
        Request::AutomationList(_) => raw(methods::automations::list(session).await?),
        Request::AutomationGet(params) => raw(methods::automations::get(session, &params)?),
        Request::AutomationFire(params) => raw(methods::automations::fire(session, params).await?),
        Request::WebhookDeliver(params) => raw(methods::automations::deliver(session, params).await?),
        other => call_about_streams(session, other).await,
    }
}

/// Serves what is about streams and projections.
async fn call_about_streams(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::StreamReplay(params) => methods::streams::replay::read(session, params).await,
        Request::StreamSubscribe(params) => raw(methods::streams::subscribe(session, params).await?),
        Request::StreamUnsubscribe(params) => raw(methods::streams::unsubscribe(session, &params)?),
        Request::StreamAck(params) => raw(methods::streams::acknowledge(session, &params)?),
        Request::StreamStatus(params) => raw(methods::streams::status(session, &params)?),
        Request::ProjectionList(_) => raw(methods::streams::projection::list(session)),
        Request::ProjectionGet(params) => raw(methods::streams::projection::get(session, &params).await?),
        Request::ProjectionRebuild(params) => {
            raw(methods::streams::projection::rebuild(session, params).await?)
        }
        Request::ProjectionVerify(params) => {
            raw(methods::streams::projection::verify(session, params).await?)
        }
        other => call_about_workspaces(session, other).await,
    }
}

/// Serves what is about workspaces and their checkpoints.
async fn call_about_workspaces(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::WorkspaceCreate(params) => raw(methods::workspaces::create(session, params).await?),
        Request::WorkspaceGet(params) => raw(methods::workspaces::get(session, &params)?),
        Request::WorkspaceList(params) => raw(methods::workspaces::list(session, params).await?),
        Request::WorkspaceDelete(params) => raw(methods::workspaces::delete(session, params).await?),
        Request::CheckpointCreate(params) => raw(methods::workspaces::keep(session, params).await?),
        Request::CheckpointGet(params) => raw(methods::workspaces::checkpoint(session, &params).await?),
        Request::CheckpointList(params) => raw(methods::workspaces::checkpoints(session, params).await?),
        Request::CheckpointDiff(params) => raw(methods::workspaces::diff(session, params).await?),
        Request::CheckpointRestore(params) => raw(methods::workspaces::restore(session, params).await?),
        Request::CheckpointDelete(params) => raw(methods::workspaces::forget(session, params).await?),
        Request::FileList(params) => raw(methods::workspaces::files::list(session, params).await?),
        Request::FileStat(params) => raw(methods::workspaces::files::stat(session, params).await?),
        Request::FileRead(params) => raw(methods::workspaces::files::read(session, params).await?),
        Request::FileSearch(params) => raw(methods::workspaces::files::search(session, params).await?),
        Request::FileWrite(params) => raw(methods::workspaces::files::write(session, params).await?),
        Request::FileMove(params) => raw(methods::workspaces::files::rename(session, params).await?),
        Request::FileDelete(params) => raw(methods::workspaces::files::delete(session, params).await?),
        Request::LockAcquire(params) => raw(methods::workspaces::locks::acquire(session, params).await?),
        Request::BlobPut(params) => raw(methods::workspaces::blobs::put(session, params).await?),
        Request::BlobGet(params) => raw(methods::workspaces::blobs::get(session, params).await?),
        Request::BlobStat(params) => raw(methods::workspaces::blobs::stat(session, params).await?),
        Request::BindingAttach(params) => raw(methods::workspaces::bindings::attach(session, params).await?),
        Request::BindingDetach(params) => raw(methods::workspaces::bindings::detach(session, params).await?),
        Request::LockRelease(params) => raw(methods::workspaces::locks::release(session, params).await?),
        Request::BarrierAwait(params) => raw(methods::streams::barrier::wait(session, params).await?),
        Request::LockList(params) => raw(methods::workspaces::locks::list(session, params).await?),
        // On the heap: what it and those behind it keep while they wait would be too large for whoever waits for them.
        other => Box::pin(call_about_artifacts(session, other)).await,
    }
}

/// Serves what is about artifacts and contexts.
async fn call_about_artifacts(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    use methods::{artifacts, contexts};
    match request {
        Request::ContextSearch(params) => raw(contexts::search(session, params).await?),
        Request::ContextRead(params) => raw(contexts::read(session, params).await?),
        Request::ContextResolve(params) => raw(contexts::resolve(session, params).await?),
        Request::ArtifactPublish(params) => raw(artifacts::publish(session, params).await?),
        Request::ArtifactGet(params) => raw(artifacts::get(session, params).await?),
        Request::ArtifactList(params) => raw(artifacts::list(session, params).await?),
        Request::ArtifactRead(params) => raw(artifacts::read(session, params).await?),
        Request::ArtifactDiff(params) => raw(artifacts::diff(session, params).await?),
        Request::ArtifactExport(params) => raw(artifacts::export(session, params).await?),
        Request::ArtifactDelete(params) => raw(artifacts::delete(session, params).await?),
        other => call_about_traces(session, other).await,
    }
}

/// Serves what is about traces and evidence.
async fn call_about_traces(session: &Session, request: Request) -> Result<Box<RawValue>, RpcError> {
    match request {
        Request::PackExport(params) => raw(methods::evidence::export(session, params).await?),
        Request::ReplayExport(params) => raw(methods::evidence::replay_case(session, params).await?),
        Request::GapList(params) => raw(methods::evidence::gap_list(session, params).await?),
        Request::TraceGet(params) => raw(methods::traces::get(session, params).await?),
        Request::TraceExplain(params) => raw(methods::traces::explain(session, params).await?),
        Request::TapOpen(params) => raw(methods::taps::open(session, params)?),
        Request::TapClose(params) => raw(methods::taps::close(session, &params)?),
        Request::AuditVerify(_) => raw(methods::audit::verify(session).await?),
        Request::TrialStart(params) => raw(Box::pin(methods::benchmark::start(session, params)).await?),
        Request::RewardRecord(params) => raw(Box::pin(methods::benchmark::reward(session, params)).await?),
        Request::TrialExport(params) => raw(Box::pin(methods::benchmark::export(session, params)).await?),
        Request::RunCompare(params) => raw(Box::pin(methods::benchmark::compare(session, params)).await?),
        other => Err(RpcError::new(ErrorName::Unsupported, format!("{} is not served", other.method()))),
    }
}

/// Refuses a caller whose token counts no more, what its token does not allow, and what is not for such callers.
pub(super) fn check(session: &Session, request: &Request) -> Result<(), RpcError> {
    if !matches!(request, Request::CoreInitialize(_)) {
        tokens::check_alive(&session.shared, &session.caller)?;
    }
    check_audience(session, request.method())?;
    tokens::check_scope(&session.caller, request)
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
pub(super) fn check_audience(session: &Session, method: &str) -> Result<(), RpcError> {
    let Some(row) = catalogue::find(method) else { return Ok(()) };
    let allowed = match row.audience {
        Audience::Anyone | Audience::OwnerOrOperator | Audience::Governed => true,
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
