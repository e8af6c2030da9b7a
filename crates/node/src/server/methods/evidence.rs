//! Evidence: packs, cases for replays, gaps.

use std::sync::Arc;

use base64::Engine as _;
use edgeplane_neighbour::NeighbourError;
use edgeplane_proof::digest;
use edgeplane_store::AgentFilter;
use edgeplane_types::{ErrorName, EventId, Phase, SafeLabel, StreamName};
use edgeplane_wire::{
    api::evidence::{
        CaseExportParams, CaseExportResult, GapView, GapsParams, GapsResult, PackFile, PackParams, PackRef,
        PackResult, PackScope,
    },
    rpc::RpcError,
};

use super::{Session, terminals::agent_id};
use crate::{
    evidence::{self, Beside, Built, Sources, gaps, holds, replay},
    neighbours,
    workspaces::blocking,
};

/// Bytes of a pack that comes with the answer; a larger one is written on the node.
const INLINE_BYTES_MAX: usize = 4 << 20;

pub(super) fn sources(session: &Session) -> Sources {
    let shared = &session.shared;
    // The part that no other pack has is that of any id.
    let id: EventId = shared.record.mint().id();
    let pack_id = id.to_string().replacen("evt_", "pack-", 1);
    Sources {
        node: shared.identity.id,
        name: shared.identity.name.clone(),
        agents_dir: shared.agents_dir(),
        environment: shared.environment.clone(),
        pack_id,
        made_at: shared.record.now(),
        beside: Beside::default(),
    }
}

pub(in crate::server) async fn export(session: &Session, params: PackParams) -> Result<PackResult, RpcError> {
    let shared = &session.shared;
    let agent = match &params.scope {
        PackScope::Agent(name) => Some(agent_id(session, name)?),
        _ => None,
    };
    if params.from.zip(params.to).is_some_and(|(from, to)| from > to) {
        return Err(RpcError::new(ErrorName::InvalidParams, "`from` is after `to`"));
    }
    let key = shared.keys.signing(&shared.record).await?;
    let (mut sources, write) = (sources(session), params.write);
    let (pack_id, signed_by) = (sources.pack_id.clone(), key.key_id().clone());
    let built = shared
        .record
        .read(move |reader| Ok(evidence::build(reader, &mut sources, &params, agent, &key)))
        .await??;
    hand_out(session, built, write, (pack_id, signed_by)).await
}

/// Gives a pack away: with the answer if it is small, else as a folder on the node.
pub(super) async fn hand_out(
    session: &Session,
    built: Built,
    write: bool,
    (pack_id, signed_by): (String, SafeLabel),
) -> Result<PackResult, RpcError> {
    let shared = &session.shared;
    let refs = built.files.iter().map(|(path, bytes)| PackRef {
        path: path.clone(),
        digest: digest(bytes).to_string(),
        bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
    });
    let mut result = PackResult {
        refs: refs.collect(),
        digest: built.digest.to_string(),
        events: built.events,
        pack_id,
        signed_by,
        path: None,
        files: Vec::new(),
    };
    let total: usize = built.files.iter().map(|(_, bytes)| bytes.len()).sum();
    if write || total > INLINE_BYTES_MAX {
        let (backend, pack, files) =
            (Arc::clone(&shared.neighbours.evidence), result.pack_id.clone(), built.files);
        // Its manifest comes last but for the signature: what has none is no pack.
        let own = shared.clone();
        let kept = blocking(move || {
            holds::hold(&own, &pack, &built.checkpoints)?;
            let kept = backend.keep(&pack, &files);
            holds::settle(&own, &pack)?;
            Ok::<_, RpcError>(kept)
        })
        .await??;
        let refused = |error: &NeighbourError| match neighbours::failed(error) {
            // As it always was: whatever keeps it from being written, there is no room for it.
            error if error.name() == ErrorName::UpstreamFailed => {
                RpcError::new(ErrorName::StorageFull, error.message)
            }
            error => error,
        };
        result.path = Some(kept.map_err(|error| refused(&error))?);
    } else {
        let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
        let files = built.files.into_iter().map(|(path, bytes)| PackFile { path, data: encode(&bytes) });
        result.files = files.collect();
    }
    edgeplane_os::memory::give_back();
    Ok(result)
}

pub(in crate::server) async fn replay_case(
    session: &Session,
    params: CaseExportParams,
) -> Result<CaseExportResult, RpcError> {
    let sources = sources(session);
    let turn = params.turn_id;
    session.shared.record.read(move |reader| Ok(replay::case(reader, &sources, turn))).await?
}

pub(in crate::server) async fn gap_list(
    session: &Session,
    params: GapsParams,
) -> Result<GapsResult, RpcError> {
    let agent = params.agent.as_deref().map(|name| agent_id(session, name)).transpose()?;
    let (dir, node) = (session.shared.agents_dir(), session.shared.identity.id);
    let read = session.shared.record.read(move |reader| {
        let rows = match agent {
            Some(id) => reader.agent_by_id(&id)?.into_iter().collect(),
            None => reader.agents(&AgentFilter { tenant: None, phases: Phase::ALL.to_vec() })?,
        };
        let mut items: Vec<GapView> = Vec::new();
        if agent.is_none() {
            items.extend(gaps::of_node(reader, &StreamName::Node(node))?);
        }
        for row in &rows {
            items.extend(gaps::of_agent(reader, &dir, row)?);
            if items.len() > gaps::GAPS_MAX {
                break;
            }
        }
        Ok(items)
    });
    let mut items = read.await?;
    let truncated = items.len() > gaps::GAPS_MAX;
    items.truncate(gaps::GAPS_MAX);
    Ok(GapsResult { items, truncated })
}
