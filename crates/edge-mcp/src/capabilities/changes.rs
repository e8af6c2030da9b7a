//! Whether the list of capabilities is another one by now.
//!
//! What agents offer and what is declared stands in the record, and its events are followed. That a server offers something
//! else now stands nowhere, so the digest of the list is asked for, too, as long as anybody wants to know.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use edgeplane_client::CallError;
use serde_json::Value;
use tokio::sync::{
    Notify,
    broadcast::{Receiver, error::RecvError},
    watch,
};

use super::Capabilities;
use crate::link::Change;

/// How often the digest is asked for: a server that offers something else is noticed by then.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How long an event is left alone before the list is looked at: it is followed by others, and by what it brings about.
const SETTLES: Duration = Duration::from_millis(200);

/// What is known of the list.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The digest that was seen last.
    current: watch::Sender<Option<String>>,
    /// The digest of what was listed last.
    listed: Mutex<Option<String>>,
    /// Whether somebody looks.
    is_looked_at: Mutex<bool>,
    now: Arc<Notify>,
}

impl Capabilities {
    /// The digest of the list, which changes when the list does. The first one that is seen is a change.
    pub(crate) fn follow(self: &Arc<Self>) -> watch::Receiver<Option<String>> {
        let receiver = self.changes.current.subscribe();
        let mut is_looked_at = self.changes.is_looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_looked_at {
            *is_looked_at = true;
            drop(tokio::spawn(look(Arc::downgrade(self))));
        }
        receiver
    }

    /// The digest of what was listed last, if anything was.
    pub(crate) fn last_listed(&self) -> Option<String> {
        self.changes.listed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn listed(&self, digest: &str) {
        *self.changes.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest.to_owned());
        self.saw(digest.to_owned());
    }

    /// Has the list looked at soon: somebody found that it is another one.
    pub(crate) fn look_again(&self) {
        self.changes.now.notify_one();
    }

    fn saw(&self, digest: String) {
        self.changes.current.send_if_modified(|current| {
            let is_new = current.as_ref() != Some(&digest);
            if is_new {
                *current = Some(digest);
            }
            is_new
        });
    }

    /// Whether nobody wants to know any more; then whoever looks is to end.
    fn is_unwatched(&self) -> bool {
        let mut is_looked_at = self.changes.is_looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unwatched = self.changes.current.receiver_count() == 0;
        if is_unwatched {
            *is_looked_at = false;
        }
        is_unwatched
    }

    async fn digest(&self) -> Result<String, CallError> {
        Ok(self.look(None, Some(1), false).await?.digest.unwrap_or_default())
    }
}

async fn look(capabilities: Weak<Capabilities>) {
    let mut heard: Option<Receiver<Change>> = None;
    loop {
        let Some(own) = capabilities.upgrade().filter(|own| !own.is_unwatched()) else { return };
        if heard.is_none() {
            heard = own.link.watch_capabilities().await.ok();
        }
        // A node that does not answer is asked again.
        if let Ok(digest) = own.digest().await {
            own.saw(digest);
        }
        let now = Arc::clone(&own.changes.now);
        drop(own);
        // Each arm is cancel-safe: what is lost by it would only have had the list looked at.
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = now.notified() => {}
            () = touched(&mut heard) => tokio::time::sleep(SETTLES).await,
        }
    }
}

/// Waits until something happens by which the list may change.
async fn touched(heard: &mut Option<Receiver<Change>>) {
    loop {
        let Some(changes) = heard.as_mut() else { return std::future::pending().await };
        match changes.recv().await {
            Ok(Change::Anything) | Err(RecvError::Lagged(_)) => return,
            Ok(Change::Event(event)) if is_about_capabilities(&event) => return,
            Ok(Change::Event(_)) => {}
            Err(RecvError::Closed) => *heard = None,
        }
    }
}

fn is_about_capabilities(event: &Value) -> bool {
    let kind = event["type"].as_str().unwrap_or_default();
    matches!(
        kind,
        "capability.registered"
            | "capability.withdrawn"
            | "resource.put"
            | "resource.deleted"
            | "policy.loaded"
    )
}
