//! One call of a capability: asked for, waited for, told of, taken back.
//!
//! The node makes the call and keeps what came of it; whatever happens to whoever asked, it is in the record.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use edgeplane_client::CallError;
use edgeplane_types::{ErrorName, InvocationId, InvocationState, fact::InvocationProgressed};
use edgeplane_wire::{
    api::capability::{AwaitInvocationParams, InvocationParams, InvocationView},
    catalogue::{InvocationAwait, InvocationCancel},
};
use rmcp::{
    RoleServer,
    model::{CallToolResult, JsonObject, ProgressNotificationParam, ProgressToken},
    service::Peer,
};
use serde_json::{Value, json};
use tokio::{
    sync::{broadcast::Receiver, watch},
    task::JoinHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{Given, Known, outcome};
use crate::{
    failure::Failure,
    link::{ANSWER_TIME, Change, Link},
    tools::WAIT_MS_MAX,
};

/// How long the node may take to say what a call is called: hooks are asked before that, and copies made.
const BEGIN_TIME: Duration = Duration::from_secs(600);

/// How long a person is waited for unless the caller says otherwise: below the minute after which clients give up.
const PERSON_TIME: Duration = Duration::from_secs(30);

/// How long the node is asked to wait at a time. A daemon that has gone is noticed by the connection before that.
const SLICE: Duration = Duration::from_secs(60);

/// How long it takes to ask again when the node has gone, and how often that is done: two minutes in all.
const AGAIN: Duration = Duration::from_millis(500);
const AGAIN_MAX: u32 = 240;

/// How often a caller that asks for it is told that it is still waited for.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// What a step of progress counts at least. What the protocol is told must grow, and servers repeat themselves.
const STEP: f64 = 0.000_001;

/// Progress of calls whose names are not known yet that is kept.
const EARLY_MAX: usize = 64;

/// A call that is wanted, and who is told of it.
pub(crate) struct Calling {
    pub(crate) known: Known,
    pub(crate) arguments: JsonObject,
    pub(crate) given: Given,
    pub(crate) trace: Option<String>,
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) token: Option<ProgressToken>,
    pub(crate) cancelled: CancellationToken,
}

/// Calls a capability and waits for what comes of it.
///
/// # Errors
/// When the node does not make it, or what became of it is not known. One that was taken back is `cancelled`.
pub(crate) async fn call(link: &Arc<Link>, calling: Calling) -> Result<CallToolResult, Failure> {
    let Calling { known, arguments, given, trace, peer, token, cancelled } = calling;
    // Followed from before it is asked for, so that nothing that is said of it is missed.
    let heard = match &token {
        Some(_) => link.watch_capabilities().await.ok(),
        None => None,
    };
    let person = given.wait_ms.map_or(PERSON_TIME, |wait| Duration::from_millis(wait.min(WAIT_MS_MAX)));
    let params = invoke_params(&known, arguments, given);
    let of_task = Arc::clone(link);
    // In a task of its own: one that is given up while it is asked for has a name to be taken back by when it gets one.
    let mut asking: JoinHandle<Result<InvocationView, CallError>> = tokio::spawn(Box::pin(async move {
        edgeplane_client::traced(trace, of_task.invoke(BEGIN_TIME, params)).await
    }));
    let (named, name) = watch::channel(None);
    let told = tell(&peer, token, heard, name);
    tokio::pin!(told);
    // Each arm is cancel-safe: the task goes on, and is taken care of.
    let view = tokio::select! {
        asked = &mut asking => asked.map_err(|_cut| cut_off())??,
        () = &mut told => return Err(taken_back()),
        () = cancelled.cancelled() => {
            let link = Arc::clone(link);
            drop(tokio::spawn(async move {
                if let Ok(Ok(view)) = asking.await {
                    take_back(&link, &view).await;
                }
            }));
            return Err(taken_back());
        }
    };
    named.send_replace(Some(view.invocation_id));
    let asked = view.clone();
    // Each arm is cancel-safe: the node makes the call whoever waits.
    let view = tokio::select! {
        view = Box::pin(over(link, view, person)) => view?,
        () = &mut told => return Err(taken_back()),
        () = cancelled.cancelled() => {
            let link = Arc::clone(link);
            drop(tokio::spawn(async move { take_back(&link, &asked).await }));
            return Err(taken_back());
        }
    };
    Ok(outcome::result(&view, known.has_output))
}

fn invoke_params(known: &Known, arguments: JsonObject, given: Given) -> Value {
    let digest = given.digest.unwrap_or_else(|| known.digest.clone());
    let mut params = json!({ "capability": known.capability, "digest": digest, "mode": "async" });
    params["input"] = Value::Object(arguments);
    if let Some(key) = given.key {
        params["ctx"] = json!({ "idempotency_key": key });
    }
    params
}

fn taken_back() -> Failure {
    Failure::new(ErrorName::Cancelled, "the call was taken back")
}

fn cut_off() -> Failure {
    Failure::new(ErrorName::Internal, "the call was cut off")
}

/// Tells the node that nobody wants a call any more. What its server did until then is not undone.
async fn take_back(link: &Arc<Link>, view: &InvocationView) {
    let params = InvocationParams { invocation_id: view.invocation_id };
    if let Err(error) = link.call::<InvocationCancel>(&params).await {
        tracing::warn!(invocation = %view.invocation_id, %error, "a call cannot be taken back");
    }
}

/// Waits until a call is over; for a person not longer than `person`.
async fn over(
    link: &Arc<Link>,
    mut view: InvocationView,
    person: Duration,
) -> Result<InvocationView, Failure> {
    let until = Instant::now() + person;
    let mut lost = 0_u32;
    loop {
        let time = match view.status {
            InvocationState::Running => SLICE,
            InvocationState::Waiting => until.saturating_duration_since(Instant::now()).min(SLICE),
            _ => return Ok(view),
        };
        if time.is_zero() {
            return Ok(view);
        }
        let begun = Instant::now();
        match awaited(link, view.invocation_id, time).await {
            Ok(found) => {
                (view, lost) = (found, 0);
                // A node that ends does not wait.
                if !view.status.is_over() && begun.elapsed() < time.min(AGAIN) {
                    tokio::time::sleep(AGAIN).await;
                }
            }
            Err(error) if is_gone(&error) && lost < AGAIN_MAX => {
                lost = lost.saturating_add(1);
                tokio::time::sleep(AGAIN).await;
            }
            Err(error) => {
                let failure = Failure::from(error);
                let what =
                    format!("what became of {} cannot be asked: {}", view.invocation_id, failure.message);
                let hint = format!("`invocation_show` with `{}` says it later", view.invocation_id);
                let effect = edgeplane_types::error::Effect::Unknown;
                return Err(Failure { effect, ..Failure::new(ErrorName::OutcomeUnknown, what).hint(hint) });
            }
        }
    }
}

/// A call as it is when it is over or the time is.
pub(crate) async fn awaited(
    link: &Arc<Link>,
    invocation_id: InvocationId,
    time: Duration,
) -> Result<InvocationView, CallError> {
    let timeout_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let params = AwaitInvocationParams { invocation_id, timeout_ms };
    link.call_within::<InvocationAwait>(time.saturating_add(ANSWER_TIME), &params).await
}

/// Whether a failure is one of the connection: the node may be there again soon.
fn is_gone(error: &CallError) -> bool {
    match error {
        CallError::Rpc(error) => error.name() == ErrorName::Unavailable,
        CallError::Connect { .. }
        | CallError::Io { .. }
        | CallError::Closed { .. }
        | CallError::Deadline { .. } => true,
        CallError::Protocol { .. } => false,
    }
}

/// Tells whoever wants to know how far a call is, or that it is still waited for. It ends only if nobody can be told.
async fn tell(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    mut heard: Option<Receiver<Change>>,
    mut name: watch::Receiver<Option<InvocationId>>,
) {
    let Some(token) = token else { return std::future::pending().await };
    let begun = Instant::now();
    let mut tick = tokio::time::interval_at(begun + PROGRESS_EVERY, PROGRESS_EVERY);
    let (mut early, mut said, mut count) = (VecDeque::new(), None::<InvocationProgressed>, 0.0_f64);
    loop {
        let mut is_tick = false;
        // Each arm is cancel-safe: what is received is kept.
        tokio::select! {
            _at = tick.tick() => is_tick = true,
            Some(progress) = progressed(&mut heard) => {
                early.truncate(EARLY_MAX);
                early.push_front(progress);
            }
            Ok(()) = name.changed() => {}
        }
        let id = *name.borrow_and_update();
        let newest = id.and_then(|id| early.iter().find(|progress| progress.invocation_id == id).cloned());
        if id.is_some() {
            early.clear();
        }
        let is_news = newest.is_some() && newest != said;
        said = newest.or(said);
        if !is_tick && !is_news {
            continue;
        }
        let progress = note(token.clone(), (&said, begun.elapsed()), &mut count);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

/// What is told: what its server said last, or that it is waited for. The count grows with each.
fn note(
    token: ProgressToken,
    (said, waited): (&Option<InvocationProgressed>, Duration),
    count: &mut f64,
) -> ProgressNotificationParam {
    let done = said.as_ref().and_then(|said| said.done.parse::<f64>().ok()).filter(|done| done.is_finite());
    *count = done.unwrap_or_default().max(*count + STEP);
    let waiting = || format!("it has been waited for {} s", waited.as_secs());
    let message = said.as_ref().map_or_else(waiting, |said| said.message.clone().unwrap_or_default());
    let mut progress = ProgressNotificationParam::new(token, *count);
    if let Some(total) = said.as_ref().and_then(|said| said.total.as_ref()?.parse::<f64>().ok()) {
        progress = progress.with_total(total.max(*count));
    }
    if message.is_empty() { progress } else { progress.with_message(message) }
}

/// The next that is said of any call.
async fn progressed(heard: &mut Option<Receiver<Change>>) -> Option<InvocationProgressed> {
    loop {
        let Some(changes) = heard.as_mut() else { return std::future::pending().await };
        match changes.recv().await {
            Ok(Change::Event(event)) if event["type"] == "invocation.progressed" => {
                return serde_json::from_value(event["payload"].clone()).ok();
            }
            Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
            Err(tokio::sync::broadcast::error::RecvError::Closed) => *heard = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    /// Proves MCP-046.
    #[test]
    fn what_is_told_of_progress_grows() {
        let id: InvocationId = "inv_01890000-0000-7000-8000-000000000001".parse().unwrap();
        let step = |done: &str, total: Option<&str>| {
            Some(InvocationProgressed {
                invocation_id: id,
                done: done.into(),
                total: total.map(str::to_owned),
                message: Some("a step".into()),
            })
        };
        let mut count = 0.0;
        let mut last = -1.0;
        let token = ProgressToken(NumberOrString::Number(1));
        for said in
            [None, None, step("2.5", Some("3")), step("1", None), step("nan", None), step("9", Some("3"))]
        {
            let told = note(token.clone(), (&said, Duration::from_secs(4)), &mut count);
            assert!(told.progress > last, "{told:?}");
            assert!(told.total.is_none_or(|total| total >= told.progress), "{told:?}");
            last = told.progress;
        }
        assert!((last - 9.0).abs() < f64::EPSILON);
    }
}
