//! What each fact is called: the event's `type`.

use super::Fact;

impl Fact {
    /// Whether it is a piece of what a program says or does, of which there may be thousands a second: nothing is
    /// decided by it.
    #[must_use]
    pub fn is_piece(&self) -> bool {
        matches!(self, Self::ItemReported { .. } | Self::ItemUpdated { .. } | Self::UsageReported { .. })
    }

    /// The event's type, such as `agent.started`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::NodeStarted { .. } => "node.started",
            Self::NodeStopped { .. } => "node.stopped",
            Self::NodeStorageFull { .. } => "node.storage_full",
            Self::NodeStorageResumed { .. } => "node.storage_resumed",
            Self::AgentDeclared { .. } => "agent.declared",
            Self::AgentUpdated { .. } => "agent.updated",
            Self::AgentDesired { .. } => "agent.desired",
            Self::AgentInstalled { .. } => "agent.installed",
            Self::AgentInstallFailed { .. } => "agent.install_failed",
            Self::AgentStarting { .. } => "agent.starting",
            Self::AgentStarted { .. } => "agent.started",
            Self::AgentStartFailed { .. } => "agent.start_failed",
            Self::AgentAdopted { .. } => "agent.adopted",
            Self::AgentUnobservable { .. } => "agent.unobservable",
            Self::AgentExited { .. } => "agent.exited",
            Self::AgentBackedOff { .. } => "agent.backed_off",
            Self::AgentFailed { .. } => "agent.failed",
            Self::AgentStopping { .. } => "agent.stopping",
            Self::AgentStopped {} => "agent.stopped",
            Self::AgentFrozen { .. } => "agent.frozen",
            Self::AgentThawed { .. } => "agent.thawed",
            Self::AgentQuarantined { .. } => "agent.quarantined",
            Self::AgentRetired { .. } => "agent.retired",
            Self::AgentHookRan { .. } => "agent.hook_ran",
            Self::AgentProbed { .. } => "agent.probed",
            Self::MessageAccepted { .. } => "message.accepted",
            Self::MessageInjected { .. } => "message.injected",
            Self::MessageObserved { .. } => "message.observed",
            Self::MessageTurnEnded { .. } => "message.turn_ended",
            Self::MessageRejected { .. } => "message.rejected",
            Self::MessageExpired { .. } => "message.expired",
            Self::MessageAmbiguous { .. } => "message.ambiguous",
            Self::MessageRequeued { .. } => "message.requeued",
            Self::MessageDeadLettered { .. } => "message.dead_lettered",
            Self::MessageDropped { .. } => "message.dropped",
            Self::RequestRefused { .. } => "request.refused",
            Self::PolicyLoaded { .. } => "policy.loaded",
            Self::PolicyRejected { .. } => "policy.rejected",
            Self::KeyCreated { .. } => "key.created",
            Self::KeyRetired { .. } => "key.retired",
            Self::TokenCreated { .. } => "token.created",
            Self::TokenRevoked { .. } => "token.revoked",
            Self::ScheduleDeclared { .. } => "schedule.declared",
            Self::ScheduleRemoved { .. } => "schedule.removed",
            Self::SchedulePaused { .. } => "schedule.paused",
            Self::ScheduleResumed { .. } => "schedule.resumed",
            Self::ScheduleRan { .. } => "schedule.ran",
            Self::ScheduleSkipped { .. } => "schedule.skipped",
            Self::ScheduleMissed { .. } => "schedule.missed",
            Self::ActionOpened { .. } => "action.opened",
            Self::ActionVoted { .. } => "action.voted",
            Self::ActionResolved { .. } => "action.resolved",
            Self::TurnCompleted { .. } => "turn.completed",
            Self::ItemReported { .. } => "item.reported",
            Self::ItemUpdated { .. } => "item.updated",
            Self::UsageReported { .. } => "usage.reported",
            Self::FileWritten { .. } => "file.written",
            Self::CommandStarted { .. } => "command.started",
            Self::CommandEnded { .. } => "command.ended",
            Self::SessionOpened { .. } => "session.opened",
            Self::SessionFailed { .. } => "session.failed",
            Self::AnswerHeard { .. } => "answer.heard",
            Self::MemoryPut { .. } => "memory.put",
            Self::MemoryDeleted { .. } => "memory.deleted",
            Self::AttachOpened { .. } => "attach.opened",
            Self::AttachClosed { .. } => "attach.closed",
            Self::RecordingSealed { .. } => "recording.sealed",
            Self::RecordingPruned { .. } => "recording.pruned",
            Self::RecordingGap { .. } => "recording.gap",
        }
    }
}
