//! What a token must allow so that its bearer may call a method.
//!
//! Owns one table, whole by construction: a method that is not in it does not compile. It only ever takes away: what
//! a caller may do at all, the catalogue and the methods decide besides.

use edgeplane_types::Scope;
use edgeplane_wire::{api::terminal::AttachParams, catalogue::Request};

/// What a token needs for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: greeting the node and asking what it serves.
    Nothing,
    /// This scope.
    Scope(Scope),
    /// No token is enough: only an operator whom the kernel vouches for may.
    Uid,
}

/// What a token needs for a request.
#[expect(clippy::too_many_lines, reason = "one row a method, so that none is forgotten")]
pub(crate) fn need(request: &Request) -> Need {
    match request {
        Request::CoreInitialize(_) | Request::CoreDescribe(_) | Request::CoreHealth(_) => Need::Nothing,
        Request::NodeStop(_)
        | Request::TokenCreate(_)
        | Request::TokenRevoke(_)
        | Request::KeyRotate(_)
        | Request::RuleReload(_) => Need::Uid,
        Request::AgentSignal(_)
        | Request::MessageSubmit(_)
        | Request::TopicPublish(_)
        | Request::AgentBroadcast(_)
        | Request::AgentAsk(_) => Need::Scope(Scope::Signal),
        Request::AgentWrite(_) | Request::AgentAttach(AttachParams { control: true, .. }) => {
            Need::Scope(Scope::Control)
        }
        Request::AgentAttach(_)
        | Request::AgentDetach(_)
        | Request::AgentResize(_)
        | Request::AgentSnapshot(_)
        | Request::AdapterCheck(_)
        | Request::RecordingRead(_) => Need::Scope(Scope::Attach),
        Request::ActionDecide(_) => Need::Scope(Scope::Approve),
        Request::AgentApply(_)
        | Request::AgentInstall(_)
        | Request::AgentStart(_)
        | Request::AgentStop(_)
        | Request::AgentRestart(_)
        | Request::AgentFreeze(_)
        | Request::AgentUnfreeze(_)
        | Request::AgentHibernate(_)
        | Request::AgentRetire(_)
        | Request::RetirementPerform(_)
        | Request::AgentRelease(_)
        | Request::DeadLetterReplay(_)
        | Request::DeadLetterDrop(_)
        | Request::ActionOpen(_)
        | Request::ActionCancel(_)
        | Request::ScheduleRun(_)
        | Request::SchedulePause(_)
        | Request::ScheduleResume(_)
        | Request::ScheduleRemove(_)
        | Request::MemoryPut(_)
        | Request::MemoryDelete(_)
        | Request::ItemReport(_)
        | Request::StatusReport(_)
        | Request::HookReport(_) => Need::Scope(Scope::Supervise),
        Request::NodeStatus(_)
        | Request::AgentList(_)
        | Request::AgentGet(_)
        | Request::RetirementPlan(_)
        | Request::AgentWait(_)
        | Request::EpochList(_)
        | Request::InboxList(_)
        | Request::MessageGet(_)
        | Request::MessageVerify(_)
        | Request::MessageSign(_)
        | Request::DeadLetterList(_)
        | Request::ActionList(_)
        | Request::ActionGet(_)
        | Request::ScheduleList(_)
        | Request::ScheduleHistory(_)
        | Request::RuleList(_)
        | Request::AdapterList(_)
        | Request::DecisionExplain(_)
        | Request::RuleCheck(_)
        | Request::TokenList(_)
        | Request::TokenEpoch(_)
        | Request::KeyList(_)
        | Request::MemoryGet(_)
        | Request::MemoryList(_)
        | Request::MemoryHistory(_)
        | Request::StreamRead(_)
        | Request::StreamSubscribe(_)
        | Request::StreamUnsubscribe(_)
        | Request::TranscriptRead(_)
        | Request::AuditVerify(_) => Need::Scope(Scope::Read),
    }
}

#[cfg(test)]
#[path = "scopes/tests.rs"]
mod tests;
