//! The protocol over each of its bindings, through real processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "bindings/calls.rs"]
mod calls;
#[path = "bindings/hostile.rs"]
mod hostile;
#[path = "bindings/sockets.rs"]
mod sockets;
#[path = "bindings/stdio.rs"]
mod stdio;
#[path = "bindings/streams.rs"]
mod streams;
#[path = "bindings/tls.rs"]
mod tls;

use std::net::TcpStream;

use edgeplane_testkit::{
    Node, NodeOptions,
    binding::Access,
    web::{Answer, Web},
};
use edgeplane_types::{Scope, TokenKind};
use serde_json::Value;

/// A node that serves the protocol over HTTP, and a way to it for a service that may read and signal.
fn listening() -> (Node, Access) {
    let node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    let token = node.token("reports", TokenKind::Service, &[Scope::Read, Scope::Signal], &[]);
    let access = node.access(&token.token);
    (node, access)
}

/// A connection of somebody who speaks HTTP.
struct Client {
    web: Web<TcpStream>,
    access: Access,
}

impl Client {
    fn new(access: &Access) -> Self {
        Self { web: Web::connect(&access.address).unwrap(), access: access.clone() }
    }

    /// The headers of a good request, and more.
    fn headers(&self, more: &[(&str, &str)]) -> Vec<(String, String)> {
        let bearer = format!("Bearer {}", self.access.token);
        let mut headers: Vec<(String, String)> = [
            ("Host", self.access.address.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
        ]
        .into_iter()
        .filter(|(name, _)| more.iter().all(|(other, _)| !other.eq_ignore_ascii_case(name)))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
        // A header that is given as nothing is left out.
        let more = more.iter().filter(|(_, value)| !value.is_empty());
        headers.extend(more.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        headers
    }

    fn ask(&mut self, line: &str, more: &[(&str, &str)], body: &[u8]) -> Answer {
        let headers = self.headers(more);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.web.ask(line, &headers, body).unwrap()
    }

    fn begin(&mut self, line: &str, more: &[(&str, &str)], body: &[u8]) {
        let headers = self.headers(more);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.web.begin(line, &headers, body).unwrap();
    }

    fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.ask(&format!("POST {path}"), &[], body.to_string().as_bytes())
    }
}

/// The name of the error of one request over a connection of its own.
fn refusal(access: &Access, line: &str, more: &[(&str, &str)], body: &[u8]) -> (u16, String) {
    let answer = Client::new(access).ask(line, more, body);
    (answer.status(), answer.error_name())
}
