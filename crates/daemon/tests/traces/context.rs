//! The context: taken, begun, recorded, handed on.

use edgeplane_testkit::{
    Node, exec,
    peers::{allow, answer_to, log_of, question, run_peer},
    wait::{eventually, eventually_some},
};
use edgeplane_types::{MessageId, SpanId, Traceparent};
use serde_json::{Value, json};

use super::{call, ended, run, spans, tell, trace_of};

const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn signal(node: &Node, ctx: &Value) -> String {
    let params = json!({ "agent": "coder", "parts": [{ "type": "text", "text": "say x" }], "ctx": ctx });
    call(node, "runtime/agent.signal", params)["message_id"].as_str().unwrap().to_owned()
}

fn accepted(node: &Node, message: &str) -> Value {
    let events = node.history("coder").into_iter();
    let of = |event: &Value| event["payload"]["envelope"]["id"] == message;
    events.map(|event| event.event).find(|event| event["type"] == "message.accepted" && of(event)).unwrap()
}

/// Proves TRACE-001, TRACE-002, TRACE-003.
#[test]
fn trace_that_is_given_is_gone_on_with_and_a_malformed_one_is_none() {
    let node = Node::start();
    run(&node, "coder", "");
    let id = signal(&node, &json!({ "traceparent": GIVEN, "tracestate": "vendor=1", "baggage": "team=red" }));
    let trace = ended(&node, &id);
    assert_eq!(trace["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(spans(&trace, "request")[0]["parent"], "00f067aa0ba902b7");
    let event = accepted(&node, &id);
    assert_eq!(event["trace"]["operation"], "runtime/agent.signal");
    assert_eq!(
        (&event["trace"]["tracestate"], &event["trace"]["baggage"]),
        (&json!("vendor=1"), &json!("team=red"))
    );
    assert!(event["trace"]["user_id"].as_str().unwrap().starts_with("uid-"));
    let of_envelope = &event["payload"]["envelope"]["traceparent"];
    assert_eq!(of_envelope, &event["trace"]["traceparent"]);

    let mut seen = vec![trace["trace_id"].clone()];
    for malformed in
        [json!("00-zz"), json!(""), json!(7), json!(GIVEN.to_uppercase()), json!("x".repeat(100_000))]
    {
        let id = signal(&node, &json!({ "traceparent": malformed, "tracestate": "A=!", "baggage": ["x"] }));
        let trace = ended(&node, &id);
        assert!(!seen.contains(&trace["trace_id"]), "{malformed}");
        seen.push(trace["trace_id"].clone());
        let event = accepted(&node, &id);
        assert!(
            event["trace"].get("tracestate").is_none() && event["trace"].get("parent").is_none(),
            "{event}"
        );
    }
    node.verify();
}

/// Proves TRACE-003.
#[test]
fn what_a_request_changes_and_what_happens_in_its_turn_says_so() {
    let node = Node::start();
    run(&node, "coder", "");
    let id = signal(&node, &json!({ "traceparent": GIVEN }));
    ended(&node, &id);
    let turn = SpanId::of_turn(&id.parse::<MessageId>().unwrap());
    for kind in ["message.injected", "turn.completed", "message.turn_ended"] {
        let event =
            node.history("coder").into_iter().rfind(|event| event.event["type"] == kind).unwrap().event;
        let of: Traceparent = event["trace"]["traceparent"].as_str().unwrap().parse().unwrap();
        assert_eq!((of.trace_id.to_string(), of.span_id), (GIVEN[3..35].to_owned(), turn), "{kind}");
        assert_eq!(event["trace"]["operation"], "runtime/agent.signal");
        assert!(event["trace"]["user_id"].as_str().unwrap().starts_with("uid-"), "{event}");
    }
    // Pieces name their message and are many: they say no more.
    let piece =
        node.history("coder").into_iter().find(|event| event.event["type"] == "item.updated").unwrap();
    assert!(piece.event.get("trace").is_none());

    let given = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01";
    call(&node, "runtime/agent.stop", json!({ "agent": "coder", "ctx": { "traceparent": given } }));
    let trace = call(&node, "observe/trace.get", json!({ "trace_id": &given[3..35] }));
    assert_eq!(trace["entry_point"]["operation"], "runtime/agent.stop");
    let changed =
        node.history("coder").into_iter().rfind(|event| event.event["type"] == "agent.desired").unwrap();
    let events = trace["spans"][0]["events"].as_array().unwrap();
    assert!(events.contains(&json!(changed.pos)), "{trace:#}");
}

/// Proves TRACE-004, TRACE-005.
#[test]
fn native_program_is_handed_its_trace_and_its_words_belong_to_it() {
    let node = Node::start();
    run_peer(&node, "asker", "");
    run_peer(&node, "asked", "");
    let first = node.signal("asker", "ask asked when go yes", None).message_id.to_string();
    eventually("the other one is asked", || node.inbox("asked").len() == 1);
    let line = eventually_some("the line is in the log", || {
        log_of(&node, "asker").into_iter().find(|line| line["method"] == "agent/message.deliver")
    });
    let told: Traceparent = line["params"]["traceparent"].as_str().unwrap().parse().unwrap();
    let trace = trace_of(&node, &first);
    assert_eq!(json!(told.trace_id), trace["trace_id"]);
    let turn = spans(&trace, "turn")[0].clone();
    assert_eq!(json!(told.span_id), turn["span_id"]);
    // What it asked over its driver is a part of its turn.
    let asked = spans(&trace, "request").into_iter().find(|span| span["owner"]["name"] == "asker").unwrap();
    assert_eq!((&asked["parent"], &asked["status"]), (&turn["span_id"], &json!("open")));
    allow(&node, "go");
    assert!(answer_to(&node, "asker", "ask when go yes").get("result").is_some());
    let second = node.inbox("asked").pop().map(|view| view.message_id.to_string());
    let second = second.unwrap_or_else(|| {
        let all = call(&node, "runtime/inbox.list", json!({ "agent": "asked", "all": true, "limit": 10 }));
        all["items"][0]["message_id"].as_str().unwrap().to_owned()
    });
    assert_eq!(trace_of(&node, &second)["trace_id"], trace["trace_id"]);

    // One who answers with a trace of its own in the context belongs to that one.
    let other = "00-cccccccccccccccccccccccccccccccc-dddddddddddddddd-01";
    let mut params = question("asked", "answer once");
    params["ctx"] = json!({ "traceparent": other });
    let asked = call(&node, "runtime/agent.ask", params);
    assert_eq!(trace_of(&node, asked["message_id"].as_str().unwrap())["trace_id"], &other[3..35]);
}

/// Proves TRACE-005.
#[test]
fn each_process_of_a_turn_has_its_own_trace_in_its_environment() {
    let node = Node::start();
    let folder = node.scratch().join("shot");
    let text = exec("shot", &folder, &[], (", first: [\"{prompt}\"]", ""));
    // The program of the test is put in by its words: this one says what it is told.
    let command = text.lines().find(|line| line.trim_start().starts_with("command:")).unwrap();
    let says = "  command: [sh, -c, 'printf %s \"$TRACEPARENT\"', sh]";
    node.run("shot", &text.replace(command, says));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let id = tell(&node, "shot", "anything");
        let trace = ended(&node, &id);
        let said = call(&node, "runtime/transcript.read", json!({ "agent": "shot", "message_id": id }));
        let said = said.to_string();
        let expected = format!(
            "00-{}-{}-01",
            trace["trace_id"].as_str().unwrap(),
            spans(&trace, "turn")[0]["span_id"].as_str().unwrap()
        );
        assert!(said.contains(&expected), "{expected} is not in {said}");
        assert!(!seen.contains(&expected));
        seen.push(expected);
    }
}

/// Proves TRACE-005.
#[test]
fn session_is_told_the_trace_of_its_prompt() {
    let node = Node::start();
    run(&node, "coder", "");
    let id = tell(&node, "coder", "meta");
    let trace = ended(&node, &id);
    let expected = format!(
        "00-{}-{}-01",
        trace["trace_id"].as_str().unwrap(),
        spans(&trace, "turn")[0]["span_id"].as_str().unwrap()
    );
    let said =
        call(&node, "runtime/transcript.read", json!({ "agent": "coder", "message_id": id })).to_string();
    assert!(said.contains(&expected), "{said}");
}

/// Proves TRACE-007.
#[test]
fn agents_see_the_traces_that_they_had_a_part_in() {
    let node = Node::start();
    run(&node, "coder", "");
    run(&node, "other", "");
    let id = tell(&node, "coder", "say done");
    ended(&node, &id);
    let cli = node.binaries().cli.to_string_lossy().into_owned();
    for (agent, sees) in [("coder", true), ("other", false)] {
        let asks = super::command(&cli, &json!(["trace", "--message", id, "-o", "json"]));
        let message = tell(&node, agent, &asks);
        ended(&node, &message);
        let said = call(&node, "runtime/transcript.read", json!({ "agent": agent, "message_id": message }));
        let said = said.to_string();
        assert_eq!(said.contains("invoke_agent coder"), sees, "{agent}: {said}");
        assert_eq!(said.contains("had no part in this trace"), !sees, "{agent}: {said}");
    }
}
