//! The edges that begin at a task: the newest ones, and how many older ones are not kept.

use std::collections::VecDeque;

use edgeplane_types::{EdgeKind, Fact};
use serde::{Deserialize, Serialize};

/// An edge that begins at a task.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) kind: EdgeKind,
    pub(crate) to: String,
}

/// At most as many edges as whoever keeps them says with each event.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Edges {
    #[serde(rename = "edges")]
    kept: VecDeque<Edge>,
    #[serde(rename = "edges_more")]
    pub(crate) more: u64,
}

impl Edges {
    /// Takes in what a fact says of the task's edges, and keeps `max` of them.
    pub(crate) fn take(&mut self, fact: &Fact, max: usize) {
        match fact {
            Fact::TaskCreated(created) => {
                for other in &created.depends_on {
                    self.link(Edge { kind: EdgeKind::DependsOn, to: other.to_string() }, max);
                }
            }
            Fact::TaskLinked(linked) => {
                if let Some(to) = linked.to.map(|to| to.to_string()).or_else(|| linked.uri.clone()) {
                    self.link(Edge { kind: linked.kind, to }, max);
                }
            }
            Fact::TaskUnlinked(unlinked) => {
                let to = unlinked.to.map(|to| to.to_string()).or_else(|| unlinked.uri.clone());
                self.kept.retain(|edge| edge.kind != unlinked.kind || Some(&edge.to) != to.as_ref());
            }
            _ => {}
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Edge> {
        self.kept.iter()
    }

    fn link(&mut self, edge: Edge, max: usize) {
        if self.kept.contains(&edge) {
            return;
        }
        if self.kept.len() == max {
            self.kept.pop_front();
            self.more += 1;
        }
        self.kept.push_back(edge);
    }
}
