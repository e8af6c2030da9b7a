//! Keys and tokens: who else may speak, and with what the node vouches.

use edgeplane_types::{SafeLabel, Scope, Timestamp, TokenId, TokenKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateParams {
    /// As whom its bearer is known.
    pub principal: SafeLabel,
    /// For a person or for a program.
    pub kind: TokenKind,
    /// What its bearer may do.
    pub scopes: Vec<Scope>,
    /// Roles in which its bearer decides pending actions.
    #[serde(default)]
    pub roles: Vec<SafeLabel>,
    /// Milliseconds until it is worth nothing; left out: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// Whether that of a person also counts where the kernel says nothing of its bearer: over a network connection. Whoever
    /// finds it is then that person, an agent of this machine, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
}

/// Makes a client certificate a credential: whoever proves to have its key is known by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddCertificateParams {
    /// SHA-256 of the certificate's DER form, as 64 hexadecimal digits with or without colons.
    pub fingerprint: String,
    /// As whom its bearer is known.
    pub principal: SafeLabel,
    /// For a person or for a program.
    pub kind: TokenKind,
    /// What its bearer may do.
    pub scopes: Vec<Scope>,
    /// Roles in which its bearer decides pending actions.
    #[serde(default)]
    pub roles: Vec<SafeLabel>,
    /// Milliseconds until it is worth nothing; left out: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
}

/// A certificate that counts from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddCertificateResult {
    /// Its id, by which it is listed and revoked like a token.
    pub token_id: TokenId,
    /// When it is worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A token, this once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreateResult {
    /// Its id.
    pub token_id: TokenId,
    /// The secret. The node keeps its digest only and cannot show it again.
    pub token: String,
    /// When it is worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The tokens that were made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokensResult {
    /// Oldest first.
    pub items: Vec<TokenView>,
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    /// Its id.
    pub token_id: TokenId,
    /// As whom its bearer is known.
    pub principal: SafeLabel,
    /// For a person or for a program.
    pub kind: TokenKind,
    /// What its bearer may do.
    pub scopes: Vec<Scope>,
    /// Roles in which its bearer decides pending actions.
    pub roles: Vec<SafeLabel>,
    /// SHA-256 of the certificate, if it is no secret but a certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// Whether that of a person counts over network connections.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Since when it is worth nothing, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<String>,
}

/// Revokes a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeParams {
    /// Its id.
    pub token_id: TokenId,
    /// Why, for the record.
    #[serde(default)]
    pub reason: String,
}

/// A token of the calling agent's epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EpochTokenResult {
    /// The token. It dies with the epoch.
    pub token: String,
    /// When it is worth nothing in any case; ask for another before.
    pub expires_at: Timestamp,
}

/// The keys that the node signs or has signed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeysResult {
    /// Oldest first.
    pub items: Vec<KeyView>,
}

/// One key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyView {
    /// Its id.
    pub key_id: SafeLabel,
    /// The public half, base64url.
    pub public_key: String,
    /// Since when it signs.
    pub created_at: Timestamp,
    /// Since when it signs no more. What it signed stays valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Timestamp>,
}
