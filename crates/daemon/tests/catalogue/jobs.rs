//! Jobs and their items.

use edgeplane_testkit::wait::eventually_some;
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{
    Case, World, case, fails, failure, good,
    threads::worker,
    work::{NO_TASK, closed, long, with},
};

fn params(agent: &str, work: &str) -> Value {
    json!({ "title": "x", "items": [{ "input": work }], "agents": [agent] })
}

/// A job whose item nobody takes.
fn waiting(world: &World) -> Value {
    made(world, params(&world.stopped(""), "x"))
}

fn made(world: &World, params: Value) -> Value {
    json!({ "job_id": world.made("runtime/job.create", params)["job_id"] })
}

fn item_of(world: &World, job: &Value) -> Value {
    json!({ "item_id": world.made("runtime/job.get", job.clone())["items"][0]["item_id"] })
}

fn item(world: &World) -> Value {
    item_of(world, &waiting(world))
}

fn no_item() -> Value {
    json!({ "item_id": NO_TASK })
}

fn failed(world: &World) -> Value {
    let item = item(world);
    world.made("runtime/task.fail", json!({ "task_id": item["item_id"], "reason": "x" }));
    item
}

/// An item that an agent works on and has to report, or not.
fn held(world: &World, report: &str) -> Value {
    let job = made(world, with(params(&worker(world, ""), "hold"), "report", json!(report)));
    let item = item_of(world, &job);
    eventually_some("it is worked on", || {
        let found = world.made("runtime/job.get", job.clone());
        (found["items"][0]["task_state"] == "running").then_some(())
    });
    item
}

fn over(world: &World) -> Value {
    let job = waiting(world);
    world.made("runtime/job.cancel", job.clone());
    eventually_some("it is cancelled", || {
        (world.made("runtime/job.get", job.clone())["job"]["state"] == "cancelled").then_some(())
    });
    job
}

pub(crate) fn cases() -> Vec<Case> {
    let mut all = of_items();
    all.extend([
        case(
            "runtime/job.create",
            |world| good(world, params(&world.stopped(""), "x")),
            vec![
                fails!(PolicyBlocked, "runtime/job.create", |world| params(&closed(world), "x")),
                fails!(NotFound, "runtime/job.create", |_world| params("nobody", "x")),
                fails!(InvalidParams, "runtime/job.create", |world| {
                    with(params(&world.stopped(""), "x"), "items", json!([]))
                }),
                failure(ErrorName::Conflict, |world| {
                    let id = world.id("tsk");
                    let first = with(params(&world.stopped(""), "x"), "job_id", id.into());
                    world.made("runtime/job.create", first.clone());
                    world.ask("runtime/job.create", with(first, "title", json!("y")))
                }),
            ],
        ),
        case(
            "runtime/job.get",
            |world| good(world, waiting(world)),
            vec![fails!(NotFound, "runtime/job.get", |_world| json!({ "job_id": NO_TASK }))],
        ),
        case("runtime/job.list", |world| good(world, json!({ "all": true })), vec![]),
        case(
            "runtime/job.cancel",
            |world| good(world, waiting(world)),
            vec![
                fails!(NotFound, "runtime/job.cancel", |_world| json!({ "job_id": NO_TASK })),
                fails!(InvalidParams, "runtime/job.cancel", |world| long(waiting(world))),
                failure(ErrorName::InvalidState, |world| {
                    let job = made(world, params(&worker(world, ""), "x"));
                    let item = item_of(world, &job);
                    world.ask("runtime/task.complete", json!({ "task_id": item["item_id"] })).ok();
                    eventually_some("it is over", || {
                        (world.made("runtime/job.get", job.clone())["job"]["state"] == "completed")
                            .then_some(())
                    });
                    world.ask("runtime/job.cancel", job)
                }),
            ],
        ),
    ]);
    all
}

fn of_items() -> Vec<Case> {
    vec![
        case(
            "runtime/job_item.assign",
            |world| good(world, with(item(world), "agent", json!(world.stopped("")))),
            vec![
                fails!(PolicyBlocked, "runtime/job_item.assign", |world| {
                    with(item(world), "agent", json!(closed(world)))
                }),
                fails!(NotFound, "runtime/job_item.assign", |world| {
                    with(no_item(), "agent", json!(world.stopped("")))
                }),
                fails!(InvalidState, "runtime/job_item.assign", |world| {
                    let item = item_of(world, &over(world));
                    with(item, "agent", json!(world.stopped("")))
                }),
            ],
        ),
        case(
            "runtime/job_item.retry",
            |world| good(world, failed(world)),
            vec![
                fails!(NotFound, "runtime/job_item.retry", |_world| no_item()),
                fails!(InvalidParams, "runtime/job_item.retry", |world| long(failed(world))),
                fails!(InvalidState, "runtime/job_item.retry", |world| item(world)),
            ],
        ),
        case(
            "runtime/job_item.report",
            |world| good(world, with(held(world, "explicit"), "result", json!({ "a": 1 }))),
            vec![
                fails!(NotFound, "runtime/job_item.report", |_world| no_item()),
                fails!(InvalidParams, "runtime/job_item.report", |world| {
                    with(item(world), "result", json!("x".repeat(300_000)))
                }),
                fails!(InvalidState, "runtime/job_item.report", |world| held(world, "turn")),
                fails!(Fenced, "runtime/job_item.report", |world| {
                    let params = with(params(&world.stopped(""), "x"), "report", json!("explicit"));
                    item_of(world, &made(world, params))
                }),
            ],
        ),
    ]
}
