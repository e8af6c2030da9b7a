//! The keys that an issuer publishes, and the one that a token was signed with.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey, Validation, decode,
    errors::ErrorKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{Refused, claims::Claims, token::Header};

/// Most keys of one issuer that are looked at.
const KEYS_MAX: usize = 100;

/// Shortest RSA modulus in bytes: 2,048 bits.
const RSA_BYTES_MIN: usize = 256;

/// A public key and the one algorithm that it is for.
#[derive(Clone)]
pub(crate) struct Key {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// Everything that an issuer publishes at a time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Vec<Key>);

#[derive(Deserialize)]
struct Published {
    keys: Vec<Value>,
}

impl Keys {
    /// Reads a set of keys. A key that is not known, or not fit to be used, is passed over: others may be.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let published: Published = serde_json::from_slice(bytes)?;
        let keys = published.keys.into_iter().take(KEYS_MAX);
        Ok(Self(keys.filter_map(|key| Key::of(serde_json::from_value(key).ok()?)).collect()))
    }

    /// The key that a header names. A header that names none means the only key for its algorithm.
    pub(crate) fn find(&self, header: &Header) -> Result<Key, Refused> {
        let mut fit = self.0.iter().filter(|key| match &header.key_id {
            Some(id) => key.id.as_ref() == Some(id),
            None => key.algorithm == header.algorithm,
        });
        let found = fit.next().ok_or(Refused::UnknownKey)?;
        if fit.next().is_some() {
            return Err(Refused::UnknownKey);
        }
        // A key is for one algorithm, whatever a token would like it to be for.
        if found.algorithm == header.algorithm { Ok(found.clone()) } else { Err(Refused::Algorithm) }
    }
}

impl Key {
    fn of(jwk: Jwk) -> Option<Self> {
        let (algorithm, named) = match &jwk.algorithm {
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                (Algorithm::ES256, KeyAlgorithm::ES256)
            }
            AlgorithmParameters::RSA(key) => {
                let modulus = URL_SAFE_NO_PAD.decode(key.n.trim_end_matches('=')).ok()?;
                let is_long = modulus.iter().skip_while(|byte| **byte == 0).count() >= RSA_BYTES_MIN;
                is_long.then_some((Algorithm::RS256, KeyAlgorithm::RS256))?
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
            }
            _ => return None,
        };
        let is_for_this = jwk.common.key_algorithm.is_none_or(|of| of == named);
        let is_to_sign = jwk.common.public_key_use.as_ref().is_none_or(|of| *of == PublicKeyUse::Signature);
        if !is_for_this || !is_to_sign {
            return None;
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some(Self { id: jwk.common.key_id, algorithm, key })
    }

    /// The claims of a token, if it was signed with this key. Times, issuer and audience are looked at afterwards.
    pub(crate) fn verified(&self, text: &str, header: &Header) -> Result<Claims, Refused> {
        let mut validation = Validation::new(header.algorithm);
        validation.algorithms = vec![self.algorithm];
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        decode::<Claims>(text, &self.key, &validation).map(|token| token.claims).map_err(|error| match error
            .kind()
        {
            ErrorKind::Json(_) => Refused::Form("its claims cannot be read"),
            ErrorKind::InvalidAlgorithm => Refused::Algorithm,
            _ => Refused::Forged,
        })
    }
}
