//! The digest under which something is kept.

use std::{fmt, str::FromStr};

/// The BLAKE3 digest of what is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 32]);

/// Why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is {} small hexadecimal digits", Id::BYTES * 2)]
pub struct IdError;

impl Id {
    /// Its size.
    pub(crate) const BYTES: usize = 32;

    /// Stands for zeros, however many; they are never kept.
    pub(crate) const ZEROS: Self = Self([0; 32]);

    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Id {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let hash = blake3::Hash::from_hex(text).map_err(|_bad| IdError)?;
        // One spelling for each digest.
        if hash.to_hex().as_str() == text { Ok(Self(*hash.as_bytes())) } else { Err(IdError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_has_one_spelling() {
        let id = Id::of(b"x");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().to_uppercase().parse::<Id>(), Err(IdError));
        assert_eq!("12".parse::<Id>(), Err(IdError));
    }
}
