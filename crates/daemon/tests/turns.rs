//! How messages meet a running turn: queued ones wait for its end, others come at once.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::Path;

use edgeplane_testkit::{Node, native, terminal, wait::eventually, words};
use edgeplane_types::{DeliveryMode, Phase};
use serde_json::Value;

use DeliveryMode::{Interrupt, Queue, Steer};

/// Keeps every line that it reads, and ends the turns that it is told to end.
const WORKER: &str = r#"
import json, sys

log = open(sys.argv[1], "a")
def say(method, params):
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)

for line in sys.stdin:
    log.write(line)
    log.flush()
    said = json.loads(line)
    if said["method"] != "agent/message.deliver":
        continue
    text = said["params"]["parts"][0]["text"]
    if text == "quick":
        say("agent/turn.complete", {"message_id": said["params"]["message_id"], "output": ""})
    elif text.startswith("end "):
        say("agent/turn.complete", {"message_id": text[4:], "output": ""})
    elif text == "idle":
        say("agent/activity.report", {"state": "idle"})
    elif text == "observe":
        say("agent/message.observe", {"message_id": said["params"]["message_id"]})
"#;

fn worker(node: &Node, name: &str, more: &str) -> std::path::PathBuf {
    let log = node.scratch().join(format!("{name}.log"));
    node.run(name, &native(name, &["python3", "-c", WORKER, &log.to_string_lossy()], more));
    log
}

/// What the program was told, in order: the text of a message, or the method of anything else.
fn told(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .map(|line| match line["params"]["parts"][0]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => line["method"].as_str().unwrap().to_owned(),
        })
        .collect()
}

/// Waits until the program was told exactly this after its greeting.
#[track_caller]
fn expect(log: &Path, expected: &[&str]) {
    eventually(&format!("it was told {expected:?}"), || told(log).len() > expected.len());
    assert_eq!(told(log)[1..], *expected);
}

/// Waits until the node knows of as many messages that the program has them.
///
/// A line in the program's own file says nothing yet of what the node was told of it.
#[track_caller]
fn expect_known(node: &Node, name: &str, injected: usize) {
    eventually("it is known to have it", || node.count(name, "message.injected") == injected);
}

/// Proves MSG-075, MSG-076, MSG-077.
#[test]
fn steer_goes_into_a_long_turn_ahead_of_all_that_is_queued() {
    let mut node = Node::start();
    let log = worker(&node, "worker", "");
    node.signal_with(&words("worker", "quick", Queue));
    expect(&log, &["quick"]);
    eventually("the turn has ended", || node.count("worker", "message.turn_ended") == 1);
    let long = node.signal_with(&words("worker", "long", Queue));
    expect(&log, &["quick", "long"]);
    expect_known(&node, "worker", 2);
    for number in 0..50 {
        node.signal_with(&words("worker", &format!("queued {number}"), Queue));
    }
    node.signal_with(&words("worker", "steer", Steer));
    expect(&log, &["quick", "long", "steer"]);
    expect_known(&node, "worker", 3);
    assert_eq!(node.get("worker").status.waiting_messages, 50);

    // The next daemon knows that the turn runs.
    node.kill_daemon();
    node.up();
    node.wait("worker", Phase::Running);
    node.signal_with(&words("worker", "steer again", Steer));
    expect(&log, &["quick", "long", "steer", "steer again"]);
    expect_known(&node, "worker", 4);
    assert_eq!(node.get("worker").status.waiting_messages, 50);

    node.signal_with(&words("worker", &format!("end {long}"), Steer));
    eventually("the next one comes", || node.get("worker").status.waiting_messages == 49);
    eventually("it has it", || told(&log).last().is_some_and(|text| text == "queued 0"));
    expect_known(&node, "worker", 6);
    // What says that it is idle has no turn.
    node.signal_with(&words("worker", "idle", Steer));
    eventually("the next one comes", || told(&log).last().is_some_and(|text| text == "queued 1"));
    node.verify();
}

/// Proves MSG-076.
#[test]
fn program_that_never_ends_a_turn_is_not_starved() {
    let node = Node::start();
    let log = worker(&node, "silent", "");
    for text in ["observe", "one", "two"] {
        node.signal_with(&words("silent", text, Queue));
    }
    expect(&log, &["observe", "one", "two"]);
    let log = worker(
        &node,
        "declared",
        "offers: { interruption: true }\nhealth: { quietFor: 2s, onFailure: report }",
    );
    for text in ["one", "two"] {
        node.signal_with(&words("declared", text, Queue));
    }
    expect(&log, &["one"]);
    // A turn in which nothing is heard for too long holds nothing up.
    expect(&log, &["one", "two"]);
}

/// Proves MSG-078.
#[test]
fn interrupt_asks_for_the_end_of_the_turn_first() {
    let node = Node::start();
    let log = worker(&node, "worker", "offers: { interruption: true }");
    node.signal_with(&words("worker", "at once", Interrupt));
    expect(&log, &["at once"]);
    node.signal_with(&words("worker", "idle", Steer));
    expect(&log, &["at once", "idle"]);
    expect_known(&node, "worker", 2);
    let running = node.signal_with(&words("worker", "long", Queue));
    expect(&log, &["at once", "idle", "long"]);
    expect_known(&node, "worker", 3);
    node.signal_with(&words("worker", "queued", Queue));
    let by = node.signal_with(&words("worker", "stop", Interrupt));
    expect(&log, &["at once", "idle", "long", "agent/turn.interrupt", "stop"]);
    expect_known(&node, "worker", 4);
    let text = std::fs::read_to_string(&log).unwrap();
    let interrupt = text.lines().find(|line| line.contains("turn.interrupt")).unwrap();
    let interrupt: Value = serde_json::from_str(interrupt).unwrap();
    assert_eq!(interrupt["params"], serde_json::json!({ "message_id": running, "by": by }));
    assert_eq!(node.get("worker").status.waiting_messages, 1);
}

/// Proves MSG-078, MSG-079.
#[test]
fn terminal_is_interrupted_by_its_key_and_a_long_line_is_named() {
    let node = Node::start();
    let folder = node.scratch();
    let program = format!("cd {}; stty raw -echo; touch ready; exec cat >> keys", folder.display());
    node.run("screen", &terminal("screen", &["/bin/sh", "-c", &program], ""));
    eventually("it reads keys", || folder.join("ready").exists());
    node.signal_with(&words("screen", "plain", Steer));
    node.signal_with(&words("screen", "stop", Interrupt));
    let keys = || std::fs::read_to_string(folder.join("keys")).unwrap_or_default();
    eventually("it was typed", || keys().ends_with("stop\r"));
    assert_eq!(keys().matches('\u{3}').count(), 1);
    assert!(keys().contains("plain\r\u{3}[OPERATOR MESSAGE from "), "{}", keys());

    node.run("lines", &terminal("lines", &["/bin/cat"], ""));
    node.signal_with(&words("lines", &format!("short\n{}", "x".repeat(5000)), Queue));
    eventually("it is refused", || node.count("lines", "message.rejected") == 1);
    let reason = node.inbox("lines")[0].reason.clone().unwrap();
    assert!(reason.starts_with("too_large: line 3 has 5000 bytes"), "{reason}");
    assert_eq!(node.get("lines").status.output_bytes, 0, "nothing of it was typed");
}

/// Proves MSG-080.
#[test]
fn light_message_is_held_at_a_terminal_and_holds_up_nobody() {
    let mut node = Node::start();
    let (log, ready) = (node.scratch().join("typed"), node.scratch().join("ready"));
    let program = format!("stty raw -echo; touch {}; exec cat >> {}", ready.display(), log.display());
    let manifest = |accepts: &str| {
        let text = terminal("screen", &["/bin/sh", "-c", &program], "");
        text.replace("type: terminal", &format!("type: terminal{accepts}"))
    };
    node.run("screen", &manifest(""));
    eventually("it reads keys", || ready.exists());
    node.signal_unproven("stranger", &words("screen", "rm -rf /", Queue));
    node.signal_with(&words("screen", "hello", Queue));
    let typed = || std::fs::read_to_string(&log).unwrap_or_default();
    eventually("the other is typed", || typed().ends_with("hello\r"));
    let held = |node: &Node| {
        let inbox = node.inbox("screen");
        (inbox[0].receipts.len(), inbox[0].reason.clone())
    };
    let reason = "held: untrusted is lighter than delegated, the lightest that its terminal takes";
    assert_eq!(held(&node), (1, Some(reason.to_owned())));
    let shown = node.cli(&["inbox", "screen"]).output().unwrap();
    assert!(String::from_utf8(shown.stdout).unwrap().contains("held: untrusted is lighter"));
    node.kill_daemon();
    node.up();
    node.wait("screen", Phase::Running);
    assert_eq!(held(&node), (1, Some(reason.to_owned())));
    node.apply(&manifest(", accepts: untrusted"));
    eventually("it is typed now", || typed().contains("| rm -rf /\r>>>"));
    eventually("it is known to be typed", || node.get("screen").status.waiting_messages == 0);
    node.verify();
}
