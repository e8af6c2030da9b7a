//! How long a caller counts as who it is: until its token or the epoch that it speaks from is over.

use std::time::Duration;

use crate::{caller::Caller, shared::Shared, tokens};

/// The reason when the epoch of a caller that the kernel vouches for is over.
const EPOCH_OVER: &str = "epoch-over";

/// Longest wait for the end of a token before the clock is looked at again: it may be set.
const CLOCK_MAX: Duration = Duration::from_secs(60);

/// Waits until a caller counts no more, and gives the reason. Whom the kernel vouches for as nobody's agent counts
/// always.
pub(super) async fn lost(shared: &Shared, caller: &Caller) -> String {
    if caller.bears.is_none() && caller.agent.is_none() {
        return std::future::pending().await;
    }
    let mut changes = shared.standings.subscribe();
    let is_alive = || caller.agent.as_ref().is_none_or(|agent| shared.is_alive(agent.id, agent.epoch));
    // An agent may speak before its epoch is known to live; only one that was known to live can be over.
    let mut was_alive = false;
    loop {
        changes.borrow_and_update();
        if let Err(error) = tokens::check_alive(shared, caller) {
            return reason(&error.message);
        }
        let alive = is_alive();
        if was_alive && !alive {
            return EPOCH_OVER.to_owned();
        }
        was_alive |= alive;
        let end = tokens::end_of(shared, caller).map(|end| {
            let left = end.as_millis().saturating_sub(shared.record.now().as_millis());
            Duration::from_millis(left.saturating_add(1)).min(CLOCK_MAX)
        });
        // Both arms only wait.
        tokio::select! {
            changed = changes.changed() => {
                if changed.is_err() {
                    return EPOCH_OVER.to_owned();
                }
            }
            () = sleep(end) => {}
        }
    }
}

async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// The word for programs at the end of a refusal.
fn reason(message: &str) -> String {
    message.rsplit_once("reason ").map_or(message, |(_, word)| word).to_owned()
}
