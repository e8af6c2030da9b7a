//! What a manifest may say of a schedule, a schedule can be made from: the two read the same words and share no code.
#![expect(clippy::unwrap_used, reason = "a test")]

use edgeplane_lifecycle::schedule::{CAUGHT_UP_MAX, CatchUp, Overlap, Plan, SPAN_MS_MIN, Schedule, When};
use edgeplane_manifest::{CronText, DueTime, ZoneName, schema};
use edgeplane_types::Timestamp;
use proptest::prelude::*;

fn compiled(when: When, zone: &str) -> Option<Schedule> {
    let plan = Plan {
        when,
        zone: zone.to_owned(),
        catch_up: CatchUp::Last,
        overlap: Overlap::Skip,
        jitter_ms: 0,
        deadline_ms: None,
        seed: Vec::new(),
    };
    Schedule::compile(&plan).ok()
}

fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

/// Something that may stand in a field of a cron expression, or nearly.
fn field() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        4 => Just("*".to_owned()),
        3 => (0..62_u8).prop_map(|number| number.to_string()),
        2 => (0..32_u8, 0..32_u8).prop_map(|(from, to)| format!("{from}-{to}")),
        2 => (1..70_u8).prop_map(|step| format!("*/{step}")),
        1 => prop::sample::select(vec!["L", "15W", "5L", "mon#2", "mon-fri", "sun", "jan", "?", "", "x", "1/2", "+1"])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(item, 1..3).prop_map(|items| items.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves SCH-018.
    #[test]
    fn every_expression_that_a_manifest_takes_comes_due(fields in prop::collection::vec(field(), 5..7)) {
        let text = fields.join(" ");
        if text.parse::<CronText>().is_ok() {
            let schedule = compiled(When::Cron(text.clone()), "Europe/Berlin");
            let due = schedule.and_then(|schedule| schedule.due_after(start()));
            prop_assert!(due.is_some(), "{text}");
        }
    }
}

/// Proves SCH-019.
#[test]
fn zones_times_and_bounds_are_the_same() {
    for zone in [
        "UTC",
        "Europe/Berlin",
        "europe/berlin",
        "Etc/UTC",
        "GMT",
        "Mars/Olympus",
        "Asia/Calcutta",
        "EST5EDT",
    ] {
        let made = compiled(When::Cron("0 9 * * *".to_owned()), zone).is_some();
        assert_eq!(made, zone.parse::<ZoneName>().is_ok(), "{zone}");
    }
    for text in
        ["2026-12-01T09:00", "2026-12-01T09:00:00.5", "2026-12-01T09:00:00Z", "2026-03-29T02:30:00+05:30"]
    {
        assert!(text.parse::<DueTime>().is_ok(), "{text}");
        assert!(compiled(When::At(text.to_owned()), "Europe/Berlin").is_some(), "{text}");
    }
    let body = &schema().to_value()["$defs"]["InlineSchedule"]["properties"];
    assert_eq!(body["every"]["x-edgeplane-min"], format!("{}s", SPAN_MS_MIN / 1_000));
    assert_eq!(body["catchUpMax"]["maximum"], CAUGHT_UP_MAX);
}
