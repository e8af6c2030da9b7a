//! Events of kinds that a newer program brought: kept, chained, and passed over where events are folded.
//!
//! What this program does not know it cannot fold, and its models say nothing of it. When the newer program opens the
//! record again, those of its models that fold such events have another version and are made anew.

use edgeplane_types::{Event, Fact};
use serde::Deserialize;
use serde_json::json;

/// An event's kind, whatever else is in it.
#[derive(Deserialize)]
struct Kind {
    r#type: String,
}

/// The event with these bytes; `None` if it is of a kind that this program does not know.
///
/// # Errors
/// When the bytes are no event: also one of a known kind with contents that are not known is none.
pub(crate) fn event(bytes: &[u8]) -> Result<Option<Event>, serde_json::Error> {
    match serde_json::from_slice::<Event>(bytes) {
        Ok(event) => Ok(Some(event)),
        Err(_) if is_unknown(bytes) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the bytes name a kind that is none of [`Fact`]'s. There is no list of those but in what serde says of one
/// that is not on it.
fn is_unknown(bytes: &[u8]) -> bool {
    let Ok(Kind { r#type: kind }) = serde_json::from_slice(bytes) else { return false };
    let nothing = json!({ "type": kind, "payload": null });
    serde_json::from_value::<Fact>(nothing)
        .is_err_and(|error| error.to_string().starts_with(&format!("unknown variant `{kind}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELL: &str = r#""id":"evt_00000000-0001-7000-8000-000000000000","stream":"agent/agt_00000000-0001-7000-8000-000000000000","seq":1,"ts":"2026-11-21T09:30:00.123456Z","actor":{"kind":"node","rule":"x"}"#;

    fn read(kind: &str, payload: &str) -> Result<Option<Event>, serde_json::Error> {
        event(format!("{{{SHELL},\"type\":\"{kind}\",\"payload\":{payload}}}").as_bytes())
    }

    #[test]
    fn only_what_has_an_unknown_kind_is_passed_over() {
        assert!(read("agent.stopped", "{}").unwrap().is_some());
        assert!(read("agent.dreamt", "{\"of\":\"sheep\"}").unwrap().is_none());
        assert!(read("agent.failed", "{}").is_err(), "a known kind with wrong contents");
        assert!(read("agent.exited", "{\"tree\":\"guess\"}").is_err(), "an unknown word in a known kind");
        assert!(event(b"{\"type\":\"agent.stopped\"}").is_err());
        assert!(event(b"no event").is_err());
    }
}
