//! The resources: what was said to an agent and by it, its messages, its events, and any message it may see.
//!
//! Owns the addresses. A read is bounded by entries and by bytes of each; what is left is found with `next`.

use std::{fmt, sync::Arc};

use edgeplane_types::{ErrorName, MessageId};
use edgeplane_wire::{
    api::{
        message::{InboxParams, MessageParams, MessageView},
        report::{Detail, TRANSCRIPT_MAX, TranscriptParams},
        stream::{EventView, ReplayParams, Target},
    },
    catalogue::{InboxList, MessageGet, StreamReplay, TranscriptRead},
};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use crate::{
    failure::Failure,
    link::Link,
    shown::{EACH, Message, ONE},
};

/// Entries in one read when nobody says how many.
const LIMIT: u32 = 50;

/// Events of the whole node that are looked through at a time for an agent's own messages.
const THREAD_EVENTS_MAX: u32 = 1_000;

/// How many times that is done for one part of a thread.
const THREAD_PAGES_MAX: usize = 20;

/// Longest address in bytes.
const ADDRESS_BYTES_MAX: usize = 512;

const JSON: &str = "application/json";

const TEXT: &str = "text/plain";

/// What a resource is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Transcript,
    Thread,
    Events,
    Message(MessageId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transcript => f.write_str("edgeplane://self/transcript"),
            Self::Thread => f.write_str("edgeplane://self/thread"),
            Self::Events => f.write_str("edgeplane://self/events"),
            Self::Message(id) => write!(f, "edgeplane://message/{id}"),
        }
    }
}

/// An address: what it is about, and which part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) subject: Subject,
    after: Option<u64>,
    limit: u32,
}

impl Address {
    /// Reads an address; anything that is not one of ours is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > ADDRESS_BYTES_MAX {
            return None;
        }
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let subject = match path.strip_prefix("edgeplane://")? {
            "self/transcript" => Subject::Transcript,
            "self/thread" => Subject::Thread,
            "self/events" => Subject::Events,
            other => Subject::Message(other.strip_prefix("message/")?.parse().ok()?),
        };
        let mut address = Self { subject, after: None, limit: LIMIT };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=')? {
                ("after", number) if !matches!(subject, Subject::Message(_)) => {
                    address.after = Some(number.parse().ok()?);
                }
                ("limit", number) if !matches!(subject, Subject::Message(_)) => {
                    address.limit = number.parse::<u32>().ok()?.clamp(1, TRANSCRIPT_MAX);
                }
                _ => return None,
            }
        }
        Some(address)
    }
}

/// The resources that there always are, for an agent.
pub(crate) fn list() -> Vec<Resource> {
    let resource = |subject: Subject, name: &str, title: &str, about: &str| {
        Resource::new(subject.to_string(), name)
            .with_title(title)
            .with_description(about)
            .with_mime_type(JSON)
    };
    vec![
        resource(
            Subject::Transcript,
            "transcript",
            "Own transcript",
            "What was said to you and by you, over all restarts: messages, answers, results. The newest 50.",
        ),
        resource(Subject::Thread, "thread", "Own messages", "Your messages, in and out. The newest 50."),
        resource(Subject::Events, "events", "Own events", "What the record says of you. The newest 50."),
    ]
}

/// The addresses that take parameters.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, mime: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(mime)
    };
    vec![
        template(
            "edgeplane://self/transcript{?after,limit}",
            "transcript part",
            "Entries of your transcript behind the number `after`, at most `limit`; `next` says where to read on.",
            JSON,
        ),
        template(
            "edgeplane://self/thread{?after,limit}",
            "thread part",
            "Your messages behind the place `after`, in and out, at most `limit`; `next` says where to read on until `end`. From `after=0` on these are all.",
            JSON,
        ),
        template(
            "edgeplane://self/events{?after,limit}",
            "events part",
            "Your events behind the number `after`, at most `limit`; `next` says where to read on.",
            JSON,
        ),
        template(
            "edgeplane://message/{message_id}",
            "message",
            "A message that you sent or were sent, with the header of its source and the fence.",
            TEXT,
        ),
    ]
}

/// Reads a resource.
pub(crate) async fn read(link: &Arc<Link>, uri: &str) -> Result<ReadResourceResult, Failure> {
    let Some(address) = Address::parse(uri) else {
        let shown: String = uri.chars().take(120).collect();
        return Err(Failure::new(ErrorName::NotFound, format!("no resource `{shown}`"))
            .hint("`resources/list` and `resources/templates/list` give the addresses"));
    };
    let (text, mime) = match address.subject {
        Subject::Transcript => (transcript(link, address).await?.to_string(), JSON),
        Subject::Thread => (thread(link, address).await?.to_string(), JSON),
        Subject::Events => (events(link, address).await?.to_string(), JSON),
        Subject::Message(message_id) => {
            let view = link.call::<MessageGet>(&MessageParams { message_id }).await?;
            let message = Message::of(view, ONE);
            (message.rendered.unwrap_or_else(|| "(the content was erased)".to_owned()), TEXT)
        }
    };
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime)]))
}

async fn transcript(link: &Arc<Link>, address: Address) -> Result<Value, Failure> {
    let agent = Some(link.own_id().await?.to_string());
    let (after, limit) = (address.after, Some(address.limit));
    let params =
        TranscriptParams { agent, after, limit, detail: Detail::Words, ..TranscriptParams::default() };
    Ok(json!(link.call::<TranscriptRead>(&params).await?))
}

async fn events(link: &Arc<Link>, address: Address) -> Result<Value, Failure> {
    let params = ReplayParams {
        target: Target::agent(link.own_id().await?.to_string()),
        after: address.after,
        limit: Some(address.limit),
        newest: address.after.is_none(),
        ..ReplayParams::default()
    };
    let mut result = link.call::<StreamReplay>(&params).await?;
    result.items.iter_mut().for_each(|item| without_free_words(&mut item.event));
    let (next, end) = (result.next, result.end);
    Ok(json!({ "items": result.events(), "next": next, "end": end }))
}

/// Takes what a sender chose freely out of an event, where it would stand without a header.
fn without_free_words(event: &mut Value) {
    let Some(envelope) = event.pointer_mut("/payload/envelope").and_then(Value::as_object_mut) else {
        return;
    };
    for free in ["origin", "idempotency_key", "traceparent"] {
        envelope.remove(free);
    }
    if let Some(source) = envelope.get_mut("source").and_then(Value::as_object_mut) {
        source.remove("display_name");
    }
}

/// Messages to the agent and from it, in the order of their arrival: those behind a place on the node, or the newest.
async fn thread(link: &Arc<Link>, address: Address) -> Result<Value, Failure> {
    let own = link.own_id().await?.to_string();
    let rows = usize::try_from(address.limit).unwrap_or(1);
    let part = match address.after {
        Some(after) => thread_behind(link, &own, (after, rows)).await?,
        None => thread_newest(link, &own, address.limit).await?,
    };
    let shown = |view: MessageView| {
        let is_sent = view.source_detail.agent_id.is_some_and(|id| id.to_string() == own);
        json!({ "direction": if is_sent { "out" } else { "in" }, "message": Message::of(view, EACH) })
    };
    let items: Vec<Value> = part.messages.into_iter().map(shown).collect();
    Ok(json!({ "items": items, "next": part.next, "end": part.end }))
}

/// A part of an agent's messages.
struct Part {
    messages: Vec<MessageView>,
    next: u64,
    end: bool,
}

/// The first messages behind a place on the node. So many events are looked through for them, so a part may have none
/// and not be the last.
async fn thread_behind(link: &Arc<Link>, own: &str, (mut next, rows): (u64, usize)) -> Result<Part, Failure> {
    let mut messages = Vec::new();
    for _page in 0..THREAD_PAGES_MAX {
        let page = accepted(link, Some(next)).await?;
        for view in &page.items {
            if let Some(message_id) = own_message(&view.event, own) {
                if messages.len() >= rows {
                    return Ok(Part { messages, next, end: false });
                }
                messages.push(link.call::<MessageGet>(&MessageParams { message_id }).await?);
            }
            next = view.pos;
        }
        if page.end {
            return Ok(Part { messages, next: next.max(page.next), end: true });
        }
        next = next.max(page.next);
    }
    Ok(Part { messages, next, end: false })
}

/// The newest messages. Of those that it sent only as many are found as stand among the node's newest.
async fn thread_newest(link: &Arc<Link>, own: &str, limit: u32) -> Result<Part, Failure> {
    let inbox = InboxParams { agent: own.to_owned(), all: true, limit };
    let mut messages = link.call::<InboxList>(&inbox).await?.items;
    let newest = accepted(link, None).await?;
    let rows = usize::try_from(limit).unwrap_or(1);
    let ids = newest.items.iter().filter_map(|view| own_message(&view.event, own));
    for message_id in ids.rev().take(rows) {
        if messages.iter().all(|known| known.message_id != message_id) {
            messages.push(link.call::<MessageGet>(&MessageParams { message_id }).await?);
        }
    }
    messages.sort_by_key(|message| message.accepted_at);
    messages.drain(..messages.len().saturating_sub(rows));
    Ok(Part { messages, next: newest.next, end: true })
}

/// A part of the messages that the node accepted.
struct Accepted {
    items: Vec<EventView>,
    next: u64,
    end: bool,
}

async fn accepted(link: &Arc<Link>, after: Option<u64>) -> Result<Accepted, Failure> {
    let newest = after.is_none();
    let params = ReplayParams {
        after,
        types: vec!["message.accepted".to_owned()],
        limit: Some(THREAD_EVENTS_MAX),
        newest,
        ..ReplayParams::default()
    };
    let page = link.call::<StreamReplay>(&params).await?;
    let (next, end) = (page.next, page.end);
    Ok(Accepted { items: page.events(), next, end })
}

/// The message that an event is about, if it is to the agent or from it.
fn own_message(event: &Value, own: &str) -> Option<MessageId> {
    let envelope = &event["payload"]["envelope"];
    let is_own = envelope["target"] == own || envelope["source"]["agent_id"] == own;
    envelope["id"].as_str().filter(|_| is_own)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_one_of_ours_or_none() {
        let id = "msg_01890000-0000-7000-8000-000000000002";
        let check = |text: &str, expected: Option<(&str, Option<u64>, u32)>| {
            let found = Address::parse(text);
            let found = found.map(|found| (found.subject.to_string(), found.after, found.limit));
            assert_eq!(found, expected.map(|(of, after, limit)| (of.to_owned(), after, limit)), "{text}");
        };
        check("edgeplane://self/transcript", Some(("edgeplane://self/transcript", None, 50)));
        check("edgeplane://self/events?after=7&limit=3", Some(("edgeplane://self/events", Some(7), 3)));
        check("edgeplane://self/thread?after=9", Some(("edgeplane://self/thread", Some(9), 50)));
        check("edgeplane://self/thread?limit=0", Some(("edgeplane://self/thread", None, 1)));
        check("edgeplane://self/thread?limit=4000000000", Some(("edgeplane://self/thread", None, 500)));
        let message = format!("edgeplane://message/{id}");
        check(&message, Some((&message, None, 50)));
        for text in [
            "",
            "edgeplane://self",
            "edgeplane://other/transcript",
            "edgeplane://self/transcript/../thread",
            "edgeplane://message/agt_01890000-0000-7000-8000-000000000002",
            "edgeplane://self/events?after=-1",
            "edgeplane://self/events?agent=other",
            "edgeplane://self/thread?before=1",
            "file:///etc/passwd",
            &format!("{message}?limit=1"),
            &format!("edgeplane://self/events?{}", "&".repeat(600)),
        ] {
            check(text, None);
        }
    }
}
