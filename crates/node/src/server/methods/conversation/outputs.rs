//! Outputs: what turns came to, by reference and in pieces.

use edgeplane_store::{CommittedEvent, Order, ReadError, Reader, StoredBody};
use edgeplane_types::{AgentId, ErrorName, Fact, OutputId, StreamName, ThreadId};
use edgeplane_wire::{
    api::conversation::output::{
        OUTPUT_BYTES_MAX, OutputListParams, OutputListResult, OutputParams, OutputView,
    },
    rpc::RpcError,
};

use super::{
    Session, check_owner, next_of, not_there, rows, thread_of,
    view::{output_of, turn_of_output},
    whose,
};

/// What every output is: the words of a program.
const MEDIA_TYPE: &str = "text/plain; charset=utf-8";

/// The end of a turn, and whose it is.
pub(super) fn found(session: &Session, id: OutputId) -> Result<(CommittedEvent, AgentId), RpcError> {
    let turn = turn_of_output(id);
    let none = || not_there(session, &format!("output {id}"));
    let committed = session.shared.record.look_up(|reader| reader.turn_output(&turn))?.ok_or_else(none)?;
    let StreamName::Agent(agent) = committed.event.stream else { return Err(none()) };
    check_owner(session, agent)?;
    Ok((committed, agent))
}

pub(in crate::server) async fn get(session: &Session, params: OutputParams) -> Result<OutputView, RpcError> {
    let (committed, _agent) = found(session, params.output_id)?;
    let (offset, bytes_max) = (params.offset, params.bytes_max.clamp(4, OUTPUT_BYTES_MAX));
    let view = session
        .shared
        .record
        .read(move |reader| {
            let Some(view) = shown(reader, &committed)? else { return Ok(None) };
            let body = match view.digest.parse() {
                Ok(digest) => reader.body(&digest)?,
                Err(_) => None,
            };
            Ok(Some(with_words(view, body, (offset, bytes_max))))
        })
        .await?;
    view.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no output {}", params.output_id)))
}

/// All that a turn came to, for those who may see it.
pub(in crate::server) async fn words(session: &Session, id: OutputId) -> Result<Vec<u8>, RpcError> {
    let (committed, _agent) = found(session, id)?;
    let gone =
        |why: &str| RpcError::new(ErrorName::NotFound, format!("the words of output {id} are gone: {why}"));
    let Fact::TurnCompleted { output_digest, output_bytes, .. } = &committed.event.fact else {
        return Err(gone("it has none"));
    };
    if *output_bytes == 0 {
        return Ok(Vec::new());
    }
    let digest = output_digest.parse().map_err(|_bad| gone("they are missing"))?;
    match session.shared.record.read(move |reader| reader.body(&digest)).await? {
        Some(StoredBody::Bytes(bytes)) => Ok(bytes),
        Some(StoredBody::Erased { reason }) => Err(gone(&reason)),
        None => Err(gone("they are missing")),
    }
}

/// Adds the words that were asked for, cut between characters.
fn with_words(view: OutputView, body: Option<StoredBody>, (offset, bytes_max): (u64, u64)) -> OutputView {
    match body {
        Some(StoredBody::Bytes(bytes)) => {
            let text = String::from_utf8_lossy(&bytes);
            let from = text.floor_char_boundary(usize::try_from(offset).unwrap_or(usize::MAX));
            let to = text.floor_char_boundary(from.saturating_add(usize::try_from(bytes_max).unwrap_or(0)));
            let words = text.get(from..to).unwrap_or_default().to_owned();
            let at = |place: usize| u64::try_from(place).unwrap_or(u64::MAX);
            let next_offset = (to < text.len()).then(|| at(to));
            OutputView { text: Some(words), offset: at(from), next_offset, ..view }
        }
        Some(StoredBody::Erased { reason }) => OutputView { erased: Some(reason), ..view },
        None => OutputView { erased: Some("its words are missing".to_owned()), ..view },
    }
}

/// An output without its words.
fn shown(reader: &Reader, committed: &CommittedEvent) -> Result<Option<OutputView>, ReadError> {
    let Fact::TurnCompleted { turn_id, message_id, output_digest, output_bytes, authority, .. } =
        &committed.event.fact
    else {
        return Ok(None);
    };
    let StreamName::Agent(agent) = committed.event.stream else { return Ok(None) };
    let Some(agent) = reader.agent_by_id(&agent)? else { return Ok(None) };
    let row = match message_id {
        Some(id) => reader.message(id)?,
        None => None,
    };
    let main = match row.as_ref().filter(|row| row.addressed != agent.id) {
        Some(row) => reader.agent_by_id(&row.addressed)?.map_or(agent.session_id, |set| set.session_id),
        None => agent.session_id,
    };
    let thread = row.and_then(|row| row.envelope.thread);
    Ok(Some(OutputView {
        output_id: output_of(*turn_id),
        turn_id: *turn_id,
        thread_id: thread.unwrap_or_else(|| ThreadId::from_bytes(*main.as_bytes())),
        agent: agent.name.to_string(),
        created_at: committed.event.ts,
        media_type: MEDIA_TYPE.to_owned(),
        digest: output_digest.clone(),
        bytes: *output_bytes,
        authority: *authority,
        text: None,
        offset: 0,
        next_offset: None,
        erased: None,
        removed: reader.removed_turn(turn_id)?.is_some(),
    }))
}

pub(in crate::server) async fn list(
    session: &Session,
    params: OutputListParams,
) -> Result<OutputListResult, RpcError> {
    let (agent, thread) = match (params.thread_id, params.agent.as_deref()) {
        (Some(id), named) => {
            let row = thread_of(session, Some(id), named)?;
            (row.agent, Some(row.id))
        }
        (None, named) => {
            let id = whose(session, named)?;
            check_owner(session, id)?;
            (id, None)
        }
    };
    let (rows, cursor) = (rows(params.limit), params.cursor);
    let order = if params.newest { Order::Newest } else { Order::Oldest };
    session
        .shared
        .record
        .read(move |reader| {
            let found = reader.turn_outputs(&agent, order, rows, cursor)?;
            let next = next_of(&found, rows, |committed| committed.pos);
            let mut items = Vec::new();
            for committed in &found {
                let view = shown(reader, committed)?;
                items.extend(view.filter(|view| thread.is_none_or(|thread| view.thread_id == thread)));
            }
            Ok(OutputListResult { items, next })
        })
        .await
}
