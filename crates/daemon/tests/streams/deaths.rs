//! The daemon dies under its subscribers, again and again, at any moment, whichever way they reach it.

use std::{
    sync::{Condvar, Mutex},
    time::Duration,
};

use edgeplane_testkit::{
    Connection, Node, NodeOptions, binding, binding::Access, random::Random, terminal, wait::eventually,
};
use edgeplane_types::{ErrorName, Scope};
use edgeplane_wire::{
    api::stream::{ProjectionsParams, SubscribeResult},
    catalogue::{ProjectionRebuild, ProjectionVerify},
};
use serde_json::{Value, json};

use super::talk::{Browser, Heard, Talk, agent, all, hear, put};

/// Deaths unless `EDGEPLANE_STREAM_DEATHS` says otherwise.
const DEATHS: u64 = 25;

/// Changes between two deaths, at most.
const CHANGES: u64 = 60;

/// What a daemon logs once it serves the protocol over HTTP.
const SERVED: &str = "the protocol over HTTP is served url=";

/// How long nothing may happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// How far the writer and the daemons are.
#[derive(Debug)]
struct Stage {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Debug)]
struct Now {
    /// Where the newest daemon is reached.
    access: Access,
    written: u64,
    /// Daemons that came up after one that was killed.
    revived: u64,
    /// No daemon dies any more.
    calm: bool,
    /// The number of the last entry that a subscriber of each kind is to have.
    ends: Option<Vec<u64>>,
}

impl Now {
    fn new(access: Access) -> Self {
        Self { access, written: 0, revived: 0, calm: false, ends: None }
    }
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

    /// How many daemons came up after one that was killed, and where the newest is.
    fn latest(&self) -> (u64, Access) {
        let now = self.now.lock().unwrap();
        (now.revived, now.access.clone())
    }

    /// The last entry of a kind, once it is known.
    fn end(&self, kind: usize) -> Option<u64> {
        self.now.lock().unwrap().ends.as_ref().map(|ends| ends[kind])
    }
}

/// How a node is reached.
struct Way {
    name: &'static str,
    /// Makes a conversation, if anybody is there.
    dial: fn(&Access) -> Option<Box<dyn Talk>>,
    /// Whether what was given can be acknowledged.
    is_answered: bool,
}

/// Every way over which events come.
const WAYS: [Way; 4] = [
    Way {
        name: "unix",
        dial: |access| {
            let connection = Connection::open(&access.socket).ok()?;
            Some(Box::new(connection))
        },
        is_answered: true,
    },
    Way { name: "sse", dial: |access| Some(Box::new(Browser::new(access.clone()))), is_answered: false },
    Way { name: "ws", dial: |access| Some(Box::new(binding::Talk::over_socket(access)?)), is_answered: true },
    Way {
        name: "stdio",
        dial: |access| Some(Box::new(binding::Talk::over_stdio(access)?)),
        is_answered: true,
    },
];

/// What subscribers of all kinds ask for.
fn kinds() -> [Value; 7] {
    [
        json!({}),
        json!({ "target": agent("a") }),
        json!({ "projection": "audit.chain" }),
        json!({ "projection": "audit.chain", "target": agent("a"), "types": ["chain.*"] }),
        json!({ "projection": "queue", "target": agent("a") }),
        json!({ "types": ["memory.*", "node.started"] }),
        json!({ "target": agent("a"), "max_inflight": 8 }),
    ]
}

/// Somebody who follows over one way.
struct Subscriber<'a> {
    way: &'a Way,
    params: &'a Value,
    /// Which of the kinds it is.
    kind: usize,
}

impl std::fmt::Display for Subscriber<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} over {}", self.params, self.way.name)
    }
}

/// What one subscriber was given, over all its conversations.
#[derive(Debug, Default)]
struct Given {
    entries: Vec<(u64, Value)>,
    cursor: Option<String>,
    /// Conversations that were cut off after something was given in them.
    cuts: u64,
}

impl Given {
    fn last(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.0)
    }
}

/// Takes what comes until its end is known and reached, over as many conversations as it takes.
fn follow(subscriber: &Subscriber<'_>, stage: &Stage) -> Given {
    let mut given = Given::default();
    loop {
        let (revived, access) = stage.latest();
        let before = given.entries.len();
        if let Some(mut talk) = (subscriber.way.dial)(&access)
            && converse(subscriber, talk.as_mut(), stage, &mut given)
        {
            return given;
        }
        given.cuts += u64::from(given.entries.len() > before);
        stage.wait("the next daemon", |now| now.revived > revived || now.calm);
    }
}

/// One conversation; true once everything was given.
fn converse(subscriber: &Subscriber<'_>, talk: &mut dyn Talk, stage: &Stage, given: &mut Given) -> bool {
    let mut params = subscriber.params.clone();
    params["heartbeat_ms"] = json!(100);
    match &given.cursor {
        Some(cursor) => params["cursor"] = json!(cursor),
        None => params["from"] = json!("start"),
    }
    let result = match talk.ask("stream/subscribe", params.clone()) {
        Ok(result) => result,
        Err(error) => {
            assert_eq!(error.name(), ErrorName::Unavailable, "{subscriber}: {error}");
            return false;
        }
    };
    let result: SubscribeResult = serde_json::from_value(result).unwrap();
    let (is_filtered, is_counted) = (params.get("types").is_some(), params.get("max_inflight").is_some());
    assert_eq!(result.next_seq, given.last() + 1, "{subscriber}");
    loop {
        if stage.end(subscriber.kind).is_some_and(|end| given.last() >= end) {
            return true;
        }
        let Ok(heard) = hear(talk) else { return false };
        let event = match heard {
            Heard::Event(event) => event,
            Heard::State(state) => {
                assert_ne!(state.state, "ended", "{subscriber}: {state:?}");
                continue;
            }
        };
        if is_filtered {
            assert_eq!(event.prev_n, Some(given.last()), "{subscriber}: a gap before {}", event.n);
        } else {
            assert_eq!(event.n, given.last() + 1, "{subscriber}: a gap or a double");
        }
        given.cursor = Some(event.cursor);
        given.entries.push((event.n, event.event));
        if is_counted {
            let id = result.subscription_id.unwrap();
            let acked = talk.ask("stream/ack", json!({ "subscription_id": id, "n": given.last() }));
            let Ok(acked) = acked else { return false };
            assert_eq!(acked["acked"], given.last());
        }
    }
}

/// Writes until it is calm: memory and messages of the same agent.
fn write(stage: &Stage) {
    let mut number = 0;
    loop {
        let (revived, access) = stage.latest();
        if let Some(mut talk) = (WAYS[0].dial)(&access) {
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

/// A daemon after one that was killed, that serves over HTTP as well.
fn revive(node: &mut Node, daemons: usize) -> String {
    node.up();
    eventually("the protocol over HTTP is served again", || node.log().matches(SERVED).count() == daemons);
    node.http_address()
}

/// Lets daemons die under subscribers of each kind over each way; every one of them is given every entry once, in order,
/// without a gap.
fn survive(node: &mut Node, access: Access, deaths: u64) {
    node.apply(&terminal("a", &["/bin/cat"], "run: stopped\ninbox: { max: 100000 }"));
    let mut random = Random::seeded("streams");
    let stage = Stage { now: Mutex::new(Now::new(access)), changed: Condvar::new() };
    let kinds = kinds();
    let all_kinds = || kinds.iter().enumerate();
    let each = |way| all_kinds().map(move |(kind, params)| Subscriber { way, params, kind });
    let mut subscribers: Vec<Subscriber<'_>> = WAYS.iter().flat_map(each).collect();
    subscribers.retain(|one| one.way.is_answered || one.params.get("max_inflight").is_none());
    let given: Vec<Given> = std::thread::scope(|scope| {
        let stage = &stage;
        let followers: Vec<_> =
            subscribers.iter().map(|subscriber| scope.spawn(move || follow(subscriber, stage))).collect();
        let writer = scope.spawn(move || write(stage));
        for death in 1..=deaths {
            let due = stage.now.lock().unwrap().written + random.below(CHANGES);
            stage.wait("something is written", |now| now.written >= due);
            node.kill_daemon();
            let address = revive(node, usize::try_from(death).unwrap() + 1);
            stage.change(|now| {
                now.revived += 1;
                now.access.address = address;
            });
        }
        stage.change(|now| now.calm = true);
        writer.join().unwrap();
        let ends = kinds.iter().map(|params| all(node, &read(params)).last().unwrap().0).collect();
        stage.change(|now| now.ends = Some(ends));
        followers.into_iter().map(|follower| follower.join().unwrap()).collect()
    });
    for (kind, params) in all_kinds() {
        let expected = all(node, &read(params));
        let of_it = subscribers.iter().zip(&given).filter(|(subscriber, _)| subscriber.kind == kind);
        for (subscriber, given) in of_it {
            assert_eq!(given.entries.len(), expected.len(), "{subscriber}");
            for (given, expected) in given.entries.iter().zip(&expected) {
                assert_eq!(given, expected, "{subscriber}");
            }
        }
    }
    for way in &WAYS {
        let of_it = subscribers.iter().zip(&given).filter(|(subscriber, _)| subscriber.way.name == way.name);
        let (cuts, entries) = of_it
            .fold((0, 0), |(cuts, entries), (_, given)| (cuts + given.cuts, entries + given.entries.len()));
        println!("{}: {entries} entries, cut off {cuts} times in the middle over {deaths} deaths", way.name);
        assert!(cuts >= deaths, "{}: nobody was there when daemons died: {cuts} of {deaths}", way.name);
    }
}

/// The same, to be read.
fn read(params: &Value) -> Value {
    let mut params = params.clone();
    params.as_object_mut().unwrap().remove("max_inflight");
    params
}

/// Proves PROT-003, STRM-001, STRM-002, STRM-004, STRM-006, STRM-019, BIND-031.
#[test]
fn every_entry_comes_once_in_order_however_often_daemons_die() {
    let deaths = std::env::var("EDGEPLANE_STREAM_DEATHS").map_or(DEATHS, |text| text.parse().unwrap());
    let mut node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    let token = node.remote_token("reader", &[Scope::Read], &[]);
    let access = node.access(&token.token);
    survive(&mut node, access, deaths);
    // What was folded on over all those deaths is what the record makes of it at once.
    let verified = node.connect().call::<ProjectionVerify>(&ProjectionsParams::default());
    assert!(verified.ok && verified.items.len() > 3, "{verified:#?}");
    let rebuilt = node.connect().call::<ProjectionRebuild>(&ProjectionsParams::default());
    assert!(rebuilt.items.iter().all(|item| item.equal), "{rebuilt:#?}");
    node.verify();
}
