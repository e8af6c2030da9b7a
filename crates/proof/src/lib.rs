//! What makes the record tamper-evident and a word's origin provable: one spelling per value, digests, a hash chain
//! per stream, signatures and tokens.
//!
//! Owns canonical JSON, the digest, the chain, the node's key and what it signs, and packs of evidence. It deliberately knows no file,
//! database, clock or randomness: it works on whatever serializes, and on bytes; keys and secrets are made of random
//! bytes that the caller brings.
#![forbid(unsafe_code)]

pub mod action;
pub mod canonical;
pub mod chain;
pub mod digest;
mod jws;
pub mod pack;
pub mod signature;
pub mod token;
pub mod webhook;

pub use action::action_digest;
pub use canonical::{CanonicalError, Canonicalizer};
pub use chain::{Broken, Link, Verifier};
pub use digest::{Digest, DigestError, digest};
pub use signature::{KeyRing, PublicKey, SignatureError, SignedBatch, SigningKey};
pub use token::{EpochClaims, NamedToken, TokenError};
