//! Folds over a whole record, however they are cut; and what subscribers share.

use edgeplane_projection::{Definition, Running, Subject, definition::PROJECTIONS};
use edgeplane_store::{AppendError, Batch, NewEvent, Options, RawEvent, Reader, Store};
use edgeplane_types::{Fact, MessageId, SessionId, StreamName, TaskId};
use edgeplane_wire::api::stream::{Target, TargetKind};

use super::{
    checkpoint,
    feed::fold_page,
    reading::Reading,
    source::{Kind, Reads, Source},
    topic::{After, Fed, Topic},
};

#[path = "../../../projection/tests/projection/lives.rs"]
#[expect(dead_code, reason = "the record alone is wanted")]
mod lives;

/// Events of the record unless `EDGEPLANE_FOLD_EVENTS` says otherwise.
const EVENTS: usize = 100_000;

/// Agents of the record.
const AGENTS: usize = 8;

/// Events that are read at one go.
const BATCH: usize = 1_000;

/// Events that wait for the record at a time.
const TOGETHER: usize = 256;

/// A record of the lives of some agents, with what can be followed in it.
struct Recorded {
    _dir: tempfile::TempDir,
    checkpoints: std::path::PathBuf,
    reader: Reader,
    world: lives::World,
}

fn recorded(events: usize) -> Recorded {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) =
        Store::open(dir.path(), &Options { reserve_bytes: 256 << 10, ..Options::STANDARD }).unwrap();
    let world = lives::world(7, AGENTS, events, true);
    for part in world.record.chunks(TOGETHER) {
        let (done, outcomes) = std::sync::mpsc::channel();
        for stored in part {
            let edgeplane_types::Event { id, stream, seq: _, ts, actor, cause, consumed, fact, trace } =
                stored.event.clone();
            let event = NewEvent { id, stream, ts, actor, cause, consumed, fact, trace };
            let done = done.clone();
            let told = move |outcome: Result<_, AppendError>| drop(done.send(outcome.map(drop)));
            store.submit(Batch { events: vec![event], ..Batch::default() }, Box::new(told));
        }
        drop(done);
        // These lives have gaps on purpose, and what does not fit its read models a record does not take.
        for outcome in outcomes {
            assert!(matches!(outcome, Ok(()) | Err(AppendError::Refused { .. })), "{outcome:?}");
        }
    }
    assert!(store.reader().head_pos().unwrap() > u64::try_from(events / 2).unwrap(), "most of it fits");
    let checkpoints = dir.path().join("projections");
    Recorded { checkpoints, reader: store.reader(), _dir: dir, world }
}

impl Recorded {
    /// A source of a projection: of the whole node if it can be, else of one agent.
    fn source(&self, definition: &'static Definition) -> Source {
        let life = &self.world.lives[0];
        // The first thread of a session has its UUID.
        let session = SessionId::from_bytes(*life.threads[0].as_bytes());
        let kind = definition.targets[0];
        let turn: MessageId = self
            .world
            .record
            .iter()
            .find_map(|stored| match &stored.event.fact {
                Fact::MessageInjected { message_id, .. }
                    if stored.event.stream == StreamName::Agent(life.agent) =>
                {
                    Some(*message_id)
                }
                _ => None,
            })
            .unwrap();
        let id = match kind {
            TargetKind::Node => self.world.node.to_string(),
            TargetKind::Agent => life.agent.to_string(),
            TargetKind::Session => session.to_string(),
            TargetKind::Thread => life.threads[0].to_string(),
            TargetKind::Turn => edgeplane_projection::turn_of(turn).to_string(),
            TargetKind::Trace => lives::traces::trace_id(0).to_string(),
            TargetKind::Task => self.task().to_string(),
        };
        let is_node = matches!(kind, TargetKind::Node | TargetKind::Trace | TargetKind::Task);
        let subject = Subject {
            target: Target { kind, id: Some(id) },
            node: Some(self.world.node),
            agent: (!is_node).then_some(life.agent),
            session: (!is_node).then_some(session),
            thread: (kind == TargetKind::Thread).then_some(life.threads[0]),
            turn: (kind == TargetKind::Turn).then_some(turn),
            trace: (kind == TargetKind::Trace).then(|| lives::traces::trace_id(0).to_string()),
            task: (kind == TargetKind::Task).then(|| self.task()),
            ..Subject::default()
        };
        Source::new(Kind::Fold(definition), subject)
    }

    /// The root of the graph of which most was recorded.
    fn task(&self) -> TaskId {
        let mut counts = std::collections::BTreeMap::new();
        for stored in &self.world.record {
            if let StreamName::Task(root) = stored.event.stream {
                *counts.entry(root).or_insert(0) += 1;
            }
        }
        counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0
    }

    fn fed(&self, raw: RawEvent) -> Fed {
        let event = raw.event().unwrap().map(std::sync::Arc::new);
        let stream = event.as_ref().map(|event| event.stream);
        Fed { stream, event, ..Fed::stored(raw) }
    }
}

/// Folds everything in one go.
fn at_once(recorded: &Recorded, source: &Source, definition: &'static Definition) -> Running {
    let mut running = Running::new(definition, &source.subject);
    while fold_page(&recorded.reader, source, &mut running, |_| {}, u64::MAX).unwrap() > 0 {}
    running
}

/// Folds event by event as a live projection does, and goes on from a checkpoint every so often.
fn in_pieces(
    recorded: &Recorded,
    source: &Source,
    definition: &'static Definition,
    every: usize,
) -> (Topic, usize) {
    let mut topic = Topic::fold(source.clone(), Running::new(definition, &source.subject), 0);
    let (mut next, mut since, mut restarts) = (1, 0, 0);
    loop {
        let found = source.reads.events(&recorded.reader, next, BATCH.min(every.max(1))).unwrap();
        let Some(last) = found.last() else { return (topic, restarts) };
        next = source.reads.place(last.pos, last.seq) + 1;
        since += found.len();
        for raw in found {
            topic.take(&recorded.fed(raw));
        }
        if since >= every {
            since = 0;
            let (at, saved) = topic.checkpoint(1).unwrap();
            checkpoint::save(&recorded.checkpoints, &recorded.reader, source, (at, &saved));
            let running =
                checkpoint::load(&recorded.checkpoints, &recorded.reader, source, definition).unwrap();
            assert_eq!(running.as_of(), at);
            topic = Topic::fold(source.clone(), running, 0);
            restarts += 1;
        }
    }
}

/// Proves STRM-025, PROT-004.
#[test]
fn however_a_record_is_cut_the_digest_is_the_same() {
    let events = std::env::var("EDGEPLANE_FOLD_EVENTS").map_or(EVENTS, |text| text.parse().unwrap());
    let recorded = recorded(events);
    for definition in PROJECTIONS {
        let source = recorded.source(definition);
        let whole = at_once(&recorded, &source, definition);
        let every = match source.reads {
            Reads::Stream(StreamName::Task(_)) => {
                usize::try_from(source.reads.head(&recorded.reader).unwrap()).unwrap() / 5
            }
            _ => events / AGENTS / 5,
        };
        let (topic, restarts) = in_pieces(&recorded, &source, definition, every);
        let state = topic.state().unwrap();
        assert!(restarts > 2, "{definition:?}: {restarts} restarts");
        assert_eq!(
            (state.snapshot.as_of_seq, state.at, state.snapshot.digest),
            (whole.n(), whole.as_of(), whole.digest()),
            "{definition:?}"
        );
        assert!(whole.n() > 0, "{definition:?} says nothing");
    }
    // A projection that is read behind some number gives what it gives from the beginning.
    let definition = edgeplane_projection::find("queue").unwrap();
    let source = recorded.source(definition);
    let read = |after| {
        let mut reading = Reading::begin(&recorded.checkpoints, &recorded.reader, &source, after);
        let mut all = Vec::new();
        loop {
            let page = reading.page(&recorded.reader, 700).unwrap();
            all.extend(page.items);
            if page.end {
                return all;
            }
        }
    };
    let everything = read(0);
    for after in [0, 1, 77, everything.len() / 2, everything.len()] {
        let rest = read(u64::try_from(after).unwrap());
        let expected = everything.iter().skip(after);
        assert_eq!(rest.len(), expected.len());
        assert!(rest.iter().zip(expected).all(|(found, expected)| found.tail == expected.tail), "{after}");
    }
}

/// Proves PROJ-027. Whoever follows is handed every task's events, whoever reads only those of the agent's own.
#[test]
fn tasks_of_others_change_nothing() {
    let recorded = recorded(6_000);
    for name in ["agentruntime.events", "session.snapshot"] {
        let definition = edgeplane_projection::find(name).unwrap();
        let source = recorded.source(definition);
        let Reads::AgentAndWork(agent) = source.reads else { panic!("{name} is of tasks too") };
        let whole = at_once(&recorded, &source, definition);
        let topic = Topic::fold(source.clone(), Running::new(definition, &source.subject), 0);
        let (mut next, mut others) = (1, 0);
        loop {
            let found = recorded.reader.raw_events(None, next, BATCH).unwrap();
            let Some(last) = found.last() else { break };
            next = last.pos + 1;
            for raw in found {
                let fed = recorded.fed(raw);
                match fed.stream {
                    Some(StreamName::Task(_)) => others += 1,
                    Some(StreamName::Agent(of)) if of == agent => {}
                    _ => continue,
                }
                topic.take(&fed);
            }
        }
        let read = recorded.reader.raw_events_about(&agent, 1, 10_000).unwrap();
        let of_tasks =
            read.iter().filter(|raw| raw.kind.starts_with("task.") || raw.kind.starts_with("run."));
        let own = of_tasks.count();
        assert!(own > 5 && own < others / 2, "{own} of {others}");
        let state = topic.state().unwrap().snapshot;
        assert_eq!((state.as_of_seq, state.digest), (whole.n(), whole.digest()), "{name}");
    }
}

fn logged(pos: u64) -> Fed {
    Fed {
        pos,
        seq: pos,
        stream: None,
        kind: "x.happened".to_owned(),
        hash: "00".to_owned(),
        bytes: format!("{{\"id\":{pos}}}").into_bytes(),
        event: None,
    }
}

/// Proves STRM-002, STRM-023.
#[test]
fn what_is_shared_is_in_order_and_bounded() {
    let subject =
        Subject { target: Target { kind: TargetKind::Node, id: Some("nod_x".into()) }, ..Subject::default() };
    let topic = Topic::log(Source::new(Kind::Log, subject), 10);
    assert!(matches!(topic.after(10, 1), After::Nothing));
    assert!(matches!(topic.after(9, 1), After::Behind));
    for pos in [9, 10, 11, 11, 12] {
        topic.take(&logged(pos));
    }
    let numbers = |after| match topic.after(after, 1 << 20) {
        After::Items(items) => items.iter().map(|item| item.n).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(numbers(10), [11, 12]);
    assert_eq!(numbers(11), [12]);
    assert!(matches!(topic.after(9, 1), After::Behind), "what it never had is in the record");
    let After::Items(items) = topic.after(11, 1) else { panic!() };
    assert_eq!(items[0].event(), br#"{"pos":12,"hash":"00","id":12}"#);
    for pos in 13..10_000 {
        topic.take(&logged(pos));
    }
    assert!(matches!(topic.after(11, 1), After::Behind), "what is old is let go");
    assert_eq!(numbers(9_990), (9_991..10_000).collect::<Vec<_>>());
    // Nobody can use one that was retired, and one that is used is not.
    assert!(topic.enter() && !topic.retire(1_000_000, 10));
    topic.leave(1_000_000);
    assert!(!topic.retire(1_000_005, 10) && topic.retire(1_000_010, 10) && !topic.enter());
}
