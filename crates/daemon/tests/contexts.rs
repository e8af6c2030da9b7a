//! Contexts end to end: found, read, chosen, recorded and told.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use edgeplane_testkit::{Node, peers::speak_as, task_worker, terminal};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(&format!("conversation/context.{method}"), params)
}

fn call(node: &Node, method: &str, params: Value) -> Value {
    node.connect().try_raw(method, params).unwrap()
}

/// The folder of texts, with some.
fn folder(node: &Node) -> PathBuf {
    let folder = node.state_dir().join("contexts");
    fs::create_dir_all(folder.join("guide")).unwrap();
    for (name, text) in [
        ("guide/retries.md", "# Retries\n\nA retry waits, and the wait doubles.\n"),
        (
            "guide/long.md",
            "# Long\n\nOne retry among many other words that say nothing of what is asked for.\n",
        ),
        ("notes.txt", "nothing of it\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn references(answer: &Value) -> Vec<String> {
    let items = answer.as_array().unwrap().iter();
    items.map(|item| item["reference"].as_str().unwrap().to_owned()).collect()
}

/// Proves CTX-001, CTX-007.
#[test]
fn texts_of_the_folder_are_found_and_read_and_nothing_else() {
    let node = Node::start();
    assert_eq!(
        ask(&node, "search", json!({ "query": "retry" })).unwrap()["items"],
        json!([]),
        "no folder yet"
    );
    let folder = folder(&node);
    fs::write(node.scratch().join("secret.md"), "retry retry retry").unwrap();
    symlink(node.scratch(), folder.join("out")).unwrap();
    symlink(node.scratch().join("secret.md"), folder.join("link.md")).unwrap();
    fs::create_dir(folder.join(".git")).unwrap();
    fs::write(folder.join(".git/retry.md"), "retry").unwrap();
    fs::write(folder.join("binary"), b"retry \xff").unwrap();
    fs::write(folder.join("large"), "retry ".repeat(200_000)).unwrap();
    let found = |query: &str| ask(&node, "search", json!({ "query": query })).unwrap();
    let first = found("Retry?");
    assert_eq!(references(&first["items"]), ["guide/retries.md", "guide/long.md"]);
    assert_eq!(first["items"][0]["title"], "Retries");
    assert_eq!(first["items"][0]["excerpt"], "A retry waits, and the wait doubles.");
    assert_eq!((&first["channel"], &first["authority"]), (&json!("document"), &json!("external")));
    let read = |reference: &str| ask(&node, "read", json!({ "reference": reference }));
    let text = read("guide/retries.md").unwrap();
    assert_eq!((&text["digest"], &text["authority"]), (&first["items"][0]["digest"], &json!("external")));
    assert_eq!((&text["media_type"], &text["channel"]), (&json!("text/markdown"), &json!("document")));
    let part = json!({ "reference": "guide/retries.md", "offset": 2, "limit": 7 });
    let part = ask(&node, "read", part).unwrap();
    assert_eq!((&part["text"], &part["next_offset"]), (&json!("Retries"), &json!(9)));
    for none in
        ["none", "../secret.md", "out/secret.md", "link.md", ".git/retry.md", "binary", "large", "guide"]
    {
        assert_eq!(read(none).unwrap_err().name(), ErrorName::NotFound, "{none}");
    }
    assert_eq!(read("no\nname").unwrap_err().name(), ErrorName::InvalidParams);
    // What changes holds from the next search on.
    fs::write(folder.join("notes.txt"), "retry retry retry retry").unwrap();
    fs::remove_file(folder.join("guide/long.md")).unwrap();
    assert_eq!(references(&found("retry")["items"]), ["notes.txt", "guide/retries.md"]);
    node.verify();
}

/// Proves CTX-004, CTX-005, CTX-006, CTX-008, CTX-009.
#[test]
fn what_was_chosen_and_what_was_left_out_is_recorded_and_told() {
    let node = Node::start();
    folder(&node);
    for name in ["worker", "other"] {
        let log = node.scratch().join(name);
        node.run(name, &task_worker(name, &log, &[], ""));
    }
    let turn = json!({ "agent": "worker", "input": [{ "type": "text", "text": "do it" }] });
    let turn = call(&node, "conversation/turn.start", turn)["turn_id"].clone();
    let wanted = json!({
        "agent": "worker", "turn_id": turn, "query": "retry", "limit": 1, "references": ["notes.txt", "none"],
        "budget_tokens": 1_000, "budget_bytes": 100_000,
    });
    let chosen = ask(&node, "resolve", wanted).unwrap();
    assert_eq!(references(&chosen["selected"]), ["notes.txt", "guide/retries.md"]);
    let left: Vec<_> = chosen["left_out"].as_array().unwrap().iter().map(|one| &one["reason"]).collect();
    assert_eq!(left, ["missing", "rank"]);
    assert_eq!((&chosen["budget_bytes"], &chosen["authority"]), (&json!(4_000), &json!("external")));
    assert_eq!(chosen["selected"][0]["text"], "nothing of it\n");
    // Nothing has room: that is said, and recorded too.
    let narrow = json!({ "agent": "worker", "query": "retry", "budget_bytes": 3 });
    let narrow = ask(&node, "resolve", narrow).unwrap();
    assert_eq!((&narrow["selected"], &narrow["used_bytes"]), (&json!([]), &json!(0)));
    let record = call(&node, "stream/replay", json!({ "types": ["context.resolved"] }));
    let facts = record["items"].as_array().unwrap();
    assert_eq!(facts.len(), 2);
    let fact = &facts[0]["event"]["payload"];
    assert_eq!((&fact["context_id"], &fact["used_bytes"]), (&chosen["context_id"], &chosen["used_bytes"]));
    assert_eq!(fact["selected"][1]["digest"], chosen["selected"][1]["digest"]);
    assert_eq!(fact["left_out"][0], json!({ "reference": "none", "reason": "missing" }));
    assert!(!record.to_string().contains("nothing of it"), "no text is in it");
    assert_eq!(node.count("worker", "context.resolved"), 2);
    // In the turn that it was for, and outside.
    let target = json!({ "kind": "turn", "id": turn });
    let items = call(
        &node,
        "stream/replay",
        json!({ "projection": "turn.items", "target": target, "types": ["context.resolved"] }),
    );
    assert_eq!(items["items"][0]["event"]["payload"]["context_id"], chosen["context_id"], "{items}");
    let session = node.get("worker").status.identities.session.session_id;
    let of = json!({ "projection": "agentruntime.lime", "target": { "kind": "session", "id": session }, "types": ["context.resolved"] });
    let told = call(&node, "stream/replay", of);
    let told = &told["items"][0]["event"]["payload"];
    assert_eq!(
        (&told["turnId"], &told["payload"]["included"][0]["ref"]),
        (&turn, &json!("notes.txt")),
        "{told}"
    );
    assert_eq!(told["payload"]["omitted"][1]["reason"], "rank");
    // Nobody chooses for another agent, nor in its turn.
    let mut other = speak_as(&node, "other");
    let mut of_other = |params: Value| other.try_raw("conversation/context.resolve", params);
    for wrong in
        [json!({ "query": "retry", "agent": "worker" }), json!({ "query": "retry", "turn_id": turn })]
    {
        assert_eq!(of_other(wrong).unwrap_err().name(), ErrorName::NotFound);
    }
    of_other(json!({ "references": ["notes.txt"] })).unwrap();
    assert_eq!(node.count("other", "context.resolved"), 1);
    node.verify();
}

/// Proves CTX-006.
#[test]
fn the_command_line_finds_reads_and_chooses() {
    let node = Node::start();
    folder(&node);
    node.run("one", &terminal("one", &["/bin/cat"], ""));
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["context", "search", "retry"]).contains("guide/retries.md"));
    assert_eq!(run(&["context", "read", "notes.txt"]), "nothing of it\n");
    let args =
        ["context", "resolve", "retry", "--agent", "one", "--reference", "none", "--limit", "1", "--texts"];
    let shown = run(&args);
    for words in
        ["guide/retries.md", "selected", "left out: rank", "left out: missing", "--- guide/retries.md"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(node.count("one", "context.resolved"), 1);
    node.verify();
}
