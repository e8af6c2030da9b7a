//! The read models: what each fact makes of them, and that they are a function of the record.

use edgeplane_store::{AgentFilter, AppendError, Batch, InboxFilter, MemoryTotals, Model, NewEvent, Store};
use edgeplane_types::{
    Desired, Epoch, Evidence, Fact, Phase, Priority, Rung, StreamName, Tenant, Timestamp,
    decision::ActionOutcome,
    fact::{Actor, Cause, Consumed},
    life::ExitStatus,
    schedule::{MissReason, RunCause, SkipReason},
};
use proptest::prelude::*;

use crate::{
    decisions::{label, opened, refusal, resolved, scheduled, token, token_id, voted},
    support::{
        Maker, accepted, agent, assert_sound, declared, desired, envelope, exited, injected, life, message,
        node, open, process, put, started, starting, stream,
    },
};

fn store(facts: impl IntoIterator<Item = Fact>) -> (tempfile::TempDir, Store, Maker) {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), facts)).unwrap();
    (dir, store, maker)
}

#[track_caller]
fn check_phase(facts: Vec<Fact>, expected: Phase) {
    let begin = [declared(1, "one"), starting(1, Cause::Manifest), started(1)];
    let (_dir, store, _maker) = store(begin.into_iter().chain(facts));
    assert_eq!(store.reader().agent_by_id(&agent(1)).unwrap().unwrap().phase, expected);
}

/// Proves LIFE-011.
#[test]
fn phase_follows_the_fact_that_moves_an_agent() {
    let epoch = Epoch(1);
    let reason = || "test".to_owned();
    let failed = Fact::AgentFailed { reason: reason() };
    check_phase(vec![], Phase::Running);
    check_phase(vec![Fact::AgentFrozen { epoch }], Phase::Frozen);
    check_phase(vec![Fact::AgentFrozen { epoch }, Fact::AgentThawed { epoch }], Phase::Running);
    check_phase(vec![Fact::AgentUnobservable { epoch, reason: reason() }], Phase::Unobservable);
    for (frozen, phase) in [(false, Phase::Running), (true, Phase::Frozen)] {
        let unobservable = Fact::AgentUnobservable { epoch, reason: reason() };
        check_phase(vec![unobservable, Fact::AgentAdopted { epoch, output_bytes: 5, frozen }], phase);
    }
    let stopping = Fact::AgentStopping { epoch, cause: Cause::Request, signal: 15, grace_ms: 1 };
    check_phase(vec![stopping.clone()], Phase::Stopping);
    check_phase(vec![stopping.clone(), exited(1, 0), Fact::AgentStopped {}], Phase::Stopped);
    check_phase(vec![stopping, Fact::AgentQuarantined { epoch, reason: reason() }], Phase::Quarantined);
    check_phase(vec![desired(Desired::Hibernated), exited(1, 0), Fact::AgentStopped {}], Phase::Hibernated);
    let backed_off = Fact::AgentBackedOff { delay_ms: 1, restarts: 1 };
    check_phase(vec![exited(1, 1), backed_off.clone()], Phase::Backoff);
    check_phase(vec![exited(1, 1), backed_off, starting(2, Cause::RestartPolicy)], Phase::Starting);
    check_phase(vec![exited(1, 1), failed.clone()], Phase::Failed);
    check_phase(vec![exited(1, 1), failed, Fact::AgentRetired { reason: reason() }], Phase::Retired);
}

/// Proves LIFE-011.
#[test]
fn agent_is_known_by_its_newest_epoch() {
    let (_dir, store, maker) = store([declared(1, "one"), starting(1, Cause::Manifest), started(1)]);
    let read = || store.reader().agent_by_name(&Tenant::default(), &"one".parse().unwrap()).unwrap().unwrap();
    let running = read();
    assert_eq!(
        (running.epoch, running.process, running.shim),
        (Epoch(1), Some(process(10)), Some(process(9)))
    );
    assert_eq!((running.cgroup.as_deref(), running.restarts, running.events), (Some("edgeplane/a.1"), 0, 3));

    let heard = Consumed { epoch: Epoch(1), offset: 40 };
    let report = Fact::TurnCompleted {
        turn_id: edgeplane_types::TurnId::from_parts(1, [1; 10]),
        outcome: None,
        epoch: Epoch(1),
        message_id: None,
        output_digest: String::new(),
        output_bytes: 0,
        authority: None,
    };
    let event = NewEvent { consumed: Some(heard), ..maker.event(stream(1), report) };
    store.append(Batch { events: vec![event], ..Batch::default() }).unwrap();
    store
        .append(maker.batch(stream(1), [Fact::AgentProbed { healthy: true, reason: String::new() }]))
        .unwrap();
    assert_eq!((read().consumed, read().healthy), (40, Some(true)));

    store.append(maker.batch(stream(1), [exited(1, 3), starting(2, Cause::RestartPolicy)])).unwrap();
    let restarting = read();
    assert_eq!((restarting.epoch, restarting.consumed, restarting.healthy), (Epoch(2), 0, None));
    assert_eq!((restarting.process, restarting.restarts), (None, 1));
    assert_eq!(restarting.last_status, Some(ExitStatus::Code(3)));
    let epochs = store.reader().epochs(&agent(1)).unwrap();
    assert_eq!(
        (epochs[0].output_bytes, epochs[0].consumed, epochs[0].status),
        (100, 40, Some(ExitStatus::Code(3)))
    );
    assert!(epochs[0].ended_at.is_some() && epochs[1].started_at.is_none());
}

/// Proves LIFE-006.
#[test]
fn fact_of_an_epoch_that_is_not_current_is_refused() {
    let (_dir, store, maker) = store([declared(1, "one"), starting(2, Cause::Manifest), started(2)]);
    for fact in [started(1), exited(1, 0), starting(2, Cause::Request), starting(1, Cause::Request)] {
        let result = store.append(maker.batch(stream(1), [fact]));
        let Err(AppendError::Refused { source, .. }) = result else { panic!("{result:?}") };
        assert!(source.to_string().contains("is not current"), "{source}");
    }
}

/// Proves LIFE-023.
#[test]
fn name_is_free_again_after_retirement() {
    let (_dir, store, maker) = store([declared(1, "one"), Fact::AgentRetired { reason: "done".to_owned() }]);
    store.append(maker.batch(stream(2), [declared(2, "one")])).unwrap();
    let reader = store.reader();
    let found = reader.agent_by_name(&Tenant::default(), &"one".parse().unwrap()).unwrap().unwrap();
    assert_eq!(found.id, agent(2));
    let ids = |filter: AgentFilter| {
        reader.agents(&filter).unwrap().into_iter().map(|agent| agent.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(AgentFilter::default()), [agent(2)]);
    assert_eq!(ids(AgentFilter { tenant: None, phases: vec![Phase::Retired] }), [agent(1)]);
    assert!(ids(AgentFilter { tenant: Some("other".parse().unwrap()), phases: vec![] }).is_empty());
}

/// Proves MSG-009, MSG-010, MSG-011.
#[test]
fn messages_wait_by_priority_and_climb_their_ladder() {
    let send = |number, priority, key| Fact::MessageAccepted {
        envelope: Box::new(envelope(1, number, priority, key)),
    };
    let (_dir, store, maker) = store([
        send(1, Priority::Low, None),
        send(2, Priority::Normal, Some("k")),
        send(3, Priority::High, None),
        send(4, Priority::Normal, None),
    ]);
    let reader = store.reader();
    let waiting = |rows| {
        reader
            .next_waiting(&agent(1), rows)
            .unwrap()
            .into_iter()
            .map(|row| row.envelope.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(waiting(9), [message(3), message(2), message(4), message(1)]);
    assert_eq!(waiting(1), [message(3)]);
    assert_eq!(reader.waiting_count(&agent(1)).unwrap(), 4);

    let observed =
        Fact::MessageObserved { message_id: message(3), epoch: Epoch(1), evidence: Evidence::Protocol };
    let rejected = Fact::MessageRejected { message_id: message(4), reason: "too large".to_owned() };
    store.append(maker.batch(stream(1), [injected(3, 1), observed, rejected])).unwrap();
    assert_eq!(waiting(9), [message(2), message(1)]);
    let row = reader.message(&message(3)).unwrap().unwrap();
    assert_eq!((row.state, row.waiting, row.epoch), (Rung::Observed, false, Some(Epoch(1))));
    let rungs: Vec<_> = row.receipts.iter().map(|receipt| (receipt.rung, receipt.evidence)).collect();
    let kernel = (Rung::Accepted, Evidence::Kernel);
    assert_eq!(rungs, [kernel, (Rung::Injected, Evidence::Shim), (Rung::Observed, Evidence::Protocol)]);
    assert_eq!(row.envelope, envelope(1, 3, Priority::High, None));
    assert_eq!(reader.message(&message(4)).unwrap().unwrap().reason.as_deref(), Some("too large"));

    let page = reader.inbox(&agent(1), InboxFilter::All, 3, 0).unwrap();
    let rest = reader.inbox(&agent(1), InboxFilter::All, 3, page[2].accepted_pos).unwrap();
    assert_eq!((page.len(), rest.len(), rest[0].envelope.id), (3, 1, message(4)));
    assert_eq!(reader.inbox(&agent(1), InboxFilter::Waiting, 9, 0).unwrap().len(), 2);
    let newest = |rows| reader.inbox_newest(&agent(1), rows).unwrap();
    assert_eq!(newest(2), [page[2].clone(), rest[0].clone()], "the oldest are left out, the newest is last");
    assert_eq!(newest(9).len(), 4);

    let sender = "sender".parse().unwrap();
    let by_key = reader.message_by_idempotency(&agent(1), &sender, "k").unwrap().unwrap();
    assert_eq!(by_key.envelope.id, message(2));
    let doubled = store.append(maker.batch(stream(1), [send(5, Priority::Low, Some("k"))]));
    let Err(AppendError::Refused { source, .. }) = doubled else { panic!("{doubled:?}") };
    assert_eq!(source.to_string(), "idempotency key `k` of `sender` is used already");
}

/// Proves MSG-084.
#[test]
fn open_turn_is_let_wait_once_more_by_the_node_alone() {
    let (message_id, epoch) = (message(1), Epoch(1));
    let again = Fact::MessageRequeued { message_id };
    let (_dir, store, maker) = store([accepted(1, 1), injected(1, 1)]);
    let reader = store.reader();
    let by = |actor: Actor| {
        let mut batch = maker.batch(stream(1), [again.clone()]);
        batch.events.iter_mut().for_each(|event| event.actor = actor.clone());
        store.append(batch)
    };
    let node = Actor::Node { rule: "delivery".parse().unwrap() };
    let operator = Actor::Operator { name: "uid-0".parse().unwrap(), user_id: None };
    assert!(matches!(by(operator), Err(AppendError::Refused { .. })));
    by(node.clone()).unwrap();
    assert!(reader.open_turns(&agent(1), epoch, 9).unwrap().is_empty(), "it is open no more");
    let row = reader.next_waiting(&agent(1), 9).unwrap().remove(0);
    assert_eq!((row.state, row.waiting), (Rung::Injected, true));
    assert!(matches!(by(node.clone()), Err(AppendError::Refused { .. })), "it waits already");

    store.append(maker.batch(stream(1), [injected(1, 2)])).unwrap();
    let evidence = Evidence::Protocol;
    let ended = Fact::MessageTurnEnded { message_id, epoch: Epoch(2), evidence };
    store.append(maker.batch(stream(1), [ended])).unwrap();
    assert!(matches!(by(node), Err(AppendError::Refused { .. })), "its turn has ended");
    assert_sound(&reader);
}

/// Proves MSG-018.
#[test]
fn requeued_message_waits_once_more_and_keeps_its_rungs() {
    let (message_id, epoch) = (message(1), Epoch(1));
    let ambiguous = |epoch| Fact::MessageAmbiguous { message_id, epoch, reason: "cut".to_owned() };
    let (_dir, store, maker) =
        store([accepted(1, 1), ambiguous(epoch), Fact::MessageRequeued { message_id }]);
    let reader = store.reader();
    let row = reader.next_waiting(&agent(1), 9).unwrap().remove(0);
    assert_eq!((row.state, row.waiting, row.epoch), (Rung::Ambiguous, true, Some(epoch)));
    store.append(maker.batch(stream(1), [injected(1, 2)])).unwrap();
    let row = reader.message(&message_id).unwrap().unwrap();
    let rungs: Vec<_> = row.receipts.iter().map(|receipt| receipt.rung).collect();
    assert_eq!((rungs, row.waiting), (vec![Rung::Accepted, Rung::Ambiguous, Rung::Injected], false));
    let unknown = Fact::MessageRequeued { message_id: message(9) };
    assert!(matches!(store.append(maker.batch(stream(1), [unknown])), Err(AppendError::Refused { .. })));
}

/// Proves MSG-017.
#[test]
fn waiting_messages_are_found_by_the_end_of_their_time() {
    let until = |number, micros: Option<i64>| {
        let mut envelope = envelope(1, number, Priority::Low, None);
        envelope.expires_at = micros.map(Timestamp::from_micros);
        Fact::MessageAccepted { envelope: Box::new(envelope) }
    };
    let all = [until(1, Some(30)), until(2, None), until(3, Some(10)), until(4, Some(20))];
    let (_dir, store, maker) = store(all);
    let reader = store.reader();
    let expired = |micros, rows| reader.expired(&agent(1), Timestamp::from_micros(micros), rows).unwrap();
    let next = || reader.next_expiry(&agent(1)).unwrap().map(Timestamp::as_micros);
    assert_eq!((expired(9, 9), next()), (vec![], Some(10)));
    assert_eq!(expired(20, 9), [message(3), message(4)]);
    assert_eq!(expired(20, 1), [message(3)]);
    let over = |number| Fact::MessageExpired { message_id: message(number) };
    store.append(maker.batch(stream(1), [over(3), injected(4, 1)])).unwrap();
    assert_eq!((expired(30, 9), next()), (vec![message(1)], Some(30)));
    store.append(maker.batch(stream(1), [over(1)])).unwrap();
    assert_eq!((expired(99, 9), next()), (vec![], None));
}

/// Proves MSG-016.
#[test]
fn memory_counts_versions_over_removals() {
    let (_dir, store, maker) = store([put("a/1", 1), put("a/2", 1), put("b", 1), put("a/1", 2)]);
    let reader = store.reader();
    let keys = |prefix, after| {
        let rows = reader.memory_list(&agent(1), prefix, after, 9).unwrap();
        rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert_eq!(keys("", ""), ["a/1", "a/2", "b"]);
    assert_eq!(keys("a/", "a/1"), ["a/2"]);
    assert_eq!(reader.memory_totals(&agent(1)).unwrap(), MemoryTotals { keys: 3, value_bytes: 7 });
    store
        .append(maker.batch(stream(1), [Fact::MemoryDeleted { key: "a/1".to_owned(), version: 3 }]))
        .unwrap();
    assert_eq!(keys("", ""), ["a/2", "b"]);
    assert_eq!(reader.memory_totals(&agent(1)).unwrap(), MemoryTotals { keys: 2, value_bytes: 4 });
    let newest = reader.memory_get(&agent(1), "a/1").unwrap().unwrap();
    assert_eq!((newest.version, newest.digest), (3, None));
    let history = reader.memory_history(&agent(1), "a/1", 9).unwrap();
    assert_eq!(history.iter().map(|row| row.version).collect::<Vec<_>>(), [3, 2, 1]);
    let stale = store.append(maker.batch(stream(1), [put("a/1", 3)]));
    assert!(matches!(stale, Err(AppendError::Refused { .. })), "{stale:?}");
    assert_eq!(reader.memory_totals(&agent(9)).unwrap(), MemoryTotals::default());
}

#[test]
fn segments_and_gaps_are_listed_by_epoch() {
    let (_dir, store, maker) = store([declared(9, "nine")].into_iter().take(0));
    store.append(life(&maker, 1)).unwrap();
    let gap =
        Fact::RecordingGap { epoch: Epoch(1), from_offset: 90, to_offset: 95, reason: "full".to_owned() };
    store.append(maker.batch(stream(1), [gap])).unwrap();
    let reader = store.reader();
    let segments = reader.segments(&agent(1), Epoch(1)).unwrap();
    assert_eq!((segments.len(), segments[0].to_offset), (1, 90));
    assert_eq!(reader.gaps(&agent(1), Epoch(1)).unwrap()[0].to_offset, 95);
    assert!(reader.segments(&agent(1), Epoch(2)).unwrap().is_empty());
    assert_eq!(reader.epochs(&agent(1)).unwrap()[0].segments, 1);
}

fn any_fact(number: u8) -> impl Strategy<Value = Fact> {
    let epoch = || 1..4_u64;
    let rung = |make: fn(u8, Epoch) -> Fact| (0..4_u8, epoch()).prop_map(move |(m, e)| make(m, Epoch(e)));
    prop_oneof![
        (0..2_u8).prop_map(move |name| declared(number, ["one", "two"][usize::from(name)])),
        epoch().prop_map(|e| starting(e, Cause::RestartPolicy)),
        epoch().prop_map(started),
        epoch().prop_map(|e| exited(e, 1)),
        Just(Fact::AgentStopped {}),
        Just(desired(Desired::Hibernated)),
        Just(Fact::AgentRetired { reason: "done".to_owned() }),
        (0..4_u8).prop_map(move |m| accepted(number, m)),
        rung(|m, e| injected(m, e.0)),
        rung(|m, epoch| Fact::MessageAmbiguous { message_id: message(m), epoch, reason: "crash".to_owned() }),
        any_fate(),
        any_schedule_fact(),
        any_decision(number),
        (0..3_u8, 1..9_u64).prop_map(|(key, version)| put(&format!("key {key}"), version)),
        (0..3_u8, 1..9_u64)
            .prop_map(|(key, version)| Fact::MemoryDeleted { key: format!("key {key}"), version }),
        (epoch(), 0..3_u32).prop_map(|(e, segment)| Fact::RecordingSealed {
            epoch: Epoch(e),
            segment,
            from_offset: 0,
            to_offset: 10,
            file_bytes: 20,
            digest: "0".repeat(64),
        }),
    ]
}

/// What becomes of a message, whether it can or not.
fn any_fate() -> impl Strategy<Value = Fact> {
    let reason = || "test".to_owned();
    let evidence = Evidence::Protocol;
    (0..4_u8, 1..4_u64, 0..7_u8).prop_map(move |(number, epoch, fate)| {
        let (message_id, epoch) = (message(number), Epoch(epoch));
        match fate {
            0 => Fact::MessageObserved { message_id, epoch, evidence },
            1 => Fact::MessageTurnEnded { message_id, epoch, evidence },
            2 => Fact::MessageRejected { message_id, reason: reason() },
            3 => Fact::MessageExpired { message_id },
            4 => Fact::MessageDeadLettered { message_id, reason: reason() },
            5 => Fact::MessageDropped { message_id, reason: reason() },
            _ => Fact::MessageRequeued { message_id },
        }
    })
}

fn any_schedule_fact() -> impl Strategy<Value = Fact> {
    (0..2_u8, 0..9_u8, 0..99_i64).prop_map(|(name, kind, second)| {
        let name = ["daily", "weekly"][usize::from(name)].parse().unwrap();
        let due_at = Timestamp::from_micros(second * 1_000_000);
        match kind {
            0..=2 => scheduled(&name, if kind == 0 { "schedule" } else { "" }),
            3 => Fact::ScheduleRemoved { name, reason: "test".to_owned() },
            4 => Fact::SchedulePaused { name },
            5 => Fact::ScheduleResumed { name },
            6 => Fact::ScheduleRan { name, due_at, message_id: message(1), cause: RunCause::Due },
            7 => {
                let (reason, detail) = (SkipReason::Overlap, String::new());
                Fact::ScheduleSkipped { name, due_at, reason, detail }
            }
            _ => {
                let (from, to, reason) = (due_at, due_at, MissReason::NodeDown);
                Fact::ScheduleMissed { name, from, to, count: 2, reason }
            }
        }
    })
}

fn any_decision(number: u8) -> impl Strategy<Value = Fact> {
    (0..3_u8, 0..3_u8).prop_map(move |(id, kind)| match kind {
        0 => opened(number, id, 50),
        1 => voted(id, "ann", "d"),
        _ => resolved(id, ActionOutcome::Approved),
    })
}

/// What the node itself decides.
fn any_node_fact() -> impl Strategy<Value = Fact> {
    (0..3_u8, 0..7_u8).prop_map(|(id, kind)| match kind {
        0 => token(id, &format!("digest {id}")),
        1 => Fact::TokenRevoked { token_id: token_id(id), reason: "test".to_owned() },
        2 => Fact::KeyCreated { key_id: label(&format!("key-{id}")), public_key: "public".to_owned() },
        3 => Fact::KeyRetired { key_id: label(&format!("key-{id}")) },
        4 => Fact::PolicyLoaded { digest: id.to_string(), rules: 1, files: Vec::new() },
        5 => Fact::PolicyRejected { file: "f".to_owned(), problem: "p".to_owned() },
        _ => refusal(Some(id), 3),
    })
}

fn any_batch() -> impl Strategy<Value = (StreamName, Vec<Fact>)> {
    let of_agent = (1..4_u8)
        .prop_flat_map(|number| (Just(stream(number)), prop::collection::vec(any_fact(number), 1..4)));
    let of_node = (Just(node()), prop::collection::vec(any_node_fact(), 1..3));
    prop_oneof![5 => of_agent, 1 => of_node]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Proves LIFE-022.
    #[test]
    fn rebuilt_models_are_those_that_grew(history in prop::collection::vec(any_batch(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let (store, maker) = (open(dir.path()), Maker::default());
        for (stream, facts) in history {
            match store.append(maker.batch(stream, facts)) {
                Ok(_) | Err(AppendError::Refused { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let reader = store.reader();
        for model in Model::ALL {
            let grown = reader.model_digest(model).unwrap();
            store.rebuild(model).unwrap();
            prop_assert_eq!(reader.model_digest(model).unwrap(), grown, "{}", model.as_str());
        }
        assert_sound(&reader);
    }
}
