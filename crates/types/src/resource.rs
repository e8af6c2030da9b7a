//! What a resource is called: configuration and administrative state that has versions.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::AgentName;

/// What every resource's name begins with.
pub const RESOURCE_SCHEME: &str = "edgeplane://";

/// What a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// What an agent is meant to be; changed by applying its manifest.
    Agent,
    /// A schedule of an agent; changed by applying it.
    Schedule,
    /// The rules in force; changed by changing their files.
    Policy,
    /// Any configuration.
    Config,
    /// A reusable part of what agents are given.
    Profile,
    /// A server whose tools agents may use.
    Connector,
    /// What is done by itself when something happens.
    Automation,
    /// Tasks that are joined.
    Workflow,
}

impl ResourceKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[
        Self::Agent,
        Self::Schedule,
        Self::Policy,
        Self::Config,
        Self::Profile,
        Self::Connector,
        Self::Automation,
        Self::Workflow,
    ];

    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Schedule => "schedule",
            Self::Policy => "policy",
            Self::Config => "config",
            Self::Profile => "profile",
            Self::Connector => "connector",
            Self::Automation => "automation",
            Self::Workflow => "workflow",
        }
    }

    /// The kind that this word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
    }

    /// Whether it is written as a resource. The others are views of what is changed elsewhere.
    #[must_use]
    pub fn is_written(self) -> bool {
        match self {
            Self::Agent | Self::Schedule | Self::Policy => false,
            Self::Config | Self::Profile | Self::Connector | Self::Automation | Self::Workflow => true,
        }
    }
}

/// The name of a resource: `edgeplane://KIND/NAME`; of a schedule `edgeplane://schedule/AGENT/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceUri {
    kind: ResourceKind,
    of: Option<AgentName>,
    name: AgentName,
}

/// Why a text names no resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no resource: it should be `edgeplane://KIND/NAME`, of a schedule `edgeplane://schedule/AGENT/NAME`"
)]
pub struct ResourceUriError(String);

impl ResourceUri {
    /// The resource of this kind and name; nothing for a schedule, which has its agent's name besides.
    #[must_use]
    pub fn new(kind: ResourceKind, name: AgentName) -> Option<Self> {
        (kind != ResourceKind::Schedule).then_some(Self { kind, of: None, name })
    }

    /// A schedule of an agent.
    #[must_use]
    pub fn schedule(agent: AgentName, name: AgentName) -> Self {
        Self { kind: ResourceKind::Schedule, of: Some(agent), name }
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> ResourceKind {
        self.kind
    }

    /// Its name, after the kind.
    #[must_use]
    pub fn path(&self) -> String {
        match &self.of {
            Some(of) => format!("{of}/{}", self.name),
            None => self.name.to_string(),
        }
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{RESOURCE_SCHEME}{}/", self.kind.as_str())?;
        match &self.of {
            Some(of) => write!(f, "{of}/{}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl FromStr for ResourceUri {
    type Err = ResourceUriError;

    fn from_str(text: &str) -> Result<Self, ResourceUriError> {
        let read = || {
            let (kind, path) = text.strip_prefix(RESOURCE_SCHEME)?.split_once('/')?;
            let kind = ResourceKind::from_word(kind)?;
            match (kind, path.split_once('/')) {
                (ResourceKind::Schedule, Some((of, name))) => {
                    Some(Self::schedule(of.parse().ok()?, name.parse().ok()?))
                }
                (ResourceKind::Schedule, None) => None,
                (_, Some(_)) => None,
                (kind, None) => Self::new(kind, path.parse().ok()?),
            }
        };
        read().ok_or_else(|| {
            let shown = text.chars().take(120).filter(|letter| !letter.is_control());
            ResourceUriError(shown.collect())
        })
    }
}

impl Serialize for ResourceUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResourceUri {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for ResourceUri {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ResourceUri".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^edgeplane://(schedule/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?|agent|policy|config|profile|connector|automation)/[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
            "description": "`edgeplane://KIND/NAME`, of a schedule `edgeplane://schedule/AGENT/NAME`",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves RES-001.
    #[test]
    fn a_resource_has_one_spelling() {
        for text in [
            "edgeplane://config/limits",
            "edgeplane://connector/github",
            "edgeplane://agent/a",
            "edgeplane://schedule/reviewer/nightly",
            "edgeplane://policy/rules",
        ] {
            assert_eq!(text.parse::<ResourceUri>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "config/limits",
            "edgeplane://config",
            "edgeplane://config/",
            "edgeplane://config/a/b",
            "edgeplane://schedule/nightly",
            "edgeplane://schedule/a/b/c",
            "edgeplane://secret/a",
            "edgeplane://config/A",
            "edgeplane://config/..",
            "edgeplane://config/a?x",
            "EDGEPLANE://config/a",
            " edgeplane://config/a",
        ] {
            assert!(text.parse::<ResourceUri>().is_err(), "{text}");
        }
        for kind in ResourceKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
