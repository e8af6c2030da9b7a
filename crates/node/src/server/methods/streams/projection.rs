//! Projections: which there are, what they say, whether they are what the record makes of them.

use std::{collections::BTreeMap, sync::Arc};

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::stream::{
        ProjectionKind, ProjectionParams, ProjectionView, ProjectionsParams, ProjectionsResult,
        RebuildResult, Rebuilt, Target, TargetKind, Verified, VerifyResult,
    },
    rpc::{self, RpcError},
};

use super::{Session, head, snapshot, source};
use crate::{
    projections::{self, Checked, Kind, Source, check, lease},
    shared::Shared,
};

/// Events between two words of progress.
const PROGRESS_EVENTS: u64 = 50_000;

pub(in crate::server) fn list(session: &Session) -> ProjectionsResult {
    let mut running: BTreeMap<&str, u64> = BTreeMap::new();
    for topic in session.shared.projections.running() {
        let count = running.entry(topic.source.kind.name()).or_default();
        *count = count.saturating_add(1);
    }
    let items = Kind::all().map(|kind| ProjectionKind {
        name: kind.name().to_owned(),
        version: kind.version(),
        summary: kind.summary().to_owned(),
        targets: kind.targets().to_vec(),
        running: running.get(kind.name()).copied().unwrap_or(0),
    });
    ProjectionsResult { items: items.collect() }
}

pub(in crate::server) async fn get(
    session: &Session,
    params: &ProjectionParams,
) -> Result<ProjectionView, RpcError> {
    let shared = &session.shared;
    let source = source(session, &params.projection, &params.target)?;
    let lease = lease(shared, &source).await?;
    let head = head(shared, &lease).await?;
    let at = lease.topic.state().map_or(head, |state| state.at);
    let snapshot = snapshot(shared, &lease, head).await?;
    Ok(ProjectionView {
        name: source.kind.name().to_owned(),
        version: source.kind.version(),
        as_of_pos: position(shared, &source, at).await?,
        target: source.subject.target,
        state: snapshot.state,
        as_of_seq: snapshot.as_of_seq,
        head_seq: head.max(snapshot.as_of_seq),
        digest: snapshot.digest,
    })
}

/// The place on the node of an event of a source.
async fn position(shared: &Shared, source: &Source, at: u64) -> Result<u64, RpcError> {
    let reads = source.reads;
    let event = shared.record.read(move |reader| reads.event(reader, at)).await?;
    Ok(event.filter(|_| at > 0).map_or(0, |event| event.pos))
}

pub(in crate::server) async fn rebuild(
    session: &Session,
    params: ProjectionsParams,
) -> Result<RebuildResult, RpcError> {
    let mut items = Vec::new();
    for source in meant(session, &params)? {
        let Some(checked) = checked(session, &source, true).await? else { continue };
        items.push(Rebuilt {
            name: source.kind.name().to_owned(),
            version: source.kind.version(),
            as_of_pos: position(&session.shared, &source, checked.at).await?,
            target: source.subject.target,
            events: checked.events,
            events_per_s: checked.events_per_s,
            as_of_seq: checked.n,
            equal: checked.is_equal(),
            digest: checked.rebuilt,
        });
    }
    Ok(RebuildResult { items })
}

pub(in crate::server) async fn verify(
    session: &Session,
    params: ProjectionsParams,
) -> Result<VerifyResult, RpcError> {
    let mut items = Vec::new();
    for source in meant(session, &params)? {
        let Some(checked) = checked(session, &source, false).await? else { continue };
        items.push(Verified {
            name: source.kind.name().to_owned(),
            version: source.kind.version(),
            as_of_pos: position(&session.shared, &source, checked.at).await?,
            target: source.subject.target,
            as_of_seq: checked.n,
            equal: checked.is_equal(),
            digest: checked.kept,
            rebuilt: checked.rebuilt,
            events_per_s: checked.events_per_s,
        });
    }
    Ok(VerifyResult { ok: items.iter().all(|item| item.equal), items })
}

async fn checked(session: &Session, source: &Source, keeps: bool) -> Result<Option<Checked>, RpcError> {
    let outbound = session.outbound.clone();
    let about = format!("{} of {}", source.kind.name(), source.subject.target);
    let told = std::sync::atomic::AtomicU64::new(0);
    let progress = move |events: u64| {
        let last = told.load(std::sync::atomic::Ordering::Relaxed);
        if events.saturating_sub(last) < PROGRESS_EVENTS {
            return;
        }
        told.store(events, std::sync::atomic::Ordering::Relaxed);
        let text = format!("{about}: {events} events");
        // A caller that does not read its progress does without.
        drop(outbound.offer(rpc::notification("core/progress", serde_json::json!({ "text": text }))));
    };
    check(&session.shared, source, keeps, Arc::new(progress)).await
}

/// The folded projections that are meant, each once.
fn meant(session: &Session, params: &ProjectionsParams) -> Result<Vec<Source>, RpcError> {
    let shared = &session.shared;
    let kinds: Vec<Kind> = match &params.projection {
        Some(name) => vec![Kind::find(name)?],
        None => Kind::all().collect(),
    };
    let kinds: Vec<Kind> = kinds.into_iter().filter(|kind| matches!(kind, Kind::Fold(_))).collect();
    if kinds.is_empty() {
        let what = "the log is the record itself; `evidence/audit.verify` verifies it";
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let mut sources = Vec::new();
    for kind in kinds {
        let targets = match &params.target {
            Some(target) if params.projection.is_some() || kind.targets().contains(&target.kind) => {
                vec![target.clone()]
            }
            Some(_) => Vec::new(),
            None => used(shared, kind),
        };
        for target in targets {
            match projections::resolve(shared, &session.caller, kind, &target) {
                Ok(source) => sources.push(source),
                // A file that looks like a checkpoint may name anything.
                Err(_) if params.target.is_none() => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    sources.retain(|source| seen.insert(source.key()));
    Ok(sources)
}

/// The targets of a projection that somebody has asked for, and the node.
fn used(shared: &Shared, kind: Kind) -> Vec<Target> {
    let running = shared.projections.running();
    let running = running.iter().filter(|topic| topic.source.kind.name() == kind.name());
    let mut targets: Vec<Target> = running.map(|topic| topic.source.subject.target.clone()).collect();
    targets.extend(shared.projections.kept(kind));
    if kind.targets().contains(&TargetKind::Node) {
        targets.push(Target::node());
    }
    targets
}
