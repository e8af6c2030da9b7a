//! Over HTTP: a message of JSON-RPC, a path with parameters, or an answer in events.

use std::net::TcpStream;

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{self, Id, Incoming, RpcError};
use serde_json::{Value, json};

use super::{Access, Binding, Subscription};
use crate::{
    Notification,
    web::{Answer, Events, Web},
};

/// How a call looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Rpc,
    Path,
    Events,
}

pub(super) struct Http {
    access: Access,
    way: Way,
    web: Option<Web<TcpStream>>,
    next: i64,
}

impl Http {
    pub(super) fn new(access: &Access, way: Way) -> Self {
        Self { access: access.clone(), way, web: None, next: 0 }
    }

    fn headers(&self) -> Vec<(String, String)> {
        let accept = if self.way == Way::Events { "text/event-stream" } else { "application/json" };
        vec![
            ("Host".to_owned(), self.access.address.clone()),
            ("Authorization".to_owned(), format!("Bearer {}", self.access.token)),
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), accept.to_owned()),
        ]
    }

    fn connect(&self) -> Result<Web<TcpStream>, RpcError> {
        Web::connect(&self.access.address).map_err(|error| broken(&error))
    }

    /// Asks over the connection that is kept, or over a new one.
    fn ask(&mut self, path: &str, body: &Value) -> Result<Answer, RpcError> {
        let headers = self.headers();
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut web = match self.web.take() {
            Some(web) => web,
            None => self.connect()?,
        };
        let answer = web
            .ask(&format!("POST {path}"), &headers, body.to_string().as_bytes())
            .map_err(|error| broken(&error))?;
        self.web = Some(web);
        Ok(answer)
    }

    fn events(&self, line: &str, body: &[u8]) -> Result<Events<TcpStream>, RpcError> {
        let headers = self.headers();
        let mut headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        headers.retain(|(name, _)| *name != "Accept");
        headers.push(("Accept", "text/event-stream"));
        let mut web = self.connect()?;
        web.begin(line, &headers, body).map_err(|error| broken(&error))?;
        let head = web.head().map_err(|error| broken(&error))?;
        if head.status != 200 {
            let body = web.body(&head).map_err(|error| broken(&error))?;
            return Err(error_of(&Answer { head, body }));
        }
        Ok(Events::of(web))
    }

    fn message(&mut self, method: &str, params: Value) -> (Id, Value) {
        self.next += 1;
        let id = Id::Number(self.next);
        let line = rpc::request(&id, method, params);
        (id, serde_json::from_slice(&line).expect("a request is JSON"))
    }
}

impl Binding for Http {
    fn name(&self) -> &'static str {
        match self.way {
            Way::Rpc => "http",
            Way::Path => "path",
            Way::Events => "sse",
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        match self.way {
            Way::Path => {
                let answer = self.ask(&format!("/v1/{method}"), &params)?;
                if answer.status() == 200 { Ok(answer.json()) } else { Err(error_of(&answer)) }
            }
            Way::Rpc => {
                let (id, message) = self.message(method, params);
                let answer = self.ask("/v1/rpc", &message)?;
                response(&answer.body, &id)
            }
            Way::Events => {
                let (id, message) = self.message(method, params);
                let mut events = self.events("POST /v1/rpc", message.to_string().as_bytes())?;
                loop {
                    let event = events.next_event().map_err(|error| broken(&error))?;
                    match event {
                        Some(event) if event.event == "response" => {
                            return response(event.data.as_bytes(), &id);
                        }
                        Some(_) => {}
                        None => return Err(broken(&std::io::ErrorKind::UnexpectedEof.into())),
                    }
                }
            }
        }
    }

    fn subscribe(&mut self, params: Value) -> Result<Box<dyn Subscription>, RpcError> {
        let (mut events, first) = if self.way == Way::Events {
            let (_, message) = self.message("stream/subscribe", params);
            (self.events("POST /v1/rpc", message.to_string().as_bytes())?, "response")
        } else {
            (self.events(&format!("GET /v1/stream?{}", query(&params)), b"")?, "subscribed")
        };
        let mut early = Vec::new();
        loop {
            let event = events.next_event().map_err(|error| broken(&error))?;
            let event = event.ok_or_else(|| broken(&std::io::ErrorKind::UnexpectedEof.into()))?;
            let data: Value = serde_json::from_str(&event.data).expect("events are JSON");
            if event.event == first {
                let answer = match data.get("error").filter(|_| first == "response") {
                    Some(error) => return Err(serde_json::from_value(error.clone()).expect("an error")),
                    None if first == "response" => data["result"].clone(),
                    None => data,
                };
                return Ok(Box::new(Subscribed { answer, events, early: early.into_iter() }));
            }
            early.push(Notification { method: event.event, params: data });
        }
    }
}

struct Subscribed {
    answer: Value,
    events: Events<TcpStream>,
    early: std::vec::IntoIter<Notification>,
}

impl Subscription for Subscribed {
    fn answer(&self) -> &Value {
        &self.answer
    }

    fn next(&mut self) -> Option<Notification> {
        if let Some(early) = self.early.next() {
            return Some(early);
        }
        let event = self.events.next_event().ok().flatten()?;
        let params = serde_json::from_str(&event.data).expect("events are JSON");
        Some(Notification { method: event.event, params })
    }
}

/// Parameters as the query of an address.
pub(super) fn query(params: &Value) -> String {
    let encode = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect()
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut parts = Vec::new();
    for (name, value) in params.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::Array(items) => {
                parts.extend(items.iter().map(|item| format!("{name}={}", encode(&text(item)))));
            }
            Value::Object(fields) => {
                let fields =
                    fields.iter().map(|(field, value)| format!("{name}.{field}={}", encode(&text(value))));
                parts.extend(fields);
            }
            other => parts.push(format!("{name}={}", encode(&text(other)))),
        }
    }
    parts.join("&")
}

fn response(bytes: &[u8], id: &Id) -> Result<Value, RpcError> {
    match rpc::parse_line(bytes) {
        Ok(Incoming::Response { id: of, outcome }) => {
            // A request that could not be read is answered without an id.
            assert!(of == *id || outcome.is_err(), "the answer to {id:?} is one to {of:?}");
            Ok(serde_json::from_str(outcome?.get()).expect("a result is JSON"))
        }
        other => panic!("no response: {other:?}"),
    }
}

pub(super) fn error_of(answer: &Answer) -> RpcError {
    let body = answer.json();
    let error = body.get("error").cloned().unwrap_or_else(|| body.clone());
    serde_json::from_value(error).unwrap_or_else(|_other| {
        RpcError::new(ErrorName::Internal, json!({ "status": answer.status(), "body": body }).to_string())
    })
}

pub(super) fn broken(error: &std::io::Error) -> RpcError {
    RpcError::new(ErrorName::Unavailable, format!("the conversation broke: {error}"))
}
