//! Actions and schedules.

use edgeplane_types::{ErrorName, Scope};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, Who, World, case, failure, good};

const NO_ACTION: &str = "act_01890000-0000-7000-8000-000000000002";

fn question(agent: &str) -> Value {
    json!({ "agent": agent, "kind": "approval", "prompt": "May I?" })
}

fn open(world: &World) -> Value {
    world.ask("conversation/action.open", question(&world.stopped(""))).unwrap()["action"].clone()
}

fn of(action: &Value) -> Value {
    json!({ "action_id": action["id"] })
}

fn nothing() -> Value {
    json!({ "action_id": NO_ACTION })
}

fn vote(action: &Value) -> Value {
    json!({ "action_id": action["id"], "digest": action["digest"], "verdict": { "verdict": "approve" } })
}

fn decided(world: &World) -> Value {
    let action = open(world);
    world.ask("conversation/action.respond", vote(&action)).unwrap();
    action
}

macro_rules! no_action {
    ($method:literal) => {
        failure(ErrorName::NotFound, |w: &World| w.ask($method, nothing()))
    };
}

/// A schedule of an agent's manifest, which says more.
fn of_agent(world: &World, more: &str) -> Value {
    let tick = "schedules:\n  - { name: tick, every: 1h, content: tick }";
    json!({ "agent": world.stopped(&format!("{more}{tick}")), "name": "tick" })
}

/// A schedule of an agent's manifest, or one beside it.
fn schedule(world: &World, in_manifest: bool) -> Value {
    if in_manifest {
        return of_agent(world, "");
    }
    let agent = world.stopped("");
    world.node.apply(&format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Schedule\nmetadata: {{ name: tick }}\nspec: {{ agent: {agent}, every: 1h, content: tick }}\n"
    ));
    json!({ "agent": agent, "name": "tick" })
}

fn no_schedule(world: &World, method: &str) -> Result<Value, RpcError> {
    world.ask(method, json!({ "agent": world.stopped(""), "name": "tick" }))
}

macro_rules! no_schedule {
    ($method:literal) => {
        failure(ErrorName::NotFound, |w: &World| no_schedule(w, $method))
    };
}

pub(crate) fn cases() -> Vec<Case> {
    actions().into_iter().chain(decided_on()).chain(schedules()).collect()
}

fn actions() -> Vec<Case> {
    vec![
        case(
            "conversation/action.open",
            |w| good(w, question(&w.stopped(""))),
            vec![
                (ErrorName::NotFound, |w| w.ask("conversation/action.open", question("nobody"))),
                (ErrorName::InvalidParams, |w| {
                    let mut params = question(&w.stopped(""));
                    params["prompt"] = json!("");
                    w.ask("conversation/action.open", params)
                }),
                (ErrorName::TooLarge, |w| {
                    let mut params = question(&w.stopped(""));
                    params["subject"] = json!({ "text": "x".repeat(300 << 10) });
                    w.ask("conversation/action.open", params)
                }),
                (ErrorName::Backpressure, |w| {
                    let agent = w.stopped("");
                    for _ in 0..64 {
                        w.ask("conversation/action.open", question(&agent)).unwrap();
                    }
                    w.ask("conversation/action.open", question(&agent))
                }),
                (ErrorName::IdempotencyMismatch, |w| {
                    let mut params = question(&w.stopped(""));
                    params["idempotency_key"] = json!("k");
                    w.ask("conversation/action.open", params.clone()).unwrap();
                    params["prompt"] = json!("Really?");
                    w.ask("conversation/action.open", params)
                }),
            ],
        ),
        case(
            "conversation/action.list",
            |w| good(w, json!({})),
            vec![(ErrorName::NotFound, |w| w.ask("conversation/action.list", json!({ "agent": "nobody" })))],
        ),
        case(
            "conversation/action.get",
            |w| good(w, of(&open(w))),
            vec![no_action!("conversation/action.get")],
        ),
    ]
}

fn decided_on() -> Vec<Case> {
    vec![
        case(
            "conversation/action.respond",
            |w| good(w, vote(&open(w))),
            vec![
                (ErrorName::NotFound, |w| {
                    let params = json!({ "action_id": NO_ACTION, "digest": "00", "verdict": { "verdict": "approve" } });
                    w.ask("conversation/action.respond", params)
                }),
                (ErrorName::InvalidState, |w| w.ask("conversation/action.respond", vote(&decided(w)))),
                (ErrorName::InvalidParams, |w| {
                    let mut params = vote(&open(w));
                    params["verdict"] = json!({ "verdict": "answer", "answer": "yes" });
                    w.ask("conversation/action.respond", params)
                }),
                (ErrorName::PermissionDenied, |w| {
                    let mut params = question(&w.stopped(""));
                    params["roles"] = json!(["release"]);
                    let action = w.ask("conversation/action.open", params).unwrap()["action"].clone();
                    let token = w.node.remote_token("ann", &[Scope::Approve], &[]).token;
                    w.talk(Who::Bearer(&token))("conversation/action.respond", vote(&action))
                }),
                (ErrorName::PolicyBlocked, |w| {
                    w.talk(Who::Agent(&w.cat()))("conversation/action.respond", vote(&open(w)))
                }),
                (ErrorName::Conflict, |w| {
                    let mut params = vote(&open(w));
                    params["digest"] = json!("00".repeat(32));
                    w.ask("conversation/action.respond", params)
                }),
            ],
        ),
        case(
            "conversation/action.cancel",
            |w| good(w, of(&open(w))),
            vec![
                no_action!("conversation/action.cancel"),
                (ErrorName::InvalidState, |w| w.ask("conversation/action.cancel", of(&decided(w)))),
            ],
        ),
    ]
}

fn schedules() -> Vec<Case> {
    vec![
        case(
            "runtime/schedule.list",
            |w| good(w, json!({})),
            vec![(ErrorName::NotFound, |w| w.ask("runtime/schedule.list", json!({ "agent": "nobody" })))],
        ),
        case(
            "runtime/schedule.history",
            |w| good(w, schedule(w, true)),
            vec![(ErrorName::NotFound, |w| {
                w.ask("runtime/schedule.history", json!({ "agent": "nobody", "name": "tick" }))
            })],
        ),
        case(
            "runtime/schedule.run",
            |w| good(w, schedule(w, true)),
            vec![
                no_schedule!("runtime/schedule.run"),
                (ErrorName::Backpressure, |w| {
                    let params = of_agent(w, "inbox: { max: 1 }\n");
                    w.ask("runtime/schedule.run", params.clone()).unwrap();
                    w.ask("runtime/schedule.run", params)
                }),
                (ErrorName::PolicyBlocked, |w| {
                    let rule = "policy: |\n  @id(\"closed\")\n  forbid (principal, action, resource);\n";
                    w.ask("runtime/schedule.run", of_agent(w, rule))
                }),
            ],
        ),
        case(
            "runtime/schedule.pause",
            |w| good(w, schedule(w, true)),
            vec![no_schedule!("runtime/schedule.pause")],
        ),
        case(
            "runtime/schedule.resume",
            |w| good(w, schedule(w, true)),
            vec![no_schedule!("runtime/schedule.resume")],
        ),
        case(
            "runtime/schedule.remove",
            |w| good(w, schedule(w, false)),
            vec![
                no_schedule!("runtime/schedule.remove"),
                (ErrorName::InvalidState, |w| w.ask("runtime/schedule.remove", schedule(w, true))),
            ],
        ),
    ]
}
