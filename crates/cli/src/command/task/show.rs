//! Tasks, graphs and runs as people read them.

use edgeplane_types::{RunState, TaskState};
use edgeplane_wire::api::work::{EdgeView, RunView, TaskDetail, TaskGraphResult, TaskListResult, TaskView};

use crate::{
    command::inbox::short_time,
    output::{Color, Output, paint},
    table::{Table, cell},
};

/// How a task is, in its colour.
fn word(state: TaskState) -> String {
    use TaskState as S;
    let color = match state {
        S::Completed | S::Running => Color::Green,
        S::Failed | S::TimedOut | S::Lost | S::Cancelled | S::Cancelling => Color::Red,
        S::WaitingInput | S::WaitingPermission | S::WaitingResource | S::Blocked => Color::Yellow,
        S::Draft
        | S::Accepted
        | S::Queued
        | S::Preparing
        | S::Paused
        | S::Retrying
        | S::Archived
        | S::Stale
        | S::Unknown => Color::Dim,
    };
    paint(color, state.as_str())
}

fn run_word(state: RunState) -> String {
    let color = match state {
        RunState::Completed | RunState::Running => Color::Green,
        RunState::Preparing => Color::Dim,
        RunState::Failed | RunState::Cancelled | RunState::TimedOut | RunState::Lost => Color::Red,
    };
    paint(color, state.as_str())
}

/// A task on a line.
pub(in crate::command) fn line(task: &TaskView) -> String {
    let reason = task.reason.as_deref().map(|reason| format!(" ({})", cell(reason))).unwrap_or_default();
    format!("{} {}{reason}: {}", task.task_id, word(task.state), cell(&task.title))
}

pub(super) fn edge(edge: &EdgeView) -> String {
    let to = edge.to.map(|to| to.to_string()).or_else(|| edge.uri.as_deref().map(cell)).unwrap_or_default();
    format!("{} {} {to}", edge.task_id, edge.kind)
}

pub(super) fn tasks(out: &mut Output, list: &TaskListResult) -> anyhow::Result<()> {
    if list.items.is_empty() {
        out.note("no tasks; `edgeplane task create` writes one down");
        return Ok(());
    }
    let mut table = Table::new(&["TASK", "STATE", "AGENT", "RUNS", "TITLE", "REASON"]);
    for task in &list.items {
        table.row([
            task.task_id.to_string(),
            word(task.state),
            task.agent.as_deref().map(cell).unwrap_or_default(),
            format!("{}/{}", task.attempts, task.attempts_max),
            cell(&task.title),
            task.reason.as_deref().map(cell).unwrap_or_default(),
        ]);
    }
    out.table(&table)?;
    if list.next.is_some() {
        out.note("there are more; raise --limit");
    }
    Ok(())
}

pub(in crate::command) fn runs(out: &mut Output, runs: &[RunView]) -> anyhow::Result<()> {
    if runs.is_empty() {
        out.note("no runs");
        return Ok(());
    }
    let mut table = Table::new(&["RUN", "NO", "AGENT", "STATE", "STARTED", "ENDED", "REASON"]);
    for run in runs {
        table.row([
            run.run_id.to_string(),
            run.attempt.to_string(),
            cell(&run.agent),
            run_word(run.state),
            short_time(&run.started_at),
            run.ended_at.as_ref().map(short_time).unwrap_or_default(),
            cell(&run.reason),
        ]);
    }
    out.table(&table)?;
    for run in runs {
        for bound in &run.bindings {
            let over = if bound.is_live { "" } else { "; it is over" };
            let (number, mode, workspace) = (bound.binding_epoch, bound.mode, bound.workspace_id);
            out.line(&format!("{} has binding {number} ({mode}) of {workspace}{over}", run.run_id))?;
        }
    }
    Ok(())
}

pub(super) fn detail(out: &mut Output, detail: &TaskDetail) -> anyhow::Result<()> {
    let task = &detail.task;
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("task", task.task_id.to_string());
    row("title", cell(&task.title));
    row("state", word(task.state));
    if let Some(reason) = &task.reason {
        row("reason", cell(reason));
    }
    if let Some(why) = &task.cancelled_because {
        row("cancelled", cell(why));
    }
    if let Some(agent) = &task.agent {
        row("agent", cell(agent));
    }
    if let Some(parent) = task.parent_id {
        row("part of", parent.to_string());
    }
    row("wanted by", format!("{} ({})", task.created_by, task.authority));
    row("since", short_time(&task.created_at));
    row("runs", format!("{} of at most {}", task.attempts, task.attempts_max));
    if !task.limits.is_none() {
        row("a run may use", super::limits::in_words(&task.limits));
    }
    if let Some(progress) = &task.progress {
        let counted = match (progress.done, progress.total) {
            (Some(done), Some(total)) => format!("{done} of {total}"),
            (Some(done), None) => done.to_string(),
            (None, _) => String::new(),
        };
        let words = [progress.phase.as_deref(), Some(counted.as_str()), progress.note.as_deref()];
        let words: Vec<String> =
            words.into_iter().flatten().filter(|word| !word.is_empty()).map(cell).collect();
        row("progress", words.join(", "));
    }
    for (number, criterion) in task.acceptance.iter().enumerate() {
        let mark = if criterion.is_true { "x" } else { " " };
        row(&format!("[{mark}] {number}"), cell(&criterion.text));
    }
    for one in &detail.edges {
        row("edge", edge(one));
    }
    out.table(&table)?;
    if let Some(objective) = detail.objective.as_deref().filter(|text| *text != task.title) {
        out.line("")?;
        for line in objective.lines() {
            out.line(&cell(line))?;
        }
    }
    if !detail.runs.is_empty() {
        out.line("")?;
        runs(out, &detail.runs)?;
    }
    Ok(())
}

/// A graph as an outline: parts below what they are parts of, with what each depends on.
pub(super) fn graph(out: &mut Output, graph: &TaskGraphResult) -> anyhow::Result<()> {
    let count = graph.tasks.len();
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (place, task) in graph.tasks.iter().enumerate() {
        if let Some(of) = task.parent.and_then(|parent| parts.get_mut(usize::try_from(parent).ok()?)) {
            of.push(place);
        }
    }
    let mut edges: Vec<Vec<String>> = vec![Vec::new(); count];
    for arc in &graph.edges {
        let to = arc
            .to
            .and_then(|to| graph.tasks.get(usize::try_from(to).ok()?))
            .map(|task| task.title.as_str())
            .or(arc.away.as_deref());
        if let (Some(of), Some(to)) =
            (usize::try_from(arc.from).ok().and_then(|from| edges.get_mut(from)), to)
        {
            of.push(format!("{} {}", arc.kind, cell(to)));
        }
    }
    // Depth first, without recursion: a graph may be as deep as it has tasks.
    let mut open: Vec<(usize, usize)> = vec![(0, 0)];
    while let Some((place, depth)) = open.pop() {
        let Some(task) = graph.tasks.get(place) else { continue };
        let joined = edges.get(place).map(|edges| edges.join(", ")).unwrap_or_default();
        let joined = if joined.is_empty() { joined } else { format!("  ({joined})") };
        let indent = "  ".repeat(depth.min(40));
        out.line(&format!("{indent}{} {} {}{joined}", task.task_id, word(task.state), cell(&task.title)))?;
        open.extend(
            parts.get(place).into_iter().flatten().rev().map(|part| (*part, depth.saturating_add(1))),
        );
    }
    Ok(())
}
