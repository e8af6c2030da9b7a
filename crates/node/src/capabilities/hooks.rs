//! Hooks around a call: asked before it is made, and shown what came of it. Their answers count as the strictest of all
//! does: no hook lifts what a rule or a list says in so many words.
//!
//! Owns what a hook is told, which holds no secret, and what its answer may change. That it was asked is in the record
//! before it is, and what came of that before anything follows from it.

use std::{sync::Arc, time::Duration};

use edgeplane_connector::{ask_address, ask_program};
use edgeplane_manifest::{CallHook, CallHookRun};
use edgeplane_proof::digest;
use edgeplane_types::{
    AgentId, BackingKind, EffectClass, Fact, HookDecision, HookPoint, InvocationCause, InvocationId,
    InvocationState, MessageId, Permission, SafeLabel, StreamName,
    fact::{HookCompleted, HookFailed, HookRun, HookStarted, InvocationEnded, InvocationRequested},
};
use edgeplane_wire::{api::capability::PermissionView, rpc::RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    By, Found,
    input::{Input, checked},
    live::{self, Declared},
};
use crate::{
    record::{Draft, Origin, refused},
    resources::secrets,
    shared::Shared,
};

/// Most bytes that a hook may say.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Longest reason and longest context that are kept of an answer, in bytes.
const REASON_BYTES_MAX: usize = 1 << 10;
const CONTEXT_BYTES_MAX: usize = 16 << 10;

/// The rule that lets a person be asked only because nothing else is said; a hook may speak for it.
const UNSAID: &str = "connector-default";

/// What a hook says. What it says besides is not understood, and counts as a failure.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    decision: Option<HookDecision>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    updated_input: Option<Value>,
    #[serde(default)]
    additional_context: Option<String>,
    #[serde(default)]
    updated_tool_output: Option<Value>,
    #[serde(default)]
    suppress_output: bool,
}

/// A call as its hooks left it.
pub(super) struct Before {
    pub(super) input: Input,
    pub(super) holds: PermissionView,
    pub(super) runs: Vec<HookRun>,
    /// Whether no hook may let it pass any more.
    is_fixed: bool,
}

/// Where a call's facts stand.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) id: InvocationId,
    pub(super) stream: StreamName,
    pub(super) origin: &'a Origin,
    /// The message in whose turn it was asked for.
    pub(super) causation: Option<MessageId>,
}

impl Place<'_> {
    /// The agent that calls; none: an operator.
    pub(super) fn agent(&self) -> Option<AgentId> {
        match self.stream {
            StreamName::Agent(agent) => Some(agent),
            StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
        }
    }
}

/// One hook at one point, and what is said to it.
struct Asking<'a> {
    declared: &'a Declared,
    hook: &'a CallHook,
    point: HookPoint,
    effect: Option<EffectClass>,
    given: Value,
    input_digest: &'a str,
}

/// What became of a hook.
enum Came {
    Answered(Answer, HookRun),
    /// It failed, which stops what it was asked about.
    Stopped(String, HookRun),
    /// It failed, and that is passed over.
    PassedOver(HookRun),
}

/// Asks what is to be asked before a call is made.
///
/// # Errors
/// When nothing can be recorded; nothing was called then.
pub(super) async fn before(
    place: Place<'_>,
    (by, found): (&By<'_>, &Found),
    input: Input,
    holds: PermissionView,
) -> Result<Before, RpcError> {
    // What somebody says in so many words, no hook lets pass; what a hook has a person asked about, no other does.
    let is_fixed = holds.rule.as_str() != UNSAID;
    let mut call = Before { input, holds, runs: Vec::new(), is_fixed };
    let Some(declared) = found.connector() else { return Ok(call) };
    for point in [HookPoint::PreToolUse, HookPoint::PermissionRequest] {
        if point == HookPoint::PermissionRequest && call.holds.decision != Permission::Ask {
            break;
        }
        for hook in declared.spec.hooks.at(point, &found.called()) {
            let input_digest = digest(&call.input.exact).to_string();
            let asking = Asking {
                declared,
                hook,
                point,
                effect: declared.spec.policy.effect_of(&found.called()),
                given: told((by, found), (place.id, point, hook), (&call, &input_digest)),
                input_digest: &input_digest,
            };
            let take = |answer: &Answer| rewritten(answer, &call.input, &found.offer.input_schema);
            let (came, input) = ask(place, asking, take).await?;
            if let Some(input) = input {
                call.input = input;
            }
            call.takes(hook, came, by.agent.is_some());
            if call.holds.decision == Permission::Deny {
                return Ok(call);
            }
        }
    }
    Ok(call)
}

/// What a hook is told of a call that is not made yet.
fn told(
    (by, found): (&By<'_>, &Found),
    (id, point, hook): (InvocationId, HookPoint, &CallHook),
    (call, input_digest): (&Before, &str),
) -> Value {
    json!({
        "point": point, "hook": hook.name, "invocation_id": id,
        "agent": by.agent.map(|agent| agent.name.to_string()), "principal": by.caller.principal,
        "capability": found.name(), "kind": found.kind(), "effect": found.effect().class,
        "input": call.input.shown, "input_digest": input_digest,
        "permission": call.holds.decision, "rule": call.holds.rule,
    })
}

impl Before {
    /// Has a call be as a hook left it: the strictest counts.
    fn takes(&mut self, hook: &CallHook, came: Came, has_asker: bool) {
        let rule = SafeLabel::sanitized(&format!("hook-{}", hook.name));
        let holds = |decision, reason| PermissionView { decision, rule: rule.clone(), reason };
        let (answer, run) = match came {
            Came::Answered(answer, run) => (answer, run),
            Came::PassedOver(run) => return self.runs.push(run),
            Came::Stopped(why, run) => {
                self.runs.push(run);
                self.holds = holds(Permission::Deny, format!("hook `{}` failed: {why}", hook.name));
                return;
            }
        };
        self.runs.push(run);
        let reason = answer.reason.unwrap_or_else(|| format!("hook `{}` says so", hook.name));
        match answer.decision.unwrap_or(HookDecision::Continue) {
            HookDecision::Block | HookDecision::Deny => self.holds = holds(Permission::Deny, reason),
            // An operator is asked by nobody: who would be asked calls.
            HookDecision::Ask if has_asker => {
                self.is_fixed = true;
                self.holds = holds(Permission::Ask, reason);
            }
            HookDecision::Allow if self.holds.decision == Permission::Ask && !self.is_fixed => {
                self.holds = holds(Permission::Allow, reason);
            }
            HookDecision::Ask | HookDecision::Allow | HookDecision::Continue => {}
        }
    }
}

/// What a hook would have a call be given in place of what it was.
fn rewritten(answer: &Answer, input: &Input, schema: &Map<String, Value>) -> Result<Option<Input>, String> {
    let Some(updated) = &answer.updated_input else { return Ok(None) };
    if input.has_secrets {
        return Err("it rewrites what holds a secret, which it was not shown".to_owned());
    }
    checked(updated, schema).map(Some).map_err(|error| format!("what it would give: {}", error.message))
}

/// Shows what came of a call to those who are to see it; what they keep back nobody gets.
pub(super) async fn after(
    place: Place<'_>,
    asked: &InvocationRequested,
    (mut ended, mut output): (InvocationEnded, Vec<u8>),
) -> (InvocationEnded, Vec<u8>) {
    let point = match ended.state {
        InvocationState::Succeeded => HookPoint::PostToolUse,
        InvocationState::Failed => HookPoint::PostToolFailure,
        _ => return (ended, output),
    };
    if asked.backing != BackingKind::Connector {
        return (ended, output);
    }
    // One whose declaration is gone has no hooks any more, and nothing was called of it.
    let Ok(declared) = live::declared(place.shared, asked.owner.as_str()) else { return (ended, output) };
    let called = asked.kind.called(&asked.native_id);
    for hook in declared.spec.hooks.at(point, &called) {
        let value: Value = serde_json::from_slice(&output).unwrap_or_default();
        let given = json!({
            "point": point, "hook": hook.name, "invocation_id": place.id,
            "capability": asked.name(), "kind": asked.kind, "effect": asked.effect,
            "input_digest": asked.input_digest, "status": ended.state, "reason": ended.reason,
            "output": secrets::masked(value).0,
        });
        let effect = declared.spec.policy.effect_of(&called);
        let input_digest = &asked.input_digest;
        let asking = Asking { declared: &declared, hook, point, effect, given, input_digest };
        let keep_back = |ended: &mut InvocationEnded, why: &str| {
            ended.reason = Some(format!("hook `{}` keeps back what came of it: {why}", hook.name));
            ended.cause = Some(InvocationCause::Hook);
        };
        match ask(place, asking, |_| Ok(None)).await {
            Ok((Came::Answered(answer, run), _)) => {
                ended.hooks.push(run);
                let stops = matches!(answer.decision, Some(HookDecision::Block | HookDecision::Deny))
                    || answer.suppress_output;
                if stops {
                    keep_back(&mut ended, answer.reason.as_deref().unwrap_or("it says so"));
                    return (ended, Vec::new());
                }
                if let Some(updated) = answer.updated_tool_output {
                    output = serde_json::to_vec(&updated).unwrap_or_default();
                }
            }
            Ok((Came::PassedOver(run), _)) => ended.hooks.push(run),
            Ok((Came::Stopped(why, run), _)) => {
                ended.hooks.push(run);
                keep_back(&mut ended, &format!("it failed: {why}"));
                return (ended, Vec::new());
            }
            Err(error) => {
                keep_back(&mut ended, &format!("that it was asked could not be recorded: {}", error.message));
                return (ended, Vec::new());
            }
        }
    }
    (ended, output)
}

/// Asks one hook; what `take` makes of its answer is a part of it.
async fn ask(
    place: Place<'_>,
    asking: Asking<'_>,
    take: impl FnOnce(&Answer) -> Result<Option<Input>, String>,
) -> Result<(Came, Option<Input>), RpcError> {
    let given = serde_json::to_vec(&asking.given).unwrap_or_default();
    let mut draft = Draft::default();
    let (given_digest, given_bytes) = draft.body(given.clone());
    let Asking { hook, point, .. } = asking;
    let started = HookStarted {
        invocation_id: place.id,
        hook: hook.name.clone(),
        point,
        causation: place.causation,
        given_digest,
        given_bytes,
    };
    note(place, draft, Fact::HookStarted(started)).await?;
    place.shared.failpoint("hook.started");
    let begun = place.shared.record.monotonic_ms();
    let said = run(place, &asking, given).await;
    let took_ms = place.shared.record.monotonic_ms().saturating_sub(begun);
    match said.and_then(|said| read(&said, take)) {
        Ok(answered) => completed(place, &asking, answered, took_ms).await,
        Err(why) => failed(place, &asking, &why, took_ms).await.map(|came| (came, None)),
    }
}

async fn run(place: Place<'_>, asking: &Asking<'_>, given: Vec<u8>) -> Result<Vec<u8>, String> {
    let limit = Duration::from_millis(asking.hook.timeout_ms);
    match &asking.hook.run {
        CallHookRun::Exec(command) => {
            let program = live::hook_program(place.shared, asking.declared, command)?;
            ask_program(&program, &given, limit, ANSWER_BYTES_MAX).await
        }
        CallHookRun::Http(url) => ask_address(url, given, limit, ANSWER_BYTES_MAX).await,
    }
}

/// An answer, what it makes of the call, and its words as they came.
type Answered = (Answer, Option<Input>, Value);

fn read(
    said: &[u8],
    take: impl FnOnce(&Answer) -> Result<Option<Input>, String>,
) -> Result<Answered, String> {
    let value: Value = serde_json::from_slice(said)
        .map_err(|error| format!("it said something that is no JSON, at column {}", error.column()))?;
    let mut answer: Answer = serde_json::from_value(value.clone())
        .map_err(|error| format!("it said something that is not understood: {error}"))?;
    let input = take(&answer)?;
    answer.reason = answer.reason.map(|reason| cut(&reason, REASON_BYTES_MAX));
    answer.additional_context = answer.additional_context.map(|context| cut(&context, CONTEXT_BYTES_MAX));
    Ok((answer, input, value))
}

async fn completed(
    place: Place<'_>,
    asking: &Asking<'_>,
    (answer, input, value): Answered,
    took_ms: u64,
) -> Result<(Came, Option<Input>), RpcError> {
    let decision = answer.decision.unwrap_or(HookDecision::Continue);
    let run = HookRun {
        hook: asking.hook.name.clone(),
        point: asking.point,
        decision: Some(decision),
        reason: answer.reason.clone(),
        context: answer.additional_context.clone(),
        changed: input.is_some() || answer.updated_tool_output.is_some() || answer.suppress_output,
        took_ms,
    };
    let mut draft = Draft::default();
    let shown = serde_json::to_vec(&secrets::masked(value).0).unwrap_or_default();
    let (said_digest, said_bytes) = draft.body(shown);
    let fact = HookCompleted {
        invocation_id: place.id,
        hook: asking.hook.name.clone(),
        point: asking.point,
        causation: place.causation,
        decision,
        reason: answer.reason.clone(),
        input_digest: asking.input_digest.to_owned(),
        updated_digest: input.as_ref().map(|input| digest(&input.exact).to_string()),
        said_digest,
        said_bytes,
        took_ms,
    };
    note(place, draft, Fact::HookCompleted(fact)).await?;
    Ok((Came::Answered(answer, run), input))
}

async fn failed(place: Place<'_>, asking: &Asking<'_>, why: &str, took_ms: u64) -> Result<Came, RpcError> {
    let (hook, point) = (asking.hook.name.clone(), asking.point);
    let reason = cut(why, REASON_BYTES_MAX);
    let passed_over = asking.hook.is_passed_over(asking.effect);
    let run = HookRun {
        hook: hook.clone(),
        point,
        decision: None,
        reason: Some(reason.clone()),
        context: None,
        changed: false,
        took_ms,
    };
    let (invocation_id, causation) = (place.id, place.causation);
    let reason_of = reason.clone();
    let fact = HookFailed { invocation_id, hook, point, causation, reason: reason_of, passed_over, took_ms };
    note(place, Draft::default(), Fact::HookFailed(fact)).await?;
    if passed_over {
        let (connector, hook) = (&asking.declared.name, &asking.hook.name);
        tracing::warn!(%connector, %hook, reason, "a hook failed and is passed over");
        return Ok(Came::PassedOver(run));
    }
    Ok(Came::Stopped(reason, run))
}

async fn note(place: Place<'_>, mut draft: Draft, fact: Fact) -> Result<(), RpcError> {
    place.shared.record.add(&mut draft, place.stream, place.origin, fact);
    place.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
}

/// Words of a hook, fit to be shown.
fn cut(text: &str, bytes_max: usize) -> String {
    let clean = edgeplane_driver::render::clean(text);
    clean.get(..clean.floor_char_boundary(bytes_max)).unwrap_or_default().to_owned()
}
