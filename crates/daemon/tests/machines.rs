//! Processes, surroundings and the machine, as they are shown: real commands of real agents, ended and outlived.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::PathBuf;

use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Node, acp,
    peers::{answer, ask, run_peer, speak_as},
    signals, terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{catalogue::AgentFreeze, rpc::RpcError};
use serde_json::{Value, json};

fn run(node: &Node, more: &str) -> PathBuf {
    let folder = node.scratch().join("coder");
    let more = format!("restart: {{ backoff: {{ initial: 10ms }} }}\n{more}");
    node.run("coder", &acp("coder", &folder, &[], ("", &more)));
    folder
}

fn shell(script: &str) -> Value {
    json!(["create", { "command": "sh", "args": ["-c", script], "env": [{ "name": "SHH", "value": "secret-value" }] }])
}

/// Has a command run, and gives its id.
fn begin(node: &Node, script: &str) -> String {
    let text = answer(&ask(node, "coder", &format!("terminal {}", json!([shell(script)])))).text.clone();
    let steps: Value = serde_json::from_str(&text).unwrap();
    steps.pointer("/0/terminalId").unwrap().as_str().unwrap().to_owned()
}

fn raw(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn get(node: &Node, id: &str) -> Value {
    raw(node, "runtime/process.get", json!({ "process_id": id })).unwrap()
}

fn terminate(node: &Node, id: &str, more: &Value) -> Result<Value, RpcError> {
    let mut params = json!({ "process_id": id, "reason": "enough" });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    raw(node, "runtime/process.terminate", params)
}

/// Proves MACH-001, MACH-002, MACH-003.
#[test]
fn process_is_listed_and_shown_with_both_ends_of_its_output() {
    let node = Node::start();
    let folder = run(&node, "");
    let done = begin(&node, "echo first; yes 0123456789 | head -n 2000; echo last; exit 3");
    eventually("it has ended", || get(&node, &done)["status"] == "exited");
    let running = begin(&node, "echo here; exec sleep 1000");
    eventually("it has said something", || get(&node, &running)["output"]["head"] == "here\n");

    let view = get(&node, &done);
    assert_eq!((&view["exit"], &view["agent"]), (&json!({ "code": 3 }), &json!("coder")));
    assert_eq!(view["cwd"], folder.canonicalize().unwrap().to_string_lossy().into_owned());
    assert_eq!(view["variables"], json!(["SHH"]));
    assert!(view["command"].as_str().unwrap().starts_with("sh -c echo first"), "{view}");
    assert!(!view.to_string().contains("secret-value"), "{view}");
    let turn = view["turn_id"].as_str().unwrap().strip_prefix("trn_").unwrap();
    assert_eq!(view["message_id"], format!("msg_{turn}"));
    let output = &view["output"];
    assert!(output["head"].as_str().unwrap().starts_with("first\n0123456789\n"), "{output}");
    assert!(output["tail"].as_str().unwrap().ends_with("0123456789\nlast\n"), "{output}");
    assert_eq!((&output["truncation"], &output["written_bytes"]), (&json!("middle"), &json!(22_011)));

    let list = |more: Value| {
        let mut params = json!({ "agent": "coder" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        raw(&node, "runtime/process.list", params).unwrap()
    };
    let ids = |list: &Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap();
        items.iter().map(|item| item["process_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&list(json!({}))), [running.clone(), done.clone()]);
    assert_eq!(ids(&list(json!({ "status": "running" }))), [running.as_str()]);
    let first = list(json!({ "limit": 1 }));
    assert_eq!(ids(&first), [running.as_str()]);
    assert_eq!(ids(&list(json!({ "limit": 1, "cursor": first["next_cursor"] }))), [done.as_str()]);
    assert!(list(json!({}))["items"][0].get("output").is_none());
    if node.has_cgroups() {
        node.change::<AgentFreeze>("coder").unwrap();
        node.wait("coder", Phase::Frozen);
        assert_eq!(get(&node, &running)["status"], "idle");
    }
    let nobody = json!({ "process_id": "prc_01890000-0000-7000-8000-000000000002" });
    assert_eq!(raw(&node, "runtime/process.get", nobody).unwrap_err().name(), ErrorName::NotFound);
    let cursor = json!({ "agent": "coder", "cursor": "x" });
    assert_eq!(raw(&node, "runtime/process.list", cursor).unwrap_err().name(), ErrorName::InvalidParams);
}

/// Proves MACH-004, MACH-005.
#[test]
fn process_is_ended_at_once_or_after_its_grace_and_the_wish_outlives_the_daemon() {
    let mut node = Node::start();
    run(&node, "");
    let polite = begin(&node, "trap 'echo bye; exit 7' TERM; echo on; while :; do sleep 0.1; done");
    eventually("it runs", || get(&node, &polite)["output"]["head"] == "on\n");
    let view = terminate(&node, &polite, &json!({ "grace_ms": 30_000 })).unwrap();
    assert_eq!((&view["status"], &view["exit"]), (&json!("exited"), &json!({ "code": 7 })));
    let deaf = begin(&node, "trap '' TERM; echo on; while :; do sleep 0.1; done");
    eventually("it runs", || get(&node, &deaf)["output"]["head"] == "on\n");
    let view = terminate(&node, &deaf, &json!({ "grace_ms": 300 })).unwrap();
    assert_eq!((&view["status"], &view["exit"]), (&json!("exited"), &json!({ "signal": 9 })));
    let at_once = begin(&node, "exec sleep 1000");
    let view = terminate(&node, &at_once, &json!({})).unwrap();
    assert_eq!(view["exit"], json!({ "signal": 9 }), "{view}");
    let over = terminate(&node, &at_once, &json!({})).unwrap_err();
    assert_eq!(over.name(), ErrorName::InvalidState);
    let nobody = terminate(&node, "prc_01890000-0000-7000-8000-000000000002", &json!({})).unwrap_err();
    assert_eq!(nobody.name(), ErrorName::NotFound);
    let wish = node.events("coder", &["command.terminating"]).pop().unwrap().event;
    assert_eq!((&wish["payload"]["reason"], &wish["actor"]["kind"]), (&json!("enough"), &json!("operator")));

    // The daemon dies between the wish and the act.
    let left = begin(&node, "exec sleep 1000");
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("terminate.noted"), "1").unwrap();
    assert!(terminate(&node, &left, &json!({})).is_err());
    node.kill_daemon();
    node.up();
    eventually("the next daemon ends it", || get(&node, &left)["exit"] == json!({ "signal": 9 }));
    node.verify();
}

/// Proves MACH-002, MACH-005.
#[test]
fn what_died_with_its_shim_is_unknown_and_out_of_reach() {
    let node = Node::start();
    run(&node, "");
    let id = begin(&node, "exec sleep 1000");
    signals::send(node.shim_pid("coder"), edgeplane_os::Signal::STOP);
    let shim = node.shim_pid("coder");
    signals::kill(&[shim]);
    let view = eventually_some("its end is recorded", || {
        Some(get(&node, &id)).filter(|view| view.get("ended_at").is_some())
    });
    assert_eq!((&view["status"], &view["exit"]), (&json!("unknown"), &json!("unknown")));
    assert!(view["reason"].as_str().unwrap().contains("not seen"), "{view}");
    let refused = terminate(&node, &id, &json!({})).unwrap_err();
    assert!(matches!(refused.name(), ErrorName::InvalidState | ErrorName::Unavailable), "{refused}");
}

/// Proves MACH-001.
#[test]
fn processes_of_others_are_not_there() {
    let node = Node::start();
    run(&node, "");
    run_peer(&node, "stranger", "");
    let id = begin(&node, "exec sleep 1000");
    let mut stranger = speak_as(&node, "stranger");
    let mut asked = |method: &str, params: Value| stranger.try_raw(method, params).unwrap_err().name();
    assert_eq!(asked("runtime/process.get", json!({ "process_id": id })), ErrorName::NotFound);
    assert_eq!(asked("runtime/process.terminate", json!({ "process_id": id })), ErrorName::NotFound);
    assert_eq!(asked("runtime/process.list", json!({ "agent": "coder" })), ErrorName::PermissionDenied);
    assert_eq!(asked("runtime/environment.get", json!({ "agent": "coder" })), ErrorName::PermissionDenied);
    assert_eq!(get(&node, &id)["status"], "running");
}

/// What a command says, and its exit code.
fn said(node: &Node, args: &[&str]) -> (Option<i32>, String) {
    let output = node.cli(args).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Proves MACH-001, MACH-003, MACH-005, MACH-006, MACH-008.
#[test]
fn command_line_shows_processes_surroundings_and_the_machine() {
    let node = Node::start();
    run(&node, "");
    let id = begin(&node, "echo here; exec sleep 1000");
    eventually("it has said something", || get(&node, &id)["output"]["head"] == "here\n");
    let (code, text) = said(&node, &["process", "list", "coder", "--status", "running"]);
    assert!(code == Some(0) && text.contains(&id) && text.contains("sleep 1000"), "{text}");
    let (code, text) = said(&node, &["process", "get", &id]);
    assert!(code == Some(0) && text.ends_with("here\n") && !text.contains("secret-value"), "{text}");
    let (code, text) = said(&node, &["process", "terminate", &id, "--reason", "enough"]);
    assert!(code == Some(0) && text.contains("is to end"), "{text}");
    eventually("it has ended", || get(&node, &id)["status"] == "exited");
    let (code, text) = said(&node, &["process", "list", "coder", "--status", "running"]);
    assert_eq!((code, text.trim()), (Some(0), "no process was run for it"));

    let (code, text) = said(&node, &["agent", "environment", "coder"]);
    assert!(
        code == Some(0) && text.lines().any(|line| line.split_whitespace().eq(["driver", "acp"])),
        "{text}"
    );
    let (_, json) = said(&node, &["agent", "environment", "coder", "-o", "json"]);
    let view = raw(&node, "runtime/environment.get", json!({ "agent": "coder" })).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["variables"], view["variables"]);
    let (code, text) = said(&node, &["host"]);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert!(code == Some(0) && text.contains(kernel.trim()) && text.contains("1 running"), "{text}");
    let (code, text) = said(&node, &["host", "elsewhere"]);
    assert!(code != Some(0) && text.contains("no host `elsewhere`"), "{text}");
}

/// Proves MACH-006, MACH-007.
#[test]
fn environment_shows_what_is_applied_and_no_value() {
    let node = Node::start();
    let secret = node.scratch().join("secret");
    std::fs::write(&secret, "hush-hush\n").unwrap();
    let more = format!(
        "limits: {{ memory: 512MiB, pids: 200, cpu: 1500m, openFiles: 256, bestEffort: true }}\nsecrets: [{{ name: key, from: {{ file: {} }}, as: env }}]\nenv: {{ PLAIN: plain-value, KEY: {{ secret: key }} }}",
        secret.display()
    );
    node.run("one", &terminal("one", &["/bin/cat"], &more));
    let view = raw(&node, "runtime/environment.get", json!({ "agent": "one" })).unwrap();
    let text = view.to_string();
    assert!(!text.contains("hush-hush") && !text.contains("plain-value"), "{text}");
    let names: Vec<&str> = view["variables"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    // Exactly what the kernel says that the program was given.
    let given = std::fs::read(format!("/proc/{}/environ", node.pid("one"))).unwrap();
    let mut given: Vec<String> = String::from_utf8_lossy(&given)
        .split('\0')
        .filter_map(|entry| entry.split_once('=').map(|(name, _)| name.to_owned()))
        .collect();
    given.sort();
    assert_eq!(names, given);
    assert_eq!((&view["source"], &view["driver"]), (&json!("epoch"), &json!("terminal")));
    assert_eq!(view["sandbox"]["no_new_privs"], "yes", "{view}");
    assert_eq!((&view["network"], &view["sandbox"]["profile"]), (&json!("host"), &json!("none")));
    let host = raw(&node, "runtime/host.list", json!({})).unwrap()["items"][0].clone();
    for limit in view["limits"].as_array().unwrap() {
        let name = limit["name"].as_str().unwrap();
        let feature =
            host["features"].as_array().unwrap().iter().find(|one| one["name"] == format!("{name} limit"));
        let expected = if feature.is_some_and(|one| one["status"] != "ok") { "missing" } else { "in_force" };
        assert_eq!(limit["state"], expected, "{limit} {feature:?}");
        if limit["state"] == "in_force" {
            assert_eq!(limit["in_force"], limit["asked"], "{limit}");
        }
    }
    node.stop("one");
    let view = raw(&node, "runtime/environment.get", json!({ "agent": "one" })).unwrap();
    assert_eq!(
        (&view["source"], &view["sandbox"]["no_new_privs"]),
        (&json!("manifest"), &json!("unavailable"))
    );
    let nobody = raw(&node, "runtime/environment.get", json!({ "agent": "nobody" })).unwrap_err();
    assert_eq!(nobody.name(), ErrorName::NotFound);
}

/// Proves MACH-008.
#[test]
fn host_tells_what_it_has_and_what_is_left() {
    let node = Node::start();
    let list = || raw(&node, "runtime/host.list", json!({})).unwrap()["items"][0].clone();
    let before = list();
    node.run("one", &terminal("one", &["/bin/cat"], "limits: { memory: 64MiB, bestEffort: true }"));
    let after = list();
    let memory = |host: &Value| host["left"]["memory_bytes"].as_u64().unwrap();
    assert_eq!(memory(&before) - memory(&after), 64 << 20);
    assert_eq!((&after["agents"]["running"], &after["left"]["without_cpu_limit"]), (&json!(1), &json!(1)));
    assert!(after["capacity"]["cpu_milli"].as_u64().unwrap() >= 1_000);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(after["kernel"], kernel.trim());
    let same = raw(&node, "runtime/host.get", json!({ "host": after["host_id"] })).unwrap();
    assert_eq!(same["name"], after["name"]);
    let none = raw(&node, "runtime/host.list", json!({ "labels": { "os": "plan9" } })).unwrap();
    assert_eq!(none["items"], json!([]));
    let other = raw(&node, "runtime/host.get", json!({ "host": "elsewhere" })).unwrap_err();
    assert_eq!(other.name(), ErrorName::NotFound);
    let held = json!({ "scope": { "node": true }, "kind": "stop", "reason": "x" });
    raw(&node, "runtime/override.apply", held).unwrap();
    assert_eq!(list()["status"], "held");
    for later in ["runtime/host.drain", "runtime/host.register", "runtime/host.heartbeat"] {
        assert_eq!(raw(&node, later, json!({})).unwrap_err().name(), ErrorName::Unsupported, "{later}");
    }
}
