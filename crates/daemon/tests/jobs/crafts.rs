//! What must be so of work that called tools and kept folders while daemons died.

use std::{collections::BTreeMap, path::PathBuf};

use edgeplane_testkit::{Node, mcp, wait::eventually};
use serde_json::{Value, json};

use crate::stage::{call, lines, try_call};

/// A connector whose tool appends to a file of the test's.
pub(crate) fn tools(node: &Node) {
    let program = node.program("server.py", mcp::SERVER).display().to_string();
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: tools}}
spec:
  transport:
    stdio: {{command: [python3, -u, {program}, plain]}}
  timeoutMs: 30000
  policy: {{default: deny, allow: [append]}}"
    ));
}

/// Where the tool appends.
pub(crate) fn appended(node: &Node) -> PathBuf {
    node.scratch().join("appended")
}

/// What one item left behind.
struct Crafted {
    words: String,
    agent: String,
    invocation: String,
    checkpoint: String,
}

fn crafted(node: &Node) -> Vec<Crafted> {
    let of = |line: String| {
        let mut parts = line.split(' ').map(str::to_owned);
        let mut next = || parts.next().unwrap();
        Crafted { words: next(), agent: next(), invocation: next(), checkpoint: next() }
    };
    lines(node, "crafted").into_iter().map(of).collect()
}

fn packs(node: &Node) -> usize {
    let packs = std::fs::read_dir(node.state_dir().join("checkpoints/packs")).unwrap();
    packs.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".pack")).count()
}

fn folder_of(node: &Node, agent: &str) -> PathBuf {
    let shown = call(node, "workspace/list", json!({ "agent": agent }));
    shown["workspaces"][0]["folder"].as_str().unwrap().into()
}

/// Every call of a tool and every kept folder is there, whole, and nothing else is.
pub(crate) fn check(node: &mut Node, items: usize) {
    let all = crafted(node);
    assert_eq!(all.len(), items, "each was crafted once");
    let mut made: BTreeMap<String, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(appended(node)).unwrap().lines() {
        *made.entry(line.to_owned()).or_default() += 1;
    }
    let agents: std::collections::BTreeSet<_> = all.iter().map(|one| one.agent.clone()).collect();
    let (mut begun, mut ended) = (0, BTreeMap::new());
    for agent in &agents {
        begun += node.count(agent, "invocation.begun");
        for fact in node.facts(agent, "invocation.ended") {
            *ended.entry(fact["state"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
    }
    assert_eq!(ended.values().sum::<usize>(), begun, "each call that was begun has ended: {ended:?}");
    for one in &all {
        let shown = call(node, "capability/invocation.get", json!({ "invocation_id": one.invocation }));
        assert_eq!((&shown["status"], &shown["input"]["text"]), (&json!("succeeded"), &json!(one.words)));
        assert!(made.get(&one.words).is_some_and(|count| *count >= 1), "{}", one.words);
    }
    // What was called again was called again because nobody could know whether it had been.
    let spare = made.values().sum::<usize>() - items;
    let heard = lines(node, "again").iter().filter(|line| is_in_doubt(line)).count();
    let in_doubt = heard + ended.get("outcome_unknown").copied().unwrap_or(0);
    assert!(spare <= in_doubt, "{spare} of {in_doubt}: {ended:?} {:?}", lines(node, "again"));
    kept(node, &all, &agents);
}

/// Whether a worker was told that nobody knows what became of its call of the tool.
fn is_in_doubt(line: &str) -> bool {
    let told: Value = serde_json::from_str(line).unwrap();
    let is_tool = told["key"].as_str().unwrap().starts_with("tool");
    is_tool && told["said"]["error"]["data"]["effect"] == "unknown"
}

/// Each kept folder can be brought back; when none is kept any more nothing is left of them.
fn kept(node: &mut Node, all: &[Crafted], agents: &std::collections::BTreeSet<String>) {
    for agent in agents {
        node.stop(agent);
        let folder = folder_of(node, agent);
        for one in all.iter().filter(|one| one.agent == *agent) {
            call(node, "workspace/checkpoint.restore", json!({ "checkpoint_id": one.checkpoint }));
            let text = std::fs::read_to_string(folder.join(format!("work-{}", one.words))).unwrap();
            assert_eq!(text, one.words, "as it was kept");
        }
    }
    assert!(packs(node) > 0);
    let listed = |node: &Node| -> Vec<Value> {
        let list = call(node, "workspace/checkpoint.list", json!({ "limit": 500 }));
        list["checkpoints"].as_array().unwrap().clone()
    };
    loop {
        let found = listed(node);
        if found.is_empty() {
            break;
        }
        for view in found {
            let id = json!({ "checkpoint_id": view["checkpoint_id"] });
            try_call(node, "workspace/checkpoint.delete", id).unwrap();
        }
    }
    eventually("nothing is left of what is not kept", || packs(node) == 0);
}
