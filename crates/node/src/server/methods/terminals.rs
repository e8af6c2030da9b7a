//! Terminals and recordings: attach, type, resize, look, read back.

use std::ops::ControlFlow;

use base64::Engine as _;
use edgeplane_types::{AgentId, Epoch, ErrorName, PolicyAction, Tenant};
use edgeplane_wire::{
    api::{
        Empty,
        agent::AgentParams,
        terminal::{
            AttachParams, AttachResult, DetachParams, RecordingItem, RecordingParams, RecordingResult,
            ResizeParams, SnapshotResult, WriteParams,
        },
    },
    cast::CastEvent,
    rpc::RpcError,
    shim::OutputStream,
};

use super::{Session, agent_itself, check_no_set, check_owner};
use crate::{
    agent::Command,
    gate::Asked,
    record::{Origin, chain},
    recordings::{self, RecordingError, Segment, Timed},
    server::dispatch::decoded,
};

/// Bytes of output in one answer when the caller does not say how many.
const LIMIT_BYTES: u64 = 1 << 20;

/// Most bytes of output in one answer.
const LIMIT_BYTES_MAX: u64 = 4 << 20;

/// Most events in one answer.
const ITEMS_MAX: usize = 100_000;

/// The id of an agent, also of one that is retired if it is named by id.
pub(super) fn agent_id(session: &Session, name: &str) -> Result<AgentId, RpcError> {
    match session.shared.agent(&Tenant::default(), name) {
        Ok(handle) => Ok(handle.id),
        Err(error) => {
            let Ok(id) = name.parse::<AgentId>() else { return Err(error) };
            let known = session.shared.record.look_up(|reader| reader.agent_by_id(&id))?;
            known.map(|row| row.id).ok_or(error)
        }
    }
}

pub(in crate::server) async fn attach(
    session: &Session,
    params: AttachParams,
) -> Result<AttachResult, RpcError> {
    let handle = agent_itself(session, &params.agent)?;
    let action = if params.control { PolicyAction::Control } else { PolicyAction::Attach };
    session.shared.gate.decide(&session.shared, &Asked::act(action, &session.caller, &handle))?;
    let origin = Origin::actor(session.caller.actor());
    let outbound = session.outbound.clone();
    let result = handle.ask(|reply| Command::Attach(params, origin, outbound, reply)).await??;
    session.opened.attached(result.attachment.clone(), handle.clone());
    // The connection may have ended meanwhile, and closed what it had opened until then.
    if session.outbound.is_gone() && session.opened.detached(&result.attachment).is_some() {
        handle.tell(Command::Detach(result.attachment.clone(), "its connection ended"));
    }
    Ok(result)
}

pub(in crate::server) fn detach(session: &Session, params: &DetachParams) -> Result<Empty, RpcError> {
    let known = session.opened.detached(&params.attachment);
    let handle =
        known.ok_or_else(|| RpcError::new(ErrorName::NotFound, "no such attachment on this connection"))?;
    handle.tell(Command::Detach(params.attachment.clone(), "detached"));
    Ok(Empty {})
}

pub(in crate::server) async fn write(session: &Session, params: WriteParams) -> Result<Empty, RpcError> {
    let handle = session.opened.attachment(&params.attachment)?;
    let bytes = decoded(&params.data)?;
    handle.ask(|reply| Command::Write(params.attachment, bytes, Some(reply))).await??;
    Ok(Empty {})
}

pub(in crate::server) async fn resize(session: &Session, params: ResizeParams) -> Result<Empty, RpcError> {
    let handle = session.opened.attachment(&params.attachment)?;
    let size = (params.cols, params.rows);
    handle.ask(|reply| Command::Resize(params.attachment, size, Some(reply))).await??;
    Ok(Empty {})
}

pub(in crate::server) async fn snapshot(
    session: &Session,
    params: &AgentParams,
) -> Result<SnapshotResult, RpcError> {
    let handle = agent_itself(session, &params.agent)?;
    check_owner(session, handle.id)?;
    handle.ask(Command::Snapshot).await?
}

pub(in crate::server) async fn recording(
    session: &Session,
    params: RecordingParams,
) -> Result<RecordingResult, RpcError> {
    let id = agent_id(session, &params.agent)?;
    check_owner(session, id)?;
    let live = session.shared.agent(&Tenant::default(), &id.to_string()).ok();
    if let Some(handle) = &live {
        check_no_set(session, handle)?;
    }
    let newest = match &live {
        Some(handle) => handle.summary.borrow().epoch,
        None => {
            session.shared.record.look_up(|reader| reader.agent_by_id(&id))?.map_or(Epoch(0), |row| row.epoch)
        }
    };
    let epoch = params.epoch.unwrap_or(newest);
    if epoch == Epoch(0) || epoch > newest {
        let what = match newest {
            Epoch(0) => "the agent has not run yet".to_owned(),
            newest => format!("there is no epoch {epoch}; the newest is {newest}"),
        };
        return Err(RpcError::new(ErrorName::NotFound, what));
    }
    let phase = live.map(|handle| handle.summary.borrow().phase);
    let over = epoch < newest
        || !phase.is_some_and(|phase| {
            use edgeplane_types::Phase::{Frozen, Running, Starting, Stopping, Unobservable};
            matches!(phase, Running | Frozen | Starting | Stopping | Unobservable)
        });
    let dir = recordings::epoch_dir(&session.shared.agents_dir(), &id.to_string(), epoch);
    let work = tokio::task::spawn_blocking(move || read(&dir, &params, epoch, over));
    let result = work.await.map_err(|_cut| RpcError::new(ErrorName::Internal, "the reading was cut off"))?;
    result.map_err(|error| RpcError::new(ErrorName::Unavailable, chain(&error)))
}

fn read(
    dir: &std::path::Path,
    params: &RecordingParams,
    epoch: Epoch,
    over: bool,
) -> Result<RecordingResult, RecordingError> {
    let from = match params.last_bytes {
        Some(bytes) => end_of(dir)?.saturating_sub(bytes),
        None => params.offset,
    };
    let limit = params.limit_bytes.unwrap_or(LIMIT_BYTES).clamp(1, LIMIT_BYTES_MAX);
    let mut result = RecordingResult {
        epoch,
        items: Vec::new(),
        next: from,
        end: true,
        over,
        cols: 80,
        rows: 24,
        pipes: false,
    };
    let mut given = 0_u64;
    // What lies at `from` and is no output may stand at the end of the segment before.
    for segment in recordings::segments_from(dir, from.saturating_sub(1))? {
        let segment = Segment::open(dir, segment)?;
        if let Some(header) = segment.header()?.filter(|_| result.items.is_empty()) {
            (result.cols, result.rows) = (header.term.cols, header.term.rows);
            result.pipes = header.edgeplane.pipes;
        }
        let stopped = segment.visit(|timed| {
            if timed.end() <= from && (timed.end() > timed.offset || timed.offset < from) {
                if let CastEvent::Other { code: 'r', data } = &timed.event {
                    (result.cols, result.rows) =
                        recordings::parse_size(data).unwrap_or((result.cols, result.rows));
                }
                return ControlFlow::Continue(());
            }
            if given >= limit || result.items.len() >= ITEMS_MAX {
                result.end = false;
                return ControlFlow::Break(());
            }
            given = given.saturating_add(timed.end().saturating_sub(timed.offset.max(from)));
            result.next = result.next.max(timed.end());
            result.items.push(item(timed, from));
            ControlFlow::Continue(())
        })?;
        if stopped {
            break;
        }
    }
    Ok(result)
}

fn end_of(dir: &std::path::Path) -> Result<u64, RecordingError> {
    let Some(last) = recordings::segments(dir)?.last().copied() else { return Ok(0) };
    let segment = Segment::open(dir, last)?;
    let mut end = segment.header()?.map_or(0, |header| header.edgeplane.offset);
    segment.visit(|timed| {
        end = timed.end();
        ControlFlow::Continue(())
    })?;
    Ok(end)
}

fn item(timed: Timed, from: u64) -> RecordingItem {
    let Timed { at_us, offset, event } = timed;
    let (code, data, offset) = match event {
        CastEvent::Output { stream, bytes, .. } => {
            let skip = usize::try_from(from.saturating_sub(offset)).unwrap_or(usize::MAX).min(bytes.len());
            let bytes = bytes.get(skip..).unwrap_or_default();
            let code = match stream {
                OutputStream::Out => 'o',
                OutputStream::Err => 'e',
            };
            (code, base64::engine::general_purpose::STANDARD.encode(bytes), offset.max(from))
        }
        CastEvent::Gap { bytes, .. } => ('g', bytes.to_string(), offset),
        CastEvent::Other { code, data } => (code, data, offset),
    };
    RecordingItem { at_us, offset, code, data }
}
