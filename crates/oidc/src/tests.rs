//! Tokens of every kind of key, and every way in which one does not count.

use std::{fs, path::Path, time::Duration};

use aws_lc_rs::{
    encoding::AsDer as _,
    rand::SystemRandom,
    rsa,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use edgeplane_types::{Scope, TokenKind};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::watch,
};

use super::*;

const NOW: u64 = 1_800_000_000;
const ISSUER: &str = "https://login.example";

struct Signer {
    key: EncodingKey,
    algorithm: Algorithm,
    id: &'static str,
}

impl Signer {
    fn ed(id: &'static str) -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).unwrap();
        Self { key: EncodingKey::from_ed_der(pair.as_ref()), algorithm: Algorithm::EdDSA, id }
    }

    fn ec(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        Self { key: EncodingKey::from_ec_der(pair.as_ref()), algorithm: Algorithm::ES256, id }
    }

    fn rsa(id: &'static str) -> Self {
        let pair = rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap();
        let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
        // The form in which PKCS #1 keys stand inside: the reader takes either.
        Self { key: EncodingKey::from_rsa_der(&pkcs1(der.as_ref())), algorithm: Algorithm::RS256, id }
    }

    fn jwk(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.id.to_owned());
        serde_json::to_value(jwk).unwrap()
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.to_owned()), ..Header::new(self.algorithm) };
        encode(&header, claims, &self.key).unwrap()
    }
}

/// The RSAPrivateKey inside a PKCS #8 document: the last octet string, which is most of it.
fn pkcs1(pkcs8: &[u8]) -> Vec<u8> {
    let at = pkcs8.windows(2).rposition(|two| two == [0x30, 0x82]).filter(|at| *at > 4).unwrap();
    let first =
        pkcs8.iter().enumerate().skip(5).find(|(i, b)| **b == 0x04 && pkcs8[i + 1] == 0x82).unwrap().0;
    assert!(at >= first);
    pkcs8[first + 4..].to_vec()
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "ann", "aud": "edgeplane", "exp": NOW + 600, "iat": NOW, "nbf": NOW,
        "scope": "openid edgeplane:read edgeplane:signal edgeplane:fly profile",
        "roles": ["edgeplane:release", "admin"],
    })
}

fn with(mut claims: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

fn config(keys: KeySource, kind: TokenKind) -> IssuerConfig {
    IssuerConfig { issuer: ISSUER.to_owned(), audience: "edgeplane".to_owned(), keys, kind }
}

fn of_file(path: &Path, kind: TokenKind) -> Issuers {
    Issuers::new(vec![config(KeySource::File(path.to_owned()), kind)]).unwrap()
}

fn publish(path: &Path, signers: &[&Signer]) {
    let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
    let draft = path.with_extension("new");
    edgeplane_write(&draft, &json!({ "keys": keys }).to_string());
    fs::rename(draft, path).unwrap();
}

fn edgeplane_write(path: &Path, text: &str) {
    use std::io::Write as _;
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

async fn verify(issuers: &Issuers, text: &str) -> Result<Identified, Refused> {
    issuers.named_by(text).expect("it names the issuer").verify(text, NOW).await
}

/// Proves CALL-051, CALL-052.
#[tokio::test]
async fn token_of_each_algorithm_counts_with_its_own_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    let signers = [Signer::ed("e"), Signer::ec("c"), Signer::rsa("r")];
    publish(&path, &signers.iter().collect::<Vec<_>>());
    let issuers = of_file(&path, TokenKind::Operator);
    for signer in &signers {
        let found = verify(&issuers, &signer.sign(&claims())).await.unwrap();
        assert_eq!(found.principal.as_str(), "ann");
        assert_eq!((found.kind, found.until), (TokenKind::Operator, NOW + 660));
        assert_eq!(found.scopes, [Scope::Read, Scope::Signal], "exact names with the prefix");
        assert_eq!(found.roles.iter().map(|role| role.as_str()).collect::<Vec<_>>(), ["release"]);
        // Under the name of another key, of the same issuer or of none.
        for other in ["e", "c", "r", "x"].into_iter().filter(|other| *other != signer.id) {
            let header = Header { kid: Some(other.to_owned()), ..Header::new(signer.algorithm) };
            let text = encode(&header, &claims(), &signer.key).unwrap();
            let expected = if other == "x" { Refused::UnknownKey } else { Refused::Algorithm };
            assert_eq!(verify(&issuers, &text).await, Err(expected), "{} as {other}", signer.id);
        }
        // A signature of somebody else under the right name.
        let forger = match signer.algorithm {
            Algorithm::EdDSA => Signer::ed(signer.id),
            Algorithm::ES256 => Signer::ec(signer.id),
            _ => Signer::rsa(signer.id),
        };
        assert_eq!(verify(&issuers, &forger.sign(&claims())).await, Err(Refused::Forged));
        // Claims that were changed afterwards.
        let text = signer.sign(&claims());
        let parts: Vec<&str> = text.split('.').collect();
        let other = URL_SAFE_NO_PAD.encode(with(claims(), &json!({ "sub": "bob" })).to_string());
        let changed = format!("{}.{other}.{}", parts[0], parts[2]);
        assert_eq!(verify(&issuers, &changed).await, Err(Refused::Forged));
    }
}

/// Proves CALL-051.
#[tokio::test]
async fn unsigned_and_shared_secrets_never_count() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    let signer = Signer::rsa("r");
    let jwk = signer.jwk();
    // A set that also holds a shared secret: it is passed over.
    let oct = json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "o", "alg": "HS256" });
    edgeplane_write(&path, &json!({ "keys": [jwk.clone(), oct] }).to_string());
    let issuers = of_file(&path, TokenKind::Service);
    let named = |alg: &str, kid: &str, more: Value| {
        let header = with(json!({ "alg": alg, "kid": kid, "typ": "JWT" }), &more);
        let header = URL_SAFE_NO_PAD.encode(header.to_string());
        format!("{header}.{}.", URL_SAFE_NO_PAD.encode(claims().to_string()))
    };
    for alg in ["none", "None", "", "HS256", "HS512", "RS512", "PS256", "ES384"] {
        assert_eq!(verify(&issuers, &named(alg, "r", json!({}))).await, Err(Refused::Algorithm), "{alg}");
    }
    // The public key as a shared secret, which is what careless readers take it for.
    let secret = EncodingKey::from_secret(jwk["n"].as_str().unwrap().as_bytes());
    for (kid, secret) in [("r", secret), ("o", EncodingKey::from_secret(b"secret"))] {
        let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::HS256) };
        let text = encode(&header, &claims(), &secret).unwrap();
        assert_eq!(verify(&issuers, &text).await, Err(Refused::Algorithm));
    }
    for more in [json!({ "crit": ["exp"] }), json!({ "b64": false })] {
        assert_eq!(verify(&issuers, &named("RS256", "r", more)).await, Err(Refused::Algorithm));
    }
    assert_eq!(verify(&issuers, &named("RS256", "r", json!({}))).await, Err(Refused::Forged), "no signature");
    assert_eq!(verify(&issuers, &named("EdDSA", "o", json!({}))).await, Err(Refused::UnknownKey));
    let long = format!("{}{}", signer.sign(&claims()), "A".repeat(TOKEN_BYTES_MAX));
    assert!(issuers.named_by(&long).is_none(), "it is not read at all");
}

/// Proves CALL-051, CALL-052.
#[tokio::test]
async fn claims_are_held_to_their_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    let signer = Signer::ed("e");
    publish(&path, &[&signer]);
    let (service, person) = (of_file(&path, TokenKind::Service), of_file(&path, TokenKind::Operator));
    let form = || Refused::Form("its claims cannot be read");
    for (more, expected) in [
        (json!({ "aud": "other" }), Err(Refused::Audience)),
        (json!({ "aud": ["other", "more"] }), Err(Refused::Audience)),
        (json!({ "aud": null }), Err(form())),
        (json!({ "aud": ["other", "edgeplane"] }), Ok(())),
        (json!({ "exp": null }), Err(form())),
        (json!({ "exp": "soon" }), Err(form())),
        (json!({ "exp": NOW - 60 }), Err(Refused::Expired)),
        (json!({ "exp": NOW - 59 }), Ok(())),
        (json!({ "nbf": NOW + 61 }), Err(Refused::NotYetValid)),
        (json!({ "nbf": NOW + 60 }), Ok(())),
        (json!({ "iat": NOW + 61 }), Err(Refused::NotYetValid)),
        (json!({ "iat": null, "nbf": null }), Ok(())),
        (json!({ "sub": null }), Err(form())),
        (json!({ "sub": "" }), Err(Refused::Subject)),
        (json!({ "sub": "auth0|7" }), Err(Refused::Subject)),
        (json!({ "sub": "x".repeat(129) }), Err(Refused::Subject)),
        (json!({ "scope": null }), Err(Refused::NoScope)),
        (
            json!({ "scope": "read signal edgeplane:Read EDGEPLANE:read edgeplane:read,signal" }),
            Err(Refused::NoScope),
        ),
    ] {
        let text = signer.sign(&with(claims(), &more));
        assert_eq!(verify(&service, &text).await.map(drop), expected, "{more}");
    }
    let every = json!({ "scope": "edgeplane:read edgeplane:supervise edgeplane:approve edgeplane:delegate" });
    let text = signer.sign(&with(claims(), &every));
    let found = verify(&service, &text).await.unwrap();
    assert_eq!(
        (found.scopes, found.roles.len()),
        (vec![Scope::Read, Scope::Delegate], 0),
        "a program's only"
    );
    assert_eq!(verify(&person, &text).await.unwrap().scopes.len(), 4);
    // Another issuer's name leads nowhere.
    let text = signer.sign(&with(claims(), &json!({ "iss": "https://login.example/" })));
    assert!(service.named_by(&text).is_none());
}

/// Proves CALL-053.
#[tokio::test]
async fn file_of_keys_is_read_again_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.json");
    let (old, new) = (Signer::ed("old"), Signer::ec("new"));
    let issuers = of_file(&path, TokenKind::Service);
    assert_eq!(verify(&issuers, &old.sign(&claims())).await, Err(Refused::KeysUnavailable));
    publish(&path, &[&old]);
    assert!(verify(&issuers, &old.sign(&claims())).await.is_ok());
    assert_eq!(verify(&issuers, &new.sign(&claims())).await, Err(Refused::UnknownKey));
    publish(&path, &[&new, &old]);
    assert!(verify(&issuers, &new.sign(&claims())).await.is_ok());
    edgeplane_write(&path, "{ half");
    assert!(verify(&issuers, &new.sign(&claims())).await.is_ok(), "a wrong file leaves what is known");
    publish(&path, &[&new]);
    assert_eq!(verify(&issuers, &old.sign(&claims())).await, Err(Refused::UnknownKey), "a key that is gone");
}

/// Answers every request with what is there at the time, and counts them.
async fn serve(listener: TcpListener, answers: watch::Receiver<Option<String>>, count: watch::Sender<u32>) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        count.send_modify(|count| *count += 1);
        let answer = answers.borrow().clone();
        let mut request = [0; 4_096];
        let _read = stream.read(&mut request).await.unwrap();
        let text = match answer {
            Some(body) => format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            ),
            None => "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        };
        drop(stream.write_all(text.as_bytes()).await);
    }
}

/// Asks until an answer is as expected.
async fn until(issuers: &Issuers, text: &str, expected: Result<(), Refused>) {
    let asked = async {
        while verify(issuers, text).await.map(drop) != expected {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), asked).await.expect("an answer in time");
}

/// Proves CALL-053.
#[tokio::test]
async fn keys_from_an_address_are_kept_and_asked_for_anew() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    let (say, answers) = watch::channel(None);
    let (count, counted) = watch::channel(0);
    let server = tokio::spawn(serve(listener, answers, count));
    let of = |pace: Pace| {
        let keys = KeySource::parse(&url).unwrap();
        Issuers::paced(vec![config(keys, TokenKind::Service)], pace).unwrap()
    };
    let issuers = of(Pace { retry_first: Duration::from_millis(300), ..Pace::STANDARD });
    let (old, new) = (Signer::ed("old"), Signer::ed("new"));
    let set = |signers: &[&Signer]| {
        let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
        Some(json!({ "keys": keys }).to_string())
    };
    assert_eq!(verify(&issuers, &old.sign(&claims())).await, Err(Refused::KeysUnavailable));
    say.send_replace(set(&[&old]));
    until(&issuers, &old.sign(&claims()), Ok(())).await;
    assert_eq!(*counted.borrow(), 2, "one that did not answer is left alone for a while");
    for _ in 0..20 {
        assert!(verify(&issuers, &old.sign(&claims())).await.is_ok());
        assert_eq!(verify(&issuers, &new.sign(&claims())).await, Err(Refused::UnknownKey));
    }
    assert_eq!(*counted.borrow(), 2, "a key that nobody knows is not asked for again and again");

    let issuers = of(Pace { anew_after: Duration::from_millis(300), ..Pace::STANDARD });
    assert_eq!(verify(&issuers, &new.sign(&claims())).await, Err(Refused::UnknownKey));
    say.send_replace(set(&[&old, &new]));
    until(&issuers, &new.sign(&claims()), Ok(())).await;
    assert_eq!(*counted.borrow(), 4, "asked for once it may be");

    // What is wrong, too long or not there leaves what is known.
    let moment = Duration::from_millis(1);
    let issuers = of(Pace { fresh: moment, anew_after: moment, retry_first: moment, retry_max: moment });
    assert!(verify(&issuers, &old.sign(&claims())).await.is_ok());
    for wrong in [None, Some("[]".to_owned()), Some(" ".repeat(2 << 20))] {
        say.send_replace(wrong);
        let before = *counted.borrow();
        while *counted.borrow() < before + 2 {
            assert!(verify(&issuers, &old.sign(&claims())).await.is_ok());
        }
    }
    say.send_replace(set(&[&new]));
    until(&issuers, &old.sign(&claims()), Err(Refused::UnknownKey)).await;
    server.abort();
}

/// Proves CALL-050, CALL-053.
#[test]
fn what_cannot_be_meant_is_refused() {
    let file = || KeySource::File("keys.json".into());
    for bad in [
        "http://login.example/keys",
        "http://127.0.0.1@login.example/",
        "https://user:secret@login.example/",
        "https://",
    ] {
        assert!(matches!(KeySource::parse(bad), Err(ConfigError::Url(_))), "{bad}");
    }
    for good in
        ["https://login.example/keys", "http://127.0.0.1:9/k", "http://[::1]:9/k", "http://localhost:9/k"]
    {
        assert!(matches!(KeySource::parse(good), Ok(KeySource::Url(_))), "{good}");
    }
    assert_eq!(KeySource::parse("keys.json"), Ok(file()));
    let of = |issuer: &str| IssuerConfig { issuer: issuer.to_owned(), ..config(file(), TokenKind::Service) };
    assert!(matches!(Issuers::new(vec![of("")]), Err(ConfigError::Name("issuer"))));
    assert!(matches!(
        Issuers::new(vec![of("nod_01890000-0000-7000-8000-000000000002")]),
        Err(ConfigError::Node(_))
    ));
    assert!(matches!(Issuers::new(vec![of("a"), of("a")]), Err(ConfigError::Twice(_))));
    let far = config(KeySource::Url("http://login.example/".parse().unwrap()), TokenKind::Service);
    assert!(matches!(Issuers::new(vec![far]), Err(ConfigError::Url(_))));
}
