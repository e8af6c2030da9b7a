//! What is drawn: lines that fit, trees and bars that say what is in what and when.

use std::collections::BTreeMap;

use edgeplane_wire::api::trace::EntryPoint;

use super::*;

fn span(number: u8, parent: Option<u8>, (name, segment): (&str, Segment), ms: (u64, Option<u64>)) -> Span {
    let id = |number: u8| SpanId::from_bytes([number; 8]).unwrap();
    let at = |ms: u64| Timestamp::from_micros(0).plus_millis(ms);
    Span {
        span_id: id(number),
        parent: parent.map(id),
        name: name.to_owned(),
        segment,
        owner: Owner { kind: OwnerKind::Agent, name: "builder".to_owned(), of: None },
        start: at(ms.0),
        end: ms.1.map(at),
        status: if ms.1.is_some() { SpanStatus::Ok } else { SpanStatus::Open },
        reason: None,
        quiet: None,
        attributes: BTreeMap::new(),
        events: Vec::new(),
    }
}

fn sample() -> Waterfall {
    let at = |ms: u64| Timestamp::from_micros(0).plus_millis(ms);
    Waterfall {
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736".parse().unwrap(),
        as_of: at(10_000),
        as_of_pos: 9,
        entry_point: EntryPoint {
            operation: "runtime/agent.ask".to_owned(),
            user_id: "uid-0".to_owned(),
            agent: Some("builder".to_owned()),
        },
        start: at(0),
        end: None,
        spans: vec![
            span(1, None, ("runtime/agent.ask", Segment::Request), (0, None)),
            span(2, Some(1), ("wait in the queue of builder", Segment::QueueWait), (0, Some(2_500))),
            span(3, Some(1), ("invoke_agent builder", Segment::Turn), (2_500, None)),
            span(4, Some(3), ("execute_tool cargo", Segment::Tool), (5_000, Some(7_500))),
            span(
                5,
                Some(3),
                ("a name that is far too long for any column", Segment::Tool),
                (7_500, Some(7_500)),
            ),
        ],
        gaps: Vec::new(),
    }
}

fn plain(line: &str) -> String {
    line.chars().filter(|c| !('\u{2060}'..='\u{2064}').contains(c)).collect()
}

/// Proves TRACE-016.
#[test]
fn waterfall_fits_its_terminal() {
    for (columns, glyphs) in [(80, Glyphs::ASCII), (120, Glyphs::UNICODE), (200, Glyphs::UNICODE)] {
        for line in spans(&sample(), &Canvas { columns, glyphs }) {
            let line = plain(&line);
            assert!(line.chars().count() <= usize::from(columns), "{columns}: {line}");
        }
    }
    // One that has no room at all is drawn all the same.
    assert_eq!(spans(&sample(), &Canvas { columns: 1, glyphs: Glyphs::ASCII }).len(), 5);
}

/// Proves TRACE-016.
#[test]
fn tree_and_bars_say_what_is_in_what_and_when() {
    let lines: Vec<String> = spans(&sample(), &Canvas { columns: 80, glyphs: Glyphs::ASCII })
        .iter()
        .map(|line| plain(line))
        .collect();
    let expected = [
        "~ runtime/agent.ask         builder   10.00 s ",
        "+ |-wait in the queue of ",
        "~ `-invoke_agent builder ",
        "+   |-execute_tool cargo ",
        "+   `-a name that is far ",
    ];
    for (line, expected) in lines.iter().zip(expected) {
        let begin: String = line.chars().take(20).collect();
        assert!(expected.starts_with(&begin), "{begin:?} of {line:?}, expected {expected:?}");
    }
    let begin = |line: &str, glyph: char| line.rfind(glyph).unwrap_or_default();
    // Half of the time has passed when the tool begins, and it ends before what goes on.
    assert!(begin(&lines[3], '#') < begin(&lines[0], '>'), "{lines:#?}");
    assert!(lines[1].contains("....") && lines[0].ends_with('>') && lines[2].ends_with('>'), "{lines:#?}");
}

#[test]
fn durations_fit_their_column() {
    let all = [(0, "0 ms"), (999, "999 ms"), (1_000, "1.00 s"), (61_500, "1m 01s"), (7_260_000, "2h 01m")];
    for (ms, expected) in all {
        assert_eq!(duration(ms), expected);
    }
}
