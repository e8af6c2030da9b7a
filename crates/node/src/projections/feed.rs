//! One task that feeds what is committed to every projection that is kept up to date.
//!
//! It lives as long as anybody uses one. What it misses because it was slow it reads from the record; a projection
//! that joins is caught up on a worker and let in between two events, so none is missed and none comes twice.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use edgeplane_projection::{Definition, Running};
use edgeplane_proof::canonical;
use edgeplane_store::{CommittedEvent, ReadError, Reader};
use edgeplane_types::StreamName;
use edgeplane_wire::rpc::RpcError;
use serde::Deserialize;
use tokio::sync::broadcast::{
    Receiver,
    error::{RecvError, TryRecvError},
};

use super::{
    Projections, checkpoint,
    reading::{PAGE, fold_stored},
    source::{Reads, Source},
    topic::{Fed, Topic, Writer},
};
use crate::{record::chain, shared::Shared};

/// Events that are handed on before anybody is told, so that many that come together cost one waking.
const TOGETHER_MAX: usize = 256;

/// How often it is looked for projections that nobody uses.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How long a projection that nobody uses is kept up to date: whoever lost a connection is back by then.
const IDLE_MS_MAX: u64 = 60_000;

/// Events that are folded live before they are kept in a checkpoint: what a restart folds again, some milliseconds.
const CHECKPOINT_EVENTS: u64 = 5_000;

/// Events that are folded between checkpoints while a projection is caught up: a few seconds.
const CHECKPOINT_EVENTS_BEHIND: u64 = 250_000;

/// Who is fed, and how far.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Place of the newest event that was handed on.
    pos: u64,
    is_running: bool,
    /// Projections that are being caught up and will join.
    joining: usize,
    of_node: Vec<Arc<Topic>>,
    of_stream: HashMap<StreamName, Vec<Arc<Topic>>>,
    /// Those of one agent that are told of tasks, too. Which tasks are the agent's their folds know.
    of_work: Vec<Arc<Topic>>,
}

impl Live {
    fn join(&mut self, topic: &Arc<Topic>) {
        let stream = match topic.source.reads {
            Reads::Node => return self.of_node.push(Arc::clone(topic)),
            Reads::Stream(stream) => stream,
            Reads::AgentAndWork(agent) => {
                self.of_work.push(Arc::clone(topic));
                StreamName::Agent(agent)
            }
        };
        self.of_stream.entry(stream).or_default().push(Arc::clone(topic));
    }

    pub(super) fn topics(&self) -> impl Iterator<Item = &Arc<Topic>> {
        self.of_node.iter().chain(self.of_stream.values().flatten())
    }

    pub(super) fn remove(&mut self, keep: impl Fn(&Arc<Topic>) -> bool) {
        self.of_node.retain(&keep);
        self.of_work.retain(&keep);
        self.of_stream.retain(|_, topics| {
            topics.retain(&keep);
            !topics.is_empty()
        });
    }

    /// Hands an event to whom it concerns.
    fn feed(&mut self, fed: &Fed) {
        if fed.pos <= self.pos {
            return;
        }
        self.pos = fed.pos;
        let of_stream = fed.stream.as_ref().and_then(|stream| self.of_stream.get(stream));
        let of_work = self.of_work.iter().filter(|_| matches!(fed.stream, Some(StreamName::Task(_))));
        self.of_node
            .iter()
            .chain(of_stream.into_iter().flatten())
            .chain(of_work)
            .for_each(|topic| topic.take(fed));
    }

    /// Whether somebody wants the bytes of events of this stream.
    fn has_log(&self, stream: &StreamName) -> bool {
        let of_stream = self.of_stream.get(stream).into_iter().flatten();
        self.of_node.iter().chain(of_stream).any(|topic| topic.is_log())
    }
}

/// Counts a projection that will join, whatever becomes of it.
struct Joining(Arc<Projections>);

impl Drop for Joining {
    fn drop(&mut self) {
        let mut live = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.joining = live.joining.saturating_sub(1);
    }
}

/// Lets a log join where the feed is; what is older is in the record.
pub(super) fn start_log(shared: &Arc<Shared>, source: Source) -> Result<Arc<Topic>, RpcError> {
    let projections = Arc::clone(&shared.projections);
    let mut live = projections.live.lock().unwrap_or_else(PoisonError::into_inner);
    run(shared, &mut live)?;
    let at = match source.reads {
        Reads::Node => live.pos,
        // Events that the feed has still before it are passed over by their number.
        Reads::Stream(_) | Reads::AgentAndWork(_) => {
            shared.record.look_up(|reader| source.reads.head(reader))?
        }
    };
    let topic = Arc::new(Topic::log(source, at));
    live.join(&topic);
    Ok(topic)
}

/// Folds what there is on a worker, and lets the fold join where it has come to.
pub(super) async fn start_fold(
    shared: &Arc<Shared>,
    source: Source,
    definition: &'static Definition,
) -> Result<Arc<Topic>, RpcError> {
    let projections = Arc::clone(&shared.projections);
    let joining = {
        let mut live = projections.live.lock().unwrap_or_else(PoisonError::into_inner);
        run(shared, &mut live)?;
        live.joining = live.joining.saturating_add(1);
        Joining(Arc::clone(&projections))
    };
    let permit = projections.permit().await;
    let stopping = shared.stopping.clone();
    shared
        .record
        .read(move |reader| {
            let _held = (joining, permit);
            catch_up(&projections, reader, source, definition, &|| stopping.is_cancelled())
        })
        .await
}

fn catch_up(
    projections: &Projections,
    reader: &Reader,
    source: Source,
    definition: &'static Definition,
    is_over: &dyn Fn() -> bool,
) -> Result<Arc<Topic>, ReadError> {
    let kept = checkpoint::load(&projections.dir, reader, &source, definition);
    let mut running = kept.unwrap_or_else(|| Running::new(definition, &source.subject));
    let writer = Writer::of(&source);
    let mut newest = Newest::default();
    let mut unsaved = 0_u64;
    loop {
        let found = fold_page(
            reader,
            &source,
            &mut running,
            |numbered| {
                newest.keep(writer.folded(numbered));
            },
            u64::MAX,
        )?;
        unsaved = unsaved.saturating_add(found);
        if found == 0 || is_over() {
            break;
        }
        if unsaved >= CHECKPOINT_EVENTS_BEHIND {
            unsaved = 0;
            let saved = running.save();
            checkpoint::save(&projections.dir, reader, &source, (running.as_of(), &saved));
        }
    }
    // Nobody is fed meanwhile, and what is read now is what was committed in an instant.
    let mut live = projections.live.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let found = fold_page(
            reader,
            &source,
            &mut running,
            |numbered| {
                newest.keep(writer.folded(numbered));
            },
            u64::MAX,
        )?;
        unsaved = unsaved.saturating_add(found);
        if found == 0 || is_over() {
            break;
        }
    }
    let topic = Arc::new(Topic::fold(source, running, unsaved));
    topic.keep(newest.0.into());
    live.join(&topic);
    Ok(topic)
}

/// Folds a page, no further than `upto`, and gives the number of its events.
pub(super) fn fold_page(
    reader: &Reader,
    source: &Source,
    running: &mut Running,
    mut each: impl FnMut(&edgeplane_projection::Numbered),
    upto: u64,
) -> Result<u64, ReadError> {
    let definition = running.definition();
    let mut found = source.reads.events(reader, running.as_of().saturating_add(1), PAGE)?;
    found.retain(|raw| source.reads.place(raw.pos, raw.seq) <= upto);
    for raw in &found {
        let place = source.reads.place(raw.pos, raw.seq);
        fold_stored(running, definition, raw, place)?.iter().for_each(&mut each);
    }
    Ok(u64::try_from(found.len()).unwrap_or(u64::MAX))
}

/// The newest entries of a fold that is caught up: for those who come back after a restart of the daemon.
#[derive(Debug, Default)]
struct Newest(std::collections::VecDeque<Arc<super::topic::Item>>);

/// How many of them; they need not be all that a topic keeps.
const NEWEST_MAX: usize = 2_048;

impl Newest {
    fn keep(&mut self, item: Arc<super::topic::Item>) {
        if self.0.len() >= NEWEST_MAX {
            self.0.pop_front();
        }
        self.0.push_back(item);
    }
}

/// Starts the feed if it does not run.
fn run(shared: &Arc<Shared>, live: &mut Live) -> Result<(), RpcError> {
    if live.is_running {
        return Ok(());
    }
    // Followed first, then the head: what is committed in between comes and is passed over by its place.
    let events = shared.record.follow();
    live.pos = shared.record.look_up(Reader::head_pos)?;
    live.is_running = true;
    shared.tasks.spawn(feed(Arc::clone(shared), events));
    Ok(())
}

async fn feed(shared: Arc<Shared>, mut events: Receiver<CommittedEvent>) {
    let mut look = tokio::time::interval(LOOK_AGAIN);
    loop {
        // Receiving is cancel-safe, and the ticks only wait.
        let first = tokio::select! {
            () = shared.stopping.cancelled() => break,
            _ = look.tick() => {
                if sweep(&shared) {
                    return;
                }
                continue;
            }
            first = events.recv() => first,
        };
        let missed = match first {
            Ok(first) => hand_on(&shared.projections, first, &mut events),
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => break,
        };
        if missed {
            read_missed(&shared).await;
        }
        let due: Vec<Arc<Topic>> = {
            let live = shared.projections.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.topics().for_each(|topic| topic.tell());
            live.topics().cloned().collect()
        };
        keep_checkpoints(&shared, due, CHECKPOINT_EVENTS);
    }
    let all: Vec<Arc<Topic>> = {
        let live = shared.projections.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.topics().cloned().collect()
    };
    keep_checkpoints(&shared, all, 1);
}

/// Hands on what has come; true if something was missed.
fn hand_on(projections: &Projections, first: CommittedEvent, events: &mut Receiver<CommittedEvent>) -> bool {
    let mut live = projections.live.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = Some(first);
    for _ in 0..TOGETHER_MAX {
        let Some(committed) = next.take() else { return false };
        if committed.pos > live.pos.saturating_add(1) {
            return true;
        }
        if committed.pos > live.pos {
            let fed = fed(&live, &committed);
            live.feed(&fed);
        }
        next = match events.try_recv() {
            Ok(committed) => Some(committed),
            Err(TryRecvError::Lagged(_)) => return true,
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        };
    }
    // One was taken that is not handed on yet; reading it from the record is as good.
    next.is_some()
}

fn fed(live: &Live, committed: &CommittedEvent) -> Fed {
    let event = &committed.event;
    // What the writer stored was made the same way of the same event.
    let bytes = match live.has_log(&event.stream).then(|| canonical::to_vec(event.as_ref())) {
        Some(Ok(bytes)) => bytes,
        Some(Err(error)) => {
            tracing::error!(error = %chain(&error), "a committed event has no canonical form");
            Vec::new()
        }
        None => Vec::new(),
    };
    Fed {
        pos: committed.pos,
        seq: event.seq,
        stream: Some(event.stream),
        kind: event.fact.type_name().to_owned(),
        hash: committed.hash.to_string(),
        bytes,
        event: Some(Arc::clone(event)),
    }
}

/// The stream of an event, whatever else is in it.
#[derive(Deserialize)]
struct Streamed {
    stream: StreamName,
}

/// Hands on what the record has beyond what was handed on.
async fn read_missed(shared: &Arc<Shared>) {
    loop {
        let projections = Arc::clone(&shared.projections);
        let page = shared.record.read(move |reader| {
            let from = projections.live.lock().unwrap_or_else(PoisonError::into_inner).pos.saturating_add(1);
            let found = reader.raw_events(None, from, PAGE)?;
            let more = !found.is_empty();
            for raw in found {
                let event = raw.event()?.map(Arc::new);
                let stream = serde_json::from_slice::<Streamed>(&raw.bytes).ok().map(|of| of.stream);
                let fed = Fed { stream, event, ..Fed::stored(raw) };
                projections.live.lock().unwrap_or_else(PoisonError::into_inner).feed(&fed);
            }
            Ok(more)
        });
        match page.await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::error!(%error, "what was committed cannot be read for those who follow");
                return;
            }
        }
    }
}

/// Writes the checkpoints that are due, on a worker.
fn keep_checkpoints(shared: &Arc<Shared>, topics: Vec<Arc<Topic>>, least: u64) {
    for topic in topics {
        let Some((at, saved)) = topic.checkpoint(least) else { continue };
        let (dir, reader) = (shared.projections.dir.clone(), shared.record.store().reader());
        shared.tasks.spawn_blocking(move || checkpoint::save(&dir, &reader, &topic.source, (at, &saved)));
    }
}

/// Ends what nobody uses; true if nothing is left to be fed.
fn sweep(shared: &Arc<Shared>) -> bool {
    let now_ms = shared.record.monotonic_ms();
    let projections = &shared.projections;
    let (idle, is_over) = {
        let mut live = projections.live.lock().unwrap_or_else(PoisonError::into_inner);
        let idle: Vec<_> = live.topics().filter(|topic| topic.retire(now_ms, IDLE_MS_MAX)).cloned().collect();
        live.remove(|topic| !idle.iter().any(|idle| Arc::ptr_eq(idle, topic)));
        let is_over = live.joining == 0 && live.topics().next().is_none();
        live.is_running = !is_over;
        (idle, is_over)
    };
    projections.forget(&idle);
    keep_checkpoints(shared, idle, 1);
    is_over
}
