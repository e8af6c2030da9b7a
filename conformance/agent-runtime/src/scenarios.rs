//! The eighteen scenarios, in the standard's order, and the commands that an implementation maps.

mod evidence;
mod gates;
mod history;
mod turns;
mod work;

use serde_json::Value;

use crate::{
    rules::{kind, sequence, word},
    world::{Step, World, must, short},
};

/// The commands of the standard.
pub const COMMANDS: &[&str] = &[
    "submit_turn",
    "interrupt_turn",
    "resume_thread",
    "create_task",
    "update_task",
    "start_task",
    "append_task_progress",
    "pause_task",
    "resume_task",
    "cancel_task",
    "retry_task",
    "complete_task",
    "fail_task",
    "list_tasks",
    "get_task",
    "link_tasks",
    "unlink_tasks",
    "respond_action",
    "remove_queued_turn",
    "promote_queued_turn",
    "get_session",
    "get_thread_read",
    "get_tool_inventory",
    "spawn_subagent",
    "send_subagent_input",
    "wait_subagents",
    "resume_subagent",
    "close_subagent",
    "list_subagents",
    "evaluate_permission",
    "resolve_permission",
    "get_execution_environment",
    "write_process_stdin",
    "terminate_process",
    "create_job",
    "list_jobs",
    "get_job",
    "cancel_job",
    "reconnect_channel",
    "ack_events",
    "export_evidence",
    "export_replay",
    "export_review",
    "start_benchmark_trial",
    "record_benchmark_reward",
    "export_benchmark_trial",
    "compare_benchmark_runs",
];

/// One scenario.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name, such as `AC-4`.
    pub id: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// How it is played.
    pub play: fn(&mut World) -> Step<()>,
}

/// All of them.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        id: "AC-1",
        title: "a turn is accepted before any output, and its status is known",
        play: turns::first_status,
    },
    Scenario { id: "AC-2", title: "strict fixtures are published and valid", play: evidence::fixtures },
    Scenario {
        id: "AC-3",
        title: "a large result of a tool is given by reference",
        play: turns::large_result,
    },
    Scenario {
        id: "AC-4",
        title: "nothing goes on before an approval is responded to",
        play: gates::approval,
    },
    Scenario {
        id: "AC-5",
        title: "a queue survives a restart and can be reordered",
        play: history::queue_survives,
    },
    Scenario { id: "AC-6", title: "compaction keeps open actions and evidence", play: history::compaction },
    Scenario { id: "AC-7", title: "subagents are linked without parsing prose", play: work::subagents },
    Scenario { id: "AC-8", title: "a retry keeps the failed attempt and the graph", play: work::retry },
    Scenario { id: "AC-9", title: "exported evidence is complete", play: evidence::export },
    Scenario { id: "AC-10", title: "an old session is loaded part by part", play: history::old_session },
    Scenario {
        id: "AC-11",
        title: "permission and sandbox precede a write, and a denial is explained",
        play: gates::permission,
    },
    Scenario { id: "AC-12", title: "what a hook rewrites is visible", play: gates::hook },
    Scenario {
        id: "AC-13",
        title: "input of a process is told, and what it writes too much is kept by reference",
        play: gates::process,
    },
    Scenario { id: "AC-14", title: "a single candidate is explained", play: turns::routing },
    Scenario { id: "AC-15", title: "a limit that is hit is joined to its turn", play: work::limit },
    Scenario {
        id: "AC-16",
        title: "a reconnection gets a snapshot, then what follows, and word of a gap",
        play: history::reconnect,
    },
    Scenario { id: "AC-17", title: "one item of a job is tried again alone", play: work::job_item },
    Scenario { id: "AC-18", title: "a benchmark trial is exported", play: evidence::benchmark },
];

/// Among these events: those of a kind, in their order.
fn of_kind<'a>(events: &'a [Value], wanted: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| kind(event) == wanted)
}

/// The events of one turn.
fn of_turn(events: &[Value], turn: &str) -> Vec<Value> {
    events.iter().filter(|event| word(event, "turnId") == turn).cloned().collect()
}

/// Fails unless the first of some kinds stand in this order, each of them once at least.
fn in_order(events: &[Value], kinds: &[&str]) -> Step<()> {
    let mut last = ("", 0);
    for wanted in kinds {
        let Some(first) = of_kind(events, wanted).next() else {
            let there: Vec<_> = events.iter().map(kind).collect();
            return must(false, || format!("no `{wanted}` among {there:?}"));
        };
        let number = sequence(first);
        must(number > last.1, || format!("`{wanted}` ({number}) stands before `{}` ({})", last.0, last.1))?;
        last = (wanted, number);
    }
    Ok(())
}

/// Whether a value says something: a word, a number, an object that is not empty.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Fails unless each of these members of a value says something.
fn says_all(of: &Value, what: &str, members: &[&str]) -> Step<()> {
    for member in members {
        must(of.get(member).is_some_and(says), || format!("{what} does not say `{member}`: {}", short(of)))?;
    }
    Ok(())
}

/// The reference that an event names for what it does not hold.
fn reference(event: &Value) -> Option<String> {
    let direct = [event.get("outputRef"), event.pointer("/output/ref"), event.pointer("/refs/output")];
    direct.into_iter().flatten().find_map(Value::as_str).map(str::to_owned)
}
