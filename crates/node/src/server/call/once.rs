//! A call under a key acts once: the intent is in the record before the effect, the result behind it.
//!
//! A repetition hears what the first call heard; one that comes while the first is worked on waits for it; one whose
//! first attempt died in between hears that nobody knows. The work goes on when its caller does not wait any longer.

mod kept;
mod key;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError, atomic::Ordering},
};

use edgeplane_proof::Digest;
use edgeplane_types::{ErrorName, EventId, Fact, StreamName, error::Effect, fact::CallEnd};
use edgeplane_wire::{
    catalogue::{self, Request},
    rpc::RpcError,
};
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::{
    Session,
    running::{Running, Stop},
    until_stopped,
};
use crate::record::{Draft, Origin, chain, refused};

pub(super) use key::Key;
pub(in crate::server) use key::put_own_key;

type Answer = Result<Box<RawValue>, RpcError>;

/// What became of a call, for everybody who waits for it.
#[derive(Debug, Clone)]
struct Outcome {
    answer: Answer,
    /// Whether it is what an earlier call heard.
    replayed: bool,
}

/// A call that is being worked on.
#[derive(Debug)]
struct InFlight {
    params: Digest,
    outcome: watch::Receiver<Option<Outcome>>,
}

/// The calls that are being worked on: those under keys, and those that have names.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    in_flight: Mutex<HashMap<Digest, InFlight>>,
    pub(super) running: Running,
}

/// Performs a call, or gives what came of it when it was performed.
pub(super) async fn perform(session: &Session, request: Request, key: Key, stop: Option<Stop>) -> Answer {
    let (mut outcome, is_first) = {
        let calls = &session.shared.calls;
        let mut in_flight = calls.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        match in_flight.get(&key.digest) {
            Some(other) if other.params != key.params => return Err(key.mismatch()),
            Some(other) => (other.outcome.clone(), false),
            None => {
                let (done, outcome) = watch::channel(None);
                let entry = InFlight { params: key.params, outcome: outcome.clone() };
                in_flight.insert(key.digest, entry);
                session.shared.tasks.spawn(work(session.clone(), request, key, stop.clone(), done));
                (outcome, true)
            }
        }
    };
    let interrupted =
        || RpcError::new(ErrorName::Unavailable, "the daemon ends over this call").effect(Effect::Unknown);
    let heard = async {
        let heard = outcome.wait_for(Option::is_some).await.map_err(|_gone| interrupted())?;
        heard.clone().ok_or_else(interrupted)
    };
    let Outcome { answer, replayed } = match stop.filter(|_| !is_first) {
        None => heard.await?,
        // Only the wait ends: the call is the first one's.
        Some(stop) => tokio::select! {
            biased;
            heard = heard => heard?,
            () = stop.token.cancelled() => return Err(stop.error().effect(Effect::Unknown)),
        },
    };
    let replayed = replayed || !is_first;
    session.replayed.store(replayed, Ordering::Relaxed);
    answer.map_err(|mut error| {
        error.data.replayed = replayed;
        error
    })
}

async fn work(
    session: Session,
    request: Request,
    key: Key,
    stop: Option<Stop>,
    done: watch::Sender<Option<Outcome>>,
) {
    let (outcome, is_in_record) = match kept::look_up(&session, &request, &key).await {
        Ok(Some(answer)) => (Outcome { answer, replayed: true }, true),
        Ok(None) => {
            let (answer, is_in_record) = act(&session, request, &key, stop).await;
            (Outcome { answer, replayed: false }, is_in_record)
        }
        Err(error) => (Outcome { answer: Err(error), replayed: false }, true),
    };
    if is_in_record {
        let mut in_flight = session.shared.calls.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        in_flight.remove(&key.digest);
    }
    done.send_replace(Some(outcome));
}

/// Begins a call, performs it and notes its end; false if the record does not show it yet, because it waits in the
/// reserve for space. Then the daemon knows the answer as long as it lives.
async fn act(session: &Session, request: Request, key: &Key, stop: Option<Stop>) -> (Answer, bool) {
    let began = Fact::CallBegan {
        method: key.method.to_owned(),
        key_digest: key.digest.to_string(),
        params_digest: key.params.to_string(),
    };
    // What must work without space must work under a key, too.
    let row = catalogue::find(key.method);
    let needs_space = row.is_some_and(|row| row.errors.contains(&ErrorName::StorageFull));
    let begun = note(session, Draft::default(), began, needs_space).await;
    let (began, begun_in_record) = match begun {
        Ok(noted) => noted,
        Err(error) => return (Err(error), true),
    };
    session.shared.failpoint("call.began");
    let named = Session { began: Some(began), ..session.clone() };
    let answer = until_stopped(&named, request, stop).await;
    session.shared.failpoint("call.effect");
    let (draft, end) = kept::ended(key, &answer);
    let ended = Fact::CallEnded { key_digest: key.digest.to_string(), end };
    let is_released = matches!(ended, Fact::CallEnded { end: CallEnd::Released, .. });
    let ended_in_record = note(session, draft, ended, false)
        .await
        .map(|(_, is_in_record)| is_in_record)
        .unwrap_or_else(|error| {
            tracing::warn!(method = key.method, %error, "the end of a call under a key is not in the record");
            false
        });
    session.shared.failpoint("call.ended");
    (answer, (begun_in_record && ended_in_record) || is_released)
}

/// Makes a fact durable, and gives its event; false if it waits for space.
async fn note(
    session: &Session,
    mut draft: Draft,
    fact: Fact,
    needs_space: bool,
) -> Result<(EventId, bool), RpcError> {
    let record = &session.shared.record;
    let stream = StreamName::Node(session.shared.identity.id);
    let event = record.add(&mut draft, stream, &Origin::actor(session.caller.actor()), fact);
    let draft = if needs_space { draft } else { draft.critical() };
    let committed = record.commit(draft).await.map_err(|error| {
        tracing::debug!(error = %chain(&error), "a call under a key cannot be noted");
        refused(&error)
    })?;
    Ok((event, committed.held == 0))
}
