//! Every kind of fact.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// Nearly every fact has a type of its own beside this table.
use super::*;
use crate::{
    ActionId, AgentId, AgentName, Authority, Continuity, Desired, Envelope, Epoch, Evidence, Generation,
    ItemId, MessageId, NodeName, OverrideId, OverrideKind, ProcessId, SafeLabel, SessionId, Tenant,
    Timestamp, TokenId, TurnId,
    decision::{Action, ActionOutcome, Verdict},
    identity::ProcessIdentity,
    life::ExitStatus,
    schedule::{MissReason, RunCause, SkipReason},
};

/// What happened. The serialized name is the event's `type`, the fields are its `payload`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload")]
#[expect(missing_docs, reason = "the fields repeat the glossary's nouns; units are in their names")]
pub enum Fact {
    /// The daemon began to serve.
    #[serde(rename = "node.started")]
    NodeStarted { name: NodeName, version: String, boot_id: String, pid: u32 },
    /// The daemon handed over in good order.
    #[serde(rename = "node.stopped")]
    NodeStopped { reason: String },
    /// A commit found no room; from here on what must not fail may stand in the reserve for a while.
    #[serde(rename = "node.storage_full")]
    NodeStorageFull { detail: String },
    /// The record grows again; so many events had waited in the reserve.
    #[serde(rename = "node.storage_resumed")]
    NodeStorageResumed { held_events: u64 },
    /// An operator's decision over agents is in force: the intent.
    #[serde(rename = "override.applied")]
    OverrideApplied(OverrideApplied),
    /// An operator's decision over agents is no more.
    #[serde(rename = "override.lifted")]
    OverrideLifted { override_id: OverrideId, reason: String },
    /// An agent became known.
    #[serde(rename = "agent.declared")]
    AgentDeclared {
        agent_id: AgentId,
        session_id: SessionId,
        tenant: Tenant,
        name: AgentName,
        generation: Generation,
        manifest_digest: String,
        desired: Desired,
        /// The set whose replica it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        set: Option<AgentId>,
        /// The agent whose child it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<AgentId>,
    },
    /// Its manifest changed.
    #[serde(rename = "agent.updated")]
    AgentUpdated { generation: Generation, manifest_digest: String },
    /// What it is meant to do changed. Outlives every restart.
    #[serde(rename = "agent.desired")]
    AgentDesired { desired: Desired, generation: Generation, reason: String },
    /// Its environment was prepared.
    #[serde(rename = "agent.installed")]
    AgentInstalled { generation: Generation, steps: u32 },
    /// Preparing its environment failed.
    #[serde(rename = "agent.install_failed")]
    AgentInstallFailed { generation: Generation, step: String, reason: String },
    /// An epoch is about to be brought up: the intent.
    #[serde(rename = "agent.starting")]
    AgentStarting { epoch: Epoch, cause: Cause },
    /// Its program runs.
    #[serde(rename = "agent.started")]
    AgentStarted {
        epoch: Epoch,
        process: ProcessIdentity,
        shim: ProcessIdentity,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cgroup: Option<String>,
        continuity: Continuity,
    },
    /// Its program could not be run.
    #[serde(rename = "agent.start_failed")]
    AgentStartFailed { epoch: Epoch, reason: String },
    /// A live shim was taken over by a new daemon.
    #[serde(rename = "agent.adopted")]
    AgentAdopted { epoch: Epoch, output_bytes: u64, frozen: bool },
    /// Its shim cannot be reached.
    #[serde(rename = "agent.unobservable")]
    AgentUnobservable { epoch: Epoch, reason: String },
    /// Its epoch ended and its tree is empty.
    #[serde(rename = "agent.exited")]
    AgentExited { epoch: Epoch, status: ExitStatus, output_bytes: u64, tree: TreeEvidence, ran_ms: u64 },
    /// It waits for its next start.
    #[serde(rename = "agent.backed_off")]
    AgentBackedOff { delay_ms: u64, restarts: u32 },
    /// It is not started again without a person.
    #[serde(rename = "agent.failed")]
    AgentFailed { reason: String },
    /// It was asked to end.
    #[serde(rename = "agent.stopping")]
    AgentStopping { epoch: Epoch, cause: Cause, signal: i32, grace_ms: u64 },
    /// It is ended, as it is meant to be.
    #[serde(rename = "agent.stopped")]
    AgentStopped {},
    /// It is suspended.
    #[serde(rename = "agent.frozen")]
    AgentFrozen { epoch: Epoch },
    /// It goes on.
    #[serde(rename = "agent.thawed")]
    AgentThawed { epoch: Epoch },
    /// Its tree could not be proven empty.
    #[serde(rename = "agent.quarantined")]
    AgentQuarantined { epoch: Epoch, reason: String },
    /// Its name is free again.
    #[serde(rename = "agent.retired")]
    AgentRetired { reason: String },
    /// It is to be retired together with what it owns; what that is was said and stands in the body store.
    #[serde(rename = "agent.removal_planned")]
    AgentRemovalPlanned { plan_digest: String, body_digest: String, body_bytes: u64 },
    /// What a retired agent owned is gone.
    #[serde(rename = "agent.removed")]
    AgentRemoved { recordings_bytes: u64, memory_keys: u64, messages: u64 },
    /// Overrides hold it from here on: the strongest of them does this to it. If it was under way, or was to be begun
    /// meanwhile, it goes on when none holds it any more.
    #[serde(rename = "agent.held")]
    AgentHeld { kind: OverrideKind, resumes: bool },
    /// No override holds it any more.
    #[serde(rename = "agent.let_go")]
    AgentLetGo {},
    /// One of its hooks ran.
    #[serde(rename = "agent.hook_ran")]
    AgentHookRan { hook: String, status: ExitStatus, took_ms: u64 },
    /// Its health changed.
    #[serde(rename = "agent.probed")]
    AgentProbed { healthy: bool, reason: String },
    /// A message is durable and will be delivered.
    #[serde(rename = "message.accepted")]
    MessageAccepted { envelope: Box<Envelope> },
    /// A message was written to its program, once.
    #[serde(rename = "message.injected")]
    MessageInjected { message_id: MessageId, epoch: Epoch, evidence: Evidence },
    /// The program acted on a message.
    #[serde(rename = "message.observed")]
    MessageObserved { message_id: MessageId, epoch: Epoch, evidence: Evidence },
    /// The turn that a message began has ended.
    #[serde(rename = "message.turn_ended")]
    MessageTurnEnded { message_id: MessageId, epoch: Epoch, evidence: Evidence },
    /// A message was refused after acceptance.
    #[serde(rename = "message.rejected")]
    MessageRejected { message_id: MessageId, reason: String },
    /// A message's time ran out.
    #[serde(rename = "message.expired")]
    MessageExpired { message_id: MessageId },
    /// A crash left unknown whether a message was injected.
    #[serde(rename = "message.ambiguous")]
    MessageAmbiguous { message_id: MessageId, epoch: Epoch, reason: String },
    /// A message that was given up waits once more. One of which a crash left unknown whether it was injected is
    /// delivered marked as a possible double.
    #[serde(rename = "message.requeued")]
    MessageRequeued { message_id: MessageId },
    /// A message to a set was handed to one of its replicas, where it waits from here on.
    #[serde(rename = "message.assigned")]
    MessageAssigned { message_id: MessageId, member: AgentId },
    /// A replica that cannot take a message gave it back to its set, where it waits again.
    #[serde(rename = "message.returned")]
    MessageReturned { message_id: MessageId, set: AgentId, reason: String },
    /// A message was given up.
    #[serde(rename = "message.dead_lettered")]
    MessageDeadLettered { message_id: MessageId, reason: String },
    /// A message that was given up is not wanted any more.
    #[serde(rename = "message.dropped")]
    MessageDropped { message_id: MessageId, reason: String },
    /// A waiting message goes before all others that wait for a turn's end.
    #[serde(rename = "message.promoted")]
    MessagePromoted { message_id: MessageId },
    /// An agent has a further session.
    #[serde(rename = "session.created")]
    SessionCreated(SessionCreated),
    /// A session takes no turns any more, and none of its threads does.
    #[serde(rename = "session.archived")]
    SessionArchived(SessionArchived),
    /// A session has a further thread, perhaps as a fork of another one.
    #[serde(rename = "thread.created")]
    ThreadCreated(ThreadCreated),
    /// A thread is called something else.
    #[serde(rename = "thread.updated")]
    ThreadUpdated(ThreadUpdated),
    /// A thread takes no turns any more.
    #[serde(rename = "thread.archived")]
    ThreadArchived(ThreadArchived),
    /// The last turns of a thread are no part of its history any more. They stay in the record.
    #[serde(rename = "thread.rolled_back")]
    ThreadRolledBack(ThreadRolledBack),
    /// What a thread begins with is a summary from here on. What it stands for stays in the record.
    #[serde(rename = "thread.compacted")]
    ThreadCompacted(ThreadCompacted),
    /// A running turn is to end: the intent, before its program is asked.
    #[serde(rename = "turn.interrupt_requested")]
    TurnInterruptRequested(InterruptRequested),
    /// An output is to be handed over.
    #[serde(rename = "delivery.created")]
    DeliveryCreated(DeliveryCreated),
    /// An output could not be handed over.
    #[serde(rename = "delivery.failed")]
    DeliveryFailed(DeliveryFailed),
    /// Who was to have an output says that they have it.
    #[serde(rename = "delivery.acknowledged")]
    DeliveryAcknowledged(DeliveryAcknowledged),
    /// A rule, or the lack of one, refused a request; `count` of the same kind within a second.
    #[serde(rename = "request.refused")]
    RequestRefused(RequestRefused),
    /// Rules are in force.
    #[serde(rename = "policy.loaded")]
    PolicyLoaded { digest: String, rules: u64, files: Vec<String> },
    /// Rules could not be read; those before stay in force.
    #[serde(rename = "policy.rejected")]
    PolicyRejected { file: String, problem: String },
    /// The node signs with this key from here on.
    #[serde(rename = "key.created")]
    KeyCreated { key_id: SafeLabel, public_key: String },
    /// The node does not sign with this key any more; what it signed stays valid.
    #[serde(rename = "key.retired")]
    KeyRetired { key_id: SafeLabel },
    /// A token was made.
    #[serde(rename = "token.created")]
    TokenCreated(Box<TokenCreated>),
    /// A token is worth nothing any more.
    #[serde(rename = "token.revoked")]
    TokenRevoked { token_id: TokenId, reason: String },
    /// A call that changes something was begun under a key: the intent. The key is known by its digest together with who
    /// used it for which method.
    #[serde(rename = "call.began")]
    CallBegan { method: String, key_digest: String, params_digest: String },
    /// A call under a key ended.
    #[serde(rename = "call.ended")]
    CallEnded { key_digest: String, end: CallEnd },
    /// A schedule is in force, or changed. What it says stands in the body store.
    #[serde(rename = "schedule.declared")]
    ScheduleDeclared { name: AgentName, spec_digest: String, spec_bytes: u64, in_manifest: bool },
    /// A schedule is no more.
    #[serde(rename = "schedule.removed")]
    ScheduleRemoved { name: AgentName, reason: String },
    /// A schedule does not run until it is resumed.
    #[serde(rename = "schedule.paused")]
    SchedulePaused { name: AgentName },
    /// A schedule runs again.
    #[serde(rename = "schedule.resumed")]
    ScheduleResumed { name: AgentName },
    /// A schedule came due and sent its message.
    #[serde(rename = "schedule.ran")]
    ScheduleRan { name: AgentName, due_at: Timestamp, message_id: MessageId, cause: RunCause },
    /// A schedule came due and sent nothing.
    #[serde(rename = "schedule.skipped")]
    ScheduleSkipped { name: AgentName, due_at: Timestamp, reason: SkipReason, detail: String },
    /// A schedule came due so many times, first and last at these, while nothing could be sent.
    #[serde(rename = "schedule.missed")]
    ScheduleMissed { name: AgentName, from: Timestamp, to: Timestamp, count: u64, reason: MissReason },
    /// Something waits for a person.
    #[serde(rename = "action.opened")]
    ActionOpened { action: Box<Action> },
    /// A person said what they think of it.
    #[serde(rename = "action.voted")]
    ActionVoted { action_id: ActionId, principal: SafeLabel, digest: String, verdict: Verdict },
    /// It is decided, once and for all.
    #[serde(rename = "action.resolved")]
    ActionResolved {
        action_id: ActionId,
        outcome: ActionOutcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<serde_json::Value>,
        by: Vec<SafeLabel>,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told_by: Option<MessageId>,
    },
    /// A program's session takes messages: a new one, or a former one that goes on. What the program said of itself
    /// stands in the body store.
    #[serde(rename = "session.opened")]
    SessionOpened {
        epoch: Epoch,
        native_id: String,
        continuity: Continuity,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<String>,
        #[serde(default)]
        resumable: bool,
        /// Whether it can be asked to close the session.
        #[serde(default)]
        closable: bool,
        details_digest: String,
        details_bytes: u64,
    },
    /// A program's session cannot come about in this epoch.
    #[serde(rename = "session.failed")]
    SessionFailed { epoch: Epoch, reason: String },
    /// An epoch is about to be ended as planned. By a protocol its program is told why and how long it has to save what
    /// it wants to keep; by the signal it only learns that it is to end.
    #[serde(rename = "session.closing")]
    SessionClosing { epoch: Epoch, reason: ClosingReason, told_by: ToldBy, grace_ms: u64 },
    /// A program that was told that its epoch ends has said that it is ready, or its time was over.
    #[serde(rename = "session.closed")]
    SessionClosed { epoch: Epoch, answered: bool },
    /// A turn ended. The authority is what its output weighs, by what the program had before it then. The outcome is
    /// the program's word for why it ended.
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        turn_id: TurnId,
        epoch: Epoch,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        output_digest: String,
        output_bytes: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authority: Option<Authority>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<SafeLabel>,
    },
    /// A piece of what happens in a turn: of a text, of a tool's use, of a plan. Pieces with the same id are one item.
    #[serde(rename = "item.updated")]
    ItemUpdated {
        epoch: Epoch,
        item_id: ItemId,
        kind: SafeLabel,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<SafeLabel>,
        body_digest: String,
        body_bytes: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authority: Option<Authority>,
    },
    /// What a turn or a session has used, as its program says it.
    #[serde(rename = "usage.reported")]
    UsageReported(UsageReported),
    /// The node wrote a file in an agent's folder because its program asked for it.
    #[serde(rename = "file.written")]
    FileWritten(FileWritten),
    /// A command runs inside the agent for its program. What is run, where and with which variables is a body.
    #[serde(rename = "command.started")]
    CommandStarted {
        process_id: ProcessId,
        epoch: Epoch,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        authority: Authority,
        details_digest: String,
        details_bytes: u64,
    },
    /// Something is to be written to a command.
    #[serde(rename = "command.input_accepted")]
    CommandInputAccepted(CommandInputAccepted),
    /// What became of something that was to be written to a command.
    #[serde(rename = "command.input_settled")]
    CommandInputSettled(CommandInputSettled),
    /// A command is to end because somebody asked for it: the intent.
    #[serde(rename = "command.terminating")]
    CommandTerminating { process_id: ProcessId, epoch: Epoch, grace_ms: u64, reason: String },
    /// A command has ended, or could not be run, or its end was not seen. Of its output the end is kept.
    #[serde(rename = "command.ended")]
    CommandEnded {
        process_id: ProcessId,
        epoch: Epoch,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        status: ExitStatus,
        output_digest: String,
        output_bytes: u64,
        written_bytes: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An agent said something outside the answer to a turn. The message is the one whose turn it belongs to.
    #[serde(rename = "item.reported")]
    ItemReported {
        epoch: Epoch,
        kind: SafeLabel,
        body_digest: String,
        body_bytes: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        authority: Option<Authority>,
    },
    /// An agent is handed an answer to its question, or a part of one, that weighs less than its own words may.
    #[serde(rename = "answer.heard")]
    AnswerHeard { epoch: Epoch, message_id: MessageId, authority: Authority },
    /// A task is written down.
    #[serde(rename = "task.created")]
    TaskCreated(Box<TaskCreated>),
    /// What is to be done in a task changed.
    #[serde(rename = "task.updated")]
    TaskUpdated(Box<TaskUpdated>),
    /// A task is in another state.
    #[serde(rename = "task.moved")]
    TaskMoved(TaskMoved),
    /// Whoever works on a task says how far it is.
    #[serde(rename = "task.progressed")]
    TaskProgressed(TaskProgressed),
    /// A task is to be ended: the intent.
    #[serde(rename = "task.cancel_requested")]
    TaskCancelRequested(TaskCancelRequested),
    /// A task is joined to another one, or to what an address names.
    #[serde(rename = "task.linked")]
    TaskLinked(TaskLinked),
    /// An edge of a task is no more.
    #[serde(rename = "task.unlinked")]
    TaskUnlinked(TaskUnlinked),
    /// A run of a task is admitted: the intent.
    #[serde(rename = "run.started")]
    RunStarted(RunStarted),
    /// The program of a run works on it.
    #[serde(rename = "run.begun")]
    RunBegun(RunBegun),
    /// A run has ended.
    #[serde(rename = "run.ended")]
    RunEnded(RunEnded),
    /// A task is a job.
    #[serde(rename = "job.created")]
    JobCreated(Box<JobCreated>),
    /// Whoever holds an item of a job says what came of it.
    #[serde(rename = "job_item.reported")]
    JobItemReported(JobItemReported),
    /// A benchmark trial begins.
    #[serde(rename = "benchmark.trial_started")]
    TrialStarted(Box<TrialStarted>),
    /// A benchmark trial has ended.
    #[serde(rename = "benchmark.trial_ended")]
    TrialEnded(TrialEnded),
    /// Somebody says what a benchmark trial is worth.
    #[serde(rename = "benchmark.reward_recorded")]
    RewardRecorded(Box<RewardRecorded>),
    /// Benchmark trials were compared.
    #[serde(rename = "benchmark.compared")]
    TrialsCompared(Box<TrialsCompared>),
    /// An agent has a further child: the intent.
    #[serde(rename = "subagent.spawned")]
    SubagentSpawned(Box<SubagentSpawned>),
    /// A child of an agent is somewhere else than before.
    #[serde(rename = "subagent.moved")]
    SubagentMoved(SubagentMoved),
    /// A child of an agent has a further message.
    #[serde(rename = "subagent.input")]
    SubagentInput(SubagentInput),
    /// A child of an agent is to be ended and retired: the intent.
    #[serde(rename = "subagent.closing")]
    SubagentClosing(SubagentClosing),
    /// A child of an agent is retired.
    #[serde(rename = "subagent.closed")]
    SubagentClosed(SubagentClosed),
    /// A call of a capability is asked for, and what holds for it was found out.
    #[serde(rename = "invocation.requested")]
    InvocationRequested(Box<InvocationRequested>),
    /// An invocation is about to be made: the intent.
    #[serde(rename = "invocation.begun")]
    InvocationBegun(InvocationBegun),
    /// The server of an invocation asks something of a person.
    #[serde(rename = "invocation.asked")]
    InvocationAsked(InvocationAsked),
    /// The server of an invocation says how far it is.
    #[serde(rename = "invocation.progressed")]
    InvocationProgressed(InvocationProgressed),
    /// An invocation is over.
    #[serde(rename = "invocation.ended")]
    InvocationEnded(InvocationEnded),
    /// An agent offers a capability, or another one by this name than before.
    #[serde(rename = "capability.registered")]
    CapabilityRegistered(Box<CapabilityRegistered>),
    /// An agent offers a capability no more.
    #[serde(rename = "capability.withdrawn")]
    CapabilityWithdrawn(CapabilityWithdrawn),
    /// What an agent offers is called: recorded together with the beginning of the call.
    #[serde(rename = "capability.called")]
    CapabilityCalled(CapabilityCalled),
    /// A call of what an agent offers is over: recorded together with its end.
    #[serde(rename = "capability.settled")]
    CapabilitySettled(CapabilitySettled),
    /// A hook is about to be asked about a call.
    #[serde(rename = "hook.started")]
    HookStarted(HookStarted),
    /// A hook has answered.
    #[serde(rename = "hook.completed")]
    HookCompleted(HookCompleted),
    /// A hook did not answer as it should.
    #[serde(rename = "hook.failed")]
    HookFailed(HookFailed),
    /// A folder is known as a workspace.
    #[serde(rename = "workspace.created")]
    WorkspaceCreated(WorkspaceCreated),
    /// A workspace is known no more.
    #[serde(rename = "workspace.deleted")]
    WorkspaceDeleted(WorkspaceDeleted),
    /// The state of a workspace is to be kept: the intent.
    #[serde(rename = "checkpoint.started")]
    CheckpointStarted(CheckpointStarted),
    /// The state of a workspace is kept.
    #[serde(rename = "checkpoint.created")]
    CheckpointCreated(Box<CheckpointCreated>),
    /// A state was not kept.
    #[serde(rename = "checkpoint.failed")]
    CheckpointFailed(CheckpointFailed),
    /// A kept state is named no more.
    #[serde(rename = "checkpoint.deleted")]
    CheckpointDeleted(CheckpointDeleted),
    /// A workspace is to be brought back to a checkpoint: the intent.
    #[serde(rename = "checkpoint.restore_started")]
    RestoreStarted(RestoreStarted),
    /// A workspace was brought back to a checkpoint.
    #[serde(rename = "checkpoint.restored")]
    RestoreEnded(RestoreEnded),
    /// A workspace was not brought back, or not in full.
    #[serde(rename = "checkpoint.restore_failed")]
    RestoreFailed(RestoreFailed),
    /// A file of a workspace is to be changed: the intent.
    #[serde(rename = "file.change_begun")]
    FileChangeBegun(Box<FileChangeBegun>),
    /// What became of a change of a file.
    #[serde(rename = "file.change_ended")]
    FileChangeEnded(FileChangeEnded),
    /// Somebody waits for a lock on paths of a workspace.
    #[serde(rename = "lock.waiting")]
    LockWaiting(LockWaiting),
    /// Somebody has a lock, or has it for longer.
    #[serde(rename = "lock.acquired")]
    LockAcquired(LockAcquired),
    /// Something was not done because somebody else has a lock.
    #[serde(rename = "lock.refused")]
    LockRefused(LockRefused),
    /// A lock is no more.
    #[serde(rename = "lock.released")]
    LockReleased(LockReleased),
    /// Bytes are kept in a workspace under their digest.
    #[serde(rename = "blob.put")]
    BlobPut(BlobPut),
    /// Nobody referred to a blob any more, and its time was over.
    #[serde(rename = "blob.removed")]
    BlobRemoved(BlobRemoved),
    /// A workspace is bound to a run or an agent.
    #[serde(rename = "binding.attached")]
    BindingAttached(BindingAttached),
    /// A binding is over.
    #[serde(rename = "binding.detached")]
    BindingDetached(BindingDetached),
    /// A key of an agent's memory was written.
    #[serde(rename = "memory.put")]
    MemoryPut(MemoryPut),
    /// A key of an agent's memory was removed.
    #[serde(rename = "memory.deleted")]
    MemoryDeleted { key: String, version: u64 },
    /// An automation fires: the intent, before anything is done.
    #[serde(rename = "automation.fired")]
    AutomationFired(Box<AutomationFired>),
    /// What came of a firing.
    #[serde(rename = "automation.ended")]
    AutomationEnded(AutomationEnded),
    /// An automation did not fire.
    #[serde(rename = "automation.skipped")]
    AutomationSkipped(AutomationSkipped),
    /// A resource has a new version.
    #[serde(rename = "resource.put")]
    ResourcePut(ResourcePut),
    /// A resource is no more.
    #[serde(rename = "resource.deleted")]
    ResourceDeleted(ResourceDeleted),
    /// Texts were chosen for somebody, and others were not.
    #[serde(rename = "context.resolved")]
    ContextResolved(Box<ContextResolved>),
    /// A version of an artifact is published.
    #[serde(rename = "artifact.published")]
    ArtifactPublished(Box<ArtifactPublished>),
    /// An artifact ends with all its versions.
    #[serde(rename = "artifact.deleted")]
    ArtifactDeleted(ArtifactDeleted),
    /// Somebody began to watch or to control.
    #[serde(rename = "attach.opened")]
    AttachOpened { attachment: String, control: bool, epoch: Epoch, takeover: bool },
    /// They left, or were made to.
    #[serde(rename = "attach.closed")]
    AttachClosed { attachment: String, reason: String },
    /// A segment of a recording is complete and on stable storage.
    #[serde(rename = "recording.sealed")]
    RecordingSealed {
        epoch: Epoch,
        segment: u32,
        from_offset: u64,
        to_offset: u64,
        file_bytes: u64,
        digest: String,
    },
    /// Old segments of a recording are let go.
    #[serde(rename = "recording.pruned")]
    RecordingPruned { epoch: Epoch, through_segment: u32, file_bytes: u64, reason: String },
    /// Output could not be recorded.
    #[serde(rename = "recording.gap")]
    RecordingGap { epoch: Epoch, from_offset: u64, to_offset: u64, reason: String },
}
