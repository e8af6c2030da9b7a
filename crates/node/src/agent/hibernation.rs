//! Rest: an idle agent is ended to free its memory, and the next message wakes it.
//!
//! Only a program that can go on with its own session is put to rest, because nothing else of its context would be left.
//! What wakes it is the message itself: it waits in the inbox like any other.

use std::time::Duration;

use edgeplane_lifecycle::{Input, State};
use edgeplane_manifest::StateKind;
use edgeplane_types::{Desired, ErrorName, fact::Cause};
use edgeplane_wire::rpc::RpcError;
use tokio::time::Instant;

use super::Actor;
use crate::record::Origin;

/// How long an agent is left alone at least, also one that is to have no program between tasks: the end of its task ends
/// that at once, and this is for a program that had none.
const IDLE_MIN: Duration = Duration::from_secs(1);

/// Since when nothing happened to an agent.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    /// When something happened last that leaves no other trace.
    stirred: Option<Instant>,
}

impl Actor {
    /// Something happened: it is not idle from here on.
    pub(super) fn stir(&mut self) {
        self.idleness.stirred = Some(Instant::now());
    }

    /// Why it cannot be put to rest now, if so.
    fn why_awake(&self) -> Option<&'static str> {
        let waits = self.shared.record.look_up(|reader| reader.waiting_count(&self.identity.id));
        if self.delivery.turns.running().is_some()
            || self.delivery.in_flight().is_some()
            || self.works_by_hook()
        {
            Some("it is in a turn")
        } else if self.awaits_a_person() {
            Some("it waits for a person")
        } else if waits.is_ok_and(|count| count > 0) {
            Some("messages wait for it")
        } else if self.viewers.are_there() {
            Some("somebody is attached to it")
        } else {
            None
        }
    }

    /// Whether something of its context is left when it is ended.
    fn can_rest(&self) -> bool {
        let spec = &self.manifest.spec;
        spec.offers.resume
            || spec.state == StateKind::Stateless
            || self.acp().is_some_and(|acp| acp.can_go_on())
    }

    /// Says why a request for rest is refused, if it is.
    pub(super) fn check_rest(&self) -> Result<(), RpcError> {
        let State::Running(_) = self.life.state() else { return Ok(()) };
        let name = &self.identity.name;
        if !self.can_rest() {
            let what =
                format!("agent `{name}` cannot go on where it is: its program has no session to resume");
            let error = RpcError::new(ErrorName::InvalidState, what);
            return Err(
                error.hint("stop it instead, or say `offers: { resume: true }` if its program remembers")
            );
        }
        match self.why_awake() {
            Some(why) => {
                let what = format!("agent `{name}` is not idle: {why}");
                Err(RpcError::new(ErrorName::InvalidState, what).hint("try again when it is"))
            }
            None => Ok(()),
        }
    }

    /// When it will have been idle for as long as its manifest allows.
    pub(super) fn rest_timer(&self) -> Option<Instant> {
        let rule = self.manifest.spec.hibernate?;
        let State::Running(_) = self.life.state() else { return None };
        let live = self.live.as_ref()?;
        let since = [live.output_at, self.idleness.stirred].into_iter().flatten().max()?;
        Some(since + Duration::from_millis(rule.idle_after.as_millis()).max(IDLE_MIN))
    }

    pub(super) async fn rest_due(&mut self, now: Instant) {
        if self.rest_timer().is_none_or(|at| at > now) {
            return;
        }
        if !self.can_rest() || self.why_awake().is_some() {
            // It is looked at again when it may have been idle for as long once more.
            return self.stir();
        }
        let origin = Origin::node("idle");
        self.input_because(Input::Hibernate(Cause::Idle), &origin, "it was idle").await;
    }

    /// Wakes it if it rests and something waits for it.
    pub(super) async fn wake(&mut self) {
        let rests = matches!(self.life.state(), State::Hibernated(_));
        if !rests || self.life.desired() != Desired::Hibernated || self.hold_now().is_some() {
            return;
        }
        let (id, lightest) = (self.identity.id, self.lightest());
        let waits = self.shared.record.look_up(|reader| reader.next_deliverable(&id, lightest, 1));
        if waits.is_ok_and(|rows| !rows.is_empty()) {
            self.input_because(Input::Start(Cause::Message), &Origin::node("delivery"), "a message came")
                .await;
        }
    }
}
