//! What holds where automations are capabilities: who sees them, and what a call of one does.

use edgeplane_testkit::Node;
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::stage::{as_agent, ask, firings, made, messages, over, put, signalling, states, worker};

const SAY: &str = "automation:say/fire";

/// An automation that signals the reviewer, and fires for nothing that happens here.
fn saying(words: &str) -> Value {
    signalling("agent.quarantined", "reviewer", "reviewer", words)
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

/// Proves CAP-044.
#[test]
fn a_call_of_an_automation_has_it_fire() {
    let node = Node::start();
    worker(&node, "reviewer");
    put(&node, "say", &saying("Heard of ${event.what}"));
    let list = made(&node, "capability/list", json!({ "kind": "automation" }));
    assert_eq!(names(&list), [SAY]);
    let shown = made(&node, "capability/get", json!({ "capability": SAY }));
    assert_eq!(shown["backing"]["kind"], "automation");
    assert_eq!(shown["effect"], json!({ "class": "external", "vouched": false, "reversible": false }));
    let by_id = made(&node, "capability/get", json!({ "capability": shown["capability_id"] }));
    assert_eq!(by_id, shown);

    let call = |input: Value| {
        let digest = &shown["digest"];
        ask(&node, "capability/invoke", json!({ "capability": SAY, "digest": digest, "input": input }))
    };
    let called = call(json!({ "event": { "what": "cranes" } })).unwrap();
    assert_eq!(called["status"], "succeeded", "{called}");
    let fired = over(&node, "say", 1);
    assert_eq!(states(&fired), ["succeeded"]);
    assert_eq!(called["output"]["firing_id"], fired[0]["firing_id"]);
    assert_eq!(messages(&node, "reviewer", "Heard of cranes").len(), 1);

    for wrong in [json!({ "name": "other" }), json!({ "evnet": 1 }), json!([])] {
        let refused = call(wrong.clone()).unwrap_err();
        assert_eq!(refused.name(), ErrorName::InvalidParams, "{wrong}");
    }
    put(&node, "say", &saying("Something else of ${event.what}"));
    let stale = call(json!({ "event": { "what": "herons" } })).unwrap_err();
    assert_eq!(stale.name(), ErrorName::VersionConflict);
    assert_eq!(firings(&node, "say").len(), 1);
    node.verify();
}

/// Proves CAP-044.
#[test]
fn an_agent_calls_its_own_automations_and_knows_no_others() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "keen");
    put(&node, "say", &saying("An operator's"));
    let mut keen = as_agent(&node, "keen");
    let mine = json!({
        "on": { "event": { "types": ["agent.quarantined"], "agent": "keen" } },
        "do": { "method": { "name": "memory/entry.put",
                "params": { "agent": "keen", "key": "told", "value": "${event.what}" } } },
    });
    keen.try_raw("resource/put", json!({ "uri": "edgeplane://automation/mine", "value": mine })).unwrap();
    let list = keen.try_raw("capability/list", json!({ "backing": "automation" })).unwrap();
    assert_eq!(names(&list), ["automation:mine/fire"]);
    let id = made(&node, "capability/get", json!({ "capability": SAY }))["capability_id"].clone();
    for params in [json!({ "capability": SAY }), json!({ "capability": id })] {
        for method in ["capability/get", "capability/invoke", "capability/permission.evaluate"] {
            let refused = keen.try_raw(method, params.clone()).unwrap_err();
            assert_eq!(refused.name(), ErrorName::NotFound, "{method} {params}");
        }
    }
    let params = json!({ "capability": "automation:mine/fire", "input": { "event": { "what": "herons" } } });
    let called = keen.try_raw("capability/invoke", params).unwrap();
    assert_eq!(called["status"], "succeeded", "{called}");
    assert_eq!(states(&over(&node, "mine", 1)), ["succeeded"]);
    let told = made(&node, "memory/entry.get", json!({ "agent": "keen", "key": "told" }));
    assert_eq!(told["value"], "herons");
    assert_eq!(firings(&node, "say").len(), 0);
    node.verify();
}

/// Proves CAP-044, AUT-008.
#[test]
fn an_automation_has_no_other_one_fire() {
    let node = Node::start();
    worker(&node, "reviewer");
    put(&node, "say", &saying("Led in a circle"));
    let method = json!({ "name": "capability/invoke", "params": { "capability": SAY, "input": {} } });
    put(
        &node,
        "circle",
        &json!({
            "on": { "event": { "types": ["agent.quarantined"], "agent": "reviewer" } },
            "do": { "method": method },
        }),
    );
    made(&node, "capability/automation.fire", json!({ "name": "circle" }));
    let fired = over(&node, "circle", 1);
    assert_eq!(states(&fired), ["failed"]);
    assert_eq!(fired[0]["error"], "permission_denied");
    assert!(fired[0]["reason"].as_str().unwrap().contains("automations-fire-none"), "{fired:?}");
    assert_eq!(firings(&node, "say").len(), 0);
    assert_eq!(messages(&node, "reviewer", "Led in a circle").len(), 0);
    node.verify();
}
