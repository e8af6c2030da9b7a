//! What an append gives back, what it refuses, and in which order others are told.

use std::sync::{Arc, Mutex};

use edgeplane_store::{AppendError, Batch, FoldError, Model};
use edgeplane_types::{Fact, NodeId, StreamName};

use crate::support::{
    Maker, accepted, assert_sound, declared, injected, life, node, note, open, positions, started, stream,
    together,
};

/// Longer than anything here takes on a loaded machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

#[test]
fn streams_count_for_themselves_and_the_node_counts_all() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let first = store.append(maker.batch(node(), [note("a"), note("b")])).unwrap();
    let mixed = Batch {
        events: vec![
            maker.event(stream(1), declared(1, "one")),
            maker.event(node(), note("c")),
            maker.event(stream(1), Fact::AgentRetired { reason: "done".to_owned() }),
        ],
        ..maker.batch(stream(1), [declared(1, "one")])
    };
    let second = store.append(mixed).unwrap();
    assert_eq!(positions(&first), [(1, 1), (2, 2)]);
    assert_eq!(positions(&second), [(3, 1), (4, 3), (5, 2)]);
    let reader = store.reader();
    assert_eq!(reader.head_pos().unwrap(), 5);
    let head = reader.stream_head(&node()).unwrap().unwrap();
    assert_eq!((head.seq, head.pos, head.hash), (3, 4, second.events[1].hash));
    assert_sound(&reader);
}

#[test]
fn what_is_read_is_what_was_appended() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let mut expected = store.append(life(&maker, 1)).unwrap().events;
    expected.extend(store.append(life(&maker, 2)).unwrap().events);
    let reader = store.reader();
    assert_eq!(reader.events_from_pos(1, 100, &[]).unwrap(), expected);
    assert_eq!(reader.events(&stream(2), 3, 4).unwrap(), expected[11..15]);
    assert_eq!(reader.last_events(&stream(1), 2).unwrap(), expected[7..9]);
    let kinds = reader.events_from_pos(1, 100, &["agent.declared", "agent.failed"]).unwrap();
    assert_eq!(kinds.iter().map(|event| event.pos).collect::<Vec<_>>(), [1, 9, 10, 18]);
    assert_eq!(reader.stream_head(&stream(3)).unwrap(), None);
}

#[test]
fn batch_that_does_not_fit_leaves_nothing_and_harms_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let other = StreamName::Node(NodeId::from_parts(9, [9; 10]));
    let batches = vec![
        maker.batch(node(), [note("before")]),
        // Its first event would fit, and would make a new stream.
        Batch {
            events: vec![maker.event(other, note("lost")), maker.event(stream(1), started(1))],
            ..Batch::default()
        },
        maker.batch(stream(2), [declared(2, "two")]),
        maker.batch(stream(3), [declared(3, "two")]),
        maker.batch(node(), [note("after")]),
    ];
    let results = together(&store, &maker, batches);
    let places: Vec<_> = results.iter().map(|result| result.as_ref().map(positions).ok()).collect();
    assert_eq!(places, [Some(vec![(2, 2)]), None, Some(vec![(3, 1)]), None, Some(vec![(4, 3)])]);
    for (result, expected) in
        [(&results[1], "is not declared"), (&results[3], "name `two` is taken in tenant `local`")]
    {
        let Err(AppendError::Refused { source, .. }) = result else { panic!("{result:?}") };
        assert!(source.to_string().contains(expected), "{source}");
    }
    let reader = store.reader();
    assert_eq!(reader.stream_head(&other).unwrap(), None);
    assert_eq!(reader.stream_head(&stream(3)).unwrap(), None);
    assert_sound(&reader);
}

#[test]
fn number_without_canonical_form_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let fact = Fact::NodeStorageResumed { held_events: u64::MAX };
    let result = store.append(maker.batch(node(), [note("x"), fact]));
    assert!(
        matches!(result, Err(AppendError::Unwritable { kind: "node.storage_resumed", .. })),
        "{result:?}"
    );
    let long = store.append(maker.batch(node(), [note(&"x".repeat(2 << 20))]));
    assert!(matches!(long, Err(AppendError::TooLarge { .. })), "{long:?}");
    assert_eq!(store.reader().head_pos().unwrap(), 0);
}

/// Proves MSG-008.
#[test]
fn message_is_accepted_once_and_before_anything_else_happens_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let refused = |fact: Fact| match store.append(maker.batch(stream(1), [fact])) {
        Err(AppendError::Refused { source, .. }) => source,
        other => panic!("{other:?}"),
    };
    assert!(matches!(*refused(injected(1, 1)), FoldError::UnknownMessage(_)));
    store.append(maker.batch(stream(1), [accepted(1, 1)])).unwrap();
    assert!(matches!(*refused(accepted(1, 1)), FoldError::AcceptedTwice(_)));
    assert!(matches!(*refused(accepted(2, 2)), FoldError::WrongStream(_)));
}

#[test]
fn observers_see_the_record_in_order_and_before_the_callback() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&log);
    store.observe(Arc::new(move |events| seen.lock().unwrap().extend(events.iter().map(|event| event.pos))));
    let batches = (0..20).map(|_| maker.batch(node(), [note("a"), note("b")])).collect();
    for (number, result) in together(&store, &maker, batches).into_iter().enumerate() {
        let first = 2 * number as u64 + 2;
        assert_eq!(positions(&result.unwrap()), [(first, first), (first + 1, first + 1)]);
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    let seen = Arc::clone(&log);
    let last = maker.batch(node(), [note("last")]);
    store.submit(last, Box::new(move |_| sender.send(seen.lock().unwrap().clone()).unwrap()));
    assert_eq!(receiver.recv().unwrap(), (1..=42).collect::<Vec<u64>>());
}

#[test]
fn full_queue_says_so_and_still_takes_what_is_critical() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let mut batches: Vec<Batch> = (0..4_100).map(|_| maker.batch(node(), [note("x")])).collect();
    batches.push(maker.critical(node(), [note("stop")]));
    let results = together(&store, &maker, batches);
    assert!(results[..4_096].iter().all(Result::is_ok));
    assert!(results[4_096..4_100].iter().all(|result| matches!(result, Err(AppendError::Backpressure))));
    assert!(results[4_100].is_ok());
    assert_eq!(store.reader().head_pos().unwrap(), 4_098);
}

#[test]
fn closed_store_finishes_what_waits_and_takes_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let (sender, receiver) = std::sync::mpsc::channel();
    for _ in 0..100 {
        let sender = sender.clone();
        let batch = maker.batch(node(), [note("x")]);
        store.submit(batch, Box::new(move |result| sender.send(result).unwrap()));
    }
    store.close();
    assert!(receiver.try_iter().filter(Result::is_ok).count() == 100);
    assert!(matches!(store.append(maker.batch(node(), [note("x")])), Err(AppendError::Closed)));
    assert!(matches!(store.rebuild(Model::Agents), Err(AppendError::Closed)));
}

#[test]
fn nobody_waits_for_a_writer_that_panicked() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.observe(Arc::new(|_| panic!("an observer fails")));
    for _ in 0..3 {
        assert!(matches!(store.append(maker.batch(node(), [note("x")])), Err(AppendError::Closed)));
    }
    drop(store);
    // What was committed before the panic is there.
    assert_eq!(open(dir.path()).reader().head_pos().unwrap(), 1);
}

#[test]
fn last_handle_may_go_on_the_writers_own_thread() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let (sender, receiver) = std::sync::mpsc::channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let last = store.clone();
    let batch = maker.batch(node(), [note("x")]);
    let on_done = move |result| {
        wait.recv().unwrap();
        drop(last);
        sender.send(result).unwrap();
    };
    store.submit(batch, Box::new(on_done));
    drop(store);
    go.send(()).unwrap();
    assert!(receiver.recv().unwrap().is_ok());
}

#[test]
fn quiet_moment_moves_the_log_into_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let database = || std::fs::metadata(dir.path().join("record.db")).unwrap().len();
    let before = database();
    for number in 0..100 {
        store.append(maker.batch(node(), [note(&number.to_string())])).unwrap();
    }
    // Left to itself the log would be moved when it is forty times as long.
    let moved =
        edgeplane_os::wait::until(edgeplane_os::wait::Deadline::after(PATIENCE), || database() > before);
    assert!(moved, "the database still has {before} bytes");
    assert_sound(&store.reader());
}

#[test]
fn looks_at_one_moment_agree_while_the_record_grows() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(node(), [note("before")])).unwrap();
    let reader = store.reader();
    let head = |reader: &edgeplane_store::Reader| reader.head_pos();
    let (first, again, largest) = reader
        .at_one_moment(|held| {
            let first = head(held)?;
            store.append(maker.batch(node(), [note("meanwhile")])).unwrap();
            // A look that makes a moment of its own has the same one.
            let within = held.at_one_moment(|held| held.stream_head(&node()))?;
            Ok((first, head(held)?, within.unwrap().pos))
        })
        .unwrap();
    assert_eq!((again, largest), (first, first));
    assert!(head(&reader).unwrap() > first, "what came meanwhile is seen afterwards");
}
