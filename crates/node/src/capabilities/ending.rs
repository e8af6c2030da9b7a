//! How calls end: told to the record, and then to whoever waits.

use std::sync::Arc;

use edgeplane_store::Committed;
use edgeplane_types::{Fact, InvocationId, InvocationState, StreamName, fact::InvocationEnded};

use super::registered;
use crate::{
    record::{Draft, Origin, chain, refused},
    shared::Shared,
};

/// The rule by which the node itself ends a call.
pub(super) const RULE: &str = "capability-call";

/// An end without anything that came of the call.
pub(super) fn ending(id: InvocationId, state: InvocationState, reason: String) -> (InvocationEnded, Vec<u8>) {
    let ended = InvocationEnded {
        invocation_id: id,
        state,
        reason: Some(reason),
        cause: None,
        output_digest: None,
        output_bytes: 0,
        hooks: Vec::new(),
    };
    (ended, Vec::new())
}

/// Ends a call by the node's own rule.
pub(super) async fn end(
    shared: &Arc<Shared>,
    stream: StreamName,
    id: InvocationId,
    how: (InvocationEnded, Vec<u8>),
) {
    end_as(shared, (stream, Origin::node(RULE)), id, how).await;
}

/// Tells the record how a call ended. Without room for its output the end is told without it.
pub(super) async fn end_as(
    shared: &Arc<Shared>,
    (stream, origin): (StreamName, Origin),
    id: InvocationId,
    (mut ended, output): (InvocationEnded, Vec<u8>),
) {
    let mut draft = Draft::default();
    let bare = ended.clone();
    if !output.is_empty() {
        let (digest, bytes) = draft.body(output.clone());
        (ended.output_digest, ended.output_bytes) = (Some(digest), bytes);
    }
    registered::settle(shared, &mut draft, (id, ended.state), &origin);
    shared.record.add(&mut draft, stream, &origin, Fact::InvocationEnded(ended));
    let told = match shared.record.commit(draft).await {
        Ok(committed) => Some((committed, output)),
        Err(error) => {
            let why = format!("what its server answered could not be kept: {}", refused(&error).message);
            let bare = InvocationEnded { reason: Some(bare.reason.unwrap_or(why)), ..bare };
            end_bare(shared, (stream, &origin), bare).await.map(|committed| (committed, Vec::new()))
        }
    };
    if let (Some((committed, output)), Some(making)) = (told, shared.capabilities.making(id)) {
        making.ended(&committed, output);
    }
    shared.capabilities.leave(id);
}

/// Tells the record how a call ended, of which no more fits.
async fn end_bare(
    shared: &Shared,
    (stream, origin): (StreamName, &Origin),
    ended: InvocationEnded,
) -> Option<Committed> {
    let id = ended.invocation_id;
    let mut draft = Draft::default();
    registered::settle(shared, &mut draft, (id, ended.state), origin);
    shared.record.add(&mut draft, stream, origin, Fact::InvocationEnded(ended));
    let told = shared.record.commit(draft.critical()).await;
    if let Err(error) = &told {
        // It was ended by somebody else, or nothing can be recorded; the next daemon says that it is not known.
        tracing::warn!(invocation = %id, error = chain(error), "its end is not in the record");
    }
    told.ok()
}
