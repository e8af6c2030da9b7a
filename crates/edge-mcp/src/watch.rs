//! Who is told that a resource has changed.
//!
//! Owns the rule from an event of the record to the resources that show it.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_types::AgentId;
use serde_json::Value;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    link::{Change, Link},
    resources::{Address, Subject},
};

/// Most resources that one subscriber follows; more are refused.
pub(crate) const RESOURCES_MAX: usize = 64;

/// The next of the followed addresses that changed, or `None` once there will be none.
pub(crate) async fn changed(
    link: &Arc<Link>,
    changes: &mut Receiver<Change>,
    followed: &BTreeSet<String>,
) -> Option<Vec<String>> {
    loop {
        let change = match changes.recv().await {
            Ok(change) => change,
            Err(RecvError::Lagged(_)) => Change::Anything,
            Err(RecvError::Closed) => return None,
        };
        let touched: Vec<String> = match change {
            Change::Anything => followed.iter().cloned().collect(),
            Change::Event(event) => {
                let own = link.open().await.ok().and_then(|open| open.own_id());
                followed.iter().filter(|uri| is_touched(uri, &event, own)).cloned().collect()
            }
        };
        if !touched.is_empty() {
            return Some(touched);
        }
    }
}

/// Whether an event changes what a resource shows.
fn is_touched(uri: &str, event: &Value, own: Option<AgentId>) -> bool {
    let Some(address) = Address::parse(uri) else { return false };
    let kind = event["type"].as_str().unwrap_or_default();
    let own = own.map(|id| id.to_string());
    let is_own_stream = own.as_ref().is_some_and(|id| event["stream"] == format!("agent/{id}").as_str());
    let payload = &event["payload"];
    let is_sent = own.as_ref().is_some_and(|id| payload["envelope"]["source"]["agent_id"] == id.as_str());
    match address.subject {
        Subject::Events => is_own_stream,
        Subject::Transcript => {
            is_own_stream && matches!(kind, "message.injected" | "turn.completed" | "item.reported")
        }
        Subject::Thread => kind.starts_with("message.") && (is_own_stream || is_sent),
        Subject::Message(id) => {
            let id = id.to_string();
            payload["message_id"] == id.as_str() || payload["envelope"]["id"] == id.as_str()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn event_touches_what_shows_it() {
        let own = "agt_01890000-0000-7000-8000-000000000001";
        let message = "msg_01890000-0000-7000-8000-000000000002";
        let check = |event: Value, expected: &[&str]| {
            let all = ["self/transcript", "self/thread", "self/events", &format!("message/{message}")];
            let touched: Vec<&str> = all
                .into_iter()
                .filter(|path| is_touched(&format!("edgeplane://{path}"), &event, own.parse().ok()))
                .collect();
            assert_eq!(touched, expected, "{event}");
        };
        let about = format!("message/{message}");
        let (ours, theirs) = (format!("agent/{own}"), "agent/agt_01890000-0000-7000-8000-000000000009");
        check(
            json!({ "type": "message.injected", "stream": ours, "payload": { "message_id": message } }),
            &["self/transcript", "self/thread", "self/events", &about],
        );
        check(json!({ "type": "agent.started", "stream": ours, "payload": {} }), &["self/events"]);
        check(
            json!({ "type": "message.injected", "stream": theirs, "payload": { "message_id": message } }),
            &[&about],
        );
        let envelope = json!({ "id": message, "source": { "agent_id": own } });
        check(
            json!({ "type": "message.accepted", "stream": theirs, "payload": { "envelope": envelope } }),
            &["self/thread", &about],
        );
        check(json!({ "type": "message.accepted", "stream": theirs, "payload": {} }), &[]);
    }
}
