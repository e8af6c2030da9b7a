//! The critical path: what was waited for at each moment of a trace. Pure.

use std::collections::{BTreeSet, HashMap};

use edgeplane_types::{SpanId, Timestamp};
use edgeplane_wire::api::trace::{PathStretch, Segment, Span, Waterfall};

/// Parents that are gone up before a span counts as deep enough; no honest trace has as many.
const DEPTH_MAX: usize = 256;

/// Divides a trace's time among its spans: each moment belongs to the innermost span that was open then, and of several
/// to a person who is waited for, then to the one that began last. Stretches follow each other and do not overlap.
pub(crate) fn critical(waterfall: &Waterfall) -> Vec<PathStretch> {
    let depths = depths(&waterfall.spans);
    let end_of = |span: &Span| span.end.unwrap_or(waterfall.as_of).max(span.start);
    let mut order: Vec<usize> = (0..waterfall.spans.len()).collect();
    // The one that a moment belongs to comes last of those that are open.
    let rank = |index: &usize| {
        let span = waterfall.spans.get(*index);
        let waits = [Segment::ApprovalWait, Segment::ConnectorPermission];
        let waits_for_person = span.is_some_and(|span| waits.contains(&span.segment));
        let depth = depths.get(*index).copied().unwrap_or(0);
        (depth, waits_for_person, span.map(|span| (span.start, span.span_id)))
    };
    order.sort_by_key(rank);
    let place: HashMap<usize, usize> = order.iter().enumerate().map(|(at, index)| (*index, at)).collect();
    // Begins and ends in order of time, so that each moment is looked at once however many spans there are.
    let mut turns: Vec<(Timestamp, bool, usize)> = Vec::new();
    for (index, span) in waterfall.spans.iter().enumerate() {
        let (start, end) = (span.start, end_of(span));
        if end > start {
            turns.push((start, true, index));
            turns.push((end, false, index));
        }
    }
    turns.sort_unstable();
    let mut open: BTreeSet<usize> = BTreeSet::new();
    let mut path: Vec<PathStretch> = Vec::new();
    let mut since: Option<Timestamp> = None;
    for (at, begins, index) in turns {
        let now = open.last().and_then(|at| order.get(*at)).and_then(|index| waterfall.spans.get(*index));
        if let (Some(from), Some(span)) = (since, now) {
            stretch(&mut path, span, from, at);
        }
        since = Some(at);
        let Some(place) = place.get(&index) else { continue };
        if begins {
            open.insert(*place);
        } else {
            open.remove(place);
        }
    }
    path
}

/// Adds a stretch, or makes the last one longer.
fn stretch(path: &mut Vec<PathStretch>, span: &Span, from: Timestamp, to: Timestamp) {
    if to <= from {
        return;
    }
    match path.last_mut() {
        // Behind a time in which nothing was open it is another stretch, whoever it belongs to.
        Some(last)
            if last.span_id == span.span_id && from < last.from.plus_millis(last.ms.saturating_add(1)) =>
        {
            last.ms = to.millis_since(last.from);
        }
        _ => path.push(PathStretch {
            span_id: span.span_id,
            name: span.name.clone(),
            segment: span.segment,
            owner: span.owner.clone(),
            from,
            ms: to.millis_since(from),
        }),
    }
}

/// How many spans each one is a part of.
pub(crate) fn depths(spans: &[Span]) -> Vec<usize> {
    let parents: HashMap<SpanId, Option<SpanId>> =
        spans.iter().map(|span| (span.span_id, span.parent)).collect();
    let depth = |span: &Span| {
        let mut depth = 0;
        let mut next = span.parent;
        while let Some(parent) = next
            && depth < DEPTH_MAX
        {
            match parents.get(&parent) {
                Some(above) => {
                    depth = depth.saturating_add(1);
                    next = *above;
                }
                None => break,
            }
        }
        depth
    };
    spans.iter().map(depth).collect()
}
