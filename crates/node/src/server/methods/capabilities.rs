//! Capabilities: what is shown of them to whom, and calls of them.
//!
//! Who may call what is decided in [`crate::capabilities`]; what is shown of a call is what the record
//! has of it, read from there or told as it became durable.

pub(in crate::server) mod offers;

use std::{sync::Arc, time::Duration};

use edgeplane_store::{ActionRow, InvocationRow, Reader};
use edgeplane_types::{CapabilityKind, ErrorName, EventId, Fact, InvocationId, InvocationState, Permission};
use edgeplane_wire::{
    api::{
        action::DecideParams,
        capability::{
            AWAIT_MS_MAX, AwaitInvocationParams, CapabilitiesResult, CapabilityBacking, CapabilityParams,
            CapabilityView, InvocationParams, InvocationView, InvokeMode, InvokeParams,
            ListCapabilitiesParams, PermissionView, ResolvePermissionParams, SearchCapabilitiesParams,
        },
    },
    rpc::{self, RpcError},
};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use super::{Session, actions, agent, check_owner};
use crate::{
    agent::AgentHandle,
    capabilities::{self, By, Found, Listed, Of, Told, Wanted},
    overrides::word,
    shared::Shared,
};

/// Capabilities in one answer, and where nobody says how many.
const ROWS_MAX: u32 = 500;
const ROWS_STANDARD: u32 = 100;

/// Bytes of JSON after which a list with schemas ends; one entry more has at most 256 KiB, and a line 16 MiB.
const PAGE_BYTES_MAX: usize = 2 << 20;

/// Longest words to look for, in bytes.
const QUERY_BYTES_MAX: usize = 1_024;

/// How long a call that was taken back is waited for.
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// The agent that calls; none: an operator.
fn calling(session: &Session) -> Result<Option<AgentHandle>, RpcError> {
    match &session.caller.agent {
        Some(own) => {
            check_owner(session, own.id)?;
            agent(session, &own.id.to_string()).map(Some)
        }
        None if session.caller.is_operator() => Ok(None),
        None => {
            let who = &session.caller.principal;
            let what = format!("`{who}` may not use capabilities: rule owner-or-operator");
            Err(RpcError::new(ErrorName::PermissionDenied, what))
        }
    }
}

pub(in crate::server) async fn list(
    session: &Session,
    params: ListCapabilitiesParams,
) -> Result<CapabilitiesResult, RpcError> {
    let ListCapabilitiesParams { connector, backing, kind, limit, cursor, schemas } = params;
    if cursor.as_ref().is_some_and(|cursor| !cursor.contains('/')) {
        return Err(RpcError::new(ErrorName::InvalidParams, "`cursor` is none that a list gave out"));
    }
    let connector = connector.as_ref().map(edgeplane_types::AgentName::as_str);
    let listed = capabilities::listed(&session.shared, &session.caller, Of { connector, backing }).await?;
    let wanted = Page { kind, limit, with_schemas: schemas, is_first: cursor.is_none() };
    page(session, listed, wanted, |found| cursor.as_ref().is_none_or(|after| found.name() > *after))
}

pub(in crate::server) async fn search(
    session: &Session,
    params: SearchCapabilitiesParams,
) -> Result<CapabilitiesResult, RpcError> {
    let SearchCapabilitiesParams { query, kind, limit } = params;
    if query.trim().is_empty() || query.len() > QUERY_BYTES_MAX {
        let what = format!("`query` has 1 to {QUERY_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let listed = capabilities::listed(&session.shared, &session.caller, Of::default()).await?;
    let wanted = Page { kind, limit, with_schemas: false, is_first: false };
    page(session, listed, wanted, |found| {
        let offer = &found.offer;
        let texts = [Some(&found.name()), offer.title.as_ref(), offer.description.as_ref()];
        let text: Vec<String> = texts.into_iter().flatten().map(|text| text.to_lowercase()).collect();
        words.iter().all(|word| text.iter().any(|text| text.contains(word)))
    })
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy)]
struct Page {
    kind: Option<CapabilityKind>,
    limit: Option<u32>,
    with_schemas: bool,
    /// Whether nothing is before it.
    is_first: bool,
}

/// What of a list is shown to whoever asks: an agent does not see what it may not call.
fn page(
    session: &Session,
    listed: Listed,
    wanted: Page,
    is_wanted: impl Fn(&Found) -> bool,
) -> Result<CapabilitiesResult, RpcError> {
    let rows = usize::try_from(wanted.limit.unwrap_or(ROWS_STANDARD).clamp(1, ROWS_MAX)).unwrap_or(1);
    let own = calling(session)?;
    let by = By { caller: &session.caller, agent: own.as_ref() };
    let mut items: Vec<CapabilityView> = Vec::new();
    let (mut next_cursor, mut bytes) = (None, 0_usize);
    let mut seen = wanted.is_first.then(String::new);
    for found in listed.found {
        if wanted.kind.is_some_and(|kind| kind != found.kind()) || !is_wanted(&found) {
            continue;
        }
        let policy = capabilities::evaluate(&session.shared, &by, &found);
        if own.is_some() && policy.decision == Permission::Deny {
            continue;
        }
        if let Some(seen) = &mut seen {
            let (name, class) = (found.name(), found.effect().class);
            seen.push_str(&format!("{name}\0{}\0{class}\0{}\n", found.offer.digest, policy.decision));
        }
        if next_cursor.is_some() {
            continue;
        }
        if items.len() == rows || bytes >= PAGE_BYTES_MAX {
            next_cursor = items.last().map(|last| last.name.clone());
            if seen.is_none() {
                break;
            }
            continue;
        }
        let view = capabilities::view(&found, policy, wanted.with_schemas);
        if wanted.with_schemas {
            bytes = bytes.saturating_add(serde_json::to_vec(&view).map_or(0, |json| json.len()));
        }
        items.push(view);
    }
    let digest = seen.map(|seen| edgeplane_proof::digest(seen.as_bytes()).to_string());
    Ok(CapabilitiesResult { items, connectors: listed.standings, next_cursor, digest })
}

pub(in crate::server) async fn get(
    session: &Session,
    params: CapabilityParams,
) -> Result<CapabilityView, RpcError> {
    let own = calling(session)?;
    let found = capabilities::find(&session.shared, &session.caller, &params.capability).await?;
    let by = By { caller: &session.caller, agent: own.as_ref() };
    let policy = capabilities::evaluate(&session.shared, &by, &found);
    Ok(capabilities::view(&found, policy, true))
}

pub(in crate::server) async fn evaluate(
    session: &Session,
    params: CapabilityParams,
) -> Result<PermissionView, RpcError> {
    Ok(get(session, params).await?.policy)
}

pub(in crate::server) async fn invoke(
    session: &Session,
    params: InvokeParams,
) -> Result<InvocationView, RpcError> {
    let InvokeParams { capability, digest, input, mode, timeout_ms } = params;
    let own = calling(session)?;
    let by = By { caller: &session.caller, agent: own.as_ref() };
    let found = match capabilities::find(&session.shared, &session.caller, &capability).await {
        Ok(found) => found,
        Err(unfound) => {
            let is_locked = unfound.is_locked;
            let error = RpcError::from(unfound);
            if is_locked {
                capabilities::locked_out(&session.shared, &by, &capability, &error.message);
            }
            return Err(error);
        }
    };
    let wanted = Wanted { id: session.began.map(named_by), digest, input, timeout_ms };
    let id = capabilities::invoke(&session.shared, &by, &found, wanted).await?;
    session.effect.notify_one();
    answered(session, id, mode).await
}

/// An invocation as whoever asked for it is answered.
async fn answered(session: &Session, id: InvocationId, mode: InvokeMode) -> Result<InvocationView, RpcError> {
    let shared = &session.shared;
    match mode {
        InvokeMode::Await => {
            let stands = until(shared, id, None, |state| state != InvocationState::Running).await?;
            stands.view(shared)
        }
        InvokeMode::Async => view(shared, row(shared, id)?),
        InvokeMode::Streaming => streamed(session, id).await?.view(shared),
    }
}

pub(in crate::server) fn invocation_get(
    session: &Session,
    params: &InvocationParams,
) -> Result<InvocationView, RpcError> {
    view_for(session, seen_by_its(session, params.invocation_id)?.into())
}

pub(in crate::server) async fn invocation_await(
    session: &Session,
    params: AwaitInvocationParams,
) -> Result<InvocationView, RpcError> {
    seen_by_its(session, params.invocation_id)?;
    let time = Duration::from_millis(params.timeout_ms.min(AWAIT_MS_MAX));
    let stands = until(&session.shared, params.invocation_id, Some(time), InvocationState::is_over).await?;
    view_for(session, stands)
}

pub(in crate::server) async fn invocation_cancel(
    session: &Session,
    params: InvocationParams,
) -> Result<InvocationView, RpcError> {
    let row = seen(session, params.invocation_id)?;
    capabilities::cancel(&session.shared, &row, &session.caller).await?;
    let id = params.invocation_id;
    until(&session.shared, id, Some(CANCEL_WAIT), InvocationState::is_over).await?.view(&session.shared)
}

pub(in crate::server) async fn resolve(
    session: &Session,
    params: ResolvePermissionParams,
) -> Result<InvocationView, RpcError> {
    let ResolvePermissionParams { invocation_id, digest, verdict } = params;
    let row = seen(session, invocation_id)?;
    let action = capabilities::action_of(&session.shared, &row)?;
    let action = action.ok_or_else(|| {
        RpcError::new(ErrorName::InvalidState, format!("nobody is asked about invocation {invocation_id}"))
    })?;
    let decide = DecideParams { action_id: action.action.id, digest, verdict };
    actions::decide(session, decide).await?;
    view(&session.shared, self::row(&session.shared, invocation_id)?)
}

/// What a call under a key made before its daemon died, as it is now or, as its mode says, once it is over; none if there is nothing of it in the record.
///
/// # Errors
/// When the record cannot be read.
pub(in crate::server) async fn made_under(
    session: &Session,
    began: EventId,
    mode: InvokeMode,
) -> Result<Option<InvocationView>, RpcError> {
    let id = named_by(began);
    if session.shared.record.look_up(|reader| reader.invocation(&id))?.is_none() {
        return Ok(None);
    }
    answered(session, id, mode).await.map(Some)
}

/// The invocation that a call under a key makes has the id of the event by which the call began.
fn named_by(began: EventId) -> InvocationId {
    InvocationId::from_bytes(*began.as_bytes())
}

fn missing(id: InvocationId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no invocation {id}"))
}

fn row(shared: &Shared, id: InvocationId) -> Result<InvocationRow, RpcError> {
    shared.record.look_up(|reader| reader.invocation(&id))?.ok_or_else(|| missing(id))
}

/// An invocation for those whose business it is: operators', and the agent's that called.
fn seen(session: &Session, id: InvocationId) -> Result<InvocationRow, RpcError> {
    let row = row(&session.shared, id)?;
    let is_own = row.agent.is_some_and(|agent| session.caller.is_agent(agent));
    if is_own || session.caller.is_operator() { Ok(row) } else { Err(missing(id)) }
}

/// The same for the agent that is to answer, once it is.
fn seen_by_its(session: &Session, id: InvocationId) -> Result<InvocationRow, RpcError> {
    let found = row(&session.shared, id)?;
    let answers = found.asked.offered_by.is_some_and(|by| session.caller.is_agent(by.agent_id));
    if answers && found.begun_at.is_some() { Ok(found) } else { seen(session, id) }
}

/// Waits until an invocation is over or waits for leave, and tells whoever asked how far it is until then.
async fn streamed(session: &Session, id: InvocationId) -> Result<Stands, RpcError> {
    let shared = &session.shared;
    let mut following = shared.record.follow();
    let over = until(shared, id, None, |state| state != InvocationState::Running);
    tokio::pin!(over);
    loop {
        // Cancel-safe: a wait that is polled again goes on, and an event that is received is handled.
        tokio::select! {
            biased;
            row = &mut over => return row,
            event = following.recv() => match event {
                Ok(event) => match &event.event.fact {
                    Fact::InvocationProgressed(progressed) if progressed.invocation_id == id => {
                        let of = progressed.total.as_ref().map(|total| format!(" of {total}")).unwrap_or_default();
                        let words = progressed.message.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
                        let params = serde_json::json!({ "text": format!("{}{of}{words}", progressed.done) });
                        // A caller that does not read its progress does without.
                        drop(session.outbound.offer(rpc::notification("core/progress", params)));
                    }
                    _ => {}
                },
                // What was missed, the next one is farther than.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return over.await,
            },
        }
    }
}

/// An invocation as it stands: as this daemon has just told the record, or as the record has it.
enum Stands {
    Told(Box<Told>),
    Read(Box<InvocationRow>),
}

impl From<InvocationRow> for Stands {
    fn from(row: InvocationRow) -> Self {
        Self::Read(Box::new(row))
    }
}

impl Stands {
    fn view(self, shared: &Shared) -> Result<InvocationView, RpcError> {
        match self {
            // Nobody was asked about it, else the record would be.
            Self::Told(told) => Ok(shown(told.row, (told.input, told.output), None)),
            Self::Read(row) => view(shared, *row),
        }
    }

    fn row(&self) -> &InvocationRow {
        match self {
            Self::Told(told) => &told.row,
            Self::Read(row) => row,
        }
    }
}

/// Waits until an invocation is where it is wanted, or the time is over, and gives it as it is then.
async fn until(
    shared: &Arc<Shared>,
    id: InvocationId,
    time: Option<Duration>,
    is_there: impl Fn(InvocationState) -> bool,
) -> Result<Stands, RpcError> {
    let read = || row(shared, id).map(Stands::from);
    // Followed from before the first look, so that no end is missed.
    let mut ends = shared.capabilities.follow_ends();
    let over = tokio::time::sleep(time.unwrap_or(Duration::from_millis(AWAIT_MS_MAX)));
    tokio::pin!(over);
    loop {
        // One that is worked on is not over, and the record need not say so.
        if let Some(making) = shared.capabilities.making(id) {
            // Cancel-safe: what is over stays over.
            tokio::select! {
                () = making.over() => {}
                () = &mut over => return read(),
                () = shared.stopping.cancelled() => return read(),
            }
            if let Some(told) = making.told().filter(|told| is_there(told.row.state)) {
                return Ok(Stands::Told(Box::new(told)));
            }
        }
        let found = row(shared, id)?;
        if is_there(found.state) {
            return Ok(found.into());
        }
        // Cancel-safe: a change that is seen is looked at in the next round.
        tokio::select! {
            changed = ends.changed() => {
                if changed.is_err() {
                    return read();
                }
            }
            () = &mut over => return read(),
            () = shared.stopping.cancelled() => return read(),
        }
    }
}

/// A call as whoever asks sees it: who is to answer it sees what it is given as it is.
fn view_for(session: &Session, stands: Stands) -> Result<InvocationView, RpcError> {
    let exact = capabilities::exact_input(&session.shared, &session.caller, stands.row());
    let shown = stands.view(&session.shared)?;
    Ok(match exact {
        Some(input) => InvocationView { input, ..shown },
        None => shown,
    })
}

fn view(shared: &Shared, row: InvocationRow) -> Result<InvocationView, RpcError> {
    let held = |reader: &Reader| {
        let input = capabilities::input_of(reader, &row)?;
        let output = capabilities::output_of(reader, &row)?;
        Ok((input, output, capabilities::action_in(reader, &row)?))
    };
    let (input, output, action) = shared.record.look_up(|reader| reader.at_one_moment(held))?;
    Ok(shown(row, (input, output), action))
}

fn shown(
    row: InvocationRow,
    (input, output): (Option<Value>, Option<Value>),
    action: Option<ActionRow>,
) -> InvocationView {
    let InvocationRow { state, asked, checkpoint, by, asked_at, progress, ended, .. } = row;
    let name = asked.name();
    let after = ended.as_ref().map(|(ended, _)| ended.hooks.clone()).unwrap_or_default();
    let hooks = asked.hooks.into_iter().chain(after).collect();
    let (ended, ended_at) = ended.map_or((None, None), |(ended, at)| (Some(ended), Some(at)));
    InvocationView {
        invocation_id: asked.invocation_id,
        status: state,
        capability_id: asked.capability_id,
        name,
        backing: CapabilityBacking {
            kind: asked.backing,
            owner: asked.owner,
            native_id: asked.native_id,
            agent_id: asked.offered_by.map(|by| by.agent_id),
            epoch: asked.offered_by.map(|by| by.epoch),
        },
        capability_digest: asked.capability_digest,
        input_digest: asked.input_digest,
        input,
        permission: asked.permission,
        rule: asked.rule,
        action_id: action.map(|action| action.action.id),
        checkpoint_id: checkpoint,
        output,
        output_digest: ended.as_ref().and_then(|ended| ended.output_digest.clone()),
        output_bytes: ended.as_ref().map_or(0, |ended| ended.output_bytes),
        progress,
        cause: ended.as_ref().and_then(|ended| ended.cause),
        reason: ended.and_then(|ended| ended.reason),
        hooks,
        asked_at,
        by: word(&by),
        ended_at,
    }
}
