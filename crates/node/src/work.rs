//! Work: tasks, how they are joined, and the runs by which they are done.
//!
//! Owns the one place where tasks change, so that no two decisions about them cross each other, and bringing about what
//! follows from each change: that a task begins whose dependencies are met, that a run is said to its agent, that what is
//! to end ends. Which state may follow which the lifecycle decides; a run at an agent is a message like any other.

mod admit;
mod change;
mod jobs;
mod meter;
mod run;
mod settle;
mod trial;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_store::{CommittedEvent, RunRow, TaskFilter};
use edgeplane_types::{AgentId, Fact, MessageId, RunId, RunState, StreamName, TaskId};
use tokio::sync::{Notify, broadcast};

use crate::{record::chain, shared::Shared};

pub(crate) use admit::{Wanted, of_turn, start as start_run};
pub(crate) use change::{Change, Fence, Replan, add_task, change, create, link, unlink, update};
pub(crate) use jobs::{NewItem, NewJob, Report, assign, create as create_job, report};
pub(crate) use meter::Meter;
pub(crate) use run::{cancel as cancel_run, is_run_over, message_of};
pub(crate) use trial::{NewReward, NewTrial, give, record_reward, trial_of};

/// Tasks or runs that are read at one go.
const PAGE: usize = 500;

/// What all who change tasks share.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Held by whoever changes tasks, from what the record says to what is durable.
    pub(crate) changing: tokio::sync::Mutex<()>,
    pending: Mutex<Pending>,
    woken: Notify,
    /// The jobs of which items may be dealt out.
    jobs: Mutex<BTreeSet<TaskId>>,
}

/// What is to be looked at.
#[derive(Debug, Default)]
struct Pending {
    tasks: BTreeSet<TaskId>,
    runs: BTreeSet<RunId>,
}

impl Work {
    /// Has tasks looked at: something about them, or about what they wait for, has changed.
    pub(crate) fn settle(&self, tasks: impl IntoIterator<Item = TaskId>) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).tasks.extend(tasks);
        self.woken.notify_one();
    }

    /// Has runs looked at, and what follows from how they go brought about.
    pub(crate) fn look(&self, runs: impl IntoIterator<Item = RunId>) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).runs.extend(runs);
        self.woken.notify_one();
    }

    /// Notes whether items of a job may be dealt out.
    fn note_job(&self, id: TaskId, is_open: bool) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if is_open {
            jobs.insert(id);
        } else {
            jobs.remove(&id);
        }
    }

    fn jobs(&self) -> BTreeSet<TaskId> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self) -> Pending {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The runs that live, by what they are found by.
#[derive(Debug, Default)]
struct Live {
    by_message: HashMap<MessageId, RunId>,
    by_agent: HashMap<AgentId, BTreeSet<RunId>>,
    /// Those that are looked at again when their time is over.
    timed: BTreeSet<RunId>,
    /// Of those whose use is bounded, what they have used.
    meters: HashMap<RunId, Option<Meter>>,
}

impl Live {
    fn insert(&mut self, row: &RunRow) {
        self.by_message.insert(message_of(row.id), row.id);
        self.by_agent.entry(row.started.agent_id).or_default().insert(row.id);
        if row.started.limits.is_metered() {
            self.meters.entry(row.id).or_default();
        }
    }

    fn remove(&mut self, row: &RunRow) {
        self.by_message.remove(&message_of(row.id));
        self.timed.remove(&row.id);
        self.meters.remove(&row.id);
        if let Some(runs) = self.by_agent.get_mut(&row.started.agent_id) {
            runs.remove(&row.id);
            if runs.is_empty() {
                self.by_agent.remove(&row.started.agent_id);
            }
        }
    }

    fn all(&self) -> Vec<RunId> {
        self.by_message.values().copied().collect()
    }

    /// The runs that an event is about.
    fn concerned(&self, event: &CommittedEvent) -> Vec<RunId> {
        let fact = &event.event.fact;
        let run = fact.message_id().and_then(|id| self.by_message.get(&id));
        if fact.is_piece() {
            return run.filter(|run| self.meters.contains_key(run)).copied().into_iter().collect();
        }
        if let Some(run) = run {
            return vec![*run];
        }
        let StreamName::Agent(agent) = event.event.stream else { return Vec::new() };
        match fact {
            Fact::AgentExited { .. }
            | Fact::AgentStarted { .. }
            | Fact::AgentAdopted { .. }
            | Fact::AgentStopped {}
            | Fact::AgentFailed { .. }
            | Fact::AgentQuarantined { .. }
            | Fact::AgentRetired { .. }
            | Fact::ActionOpened { .. }
            | Fact::ActionResolved { .. } => {
                self.by_agent.get(&agent).map(|runs| runs.iter().copied().collect()).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }
}

/// Brings about what follows from changes of tasks and of what they wait for, until the node ends.
pub(crate) async fn keep(shared: Arc<Shared>) {
    let mut live = Live::default();
    let mut following: Option<broadcast::Receiver<CommittedEvent>> = None;
    take_up(&shared).await;
    loop {
        let pending = shared.work.take();
        // The oldest first: it is begun first, too.
        for task in pending.tasks {
            settled(&shared, task).await;
        }
        for run in pending.runs {
            // Followed from before the run is looked at, so that nothing about it is missed.
            following.get_or_insert_with(|| shared.record.follow());
            looked_at(&shared, run, &mut live).await;
        }
        let jobs = shared.work.jobs();
        if live.by_message.is_empty() && jobs.is_empty() {
            following = None;
        } else if following.is_none() {
            // An agent may have begun to run before anybody listened.
            following = Some(shared.record.follow());
            shared.work.settle(jobs);
        }
        // Each arm is cancel-safe: a permit of the notification is kept, and an event that is received is handled.
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = shared.work.woken.notified() => {}
            event = next(&mut following) => match event {
                Ok(event) => heard(&shared, &live, &event),
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    shared.work.look(live.all());
                    shared.work.settle(shared.work.jobs());
                }
                Err(broadcast::error::RecvError::Closed) => return,
            },
        }
    }
}

/// Has everything looked at that an event is about.
fn heard(shared: &Arc<Shared>, live: &Live, event: &CommittedEvent) {
    let concerned = live.concerned(event);
    if !concerned.is_empty() {
        shared.work.look(concerned);
    }
    match jobs::wakes(&event.event.fact) {
        jobs::Wakes::Nobody => {}
        jobs::Wakes::Jobs => shared.work.settle(shared.work.jobs()),
        // What its manifest says is known when its engine has read it.
        jobs::Wakes::JobsSoon => again_later(shared, |shared| shared.work.settle(shared.work.jobs())),
    }
}

/// The next event, if any run lives or any job is open.
async fn next(
    following: &mut Option<broadcast::Receiver<CommittedEvent>>,
) -> Result<CommittedEvent, broadcast::error::RecvError> {
    match following {
        Some(following) => following.recv().await,
        None => std::future::pending().await,
    }
}

async fn settled(shared: &Arc<Shared>, task: TaskId) {
    if let Err(error) = settle::settle(shared, task).await {
        tracing::warn!(%task, error = chain(&error), "it could not be settled; it is tried again later");
        again_later(shared, move |shared| shared.work.settle([task]));
    }
}

async fn looked_at(shared: &Arc<Shared>, run: RunId, live: &mut Live) {
    match run::look(shared, run).await {
        Ok(Some(row)) if row.state.is_over() => live.remove(&row),
        Ok(Some(row)) => {
            live.insert(&row);
            bounded(shared, &row, live).await;
            metered(shared, &row, live).await;
        }
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%run, error = chain(&error), "it could not be looked at; it is tried again later");
            again_later(shared, move |shared| shared.work.look([run]));
        }
    }
}

/// Ends a run whose time is over; has one looked at again whose time will be.
async fn bounded(shared: &Arc<Shared>, row: &RunRow, live: &mut Live) {
    let Some(left) = run::time_left(shared, row) else { return };
    let id = row.id;
    if left.is_zero() {
        if let Err(error) = run::time_out(shared, row).await {
            tracing::warn!(run = %id, error = chain(&error), "it could not be ended; it is tried again later");
            again_later(shared, move |shared| shared.work.look([id]));
        } else {
            shared.work.look([id]);
        }
    } else if live.timed.insert(id) {
        later(shared, left, move |shared| shared.work.look([id]));
    }
}

/// Ends a run that has used more than it may.
async fn metered(shared: &Arc<Shared>, row: &RunRow, live: &mut Live) {
    let Some(meter) = live.meters.get_mut(&row.id) else { return };
    let passed = shared.record.look_up(|reader| {
        if meter.is_none() {
            *meter = Meter::open(reader, row)?;
        }
        let Some(meter) = meter else { return Ok(None) };
        meter.read_on(reader)?;
        Ok(meter.passed(row))
    });
    let ended = match passed {
        Ok(None) => return,
        Ok(Some((limit, why))) => run::end_by_limit(shared, row, (RunState::Failed, &why, limit)).await,
        Err(error) => Err(error),
    };
    let id = row.id;
    match ended {
        Ok(()) => shared.work.look([id]),
        Err(error) => {
            tracing::warn!(run = %id, error = chain(&error), "its use could not be bounded; it is tried again later");
            again_later(shared, move |shared| shared.work.look([id]));
        }
    }
}

/// What a full disk or a busy agent refused is asked for again after this time.
const AGAIN: std::time::Duration = std::time::Duration::from_secs(1);

fn again_later(shared: &Arc<Shared>, what: impl FnOnce(&Shared) + Send + 'static) {
    later(shared, AGAIN, what);
}

fn later(shared: &Arc<Shared>, after: std::time::Duration, what: impl FnOnce(&Shared) + Send + 'static) {
    let of_task = Arc::clone(shared);
    shared.tasks.spawn(async move {
        // Cancel-safe: neither arm holds anything.
        tokio::select! {
            () = of_task.stopping.cancelled() => {}
            () = tokio::time::sleep(after) => what(&of_task),
        }
    });
}

/// Has everything looked at that a former daemon left open.
async fn take_up(shared: &Arc<Shared>) {
    let mut cursor = 0;
    loop {
        let filter = TaskFilter::default();
        let Ok(page) = shared.record.read(move |reader| reader.tasks(&filter, PAGE, cursor)).await else {
            return;
        };
        let Some(last) = page.last() else { break };
        cursor = last.pos;
        shared.work.settle(page.iter().map(|row| row.id));
    }
    let mut cursor = 0;
    loop {
        let read = shared.record.read(move |reader| reader.runs((None, None), true, PAGE, cursor)).await;
        let Ok(page) = read else { return };
        let Some(last) = page.last() else { return };
        cursor = last.pos;
        shared.work.look(page.iter().map(|row| row.id));
    }
}
