//! The words of policy: what is asked for, who lays down rules, how much may go wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who laid down a rule. One further down may only tighten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyLayer {
    /// Those who run many nodes.
    Organisation,
    /// Those who run this one.
    Node,
    /// Those who declared the agent.
    Agent,
}

impl PolicyLayer {
    /// Every layer, the one above first.
    pub const ALL: &'static [Self] = &[Self::Organisation, Self::Node, Self::Agent];

    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Organisation => "organisation",
            Self::Node => "node",
            Self::Agent => "agent",
        }
    }
}

/// What somebody wants to do to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyAction {
    /// Send it a message, on whatever way it comes in.
    Send,
    /// Watch its terminal.
    Attach,
    /// Type into its terminal.
    Control,
    /// Start, stop, restart, freeze or thaw it.
    Supervise,
    /// Decide a pending action of it.
    Approve,
    /// Have the node run a command inside it.
    Run,
    /// Have the node call a capability for it.
    Invoke,
    /// Start an agent under it.
    Spawn,
}

impl PolicyAction {
    /// Every action.
    pub const ALL: &'static [Self] = &[
        Self::Send,
        Self::Attach,
        Self::Control,
        Self::Supervise,
        Self::Approve,
        Self::Run,
        Self::Invoke,
        Self::Spawn,
    ];

    /// The word that programs read, and the id of the action in a rule.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Attach => "attach",
            Self::Control => "control",
            Self::Supervise => "supervise",
            Self::Approve => "approve",
            Self::Run => "run",
            Self::Invoke => "invoke",
            Self::Spawn => "spawn",
        }
    }
}

/// How much can go wrong when an agent does what it is told, as its manifest declares.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing that matters.
    Low,
    /// What can be undone.
    #[default]
    Medium,
    /// What cannot be undone: money, production, people.
    High,
}

impl Risk {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// For whom a token speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A person with some of an operator's rights.
    Operator,
    /// A program, such as a workflow engine: its messages come in on `workflow`.
    Service,
}

/// One right of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read what the node knows.
    Read,
    /// Send messages.
    Signal,
    /// Watch terminals.
    Attach,
    /// Type into terminals.
    Control,
    /// Start, stop and declare agents.
    Supervise,
    /// Decide pending actions.
    Approve,
    /// Speak for users: what is done then, both must be allowed to do.
    Delegate,
}

impl Scope {
    /// Every scope.
    pub const ALL: &'static [Self] = &[
        Self::Read,
        Self::Signal,
        Self::Attach,
        Self::Control,
        Self::Supervise,
        Self::Approve,
        Self::Delegate,
    ];

    /// The scope with this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.as_str() == word)
    }

    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Signal => "signal",
            Self::Attach => "attach",
            Self::Control => "control",
            Self::Supervise => "supervise",
            Self::Approve => "approve",
            Self::Delegate => "delegate",
        }
    }
}
