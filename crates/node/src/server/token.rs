//! A token that is shown on a connection: from then on whoever speaks there is its bearer.
//!
//! Owns the change of a connection's caller. Whether the token is good and whose it is, [`crate::tokens`] says.

use std::time::Duration;

use edgeplane_wire::{
    api::core::InitializeResult,
    catalogue::{Call as _, CoreInitialize, Request},
    rpc::{RequestContext, RpcError},
};
use serde_json::{Value, value::RawValue};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Session, call, dispatch, methods, standing};
use crate::{caller::Caller, tokens};

/// How long what is opened while a token ends may outlive it.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Whether a request shows a token.
pub(super) fn is_shown(method: &str, params: &Value) -> bool {
    method == CoreInitialize::NAME && params.get("token").is_some_and(|token| !token.is_null())
}

/// Makes the caller of a connection the bearer of the token that it shows; after an error it is who it was. `seen` is
/// what the kernel says of it, `watch` looks after the token that it bears.
pub(super) async fn show(
    session: &mut Session,
    seen: &Caller,
    watch: &mut Option<DropGuard>,
    mut params: Value,
) -> Result<Box<RawValue>, RpcError> {
    let opened = call::open(&mut params);
    let greeting = match &opened.context {
        Ok(context) => {
            let greeting = greeted(session, seen, watch, (context.as_ref(), params)).await;
            greeting.and_then(dispatch::raw)
        }
        Err(error) => Err(error.clone()),
    };
    call::finish(session, (CoreInitialize::NAME, None), opened, greeting)
}

async fn greeted(
    session: &mut Session,
    seen: &Caller,
    watch: &mut Option<DropGuard>,
    (context, params): (Option<&RequestContext>, Value),
) -> Result<InitializeResult, RpcError> {
    context.map_or(Ok(()), call::check_context)?;
    let Request::CoreInitialize(params) = Request::read(CoreInitialize::NAME, params)? else {
        return methods::core::initialize(session, &Default::default());
    };
    let text = params.token.as_deref().unwrap_or_default();
    let caller = tokens::bearer(&session.shared, seen, text)
        .await
        .inspect_err(|error| tracing::debug!(%error, caller = %seen.principal, "a token was refused"))?;
    let bearer = Session { caller, ..session.clone() };
    let greeting = methods::core::initialize(&bearer, &params)?;
    *session = bearer;
    *watch = keep_watch(session);
    Ok(greeting)
}

/// Looks after the token of a connection's caller, if it has one.
pub(super) fn keep_watch(session: &Session) -> Option<DropGuard> {
    session.caller.bears?;
    let until = CancellationToken::new();
    session.shared.tasks.spawn(end_with_token(session.clone(), until.clone()));
    Some(until.drop_guard())
}

/// Ends what a connection has opened when the token of its caller counts no more: nobody asks for what comes by itself.
async fn end_with_token(session: Session, until: CancellationToken) {
    if session.caller.bears.is_none() {
        return;
    }
    let why = tokio::select! {
        () = until.cancelled() => return,
        () = session.shared.stopping.cancelled() => return,
        why = standing::lost(&session.shared, &session.caller) => why,
    };
    // What was asked for before and is opened only now ends as well, until another token is shown.
    loop {
        session.opened.close(&why);
        tokio::select! {
            () = until.cancelled() => return,
            () = session.shared.stopping.cancelled() => return,
            () = tokio::time::sleep(LOOK_AGAIN) => {}
        }
    }
}
