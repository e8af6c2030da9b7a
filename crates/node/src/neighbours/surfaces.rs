//! User interfaces are told what waits for a person: what the record says, as it says it.

use std::sync::Arc;

use edgeplane_neighbour::surface::Waiting;
use edgeplane_store::ActionFilter;
use edgeplane_types::{Fact, decision::Action};
use tokio::sync::broadcast::error::RecvError;

use crate::shared::Shared;

/// Longest text that is handed over, in characters.
const PROMPT_CHARS_MAX: usize = 1_000;

/// Actions that are told at a start: of more only the newest.
const PENDING_MAX: usize = 1_000;

fn told(shared: &Shared, action: &Action) {
    let prompt = edgeplane_driver::render::clean(&action.prompt);
    shared.neighbours.interface.waits(&Waiting {
        action_id: action.id,
        agent_id: action.agent_id,
        prompt: prompt.chars().take(PROMPT_CHARS_MAX).collect(),
        expires_at: action.expires_at,
    });
}

/// Tells what waits, until the node ends.
pub(crate) async fn keep(shared: Arc<Shared>) {
    let mut following = shared.record.follow_only(|fact| matches!(fact, Fact::ActionOpened { .. }));
    waiting(&shared).await;
    loop {
        // Each arm is cancel-safe: an event that is received is told.
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            event = following.recv() => match event {
                Ok(committed) => {
                    if let Fact::ActionOpened { action } = &committed.event.fact {
                        told(&shared, action);
                    }
                }
                Err(RecvError::Lagged(_)) => waiting(&shared).await,
                Err(RecvError::Closed) => return,
            },
        }
    }
}

/// Tells everything that waits now.
async fn waiting(shared: &Shared) {
    let read = shared.record.read(|reader| reader.actions(ActionFilter::Pending, None, PENDING_MAX)).await;
    match read {
        Ok(rows) => rows.iter().for_each(|row| told(shared, &row.action)),
        Err(error) => tracing::warn!(%error, "cannot tell what waits for a person"),
    }
}
