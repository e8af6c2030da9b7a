//! How commands end when something is not there.

use std::process::Stdio;

use edgeplane_types::ErrorName;
use serde_json::json;

use crate::fake::{Fake, Says, edgeplane, event, page, signalled, stderr, stdout};

#[test]
fn missing_daemon_says_how_to_start_it() {
    let dir = tempfile::tempdir().unwrap();
    for words in [
        &["ps"][..],
        &["signal", "a", "--content", "x"],
        &["attach", "a"],
        &["daemon", "status"],
        &["logs", "a"],
    ] {
        let output = edgeplane(dir.path()).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(69), "{words:?}");
        let said = stderr(&output);
        assert!(said.starts_with("error: the daemon is not running: cannot connect"), "{said}");
        assert!(said.ends_with("hint: start it with `edgeplane daemon up`\n"), "{said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn daemon_down_without_a_daemon_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let output = edgeplane(dir.path()).args(["daemon", "down"]).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "the daemon is not running\n");
}

#[test]
fn wrong_usage_ends_with_64() {
    let dir = tempfile::tempdir().unwrap();
    for words in [
        &["fly"][..],
        &["signal", "a"],
        &["signal", "a", "--content", "x", "--stdin"],
        &["agent", "wait", "a", "--phase", "tired"],
        &["logs", "a", "--tail", "some"],
        &["attach", "a", "--takeover"],
        &["agent", "describe"],
        &["--timeout", "10", "ps"],
    ] {
        let output = edgeplane(dir.path()).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(64), "{words:?}: {}", stderr(&output));
    }
    for words in [&["--help"][..], &["--version"], &["agent", "--help"], &["completion", "bash"]] {
        assert!(edgeplane(dir.path()).args(words).output().unwrap().status.success(), "{words:?}");
    }
}

#[test]
fn reader_that_has_seen_enough_is_no_error() {
    let fake = Fake::new();
    let items: Vec<_> = (1..=2_000).map(|pos| event(pos, "agent.started")).collect();
    fake.says("stream/replay", page(&items, 2_000, true));
    let mut child = fake
        .command(&["events", "-o", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(stderr(&output), "");
}

#[test]
fn node_that_goes_away_leaves_a_write_unknown() {
    let fake = Fake::new();
    fake.says("runtime/agent.get", Says::error(ErrorName::NotFound, "no"));
    let gone = Says::result(json!({})).hangs_up();
    fake.says("runtime/node.status", gone);
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Read the request, then hang up.
            let mut line = String::new();
            drop(std::io::BufRead::read_line(&mut std::io::BufReader::new(stream.unwrap()), &mut line));
        }
    });
    for (words, code) in
        [(&["ps"][..], 69), (&["agent", "stop", "a"], 75), (&["signal", "a", "--content", "x"], 75)]
    {
        let output = edgeplane(dir.path()).arg("--socket").arg(&socket).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn hung_node_is_given_up_in_the_time_given() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let _silent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let output = edgeplane(dir.path())
        .arg("--socket")
        .arg(&socket)
        .args(["--timeout", "50ms", "ps"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(75));
    assert!(
        stderr(&output).contains("did not answer runtime/agent.list within 50 ms"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wait_that_cannot_come_true_says_so() {
    let fake = Fake::new();
    fake.says("runtime/agent.start", Says::result(crate::fake::change("starting", 3)));
    fake.says("runtime/agent.wait", Says::result(crate::fake::change("failed", 3)));
    let output = fake.run(&["agent", "start", "reviewer", "--wait"]);
    assert_eq!(output.status.code(), Some(75));
    assert!(stderr(&output).contains("is failed and will not be running"), "{}", stderr(&output));
}

#[test]
fn restart_waits_for_another_epoch() {
    let fake = Fake::new();
    fake.says("runtime/agent.restart", Says::result(crate::fake::change("running", 3)));
    fake.says("runtime/agent.wait", Says::result(crate::fake::change("running", 3)));
    fake.says("runtime/agent.wait", Says::result(crate::fake::change("running", 4)));
    let output = fake.run(&["agent", "restart", "reviewer", "--wait"]);
    assert_eq!(stdout(&output), "reviewer now: running, epoch 4\n", "{}", stderr(&output));
}

#[test]
fn message_comes_on_standard_input() {
    let fake = Fake::saying("runtime/agent.signal", Says::result(signalled()));
    let run = |bytes: &'static [u8]| {
        let mut child = fake
            .command(&["signal", "reviewer", "--stdin"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), bytes).unwrap();
        child.wait_with_output().unwrap()
    };
    assert!(run("grüß\nGott".as_bytes()).status.success());
    let asked = fake.asked();
    assert_eq!(asked.first().unwrap().1["parts"], json!([{ "type": "text", "text": "grüß\nGott" }]));
    assert_eq!(run(b"").status.code(), Some(64));
    assert_eq!(run(b"ab\xff").status.code(), Some(64));
    assert!(fake.asked().is_empty(), "nothing of it was sent");
}
