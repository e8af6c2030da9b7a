//! The stage of these tests: agents, automations, and short words for calls.

use std::path::Path;

use edgeplane_os::Mint;
use edgeplane_testkit::{
    Connection, Node, NodeOptions, task_worker,
    wait::{eventually, eventually_some},
    web::{Answer, Web},
};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

/// The secret of webhooks.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Runs an agent that ends each turn at once.
pub(crate) fn worker(node: &Node, name: &str) {
    let log = node.scratch().join(format!("{name}.log"));
    node.run(name, &task_worker(name, &log, &[], ""));
}

/// A conversation as an agent: what comes over its own socket is at most that one.
pub(crate) fn as_agent(node: &Node, name: &str) -> Connection {
    let socket = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&socket)).unwrap()
}

pub(crate) fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

pub(crate) fn made(node: &Node, method: &str, params: Value) -> Value {
    ask(node, method, params).unwrap()
}

/// Writes an automation as an operator.
pub(crate) fn put(node: &Node, name: &str, value: &Value) -> Value {
    made(node, "resource/put", json!({ "uri": format!("edgeplane://automation/{name}"), "value": value }))
}

/// An automation of this event that signals an agent.
pub(crate) fn signalling(kind: &str, about: &str, to: &str, text: &str) -> Value {
    let words = json!([{ "type": "text", "text": text }]);
    json!({
        "on": { "event": { "types": [kind], "agent": about } },
        "do": { "method": { "name": "runtime/agent.signal", "params": { "agent": to, "parts": words } } },
    })
}

pub(crate) fn shown(node: &Node, name: &str) -> Value {
    made(node, "capability/automation.get", json!({ "name": name, "firings": 200 }))
}

/// The firings of an automation, oldest first.
pub(crate) fn firings(node: &Node, name: &str) -> Vec<Value> {
    let mut all = shown(node, name)["firings"].as_array().cloned().unwrap_or_default();
    all.reverse();
    all
}

/// Waits until so many firings of an automation are over, and gives all of them.
pub(crate) fn over(node: &Node, name: &str, count: usize) -> Vec<Value> {
    eventually_some(&format!("{count} firings of {name} are over"), || {
        let all = firings(node, name);
        let ended = all.iter().filter(|firing| firing["state"] != "open").count();
        (ended >= count && ended == all.len()).then_some(all)
    })
}

pub(crate) fn states(firings: &[Value]) -> Vec<&str> {
    firings.iter().map(|firing| firing["state"].as_str().unwrap()).collect()
}

/// The messages to an agent whose text has these words in it.
pub(crate) fn messages(node: &Node, agent: &str, words: &str) -> Vec<Value> {
    let list = made(node, "runtime/inbox.list", json!({ "agent": agent, "all": true, "limit": 500 }));
    let all = list["items"].as_array().unwrap().iter();
    all.filter(|message| message["parts"].to_string().contains(words)).cloned().collect()
}

pub(crate) fn stop(node: &Node, name: &str) {
    node.stop(name);
}

/// Starts an agent, which is stopped, again.
pub(crate) fn start(node: &Node, name: &str) {
    made(node, "runtime/agent.start", json!({ "agent": name }));
    node.wait(name, edgeplane_types::Phase::Running);
}

pub(crate) fn now() -> u64 {
    Mint::system().clock.now().as_millis() / 1_000
}

/// Waits until the clock of this machine shows a time.
pub(crate) fn until(seconds: u64) {
    eventually("the time has come", || now() >= seconds);
}

/// A node that takes deliveries to the automation `pushed`, which tells an agent what they say.
pub(crate) fn with_hook() -> Node {
    let node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    worker(&node, "reviewer");
    let secret = node.scratch().join("secret");
    std::fs::write(&secret, format!("{SECRET}\n")).unwrap();
    let value = json!({
        "on": { "webhook": { "secretRef": { "file": secret } } },
        "do": { "method": { "name": "runtime/agent.signal", "params": {
            "agent": "reviewer", "parts": [{ "type": "text", "text": "It says ${event.body.what}" }],
        } } },
    });
    put(&node, "pushed", &value);
    node
}

/// A delivery over HTTP.
pub(crate) struct Delivery<'a> {
    pub(crate) hook: &'a str,
    pub(crate) id: &'a str,
    pub(crate) at: u64,
    pub(crate) kind: &'a str,
    pub(crate) body: &'a [u8],
}

impl Delivery<'_> {
    pub(crate) fn signed(&self, secret: &str) -> String {
        edgeplane_proof::webhook::sign(secret, self.id, &self.at.to_string(), self.body).unwrap()
    }

    pub(crate) fn send(&self, node: &Node, signature: &str) -> Answer {
        self.send_with(node, signature, &[])
    }

    /// The same with further headers.
    pub(crate) fn send_with(&self, node: &Node, signature: &str, more: &[(&str, &str)]) -> Answer {
        let (at, host) = (self.at.to_string(), node.http_address());
        let own = [
            ("host", host.as_str()),
            ("content-type", self.kind),
            ("webhook-id", self.id),
            ("webhook-timestamp", &at),
            ("webhook-signature", signature),
        ];
        let headers = [&own, more].concat();
        let line = format!("POST /v1/hooks/{}", self.hook);
        Web::connect(&host).unwrap().ask(&line, &headers, self.body).unwrap()
    }

    pub(crate) fn send_signed(&self, node: &Node) -> Answer {
        self.send(node, &self.signed(SECRET))
    }
}
