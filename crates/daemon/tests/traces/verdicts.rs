//! Each fault that can occur has its own verdict.

use edgeplane_testkit::{
    Node, acp, native, signals,
    wait::{eventually, eventually_some},
};
use edgeplane_types::Timestamp;
use serde_json::json;

use super::{call, command, ended, explained, run, spans, tell, trace_of, verdict};

/// Proves TRACE-006, TRACE-010.
#[test]
fn quick_turn_is_healthy_and_its_parts_are_shown() {
    let node = Node::start();
    run(&node, "coder", "");
    // On a machine that is busy with something else a turn is not always quick.
    let (id, trace) = eventually_some("a turn is quick", || {
        let id = tell(&node, "coder", "say done");
        let trace = ended(&node, &id);
        let at = |name: &str| trace[name].as_str().unwrap().parse::<Timestamp>().unwrap();
        (at("end").millis_since(at("start")) < 900).then_some((id, trace))
    });
    let found = explained(&node, &id);
    assert_eq!((&found["verdict"], &found["rule"]), (&json!("healthy"), &json!("within-limits")));
    assert_eq!(found["entry_point"]["operation"], "runtime/agent.signal");
    assert_eq!(found["entry_point"]["agent"], "coder");
    let (request, turn) = (spans(&trace, "request")[0], spans(&trace, "turn")[0]);
    assert_eq!((&turn["name"], &turn["status"]), (&json!("invoke_agent coder"), &json!("ok")));
    assert_eq!(turn["parent"], request["span_id"]);
    assert_eq!(turn["attributes"]["gen_ai.usage.output_tokens"], "5");
    assert_eq!(turn["attributes"]["user.id"], request["attributes"]["user.id"]);
    assert!(!turn["events"].as_array().unwrap().is_empty());

    // The same by whatever it is named, and with less of it.
    let turn_id = turn["attributes"]["rt.turn.id"].clone();
    let thread = node.get("coder").status.identities.session.session_id.to_string().replace("ses_", "thr_");
    for selector in [
        json!({ "trace_id": trace["trace_id"] }),
        json!({ "turn_id": turn_id }),
        json!({ "agent": "coder" }),
        json!({ "thread_id": thread }),
    ] {
        let same = call(&node, "observe/trace.get", selector.clone());
        assert_eq!(same["spans"], trace["spans"], "{selector}");
    }
    let brief = call(&node, "observe/trace.get", json!({ "message_id": id, "detail": "brief" }));
    assert!(brief["spans"][0].get("attributes").is_none() && brief["spans"][0].get("events").is_none());
    for wrong in [json!({}), json!({ "agent": "coder", "message_id": id })] {
        let error = node.connect().try_raw("observe/trace.get", wrong).unwrap_err();
        assert_eq!(error.name().as_str(), "invalid_params");
    }
    let nothing = json!({ "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736" });
    let error = node.connect().try_raw("observe/trace.explain", nothing).unwrap_err();
    assert_eq!(error.name().as_str(), "not_found");
}

/// Proves TRACE-010, TRACE-011, PROT-007.
#[test]
fn waiting_for_a_busy_agent_is_queue_wait() {
    let node = Node::start();
    let folder = run(&node, "coder", "");
    tell(&node, "coder", "hold go");
    eventually("it is busy", || node.count("coder", "item.updated") > 0);
    let id = tell(&node, "coder", "say done");
    let open = verdict(&node, &id, "queue_wait");
    assert_eq!(open["rule"], "waited-in-the-queue");
    assert_eq!(open["owner"], json!({ "kind": "agent", "name": "coder" }));
    std::fs::write(folder.join("go"), "").unwrap();
    let trace = ended(&node, &id);
    assert_eq!(explained(&node, &id)["verdict"], "queue_wait");
    let wait = spans(&trace, "queue_wait")[0];
    assert!(wait["attributes"]["rt.waits_for.message.id"].as_str().unwrap().starts_with("msg_"));
}

/// Proves TRACE-010, TRACE-011, PROT-007.
#[test]
fn waiting_for_leave_is_approval_wait() {
    let node = Node::start();
    run(&node, "coder", "");
    let id = tell(&node, "coder", "tool out.txt");
    let open = verdict(&node, &id, "approval_wait");
    assert_eq!(open["owner"]["kind"], "person");
    let list = call(&node, "conversation/action.list", json!({ "agent": "coder" }));
    let action = &list["items"][0]["action"];
    let decision =
        json!({ "action_id": action["id"], "digest": action["digest"], "verdict": { "verdict": "approve" } });
    call(&node, "conversation/action.respond", decision);
    let trace = ended(&node, &id);
    let closed = explained(&node, &id);
    assert_eq!(
        (&closed["verdict"], &closed["rule"]),
        (&json!("approval_wait"), &json!("waited-for-a-person"))
    );
    assert!(closed["owner"]["name"].as_str().unwrap().starts_with("uid-"), "{closed}");
    let shows: Vec<u64> =
        closed["evidence"].as_array().unwrap().iter().map(|one| one["pos"].as_u64().unwrap()).collect();
    let opened =
        node.history("coder").into_iter().find(|event| event.event["type"] == "action.opened").unwrap();
    assert!(shows.contains(&opened.pos), "{closed}");
    let tool = spans(&trace, "tool")[0];
    assert_eq!((&tool["name"], &tool["status"]), (&json!("execute_tool write out.txt"), &json!("ok")));
}

/// Proves TRACE-010, TRACE-011, PROT-007.
#[test]
fn waiting_for_a_program_that_does_not_run_is_runtime_delay() {
    let node = Node::start();
    let folder = node.scratch().join("coder");
    // It is brought up slowly.
    let script = format!("until [ -e {}/up ]; do sleep 0.05; done", folder.display());
    let slow = format!("hooks: {{ preStart: {{ command: [/bin/sh, -c, \"{script}\"], timeout: 60s }} }}");
    node.apply(&acp("coder", &folder, &[], ("", &slow)));
    let id = tell(&node, "coder", "say done");
    let open = verdict(&node, &id, "runtime_delay");
    assert_eq!(open["rule"], "waited-for-the-program");
    assert_eq!(open["owner"], json!({ "kind": "node", "name": "node", "of": "coder" }));
    std::fs::write(folder.join("up"), "").unwrap();
    ended(&node, &id);
    assert_eq!(explained(&node, &id)["verdict"], "runtime_delay");

    // It crashes, and comes back late.
    let late = "restart: { backoff: { initial: 1500ms, jitterPercent: 0 } }";
    run(&node, "other", late);
    let dying = tell(&node, "other", "die");
    eventually("it is dead", || node.count("other", "agent.exited") > 0);
    let id = tell(&node, "other", "say back");
    let trace = ended(&node, &id);
    let found = explained(&node, &id);
    assert_eq!(
        (&found["verdict"], &found["rule"]),
        (&json!("runtime_delay"), &json!("waited-for-the-program"))
    );
    assert!(!spans(&trace, "runtime_delay").is_empty());
    // The turn in which it died ended with its epoch.
    let died = trace_of(&node, &dying);
    let turn = spans(&died, "turn")[0];
    assert_eq!(turn["status"], "error", "{turn}");
    assert!(turn["reason"].as_str().unwrap().contains("ended with exit code 3"), "{turn}");
}

/// Proves TRACE-010, TRACE-012, PROT-007.
#[test]
fn turn_without_a_sign_of_life_is_inference_timeout() {
    let node = Node::start();
    run(&node, "coder", "health: { quietFor: 1200ms, onFailure: report }");
    let id = tell(&node, "coder", "hold forever");
    let open = verdict(&node, &id, "inference_timeout");
    assert_eq!(open["rule"], "turn-without-a-sign-of-life");
    assert_eq!(open["owner"], json!({ "kind": "agent", "name": "coder" }));
    let quiet = &spans(&trace_of(&node, &id), "turn")[0]["quiet"].clone();
    assert_eq!(quiet["limit_ms"], 1_200);
    assert!(quiet["ms"].as_u64().unwrap() >= 1_200, "{quiet}");
}

/// Proves TRACE-010, TRACE-015, PROT-007.
#[test]
fn what_the_record_does_not_know_is_replay_gap() {
    let node = Node::start();
    let more = "delivery: { ambiguous: hold }\nrestart: { policy: never }";
    node.run("slow", &native("slow", &["/bin/sh", "-c", "exec sleep 1000"], more));
    let id = node.signal("slow", &"x".repeat(300 << 10), None).message_id.to_string();
    let agent = node.get("slow").metadata["id"].as_str().unwrap().to_owned();
    let recording = node.state_dir().join("agents").join(agent).join("1/000001.cast");
    eventually("the shim has begun to write it", || {
        std::fs::read_to_string(&recording).unwrap_or_default().contains(&id)
    });
    signals::kill(&[node.shim_pid("slow"), node.pid("slow")]);
    let found = verdict(&node, &id, "replay_gap");
    assert_eq!(found["rule"], "gap");
    let gaps = trace_of(&node, &id)["gaps"].clone();
    assert!(gaps[0]["what"].as_str().unwrap().contains("delivered is not known"), "{gaps}");
    assert_eq!(found["evidence"][0]["pos"], gaps[0]["events"][0]);
}

/// How long the tool of the three hops works before it dies.
fn tool_seconds() -> f64 {
    // The full form is for a machine that has the time.
    if std::env::var_os("EDGEPLANE_TEST_FULL").is_some() { 9.0 } else { 1.6 }
}

/// Proves TRACE-004, TRACE-009, TRACE-010.
#[test]
fn three_hops_are_one_trace_with_an_owner_and_a_verdict() {
    let node = Node::start();
    run(&node, "a", "");
    run(&node, "b", "");
    let cli = node.binaries().cli.to_string_lossy().into_owned();
    let dies = command("sh", &json!(["-c", format!("sleep {}; kill -9 $$", tool_seconds())]));
    let asks = command(&cli, &json!(["ask", "b", "--content", dies]));
    let asked =
        node.cli(&["ask", "a", "--content", &asks, "--timeout", "60s", "-o", "json"]).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&asked.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&asked.stderr)));
    let id = answer["message_id"].as_str().unwrap();

    let trace = ended(&node, id);
    let requests = spans(&trace, "request");
    let turns = spans(&trace, "turn");
    assert_eq!((requests.len(), turns.len()), (2, 2), "{trace:#}");
    let (of_a, of_b) = (turns[0], turns[1]);
    assert_eq!((&of_a["name"], &of_b["name"]), (&json!("invoke_agent a"), &json!("invoke_agent b")));
    assert_eq!(of_a["parent"], requests[0]["span_id"]);
    assert_eq!(requests[1]["parent"], of_a["span_id"], "what A asked belongs to its turn");
    assert_eq!(of_b["parent"], requests[1]["span_id"]);
    let tool = spans(&trace, "tool").into_iter().find(|tool| tool["owner"]["of"] == "b").unwrap();
    assert_eq!((&tool["parent"], &tool["status"]), (&of_b["span_id"], &json!("error")));
    assert!(tool["reason"].as_str().unwrap().contains("signal"), "{tool}");

    let found = explained(&node, id);
    assert_eq!((&found["verdict"], &found["rule"]), (&json!("runtime_delay"), &json!("tool-ended-badly")));
    assert_eq!(found["owner"], json!({ "kind": "tool", "name": "sh", "of": "b" }), "{found:#}");
    assert_eq!(found["entry_point"]["operation"], "runtime/agent.ask");
    let path = found["critical_path"].as_array().unwrap();
    assert!(path.iter().any(|stretch| stretch["span_id"] == tool["span_id"]));

    // From any point of it the same trace is seen, and people read it on one page.
    assert_eq!(call(&node, "observe/trace.get", json!({ "agent": "b" }))["spans"], trace["spans"]);
    let shown = node.cli(&["trace", "--agent", "b", "--ascii", "--no-color"]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    for expected in [
        "runtime/agent.ask by uid-",
        "invoke_agent a",
        "invoke_agent b",
        "execute_tool sh",
        "runtime_delay",
        "owner tool of b",
    ] {
        assert!(text.contains(expected), "{expected} is not in:\n{text}");
    }
    node.verify();
}

/// Proves TRACE-008.
#[test]
fn trace_survives_the_daemon() {
    let mut node = Node::start();
    run(&node, "coder", "");
    let id = tell(&node, "coder", "say done");
    let before = ended(&node, &id);
    node.kill_daemon();
    node.up();
    let after = trace_of(&node, &id);
    assert_eq!((&before["spans"], &before["trace_id"]), (&after["spans"], &after["trace_id"]));
}
