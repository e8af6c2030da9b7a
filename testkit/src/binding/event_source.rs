//! A stream over HTTP as an `EventSource` of a browser reads it: always the same address, and where it was in a header.

use std::net::TcpStream;

use edgeplane_wire::rpc::RpcError;
use serde_json::Value;

use super::{
    Access,
    http::{broken, error_of, query},
};
use crate::{
    Notification,
    web::{Answer, Events, Web},
};

/// One connection of it.
#[derive(Debug)]
pub struct EventSource {
    events: Events<TcpStream>,
    answer: Value,
    last: Option<String>,
}

impl EventSource {
    /// Connects with the parameters of `stream/subscribe` in the address, and waits for the first event.
    ///
    /// # Errors
    /// What the node answers, or `unavailable` if the conversation broke.
    ///
    /// # Panics
    /// If an event comes before the answer.
    pub fn open(access: &Access, params: &Value, last_event_id: Option<&str>) -> Result<Self, RpcError> {
        let mut web = Web::connect(&access.address).map_err(|error| broken(&error))?;
        let bearer = format!("Bearer {}", access.token);
        let mut headers = vec![
            ("Host", access.address.as_str()),
            ("Authorization", bearer.as_str()),
            ("Accept", "text/event-stream"),
        ];
        headers.extend(last_event_id.map(|id| ("Last-Event-ID", id)));
        let line = format!("GET /v1/stream?{}", query(params));
        web.begin(&line, &headers, b"").map_err(|error| broken(&error))?;
        let head = web.head().map_err(|error| broken(&error))?;
        if head.status != 200 {
            let body = web.body(&head).map_err(|error| broken(&error))?;
            return Err(error_of(&Answer { head, body }));
        }
        let last = last_event_id.map(str::to_owned);
        let mut source = Self { events: Events::of(web), answer: Value::Null, last };
        loop {
            let Notification { method, params } = source.notification()?;
            match method.as_str() {
                "subscribed" => {
                    source.answer = params;
                    return Ok(source);
                }
                "stream/state" => {}
                other => panic!("`{other}` before the answer: {params}"),
            }
        }
    }

    /// What `stream/subscribe` answered.
    #[must_use]
    pub fn answer(&self) -> &Value {
        &self.answer
    }

    /// The `id` of the newest event that had one: what the next connection begins with.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// The next event.
    ///
    /// # Errors
    /// `unavailable` if the conversation broke.
    ///
    /// # Panics
    /// If an event carries no JSON.
    pub fn notification(&mut self) -> Result<Notification, RpcError> {
        let event = self.events.next_event().map_err(|error| broken(&error))?;
        let event = event.ok_or_else(|| broken(&std::io::ErrorKind::UnexpectedEof.into()))?;
        self.last = event.id.or_else(|| self.last.take());
        let params = serde_json::from_str(&event.data).expect("events are JSON");
        Ok(Notification { method: event.event, params })
    }
}
