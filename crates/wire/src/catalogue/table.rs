//! The rows of the catalogue, by profile. Those of workspaces, of automations and of what neighbours keep stand in files of
//! their own.

// Each adds its rows to those before and hands all on, so that their order matters.
#[macro_use]
mod workspaces;
#[macro_use]
mod neighbours;
#[macro_use]
mod automations;
#[macro_use]
mod benchmarks;

use serde_json::Value;

use super::{Audience, Call, Method, MethodEffect, Repeat, catalogue, read, schema, unknown};
use crate::{
    api::{self, Empty},
    rpc::RpcError,
};
use edgeplane_types::ErrorName;

with_benchmarks! {
    /// Greets the node: versions, and as whom it knows the caller.
    "core/initialize" CoreInitialize(api::core::InitializeParams) -> api::core::InitializeResult,
        Read, Anyone, Nothing, Safe, [Unsupported], "0.1";
    /// Lists the methods with their schemas.
    "core/describe" CoreDescribe(api::core::DescribeParams) -> api::core::DescribeResult,
        Read, Anyone, Nothing, Safe, [], "0.1";
    /// Tells whether the node serves.
    "core/health" CoreHealth(Empty) -> api::core::HealthResult,
        Read, Anyone, Nothing, Safe, [], "0.1";
    /// Takes back a request of the caller that is still being worked on; it answers `cancelled`.
    "core/cancel" CoreCancel(api::core::CancelParams) -> api::core::CancelResult,
        Write, Anyone, Nothing, Same, [], "0.5";

    /// Tells how the daemon is.
    "runtime/node.status" NodeStatus(Empty) -> api::node::NodeStatus,
        Read, Anyone, Read, Safe, [], "0.1";
    /// Ends the daemon in good order; agents run on.
    "runtime/node.stop" NodeStop(Empty) -> Empty,
        Write, Operator, Uid, Same, [], "0.1";

    /// Declares agents or changes what is declared, all or nothing.
    "runtime/agent.apply" AgentApply(api::agent::ApplyParams) -> api::agent::ApplyResult,
        Write, Operator, Supervise, Same, [InvalidManifest, QuotaExhausted, StorageFull], "0.1";
    /// Lists agents by name.
    "runtime/agent.list" AgentList(api::agent::ListParams) -> api::agent::ListResult,
        Read, Anyone, Read, Safe, [], "0.1";
    /// Shows an agent.
    "runtime/agent.get" AgentGet(api::agent::AgentParams) -> api::agent::AgentView,
        Read, Anyone, Read, Safe, [NotFound], "0.1";
    /// Runs an agent's preparation steps; progress comes as `core/progress` notifications.
    "runtime/agent.install" AgentInstall(api::agent::AgentParams) -> api::agent::InstallResult,
        Write, Operator, Supervise, Again, [NotFound, InvalidState], "0.1";
    /// Makes an agent run.
    "runtime/agent.start" AgentStart(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, Supervise, Same, [PolicyBlocked, NotFound, InvalidState, StorageFull], "0.1";
    /// Makes an agent end and stay ended.
    "runtime/agent.stop" AgentStop(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, Supervise, Same, [PolicyBlocked, NotFound, InvalidState], "0.1";
    /// Makes an agent end and begin anew.
    "runtime/agent.restart" AgentRestart(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, Supervise, Again, [PolicyBlocked, NotFound, InvalidState, StorageFull], "0.1";
    /// Suspends every process of an agent.
    "runtime/agent.freeze" AgentFreeze(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, Supervise, Same, [PolicyBlocked, NotFound, InvalidState, Unsupported], "0.1";
    /// Lets a frozen agent go on.
    "runtime/agent.unfreeze" AgentUnfreeze(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, Supervise, Same, [PolicyBlocked, NotFound, InvalidState], "0.1";
    /// Ends an idle agent until a message comes for it; its context is what its program can go on with.
    "runtime/agent.hibernate" AgentHibernate(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Governed, Supervise, Same, [PolicyBlocked, NotFound, InvalidState], "0.1";
    /// Ends an agent and frees its name; its history stays.
    "runtime/agent.retire" AgentRetire(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.1";
    /// Says what an agent owns that is removed when it is retired, and what stays.
    "runtime/retirement.plan" RetirementPlan(api::agent::AgentParams) -> api::agent::RetirementPlan,
        Read, Operator, Read, Safe, [NotFound], "0.4";
    /// Ends an agent, frees its name and removes what it owned, as its plan says; its history stays.
    "runtime/retirement.perform" RetirementPerform(api::agent::RetireParams) -> api::agent::ChangeResult,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, Conflict, StorageFull], "0.4";
    /// Vouches that nothing is left of a quarantined agent.
    "runtime/agent.release" AgentRelease(api::agent::ChangeParams) -> api::agent::ChangeResult,
        Write, Operator, Supervise, Same, [NotFound, InvalidState], "0.1";
    /// Waits until an agent is in one of some phases.
    "runtime/agent.wait" AgentWait(api::agent::WaitParams) -> api::agent::ChangeResult,
        Read, Anyone, Read, Safe, [NotFound, DeadlineExceeded], "0.1";
    /// Lists an agent's epochs.
    "runtime/epoch.list" EpochList(api::agent::AgentParams) -> api::agent::EpochsResult,
        Read, Anyone, Read, Safe, [NotFound], "0.1";

    /// Decides over agents, above everything that they are meant to do, until it is lifted: ends or suspends them.
    "runtime/override.apply" OverrideApply(api::overrides::ApplyOverrideParams) -> api::overrides::OverrideResult,
        Write, Operator, Supervise, Again, [InvalidParams, NotFound, Unsupported, QuotaExhausted], "0.5";
    /// Takes a decision over agents back; what it ended or suspended goes on if nothing else holds it.
    "runtime/override.lift" OverrideLift(api::overrides::LiftOverrideParams) -> api::overrides::OverrideResult,
        Write, Operator, Supervise, Same, [InvalidParams, NotFound], "0.5";
    /// Lists decisions over agents.
    "runtime/override.list" OverrideList(api::overrides::ListOverridesParams) -> api::overrides::OverridesResult,
        Read, Anyone, Read, Safe, [NotFound], "0.5";
    /// Shows a decision over agents.
    "runtime/override.get" OverrideGet(api::overrides::OverrideParams) -> api::overrides::OverrideView,
        Read, Anyone, Read, Safe, [NotFound], "0.5";

    /// Lists the processes that an agent's program had the node run.
    "runtime/process.list" ProcessList(api::machine::ListProcessesParams) -> api::machine::ProcessesResult,
        Read, OwnerOrOperator, Read, Safe, [InvalidParams, NotFound], "0.5";
    /// Shows a process, with the beginning and the end of its output.
    "runtime/process.get" ProcessGet(api::machine::ProcessParams) -> api::machine::AgentProcess,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Reads a part of what a process wrote, from any offset on: asked again and again, it follows one that runs.
    "runtime/process.read" ProcessRead(api::machine::ReadProcessParams) -> api::machine::ProcessBytes,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.6";
    /// Writes to the standard input of a process that an agent's program had the node run, once per id.
    "runtime/process.write" ProcessWrite(api::machine::WriteProcessParams) -> api::machine::WriteProcessResult,
        Write, OwnerOrOperator, Supervise, Again, [NotFound, InvalidParams, InvalidState, Unsupported, TooLarge, Backpressure, IdempotencyMismatch, Unavailable, StorageFull], "0.6";
    /// Ends a process that an agent's program had the node run.
    "runtime/process.terminate" ProcessTerminate(api::machine::TerminateParams) -> api::machine::AgentProcess,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidState, Unavailable], "0.5";
    /// Shows what surrounds an agent's program, as it is applied: folder, user, variables by name, limits, what is missing.
    "runtime/environment.get" EnvironmentGet(api::agent::AgentParams) -> api::machine::EnvironmentView,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.5";
    /// Lists the machines that this node knows: its own.
    "runtime/host.list" HostList(api::machine::ListHostsParams) -> api::machine::HostsResult,
        Read, Anyone, Read, Safe, [], "0.5";
    /// Shows a machine: capacity, load, what it allows, agents by phase, what is left.
    "runtime/host.get" HostGet(api::machine::HostParams) -> api::machine::HostView,
        Read, Anyone, Read, Safe, [NotFound], "0.5";

    /// Sends a message to an agent.
    "runtime/agent.signal" AgentSignal(api::message::SignalParams) -> api::message::SignalResult,
        Write, Anyone, Signal, Again, [NotFound, TooLarge, Backpressure, RateLimited, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.1";
    /// Lists an agent's messages.
    "runtime/inbox.list" InboxList(api::message::InboxParams) -> api::message::InboxResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.1";
    /// Shows a message and its receipts.
    "runtime/message.get" MessageGet(api::message::MessageParams) -> api::message::MessageView,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.1";
    /// Submits content as a tool's result, a document or a web page.
    "runtime/message.submit" MessageSubmit(api::message::SubmitParams) -> api::message::SignalResult,
        Write, Anyone, Signal, Again, [NotFound, TooLarge, Backpressure, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.2";
    /// Sends a message to every agent that subscribes to a topic.
    "runtime/topic.publish" TopicPublish(api::message::PublishParams) -> api::message::SpreadResult,
        Write, Anyone, Signal, Again, [TooLarge], "0.2";
    /// Sends a message to every agent whose labels are as asked for.
    "runtime/agent.broadcast" AgentBroadcast(api::message::BroadcastParams) -> api::message::SpreadResult,
        Write, Anyone, Signal, Again, [TooLarge], "0.2";
    /// Asks an agent and waits for its answer; parts of it come as `ask/part` notifications.
    "runtime/agent.ask" AgentAsk(api::message::AskParams) -> api::message::AskResult,
        Write, Anyone, Signal, Again, [NotFound, TooLarge, Backpressure, IdempotencyMismatch, PolicyBlocked, Unsupported, StorageFull], "0.2";
    /// Tells what the node vouches for of a message, signed.
    "runtime/message.verify" MessageVerify(api::message::MessageParams) -> api::message::VerifyResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.2";
    /// Signs messages that leave the node, with one signature for all.
    "runtime/message.sign" MessageSign(api::message::SignParams) -> api::message::SignResult,
        Read, Operator, Read, Safe, [NotFound, TooLarge], "0.2";
    /// Lists messages that did not reach their agent.
    "runtime/dead_letter.list" DeadLetterList(api::message::DeadLettersParams) -> api::message::DeadLettersResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.2";
    /// Lets a message that did not reach its agent wait once more.
    "runtime/dead_letter.replay" DeadLetterReplay(api::message::MessageParams) -> api::message::MessageView,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.2";
    /// Takes a message that did not reach its agent off the list.
    "runtime/dead_letter.drop" DeadLetterDrop(api::message::DropParams) -> Empty,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.2";

    /// Reports a piece of work or a remark of the calling agent.
    "runtime/item.report" ItemReport(api::report::ItemParams) -> api::report::ReportResult,
        Write, Anyone, Supervise, Again, [PermissionDenied, Fenced, NotFound, TooLarge, StorageFull], "0.3";
    /// Reports what the calling agent is doing.
    "runtime/status.report" StatusReport(api::report::StatusParams) -> api::report::ReportResult,
        Write, Anyone, Supervise, Same, [PermissionDenied, Fenced, TooLarge, StorageFull], "0.3";
    /// Reports what a hook of the calling agent's program said.
    "runtime/hook.report" HookReport(api::report::HookParams) -> api::report::HookResult,
        Write, Anyone, Supervise, Again, [PermissionDenied, Fenced, InvalidParams, Unsupported, StorageFull], "0.3";
    /// Reads what was said to an agent and by it, and what it did.
    "runtime/transcript.read" TranscriptRead(api::report::TranscriptParams) -> api::report::TranscriptResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.3";
    /// Asks a person: a question, or leave to do something.
    "conversation/action.open" ActionOpen(api::action::OpenParams) -> api::action::ActionView,
        Write, OwnerOrOperator, Supervise, Again, [NotFound, InvalidParams, TooLarge, Backpressure, IdempotencyMismatch, StorageFull], "0.2";
    /// Lists what waits for a person.
    "conversation/action.list" ActionList(api::action::ListParams) -> api::action::ListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.2";
    /// Shows an action.
    "conversation/action.get" ActionGet(api::action::ActionParams) -> api::action::ActionView,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.2";
    /// Approves, denies or answers an action.
    "conversation/action.respond" ActionRespond(api::action::DecideParams) -> api::action::ActionView,
        Write, Anyone, Approve, Same, [NotFound, InvalidParams, InvalidState, Conflict, PermissionDenied, PolicyBlocked, StorageFull], "0.2";
    /// Takes an action back.
    "conversation/action.cancel" ActionCancel(api::action::ActionParams) -> api::action::ActionView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.2";
    /// Makes a further session of an agent, with its first thread.
    "conversation/session.create" SessionCreate(api::conversation::thread::SessionCreateParams) -> api::conversation::thread::SessionEntry,
        Write, OwnerOrOperator, Supervise, Again, [NotFound, InvalidParams, Unsupported, Conflict, QuotaExhausted, StorageFull], "0.5";
    /// Shows a session.
    "conversation/session.get" SessionGet(api::conversation::thread::SessionParams) -> api::conversation::thread::SessionEntry,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Lists sessions.
    "conversation/session.list" SessionList(api::conversation::thread::SessionListParams) -> api::conversation::thread::SessionListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Lets a session and its threads take no turns any more; their history stays.
    "conversation/session.archive" SessionArchive(api::conversation::thread::SessionArchiveParams) -> api::conversation::thread::SessionEntry,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidState, VersionConflict, StorageFull], "0.5";
    /// Makes a thread.
    "conversation/thread.create" ThreadCreate(api::conversation::thread::ThreadCreateParams) -> api::conversation::thread::ThreadView,
        Write, OwnerOrOperator, Supervise, Again, [NotFound, InvalidParams, InvalidState, Unsupported, Conflict, QuotaExhausted, StorageFull], "0.5";
    /// Shows a thread.
    "conversation/thread.get" ThreadGet(api::conversation::thread::ThreadParams) -> api::conversation::thread::ThreadView,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Lists threads.
    "conversation/thread.list" ThreadList(api::conversation::thread::ThreadListParams) -> api::conversation::thread::ThreadListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Calls a thread something else.
    "conversation/thread.update" ThreadUpdate(api::conversation::thread::ThreadUpdateParams) -> api::conversation::thread::ThreadView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams, VersionConflict, StorageFull], "0.5";
    /// Lets a thread take no turns any more; its history stays.
    "conversation/thread.archive" ThreadArchive(api::conversation::thread::ThreadArchiveParams) -> api::conversation::thread::ThreadView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidState, VersionConflict, StorageFull], "0.5";
    /// Tells what happens in a thread now.
    "conversation/thread.read" ThreadRead(api::conversation::thread::ThreadParams) -> api::conversation::thread::ThreadReadResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Tells what a crash or a stop left uncertain in a thread, and what can be done.
    "conversation/thread.resume" ThreadResume(api::conversation::thread::ThreadParams) -> api::conversation::thread::ThreadResumeResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Makes a thread that goes on from a turn of another one.
    "conversation/thread.fork" ThreadFork(api::conversation::thread::ThreadForkParams) -> api::conversation::thread::ThreadView,
        Write, OwnerOrOperator, Supervise, Again, [NotFound, InvalidParams, InvalidState, Unsupported, Conflict, QuotaExhausted, StorageFull], "0.5";
    /// Takes the last turns of a thread out of its history, and lets its program begin anew without them.
    "conversation/thread.rollback" ThreadRollback(api::conversation::thread::ThreadRollbackParams) -> api::conversation::thread::ThreadRollbackResult,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, VersionConflict, TooLarge, Unsupported, StorageFull], "0.5";
    /// Draws a boundary in a thread: its program begins anew and is told a summary of what is up to it.
    "conversation/thread.compact" ThreadCompact(api::conversation::thread::ThreadCompactParams) -> api::conversation::thread::ThreadCompactResult,
        Write, Operator, Supervise, Same, [NotFound, InvalidParams, InvalidState, VersionConflict, Unsupported, StorageFull], "0.6";
    /// Begins a turn: says something to an agent in a thread.
    "conversation/turn.start" TurnStart(api::conversation::turn::TurnStartParams) -> api::conversation::turn::TurnStartResult,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, Unsupported, TooLarge, Backpressure, RateLimited, Conflict, IdempotencyMismatch, PolicyBlocked, Locked, QuotaExhausted, StorageFull], "0.5";
    /// Says something into a turn that runs.
    "conversation/turn.steer" TurnSteer(api::conversation::turn::TurnSteerParams) -> api::conversation::turn::TurnStartResult,
        Write, OwnerOrOperator, Signal, Again, [NotFound, InvalidState, Unsupported, TooLarge, Backpressure, IdempotencyMismatch, PolicyBlocked, StorageFull], "0.5";
    /// Asks for the end of a turn.
    "conversation/turn.interrupt" TurnInterrupt(api::conversation::turn::TurnInterruptParams) -> api::conversation::turn::TurnInterruptResult,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams, Unsupported, PermissionDenied, StorageFull], "0.5";
    /// Shows a turn.
    "conversation/turn.get" TurnGet(api::conversation::turn::TurnParams) -> api::conversation::turn::TurnView,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Lists turns.
    "conversation/turn.list" TurnList(api::conversation::turn::TurnListParams) -> api::conversation::turn::TurnListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.5";
    /// Lists the items of a turn or a thread.
    "conversation/item.list" ItemList(api::conversation::turn::ItemListParams) -> api::conversation::turn::ItemListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.5";
    /// Lists the turns that wait, in the order of delivery.
    "conversation/queue.list" QueueList(api::conversation::turn::QueueListParams) -> api::conversation::turn::QueueResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.5";
    /// Takes a waiting turn out of the queue.
    "conversation/queue.remove" QueueRemove(api::conversation::turn::QueueRemoveParams) -> api::conversation::turn::TurnView,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.5";
    /// Puts a waiting turn before all others that wait.
    "conversation/queue.promote" QueuePromote(api::conversation::turn::TurnParams) -> api::conversation::turn::QueueResult,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.5";
    /// Reads what a turn came to.
    "conversation/output.get" OutputGet(api::conversation::output::OutputParams) -> api::conversation::output::OutputView,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Lists what turns came to.
    "conversation/output.list" OutputList(api::conversation::output::OutputListParams) -> api::conversation::output::OutputListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.5";
    /// Hands an output over.
    "conversation/delivery.create" DeliveryCreate(api::conversation::output::DeliveryCreateParams) -> api::conversation::output::DeliveryView,
        Write, OwnerOrOperator, Signal, Again, [NotFound, InvalidParams, Conflict, StorageFull], "0.5";
    /// Says that an output that was handed over is there.
    "conversation/delivery.ack" DeliveryAck(api::conversation::output::DeliveryParams) -> api::conversation::output::DeliveryView,
        Write, OwnerOrOperator, Signal, Same, [NotFound, InvalidState, StorageFull], "0.5";
    /// Lists deliveries.
    "conversation/delivery.list" DeliveryList(api::conversation::output::DeliveryListParams) -> api::conversation::output::DeliveryListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Writes a task down, and begins it as soon as it can be begun.
    "runtime/task.create" TaskCreate(api::work::TaskCreateParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [PolicyBlocked, NotFound, InvalidParams, InvalidState, Conflict, QuotaExhausted, StorageFull], "0.6";
    /// Changes what is to be done in a task that is not over.
    "runtime/task.update" TaskUpdate(api::work::TaskUpdateParams) -> api::work::TaskView,
        Write, Anyone, Signal, Same, [PolicyBlocked, NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Has a task begun that is a draft, or accepted.
    "runtime/task.start" TaskStart(api::work::TaskChangeParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Says how far a task is.
    "runtime/task.progress" TaskProgress(api::work::TaskProgressParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, Fenced, StorageFull], "0.6";
    /// Lets a task rest; the run that works on it is asked to end.
    "runtime/task.pause" TaskPause(api::work::TaskChangeParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Lets a task go on that rests, by a further run if one is needed.
    "runtime/task.resume" TaskResume(api::work::TaskChangeParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Has a task and its parts ended: first the intent, then whatever works on them.
    "runtime/task.cancel" TaskCancel(api::work::TaskChangeParams) -> api::work::TaskView,
        Write, Anyone, Signal, Same, [NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Begins a further run of a task that failed, was too slow, or is lost.
    "runtime/task.retry" TaskRetry(api::work::TaskChangeParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Says that a task is done, and what of what must be true is.
    "runtime/task.complete" TaskComplete(api::work::TaskCompleteParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, Fenced, StorageFull], "0.6";
    /// Says that a task failed.
    "runtime/task.fail" TaskFail(api::work::TaskFailParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, Fenced, StorageFull], "0.6";
    /// Puts a task away that is over.
    "runtime/task.archive" TaskArchive(api::work::TaskChangeParams) -> api::work::TaskView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, StorageFull], "0.6";
    /// Shows a task with its edges and runs.
    "runtime/task.get" TaskGet(api::work::TaskParams) -> api::work::TaskDetail,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Lists tasks.
    "runtime/task.list" TaskList(api::work::TaskListParams) -> api::work::TaskListResult,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Shows how the tasks of a graph are joined.
    "runtime/task.graph" TaskGraph(api::work::TaskGraphParams) -> api::work::TaskGraphResult,
        Read, Anyone, Read, Safe, [NotFound, TooLarge], "0.6";
    /// Joins a task to another one, or to what an address names.
    "runtime/task.link" TaskLink(api::work::TaskEdgeParams) -> api::work::EdgeView,
        Write, Anyone, Signal, Same, [NotFound, InvalidParams, InvalidState, Conflict, StorageFull], "0.6";
    /// Parts a task from another one, or from what an address names.
    "runtime/task.unlink" TaskUnlink(api::work::TaskEdgeParams) -> api::work::EdgeView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, StorageFull], "0.6";
    /// Has a task worked on: by a first run, or by a further one.
    "runtime/run.start" RunStart(api::work::RunStartParams) -> api::work::RunStartResult,
        Write, Anyone, Signal, Again, [PolicyBlocked, NotFound, InvalidParams, InvalidState, Unsupported, Conflict, VersionConflict, Fenced, Locked, QuotaExhausted, StorageFull], "0.6";
    /// Lets a run rest: it is asked to end, and its task rests until it goes on.
    "runtime/run.pause" RunPause(api::work::RunChangeParams) -> api::work::RunView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, Fenced, StorageFull], "0.6";
    /// Lets the task of a run that rested go on, by a further run.
    "runtime/run.resume" RunResume(api::work::RunChangeParams) -> api::work::RunStartResult,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, Fenced, StorageFull], "0.6";
    /// Shows a run.
    "runtime/run.get" RunGet(api::work::RunParams) -> api::work::RunView,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Lists runs.
    "runtime/run.list" RunList(api::work::RunListParams) -> api::work::RunListResult,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Has a run ended; its task has failed then, and may be tried again.
    "runtime/run.cancel" RunCancel(api::work::RunCancelParams) -> api::work::RunView,
        Write, Anyone, Signal, Same, [NotFound, InvalidParams, InvalidState, StorageFull], "0.6";
    /// Makes a job: items that are dealt out to agents, each to one that is idle.
    "runtime/job.create" JobCreate(api::job::JobCreateParams) -> api::job::JobView,
        Write, Anyone, Signal, Again, [PolicyBlocked, NotFound, InvalidParams, Conflict, StorageFull], "0.6";
    /// Shows a job with a page of its items.
    "runtime/job.get" JobGet(api::job::JobGetParams) -> api::job::JobDetail,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Lists jobs.
    "runtime/job.list" JobList(api::job::JobListParams) -> api::job::JobListResult,
        Read, Anyone, Read, Safe, [], "0.6";
    /// Has a job ended: what is done stays done, what is worked on is told, what waits is never begun.
    "runtime/job.cancel" JobCancel(api::job::JobCancelParams) -> api::job::JobView,
        Write, Anyone, Signal, Same, [NotFound, InvalidParams, InvalidState, StorageFull], "0.6";
    /// Gives an item that waits to an agent.
    "runtime/job_item.assign" JobItemAssign(api::job::JobItemAssignParams) -> api::job::JobItemView,
        Write, Anyone, Signal, Again, [PolicyBlocked, NotFound, InvalidState, StorageFull], "0.6";
    /// Has an item tried again that failed.
    "runtime/job_item.retry" JobItemRetry(api::job::JobItemRetryParams) -> api::job::JobItemView,
        Write, Anyone, Signal, Again, [NotFound, InvalidParams, InvalidState, StorageFull], "0.6";
    /// Says what came of an item, once.
    "runtime/job_item.report" JobItemReport(api::job::JobItemReportParams) -> api::job::JobItemView,
        Write, Anyone, Signal, Same, [NotFound, InvalidParams, InvalidState, Fenced, StorageFull], "0.6";
    /// Starts an agent under another one, for good or for one task.
    "runtime/subagent.spawn" SubagentSpawn(api::subagent::SubagentSpawnParams) -> api::subagent::SubagentView,
        Write, OwnerOrOperator, Supervise, Again, [PolicyBlocked, InvalidManifest, NotFound, InvalidParams, InvalidState, Conflict, Locked, QuotaExhausted, Unsupported, StorageFull], "0.6";
    /// Sends a subagent a message.
    "runtime/subagent.send" SubagentSend(api::subagent::SubagentSendParams) -> api::message::SignalResult,
        Write, OwnerOrOperator, Signal, Again, [NotFound, InvalidState, StorageFull], "0.6";
    /// Waits until subagents have come to an end, or have nothing to do.
    "runtime/subagent.wait" SubagentWait(api::subagent::SubagentWaitParams) -> api::subagent::SubagentWaitResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams, DeadlineExceeded], "0.6";
    /// Lets a subagent go on that is stopped or suspended.
    "runtime/subagent.resume" SubagentResume(api::subagent::SubagentChangeParams) -> api::subagent::SubagentView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams, InvalidState, StorageFull], "0.6";
    /// Ends and retires a subagent and all agents under it, the youngest generation first.
    "runtime/subagent.close" SubagentClose(api::subagent::SubagentChangeParams) -> api::subagent::SubagentView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams], "0.6";
    /// Lists the agents under one.
    "runtime/subagent.list" SubagentList(api::subagent::SubagentListParams) -> api::subagent::SubagentListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.6";
    /// Lists schedules.
    "runtime/schedule.list" ScheduleList(api::schedule::ListParams) -> api::schedule::ListResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.2";
    /// Tells what became of a schedule's occurrences.
    "runtime/schedule.history" ScheduleHistory(api::schedule::HistoryParams) -> api::schedule::HistoryResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.2";
    /// Runs a schedule now; its plan is not touched.
    "runtime/schedule.run" ScheduleRun(api::schedule::ScheduleParams) -> api::schedule::RunResult,
        Write, Operator, Supervise, Again, [NotFound, Backpressure, PolicyBlocked, StorageFull], "0.2";
    /// Lets a schedule rest; what comes due meanwhile is skipped.
    "runtime/schedule.pause" SchedulePause(api::schedule::ScheduleParams) -> api::schedule::ScheduleView,
        Write, Operator, Supervise, Same, [NotFound, StorageFull], "0.2";
    /// Lets a paused schedule run again.
    "runtime/schedule.resume" ScheduleResume(api::schedule::ScheduleParams) -> api::schedule::ScheduleView,
        Write, Operator, Supervise, Same, [NotFound, StorageFull], "0.2";
    /// Ends a schedule that is not part of a manifest; its history stays.
    "runtime/schedule.remove" ScheduleRemove(api::schedule::ScheduleParams) -> Empty,
        Write, Operator, Supervise, Same, [NotFound, InvalidState, StorageFull], "0.2";
    /// Lists the terminal adapters that are in force.
    "runtime/adapter.list" AdapterList(Empty) -> api::adapter::AdaptersResult,
        Read, Operator, Read, Safe, [], "0.3";
    /// Reads an adapter's text, and tells what it says of a screen.
    "runtime/adapter.check" AdapterCheck(api::adapter::AdapterCheckParams) -> api::adapter::AdapterCheckResult,
        Read, Operator, Attach, Safe, [NotFound, InvalidParams, InvalidState], "0.3";
    /// Lists the rules that are in force.
    "policy/rule.list" RuleList(Empty) -> api::policy::RulesResult,
        Read, Operator, Read, Safe, [], "0.2";
    /// Tells what the rules say of a request, and which of them decides.
    "policy/decision.explain" DecisionExplain(api::policy::ExplainParams) -> api::policy::ExplainResult,
        Read, Operator, Read, Safe, [NotFound], "0.2";
    /// Looks whether rules could be put in force, and what they would say.
    "policy/rule.check" RuleCheck(api::policy::CheckParams) -> api::policy::CheckResult,
        Read, Operator, Read, Safe, [NotFound, TooLarge], "0.2";
    /// Reads the files of rules now instead of within a second.
    "policy/rule.reload" RuleReload(Empty) -> api::policy::RulesResult,
        Write, Operator, Uid, Same, [StorageFull], "0.2";
    /// Makes a token for a person or a program.
    "security/token.create" TokenCreate(api::security::CreateParams) -> api::security::CreateResult,
        Write, Operator, Uid, Again, [QuotaExhausted, StorageFull], "0.2";
    /// Makes a client certificate the credential of a person or a program.
    "security/certificate.add" CertificateAdd(api::security::AddCertificateParams) -> api::security::AddCertificateResult,
        Write, Operator, Uid, Again, [InvalidParams, Conflict, QuotaExhausted, StorageFull], "0.5";
    /// Lists the tokens that were made.
    "security/token.list" TokenList(Empty) -> api::security::TokensResult,
        Read, Operator, Read, Safe, [], "0.2";
    /// Makes a token worth nothing.
    "security/token.revoke" TokenRevoke(api::security::RevokeParams) -> Empty,
        Write, Operator, Uid, Same, [NotFound, StorageFull], "0.2";
    /// Gives the calling agent a short token of its epoch, for where its socket cannot be reached.
    "security/token.epoch" TokenEpoch(Empty) -> api::security::EpochTokenResult,
        Read, Anyone, Read, Safe, [PermissionDenied], "0.2";
    /// Lists the keys that the node signs or has signed with.
    "security/key.list" KeyList(Empty) -> api::security::KeysResult,
        Read, Anyone, Read, Safe, [], "0.2";
    /// Makes a new key; what the old one signed stays valid.
    "security/key.rotate" KeyRotate(Empty) -> api::security::KeyView,
        Write, Operator, Uid, Again, [StorageFull], "0.2";
    /// Watches or controls an agent's terminal; output comes as `attach/output` notifications.
    "runtime/agent.attach" AgentAttach(api::terminal::AttachParams) -> api::terminal::AttachResult,
        Write, Governed, Attach, Again, [PolicyBlocked, NotFound, InvalidState, Locked], "0.1";
    /// Ends an attachment; the agent does not notice.
    "runtime/agent.detach" AgentDetach(api::terminal::DetachParams) -> Empty,
        Write, Governed, Attach, Same, [NotFound], "0.1";
    /// Types keys through a controlling attachment.
    "runtime/agent.write" AgentWrite(api::terminal::WriteParams) -> Empty,
        Write, Governed, Control, Again, [NotFound, PermissionDenied, Backpressure], "0.1";
    /// Changes the terminal's size through a controlling attachment.
    "runtime/agent.resize" AgentResize(api::terminal::ResizeParams) -> Empty,
        Write, Governed, Attach, Same, [NotFound, PermissionDenied], "0.1";
    /// Shows an agent's screen as text.
    "runtime/agent.snapshot" AgentSnapshot(api::agent::AgentParams) -> api::terminal::SnapshotResult,
        Read, OwnerOrOperator, Attach, Safe, [NotFound, InvalidState], "0.1";
    /// Reads a recording, also of an epoch or agent that is gone.
    "runtime/recording.read" RecordingRead(api::terminal::RecordingParams) -> api::terminal::RecordingResult,
        Read, OwnerOrOperator, Attach, Safe, [NotFound, InvalidState], "0.1";
    /// Reads a key of an agent's memory.
    "memory/entry.get" MemoryGet(api::memory::KeyParams) -> api::memory::Entry,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.1";
    /// Writes a key of an agent's memory.
    "memory/entry.put" MemoryPut(api::memory::PutParams) -> api::memory::Entry,
        Write, OwnerOrOperator, Supervise, Again, [NotFound, VersionConflict, TooLarge, QuotaExhausted, InvalidState, StorageFull], "0.1";
    /// Lists the keys of an agent's memory.
    "memory/entry.list" MemoryList(api::memory::KeysParams) -> api::memory::EntriesResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.1";
    /// Removes a key of an agent's memory.
    "memory/entry.delete" MemoryDelete(api::memory::DeleteParams) -> api::memory::Entry,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, VersionConflict, InvalidState, StorageFull], "0.1";
    /// Lists the versions of a key of an agent's memory.
    "memory/entry.history" MemoryHistory(api::memory::KeyParams) -> api::memory::EntriesResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.1";
    /// Reads what a projection of the record says, from any point: events of the log, or what was made of them.
    "stream/replay" StreamReplay(api::stream::ReplayParams) -> api::stream::ReplayResult,
        Read, Anyone, Read, Safe, [NotFound, ReplayGap], "0.5";
    /// Follows a projection of the record; what it says comes as `stream/event` notifications, and how the subscription
    /// is as `stream/state`.
    "stream/subscribe" StreamSubscribe(api::stream::SubscribeParams) -> api::stream::SubscribeResult,
        Read, Anyone, Read, Safe, [NotFound, ReplayGap, QuotaExhausted], "0.1";
    /// Ends a subscription.
    "stream/unsubscribe" StreamUnsubscribe(api::stream::SubscriptionParams) -> Empty,
        Read, Anyone, Read, Safe, [NotFound], "0.1";
    /// Tells how far a subscriber has come; with `max_inflight` it makes room for more.
    "stream/ack" StreamAck(api::stream::AckParams) -> api::stream::AckResult,
        Read, Anyone, Read, Safe, [NotFound], "0.5";
    /// Shows the subscriptions of this connection.
    "stream/status" StreamStatus(api::stream::SubscriptionStatusParams) -> api::stream::SubscriptionStatusResult,
        Read, Anyone, Read, Safe, [NotFound], "0.5";
    /// Lists projections.
    "stream/projection.list" ProjectionList(Empty) -> api::stream::ProjectionsResult,
        Read, Anyone, Read, Safe, [], "0.5";
    /// Shows the state of a projection of a target.
    "stream/projection.get" ProjectionGet(api::stream::ProjectionParams) -> api::stream::ProjectionView,
        Read, Anyone, Read, Safe, [NotFound], "0.5";
    /// Drops what is kept of projections and makes them anew from the first event; progress comes as `core/progress`.
    "stream/projection.rebuild" ProjectionRebuild(api::stream::ProjectionsParams) -> api::stream::RebuildResult,
        Write, Operator, Supervise, Same, [NotFound], "0.5";
    /// Makes projections anew from the first event and compares them with what is kept.
    "stream/projection.verify" ProjectionVerify(api::stream::ProjectionsParams) -> api::stream::VerifyResult,
        Read, Operator, Read, Safe, [NotFound], "0.5";
    /// Lists the models that agents' programs say they have.
    "inference/model.list" ModelList(api::inference::ListModelsParams) -> api::inference::ModelsResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.6";
    /// Tells which model a turn of an agent gets, and why: today its own, the single candidate.
    "inference/route.resolve" RouteResolve(api::inference::InferenceParams) -> api::inference::RouteDecision,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.6";
    /// Tells what an agent used, as its program says it.
    "inference/usage.get" UsageGet(api::inference::InferenceParams) -> api::inference::UsageView,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.6";
    /// Tells what holds an agent's inference back, and what nobody says.
    "inference/limit.get" LimitGet(api::inference::InferenceParams) -> api::inference::InferenceLimitsResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidState], "0.6";
    /// Shows a resource: what it holds in a version, secrets masked.
    "resource/get" ResourceGet(api::resource::GetResourceParams) -> api::resource::ResourceView,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.6";
    /// Lists resources: configuration and administrative state.
    "resource/list" ResourceList(api::resource::ListResourcesParams) -> api::resource::ResourcesResult,
        Read, OwnerOrOperator, Read, Safe, [InvalidParams], "0.6";
    /// Writes a resource, as its next version; what it holds already makes none.
    "resource/put" ResourcePut(api::resource::PutResourceParams) -> api::resource::ResourceView,
        Write, OwnerOrOperator, Supervise, Same, [InvalidParams, VersionConflict, TooLarge, QuotaExhausted, Unsupported, StorageFull], "0.6";
    /// Changes a part of a resource by a JSON merge patch.
    "resource/patch" ResourcePatch(api::resource::PatchResourceParams) -> api::resource::ResourceView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams, VersionConflict, TooLarge, Unsupported, StorageFull], "0.6";
    /// Ends a resource; its versions stay, and its count goes on if it is written again.
    "resource/delete" ResourceDelete(api::resource::DeleteResourceParams) -> api::resource::ResourceView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams, VersionConflict, Unsupported, StorageFull], "0.6";
    /// Lists the versions of a resource, newest first.
    "resource/history" ResourceHistory(api::resource::ResourceHistoryParams) -> api::resource::ResourcesResult,
        Read, OwnerOrOperator, Read, Safe, [NotFound, InvalidParams], "0.6";
    /// Lists what connectors offer, with what holds for each for whoever asks.
    "capability/list" CapabilityList(api::capability::ListCapabilitiesParams) -> api::capability::CapabilitiesResult,
        Read, Anyone, Read, Safe, [NotFound, InvalidParams], "0.6";
    /// Shows a capability with its schemas.
    "capability/get" CapabilityGet(api::capability::CapabilityParams) -> api::capability::CapabilityView,
        Read, Anyone, Read, Safe, [NotFound, Unavailable], "0.6";
    /// Finds capabilities by words.
    "capability/search" CapabilitySearch(api::capability::SearchCapabilitiesParams) -> api::capability::CapabilitiesResult,
        Read, Anyone, Read, Safe, [InvalidParams], "0.6";
    /// Calls a capability: leave first, then the intent, then the act, then what came of it.
    "capability/invoke" CapabilityInvoke(api::capability::InvokeParams) -> api::capability::InvocationView,
        Write, Anyone, Supervise, Again, [NotFound, InvalidParams, PolicyBlocked, VersionConflict, TooLarge, Unavailable, StorageFull, Unsupported], "0.6";
    /// Shows a call and what came of it.
    "capability/invocation.get" InvocationGet(api::capability::InvocationParams) -> api::capability::InvocationView,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Waits until a call is over.
    "capability/invocation.await" InvocationAwait(api::capability::AwaitInvocationParams) -> api::capability::InvocationView,
        Read, Anyone, Read, Safe, [NotFound], "0.6";
    /// Takes a call back; what its server did until then is not undone.
    "capability/invocation.cancel" InvocationCancel(api::capability::InvocationParams) -> api::capability::InvocationView,
        Write, Anyone, Supervise, Same, [NotFound], "0.6";
    /// Answers a call of what the calling agent offers; the first answer counts.
    "capability/invocation.complete" InvocationComplete(api::capability::CompleteInvocationParams) -> api::capability::InvocationView,
        Write, Anyone, Supervise, Again, [NotFound, PermissionDenied, InvalidParams, InvalidState, Fenced, TooLarge, StorageFull], "0.6";
    /// Has an agent offer a capability for as long as its epoch lives.
    "capability/register" CapabilityRegister(api::capability::RegisterCapabilityParams) -> api::capability::RegistrationView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, InvalidParams, InvalidState, QuotaExhausted, TooLarge, StorageFull], "0.6";
    /// Takes back what an agent offers; calls that run may still be answered.
    "capability/withdraw" CapabilityWithdraw(api::capability::WithdrawCapabilityParams) -> api::capability::RegistrationView,
        Write, OwnerOrOperator, Supervise, Same, [NotFound, StorageFull], "0.6";
    /// Tells what holds for a call, without making it.
    "capability/permission.evaluate" PermissionEvaluate(api::capability::CapabilityParams) -> api::capability::PermissionView,
        Read, Anyone, Read, Safe, [NotFound, Unavailable], "0.6";
    /// Decides about a call that waits for leave.
    "capability/permission.resolve" PermissionResolve(api::capability::ResolvePermissionParams) -> api::capability::InvocationView,
        Write, Operator, Approve, Same, [NotFound, InvalidState, Conflict, StorageFull], "0.6";

    /// Shows a request and what came of it as spans, read from the record.
    "observe/trace.get" TraceGet(api::trace::TraceParams) -> api::trace::Waterfall,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Says where a request's time went: the critical path, who answers for it, and one verdict.
    "observe/trace.explain" TraceExplain(api::trace::TraceParams) -> api::trace::Explanation,
        Read, OwnerOrOperator, Read, Safe, [NotFound], "0.5";
    /// Follows live what happens, in words; steps come as `observe/tap` notifications.
    "observe/tap.open" TapOpen(api::trace::TapParams) -> api::trace::TapResult,
        Read, Operator, Read, Safe, [NotFound, QuotaExhausted], "0.5";
    /// Ends a tap.
    "observe/tap.close" TapClose(api::stream::SubscriptionParams) -> Empty,
        Read, Operator, Read, Safe, [NotFound], "0.5";
    /// Recomputes every chain and every recording's digest.
    "evidence/audit.verify" AuditVerify(Empty) -> api::node::AuditResult,
        Read, Operator, Read, Safe, [], "0.1";
    /// Makes a signed pack of what the record says of an agent, a thread, a turn, a message or the node.
    "evidence/pack.export" PackExport(api::evidence::PackParams) -> api::evidence::PackResult,
        Write, Operator, Supervise, Again, [InvalidParams, NotFound, TooLarge, StorageFull], "0.5";
    /// Tells what is needed to run a turn again and to judge what comes of it.
    "evidence/replay.export" ReplayExport(api::evidence::CaseExportParams) -> api::evidence::CaseExportResult,
        Read, Operator, Read, Safe, [NotFound], "0.5";
    /// Lists what the record cannot show, and why.
    "evidence/gap.list" GapList(api::evidence::GapsParams) -> api::evidence::GapsResult,
        Read, Operator, Read, Safe, [NotFound], "0.5";
}
