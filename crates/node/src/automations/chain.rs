//! How many automations caused each other before an event, so that none of them go in circles.
//!
//! What a firing does belongs to a trace that has the firing's UUID, and so does what follows from it: messages, turns,
//! tasks. An event that the node records by itself belongs to none; then the trace of what it is about counts.

use edgeplane_store::{CommittedEvent, ReadError, Reader};
use edgeplane_types::{FiringId, MessageId, RunId, StreamName, TaskId, TraceId};

/// Events of an agent before one without a trace that are looked through for one that led to it.
const LOOK_BACK: u64 = 64;

/// Tasks above one that are looked at.
const PARENTS_MAX: usize = 16;

/// What leads from an event to what it belongs to.
#[derive(Debug, Default)]
struct Links {
    trace: Option<TraceId>,
    message: Option<MessageId>,
    task: Option<TaskId>,
}

impl Links {
    fn of(event: &CommittedEvent) -> Self {
        let fact = &event.event.fact;
        Self { trace: trace_of(event), message: fact.message_id(), task: fact.task_id() }
    }

    fn is_none(&self) -> bool {
        self.trace.is_none() && self.message.is_none() && self.task.is_none()
    }
}

/// How many automations caused each other before this event.
pub(super) fn hops(reader: &Reader, event: &CommittedEvent) -> Result<u32, ReadError> {
    let mut links = Links::of(event);
    if links.is_none()
        && let StreamName::Agent(_) = event.event.stream
    {
        links = led_to(reader, event)?;
    }
    let mut traces: Vec<TraceId> = links.trace.into_iter().collect();
    let mut task = links.task;
    if let Some(message) = links.message {
        let row = reader.message(&message)?;
        traces.extend(row.and_then(|row| row.envelope.handed_on()).map(|parent| parent.trace_id));
        // A run and the message that it is said by have one UUID.
        let run = reader.run(&RunId::from_bytes(*message.as_bytes()))?;
        task = task.or(run.map(|run| run.started.task_id));
    }
    let mut most = 0;
    for _ in 0..PARENTS_MAX {
        let Some(id) = task else { break };
        most = most.max(of_firing(reader, *id.as_bytes())?);
        let Some(row) = reader.task(&id)? else { break };
        let created = reader.events_from_pos(row.pos, 1, &[])?;
        traces.extend(created.first().and_then(trace_of));
        task = row.parent;
    }
    for trace in traces {
        most = most.max(of_firing(reader, *trace.as_bytes())?);
    }
    Ok(most)
}

fn trace_of(event: &CommittedEvent) -> Option<TraceId> {
    event.event.trace.as_ref().map(|trace| trace.traceparent.trace_id)
}

/// One more than before the firing with this UUID, if there is one.
fn of_firing(reader: &Reader, uuid: [u8; 16]) -> Result<u32, ReadError> {
    Ok(reader.firing(&FiringId::from_bytes(uuid))?.map_or(0, |row| row.fired.hops.saturating_add(1)))
}

/// What the newest event of the same stream belongs to that belongs to anything: what an agent's life goes through follows
/// from what it was asked to do last.
fn led_to(reader: &Reader, event: &CommittedEvent) -> Result<Links, ReadError> {
    let first = event.event.seq.saturating_sub(LOOK_BACK).max(1);
    let rows = usize::try_from(event.event.seq.saturating_sub(first)).unwrap_or(0);
    let before = reader.events(&event.event.stream, first, rows)?;
    let links = before.iter().rev().map(Links::of).find(|links| !links.is_none());
    Ok(links.unwrap_or_default())
}
