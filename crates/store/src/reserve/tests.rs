//! Frames survive, torn ones do not count, merged ones do not come back.

use edgeplane_types::{EventId, Fact, NodeId, StreamName, Timestamp, fact::Actor};

use super::*;

const BYTES: u64 = 64 << 10;

fn event(number: u8) -> Event {
    Event {
        id: EventId::from_parts(u64::from(number), [number; 10]),
        stream: StreamName::Node(NodeId::from_parts(1, [1; 10])),
        seq: 0,
        ts: Timestamp::from_micros(i64::from(number)),
        actor: Actor::Node { rule: "test".parse().unwrap() },
        cause: None,
        consumed: None,
        trace: None,
        fact: Fact::NodeStopped { reason: "x".repeat(usize::from(number)) },
    }
}

fn numbers(dir: &Path, merged: u64) -> Vec<u64> {
    let (_reserve, frames) = Reserve::open(dir, BYTES, merged).unwrap();
    frames.iter().map(|frame| frame.number).collect()
}

#[test]
fn batch_comes_back_with_its_bodies_and_takes_no_new_room() {
    let dir = tempfile::tempdir().unwrap();
    let (mut reserve, frames) = Reserve::open(dir.path(), BYTES, 0).unwrap();
    assert!(frames.is_empty());
    let bodies = [Body::new(b"one".to_vec()), Body::new(Vec::new())];
    assert_eq!(reserve.append(7, &[event(1), event(2)], &bodies).unwrap(), 1);
    let (_reserve, frames) = Reserve::open(dir.path(), BYTES, 0).unwrap();
    assert_eq!(frames[0].head_pos, 7);
    assert_eq!(frames[0].events, [NewEvent::from_event(&event(1)), NewEvent::from_event(&event(2))]);
    let found: Vec<_> = frames[0].bodies.iter().map(Body::digest).collect();
    assert_eq!(found, bodies.map(|body| body.digest()));
    assert_eq!(std::fs::metadata(dir.path().join(FILE_NAME)).unwrap().len(), BYTES);
}

#[test]
fn merged_frames_and_remains_of_older_ones_do_not_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let (mut reserve, _) = Reserve::open(dir.path(), BYTES, 0).unwrap();
    for number in 1..=3 {
        reserve.append(0, &[event(9)], &[]).unwrap();
        assert_eq!(numbers(dir.path(), 0), (1..=number).collect::<Vec<_>>());
    }
    assert_eq!(numbers(dir.path(), 3), Vec::<u64>::new());
    // The same length as the first of the older frames: the second one stands whole behind it.
    reserve.rewind();
    assert_eq!(reserve.append(0, &[event(9)], &[]).unwrap(), 4);
    assert_eq!(numbers(dir.path(), 3), [4]);
    let (mut reserve, frames) = Reserve::open(dir.path(), BYTES, 4).unwrap();
    assert!(frames.is_empty());
    assert_eq!(reserve.append(0, &[event(1)], &[]).unwrap(), 5);
    assert_eq!(numbers(dir.path(), 4), [5]);
}

#[test]
fn frame_torn_at_any_byte_does_not_count_and_harms_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (mut reserve, _) = Reserve::open(dir.path(), BYTES, 0).unwrap();
    reserve.append(0, &[event(1)], &[]).unwrap();
    let start = usize::try_from(reserve.offset).unwrap();
    reserve.append(0, &[event(2)], &[]).unwrap();
    let end = usize::try_from(reserve.offset).unwrap();
    let path = dir.path().join(FILE_NAME);
    let whole = std::fs::read(&path).unwrap();
    for torn in (start..end).step_by(7) {
        let mut bytes = whole.clone();
        bytes[torn..end].fill(0);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(numbers(dir.path(), 0), [1], "torn at {torn}");
    }
}

#[test]
fn full_reserve_refuses_and_keeps_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let (mut reserve, _) = Reserve::open(dir.path(), 1_000, 0).unwrap();
    let mut kept = 0;
    let error = loop {
        match reserve.append(0, &[event(1)], &[]) {
            Ok(number) => kept = number,
            Err(error) => break error,
        }
    };
    assert!(durable::is_full(&error) && kept > 0);
    let (_reserve, frames) = Reserve::open(dir.path(), 1_000, 0).unwrap();
    assert_eq!(frames.len() as u64, kept);
}
