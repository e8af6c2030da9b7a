//! Speaking the Model Context Protocol to a server on standard streams, as a client's program would.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    process::{Child, Stdio},
    time::Duration,
};

use edgeplane_testkit::{Node, terminal, wait::eventually_some};
use serde_json::{Value, json};

/// An agent's program that starts `edgeplane mcp` as its child for each who connects to it, on that connection.
const HOST: &str = r#"
import socket, subprocess, sys
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen()
while True:
    talk, _ = door.accept()
    subprocess.Popen(sys.argv[2:], stdin=talk.fileno(), stdout=talk.fileno())
    talk.close()
"#;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Both revisions without and with a handshake.
pub(crate) const STATELESS: &str = "2026-07-28";
pub(crate) const SESSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// A conversation with a server.
#[derive(Debug)]
pub(crate) struct Talk {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    child: Option<Child>,
    version: &'static str,
    last_id: u64,
    heard: Vec<Value>,
}

impl Drop for Talk {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Runs an agent whose program hosts servers.
pub(crate) fn run_host(node: &Node, name: &str, more: &str) {
    let door = node.scratch().join(format!("{name}.door"));
    let (door, cli) =
        (door.to_string_lossy().into_owned(), node.binaries().cli.to_string_lossy().into_owned());
    let argv = ["/usr/bin/python3", "-c", HOST, &door, &cli, "mcp"];
    node.run(name, &terminal(name, &argv, more));
}

impl Talk {
    /// With a server that is a child of an agent's program.
    pub(crate) fn within(node: &Node, name: &str, version: &'static str) -> Self {
        let door = node.scratch().join(format!("{name}.door"));
        let stream = eventually_some("the agent's program listens", || UnixStream::connect(&door).ok());
        Self::over(stream, None, version)
    }

    /// With a server that is nobody's but ours.
    pub(crate) fn outside(node: &Node, version: &'static str) -> Self {
        Self::outside_with(node, version, &[])
    }

    /// The same with further arguments.
    pub(crate) fn outside_with(node: &Node, version: &'static str, more: &[&str]) -> Self {
        let args: Vec<&str> = ["mcp"].iter().chain(more).copied().collect();
        let (ours, theirs) = UnixStream::pair().unwrap();
        let out: std::os::fd::OwnedFd = theirs.try_clone().unwrap().into();
        let child = node
            .cli(&args)
            .stdin(std::os::fd::OwnedFd::from(theirs))
            .stdout(out)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self::over(ours, Some(child), version)
    }

    fn over(stream: UnixStream, child: Option<Child>, version: &'static str) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        let mut talk = Self { writer: stream, reader, child, version, last_id: 0, heard: Vec::new() };
        if version != STATELESS {
            let params = json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            let greeting = talk.ask("initialize", params).unwrap();
            assert_eq!(greeting["protocolVersion"], version, "{greeting}");
            talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        talk
    }

    /// Says something that is not answered.
    pub(crate) fn say(&mut self, line: &Value) {
        self.writer.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a request and gives its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.version == STATELESS {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let line = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.say(&line);
        self.last_id
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.reader.read_line(&mut line).unwrap() > 0, "the server has ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Waits for the answer to a request; what comes meanwhile is kept.
    pub(crate) fn answer(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let line = self.line();
            if line["id"] == id {
                return line.get("result").cloned().ok_or_else(|| line["error"].clone());
            }
            self.heard.push(line);
        }
    }

    /// Asks and waits for the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The next notification of this method, heard already or not.
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.heard.iter().position(|line| line["method"] == method) {
                return self.heard.remove(at)["params"].clone();
            }
            let line = self.line();
            self.heard.push(line);
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool });
        params["arguments"] = arguments;
        self.ask("tools/call", params).unwrap()
    }

    /// What a tool gives that must succeed.
    pub(crate) fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// What a tool says that must fail: its text, which begins with the name of the error.
    pub(crate) fn fails(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        let name = result["_meta"]["dev.edgeplane/error"]["name"].as_str().unwrap();
        assert!(text.starts_with(&format!("{name}: ")), "{result}");
        text
    }

    /// Reads a resource; its text.
    pub(crate) fn read(&mut self, uri: &str) -> String {
        let result = self.ask("resources/read", json!({ "uri": uri })).unwrap();
        result["contents"][0]["text"].as_str().unwrap().to_owned()
    }
}
