//! Hooks and probes: run at their time, recorded, and acted on.

use edgeplane_testkit::{Node, native, terminal, wait::eventually};
use edgeplane_types::Phase;

/// A native agent that answers nothing at all.
const MUTE: &[&str] = &["/bin/sh", "-c", "while read line; do :; done"];

/// A native agent that answers every request with an error, which shows that it listens.
const LISTENER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}
        print(json.dumps(answer), flush=True)
"#;

fn epochs(node: &Node, name: &str) -> u64 {
    node.get(name).status.epoch.0
}

/// Proves LIFE-024.
#[test]
fn hooks_run_at_their_moments_and_are_recorded() {
    let node = Node::start();
    let file = node.scratch().join("hooks");
    let hook =
        |word: &str| format!("{{ command: [\"/bin/sh\", \"-c\", \"echo {word} >> {}\"] }}", file.display());
    let more = format!(
        "hooks: {{ preStart: {}, postStart: {}, preStop: {} }}",
        hook("pre"),
        hook("post"),
        hook("stop")
    );
    node.run("hooked", &terminal("hooked", &["/bin/sh"], &more));
    eventually("the hook after the start ran", || node.count("hooked", "agent.hook_ran") == 2);
    node.stop("hooked");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "pre\npost\nstop\n");
}

/// Proves LIFE-024.
#[test]
fn failed_hook_before_the_start_prevents_it() {
    let node = Node::start();
    let more = "hooks: { preStart: { command: [\"/bin/false\"] } }\nrestart: { policy: never }";
    node.apply(&terminal("kept", &["/bin/sh"], more));
    node.wait("kept", Phase::Failed);
    let reason = node.get("kept").status.reason.unwrap();
    assert!(reason.contains("preStart"), "{reason}");
    assert_eq!(node.count("kept", "agent.started"), 0);
}

/// Proves LIFE-025.
#[test]
fn failing_probe_restarts_the_agent() {
    let node = Node::start();
    let sick = node.scratch().join("sick");
    let more = format!(
        "health: {{ exec: {{ command: [\"/usr/bin/test\", \"!\", \"-e\", \"{}\"], interval: 1s, failures: 1 }} }}",
        sick.display()
    );
    node.run("probed", &terminal("probed", &["/bin/sh"], &more));
    eventually("the probe succeeded", || node.get("probed").status.healthy == Some(true));
    std::fs::write(&sick, "").unwrap();
    eventually("the probe failed and the agent began anew", || epochs(&node, "probed") >= 2);
    std::fs::remove_file(&sick).unwrap();
    let history = node.history("probed");
    assert!(history.iter().any(|event| event.event["payload"]["cause"] == "probe"), "{history:#?}");
}

/// Proves LIFE-025.
#[test]
fn unanswered_ping_restarts_a_native_agent_and_an_answered_one_does_not() {
    let node = Node::start();
    let more = "health: { ping: { interval: 1s, timeout: 500ms, failures: 1 } }";
    node.run("mute", &native("mute", MUTE, more));
    node.run("listener", &native("listener", &["python3", "-c", LISTENER], more));
    eventually("the mute one began anew", || epochs(&node, "mute") >= 2);
    eventually("the listener is known to be well", || node.get("listener").status.healthy == Some(true));
    assert_eq!(epochs(&node, "listener"), 1);
}

/// Proves LIFE-025.
#[test]
fn turn_that_is_quiet_for_too_long_is_reported() {
    let node = Node::start();
    let more = "health: { quietFor: 1s, onFailure: report }";
    node.run("quiet", &native("quiet", MUTE, more));
    node.signal("quiet", "work", Some(edgeplane_types::Rung::Injected));
    eventually("it is reported", || node.get("quiet").status.healthy == Some(false));
    assert_eq!(epochs(&node, "quiet"), 1);
}
