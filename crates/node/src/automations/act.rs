//! What a firing does: one call of a method, as whoever declared the automation, with the firing as its key.

use std::sync::Arc;

use edgeplane_manifest::{AutomationAct, AutomationTask};
use edgeplane_store::{FiringRow, Reader, StoredBody};
use edgeplane_types::{
    ActsAs, Assurance, Authority, AutomationCause, Channel, ErrorName, Fact, FiringId, FiringState, Proof,
    SafeLabel, Scope, SpanId, StreamName, TaskId, TraceId, Traceparent, error::Effect, fact::AutomationEnded,
};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{
    InForce, RULE,
    declared::check_method,
    fill::{self, Source},
    in_force,
};
use crate::{
    caller::{AGENT_AUTHORITY_MAX, ByAutomation, Caller, CallingAgent, Living as _},
    record::{Draft, Origin, chain},
    server,
    shared::Shared,
    tokens,
};

/// Longest reason of a failure that is kept, in characters.
const REASON_CHARS_MAX: usize = 1_024;

/// How long an act may take, in milliseconds; what is not done by then is not known to be.
const ACT_MS_MAX: u64 = 10 * 60 * 1_000;

/// What is said of an event by the node itself, whoever caused it.
const OWN_OF_EVENTS: &[&str] = &["id", "type", "seq", "ts", "stream", "pos"];

/// A call that a firing makes.
#[derive(Debug, Clone, PartialEq)]
struct Deed {
    method: String,
    params: Value,
    /// Whether there are words of others in it.
    is_foreign: bool,
    /// Whether the parameters name what is made, so that making it again makes nothing.
    names_itself: bool,
}

/// How it ended.
struct End {
    state: FiringState,
    error: Option<ErrorName>,
    reason: Option<String>,
}

impl End {
    fn failed(error: &RpcError) -> Self {
        let is_unknown = error.name() == ErrorName::OutcomeUnknown || error.data.effect == Effect::Unknown;
        let state = if is_unknown { FiringState::OutcomeUnknown } else { FiringState::Failed };
        Self { state, error: Some(error.name()), reason: Some(error.message.clone()) }
    }

    fn withdrawn(is_left_behind: bool) -> Self {
        let (state, reason) = if is_left_behind {
            let reason = "the automation was withdrawn, and whether a former daemon had acted is not known";
            (FiringState::OutcomeUnknown, reason)
        } else {
            (FiringState::Withdrawn, "the automation was withdrawn before anything was done")
        };
        Self { state, error: None, reason: Some(reason.to_owned()) }
    }
}

/// Does what a firing is to do, and tells the record what came of it. `is_left_behind`: a former daemon may have begun.
pub(super) async fn act(shared: Arc<Shared>, row: FiringRow, is_left_behind: bool) {
    shared.failpoint("automation.fired");
    let end = match perform(&shared, &row, is_left_behind).await {
        Ok(end) => end,
        Err(error) => End::failed(&error),
    };
    shared.failpoint("automation.acted");
    let shown = |reason: String| -> String { reason.chars().take(REASON_CHARS_MAX).collect() };
    let ended = AutomationEnded {
        firing_id: row.fired.firing_id,
        automation: row.fired.automation,
        state: end.state,
        error: end.error,
        reason: end.reason.map(shown),
    };
    let mut draft = Draft::default();
    let stream = StreamName::Node(shared.identity.id);
    shared.record.add(&mut draft, stream, &Origin::node(RULE), Fact::AutomationEnded(ended));
    if let Err(error) = shared.record.commit(draft.critical()).await {
        // The next daemon asks for the same again, under the same key.
        tracing::warn!(error = %chain(&error), "what came of a firing is not in the record");
    }
}

async fn perform(shared: &Arc<Shared>, row: &FiringRow, is_left_behind: bool) -> Result<End, RpcError> {
    let fired = &row.fired;
    let (name, number) = (fired.automation.clone(), fired.version);
    let current = in_force::one(shared, name.as_str())?;
    let is_by_hand = matches!(fired.cause, AutomationCause::Hand { .. });
    if !current.is_some_and(|current| current.spec.enabled || is_by_hand) {
        return Ok(End::withdrawn(is_left_behind));
    }
    let found = shared.record.look_up(|reader| in_force::version(reader, &name, number))?;
    let gone = || RpcError::new(ErrorName::NotFound, format!("automation `{name}` has no version {number}"));
    let automation = found.ok_or_else(gone)?;
    let source = shared.record.look_up(|reader| source(reader, row))?;
    let source = source.map_err(|why| RpcError::new(ErrorName::InvalidParams, why))?;
    let deed = deed(&automation, fired.firing_id, &source)
        .map_err(|why| RpcError::new(ErrorName::InvalidParams, why))?;
    let caller = caller(shared, &automation, row, deed.is_foreign)?;
    check_method(&caller, &deed.method)?;
    let id = fired.firing_id;
    let mut ctx = json!({ "traceparent": traceparent(id), "deadline_ms": ACT_MS_MAX });
    if !deed.names_itself {
        ctx["idempotency_key"] = Value::from(id.to_string());
    }
    let mut params = deed.params;
    params["ctx"] = ctx;
    server::call_for_automation(shared, caller, (&deed.method, params)).await?;
    Ok(End { state: FiringState::Succeeded, error: None, reason: None })
}

/// The trace of what a firing does has its UUID.
fn traceparent(id: FiringId) -> String {
    let trace_id = TraceId::from_bytes(*id.as_bytes());
    let span_id = SpanId::derived(id.as_bytes(), "automation");
    trace_id.map(|trace_id| Traceparent { trace_id, span_id, flags: 1 }.to_string()).unwrap_or_default()
}

/// What had an automation fire, for its placeholders.
fn source(reader: &Reader, row: &FiringRow) -> Result<Result<Source, String>, edgeplane_store::ReadError> {
    let fired = &row.fired;
    let firing = json!({ "id": fired.firing_id, "automation": fired.automation, "at": row.at });
    let body = match fired.cause.body_digest().map(|digest| digest.parse()) {
        None => None,
        Some(Err(_)) => return Ok(Err("what had it fire cannot be read any more".to_owned())),
        Some(Ok(digest)) => match reader.body(&digest)? {
            Some(StoredBody::Bytes(bytes)) => Some(bytes),
            Some(StoredBody::Erased { .. }) | None => {
                return Ok(Err("what had it fire cannot be read any more".to_owned()));
            }
        },
    };
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    let (event, own): (Value, &'static [&'static str]) = match &fired.cause {
        AutomationCause::Event { pos, .. } => {
            let found = reader.events_from_pos(*pos, 1, &[])?;
            let mut said = found.first().and_then(|found| serde_json::to_value(&found.event).ok());
            if let Some(said) = &mut said {
                said["pos"] = Value::from(*pos);
            }
            (said.unwrap_or_default(), OWN_OF_EVENTS)
        }
        AutomationCause::Schedule { due_at, .. } => {
            (json!({ "type": "schedule", "due_at": due_at }), &["type", "due_at"])
        }
        AutomationCause::Webhook { delivery, is_json, .. } => {
            let bytes = body.unwrap_or_default();
            let body = match is_json {
                true => read(&bytes),
                false => Value::from(String::from_utf8_lossy(&bytes)),
            };
            (json!({ "type": "webhook", "delivery": delivery, "body": body }), &["type"])
        }
        AutomationCause::Hand { .. } => match body {
            Some(bytes) => (read(&bytes), &[]),
            None => (json!({ "type": "hand" }), &["type"]),
        },
    };
    Ok(Ok(Source { event, firing, own }))
}

/// The call that an automation makes for a firing.
fn deed(automation: &InForce, id: FiringId, source: &Source) -> Result<Deed, String> {
    match &automation.spec.act {
        AutomationAct::Method(method) => {
            let filled = fill::fill(&Value::Object(method.params.0.clone()), source)?;
            Ok(Deed {
                method: method.name.clone(),
                params: filled.value,
                is_foreign: filled.is_foreign,
                names_itself: false,
            })
        }
        AutomationAct::Task(task) => {
            let filled = fill::fill(&json!({ "title": task.title, "objective": task.text }), source)?;
            let id = TaskId::from_bytes(*id.as_bytes());
            let (method, params) = task_params(task, id, &filled.value);
            Ok(Deed { method: method.to_owned(), params, is_foreign: filled.is_foreign, names_itself: true })
        }
    }
}

/// A task is made under the firing's UUID. For one of several agents it is the only item of a job, which is dealt out.
fn task_params(task: &AutomationTask, id: TaskId, words: &Value) -> (&'static str, Value) {
    let (title, objective) = (words["title"].clone(), words["objective"].clone());
    let mut params = json!({
        "title": title, "priority": task.priority, "limits": task.limits, "attempts": task.attempts,
    });
    if let Some(agent) = &task.agent {
        params["task_id"] = json!(id);
        params["agent"] = json!(agent);
        params["labels"] = json!(task.labels);
        if !objective.is_null() {
            params["objective"] = objective;
        }
        return ("runtime/task.create", params);
    }
    params["job_id"] = json!(id);
    params["labels"] = json!(task.for_labels);
    params["items"] = json!([{ "input": if objective.is_null() { title } else { objective } }]);
    ("runtime/job.create", params)
}

/// As whom a firing acts: whoever declared the automation, as they stand now.
fn caller(
    shared: &Shared,
    automation: &InForce,
    row: &FiringRow,
    is_foreign: bool,
) -> Result<Caller, RpcError> {
    let is_web = matches!(row.fired.cause, AutomationCause::Webhook { .. });
    // Words that others put in are theirs: nobody is to follow them because an automation passes them on.
    let words = match (is_foreign, is_web) {
        (false, _) => Authority::Trusted,
        (true, false) => Authority::External,
        (true, true) => Authority::Untrusted,
    };
    let acts_as = &automation.acts_as;
    let base = standing(shared, acts_as)?;
    let channel = match (is_foreign && is_web, acts_as.agent_id) {
        (true, _) => Some(Channel::Web),
        (false, Some(_)) => None,
        (false, None) => Some(Channel::Workflow),
    };
    let authority_max =
        base.authority_max.at_most(acts_as.authority).at_most(AGENT_AUTHORITY_MAX).at_most(words);
    let by = ByAutomation { name: automation.name.clone(), channel, hops: row.fired.hops };
    Ok(Caller { authority_max, automation: Some(by), ..base })
}

fn standing(shared: &Shared, acts_as: &ActsAs) -> Result<Caller, RpcError> {
    let gone =
        |what: String| RpcError::new(ErrorName::PermissionDenied, format!("{what}: rule who-declared-it"));
    if let Some(id) = acts_as.agent_id {
        let agent = shared
            .agent_by_id(id)
            .filter(|agent| agent.summary.borrow().phase != edgeplane_types::Phase::Retired);
        let agent = agent.ok_or_else(|| gone(format!("agent `{}` is retired", acts_as.principal)))?;
        let epoch = agent.summary.borrow().epoch;
        let agent = CallingAgent { id, name: agent.name.clone(), epoch };
        return Ok(Caller { proof: Proof::Node, ..Caller::driver(agent, shared.assurance()) });
    }
    if let Some(id) = acts_as.token_id {
        let row = shared.record.look_up(|reader| reader.token(&id))?;
        let row = row.ok_or_else(|| gone(format!("token {id} is not known")))?;
        let caller = tokens::of_name(shared, row);
        tokens::check_alive(shared, &caller)?;
        return Ok(caller);
    }
    if acts_as.principal == SafeLabel::sanitized("unknown") {
        return Err(gone("nobody is known to have declared it".to_owned()));
    }
    Ok(Caller {
        agent: None,
        principal: acts_as.principal.clone(),
        proof: Proof::Uid,
        assurance: Assurance::Open,
        authority_max: acts_as.authority,
        note: None,
        roles: Vec::new(),
        // All that a token could allow; what no token is enough for, no automation is, either.
        scopes: Some(Scope::ALL.iter().copied().filter(|scope| *scope != Scope::Delegate).collect()),
        bears: None,
        speaks_for: None,
        automation: None,
    })
}
