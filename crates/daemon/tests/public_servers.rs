//! Servers that no one of this project wrote, as capabilities: found, called, killed and used again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use edgeplane_os::proc;
use edgeplane_testkit::{
    Connection, Node, native,
    npm::Npm,
    signals,
    wait::{eventually, eventually_some},
};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_servers")
}

fn servers() -> Option<Npm> {
    Npm::find_or_skip("the public servers of the Model Context Protocol", &folder())
}

fn program(npm: &Npm, package: &str) -> String {
    npm.file(&format!("@modelcontextprotocol/{package}/dist/index.js")).display().to_string()
}

/// Declares a program as a connector. The folder after its arguments tells this node's programs from those of others.
fn declare(node: &Node, npm: &Npm, (name, package): (&str, &str), more: &str) {
    let (runtime, program) = (npm.runtime.display(), program(npm, package));
    let (scratch, memory) = (node.scratch().display().to_string(), node.scratch().join("memory.jsonl"));
    let word = if name == "everything" { "stdio, " } else { "" };
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: {name}}}
spec:
  transport:
    stdio:
      command: [{runtime}, {program}, {word}{scratch}]
      env: {{MEMORY_FILE_PATH: {}}}
  policy: {{default: allow}}
{more}",
        memory.display()
    ));
}

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn called(node: &Node, capability: &str, input: &Value) -> Value {
    let call = json!({ "capability": capability, "input": input });
    let said = ask(node, "capability/invoke", call).unwrap();
    assert_eq!(said["status"], "succeeded", "{said}");
    said
}

fn text_of(said: &Value) -> &str {
    said["output"]["content"][0]["text"].as_str().unwrap()
}

/// The names of what a connector offers.
fn names(node: &Node, connector: &str) -> Vec<String> {
    let list = ask(node, "capability/list", json!({ "connector": connector })).unwrap();
    assert_eq!(list["connectors"][0]["available"], true, "{}", list["connectors"]);
    assert!(list["connectors"][0].get("left_out").is_none(), "{}", list["connectors"]);
    let name = |item: &Value| item["name"].as_str().unwrap().to_owned();
    list["items"].as_array().unwrap().iter().map(name).collect()
}

/// The processes of this node that run a package's program.
fn running(node: &Node, package: &str) -> Vec<u32> {
    let scratch = node.scratch().display().to_string();
    let runs = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(package)
            && line.contains(&scratch)
            && proc::stat(*pid).is_ok_and(|stat| stat.is_alive())
    };
    proc::all().unwrap().into_iter().filter(runs).collect()
}

/// Proves CAP-017.
#[test]
fn every_kind_of_thing_that_a_public_server_offers_is_found_and_called() {
    let Some(npm) = servers() else { return };
    let node = Node::start();
    declare(&node, &npm, ("everything", "server-everything"), "");
    let found = names(&node, "everything");
    let document = "everything/resource:demo://resource/static/document/features.md";
    for name in ["everything/echo", "everything/get-sum", document, "everything/prompt:args-prompt"] {
        assert!(found.iter().any(|found| found == name), "{name}: {found:?}");
    }
    let sum = ask(&node, "capability/get", json!({ "capability": "everything/get-sum" })).unwrap();
    assert_eq!(sum["backing"], json!({ "kind": "connector", "owner": "everything", "native_id": "get-sum" }));
    assert_eq!(sum["input_schema"]["required"], json!(["a", "b"]));
    let added = called(&node, "everything/get-sum", &json!({ "a": 2, "b": 3 }));
    assert_eq!(text_of(&added), "The sum of 2 and 3 is 5.");
    let read = called(&node, document, &json!({}));
    assert_eq!(read["output"]["contents"][0]["uri"], "demo://resource/static/document/features.md");
    assert!(read["output"]["contents"][0]["text"].as_str().unwrap().len() > 1_000, "{read}");
    let prompt = called(&node, "everything/prompt:args-prompt", &json!({ "city": "Oslo" }));
    assert_eq!(prompt["output"]["messages"][0]["content"]["text"], "What's weather in Oslo?");
    let structured = called(&node, "everything/get-structured-content", &json!({ "location": "Chicago" }));
    assert!(structured["output"]["structuredContent"]["temperature"].is_number(), "{structured}");
    let image = called(&node, "everything/get-tiny-image", &json!({}));
    assert_eq!(image["output"]["content"][1]["mimeType"], "image/png");
    // What its server refuses has failed, in the server's words.
    let bad = json!({ "capability": "everything/get-sum", "input": { "a": "two", "b": 3 } });
    let bad = ask(&node, "capability/invoke", bad).unwrap();
    assert_eq!(bad["status"], "failed", "{bad}");

    // It is killed: what it offers keeps its names and ids, and the next call has it again.
    signals::kill(&running(&node, "server-everything"));
    eventually("it answers again", || {
        let call = json!({ "capability": sum["capability_id"], "digest": sum["digest"],
            "input": { "a": 4, "b": 5 } });
        ask(&node, "capability/invoke", call).is_ok_and(|said| said["status"] == "succeeded")
    });
    assert_eq!(names(&node, "everything"), found);
    node.verify();
}

/// Proves CAP-017.
#[test]
fn public_servers_keep_files_and_facts_for_agents() {
    let Some(npm) = servers() else { return };
    let mut node = Node::start();
    let files = node.scratch();
    declare(&node, &npm, ("files", "server-filesystem"), "  deny: [\"move_*\"]");
    declare(&node, &npm, ("memory", "server-memory"), "");
    assert!(names(&node, "files").contains(&"files/write_file".to_owned()));
    assert!(!names(&node, "files").contains(&"files/move_file".to_owned()));
    let log = files.join("keeper.log");
    node.run("keeper", &native("keeper", &["/bin/sh", "-c", &format!("exec cat >> {}", log.display())], ""));
    let socket = node.get("keeper").status.identities.network.socket.unwrap();
    let mut agent = Connection::open(Path::new(&socket)).unwrap();
    let mut by_agent = |capability: &str, input: Value| {
        agent.try_raw("capability/invoke", json!({ "capability": capability, "input": input })).unwrap()
    };
    let path = files.join("note.txt");
    let written = by_agent("files/write_file", json!({ "path": path, "content": "kept" }));
    assert_eq!(
        (&written["status"], fs::read_to_string(&path).unwrap()),
        (&json!("succeeded"), "kept".into())
    );
    let read = by_agent("files/read_text_file", json!({ "path": path }));
    assert_eq!(text_of(&read), "kept");
    let beyond = by_agent("files/read_text_file", json!({ "path": "/etc/hostname" }));
    assert_eq!(beyond["status"], "failed", "{beyond}");
    let entity = json!({ "name": "edge", "entityType": "plane", "observations": ["it holds"] });
    let made = by_agent("memory/create_entities", json!({ "entities": [entity] }));
    assert_eq!(made["status"], "succeeded", "{made}");

    signals::kill(&running(&node, "server-memory"));
    eventually("it answers again", || {
        let call = json!({ "capability": "memory/search_nodes", "input": { "query": "edge" } });
        ask(&node, "capability/invoke", call).is_ok_and(|said| said["status"] == "succeeded")
    });
    let found = called(&node, "memory/search_nodes", &json!({ "query": "edge" }));
    assert_eq!(found["output"]["structuredContent"]["entities"][0]["observations"], json!(["it holds"]));
    node.kill_daemon();
    eventually("they end with the daemon", || {
        running(&node, "server-memory").is_empty() && running(&node, "server-filesystem").is_empty()
    });
    node.up();
    assert_eq!(text_of(&called(&node, "files/read_text_file", &json!({ "path": path }))), "kept");
    node.verify();
}

/// A server at an address, ended with the test.
struct Address {
    child: Child,
    port: u16,
}

impl Address {
    fn start(node: &Node, npm: &Npm, port: u16) -> Self {
        let told = node.scratch().join("port");
        drop(fs::remove_file(&told));
        let child = Command::new(&npm.runtime)
            .arg("--import")
            .arg(folder().join("loopback.mjs"))
            .args([program(npm, "server-everything"), "streamableHttp".to_owned()])
            .env("PORT_FILE", &told)
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let port = eventually_some("it listens", || fs::read_to_string(&told).ok()?.parse().ok());
        Self { child, port }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Address {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Proves CAP-017.
#[test]
fn a_public_server_at_an_address_is_called_again_after_its_death() {
    let Some(npm) = servers() else { return };
    let node = Node::start();
    let mut server = Address::start(&node, &npm, 0);
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: far}}
spec:
  transport: {{http: {{url: \"http://127.0.0.1:{}/mcp\"}}}}
  policy: {{default: allow}}
",
        server.port
    ));
    let found = names(&node, "far");
    assert!(found.contains(&"far/prompt:args-prompt".to_owned()), "{found:?}");
    let sum = json!({ "a": 2, "b": 3 });
    assert_eq!(text_of(&called(&node, "far/get-sum", &sum)), "The sum of 2 and 3 is 5.");
    let read = called(&node, "far/resource:demo://resource/static/document/features.md", &json!({}));
    assert!(read["output"]["contents"][0]["text"].as_str().unwrap().len() > 1_000, "{read}");
    let prompt = called(&node, "far/prompt:args-prompt", &json!({ "city": "Oslo" }));
    assert_eq!(prompt["output"]["messages"][0]["content"]["text"], "What's weather in Oslo?");

    server.kill();
    let call = json!({ "capability": "far/get-sum", "input": sum });
    match ask(&node, "capability/invoke", call.clone()) {
        Ok(said) => assert_ne!(said["status"], "succeeded", "{said}"),
        Err(error) => assert_eq!(error.name(), ErrorName::Unavailable, "{error}"),
    }
    // It runs again at the same address and knows nothing of what was before.
    let server = Address::start(&node, &npm, server.port);
    assert!(server.port > 0);
    eventually("it answers again", || {
        ask(&node, "capability/invoke", call.clone()).is_ok_and(|said| said["status"] == "succeeded")
    });
    assert_eq!(names(&node, "far"), found);
    node.verify();
}
