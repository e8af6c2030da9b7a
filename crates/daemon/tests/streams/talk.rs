//! Talking about streams, over whichever transport.

use edgeplane_testkit::{
    Connection, Node, Notification,
    binding::{self, Access, EventSource},
};
use edgeplane_wire::{
    api::stream::{StreamEvent, StreamState, SubscribeResult},
    rpc::RpcError,
};
use serde_json::{Value, json};

/// A conversation with a node. Every transport that carries notifications can be one.
pub(crate) trait Talk {
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, RpcError>;
    fn next(&mut self) -> Result<Notification, RpcError>;
}

impl Talk for Connection {
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.try_raw(method, params)
    }

    fn next(&mut self) -> Result<Notification, RpcError> {
        self.notification()
    }
}

impl Talk for binding::Talk {
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.call(method, params)
    }

    fn next(&mut self) -> Result<Notification, RpcError> {
        self.notification()
    }
}

/// A subscription that is asked for as a browser does it: the address is always the same, where it was stands in a header.
pub(crate) struct Browser {
    access: Access,
    source: Option<EventSource>,
}

impl Browser {
    pub(crate) fn new(access: Access) -> Self {
        Self { access, source: None }
    }
}

impl Talk for Browser {
    fn ask(&mut self, method: &str, mut params: Value) -> Result<Value, RpcError> {
        assert_eq!(method, "stream/subscribe", "nothing else can be asked over an answer that goes on");
        let cursor = params.as_object_mut().unwrap().remove("cursor");
        params["from"] = json!("start");
        let source = EventSource::open(&self.access, &params, cursor.as_ref().and_then(Value::as_str))?;
        let answer = source.answer().clone();
        assert_eq!(source.last_event_id(), answer["cursor"].as_str(), "who is cut off now begins here again");
        self.source = Some(source);
        Ok(answer)
    }

    fn next(&mut self) -> Result<Notification, RpcError> {
        let source = self.source.as_mut().unwrap();
        let heard = source.notification()?;
        if heard.method == "stream/event" {
            assert_eq!(
                source.last_event_id(),
                heard.params["cursor"].as_str(),
                "an event's id is its cursor"
            );
        }
        Ok(heard)
    }
}

/// What a subscriber hears.
#[derive(Debug)]
pub(crate) enum Heard {
    Event(Box<StreamEvent>),
    State(StreamState),
}

/// The next word about a stream.
pub(crate) fn hear(talk: &mut dyn Talk) -> Result<Heard, RpcError> {
    loop {
        let Notification { method, params } = talk.next()?;
        match method.as_str() {
            "stream/event" => return Ok(Heard::Event(serde_json::from_value(params).unwrap())),
            "stream/state" => return Ok(Heard::State(serde_json::from_value(params).unwrap())),
            _ => {}
        }
    }
}

/// The next entry.
pub(crate) fn event(talk: &mut dyn Talk) -> StreamEvent {
    loop {
        match hear(talk).unwrap() {
            Heard::Event(event) => return *event,
            Heard::State(state) => assert_ne!(state.state, "ended", "{state:?}"),
        }
    }
}

/// The next word about a subscription that is of this state.
pub(crate) fn state(talk: &mut dyn Talk, wanted: &str) -> StreamState {
    loop {
        if let Heard::State(state) = hear(talk).unwrap()
            && state.state == wanted
        {
            return state;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]
pub(crate) fn subscribe(talk: &mut dyn Talk, params: Value) -> SubscribeResult {
    let result = talk.ask("stream/subscribe", params.clone());
    serde_json::from_value(result.unwrap_or_else(|error| panic!("{params}: {error}"))).unwrap()
}

/// The name of the error by which a call is refused.
#[expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]
pub(crate) fn refused(talk: &mut dyn Talk, method: &str, params: Value) -> &'static str {
    match talk.ask(method, params.clone()) {
        Ok(result) => panic!("{method} {params}: {result}"),
        Err(error) => error.name().as_str(),
    }
}

/// Every entry of a projection, as it is read.
pub(crate) fn all(node: &Node, what: &Value) -> Vec<(u64, Value)> {
    let mut connection = node.connect();
    let mut params = what.clone();
    let mut found = Vec::new();
    loop {
        let page = connection.try_raw("stream/replay", params.clone()).unwrap();
        for item in page["items"].as_array().unwrap() {
            found.push((item["n"].as_u64().unwrap(), item["event"].clone()));
        }
        if page["end"] == true {
            return found;
        }
        params["cursor"] = page["cursor"].clone();
    }
}

pub(crate) fn agent(name: &str) -> Value {
    json!({ "kind": "agent", "id": name })
}

/// Writes a key of an agent's memory: one event of its stream.
pub(crate) fn put(talk: &mut dyn Talk, agent: &str, key: &str, value: usize) -> Result<Value, RpcError> {
    talk.ask("memory/entry.put", json!({ "agent": agent, "key": key, "value": value }))
}
