//! The words of overrides: what an operator decides over agents, above everything that they are meant to do.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentName;

/// What an override does to the agents that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverrideKind {
    /// They are suspended, and none is begun.
    Pause,
    /// They are ended, and none is begun.
    Stop,
}

impl OverrideKind {
    /// The kind as the word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Stop => "stop",
        }
    }

    /// The kind that this word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Pause, Self::Stop].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Which agents an override covers, those to come included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverrideScope {
    /// Every agent of the node; always `true`.
    Node(bool),
    /// The agents with these names, and the replicas of sets with these names.
    Agents(Vec<AgentName>),
    /// The agents that have all of these labels.
    Labels(BTreeMap<String, String>),
}
