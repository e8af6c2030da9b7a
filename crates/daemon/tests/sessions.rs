//! Programs that speak the Agent Client Protocol: their sessions, turns, questions for leave and files, whoever dies.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::path::{Path, PathBuf};

use edgeplane_testkit::{
    Node, acp,
    peers::{answer, ask},
    wait::eventually,
    words,
};
use edgeplane_types::{Activity, Continuity, DeliveryMode, Evidence, Phase, Rung};
use serde_json::{Value, json};

use DeliveryMode::{Interrupt, Queue, Steer};

/// An agent named `coder`, in its folder.
fn run(node: &Node, options: &[&str], driver: &str, more: &str) -> PathBuf {
    let folder = node.scratch().join("coder");
    node.run("coder", &acp("coder", &folder, options, (driver, more)));
    folder
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// What the program was asked, prompt by prompt, each as its texts.
fn prompts(folder: &Path) -> Vec<Vec<String>> {
    read(&folder.join("prompts")).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn said(node: &Node, words: &str) -> String {
    answer(&ask(node, "coder", words)).text.clone()
}

/// The payloads of an agent's events of a kind.
fn facts(node: &Node, kind: &str) -> Vec<Value> {
    node.facts("coder", kind)
}

fn pending(node: &Node) -> Vec<Value> {
    let list = node.connect().try_raw("conversation/action.list", json!({ "agent": "coder" })).unwrap();
    list["items"].as_array().unwrap().clone()
}

/// Waits for a question for leave.
fn asked(node: &Node) -> Value {
    eventually("it asks for leave", || !pending(node).is_empty());
    pending(node).remove(0)
}

fn decide(node: &Node, action: &Value, verdict: &Value) {
    let params = json!({ "action_id": action["action"]["id"], "digest": action["action"]["digest"], "verdict": verdict });
    node.connect().try_raw("conversation/action.respond", params).unwrap();
}

fn ended(node: &Node) -> usize {
    node.count("coder", "turn.completed")
}

/// Proves DRV-001, DRV-003, DRV-004.
#[test]
fn session_comes_about_and_a_turn_is_recorded_piece_by_piece() {
    let node = Node::start();
    let folder = run(&node, &[], "", "");
    assert_eq!(said(&node, "say one|, two|, three"), "one, two, three");
    let opened = facts(&node, "session.opened");
    assert_eq!((opened.len(), &opened[0]["program"]), (1, &json!("fake-agent 1.2.3")));
    assert_eq!(opened[0]["continuity"], "none");
    let pieces = facts(&node, "item.updated");
    assert_eq!(pieces.len(), 3);
    assert!(pieces.iter().all(|piece| piece["kind"] == "text" && piece["item_id"] == pieces[0]["item_id"]));
    let message = &pieces[0]["message_id"];
    let turn = facts(&node, "turn.completed").remove(0);
    assert_eq!((&turn["message_id"], &turn["outcome"]), (message, &json!("end_turn")));
    let used = facts(&node, "usage.reported").remove(0);
    assert_eq!((&used["input_tokens"], &used["message_id"]), (&json!(7), message));
    let rungs: Vec<Rung> = node.inbox("coder")[0].receipts.iter().map(|receipt| receipt.rung).collect();
    assert_eq!(rungs, [Rung::Accepted, Rung::Injected, Rung::Observed, Rung::TurnEnded]);

    assert_eq!(said(&node, "think hard"), "thought");
    let kinds: Vec<Value> = facts(&node, "item.updated").iter().map(|piece| piece["kind"].clone()).collect();
    assert_eq!(kinds[3..], [json!("thought"), json!("text")]);
    assert_eq!(said(&node, "plan the work"), "planned");
    assert_eq!(said(&node, "usage"), "used");
    assert_eq!(facts(&node, "usage.reported")[3]["cost"], "0.25 USD");
    assert_eq!(said(&node, "unknown"), "-32601");

    let told = prompts(&folder);
    assert_eq!(told[0].len(), 2, "the contract comes first, once");
    assert!(told[0][0].starts_with("You run as a named agent under EdgePlane."));
    let header = told[0][1].lines().next().unwrap();
    assert!(header.starts_with("[OPERATOR MESSAGE from ") && header.ends_with(" on ask]"), "{header}");
    assert!(told[1..].iter().all(|texts| texts.len() == 1));
    let status = node.get("coder").status;
    assert_eq!((status.activity, status.activity_evidence), (Activity::Idle, Evidence::Protocol));
    assert_eq!(status.identities.session.resume_handle.as_deref(), opened[0]["native_id"].as_str());
    node.verify();
}

/// Proves DRV-018.
#[test]
fn session_has_the_servers_of_its_manifest_and_edgeplanes_own() {
    let node = Node::start();
    let servers = ", mcpServers: [{ name: docs, url: \"http://127.0.0.1:9/mcp\", headers: { X-Team: a } },
        { name: search, command: [search, fast], env: { LEVEL: info } }]";
    let folder = run(&node, &[], servers, "");
    assert_eq!(said(&node, "say ready"), "ready");
    let given: Value = serde_json::from_str(&read(&folder.join("servers"))).unwrap();
    let socket = node.get("coder").status.identities.network.socket.unwrap();
    assert_eq!((&given[0]["name"], &given[0]["args"]), (&json!("edgeplane"), &json!(["mcp"])));
    assert!(Path::new(given[0]["command"].as_str().unwrap()).is_file());
    assert!(
        given[0]["env"].as_array().unwrap().contains(&json!({ "name": "EDGEPLANE_SOCKET", "value": socket }))
    );
    let docs = json!({ "type": "http", "name": "docs", "url": "http://127.0.0.1:9/mcp",
                       "headers": [{ "name": "X-Team", "value": "a" }] });
    let search = json!({ "name": "search", "command": "search", "args": ["fast"],
                         "env": [{ "name": "LEVEL", "value": "info" }] });
    assert_eq!((&given[1], &given[2]), (&docs, &search));
    node.apply(&acp("coder", &folder, &[], (", tools: false", "state: stateless")));
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("another session is there", || facts(&node, "session.opened").len() == 2);
    assert_eq!(read(&folder.join("servers")), "[]");
    assert_eq!(facts(&node, "session.opened")[1]["continuity"], "none", "it forgets");
}

/// Proves DRV-002.
#[test]
fn what_keeps_a_session_from_coming_about_is_said_plainly() {
    let node = Node::start();
    run(&node, &["login=yes"], "", "");
    let reason = || node.get("coder").status.reason.unwrap_or_default();
    eventually("it says that it needs a login", || reason().contains("wants a login"));
    assert!(reason().contains("`spec.driver.authMethod` to one of key"), "{}", reason());
    node.signal_with(&words("coder", "say x", Queue));
    assert_eq!(node.get("coder").status.waiting_messages, 1);
    assert_eq!(node.get("coder").status.epoch.0, 1, "nothing but a person can help");

    // With the login it goes on from where it was, and gets what waited.
    let folder = node.scratch().join("coder");
    node.apply(&acp("coder", &folder, &["login=yes"], (", authMethod: key, mode: code, model: large", "")));
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("it has its answer", || ended(&node) == 1);
    let settings = read(&folder.join("settings"));
    assert!(
        settings.contains(r#""modeId": "code""#) && settings.contains(r#""modelId": "large""#),
        "{settings}"
    );

    node.apply(&acp("coder", &folder, &[], (", mode: root", "")));
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("it says so", || reason().contains("it has no mode `root`; it offers ask, code"));
    node.apply(&acp("coder", &folder, &["version=2"], ("", "")));
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("it says so", || reason().contains("it speaks version 2 of the Agent Client Protocol"));
}

/// Proves DRV-002.
#[test]
fn session_that_may_come_about_next_time_is_tried_again() {
    let node = Node::start();
    run(&node, &["broken=once"], "", "restart: { backoff: { initial: 10ms } }");
    assert_eq!(said(&node, "say back"), "back");
    assert_eq!(facts(&node, "session.failed")[0]["reason"], "it opens no session: no network");
    assert_eq!(node.get("coder").status.epoch.0, 2);
}

/// Proves DRV-005.
#[test]
fn queued_messages_wait_and_others_end_the_running_turn() {
    let node = Node::start();
    let folder = run(&node, &[], "", "");
    node.signal_with(&words("coder", "hold never", Queue));
    eventually("it works", || node.count("coder", "item.updated") == 1);
    assert_eq!(node.get("coder").status.activity, Activity::Working);
    node.signal_with(&words("coder", "say queued", Queue));
    node.signal_with(&words("coder", "say steered", Steer));
    eventually("all are over", || ended(&node) == 3);
    let verbs: Vec<String> = prompts(&folder)
        .iter()
        .map(|texts| texts.last().unwrap().lines().last().unwrap().to_owned())
        .collect();
    assert_eq!(verbs, ["hold never", "say steered", "say queued"]);
    assert_eq!(facts(&node, "turn.completed")[0]["outcome"], "cancelled");
    assert_eq!(read(&folder.join("cancels")), "cancel\n");
}

/// Proves DRV-006, DRV-007.
#[test]
fn leave_is_asked_of_a_person_and_given_in_the_programs_own_words() {
    let node = Node::start();
    let folder = run(&node, &[], ", approvalTimeout: 1s", "");
    node.signal_with(&words("coder", "tool one", Queue));
    let action = asked(&node);
    assert_eq!(
        (&action["action"]["kind"], &action["action"]["prompt"]),
        (&json!("approval"), &json!("write one"))
    );
    assert_eq!(node.get("coder").status.activity, Activity::AwaitingApproval);
    assert!(!folder.join("one").exists());
    decide(&node, &action, &json!({ "verdict": "approve" }));
    eventually("it goes on", || ended(&node) == 1);
    assert_eq!(read(&folder.join("one")), "done\n");

    node.signal_with(&words("coder", "tool two", Queue));
    decide(&node, &asked(&node), &json!({ "verdict": "deny" }));
    eventually("it goes on", || ended(&node) == 2);
    node.signal_with(&words("coder", "tool three", Queue));
    eventually("silence denies", || ended(&node) == 3);
    assert!(!folder.join("two").exists() && !folder.join("three").exists());
    let outcomes: Vec<Value> =
        facts(&node, "action.resolved").iter().map(|fact| fact["outcome"].clone()).collect();
    assert_eq!(outcomes, ["approved", "denied", "expired"]);
    let statuses: Vec<Value> = facts(&node, "item.updated")
        .iter()
        .filter(|piece| piece["kind"] == "tool_call")
        .map(|piece| piece["status"].clone())
        .collect();
    assert_eq!(
        statuses,
        ["pending", "pending", "completed", "pending", "pending", "failed", "pending", "pending", "failed"]
    );
    // What was decided is the answer to the program's request, and nothing else.
    assert_eq!(node.inbox("coder").len(), 3);
}

/// Proves ACT-023.
#[test]
fn answer_that_lasts_is_chosen_by_the_programs_own_words() {
    let mut node = Node::start();
    let options = "options=allow_once,allow_always,reject_once,reject_always";
    let folder = run(&node, &[options], "", "");
    node.signal_with(&words("coder", "tool one", Queue));
    let action = asked(&node);
    let shown =
        node.connect().try_raw("conversation/action.get", json!({ "action_id": action["action"]["id"] }));
    let offered = shown.unwrap()["options"].clone();
    assert_eq!(
        (&offered[1]["id"], &offered[1]["name"], &offered[1]["kind"]),
        (&json!("option allow_always"), &json!("allow_always"), &json!("allow_always"))
    );
    assert_eq!(offered[0]["reach"], "just this once");
    assert!(offered[1]["reach"].as_str().unwrap().contains("EdgePlane does not hear of it"), "{offered}");

    let id = action["action"]["id"].as_str().unwrap();
    let refused = |verdict: Value| {
        let params = json!({ "action_id": id, "digest": action["action"]["digest"], "verdict": verdict });
        node.connect().try_raw("conversation/action.respond", params).unwrap_err().to_string()
    };
    for name in ["allow everything", "reject_always", "option reject_once"] {
        let why = refused(json!({ "verdict": "approve", "option": name }));
        assert!(
            why.contains("to allow it it offers `option allow_once` (allow_once), `option allow"),
            "{why}"
        );
    }
    let why = refused(json!({ "verdict": "deny", "option": "allow_once" }));
    assert!(why.contains("to refuse it it offers `option reject_once`"), "{why}");
    assert_eq!(node.count("coder", "action.voted"), 0, "nothing of it is decided");
    let shown = node.cli(&["action", "show", id]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("option allow_always: allow_always"), "{shown}");

    // Decided while the program cannot be told: the next daemon tells it the same.
    let approve = node.cli(&["action", "approve", id, "--yes", "--option", "allow_always"]).output().unwrap();
    assert!(approve.status.success(), "{approve:?}");
    node.kill_daemon();
    node.up();
    eventually("it goes on", || ended(&node) == 1);
    let vote = facts(&node, "action.voted").remove(0);
    assert_eq!(vote["verdict"], json!({ "verdict": "approve", "option": "option allow_always" }));
    assert_eq!(said(&node, "tool two"), "chosen option allow_always", "its own memory, for its session");
    assert_eq!(read(&folder.join("one")) + &read(&folder.join("two")), "done\ndone\n");
    assert_eq!(node.count("coder", "action.opened"), 1);

    let own = json!({ "agent": "coder", "kind": "approval", "prompt": "x" });
    let opened = node.connect().try_raw("conversation/action.open", own).unwrap();
    let params = json!({ "action_id": opened["action"]["id"], "digest": opened["action"]["digest"],
                         "verdict": { "verdict": "approve", "option": "allow_always" } });
    let why = node.connect().try_raw("conversation/action.respond", params).unwrap_err().to_string();
    assert!(why.contains("this action offers no options"), "{why}");
}

/// Proves DRV-008.
#[test]
fn end_of_a_turn_takes_its_questions_back() {
    let node = Node::start();
    let folder = run(&node, &[], "", "");
    node.signal_with(&words("coder", "tool never", Queue));
    let action = asked(&node);
    node.signal_with(&words("coder", "say stop", Interrupt));
    eventually("both are over", || ended(&node) == 2);
    assert!(pending(&node).is_empty());
    let params = json!({ "action_id": action["action"]["id"], "digest": action["action"]["digest"],
                         "verdict": { "verdict": "approve" } });
    let late = node.connect().try_raw("conversation/action.respond", params).unwrap_err();
    assert!(late.message.contains("cancelled"), "{late}");
    assert!(!folder.join("never").exists());
}

/// Proves DRV-009.
#[test]
fn daemon_may_die_in_a_turn_and_while_leave_is_asked() {
    let mut node = Node::start();
    let folder = run(&node, &[], "", "");
    node.signal_with(&words("coder", "hold go", Queue));
    eventually("it works", || node.count("coder", "item.updated") == 1);
    let pid = node.pid("coder");
    node.kill_daemon();
    std::fs::write(folder.join("go"), "").unwrap();
    node.up();
    eventually("the turn is over", || ended(&node) == 1);
    assert_eq!(node.pid("coder"), pid);
    let turn = facts(&node, "turn.completed").remove(0);
    assert_eq!(turn["output_bytes"], "begun ended".len());

    node.signal_with(&words("coder", "tool file", Queue));
    let action = asked(&node);
    node.kill_daemon();
    node.up();
    decide(&node, &action, &json!({ "verdict": "approve" }));
    eventually("the turn is over", || ended(&node) == 2);
    assert_eq!(read(&folder.join("file")), "done\n");
    assert_eq!(prompts(&folder).len(), 2, "nothing was asked twice");
    assert_eq!(facts(&node, "session.opened").len(), 1);
    node.verify();
}

/// Proves DRV-010, DRV-011.
#[test]
fn former_session_goes_on_and_its_history_is_not_recorded_again() {
    let node = Node::start();
    // Some programs say what was before only after they have said that the session goes on.
    for (options, calls) in
        [(vec![], "load"), (vec!["repeats=behind"], "late"), (vec!["resume=yes"], "resume")]
    {
        let folder = node.scratch().join("coder");
        node.apply(&acp("coder", &folder, &options, ("", "restart: { backoff: { initial: 10ms } }")));
        node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
        let is_ready = || node.get("coder").status.activity == Activity::Idle;
        eventually("its session is there", is_ready);
        let before = ended(&node);
        said(&node, &format!("say by {calls}"));
        let epoch = node.get("coder").status.epoch;
        let pieces = node.count("coder", "item.updated");
        edgeplane_testkit::signals::kill(&[node.pid("coder")]);
        eventually("another epoch runs", || {
            let status = node.get("coder").status;
            status.epoch > epoch && status.continuity == Continuity::Full
        });
        assert_eq!(node.count("coder", "item.updated"), pieces);
        let recalled = said(&node, "recall");
        assert!(recalled.contains(&format!("say by {calls}")), "{recalled}");
        assert_eq!(node.count("coder", "item.updated"), pieces + 1, "only what it says now is new: {calls}");
        assert_eq!(ended(&node), before + 2);
        let told = prompts(&folder);
        assert_eq!(told.last().unwrap().len(), 1, "it knows the contract and what was before");
    }
}

/// Proves DRV-012.
#[test]
fn lost_session_begins_anew_with_what_was_before() {
    let node = Node::start();
    let folder = run(&node, &["forgets=yes"], "", "restart: { backoff: { initial: 10ms } }");
    assert_eq!(said(&node, "say something to remember"), "something to remember");
    node.signal_with(&words("coder", "die", Queue));
    eventually("another session is there", || facts(&node, "session.opened").len() == 2);
    let opened = facts(&node, "session.opened").remove(1);
    assert_eq!((&opened["continuity"], &opened["lost"]), (&json!("partial"), &json!("Resource not found")));
    assert_eq!(said(&node, "say again"), "again");
    let told = prompts(&folder).pop().unwrap();
    assert_eq!(told.len(), 3, "the contract, what was before, the message");
    assert!(told[1].contains("> say something to remember"), "{}", told[1]);
    assert_eq!(node.get("coder").status.continuity, Continuity::Partial);
}

/// Proves DRV-013, DRV-014.
#[test]
fn files_of_its_folder_are_read_and_written_and_no_others() {
    let node = Node::start();
    let folder = run(&node, &[], "", "");
    assert_eq!(said(&node, "write notes/a.txt hello"), "{}");
    assert_eq!(read(&folder.join("notes/a.txt")), "hello");
    let fact = facts(&node, "file.written").remove(0);
    assert_eq!(
        (fact["bytes"].as_u64(), fact["path"].as_str().unwrap().ends_with("notes/a.txt")),
        (Some(5), true)
    );
    assert_eq!(said(&node, "read notes/a.txt"), r#"{"content": "hello"}"#);
    std::os::unix::fs::symlink("/etc", folder.join("out")).unwrap();
    for path in ["/etc/hostname", "../secret", "out/hostname", "missing"] {
        assert!(said(&node, &format!("read {path}")).contains("-32002"), "{path}");
    }
    assert!(said(&node, "write ../secret x").contains("leads out of the folder"));
    assert!(!node.scratch().join("secret").exists());
    assert_eq!(node.count("coder", "file.written"), 1);
}

/// Proves DRV-015.
#[test]
fn failing_turn_and_late_words_are_recorded_as_such() {
    let node = Node::start();
    run(&node, &["late=yes"], "", "");
    node.signal_with(&words("coder", "fail", Queue));
    eventually("it is over", || ended(&node) == 1);
    assert_eq!(facts(&node, "turn.completed")[0]["outcome"], "error");
    let report = facts(&node, "item.reported").remove(0);
    assert_eq!((&report["kind"], report["body_bytes"].as_u64()), (&json!("error"), Some(39)));
    assert_eq!(said(&node, "say now"), "now");
    eventually("late words are there", || node.count("coder", "item.updated") == 2);
    let pieces = facts(&node, "item.updated");
    assert_eq!(pieces[0]["message_id"], pieces[1]["message_id"]);
    assert_eq!(ended(&node), 2);
}

/// Proves DRV-016.
#[test]
fn hostile_program_harms_nobody_and_is_restarted_by_policy() {
    let node = Node::start();
    run(&node, &[], "", "restart: { backoff: { initial: 10ms } }");
    let other = node.scratch().join("other");
    node.run("other", &acp("other", &other, &[], ("", "")));
    for what in ["garbage", "strangers", "options", "huge", "twice"] {
        let answer = answer(&ask(&node, "coder", &format!("bad {what}"))).clone();
        assert_ne!(answer.text.len(), 1, "{what}");
        // What it does besides may still speak into the next turn.
        let answer = said(&node, "say still here");
        assert!(answer.contains("still here"), "after {what}: {answer}");
        assert_eq!(answer_of(&node, "other"), "fine", "after {what}");
    }
    assert_eq!(facts(&node, "session.opened").len(), 1);
    assert!(facts(&node, "item.updated").iter().all(|piece| piece["message_id"].is_string()));
    let epoch = node.get("coder").status.epoch;
    node.signal_with(&words("coder", "bad offences", Queue));
    eventually("it is restarted", || {
        let status = node.get("coder").status;
        status.epoch > epoch && status.phase == Phase::Running
    });
    let probed = facts(&node, "agent.probed").remove(0);
    assert!(probed["reason"].as_str().unwrap().contains("lines of it could not be used"), "{probed}");
    assert_eq!(said(&node, "say again"), "again");
    node.verify();
}

fn answer_of(node: &Node, agent: &str) -> String {
    answer(&ask(node, agent, "say fine")).text.clone()
}

/// Proves DRV-005, DRV-016.
#[test]
fn flood_of_updates_is_recorded_whole_and_holds_up_nobody() {
    let node = Node::start();
    run(&node, &[], "", "");
    let other = node.scratch().join("other");
    node.run("other", &acp("other", &other, &[], ("", "")));
    node.signal_with(&words("coder", "flood 5000", Queue));
    assert_eq!(answer_of(&node, "other"), "fine");
    eventually("all of it is there", || ended(&node) == 1);
    assert_eq!(node.count("coder", "item.updated"), 5000);
    let expected: usize = (0..5000).map(|number: u32| format!("{number} ").len()).sum();
    assert_eq!(facts(&node, "turn.completed")[0]["output_bytes"], expected);
}

/// Proves DRV-019, DRV-020.
#[test]
fn idle_agent_rests_and_the_next_message_wakes_it() {
    let mut node = Node::start();
    run(&node, &[], "", "hibernate: { idleAfter: 1s }");
    assert_eq!(said(&node, "say remember me"), "remember me");
    let pid = node.pid("coder");
    node.wait("coder", Phase::Hibernated);
    assert!(!edgeplane_testkit::signals::is_alive(pid));
    let status = node.get("coder").status;
    assert_eq!((status.epoch.0, status.process, status.restarts), (1, None, 0));
    // A daemon that dies meanwhile wakes nobody, and a message wakes it under the next one.
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("coder").status.phase, Phase::Hibernated);
    assert!(said(&node, "recall").contains("say remember me"));
    let status = node.get("coder").status;
    assert_eq!((status.epoch.0, status.continuity), (2, Continuity::Full));
    let causes: Vec<Value> =
        facts(&node, "agent.starting").iter().map(|fact| fact["cause"].clone()).collect();
    assert_eq!(causes, ["manifest", "message"]);
    assert_eq!(facts(&node, "agent.stopping")[0]["cause"], "idle");
    node.wait("coder", Phase::Hibernated);
    said(&node, "say once more");
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("coder").status.continuity, Continuity::Full);
    node.wait("coder", Phase::Hibernated);
    node.stop("coder");
    node.signal_with(&words("coder", "say nothing", Queue));
    assert_eq!(node.get("coder").status.phase, Phase::Stopped, "who stopped it wants no message to start it");
    node.verify();
}

/// Proves DRV-019.
#[test]
fn only_who_is_idle_and_can_go_on_rests_by_hand() {
    let node = Node::start();
    run(&node, &[], "", "");
    let hibernate = || node.connect().try_raw("runtime/agent.hibernate", json!({ "agent": "coder" }));
    node.signal_with(&words("coder", "hold never", Queue));
    eventually("it works", || node.count("coder", "item.updated") == 1);
    assert!(hibernate().unwrap_err().message.contains("is not idle: it is in a turn"));
    node.signal_with(&words("coder", "say over", Interrupt));
    eventually("it is idle", || ended(&node) == 2);
    hibernate().unwrap();
    node.wait("coder", Phase::Hibernated);
    hibernate().unwrap();
    node.signal_with(&words("coder", "tool leave", Queue));
    decide(&node, &asked(&node), &json!({ "verdict": "approve" }));
    eventually("it woke for it", || ended(&node) == 3);

    let folder = node.scratch().join("coder");
    node.apply(&acp("coder", &folder, &["load=no"], ("", "")));
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    eventually("another session is there", || facts(&node, "session.opened").len() == 3);
    let error = hibernate().unwrap_err();
    assert!(error.message.contains("its program has no session to resume"), "{error}");
}
