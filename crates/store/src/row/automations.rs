//! Automations and their firings.

use edgeplane_types::{
    Timestamp,
    fact::{AutomationEnded, AutomationFired},
};

/// What an automation has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutomationRow {
    /// The moment up to which every time that it came due is accounted for.
    pub accounted_until: Timestamp,
    /// How often it fired.
    pub fired: u64,
    /// How many of its firings ended otherwise than well.
    pub failed: u64,
    /// How often it did not fire.
    pub skipped: u64,
}

/// One time that an automation fired.
#[derive(Debug, Clone, PartialEq)]
pub struct FiringRow {
    /// Its position in the record.
    pub pos: u64,
    /// What it is.
    pub fired: AutomationFired,
    /// When.
    pub at: Timestamp,
    /// How it ended, and when.
    pub ended: Option<(AutomationEnded, Timestamp)>,
}
