//! What makes the record tamper-evident: one spelling per value, digests, and a hash chain per stream.
//!
//! Owns canonical JSON, the digest and the chain. It deliberately knows no file, database, clock or event: it works
//! on whatever serializes, and on bytes.
#![forbid(unsafe_code)]

pub mod canonical;
pub mod chain;
pub mod digest;

pub use canonical::{CanonicalError, Canonicalizer};
pub use chain::{Broken, Link, Verifier};
pub use digest::{Digest, DigestError, digest};
