//! Terminal adapters: which there are, and what one says of a screen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The adapters that are in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdaptersResult {
    /// By name.
    pub items: Vec<AdapterView>,
    /// The folder of the node's own adapters, which come before those that come along.
    pub folder: String,
}

/// An adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterView {
    /// What manifests call it.
    pub name: String,
    /// The program in words.
    pub title: String,
    /// Versions of the program that its recorded screens are from.
    pub recorded: Vec<String>,
    /// Its file, if it is one of the node's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Why its file is not in force, and what came before it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    /// Its text.
    pub text: String,
}

/// Asks what an adapter says of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdapterCheckParams {
    /// The adapter's text.
    pub adapter: String,
    /// The agent whose screen is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A recorded screen to read instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
}

/// What an adapter says of a screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterCheckResult {
    /// The adapter's name.
    pub name: String,
    /// The state: `idle`, `busy`, `dialog`, `quota_paused`, `error` or `unknown`. Without a screen, nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What stands in the composer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composer: Option<String>,
    /// The rules that match.
    #[serde(default)]
    pub matched: Vec<String>,
}
