//! What a terminal program's own hooks say: evidence of what it took and did, and nothing more.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::fs;

use edgeplane_os::{Signal, failpoint, wait::Deadline};
use edgeplane_testkit::{
    Node, signals,
    tui::Tui,
    wait::{PATIENCE, eventually},
};
use edgeplane_types::{Activity, Continuity, Evidence, MessageId, Phase, Rung};
use edgeplane_wire::api::agent::{HooksState, HooksView};
use serde_json::{Value, json};

fn hooked(node: &Node, kind: &str, name: &str, word: &str, more: (&str, &str)) -> Tui {
    Tui::adapter_with_hooks(node, kind);
    let tui = Tui::start_with(node, name, word, more);
    eventually("its screen is read", || node.get(name).status.activity_evidence != Evidence::Silence);
    tui
}

fn view(node: &Node, name: &str) -> HooksView {
    node.get(name).status.hooks.unwrap()
}

/// The payloads of events of a type.
fn facts(node: &Node, name: &str, kind: &str) -> Vec<Value> {
    let events = node.history(name).into_iter().map(|view| view.event);
    events.filter(|event| event["type"] == kind).map(|event| event["payload"].clone()).collect()
}

fn rungs(node: &Node, name: &str, message: MessageId) -> Vec<(Rung, Evidence)> {
    let all = node.inbox(name);
    let found = all.into_iter().find(|view| view.message_id == message).unwrap();
    found.receipts.into_iter().map(|receipt| (receipt.rung, receipt.evidence)).collect()
}

/// The command that a program runs as its hook, with a report from a file.
fn hook(node: &Node, kind: &str, report: &str) -> String {
    let file = node.scratch().join(format!("{}.report", report.len()));
    fs::write(&file, report).unwrap();
    format!("{} hook {kind} < {}", node.binaries().cli.display(), file.display())
}

/// Has a program run a command, and tells how it ended.
fn runs(tui: &Tui, command: &str) -> Value {
    let is_it = |ran: &Value| ran["ran"] == command;
    let before = tui.ran().iter().filter(|ran| is_it(ran)).count();
    tui.run(command);
    eventually("the command has run", || tui.ran().iter().filter(|ran| is_it(ran)).count() > before);
    tui.ran().into_iter().rfind(is_it).unwrap()
}

fn harmless(ran: &Value) {
    assert_eq!((&ran["code"], &ran["out"]), (&json!(0), &json!("")), "{ran}");
}

/// Proves TERM-013, TERM-014, TERM-016, TERM-018, TERM-020.
#[test]
fn a_program_says_by_its_hooks_what_it_took_and_did() {
    let node = Node::start();
    let tui = hooked(&node, "claude-code", "told", "idle", ("", ""));
    eventually("its session is known", || node.count("told", "session.opened") == 1);
    assert_eq!(view(&node, "told").state, HooksState::Installed);
    let long: Vec<String> = (1..=50).map(|line| format!("line {line} grüße 你好 🙂 end")).collect();
    for text in ["one", "two\nlines  ", &long.join("\n")] {
        let sent = node.signal("told", text, Some(Rung::TurnEnded));
        let rungs = rungs(&node, "told", sent.message_id);
        let by_hook = [Rung::Injected, Rung::Observed, Rung::TurnEnded].map(|rung| (rung, Evidence::Hook));
        assert_eq!(rungs[1..], by_hook, "{text}");
    }
    assert_eq!(tui.submitted().len(), 3);
    let turns = facts(&node, "told", "turn.completed");
    assert_eq!((turns.len(), &turns[0]["outcome"]), (3, &json!("Stop")));
    let transcript = node.cli(&["transcript", "told"]).output().unwrap();
    let transcript = String::from_utf8(transcript.stdout).unwrap();
    assert!(transcript.contains("heard one"), "{transcript}");
    let status = node.get("told").status;
    assert_eq!((status.activity, status.activity_evidence), (Activity::Idle, Evidence::Hook));
    let session = facts(&node, "told", "session.opened").remove(0)["native_id"].as_str().unwrap().to_owned();
    assert_eq!(status.identities.session.resume_handle, Some(session.clone()));
    for event in node.history("told").iter().filter(|view| view.event["type"] == "turn.completed") {
        assert_eq!(event.event["actor"]["kind"], "agent", "it is the agent's word");
    }
    for (event, more) in
        [("PreToolUse", json!({})), ("PostToolUse", json!({ "tool_response": { "stdout": "a.txt" } }))]
    {
        let mut report = json!({ "hook_event_name": event, "session_id": session, "tool_name": "Bash",
            "tool_use_id": "toolu_1", "tool_input": { "command": "ls" } });
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        harmless(&runs(&tui, &hook(&node, "claude-code", &report.to_string())));
    }
    let tools = facts(&node, "told", "item.updated");
    let states: Vec<&Value> = tools.iter().map(|tool| &tool["status"]).collect();
    assert_eq!(states, ["in_progress", "completed"]);
    assert_eq!(tools[0]["item_id"], tools[1]["item_id"]);
    tui.ran().iter().for_each(harmless);
    assert!(tui.ran().iter().all(|ran| ran["err"] == ""), "{:?}", tui.ran());
    node.verify();
}

/// Proves TERM-013, TERM-014.
#[test]
fn the_end_of_a_turn_tells_what_the_turn_was_asked() {
    let node = Node::start();
    let tui = hooked(&node, "codex", "notifies", "busy", ("", ""));
    assert!(tui.started_with()[0][1].starts_with("notify="), "{:?}", tui.started_with());
    node.signal("notifies", "one", None);
    tui.set("idle");
    eventually("its turn is over", || node.count("notifies", "message.turn_ended") == 1);
    let sent = node.inbox("notifies").remove(0);
    let rungs = rungs(&node, "notifies", sent.message_id);
    assert_eq!(rungs[2..], [(Rung::Observed, Evidence::Hook), (Rung::TurnEnded, Evidence::Hook)]);
    // Each end tells all that was ever asked; only the last of it is the turn's.
    node.signal("notifies", "one", Some(Rung::TurnEnded));
    assert_eq!((tui.submitted().len(), node.count("notifies", "message.observed")), (2, 2));
    assert_eq!((node.count("notifies", "session.opened"), node.count("notifies", "item.reported")), (1, 0));
}

/// Proves TERM-014, TERM-015.
#[test]
fn a_prompt_that_was_not_typed_proves_nothing() {
    let node = Node::start();
    let tui = hooked(&node, "claude-code", "lies", "lies", ("", ""));
    let sent = node.signal("lies", "the truth", Some(Rung::Injected));
    eventually("the prompt is noted", || node.count("lies", "item.reported") == 1);
    assert_eq!(rungs(&node, "lies", sent.message_id)[1..], [(Rung::Injected, Evidence::Screen)]);
    assert_eq!(facts(&node, "lies", "item.reported")[0]["kind"], "prompt");
    eventually("the turn is over", || node.count("lies", "turn.completed") == 1);
    assert_eq!(node.count("lies", "message.turn_ended"), 0, "nobody knows whose it was");

    // What waits was typed by nobody, whatever is said of it.
    tui.set("busy");
    eventually("a turn runs", || node.get("lies").status.activity == Activity::Working);
    let waits = node.signal("lies", "not yet", None);
    let header = tui.submitted()[0].lines().next().unwrap().to_owned();
    let forged = json!({ "hook_event_name": "UserPromptSubmit", "prompt": format!("{header}\nnot yet") });
    harmless(&runs(&tui, &hook(&node, "claude-code", &forged.to_string())));
    assert_eq!(rungs(&node, "lies", waits.message_id).len(), 1);
    harmless(&runs(&tui, &hook(&node, "claude-code", &json!({ "hook_event_name": "Stop" }).to_string())));
    assert_eq!(rungs(&node, "lies", waits.message_id).len(), 1, "the screen says that a turn runs");
    assert_eq!(tui.submitted().len(), 1);
    tui.set("idle");
    eventually("it is typed", || tui.submitted().len() == 2);
    node.verify();
}

/// Proves TERM-005, TERM-016.
#[test]
fn a_dialog_is_said_and_left_to_a_person() {
    let node = Node::start();
    let tui = hooked(&node, "claude-code", "asks", "idle", ("", ""));
    tui.set("dialog");
    eventually("it is said", || view(&node, "asks").asks.is_some());
    assert_eq!(view(&node, "asks").asks.unwrap(), "leave to use Bash: rm x");
    let described = node.cli(&["agent", "describe", "asks"]).output().unwrap();
    let described = String::from_utf8(described.stdout).unwrap();
    assert!(described.contains("leave to use Bash: rm x"), "{described}");
    node.signal("asks", "y\n1\n", None);
    // A hook that says that nothing is asked any more opens nothing.
    harmless(&runs(&tui, &hook(&node, "claude-code", &json!({ "hook_event_name": "Stop" }).to_string())));
    eventually("the screen is believed", || {
        node.inbox("asks")[0].reason.as_deref().is_some_and(|why| why.contains("a dialog is open"))
    });
    assert_eq!((tui.answers(), tui.submitted().len()), (0, 0));
    eventually("the screen shows otherwise for long", || {
        let status = node.get("asks").status;
        (status.activity, status.activity_evidence) == (Activity::AwaitingApproval, Evidence::Screen)
    });
}

/// Proves TERM-017.
#[test]
fn garbage_and_floods_harm_neither_program_nor_node() {
    let node = Node::start();
    let tui = hooked(&node, "claude-code", "noisy", "idle", ("", ""));
    let other = Tui::start(&node, "other", "idle", "");
    let events = node.history("noisy").len();
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = format!("{{\"hook_event_name\":\"Stop\",\"x\":\"{}\"}}", "x".repeat(17 << 20));
    let wrong =
        ["", "{", "null", "[]", "\u{0}\u{1}", "{}", "{\"hook_event_name\":7}", deep.as_str(), huge.as_str()];
    for report in wrong {
        let ran = runs(&tui, &hook(&node, "claude-code", report));
        harmless(&ran);
        let said = ran["err"].as_str().unwrap();
        assert!(said.starts_with("edgeplane hook: not reported: ") && said.lines().count() == 1, "{said}");
        assert!(ran["ms"].as_u64().unwrap() < 10_000);
    }
    let unknown = hook(&node, "claude-code", &json!({ "hook_event_name": "Tomorrow" }).to_string());
    assert_eq!(runs(&tui, &unknown)["err"], "");
    let of_another = hook(&node, "codex", &json!({ "type": "agent-turn-complete" }).to_string());
    assert!(runs(&tui, &of_another)["err"].as_str().unwrap().contains("has no hooks of codex"));
    assert_eq!(node.history("noisy").len(), events, "nothing of it is in the record");

    let prompt = json!({ "hook_event_name": "UserPromptSubmit", "prompt": "x".repeat(1 << 20) });
    let one = hook(&node, "claude-code", &prompt.to_string());
    let flood = format!("for n in 1 2 3 4 5 6 7 8; do for m in 1 2 3 4 5 6 7 8; do {one} & done; wait; done");
    tui.run(&flood);
    other.set("idle");
    node.signal("other", "unharmed", Some(Rung::Injected));
    let is_over = || tui.ran().iter().any(|ran| ran["ran"] == flood.as_str());
    assert!(edgeplane_os::wait::until(Deadline::after(PATIENCE * 2), is_over));
    harmless(&tui.ran().pop().unwrap());
    let sent = node.signal("noisy", "still here", Some(Rung::TurnEnded));
    assert_eq!(rungs(&node, "noisy", sent.message_id).len(), 4);
    assert!(facts(&node, "noisy", "item.reported").iter().all(|item| item["body_bytes"] == 64 << 10));
    node.verify();
}

/// Proves TERM-017, TERM-019.
#[test]
fn only_an_agent_reports_and_only_of_itself() {
    let node = Node::start();
    let _tui = hooked(&node, "claude-code", "agent", "idle", ("", ""));
    node.run("plain", &edgeplane_testkit::terminal("plain", &["/bin/cat"], ""));
    let events = node.history("agent").len();
    let ran = node.cli(&["hook", "codex", "{\"type\":\"agent-turn-complete\"}"]).output().unwrap();
    assert!(ran.status.success() && ran.stdout.is_empty());
    assert!(String::from_utf8(ran.stderr).unwrap().contains("agents-only"));
    assert_eq!(node.history("agent").len(), events);
    assert_eq!(node.get("plain").status.hooks, None);
}

/// Proves TERM-017.
#[test]
fn no_program_waits_for_a_daemon_that_does_not_answer() {
    let mut node = Node::start();
    let tui = hooked(&node, "claude-code", "alone", "idle", ("", ""));
    let report = hook(&node, "claude-code", &json!({ "hook_event_name": "Stop" }).to_string());
    let daemon = node.daemon_pid();
    signals::send(daemon, Signal::STOP);
    let ran = runs(&tui, &report);
    signals::send(daemon, Signal::CONT);
    harmless(&ran);
    assert!(ran["err"].as_str().unwrap().contains("not reported"), "{ran}");
    assert!(ran["ms"].as_u64().unwrap() < 10_000, "{ran}");
    node.kill_daemon();
    let ran = runs(&tui, &report);
    harmless(&ran);
    assert!(ran["err"].as_str().unwrap().contains("not running"), "{ran}");
    node.up();
    assert_eq!(view(&node, "alone").state, HooksState::Installed, "the next daemon knows it");
    assert_eq!(runs(&tui, &report)["err"], "");
    let sent = node.signal("alone", "back", Some(Rung::TurnEnded));
    assert_eq!(rungs(&node, "alone", sent.message_id)[2].1, Evidence::Hook);
}

/// Proves TERM-008, TERM-015.
#[test]
fn a_daemon_that_dies_over_a_report_enters_nothing_twice() {
    let mut node = Node::start();
    let tui = hooked(&node, "claude-code", "cut", "idle", ("", ""));
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    for (number, point) in ["hook.before", "hook.after"].into_iter().enumerate() {
        eventually("it is idle", || node.get("cut").status.activity == Activity::Idle);
        fs::write(folder.join(point), "1").unwrap();
        drop(node.try_signal("cut", &format!("message {number}"), None));
        eventually("the daemon dies", || node.has_ended());
        assert!(!folder.join(point).exists(), "{point} was not met");
        node.up();
        eventually("it is injected", || node.count("cut", "message.injected") == number + 1);
        assert_eq!(tui.submitted().len(), number + 1, "{point}");
    }
    let evidence: Vec<Value> =
        facts(&node, "cut", "message.injected").iter().map(|fact| fact["evidence"].clone()).collect();
    assert_eq!(evidence, ["screen", "hook"], "what was not recorded was seen instead");
    let after = node.signal("cut", "after", Some(Rung::TurnEnded));
    assert_eq!(rungs(&node, "cut", after.message_id).len(), 4);
    assert_eq!((tui.submitted().len(), node.count("cut", "message.ambiguous")), (3, 0));
    node.verify();
}

/// Proves TERM-020, TERM-021.
#[test]
fn hooks_that_are_off_or_left_alone_are_not_installed() {
    let node = Node::start();
    let off = hooked(&node, "claude-code", "off", "idle", (", hooks: false", ""));
    assert_eq!(off.started_with(), [Vec::<String>::new()]);
    assert_eq!((view(&node, "off").state, view(&node, "off").heard_at), (HooksState::Off, None));
    let report = hook(&node, "claude-code", &json!({ "hook_event_name": "Stop" }).to_string());
    assert!(runs(&off, &report)["err"].as_str().unwrap().contains("has no hooks of claude-code"));
    assert_eq!(node.count("off", "turn.completed"), 0);
    let own = node.scratch().join("own.json");
    fs::write(&own, "{}").unwrap();
    let more = format!("args: [\"--settings\", \"{}\"]", own.display());
    let left = hooked(&node, "claude-code", "left", "idle", ("", &more));
    assert_eq!(left.started_with(), [vec!["--settings".to_owned(), own.display().to_string()]]);
    let view = view(&node, "left");
    assert_eq!(view.state, HooksState::LeftAlone);
    assert!(view.reason.unwrap().contains("--settings"));
    // Whoever sets them by hand is heard all the same.
    assert_eq!(runs(&left, &report)["err"], "");
    assert_eq!(node.count("left", "turn.completed"), 1);
    node.signal("off", "by its screen", Some(Rung::Injected));
    assert_eq!(fs::read_to_string(&own).unwrap(), "{}");
}

/// Proves TERM-022.
#[test]
fn a_session_goes_on_in_the_next_epoch_where_the_manifest_offers_it() {
    let node = Node::start();
    let more = "offers: { resume: true }\nrestart: { policy: always, backoff: { initial: 10ms } }";
    let tui = hooked(&node, "claude-code", "resumes", "idle", ("", more));
    eventually("its session is known", || node.count("resumes", "session.opened") == 1);
    let handle = node.get("resumes").status.identities.session.resume_handle.unwrap();
    let restart = |epoch: u64| {
        signals::kill(&[node.pid("resumes")]);
        eventually("the epoch has come", || node.get("resumes").status.epoch.0 >= epoch);
        node.wait("resumes", Phase::Running);
    };
    restart(2);
    eventually("it goes on", || node.get("resumes").status.continuity == Continuity::Full);
    let given = tui.started_with();
    assert!(given[1].ends_with(&["--resume".to_owned(), handle.clone()]), "{given:?}");

    // A session that its program does not know is given up after one attempt.
    let lost = json!({ "hook_event_name": "SessionStart", "session_id": "lost", "source": "clear" });
    harmless(&runs(&tui, &hook(&node, "claude-code", &lost.to_string())));
    signals::kill(&[node.pid("resumes")]);
    eventually("it was tried", || node.count("resumes", "session.failed") == 1);
    eventually("it begins anew", || node.count("resumes", "session.opened") == 4);
    let given = tui.started_with();
    assert!(given[2].contains(&"lost".to_owned()) && !given[3].contains(&"--resume".to_owned()), "{given:?}");
    node.wait("resumes", Phase::Running);
    node.verify();
}

/// Proves TERM-023.
#[test]
fn the_first_message_of_an_epoch_is_led_by_the_contract_and_what_was_before() {
    let mut node = Node::start();
    let more = "restart: { policy: always, backoff: { initial: 10ms } }";
    let tui = hooked(&node, "claude-code", "learns", "idle", (", notice: type", more));
    assert!(tui.submitted().is_empty(), "nothing is typed by itself");
    let first = node.signal("learns", "one", Some(Rung::TurnEnded));
    node.signal("learns", "two", Some(Rung::TurnEnded));
    let submitted = tui.submitted();
    assert!(submitted[0].starts_with("You run as a named agent under EdgePlane."), "{}", submitted[0]);
    assert!(submitted[0].contains("\n[OPERATOR MESSAGE from ") && submitted[0].ends_with("\none"));
    assert!(submitted[1].starts_with("[OPERATOR MESSAGE from "), "{}", submitted[1]);
    assert_eq!(rungs(&node, "learns", first.message_id)[2].1, Evidence::Hook);

    signals::kill(&[node.pid("learns")]);
    eventually("the next epoch runs", || node.get("learns").status.epoch.0 == 2);
    node.wait("learns", Phase::Running);
    // The words are the same for a daemon that dies while they are entered.
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("submit.before"), "1").unwrap();
    drop(node.try_signal("learns", "three", None));
    eventually("the daemon dies", || node.has_ended());
    node.up();
    eventually("it is entered", || node.count("learns", "message.turn_ended") == 3);
    let submitted = tui.submitted();
    let told = &submitted[2];
    for part in ["You run as a named agent", "\n> one", "\n> | heard one"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.ends_with("\nthree") && submitted.len() == 3, "{told}");
    node.verify();
}
