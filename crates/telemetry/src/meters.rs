//! The metrics. Labels are words of which there are few: methods, error names, agents. Never an id.

use edgeplane_types::Timestamp;
use edgeplane_wire::api::trace::{Segment, Span, SpanStatus};
use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram, MeterProvider as _},
};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use crate::{Request, names};

/// Bounds of durations in seconds, from a call that is answered from memory to a person who was at lunch.
const SECONDS: [f64; 15] = [
    0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0, 7_200.0,
];

/// Bounds of numbers of tokens.
const TOKENS: [f64; 10] =
    [1.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0];

/// What is only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Events by which a follower was behind.
    Behind,
    /// A part of a recording or a stream that is missing.
    Gap,
    /// Turns that were not looked at.
    PassedOver,
}

#[derive(Debug)]
pub(crate) struct Meters {
    calls: Histogram<f64>,
    turns: Histogram<f64>,
    tools: Histogram<f64>,
    tokens: Histogram<u64>,
    queue: Histogram<f64>,
    actions: Histogram<f64>,
    recovery: Histogram<f64>,
    lag: Counter<u64>,
    gaps: Counter<u64>,
    passed_over: Counter<u64>,
}

impl Meters {
    pub(crate) fn of(provider: &SdkMeterProvider) -> Self {
        let meter = provider.meter(names::SCOPE);
        let seconds = |name: &'static str| {
            meter.f64_histogram(name).with_unit("s").with_boundaries(SECONDS.to_vec()).build()
        };
        Self {
            calls: seconds(names::CALL_DURATION),
            turns: seconds(names::INVOKE_AGENT_DURATION),
            tools: seconds(names::EXECUTE_TOOL_DURATION),
            tokens: meter
                .u64_histogram(names::TOKEN_USAGE)
                .with_unit("{token}")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            queue: seconds(names::QUEUE_WAIT),
            actions: seconds(names::ACTION_WAIT),
            recovery: seconds(names::RECOVERY_DURATION),
            lag: meter.u64_counter(names::STREAM_LAG).with_unit("{event}").build(),
            gaps: meter.u64_counter(names::STREAM_GAPS).with_unit("{gap}").build(),
            passed_over: meter.u64_counter(names::PASSED_OVER).with_unit("{turn}").build(),
        }
    }

    pub(crate) fn request(&self, request: &Request<'_>) {
        let method = KeyValue::new(names::RPC_METHOD, request.trace.operation.clone());
        let took = seconds(request.start, request.end);
        match request.error {
            Some(error) => {
                self.calls.record(took, &[method, KeyValue::new(names::ERROR_TYPE, error.as_str())]);
            }
            None => self.calls.record(took, &[method]),
        }
    }

    pub(crate) fn span(&self, span: &Span) {
        let took = seconds(span.start, span.end.unwrap_or(span.start));
        let agent = span.owner.of.clone().unwrap_or_else(|| span.owner.name.clone());
        let mut labels = vec![KeyValue::new(names::AGENT_NAME, agent)];
        if span.status == SpanStatus::Error {
            labels.push(KeyValue::new(names::ERROR_TYPE, "_OTHER"));
        }
        match span.segment {
            Segment::Turn => {
                self.turns.record(took, &labels);
                self.used(span, &labels);
            }
            Segment::Tool => self.tools.record(took, &labels),
            Segment::QueueWait => self.queue.record(took, &labels),
            Segment::ApprovalWait | Segment::ConnectorPermission => self.actions.record(took, &labels),
            Segment::RuntimeDelay => self.recovery.record(took, &labels),
            Segment::Request | Segment::Delivery | Segment::WorkspaceLock => {}
        }
    }

    fn used(&self, turn: &Span, labels: &[KeyValue]) {
        for (attribute, kind) in [(names::USAGE_INPUT, "input"), (names::USAGE_OUTPUT, "output")] {
            let tokens = turn.attributes.get(attribute).and_then(|count| count.parse().ok());
            if let Some(tokens) = tokens {
                let mut labels = labels.to_vec();
                labels.push(KeyValue::new(names::TOKEN_TYPE, kind));
                self.tokens.record(tokens, &labels);
            }
        }
    }

    pub(crate) fn counted(&self, what: Counted, times: u64) {
        match what {
            Counted::Behind => self.lag.add(times, &[]),
            Counted::Gap => self.gaps.add(times, &[]),
            Counted::PassedOver => self.passed_over.add(times, &[]),
        }
    }
}

/// A duration in seconds; what is not exact at this size nobody measures.
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    let micros = to.as_micros().saturating_sub(from.as_micros()).max(0);
    u32::try_from(micros).map_or_else(
        |_long| f64::from(u32::try_from(micros / 1_000).unwrap_or(u32::MAX)) / 1e3,
        |micros| f64::from(micros) / 1e6,
    )
}
