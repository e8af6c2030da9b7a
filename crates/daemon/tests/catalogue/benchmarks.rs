//! Benchmark trials.

use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{
    Case, Who, World, case, fails, failure, good,
    runtime::set,
    work::{closed, with},
};

const NO_TRIAL: &str = "tri_01890000-0000-7000-8000-999999999999";

fn params(agent: &str) -> Value {
    json!({
        "agent": agent, "content": "x", "dataset": { "id": "riddles", "version": "1", "case": "sums" },
        "configuration": { "id": "plain" },
    })
}

/// A trial of an agent that does not run.
fn given(world: &World, agent: &str) -> Value {
    world.made("benchmark/trial.start", params(agent))["trial_id"].clone()
}

fn trial(world: &World) -> Value {
    given(world, &world.stopped(""))
}

fn reward(world: &World) -> Value {
    json!({ "trial_id": trial(world), "reward": 1 })
}

fn none() -> Value {
    json!({ "trial_id": NO_TRIAL })
}

fn with_itself(id: &Value) -> Value {
    json!({ "baseline": id, "candidate": id })
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "benchmark/trial.start",
            |w| good(w, params(&w.stopped(""))),
            vec![
                fails!(PolicyBlocked, "benchmark/trial.start", |w| params(&closed(w))),
                fails!(NotFound, "benchmark/trial.start", |_w| params("nobody")),
                fails!(InvalidParams, "benchmark/trial.start", |w| {
                    with(params(&w.stopped("")), "content", json!(" "))
                }),
                fails!(InvalidState, "benchmark/trial.start", |w| params(&set(w))),
                failure(ErrorName::IdempotencyMismatch, |w| {
                    let first = with(params(&w.stopped("")), "key", json!(w.name()));
                    w.made("benchmark/trial.start", first.clone());
                    w.ask("benchmark/trial.start", with(first, "content", json!("y")))
                }),
            ],
        ),
        case(
            "benchmark/reward.record",
            |w| good(w, reward(w)),
            vec![
                fails!(NotFound, "benchmark/reward.record", |_w| with(none(), "reward", json!(1))),
                fails!(InvalidParams, "benchmark/reward.record", |w| with(reward(w), "reward", json!(1e10))),
                failure(ErrorName::PermissionDenied, |w| {
                    let agent = w.cat();
                    let own = json!({ "trial_id": given(w, &agent), "reward": 1 });
                    w.talk(Who::Agent(&agent))("benchmark/reward.record", own)
                }),
                failure(ErrorName::Conflict, |w| {
                    let first = reward(w);
                    w.made("benchmark/reward.record", first.clone());
                    w.ask("benchmark/reward.record", with(first, "reward", json!(0)))
                }),
                failure(ErrorName::QuotaExhausted, |w| {
                    let mut said = reward(w);
                    loop {
                        let made = w.ask("benchmark/reward.record", said.clone())?;
                        let number = made["number"].clone();
                        said = with(with(said, "reward", number.clone()), "supersedes", number);
                    }
                }),
            ],
        ),
        case(
            "benchmark/trial.export",
            |w| good(w, json!({ "trial_id": trial(w) })),
            vec![fails!(NotFound, "benchmark/trial.export", |_w| none())],
        ),
        case(
            "benchmark/run.compare",
            |w| good(w, with_itself(&trial(w))),
            vec![
                fails!(NotFound, "benchmark/run.compare", |_w| with_itself(&json!(NO_TRIAL))),
                fails!(InvalidParams, "benchmark/run.compare", |_w| with_itself(&json!([]))),
                failure(ErrorName::PermissionDenied, |w| {
                    let agent = w.cat();
                    let own = with_itself(&given(w, &agent));
                    w.talk(Who::Agent(&agent))("benchmark/run.compare", own)
                }),
                failure(ErrorName::Conflict, |w| {
                    let agent = w.stopped("");
                    let other = with(params(&agent), "content", json!("y"));
                    let other = w.made("benchmark/trial.start", other)["trial_id"].clone();
                    let both = json!({ "baseline": given(w, &agent), "candidate": other });
                    w.ask("benchmark/run.compare", both)
                }),
            ],
        ),
    ]
}
