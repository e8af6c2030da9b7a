//! A store killed at any moment has everything that it acknowledged.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use edgeplane_store::{Batch, Body, Reader, Store};
use edgeplane_types::fact::MemoryPut;
use edgeplane_types::{Epoch, EventId, Fact, StreamName};

use crate::support::{Maker, OPTIONS, agent, assert_sound, node, note, open};

/// Names the directory to the child.
const DIRECTORY: &str = "EDGEPLANE_TEST_CRASH_DIRECTORY";

/// Gives the seed of a run that is to be repeated.
const SEED: &str = "EDGEPLANE_TEST_SEED";

const KILLS: u64 = 30;

const WRITERS: u8 = 4;

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn batch(maker: &Maker, writer: u8, number: u64) -> Batch {
    let stream = StreamName::Agent(agent(writer + 1));
    let text = format!("{writer} {number}").repeat(20);
    let body = Body::new(text.into_bytes());
    let put = Fact::MemoryPut(MemoryPut {
        key: format!("key {}", number % 10),
        version: number + 1,
        value_digest: body.digest().to_string(),
        value_bytes: body.bytes().len() as u64,
        expires_at: None,
    });
    let gap = Fact::RecordingGap { epoch: Epoch(1), from_offset: 0, to_offset: 1, reason: "test".to_owned() };
    let events =
        vec![maker.event(stream, put), maker.event(node(), note(&"x".repeat(300))), maker.event(stream, gap)];
    Batch { events, bodies: vec![body], critical: false }
}

/// Appends until it is killed, and prints what is acknowledged. Does nothing unless the test below starts it.
#[test]
fn child_that_appends() {
    let Ok(dir) = std::env::var(DIRECTORY) else { return };
    let store = open(Path::new(&dir));
    let from = store.reader().head_pos().unwrap() + 1;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                let maker = Maker::from(from * 1_000 + u64::from(writer) * 1_000_000_000_000);
                for number in from.. {
                    let committed = store.append(batch(&maker, writer, number)).unwrap();
                    for event in committed.events {
                        println!(
                            "ack {} {} {} {}",
                            event.event.stream, event.event.seq, event.pos, event.event.id
                        );
                    }
                }
            });
        }
    });
}

fn acknowledged(line: &str) -> Option<(StreamName, u64, u64, EventId)> {
    // The harness may print before the first line.
    let mut words = line.trim_end().split("ack ").nth(1)?.split(' ');
    let parsed = (
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
        // A line cut by the kill has half an id.
        words.next()?.parse().ok()?,
    );
    Some(parsed)
}

/// Lets a child append, kills it after `lines` lines, and returns what it acknowledged.
fn kill_after(dir: &Path, lines: u64) -> Vec<(StreamName, u64, u64, EventId)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["crashing::child_that_appends", "--exact", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acks = Vec::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 0 {
        acks.extend(acknowledged(&line));
        if acks.len() as u64 == lines {
            child.kill().unwrap();
        }
        line.clear();
    }
    assert!(!child.wait().unwrap().success());
    assert!(acks.len() as u64 >= lines, "the child ended by itself");
    acks
}

/// Proves LIFE-018.
#[test]
fn killed_store_has_all_it_acknowledged_and_verifies() {
    let seed = std::env::var(SEED).ok().and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(1) | 1);
    println!("{SEED}={seed}");
    let mut numbers = Numbers(seed);
    let dir = tempfile::tempdir().unwrap();
    let mut total = 0;
    for round in 0..KILLS {
        let acks = kill_after(dir.path(), 1 + numbers.below(600));
        let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
        assert_eq!(opening.damaged, None, "round {round}");
        let reader = store.reader();
        for (stream, seq, pos, id) in &acks {
            let found = reader.events(stream, *seq, 1).unwrap();
            assert_eq!(
                (found[0].pos, found[0].event.seq, found[0].event.id),
                (*pos, *seq, *id),
                "round {round}"
            );
        }
        total += acks.len();
        // Whole batches only: three events each.
        assert_eq!(reader.head_pos().unwrap() % 3, 0, "round {round}");
    }
    let reader = Reader::open(dir.path()).unwrap();
    assert_sound(&reader);
    println!("{total} acknowledged events survived {KILLS} kills");
}
