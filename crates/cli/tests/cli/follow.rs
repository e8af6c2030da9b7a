//! Output that goes on: events, logs, replay.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::{
    attach::Seat,
    fake::{Fake, Says, event, page, stderr, stdout},
};

fn subscribed() -> Says {
    subscribed_at(7)
}

fn subscribed_at(head: u64) -> Says {
    Says::result(json!({ "subscription_id": SUBSCRIPTION, "projection_version": 1, "next_seq": head + 1,
        "oldest_seq": 1, "head_seq": head, "cursor": cursor(head), "mode": "live" }))
}

/// The place behind a number, in the node's own form.
fn cursor(n: u64) -> String {
    format!("behind-{n}")
}

fn live(n: u64) -> Value {
    json!({ "subscription_id": SUBSCRIPTION, "target": { "kind": "node", "id": "nod_1" }, "projection": "log",
        "projection_version": 1, "n": n, "cursor": cursor(n), "event": event(n, "agent.started") })
}

const SUBSCRIPTION: &str = "sub_01890000-0000-7000-8000-000000000006";

fn spawn(fake: &Fake, words: &[&str]) -> Child {
    let mut command = fake.command(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(mut child: Child) -> String {
    child.kill().unwrap();
    let mut rest = String::new();
    child.stderr.take().unwrap().read_to_string(&mut rest).unwrap();
    child.wait().unwrap();
    rest
}

#[test]
fn events_are_followed_as_they_come() {
    let fake = Fake::new();
    fake.says("stream/replay", page(&[event(5, "agent.declared")], 5, true));
    let state = json!({ "id": SUBSCRIPTION, "state": "live" });
    fake.says("stream/subscribe", subscribed().then("stream/state", state).then("stream/event", live(6)));
    let mut child = spawn(&fake, &["events", "-f", "--after", "4", "-o", "json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for expected in [event(5, "agent.declared"), event(6, "agent.started")] {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(line, expected);
    }
    end(child);
    let asked = fake.asked();
    assert_eq!(asked.last().unwrap(), &("stream/subscribe".to_owned(), json!({ "cursor": cursor(5) })));
}

#[test]
fn ended_subscription_ends_the_command() {
    let fake = Fake::new();
    let ended = json!({ "id": SUBSCRIPTION, "state": "ended", "reason": "too slow" });
    fake.says("stream/subscribe", subscribed().then("stream/state", ended));
    let output = fake.run(&["events", "-f", "-o", "json"]);
    assert_eq!(output.status.code(), Some(69));
    assert!(stderr(&output).contains("too slow"));
    fake.says("stream/subscribe", subscribed());
}

#[test]
fn events_are_followed_past_a_node_that_goes_away() {
    let fake = Fake::new();
    fake.says("stream/subscribe", subscribed().hangs_up());
    fake.says("stream/subscribe", subscribed().then("stream/event", live(8)).hangs_up());
    fake.says("stream/subscribe", subscribed_at(9).then("stream/event", live(9)));
    let mut child = spawn(&fake, &["events", "-f", "-o", "json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for pos in [8, 9] {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["pos"], pos);
    }
    assert_eq!(end(child), "", "programs see a stream without a seam");
    let asked: Vec<_> = fake.asked().into_iter().map(|(_, params)| params).collect();
    assert_eq!(asked, [json!({}), json!({ "cursor": cursor(7) }), json!({ "cursor": cursor(8) })]);
}

#[test]
fn who_looks_is_told_that_the_node_is_gone_and_back_and_can_interrupt() {
    for (words, asked) in [
        (["events", "-f"].as_slice(), "stream/subscribe"),
        (&["logs", "reviewer", "-f"], "runtime/recording.read"),
    ] {
        let fake = Fake::saying("stream/subscribe", subscribed());
        fake.says("runtime/recording.read", recording(3, &[], 0, false));
        let mut seat = Seat::take(&fake, words);
        fake.wait_for(asked);
        fake.goes();
        seat.read_to("edgeplane: the node is gone; waiting for it");
        fake.comes();
        seat.read_to("edgeplane: the node is back");
        fake.goes();
        seat.read_to("edgeplane: the node is gone; waiting for it");
        let pid = rustix::process::Pid::from_child(&seat.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert!(!seat.child.wait().unwrap().success());
    }
}

#[test]
fn record_that_became_shorter_is_not_followed() {
    let fake = Fake::new();
    fake.says("stream/subscribe", subscribed().hangs_up());
    let refused = "there is nothing behind 7: the newest entry is 3";
    fake.says("stream/subscribe", Says::error(ErrorName::InvalidParams, refused));
    let output = fake.run(&["events", "-f", "-o", "json"]);
    assert_eq!(output.status.code(), Some(74));
    assert!(stderr(&output).contains("the newest entry is 3"), "{}", stderr(&output));
}

#[test]
fn who_wants_no_reconnection_ends_with_the_node() {
    let fake = Fake::new();
    fake.says("stream/subscribe", subscribed().hangs_up());
    let read = "runtime/recording.read";
    fake.says(read, recording(3, &[output(1, b"one\r\n")], 5, false).hangs_up());
    for words in [["events", "-f", "--no-reconnect"].as_slice(), &["logs", "a", "-f", "--no-reconnect"]] {
        let output = fake.run(words);
        assert_eq!(output.status.code(), Some(69), "{words:?}");
    }
}

#[test]
fn logs_are_followed_past_a_node_that_goes_away() {
    let fake = Fake::new();
    let method = "runtime/recording.read";
    fake.says(method, recording(3, &[output(1, b"one\r\ntw")], 7, false).hangs_up());
    fake.says(method, recording(3, &[output(2, b"o\r\n")], 10, false).hangs_up());
    fake.says(method, recording(3, &[output(3, b"three\r\n")], 17, false));
    fake.says(method, recording(3, &[], 17, false));
    let mut child = spawn(&fake, &["logs", "reviewer", "-f", "-n", "9"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for expected in ["one", "two", "three"] {
        assert_eq!(lines.next().unwrap().unwrap(), expected);
    }
    assert_eq!(end(child), "");
    let offsets: Vec<_> =
        fake.asked().into_iter().take(3).map(|(_, params)| params["offset"].clone()).collect();
    assert_eq!(offsets, [0, 7, 10]);
}

fn recording(epoch: u64, items: &[Value], next: u64, over: bool) -> Says {
    Says::result(
        json!({ "epoch": epoch, "items": items, "next": next, "end": true, "over": over, "cols": 80, "rows": 24 }),
    )
}

fn output(at_us: i64, bytes: &[u8]) -> Value {
    json!({ "at_us": at_us, "offset": 0, "code": "o", "data": STANDARD.encode(bytes) })
}

#[test]
fn logs_are_text() {
    let fake = Fake::new();
    let items = [
        output(1, b"\x1b[31mone\x1b[0m\r\ntw"),
        json!({ "at_us": 2, "offset": 0, "code": "i", "data": "typed" }),
        output(3, b"o\r\nth\x1b]52;c;aGk=\x07ree"),
        json!({ "at_us": 4, "offset": 0, "code": "g", "data": "17" }),
    ];
    fake.says("runtime/recording.read", recording(3, &items, 9, true));
    let output = fake.run(&["logs", "reviewer"]);
    assert_eq!(stdout(&output), "one\ntwo\nthree\n");
    assert_eq!(stderr(&output), "-- 17 bytes of output are missing --\n");
    assert_eq!(stdout(&fake.run(&["logs", "reviewer", "-n", "1"])), "three\n");
    let object: Value =
        serde_json::from_str(stdout(&fake.run(&["logs", "reviewer", "-o", "json"])).lines().next().unwrap())
            .unwrap();
    assert_eq!(object, json!({ "epoch": 3, "text": "one\ntwo\n" }));
}

#[test]
fn logs_are_followed_into_the_next_epoch() {
    let fake = Fake::new();
    let method = "runtime/recording.read";
    fake.says(method, recording(3, &[output(1, b"$ ")], 2, false));
    fake.says(method, recording(3, &[output(2, b"exit\r\n")], 8, true));
    fake.says(method, Says::error(ErrorName::NotFound, "no epoch 4"));
    fake.says(method, recording(3, &[], 8, true));
    // Once to see that it is there, and once to print it.
    fake.says(method, recording(4, &[output(3, b"again\r\n")], 7, false));
    fake.says(method, recording(4, &[output(3, b"again\r\n")], 7, false));
    fake.says(method, recording(4, &[], 7, false));
    let mut child = spawn(&fake, &["logs", "reviewer", "-f"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "$ exit");
    assert_eq!(lines.next().unwrap().unwrap(), "again");
    assert_eq!(end(child), "-- epoch 4 --\n");
}

#[test]
fn replay_plays_what_is_harmless_and_exports_everything() {
    let fake = Fake::saying(
        "runtime/recording.read",
        recording(3, &[output(1, b"\x1b[31ma\x1b[6n"), output(60_000_000, b"\x1b]52;c;aGk=\x07b")], 9, true),
    );
    let output = fake.run(&["replay", "reviewer", "--idle-limit", "1ms"]);
    assert_eq!(stdout(&output), "\x1b[31mab", "{}", stderr(&output));
    let output = fake.run(&["replay", "reviewer", "--export", "r.cast"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let cast = std::fs::read_to_string(fake.path().join("r.cast")).unwrap();
    let lines: Vec<Value> = cast.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.first().unwrap()["version"], 3);
    assert_eq!(lines.first().unwrap()["edgeplane"]["pipes"], false);
    assert_eq!(lines.get(1).unwrap(), &json!([0.0, "o", "\u{1b}[31ma\u{1b}[6n"]));
    assert_eq!(lines.get(2).unwrap()[0], json!(59.999_999));
    assert_eq!(stdout(&fake.run(&["replay", "reviewer", "--export", "-"])), cast);
    assert!(!fake.path().join("r.cast.part").exists());
}

#[test]
fn export_says_whether_the_program_had_pipes() {
    for pipes in [true, false] {
        // Standard output alone does not tell.
        let page = json!({ "epoch": 3, "items": [output(1, b"a")], "next": 1, "end": true, "over": true,
            "cols": 80, "rows": 24, "pipes": pipes });
        let fake = Fake::saying("runtime/recording.read", Says::result(page));
        let cast = stdout(&fake.run(&["replay", "reviewer", "--export", "-"]));
        let header: Value = serde_json::from_str(cast.lines().next().unwrap()).unwrap();
        assert_eq!(header["edgeplane"]["pipes"], pipes);
    }
}
