//! The names of the sequences that the record is made of.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{AgentId, NodeId, TaskId, WorkspaceId};

/// One ordered, gapless, chained sequence of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamName {
    /// An agent's history.
    Agent(AgentId),
    /// A node's history.
    Node(NodeId),
    /// A workspace's history.
    Workspace(WorkspaceId),
    /// The history of a graph of tasks, by the task at its root.
    Task(TaskId),
}

/// Why a text is not a stream's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a stream: it should be `agent/`, `node/`, `workspace/` or `task/` and an id")]
pub struct StreamNameError(String);

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(id) => write!(f, "agent/{id}"),
            Self::Node(id) => write!(f, "node/{id}"),
            Self::Workspace(id) => write!(f, "workspace/{id}"),
            Self::Task(id) => write!(f, "task/{id}"),
        }
    }
}

impl FromStr for StreamName {
    type Err = StreamNameError;

    fn from_str(text: &str) -> Result<Self, StreamNameError> {
        let parsed = match text.split_once('/') {
            Some(("agent", id)) => id.parse().ok().map(Self::Agent),
            Some(("node", id)) => id.parse().ok().map(Self::Node),
            Some(("workspace", id)) => id.parse().ok().map(Self::Workspace),
            Some(("task", id)) => id.parse().ok().map(Self::Task),
            _ => None,
        };
        parsed.ok_or_else(|| StreamNameError(text.chars().take(80).collect()))
    }
}

impl Serialize for StreamName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StreamName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for StreamName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StreamName".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^(agent|node|workspace|task)/[a-z]{3}_[0-9a-f-]{36}$" })
    }
}
