//! What a fold says: entries, and the numbers they get.

use std::fmt;

use edgeplane_types::{
    ActionId, AgentId, Epoch, EventId, ItemId, MessageId, ProcessId, SessionId, ThreadId, Timestamp, TurnId,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::json::{Json, Object};

/// Names a body in the body store. A fold never sees what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyRef {
    /// What it is to the entry, such as `input` or `output`.
    pub name: std::borrow::Cow<'static, str>,
    /// SHA-256, lower-case hexadecimal.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
}

impl BodyRef {
    /// A body by its name in the entry, its digest and its size.
    #[must_use]
    pub fn new(name: &'static str, digest: &str, bytes: u64) -> Self {
        Self { name: name.into(), digest: digest.to_owned(), bytes }
    }
}

/// What an entry is about, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields repeat the glossary's nouns")]
pub struct Ids {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<ItemId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<ActionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<ProcessId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
}

impl Ids {
    /// The sixteen bytes of each id that is there, behind its place: one form for the digest.
    fn write(&self, out: &mut Vec<u8>) {
        let ids = [
            self.agent_id.as_ref().map(AgentId::as_bytes),
            self.session_id.as_ref().map(SessionId::as_bytes),
            self.thread_id.as_ref().map(ThreadId::as_bytes),
            self.turn_id.as_ref().map(TurnId::as_bytes),
            self.message_id.as_ref().map(MessageId::as_bytes),
            self.item_id.as_ref().map(ItemId::as_bytes),
            self.action_id.as_ref().map(ActionId::as_bytes),
            self.process_id.as_ref().map(ProcessId::as_bytes),
        ];
        for (place, id) in (0_u8..).zip(ids) {
            if let Some(id) = id {
                out.push(place);
                out.extend_from_slice(id);
            }
        }
        if let Some(epoch) = self.epoch {
            out.push(u8::MAX - 1);
            out.extend_from_slice(&epoch.0.to_le_bytes());
        }
        out.push(u8::MAX);
    }
}

/// What a fold says about an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its `type`.
    pub kind: &'static str,
    /// What happened, an object.
    pub payload: Json,
    /// What it is about.
    pub ids: Ids,
    /// The bodies that it names.
    pub refs: Vec<BodyRef>,
    /// The event that led to it: always an earlier one.
    pub causation: Option<EventId>,
    /// The trace that it belongs to, as W3C writes it, where that is known.
    pub trace: Option<String>,
}

/// The id of an envelope: that of its event, with a number where the event has more than one envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EnvelopeId {
    /// The event.
    pub event: EventId,
    /// Which of its envelopes, from 0.
    pub index: u32,
}

impl fmt::Display for EnvelopeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            0 => write!(f, "{}", self.event),
            index => write!(f, "{}.{index}", self.event),
        }
    }
}

impl Serialize for EnvelopeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An entry with its number in the projection and its place in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    /// Its number, from 1, without gaps.
    pub n: u64,
    /// The event's place in what is folded: its position on the node or its number in the agent's stream.
    pub source: u64,
    /// Its id, by which a consumer knows a double.
    pub event_id: EnvelopeId,
    /// When the event was made.
    pub ts: Timestamp,
    /// What is said.
    pub entry: Entry,
}

impl Numbered {
    /// The `event` of a stream's notification, as text that is written once and goes to everybody.
    #[must_use]
    pub fn json(&self) -> Json {
        let entry = &self.entry;
        Object::new()
            .put("event_id", &self.event_id)
            .put("ts", &self.ts)
            .put("type", entry.kind)
            .json("payload", &entry.payload)
            .put("ids", &entry.ids)
            .maybe("refs", (!entry.refs.is_empty()).then_some(&entry.refs))
            .maybe("causation_id", entry.causation)
            .put("seq", &self.source)
            .maybe("trace", entry.trace.as_deref().map(|parent| Trace { traceparent: parent }))
            .done()
    }

    /// The `event` of a stream's notification: `event_id`, `ts`, `type`, `payload`, `ids`, and where there are any
    /// `refs`, `causation_id` and `trace`; `seq` is its place in the source.
    #[must_use]
    pub fn to_json(&self) -> Value {
        self.json().value()
    }

    /// Everything of it in one form, for the digest.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let Self { n, source, event_id, ts, entry } = self;
        out.extend_from_slice(&n.to_le_bytes());
        out.extend_from_slice(&source.to_le_bytes());
        out.extend_from_slice(event_id.event.as_bytes());
        out.extend_from_slice(&event_id.index.to_le_bytes());
        out.extend_from_slice(&ts.as_micros().to_le_bytes());
        entry.ids.write(out);
        let mut text = |text: &str| {
            out.extend_from_slice(&text.len().to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        };
        text(entry.kind);
        text(entry.payload.text());
        text(entry.trace.as_deref().unwrap_or_default());
        for body in &entry.refs {
            text(&body.name);
            text(&body.digest);
            text(&body.bytes.to_string());
        }
        out.extend_from_slice(entry.causation.as_ref().map_or(&[], |cause| cause.as_bytes().as_slice()));
    }
}

#[derive(Serialize)]
struct Trace<'a> {
    traceparent: &'a str,
}
