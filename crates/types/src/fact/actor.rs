//! Who makes something happen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, SafeLabel};

/// Who made something happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Actor {
    /// A person or program with the operator's rights.
    Operator {
        /// As whom the node knows them, such as `uid-1000`.
        name: SafeLabel,
        /// For whom they spoke, by a grant to delegate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_id: Option<SafeLabel>,
    },
    /// An agent of this node.
    Agent {
        /// Which.
        agent_id: AgentId,
        /// Its name at the time.
        name: SafeLabel,
    },
    /// A program with a token of its own.
    Service {
        /// The token's principal.
        name: SafeLabel,
        /// For whom it spoke, by a grant to delegate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        user_id: Option<SafeLabel>,
    },
    /// Somebody of whom it could not be proven who it is.
    Unproven {
        /// As whom the node knows them: `unknown`.
        name: SafeLabel,
    },
    /// The node, by one of its rules.
    Node {
        /// Which rule or engine, such as `supervisor`.
        rule: SafeLabel,
    },
}

impl Actor {
    /// As whom people know them: of whoever speaks for a user, that user.
    #[must_use]
    pub fn name(&self) -> &SafeLabel {
        match self {
            Self::Operator { name, user_id } | Self::Service { name, user_id } => {
                user_id.as_ref().unwrap_or(name)
            }
            Self::Agent { name, .. } | Self::Unproven { name } => name,
            Self::Node { rule } => rule,
        }
    }
}
