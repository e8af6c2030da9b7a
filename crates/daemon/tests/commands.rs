//! Commands that a program has its node run: inside the agent, recorded, bounded, whoever dies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::{Path, PathBuf};

use edgeplane_testkit::{
    Node, acp,
    peers::{answer, ask},
    terminal,
    wait::eventually,
    words,
};
use edgeplane_types::{Authority, Channel, DeliveryMode, Proof};
use edgeplane_wire::command::KEPT_BYTES_MAX;
use serde_json::{Value, json};

fn run(node: &Node, driver: &str) -> PathBuf {
    let folder = node.scratch().join("coder");
    node.run("coder", &acp("coder", &folder, &[], (driver, "restart: { backoff: { initial: 10ms } }")));
    folder
}

/// What the program was answered, step by step.
fn steps(node: &Node, steps: &Value) -> Vec<Value> {
    let text = answer(&ask(node, "coder", &format!("terminal {steps}"))).text.clone();
    serde_json::from_str(&text).unwrap()
}

/// Begins a turn and does not wait for its end.
fn begin(node: &Node, steps: &Value) {
    node.signal_with(&words("coder", &format!("terminal {steps}"), DeliveryMode::Queue));
}

fn shell(script: &str) -> Value {
    json!(["create", { "command": "sh", "args": ["-c", script] }])
}

/// One more thing about the terminal that was created last.
fn then(method: &str) -> Value {
    json!([method, { "terminalId": "T" }])
}

fn facts(node: &Node, kind: &str) -> Vec<Value> {
    let events = node.history("coder").into_iter().filter(|event| event.event["type"] == kind);
    events.map(|event| event.event["payload"].clone()).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn is_alive(pid: &str) -> bool {
    !pid.trim().is_empty() && Path::new("/proc").join(pid.trim()).join("exe").read_link().is_ok()
}

/// Proves DRV-056, DRV-057, DRV-061.
#[test]
fn command_runs_inside_the_agent_as_the_agent_and_is_recorded() {
    let node = Node::start();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let folder = run(&node, "");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    let cli = node.binaries().cli.to_string_lossy().into_owned();
    let script = format!(
        "cat /proc/self/cgroup; pwd; echo $EDGEPLANE_AGENT $X; echo oops >&2; {cli} signal listener --content hi >&2; exit 3"
    );
    let create = json!(["create", { "command": "sh", "args": ["-c", script], "cwd": folder.join("inner"),
                                    "env": [{ "name": "X", "value": "secret-value" }] }]);
    let said = steps(&node, &json!([create, then("wait_for_exit"), then("output"), then("release")]));
    assert_eq!(said[1], json!({ "exitCode": 3, "signal": null }), "{said:?}");
    let output = said[2]["output"].as_str().unwrap();
    assert!(output.contains("/coder/inner\ncoder secret-value\noops\n"), "{output}");
    assert!(!node.has_cgroups() || output.contains("/work\n"), "{output}");
    assert_eq!((&said[2]["truncated"], &said[2]["exitStatus"]), (&json!(false), &said[1]));
    assert_eq!(said[3], json!({}));

    assert_eq!(node.inbox("listener").len(), 1, "{output}");
    let view = node.inbox("listener").pop().unwrap();
    assert_eq!((view.channel, view.source.as_str()), (Channel::Peer, "coder"));
    assert_eq!((view.source_detail.proof, view.authority), (Proof::EpochSocket, Authority::Delegated));

    eventually("its end is recorded", || node.count("coder", "command.ended") == 1);
    let (started, ended) =
        (facts(&node, "command.started").remove(0), facts(&node, "command.ended").remove(0));
    assert_eq!(started["process_id"], said[0]["terminalId"]);
    assert_eq!((&ended["process_id"], &ended["status"]), (&started["process_id"], &json!({ "code": 3 })));
    assert_eq!(ended["output_bytes"], output.len());
    let message = started["message_id"].as_str().unwrap();
    assert_eq!(ended["message_id"], message);
    let whole = json!(node.history("coder").iter().map(|event| &event.event).collect::<Vec<_>>()).to_string();
    assert!(!whole.contains("secret-value"), "values of variables are in no event");

    // A file of the same turn stands in it as well.
    let text = answer(&ask(&node, "coder", "write notes hello")).text.clone();
    assert_eq!(text, "{}");
    let turn = |id: &str| {
        let out = node.cli(&["transcript", "coder", "--turn", id]).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    let shown = turn(message);
    assert!(
        shown.contains("command: sh -c cat /proc/self/cgroup") && shown.contains("/coder/inner)"),
        "{shown}"
    );
    assert!(shown.contains("command ended: code-3") && shown.contains("| oops"), "{shown}");
    let file = facts(&node, "file.written").remove(0);
    let shown = turn(file["message_id"].as_str().unwrap());
    assert!(shown.contains("notes written, 5 bytes") && !shown.contains("command"), "{shown}");
    node.verify();
}

/// Proves DRV-058.
#[test]
fn output_is_kept_from_its_end_and_a_flood_holds_up_nobody() {
    let node = Node::start();
    run(&node, "");
    let limited = |script: &str, limit: u64| json!(["create", { "command": "sh", "args": ["-c", script], "outputByteLimit": limit }]);
    let said = steps(
        &node,
        &json!([
            limited("printf abc\\\\303\\\\251def", 4), then("wait_for_exit"), then("output"), then("release"),
            limited("yes éé | head -c 30000001; echo; echo end", 1_000), then("wait_for_exit"), then("output"),
            then("release"), limited("echo x", 0), then("wait_for_exit"), then("output"), then("release"),
            ["create", { "command": "no-such-program" }], then("wait_for_exit"), then("output"), then("release"),
        ]),
    );
    assert_eq!((&said[2]["output"], &said[2]["truncated"]), (&json!("def"), &json!(true)), "{said:?}");
    let output = said[6]["output"].as_str().unwrap();
    assert!(output.len() <= 1_000 && output.len() > 990 && output.ends_with("\nend\n"), "{output}");
    assert!(output.starts_with(['é', '\n']), "{output}");
    assert_eq!((&said[10]["output"], &said[10]["truncated"]), (&json!(""), &json!(true)));
    assert_eq!(said[13]["exitCode"], 127);
    assert!(said[14]["output"].as_str().unwrap().contains("no-such-program"), "{said:?}");
    eventually("all ends are recorded", || node.count("coder", "command.ended") == 4);
    let flood = &facts(&node, "command.ended")[1];
    // What the program wants to be shown bounds no more than what it is shown.
    assert_eq!(
        (&flood["written_bytes"], &flood["output_bytes"]),
        (&json!(30_000_006), &json!(KEPT_BYTES_MAX))
    );
    node.verify();
}

/// Proves DRV-056, DRV-059.
#[test]
fn what_is_killed_or_released_is_gone_and_strangers_terminals_are_not_found() {
    let node = Node::start();
    let folder = run(&node, "");
    let other = node.scratch().join("other");
    node.run("other", &acp("other", &other, &[], ("", "")));
    let text =
        answer(&ask(&node, "other", &format!("terminal {}", json!([shell("sleep 1000")])))).text.clone();
    let strangers: Vec<Value> = serde_json::from_str(&text).unwrap();
    let strangers = &strangers[0]["terminalId"];

    let mut asked = vec![
        shell("echo $$ > pid; echo begun; exec sleep 1000"),
        then("kill"),
        then("wait_for_exit"),
        then("output"),
        then("kill"),
        then("release"),
    ];
    let methods = ["output", "wait_for_exit", "kill", "release"];
    asked.extend(methods.map(then));
    asked.extend(methods.map(|method| json!([method, { "terminalId": strangers }])));
    asked.extend(methods.map(|method| json!([method, { "terminalId": "../../key" }])));
    asked.push(json!(["kill", { "terminalId": 7 }]));
    asked.push(json!(["resize", { "terminalId": "x" }]));
    let said = steps(&node, &json!(asked));
    assert_eq!(said[2], json!({ "exitCode": null, "signal": "SIGKILL" }), "{said:?}");
    assert_eq!(said[3]["exitStatus"], said[2]);
    assert_eq!((&said[4], &said[5]), (&json!({}), &json!({})), "one that has ended may be killed once more");
    assert!(said[6..18].iter().all(|answer| answer["code"] == -32_002), "{said:?}");
    assert_eq!((&said[18]["code"], &said[19]["code"]), (&json!(-32_602), &json!(-32_601)));
    assert!(!is_alive(&read(&folder.join("pid"))));

    // Released while it runs: it is ended.
    let said =
        steps(&node, &json!([shell("echo $$ > pid2; exec sleep 1000"), then("release"), then("output")]));
    assert_eq!((&said[1], &said[2]["code"]), (&json!({}), &json!(-32_002)));
    eventually("its end is recorded", || node.count("coder", "command.ended") == 2);
    assert!(!is_alive(&read(&folder.join("pid2"))));
    node.verify();
}

/// Proves DRV-059.
#[test]
fn thousands_of_terminals_are_refused_with_a_reason() {
    let node = Node::start();
    run(&node, "");
    let text = answer(&ask(&node, "coder", "terminals 300")).text.clone();
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&said["made"], &said["refused"], &said["again"]), (&json!(64), &json!(236), &json!(true)));
    assert!(said["why"].as_str().unwrap().contains("64 terminals are open: release some"), "{said}");
    node.verify();
}

/// Proves DRV-057, DRV-059.
#[test]
fn folder_and_variables_are_the_agents_own() {
    let node = Node::start();
    let folder = run(&node, "");
    std::os::unix::fs::symlink("/etc", folder.join("out")).unwrap();
    let of = |fields: Value| {
        let mut params = json!({ "command": "pwd" });
        params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!(["create", params])
    };
    let env = |name: &str| json!({ "env": [{ "name": name, "value": "x" }] });
    let hostile = [
        json!({ "cwd": "/etc" }),
        json!({ "cwd": "../.." }),
        json!({ "cwd": folder.join("out") }),
        json!({ "cwd": folder.join("missing") }),
        env("EDGEPLANE_SOCKET"),
        env("EDGEPLANE_ANYTHING"),
        env("A=B"),
        env(""),
        env("nul\0"),
        json!({ "command": "" }),
        json!({ "args": ["\0"] }),
        json!({ "args": ["x".repeat(200_000)] }),
        json!({ "args": vec!["x"; 2_000] }),
        json!({ "sessionId": "another" }),
    ];
    let said = steps(&node, &json!(hostile.map(of)));
    for answer in &said {
        assert_eq!(answer["code"], -32_602, "{said:?}");
    }
    assert!(said[0]["message"].as_str().unwrap().contains("is not in"), "{said:?}");
    assert!(
        said[4]["message"].as_str().unwrap().contains("`EDGEPLANE_SOCKET` is EdgePlane's own"),
        "{said:?}"
    );
    assert_eq!(node.count("coder", "command.started"), 0);
    assert_eq!(answer(&ask(&node, "coder", "say fine")).text, "fine");
}

/// Proves DRV-060.
#[test]
fn daemon_may_die_while_a_command_runs_and_while_its_end_is_waited_for() {
    let mut node = Node::start();
    let folder = run(&node, "");
    let script = "echo once >> runs; echo $$ > pid; until test -e go; do sleep 0.01; done; echo done; exit 4";
    begin(&node, &json!([shell(script), then("wait_for_exit"), then("output"), then("release")]));
    eventually("it runs", || !read(&folder.join("pid")).is_empty());
    for round in 0..2 {
        node.kill_daemon();
        if round == 1 {
            std::fs::write(folder.join("go"), "").unwrap();
            eventually("it ends with no daemon there", || !is_alive(&read(&folder.join("pid"))));
        }
        node.up();
    }
    eventually("the turn is over", || node.count("coder", "turn.completed") == 1);
    assert_eq!(read(&folder.join("runs")), "once\n");
    let params = json!({ "agent": "coder", "detail": "words" });
    let words = node.connect().try_raw("runtime/transcript.read", params).unwrap();
    let turn = words["items"].as_array().unwrap().iter().rfind(|entry| entry["spoken"] == "turn").unwrap();
    let said: Vec<Value> = serde_json::from_str(turn["text"].as_str().unwrap()).unwrap();
    assert_eq!((&said[1]["exitCode"], &said[2]["output"]), (&json!(4), &json!("done\n")), "{said:?}");
    assert_eq!((node.count("coder", "command.started"), node.count("coder", "command.ended")), (1, 1));
    node.verify();
}

/// Proves DRV-060.
#[test]
fn commands_end_with_their_epoch_and_their_ends_are_recorded() {
    let mut node = Node::start();
    let folder = run(&node, "");
    let running = |pid: &str| shell(&format!("echo $$ > {pid}; exec sleep 1000"));
    begin(&node, &json!([running("a"), then("wait_for_exit")]));
    eventually("it runs", || !read(&folder.join("a")).is_empty());
    node.stop("coder");
    assert!(!is_alive(&read(&folder.join("a"))));
    let ended = facts(&node, "command.ended");
    assert_eq!((ended.len(), &ended[0]["status"]), (1, &json!({ "signal": 9 })));

    // The shim's death, with no daemon there to see it, leaves nothing that runs and nothing that is guessed.
    node.connect().try_raw("runtime/agent.start", json!({ "agent": "coder" })).unwrap();
    begin(&node, &json!([running("b"), then("wait_for_exit")]));
    eventually("it runs", || !read(&folder.join("b")).is_empty());
    eventually("it is recorded", || node.count("coder", "command.started") == 2);
    let shim = node.shim_pid("coder");
    node.kill_daemon();
    edgeplane_testkit::signals::kill(&[shim]);
    eventually("it ends with its shim", || !is_alive(&read(&folder.join("b"))));
    node.up();
    eventually("its end is recorded", || node.count("coder", "command.ended") == 2);
    let ended = facts(&node, "command.ended").remove(1);
    assert_eq!(ended["status"], "unknown");
    assert!(ended["reason"].as_str().unwrap().contains("its end was not seen"), "{ended}");
    node.verify();
}

/// Proves DRV-056.
#[test]
fn rules_and_manifest_decide_whether_commands_are_run() {
    let node = Node::start();
    let offered = |folder: &Path| -> Value { serde_json::from_str(&read(&folder.join("client"))).unwrap() };
    let folder = run(&node, "");
    assert_eq!(answer(&ask(&node, "coder", "say ready")).text, "ready");
    assert_eq!(offered(&folder)["terminal"], true);
    let forbid = r#"policy: |
    @id("all") permit (principal, action, resource);
    @id("no-commands") @reason("not here") forbid (principal, action == Action::"run", resource);"#;
    node.apply(&acp("coder", &folder, &[], ("", forbid)));
    let said = steps(&node, &json!([shell("echo x > ran")]));
    let why = said[0]["message"].as_str().unwrap();
    assert!(why.contains("not here") && why.contains("no-commands"), "{why}");
    assert_eq!(node.count("coder", "command.started"), 0);

    for (driver, more) in [("", forbid), (", commands: false", "")] {
        let before = node.count("coder", "session.opened");
        node.apply(&acp("coder", &folder, &[], (driver, more)));
        node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
        eventually("another session is there", || node.count("coder", "session.opened") > before);
        assert_eq!(offered(&folder)["terminal"], false);
    }
    let said = steps(&node, &json!([shell("echo x > ran")]));
    assert_eq!(said[0]["code"], -32_601, "{said:?}");
    assert!(!folder.join("ran").exists());
}
