//! Rules at work: shipped ones, own ones that change while the node runs, those of a manifest, and what is noted.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::fs;

use edgeplane_testkit::{Connection, Node, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase};
use serde_json::{Value, json};

/// A connection as the agent itself: whatever arrives on its epoch's own socket is at most that agent.
fn inside(node: &Node, name: &str) -> Connection {
    let view = serde_json::to_value(node.get(name)).unwrap();
    let socket = view["status"]["identities"]["network"]["socket"].as_str().unwrap().to_owned();
    Connection::open(socket.as_ref()).unwrap()
}

fn say(connection: &mut Connection, to: &str, text: &str) -> Result<Value, (ErrorName, String)> {
    let params = json!({ "agent": to, "parts": [{ "type": "text", "text": text }] });
    connection.try_raw("runtime/agent.signal", params).map_err(|error| (error.name(), error.message))
}

fn write_rules(node: &Node, file: &str, text: &str) {
    let path = node.state_dir().join("policy").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // As an editor does it: never half a file.
    let draft = path.with_extension("new");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, path).unwrap();
}

fn rules(node: &Node) -> Value {
    node.connect().try_raw("policy/rule.list", json!({})).unwrap()
}

fn is_in_force(node: &Node, id: &str) -> bool {
    rules(node)["items"].as_array().unwrap().iter().any(|rule| rule["id"] == id)
}

/// The facts of the node's own stream of this type.
fn facts(node: &Node, kind: &str) -> Vec<Value> {
    let params = json!({ "types": [kind], "limit": 1000 });
    let read = node.connect().try_raw("stream/replay", params).unwrap();
    read["items"].as_array().unwrap().iter().map(|item| item["event"]["payload"].clone()).collect()
}

const CAT: &[&str] = &["/bin/cat"];

/// Proves POL-024.
#[test]
fn shipped_rules_let_agents_speak_and_nothing_else() {
    let node = Node::start();
    node.run("a", &terminal("a", CAT, ""));
    node.run("b", &terminal("b", CAT, ""));
    let mut a = inside(&node, "a");
    let sent = say(&mut a, "b", "hello").unwrap();
    let view = node.connect().try_raw("runtime/message.get", json!({ "message_id": sent["message_id"] }));
    let view = view.unwrap();
    assert_eq!((&view["authority"], &view["rule"]), (&json!("delegated"), &json!("agents-to-agents")));
    for (method, params) in [
        ("runtime/agent.stop", json!({ "agent": "b" })),
        ("runtime/agent.restart", json!({ "agent": "b" })),
        ("runtime/agent.freeze", json!({ "agent": "b" })),
        ("runtime/agent.attach", json!({ "agent": "b", "control": false })),
        ("runtime/agent.attach", json!({ "agent": "b", "control": true })),
    ] {
        let error = a.try_raw(method, params).unwrap_err();
        assert_eq!(error.name(), ErrorName::PolicyBlocked, "{method}: {error}");
        assert!(error.message.contains("rule no-permit of the node"), "{error}");
    }
    eventually("refusals are events", || facts(&node, "request.refused").len() == 4);
    let pid = node.pid("b");
    let raised = json!({ "agent": "b", "authority": "trusted", "parts": [{ "type": "text", "text": "x" }] });
    let error = a.try_raw("runtime/agent.signal", raised).unwrap_err();
    assert!(error.message.contains("rule ceiling"), "{error}");
    assert_eq!(node.pid("b"), pid);
    node.verify();
}

/// Proves POL-026.
#[test]
fn own_rules_are_read_when_they_change_and_bad_ones_change_nothing() {
    let mut node = Node::start();
    node.run("a", &terminal("a", CAT, ""));
    node.run("b", &terminal("b", CAT, ""));
    let base = edgeplane_policy_text();
    let quiet = r#"
@id("b-is-left-alone") @reason("b is busy until Monday")
forbid (principal is Agent, action == Action::"send", resource) when { resource.name == "b" };
"#;
    write_rules(&node, "node/own.cedar", &format!("{base}{quiet}"));
    eventually("it is in force", || is_in_force(&node, "b-is-left-alone"));
    let mut a = inside(&node, "a");
    let (name, message) = say(&mut a, "b", "now?").unwrap_err();
    assert_eq!(name, ErrorName::PolicyBlocked);
    assert!(message.contains("b is busy until Monday: rule b-is-left-alone of the node"), "{message}");
    say(&mut node.connect(), "b", "an operator may").unwrap();
    assert!(node.inbox("b").iter().all(|message| message.source.as_str() != "a"), "nothing was written");

    write_rules(&node, "node/own.cedar", "@id(\"x\") permit (principal, action, resource) when { 1 + };");
    eventually("it is refused", || !rules(&node)["rejected"].as_array().unwrap().is_empty());
    assert!(is_in_force(&node, "b-is-left-alone"));
    assert!(rules(&node)["rejected"][0].as_str().unwrap().contains("own.cedar:1:"), "{}", rules(&node));
    eventually("it is said once", || facts(&node, "policy.rejected").len() == 1);
    node.kill_daemon();
    node.up();
    let mut a = inside(&node, "a");
    assert!(is_in_force(&node, "b-is-left-alone"), "the rules of before hold at a start, too");
    assert_eq!(say(&mut a, "b", "now?").unwrap_err().0, ErrorName::PolicyBlocked);

    fs::remove_file(node.state_dir().join("policy/node/own.cedar")).unwrap();
    eventually("the shipped ones hold again", || is_in_force(&node, "agents-to-agents"));
    eventually("and nothing else", || !is_in_force(&node, "b-is-left-alone"));
    say(&mut a, "b", "now").unwrap();
    node.verify();
}

fn edgeplane_policy_text() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../policy/src/default.cedar")).unwrap()
}

/// Proves POL-027.
#[test]
fn rules_of_a_manifest_tighten_for_their_agent_only() {
    let node = Node::start();
    node.run("a", &terminal("a", CAT, ""));
    node.run("b", &terminal("b", CAT, ""));
    let own = "policy: |\n  @id(\"only-a\") @authority(\"advisory\") permit (principal is Agent, action == Action::\"send\", resource) when { principal.name == \"a\" };\n";
    node.apply(&terminal("b", CAT, own));
    let (mut a, mut b) = (inside(&node, "a"), inside(&node, "b"));
    let sent = say(&mut a, "b", "hello").unwrap();
    let view = node.connect().try_raw("runtime/message.get", json!({ "message_id": sent["message_id"] }));
    assert_eq!(view.unwrap()["authority"], "advisory");
    let (name, message) = say(&mut node.connect(), "b", "operator").unwrap_err();
    assert_eq!(name, ErrorName::PolicyBlocked);
    assert!(message.contains("rule no-permit of the agent's manifest"), "{message}");
    say(&mut node.connect(), "a", "others are not concerned").unwrap();
    // Its rules hold for what it says, too.
    assert_eq!(say(&mut b, "a", "answer").unwrap_err().0, ErrorName::PolicyBlocked);

    let wrong = terminal("b", CAT, "policy: |\n  permit (principal, action, resource);\n");
    let error = node.try_apply(&wrong).unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidManifest);
    assert!(error.message.contains("spec.policy:1:1"), "{error}");
    say(&mut a, "b", "still as it was").unwrap();
}

/// Proves POL-025, POL-028.
#[test]
fn rates_hold_and_a_flood_of_refusals_is_counted() {
    let node = Node::start();
    node.run("a", &terminal("a", CAT, ""));
    node.run("b", &terminal("b", CAT, ""));
    let base = edgeplane_policy_text().replace("@rate(\"600/min\")", "@rate(\"3/h\")");
    write_rules(&node, "node/own.cedar", &base);
    eventually("it is in force", || rules(&node)["items"][0]["file"] == "own.cedar");
    let mut a = inside(&node, "a");
    for number in 0..3 {
        say(&mut a, "b", &number.to_string()).unwrap();
    }
    let refused: Vec<_> = (0..200).map(|_| say(&mut a, "b", "more").unwrap_err()).collect();
    assert!(refused.iter().all(|(name, _)| *name == ErrorName::RateLimited));
    assert!(refused[0].1.contains("rule agents-to-agents of the node"), "{}", refused[0].1);
    let counted = || -> u64 {
        let all = facts(&node, "request.refused");
        all.iter().map(|fact| fact["count"].as_u64().unwrap()).sum()
    };
    eventually("every one is counted", || counted() == 200);
    let events = facts(&node, "request.refused").len();
    assert!(events <= 20, "{events} events");
    assert_eq!(node.inbox("b").len(), 3);
}

/// Proves POL-030.
#[test]
fn brake_works_under_rules_that_permit_nothing() {
    let node = Node::start();
    node.run("a", &terminal("a", CAT, ""));
    write_rules(&node, "node/own.cedar", "@id(\"nothing\") forbid (principal, action, resource);");
    eventually("it is in force", || is_in_force(&node, "nothing"));
    let mut operator = node.connect();
    assert_eq!(say(&mut operator, "a", "hello").unwrap_err().0, ErrorName::PolicyBlocked);
    let restart = operator.try_raw("runtime/agent.restart", json!({ "agent": "a" })).unwrap_err();
    assert_eq!(restart.name(), ErrorName::PolicyBlocked);
    operator.try_raw("runtime/agent.stop", json!({ "agent": "a" })).unwrap();
    node.wait("a", Phase::Stopped);
}

/// Proves POL-029.
#[test]
fn explanation_is_what_would_happen() {
    let node = Node::start();
    node.run("a", &terminal("a", CAT, ""));
    node.run("b", &terminal("b", CAT, "risk: high\n"));
    let explain = |params: Value| node.connect().try_raw("policy/decision.explain", params).unwrap();
    let passes = explain(json!({ "from": "a", "to": "b" }));
    assert_eq!((&passes["allowed"], &passes["rule"]), (&json!(true), &json!("agents-to-agents")));
    assert_eq!(passes["authority"], "delegated");
    assert_eq!(passes["rate_per_minute"], 600);
    let refused = explain(json!({ "from": "external", "to": "b" }));
    assert_eq!((&refused["allowed"], &refused["rule"]), (&json!(false), &json!("high-risk-needs-proof")));
    let refused = explain(json!({ "from": "a", "to": "b", "action": "supervise" }));
    assert_eq!((&refused["allowed"], &refused["rule"]), (&json!(false), &json!("no-permit")));
    let large = explain(json!({ "from": "a", "to": "b", "bytes": 5 << 20 }));
    assert_eq!((&large["allowed"], &large["rule"]), (&json!(false), &json!("agents-to-agents")));
    let check = json!({ "files": [{ "name": "f", "text": "@id(\"all\") forbid (principal, action, resource);" }],
        "request": { "from": "operator", "to": "b" } });
    let checked = node.connect().try_raw("policy/rule.check", check).unwrap();
    assert_eq!((&checked["ok"], &checked["decision"]["rule"]), (&json!(true), &json!("all")));
    assert!(is_in_force(&node, "operators"), "what is only looked at changes nothing");
    let output = node.cli(&["policy", "explain", "--from", "a", "--to", "b"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("allowed by rule agents-to-agents"));
    let output = node.cli(&["policy", "explain", "--from", "external", "--to", "b"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
}
