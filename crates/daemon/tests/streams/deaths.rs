//! The daemon dies under its subscribers, again and again, at any moment.

use std::{
    sync::{Condvar, Mutex},
    time::Duration,
};

use edgeplane_testkit::{Connection, Node, random::Random, terminal};
use edgeplane_wire::{
    api::stream::{ProjectionsParams, SubscribeResult},
    catalogue::{ProjectionRebuild, ProjectionVerify},
};
use serde_json::{Value, json};

use super::talk::{Heard, Talk, agent, all, hear, put};

/// Deaths unless `EDGEPLANE_STREAM_DEATHS` says otherwise.
const DEATHS: u64 = 25;

/// Changes between two deaths, at most.
const CHANGES: u64 = 60;

/// How long nothing may happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// How far the writer and the daemons are.
#[derive(Debug, Default)]
struct Stage {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Now {
    written: u64,
    /// Daemons that came up after one that was killed.
    revived: u64,
    /// No daemon dies any more.
    calm: bool,
    /// The number of the last entry that each subscriber is to have.
    ends: Option<Vec<u64>>,
}

impl Stage {
    fn change(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.now.lock().unwrap());
        self.changed.notify_all();
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Now) -> bool) {
        let now = self.now.lock().unwrap();
        let (now, waited) = self.changed.wait_timeout_while(now, PATIENCE, |now| !is_so(now)).unwrap();
        assert!(!waited.timed_out(), "{what}: {now:?}");
    }

    fn revived(&self) -> u64 {
        self.now.lock().unwrap().revived
    }

    fn end(&self, subscriber: usize) -> Option<u64> {
        self.now.lock().unwrap().ends.as_ref().map(|ends| ends[subscriber])
    }
}

/// Makes a conversation, if anybody is there.
pub(crate) type Dial<'a> = dyn Fn() -> Option<Box<dyn Talk>> + Sync + 'a;

/// What subscribers of all kinds ask for.
fn subscribers() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "target": agent("a") }),
        json!({ "projection": "audit.chain" }),
        json!({ "projection": "audit.chain", "target": agent("a"), "types": ["chain.*"] }),
        json!({ "projection": "queue", "target": agent("a") }),
        json!({ "types": ["memory.*", "node.started"] }),
        json!({ "target": agent("a"), "max_inflight": 8 }),
    ]
}

/// What one subscriber was given, over all its conversations.
#[derive(Debug, Default)]
struct Given {
    entries: Vec<(u64, Value)>,
    cursor: Option<String>,
}

/// Takes what comes until its end is known and reached, over as many conversations as it takes.
fn follow(number: usize, params: &Value, dial: &Dial<'_>, stage: &Stage) -> Vec<(u64, Value)> {
    let mut given = Given::default();
    loop {
        let revived = stage.revived();
        if let Some(mut talk) = dial()
            && converse(number, params, talk.as_mut(), stage, &mut given)
        {
            return given.entries;
        }
        stage.wait("the next daemon", |now| now.revived > revived || now.calm);
    }
}

/// One conversation; true once everything was given.
fn converse(number: usize, params: &Value, talk: &mut dyn Talk, stage: &Stage, given: &mut Given) -> bool {
    let mut params = params.clone();
    params["heartbeat_ms"] = json!(100);
    match &given.cursor {
        Some(cursor) => params["cursor"] = json!(cursor),
        None => params["from"] = json!("start"),
    }
    let Ok(result) = talk.ask("stream/subscribe", params.clone()) else { return false };
    let result: SubscribeResult = serde_json::from_value(result).unwrap();
    let (is_filtered, is_counted) = (params.get("types").is_some(), params.get("max_inflight").is_some());
    let last = |given: &Given| given.entries.last().map_or(0, |entry| entry.0);
    assert_eq!(result.next_seq, last(given) + 1, "{params}");
    loop {
        if stage.end(number).is_some_and(|end| last(given) >= end) {
            return true;
        }
        let Ok(heard) = hear(talk) else { return false };
        let event = match heard {
            Heard::Event(event) => event,
            Heard::State(state) => {
                assert_ne!(state.state, "ended", "{params}: {state:?}");
                continue;
            }
        };
        if is_filtered {
            assert_eq!(event.prev_n, Some(last(given)), "{params}: a gap before {}", event.n);
        } else {
            assert_eq!(event.n, last(given) + 1, "{params}: a gap or a double");
        }
        given.cursor = Some(event.cursor);
        given.entries.push((event.n, event.event));
        if is_counted {
            let id = result.subscription_id.unwrap();
            let acked = talk.ask("stream/ack", json!({ "subscription_id": id, "n": last(given) }));
            let Ok(acked) = acked else { return false };
            assert_eq!(acked["acked"], last(given));
        }
    }
}

/// Writes until it is calm: memory and messages of the same agent.
fn write(dial: &Dial<'_>, stage: &Stage) {
    let mut number = 0;
    loop {
        let revived = stage.revived();
        if let Some(mut talk) = dial() {
            loop {
                if stage.now.lock().unwrap().calm {
                    return;
                }
                number += 1;
                let words =
                    json!({ "agent": "a", "parts": [{ "type": "text", "text": number.to_string() }] });
                let done = match number % 4 {
                    0 => talk.ask("runtime/agent.signal", words),
                    key => put(talk.as_mut(), "a", &format!("key-{key}"), number),
                };
                if done.is_err() {
                    break;
                }
                stage.change(|now| now.written += 1);
            }
        }
        stage.wait("the next daemon", |now| now.revived > revived || now.calm);
    }
}

/// Lets daemons die under subscribers that reach the node through `dial`; every one of them is given every entry once,
/// in order, without a gap. `dial` gives nothing while no daemon is there.
pub(crate) fn survive(node: &mut Node, dial: &Dial<'_>) {
    let deaths = std::env::var("EDGEPLANE_STREAM_DEATHS").map_or(DEATHS, |text| text.parse().unwrap());
    node.apply(&terminal("a", &["/bin/cat"], "run: stopped\ninbox: { max: 100000 }"));
    let mut random = Random::seeded("streams");
    let stage = Stage::default();
    let wanted = subscribers();
    let given: Vec<Vec<(u64, Value)>> = std::thread::scope(|scope| {
        let followers: Vec<_> = wanted
            .iter()
            .enumerate()
            .map(|(number, params)| {
                let stage = &stage;
                scope.spawn(move || follow(number, params, dial, stage))
            })
            .collect();
        let writer = scope.spawn(|| write(dial, &stage));
        for _ in 0..deaths {
            let due = stage.now.lock().unwrap().written + random.below(CHANGES);
            stage.wait("something is written", |now| now.written >= due);
            node.kill_daemon();
            node.up();
            stage.change(|now| now.revived += 1);
        }
        stage.change(|now| now.calm = true);
        writer.join().unwrap();
        let ends = wanted.iter().map(|params| all(node, &read(params)).last().unwrap().0).collect();
        stage.change(|now| now.ends = Some(ends));
        followers.into_iter().map(|follower| follower.join().unwrap()).collect()
    });
    for (params, given) in wanted.iter().zip(&given) {
        let expected = all(node, &read(params));
        assert_eq!(given.len(), expected.len(), "{params}");
        for (given, expected) in given.iter().zip(&expected) {
            assert_eq!(given, expected, "{params}");
        }
    }
}

/// The same, to be read.
fn read(params: &Value) -> Value {
    let mut params = params.clone();
    params.as_object_mut().unwrap().remove("max_inflight");
    params
}

/// Proves STRM-001, STRM-002, STRM-004, STRM-006, STRM-019.
#[test]
fn every_entry_comes_once_in_order_however_often_daemons_die() {
    let mut node = Node::start();
    let socket = node.socket();
    let dial = || Connection::open(&socket).ok().map(|connection| Box::new(connection) as Box<dyn Talk>);
    survive(&mut node, &dial);
    // What was folded on over all those deaths is what the record makes of it at once.
    let verified = node.connect().call::<ProjectionVerify>(&ProjectionsParams::default());
    assert!(verified.ok && verified.items.len() > 3, "{verified:#?}");
    let rebuilt = node.connect().call::<ProjectionRebuild>(&ProjectionsParams::default());
    assert!(rebuilt.items.iter().all(|item| item.equal), "{rebuilt:#?}");
    node.verify();
}
