//! `task.view` and `task.graph`: one task with all that happened to it, and a graph of tasks as it is now.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, Event, Fact, Priority, RunId, RunLimits, RunState, TaskId, TaskState, Timestamp, fact::TaskPlan,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    edges::Edges,
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    recent::Recent,
    subject::Subject,
};

/// Edges of one task that are kept; the others are counted.
const EDGES_MAX: usize = 200;

pub(crate) fn takes(kind: &str) -> bool {
    matches!(kind.split_once('.'), Some(("task" | "run" | "job" | "job_item" | "benchmark", _)))
}

/// The newest attempt.
#[derive(Debug, Serialize, Deserialize)]
struct Attempt {
    run_id: RunId,
    number: u32,
    agent_id: AgentId,
    state: RunState,
}

/// How far a task is, as whoever works on it says.
#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    phase: Option<String>,
    done: Option<u64>,
    total: Option<u64>,
    accepted: Vec<u32>,
}

/// What is to be done, as far as it is shown.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    title: String,
    objective: String,
    assignee: Option<AgentId>,
    priority: Priority,
    acceptance: Vec<String>,
    limits: RunLimits,
    attempts_max: u32,
}

impl Plan {
    fn of(plan: &TaskPlan) -> Self {
        Self {
            title: plan.title.clone(),
            objective: format!("sha256:{}", plan.objective_digest),
            assignee: plan.assignee,
            priority: plan.priority,
            acceptance: plan.acceptance.clone(),
            limits: plan.limits,
            attempts_max: plan.attempts_max,
        }
    }
}

/// A task as it is now.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    parent: Option<TaskId>,
    plan: Option<Plan>,
    state: TaskState,
    reason: String,
    cancelled_because: Option<String>,
    progress: Option<Progress>,
    attempt: Option<Attempt>,
    #[serde(flatten)]
    edges: Edges,
    changed_at: Timestamp,
}

impl Task {
    fn unknown(at: Timestamp) -> Self {
        Self {
            parent: None,
            plan: None,
            state: TaskState::Unknown,
            reason: String::new(),
            cancelled_because: None,
            progress: None,
            attempt: None,
            edges: Edges::default(),
            changed_at: at,
        }
    }

    fn take(&mut self, event: &Event) {
        self.changed_at = event.ts;
        self.edges.take(&event.fact, EDGES_MAX);
        match &event.fact {
            Fact::TaskCreated(created) => {
                self.parent = created.parent_id;
                self.plan = Some(Plan::of(&created.plan));
                self.state = created.state;
            }
            Fact::TaskUpdated(updated) => self.plan = Some(Plan::of(&updated.plan)),
            Fact::TaskMoved(moved) => {
                self.state = moved.to;
                self.reason.clone_from(&moved.reason);
            }
            Fact::TaskProgressed(said) => {
                let (phase, accepted) = (said.phase.clone(), said.accepted.clone());
                self.progress = Some(Progress { phase, done: said.done, total: said.total, accepted });
            }
            Fact::TaskCancelRequested(asked) => self.cancelled_because = Some(asked.reason.clone()),
            Fact::RunStarted(started) => {
                self.attempt = Some(Attempt {
                    run_id: started.run_id,
                    number: started.attempt,
                    agent_id: started.agent_id,
                    state: RunState::Preparing,
                });
            }
            Fact::RunBegun(begun) => self.run(begun.run_id, RunState::Running),
            Fact::RunEnded(ended) => self.run(ended.run_id, ended.state),
            _ => {}
        }
    }

    fn run(&mut self, id: RunId, state: RunState) {
        if let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.run_id == id) {
            attempt.state = state;
        }
    }

    fn say(&self, step: &mut Step<'_>, id: TaskId) {
        let attempt = self.attempt.as_ref();
        let payload = Object::new()
            .put("task_id", &id)
            .put("because", step.fact().type_name())
            .put("state", self.state.as_str())
            .maybe("attempt", attempt.map(|attempt| attempt.number))
            .maybe("run_id", attempt.map(|attempt| attempt.run_id))
            .done();
        let agent_id = self.plan.as_ref().and_then(|plan| plan.assignee);
        step.say("task.changed", Ids { agent_id, ..Ids::default() }, payload);
    }
}

/// One task.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct View {
    id: Option<TaskId>,
    task: Option<Task>,
    recent: Recent,
}

impl Fold for View {
    fn new(subject: &Subject) -> Self {
        Self { id: subject.part.or(subject.task), task: None, recent: Recent::default() }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let Some(id) = step.fact().task_id().filter(|id| Some(*id) == self.id) else { return };
        let task = self.task.get_or_insert_with(|| Task::unknown(step.event().ts));
        task.take(step.event());
        task.say(step, id);
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        json!({ "task_id": self.id, "task": self.task, "timeline": self.recent.state() })
    }
}

/// All tasks of a graph.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Graph {
    root: Option<TaskId>,
    tasks: BTreeMap<TaskId, Task>,
}

impl Fold for Graph {
    fn new(subject: &Subject) -> Self {
        Self { root: subject.task, tasks: BTreeMap::new() }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let Some(id) = step.fact().task_id() else { return };
        let task = self.tasks.entry(id).or_insert_with(|| Task::unknown(step.event().ts));
        task.take(step.event());
        task.say(step, id);
    }

    fn state(&self) -> Value {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for task in self.tasks.values() {
            *counts.entry(task.state.as_str()).or_default() += 1;
        }
        let mut newest: Vec<_> = self.tasks.iter().collect();
        newest.sort_by_key(|(id, task)| (std::cmp::Reverse(task.changed_at), **id));
        let shown: Vec<_> = newest.iter().take(SHOWN_MAX).map(|(id, task)| shown(**id, task)).collect();
        json!({
            "root_id": self.root,
            "total": self.tasks.len(),
            "by_state": counts,
            "tasks": shown,
            "more": self.tasks.len().saturating_sub(SHOWN_MAX),
        })
    }
}

fn shown(id: TaskId, task: &Task) -> Value {
    json!({
        "task_id": id,
        "parent_id": task.parent,
        "title": task.plan.as_ref().map(|plan| &plan.title),
        "assignee": task.plan.as_ref().and_then(|plan| plan.assignee),
        "state": task.state,
        "reason": task.reason,
        "attempt": task.attempt,
        "edges": task.edges.iter().collect::<Vec<_>>(),
        "edges_more": task.edges.more,
        "changed_at": task.changed_at,
    })
}
