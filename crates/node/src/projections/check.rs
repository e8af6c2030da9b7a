//! Making projections anew from the first event, and comparing them with what is kept.

use std::sync::Arc;

use edgeplane_projection::{Definition, Running};
use edgeplane_store::{ReadError, Reader};
use edgeplane_wire::rpc::RpcError;

use super::{Kind, Lease, Source, checkpoint, feed::fold_page, lease};
use crate::shared::Shared;

/// A projection of a target, kept and made anew, both as they are after the same event.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) n: u64,
    /// The number in the source of the newest event in both.
    pub(crate) at: u64,
    /// The digest of what is kept.
    pub(crate) kept: String,
    /// The digest of what was made anew.
    pub(crate) rebuilt: String,
    /// Events that were looked at.
    pub(crate) events: u64,
    pub(crate) events_per_s: u64,
}

impl Checked {
    pub(crate) fn is_equal(&self) -> bool {
        self.kept == self.rebuilt
    }
}

/// Tells how many events were folded.
pub(crate) type Progress = dyn Fn(u64) + Send + Sync;

/// Folds a source anew up to where the kept one is, and compares. With `keeps` what was made anew is the next
/// checkpoint, and takes the place of the kept one if that differs.
pub(crate) async fn check(
    shared: &Arc<Shared>,
    source: &Source,
    keeps: bool,
    progress: Arc<Progress>,
) -> Result<Option<Checked>, RpcError> {
    let Kind::Fold(definition) = source.kind else { return Ok(None) };
    let lease = lease(shared, source).await?;
    let Some(state) = lease.topic.state() else { return Ok(None) };
    let permit = shared.projections.permit().await;
    let (source, clock) = (source.clone(), shared.record.mint().clone());
    let (dir, stopping) = (shared.projections.dir.clone(), shared.stopping.clone());
    let upto = state.at;
    let anew = shared.record.read(move |reader| {
        let _held = permit;
        if keeps {
            checkpoint::forget(&dir, &source);
        }
        let began = clock.clock.monotonic_ms();
        let (running, events) = fold_to(
            reader,
            &source,
            definition,
            upto,
            (&|events| progress(events), &|| stopping.is_cancelled()),
        )?;
        let took = clock.clock.monotonic_ms().saturating_sub(began).max(1);
        if keeps && running.as_of() > 0 {
            checkpoint::save(&dir, reader, &source, (running.as_of(), &running.save()));
        }
        Ok((running.digest(), events, events.saturating_mul(1_000) / took))
    });
    let (rebuilt, events, events_per_s) = anew.await?;
    let snapshot = state.snapshot;
    let checked =
        Checked { n: snapshot.as_of_seq, at: upto, kept: snapshot.digest, rebuilt, events, events_per_s };
    if !checked.is_equal() {
        tracing::error!(
            projection = definition.name,
            target = %lease.topic.source.subject.target,
            "a projection differs from what the record makes of it",
        );
        if keeps {
            end(shared, &lease);
        }
    }
    Ok(Some(checked))
}

fn end(shared: &Shared, lease: &Lease) {
    shared.projections.replace(&lease.topic);
}

/// Folds a source from its first event to the one with this number.
fn fold_to(
    reader: &Reader,
    source: &Source,
    definition: &'static Definition,
    upto: u64,
    (progress, is_over): (&dyn Fn(u64), &dyn Fn() -> bool),
) -> Result<(Running, u64), ReadError> {
    let mut running = Running::new(definition, &source.subject);
    let mut events = 0_u64;
    while running.as_of() < upto && !is_over() {
        let found = fold_page(reader, source, &mut running, |_| {}, upto)?;
        if found == 0 {
            break;
        }
        events = events.saturating_add(found);
        progress(events);
    }
    Ok((running, events))
}
