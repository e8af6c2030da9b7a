//! Cursors: places that outlive daemons, and what becomes of those that are no place.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use edgeplane_testkit::{Node, terminal};
use edgeplane_wire::{api::stream::Mode, rpc::RpcError};
use serde_json::{Value, json};

use super::talk::{Talk as _, agent, all, event, put, refused, state, subscribe};

fn node() -> Node {
    let node = Node::start();
    node.apply(&terminal("a", &["/bin/cat"], "run: stopped"));
    node.apply(&terminal("b", &["/bin/cat"], "run: stopped"));
    for value in 0..5 {
        put(&mut node.connect(), "a", "k", value).unwrap();
    }
    node
}

/// A cursor with one of its parts changed.
fn changed(cursor: &str, from: &str, to: &str) -> String {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).unwrap()).unwrap();
    assert!(text.contains(from), "{text}");
    URL_SAFE_NO_PAD.encode(text.replacen(from, to, 1))
}

/// Proves STRM-007, STRM-008.
#[test]
fn cursor_is_good_at_the_next_daemon_and_for_nothing_else() {
    let mut node = node();
    let mut talk = node.connect();
    let log = json!({ "target": agent("a"), "from": "start" });
    let result = subscribe(&mut talk, log);
    assert_eq!((result.next_seq, result.oldest_seq, result.mode), (1, 1, Mode::Replaying));
    event(&mut talk);
    let second = event(&mut talk);
    let chain = json!({ "target": agent("a"), "projection": "audit.chain", "from": "start" });
    let mut other = node.connect();
    subscribe(&mut other, chain);
    let of_chain = event(&mut other).cursor;
    node.kill_daemon();
    node.up();
    let mut talk = node.connect();
    let result = subscribe(&mut talk, json!({ "target": agent("a"), "cursor": second.cursor }));
    assert_eq!(result.next_seq, 3);
    assert_eq!(event(&mut talk).n, 3);
    for (what, params) in [
        ("another target", json!({ "target": agent("b"), "cursor": second.cursor })),
        ("another kind of target", json!({ "cursor": second.cursor })),
        ("another projection", json!({ "target": agent("a"), "cursor": of_chain })),
        (
            "another tenant",
            json!({ "target": agent("a"), "cursor": changed(&second.cursor, "local", "other") }),
        ),
        (
            "beyond the head",
            json!({ "target": agent("a"), "cursor": changed(&second.cursor, "|1|2", "|1|200") }),
        ),
        ("beyond the head, by number", json!({ "target": agent("a"), "after": 200 })),
        ("no cursor", json!({ "target": agent("a"), "cursor": "2" })),
    ] {
        for method in ["stream/subscribe", "stream/replay"] {
            assert_eq!(refused(&mut talk, method, params.clone()), "invalid_params", "{method}: {what}");
        }
    }
}

/// Proves STRM-009.
#[test]
fn place_of_another_version_is_a_gap_or_is_repaired() {
    let node = node();
    let mut talk = node.connect();
    let chain = |more: Value| {
        let mut params = json!({ "target": agent("a"), "projection": "audit.chain" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let now = subscribe(&mut talk, chain(json!({ "snapshot": "only" })));
    assert!(now.subscription_id.is_none() && now.mode == Mode::Snapshot);
    let head = now.head_seq;
    let old = changed(&now.cursor, &format!("|1|{head}"), "|0|3");
    let error: RpcError = talk.ask("stream/subscribe", chain(json!({ "cursor": old }))).unwrap_err();
    assert_eq!(error.name().as_str(), "replay_gap", "{error}");
    let gap = error.data.gap.unwrap();
    assert_eq!((gap.oldest_seq, gap.snapshot_seq, gap.projection_version), (1, head, 1));
    assert_eq!(refused(&mut talk, "stream/replay", chain(json!({ "cursor": old }))), "replay_gap");
    let result = subscribe(&mut talk, chain(json!({ "cursor": old, "on_gap": "repair" })));
    assert_eq!(result.snapshot.as_ref().unwrap().as_of_seq, head);
    assert_eq!(result.next_seq, head + 1);
    let repaired = state(&mut talk, "repaired").repaired.unwrap();
    assert_eq!((repaired.from_version, repaired.after), (0, 3));
    assert_eq!((repaired.projection_version, repaired.as_of_seq), (1, head));
    put(&mut node.connect(), "a", "k", 9).unwrap();
    assert_eq!(event(&mut talk).n, head + 1, "what follows joins the snapshot");
}

/// Proves STRM-003, STRM-010.
#[test]
fn everything_is_read_part_by_part_from_any_place() {
    let node = node();
    let mut talk = node.connect();
    for what in [
        json!({}),
        json!({ "target": agent("a") }),
        json!({ "target": agent("a"), "projection": "audit.chain" }),
        json!({ "projection": "agent.status" }),
    ] {
        let everything = all(&node, &what);
        let numbers: Vec<u64> = everything.iter().map(|(n, _)| *n).collect();
        let count = u64::try_from(numbers.len()).unwrap();
        assert_eq!(numbers, (1..=count).collect::<Vec<u64>>(), "{what}");
        let mut params = what.clone();
        params["limit"] = json!(2);
        let mut by_two = Vec::new();
        loop {
            let page = talk.ask("stream/replay", params.clone()).unwrap();
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= 2);
            by_two.extend(items.iter().map(|item| (item["n"].as_u64().unwrap(), item["event"].clone())));
            assert_eq!((&page["oldest_seq"], &page["head_seq"]), (&json!(1), &json!(count)));
            if page["end"] == true {
                break;
            }
            params["after"] = page["next"].clone();
        }
        assert_eq!(by_two, everything, "{what}");
        let mut params = what.clone();
        params["limit"] = json!(3);
        params["newest"] = json!(true);
        let newest = talk.ask("stream/replay", params).unwrap();
        let newest: Vec<u64> =
            newest["items"].as_array().unwrap().iter().map(|item| item["n"].as_u64().unwrap()).collect();
        assert_eq!(newest, (count.saturating_sub(2).max(1)..=count).collect::<Vec<u64>>(), "{what}");
    }
    let newest = json!({ "target": agent("a"), "types": ["memory.*"], "newest": true, "limit": 2 });
    let found = talk.ask("stream/replay", newest).unwrap();
    let values: Vec<&Value> =
        found["items"].as_array().unwrap().iter().map(|item| &item["event"]["payload"]["version"]).collect();
    assert_eq!(values, [&json!(4), &json!(5)]);
    // In the log the number is the place on the node, or the number in the stream.
    for (n, event) in all(&node, &json!({})) {
        assert_eq!(event["pos"], n);
    }
    for (n, event) in all(&node, &json!({ "target": agent("a") })) {
        assert_eq!(event["seq"], n);
    }
}
