//! AC-7, AC-8, AC-15, AC-17: subagents, tasks, limits, jobs.

use serde_json::{Value, json};

use super::{history::of_task, says, says_all};
use crate::{
    rules::{kind, sequence, word},
    template::pick,
    world::{Said, Step, World, must, short},
};

pub(super) fn subagents(world: &mut World) -> Step<()> {
    let parent = world.part("worker")?;
    let turn = world.turn(&parent, "short")?;
    let word_of_it = world.fresh();
    let text = world.prompt("short", &word_of_it)?;
    let given = json!({
        "agent": parent.agent, "sessionId": parent.session, "threadId": parent.thread, "turnId": turn,
        "text": text, "key": word_of_it, "role": "helper",
    });
    let child = world.ask("spawn_subagent", &given)?;
    let id = child.text("subagentId")?;
    let of_it = |wanted: &'static str| {
        let id = id.clone();
        move |event: &Value| kind(event) == wanted && word(event, "subagentId") == id
    };
    let spawned = world.event(&parent, "`subagent.spawned`", of_it("subagent.spawned"))?;
    let links = [("parentThreadId", parent.thread.as_str()), ("parentSessionId", parent.session.as_str())];
    let is_linked = links.iter().any(|(member, id)| {
        [format!("/payload/{member}"), format!("/correlation/{member}")]
            .iter()
            .any(|place| pick(&spawned, place) == *id)
    });
    must(is_linked || word(&spawned, "threadId") == parent.thread, || {
        format!("`subagent.spawned` does not name its parent: {}", short(&spawned))
    })?;
    let thread = child.text("threadId")?;
    must(thread != parent.thread, || "the child works in its parent's thread".to_owned())?;
    must(spawned.to_string().contains(&thread), || {
        format!("`subagent.spawned` does not name the child's thread: {}", short(&spawned))
    })?;
    let more = world.fresh();
    let text = world.prompt("short", &more)?;
    world.ask("send_subagent_input", &json!({ "subagentId": id, "text": text, "key": more }))?;
    let input = world.event(&parent, "`subagent.input`", of_it("subagent.input"))?;
    must(sequence(&input) > sequence(&spawned), || "input came before the child was there".to_owned())?;
    world.ask("wait_subagents", &json!({ "subagentIds": [id], "subagentId": id }))?;
    let listed = world.ask("list_subagents", &json!({ "agent": parent.agent, "threadId": parent.thread }))?;
    must(listed.raw.to_string().contains(&id), || format!("it is not listed: {}", short(&listed.raw)))?;
    world.ask("close_subagent", &json!({ "subagentId": id }))?;
    world.event(&parent, "`subagent.closed`", of_it("subagent.closed")).map(drop)
}

fn task(world: &mut World, given: &Value) -> Step<String> {
    world.ask("create_task", given)?.text("taskId")
}

fn get(world: &mut World, task: &str) -> Step<Said> {
    world.ask("get_task", &json!({ "taskId": task }))
}

/// Waits until a task is there.
fn comes_to(world: &mut World, task: &str, wanted: &str) -> Step<Said> {
    world.until(&format!("task {task} to be `{wanted}`"), |world| {
        let said = get(world, task)?;
        Ok((said.get("status") == wanted).then_some(said))
    })
}

pub(super) fn retry(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let word_of_it = world.fresh();
    let objective = world.prompt("flaky", &word_of_it)?;
    let title = |what: &str| format!("{what} {word_of_it}");
    let main = task(
        world,
        &json!({ "title": title("main"), "objective": objective, "agent": worker.agent, "start": false }),
    )?;
    let child = task(world, &json!({ "title": title("child"), "parentId": main, "start": false }))?;
    let after = task(world, &json!({ "title": title("after"), "dependsOn": [main], "start": false }))?;
    let edges = |said: &Said| {
        let mut all = said.list("edgesFrom");
        all.extend(said.list("edgesTo"));
        all.contains(&json!(after))
    };
    must(edges(&get(world, &main)?), || "the edge to the task that depends on it is not shown".to_owned())?;
    world.ask("start_task", &json!({ "taskId": main }))?;
    let failed = comes_to(world, &main, "failed")?;
    let runs = failed.list("runs");
    let [first] = runs.as_slice() else {
        return must(false, || format!("one attempt was made, and {} are shown", runs.len()));
    };
    let first_id = pick(first, "/run_id").as_str().map(str::to_owned).or_else(|| id_of(&failed, 0));
    let first_id = first_id.unwrap_or_default();
    let (of_main, run) = (main.clone(), first_id.clone());
    let told = world.event(&worker, "`task.attempt.failed`", |event| {
        kind(event) == "task.attempt.failed"
            && word(event, "taskId") == of_main
            && word(event, "runId") == run
    })?;
    says_all(&told, "`task.attempt.failed`", &["runId", "taskAttempt"])?;
    world.ask("retry_task", &json!({ "taskId": main, "reason": "once more" }))?;
    let done = comes_to(world, &main, "completed")?;
    let ids: Vec<_> = (0..done.list("runs").len()).filter_map(|place| id_of(&done, place)).collect();
    must(ids.len() == 2 && ids.first() == Some(&first_id) && ids.get(1) != Some(&first_id), || {
        format!("after a retry the attempts are {ids:?}, and the first one was {first_id}")
    })?;
    let states = done.list("runStates");
    must(states.first() == Some(&json!("failed")), || format!("the failed attempt is shown as {states:?}"))?;
    must(edges(&done), || "the retry has lost an edge".to_owned())?;
    let parent = get(world, &child)?;
    must(parent.get("parentId") == main.as_str(), || "the child has lost its parent".to_owned())?;
    let (of_main, second) = (main.clone(), ids.get(1).cloned().unwrap_or_default());
    world.event(&worker, "`task.attempt.completed` of the second attempt", |event| {
        let is_its = word(event, "taskId") == of_main && word(event, "runId") == second;
        is_its && kind(event) == "task.attempt.completed"
    })?;
    let begun = of_task(world.heard(&worker), "task.attempt.started", &main).len();
    must(begun == 2, || format!("{begun} attempts are told of, and two were made"))?;
    let read = world.snapshot(&worker, crate::schemas::Form::Strict)?.0;
    let tasks = pick(&read, "/tasks").as_array().cloned().unwrap_or_default();
    let shown = tasks.iter().find(|task| word(task, "taskId") == main).cloned().unwrap_or_default();
    let shown = pick(&shown, "/attempts/*/runId");
    must(shown == json!(ids), || format!("the read model shows the attempts {shown}"))
}

fn id_of(said: &Said, place: usize) -> Option<String> {
    said.list("runIds").get(place).and_then(Value::as_str).map(str::to_owned)
}

pub(super) fn limit(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let word_of_it = world.fresh();
    let objective = world.prompt("spend", &word_of_it)?;
    let limits = world.mapping.values.get("spend_limits").cloned();
    let given = json!({
        "title": format!("spend {word_of_it}"), "objective": objective, "agent": worker.agent, "start": true,
        "limits": limits,
    });
    let spent = task(world, &given)?;
    let failed = comes_to(world, &spent, "failed")?;
    let turn = failed.list("runTurns").first().and_then(Value::as_str).unwrap_or_default().to_owned();
    let of_it = spent.clone();
    let hit =
        world.event(&worker, "`quota.blocked`, `quota.low` or `rate_limit.hit` of the turn", |event| {
            let is_limit = matches!(kind(event), "quota.blocked" | "quota.low" | "rate_limit.hit");
            is_limit && (word(event, "turnId") == turn || word(event, "taskId") == of_it)
        })?;
    must(word(&hit, "turnId") == turn, || {
        format!("the limit is not joined to turn {turn}: {}", short(&hit))
    })?;
    let state = pick(&hit, "/limitState");
    says_all(&state, "`limitState`", &["status", "kind"])?;
    let pack = super::evidence::Pack::export(world, &json!({ "turnId": turn }))?;
    must(pack.correlation(world).to_string().contains(&turn), || {
        "the exported evidence is not joined to the turn".to_owned()
    })
}

pub(super) fn job_item(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let mut items = Vec::new();
    for prompt in ["short", "flaky", "short"] {
        let word_of_it = world.fresh();
        items.push(json!({ "input": world.prompt(prompt, &word_of_it)? }));
    }
    let title = world.fresh();
    let given = json!({ "title": format!("job {title}"), "items": items, "agents": [worker.agent] });
    let job = world.ask("create_job", &given)?.text("jobId")?;
    let over = |wanted: &'static str, job: String| {
        move |world: &mut World| -> Step<Option<Said>> {
            let said = world.ask("get_job", &json!({ "jobId": job }))?;
            Ok((said.get("status") == wanted).then_some(said))
        }
    };
    let failed = world.until("the job to be over, one item failed", over("failed", job.clone()))?;
    let states = failed.list("itemStates");
    must(states == [json!("completed"), json!("failed"), json!("completed")], || {
        format!("one item failed, and the items are {states:?}")
    })?;
    let item = failed.list("itemIds").get(1).and_then(Value::as_str).unwrap_or_default().to_owned();
    let error = failed.list("itemErrors").get(1).cloned().unwrap_or_default();
    must(says(&error), || "the failed item does not say why".to_owned())?;
    world.ask("retry_job_item", &json!({ "jobItemId": item, "reason": "once more" }))?;
    let done = world.until("the job to be completed", over("completed", job))?;
    let attempts = done.list("itemAttempts");
    must(attempts == [json!(1), json!(2), json!(1)], || {
        format!("only the second item was tried again, and the attempts are {attempts:?}")
    })?;
    let task = get(world, &item)?;
    let first = task.list("runs").first().cloned().unwrap_or_default();
    let states = task.list("runStates");
    must(states.first() == Some(&json!("failed")) && says(&pick(&first, "/reason")), || {
        format!("the failed attempt and its error are not kept: {}", short(&first))
    })?;
    world
        .event(&worker, "an event that says that the item failed", |event| match kind(event) {
            "task.attempt.failed" => word(event, "taskId") == item,
            "job.item.failed" => word(event, "jobItemId") == item,
            _ => false,
        })
        .map(drop)
}
