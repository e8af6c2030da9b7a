//! Barriers: waiting until what was written has arrived, and a receipt of it.
//!
//! Rows of the record decide; that something was committed only says when to look again.

use std::time::Duration;

use edgeplane_store::CheckpointFilter;
use edgeplane_types::{ErrorName, WorkspaceId};
use edgeplane_wire::{
    api::workspace::{
        BARRIER_MS_MAX, BARRIER_WRITES_MAX, BarrierAwaitParams, BarrierReceipt, BarrierThrough, ReplicaPlace,
    },
    rpc::RpcError,
};
use tokio::{sync::broadcast::error::RecvError, time::Instant};

use super::{Begin, Session, number, replay_gap, source};
use crate::{
    projections::{Kind, Lease, Source, lease, read_cursor, source_head},
    server::methods::workspaces::seen,
};

/// What has to arrive.
enum Awaited {
    Changes(WorkspaceId),
    Log(Source),
    Projection(Lease),
}

pub(in crate::server) async fn wait(
    session: &Session,
    params: BarrierAwaitParams,
) -> Result<BarrierReceipt, RpcError> {
    let shared = &session.shared;
    if let Some(other) = params.replicas.iter().find(|id| **id != shared.identity.id) {
        let what = format!("node {other} is not this one, and nothing is copied to others yet");
        return Err(RpcError::new(ErrorName::Unsupported, what));
    }
    let invalid = |what: &str| Err(RpcError::new(ErrorName::InvalidParams, what));
    let (awaited, through) = match (params.target.workspace_id, &params.target.stream) {
        (Some(id), None) => (Awaited::Changes(seen(session, id)?.id), of_changes(&params.through)?),
        (None, Some(target)) => {
            let source = source(session, &params.projection, target)?;
            let through = of_entries(&source, &params.through)?;
            let is_log = matches!(source.kind, Kind::Log);
            let awaited = if is_log {
                Awaited::Log(source)
            } else {
                Awaited::Projection(lease(shared, &source).await?)
            };
            (awaited, through)
        }
        _ => return invalid("`target` names either `workspace_id` or `stream`"),
    };
    let reached = arrived(session, &awaited, through, params.timeout_ms).await?;
    let mut receipt = BarrierReceipt {
        id: String::new(),
        target: params.target,
        through_seq: through,
        tree_digest: digest(session, &awaited, reached)?,
        reached_at: shared.record.now(),
        replicas: vec![ReplicaPlace { id: shared.identity.id, seq: reached }],
    };
    let bytes = serde_json::to_vec(&receipt).unwrap_or_default();
    receipt.id = edgeplane_proof::digest(&bytes).to_string();
    Ok(receipt)
}

/// Waits until every change of a workspace up to a number is there.
pub(in crate::server) async fn changes(
    session: &Session,
    id: WorkspaceId,
    through: u64,
    timeout_ms: u64,
) -> Result<(), RpcError> {
    arrived(session, &Awaited::Changes(id), through, timeout_ms).await.map(drop)
}

async fn arrived(
    session: &Session,
    awaited: &Awaited,
    through: u64,
    timeout_ms: u64,
) -> Result<u64, RpcError> {
    if timeout_ms > BARRIER_MS_MAX {
        return Err(RpcError::new(ErrorName::InvalidParams, "`timeout_ms` is at most ten minutes"));
    }
    let until = Instant::now() + Duration::from_millis(timeout_ms);
    let reached = Box::pin(reach(session, awaited, through, until)).await?;
    if reached < through {
        let id = session.shared.identity.id;
        let what = format!("node {id} is at {reached}, not at {through}, after {timeout_ms} ms");
        return Err(RpcError::new(ErrorName::DeadlineExceeded, what));
    }
    Ok(reached)
}

/// Up to which change of a file.
fn of_changes(through: &BarrierThrough) -> Result<u64, RpcError> {
    match (through.seq, &through.cursor, through.write_ids.iter().max()) {
        (Some(seq), None, None) => Ok(seq),
        (None, None, Some(last)) if through.write_ids.len() <= BARRIER_WRITES_MAX => Ok(*last),
        _ => {
            let what = format!("`through` names either `seq` or at most {BARRIER_WRITES_MAX} `write_ids`");
            Err(RpcError::new(ErrorName::InvalidParams, what))
        }
    }
}

/// Up to which entry of a projection.
fn of_entries(source: &Source, through: &BarrierThrough) -> Result<u64, RpcError> {
    match (through.seq, &through.cursor, through.write_ids.is_empty()) {
        (Some(seq), None, true) => Ok(seq),
        (None, Some(cursor), true) => {
            let place = read_cursor(source, cursor)?;
            let n = number(Begin::At(place), source, u64::MAX)?;
            n.ok_or_else(|| replay_gap(source, Some(place), 0))
        }
        _ => Err(RpcError::new(ErrorName::InvalidParams, "`through` names either `seq` or `cursor`")),
    }
}

/// How far it is: as far as is wanted, or less if the time is over.
async fn reach(session: &Session, awaited: &Awaited, through: u64, until: Instant) -> Result<u64, RpcError> {
    let shared = &session.shared;
    let stops = || RpcError::new(ErrorName::Unavailable, "the node stops");
    if let Awaited::Projection(lease) = awaited {
        let mut head = lease.topic.head.subscribe();
        // Losing the race loses nothing: the number only grows.
        tokio::select! {
            _reached = head.wait_for(|head| *head >= through) => {}
            () = tokio::time::sleep_until(until) => {}
            () = shared.stopping.cancelled() => return Err(stops()),
            () = lease.topic.replaced.cancelled() => {
                return Err(RpcError::new(ErrorName::Unavailable, "the projection was made anew in this moment"));
            }
        }
        return Ok(*lease.topic.head.borrow());
    }
    let mut live = shared.record.follow();
    loop {
        let now = place(session, awaited)?;
        if now >= through || Instant::now() >= until {
            return Ok(now);
        }
        // Whatever of these wins, the record is looked at again.
        tokio::select! {
            heard = live.recv() => if matches!(heard, Err(RecvError::Closed)) { return Err(stops()) },
            () = tokio::time::sleep_until(until) => {}
            () = shared.stopping.cancelled() => return Err(stops()),
        }
    }
}

fn place(session: &Session, awaited: &Awaited) -> Result<u64, RpcError> {
    match awaited {
        Awaited::Changes(id) => {
            let row = seen(session, *id)?;
            // One whose end is not recorded has not arrived.
            Ok(row.write_seq.saturating_sub(u64::from(row.changing.is_some())))
        }
        Awaited::Log(source) => source_head(&session.shared, source),
        Awaited::Projection(lease) => Ok(*lease.topic.head.borrow()),
    }
}

/// The digest of the newest checkpoint, if it has these changes and no more.
fn digest(session: &Session, awaited: &Awaited, reached: u64) -> Result<Option<String>, RpcError> {
    let Awaited::Changes(id) = awaited else { return Ok(None) };
    let filter = CheckpointFilter { workspace: Some(*id), all: false };
    let rows = session.shared.record.look_up(|reader| reader.checkpoints(&filter, None, 1))?;
    let created = rows.into_iter().find_map(|row| row.created);
    Ok(created.filter(|(created, _)| created.write_seq == reached).map(|(created, _)| created.digest))
}
