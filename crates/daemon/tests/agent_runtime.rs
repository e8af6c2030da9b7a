//! The acceptance scenarios of Agent Runtime, played by the conformance runner against a node, over HTTP alone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    path::PathBuf,
    process::{Command, Stdio},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use edgeplane_testkit::{Node, NodeOptions, acp, mcp, wait::eventually};
use edgeplane_types::Scope;
use serde_json::json;

/// What comes of each scenario. `not served` stands where the catalogue has the name and this version no method yet:
/// flip the word when the method comes, and declare what the scenario needs below.
const EXPECTED: [(&str, &str); 18] = [
    ("AC-1", "passed"),
    ("AC-2", "passed"),
    ("AC-3", "passed"),
    ("AC-4", "passed"),
    ("AC-5", "passed"),
    ("AC-6", "passed"),
    ("AC-7", "passed"),
    ("AC-8", "passed"),
    ("AC-9", "passed"),
    ("AC-10", "passed"),
    ("AC-11", "passed"),
    ("AC-12", "passed"),
    ("AC-13", "passed"),
    ("AC-14", "passed"),
    ("AC-15", "passed"),
    ("AC-16", "passed"),
    ("AC-17", "passed"),
    ("AC-18", "passed"),
];

/// What the runner's command for a restart says.
const RESTART: &str = "restart it";

/// A node that keeps its address over a restart.
fn node() -> Node {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let env = vec![("EDGEPLANE_HTTP_LISTEN".to_owned(), free.to_string())];
    Node::start_with(NodeOptions { env, ..NodeOptions::default() })
}

/// A place in a session's strict events that no version of them has.
fn stale_cursor(node: &Node, agent: &str) -> String {
    let session = node.get(agent).status.identities.session.session_id;
    let target = json!({ "kind": "session", "id": session });
    let read = json!({ "projection": "agentruntime.lime", "target": target, "limit": 1 });
    let cursor =
        node.connect().try_raw("stream/replay", read).unwrap()["cursor"].as_str().unwrap().to_owned();
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).unwrap()).unwrap();
    let (rest, number) = text.rsplit_once('|').unwrap();
    let (rest, _version) = rest.rsplit_once('|').unwrap();
    URL_SAFE_NO_PAD.encode(format!("{rest}|0|{number}"))
}

/// Declares what the runner's README asks for, and says who plays which part.
fn declare(node: &Node) -> PathBuf {
    let server = node.program("server.py", mcp::SERVER).display().to_string();
    let (log, state) = (node.scratch().join("tools.mcp"), node.scratch().join("tools.state"));
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: conformance}}
spec:
  transport:
    stdio:
      command: [python3, -u, {server}, plain]
      env: {{MCP_LOG: {}, MCP_STATE: {}}}
  timeoutMs: 30000
  policy: {{default: ask, allow: [append], deny: [add]}}",
        log.display(),
        state.display()
    ));
    let hook = node.program("rewrite.py", "print('{\"updatedInput\": {\"text\": \"rewritten\"}}')\n");
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: hooked}}
spec:
  transport:
    stdio: {{command: [python3, -u, {server}, plain]}}
  timeoutMs: 30000
  hooks:
    pre:
      - {{name: rewrite, points: [pre_tool_use], run: {{exec: [python3, {}]}}}}
  policy: {{default: ask, allow: [echo]}}",
        hook.display()
    ));
    for (name, driver) in [("worker", ", commandInput: true"), ("second", "")] {
        node.run(name, &acp(name, &node.scratch().join(name), &[], (driver, "")));
    }
    eventually("its first session is open", || node.count("worker", "session.opened") == 1);
    // The recording of an epoch is evidence once the epoch is over.
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "worker" })).unwrap();
    eventually("its recording is sealed", || node.count("worker", "recording.sealed") == 1);
    eventually("its session goes on", || node.count("worker", "session.opened") == 2);
    let path = node.scratch().join("fixture.toml");
    let append = node.scratch().join("{word}").display().to_string();
    let text = format!(
        "[prompts]\nwrite = 'call conformance/append {{\"path\": \"{append}\", \"text\": \"x\"}}'\n\
         denied = 'call conformance/echo {{\"text\": \"{{word}}\"}}'\n\
         forbidden = 'call conformance/add {{\"a\": 1, \"b\": 2}}'\n\
         hooked = 'call hooked/echo {{\"text\": \"{{word}}\"}}'\n\
         [values]\nstale_cursor = \"{}\"\n",
        stale_cursor(node, "worker")
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// Proves BEN-005 with AC-18.
#[test]
fn scenarios_of_the_standard_pass_but_for_what_is_declared_unserved() {
    let mut node = node();
    let fixture = declare(&node);
    let token = node.remote_token("conformance", Scope::ALL, &[]);
    let access = node.access(&token.token);
    let runner = node.binaries().daemon.with_file_name("agent-runtime-conformance");
    let mut child = Command::new(runner)
        .args(["--url", &format!("http://{}", access.address), "--restart"])
        .arg(format!("echo {RESTART}; read answer"))
        .args(["--token-file".as_ref(), access.token_file.as_os_str()])
        .args(["--fixture".as_ref(), fixture.as_os_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut told, mut found) = (String::new(), Vec::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line == RESTART {
            node.kill_daemon();
            node.up();
            assert_eq!(node.http_address(), access.address);
            child.stdin.as_mut().unwrap().write_all(b"done\n").unwrap();
            continue;
        }
        println!("{line}");
        if let Some((id, rest)) = line.split_once(' ').filter(|(id, _)| id.starts_with("AC-")) {
            let words = ["passed", "failed", "not served", "not applicable"];
            let word = words.into_iter().find(|word| rest.trim_start().starts_with(word)).unwrap();
            found.push((id.to_owned(), word));
        }
        told.push_str(&line);
        told.push('\n');
    }
    let status = child.wait().unwrap();
    let found: Vec<_> = found.iter().map(|(id, word)| (id.as_str(), *word)).collect();
    assert_eq!(found, EXPECTED, "{told}\n{}", node.log());
    assert!(status.success(), "{status}\n{told}");
    node.verify();
}
