//! One projection of one target as its subscribers share it: its newest entries, written once.
//!
//! Entries are numbered without gaps. What is older than the newest few is not kept here: the record has it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use edgeplane_projection::{Input, Numbered, Running};
use edgeplane_store::RawEvent;
use edgeplane_types::{Event, StreamName};
use edgeplane_wire::api::stream::SnapshotView;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    cursor::Cursors,
    source::{Kind, Source},
};

/// Entries that are kept for subscribers that are not quite up to date.
const ENTRIES_MAX: usize = 4_096;

/// Bytes of those entries. The newest is kept whatever it has.
const ENTRY_BYTES_MAX: usize = 8 << 20;

/// What ends each notification behind its event.
const TAIL: &[u8] = b"}}\n";

/// An entry, written as every subscriber gets it behind the words about the subscription itself.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) n: u64,
    /// Its type, which may be asked for.
    pub(crate) kind: String,
    /// From `"target"` to the end of the line.
    pub(crate) tail: Arc<Vec<u8>>,
    event_at: usize,
}

impl Item {
    /// The event alone.
    pub(crate) fn event(&self) -> &[u8] {
        let end = self.tail.len().saturating_sub(TAIL.len());
        self.tail.get(self.event_at..end).unwrap_or_default()
    }
}

/// Writes entries of one projection of one target.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    about: String,
    cursors: Cursors,
}

impl Writer {
    pub(crate) fn of(source: &Source) -> Self {
        let target = serde_json::to_string(&source.subject.target).unwrap_or_default();
        let (name, version) = (source.kind.name(), source.kind.version());
        let about =
            format!("\"target\":{target},\"projection\":\"{name}\",\"projection_version\":{version},\"n\":");
        Self { about, cursors: Cursors::of(source) }
    }

    pub(crate) fn cursor(&self, n: u64) -> String {
        self.cursors.at(n)
    }

    fn item(&self, n: u64, kind: &str, event: [&[u8]; 2]) -> Arc<Item> {
        let length: usize = event.iter().map(|part| part.len()).sum();
        let mut tail = Vec::with_capacity(self.about.len().saturating_add(length).saturating_add(256));
        tail.extend_from_slice(self.about.as_bytes());
        tail.extend_from_slice(format!("{n},\"cursor\":\"{}\",\"event\":", self.cursor(n)).as_bytes());
        let event_at = tail.len();
        tail.extend(event.into_iter().flatten());
        tail.extend_from_slice(TAIL);
        Arc::new(Item { n, kind: kind.to_owned(), tail: Arc::new(tail), event_at })
    }

    /// An event of the log: the bytes as they are stored, with its place and its hash before them.
    pub(crate) fn logged(&self, n: u64, fed: &Fed) -> Arc<Item> {
        let place = format!("{{\"pos\":{},\"hash\":\"{}\",", fed.pos, fed.hash);
        // Canonical bytes of an event are an object with members.
        self.item(n, &fed.kind, [place.as_bytes(), fed.bytes.get(1..).unwrap_or_default()])
    }

    /// An entry of a fold.
    pub(crate) fn folded(&self, numbered: &Numbered) -> Arc<Item> {
        let json = numbered.json();
        self.item(numbered.n, numbered.entry.kind, [json.text().as_bytes(), b""])
    }
}

/// An event of the record, whichever way it came.
#[derive(Debug)]
pub(crate) struct Fed {
    pub(crate) pos: u64,
    pub(crate) seq: u64,
    pub(crate) stream: Option<StreamName>,
    pub(crate) kind: String,
    pub(crate) hash: String,
    /// Its canonical bytes, where a log wants them.
    pub(crate) bytes: Vec<u8>,
    /// The event, where a fold wants it; none if it is of a kind that only a newer program knows.
    pub(crate) event: Option<Arc<Event>>,
}

impl Fed {
    /// An event as it is stored, not looked into.
    pub(crate) fn stored(raw: RawEvent) -> Self {
        let RawEvent { pos, seq, kind, bytes, hash } = raw;
        Self { pos, seq, stream: None, kind, hash: hash.to_string(), bytes, event: None }
    }
}

/// One projection of one target.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) source: Source,
    pub(crate) writer: Writer,
    inner: Mutex<Inner>,
    /// The number of the newest entry.
    pub(crate) head: watch::Sender<u64>,
    /// The number in the source of the newest event that is in it.
    pub(crate) reached: watch::Sender<u64>,
    /// Cancelled when another takes its place.
    pub(crate) replaced: CancellationToken,
}

#[derive(Debug)]
struct Inner {
    /// The newest entry's number.
    n: u64,
    /// The newest event's number in the source.
    at: u64,
    running: Option<Running>,
    ring: VecDeque<Arc<Item>>,
    ring_bytes: usize,
    /// Events since the last checkpoint.
    unsaved: u64,
    users: usize,
    /// When its last user went, in milliseconds of the node's clock.
    idle_since: Option<u64>,
    retired: bool,
}

/// What stands behind a number.
#[derive(Debug)]
pub(crate) enum After {
    /// These entries, and maybe more.
    Items(Vec<Arc<Item>>),
    /// Nothing yet.
    Nothing,
    /// Entries that are not kept any more; the record has what they are made of.
    Behind,
}

/// How far a projection is, all of one moment.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) snapshot: SnapshotView,
    /// The number of the newest event in the source.
    pub(crate) at: u64,
}

impl Topic {
    /// A log that is up to date to this event of its source.
    pub(crate) fn log(source: Source, at: u64) -> Self {
        Self::new(source, None, (at, at))
    }

    /// A fold that was made so far.
    pub(crate) fn fold(source: Source, running: Running, unsaved: u64) -> Self {
        let (n, at) = (running.n(), running.as_of());
        let topic = Self::new(source, Some(running), (n, at));
        topic.lock().unsaved = unsaved;
        topic
    }

    fn new(source: Source, running: Option<Running>, (n, at): (u64, u64)) -> Self {
        let inner = Inner {
            n,
            at,
            running,
            ring: VecDeque::new(),
            ring_bytes: 0,
            unsaved: 0,
            users: 0,
            idle_since: None,
            retired: false,
        };
        Self {
            writer: Writer::of(&source),
            source,
            inner: Mutex::new(inner),
            head: watch::Sender::new(n),
            reached: watch::Sender::new(at),
            replaced: CancellationToken::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it wants the canonical bytes of events.
    pub(crate) fn is_log(&self) -> bool {
        matches!(self.source.kind, Kind::Log)
    }

    /// Takes in an event of its source; one that it has already changes nothing.
    pub(crate) fn take(&self, fed: &Fed) {
        let mut inner = self.lock();
        let place = self.source.reads.place(fed.pos, fed.seq);
        if place <= inner.at {
            return;
        }
        inner.at = place;
        let Inner { running, .. } = &mut *inner;
        let Some(running) = running else {
            let item = self.writer.logged(place, fed);
            inner.push(item);
            return;
        };
        let said = match &fed.event {
            Some(event) => running.fold(&Input { pos: fed.pos, hash: &fed.hash, event }),
            None => {
                running.skip_to(place);
                Vec::new()
            }
        };
        inner.unsaved = inner.unsaved.saturating_add(1);
        for numbered in &said {
            inner.push(self.writer.folded(numbered));
        }
    }

    /// Takes over entries that were made while it was caught up.
    pub(crate) fn keep(&self, items: Vec<Arc<Item>>) {
        let mut inner = self.lock();
        for item in items {
            inner.push(item);
        }
    }

    /// Tells its users how far it is.
    pub(crate) fn tell(&self) {
        let (n, at) = {
            let inner = self.lock();
            (inner.n, inner.at)
        };
        self.head.send_if_modified(|head| std::mem::replace(head, n) != n);
        self.reached.send_if_modified(|reached| std::mem::replace(reached, at) != at);
    }

    /// The entries behind a number, of so many bytes.
    pub(crate) fn after(&self, n: u64, bytes_max: usize) -> After {
        let inner = self.lock();
        if n >= inner.n {
            return After::Nothing;
        }
        let Some(skip) = inner.ring.front().and_then(|first| n.saturating_add(1).checked_sub(first.n)) else {
            return After::Behind;
        };
        let mut bytes = 0_usize;
        let mut items = Vec::new();
        for item in inner.ring.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)) {
            if bytes >= bytes_max {
                break;
            }
            bytes = bytes.saturating_add(item.tail.len());
            items.push(Arc::clone(item));
        }
        After::Items(items)
    }

    /// The state of a fold and how far it is; nothing of a log, whose state is itself.
    pub(crate) fn state(&self) -> Option<State> {
        let inner = self.lock();
        let running = inner.running.as_ref()?;
        let snapshot =
            SnapshotView { state: running.state(), as_of_seq: running.n(), digest: running.digest() };
        Some(State { snapshot, at: inner.at })
    }

    /// How far it is: its newest entry, and the newest event of its source.
    pub(crate) fn how_far(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.n, inner.at)
    }

    /// A checkpoint, if `least` events were folded since the last.
    pub(crate) fn checkpoint(&self, least: u64) -> Option<(u64, Vec<u8>)> {
        let mut inner = self.lock();
        if inner.unsaved < least.max(1) {
            return None;
        }
        let saved = inner.running.as_ref().map(|running| (running.as_of(), running.save()));
        inner.unsaved = 0;
        saved
    }

    /// Counts a user in; false if it is no longer kept up to date.
    pub(crate) fn enter(&self) -> bool {
        let mut inner = self.lock();
        if !inner.retired {
            inner.users = inner.users.saturating_add(1);
            inner.idle_since = None;
        }
        !inner.retired
    }

    pub(crate) fn leave(&self, now_ms: u64) {
        let mut inner = self.lock();
        inner.users = inner.users.saturating_sub(1);
        if inner.users == 0 {
            inner.idle_since = Some(now_ms);
        }
    }

    /// Retires it if nobody has used it for so long. From then on nobody can.
    pub(crate) fn retire(&self, now_ms: u64, idle_ms: u64) -> bool {
        let mut inner = self.lock();
        let since = *inner.idle_since.get_or_insert(now_ms);
        if inner.users == 0 && now_ms.saturating_sub(since) >= idle_ms {
            inner.retired = true;
        } else if inner.users > 0 {
            inner.idle_since = None;
        }
        inner.retired
    }

    /// Retires it because another takes its place; its users are told.
    pub(crate) fn replace(&self) {
        self.lock().retired = true;
        self.replaced.cancel();
    }
}

impl Inner {
    fn push(&mut self, item: Arc<Item>) {
        self.n = item.n;
        self.ring_bytes = self.ring_bytes.saturating_add(item.tail.len());
        self.ring.push_back(item);
        while self.ring.len() > ENTRIES_MAX || (self.ring_bytes > ENTRY_BYTES_MAX && self.ring.len() > 1) {
            let Some(gone) = self.ring.pop_front() else { return };
            self.ring_bytes = self.ring_bytes.saturating_sub(gone.tail.len());
        }
    }
}
