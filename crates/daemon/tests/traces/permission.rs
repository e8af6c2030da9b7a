//! Calls of connectors that are not let have a verdict of their own.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use edgeplane_testkit::{Node, mcp, wait::eventually_some};
use serde_json::{Value, json};

use super::{call, command, ended, explained, run, spans, tell, verdict};

fn connector(node: &Node, name: &str, transport: &str) {
    node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: {name}}}
spec:
  transport: {transport}
  policy: {{default: ask, allow: [echo], deny: [die]}}
"
    ));
}

/// A connector over the scripted server.
fn tools(node: &Node) {
    let server = node.program("server.py", mcp::SERVER).display().to_string();
    connector(node, "tools", &format!("{{stdio: {{command: [python3, -u, {server}, plain]}}}}"));
}

/// Steps of a program that calls something and waits until that is over, however it ends.
fn calls(node: &Node, capability: &str, input: &Value) -> String {
    let cli = node.binaries().cli.display().to_string();
    let script = format!(
        "id=$({cli} capability invoke {capability} --json '{input}' -o json | \
         sed -n 's/.*\"invocation_id\": *\"\\(inv_[^\"]*\\)\".*/\\1/p' | head -n 1); \
         test -z \"$id\" || {cli} capability await \"$id\"; true"
    );
    command("sh", &json!(["-c", script]))
}

/// Proves TRACE-010, PROT-007.
#[test]
fn a_call_that_a_rule_refuses_is_connector_permission() {
    let node = Node::start();
    tools(&node);
    run(&node, "coder", "");
    // On a machine that is busy with something else a turn is not always quick.
    let found = eventually_some("a turn was quick", || {
        let id = tell(&node, "coder", &calls(&node, "tools/die", &json!({})));
        ended(&node, &id);
        let found = explained(&node, &id);
        (found["verdict"] == "connector_permission").then_some(found)
    });
    assert_eq!(found["rule"], "call-refused", "{found}");
    assert!(found["reason"].as_str().unwrap().contains("connector-deny"), "{found}");
    let refused = node.history("coder").into_iter().find(|event| event.event["type"] == "request.refused");
    let shown = found["evidence"].as_array().unwrap().iter().map(|one| one["pos"].as_u64().unwrap());
    assert!(refused.is_some() && shown.count() >= 1, "{found}");
    // What is let is a tool like any other.
    let id = tell(&node, "coder", &calls(&node, "tools/echo", &json!({ "text": "hi" })));
    let trace = ended(&node, &id);
    let names: Vec<&str> = spans(&trace, "tool").iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"execute_tool tools/echo"), "{names:?}");
    assert_ne!(explained(&node, &id)["verdict"], "connector_permission");
}

/// Proves TRACE-010, TRACE-011, PROT-007.
#[test]
fn waiting_for_leave_to_call_is_connector_permission() {
    let node = Node::start();
    tools(&node);
    run(&node, "coder", "");
    let path = node.scratch().join("written");
    let id = tell(&node, "coder", &calls(&node, "tools/append", &json!({ "path": path, "text": "x" })));
    let open = verdict(&node, &id, "connector_permission");
    assert_eq!(
        (&open["rule"], &open["owner"]["kind"]),
        (&json!("waited-for-leave-to-call"), &json!("person"))
    );
    let list = call(&node, "conversation/action.list", json!({ "agent": "coder" }));
    let action = &list["items"][0]["action"];
    let decision =
        json!({ "action_id": action["id"], "digest": action["digest"], "verdict": { "verdict": "approve" } });
    call(&node, "conversation/action.respond", decision);
    ended(&node, &id);
    let closed = explained(&node, &id);
    assert_eq!(closed["verdict"], "connector_permission", "{closed}");
    assert!(closed["owner"]["name"].as_str().unwrap().starts_with("uid-"), "{closed}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x\n");
}

/// Answers each request with 401.
fn locked() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let refuse = |stream: TcpStream| -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line)? > 2 {
            let header = line.to_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        reader.take(length).read_to_end(&mut Vec::new())?;
        let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error=\"invalid_token\"\r\n\
                      Content-Length: 0\r\nConnection: close\r\n\r\n";
        (&stream).write_all(answer.as_bytes())
    };
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(refuse(stream))));
    url
}

/// Proves TRACE-010, PROT-007.
#[test]
fn a_server_that_does_not_let_the_node_in_is_connector_permission() {
    let node = Node::start();
    connector(&node, "far", &format!("{{http: {{url: \"{}\"}}}}", locked()));
    run(&node, "coder", "");
    let found = eventually_some("a turn was quick", || {
        let id = tell(&node, "coder", &calls(&node, "far/echo", &json!({})));
        ended(&node, &id);
        let found = explained(&node, &id);
        (found["verdict"] == "connector_permission").then_some(found)
    });
    assert_eq!(found["rule"], "call-refused", "{found}");
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.contains("401") && reason.contains("connector-credentials"), "{found}");
}
