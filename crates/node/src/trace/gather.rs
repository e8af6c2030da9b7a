//! What a trace is made of, read from the record: its messages, what happened to each, and what else its requests
//! changed.
//!
//! Owns the bounds of reading. What it read means nothing yet; that is [`super::spans`]' business, which reads nothing.

use std::collections::HashMap;

use edgeplane_store::{CommittedEvent, MessageRow, ReadError, Reader, StoredBody, Stretch};
use edgeplane_types::{
    AgentId, Envelope, Fact, ItemId, MessageId, ProcessId, Rung, StreamName, Timestamp, TraceId,
};
use serde_json::Value;

/// Messages of one trace that are looked at; of a trace with more, the first.
const MESSAGES_MAX: usize = 256;

/// Events of each message that are looked at.
const EVENTS_MAX: usize = 2_000;

/// Signs of life of one turn that are looked at.
const SIGNS_MAX: usize = 10_000;

/// Events of a stream that are looked back through for the state in which a message met its agent.
const BACK_MAX: u64 = 100_000;

/// How much later than its time an event may stand in the record, in milliseconds.
const SLACK_MS: u64 = 2_000;

/// Bytes of a tool's name that are shown.
const NAME_BYTES_MAX: usize = 80;

/// What changes whether an agent takes messages.
const LIFE: [&str; 13] = [
    "agent.starting",
    "agent.started",
    "agent.start_failed",
    "agent.adopted",
    "agent.unobservable",
    "agent.exited",
    "agent.backed_off",
    "agent.failed",
    "agent.stopped",
    "agent.frozen",
    "agent.thawed",
    "agent.quarantined",
    "session.opened",
];

/// What happens to a message and in its turn, and to those around it; pieces are read apart.
const WAY: [&str; 25] = [
    "message.injected",
    "message.turn_ended",
    "message.rejected",
    "message.expired",
    "message.ambiguous",
    "message.requeued",
    "message.dead_lettered",
    "message.dropped",
    "message.assigned",
    "message.returned",
    "message.observed",
    "turn.completed",
    "command.started",
    "command.ended",
    "action.opened",
    "action.resolved",
    "usage.reported",
    "recording.gap",
    "session.failed",
    "agent.probed",
    "agent.retired",
    "request.refused",
    "invocation.requested",
    "invocation.begun",
    "invocation.ended",
];

/// What the record holds of a trace.
#[derive(Debug, Clone)]
pub(crate) struct Gathered {
    pub(crate) trace_id: TraceId,
    pub(crate) messages: Vec<Passage>,
    /// What its requests changed besides messages.
    pub(crate) changes: Vec<CommittedEvent>,
    /// The names of agents.
    pub(crate) names: HashMap<AgentId, String>,
    pub(crate) as_of: Timestamp,
    pub(crate) as_of_pos: u64,
    /// Whether there is more of it than is looked at.
    pub(crate) is_cut: bool,
}

/// What happened to one message.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    pub(crate) accepted: CommittedEvent,
    pub(crate) envelope: Envelope,
    pub(crate) row: MessageRow,
    /// The agent's last change before the message came.
    pub(crate) met: Option<CommittedEvent>,
    /// The last word on a turn before the message came.
    pub(crate) met_turn: Option<CommittedEvent>,
    /// What happened from then on, in the order of the record; also to other messages of the agent.
    pub(crate) events: Vec<CommittedEvent>,
    pub(crate) tools: Vec<CommittedEvent>,
    pub(crate) signs: Vec<Timestamp>,
    pub(crate) tool_names: HashMap<ItemId, String>,
    pub(crate) commands: HashMap<ProcessId, String>,
    pub(crate) habits: Habits,
}

/// What is known of an agent that its record alone does not tell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Habits {
    /// Whether its program says when a turn is over.
    pub(crate) ends_turns: bool,
    /// From how long on silence is too long, in milliseconds.
    pub(crate) quiet_ms: u64,
}

/// Which trace.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    Trace(TraceId),
    Message(MessageId),
}

/// Reads a trace; nothing if the record has none of it.
pub(crate) fn gather(
    reader: &Reader,
    which: Which,
    as_of: Timestamp,
    habits: impl Fn(AgentId) -> Habits,
) -> Result<Option<Gathered>, ReadError> {
    let as_of_pos = reader.head_pos()?;
    let (trace_id, begins) = match which {
        Which::Trace(id) => (id, reader.trace(&id, EVENTS_MAX)?),
        Which::Message(id) => {
            let Some(row) = reader.message(&id)? else { return Ok(None) };
            let own = row.envelope.handed_on().map(|own| own.trace_id);
            let begins = match own {
                Some(own) => reader.trace(&own, EVENTS_MAX)?,
                // It was recorded before there were traces, and stands alone.
                None => reader.events_from_pos(row.accepted_pos, 1, &[])?,
            };
            (own.unwrap_or_else(|| TraceId::of_message(&id)), begins)
        }
    };
    if begins.is_empty() {
        return Ok(None);
    }
    let mut found = Gathered {
        trace_id,
        messages: Vec::new(),
        changes: Vec::new(),
        names: HashMap::new(),
        as_of,
        as_of_pos,
        is_cut: begins.len() >= EVENTS_MAX,
    };
    for begun in begins {
        match begun.event.fact.message_id() {
            None => found.changes.push(begun),
            Some(_) if found.messages.len() >= MESSAGES_MAX => found.is_cut = true,
            Some(id) => {
                if let Some(row) = reader.message(&id)? {
                    let passage = passage(reader, begun, row, &habits)?;
                    found.is_cut |= passage.events.len() >= EVENTS_MAX;
                    found.messages.push(passage);
                }
            }
        }
    }
    name(reader, &mut found)?;
    Ok(Some(found))
}

/// Reads what became of one message only.
pub(crate) fn one(
    reader: &Reader,
    id: MessageId,
    as_of: Timestamp,
    habits: impl Fn(AgentId) -> Habits,
) -> Result<Option<Gathered>, ReadError> {
    let Some(row) = reader.message(&id)? else { return Ok(None) };
    let Some(begun) = reader.events_from_pos(row.accepted_pos, 1, &[])?.pop() else { return Ok(None) };
    let trace_id = row.envelope.handed_on().map_or_else(|| TraceId::of_message(&id), |own| own.trace_id);
    let mut found = Gathered {
        trace_id,
        messages: vec![passage(reader, begun, row, &habits)?],
        changes: Vec::new(),
        names: HashMap::new(),
        as_of,
        as_of_pos: reader.head_pos()?,
        is_cut: false,
    };
    name(reader, &mut found)?;
    Ok(Some(found))
}

fn passage(
    reader: &Reader,
    accepted: CommittedEvent,
    row: MessageRow,
    habits: &impl Fn(AgentId) -> Habits,
) -> Result<Passage, ReadError> {
    let (id, envelope) = (row.envelope.id, row.envelope.clone());
    let stream = StreamName::Agent(envelope.target);
    let from_seq = reader.seq_at(&stream, accepted.pos)?;
    let stretch = Stretch { stream, from_seq, to_seq: end_of(reader, &row, &stream)? };
    let before = Stretch {
        from_seq: from_seq.saturating_sub(BACK_MAX).max(1),
        to_seq: from_seq.saturating_sub(1),
        ..stretch
    };
    let types: Vec<&str> = LIFE.iter().chain(&WAY).copied().collect();
    let mut events = reader.stretch(&stretch, &types, EVENTS_MAX)?;
    if row.addressed != envelope.target {
        // It waited at its set before it was handed to a replica.
        let set = StreamName::Agent(row.addressed);
        let from_seq = reader.seq_at(&set, accepted.pos)?;
        let to_seq = end_of(reader, &row, &set)?;
        let handing = ["message.assigned", "message.returned"];
        events.extend(reader.stretch(&Stretch { stream: set, from_seq, to_seq }, &handing, EVENTS_MAX)?);
        events.sort_by_key(|event| event.pos);
    }
    let tools = reader.tool_calls(&stretch, &id, EVENTS_MAX)?;
    Ok(Passage {
        met: reader.newest_before(&before, &LIFE)?,
        met_turn: reader.newest_before(&before, &["message.injected", "message.turn_ended"])?,
        signs: reader.signs_of_life(&stretch, &id, SIGNS_MAX)?,
        tool_names: tool_names(reader, &tools)?,
        commands: commands(reader, &events)?,
        habits: habits(envelope.target),
        accepted,
        envelope,
        row,
        events,
        tools,
    })
}

/// The number in the stream after which nothing more happened to a message.
fn end_of(reader: &Reader, row: &MessageRow, stream: &StreamName) -> Result<u64, ReadError> {
    let is_over = !row.waiting
        && matches!(row.state, Rung::TurnEnded | Rung::Rejected | Rung::Expired | Rung::DeadLettered);
    let last = row.receipts.iter().map(|receipt| receipt.at).max().filter(|_| is_over);
    match last {
        Some(at) => reader.seq_at(stream, reader.pos_at(at.plus_millis(SLACK_MS))?),
        None => Ok(reader.stream_head(stream)?.map_or(0, |head| head.seq)),
    }
}

fn json_of(reader: &Reader, digest: &str) -> Result<Option<Value>, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(None) };
    match reader.body(&digest) {
        Ok(Some(StoredBody::Bytes(bytes))) => Ok(serde_json::from_slice(&bytes).ok()),
        Ok(_) => Ok(None),
        Err(ReadError::BodyDamaged(_) | ReadError::Body { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What programs call the tools that they use. Shapes are read, not programs.
fn tool_names(reader: &Reader, tools: &[CommittedEvent]) -> Result<HashMap<ItemId, String>, ReadError> {
    let mut names = HashMap::new();
    for tool in tools {
        let Fact::ItemUpdated { item_id, body_digest, .. } = &tool.event.fact else { continue };
        if names.contains_key(item_id) {
            continue;
        }
        let Some(value) = json_of(reader, body_digest)? else { continue };
        let places = ["/title", "/rawOutput/name", "/rawOutput/tool", "/name", "/tool", "/kind"];
        let said =
            places.iter().find_map(|place| value.pointer(place)?.as_str().filter(|text| !text.is_empty()));
        if let Some(said) = said {
            names.insert(*item_id, shown(said));
        }
    }
    Ok(names)
}

fn commands(reader: &Reader, events: &[CommittedEvent]) -> Result<HashMap<ProcessId, String>, ReadError> {
    let mut names = HashMap::new();
    for event in events {
        let Fact::CommandStarted { process_id, details_digest, .. } = &event.event.fact else { continue };
        let Some(value) = json_of(reader, details_digest)? else { continue };
        let program = value.get("command").or_else(|| value.get("program"));
        if let Some(program) = program.and_then(Value::as_str) {
            // Where it lies is nobody's business.
            names.insert(*process_id, shown(program.rsplit('/').next().unwrap_or(program)));
        }
    }
    Ok(names)
}

/// A name fit to be shown on one line.
fn shown(text: &str) -> String {
    let mut shown: String =
        edgeplane_driver::render::clean(text).chars().filter(|c| !c.is_control()).collect();
    shown.truncate(shown.floor_char_boundary(NAME_BYTES_MAX));
    shown
}

fn name(reader: &Reader, found: &mut Gathered) -> Result<(), ReadError> {
    let of_changes = found.changes.iter().filter_map(|event| match event.event.stream {
        StreamName::Agent(id) => Some(id),
        StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
    });
    let of_messages = found.messages.iter().flat_map(|passage| {
        [Some(passage.envelope.target), Some(passage.row.addressed), passage.envelope.source.agent_id]
    });
    let all: Vec<AgentId> = of_messages.flatten().chain(of_changes).collect();
    for id in all {
        if !found.names.contains_key(&id)
            && let Some(row) = reader.agent_by_id(&id)?
        {
            found.names.insert(id, row.name.to_string());
        }
    }
    Ok(())
}
