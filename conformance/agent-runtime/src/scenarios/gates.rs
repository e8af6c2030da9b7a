//! AC-4, AC-11, AC-12, AC-13: leave, permission, hooks and processes.

use serde_json::{Value, json};

use super::{in_order, of_kind, of_turn, reference, says, says_all};
use crate::{
    rules::{kind, sequence, word},
    template::pick,
    world::{Part, Step, World, must, short},
};

/// What may be the cause of a denial.
const SOURCES: &[&str] = &[
    "rule",
    "mode",
    "hook",
    "classifier",
    "human",
    "host_policy",
    "sandbox_override",
    "sandbox_violation",
    "tool_contract",
];

pub(super) fn approval(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let turn = world.submit(&worker, "gated")?.text("turnId")?;
    let required = world.of_turn(&worker, "action.required", &turn)?;
    says_all(&pick(&required, "/payload"), "`action.required`", &["actionType", "prompt", "decisions"])?;
    must(
        ["expiresAt", "onTimeout"].iter().all(|member| says(&pick(&required, &format!("/payload/{member}")))),
        || format!("`action.required` does not say what silence means: {}", short(&required)),
    )?;
    let thread = world.thread(&worker)?;
    let shown = pick(&thread, "/pendingRequests/*/actionId").to_string();
    must(shown.contains(word(&required, "actionId")), || {
        format!("the read model does not show the open action: {shown}")
    })?;
    // Whatever is done meanwhile, it waits.
    for _ in 0..5 {
        world.ask("get_thread_read", &json!({ "agent": worker.agent, "threadId": worker.thread }))?;
    }
    world.watch.hear(std::time::Duration::from_millis(300));
    let before = of_turn(world.heard(&worker), &turn);
    let went_on = before.iter().find(|event| sequence(event) > sequence(&required) && goes_on(event));
    must(went_on.is_none(), || format!("it went on without a response: {}", short(&json!(went_on))))?;
    world.decide(&required, "approve")?;
    let end = world.end_of(&worker, &turn)?;
    must(kind(&end) == "turn.completed", || format!("it ended with {}", short(&end)))?;
    let resolved = world.of_turn(&worker, "action.resolved", &turn)?;
    must(word(&resolved, "actionId") == word(&required, "actionId"), || {
        format!("another action was resolved: {}", short(&resolved))
    })?;
    let after = of_turn(world.heard(&worker), &turn);
    let first = after.iter().find(|event| sequence(event) > sequence(&required) && goes_on(event));
    must(first.is_some_and(|event| sequence(event) > sequence(&resolved)), || {
        "it went on before the action was resolved".to_owned()
    })?;
    let thread = world.thread(&worker)?;
    let shown = pick(&thread, "/pendingRequests/*/actionId").to_string();
    must(!shown.contains(word(&required, "actionId")), || {
        "the read model shows the action as open after it was resolved".to_owned()
    })
}

/// Whether an event says that a turn does something.
fn goes_on(event: &Value) -> bool {
    let is_end = matches!(kind(event), "turn.completed" | "turn.failed");
    is_end || matches!(kind(event), "tool.result" | "tool.failed" | "process.started" | "model.delta")
}

pub(super) fn permission(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let turn = world.turn(&worker, "write")?;
    let events = of_turn(world.heard(&worker), &turn);
    in_order(&events, &["permission.evaluated", "sandbox.applied", "tool.started", "tool.result"])?;
    let evaluated = of_kind(&events, "permission.evaluated").next().cloned().unwrap_or_default();
    let decision = pick(&evaluated, "/permissionDecision");
    says_all(&decision, "`permissionDecision`", &["decision", "source"])?;
    must(says(&pick(&decision, "/reason")) || says(&pick(&decision, "/ruleRefs")), || {
        format!("nothing says why: {}", short(&decision))
    })?;
    let applied = of_kind(&events, "sandbox.applied").next().cloned().unwrap_or_default();
    says_all(&pick(&applied, "/sandboxProfile"), "`sandboxProfile`", &["mode"])?;

    let turn = denied(world, &worker)?;
    explained(world, &worker, &turn)?;
    // What the rules refuse outright, nobody is asked about.
    let turn = world.turn(&worker, "forbidden")?;
    let events = of_turn(world.heard(&worker), &turn);
    let asked = of_kind(&events, "action.required").next();
    must(asked.is_none(), || format!("somebody was asked about it: {}", short(&json!(asked))))?;
    explained(world, &worker, &turn)?;
    let thread = world.thread(&worker)?;
    must(pick(&thread, "/permissionState/source") != "human", || {
        "the read model says that a person denied what the rules refused".to_owned()
    })
}

/// That something was denied in a turn is told by its events and by the read model, with why.
fn explained(world: &mut World, worker: &Part, turn: &str) -> Step<()> {
    let events = of_turn(world.heard(worker), turn);
    let done = of_kind(&events, "tool.result").next();
    must(done.is_none(), || format!("what was denied was done: {}", short(&json!(done))))?;
    let words = ["permission.evaluated", "permission.resolved"];
    let said = events.iter().filter(|event| words.contains(&kind(event)));
    let said = said.filter(|event| pick(event, "/permissionDecision/decision") == "deny").count();
    must(said > 0, || "no event says that permission was denied".to_owned())?;
    let thread = world.thread(worker)?;
    let state = pick(&thread, "/permissionState");
    must(pick(&state, "/decision") == "deny", || format!("the read model says {}", short(&state)))?;
    let source = pick(&state, "/source");
    must(source.as_str().is_some_and(|source| SOURCES.contains(&source)), || {
        format!("the read model does not explain what caused the denial: {}", short(&state))
    })?;
    says_all(&state, "the read model's `permissionState`", &["reason"])
}

/// Has something denied: by the rules, or, if somebody is asked, by a person. Gives its turn.
fn denied(world: &mut World, worker: &Part) -> Step<String> {
    let turn = world.submit(worker, "denied")?.text("turnId")?;
    let of_it = |event: &Value| {
        word(event, "turnId") == turn
            && matches!(kind(event), "action.required" | "turn.completed" | "turn.failed")
    };
    let first = world.event(worker, "a denial, or a question", of_it)?;
    if kind(&first) == "action.required" {
        world.decide(&first, "deny")?;
        world.end_of(worker, &turn)?;
    }
    Ok(turn)
}

pub(super) fn hook(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let turn = world.turn(&worker, "hooked")?;
    let events = of_turn(world.heard(&worker), &turn);
    let said = events.iter().find(|event| matches!(kind(event), "hook.completed" | "hook.failed"));
    let Some(said) = said.cloned() else {
        return must(false, || "no event says what the hook did".to_owned());
    };
    // A hook that is told once it is over says that its beginning is missing.
    let is_begun = of_kind(&events, "hook.started").next().is_some();
    let gaps = pick(&said, "/payload/gaps").to_string();
    must(is_begun || gaps.contains("hook.started"), || format!("no `hook.started`: {}", short(&said)))?;
    let run = pick(&said, "/hookRun");
    says_all(&run, "`hookRun`", &["point"])?;
    let changed = ["updatedInputRef", "blockReason"].map(|member| {
        says(&pick(&run, &format!("/{member}"))) || says(&pick(&said, &format!("/payload/{member}")))
    });
    must(changed.contains(&true), || {
        format!("neither the rewritten input nor a reason to block: {}", short(&said))
    })?;
    let end = events.iter().find(|event| matches!(kind(event), "tool.result" | "tool.failed"));
    must(end.is_none_or(|end| sequence(end) > sequence(&said)), || {
        "the result of the tool stands before what its hook decided".to_owned()
    })
}

pub(super) fn process(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let turn = world.submit(&worker, "process")?.text("turnId")?;
    let started = world.of_turn(&worker, "process.started", &turn)?;
    let process = word(&started, "processId").to_owned();
    let of_it = |wanted: &'static str| {
        let process = process.clone();
        move |event: &Value| kind(event) == wanted && word(event, "processId") == process
    };
    world.ask("write_process_stdin", &json!({ "processId": process, "text": "hello\n" }))?;
    let input = world.event(&worker, "`process.input`", of_it("process.input"))?;
    let end = world.event(&worker, "the end of the process", |event| {
        matches!(kind(event), "process.completed" | "process.failed" | "process.terminated")
            && word(event, "processId") == process
    })?;
    must(kind(&end) == "process.completed", || format!("it ended with {}", short(&end)))?;
    must(sequence(&started) < sequence(&input) && sequence(&input) < sequence(&end), || {
        "beginning, input and end of the process stand in another order".to_owned()
    })?;
    let cut = world.event(&worker, "`output.spilled` or `output.truncated`", |event| {
        matches!(kind(event), "output.spilled" | "output.truncated") && word(event, "processId") == process
    })?;
    let kept = reference(&cut).or_else(|| reference(&end));
    must(kept.is_some(), || format!("no reference to what it wrote: {} {}", short(&cut), short(&end)))?;
    world.end_of(&worker, &turn)?;
    // One that is not known is never written to.
    let unknown = json!({ "processId": world.mapping.values.get("unknown_process"), "text": "x" });
    let refused = world.try_ask("write_process_stdin", &unknown)?;
    must(refused.is_err(), || "a process that nobody knows was written to".to_owned())
}
