//! Facts of overrides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{OverrideId, OverrideKind, OverrideScope, Timestamp};

/// An operator's decision over agents is in force: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverrideApplied {
    /// Its id.
    pub override_id: OverrideId,
    /// Over whom.
    pub scope: OverrideScope,
    /// What it does to them.
    pub kind: OverrideKind,
    /// Why.
    pub reason: String,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
