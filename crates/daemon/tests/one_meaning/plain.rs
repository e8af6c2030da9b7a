//! What two answers of different nodes must have in common: everything but ids, times, traces and places.

use edgeplane_testkit::Node;
use serde_json::{Map, Value};

/// Fields that say when, how long, by which process or in which place of a machine.
const OF_ITS_OWN: [&str; 34] = [
    "at",
    "ts",
    "accepted_at",
    "created_at",
    "updated_at",
    "expires_at",
    "started_at",
    "ended_at",
    "resolved_at",
    "next",
    "next_at",
    "due_at",
    "from_at",
    "since",
    "sinceMs",
    "uptime_ms",
    "took_ms",
    "ran_ms",
    "ranMs",
    "pid",
    "start",
    "startTime",
    "hash",
    "prev_hash",
    "signature",
    "digest",
    "plan_digest",
    "body_digest",
    "key_id",
    "trace",
    "trace_id",
    "traceparent",
    "cursor",
    "memory",
];

/// Takes out of an answer what is each node's own.
pub(crate) fn plain(value: &Value, node: &Node) -> Value {
    match value {
        Value::Object(fields) => Value::Object(object(fields, node)),
        Value::Array(items) => Value::Array(items.iter().map(|item| plain(item, node)).collect()),
        Value::String(text) => Value::String(text_of(text, node)),
        other => other.clone(),
    }
}

fn object(fields: &Map<String, Value>, node: &Node) -> Map<String, Value> {
    let shown = |(name, value): (&String, &Value)| {
        let own = OF_ITS_OWN.contains(&name.as_str()) || name.ends_with("_ms") || name.ends_with("Ms");
        let value =
            if own && !value.is_null() { Value::String("<own>".to_owned()) } else { plain(value, node) };
        (text_of(name, node), value)
    };
    fields.iter().map(shown).collect()
}

/// A text without ids, times and places.
fn text_of(text: &str, node: &Node) -> String {
    let scratch = node.scratch();
    let home = scratch.parent().unwrap_or(&scratch).display().to_string();
    let text = text.replace(&home, "<place>");
    without_times(&without_ids(&text))
}

/// Each `abc_` with a UUID becomes `abc_<id>`; a bare UUID becomes `<id>`.
fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = (0..rest.len()).find(|at| rest.is_char_boundary(*at) && uuid_at(&rest[*at..])) {
        out.push_str(&rest[..at]);
        out.push_str("<id>");
        rest = &rest[at + 36..];
    }
    out.push_str(rest);
    out
}

fn uuid_at(text: &str) -> bool {
    let Some(head) = text.as_bytes().get(..36) else { return false };
    head.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(byte),
    })
}

/// A whole text that is a time of RFC 3339 becomes `<time>`.
fn without_times(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_time = bytes.len() >= 20
        && bytes.ends_with(b"Z")
        && bytes.iter().take(10).enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && bytes.get(10) == Some(&b'T');
    if is_time { "<time>".to_owned() } else { text.to_owned() }
}
