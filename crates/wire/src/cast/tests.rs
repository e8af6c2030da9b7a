//! What is written is read back byte for byte, and a torn end is dropped.

use proptest::prelude::*;

use super::*;

fn place() -> PlaceRef<'static> {
    PlaceRef {
        name: "shell",
        agent: "agt_x",
        epoch: 3,
        segment: 2,
        offset: 100,
        started_us: 1_700_000_000_000_000,
        cols: 80,
        rows: 24,
        pipes: false,
    }
}

fn read_all(segment: &[u8]) -> (Vec<u8>, u64) {
    let mut reader = CastReader::new(segment).unwrap().unwrap();
    let mut bytes = Vec::new();
    while let Some((_, event)) = reader.next_event().unwrap() {
        if let CastEvent::Output { offset, bytes: more, .. } = event {
            assert_eq!(offset, 100 + bytes.len() as u64);
            bytes.extend_from_slice(&more);
        }
    }
    (bytes, reader.offset())
}

#[test]
fn header_is_what_serde_reads() {
    let mut out = Vec::new();
    put_header(&mut out, &place());
    let reader = CastReader::new(&out).unwrap().unwrap();
    let header = reader.header();
    assert_eq!((header.term.cols, header.term.rows, header.term.kind.as_str()), (80, 24, TERM_KIND));
    assert_eq!(header.title, "shell epoch 3");
    assert_eq!((header.edgeplane.epoch, header.edgeplane.segment, header.edgeplane.offset), (3, 2, 100));
    assert_eq!(header.timestamp, 1_700_000_000);
}

#[test]
fn gaps_advance_the_offset_and_other_events_do_not() {
    let mut out = Vec::new();
    put_header(&mut out, &place());
    put_event(&mut out, 5, 'g', "50");
    put_event(&mut out, 1_500_000, 'r', "90x30");
    let mut reader = CastReader::new(&out).unwrap().unwrap();
    assert_eq!(reader.next_event().unwrap(), Some((5, CastEvent::Gap { offset: 100, bytes: 50 })));
    let resize = CastEvent::Other { code: 'r', data: "90x30".into() };
    assert_eq!(reader.next_event().unwrap(), Some((1_500_000, resize)));
    assert_eq!(reader.offset(), 150);
}

#[test]
fn every_torn_end_gives_a_whole_prefix() {
    let chunks: [&[u8]; 4] = [b"plain\r\n", b"\xff\xfe", "\u{fffd}ok".as_bytes(), b"end\x80"];
    let mut out = Vec::new();
    put_header(&mut out, &place());
    let header = out.len();
    for chunk in chunks {
        put_output(&mut out, 10, OutputStream::Out, chunk);
    }
    let whole: Vec<u8> = chunks.concat();
    for len in header..=out.len() {
        let (bytes, offset) = read_all(&out[..len]);
        assert!(whole.starts_with(&bytes), "cut at {len}: {bytes:?}");
        let mut edge = 0;
        let at_an_edge = bytes.is_empty()
            || chunks.iter().any(|c| {
                edge += c.len();
                edge == bytes.len()
            });
        assert!(at_an_edge, "cut at {len}: {bytes:?}");
        assert_eq!(offset, 100 + bytes.len() as u64);
    }
    assert_eq!(read_all(&out).0, whole);
}

proptest! {
    #[test]
    fn output_survives_byte_for_byte(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..80), 0..12)) {
        let mut out = Vec::new();
        put_header(&mut out, &place());
        for chunk in &chunks {
            put_output(&mut out, 7, OutputStream::Out, chunk);
        }
        prop_assert_eq!(read_all(&out).0, chunks.concat());
    }

    #[test]
    fn kept_back_tails_make_valid_text_valid(text in "\\PC{0,60}", cut in 0usize..240) {
        let bytes = text.as_bytes();
        let cut = cut.min(bytes.len());
        let tail = unfinished_tail(&bytes[..cut]);
        prop_assert!(tail <= 3);
        prop_assert!(std::str::from_utf8(&bytes[..cut - tail]).is_ok());
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(Some(mut reader)) = CastReader::new(&bytes) {
            while let Ok(Some(_)) = reader.next_event() {}
        }
    }
}
