//! Many messages to many agents while daemons die: the numbers by rung add up to what was acknowledged, and each word is
//! heard once.
//!
//! `EDGEPLANE_FLOOD` says how many messages there are.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::{Condvar, Mutex},
    time::Duration,
};

use edgeplane_testkit::{Connection, Node, native, random::Random, wait::eventually};
use edgeplane_types::MessageId;
use edgeplane_wire::{
    api::{Empty, message::SignalResult},
    catalogue::NodeStatus,
    rpc::{self, Id, Incoming},
};
use serde_json::json;

/// Messages unless `EDGEPLANE_FLOOD` says otherwise: enough that every daemon dies in the middle of many.
const MESSAGES: usize = 10_000;

const AGENTS: usize = 100;

/// Each tenth agent is stopped.
const STOPPED: usize = 10;

const SENDERS: usize = 8;

/// Messages that a sender has on its way at a time.
const AT_ONCE: usize = 32;

/// Daemons that die.
const DEATHS: u64 = 12;

/// How long nothing may happen.
const PATIENCE: Duration = Duration::from_secs(60);

fn is_stopped(agent: usize) -> bool {
    agent.is_multiple_of(STOPPED)
}

fn name(agent: usize) -> String {
    format!("agent-{agent}")
}

fn token(number: usize) -> String {
    format!("<word {number}>")
}

/// How far it has come, for those who wait for that.
#[derive(Debug, Default)]
struct Tally {
    now: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
struct Progress {
    acknowledged: u64,
    /// Daemons that came up after one that was killed.
    revived: u64,
}

impl Tally {
    fn change(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.now.lock().unwrap());
        self.changed.notify_all();
    }

    fn now(&self) -> Progress {
        *self.now.lock().unwrap()
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Progress) -> bool) {
        let now = self.now.lock().unwrap();
        let (now, waited) = self.changed.wait_timeout_while(now, PATIENCE, |now| !is_so(now)).unwrap();
        assert!(!waited.timed_out(), "{what}: {now:?}");
    }
}

/// Says the words whose numbers leave `sender` as the rest, until each is acknowledged, and gives their ids.
fn send(socket: &Path, sender: usize, total: usize, tally: &Tally) -> HashMap<usize, MessageId> {
    let mut open: Vec<usize> = (0..total).filter(|number| number % SENDERS == sender).rev().collect();
    let mut ids = HashMap::with_capacity(open.len());
    while !open.is_empty() {
        let revived = tally.now().revived;
        if let Ok(mut connection) = Connection::open(socket) {
            while !open.is_empty() {
                let batch: Vec<usize> = open.iter().rev().take(AT_ONCE).copied().collect();
                let answered = exchange(&mut connection, &batch, &mut ids);
                tally.change(|now| now.acknowledged += answered.len() as u64);
                open.retain(|number| !answered.contains(number));
                if answered.len() < batch.len() {
                    break;
                }
            }
        }
        if !open.is_empty() {
            tally.wait("the next daemon", |now| now.revived > revived);
        }
    }
    ids
}

/// Sends words and gives those that were acknowledged before the daemon died, if it did.
fn exchange(connection: &mut Connection, batch: &[usize], ids: &mut HashMap<usize, MessageId>) -> Vec<usize> {
    let mut answered = Vec::with_capacity(batch.len());
    for number in batch {
        let params = json!({
            "agent": name(number % AGENTS),
            "parts": [{ "type": "text", "text": token(*number) }],
            "idempotency_key": token(*number),
        });
        let id = Id::Number((*number).try_into().unwrap());
        if connection.send(&rpc::request(&id, "runtime/agent.signal", &params)).is_err() {
            break;
        }
    }
    while answered.len() < batch.len() {
        match connection.read() {
            Ok(Incoming::Response { id: Id::Number(number), outcome }) => {
                let number = usize::try_from(number).unwrap();
                let result: SignalResult = serde_json::from_str(outcome.unwrap().get()).unwrap();
                let before = ids.insert(number, result.message_id);
                assert!(before.is_none_or(|before| before == result.message_id));
                answered.push(number);
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => break,
        }
    }
    answered
}

/// Kills daemons while words are said, at moments spread over all of them.
fn die(node: &mut Node, random: &mut Random, total: usize, tally: &Tally) {
    let share = total as u64 / (DEATHS + 1);
    for death in 0..DEATHS {
        let due = death * share + random.below(share);
        tally.wait("words are acknowledged", |now| now.acknowledged >= due);
        node.kill_daemon();
        node.up();
        tally.change(|now| now.revived += 1);
    }
}

/// How often each word stands in a file.
fn heard(path: &Path) -> HashMap<usize, usize> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut found = HashMap::new();
    for line in text.lines().filter(|line| line.contains("agent/message.deliver")) {
        let number = line.split("<word ").nth(1).unwrap().split('>').next().unwrap();
        *found.entry(number.parse().unwrap()).or_default() += 1;
    }
    found
}

#[test]
fn numbers_by_rung_add_up_however_often_daemons_die() {
    let total = std::env::var("EDGEPLANE_FLOOD").map_or(MESSAGES, |text| text.parse().unwrap());
    let mut node = Node::start();
    let mut random = Random::seeded("flood");
    let hears = |agent: usize| node.scratch().join(name(agent));
    for agent in 0..AGENTS {
        let program = format!("exec cat >> {}", hears(agent).display());
        let run = if is_stopped(agent) { "run: stopped\n" } else { "" };
        let more = format!("{run}inbox: {{ max: 100000 }}");
        node.apply(&native(&name(agent), &["/bin/sh", "-c", &program], &more));
    }
    let paths: Vec<_> = (0..AGENTS).map(hears).collect();

    let (socket, tally) = (node.socket(), Tally::default());
    let ids = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let (socket, tally) = (&socket, &tally);
                scope.spawn(move || send(socket, sender, total, tally))
            })
            .collect();
        die(&mut node, &mut random, total, &tally);
        let all = senders.into_iter().map(|sender| sender.join().unwrap());
        all.reduce(|mut ids, more| {
            ids.extend(more);
            ids
        })
    });
    let ids = ids.unwrap();
    assert_eq!(ids.len(), total);

    let to_stopped = (0..total).filter(|number| is_stopped(number % AGENTS)).count() as u64;
    let expected = BTreeMap::from([
        ("accepted".to_owned(), to_stopped),
        ("injected".to_owned(), total as u64 - to_stopped),
    ]);
    let mut before = None;
    loop {
        let mut messages = BTreeMap::new();
        eventually("more is settled", || {
            messages = node.connect().call::<NodeStatus>(&Empty {}).messages;
            assert_eq!(messages.values().sum::<u64>(), total as u64, "{messages:?}");
            before.as_ref() != Some(&messages)
        });
        if messages == expected {
            break;
        }
        before = Some(messages);
    }
    let per_agent = (total / AGENTS) as u64;
    for (agent, path) in paths.iter().enumerate() {
        let rung = if is_stopped(agent) { "accepted" } else { "injected" };
        let status = node.get(&name(agent)).status;
        assert_eq!(status.messages, BTreeMap::from([(rung.to_owned(), per_agent)]), "{agent}");
        let meant: usize = if is_stopped(agent) { 0 } else { total / AGENTS };
        let mut found = HashMap::new();
        eventually("the program has read it", || {
            found = heard(path);
            found.len() == meant
        });
        assert!(
            found.iter().all(|(number, times)| number % AGENTS == agent && *times == 1),
            "{agent}: {found:?}"
        );
    }
    node.verify();
}
