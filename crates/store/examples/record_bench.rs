//! Measures the record: durable events per second, and how long one append takes.
//!
//! `scan DIR` reads the record in a folder once and prints how fast. Otherwise it prints one line of JSON per measurement. Arguments: a directory on the disk to be measured (default: the directory
//! for temporary files), the seconds per measurement (default: 3), and the only measurement wanted, such as
//! `record/16` (default: all). `sqlite` is a bare table with the same bytes, settings and grouping of commits: what the
//! record can at most reach.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the lines are the result")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock itself")]

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::{Arc, Barrier, mpsc},
    thread,
    time::{Duration, Instant},
};

use edgeplane_proof::{canonical, digest};
use edgeplane_store::{Batch, NewEvent, Options, Reader, Store};
use edgeplane_testkit::sample;
use edgeplane_types::{
    AgentId, Authority, Envelope, Epoch, EventId, Evidence, Fact, MessageId, SafeLabel, StreamName,
    Timestamp, fact::Actor,
};
use rusqlite::Connection;

type Failed = Box<dyn Error + Send + Sync>;

/// Bytes of an event, as in the reference measurements.
const EVENT_BYTES: usize = 512;

/// Appends one event and waits until it is durable; gets the writer's number and the event's.
type Append = Arc<dyn Fn(u8, u64) -> Result<(), Failed> + Send + Sync>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|word| word == "scan").is_some() {
        return scan(Path::new(&arguments.next().ok_or("no folder of a record")?));
    }
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let seconds = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let time = Duration::from_secs(seconds);
    let only = arguments.next();
    let wanted =
        |name: &str, writers: u8| only.as_ref().is_none_or(|only| *only == format!("{name}/{writers}"));
    let dir = parent.join(format!("record-bench-{}", std::process::id()));
    // Each beside its reference, because a disk is not the same from one minute to the next.
    for writers in [1, 16] {
        if wanted("sqlite", writers) {
            fresh(&dir)?;
            let (append, thread) = sqlite(&dir)?;
            measure("sqlite", writers, time, &append)?;
            drop(append);
            thread.join().map_err(|_panic| "the reference's writer panicked")??;
        }
        let makes = [("record", bare as fn(u8, u64) -> Batch), ("record with models", message)];
        for (name, make) in makes {
            let is_asked = writers == 16 || name == "record";
            if !is_asked || !wanted(name, writers) {
                continue;
            }
            fresh(&dir)?;
            let (store, _) = Store::open(&dir, &Options::STANDARD)?;
            let appending = store.clone();
            let append: Append = Arc::new(move |writer, number| {
                appending.append(make(writer, number))?;
                Ok(())
            });
            measure(name, writers, time, &append)?;
            drop(append);
            store.close();
        }
    }
    measure_canonical();
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}

/// Reads every event of a record as it is stored, and prints how many a second.
fn scan(dir: &Path) -> Result<(), Failed> {
    let reader = Reader::open(dir)?;
    let (begin, mut from) = (Instant::now(), 1);
    loop {
        let found = reader.raw_events(None, from, 1_000)?;
        let Some(last) = found.last() else { break };
        from = last.pos + 1;
    }
    let rate = u128::from(from - 1) * 1_000_000 / begin.elapsed().as_micros().max(1);
    println!("{{\"name\":\"scan\",\"events_per_s\":{rate}}}");
    Ok(())
}

fn fresh(dir: &Path) -> Result<(), Failed> {
    if dir.exists() {
        std::fs::remove_dir_all(dir)?;
    }
    Ok(std::fs::create_dir_all(dir)?)
}

fn measure(name: &str, writers: u8, time: Duration, append: &Append) -> Result<(), Failed> {
    let start = Arc::new(Barrier::new(usize::from(writers)));
    let threads: Vec<_> = (0..writers)
        .map(|writer| {
            let (start, append) = (Arc::clone(&start), Arc::clone(append));
            thread::spawn(move || -> Result<(Vec<u128>, Duration), Failed> {
                start.wait();
                let (begin, mut took) = (Instant::now(), Vec::new());
                while begin.elapsed() < time {
                    let before = Instant::now();
                    append(writer, took.len() as u64)?;
                    took.push(before.elapsed().as_micros());
                }
                Ok((took, begin.elapsed()))
            })
        })
        .collect();
    let (mut took, mut longest) = (Vec::new(), Duration::ZERO);
    for thread in threads {
        let (times, lasted) = thread.join().map_err(|_panic| "a writer panicked")??;
        took.extend(times);
        longest = longest.max(lasted);
    }
    took.sort_unstable();
    let at = |percent: usize| took.get(took.len() * percent / 100).copied().unwrap_or(0);
    let rate = took.len() as u128 * 1_000_000 / longest.as_micros().max(1);
    println!(
        "{{\"name\":\"{name}\",\"writers\":{writers},\"events_per_s\":{rate},\"p50_us\":{},\"p99_us\":{}}}",
        at(50),
        at(99)
    );
    Ok(())
}

fn measure_canonical() {
    let event = bare(1, 1).events.into_iter().next();
    let (begin, rounds) = (Instant::now(), 300_000_u32);
    let mut canonicalizer = canonical::Canonicalizer::default();
    let written: usize = (0..rounds).filter_map(|_| canonicalizer.write(&event).ok().map(<[u8]>::len)).sum();
    let rate = u128::from(rounds) * 1_000_000 / begin.elapsed().as_micros().max(1);
    println!("{{\"name\":\"canonical\",\"bytes\":{},\"events_per_s\":{rate}}}", written / rounds as usize);
}

fn agent(writer: u8) -> AgentId {
    AgentId::from_parts(1, [writer; 10])
}

fn random(writer: u8, number: u64) -> [u8; 10] {
    let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
    [writer, a, b, c, d, e, f, g, h, 0]
}

fn batch(writer: u8, number: u64, fact: Fact) -> Batch {
    let event = NewEvent {
        id: EventId::from_parts(number, random(writer, number)),
        stream: StreamName::Agent(agent(writer)),
        ts: Timestamp::from_micros(1_795_253_400_123_456),
        actor: Actor::Node { rule: SafeLabel::sanitized("bench") },
        cause: None,
        consumed: None,
        trace: None,
        fact,
    };
    Batch { events: vec![event], bodies: Vec::new(), critical: false }
}

/// An event that no model folds, of [`EVENT_BYTES`].
fn bare(writer: u8, number: u64) -> Batch {
    let kind = |length: usize| SafeLabel::sanitized(&"x".repeat(length));
    let body_digest = "0".repeat(64);
    // What the rest of the event takes, the number in the stream included.
    let padding = EVENT_BYTES.saturating_sub(395);
    batch(
        writer,
        number,
        Fact::ItemReported {
            epoch: Epoch(1),
            kind: kind(padding),
            body_digest,
            body_bytes: 100,
            message_id: None,
            authority: None,
        },
    )
}

/// An acceptance and an injection in turn.
fn message(writer: u8, number: u64) -> Batch {
    let message_id = MessageId::from_parts(number / 2, random(writer, number / 2));
    if number % 2 == 1 {
        let evidence = Evidence::Shim;
        return batch(writer, number, Fact::MessageInjected { message_id, epoch: Epoch(1), evidence });
    }
    let envelope = Envelope {
        id: message_id,
        target: agent(writer),
        source: sample::source("bench"),
        authority: Authority::Advisory,
        content_bytes: 100,
        ..sample::envelope()
    };
    batch(writer, number, Fact::MessageAccepted { envelope: Box::new(envelope) })
}

struct Row {
    writer: u8,
    number: u64,
    payload: Vec<u8>,
    done: mpsc::SyncSender<()>,
}

/// The reference: one thread that writes rows into a table with an index, all that wait in one commit.
fn sqlite(dir: &Path) -> Result<(Append, thread::JoinHandle<Result<(), Failed>>), Failed> {
    let conn = Connection::open(dir.join("bare.db"))?;
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
         CREATE TABLE event (pos INTEGER PRIMARY KEY, agent INTEGER, seq INTEGER, payload BLOB, hash BLOB);
         CREATE UNIQUE INDEX event_of_agent ON event (agent, seq);",
    )?;
    let (sender, receiver) = mpsc::sync_channel::<Row>(4_096);
    let thread = thread::spawn(move || -> Result<(), Failed> {
        while let Ok(first) = receiver.recv() {
            let rows: Vec<Row> = std::iter::once(first).chain(receiver.try_iter().take(1_023)).collect();
            conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for row in &rows {
                let hash = digest(&row.payload);
                conn.prepare_cached("INSERT INTO event (agent, seq, payload, hash) VALUES (?1, ?2, ?3, ?4)")?
                    .execute((row.writer, i64::try_from(row.number)?, &row.payload, hash.as_bytes()))?;
            }
            conn.prepare_cached("COMMIT")?.execute([])?;
            for row in rows {
                row.done.send(())?;
            }
        }
        Ok(())
    });
    let append: Append = Arc::new(move |writer, number| {
        let (done, wait) = mpsc::sync_channel(1);
        sender.send(Row { writer, number, payload: vec![writer; EVENT_BYTES], done })?;
        Ok(wait.recv()?)
    });
    Ok((append, thread))
}
