//! The ways over which cases are shown: HTTP, a path for each method; a WebSocket for what is bound to a connection; the
//! node's socket for what no token is enough for.

use std::{net::TcpStream, path::PathBuf};

use edgeplane_testkit::{
    Connection, Node,
    binding::{Access, open_socket},
    web::Web,
};
use edgeplane_wire::{
    catalogue::{self, Need, opening::is_opening},
    rpc::RpcError,
};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket};

/// A conversation in which each call goes the way that it can go.
pub(crate) type Talk = Box<dyn FnMut(&str, Value) -> Result<Value, RpcError>>;

/// Who speaks.
#[derive(Clone, Copy)]
pub(crate) enum Who<'a> {
    /// An operator: with a token that has every scope, and as the kernel knows it where no token is enough.
    Operator,
    /// An agent, with a token of its epoch.
    Agent(&'a str),
    /// An agent, over the socket of its epoch.
    Inside(&'a str),
    /// A token's bearer.
    Bearer(&'a str),
}

/// Methods about what a connection has opened.
const OF_A_CONNECTION: [&str; 7] = [
    "stream/unsubscribe",
    "stream/ack",
    "stream/status",
    "runtime/agent.detach",
    "runtime/agent.write",
    "runtime/agent.resize",
    "observe/tap.close",
];

fn is_of_a_connection(method: &str) -> bool {
    is_opening(method) || OF_A_CONNECTION.contains(&method)
}

/// A conversation of somebody with a node; `access` is the operator's.
pub(crate) fn talk(node: &Node, access: &Access, who: Who<'_>) -> Talk {
    let socket_of = |name: &str| -> PathBuf {
        let socket = node.get(name).status.identities.network.socket.unwrap();
        PathBuf::from(AsRef::<std::path::Path>::as_ref(&socket))
    };
    let (token, uid) = match who {
        Who::Operator => (access.token.clone(), Some(node.socket())),
        Who::Bearer(token) => (token.to_owned(), None),
        Who::Agent(name) => {
            let mut inside = Connection::open(&socket_of(name)).unwrap();
            let made = inside.try_raw("security/token.epoch", json!({})).unwrap();
            (made["token"].as_str().unwrap().to_owned(), None)
        }
        Who::Inside(name) => {
            let mut inside = Connection::open(&socket_of(name)).unwrap();
            return Box::new(move |method, params| inside.try_raw(method, params));
        }
    };
    let access = Access { token, ..access.clone() };
    let (mut post, mut socket, mut unix) = (Post::new(&access), None, None);
    Box::new(move |method, params| {
        let needs_uid = catalogue::find(method).is_some_and(|row| row.need == Need::Uid);
        match &uid {
            Some(path) if needs_uid => {
                let unix = unix.get_or_insert_with(|| Connection::open(path).unwrap());
                unix.try_raw(method, params)
            }
            _ if is_of_a_connection(method) => {
                socket.get_or_insert_with(|| Socket::open(&access)).call(method, &params)
            }
            _ => post.call(method, params),
        }
    })
}

/// One request for each call.
pub(crate) struct Post {
    access: Access,
    web: Option<Web<TcpStream>>,
}

impl Post {
    pub(crate) fn new(access: &Access) -> Self {
        Self { access: access.clone(), web: None }
    }

    /// Calls a method. The key of a request goes in its header, and the status is that of the failure's name.
    pub(crate) fn call(&mut self, method: &str, mut params: Value) -> Result<Value, RpcError> {
        let bearer = format!("Bearer {}", self.access.token);
        let mut headers = vec![
            ("Host", self.access.address.as_str()),
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        let ctx = params.as_object_mut().and_then(|fields| fields.remove("ctx"));
        let key = ctx.as_ref().and_then(|ctx| ctx["idempotency_key"].as_str());
        headers.extend(key.map(|key| ("Idempotency-Key", key)));
        let web = self.web.get_or_insert_with(|| Web::connect(&self.access.address).unwrap());
        let answer = web.ask(&format!("POST /v1/{method}"), &headers, params.to_string().as_bytes()).unwrap();
        let body = answer.json();
        if answer.status() == 200 {
            return Ok(body);
        }
        let error: RpcError = serde_json::from_value(body).unwrap();
        assert_eq!(answer.status(), error.name().http_status(), "{method}: {error}");
        Err(error)
    }
}

/// Requests and answers that follow one another over a WebSocket.
struct Socket {
    socket: WebSocket<TcpStream>,
    next: i64,
}

impl Socket {
    fn open(access: &Access) -> Self {
        Self { socket: open_socket(access), next: 0 }
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.socket.send(Message::text(request.to_string())).unwrap();
        loop {
            let Message::Text(text) = self.socket.read().unwrap() else { continue };
            let mut heard: Value = serde_json::from_str(&text).unwrap();
            if heard["id"] != self.next {
                continue;
            }
            return match heard.get("error") {
                Some(error) => Err(serde_json::from_value(error.clone()).unwrap()),
                None => Ok(heard["result"].take()),
            };
        }
    }
}
