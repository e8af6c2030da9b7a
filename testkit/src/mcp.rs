//! A scripted server of the Model Context Protocol, well-behaved or hostile.

use std::fs;

use crate::Node;

/// The program of the server, in Python, to be written to a file; its first argument says how it behaves.
pub const SERVER: &str = include_str!("mcp_server.py");

/// The declaration of a connector over the server in one of its ways; `more` is the rest of its `spec`, indented by two.
/// What the server is told goes to `NAME.mcp` in the node's scratch folder, what it is to change it reads in `NAME.state`.
#[must_use]
pub fn declaration(node: &Node, name: &str, mode: &str, more: &str) -> String {
    let server = node.program("server.py", SERVER).display().to_string();
    let file = |ending| node.scratch().join(format!("{name}.{ending}")).display().to_string();
    let (log, state) = (file("mcp"), file("state"));
    format!(
        "apiVersion: edgeplane.dev/v1alpha1
kind: Connector
metadata: {{name: {name}}}
spec:
  transport:
    stdio:
      command: [python3, -u, {server}, {mode}]
      env: {{MCP_LOG: {log}, MCP_STATE: {state}}}
{more}
"
    )
}

/// How often a tool of the connector's server was called.
#[must_use]
pub fn calls(node: &Node, name: &str) -> usize {
    let log = fs::read_to_string(node.scratch().join(format!("{name}.mcp"))).unwrap_or_default();
    log.lines().filter(|line| line.contains("tools/call")).count()
}
