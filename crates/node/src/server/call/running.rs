//! Requests that are being worked on, by the names that their callers gave them, so that they can be taken back.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::core::{CancelParams, CancelResult},
    rpc::RpcError,
};
use tokio_util::sync::CancellationToken;

use super::Session;

/// Longest reason in characters that is passed on.
const REASON_CHARS_MAX: usize = 200;

/// Who gave a request its name, and the name.
type Name = (String, String);

/// Ends a request before its time.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop {
    pub(super) token: CancellationToken,
    reason: Arc<OnceLock<String>>,
}

impl Stop {
    /// What a request answers that was taken back.
    pub(super) fn error(&self) -> RpcError {
        let text = match self.reason.get().map(String::as_str) {
            None | Some("") => "the caller took it back".to_owned(),
            Some(reason) => format!("the caller took it back: {reason}"),
        };
        RpcError::new(ErrorName::Cancelled, text)
    }
}

/// The requests that have names.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<HashMap<Name, Vec<Stop>>>);

/// A request that is being worked on for as long as this is there.
pub(super) struct Entered {
    pub(super) stop: Stop,
    name: Name,
    session: Session,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let running = &self.session.shared.calls.running;
        let mut running = running.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stops) = running.get_mut(&self.name) {
            stops.retain(|stop| !Arc::ptr_eq(&stop.reason, &self.stop.reason));
            if stops.is_empty() {
                running.remove(&self.name);
            }
        }
    }
}

/// Whose requests a caller may take back: its own, over any connection; of one that nothing is proven of, those of the
/// same connection.
fn scope(session: &Session) -> String {
    let unproven = || format!("connection/{:p}", Arc::as_ptr(&session.opened));
    session.caller.scope_of_keys().unwrap_or_else(unproven)
}

/// Makes a request known under the name that it has, if it has one.
pub(super) fn enter(session: &Session, request_id: Option<&str>) -> Option<Entered> {
    let name = (scope(session), request_id?.to_owned());
    let stop = Stop::default();
    let mut running = session.shared.calls.running.0.lock().unwrap_or_else(PoisonError::into_inner);
    running.entry(name.clone()).or_default().push(stop.clone());
    Some(Entered { stop, name, session: session.clone() })
}

/// Takes back every request of the caller that has this name.
pub(in crate::server) fn cancel(session: &Session, params: &CancelParams) -> CancelResult {
    let name = (scope(session), params.request_id.clone());
    let running = session.shared.calls.running.0.lock().unwrap_or_else(PoisonError::into_inner);
    let stops = running.get(&name).map(Vec::as_slice).unwrap_or_default();
    let reason: String = params.reason.chars().take(REASON_CHARS_MAX).collect();
    for stop in stops {
        // Whoever took it back first has said why.
        drop(stop.reason.set(reason.clone()));
        stop.token.cancel();
    }
    CancelResult { cancelled: !stops.is_empty() }
}
