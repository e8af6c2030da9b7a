//! One signature for many envelopes.
//!
//! What is signed is the list of their digests. A tree of hashes would make the proof of a single envelope shorter,
//! but the envelopes of a batch leave together, so the list goes with them once; and there is no path to get wrong.

use edgeplane_types::SafeLabel;
use serde::{Deserialize, Serialize};

use super::{DETACHED_BYTES_MAX, KeyRing, SignatureError, SigningKey, canonical_form, check_length};
use crate::{
    Canonicalizer, Digest, digest,
    jws::{self, Kind},
};

/// Most envelopes under one signature. The list of so many digests has 67 KiB.
pub const BATCH_LEAVES_MAX: usize = 1_024;

/// A list of leaves, and the signature over it. A leaf is the SHA-256 of an envelope's canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedBatch {
    /// `header..signature` over the canonical form of `{"leaves":[…]}`.
    pub signature: String,
    /// The leaves, in the order of the envelopes.
    pub leaves: Vec<Digest>,
}

/// A batch whose signature is good: it can be asked for each of its envelopes.
#[derive(Debug, Clone)]
pub struct VerifiedBatch<'a> {
    leaves: &'a [Digest],
    key_id: SafeLabel,
}

#[derive(Serialize)]
struct Leaves<'a> {
    leaves: &'a [Digest],
}

impl SigningKey {
    /// Signs up to [`BATCH_LEAVES_MAX`] envelopes at once.
    ///
    /// # Errors
    /// When there is none or there are more, or when one has no canonical form.
    pub fn sign_batch<T: Serialize>(&self, envelopes: &[T]) -> Result<SignedBatch, SignatureError> {
        check_count(envelopes.len())?;
        let mut canonical = Canonicalizer::default();
        let leaves = envelopes
            .iter()
            .map(|envelope| canonical.write(envelope).map(digest).map_err(SignatureError::Canonical))
            .collect::<Result<Vec<_>, _>>()?;
        let payload = canonical_form(&Leaves { leaves: &leaves })?;
        Ok(SignedBatch { signature: jws::sign_detached(self, Kind::Batch, &payload), leaves })
    }
}

impl SignedBatch {
    /// Verifies the signature over the leaves.
    ///
    /// # Errors
    /// When it is not the signature of a known key over exactly these leaves.
    pub fn verify(&self, keys: &KeyRing) -> Result<VerifiedBatch<'_>, SignatureError> {
        check_count(self.leaves.len())?;
        check_length(&self.signature, DETACHED_BYTES_MAX)?;
        let payload = canonical_form(&Leaves { leaves: &self.leaves })?;
        let key_id = jws::verify_detached(keys, Kind::Batch, &payload, &self.signature)?;
        Ok(VerifiedBatch { leaves: &self.leaves, key_id })
    }
}

impl VerifiedBatch<'_> {
    /// Looks whether `envelope` is the one at `index`, from zero; answers whose key signed.
    ///
    /// # Errors
    /// When it is not.
    pub fn verify<T: Serialize + ?Sized>(
        &self,
        index: usize,
        envelope: &T,
    ) -> Result<&SafeLabel, SignatureError> {
        let leaf = digest(&canonical_form(envelope)?);
        if self.leaves.get(index) != Some(&leaf) {
            return Err(SignatureError::NotInBatch { index });
        }
        Ok(&self.key_id)
    }
}

fn check_count(found: usize) -> Result<(), SignatureError> {
    if (1..=BATCH_LEAVES_MAX).contains(&found) { Ok(()) } else { Err(SignatureError::Leaves { found }) }
}
