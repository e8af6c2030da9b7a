//! Artifacts end to end: published, read, compared, handed out and ended, over dying daemons and a store that loses them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Node,
    peers::{speak_as, with},
    task_worker, terminal,
    wait::eventually,
};
use edgeplane_types::{ErrorName, error::Effect};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(&format!("workspace/artifact.{method}"), params)
}

fn call(node: &Node, method: &str, params: Value) -> Value {
    node.connect().try_raw(method, params).unwrap()
}

fn publish(node: &Node, name: &str, content: &str, more: &Value) -> Result<Value, RpcError> {
    ask(node, "publish", with(json!({ "name": name, "content": content }), more))
}

/// Every file in the store, by name.
fn stored(node: &Node) -> Vec<PathBuf> {
    let names = |dir: &Path| -> Vec<PathBuf> {
        let found = fs::read_dir(dir).map(|found| found.map(|entry| entry.unwrap().path()).collect());
        found.unwrap_or_default()
    };
    let mut files: Vec<_> =
        names(&node.state_dir().join("artifacts")).iter().flat_map(|dir| names(dir)).collect();
    files.sort();
    files
}

fn arm(node: &Node, point: &str) {
    let armed = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&armed).unwrap();
    fs::write(armed.join(point), "1").unwrap();
}

/// Proves ART-001, ART-003, ART-004, ART-005, ART-007, ART-008.
#[test]
fn artifacts_are_published_read_compared_handed_out_and_ended() {
    let node = Node::start();
    let label = json!({ "labels": { "stage": "draft" }, "if_version": 0, "media_type": "text/markdown" });
    let first = publish(&node, "plan.md", "one\ntwo\n", &label).unwrap();
    assert_eq!((&first["version"], &first["media_type"]), (&json!(1), &json!("text/markdown")));
    assert_eq!(first["by"], call(&node, "core/initialize", json!({}))["caller"]["principal"]);
    // The same once more is no version; another text is, and keeps the labels.
    let same = publish(&node, "plan.md", "one\ntwo\n", &json!({ "media_type": "text/markdown" })).unwrap();
    assert_eq!((&same["version"], &same["unchanged"]), (&json!(1), &json!(true)));
    let second = publish(&node, "plan.md", "one\nTWO\n", &json!({ "if_version": 1 })).unwrap();
    assert_eq!((&second["version"], &second["labels"]), (&json!(2), &json!({ "stage": "draft" })));
    assert_eq!((&second["artifact_id"], &second["newest"]), (&first["artifact_id"], &json!(2)));
    for late in [0, 1, 3] {
        let error = publish(&node, "plan.md", "x", &json!({ "if_version": late })).unwrap_err();
        assert_eq!((error.name(), error.data.effect), (ErrorName::VersionConflict, Effect::None));
    }
    let which = |more: Value| with(json!({ "artifact": "plan.md" }), &more);
    let read = |more: Value| ask(&node, "read", which(more)).unwrap();
    assert_eq!(
        (&read(json!({}))["content"], &read(json!({ "version": 1 }))["content"]),
        (&json!("one\nTWO\n"), &json!("one\ntwo\n"))
    );
    let part = read(json!({ "offset": 4, "limit": 2 }));
    assert_eq!(
        (&part["content"], &part["next_offset"], &part["bytes"]),
        (&json!("TW"), &json!(6), &json!(8))
    );
    assert_eq!(read(json!({ "offset": 99 }))["content"], "");
    let by_id =
        ask(&node, "read", json!({ "artifact": first["artifact_id"], "encoding": "base64" })).unwrap();
    assert_eq!(by_id["content"], "b25lClRXTwo=");
    let found = ask(&node, "diff", which(json!({}))).unwrap();
    assert_eq!((&found["added"], &found["removed"], &found["same"]), (&json!(1), &json!(1), &json!(false)));
    assert!(found["text"].as_str().unwrap().ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"), "{found}");
    publish(&node, "plan.md", "/wA=", &json!({ "encoding": "base64" })).unwrap();
    let untold = ask(&node, "diff", which(json!({ "from": 1 }))).unwrap();
    assert_eq!((&untold["untold"], &untold["text"]), (&json!("binary"), &Value::Null));
    // Handing it out is a change of a file like any other.
    let folder = node.scratch().join("folder");
    fs::create_dir_all(&folder).unwrap();
    let made = call(&node, "workspace/create", json!({ "folder": folder.to_str().unwrap() }));
    let to = json!({ "workspace_id": made["workspace_id"], "path": "in/plan.md" });
    let out = which(json!({ "version": 2, "to": to, "folders": true, "if_version": "absent" }));
    let done = ask(&node, "export", out.clone()).unwrap();
    assert_eq!((&done["artifact"]["version"], &done["file"]["write_seq"]), (&json!(2), &json!(1)));
    assert_eq!(fs::read(folder.join("in/plan.md")).unwrap(), b"one\nTWO\n");
    assert_eq!(ask(&node, "export", out).unwrap_err().name(), ErrorName::VersionConflict);
    // And a file can be published.
    let file = json!({ "name": "copy", "file": to });
    let copy = ask(&node, "publish", file).unwrap();
    assert_eq!((&copy["digest"], &copy["source"]["file"]["path"]), (&second["digest"], &json!("in/plan.md")));
    assert_eq!(stored(&node).len(), 3, "what holds the same is kept once");
    let gone = ask(&node, "delete", which(json!({ "reason": "over", "if_version": 3 }))).unwrap();
    assert!(gone["deleted_at"].is_string(), "{gone}");
    assert_eq!(stored(&node).len(), 1, "the other one needs these");
    let by_id = json!({ "artifact": first["artifact_id"] });
    for (method, params) in [("get", which(json!({}))), ("read", by_id.clone()), ("delete", by_id.clone())] {
        assert_eq!(ask(&node, method, params).unwrap_err().name(), ErrorName::NotFound, "{method}");
    }
    // What was said of it stays, and its name is free.
    assert_eq!(ask(&node, "get", by_id).unwrap()["versions"].as_array().unwrap().len(), 3);
    let again = publish(&node, "plan.md", "new", &json!({ "if_version": 0 })).unwrap();
    assert!(again["version"] == 1 && again["artifact_id"] != first["artifact_id"], "{again}");
    let bodies = fs::read_to_string(stored(&node)[0].as_path()).unwrap();
    let record = call(&node, "stream/replay", json!({ "types": ["artifact.published", "artifact.deleted"] }));
    assert_eq!(record["items"].as_array().unwrap().len(), 6);
    assert!(!record.to_string().contains(&bodies), "the bytes are in no event");
    node.verify();
}

/// Proves ART-002, ART-010, ART-011.
#[test]
fn an_agent_has_its_own_artifacts_and_reads_those_of_the_node() {
    let node = Node::start();
    for name in ["one", "two"] {
        node.run(name, &terminal(name, &["/bin/cat"], ""));
    }
    publish(&node, "shared", "from the node", &json!({})).unwrap();
    publish(&node, "notes", "by an operator", &json!({ "agent": "two" })).unwrap();
    let mut agent = speak_as(&node, "one");
    let mut ask_one =
        |method: &str, params: Value| agent.try_raw(&format!("workspace/artifact.{method}"), params);
    let own = ask_one("publish", json!({ "name": "notes", "content": "mine" })).unwrap();
    assert_eq!((&own["agent"], &own["by"]), (&json!("one"), &json!("one")));
    let read = |answer: Result<Value, RpcError>| answer.unwrap()["content"].clone();
    assert_eq!(read(ask_one("read", json!({ "artifact": "notes" }))), "mine");
    assert_eq!(read(ask_one("read", json!({ "artifact": "shared" }))), "from the node");
    let listed = ask_one("list", json!({})).unwrap();
    let names: Vec<_> = listed["items"].as_array().unwrap().iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["shared", "notes"]);
    let theirs = ask(&node, "get", json!({ "artifact": "notes", "agent": "two" })).unwrap();
    let theirs = theirs["artifact"]["artifact_id"].clone();
    for (method, params) in [
        ("read", json!({ "artifact": theirs })),
        ("get", json!({ "artifact": "notes", "agent": "two" })),
        ("publish", json!({ "name": "x", "content": "x", "agent": "two" })),
        ("list", json!({ "agent": "two" })),
        ("delete", json!({ "artifact": theirs })),
        ("delete", json!({ "artifact": "shared" })),
        ("publish", json!({ "name": "x", "file": { "agent": "two", "path": "a" } })),
        ("export", json!({ "artifact": "shared", "to": { "agent": "two", "path": "a" } })),
    ] {
        assert_eq!(
            ask_one(method, params.clone()).unwrap_err().name(),
            ErrorName::NotFound,
            "{method} {params}"
        );
    }
    // It stands in the agent's own stream, and in the projection of it.
    let of_one = json!({ "projection": "artifacts", "target": { "kind": "agent", "id": "one" } });
    let seen = call(&node, "stream/projection.get", of_one);
    assert_eq!(seen["state"]["artifacts"][0]["artifact_id"], own["artifact_id"], "{seen}");
    assert_eq!(node.count("one", "artifact.published"), 1);
    // Tasks name it by its address, as what they made and as what they need.
    let task = call(&node, "runtime/task.create", json!({ "title": "x" }));
    let edge = |kind: &str| json!({ "task_id": task["task_id"], "kind": kind, "uri": own["uri"] });
    call(&node, "runtime/task.link", edge("consumed"));
    let complete = json!({ "task_id": task["task_id"], "artifacts": [own["uri"]] });
    call(&node, "runtime/task.complete", complete);
    let detail = call(&node, "runtime/task.get", json!({ "task_id": task["task_id"] }));
    let kinds: Vec<_> =
        detail["edges"].as_array().unwrap().iter().map(|edge| (&edge["kind"], &edge["uri"])).collect();
    assert_eq!(kinds, [(&json!("consumed"), &own["uri"]), (&json!("produced"), &own["uri"])]);
    node.verify();
}

/// Proves ART-003, ART-012.
#[test]
fn what_a_turn_came_to_is_published_and_told_outside() {
    let node = Node::start();
    let log = node.scratch().join("log");
    node.run("worker", &task_worker("worker", &log, &[], ""));
    let turn = json!({ "agent": "worker", "input": [{ "type": "text", "text": "do it" }] });
    let turn = call(&node, "conversation/turn.start", turn)["turn_id"].as_str().unwrap().to_owned();
    let output = turn.replace("trn_", "out_");
    let words = || node.connect().try_raw("conversation/output.get", json!({ "output_id": output }));
    eventually("the turn is over", || words().is_ok());
    let made = json!({ "name": "result", "agent": "worker", "output_id": output });
    let made = ask(&node, "publish", made).unwrap();
    assert_eq!(
        (&made["source"]["output"]["output_id"], &made["digest"]),
        (&json!(output), &words().unwrap()["digest"])
    );
    let session = node.get("worker").status.identities.session.session_id;
    let of = json!({ "projection": "agentruntime.events", "target": { "kind": "session", "id": session }, "types": ["artifact.changed"] });
    let told = call(&node, "stream/replay", of);
    let told = &told["items"][0]["event"]["payload"];
    assert_eq!(
        (&told["artifactId"], &told["payload"]["version"]),
        (&made["artifact_id"], &json!(1)),
        "{told}"
    );
    assert_eq!(told["payload"]["ref"], format!("sha256:{}", made["digest"].as_str().unwrap()));
    node.verify();
}

/// Proves ART-004.
#[test]
fn another_kind_or_label_is_a_version_and_an_end_is_held_to_its_version() {
    let node = Node::start();
    let plain = json!({ "media_type": "text/plain", "labels": { "stage": "draft" } });
    let markdown = json!({ "media_type": "text/markdown", "labels": { "stage": "draft" } });
    let done = json!({ "media_type": "text/markdown", "labels": { "stage": "done" } });
    for (more, version, unchanged) in
        [(&plain, 1, false), (&markdown, 2, false), (&done, 3, false), (&done, 3, true)]
    {
        let made = publish(&node, "plan", "the same", more).unwrap();
        assert_eq!((&made["version"], made["unchanged"] == true), (&json!(version), unchanged), "{more}");
    }
    let end = |version: u64| ask(&node, "delete", json!({ "artifact": "plan", "if_version": version }));
    for other in [0, 2, 4] {
        let error = end(other).unwrap_err();
        assert_eq!((error.name(), error.data.effect), (ErrorName::VersionConflict, Effect::None), "{other}");
    }
    assert_eq!(ask(&node, "read", json!({ "artifact": "plan" })).unwrap()["content"], "the same");
    end(3).unwrap();
    node.verify();
}

/// Proves ART-003.
#[test]
fn what_the_caller_may_not_see_it_does_not_publish() {
    let node = Node::start();
    let log = node.scratch().join("log");
    node.run("worker", &task_worker("worker", &log, &[], ""));
    node.run("one", &terminal("one", &["/bin/cat"], ""));
    let turn = json!({ "agent": "worker", "input": [{ "type": "text", "text": "do it" }] });
    let turn = call(&node, "conversation/turn.start", turn)["turn_id"].as_str().unwrap().to_owned();
    let output = turn.replace("trn_", "out_");
    let words = || node.connect().try_raw("conversation/output.get", json!({ "output_id": output }));
    eventually("the turn is over", || words().is_ok());
    let theirs = call(&node, "workspace/create", json!({ "agent": "worker" }));
    let file = json!({ "workspace_id": theirs["workspace_id"], "path": "left" });
    for (source, refusal) in [
        (json!({ "name": "x", "output_id": output }), ErrorName::PermissionDenied),
        (json!({ "name": "x", "file": file }), ErrorName::NotFound),
    ] {
        let error = speak_as(&node, "one").try_raw("workspace/artifact.publish", source.clone()).unwrap_err();
        assert_eq!(error.name(), refusal, "{source}");
        // Whoever may see it may publish it.
        speak_as(&node, "worker").try_raw("workspace/artifact.publish", source).unwrap();
    }
    assert_eq!(node.count("one", "artifact.published"), 0);
    node.verify();
}

/// Proves ART-003.
#[test]
fn a_file_that_is_being_written_is_not_published() {
    let node = Node::start();
    let folder = node.scratch().join("folder");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("large");
    fs::write(&path, vec![0; 32 << 20]).unwrap();
    let made = call(&node, "workspace/create", json!({ "folder": folder.to_str().unwrap() }));
    let source = json!({ "workspace_id": made["workspace_id"], "path": "large" });
    let is_over = AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            for round in (0_u8..=255).cycle() {
                file.write_all_at(&[round], 0).unwrap();
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let refused = ask(&node, "publish", json!({ "name": "large", "file": source }));
        is_over.store(true, Ordering::Relaxed);
        refused.unwrap_err()
    });
    assert_eq!(refused.name(), ErrorName::InvalidState, "{refused}");
    assert!(refused.message.contains("is being changed"), "{refused}");
    assert!(stored(&node).is_empty());
    ask(&node, "publish", json!({ "name": "large", "file": source })).unwrap();
    node.verify();
}

/// At each point at which a daemon may die: what is in no fact is in no store, and what is in a fact can be read.
///
/// Proves ART-009.
#[test]
fn what_a_death_leaves_without_a_fact_is_removed() {
    let mut node = Node::start();
    for (point, is_there) in [("artifact.kept", false), ("artifact.published", true)] {
        arm(&node, point);
        assert!(publish(&node, point, point, &json!({})).is_err(), "{point}");
        eventually("the daemon has died", || node.has_ended());
        assert!(!stored(&node).is_empty(), "the bytes come before the fact");
        node.up();
        let found = ask(&node, "read", json!({ "artifact": point }));
        assert_eq!(found.is_ok(), is_there, "{point}: {found:?}");
        let kept = usize::from(is_there);
        eventually("what nobody names is gone", || stored(&node).len() == kept);
    }
    arm(&node, "artifact.deleted");
    assert!(ask(&node, "delete", json!({ "artifact": "artifact.published" })).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    let gone = ask(&node, "get", json!({ "artifact": "artifact.published" })).unwrap_err();
    assert_eq!(gone.name(), ErrorName::NotFound);
    eventually("what nobody names is gone", || stored(&node).is_empty());
    node.verify();
}

/// Proves ART-006.
#[test]
fn what_the_store_has_lost_or_changed_is_not_given() {
    let node = Node::start();
    publish(&node, "kept", "kept", &json!({})).unwrap();
    let file = stored(&node).pop().unwrap();
    let out = json!({ "artifact": "kept", "to": { "agent": "none", "path": "a" } });
    for spoilt in [Some("KEPT"), Some("kept and more"), None] {
        match spoilt {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        for (method, params) in [("read", json!({ "artifact": "kept" })), ("export", out.clone())] {
            let error = ask(&node, method, params).unwrap_err();
            assert_eq!(error.name(), ErrorName::UpstreamFailed, "{method} {spoilt:?}: {error}");
            assert!(error.message.contains("version 1 of artifact `kept`"), "{error}");
        }
        // What was said of it is still true.
        ask(&node, "get", json!({ "artifact": "kept" })).unwrap();
    }
    // Whoever brings the same bytes again mends it.
    publish(&node, "again", "kept", &json!({})).unwrap();
    assert_eq!(ask(&node, "read", json!({ "artifact": "kept" })).unwrap()["content"], "kept");
    node.verify();
}

/// Proves ART-013.
#[test]
fn the_command_line_publishes_and_shows() {
    let node = Node::start();
    let from = node.scratch().join("from");
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    for text in [b"one\n\xff".as_slice(), b"one\n", b"two\n"] {
        fs::write(&from, text).unwrap();
        run(&["artifact", "publish", "plan.md", "--from", from.to_str().unwrap(), "--label", "stage=draft"]);
    }
    assert_eq!(run(&["artifact", "read", "plan.md", "--version", "1"]), b"one\n\xff");
    let text = |args: &[&str]| String::from_utf8(run(args)).unwrap();
    assert!(text(&["artifact", "diff", "plan.md"]).ends_with("-one\n+two\n"));
    assert!(text(&["artifact", "diff", "plan.md", "--to-version", "2"]).contains("differ; they are no text"));
    assert!(text(&["artifact", "list", "--label", "stage=draft"]).contains("plan.md"));
    assert_eq!(text(&["artifact", "get", "plan.md"]).lines().count(), 4);
    let folder = node.scratch().join("folder");
    fs::create_dir_all(&folder).unwrap();
    let made = call(&node, "workspace/create", json!({ "folder": folder.to_str().unwrap() }));
    let to = format!("{}:plan.md", made["workspace_id"].as_str().unwrap());
    run(&["artifact", "export", "plan.md", "--to", &to]);
    assert_eq!(fs::read(folder.join("plan.md")).unwrap(), b"two\n");
    run(&["artifact", "publish", "copy", "--file", &to, "--if-version", "0"]);
    run(&["artifact", "delete", "plan.md", "--reason", "over"]);
    node.verify();
}
