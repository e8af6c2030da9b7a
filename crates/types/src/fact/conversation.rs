//! Facts of conversations: further sessions and threads, what a thread's history is, what becomes of outputs.
//!
//! An agent's first session and its first thread have no facts of their own: they begin with its declaration, and the
//! thread has the UUID of the session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ActionId, AgentId, Authority, DeliveryId, Epoch, OutputId, Proof, SafeLabel, SessionId, ThreadId, TurnId,
};

/// A further session of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCreated {
    /// Its id.
    pub session_id: SessionId,
    /// What it is called, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionArchived {
    /// Its id.
    pub session_id: SessionId,
    /// Why, in words.
    pub reason: String,
}

/// Where a fork begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadParent {
    /// The agent that the parent belongs to.
    pub agent_id: AgentId,
    /// The parent.
    pub thread_id: ThreadId,
    /// The last turn of the parent that is part of the fork's history; none if the fork begins with nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<TurnId>,
}

/// A further thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCreated {
    /// Its id.
    pub thread_id: ThreadId,
    /// The session that it is part of.
    pub session_id: SessionId,
    /// What it is called, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ThreadParent>,
}

/// What a thread is called from here on, in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUpdated {
    /// Its id.
    pub thread_id: ThreadId,
    /// What it is called, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
}

/// The end of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadArchived {
    /// Its id.
    pub thread_id: ThreadId,
    /// Why, in words.
    pub reason: String,
}

/// What a rollback took out of a thread's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadRolledBack {
    /// The thread.
    pub thread_id: ThreadId,
    /// The agent's newest epoch. What its program remembers of it or of one before is not gone on with.
    pub epoch: Epoch,
    /// The last turn that survives; none if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_turn: Option<TurnId>,
    /// The turns that are no part of the history any more, oldest first.
    pub removed: Vec<TurnId>,
    /// How many turns survive.
    pub surviving: u64,
    /// Why, in words.
    pub reason: String,
}

/// A boundary in a thread: whoever is told of its history is told a summary of what is before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCompacted {
    /// The thread.
    pub thread_id: ThreadId,
    /// The agent's newest epoch. What its program remembers of it or of one before is not gone on with.
    pub epoch: Epoch,
    /// The last turn that the summary stands for.
    pub through: TurnId,
    /// How many turns it stands for, those included that an older summary stood for.
    pub turns: u64,
    /// SHA-256 of the summary, in the body store.
    pub summary_digest: String,
    /// Its size.
    pub summary_bytes: u64,
    /// What its words weigh: as much as those of whoever wrote it.
    pub authority: Authority,
    /// Tokens that the program's context held before, as far as it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// What waits for a person and goes on waiting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_actions: Vec<ActionId>,
    /// Why, in words.
    pub reason: String,
}

/// That a running turn is to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptRequested {
    /// The turn.
    pub turn_id: TurnId,
    /// Why, in words.
    pub reason: String,
    /// Whether the turns of its thread that wait stay in the queue.
    pub keeps_queue: bool,
}

/// Who is to have an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "to", rename_all = "snake_case", deny_unknown_fields)]
pub enum Destination {
    /// An agent: by a message, whose id has the delivery's UUID.
    Agent {
        /// Which.
        agent_id: AgentId,
    },
    /// Somebody who comes for it.
    Principal {
        /// Who.
        principal: SafeLabel,
        /// By what the node knew them when they asked for it.
        proof: Proof,
    },
}

/// That an output is to be handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryCreated {
    /// Its id.
    pub delivery_id: DeliveryId,
    /// What is handed over.
    pub output_id: OutputId,
    /// SHA-256 of it.
    pub output_digest: String,
    /// To whom.
    pub destination: Destination,
    /// What it weighs at most.
    pub authority: Authority,
}

/// That an output could not be handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryFailed {
    /// Its id.
    pub delivery_id: DeliveryId,
    /// Why, in words.
    pub reason: String,
}

/// That who was to have an output has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryAcknowledged {
    /// Its id.
    pub delivery_id: DeliveryId,
    /// Who says so.
    pub by: SafeLabel,
}
