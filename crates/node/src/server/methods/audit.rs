//! Verification: every chain, every body, every read model, every sealed segment.

use std::{collections::HashMap, path::Path};

use edgeplane_store::{AgentFilter, AgentRow, AuditProgress, ReadError, Reader, SegmentRow};
use edgeplane_types::{Epoch, Fact, Phase, StreamName};
use edgeplane_wire::{
    api::node::{AuditProblem, AuditResult},
    rpc::{self, RpcError},
};

use super::Session;
use crate::recordings;

pub(in crate::server) async fn verify(session: &Session) -> Result<AuditResult, RpcError> {
    let outbound = session.outbound.clone();
    let agents_dir = session.shared.agents_dir();
    let result = session.shared.record.read(move |reader| {
        audit(reader, &agents_dir, &mut |progress: AuditProgress| {
            let text = format!("{} of {} events", progress.events, progress.head_pos);
            // A caller that does not read its progress does without.
            drop(outbound.offer(rpc::notification("core/progress", serde_json::json!({ "text": text }))));
        })
    });
    let result = result.await?;
    edgeplane_os::memory::give_back();
    if !result.ok {
        tracing::error!(problems = result.problems.len(), "the record failed verification");
    }
    Ok(result)
}

/// Verifies the record in a state directory that no daemon need serve; nothing is written.
///
/// # Errors
/// If there is no record that can be read.
pub fn verify_offline(state_dir: &Path) -> Result<AuditResult, ReadError> {
    let reader = Reader::open(&state_dir.join("record"))?;
    audit(&reader, &state_dir.join("agents"), &mut |_| {})
}

fn audit(
    reader: &Reader,
    agents_dir: &Path,
    progress: &mut dyn FnMut(AuditProgress),
) -> Result<AuditResult, ReadError> {
    let report = edgeplane_store::verify(reader, progress)?;
    let problems = report.problems.into_iter().map(|problem| AuditProblem {
        stream: problem.stream.map(|stream| stream.to_string()).unwrap_or_default(),
        seq: problem.seq.unwrap_or(0),
        kind: problem.event_type.unwrap_or_default(),
        what: problem.what,
    });
    let mut result = AuditResult {
        ok: true,
        events: report.events,
        streams: report.streams,
        segments: 0,
        unsealed: 0,
        problems: problems.collect(),
    };
    let filter = AgentFilter { tenant: None, phases: Phase::ALL.to_vec() };
    for agent in reader.agents(&filter)? {
        recordings_of(reader, agents_dir, &agent, &mut result)?;
    }
    result.ok = result.problems.is_empty();
    Ok(result)
}

/// What an agent's stream says of its recordings: which event sealed a segment, and which are let go.
#[derive(Default)]
struct Told {
    sealed_by: HashMap<(Epoch, u32), u64>,
    pruned_through: HashMap<Epoch, u32>,
}

fn told(reader: &Reader, agent: &AgentRow) -> Result<Told, ReadError> {
    const PAGE: usize = 1_000;
    let mut told = Told::default();
    let mut after = 0_u64;
    loop {
        let page = reader.events(&StreamName::Agent(agent.id), after.saturating_add(1), PAGE)?;
        for committed in &page {
            after = committed.event.seq;
            match &committed.event.fact {
                Fact::RecordingSealed { epoch, segment, .. } => {
                    told.sealed_by.insert((*epoch, *segment), after);
                }
                Fact::RecordingPruned { epoch, through_segment, .. } => {
                    let through = told.pruned_through.entry(*epoch).or_default();
                    *through = (*through).max(*through_segment);
                }
                _ => {}
            }
        }
        if page.len() < PAGE {
            return Ok(told);
        }
    }
}

fn recordings_of(
    reader: &Reader,
    agents_dir: &Path,
    agent: &AgentRow,
    result: &mut AuditResult,
) -> Result<(), ReadError> {
    let told = told(reader, agent)?;
    for row in reader.epochs(&agent.id)? {
        let epoch = row.epoch;
        let dir = recordings::epoch_dir(agents_dir, &agent.id.to_string(), epoch);
        let sealed = reader.segments(&agent.id, epoch)?;
        let on_disk = recordings::segments(&dir).unwrap_or_default();
        let open = on_disk.iter().filter(|segment| sealed.iter().all(|row| row.segment != **segment)).count();
        result.unsealed = result.unsealed.saturating_add(u64::try_from(open).unwrap_or(u64::MAX));
        let pruned = told.pruned_through.get(&epoch).copied().unwrap_or(0);
        for row in sealed.iter().filter(|row| row.segment > pruned) {
            result.segments = result.segments.saturating_add(1);
            let Some(what) = wrong_with(&dir, epoch, row) else { continue };
            result.problems.push(AuditProblem {
                stream: StreamName::Agent(agent.id).to_string(),
                seq: told.sealed_by.get(&(epoch, row.segment)).copied().unwrap_or(0),
                kind: "recording.sealed".to_owned(),
                what,
            });
        }
    }
    Ok(())
}

fn wrong_with(dir: &Path, epoch: Epoch, row: &SegmentRow) -> Option<String> {
    match std::fs::read(recordings::segment_path(dir, row.segment)) {
        Err(error) => Some(format!("segment {} of epoch {epoch} cannot be read: {error}", row.segment)),
        Ok(bytes) if edgeplane_proof::digest(&bytes).to_string() != row.digest => {
            Some(format!("segment {} of epoch {epoch} is not what was sealed", row.segment))
        }
        Ok(_) => None,
    }
}
