//! What an agent was told, said and did, read back from the record: by programs in parts, by people as a text.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
};

use edgeplane_testkit::{
    Node, acp,
    peers::{allow, answer, ask, run_peer},
    terminal,
    wait::eventually,
    words,
};
use edgeplane_types::DeliveryMode::Queue;
use serde_json::{Value, json};

/// An agent named `coder` that speaks the Agent Client Protocol.
fn coder() -> Node {
    let node = Node::start();
    let folder = node.scratch().join("coder");
    let more = "restart: { backoff: { initial: 10ms } }";
    node.run("coder", &acp("coder", &folder, &[], (", approvalTimeout: 60s", more)));
    node
}

fn said(node: &Node, words: &str) -> String {
    answer(&ask(node, "coder", words)).text.clone()
}

fn ended(node: &Node) -> usize {
    node.count("coder", "turn.completed")
}

fn read(node: &Node, mut params: Value) -> Value {
    params["agent"] = json!("coder");
    node.connect().try_raw("runtime/transcript.read", params).unwrap()
}

/// What the command prints.
fn printed(node: &Node, arguments: &[&str]) -> String {
    let words: Vec<&str> = ["transcript", "coder"].iter().chain(arguments).copied().collect();
    let output = node.cli(&words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Whether all of these stand in a text, one behind the other.
fn in_order(text: &str, pieces: &[&str]) {
    let mut rest = text;
    for piece in pieces {
        let found = rest.split_once(piece);
        assert!(found.is_some(), "`{piece}` is not where it should be in\n{text}");
        rest = found.unwrap().1;
    }
}

fn approve(node: &Node) {
    let list = || node.connect().try_raw("conversation/action.list", json!({ "agent": "coder" })).unwrap();
    eventually("it asks for leave", || !list()["items"].as_array().unwrap().is_empty());
    let action = &list()["items"][0]["action"];
    let params = json!({ "action_id": action["id"], "digest": action["digest"],
                         "verdict": { "verdict": "approve" } });
    node.connect().try_raw("conversation/action.respond", params).unwrap();
}

/// A session in which everything happens once.
fn live_through(node: &Node) {
    assert_eq!(said(node, "say one|, two|, three"), "one, two, three");
    assert_eq!(said(node, "think very|hard"), "thought");
    assert_eq!(said(node, "edit a.txt"), "edited");
    node.signal_with(&words("coder", "tool leave", Queue));
    approve(node);
    eventually("it goes on", || ended(node) == 4);
    assert_eq!(said(node, "plan the work"), "planned");
    assert_eq!(said(node, "usage"), "used");
    said(node, "write notes.txt hello");
    node.signal_with(&words("coder", "fail", Queue));
    eventually("it failed", || ended(node) == 8);
}

/// Proves DRV-051.
#[test]
fn transcript_tells_people_what_happened_in_its_order() {
    let node = coder();
    live_through(&node);
    node.signal_with(&words("coder", "die", Queue));
    eventually("another epoch runs", || node.count("coder", "session.opened") == 2);
    let text = printed(&node, &[]);
    in_order(&text, &["epoch 1 started", "session opened by fake-agent 1.2.3, continuity none"]);
    in_order(
        &text,
        &[
            "[OPERATOR MESSAGE from ",
            "say one|, two|, three",
            "\none, two, three\n",
            " end_turn; 7 tokens read, 5 written",
            "\nthought\n",
            "tool: edit a.txt (edit): in_progress\ntool: edit a.txt: completed\n  change of a.txt:\n  - two\n  + 2[2J\n",
            "edited\n",
            "tool: write leave (edit): pending\nasks people, approval: write leave\n",
            "decided: approved by ",
            "tool: write leave: completed\n",
            "plan:\n  [ ] the work\n",
            "5 written, 0.25 USD",
            "notes.txt written, 5 bytes",
            "error: Internal error",
            " error",
            "epoch 1 exited: code 3",
            "epoch 2 started",
            "session opened by fake-agent 1.2.3, continuity full",
            "\n8 turns: 49 tokens read, 35 written, 0.25 USD\n",
        ],
    );
    assert!(!text.contains('\u{1b}') && !text.contains("~ "), "{text}");
    assert_eq!(text.matches("one, two, three").count(), 1, "an answer is told once: {text}");
    assert!(printed(&node, &["--thoughts"]).contains("\n~ very|hard\n"));
}

/// Proves DRV-050.
#[test]
fn parts_of_a_transcript_join_without_gap_or_double() {
    let node = coder();
    live_through(&node);
    let whole = read(&node, json!({ "after": 0, "limit": 500 }));
    assert_eq!(whole["end"], true);
    let all = whole["items"].as_array().unwrap();
    let (mut joined, mut after) = (Vec::new(), json!(0));
    loop {
        let part = read(&node, json!({ "after": after, "limit": 1 }));
        assert!(part["items"].as_array().unwrap().len() <= 1);
        joined.extend(part["items"].as_array().unwrap().clone());
        after = part["next"].clone();
        if part["end"] == true {
            break;
        }
    }
    assert_eq!(&joined, all);
    let newest = read(&node, json!({ "limit": 3 }));
    assert_eq!(newest["items"].as_array().unwrap()[..], all[all.len() - 3..]);

    let pieces: Vec<&Value> = all.iter().filter(|entry| entry["spoken"] == "piece").collect();
    assert_eq!(pieces[0]["text"], "one, two, three", "the pieces of a text are one entry");
    let turn = all.iter().find(|entry| entry["spoken"] == "turn").unwrap();
    let own = read(&node, json!({ "message_id": turn["message_id"], "limit": 500 }));
    let kinds: Vec<&str> =
        own["items"].as_array().unwrap().iter().map(|entry| entry["spoken"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "piece", "usage", "turn"]);
    let said = read(&node, json!({ "after": 0, "limit": 500, "detail": "words" }));
    let kinds: Vec<&str> =
        said["items"].as_array().unwrap().iter().map(|entry| entry["spoken"].as_str().unwrap()).collect();
    assert_eq!(kinds[..4], ["message", "turn", "message", "turn"]);
    let none = read(&node, json!({ "after": 0, "limit": 500, "epoch": 7 }));
    assert_eq!((&none["items"], &none["end"]), (&json!([]), &json!(true)));
    let decision = all.iter().find(|entry| entry["spoken"] == "decision").unwrap();
    assert_eq!((&decision["status"], &decision["epoch"]), (&json!("approved"), &json!(1)));
}

/// Proves DRV-051.
#[test]
fn one_turn_and_one_epoch_can_be_read_alone() {
    let node = coder();
    said(&node, "say first");
    said(&node, "say second");
    let entries = printed(&node, &["-o", "json"]);
    let entries: Vec<Value> = entries.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let turns: Vec<&Value> = entries.iter().filter(|entry| entry["spoken"] == "turn").collect();
    for id in [&turns[1]["turn_id"], &turns[1]["message_id"]] {
        let text = printed(&node, &["--turn", id.as_str().unwrap()]);
        assert!(text.contains("\nsecond\n") && !text.contains("first"), "{text}");
    }
    assert!(printed(&node, &["--epoch", "1"]).contains("\nfirst\n"));
    assert!(printed(&node, &["--limit", "1"]).contains("turn trn_"));
    let absent = "trn_01890000-0000-7000-8000-000000000000";
    let output = node.cli(&["transcript", "coder", "--turn", absent]).output().unwrap();
    assert_eq!(output.status.code(), Some(66));
}

/// The command while it follows.
struct Follower {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Follower {
    fn start(node: &Node, arguments: &[&str]) -> Self {
        let words: Vec<&str> = ["transcript", "coder", "-f"].iter().chain(arguments).copied().collect();
        let mut child = node.cli(&words).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Reads until a line that contains this.
    fn until(&mut self, piece: &str) -> String {
        let mut text = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "it ended before `{piece}`: {text}");
            text.push_str(&line);
            if line.contains(piece) {
                return text;
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Proves DRV-051.
#[test]
fn follower_goes_on_behind_the_daemons_death_and_ends_with_its_turn() {
    let mut node = coder();
    said(&node, "say before");
    let mut all = Follower::start(&node, &[]);
    all.until(" end_turn");
    node.kill_daemon();
    node.up();
    let message = node.signal_with(&words("coder", "hold go", Queue));
    let mut one = Follower::start(&node, &["--turn", &message]);
    one.until("hold go");
    assert!(!all.until("hold go").contains("before"), "nothing is told twice");
    std::fs::write(node.scratch().join("coder/go"), "").unwrap();
    assert!(one.until(" end_turn").contains("begun ended"));
    assert!(one.child.wait().unwrap().success());
    assert!(all.until(" end_turn").contains("begun ended"));
}

/// Proves DRV-052.
#[test]
fn other_drivers_have_a_transcript_too() {
    let node = Node::start();
    run_peer(&node, "coder", "");
    allow(&node, "go");
    node.signal("coder", "items", None);
    eventually("it answered", || ended(&node) == 1);
    let text = printed(&node, &[]);
    let expected =
        ["epoch 1 started", "[OPERATOR MESSAGE from ", "items", "note: named\n", "\ndone\n", "turn trn_"];
    in_order(&text, &expected);
    node.run("shell", &terminal("shell", &["cat"], ""));
    node.signal("shell", "hello", Some(edgeplane_types::Rung::Injected));
    let output = node.cli(&["transcript", "shell"]).output().unwrap();
    in_order(&String::from_utf8(output.stdout).unwrap(), &["epoch 1 started", "[OPERATOR MESSAGE", "hello"]);
}
