//! Metrics as text, and addresses that are none.

use std::collections::BTreeMap;

use edgeplane_types::SpanId;
use edgeplane_wire::api::trace::{Owner, OwnerKind, Segment, SpanStatus};

use super::*;

fn settings(endpoint: Option<&str>) -> Settings {
    Settings { endpoint: endpoint.map(str::to_owned), node: "node".to_owned(), version: "0".to_owned() }
}

fn turn(seconds: u64) -> Span {
    let at = Timestamp::from_micros(1_000_000);
    Span {
        span_id: SpanId::from_bytes([7; 8]).unwrap(),
        parent: None,
        name: "invoke_agent reviewer".to_owned(),
        segment: Segment::Turn,
        owner: Owner { kind: OwnerKind::Agent, name: "reviewer".to_owned(), of: None },
        start: at,
        end: Some(at.plus_millis(seconds * 1_000)),
        status: SpanStatus::Ok,
        reason: None,
        quiet: None,
        attributes: BTreeMap::from([
            (names::USAGE_INPUT.to_owned(), "42".to_owned()),
            ("rt.message.id".to_owned(), "msg_0190a5b2-5b1e-7c3d-9f00-0123456789ab".to_owned()),
        ]),
        events: Vec::new(),
    }
}

/// Proves TRACE-013.
#[test]
fn metrics_are_text_without_an_id_in_a_label() {
    let telemetry = Telemetry::start(&settings(None)).unwrap();
    let trace: TraceId = "4bf92f3577b34da6a3ce929d0e0e4736".parse().unwrap();
    telemetry.ended(trace, &[turn(3)]);
    telemetry.counted(Counted::Gap, 2);
    let text = telemetry.prometheus();
    for expected in [
        "gen_ai_invoke_agent_duration_seconds_sum",
        "gen_ai_invoke_agent_duration_seconds_count",
        "gen_ai_client_token_usage",
        "rt_stream_gaps",
        "reviewer",
    ] {
        assert!(text.contains(expected), "{expected} is not in:\n{text}");
    }
    assert!(!text.contains("msg_") && !text.contains("4bf92f35"), "an id is in:\n{text}");
}

/// Proves TRACE-014.
#[test]
fn address_that_is_none_is_refused() {
    let error = Telemetry::start(&settings(Some("collector:4317"))).unwrap_err();
    assert!(matches!(error, StartError::Endpoint(_)), "{error}");
}
