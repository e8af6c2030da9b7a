//! The items of a turn or a thread: the entries of the transcript that belong to it, in blocks.

use edgeplane_store::{ReadError, Reader};
use edgeplane_types::{AgentId, ErrorName, StreamName, ThreadId, TurnId};
use edgeplane_wire::{
    api::{
        conversation::{
            LIST_MAX,
            turn::{Block, ItemListParams, ItemListResult, ItemView},
        },
        report::{Detail, TranscriptEntry},
    },
    rpc::RpcError,
};

use super::{
    super::{Session, check_owner},
    Wanted, before_message, following,
};
use crate::agent::{message_of, turn_of};

/// A conversation that entries belong to.
#[derive(Debug, Clone, Copy)]
pub(in crate::server) enum Of {
    Turn(TurnId),
    /// What is part of a thread's history; none is the agent's first one.
    Thread(AgentId, Option<ThreadId>),
}

pub(in crate::server) async fn list(
    session: &Session,
    params: ItemListParams,
) -> Result<ItemListResult, RpcError> {
    let (agent, of) = match (params.turn_id, params.thread_id) {
        (Some(turn), None) => (agent_of_turn(session, turn)?, Of::Turn(turn)),
        (None, Some(id)) => {
            let row = session.shared.record.look_up(|reader| reader.thread(&id))?;
            let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no thread {id}")))?;
            (row.agent, Of::Thread(row.agent, (!row.is_main).then_some(id)))
        }
        _ => return Err(RpcError::new(ErrorName::InvalidParams, "name a turn or a thread")),
    };
    check_owner(session, agent)?;
    let limit = usize::try_from(params.limit.clamp(1, LIST_MAX)).unwrap_or(1);
    let wanted = Wanted { epoch: None, message_id: None, detail: Detail::Everything, limit, of: Some(of) };
    let stream = StreamName::Agent(agent);
    let after = params.after;
    session
        .shared
        .record
        .read(move |reader| {
            let after = match of {
                Of::Turn(turn) => after.max(before_message(reader, &stream, &message_of(turn))?),
                Of::Thread(..) => after,
            };
            let found = following(reader, &stream, after, wanted)?;
            let mut items = Vec::with_capacity(found.items.len());
            for entry in found.items {
                if let Some(turn) = turn_of_entry(reader, &entry, of)? {
                    items.push(shown(entry, turn));
                }
            }
            Ok(ItemListResult { items, next: (!found.end).then_some(found.next) })
        })
        .await
}

/// The agent in whose stream a turn stands.
fn agent_of_turn(session: &Session, turn: TurnId) -> Result<AgentId, RpcError> {
    let found = session.shared.record.look_up(|reader| {
        if let Some(row) = reader.message(&message_of(turn))? {
            return Ok(Some(row.envelope.target));
        }
        Ok(reader.turn_output(&turn)?.and_then(|committed| match committed.event.stream {
            StreamName::Agent(id) => Some(id),
            StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
        }))
    })?;
    found.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no turn {turn}")))
}

/// The turn that an entry is part of, if that belongs to a conversation.
pub(super) fn turn_of_entry(
    reader: &Reader,
    entry: &TranscriptEntry,
    of: Of,
) -> Result<Option<TurnId>, ReadError> {
    let row = match entry.message_id {
        Some(id) => reader.message(&id)?,
        None => None,
    };
    let Some(row) = row else {
        // A turn that its program began by itself is one of the first thread.
        return Ok(entry.turn_id.filter(|turn| match of {
            Of::Turn(wanted) => wanted == *turn,
            Of::Thread(_, thread) => thread.is_none(),
        }));
    };
    let turn = row.envelope.into_turn.unwrap_or_else(|| turn_of(row.envelope.id));
    let belongs = match of {
        Of::Turn(wanted) => wanted == turn,
        Of::Thread(agent, thread) => {
            row.envelope.target == agent
                && row.envelope.thread == thread
                && reader.removed_turn(&turn)?.is_none()
        }
    };
    Ok(belongs.then_some(turn))
}

fn shown(entry: TranscriptEntry, turn_id: TurnId) -> ItemView {
    let text = entry.text.map(|text| Block::Text { text, is_cut: entry.is_cut });
    let data = entry.data.map(|data| Block::Data { data });
    ItemView {
        seq: entry.seq,
        at: entry.at,
        turn_id,
        item_id: entry.item_id,
        message_id: entry.message_id,
        spoken: entry.spoken,
        kind: entry.kind,
        status: entry.status,
        authority: entry.authority,
        blocks: text.into_iter().chain(data).collect(),
    }
}
