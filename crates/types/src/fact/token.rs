//! Facts of tokens. They stand in the stream of the node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SafeLabel, Scope, Timestamp, TokenId, TokenKind};

/// A token was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCreated {
    /// Its id.
    pub token_id: TokenId,
    /// For whom it is.
    pub kind: TokenKind,
    /// As whom it lets its bearer act.
    pub principal: SafeLabel,
    /// What it allows.
    pub scopes: Vec<Scope>,
    /// What its bearer is, for those who decide.
    pub roles: Vec<SafeLabel>,
    /// The digest of its secret.
    pub secret_digest: String,
    /// When it is worth nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Whether it may be shown from beyond this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
}
