//! The example fleet, as its page tells it: a morning by the clock, a hand-off, and who hears whom.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use edgeplane_testkit::{
    Binaries, Node, NodeOptions,
    peers::{answer, ask},
    wait::eventually,
};
use edgeplane_types::Phase;
use edgeplane_wire::{api::schedule::ScheduleParams, catalogue::ScheduleRun};

const ROLES: [&str; 4] = ["desk", "research", "publisher", "engineer"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet").canonicalize().unwrap()
}

/// A node that finds the programs of this build, as an installed one finds its own.
fn node() -> Node {
    Node::start_with(NodeOptions { env: vec![("PATH".to_owned(), path())], ..NodeOptions::default() })
}

fn path() -> String {
    let built = Binaries::built().cli.parent().unwrap().to_owned();
    format!("{}:/usr/local/bin:/usr/bin:/bin", built.display())
}

fn up(node: &Node, more: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    command.arg(folder().join("up.sh")).current_dir(node.scratch()).env("PATH", path());
    command.env_remove("EDGEPLANE_SOCKET").env("EDGEPLANE_STATE_DIR", node.state_dir());
    command.env("EDGEPLANE_RUNTIME_DIR", node.runtime_dir()).envs(more.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn transcript(node: &Node, name: &str) -> String {
    String::from_utf8(node.cli(&["transcript", name]).output().unwrap().stdout).unwrap()
}

fn said(node: &Node, name: &str, words: &str) -> String {
    answer(&ask(node, name, words)).text.clone()
}

/// Proves DRV-055.
#[test]
fn fleet_works_together_with_the_reference_agent() {
    let node = node();
    up(&node, &[]);
    for role in ROLES {
        node.wait(role, Phase::Running);
    }
    // A hand-off arrives as a peer's, with the header that says so.
    let told = said(&node, "research", "/ask publisher /remember draft The crane is out of order.");
    assert!(told.contains("Remembered draft"), "{told}");
    let publisher = transcript(&node, "publisher");
    assert!(
        publisher.contains("[PEER MESSAGE from research on ") && publisher.contains("The crane"),
        "{publisher}"
    );
    assert!(said(&node, "publisher", "/recall draft").contains("The crane is out of order."));

    // The morning, now.
    assert!(said(&node, "research", "/remember harbour It opens at six.").contains("Remembered harbour"));
    let params = ScheduleParams { agent: "desk".into(), name: "morning".parse().unwrap() };
    node.connect().call::<ScheduleRun>(&params);
    eventually("the morning's briefing is there", || transcript(&node, "desk").contains("It opens at six."));
    let morning = transcript(&node, "desk");
    assert!(
        morning.contains("[SCHEDULER MESSAGE from ") && morning.contains("Run /ask research /briefing"),
        "{morning}"
    );

    // The publisher does not hear the desk.
    let refused = said(&node, "desk", "/ask publisher /recall draft");
    assert!(refused.contains("publisher-hears"), "{refused}");
    assert!(!transcript(&node, "publisher").contains("from desk "));
}

/// Proves DRV-055.
#[test]
fn any_template_runs_as_the_same_roles() {
    let node = node();
    let output = up(&node, &[("FLEET_AGENT", "python")]);
    let listed = String::from_utf8(output.stdout).unwrap();
    for role in ROLES {
        node.wait(role, Phase::Running);
        assert!(listed.contains(role), "{listed}");
    }
    assert!(said(&node, "research", "good day").ends_with("(trusted) said: good day"));
    let list = node.cli(&["schedule", "list"]).output().unwrap();
    assert!(String::from_utf8(list.stdout).unwrap().contains("morning"));
    for agent in ["claude-code", "codex", "gemini", "opencode", "qwen", "goose", "aider", "shell", "crewai"] {
        let out = node.scratch().join(agent);
        let folder = out.to_string_lossy();
        up(&node, &[("FLEET_AGENT", agent), ("FLEET_OUT", &folder), ("FLEET_APPLY", "no")]);
        assert!(std::fs::read_dir(&out).unwrap().count() >= 4, "{agent}");
    }
}
