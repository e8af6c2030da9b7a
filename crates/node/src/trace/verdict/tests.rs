//! Each verdict by its rule, and what holds for any trace.

use std::collections::BTreeMap;

use edgeplane_types::{SpanId, Timestamp};
use edgeplane_wire::api::trace::{EntryPoint, Quiet, TraceGap};
use proptest::prelude::*;

use super::*;

fn at(ms: u64) -> Timestamp {
    Timestamp::from_micros(0).plus_millis(ms)
}

fn id(number: u8) -> SpanId {
    SpanId::from_bytes([number.saturating_add(1); 8]).unwrap()
}

/// A part of a request, of so many milliseconds from so many on; without an end it is open.
fn span(number: u8, parent: Option<u8>, segment: Segment, (from, to): (u64, Option<u64>)) -> Span {
    Span {
        span_id: id(number),
        parent: parent.map(id),
        name: format!("span {number}"),
        segment,
        owner: Owner { kind: OwnerKind::Agent, name: format!("owner {number}"), of: None },
        start: at(from),
        end: to.map(at),
        status: if to.is_some() { SpanStatus::Ok } else { SpanStatus::Open },
        reason: None,
        quiet: None,
        attributes: BTreeMap::new(),
        events: vec![u64::from(number)],
    }
}

fn trace(spans: Vec<Span>, as_of: u64) -> Waterfall {
    let is_open = spans.iter().any(|span| span.status == SpanStatus::Open);
    Waterfall {
        trace_id: "4bf92f3577b34da6a3ce929d0e0e4736".parse().unwrap(),
        as_of: at(as_of),
        as_of_pos: 100,
        entry_point: EntryPoint { operation: "x".to_owned(), user_id: "u".to_owned(), agent: None },
        start: spans.iter().map(|span| span.start).min().unwrap_or(at(0)),
        end: spans.iter().filter_map(|span| span.end).max().filter(|_| !is_open),
        spans,
        gaps: Vec::new(),
    }
}

fn check(spans: Vec<Span>, as_of: u64, expected: (TraceVerdict, &str, &str)) {
    let found = explain(&trace(spans, as_of));
    assert_eq!((found.verdict, found.rule.as_str(), found.owner.name.as_str()), expected, "{found:#?}");
}

/// Proves TRACE-010, TRACE-011.
#[test]
fn each_wait_has_its_verdict() {
    use Segment::{
        ApprovalWait, ConnectorPermission, Delivery, QueueWait, Request, RuntimeDelay, Tool, Turn,
        WorkspaceLock,
    };
    let asked = || span(0, None, Request, (0, Some(10_000)));
    let healthy = (TraceVerdict::Healthy, "within-limits", "owner 1");
    check(vec![asked(), span(1, Some(0), Turn, (0, Some(10_000)))], 10_000, healthy);
    let slow = |segment, to| {
        vec![asked(), span(1, Some(0), segment, (0, Some(to))), span(2, Some(0), Turn, (to, Some(10_000)))]
    };
    for (segment, verdict, rule) in [
        (QueueWait, TraceVerdict::QueueWait, "waited-in-the-queue"),
        (Delivery, TraceVerdict::QueueWait, "waited-in-the-queue"),
        (RuntimeDelay, TraceVerdict::RuntimeDelay, "waited-for-the-program"),
        (ApprovalWait, TraceVerdict::ApprovalWait, "waited-for-a-person"),
        (ConnectorPermission, TraceVerdict::ConnectorPermission, "waited-for-leave-to-call"),
        (WorkspaceLock, TraceVerdict::WorkspaceLock, "waited-for-a-lock"),
    ] {
        check(slow(segment, 6_000), 10_000, (verdict, rule, "owner 1"));
        // Less than a fifth of all is what any day has, and so is less than a second.
        check(slow(segment, 1_900), 10_000, (TraceVerdict::Healthy, "within-limits", "owner 2"));
        let short = vec![span(1, None, segment, (0, Some(900)))];
        check(short, 900, (TraceVerdict::Healthy, "within-limits", "owner 1"));
    }
    let mut tool = span(2, Some(1), Tool, (500, Some(9_500)));
    tool.status = SpanStatus::Error;
    let expected = (TraceVerdict::RuntimeDelay, "tool-ended-badly", "owner 2");
    check(vec![asked(), span(1, Some(0), Turn, (0, Some(10_000))), tool.clone()], 10_000, expected);
    tool.status = SpanStatus::Ok;
    let expected = (TraceVerdict::Healthy, "within-limits", "owner 2");
    check(vec![asked(), span(1, Some(0), Turn, (0, Some(10_000))), tool], 10_000, expected);
}

/// Proves TRACE-010.
#[test]
fn a_refused_call_is_the_verdict_where_nothing_else_is() {
    let mut refused = span(2, Some(1), Segment::ConnectorPermission, (500, Some(500)));
    refused.status = SpanStatus::Error;
    let turn = |to| span(1, None, Segment::Turn, (0, Some(to)));
    let expected = (TraceVerdict::ConnectorPermission, "call-refused", "owner 1");
    check(vec![turn(800), refused.clone()], 800, expected);
    let waited = span(3, None, Segment::QueueWait, (0, Some(6_000)));
    let expected = (TraceVerdict::QueueWait, "waited-in-the-queue", "owner 3");
    check(vec![waited, refused], 6_000, expected);
}

/// Proves TRACE-011.
#[test]
fn a_request_that_was_refused_because_of_a_lock_says_so_however_short_it_was() {
    let mut refused = span(1, Some(0), Segment::WorkspaceLock, (5, Some(5)));
    refused.status = SpanStatus::Error;
    let expected = (TraceVerdict::WorkspaceLock, "refused-by-a-lock", "node");
    check(vec![span(0, None, Segment::Request, (5, Some(5))), refused], 9, expected);
}

/// Proves TRACE-012.
#[test]
fn silence_counts_only_where_no_answer_came() {
    let turn = |status, ms, limit_ms| {
        let mut turn = span(1, None, Segment::Turn, (0, (status != SpanStatus::Open).then_some(10_000)));
        turn.status = status;
        turn.quiet = Some(Quiet { from: at(0), ms, limit_ms });
        vec![turn]
    };
    let timeout = (TraceVerdict::InferenceTimeout, "turn-without-a-sign-of-life", "owner 1");
    let healthy = (TraceVerdict::Healthy, "within-limits", "owner 1");
    check(turn(SpanStatus::Open, 9_000, 5_000), 10_000, timeout);
    check(turn(SpanStatus::Error, 9_000, 5_000), 10_000, timeout);
    check(turn(SpanStatus::Ok, 9_000, 5_000), 10_000, healthy);
    check(turn(SpanStatus::Unknown, 9_000, 5_000), 10_000, healthy);
    check(turn(SpanStatus::Open, 4_999, 5_000), 10_000, healthy);
}

/// Proves TRACE-011.
#[test]
fn what_goes_on_now_counts_before_what_took_longer() {
    let spans = vec![
        span(0, None, Segment::Request, (0, None)),
        span(1, Some(0), Segment::QueueWait, (0, Some(6_000))),
        span(2, Some(0), Segment::Turn, (6_000, None)),
        span(3, Some(2), Segment::ApprovalWait, (6_000, None)),
    ];
    check(spans, 10_000, (TraceVerdict::ApprovalWait, "waited-for-a-person", "owner 1"));
}

/// Proves TRACE-015.
#[test]
fn gap_counts_before_all() {
    let mut trace = trace(vec![span(1, None, Segment::QueueWait, (0, Some(9_000)))], 9_000);
    trace.gaps.push(TraceGap { what: "output".to_owned(), agent: None, at: at(1), events: vec![7] });
    let found = explain(&trace);
    assert_eq!((found.verdict, found.evidence[0].pos), (TraceVerdict::ReplayGap, 7));
}

#[test]
fn nothing_is_healthy() {
    let found = explain(&trace(Vec::new(), 5));
    assert_eq!((found.verdict, found.critical_path.len()), (TraceVerdict::Healthy, 0));
}

fn any_span() -> impl Strategy<Value = Span> {
    let segments = prop::sample::select(vec![
        Segment::Request,
        Segment::QueueWait,
        Segment::RuntimeDelay,
        Segment::Delivery,
        Segment::Turn,
        Segment::Tool,
        Segment::ApprovalWait,
        Segment::ConnectorPermission,
        Segment::WorkspaceLock,
    ]);
    let statuses =
        prop::sample::select(vec![SpanStatus::Ok, SpanStatus::Error, SpanStatus::Open, SpanStatus::Unknown]);
    // Parents may be missing, later, or in a circle: the record of another day may hold anything.
    let places = (0_u8..24, prop::option::of(0_u8..24));
    (
        places,
        segments,
        statuses,
        (0_u64..50_000, 0_u64..50_000),
        prop::option::of((0_u64..90_000, 1_u64..90_000)),
    )
        .prop_map(|((number, parent), segment, status, (from, took), quiet)| {
            let end = (status != SpanStatus::Open).then_some(from + took);
            let mut span = span(number, parent, segment, (from, end));
            span.status = status;
            span.quiet = quiet.map(|(ms, limit_ms)| Quiet { from: at(from), ms, limit_ms });
            span
        })
}

proptest! {
    /// Proves TRACE-009, TRACE-010.
    #[test]
    fn any_trace_has_one_verdict_and_a_path_without_overlaps(
        spans in prop::collection::vec(any_span(), 0..40),
        as_of in 0_u64..120_000,
        has_gap in any::<bool>(),
    ) {
        let mut trace = trace(spans, as_of);
        if has_gap {
            trace.gaps.push(TraceGap { what: "x".to_owned(), agent: None, at: at(0), events: Vec::new() });
        }
        let found = explain(&trace);
        prop_assert_eq!(&found, &explain(&trace), "the same trace gives the same");
        prop_assert_eq!(has_gap, found.verdict == TraceVerdict::ReplayGap);
        prop_assert!(!found.rule.is_empty() && !found.reason.is_empty());
        for pair in found.critical_path.windows(2) {
            prop_assert!(pair[0].from.plus_millis(pair[0].ms) <= pair[1].from, "{:?}", pair);
        }
        // Every moment in which something was open belongs to something.
        let mut covered: Vec<(u64, u64)> = trace
            .spans
            .iter()
            .map(|span| (span.start.as_millis(), span.end.unwrap_or(trace.as_of).max(span.start).as_millis()))
            .collect();
        covered.sort_unstable();
        let (mut total, mut until) = (0, 0);
        for (from, to) in covered {
            total += to.max(until) - from.max(until).min(to.max(until));
            until = until.max(to);
        }
        let on_path: u64 = found.critical_path.iter().map(|stretch| stretch.ms).sum();
        prop_assert_eq!(on_path, total);
        if let Some(slowest) = &found.slowest {
            prop_assert!(slowest.ms <= total && slowest.owner == found.owner);
        }
    }
}
