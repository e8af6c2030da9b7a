//! The form of a signed token: what its parts say before anything of it is believed.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::Algorithm;
use serde::Deserialize;

use crate::Refused;

/// Longest token in bytes.
pub const TOKEN_BYTES_MAX: usize = 16 << 10;

/// Longest name of a key in bytes.
const KEY_ID_BYTES_MAX: usize = 256;

/// What a header says of the signature.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<String>,
}

#[derive(Deserialize)]
struct RawHeader {
    alg: String,
    kid: Option<String>,
    crit: Option<serde_json::Value>,
    b64: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Named {
    iss: String,
}

fn part(text: &str, index: usize) -> Option<Vec<u8>> {
    if text.len() > TOKEN_BYTES_MAX || text.split('.').count() != 3 {
        return None;
    }
    URL_SAFE_NO_PAD.decode(text.split('.').nth(index)?).ok()
}

/// The issuer that a text says it is of.
pub(crate) fn issuer(text: &str) -> Option<String> {
    let claims = part(text, 1)?;
    serde_json::from_slice::<Named>(&claims).ok().map(|named| named.iss)
}

/// The header of a token, if it is one that can count.
pub(crate) fn header(text: &str) -> Result<Header, Refused> {
    let bytes = part(text, 0).ok_or(Refused::Form("it has not three parts"))?;
    let raw: RawHeader =
        serde_json::from_slice(&bytes).map_err(|_other| Refused::Form("its header cannot be read"))?;
    // What must be understood and is not, makes a token void.
    if raw.crit.is_some() || raw.b64.is_some() {
        return Err(Refused::Algorithm);
    }
    let algorithm = match raw.alg.as_str() {
        "ES256" => Algorithm::ES256,
        "RS256" => Algorithm::RS256,
        "EdDSA" => Algorithm::EdDSA,
        _ => return Err(Refused::Algorithm),
    };
    if raw.kid.as_ref().is_some_and(|kid| kid.len() > KEY_ID_BYTES_MAX) {
        return Err(Refused::UnknownKey);
    }
    Ok(Header { algorithm, key_id: raw.kid })
}
