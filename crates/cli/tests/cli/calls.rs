//! Every command, and the calls that it makes.

use serde_json::{Value, json};

use crate::fake::{
    Fake, MESSAGE, Says, TIME, answered, change, entry, message, node_status, page, signalled, stderr,
    stdout, view,
};

/// A node that has something to say to everything.
fn talkative() -> Fake {
    let fake = Fake::new();
    let items = |list: Value| Says::result(json!({ "items": list }));
    for method in ["start", "stop", "restart", "freeze", "unfreeze", "retire", "release", "wait"] {
        fake.says(&format!("runtime/agent.{method}"), Says::result(change("running", 3)));
    }
    fake.says("runtime/agent.get", Says::result(view()));
    fake.says("runtime/agent.list", items(json!([view()])));
    fake.says(
        "runtime/agent.apply",
        items(json!([{ "name": "reviewer", "change": "created", "generation": 1 }])),
    );
    fake.says("runtime/agent.install", Says::result(json!({ "name": "reviewer", "steps": [] })));
    fake.says("runtime/epoch.list", items(json!([])));
    fake.says("runtime/agent.signal", Says::result(signalled()));
    fake.says("runtime/inbox.list", items(json!([])));
    fake.says("runtime/agent.ask", Says::result(answered()));
    fake.says("runtime/message.submit", Says::result(signalled()));
    fake.says("runtime/dead_letter.replay", Says::result(message()));
    fake.says("runtime/dead_letter.drop", Says::result(json!({})));
    for method in ["runtime/topic.publish", "runtime/agent.broadcast", "runtime/dead_letter.list"] {
        fake.says(method, items(json!([])));
    }
    let screen = json!({ "epoch": 3, "text": "$ ", "cols": 80, "rows": 24, "cursor": [0, 2], "offset": 2, "head": 2, "title": "" });
    fake.says("runtime/agent.snapshot", Says::result(screen));
    let recording =
        json!({ "epoch": 3, "items": [], "next": 0, "end": true, "over": true, "cols": 80, "rows": 24 });
    fake.says("runtime/recording.read", Says::result(recording));
    for method in ["get", "put", "delete"] {
        fake.says(&format!("memory/entry.{method}"), Says::result(entry()));
    }
    fake.says("memory/entry.list", items(json!([])));
    fake.says("memory/entry.history", items(json!([entry()])));
    fake.says("runtime/schedule.list", items(json!([schedule("reviewer"), schedule("planner")])));
    fake.says("runtime/schedule.history", items(json!([])));
    fake.says("runtime/schedule.run", Says::result(json!({ "message_id": MESSAGE })));
    for method in ["pause", "resume"] {
        fake.says(&format!("runtime/schedule.{method}"), Says::result(schedule("reviewer")));
    }
    fake.says("runtime/schedule.remove", Says::result(json!({})));
    fake.says("stream/replay", page(&[], 0, true));
    let target = json!({ "kind": "node" });
    let kind =
        json!({ "name": "audit.chain", "version": 1, "summary": "x", "targets": ["node"], "running": 0 });
    fake.says("stream/projection.list", items(json!([kind])));
    let view = json!({ "name": "audit.chain", "version": 1, "target": target, "state": {}, "as_of_seq": 3,
        "head_seq": 3, "as_of_pos": 3, "digest": "00" });
    fake.says("stream/projection.get", Says::result(view));
    fake.says("stream/projection.rebuild", items(json!([])));
    fake.says("stream/projection.verify", Says::result(json!({ "ok": true, "items": [] })));
    fake.says("runtime/node.status", Says::result(node_status()));
    fake.says("core/describe", Says::result(json!({ "methods": [] })));
    let audit =
        json!({ "ok": true, "events": 9, "streams": 2, "segments": 1, "unsealed": 1, "problems": [] });
    fake.says("evidence/audit.verify", Says::result(audit));
    fake
}

fn check(words: &[&str], expected: &[(&str, Value)]) {
    let fake = talkative();
    std::fs::write(fake.path().join("a.yaml"), "kind: Agent\n").unwrap();
    std::fs::write(fake.path().join("words.txt"), "from a file").unwrap();
    let output = fake.run(words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    let asked = fake.asked();
    let found: Vec<_> = asked.iter().map(|(method, params)| (method.as_str(), params.clone())).collect();
    assert_eq!(found, expected, "{words:?}");
}

/// A command that makes one call.
fn check_one(words: &[&str], method: &str, params: Value) {
    check(words, &[(method, params)]);
}

#[test]
fn agents_are_looked_at() {
    let labels = json!({ "labels": { "team": "docs" }, "phase": "failed", "retired": true });
    check_one(
        &["agent", "list", "-l", "team=docs", "--phase", "failed", "--all"],
        "runtime/agent.list",
        labels,
    );
    check_one(&["ps"], "runtime/agent.list", json!({ "labels": {}, "phase": null, "retired": false }));
    for verb in ["get", "describe"] {
        check_one(&["agent", verb, "reviewer"], "runtime/agent.get", json!({ "agent": "reviewer" }));
    }
    check_one(&["agent", "epochs", "reviewer"], "runtime/epoch.list", json!({ "agent": "reviewer" }));
    check_one(&["snapshot", "reviewer"], "runtime/agent.snapshot", json!({ "agent": "reviewer" }));
}

#[test]
fn agents_are_moved_through_their_life() {
    for verb in ["start", "stop", "restart", "freeze", "unfreeze", "release"] {
        let method = format!("runtime/agent.{verb}");
        check_one(&["agent", verb, "reviewer"], &method, json!({ "agent": "reviewer" }));
        let expected = [
            (method.as_str(), json!({ "agent": "a", "reason": "because" })),
            (method.as_str(), json!({ "agent": "b", "reason": "because" })),
        ];
        check(&["agent", verb, "a", "b", "--reason", "because"], &expected);
    }
    check_one(&["delete", "reviewer"], "runtime/agent.retire", json!({ "agent": "reviewer" }));
    let wait = json!({ "agent": "reviewer", "phases": ["running", "failed"], "timeout_ms": 10_000 });
    check_one(
        &["agent", "wait", "reviewer", "--phase", "running,failed", "--timeout", "10s"],
        "runtime/agent.wait",
        wait,
    );
    check_one(&["agent", "install", "reviewer"], "runtime/agent.install", json!({ "agent": "reviewer" }));
}

#[test]
fn manifests_are_handed_over_as_text() {
    let fake = talkative();
    let folder = fake.path().canonicalize().unwrap();
    std::fs::write(fake.path().join("a.yaml"), "kind: Agent\n").unwrap();
    for (words, dry_run) in
        [(&["apply", "-f", "a.yaml"][..], false), (&["apply", "--dry-run", "-f", "a.yaml"], true)]
    {
        assert!(fake.run(words).status.success());
        let document = json!({ "file": "a.yaml", "text": "kind: Agent\n", "folder": folder });
        let expected = json!({ "documents": [document], "dry_run": dry_run });
        assert_eq!(fake.asked(), [("runtime/agent.apply".to_owned(), expected)]);
    }
    assert!(fake.run(&["agent", "install", "./a.yaml"]).status.success());
    let asked: Vec<_> = fake.asked().into_iter().map(|(method, _)| method).collect();
    assert_eq!(asked, ["runtime/agent.apply", "runtime/agent.install"]);
    assert!(fake.run(&["apply", "-f", ".", "--wait"]).status.success());
    let asked: Vec<_> = fake.asked().into_iter().map(|(method, _)| method).collect();
    assert_eq!(asked, ["runtime/agent.apply", "runtime/agent.get", "runtime/agent.wait"]);
}

#[test]
fn messages_are_sent_with_everything_that_was_said() {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let plain =
        |parts: Value| json!({ "agent": "reviewer", "parts": parts, "mode": "queue", "priority": "normal" });
    let method = "runtime/agent.signal";
    check_one(&["signal", "reviewer", "--content", "Run /briefing"], method, plain(text("Run /briefing")));
    check_one(&["signal", "reviewer", "--content", "--help me"], method, plain(text("--help me")));
    check_one(&["signal", "reviewer", "--file", "words.txt"], method, plain(text("from a file")));
    let data = json!([{ "type": "data", "data": { "a": 1 } }]);
    check_one(&["signal", "reviewer", "--json", r#"{"type":"data","data":{"a":1}}"#], method, plain(data));
    let words = [
        "signal",
        "reviewer",
        "--content",
        "x",
        "--mode",
        "steer",
        "--priority",
        "high",
        "--expires",
        "10m",
        "--key",
        "k",
        "--reply-to",
        MESSAGE,
        "--display-name",
        "Me",
        "--wait",
        "accepted",
        "--timeout",
        "5s",
    ];
    let all = json!({ "agent": "reviewer", "parts": text("x"), "mode": "steer", "priority": "high", "expires_in_ms": 600_000,
        "idempotency_key": "k", "reply_to": MESSAGE, "display_name": "Me", "wait": "accepted", "timeout_ms": 5_000 });
    check_one(&words, method, all);
    let inbox = json!({ "agent": "reviewer", "all": true, "limit": 5 });
    check_one(&["inbox", "reviewer", "--all", "--limit", "5"], "runtime/inbox.list", inbox);
}

#[test]
fn memory_is_read_and_written() {
    let key = json!({ "agent": "reviewer", "key": "tone" });
    check_one(&["memory", "get", "reviewer", "tone"], "memory/entry.get", key.clone());
    check_one(&["memory", "history", "reviewer", "tone"], "memory/entry.history", key);
    check_one(&["memory", "get", "-", "tone"], "memory/entry.get", json!({ "key": "tone" }));
    let put = json!({ "agent": "reviewer", "key": "tone", "value": "-5", "if_version": 0, "ttl_ms": 30_000 });
    check_one(
        &["memory", "put", "reviewer", "tone", "-5", "--if-version", "0", "--ttl", "30s"],
        "memory/entry.put",
        put,
    );
    let json_value = json!({ "agent": "reviewer", "key": "tone", "value": { "a": [1] } });
    check_one(
        &["memory", "put", "reviewer", "tone", "--json", r#"{"a":[1]}"#],
        "memory/entry.put",
        json_value,
    );
    let list = json!({ "agent": "reviewer", "prefix": "n/" });
    check_one(&["memory", "list", "reviewer", "--prefix", "n/"], "memory/entry.list", list);
    let delete = json!({ "agent": "reviewer", "key": "tone", "if_version": 4 });
    check_one(&["memory", "delete", "reviewer", "tone", "--if-version", "4"], "memory/entry.delete", delete);
}

fn schedule(agent: &str) -> Value {
    let name = if agent == "reviewer" { "morning" } else { "evening" };
    json!({ "agent": agent, "name": name, "when": "0 9 * * * UTC", "spec": {}, "in_manifest": true,
        "paused": false, "next_at": TIME, "accounted_until": TIME, "ran": 3, "skipped": 2, "missed": 1 })
}

#[test]
fn schedules_are_seen_and_steered() {
    check_one(&["schedule", "list"], "runtime/schedule.list", json!({}));
    check_one(&["schedule", "list", "reviewer"], "runtime/schedule.list", json!({ "agent": "reviewer" }));
    let named = json!({ "agent": "reviewer", "name": "morning" });
    let list = ("runtime/schedule.list", json!({}));
    for (verb, method) in [("run-now", "run"), ("pause", "pause"), ("resume", "resume"), ("remove", "remove")]
    {
        let method = format!("runtime/schedule.{method}");
        check_one(&["schedule", verb, "reviewer/morning"], &method, named.clone());
        check(&["schedule", verb, "morning"], &[list.clone(), (method.as_str(), named.clone())]);
    }
    let history = json!({ "agent": "reviewer", "name": "morning", "limit": 5 });
    check_one(
        &["schedule", "history", "reviewer/morning", "--limit", "5"],
        "runtime/schedule.history",
        history,
    );
}

#[test]
fn schedule_without_its_agent_must_be_the_only_one() {
    let fake = Fake::new();
    let mut other = schedule("reviewer");
    other["agent"] = json!("b");
    let two = json!({ "items": [schedule("reviewer"), other] });
    fake.says("runtime/schedule.list", Says::result(two));
    let output = fake.run(&["schedule", "pause", "morning"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("reviewer/morning, b/morning"), "{}", stderr(&output));
    let output = fake.run(&["schedule", "pause", "noon"]);
    assert_eq!(output.status.code(), Some(66));
    assert!(fake.asked().iter().all(|(method, _)| method == "runtime/schedule.list"));
}

#[test]
fn schedules_are_shown_by_the_clock_of_the_machine() {
    let fake = talkative();
    let missed = json!({ "due_at": TIME, "at": TIME, "outcome": "missed", "reason": "node_down", "to": TIME, "count": 7 });
    let skipped = json!({ "due_at": TIME, "at": TIME, "outcome": "skipped", "reason": "overlap", "detail": "open\u{1b}[2J" });
    let run = |fake: &Fake, words: &[&str]| {
        let output = fake.command(words).env("TZ", "CET-1").output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let list = run(&fake, &["schedule", "list"]);
    assert!(list.contains("reviewer/morning") && list.contains("2026-11-21 10:30:00 CET"), "{list}");
    let fake = Fake::saying("runtime/schedule.history", Says::result(json!({ "items": [missed, skipped] })));
    let history = run(&fake, &["schedule", "history", "reviewer/morning"]);
    assert!(history.contains("7 times, the last 2026-11-21 10:30:00 CET"), "{history}");
    assert!(history.contains("overlap") && !history.contains('\u{1b}'), "{history}");
    let applied = json!({ "items": [], "schedules": [
        { "agent": "reviewer", "name": "morning", "change": "updated" },
        { "agent": "reviewer", "name": "evening", "change": "removed" }] });
    let fake = Fake::saying("runtime/agent.apply", Says::result(applied));
    std::fs::write(fake.path().join("a.yaml"), "kind: Agent\n").unwrap();
    let shown = run(&fake, &["apply", "-f", "a.yaml"]);
    assert_eq!(shown, "reviewer/morning updated\nreviewer/evening removed\n");
}

#[test]
fn record_and_node_are_read() {
    let read = |params: Value| ("stream/replay", params);
    check_one(&["daemon", "status"], "runtime/node.status", json!({}));
    check_one(&["audit", "verify"], "evidence/audit.verify", json!({}));
    check_one(&["describe-api", "--profile", "memory"], "core/describe", json!({ "profile": "memory" }));
    let reviewer = json!({ "kind": "agent", "id": "reviewer" });
    let all = json!({ "limit": 1000 });
    check(&["events", "-o", "json"], &[read(all)]);
    let some = json!({ "target": reviewer, "after": 7, "types": ["agent.*"], "limit": 5 });
    let words =
        ["events", "-o", "json", "--agent", "reviewer", "--after", "7", "--type", "agent.*", "--limit", "5"];
    check(&words, &[read(some)]);
    let newest = json!({ "limit": 5, "newest": true });
    check(&["events", "-o", "json", "--limit", "5"], &[read(newest)]);
    let names = ("runtime/agent.list", json!({ "labels": {}, "phase": null, "retired": true }));
    let life = json!({ "target": reviewer, "types": ["agent.*"], "limit": 1000 });
    check(&["agent", "history", "reviewer"], &[names, read(life)]);
    let folded = json!({ "target": { "kind": "thread", "id": "thr_x" }, "projection": "queue", "cursor": "c", "limit": 1000 });
    let words = ["events", "-o", "json", "--projection", "queue", "--thread", "thr_x", "--cursor", "c"];
    check(&words, &[read(folded)]);
    check_one(&["projection", "list"], "stream/projection.list", json!({}));
    let get = json!({ "projection": "queue", "target": reviewer });
    check_one(&["projection", "get", "queue", "--agent", "reviewer"], "stream/projection.get", get);
    check_one(&["projection", "rebuild"], "stream/projection.rebuild", json!({}));
    let verify = json!({ "projection": "queue", "target": { "kind": "session", "id": "ses_x" } });
    check_one(&["projection", "verify", "queue", "--session", "ses_x"], "stream/projection.verify", verify);
}

#[test]
fn recordings_are_read() {
    let page = |extra: Value| {
        let mut params = json!({ "agent": "reviewer", "offset": 0, "limit_bytes": 1 << 20 });
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        params
    };
    let method = "runtime/recording.read";
    check_one(&["logs", "reviewer"], method, page(json!({})));
    check_one(
        &["logs", "reviewer", "--epoch", "2", "--tail", "64KiB"],
        method,
        page(json!({ "epoch": 2, "last_bytes": 65_536 })),
    );
    check_one(&["logs", "reviewer", "--tail", "3"], method, page(json!({ "last_bytes": 2_048 })));
    check_one(&["replay", "reviewer", "--epoch", "2", "--speed", "max"], method, page(json!({ "epoch": 2 })));
}

fn words(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

#[test]
fn question_is_sent_with_the_time_that_it_is_waited_for() {
    let method = "runtime/agent.ask";
    let ask = |timeout_ms: u64, stream: bool| json!({ "agent": "reviewer", "parts": words("x"), "priority": "normal", "timeout_ms": timeout_ms, "stream": stream });
    let line = ["ask", "reviewer", "--content", "x"];
    check_one(&line, method, ask(60_000, false));
    check_one(&[&line[..], &["--no-wait"]].concat(), method, ask(0, false));
    check_one(&[&line[..], &["--stream", "--timeout", "5m"]].concat(), method, ask(300_000, true));
    let mut all = ask(60_000, false);
    all["priority"] = json!("high");
    all["idempotency_key"] = json!("k");
    check_one(&[&line[..], &["--priority", "high", "--key", "k"]].concat(), method, all);
}

#[test]
fn many_are_told_at_once() {
    let publish = json!({ "topic": "releases", "parts": words("x"), "priority": "normal" });
    check_one(&["publish", "releases", "--content", "x"], "runtime/topic.publish", publish);
    let labels = json!({ "team": "docs", "stage": "prod" });
    let broadcast = json!({ "selector": labels, "parts": words("x"), "priority": "low", "expires_in_ms": 600_000, "idempotency_key": "k" });
    let line = ["broadcast", "-l", "team=docs", "-l", "stage=prod", "--content", "x", "--priority", "low"];
    let more = ["--expires", "10m", "--key", "k"];
    check_one(&[&line[..], &more].concat(), "runtime/agent.broadcast", broadcast);
    let everyone = json!({ "selector": {}, "parts": words("x"), "priority": "normal" });
    check_one(&["broadcast", "--content", "x"], "runtime/agent.broadcast", everyone);
}

#[test]
fn content_is_submitted_with_where_it_was_found() {
    let method = "runtime/message.submit";
    let web = json!({ "agent": "reviewer", "channel": "web", "origin": { "uri": "https://example.org/" }, "parts": words("x"), "priority": "normal" });
    let line = ["message", "submit", "reviewer", "--content", "x", "--channel"];
    check_one(&[&line[..], &["web", "--source-url", "https://example.org/"]].concat(), method, web);
    let tool = json!({ "agent": "reviewer", "channel": "tool", "origin": { "uri": "a/b", "tool": "linter" }, "parts": words("x"),
        "priority": "high", "expires_in_ms": 1_000, "idempotency_key": "k", "reply_to": MESSAGE });
    let words = ["tool", "--tool", "linter", "--source-path", "a/b", "--priority", "high", "--expires", "1s"];
    check_one(&[&line[..], &words, &["--key", "k", "--reply-to", MESSAGE]].concat(), method, tool);
}

#[test]
fn dead_letters_are_seen_to() {
    let list = json!({ "limit": 100, "cursor": 0 });
    check_one(&["message", "dead"], "runtime/dead_letter.list", list);
    let page = json!({ "agent": "reviewer", "limit": 5, "cursor": 7 });
    check_one(
        &["message", "dead", "reviewer", "--limit", "5", "--cursor", "7"],
        "runtime/dead_letter.list",
        page,
    );
    let id = json!({ "message_id": MESSAGE });
    check_one(&["message", "replay", MESSAGE], "runtime/dead_letter.replay", id);
    let reason = json!({ "message_id": MESSAGE, "reason": "sent by hand" });
    check_one(&["message", "drop", MESSAGE, "--reason", "sent by hand"], "runtime/dead_letter.drop", reason);
}
