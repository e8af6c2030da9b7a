//! Messages whose time runs out while they wait: settled at that time, wherever the agent is in its life.
//!
//! A shim may hold, or have written, a message of which no daemon was told. It is asked before such a message is
//! called expired; without a shim the recording has said by then what was written.

use std::{collections::HashSet, time::Duration};

use edgeplane_types::{Fact, MessageId, Phase};
use edgeplane_wire::shim::{InputOutcome, ToShim};
use tokio::time::Instant;

use super::Actor;

/// Messages settled at a time; the rest follow at once.
const EXPIRED_MAX: usize = 64;

/// How long it takes at most until the record is looked at again: the clock may be set meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// How long a message is left alone that could not be settled: its shim is out of reach or has it half written, or
/// the record has no space.
const SETTLE_RETRY: Duration = Duration::from_secs(1);

/// What is known of messages whose time runs out.
#[derive(Debug, Default)]
pub(super) struct Expiry {
    due_at: Option<Instant>,
    /// Messages of which the shim is asked, at most [`EXPIRED_MAX`].
    asked: HashSet<MessageId>,
}

impl Expiry {
    pub(super) fn timer(&self) -> Option<Instant> {
        self.due_at
    }

    pub(super) fn epoch_over(&mut self) {
        if !self.asked.is_empty() {
            // Nobody will answer, and nobody need be asked any more.
            self.asked.clear();
            self.due_at = Some(Instant::now());
        }
    }
}

impl Actor {
    /// Sets the timer for the waiting message whose time is over first.
    pub(super) fn arm_expiry(&mut self) {
        let id = self.identity.id;
        let next = self.shared.record.look_up(|reader| reader.next_expiry(&id));
        let wait = match next {
            Ok(None) => return self.expiry.due_at = None,
            Ok(Some(at)) => Duration::from_millis(at.millis_since(self.shared.record.now())).min(LOOK_AGAIN),
            Err(_) => SETTLE_RETRY,
        };
        // A millisecond more than the rounded wait, so that the time is over when the timer is.
        self.expiry.due_at = Some(Instant::now() + wait + Duration::from_millis(1));
    }

    pub(super) async fn expiry_due(&mut self, now: Instant) {
        if self.expiry.due_at.is_some_and(|at| at <= now) {
            self.expire().await;
        }
    }

    /// Settles the waiting messages whose time is over, as far as that can be done now.
    pub(super) async fn expire(&mut self) {
        let (id, now) = (self.identity.id, self.shared.record.now());
        let due = self.shared.record.look_up(|reader| reader.expired(&id, now, EXPIRED_MAX));
        let due = due.unwrap_or_default();
        let count = due.len();
        let over: Vec<Fact> = due
            .into_iter()
            .filter(|message_id| self.is_over(*message_id))
            .map(|message_id| Fact::MessageExpired { message_id })
            .collect();
        self.shared.failpoint("expire.before");
        let is_left = over.len() < count || !self.settle(over).await;
        self.shared.failpoint("expire.after");
        self.arm_expiry();
        if is_left {
            let retry = Instant::now() + SETTLE_RETRY;
            self.expiry.due_at = self.expiry.due_at.map(|at| at.max(retry));
        }
    }

    /// Whether a message was certainly not written; if a shim must say that, it is asked.
    fn is_over(&mut self, message_id: MessageId) -> bool {
        if self.delivery.is_in_flight(message_id) {
            return false;
        }
        let has_shim = self.life.state().phase() != Phase::Quarantined;
        let Some(live) = self.live.as_mut().filter(|_| has_shim) else { return true };
        let is_gated = matches!(
            self.manifest.spec.driver,
            edgeplane_manifest::Driver::Terminal { adapter: Some(_), .. }
        );
        if let Some(link) = live.link.as_mut().filter(|_| live.process.is_some()) {
            if is_gated {
                // What the shim wrote of it would be on its way, and that is known since the shim was found.
                return true;
            }
            self.expiry.asked.insert(message_id);
            link.send(&ToShim::InputState { id: *message_id.as_bytes() });
        }
        false
    }

    /// Takes what a shim says of a message whose time is over; false if that is not why it says it.
    pub(super) async fn expiry_answered(&mut self, message_id: MessageId, outcome: InputOutcome) -> bool {
        if !self.expiry.asked.remove(&message_id) {
            return false;
        }
        let epoch = self.live.as_ref().map_or(self.last_epoch, |live| live.place.epoch);
        let fact = match outcome {
            InputOutcome::Written | InputOutcome::Duplicate => {
                Some(super::delivery::injected(message_id, epoch))
            }
            InputOutcome::Unknown | InputOutcome::Full | InputOutcome::LineTooLong => {
                Some(Fact::MessageExpired { message_id })
            }
            // It is being written, or was cut short; what came of it is known later.
            InputOutcome::Queued | InputOutcome::Closed => None,
        };
        self.settle(fact).await;
        if self.expiry.asked.is_empty() {
            self.arm_expiry();
        }
        true
    }
}
