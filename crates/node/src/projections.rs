//! Projections as the node keeps them: each that somebody uses is made once for all who use it.
//!
//! Owns how projections are caught up, kept up to date, kept in checkpoints and read from any number on. What a
//! projection says is the fold's business (`edgeplane-projection`), who is told is the server's.

mod check;
mod checkpoint;
mod cursor;
mod feed;
mod reading;
mod source;
mod topic;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_wire::{api::stream::Target, rpc::RpcError};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

pub(crate) use check::{Checked, check};
pub(crate) use cursor::{Cursors, Place, read as read_cursor};
pub(crate) use reading::Reading;
pub(crate) use source::{Key, Kind, Source, resolve};
pub(crate) use topic::{After, Item, Topic};

use crate::shared::Shared;

/// Folds and readings that are worked on at a time. Each keeps a processor busy, which agents need too.
const AT_ONCE: usize = 2;

/// A projection in the making or made.
type Slot = Arc<OnceCell<Arc<Topic>>>;

/// Projections that somebody uses.
#[derive(Debug)]
pub(crate) struct Projections {
    pub(crate) dir: PathBuf,
    topics: Mutex<HashMap<Key, Slot>>,
    live: Mutex<feed::Live>,
    permits: Arc<Semaphore>,
}

/// The use of a projection. While there is one it is kept up to date.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) topic: Arc<Topic>,
    shared: Arc<Shared>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.topic.leave(self.shared.record.monotonic_ms());
    }
}

impl Projections {
    pub(crate) fn new(state: &std::path::Path) -> Self {
        Self {
            dir: state.join("projections"),
            topics: Mutex::default(),
            live: Mutex::default(),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Leave to keep a worker busy.
    pub(crate) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    fn slot(&self, key: &Key) -> Slot {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(topics.entry(key.clone()).or_default())
    }

    /// Lets go of projections that are not kept up to date any more.
    fn forget(&self, gone: &[Arc<Topic>]) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        for topic in gone {
            let key = topic.source.key();
            let is_it = |slot: &Slot| slot.get().is_some_and(|of| Arc::ptr_eq(of, topic));
            if topics.get(&key).is_some_and(is_it) {
                topics.remove(&key);
            }
        }
    }

    /// What is kept up to date now.
    pub(crate) fn running(&self) -> Vec<Arc<Topic>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).topics().cloned().collect()
    }

    /// The targets of which a projection has a checkpoint.
    pub(crate) fn kept(&self, kind: Kind) -> Vec<Target> {
        checkpoint::targets(&self.dir, kind)
    }

    /// Ends a projection, whose users are told; the next who asks for it gets another.
    pub(crate) fn replace(&self, topic: &Arc<Topic>) {
        topic.replace();
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(|of| !Arc::ptr_eq(of, topic));
        self.forget(std::slice::from_ref(topic));
    }
}

/// Uses a projection, which is caught up first if nobody else uses it.
pub(crate) async fn lease(shared: &Arc<Shared>, source: &Source) -> Result<Lease, RpcError> {
    loop {
        let slot = shared.projections.slot(&source.key());
        let made = slot.get_or_try_init(|| async {
            match source.kind {
                Kind::Log => feed::start_log(shared, source.clone()),
                Kind::Fold(definition) => feed::start_fold(shared, source.clone(), definition).await,
            }
        });
        let topic = Arc::clone(made.await?);
        if topic.enter() {
            return Ok(Lease { topic, shared: Arc::clone(shared) });
        }
        // It was ended in this very moment.
        shared.projections.forget(&[topic]);
    }
}

/// The newest number of a source in the record: a place on the node, or a number in a stream.
pub(crate) fn source_head(shared: &Shared, source: &Source) -> Result<u64, RpcError> {
    shared.record.look_up(|reader| source.reads.head(reader))
}

#[cfg(test)]
#[path = "projections/tests.rs"]
mod tests;
