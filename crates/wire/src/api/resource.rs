//! Resources: configuration and administrative state with versions.

use std::collections::BTreeMap;

use edgeplane_types::{ResourceKind, ResourceUri, SafeLabel, StreamName, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names a version of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetResourceParams {
    /// Which.
    pub uri: ResourceUri,
    /// Of this version; the newest without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_version: Option<u64>,
    /// Leave the value out if its etag is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<String>,
    /// Only these keys of the value, which must be an object then; all without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

/// Which resources to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListResourcesParams {
    /// Only those of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ResourceKind>,
    /// Only those whose name begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only those that have all of these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// Most resources to look at, at most 500; 100 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Writes a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutResourceParams {
    /// Which: of a kind that is written.
    pub uri: ResourceUri,
    /// What it holds: whole numbers only, secrets by reference.
    pub value: Value,
    /// By what it is found; those that it has without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, SafeLabel>>,
    /// Write only if it is at this version; zero means that it must not be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Changes a part of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchResourceParams {
    /// Which.
    pub uri: ResourceUri,
    /// What changes, as a JSON merge patch (RFC 7396): a key with `null` goes.
    pub patch: Value,
    /// By what it is found from here on; those that it has without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, SafeLabel>>,
    /// Change it only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Ends a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteResourceParams {
    /// Which.
    pub uri: ResourceUri,
    /// End it only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whose versions to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceHistoryParams {
    /// Which.
    pub uri: ResourceUri,
    /// Most versions, at most 500; 100 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A version of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceView {
    /// Which resource.
    pub uri: ResourceUri,
    /// What it is.
    pub kind: ResourceKind,
    /// The stream of the record that its versions stand in: the node's, or an agent's.
    pub scope: StreamName,
    /// Its number, from 1, without gaps, over ends too.
    pub version: u64,
    /// SHA-256 of what it holds as it is kept, references unmasked; absent if this version is its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// What it holds, references to secrets masked; left out in lists, where the etag is known, and of an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The keys under which something is masked, as JSON pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// When this version was made.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Whether this version is its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether the value is left out because its etag is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_modified: bool,
    /// Whether the request found it as it was to be, so that no version was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
}

/// Resources, or versions of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourcesResult {
    /// By kind and name, or newest version first; without values.
    pub items: Vec<ResourceView>,
    /// What to give as `cursor` for those after; nothing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
