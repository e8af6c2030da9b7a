//! Sets of replicas: one name, several agents with one task each, every message once whoever dies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{collections::BTreeSet, fs, path::Path};

use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Connection, Node, native, random::Random, signals, task_worker, wait::eventually, words,
};
use edgeplane_types::{DeliveryMode, ErrorName, Phase};
use edgeplane_wire::{
    api::{
        agent::{AgentParams, ChangeParams, WaitParams},
        message::{AskParams, SignalParams},
        terminal::RecordingParams,
    },
    catalogue::{
        AgentAsk, AgentGet, AgentRetire, AgentSignal, AgentStart, AgentStop, AgentWait, RecordingRead,
    },
};

fn set(log: &Path, replicas: u32, more: &str) -> String {
    task_worker("set", log, &[], &format!("state: stateless\nreplicas: {replicas}\n{more}"))
}

/// A running set whose replicas wait for tasks.
fn run(node: &Node, replicas: u32, more: &str) -> std::path::PathBuf {
    let log = node.scratch().join("log");
    node.apply(&set(&log, replicas, more));
    all_run(node, replicas);
    log
}

fn all_run(node: &Node, replicas: u32) {
    eventually(&format!("{replicas} replicas run"), || {
        let view = node.get("set").status.replicas.unwrap();
        (view.wanted, view.running, view.names.len()) == (replicas, replicas, replicas as usize)
    });
}

/// Who did what, in order.
fn tasks(log: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let mut words = line.splitn(3, ' ');
        let (name, _, text) = (words.next()?, words.next()?, words.next()?);
        let is_task = ["do ", "hold ", "die"].iter().any(|verb| text.starts_with(verb));
        is_task.then(|| (name.to_owned(), text.to_owned()))
    });
    lines.collect()
}

fn ended(node: &Node) -> usize {
    let has = |name: &str| {
        node.inbox("set").iter().filter(|m| m.receipts.iter().any(|r| r.rung.as_str() == name)).count()
    };
    has("turn_ended")
}

/// Proves LIFE-040, LIFE-041.
#[test]
fn one_long_task_holds_nobody_up_and_all_work_at_a_time() {
    let node = Node::start();
    let log = run(&node, 3, "");
    let gate = node.scratch().join("gate");
    for number in 0..3 {
        node.signal("set", &format!("hold {}{number}", gate.display()), None);
    }
    eventually("each has one", || tasks(&log).len() == 3);
    let busy: BTreeSet<String> = tasks(&log).into_iter().map(|(name, _)| name).collect();
    assert_eq!(busy, ["set-1", "set-2", "set-3"].map(str::to_owned).into());
    // All are busy: the next waits for the set, and goes to whoever is free first.
    let waiting = node.signal("set", "do more", None);
    assert_eq!(node.get("set").status.waiting_messages, 1);
    let shown = node.inbox("set");
    let view = shown.iter().find(|message| message.message_id == waiting.message_id).unwrap();
    assert_eq!((view.agent.as_str(), view.replica.as_deref()), ("set", None));
    fs::write(node.scratch().join("gate1"), "").unwrap();
    eventually("it is done", || ended(&node) == 2);
    // Two hold on; whatever comes goes past them.
    for number in 0..6 {
        node.signal("set", &format!("do {number}"), None);
    }
    eventually("all short ones are done", || ended(&node) == 8);
    assert_eq!(node.get("set").status.messages.get("turn_ended"), Some(&8));
    let shown = node.inbox("set");
    assert!(shown.iter().all(|message| message.agent == "set" && message.replica.is_some()));
    for number in [0, 2] {
        fs::write(node.scratch().join(format!("gate{number}")), "").unwrap();
    }
    eventually("all is done", || ended(&node) == 10);
    assert_eq!(tasks(&log).len(), 10);
    node.verify();
}

/// Proves LIFE-041.
#[test]
fn message_goes_to_another_if_its_replica_dies_before_it_was_written() {
    let mut node = Node::start();
    let log = run(&node, 2, "restart: { policy: never }");
    let pids = [node.pid("set-1"), node.pid("set-2")];
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("assign.after"), "1").unwrap();
    drop(node.try_signal("set", "do it", None));
    eventually("the daemon dies with the message handed over", || node.has_ended());
    signals::kill(&pids[..1]);
    node.up();
    eventually("another does it", || ended(&node) == 1);
    let done = tasks(&log);
    assert_eq!(done, [("set-2".to_owned(), "do it".to_owned())], "{done:?}");
    assert_eq!(node.count("set-1", "message.returned"), 1);
    assert_eq!(node.count("set", "message.assigned"), 2);
    node.verify();
}

/// Proves LIFE-042.
#[test]
fn scaling_down_waits_for_tasks_and_scaling_up_begins_new_ones() {
    let node = Node::start();
    let log = run(&node, 3, "");
    let gate = node.scratch().join("gate");
    for _ in 0..3 {
        node.signal("set", &format!("hold {}", gate.display()), None);
    }
    eventually("each has one", || tasks(&log).len() == 3);
    node.apply(&set(&log, 1, ""));
    // None is taken from its task, and none of those that go gets another.
    node.signal("set", "do later", None);
    assert_eq!(node.get("set").status.replicas.unwrap().names.len(), 3);
    fs::write(&gate, "").unwrap();
    all_run(&node, 1);
    eventually("all is done", || ended(&node) == 4);
    assert_eq!(tasks(&log)[3], ("set-1".to_owned(), "do later".to_owned()));
    let reasons: Vec<_> = node
        .history("")
        .iter()
        .filter(|event| event.event["type"] == "session.closing")
        .map(|event| event.event["payload"]["reason"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(reasons.iter().filter(|reason| *reason == "scale_down").count(), 2, "{reasons:?}");
    node.apply(&set(&log, 2, ""));
    all_run(&node, 2);
    for number in 0..4 {
        node.signal("set", &format!("do {number}"), None);
    }
    eventually("all is done", || ended(&node) == 8);
    node.verify();
}

/// Proves LIFE-040.
#[test]
fn what_is_asked_of_the_name_is_asked_of_all_and_answered_by_one() {
    let mut node = Node::start();
    let log = run(&node, 2, "");
    let params = AskParams {
        agent: "set".to_owned(),
        parts: vec![edgeplane_types::Part::Text { text: "do sums".to_owned() }],
        priority: edgeplane_types::Priority::Normal,
        idempotency_key: Some("once".to_owned()),
        causation: None,
        timeout_ms: Some(30_000),
        stream: false,
    };
    let answer = node.connect().call::<AgentAsk>(&params);
    assert!(answer.answer.unwrap().text.ends_with("did do sums"));
    // The key is that of the set, whoever had the message.
    let again = node.connect().call::<AgentAsk>(&params);
    assert_eq!(again.message_id, answer.message_id);
    assert_eq!(tasks(&log).len(), 1);
    // What only a program can show names the replicas.
    let params = RecordingParams {
        agent: "set".to_owned(),
        epoch: None,
        offset: 0,
        last_bytes: None,
        limit_bytes: None,
    };
    let refused = node.connect().try_call::<RecordingRead>(&params).unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState);
    assert!(refused.to_string().contains("replicas"), "{refused}");
    // A replica goes by its set only.
    let params = ChangeParams { agent: "set-1".to_owned(), reason: None };
    let refused = node.connect().try_call::<AgentRetire>(&params).unwrap_err();
    assert!(refused.message.contains("replica of `set`"), "{refused}");

    let all = ChangeParams { agent: "set".to_owned(), reason: None };
    node.connect().call::<AgentStop>(&all);
    for name in ["set-1", "set-2", "set"] {
        node.wait(name, Phase::Stopped);
    }
    node.signal("set", "do waiting", None);
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("set").status.phase, Phase::Stopped, "a stop outlives the daemon");
    node.connect().call::<AgentStart>(&all);
    eventually("what waited is done", || ended(&node) == 2);
    node.connect().call::<AgentRetire>(&all);
    let params = WaitParams { agent: "set".into(), phases: vec![Phase::Retired], timeout_ms: 30_000 };
    drop(node.connect().try_call::<AgentWait>(&params));
    for name in ["set", "set-1", "set-2"] {
        let params = AgentParams { agent: name.to_owned() };
        eventually("its name is free", || node.connect().try_call::<AgentGet>(&params).is_err());
    }
    node.verify();
}

/// Proves LIFE-040.
#[test]
fn what_cannot_be_a_set_is_refused() {
    let node = Node::start();
    let log = node.scratch().join("log");
    let refused = node.try_apply(&task_worker("set", &log, &[], "replicas: 2")).unwrap_err();
    assert!(refused.message.contains("spec.replicas"), "{}", refused.message);
    node.apply(&native("set-2", &["/bin/cat"], ""));
    let refused = node.try_apply(&set(&log, 3, "")).unwrap_err();
    assert!(refused.message.contains("`set-2` is that of another agent"), "{}", refused.message);
    node.apply(&native("one", &["/bin/cat"], "state: stateless"));
    let refused = node.try_apply(&native("one", &["/bin/cat"], "state: stateless\nreplicas: 2")).unwrap_err();
    assert!(refused.message.contains("cannot become a set"), "{}", refused.message);
    node.apply(&set(&log, 1, ""));
    let refused = node.try_apply(&native("set-1", &["/bin/cat"], "")).unwrap_err();
    assert!(refused.message.contains("replica of `set`"), "{}", refused.message);
}

/// Proves LIFE-041, LIFE-042: with each of the points below a daemon dies, one after the other, in the order of a seed.
#[test]
fn every_message_is_done_once_whenever_the_daemon_dies() {
    const POINTS: [&str; 11] = [
        "replicas.before",
        "replicas.after",
        "accept.after",
        "assign.before",
        "assign.after",
        "injected.before",
        "injected.after",
        "ended.before",
        "ended.after",
        "task.before",
        "task.after",
    ];
    let mut random = Random::seeded("replicas");
    let mut node = Node::start();
    let log = node.scratch().join("log");
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    let mut left = POINTS.to_vec();
    let (mut replicas, mut said) = (2, 0);
    drop(node.try_apply(&set(&log, replicas, "")));
    while !left.is_empty() {
        let index = usize::try_from(random.below(left.len() as u64)).unwrap();
        let point = left.swap_remove(index);
        let mut has_died = false;
        fs::write(folder.join(point), (1 + random.below(2)).to_string()).unwrap();
        if point.starts_with("replicas.") {
            // Only new replicas pass it.
            fs::write(folder.join(point), "1").unwrap();
            replicas += 1;
            drop(node.try_apply(&set(&log, replicas, "")));
        }
        for _ in 0..4 {
            said += 1;
            let key = format!("key {said}");
            let plain = words("set", &format!("do {said}"), DeliveryMode::Queue);
            let params = SignalParams { idempotency_key: Some(key), ..plain };
            // One that was not acknowledged is said again with its key, as a careful caller does.
            eventually("it is accepted", || {
                if node.has_ended() {
                    node.up();
                    has_died = true;
                }
                // It may die at any moment, also between the question whether it has and this.
                let Ok(mut connection) = Connection::open(&node.socket()) else { return false };
                connection.try_call::<AgentSignal>(&params).is_ok()
            });
        }
        if !has_died {
            eventually(&format!("the daemon dies at {point}"), || node.has_ended());
            node.up();
        }
    }
    eventually("all is done", || ended(&node) == said);
    let mut done: Vec<String> = tasks(&log).into_iter().map(|(_, text)| text).collect();
    done.sort();
    let mut expected: Vec<String> = (1..=said).map(|number| format!("do {number}")).collect();
    expected.sort();
    assert_eq!(done, expected);
    all_run(&node, replicas);
    node.verify();
}
