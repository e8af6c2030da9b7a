//! Tasks of an agent that forgets: each begins with a fresh epoch, and ends it.
//!
//! A task is a turn: the message that begins it, to the turn's end. Where a task is to be something else, such as a run
//! of several turns, [`Actor::task_is_over`] and [`Actor::is_busy_with_its_task`] are where that is said; nothing else
//! here knows of turns.

use edgeplane_lifecycle::{Input, State};
use edgeplane_manifest::StateKind;
use edgeplane_types::{Desired, fact::Cause};

use super::Actor;
use crate::record::Origin;

impl Actor {
    /// Whether nothing of it is kept from one task to the next.
    pub(super) fn forgets(&self) -> bool {
        self.manifest.spec.state == StateKind::Stateless
    }

    /// Whether its epoch has had its task. Then it takes no other.
    pub(super) fn task_is_over(&self) -> bool {
        let turns = &self.delivery.turns;
        self.forgets() && turns.one_is_over && turns.running().is_none()
    }

    /// Whether a task runs that a message could interrupt. Programs of the Agent Client Protocol are asked to end their
    /// turn, and the end of that is the end of the task.
    pub(super) fn is_busy_with_its_task(&self) -> bool {
        self.forgets() && self.is_native() && self.delivery.turns.running().is_some()
    }

    /// Whether its epoch was given a message, whatever became of that.
    pub(super) fn has_begun_a_task(&self) -> bool {
        self.delivery.turns.was_given || self.delivery.in_flight().is_some()
    }

    /// Ends the epoch of a task that is over. The next one is begun at once and waits for its task, or with
    /// `hibernate.idleAfter: 0s` by the message that brings the task.
    ///
    /// One that is suspended, or about to be, does this when it goes on.
    pub(super) async fn end_task(&mut self, why: &str) {
        if !matches!(self.life.state(), State::Running(_)) || self.life.desired() != Desired::Running {
            return;
        }
        let (id, lightest) = (self.identity.id, self.lightest());
        let next = self.shared.record.look_up(|reader| reader.next_deliverable(&id, lightest, 1));
        let rests = self.manifest.spec.hibernate.is_some_and(|rule| rule.idle_after.as_millis() == 0)
            && next.is_ok_and(|rows| rows.is_empty());
        let input = if rests { Input::Hibernate(Cause::Task) } else { Input::Restart(Cause::Task) };
        self.shared.failpoint("task.before");
        self.input_because(input, &Origin::node("task"), why).await;
        self.shared.failpoint("task.after");
    }
}
