//! Conversations: sessions and threads of agents, turns, items, the queue, outputs and their deliveries.
//!
//! They are views of what is there: a session is an agent's, a turn is a message that was put to the agent, and what is
//! said of either is read from the record.

pub mod output;
pub mod thread;
pub mod turn;

use std::collections::BTreeMap;

use edgeplane_types::SafeLabel;

/// Labels by which sessions and threads are found, and their values.
pub type Labels = BTreeMap<String, SafeLabel>;

/// Longest title in bytes.
pub const TITLE_BYTES_MAX: usize = 256;

/// Most labels of one session or thread.
pub const LABELS_MAX: usize = 16;

/// Longest key of a label in bytes.
pub const LABEL_KEY_BYTES_MAX: usize = 63;

/// Longest reason in bytes.
pub const REASON_BYTES_MAX: usize = 1_024;

/// Most entries of one list.
pub const LIST_MAX: u32 = 500;

/// Entries of one list where nobody says how many.
pub const LIST: u32 = 50;

/// Most turns that one rollback takes out of a history.
pub const ROLLBACK_MAX: usize = 1_000;

fn page() -> u32 {
    LIST
}
