//! Subagents: who may start, see and end them, and how they are shown.
//!
//! What changes goes through [`crate::subagents`]; everything that is shown is read from the record.

mod view;
mod wait;

use edgeplane_lifecycle::Input;
use edgeplane_manifest::{Driver, Manifest};
use edgeplane_store::SubagentRow;
use edgeplane_types::{
    AgentId, AgentName, ContextIsolation, ErrorName, OnParentExit, Phase, PolicyAction, RunId,
    SubagentStatus, TaskId, TaskState, ThreadId, Visibility, WorkspaceIsolation,
    fact::{Cause, TaskCreated, TaskPlan, ThreadParent},
};
use edgeplane_wire::{
    api::{
        message::{SignalParams, SignalResult},
        subagent::{
            MANIFEST_BYTES_MAX, SubagentChangeParams, SubagentSendParams, SubagentSpawnParams, SubagentTask,
            SubagentView,
        },
    },
    rpc::RpcError,
};

use super::{
    Session, agent, apply,
    conversation::{check_chosen, checked_labels, checked_reason},
    messages, terminals,
    work::{checked_acceptance, checked_attempts, checked_objective, needed_title, seen, weigh},
};
use crate::{
    agent::{AgentHandle, Command, LifeRequest, newest_given},
    gate::Asked,
    record::Origin,
    subagents::{self, Forked, NewChild, NewTask, Overrides},
};

pub(in crate::server) use view::list;
use view::view;
pub(in crate::server) use wait::wait;

/// How many letters of a child's id its name ends with. With so many random ones two of them are the same once in
/// sixteen million.
const NAME_END: usize = 6;

/// Longest name.
const NAME_MAX: usize = 63;

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn denied(session: &Session, what: &str) -> RpcError {
    let who = &session.caller.principal;
    RpcError::new(ErrorName::PermissionDenied, format!("`{who}` {what}: rule own-subagents"))
}

pub(in crate::server) async fn spawn(
    session: &Session,
    params: SubagentSpawnParams,
) -> Result<SubagentView, RpcError> {
    let parent = parent(session, params.parent.as_deref())?;
    if let Some(id) = &params.subagent_id {
        check_chosen(id.as_bytes(), "`subagent_id`")?;
    }
    let request = serde_json::to_vec(&params).map_err(|error| {
        RpcError::new(ErrorName::Internal, format!("the request cannot be kept: {error}"))
    })?;
    let id: AgentId = params.subagent_id.unwrap_or_else(|| session.shared.record.mint().id());
    let (of_parent, _generation) = parent.ask(Command::Manifest).await?;
    let manifest = manifest(session, &params, (&parent, &of_parent), id)?;
    let children_max = match session.caller.is_operator() {
        true => None,
        false => Some(of_parent.spec.subagents.map_or(0, |allowed| allowed.max)),
    };
    let on_parent_exit = params.on_parent_exit.unwrap_or(match params.task {
        Some(_) => OnParentExit::Close,
        None => OnParentExit::Keep,
    });
    let task = params.task.map(|task| new_task(session, &task, id)).transpose()?;
    if session.caller.agent.is_some() {
        let asked = Asked::act(PolicyAction::Spawn, &session.caller, &parent);
        session.shared.gate.decide(&session.shared, &asked)?;
    }
    let context = match params.isolation.context {
        ContextIsolation::Forked => context(session, &parent, &manifest)?,
        ContextIsolation::Fresh => None,
    };
    let origin = Origin::actor(session.caller.actor());
    let is_known = session.shared.record.look_up(|reader| reader.subagent(&id))?.is_some();
    let files = match params.isolation.workspace {
        WorkspaceIsolation::Forked if !is_known => {
            Some(Forked::of(&session.shared, &parent, (id, &manifest.metadata.name), &origin).await?)
        }
        _ => None,
    };
    let new = NewChild {
        id,
        parent,
        children_max,
        manifest,
        isolation: params.isolation,
        on_parent_exit,
        context,
        files,
        request_digest: edgeplane_proof::digest(&request).to_string(),
        task,
    };
    let replayed = Box::pin(subagents::spawn(&session.shared, new, &origin)).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    view(session, id)
}

/// Whose child it is to be: of whoever asks, or of whom an operator names.
fn parent(session: &Session, named: Option<&str>) -> Result<AgentHandle, RpcError> {
    let own = session.caller.agent.as_ref().map(|own| own.id.to_string());
    let Some(name) = named.or(own.as_deref()) else {
        return Err(invalid("say under which agent it is to be").hint("name it as `parent`"));
    };
    let handle = agent(session, name)?;
    if session.caller.is_operator() || session.caller.is_agent(handle.id) {
        return Ok(handle);
    }
    Err(denied(session, &format!("starts agents under itself only, not under `{}`", handle.name)))
}

/// Where the first thread of a child goes on from: the thread whose words led to this, or its parent's first one.
fn context(
    session: &Session,
    parent: &AgentHandle,
    child: &Manifest,
) -> Result<Option<ThreadParent>, RpcError> {
    if matches!(child.spec.driver, Driver::Terminal { .. }) {
        let what = "`context: forked` needs a program that speaks a protocol";
        return Err(RpcError::new(ErrorName::Unsupported, what)
            .hint("a program on a terminal is told what it needs by its first message"));
    }
    let led_by = match session.caller.is_agent(parent.id) {
        true => weigh(session, None, "")?.causation,
        false => None,
    };
    session.shared.record.look_up(|reader| {
        let message = led_by.map(|id| reader.message(&id)).transpose()?.flatten();
        let led_in = message.and_then(|row| row.envelope.thread);
        let first =
            reader.agent_by_id(&parent.id)?.map(|row| ThreadId::from_bytes(*row.session_id.as_bytes()));
        let Some(thread_id) = led_in.or(first) else { return Ok(None) };
        let row = reader.thread(&thread_id)?.filter(|row| row.agent == parent.id);
        let through = row.map(|row| newest_given(reader, &row, None)).transpose()?.flatten();
        Ok(Some(ThreadParent { agent_id: parent.id, thread_id, through }))
    })
}

/// What the child is meant to be: its parent's manifest with what is said, or one of its own.
fn manifest(
    session: &Session,
    params: &SubagentSpawnParams,
    (parent, of_parent): (&AgentHandle, &Manifest),
    id: AgentId,
) -> Result<Manifest, RpcError> {
    let folder = match &of_parent.spec.cwd {
        Some(cwd) => cwd.as_str().to_owned(),
        None => {
            let own = session.shared.agents_dir().join(parent.id.to_string()).join("workspace");
            own.to_string_lossy().into_owned()
        }
    };
    if let Some(labels) = &params.labels {
        checked_labels(labels)?;
        // Rules look at labels, so one more is worth as much as a right, and one less may evade what forbids.
        if *labels != parent.profile().labels && !session.caller.is_operator() {
            return Err(denied(session, "gives its subagents the labels that it has itself"));
        }
    }
    let made = match &params.manifest {
        Some(text) => inline(session, params, text, &folder)?,
        None => {
            let name = match &params.name {
                Some(name) => name.clone(),
                None => name_under(&parent.name, id)?,
            };
            let overrides = Overrides {
                command: params.command.as_deref(),
                environment: params.environment.as_ref(),
                labels: params.labels.as_ref(),
                limits: params.limits.as_ref(),
            };
            if overrides.command.is_some_and(|command| !is_found(command)) {
                return Err(invalid(
                    "`command` is a program and its arguments: a bare name, or an absolute path",
                ));
            }
            subagents::derived(of_parent, name, &overrides)?
        }
    };
    let child = subagents::as_child(of_parent, made, params.isolation, &folder)?;
    subagents::check_within(of_parent, &child)?;
    Ok(child)
}

fn is_found(command: &[String]) -> bool {
    command.first().is_some_and(|program| program.starts_with('/') || !program.contains('/'))
}

/// A manifest that an operator wrote for it.
fn inline(
    session: &Session,
    params: &SubagentSpawnParams,
    text: &str,
    folder: &str,
) -> Result<Manifest, RpcError> {
    if !session.caller.is_operator() {
        let error = denied(session, "starts no agents by manifests of its own");
        return Err(error.hint("say what is to be different from its own manifest instead"));
    }
    if text.len() > MANIFEST_BYTES_MAX {
        return Err(invalid(format!("a manifest has at most {MANIFEST_BYTES_MAX} bytes")));
    }
    let is_mixed = params.command.is_some()
        || params.environment.is_some()
        || params.labels.is_some()
        || params.limits.is_some();
    if is_mixed {
        return Err(invalid("with a manifest everything else is said in it"));
    }
    let mut manifest = apply::read_one(session, text, folder)?;
    let spec = &manifest.spec;
    let refused = [
        ("spec.replicas", spec.replicas.is_some()),
        ("spec.schedules", !spec.schedules.is_empty()),
        ("spec.dependsOn", !spec.depends_on.is_empty()),
        ("spec.cwd", spec.cwd.is_some()),
    ];
    if let Some((key, _)) = refused.iter().find(|(_, is_there)| *is_there) {
        let what = format!("a subagent has no {key}");
        return Err(RpcError::new(ErrorName::InvalidManifest, what)
            .hint("in which folder it works `isolation.workspace` says"));
    }
    if let Some(name) = &params.name {
        manifest.metadata.name = name.clone();
    }
    Ok(manifest)
}

/// The parent's name, as much of it as there is room for, and the end of the child's id.
fn name_under(parent: &AgentName, id: AgentId) -> Result<AgentName, RpcError> {
    let letters: String = id.to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let end = letters.get(letters.len().saturating_sub(NAME_END)..).unwrap_or_default();
    let room = NAME_MAX.saturating_sub(end.len()).saturating_sub(1);
    let begin: String = parent.as_str().chars().take(room).collect();
    let text = format!("{}-{end}", begin.trim_end_matches('-'));
    text.parse().map_err(|error| RpcError::new(ErrorName::Internal, format!("no name can be made: {error}")))
}

/// The task for which alone the child is there.
fn new_task(session: &Session, task: &SubagentTask, child: AgentId) -> Result<NewTask, RpcError> {
    if let Some(id) = &task.task_id {
        check_chosen(id.as_bytes(), "`task.task_id`")?;
    }
    let title = needed_title(&task.title)?;
    let objective = checked_objective(task.objective.as_deref().unwrap_or(&title))?;
    // Whether its words may be said to the child, the rules are asked when they are.
    let weighed = weigh(session, None, &title)?;
    let delegated_by = match task.delegated_by {
        Some(by) => Some(seen(session, by)?.id),
        None => worked_on(session, weighed.causation)?,
    };
    let task_id: TaskId = task.task_id.unwrap_or_else(|| session.shared.record.mint().id());
    let plan = TaskPlan {
        title,
        objective_digest: String::new(),
        objective_bytes: 0,
        assignee: Some(child),
        thread: None,
        priority: edgeplane_types::Priority::Normal,
        labels: std::collections::BTreeMap::new(),
        acceptance: checked_acceptance(&task.acceptance)?,
        limits: task.limits,
        attempts_max: checked_attempts(task.attempts)?,
    };
    let created = TaskCreated {
        task_id,
        root_id: task_id,
        parent_id: None,
        kind: None,
        visibility: Visibility::default(),
        plan,
        depends_on: Vec::new(),
        authority: weighed.authority,
        epoch: session.caller.agent.as_ref().map(|agent| agent.epoch),
        causation: weighed.causation,
        state: TaskState::Accepted,
    };
    Ok(NewTask { created, objective, delegated_by })
}

/// The task that the message which led to this is a run of, if that is not over.
fn worked_on(
    session: &Session,
    causation: Option<edgeplane_types::MessageId>,
) -> Result<Option<TaskId>, RpcError> {
    let Some(message) = causation else { return Ok(None) };
    let run = RunId::from_bytes(*message.as_bytes());
    session.shared.record.look_up(|reader| {
        let Some(run) = reader.run(&run)? else { return Ok(None) };
        let task = reader.task(&run.started.task_id)?;
        Ok(task.filter(|task| !task.state.is_over() && !task.is_cancelled).map(|task| task.id))
    })
}

/// Whether somebody may see and end a subagent: operators, and the agents above it.
fn concerns(session: &Session, row: &SubagentRow) -> Result<bool, RpcError> {
    if session.caller.is_operator() {
        return Ok(true);
    }
    session.shared.record.look_up(|reader| {
        let mut above = Some(row.parent);
        // As many generations as there may be; one more would be a circle.
        for _ in 0..=edgeplane_wire::api::subagent::DEPTH_MAX {
            let Some(id) = above else { return Ok(false) };
            if session.caller.is_agent(id) {
                return Ok(true);
            }
            above = reader.agent_by_id(&id)?.and_then(|row| row.parent);
        }
        Ok(false)
    })
}

/// A subagent for those whose business it is.
fn found(session: &Session, name: &str) -> Result<SubagentRow, RpcError> {
    let none = || {
        let shown: String = name.chars().take(80).collect();
        RpcError::new(ErrorName::NotFound, format!("no subagent `{shown}`"))
            .hint("`edgeplane subagent list` shows those there are")
    };
    let id = terminals::agent_id(session, name).map_err(|_unknown| none())?;
    let row = session.shared.record.look_up(|reader| reader.subagent(&id))?.ok_or_else(none)?;
    if concerns(session, &row)? { Ok(row) } else { Err(none()) }
}

pub(in crate::server) async fn send(
    session: &Session,
    params: SubagentSendParams,
) -> Result<SignalResult, RpcError> {
    let row = found(session, &params.subagent)?;
    check_open(&row)?;
    let SubagentSendParams { parts, mode, priority, expires_in_ms, idempotency_key, .. } = params;
    let said = SignalParams {
        agent: row.id.to_string(),
        parts,
        mode,
        priority,
        expires_in_ms,
        idempotency_key,
        reply_to: None,
        causation: None,
        on_behalf_of: Vec::new(),
        authority: None,
        display_name: None,
        wait: None,
        timeout_ms: None,
    };
    messages::signal(session, said).await
}

/// Refuses a subagent that is retired, or is to be.
fn check_open(row: &SubagentRow) -> Result<(), RpcError> {
    if row.closing.is_none() && row.closed_at.is_none() {
        return Ok(());
    }
    let what = format!("subagent `{}` is closed, or is being closed", row.spawned.name);
    Err(RpcError::new(ErrorName::InvalidState, what).hint("spawn another one"))
}

pub(in crate::server) async fn resume(
    session: &Session,
    params: SubagentChangeParams,
) -> Result<SubagentView, RpcError> {
    let row = found(session, &params.subagent)?;
    let reason = checked_reason(params.reason.as_deref(), "")?;
    check_open(&row)?;
    let handle = agent(session, &row.id.to_string())?;
    let phase = handle.summary.borrow().phase;
    let input = match phase {
        Phase::Running => return view(session, row.id),
        Phase::Frozen => Input::Thaw,
        _ => Input::Start(Cause::Request),
    };
    let request = LifeRequest::new(input, Some(reason));
    let origin = Origin::actor(session.caller.actor());
    handle.ask(|reply| Command::Life(request, origin, reply)).await??;
    session.effect.notify_one();
    view(session, row.id)
}

pub(in crate::server) async fn close(
    session: &Session,
    params: SubagentChangeParams,
) -> Result<SubagentView, RpcError> {
    let row = found(session, &params.subagent)?;
    let who = &session.caller.principal;
    let reason = checked_reason(params.reason.as_deref(), &format!("`{who}` closes it"))?;
    subagents::close(&session.shared, row.id, &reason, &Origin::actor(session.caller.actor())).await?;
    session.effect.notify_one();
    view(session, row.id)
}

/// Whether a subagent has come to an end.
fn is_over(row: &SubagentRow) -> bool {
    row.closed_at.is_some() || (row.status.is_over() && row.status != SubagentStatus::Closed)
}
