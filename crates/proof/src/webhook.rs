//! Signatures of deliveries over HTTP: HMAC-SHA256 with a shared secret, in the form of Standard Webhooks.
//!
//! What is signed is `ID.TIMESTAMP.BODY`, so none of them can be changed or used with another one. How old a delivery may
//! be, and that it counts once, is the caller's business.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Bytes of a block of SHA-256.
const BLOCK_BYTES: usize = 64;

/// What a secret begins with that is written in base64.
const ENCODED: &str = "whsec_";

/// What a signature of this form begins with.
const VERSION: &str = "v1,";

/// Signatures of one delivery that are looked at: a sender that changes its secret signs with both.
const SIGNATURES_MAX: usize = 8;

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut block = [0; BLOCK_BYTES];
    let short: &[u8] = if key.len() > BLOCK_BYTES { &Sha256::digest(key) } else { key };
    for (to, from) in block.iter_mut().zip(short) {
        *to = *from;
    }
    let inner = parts
        .iter()
        .fold(Sha256::new_with_prefix(block.map(|byte| byte ^ 0x36)), |hash, part| hash.chain_update(part));
    let outer = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x5c)).chain_update(inner.finalize());
    outer.finalize().into()
}

/// The bytes of a secret: of one that begins with `whsec_` what its base64 says, else its own.
fn key_of(secret: &str) -> Option<Vec<u8>> {
    let key = match secret.strip_prefix(ENCODED) {
        Some(encoded) => STANDARD.decode(encoded).ok()?,
        None => secret.as_bytes().to_vec(),
    };
    (!key.is_empty()).then_some(key)
}

fn mac(key: &[u8], (id, timestamp, body): (&str, &str, &[u8])) -> [u8; 32] {
    hmac(key, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body])
}

/// The signature of a delivery; none with a secret that cannot be one.
#[must_use]
pub fn sign(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Option<String> {
    let key = key_of(secret)?;
    Some(format!("{VERSION}{}", STANDARD.encode(mac(&key, (id, timestamp, body)))))
}

/// Whether one of the signatures, parted by spaces, is that of the delivery. Each is compared in the same time, whatever
/// stands in it.
#[must_use]
pub fn verify(secret: &str, delivery: (&str, &str, &[u8]), signatures: &str) -> bool {
    let Some(key) = key_of(secret) else { return false };
    let expected = mac(&key, delivery);
    let known = signatures.split(' ').take(SIGNATURES_MAX).filter_map(|one| one.strip_prefix(VERSION));
    let given = known.filter_map(|encoded| STANDARD.decode(encoded).ok());
    given.fold(false, |is_any, given| is_any | bool::from(expected.as_slice().ct_eq(&given)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves AUT-021.
    #[test]
    fn codes_are_those_of_rfc_4231() {
        let check = |key: &[u8], data: &[u8], expected: &str| {
            let hex: String = hmac(key, &[data]).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected);
        };
        check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }

    /// Proves AUT-021.
    #[test]
    fn a_signature_is_of_one_delivery_with_one_secret() {
        // The example of the specification of Standard Webhooks.
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let (id, at, body) =
            ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b"{\"test\": 2432232314}".as_slice());
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(sign(secret, id, at, body).as_deref(), Some(signature));
        assert!(verify(secret, (id, at, body), signature));
        assert!(verify(secret, (id, at, body), &format!("v2,x v1,AAAA {signature}")));
        assert!(!verify(secret, ("msg_other", at, body), signature));
        assert!(!verify(secret, (id, "1614265331", body), signature));
        assert!(!verify(secret, (id, at, b"{}"), signature));
        assert!(!verify("another", (id, at, body), signature));
        for wrong in ["", "v1,", "v1", &signature[3..], "v1a,g0hM9SsE"] {
            assert!(!verify(secret, (id, at, body), wrong), "{wrong}");
        }
        for none in ["", "whsec_", "whsec_*"] {
            assert!(!verify(none, (id, at, body), signature), "{none}");
            assert!(sign(none, id, at, body).is_none(), "{none}");
        }
        assert!(verify("plain words", (id, at, body), &sign("plain words", id, at, body).unwrap()));
    }
}
