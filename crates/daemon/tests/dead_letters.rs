//! Messages that did not reach their agent: listed, delivered after all, or dropped.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use edgeplane_testkit::{Connection, Node, native, signals, terminal, wait::eventually};
use edgeplane_types::{ErrorName, MessageId, Phase, Rung};
use edgeplane_wire::{
    api::message::{DeadLettersParams, DeadLettersResult, DropParams, MessageParams, MessageView},
    catalogue::{AgentRetire, DeadLetterDrop, DeadLetterList, DeadLetterReplay, MessageGet},
    rpc::{self, RpcError},
};
use serde_json::json;

/// Longer than a pipe: a shim whose program does not read has begun to write it, and cannot end.
const LONG_BYTES: usize = 100 << 10;

fn send_for(node: &Node, name: &str, text: &str, expires_in_ms: u64) -> MessageId {
    let params = serde_json::json!({
        "agent": name, "parts": [{ "type": "text", "text": text }], "expires_in_ms": expires_in_ms
    });
    let sent = node.connect().try_raw("runtime/agent.signal", params).unwrap();
    serde_json::from_value(sent["message_id"].clone()).unwrap()
}

fn get(node: &Node, message_id: MessageId) -> MessageView {
    node.connect().call::<MessageGet>(&MessageParams { message_id })
}

fn rungs(node: &Node, message_id: MessageId) -> Vec<&'static str> {
    get(node, message_id).receipts.iter().map(|receipt| receipt.rung.as_str()).collect()
}

fn list(node: &Node, agent: Option<&str>, limit: u32, cursor: u64) -> DeadLettersResult {
    let params = DeadLettersParams { agent: agent.map(str::to_owned), limit, cursor };
    node.connect().call::<DeadLetterList>(&params)
}

fn ids(result: &DeadLettersResult) -> Vec<MessageId> {
    result.items.iter().map(|message| message.message_id).collect()
}

fn dead(node: &Node) -> Vec<MessageId> {
    ids(&list(node, None, 100, 0))
}

fn replay(node: &Node, message_id: MessageId) -> Result<MessageView, RpcError> {
    node.connect().try_call::<DeadLetterReplay>(&MessageParams { message_id })
}

fn drop_letter(node: &Node, message_id: MessageId) -> Result<(), RpcError> {
    let params = DropParams { message_id, reason: "not wanted".to_owned() };
    node.connect().try_call::<DeadLetterDrop>(&params).map(drop)
}

#[track_caller]
fn assert_invalid(result: Result<impl std::fmt::Debug, RpcError>, why: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidState, "{error}");
    assert!(error.message.contains(why), "{error}");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// A native agent that keeps what it reads in a file; stopped until it is started.
fn keeper(node: &Node, name: &str, more: &str) -> PathBuf {
    let log = node.scratch().join(name);
    let program = format!("exec cat >> {}", log.display());
    node.apply(&native(name, &["/bin/sh", "-c", &program], &format!("run: stopped\n{more}")));
    log
}

fn start(node: &Node, name: &str) {
    node.change::<edgeplane_wire::catalogue::AgentStart>(name).unwrap();
    node.wait(name, Phase::Running);
}

/// Proves MSG-070.
#[test]
fn dead_letters_are_listed_page_by_page_to_those_they_concern() {
    let node = Node::start();
    node.apply(&terminal("one", &["/bin/cat"], "run: stopped"));
    node.run("two", &terminal("two", &["/bin/cat"], ""));
    let mut expected: Vec<MessageId> =
        (0..5).map(|number| send_for(&node, "one", &format!("{number}"), 20)).collect();
    eventually("their time is over", || dead(&node).len() == 5);
    expected.push(node.signal("two", &"x".repeat(5_000), Some(Rung::TurnEnded)).message_id);
    assert_eq!(dead(&node), expected);
    let (mut found, mut cursor) = (Vec::new(), 0);
    let mut pages = Vec::new();
    loop {
        let page = list(&node, None, 2, cursor);
        pages.push(page.items.len());
        found.extend(ids(&page));
        let Some(next) = page.next else { break };
        cursor = next;
    }
    assert_eq!((found, pages), (expected.clone(), vec![2, 2, 2]));
    assert_eq!(ids(&list(&node, Some("two"), 100, 0)), expected[5..]);
    let rejected = list(&node, Some("two"), 100, 0).items.remove(0);
    assert_eq!(rejected.agent, "two");
    assert!(rejected.reason.is_some_and(|why| why.starts_with("too_large")));

    // An agent has its own, and neither those of others nor a say in them.
    let socket = format!("{}.1.sock", node.get("two").metadata["id"].as_str().unwrap());
    let mut agent = Connection::open(&node.runtime_dir().join("agents").join(socket)).unwrap();
    assert_eq!(ids(&agent.call::<DeadLetterList>(&DeadLettersParams::default())), expected[5..]);
    let of_one = DeadLettersParams { agent: Some("one".into()), ..DeadLettersParams::default() };
    let denied = agent.try_call::<DeadLetterList>(&of_one).unwrap_err();
    assert_eq!(denied.name(), ErrorName::PermissionDenied);
    let denied = agent.try_call::<DeadLetterReplay>(&MessageParams { message_id: expected[5] }).unwrap_err();
    assert_eq!(denied.name(), ErrorName::PermissionDenied);
}

/// Proves MSG-071.
#[test]
fn expired_message_is_delivered_after_all_and_has_no_end() {
    let mut node = Node::start();
    let log = keeper(&node, "late", "");
    let id = send_for(&node, "late", "<late>", 20);
    eventually("its time is over", || dead(&node) == [id]);
    let view = replay(&node, id).unwrap();
    assert_eq!(view.message_id, id);
    assert!(dead(&node).is_empty());
    assert_eq!(node.get("late").status.waiting_messages, 1);
    assert_invalid(replay(&node, id), "waits to be delivered");
    // It waits as durably as any other.
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("late").status.waiting_messages, 1);
    start(&node, "late");
    eventually("it is delivered", || read(&log).contains("<late>"));
    eventually("that is known", || rungs(&node, id) == ["accepted", "expired", "injected"]);
    assert!(!read(&log).contains("on signal, perhaps again") && !read(&log).contains("redelivered"));
    assert_invalid(replay(&node, id), "came to its agent");
    assert_invalid(drop_letter(&node, id), "came to its agent");
    let requeued = node.events("late", &["message.requeued"]);
    assert_eq!(requeued.len(), 1);
    assert_eq!(requeued[0].event["actor"]["kind"], "operator");
    node.verify();
}

/// Proves MSG-071.
#[test]
fn rejected_message_is_tried_again_as_if_for_the_first_time() {
    let node = Node::start();
    node.run("screen", &terminal("screen", &["/bin/cat"], ""));
    let id = node.signal("screen", &"x".repeat(5_000), Some(Rung::TurnEnded)).message_id;
    assert_eq!(rungs(&node, id), ["accepted", "rejected"]);
    replay(&node, id).unwrap();
    eventually("it is rejected again", || rungs(&node, id) == ["accepted", "rejected", "rejected"]);
    assert_eq!(dead(&node), [id]);
    let log = node.scratch().join("screen");
    // The same name with a driver that takes it.
    let program = format!("exec cat >> {}", log.display());
    node.stop("screen");
    node.apply(&native("screen", &["/bin/sh", "-c", &program], "run: stopped"));
    start(&node, "screen");
    replay(&node, id).unwrap();
    eventually("it is delivered", || rungs(&node, id).last() == Some(&"injected"));
    eventually("it is read", || read(&log).contains("on signal]"));
    assert!(!read(&log).contains("redelivered"));
    node.verify();
}

/// Proves MSG-063.
#[test]
fn question_that_is_held_is_over_at_once() {
    let node = Node::start();
    let program = ["/bin/sh", "-c", "exec sleep 1000"];
    node.run("slow", &native("slow", &program, "restart: { policy: never }"));
    let words = "x".repeat(LONG_BYTES);
    let params = serde_json::json!({ "agent": "slow", "parts": [{ "type": "text", "text": words }] });
    let result = std::thread::scope(|scope| {
        let asking = scope.spawn(|| node.connect().try_raw("runtime/agent.ask", params).unwrap());
        eventually("it is asked", || node.inbox("slow").len() == 1);
        let id = node.inbox("slow").remove(0).message_id.to_string();
        let agent = node.get("slow").metadata["id"].as_str().unwrap().to_owned();
        let recording = node.state_dir().join("agents").join(agent).join("1/000001.cast");
        eventually("the shim has begun to write it", || read(&recording).contains(&id));
        signals::kill(&[node.shim_pid("slow"), node.pid("slow")]);
        asking.join().unwrap()
    });
    let why = "ambiguous: the epoch ended while the message was being written";
    assert_eq!((&result["reason"], result.get("answer")), (&serde_json::json!(why), None));
}

/// Proves MSG-071.
#[test]
fn message_of_an_unknown_end_is_marked_when_it_is_delivered_after_all() {
    for rule in ["hold", "drop"] {
        let mut node = Node::start();
        let (go, log) = (node.scratch().join("go"), node.scratch().join("log"));
        let program =
            format!("until [ -e {} ]; do sleep 0.01; done; exec cat >> {}", go.display(), log.display());
        let more = format!("delivery: {{ ambiguous: {rule} }}\nrestart: {{ policy: never }}");
        node.run("slow", &native("slow", &["/bin/sh", "-c", &program], &more));
        let long = format!("<long>{}", "x".repeat(LONG_BYTES));
        let id = node.signal("slow", &long, None).message_id;
        let agent = node.get("slow").metadata["id"].as_str().unwrap().to_owned();
        let recording = node.state_dir().join("agents").join(agent).join("1/000001.cast");
        eventually("the shim has begun to write it", || read(&recording).contains(&id.to_string()));
        signals::kill(&[node.shim_pid("slow"), node.pid("slow")]);
        eventually("that is settled", || dead(&node) == [id]);
        assert!(rungs(&node, id).contains(&"ambiguous"));
        eventually("its epoch is over", || node.get("slow").status.process.is_none());
        replay(&node, id).unwrap();
        // The next daemon looks at what the epoch left once more, and takes it for nothing new.
        node.kill_daemon();
        node.up();
        assert_eq!(node.get("slow").status.waiting_messages, 1, "{rule}");
        std::fs::write(&go, "").unwrap();
        if node.get("slow").status.phase == Phase::Quarantined {
            assert!(!node.has_cgroups());
            node.change::<edgeplane_wire::catalogue::AgentRelease>("slow").unwrap();
        }
        start(&node, "slow");
        eventually("it is delivered", || rungs(&node, id).last() == Some(&"injected"));
        eventually("it is read", || read(&log).contains("<long>"));
        assert!(read(&log).contains("on signal, perhaps again]"), "{rule}");
        assert!(read(&log).contains(r#""redelivered":true"#), "{rule}");
        node.verify();
    }
}

/// Proves MSG-072.
#[test]
fn message_of_a_deleted_agent_is_listed_and_dropped_and_never_delivered() {
    let mut node = Node::start();
    node.apply(&terminal("gone", &["/bin/cat"], "run: stopped"));
    let sent: Vec<MessageId> = ["one", "two"].map(|text| node.signal("gone", text, None).message_id).to_vec();
    let agent = node.get("gone").metadata["id"].as_str().unwrap().to_owned();
    node.change::<AgentRetire>("gone").unwrap();
    // Another one of that name has nothing to do with it.
    node.apply(&terminal("gone", &["/bin/cat"], "run: stopped"));
    assert!(ids(&list(&node, Some("gone"), 100, 0)).is_empty());
    assert_eq!(ids(&list(&node, Some(&agent), 100, 0)), sent);
    assert_invalid(replay(&node, sent[0]), "`gone`");
    assert_invalid(replay(&node, sent[0]), "is deleted: nobody can take the message");
    assert_eq!(node.get("gone").status.waiting_messages, 0);
    drop_letter(&node, sent[0]).unwrap();
    assert_invalid(drop_letter(&node, sent[0]), "is dropped");
    node.kill_daemon();
    node.up();
    assert_eq!(dead(&node), sent[1..]);
    node.verify();
}

/// Messages that are sent before their answers are read.
const AT_A_TIME: usize = 50;

/// Sends an agent very many messages.
fn fill(node: &Node, name: &str, count: usize) {
    let mut connection = node.connect();
    let params = json!({ "agent": name, "parts": [{ "type": "text", "text": "never read" }] });
    // Some at a time: a side that only writes waits for one that only writes.
    for _ in 0..count / AT_A_TIME {
        for _ in 0..AT_A_TIME {
            let line = rpc::request(&rpc::Id::Number(1), "runtime/agent.signal", params.clone());
            connection.send(&line).unwrap();
        }
        for _ in 0..AT_A_TIME {
            assert!(matches!(connection.read().unwrap(), rpc::Incoming::Response { outcome: Ok(_), .. }));
        }
    }
}

/// Every message of a deleted agent is given up once, the first of them with the deletion.
#[track_caller]
fn assert_given_up(node: &Node, agent: &str, count: usize) {
    let types = ["agent.retired", "message.dead_lettered"];
    let stream = format!("agent/{agent}");
    let ends = || -> Vec<_> {
        node.events("", &types).into_iter().filter(|end| end.event["stream"] == stream).collect()
    };
    eventually("all are given up", || ends().len() > count);
    let ends = ends();
    assert_eq!(ends[0].event["type"], "agent.retired");
    assert_eq!(ends[256].pos - ends[0].pos, 256, "the first of them in one commit with the deletion");
    let ids: BTreeSet<_> =
        ends[1..].iter().map(|end| end.event["payload"]["message_id"].to_string()).collect();
    assert_eq!((ids.len(), ends.len()), (count, count + 1), "each once");
}

/// Proves MSG-019.
#[test]
fn very_many_messages_are_given_up_in_steps_also_by_the_next_daemon() {
    let mut node = Node::start();
    for (count, is_killed) in [(600, false), (1_500, true)] {
        node.apply(&terminal("gone", &["/bin/cat"], "run: stopped"));
        let agent = node.get("gone").metadata["id"].as_str().unwrap().to_owned();
        fill(&node, "gone", count);
        node.change::<AgentRetire>("gone").unwrap();
        if is_killed {
            // As soon as it is said to be deleted; whatever was not given up with it is left to the next daemon.
            node.kill_daemon();
            node.up();
        }
        assert_given_up(&node, &agent, count);
    }
    node.verify();
}

/// Proves MSG-072.
#[test]
fn dropped_message_is_gone_for_good() {
    let node = Node::start();
    keeper(&node, "late", "inbox: { max: 1 }");
    let id = send_for(&node, "late", "one", 20);
    eventually("its time is over", || dead(&node) == [id]);
    // There is no room to replay it while another waits.
    node.signal("late", "two", None);
    let full = replay(&node, id).unwrap_err();
    assert_eq!((full.name(), dead(&node).as_slice()), (ErrorName::Backpressure, [id].as_slice()));
    drop_letter(&node, id).unwrap();
    assert!(dead(&node).is_empty());
    assert_invalid(replay(&node, id), "is dropped");
    assert_eq!(rungs(&node, id), ["accepted", "expired"]);
    let dropped = node.events("late", &["message.dropped"]);
    assert_eq!(dropped[0].event["payload"]["reason"], "not wanted");
    assert_eq!(dropped[0].event["actor"]["kind"], "operator");
    let unknown = drop_letter(&node, "msg_01890000-0000-7000-8000-000000000009".parse().unwrap());
    assert_eq!(unknown.unwrap_err().name(), ErrorName::NotFound);
    node.verify();
}
