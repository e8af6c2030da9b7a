//! The vectors of RFC 8032 and RFC 8037, signatures that another implementation made, and every way to be refused.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Digest, digest};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

fn key() -> SigningKey {
    SigningKey::from_seed(hex(SEED).try_into().unwrap())
}

fn ring(keys: &[&SigningKey]) -> KeyRing {
    let mut ring = KeyRing::default();
    for key in keys {
        ring.add(key.public().clone()).unwrap();
    }
    ring
}

fn envelope() -> Value {
    json!({ "id": "msg_1", "source": { "principal": "alpha" }, "authority": "delegated", "hops": 2 })
}

/// Signs any header and any payload with the node's key, as a forger could who had it.
fn forge(header: &str, payload: &[u8]) -> String {
    let header = URL_SAFE_NO_PAD.encode(header);
    let signature = key().sign_bytes(&[header.as_bytes(), b".", payload].concat());
    format!("{header}..{}", URL_SAFE_NO_PAD.encode(signature))
}

/// Proves MSG-035.
#[test]
fn vectors_of_rfc_8032_hold() {
    let vectors = [
        (
            SEED,
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
        (
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            // The SHA-512 of "abc".
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
        ),
    ];
    for (seed, public, message, signature) in vectors {
        let key = SigningKey::from_seed(hex(seed).try_into().unwrap());
        assert_eq!(key.public().to_string(), URL_SAFE_NO_PAD.encode(hex(public)));
        assert_eq!(key.sign_bytes(&hex(message)).to_vec(), hex(signature));
        assert!(key.public().has_signed(&hex(message), &hex(signature).try_into().unwrap()));
    }
}

/// Proves MSG-035.
#[test]
fn vector_of_rfc_8037_holds() {
    let signed = key().sign_bytes(b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc");
    let expected = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    assert_eq!(URL_SAFE_NO_PAD.encode(signed), expected);
}

/// Proves MSG-035 and MSG-039.
#[test]
fn signatures_are_those_of_another_implementation() {
    // Made with Python's `cryptography` from the header and the payload as this module's page gives them.
    assert_eq!(key().key_id().as_str(), "ed25519-21fe31dfa154a261");
    let value = json!({ "b": "two", "a": 1 });
    let expected = concat!(
        "eyJhbGciOiJFZERTQSIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il0sImtpZCI6ImVkMjU1MTktMjFmZTMxZGZhMTU0YTI2MSIsInR5",
        "cCI6ImVkZ2VwbGFuZS1lbnZlbG9wZStqd3MifQ",
        "..6TJ2obmo2D2ubGrOmTw6Y_RZqXGA_W5I6TFkc_wfAhqNQElmj60rTnLp6sRMP729vPtMWdsh3K2F3ZreR6XRDQ"
    );
    assert_eq!(key().sign(&value).unwrap(), expected);
    let batch = key().sign_batch(&[json!({ "a": 1 }), json!({ "a": 2 })]).unwrap();
    let expected = concat!(
        "eyJhbGciOiJFZERTQSIsImI2NCI6ZmFsc2UsImNyaXQiOlsiYjY0Il0sImtpZCI6ImVkMjU1MTktMjFmZTMxZGZhMTU0YTI2MSIsInR5",
        "cCI6ImVkZ2VwbGFuZS1iYXRjaCtqd3MifQ",
        "..5kWrPCHZMt5hoGrXeQ3asVso2EgraB2IfhBruCJ_YvpQeObyA6jIiQcjNqP9lfzJw6mNTpwX56psD0hx5apKDA"
    );
    assert_eq!(batch.signature, expected);
}

/// Proves MSG-036.
#[test]
fn each_changed_byte_is_seen() {
    let keys = ring(&[&key()]);
    let signature = key().sign(&envelope()).unwrap();
    assert_eq!(verify(&keys, &envelope(), &signature).as_ref(), Ok(key().key_id()));

    for at in 0..signature.len() {
        for other in [b'A', b'B', b'.', b'=', b'+', b' ', b'_', 0] {
            let mut bytes = signature.clone().into_bytes();
            if bytes[at] == other {
                continue;
            }
            bytes[at] = other;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(verify(&keys, &envelope(), &changed).is_err(), "{changed}");
        }
        assert!(verify(&keys, &envelope(), &signature[..at]).is_err(), "{at}");
    }
    let changes = [
        ("/id", json!("msg_2")),
        ("/source/principal", json!("root")),
        ("/authority", json!("trusted")),
        ("/hops", json!(0)),
        ("/hops", json!("2")),
        ("/source", json!({ "principal": "alpha", "agent_id": null })),
    ];
    for (path, value) in changes {
        let mut changed = envelope();
        *changed.pointer_mut(path).unwrap() = value;
        let expected = SignatureError::Mismatch { key_id: key().key_id().clone() };
        assert_eq!(verify(&keys, &changed, &signature), Err(expected), "{path}");
    }
    let floats = json!({ "a": 0.5 });
    assert!(matches!(key().sign(&floats), Err(SignatureError::Canonical(_))));
    assert!(matches!(verify(&keys, &floats, &signature), Err(SignatureError::Canonical(_))));
}

/// Proves MSG-036.
#[test]
fn order_and_blanks_of_an_envelope_do_not_matter() {
    let signature = key().sign(&envelope()).unwrap();
    let other = r#"{ "hops":2, "authority":"delegated", "source":{"principal":"alpha"}, "id":"msg_1" }"#;
    let other: Value = serde_json::from_str(other).unwrap();
    assert!(verify(&ring(&[&key()]), &other, &signature).is_ok());
}

/// Proves MSG-037.
#[test]
fn nothing_is_chosen_by_the_text() {
    let keys = ring(&[&key()]);
    let payload = crate::canonical::to_vec(&envelope()).unwrap();
    let kid = key().key_id().clone();
    let good = format!(
        r#"{{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":"{kid}","typ":"edgeplane-envelope+jws"}}"#
    );
    let check = |header: &str, expected: SignatureError| {
        assert_eq!(verify(&keys, &envelope(), &forge(header, &payload)), Err(expected), "{header}");
    };
    assert!(verify(&keys, &envelope(), &forge(&good, &payload)).is_ok());

    for alg in ["none", "None", "HS256", "ES256", "Ed448", "eddsa", ""] {
        check(&good.replace("EdDSA", alg), SignatureError::Algorithm { found: alg.into() });
    }
    for typ in ["edgeplane-batch+jws", "edgeplane-epoch+jwt", "JWT", ""] {
        let expected = SignatureError::Purpose { expected: "edgeplane-envelope+jws", found: typ.into() };
        check(&good.replace("edgeplane-envelope+jws", typ), expected);
    }
    let malformed = SignatureError::Malformed { what: "its header is not what this node writes" };
    let others = [
        good.replace(r#""b64":false,"#, ""),
        good.replace(r#""b64":false"#, r#""b64":true"#),
        good.replace(r#""crit":["b64"],"#, ""),
        good.replace(r#"["b64"]"#, r#"["b64","exp"]"#),
        good.replace(r#""crit""#, r#""aaa":1,"crit""#),
        good.replace(r#""kid""#, r#""jwk":{},"kid""#),
        good.replace(r#""alg":"EdDSA","#, r#""alg":"EdDSA","alg":"EdDSA","#),
        good.replace("EdDSA", "\\u0045dDSA"),
        good.replace(':', ": "),
        good.replace(kid.as_str(), "a key"),
        good.replace(r#""alg":"EdDSA","#, ""),
        format!("{good} "),
        "[]".to_owned(),
        String::new(),
    ];
    for header in &others {
        check(header, malformed.clone());
    }
}

/// Proves MSG-037.
#[test]
fn other_spellings_are_refused() {
    let keys = ring(&[&key()]);
    let signature = key().sign(&envelope()).unwrap();
    let last = signature.chars().last().unwrap();
    // The last character carries two bits that stand for nothing; only one of four spellings is taken.
    let values = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let value = values.find(last).unwrap();
    let next = values.chars().nth(value + 1).unwrap();
    let (header, _) = signature.split_once('.').unwrap();
    let loose = format!("{}{next}", &signature[..signature.len() - 1]);
    let payload = crate::canonical::to_vec(&envelope()).unwrap();
    let others = [
        loose,
        format!("{signature}=="),
        format!("{signature}\n"),
        format!(" {signature}"),
        signature.replace("..", "."),
        signature.replace("..", "..."),
        signature.replace("..", &format!(".{}.", URL_SAFE_NO_PAD.encode(&payload))),
        signature.replace('_', "/").replace('-', "+") + "/",
        format!("{header}.."),
        "..".to_owned(),
        String::new(),
    ];
    for other in others {
        let found = verify(&keys, &envelope(), &other);
        assert!(matches!(found, Err(SignatureError::Malformed { .. })), "{other}: {found:?}");
    }
    let long = signature.clone() + &"A".repeat(DETACHED_BYTES_MAX);
    assert!(matches!(verify(&keys, &envelope(), &long), Err(SignatureError::TooLong { .. })));

    // The same signature with the group's order added to its second half: equal in the equation, refused.
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let (start, encoded) = signature.rsplit_once('.').unwrap();
    let mut bytes = URL_SAFE_NO_PAD.decode(encoded).unwrap();
    let mut carry = 0;
    for (byte, add) in bytes[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(add) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    let twisted = format!("{start}.{}", URL_SAFE_NO_PAD.encode(bytes));
    assert!(matches!(verify(&keys, &envelope(), &twisted), Err(SignatureError::Mismatch { .. })));
}

/// Proves MSG-037.
#[test]
fn verification_is_strict() {
    // Made of the private key with the neutral element as its first half. It fulfils the equation of RFC 8032, and
    // other implementations disagree about it.
    let signature = concat!(
        "0100000000000000000000000000000000000000000000000000000000000000",
        "1b801c940b1ed32cf8ec0851509736fe16c6637b93e6664213cbd155f641a103"
    );
    assert!(!key().public().has_signed(b"abc", &hex(signature).try_into().unwrap()));
}

/// Proves MSG-038.
#[test]
fn old_keys_stay_good_and_unknown_ones_are_named() {
    let new = SigningKey::from_seed([1; SEED_BYTES]);
    let stranger = SigningKey::from_seed([2; SEED_BYTES]);
    let keys = ring(&[&key(), &new]);
    for known in [&key(), &new] {
        let signature = known.sign(&envelope()).unwrap();
        assert_eq!(verify(&keys, &envelope(), &signature).as_ref(), Ok(known.key_id()));
    }
    let signature = stranger.sign(&envelope()).unwrap();
    let error = verify(&keys, &envelope(), &signature).unwrap_err();
    assert_eq!(error, SignatureError::UnknownKey { key_id: stranger.key_id().clone() });
    assert!(error.to_string().contains(stranger.key_id().as_str()));
    // A stranger who names a known key.
    let header = URL_SAFE_NO_PAD.encode(format!(
        r#"{{"alg":"EdDSA","b64":false,"crit":["b64"],"kid":"{}","typ":"edgeplane-envelope+jws"}}"#,
        new.key_id()
    ));
    let payload = crate::canonical::to_vec(&envelope()).unwrap();
    let forged = stranger.sign_bytes(&[header.as_bytes(), b".", &payload].concat());
    let forged = format!("{header}..{}", URL_SAFE_NO_PAD.encode(forged));
    assert!(matches!(verify(&keys, &envelope(), &forged), Err(SignatureError::Mismatch { .. })));
}

/// Proves MSG-038 and MSG-040.
#[test]
fn public_keys_have_one_spelling_and_private_ones_are_not_shown() {
    let public = key().public().clone();
    assert_eq!(public.to_string(), "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
    assert_eq!(public.to_string().parse().as_ref(), Ok(&public));
    let text = public.to_string();
    for bad in
        [text[1..].to_owned(), format!("{text}="), format!("{text}A"), text.replace('o', "p"), String::new()]
    {
        assert_eq!(bad.parse::<PublicKey>(), Err(KeyError::Spelling), "{bad}");
    }
    let points = [
        // The neutral element, another point of small order, and 1 written as 1 + the prime.
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        // The point below in a second spelling: its coordinate and the prime.
        "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        // No point has this coordinate.
        "0200000000000000000000000000000000000000000000000000000000000000",
    ];
    for point in points {
        let text = URL_SAFE_NO_PAD.encode(hex(point));
        assert_eq!(text.parse::<PublicKey>(), Err(KeyError::Point), "{point}");
    }
    let usable =
        URL_SAFE_NO_PAD.encode(hex("0300000000000000000000000000000000000000000000000000000000000000"));
    assert!(usable.parse::<PublicKey>().is_ok());
    let shown = format!("{:?}", key());
    assert_eq!(shown, r#"SigningKey { key_id: "ed25519-21fe31dfa154a261", .. }"#);

    let mut keys = ring(&[&key()]);
    assert_eq!(keys.add(public), Ok(()));
    assert_eq!(keys, ring(&[&key()]));
}

/// Proves MSG-039.
#[test]
fn batch_proves_each_of_its_envelopes_at_its_place_only() {
    let envelopes: Vec<_> = (0..5).map(|hops| json!({ "id": "msg", "hops": hops })).collect();
    let batch = key().sign_batch(&envelopes).unwrap();
    let keys = ring(&[&key()]);
    let verified = batch.verify(&keys).unwrap();
    for (index, envelope) in envelopes.iter().enumerate() {
        assert_eq!(verified.verify(index, envelope), Ok(key().key_id()));
        for other in (0..7).filter(|other| *other != index) {
            assert_eq!(verified.verify(other, envelope), Err(SignatureError::NotInBatch { index: other }));
        }
    }
    assert!(verified.verify(0, &json!({ "id": "msg", "hops": 0, "x": 1 })).is_err());

    let text = serde_json::to_string(&batch).unwrap();
    assert_eq!(serde_json::from_str::<SignedBatch>(&text).unwrap(), batch);

    let with = |leaves: Vec<Digest>| SignedBatch { leaves, ..batch.clone() };
    let mut swapped = batch.leaves.clone();
    swapped.swap(0, 1);
    let mut changed = batch.leaves.clone();
    changed[4] = digest(b"x");
    let longer = [batch.leaves.clone(), vec![digest(b"x")]].concat();
    for leaves in [swapped, changed, longer, batch.leaves[1..].to_vec(), batch.leaves[..4].to_vec()] {
        let found = with(leaves).verify(&keys).unwrap_err();
        assert_eq!(found, SignatureError::Mismatch { key_id: key().key_id().clone() });
    }
}

/// Proves MSG-039.
#[test]
fn batch_has_bounds_and_is_no_envelope() {
    let keys = ring(&[&key()]);
    let many: Vec<_> = (0..=BATCH_LEAVES_MAX).collect();
    let whole = key().sign_batch(&many[..BATCH_LEAVES_MAX]).unwrap();
    assert!(whole.verify(&keys).unwrap().verify(BATCH_LEAVES_MAX - 1, &many[BATCH_LEAVES_MAX - 1]).is_ok());
    assert_eq!(key().sign_batch(&many), Err(SignatureError::Leaves { found: BATCH_LEAVES_MAX + 1 }));
    assert_eq!(key().sign_batch(&many[..0]), Err(SignatureError::Leaves { found: 0 }));
    for leaves in [Vec::new(), vec![digest(b"x"); BATCH_LEAVES_MAX + 1]] {
        let found = leaves.len();
        let batch = SignedBatch { leaves, signature: whole.signature.clone() };
        assert_eq!(batch.verify(&keys).unwrap_err(), SignatureError::Leaves { found });
    }
    // Whoever gets an envelope signed whose form is that of a list of leaves has signed no batch, and no batch is the
    // signature of such an envelope.
    let leaves = vec![digest(b"1")];
    let envelope = json!({ "leaves": &leaves });
    let signature = key().sign(&envelope).unwrap();
    let forged = SignedBatch { signature, leaves: leaves.clone() };
    assert!(matches!(forged.verify(&keys), Err(SignatureError::Purpose { .. })));
    let batch = key().sign_batch(&[1]).unwrap();
    let found = verify(&keys, &json!({ "leaves": &batch.leaves }), &batch.signature);
    assert!(matches!(found, Err(SignatureError::Purpose { .. })));
}

proptest! {
    /// Proves MSG-036.
    #[test]
    fn signature_holds_for_its_value_and_no_other(
        seed in any::<[u8; SEED_BYTES]>(),
        one in "\\PC{0,40}",
        other in "\\PC{0,40}",
        bit in 0_usize..512,
    ) {
        let key = SigningKey::from_seed(seed);
        let keys = ring(&[&key]);
        let signature = key.sign(&one).unwrap();
        prop_assert_eq!(verify(&keys, &one, &signature), Ok(key.key_id().clone()));
        prop_assert_eq!(verify(&keys, &other, &signature).is_ok(), one == other);
        let (start, encoded) = signature.rsplit_once('.').unwrap();
        let mut bytes = URL_SAFE_NO_PAD.decode(encoded).unwrap();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let changed = format!("{start}.{}", URL_SAFE_NO_PAD.encode(bytes));
        prop_assert!(verify(&keys, &one, &changed).is_err());
    }

    /// Proves MSG-037.
    #[test]
    fn no_text_makes_the_reader_fail(text in "[A-Za-z0-9_.=-]{0,200}|\\PC{0,80}") {
        prop_assert!(verify(&ring(&[&key()]), &envelope(), &text).is_err());
    }
}
