//! Terminals with an adapter: nothing is typed that the screen does not allow, and injected is what the screen shows.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::fs;

use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Node, terminal, tui,
    tui::Tui,
    wait::{PATIENCE, eventually},
    words,
};
use edgeplane_types::{Activity, DeliveryMode, Evidence, Rung};
use edgeplane_wire::api::message::MessageView;

fn rung_of(message: &MessageView) -> (Rung, Evidence) {
    let last = message.receipts.last().unwrap();
    (last.rung, last.evidence)
}

/// Waits until so many messages of an agent are injected, and checks that the screen said so.
fn injected(node: &Node, name: &str, count: usize) {
    eventually("the screen says that they are injected", || node.count(name, "message.injected") == count);
    for event in node.history(name).iter().filter(|event| event.event["type"] == "message.injected") {
        assert_eq!(event.event["payload"]["evidence"], "screen");
    }
}

/// Waits until the oldest message that waits is held for a reason.
fn held(node: &Node, name: &str, why: &str) {
    eventually(&format!("held: {why}"), || {
        let inbox = node.inbox(name);
        inbox.iter().any(|message| message.reason.as_deref().is_some_and(|it| it.contains(why)))
    });
}

/// Waits as [`injected`] does, and tells what stood there if it does not come.
fn held_or_injected(node: &Node, name: &str, count: usize, point: &str) {
    let is_there = || node.count(name, "message.injected") == count;
    let in_time = edgeplane_os::wait::until(edgeplane_os::wait::Deadline::after(PATIENCE), is_there);
    let reasons: Vec<_> =
        node.inbox(name).into_iter().map(|message| (message.reason, message.receipts)).collect();
    assert!(in_time, "{point}: {reasons:?}\n{:?}\n{}", node.get(name).status, node.log());
    injected(node, name, count);
}

fn activity(node: &Node, name: &str, state: Activity) {
    eventually(&format!("{state:?}"), || {
        let status = node.get(name).status;
        (status.activity, status.activity_evidence) == (state, Evidence::Screen)
    });
}

/// Proves TERM-003, TERM-004, TERM-006.
#[test]
fn an_idle_program_is_given_each_message_once_and_whole() {
    let node = Node::start();
    let tui = Tui::start(&node, "idle", "idle", "");
    activity(&node, "idle", Activity::Idle);
    let long: Vec<String> = (1..=50).map(|line| format!("line {line} grüße 你好 🙂 end")).collect();
    let texts = ["one", "two in the same second", &long.join("\n"), "three"];
    for text in texts {
        node.signal("idle", text, None);
    }
    injected(&node, "idle", texts.len());
    let submitted = tui.submitted();
    assert_eq!(submitted.len(), texts.len(), "{submitted:?}");
    for (submitted, text) in submitted.iter().zip(texts) {
        let (header, content) = submitted.split_once('\n').unwrap();
        assert!(header.starts_with("[OPERATOR MESSAGE from "), "{header}");
        assert_eq!(content, text);
    }
    node.verify();
}

/// Proves TERM-005, TERM-009.
#[test]
fn a_queued_message_waits_while_a_turn_runs() {
    let node = Node::start();
    let tui = Tui::start(&node, "busy", "busy", "");
    activity(&node, "busy", Activity::Working);
    node.signal("busy", "later", None);
    held(&node, "busy", "a turn runs");
    assert!(tui.submitted().is_empty());
    assert!(node.get("busy").status.reason.is_some_and(|reason| reason.contains("a turn runs")));
    tui.set("idle");
    injected(&node, "busy", 1);
    assert_eq!(tui.submitted().len(), 1);
    tui.set("busy");
    activity(&node, "busy", Activity::Working);
    node.signal_with(&words("busy", "at once", DeliveryMode::Interrupt));
    injected(&node, "busy", 2);
    assert!(tui.submitted()[1].ends_with("at once"));
}

/// Proves TERM-005, TERM-009.
#[test]
fn a_dialog_is_never_answered() {
    let node = Node::start();
    let tui = Tui::start(&node, "asks", "dialog", "");
    activity(&node, "asks", Activity::AwaitingApproval);
    node.signal("asks", "yes\n1\n\n", None);
    node.signal_with(&words("asks", "1", DeliveryMode::Interrupt));
    node.signal_with(&words("asks", "y", DeliveryMode::Steer));
    held(&node, "asks", "a dialog is open");
    assert_eq!((tui.answers(), tui.submitted().len()), (0, 0));
    tui.set("idle");
    injected(&node, "asks", 3);
    assert_eq!((tui.answers(), tui.submitted().len()), (0, 3));
}

/// Proves TERM-005.
#[test]
fn what_is_not_understood_or_not_ours_is_left_alone() {
    let node = Node::start();
    let tui = Tui::start(&node, "drafted", "draft", "");
    node.signal("drafted", "over it", None);
    held(&node, "drafted", "somebody's text is in its composer");
    tui.set("glyph");
    held(&node, "drafted", "its screen is not understood");
    activity(&node, "drafted", Activity::Unknown);
    tui.set("quota");
    activity(&node, "drafted", Activity::QuotaPaused);
    held(&node, "drafted", "its quota is used up");
    assert!(tui.submitted().is_empty());
}

/// Proves TERM-005, TERM-009, TERM-024.
#[test]
fn a_program_that_shows_an_error_rests_and_is_tried_again() {
    let node = Node::start();
    let tui = Tui::start(&node, "failed", "error", "");
    activity(&node, "failed", Activity::Error);
    node.signal("failed", "is it over?", None);
    held(&node, "failed", "it shows an error, and is tried again later");
    assert!(tui.submitted().is_empty());
    // Nobody looks at its screen, and nothing on it changes: after its rest it is typed to all the same.
    injected(&node, "failed", 1);
    assert_eq!(tui.submitted().len(), 1);
    // The error is still there, so the next rest is twice as long, unless the program goes on.
    node.signal("failed", "and now?", None);
    held(&node, "failed", "it shows an error, and is tried again later");
    tui.set("idle");
    injected(&node, "failed", 2);
    activity(&node, "failed", Activity::Idle);
}

/// Proves TERM-003, TERM-005.
#[test]
fn a_screen_that_never_rests_is_read_all_the_same() {
    let node = Node::start();
    let tui = Tui::start(&node, "restless", "restless", "");
    activity(&node, "restless", Activity::Working);
    node.signal("restless", "later", None);
    held(&node, "restless", "a turn runs");
    tui.set("idle");
    injected(&node, "restless", 1);
    assert_eq!(tui.submitted().len(), 1);
}

/// Proves TERM-007.
#[test]
fn what_a_program_does_not_take_is_not_called_sent() {
    let node = Node::start();
    let tui = Tui::start(&node, "deaf", "deaf", "");
    let sent = node.signal("deaf", "hello?", None);
    held(&node, "deaf", "its program did not take what was submitted");
    let message =
        node.inbox("deaf").into_iter().find(|message| message.message_id == sent.message_id).unwrap();
    assert_eq!(rung_of(&message).0, Rung::Accepted);
    assert!(tui.submitted().is_empty());
    // What was entered was taken out again.
    let screen = node.connect().call::<edgeplane_wire::catalogue::AgentSnapshot>(
        &edgeplane_wire::api::agent::AgentParams { agent: "deaf".into() },
    );
    assert!(!screen.text.contains("hello?"), "{}", screen.text);
}

/// Proves TERM-008.
#[test]
fn a_daemon_that_dies_between_the_steps_goes_on_by_what_is_seen() {
    let mut node = Node::start();
    let tui = Tui::start(&node, "cut", "idle", "");
    let points =
        ["paste.before", "paste.after", "submit.before", "submit.after", "seen.before", "seen.after"];
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    for (number, point) in points.into_iter().enumerate() {
        activity(&node, "cut", Activity::Idle);
        fs::write(folder.join(point), "1").unwrap();
        // Its answer may die with the daemon; the message was made durable before.
        drop(node.try_signal("cut", &format!("message {number}"), None));
        eventually("the daemon dies", || node.has_ended());
        assert!(!folder.join(point).exists(), "{point} was not met");
        node.up();
        held_or_injected(&node, "cut", number + 1, point);
        let submitted = tui.submitted();
        assert_eq!(submitted.len(), number + 1, "{point}: {submitted:?}");
        assert!(submitted[number].ends_with(&format!("message {number}")), "{point}: {submitted:?}");
        assert!(!submitted[number].contains("perhaps again"), "{point}");
    }
    assert_eq!(node.count("cut", "message.ambiguous"), 0);
    node.verify();
}

/// Proves TERM-008.
#[test]
fn a_text_that_changed_while_no_daemon_was_there_is_not_submitted() {
    let mut node = Node::start();
    let tui = Tui::start(&node, "changed", "idle", "delivery: { ambiguous: hold }");
    activity(&node, "changed", Activity::Idle);
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("submit.before"), "1").unwrap();
    drop(node.try_signal("changed", "was pasted", None));
    eventually("the daemon dies", || node.has_ended());
    tui.set("draft");
    node.up();
    held(&node, "changed", "what was pasted is not what its composer shows");
    assert!(tui.submitted().is_empty());
    assert_eq!(node.count("changed", "message.injected"), 0);
}

/// Proves TERM-010.
#[test]
fn a_bad_adapter_is_refused_and_the_one_before_stays() {
    let node = Node::start();
    let tui = Tui::start(&node, "reads", "idle", "");
    activity(&node, "reads", Activity::Idle);
    let file = node.state_dir().join("adapters").join("fake-tui.toml");
    fs::write(&file, tui::ADAPTER.replace("prompt = '^>", "prompt = '^>(")).unwrap();
    node.signal("reads", "still read", None);
    injected(&node, "reads", 1);
    assert_eq!(tui.submitted().len(), 1);
    let none =
        terminal("none", &["/bin/cat"], "").replace("type: terminal", "type: terminal, adapter: nobody");
    let refused = node.try_apply(&none).unwrap_err();
    assert!(refused.message.contains("there is no adapter `nobody`"), "{refused:?}");
}

/// Proves TERM-011.
#[test]
fn a_shell_is_typed_to_line_by_line_at_its_prompt() {
    let node = Node::start();
    let log = node.scratch().join("ran");
    let text = terminal("shell", &["/bin/bash", "--norc", "--noprofile", "-i"], "");
    node.run("shell", &text.replace("type: terminal", "type: terminal, adapter: bash"));
    activity(&node, "shell", Activity::Idle);
    for number in 0..3 {
        node.signal("shell", &format!("echo {number} >> {}", log.display()), None);
    }
    injected(&node, "shell", 3);
    eventually("they ran", || fs::read_to_string(&log).unwrap_or_default() == "0\n1\n2\n");
}
