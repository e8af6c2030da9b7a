//! What becomes of messages that wait: their time runs out, or a crash leaves unknown whether they were written.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::{Path, PathBuf};

use edgeplane_os::{Clock as _, Signal, SystemClock};
use edgeplane_testkit::{Node, native, signals, terminal, wait::eventually};
use edgeplane_types::Phase;
use edgeplane_wire::catalogue::AgentStop;

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
