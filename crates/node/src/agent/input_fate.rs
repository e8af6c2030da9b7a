//! What became of a text that was entered, as facts: seen submitted, or in doubt.

use edgeplane_driver::screen::Paste;
use edgeplane_types::{Evidence, Fact, MessageId};
use tokio::time::Instant;

use super::{
    Actor,
    input_gate::{BEGINNING, IN_DOUBT, REST, TURN_SHOWN_TIME},
    input_step::ATTEMPT_AFTER_DOUBT,
};

impl Actor {
    pub(super) async fn seen_submitted(&mut self, message_id: MessageId) {
        let epoch = self.live.as_ref().map_or(self.last_epoch, |live| live.place.epoch);
        let fact = Fact::MessageInjected { message_id, epoch, evidence: Evidence::Screen };
        self.shared.failpoint("seen.before");
        self.settle_entry([fact]).await;
        self.gate.is_counted = false;
        if self.adapter().is_some_and(|adapter| adapter.paste == Paste::Bracketed) {
            self.gate.rests = Some((Instant::now() + TURN_SHOWN_TIME, BEGINNING));
        }
        self.shared.failpoint("seen.after");
    }

    /// Nobody can know whether it was submitted.
    pub(super) async fn doubt_entry(&mut self, reason: &str) {
        let Some(entry) = &self.gate.entry else { return };
        let (message_id, attempt) = (entry.message_id, entry.attempt);
        let epoch = self.live.as_ref().map_or(self.last_epoch, |live| live.place.epoch);
        let row = self.shared.record.look_up(|reader| reader.message(&message_id)).ok().flatten();
        let Some(row) = row else { return };
        let mut facts = self.doubt(&row, epoch, reason.to_owned());
        if attempt >= ATTEMPT_AFTER_DOUBT {
            facts.retain(|fact| !matches!(fact, Fact::MessageRequeued { .. }));
        }
        self.gate.tried = Some((message_id, ATTEMPT_AFTER_DOUBT.saturating_sub(1).max(attempt)));
        self.gate.rests = Some((Instant::now() + REST, IN_DOUBT));
        self.shared.failpoint("doubt.before");
        self.settle_entry(facts).await;
        self.shared.failpoint("doubt.after");
    }

    /// Notes what became of the message; without space it is tried again, and the entry stays until then.
    pub(super) async fn settle_entry(&mut self, facts: impl IntoIterator<Item = Fact>) {
        if self.settle(facts).await {
            self.gate.entry = None;
            self.delivery.in_flight = None;
        } else if let Some(entry) = &mut self.gate.entry {
            entry.since = Instant::now();
        }
    }
}
