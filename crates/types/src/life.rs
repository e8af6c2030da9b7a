//! The vocabulary of an agent's life: phases, desires, epochs, activity.
//!
//! Knows the words only; which step may follow which is the business of the lifecycle rules.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an agent is in its life, as the node observes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Known by manifest, never started.
    Declared,
    /// An epoch is being brought up.
    Starting,
    /// The program runs.
    Running,
    /// Every process of the epoch is suspended.
    Frozen,
    /// Ended on purpose, to be woken by the next message.
    Hibernated,
    /// Waiting before the next start.
    Backoff,
    /// The shim cannot be reached and its tree has not been seen empty.
    Unobservable,
    /// Asked to end, still there.
    Stopping,
    /// Ended, and meant to be.
    Stopped,
    /// Ended, and not to be started again without a person.
    Failed,
    /// Its tree could not be proven empty: nothing starts until someone decides.
    Quarantined,
    /// Gone; its name is free.
    Retired,
}

impl Phase {
    /// Every phase, in the order of a life.
    pub const ALL: [Self; 12] = [
        Self::Declared,
        Self::Starting,
        Self::Running,
        Self::Frozen,
        Self::Hibernated,
        Self::Backoff,
        Self::Unobservable,
        Self::Stopping,
        Self::Stopped,
        Self::Failed,
        Self::Quarantined,
        Self::Retired,
    ];

    /// The phase as the word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Frozen => "frozen",
            Self::Hibernated => "hibernated",
            Self::Backoff => "backoff",
            Self::Unobservable => "unobservable",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Quarantined => "quarantined",
            Self::Retired => "retired",
        }
    }

    /// The phase that this word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an agent is meant to be doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Desired {
    /// Kept running.
    Running,
    /// Kept ended, whatever its restart policy says.
    Stopped,
    /// Kept suspended.
    Frozen,
    /// Kept ended until a message comes.
    Hibernated,
    /// Ended for good: its name becomes free as soon as nothing of it is left.
    Retired,
}

impl Desired {
    /// The desire as the word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Frozen => "frozen",
            Self::Hibernated => "hibernated",
            Self::Retired => "retired",
        }
    }
}

/// One shim's life under an agent: a number that only grows, and the fencing token of every effect.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The epoch after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Version of what is wanted of an agent: grows with each change of its manifest or desire.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Generation(pub u64);

impl Generation {
    /// The generation after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// How much of the former context a new epoch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Continuity {
    /// The program resumed its own session.
    Full,
    /// Facts and quotations were handed over; the program's own context is gone.
    Partial,
    /// A fresh start.
    None,
}

/// What an agent is doing right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Ready for the next message.
    Idle,
    /// In a turn.
    Working,
    /// Asked a question.
    AwaitingInput,
    /// Asked for permission.
    AwaitingApproval,
    /// Stopped by a provider's quota.
    QuotaPaused,
    /// Stopped by an error that it shows; it may take the next message.
    Error,
    /// Not known, and not guessed.
    Unknown,
}

/// By what means something is known, from strongest to weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The kernel said so.
    Kernel,
    /// The program said so in a protocol.
    Protocol,
    /// The program's hook said so.
    Hook,
    /// The shim wrote the bytes.
    Shim,
    /// A rule read it off the screen.
    Screen,
    /// Nothing was heard for a while.
    Silence,
    /// The best that this machine allows; not proof.
    BestEffort,
}

/// An activity and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ActivityReport {
    /// What the agent is doing.
    pub state: Activity,
    /// How that is known.
    pub evidence: Evidence,
}

impl ActivityReport {
    /// What is said before anything is known.
    pub const UNKNOWN: Self = Self { state: Activity::Unknown, evidence: Evidence::Silence };
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExitStatus {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Nobody was there to see it.
    Unknown,
}

impl ExitStatus {
    /// Whether the process returned zero.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("unknown end"),
        }
    }
}
