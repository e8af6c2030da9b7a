//! A named token: a random secret in a form that tells a typing error from a stranger's token.
//!
//! Its text is `ept_` and 48 characters of base64url: 32 random bytes and 4 bytes of checksum. So whoever looks for
//! secrets that were left lying about finds it by its form, and can tell a real one from a look-alike.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::{Digest, digest, digest::digest_parts};

/// Random bytes in a token.
pub const SECRET_BYTES: usize = 32;

/// What every token begins with.
const PREFIX: &str = "ept_";

const CHECKSUM_BYTES: usize = 4;

/// Bytes in the text of a token: the prefix, and 36 bytes in base64url, which leaves no bits over.
pub const NAMED_TOKEN_BYTES: usize = PREFIX.len() + (SECRET_BYTES + CHECKSUM_BYTES) / 3 * 4;

/// Why a text is not a named token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NamedTokenError {
    /// It has not the form of one. The text is not repeated: it may be another secret.
    #[error("text is not a token: it should be `ept_` and 48 characters of base64url")]
    Form,
    /// It has the form, and its checksum is wrong.
    #[error("token is mistyped: its checksum is wrong")]
    Mistyped,
}

/// A named token. It is shown only on request, and its text is overwritten when it is dropped.
#[derive(Clone)]
pub struct NamedToken {
    text: Zeroizing<String>,
}

impl NamedToken {
    /// The token that is made of these random bytes.
    #[must_use]
    pub fn from_random(secret: [u8; SECRET_BYTES]) -> Self {
        let secret = Zeroizing::new(secret);
        let mut bytes = Zeroizing::new(Vec::with_capacity(SECRET_BYTES + CHECKSUM_BYTES));
        bytes.extend_from_slice(secret.as_slice());
        bytes.extend_from_slice(&checksum(secret.as_slice()));
        let mut text = Zeroizing::new(String::with_capacity(NAMED_TOKEN_BYTES));
        text.push_str(PREFIX);
        URL_SAFE_NO_PAD.encode_string(&*bytes, &mut text);
        Self { text }
    }

    /// Reads a token that somebody brings.
    ///
    /// # Errors
    /// When it is none, or a mistyped one. One that was never given out is no error here.
    pub fn parse(text: &str) -> Result<Self, NamedTokenError> {
        let encoded = text.strip_prefix(PREFIX).ok_or(NamedTokenError::Form)?;
        if text.len() != NAMED_TOKEN_BYTES {
            return Err(NamedTokenError::Form);
        }
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_bad| NamedTokenError::Form)?;
        let bytes = Zeroizing::new(bytes);
        let (secret, found) = bytes.split_at_checked(SECRET_BYTES).ok_or(NamedTokenError::Form)?;
        if found != checksum(secret) {
            return Err(NamedTokenError::Mistyped);
        }
        Ok(Self { text: Zeroizing::new(text.to_owned()) })
    }

    /// The secret itself, to be given out once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What the record keeps: the SHA-256 of the text. From 32 random bytes nothing can be guessed by it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest(self.text.as_bytes())
    }

    /// Whether it is the token with this digest. The time that takes says nothing about the digest.
    #[must_use]
    pub fn matches(&self, kept: &Digest) -> bool {
        self.digest().as_bytes().ct_eq(kept.as_bytes()).into()
    }
}

impl fmt::Debug for NamedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedToken").finish_non_exhaustive()
    }
}

/// The first four bytes of the SHA-256 of the prefix and the secret.
fn checksum(secret: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut sum = [0; CHECKSUM_BYTES];
    let whole = digest_parts(&[PREFIX.as_bytes(), secret]);
    for (to, from) in sum.iter_mut().zip(whole.as_bytes()) {
        *to = *from;
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    /// Proves MSG-043.
    #[test]
    fn token_has_one_form() {
        let token = NamedToken::from_random([7; SECRET_BYTES]);
        // printf 'ept_\7\7…' | sha256sum, first four bytes behind the secret.
        assert_eq!(token.reveal(), "ept_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwdT93YL");
        assert_eq!(token.reveal().len(), NAMED_TOKEN_BYTES);
        let text = token.reveal();
        for bad in [
            String::new(),
            PREFIX.to_owned(),
            text.replace("ept_", "epx_"),
            text[4..].to_owned(),
            format!("{text}="),
            format!("{text}A"),
            format!(" {text}"),
            format!("{text}\n"),
            text[..text.len() - 1].to_owned(),
            text[..text.len() - 4].to_owned(),
            format!("{}+", &text[..text.len() - 1]),
            format!("{}ä", &text[..text.len() - 2]),
        ] {
            assert_eq!(NamedToken::parse(&bad).unwrap_err(), NamedTokenError::Form, "{bad:?}");
        }
    }

    /// Proves MSG-043.
    #[test]
    fn each_wrong_character_is_a_typing_error() {
        let token = NamedToken::from_random([9; SECRET_BYTES]);
        for at in PREFIX.len()..NAMED_TOKEN_BYTES {
            for other in ALPHABET {
                let mut text = token.reveal().as_bytes().to_vec();
                if text[at] == *other {
                    continue;
                }
                text[at] = *other;
                let text = String::from_utf8(text).unwrap();
                assert_eq!(NamedToken::parse(&text).unwrap_err(), NamedTokenError::Mistyped, "{text}");
            }
        }
    }

    /// Proves MSG-044.
    #[test]
    fn digest_is_of_the_text_and_nothing_shows_the_secret() {
        let token = NamedToken::from_random([7; SECRET_BYTES]);
        assert_eq!(token.digest(), digest(token.reveal().as_bytes()));
        assert!(token.matches(&token.digest()));
        let shown = format!("{token:?}");
        assert_eq!(shown, "NamedToken { .. }");
        let kept = token.digest();
        for bit in 0..256 {
            let mut bytes = *kept.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!token.matches(&Digest::from_bytes(bytes)), "{bit}");
        }
    }

    proptest! {
        /// Proves MSG-043 and MSG-044.
        #[test]
        fn token_survives_its_text_and_matches_itself_only(secrets in any::<[[u8; SECRET_BYTES]; 4]>()) {
            let tokens = secrets.map(NamedToken::from_random);
            let distinct: BTreeSet<_> = secrets.iter().collect();
            let digests: BTreeSet<_> = tokens.iter().map(NamedToken::digest).collect();
            prop_assert_eq!(digests.len(), distinct.len());
            for (token, secret) in tokens.iter().zip(secrets) {
                let read = NamedToken::parse(token.reveal()).unwrap();
                prop_assert_eq!(read.reveal(), token.reveal());
                prop_assert!(read.matches(&NamedToken::from_random(secret).digest()));
            }
        }
    }
}
