//! Files of workspaces end to end: listed, read, searched and changed, by those who may, over dying daemons.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::{fs, path::PathBuf};

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, peers::speak_as, terminal, wait::eventually};
use edgeplane_types::{ErrorName, error::Effect};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

/// A folder that is known, and its workspace.
fn workspace(node: &Node) -> (PathBuf, Value) {
    let folder = node.scratch().join("folder");
    fs::create_dir_all(&folder).unwrap();
    let made = ask(node, "workspace/create", json!({ "folder": folder.to_str().unwrap() })).unwrap();
    (folder, made["workspace_id"].clone())
}

/// What is asked of a workspace, with more.
fn of(workspace: &Value, more: Value) -> Value {
    let mut params = more;
    params["workspace_id"] = workspace.clone();
    params
}

fn write(node: &Node, workspace: &Value, more: Value) -> Result<Value, RpcError> {
    ask(node, "workspace/file.write", of(workspace, more))
}

/// The facts of a workspace of this name.
fn facts(node: &Node, workspace: &Value, name: &str) -> Vec<Value> {
    let stream = format!("workspace/{}", workspace.as_str().unwrap());
    let all = ask(node, "stream/replay", json!({ "types": [name], "limit": 10_000 })).unwrap();
    let all = all["items"].as_array().unwrap().iter().map(|item| &item["event"]);
    all.filter(|event| event["stream"] == *stream).map(|event| event["payload"].clone()).collect()
}

/// Proves WSP-021, WSP-022, WSP-024.
#[test]
fn files_are_written_read_searched_moved_and_removed() {
    let node = Node::start();
    let (folder, id) = workspace(&node);
    let first = write(&node, &id, json!({ "path": "a/b", "content": "one\n", "folders": true })).unwrap();
    assert_eq!((&first["write_seq"], &first["before"]), (&json!(1), &json!("absent")));
    let read = |path: &str| ask(&node, "workspace/file.read", of(&id, json!({ "path": path }))).unwrap();
    let shown = read("a/b");
    assert_eq!((&shown["content"], &shown["encoding"]), (&json!("one\n"), &json!("utf8")));
    assert_eq!(shown["version"], first["version"]);
    // Two who have read the same: the second one hears of the first.
    let change = |content: &str, version: &Value| {
        write(&node, &id, json!({ "path": "a/b", "content": content, "if_version": version }))
    };
    let second = change("two\n", &shown["version"]).unwrap();
    let late = change("too late\n", &shown["version"]).unwrap_err();
    assert_eq!((late.name(), late.data.effect), (ErrorName::VersionConflict, Effect::None));
    assert_eq!(change("x", &json!("absent")).unwrap_err().name(), ErrorName::VersionConflict);
    assert_eq!(second["before"], first["version"]);
    let bytes = json!({ "path": "raw", "content": "/wD+", "encoding": "base64", "if_version": "absent" });
    write(&node, &id, bytes).unwrap();
    assert_eq!(fs::read(folder.join("raw")).unwrap(), b"\xff\x00\xfe");
    let raw = read("raw");
    assert_eq!((&raw["content"], &raw["encoding"]), (&json!("/wD+"), &json!("base64")));
    let found = ask(&node, "workspace/file.search", of(&id, json!({ "pattern": "two" }))).unwrap();
    assert_eq!(
        found["lines"],
        json!([{ "path": "a/b", "line": 1, "offset": 0, "text": "two", "cut": false }])
    );
    assert_eq!(found["binary"], 1);
    let moved = json!({ "path": "a/b", "to": "c", "if_version": second["version"] });
    ask(&node, "workspace/file.move", of(&id, moved)).unwrap();
    let removed = of(&id, json!({ "path": "c", "if_version": first["version"] }));
    let error = ask(&node, "workspace/file.delete", removed.clone()).unwrap_err();
    assert_eq!(error.name(), ErrorName::VersionConflict);
    let mut removed = removed;
    removed["if_version"] = second["version"].clone();
    let last = ask(&node, "workspace/file.delete", removed).unwrap();
    assert_eq!(last["write_seq"], 5, "what was refused has no number");
    let list = ask(&node, "workspace/file.list", of(&id, json!({ "recursive": true }))).unwrap();
    let paths: Vec<_> = list["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, ["a", "raw"]);
    // The record says of each who changed what, from what to what, before and after.
    let begun = facts(&node, &id, "file.change_begun");
    let ended = facts(&node, &id, "file.change_ended");
    let seqs =
        |facts: &[Value]| facts.iter().map(|fact| fact["write_seq"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((seqs(&begun), seqs(&ended)), (vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 5]));
    assert!(ended.iter().all(|fact| fact["outcome"] == "done"), "{ended:?}");
    assert_eq!((&begun[1]["before"], &begun[1]["after"]), (&first["version"], &second["version"]));
    assert_eq!(begun[3]["to"], "c");
    let kept = ask(&node, "workspace/checkpoint.create", json!({ "workspace_id": id })).unwrap();
    assert_eq!(kept["write_seq"], 5);
    node.verify();
}

/// Text is cut between letters only, and a list of parts makes the whole.
///
/// Proves WSP-024.
#[test]
fn what_is_not_told_is_said() {
    let node = Node::start();
    let (folder, id) = workspace(&node);
    let text = "\u{e4}\u{1f600}".repeat(1_000);
    fs::write(folder.join("text"), &text).unwrap();
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let params = json!({ "path": "text", "offset": offset, "limit": 100 });
        let part = ask(&node, "workspace/file.read", of(&id, params)).unwrap();
        assert_eq!((&part["encoding"], &part["bytes"]), (&json!("utf8"), &json!(6_000)));
        whole.push_str(part["content"].as_str().unwrap());
        let Some(next) = part["next_offset"].as_u64() else { break };
        assert!(next > offset);
        offset = next;
    }
    assert!(whole == text);
    let middle = json!({ "path": "text", "offset": 1, "encoding": "utf8" });
    let error = ask(&node, "workspace/file.read", of(&id, middle)).unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidState);
    for number in 0..7 {
        fs::write(folder.join(format!("f{number}")), "needle\n").unwrap();
    }
    for (method, more, field, expected) in [
        ("workspace/file.list", json!({ "limit": 3 }), "files", 8),
        ("workspace/file.search", json!({ "pattern": "needle", "limit": 3 }), "lines", 7),
    ] {
        let (mut count, mut params) = (0, of(&id, more));
        loop {
            let page = ask(&node, method, params.clone()).unwrap();
            let found = page[field].as_array().unwrap().len();
            assert!(found <= 3, "{method}");
            count += found;
            if page["next_cursor"].is_null() {
                break;
            }
            params["cursor"] = page["next_cursor"].clone();
        }
        assert_eq!(count, expected, "{method}");
    }
    node.verify();
}

/// At each point at which a daemon may die, before and after the change itself.
///
/// Proves WSP-021, WSP-023.
#[test]
fn what_became_of_a_change_is_told_by_the_next_daemon() {
    let mut node = Node::start();
    let (folder, id) = workspace(&node);
    let changes = [
        ("workspace/file.write", json!({ "path": "a", "content": "new" })),
        ("workspace/file.move", json!({ "path": "a", "to": "b" })),
        ("workspace/file.delete", json!({ "path": "a" })),
    ];
    let mut seq = 0;
    for (method, more) in changes {
        for (point, expected) in [("file.begun", "undone"), ("file.changed", "done")] {
            fs::write(folder.join("a"), "old").unwrap();
            let armed = node.state_dir().join(failpoint::FOLDER);
            fs::create_dir_all(&armed).unwrap();
            fs::write(armed.join(point), "1").unwrap();
            assert!(ask(&node, method, of(&id, more.clone())).is_err(), "{method} {point}");
            eventually("the daemon has died", || node.has_ended());
            node.up();
            seq += 1;
            let ended = facts(&node, &id, "file.change_ended");
            let last = ended.last().unwrap();
            assert_eq!(
                (&last["write_seq"], &last["outcome"]),
                (&json!(seq), &json!(expected)),
                "{method} {point}"
            );
            let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
            let left: Vec<_> = names.filter(|name| name != "a" && name != "b").collect();
            assert!(left.is_empty(), "{method} {point}: {left:?}");
            fs::remove_file(folder.join("b")).unwrap_or_default();
        }
    }
    let more = write(&node, &id, json!({ "path": "a", "content": "x" })).unwrap();
    assert_eq!(more["write_seq"], seq + 1);
    node.verify();
}

/// Proves WSP-016, WSP-020.
#[test]
fn an_agent_has_the_files_of_its_own_folder_only() {
    let node = Node::start();
    for name in ["one", "two"] {
        node.run(name, &terminal(name, &["/bin/cat"], ""));
    }
    let other = ask(&node, "workspace/create", json!({ "agent": "two" })).unwrap();
    write(&node, &other["workspace_id"], json!({ "path": "secret", "content": "x" })).unwrap();
    let mut agent = speak_as(&node, "one");
    let own = json!({ "agent": "one", "path": "notes", "content": "mine" });
    let made = agent.try_raw("workspace/file.write", own).unwrap();
    let begun = facts(&node, &made["workspace_id"], "file.change_begun");
    assert_eq!(begun[0]["path"], "notes");
    for params in [json!({ "agent": "two" }), json!({ "workspace_id": other["workspace_id"] })] {
        for (method, more) in [
            ("workspace/file.list", json!({})),
            ("workspace/file.stat", json!({ "path": "secret" })),
            ("workspace/file.read", json!({ "path": "secret" })),
            ("workspace/file.search", json!({ "pattern": "x" })),
            ("workspace/file.write", json!({ "path": "secret", "content": "y" })),
            ("workspace/file.move", json!({ "path": "secret", "to": "b" })),
            ("workspace/file.delete", json!({ "path": "secret" })),
        ] {
            let mut params = params.clone();
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(agent.try_raw(method, params).unwrap_err().name(), ErrorName::NotFound, "{method}");
        }
    }
    for path in ["../../two", "/etc/passwd", "\\x2e\\x2e/x"] {
        let error =
            agent.try_raw("workspace/file.read", json!({ "agent": "one", "path": path })).unwrap_err();
        assert_eq!(error.name(), ErrorName::InvalidParams, "{path}");
    }
    node.verify();
}

/// Proves WSP-019, WSP-024.
#[test]
fn the_command_line_shows_and_changes_files() {
    let node = Node::start();
    let (folder, id) = workspace(&node);
    let id = id.as_str().unwrap();
    let from = node.scratch().join("from");
    fs::write(&from, b"one\n\xff\n").unwrap();
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    run(&["workspace", "write", id, "a b", "--from", from.to_str().unwrap(), "--if-version", "absent"]);
    assert_eq!(run(&["workspace", "read", id, "a b"]), b"one\n\xff\n");
    fs::write(folder.join("esc\x1b"), "").unwrap();
    let listed = String::from_utf8(run(&["workspace", "files", id])).unwrap();
    assert!(listed.contains("a b") && listed.contains("esc\\x1b"), "{listed}");
    let found = String::from_utf8(run(&["workspace", "search", id, "one"])).unwrap();
    assert!(found.starts_with("a b:1: one"), "{found}");
    assert!(String::from_utf8(run(&["workspace", "stat", id, "a b"])).unwrap().contains("version "));
    run(&["workspace", "move", id, "a b", "c"]);
    run(&["workspace", "remove", id, "c"]);
    assert!(!folder.join("c").exists() && !folder.join("a b").exists());
    node.verify();
}

/// Proves WSP-031.
#[test]
fn a_barrier_is_reached_when_a_change_is_over_and_not_before() {
    let mut node = Node::start();
    let (_folder, id) = workspace(&node);
    let barrier = |through: Value, timeout_ms: u64| json!({ "target": { "workspace_id": id }, "through": through, "timeout_ms": timeout_ms });
    write(&node, &id, json!({ "path": "a", "content": "one" })).unwrap();
    let kept = ask(&node, "workspace/checkpoint.create", json!({ "workspace_id": id })).unwrap();
    let receipt = ask(&node, "sync/barrier.await", barrier(json!({ "write_ids": [1] }), 1)).unwrap();
    assert_eq!((&receipt["through_seq"], &receipt["tree_digest"]), (&json!(1), &kept["digest"]));
    let late = ask(&node, "sync/barrier.await", barrier(json!({ "seq": 2 }), 1)).unwrap_err();
    assert_eq!(late.name(), ErrorName::DeadlineExceeded);
    assert!(late.message.contains("is at 1, not at 2"), "{late}");
    let mut connection = node.connect();
    let params = barrier(json!({ "seq": 2 }), 120_000);
    let waiting = std::thread::spawn(move || connection.try_raw("sync/barrier.await", params));
    write(&node, &id, json!({ "path": "a", "content": "two" })).unwrap();
    let receipt = waiting.join().unwrap().unwrap();
    assert_eq!((&receipt["replicas"][0]["seq"], &receipt["tree_digest"]), (&json!(2), &Value::Null));
    // A stream, by its number and by a cursor of it.
    let page = ask(&node, "stream/replay", json!({ "limit": 3 })).unwrap();
    let stream = |through: Value| json!({ "target": { "stream": { "kind": "node" } }, "through": through });
    let receipt = ask(&node, "sync/barrier.await", stream(json!({ "cursor": page["cursor"] }))).unwrap();
    assert_eq!(receipt["through_seq"], page["next"]);
    // What was begun and is not over has not arrived.
    let armed = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&armed).unwrap();
    fs::write(armed.join("file.changed"), "1").unwrap();
    assert!(write(&node, &id, json!({ "path": "a", "content": "three" })).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    ask(&node, "sync/barrier.await", barrier(json!({ "seq": 3 }), 1)).unwrap();
    node.verify();
}

/// Proves WSP-036.
#[test]
fn a_checkpoint_waits_for_the_change_that_is_to_be_in_it() {
    let node = Node::start();
    let (folder, id) = workspace(&node);
    let after = |number: u64, ms: u64| of(&id, json!({ "after": { "write_seq": number }, "timeout_ms": ms }));
    let error = ask(&node, "workspace/checkpoint.create", after(1, 20)).unwrap_err();
    assert_eq!(error.name(), ErrorName::DeadlineExceeded);
    assert!(error.message.contains("is at 0, not at 1"), "{error:?}");
    assert_eq!(facts(&node, &id, "checkpoint.started"), [] as [Value; 0], "nothing was begun");
    let (mut waiting, params) = (node.connect(), after(2, 600_000));
    let waiting = std::thread::spawn(move || waiting.try_raw("workspace/checkpoint.create", params).unwrap());
    for (number, text) in [(1, "one"), (2, "two")] {
        assert!(!waiting.is_finished(), "change {number} is not made yet");
        write(&node, &id, json!({ "path": "a", "content": text })).unwrap();
    }
    let kept = waiting.join().unwrap();
    assert_eq!(kept["write_seq"], 2);
    write(&node, &id, json!({ "path": "a", "content": "three" })).unwrap();
    ask(&node, "workspace/checkpoint.restore", json!({ "checkpoint_id": kept["checkpoint_id"] })).unwrap();
    assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "two");
    node.verify();
}
