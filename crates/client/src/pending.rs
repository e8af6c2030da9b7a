//! The calls that wait for their answers.
//!
//! Owns the numbers of calls and the promise that each call hears exactly once: its answer, or how the connection ended.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use edgeplane_wire::rpc::RpcError;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::error::End;

pub(crate) type Outcome = Result<Result<Box<RawValue>, RpcError>, End>;

/// The calls that wait for their answers.
#[derive(Debug)]
pub(crate) struct Pending {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last: i64,
    waiting: HashMap<i64, oneshot::Sender<Outcome>>,
    end: Option<End>,
}

impl Pending {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { last: 0, waiting: HashMap::new(), end: None }) }
    }

    /// Enters a call. The returned guard takes it out again when the caller no longer waits.
    pub(crate) fn enter(&self) -> Result<(Waiting<'_>, oneshot::Receiver<Outcome>), End> {
        let mut state = self.lock();
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        state.last = state.last.wrapping_add(1);
        let id = state.last;
        let (sender, receiver) = oneshot::channel();
        state.waiting.insert(id, sender);
        Ok((Waiting { pending: self, id }, receiver))
    }

    /// Hands an answer to its call; one that nobody waits for any more is dropped.
    pub(crate) fn answer(&self, id: i64, outcome: Result<Box<RawValue>, RpcError>) {
        let waiting = self.lock().waiting.remove(&id);
        if let Some(waiting) = waiting {
            // The caller may have given up between the two lines.
            drop(waiting.send(Ok(outcome)));
        }
    }

    /// Tells every call that waits, and every later one, how the connection ended. The first reason stands.
    pub(crate) fn end(&self, end: &End) {
        let waiting = {
            let mut state = self.lock();
            state.end.get_or_insert_with(|| end.clone());
            std::mem::take(&mut state.waiting)
        };
        for waiting in waiting.into_values() {
            drop(waiting.send(Err(end.clone())));
        }
    }

    /// How the connection ended, once it has.
    pub(crate) fn ended(&self) -> Option<End> {
        self.lock().end.clone()
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway through a change, so a poisoned state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is entered; it leaves when this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    pending: &'a Pending,
    pub(crate) id: i64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.pending.lock().waiting.remove(&self.id);
    }
}
