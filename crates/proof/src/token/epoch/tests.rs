//! One token as another implementation reads it, its time, and every way to be refused.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const BEGIN: u64 = 1_795_253_400;
const END: u64 = BEGIN + 900;

fn key() -> SigningKey {
    SigningKey::from_seed([7; 32])
}

fn keys() -> KeyRing {
    let mut keys = KeyRing::default();
    keys.add(key().public().clone()).unwrap();
    keys
}

fn node() -> NodeId {
    NodeId::from_parts(1, [1; 10])
}

fn claims() -> EpochClaims {
    EpochClaims {
        iss: node(),
        sub: AgentId::from_parts(2, [2; 10]),
        name: "alpha".parse().unwrap(),
        epoch: Epoch(3),
        iat: BEGIN,
        exp: END,
        jti: TokenId::from_parts(4, [4; 10]),
    }
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(i64::try_from(seconds).unwrap() * 1_000_000)
}

fn read_now(token: &str) -> Result<EpochClaims, TokenError> {
    read(token, &keys(), node(), at(BEGIN + 1))
}

/// Signs any header and any payload with the node's key, as a defect of ours could.
fn forge(header: &str, payload: &str) -> String {
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
    let signature = key().sign_bytes(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn header() -> String {
    format!(r#"{{"alg":"EdDSA","kid":"{}","typ":"edgeplane-epoch+jwt"}}"#, key().key_id())
}

/// Proves MSG-041.
#[test]
fn token_is_a_common_jwt() {
    let token = issue(&key(), &claims()).unwrap();
    assert_eq!(read_now(&token), Ok(claims()));
    let parts: Vec<_> = token.split('.').map(|part| URL_SAFE_NO_PAD.decode(part).unwrap()).collect();
    assert_eq!(parts.len(), 3);
    assert_eq!(String::from_utf8(parts[0].clone()).unwrap(), header());
    let payload: Value = serde_json::from_slice(&parts[1]).unwrap();
    let expected = json!({
        "iss": "nod_00000000-0001-7101-8101-010101010101",
        "sub": "agt_00000000-0002-7202-8202-020202020202",
        "name": "alpha",
        "epoch": 3,
        "iat": BEGIN,
        "exp": END,
        "jti": "tok_00000000-0004-7404-8404-040404040404",
    });
    assert_eq!(payload, expected);
    assert_eq!(parts[2].len(), 64);
    // Verified once with PyJWT 2 and Python's `cryptography`; a change of the form shows here.
    let expected = concat!(
        "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkMjU1MTktZmU4MTJjMTJmM2FiNGNlNiIsInR5cCI6ImVkZ2VwbGFuZS1lcG9jaCtqd3Qi",
        "fQ.eyJlcG9jaCI6MywiZXhwIjoxNzk1MjU0MzAwLCJpYXQiOjE3OTUyNTM0MDAsImlzcyI6Im5vZF8wMDAwMDAwMC0wMDAxLTcxM",
        "DEtODEwMS0wMTAxMDEwMTAxMDEiLCJqdGkiOiJ0b2tfMDAwMDAwMDAtMDAwNC03NDA0LTg0MDQtMDQwNDA0MDQwNDA0IiwibmFtZ",
        "SI6ImFscGhhIiwic3ViIjoiYWd0XzAwMDAwMDAwLTAwMDItNzIwMi04MjAyLTAyMDIwMjAyMDIwMiJ9.n38CP3SdlVPAHsXSGIHz",
        "Y2xxaCO-P42Fse84hSSMY8-xWtT-QDGKMU61u2D06f7UvVX1C492jNU0JHFLv3LgAg"
    );
    assert_eq!(token, expected);
}

/// Proves MSG-042.
#[test]
fn token_has_its_time() {
    let token = issue(&key(), &claims()).unwrap();
    let check = |now: Timestamp, expected: Result<(), TokenError>| {
        assert_eq!(read(&token, &keys(), node(), now).map(|_| ()), expected, "{now}");
    };
    check(at(BEGIN), Ok(()));
    check(at(BEGIN - SKEW_SECONDS), Ok(()));
    let early = BEGIN - SKEW_SECONDS - 1;
    check(at(early), Err(TokenError::NotYetValid { iat: BEGIN, now: early }));
    check(at(END - 1), Ok(()));
    check(Timestamp::from_micros(at(END).as_micros() - 1), Ok(()));
    check(at(END), Err(TokenError::Expired { exp: END, now: END }));
    check(at(END + 1), Err(TokenError::Expired { exp: END, now: END + 1 }));
    check(Timestamp::from_micros(i64::MIN), Err(TokenError::NotYetValid { iat: BEGIN, now: 0 }));

    for exp in [BEGIN, BEGIN - 1, 0] {
        let made = issue(&key(), &EpochClaims { exp, ..claims() });
        assert_eq!(made, Err(TokenError::Span { iat: BEGIN, exp }));
    }
    let made = issue(&key(), &EpochClaims { exp: 1 << 53, ..claims() });
    assert!(matches!(made, Err(TokenError::Canonical(_))));
}

/// Proves MSG-042.
#[test]
fn token_of_another_node_or_key_is_refused() {
    let token = issue(&key(), &claims()).unwrap();
    let other = NodeId::from_parts(9, [9; 10]);
    let found = read(&token, &keys(), other, at(BEGIN));
    assert_eq!(found, Err(TokenError::Node { expected: other, found: node() }));
    let stranger = SigningKey::from_seed([8; 32]);
    let found = read_now(&issue(&stranger, &claims()).unwrap());
    let key_id = stranger.key_id().clone();
    assert_eq!(found, Err(SignatureError::UnknownKey { key_id }.into()));
}

/// Proves MSG-042.
#[test]
fn claims_are_closed_and_each_stands_once() {
    let good = String::from_utf8(canonical::to_vec(&claims()).unwrap()).unwrap();
    assert!(read_now(&forge(&header(), &good)).is_ok());
    let others = [
        good.replace(r#""exp":"#, r#""exp":1,"exp":"#),
        good.replace(r#""sub":"#, r#""sub":"agt_00000000-0009-7202-8202-020202020202","sub":"#),
        good.replace(r#""exp":"#, r#""admin":true,"exp":"#),
        good.replace(r#""epoch":3"#, r#""epoch":-3"#),
        good.replace(r#""epoch":3"#, r#""epoch":3.0"#),
        good.replace(r#""epoch":3,"#, ""),
        good.replace("agt_", "nod_"),
        good.replace("alpha", "Alpha"),
        format!("{good} x"),
        good[1..].to_owned(),
        String::new(),
    ];
    for payload in others {
        let found = read_now(&forge(&header(), &payload));
        assert!(matches!(found, Err(TokenError::Claims { .. })), "{payload}: {found:?}");
    }
}

/// Proves MSG-037 and MSG-042.
#[test]
fn other_forms_of_a_token_are_refused() {
    let token = issue(&key(), &claims()).unwrap();
    let payload = String::from_utf8(canonical::to_vec(&claims()).unwrap()).unwrap();
    let check = |header: &str, expected: SignatureError| {
        assert_eq!(read_now(&forge(header, &payload)), Err(expected.into()), "{header}");
    };
    check(&header().replace("EdDSA", "none"), SignatureError::Algorithm { found: "none".into() });
    for typ in ["JWT", "edgeplane-envelope+jws", "edgeplane-batch+jws"] {
        let expected = SignatureError::Purpose { expected: "edgeplane-epoch+jwt", found: typ.into() };
        check(&header().replace("edgeplane-epoch+jwt", typ), expected);
    }
    let malformed = SignatureError::Malformed { what: "its header is not what this node writes" };
    check(&header().replace(r#","kid""#, r#","crit":["x"],"kid""#), malformed.clone());
    check(&header().replace(r#","kid""#, r#","jku":"x","kid""#), malformed.clone());
    check(&header().replace(r#"{"alg""#, r#"{"alg":"EdDSA","alg""#), malformed);

    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (head, body) = signed.split_once('.').unwrap();
    let texts = [
        format!("{signed}."),
        format!("{head}..{signature}"),
        format!("{head}.{body}"),
        format!("{token}.{signature}"),
        format!("{token}="),
        format!("{token} "),
        String::new(),
        ".".to_owned(),
    ];
    for text in texts {
        assert!(matches!(read_now(&text), Err(TokenError::Signature(_))), "{text}");
    }
    let long = "A".repeat(TOKEN_BYTES_MAX + 1);
    let found = SignatureError::TooLong { found: TOKEN_BYTES_MAX + 1, max: TOKEN_BYTES_MAX };
    assert_eq!(read_now(&long), Err(found.into()));

    // A signature over an envelope with the form of claims is no token.
    let detached = key().sign(&claims()).unwrap();
    let posed = detached.replace("..", &format!(".{body}."));
    assert!(matches!(read_now(&posed), Err(TokenError::Signature(SignatureError::Purpose { .. }))));
}

/// Proves MSG-042.
#[test]
fn each_changed_byte_of_a_token_is_seen() {
    let token = issue(&key(), &claims()).unwrap();
    for at in 0..token.len() {
        for other in [b'A', b'B', b'.', b'-', b'=', b' '] {
            let mut bytes = token.clone().into_bytes();
            if bytes[at] == other {
                continue;
            }
            bytes[at] = other;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(matches!(read_now(&changed), Err(TokenError::Signature(_))), "{changed}");
        }
    }
}

proptest! {
    /// Proves MSG-041 and MSG-042.
    #[test]
    fn token_gives_back_its_claims_within_its_time_only(
        epoch in 0_u64..1 << 53,
        iat in 0_u64..100_000,
        life in 1_u64..100_000,
        now in 0_u64..300_000,
    ) {
        let claims = EpochClaims { epoch: Epoch(epoch), iat, exp: iat + life, ..claims() };
        let token = issue(&key(), &claims).unwrap();
        prop_assert!(token.len() <= TOKEN_BYTES_MAX);
        let found = read(&token, &keys(), node(), at(now));
        if now + SKEW_SECONDS >= iat && now < iat + life {
            prop_assert_eq!(found, Ok(claims));
        } else {
            prop_assert!(found.is_err());
        }
    }
}
