//! Messages, questions and what agents report.

use edgeplane_testkit::terminal;
use edgeplane_types::{ErrorName, Rung};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, failure, failures, good, turns::too_often};

const NO_MESSAGE: &str = "msg_01890000-0000-7000-8000-000000000002";

fn parts(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn to(agent: &str) -> Value {
    json!({ "agent": agent, "parts": parts("x") })
}

fn submitted(agent: &str) -> Value {
    json!({ "agent": agent, "channel": "web", "parts": parts("x") })
}

/// Longer than any message.
fn long(mut params: Value) -> Value {
    params["parts"] = parts(&"x".repeat(5 << 20));
    params
}

/// An agent whose inbox takes one message.
fn full(world: &World) -> String {
    let name = world.stopped("inbox: { max: 1 }");
    world.ask("runtime/agent.signal", to(&name)).unwrap();
    name
}

/// The same key for two different texts.
fn reused(world: &World, method: &str, params: Value) -> Result<Value, RpcError> {
    let mut params = params;
    params["idempotency_key"] = json!(world.name());
    world.ask(method, params.clone()).unwrap();
    params["parts"] = parts("y");
    world.ask(method, params)
}

/// In a manifest: nobody may tell this agent anything.
pub(crate) const CLOSED: &str =
    "policy: |\n  @id(\"closed\")\n  forbid (principal, action == Action::\"send\", resource);\n";

fn closed(world: &World) -> String {
    world.stopped(CLOSED)
}

/// An agent that ends turns and answers.
fn answering(world: &World) -> String {
    let name = thinking(world, "");
    world.ask("runtime/agent.start", json!({ "agent": name })).unwrap();
    world.node.wait(&name, edgeplane_types::Phase::Running);
    name
}

/// One that would, if it ran.
fn thinking(world: &World, more: &str) -> String {
    let name = world.name();
    let folder = world.node.scratch().join(&name);
    world.node.apply(&edgeplane_testkit::exec(&name, &folder, &[], ("", &format!("run: stopped\n{more}"))));
    name
}

/// A message that its agent could not take.
fn letter(world: &World) -> String {
    let name = world.cat();
    let long = world.node.signal(&name, &"x".repeat(5_000), Some(Rung::TurnEnded));
    long.message_id.to_string()
}

fn message(world: &World) -> String {
    world.node.signal(&world.stopped(""), "x", None).message_id.to_string()
}

fn of_message(id: &str) -> Value {
    json!({ "message_id": id })
}

macro_rules! no_message {
    ($method:literal) => {
        failure(ErrorName::NotFound, |w: &World| w.ask($method, of_message(NO_MESSAGE)))
    };
}

macro_rules! to_nobody {
    ($method:literal, $params:expr) => {
        failure(ErrorName::NotFound, |w: &World| w.ask($method, $params("nobody")))
    };
}

macro_rules! too_large {
    ($method:literal, $params:expr) => {
        failure(ErrorName::TooLarge, |w: &World| w.ask($method, long($params(&w.stopped("")))))
    };
}

macro_rules! too_many {
    ($method:literal, $params:expr) => {
        failure(ErrorName::Backpressure, |w: &World| w.ask($method, $params(&full(w))))
    };
}

macro_rules! other_words {
    ($method:literal, $params:expr) => {
        failure(ErrorName::IdempotencyMismatch, |w: &World| reused(w, $method, $params(&w.stopped(""))))
    };
}

pub(crate) fn cases() -> Vec<Case> {
    sent().into_iter().chain(asked()).chain(seen()).chain(reported()).collect()
}

fn sent() -> Vec<Case> {
    vec![
        case(
            "runtime/agent.signal",
            |w| good(w, to(&w.stopped(""))),
            vec![
                to_nobody!("runtime/agent.signal", to),
                too_large!("runtime/agent.signal", to),
                too_many!("runtime/agent.signal", to),
                other_words!("runtime/agent.signal", to),
                (ErrorName::PolicyBlocked, |w| w.ask("runtime/agent.signal", to(&closed(w)))),
                failure(ErrorName::RateLimited, |_world| too_often("runtime/agent.signal", to)),
            ],
        ),
        case(
            "runtime/message.submit",
            |w| good(w, submitted(&w.stopped(""))),
            vec![
                to_nobody!("runtime/message.submit", submitted),
                too_large!("runtime/message.submit", submitted),
                too_many!("runtime/message.submit", submitted),
                other_words!("runtime/message.submit", submitted),
                (ErrorName::PolicyBlocked, |w| w.ask("runtime/message.submit", submitted(&closed(w)))),
            ],
        ),
        case(
            "runtime/topic.publish",
            |w| {
                w.stopped("subscriptions: [news]");
                good(w, json!({ "topic": "news", "parts": parts("x") }))
            },
            vec![(ErrorName::TooLarge, |w| w.ask("runtime/topic.publish", long(json!({ "topic": "news" }))))],
        ),
        case(
            "runtime/agent.broadcast",
            |w| {
                let name = w.name();
                let text = terminal(&name, &["/bin/cat"], "run: stopped");
                let labelled = format!("name: {name}, labels: {{ team: {name} }}");
                w.node.apply(&text.replace(&format!("name: {name}"), &labelled));
                good(w, json!({ "parts": parts("x"), "selector": { "team": name } }))
            },
            vec![(ErrorName::TooLarge, |w| w.ask("runtime/agent.broadcast", long(json!({}))))],
        ),
    ]
}

fn asked() -> Vec<Case> {
    vec![
        case(
            "runtime/agent.ask",
            |w| good(w, to(&answering(w))),
            vec![
                to_nobody!("runtime/agent.ask", to),
                (ErrorName::TooLarge, |w| w.ask("runtime/agent.ask", long(to(&thinking(w, ""))))),
                (ErrorName::Backpressure, |w| {
                    let name = thinking(w, "inbox: { max: 1 }");
                    w.ask("runtime/agent.signal", to(&name)).unwrap();
                    w.ask("runtime/agent.ask", to(&name))
                }),
                (ErrorName::IdempotencyMismatch, |w| reused(w, "runtime/agent.ask", to(&answering(w)))),
                (ErrorName::PolicyBlocked, |w| w.ask("runtime/agent.ask", to(&thinking(w, CLOSED)))),
                (ErrorName::Unsupported, |w| w.ask("runtime/agent.ask", to(&w.stopped("")))),
            ],
        ),
        case(
            "runtime/dead_letter.replay",
            |w| good(w, of_message(&letter(w))),
            vec![
                no_message!("runtime/dead_letter.replay"),
                (ErrorName::InvalidState, |w| w.ask("runtime/dead_letter.replay", of_message(&message(w)))),
            ],
        ),
        case(
            "runtime/dead_letter.drop",
            |w| good(w, of_message(&letter(w))),
            vec![
                no_message!("runtime/dead_letter.drop"),
                (ErrorName::InvalidState, |w| w.ask("runtime/dead_letter.drop", of_message(&message(w)))),
            ],
        ),
    ]
}

fn seen() -> Vec<Case> {
    vec![
        case(
            "runtime/inbox.list",
            |w| good(w, json!({ "agent": w.stopped("") })),
            vec![(ErrorName::NotFound, |w| w.ask("runtime/inbox.list", json!({ "agent": "nobody" })))],
        ),
        case(
            "runtime/message.get",
            |w| good(w, of_message(&message(w))),
            vec![no_message!("runtime/message.get")],
        ),
        case(
            "runtime/message.verify",
            |w| good(w, of_message(&message(w))),
            vec![no_message!("runtime/message.verify")],
        ),
        case(
            "runtime/message.sign",
            |w| good(w, json!({ "message_ids": [message(w)] })),
            vec![
                (ErrorName::NotFound, |w| {
                    w.ask("runtime/message.sign", json!({ "message_ids": [NO_MESSAGE] }))
                }),
                (ErrorName::TooLarge, |w| {
                    let many: Vec<&str> = std::iter::repeat_n(NO_MESSAGE, 1_025).collect();
                    w.ask("runtime/message.sign", json!({ "message_ids": many }))
                }),
            ],
        ),
        case(
            "runtime/dead_letter.list",
            |w| good(w, json!({})),
            vec![(ErrorName::NotFound, |w| w.ask("runtime/dead_letter.list", json!({ "agent": "nobody" })))],
        ),
        case(
            "runtime/transcript.read",
            |w| good(w, json!({ "agent": w.stopped("") })),
            vec![(ErrorName::NotFound, |w| w.ask("runtime/transcript.read", json!({ "agent": "nobody" })))],
        ),
    ]
}

fn item(text: &str) -> Value {
    json!({ "kind": "output", "text": text })
}

fn status(text: &str) -> Value {
    json!({ "activity": "working", "text": text })
}

pub(crate) fn hook(kind: &str) -> Value {
    json!({ "kind": kind, "report": {} })
}

fn by_an_agent(world: &World, method: &str, params: Value) -> Result<Value, RpcError> {
    world.talk(Who::Agent(&world.cat()))(method, params)
}

/// What an agent's socket says after its epoch.
fn after_its_epoch(world: &World, method: &str, params: Value) -> Result<Value, RpcError> {
    let name = world.name();
    world.node.run(&name, &terminal(&name, &["/bin/cat"], ""));
    let mut talk = world.talk(Who::Inside(&name));
    world.node.stop(&name);
    talk(method, params)
}

fn reported() -> Vec<Case> {
    vec![
        case(
            "runtime/item.report",
            |w| Good { talk: w.talk(Who::Agent(&w.cat())), params: item("x") },
            vec![
                (ErrorName::PermissionDenied, |w| w.ask("runtime/item.report", item("x"))),
                (ErrorName::TooLarge, |w| by_an_agent(w, "runtime/item.report", item(&"x".repeat(5 << 20)))),
                (ErrorName::Fenced, |w| after_its_epoch(w, "runtime/item.report", item("x"))),
                (ErrorName::NotFound, |w| {
                    let mut params = item("x");
                    params["message_id"] = json!(NO_MESSAGE);
                    by_an_agent(w, "runtime/item.report", params)
                }),
            ],
        ),
        failures(
            "runtime/hook.report",
            vec![
                (ErrorName::PermissionDenied, |w| w.ask("runtime/hook.report", hook("codex"))),
                (ErrorName::InvalidParams, |w| by_an_agent(w, "runtime/hook.report", hook("x"))),
                (ErrorName::Unsupported, |w| by_an_agent(w, "runtime/hook.report", hook("codex"))),
                (ErrorName::Fenced, |w| after_its_epoch(w, "runtime/hook.report", hook("codex"))),
            ],
        ),
        case(
            "runtime/status.report",
            |w| Good { talk: w.talk(Who::Agent(&w.cat())), params: status("x") },
            vec![
                (ErrorName::PermissionDenied, |w| w.ask("runtime/status.report", status("x"))),
                (ErrorName::TooLarge, |w| {
                    by_an_agent(w, "runtime/status.report", status(&"x".repeat(5 << 20)))
                }),
                (ErrorName::Fenced, |w| after_its_epoch(w, "runtime/status.report", status("x"))),
            ],
        ),
    ]
}
