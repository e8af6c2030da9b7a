//! What becomes of messages that wait: their time runs out, or a crash leaves unknown whether they were written.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::{Path, PathBuf};

use edgeplane_os::{Clock as _, Signal, SystemClock};
use edgeplane_testkit::{Node, native, signals, terminal, wait::eventually};
use edgeplane_types::Phase;
use edgeplane_wire::catalogue::{AgentRetire, AgentStop};

/// Longer than a pipe: a shim whose program does not read has begun to write it, and cannot end.
const LONG_BYTES: usize = 100 << 10;

/// Sends a text that is worth delivering for so long; gives the message's id.
fn send_for(node: &Node, name: &str, text: &str, expires_in_ms: u64) -> String {
    let params = serde_json::json!({
        "agent": name, "parts": [{ "type": "text", "text": text }], "expires_in_ms": expires_in_ms
    });
    let sent = node.connect().try_raw("runtime/agent.signal", params).unwrap();
    sent["message_id"].as_str().unwrap().to_owned()
}

/// The rungs of an agent's messages, in the order of their acceptance.
fn rungs(node: &Node, name: &str) -> Vec<Vec<&'static str>> {
    let inbox = node.inbox(name);
    inbox
        .iter()
        .map(|message| message.receipts.iter().map(|receipt| receipt.rung.as_str()).collect())
        .collect()
}

fn recording_of(node: &Node, name: &str) -> PathBuf {
    let id = node.get(name).metadata["id"].as_str().unwrap().to_owned();
    node.state_dir().join("agents").join(id).join("1/000001.cast")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Proves MSG-017.
#[test]
fn message_expires_at_its_time_wherever_its_agent_is() {
    let mut node = Node::start();
    node.apply(&terminal("never", &["/bin/cat"], "run: stopped"));
    node.run("ended", &terminal("ended", &["/bin/cat"], ""));
    node.change::<AgentStop>("ended").unwrap();
    node.wait("ended", Phase::Stopped);
    for name in ["never", "ended"] {
        send_for(&node, name, "soon", 200);
        send_for(&node, name, "much later", 3_600_000);
        eventually("its time is over", || {
            rungs(&node, name) == [vec!["accepted", "expired"], vec!["accepted"]]
        });
        assert_eq!(node.get(name).status.waiting_messages, 1);
    }
    // One whose time runs out under the next daemon, and one whose time is over before there is one.
    send_for(&node, "ended", "without a daemon", 50);
    send_for(&node, "ended", "under the next", 1_500);
    let over = SystemClock.now().plus_millis(50);
    node.kill_daemon();
    eventually("the time of one is over", || SystemClock.now() > over);
    node.up();
    eventually("both are settled", || {
        rungs(&node, "ended").iter().filter(|rungs| rungs.last() == Some(&"expired")).count() == 3
    });
    assert_eq!(node.get("ended").status.phase, Phase::Stopped);
    node.verify();
}

/// Proves MSG-017.
#[test]
fn message_that_a_shim_wrote_is_injected_though_its_time_is_over() {
    let mut node = Node::start();
    let log = node.scratch().join("log");
    node.run("slow", &native("slow", &["/bin/sh", "-c", &format!("exec cat >> {}", log.display())], ""));
    eventually("it is greeted", || read(&log).contains("agent/session.start"));
    let (pid, recording) = (node.pid("slow"), recording_of(&node, "slow"));
    signals::send(pid, Signal::STOP);
    let id = send_for(&node, "slow", &"x".repeat(LONG_BYTES), 1_500);
    let over = SystemClock.now().plus_millis(1_500);
    send_for(&node, "slow", "behind it", 1_000);
    eventually("the shim has begun to write it", || read(&recording).contains(&id));
    node.kill_daemon();
    eventually("the times are over", || SystemClock.now() > over);
    node.up();
    eventually("what was not written is over", || rungs(&node, "slow")[1] == ["accepted", "expired"]);
    assert_eq!(rungs(&node, "slow")[0], ["accepted"], "what is being written is not settled yet");
    signals::send(pid, Signal::CONT);
    eventually("the other was written", || rungs(&node, "slow")[0] == ["accepted", "injected"]);
    assert!(!read(&log).contains("behind it"));
    node.verify();
}

/// A program that reads nothing before there is a file `go`, and then keeps all that it reads in `log`.
fn reluctant(node: &Node, name: &str, rule: &str) -> PathBuf {
    let folder = node.scratch().join(name);
    std::fs::create_dir(&folder).unwrap();
    let program = format!("cd {}; until [ -e go ]; do sleep 0.01; done; exec cat >> log", folder.display());
    let more = format!(
        "delivery: {{ ambiguous: {rule} }}\nrestart: {{ policy: always, backoff: {{ initial: 10ms }} }}"
    );
    node.run(name, &native(name, &["/bin/sh", "-c", &program], &more));
    folder
}

/// Whether a daemon sees the end of the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    AtOnce,
    ByTheNextDaemon,
}

/// Ends the running epoch while its shim writes a message, and waits for the next one.
fn cut_short(node: &mut Node, name: &str, id: &str, seen: Seen) {
    node.wait(name, Phase::Running);
    let agent = node.get(name);
    let epoch = agent.status.epoch.0;
    let agent_id = agent.metadata["id"].as_str().unwrap().to_owned();
    let recording = node.state_dir().join("agents").join(agent_id).join(format!("{epoch}/000001.cast"));
    eventually("the shim has begun to write it", || read(&recording).contains(id));
    let pids = [node.shim_pid(name), node.pid(name)];
    if seen == Seen::ByTheNextDaemon {
        node.kill_daemon();
    }
    signals::kill(&pids);
    if seen == Seen::ByTheNextDaemon {
        node.up();
    }
    eventually("the next epoch has come", || node.get(name).status.epoch.0 > epoch);
    node.wait(name, Phase::Running);
}

/// What the program has read once it has read a message that came after all others.
fn read_by(node: &Node, name: &str, folder: &Path) -> String {
    std::fs::write(folder.join("go"), "").unwrap();
    node.signal(name, "<after>", Some(edgeplane_types::Rung::Injected));
    eventually("it read the last one", || read(&folder.join("log")).contains("<after>"));
    read(&folder.join("log"))
}

/// Proves MSG-018.
#[test]
fn message_of_an_unknown_end_is_settled_by_the_rule_of_its_agent() {
    let mut node = Node::start();
    let long = format!("<long>{}", "x".repeat(LONG_BYTES));
    let rules: [(&str, &[&str], usize); 3] = [
        ("hold", &["accepted", "ambiguous"], 0),
        ("drop", &["accepted", "ambiguous", "dead_lettered"], 0),
        ("redeliver", &["accepted", "ambiguous", "injected"], 1),
    ];
    for (rule, expected, times) in rules {
        for seen in [Seen::AtOnce, Seen::ByTheNextDaemon] {
            let name = format!("{rule}-{}", if seen == Seen::AtOnce { "seen" } else { "unseen" });
            let folder = reluctant(&node, &name, rule);
            let id = node.signal(&name, &long, None).message_id.to_string();
            cut_short(&mut node, &name, &id, seen);
            let log = read_by(&node, &name, &folder);
            assert_eq!(rungs(&node, &name)[0], expected, "{name}");
            // A delivered message stands in its line twice, once as text and once as a part.
            assert_eq!(log.matches("<long>").count(), 2 * times, "{name}");
            assert_eq!(log.matches("on signal, perhaps again]").count(), times, "{name}");
            assert_eq!(log.matches(r#""redelivered":true"#).count(), times, "{name}");
            assert_eq!(node.get(&name).status.waiting_messages, 0, "{name}");
        }
    }
    node.verify();
}

/// Proves MSG-018.
#[test]
fn message_whose_second_attempt_is_cut_short_too_is_not_tried_again() {
    let mut node = Node::start();
    let folder = reluctant(&node, "twice", "redeliver");
    let id = node.signal("twice", &"x".repeat(LONG_BYTES), None).message_id.to_string();
    cut_short(&mut node, "twice", &id, Seen::AtOnce);
    cut_short(&mut node, "twice", &id, Seen::ByTheNextDaemon);
    let log = read_by(&node, "twice", &folder);
    assert_eq!(rungs(&node, "twice")[0], ["accepted", "ambiguous", "ambiguous"]);
    assert!(!log.contains("xxx"), "it came a third time");
    assert_eq!(node.count("twice", "message.requeued"), 1);
    node.verify();
}

/// Proves MSG-019.
#[test]
fn what_waits_for_a_deleted_agent_is_given_up() {
    let mut node = Node::start();
    node.apply(&terminal("gone", &["/bin/cat"], "run: stopped"));
    let waiting: Vec<String> =
        (0..3).map(|number| node.signal("gone", &format!("{number}"), None).message_id.to_string()).collect();
    node.change::<AgentRetire>("gone").unwrap();
    let given_up = |node: &Node| -> Vec<String> {
        let events = node.events("", &["message.dead_lettered"]);
        events.iter().map(|event| event.event["payload"]["message_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(given_up(&node), waiting);
    node.kill_daemon();
    node.up();
    assert_eq!(given_up(&node), waiting, "once, also under the next daemon");
    node.verify();
}
