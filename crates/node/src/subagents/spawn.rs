//! Spawning: the child, that it is one, and its task are durable in one step, before anything of it runs.

use std::sync::Arc;

use edgeplane_lifecycle as lifecycle;
use edgeplane_manifest::Manifest;
use edgeplane_store::SubagentRow;
use edgeplane_types::{
    AgentId, AgentName, Desired, EdgeKind, ErrorName, Fact, Generation, Isolation, OnParentExit, SessionId,
    StreamName, TaskId, Tenant,
    fact::{Cause, SubagentSpawned, TaskCreated, TaskLinked, ThreadParent},
};
use edgeplane_wire::{
    api::subagent::{CHILDREN_MAX, DEPTH_MAX},
    rpc::RpcError,
};

use super::{fork::Forked, settle::has_ended};
use crate::{
    agent::{self, AgentHandle, AgentIdentity, Birth},
    record::{Draft, Origin, refused},
    server,
    shared::Shared,
    work,
};

/// A child that somebody wants.
pub(crate) struct NewChild {
    pub(crate) id: AgentId,
    pub(crate) parent: AgentHandle,
    /// Most children that the parent may have at a time, if its own program asks.
    pub(crate) children_max: Option<u32>,
    pub(crate) manifest: Manifest,
    pub(crate) isolation: Isolation,
    pub(crate) on_parent_exit: OnParentExit,
    /// Where its first thread goes on from.
    pub(crate) context: Option<ThreadParent>,
    /// What its folder begins with.
    pub(crate) files: Option<Forked>,
    pub(crate) request_digest: String,
    pub(crate) task: Option<NewTask>,
}

/// The task for which a child is there.
pub(crate) struct NewTask {
    pub(crate) created: TaskCreated,
    pub(crate) objective: Vec<u8>,
    pub(crate) delegated_by: Option<TaskId>,
}

/// Makes a child durable and brings it up. Says whether it was there already.
pub(crate) async fn spawn(shared: &Arc<Shared>, new: NewChild, origin: &Origin) -> Result<bool, RpcError> {
    let held = shared.subagents.changing.lock().await;
    if is_known(shared, &new, origin)? {
        return Ok(true);
    }
    check_parent(shared, &new)?;
    let of_tasks = match &new.task {
        Some(task) => {
            let held = shared.work.changing.lock().await;
            check_task(shared, task)?;
            Some(held)
        }
        None => None,
    };
    check_name(shared, &new.manifest.metadata.name)?;
    if let Some(files) = &new.files {
        files.put()?;
    }
    let identity = AgentIdentity {
        id: new.id,
        name: new.manifest.metadata.name.clone(),
        tenant: Tenant::default(),
        session_id: shared.record.mint().id(),
        declared_at: shared.record.now(),
        set: None,
        parent: Some(new.parent.id),
    };
    let (draft, task) = draft(shared, &identity, new_facts(&new, identity.session_id), (&new, origin))?;
    shared.failpoint("subagent.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("subagent.after");
    if let Some(files) = new.files {
        files.stay();
    }
    drop(of_tasks);
    let (id, parent_id) = (new.id, new.parent.id);
    let life = lifecycle::Agent::declared(Desired::Running, agent::policy(&new.manifest));
    let manifest = Arc::new(new.manifest);
    let generation = Generation(1);
    let birth = Birth { identity, manifest: Arc::clone(&manifest), generation, life, left: None };
    let handle = agent::start(shared, birth);
    shared.register(Tenant::default(), handle.clone());
    drop(held);
    server::start_when_ready(shared, handle, &manifest, Cause::Manifest);
    shared.work.settle(task);
    shared.subagents.look([id]);
    tracing::debug!(subagent = %id, parent = %parent_id, "spawned");
    Ok(false)
}

/// Whether this very child was asked for before; refused if another one was under its id.
fn is_known(shared: &Shared, new: &NewChild, origin: &Origin) -> Result<bool, RpcError> {
    let id = new.id;
    let known: Option<SubagentRow> = shared.record.look_up(|reader| reader.subagent(&id))?;
    if let Some(known) = known {
        let is_same = known.parent == new.parent.id
            && known.spawned.request_digest == new.request_digest
            && known.by == origin.actor;
        if is_same {
            return Ok(true);
        }
        let what = format!("subagent {id} exists already, and is another one");
        return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new subagent"));
    }
    if shared.record.look_up(|reader| reader.agent_by_id(&id))?.is_some() {
        let what = format!("agent {id} exists already, and is no subagent");
        return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new subagent"));
    }
    Ok(false)
}

/// Refuses a parent that takes no children, or has as many as it may have.
fn check_parent(shared: &Shared, new: &NewChild) -> Result<(), RpcError> {
    let (parent, name) = (new.parent.id, &new.parent.name);
    let invalid = |what: String| Err(RpcError::new(ErrorName::InvalidState, what));
    if new.parent.profile().replicas.is_some() || new.parent.set.is_some() {
        return invalid(format!("agent `{name}` is a set of replicas or one of it, and takes no subagents"));
    }
    let found = shared.record.look_up(|reader| {
        let own = reader.subagent(&parent)?;
        let row = reader.agent_by_id(&parent)?;
        let living = reader.subagents_of(&parent, false, super::PAGE)?.len();
        let mut generations = 1_u32;
        let mut above = row.as_ref().and_then(|row| row.parent);
        while let Some(id) = above.filter(|_| generations <= DEPTH_MAX) {
            generations = generations.saturating_add(1);
            above = reader.agent_by_id(&id)?.and_then(|row| row.parent);
        }
        Ok((own, row, living, generations))
    })?;
    let (own, row, living, generations) = found;
    let is_going = row.as_ref().is_none_or(|row| row.desired == Desired::Retired);
    if is_going || own.is_some_and(|own| own.closing.is_some()) {
        return invalid(format!("agent `{name}` is being retired and takes no subagents"));
    }
    if new.on_parent_exit == OnParentExit::Close && row.as_ref().is_some_and(has_ended) {
        let what = format!("agent `{name}` has ended, and the subagent is to end with it");
        return Err(RpcError::new(ErrorName::InvalidState, what).hint(format!(
            "start it with `edgeplane agent start {name}`, or keep the subagent on its exit"
        )));
    }
    let most = new.children_max.unwrap_or(CHILDREN_MAX).min(CHILDREN_MAX);
    if u32::try_from(living).unwrap_or(u32::MAX) >= most {
        let what = format!("agent `{name}` has {living} subagents, and may have {most} at a time");
        return Err(RpcError::new(ErrorName::QuotaExhausted, what).hint(
            "`edgeplane subagent close` ends one; `spec.subagents` of its manifest says how many it may start",
        ));
    }
    if generations > DEPTH_MAX {
        let what = format!("there are {DEPTH_MAX} generations above already, and no more may be");
        return Err(RpcError::new(ErrorName::QuotaExhausted, what));
    }
    Ok(())
}

fn check_name(shared: &Shared, name: &AgentName) -> Result<(), RpcError> {
    if shared.agent(&Tenant::default(), name.as_str()).is_err() {
        return Ok(());
    }
    let what = format!("agent `{name}` exists already");
    Err(RpcError::new(ErrorName::Conflict, what).hint("choose another name, or none"))
}

/// Refuses a task that is there already, and one that is handed on by a task which takes nothing any more.
fn check_task(shared: &Shared, task: &NewTask) -> Result<(), RpcError> {
    let id = task.created.task_id;
    if shared.record.look_up(|reader| reader.task(&id))?.is_some() {
        let what = format!("task {id} exists already, and is another one");
        return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new task"));
    }
    let Some(by) = task.delegated_by else { return Ok(()) };
    let row = shared.record.look_up(|reader| reader.task(&by))?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no task {by}")))?;
    if row.is_cancelled || row.state.is_over() {
        let what = format!("task {by} hands nothing on any more: it is {}", row.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    Ok(())
}

fn new_facts(new: &NewChild, session_id: SessionId) -> SubagentSpawned {
    SubagentSpawned {
        subagent_id: new.id,
        name: new.manifest.metadata.name.clone(),
        session_id,
        task_id: new.task.as_ref().map(|task| task.created.task_id),
        isolation: new.isolation,
        on_parent_exit: new.on_parent_exit,
        context: new.context,
        checkpoint_id: new.files.as_ref().map(Forked::checkpoint_id),
        request_digest: new.request_digest.clone(),
    }
}

/// All that is durable together with a child, and its task.
fn draft(
    shared: &Arc<Shared>,
    identity: &AgentIdentity,
    spawned: SubagentSpawned,
    (new, origin): (&NewChild, &Origin),
) -> Result<(Draft, Option<TaskId>), RpcError> {
    let mut draft = Draft::default();
    let (digest, _) = draft.body(new.manifest.canonical_text().into_bytes());
    let declared = identity.declared(digest, Desired::Running);
    let cause = shared.record.add(&mut draft, StreamName::Agent(identity.id), origin, declared);
    let origin = Origin { cause: Some(cause), ..origin.clone() };
    let of_parent = StreamName::Agent(new.parent.id);
    shared.record.add(&mut draft, of_parent, &origin, Fact::SubagentSpawned(Box::new(spawned)));
    let Some(task) = &new.task else { return Ok((draft, None)) };
    let id = task.created.task_id;
    work::add_task(shared, &mut draft, task.created.clone(), (task.objective.clone(), true), &origin);
    if let Some(by) = task.delegated_by {
        let row = shared.record.look_up(|reader| reader.task(&by))?;
        let root = row.map_or(by, |row| row.root);
        let reason = Some(format!("subagent `{}` is there for it", identity.name));
        let linked = TaskLinked { task_id: by, kind: EdgeKind::Delegated, to: Some(id), uri: None, reason };
        shared.record.add(&mut draft, StreamName::Task(root), &origin, Fact::TaskLinked(linked));
    }
    Ok((draft, Some(id)))
}
