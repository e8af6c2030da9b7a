//! SHA-256 digests and their one text form: 64 lower-case hexadecimal digits.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// Bytes in a digest.
pub const DIGEST_BYTES: usize = 32;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; DIGEST_BYTES]);

/// Why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a SHA-256 digest: it should be 64 lower-case hexadecimal digits")]
pub struct DigestError(String);

/// The digest of a body: plain SHA-256, so that any tool can check it.
#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// The digest of several slices as if they were one.
pub(crate) fn digest_parts(parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    Digest(hasher.finalize().into())
}

impl Digest {
    /// The digest with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; DIGEST_BYTES]) -> Self {
        Self(bytes)
    }

    /// The digest with these bytes, if there are exactly as many as a digest has.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; DIGEST_BYTES] {
        &self.0
    }
}

/// A digest that grows with what is written to it.
#[derive(Debug, Clone, Default)]
pub struct Digester(Sha256);

impl Digester {
    /// Takes these bytes in after those before.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything taken in.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; DIGEST_BYTES * 2];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        // One spelling per digest: upper case is refused.
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn parse(text: &str) -> Option<Digest> {
    let text: &[u8; DIGEST_BYTES * 2] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; DIGEST_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(Digest(bytes))
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        parse(text).ok_or_else(|| DigestError(text.chars().take(80).collect()))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_plain_sha_256_in_lower_case() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest(b"abc").to_string(), expected);
        assert_eq!(digest_parts(&[b"a", b"", b"bc"]).to_string(), expected);
        let mut digester = Digester::default();
        digester.update(b"ab");
        digester.update(b"c");
        assert_eq!(digester.finish().to_string(), expected);
    }

    #[test]
    fn text_form_round_trips_and_has_one_spelling() {
        let one = digest(b"x");
        assert_eq!(one.to_string().parse(), Ok(one));
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), one);
        for bad in
            [one.to_string().to_uppercase(), one.to_string()[1..].to_owned(), "g".repeat(64), String::new()]
        {
            assert!(bad.parse::<Digest>().is_err(), "{bad}");
        }
    }
}
