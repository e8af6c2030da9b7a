//! Agents: declared, moved through their life, let go.

use edgeplane_testkit::{
    NodeOptions, terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, failure, failures, good};

fn documents(world: &World, text: &str) -> Value {
    let folder = world.node.scratch().to_string_lossy().into_owned();
    json!({ "documents": [{ "file": "x.yaml", "text": text, "folder": folder }] })
}

fn of(name: &str) -> Value {
    json!({ "agent": name })
}

macro_rules! nobody {
    ($method:literal) => {
        failure(ErrorName::NotFound, |w: &World| w.ask($method, of("nobody")))
    };
}

/// What an agent asks of another, which the shipped rules refuse.
macro_rules! by_an_agent {
    ($method:literal) => {
        failure(ErrorName::PolicyBlocked, |w: &World| {
            let (own, other) = (w.cat(), w.cat());
            w.talk(Who::Agent(&own))($method, of(&other))
        })
    };
}

macro_rules! while_it_is {
    ($how:ident, $method:literal) => {
        failure(ErrorName::InvalidState, |w: &World| w.ask($method, of(&$how(w))))
    };
}

fn running(world: &World) -> String {
    world.cat()
}

fn declared(world: &World) -> String {
    world.stopped("")
}

fn frozen(world: &World) -> String {
    let name = world.cat();
    world.ask("runtime/agent.freeze", of(&name)).unwrap();
    world.node.wait(&name, Phase::Frozen);
    name
}

/// A set of replicas.
pub(crate) fn set(world: &World) -> String {
    set_with(world, "")
}

/// A set that does not run: what comes to it stays with it, as no replica takes it.
pub(crate) fn stopped_set(world: &World) -> String {
    set_with(world, "run: stopped")
}

fn set_with(world: &World, more: &str) -> String {
    let name = world.name();
    let log = world.node.scratch().join(&name);
    let more = format!("state: stateless\nreplicas: 1\n{more}");
    world.node.apply(&edgeplane_testkit::task_worker(&name, &log, &[], &more));
    name
}

/// One replica of a set.
fn replica(world: &World) -> String {
    let name = set(world);
    eventually_some("the set has its replica", || {
        let agents = world.ask("runtime/agent.list", json!({})).unwrap();
        let names = agents["items"].as_array().unwrap().iter();
        let mut names = names.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
        names.find(|other| other.starts_with(&format!("{name}-")))
    })
}

/// An agent whose preparation fails.
fn unprepared(world: &World) -> String {
    world.stopped("prepare: [{ name: no, run: [\"/bin/false\"] }]")
}

fn plan_of(world: &World, name: &str) -> Value {
    let plan = world.ask("runtime/retirement.plan", of(name)).unwrap();
    json!({ "agent": name, "plan": plan["digest"] })
}

fn without_cgroups(method: &str) -> Result<Value, RpcError> {
    let world = World::with(NodeOptions { no_cgroups: true, ..NodeOptions::default() });
    let name = world.cat();
    world.ask(method, of(&name))
}

/// More schedules than an agent may have.
fn many_schedules(world: &World) -> Value {
    let agent = world.stopped("");
    let file = |numbers: std::ops::Range<u32>| {
        let each = numbers.map(|number| {
            format!(
                "---\napiVersion: edgeplane.dev/v1alpha1\nkind: Schedule\nmetadata: {{ name: s{number} }}\nspec: {{ agent: {agent}, every: 1h, content: x }}\n"
            )
        });
        documents(world, &each.collect::<String>())["documents"][0].clone()
    };
    json!({ "documents": [file(0..600), file(600..1_001)] })
}

pub(crate) fn cases() -> Vec<Case> {
    changing().into_iter().chain(resting()).chain(ending()).chain(reading()).collect()
}

fn changing() -> Vec<Case> {
    vec![
        case(
            "runtime/agent.apply",
            |w| {
                let name = w.name();
                good(w, documents(w, &terminal(&name, &["/bin/cat"], "run: stopped")))
            },
            vec![
                (ErrorName::InvalidManifest, |w| w.ask("runtime/agent.apply", documents(w, "kind: Agent\n"))),
                (ErrorName::QuotaExhausted, |w| w.ask("runtime/agent.apply", many_schedules(w))),
            ],
        ),
        case(
            "runtime/agent.install",
            |w| good(w, of(&declared(w))),
            vec![nobody!("runtime/agent.install"), while_it_is!(unprepared, "runtime/agent.install")],
        ),
        case(
            "runtime/agent.start",
            |w| good(w, of(&declared(w))),
            vec![
                by_an_agent!("runtime/agent.start"),
                nobody!("runtime/agent.start"),
                while_it_is!(frozen, "runtime/agent.start"),
            ],
        ),
        case(
            "runtime/agent.stop",
            |w| good(w, of(&running(w))),
            vec![by_an_agent!("runtime/agent.stop"), nobody!("runtime/agent.stop")],
        ),
        case(
            "runtime/agent.restart",
            |w| good(w, of(&running(w))),
            vec![by_an_agent!("runtime/agent.restart"), nobody!("runtime/agent.restart")],
        ),
    ]
}

fn resting() -> Vec<Case> {
    vec![
        case(
            "runtime/agent.freeze",
            |w| good(w, of(&running(w))),
            vec![
                by_an_agent!("runtime/agent.freeze"),
                nobody!("runtime/agent.freeze"),
                while_it_is!(declared, "runtime/agent.freeze"),
                (ErrorName::Unsupported, |_world| without_cgroups("runtime/agent.freeze")),
            ],
        ),
        case(
            "runtime/agent.unfreeze",
            |w| good(w, of(&frozen(w))),
            vec![
                by_an_agent!("runtime/agent.unfreeze"),
                nobody!("runtime/agent.unfreeze"),
                while_it_is!(declared, "runtime/agent.unfreeze"),
            ],
        ),
        case(
            "runtime/agent.hibernate",
            |w| {
                // One that rests stays at rest.
                let name = w.name();
                let folder = w.node.scratch().join(&name);
                w.node.run(&name, &edgeplane_testkit::acp(&name, &folder, &[], ("", "")));
                eventually("it is idle", || w.ask("runtime/agent.hibernate", of(&name)).is_ok());
                w.node.wait(&name, Phase::Hibernated);
                good(w, of(&name))
            },
            vec![
                by_an_agent!("runtime/agent.hibernate"),
                nobody!("runtime/agent.hibernate"),
                while_it_is!(running, "runtime/agent.hibernate"),
            ],
        ),
    ]
}

fn ending() -> Vec<Case> {
    vec![
        failures(
            "runtime/agent.release",
            vec![nobody!("runtime/agent.release"), while_it_is!(running, "runtime/agent.release")],
        ),
        case(
            "runtime/agent.retire",
            |w| good(w, of(&declared(w))),
            vec![nobody!("runtime/agent.retire"), while_it_is!(replica, "runtime/agent.retire")],
        ),
        case(
            "runtime/retirement.perform",
            |w| {
                let params = plan_of(w, &declared(w));
                good(w, params)
            },
            vec![
                (ErrorName::NotFound, |w| {
                    w.ask("runtime/retirement.perform", json!({ "agent": "nobody", "plan": "x" }))
                }),
                (ErrorName::InvalidState, |w| {
                    let params = plan_of(w, &replica(w));
                    w.ask("runtime/retirement.perform", params)
                }),
                (ErrorName::Conflict, |w| {
                    w.ask("runtime/retirement.perform", json!({ "agent": declared(w), "plan": "other" }))
                }),
            ],
        ),
    ]
}

fn reading() -> Vec<Case> {
    vec![
        case("runtime/agent.list", |w| good(w, json!({})), vec![]),
        case("runtime/agent.get", |w| good(w, of(&declared(w))), vec![nobody!("runtime/agent.get")]),
        case(
            "runtime/retirement.plan",
            |w| good(w, of(&declared(w))),
            vec![nobody!("runtime/retirement.plan")],
        ),
        case("runtime/epoch.list", |w| good(w, of(&declared(w))), vec![nobody!("runtime/epoch.list")]),
        case(
            "runtime/agent.wait",
            |w| Good {
                talk: w.talk(Who::Operator),
                params: json!({ "agent": declared(w), "phases": ["declared"], "timeout_ms": 0 }),
            },
            vec![
                (ErrorName::NotFound, |w| {
                    w.ask(
                        "runtime/agent.wait",
                        json!({ "agent": "nobody", "phases": ["running"], "timeout_ms": 0 }),
                    )
                }),
                (ErrorName::DeadlineExceeded, |w| {
                    let params = json!({ "agent": declared(w), "phases": ["running"], "timeout_ms": 0 });
                    w.ask("runtime/agent.wait", params)
                }),
            ],
        ),
    ]
}
