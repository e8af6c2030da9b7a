//! What agents offer: bound to an epoch, called through the record, answered once, over the deaths of daemons.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::{fs, path::Path};

use edgeplane_os::failpoint;
use edgeplane_testkit::{Connection, Node, native, signals, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

/// An agent that keeps all that it is told in a file.
fn run(node: &Node, name: &str) {
    let log = node.scratch().join(format!("{name}.log"));
    let program = format!("exec cat >> {}", log.display());
    node.run(name, &native(name, &["/bin/sh", "-c", &program], ""));
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

fn described() -> Value {
    json!({
        "name": "count", "title": "Counts letters", "effect": "none",
        "input_schema": {
            "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
        },
    })
}

fn register(connection: &mut Connection) -> Value {
    connection.try_raw("capability/register", described()).unwrap()
}

/// A call by an operator that is not waited for.
fn call(node: &Node, input: &Value) -> Value {
    let params = json!({ "capability": "agent:helper/count", "input": input, "mode": "async" });
    made(node, "capability/invoke", params)
}

fn text(word: &str) -> Value {
    json!({ "text": word })
}

fn ended(node: &Node, view: &Value) -> Value {
    let wait = json!({ "invocation_id": view["invocation_id"], "timeout_ms": 30_000 });
    made(node, "capability/invocation.await", wait)
}

fn answer(connection: &mut Connection, view: &Value, output: &Value) -> Result<Value, RpcError> {
    let params = json!({ "invocation_id": view["invocation_id"], "output": output });
    connection.try_raw("capability/invocation.complete", params)
}

fn approve(node: &Node, view: &Value) {
    let action = made(node, "conversation/action.get", json!({ "action_id": view["action_id"] }));
    let params = json!({
        "invocation_id": view["invocation_id"], "digest": action["action"]["digest"],
        "verdict": { "verdict": "approve" },
    });
    made(node, "capability/permission.resolve", params);
}

/// Proves CAP-030, CAP-031, CAP-032.
#[test]
fn what_an_agent_offers_is_called_and_answered_once() {
    let node = Node::start();
    for name in ["helper", "writer"] {
        run(&node, name);
    }
    let mut helper = as_agent(&node, "helper");
    let offered = register(&mut helper);
    assert_eq!((&offered["name"], &offered["unchanged"]), (&json!("agent:helper/count"), &json!(false)));
    assert_eq!(register(&mut helper)["unchanged"], true);
    let found = made(&node, "capability/get", json!({ "capability": "agent:helper/count" }));
    assert_eq!(found["capability_id"], offered["capability_id"]);
    assert_eq!(found["digest"], offered["digest"]);
    // What the agent claims is shown and believed by nobody.
    assert_eq!(found["effect"], json!({ "class": "external", "vouched": false, "reversible": false }));
    assert_eq!(found["annotations"], json!({ "effect": "none" }));
    assert_eq!((&found["backing"]["kind"], &found["backing"]["owner"]), (&json!("agent"), &json!("helper")));
    let list = made(&node, "capability/list", json!({ "backing": "agent" }));
    assert_eq!(list["items"][0]["name"], "agent:helper/count");
    let lacking = ask(&node, "capability/invoke", json!({ "capability": "agent:helper/count" })).unwrap_err();
    assert_eq!(lacking.name(), ErrorName::InvalidParams);

    // A person is asked before an agent's call is made, and the agent that is to answer learns nothing before.
    let mut writer = as_agent(&node, "writer");
    let wanted = json!({ "capability": offered["capability_id"], "input": text("abc") });
    let waiting = writer.try_raw("capability/invoke", wanted).unwrap();
    assert_eq!((&waiting["status"], &waiting["rule"]), (&json!("waiting"), &json!("agent-offer")));
    assert_eq!(node.count("helper", "capability.called"), 0);
    let named = json!({ "invocation_id": waiting["invocation_id"] });
    let unseen = helper.try_raw("capability/invocation.get", named.clone()).unwrap_err();
    assert_eq!(unseen.name(), ErrorName::NotFound);
    approve(&node, &waiting);
    eventually("it is told", || node.count("helper", "capability.called") == 1);
    let told = node.facts("helper", "capability.called").pop().unwrap();
    assert_eq!(told["invocation_id"], waiting["invocation_id"]);
    let seen = helper.try_raw("capability/invocation.get", named).unwrap();
    assert_eq!((&seen["status"], &seen["input"]), (&json!("running"), &text("abc")));

    // Nobody else answers it, and it is answered once.
    let output = json!({ "letters": 3 });
    run(&node, "stranger");
    let refused = answer(&mut as_agent(&node, "stranger"), &waiting, &output).unwrap_err();
    assert_eq!(refused.name(), ErrorName::NotFound);
    assert_eq!(answer(&mut writer, &waiting, &output).unwrap_err().name(), ErrorName::PermissionDenied);
    assert_eq!(
        answer(&mut node.connect(), &waiting, &output).unwrap_err().name(),
        ErrorName::PermissionDenied
    );
    assert_eq!(answer(&mut helper, &waiting, &output).unwrap()["status"], "succeeded");
    assert_eq!(answer(&mut helper, &waiting, &json!({})).unwrap_err().name(), ErrorName::InvalidState);
    let over = ended(&node, &waiting);
    assert_eq!((&over["status"], &over["output"]), (&json!("succeeded"), &output));
    let settled = node.facts("helper", "capability.settled");
    assert_eq!((settled.len(), &settled[0]["state"]), (1, &json!("succeeded")));
    // What went wrong is said.
    let failing = call(&node, &text("x"));
    let params = json!({ "invocation_id": failing["invocation_id"], "error": "no such letters" });
    assert_eq!(helper.try_raw("capability/invocation.complete", params).unwrap()["status"], "failed");
    assert!(ended(&node, &failing)["reason"].as_str().unwrap().contains("no such letters"));
    node.verify();
}

/// Proves CAP-030, CAP-033.
#[test]
fn what_an_epoch_offers_ends_with_it() {
    let node = Node::start();
    run(&node, "helper");
    let mut helper = as_agent(&node, "helper");
    let before = register(&mut helper);
    let open = call(&node, &text("a"));
    let kept = call(&node, &text("b"));
    // Withdrawn, it is called no more, and what runs may still be answered.
    let whole = json!({ "capability": "agent:helper/count" });
    assert_eq!(helper.try_raw("capability/withdraw", whole.clone()).unwrap()["unchanged"], false);
    assert_eq!(helper.try_raw("capability/withdraw", whole.clone()).unwrap()["unchanged"], true);
    let gone = ask(&node, "capability/get", whole.clone()).unwrap_err();
    assert_eq!(gone.name(), ErrorName::Unavailable, "{gone}");
    answer(&mut helper, &kept, &json!(1)).unwrap();
    assert_eq!(ended(&node, &kept)["status"], "succeeded");
    register(&mut helper);

    made(&node, "runtime/agent.restart", json!({ "agent": "helper" }));
    let over = ended(&node, &open);
    assert_eq!(over["status"], "outcome_unknown", "{over}");
    assert_eq!(ask(&node, "capability/get", whole.clone()).unwrap_err().name(), ErrorName::Unavailable);
    let listed = made(&node, "capability/list", json!({ "backing": "agent" }));
    assert_eq!(listed["items"], json!([]));
    node.wait("helper", edgeplane_types::Phase::Running);
    let mut next = as_agent(&node, "helper");
    assert_eq!(answer(&mut next, &open, &json!(1)).unwrap_err().name(), ErrorName::Fenced);
    let after = register(&mut next);
    assert_eq!((&after["capability_id"], &after["digest"]), (&before["capability_id"], &before["digest"]));
    assert_eq!(after["epoch"].as_u64().unwrap(), before["epoch"].as_u64().unwrap() + 1);
    node.verify();
}

/// Proves CAP-032, CAP-033.
#[test]
fn the_next_daemon_takes_the_answer() {
    let mut node = Node::start();
    run(&node, "helper");
    register(&mut as_agent(&node, "helper"));
    let begun = call(&node, &text("abc"));
    assert_eq!(begun["status"], "running");
    node.kill_daemon();
    node.up();
    node.wait("helper", edgeplane_types::Phase::Running);
    let view = made(&node, "capability/invocation.get", json!({ "invocation_id": begun["invocation_id"] }));
    assert_eq!(view["status"], "running");
    // A daemon that dies with the answer in its hands has not taken it.
    arm(&node, "invocation.answered");
    answer(&mut as_agent(&node, "helper"), &begun, &json!({ "letters": 3 })).unwrap_err();
    eventually("the daemon has died", || node.has_ended());
    node.up();
    node.wait("helper", edgeplane_types::Phase::Running);
    answer(&mut as_agent(&node, "helper"), &begun, &json!({ "letters": 3 })).unwrap();
    assert_eq!(ended(&node, &begun)["output"], json!({ "letters": 3 }));
    // The time of a call does not begin anew with each daemon, and one that was to answer and ended meanwhile is known.
    let params = json!({
        "capability": "agent:helper/count", "input": text("x"), "mode": "async", "timeout_ms": 50,
    });
    let short = made(&node, "capability/invoke", params);
    let lost = call(&node, &text("y"));
    let pid = node.pid("helper");
    node.kill_daemon();
    signals::kill(&[pid]);
    node.up();
    assert_eq!(ended(&node, &short)["status"], "outcome_unknown");
    assert_eq!(ended(&node, &lost)["status"], "outcome_unknown");
    node.verify();
}

/// Proves CAP-032, CAP-034.
#[test]
fn a_call_is_taken_back_and_its_secrets_are_the_agents() {
    let mut node = Node::start();
    run(&node, "helper");
    let mut helper = as_agent(&node, "helper");
    register(&mut helper);
    let back = call(&node, &text("a"));
    let over = made(&node, "capability/invocation.cancel", json!({ "invocation_id": back["invocation_id"] }));
    assert_eq!(over["status"], "cancelled");
    assert_eq!(node.facts("helper", "capability.settled")[0]["state"], "cancelled");
    assert_eq!(answer(&mut helper, &back, &json!(1)).unwrap_err().name(), ErrorName::InvalidState);
    let params = json!({ "capability": "agent:helper/count", "input": text("x"), "timeout_ms": 100 });
    assert_eq!(made(&node, "capability/invoke", params)["status"], "outcome_unknown");

    let secret = format!("ghp_{}", "s3cr3t".repeat(6));
    let told = call(&node, &text(&secret));
    let named = json!({ "invocation_id": told["invocation_id"] });
    assert_eq!(made(&node, "capability/invocation.get", named.clone())["input"]["text"], "***");
    assert_eq!(helper.try_raw("capability/invocation.get", named.clone()).unwrap()["input"]["text"], secret);
    node.kill_daemon();
    node.up();
    node.wait("helper", edgeplane_types::Phase::Running);
    let seen = as_agent(&node, "helper").try_raw("capability/invocation.get", named).unwrap();
    assert_eq!((&seen["status"], seen.get("input")), (&json!("running"), None), "not masked in its place");
}

/// Proves CAP-034.
#[test]
fn no_more_calls_of_an_agents_offers_wait_than_may() {
    const SERVED_MAX: usize = 256;
    let node = Node::start();
    run(&node, "helper");
    let mut helper = as_agent(&node, "helper");
    register(&mut helper);
    helper.try_raw("capability/register", json!({ "name": "other" })).unwrap();
    let mut operator = node.connect();
    let mut call_of = |name: &str| {
        let capability = format!("agent:helper/{name}");
        let params = json!({ "capability": capability, "input": text("a"), "mode": "async" });
        operator.try_raw("capability/invoke", params)
    };
    let open: Vec<Value> = (0..SERVED_MAX).map(|_| call_of("count").unwrap()).collect();
    // Whichever of its offers it is: all of them wait for the same agent.
    for name in ["count", "other"] {
        let error = call_of(name).unwrap_err();
        assert_eq!(error.name(), ErrorName::Backpressure, "{error}");
    }
    assert_eq!(node.count("helper", "capability.called"), SERVED_MAX);
    answer(&mut helper, &open[0], &json!({ "letters": 1 })).unwrap();
    call_of("other").unwrap();
    assert_eq!(call_of("other").unwrap_err().name(), ErrorName::Backpressure);
    node.verify();
}

/// Proves CAP-034.
#[test]
fn what_may_not_be_offered_is_refused() {
    let node = Node::start();
    for name in ["helper", "writer"] {
        run(&node, name);
    }
    let mut helper = as_agent(&node, "helper");
    let mut refused = |more: Value| {
        let mut params = described();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        helper.try_raw("capability/register", params).unwrap_err().name()
    };
    for more in [
        json!({ "input_schema": [] }),
        json!({ "input_schema": { "type": "string" } }),
        json!({ "output_schema": "x" }),
        json!({ "kind": "prompt" }),
        json!({ "timeout_ms": 0 }),
        json!({ "name": "a/b" }),
    ] {
        assert_eq!(refused(more.clone()), ErrorName::InvalidParams, "{more}");
    }
    assert_eq!(refused(json!({ "description": "x".repeat(5_000) })), ErrorName::TooLarge);
    let wide = json!({ "input_schema": { "type": "object", "description": "x".repeat(70_000) } });
    assert_eq!(refused(wide), ErrorName::TooLarge);
    assert_eq!(refused(json!({ "permission": "allow" })), ErrorName::PermissionDenied);
    assert_eq!(refused(json!({ "agent": "writer" })), ErrorName::PermissionDenied);
    for number in 0..64 {
        let params = json!({ "name": format!("tool-{number}") });
        helper.try_raw("capability/register", params).unwrap();
    }
    let over = helper.try_raw("capability/register", json!({ "name": "one-more" })).unwrap_err();
    assert_eq!(over.name(), ErrorName::QuotaExhausted);
    helper.try_raw("capability/register", json!({ "name": "tool-3", "title": "Other" })).unwrap();

    // An operator registers in an agent's name, and vouches.
    let params = json!({ "agent": "writer", "name": "look", "effect": "read", "permission": "allow" });
    made(&node, "capability/register", params);
    let found = made(&node, "capability/get", json!({ "capability": "agent:writer/look" }));
    assert_eq!(found["effect"], json!({ "class": "read", "vouched": true, "reversible": true }));
    let called = json!({ "capability": "agent:writer/look", "mode": "async" });
    assert_eq!(helper.try_raw("capability/invoke", called).unwrap()["status"], "running");
    node.stop("writer");
    let late = json!({ "agent": "writer", "name": "look" });
    assert_eq!(ask(&node, "capability/register", late).unwrap_err().name(), ErrorName::InvalidState);
}

/// Proves CAP-035.
#[test]
fn a_program_serves_a_capability() {
    let mut node = Node::start();
    let cli = node.binaries().cli.display().to_string();
    let said = node.scratch().join("said.json");
    fs::write(&said, described().to_string()).unwrap();
    let program = node.program(
        "count.sh",
        "#!/bin/sh\nread input\ncase \"$input\" in\n*slow*) echo $$ > \"$0.pid\"; exec sleep 1000;;\n\
         *wrong*) echo 'no such letters' >&2; exit 3;;\nesac\nprintf '%s' \"$input\"\n",
    );
    let script = format!(
        "{cli} -q capability serve count --file {} -- sh {} & wait",
        said.display(),
        program.display()
    );
    node.run("helper", &native("helper", &["/bin/sh", "-c", &script], ""));
    eventually("it is offered", || node.count("helper", "capability.registered") == 1);
    let over = ended(&node, &call(&node, &text("abc")));
    assert_eq!((&over["status"], &over["output"]), (&json!("succeeded"), &text("abc")));
    let wrong = ended(&node, &call(&node, &text("wrong")));
    assert_eq!(wrong["status"], "failed");
    assert!(wrong["reason"].as_str().unwrap().contains("no such letters"), "{wrong}");
    // It goes on at the next daemon, and what is taken back ends its program.
    node.kill_daemon();
    node.up();
    let slow = call(&node, &text("slow"));
    let pid_file = program.with_extension("sh.pid");
    let running = || fs::read_to_string(&pid_file).ok().and_then(|text| text.trim().parse::<u32>().ok());
    eventually("its program runs", || running().is_some());
    made(&node, "capability/invocation.cancel", json!({ "invocation_id": slow["invocation_id"] }));
    eventually("its program has ended", || !signals::is_alive(running().unwrap()));
    assert_eq!(ended(&node, &call(&node, &text("again")))["output"], text("again"));
    node.verify();
}

/// Proves CAP-036.
#[test]
fn methods_of_the_node_are_called_as_whoever_calls() {
    let mut node = Node::start();
    for name in ["helper", "writer"] {
        run(&node, name);
    }
    let mut writer = as_agent(&node, "writer");
    let mut call = |name: &str, input: Value| {
        writer.try_raw(
            "capability/invoke",
            json!({ "capability": format!("edgeplane:{name}"), "input": input }),
        )
    };
    let put = call("memory/entry.put", json!({ "agent": "writer", "key": "k", "value": 7 })).unwrap();
    assert_eq!((&put["status"], &put["rule"]), (&json!("succeeded"), &json!("builtin")), "{put}");
    let got = call("memory/entry.get", json!({ "agent": "writer", "key": "k" })).unwrap();
    assert_eq!((&got["status"], &got["output"]["value"]), (&json!("succeeded"), &json!(7)), "{got}");
    // It may so what it may otherwise, and not more.
    let other = call("memory/entry.put", json!({ "agent": "helper", "key": "k", "value": 7 })).unwrap();
    assert_eq!(other["status"], "failed", "{other}");
    assert!(other["reason"].as_str().unwrap().starts_with("permission_denied"), "{other}");
    let told = call(
        "runtime/agent.signal",
        json!({ "agent": "helper", "parts": [{ "type": "text", "text": "hello" }] }),
    )
    .unwrap();
    let message = node.facts("helper", "message.accepted").pop().unwrap();
    assert_eq!(message["envelope"]["source"]["principal"], "writer", "{told}");
    assert_eq!(
        call("memory/entry.put", json!({ "agent": "writer" })).unwrap_err().name(),
        ErrorName::InvalidParams
    );
    assert_eq!(call("runtime/agent.apply", json!({})).unwrap_err().name(), ErrorName::NotFound);
    let list = made(&node, "capability/list", json!({ "backing": "builtin" }));
    let item = &list["items"][0];
    let same = made(&node, "capability/get", json!({ "capability": item["capability_id"] }));
    assert_eq!(same["name"], item["name"]);
    assert_eq!(node.count("writer", "invocation.begun"), node.count("writer", "invocation.ended"));
    arm(&node, "invocation.begun");
    let lost = json!({ "capability": "edgeplane:runtime/agent.list" });
    as_agent(&node, "writer").try_raw("capability/invoke", lost).unwrap_err();
    eventually("the daemon has died", || node.has_ended());
    node.up();
    let begun = node.facts("writer", "invocation.begun").pop().unwrap();
    assert_eq!(ended(&node, &begun)["status"], "outcome_unknown");
}

fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(point), "1").unwrap();
}
