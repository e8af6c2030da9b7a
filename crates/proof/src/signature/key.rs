//! The node's key, its public half, and the public halves that are known.
//!
//! A key is made of 32 random bytes that the caller brings and keeps. Signatures are Ed25519 (RFC 8032), verified
//! strictly: no key of small order, no second spelling of a signature.

use std::{collections::BTreeMap, fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use edgeplane_types::SafeLabel;
use zeroize::Zeroizing;

use crate::digest;

/// Bytes that a key is made of.
pub const SEED_BYTES: usize = 32;

/// Bytes in a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// Bytes in a public key.
const PUBLIC_BYTES: usize = 32;

/// Hexadecimal digits of the digest of a public key that stand in its id.
const KEY_ID_DIGITS: usize = 16;

/// Why a text is not a public key, or a key is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not 32 bytes in base64url.
    #[error("public key is not 32 bytes in base64url without padding")]
    Spelling,
    /// Those bytes are no key, or one under which anything can be signed.
    #[error("public key is not a usable point of Ed25519")]
    Point,
    /// Another key has this id.
    #[error("key id `{key_id}` already names another key")]
    Taken {
        /// The id.
        key_id: SafeLabel,
    },
}

/// The key that a node signs with. It is not shown, and its bytes are overwritten when it is dropped.
pub struct SigningKey {
    secret: ed25519_dalek::SigningKey,
    public: PublicKey,
}

impl SigningKey {
    /// The key that is made of these random bytes; the same bytes make the same key.
    #[must_use]
    pub fn from_seed(seed: [u8; SEED_BYTES]) -> Self {
        let seed = Zeroizing::new(seed);
        let secret = ed25519_dalek::SigningKey::from_bytes(&seed);
        let public = PublicKey::of(secret.verifying_key());
        Self { secret, public }
    }

    /// Its public half.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The name by which signatures name it.
    #[must_use]
    pub fn key_id(&self) -> &SafeLabel {
        self.public.key_id()
    }

    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.secret.sign(bytes).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("key_id", &self.key_id().as_str()).finish_non_exhaustive()
    }
}

/// The half of a key that everybody may know. Its text form is base64url without padding, 43 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
    key_id: SafeLabel,
}

impl PublicKey {
    fn of(key: VerifyingKey) -> Self {
        let hex = digest(key.as_bytes()).to_string();
        let short: String = hex.chars().take(KEY_ID_DIGITS).collect();
        Self { key, key_id: SafeLabel::sanitized(&format!("ed25519-{short}")) }
    }

    /// Its name: `ed25519-` and the first 16 hexadecimal digits of the SHA-256 of its bytes.
    #[must_use]
    pub fn key_id(&self) -> &SafeLabel {
        &self.key_id
    }

    pub(crate) fn has_signed(&self, bytes: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.key.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.key.as_bytes()))
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_bad| KeyError::Spelling)?;
        let bytes: [u8; PUBLIC_BYTES] = bytes.try_into().map_err(|_bad| KeyError::Spelling)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_bad| KeyError::Point)?;
        // One spelling per point: a coordinate beyond the field's prime is read as another one.
        if key.is_weak() || key.to_edwards().compress().as_bytes() != &bytes {
            return Err(KeyError::Point);
        }
        Ok(Self::of(key))
    }
}

/// The public keys that are known by id: the current one, and old ones, whose signatures stay good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRing {
    keys: BTreeMap<SafeLabel, PublicKey>,
}

impl KeyRing {
    /// Takes a key in; one that is there already changes nothing.
    ///
    /// # Errors
    /// When another key has its id.
    pub fn add(&mut self, key: PublicKey) -> Result<(), KeyError> {
        match self.keys.get(key.key_id()) {
            Some(known) if *known != key => Err(KeyError::Taken { key_id: key.key_id }),
            Some(_) => Ok(()),
            None => {
                self.keys.insert(key.key_id.clone(), key);
                Ok(())
            }
        }
    }

    /// The key with this id.
    #[must_use]
    pub fn get(&self, key_id: &SafeLabel) -> Option<&PublicKey> {
        self.keys.get(key_id)
    }
}
