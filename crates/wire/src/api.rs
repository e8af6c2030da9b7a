//! Parameters and results of the methods.
//!
//! Objects that people also see (`AgentView`) are shaped like their manifests, in camel case; parameters and the
//! other results are in snake case, like the rest of the protocol.

pub mod action;
pub mod adapter;
pub mod agent;
pub mod artifact;
pub mod automation;
pub mod benchmark;
pub mod capability;
pub mod context;
pub mod conversation;
pub mod core;
pub mod evidence;
pub mod inference;
pub mod job;
pub mod machine;
pub mod memory;
pub mod message;
pub mod node;
pub mod overrides;
pub mod policy;
pub mod report;
pub mod resource;
pub mod schedule;
pub mod security;
pub mod stream;
pub mod subagent;
pub mod terminal;
pub mod trace;
pub mod work;
pub mod workspace;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Empty {}

/// What stands for nothing: no field, but where it is a result, what an answer says of itself.
struct Nothing;

impl<'de> serde::de::Visitor<'de> for Nothing {
    type Value = Empty;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object without fields")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut fields: A) -> Result<Empty, A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if name != "meta" {
                return Err(serde::de::Error::unknown_field(&name, &[]));
            }
            fields.next_value::<serde::de::IgnoredAny>()?;
        }
        Ok(Empty {})
    }
}

impl<'de> Deserialize<'de> for Empty {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Nothing)
    }
}
