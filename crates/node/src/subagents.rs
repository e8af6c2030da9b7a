//! Subagents: agents with a parent, spawned, followed and ended together with it.
//!
//! Owns the one place where the children of agents come and go, so that no two decisions about them cross each other. A
//! child is an agent like any other: its engine, its messages and its task are their own business. What is decided here
//! is read from the record each time, so it does not matter why a child is looked at, how often, or by which daemon.

mod bounds;
mod close;
mod fork;
mod settle;
mod spawn;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use edgeplane_store::{CommittedEvent, SubagentRow};
use edgeplane_types::{AgentId, Fact, StreamName, TaskId};
use tokio::sync::{Notify, broadcast};

use crate::{agent::AgentHandle, record::chain, shared::Shared};

pub(crate) use bounds::{Overrides, as_child, check_within, derived};
pub(crate) use close::close;
pub(crate) use fork::{Forked, remove_unfinished};
pub(crate) use spawn::{NewChild, NewTask, spawn};

/// By which rule children are looked after.
const RULE: &str = "subagents";

/// Children that are read at one go.
const PAGE: usize = 500;

/// What a full disk or a busy agent refused is asked for again after this time.
const AGAIN: Duration = Duration::from_secs(1);

/// What all who change children share.
#[derive(Debug, Default)]
pub(crate) struct Subagents {
    /// Held by whoever changes children, from what the record says to what is durable. Taken before that of tasks.
    changing: tokio::sync::Mutex<()>,
    pending: Mutex<BTreeSet<AgentId>>,
    woken: Notify,
}

impl Subagents {
    /// Has children looked at: something about them, or about what they depend on, has changed.
    fn look(&self, ids: impl IntoIterator<Item = AgentId>) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
        self.woken.notify_one();
    }

    fn take(&self) -> BTreeSet<AgentId> {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether an agent is a child that is there for one task alone.
pub(crate) fn has_task(shared: &Shared, agent: &AgentHandle) -> bool {
    let is_for_one = |row: Option<SubagentRow>| row.is_some_and(|row| row.spawned.task_id.is_some());
    // What cannot be read is given nothing.
    agent.parent.is_some()
        && shared.record.look_up(|reader| reader.subagent(&agent.id)).map_or(true, is_for_one)
}

/// The children that are not retired, by what they are found by.
#[derive(Debug, Default)]
struct Open {
    parent_of: HashMap<AgentId, AgentId>,
    by_parent: HashMap<AgentId, BTreeSet<AgentId>>,
    by_task: HashMap<TaskId, AgentId>,
}

impl Open {
    fn insert(&mut self, row: &SubagentRow) {
        self.parent_of.insert(row.id, row.parent);
        self.by_parent.entry(row.parent).or_default().insert(row.id);
        if let Some(task) = row.spawned.task_id {
            self.by_task.insert(task, row.id);
        }
    }

    fn remove(&mut self, row: &SubagentRow) {
        self.parent_of.remove(&row.id);
        if let Some(children) = self.by_parent.get_mut(&row.parent) {
            children.remove(&row.id);
            if children.is_empty() {
                self.by_parent.remove(&row.parent);
            }
        }
        if let Some(task) = row.spawned.task_id {
            self.by_task.remove(&task);
        }
    }

    fn all(&self) -> Vec<AgentId> {
        self.parent_of.keys().copied().collect()
    }

    /// The children that an event is about.
    fn concerned(&self, event: &CommittedEvent) -> Vec<AgentId> {
        let fact = &event.event.fact;
        if let Fact::TaskMoved(moved) = fact {
            return self.by_task.get(&moved.task_id).copied().into_iter().collect();
        }
        if let Fact::SubagentClosing(closing) = fact {
            return vec![closing.subagent_id];
        }
        let StreamName::Agent(agent) = event.event.stream else { return Vec::new() };
        if !moves(fact) {
            return Vec::new();
        }
        let own = self.parent_of.contains_key(&agent).then_some(agent);
        let children = self.by_parent.get(&agent).filter(|_| may_end(fact));
        own.into_iter().chain(children.into_iter().flatten().copied()).collect()
    }
}

/// Whether an agent is in another phase by a fact, or is meant to be.
fn moves(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::AgentDesired { .. }
            | Fact::AgentStarting { .. }
            | Fact::AgentStarted { .. }
            | Fact::AgentAdopted { .. }
            | Fact::AgentUnobservable { .. }
            | Fact::AgentBackedOff { .. }
            | Fact::AgentFailed { .. }
            | Fact::AgentStopping { .. }
            | Fact::AgentStopped {}
            | Fact::AgentFrozen { .. }
            | Fact::AgentThawed { .. }
            | Fact::AgentQuarantined { .. }
            | Fact::AgentRetired { .. }
    )
}

/// Whether an agent may have ended for its children by a fact.
fn may_end(fact: &Fact) -> bool {
    matches!(fact, Fact::AgentFailed { .. } | Fact::AgentStopped {} | Fact::AgentRetired { .. })
}

/// Looks after children until the node ends.
pub(crate) async fn keep(shared: Arc<Shared>) {
    let mut open = Open::default();
    let mut following: Option<broadcast::Receiver<CommittedEvent>> = None;
    take_up(&shared).await;
    loop {
        for id in shared.subagents.take() {
            // Followed from before the child is looked at, so that nothing about it is missed.
            following.get_or_insert_with(|| shared.record.follow());
            looked_at(&shared, id, &mut open).await;
        }
        if open.parent_of.is_empty() {
            following = None;
        }
        // Each arm is cancel-safe: a permit of the notification is kept, and an event that is received is handled.
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = shared.subagents.woken.notified() => {}
            event = next(&mut following) => match event {
                Ok(event) => {
                    let concerned = open.concerned(&event);
                    if !concerned.is_empty() {
                        shared.subagents.look(concerned);
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => shared.subagents.look(open.all()),
                Err(broadcast::error::RecvError::Closed) => return,
            },
        }
    }
}

/// The next event, if any child is there.
async fn next(
    following: &mut Option<broadcast::Receiver<CommittedEvent>>,
) -> Result<CommittedEvent, broadcast::error::RecvError> {
    match following {
        Some(following) => following.recv().await,
        None => std::future::pending().await,
    }
}

async fn looked_at(shared: &Arc<Shared>, id: AgentId, open: &mut Open) {
    match settle::settle(shared, id).await {
        Ok(Some(row)) if row.closed_at.is_some() => {
            open.remove(&row);
            // Whoever waited for it goes on: what it was under, and what is under it.
            let children = open.by_parent.get(&id).into_iter().flatten().copied();
            shared.subagents.look(children.chain([row.parent]));
        }
        Ok(Some(row)) => open.insert(&row),
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(subagent = %id, error = chain(&error), "it could not be looked at; it is tried again later");
            again_later(shared, id);
        }
    }
}

fn again_later(shared: &Arc<Shared>, id: AgentId) {
    let of_task = Arc::clone(shared);
    shared.tasks.spawn(async move {
        // Cancel-safe: neither arm holds anything.
        tokio::select! {
            () = of_task.stopping.cancelled() => {}
            () = tokio::time::sleep(AGAIN) => of_task.subagents.look([id]),
        }
    });
}

/// Has every child looked at that a former daemon left.
async fn take_up(shared: &Arc<Shared>) {
    let mut cursor = 0;
    loop {
        let read = shared.record.read(move |reader| reader.open_subagents(PAGE, cursor)).await;
        let Ok(page) = read else { return };
        let Some(last) = page.last() else { return };
        cursor = last.pos;
        shared.subagents.look(page.iter().map(|row| row.id));
    }
}
