//! Projections as the node keeps them: snapshots that join, and checkpoints that may go.

use std::{fs, path::PathBuf};

use edgeplane_testkit::{Node, terminal, wait::eventually};
use edgeplane_wire::{
    api::stream::{ProjectionsParams, ProjectionsResult, Rebuilt, Target},
    catalogue::{ProjectionRebuild, ProjectionVerify},
};
use serde_json::{Value, json};

use super::talk::{Talk as _, agent, all, event, put, subscribe};

fn node() -> Node {
    let node = Node::start();
    node.apply(&terminal("a", &["/bin/cat"], "run: stopped\ninbox: { max: 100000 }"));
    node
}

/// Proves STRM-021.
#[test]
fn snapshot_and_what_follows_it_join_exactly() {
    let node = node();
    let writes = |from: usize| {
        let mut connection = node.connect();
        for value in from..from + 150 {
            put(&mut connection, "a", "k", value).unwrap();
        }
    };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| writes(0));
        // Asked for while it changes, again and again.
        let mut joined = Vec::new();
        while joined.len() < 20 {
            let mut talk = node.connect();
            let params = json!({ "projection": "audit.chain", "snapshot": "first" });
            let result = subscribe(&mut talk, params);
            let snapshot = result.snapshot.unwrap();
            assert_eq!(result.next_seq, snapshot.as_of_seq + 1);
            assert_eq!(snapshot.state["events"], snapshot.as_of_seq, "the state is that of its number");
            joined.push((talk, snapshot.as_of_seq));
            if joined.len() == 10 {
                writes(1_000);
            }
        }
        writer.join().unwrap();
        writes(2_000);
        for (mut talk, as_of) in joined {
            for n in as_of + 1..=as_of + 50 {
                assert_eq!(event(&mut talk).n, n);
            }
        }
    });
    let only = subscribe(&mut node.connect(), json!({ "target": agent("a"), "snapshot": "only" }));
    let log = all(&node, &json!({ "target": agent("a") }));
    let (n, last) = log.last().unwrap();
    let snapshot = only.snapshot.unwrap();
    assert_eq!((snapshot.as_of_seq, &snapshot.state), (*n, &Value::Null));
    assert_eq!(last["hash"], snapshot.digest.as_str());
}

fn checkpoints(node: &Node) -> Vec<PathBuf> {
    let of_kinds = fs::read_dir(node.state_dir().join("projections")).into_iter().flatten().flatten();
    of_kinds.flat_map(|kind| fs::read_dir(kind.path()).unwrap()).map(|file| file.unwrap().path()).collect()
}

fn get(node: &Node, projection: &str) -> Value {
    let params = json!({ "projection": projection, "target": agent("a") });
    node.connect().ask("stream/projection.get", params).unwrap()
}

/// Proves STRM-022, STRM-023, STRM-024.
#[test]
fn checkpoints_may_go_or_be_garbage_at_any_time() {
    let mut node = node();
    let mut connection = node.connect();
    for value in 0..200 {
        put(&mut connection, "a", "k", value).unwrap();
    }
    let before = [get(&node, "audit.chain"), get(&node, "queue")];
    assert_eq!(before[0]["as_of_seq"], before[0]["head_seq"]);
    assert!(before[0]["as_of_pos"].as_u64().unwrap() > 200, "{}", before[0]);
    let list: ProjectionsResult =
        serde_json::from_value(connection.ask("stream/projection.list", json!({})).unwrap()).unwrap();
    let running = |name: &str| list.items.iter().find(|kind| kind.name == name).unwrap().running;
    assert_eq!((list.items[0].name.as_str(), running("queue"), running("governance")), ("log", 1, 0));
    // A daemon that ends in good order keeps what it folded.
    node.stop_daemon();
    let kept = checkpoints(&node);
    assert_eq!(kept.len(), 2, "{kept:?}");
    let whole = fs::read(&kept[0]).unwrap();
    let harm: [&dyn Fn(&PathBuf); 5] = [
        &|_| {},
        &|file| fs::write(file, b"").unwrap(),
        &|file| fs::write(file, &whole[..whole.len() / 2]).unwrap(),
        &|file| {
            let mut bytes = fs::read(file).unwrap();
            let last = bytes.len() - 10;
            bytes[last] ^= 1;
            fs::write(file, bytes).unwrap();
        },
        &|file| fs::remove_file(file).unwrap(),
    ];
    for harm in harm {
        checkpoints(&node).iter().for_each(harm);
        node.up();
        assert_eq!([get(&node, "audit.chain"), get(&node, "queue")], before);
        let verified = node.connect().call::<ProjectionVerify>(&ProjectionsParams::default());
        assert!(verified.ok, "{verified:#?}");
        node.stop_daemon();
    }
    // The whole folder may go, also under a daemon that runs.
    node.up();
    get(&node, "queue");
    fs::remove_dir_all(node.state_dir().join("projections")).unwrap();
    let params = ProjectionsParams { projection: Some("queue".to_owned()), target: Some(Target::agent("a")) };
    let rebuilt = node.connect().call::<ProjectionRebuild>(&params);
    let [Rebuilt { equal, events, digest, .. }] = rebuilt.items.as_slice() else { panic!("{rebuilt:?}") };
    assert!(*equal && *events >= 200);
    assert_eq!(before[1]["digest"], digest.as_str());
    eventually("it is kept again", || checkpoints(&node).len() == 1);
}
