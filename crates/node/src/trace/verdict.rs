//! What a trace comes to: one verdict, by one rule, with its evidence.
//!
//! Pure: the same trace as of the same moment always gives the same. The limits are those of `docs/guide/traces.md`.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use edgeplane_types::SpanId;
use edgeplane_wire::api::trace::{
    Explanation, Owner, OwnerKind, PathStretch, Segment, Span, SpanStatus, TraceEvidence, TraceVerdict,
    Waterfall,
};

use super::path;

/// From how long on waiting for a person, for a busy agent or for a program counts, in milliseconds. Shorter waits are
/// what any day has.
pub(crate) const WAIT_MS: u64 = 1_000;

/// Which share of a trace's time something must have taken to be its verdict, in percent.
pub(crate) const SHARE_PERCENT: u64 = 20;

/// The rule by which a refused call is a verdict.
const CALL_REFUSED: &str = "call-refused";

/// Pieces of evidence that are given.
const EVIDENCE_MAX: usize = 16;

/// What took time, and what of it counts.
struct Candidate<'a> {
    verdict: TraceVerdict,
    ms: u64,
    rule: &'static str,
    spans: Vec<&'a Span>,
    /// Whether it goes on.
    is_open: bool,
}

/// Decides what a trace comes to.
pub(crate) fn explain(waterfall: &Waterfall) -> Explanation {
    let critical_path = path::critical(waterfall);
    let times = times(&critical_path);
    let total = critical_path.iter().fold(0_u64, |sum, stretch| sum.saturating_add(stretch.ms));
    let slowest = slowest(&critical_path, &times);
    let owner = slowest.as_ref().map_or_else(
        || Owner { kind: OwnerKind::Node, name: "node".to_owned(), of: None },
        |slowest| slowest.owner.clone(),
    );
    let (verdict, rule, reason, evidence) = decide(waterfall, &times, total, slowest.as_ref());
    Explanation {
        trace_id: waterfall.trace_id,
        as_of: waterfall.as_of,
        entry_point: waterfall.entry_point.clone(),
        verdict,
        rule: rule.to_owned(),
        reason,
        owner,
        slowest,
        critical_path,
        evidence,
    }
}

type Decision = (TraceVerdict, &'static str, String, Vec<TraceEvidence>);

fn decide(
    waterfall: &Waterfall,
    times: &HashMap<SpanId, u64>,
    total: u64,
    slowest: Option<&PathStretch>,
) -> Decision {
    if let Some(gap) = waterfall.gaps.first() {
        let shown = waterfall.gaps.iter().flat_map(|gap| {
            gap.events.iter().map(|pos| TraceEvidence { pos: *pos, shows: gap.what.clone() })
        });
        let reason = format!("a part of what happened is not in the record: {}", gap.what);
        return (TraceVerdict::ReplayGap, "gap", reason, shown.take(EVIDENCE_MAX).collect());
    }
    let mut candidates = candidates(&waterfall.spans, times);
    candidates.retain(|found| found.ms.saturating_mul(100) >= total.saturating_mul(SHARE_PERCENT));
    // What goes on now holds the request up, whatever took longer before. Of two that took as long the first counts, in
    // the order in which the verdicts are listed.
    let chosen = candidates
        .into_iter()
        .max_by_key(|found| (found.is_open, found.ms, std::cmp::Reverse(found.verdict)))
        .or_else(|| refused(&waterfall.spans));
    match chosen {
        Some(found) => {
            let reason = in_words(&found);
            (found.verdict, found.rule, reason, evidence(&found))
        }
        None => {
            let reason = match slowest {
                Some(slowest) => {
                    format!("nothing was waited for too long; most time took `{}`", slowest.name)
                }
                None => "nothing took time".to_owned(),
            };
            (TraceVerdict::Healthy, "within-limits", reason, Vec::new())
        }
    }
}

/// Everything that took longer than it should.
fn candidates<'a>(spans: &'a [Span], times: &HashMap<SpanId, u64>) -> Vec<Candidate<'a>> {
    let waits = [
        (TraceVerdict::ApprovalWait, "waited-for-a-person", &[Segment::ApprovalWait][..]),
        (TraceVerdict::QueueWait, "waited-in-the-queue", &[Segment::QueueWait, Segment::Delivery][..]),
        (TraceVerdict::RuntimeDelay, "waited-for-the-program", &[Segment::RuntimeDelay][..]),
        (TraceVerdict::ConnectorPermission, "waited-for-leave-to-call", &[Segment::ConnectorPermission][..]),
        (TraceVerdict::WorkspaceLock, "waited-for-a-lock", &[Segment::WorkspaceLock][..]),
    ];
    let mut found = Vec::new();
    for (verdict, rule, segments) in waits {
        let spans: Vec<&Span> = spans.iter().filter(|span| segments.contains(&span.segment)).collect();
        found.extend(candidate(verdict, rule, spans, times));
    }
    let failed = |span: &&Span| span.segment == Segment::Tool && span.status == SpanStatus::Error;
    let tools: Vec<&Span> = spans.iter().filter(failed).collect();
    found.extend(candidate(TraceVerdict::RuntimeDelay, "tool-ended-badly", tools, times));
    // A turn that ended with an answer was slow, but no timeout.
    for span in spans.iter().filter(|span| span.segment == Segment::Turn) {
        let Some(quiet) = span.quiet else { continue };
        let is_lost = matches!(span.status, SpanStatus::Open | SpanStatus::Error);
        if is_lost && quiet.ms >= quiet.limit_ms {
            found.push(Candidate {
                verdict: TraceVerdict::InferenceTimeout,
                ms: quiet.ms,
                rule: "turn-without-a-sign-of-life",
                spans: vec![span],
                is_open: span.status == SpanStatus::Open,
            });
        }
    }
    found
}

/// What was refused. It takes no time, so it counts where nothing else does.
fn refused(spans: &[Span]) -> Option<Candidate<'_>> {
    let of = |segment: Segment, verdict: TraceVerdict, rule: &'static str| {
        let is_refused = |span: &&Span| span.segment == segment && span.status == SpanStatus::Error;
        let spans: Vec<&Span> = spans.iter().filter(is_refused).collect();
        (!spans.is_empty()).then_some(Candidate { verdict, ms: 0, rule, spans, is_open: false })
    };
    of(Segment::ConnectorPermission, TraceVerdict::ConnectorPermission, CALL_REFUSED)
        .or_else(|| of(Segment::WorkspaceLock, TraceVerdict::WorkspaceLock, "refused-by-a-lock"))
}

fn candidate<'a>(
    verdict: TraceVerdict,
    rule: &'static str,
    spans: Vec<&'a Span>,
    times: &HashMap<SpanId, u64>,
) -> Option<Candidate<'a>> {
    let of = |span: &Span| times.get(&span.span_id).copied().unwrap_or(0);
    let ms = spans.iter().fold(0_u64, |sum, span| sum.saturating_add(of(span)));
    let counted: Vec<&Span> = spans.into_iter().filter(|span| of(span) > 0).collect();
    let is_open = counted.iter().any(|span| span.status == SpanStatus::Open);
    (ms >= WAIT_MS).then_some(Candidate { verdict, ms, rule, spans: counted, is_open })
}

fn in_words(found: &Candidate<'_>) -> String {
    let names: Vec<String> = found.spans.iter().take(3).map(|span| format!("`{}`", span.name)).collect();
    let (names, ms) = (names.join(", "), found.ms);
    let tense = if found.is_open { "and goes on" } else { "in all" };
    match found.verdict {
        TraceVerdict::ApprovalWait => format!("{ms} ms {tense} for a person: {names}"),
        TraceVerdict::QueueWait => format!("{ms} ms {tense} behind other work: {names}"),
        TraceVerdict::RuntimeDelay if found.rule == "tool-ended-badly" => {
            let how = found.spans.iter().find_map(|span| span.reason.clone()).unwrap_or_default();
            format!("{ms} ms {tense} in a tool that ended badly: {names}: {how}")
        }
        TraceVerdict::RuntimeDelay => format!("{ms} ms {tense} until a program took it: {names}"),
        TraceVerdict::InferenceTimeout => {
            format!("{ms} ms without a sign of life {tense}: {names}")
        }
        TraceVerdict::ConnectorPermission if found.rule == CALL_REFUSED => {
            let why = found.spans.iter().find_map(|span| span.reason.clone()).unwrap_or_default();
            format!("a call was refused: {names}: {why}")
        }
        TraceVerdict::ConnectorPermission => format!("{ms} ms {tense} for leave to call: {names}"),
        TraceVerdict::WorkspaceLock => format!("{ms} ms {tense} for whoever has a lock: {names}"),
        TraceVerdict::ReplayGap | TraceVerdict::Healthy => names,
    }
}

fn evidence(found: &Candidate<'_>) -> Vec<TraceEvidence> {
    let of = |span: &&Span| -> Vec<TraceEvidence> {
        let shows = match (&span.reason, span.status) {
            (Some(reason), _) => format!("`{}`: {reason}", span.name),
            (None, SpanStatus::Open) => format!("`{}` began and has not ended", span.name),
            (None, _) => format!("`{}` from its beginning to its end", span.name),
        };
        span.events.iter().map(|pos| TraceEvidence { pos: *pos, shows: shows.clone() }).collect()
    };
    found.spans.iter().flat_map(of).take(EVIDENCE_MAX).collect()
}

/// The time of each span on the path.
fn times(path: &[PathStretch]) -> HashMap<SpanId, u64> {
    let mut times: HashMap<SpanId, u64> = HashMap::new();
    for stretch in path {
        let time = times.entry(stretch.span_id).or_default();
        *time = time.saturating_add(stretch.ms);
    }
    times
}

/// The span that took most of the path, with all its time; of several the first.
fn slowest(path: &[PathStretch], times: &HashMap<SpanId, u64>) -> Option<PathStretch> {
    let of = |stretch: &PathStretch| times.get(&stretch.span_id).copied().unwrap_or(0);
    let most = path.iter().map(of).max()?;
    path.iter().find(|stretch| of(stretch) == most).map(|found| PathStretch { ms: most, ..found.clone() })
}
