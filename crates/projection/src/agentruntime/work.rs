//! Tasks and their attempts in the standard's words.

use edgeplane_types::{
    EdgeKind, Fact, MessageId, RunId, SafeLabel, TaskId, TaskState, TurnId,
    fact::{RunEnded, RunStarted, TaskCreated, TaskMoved},
};

use super::{event::Draft, export::Telling, names};
use crate::{fold::Step, json::Object, work::attempt_status};

impl Telling<'_> {
    /// What is told of an event of a task.
    pub(super) fn work(&mut self, step: &mut Step<'_>, id: TaskId) {
        let because = step.fact().type_name();
        match step.fact() {
            Fact::TaskCreated(created) => {
                let payload = Object::new()
                    .put("because", because)
                    .put("requestedBy", &step.event().actor)
                    .put("authority", &created.authority)
                    .put("visibility", &created.visibility)
                    .put("objectiveRef", &format!("sha256:{}", created.plan.objective_digest));
                self.of_task(step, names::TASK_CREATED, id).say(step, payload);
                self.profiled(step, created);
                if created.state == TaskState::Accepted {
                    self.of_task(step, names::TASK_ACCEPTED, id).say(step, because_of(because));
                }
            }
            Fact::TaskUpdated(_) => {
                self.of_task(step, names::TASK_UPDATED, id).say(step, because_of(because))
            }
            Fact::TaskMoved(moved) => self.moved(step, moved),
            Fact::TaskProgressed(progressed) => {
                let progress = Object::new()
                    .maybe("phase", progressed.phase.as_ref())
                    .maybe("done", progressed.done)
                    .maybe("total", progressed.total)
                    .maybe("note", progressed.note.as_ref())
                    .put("accepted", &progressed.accepted);
                let draft = self.of_task(step, names::TASK_PROGRESS, id).object("taskProgress", progress);
                draft.say(step, because_of(because));
            }
            Fact::TaskCancelRequested(asked) => {
                let payload = because_of(because).put("reason", &asked.reason);
                self.of_task(step, names::TASK_CANCEL_REQUESTED, id).say(step, payload);
            }
            Fact::TaskLinked(linked) => {
                let to =
                    linked.to.map(|to| to.to_string()).or_else(|| linked.uri.clone()).unwrap_or_default();
                let edge =
                    Object::new().put("kind", &linked.kind).put("targetId", &to).put("status", "active");
                let draft = self.of_task(step, kind_of_edge(linked.kind), id);
                draft.object("taskRelationship", edge).say(step, because_of(because));
            }
            Fact::TaskUnlinked(unlinked) => {
                let to = unlinked.to.map(|to| to.to_string()).or_else(|| unlinked.uri.clone());
                let to = to.unwrap_or_default();
                let edge =
                    Object::new().put("kind", &unlinked.kind).put("targetId", &to).put("status", "removed");
                let draft = self.of_task(step, kind_of_edge(unlinked.kind), id);
                draft.object("taskRelationship", edge).say(step, because_of(because));
            }
            Fact::JobCreated(_) | Fact::JobItemReported(_) => self.job(step, id),
            Fact::RunStarted(_) | Fact::RunBegun(_) | Fact::RunEnded(_) => self.attempt(step, id),
            _ => self.benchmark(step, id),
        }
    }

    /// An event of a task, with what is known of it.
    pub(super) fn of_task(&self, step: &Step<'_>, kind: &'static str, id: TaskId) -> Draft {
        let draft = self.of_session(step, kind).slot("taskId", &id.to_string());
        let Some(task) = self.export.model.work.get(id) else { return draft };
        let status = task.state.as_str();
        let shown = Object::new()
            .put("taskId", &id)
            .put("rootTaskId", &task.root)
            .maybe("parentTaskId", task.parent)
            .put("title", &task.title)
            .put("status", status);
        draft.slot("status", status).object("task", shown)
    }

    fn moved(&self, step: &mut Step<'_>, moved: &TaskMoved) {
        let because = step.fact().type_name();
        if moved.from == TaskState::Blocked && moved.to == TaskState::Queued {
            let draft = self.of_task(step, names::TASK_DEPENDENCY_UPDATED, moved.task_id);
            draft.say(step, because_of(because).put("reason", &moved.reason));
        }
        let kind = kind_of_move(moved);
        let payload = because_of(because).put("from", &moved.from).put("to", &moved.to);
        let draft = self.of_task(step, kind, moved.task_id).slot("statusReason", &moved.reason);
        let draft = match moved.run_id {
            Some(run) => draft.slot("runId", &run.to_string()),
            None => draft,
        };
        draft.say(step, payload);
        self.job_moved(step, moved);
    }

    /// What is wanted of whoever does a task, as far as whoever wants it done said.
    fn profiled(&self, step: &mut Step<'_>, created: &TaskCreated) {
        let (because, plan) = (step.fact().type_name(), &created.plan);
        let profile = Object::new()
            .put("kind", created.kind.as_ref().map_or("unknown", SafeLabel::as_str))
            .put("source", "caller")
            .put("requiredCapabilities", "not_recorded")
            .put("priority", &plan.priority)
            .put("limits", &plan.limits)
            .put("attemptsMax", &plan.attempts_max);
        let draft = self.of_task(step, names::TASK_PROFILE_RESOLVED, created.task_id);
        draft.object("taskProfile", profile).say(step, because_of(because));
    }

    fn attempt(&self, step: &mut Step<'_>, id: TaskId) {
        let because = step.fact().type_name();
        match step.fact() {
            Fact::RunStarted(started) => {
                let attempt = Object::new()
                    .put("runId", &started.run_id)
                    .put("status", "preparing")
                    .put("attemptCount", &started.attempt);
                let payload = because_of(because)
                    .put("agentId", &started.agent_id)
                    .put("reason", &started.reason)
                    .put("limits", &started.limits);
                let draft = self.of_run(step, names::TASK_ATTEMPT_STARTED, (id, started.run_id));
                draft.object("taskAttempt", attempt).say(step, payload);
                self.bounded(step, started);
                self.item_started(step, started);
            }
            Fact::RunBegun(begun) => {
                let draft = self.of_run(step, names::RUN_STATUS, (id, begun.run_id));
                draft.slot("phase", "running").say(step, because_of(because).maybe("epoch", begun.epoch));
            }
            Fact::RunEnded(ended) => {
                let status = attempt_status(ended.state);
                let is_done = status == "completed";
                let kind = if is_done { names::TASK_ATTEMPT_COMPLETED } else { names::TASK_ATTEMPT_FAILED };
                let attempt = Object::new()
                    .put("runId", &ended.run_id)
                    .put("status", status)
                    .put("nativeStatus", &ended.state);
                let payload =
                    because_of(because).put("reason", &ended.reason).maybe("outputId", ended.output_id);
                self.of_run(step, kind, (id, ended.run_id)).object("taskAttempt", attempt).say(step, payload);
                self.item_ended(step, ended);
                self.limited(step, ended);
            }
            _ => {}
        }
    }

    /// The limits that hold from the beginning of a run on.
    fn bounded(&self, step: &mut Step<'_>, started: &RunStarted) {
        if started.limits.is_none() {
            return;
        }
        let state = Object::new().put("status", "active").put("scope", "run").put("limits", &started.limits);
        let draft = self.of_run(step, names::LIMIT_CHANGED, (started.task_id, started.run_id));
        draft.object("limitState", state).say(step, because_of("run.started"));
    }

    /// A run that passed a limit is joined to its turn, where that is one of this session.
    fn limited(&self, step: &mut Step<'_>, ended: &RunEnded) {
        let message = MessageId::from_bytes(*ended.run_id.as_bytes());
        let Some(limit) = ended.limit.filter(|_| self.export.model.turns.get(message).is_some()) else {
            return;
        };
        let state = Object::new().put("status", "blocked").put("kind", &limit).put("scope", "run");
        let draft = self.of_turn(step, names::QUOTA_BLOCKED, Some(message));
        let draft = draft.slot("taskId", &ended.task_id.to_string()).slot("runId", &ended.run_id.to_string());
        draft.object("limitState", state).say(step, Object::new().put("reason", &ended.reason));
    }

    /// An event of a run, which is a turn with the same UUID.
    pub(super) fn of_run(&self, step: &Step<'_>, kind: &'static str, (id, run): (TaskId, RunId)) -> Draft {
        let draft = self.of_task(step, kind, id).slot("runId", &run.to_string());
        draft.turn(TurnId::from_bytes(*run.as_bytes()))
    }
}

pub(super) fn because_of(because: &str) -> Object {
    Object::new().put("because", because)
}

fn kind_of_edge(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::DependsOn | EdgeKind::Source => names::TASK_DEPENDENCY_UPDATED,
        EdgeKind::Delegated => names::TASK_DELEGATED,
        EdgeKind::Produced | EdgeKind::Consumed | EdgeKind::Evidence => names::TASK_UPDATED,
    }
}

fn kind_of_move(moved: &TaskMoved) -> &'static str {
    use TaskState as S;
    match moved.to {
        S::Accepted => names::TASK_ACCEPTED,
        S::Queued if moved.from == S::Paused => names::TASK_RESUMED,
        S::Queued => names::TASK_QUEUED,
        S::Blocked => names::TASK_BLOCKED,
        S::Running if matches!(moved.from, S::WaitingInput | S::WaitingPermission | S::WaitingResource) => {
            names::TASK_RESUMED
        }
        S::Running => names::TASK_STARTED,
        S::WaitingInput | S::WaitingPermission | S::WaitingResource => names::TASK_WAITING,
        S::Paused => names::TASK_PAUSED,
        S::Retrying => names::TASK_RETRYING,
        S::Cancelled => names::TASK_CANCELLED,
        S::TimedOut => names::TASK_TIMED_OUT,
        S::Failed => names::TASK_FAILED,
        S::Lost => names::TASK_LOST,
        S::Completed => names::TASK_COMPLETED,
        S::Archived => names::TASK_ARCHIVED,
        S::Draft | S::Preparing | S::Cancelling | S::Stale | S::Unknown => names::TASK_UPDATED,
    }
}
