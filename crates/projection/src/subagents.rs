//! The children of one agent, as its own stream tells of them.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, Event, Fact, MessageId, SessionId, StreamName, SubagentStatus, TaskId, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fold::SHOWN_MAX;

/// A child as far as it is known.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Child {
    pub(crate) name: String,
    pub(crate) session: SessionId,
    pub(crate) task: Option<TaskId>,
    pub(crate) status: SubagentStatus,
    reason: String,
    message: Option<MessageId>,
    is_closed: bool,
    changed: Timestamp,
}

impl Child {
    fn view(&self, id: AgentId) -> Value {
        let mut view = json!({
            "subagentId": id,
            "name": self.name,
            "sessionId": self.session,
            "threadId": edgeplane_types::ThreadId::from_bytes(*self.session.as_bytes()),
            "status": self.status,
            "statusReason": self.reason,
            "closed": self.is_closed,
            "updatedAt": self.changed,
        });
        let Some(object) = view.as_object_mut() else { return view };
        if let Some(task) = self.task {
            object.insert("taskId".to_owned(), json!(task));
        }
        if let Some(message) = self.message {
            object.insert("lastMessageRef".to_owned(), json!(message));
        }
        view
    }
}

/// The children of one agent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Children {
    agent: Option<AgentId>,
    all: BTreeMap<AgentId, Child>,
}

/// The child that a fact of its parent is about.
pub(crate) fn child_of(fact: &Fact) -> Option<AgentId> {
    match fact {
        Fact::SubagentSpawned(spawned) => Some(spawned.subagent_id),
        Fact::SubagentMoved(moved) => Some(moved.subagent_id),
        Fact::SubagentInput(input) => Some(input.subagent_id),
        Fact::SubagentClosing(closing) => Some(closing.subagent_id),
        Fact::SubagentClosed(closed) => Some(closed.subagent_id),
        _ => None,
    }
}

impl Children {
    pub(crate) fn new(agent: Option<AgentId>) -> Self {
        Self { agent, all: BTreeMap::new() }
    }

    pub(crate) fn get(&self, id: AgentId) -> Option<&Child> {
        self.all.get(&id)
    }

    /// Takes an event in; gives the child that it is about, if that is one of the agent's.
    pub(crate) fn follow(&mut self, event: &Event) -> Option<AgentId> {
        let (StreamName::Agent(of), Some(agent)) = (event.stream, self.agent) else { return None };
        let id = child_of(&event.fact).filter(|_| of == agent)?;
        if let Fact::SubagentSpawned(spawned) = &event.fact {
            let child = Child {
                name: spawned.name.to_string(),
                session: spawned.session_id,
                task: spawned.task_id,
                status: SubagentStatus::Queued,
                reason: String::new(),
                message: None,
                is_closed: false,
                changed: event.ts,
            };
            self.all.insert(id, child);
            return Some(id);
        }
        let child = self.all.get_mut(&id)?;
        child.changed = event.ts;
        match &event.fact {
            Fact::SubagentMoved(moved) => {
                child.status = moved.status;
                child.reason.clone_from(&moved.reason);
            }
            Fact::SubagentInput(input) => child.message = Some(input.message_id),
            Fact::SubagentClosing(closing) => child.reason.clone_from(&closing.reason),
            Fact::SubagentClosed(closed) => {
                (child.status, child.is_closed) = (closed.outcome, true);
                child.reason.clone_from(&closed.reason);
            }
            _ => {}
        }
        Some(id)
    }

    /// The newest children, how many there are of each status, and how many are not shown.
    pub(crate) fn shown(&self) -> (Vec<Value>, Value) {
        let mut newest: Vec<_> = self.all.iter().collect();
        newest.sort_by_key(|(id, child)| (std::cmp::Reverse(child.changed), **id));
        let shown = newest.iter().take(SHOWN_MAX).map(|(id, child)| child.view(**id)).collect();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for child in self.all.values() {
            *counts.entry(child.status.as_str()).or_default() += 1;
        }
        let status = if self.all.is_empty() { "not_applicable" } else { "recorded" };
        let more = self.all.len().saturating_sub(SHOWN_MAX);
        (shown, json!({ "status": status, "subagents": self.all.len(), "byStatus": counts, "more": more }))
    }
}
