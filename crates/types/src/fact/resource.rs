//! Facts of resources: what each version of one holds, and where one ends.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SafeLabel, automation::ActsAs, resource::ResourceUri};

/// A version of a resource. What it holds stands in the body store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcePut {
    /// Which resource.
    pub uri: ResourceUri,
    /// Its version, one more than the one before, over its removals too.
    pub version: u64,
    /// SHA-256 of the value's canonical JSON: its etag.
    pub value_digest: String,
    /// Size of that JSON in bytes.
    pub value_bytes: u64,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// As whom it acts, if it is an automation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acts_as: Option<ActsAs>,
}

/// The end of a resource; its versions stay, and so does its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceDeleted {
    /// Which resource.
    pub uri: ResourceUri,
    /// The version that its end is.
    pub version: u64,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
