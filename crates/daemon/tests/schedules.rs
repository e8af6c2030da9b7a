//! Schedules end to end: declared, due, delivered, steered, and accounted for once through every end of the daemon.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::collections::BTreeMap;

use edgeplane_os::{Clock as _, SystemClock};
use edgeplane_testkit::{Node, native, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase, schedule::RunCause};
use edgeplane_wire::{
    api::{
        agent::{AgentParams, Change, ChangeParams},
        schedule::{HistoryParams, ListParams, Occurred, OccurrenceView, ScheduleParams, ScheduleView},
    },
    catalogue::{
        AgentRetire, ScheduleHistory, ScheduleList, SchedulePause, ScheduleRemove, ScheduleResume,
        ScheduleRun,
    },
    rpc::RpcError,
};
use serde_json::Value;

fn inline(more: &str) -> String {
    format!("schedules:\n  - {{ name: tick, every: 1s, content: a tick, {more} }}")
}

fn alone(name: &str, agent: &str, words: &str) -> String {
    format!(
        "apiVersion: edgeplane.dev/v1alpha1\nkind: Schedule\nmetadata: {{ name: {name} }}\nspec: {{ agent: {agent}, {words} }}\n"
    )
}

fn params(agent: &str, name: &str) -> ScheduleParams {
    ScheduleParams { agent: agent.into(), name: name.parse().unwrap() }
}

fn list(node: &Node, agent: &str) -> Vec<ScheduleView> {
    node.connect().call::<ScheduleList>(&ListParams { agent: Some(agent.into()) }).items
}

fn try_history(node: &Node, agent: &str, name: &str) -> Result<Vec<OccurrenceView>, RpcError> {
    let params = HistoryParams { agent: agent.into(), name: name.parse().unwrap(), limit: 10_000 };
    Ok(node.connect().try_call::<ScheduleHistory>(&params)?.items)
}

/// Newest first.
fn history(node: &Node, agent: &str, name: &str) -> Vec<OccurrenceView> {
    try_history(node, agent, name).unwrap()
}

fn ran(items: &[OccurrenceView], wanted: RunCause) -> usize {
    let is_wanted =
        |item: &&OccurrenceView| matches!(item.outcome, Occurred::Ran { cause, .. } if cause == wanted);
    items.iter().filter(is_wanted).count()
}

fn skipped(items: &[OccurrenceView], wanted: &str) -> usize {
    let reason = |item: &OccurrenceView| serde_json::to_value(&item.outcome).unwrap()["reason"].clone();
    items
        .iter()
        .filter(|item| matches!(item.outcome, Occurred::Skipped { .. }) && reason(item) == wanted)
        .count()
}

/// Every occurrence of an agent's schedule is in the record once, and its message beside it.
fn accounted_once(node: &Node, agent: &str) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for event in node.history(agent) {
        let payload = &event.event["payload"];
        match event.event["type"].as_str().unwrap() {
            "schedule.ran" if payload["cause"] != "manual" => {
                *seen.entry(payload["due_at"].to_string()).or_default() += 1;
            }
            "schedule.skipped" => *seen.entry(payload["due_at"].to_string()).or_default() += 1,
            _ => {}
        }
    }
    assert!(seen.values().all(|count| *count == 1), "{seen:#?}");
    let messages = node.inbox(agent).iter().filter(|one| one.channel.as_str() == "scheduler").count();
    assert_eq!(node.count(agent, "schedule.ran"), messages);
    let tick = &list(node, agent)[0];
    let told = node.history(agent).iter().fold(0, |told, event| match event.event["type"].as_str() {
        Some("schedule.ran" | "schedule.skipped") => told + 1,
        Some("schedule.missed") => told + event.event["payload"]["count"].as_u64().unwrap(),
        _ => told,
    });
    assert_eq!(tick.ran + tick.skipped + tick.missed, told);
}

/// Proves SCH-020, SCH-021.
#[test]
fn occurrence_is_delivered_as_the_schedules_word() {
    let node = Node::start();
    node.run("clerk", &terminal("clerk", &["/bin/cat"], &inline("overlap: allow")));
    eventually("two came through", || {
        let output = String::from_utf8_lossy(&node.output("clerk", None)).into_owned();
        output.matches("[SCHEDULER MESSAGE from tick on schedule]").count() >= 2
    });
    let message = &node.inbox("clerk")[0];
    assert_eq!(message.channel.as_str(), "scheduler");
    assert_eq!(message.authority.to_string(), "trusted");
    accounted_once(&node, "clerk");
    let ran = node.events("clerk", &["schedule.ran"]);
    assert_eq!(ran[0].event["actor"]["rule"], "scheduler");
    // Moments of `every` lie whole spans apart.
    let at = |event: &Value| event["payload"]["due_at"].as_str().unwrap().get(19..).unwrap().to_owned();
    assert!(ran.iter().all(|event| at(&event.event) == at(&ran[0].event)));
    node.verify();
}

/// Proves SCH-021, SCH-022.
#[test]
fn no_end_of_the_daemon_doubles_or_loses_an_occurrence() {
    for (rule, most_caught_up) in [("none", 0), ("last", 1), ("all", 10)] {
        let mut node = Node::start();
        let more = format!("catchUp: {rule}, overlap: allow");
        node.run("clerk", &terminal("clerk", &["/bin/cat"], &inline(&more)));
        for round in 1..=3 {
            let before = history(&node, "clerk", "tick").len();
            eventually("one more is accounted for", || history(&node, "clerk", "tick").len() > before);
            node.kill_daemon();
            let until = SystemClock.now().plus_millis(2_100);
            eventually("two came due with nobody there", || SystemClock.now() > until);
            node.up();
            eventually("the absence is accounted for", || list(&node, "clerk")[0].accounted_until >= until);
            accounted_once(&node, "clerk");
            let caught_up = ran(&history(&node, "clerk", "tick"), RunCause::CatchUp);
            assert!(caught_up <= round * most_caught_up, "{rule}: {caught_up} after {round}");
        }
        let all = history(&node, "clerk", "tick");
        let (caught_up, missed) = (ran(&all, RunCause::CatchUp), node.count("clerk", "schedule.missed"));
        match rule {
            "all" => assert!(caught_up >= 6 && missed == 0, "{all:#?}"),
            _ => assert!(missed >= 3, "{all:#?}"),
        }
        node.verify();
    }
}

/// Proves SCH-023, SCH-024.
#[test]
fn schedule_is_paused_resumed_and_run_by_hand() {
    let mut node = Node::start();
    node.run("clerk", &terminal("clerk", &["/bin/cat"], &inline("paused: true, overlap: allow")));
    let tick = &list(&node, "clerk")[0];
    assert!(tick.paused && tick.in_manifest);
    assert_eq!(tick.when, "every 1s");
    eventually("a pause skips", || skipped(&history(&node, "clerk", "tick"), "paused") >= 1);
    let sent = node.connect().call::<ScheduleRun>(&params("clerk", "tick")).message_id;
    assert_eq!(node.inbox("clerk")[0].message_id, sent);
    let by_hand = &node.events("clerk", &["schedule.ran"])[0];
    assert_eq!(by_hand.event["payload"]["cause"], "manual");
    assert_eq!(by_hand.event["actor"]["kind"], "operator");
    node.kill_daemon();
    node.up();
    assert!(list(&node, "clerk")[0].paused, "a pause outlives the daemon");
    assert!(!node.connect().call::<ScheduleResume>(&params("clerk", "tick")).paused);
    eventually("it runs again", || ran(&history(&node, "clerk", "tick"), RunCause::Due) >= 1);
    // The manifest says what it said: what was done by hand stays.
    node.apply(&terminal("clerk", &["/bin/cat"], &inline("paused: true, overlap: allow")));
    assert!(!list(&node, "clerk")[0].paused);
    assert!(node.connect().call::<SchedulePause>(&params("clerk", "tick")).paused);
    node.connect().call::<SchedulePause>(&params("clerk", "tick"));
    assert_eq!(node.count("clerk", "schedule.paused"), 2);
    accounted_once(&node, "clerk");
    let error = node.connect().try_call::<ScheduleRun>(&params("clerk", "tock")).unwrap_err();
    assert_eq!(error.name(), ErrorName::NotFound);
    node.verify();
}

/// A native agent that takes messages and never ends a turn.
const BUSY: &[&str] = &["/bin/sh", "-c", "while read line; do :; done"];

/// Proves SCH-012, SCH-025.
#[test]
fn open_turn_skips_what_meets_it_until_its_epoch_is_over() {
    let node = Node::start();
    node.run("busy", &native("busy", BUSY, &inline("overlap: skip")));
    eventually("the second one is skipped", || skipped(&history(&node, "busy", "tick"), "overlap") >= 2);
    assert_eq!(ran(&history(&node, "busy", "tick"), RunCause::Due), 1);
    let detail = history(&node, "busy", "tick").into_iter().find_map(|item| match item.outcome {
        Occurred::Skipped { detail, .. } => Some(detail),
        Occurred::Ran { .. } | Occurred::Missed { .. } => None,
    });
    assert!(detail.unwrap().contains("has not ended its turn"));
    // A turn of an epoch that is over never ends.
    node.stop("busy");
    eventually("the next is sent", || ran(&history(&node, "busy", "tick"), RunCause::Due) == 2);
    let skips = skipped(&history(&node, "busy", "tick"), "overlap");
    eventually("it waits", || skipped(&history(&node, "busy", "tick"), "overlap") > skips);
    assert_eq!(node.get("busy").status.waiting_messages, 1);
    node.verify();
}

/// Proves SCH-026.
#[test]
fn full_inbox_skips_with_its_reason() {
    let node = Node::start();
    let more = format!("run: stopped\ninbox: {{ max: 1 }}\n{}", inline("overlap: allow"));
    node.apply(&terminal("clerk", &["/bin/cat"], &more));
    eventually("the inbox is full", || skipped(&history(&node, "clerk", "tick"), "backpressure") >= 1);
    let full = history(&node, "clerk", "tick");
    let detail = full.iter().find_map(|item| match &item.outcome {
        Occurred::Skipped { detail, .. } => Some(detail.clone()),
        Occurred::Ran { .. } | Occurred::Missed { .. } => None,
    });
    assert!(detail.unwrap().contains("wait for agent `clerk` already"));
    assert_eq!(ran(&full, RunCause::Due), 1);
    let error = node.connect().try_call::<ScheduleRun>(&params("clerk", "tick")).unwrap_err();
    assert_eq!(error.name(), ErrorName::Backpressure);
    accounted_once(&node, "clerk");
    node.verify();
}

fn changes(node: &Node, text: &str) -> Vec<(String, Change)> {
    let result = node.try_apply(text).unwrap();
    result.schedules.iter().map(|one| (format!("{}/{}", one.agent, one.name), one.change)).collect()
}

/// Proves SCH-027, SCH-028.
#[test]
fn declarations_change_what_differs_and_nothing_else() {
    let node = Node::start();
    let agent = |schedules: &str| terminal("clerk", &["/bin/cat"], &format!("run: stopped\n{schedules}"));
    let daily = |content: &str| {
        agent(&format!("schedules:\n  - {{ name: daily, cron: \"0 9 * * *\", content: {content} }}"))
    };
    let named = |name: &str, change| (format!("clerk/{name}"), change);
    let nightly = alone("nightly", "clerk", "cron: \"0 3 * * *\", content: dream");
    let both = format!("{}---\n{nightly}", daily("work"));
    assert_eq!(changes(&node, &both), [named("daily", Change::Created), named("nightly", Change::Created)]);
    let events = node.history("clerk").len();
    assert_eq!(
        changes(&node, &both),
        [named("daily", Change::Unchanged), named("nightly", Change::Unchanged)]
    );
    assert_eq!(node.history("clerk").len(), events, "nothing changed, and nothing is recorded");
    assert_eq!(changes(&node, &daily("rest")), [named("daily", Change::Updated)]);
    assert_eq!(node.get("clerk").status.generation.0, 2);
    let nightly_later = alone("nightly", "clerk", "cron: \"0 4 * * *\", content: dream");
    assert_eq!(changes(&node, &nightly_later), [named("nightly", Change::Updated)]);
    assert_eq!(list(&node, "clerk")[1].when, "0 4 * * * UTC");
    assert!(list(&node, "clerk")[1].next_at.unwrap().to_string().contains("T04:00:00"));
    // A name stands in one place, and an agent must be there.
    for (text, part) in [
        (alone("daily", "clerk", "every: 1h, content: x"), "in the manifest of the agent"),
        (agent("schedules:\n  - { name: nightly, every: 1h, content: x }"), "in a document of its own"),
        (alone("daily", "nobody", "every: 1h, content: x"), "found `nobody`"),
    ] {
        let events = node.history("").len();
        let whole = format!("{}---\n{text}", terminal("other", &["/bin/cat"], "run: stopped"));
        let error = node.try_apply(&whole).unwrap_err();
        assert_eq!(error.name(), ErrorName::InvalidManifest);
        assert!(error.message.contains(part), "{}", error.message);
        assert_eq!(node.history("").len(), events, "all or nothing");
    }
    let error = node.connect().try_call::<ScheduleRemove>(&params("clerk", "daily")).unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidState);
    assert_eq!(changes(&node, &agent("")), [named("daily", Change::Removed)]);
    node.connect().call::<ScheduleRemove>(&params("clerk", "nightly"));
    assert!(list(&node, "clerk").is_empty());
    assert!(try_history(&node, "clerk", "nightly").is_ok(), "its history stays");
    // A moment that is over is missed as it is declared.
    node.apply(&alone("once", "clerk", "at: \"2020-01-01T00:00:00\", content: late"));
    assert_eq!(node.count("clerk", "schedule.missed"), 1);
    assert!(list(&node, "clerk")[0].next_at.is_none());
    node.verify();
}

/// Proves SCH-029.
#[test]
fn schedules_end_with_their_agent() {
    let mut node = Node::start();
    node.run("clerk", &terminal("clerk", &["/bin/cat"], &inline("overlap: allow")));
    eventually("one ran", || node.count("clerk", "schedule.ran") >= 1);
    let id = node.get("clerk").metadata["id"].as_str().unwrap().to_owned();
    node.connect().call::<AgentRetire>(&ChangeParams { agent: "clerk".into(), reason: None });
    eventually("it is gone", || {
        node.connect()
            .try_call::<edgeplane_wire::catalogue::AgentGet>(&AgentParams { agent: "clerk".into() })
            .is_err()
    });
    assert!(node.connect().call::<ScheduleList>(&ListParams::default()).items.is_empty());
    let count = node.count(&id, "schedule.ran");
    node.kill_daemon();
    node.up();
    node.run("clerk", &terminal("clerk", &["/bin/cat"], &inline("overlap: allow")));
    eventually("the new one's runs", || node.count("clerk", "schedule.ran") >= 2);
    assert_eq!(node.count(&id, "schedule.ran"), count);
    node.wait("clerk", Phase::Running);
    node.verify();
}

/// Proves SCH-020.
#[test]
fn command_line_shows_and_steers() {
    let node = Node::start();
    let more = format!("run: stopped\n{}", inline("paused: true"));
    node.apply(&terminal("clerk", &["/bin/cat"], &more));
    let run = |words: &[&str]| {
        let output = node.cli(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["schedule", "list"]).contains("clerk/tick"));
    assert!(run(&["schedule", "run-now", "tick"]).starts_with("msg_"));
    assert!(run(&["schedule", "history", "clerk/tick"]).contains("asked for"));
    assert!(run(&["schedule", "resume", "tick"]).starts_with("clerk/tick resumed, due "));
    // The message that was asked for still waits.
    eventually("one is skipped", || run(&["schedule", "history", "tick"]).contains("overlap"));
}
