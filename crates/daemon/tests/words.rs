//! What an agent's words weigh, by what led to them: its turns, those that have ended, and what it asked others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use edgeplane_testkit::{
    Connection, Node,
    peers::{log_of, question, run_peer, speak_as, with},
    terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{Authority, Epoch, MessageId, Part, Phase, Rung};
use edgeplane_wire::{api::message::MessageView, catalogue::AgentRestart};
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
