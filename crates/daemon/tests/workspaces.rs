//! Workspaces end to end: kept, compared and brought back over dying daemons, under agents that work, by those who may.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, peers::speak_as, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

/// A program that counts in its own folder.
const COUNTER: &str = "n=0; while :; do n=$((n+1)); echo $n > count; done";

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn made(node: &Node, method: &str, params: Value) -> Value {
    ask(node, method, params).unwrap()
}

fn refused(node: &Node, method: &str, params: Value) -> ErrorName {
    ask(node, method, params).unwrap_err().name()
}

fn folder(node: &Node) -> PathBuf {
    let folder = node.scratch().join("folder");
    fs::create_dir_all(folder.join("inner")).unwrap();
    fs::write(folder.join("a"), "one").unwrap();
    fs::write(folder.join("inner/b"), "one").unwrap();
    folder
}

fn workspace(node: &Node, folder: &Path) -> Value {
    made(node, "workspace/create", json!({ "folder": folder.to_str().unwrap() }))["workspace_id"].clone()
}

fn keep(node: &Node, workspace: &Value) -> Value {
    made(node, "workspace/checkpoint.create", json!({ "workspace_id": workspace }))
}

fn named(checkpoint: &Value) -> Value {
    json!({ "checkpoint_id": checkpoint["checkpoint_id"] })
}

fn states(node: &Node) -> Vec<String> {
    let list = made(node, "workspace/checkpoint.list", json!({ "all": true }));
    let states = list["checkpoints"].as_array().unwrap().iter();
    states.map(|view| view["state"].as_str().unwrap().to_owned()).collect()
}

fn packs(node: &Node) -> usize {
    let packs = fs::read_dir(node.state_dir().join("checkpoints/packs")).unwrap();
    packs.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".pack")).count()
}

fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(point), "1").unwrap();
}

/// Proves WSP-012, WSP-013.
#[test]
fn a_folder_is_brought_back_over_the_daemons_death() {
    let mut node = Node::start();
    let folder = folder(&node);
    let id = workspace(&node, &folder);
    assert_eq!(workspace(&node, &folder), id, "a folder has one");
    let first = keep(&node, &id);
    assert_eq!((&first["state"], &first["counts"]["files"]), (&json!("created"), &json!(2)));
    node.kill_daemon();
    node.up();
    fs::write(folder.join("a"), "two").unwrap();
    fs::remove_file(folder.join("inner/b")).unwrap();
    fs::write(folder.join("new"), "two").unwrap();
    let second = keep(&node, &id);
    let diff = json!({ "before_id": first["checkpoint_id"], "after_id": second["checkpoint_id"] });
    let diff = made(&node, "workspace/checkpoint.diff", diff);
    let changes = diff["changes"].as_array().unwrap().iter();
    let changes: Vec<_> = changes.map(|change| (&change["path"], &change["change"])).collect();
    assert_eq!(json!(changes), json!([["a", "content"], ["inner/b", "removed"], ["new", "added"]]));
    let back = made(&node, "workspace/checkpoint.restore", named(&first));
    assert_eq!((&back["counts"]["written"], &back["counts"]["removed"]), (&json!(2), &json!(1)));
    assert_eq!(back["before"]["digest"], second["digest"]);
    assert_eq!(fs::read_to_string(folder.join("inner/b")).unwrap(), "one");
    assert!(!folder.join("new").exists());
    made(&node, "workspace/checkpoint.restore", named(&back["before"]));
    assert_eq!(fs::read_to_string(folder.join("new")).unwrap(), "two");
    let again = keep(&node, &id);
    assert_eq!((&again["digest"], &again["bytes_new"]), (&second["digest"], &json!(0)));
    node.verify();
}

/// At each point at which a daemon may die.
///
/// Proves WSP-012, WSP-013.
#[test]
fn what_a_daemon_left_in_the_middle_is_said_to_be_lost() {
    let mut node = Node::start();
    let folder = folder(&node);
    let id = workspace(&node, &folder);
    let kept = keep(&node, &id);
    let before = packs(&node);
    for point in ["checkpoint.started", "checkpoint.kept", "restore.keeping", "restore.started"] {
        fs::write(folder.join("a"), point).unwrap();
        arm(&node, point);
        let (method, params) = match point.split_once('.') {
            Some(("checkpoint", _)) => ("workspace/checkpoint.create", json!({ "workspace_id": id })),
            _ => ("workspace/checkpoint.restore", named(&kept)),
        };
        assert!(ask(&node, method, params).is_err(), "{point}");
        eventually("the daemon has died", || node.has_ended());
        node.up();
        let expected = if point == "restore.started" { "created" } else { "lost" };
        assert_eq!(states(&node)[0], expected, "{point}");
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), point, "nothing was touched");
        let shown = made(&node, "workspace/get", json!({ "workspace_id": id }));
        assert_eq!(shown["restoring"], Value::Null, "{point}");
    }
    // What was there before the restore that was cut off is kept; of the others nothing is.
    eventually("it is collected", || packs(&node) == before + 1);
    made(&node, "workspace/checkpoint.restore", named(&kept));
    assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "one");
    node.verify();
}

/// Proves WSP-017.
#[test]
fn one_thing_is_done_with_a_workspace_at_a_time() {
    let node = Node::start();
    let id = workspace(&node, &folder(&node));
    let kept = keep(&node, &id);
    // Whoever collects is alone, so that the next checkpoint waits.
    let lock = fs::File::open(node.state_dir().join("checkpoints/lock")).unwrap();
    lock.lock().unwrap();
    let mut connection = node.connect();
    let params = json!({ "workspace_id": id });
    let waiting = std::thread::spawn(move || connection.try_raw("workspace/checkpoint.create", params));
    eventually("it is begun", || states(&node)[0] == "started");
    for (method, params) in [
        ("workspace/checkpoint.create", json!({ "workspace_id": id })),
        ("workspace/checkpoint.restore", named(&kept)),
        ("workspace/checkpoint.delete", named(&kept)),
        ("workspace/delete", json!({ "workspace_id": id })),
        ("workspace/file.write", json!({ "workspace_id": id, "path": "a", "content": "x" })),
        ("workspace/file.move", json!({ "workspace_id": id, "path": "a", "to": "c" })),
        ("workspace/file.delete", json!({ "workspace_id": id, "path": "a" })),
    ] {
        assert_eq!(refused(&node, method, params), ErrorName::Locked, "{method}");
    }
    drop(lock);
    waiting.join().unwrap().unwrap();
    made(&node, "workspace/delete", json!({ "workspace_id": id }));
    assert_eq!(states(&node), ["deleted", "deleted"]);
    eventually("it is collected", || packs(&node) == 0);
    node.verify();
}

/// Proves WSP-014, WSP-015.
#[test]
fn an_agent_stands_still_while_its_folder_is_kept_and_is_not_restored_under() {
    let mut node = Node::start();
    node.run("counter", &terminal("counter", &["/bin/sh", "-c", COUNTER], ""));
    let own = json!({ "agent": "counter" });
    let shown = made(&node, "workspace/create", own.clone());
    assert_eq!(shown["agent"], "counter");
    let file = Path::new(shown["folder"].as_str().unwrap()).join("count");
    let count = || fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<u64>().ok());
    let goes_on = |what: &str| {
        let before = count();
        eventually(what, || count() > before.or(Some(0)));
    };
    goes_on("it counts");
    let kept = made(&node, "workspace/checkpoint.create", own.clone());
    assert_eq!(kept["frozen"], json!(node.has_cgroups()));
    goes_on("it counts again");
    assert_eq!(refused(&node, "workspace/checkpoint.restore", named(&kept)), ErrorName::InvalidState);
    if node.has_cgroups() {
        // The daemon dies while the agent stands still.
        arm(&node, "checkpoint.frozen");
        assert!(ask(&node, "workspace/checkpoint.create", own).is_err());
        eventually("the daemon has died", || node.has_ended());
        node.up();
        node.wait("counter", Phase::Running);
        assert_eq!(states(&node)[0], "lost");
        goes_on("it counts under another daemon");
    } else {
        eprintln!("SKIPPED: standing still: this machine has no writable cgroup");
    }
    let forced = json!({ "checkpoint_id": kept["checkpoint_id"], "force": true });
    made(&node, "workspace/checkpoint.restore", forced);
    node.stop("counter");
    made(&node, "workspace/checkpoint.restore", named(&kept));
    node.verify();
}

/// Proves WSP-016.
#[test]
fn an_agent_has_its_own_workspace_only() {
    let node = Node::start();
    for name in ["one", "two"] {
        node.run(name, &terminal(name, &["/bin/cat"], ""));
    }
    let other = made(&node, "workspace/checkpoint.create", json!({ "agent": "two" }));
    let mut agent = speak_as(&node, "one");
    let own = agent.try_raw("workspace/checkpoint.create", json!({ "agent": "one" })).unwrap();
    agent.try_raw("workspace/checkpoint.get", named(&own)).unwrap();
    let listed = agent.try_raw("workspace/list", json!({})).unwrap();
    assert_eq!(listed["workspaces"].as_array().unwrap().len(), 1);
    let listed = agent.try_raw("workspace/checkpoint.list", json!({})).unwrap();
    assert_eq!(listed["checkpoints"].as_array().unwrap().len(), 1);
    let both = json!({ "before_id": own["checkpoint_id"], "after_id": other["checkpoint_id"] });
    for (method, params, name) in [
        ("workspace/checkpoint.create", json!({ "agent": "two" }), ErrorName::NotFound),
        (
            "workspace/checkpoint.create",
            json!({ "workspace_id": other["workspace_id"] }),
            ErrorName::NotFound,
        ),
        ("workspace/checkpoint.get", named(&other), ErrorName::NotFound),
        ("workspace/checkpoint.restore", named(&other), ErrorName::NotFound),
        ("workspace/checkpoint.delete", named(&other), ErrorName::NotFound),
        ("workspace/checkpoint.diff", both, ErrorName::NotFound),
        ("workspace/create", json!({ "folder": "/etc" }), ErrorName::PermissionDenied),
        ("workspace/delete", json!({ "workspace_id": own["workspace_id"] }), ErrorName::PermissionDenied),
        (
            "core/health",
            json!({ "ctx": { "selectors": { "workspace_id": other["workspace_id"] } } }),
            ErrorName::NotFound,
        ),
    ] {
        assert_eq!(agent.try_raw(method, params).unwrap_err().name(), name, "{method}");
    }
    for folder in [node.state_dir(), node.state_dir().join("record"), PathBuf::from("/")] {
        let params = json!({ "folder": folder.to_str().unwrap() });
        assert_eq!(refused(&node, "workspace/create", params), ErrorName::InvalidParams, "{folder:?}");
    }
    let own = json!({ "ctx": { "selectors": { "workspace_id": own["workspace_id"] } } });
    agent.try_raw("core/health", own).unwrap();
    node.verify();
}

/// Proves WSP-018.
#[test]
fn prune_shows_what_it_ends_before_it_does() {
    let node = Node::start();
    let id = workspace(&node, &folder(&node));
    let kept: Vec<_> = (0..3).map(|_| keep(&node, &id)).collect();
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let id = id.as_str().unwrap();
    let shown = run(&["checkpoint", "prune", id, "--keep", "1"]);
    for view in &kept[..2] {
        assert!(shown.contains(view["checkpoint_id"].as_str().unwrap()), "{shown}");
    }
    assert!(!shown.contains(kept[2]["checkpoint_id"].as_str().unwrap()), "{shown}");
    assert_eq!(states(&node), ["created", "created", "created"]);
    run(&["checkpoint", "prune", id, "--keep", "1", "--yes"]);
    assert_eq!(states(&node), ["created", "deleted", "deleted"]);
    let listed = run(&["checkpoint", "list"]);
    assert!(listed.contains(kept[2]["checkpoint_id"].as_str().unwrap()), "{listed}");
    node.verify();
}
