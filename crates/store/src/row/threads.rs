//! Conversations: sessions, threads, what is said of turns besides their messages, deliveries.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, SafeLabel, SessionId, ThreadId, Timestamp,
    fact::{DeliveryCreated, InterruptRequested, ThreadParent},
};

/// A session of conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TalkRow {
    /// Its id.
    pub id: SessionId,
    /// Whose it is.
    pub agent: AgentId,
    /// Whether it is the agent's first one.
    pub is_main: bool,
    /// What it is called.
    pub title: Option<String>,
    /// By what it is found.
    pub labels: BTreeMap<String, SafeLabel>,
    /// Grows with each change.
    pub version: u64,
    /// Position of its beginning in the record; the cursor of a list.
    pub created_pos: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    /// Its id.
    pub id: ThreadId,
    /// Whose it is.
    pub agent: AgentId,
    /// The session that it is part of.
    pub session: SessionId,
    /// Whether it is the agent's first one: that of messages that name none.
    pub is_main: bool,
    /// What it is called.
    pub title: Option<String>,
    /// By what it is found.
    pub labels: BTreeMap<String, SafeLabel>,
    /// Grows with each change of what is said here.
    pub version: u64,
    /// Position of its beginning in the record; the cursor of a list.
    pub created_pos: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub changed_at: Timestamp,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// What it was forked from.
    pub parent: Option<ThreadParent>,
    /// How many turns were rolled back.
    pub removed: u64,
}

/// That a turn is to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptRow {
    /// Where that stands in the record.
    pub pos: u64,
    /// When it was asked.
    pub at: Timestamp,
    /// What was asked.
    pub asked: InterruptRequested,
}

/// The hand-over of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Position of its beginning in the record; the cursor of a list.
    pub pos: u64,
    /// Whose output it is.
    pub agent: AgentId,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// What was asked.
    pub created: DeliveryCreated,
    /// Why it came to nothing.
    pub failed: Option<String>,
    /// Who has it and since when.
    pub acknowledged: Option<(SafeLabel, Timestamp)>,
}
