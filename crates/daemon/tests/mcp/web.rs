//! Requests over HTTP, as a client's program or a hostile page would send them.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use edgeplane_testkit::{Node, wait::eventually_some};
use serde_json::{Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a node serves the protocol over HTTP: the last address that it has logged.
pub(crate) fn address(node: &Node) -> String {
    eventually_some("the node listens", || {
        let log = node.log();
        let (_, rest) = log.rsplit_once("http://127.0.0.1:")?;
        let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(format!("127.0.0.1:{port}"))
    })
}

/// A request and its headers.
#[derive(Debug, Clone)]
pub(crate) struct Ask<'a> {
    pub(crate) address: &'a str,
    pub(crate) path: &'a str,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// The length that it says it has, if that is another.
    pub(crate) length: Option<usize>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) headers: String,
    reader: BufReader<TcpStream>,
}

impl<'a> Ask<'a> {
    /// A request of the revision without a handshake.
    pub(crate) fn stateless(address: &'a str, token: &str, method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let named = params["name"].as_str().or_else(|| params["uri"].as_str()).map(str::to_owned);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut ask =
            Self::plain(address, body).with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method);
        if let Some(name) = named {
            ask = ask.with("Mcp-Name", &name);
        }
        if token.is_empty() { ask } else { ask.with("Authorization", &format!("Bearer {token}")) }
    }

    /// A request of a session, or the handshake that begins one.
    pub(crate) fn session(address: &'a str, token: &str, session: Option<&str>, body: &Value) -> Self {
        let mut ask = Self::plain(address, body.to_string())
            .with("MCP-Protocol-Version", "2025-11-25")
            .with("Authorization", &format!("Bearer {token}"));
        if let Some(session) = session {
            ask = ask.with("Mcp-Session-Id", session);
        }
        ask
    }

    fn plain(address: &'a str, body: String) -> Self {
        Self { address, path: "/mcp", headers: Vec::new(), body, length: None }
            .with("Host", address)
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with another value of a header, or without it.
    pub(crate) fn instead(mut self, name: &str, value: Option<&str>) -> Self {
        self.headers.retain(|(known, _)| known != name);
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn send(&self) -> Said {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut text = format!("POST {} HTTP/1.1\r\nConnection: close\r\n", self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!(
            "Content-Length: {}\r\n\r\n{}",
            self.length.unwrap_or(self.body.len()),
            self.body
        ));
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let (mut headers, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).unwrap() > 0 && !line.trim().is_empty() {
            headers.push_str(&line);
            line.clear();
        }
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Said { status, headers, reader }
    }

    /// The status alone.
    pub(crate) fn status(&self) -> u16 {
        self.send().status
    }
}

impl Said {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    }

    /// The whole body.
    pub(crate) fn text(mut self) -> String {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The next message of a body that is a stream of events, or that is one message.
    pub(crate) fn message(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "the stream has ended");
            let line = line.trim();
            let data = line.strip_prefix("data:").unwrap_or(line).trim();
            if let Ok(message @ Value::Object(_)) = serde_json::from_str(data) {
                return message;
            }
        }
    }
}
