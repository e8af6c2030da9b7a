//! Keys and tokens on the command line.

use std::os::unix::fs::PermissionsExt;

use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::fake::{Fake, MESSAGE, Says, TIME, node_status, stderr, stdout};

const TOKEN: &str = "tok_01890000-0000-7000-8000-000000000006";
const NODE: &str = "nod_01890000-0000-7000-8000-000000000003";
const SECRET: &str = "ept_secret";

fn greeting(principal: &str, proof: &str) -> Says {
    let caller = json!({ "principal": principal, "proof": proof, "assurance": "open" });
    Says::result(
        json!({ "version": "2026-11-01", "server": "0", "node_id": NODE, "node": "here", "caller": caller,
        "profiles": [] }),
    )
}

fn made() -> Says {
    Says::result(json!({ "token_id": TOKEN, "token": SECRET, "expires_at": TIME }))
}

fn write(fake: &Fake, name: &str, text: &str, mode: u32) -> std::path::PathBuf {
    let path = fake.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    path
}

fn methods(fake: &Fake) -> Vec<String> {
    fake.asked().into_iter().map(|(method, _)| method).collect()
}

/// Proves SEC-040.
#[test]
fn token_is_shown_before_anything_is_asked() {
    let fake = Fake::saying("runtime/node.status", Says::result(node_status()));
    fake.says("core/initialize", greeting("ci", "service_token"));
    let file = write(&fake, "token", "ept_x\n", 0o600);
    let run = |file: &std::path::Path| {
        fake.command(&["daemon", "status"]).env("EDGEPLANE_TOKEN_FILE", file).output().unwrap()
    };
    assert!(run(&file).status.success());
    let asked = fake.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!((asked[0].0.as_str(), &asked[0].1["token"]), ("core/initialize", &json!("ept_x")));
    assert_eq!(asked[1].0, "runtime/node.status");
    // Without one nothing is shown.
    assert!(fake.run(&["daemon", "status"]).status.success());
    assert_eq!(methods(&fake), ["runtime/node.status"]);

    // One that cannot be used is no reason to go on as somebody else.
    for (name, text, mode) in [("open", "ept_x", 0o644), ("empty", "\n", 0o600)] {
        let output = run(&write(&fake, name, text, mode));
        assert_eq!(output.status.code(), Some(77), "{}", stderr(&output));
        assert!(methods(&fake).is_empty(), "{name}");
    }
    assert!(!run(&fake.path().join("none")).status.success());
    assert!(methods(&fake).is_empty());
}

/// Proves SEC-040.
#[test]
fn token_that_the_node_refuses_ends_the_command() {
    let fake = Fake::saying("runtime/agent.signal", Says::error(ErrorName::Internal, "never asked"));
    fake.says("core/initialize", Says::error(ErrorName::Unauthenticated, "it was revoked: reason revoked"));
    let file = write(&fake, "token", "ept_x\n", 0o600);
    let words = ["signal", "reviewer", "--content", "x"];
    let output = fake.command(&words).env("EDGEPLANE_TOKEN_FILE", file).output().unwrap();
    assert_eq!(output.status.code(), Some(77));
    assert!(stderr(&output).contains("reason revoked"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("ept_x"));
    assert_eq!(methods(&fake), ["core/initialize"]);
}

/// Proves SEC-041.
#[test]
fn token_goes_into_a_file_of_its_owner() {
    let fake = Fake::saying("security/token.create", made());
    let words = ["token", "create", "--principal", "ci", "--kind", "service", "--scope", "signal,read"];
    let into = [&words[..], &["--into", "ci.token"]].concat();
    let output = fake.run(&into);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stdout(&output).contains(SECRET) && stdout(&output).contains(TOKEN), "{}", stdout(&output));
    let expected = json!({ "principal": "ci", "kind": "service", "scopes": ["signal", "read"], "roles": [] });
    assert_eq!(fake.asked(), [("security/token.create".to_owned(), expected)]);
    let path = fake.path().join("ci.token");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{SECRET}\n"));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    // No token is made for a file that is there.
    assert!(!fake.run(&into).status.success());
    assert!(methods(&fake).is_empty());
    let json = [&words[..], &["--into", "other.token", "-o", "json"]].concat();
    let value: Value = serde_json::from_str(&stdout(&fake.run(&json))).unwrap();
    assert_eq!(value, json!({ "token_id": TOKEN, "expires_at": TIME }));

    // A refusal leaves no empty file.
    let refusing = Fake::saying("security/token.create", Says::error(ErrorName::InvalidParams, "no"));
    assert_eq!(refusing.run(&into).status.code(), Some(64));
    assert!(!refusing.path().join("ci.token").exists());
}

/// Proves SEC-029.
#[test]
fn token_without_a_file_is_printed_alone() {
    let fake = Fake::saying("security/token.create", made());
    let words = [
        "token",
        "create",
        "--principal",
        "ann",
        "--kind",
        "operator",
        "--scope",
        "read",
        "--scope",
        "approve",
        "--role",
        "release",
        "--expires",
        "30d",
    ];
    let output = fake.run(&words);
    assert_eq!(stdout(&output), format!("{SECRET}\n"));
    assert!(stderr(&output).contains("not shown again"), "{}", stderr(&output));
    let (_, params) = fake.asked().remove(0);
    assert_eq!(params["expires_in_ms"], json!(30_u64 * 24 * 60 * 60 * 1_000));
    assert_eq!(params["roles"], json!(["release"]));
    let value: Value =
        serde_json::from_str(&stdout(&fake.run(&[&words[..], &["-o", "json"]].concat()))).unwrap();
    assert_eq!(value["token"], SECRET);
    for bad in [&["--kind", "king"][..], &["--scope", "everything"]] {
        let output = fake.run(&[&["token", "create", "--principal", "x"], bad].concat());
        assert_eq!(output.status.code(), Some(64));
    }
}

#[test]
fn tokens_and_keys_are_listed_and_ended() {
    let token = json!({ "token_id": TOKEN, "principal": "ci", "kind": "service", "scopes": ["read", "signal"],
        "roles": [], "created_at": TIME, "revoked": "2026-11-22T09:30:00.000000Z: le\u{1b}[2Jft" });
    let key = json!({ "key_id": "ed25519-00", "public_key": "AAAA", "created_at": TIME });
    let fake = Fake::saying("security/token.list", Says::result(json!({ "items": [token] })));
    fake.says("security/token.revoke", Says::result(json!({})));
    fake.says("security/key.list", Says::result(json!({ "items": [key] })));
    fake.says("security/key.rotate", Says::result(key.clone()));
    let listed = stdout(&fake.run(&["token", "list"]));
    assert!(listed.contains("read signal") && listed.contains("le[2Jft"), "{listed}");
    assert!(fake.run(&["token", "revoke", TOKEN, "--reason", "lost"]).status.success());
    assert!(stdout(&fake.run(&["node", "keys"])).contains("ed25519-00"));
    assert!(stdout(&fake.run(&["node", "rotate-key"])).contains("AAAA"));
    let asked = fake.asked();
    assert_eq!(
        asked[1],
        ("security/token.revoke".to_owned(), json!({ "token_id": TOKEN, "reason": "lost" }))
    );
    let names: Vec<_> = asked.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(
        names,
        ["security/token.list", "security/token.revoke", "security/key.list", "security/key.rotate"]
    );
}

#[test]
fn message_is_shown_with_its_proof_and_without_control_characters() {
    let message = json!({ "message_id": MESSAGE, "agent": "reviewer", "channel": "peer", "ingress": "signal",
        "source": "writer", "source_detail": { "principal": "writer", "display_name": "bo\u{1b}[2Jss",
        "proof": "cgroup", "assurance": "open" }, "authority": "advisory", "accepted_at": TIME,
        "receipts": [{ "rung": "accepted", "evidence": "kernel", "at": TIME }], "content_digest": "00",
        "parts": [{ "type": "text", "text": "a\u{1b}[31mb\u{202e}c\n" }], "rule": "node-3",
        "origin": { "uri": "https://example.org/\u{1b}]0;x\u{7}" },
        "on_behalf_of": [{ "principal": "ann", "authority": "untrusted", "proven": false }] });
    let fake = Fake::saying("runtime/message.get", Says::result(message.clone()));
    let output = fake.run(&["message", "show", MESSAGE]);
    let shown = stdout(&output);
    for part in
        ["writer, by cgroup, assurance open", "node-3", "a mere claim", "bo[2Jss", "example.org", "kernel"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.ends_with("a[31mbc\n"), "{shown:?}");
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    let printed: Value =
        serde_json::from_str(&stdout(&fake.run(&["message", "show", MESSAGE, "-o", "json"]))).unwrap();
    assert_eq!(printed, message);
    assert_eq!(fake.run(&["message", "verify"]).status.code(), Some(64));
    assert_eq!(fake.run(&["message", "export"]).status.code(), Some(64));
}

/// Proves SEC-043.
#[test]
fn doctor_tells_who_else_can_read_the_keys() {
    let fake = Fake::new();
    let keys = fake.path().join("state/keys");
    std::fs::create_dir_all(&keys).unwrap();
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o700)).unwrap();
    write(&fake, "state/keys/ed25519-00.seed", "x", 0o600);
    let check = || {
        let report: Value = serde_json::from_str(&stdout(&fake.run(&["doctor", "-o", "json"]))).unwrap();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "key files").unwrap()
    };
    assert_eq!(check()["status"], "ok");
    write(&fake, "state/keys/ed25519-00.seed", "x", 0o640);
    let found = check();
    assert_eq!(found["status"], "fail");
    assert!(found["detail"].as_str().unwrap().contains("ed25519-00.seed has mode 0640"), "{found}");
}
