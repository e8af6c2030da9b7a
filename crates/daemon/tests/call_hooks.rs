//! Hooks around calls: what they may change, what they may not, and what becomes of those that fail.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
};

use edgeplane_os::proc;
use edgeplane_testkit::{Connection, Node, NodeOptions, mcp, native, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

/// A hook that behaves as its first argument says, and keeps what it is told in the file of its second.
const HOOK: &str = r#"
import json, os, subprocess, sys, time
way, log = sys.argv[1], sys.argv[2]
if way == "unread":
    print("{}")
    sys.exit(0)
call = json.load(sys.stdin)
with open(log, "a") as file:
    file.write(json.dumps({"call": call, "environment": sorted(os.environ)}) + "\n")
answers = {
    "continue": {}, "allow": {"decision": "allow"}, "ask": {"decision": "ask", "reason": "better ask"},
    "deny": {"decision": "deny", "reason": "not on a Monday"}, "block": {"decision": "block"},
    "context": {"additionalContext": "mind the gap"},
    "rewrite": {"updatedInput": {"text": str(call.get("input", {}).get("text")) + "!"}},
    "nothing": {"updatedInput": {}},
    "replace": {"updatedToolOutput": {"content": [{"type": "text", "text": "something else"}]}},
    "suppress": {"suppressOutput": True, "reason": "not for you"},
    "unknown": {"decision": "allow", "unless": "it rains"}, "word": {"decision": "perhaps"},
}
if way in answers:
    print(json.dumps(answers[way]))
elif way == "garbage":
    print("I do not know what to say")
elif way == "ends":
    print("{}", flush=True)
    sys.stderr.write("cannot decide\n")
    sys.exit(3)
elif way == "forks":
    for _ in range(20):
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
    print("{}", flush=True)
elif way == "endless":
    while True:
        time.sleep(1)
elif way == "flood":
    while True:
        sys.stdout.write("x" * 65536)
"#;

const POLICY: &str = "{default: ask, allow: [echo, fail], ask: [add], deny: [die], effects: {echo: read}}";

/// A hook in words of a manifest.
fn hook(node: &Node, (name, way): (&str, &str), points: &str, more: &str) -> String {
    let program = node.program("hook.py", HOOK).display().to_string();
    let log = told_at(node, name).display().to_string();
    format!("{{name: {name}, points: [{points}], run: {{exec: [python3, {program}, {way}, {log}]}}{more}}}")
}

fn told_at(node: &Node, name: &str) -> std::path::PathBuf {
    node.scratch().join(format!("{name}.told"))
}

/// What a hook was told so far.
fn told(node: &Node, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(told_at(node, name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn connector(node: &Node, hooks: &str) {
    let more = format!("  policy: {POLICY}\n  hooks: {{{hooks}}}");
    node.apply(&mcp::declaration(node, "tools", "plain", &more));
}

fn agent(node: &Node) -> Connection {
    let log = node.scratch().join("writer.log");
    node.run("writer", &native("writer", &["/bin/sh", "-c", &format!("exec cat >> {}", log.display())], ""));
    let socket = node.get("writer").status.identities.network.socket.unwrap();
    Connection::open(Path::new(&socket)).unwrap()
}

fn call(agent: &mut Connection, tool: &str, input: &Value) -> Value {
    let params = json!({ "capability": format!("tools/{tool}"), "input": input });
    agent.invoke(params).unwrap()
}

fn text_of(view: &Value) -> &str {
    view["output"]["content"][0]["text"].as_str().unwrap()
}

fn approve(node: &Node, view: &Value) -> Value {
    let mut operator = node.connect();
    let action =
        operator.try_raw("conversation/action.get", json!({ "action_id": view["action_id"] })).unwrap();
    let verdict = json!({ "verdict": "approve" });
    let id = &view["invocation_id"];
    let params = json!({ "invocation_id": id, "digest": action["action"]["digest"], "verdict": verdict });
    operator.try_raw("capability/permission.resolve", params).unwrap();
    let wait = json!({ "invocation_id": id, "timeout_ms": 30_000 });
    operator.try_raw("capability/invocation.await", wait).unwrap()
}

/// Proves CAP-020.
#[test]
fn a_hook_may_stop_a_call_have_it_asked_about_or_let_it_pass() {
    let node = Node::start();
    let mut agent = {
        connector(&node, "");
        agent(&node)
    };
    let text = json!({ "text": "hi" });
    for (way, reason) in [("deny", "not on a Monday"), ("block", "says so")] {
        connector(&node, &format!("pre: [{}]", hook(&node, ("guard", way), "pre_tool_use", "")));
        let view = call(&mut agent, "echo", &text);
        assert_eq!(
            (&view["status"], &view["cause"], &view["rule"]),
            (&json!("denied"), &json!("hook"), &json!("hook-guard"))
        );
        assert!(view["reason"].as_str().unwrap().contains(reason), "{view}");
        assert_eq!(view["hooks"][0]["decision"], way);
        assert_eq!(mcp::calls(&node, "tools"), 0);
    }
    // It has somebody asked about what would have been let pass; nobody asks an operator.
    connector(&node, &format!("pre: [{}]", hook(&node, ("guard", "ask"), "pre_tool_use", "")));
    let view = call(&mut agent, "echo", &text);
    assert_eq!((&view["status"], &view["rule"]), (&json!("waiting"), &json!("hook-guard")), "{view}");
    assert_eq!(mcp::calls(&node, "tools"), 0);
    assert_eq!(approve(&node, &view)["status"], "succeeded");
    assert_eq!(call(&mut node.connect(), "echo", &text)["status"], "succeeded");
    // What nobody said anything of, it lets pass; what a list has asked about or refused, it does not.
    connector(&node, &format!("pre: [{}]", hook(&node, ("friend", "allow"), "pre_tool_use", "")));
    let path = node.scratch().join("written");
    let view = call(&mut agent, "append", &json!({ "path": path, "text": "x" }));
    assert_eq!((&view["status"], &view["rule"]), (&json!("succeeded"), &json!("hook-friend")), "{view}");
    let sum = json!({ "a": 1, "b": 2 });
    let view = call(&mut agent, "add", &sum);
    assert_eq!((&view["status"], &view["rule"]), (&json!("waiting"), &json!("connector-ask")), "{view}");
    let before = told(&node, "friend").len();
    let refused = agent.try_raw("capability/invoke", json!({ "capability": "tools/die" })).unwrap_err();
    assert_eq!((refused.name(), told(&node, "friend").len()), (ErrorName::PolicyBlocked, before));
    // One that has somebody asked counts more than one that lets pass, in any order.
    for order in [["ask", "allow"], ["allow", "ask"]] {
        let hooks = order.map(|way| hook(&node, (way, way), "pre_tool_use", "")).join(", ");
        connector(&node, &format!("pre: [{hooks}]"));
        let view = call(&mut agent, "append", &json!({ "path": path, "text": "y" }));
        assert_eq!(view["status"], "waiting", "{order:?}: {view}");
    }
    // One that is asked only where a person would be.
    connector(&node, &format!("pre: [{}]", hook(&node, ("late", "deny"), "permission_request", "")));
    assert_eq!(call(&mut agent, "echo", &text)["status"], "succeeded");
    assert_eq!(call(&mut agent, "add", &sum)["status"], "denied");
    assert_eq!(told(&node, "late").len(), 1);
    node.verify();
}

/// Proves CAP-020, CAP-005.
#[test]
fn leave_is_for_what_a_hook_has_made_of_a_call() {
    let node = Node::start();
    let hooks = [
        hook(&node, ("first", "rewrite"), "pre_tool_use", ""),
        hook(&node, ("second", "context"), "pre_tool_use", ""),
        hook(&node, ("third", "ask"), "pre_tool_use", ", tools: [echo]"),
    ];
    connector(&node, &format!("pre: [{}]", hooks.join(", ")));
    let mut agent = agent(&node);
    let view = call(&mut agent, "echo", &json!({ "text": "hi" }));
    assert_eq!((&view["status"], &view["input"]), (&json!("waiting"), &json!({ "text": "hi!" })), "{view}");
    assert_eq!(view["hooks"][1]["context"], "mind the gap");
    let mut operator = node.connect();
    let action =
        operator.try_raw("conversation/action.get", json!({ "action_id": view["action_id"] })).unwrap();
    assert_eq!(action["subject"]["input_digest"], view["input_digest"]);
    assert_eq!(action["subject"]["input"], json!({ "text": "hi!" }));
    assert_eq!(text_of(&approve(&node, &view)), "hi!");
    // What was given and what it was made into stand in the record, told to the next and under digests.
    assert_eq!(told(&node, "second")[0]["call"]["input"], json!({ "text": "hi!" }));
    let completed = &node.facts("writer", "hook.completed")[0];
    assert_eq!(completed["updated_digest"], view["input_digest"]);
    assert_ne!(completed["input_digest"], view["input_digest"]);
    assert_eq!(node.count("writer", "hook.started"), 3);
    let id = view["invocation_id"].as_str().unwrap();
    let shown = node.cli(&["capability", "show", id]).output().unwrap();
    let text = String::from_utf8_lossy(&shown.stderr).into_owned() + &String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("hook second continue: mind the gap"), "{text}");
    // What it makes of it must be what the tool takes.
    connector(&node, &format!("pre: [{}]", hook(&node, ("first", "nothing"), "pre_tool_use", "")));
    let view = call(&mut agent, "echo", &json!({ "text": "hi" }));
    assert_eq!(view["status"], "denied", "{view}");
    assert!(view["reason"].as_str().unwrap().contains("lacks `text`"), "{view}");
    // Those who read what happens in the standard's words hear of them.
    let session = node.get("writer").status.identities.session.session_id;
    let target = json!({ "kind": "session", "id": session });
    for (kind, count) in [("hook.started", 4), ("hook.completed", 3), ("hook.failed", 1)] {
        let read = json!({ "projection": "agentruntime.events", "target": target, "types": [kind] });
        let page = operator.try_raw("stream/replay", read).unwrap();
        assert_eq!(page["items"].as_array().unwrap().len(), count, "{kind}: {page}");
    }
    node.verify();
}

/// The processes of hooks of a connector with this folder, and what they started.
fn running(folder: &str) -> usize {
    let says = |pid: &u32, file: &str, word: &str| {
        let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(word)
    };
    let runs = |pid: &u32| {
        says(pid, "environ", &format!("HOME={folder}"))
            && (says(pid, "cmdline", "hook.py") || says(pid, "cmdline", "sleep"))
            && proc::stat(*pid).is_ok_and(|stat| stat.is_alive())
    };
    proc::all().unwrap().iter().filter(|pid| runs(pid)).count()
}

/// Proves CAP-021.
#[test]
fn a_hook_that_fails_stops_what_it_was_asked_about() {
    let node = Node::start();
    connector(&node, "");
    let mut agent = agent(&node);
    let text = json!({ "text": "hi" });
    for (way, why) in [
        ("garbage", "no JSON"),
        ("unknown", "not understood"),
        ("word", "not understood"),
        ("ends", "cannot decide"),
        ("endless", "within 700 ms"),
        ("flood", "more than 1048576 bytes"),
        ("forks", "within 700 ms"),
    ] {
        let limit = if why.contains("700") { ", timeoutMs: 700" } else { ", timeoutMs: 30000" };
        connector(&node, &format!("pre: [{}]", hook(&node, ("guard", way), "pre_tool_use", limit)));
        let view = call(&mut agent, "echo", &text);
        assert_eq!((&view["status"], &view["cause"]), (&json!("denied"), &json!("hook")), "{way}: {view}");
        assert!(view["reason"].as_str().unwrap().contains(why), "{way}: {view}");
        assert!(view["hooks"][0].get("decision").is_none(), "{way}: {view}");
    }
    let failed = node.facts("writer", "hook.failed");
    assert!(failed.len() == 7 && failed.iter().all(|fact| fact["passed_over"] == false), "{failed:?}");
    assert_eq!(mcp::calls(&node, "tools"), 0);
    let home = node.state_dir().join("connectors/tools").display().to_string();
    eventually("nothing of them runs any more", || running(&home) == 0);
    // Passed over is only one that says so, and only where somebody vouches that the tool reads.
    let open = hook(&node, ("guard", "garbage"), "pre_tool_use", ", onFailure: open");
    connector(&node, &format!("pre: [{open}]"));
    assert_eq!(call(&mut agent, "echo", &text)["status"], "succeeded");
    assert_eq!(call(&mut agent, "fail", &json!({}))["status"], "denied");
    assert_eq!(
        node.facts("writer", "hook.failed").iter().filter(|fact| fact["passed_over"] == true).count(),
        1
    );
    // One that wants to know nothing may have an answer.
    let unread = hook(&node, ("guard", "unread"), "pre_tool_use", "");
    connector(&node, &format!("pre: [{unread}]"));
    assert_eq!(call(&mut agent, "echo", &json!({ "text": "x".repeat(200_000) }))["status"], "succeeded");
}

/// Proves CAP-022, CAP-046.
#[test]
fn a_hook_may_replace_or_keep_back_what_came_of_a_call() {
    let node = Node::start();
    connector(&node, "");
    let mut agent = agent(&node);
    let text = json!({ "text": "hi" });
    connector(&node, &format!("post: [{}]", hook(&node, ("lens", "replace"), "post_tool_use", "")));
    let view = call(&mut agent, "echo", &text);
    assert_eq!((&view["status"], text_of(&view)), (&json!("succeeded"), "something else"));
    assert_eq!(told(&node, "lens")[0]["call"]["output"]["content"][0]["text"], "hi");
    assert_eq!(call(&mut agent, "fail", &json!({}))["output"]["content"][0]["text"], "it cannot be done");
    for (way, why) in [("suppress", "not for you"), ("block", "it says so"), ("garbage", "it failed")] {
        connector(&node, &format!("post: [{}]", hook(&node, ("lens", way), "post_tool_use", "")));
        let view = call(&mut agent, "echo", &text);
        // It was done: that is not taken back.
        assert_eq!((&view["status"], &view["cause"]), (&json!("succeeded"), &json!("hook")), "{way}: {view}");
        assert!(view.get("output").is_none() && view["reason"].as_str().unwrap().contains(why), "{view}");
    }
    let failures = hook(&node, ("sad", "context"), "post_tool_failure", "");
    connector(&node, &format!("post: [{failures}]"));
    assert!(call(&mut agent, "echo", &text).get("hooks").is_none());
    let view = call(&mut agent, "fail", &json!({}));
    assert_eq!((&view["status"], &view["hooks"][0]["context"]), (&json!("failed"), &json!("mind the gap")));
    assert_eq!(told(&node, "sad")[0]["call"]["status"], "failed");
}

/// Proves CAP-023.
#[test]
fn a_hook_is_told_no_secret() {
    let env = vec![("DAEMON_ONLY".to_owned(), "x".to_owned())];
    let node = Node::start_with(NodeOptions { env, ..NodeOptions::default() });
    let hooks = [
        hook(&node, ("before", "continue"), "pre_tool_use", ""),
        hook(&node, ("writes", "rewrite"), "pre_tool_use", ", tools: [add]"),
    ];
    let after = hook(&node, ("after", "continue"), "post_tool_use", "");
    connector(&node, &format!("pre: [{}], post: [{after}]", hooks.join(", ")));
    let secret = format!("ghp_{}", "s3cr3t".repeat(6));
    let view = call(&mut node.connect(), "echo", &json!({ "text": secret }));
    assert_eq!(view["status"], "succeeded", "{view}");
    for name in ["before", "after"] {
        let told = &told(&node, name)[0];
        assert!(!told.to_string().contains("s3cr3t"), "{told}");
        let given: Vec<&str> =
            told["environment"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(given.contains(&"PATH") && !given.contains(&"DAEMON_ONLY"), "{given:?}");
    }
    assert_eq!(told(&node, "before")[0]["call"]["input"]["text"], "***");
    // What it was not shown it cannot rewrite.
    let view = call(&mut node.connect(), "add", &json!({ "a": 1, "b": 2, "token": secret }));
    assert_eq!(view["status"], "denied", "{view}");
    assert!(view["reason"].as_str().unwrap().contains("was not shown"), "{view}");
}

/// Answers each request with this.
fn address(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let reply = move |stream: TcpStream| -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line)? > 2 {
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let mut body = String::new();
        reader.take(length).read_to_string(&mut body)?;
        let is_call = body.contains("\"point\":\"pre_tool_use\"");
        let answer = if is_call { answer } else { "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" };
        (&stream).write_all(answer.as_bytes())
    };
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(reply(stream))));
    url
}

/// Proves CAP-020, CAP-021.
#[test]
fn a_hook_may_be_an_address() {
    let node = Node::start();
    let mut operator = node.connect();
    for (answer, status, why) in [
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", "succeeded", ""),
        (
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 37\r\n\r\n{\"decision\":\"deny\",\"reason\":\"closed\"}",
            "denied",
            "closed",
        ),
        ("HTTP/1.1 500 Oh\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", "denied", "500"),
        (
            "HTTP/1.1 307 No\r\nConnection: close\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
            "denied",
            "307",
        ),
    ] {
        let url = address(answer);
        connector(&node, &format!("pre: [{{name: far, points: [pre_tool_use], run: {{http: '{url}'}}}}]"));
        let view = call(&mut operator, "echo", &json!({ "text": "hi" }));
        assert_eq!(view["status"], status, "{answer}: {view}");
        assert!(view["reason"].as_str().unwrap_or_default().contains(why), "{answer}: {view}");
    }
}
