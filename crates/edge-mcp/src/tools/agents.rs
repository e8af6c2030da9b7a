//! Tools about agents: those of the node, and oneself.

use std::{collections::BTreeMap, sync::Arc};

use edgeplane_types::{Activity, Phase};
use edgeplane_wire::{
    api::{
        agent::{AgentView, ListParams},
        core::CallerView,
    },
    catalogue::AgentList,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{failure::Failure, link::Link, shown::Shown};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArgs {
    /// Only those with all of these labels.
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// Only those in this phase.
    #[serde(default)]
    phase: Option<Phase>,
}

/// The agents of a node.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Agents {
    /// By name.
    items: Vec<Agent>,
}

/// An agent, as far as others need to know it.
#[derive(Debug, Serialize, JsonSchema)]
struct Agent {
    /// Its name, by which it is reached.
    name: String,
    /// Its id.
    agent_id: String,
    /// Its labels.
    labels: BTreeMap<String, String>,
    /// Where it stands.
    phase: Phase,
    /// What it is doing.
    activity: Activity,
    /// Messages that wait for it.
    waiting_messages: u64,
}

impl Agent {
    fn of(view: &AgentView) -> Self {
        let text = |key: &str| view.metadata[key].as_str().unwrap_or_default().to_owned();
        let labels = view.metadata["labels"].as_object().into_iter().flatten();
        Self {
            name: text("name"),
            agent_id: text("id"),
            labels: labels
                .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
            phase: view.status.phase,
            activity: view.status.activity,
            waiting_messages: view.status.waiting_messages,
        }
    }
}

fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

impl Shown for Agents {
    fn text(&self) -> String {
        if self.items.is_empty() {
            return "no agents".to_owned();
        }
        let line = |agent: &Agent| {
            let (phase, activity) = (word(agent.phase), word(agent.activity));
            format!("{}: {phase}, {activity}, {} waiting", agent.name, agent.waiting_messages)
        };
        self.items.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

pub(super) async fn list(link: &Arc<Link>, args: ListArgs) -> Result<Agents, Failure> {
    let params = ListParams { labels: args.labels, phase: args.phase, retired: false };
    let result = link.call::<AgentList>(&params).await?;
    Ok(Agents { items: result.items.iter().map(Agent::of).collect() })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnArgs {}

/// As whom the node knows the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Own {
    /// Who, and by what proof.
    caller: CallerView,
    /// The node's name.
    node: String,
}

impl Shown for Own {}

pub(super) async fn own(link: &Arc<Link>, _args: OwnArgs) -> Result<Own, Failure> {
    let greeting = link.open().await?.greeting.clone();
    Ok(Own { caller: greeting.caller, node: greeting.node.to_string() })
}
