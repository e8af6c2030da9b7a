//! What each fact is called: the event's `type`.

use super::Fact;

macro_rules! names {
    ($($variant:ident => $name:literal,)+) => {
        impl Fact {
            /// The event's type, such as `agent.started`.
            #[must_use]
            pub fn type_name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)+
                }
            }
        }
    };
}

impl Fact {
    /// Whether it is a piece of what a program says or does, of which there may be thousands a second: nothing is
    /// decided by it.
    #[must_use]
    pub fn is_piece(&self) -> bool {
        matches!(self, Self::ItemReported { .. } | Self::ItemUpdated { .. } | Self::UsageReported { .. })
    }
}

names! {
    NodeStarted => "node.started",
    NodeStopped => "node.stopped",
    NodeStorageFull => "node.storage_full",
    NodeStorageResumed => "node.storage_resumed",
    OverrideApplied => "override.applied",
    OverrideLifted => "override.lifted",
    AgentDeclared => "agent.declared",
    AgentUpdated => "agent.updated",
    AgentDesired => "agent.desired",
    AgentInstalled => "agent.installed",
    AgentInstallFailed => "agent.install_failed",
    AgentStarting => "agent.starting",
    AgentStarted => "agent.started",
    AgentStartFailed => "agent.start_failed",
    AgentAdopted => "agent.adopted",
    AgentUnobservable => "agent.unobservable",
    AgentExited => "agent.exited",
    AgentBackedOff => "agent.backed_off",
    AgentFailed => "agent.failed",
    AgentStopping => "agent.stopping",
    AgentStopped => "agent.stopped",
    AgentFrozen => "agent.frozen",
    AgentThawed => "agent.thawed",
    AgentQuarantined => "agent.quarantined",
    AgentRetired => "agent.retired",
    AgentRemovalPlanned => "agent.removal_planned",
    AgentRemoved => "agent.removed",
    AgentHeld => "agent.held",
    AgentLetGo => "agent.let_go",
    AgentHookRan => "agent.hook_ran",
    AgentProbed => "agent.probed",
    MessageAccepted => "message.accepted",
    MessageInjected => "message.injected",
    MessageObserved => "message.observed",
    MessageTurnEnded => "message.turn_ended",
    MessageRejected => "message.rejected",
    MessageExpired => "message.expired",
    MessageAmbiguous => "message.ambiguous",
    MessageRequeued => "message.requeued",
    MessageDeadLettered => "message.dead_lettered",
    MessageAssigned => "message.assigned",
    MessageReturned => "message.returned",
    MessageDropped => "message.dropped",
    MessagePromoted => "message.promoted",
    SessionCreated => "session.created",
    SessionArchived => "session.archived",
    ThreadCreated => "thread.created",
    ThreadUpdated => "thread.updated",
    ThreadArchived => "thread.archived",
    ThreadRolledBack => "thread.rolled_back",
    TurnInterruptRequested => "turn.interrupt_requested",
    DeliveryCreated => "delivery.created",
    DeliveryFailed => "delivery.failed",
    DeliveryAcknowledged => "delivery.acknowledged",
    RequestRefused => "request.refused",
    PolicyLoaded => "policy.loaded",
    PolicyRejected => "policy.rejected",
    KeyCreated => "key.created",
    KeyRetired => "key.retired",
    TokenCreated => "token.created",
    TokenRevoked => "token.revoked",
    CallBegan => "call.began",
    CallEnded => "call.ended",
    ScheduleDeclared => "schedule.declared",
    ScheduleRemoved => "schedule.removed",
    SchedulePaused => "schedule.paused",
    ScheduleResumed => "schedule.resumed",
    ScheduleRan => "schedule.ran",
    ScheduleSkipped => "schedule.skipped",
    ScheduleMissed => "schedule.missed",
    ActionOpened => "action.opened",
    ActionVoted => "action.voted",
    ActionResolved => "action.resolved",
    TurnCompleted => "turn.completed",
    ItemReported => "item.reported",
    ItemUpdated => "item.updated",
    UsageReported => "usage.reported",
    FileWritten => "file.written",
    CommandStarted => "command.started",
    CommandInputAccepted => "command.input_accepted",
    CommandInputSettled => "command.input_settled",
    CommandTerminating => "command.terminating",
    CommandEnded => "command.ended",
    SessionOpened => "session.opened",
    SessionFailed => "session.failed",
    SessionClosing => "session.closing",
    SessionClosed => "session.closed",
    AnswerHeard => "answer.heard",
    TaskCreated => "task.created",
    TaskUpdated => "task.updated",
    TaskMoved => "task.moved",
    TaskProgressed => "task.progressed",
    TaskCancelRequested => "task.cancel_requested",
    TaskLinked => "task.linked",
    TaskUnlinked => "task.unlinked",
    RunStarted => "run.started",
    RunBegun => "run.begun",
    RunEnded => "run.ended",
    JobCreated => "job.created",
    JobItemReported => "job_item.reported",
    InvocationRequested => "invocation.requested",
    InvocationBegun => "invocation.begun",
    InvocationEnded => "invocation.ended",
    MemoryPut => "memory.put",
    MemoryDeleted => "memory.deleted",
    ResourcePut => "resource.put",
    ResourceDeleted => "resource.deleted",
    AttachOpened => "attach.opened",
    AttachClosed => "attach.closed",
    RecordingSealed => "recording.sealed",
    RecordingPruned => "recording.pruned",
    RecordingGap => "recording.gap",
}
