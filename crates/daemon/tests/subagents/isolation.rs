//! What divides a child from its parent, what it has of it, and who may have children at all.

use edgeplane_testkit::{Node, peers::speak_as, wait::eventually};
use edgeplane_types::Phase;
use serde_json::{Value, json};

use super::{
    ID,
    stage::{
        arm, call, call_if_alive, given, manifest, place, refused, refused_as, spawn, spawn_running, under,
        with, worker,
    },
};

/// Proves SUB-005.
#[test]
fn what_divides_a_child_from_its_parent_is_chosen_or_refused() {
    let node = Node::start();
    let more =
        "env: { PLAIN: x, KEY: { secret: key } }\nsecrets: [{ name: key, from: { file: key }, as: env }]";
    let secret = node.scratch().join("key");
    std::fs::write(&secret, "hidden").unwrap();
    let more = more.replace("file: key", &format!("file: {}", secret.display()));
    worker(&node, "alpha", &more);
    let isolation = |more: Value| json!({ "isolation": more });
    spawn_running(&node, "alpha", "own", &json!({}));
    spawn_running(&node, "alpha", "shared", &isolation(json!({ "workspace": "shared" })));
    spawn_running(&node, "alpha", "narrow", &isolation(json!({ "permission": "narrowed" })));
    let cwd = |name: &str| place(&node, name)["cwd"].clone();
    assert_eq!(cwd("shared"), cwd("alpha"));
    assert_ne!(cwd("own"), cwd("alpha"));
    assert_ne!(cwd("narrow"), cwd("own"));
    let has = |name: &str, key: &str| place(&node, name)["env"].get(key).is_some();
    assert!(has("own", "KEY") && has("own", "PLAIN"));
    assert!(!has("narrow", "KEY") && has("narrow", "PLAIN"));
    let named = json!({ "environment": ["PLAIN"] });
    spawn_running(&node, "alpha", "few", &named);
    assert!(!has("few", "KEY") && has("few", "PLAIN"));
    // What one remembers another does not.
    let put = json!({ "agent": "alpha", "key": "k", "value": 1 });
    call(&node, "memory/entry.put", put);
    assert_eq!(refused(&node, "memory/entry.get", json!({ "agent": "own", "key": "k" })), "not_found");
    // Never more than its parent has.
    let richer = manifest(
        &node,
        "rich",
        "secrets: [{ name: other, from: { env: OTHER }, as: env }]\nenv: { O: { secret: other } }",
    );
    let params = with("alpha", &json!({ "manifest": richer }));
    assert_eq!(refused(&node, "runtime/subagent.spawn", params), "invalid_manifest");
    let plain = with("alpha", &json!({ "manifest": manifest(&node, "plain", "") }));
    assert_eq!(call(&node, "runtime/subagent.spawn", plain)["name"], "plain");
    node.verify();
}

/// Proves SUB-013.
#[test]
fn forked_folder_begins_with_what_the_parents_held() {
    for point in ["", "subagent.filled", "subagent.before", "subagent.after"] {
        let mut node = Node::start();
        worker(&node, "alpha", "");
        let own = std::path::PathBuf::from(place(&node, "alpha")["cwd"].as_str().unwrap());
        std::fs::create_dir(own.join("deep")).unwrap();
        std::fs::write(own.join("deep/notes"), "what is known").unwrap();
        std::os::unix::fs::symlink("deep/notes", own.join("link")).unwrap();
        std::fs::write(own.join(".gitignore"), "deep").unwrap();
        let params = json!({ "subagent_id": ID, "name": "child", "isolation": { "workspace": "forked" } });
        if !point.is_empty() {
            arm(&node, point, 1);
            assert!(call_if_alive(&node, "runtime/subagent.spawn", with("alpha", &params)).is_none());
            eventually("the daemon is dead", || node.has_ended());
            node.up();
            node.wait("alpha", Phase::Running);
            let left = own.parent().unwrap().parent().unwrap().join(ID);
            assert_eq!(left.exists(), point == "subagent.after", "{point}: nobody's folder stays");
        }
        spawn_running(&node, "alpha", "child", &params);
        let forked = std::path::PathBuf::from(place(&node, "child")["cwd"].as_str().unwrap());
        assert_ne!(forked, own);
        assert!(!forked.parent().unwrap().join("forking").exists(), "{point}");
        assert_eq!(std::fs::read_to_string(forked.join("link")).unwrap(), "what is known");
        // From then on each has its own.
        std::fs::write(forked.join("deep/notes"), "changed").unwrap();
        assert_eq!(std::fs::read_to_string(own.join("deep/notes")).unwrap(), "what is known");
        let spawned = node.facts("alpha", "subagent.spawned").pop().unwrap();
        let kept = json!({ "checkpoint_id": spawned["checkpoint_id"] });
        assert_eq!(
            call(&node, "workspace/checkpoint.get", kept)["checkpoint"]["label"],
            "for subagent child"
        );
        assert_eq!(node.count("alpha", "subagent.spawned"), 1, "{point}");
        node.verify();
    }
}

/// Proves SUB-013.
#[test]
fn folder_that_is_in_use_is_not_forked() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let own = call(&node, "workspace/create", json!({ "agent": "alpha" }))["workspace_id"].clone();
    let params = json!({ "workspace_id": own });
    call(&node, "workspace/checkpoint.create", params.clone());
    // Whoever collects is alone, so that the next checkpoint waits.
    let lock = std::fs::File::open(node.state_dir().join("checkpoints/lock")).unwrap();
    lock.lock().unwrap();
    let (mut connection, kept) = (node.connect(), params.clone());
    let waiting = std::thread::spawn(move || connection.try_raw("workspace/checkpoint.create", kept));
    eventually("it is begun", || {
        let list = call(&node, "workspace/checkpoint.list", json!({ "workspace_id": own, "all": true }));
        list["checkpoints"].as_array().unwrap().iter().any(|one| one["state"] == "started")
    });
    let forked = json!({ "isolation": { "workspace": "forked" } });
    assert_eq!(refused(&node, "runtime/subagent.spawn", with("alpha", &forked)), "locked");
    assert!(under(&node, "alpha", 1, true).is_empty());
    drop(lock);
    waiting.join().unwrap().unwrap();
    spawn(&node, "alpha", &forked);
    node.verify();
}

/// Proves SUB-014.
#[test]
fn forked_context_is_told_ahead_of_the_first_message() {
    let node = Node::start();
    worker(&node, "alpha", "subagents: { max: 4 }");
    let say = |text: &str| {
        let params = json!({ "agent": "alpha", "input": [{ "type": "text", "text": text }] });
        let turn = call(&node, "conversation/turn.start", params)["turn_id"].clone();
        let get = json!({ "turn_id": turn });
        eventually("the turn is over", || {
            call(&node, "conversation/turn.get", get.clone())["state"] == "completed"
        });
    };
    say("work the harbour is closed");
    let forked = json!({ "name": "child", "isolation": { "context": "forked" } });
    let child = spawn_running(&node, "alpha", "child", &forked);
    let thread = json!({ "thread_id": child.thread_id });
    let alpha = call(&node, "conversation/thread.get", json!({ "agent": "alpha" }));
    let shown = call(&node, "conversation/thread.get", thread);
    assert_eq!(shown["parent"]["thread_id"], alpha["thread_id"], "{shown}");
    // What its parent hears later is its parent's alone.
    say("work the bridge is open");
    for text in ["work one", "work two"] {
        let send = json!({ "subagent": "child", "parts": [{ "type": "text", "text": text }] });
        call(&node, "runtime/subagent.send", send);
    }
    eventually("it was told twice", || given(&node, "child").len() == 2);
    let told: Vec<String> = given(&node, "child").iter().map(Value::to_string).collect();
    assert!(told[0].contains("the harbour is closed"), "{}", told[0]);
    assert!(!told[0].contains("the bridge is open"), "{}", told[0]);
    assert!(!told[1].contains("the harbour is closed"), "once is enough: {}", told[1]);
    // One with a task of its own, spawned by the parent itself in the midst of a turn, knows that turn.
    say(
        "spawn {\"name\": \"second\", \"isolation\": {\"context\": \"forked\"}, \"task\": {\"title\": \"part\", \"objective\": \"work fine\"}}",
    );
    eventually("it was told", || !given(&node, "second").is_empty());
    let told = given(&node, "second")[0].to_string();
    assert!(told.contains("the bridge is open"), "{told}");
    node.verify();
}

/// Proves SUB-015.
#[test]
fn shared_memory_is_the_parents() {
    let mut node = Node::start();
    worker(&node, "alpha", "subagents: { max: 4, depth: 2 }");
    let shared = json!({ "isolation": { "memory": "shared" } });
    spawn_running(&node, "alpha", "child", &shared);
    spawn_running(&node, "child", "grandchild", &shared);
    spawn_running(&node, "alpha", "apart", &json!({}));
    let put = json!({ "key": "tide", "value": "low" });
    speak_as(&node, "grandchild").try_raw("memory/entry.put", put).unwrap();
    for name in ["alpha", "child", "grandchild"] {
        let got = speak_as(&node, name).try_raw("memory/entry.get", json!({ "key": "tide" })).unwrap();
        assert_eq!((&got["value"], &got["version"]), (&json!("low"), &json!(1)), "{name}");
    }
    assert_eq!(refused_as(&node, "apart", "memory/entry.get", json!({ "key": "tide" })), "not_found");
    // It stands in the stream of whose memory it is, as the word of who wrote it.
    assert_eq!(node.count("grandchild", "memory.put") + node.count("child", "memory.put"), 0);
    let written = node.history("alpha").into_iter().find(|event| event.event["type"] == "memory.put");
    assert_eq!(written.unwrap().event["actor"]["name"], "grandchild");
    // Also for a program that speaks over its driver, and after its daemon's death.
    node.kill_daemon();
    node.up();
    node.wait("child", Phase::Running);
    let params = json!({ "agent": "child", "input": [{ "type": "text", "text": "put tide high" }] });
    call(&node, "conversation/turn.start", params);
    eventually("it is changed", || {
        call(&node, "memory/entry.get", json!({ "agent": "alpha", "key": "tide" }))["value"] == "high"
    });
    // A sibling's memory is nobody else's, shared or not.
    assert_eq!(
        refused_as(&node, "apart", "memory/entry.get", json!({ "agent": "child", "key": "tide" })),
        "permission_denied"
    );
    node.verify();
}

/// Proves SUB-016.
#[test]
fn rules_say_who_starts_agents() {
    let node = Node::start();
    let rule = "@id(\"alone\") forbid (principal, action == Action::\"spawn\", resource);";
    worker(&node, "alpha", &format!("subagents: {{ max: 4 }}\npolicy: '{rule}'"));
    worker(&node, "beta", "subagents: { max: 4 }");
    let error = speak_as(&node, "alpha").try_raw("runtime/subagent.spawn", json!({})).unwrap_err();
    assert_eq!(error.name().as_str(), "policy_blocked");
    assert!(error.message.contains("rule alone"), "{error}");
    assert!(under(&node, "alpha", 1, true).is_empty());
    speak_as(&node, "beta").try_raw("runtime/subagent.spawn", json!({})).unwrap();
    // Whoever runs the node is not asked.
    spawn(&node, "alpha", &json!({}));
    node.verify();
}
