//! One signed text in compact form (RFC 7515): header, payload, signature.
//!
//! Owns the three forms that this crate writes and reads, one header for each, and nothing of the standard beside
//! them. What may be chosen in the standard is not chosen by the text: not the algorithm, not the type, not the
//! spelling of the header. It knows neither envelopes nor claims.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use edgeplane_types::SafeLabel;
use serde::Deserialize;

use crate::signature::{KeyRing, SIGNATURE_BYTES, SignatureError, SigningKey};

/// What a signed text is for. The header names it, so that none of one kind passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One envelope; the payload stands elsewhere (RFC 7797).
    Envelope,
    /// The leaves of many envelopes; the payload stands elsewhere (RFC 7797).
    Batch,
    /// The manifest of a pack of evidence; the payload stands elsewhere (RFC 7797).
    Evidence,
    /// The claims of one epoch, in the text.
    Epoch,
}

impl Kind {
    fn typ(self) -> &'static str {
        match self {
            Self::Envelope => "edgeplane-envelope+jws",
            Self::Batch => "edgeplane-batch+jws",
            Self::Evidence => "edgeplane-evidence+jws",
            Self::Epoch => "edgeplane-epoch+jwt",
        }
    }

    /// The only spelling of the header. Its parts need no escape, so it is canonical JSON as it stands.
    fn header(self, key_id: &SafeLabel) -> String {
        let detached = match self {
            Self::Envelope | Self::Batch | Self::Evidence => r#""b64":false,"crit":["b64"],"#,
            Self::Epoch => "",
        };
        format!(r#"{{"alg":"EdDSA",{detached}"kid":"{key_id}","typ":"{}"}}"#, self.typ())
    }
}

/// Signs a payload that the reader has from elsewhere: `header..signature`.
pub(crate) fn sign_detached(key: &SigningKey, kind: Kind, payload: &[u8]) -> String {
    let header = URL_SAFE_NO_PAD.encode(kind.header(key.key_id()));
    let signature = key.sign_bytes(&[header.as_bytes(), b".", payload].concat());
    format!("{header}..{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Verifies what [`sign_detached`] made; answers whose key signed.
pub(crate) fn verify_detached(
    keys: &KeyRing,
    kind: Kind,
    payload: &[u8],
    text: &str,
) -> Result<SafeLabel, SignatureError> {
    let parts = Parts::split(text)?;
    if !parts.payload.is_empty() {
        return Err(SignatureError::Malformed { what: "its payload is not detached" });
    }
    parts.verify(keys, kind, &[parts.header.as_bytes(), b".", payload].concat())
}

/// Signs a payload and carries it along: `header.payload.signature`.
pub(crate) fn sign_attached(key: &SigningKey, kind: Kind, payload: &[u8]) -> String {
    let header = URL_SAFE_NO_PAD.encode(kind.header(key.key_id()));
    let mut text = format!("{header}.{}", URL_SAFE_NO_PAD.encode(payload));
    let signature = key.sign_bytes(text.as_bytes());
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut text);
    text
}

/// Verifies what [`sign_attached`] made; answers the payload.
pub(crate) fn verify_attached(keys: &KeyRing, kind: Kind, text: &str) -> Result<Vec<u8>, SignatureError> {
    let parts = Parts::split(text)?;
    parts.verify(keys, kind, parts.signed.as_bytes())?;
    decode(parts.payload, "its payload is not base64url without padding")
}

#[derive(Debug, Deserialize)]
struct Header {
    alg: String,
    kid: SafeLabel,
    typ: String,
}

struct Parts<'a> {
    header: &'a str,
    payload: &'a str,
    /// Header and payload with the point between them.
    signed: &'a str,
    signature: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Self, SignatureError> {
        let malformed = || SignatureError::Malformed { what: "it has not three parts" };
        let (signed, signature) = text.rsplit_once('.').ok_or_else(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
        Ok(Self { header, payload, signed, signature })
    }

    fn verify(&self, keys: &KeyRing, kind: Kind, signed: &[u8]) -> Result<SafeLabel, SignatureError> {
        let found = decode(self.header, "its header is not base64url without padding")?;
        let malformed = |_bad| SignatureError::Malformed { what: "its header is not what this node writes" };
        let header: Header = serde_json::from_slice(&found).map_err(malformed)?;
        if header.alg != "EdDSA" {
            return Err(SignatureError::Algorithm { found: shown(&header.alg) });
        }
        if header.typ != kind.typ() {
            return Err(SignatureError::Purpose { expected: kind.typ(), found: shown(&header.typ) });
        }
        // The one spelling: no further field, no other order, no field twice, no blank, `b64` and `crit` as they must be.
        if found != kind.header(&header.kid).as_bytes() {
            return Err(SignatureError::Malformed { what: "its header is not what this node writes" });
        }
        let Some(key) = keys.get(&header.kid) else {
            return Err(SignatureError::UnknownKey { key_id: header.kid });
        };
        let signature = decode(self.signature, "its last part is not base64url without padding")?;
        let Ok(signature) = <[u8; SIGNATURE_BYTES]>::try_from(signature) else {
            return Err(SignatureError::Malformed { what: "its last part has not 64 bytes" });
        };
        if !key.has_signed(signed, &signature) {
            return Err(SignatureError::Mismatch { key_id: header.kid });
        }
        Ok(header.kid)
    }
}

/// Reads the one spelling of some bytes: no padding, no other alphabet, no bits left over.
fn decode(text: &str, what: &'static str) -> Result<Vec<u8>, SignatureError> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_bad| SignatureError::Malformed { what })
}

/// Longest piece of a stranger's text that stands in an error, in characters.
const SHOWN_CHARS_MAX: usize = 64;

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    /// Proves MSG-035.
    #[test]
    fn header_is_canonical_and_differs_by_kind() {
        let key_id = "ed25519-0123456789abcdef".parse().unwrap();
        let mut headers = Vec::new();
        for kind in [Kind::Envelope, Kind::Batch, Kind::Evidence, Kind::Epoch] {
            let header = kind.header(&key_id);
            let value: serde_json::Value = serde_json::from_str(&header).unwrap();
            assert_eq!(canonical::to_vec(&value).unwrap(), header.as_bytes());
            assert!(!headers.contains(&header));
            headers.push(header);
        }
    }

    #[test]
    fn what_is_shown_of_a_stranger_is_short_and_harmless() {
        assert_eq!(shown("none"), "none");
        assert_eq!(shown("a\u{1b}[2Jb \u{202e}"), "a?[2Jb??");
        assert_eq!(shown(&"x".repeat(99)).len(), SHOWN_CHARS_MAX);
    }
}
