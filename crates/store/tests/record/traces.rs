//! Traces: found by their id, and stretches of streams by place and time; nothing new in records of another day.

use edgeplane_store::{Model, Stretch};
use edgeplane_types::{SpanId, Timestamp, TraceContext, TraceId, Traceparent};

use crate::support::{Maker, accepted, assert_sound, declared, injected, message, open, stream};

fn context(trace_id: TraceId) -> Box<TraceContext> {
    let span_id = SpanId::derived(b"x", "request");
    Box::new(TraceContext {
        traceparent: Traceparent { trace_id, span_id, flags: 1 },
        parent: None,
        operation: "runtime/agent.signal".to_owned(),
        user_id: "uid-0".parse().unwrap(),
        thread_id: None,
        tracestate: None,
        baggage: None,
    })
}

/// Proves TRACE-003, TRACE-008.
#[test]
fn trace_is_found_by_its_id_and_older_events_are_what_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let one: TraceId = "4bf92f3577b34da6a3ce929d0e0e4736".parse().unwrap();
    // As a record of another day has it.
    store.append(maker.batch(stream(1), [declared(1, "a"), accepted(1, 1)])).unwrap();
    let old = store.reader().events(&stream(1), 1, 10).unwrap();
    assert!(old.iter().all(|event| event.event.trace.is_none()));
    assert!(!serde_json::to_string(old[1].event.as_ref()).unwrap().contains("\"trace\""));

    let mut batch = maker.batch(stream(1), [accepted(1, 2), injected(2, 1)]);
    for event in &mut batch.events {
        event.trace = Some(context(one));
    }
    store.append(batch).unwrap();
    let found = store.reader().trace(&one, 10).unwrap();
    let of: Vec<_> = found.iter().map(|event| event.event.fact.message_id()).collect();
    assert_eq!(of, [Some(message(2))], "what happens to a message is found by the message");
    assert!(store.reader().trace(&TraceId::of_message(&message(2)), 10).unwrap().is_empty());
    let digest = store.reader().model_digest(Model::Traces).unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.reader().model_digest(Model::Traces).unwrap(), digest);
    assert_sound(&store.reader());
}

/// Proves TRACE-008.
#[test]
fn stretches_are_found_by_place_and_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), [declared(1, "a")])).unwrap();
    store.append(maker.batch(stream(2), [declared(2, "b")])).unwrap();
    for number in 1..=20 {
        store.append(maker.batch(stream(1), [accepted(1, number)])).unwrap();
    }
    let reader = store.reader();
    for (pos, seq) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (22, 21), (23, 22), (1_000, 22)] {
        assert_eq!(reader.seq_at(&stream(1), pos).unwrap(), seq, "{pos}");
    }
    assert_eq!(reader.seq_at(&stream(9), 5).unwrap(), 1);
    // The maker's events are a millisecond apart.
    for (millis, pos) in [(0, 1), (1, 1), (7, 7), (22, 22), (23, 23), (99, 23)] {
        assert_eq!(reader.pos_at(Timestamp::from_micros(millis * 1_000)).unwrap(), pos, "{millis}");
    }
    let stretch = Stretch { stream: stream(1), from_seq: 3, to_seq: 5 };
    let found = reader.stretch(&stretch, &["message.accepted", "agent.started"], 10).unwrap();
    assert_eq!(found.iter().map(|event| event.event.seq).collect::<Vec<_>>(), [3, 4, 5]);
    assert!(reader.stretch(&stretch, &["agent.declared"], 10).unwrap().is_empty());
    let newest = reader.newest_before(&Stretch { from_seq: 1, ..stretch }, &["agent.declared"]).unwrap();
    assert_eq!(newest.map(|event| event.event.seq), Some(1));
}
