//! When schedules are due, over changes of the clock, and what becomes of each occurrence, case by case.

use edgeplane_types::{
    AgentName, Fact, MessageId,
    schedule::{MissReason, RunCause, SkipReason},
};
use proptest::prelude::*;

use super::*;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn cron(expression: &str) -> When {
    When::Cron(expression.to_owned())
}

fn plan(when: When, zone: &str) -> Plan {
    Plan {
        when,
        zone: zone.to_owned(),
        catch_up: CatchUp::Last,
        overlap: Overlap::Skip,
        jitter_ms: 0,
        deadline_ms: None,
        seed: b"seed".to_vec(),
    }
}

fn schedule(when: When, zone: &str) -> Schedule {
    Schedule::compile(&plan(when, zone)).unwrap()
}

/// Expects the occurrences after `from` to be these, forward and backward.
fn check(when: When, zone: &str, from: &str, expected: &[&str]) {
    let schedule = schedule(when, zone);
    let mut at = time(from);
    for expected in expected {
        let due = schedule.due_after(at).unwrap();
        assert_eq!(due, time(expected), "after {at}");
        assert_eq!(schedule.due_by(due), Some(due));
        let before = Timestamp::from_micros(due.as_micros() - 1);
        assert!(schedule.due_by(before).is_none_or(|last| last <= at), "between {at} and {due}");
        at = due;
    }
}

/// Proves SCH-001.
#[test]
fn fields_are_read_against_the_clock_of_the_zone() {
    let weekdays = cron("0 9 * * mon-fri");
    check(
        weekdays.clone(),
        "Europe/Berlin",
        "2026-12-03T12:00:00Z",
        &["2026-12-04T08:00:00Z", "2026-12-07T08:00:00Z"],
    );
    check(weekdays.clone(), "Asia/Kolkata", "2026-12-03T12:00:00Z", &["2026-12-04T03:30:00Z"]);
    check(weekdays, "UTC", "2026-12-03T08:59:59.999999Z", &["2026-12-03T09:00:00Z", "2026-12-04T09:00:00Z"]);
    check(
        cron("*/20 59 23 * * *"),
        "UTC",
        "2026-12-31T23:59:20Z",
        &["2026-12-31T23:59:40Z", "2027-01-01T23:59:00Z"],
    );
    check(
        cron("0 0 29 2 *"),
        "UTC",
        "2026-01-01T00:00:00Z",
        &["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"],
    );
}

/// Proves SCH-002.
#[test]
fn named_hours_come_once_a_day() {
    // The clock goes from 02:00 to 03:00 at 01:00 UTC.
    check(
        cron("30 2 * * *"),
        "Europe/Berlin",
        "2026-03-28T02:00:00Z",
        &["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"],
    );
    check(
        cron("0,30 2,3 * * *"),
        "Europe/Berlin",
        "2026-03-28T12:00:00Z",
        &["2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:00:00Z"],
    );
    // And from 03:00 back to 02:00 at 01:00 UTC.
    check(
        cron("0,30 2 * * *"),
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"],
    );
    check(cron("30 2 * * *"), "Europe/Berlin", "2026-10-25T01:15:00Z", &["2026-10-26T01:30:00Z"]);
    // Half an hour, from 02:00 to 02:30 and from 02:00 back to 01:30.
    check(
        cron("15 2 * * *"),
        "Australia/Lord_Howe",
        "2026-10-03T00:00:00Z",
        &["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
    );
    check(
        cron("45 1 * * *"),
        "Australia/Lord_Howe",
        "2026-04-04T00:00:00Z",
        &["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"],
    );
    // The gap crosses midnight, and the time is still that of the day before.
    check(cron("30 23 * * sat"), "America/Nuuk", "2026-03-28T12:00:00Z", &["2026-03-29T01:00:00Z"]);
}

/// Proves SCH-003.
#[test]
fn every_hour_follows_the_clock() {
    check(
        cron("*/30 * * * *"),
        "Europe/Berlin",
        "2026-03-29T00:10:00Z",
        &["2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"],
    );
    check(
        cron("15 * * * *"),
        "Europe/Berlin",
        "2026-03-29T00:00:00Z",
        &["2026-03-29T00:15:00Z", "2026-03-29T01:15:00Z"],
    );
    check(
        cron("15 * * * *"),
        "Europe/Berlin",
        "2026-10-25T00:00:00Z",
        &["2026-10-25T00:15:00Z", "2026-10-25T01:15:00Z", "2026-10-25T02:15:00Z"],
    );
    check(
        cron("15 * * * *"),
        "Australia/Lord_Howe",
        "2026-10-03T14:00:00Z",
        &["2026-10-03T14:45:00Z", "2026-10-03T16:15:00Z"],
    );
    check(
        cron("45 * * * *"),
        "Australia/Lord_Howe",
        "2026-04-04T14:00:00Z",
        &["2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z", "2026-04-04T16:15:00Z"],
    );
}

/// Proves SCH-004.
#[test]
fn spans_are_elapsed_time() {
    let every = |span_ms, from: &str| When::Every { span_ms, from: time(from) };
    check(
        every(86_400_000, "2026-03-28T02:30:00+01:00"),
        "Europe/Berlin",
        "2026-03-01T00:00:00Z",
        &["2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T01:30:00Z"],
    );
    check(
        every(1_000, "2026-01-01T00:00:00.5Z"),
        "UTC",
        "2026-06-01T00:00:00Z",
        &["2026-06-01T00:00:00.5Z", "2026-06-01T00:00:01.5Z"],
    );
    assert_eq!(
        Schedule::compile(&plan(every(999, "2026-01-01T00:00:00Z"), "UTC")).err(),
        Some(PlanError::Span(999))
    );
    let end = schedule(every(u64::MAX / 2_000_000, "9999-01-01T00:00:00Z"), "UTC");
    assert_eq!(end.due_after(Timestamp::from_micros(i64::MAX)), None);
}

/// Proves SCH-005.
#[test]
fn a_single_moment_comes_once() {
    let at = |text: &str, zone, expected: &str| {
        let schedule = schedule(When::At(text.to_owned()), zone);
        assert_eq!(schedule.due_after(time("2026-01-01T00:00:00Z")), Some(time(expected)), "{text}");
        assert_eq!(schedule.due_after(time(expected)), None);
        assert_eq!(schedule.due_by(time("2030-01-01T00:00:00Z")), Some(time(expected)));
        assert_eq!(schedule.due_by(time("2026-01-01T00:00:00Z")), None);
    };
    at("2026-12-01T09:00:00", "Europe/Berlin", "2026-12-01T08:00:00Z");
    at("2026-12-01T09:00:00-05:00", "Europe/Berlin", "2026-12-01T14:00:00Z");
    at("2026-03-29T02:15:00", "Europe/Berlin", "2026-03-29T01:00:00Z");
    at("2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T00:30:00Z");
    at("2026-10-04T02:10:00", "Australia/Lord_Howe", "2026-10-03T15:30:00Z");
}

/// Proves SCH-005.
#[test]
fn a_moment_that_is_over_when_it_is_declared_is_missed() {
    let due = time("2026-01-02T00:00:00Z");
    for catch_up in [CatchUp::None, CatchUp::Last, CatchUp::All { max: 10 }] {
        let once = Plan { catch_up, ..plan(When::At("2026-01-02T00:00:00Z".to_owned()), "UTC") };
        let once = Schedule::compile(&once).unwrap();
        let late = declare(&once, None, time("2026-01-03T00:00:00Z"));
        let missed = Output::Miss { from: due, to: due, count: 1, reason: MissReason::Deadline };
        assert_eq!(late.outputs, [missed]);
        assert_eq!(step(&once, &late.state, &look("2026-01-04T00:00:00Z")).outputs, []);
        let early = declare(&once, None, time("2026-01-01T00:00:00Z"));
        assert_eq!(early.outputs, [Output::WakeAt(due)]);
        // Declared anew after it ran, it has nothing to miss.
        let ran = step(&once, &early.state, &look("2026-01-02T00:00:00Z"));
        assert_eq!(ran.outputs, [Output::Run { due_at: due, cause: RunCause::Due }]);
        assert_eq!(declare(&once, Some(&ran.state), time("2026-01-03T00:00:00Z")).outputs, []);
    }
}

#[test]
fn what_is_no_plan_is_refused() {
    let refused = |when, zone| Schedule::compile(&plan(when, zone)).err().map(|error| error.to_string());
    let text = refused(cron("0 25 * * *"), "UTC").unwrap();
    assert!(text.starts_with("`0 25 * * *` is not a cron expression: "), "{text}");
    assert!(refused(cron("0 0 0 1 1 * 2026"), "UTC").is_some());
    for zone in ["Europe/Berlinn", "europe/berlin", "", "CET+1"] {
        let text = refused(cron("0 9 * * *"), zone);
        assert_eq!(text, Some(format!("`{zone}` is not a time zone of the IANA database")));
    }
    assert!(refused(When::At("tomorrow".to_owned()), "UTC").is_some());
    assert!(schedule(cron("0 0 30 2 *"), "UTC").due_after(time("2026-01-01T00:00:00Z")).is_none());
}

/// A look of a node that has served all day.
fn look(now: &str) -> Input {
    Input::Looked(Look { now: time(now), serving_since: time("2026-01-01T00:00:00Z"), previous_open: false })
}

/// Minutes of a morning on which everything below happens.
fn at(clock: &str) -> Timestamp {
    time(&format!("2026-01-05T{clock}Z"))
}

fn run(clock: &str, cause: RunCause) -> Output {
    Output::Run { due_at: at(clock), cause }
}

fn missed(from: &str, to: &str, count: u64, reason: MissReason) -> Output {
    Output::Miss { from: at(from), to: at(to), count, reason }
}

/// A schedule of every hour, declared at 08:30, and its state.
fn hourly(catch_up: CatchUp, deadline_ms: Option<u64>) -> (Schedule, State) {
    let plan = Plan { catch_up, deadline_ms, ..plan(cron("0 * * * *"), "UTC") };
    let schedule = Schedule::compile(&plan).unwrap();
    let state = declare(&schedule, None, at("08:30:00")).state;
    (schedule, state)
}

/// Looks at `now` on a node that restarted at `since`, and expects this before the next alarm.
fn after_restart(hourly: (Schedule, State), since: &str, now: &str, expected: &[Output]) {
    let (schedule, _) = hourly;
    let state = State::from_facts([(at("08:30:00"), &declared())]).unwrap();
    let look = Look { now: at(now), serving_since: at(since), previous_open: false };
    let step = step(&schedule, &state, &Input::Looked(look));
    let (wake, outputs) = step.outputs.split_last().unwrap();
    assert_eq!(outputs, expected);
    assert_eq!(*wake, Output::WakeAt(schedule.due_after(at(now)).unwrap()));
    assert_eq!(Some(step.state.accounted_until()), schedule.due_by(at(now)));
}

fn name() -> AgentName {
    "hourly".parse().unwrap()
}

fn declared() -> Fact {
    Fact::ScheduleDeclared { name: name(), spec_digest: String::new(), spec_bytes: 0, in_manifest: true }
}

/// Proves SCH-008.
#[test]
fn an_absence_is_caught_up_by_the_rule() {
    use MissReason::NodeDown;
    use RunCause::{CatchUp as Late, Due};
    let rule = |catch_up| hourly(catch_up, None);
    after_restart(
        rule(CatchUp::None),
        "12:10:00",
        "12:10:01",
        &[missed("09:00:00", "12:00:00", 4, NodeDown)],
    );
    after_restart(
        rule(CatchUp::Last),
        "12:10:00",
        "12:10:01",
        &[missed("09:00:00", "11:00:00", 3, NodeDown), run("12:00:00", Late)],
    );
    after_restart(
        rule(CatchUp::All { max: 2 }),
        "12:10:00",
        "12:10:01",
        &[missed("09:00:00", "10:00:00", 2, NodeDown), run("11:00:00", Late), run("12:00:00", Late)],
    );
    after_restart(
        rule(CatchUp::All { max: 0 }),
        "09:10:00",
        "09:10:01",
        &[missed("09:00:00", "09:00:00", 1, NodeDown)],
    );
    // One that comes due in time is the last one, so nothing else runs beside it.
    after_restart(
        rule(CatchUp::Last),
        "10:59:59",
        "11:00:02",
        &[missed("09:00:00", "10:00:00", 2, NodeDown), run("11:00:00", Due)],
    );
    after_restart(
        rule(CatchUp::All { max: 1 }),
        "10:59:59",
        "11:00:02",
        &[missed("09:00:00", "09:00:00", 1, NodeDown), run("10:00:00", Late), run("11:00:00", Due)],
    );
}

/// Proves SCH-009.
#[test]
fn a_clock_put_forward_is_caught_up_by_the_rule() {
    use MissReason::{ClockJump, NodeDown};
    use RunCause::{CatchUp as Late, Due};
    let served = |catch_up, now: &str| {
        let (schedule, state) = hourly(catch_up, None);
        let mut outputs = step(&schedule, &state, &look(&format!("2026-01-05T{now}Z"))).outputs;
        outputs.pop();
        outputs
    };
    assert_eq!(served(CatchUp::None, "11:30:00"), [missed("09:00:00", "11:00:00", 3, ClockJump)]);
    assert_eq!(
        served(CatchUp::Last, "11:30:00"),
        [missed("09:00:00", "10:00:00", 2, ClockJump), run("11:00:00", Late)]
    );
    assert_eq!(served(CatchUp::None, "09:01:00"), [run("09:00:00", Due)]);
    assert_eq!(served(CatchUp::None, "09:01:00.001"), [missed("09:00:00", "09:00:00", 1, ClockJump)]);
    assert_eq!(
        served(CatchUp::None, "10:00:05"),
        [missed("09:00:00", "09:00:00", 1, ClockJump), run("10:00:00", Due)]
    );
    // The node was absent at 09:00 and there when the clock was put past 10:00.
    after_restart(
        hourly(CatchUp::None, None),
        "09:30:00",
        "10:30:00",
        &[missed("09:00:00", "09:00:00", 1, NodeDown), missed("10:00:00", "10:00:00", 1, ClockJump)],
    );
}

/// Proves SCH-010.
#[test]
fn a_clock_put_back_repeats_nothing() {
    let (schedule, state) = hourly(CatchUp::All { max: 10 }, None);
    let state = step(&schedule, &state, &look("2026-01-05T10:00:00Z")).state;
    let back = step(&schedule, &state, &look("2026-01-05T08:00:00Z"));
    assert_eq!(back.outputs, [Output::WakeAt(at("11:00:00"))]);
    assert_eq!(back.state.accounted_until(), at("10:00:00"));
    assert_eq!(step(&schedule, &back.state, &look("2026-01-05T10:30:00Z")).outputs.len(), 1);
    // What is declared while the clock is behind the node's own start came due while it served.
    let (schedule, state) = hourly(CatchUp::None, None);
    let served = Look { now: at("09:00:01"), serving_since: at("12:00:00"), previous_open: false };
    let outputs = step(&schedule, &state, &Input::Looked(served)).outputs;
    assert_eq!(outputs[0], run("09:00:00", RunCause::Due));
}

/// Proves SCH-011.
#[test]
fn nothing_runs_after_its_deadline() {
    use MissReason::{Deadline, NodeDown};
    use RunCause::CatchUp as Late;
    let rule = |catch_up, minutes: u64| hourly(catch_up, Some(minutes * 60_000));
    after_restart(
        rule(CatchUp::Last, 5),
        "12:10:00",
        "12:10:01",
        &[missed("09:00:00", "11:00:00", 3, NodeDown), missed("12:00:00", "12:00:00", 1, Deadline)],
    );
    after_restart(
        rule(CatchUp::All { max: 3 }, 70),
        "12:10:00",
        "12:10:00",
        &[
            missed("09:00:00", "09:00:00", 1, NodeDown),
            missed("10:00:00", "10:00:00", 1, Deadline),
            run("11:00:00", Late),
            run("12:00:00", Late),
        ],
    );
    let (schedule, state) = hourly(CatchUp::Last, Some(1_000));
    let outputs = step(&schedule, &state, &look("2026-01-05T09:00:02Z")).outputs;
    assert_eq!(outputs[0], missed("09:00:00", "09:00:00", 1, Deadline));
}

/// Proves SCH-012.
#[test]
fn an_open_turn_skips_what_meets_it() {
    let open = |now| Input::Looked(Look { now, serving_since: at("00:00:00"), previous_open: true });
    let skip = |clock| Output::Skip { due_at: at(clock), reason: SkipReason::Overlap };
    let (schedule, state) = hourly(CatchUp::All { max: 2 }, None);
    assert_eq!(step(&schedule, &state, &open(at("09:00:00"))).outputs[0], skip("09:00:00"));
    assert_eq!(
        step(&schedule, &state, &open(at("10:30:00"))).outputs[..2],
        [skip("09:00:00"), skip("10:00:00")]
    );
    // What is caught up at once does not hinder itself.
    let outputs = step(&schedule, &state, &look("2026-01-05T10:30:00Z")).outputs;
    assert_eq!(outputs[..2], [run("09:00:00", RunCause::CatchUp), run("10:00:00", RunCause::CatchUp)]);
    let allowed = Schedule { overlap: Overlap::Allow, ..schedule };
    assert_eq!(step(&allowed, &state, &open(at("09:00:00"))).outputs[0], run("09:00:00", RunCause::Due));
}

/// Proves SCH-013.
#[test]
fn a_pause_skips_and_is_not_made_up_for() {
    let (schedule, state) = hourly(CatchUp::All { max: 10 }, None);
    let now = |clock| Look { now: at(clock), serving_since: at("00:00:00"), previous_open: false };
    let skip = |clock| Output::Skip { due_at: at(clock), reason: SkipReason::Paused };
    // What is due when the pause comes runs.
    let pause = step(&schedule, &state, &Input::Paused(now("09:00:01")));
    assert_eq!(pause.outputs[0], run("09:00:00", RunCause::Due));
    assert!(pause.state.is_paused());
    let paused = step(&schedule, &pause.state, &Input::Looked(now("10:00:01")));
    assert_eq!(paused.outputs[0], skip("10:00:00"));
    let resumed = step(&schedule, &paused.state, &Input::Resumed(now("11:00:01")));
    assert_eq!(resumed.outputs, [skip("11:00:00"), Output::WakeAt(at("12:00:00"))]);
    assert!(!resumed.state.is_paused());
    assert_eq!(
        step(&schedule, &resumed.state, &Input::Looked(now("12:00:00"))).outputs[0],
        run("12:00:00", RunCause::Due)
    );
}

/// Proves SCH-014.
#[test]
fn counting_what_was_missed_is_bounded() {
    let ten_years = |when| {
        let plan = Plan { catch_up: CatchUp::None, ..plan(when, "UTC") };
        let schedule = Schedule::compile(&plan).unwrap();
        let state = declare(&schedule, None, time("2016-01-01T00:00:00Z")).state;
        step(&schedule, &state, &look("2026-01-01T00:02:00.5Z")).outputs[0]
    };
    let (from, to) = (time("2016-01-01T00:00:01Z"), time("2026-01-01T00:01:59Z"));
    let second = When::Every { span_ms: 1_000, from: time("2016-01-01T00:00:00Z") };
    let seconds = (to.as_micros() - from.as_micros()) / 1_000_000 + 1;
    let count = u64::try_from(seconds).unwrap();
    let Output::Miss { reason, .. } = ten_years(second.clone()) else { panic!("nothing was missed") };
    assert_eq!(ten_years(second), Output::Miss { from, to, count, reason });
    let counted = ten_years(cron("* * * * * *"));
    assert_eq!(counted, Output::Miss { from, to, count: COUNTED_MAX, reason });
}

/// Proves SCH-015.
#[test]
fn the_record_alone_gives_the_state() {
    let ran = |clock, cause| Fact::ScheduleRan {
        name: name(),
        due_at: at(clock),
        message_id: MessageId::from_parts(1, [0; 10]),
        cause,
    };
    let facts = |facts: &[Fact]| {
        let at = facts.iter().map(|fact| (at("08:30:00"), fact));
        State::from_facts(at).map(|state| (state.accounted_until(), state.is_paused()))
    };
    let state = |clock, paused| Some((at(clock), paused));
    assert_eq!(facts(&[]), None);
    assert_eq!(facts(&[ran("09:00:00", RunCause::Due)]), None);
    assert_eq!(facts(&[declared()]), state("08:30:00", false));
    assert_eq!(facts(&[declared(), ran("09:00:00", RunCause::CatchUp)]), state("09:00:00", false));
    assert_eq!(facts(&[declared(), ran("09:00:00", RunCause::Manual)]), state("08:30:00", false));
    let missed = Fact::ScheduleMissed {
        name: name(),
        from: at("09:00:00"),
        to: at("10:00:00"),
        count: 2,
        reason: MissReason::NodeDown,
    };
    let (paused, resumed) = (Fact::SchedulePaused { name: name() }, Fact::ScheduleResumed { name: name() });
    let skipped = Fact::ScheduleSkipped {
        name: name(),
        due_at: at("11:00:00"),
        reason: SkipReason::Paused,
        detail: String::new(),
    };
    let all = [declared(), missed, paused, skipped, declared()];
    assert_eq!(facts(&all[..2]), state("10:00:00", false));
    assert_eq!(facts(&all), state("11:00:00", true));
    let removed = Fact::ScheduleRemoved { name: name(), reason: String::new() };
    assert_eq!(facts(&[&all[..], &[resumed]].concat()), state("11:00:00", false));
    assert_eq!(facts(&[&all[..], std::slice::from_ref(&removed)].concat()), None);
    assert_eq!(facts(&[&all[..], &[removed, declared()]].concat()), state("08:30:00", false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves SCH-006.
    #[test]
    fn jitter_is_fixed_bounded_and_keeps_the_order(
        seed in prop::collection::vec(any::<u8>(), 0..40),
        jitter_ms in 0..7_200_000_u64,
        start in 0..40_000_000_u32,
        expression in prop::sample::select(vec!["*/7 * * * *", "0 9 * * *", "*/30 2 * * *"]),
    ) {
        let plan = Plan { jitter_ms, seed, ..plan(cron(expression), "Europe/Berlin") };
        let (schedule, again) = (Schedule::compile(&plan).unwrap(), Schedule::compile(&plan).unwrap());
        let start = Timestamp::from_micros(1_767_225_600_000_000 + i64::from(start) * 1_000_000);
        let first = schedule.due_after(start).unwrap();
        let second = schedule.due_after(first).unwrap();
        let fire = schedule.fire_at(first);
        prop_assert_eq!(fire, again.fire_at(first));
        prop_assert!(first <= fire && fire < second, "{first} {fire} {second}");
        prop_assert!(fire.as_micros() - first.as_micros() <= i64::try_from(jitter_ms).unwrap() * 1_000);
        // It is acted on at that moment, no earlier, and what is told is when it was due.
        let state = declare(&schedule, None, start).state;
        let look = |now| Input::Looked(Look { now, serving_since: start, previous_open: false });
        let just_before = Timestamp::from_micros(fire.as_micros() - 1);
        prop_assert_eq!(step(&schedule, &state, &look(just_before)).outputs, vec![Output::WakeAt(fire)]);
        let ran = Output::Run { due_at: first, cause: RunCause::Due };
        prop_assert_eq!(step(&schedule, &state, &look(fire)).outputs[0], ran);
    }
}

/// Proves SCH-006.
#[test]
fn jitter_sets_schedules_apart() {
    let delays: std::collections::BTreeSet<i64> = (0..50_u8)
        .map(|seed| {
            let plan = Plan { jitter_ms: 600_000, seed: vec![seed], ..plan(cron("0 9 * * *"), "UTC") };
            let schedule = Schedule::compile(&plan).unwrap();
            schedule.fire_at(at("09:00:00")).as_micros() - at("09:00:00").as_micros()
        })
        .collect();
    assert!(delays.len() > 45 && delays.iter().any(|delay| *delay > 300_000_000), "{delays:?}");
}
