//! Programs that end with each turn: one process for each message, with one session over processes, epochs and daemons.

use std::path::{Path, PathBuf};

use edgeplane_os::{Clock as _, SystemClock};
use edgeplane_testkit::{
    Node, exec,
    peers::{answer, ask},
    signals,
    wait::{PATIENCE, eventually},
    words,
};
use edgeplane_types::{Activity, Continuity, DeliveryMode, Phase, Rung};
use serde_json::{Value, json};

use DeliveryMode::{Interrupt, Queue, Steer};

/// Its answer is all that it writes, and it is told the name of its session.
const TEXT: &str = r#", first: [--session-id, "{session}", --prompt, "{prompt}"],
    resume: [--resume, "{session}", --prompt, "{prompt}"], lost: No conversation found"#;

/// It writes JSON lines and names its session itself.
const STREAM: &str = r#", first: [--stream], resume: [--stream, --resume, "{session}"], prompt: stdin,
    output: stream-json, session: /session_id, answer: /result, lost: No conversation found"#;

/// It writes one document.
const JSON: &str = r#", first: [--json], resume: [--json, --resume, "{session}"], prompt: stdin,
    output: json, session: /session_id, answer: /result, lost: No conversation found"#;

const QUICK: &str = "restart: { policy: always, backoff: { initial: 10ms } }";

/// An agent named `coder`, in its folder.
fn run(node: &Node, driver: &str, more: &str) -> PathBuf {
    let folder = node.scratch().join("coder");
    node.run("coder", &exec("coder", &folder, &[], (driver, more)));
    folder
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// How the program was called, call by call.
fn calls(folder: &Path) -> Vec<Value> {
    read(&folder.join("calls")).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn said(node: &Node, words: &str) -> String {
    answer(&ask(node, "coder", words)).text.clone()
}

/// The payloads of an agent's events of a kind.
fn facts(node: &Node, kind: &str) -> Vec<Value> {
    node.facts("coder", kind)
}

fn ended(node: &Node) -> usize {
    node.count("coder", "turn.completed")
}

/// Signals and gives the outcome of the turn.
fn outcome(node: &Node, words_said: &str) -> Value {
    let message = node.signal_with(&words("coder", words_said, Queue));
    node.turn("coder", &message, PATIENCE)["outcome"].clone()
}

/// Proves DRV-030, DRV-031, DRV-032.
#[test]
fn each_message_is_one_process_in_one_session() {
    let node = Node::start();
    let folder = run(&node, TEXT, "");
    assert_eq!(said(&node, "say one"), "one");
    assert_eq!(said(&node, "recall"), "say one");
    let calls = calls(&folder);
    assert_eq!(calls.len(), 2);
    let first = calls[0]["prompt"].as_str().unwrap();
    assert!(first.starts_with("You run as a named agent under EdgePlane."), "{first}");
    assert!(first.contains("\n\n[OPERATOR MESSAGE from ") && first.ends_with(" on ask]\nsay one"), "{first}");
    let second = calls[1]["prompt"].as_str().unwrap();
    assert!(second.starts_with("[OPERATOR MESSAGE from ") && second.ends_with("]\nrecall"), "{second}");
    assert_ne!(calls[0]["pid"], calls[1]["pid"]);

    let opened = facts(&node, "session.opened");
    assert_eq!((opened.len(), &opened[0]["continuity"]), (1, &json!("none")));
    assert_eq!(opened[0]["native_id"], calls[1]["resumed"]);
    let status = node.get("coder").status;
    assert_eq!((status.activity, status.epoch.0), (Activity::Idle, 1));
    assert_eq!(status.identities.session.resume_handle.as_deref(), calls[1]["resumed"].as_str());
    let turns = facts(&node, "turn.completed");
    assert!(turns.iter().all(|turn| turn["outcome"] == "end_turn"), "{turns:?}");
    let rungs: Vec<Rung> = node.inbox("coder")[0].receipts.iter().map(|receipt| receipt.rung).collect();
    assert_eq!(rungs, [Rung::Accepted, Rung::Injected, Rung::Observed, Rung::TurnEnded]);
    node.verify();
}

/// Proves DRV-033.
#[test]
fn json_is_read_for_answer_session_tools_and_use() {
    for driver in [STREAM, JSON] {
        let node = Node::start();
        let folder = run(&node, driver, "");
        assert_eq!(said(&node, "say one"), "one");
        assert_eq!(said(&node, "recall"), "say one");
        assert_eq!(facts(&node, "session.opened")[0]["native_id"], calls(&folder)[1]["resumed"]);
        let used = facts(&node, "usage.reported");
        assert_eq!((used.len(), &used[0]["input_tokens"]), (2, &json!(7)));
        if driver == STREAM {
            assert_eq!(used[0]["cost"], "0.25 USD");
            assert_eq!(said(&node, "tool used"), "used");
            let pieces = facts(&node, "item.updated");
            let pieces: Vec<(&Value, &Value)> =
                pieces[2..].iter().map(|piece| (&piece["kind"], &piece["status"])).collect();
            let (tool, none) = (json!("tool_call"), Value::Null);
            let expected = [
                (&json!("thought"), &none),
                (&tool, &json!("pending")),
                (&tool, &json!("completed")),
                (&json!("text"), &none),
            ];
            assert_eq!(pieces, expected);
        }
        node.verify();
    }
}

/// Proves DRV-034.
#[test]
fn daemon_may_die_between_turns_and_in_one() {
    for (driver, output) in [(STREAM, "ended"), (TEXT, "begun\nended")] {
        let mut node = Node::start();
        let folder = run(&node, driver, "");
        assert_eq!(said(&node, "say one"), "one");
        let pid = node.pid("coder");
        node.kill_daemon();
        node.up();
        assert_eq!(said(&node, "recall"), "say one");

        node.signal_with(&words("coder", "hold go", Queue));
        eventually("it works", || node.count("coder", "item.updated") == 3);
        node.kill_daemon();
        std::fs::write(folder.join("go"), "").unwrap();
        node.up();
        eventually("the turn is over", || ended(&node) == 3);
        let turn = facts(&node, "turn.completed").remove(2);
        assert_eq!((&turn["outcome"], &turn["output_bytes"]), (&json!("end_turn"), &json!(output.len())));
        assert_eq!(said(&node, "recall"), "say one / recall / hold go");
        assert_eq!(calls(&folder).len(), 4, "nothing was asked twice");
        assert_eq!(facts(&node, "session.opened").len(), 1);
        assert_eq!((node.pid("coder"), node.get("coder").status.epoch.0), (pid, 1));
        node.verify();
    }
}

/// Proves DRV-035.
#[test]
fn next_epoch_goes_on_with_the_session() {
    let node = Node::start();
    let folder = run(&node, STREAM, QUICK);
    assert_eq!(said(&node, "say one"), "one");
    signals::kill(&[node.pid("coder")]);
    eventually("another epoch runs", || {
        let status = node.get("coder").status;
        status.epoch.0 == 2 && status.phase == Phase::Running
    });
    assert_eq!(node.get("coder").status.continuity, Continuity::Full);
    assert_eq!(said(&node, "recall"), "say one");
    let call = calls(&folder).remove(1);
    assert!(call["prompt"].as_str().unwrap().starts_with("[OPERATOR MESSAGE"), "it knows the contract");
    let opened = facts(&node, "session.opened");
    assert_eq!((opened.len(), &opened[1]["continuity"]), (2, &json!("full")));
    assert_eq!(opened[0]["native_id"], opened[1]["native_id"]);
}

/// Proves DRV-036.
#[test]
fn lost_session_begins_anew_with_what_was_before() {
    for driver in [TEXT, STREAM] {
        let node = Node::start();
        let folder = run(&node, driver, QUICK);
        assert_eq!(said(&node, "say something to remember"), "something to remember");
        signals::kill(&[node.pid("coder")]);
        eventually("another epoch runs", || node.get("coder").status.epoch.0 == 2);
        std::fs::write(folder.join("forget"), "").unwrap();
        assert_eq!(said(&node, "say again"), "again");
        let calls = calls(&folder);
        assert_eq!(calls.len(), 3);
        assert!(calls[1]["resumed"].is_string() && calls[2]["resumed"].is_null(), "{calls:?}");
        let told = calls[2]["prompt"].as_str().unwrap();
        assert!(told.starts_with("You run as a named agent") && told.contains("> say something to remember"));
        assert!(told.ends_with("]\nsay again"), "{told}");
        let opened = facts(&node, "session.opened").pop().unwrap();
        assert_eq!(opened["continuity"], "partial");
        assert!(opened["lost"].as_str().unwrap().starts_with("No conversation found with"), "{opened}");
        assert_eq!(node.get("coder").status.continuity, Continuity::Partial);
        assert_eq!(ended(&node), 2);
    }
}

/// Proves DRV-037.
#[test]
fn turn_that_fails_or_takes_too_long_says_so() {
    let node = Node::start();
    let folder = run(&node, &format!("{TEXT}, timeout: 1s"), "");
    assert_eq!(outcome(&node, "fail 7"), "error");
    let reports = facts(&node, "item.reported");
    let kinds: Vec<&Value> = reports.iter().map(|report| &report["kind"]).collect();
    assert_eq!(kinds, [&json!("stderr"), &json!("error")]);
    assert_eq!(reports[0]["body_bytes"], "what went wrong".len());
    assert_eq!(outcome(&node, "crash"), "error");
    assert_eq!(outcome(&node, "hold never"), "timeout");
    assert_eq!(said(&node, "say well"), "well");
    assert_eq!(node.get("coder").status.epoch.0, 1, "a turn that fails is no end of the agent");
    assert_eq!(calls(&folder).len(), 4);
    // An argument can be no longer than the kernel takes.
    assert_eq!(outcome(&node, &format!("say {}", "x".repeat(200 << 10))), "error");
    node.verify();
}

/// Proves DRV-038.
#[test]
fn queued_messages_wait_and_others_interrupt() {
    let node = Node::start();
    let folder = run(&node, STREAM, "");
    node.signal_with(&words("coder", "hold never", Queue));
    eventually("it works", || node.count("coder", "item.updated") == 1);
    assert_eq!(node.get("coder").status.activity, Activity::Working);
    node.signal_with(&words("coder", "say queued", Queue));
    node.signal_with(&words("coder", "say steered", Steer));
    eventually("all are over", || ended(&node) == 3);
    let verbs: Vec<String> = calls(&folder)
        .iter()
        .map(|call| call["prompt"].as_str().unwrap().lines().last().unwrap().to_owned())
        .collect();
    assert_eq!(verbs, ["hold never", "say steered", "say queued"]);
    assert_eq!(facts(&node, "turn.completed")[0]["outcome"], "cancelled");
    // Its session goes on all the same.
    assert_eq!(calls(&folder)[1]["resumed"], calls(&folder)[2]["resumed"]);

    let pieces = node.count("coder", "item.updated");
    node.signal_with(&words("coder", "stubborn", Queue));
    eventually("it works", || node.count("coder", "item.updated") > pieces);
    node.signal_with(&words("coder", "say at last", Interrupt));
    eventually("force ends it", || ended(&node) == 5);
    assert_eq!(facts(&node, "turn.completed")[3]["outcome"], "cancelled");
}

/// Proves DRV-039.
#[test]
fn hostile_output_harms_nobody() {
    let node = Node::start();
    run(&node, STREAM, "");
    for (verb, expected) in [
        ("garbage", "after garbage"),
        ("protocol", "still mine"),
        ("huge 20", "after all that"),
        ("leave", "gone"),
        ("deaf", "not read"),
        ("say fine", "fine"),
    ] {
        assert_eq!(said(&node, verb), expected);
    }
    assert_eq!(facts(&node, "session.opened").len(), 1, "nobody but the runner speaks for it");
    assert_eq!(node.get("coder").status.epoch.0, 1);

    let folder = node.scratch().join("coder");
    node.apply(&exec("coder", &folder, &[], (TEXT, "")));
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("it is told of it", || node.get("coder").status.epoch.0 == 2);
    node.signal_with(&words("coder", "huge 20", Queue));
    eventually("the turn is over", || ended(&node) == 7);
    let turn = facts(&node, "turn.completed").remove(6);
    assert_eq!((&turn["outcome"], &turn["output_bytes"]), (&json!("end_turn"), &json!(4 << 20)));
    assert!(facts(&node, "item.reported").iter().any(|report| report["kind"] == "note"));
    assert_eq!(said(&node, "leave"), "gone");
    assert_eq!(said(&node, "say fine"), "fine");
    node.verify();
}

/// Proves DRV-040.
#[test]
fn end_of_the_epoch_takes_the_turn_with_it() {
    let node = Node::start();
    let folder = run(&node, STREAM, "");
    node.signal_with(&words("coder", "leave", Queue));
    eventually("the turn is over", || ended(&node) == 1);
    node.signal_with(&words("coder", "hold never", Queue));
    eventually("it works", || node.count("coder", "item.updated") == 2);
    let process = calls(&folder)[1]["pid"].as_u64().unwrap();
    let left: u64 = read(&folder.join("left")).trim().parse().unwrap();
    let lives = |pid: u64| Path::new(&format!("/proc/{pid}")).exists();
    assert!(lives(process) && lives(left));
    signals::kill(&[node.get("coder").status.identities.process.shim.unwrap().pid]);
    eventually("another epoch runs", || node.get("coder").status.epoch.0 == 2);
    eventually("all of it is gone", || !lives(process) && !lives(left));
    assert_eq!(ended(&node), 1, "nobody says that the turn ended");
    assert_eq!(said(&node, "say fine"), "fine");

    let pieces = node.count("coder", "item.updated");
    node.signal_with(&words("coder", "hold never", Queue));
    eventually("it works", || node.count("coder", "item.updated") > pieces);
    let process = calls(&folder).pop().unwrap()["pid"].as_u64().unwrap();
    node.connect().try_raw("runtime/agent.stop", json!({ "agent": "coder" })).unwrap();
    eventually("it is stopped", || node.get("coder").status.phase == Phase::Stopped);
    assert!(!lives(process));
    assert_eq!(ended(&node), 2);
    node.verify();
}

/// Proves DRV-037.
#[test]
fn turn_does_not_grow_old_while_its_agent_is_frozen() {
    let node = Node::start();
    let folder = run(&node, &format!("{STREAM}, timeout: 4s"), "");
    let call = |method: &str| node.connect().try_raw(method, json!({ "agent": "coder" }));
    node.signal_with(&words("coder", "hold go", Queue));
    eventually("it works", || node.count("coder", "item.updated") == 1);
    if let Err(error) = call("runtime/agent.freeze") {
        eprintln!("SKIPPED: agents cannot be suspended here: {error}");
        return;
    }
    eventually("it is frozen", || node.get("coder").status.phase == Phase::Frozen);
    let since = SystemClock.monotonic_ms();
    eventually("longer than its turn may take", || SystemClock.monotonic_ms() > since + 5_000);
    call("runtime/agent.unfreeze").unwrap();
    std::fs::write(folder.join("go"), "").unwrap();
    eventually("the turn is over", || ended(&node) == 1);
    assert_eq!(facts(&node, "turn.completed")[0]["outcome"], "end_turn");
}

/// Proves DRV-041.
#[test]
fn program_that_is_not_there_fails_the_start() {
    let node = Node::start();
    let text = exec("coder", &node.scratch().join("coder"), &[], (TEXT, "restart: { policy: never }"));
    node.apply(&text.replace("\"python3\"", "\"no-such-program\""));
    eventually("it does not run", || node.count("coder", "agent.exited") == 1);
    assert_eq!(facts(&node, "agent.exited")[0]["status"], json!({ "code": 127 }));
}

/// Proves DRV-062.
#[test]
fn runner_that_the_agents_user_may_not_run_is_named_when_it_is_applied() {
    use std::os::unix::fs::PermissionsExt as _;
    if edgeplane_os::proc::uid(std::process::id()).unwrap() != 0 {
        eprintln!("SKIPPED: programs of other users: only root may run them");
        return;
    }
    let binaries = edgeplane_testkit::Binaries::built();
    let installed = tempfile::tempdir().unwrap();
    let closed = |mode| {
        std::fs::set_permissions(installed.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["edgeplane-shim", "edgeplane-exec"] {
        std::fs::copy(binaries.shim.with_file_name(name), installed.path().join(name)).unwrap();
    }
    let shim = installed.path().join("edgeplane-shim").to_string_lossy().into_owned();
    let env = vec![("EDGEPLANE_SHIM".to_owned(), shim)];
    let node = Node::start_with(edgeplane_testkit::NodeOptions { env, ..Default::default() });
    let open = tempfile::tempdir().unwrap();
    std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let manifest = exec("coder", open.path(), &[], (TEXT, "user: nobody\nrestart: { policy: never }"));

    closed(0o700);
    let refused = node.try_apply(&manifest).unwrap_err();
    let folder = installed.path().canonicalize().unwrap();
    for word in
        ["spec.user: user `nobody` may not run", "edgeplane-exec", "closed to it; install EdgePlane where"]
    {
        assert!(refused.message.contains(word), "{refused}");
    }
    assert!(refused.message.contains(&format!("`{}` is closed", folder.display())), "{refused}");
    assert!(node.connect().try_raw("runtime/agent.get", json!({ "agent": "coder" })).is_err());

    closed(0o755);
    node.run("coder", &manifest);
    assert!(said(&node, "say hello").contains("hello"));
    closed(0o700);
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("it says why it does not start", || {
        node.get("coder")
            .status
            .reason
            .is_some_and(|reason| reason.contains("may not run EdgePlane's runner"))
    });
}
