//! What is known of agents' models: what programs say, and what nobody says, by its name.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use edgeplane_testkit::{
    Node, acp,
    peers::{answer, ask, run_peer, speak_as},
    terminal,
    wait::eventually,
};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

fn get(node: &Node, method: &str, params: Value) -> Value {
    node.connect().try_raw(method, params).unwrap()
}

/// Proves INF-001, INF-002.
#[test]
fn models_and_route_are_what_the_program_and_the_manifest_say() {
    let node = Node::start();
    node.run("coder", &acp("coder", &node.scratch().join("coder"), &[], ("", "")));
    node.run("large", &acp("large", &node.scratch().join("large"), &[], (", model: large", "")));
    node.apply(&terminal("cat", &["/bin/cat"], "run: stopped"));
    let of = |agent: &str| get(&node, "inference/model.list", json!({ "agent": agent }));
    eventually("its session is open", || of("coder")["items"].as_array().unwrap().len() == 2);
    let coder = of("coder");
    let models: Vec<_> = coder["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["model"].as_str().unwrap(), item["current"].as_bool().unwrap()))
        .collect();
    assert_eq!(models, [("small", true), ("large", false)]);
    let route = |agent: &str| get(&node, "inference/route.resolve", json!({ "agent": agent }));
    let small = route("coder");
    assert_eq!(small["selected"], json!({ "model": "small", "source": "session", "price": "unknown" }));
    assert_eq!((&small["mode"], &small["reason"]), (&json!("single"), &json!("single_candidate")));
    assert_eq!(small["candidates"], json!([small["selected"]]));
    assert_eq!(small["fallback"], json!([]));
    let large = route("large");
    assert_eq!(
        (&large["selected"]["model"], &large["selected"]["source"]),
        (&json!("large"), &json!("manifest"))
    );
    let unreported = route("cat");
    assert_eq!(unreported["selected"], json!({ "source": "unreported", "price": "unknown" }));
    assert_eq!(unreported["gaps"].as_array().unwrap().len(), 2);
    let all = get(&node, "inference/model.list", json!({}));
    assert_eq!(all["unreported"], json!(["cat"]));
}

/// Proves INF-003.
#[test]
fn usage_is_the_programs_word_and_an_unknown_price_is_unknown() {
    let node = Node::start();
    node.run("coder", &acp("coder", &node.scratch().join("coder"), &[], ("", "")));
    let usage = || get(&node, "inference/usage.get", json!({ "agent": "coder" }));
    let nothing = usage();
    assert_eq!((&nothing["said_by"], &nothing["cost"]), (&json!("nobody"), &json!({ "price": "unknown" })));
    assert_eq!(answer(&ask(&node, "coder", "usage")).text, "used");
    eventually("it is recorded", || usage()["reports"].as_u64() > Some(0));
    let used = usage();
    assert_eq!((&used["said_by"], &used["cost"]["price"]), (&json!("program"), &json!("reported")));
    assert_eq!(used["cost"]["session"], "0.25 USD");
    assert!(used["tokens"]["total"].as_u64().unwrap() > 0, "{used}");
    assert_eq!(used["turns"][0]["tokens"], used["tokens"], "{used}");
    let state = get(
        &node,
        "stream/projection.get",
        json!({ "projection": "usage.cost", "target": { "kind": "agent", "id": "coder" } }),
    );
    assert_eq!(state["state"]["tokens"], used["tokens"], "it is what the projection says");
    assert_eq!(
        get(&node, "inference/route.resolve", json!({ "agent": "coder" }))["selected"]["price"],
        "reported"
    );
}

/// Proves INF-005.
#[test]
fn the_standards_words_name_the_single_candidate_and_what_nobody_says() {
    let node = Node::start();
    node.run("coder", &acp("coder", &node.scratch().join("coder"), &[], ("", "")));
    assert_eq!(answer(&ask(&node, "coder", "usage")).text, "used");
    let session = node.get("coder").status.identities.session.session_id;
    let of = |kind: &str| -> Vec<Value> {
        let target = json!({ "kind": "session", "id": session });
        let read = json!({ "projection": "agentruntime.events", "target": target, "types": [kind] });
        let items = get(&node, "stream/replay", read)["items"].as_array().unwrap().clone();
        items.iter().map(|item| item.get("payload").unwrap_or(item).clone()).collect()
    };
    eventually("the turn is over", || !of("turn.completed").is_empty());
    let routed = json!(of("routing.single_candidate")).to_string();
    assert!(routed.contains("\"candidateCount\":1") && routed.contains("selectedModel"), "{routed}");
    let completed = json!(of("model.completed")).to_string();
    assert!(
        completed.contains("\"granularity\":\"turn\"") && completed.contains("model.requested"),
        "{completed}"
    );
    assert_eq!(of("model.requested"), Vec::<Value>::new(), "nobody saw a request");
}

/// Proves INF-004.
#[test]
fn limits_say_how_they_are_known() {
    let node = Node::start();
    node.apply(&terminal("cat", &["/bin/cat"], "run: stopped"));
    let limits = get(&node, "inference/limit.get", json!({ "agent": "cat" }));
    assert_eq!(
        (&limits["items"][0]["kind"], &limits["items"][0]["state"]),
        (&json!("provider_quota"), &json!("unreported"))
    );
    assert!(limits["items"][0].get("evidence").is_none(), "{limits}");
    assert_eq!(
        (&limits["items"][1]["kind"], &limits["items"][1]["state"]),
        (&json!("budget"), &json!("none"))
    );
    let refused = node.connect().try_raw("inference/generate", json!({})).unwrap_err();
    assert_eq!(refused.name(), ErrorName::Unsupported);
}

/// Proves INF-001, INF-003.
#[test]
fn an_agent_sees_its_own_only() {
    let node = Node::start();
    run_peer(&node, "one", "");
    node.apply(&terminal("cat", &["/bin/cat"], "run: stopped"));
    let mut one = speak_as(&node, "one");
    let own = one.try_raw("inference/model.list", json!({})).unwrap();
    assert_eq!(own["unreported"], json!(["one"]));
    let other = one.try_raw("inference/usage.get", json!({ "agent": "cat" })).unwrap_err();
    assert_eq!(other.name(), ErrorName::PermissionDenied);
}
