//! Jobs and their items as people read them.

use edgeplane_types::{JobItemState, JobState};
use edgeplane_wire::api::job::{JobDetail, JobItemView, JobListResult, JobView};

use crate::{
    command::inbox::short_time,
    output::{Color, Output, paint},
    table::{Table, cell},
};

fn word(state: JobState) -> String {
    let color = match state {
        JobState::Completed | JobState::Running => Color::Green,
        JobState::Failed | JobState::Cancelled => Color::Red,
        JobState::Pending => Color::Dim,
    };
    paint(color, state.as_str())
}

fn item_word(state: JobItemState) -> String {
    let color = match state {
        JobItemState::Completed | JobItemState::Reported | JobItemState::Running => Color::Green,
        JobItemState::Failed => Color::Red,
        JobItemState::Pending => Color::Dim,
    };
    paint(color, state.as_str())
}

/// How many of a job's items are done.
fn done(job: &JobView) -> String {
    let done = job.counts.completed.saturating_add(job.counts.reported);
    format!("{done}/{}", job.items)
}

/// A job on a line.
pub(super) fn line(job: &JobView) -> String {
    let failed = match job.counts.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!("{} {} ({} done{failed}): {}", job.job_id, word(job.state), done(job), cell(&job.title))
}

/// An item on a line.
pub(super) fn item_line(item: &JobItemView) -> String {
    let agent = item.agent.as_deref().map(|agent| format!(" at {}", cell(agent))).unwrap_or_default();
    format!("{} {}{agent}: {}", item.item_id, item_word(item.state), cell(&item.title))
}

pub(super) fn jobs(out: &mut Output, list: &JobListResult) -> anyhow::Result<()> {
    if list.items.is_empty() {
        out.note("no jobs; `edgeplane job create` makes one");
        return Ok(());
    }
    let mut table = Table::new(&["JOB", "STATE", "DONE", "RUNNING", "PENDING", "FAILED", "SINCE", "TITLE"]);
    for job in &list.items {
        table.row([
            job.job_id.to_string(),
            word(job.state),
            done(job),
            job.counts.running.to_string(),
            job.counts.pending.to_string(),
            job.counts.failed.to_string(),
            short_time(&job.created_at),
            cell(&job.title),
        ]);
    }
    out.table(&table)?;
    if list.next.is_some() {
        out.note("there are more; raise --limit");
    }
    Ok(())
}

pub(super) fn detail(out: &mut Output, detail: &JobDetail) -> anyhow::Result<()> {
    let job = &detail.job;
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("job", job.job_id.to_string());
    row("title", cell(&job.title));
    row("state", word(job.state));
    if let Some(reason) = &job.reason {
        row("reason", cell(reason));
    }
    if let Some(why) = &job.cancelled_because {
        row("cancelled", cell(why));
    }
    let counts = &job.counts;
    row(
        "items",
        format!(
            "{}: {} pending, {} running, {} completed, {} reported, {} failed",
            job.items, counts.pending, counts.running, counts.completed, counts.reported, counts.failed
        ),
    );
    if !job.agents.is_empty() {
        row("agents", job.agents.iter().map(String::as_str).map(cell).collect::<Vec<_>>().join(", "));
    }
    if !job.labels.is_empty() {
        let labels: Vec<String> =
            job.labels.iter().map(|(key, value)| format!("{}={value}", cell(key))).collect();
        row("agents with", labels.join(", "));
    }
    if let Some(most) = job.parallelism {
        row("at a time", most.to_string());
    }
    row("report", job.report.to_string());
    row("wanted by", job.created_by.to_string());
    row("since", short_time(&job.created_at));
    out.table(&table)?;
    if detail.items.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let mut table = Table::new(&["ITEM", "STATE", "RUNS", "AGENT", "TITLE", "RESULT"]);
    for item in &detail.items {
        let result = match (&item.result, &item.output_id, &item.reason) {
            (Some(result), _, _) => result.to_string(),
            (None, Some(output), _) => output.to_string(),
            (None, None, reason) => reason.clone().unwrap_or_default(),
        };
        table.row([
            item.item_id.to_string(),
            item_word(item.state),
            item.attempts.to_string(),
            item.agent.as_deref().map(cell).unwrap_or_default(),
            cell(&item.title),
            cell(&result),
        ]);
    }
    out.table(&table)?;
    if detail.next.is_some() {
        out.note("there are more; raise --limit");
    }
    Ok(())
}
