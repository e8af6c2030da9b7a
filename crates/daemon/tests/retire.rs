//! Retiring: what an agent owns is said, and exactly that is removed, whoever dies meanwhile.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, path::PathBuf};

use edgeplane_testkit::{Node, task_worker, wait::eventually};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{
    api::{
        agent::{AgentParams, RetireParams, RetirementPlan},
        memory::PutParams,
        message::DeadLettersParams,
    },
    catalogue::{self, DeadLetterList, MemoryPut, RetirementPerform},
};

const SCHEDULE: &str = "schedules: [{ name: daily, cron: \"0 9 * * *\", content: x }]";

/// An agent that owns something of each kind; gives its folder and that of its user.
fn rich(node: &Node) -> (PathBuf, PathBuf) {
    let (log, cwd) = (node.scratch().join("log"), node.scratch().join("theirs"));
    fs::create_dir_all(&cwd).unwrap();
    fs::write(cwd.join("precious"), "keep me").unwrap();
    let more = format!("cwd: {}\nsubscriptions: [builds]\n{SCHEDULE}", cwd.display());
    node.run("rich", &task_worker("rich", &log, &[], &more));
    node.signal("rich", "do it", None);
    eventually("it is done", || node.count("rich", "message.turn_ended") == 1);
    let put = PutParams {
        agent: Some("rich".into()),
        key: "k".into(),
        value: 1.into(),
        if_version: None,
        ttl_ms: None,
    };
    node.connect().call::<MemoryPut>(&put);
    node.stop("rich");
    node.signal("rich", "do not", None);
    let id = node.get("rich").status.identities.audit.agent_id;
    (node.state_dir().join("agents").join(id.to_string()), cwd)
}

fn plan(node: &Node, name: &str) -> RetirementPlan {
    node.connect().call::<catalogue::RetirementPlan>(&AgentParams { agent: name.into() })
}

fn kinds(plan: &RetirementPlan) -> Vec<&str> {
    plan.removes.iter().map(|belonging| belonging.kind.as_str()).collect()
}

fn perform(node: &Node, plan: &RetirementPlan) -> Result<(), ErrorName> {
    let params = RetireParams { agent: plan.name.clone(), reason: None, plan: plan.digest.clone() };
    node.connect().try_call::<RetirementPerform>(&params).map(drop).map_err(|error| error.name())
}

/// All that it owned is gone, what is its user's is not, and the record tells both.
fn assert_gone(node: &Node, id: &str, (folder, cwd): &(PathBuf, PathBuf)) {
    eventually("all is removed", || node.count(id, "agent.removed") == 1);
    assert!(!folder.exists(), "{} is there", folder.display());
    assert_eq!(fs::read_to_string(cwd.join("precious")).unwrap(), "keep me");
    assert_eq!(node.count(id, "memory.deleted"), 1);
    let letters = DeadLettersParams { agent: Some(id.to_owned()), ..DeadLettersParams::default() };
    assert_eq!(node.connect().call::<DeadLetterList>(&letters).items.len(), 0);
    assert!(node.count(id, "message.accepted") == 2, "the history stays");
    for of in ["agents", "shims"] {
        let left = fs::read_dir(node.runtime_dir().join(of)).unwrap().flatten();
        let own: Vec<_> = left.filter(|file| file.file_name().to_string_lossy().starts_with(id)).collect();
        assert!(own.is_empty(), "{own:?}");
    }
    node.verify();
}

/// Proves LIFE-045, LIFE-046.
#[test]
fn what_is_said_is_removed_and_nothing_else() {
    let node = Node::start();
    let places = rich(&node);
    let said = plan(&node, "rich");
    assert_eq!(kinds(&said), ["recordings", "memory", "schedules", "messages", "topics"]);
    let stays: Vec<&str> = said.stays.iter().map(|belonging| belonging.kind.as_str()).collect();
    assert_eq!(stays, ["record", "workspace"]);
    assert_eq!(plan(&node, "rich").digest, said.digest, "the same as long as nothing changes");

    // What has changed since is not removed.
    node.signal("rich", "do neither", None);
    assert_eq!(perform(&node, &said), Err(ErrorName::Conflict));
    assert!(places.0.exists());
    assert_eq!(node.get("rich").status.phase, Phase::Stopped);
    let again = plan(&node, "rich");
    assert_ne!(again.digest, said.digest);
    let id = again.agent_id.to_string();
    perform(&node, &again).unwrap();
    eventually("all is removed", || node.count(&id, "agent.removed") == 1);
    assert!(!places.0.exists());
    assert_eq!(fs::read_to_string(places.1.join("precious")).unwrap(), "keep me");

    // The name is free, and nothing of the other is there.
    let log = node.scratch().join("log");
    node.run("rich", &task_worker("rich", &log, &[], ""));
    assert_eq!(node.memory("rich").items.len(), 0);
    assert_eq!(node.inbox("rich").len(), 0);
    node.verify();
}

/// Proves LIFE-046.
#[test]
fn removal_is_completed_whenever_the_daemon_dies() {
    let points = ["remove.memory", "remove.letters", "remove.recordings", "remove.files", "remove.done"];
    for point in points {
        let mut node = Node::start();
        let places = rich(&node);
        let said = plan(&node, "rich");
        let folder = node.state_dir().join(edgeplane_os::failpoint::FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(point), "1").unwrap();
        // It dies over the answer.
        let _cut_off = perform(&node, &said);
        eventually(&format!("the daemon dies at {point}"), || node.has_ended());
        node.up();
        assert_gone(&node, &said.agent_id.to_string(), &places);
    }
}

/// Proves LIFE-045.
#[test]
fn set_goes_with_all_its_replicas_own() {
    let node = Node::start();
    let log = node.scratch().join("log");
    node.apply(&task_worker("set", &log, &[], "state: stateless\nreplicas: 2"));
    eventually("both run", || node.get("set").status.replicas.unwrap().running == 2);
    node.stop("set-1");
    node.stop("set-2");
    let said = plan(&node, "set");
    let names: Vec<&str> = said.replicas.iter().map(|plan| plan.name.as_str()).collect();
    assert_eq!(names, ["set-1", "set-2"]);
    let ids: Vec<String> = said.replicas.iter().map(|plan| plan.agent_id.to_string()).collect();
    perform(&node, &said).unwrap();
    for id in ids.iter().chain([&said.agent_id.to_string()]) {
        eventually("all is removed", || node.count(id, "agent.removed") == 1);
        assert!(!node.state_dir().join("agents").join(id).exists());
    }
    node.verify();
}

/// Proves LIFE-045.
#[test]
fn command_says_what_it_removes_and_does_nothing_unasked() {
    let node = Node::start();
    let (folder, _) = rich(&node);
    let output = node.cli(&["agent", "retire", "rich", "--dry-run"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["recordings", "memory", "is removed", "workspace", "stays", "plan "] {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
    // Nobody is there to be asked.
    let output = node.cli(&["agent", "retire", "rich"]).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(folder.exists());
    let output = node.cli(&["agent", "retire", "rich", "--yes"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    eventually("its folder is gone", || !folder.exists());
}
