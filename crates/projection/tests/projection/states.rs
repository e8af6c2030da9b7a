//! What the states say, after short lives that are written out.

use edgeplane_projection::{Running, Subject, find};
use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{
    Epoch, Fact, Rung, StreamName, TurnId,
    fact::{RequestRefused, ThreadArchived, ThreadRolledBack, ThreadUpdated, UsageReported},
};
use serde_json::Value;

use crate::{
    lives::{World, traces::trace_id, world},
    support::{agents, input, of_agent, of_node, of_session, of_thread, of_trace, run},
};

fn state(name: &str, subject: &Subject, world: &World) -> Value {
    run(find(name).unwrap(), subject, &world.record).0.state()
}

/// Proves PROJ-013: the queue's depth is what was accepted and is not gone.
#[test]
fn the_queue_counts_what_waits() {
    for seed in 0..20 {
        let world = world(seed, 1, 700, false);
        let of = agents(&world)[0];
        let mut waiting = std::collections::BTreeSet::new();
        for stored in world.record.iter().filter(|stored| stored.event.stream == StreamName::Agent(of.0)) {
            match &stored.event.fact {
                Fact::MessageAccepted { envelope } => drop(waiting.insert(envelope.id)),
                Fact::MessageRequeued { message_id } => drop(waiting.insert(*message_id)),
                Fact::MessageInjected { message_id, .. }
                | Fact::MessageObserved { message_id, .. }
                | Fact::MessageRejected { message_id, .. }
                | Fact::MessageExpired { message_id }
                | Fact::MessageAmbiguous { message_id, .. }
                | Fact::MessageDeadLettered { message_id, .. }
                | Fact::MessageAssigned { message_id, .. }
                | Fact::MessageReturned { message_id, .. } => drop(waiting.remove(message_id)),
                _ => {}
            }
        }
        let queue = state("queue", &of_agent(&world, of), &world);
        assert_eq!(queue["depth"], waiting.len(), "seed {seed}");
        let shown: Vec<_> =
            queue["waiting"].as_array().unwrap().iter().map(|one| &one["message_id"]).collect();
        assert_eq!(shown.len() + usize::try_from(queue["more"].as_u64().unwrap()).unwrap(), waiting.len());
        let deliveries = state("deliveries", &of_agent(&world, of), &world);
        assert_eq!(deliveries["waiting"], waiting.len(), "seed {seed}");
        assert!(deliveries["counts"][Rung::Accepted.as_str()].as_u64().unwrap() > 0);
        // A session's snapshot has the same in the threads' own lists.
        let snapshot = state("session.snapshot", &of_session(&world, of), &world);
        let queued: u64 = snapshot["threads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|thread| {
                let shown = u64::try_from(thread["queuedTurns"].as_array().unwrap().len()).unwrap();
                shown + thread["queuedMore"].as_u64().unwrap()
            })
            .sum();
        assert_eq!(queued, u64::try_from(waiting.len()).unwrap(), "seed {seed}");
    }
}

/// Proves PROJ-014: what waits for a person is what was asked and not decided.
#[test]
fn pending_actions_are_those_without_a_decision() {
    for seed in 0..20 {
        let world = world(seed, 2, 900, false);
        let mut open = std::collections::BTreeSet::new();
        for stored in &world.record {
            match &stored.event.fact {
                Fact::ActionOpened { action } => drop(open.insert(action.id.to_string())),
                Fact::ActionResolved { action_id, .. } => drop(open.remove(&action_id.to_string())),
                _ => {}
            }
        }
        let pending = state("actions.pending", &of_node(&world), &world);
        assert_eq!(pending["pending"], open.len(), "seed {seed}");
        let entries = pending["entries"].as_array().unwrap();
        let shown: std::collections::BTreeSet<_> =
            entries.iter().map(|entry| entry["action_id"].as_str().unwrap().to_owned()).collect();
        assert!(shown.is_subset(&open));
    }
}

/// Proves PROJ-015: a turn that was cut with its epoch is no open turn any more, in any view.
#[test]
fn nothing_runs_in_an_epoch_that_is_over() {
    for seed in 0..20 {
        let mut world = world(seed, 1, 600, false);
        let of = agents(&world)[0];
        let end = world.record.iter().rposition(|stored| {
            matches!(stored.event.fact, Fact::AgentExited { .. })
                && stored.event.stream == StreamName::Agent(of.0)
        });
        let Some(end) = end else { continue };
        world.record.truncate(end + 1);
        let timeline = state("run.timeline", &of_agent(&world, of), &world);
        assert_eq!(timeline["running"].as_array().unwrap().len(), 0, "seed {seed}");
        let snapshot = state("session.snapshot", &of_session(&world, of), &world);
        for thread in snapshot["threads"].as_array().unwrap() {
            assert!(thread.get("activeTurnId").is_none(), "seed {seed}: {thread}");
        }
    }
}

/// Proves PROJ-016: the views of one thread and of the session say the same of it.
#[test]
fn a_threads_read_model_is_the_sessions_thread() {
    let world = world(13, 1, 1_500, false);
    let of = agents(&world)[0];
    let snapshot = state("session.snapshot", &of_session(&world, of), &world);
    let threads = snapshot["threads"].as_array().unwrap();
    assert!(threads.len() >= 2, "the generator uses several threads");
    for thread in threads {
        let id = thread["threadId"].as_str().unwrap().parse().unwrap();
        assert_eq!(&state("thread.read_model", &of_thread(&world, of, id), &world), thread);
    }
}

/// Proves PROJ-017: an agent's phase is that of the last fact that moved it.
#[test]
fn the_status_of_all_agents_is_that_of_each() {
    let world = world(17, 3, 2_500, false);
    let all = state("agent.status", &of_node(&world), &world);
    for entry in all["entries"].as_array().unwrap() {
        let agent = entry["agent_id"].as_str().unwrap().parse().unwrap();
        let session = agents(&world).iter().find(|of| of.0 == agent).unwrap().1;
        let one = state("agent.status", &of_agent(&world, (agent, session)), &world);
        assert_eq!(&one["entries"][0], entry);
    }
    let phases: u64 = all["phases"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(all["agents"], phases);
}

/// Proves PROJ-018: tokens of a turn that is reported twice are counted once, by the newest word.
#[test]
fn tokens_are_summed_by_the_newest_word_of_each_turn() {
    // Few enough turns that each is still known when its usage is said again.
    let world = world(19, 1, 8_000, true);
    let of = agents(&world)[0];
    let (mut newest, mut again) = (std::collections::BTreeMap::new(), 0);
    for stored in &world.record {
        if let Fact::UsageReported(UsageReported {
            message_id: Some(message), input_tokens: Some(input), ..
        }) = &stored.event.fact
            && stored.event.stream == StreamName::Agent(of.0)
        {
            again += u64::from(newest.insert(*message, *input).is_some());
        }
    }
    assert!(newest.len() > 3 && again > 0, "the generator reports usage, {again} times once more");
    let usage = state("usage.cost", &of_agent(&world, of), &world);
    assert_eq!(usage["tokens"]["input"], newest.values().sum::<u64>());
    assert_eq!(usage["said_by"], "program");
}

/// Proves PROJ-019: the chain's head is the newest event, and a hole in a stream is counted.
#[test]
fn the_audit_chain_has_each_streams_head() {
    let world = world(23, 2, 500, false);
    let of = agents(&world)[0];
    let chain = state("audit.chain", &of_node(&world), &world);
    assert_eq!(chain["events"], world.record.len());
    assert_eq!(chain["breaks"], 0);
    let last = world.record.last().unwrap();
    assert_eq!(chain["heads"][0]["hash"], last.hash.as_str());
    let mut running = Running::new(find("audit.chain").unwrap(), &of_agent(&world, of));
    for stored in world.record.iter().filter(|stored| stored.event.seq != 4) {
        running.fold(&input(stored));
    }
    assert_eq!(running.state()["breaks"], 1);
}

/// Proves PROJ-020: refusals are counted by their rules, and decisions shown.
#[test]
fn governance_counts_refusals() {
    let world = world(29, 2, 3_000, false);
    let mut refused = 0;
    for stored in &world.record {
        if let Fact::RequestRefused(RequestRefused { count, .. }) = &stored.event.fact {
            refused += count;
        }
    }
    let governance = state("governance", &of_node(&world), &world);
    let counted: u64 = governance["refused_by"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(counted, refused);
    assert!(refused > 0 && !governance["rules_in_force"].is_null());
}

/// Proves PROJ-025.
#[test]
fn thread_is_what_was_said_of_it_and_what_is_left_of_its_history() {
    let mut world = world(7, 1, 900, false);
    let of = agents(&world)[0];
    let thread = world.lives[0].threads[1];
    let view = |world: &World| state("thread.read_model", &of_thread(world, of, thread), world);
    let shown = |view: &Value| -> Vec<String> {
        let turns = view["turns"].as_array().unwrap().iter();
        turns.map(|turn| turn["turnId"].as_str().unwrap().to_owned()).collect()
    };
    let before = view(&world);
    let turns = shown(&before);
    assert!(turns.len() >= 3 && before["outputs"][0]["turnId"].is_string(), "{before:#}");
    assert_eq!((&before["title"], before.get("archivedAt")), (&Value::from("another"), None));

    let last = before["outputs"][0]["turnId"].as_str().unwrap().to_owned();
    let cut = turns.iter().position(|turn| *turn == last).unwrap();
    let removed: Vec<TurnId> = turns[cut..].iter().map(|turn| turn.parse().unwrap()).collect();
    let rolled_back = ThreadRolledBack {
        thread_id: thread,
        epoch: Epoch(1),
        to_turn: cut.checked_sub(1).map(|at| turns[at].parse().unwrap()),
        removed: removed.clone(),
        surviving: u64::try_from(cut).unwrap(),
        reason: "wrong way".to_owned(),
    };
    world.add(0, Fact::ThreadRolledBack(rolled_back));
    let updated =
        ThreadUpdated { thread_id: thread, title: Some("renamed".to_owned()), labels: BTreeMap::new() };
    world.add(0, Fact::ThreadUpdated(updated));
    world.add(0, Fact::ThreadArchived(ThreadArchived { thread_id: thread, reason: "done".to_owned() }));

    let after = view(&world);
    assert_eq!(shown(&after), turns[..cut]);
    assert_ne!(after["outputs"][0]["turnId"], Value::from(last));
    assert_eq!((&after["title"], &after["rolledBack"]), (&Value::from("renamed"), &Value::from(1)));
    assert!(after["archivedAt"].is_string(), "{after:#}");
    let snapshot = state("session.snapshot", &of_session(&world, of), &world);
    let in_session = snapshot["threads"].as_array().unwrap().iter();
    assert!(in_session.into_iter().any(|other| *other == after), "{snapshot:#}");

    let (_, said) = run(find("thread.transcript").unwrap(), &of_thread(&world, of, thread), &world.record);
    let told = said.iter().map(|one| one.entry.kind);
    let told = told.filter(|kind| kind.starts_with("thread.") && *kind != "thread.compacted");
    let expected = ["thread.created", "thread.rolled_back", "thread.updated", "thread.archived"];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    // Those of another thread say nothing here.
    let main = world.lives[0].threads[0];
    let (_, said) = run(find("thread.transcript").unwrap(), &of_thread(&world, of, main), &world.record);
    let of_another = |kind: &str| kind.starts_with("thread.") && kind != "thread.compacted";
    assert!(!said.iter().any(|one| of_another(one.entry.kind)));
}

/// Proves PROJ-026.
#[test]
fn waterfall_has_each_request_and_turn_of_its_trace_and_no_other() {
    let world = world(11, 3, 900, false);
    let waterfall = state("trace.waterfall", &of_trace(&world), &world);
    let mut spans = BTreeMap::new();
    let (mut turns, mut accepted) = (BTreeMap::new(), BTreeSet::new());
    for stored in &world.record {
        let event = &stored.event;
        let Some(message) = event.fact.message_id() else { continue };
        let named = event.trace.as_ref().map(|trace| (trace.traceparent.trace_id, trace.traceparent.span_id));
        if matches!(event.fact, Fact::MessageAccepted { .. }) {
            accepted.insert(message.to_string());
        }
        let span = match named {
            Some((trace, span)) if trace == trace_id(0) => {
                turns.insert(message, span);
                Some(span)
            }
            Some(_) => None,
            None => turns.get(&message).copied(),
        };
        if let Some(span) = span {
            let found = spans.entry(span.to_string()).or_insert((event.ts, event.ts, 0));
            (found.1, found.2) = (event.ts, found.2 + 1);
        }
    }
    let shown = waterfall["spans"].as_array().unwrap();
    assert!(spans.len() > 20 && shown.len() == spans.len(), "{} of {}", shown.len(), spans.len());
    for span in shown {
        let (begin, end, events) = &spans[span["span_id"].as_str().unwrap()];
        assert_eq!(
            (&span["began_at"], &span["last_at"], &span["events"]),
            (&serde_json::json!(begin), &serde_json::json!(end), &Value::from(*events)),
        );
        let asked = accepted.contains(span["message_id"].as_str().unwrap());
        assert!(!asked || span["parent"].as_str().is_none_or(|parent| spans.contains_key(parent)), "{span}");
    }
    assert!(shown.iter().filter(|span| span["parent"].is_string()).count() > 5);
    assert!(shown.iter().any(|span| span["status"] == "ended") && waterfall["more"] == 0);
}
