//! Watching over a record without space: what waits in the reserve goes in as soon as there is some, and the record
//! tells from when to when it could not grow.
//!
//! It does not know which facts are critical; whoever commits them says so.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use edgeplane_store::{AppendError, Committed, Health, NewEvent, Reader};
use edgeplane_types::{Fact, StreamName};
use tokio::{sync::Notify, time::MissedTickBehavior};

use crate::{
    record::{Draft, Origin, chain},
    shared::Shared,
};

/// How often a record that had no space is tried again.
const STORAGE_RETRY: Duration = Duration::from_secs(1);

/// Newest events of the node among which the last word on its storage is looked for: a node that finds space again
/// says so within moments of its start, so only a few starts and ends can lie behind it.
const NODE_EVENTS: usize = 64;

/// What commits found out about the room that there is.
#[derive(Debug, Default)]
pub(crate) struct Shortage {
    seen: Notify,
    held_events: AtomicU64,
}

impl Shortage {
    /// Notes how a commit ended.
    pub(crate) fn note(&self, outcome: &Result<Committed, AppendError>) {
        match outcome {
            Ok(committed) if committed.held > 0 => {
                let held = u64::try_from(committed.held).unwrap_or(u64::MAX);
                self.held_events.fetch_add(held, Ordering::Relaxed);
                self.seen.notify_one();
            }
            Err(AppendError::StorageFull) => self.seen.notify_one(),
            Ok(_) | Err(_) => {}
        }
    }
}

/// Whether the record's last word on its storage is that there was none, in what readers see or in what is `held`.
pub(crate) fn was_full(reader: &Reader, stream: &StreamName, held: &[NewEvent]) -> bool {
    let word = |fact: &Fact| match fact {
        Fact::NodeStorageFull { .. } => Some(true),
        Fact::NodeStorageResumed { .. } => Some(false),
        _ => None,
    };
    let newest_held = held.iter().rev().find_map(|event| word(&event.fact));
    newest_held.unwrap_or_else(|| {
        let events = reader.last_events(stream, NODE_EVENTS).unwrap_or_default();
        events.iter().rev().find_map(|committed| word(&committed.event.fact)).unwrap_or(false)
    })
}

/// Tells when the record stops growing and when it goes on. `is_full` says what a former daemon told last, and
/// `held_events` how many events it left in the reserve.
pub(crate) async fn keep(shared: Arc<Shared>, mut is_full: bool, held_events: u64) {
    shared.record.shortage().held_events.fetch_add(held_events, Ordering::Relaxed);
    let mut retry = tokio::time::interval(STORAGE_RETRY);
    retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Both arms only wait: a notice that loses the race is kept for the next round.
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = shared.record.shortage().seen.notified() => {
                if !is_full {
                    is_full = true;
                    tell_full(&shared).await;
                }
            }
            _ = retry.tick() => {
                try_again(&shared).await;
                if is_full && shared.record.store().health() == Health::Serving {
                    is_full = !tell_resumed(&shared).await;
                }
            }
        }
    }
}

async fn try_again(shared: &Shared) {
    if matches!(shared.record.store().health(), Health::Degraded { .. }) {
        let store = shared.record.store().clone();
        // It fails as long as there is no space; the next round tries again.
        drop(tokio::task::spawn_blocking(move || store.tick()).await);
    }
}

async fn tell_full(shared: &Shared) {
    let detail = match edgeplane_os::space::free_bytes(&shared.dirs.state) {
        Ok(free) => format!("{free} bytes are free for the record"),
        Err(error) => chain(&error),
    };
    let draft = draft(shared, Fact::NodeStorageFull { detail }).critical();
    if let Err(error) = shared.record.commit(draft).await {
        tracing::error!(error = %chain(&error), "cannot record that there is no space");
    }
}

/// Tells that the record grows again, which is so if this finds room; says whether it did.
async fn tell_resumed(shared: &Shared) -> bool {
    let counter = &shared.record.shortage().held_events;
    let held_events = counter.load(Ordering::Relaxed);
    let resumed = shared.record.commit(draft(shared, Fact::NodeStorageResumed { held_events })).await.is_ok();
    if resumed {
        counter.fetch_sub(held_events, Ordering::Relaxed);
        tracing::info!(held_events, "the record grows again");
    }
    resumed
}

fn draft(shared: &Shared, fact: Fact) -> Draft {
    let mut draft = Draft::default();
    let stream = StreamName::Node(shared.identity.id);
    shared.record.add(&mut draft, stream, &Origin::node("storage"), fact);
    draft
}
