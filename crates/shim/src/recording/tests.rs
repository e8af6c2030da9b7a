//! Whatever comes in whatever pieces is read back with the right offsets.
#![expect(clippy::arithmetic_side_effects, reason = "a test that overflows has failed")]

use edgeplane_wire::cast::{CastEvent, CastReader};
use proptest::prelude::*;

use super::*;

fn plan(dir: &std::path::Path) -> Plan {
    Plan {
        dir: dir.to_owned(),
        name: "shell".to_owned(),
        agent: "agt_x".to_owned(),
        epoch: 3,
        size: (80, 24),
        pipes: true,
        segment_bytes_max: 400,
        segment_age_max_us: 1_000_000,
        on_full: OnFull::Gap,
    }
}

/// Records what a read gave, as the loop does, and says what was to be shown.
fn take(
    recording: &mut Recording,
    now_us: u64,
    stream: OutputStream,
    bytes: &[u8],
) -> Option<(u64, Vec<u8>)> {
    let all = [recording.held(stream).bytes(), bytes].concat();
    let chunk = recording.hold_back(now_us, stream, &all).to_vec();
    if chunk.is_empty() {
        return None;
    }
    match recording.output(now_us, stream, &chunk) {
        Kept::At(offset) => Some((offset, chunk)),
        Kept::Waiting => None,
    }
}

/// Every event of all segments, with the microseconds since the recording began.
fn read(dir: &std::path::Path) -> Vec<(u64, CastEvent)> {
    let mut events = Vec::new();
    let mut segments: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    segments.sort();
    let mut next = 0;
    for path in segments {
        let bytes = std::fs::read(path).unwrap();
        let mut reader = CastReader::new(&bytes).unwrap().unwrap();
        assert_eq!(reader.header().edgeplane.offset, next);
        while let Some(event) = reader.next_event().unwrap() {
            events.push(event);
        }
        next = reader.offset();
    }
    events
}

fn bytes_of(events: &[(u64, CastEvent)], wanted: OutputStream) -> Vec<u8> {
    let of_stream = |(_, event): &(u64, CastEvent)| match event {
        CastEvent::Output { stream, bytes, .. } if *stream == wanted => bytes.clone(),
        _ => Vec::new(),
    };
    events.iter().flat_map(of_stream).collect()
}

#[test]
fn character_in_two_reads_is_one_event_and_half_of_one_waits_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(plan(dir.path()), 1_000).unwrap();
    assert_eq!(take(&mut recording, 2_000, OutputStream::Out, b"a\xe2"), Some((0, b"a".to_vec())));
    assert_eq!(recording.due_us(), Some(2_000 + HELD_US));
    assert_eq!(take(&mut recording, 3_000, OutputStream::Out, b"\x82"), None);
    assert_eq!(
        take(&mut recording, 4_000, OutputStream::Out, b"\xac\xf0"),
        Some((1, "€".as_bytes().to_vec()))
    );
    assert_eq!(recording.overdue(4_000 + HELD_US - 1), None);
    let (stream, held) = recording.overdue(4_000 + HELD_US).unwrap();
    assert_eq!((stream, held.bytes()), (OutputStream::Out, b"\xf0".as_slice()));
    assert_eq!(recording.output(30_000, stream, held.bytes()), Kept::At(4));
    let events = read(dir.path());
    let intervals: Vec<u64> = events.iter().map(|(interval, _)| *interval).collect();
    assert_eq!(intervals, [1_000, 2_000, 26_000]);
}

#[test]
fn long_input_is_recorded_in_pieces_between_characters() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(plan(dir.path()), 0).unwrap();
    let text = "x€".repeat(10_000);
    recording.input(5, text.as_bytes());
    recording.resize(6, 90, 30);
    let events = read(dir.path());
    let pieces: Vec<&str> = events
        .iter()
        .filter_map(|(_, event)| match event {
            CastEvent::Other { code: 'i', data } => Some(data.as_str()),
            _ => None,
        })
        .collect();
    assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= INPUT_EVENT_BYTES));
    assert_eq!(pieces.concat(), text);
    assert_eq!(events.last(), Some(&(1, CastEvent::Other { code: 'r', data: "90x30".to_owned() })));
}

#[test]
fn input_that_is_no_text_ends_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(plan(dir.path()), 0).unwrap();
    for bytes in
        [vec![0xff; 20_000], vec![0x80; INPUT_EVENT_BYTES], vec![0xe2; 3 * INPUT_EVENT_BYTES], vec![]]
    {
        recording.input(5, &bytes);
    }
    assert!(!read(dir.path()).is_empty());
}

#[test]
fn segment_that_exists_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("000001.cast"), b"precious").unwrap();
    assert!(Recording::begin(plan(dir.path()), 0).is_err());
    assert_eq!(std::fs::read(dir.path().join("000001.cast")).unwrap(), b"precious");
}

proptest! {
    #[test]
    fn pieces_are_read_back_as_they_came(
        pieces in proptest::collection::vec(
            (any::<bool>(), proptest::collection::vec(any::<u8>(), 0..200), 0_u64..40_000), 0..40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut recording = Recording::begin(plan(dir.path()), 0).unwrap();
        let (mut now_us, mut shown) = (0, Vec::new());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        for (is_error, bytes, pause_us) in &pieces {
            let stream = if *is_error { OutputStream::Err } else { OutputStream::Out };
            if *is_error { &mut err } else { &mut out }.extend_from_slice(bytes);
            shown.extend(take(&mut recording, now_us, stream, bytes).map(|(at, bytes)| (at, bytes.len())));
            now_us += pause_us;
            while let Some((stream, held)) = recording.overdue(now_us) {
                let Kept::At(offset) = recording.output(now_us, stream, held.bytes()) else { unreachable!() };
                shown.push((offset, held.bytes().len()));
            }
            recording.tick(now_us);
        }
        while let Some((stream, held)) = recording.overdue(u64::MAX) {
            let Kept::At(offset) = recording.output(now_us, stream, held.bytes()) else { unreachable!() };
            shown.push((offset, held.bytes().len()));
        }
        recording.end(now_us, "0");
        recording.sync(now_us);
        prop_assert_eq!(recording.synced(), recording.head());
        let mut next = 0;
        for (offset, len) in shown {
            prop_assert_eq!(offset, next);
            next += len as u64;
        }
        prop_assert_eq!(recording.head(), next);
        let events = read(dir.path());
        prop_assert_eq!(bytes_of(&events, OutputStream::Out), out);
        prop_assert_eq!(bytes_of(&events, OutputStream::Err), err);
        prop_assert_eq!(events.iter().map(|(interval, _)| *interval).sum::<u64>() <= now_us, true);
    }
}
