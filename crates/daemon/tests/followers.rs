//! Who follows goes on where it was when the daemon dies and the next one comes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Stdio},
};

use edgeplane_testkit::{Node, terminal, wait::eventually};
use serde_json::Value;

/// At each word through its fifo, prints three numbered lines.
const COUNTER: &str = r#"
import os, sys

home = sys.argv[1]
os.mkfifo(f"{home}/go")
number = 0
while True:
    with open(f"{home}/go") as file:
        file.read()
    for _ in range(3):
        sys.stdout.write(f"line {number}\n")
        number += 1
    sys.stdout.flush()
    with open(f"{home}/printed.new", "w") as file:
        file.write(f"{number}\n")
    os.rename(f"{home}/printed.new", f"{home}/printed")
"#;

/// A program of the command line that is ended with the test.
struct Follower {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Follower {
    fn start(node: &Node, words: &[&str]) -> Self {
        let mut command = node.cli(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Lets the counter print, and waits until it has.
fn count(home: &Path, upto: u32) {
    fs::write(home.join("go"), "go").unwrap();
    let printed = || fs::read_to_string(home.join("printed")).unwrap_or_default();
    eventually("the program has printed", || printed() == format!("{upto}\n"));
}

fn run_counter(node: &Node) -> std::path::PathBuf {
    let home = node.scratch();
    node.run("counter", &terminal("counter", &["python3", "-c", COUNTER, &home.to_string_lossy()], ""));
    eventually("the program waits", || home.join("go").exists());
    home
}

#[test]
fn logs_go_on_after_the_daemons_death_without_loss_or_double() {
    let mut node = Node::start();
    let home = run_counter(&node);
    count(&home, 3);
    let mut logs = Follower::start(&node, &["logs", "counter", "-f"]);
    let expect = |logs: &mut Follower, numbers: std::ops::Range<u32>| {
        for number in numbers {
            assert_eq!(logs.next(), format!("line {number}"));
        }
    };
    expect(&mut logs, 0..3);
    for round in 1..4 {
        node.kill_daemon();
        // Printed while nobody but the shim listens.
        count(&home, round * 6);
        node.up();
        count(&home, round * 6 + 3);
        expect(&mut logs, round * 6 - 3..round * 6 + 3);
    }
}

#[test]
fn events_go_on_after_the_daemons_death_without_gap_or_double() {
    let mut node = Node::start();
    node.run("a", &terminal("a", &["cat"], ""));
    let mut events = Follower::start(&node, &["events", "-f", "--after", "0", "-o", "json"]);
    // Only a node that was there is waited for.
    let mut found = vec![events.next()];
    for _ in 0..3 {
        node.kill_daemon();
        node.up();
    }
    node.stop("a");
    let expected: Vec<Value> =
        node.history("").iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    while found.len() < expected.len() {
        found.push(events.next());
    }
    let found: Vec<Value> = found.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found, expected);
}

#[test]
fn attach_goes_on_after_the_daemons_death_at_the_very_byte() {
    let mut node = Node::start();
    let home = run_counter(&node);
    let mut attach = Follower::start(&node, &["attach", "counter"]);
    eventually("it is attached", || node.count("counter", "attach.opened") == 1);
    count(&home, 3);
    let first = attach.next();
    assert!(first.ends_with("line 0"), "{first:?}");
    let expect = |attach: &mut Follower, numbers: std::ops::Range<u32>| {
        for number in numbers {
            assert_eq!(attach.next(), format!("line {number}"));
        }
    };
    expect(&mut attach, 1..3);
    for round in 1..4 {
        node.kill_daemon();
        count(&home, round * 6);
        node.up();
        count(&home, round * 6 + 3);
        expect(&mut attach, round * 6 - 3..round * 6 + 3);
    }
}

#[test]
fn attach_has_its_control_again_after_the_daemons_death() {
    let mut node = Node::start();
    node.run("a", &terminal("a", &["cat"], ""));
    let mut command = node.cli(&["attach", "a", "--control"]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let mut keys = child.stdin.take().unwrap();
    let mut attach = Follower { lines: BufReader::new(child.stdout.take().unwrap()).lines(), child };
    keys.write_all(b"one\n").unwrap();
    eventually("it is attached", || node.count("a", "attach.opened") == 1);
    for expected in ["one", "one"] {
        assert!(attach.next().ends_with(expected));
    }
    node.kill_daemon();
    // Waits in the pipe until there is somebody to type it to.
    keys.write_all(b"two\n").unwrap();
    node.up();
    for expected in ["two", "two"] {
        assert_eq!(attach.next(), expected);
    }
}
