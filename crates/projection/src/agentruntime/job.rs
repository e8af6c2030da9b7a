//! Jobs and their items in the standard's words, beside what is told of them as tasks and runs.

use edgeplane_types::{
    Fact, RunState, TaskId, TaskState,
    fact::{JobItemReported, RunEnded, RunStarted, TaskMoved},
};

use super::{event::Draft, export::Telling, names, work::because_of};
use crate::{
    fold::Step,
    json::Object,
    work::{Batch, attempt_status},
};

impl Telling<'_> {
    /// What is told of an event that only jobs have.
    pub(super) fn job(&self, step: &mut Step<'_>, id: TaskId) {
        match step.fact() {
            Fact::JobCreated(created) => {
                let job = Object::new()
                    .put("jobId", &id)
                    .put("status", "pending")
                    .put("items", &created.items)
                    .maybe("parallelism", created.parallelism);
                let draft = self.of_task(step, names::JOB_CREATED, id).slot("jobId", &id.to_string());
                draft.object("job", job).say(step, because_of("job.created"));
            }
            Fact::JobItemReported(reported) => self.reported(step, reported),
            _ => {}
        }
    }

    fn reported(&self, step: &mut Step<'_>, reported: &JobItemReported) {
        let (id, because) = (reported.task_id, step.fact().type_name());
        let item = Object::new().put("jobItemId", &id).put("status", "reported");
        let draft = self.of_run(step, names::JOB_ITEM_COMPLETED, (id, reported.run_id));
        self.of_item(draft, id)
            .object("jobItem", item)
            .output(&reported.result_digest, reported.result_bytes)
            .say(step, because_of(because));
    }

    /// What the move of a task is to the job that it is, or to the job that it is an item of.
    pub(super) fn job_moved(&self, step: &mut Step<'_>, moved: &TaskMoved) {
        let Some(task) = self.export.model.work.get(moved.task_id) else { return };
        if let Some(batch) = task.batch {
            if let Some((kind, status)) = kind_of_move(moved) {
                self.say_job(step, (kind, status), (moved.task_id, batch), &moved.reason);
            }
            return;
        }
        let Some(job) = task.job.filter(|_| moved.to == TaskState::Completed) else { return };
        let batch = self.export.model.work.get(job).and_then(|job| job.batch);
        // Of the job of somebody else it is not known how far it is.
        if let Some(batch) = batch {
            self.say_job(step, (names::JOB_PROGRESS, "running"), (job, batch), &moved.reason);
        }
    }

    fn say_job(
        &self,
        step: &mut Step<'_>,
        (kind, status): (&'static str, &str),
        (id, batch): (TaskId, Batch),
        reason: &str,
    ) {
        let job = Object::new()
            .put("jobId", &id)
            .put("status", status)
            .put("items", &batch.items)
            .put("completedItems", &batch.done);
        let payload = because_of(step.fact().type_name()).put("reason", reason);
        let draft = self.of_task(step, kind, id).slot("jobId", &id.to_string());
        draft.object("job", job).say(step, payload);
    }

    pub(super) fn item_started(&self, step: &mut Step<'_>, started: &RunStarted) {
        let id = started.task_id;
        if !self.is_item(id) {
            return;
        }
        let item = Object::new()
            .put("jobItemId", &id)
            .put("status", "running")
            .put("attemptCount", &started.attempt);
        let draft = self.of_run(step, names::JOB_ITEM_STARTED, (id, started.run_id));
        let payload = because_of("run.started").put("agentId", &started.agent_id);
        self.of_item(draft, id).object("jobItem", item).say(step, payload);
    }

    /// Invariant: an item is told as completed once, by its report or, where its turn's end is the report, by that.
    pub(super) fn item_ended(&self, step: &mut Step<'_>, ended: &RunEnded) {
        let id = ended.task_id;
        let is_reported = self.export.model.work.get(id).is_some_and(|item| item.is_reported);
        if !self.is_item(id) || (ended.state == RunState::Completed && is_reported) {
            return;
        }
        let (kind, status) = match ended.state {
            RunState::Completed => (names::JOB_ITEM_COMPLETED, "completed"),
            _ => (names::JOB_ITEM_FAILED, "failed"),
        };
        let item = Object::new()
            .put("jobItemId", &id)
            .put("status", status)
            .put("attemptStatus", attempt_status(ended.state))
            .put("nativeStatus", &ended.state);
        let draft = self.of_run(step, kind, (id, ended.run_id));
        let payload = because_of("run.ended").put("reason", &ended.reason).maybe("outputId", ended.output_id);
        self.of_item(draft, id).object("jobItem", item).say(step, payload);
    }

    fn is_item(&self, id: TaskId) -> bool {
        self.export.model.work.get(id).is_some_and(|task| task.job.is_some())
    }

    fn of_item(&self, draft: Draft, id: TaskId) -> Draft {
        let job = self.export.model.work.get(id).and_then(|item| item.job);
        let draft = draft.slot("jobItemId", &id.to_string());
        draft.maybe("jobId", job.map(|job| job.to_string()).as_deref())
    }
}

fn kind_of_move(moved: &TaskMoved) -> Option<(&'static str, &'static str)> {
    use TaskState as S;
    let was_at_work =
        matches!(moved.from, S::WaitingInput | S::WaitingPermission | S::WaitingResource | S::Paused);
    let told = match moved.to {
        S::Running if was_at_work => (names::JOB_PROGRESS, "running"),
        S::Running => (names::JOB_STARTED, "running"),
        S::Completed => (names::JOB_COMPLETED, "completed"),
        S::Failed | S::TimedOut | S::Lost => (names::JOB_FAILED, "failed"),
        S::Cancelled => (names::JOB_CANCELLED, "cancelled"),
        _ => return None,
    };
    Some(told)
}
