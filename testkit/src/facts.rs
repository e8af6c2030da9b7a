//! What the record says of an agent, as tests ask it.

use std::time::Duration;

use serde_json::Value;

use crate::{Node, wait::eventually_within};

impl Node {
    /// The payloads of an agent's events of a kind.
    #[must_use]
    pub fn facts(&self, agent: &str, kind: &str) -> Vec<Value> {
        let events = self.history(agent).into_iter().filter(|event| event.event["type"] == kind);
        events.map(|event| event.event["payload"].clone()).collect()
    }

    /// The end of the turn that a message began, once it is over.
    ///
    /// # Panics
    /// If it is not within the time.
    #[must_use]
    pub fn turn(&self, agent: &str, message: &str, within: Duration) -> Value {
        let mut ended = None;
        eventually_within(within, "the turn is over", || {
            let turns = self.facts(agent, "turn.completed");
            ended = turns.into_iter().find(|turn| turn["message_id"] == message);
            ended.is_some()
        });
        ended.unwrap_or_default()
    }
}
