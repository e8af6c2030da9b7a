//! Operators' overrides as typed values.

use edgeplane_types::{OverrideId, OverrideKind, OverrideScope, Timestamp, fact::Actor};

/// An operator's standing decision over agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideRow {
    /// Its id.
    pub id: OverrideId,
    /// Which agents it covers.
    pub scope: OverrideScope,
    /// What it does to them.
    pub kind: OverrideKind,
    /// Why.
    pub reason: String,
    /// Who decided it.
    pub by: Actor,
    /// When.
    pub applied_at: Timestamp,
    /// When it lifts itself.
    pub expires_at: Option<Timestamp>,
    /// How it was lifted.
    pub lifted: Option<Lift>,
}

/// The end of an override.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lift {
    /// Why.
    pub reason: String,
    /// By whom.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

/// How overrides hold an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// What the strongest of them does to it.
    pub kind: OverrideKind,
    /// Whether it goes on when none holds it any more.
    pub resumes: bool,
}
