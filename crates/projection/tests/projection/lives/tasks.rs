//! What becomes of tasks: whose they are, how they move, and their attempts.

use edgeplane_types::{
    AgentId, Authority, EdgeKind, Fact, JobReport, Priority, RunId, RunLimit, RunLimits, RunState,
    StreamName, TaskId, TaskState, Visibility,
    fact::{
        Actor, JobCreated, JobItemReported, RunBegun, RunEnded, RunStarted, TaskCancelRequested, TaskCreated,
        TaskLinked, TaskMoved, TaskPlan, TaskProgressed, TaskUnlinked, TaskUpdated,
    },
};

use super::{World, label};

/// A task with what may happen to it next.
#[derive(Debug)]
pub(crate) struct TaskLife {
    id: TaskId,
    root: usize,
    /// Of the stream, if it is the root of a graph.
    seq: u64,
    state: TaskState,
    plan: TaskPlan,
    attempts: u32,
    run: Option<RunId>,
    /// The edge that was drawn last from it.
    edge: Option<TaskLinked>,
}

impl World {
    /// Something happens to a task, or one is written down.
    pub(super) fn of_tasks(&mut self) {
        if self.tasks.is_empty() || self.chance.one_in(4) {
            return self.write_down();
        }
        let which = self.chance.below(self.tasks.len());
        match self.chance.below(9) {
            0 => self.plan_anew(which),
            1 => self.link(which),
            2 => self.progress(which),
            3..6 => self.run_on(which),
            _ => self.move_on(which),
        }
    }

    /// The task that is a trial, where it is one: every other root of a graph, at its first run.
    pub(super) fn of_trial(&self, which: usize) -> Option<TaskId> {
        let life = &self.tasks[which];
        (life.root == which && which.is_multiple_of(2) && life.attempts == 1).then_some(life.id)
    }

    pub(super) fn add_of_task(&mut self, which: usize, actor: Actor, fact: Fact) {
        let root = self.tasks[which].root;
        let graph = &mut self.tasks[root];
        graph.seq += 1;
        let (stream, seq) = (StreamName::Task(graph.id), graph.seq);
        self.push(stream, seq, actor, fact);
    }

    fn somebody(&mut self) -> Option<AgentId> {
        let which = self.chance.below(self.lives.len());
        let agent = self.lives[which].agent;
        (!self.chance.one_in(3)).then_some(agent)
    }

    fn node(&self) -> Actor {
        Actor::Node { rule: label("tasks") }
    }

    fn write_down(&mut self) {
        let id = self.id(TaskId::from_parts);
        let which = self.tasks.len();
        let root = match self.tasks.is_empty() || self.chance.one_in(3) {
            true => which,
            false => {
                let other = self.chance.below(which);
                self.tasks[other].root
            }
        };
        let (objective_digest, objective_bytes) = self.body();
        let plan = TaskPlan {
            title: format!("task {which}"),
            objective_digest,
            objective_bytes,
            assignee: self.somebody(),
            thread: None,
            priority: Priority::Normal,
            labels: std::collections::BTreeMap::new(),
            acceptance: Vec::new(),
            limits: RunLimits::default(),
            attempts_max: 3,
        };
        let state = self.chance.pick(&[TaskState::Draft, TaskState::Accepted]);
        let actor = match self.somebody() {
            Some(agent_id) => Actor::Agent { agent_id, name: label("writer") },
            None => Actor::Operator { name: label("root"), user_id: None },
        };
        let life =
            TaskLife { id, root, seq: 0, state, plan: plan.clone(), attempts: 0, run: None, edge: None };
        self.tasks.push(life);
        let created = TaskCreated {
            task_id: id,
            root_id: self.tasks[root].id,
            parent_id: (root != which).then_some(self.tasks[root].id),
            kind: None,
            visibility: Visibility::Foreground,
            plan,
            depends_on: Vec::new(),
            authority: Authority::Trusted,
            epoch: None,
            causation: None,
            state,
        };
        self.add_of_task(which, actor.clone(), Fact::TaskCreated(Box::new(created)));
        if root == which && which.is_multiple_of(3) {
            self.jobs.insert(id);
            let created = JobCreated {
                task_id: id,
                items: 9,
                agents: Vec::new(),
                selector: std::collections::BTreeMap::new(),
                parallelism: None,
                report: JobReport::Turn,
                request_digest: "00".repeat(32),
            };
            self.add_of_task(which, actor, Fact::JobCreated(Box::new(created)));
        }
    }

    fn plan_anew(&mut self, which: usize) {
        let assignee = self.somebody();
        let life = &mut self.tasks[which];
        life.plan.assignee = assignee;
        let updated = TaskUpdated { task_id: life.id, plan: life.plan.clone() };
        let actor = self.node();
        self.add_of_task(which, actor, Fact::TaskUpdated(Box::new(updated)));
    }

    fn link(&mut self, which: usize) {
        let (task_id, other) = (self.tasks[which].id, self.chance.below(self.tasks.len()));
        let kind = self.chance.pick(EdgeKind::ALL);
        let to = kind.joins_tasks().then_some(self.tasks[other].id);
        let uri = to.is_none().then(|| format!("file:///{other}"));
        let drawn = TaskLinked { task_id, kind, to, uri, reason: None };
        // An edge that is there is taken away, where there is one.
        let fact = match self.chance.one_in(3) {
            true => {
                let TaskLinked { task_id, kind, to, uri, .. } =
                    self.tasks[which].edge.take().unwrap_or(drawn);
                Fact::TaskUnlinked(TaskUnlinked { task_id, kind, to, uri })
            }
            false => {
                self.tasks[which].edge = Some(drawn.clone());
                Fact::TaskLinked(drawn)
            }
        };
        let actor = self.node();
        self.add_of_task(which, actor, fact);
    }

    fn progress(&mut self, which: usize) {
        let life = &self.tasks[which];
        let (task_id, run_id) = (life.id, life.run);
        let fact = match self.chance.one_in(3) {
            true => Fact::TaskCancelRequested(TaskCancelRequested { task_id, reason: "enough".to_owned() }),
            false => Fact::TaskProgressed(TaskProgressed {
                task_id,
                run_id,
                phase: Some("testing".to_owned()),
                done: Some(3),
                total: None,
                accepted: vec![0],
                note: None,
            }),
        };
        let actor = self.node();
        self.add_of_task(which, actor, fact);
    }

    fn move_to(&mut self, which: usize, to: TaskState, run_id: Option<RunId>) {
        let life = &mut self.tasks[which];
        let from = std::mem::replace(&mut life.state, to);
        let reason = "it is so".to_owned();
        let moved = TaskMoved { task_id: life.id, from, to, reason, run_id };
        let actor = self.node();
        self.add_of_task(which, actor, Fact::TaskMoved(moved));
    }

    fn move_on(&mut self, which: usize) {
        let to = self.chance.pick(TaskState::ALL);
        if !matches!(to, TaskState::Stale | TaskState::Unknown) && to != self.tasks[which].state {
            self.move_to(which, to, None);
        }
    }

    /// A run has the UUID of its message, which one agent was told.
    fn run_id(&mut self, agent: AgentId) -> RunId {
        let waiting = self.lives.iter().find(|life| life.agent == agent).and_then(|life| life.waiting.last());
        match waiting.copied().filter(|message| !self.said.contains(message)) {
            Some(message) => {
                self.said.push(message);
                RunId::from_bytes(*message.as_bytes())
            }
            None => self.id(RunId::from_parts),
        }
    }

    /// A run is admitted, begins or ends.
    fn run_on(&mut self, which: usize) {
        let agent = self.somebody();
        let life = &mut self.tasks[which];
        let (task_id, actor) = (life.id, Actor::Node { rule: label("tasks") });
        let Some(run_id) = life.run else {
            let Some(agent_id) = agent else { return };
            let run_id = self.run_id(agent_id);
            let life = &mut self.tasks[which];
            life.attempts += 1;
            life.run = Some(run_id);
            let (attempt, reason, limits) =
                (life.attempts, "it is time".to_owned(), limits_of(life.attempts));
            let parent = self.tasks[self.tasks[which].root].id;
            let job_id = Some(parent).filter(|parent| *parent != task_id && self.jobs.contains(parent));
            let started = RunStarted { run_id, task_id, attempt, agent_id, reason, limits, job_id };
            self.add_of_task(which, actor, Fact::RunStarted(started));
            self.move_to(which, TaskState::Preparing, Some(run_id));
            return self.try_out(which, (run_id, agent_id));
        };
        if self.chance.one_in(8) {
            let (result_digest, result_bytes) = self.body();
            let output_id = None;
            let reported = JobItemReported { task_id, run_id, result_digest, result_bytes, output_id };
            return self.add_of_task(which, actor, Fact::JobItemReported(reported));
        }
        if self.chance.one_in(2) {
            return self.add_of_task(which, actor, Fact::RunBegun(RunBegun { run_id, task_id, epoch: None }));
        }
        self.tasks[which].run = None;
        let ends =
            [RunState::Completed, RunState::Failed, RunState::Cancelled, RunState::TimedOut, RunState::Lost];
        let state = self.chance.pick(&ends);
        let limit = match state {
            RunState::TimedOut => Some(RunLimit::WallTime),
            RunState::Failed => self.chance.pick(&[None, Some(RunLimit::Tokens)]),
            _ => None,
        };
        let reason = "it is over".to_owned();
        let ended = RunEnded { run_id, task_id, state, reason, output_id: None, limit };
        self.add_of_task(which, actor, Fact::RunEnded(ended.clone()));
        self.settle_trial(which, &ended);
    }
}

/// Every other attempt is bounded.
fn limits_of(attempt: u32) -> RunLimits {
    match attempt.is_multiple_of(2) {
        true => RunLimits { steps: Some(9), ..RunLimits::default() },
        false => RunLimits::default(),
    }
}
