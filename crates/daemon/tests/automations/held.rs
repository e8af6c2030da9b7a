//! What holds when much happens at a time: which version counts, one act after another, and what is withdrawn meanwhile.

use edgeplane_testkit::{
    Node, NodeOptions,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{ErrorName, Scope, TokenKind};
use serde_json::{Value, json};

use super::stage::{firings, made, messages, over, put, shown, signalling, states, worker};

fn versions(firings: &[Value]) -> Vec<u64> {
    firings.iter().map(|firing| firing["version"].as_u64().unwrap()).collect()
}

/// An automation that signals an agent at most so many times within a minute.
fn at_most(words: &str, most: u64) -> Value {
    let mut value = signalling("message.accepted", "other", "reviewer", words);
    value["perMinute"] = json!(most);
    value
}

/// Signals an agent, and has the first firing act while two wait.
fn have_two_wait(node: &Node, name: &str) {
    for text in ["a", "b", "c"] {
        node.signal("other", text, None);
    }
    eventually("one acts, and two wait", || {
        let all = firings(node, name);
        all.len() == 3 && all.iter().filter(|firing| firing["state"] == "open").count() == 2
    });
}

/// Proves AUT-002.
#[test]
fn what_fired_does_what_its_version_said() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "other");
    put(&node, "say", &at_most("first words", 1));
    have_two_wait(&node, "say");
    put(&node, "say", &at_most("second words", 60));
    node.signal("other", "d", None);
    let fired = over(&node, "say", 4);
    assert_eq!(versions(&fired), [1, 1, 1, 2]);
    assert_eq!(messages(&node, "reviewer", "first words").len(), 3);
    assert_eq!(messages(&node, "reviewer", "second words").len(), 1);
    node.verify();
}

/// Each version waits for another event, which comes right after it, so none fires if a later one counts. Others that
/// fire for everything keep the engine behind the record.
///
/// Proves AUT-002.
#[test]
fn an_event_meets_the_version_that_was_in_force() {
    const EACH: u64 = 20;
    const OTHERS: u64 = 24;
    let mut node = Node::start();
    let on = |fields: Value| {
        json!({
            "on": { "event": { "types": ["resource.put"], "where": fields } },
            "do": { "method": { "name": "runtime/agent.list" } }, "perMinute": 600,
        })
    };
    for number in 0..OTHERS {
        let mut other = on(json!({}));
        other["perMinute"] = json!(1);
        put(&node, &format!("other-{number}"), &other);
    }
    for round in 0..2 {
        let mut operator = node.connect();
        for number in round * EACH + 1..=(round + 1) * EACH {
            let place = "edgeplane://config/x";
            let fields = json!({ "payload.uri": place, "payload.version": number.to_string() });
            for (uri, value) in [("edgeplane://automation/each", on(fields)), (place, json!(number))] {
                operator.try_raw("resource/put", json!({ "uri": uri, "value": value })).unwrap();
            }
        }
        // What the daemon had not come to is the next one's.
        node.kill_daemon();
        node.up();
    }
    let fired = over(&node, "each", 40);
    assert_eq!(versions(&fired), (1..=2 * EACH).collect::<Vec<_>>());
    node.verify();
}

/// Proves AUT-009.
#[test]
fn what_comes_while_it_is_not_enabled_is_nobodys_though_another_one_hears_it() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "other");
    put(&node, "say", &at_most("some words", 60));
    put(&node, "twin", &at_most("other words", 60));
    let enable = |enabled: bool| {
        let params = json!({ "uri": "edgeplane://automation/say", "patch": { "enabled": enabled } });
        made(&node, "resource/patch", params);
    };
    enable(false);
    node.signal("other", "a", None);
    over(&node, "twin", 1);
    enable(true);
    node.signal("other", "b", None);
    over(&node, "twin", 2);
    assert_eq!(versions(&over(&node, "say", 1)), [3]);
    node.verify();
}

/// Proves AUT-009.
#[test]
fn what_waits_does_nothing_once_its_automation_has_ended() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "other");
    put(&node, "say", &at_most("some words", 1));
    have_two_wait(&node, "say");
    made(&node, "resource/delete", json!({ "uri": "edgeplane://automation/say" }));
    let ended = eventually_some("all three are over", || {
        let ended = node.facts("", "automation.ended");
        (ended.len() == 3).then_some(ended)
    });
    assert_eq!(states(&ended), ["succeeded", "withdrawn", "withdrawn"]);
    assert_eq!(messages(&node, "reviewer", "some words").len(), 1);
    node.verify();
}

/// Has an agent told something, and the call wait until it has done it.
fn waiting_for(agent: &str, gate: &std::path::Path) -> Value {
    let words = json!([{ "type": "text", "text": format!("hold {}", gate.display()) }]);
    let params = json!({ "agent": agent, "parts": words, "wait": "turn_ended", "timeout_ms": 300_000 });
    json!({ "method": { "name": "runtime/agent.signal", "params": params } })
}

/// Proves AUT-012.
#[test]
fn one_firing_of_an_automation_acts_at_a_time() {
    let node = Node::start();
    worker(&node, "slow");
    worker(&node, "other");
    worker(&node, "reviewer");
    let gate = node.scratch().join("gate");
    let on = json!({ "event": { "types": ["message.accepted"], "agent": "other" } });
    put(&node, "first", &json!({ "on": on, "do": waiting_for("slow", &gate) }));
    put(&node, "second", &at_most("meanwhile", 60));
    for text in ["a", "b", "c", "d"] {
        node.signal("other", text, None);
        // The other one goes on, so the engine has looked at both again and again.
        let count = messages(&node, "reviewer", "meanwhile").len();
        eventually("the other one acts", || messages(&node, "reviewer", "meanwhile").len() > count);
    }
    eventually("the first acts", || messages(&node, "slow", "hold").len() == 1);
    over(&node, "second", 4);
    assert_eq!(messages(&node, "slow", "hold").len(), 1);
    assert_eq!(states(&firings(&node, "first")), ["open"; 4]);
    std::fs::write(&gate, "").unwrap();
    assert_eq!(states(&over(&node, "first", 4)), ["succeeded"; 4]);
    assert_eq!(messages(&node, "slow", "hold").len(), 4);
    node.verify();
}

/// Proves AUT-009, AUT-015.
#[test]
fn a_time_that_comes_while_the_last_firing_acts_is_passed_over() {
    let node = Node::start();
    worker(&node, "slow");
    let gate = node.scratch().join("gate");
    let schedule = |enabled: bool| json!({ "on": { "schedule": { "every": "1s" } }, "do": waiting_for("slow", &gate), "enabled": enabled });
    put(&node, "idle", &schedule(false));
    put(&node, "often", &schedule(true));
    eventually("times are passed over", || shown(&node, "often")["skipped"].as_u64() >= Some(2));
    let view = shown(&node, "often");
    assert_eq!((&view["fired"], &view["waiting"]), (&json!(1), &json!(1)), "{view}");
    let skipped = node.facts("", "automation.skipped");
    assert!(skipped.iter().all(|skipped| skipped["reason"] == "overlap"), "{skipped:?}");
    // One that is not enabled has no times.
    let idle = shown(&node, "idle");
    assert_eq!((&idle["fired"], &idle["skipped"]), (&json!(0), &json!(0)), "{idle}");
    std::fs::write(&gate, "").unwrap();
    node.verify();
}

/// Proves AUT-010.
#[test]
fn nobody_declares_one_in_anothers_name() {
    let node = Node::start_with(NodeOptions::default());
    let scopes = [Scope::Supervise, Scope::Read, Scope::Delegate];
    let token = node.token("desk", TokenKind::Operator, &scopes, &[]);
    let mut desk = node.bearer(&token.token);
    let value = json!({
        "on": { "event": { "types": ["message.accepted"] } }, "do": { "method": { "name": "runtime/agent.list" } },
    });
    let mut params = json!({ "uri": "edgeplane://automation/mine", "value": value });
    params["ctx"] = json!({ "principal": { "user_id": "ann", "scopes": ["supervise", "read"] } });
    let error = desk.try_raw("resource/put", params.clone()).unwrap_err();
    assert_eq!(error.name(), ErrorName::PermissionDenied, "{error}");
    assert!(error.message.contains("nobody-in-anothers-name"), "{error}");
    params.as_object_mut().unwrap().remove("ctx");
    desk.try_raw("resource/put", params).unwrap();
    assert_eq!(shown(&node, "mine")["acts_as"], "desk");
    node.verify();
}

/// Proves AUT-002.
#[test]
fn nothing_but_what_it_names_has_it_fire() {
    let node = Node::start();
    worker(&node, "other");
    let log = node.scratch().join("labelled.log");
    let manifest = edgeplane_testkit::task_worker("labelled", &log, &[], "");
    let labels = "name: labelled, labels: { team: docs, stage: late }";
    node.run("labelled", &manifest.replace("name: labelled", labels));
    let on = |labels: Value| {
        json!({
            "on": { "event": { "types": ["message.accepted"], "labels": labels } },
            "do": { "method": { "name": "runtime/agent.list" } },
        })
    };
    put(&node, "any", &on(json!({})));
    put(&node, "docs", &on(json!({ "team": "docs", "stage": "late" })));
    put(&node, "code", &on(json!({ "team": "docs", "stage": "early" })));
    // The engine heeds changes of automations besides, and none of these asked for them.
    put(&node, "any", &json!({ "perMinute": 59, "on": on(json!({}))["on"], "do": on(json!({}))["do"] }));
    node.signal("other", "a", None);
    node.signal("labelled", "b", None);
    let any = over(&node, "any", 2);
    assert_eq!(any.len(), 2, "{any:?}");
    let docs = over(&node, "docs", 1);
    assert_eq!((docs.len(), &docs[0]["cause"]), (1, &any[1]["cause"]));
    assert_eq!(shown(&node, "code")["fired"], 0);
    node.verify();
}
