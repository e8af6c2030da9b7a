//! What surrounds every call: its context, for whom it is made, its key, its end before the time, what is said of its
//! answer.
//!
//! Owns what is the same for each method. What a method does is the business of [`super::dispatch`] and the rooms behind
//! it; who calls was decided before.

mod context;
mod failure;
mod meta;
mod once;
mod principal;
mod running;
mod selectors;

use std::{pin::pin, sync::Arc, time::Duration};

use edgeplane_types::{ErrorName, TraceId, error::Effect};
use edgeplane_wire::{
    catalogue::{self, MethodEffect, Request},
    rpc::{RequestContext, RpcError},
};
use serde_json::{Value, value::RawValue};

use super::{Session, dispatch};
use crate::trace;

pub(crate) use once::Calls;
pub(super) use once::put_own_key;
pub(super) use running::cancel;

use failure::Named;
use running::Stop;

/// Longest deadline in milliseconds; a longer one is cut to this: a day.
const DEADLINE_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// Serves a request as it came over a wire, with its context in `params.ctx`.
pub(super) async fn request(
    mut session: Session,
    method: &str,
    mut params: Value,
) -> Result<Box<RawValue>, RpcError> {
    // What becomes of this request is noted for it alone.
    session.effect = Arc::default();
    session.replayed = Arc::default();
    let opened = open(&mut params);
    let mut of = None;
    let outcome = match &opened.context {
        Ok(context) => {
            let context = context.clone().unwrap_or_default();
            let shared = Arc::clone(&session.shared);
            // First, so that the trace says for whom it is.
            let spoken = context::check(&context).and_then(|()| principal::act(&mut session, &context));
            let trace = trace::begin(&shared, &session.caller, method, &context, &params);
            of = Some(trace.traceparent.trace_id);
            // On the heap: what a method needs would else stand on the stack of each that awaits it.
            let serving = async {
                spoken?;
                Box::pin(surrounded(&session, method, params, &context)).await
            };
            trace::serve(&shared, trace, serving).await
        }
        Err(error) => Err(error.clone()),
    };
    finish(&session, (method, of), opened, outcome)
}

/// A request whose context was taken off its parameters.
pub(super) struct Opened {
    pub(super) context: Result<Option<RequestContext>, RpcError>,
    named: Named,
}

/// Takes the context off a request.
pub(super) fn open(params: &mut Value) -> Opened {
    let context = context::take(params);
    let named = Named::of(params, context.as_ref().ok().and_then(Option::as_ref));
    Opened { context, named }
}

/// Puts around an outcome what every answer has. `of`: the method, and the trace that the request belongs to.
pub(super) fn finish(
    session: &Session,
    (method, of): (&str, Option<TraceId>),
    opened: Opened,
    outcome: Result<Box<RawValue>, RpcError>,
) -> Result<Box<RawValue>, RpcError> {
    match outcome {
        Ok(result) => Ok(match opened.context {
            Ok(Some(context)) => meta::spliced(session, &context, of, result),
            Ok(None) | Err(_) => result,
        }),
        Err(error) => Err(failure::complete(session, method, opened.named, error)),
    }
}

/// The trace that a line over the driver names. Such a line takes no other context.
pub(super) fn trace_of_line(params: &mut Value) -> RequestContext {
    let is_trace = |field: &String| ["traceparent", "tracestate", "baggage"].contains(&field.as_str());
    let ctx = params.get("ctx").and_then(Value::as_object);
    if ctx.is_some_and(|ctx| ctx.keys().all(is_trace)) {
        return context::take(params).ok().flatten().unwrap_or_default();
    }
    RequestContext::default()
}

/// Holds a context to its bounds.
pub(super) fn check_context(context: &RequestContext) -> Result<(), RpcError> {
    context::check(context)
}

async fn surrounded(
    session: &Session,
    method: &str,
    mut params: Value,
    context: &RequestContext,
) -> Result<Box<RawValue>, RpcError> {
    // Before the parameters are read: whoever may not call it learns nothing of what it takes.
    dispatch::check_audience(session, method)?;
    let own_key = once::put_own_key(&session.caller, method, &mut params, context.idempotency_key.as_deref());
    let row = catalogue::find(method);
    let key = match (&context.idempotency_key, row) {
        (Some(key), Some(row)) if row.effect == MethodEffect::Write && !own_key => {
            Some(once::Key::of(&session.caller, row.name, key, &params)?)
        }
        _ => None,
    };
    let said = context.selectors.is_some().then(|| params.clone());
    let request = Request::read(method, params)?;
    dispatch::check(session, &request)?;
    if let (Some(selectors), Some(said)) = (&context.selectors, &said) {
        selectors::check(session, selectors, said)?;
    }
    let running = running::enter(session, context.request_id.as_deref());
    let stop = running.as_ref().map(|running| running.stop.clone());
    let effect = row.map_or(MethodEffect::Write, |row| row.effect);
    let work = async {
        match key {
            Some(key) => once::perform(session, request, key, stop).await,
            None => until_stopped(session, request, stop).await,
        }
    };
    let Some(deadline_ms) = context.deadline_ms else { return work.await };
    let deadline = Duration::from_millis(deadline_ms.min(DEADLINE_MS_MAX));
    match tokio::time::timeout(deadline, work).await {
        Ok(result) => result,
        Err(_) => {
            let what = format!("{method} was not done in {deadline_ms} ms");
            Err(RpcError::new(ErrorName::DeadlineExceeded, what).effect(cut_off(session, effect)))
        }
    }
}

/// Serves a request until it is taken back. What is ready at the same time as it is taken back, is answered.
async fn until_stopped(
    session: &Session,
    request: Request,
    stop: Option<Stop>,
) -> Result<Box<RawValue>, RpcError> {
    let row = catalogue::find(request.method());
    let effect = row.map_or(MethodEffect::Write, |row| row.effect);
    let result = match stop {
        None => dispatch::serve(session, request).await,
        Some(stop) => {
            let work = pin!(dispatch::serve(session, request));
            // Losing the race drops the work where it waits; what it had done by then is said.
            tokio::select! {
                biased;
                result = work => result,
                () = stop.token.cancelled() => return Err(stop.error().effect(cut_off(session, effect))),
            }
        }
    };
    result.map_err(|error| match error.data.effect {
        // It failed after what was asked had become durable.
        Effect::None if was_noted(session) => error.effect(Effect::Applied),
        Effect::None | Effect::Applied | Effect::Unknown => error,
    })
}

/// What a request that was cut off has changed.
fn cut_off(session: &Session, effect: MethodEffect) -> Effect {
    match effect {
        MethodEffect::Read => Effect::None,
        MethodEffect::Write if was_noted(session) => Effect::Applied,
        MethodEffect::Write => Effect::Unknown,
    }
}

/// Whether what was asked has become durable.
fn was_noted(session: &Session) -> bool {
    let notified = pin!(session.effect.notified());
    notified.enable()
}
