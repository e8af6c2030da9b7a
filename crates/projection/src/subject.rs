//! What a fold is given: an event with its place, and whom it folds for.

use edgeplane_types::{AgentId, Event, MessageId, NodeId, SessionId, StreamName, TaskId, ThreadId, TurnId};
use edgeplane_wire::api::stream::{Target, TargetKind};

/// An event with its place in the record.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Its place on the node.
    pub pos: u64,
    /// Its hash, lower-case hexadecimal.
    pub hash: &'a str,
    /// The event.
    pub event: &'a Event,
}

/// Whom a projection is made for. Resolved by the node before a fold is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// As the reader named it.
    pub target: Target,
    /// This node: the runtime of what is exported.
    pub node: Option<NodeId>,
    /// The agent whose stream is folded; none for the whole node.
    pub agent: Option<AgentId>,
    /// Its session, where that is known. Else it is learned from the agent's declaration.
    pub session: Option<SessionId>,
    /// The thread that is asked for.
    pub thread: Option<ThreadId>,
    /// The message whose turn is asked for.
    pub turn: Option<MessageId>,
    /// The trace that is asked for, as 32 hexadecimal digits.
    pub trace: Option<String>,
    /// The task at the root of the graph that is folded.
    pub task: Option<TaskId>,
    /// The task that is asked for, if only one of the graph is.
    pub part: Option<TaskId>,
    /// Whether what was recorded of the agent's tasks is folded together with its own stream.
    pub work: bool,
}

impl Subject {
    /// Whether events are counted by their place on the node, not by their number in one agent's stream.
    #[must_use]
    pub fn is_node(&self) -> bool {
        matches!(self.target.kind, TargetKind::Node | TargetKind::Trace)
    }

    /// The number by which the source's position is told: `pos` on the node where several streams are folded, else the
    /// number in the stream.
    #[must_use]
    pub fn source(&self, input: &Input<'_>) -> u64 {
        if self.is_node() || self.work { input.pos } else { input.event.seq }
    }

    /// Whether an event belongs to what is folded: that of another stream changes nothing.
    pub(crate) fn covers(&self, input: &Input<'_>) -> bool {
        match (input.event.stream, self.agent) {
            _ if self.is_node() => true,
            (StreamName::Agent(of), Some(agent)) => of == agent,
            (StreamName::Task(_), Some(_)) => self.work,
            (StreamName::Task(root), None) => self.task == Some(root),
            _ => false,
        }
    }
}

/// The first thread of a session: it has the session's UUID.
#[must_use]
pub fn main_thread(session: SessionId) -> ThreadId {
    ThreadId::from_bytes(*session.as_bytes())
}

/// The turn that a message begins: it has the message's UUID.
#[must_use]
pub fn turn_of(message: MessageId) -> TurnId {
    TurnId::from_bytes(*message.as_bytes())
}
