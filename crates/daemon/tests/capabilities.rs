//! Capabilities end to end: what a connector's server offers, who may call it, and what the record says of each call.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::path::Path;

use edgeplane_os::{failpoint, proc};
use edgeplane_testkit::{Connection, Node, mcp, native, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

/// What holds for the tools of the connector of these tests.
const POLICY: &str = "
    default: ask
    allow: [echo, add, fail, die, wait, big, variables]
    deny: [\"*secret*\", die]
    effects: {echo: read, add: none}";

/// A connector over the scripted server.
fn connector(node: &Node, name: &str, more: &str) -> String {
    mcp::declaration(node, name, "plain", &format!("  timeoutMs: 30000\n{more}"))
}

fn tools(node: &Node, more: &str) {
    node.apply(&connector(node, "tools", &format!("{more}\n  policy:{POLICY}")));
}

/// An agent that keeps all that it is told in a file.
fn run(node: &Node, name: &str, more: &str) {
    let log = node.scratch().join(format!("{name}.log"));
    let program = format!("exec cat >> {}", log.display());
    node.run(name, &native(name, &["/bin/sh", "-c", &program], more));
}

/// A conversation as an agent: what comes over its own socket is at most that one.
fn as_agent(node: &Node, name: &str) -> Connection {
    let socket = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&socket)).unwrap()
}

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn made(node: &Node, method: &str, params: Value) -> Value {
    ask(node, method, params).unwrap()
}

fn invoke(node: &Node, tool: &str, input: &Value) -> Result<Value, RpcError> {
    node.connect().invoke(json!({ "capability": format!("tools/{tool}"), "input": input }))
}

fn text_of(view: &Value) -> &str {
    view["output"]["content"][0]["text"].as_str().unwrap()
}

fn shown(node: &Node, view: &Value) -> Value {
    made(node, "capability/invocation.get", json!({ "invocation_id": view["invocation_id"] }))
}

fn ended(node: &Node, view: &Value) -> Value {
    let wait = json!({ "invocation_id": view["invocation_id"], "timeout_ms": 30_000 });
    made(node, "capability/invocation.await", wait)
}

fn decide(node: &Node, view: &Value, verdict: &Value) -> Result<Value, RpcError> {
    let action = made(node, "conversation/action.get", json!({ "action_id": view["action_id"] }));
    let params = json!({
        "invocation_id": view["invocation_id"], "digest": action["action"]["digest"], "verdict": verdict,
    });
    ask(node, "capability/permission.resolve", params)
}

fn approve() -> Value {
    json!({ "verdict": "approve" })
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

/// Proves CAP-001, CAP-002, CAP-003, CAP-046.
#[test]
fn what_a_server_offers_is_listed_found_and_called() {
    let mut node = Node::start();
    tools(&node, "  deny: [die]");
    let list = made(&node, "capability/list", json!({ "backing": "connector" }));
    assert_eq!(
        names(&list),
        [
            "tools/add",
            "tools/append",
            "tools/big",
            "tools/echo",
            "tools/fail",
            "tools/prompt:greet",
            "tools/resource:memo://one",
            "tools/variables",
            "tools/wait"
        ]
    );
    assert_eq!(list["connectors"][0]["available"], true);
    let echo = made(&node, "capability/get", json!({ "capability": "tools/echo" }));
    assert_eq!(echo["backing"], json!({ "kind": "connector", "owner": "tools", "native_id": "echo" }));
    assert_eq!(echo["effect"], json!({ "class": "read", "vouched": true, "reversible": true }));
    assert_eq!(echo["input_schema"]["required"], json!(["text"]));
    // What its server claims is shown and believed by nobody.
    let append = made(&node, "capability/get", json!({ "capability": "tools/append" }));
    assert_eq!(append["effect"], json!({ "class": "external", "vouched": false, "reversible": false }));
    let found = made(&node, "capability/search", json!({ "query": "numbers ADDS" }));
    assert_eq!(names(&found), ["tools/add"]);
    let page = made(&node, "capability/list", json!({ "backing": "connector", "limit": 2 }));
    let rest = made(
        &node,
        "capability/list",
        json!({ "backing": "connector", "limit": 2, "cursor": page["next_cursor"] }),
    );
    assert_eq!(
        (names(&page), names(&rest)),
        (vec!["tools/add", "tools/append"], vec!["tools/big", "tools/echo"])
    );

    let by_id =
        json!({ "capability": echo["capability_id"], "digest": echo["digest"], "input": { "text": "hi" } });
    let said = node.connect().invoke(by_id.clone()).unwrap();
    assert_eq!((&said["status"], text_of(&said)), (&json!("succeeded"), "hi"));
    let read = made(&node, "capability/invoke", json!({ "capability": "tools/resource:memo://one" }));
    assert_eq!(read["output"]["contents"][0]["text"], "one");
    let greeted = made(
        &node,
        "capability/invoke",
        json!({ "capability": "tools/prompt:greet", "input": { "who": "you" } }),
    );
    assert_eq!(greeted["output"]["messages"][0]["content"]["text"], "Hello, you");
    let failed = invoke(&node, "fail", &json!({})).unwrap();
    assert_eq!((&failed["status"], text_of(&failed)), (&json!("failed"), "it cannot be done"));
    // Nothing of a long output is cut.
    let big = invoke(&node, "big", &json!({ "bytes": 300_000 })).unwrap();
    assert_eq!(text_of(&big).len(), 300_000);
    assert_eq!(shown(&node, &big), big);
    // Its program has what it was given and where programs are, and nothing else of the daemon's.
    let variables = invoke(&node, "variables", &json!({})).unwrap();
    let ours = |name: &&str| name.starts_with("CARGO") || name.starts_with("NEXTEST") || *name == "USER";
    assert_eq!(text_of(&variables).split(' ').find(ours), None, "{variables}");

    let id = echo["capability_id"].clone();
    node.kill_daemon();
    node.up();
    assert_eq!(shown(&node, &big), big);
    assert_eq!(made(&node, "capability/invoke", by_id)["capability_id"], id);
    node.verify();
}

/// Proves CAP-002, CAP-004.
#[test]
fn what_is_not_what_was_looked_at_or_not_allowed_is_not_called() {
    let node = Node::start();
    tools(&node, "");
    let refused = |params: Value| ask(&node, "capability/invoke", params).unwrap_err();
    let stale =
        refused(json!({ "capability": "tools/echo", "digest": "0".repeat(64), "input": { "text": "x" } }));
    assert_eq!(stale.name(), ErrorName::VersionConflict);
    let lacking = refused(json!({ "capability": "tools/echo" }));
    assert_eq!(lacking.name(), ErrorName::InvalidParams);
    let list = refused(json!({ "capability": "tools/echo", "input": ["x"] }));
    assert_eq!(list.name(), ErrorName::InvalidParams);
    let denied = refused(json!({ "capability": "tools/die" }));
    assert_eq!(denied.name(), ErrorName::PolicyBlocked, "{denied}");
    for name in ["tools/none", "none/echo", "echo", "cap_01990000-0000-7000-8000-000000000001"] {
        assert_eq!(refused(json!({ "capability": name })).name(), ErrorName::NotFound, "{name}");
    }
    let log = std::fs::read_to_string(node.scratch().join("tools.mcp")).unwrap();
    assert!(!log.contains("tools/call"), "{log}");
    // What an agent may not call it does not see.
    run(&node, "reader", "");
    let mut agent = as_agent(&node, "reader");
    let list = agent.try_raw("capability/list", json!({ "backing": "connector" })).unwrap();
    assert!(!names(&list).contains(&"tools/die") && names(&list).contains(&"tools/echo"), "{list}");
    let denied = agent.try_raw("capability/invoke", json!({ "capability": "tools/die" })).unwrap_err();
    assert_eq!(denied.name(), ErrorName::PolicyBlocked);
    assert!(denied.message.contains("connector-deny"), "{denied}");
    let evaluated =
        agent.try_raw("capability/permission.evaluate", json!({ "capability": "tools/append" })).unwrap();
    assert_eq!((&evaluated["decision"], &evaluated["rule"]), (&json!("ask"), &json!("connector-default")));
}

/// Proves CAP-004.
#[test]
fn rules_decide_before_a_connector_does() {
    let node = Node::start();
    tools(&node, "");
    let forbid = r#"policy: |
    @id("all") permit (principal, action, resource);
    @id("no-sums") @reason("not here") forbid (principal, action == Action::"invoke", resource)
    when { context has capability && context.capability == "tools/add" };"#;
    run(&node, "reader", forbid);
    let mut agent = as_agent(&node, "reader");
    let sum = json!({ "capability": "tools/add", "input": { "a": 1, "b": 2 } });
    let refused = agent.try_raw("capability/invoke", sum.clone()).unwrap_err();
    assert_eq!(refused.name(), ErrorName::PolicyBlocked);
    assert!(refused.message.contains("not here"), "{refused}");
    let said = agent
        .try_raw("capability/invoke", json!({ "capability": "tools/echo", "input": { "text": "x" } }))
        .unwrap();
    assert_eq!(said["status"], "succeeded");
    // The call stands in the stream of the agent that made it.
    for kind in ["invocation.requested", "invocation.begun", "invocation.ended"] {
        assert_eq!(node.count("reader", kind), 1, "{kind}");
    }
    assert_eq!(text_of(&made(&node, "capability/invoke", sum)), "3");
}

/// Proves CAP-045.
#[test]
fn what_an_agent_is_refused_is_in_its_stream_and_told_by_its_session() {
    const ASKED: u64 = 300;
    let node = Node::start();
    tools(&node, "");
    run(&node, "reader", "");
    let mut agent = as_agent(&node, "reader");
    for asked in 0..ASKED {
        let denied = agent.try_raw("capability/invoke", json!({ "capability": "tools/die" })).unwrap_err();
        assert_eq!(denied.name(), ErrorName::PolicyBlocked);
        // The first is there before anything that the agent does after it heard of it.
        if asked == 0 {
            let echo = json!({ "capability": "tools/echo", "input": { "text": "x" } });
            assert_eq!(agent.try_raw("capability/invoke", echo).unwrap()["status"], "succeeded");
            let events = node.history("reader");
            let first = |kind: &str| events.iter().position(|event| event.event["type"] == kind).unwrap();
            assert!(first("request.refused") < first("invocation.requested"), "{events:?}");
        }
    }
    let session = node.get("reader").status.identities.session.session_id;
    let target = json!({ "kind": "session", "id": session });
    let told = || {
        let read = json!({ "projection": "agentruntime.events", "target": target, "limit": 1_000 });
        let read = made(&node, "stream/replay", read);
        let events = read["items"].as_array().unwrap().iter().map(|item| item["event"]["payload"].clone());
        let evaluated = events.filter(|event| event["type"] == "permission.evaluated");
        // What was let is told of the one call that was made.
        evaluated.filter(|event| event["permissionDecision"]["decision"] != "allow").collect::<Vec<_>>()
    };
    let counted = || told().iter().map(|event| event["payload"]["count"].as_u64().unwrap()).sum::<u64>();
    eventually("each is counted", || counted() == ASKED);
    let told = told();
    // Two for each second that it took, or one more.
    assert!(told.len() < 60, "{}", told.len());
    for event in &told {
        let decision = &event["permissionDecision"];
        assert_eq!((&decision["decision"], &decision["source"]), (&json!("deny"), &json!("rule")));
        assert_eq!(decision["ruleRefs"], json!(["connector-deny"]));
        assert!(decision["reason"].as_str().unwrap().contains("does not let it be called"), "{event}");
        assert_eq!(event["payload"]["capability"], "tools/die");
    }
    let read = json!({ "projection": "session.snapshot", "target": target });
    let state = &made(&node, "stream/projection.get", read)["state"]["threads"][0]["permissionState"];
    assert_eq!((&state["decision"], &state["source"]), (&json!("deny"), &json!("rule")), "{state}");
    assert_eq!(state["ruleRefs"], json!(["connector-deny"]));
}

/// Proves CAP-005.
#[test]
fn what_is_asked_about_is_called_once_when_leave_is_given() {
    let mut node = Node::start();
    tools(&node, "");
    run(&node, "writer", "");
    let path = node.scratch().join("written");
    let input = json!({ "path": path, "text": "a line" });
    let mut agent = as_agent(&node, "writer");
    let mut wanted = || {
        let call = json!({ "capability": "tools/append", "input": input });
        agent.invoke(call).unwrap()
    };
    let (first, second, third) = (wanted(), wanted(), wanted());
    assert_eq!((&first["status"], lines(&path)), (&json!("waiting"), 0));
    let action = made(&node, "conversation/action.get", json!({ "action_id": first["action_id"] }));
    assert_eq!(action["subject"]["input"], input);
    assert_eq!(action["subject"]["input_digest"], first["input_digest"]);
    // An agent cannot give itself leave.
    let own = json!({
        "action_id": first["action_id"], "digest": action["action"]["digest"], "verdict": approve(),
    });
    let refused = as_agent(&node, "writer").try_raw("conversation/action.respond", own).unwrap_err();
    assert_eq!(refused.name(), ErrorName::PermissionDenied);

    decide(&node, &first, &approve()).unwrap();
    assert_eq!(ended(&node, &first)["status"], "succeeded");
    assert_eq!(lines(&path), 1);
    assert_eq!(decide(&node, &first, &approve()).unwrap_err().name(), ErrorName::InvalidState);
    decide(&node, &second, &json!({ "verdict": "deny", "reason": "not today" })).unwrap();
    let second = ended(&node, &second);
    assert_eq!((&second["status"], &second["reason"]), (&json!("denied"), &json!("not today")));
    // Leave that is given over the daemon's death counts once, too.
    node.kill_daemon();
    node.up();
    decide(&node, &third, &approve()).unwrap();
    assert_eq!(ended(&node, &third)["status"], "succeeded");
    node.kill_daemon();
    node.up();
    assert_eq!(lines(&path), 2);
    assert_eq!(shown(&node, &third)["status"], "succeeded");
    node.verify();
}

fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(point), "1").unwrap();
}

/// Proves CAP-006.
#[test]
fn what_a_dying_daemon_leaves_open_is_said_to_be_unknown() {
    let mut node = Node::start();
    tools(&node, "");
    let path = node.scratch().join("never");
    let waiting = json!({ "capability": "tools/wait", "input": { "path": path }, "mode": "async" });
    let begun = made(&node, "capability/invoke", waiting);
    assert_eq!(begun["status"], "running");
    let log = node.scratch().join("tools.mcp");
    eventually("it is being made", || std::fs::read_to_string(&log).unwrap().contains("tools/call"));
    node.kill_daemon();
    node.up();
    let over = ended(&node, &begun);
    assert_eq!(over["status"], "outcome_unknown", "{over}");

    // Whether the act was done or not: between the intent and the outcome nobody can know.
    node.apply(&connector(&node, "tools", "  policy: {default: allow}"));
    run(&node, "writer", "");
    for (point, count) in [("invocation.begun", 0), ("invocation.acted", 1)] {
        let path = node.scratch().join(point);
        arm(&node, point);
        let call = json!({ "capability": "tools/append", "input": { "path": path, "text": "x" } });
        assert!(as_agent(&node, "writer").try_raw("capability/invoke", call).is_err(), "{point}");
        eventually("the daemon has died", || node.has_ended());
        node.up();
        let last = node.facts("writer", "invocation.begun").pop().unwrap();
        assert_eq!(ended(&node, &last)["status"], "outcome_unknown", "{point}");
        assert_eq!(lines(&path), count, "{point}");
    }
    node.verify();
}

/// Proves CAP-006.
#[test]
fn a_question_that_a_daemon_did_not_ask_is_not_left_waiting() {
    let mut node = Node::start();
    tools(&node, "");
    run(&node, "writer", "");
    let path = node.scratch().join("written");
    arm(&node, "invocation.asked");
    let call = json!({ "capability": "tools/append", "input": { "path": path, "text": "x" } });
    assert!(as_agent(&node, "writer").try_raw("capability/invoke", call).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    let id = node.facts("writer", "invocation.requested")[0]["invocation_id"].clone();
    let view = shown(&node, &json!({ "invocation_id": id }));
    assert_eq!(view["status"], "waiting");
    decide(&node, &view, &approve()).unwrap();
    assert_eq!((&ended(&node, &view)["status"], lines(&path)), (&json!("succeeded"), 1));
}

/// Proves CALL-029.
#[test]
fn a_call_under_a_key_is_found_again_after_a_death() {
    let mut node = Node::start();
    tools(&node, "");
    run(&node, "writer", "");
    // Before the intent, before the act, after it: nothing is made a second time.
    node.apply(&connector(&node, "free", "  policy: {default: allow}"));
    for (point, count) in [("call.began", 0), ("invocation.begun", 0), ("invocation.acted", 1)] {
        let path = node.scratch().join(point);
        let call = json!({
            "capability": "free/append", "input": { "path": path, "text": "x" },
            "ctx": { "idempotency_key": point },
        });
        arm(&node, point);
        assert!(as_agent(&node, "writer").try_raw("capability/invoke", call.clone()).is_err(), "{point}");
        eventually("the daemon has died", || node.has_ended());
        node.up();
        for _ in 0..2 {
            let again = as_agent(&node, "writer").try_raw("capability/invoke", call.clone());
            if point == "call.began" {
                assert_eq!(again.unwrap_err().name(), ErrorName::OutcomeUnknown);
                continue;
            }
            let again = again.unwrap();
            let last = node.facts("writer", "invocation.begun").pop().unwrap();
            assert_eq!(again["invocation_id"], last["invocation_id"], "{point}");
            assert_eq!(
                (&again["status"], &again["meta"]["replayed"]),
                (&json!("outcome_unknown"), &json!(true))
            );
        }
        assert_eq!(lines(&path), count, "{point}");
    }
    // One about which a person was to be asked waits, and is made once when leave is given.
    let path = node.scratch().join("asked");
    let call = json!({
        "capability": "tools/append", "input": { "path": path, "text": "x" },
        "ctx": { "idempotency_key": "asked" },
    });
    arm(&node, "call.effect");
    assert!(as_agent(&node, "writer").try_raw("capability/invoke", call.clone()).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    let waiting = as_agent(&node, "writer").try_raw("capability/invoke", call.clone()).unwrap();
    assert_eq!((&waiting["status"], lines(&path)), (&json!("waiting"), 0));
    decide(&node, &waiting, &approve()).unwrap();
    assert_eq!(ended(&node, &waiting)["status"], "succeeded");
    let over = as_agent(&node, "writer").try_raw("capability/invoke", call).unwrap();
    assert_eq!(over["invocation_id"], waiting["invocation_id"]);
    assert_eq!((&over["status"], lines(&path)), (&json!("succeeded"), 1));
    assert_eq!(node.count("writer", "invocation.requested"), 3);
    node.verify();
}

/// Proves CAP-007.
#[test]
fn a_call_can_be_taken_back() {
    let node = Node::start();
    tools(&node, "");
    run(&node, "writer", "");
    let path = node.scratch().join("never");
    let call = json!({ "capability": "tools/wait", "input": { "path": path }, "mode": "async" });
    let begun = made(&node, "capability/invoke", call);
    let log = node.scratch().join("tools.mcp");
    eventually("it is being made", || std::fs::read_to_string(&log).unwrap().contains("tools/call"));
    let over =
        made(&node, "capability/invocation.cancel", json!({ "invocation_id": begun["invocation_id"] }));
    assert_eq!(over["status"], "cancelled");
    eventually("its server is told", || {
        std::fs::read_to_string(&log).unwrap().contains("notifications/cancelled")
    });
    // One that waits for leave is not asked about any more.
    let mut agent = as_agent(&node, "writer");
    let call = json!({ "capability": "tools/append", "input": { "path": path, "text": "x" } });
    let waiting = agent.invoke(call).unwrap();
    let named = json!({ "invocation_id": waiting["invocation_id"] });
    let stranger = run_other(&node).try_raw("capability/invocation.cancel", named.clone()).unwrap_err();
    assert_eq!(stranger.name(), ErrorName::NotFound);
    assert_eq!(agent.try_raw("capability/invocation.cancel", named).unwrap()["status"], "cancelled");
    let action = made(&node, "conversation/action.get", json!({ "action_id": waiting["action_id"] }));
    assert_eq!(action["outcome"], "cancelled");
    // A call that takes too long is given up, and nobody says that nothing happened.
    let late = json!({ "capability": "tools/wait", "input": { "path": path }, "timeout_ms": 200 });
    let late = made(&node, "capability/invoke", late);
    assert_eq!(late["status"], "outcome_unknown", "{late}");
}

fn run_other(node: &Node) -> Connection {
    run(node, "other", "");
    as_agent(node, "other")
}

/// Proves CAP-008, CAP-046.
#[test]
fn secrets_reach_the_server_and_not_the_record() {
    let mut node = Node::start();
    let held = node.scratch().join("held");
    std::fs::write(&held, "opensesame\n").unwrap();
    let reference = format!("env: {{KEY: {{secretRef: {{file: {}}}}}, MCP_LOG", held.display());
    let text = connector(&node, "tools", &format!("  policy:{POLICY}")).replace("env: {MCP_LOG", &reference);
    node.apply(&text);
    run(&node, "writer", "");
    let variables = invoke(&node, "variables", &json!({})).unwrap();
    assert!(text_of(&variables).split(' ').any(|name| name == "KEY"), "{variables}");
    let secret = format!("ghp_{}", "s3cr3t".repeat(6));
    let path = node.scratch().join("written");
    let input = json!({ "path": path, "text": secret });
    let said = invoke(&node, "append", &input).unwrap();
    assert_eq!((&said["status"], &said["input"]["text"]), (&json!("succeeded"), &json!("***")));
    assert!(std::fs::read_to_string(&path).unwrap().contains(&secret));
    // What waits for leave keeps it for as long as the daemon lives, and no longer.
    let call = json!({ "capability": "tools/append", "input": input });
    let mut agent = as_agent(&node, "writer");
    let first = agent.invoke(call.clone()).unwrap();
    let second = agent.invoke(call).unwrap();
    decide(&node, &first, &approve()).unwrap();
    assert_eq!(ended(&node, &first)["status"], "succeeded");
    node.kill_daemon();
    node.up();
    decide(&node, &second, &approve()).unwrap();
    let second = ended(&node, &second);
    assert_eq!(second["status"], "failed");
    assert!(second["reason"].as_str().unwrap().contains("ask again"), "{second}");
    assert_eq!(lines(&path), 2);
    node.stop_daemon();
    for needle in [secret.as_str(), "opensesame"] {
        let found =
            std::process::Command::new("grep").args(["-rl", needle]).arg(node.state_dir()).output().unwrap();
        assert!(found.stdout.is_empty(), "{}", String::from_utf8_lossy(&found.stdout));
    }
}

/// Proves CAP-015.
#[test]
fn a_key_calls_once() {
    let node = Node::start();
    tools(&node, "");
    let path = node.scratch().join("written");
    let call = json!({
        "capability": "tools/append", "input": { "path": path, "text": "x" },
        "ctx": { "idempotency_key": "once" },
    });
    let first = made(&node, "capability/invoke", call.clone());
    let again = made(&node, "capability/invoke", call);
    assert_eq!(first["invocation_id"], again["invocation_id"]);
    assert_eq!((lines(&path), &again["meta"]["replayed"]), (1, &json!(true)));
}

/// Proves CAP-016.
#[test]
fn a_connector_lives_as_long_as_its_declaration() {
    let mut node = Node::start();
    tools(&node, "");
    assert_eq!(invoke(&node, "echo", &json!({ "text": "x" })).unwrap()["status"], "succeeded");
    let before = python(&node);
    assert_eq!(before.len(), 1);
    // A server that dies is started again by the next call.
    edgeplane_testkit::signals::kill(&before);
    eventually("another one answers", || {
        invoke(&node, "echo", &json!({ "text": "x" })).is_ok_and(|said| said["status"] == "succeeded")
    });
    // Another declaration ends the old program.
    node.apply(&connector(&node, "tools", "  deny: [echo]"));
    eventually("the old one is ended", || python(&node).is_empty());
    assert_eq!(invoke(&node, "echo", &json!({ "text": "x" })).unwrap_err().name(), ErrorName::NotFound);
    node.apply(&connector(&node, "tools", "  enabled: false"));
    assert_eq!(invoke(&node, "echo", &json!({ "text": "x" })).unwrap_err().name(), ErrorName::Unavailable);
    assert_eq!(names(&made(&node, "capability/list", json!({ "backing": "connector" }))), Vec::<&str>::new());
    // What does not start is told, and harms nobody.
    let broken = connector(&node, "broken", "").replace("plain]", "gone]");
    node.apply(&broken);
    tools(&node, "");
    let list = made(&node, "capability/list", json!({}));
    let standing = &list["connectors"][0];
    assert_eq!((&standing["connector"], &standing["available"]), (&json!("broken"), &json!(false)));
    assert!(standing["failure"].as_str().unwrap().contains("cannot find my configuration"), "{standing}");
    assert!(names(&list).contains(&"tools/echo"));
    let refused = ask(&node, "capability/invoke", json!({ "capability": "broken/echo" })).unwrap_err();
    assert_eq!(refused.name(), ErrorName::Unavailable);
    // Nothing outlives the daemon, however it ends.
    assert_eq!(python(&node).len(), 1);
    node.kill_daemon();
    eventually("it is ended with the daemon", || python(&node).is_empty());
    node.up();
    made(&node, "resource/delete", json!({ "uri": "edgeplane://connector/tools" }));
    assert_eq!(invoke(&node, "echo", &json!({ "text": "x" })).unwrap_err().name(), ErrorName::NotFound);
}

/// The processes of the scripted server of this node.
fn python(node: &Node) -> Vec<u32> {
    let script = server_path(node);
    let runs = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&script) && proc::stat(*pid).is_ok_and(|stat| stat.is_alive())
    };
    proc::all().unwrap().into_iter().filter(runs).collect()
}

fn server_path(node: &Node) -> String {
    node.scratch().join("server.py").display().to_string()
}
