//! A year of schedules in three zones, held to a list that knows nothing of the code: every minute of the year, asked
//! whether it is one. Outages, clocks that jump, pauses and open turns come at random.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};

use edgeplane_lifecycle::schedule::{
    CatchUp, Input, LATE_AFTER_MS, Look, Output, Overlap, Plan, Schedule, State, When, declare, step,
};
use edgeplane_types::{
    AgentName, Fact, MessageId, Timestamp,
    schedule::{MissReason, RunCause, SkipReason},
};
use jiff::{SignedDuration, civil::DateTime, tz::TimeZoneDatabase};
use proptest::prelude::*;

const MINUTE_US: i64 = 60_000_000;

/// 2026-01-01 and 2027-01-01 in UTC: both changes of each zone lie between.
const YEAR: std::ops::Range<i64> = 1_767_225_600_000_000..1_798_761_600_000_000;

const ZONES: [&str; 3] = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];

/// An expression, what it says in other words, and whether it names every hour.
type Case = (&'static str, fn(DateTime) -> bool, bool);

const CASES: [Case; 8] = [
    ("30 2 * * *", |at| at.hour() == 2 && at.minute() == 30, false),
    ("*/30 * * * *", |at| at.minute() % 30 == 0, true),
    ("15 * * * *", |at| at.minute() == 15, true),
    ("45 */6 * * *", |at| at.minute() == 45 && at.hour() % 6 == 0, false),
    ("0,30 1-3 * * *", |at| at.minute() % 30 == 0 && (1..=3).contains(&at.hour()), false),
    (
        "45 1 * * sun",
        |at| at.weekday().to_sunday_zero_offset() == 0 && at.hour() == 1 && at.minute() == 45,
        false,
    ),
    (
        "0 9 * * mon-fri",
        |at| (1..=5).contains(&at.weekday().to_sunday_zero_offset()) && at.hour() == 9 && at.minute() == 0,
        false,
    ),
    ("10 0 1,15 * *", |at| matches!(at.day(), 1 | 15) && at.hour() == 0 && at.minute() == 10, false),
];

/// The occurrences of each case.
type OfCases = Vec<Arc<Vec<Timestamp>>>;

/// Every occurrence of the year, found by walking through its minutes.
fn occurrences(zone: &'static str, case: usize) -> Arc<Vec<Timestamp>> {
    static FOUND: OnceLock<Mutex<BTreeMap<&str, OfCases>>> = OnceLock::new();
    let mut found = FOUND.get_or_init(Mutex::default).lock().unwrap();
    Arc::clone(&found.entry(zone).or_insert_with(|| walk(zone))[case])
}

fn walk(zone: &str) -> OfCases {
    let zone = TimeZoneDatabase::bundled().get(zone).unwrap();
    let local = |at: i64| zone.to_datetime(jiff::Timestamp::from_microsecond(at).unwrap());
    let mut found = vec![Vec::new(); CASES.len()];
    // The latest local time that any clock has shown so far.
    let mut shown = local(YEAR.start);
    let mut at = YEAR.start + MINUTE_US;
    while at < YEAR.end {
        let now = local(at);
        // Usually this minute; none while the clock repeats itself; more where it was put forward.
        let mut new = Vec::new();
        while shown < now {
            shown = shown.checked_add(SignedDuration::from_mins(1)).unwrap();
            new.push(shown);
        }
        for ((_, matches, every_hour), found) in CASES.iter().zip(&mut found) {
            if if *every_hour { matches(now) } else { new.iter().any(|new| matches(*new)) } {
                found.push(Timestamp::from_micros(at));
            }
        }
        at += MINUTE_US;
    }
    found.into_iter().map(Arc::new).collect()
}

fn plan(zone: &str, case: usize) -> Plan {
    Plan {
        when: When::Cron(CASES[case].0.to_owned()),
        zone: zone.to_owned(),
        catch_up: CatchUp::Last,
        overlap: Overlap::Skip,
        jitter_ms: 0,
        deadline_ms: None,
        seed: b"year".to_vec(),
    }
}

/// Proves SCH-002, SCH-003.
#[test]
fn the_calendar_of_a_year_is_that_of_its_minutes() {
    for zone in ZONES {
        for (case, (expression, ..)) in CASES.iter().enumerate() {
            let schedule = Schedule::compile(&plan(zone, case)).unwrap();
            let mut at = Timestamp::from_micros(YEAR.start);
            for expected in occurrences(zone, case).iter() {
                let due = schedule.due_after(at);
                assert_eq!(due, Some(*expected), "{zone} {expression} after {at}");
                let just_before = Timestamp::from_micros(expected.as_micros() - 1);
                let last = schedule.due_by(just_before);
                assert!(
                    last == Some(at) || at.as_micros() == YEAR.start,
                    "{zone} {last:?} before {expected}"
                );
                at = *expected;
            }
            assert!(schedule.due_after(at).unwrap().as_micros() >= YEAR.end);
        }
    }
}

/// What happens to a node, for how many minutes.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Serves(i64),
    IsAway(i64),
    ClockGoesForward(i64),
    ClockGoesBack(i64),
    Pauses,
    Resumes,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (1..12_000_i64).prop_map(Happening::Serves),
        3 => prop_oneof![1..90_i64, 90..8_000_i64].prop_map(Happening::IsAway),
        2 => prop_oneof![1..5_i64, 5..3_000_i64].prop_map(Happening::ClockGoesForward),
        2 => (1..3_000_i64).prop_map(Happening::ClockGoesBack),
        1 => Just(Happening::Pauses),
        1 => Just(Happening::Resumes),
    ]
}

/// What became of one occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Ran(RunCause),
    Skipped(SkipReason),
    Missed(MissReason),
}

/// A node, its clock and its record.
struct Node<'a> {
    plan: &'a Plan,
    schedule: Schedule,
    all: &'a [Timestamp],
    /// How many of `all` have met their fate.
    done: usize,
    state: State,
    facts: Vec<(Timestamp, Fact)>,
    now: i64,
    serving_since: i64,
    first_look: bool,
    paused: bool,
    looks: u64,
    wake: Option<i64>,
}

impl Node<'_> {
    fn look(&mut self, input: fn(Look) -> Input) {
        self.looks += 1;
        let look = Look {
            now: Timestamp::from_micros(self.now),
            serving_since: Timestamp::from_micros(self.serving_since),
            previous_open: self.looks.is_multiple_of(5),
        };
        let expected = self.expected(&look);
        let step = step(&self.schedule, &self.state, &input(look));
        let found = self.found(&step.outputs);
        assert_eq!(found, expected, "{look:?} {:?}", self.plan);
        self.done += expected.len();
        self.state = step.state;
        self.first_look = false;
        let next = self.all.get(self.done).map(|due| self.schedule.fire_at(*due).as_micros());
        assert!(next.is_none() || self.wake == next, "{:?} {next:?}", self.wake);
    }

    /// The rules once more, over a list.
    fn expected(&self, look: &Look) -> Vec<(Timestamp, Fate)> {
        let fire = |due: &Timestamp| self.schedule.fire_at(*due);
        let late_ms = |due: &Timestamp| look.now.millis_since(fire(due));
        let absent = |due: &Timestamp| self.first_look && fire(due) <= look.serving_since;
        let ripe: Vec<_> =
            self.all[self.done..].iter().take_while(|due| fire(due) <= look.now).copied().collect();
        let in_time = ripe.last().filter(|last| !absent(last) && late_ms(last) <= LATE_AFTER_MS);
        let late_count = ripe.len() - usize::from(in_time.is_some());
        let runs = match self.plan.catch_up {
            CatchUp::None => 0,
            CatchUp::Last => usize::from(in_time.is_none()),
            CatchUp::All { max } => usize::try_from(max).unwrap(),
        };
        let fate = |(index, due): (usize, &Timestamp)| {
            let fate = if index < late_count.saturating_sub(runs) {
                Fate::Missed(if absent(due) { MissReason::NodeDown } else { MissReason::ClockJump })
            } else if self.plan.deadline_ms.is_some_and(|most| late_ms(due) > most) {
                Fate::Missed(MissReason::Deadline)
            } else if self.paused {
                Fate::Skipped(SkipReason::Paused)
            } else if look.previous_open && self.plan.overlap == Overlap::Skip {
                Fate::Skipped(SkipReason::Overlap)
            } else {
                Fate::Ran(if index < late_count { RunCause::CatchUp } else { RunCause::Due })
            };
            (*due, fate)
        };
        ripe.iter().enumerate().map(fate).collect()
    }

    /// What the outputs say of each occurrence; what they say goes into the record.
    fn found(&mut self, outputs: &[Output]) -> Vec<(Timestamp, Fate)> {
        let name: AgentName = "year".parse().unwrap();
        let mut found = Vec::new();
        self.wake = None;
        for output in outputs {
            assert_eq!(self.wake, None, "the alarm comes last");
            let name = name.clone();
            let fact = match *output {
                Output::Run { due_at, cause } => {
                    found.push((due_at, Fate::Ran(cause)));
                    let message_id = MessageId::from_parts(1, [0; 10]);
                    Fact::ScheduleRan { name, due_at, message_id, cause }
                }
                Output::Skip { due_at, reason } => {
                    found.push((due_at, Fate::Skipped(reason)));
                    Fact::ScheduleSkipped { name, due_at, reason, detail: String::new() }
                }
                Output::Miss { from, to, count, reason } => {
                    let range: Vec<_> = self.all.iter().filter(|due| (from..=to).contains(due)).collect();
                    assert_eq!(u64::try_from(range.len()).unwrap(), count, "{output:?}");
                    assert_eq!((range.first(), range.last()), (Some(&&from), Some(&&to)));
                    found.extend(range.into_iter().map(|due| (*due, Fate::Missed(reason))));
                    Fact::ScheduleMissed { name, from, to, count, reason }
                }
                Output::WakeAt(at) => {
                    self.wake = Some(at.as_micros());
                    continue;
                }
            };
            self.facts.push((Timestamp::from_micros(self.now), fact));
        }
        found
    }

    fn serve(&mut self, until: i64) {
        while let Some(wake) = self.wake.filter(|wake| *wake <= until) {
            // Alarms go off a little late.
            let lateness = i64::try_from(self.looks % 7).unwrap() * 300_000;
            self.now = self.now.max(wake + lateness);
            self.look(Input::Looked);
        }
        self.now = self.now.max(until);
        self.look(Input::Looked);
    }

    fn meet(&mut self, happening: Happening) {
        match happening {
            Happening::Serves(minutes) => self.serve(self.now + minutes * MINUTE_US),
            Happening::IsAway(minutes) => {
                self.now += minutes * MINUTE_US;
                self.serving_since = self.now;
                self.now += 2_000_000;
                self.first_look = true;
                let facts = self.facts.iter().map(|(at, fact)| (*at, fact));
                self.state = State::from_facts(facts).unwrap();
                self.look(Input::Looked);
            }
            Happening::ClockGoesForward(minutes) => {
                self.now += minutes * MINUTE_US;
                self.look(Input::Looked);
            }
            Happening::ClockGoesBack(minutes) => {
                self.now -= minutes * MINUTE_US;
                self.look(Input::Looked);
            }
            Happening::Pauses => {
                self.look(Input::Paused);
                self.paused = true;
                self.note(|name| Fact::SchedulePaused { name });
            }
            Happening::Resumes => {
                self.look(Input::Resumed);
                self.paused = false;
                self.note(|name| Fact::ScheduleResumed { name });
            }
        }
    }

    fn note(&mut self, fact: impl FnOnce(AgentName) -> Fact) {
        self.facts.push((Timestamp::from_micros(self.now), fact("year".parse().unwrap())));
    }
}

/// Lives through the year and returns how many occurrences met which fate.
fn live(zone: &'static str, case: usize, plan: &Plan, happenings: &[Happening]) -> BTreeMap<String, usize> {
    let all = occurrences(zone, case);
    let schedule = Schedule::compile(plan).unwrap();
    let at = Timestamp::from_micros(YEAR.start);
    let begun = declare(&schedule, None, at);
    let [Output::WakeAt(wake)] = begun.outputs[..] else { panic!("{:?}", begun.outputs) };
    let declared = Fact::ScheduleDeclared {
        name: "year".parse().unwrap(),
        spec_digest: String::new(),
        spec_bytes: 0,
        in_manifest: true,
    };
    let mut node = Node {
        plan,
        schedule,
        all: &all,
        done: 0,
        state: begun.state,
        facts: vec![(at, declared)],
        now: YEAR.start,
        serving_since: YEAR.start,
        first_look: false,
        paused: false,
        looks: 0,
        wake: Some(wake.as_micros()),
    };
    // Nothing may lead over the end of the list, behind which the walk does not know what is due.
    let leads_over = |node: &Node<'_>, minutes: i64| node.now + (minutes + 2) * MINUTE_US > YEAR.end;
    for happening in happenings {
        let (Happening::Serves(minutes) | Happening::IsAway(minutes) | Happening::ClockGoesForward(minutes)) =
            *happening
        else {
            node.meet(*happening);
            continue;
        };
        if leads_over(&node, minutes) {
            break;
        }
        node.meet(*happening);
    }
    node.serve(YEAR.end - 2 * MINUTE_US);
    let left: Vec<_> =
        all[node.done..].iter().filter(|due| due.as_micros() + 2 * MINUTE_US <= node.now).collect();
    assert!(plan.jitter_ms > 0 || left.is_empty(), "{left:?}");
    let mut fates = BTreeMap::new();
    for (_, fact) in &node.facts {
        *fates.entry(fact.type_name().to_owned()).or_insert(0) += 1;
    }
    fates
}

fn catch_up() -> impl Strategy<Value = CatchUp> {
    prop_oneof![Just(CatchUp::None), Just(CatchUp::Last), (1..6_u32).prop_map(|max| CatchUp::All { max })]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves SCH-007, SCH-008, SCH-009, SCH-010, SCH-011, SCH-012, SCH-013, SCH-015.
    #[test]
    fn every_occurrence_meets_one_fate_and_the_right_one(
        zone in prop::sample::select(ZONES.to_vec()),
        case in 0..CASES.len(),
        (catch_up, jitter_ms) in (catch_up(), prop_oneof![Just(0), 1..1_200_000_u64]),
        deadline_ms in prop::option::of(prop_oneof![Just(1_000), 60_000..36_000_000_u64]),
        overlap in prop_oneof![Just(Overlap::Allow), Just(Overlap::Skip)],
        happenings in prop::collection::vec(happening(), 20..200),
    ) {
        let plan = Plan { catch_up, overlap, jitter_ms, deadline_ms, ..plan(zone, case) };
        live(zone, case, &plan, &happenings);
    }
}

/// Proves SCH-007.
#[test]
fn a_fixed_year_runs_skips_and_misses() {
    use Happening::{ClockGoesBack, ClockGoesForward, IsAway, Pauses, Resumes, Serves};
    let days = |days: i64| days * 24 * 60;
    let happenings = [
        Serves(days(60)),
        IsAway(days(2)),
        Serves(days(25)),
        // Over the change of March in Berlin.
        IsAway(days(3)),
        Serves(days(30)),
        ClockGoesForward(days(1) + 30),
        Serves(days(10)),
        ClockGoesBack(days(2)),
        Serves(days(20)),
        Pauses,
        Serves(days(7)),
        Resumes,
        Serves(days(100)),
        IsAway(1),
    ];
    let ran_and_skipped = |fates: BTreeMap<String, usize>| {
        for fate in ["schedule.ran", "schedule.skipped"] {
            assert!(fates.get(fate).is_some_and(|count| *count > 1), "{fates:?}");
        }
    };
    for zone in ZONES {
        for (case, _) in CASES.iter().enumerate().filter(|(_, (_, _, every_hour))| !every_hour) {
            ran_and_skipped(live(zone, case, &plan(zone, case), &happenings));
        }
    }
    let half_hours = live("Europe/Berlin", 1, &plan("Europe/Berlin", 1), &happenings);
    assert_eq!(half_hours.get("schedule.missed"), Some(&3), "{half_hours:?}");
    ran_and_skipped(half_hours);
}
