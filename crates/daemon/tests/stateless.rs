//! An agent that forgets: nothing that one program of it leaves is there for the next.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, path::Path};

use edgeplane_testkit::{
    Connection, Node, acp, exec, native, signals, task_worker, terminal, wait::eventually,
};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{
    api::memory::{KeyParams, PutParams},
    catalogue::{MemoryGet, MemoryPut},
};
use serde_json::json;

const AT_ONCE: &str = "restart: { policy: always, backoff: { initial: 10ms } }";

/// A program that says what it finds in its workspace, leaves something there, asks for its memory and waits.
fn leaves(node: &Node, name: &str) -> [String; 3] {
    let said = node.scratch().join(name);
    let program = format!(
        r#"echo "$(ls | tr '\n' ' ')|" >> {said}; mkdir -p deep/er; echo x > deep/er/file; ln -sfn / root
        echo '{{"jsonrpc":"2.0","id":"1","method":"memory/entry.put","params":{{"key":"k","value":1}}}}'
        while read -r line; do case $line in *'"id":"1"'*) echo "$line" >> {said}.answers;; esac; done"#,
        said = said.display(),
    );
    ["/bin/sh".to_owned(), "-c".to_owned(), program]
}

fn run(node: &Node, name: &str, state: &str) {
    let program = leaves(node, name);
    let command: Vec<&str> = program.iter().map(String::as_str).collect();
    node.run(name, &native(name, &command, &format!("state: {state}\n{AT_ONCE}")));
}

fn lines(path: &Path, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    eventually(&format!("{count} lines in `{}`", path.display()), || {
        found = fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect();
        found.len() >= count
    });
    found
}

#[test]
fn stateless_agent_begins_anew_and_a_stateful_one_goes_on() {
    let node = Node::start();
    for (name, state) in [("forgets", "stateless"), ("keeps", "stateful")] {
        run(&node, name, state);
        let said = node.scratch().join(name);
        assert_eq!(lines(&said, 1), ["|"]);
        let _answered = lines(&said.with_extension("answers"), 1);
        signals::kill(&[node.pid(name)]);
        eventually("its next program runs", || node.get(name).status.epoch.0 == 2);
        node.wait(name, Phase::Running);
        let found = lines(&said, 2).pop().unwrap();
        let expected = if state == "stateless" { "|" } else { "deep root |" };
        assert_eq!(found, expected, "{name}");
    }
    let answers = lines(&node.scratch().join("forgets.answers"), 1);
    assert!(answers[0].contains("is stateless"), "{answers:?}");
    let answers = lines(&node.scratch().join("keeps.answers"), 1);
    assert!(answers[0].contains("\"version\":1"), "{answers:?}");

    let put = PutParams {
        agent: Some("forgets".to_owned()),
        key: "k".to_owned(),
        value: 1.into(),
        if_version: None,
        ttl_ms: None,
    };
    let refused = node.connect().try_call::<MemoryPut>(&put).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState);
    let key = KeyParams { agent: Some("forgets".to_owned()), key: "k".to_owned() };
    assert_eq!(node.connect().try_call::<MemoryGet>(&key).unwrap_err().name(), ErrorName::NotFound);
    node.verify();
}

/// What a worker wrote, line by line, of tasks alone: its name, its epoch, the text.
fn tasks(log: &Path) -> Vec<(String, u64, String)> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let mut words = line.splitn(3, ' ');
        let (name, epoch, text) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        let is_task = ["do ", "hold ", "die"].iter().any(|verb| text.starts_with(verb));
        is_task.then(|| (name.to_owned(), epoch, text.to_owned()))
    });
    lines.collect()
}

/// What it was told at the beginning of each epoch.
fn beginnings(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines().filter_map(|line| Some(line.split_once(" begins ")?.1.to_owned())).collect()
}

fn causes(node: &Node, name: &str, kind: &str) -> Vec<String> {
    let events = node.history(name);
    let of_kind = events.iter().filter(|event| event.event["type"] == kind);
    of_kind.map(|event| event.event["payload"]["cause"].as_str().unwrap().to_owned()).collect()
}

/// Proves LIFE-038, LIFE-039.
#[test]
fn each_task_meets_a_fresh_epoch_and_no_end_of_one_is_a_failure() {
    let node = Node::start();
    let log = node.scratch().join("log");
    let more = "state: stateless\nrestart: { breaker: { failures: 1 } }";
    node.run("worker", &task_worker("worker", &log, &[], more));
    for number in 1..=4 {
        node.signal("worker", &format!("do {number}"), None);
    }
    eventually("all are done", || node.count("worker", "message.turn_ended") == 4);
    eventually("the next epoch waits", || {
        let status = node.get("worker").status;
        status.epoch.0 == 5 && status.phase == Phase::Running
    });
    let found = tasks(&log);
    let expected: Vec<_> = (1..=4).map(|n| ("worker".to_owned(), n, format!("do {n}"))).collect();
    assert_eq!(found, expected);
    // Nothing is told of the past, and nothing is left in its folder.
    eventually("it has begun five times", || beginnings(&log).len() == 5);
    assert!(beginnings(&log).iter().all(|begin| begin == "none False []"), "{:?}", beginnings(&log));
    assert_eq!(causes(&node, "worker", "agent.starting"), ["manifest", "task", "task", "task", "task"]);
    assert_eq!(causes(&node, "worker", "agent.stopping"), ["task"; 4]);
    assert_eq!(node.get("worker").status.restarts, 0);
    assert_eq!(node.count("worker", "agent.failed") + node.count("worker", "agent.backed_off"), 0);
    node.verify();
}

/// Proves LIFE-038.
#[test]
fn without_idleness_a_program_is_there_for_its_task_only() {
    let node = Node::start();
    let log = node.scratch().join("log");
    node.run("worker", &task_worker("worker", &log, &[], "state: stateless\nhibernate: { idleAfter: 0s }"));
    for number in 1..=2_u64 {
        node.signal("worker", &format!("do {number}"), None);
        eventually("it is done", || node.count("worker", "message.turn_ended") as u64 == number);
        node.wait("worker", Phase::Hibernated);
    }
    let epochs: Vec<u64> = tasks(&log).into_iter().map(|(_, epoch, _)| epoch).collect();
    assert!(epochs[0] < epochs[1], "{epochs:?}");
    assert_eq!(causes(&node, "worker", "agent.starting").last().unwrap(), "message");
    assert_eq!(causes(&node, "worker", "agent.stopping").last().unwrap(), "task");
    node.verify();
}

/// Proves LIFE-038.
#[test]
fn whoever_ends_turns_begins_each_task_anew() {
    let node = Node::start();
    let folder = node.scratch().join("acp");
    node.run("coder", &acp("coder", &folder, &[], (", tools: false", "state: stateless")));
    let folder = node.scratch().join("exec");
    let driver = ", first: [--prompt, \"{prompt}\", --session-id, \"{session}\"], \
                  resume: [--prompt, \"{prompt}\", --resume, \"{session}\"]";
    node.run("shot", &exec("shot", &folder, &[], (driver, "state: stateless")));
    for name in ["coder", "shot"] {
        for number in 1..=2 {
            node.signal(name, &format!("say {number}"), None);
            eventually("its turn has ended", || node.count(name, "message.turn_ended") == number);
            eventually("the next epoch waits", || node.get(name).status.epoch.0 == number as u64 + 1);
            node.wait(name, Phase::Running);
        }
        let events = node.history(name);
        let opened = events.iter().filter(|event| event.event["type"] == "session.opened");
        let sessions: Vec<_> = opened.map(|event| event.event["payload"].clone()).collect();
        assert!(sessions.len() >= 2, "{name}: {sessions:?}");
        assert!(sessions.iter().all(|opened| opened["continuity"] == "none"), "{name}: {sessions:?}");
        assert_ne!(sessions[0]["native_id"], sessions[1]["native_id"], "{name}");
    }
    let calls = fs::read_to_string(folder.join("calls")).unwrap();
    assert!(calls.lines().all(|call| call.contains("\"resumed\": null")), "{calls}");
    node.verify();
}

/// Proves LIFE-038: whatever moment the daemon dies at, a task's epoch takes no second one.
#[test]
fn no_death_lets_an_epoch_have_two_tasks() {
    for point in ["injected.after", "ended.before", "ended.after", "task.before", "task.after"] {
        let mut node = Node::start();
        let log = node.scratch().join("log");
        node.run("worker", &task_worker("worker", &log, &[], "state: stateless"));
        let folder = node.state_dir().join(edgeplane_os::failpoint::FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(point), "1").unwrap();
        for number in 1..=3 {
            // It may be gone at any moment, also before this is said.
            let Ok(mut connection) = Connection::open(&node.socket()) else { break };
            let params =
                json!({ "agent": "worker", "parts": [{ "type": "text", "text": format!("do {number}") }] });
            drop(connection.try_raw("runtime/agent.signal", params));
        }
        eventually(&format!("the daemon dies at {point}"), || node.has_ended());
        node.up();
        let told = node.inbox("worker").len();
        eventually("all are done", || node.count("worker", "message.turn_ended") == told);
        let found = tasks(&log);
        let epochs: std::collections::BTreeSet<u64> = found.iter().map(|(_, epoch, _)| *epoch).collect();
        assert_eq!((found.len(), epochs.len()), (told, told), "{point}: {found:?}");
        node.verify();
    }
}

/// Proves LIFE-038.
#[test]
fn terminal_that_forgets_is_refused() {
    let node = Node::start();
    let refused = node.try_apply(&terminal("t", &["/bin/cat"], "state: stateless")).unwrap_err();
    assert!(refused.message.contains("no end of a task"), "{}", refused.message);
}
