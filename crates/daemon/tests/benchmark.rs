//! Benchmark trials through real agents: given once, over dying daemons, rewarded by others, exported and compared.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "tasks/stage.rs"]
#[expect(dead_code, reason = "what only the tests of tasks need")]
mod stage;

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use edgeplane_proof::{KeyRing, pack};
use edgeplane_testkit::{
    Node, acp,
    peers::{speak_as, with},
    wait::eventually,
};
use serde_json::{Value, json};
use stage::{allow, arm, call, given, refused, try_call, worker};

const START: &str = "benchmark/trial.start";
const REWARD: &str = "benchmark/reward.record";
const COMPARE: &str = "benchmark/run.compare";
const EXPORT: &str = "benchmark/trial.export";

fn params(agent: &str, content: &str, more: &Value) -> Value {
    let plain = json!({
        "agent": agent, "content": content,
        "dataset": { "id": "riddles", "version": "1", "case": "sums" }, "configuration": { "id": "plain" },
    });
    with(plain, more)
}

fn trial(node: &Node, agent: &str, content: &str, more: &Value) -> Value {
    call(node, START, params(agent, content, more))
}

fn state_of(node: &Node, trial: &Value) -> Value {
    call(node, "runtime/task.get", json!({ "task_id": trial["task_id"] }))["task"]["state"].clone()
}

fn wait(node: &Node, trial: &Value, state: &str) {
    eventually(&format!("the trial is {state}"), || state_of(node, trial) == state);
}

/// A trial that has ended well, with a reward.
fn rewarded(node: &Node, more: &Value, reward: f64) -> Value {
    let made = trial(node, "alpha", "say done", more);
    wait(node, &made, "completed");
    let said = json!({ "trial_id": made["trial_id"], "reward": reward, "p0_regressions": [] });
    call(node, REWARD, said);
    made["trial_id"].clone()
}

/// What the record says of a kind, oldest first.
fn facts(node: &Node, kind: &str) -> Vec<Value> {
    node.events("", &[kind]).into_iter().map(|event| event.event["payload"].clone()).collect()
}

fn files_of(exported: &Value) -> BTreeMap<String, Vec<u8>> {
    let files = exported["files"].as_array().unwrap().iter();
    let bytes = |file: &Value| STANDARD.decode(file["data"].as_str().unwrap()).unwrap();
    files.map(|file| (file["path"].as_str().unwrap().to_owned(), bytes(file))).collect()
}

fn verified(files: &BTreeMap<String, Vec<u8>>) -> bool {
    pack::verify(files, &KeyRing::default(), false).ok
}

/// Proves BEN-001, BEN-002.
#[test]
fn trial_is_one_task_with_one_run_that_is_told_its_content_word_for_word() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let content = "Two lines.\nsay done";
    let made = trial(&node, "alpha", content, &json!({ "key": "once", "repetition": 3 }));
    wait(&node, &made, "completed");
    let uuid = |name: &str| made[name].as_str().unwrap().split_once('_').unwrap().1.to_owned();
    assert_eq!((uuid("trial_id"), uuid("trial_id")), (uuid("task_id"), uuid("run_id")));
    assert_eq!(given(&node, "alpha")[0]["params"]["parts"][0]["text"], content);
    // The same request under the same key is the same trial; another one is refused.
    let again = trial(&node, "alpha", content, &json!({ "key": "once", "repetition": 3 }));
    assert_eq!((&again["trial_id"], &again["outcome"]), (&made["trial_id"], &json!("completed")));
    let other = params("alpha", content, &json!({ "key": "once", "repetition": 4 }));
    assert_eq!(refused(&node, START, other), "idempotency_mismatch");
    assert_eq!(given(&node, "alpha").len(), 1);
    // One run, as it was asked for.
    let held = trial(&node, "alpha", "hold", &json!({}));
    wait(&node, &held, "running");
    let of = json!({ "task_id": held["task_id"] });
    assert_eq!(refused(&node, "runtime/task.pause", of.clone()), "invalid_state");
    assert_eq!(
        refused(&node, "runtime/task.update", with(of.clone(), &json!({ "title": "x" }))),
        "invalid_state"
    );
    call(&node, "runtime/task.cancel", of.clone());
    wait(&node, &held, "cancelled");
    for method in ["runtime/task.retry", "runtime/run.start"] {
        assert_eq!(refused(&node, method, of.clone()), "invalid_state", "{method}");
    }
    let ended = facts(&node, "benchmark.trial_ended");
    let states: Vec<_> = ended.iter().map(|fact| fact["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["completed", "cancelled"]);
    // A dataset and a configuration are told once for an agent.
    let told: Vec<_> = facts(&node, "benchmark.trial_started")
        .iter()
        .map(|fact| (fact["resolves_dataset"].clone(), fact["resolves_configuration"].clone()))
        .collect();
    assert_eq!(told, [(json!(true), json!(true)), (json!(false), json!(false))]);
    node.verify();
}

/// Proves BEN-003.
#[test]
fn trial_is_given_once_and_ends_once_though_daemons_die() {
    for point in ["trial.before", "trial.after", "run.saying"] {
        let mut node = Node::start();
        worker(&node, "alpha", "");
        arm(&node, point);
        let asked = params("alpha", "say done", &json!({ "key": "once" }));
        drop(try_call(&node, START, asked.clone()));
        eventually("the daemon has died", || node.has_ended());
        node.up();
        let made = call(&node, START, asked);
        wait(&node, &made, "completed");
        assert_eq!(given(&node, "alpha").len(), 1, "{point}");
        assert_eq!(facts(&node, "benchmark.trial_started").len(), 1, "{point}");
        node.verify();
    }
    for point in ["task.before", "task.after"] {
        let mut node = Node::start();
        worker(&node, "alpha", "");
        let made = trial(&node, "alpha", "gate go done", &json!({}));
        wait(&node, &made, "running");
        arm(&node, point);
        allow(&node, "go");
        eventually("the daemon has died", || node.has_ended());
        node.up();
        wait(&node, &made, "completed");
        let ended = facts(&node, "benchmark.trial_ended");
        assert_eq!((ended.len(), &ended[0]["trial_id"]), (1, &made["trial_id"]), "{point}");
        node.verify();
    }
}

/// Proves BEN-004.
#[test]
fn trial_that_takes_longer_than_it_may_has_failed_by_its_limit() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let made = trial(&node, "alpha", "hold", &json!({ "limits": { "wall_ms": 50 } }));
    wait(&node, &made, "timed_out");
    let ended = facts(&node, "benchmark.trial_ended").remove(0);
    assert_eq!((&ended["state"], &ended["limit"]), (&json!("timed_out"), &json!("wall_time")));
    let id = &made["trial_id"];
    call(&node, REWARD, json!({ "trial_id": id, "reward": 0, "failure_category": "timeout" }));
    let exported = call(&node, EXPORT, json!({ "trial_id": id }));
    assert_eq!(exported["metrics"]["timeout"], true);
    assert_eq!(exported["decisionInputs"]["failureCategory"], "timeout");
    let view = call(&node, COMPARE, json!({ "baseline": id, "candidate": id }));
    assert_eq!((&view["candidate"]["timeouts"], &view["candidate"]["completed"]), (&json!(1), &json!(0)));
    node.verify();
}

/// Proves BEN-003.
#[test]
fn trial_that_was_called_failed_is_not_completed_by_the_good_end_of_its_turn() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let made = trial(&node, "alpha", "gate go done", &json!({}));
    wait(&node, &made, "running");
    let fail = json!({ "task_id": made["task_id"], "reason": "no way" });
    speak_as(&node, "alpha").try_raw("runtime/task.fail", fail).unwrap();
    allow(&node, "go");
    eventually("the trial has ended", || facts(&node, "benchmark.trial_ended").len() == 1);
    assert_eq!(facts(&node, "benchmark.trial_ended")[0]["state"], "failed");
    assert_eq!(facts(&node, "run.ended")[0]["state"], "completed");
    node.verify();
}

/// Proves BEN-010, BEN-011, BEN-012.
#[test]
fn reward_is_kept_as_it_is_said_and_never_changed() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let checks = json!({ "verifier": { "id": "checks", "version": "3" } });
    let made = trial(&node, "alpha", "gate go done", &checks);
    let id = made["trial_id"].clone();
    let say = |reward: f64, more: Value| with(json!({ "trial_id": id, "reward": reward }), &more);
    let early = call(&node, REWARD, say(1.0, json!({})));
    assert_eq!((&early["number"], &early["is_early"]), (&json!(1), &json!(true)));
    allow(&node, "go");
    wait(&node, &made, "completed");
    // What was said too early is no verdict; what is said afterwards is, also the same.
    let first = call(&node, REWARD, say(0.1, json!({ "criteria": ["it is there"] })));
    assert_eq!((&first["number"], &first["reward"]), (&json!(2), &json!(0.1)));
    assert_eq!(call(&node, REWARD, say(0.1, json!({ "criteria": ["it is there"] }))), first);
    assert_eq!(refused(&node, REWARD, say(0.2, json!({}))), "conflict");
    assert_eq!(refused(&node, REWARD, say(0.2, json!({ "supersedes": 1 }))), "conflict");
    let other = json!({ "supersedes": 2, "verifier": { "id": "checks", "version": "4" } });
    assert_eq!(refused(&node, REWARD, say(0.2, other)), "conflict");
    let second = call(&node, REWARD, say(-2.5, json!({ "supersedes": 2 })));
    assert_eq!((&second["number"], &second["verifier"]["id"]), (&json!(3), &json!("checks")));
    // Said again by whoever did not hear the answer.
    assert_eq!(call(&node, REWARD, say(-2.5, json!({ "supersedes": 2 }))), second);
    let values: Vec<_> =
        facts(&node, "benchmark.reward_recorded").iter().map(|fact| fact["value"].clone()).collect();
    assert_eq!(values, ["1.0", "0.1", "-2.5"]);
    let exported = call(&node, EXPORT, json!({ "trial_id": id }));
    assert_eq!(exported["reward"]["value"], -2.5);
    assert_eq!(exported["reward"]["history"].as_array().unwrap().len(), 3);
    node.verify();
}

/// Proves BEN-013.
#[test]
fn whoever_plays_a_trial_has_no_say_about_it() {
    let node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let mut alpha = speak_as(&node, "alpha");
    let made = alpha.try_raw(START, params("beta", "say done", &json!({}))).unwrap();
    wait(&node, &made, "completed");
    let reward = json!({ "trial_id": made["trial_id"], "reward": 1 });
    let denied = speak_as(&node, "beta").try_raw(REWARD, reward.clone()).unwrap_err();
    assert_eq!(denied.name().as_str(), "permission_denied");
    assert!(denied.message.contains("no-own-reward"), "{}", denied.message);
    // Also not if it gave the trial itself; and to others it is not there.
    let own = speak_as(&node, "beta").try_raw(START, params("beta", "say done", &json!({}))).unwrap();
    let own = json!({ "trial_id": own["trial_id"], "reward": 1 });
    let name = |name: &str, params: &Value| {
        speak_as(&node, name).try_raw(REWARD, params.clone()).unwrap_err().name().as_str().to_owned()
    };
    assert_eq!((name("beta", &own), name("alpha", &own)), ("permission_denied".into(), "not_found".into()));
    assert_eq!(alpha.try_raw(REWARD, reward).unwrap()["by"], "alpha");
    assert!(facts(&node, "benchmark.reward_recorded").len() == 1);
    node.verify();
}

/// Proves BEN-014.
#[test]
fn hostile_input_is_refused_and_leaves_nothing() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let id = trial(&node, "alpha", "say done", &json!({}))["trial_id"].clone();
    let long = "x".repeat(600);
    for reward in [json!("NaN"), json!("1"), json!(null), json!([1]), json!(1.1e9), json!(true)] {
        let said = json!({ "trial_id": id, "reward": reward });
        assert_eq!(refused(&node, REWARD, said), "invalid_params", "{reward}");
    }
    for more in [
        json!({ "details_ref": long }),
        json!({ "details_ref": "a\u{1b}[2J" }),
        json!({ "criteria": vec!["x"; 33] }),
        json!({ "criteria": ["\n"] }),
        json!({ "p0_regressions": vec!["x"; 101] }),
        json!({ "failure_category": "no word" }),
        json!({ "unknown": 1 }),
    ] {
        let said = with(json!({ "trial_id": id, "reward": 1 }), &more);
        assert_eq!(refused(&node, REWARD, said), "invalid_params", "{more}");
    }
    for more in [
        json!({ "dataset": { "id": "../x", "version": "1", "case": "a" } }),
        json!({ "dataset": { "id": "x", "version": "1", "case": "a", "ref": long } }),
        json!({ "configuration": { "id": "x", "changed_variable": "" } }),
        json!({ "refs": { "harbor_job": "a\u{202e}b" } }),
        json!({ "limits": { "wall_ms": -1 } }),
        json!({ "content": "" }),
        json!({ "key": "a key" }),
    ] {
        assert_eq!(refused(&node, START, params("alpha", "say x", &more)), "invalid_params", "{more}");
    }
    for side in [json!([]), json!([id, id]), json!(7), json!("tri_x"), json!(vec![id.clone(); 1_001])] {
        let both = json!({ "baseline": side, "candidate": id });
        assert_eq!(refused(&node, COMPARE, both), "invalid_params", "{}", side.to_string().len());
    }
    assert_eq!(facts(&node, "benchmark.reward_recorded").len(), 0);
    assert_eq!(facts(&node, "benchmark.trial_started").len(), 1);
    assert_eq!(facts(&node, "benchmark.compared").len(), 0);
    node.verify();
}

fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-6, "{found} is not {expected}");
}

/// Proves BEN-020, BEN-021, BEN-022, BEN-024: the figures were computed by hand.
#[test]
fn comparison_says_what_was_computed_by_hand() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let changed = json!({ "configuration": { "id": "changed", "changed_variable": "the model" } });
    for reward in [1.0, 0.0, 1.0, 0.0] {
        rewarded(&node, &json!({}), reward);
    }
    let other: Vec<Value> =
        [1.0, 1.0, 0.5, 1.0].iter().map(|reward| rewarded(&node, &changed, *reward)).collect();
    let baseline = json!({ "configuration": "plain", "dataset": "riddles", "version": "1" });
    let view = call(&node, COMPARE, json!({ "baseline": baseline, "candidate": other }));
    near(&view["baseline"]["meanReward"], 0.5);
    near(&view["candidate"]["meanReward"], 0.875);
    near(&view["aggregateDeltas"]["meanReward"], 0.375);
    near(&view["candidate"]["successRate"]["rate"], 0.75);
    near(&view["candidate"]["successRate"]["low"], 0.300_641_9);
    near(&view["candidate"]["successRate"]["high"], 0.954_412_8);
    near(&view["aggregateDeltas"]["successRate"], 0.25);
    assert_eq!(view["evidenceCompleteness"], json!({ "baseline": 1.0, "candidate": 1.0 }));
    assert_eq!(view["p0Regressions"], json!({ "count": 0, "names": [], "unknown": 0 }));
    assert_eq!(
        (&view["promotion"]["eligible"], &view["changedVariable"]),
        (&json!(true), &json!("the model"))
    );
    assert_eq!(view["candidate"]["tokens"], Value::Null, "what nobody says is unknown");
    let recorded = facts(&node, "benchmark.compared").remove(0);
    assert_eq!((&recorded["mean_reward_delta"], &recorded["is_eligible"]), (&json!("0.375"), &json!(true)));
    // The other way round it is worse.
    let back = json!({ "baseline": other, "candidate": baseline, "changed_variable": "the model" });
    let view = call(&node, COMPARE, back);
    assert_eq!(view["promotion"]["eligible"], false, "{view}");
    near(&view["aggregateDeltas"]["meanReward"], -0.375);
    // One that nobody judged is unknown, not zero; and a regression is one too many.
    let bare = trial(&node, "alpha", "say done", &changed);
    wait(&node, &bare, "completed");
    let with_bare = json!({ "baseline": baseline, "candidate": [other[0], bare["trial_id"]] });
    let view = call(&node, COMPARE, with_bare.clone());
    assert_eq!(
        (&view["candidate"]["meanReward"], &view["promotion"]["eligible"]),
        (&Value::Null, &json!(false))
    );
    assert_eq!(view["candidate"]["unrewarded"], json!([bare["trial_id"]]));
    near(&view["evidenceCompleteness"]["candidate"], 0.5);
    let p0 = json!({ "trial_id": bare["trial_id"], "reward": 1, "p0_regressions": ["login"] });
    call(&node, REWARD, p0);
    let view = call(&node, COMPARE, with_bare);
    assert_eq!(view["p0Regressions"], json!({ "count": 1, "names": ["login"], "unknown": 0 }));
    assert_eq!(view["promotion"], json!({ "eligible": false, "reasons": ["1 P0 regressions"] }));
    node.verify();
}

/// Proves BEN-023.
#[test]
fn what_was_not_measured_alike_is_not_compared() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let one = rewarded(&node, &json!({}), 1.0);
    let compare = |other: &Value| try_call(&node, COMPARE, json!({ "baseline": one, "candidate": other }));
    let checks = |version: &str| json!({ "id": "checks", "version": version });
    for (more, word) in [
        (json!({ "dataset": { "id": "riddles", "version": "2", "case": "sums" } }), "version of the dataset"),
        (json!({ "dataset": { "id": "riddles", "version": "1", "case": "words" } }), "cases"),
        (json!({ "verifier": checks("1") }), "verifier"),
        (json!({ "limits": { "steps": 900 } }), "limits"),
        (json!({ "content": "say otherwise" }), "contents"),
    ] {
        let error = compare(&rewarded(&node, &more, 1.0)).unwrap_err();
        assert_eq!(error.name().as_str(), "conflict", "{more}");
        assert!(error.message.starts_with("bench_manifest_mismatch: "), "{}", error.message);
        assert!(error.message.contains(word), "{}", error.message);
        assert_eq!(error.data.violations[0]["code"], "bench_manifest_mismatch");
    }
    // Nobody says in what the configurations differ.
    let other = rewarded(&node, &json!({ "configuration": { "id": "other" } }), 1.0);
    assert_eq!(compare(&other).unwrap_err().name().as_str(), "invalid_params");
    let named = json!({ "baseline": one, "candidate": other, "changed_variable": "the prompt" });
    assert_eq!(call(&node, COMPARE, named)["changedVariable"], "the prompt");
    let mixed = json!({ "baseline": one, "candidate": [one, other], "changed_variable": "the prompt" });
    assert_eq!(refused(&node, COMPARE, mixed), "conflict");
    node.verify();
}

/// Proves BEN-030, BEN-031, BEN-032.
#[test]
fn exported_trial_verifies_and_says_what_was_said_and_done() {
    let node = Node::start();
    node.run("alpha", &acp("alpha", &node.scratch().join("alpha"), &[], ("", "")));
    let file = node.scratch().join("made").display().to_string();
    let made = trial(&node, "alpha", &format!("edit {file}"), &json!({ "refs": { "harbor_job": "jobs/7" } }));
    wait(&node, &made, "completed");
    let id = made["trial_id"].clone();
    call(&node, REWARD, json!({ "trial_id": id, "reward": 1, "details_ref": "rewards/7.json" }));
    let exported = call(&node, EXPORT, json!({ "trial_id": id }));
    for name in ["taskId", "runId"] {
        let own = &made[if name == "taskId" { "task_id" } else { "run_id" }];
        assert_eq!(&exported["runtimeCorrelation"][name], own);
    }
    assert_eq!(exported["benchmark"]["harborJobRef"], "jobs/7");
    assert_eq!(exported["refs"]["rewardDetailsRef"], "rewards/7.json");
    assert_eq!(exported["metrics"]["costUsd"], Value::Null, "what nobody says is unknown, not nothing");
    assert_eq!((&exported["metrics"]["reward"], &exported["metrics"]["timeout"]), (&json!(1), &json!(false)));
    let mut files = files_of(&exported);
    assert!(verified(&files));
    let trajectory: Value = serde_json::from_slice(&files["trajectory.json"]).unwrap();
    assert_eq!(trajectory["schema_version"], "ATIF-v1.4");
    let steps = trajectory["steps"].as_array().unwrap();
    let numbers: Vec<_> = steps.iter().map(|step| step["step_id"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=steps.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        (&steps[0]["source"], steps.iter().any(|step| step["message"] == "edited")),
        (&json!("user"), true)
    );
    let called = steps.iter().find(|step| step.get("tool_calls").is_some()).unwrap();
    let call_id = &called["tool_calls"][0]["tool_call_id"];
    assert_eq!(&called["observation"]["results"][0]["source_call_id"], call_id);
    let summary: Value = serde_json::from_slice(&files["trial.json"]).unwrap();
    assert_eq!((&summary["metrics"], &summary["reward"]), (&exported["metrics"], &exported["reward"]));
    // Whoever alters it is found out.
    let reward =
        String::from_utf8(files["reward.json"].clone()).unwrap().replace("\"value\": 1", "\"value\": 2");
    files.insert("reward.json".to_owned(), reward.into_bytes());
    assert!(!verified(&files));
    // One that waits still can be written out, and says what is not there yet.
    node.stop("alpha");
    let waiting = trial(&node, "alpha", "say x", &json!({}));
    let exported = call(&node, EXPORT, json!({ "trial_id": waiting["trial_id"] }));
    assert_eq!((&exported["reward"], &exported["metrics"]["reward"]), (&Value::Null, &Value::Null));
    assert!(exported["knownGaps"].to_string().contains("not_ended"), "{exported}");
    assert!(verified(&files_of(&exported)));
    node.verify();
}
