//! The one door: a call is let pass or asked about, then meant, then made, then told, each durable before the next.

use std::{sync::Arc, time::Duration};

use edgeplane_connector::{Call, CallFailure, Effect, Failure, OfferKind};
use edgeplane_proof::{canonical, digest};
use edgeplane_store::{ActionRow, AppendError, InvocationRow, ReadError, Reader, StoredBody};
use edgeplane_types::{
    ActionId, AgentId, BackingKind, CapabilityKind, CheckpointId, ErrorName, Fact, Ingress, InvocationCause,
    InvocationId, InvocationState, Permission, StreamName,
    decision::{ActionKind, ActionOutcome},
    fact::{Actor, InvocationBegun, InvocationEnded, InvocationRequested},
};
use edgeplane_wire::{api::action::OpenParams, rpc::RpcError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    By, Found, builtin,
    ending::{RULE, end, end_as, ending},
    hooks::{self, Place},
    input::{Input, body_of, checked, unwritable},
    kept, listening,
    live::{self, Declared},
    permission, registered, workflow,
};
use crate::{
    admission::{self, Saying},
    agent::{ActionRequest, AgentHandle, Command, Teller},
    caller::Caller,
    record::{Draft, Origin, refused},
    server::Prepared,
    shared::Shared,
};

/// What the key of an action that asks about a call begins with.
pub(crate) const ASKS: &str = "invocation:";

/// A call that somebody wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What it is to be called, where that is settled beforehand.
    pub(crate) id: Option<InvocationId>,
    /// The digest of what they looked at.
    pub(crate) digest: Option<String>,
    pub(crate) input: Value,
    pub(crate) timeout_ms: Option<u64>,
}

pub(super) fn stream_of(shared: &Shared, agent: Option<AgentId>) -> StreamName {
    agent.map_or(StreamName::Node(shared.identity.id), StreamName::Agent)
}

/// Asks for a call, and makes it if it may be made. What it is called is durable when this returns.
///
/// # Errors
/// When it is not what the caller thinks, is given what it does not take, or may not be called: nothing happens then.
pub(crate) async fn invoke(
    shared: &Arc<Shared>,
    by: &By<'_>,
    found: &Found,
    wanted: Wanted,
) -> Result<InvocationId, RpcError> {
    let offer = &found.offer;
    check_seen(found, wanted.digest.as_ref())?;
    let input = checked(&wanted.input, &offer.input_schema)?;
    registered::check_room(shared, found)?;
    workflow::check(shared, found, input.has_secrets)?;
    let prepared = builtin::prepared(shared, by, found, &wanted.input)?;
    let causation = cause(shared, by.caller)?;
    let holds = permission::pass(shared, by, found, causation)?;
    let id = wanted.id.unwrap_or_else(|| shared.record.mint().id());
    let origin = Origin::actor(by.caller.actor());
    let stream = stream_of(shared, by.agent.map(|agent| agent.id));
    let place = Place { shared, id, stream, origin: &origin, causation };
    let hooks::Before { input, holds, runs, .. } =
        Box::pin(hooks::before(place, (by, found), input, holds)).await?;
    let mut draft = Draft::default();
    let shown = serde_json::to_vec(&input.shown).map_err(|error| unwritable(&error))?;
    let (shown_digest, shown_bytes) = draft.body(shown);
    let limit = found.timeout_ms();
    let requested = InvocationRequested {
        invocation_id: id,
        capability_id: found.id(),
        backing: found.backing(),
        owner: found.owner().clone(),
        kind: found.kind(),
        native_id: offer.native_id.clone(),
        offered_by: found.offered_by(),
        capability_digest: offer.digest.clone(),
        input_digest: digest(&input.exact).to_string(),
        shown_digest,
        shown_bytes,
        effect: found.effect().class,
        permission: holds.decision,
        rule: holds.rule,
        timeout_ms: wanted.timeout_ms.unwrap_or(limit).clamp(1, limit),
        epoch: by.caller.agent.as_ref().map(|agent| agent.epoch),
        causation,
        hooks: runs,
    };
    let fact = Fact::InvocationRequested(Box::new(requested.clone()));
    shared.record.add(&mut draft, stream, &origin, fact);
    let is_asked = holds.decision == Permission::Ask;
    if holds.decision == Permission::Deny {
        return stopped(place, draft, (InvocationState::Denied, InvocationCause::Hook, holds.reason)).await;
    }
    if !is_asked {
        let checkpoint_id = match Box::pin(kept::before(shared, by.agent, &requested, &origin)).await {
            Ok(checkpoint_id) => checkpoint_id,
            Err(why) => {
                let how = (InvocationState::Failed, InvocationCause::Checkpoint, why);
                return stopped(place, draft, how).await;
            }
        };
        mean(
            shared,
            &mut draft,
            (&requested, checkpoint_id),
            (&input.exact, &origin.actor),
            (stream, &origin),
        )?;
    }
    let declared = found.connector().cloned();
    commence(shared, by, (requested, input, prepared), (draft, is_asked, declared), (stream, origin)).await?;
    Ok(id)
}

/// Makes a call durable, and has it made or asked about.
async fn commence(
    shared: &Arc<Shared>,
    by: &By<'_>,
    (requested, input, prepared): (InvocationRequested, Input, Option<Prepared>),
    (draft, is_asked, declared): (Draft, bool, Option<Declared>),
    (stream, origin): (StreamName, Origin),
) -> Result<(), RpcError> {
    let id = requested.invocation_id;
    // Before it is in the record: whoever finds it there and not here takes it for left behind.
    let making = shared.capabilities.enter(&requested);
    match shared.record.commit(draft).await {
        Ok(committed) if !is_asked => making.begun(&committed, input.shown.clone()),
        Ok(_waits) => {}
        Err(error) => {
            shared.capabilities.leave(id);
            return Err(refused(&error));
        }
    }
    let stop = making.stop.clone();
    match (by.agent.filter(|_| is_asked), prepared) {
        (Some(agent), _) => ask(shared, by.caller, agent, (requested, input)).await?,
        (None, Some(prepared)) => {
            builtin::make(shared, (id, prepared), (stream, origin), (requested.timeout_ms, stop));
        }
        (None, None) => act(shared, (requested, input.exact, declared), (stream, origin), stop),
    }
    Ok(())
}

/// Refuses a call of what is not what its caller looked at.
fn check_seen(found: &Found, seen: Option<&String>) -> Result<(), RpcError> {
    let Some(seen) = seen.filter(|seen| **seen != found.offer.digest) else { return Ok(()) };
    let (name, digest) = (found.name(), &found.offer.digest);
    let what = format!("`{name}` is not what was looked at: its digest is {digest}, not {seen}");
    Err(RpcError::new(ErrorName::VersionConflict, what).hint("`edgeplane capability get` shows it as it is"))
}

/// Adds to a draft that a call is about to be made, and that whoever answers it is to.
fn mean(
    shared: &Shared,
    draft: &mut Draft,
    (asked, checkpoint_id): (&InvocationRequested, Option<CheckpointId>),
    (input, by): (&[u8], &Actor),
    (stream, origin): (StreamName, &Origin),
) -> Result<(), RpcError> {
    let begun = Fact::InvocationBegun(InvocationBegun { invocation_id: asked.invocation_id, checkpoint_id });
    shared.record.add(draft, stream, origin, begun);
    registered::tell(shared, draft, asked, origin);
    match asked.backing {
        BackingKind::Workflow => workflow::begin(shared, draft, asked, (input, by)),
        BackingKind::Connector | BackingKind::Agent | BackingKind::Builtin | BackingKind::Automation => {
            Ok(())
        }
    }
}

/// Tells the record of a call that was stopped before it was meant: by a hook, or because no checkpoint could be made.
async fn stopped(
    place: Place<'_>,
    mut draft: Draft,
    (state, cause, reason): (InvocationState, InvocationCause, String),
) -> Result<InvocationId, RpcError> {
    let (ended, _) = ending(place.id, state, reason);
    let ended = InvocationEnded { cause: Some(cause), ..ended };
    place.shared.record.add(&mut draft, place.stream, place.origin, Fact::InvocationEnded(ended));
    place.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    Ok(place.id)
}

/// The message that an agent is busy with.
pub(super) fn cause(
    shared: &Shared,
    caller: &Caller,
) -> Result<Option<edgeplane_types::MessageId>, RpcError> {
    let Some(agent) = caller.agent.as_ref().filter(|_| caller.automation.is_none()) else { return Ok(None) };
    let saying = Saying::plain(Vec::new(), Ingress::Action);
    Ok(admission::led_by(shared, agent, &saying)?.causation)
}

/// Has a person asked about a call, bound to exactly what it is given.
async fn ask(
    shared: &Arc<Shared>,
    caller: &Caller,
    agent: &AgentHandle,
    (asked, input): (InvocationRequested, Input),
) -> Result<(), RpcError> {
    let id = asked.invocation_id;
    let name = asked.name();
    // The subject of an action has no fractions; a text has.
    let shown = match canonical::to_vec(&input.shown) {
        Ok(_) => input.shown,
        Err(_) => Value::from(input.shown.to_string()),
    };
    let subject = json!({
        "invocation_id": id,
        "capability": name,
        "capability_digest": asked.capability_digest,
        "effect": asked.effect,
        "input": shown,
        "input_digest": asked.input_digest,
    });
    let params = OpenParams {
        agent: None,
        kind: ActionKind::Approval,
        prompt: format!(
            "Agent `{}` wants to call `{name}`, which may have effect `{}`.",
            agent.name, asked.effect
        ),
        choices: Vec::new(),
        schema: None,
        subject: Some(subject),
        roles: Vec::new(),
        quorum: 1,
        expires_in_ms: None,
        causation: asked.causation,
        idempotency_key: Some(key_of(id)),
    };
    if input.has_secrets {
        shared.capabilities.keep_input(id, input.exact);
    }
    let request = ActionRequest::Open(Box::new(caller.clone()), Box::new(params));
    let opened = match agent.ask(|reply| Command::Action(request, reply)).await {
        Ok(opened) => opened,
        Err(gone) => Err(gone),
    };
    shared.failpoint("invocation.asked");
    if let Err(error) = opened {
        let why = format!("nobody could be asked: {}", error.message);
        end(shared, stream_of(shared, Some(agent.id)), id, ending(id, InvocationState::Failed, why)).await;
        return Err(error);
    }
    shared.capabilities.rest(id);
    Ok(())
}

fn key_of(id: InvocationId) -> String {
    format!("{ASKS}{id}")
}

fn offer_kind(kind: CapabilityKind) -> OfferKind {
    match kind {
        CapabilityKind::Resource => OfferKind::Resource,
        CapabilityKind::Prompt => OfferKind::Prompt,
        CapabilityKind::Tool
        | CapabilityKind::Operation
        | CapabilityKind::Workflow
        | CapabilityKind::Automation => OfferKind::Tool,
    }
}

/// Makes a call whose intent is durable, and tells the record what came of it, whoever waits.
fn act(
    shared: &Arc<Shared>,
    (asked, input, declared): (InvocationRequested, Vec<u8>, Option<Declared>),
    (stream, origin): (StreamName, Origin),
    stop: CancellationToken,
) {
    match asked.backing {
        BackingKind::Connector => at_server(shared, (asked, input, declared), (stream, origin), stop),
        BackingKind::Agent => {
            if asked.input_digest != asked.shown_digest {
                shared.capabilities.keep_input(asked.invocation_id, input);
            }
            let time = Duration::from_millis(asked.timeout_ms);
            registered::wait(shared, (stream, asked.invocation_id), (time, stop));
        }
        BackingKind::Workflow => {
            workflow::make(shared, &asked, stop, Duration::from_millis(asked.timeout_ms));
        }
        // Nobody is asked about it: it is made as its caller, who is there when it is called and not later.
        BackingKind::Builtin | BackingKind::Automation => {
            let id = asked.invocation_id;
            let of_task = Arc::clone(shared);
            shared.tasks.spawn(async move {
                let how = ending(id, InvocationState::Failed, "its caller is not there any more".to_owned());
                end(&of_task, stream, id, how).await;
            });
        }
    }
}

/// Makes a call of what a connector's server offers. One that was found a moment ago is not looked for again.
fn at_server(
    shared: &Arc<Shared>,
    (asked, input, declared): (InvocationRequested, Vec<u8>, Option<Declared>),
    (stream, origin): (StreamName, Origin),
    stop: CancellationToken,
) {
    let of_task = Arc::clone(shared);
    shared.tasks.spawn(async move {
        let shared = of_task;
        shared.failpoint("invocation.begun");
        let id = asked.invocation_id;
        let called = match declared.map_or_else(|| live::declared(&shared, asked.owner.as_str()), Ok) {
            Ok(declared) => {
                let call = Call {
                    kind: offer_kind(asked.kind),
                    native_id: asked.native_id.clone(),
                    input: serde_json::from_slice(&input).unwrap_or_default(),
                    timeout: Duration::from_millis(asked.timeout_ms),
                };
                let (listening, heard) = listening::listening();
                let calling = declared.connector.call(call, &asked.capability_digest, &stop, listening);
                let place =
                    Place { shared: &shared, id, stream, origin: &origin, causation: asked.causation };
                // Cancel-safe: a call that is dropped tells its server, and its end is in the record as unknown.
                tokio::select! {
                    called = Box::pin(listening::during(place, &asked, heard, calling)) => called,
                    () = shared.stopping.cancelled() => return,
                }
            }
            Err(gone) => Err(CallFailure::Unreachable(Failure::Setup(gone.message))),
        };
        shared.failpoint("invocation.acted");
        let ended = match called {
            Ok(said) => {
                let state = if said.is_error { InvocationState::Failed } else { InvocationState::Succeeded };
                let reason = said.is_error.then(|| "its server says that it failed".to_owned());
                let output = serde_json::to_vec(&said.value).unwrap_or_default();
                (InvocationEnded { reason, ..ending(id, state, String::new()).0 }, output)
            }
            Err(failure) => {
                let (ended, output) = ending(id, state_of(&failure, &stop), failure.to_string());
                (InvocationEnded { cause: cause_of(&failure), ..ended }, output)
            }
        };
        let place = Place { shared: &shared, id, stream, origin: &origin, causation: asked.causation };
        let ended = Box::pin(hooks::after(place, &asked, ended)).await;
        end_as(&shared, (stream, origin), id, ended).await;
    });
}

fn state_of(failure: &CallFailure, stop: &CancellationToken) -> InvocationState {
    match (failure, failure.effect()) {
        (CallFailure::Cancelled, _) => InvocationState::Cancelled,
        (CallFailure::Unreachable(_), _) if stop.is_cancelled() => InvocationState::Cancelled,
        (_, Effect::None) => InvocationState::Failed,
        (_, Effect::Unknown) => InvocationState::OutcomeUnknown,
    }
}

fn cause_of(failure: &CallFailure) -> Option<InvocationCause> {
    matches!(failure, CallFailure::Unreachable(Failure::Unauthorized(_)))
        .then_some(InvocationCause::Credentials)
}

/// The action by which a person is asked about a call.
pub(crate) fn action_of(shared: &Shared, row: &InvocationRow) -> Result<Option<ActionRow>, RpcError> {
    shared.record.look_up(|reader| action_in(reader, row))
}

/// The same by a reader.
pub(crate) fn action_in(reader: &Reader, row: &InvocationRow) -> Result<Option<ActionRow>, ReadError> {
    let Some(agent) = row.agent.filter(|_| row.asked.permission == Permission::Ask) else { return Ok(None) };
    reader.action_by_key(&agent, &key_of(row.asked.invocation_id))
}

/// Does what was decided about a call, if that is what was decided about.
pub(super) async fn decided(shared: &Arc<Shared>, id: ActionId) -> Result<(), RpcError> {
    let Some(action) = shared.record.look_up(|reader| reader.action(&id))? else { return Ok(()) };
    let key = action.action.idempotency_key.as_deref();
    let asked = key.and_then(|key| key.strip_prefix(ASKS)).and_then(|id| id.parse::<InvocationId>().ok());
    let Some(asked) = asked else { return Ok(()) };
    let Some(row) = shared.record.look_up(|reader| reader.invocation(&asked))? else { return Ok(()) };
    let is_its = row.agent == Some(action.action.agent_id) && row.state == InvocationState::Waiting;
    if !is_its || !is_about(shared, &action, &row)? {
        return Ok(());
    }
    let stream = stream_of(shared, row.agent);
    let Some(resolution) = &action.resolution else { return Ok(()) };
    match resolution.outcome {
        ActionOutcome::Approved => perform(shared, row).await,
        ActionOutcome::Cancelled => {
            let how = ending(asked, InvocationState::Cancelled, resolution.reason.clone());
            end(shared, stream, asked, how).await;
            Ok(())
        }
        ActionOutcome::Denied | ActionOutcome::Expired | ActionOutcome::Answered => {
            let how = ending(asked, InvocationState::Denied, resolution.reason.clone());
            end(shared, stream, asked, how).await;
            Ok(())
        }
    }
}

/// Whether what was decided is this call with exactly this input, and not only an action under its key.
fn is_about(shared: &Shared, action: &ActionRow, row: &InvocationRow) -> Result<bool, RpcError> {
    let digest = action.action.subject_digest.as_ref().and_then(|digest| digest.parse().ok());
    let Some(digest) = digest else { return Ok(false) };
    let body = shared.record.look_up(|reader| reader.body(&digest))?;
    let Some(StoredBody::Bytes(bytes)) = body else { return Ok(false) };
    let subject: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let says = |key: &str, what: &str| subject.get(key).and_then(Value::as_str) == Some(what);
    Ok(says("invocation_id", &row.asked.invocation_id.to_string())
        && says("input_digest", &row.asked.input_digest)
        && says("capability_digest", &row.asked.capability_digest))
}

/// Makes a call for which leave was given. That it is made once, the record sees to: it takes one beginning.
async fn perform(shared: &Arc<Shared>, row: InvocationRow) -> Result<(), RpcError> {
    let (id, stream) = (row.asked.invocation_id, stream_of(shared, row.agent));
    let input = match shared.capabilities.take_input(id) {
        Some(input) => Some(input),
        None if row.asked.input_digest == row.asked.shown_digest => body_of(shared, &row.asked.shown_digest)?,
        None => None,
    };
    let Some(input) = input else {
        let why = "what it was given held a secret, which is not kept over the end of a daemon: ask again";
        end(shared, stream, id, ending(id, InvocationState::Failed, why.to_owned())).await;
        return Ok(());
    };
    let stop = shared.capabilities.enter(&row.asked).stop.clone();
    let own = Arc::clone(shared);
    // Whoever takes up what was decided does not wait for what is kept before.
    shared.tasks.spawn(async move { begin(&own, (row, input), stream, stop).await });
    Ok(())
}

async fn begin(
    shared: &Arc<Shared>,
    (row, input): (InvocationRow, Vec<u8>),
    stream: StreamName,
    stop: CancellationToken,
) {
    let (id, origin) = (row.asked.invocation_id, Origin::node(RULE));
    let agent = row.agent.and_then(|agent| shared.agent_by_id(agent));
    let checkpoint_id = match kept::before(shared, agent.as_ref(), &row.asked, &origin).await {
        Ok(checkpoint_id) => checkpoint_id,
        Err(why) => {
            let (ended, output) = ending(id, InvocationState::Failed, why);
            let ended = InvocationEnded { cause: Some(InvocationCause::Checkpoint), ..ended };
            return end(shared, stream, id, (ended, output)).await;
        }
    };
    let mut draft = Draft::default();
    let meant = mean(shared, &mut draft, (&row.asked, checkpoint_id), (&input, &row.by), (stream, &origin));
    if let Err(error) = meant {
        let why = format!("it cannot be made any more: {}", error.message);
        return end(shared, stream, id, ending(id, InvocationState::Failed, why)).await;
    }
    let Err(error) = shared.record.commit(draft).await else {
        return act(shared, (row.asked, input, None), (stream, origin), stop);
    };
    shared.capabilities.leave(id);
    // What does not fit was begun already, or is not offered any more; the latter nobody can make.
    let waits = shared.record.look_up(|reader| reader.invocation(&id)).ok().flatten();
    let waits = waits.is_some_and(|row| row.state == InvocationState::Waiting);
    if matches!(error, AppendError::Refused { .. }) && waits {
        let why = format!("it is not offered any more: {}", refused(&error).message);
        return end(shared, stream, id, ending(id, InvocationState::Failed, why)).await;
    }
    tracing::warn!(invocation = %id, error = crate::record::chain(&error), "a decided call is not begun");
}

/// Settles a call that a former daemon left open.
pub(super) async fn take_up(shared: &Arc<Shared>, row: InvocationRow) -> Result<(), RpcError> {
    let (id, stream) = (row.asked.invocation_id, stream_of(shared, row.agent));
    if row.state != InvocationState::Waiting {
        if row.asked.backing == BackingKind::Agent {
            return registered::take_up(shared, &row).await;
        }
        if row.asked.backing == BackingKind::Workflow {
            return workflow::take_up(shared, &row).await;
        }
        let why = "the daemon ended while it was being made";
        listening::take_back_left(shared, id, row.agent).await;
        end(shared, stream, id, ending(id, InvocationState::OutcomeUnknown, why.to_owned())).await;
        return Ok(());
    }
    match action_of(shared, &row)? {
        Some(action) if action.resolution.is_some() => decided(shared, action.action.id).await,
        Some(_) => Ok(()),
        None => {
            let why = "the daemon ended before anybody was asked";
            end(shared, stream, id, ending(id, InvocationState::Failed, why.to_owned())).await;
            Ok(())
        }
    }
}

/// Takes a call back: one that waits is not made, the server of one that is made is told.
pub(crate) async fn cancel(
    shared: &Arc<Shared>,
    row: &InvocationRow,
    caller: &Caller,
) -> Result<(), RpcError> {
    let id = row.asked.invocation_id;
    if row.state == InvocationState::Running {
        if let Some(stop) = shared.capabilities.stop_of(id) {
            stop.cancel();
        }
        return Ok(());
    }
    if row.state != InvocationState::Waiting {
        return Ok(());
    }
    let how = ending(id, InvocationState::Cancelled, "it was taken back before it was made".to_owned());
    let origin = Origin::actor(caller.actor());
    end_as(shared, (stream_of(shared, row.agent), origin), id, how).await;
    let action = action_of(shared, row)?.filter(|action| action.resolution.is_none());
    let agent = row.agent.and_then(|agent| shared.agent_by_id(agent));
    if let (Some(action), Some(agent)) = (action, agent) {
        let teller = Teller {
            authority: caller.authority(),
            hops: 0,
            rule: edgeplane_types::SafeLabel::sanitized(RULE),
            caller: caller.clone(),
        };
        let request = ActionRequest::Cancel(action.action.id, caller.principal.clone(), Box::new(teller));
        agent.ask(|reply| Command::Action(request, reply)).await??;
    }
    Ok(())
}
