//! Measures an inbox in which very much waits against an empty one: how long an acceptance takes, the look for the
//! next message, and its injection.
//!
//! Prints one line of JSON per inbox and what the full one costs in memory. Arguments: a directory on the disk to be
//! measured (default: the directory for temporary files), the messages that wait (default: 1,000,000), from how many
//! senders (default: 1; a few others always send beside them) and the rounds (default: 2,000). The inboxes stand in two
//! records whose rounds alternate, because a disk is not the same from one minute to the next.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "the lines are the result")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock itself")]

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use edgeplane_store::{Batch, Body, NewEvent, Options, Store};
use edgeplane_testkit::sample;
use edgeplane_types::{
    AgentId, Authority, Envelope, Epoch, EventId, Evidence, Fact, MessageId, SafeLabel, StreamName,
    Timestamp, fact::Actor,
};

type Failed = Box<dyn Error + Send + Sync>;

/// Messages accepted at once while an inbox is filled.
const FILL_AT_ONCE: u64 = 1_000;

/// Senders of the measured messages.
const OTHERS: u64 = 5;

/// A record with one agent's inbox, and what was measured of it.
struct Inbox {
    store: Store,
    path: PathBuf,
    made: u64,
    accept: Vec<Duration>,
    next: Vec<Duration>,
    inject: Vec<Duration>,
}

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let mut number = |standard| arguments.next().map_or(Ok(standard), |text| text.parse::<u64>());
    let (waiting, senders, rounds) = (number(1_000_000)?, number(1)?, number(2_000)?);
    let dir = parent.join(format!("inbox-bench-{}", std::process::id()));
    let mut empty = Inbox::open(&dir.join("empty"))?;
    let mut full = Inbox::open(&dir.join("full"))?;

    let before = memory()?;
    let took = full.fill(waiting, senders)?;
    println!(
        "{{\"name\":\"fill\",\"waiting\":{waiting},\"senders\":{senders},\"took_ms\":{},\"database_bytes\":{}}}",
        took.as_millis(),
        std::fs::metadata(full.path.join("record.db"))?.len(),
    );
    for _ in 0..rounds {
        empty.round()?;
        full.round()?;
    }
    let after = memory()?;
    let ratio = empty.report("empty")?.max(1);
    let slower = full.report("full")? * 100 / ratio;
    println!("{{\"name\":\"accept p50, full by empty\",\"percent\":{slower}}}");
    println!(
        "{{\"name\":\"memory\",\"before_kib\":{},\"after_kib\":{},\"peak_kib\":{}}}",
        before.0, after.0, after.1
    );
    empty.store.close();
    full.store.close();
    Ok(std::fs::remove_dir_all(&dir)?)
}

impl Inbox {
    fn open(path: &Path) -> Result<Self, Failed> {
        std::fs::create_dir_all(path)?;
        let (store, _) = Store::open(path, &Options::STANDARD)?;
        let (accept, next, inject) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { store, path: path.to_owned(), made: 0, accept, next, inject })
    }

    /// Lets messages wait, from senders in turn.
    fn fill(&mut self, waiting: u64, senders: u64) -> Result<Duration, Failed> {
        let begin = Instant::now();
        let mut left = waiting;
        while left > 0 {
            let count = left.min(FILL_AT_ONCE);
            let mut batch = Batch::default();
            for _ in 0..count {
                let sender = format!("flood-{}", self.made % senders.max(1));
                self.message(&mut batch, &sender);
            }
            self.store.append(batch)?;
            left -= count;
        }
        Ok(begin.elapsed())
    }

    /// Accepts a message, looks for the next one, and injects that: as much waits after as before.
    fn round(&mut self) -> Result<(), Failed> {
        let mut batch = Batch::default();
        let sender = format!("other-{}", self.made % OTHERS);
        self.message(&mut batch, &sender);
        let begin = Instant::now();
        self.store.append(batch)?;
        self.accept.push(begin.elapsed());

        let begin = Instant::now();
        let found = self.store.reader().next_waiting(&agent(), 1)?;
        self.next.push(begin.elapsed());
        let message_id = found.first().ok_or("nothing waits")?.envelope.id;

        let fact = Fact::MessageInjected { message_id, epoch: Epoch(1), evidence: Evidence::Shim };
        let event = self.event(fact);
        let begin = Instant::now();
        self.store.append(Batch { events: vec![event], ..Batch::default() })?;
        self.inject.push(begin.elapsed());
        Ok(())
    }

    /// Prints what was measured; gives the middle acceptance in microseconds.
    fn report(&mut self, name: &str) -> Result<u128, Failed> {
        let waiting = self.store.reader().waiting_count(&agent())?;
        let of = |times: &mut Vec<Duration>| {
            times.sort_unstable();
            let at = |percent: usize| times.get(times.len() * percent / 100).map_or(0, Duration::as_micros);
            (at(50), at(99))
        };
        let (accept, next, inject) = (of(&mut self.accept), of(&mut self.next), of(&mut self.inject));
        println!(
            "{{\"name\":\"{name}\",\"waiting\":{waiting},\"accept_p50_us\":{},\"accept_p99_us\":{},\
             \"next_waiting_p50_us\":{},\"next_waiting_p99_us\":{},\"inject_p50_us\":{},\"inject_p99_us\":{}}}",
            accept.0, accept.1, next.0, next.1, inject.0, inject.1
        );
        Ok(accept.0)
    }

    fn event(&mut self, fact: Fact) -> NewEvent {
        self.made += 1;
        NewEvent {
            id: EventId::from_parts(self.made, random(self.made)),
            stream: StreamName::Agent(agent()),
            ts: Timestamp::from_micros(1_795_253_400_123_456),
            actor: Actor::Node { rule: SafeLabel::sanitized("bench") },
            cause: None,
            consumed: None,
            trace: None,
            fact,
        }
    }

    fn message(&mut self, batch: &mut Batch, sender: &str) {
        let id = MessageId::from_parts(self.made, random(self.made));
        let body =
            Body::new(format!("{{\"type\":\"text\",\"text\":\"message {}\"}}", self.made).into_bytes());
        let envelope = Envelope {
            id,
            target: agent(),
            source: sample::source(sender),
            authority: Authority::Advisory,
            idempotency_key: Some(id.to_string()),
            content_digest: body.digest().to_string(),
            content_bytes: body.bytes().len() as u64,
            ..sample::envelope()
        };
        batch.bodies.push(body);
        let event = self.event(Fact::MessageAccepted { envelope: Box::new(envelope) });
        batch.events.push(event);
    }
}

fn agent() -> AgentId {
    AgentId::from_parts(1, [1; 10])
}

fn random(number: u64) -> [u8; 10] {
    let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
    [a, b, c, d, e, f, g, h, 0, 0]
}

/// What the process has in memory, now and at its peak, in KiB.
fn memory() -> Result<(u64, u64), Failed> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    Ok((of("VmRSS:"), of("VmHWM:")))
}
