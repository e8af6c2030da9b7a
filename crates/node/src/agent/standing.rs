//! What the record says of an agent, kept for as long as the record is the same.
//!
//! Owns when it is looked up anew: everything here is a function of the record, so a record that has not grown says the
//! same again. A look at an agent is the most frequent call there is, and the look-ups were most of its time.

use std::collections::BTreeMap;

use edgeplane_store::{MemoryTotals, ReadError, Reader, StreamHead};
use edgeplane_types::{AgentId, Rung, StreamName};
use edgeplane_wire::rpc::RpcError;

use super::Actor;

/// What the record says of one agent.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Messages that wait, those that were handed to replicas included.
    pub(super) waiting: u64,
    /// Messages by the rung that they have reached, those that were handed to replicas included.
    pub(super) messages: BTreeMap<Rung, u64>,
    pub(super) head: Option<StreamHead>,
    pub(super) memory: MemoryTotals,
    /// The program's own name for the session that was opened last.
    pub(super) resume_handle: Option<String>,
}

/// What was looked up last, and where the record ended before that.
#[derive(Debug, Default)]
pub(super) struct Known(Option<(u64, Standing)>);

impl Actor {
    /// What the record says now: not less than it said when this was asked for.
    pub(super) fn standing(&mut self) -> Result<Standing, RpcError> {
        // Read first: what is added during the look-ups may be in them or not, and moves the end of the record.
        let end = self.shared.record.head();
        if let Some((known_at, standing)) = &self.known.0
            && *known_at == end
        {
            return Ok(standing.clone());
        }
        let members: Vec<AgentId> = self.members().iter().map(|member| member.id).collect();
        let (id, stream) = (self.identity.id, self.stream());
        let look = |reader: &Reader| look(reader, (&id, &stream), &members);
        let standing = self.shared.record.look_up(|reader| reader.at_one_moment(look))?;
        self.known.0 = Some((end, standing.clone()));
        Ok(standing)
    }
}

fn look(
    reader: &Reader,
    (id, stream): (&AgentId, &StreamName),
    members: &[AgentId],
) -> Result<Standing, ReadError> {
    let (mut waiting, mut messages) = (reader.waiting_count(id)?, reader.counts(Some(id))?);
    for member in members {
        // What was handed to a replica came to the set.
        waiting += reader.waiting_count(member)?;
        for (rung, count) in reader.counts(Some(member))? {
            *messages.entry(rung).or_default() += count;
        }
    }
    Ok(Standing {
        waiting,
        messages,
        head: reader.stream_head(stream)?,
        memory: reader.memory_totals(id)?,
        resume_handle: reader.session(id)?.and_then(|row| row.handle().map(str::to_owned)),
    })
}
