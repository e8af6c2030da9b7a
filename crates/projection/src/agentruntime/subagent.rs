//! The children of an agent in the standard's words.

use edgeplane_types::{AgentId, Fact, SubagentStatus, ThreadId};

use super::{event::Draft, export::Telling, names};
use crate::{fold::Step, json::Object};

impl Telling<'_> {
    /// What is told of an event of a child.
    pub(super) fn subagent(&self, step: &mut Step<'_>, id: AgentId) {
        let because = Object::new().put("because", step.fact().type_name());
        match step.fact() {
            Fact::SubagentSpawned(spawned) => {
                let thread = ThreadId::from_bytes(*spawned.session_id.as_bytes());
                let payload = because
                    .put("name", &spawned.name)
                    .put("childSessionId", &spawned.session_id)
                    .put("childThreadId", &thread)
                    .put("isolation", &spawned.isolation)
                    .put("onParentExit", &spawned.on_parent_exit)
                    .put("requestedBy", &step.event().actor);
                self.of_child(step, names::SUBAGENT_SPAWNED, id).say(step, payload);
            }
            Fact::SubagentMoved(moved) => {
                let kind = match moved.status {
                    SubagentStatus::Completed => names::SUBAGENT_COMPLETED,
                    SubagentStatus::Failed => names::SUBAGENT_FAILED,
                    SubagentStatus::Queued
                    | SubagentStatus::Running
                    | SubagentStatus::Blocked
                    | SubagentStatus::Cancelled
                    | SubagentStatus::Closed => names::SUBAGENT_STATUS,
                };
                self.of_child(step, kind, id).slot("statusReason", &moved.reason).say(step, because);
            }
            Fact::SubagentInput(input) => {
                let payload = because.put("messageRef", &input.message_id);
                self.of_child(step, names::SUBAGENT_INPUT, id).say(step, payload);
            }
            Fact::SubagentClosing(closing) => {
                let payload = because.put("outcome", &closing.outcome).put("closing", &true);
                let draft = self.of_child(step, names::SUBAGENT_STATUS, id);
                draft.slot("statusReason", &closing.reason).say(step, payload);
            }
            Fact::SubagentClosed(closed) => {
                let draft = self.of_child(step, names::SUBAGENT_CLOSED, id);
                let payload = because.put("outcome", &closed.outcome);
                draft.slot("statusReason", &closed.reason).say(step, payload);
            }
            _ => {}
        }
    }

    /// An event of a child, with what is known of it. It belongs to the first thread of its parent.
    fn of_child(&self, step: &Step<'_>, kind: &'static str, id: AgentId) -> Draft {
        let draft = self.of_session(step, kind).thread(self.main()).slot("subagentId", &id.to_string());
        let Some(child) = self.export.model.children.get(id) else { return draft };
        let draft = draft.slot("status", child.status.as_str());
        match child.task {
            Some(task) => draft.slot("taskId", &task.to_string()),
            None => draft,
        }
    }
}
