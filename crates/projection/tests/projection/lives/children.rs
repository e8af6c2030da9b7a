//! What becomes of the children of an agent, as its stream tells it.

use edgeplane_types::{
    AgentId, Fact, Isolation, MessageId, OnParentExit, SessionId, SubagentStatus, TaskId,
    fact::{SubagentClosed, SubagentClosing, SubagentInput, SubagentMoved, SubagentSpawned},
};

use super::World;

/// A child with what may happen to it next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Child {
    id: AgentId,
    outcome: Option<SubagentStatus>,
}

impl World {
    /// Something happens to a child of an agent, or there is a further one.
    pub(super) fn child(&mut self, which: usize) {
        if self.lives[which].children.is_empty() || self.chance.one_in(4) {
            return self.spawn(which);
        }
        let place = {
            let children = &self.lives[which].children;
            self.chance.below(children.len())
        };
        let child = self.lives[which].children[place];
        let (subagent_id, reason) = (child.id, "its task is over".to_owned());
        if let Some(outcome) = child.outcome {
            self.lives[which].children.remove(place);
            return self.add(which, Fact::SubagentClosed(SubagentClosed { subagent_id, outcome, reason }));
        }
        match self.chance.below(5) {
            0 => {
                let outcome = self.chance.pick(&[
                    SubagentStatus::Completed,
                    SubagentStatus::Failed,
                    SubagentStatus::Cancelled,
                    SubagentStatus::Closed,
                ]);
                self.lives[which].children[place].outcome = Some(outcome);
                self.add(which, Fact::SubagentClosing(SubagentClosing { subagent_id, outcome, reason }));
            }
            1 => {
                let message_id = self.id(MessageId::from_parts);
                self.add(which, Fact::SubagentInput(SubagentInput { subagent_id, message_id }));
            }
            _ => {
                let status = self.chance.pick(SubagentStatus::ALL);
                self.add(which, Fact::SubagentMoved(SubagentMoved { subagent_id, status, reason }));
            }
        }
    }

    fn spawn(&mut self, which: usize) {
        let id: AgentId = self.id(AgentId::from_parts);
        let task_id = self.chance.one_in(2).then(|| self.id(TaskId::from_parts));
        let spawned = SubagentSpawned {
            subagent_id: id,
            name: format!("child-{}", self.pos).parse().unwrap(),
            session_id: self.id(SessionId::from_parts),
            task_id,
            isolation: Isolation::standard(),
            on_parent_exit: self.chance.pick(OnParentExit::ALL),
            context: None,
            checkpoint_id: None,
            request_digest: self.body().0,
        };
        self.lives[which].children.push(Child { id, outcome: None });
        self.add(which, Fact::SubagentSpawned(Box::new(spawned)));
    }
}
