//! What agents ask people: opened, decided and told once, whoever dies meanwhile.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::path::{Path, PathBuf};

use edgeplane_os::{Clock as _, SystemClock, wait::Deadline};
use edgeplane_testkit::{Connection, Node, native, random::Random, wait::eventually};
use edgeplane_types::{Activity, ErrorName, Evidence, Ingress, Rung};
use edgeplane_wire::{api::message::MessageView, catalogue::AgentRetire, rpc::RpcError};
use serde_json::{Value, json};

/// The operator of these tests, as the node knows them.
fn operator() -> String {
    format!("uid-{}", edgeplane_os::proc::uid(std::process::id()).unwrap())
}

/// An agent that keeps all that it is told in a file.
fn run(node: &Node, name: &str, more: &str) -> PathBuf {
    let log = node.scratch().join(format!("{name}.log"));
    let program = format!("exec cat >> {}", log.display());
    node.run(name, &native(name, &["/bin/sh", "-c", &program], more));
    eventually("it is greeted", || read(&log).contains("agent/session.start"));
    log
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// A conversation as an agent: what comes over its own socket is at most that one.
fn as_agent(node: &Node, name: &str) -> Connection {
    let socket = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&socket)).unwrap()
}

fn approval(more: Value) -> Value {
    let mut params = json!({ "kind": "approval", "prompt": "Delete the build?" });
    let Value::Object(more) = more else { panic!("{more}") };
    params.as_object_mut().unwrap().extend(more);
    params
}

fn open(connection: &mut Connection, params: Value) -> Value {
    connection.try_raw("conversation/action.open", params).unwrap_or_else(|error| panic!("open: {error}"))
}

fn get(node: &Node, action: &Value) -> Value {
    node.connect().try_raw("conversation/action.get", json!({ "action_id": action["action"]["id"] })).unwrap()
}

fn decide_by(connection: &mut Connection, action: &Value, verdict: Value) -> Result<Value, RpcError> {
    let mut params = json!({ "action_id": action["action"]["id"], "digest": action["action"]["digest"] });
    params["verdict"] = verdict;
    connection.try_raw("conversation/action.respond", params)
}

fn decide(node: &Node, action: &Value, verdict: Value) -> Result<Value, RpcError> {
    decide_by(&mut node.connect(), action, verdict)
}

fn approve() -> Value {
    json!({ "verdict": "approve" })
}

fn deny() -> Value {
    json!({ "verdict": "deny", "reason": "not on a Friday" })
}

fn pending(node: &Node) -> Vec<Value> {
    let list = node.connect().try_raw("conversation/action.list", json!({})).unwrap();
    list["items"].as_array().unwrap().iter().map(|item| item["action"]["id"].clone()).collect()
}

#[track_caller]
fn assert_refused(result: Result<Value, RpcError>, name: ErrorName, word: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.name(), name, "{error}");
    assert!(error.message.contains(word), "{error}");
}

/// What an agent was told of its actions.
fn told(node: &Node, name: &str) -> Vec<MessageView> {
    node.inbox(name).into_iter().filter(|message| message.ingress == Ingress::Action).collect()
}

/// The agent has been told once of an action: once in its inbox, once in its program.
#[track_caller]
fn assert_told_once(node: &Node, name: &str, log: &Path, action: &Value, outcome: &str) -> MessageView {
    let id = action["action"]["id"].as_str().unwrap();
    let of_it = |message: &MessageView| serde_json::to_string(&message.parts).unwrap().contains(id);
    let came = |message: &MessageView| message.receipts.iter().any(|receipt| receipt.rung == Rung::Injected);
    eventually("it is told", || told(node, name).iter().any(|message| of_it(message) && came(message)));
    let delivered = || {
        let lines = read(log);
        let lines = lines.lines().filter(|line| line.contains("agent/message.deliver") && line.contains(id));
        lines.map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    // What comes later would come behind this.
    node.signal(name, "<after>", Some(Rung::Injected));
    eventually("its program has read it", || read(log).contains("<after>") && !delivered().is_empty());
    let messages: Vec<_> = told(node, name).into_iter().filter(of_it).collect();
    let [message] = &messages[..] else { panic!("told {} times", messages.len()) };
    let lines = delivered();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let data = &lines[0]["params"]["parts"][1]["data"];
    assert_eq!(data["action_id"], action["action"]["id"]);
    assert_eq!((data["outcome"].as_str().unwrap(), &data["digest"]), (outcome, &action["action"]["digest"]));
    let view = get(node, action);
    assert_eq!((view["outcome"].as_str(), &view["told_by"]), (Some(outcome), &json!(message.message_id)));
    message.clone()
}

/// How often each kind of fact stands in the record of an agent.
fn counts(node: &Node, name: &str) -> [usize; 3] {
    ["action.opened", "action.voted", "action.resolved"].map(|kind| node.count(name, kind))
}

/// Proves ACT-015, ACT-016 and ACT-018.
#[test]
fn approval_is_asked_decided_once_and_told_once() {
    let node = Node::start();
    let log = run(&node, "alpha", "");
    let cause = node.signal("alpha", "clean up", Some(Rung::Injected)).message_id;
    let mut alpha = as_agent(&node, "alpha");
    let subject = json!({ "run": ["rm", "-r", "build"], "as": "root" });
    let action = open(&mut alpha, approval(json!({ "subject": subject })));
    assert_eq!((&action["agent"], &action["subject"]), (&json!("alpha"), &subject));
    assert_eq!(action["action"]["causation"], json!(cause), "what it is busy with led to it");
    assert_eq!(pending(&node), [action["action"]["id"].clone()]);
    let status = node.get("alpha").status;
    assert_eq!((status.activity, status.activity_evidence), (Activity::AwaitingApproval, Evidence::Protocol));
    // The digest is of exactly what is asked, and anybody can compute it.
    let of_subject = sha256(r#"{"as":"root","run":["rm","-r","build"]}"#);
    let whole =
        format!(r#"{{"choices":[],"prompt":"Delete the build?","schema":null,"subject":"{of_subject}"}}"#);
    assert_eq!(action["action"]["digest"], json!(sha256(&whole)));

    let mut other = action.clone();
    other["action"]["digest"] = json!("0".repeat(64));
    assert_refused(decide(&node, &other, approve()), ErrorName::Conflict, "digest_mismatch");
    assert_refused(
        decide(&node, &action, json!({ "verdict": "answer", "value": "yes" })),
        ErrorName::InvalidParams,
        "wrong_verdict",
    );
    assert_eq!((get(&node, &action)["votes"].clone(), told(&node, "alpha").len()), (json!([]), 0));

    let decided = decide(&node, &action, approve()).unwrap();
    assert_eq!(
        (&decided["outcome"], &decided["votes"][0]["principal"]),
        (&json!("approved"), &json!(operator()))
    );
    let message = assert_told_once(&node, "alpha", &log, &action, "approved");
    assert_eq!((message.channel.as_str(), message.authority.as_str()), ("operator", "trusted"));
    assert_eq!((message.source.as_str(), message.reply_to), (operator().as_str(), Some(cause)));
    assert!(
        !read(&log).contains("Delete the build?"),
        "what the agent wrote does not come back as an operator's"
    );
    for verdict in [approve(), deny()] {
        assert_refused(
            decide(&node, &action, verdict),
            ErrorName::InvalidState,
            "action is already approved",
        );
    }
    assert_eq!((counts(&node, "alpha"), pending(&node)), ([1, 1, 1], vec![]));
    assert_ne!(node.get("alpha").status.activity, Activity::AwaitingApproval);
    node.verify();
}

/// SHA-256 in hexadecimal digits, by a program that knows nothing of ours.
fn sha256(text: &str) -> String {
    use std::io::Write as _;
    let mut child = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// Proves ACT-015.
#[test]
fn denial_and_answer_reach_the_agent() {
    let node = Node::start();
    let log = run(&node, "alpha", "");
    let mut alpha = as_agent(&node, "alpha");
    let denied = open(&mut alpha, approval(json!({})));
    decide(&node, &denied, deny()).unwrap();
    assert_told_once(&node, "alpha", &log, &denied, "denied");
    assert!(read(&log).contains("is denied by"), "{}", read(&log));
    assert!(read(&log).contains("not on a Friday"));

    let choices = json!([{ "value": "red", "label": "The red one" }, { "value": "blue", "label": "Blue" }]);
    let question = json!({ "kind": "question", "prompt": "Which?", "choices": choices });
    let asked = open(&mut alpha, question);
    assert_eq!(node.get("alpha").status.activity, Activity::AwaitingInput);
    assert_refused(decide(&node, &asked, approve()), ErrorName::InvalidParams, "wrong_verdict");
    let answer = |value: &str| json!({ "verdict": "answer", "value": value });
    assert_refused(decide(&node, &asked, answer("green")), ErrorName::InvalidParams, "none of the choices");
    let decided = decide(&node, &asked, answer("blue")).unwrap();
    assert_eq!((&decided["outcome"], &decided["answer"]), (&json!("answered"), &json!("blue")));
    assert_told_once(&node, "alpha", &log, &asked, "answered");
    assert_eq!(counts(&node, "alpha"), [2, 2, 2]);
    node.verify();
}

/// Proves ACT-007, ACT-008 and ACT-017.
#[test]
fn who_may_not_decide_decides_nothing() {
    let node = Node::start();
    run(&node, "alpha", "");
    run(&node, "twin", "principal: alpha");
    run(&node, "beta", "");
    run(&node, "person", &format!("principal: {}", operator()));
    let mut alpha = as_agent(&node, "alpha");
    let action = open(&mut alpha, approval(json!({})));
    for verdict in [approve(), deny()] {
        let by = |name: &str| decide_by(&mut as_agent(&node, name), &action, verdict.clone());
        assert_refused(by("alpha"), ErrorName::PermissionDenied, "own_action");
        for other in ["twin", "beta"] {
            assert_refused(by(other), ErrorName::PolicyBlocked, "no-permit");
        }
    }
    // As whom the operator is known, an agent acts: its wishes are not theirs to grant.
    let own = open(&mut as_agent(&node, "person"), approval(json!({})));
    assert_refused(decide(&node, &own, approve()), ErrorName::PermissionDenied, "own_action");
    let restricted = open(&mut alpha, approval(json!({ "roles": ["release"] })));
    assert_refused(decide(&node, &restricted, approve()), ErrorName::PermissionDenied, "wrong_role");

    let beta = &mut as_agent(&node, "beta");
    let id = json!({ "action_id": action["action"]["id"] });
    for method in ["conversation/action.get", "conversation/action.cancel"] {
        let refused = beta.try_raw(method, id.clone()).unwrap_err();
        assert_eq!(refused.name(), ErrorName::PermissionDenied, "{method}");
    }
    let refused =
        beta.try_raw("conversation/action.open", approval(json!({ "agent": "alpha" }))).unwrap_err();
    assert_eq!(refused.name(), ErrorName::PermissionDenied);
    let refused = beta.try_raw("conversation/action.list", json!({ "agent": "alpha" })).unwrap_err();
    assert_eq!(refused.name(), ErrorName::PermissionDenied);
    assert_eq!(beta.try_raw("conversation/action.list", json!({})).unwrap()["items"], json!([]));
    assert_eq!(
        alpha.try_raw("conversation/action.list", json!({})).unwrap()["items"].as_array().unwrap().len(),
        2
    );
    assert_eq!(counts(&node, "alpha"), [2, 0, 0]);
    decide(&node, &action, approve()).unwrap();
    node.verify();
}

/// Proves ACT-005.
#[test]
fn votes_of_a_quorum_are_kept_and_may_be_turned() {
    let mut node = Node::start();
    let log = run(&node, "alpha", "");
    let action = open(&mut as_agent(&node, "alpha"), approval(json!({ "quorum": 2 })));
    for _ in 0..2 {
        let view = decide(&node, &action, approve()).unwrap();
        assert_eq!((view["votes"].as_array().unwrap().len(), view.get("outcome")), (1, None));
    }
    node.kill_daemon();
    node.up();
    assert_eq!(get(&node, &action)["votes"][0]["principal"], json!(operator()));
    assert_eq!((counts(&node, "alpha"), told(&node, "alpha").len()), ([1, 1, 0], 0));
    let view = decide(&node, &action, deny()).unwrap();
    assert_eq!((&view["outcome"], view["votes"].as_array().unwrap().len()), (&json!("denied"), 2));
    assert_told_once(&node, "alpha", &log, &action, "denied");
    node.verify();
}

/// Proves ACT-010 and ACT-019.
#[test]
fn silence_denies_also_without_a_daemon() {
    let mut node = Node::start();
    let log = run(&node, "alpha", "");
    let mut alpha = as_agent(&node, "alpha");
    let first = open(&mut alpha, approval(json!({ "expires_in_ms": 1_000 })));
    eventually("its time is over", || get(&node, &first)["outcome"] == "expired");
    let message = assert_told_once(&node, "alpha", &log, &first, "expired");
    assert_eq!((message.channel.as_str(), message.source_detail.proof.as_str()), ("system", "node"));
    let resolved = node.events("alpha", &["action.resolved"]);
    assert_eq!(resolved[0].event["actor"]["kind"], "node");
    assert_refused(decide(&node, &first, approve()), ErrorName::InvalidState, "action is already expired");

    let second = open(&mut alpha, approval(json!({ "expires_in_ms": 1_000 })));
    let later = open(&mut alpha, approval(json!({ "expires_in_ms": 3_600_000 })));
    let of_beta = run(&node, "beta", "");
    let untouched = open(&mut as_agent(&node, "beta"), approval(json!({ "expires_in_ms": 1_000 })));
    let over = SystemClock.now().plus_millis(1_000);
    node.kill_daemon();
    eventually("its time is over", || SystemClock.now() > over);
    node.up();
    assert_told_once(&node, "beta", &of_beta, &untouched, "expired");
    assert_refused(decide(&node, &second, approve()), ErrorName::InvalidState, "action is already expired");
    assert_told_once(&node, "alpha", &log, &second, "expired");
    assert_eq!(pending(&node), [later["action"]["id"].clone()]);
    assert_eq!(counts(&node, "alpha"), [3, 0, 2]);
    node.verify();
}

/// Proves ACT-015 and ACT-018.
#[test]
fn killed_daemon_loses_no_question_and_no_decision() {
    let mut node = Node::start();
    let log = run(&node, "alpha", "");
    let before = open(&mut as_agent(&node, "alpha"), approval(json!({})));
    node.kill_daemon();
    node.up();
    assert_eq!(get(&node, &before)["action"], before["action"]);
    decide(&node, &before, approve()).unwrap();
    node.kill_daemon();
    node.up();
    assert_told_once(&node, "alpha", &log, &before, "approved");
    assert_refused(decide(&node, &before, deny()), ErrorName::InvalidState, "already approved");

    // And at whatever moment it is killed while it decides: all of it is there or nothing.
    let mut random = Random::seeded("kill while an action is decided");
    for _ in 0..6 {
        let action = open(&mut as_agent(&node, "alpha"), approval(json!({})));
        let mut connection = node.connect();
        let of_thread = action.clone();
        let deciding = std::thread::spawn(move || decide_by(&mut connection, &of_thread, approve()));
        let pause = std::time::Duration::from_micros(random.below(12_000));
        edgeplane_os::wait::until(Deadline::after(pause), || false);
        node.kill_daemon();
        let answered = deciding.join().unwrap();
        node.up();
        let view = get(&node, &action);
        assert!(answered.is_err() || view["outcome"] == "approved", "an answer was given and is lost");
        assert_eq!(view["votes"].as_array().unwrap().len(), usize::from(view["outcome"] == "approved"));
        if view.get("outcome").is_none() {
            decide(&node, &action, approve()).unwrap();
        }
        assert_told_once(&node, "alpha", &log, &action, "approved");
    }
    assert_eq!(counts(&node, "alpha"), [7, 7, 7]);
    node.verify();
}

/// Proves ACT-016.
#[test]
fn who_asks_again_has_asked_once() {
    let mut node = Node::start();
    run(&node, "alpha", "");
    let keyed = approval(json!({ "idempotency_key": "build-7", "subject": "rm -r build" }));
    let action = open(&mut as_agent(&node, "alpha"), keyed.clone());
    node.kill_daemon();
    node.up();
    assert_eq!(open(&mut as_agent(&node, "alpha"), keyed.clone())["action"], action["action"]);
    let other = approval(json!({ "idempotency_key": "build-7", "subject": "rm -r /" }));
    let mismatch = as_agent(&node, "alpha").try_raw("conversation/action.open", other).unwrap_err();
    assert_eq!(mismatch.name(), ErrorName::IdempotencyMismatch);
    decide(&node, &action, deny()).unwrap();
    let again = open(&mut as_agent(&node, "alpha"), keyed);
    assert_eq!((&again["action"]["id"], &again["outcome"]), (&action["action"]["id"], &json!("denied")));
    assert_eq!(counts(&node, "alpha"), [1, 1, 1]);
    node.verify();
}

/// Proves ACT-016.
#[test]
fn native_program_asks_once_whoever_dies() {
    let mut node = Node::start();
    let folder = node.scratch();
    let question = json!({ "jsonrpc": "2.0", "id": "q", "method": "conversation/action.open",
        "params": { "kind": "approval", "prompt": "Go on?" } });
    let program = format!(
        "cd {}; echo '{question}'; until [ -e went ]; do sleep 0.01; done; exec cat >> log",
        folder.display()
    );
    node.run("alpha", &native("alpha", &["/bin/sh", "-c", &program], ""));
    eventually("it has asked", || pending(&node).len() == 1);
    for _ in 0..3 {
        node.kill_daemon();
        node.up();
        eventually("it runs under the next", || {
            node.get("alpha").status.phase == edgeplane_types::Phase::Running
        });
        assert_eq!(pending(&node).len(), 1);
    }
    let list = node.connect().try_raw("conversation/action.list", json!({})).unwrap();
    let action = list["items"][0].clone();
    std::fs::write(folder.join("went"), "").unwrap();
    decide(&node, &action, approve()).unwrap();
    let log = folder.join("log");
    assert_told_once(&node, "alpha", &log, &action, "approved");
    let text = read(&log);
    let answers: Vec<_> = text.lines().filter(|line| line.contains(r#""id":"q""#)).collect();
    assert_eq!(answers.len(), 1, "it is answered once");
    assert!(answers[0].contains(action["action"]["id"].as_str().unwrap()), "{}", answers[0]);
    assert_eq!(counts(&node, "alpha"), [1, 1, 1]);
    node.verify();
}

/// Proves ACT-020.
#[test]
fn what_is_taken_back_is_told_to_who_does_not_know() {
    let node = Node::start();
    let log = run(&node, "alpha", "");
    let mut alpha = as_agent(&node, "alpha");
    let cancel = |connection: &mut Connection, action: &Value| {
        connection.try_raw("conversation/action.cancel", json!({ "action_id": action["action"]["id"] }))
    };
    let own = open(&mut alpha, approval(json!({})));
    for _ in 0..2 {
        assert_eq!(cancel(&mut alpha, &own).unwrap()["outcome"], "cancelled", "also if it is asked twice");
    }
    assert_eq!(told(&node, "alpha").len(), 0);
    let by_operator = open(&mut node.connect(), approval(json!({ "agent": "alpha" })));
    assert_eq!(by_operator["action"]["principal"], "alpha");
    cancel(&mut node.connect(), &by_operator).unwrap();
    assert_told_once(&node, "alpha", &log, &by_operator, "cancelled");
    assert_refused(decide(&node, &own, approve()), ErrorName::InvalidState, "already cancelled");
    let decided = open(&mut alpha, approval(json!({})));
    decide(&node, &decided, approve()).unwrap();
    assert_refused(cancel(&mut alpha, &decided), ErrorName::InvalidState, "already approved");
    node.verify();
}

/// Proves ACT-020.
#[test]
fn what_a_deleted_agent_asked_is_over() {
    let mut node = Node::start();
    run(&node, "alpha", "");
    let mut alpha = as_agent(&node, "alpha");
    let actions = [open(&mut alpha, approval(json!({}))), open(&mut alpha, approval(json!({ "quorum": 2 })))];
    decide(&node, &actions[1], approve()).unwrap();
    node.change::<AgentRetire>("alpha").unwrap();
    eventually("it is gone", || node.list().is_empty());
    for _ in 0..2 {
        for action in &actions {
            let view = get(&node, action);
            assert_eq!((&view["outcome"], &view["agent"]), (&json!("cancelled"), &json!("alpha")));
            assert_refused(decide(&node, action, approve()), ErrorName::InvalidState, "already cancelled");
        }
        assert_eq!(pending(&node).len(), 0);
        node.kill_daemon();
        node.up();
    }
    let ends: Vec<_> = node.events("", &["agent.retired", "action.resolved"]);
    let positions: Vec<_> = ends.iter().map(|end| end.pos).collect();
    assert_eq!(positions.len(), 3);
    assert_eq!(positions[2] - positions[0], 2, "one commit, one after the other: {positions:?}");
    node.verify();
}

/// Proves ACT-021.
#[test]
fn number_that_waits_is_bounded_and_a_decision_needs_no_room() {
    let node = Node::start();
    run(&node, "alpha", "inbox: { max: 2 }");
    node.stop("alpha");
    let mut operator = node.connect();
    let params = approval(json!({ "agent": "alpha" }));
    let actions: Vec<_> = (0..64).map(|_| open(&mut operator, params.clone())).collect();
    let full = operator.try_raw("conversation/action.open", params.clone()).unwrap_err();
    assert_eq!((full.name(), full.data.retryable), (ErrorName::Backpressure, true));
    for action in &actions {
        decide_by(&mut operator, action, approve()).unwrap();
    }
    assert_eq!(told(&node, "alpha").len(), 64, "more than its inbox takes from others");
    let full = operator.try_raw("conversation/action.open", params).unwrap_err();
    assert!(full.message.contains("messages wait"), "{full}");
    assert_eq!(node.try_signal("alpha", "more", None).unwrap_err().name(), ErrorName::Backpressure);
    node.verify();
}

/// Proves LIFE-025.
#[test]
fn who_waits_for_a_person_may_be_quiet() {
    let node = Node::start();
    run(&node, "alpha", "health: { quietFor: 1s, onFailure: report }");
    let mut alpha = as_agent(&node, "alpha");
    let action = open(&mut alpha, approval(json!({})));
    node.signal("alpha", "work", Some(Rung::Injected));
    let over = SystemClock.now().plus_millis(1_500);
    eventually("it would be found quiet", || SystemClock.now() > over);
    assert_ne!(node.get("alpha").status.healthy, Some(false));
    decide(&node, &action, approve()).unwrap();
    eventually("it is found quiet afterwards", || node.get("alpha").status.healthy == Some(false));
    node.verify();
}

/// Of many that decide at the same moment, one does.
///
/// Proves ACT-009.
#[test]
fn first_of_many_deciders_decides() {
    let node = Node::start();
    let log = run(&node, "alpha", "");
    for _ in 0..4 {
        let action = open(&mut as_agent(&node, "alpha"), approval(json!({})));
        let deciders = [approve(), deny(), approve(), deny()].map(|verdict| {
            let (mut connection, action) = (node.connect(), action.clone());
            std::thread::spawn(move || decide_by(&mut connection, &action, verdict))
        });
        let results = deciders.map(|decider| decider.join().unwrap());
        let outcome = get(&node, &action)["outcome"].as_str().unwrap().to_owned();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results {
            match result {
                Ok(view) => assert_eq!(view["outcome"], json!(outcome)),
                refused => {
                    assert_refused(refused, ErrorName::InvalidState, &format!("action is already {outcome}"))
                }
            }
        }
        assert_told_once(&node, "alpha", &log, &action, &outcome);
    }
    assert_eq!(counts(&node, "alpha"), [4, 4, 4]);
    node.verify();
}

/// Proves ACT-001 and ACT-002.
#[test]
fn what_cannot_be_asked_leaves_nothing() {
    let node = Node::start();
    run(&node, "alpha", "");
    let mut alpha = as_agent(&node, "alpha");
    let stranger = edgeplane_types::MessageId::from_parts(1, [1; 10]);
    for (more, name) in [
        (json!({ "prompt": " " }), ErrorName::InvalidParams),
        (json!({ "quorum": 17 }), ErrorName::InvalidParams),
        (json!({ "subject": { "share": 0.5 } }), ErrorName::InvalidParams),
        (json!({ "subject": "x".repeat(300_000) }), ErrorName::TooLarge),
        (json!({ "schema": { "type": "string" } }), ErrorName::InvalidParams),
        (json!({ "kind": "question", "schema": { "pattern": "x" } }), ErrorName::InvalidParams),
        (json!({ "kind": "question", "schema": { "const": 0.5 } }), ErrorName::InvalidParams),
        (json!({ "expires_in_ms": 999 }), ErrorName::InvalidParams),
        (json!({ "causation": stranger }), ErrorName::InvalidParams),
        (json!({ "idempotency_key": "x".repeat(257) }), ErrorName::InvalidParams),
    ] {
        let error = alpha.try_raw("conversation/action.open", approval(more.clone())).unwrap_err();
        assert_eq!(error.name(), name, "{more}: {error}");
    }
    let unknown = json!({ "action_id": edgeplane_types::ActionId::from_parts(1, [1; 10]) });
    let error = node.connect().try_raw("conversation/action.get", unknown).unwrap_err();
    assert_eq!(error.name(), ErrorName::NotFound);
    assert_eq!(counts(&node, "alpha"), [0, 0, 0]);
    node.verify();
}
