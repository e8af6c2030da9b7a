//! Wrong schedules, in an agent and in documents of their own.

use edgeplane_manifest::parse;

use super::{SPEC, agent, check, check_spec};

/// A schedule in a document of its own, with these lines under `spec` after its content.
fn schedule(spec: &str) -> String {
    let text =
        agent(spec).replace("kind: Agent", "kind: Schedule").replace("driver: {type: native}", "agent: x");
    text.replace("command: [run]", "content: hello")
}

/// Proves SCH-017.
#[test]
fn a_schedule_says_one_way_of_being_due() {
    let inline = |rest: &str| format!("schedules:\n- {{name: s, content: c{rest}}}");
    check_spec(
        &inline(""),
        &[(SPEC + 1, "spec.schedules[0]", "found none of cron, every, at, expected one of")],
    );
    check_spec(
        &inline(", every: 5m, at: '2026-12-01T09:00:00'"),
        &[(SPEC + 1, "spec.schedules[0]", "found `every` and `at`, expected one of cron, every, at")],
    );
    check(&schedule(""), &[(5, "spec", "found none of cron, every, at")]);
    check(
        &schedule("cron: 0 9 * * *\nevery: 1h\nat: 2026-12-01T09:00:00"),
        &[(5, "spec", "found `cron` and `every` and `at`")],
    );
    check(
        &schedule("cron: 0 9 * * *\nfrom: 2026-12-01T09:00:00Z"),
        &[(8, "spec.from", "`from` beside `every` only")],
    );
    check(
        &schedule("every: 1h\ntimeZone: Europe/Berlin\njitter: 1h"),
        &[
            (8, "spec.timeZone", "for a time of day write `cron`"),
            (
                9,
                "spec.jitter",
                "found 1h, not less than the span of 1h, expected a jitter shorter than `every`",
            ),
        ],
    );
}

/// Proves SCH-018, SCH-019.
#[test]
fn schedules() {
    check(
        &schedule("cron: 0 25 * * *"),
        &[(SPEC, "spec.cron", "found `0 25 * * *`, expected a cron expression such as")],
    );
    check(&schedule("cron: 0 25 * * *"), &[(SPEC, "spec.cron", "(its hour `25` is wrong: 0 to 23)")]);
    check(&schedule("cron: 0 0 30 2 *"), &[(SPEC, "spec.cron", "it never comes due")]);
    check(&schedule("cron: []"), &[(SPEC, "spec.cron", "found a list, expected a cron expression")]);
    check(
        &schedule("cron: 0 9 * * *\ntimeZone: europe/berlin"),
        &[(SPEC + 1, "spec.timeZone", "(did you mean `Europe/Berlin`?)")],
    );
    check(&schedule("every: 500ms"), &[(SPEC, "spec.every", "from 1s to 366d")]);
    check(&schedule("every: 1h\nfrom: 2026-12-01T09:00:00"), &[(SPEC + 1, "spec.from", "add its offset")]);
    check(&schedule("at: tomorrow"), &[(SPEC, "spec.at", "a local time such as `2026-12-01T09:00:00`")]);
    check(
        &schedule(
            "every: 1h\ncatchUp: newest\ncatchUpMax: 0\njitter: 2d\noverlap: queue\ndeadline: 0s\npriority: urgent",
        ),
        &[
            (8, "spec.catchUp", "one of none, last, all"),
            (9, "spec.catchUpMax", "a whole number from 1 to 1000"),
            (10, "spec.jitter", "from 0s to 1d"),
            (11, "spec.overlap", "one of allow, skip"),
            (12, "spec.deadline", "from 1s to 366d"),
            (13, "spec.priority", "one of high, normal, low"),
        ],
    );
    check(&schedule("every: 1h\npaused: maybe"), &[(SPEC + 1, "spec.paused", "true or false")]);
    check(&schedule("every: 1h").replace("agent: x", "agent: X"), &[(5, "spec.agent", "did you mean `x`?")]);
    check(&schedule("every: 1h").replace("  agent: x\n", ""), &[(4, "spec.agent", "found nothing")]);
    check(&schedule("every: 1h").replace("hello", "''"), &[(6, "spec.content", "found an empty text")]);
    check(
        &schedule("every: 1h").replace("hello", &"x".repeat(65_537)),
        &[(6, "spec.content", "text of 1 to 65536 characters")],
    );
    // A key of another document is not sent there, and one of this one is.
    let problems = parse("a.yaml", &schedule("every: 1h\ncommand: [x]")).expect_err("an unknown key");
    assert_eq!((problems[0].field.as_str(), problems[0].hint.as_ref()), ("spec.command", None));
    check(&schedule("every: 1h\njiter: 1s"), &[(SPEC + 1, "spec.jiter", "did you mean `jitter`?")]);
    check_spec(
        "schedules: [{name: s, every: 1h, content: c, agent: x}]",
        &[(SPEC, "spec.schedules[0].agent", "found the unknown key `agent`")],
    );
    check_spec("schedules: [{every: 1h, content: c}]", &[(SPEC, "spec.schedules[0].name", "found nothing")]);
    let many =
        (0..65).map(|index| format!("- {{name: s{index}, every: 1h, content: c}}\n")).collect::<String>();
    check_spec(&format!("schedules:\n{many}"), &[(SPEC + 1, "spec.schedules", "at most 64 entries")]);
}

/// Proves SCH-016.
#[test]
fn names_of_schedules() {
    let inline = "schedules:\n- {name: s, every: 1h, content: c}\n";
    let twice = format!("{inline}- {{name: s, every: 2h, content: c}}");
    check_spec(&twice, &[(SPEC + 2, "spec.schedules[1].name", "found `s` a second time")]);
    let apart = |name: &str| schedule("every: 1h").replace("name: a", &format!("name: {name}"));
    let of_a = apart("s").replace("agent: x", "agent: a");
    let both = format!("{}---\n{of_a}", agent(inline));
    check(
        &both,
        &[(12, "metadata.name", "each name once among the schedules of an agent (first at a.yaml:8:")],
    );
    let twice = format!("{}---\n{}", apart("s"), apart("s"));
    check(&twice, &[(11, "metadata.name", "found `s` a second time")]);
    // Agents and schedules do not take names from each other, and neither do schedules of two agents.
    let text = format!("{}---\n{}---\n{}---\n{of_a}", agent(""), apart("a"), apart("s"));
    assert_eq!(parse("a.yaml", &text).map(|agents| agents.len()), Ok(1));
}
