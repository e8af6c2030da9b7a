//! Which message or task a fact is about.

use super::{Fact, FileWritten, UsageReported};
use crate::{MessageId, TaskId};

impl Fact {
    /// The message that it is about, or in whose turn it happened.
    #[must_use]
    pub fn message_id(&self) -> Option<MessageId> {
        match self {
            Self::MessageAccepted { envelope } => Some(envelope.id),
            Self::MessageInjected { message_id, .. }
            | Self::MessageObserved { message_id, .. }
            | Self::MessageTurnEnded { message_id, .. }
            | Self::MessageRejected { message_id, .. }
            | Self::MessageExpired { message_id }
            | Self::MessageAmbiguous { message_id, .. }
            | Self::MessageRequeued { message_id }
            | Self::MessageAssigned { message_id, .. }
            | Self::MessageReturned { message_id, .. }
            | Self::MessageDeadLettered { message_id, .. }
            | Self::MessageDropped { message_id, .. }
            | Self::AnswerHeard { message_id, .. } => Some(*message_id),
            Self::TurnCompleted { message_id, .. }
            | Self::ItemUpdated { message_id, .. }
            | Self::ItemReported { message_id, .. }
            | Self::UsageReported(UsageReported { message_id, .. })
            | Self::FileWritten(FileWritten { message_id, .. })
            | Self::CommandStarted { message_id, .. }
            | Self::CommandEnded { message_id, .. } => *message_id,
            Self::ActionOpened { action } => action.causation,
            Self::ContextResolved(resolved) => resolved.message_id,
            _ => None,
        }
    }

    /// The task that it is about.
    #[must_use]
    pub fn task_id(&self) -> Option<TaskId> {
        match self {
            Self::TaskCreated(created) => Some(created.task_id),
            Self::TaskUpdated(updated) => Some(updated.task_id),
            Self::TaskMoved(moved) => Some(moved.task_id),
            Self::TaskProgressed(progressed) => Some(progressed.task_id),
            Self::TaskCancelRequested(asked) => Some(asked.task_id),
            Self::TaskLinked(linked) => Some(linked.task_id),
            Self::TaskUnlinked(unlinked) => Some(unlinked.task_id),
            Self::RunStarted(started) => Some(started.task_id),
            Self::RunBegun(begun) => Some(begun.task_id),
            Self::RunEnded(ended) => Some(ended.task_id),
            Self::JobCreated(created) => Some(created.task_id),
            Self::JobItemReported(reported) => Some(reported.task_id),
            Self::TrialStarted(started) => Some(started.task_id),
            Self::TrialEnded(ended) => Some(ended.task_id),
            Self::RewardRecorded(reward) => Some(reward.task_id),
            Self::TrialsCompared(compared) => Some(compared.task_id),
            _ => None,
        }
    }
}
