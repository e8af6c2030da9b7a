//! Credentials that this node did not make: tokens of identity providers, and client certificates.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, path::Path, sync::Arc};

use aws_lc_rs::{rand::SystemRandom, signature::Ed25519KeyPair};
use edgeplane_client::Client;
use edgeplane_node::{Config, Edge, GivenHost, Neighbours, Node as InProcess, Presented};
use edgeplane_os::{Clock as _, SystemClock, dirs::StateDirs, proc};
use edgeplane_testkit::{Binaries, Connection, Node, NodeOptions, terminal, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{
        Empty,
        core::{CallerView, InitializeParams},
        security::{AddCertificateParams, AddCertificateResult, RevokeParams},
    },
    catalogue::{CertificateAdd, CoreInitialize, NodeStatus, TokenRevoke},
};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use serde_json::{Value, json};

const ISSUER: &str = "https://login.example";

/// An identity provider.
struct Provider(EncodingKey);

impl Provider {
    fn new() -> Self {
        let pair = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).unwrap();
        Self(EncodingKey::from_ed_der(pair.as_ref()))
    }

    fn publish(&self, path: &Path) {
        let mut jwk = Jwk::from_encoding_key(&self.0, Algorithm::EdDSA).unwrap();
        jwk.common.key_id = Some("one".to_owned());
        let draft = path.with_extension("new");
        fs::write(&draft, json!({ "keys": [jwk] }).to_string()).unwrap();
        fs::rename(draft, path).unwrap();
    }

    /// A token that ends so many seconds from now.
    fn token(&self, sub: &str, scope: &str, seconds: i64) -> String {
        let now = i64::try_from(SystemClock.now().as_millis() / 1_000).unwrap();
        let claims =
            json!({ "iss": ISSUER, "aud": "edgeplane", "sub": sub, "scope": scope, "exp": now + seconds });
        self.sign(&claims)
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::EdDSA) };
        encode(&header, claims, &self.0).unwrap()
    }
}

fn show(connection: &mut Connection, token: &str) -> Result<Value, (ErrorName, String)> {
    let params = InitializeParams { token: Some(token.to_owned()), ..InitializeParams::default() };
    let greeting = connection.try_call::<CoreInitialize>(&params);
    greeting.map(|greeting| json!(greeting.caller)).map_err(|error| (error.name(), error.message))
}

fn worthless(node: &Node, token: &str, reason: &str) {
    let (name, message) = show(&mut node.connect(), token).unwrap_err();
    assert_eq!(name, ErrorName::Unauthenticated, "{message}");
    assert!(message.ends_with(&format!("reason {reason}")), "{reason}: {message}");
}

/// Proves CALL-050, CALL-052, CALL-053.
#[test]
fn token_of_an_identity_provider_makes_its_subject_the_caller() {
    let dir = tempfile::tempdir().unwrap();
    let keys = dir.path().join("keys.json");
    let provider = Provider::new();
    provider.publish(&keys);
    let env = |name: &str, value: &str| (format!("EDGEPLANE_{name}"), value.to_owned());
    let node = Node::start_with(NodeOptions {
        env: vec![
            env("OIDC_ISSUER", ISSUER),
            env("OIDC_AUDIENCE", "edgeplane"),
            env("JWKS", &keys.to_string_lossy()),
        ],
        ..NodeOptions::default()
    });
    node.run("shell", &terminal("shell", &["/bin/cat"], ""));
    let mut connection = node.connect();
    let known = show(&mut connection, &provider.token("ann", "edgeplane:read", 600)).unwrap();
    assert_eq!((&known["principal"], &known["proof"]), (&json!("ann"), &json!("service_token")));
    assert!(known["note"].as_str().unwrap().contains(ISSUER), "{known}");
    assert!(connection.try_raw("runtime/agent.list", json!({})).is_ok());
    let words = json!({ "agent": "shell", "parts": [{ "type": "text", "text": "x" }] });
    let error = connection.try_raw("runtime/agent.signal", words.clone()).unwrap_err();
    assert!(error.message.ends_with("rule scope-signal"), "{error}");
    // Who speaks to others is the subject, beside whom its provider is.
    show(&mut connection, &provider.token("ann", "edgeplane:signal", 600)).unwrap();
    connection.try_raw("runtime/agent.signal", words).unwrap();
    let events = node.history("shell");
    let accepted = events.iter().find(|event| event.event["type"] == "message.accepted").unwrap();
    assert_eq!(accepted.event["actor"], json!({ "kind": "service", "name": "ann" }));

    for (sub, scope, reason) in [
        ("shell", "edgeplane:read", "unusable-subject"),
        ("uid-0", "edgeplane:read", "unusable-subject"),
        ("a|b", "edgeplane:read", "unusable-subject"),
        ("ann", "read", "no-scope"),
        ("ann", "edgeplane:supervise", "no-scope"),
    ] {
        worthless(&node, &provider.token(sub, scope, 600), reason);
    }
    worthless(&node, &provider.token("ann", "edgeplane:read", -61), "expired");
    worthless(&node, &Provider::new().token("ann", "edgeplane:read", 600), "forged");
    // Another issuer's is read as an epoch's, and by that alone.
    let claims = json!({
        "iss": "https://other.example", "aud": "edgeplane", "sub": "ann", "scope": "edgeplane:read",
        "exp": u32::MAX,
    });
    worthless(&node, &provider.sign(&claims), "no-token");
    // An epoch's is none of the provider's.
    let own = node.get("shell").status.identities.network.socket.unwrap();
    let mut agent = Connection::open(own.as_ref()).unwrap();
    let epoch = agent.try_raw("security/token.epoch", json!({})).unwrap();
    let known = show(&mut node.connect(), epoch["token"].as_str().unwrap()).unwrap();
    assert_eq!(known["proof"], "epoch_token");
    // No token makes somebody else of an agent.
    let known = show(&mut agent, &provider.token("ann", "edgeplane:read", 600)).unwrap();
    assert_eq!(known["principal"], "shell");

    // The rights end with the token, within the skew.
    let mut short = node.connect();
    show(&mut short, &provider.token("ann", "edgeplane:read", -58)).unwrap();
    eventually("the token is over", || {
        short.try_raw("runtime/agent.list", json!({})).is_err_and(|e| e.name() == ErrorName::Unauthenticated)
    });
    // The next keys count without a restart.
    let next = Provider::new();
    next.publish(&keys);
    assert!(show(&mut node.connect(), &next.token("ann", "edgeplane:read", 600)).is_ok());
    worthless(&node, &provider.token("ann", "edgeplane:read", 600), "forged");
}

/// Proves CALL-050.
#[test]
fn daemon_names_what_is_wrong_with_its_providers() {
    let node = Node::start();
    let file = node.scratch().join("issuers.toml");
    let provider = |jwks: &str, kind: &str| {
        format!("[[issuer]]\nissuer = \"i\"\naudience = \"a\"\njwks = \"{jwks}\"\nkind = \"{kind}\"\n")
    };
    for (text, words) in [
        (provider("http://login.example/keys", "service"), "keys come over https"),
        (provider("keys.json", "agent"), "is wrong"),
        (provider("keys.json", "service").repeat(2), "named twice"),
        (format!("{}more = 1\n", provider("keys.json", "service")), "is wrong"),
        (provider("keys.json", "service").replace("\"i\"", "\"nod_1\""), "ids of nodes"),
    ] {
        fs::write(&file, &text).unwrap();
        let mut command = node.daemon_command();
        let output = command.args(["--oidc-file".as_ref(), file.as_os_str()]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(words), "{words}: {said}");
    }
    let output = node.daemon_command().args(["--oidc-issuer", "https://login.example"]).output().unwrap();
    assert!(!output.status.success(), "an issuer without audience and keys");
}

/// A conversation with a node in this process.
async fn presenting(edge: &Edge, sha256: [u8; 32]) -> (Client, CallerView) {
    let (reader, writer) = tokio::io::split(edge.converse_presenting(Presented::Certificate { sha256 }));
    let (client, _heard) = Client::over(reader, writer);
    let caller = client.call::<CoreInitialize>(&InitializeParams::default()).await.unwrap().caller;
    (client, caller)
}

/// A node in folders of its own.
fn config_in(dir: &Path) -> Config {
    let uid = proc::uid(std::process::id()).unwrap();
    let dirs = StateDirs::resolve(uid, |name| {
        let folder = if name == edgeplane_os::dirs::STATE_DIR { "state" } else { "run" };
        let is_dir = [edgeplane_os::dirs::STATE_DIR, edgeplane_os::dirs::RUNTIME_DIR].contains(&name);
        is_dir.then(|| dir.join(folder).into_os_string())
    })
    .unwrap();
    let binaries = Binaries::built();
    Config {
        neighbours: Neighbours::standard(
            &dirs.state,
            Arc::new(GivenHost { name: Some("here".parse().unwrap()), ..GivenHost::default() }),
        ),
        dirs,
        shim: binaries.shim,
        cli: binaries.cli,
        cgroups: false,
        issuers: edgeplane_oidc::Issuers::default(),
    }
}

/// Proves CALL-054.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn certificate_counts_where_an_edge_has_seen_the_proof() {
    let dir = tempfile::tempdir().unwrap();
    let config = config_in(dir.path());
    let socket = config.dirs.socket.clone();
    let node = InProcess::start(config).await.unwrap();
    let edge = node.edge();
    // On the socket, as an operator: off the runtime's threads, because a connection of tests blocks.
    let operator = move |method: &'static str, params: Value| {
        let socket = socket.clone();
        tokio::task::spawn_blocking(move || Connection::open(&socket).unwrap().try_raw(method, params))
    };
    let fingerprint = "AB:".repeat(31) + "AB";
    let (_, caller) = presenting(&edge, [0xab; 32]).await;
    assert_eq!((caller.principal.as_str(), json!(caller.proof)), ("unknown", json!("none")), "not known yet");
    let params = AddCertificateParams {
        fingerprint: fingerprint.clone(),
        principal: "ann".parse().unwrap(),
        kind: edgeplane_types::TokenKind::Operator,
        scopes: vec![edgeplane_types::Scope::Read],
        roles: Vec::new(),
        expires_in_ms: None,
    };
    let add = json!(params);
    let made = operator("security/certificate.add", add.clone()).await.unwrap().unwrap();
    let made: AddCertificateResult = serde_json::from_value(made).unwrap();
    let twice = operator("security/certificate.add", add).await.unwrap().unwrap_err();
    assert_eq!(twice.name(), ErrorName::Conflict);
    for _ in 0..2 {
        let (client, caller) = presenting(&edge, [0xab; 32]).await;
        assert_eq!((caller.principal.as_str(), json!(caller.proof)), ("ann", json!("operator_token")));
        assert!(client.call::<NodeStatus>(&Empty {}).await.is_ok());
        let params = RevokeParams { token_id: made.token_id, reason: String::new() };
        let refused = client.call::<TokenRevoke>(&params).await.unwrap_err();
        assert_eq!(refused.name(), ErrorName::PermissionDenied, "no credential makes another");
        assert!(
            client
                .call::<CertificateAdd>(&AddCertificateParams {
                    fingerprint: "00".repeat(32),
                    ..params_of(&fingerprint)
                })
                .await
                .is_err()
        );
    }
    // As a text it is nothing, in whatever spelling.
    let plain = fingerprint.replace(':', "").to_lowercase();
    for text in [fingerprint.clone(), plain.clone(), format!("certificate:{plain}")] {
        let shown = operator("core/initialize", json!({ "token": text })).await.unwrap().unwrap_err();
        assert_eq!(shown.name(), ErrorName::Unauthenticated, "{text}");
    }
    let list = operator("security/token.list", json!({})).await.unwrap().unwrap();
    assert_eq!(
        (&list["items"][0]["certificate"], &list["items"][0]["principal"]),
        (&json!(plain), &json!("ann"))
    );

    let (client, _) = presenting(&edge, [0xab; 32]).await;
    let revoke = json!({ "token_id": made.token_id, "reason": "lost" });
    operator("security/token.revoke", revoke).await.unwrap().unwrap();
    let refused = client.call::<NodeStatus>(&Empty {}).await.unwrap_err();
    assert_eq!(refused.name(), ErrorName::Unauthenticated);
    let (_, caller) = presenting(&edge, [0xab; 32]).await;
    assert_eq!(json!(caller.proof), json!("none"));
    assert!(caller.note.unwrap().ends_with("reason revoked"));
    node.stop("the test is over").await;
}

fn params_of(fingerprint: &str) -> AddCertificateParams {
    AddCertificateParams {
        fingerprint: fingerprint.to_owned(),
        principal: "bob".parse().unwrap(),
        kind: edgeplane_types::TokenKind::Service,
        scopes: vec![edgeplane_types::Scope::Read],
        roles: Vec::new(),
        expires_in_ms: None,
    }
}
