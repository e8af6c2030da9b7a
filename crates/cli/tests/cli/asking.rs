//! What is printed of questions, messages to many and dead letters, and how such commands end.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::fake::{Fake, MESSAGE, Says, answered, message, signalled, stderr, stdout};

const ASK: [&str; 4] = ["ask", "reviewer", "--content", "2 + 2?"];

fn part(number: u64, text: &str) -> Value {
    json!({ "message_id": MESSAGE, "number": number, "kind": "note", "text": text,
        "rendered": format!("[PEER MESSAGE from reviewer on driver]\n{text}") })
}

#[test]
fn answer_is_printed_as_its_words_and_in_an_agent_with_its_header() {
    let fake = Fake::saying("runtime/agent.ask", Says::result(answered()));
    let output = fake.run(&ASK);
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("four\n", Some(0)));
    let mut command = fake.command(&ASK);
    let output = command.env("EDGEPLANE_AGENT", "asker").stdin(Stdio::null()).output().unwrap();
    assert_eq!(stdout(&output), "[PEER MESSAGE from reviewer on driver]\nfour\n");
    let output = fake.run(&[&ASK[..], &["-o", "json"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap(), answered());
}

#[test]
fn parts_are_printed_before_the_answer() {
    let says = Says::result(answered()).after("ask/part", part(1, "one\u{1b}[2J"));
    let fake = Fake::saying("runtime/agent.ask", says.after("ask/part", part(2, "two\n")));
    let words = [&ASK[..], &["--stream"]].concat();
    assert_eq!(stdout(&fake.run(&words)), "one[2J\ntwo\nfour\n");
    let mut command = fake.command(&words);
    let output = command.env("EDGEPLANE_AGENT", "asker").stdin(Stdio::null()).output().unwrap();
    assert!(stdout(&output).starts_with("[PEER MESSAGE from reviewer on driver]\none"));
    let output = stdout(&fake.run(&[&words[..], &["-o", "json"]].concat()));
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, [part(1, "one\u{1b}[2J"), part(2, "two\n"), answered()]);
}

/// Proves MSG-012, MSG-063.
#[test]
fn question_without_an_answer_says_why_by_its_exit_code() {
    let check = |more: Value, words: &[&str], code: i32, said: &str| {
        let mut answer = signalled();
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let fake = Fake::saying("runtime/agent.ask", Says::result(answer));
        let output = fake.run(&[&ASK[..], words].concat());
        assert_eq!(output.status.code(), Some(code), "{more}");
        assert!(stdout(&output).starts_with(MESSAGE), "{}", stdout(&output));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    };
    check(json!({ "timed_out": true }), &["--timeout", "10ms"], 75, "did not answer within 10ms");
    check(json!({ "timed_out": true }), &["--no-wait"], 0, "");
    let rung = |rung: &str| json!([{ "rung": rung, "evidence": "kernel", "at": crate::fake::TIME }]);
    let rejected = json!({ "reason": "rejected: too_large", "receipts": rung("rejected") });
    check(rejected, &[], 1, "`reviewer` does not answer: rejected: too_large");
    let held = json!({ "reason": "ambiguous: a crash", "receipts": rung("ambiguous") });
    check(held, &[], 75, "ambiguous: a crash");
}

/// Proves MSG-063.
#[test]
fn signal_that_comes_to_a_dead_end_says_the_reason() {
    let mut answer = signalled();
    answer["reason"] = json!("rejected: too_large");
    let fake = Fake::saying("runtime/agent.signal", Says::result(answer));
    let output = fake.run(&["signal", "reviewer", "--content", "x", "--wait", "injected"]);
    assert_eq!(output.status.code(), Some(75));
    let said = "the message for `reviewer` will not be injected: rejected: too_large";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
fn what_became_of_a_message_to_many_is_told_for_each() {
    let items = json!([
        { "agent": "a", "message_id": MESSAGE },
        { "agent": "b", "message_id": MESSAGE, "duplicate": true },
        { "agent": "c", "error": "backpressure", "detail": "9 messages wait" }
    ]);
    for words in [["publish", "news", "--content", "x"], ["broadcast", "-q", "--content", "x"]] {
        let fake = Fake::saying("runtime/topic.publish", Says::result(json!({ "items": items })));
        fake.says("runtime/agent.broadcast", Says::result(json!({ "items": items })));
        let output = fake.run(&words);
        assert_eq!(output.status.code(), Some(1));
        let lines: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
        let [_, a, b, c] = &lines[..] else { panic!("{lines:?}") };
        assert!(
            a.contains("accepted") && b.contains("sent before") && c.contains("backpressure: 9 messages")
        );
    }
    let fake = Fake::saying("runtime/topic.publish", Says::result(json!({ "items": [] })));
    let output = fake.run(&["publish", "news", "--content", "x"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("no agent subscribes to `news`"));
}

#[test]
fn dead_letters_are_a_table_with_their_reasons() {
    let page = json!({ "items": [message()], "next": 7 });
    let fake = Fake::saying("runtime/dead_letter.list", Says::result(page));
    let output = fake.run(&["message", "dead"]);
    let table = stdout(&output);
    for cell in [MESSAGE, "reviewer", "uid-1000", "rejected", "too_large: no", "hello"] {
        assert!(table.contains(cell), "{cell}: {table}");
    }
    assert!(!table.contains('\u{1b}'));
    assert!(stderr(&output).contains("--cursor 7"));
}

#[test]
fn content_comes_from_standard_input_where_a_dash_stands_for_the_file() {
    use std::io::Write as _;

    let fake = Fake::saying("runtime/message.submit", Says::result(signalled()));
    let words = ["message", "submit", "reviewer", "--channel", "web", "--file", "-"];
    let mut child = fake.command(&words).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a page").unwrap();
    assert!(child.wait().unwrap().success());
    let (_, params) = fake.asked().remove(0);
    assert_eq!(params["parts"], json!([{ "type": "text", "text": "a page" }]));
}
