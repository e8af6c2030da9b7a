//! Parameters and results of the methods.
//!
//! Objects that people also see (`AgentView`) are shaped like their manifests, in camel case; parameters and the
//! other results are in snake case, like the rest of the protocol.

pub mod action;
pub mod adapter;
pub mod agent;
pub mod conversation;
pub mod core;
pub mod evidence;
pub mod machine;
pub mod memory;
pub mod message;
pub mod node;
pub mod overrides;
pub mod policy;
pub mod report;
pub mod schedule;
pub mod security;
pub mod stream;
pub mod terminal;
pub mod trace;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empty {}
