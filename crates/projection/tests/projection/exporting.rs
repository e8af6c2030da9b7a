//! What is exported meets the standard.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_projection::find;
use edgeplane_types::{
    ActionId, Authority, EdgeKind, Epoch, Event, Fact, PolicyAction, StreamName, TaskId, TurnId,
    fact::{ThreadCompacted, ThreadRolledBack},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    lives::{World, world},
    schemas::{check, validator},
    support::{agents, main_thread, of_agent, of_session, of_task, of_thread, run},
};

/// Every exported event of every session, with the strict schemas as they are.
pub(crate) fn exported(world: &World, name: &str) -> Vec<Vec<Value>> {
    let each = agents(world).into_iter().map(|of| {
        let (_, said) = run(find(name).unwrap(), &of_session(world, of), &world.record);
        for numbered in &said {
            let event = numbered.entry.payload.value();
            assert_eq!(event["eventId"], numbered.event_id.to_string());
            assert_eq!(event["timestamp"], numbered.ts.to_string());
            assert_eq!(event["sessionId"], of.1.to_string());
            for (key, id) in [
                ("threadId", numbered.entry.ids.thread_id.map(|id| id.to_string())),
                ("turnId", numbered.entry.ids.turn_id.map(|id| id.to_string())),
                ("stepId", numbered.entry.ids.item_id.map(|id| id.to_string())),
            ] {
                assert_eq!(event.get(key).and_then(Value::as_str), id.as_deref(), "{event}");
            }
        }
        said.iter().map(|numbered| numbered.entry.payload.value()).collect()
    });
    each.collect()
}

fn check_world(world: &World) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let (public, strict) = (validator("agentruntime-event"), validator("agentruntime-lime-profile-event"));
    for events in exported(world, "agentruntime.lime") {
        for (event, sequence) in events.iter().zip(1_u64..) {
            check(&public, event);
            check(&strict, event);
            assert_eq!(event["sequence"], sequence, "gapless from 1");
            *counts.entry(event["type"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    for events in exported(world, "agentruntime.events") {
        for event in &events {
            check(&public, event);
            assert_ne!(event["schemaVersion"], "lime-profile-0.4.0", "the profile's name is the profile's");
            // But for that name the two are the same.
            let mut strictly = event.clone();
            strictly["schemaVersion"] = "lime-profile-0.4.0".into();
            check(&strict, &strictly);
        }
        let ids: BTreeSet<_> = events.iter().map(|event| event["eventId"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), events.len(), "an id names one event");
    }
    counts
}

fn check_snapshots(world: &World) {
    let (public, strict) =
        (validator("agentruntime-snapshot"), validator("agentruntime-lime-profile-snapshot"));
    for of in agents(world) {
        let subject = of_session(world, of);
        for (name, is_strict) in
            [("session.snapshot", false), ("agentruntime.events", false), ("agentruntime.lime", true)]
        {
            let (running, _) = run(find(name).unwrap(), &subject, &world.record);
            let state = running.state();
            check(&public, &state);
            assert_eq!(strict.is_valid(&state), is_strict, "{name}");
            if is_strict {
                check(&strict, &state);
            }
        }
    }
}

/// Proves PROJ-010, PROJ-011 and SUB-011: a busy node's sessions, with all that can happen in them.
#[test]
fn a_busy_nodes_events_and_snapshots_meet_the_schemas() {
    let busy = world(7, 3, 15_000, false);
    let counts = check_world(&busy);
    check_snapshots(&busy);
    println!("{counts:#?}");
    // A generator that made only a few kinds of events would prove little.
    assert!(counts.len() >= 58, "{} types: {counts:#?}", counts.len());
    for kind in [
        "task.created",
        "task.dependency.updated",
        "task.attempt.failed",
        "task.lost",
        "task.archived",
        "subagent.spawned",
        "subagent.status",
        "subagent.input",
        "subagent.completed",
        "subagent.failed",
        "subagent.closed",
    ] {
        assert!(counts.contains_key(kind), "{kind}");
    }
}

/// Proves PROJ-012: what has no turn gets the session's system turn, the same in every fold of the session.
#[test]
fn what_belongs_to_no_turn_has_the_system_turn() {
    let busy = world(11, 2, 8_000, false);
    for (events, of) in exported(&busy, "agentruntime.lime").iter().zip(agents(&busy)) {
        let messages = crate::support::messages(&busy, of.0);
        let known: BTreeSet<_> =
            messages.iter().map(|message| edgeplane_projection::turn_of(*message).to_string()).collect();
        let hooks: BTreeSet<_> = events
            .iter()
            .filter(|event| event["type"].as_str().unwrap().starts_with("hook."))
            .filter(|event| event["payload"]["systemTurn"] == true)
            .map(|event| event["turnId"].as_str().unwrap())
            .collect();
        assert!(hooks.len() == 1, "one system turn a session: {hooks:?}");
        assert!(hooks.iter().all(|turn| !known.contains(*turn)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Proves PROJ-010 and PROJ-011 for random lives.
    #[test]
    fn whatever_happens_is_exported_validly(seed: u64, events in 10_usize..600) {
        let world = world(seed, 2, events, seed % 2 == 0);
        check_world(&world);
        check_snapshots(&world);
    }
}

pub(crate) fn kind(event: &Value) -> &str {
    event["type"].as_str().unwrap()
}

/// Proves BEN-005.
#[test]
fn trials_are_told_with_what_they_are_of_and_what_they_are_worth() {
    let busy = world(31, 2, 12_000, false);
    for form in ["agentruntime.events", "agentruntime.lime"] {
        let told: Vec<Value> = exported(&busy, form).into_iter().flatten().collect();
        let of = |wanted: &str| {
            let found: Vec<_> =
                told.iter().filter(|event| kind(event) == format!("benchmark.{wanted}")).collect();
            assert!(!found.is_empty(), "{form}: nothing is told of `{wanted}`");
            found
        };
        for event in of("trial.started") {
            let run = event["runId"].as_str().unwrap().replace("run_", "");
            assert_eq!(event["turnId"].as_str().unwrap().replace("trn_", ""), run);
            assert_eq!(
                (&event["benchmark"]["datasetId"], &event["refs"]["harborJobRef"]),
                (&json!("riddles"), &json!("jobs/one"))
            );
        }
        for event in of("reward.recorded") {
            assert!(event["reward"]["value"].is_number(), "{event}");
            let is_first = event["payload"]["number"] == 1;
            assert_eq!(event["payload"]["isEarly"], is_first);
        }
        for event in of("comparison.completed") {
            assert_eq!(event["comparison"]["timeoutRateDelta"], -0.5);
        }
        let ends = of("trial.completed").len() + of("trial.failed").len();
        assert_eq!(of("comparison.completed").len(), ends);
        assert!(of("dataset.resolved").len() <= of("trial.started").len());
        of("configuration.resolved");
    }
}

/// Proves PROJ-021.
#[test]
fn what_is_not_recorded_is_a_gap() {
    let busy = world(31, 2, 12_000, false);
    let (mut handed_over, mut silent) = (0, 0);
    for (events, of) in exported(&busy, "agentruntime.lime").iter().zip(agents(&busy)) {
        let accepted: BTreeSet<_> = busy
            .record
            .iter()
            .filter_map(|stored| match &stored.event.fact {
                Fact::MessageAccepted { envelope } if envelope.target == of.0 => Some(envelope.id),
                _ => None,
            })
            .map(|message| edgeplane_projection::turn_of(message).to_string())
            .collect();
        for event in events.iter().filter(|event| kind(event) == "turn.started") {
            let is_known = accepted.contains(event["turnId"].as_str().unwrap());
            let gaps = event["payload"].get("gaps");
            assert_eq!(gaps.is_none(), is_known, "{event}");
            handed_over += u64::from(!is_known);
        }
        for event in events.iter().filter(|event| kind(event) == "turn.completed") {
            let gaps = event["payload"]["gaps"].to_string();
            let names_output = event.get("outputRef").is_some();
            assert_eq!(gaps.contains("finalOutput"), !names_output, "{event}");
            silent += u64::from(!names_output);
        }
    }
    assert!(handed_over > 0 && silent > 0, "{handed_over} {silent}");
}

/// Proves PROJ-022.
#[test]
fn a_use_of_a_tool_begins_once_and_ends() {
    let busy = world(37, 2, 12_000, false);
    let mut interrupted = 0;
    for events in exported(&busy, "agentruntime.lime") {
        let mut open: BTreeMap<String, String> = BTreeMap::new();
        let mut begun = BTreeSet::new();
        for event in &events {
            let turn = event["turnId"].as_str().unwrap_or_default().to_owned();
            let tool = event["toolCallId"].as_str().unwrap_or_default().to_owned();
            match kind(event) {
                "tool.started" => {
                    assert!(begun.insert(tool.clone()), "{tool} begins twice");
                    open.insert(tool, turn);
                }
                "tool.progress" => assert!(begun.contains(&tool), "{event}"),
                "tool.result" | "tool.failed" => {
                    assert!(begun.contains(&tool), "{event}");
                    open.remove(&tool);
                    interrupted += u64::from(event["payload"]["category"] == "interrupted");
                }
                "turn.failed" if event["status"] == "cancelled" || event["nativeStatus"] == "cut" => {
                    let left: Vec<_> = open.iter().filter(|(_, of)| **of == turn).collect();
                    assert!(left.is_empty(), "{left:?} outlive {event}");
                }
                _ => {}
            }
        }
    }
    assert!(interrupted > 0);
}

/// Proves PROJ-028.
#[test]
fn what_holds_for_a_call_and_what_surrounds_it_precede_it() {
    let busy = world(43, 2, 14_000, false);
    let (mut made, mut denied) = (0, 0);
    for events in exported(&busy, "agentruntime.lime") {
        let mut told: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let asked = events.iter().filter(|event| event["permissionDecision"]["source"] == "rule");
        let calls: BTreeSet<_> = asked.map(|event| event["toolCallId"].as_str().unwrap()).collect();
        for event in &events {
            let call = event["toolCallId"].as_str().unwrap_or_default();
            if calls.contains(call) {
                told.entry(call).or_default().push(kind(event));
            }
        }
        for kinds in told.values() {
            let is_made = kinds.len() > 1;
            let expected = ["permission.evaluated", "sandbox.applied", "tool.started"];
            assert!(!is_made || kinds.get(..3) == Some(&expected[..]), "{kinds:?}");
            assert!(!is_made || kinds[3] == "tool.args", "{kinds:?}");
            let ends = kinds.iter().skip(4).filter(|kind| **kind != "tool.progress");
            assert!(ends.count() <= 1, "{kinds:?}");
            made += u64::from(is_made);
            denied += u64::from(!is_made);
        }
    }
    assert!(made > 0 && denied > 0, "{made} {denied}");
}

/// Proves PROJ-028: a call that rules refuse outright is told to the session, with why and how often.
#[test]
fn what_rules_refuse_outright_is_told_in_the_session() {
    let busy = world(43, 2, 14_000, false);
    let (mut told, mut counted) = (0, 0);
    for events in exported(&busy, "agentruntime.lime") {
        for event in events.iter().filter(|event| event["payload"]["count"].is_number()) {
            if kind(event) != "permission.evaluated" {
                continue;
            }
            let decision = &event["permissionDecision"];
            assert_eq!((&decision["decision"], &decision["source"]), (&"deny".into(), &"rule".into()));
            assert_eq!(decision["ruleRefs"], json!(["connector-deny"]));
            assert_eq!(decision["reason"], "connector `tools` does not let it be called");
            assert_eq!(event["payload"]["capability"], "tools/die");
            assert!(event["turnId"].is_string() && event["toolCallId"].is_string(), "{event}");
            told += 1;
            counted += event["payload"]["count"].as_u64().unwrap();
        }
    }
    let of_record = busy.record.iter().filter_map(|stored| match &stored.event.fact {
        Fact::RequestRefused(refused) if refused.action == PolicyAction::Invoke => Some(refused.count),
        _ => None,
    });
    assert!(told > 0);
    assert_eq!(counted, of_record.sum::<u64>());
}

/// Proves PROJ-028: the read model says what was decided, by whom, and why.
#[test]
fn a_thread_explains_what_was_decided_about_leave() {
    let busy = world(47, 3, 6_000, false);
    let mut explained = 0;
    for of in agents(&busy) {
        let (running, _) = run(find("agentruntime.lime").unwrap(), &of_session(&busy, of), &busy.record);
        for thread in running.state()["threads"].as_array().unwrap() {
            let state = &thread["permissionState"];
            if state.get("decision").is_some() {
                assert!(
                    ["rule", "human", "host_policy"].contains(&state["source"].as_str().unwrap()),
                    "{state}"
                );
                assert!(!state["reason"].as_str().unwrap().is_empty(), "{state}");
                explained += 1;
            }
            let routing = &thread["modelRouting"];
            assert_eq!(
                (&routing["candidateCount"], &routing["capabilityGap"]),
                (&1.into(), &"unknown".into())
            );
        }
    }
    assert!(explained > 0);
}

/// Proves PROJ-029.
#[test]
fn a_limit_that_a_run_passed_is_joined_to_its_turn() {
    let mut joined = 0;
    for seed in 0..6 {
        let busy = world(53 + seed, 2, 4_000, false);
        for (events, of) in exported(&busy, "agentruntime.lime").iter().zip(agents(&busy)) {
            let told = events.iter().filter(|event| kind(event) == "quota.blocked");
            let told: Vec<_> = told.map(|event| event["runId"].as_str().unwrap().to_owned()).collect();
            let of_agent: BTreeSet<_> = busy
                .record
                .iter()
                .filter_map(|stored| match &stored.event.fact {
                    Fact::RunStarted(started) if started.agent_id == of.0 => Some(started.run_id),
                    _ => None,
                })
                .collect();
            let passed = busy.record.iter().filter_map(|stored| match &stored.event.fact {
                Fact::RunEnded(ended) if ended.limit.is_some() => Some(ended.run_id),
                _ => None,
            });
            let passed: BTreeSet<_> =
                passed.filter(|run| of_agent.contains(run)).map(|run| run.to_string()).collect();
            assert!(told.iter().all(|run| passed.contains(run)), "{told:?} {passed:?}");
            for event in events.iter().filter(|event| kind(event) == "quota.blocked") {
                let digits = |id: &str| event[id].as_str().unwrap().split_once('_').unwrap().1.to_owned();
                assert_eq!(digits("turnId"), digits("runId"));
                assert_eq!(event["limitState"]["status"], "blocked");
                joined += 1;
            }
        }
    }
    assert!(joined > 0);
}

/// Proves PROJ-023.
#[test]
fn what_belongs_to_a_trace_names_it() {
    let world = world(41, 1, 5_000, false);
    let of = agents(&world)[0];
    let traces: BTreeMap<_, _> = world
        .record
        .iter()
        .filter_map(|stored| match &stored.event.fact {
            Fact::MessageAccepted { envelope } => Some((envelope.id, envelope.traceparent.clone())),
            _ => None,
        })
        .collect();
    let thread = crate::support::of_thread(&world, of, main_thread(of.1));
    for (name, subject) in [
        ("agentruntime.events", of_session(&world, of)),
        ("thread.transcript", thread),
        ("queue", of_agent(&world, of)),
        ("deliveries", of_agent(&world, of)),
        ("run.timeline", of_agent(&world, of)),
    ] {
        let (_, said) = run(find(name).unwrap(), &subject, &world.record);
        let mut traced = 0;
        for numbered in &said {
            let Some(message) = numbered.entry.ids.message_id else { continue };
            let expected = traces.get(&message).and_then(Option::as_deref);
            assert_eq!(numbered.entry.trace.as_deref(), expected, "{name}: {numbered:?}");
            traced += u64::from(expected.is_some());
            if let (Some(trace), "agentruntime.events") = (expected, name) {
                let event = numbered.entry.payload.value();
                let parts = format!("00-{}-{}-01", event["traceId"], event["spanId"]).replace('"', "");
                assert_eq!(parts, trace);
            }
        }
        assert!(traced > 20, "{name}");
    }
}

/// Proves PROJ-024.
#[test]
fn ends_are_called_what_they_are() {
    let mut seen = BTreeSet::new();
    for seed in 43..47 {
        let world = world(seed, 1, 9_000, false);
        let of = agents(&world)[0];
        let (_, said) = run(find("agentruntime.lime").unwrap(), &of_session(&world, of), &world.record);
        for numbered in &said {
            let event = numbered.entry.payload.value();
            if !matches!(kind(&event), "turn.completed" | "turn.failed") {
                continue;
            }
            let fact =
                &world.record.iter().find(|stored| stored.event.id == numbered.event_id.event).unwrap().event;
            let expected = match &fact.fact {
                Fact::TurnCompleted { outcome, .. } => {
                    match outcome.as_ref().map(edgeplane_types::SafeLabel::as_str) {
                        Some("cancelled") => ("turn.failed", "cancelled"),
                        Some("error") => ("turn.failed", "failed"),
                        _ => ("turn.completed", "completed"),
                    }
                }
                Fact::MessageTurnEnded { .. } => ("turn.completed", "completed"),
                Fact::MessageAmbiguous { .. } => ("turn.failed", "unknown"),
                _ => ("turn.failed", "failed"),
            };
            assert_eq!((kind(&event), event["status"].as_str().unwrap()), expected, "{event}");
            seen.insert(fact.fact.type_name());
        }
    }
    let all = [
        "agent.exited",
        "message.ambiguous",
        "message.dead_lettered",
        "message.expired",
        "message.rejected",
        "message.turn_ended",
        "turn.completed",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

/// Proves PROJ-027, PROJ-030.
#[test]
fn boundary_and_rollback_of_a_thread_are_told_in_the_standards_words() {
    let mut world = world(7, 1, 900, false);
    let of = agents(&world)[0];
    let (thread, turn) = (world.lives[0].threads[1], TurnId::from_bytes([7; 16]));
    let action = ActionId::from_bytes([8; 16]);
    let before = check_world(&world);
    world.add(
        0,
        Fact::ThreadCompacted(ThreadCompacted {
            thread_id: thread,
            epoch: Epoch(1),
            through: turn,
            turns: 3,
            summary_digest: "5".repeat(64),
            summary_bytes: 9,
            authority: Authority::Trusted,
            tokens_before: Some(90_000),
            open_actions: vec![action],
            reason: "long".to_owned(),
        }),
    );
    world.add(
        0,
        Fact::ThreadRolledBack(ThreadRolledBack {
            thread_id: thread,
            epoch: Epoch(1),
            to_turn: None,
            removed: vec![turn],
            surviving: 2,
            reason: "wrong way".to_owned(),
        }),
    );
    let counts = check_world(&world);
    for kind in [
        "context.compaction.started",
        "context.compaction.completed",
        "history.rollback.started",
        "history.rollback.completed",
    ] {
        assert_eq!(counts.get(kind).copied(), Some(before.get(kind).unwrap_or(&0) + 1), "{kind}");
    }
    check_snapshots(&world);
    let drawn = exported(&world, "agentruntime.events").remove(0);
    let drawn =
        drawn.iter().rev().find(|event| event["type"] == "context.compaction.completed").unwrap().clone();
    assert_eq!(
        (&drawn["threadId"], &drawn["turnId"], &drawn["payload"]["openActions"]),
        (&json!(thread), &json!(turn), &json!([action]))
    );
    let (running, said) =
        run(find("context.boundary").unwrap(), &of_thread(&world, of, thread), &world.record);
    let kinds: Vec<_> = said.iter().map(|one| one.entry.kind).collect();
    assert_eq!(kinds[kinds.len() - 2..], ["boundary.drawn", "history.rolled_back"]);
    let state = running.state();
    assert_eq!((&state["boundary"]["through"], &state["rolled_back"]), (&json!(turn), &json!(1)));
    // Of another thread nothing is told.
    let main = world.lives[0].threads[0];
    let (running, said) = run(find("context.boundary").unwrap(), &of_thread(&world, of, main), &world.record);
    assert!(said.iter().all(|one| one.entry.ids.thread_id == Some(main)));
    assert_ne!(running.state()["boundary"]["through"], json!(turn));
}

/// Proves PROJ-031.
#[test]
fn turns_are_told_with_the_run_and_the_task_that_they_are_of() {
    let world = world(11, 3, 2_000, false);
    let mut tasks: BTreeMap<String, String> = BTreeMap::new();
    for stored in &world.record {
        if let Fact::RunStarted(started) = &stored.event.fact {
            tasks.insert(started.run_id.to_string(), started.task_id.to_string());
        }
    }
    let (mut seen, mut of_tasks) = (0, 0_u32);
    for event in exported(&world, "agentruntime.events").into_iter().flatten() {
        let (Some(run), Some(turn)) = (event["runId"].as_str(), event["turnId"].as_str()) else { continue };
        assert_eq!(run.strip_prefix("run_"), turn.strip_prefix("trn_"), "{event}");
        let own = run.replace("run_", "tsk_");
        let task = event["taskId"].as_str().unwrap();
        // Of a task that is another agent's a session knows nothing.
        let is_of = tasks.get(run).is_some_and(|of| of == task);
        assert!(is_of || task == own, "{event}");
        seen += 1;
        of_tasks += u32::from(is_of);
    }
    assert!(seen > 50 && of_tasks > 0, "{seen}, {of_tasks}");
}

/// Proves PROJ-032.
#[test]
fn graph_of_tasks_is_what_the_record_says_of_each() {
    let mut cut = 0;
    for seed in 11..31 {
        let world = world(seed, 3, 2_000, false);
        let roots: BTreeSet<TaskId> = world.record.iter().filter_map(|stored| root(&stored.event)).collect();
        cut += roots.into_iter().map(|root| graph(&world, root)).sum::<usize>();
    }
    assert!(cut > 0, "edges are taken away, too");
}

fn root(event: &Event) -> Option<TaskId> {
    match event.stream {
        StreamName::Task(root) => Some(root),
        _ => None,
    }
}

/// Looks at one graph; says how many edges of it were taken away.
fn graph(world: &World, root: TaskId) -> usize {
    let mut cut = 0;
    let (running, said) = run(find("task.graph").unwrap(), &of_task(world, root), &world.record);
    let state = running.state();
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    let mut edges: BTreeSet<(String, String, String)> = BTreeSet::new();
    let edge = |from: &TaskId, kind: EdgeKind, to: &str| (from.to_string(), kind.to_string(), to.to_owned());
    let mut events = 0;
    for stored in &world.record {
        if stored.event.stream != StreamName::Task(root) {
            continue;
        }
        events += 1;
        match &stored.event.fact {
            Fact::TaskCreated(created) => {
                expected.insert(created.task_id.to_string(), created.state.to_string());
                for other in &created.depends_on {
                    edges.insert(edge(&created.task_id, EdgeKind::DependsOn, &other.to_string()));
                }
            }
            Fact::TaskLinked(linked) => {
                let to = linked.to.map_or_else(|| linked.uri.clone().unwrap(), |to| to.to_string());
                edges.insert(edge(&linked.task_id, linked.kind, &to));
            }
            Fact::TaskUnlinked(gone) => {
                let to = gone.to.map_or_else(|| gone.uri.clone().unwrap(), |to| to.to_string());
                cut += usize::from(edges.remove(&edge(&gone.task_id, gone.kind, &to)));
            }
            Fact::TaskMoved(moved) => {
                expected.insert(moved.task_id.to_string(), moved.to.to_string());
            }
            _ => {}
        }
    }
    assert_eq!(said.len(), events, "each event is told once");
    assert_eq!(state["total"], json!(expected.len()));
    for task in state["tasks"].as_array().unwrap() {
        let id = task["task_id"].as_str().unwrap();
        assert_eq!(task["state"], json!(expected[id]), "{id}");
        for one in task["edges"].as_array().unwrap() {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            assert!(edges.remove(&(id.to_owned(), text("kind"), text("to"))), "{id}: {one}");
        }
        let mut subject = of_task(world, root);
        subject.part = Some(id.parse().unwrap());
        let (running, said) = run(find("task.view").unwrap(), &subject, &world.record);
        assert_eq!(running.state()["task"]["state"], task["state"]);
        assert!(said.iter().all(|one| one.entry.payload.value()["task_id"] == id));
    }
    assert_eq!(edges, BTreeSet::new(), "each edge is shown at its task");
    cut
}
