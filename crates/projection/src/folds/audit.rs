//! `audit.chain`: the place and hash of every event, and the head of each stream.

use std::collections::BTreeMap;

use edgeplane_types::{AgentId, StreamName};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::Subject,
};

/// The newest event of a stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Head {
    seq: u64,
    pos: u64,
    hash: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Audit {
    events: u64,
    heads: BTreeMap<StreamName, Head>,
    /// Streams that did not go on with the next number, and where.
    breaks: u64,
}

fn agent(stream: StreamName) -> Option<AgentId> {
    match stream {
        StreamName::Agent(agent) => Some(agent),
        StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
    }
}

impl Fold for Audit {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let (pos, hash, event) = (step.input.pos, step.input.hash, step.event());
        self.events += 1;
        let head =
            self.heads.entry(event.stream).or_insert_with(|| Head { seq: 0, pos: 0, hash: String::new() });
        let follows = event.seq == head.seq.saturating_add(1);
        self.breaks += u64::from(!follows);
        (head.seq, head.pos) = (event.seq, pos);
        head.hash.clear();
        head.hash.push_str(hash);
        let ids = Ids { agent_id: agent(event.stream), ..Ids::default() };
        let payload = Object::new()
            .put("stream", &event.stream)
            .put("seq", &event.seq)
            .put("pos", &pos)
            .put("hash", hash)
            .put("type", event.fact.type_name())
            .put("follows", &follows)
            .done();
        step.say("chain.grew", ids, payload);
    }

    fn state(&self) -> Value {
        // The streams that grew last are shown; which they are must not hang on chance, and positions are unique.
        let mut newest: Vec<_> = self.heads.iter().collect();
        newest.sort_by_key(|(_, head)| std::cmp::Reverse(head.pos));
        let heads: Vec<_> = newest
            .iter()
            .take(SHOWN_MAX)
            .map(|(stream, head)| {
                json!({ "stream": stream, "seq": head.seq, "pos": head.pos, "hash": head.hash })
            })
            .collect();
        json!({
            "events": self.events,
            "streams": self.heads.len(),
            "more": self.heads.len() - heads.len(),
            "breaks": self.breaks,
            "heads": heads,
        })
    }
}
