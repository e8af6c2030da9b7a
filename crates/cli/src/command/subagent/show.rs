//! Subagents as people read them.

use edgeplane_types::SubagentStatus;
use edgeplane_wire::api::subagent::{SubagentListResult, SubagentView};

use crate::{
    command::inbox::short_time,
    output::{Color, Output, paint},
    table::{Table, cell},
};

fn word(view: &SubagentView) -> String {
    let color = match view.status {
        SubagentStatus::Running | SubagentStatus::Completed => Color::Green,
        SubagentStatus::Failed | SubagentStatus::Cancelled => Color::Red,
        SubagentStatus::Queued | SubagentStatus::Blocked | SubagentStatus::Closed => Color::Dim,
    };
    let word = paint(color, view.status.as_str());
    match view.closing_because.is_some() && view.closed_at.is_none() {
        true => format!("{word} (closing)"),
        false => word,
    }
}

/// A subagent on a line.
pub(super) fn line(view: &SubagentView) -> String {
    let reason = view.reason.as_deref().map(|reason| format!(": {}", cell(reason))).unwrap_or_default();
    format!("{} {} under {} {}{reason}", view.name, view.subagent_id, cell(&view.parent), word(view))
}

pub(super) fn subagents(out: &mut Output, list: &SubagentListResult) -> anyhow::Result<()> {
    if list.items.is_empty() {
        out.note("no subagents; `edgeplane subagent spawn` starts one");
        return Ok(());
    }
    let mut table = Table::new(&["SUBAGENT", "PARENT", "STATUS", "PHASE", "TASK", "SINCE", "WHY"]);
    for view in &list.items {
        let depth = usize::try_from(view.depth.saturating_sub(1)).unwrap_or(0);
        table.row([
            format!("{}{}", "  ".repeat(depth), view.name),
            cell(&view.parent),
            word(view),
            view.phase.as_str().to_owned(),
            view.task_id.map(|task| task.to_string()).unwrap_or_default(),
            short_time(&view.spawned_at),
            cell(view.reason.as_deref().unwrap_or_default()),
        ]);
    }
    out.table(&table)?;
    if list.more {
        out.note("there are more: raise `--limit`");
    }
    Ok(())
}
