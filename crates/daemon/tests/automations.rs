//! Automations end to end: each cause, what is done and as whom, over dying daemons; deliveries that are forged, repeated
//! and too large; circles; and agents that want more than they may.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

#[path = "automations/called.rs"]
mod called;
#[path = "automations/deliveries.rs"]
mod deliveries;
#[path = "automations/held.rs"]
mod held;
#[path = "automations/stage.rs"]
mod stage;

use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Node,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{ErrorName, Scope, Timestamp};
use serde_json::{Value, json};
use stage::{
    Delivery, as_agent, ask, firings, made, messages, now, over, put, shown, signalling, start, states, stop,
    until, with_hook, worker,
};

fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(point), "").unwrap();
}

/// A task for an agent whenever another one is stopped.
fn task_on_stop(to: &str) -> Value {
    json!({
        "on": { "event": { "types": ["agent.desired"], "agent": "other", "where": { "payload.desired": "stopped" } } },
        "do": { "task": { "agent": to, "title": "See why", "text": "Event ${event.pos} of ${firing.automation}." } },
    })
}

/// Proves AUT-001, AUT-002, AUT-007.
#[test]
fn an_event_gives_an_agent_a_task() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "other");
    worker(&node, "third");
    put(&node, "triage", &task_on_stop("reviewer"));
    stop(&node, "third");
    stop(&node, "other");
    let fired = over(&node, "triage", 1);
    assert_eq!(states(&fired), ["succeeded"]);
    assert_eq!((&fired[0]["cause"]["kind"], &fired[0]["hops"]), (&json!("event"), &json!(0)));
    let task = eventually_some("the task is done", || {
        let task = made(&node, "runtime/task.get", json!({ "task_id": fired[0]["task_id"] }));
        (task["task"]["state"] == "completed").then_some(task)
    });
    assert_eq!(task["task"]["title"], "See why");
    assert!(task.to_string().contains(&format!("Event {} of triage.", fired[0]["cause"]["pos"])), "{task}");
    // Started again it is not what was asked for, and stopped again it is once more.
    start(&node, "other");
    stop(&node, "other");
    assert_eq!(states(&over(&node, "triage", 2)), ["succeeded", "succeeded"]);
    let view = shown(&node, "triage");
    assert_eq!((&view["fired"], &view["failed"], &view["waiting"]), (&json!(2), &json!(0), &json!(0)));
    assert_eq!((&view["on"], &view["does"]), (&json!("event"), &json!("a task for reviewer")));
    node.verify();
}

/// Proves AUT-003, AUT-004.
#[test]
fn each_cause_acts_once_whenever_the_daemon_dies() {
    for point in ["automation.firing", "automation.fired", "automation.acted"] {
        let mut node = Node::start();
        worker(&node, "reviewer");
        worker(&node, "other");
        put(&node, "triage", &task_on_stop("reviewer"));
        put(&node, "tell", &signalling("agent.desired", "other", "reviewer", "it was stopped"));
        arm(&node, point);
        drop(ask(&node, "runtime/agent.stop", json!({ "agent": "other" })));
        eventually(&format!("the daemon dies at {point}"), || node.has_ended());
        node.up();
        for name in ["triage", "tell"] {
            assert_eq!(states(&over(&node, name, 1)), ["succeeded"], "{name} at {point}");
        }
        let tasks = made(&node, "runtime/task.list", json!({ "all": true }));
        let mine = tasks["items"].as_array().unwrap().iter().filter(|task| task["title"] == "See why");
        assert_eq!(mine.count(), 1, "at {point}: {tasks}");
        assert_eq!(messages(&node, "reviewer", "it was stopped").len(), 1, "at {point}");
        // The next daemon finds nothing left to do.
        node.kill_daemon();
        node.up();
        assert_eq!((firings(&node, "triage").len(), firings(&node, "tell").len()), (1, 1), "after {point}");
        node.verify();
    }
}

/// Proves AUT-004.
#[test]
fn a_call_that_a_dying_daemon_left_is_not_made_again() {
    let mut node = Node::start();
    worker(&node, "other");
    let restart = json!({ "name": "runtime/agent.restart", "params": { "agent": "other" } });
    put(
        &node,
        "again",
        &json!({ "on": { "event": { "types": ["resource.put"] } }, "do": { "method": restart } }),
    );
    arm(&node, "call.effect");
    drop(ask(&node, "resource/put", json!({ "uri": "edgeplane://config/x", "value": 1 })));
    eventually("the daemon dies", || node.has_ended());
    node.up();
    let fired = over(&node, "again", 1);
    assert_eq!(states(&fired), ["outcome_unknown"]);
    assert_eq!(fired[0]["error"], "outcome_unknown");
    node.verify();
}

/// Proves AUT-005.
#[test]
fn words_of_others_are_not_followed() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "other");
    put(&node, "own", &signalling("message.accepted", "other", "reviewer", "own words at ${event.pos}"));
    let passed_on =
        signalling("message.accepted", "other", "reviewer", "their ${event.payload.envelope.topic}");
    put(&node, "passed", &passed_on);
    node.signal("other", "x", None);
    over(&node, "own", 1);
    let own = &messages(&node, "reviewer", "own words at")[0];
    assert_eq!((&own["channel"], &own["authority"]), (&json!("workflow"), &json!("delegated")));
    assert_eq!((&own["source"], &own["source_detail"]["proof"]), (&json!("own"), &json!("node")));
    assert!(own.to_string().contains("uid-"), "on whose behalf: {own}");
    // What is not there is no reason to guess.
    let failed = over(&node, "passed", 1);
    assert_eq!((states(&failed), &failed[0]["error"]), (vec!["failed"], &json!("invalid_params")));
    assert!(failed[0]["reason"].as_str().unwrap().contains("nothing at"), "{failed:?}");
    let channel =
        signalling("message.accepted", "other", "reviewer", "their ${event.payload.envelope.channel}");
    put(&node, "passed", &channel);
    node.signal("other", "y", None);
    over(&node, "passed", 2);
    let theirs = &messages(&node, "reviewer", "their operator")[0];
    assert_eq!(theirs["authority"], "external");
    node.verify();
}

/// Proves AUT-008.
#[test]
fn a_circle_ends() {
    let node = Node::start();
    worker(&node, "one");
    put(&node, "circle", &signalling("message.accepted", "one", "one", "round and round"));
    let job = json!({
        "on": { "event": { "types": ["task.moved"], "where": { "payload.to": "completed" } } },
        "do": { "task": { "agent": "one", "title": "Once more" } },
    });
    put(&node, "tasks", &job);
    node.signal("one", "begin", None);
    made(&node, "runtime/task.create", json!({ "agent": "one", "title": "begin" }));
    for name in ["circle", "tasks"] {
        eventually(&format!("{name} ends"), || shown(&node, name)["skipped"].as_u64() > Some(0));
        let fired = over(&node, name, 8);
        let hops: Vec<u64> = fired.iter().map(|firing| firing["hops"].as_u64().unwrap()).collect();
        assert!(hops.iter().all(|hops| *hops < 8), "{name}: {hops:?}");
        assert!(hops.contains(&7), "{name}: {hops:?}");
    }
    node.verify();
}

/// Proves AUT-009.
#[test]
fn what_is_withdrawn_or_not_enabled_does_nothing() {
    let node = Node::start();
    worker(&node, "reviewer");
    worker(&node, "other");
    let mut slow = signalling("message.accepted", "other", "reviewer", "slow words");
    slow["perMinute"] = json!(1);
    put(&node, "slow", &slow);
    for text in ["a", "b", "c"] {
        node.signal("other", text, None);
    }
    eventually("one acts, and two wait", || {
        let all = firings(&node, "slow");
        all.len() == 3 && all.iter().filter(|firing| firing["state"] == "open").count() == 2
    });
    made(
        &node,
        "resource/patch",
        json!({ "uri": "edgeplane://automation/slow", "patch": { "enabled": false } }),
    );
    assert_eq!(states(&over(&node, "slow", 3)), ["succeeded", "withdrawn", "withdrawn"]);
    node.signal("other", "d", None);
    // By hand it fires all the same.
    made(&node, "capability/automation.fire", json!({ "name": "slow" }));
    assert_eq!(states(&over(&node, "slow", 4)), ["succeeded", "withdrawn", "withdrawn", "succeeded"]);
    // What came while it was not enabled is nobody's when it is again.
    made(
        &node,
        "resource/patch",
        json!({ "uri": "edgeplane://automation/slow", "patch": { "enabled": true, "perMinute": 60 } }),
    );
    node.signal("other", "e", None);
    assert_eq!(over(&node, "slow", 5).len(), 5);
    assert_eq!(messages(&node, "reviewer", "slow words").len(), 3);
    made(&node, "resource/delete", json!({ "uri": "edgeplane://automation/slow" }));
    assert_eq!(
        ask(&node, "capability/automation.get", json!({ "name": "slow" })).unwrap_err().name(),
        ErrorName::NotFound
    );
    node.verify();
}

/// Each time that came due had it fire or was passed over, and none both or twice.
fn check_accounted_once(node: &Node, name: &str) {
    let of = |kind: &str| node.facts("", kind).into_iter().filter(|fact| fact["automation"] == name);
    let time = |value: &Value| serde_json::from_value::<Timestamp>(value.clone()).unwrap();
    let fired =
        of("automation.fired").map(|fact| (fact["cause"]["due_at"].clone(), fact["cause"]["due_at"].clone()));
    let passed = of("automation.skipped").map(|fact| (fact["from"].clone(), fact["to"].clone()));
    let mut spans: Vec<_> = fired.chain(passed).map(|(from, to)| (time(&from), time(&to))).collect();
    spans.sort_unstable();
    assert!(spans.windows(2).all(|two| two[0].1 < two[1].0), "{spans:?}");
}

/// Proves AUT-015.
#[test]
fn a_schedule_fires_and_is_caught_up() {
    let mut node = Node::start();
    worker(&node, "reviewer");
    let to = json!({ "task": { "agent": "reviewer", "title": "Due ${event.due_at}" } });
    put(&node, "often", &json!({ "on": { "schedule": { "every": "1s" } }, "do": to }));
    let at = now() + 3;
    let stamp = Timestamp::from_micros(i64::try_from(at).unwrap() * 1_000_000);
    put(&node, "once", &json!({ "on": { "schedule": { "at": stamp.to_string() } }, "do": to }));
    eventually("it fires again and again", || shown(&node, "often")["fired"].as_u64() >= Some(3));
    check_accounted_once(&node, "often");
    made(&node, "resource/delete", json!({ "uri": "edgeplane://automation/often" }));
    node.kill_daemon();
    until(at + 1);
    node.up();
    let fired = over(&node, "once", 1);
    assert_eq!((states(&fired), fired.len()), (vec!["succeeded"], 1));
    assert_eq!(fired[0]["cause"]["kind"], "schedule");
    node.kill_daemon();
    node.up();
    assert_eq!(firings(&node, "once").len(), 1, "once is once");
    node.verify();
}

/// Proves AUT-010, AUT-011.
#[test]
fn an_agents_automation_does_no_more_than_the_agent() {
    let node = Node::start();
    worker(&node, "keen");
    worker(&node, "other");
    let mut keen = as_agent(&node, "keen");
    let mut put_as = |name: &str, value: &Value| {
        keen.try_raw(
            "resource/put",
            json!({ "uri": format!("edgeplane://automation/{name}"), "value": value }),
        )
    };
    let method = |name: &str, params: Value| json!({ "on": { "event": { "types": ["message.accepted"] } }, "do": { "method": { "name": name, "params": params } } });
    for (value, rule) in [
        (method("runtime/agent.retire", json!({ "agent": "other" })), "operators-only"),
        (method("security/token.epoch", json!({})), "not-for-automations"),
        (method("resource/put", json!({})), "not-for-automations"),
        (method("conversation/action.respond", json!({})), "not-for-automations"),
        (method("stream/subscribe", json!({})), "not-for-automations"),
        (
            json!({ "on": { "webhook": { "secretRef": { "file": "/etc/hostname" } } }, "do": { "task": { "agent": "keen", "title": "x" } } }),
            "agents-have-no-webhooks",
        ),
    ] {
        let error = put_as("more", &value).unwrap_err();
        assert_eq!(error.name(), ErrorName::PermissionDenied, "{error}");
        assert!(error.message.contains(rule), "{error}");
    }
    let seen = "heard of ${event.id}";
    let mut mine = signalling("message.accepted", "other", "other", seen);
    mine["on"]["event"].as_object_mut().unwrap().remove("agent");
    put_as("mine", &mine).unwrap();
    assert!(put_as("mine", &mine).unwrap()["unchanged"] == true);
    // It sees what is about itself alone, and speaks as itself.
    node.signal("other", "not for it", None);
    node.signal("keen", "for it", None);
    assert_eq!(states(&over(&node, "mine", 1)), ["succeeded"]);
    let told = messages(&node, "other", "heard of");
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["channel"], &told[0]["source"]), (&json!("peer"), &json!("keen")));
    // Nothing of others is there for it.
    put(&node, "theirs", &mine);
    made(&node, "resource/put", json!({ "uri": "edgeplane://config/x", "value": 1 }));
    for (method, params) in [
        ("resource/put", json!({ "uri": "edgeplane://automation/theirs", "value": mine })),
        ("resource/delete", json!({ "uri": "edgeplane://automation/theirs" })),
        ("resource/get", json!({ "uri": "edgeplane://automation/theirs" })),
        ("resource/get", json!({ "uri": "edgeplane://config/x" })),
    ] {
        let error = keen.try_raw(method, params).unwrap_err();
        assert_eq!(error.name(), ErrorName::PermissionDenied, "{method}: {error}");
    }
    let list = keen.try_raw("resource/list", json!({})).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    let list = keen.try_raw("capability/automation.list", json!({})).unwrap();
    assert_eq!((list["items"].as_array().unwrap().len(), &list["items"][0]["name"]), (1, &json!("mine")));
    for number in 2..=16 {
        keen.try_raw(
            "resource/put",
            json!({ "uri": format!("edgeplane://automation/n{number}"), "value": mine }),
        )
        .unwrap();
    }
    let full = keen.try_raw("resource/put", json!({ "uri": "edgeplane://automation/n17", "value": mine }));
    assert_eq!(full.unwrap_err().name(), ErrorName::QuotaExhausted);
    // An automation outlives neither the agent nor its rights.
    stop(&node, "keen");
    made(&node, "runtime/agent.retire", json!({ "agent": "keen" }));
    made(&node, "capability/automation.fire", json!({ "name": "mine", "event": { "id": "x" } }));
    let failed = over(&node, "mine", 2);
    assert_eq!(
        (states(&failed), &failed[1]["error"]),
        (vec!["succeeded", "failed"], &json!("permission_denied"))
    );
    node.verify();
}

/// Proves AUT-010.
#[test]
fn a_token_counts_as_it_stands_when_its_automation_acts() {
    let node = Node::start();
    worker(&node, "other");
    let token =
        node.token("ann", edgeplane_types::TokenKind::Operator, &[Scope::Supervise, Scope::Read], &[]);
    let mut ann = node.bearer(&token.token);
    let say = signalling("message.accepted", "other", "other", "x");
    let refused = ann.try_raw("resource/put", json!({ "uri": "edgeplane://automation/say", "value": say }));
    let error = refused.unwrap_err();
    assert!(error.message.contains("scope-signal"), "{error}");
    let stop = json!({
        "on": { "event": { "types": ["message.accepted"], "agent": "other" } },
        "do": { "method": { "name": "runtime/agent.stop", "params": { "agent": "other" } } },
    });
    ann.try_raw("resource/put", json!({ "uri": "edgeplane://automation/end", "value": stop })).unwrap();
    assert_eq!(shown(&node, "end")["acts_as"], "ann");
    made(&node, "security/token.revoke", json!({ "token_id": token.token_id }));
    node.signal("other", "x", None);
    let fired = over(&node, "end", 1);
    assert_eq!((states(&fired), &fired[0]["error"]), (vec!["failed"], &json!("unauthenticated")));
    assert_eq!(node.get("other").status.phase, edgeplane_types::Phase::Running);
    // Whoever writes it anew is the one who acts.
    put(&node, "end", &stop);
    node.signal("other", "y", None);
    assert_eq!(states(&over(&node, "end", 2)), ["failed", "succeeded"]);
    node.wait("other", edgeplane_types::Phase::Stopped);
    node.verify();
}

/// Proves AUT-001.
#[test]
fn automations_are_applied_with_agents_and_fire_by_hand() {
    let node = Node::start();
    let agent = edgeplane_testkit::task_worker("reviewer", &node.scratch().join("log"), &[], "");
    let automation = "apiVersion: edgeplane.dev/v1alpha1
kind: Automation
metadata: {name: nightly, labels: {team: docs}}
spec:
  on: {schedule: {cron: \"0 3 * * *\"}}
  do:
    task: {forLabels: {role: reviewer}, title: \"Look at ${event.payload.what}\"}
";
    let agent = agent.replace("name: reviewer }", "name: reviewer, labels: { role: reviewer } }");
    node.apply(&format!("{agent}---\n{automation}"));
    node.wait("reviewer", edgeplane_types::Phase::Running);
    let wrong = node.try_apply(&automation.replace("cron", "corn")).unwrap_err();
    assert_eq!(wrong.name(), ErrorName::InvalidManifest);
    let unknown = automation.replace("schedule: {cron: \"0 3 * * *\"}", "event: {types: [task.movd]}");
    let unknown = node.try_apply(&unknown).unwrap_err();
    assert!(unknown.message.contains("did you mean `task.moved`"), "{unknown}");
    assert!(shown(&node, "nightly")["due_at"].is_string());
    let event = json!({ "payload": { "what": "this" } });
    let fired = made(&node, "capability/automation.fire", json!({ "name": "nightly", "event": event }));
    assert_eq!(states(&over(&node, "nightly", 1)), ["succeeded"]);
    eventually("an agent that has the labels did it", || {
        let job = made(&node, "runtime/job.get", json!({ "job_id": fired["task_id"] }));
        job["job"]["state"] == "completed" && job["job"]["title"] == "Look at this"
    });
    let shown = node.cli(&["automation", "show", "nightly"]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("by hand") && text.contains("succeeded"), "{text}");
    let listed = node.cli(&["automation", "list", "-o", "json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["items"][0]["name"], "nightly");
    node.verify();
}

/// Proves AUT-012.
#[test]
fn more_than_may_wait_is_passed_over_and_counted() {
    let node = with_hook();
    let slow = json!({
        "on": { "event": { "types": ["resource.put"], "where": { "payload.uri": "edgeplane://config/x" } } },
        "do": { "method": { "name": "runtime/agent.list" } },
        "perMinute": 1,
    });
    put(&node, "slow", &slow);
    let mut operator = node.connect();
    for number in 0..1_100 {
        operator.try_raw("resource/put", json!({ "uri": "edgeplane://config/x", "value": number })).unwrap();
    }
    let mut operator = node.connect();
    let view = eventually_some("all are accounted for", || {
        let params = json!({ "name": "slow", "firings": 0 });
        let view = operator.try_raw("capability/automation.get", params).unwrap();
        (view["fired"].as_u64()? + view["skipped"].as_u64()? == 1_100).then_some(view)
    });
    assert!(view["waiting"].as_u64() <= Some(1_000), "{view}");
    assert!(view["skipped"].as_u64() >= Some(90), "{view}");
    let over = firings(&node, "slow").into_iter().filter(|firing| firing["state"] != "open");
    assert!(over.count() <= 1, "one acts within a minute");
    // Whatever else it fires for by then finds no room, either, and leaves nothing behind.
    let hook = made(&node, "resource/get", json!({ "uri": "edgeplane://automation/pushed" }));
    let secret = json!({ "webhook": { "secretRef": { "file": node.scratch().join("secret") } } });
    put(&node, "slow", &json!({ "on": secret, "do": hook["value"]["do"], "perMinute": 1 }));
    let text = Delivery { hook: "slow", id: "d-1", at: now(), kind: "text/plain", body: b"x" };
    assert_eq!(text.send_signed(&node).error_name(), "backpressure");
    let by_hand = ask(&node, "capability/automation.fire", json!({ "name": "slow" })).unwrap_err();
    assert_eq!(by_hand.name(), ErrorName::Backpressure, "{by_hand}");
    assert_eq!(shown(&node, "slow")["fired"], view["fired"]);
    node.verify();
}
