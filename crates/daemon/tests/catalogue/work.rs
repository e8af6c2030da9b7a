//! Tasks and runs.

use edgeplane_testkit::wait::eventually_some;
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{
    Case, World, bindings, case, fails, failure, good, runtime::set, threads::worker, words::CLOSED,
};

pub(crate) const NO_TASK: &str = "tsk_01890000-0000-7000-8000-999999999999";
const NO_RUN: &str = "run_01890000-0000-7000-8000-999999999999";

fn no_task() -> Value {
    json!({ "task_id": NO_TASK })
}

/// A task that nobody works on.
fn task(world: &World, more: &Value) -> Value {
    let mut params = json!({ "title": "x", "start": false });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.made("runtime/task.create", params)["task_id"].clone()
}

fn of(task: &Value) -> Value {
    json!({ "task_id": task })
}

/// The same with a further parameter.
pub(crate) fn with(mut params: Value, key: &str, value: Value) -> Value {
    params[key] = value;
    params
}

fn draft(world: &World) -> Value {
    of(&task(world, &json!({})))
}

fn queued(world: &World) -> Value {
    of(&task(world, &json!({ "start": true })))
}

fn after(world: &World, verbs: &[&str]) -> Value {
    let made = queued(world);
    for verb in verbs {
        let method = format!("runtime/task.{verb}");
        let params = if *verb == "fail" { with(made.clone(), "reason", json!("x")) } else { made.clone() };
        world.made(&method, params);
    }
    made
}

fn completed(world: &World) -> Value {
    after(world, &["complete"])
}

/// A task that an agent works on, and its run.
fn running(world: &World) -> (Value, Value) {
    let agent = worker(world, "");
    let id = task(world, &json!({ "agent": agent, "objective": "hold", "start": true }));
    let run = eventually_some("it is worked on", || {
        let found = world.made("runtime/task.get", of(&id));
        (found["task"]["state"] == "running").then(|| found["task"]["run_id"].clone())
    });
    (id, run)
}

fn old(params: Value) -> Value {
    with(params, "if_version", json!(77))
}

pub(crate) fn long(params: Value) -> Value {
    with(params, "reason", json!("x".repeat(2_000)))
}

/// The failures of a method that moves a task.
macro_rules! moves {
    ($method:literal, $good:expr, |$world:ident| $wrong:expr) => {
        case(
            $method,
            |world| good(world, $good(world)),
            vec![
                fails!(NotFound, $method, |_world| no_task()),
                fails!(InvalidParams, $method, |world| long($good(world))),
                fails!(InvalidState, $method, |$world| $wrong),
                fails!(VersionConflict, $method, |world| old($good(world))),
            ],
        )
    };
}

/// An agent that nobody may speak to.
pub(crate) fn closed(world: &World) -> String {
    let name = world.name();
    let more = format!("run: stopped\n{CLOSED}");
    world.node.apply(&edgeplane_testkit::terminal(&name, &["/bin/cat"], &more));
    name
}

fn edge(world: &World, kind: &str) -> Value {
    json!({ "task_id": task(world, &json!({})), "kind": kind, "to": task(world, &json!({})) })
}

fn linked(world: &World) -> Value {
    let edge = edge(world, "source");
    world.made("runtime/task.link", edge.clone());
    edge
}

fn back(edge: &Value) -> Value {
    json!({ "task_id": edge["to"], "kind": edge["kind"], "to": edge["task_id"] })
}

fn too_late(world: &World) -> Result<Value, RpcError> {
    let other = task(world, &json!({}));
    let params = json!({ "task_id": completed(world)["task_id"], "kind": "depends_on", "to": other });
    world.ask("runtime/task.link", params)
}

pub(crate) fn cases() -> Vec<Case> {
    let mut all = moving();
    all.extend(saying());
    all.extend(joining());
    all.extend(reading());
    all.extend(running_by_hand());
    all.push(case(
        "runtime/task.create",
        |world| good(world, json!({ "title": "x", "agent": world.stopped("") })),
        vec![
            fails!(PolicyBlocked, "runtime/task.create", |world| {
                json!({ "title": "x", "agent": closed(world) })
            }),
            fails!(NotFound, "runtime/task.create", |_world| json!({ "title": "x", "agent": "nobody" })),
            fails!(InvalidParams, "runtime/task.create", |_world| json!({ "title": " " })),
            fails!(InvalidState, "runtime/task.create", |world| {
                json!({ "title": "x", "parent_id": completed(world)["task_id"] })
            }),
            failure(ErrorName::Conflict, |world| {
                let id = world.id("tsk");
                world.made("runtime/task.create", json!({ "title": "x", "task_id": id }));
                world.ask("runtime/task.create", json!({ "title": "y", "task_id": id }))
            }),
        ],
    ));
    all.push(case(
        "runtime/task.update",
        |world| good(world, with(draft(world), "title", json!("y"))),
        vec![
            fails!(PolicyBlocked, "runtime/task.update", |world| {
                with(draft(world), "agent", json!(closed(world)))
            }),
            fails!(NotFound, "runtime/task.update", |_world| no_task()),
            fails!(InvalidParams, "runtime/task.update", |world| {
                with(draft(world), "attempts", json!(0))
            }),
            fails!(InvalidState, "runtime/task.update", |world| {
                with(completed(world), "title", json!("y"))
            }),
            fails!(VersionConflict, "runtime/task.update", |world| old(draft(world))),
        ],
    ));
    all
}

fn moving() -> Vec<Case> {
    vec![
        moves!("runtime/task.start", draft, |world| completed(world)),
        moves!("runtime/task.pause", queued, |world| draft(world)),
        moves!("runtime/task.resume", |world| after(world, &["pause"]), |world| draft(world)),
        moves!("runtime/task.cancel", queued, |world| completed(world)),
        moves!("runtime/task.retry", |world| after(world, &["fail"]), |world| completed(world)),
        moves!("runtime/task.archive", completed, |world| draft(world)),
    ]
}

fn saying() -> Vec<Case> {
    vec![
        case(
            "runtime/task.progress",
            |world| good(world, with(queued(world), "done", json!(1))),
            vec![
                fails!(NotFound, "runtime/task.progress", |_world| no_task()),
                fails!(InvalidParams, "runtime/task.progress", |world| {
                    with(queued(world), "accepted", json!([3]))
                }),
                fails!(InvalidState, "runtime/task.progress", |world| completed(world)),
                fails!(Fenced, "runtime/task.progress", |world| {
                    with(queued(world), "run_id", json!(NO_RUN))
                }),
            ],
        ),
        case(
            "runtime/task.complete",
            |world| good(world, queued(world)),
            vec![
                fails!(NotFound, "runtime/task.complete", |_world| no_task()),
                fails!(InvalidParams, "runtime/task.complete", |world| {
                    with(queued(world), "artifacts", json!(["\u{1b}"]))
                }),
                fails!(InvalidState, "runtime/task.complete", |world| {
                    of(&task(world, &json!({ "start": true, "acceptance": ["it works"] })))
                }),
                fails!(VersionConflict, "runtime/task.complete", |world| old(queued(world))),
                fails!(Fenced, "runtime/task.complete", |world| {
                    with(queued(world), "run_id", json!(NO_RUN))
                }),
            ],
        ),
        case(
            "runtime/task.fail",
            |world| good(world, with(queued(world), "reason", json!("x"))),
            vec![
                fails!(NotFound, "runtime/task.fail", |_world| with(no_task(), "reason", json!("x"))),
                fails!(InvalidParams, "runtime/task.fail", |world| {
                    with(queued(world), "reason", json!(" "))
                }),
                fails!(InvalidState, "runtime/task.fail", |world| {
                    with(completed(world), "reason", json!("x"))
                }),
                fails!(VersionConflict, "runtime/task.fail", |world| {
                    old(with(queued(world), "reason", json!("x")))
                }),
                fails!(Fenced, "runtime/task.fail", |world| {
                    with(with(queued(world), "reason", json!("x")), "run_id", json!(NO_RUN))
                }),
            ],
        ),
    ]
}

fn joining() -> Vec<Case> {
    vec![
        case(
            "runtime/task.link",
            |world| good(world, edge(world, "depends_on")),
            vec![
                fails!(NotFound, "runtime/task.link", |world| {
                    with(edge(world, "source"), "to", json!(NO_TASK))
                }),
                fails!(InvalidParams, "runtime/task.link", |world| edge(world, "produced")),
                failure(ErrorName::InvalidState, too_late),
                fails!(Conflict, "runtime/task.link", |world| back(&linked(world))),
            ],
        ),
        case(
            "runtime/task.unlink",
            |world| good(world, linked(world)),
            vec![
                fails!(NotFound, "runtime/task.unlink", |world| edge(world, "source")),
                fails!(InvalidParams, "runtime/task.unlink", |world| edge(world, "evidence")),
            ],
        ),
        case(
            "runtime/run.cancel",
            |world| good(world, json!({ "run_id": running(world).1 })),
            vec![
                fails!(NotFound, "runtime/run.cancel", |_world| json!({ "run_id": NO_RUN })),
                fails!(InvalidParams, "runtime/run.cancel", |world| {
                    long(json!({ "run_id": running(world).1 }))
                }),
                failure(ErrorName::InvalidState, |world| {
                    let (task, run) = running(world);
                    world.made("runtime/run.cancel", json!({ "run_id": run }));
                    eventually_some("it has ended", || {
                        (world.made("runtime/task.get", of(&task))["task"]["state"] == "failed").then_some(())
                    });
                    world.ask("runtime/run.cancel", json!({ "run_id": run }))
                }),
            ],
        ),
    ]
}

fn reading() -> Vec<Case> {
    vec![
        case(
            "runtime/task.get",
            |world| good(world, draft(world)),
            vec![fails!(NotFound, "runtime/task.get", |_world| no_task())],
        ),
        case(
            "runtime/task.list",
            |world| good(world, json!({ "all": true })),
            vec![fails!(NotFound, "runtime/task.list", |_world| json!({ "agent": "nobody" }))],
        ),
        case(
            "runtime/task.graph",
            |world| good(world, draft(world)),
            vec![
                fails!(NotFound, "runtime/task.graph", |_world| no_task()),
                fails!(TooLarge, "runtime/task.graph", |world| {
                    let root = task(world, &json!({}));
                    task(world, &json!({ "parent_id": root }));
                    with(of(&root), "tasks_max", json!(1))
                }),
            ],
        ),
        case(
            "runtime/run.get",
            |world| good(world, json!({ "run_id": running(world).1 })),
            vec![fails!(NotFound, "runtime/run.get", |_world| json!({ "run_id": NO_RUN }))],
        ),
        case(
            "runtime/run.list",
            |world| good(world, json!({ "live": true })),
            vec![fails!(NotFound, "runtime/run.list", |_world| no_task())],
        ),
    ]
}

/// A task that an agent may work on, and does not yet.
fn workable(world: &World) -> Value {
    let agent = worker(world, "");
    of(&task(world, &json!({ "agent": agent, "objective": "hold" })))
}

/// A run that rests, or that was followed by another one.
fn rested(world: &World) -> (Value, Value) {
    let (task, run) = running(world);
    world.made("runtime/run.pause", json!({ "run_id": run }));
    (task, json!({ "run_id": run }))
}

fn followed(world: &World) -> Value {
    let (task, run) = rested(world);
    eventually_some("a run follows it", || {
        world.ask("runtime/run.resume", run.clone()).ok();
        let found = world.made("runtime/run.list", of(&task));
        (found["items"].as_array().unwrap().len() == 2).then_some(())
    });
    run
}

fn running_by_hand() -> Vec<Case> {
    vec![
        case(
            "runtime/run.start",
            |world| good(world, workable(world)),
            vec![
                fails!(PolicyBlocked, "runtime/run.start", |world| {
                    with(draft(world), "agent", json!(closed(world)))
                }),
                fails!(NotFound, "runtime/run.start", |_world| no_task()),
                fails!(InvalidParams, "runtime/run.start", |world| draft(world)),
                fails!(InvalidState, "runtime/run.start", |world| of(&running(world).0)),
                failure(ErrorName::Conflict, |world| {
                    let run = with(workable(world), "run_id", json!(world.id("run")));
                    world.made("runtime/run.start", run.clone());
                    world.ask("runtime/run.start", with(workable(world), "run_id", run["run_id"].clone()))
                }),
                fails!(VersionConflict, "runtime/run.start", |world| old(workable(world))),
                fails!(Fenced, "runtime/run.start", |world| {
                    with(workable(world), "retry_of", json!(NO_RUN))
                }),
                fails!(Unsupported, "runtime/run.start", |world| {
                    let params = with(draft(world), "agent", json!(set(world)));
                    with(params, "binding", bindings::seen(world))
                }),
                fails!(Locked, "runtime/run.start", |world| {
                    with(workable(world), "binding", bindings::written(world))
                }),
                fails!(QuotaExhausted, "runtime/run.start", |world| {
                    with(workable(world), "binding", bindings::crowded(world))
                }),
            ],
        ),
        case(
            "runtime/run.pause",
            |world| good(world, json!({ "run_id": running(world).1 })),
            vec![
                fails!(NotFound, "runtime/run.pause", |_world| json!({ "run_id": NO_RUN })),
                fails!(InvalidParams, "runtime/run.pause", |world| long(
                    json!({ "run_id": running(world).1 })
                )),
                fails!(InvalidState, "runtime/run.pause", |world| rested(world).1),
                fails!(Fenced, "runtime/run.pause", |world| followed(world)),
            ],
        ),
        case(
            "runtime/run.resume",
            |world| good(world, rested(world).1),
            vec![
                fails!(NotFound, "runtime/run.resume", |_world| json!({ "run_id": NO_RUN })),
                fails!(InvalidParams, "runtime/run.resume", |world| long(rested(world).1)),
                fails!(InvalidState, "runtime/run.resume", |world| json!({ "run_id": running(world).1 })),
                fails!(Fenced, "runtime/run.resume", |world| followed(world)),
            ],
        ),
    ]
}
