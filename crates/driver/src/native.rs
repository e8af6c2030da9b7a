//! The native driver: JSON-RPC lines on a program's standard input and output.
//!
//! The node greets with `agent/session.start` and delivers with `agent/message.deliver`. The program tells with
//! notifications what it does, and asks with requests for methods of the catalogue. A line of its output that is
//! not JSON-RPC is text for its log.

use edgeplane_types::{
    Activity, AgentId, AgentName, Authority, Channel, Continuity, DeliveryMode, Envelope, Epoch, Ingress,
    MessageId, NodeName, Part, SafeLabel, SessionId, Tenant, ThreadId, Traceparent,
};
use edgeplane_wire::rpc::{self, Id, Incoming};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::render::{self, Attempt, Bounds};

/// What a program is told first.
#[derive(Debug, Clone, Serialize)]
pub struct SessionStart<'a> {
    /// The protocol's version.
    pub protocol: &'a str,
    /// The namespace.
    pub tenant: &'a Tenant,
    /// The agent's name.
    pub agent: &'a AgentName,
    /// The agent's id.
    pub agent_id: AgentId,
    /// The node's name.
    pub node: &'a NodeName,
    /// The epoch that begins.
    pub epoch: Epoch,
    /// The session that the agent's epochs continue.
    pub session_id: SessionId,
    /// How much context it begins with.
    pub continuity: Continuity,
    /// The contract, in words.
    pub notice: &'a str,
    /// What happened before this epoch, if there is something to go on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rehydration: Option<&'a str>,
}

#[derive(Serialize)]
struct Deliver<'a> {
    message_id: MessageId,
    text: String,
    channel: Channel,
    ingress: Ingress,
    source: &'a SafeLabel,
    source_agent: Option<&'a SafeLabel>,
    authority: Authority,
    mode: DeliveryMode,
    reply_to: Option<MessageId>,
    thread: Option<ThreadId>,
    parts: &'a [Part],
    /// The trace to go on with, at the span of the turn that begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<Traceparent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redelivered: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<bool>,
}

/// The first line of a session.
#[must_use]
pub fn session_start(start: &SessionStart<'_>) -> Vec<u8> {
    rpc::notification("agent/session.start", start)
}

/// A message as a line.
///
/// The bounds are those of the text, which a model reads. A program that wants all has it as `parts`.
#[must_use]
pub fn deliver(envelope: &Envelope, parts: &[Part], attempt: Attempt, bounds: Bounds) -> Vec<u8> {
    deliver_behind(None, envelope, parts, attempt, bounds)
}

/// The same, behind the history of a thread that goes on from another one.
#[must_use]
pub fn deliver_behind(
    history: Option<&str>,
    envelope: &Envelope,
    parts: &[Part],
    attempt: Attempt,
    bounds: Bounds,
) -> Vec<u8> {
    let source = &envelope.source.principal;
    let rendered = render::render(envelope, parts, attempt, bounds);
    rpc::notification(
        "agent/message.deliver",
        Deliver {
            message_id: envelope.id,
            text: rendered.text(),
            channel: envelope.channel,
            ingress: envelope.ingress,
            source,
            source_agent: envelope.source.agent_id.map(|_| source),
            authority: envelope.authority,
            mode: envelope.mode,
            reply_to: envelope.reply_to,
            thread: envelope.thread,
            parts,
            history,
            traceparent: envelope.handed_on(),
            redelivered: (attempt == Attempt::Again).then_some(true),
            preview: rendered.is_preview.then_some(true),
        },
    )
}

/// Asks a program to end the turn that `message_id` began, because `by` is to come next.
#[must_use]
pub fn turn_interrupt(message_id: MessageId, by: MessageId) -> Vec<u8> {
    rpc::notification("agent/turn.interrupt", serde_json::json!({ "message_id": message_id, "by": by }))
}

/// Asks a program to end the turn that `message_id` began, because somebody asks for it.
#[must_use]
pub fn turn_interrupt_asked(message_id: MessageId, reason: &str) -> Vec<u8> {
    rpc::notification(
        "agent/turn.interrupt",
        serde_json::json!({ "message_id": message_id, "reason": reason }),
    )
}

/// Asks a program to finish.
#[must_use]
pub fn session_stop(reason: &str, grace_ms: u64) -> Vec<u8> {
    rpc::notification("agent/session.stop", serde_json::json!({ "reason": reason, "grace_ms": grace_ms }))
}

/// Tells a program that its epoch is about to end, and how long it has to save what it wants to keep.
#[must_use]
pub fn session_closing(reason: &str, grace_ms: u64) -> Vec<u8> {
    rpc::notification("agent/session.closing", serde_json::json!({ "reason": reason, "grace_ms": grace_ms }))
}

/// Asks a program whether it still listens.
#[must_use]
pub fn ping(number: u64) -> Vec<u8> {
    rpc::request(&Id::Text(format!("{PING}{number}")), "agent/ping", serde_json::json!({}))
}

/// What the ids of pings begin with.
const PING: &str = "ping-";

/// What a program says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It acts on a message.
    Observe {
        /// Which.
        message_id: MessageId,
    },
    /// It has finished a turn.
    TurnComplete {
        /// The message that began the turn.
        message_id: Option<MessageId>,
        /// What it answers.
        output: String,
    },
    /// It tells something.
    Item {
        /// Of which kind.
        kind: SafeLabel,
        /// What.
        text: String,
        /// The message whose turn it belongs to, if it says that.
        message_id: Option<MessageId>,
    },
    /// What it is doing.
    Activity {
        /// Its state.
        state: Activity,
    },
    /// It asks for a method.
    Request {
        /// To be given back.
        id: Id,
        /// The method.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// It has saved what it wants to keep: its epoch may end.
    Closed,
    /// It answers a ping.
    Pong {
        /// Which.
        number: u64,
    },
    /// Not a line of the protocol.
    Text,
    /// A line of the protocol that cannot be used, and why.
    Refused {
        /// The request's id, if it was one.
        id: Option<Id>,
        /// Why.
        reason: String,
    },
}

#[derive(Deserialize)]
struct ObserveParams {
    message_id: MessageId,
}

#[derive(Deserialize)]
struct TurnParams {
    #[serde(default)]
    message_id: Option<MessageId>,
    output: String,
}

#[derive(Deserialize)]
struct ItemParams {
    kind: String,
    text: String,
    #[serde(default)]
    message_id: Option<MessageId>,
}

#[derive(Deserialize)]
struct ActivityParams {
    state: Activity,
}

/// Reads a line of a program's output.
#[must_use]
pub fn read(line: &[u8]) -> Said {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Said::Text;
    }
    match rpc::parse_line(line) {
        Ok(Incoming::Request { id, method, params }) => Said::Request { id, method, params },
        Ok(Incoming::Notification { method, params }) => notification(&method, params),
        // A program that does not know the method still shows that it listens.
        Ok(Incoming::Response { id: Id::Text(id), .. }) if id.starts_with(PING) => {
            match id.strip_prefix(PING).and_then(|number| number.parse().ok()) {
                Some(number) => Said::Pong { number },
                None => Said::Refused { id: None, reason: "an answer to no ping".to_owned() },
            }
        }
        Ok(Incoming::Response { .. }) => {
            Said::Refused { id: None, reason: "a response to nothing that was asked".to_owned() }
        }
        // JSON that is not of the protocol is a program's own log format, not an offence.
        Err(_) => Said::Text,
    }
}

fn notification(method: &str, params: Value) -> Said {
    let read = match method {
        "agent/message.observe" => {
            serde_json::from_value(params).map(|ObserveParams { message_id }| Said::Observe { message_id })
        }
        "agent/turn.complete" => serde_json::from_value(params)
            .map(|TurnParams { message_id, output }| Said::TurnComplete { message_id, output }),
        "agent/item.report" => serde_json::from_value(params).map(|ItemParams { kind, text, message_id }| {
            Said::Item { kind: SafeLabel::sanitized(&kind), text, message_id }
        }),
        "agent/activity.report" => {
            serde_json::from_value(params).map(|ActivityParams { state }| Said::Activity { state })
        }
        "agent/session.closed" => Ok(Said::Closed),
        _ => {
            return Said::Refused {
                id: None,
                reason: format!("no notification `{}`", render::clean(method)),
            };
        }
    };
    read.unwrap_or_else(|error| Said::Refused {
        id: None,
        reason: format!("parameters of {method}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::NOTICE;

    /// Proves MSG-013.
    #[test]
    fn lines_of_the_protocol_are_read_and_others_are_text() {
        let id = MessageId::from_parts(1, [1; 10]);
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"agent/turn.complete","params":{{"message_id":"{id}","output":"done"}}}}"#
        );
        assert_eq!(read(line.as_bytes()), Said::TurnComplete { message_id: Some(id), output: "done".into() });
        assert_eq!(read(b"hello"), Said::Text);
        assert_eq!(read(br#"{"level":"info"}"#), Said::Text);
        assert_eq!(read(br#"{"jsonrpc":"2.0","method":"agent/session.closed"}"#), Said::Closed);
        assert!(matches!(read(br#"{"jsonrpc":"2.0","method":"agent/fly"}"#), Said::Refused { .. }));
        let request = read(br#"{"jsonrpc":"2.0","id":3,"method":"runtime/agent.list"}"#);
        assert!(matches!(request, Said::Request { id: Id::Number(3), .. }));
    }

    /// Proves MSG-015.
    #[test]
    fn session_start_is_one_line() {
        let mut start = SessionStart {
            protocol: "2026-11-01",
            tenant: &Tenant::default(),
            agent: &"a".parse().unwrap(),
            agent_id: AgentId::from_parts(1, [1; 10]),
            node: &"n".parse().unwrap(),
            epoch: Epoch(1),
            session_id: SessionId::from_parts(1, [1; 10]),
            continuity: Continuity::None,
            notice: NOTICE,
            rehydration: None,
        };
        let ends = |line: &[u8]| line.iter().filter(|b| **b == b'\n').count();
        let line = session_start(&start);
        assert_eq!(ends(&line), 1);
        assert!(!String::from_utf8(line).unwrap().contains("rehydration"));
        start.rehydration = Some("[H]\n> said");
        let line = session_start(&start);
        assert_eq!(ends(&line), 1);
        assert!(String::from_utf8(line).unwrap().contains(r#""rehydration":"[H]\n> said""#));
    }
}
