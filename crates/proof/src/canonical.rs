//! Canonical JSON (RFC 8785): one spelling per value.
//!
//! Narrower than the RFC in one way: numbers are integers of at most 53 bits. A float, or an integer that some
//! reader of JSON would round, is an error, because whoever made it meant a string.

mod key;
mod serializer;
mod writer;

#[cfg(test)]
mod tests;

use serde::Serialize;

use writer::Writer;

/// Largest integer that every reader of JSON reads exactly: 2^53 - 1.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// A float, or an integer beyond 53 bits.
    #[error("number {0} is not an integer between -(2^53 - 1) and 2^53 - 1")]
    Number(String),
    /// The key of a map is not text.
    #[error("a key is not text")]
    Key,
    /// An object has a key twice.
    #[error("key `{0}` stands twice in one object")]
    DuplicateKey(String),
    /// A piece of JSON whose spelling was left to the caller.
    #[error("raw JSON has no canonical form")]
    Raw,
    /// The value itself refused to be serialized.
    #[error("value cannot be serialized: {0}")]
    Value(String),
}

/// Writes canonical JSON and keeps its buffers from one value to the next.
#[derive(Debug, Default)]
pub struct Canonicalizer {
    writer: Writer,
}

impl Canonicalizer {
    /// The canonical form of `value`, until the next call.
    ///
    /// # Errors
    /// When the value has no canonical form.
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<&[u8], CanonicalError> {
        self.writer.clear();
        value.serialize(&mut self.writer)?;
        Ok(self.writer.bytes())
    }
}

/// The canonical form of `value`.
///
/// # Errors
/// When the value has no canonical form.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CanonicalError> {
    let mut writer = Writer::default();
    value.serialize(&mut writer)?;
    Ok(writer.into_bytes())
}
