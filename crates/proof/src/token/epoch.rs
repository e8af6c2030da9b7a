//! The signed token of one epoch: a compact JWT that any library can read.

use edgeplane_types::{AgentId, AgentName, Epoch, NodeId, Timestamp, TokenId};
use serde::{Deserialize, Serialize};

use crate::{
    CanonicalError, KeyRing, SignatureError, SigningKey, canonical,
    jws::{self, Kind},
    signature::check_length,
};

/// Longest token in bytes. One with the longest name has under 700; a header line of HTTP takes 4 KiB anywhere.
pub const TOKEN_BYTES_MAX: usize = 4_096;

/// How far the clock may have been set back since a token was made, in seconds. The end of a token has no such margin.
pub const SKEW_SECONDS: u64 = 60;

/// What the token of an epoch says, under the names that JWT gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpochClaims {
    /// The node that made it.
    pub iss: NodeId,
    /// The agent that it speaks for.
    pub sub: AgentId,
    /// The agent's name at the time.
    pub name: AgentName,
    /// The epoch with which it ends.
    pub epoch: Epoch,
    /// When it was made, in seconds since 1970.
    pub iat: u64,
    /// When it ends, in seconds since 1970.
    pub exp: u64,
    /// Its own id.
    pub jti: TokenId,
}

/// Why a token cannot be made, or is worth nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Its signature is not that of a known key, or it has not the form of a token.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// It would end before it begins.
    #[error("token ends at {exp}, not after it begins at {iat}")]
    Span {
        /// When it begins.
        iat: u64,
        /// When it ends.
        exp: u64,
    },
    /// Its claims have a number beyond 53 bits.
    #[error("claims have no canonical form")]
    Canonical(#[source] CanonicalError),
    /// A known key signed claims that are not those of an epoch.
    #[error("claims are not those of an epoch: {problem}")]
    Claims {
        /// What is wrong with them.
        problem: String,
    },
    /// Another node made it.
    #[error("token is of node `{found}`, not of `{expected}`")]
    Node {
        /// This node.
        expected: NodeId,
        /// The other one.
        found: NodeId,
    },
    /// Its time has not begun.
    #[error("token begins at {iat}, and it is {now}")]
    NotYetValid {
        /// When it begins, in seconds since 1970.
        iat: u64,
        /// What time it is, in seconds since 1970.
        now: u64,
    },
    /// Its time is over.
    #[error("token ended at {exp}, and it is {now}")]
    Expired {
        /// When it ended, in seconds since 1970.
        exp: u64,
        /// What time it is, in seconds since 1970.
        now: u64,
    },
}

/// Makes the token of an epoch.
///
/// # Errors
/// When it would end before it begins, or a number is beyond 53 bits.
pub fn issue(key: &SigningKey, claims: &EpochClaims) -> Result<String, TokenError> {
    let EpochClaims { iat, exp, .. } = *claims;
    if exp <= iat {
        return Err(TokenError::Span { iat, exp });
    }
    let payload = canonical::to_vec(claims).map_err(TokenError::Canonical)?;
    Ok(jws::sign_attached(key, Kind::Epoch, &payload))
}

/// Reads a token of an epoch of the node `node` at `now`.
///
/// Whether that epoch still lives, and whether the agent is still there, the caller has to look up.
///
/// # Errors
/// When it is not the token of a known key and of this node, or not in its time.
pub fn read(token: &str, keys: &KeyRing, node: NodeId, now: Timestamp) -> Result<EpochClaims, TokenError> {
    check_length(token, TOKEN_BYTES_MAX)?;
    let payload = jws::verify_attached(keys, Kind::Epoch, token)?;
    let claims: EpochClaims = serde_json::from_slice(&payload)
        .map_err(|problem| TokenError::Claims { problem: problem.to_string() })?;
    if claims.iss != node {
        return Err(TokenError::Node { expected: node, found: claims.iss });
    }
    let now = now.as_millis() / 1_000;
    if claims.iat > now.saturating_add(SKEW_SECONDS) {
        return Err(TokenError::NotYetValid { iat: claims.iat, now });
    }
    if now >= claims.exp {
        return Err(TokenError::Expired { exp: claims.exp, now });
    }
    Ok(claims)
}

#[cfg(test)]
mod tests;
