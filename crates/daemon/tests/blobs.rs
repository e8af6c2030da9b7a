//! Blobs of workspaces end to end: kept by their digest, read in parts, and gone when nobody needs them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::{fs, path::PathBuf};

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, peers::with, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

/// A folder that is known, and its workspace.
fn workspace(node: &Node) -> (PathBuf, Value) {
    let folder = node.scratch().join("folder");
    fs::create_dir_all(&folder).unwrap();
    let made = ask(node, "workspace/create", json!({ "folder": folder })).unwrap();
    (folder, json!({ "workspace_id": made["workspace_id"] }))
}

fn put(node: &Node, of: &Value, more: &Value) -> Value {
    ask(node, "workspace/blob.put", with(of.clone(), more)).unwrap()
}

fn read(node: &Node, of: &Value, digest: &Value) -> Result<Value, RpcError> {
    ask(node, "workspace/blob.get", with(of.clone(), &json!({ "digest": digest })))
}

/// Has a collection made, and waits until this blob is gone.
fn collected_but(node: &Node, of: &Value, gone: &Value) {
    let made = ask(node, "workspace/checkpoint.create", of.clone()).unwrap();
    let id = json!({ "checkpoint_id": made["checkpoint_id"] });
    ask(node, "workspace/checkpoint.delete", id).unwrap();
    eventually("it is collected", || read(node, of, gone).is_err_and(|e| e.name() == ErrorName::NotFound));
}

/// Proves WSP-040.
#[test]
fn bytes_are_kept_by_their_digest_and_read_in_parts() {
    let mut node = Node::start();
    let (folder, of) = workspace(&node);
    let made = put(&node, &of, &json!({ "content": "one two" }));
    assert_eq!(
        put(&node, &of, &json!({ "content": "b25lIHR3bw==", "encoding": "base64" }))["digest"],
        made["digest"]
    );
    fs::write(folder.join("file"), "one two").unwrap();
    let stat = ask(&node, "workspace/file.stat", with(of.clone(), &json!({ "path": "file" }))).unwrap();
    assert_eq!((&stat["version"], &made["bytes"]), (&made["digest"], &json!(7)));
    // What is too large for a request is put as a file, and read in parts.
    let large: String =
        (0..3_000_000).map(|number| char::from(b'a' + u8::try_from(number % 23).unwrap())).collect();
    fs::write(folder.join("large"), large.repeat(3)).unwrap();
    let of_file = put(&node, &of, &json!({ "path": "large" }));
    fs::remove_file(folder.join("large")).unwrap();
    node.kill_daemon();
    node.up();
    let (mut offset, mut found) = (json!(0), String::new());
    while !offset.is_null() {
        let more = json!({ "digest": of_file["digest"], "offset": offset, "limit": 2 << 20 });
        let part = ask(&node, "workspace/blob.get", with(of.clone(), &more)).unwrap();
        found.push_str(part["content"].as_str().unwrap());
        offset = part["next_offset"].clone();
    }
    assert!(found == large.repeat(3));
    // Another workspace has it not, whatever the store has.
    let other = node.scratch().join("other");
    fs::create_dir_all(&other).unwrap();
    let other = ask(&node, "workspace/create", json!({ "folder": other })).unwrap();
    let other = json!({ "workspace_id": other["workspace_id"] });
    assert_eq!(read(&node, &other, &made["digest"]).unwrap_err().name(), ErrorName::NotFound);
    node.verify();
}

/// Proves WSP-041.
#[test]
fn a_blob_goes_when_its_time_is_over_and_nobody_refers_to_it() {
    let mut node = Node::start();
    let (folder, of) = workspace(&node);
    let short = |content: &str| json!({ "content": content, "keep_ms": 0 });
    // What is to keep a blob is there before it: its time is over as soon as it is put.
    for (name, content) in [("file", "in a file"), ("aside", "referred to")] {
        fs::write(folder.join(name), content).unwrap();
    }
    let aside = ask(&node, "workspace/file.stat", with(of.clone(), &json!({ "path": "aside" }))).unwrap();
    fs::remove_file(folder.join("aside")).unwrap();
    let kept = ask(&node, "workspace/checkpoint.create", of.clone()).unwrap();
    let task =
        ask(&node, "runtime/task.create", json!({ "title": "t", "objective": "o", "start": false })).unwrap();
    let uri = format!("blob:{}", aside["version"].as_str().unwrap());
    let link = json!({ "task_id": task["task_id"], "kind": "evidence", "uri": uri });
    ask(&node, "runtime/task.link", link.clone()).unwrap();
    let young = put(&node, &of, &json!({ "content": "young" }));
    let pinned = put(&node, &of, &with(short("pinned"), &json!({ "pinned": true })));
    let in_file = put(&node, &of, &short("in a file"));
    let referred = put(&node, &of, &short("referred to"));
    assert_eq!(referred["digest"], aside["version"]);
    let nobodys = put(&node, &of, &short("nobody's"));
    collected_but(&node, &of, &nobodys["digest"]);
    for blob in [&pinned, &young, &in_file, &referred] {
        read(&node, &of, &blob["digest"]).unwrap();
    }
    // Whatever it was that kept them ends.
    ask(&node, "runtime/task.unlink", link).unwrap();
    put(&node, &of, &with(short("pinned"), &json!({ "pinned": false })));
    fs::remove_file(folder.join("file")).unwrap();
    let end = json!({ "checkpoint_id": kept["checkpoint_id"] });
    ask(&node, "workspace/checkpoint.delete", end).unwrap();
    for blob in [&pinned, &in_file, &referred] {
        let read = || read(&node, &of, &blob["digest"]);
        eventually("it is gone", || read().is_err_and(|error| error.name() == ErrorName::NotFound));
    }
    read(&node, &of, &young["digest"]).unwrap();
    // A daemon that dies between keeping and recording leaves nothing that stays.
    let armed = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&armed).unwrap();
    fs::write(armed.join("blob.kept"), "1").unwrap();
    let cut = json!({ "content": "cut" });
    assert!(ask(&node, "workspace/blob.put", with(of.clone(), &cut)).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    let again = put(&node, &of, &cut);
    read(&node, &of, &again["digest"]).unwrap();
    node.verify();
}

/// Proves WSP-040.
#[test]
fn a_damaged_blob_is_said_to_be_so() {
    let node = Node::start();
    let (_folder, of) = workspace(&node);
    let text: String =
        (0..400_000_u32).map(|n| char::from(b'!' + u8::try_from(n.wrapping_mul(n) % 90).unwrap())).collect();
    let made = put(&node, &of, &json!({ "content": text }));
    let packs = fs::read_dir(node.state_dir().join("checkpoints/packs")).unwrap();
    for pack in packs.map(|entry| entry.unwrap().path()) {
        let mut bytes = fs::read(&pack).unwrap();
        bytes[500] ^= 1;
        fs::write(&pack, bytes).unwrap();
    }
    let error = ask(
        &node,
        "workspace/blob.get",
        with(of.clone(), &json!({ "digest": made["digest"], "limit": 2 << 20 })),
    );
    let error = error.unwrap_err();
    assert!(error.name() == ErrorName::InvalidState && error.message.contains("damaged"), "{error:?}");
}

/// Proves WSP-040.
#[test]
fn the_command_line_puts_shows_and_reads_blobs() {
    let node = Node::start();
    let (folder, of) = workspace(&node);
    let id = of["workspace_id"].as_str().unwrap();
    fs::write(folder.join("file"), "words").unwrap();
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let said = run(&["workspace", "blob", "put", id, "--path", "file", "--pin"]);
    let digest = said.split(':').next().unwrap();
    assert_eq!(run(&["workspace", "blob", "get", id, digest]), "words");
    assert!(run(&["workspace", "blob", "stat", id, digest]).contains("pinned"));
    node.verify();
}
