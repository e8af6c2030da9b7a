//! The node's views as lines for people.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Longest piece of foreign text in a line.
const SHOWN_CHARACTERS_MAX: usize = 120;

/// The identities of an agent, in the order of the contract.
const IDENTITIES: [&str; 7] = ["process", "session", "network", "principal", "memory", "authority", "audit"];

/// What of an event's payload a reader of a briefing wants, in this order.
const EVENT_FIELDS: [&str; 8] =
    ["epoch", "key", "version", "kind", "cause", "continuity", "desired", "reason"];

/// The items of a list, none if it is no list.
pub(crate) fn items(result: &Value) -> &[Value] {
    result["items"].as_array().map_or(&[], Vec::as_slice)
}

/// Which agent each stream belongs to.
pub(crate) fn stream_names<'a>(agents: &'a [Value]) -> HashMap<&'a str, &'a str> {
    let pair = |agent: &'a Value| {
        let stream = agent["status"]["identities"]["audit"]["stream"].as_str()?;
        Some((stream, agent["metadata"]["name"].as_str()?))
    };
    agents.iter().filter_map(pair).collect()
}

/// A peer as a line.
pub(crate) fn peer_line(peer: &Value) -> String {
    let status = &peer["status"];
    let text = |name: &str| scalar(&status[name]).unwrap_or_default();
    let name = peer["metadata"]["name"].as_str().unwrap_or_default();
    let line = format!("  {name}: {}, {}, epoch {}", text("phase"), text("activity"), text("epoch"));
    match status["waitingMessages"].as_u64() {
        Some(waiting) if waiting > 0 => format!("{line}, {waiting} waiting"),
        Some(_) | None => line,
    }
}

/// An event as a line: time, whose, what, and the few facts that a reader wants.
pub(crate) fn event_line(event: &Value, names: &HashMap<&str, &str>) -> String {
    let payload = &event["payload"];
    let mut facts = Vec::new();
    let envelope = &payload["envelope"];
    if let (Some(source), Some(channel)) =
        (envelope["source"]["principal"].as_str(), envelope["channel"].as_str())
    {
        facts.push(format!("from {source} on {channel}"));
    }
    let wanted = EVENT_FIELDS.iter().filter_map(|name| Some((*name, scalar(&payload[*name])?)));
    facts.extend(wanted.map(|(name, value)| format!("{name} {value}")));
    facts.extend(payload["status"].as_object().map(fields).filter(|status| !status.is_empty()));

    let stream = event["stream"].as_str().unwrap_or_default();
    let kind_of_stream = stream.split('/').next().unwrap_or_default();
    let whose = names.get(stream).copied().unwrap_or(kind_of_stream);
    let time = event["ts"].as_str().and_then(|ts| ts.get(11..19)).unwrap_or_default();
    let kind = event["type"].as_str().unwrap_or_default();
    format!("  {time} {whose} {kind} {}", shown(&facts.join(", "))).trim_end().to_owned()
}

/// The seven identities as lines.
pub(crate) fn identity_lines(view: &Value) -> Vec<String> {
    let identities = &view["status"]["identities"];
    let known = IDENTITIES.iter().filter_map(|name| Some((name, identities[*name].as_object()?)));
    known.map(|(name, identity)| format!("  {name}: {}", fields(identity))).collect()
}

/// The scalars of an object, sorted by their names.
fn fields(object: &Map<String, Value>) -> String {
    let mut scalars: Vec<_> =
        object.iter().filter_map(|(name, value)| Some((name, scalar(value)?))).collect();
    scalars.sort();
    scalars.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// A text, a number or a truth value as text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A foreign text in one short line.
pub(crate) fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARACTERS_MAX).collect()
}
