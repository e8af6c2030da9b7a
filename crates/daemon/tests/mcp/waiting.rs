//! What is told while a tool waits, and the whole of a thread.

use edgeplane_testkit::terminal;
use serde_json::{Value, json};

use crate::{SESSIONS, STATELESS, Talk, node};

/// Proves MCP-013.
#[test]
fn whoever_waits_is_told_so_until_the_call_is_cancelled() {
    let node = node();
    for version in [SESSIONS[0], STATELESS] {
        let mut talk = Talk::within(&node, "worker", version);
        let begin = |talk: &mut Talk, token: &str| {
            // Nobody runs who could answer.
            let arguments = json!({ "agent": "listener", "text": "are you there?", "timeout_ms": 120_000 });
            let meta = json!({ "progressToken": token });
            talk.send("tools/call", json!({ "name": "ask", "arguments": arguments, "_meta": meta }))
        };
        let first = begin(&mut talk, "first");
        let mut last = 0.0;
        for _time in 0..2 {
            let told = talk.notification("notifications/progress");
            assert_eq!(told["progressToken"], "first", "{told}");
            assert!(told["progress"].as_f64().unwrap() > last, "{told}");
            assert!(told["message"].as_str().unwrap().starts_with("`ask` has been waiting"), "{told}");
            last = told["progress"].as_f64().unwrap();
        }
        let params = json!({ "requestId": first });
        talk.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        assert!(talk.done("self_show", json!({}))["caller"].is_object());
        // By the time the second has been told twice, the first would have been as well.
        begin(&mut talk, "second");
        let tokens: Vec<Value> =
            (0..2).map(|_| talk.notification("notifications/progress")["progressToken"].clone()).collect();
        assert_eq!(tokens, ["second", "second"]);
        assert!(talk.done("agent_list", json!({})).is_object(), "what waits holds up nothing else");
    }
    node.verify();
}

/// Proves MCP-014.
#[test]
fn thread_is_read_from_its_beginning_page_by_page() {
    let node = node();
    node.apply(&terminal("other", &["/bin/cat"], "run: stopped"));
    let mut talk = Talk::within(&node, "worker", STATELESS);
    let mut wanted = Vec::new();
    for number in 0..7 {
        let text = format!("number {number}");
        if number % 2 == 0 {
            talk.done("signal", json!({ "agent": "listener", "text": text }));
        } else {
            node.signal("worker", &text, None);
        }
        // None of the agent's business.
        node.signal("other", &text, None);
        wanted.push((if number % 2 == 0 { "out" } else { "in" }, text));
    }
    let (mut found, mut next, mut pages) = (Vec::new(), 0, 0);
    loop {
        let uri = format!("edgeplane://self/thread?after={next}&limit=3");
        let page: Value = serde_json::from_str(&talk.read(&uri)).unwrap();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3, "{page}");
        found.extend(items.iter().map(|item| (item["direction"].clone(), item["message"].to_string())));
        next = page["next"].as_u64().unwrap();
        pages += 1;
        if page["end"] == true {
            break;
        }
    }
    assert!(pages >= 3);
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for ((direction, message), (expected, text)) in found.iter().zip(&wanted) {
        assert!(direction == expected && message.contains(text), "{message}: {text}");
    }
    let newest: Value = serde_json::from_str(&talk.read("edgeplane://self/thread?limit=2")).unwrap();
    assert_eq!(newest["items"].as_array().unwrap().len(), 2);
    assert!(newest["items"][1]["message"].to_string().contains("number 6"), "{newest}");
}
