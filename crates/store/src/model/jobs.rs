//! Which tasks are jobs, and what was reported of their items, once for each.

use edgeplane_types::{Fact, TaskId, fact::JobCreated};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE job (
            pos INTEGER PRIMARY KEY,
            task BLOB NOT NULL UNIQUE
        ) STRICT;
        CREATE TABLE job_report (
            pos INTEGER PRIMARY KEY,
            item BLOB NOT NULL UNIQUE
        ) STRICT;",
    tables: &[("job", "pos"), ("job_report", "pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::JobCreated(created) => create(step, created),
        Fact::JobItemReported(reported) => {
            step.of_task()?;
            let item = reported.task_id;
            step.insert(
                "INSERT INTO job_report (pos, item) VALUES (?1, ?2)",
                params![int(step.pos), item.as_bytes()],
                |_taken| FoldError::ReportedTwice(item),
            )
        }
        _ => Ok(()),
    }
}

fn create(step: &Step<'_>, created: &JobCreated) -> Result<(), FoldError> {
    let id: TaskId = created.task_id;
    if step.of_task()? != id {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    step.insert(
        "INSERT INTO job (pos, task) VALUES (?1, ?2)",
        params![int(step.pos), id.as_bytes()],
        |_taken| FoldError::TaskTwice(id),
    )
}
