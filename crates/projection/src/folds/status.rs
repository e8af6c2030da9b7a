//! `agent.status`: the phase, the desire and the health of one agent or of all.

use std::collections::BTreeMap;

use edgeplane_types::AgentId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    life::Life,
    subject::Subject,
    telling::agent_of,
};

#[derive(Debug, Serialize, Deserialize)]
struct Known {
    life: Life,
    /// The place of the last change, by which the newest are shown.
    changed: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Status {
    agents: BTreeMap<AgentId, Known>,
}

impl Fold for Status {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let Some(agent) = agent_of(step) else { return };
        let event = step.event();
        let known = self.agents.entry(agent).or_insert_with(|| Known { life: Life::new(), changed: 0 });
        if !known.life.follow(&event.fact, event.ts) {
            return;
        }
        known.changed = step.next_n();
        let life = &known.life;
        let payload = Object::new()
            .put("because", event.fact.type_name())
            .maybe("name", life.name.as_ref())
            .put("phase", life.phase.as_str())
            .maybe("desired", life.desired.map(edgeplane_types::Desired::as_str))
            .put("generation", &life.generation)
            .put("restarts", &life.restarts)
            .maybe("healthy", life.healthy)
            .maybe("reason", life.reason.as_ref())
            .done();
        let ids = Ids { agent_id: Some(agent), epoch: Some(life.epoch), ..Ids::default() };
        step.say("agent.changed", ids, payload);
    }

    fn state(&self) -> Value {
        let mut newest: Vec<_> = self.agents.iter().collect();
        newest.sort_by_key(|(_, known)| std::cmp::Reverse(known.changed));
        let mut phases: BTreeMap<&str, u64> = BTreeMap::new();
        for known in self.agents.values() {
            *phases.entry(known.life.phase.as_str()).or_default() += 1;
        }
        let agents: Vec<_> = newest
            .iter()
            .take(SHOWN_MAX)
            .map(|(agent, known)| {
                let life = &known.life;
                json!({
                    "agent_id": agent,
                    "name": life.name,
                    "phase": life.phase,
                    "since": life.since,
                    "desired": life.desired,
                    "generation": life.generation,
                    "epoch": life.epoch,
                    "continuity": life.continuity,
                    "restarts": life.restarts,
                    "healthy": life.healthy,
                    "reason": life.reason,
                    "last_end": life.last_end,
                    "removed": life.removed,
                })
            })
            .collect();
        json!({
            "agents": self.agents.len(),
            "phases": phases,
            "more": self.agents.len() - agents.len(),
            "entries": agents,
        })
    }
}
