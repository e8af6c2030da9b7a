//! The node's signature over what leaves it: who wrote an envelope, and that nobody changed it since.
//!
//! Owns detached signatures over the canonical form of one envelope, or of many at once, and the keys behind them.
//! A signature is a JWS whose payload is not encoded and stands elsewhere (RFC 7797): what is signed is
//!
//! ```text
//! BASE64URL({"alg":"EdDSA","b64":false,"crit":["b64"],"kid":KEY,"typ":"edgeplane-envelope+jws"}) . CANONICAL
//! ```
//!
//! and what is kept is `header..signature`. The header's `typ` keeps the uses of a key apart. A content that is not in
//! the envelope is covered by the envelope's `content_digest`. It does not know where keys are kept, whether an
//! envelope is new, or which envelopes should be signed; a signature that is copied stays as good as it was.

mod batch;
mod key;

use edgeplane_types::SafeLabel;
use serde::Serialize;

use crate::{
    canonical::{self, CanonicalError},
    jws::{self, Kind},
};

pub use batch::{BATCH_LEAVES_MAX, SignedBatch, VerifiedBatch};
pub use key::{KeyError, KeyRing, PublicKey, SEED_BYTES, SIGNATURE_BYTES, SigningKey};

/// Longest detached signature in bytes. The longest that can be written, with a key id of 128 bytes, has under 400.
pub const DETACHED_BYTES_MAX: usize = 512;

/// Why something cannot be signed, or a signature is not one of a known key over this very value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Longer than any that is written here.
    #[error("signature has {found} bytes; at most {max} are read")]
    TooLong {
        /// How long it is.
        found: usize,
        /// How long it may be.
        max: usize,
    },
    /// Not of the form, or not in its one spelling.
    #[error("signature is malformed: {what}")]
    Malformed {
        /// What is wrong with it.
        what: &'static str,
    },
    /// It names another algorithm.
    #[error("algorithm `{found}` is refused: only EdDSA is read")]
    Algorithm {
        /// Which.
        found: String,
    },
    /// It was made for something else.
    #[error("signature is a `{found}`, not a `{expected}`")]
    Purpose {
        /// What is asked for.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// No key of that name is known.
    #[error("key `{key_id}` is not known")]
    UnknownKey {
        /// The name.
        key_id: SafeLabel,
    },
    /// The key did not sign this value.
    #[error("key `{key_id}` did not sign this value")]
    Mismatch {
        /// The key that is named.
        key_id: SafeLabel,
    },
    /// The value cannot be signed.
    #[error("value has no canonical form")]
    Canonical(#[source] CanonicalError),
    /// A batch is empty or too large.
    #[error("batch has {found} leaves; it should have 1 to {BATCH_LEAVES_MAX}")]
    Leaves {
        /// How many it has.
        found: usize,
    },
    /// The value is not where its batch should hold it.
    #[error("value is not leaf {index} of its batch")]
    NotInBatch {
        /// Where it should be.
        index: usize,
    },
}

impl SigningKey {
    /// Signs the canonical form of one envelope.
    ///
    /// # Errors
    /// When it has no canonical form.
    pub fn sign<T: Serialize + ?Sized>(&self, envelope: &T) -> Result<String, SignatureError> {
        Ok(jws::sign_detached(self, Kind::Envelope, &canonical_form(envelope)?))
    }
}

/// Verifies a signature over one envelope; answers whose key signed.
///
/// # Errors
/// When it is not the signature of a known key over exactly this envelope.
pub fn verify<T: Serialize + ?Sized>(
    keys: &KeyRing,
    envelope: &T,
    signature: &str,
) -> Result<SafeLabel, SignatureError> {
    check_length(signature, DETACHED_BYTES_MAX)?;
    jws::verify_detached(keys, Kind::Envelope, &canonical_form(envelope)?, signature)
}

pub(crate) fn check_length(text: &str, max: usize) -> Result<(), SignatureError> {
    if text.len() > max {
        return Err(SignatureError::TooLong { found: text.len(), max });
    }
    Ok(())
}

fn canonical_form<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, SignatureError> {
    canonical::to_vec(value).map_err(SignatureError::Canonical)
}

#[cfg(test)]
mod tests;
