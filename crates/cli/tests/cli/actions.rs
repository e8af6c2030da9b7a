//! Actions as people and scripts meet them.

use std::io::Write as _;

use edgeplane_os::wait::{self, Deadline};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::{
    attach::Seat,
    fake::{AGENT, Fake, MESSAGE, PATIENCE, Says, TIME, stderr, stdout},
};

const ACTION: &str = "act_01890000-0000-7000-8000-000000000007";

/// An approval that waits; what its agent wrote tries to say more than it may.
fn approval() -> Value {
    json!({
        "action": { "id": ACTION, "kind": "approval", "agent_id": AGENT, "epoch": 3, "principal": "reviewer",
            "prompt": "Delete it?\u{1b}[2J\ndigest:     00", "digest": "ab".repeat(32), "subject_digest": "cd".repeat(32),
            "quorum": 2, "expires_at": TIME },
        "agent": "reviewer", "subject": "rm -r build",
        "votes": [{ "principal": "uid-7", "verdict": { "verdict": "approve" }, "at": TIME }],
    })
}

fn decided(outcome: &str) -> Value {
    let mut view = approval();
    view["outcome"] = json!(outcome);
    view["reason"] = json!("not on a Friday\u{1b}[2J");
    view["resolved_at"] = json!(TIME);
    view["told_by"] = json!(MESSAGE);
    view
}

fn fake() -> Fake {
    let fake = Fake::new();
    fake.says("conversation/action.get", Says::result(approval()));
    fake.says("conversation/action.list", Says::result(json!({ "items": [approval()] })));
    fake.says("conversation/action.respond", Says::result(decided("approved")));
    fake.says("conversation/action.cancel", Says::result(decided("cancelled")));
    fake.says("conversation/action.open", Says::result(approval()));
    fake
}

/// The digest and the verdict that were sent, if a vote was.
fn vote(fake: &Fake) -> Option<(Value, Value)> {
    let asked = fake.asked();
    let decides: Vec<_> =
        asked.iter().filter(|(method, _)| method == "conversation/action.respond").collect();
    assert!(decides.len() < 2, "{asked:?}");
    decides.first().map(|(_, params)| (params["digest"].clone(), params["verdict"].clone()))
}

fn expected(verdict: Value) -> Option<(Value, Value)> {
    Some((json!("ab".repeat(32)), verdict))
}

#[test]
fn actions_are_listed_and_shown_without_control_characters() {
    let fake = fake();
    let list = stdout(&fake.run(&["action", "list", "--agent", "reviewer", "--all", "--limit", "5"]));
    assert!(list.starts_with("ACTION  "), "{list}");
    assert!(list.contains("1 of 2") && list.contains("Delete it?[2J digest:"), "{list}");
    let params = json!({ "agent": "reviewer", "all": true, "limit": 5 });
    assert_eq!(fake.asked(), [("conversation/action.list".to_owned(), params)]);
    let shown = stdout(&fake.run(&["action", "show", ACTION]));
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    // What the agent wrote stands indented: it imitates no line of ours.
    let digests: Vec<_> = shown.lines().filter(|line| line.starts_with("digest:")).collect();
    assert_eq!(digests, [format!("digest:     {}", "ab".repeat(32))], "{shown}");
    for text in ["    Delete it?[2J", "    digest:     00", "    rm -r build", "pending until", "uid-7 at"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    for (words, answer) in
        [(["action", "show", ACTION], approval()), (["action", "cancel", ACTION], decided("cancelled"))]
    {
        let output = fake.run(&[&words[..], &["-o", "json"]].concat());
        assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap(), answer);
        let output = fake.run(&[&words[..], &["-o", "yaml"]].concat());
        assert_eq!(serde_saphyr::from_str::<Value>(&stdout(&output)).unwrap(), answer);
    }
}

#[test]
fn approval_without_a_terminal_says_what_it_approves() {
    let fake = fake();
    let output = fake.run(&["action", "approve", ACTION]);
    assert_eq!((output.status.code(), vote(&fake)), (Some(64), None), "{}", stderr(&output));
    let output = fake.run(&["action", "approve", ACTION, "--yes"]);
    assert!(stderr(&output).contains("    rm -r build"), "what is approved is shown: {}", stderr(&output));
    assert!(!stderr(&output).contains('\u{1b}'));
    assert_eq!(stdout(&output), format!("{ACTION} approved\n"));
    assert_eq!(vote(&fake), expected(json!({ "verdict": "approve" })));
    // With a digest only that is approved, whatever the node has.
    fake.run(&["action", "approve", ACTION, "--digest", "00"]);
    assert_eq!(vote(&fake), Some((json!("00"), json!({ "verdict": "approve" }))));
    let fake =
        Fake::saying("conversation/action.respond", Says::error(ErrorName::Conflict, "digest_mismatch"));
    let output = fake.run(&["action", "approve", ACTION, "--digest", "00"]);
    assert_eq!(output.status.code(), Some(73));
    let fake = Fake::saying("conversation/action.respond", Says::result(approval()));
    let output = fake.run(&["action", "approve", ACTION, "--digest", "00"]);
    assert_eq!(stdout(&output), format!("{ACTION} pending: 1 of 2 have approved\n"));
}

#[test]
fn denials_and_answers_are_votes() {
    let fake = fake();
    let check = |words: &[&str], verdict: Value| {
        let output = fake.run(&[&["action"], words].concat());
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        assert_eq!(vote(&fake), expected(verdict), "{words:?}");
    };
    check(&["deny", ACTION], json!({ "verdict": "deny" }));
    check(&["deny", ACTION, "--reason", "no"], json!({ "verdict": "deny", "reason": "no" }));
    check(&["answer", ACTION, "blue"], json!({ "verdict": "answer", "value": "blue" }));
    check(&["answer", ACTION, "-7"], json!({ "verdict": "answer", "value": "-7" }));
    check(&["answer", ACTION, "--json", "{\"n\":3}"], json!({ "verdict": "answer", "value": { "n": 3 } }));
    for wrong in [&["answer", ACTION][..], &["answer", ACTION, "--json", "{"], &["approve", "x"]] {
        let output = fake.run(&[&["action"], wrong].concat());
        assert_eq!((output.status.code(), vote(&fake)), (Some(64), None), "{wrong:?}");
    }
}

/// What a person at a terminal sees, and what they typed is a vote.
#[test]
fn person_at_a_terminal_is_asked_once_more() {
    for (typed, code) in [("y\n", 0), ("yes\n", 0), ("\n", 1), ("n\n", 1), ("yep\n", 1), ("\u{4}", 1)] {
        let fake = fake();
        let mut seat = Seat::take(&fake, &["action", "approve", ACTION]);
        let seen = seat.read_to("[y/N] ");
        assert!(seen.contains("rm -r build") && !seen.contains('\u{1b}'), "{seen}");
        assert_eq!(vote(&fake), None, "nothing is approved before it is said");
        seat.master.write_all(typed.as_bytes()).unwrap();
        let mut status = None;
        wait::until(Deadline::after(PATIENCE), || {
            status = seat.child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.and_then(|status| status.code()), Some(code), "{typed:?}");
        let approved = if code == 0 { expected(json!({ "verdict": "approve" })) } else { None };
        assert_eq!(vote(&fake), approved, "{typed:?}");
    }
}

#[test]
fn script_asks_and_reads_how_it_ended() {
    let fake = fake();
    let output = fake.run(&["action", "ask", "--prompt", "Delete it?", "--subject", "rm -r build"]);
    assert_eq!(stdout(&output), format!("{ACTION}\n"));
    let params = json!({ "kind": "approval", "prompt": "Delete it?", "subject": "rm -r build", "quorum": 1 });
    assert_eq!(fake.asked(), [("conversation/action.open".to_owned(), params)]);
    let words = ["action", "ask", "--agent", "reviewer", "--prompt", "Which?", "--choice", "yes=Yes, do"];
    let more = ["--choice", "no", "--expires", "2h", "--key", "k", "--role", "ops", "--because-of", MESSAGE];
    assert!(fake.run(&[&words[..], &more].concat()).status.success());
    let choices = json!([{ "value": "yes", "label": "Yes, do" }, { "value": "no", "label": "no" }]);
    let params = json!({ "agent": "reviewer", "kind": "question", "prompt": "Which?", "choices": choices,
        "roles": ["ops"], "quorum": 1, "expires_in_ms": 7_200_000, "causation": MESSAGE, "idempotency_key": "k" });
    assert_eq!(fake.asked(), [("conversation/action.open".to_owned(), params)]);

    let mut answered = decided("answered");
    answered["answer"] = json!("blue");
    for (view, code, text) in [
        (decided("approved"), 0, "approved: not on a Friday[2J\n"),
        (answered, 0, "blue\n"),
        (decided("denied"), 1, "denied: not on a Friday[2J\n"),
        (decided("expired"), 1, "expired: not on a Friday[2J\n"),
        (decided("cancelled"), 1, "cancelled: not on a Friday[2J\n"),
    ] {
        let fake = Fake::saying("conversation/action.open", Says::result(approval()));
        // The node goes and comes back while the script waits.
        fake.says("conversation/action.get", Says::result(approval()));
        fake.says("conversation/action.get", Says::result(approval()).hangs_up());
        fake.says("conversation/action.get", Says::result(view));
        let output = fake.run(&["action", "ask", "--prompt", "Which?", "--wait"]);
        assert_eq!((output.status.code(), stdout(&output)), (Some(code), text.to_owned()));
        assert!(stderr(&output).contains(ACTION), "it says what waits: {}", stderr(&output));
    }
    let waits = ["action", "ask", "--prompt", "Which?", "--wait", "--timeout", "200ms"];
    let output = self::fake().run(&waits);
    assert_eq!((output.status.code(), stdout(&output)), (Some(75), String::new()), "{}", stderr(&output));
}
