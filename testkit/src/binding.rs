//! The ways to speak with a node, as one: the same script runs over each of them.
//!
//! Every call and every subscription is one of the token's bearer, so that the answers may be compared.

mod event_source;
mod http;
mod lines;

use std::path::PathBuf;

use edgeplane_wire::rpc::RpcError;
use serde_json::Value;

pub use event_source::EventSource;
pub use lines::{Talk, open_socket};

use crate::{Node, Notification, wait::eventually_some};

/// A way to speak with a node.
pub trait Binding {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Calls a method.
    ///
    /// # Errors
    /// What the node answers, or `unavailable` if the conversation broke.
    fn call(&mut self, method: &str, params: Value) -> Result<Value, RpcError>;

    /// Begins a subscription with the parameters of `stream/subscribe`.
    ///
    /// # Errors
    /// What the node answers, or `unavailable` if the conversation broke.
    fn subscribe(&mut self, params: Value) -> Result<Box<dyn Subscription>, RpcError>;
}

/// A subscription, in a conversation of its own. Dropping it ends it.
pub trait Subscription {
    /// What `stream/subscribe` answered.
    fn answer(&self) -> &Value;

    /// The next notification; `None` when the conversation has ended.
    fn next(&mut self) -> Option<Notification>;
}

/// Where a node is, and as whom to speak with it.
#[derive(Debug, Clone)]
pub struct Access {
    /// Its socket.
    pub socket: PathBuf,
    /// Where it serves the protocol over HTTP.
    pub address: String,
    /// As whose bearer.
    pub token: String,
    /// The CLI.
    pub cli: PathBuf,
    /// The token in a file.
    pub token_file: PathBuf,
}

impl Access {
    /// Every way: `unix`, `http` (messages of JSON-RPC), `path` (a path for each method), `sse` (answers as events), `ws`
    /// and `stdio`.
    ///
    /// # Panics
    /// If one of them cannot be begun.
    #[must_use]
    pub fn bindings(&self) -> Vec<Box<dyn Binding>> {
        vec![
            Box::new(lines::unix(self)),
            Box::new(http::Http::new(self, http::Way::Rpc)),
            Box::new(http::Http::new(self, http::Way::Path)),
            Box::new(http::Http::new(self, http::Way::Events)),
            Box::new(lines::socket(self)),
            Box::new(lines::stdio(self)),
        ]
    }
}

impl Node {
    /// The variables of a daemon that serves the protocol over HTTP, on any port that is free.
    #[must_use]
    pub fn over_http() -> Vec<(String, String)> {
        vec![("EDGEPLANE_HTTP_LISTEN".to_owned(), "127.0.0.1:0".to_owned())]
    }

    /// Where it serves the protocol over HTTP: the last address that its daemon has logged.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn http_address(&self) -> String {
        eventually_some("the node serves the protocol over HTTP", || {
            let log = self.log();
            let (_, rest) = log.rsplit_once("the protocol over HTTP is served url=http")?;
            let rest = rest.trim_start_matches('s').strip_prefix("://")?;
            rest.split_whitespace().next().map(str::to_owned)
        })
    }

    /// What its bindings need to speak as a token's bearer.
    ///
    /// # Panics
    /// If the token cannot be written to a file.
    #[must_use]
    pub fn access(&self, token: &str) -> Access {
        let file = self.scratch().join(format!("token-{}", token.chars().rev().take(8).collect::<String>()));
        edgeplane_os::atomic::write_atomic(&file, token.as_bytes(), 0o600).expect("a token in a file");
        Access {
            socket: self.socket(),
            address: self.http_address(),
            token: token.to_owned(),
            cli: self.binaries().cli.clone(),
            token_file: file,
        }
    }
}
