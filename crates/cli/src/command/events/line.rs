//! An event as one line for people.

use std::collections::BTreeMap;

use edgeplane_wire::api::stream::EventView;
use serde_json::Value;

use super::field;
use crate::{
    output::{Color, paint},
    text,
};

/// Characters of a payload's value that a line shows.
const VALUE_CHARS: usize = 48;

/// Keys of payloads that repeat what the line says already, or that only programs read.
const KEYS_HIDDEN: &[&str] = &[
    "agent_id",
    "session_id",
    "tenant",
    "boot_id",
    "bootId",
    "startTime",
    "manifest_digest",
    "target",
    "content_digest",
    "content_bytes",
    "hops",
];

/// The line of an event: when, whose, what, and its payload.
pub(super) fn of(event: &EventView, names: &BTreeMap<String, String>) -> String {
    let stream = field(event, "stream");
    let whose = names.get(stream).map_or_else(|| short(stream), Clone::clone);
    let kind = field(event, "type");
    let time = field(event, "ts").replace('T', " ");
    let time = time.get(..23).unwrap_or(&time);
    let mut words = spoken_for(&event.event);
    if let Some(payload) = event.event.get("payload") {
        flatten("", payload, &mut words);
    }
    format!(
        "{} {:<16} {:<24} {}",
        paint(Color::Dim, time),
        text::one_line(&whose),
        painted(kind),
        words.join(" ")
    )
    .trim_end()
    .to_owned()
}

/// Who made it happen and for whom, where these are two.
fn spoken_for(event: &Value) -> Vec<String> {
    let of_actor = |key: &str| event.get("actor")?.get(key)?.as_str();
    let (Some(name), Some(user)) = (of_actor("name"), of_actor("user_id")) else { return Vec::new() };
    vec![format!("by={}", text::one_line(name)), format!("for={}", text::one_line(user))]
}

/// Takes the name of an agent that was just declared.
pub(super) fn learn(event: &EventView, names: &mut BTreeMap<String, String>) {
    if field(event, "type") == "agent.declared"
        && let Some(name) =
            event.event.get("payload").and_then(|payload| payload.get("name")).and_then(Value::as_str)
    {
        names.insert(field(event, "stream").to_owned(), name.to_owned());
    }
}

fn painted(kind: &str) -> String {
    let bad = ["failed", "quarantined", "unobservable", "storage_full"];
    if bad.iter().any(|word| kind.contains(word)) {
        paint(Color::Red, kind)
    } else {
        text::one_line(kind).into_owned()
    }
}

/// `agent/…` with the end of the id, which differs where the begin, a time, does not.
fn short(stream: &str) -> String {
    let tail: Vec<char> = stream.chars().rev().take(6).collect();
    let kind = stream.split('/').next().unwrap_or_default();
    format!("{kind}/…{}", tail.into_iter().rev().collect::<String>())
}

/// `key=value` for every value in a payload, inner ones by their path.
fn flatten(path: &str, value: &Value, words: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields.iter().filter(|(key, _)| !KEYS_HIDDEN.contains(&key.as_str())) {
                // An envelope is the whole of its event.
                let is_top = path.is_empty() || path == "envelope";
                let path = if is_top { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, inner, words);
            }
        }
        Value::Null => {}
        Value::String(string) => {
            let shown = text::excerpt(string, VALUE_CHARS);
            let quote = if shown.contains(' ') || shown.is_empty() { "\"" } else { "" };
            words.push(format!("{path}={quote}{shown}{quote}"));
        }
        other => words.push(format!("{path}={}", text::excerpt(&other.to_string(), VALUE_CHARS))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(kind: &str, payload: &Value) -> EventView {
        let stream = "agent/agt_01890000-0000-7000-8000-00000000abcd";
        EventView {
            pos: 7,
            hash: "00".to_owned(),
            event: json!({ "type": kind, "stream": stream, "seq": 1, "ts": "2026-11-21T09:30:00.123456Z", "payload": payload }),
        }
    }

    #[test]
    fn line_says_when_whose_what() {
        let mut names = BTreeMap::new();
        let exited = event("agent.exited", &json!({ "epoch": 3, "status": { "code": 1 }, "agent_id": "x" }));
        let plain = |line: String| line.replace(['\u{2060}', '\u{2061}', '\u{2064}'], "");
        assert_eq!(
            plain(of(&exited, &names)),
            "2026-11-21 09:30:00.123 agent/…00abcd    agent.exited             epoch=3 status.code=1"
        );
        let mut by_a_service = exited.clone();
        by_a_service.event["actor"] = json!({ "kind": "service", "name": "portal", "user_id": "ann" });
        assert!(plain(of(&by_a_service, &names)).ends_with("by=portal for=ann epoch=3 status.code=1"));
        learn(&event("agent.declared", &json!({ "name": "reviewer" })), &mut names);
        let failed = event("agent.failed", &json!({ "reason": "too many\u{1b}[2J restarts" }));
        let line = plain(of(&failed, &names));
        assert!(line.contains(" reviewer ") && line.ends_with("reason=\"too many[2J restarts\""), "{line}");
    }
}
