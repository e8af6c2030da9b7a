//! The tasks of one agent: those that it wants done, those that are its work, and those that it has a run of.
//!
//! What is recorded of other tasks changes nothing, so that it does not matter whether somebody who follows the record
//! live is handed more of it than somebody who reads it.

use std::collections::{BTreeMap, VecDeque};

use edgeplane_types::{
    AgentId, Event, Fact, RunId, RunState, StreamName, TaskId, TaskState, Timestamp,
    fact::{Actor, TaskCreated, TaskPlan},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{edges::Edges, fold::SHOWN_MAX};

/// Attempts at one task that are shown, and edges of one; the others are counted.
const OF_ONE_MAX: usize = 20;

/// Runs of which the task is known; an older one that goes on still is told as its own.
const RUNS_MAX: usize = 10_000;

/// An attempt as far as it is known.
#[derive(Debug, Serialize, Deserialize)]
struct Attempt {
    run: RunId,
    number: u32,
    state: RunState,
    reason: String,
    started: Timestamp,
    ended: Option<Timestamp>,
}

/// A task as far as it is known.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) root: TaskId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) title: String,
    pub(crate) state: TaskState,
    reason: String,
    is_wanted: bool,
    is_own: bool,
    /// The run of it that this agent has.
    run: Option<RunId>,
    attempts: VecDeque<Attempt>,
    attempts_more: u64,
    #[serde(flatten)]
    edges: Edges,
    changed: Timestamp,
    /// If it is a job: its items so far.
    pub(crate) batch: Option<Batch>,
    /// The job that it is an item of.
    pub(crate) job: Option<TaskId>,
    /// Whether an agent said what came of it.
    pub(crate) is_reported: bool,
}

/// The items of a job, as far as its agent sees them.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) items: u32,
    pub(crate) done: u32,
}

impl Task {
    fn unknown(root: TaskId, at: Timestamp) -> Self {
        Self {
            root,
            parent: None,
            title: String::new(),
            state: TaskState::Unknown,
            reason: String::new(),
            is_wanted: false,
            is_own: false,
            run: None,
            attempts: VecDeque::new(),
            attempts_more: 0,
            edges: Edges::default(),
            changed: at,
            batch: None,
            job: None,
            is_reported: false,
        }
    }

    fn concerns(&self) -> bool {
        self.is_wanted || self.is_own || self.run.is_some()
    }

    fn plan(&mut self, plan: &TaskPlan, agent: AgentId) {
        self.title.clone_from(&plan.title);
        self.is_own = plan.assignee == Some(agent);
    }

    fn attempt(&mut self, attempt: Attempt) {
        if self.attempts.len() == OF_ONE_MAX {
            self.attempts.pop_front();
            self.attempts_more += 1;
        }
        self.attempts.push_back(attempt);
    }

    fn run(&mut self, id: RunId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.run == id)
    }

    fn view(&self, id: TaskId) -> Value {
        let attempts: Vec<_> = self.attempts.iter().map(attempt_view).collect();
        let edges: Vec<_> =
            self.edges.iter().map(|edge| json!({ "kind": edge.kind, "targetId": edge.to })).collect();
        let mut view = json!({
            "taskId": id,
            "rootTaskId": self.root,
            "status": self.state,
            "statusReason": self.reason,
            "title": self.title,
            "updatedAt": self.changed,
            "attempts": attempts,
            "attemptsMore": self.attempts_more,
            "relationships": edges,
            "relationshipsMore": self.edges.more,
        });
        let Some(object) = view.as_object_mut() else { return view };
        if let Some(parent) = self.parent {
            object.insert("parentTaskId".to_owned(), json!(parent));
        }
        if let Some(run) = self.run {
            object.insert("currentRunId".to_owned(), json!(run));
        }
        view
    }
}

/// What the standard calls the state of an attempt, which has no word for some.
pub(crate) fn attempt_status(state: RunState) -> &'static str {
    match state {
        RunState::Preparing => "preparing",
        RunState::Running => "running",
        RunState::Completed => "completed",
        RunState::Failed | RunState::TimedOut => "failed",
        RunState::Cancelled => "cancelled",
        RunState::Lost => "unknown",
    }
}

fn attempt_view(attempt: &Attempt) -> Value {
    let mut view = json!({
        "runId": attempt.run,
        "status": attempt_status(attempt.state),
        "nativeStatus": attempt.state,
        "attemptCount": attempt.number,
        "reason": attempt.reason,
        "startedAt": attempt.started,
    });
    if let (Some(ended), Some(object)) = (attempt.ended, view.as_object_mut()) {
        object.insert("endedAt".to_owned(), json!(ended));
    }
    view
}

/// The tasks of one agent.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Work {
    agent: Option<AgentId>,
    tasks: BTreeMap<TaskId, Task>,
    /// The tasks of the newest runs.
    #[serde(default)]
    runs: BTreeMap<RunId, TaskId>,
}

impl Work {
    pub(crate) fn new(agent: Option<AgentId>) -> Self {
        Self { agent, tasks: BTreeMap::new(), runs: BTreeMap::new() }
    }

    pub(crate) fn get(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(&id)
    }

    /// The task of a run, as far as it is known.
    pub(crate) fn task_of(&self, run: RunId) -> Option<TaskId> {
        self.runs.get(&run).copied()
    }

    /// Takes an event in; gives the task that it is about, if that is one of the agent's.
    pub(crate) fn follow(&mut self, event: &Event) -> Option<TaskId> {
        let (StreamName::Task(root), Some(agent)) = (event.stream, self.agent) else { return None };
        let id = event.fact.task_id()?;
        let is_known = self.tasks.get(&id).is_some_and(Task::concerns);
        let joins = match &event.fact {
            Fact::TaskCreated(created) => created.plan.assignee == Some(agent) || is_by(event, agent),
            Fact::TaskUpdated(updated) => updated.plan.assignee == Some(agent),
            Fact::RunStarted(started) => started.agent_id == agent,
            _ => false,
        };
        if !is_known && !joins {
            return None;
        }
        let task = self.tasks.entry(id).or_insert_with(|| Task::unknown(root, event.ts));
        task.changed = event.ts;
        change(task, event, agent);
        match &event.fact {
            Fact::RunStarted(started) => {
                self.runs.insert(started.run_id, id);
                if self.runs.len() > RUNS_MAX {
                    self.runs.pop_first();
                }
            }
            Fact::TaskCreated(created) => {
                let is_job =
                    |parent: &TaskId| self.tasks.get(parent).is_some_and(|task| task.batch.is_some());
                let job = created.parent_id.filter(is_job);
                if let Some(task) = self.tasks.get_mut(&id) {
                    task.job = job;
                }
            }
            Fact::TaskMoved(moved) if moved.to == TaskState::Completed => {
                let job = self.tasks.get(&id).and_then(|task| task.job);
                let job = job.and_then(|job| self.tasks.get_mut(&job)?.batch.as_mut());
                if let Some(batch) = job {
                    batch.done = batch.done.saturating_add(1);
                }
            }
            _ => {}
        }
        Some(id)
    }

    /// The newest tasks, how many there are in each state, and how many are not shown.
    pub(crate) fn shown(&self) -> (Vec<Value>, Value) {
        let mut newest: Vec<_> = self.tasks.iter().collect();
        newest.sort_by_key(|(id, task)| (std::cmp::Reverse(task.changed), **id));
        let shown = newest.iter().take(SHOWN_MAX).map(|(id, task)| task.view(**id)).collect();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for task in self.tasks.values() {
            *counts.entry(task.state.as_str()).or_default() += 1;
        }
        let status = if self.tasks.is_empty() { "not_applicable" } else { "recorded" };
        let more = self.tasks.len().saturating_sub(SHOWN_MAX);
        (shown, json!({ "status": status, "total": self.tasks.len(), "byStatus": counts, "more": more }))
    }
}

fn is_by(event: &Event, agent: AgentId) -> bool {
    matches!(&event.actor, Actor::Agent { agent_id, .. } if *agent_id == agent)
}

fn created(task: &mut Task, created: &TaskCreated, agent: AgentId) {
    task.plan(&created.plan, agent);
    task.parent = created.parent_id;
    task.state = created.state;
}

fn change(task: &mut Task, event: &Event, agent: AgentId) {
    task.edges.take(&event.fact, OF_ONE_MAX);
    match &event.fact {
        Fact::TaskCreated(fact) => {
            task.is_wanted = is_by(event, agent);
            created(task, fact, agent);
        }
        Fact::TaskUpdated(updated) => task.plan(&updated.plan, agent),
        Fact::TaskMoved(moved) => {
            task.state = moved.to;
            task.reason.clone_from(&moved.reason);
        }
        Fact::JobCreated(created) => task.batch = Some(Batch { items: created.items, done: 0 }),
        Fact::JobItemReported(_) => task.is_reported = true,
        Fact::RunStarted(started) => {
            task.job = task.job.or(started.job_id);
            task.run = (started.agent_id == agent).then_some(started.run_id);
            task.attempt(Attempt {
                run: started.run_id,
                number: started.attempt,
                state: RunState::Preparing,
                reason: started.reason.clone(),
                started: event.ts,
                ended: None,
            });
        }
        Fact::RunBegun(begun) => {
            if let Some(attempt) = task.run(begun.run_id) {
                attempt.state = RunState::Running;
            }
        }
        Fact::RunEnded(ended) => {
            task.run = task.run.filter(|run| *run != ended.run_id);
            if let Some(attempt) = task.run(ended.run_id) {
                attempt.state = ended.state;
                attempt.ended = Some(event.ts);
                attempt.reason.clone_from(&ended.reason);
            }
        }
        _ => {}
    }
}
