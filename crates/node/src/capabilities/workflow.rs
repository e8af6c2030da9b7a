//! Workflows: resources that say which tasks are done in which order. A call of one is those tasks.
//!
//! Owns what becomes of a call: its tasks, of which the first has the call's UUID, become durable with its beginning;
//! whatever happens to them is read from the record, so that it does not matter which daemon looks. How a task is done is
//! the business of [`crate::work`]. What a step is given is quoted below what is to be done in it, and is no part of that.

mod told;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use edgeplane_lifecycle::task::Input;
use edgeplane_manifest::{WorkflowSpec, WorkflowStep};
use edgeplane_proof::digest;
use edgeplane_store::{InvocationRow, ResourceFilter, ResourceRow, RunRow, TaskRow};
use edgeplane_types::{
    AgentId, AgentName, Authority, BackingKind, CapabilityId, CapabilityKind, ErrorName, Fact, InvocationId,
    InvocationState, Priority, ResourceKind, ResourceUri, StreamName, TaskId, TaskState, Tenant, TurnId,
    Visibility,
    fact::{Actor, InvocationEnded, InvocationRequested, TaskCancelRequested, TaskCreated, TaskPlan},
};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    door::stream_of,
    ending::{end_as, ending},
    input::body_of,
    offered::{Backing, Found, Offer, Unfound, id_from, no_capability},
};
use crate::{
    record::{Draft, Origin, chain},
    resources::{OF_KIND_MAX, value},
    shared::Shared,
    work::{self, Change, Fence},
};
use told::{Given, told};

/// By which rule holds what a workflow says of calls, and by which its tasks are gone on with.
pub(super) const RULE: &str = "workflow";

/// What is called of a workflow.
const RUN: &str = "run";

/// Why the tasks of a call are cancelled whose time is over.
const TIME_OVER: &str = "the time of its workflow is over";

/// Longest output of a step that is shown with the end of a call; the rest is read as the output of its turn.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// A workflow as it is declared.
#[derive(Debug, Clone)]
pub(crate) struct Workflow {
    pub(super) name: AgentName,
    pub(super) spec: WorkflowSpec,
}

/// The first task of a call.
pub(super) fn root_of(id: InvocationId) -> TaskId {
    TaskId::from_bytes(*id.as_bytes())
}

/// The task of a step of a call: made of both, so that the same step has the same task at every daemon.
fn task_of(id: InvocationId, step: &AgentName) -> TaskId {
    let made = digest(format!("{id}\0{step}").as_bytes());
    let mut random = [0; 10];
    random.iter_mut().zip(made.as_bytes()).for_each(|(to, from)| *to = *from);
    // The first six bytes of a UUID of this version are its time.
    let mut time = [0; 8];
    time.iter_mut().skip(2).zip(id.as_bytes()).for_each(|(to, from)| *to = *from);
    TaskId::from_parts(u64::from_be_bytes(time), random)
}

fn name_of(name: &str) -> String {
    format!("{}{name}/{RUN}", BackingKind::Workflow.prefix())
}

/// The id of a workflow as a capability.
pub(super) fn id_of(name: &AgentName) -> CapabilityId {
    id_from(&name_of(name.as_str()))
}

/// Every workflow that is declared.
pub(super) async fn all(shared: &Arc<Shared>) -> Result<Vec<Found>, RpcError> {
    let rows = shared.record.read(move |reader| reader.resources(&filter(), most())).await?;
    // One that cannot be read is told to whoever asks for it by name.
    Ok(rows.iter().filter_map(|row| found(shared, row).ok()).collect())
}

fn filter() -> ResourceFilter {
    ResourceFilter { kind: Some(ResourceKind::Workflow), ..ResourceFilter::default() }
}

fn most() -> usize {
    usize::try_from(OF_KIND_MAX).unwrap_or(usize::MAX)
}

/// The workflow of this name or id; nothing if it is none of one.
pub(super) fn find(
    shared: &Shared,
    (text, wanted): (&str, Option<CapabilityId>),
) -> Result<Option<Found>, Unfound> {
    if let Some(rest) = text.strip_prefix(BackingKind::Workflow.prefix()) {
        let name = rest.strip_suffix(&format!("/{RUN}")).and_then(|name| name.parse::<AgentName>().ok());
        let uri = name.and_then(|name| ResourceUri::new(ResourceKind::Workflow, name));
        let row = match uri {
            Some(uri) => shared.record.look_up(|reader| reader.resource(&uri))?,
            None => None,
        };
        let row = row.filter(|row| row.digest.is_some()).ok_or_else(|| no_capability(text))?;
        return Ok(Some(found(shared, &row)?));
    }
    let Some(wanted) = wanted else { return Ok(None) };
    let rows = shared.record.look_up(|reader| reader.resources(&filter(), most()))?;
    let row = rows.iter().find(|row| id_from(&name_of(&row.path)) == wanted);
    Ok(row.map(|row| found(shared, row)).transpose()?)
}

fn found(shared: &Shared, row: &ResourceRow) -> Result<Found, RpcError> {
    let held = shared.record.look_up(|reader| value::held_by(reader, row))??;
    let wrong = |what: String| {
        RpcError::new(
            ErrorName::Unavailable,
            format!("workflow `{}` is not declared as one: {what}", row.path),
        )
    };
    let spec: WorkflowSpec = serde_json::from_value(held).map_err(|error| wrong(error.to_string()))?;
    let name: AgentName = row.path.parse().map_err(|_bad| wrong("its name is none".to_owned()))?;
    let input_schema = match spec.input.as_ref().map(|schema| &schema.0) {
        Some(Value::Object(schema)) => schema.clone(),
        _ => Map::from_iter([("type".to_owned(), Value::from("object"))]),
    };
    let offer = Offer {
        kind: CapabilityKind::Workflow,
        native_id: RUN.to_owned(),
        title: None,
        description: spec.description.clone(),
        input_schema,
        output_schema: None,
        annotations: None,
        digest: row.digest.clone().unwrap_or_default(),
    };
    Ok(Found { backing: Backing::Workflow(Box::new(Workflow { name, spec })), offer })
}

/// Refuses a call that could not be made: one that is given a secret, or whose agents are not there.
pub(super) fn check(shared: &Shared, found: &Found, has_secrets: bool) -> Result<(), RpcError> {
    let Backing::Workflow(workflow) = &found.backing else { return Ok(()) };
    if has_secrets {
        let what = "`input` holds what looks like a secret, and what a workflow is given stands in its tasks";
        return Err(
            RpcError::new(ErrorName::InvalidParams, what).hint("name where the secret is, not the secret")
        );
    }
    assigned(shared, &workflow.spec).map(drop)
}

/// Whose work each step is, in the order of the steps.
fn assigned(shared: &Shared, spec: &WorkflowSpec) -> Result<Vec<AgentId>, RpcError> {
    let fits = |step: &WorkflowStep| -> Result<AgentId, RpcError> {
        let nobody = |who: String| {
            let what = format!("step `{}` is the work of {who}, and there is none", step.name);
            RpcError::new(ErrorName::Unavailable, what)
        };
        if let Some(name) = &step.agent {
            let agent = shared.agent(&Tenant::default(), name.as_str());
            return agent.map(|agent| agent.id).map_err(|_none| nobody(format!("agent `{name}`")));
        }
        let fitting: Vec<AgentId> = shared
            .agents()
            .into_iter()
            .filter(|agent| agent.set.is_none() && agent.parent.is_none())
            .filter(|agent| {
                let labels = &agent.profile().labels;
                step.labels.iter().all(|(key, value)| labels.get(key.as_str()) == Some(value))
            })
            .map(|agent| agent.id)
            .collect();
        // Steps of one label are spread over those who have it.
        let place = spec.steps.iter().position(|other| other.name == step.name).unwrap_or(0);
        let chosen = place.checked_rem(fitting.len()).and_then(|place| fitting.get(place)).copied();
        chosen.ok_or_else(|| nobody("an agent with these labels".to_owned()))
    };
    spec.steps.iter().map(fits).collect()
}

/// The steps, each behind those that it depends on.
fn ordered(spec: &WorkflowSpec) -> Vec<(usize, &WorkflowStep)> {
    let mut left: Vec<(usize, &WorkflowStep)> = spec.steps.iter().enumerate().collect();
    let mut done: Vec<(usize, &WorkflowStep)> = Vec::new();
    while let Some(place) = left.iter().position(|(_, step)| {
        step.depends_on.iter().all(|other| done.iter().any(|(_, before)| before.name == *other))
    }) {
        done.push(left.remove(place));
    }
    done
}

/// Adds to the beginning of a call that there are its tasks. Those that are told what came of others begin as drafts.
pub(super) fn begin(
    shared: &Shared,
    draft: &mut Draft,
    asked: &InvocationRequested,
    (input, by): (&[u8], &Actor),
) -> Result<(), RpcError> {
    let id = asked.invocation_id;
    let (spec, root) = (spec_of(shared, asked)?, root_of(id));
    let (agents, input) =
        (assigned(shared, &spec)?, serde_json::from_slice::<Value>(input).unwrap_or_default());
    let origin = Origin::actor(by.clone());
    let whole = TaskPlan { title: asked.name(), ..plan(None, 1) };
    let objective = spec.description.clone().unwrap_or_else(|| asked.name());
    let created = TaskCreated { state: TaskState::Draft, ..created(asked, (root, None), whole) };
    work::add_task(shared, draft, created, (objective.into_bytes(), true), &origin);
    for (place, step) in ordered(&spec) {
        let waits = step.waits_for_words();
        let given = |piece: &str| Some(Given::input(&input, piece));
        let objective = if waits { step.text.clone() } else { told(step, given, |_| None) };
        let step_plan = TaskPlan {
            title: format!("{}: {}", asked.owner, step.name),
            acceptance: step.acceptance.iter().map(|criterion| criterion.0.clone()).collect(),
            limits: step.limits.of_run(),
            ..plan(agents.get(place).copied(), step.attempts)
        };
        let created = TaskCreated {
            depends_on: step.depends_on.iter().map(|other| task_of(id, other)).collect(),
            state: if waits { TaskState::Draft } else { TaskState::Accepted },
            ..created_of_step(asked, (root, step), step_plan)
        };
        work::add_task(shared, draft, created, (objective.into_bytes(), !waits), &origin);
    }
    Ok(())
}

fn plan(assignee: Option<AgentId>, attempts_max: u32) -> TaskPlan {
    TaskPlan {
        title: String::new(),
        objective_digest: String::new(),
        objective_bytes: 0,
        assignee,
        thread: None,
        priority: Priority::Normal,
        labels: BTreeMap::new(),
        acceptance: Vec::new(),
        limits: edgeplane_types::RunLimits::default(),
        attempts_max,
    }
}

fn created_of_step(
    asked: &InvocationRequested,
    (root, step): (TaskId, &WorkflowStep),
    plan: TaskPlan,
) -> TaskCreated {
    created(asked, (task_of(asked.invocation_id, &step.name), Some(root)), plan)
}

fn created(
    asked: &InvocationRequested,
    (task_id, parent_id): (TaskId, Option<TaskId>),
    plan: TaskPlan,
) -> TaskCreated {
    TaskCreated {
        task_id,
        root_id: root_of(asked.invocation_id),
        parent_id,
        kind: Some(edgeplane_types::SafeLabel::sanitized(RULE)),
        visibility: Visibility::default(),
        plan,
        depends_on: Vec::new(),
        // An agent's words weigh no more than an agent's; what led to them may lower that.
        authority: if asked.epoch.is_some() { Authority::Delegated } else { Authority::Trusted },
        epoch: asked.epoch,
        causation: asked.causation,
        state: TaskState::Accepted,
    }
}

/// What a workflow said when it was called, whatever it says by now.
fn spec_of(shared: &Shared, asked: &InvocationRequested) -> Result<WorkflowSpec, RpcError> {
    let held = body_of(shared, &asked.capability_digest)?;
    held.and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| {
        let what = format!("what `{}` said is damaged or erased", asked.name());
        RpcError::new(ErrorName::Unavailable, what)
    })
}

/// Has the tasks of a call begun, and waits for what ends them from outside.
pub(super) fn make(
    shared: &Arc<Shared>,
    asked: &InvocationRequested,
    stop: CancellationToken,
    left: Duration,
) {
    let id = asked.invocation_id;
    let root = root_of(id);
    // Of what is not read here the next look learns.
    let parts = shared.record.look_up(|reader| reader.task_parts(&root)).unwrap_or_default();
    shared.work.settle(std::iter::once(root).chain(parts.iter().map(|part| part.id)));
    let Some(over) = shared.capabilities.end_of(id) else { return };
    let of_task = Arc::clone(shared);
    shared.tasks.spawn(async move {
        let shared = of_task;
        // Cancel-safe: no arm holds anything.
        let why = tokio::select! {
            () = over.cancelled() => return,
            () = shared.stopping.cancelled() => return,
            () = stop.cancelled() => "its workflow was taken back",
            () = tokio::time::sleep(left) => TIME_OVER,
        };
        cancel(&shared, root, why).await;
    });
}

/// Has a task end, with all its parts. One that is over stays as it is.
async fn cancel(shared: &Arc<Shared>, task_id: TaskId, why: &str) {
    let facts = vec![Fact::TaskCancelRequested(TaskCancelRequested { task_id, reason: why.to_owned() })];
    let change = Change { input: Some(Input::Cancel), facts, reason: why.to_owned(), by_run: None };
    match work::change(shared, task_id, Fence::default(), change, &Origin::node(RULE)).await {
        Ok(()) => {}
        Err(error) if error.name() == ErrorName::InvalidState => {}
        Err(error) => tracing::warn!(task = %task_id, error = chain(&error), "it could not be cancelled"),
    }
}

/// Goes on with a call that a former daemon left.
pub(super) async fn take_up(shared: &Arc<Shared>, row: &InvocationRow) -> Result<(), RpcError> {
    let passed = shared.record.now().millis_since(row.begun_at.unwrap_or(row.asked_at));
    let left = Duration::from_millis(row.asked.timeout_ms.saturating_sub(passed));
    let stop = shared.capabilities.enter(&row.asked).stop.clone();
    make(shared, &row.asked, stop, left);
    look(shared, row).await
}

/// Looks at the call that a task is of, if it is of one.
pub(super) async fn heard(shared: &Arc<Shared>, stream: StreamName) {
    let StreamName::Task(root) = stream else { return };
    let id = InvocationId::from_bytes(*root.as_bytes());
    if !shared.capabilities.is_running(id) {
        return;
    }
    let row = shared.record.look_up(|reader| reader.invocation(&id));
    let looked = match row {
        Ok(Some(row)) if row.asked.backing == BackingKind::Workflow => look(shared, &row).await,
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = looked {
        tracing::warn!(invocation = %id, error = chain(&error), "its tasks cannot be gone on with");
    }
}

/// A step with its task as it is now.
struct Part<'a> {
    step: &'a WorkflowStep,
    row: TaskRow,
    last: Option<RunRow>,
}

/// Brings about what follows from how the tasks of a call are: one that is told what came of others begins when they are
/// completed, one that never can is cancelled, and the call is over when all are.
pub(super) async fn look(shared: &Arc<Shared>, row: &InvocationRow) -> Result<(), RpcError> {
    if row.state != InvocationState::Running {
        return Ok(());
    }
    let id = row.asked.invocation_id;
    let spec = spec_of(shared, &row.asked)?;
    let parts = shared.record.look_up(|reader| {
        let mut parts = Vec::with_capacity(spec.steps.len());
        for step in &spec.steps {
            let task = task_of(id, &step.name);
            if let Some(row) = reader.task(&task)? {
                parts.push(Part { step, row, last: reader.last_run(&task)? });
            }
        }
        Ok(parts)
    })?;
    for part in parts.iter().filter(|part| !part.row.state.is_over() && !part.row.is_cancelled) {
        let needs = || parts.iter().filter(|other| part.step.depends_on.contains(&other.step.name));
        let undone = |other: &&Part<'_>| other.row.state.is_over() && other.row.state != TaskState::Completed;
        if let Some(other) = needs().find(undone) {
            let why = format!("step `{}`, which it depends on, is {}", other.step.name, other.row.state);
            cancel(shared, part.row.id, &why).await;
        } else if part.row.state == TaskState::Draft
            && needs().all(|other| other.row.state == TaskState::Completed)
        {
            fill_in(shared, row, part, &parts).await?;
        }
    }
    if parts.iter().all(|part| part.row.state.is_over()) {
        end_with(shared, row, &parts).await?;
    }
    Ok(())
}

/// Tells a step what came of those before it, and has it begun.
async fn fill_in(
    shared: &Arc<Shared>,
    row: &InvocationRow,
    part: &Part<'_>,
    parts: &[Part<'_>],
) -> Result<(), RpcError> {
    let input = body_of(shared, &row.asked.shown_digest)?;
    let input: Value = input.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let mut outputs = BTreeMap::new();
    for other in parts {
        outputs.insert(other.step.name.as_str(), output(shared, other)?);
    }
    let given = |key: &str| Some(Given::input(&input, key));
    let objective = told(part.step, given, |name| outputs.get(name).cloned().flatten());
    let (task, origin) = (part.row.id, Origin::node(RULE));
    let plan = (Box::new(|plan| plan) as work::Replan, Some(objective.into_bytes()));
    work::update(shared, task, Fence::default(), plan, &origin).await?;
    let reason = "all that it is told of is completed".to_owned();
    let change = Change { input: Some(Input::Queue), facts: Vec::new(), reason, by_run: None };
    work::change(shared, task, Fence::default(), change, &origin).await
}

/// What came of a step, with what it weighs, if it has a turn that gave something.
fn output(shared: &Shared, part: &Part<'_>) -> Result<Option<Given>, RpcError> {
    let Some(run) = &part.last else { return Ok(None) };
    let turn = TurnId::from_bytes(*run.id.as_bytes());
    let committed = shared.record.look_up(|reader| reader.turn_output(&turn))?;
    let Some(committed) = committed else { return Ok(None) };
    let Fact::TurnCompleted { output_digest, authority, .. } = &committed.event.fact else { return Ok(None) };
    let bytes = body_of(shared, output_digest)?.unwrap_or_default();
    let agent = shared.agent_by_id(run.started.agent_id).map(|agent| agent.name.to_string());
    let by = agent.unwrap_or_else(|| run.started.agent_id.to_string());
    let weight = authority.unwrap_or(Authority::External);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(Given { origin: format!("by agent {by}, {weight}"), text }))
}

/// Ends a call all of whose tasks are over, with what came of each.
async fn end_with(shared: &Arc<Shared>, row: &InvocationRow, parts: &[Part<'_>]) -> Result<(), RpcError> {
    let id = row.asked.invocation_id;
    let root = root_of(id);
    let story = shared.record.look_up(|reader| reader.task_story(&root))?;
    let mut steps = Map::new();
    for part in parts {
        let story = shared.record.look_up(|reader| reader.task_story(&part.row.id))?;
        let ended = part.last.as_ref().and_then(|run| run.ended.as_ref());
        let words = output(shared, part)?.map(|given| {
            let end = given.text.floor_char_boundary(OUTPUT_BYTES_MAX);
            given.text.get(..end).unwrap_or_default().to_owned()
        });
        let mut shown = json!({
            "task_id": part.row.id, "state": part.row.state,
            "reason": story.and_then(|story| story.moved).map(|moved| moved.reason),
            "output_id": ended.and_then(|(ended, _)| ended.output_id), "output": words,
        });
        if let Some(entries) = shown.as_object_mut() {
            entries.retain(|_, value| !value.is_null());
        }
        steps.insert(part.step.name.to_string(), shown);
    }
    let undone: Vec<String> = parts
        .iter()
        .filter(|part| part.row.state != TaskState::Completed)
        .map(|part| format!("`{}` is {}", part.step.name, part.row.state))
        .collect();
    let cancelled = story.as_ref().and_then(|story| story.cancelled.clone());
    let (state, reason) = match (undone.is_empty(), cancelled) {
        (true, _) => (InvocationState::Succeeded, None),
        (false, Some(why)) if why == TIME_OVER => (InvocationState::OutcomeUnknown, Some(why)),
        (false, Some(why)) => (InvocationState::Cancelled, Some(why)),
        (false, None) => (InvocationState::Failed, Some(undone.join(", "))),
    };
    let output = serde_json::to_vec(&json!({ "task_id": root, "steps": steps })).unwrap_or_default();
    let ended = InvocationEnded { reason, ..ending(id, state, String::new()).0 };
    shared.failpoint("workflow.ending");
    end_as(shared, (stream_of(shared, row.agent), Origin::node(RULE)), id, (ended, output)).await;
    // Nothing of it was ever begun: then its first task waits for what never comes.
    if story.is_some_and(|story| matches!(story.row.state, TaskState::Queued | TaskState::Blocked)) {
        cancel(shared, root, "none of its steps was begun").await;
    }
    Ok(())
}
