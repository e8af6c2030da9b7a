//! Who speaks by a token, what it allows, and when it is worth nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use edgeplane_os::{Clock as _, SystemClock};
use edgeplane_proof::{EpochClaims, NamedToken, SigningKey, token};
use edgeplane_testkit::{Connection, Node, NodeOptions, observe, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase, Rung, Scope, TokenId, TokenKind};
use edgeplane_wire::{
    api::{
        Empty,
        core::{CallerView, InitializeParams},
        security::{CreateParams, CreateResult, RevokeParams},
    },
    catalogue::{
        AgentRestart, CoreInitialize, KeyRotate, MessageGet, NodeStatus, StreamSubscribe, TokenCreate,
        TokenEpoch, TokenList, TokenRevoke,
    },
    rpc::RpcError,
};
use serde_json::{Value, json};

fn create_params(principal: &str, kind: TokenKind, scopes: &[Scope]) -> CreateParams {
    CreateParams {
        principal: principal.parse().unwrap(),
        kind,
        scopes: scopes.to_vec(),
        roles: Vec::new(),
        expires_in_ms: None,
        remote: false,
    }
}

fn create(node: &Node, principal: &str, kind: TokenKind, scopes: &[Scope]) -> CreateResult {
    node.token(principal, kind, scopes, &[])
}

fn show(connection: &mut Connection, token: &str) -> Result<CallerView, RpcError> {
    let params = InitializeParams { token: Some(token.to_owned()), ..InitializeParams::default() };
    connection.try_call::<CoreInitialize>(&params).map(|greeting| greeting.caller)
}

fn caller(connection: &mut Connection) -> Value {
    let caller = connection.call::<CoreInitialize>(&InitializeParams::default()).caller;
    serde_json::to_value(caller).unwrap()
}

fn own_socket(node: &Node, name: &str) -> Connection {
    let path = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&path)).unwrap()
}

fn revoke(node: &Node, token_id: TokenId) {
    node.connect().call::<TokenRevoke>(&RevokeParams { token_id, reason: "lost".into() });
}

fn refused(result: Result<Value, RpcError>, rule: &str) {
    let error = result.unwrap_err();
    let by_policy = rule == "no-permit of the node";
    let name = if by_policy { ErrorName::PolicyBlocked } else { ErrorName::PermissionDenied };
    assert_eq!(error.name(), name, "{error}");
    assert!(error.message.ends_with(&format!("rule {rule}")), "{error}");
}

/// The token is refused for this reason, and the connection keeps what it was.
fn worthless(connection: &mut Connection, token: &str, reason: &str) {
    let before = caller(connection);
    let error = show(connection, token).unwrap_err();
    assert_eq!(error.name(), ErrorName::Unauthenticated, "{error}");
    assert!(error.message.ends_with(&format!("reason {reason}")), "{reason}: {error}");
    assert_eq!(caller(connection), before, "{reason}");
}

fn listening() -> Node {
    let node = Node::start();
    node.run("listener", &terminal("listener", &["/bin/cat"], ""));
    node
}

fn signal(connection: &mut Connection) -> Value {
    let params = json!({ "agent": "listener", "parts": [{ "type": "text", "text": "hello" }] });
    let sent = connection.try_raw("runtime/agent.signal", params).unwrap();
    let id = sent["message_id"].as_str().unwrap().parse().unwrap();
    serde_json::to_value(id_of(id)).unwrap()
}

fn id_of(message_id: edgeplane_types::MessageId) -> edgeplane_wire::api::message::MessageParams {
    edgeplane_wire::api::message::MessageParams { message_id }
}

/// What the record says of a message.
fn recorded(node: &Node, params: &Value) -> Value {
    let params = serde_json::from_value(params.clone()).unwrap();
    serde_json::to_value(node.connect().call::<MessageGet>(&params)).unwrap()
}

/// Proves SEC-020, SEC-030.
#[test]
fn service_speaks_as_itself_and_no_more() {
    let node = listening();
    let made = create(&node, "deploys", TokenKind::Service, &[Scope::Signal]);
    let mut connection = node.connect();
    let known = show(&mut connection, &made.token).unwrap();
    assert_eq!(
        serde_json::to_value(known).unwrap(),
        json!({ "principal": "deploys", "proof": "service_token", "assurance": "open" })
    );
    let sent = signal(&mut connection);
    let seen = recorded(&node, &sent);
    assert_eq!(
        (&seen["channel"], &seen["authority"], &seen["source_detail"]["proof"], &seen["source"]),
        (&json!("workflow"), &json!("delegated"), &json!("service_token"), &json!("deploys"))
    );
    refused(connection.try_raw("runtime/message.get", sent.clone()), "scope-read");
    refused(connection.try_raw("runtime/agent.list", json!({})), "scope-read");
    refused(connection.try_raw("runtime/agent.stop", json!({ "agent": "listener" })), "scope-supervise");
    refused(
        connection.try_raw(
            "security/token.create",
            json!({ "principal": "x", "kind": "operator", "scopes": ["read"] }),
        ),
        "operators-only",
    );

    // With the right to read it sees what is public and what became of its own words, and of nobody else's.
    let reader = create(&node, "deploys", TokenKind::Service, &[Scope::Read]);
    let mut reader = node.bearer(&reader.token);
    assert!(reader.try_raw("runtime/agent.list", json!({})).is_ok());
    assert!(reader.try_raw("runtime/message.get", sent).is_ok());
    let foreign =
        serde_json::to_value(id_of(node.signal("listener", "x", Some(Rung::Accepted)).message_id)).unwrap();
    refused(reader.try_raw("runtime/message.get", foreign), "owner-or-operator");
    refused(reader.try_raw("runtime/inbox.list", json!({ "agent": "listener" })), "owner-or-operator");
    refused(reader.try_raw("security/token.list", json!({})), "operators-only");
}

/// Proves SEC-021, SEC-031, SEC-032.
#[test]
fn operator_by_token_may_what_its_scopes_say() {
    let node = listening();
    let made = create(&node, "ann", TokenKind::Operator, &[Scope::Read, Scope::Signal, Scope::Attach]);
    let mut ann = node.bearer(&made.token);
    let seen = recorded(&node, &signal(&mut ann));
    assert_eq!(
        (&seen["channel"], &seen["authority"], &seen["source_detail"]["proof"], &seen["source"]),
        (&json!("operator"), &json!("trusted"), &json!("operator_token"), &json!("ann"))
    );
    assert!(ann.try_raw("runtime/inbox.list", json!({ "agent": "listener" })).is_ok());
    assert!(ann.try_raw("security/token.list", json!({})).is_ok());
    let attached = ann.try_raw("runtime/agent.attach", json!({ "agent": "listener" })).unwrap();
    refused(
        ann.try_raw("runtime/agent.attach", json!({ "agent": "listener", "control": true })),
        "scope-control",
    );
    refused(ann.try_raw("runtime/agent.stop", json!({ "agent": "listener" })), "scope-supervise");
    let keys = json!({ "attachment": attached["attachment"], "data": "eA==" });
    refused(ann.try_raw("runtime/agent.write", keys), "scope-control");

    // No token, with whatever scopes, makes tokens and keys, lays down rules or ends the node.
    let all = [Scope::Read, Scope::Signal, Scope::Attach, Scope::Control, Scope::Supervise, Scope::Approve];
    let mut all = node.bearer(&create(&node, "bob", TokenKind::Operator, &all).token);
    let token = serde_json::to_value(create_params("eve", TokenKind::Operator, &[Scope::Read])).unwrap();
    for (method, params) in [
        ("security/token.create", token),
        ("security/token.revoke", json!({ "token_id": made.token_id })),
        ("security/key.rotate", json!({})),
        ("policy/rule.reload", json!({})),
        ("runtime/node.stop", json!({})),
    ] {
        refused(all.try_raw(method, params), "no-token-is-enough");
    }
    all.try_raw("runtime/agent.stop", json!({ "agent": "listener" })).unwrap();
    let stops = node.events("listener", &["agent.desired"]);
    assert_eq!(stops.last().unwrap().event["actor"], json!({ "kind": "operator", "name": "bob" }));
}

/// Proves SEC-023.
#[test]
fn keys_typed_without_an_answer_need_the_right_too() {
    let node = listening();
    let all = [Scope::Attach, Scope::Control];
    let made = create(&node, "ann", TokenKind::Operator, &all);
    let mut ann = node.bearer(&made.token);
    let attached =
        ann.try_raw("runtime/agent.attach", json!({ "agent": "listener", "control": true })).unwrap();
    let type_text = |connection: &mut Connection, text: &str| {
        let data = STANDARD.encode(text);
        connection
            .notify("runtime/agent.write", &json!({ "attachment": attached["attachment"], "data": data }))
            .unwrap();
    };
    let typed = |text: &str| String::from_utf8_lossy(&node.output("listener", None)).contains(text);
    type_text(&mut ann, "first\n");
    eventually("what may be typed is typed", || typed("first"));
    // The same connection with a token that only watches.
    let watcher = create(&node, "ann", TokenKind::Operator, &[Scope::Attach]);
    show(&mut ann, &watcher.token).unwrap();
    type_text(&mut ann, "second\n");
    show(&mut ann, &made.token).unwrap();
    type_text(&mut ann, "third\n");
    eventually("what may be typed again is typed", || typed("third"));
    assert!(!typed("second"));
}

/// Proves SEC-024.
#[test]
fn tokens_that_make_no_sense_are_not_made() {
    let node = listening();
    let check = |change: &dyn Fn(&mut CreateParams), what: &str| {
        let mut params = create_params("ci", TokenKind::Service, &[Scope::Signal]);
        change(&mut params);
        let error = node.connect().try_call::<TokenCreate>(&params).unwrap_err();
        assert_eq!(error.name(), ErrorName::InvalidParams, "{error}");
        assert!(error.message.contains(what), "{error}");
    };
    for scope in [Scope::Attach, Scope::Control, Scope::Supervise, Scope::Approve] {
        check(&|params| params.scopes.push(scope), "read, signal and delegate only");
    }
    check(&|params| params.scopes.clear(), "without a scope");
    check(&|params| params.roles.push("release".parse().unwrap()), "no roles");
    check(&|params| params.expires_in_ms = Some(0), "ended already");
    for name in ["uid-0", "unknown", "node", "operator"] {
        check(&|params| params.principal = name.parse().unwrap(), "by itself");
    }
    check(&|params| params.principal = "listener".parse().unwrap(), "is an agent");
    let many = (0..17).map(|number| format!("role-{number}").parse().unwrap()).collect::<Vec<_>>();
    check(&|params| (params.kind, params.roles) = (TokenKind::Operator, many.clone()), "at most 16 roles");
    assert!(node.connect().call::<TokenList>(&Empty {}).items.is_empty());
}

/// Proves SEC-025, SEC-026.
#[test]
fn bad_token_is_refused_by_name_and_changes_nothing() {
    let node = listening();
    let other = Node::start();
    other.run("listener", &terminal("listener", &["/bin/cat"], ""));
    let good = create(&node, "ci", TokenKind::Service, &[Scope::Read]);
    let foreign = create(&other, "ci", TokenKind::Service, &[Scope::Read]);
    let foreign_epoch = own_socket(&other, "listener").call::<TokenEpoch>(&Empty {}).token;
    let own_epoch = own_socket(&node, "listener").call::<TokenEpoch>(&Empty {});
    let mistyped = format!("{}{}", &good.token[..20], &good.token[21..]) + &good.token[20..21];
    let claims = EpochClaims {
        iss: node_id(&node),
        sub: node.get("listener").status.identities.audit.agent_id,
        name: "listener".parse().unwrap(),
        epoch: node.get("listener").status.epoch,
        iat: SystemClock.now().as_millis() / 1_000,
        exp: SystemClock.now().as_millis() / 1_000 + 900,
        jti: good.token_id,
    };
    let by_another_key = token::issue(&SigningKey::from_seed([3; 32]), &claims).unwrap();
    let (head, _) = own_epoch.token.rsplit_once('.').unwrap();
    let (_, signature) = foreign_epoch.rsplit_once('.').unwrap();
    let forged = format!("{head}.{signature}");

    // As an operator, as the bearer of a token, and as an agent.
    let mut connections = [node.connect(), node.bearer(&good.token), own_socket(&node, "listener")];
    for connection in &mut connections {
        for (token, reason) in [
            ("", "no-token"),
            ("secret", "no-token"),
            ("eyJ.x.y", "no-token"),
            (&mistyped, "mistyped"),
            (NamedToken::from_random([5; 32]).reveal(), "unknown"),
            (&foreign.token, "unknown"),
            (&foreign_epoch, "other-node"),
            (&by_another_key, "other-node"),
            (&forged, "forged"),
        ] {
            worthless(connection, token, reason);
        }
    }
    let mut connection = node.connect();
    revoke(&node, good.token_id);
    worthless(&mut connection, &good.token, "revoked");
    let mut params = create_params("soon", TokenKind::Service, &[Scope::Read]);
    params.expires_in_ms = Some(30);
    let soon = node.connect().call::<TokenCreate>(&params);
    eventually("its time is over", || SystemClock.now() > soon.expires_at.unwrap());
    worthless(&mut connection, &soon.token, "expired");
    assert!(show(&mut connection, &own_epoch.token).is_ok());
    node.connect().call::<KeyRotate>(&Empty {});
    worthless(&mut node.connect(), &own_epoch.token, "retired-key");
    other.stop("listener");
    node.verify();
}

fn node_id(node: &Node) -> edgeplane_types::NodeId {
    node.connect().call::<CoreInitialize>(&InitializeParams::default()).node_id
}

/// Proves SEC-022, SEC-027.
#[test]
fn token_of_an_epoch_dies_with_it() {
    let mut node = listening();
    let agent_id = node.get("listener").status.identities.audit.agent_id;
    let made = own_socket(&node, "listener").call::<TokenEpoch>(&Empty {});
    let left = made.expires_at.millis_since(SystemClock.now());
    assert!((14 * 60_000..=15 * 60_000).contains(&left), "{left}");
    let before = node.events("", &[]).len();
    let mut connection = node.bearer(&made.token);
    assert_eq!(
        caller(&mut connection),
        json!({ "principal": "listener", "agent_id": agent_id, "proof": "epoch_token", "assurance": "open" })
    );
    let seen = recorded(&node, &signal(&mut connection));
    assert_eq!((&seen["channel"], &seen["authority"]), (&json!("peer"), &json!("delegated")));
    assert!(connection.try_raw("runtime/inbox.list", json!({ "agent": "listener" })).is_ok());
    refused(
        connection.try_raw("runtime/agent.stop", json!({ "agent": "listener" })),
        "no-permit of the node",
    );
    refused(connection.try_raw("security/token.epoch", json!({})), "epoch-token-from-a-token");
    refused(node.connect().try_raw("security/token.epoch", json!({})), "agents-only");
    let made_of_it = node.events("", &[]).iter().skip(before).all(|view| {
        let kind = view.event["type"].as_str().unwrap();
        ["message.accepted", "message.injected", "request.refused"].contains(&kind)
    });
    assert!(made_of_it, "nothing is recorded of a token of an epoch");

    // It outlives the daemon, and not the epoch.
    node.kill_daemon();
    node.up();
    node.wait("listener", Phase::Running);
    let mut connection = node.bearer(&made.token);
    node.change::<AgentRestart>("listener").unwrap();
    let over = |connection: &mut Connection| {
        let error = connection.try_raw("runtime/agent.list", json!({})).unwrap_err();
        assert_eq!(error.name(), ErrorName::Unauthenticated, "{error}");
        assert!(error.message.ends_with("reason epoch-over"), "{error}");
    };
    eventually("the first epoch is over", || node.get("listener").status.epoch.0 > 1);
    over(&mut connection);
    worthless(&mut node.connect(), &made.token, "epoch-over");
    node.wait("listener", Phase::Running);
    let next = own_socket(&node, "listener").call::<TokenEpoch>(&Empty {});
    assert!(show(&mut connection, &next.token).is_ok(), "a connection whose token is dead takes another");
    assert!(connection.try_raw("runtime/agent.list", json!({})).is_ok());
}

/// Proves SEC-028, SEC-043.
#[test]
fn open_connection_loses_its_rights_with_its_token() {
    let node = listening();
    let made = create(&node, "ann", TokenKind::Operator, &[Scope::Read]);
    let mut ann = node.bearer(&made.token);
    ann.call::<StreamSubscribe>(&serde_json::from_value(json!({})).unwrap());
    revoke(&node, made.token_id);
    let error = ann.try_raw("runtime/agent.list", json!({})).unwrap_err();
    assert_eq!(error.name(), ErrorName::Unauthenticated, "{error}");
    assert!(error.message.ends_with("reason revoked"), "{error}");
    // Nor does it fall back to what the kernel says, which is more.
    assert!(ann.try_raw("core/health", json!({})).is_err());
    loop {
        let heard = ann.notification().unwrap();
        if heard.method == "stream/state" && heard.params["state"] == "ended" {
            assert_eq!(heard.params["reason"], "revoked");
            break;
        }
    }
    let mut params = create_params("bob", TokenKind::Operator, &[Scope::Read]);
    params.expires_in_ms = Some(1_500);
    let bob = node.connect().call::<TokenCreate>(&params);
    let mut bob = node.bearer(&bob.token);
    assert!(bob.try_raw("runtime/agent.list", json!({})).is_ok());
    eventually("its time is over", || {
        bob.try_raw("runtime/agent.list", json!({}))
            .is_err_and(|error| error.message.ends_with("reason expired"))
    });
    // A person's roles stand in the list; doctor counts what is good.
    let mut params = create_params("carol", TokenKind::Operator, &[Scope::Approve]);
    params.roles = vec!["release".parse().unwrap()];
    node.connect().call::<TokenCreate>(&params);
    let checks = node.connect().call::<NodeStatus>(&Empty {}).checks;
    let check = |name: &str| checks.iter().find(|check| check.name == name).unwrap();
    assert_eq!(check("tokens").detail, "1 good, 1 of them without an end");
    assert_eq!(check("signing key").status, "ok");
    // Two revocations are one.
    revoke(&node, made.token_id);
    assert_eq!(node.count("", "token.revoked"), 1);
    let list = node.connect().call::<TokenList>(&Empty {}).items;
    assert!(list[0].revoked.as_ref().unwrap().ends_with(": lost"), "{list:?}");
}

/// Shows a token over both sockets, and says something.
const THIEF: &str = r#"
import json, os, socket, sys
home = sys.argv[1]
places = json.load(open(f"{home}/places.json"))
told = {}
for name, path in (("main", places["main"]), ("own", os.environ["EDGEPLANE_SOCKET"])):
    for token in places["tokens"]:
        talk = socket.socket(socket.AF_UNIX)
        talk.connect(path)
        lines = talk.makefile("rb")
        def ask(method, params):
            talk.sendall((json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n").encode())
            answer = json.loads(lines.readline())
            return answer.get("result") or answer["error"]["data"]["name"]
        caller = ask("core/initialize", {"token": places["tokens"][token]})["caller"]
        stopped = ask("runtime/agent.stop", {"agent": "listener"})
        sent = ask("runtime/agent.signal", {"agent": "listener", "parts": [{"type": "text", "text": "x"}]})
        told[f"{name} {token}"] = {"caller": caller, "stopped": stopped, "sent": sent["message_id"]}
with open(f"{home}/told.new", "w") as file:
    file.write(json.dumps(told) + "\n")
os.rename(f"{home}/told.new", f"{home}/told")
import time
while True:
    time.sleep(1000)
"#;

fn thief(options: NodeOptions) {
    let node = Node::start_with(options);
    node.run("listener", &terminal("listener", &["/bin/cat"], ""));
    let all = [Scope::Read, Scope::Signal, Scope::Supervise];
    let tokens = json!({
        "operator": create(&node, "ann", TokenKind::Operator, &all).token,
        "service": create(&node, "ci", TokenKind::Service, &[Scope::Signal]).token,
        "other": own_socket(&node, "listener").call::<TokenEpoch>(&Empty {}).token,
    });
    let home = node.scratch();
    fs::write(home.join("places.json"), json!({ "main": node.socket(), "tokens": tokens }).to_string())
        .unwrap();
    fs::write(home.join("thief.py"), THIEF).unwrap();
    let program = home.join("thief.py");
    let argv = ["python3", &program.to_string_lossy(), &home.to_string_lossy()];
    node.run("thief", &terminal("thief", &argv, "restart: { policy: never }\n"));
    let told: Value = serde_json::from_str(&observe::line_of(&home.join("told"))).unwrap();
    assert_eq!(told.as_object().unwrap().len(), 6);
    for (what, told) in told.as_object().unwrap() {
        assert_eq!(told["caller"]["principal"], "thief", "{what}: {told}");
        assert_eq!(told["stopped"], "policy_blocked", "{what}: {told}");
        assert!(told["caller"]["note"].as_str().unwrap().contains("a token was shown"), "{what}: {told}");
        let seen = recorded(&node, &json!({ "message_id": told["sent"] }));
        assert_eq!((&seen["channel"], &seen["source"]), (&json!("peer"), &json!("thief")), "{what}");
        assert_ne!(seen["authority"], "trusted", "{what}");
    }
    assert_eq!(node.get("listener").status.phase, Phase::Running);
}

/// Proves SEC-022.
#[test]
fn agent_with_a_stolen_token_stays_that_agent() {
    thief(NodeOptions::default());
}

/// Proves SEC-022.
#[test]
fn agent_with_a_stolen_token_stays_that_agent_without_cgroups() {
    thief(NodeOptions { no_cgroups: true, ..NodeOptions::default() });
}

/// Proves SEC-022, SEC-027.
#[test]
fn agent_that_shows_the_token_of_its_own_epoch_is_known_by_it() {
    let node = listening();
    let mut own = own_socket(&node, "listener");
    let made = own.call::<TokenEpoch>(&Empty {});
    let known = show(&mut own, &made.token).unwrap();
    assert_eq!((known.proof, known.note), (edgeplane_types::Proof::EpochToken, None));
    // Over its driver nobody gets one: what is said there stands in the recording.
    let another = own_socket(&node, "listener").call::<TokenEpoch>(&Empty {});
    assert_ne!(made.token, another.token);
}

/// Proves SEC-006, SEC-029.
#[test]
fn no_secret_is_in_the_record_or_the_log() {
    let mut node = listening();
    let seed = fs::read_dir(node.state_dir().join("keys")).unwrap().next().unwrap().unwrap().path();
    let seed_bytes = fs::read(&seed).unwrap();
    let named = create(&node, "ci", TokenKind::Service, &[Scope::Signal]);
    let epoch = own_socket(&node, "listener").call::<TokenEpoch>(&Empty {});
    for token in [&named.token, &epoch.token] {
        signal(&mut node.bearer(token));
        worthless(&mut node.connect(), &token[..token.len() - 1], "no-token");
        worthless(&mut node.connect(), &format!("{token}x"), "no-token");
    }
    revoke(&node, named.token_id);
    worthless(&mut node.connect(), &named.token, "revoked");
    node.connect().call::<KeyRotate>(&Empty {});
    node.stop_daemon();
    let bare = &named.token["ept_".len()..];
    let (claims, signature) = epoch.token.rsplit_once('.').unwrap();
    let hex: String = seed_bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let base64 = STANDARD.encode(&seed_bytes);
    let secrets: [&[u8]; 6] = [
        bare.as_bytes(),
        claims.as_bytes(),
        signature.as_bytes(),
        &seed_bytes,
        hex.as_bytes(),
        base64.as_bytes(),
    ];
    assert!(!seed.exists(), "the seed of a retired key is gone");
    let mut files = Vec::new();
    collect(&node.state_dir(), &mut files);
    assert!(files.len() > 5, "{files:?}");
    let log = node.log().into_bytes();
    assert!(!log.is_empty());
    for secret in secrets {
        let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!holds(&log), "the log holds a secret");
        for file in &files {
            assert!(!holds(&fs::read(file).unwrap()), "`{}` holds a secret", file.display());
        }
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files)
        } else if path.is_file() {
            files.push(path)
        }
    }
}
