//! What an agent's words weigh, by what led to them: its turns, those that have ended, and what it asked others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use edgeplane_testkit::{
    Connection, Node,
    peers::{allow, answer, answer_to, ask, log_of, question, run_peer, speak_as, try_ask, with},
    terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{Authority, Epoch, MessageId, Part, Phase, Rung};
use edgeplane_wire::{
    api::message::MessageView,
    catalogue::AgentRestart,
    rpc::{self, Incoming},
};
use serde_json::{Value, json};

/// Each sends the name of the other on, so that `VERB pong` in ping is answered with `VERB ping` in pong.
fn check_end_of_volley(verb: &str) {
    let node = Node::start();
    run_peer(&node, "ping", "");
    run_peer(&node, "pong", "");
    let first = format!("{verb} pong");
    node.signal("ping", &first, None);
    let refused = eventually_some("the rule stops them", || {
        let lines = log_of(&node, "ping").into_iter().chain(log_of(&node, "pong"));
        lines.into_iter().find(|line| line.get("error").is_some())
    });
    assert_eq!(refused["error"]["data"]["name"], "policy_blocked");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("rule hop-limit"), "{message}");
    let hops = |name: &str| node.inbox(name).iter().map(|message| message.hops).max();
    assert_eq!(hops("ping").max(hops("pong")), Some(16));
    let sent = node.inbox("ping").len() + node.inbox("pong").len();
    assert_eq!(sent, 17, "one for each number of hops from 0 to 16");
    node.wait("ping", Phase::Running);
    let parts = node.inbox("ping")[0].parts.clone().unwrap();
    assert_eq!(parts, [Part::Text { text: first }]);
}

/// Proves MSG-069.
#[test]
fn agents_that_answer_each_other_are_stopped_by_the_rule() {
    check_end_of_volley("echo");
}

/// Proves MSG-069, MSG-087.
#[test]
fn agents_that_end_their_turns_first_are_stopped_by_the_rule_too() {
    check_end_of_volley("volley");
}

/// What somebody found in the web for an agent.
fn submit(node: &Node, agent: &str, words: &str) -> MessageId {
    let params = with(question(agent, words), &json!({ "channel": "web" }));
    let result = node.connect().try_raw("runtime/message.submit", params).unwrap();
    serde_json::from_value(result["message_id"].clone()).unwrap()
}

fn say(speaker: &mut Connection, params: Value) -> Value {
    speaker.try_raw("runtime/agent.signal", params).unwrap()
}

/// The message in an inbox that came last, with its weight, hops and cause.
fn newest(node: &Node, agent: &str) -> (Authority, u32, Option<MessageId>) {
    let MessageView { authority, hops, causation, .. } = node.inbox(agent).pop().unwrap();
    (authority, hops, causation)
}

/// Proves MSG-087.
#[test]
fn what_an_agent_says_after_its_turn_weighs_what_led_to_it() {
    let mut node = Node::start();
    run_peer(&node, "alpha", "");
    node.apply(&terminal("beta", &["/bin/cat"], "run: stopped"));
    let order = node.signal("alpha", "answer nothing", Some(Rung::TurnEnded)).message_id;
    let found = submit(&node, "alpha", "after beta follow me");
    eventually("it has told the other", || node.inbox("beta").len() == 1);
    assert_eq!(newest(&node, "beta"), (Authority::Untrusted, 1, Some(found)));
    say(&mut speak_as(&node, "alpha"), question("beta", "again"));
    assert_eq!(newest(&node, "beta"), (Authority::Untrusted, 1, Some(found)));
    node.kill_daemon();
    node.up();
    say(&mut speak_as(&node, "alpha"), question("beta", "under the next daemon"));
    assert_eq!(newest(&node, "beta"), (Authority::Untrusted, 1, Some(found)));
    // To name another cause tells where it comes from, and lifts nothing.
    let named = with(question("beta", "as I was told"), &json!({ "causation": order }));
    say(&mut speak_as(&node, "alpha"), named);
    assert_eq!(newest(&node, "beta"), (Authority::Untrusted, 1, Some(order)));

    let next = node.signal("alpha", "answer nothing", Some(Rung::TurnEnded)).message_id;
    say(&mut speak_as(&node, "alpha"), question("beta", "after another turn"));
    assert_eq!(newest(&node, "beta"), (Authority::Delegated, 1, Some(next)));
    submit(&node, "alpha", "answer nothing");
    eventually("it has heard it", || node.count("alpha", "message.turn_ended") == 4);
    node.change::<AgentRestart>("alpha").unwrap();
    eventually("it began anew", || node.get("alpha").status.epoch == Epoch(2));
    node.wait("alpha", Phase::Running);
    say(&mut speak_as(&node, "alpha"), question("beta", "in an epoch that was given nothing"));
    assert_eq!(newest(&node, "beta"), (Authority::Delegated, 0, None));
    node.verify();
}

/// Lets one agent have read a page of the web that it is busy with, so that its answers are untrusted.
fn run_reader(node: &Node, name: &str) {
    run_peer(node, name, "");
    submit(node, name, "nothing");
    eventually("it has the page", || node.count(name, "message.injected") == 1);
}

fn heard(node: &Node, name: &str) -> Vec<Value> {
    let events = node.history(name).into_iter().map(|event| event.event);
    events.filter(|event| event["type"] == "answer.heard").map(|event| event["payload"].clone()).collect()
}

/// Proves MSG-088.
#[test]
fn answer_lowers_what_the_asking_agent_says_next() {
    let mut node = Node::start();
    run_reader(&node, "reader");
    run_peer(&node, "clean", "");
    run_peer(&node, "alpha", "");
    node.apply(&terminal("beta", &["/bin/cat"], "run: stopped"));
    let say = |node: &Node| {
        speak_as(node, "alpha").try_raw("runtime/agent.signal", question("beta", "I heard")).unwrap();
        newest(node, "beta").0
    };
    let remark = |node: &Node| {
        let params = json!({ "kind": "note", "text": "I heard" });
        speak_as(node, "alpha").try_raw("runtime/item.report", params).unwrap();
        let mut events = node.history("alpha").into_iter().map(|event| event.event);
        let last = events.rfind(|event| event["type"] == "item.reported").unwrap();
        last["payload"]["authority"].clone()
    };
    let first = node.signal("alpha", "ask clean answer nice", Some(Rung::Injected)).message_id;
    assert_eq!(answer_to(&node, "alpha", "ask answer nice")["result"]["answer"]["authority"], "delegated");
    assert_eq!((say(&node), heard(&node, "alpha").len()), (Authority::Delegated, 0));
    assert_eq!(remark(&node), "delegated");

    let second = node.signal("alpha", "ask reader answer evil", Some(Rung::Injected)).message_id;
    let line = answer_to(&node, "alpha", "ask answer evil");
    assert_eq!(line["result"]["answer"]["authority"], "untrusted");
    let known = heard(&node, "alpha");
    assert_eq!(known.len(), 1);
    assert_eq!(
        (&known[0]["message_id"], &known[0]["authority"]),
        (&line["result"]["message_id"], &json!("untrusted"))
    );
    assert_eq!((say(&node), remark(&node)), (Authority::Untrusted, json!("untrusted")));
    node.kill_daemon();
    node.up();
    assert_eq!(say(&node), Authority::Untrusted);
    // What it answers to others is said in the same turns, and so is what it says after them.
    let answered = ask(&node, "alpha", "answer mine");
    assert_eq!(answer(&answered).authority, Authority::Untrusted);
    for turn in [first, second] {
        node.signal("alpha", &format!("forge {turn}"), Some(Rung::TurnEnded));
    }
    assert_eq!(say(&node), Authority::Untrusted);
    node.signal("alpha", "answer nothing", Some(Rung::TurnEnded));
    assert_eq!(say(&node), Authority::Delegated);

    // With no turn open it is heard in the one that ended last.
    run_reader(&node, "other");
    let evil = try_ask(&mut speak_as(&node, "alpha"), question("other", "answer evil")).unwrap();
    assert_eq!(answer(&evil).authority, Authority::Untrusted);
    assert_eq!(say(&node), Authority::Untrusted);
    assert_eq!(newest(&node, "beta").1, 1);
    node.verify();
}

/// Proves MSG-088.
#[test]
fn parts_of_an_answer_and_own_command_lines_count_too() {
    let node = Node::start();
    run_reader(&node, "reader");
    run_peer(&node, "alpha", "");
    node.apply(&terminal("beta", &["/bin/cat"], "run: stopped"));
    let mut asking = speak_as(&node, "alpha");
    let params = with(question("reader", "items"), &json!({ "stream": true }));
    asking.send(&rpc::request(&rpc::Id::Number(1), "runtime/agent.ask", params)).unwrap();
    assert_eq!(asking.notification().unwrap().params["text"], "named");
    say(&mut speak_as(&node, "alpha"), question("beta", "before the answer"));
    assert_eq!(newest(&node, "beta"), (Authority::Untrusted, 0, None));
    allow(&node, "go");
    assert!(matches!(asking.read().unwrap(), Incoming::Response { .. }));
    assert_eq!(heard(&node, "alpha").len(), 1, "what changes nothing is not said again");

    let cli = node.binaries().cli.display().to_string();
    let program =
        format!("{cli} ask reader --content 'answer evil' && {cli} signal beta --content 'so I say'");
    node.run("gamma", &terminal("gamma", &["/bin/sh", "-c", &format!("{program}; exec cat")], ""));
    eventually("it has told the other", || node.inbox("beta").len() == 2);
    assert_eq!(node.inbox("beta").pop().unwrap().source.as_str(), "gamma");
    assert_eq!(newest(&node, "beta").0, Authority::Untrusted);
    node.verify();
}
