//! Conversations in the read models: threads and their versions, what is rolled back, what goes first, what is handed over.

use std::collections::BTreeMap;

use edgeplane_store::{AppendError, Model, Order, Store, ThreadFilter, TurnsOf};
use edgeplane_types::{
    Authority, Continuity, DeliveryId, Epoch, Fact, OutputId, Priority, Proof, SessionId, ThreadId, TurnId,
    fact::{
        DeliveryAcknowledged, DeliveryCreated, DeliveryFailed, Destination, InterruptRequested,
        SessionArchived, SessionCreated, ThreadArchived, ThreadCreated, ThreadParent, ThreadRolledBack,
        ThreadUpdated,
    },
};
use proptest::prelude::*;

use crate::support::{
    Maker, accepted, accepted_with, agent, assert_sound, declared, injected, message, open, stream,
};

pub(crate) fn thread_id(number: u8) -> ThreadId {
    ThreadId::from_parts(9, [number; 10])
}

fn main_session(number: u8) -> SessionId {
    SessionId::from_parts(1, [number; 10])
}

fn main_thread(number: u8) -> ThreadId {
    ThreadId::from_bytes(*main_session(number).as_bytes())
}

fn turn(number: u8) -> TurnId {
    TurnId::from_bytes(*message(number).as_bytes())
}

fn created(of: u8, number: u8, parent: Option<ThreadParent>) -> Fact {
    Fact::ThreadCreated(ThreadCreated {
        thread_id: thread_id(number),
        session_id: main_session(of),
        title: Some("t".to_owned()),
        labels: BTreeMap::new(),
        parent,
    })
}

fn updated(number: u8, title: &str) -> Fact {
    let (thread_id, title) = (thread_id(number), Some(title.to_owned()));
    Fact::ThreadUpdated(ThreadUpdated { thread_id, title, labels: BTreeMap::new() })
}

fn archived(number: u8) -> Fact {
    Fact::ThreadArchived(ThreadArchived { thread_id: thread_id(number), reason: "done".to_owned() })
}

fn rolled_back(thread_id: ThreadId, epoch: u64, removed: &[u8]) -> Fact {
    Fact::ThreadRolledBack(ThreadRolledBack {
        thread_id,
        epoch: Epoch(epoch),
        to_turn: None,
        removed: removed.iter().map(|number| turn(*number)).collect(),
        surviving: 0,
        reason: String::new(),
    })
}

fn completed(number: u8) -> Fact {
    Fact::TurnCompleted {
        turn_id: turn(number),
        epoch: Epoch(1),
        message_id: Some(message(number)),
        output_digest: String::new(),
        output_bytes: 0,
        authority: Some(Authority::Delegated),
        outcome: None,
    }
}

fn opened(epoch: u64, name: &str) -> Fact {
    Fact::SessionOpened {
        epoch: Epoch(epoch),
        native_id: name.to_owned(),
        continuity: Continuity::None,
        program: None,
        lost: None,
        resumable: true,
        closable: false,
        details_digest: String::new(),
        details_bytes: 0,
    }
}

fn store(facts: impl IntoIterator<Item = Fact>) -> (tempfile::TempDir, Store, Maker) {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), facts)).unwrap();
    (dir, store, maker)
}

#[track_caller]
fn refused(store: &Store, maker: &Maker, of: u8, fact: Fact) -> String {
    match store.append(maker.batch(stream(of), [fact])) {
        Err(AppendError::Refused { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    }
}

/// Proves CONV-002, CONV-005, CONV-006.
#[test]
fn thread_belongs_to_its_agent_and_counts_its_changes() {
    let (_dir, store, maker) = store([declared(1, "one"), created(1, 1, None)]);
    store.append(maker.batch(stream(2), [declared(2, "two")])).unwrap();
    let read = |id| store.reader().thread(&id).unwrap().unwrap();
    assert!(read(main_thread(1)).is_main && read(main_thread(1)).agent == agent(1));
    assert_eq!((read(thread_id(1)).version, read(thread_id(1)).is_main), (1, false));
    for (of, fact, expected) in [
        (1, created(1, 1, None), "exists already"),
        (2, created(1, 2, None), "does not exist"),
        (2, updated(1, "x"), "does not exist"),
        (2, archived(1), "does not exist"),
        (1, rolled_back(thread_id(7), 1, &[]), "does not exist"),
    ] {
        let why = refused(&store, &maker, of, fact);
        assert!(why.contains(expected), "{why}");
    }
    store.append(maker.batch(stream(1), [updated(1, "new"), archived(1), archived(1)])).unwrap();
    let row = read(thread_id(1));
    assert_eq!((row.version, row.title.as_deref()), (4, Some("new")));
    assert!(row.archived_at.is_some());
    let listed = |archived| {
        let filter = ThreadFilter { agent: Some(agent(1)), session: None, archived };
        store.reader().threads(&filter, 9, 0).unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(false), [main_thread(1)]);
    assert_eq!(listed(true), [main_thread(1), thread_id(1)]);
    let session = SessionId::from_parts(8, [8; 10]);
    let further = SessionCreated { session_id: session, title: None, labels: BTreeMap::new() };
    let inner = ThreadCreated {
        thread_id: thread_id(8),
        session_id: session,
        title: None,
        labels: BTreeMap::new(),
        parent: None,
    };
    store
        .append(maker.batch(stream(1), [Fact::SessionCreated(further), Fact::ThreadCreated(inner)]))
        .unwrap();
    let gone = SessionArchived { session_id: session, reason: String::new() };
    store.append(maker.batch(stream(1), [Fact::SessionArchived(gone)])).unwrap();
    assert!(read(thread_id(8)).archived_at.is_some() && read(main_thread(1)).archived_at.is_none());
    assert_sound(&store.reader());
}

/// Proves CONV-001, CONV-014, CONV-040.
#[test]
fn turns_are_the_messages_of_their_thread() {
    let in_thread = |number| accepted_with(1, number, |envelope| envelope.thread = Some(thread_id(1)));
    let into = accepted_with(1, 5, |envelope| envelope.into_turn = Some(turn(1)));
    let facts = [declared(1, "one"), created(1, 1, None), accepted(1, 1), in_thread(2), accepted(1, 3)];
    let (_dir, store, maker) = store(facts);
    store.append(maker.batch(stream(1), [in_thread(4), into])).unwrap();
    let turns = |of, order, cursor| {
        let found = store.reader().turns_in(of, order, 2, cursor).unwrap();
        found.into_iter().map(|row| (row.envelope.id, row.accepted_pos)).collect::<Vec<_>>()
    };
    let ids = |found: &[(_, u64)]| found.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    let main = TurnsOf::Main(agent(1));
    assert_eq!(ids(&turns(main, Order::Oldest, 0)), [message(1), message(3)]);
    assert_eq!(ids(&turns(main, Order::Newest, 0)), [message(3), message(1)]);
    let further = TurnsOf::Thread(thread_id(1));
    assert_eq!(ids(&turns(further, Order::Oldest, 0)), [message(2), message(4)]);
    let page = turns(TurnsOf::Agent(agent(1)), Order::Oldest, 0);
    assert_eq!(ids(&page), [message(1), message(2)]);
    let next = turns(TurnsOf::Agent(agent(1)), Order::Oldest, page[1].1);
    assert_eq!(ids(&next), [message(3), message(4)]);
    let steered = store.reader().steered_into(&agent(1), &turn(1), 0).unwrap();
    assert_eq!(steered.iter().map(|row| row.envelope.id).collect::<Vec<_>>(), [message(5)]);

    let given = [injected(2, 1), completed(2), completed(2), injected(4, 1)];
    let begun = [crate::support::starting(1, edgeplane_types::fact::Cause::Manifest)];
    store.append(maker.batch(stream(1), begun.into_iter().chain(given))).unwrap();
    assert_eq!(store.reader().surviving_turns(further).unwrap(), 2);
    store.append(maker.batch(stream(1), [rolled_back(thread_id(1), 1, &[4])])).unwrap();
    assert_eq!(store.reader().surviving_turns(further).unwrap(), 1);
    assert!(store.reader().removed_turn(&turn(4)).unwrap().is_some());
    assert!(store.reader().removed_turn(&turn(2)).unwrap().is_none());
    assert_eq!(store.reader().thread(&thread_id(1)).unwrap().unwrap().removed, 1);
    // The first end of a turn is what it came to.
    let outputs = store.reader().turn_outputs(&agent(1), Order::Oldest, 9, 0).unwrap();
    assert_eq!(outputs.len(), 1);
    assert_eq!(store.reader().turn_output(&turn(2)).unwrap().unwrap().pos, outputs[0].pos);
}

/// Proves CONV-042.
#[test]
fn session_of_before_a_rollback_is_not_gone_on_with_whatever_is_said_of_it_later() {
    let begun = |epoch| crate::support::starting(epoch, edgeplane_types::fact::Cause::Manifest);
    let (_dir, store, maker) = store([declared(1, "one"), begun(1), opened(1, "a")]);
    let row = || store.reader().session(&agent(1)).unwrap().unwrap();
    let name = || row().handle().map(str::to_owned);
    assert_eq!(name().as_deref(), Some("a"));
    store.append(maker.batch(stream(1), [rolled_back(main_thread(1), 1, &[1])])).unwrap();
    assert_eq!(name(), None);
    assert_eq!(row().native_id.as_deref(), Some("a"), "its epoch has it until it ends");
    store.append(maker.batch(stream(1), [opened(1, "a")])).unwrap();
    assert_eq!(name(), None);
    store.append(maker.batch(stream(1), [begun(2), opened(2, "b")])).unwrap();
    assert_eq!(name().as_deref(), Some("b"));
}

/// Proves CONV-022.
#[test]
fn promoted_message_goes_first_and_is_counted_with_those_of_high_priority() {
    let high = accepted_with(1, 2, |envelope| envelope.priority = Priority::High);
    let (_dir, store, maker) = store([declared(1, "one"), accepted(1, 1), high, accepted(1, 3)]);
    let next = || {
        let rows = store.reader().next_waiting(&agent(1), 9).unwrap();
        rows.into_iter().map(|row| row.envelope.id).collect::<Vec<_>>()
    };
    assert_eq!(next(), [message(2), message(1), message(3)]);
    let promoted = |number| Fact::MessagePromoted { message_id: message(number) };
    store.append(maker.batch(stream(1), [promoted(3), promoted(3)])).unwrap();
    assert_eq!(next(), [message(3), message(2), message(1)]);
    let totals = store.reader().waiting_totals(&agent(1)).unwrap();
    assert_eq!((totals.high.messages, totals.normal.messages, totals.low.messages), (2, 1, 0));
    let begun = crate::support::starting(1, edgeplane_types::fact::Cause::Manifest);
    store.append(maker.batch(stream(1), [begun, injected(3, 1)])).unwrap();
    assert_eq!(next(), [message(2), message(1)]);
    assert!(refused(&store, &maker, 1, promoted(3)).contains("does not wait"));
    assert_sound(&store.reader());
}

fn delivery_id(number: u8) -> DeliveryId {
    DeliveryId::from_parts(7, [number; 10])
}

fn handed(number: u8, to: Option<u8>) -> Fact {
    let destination = match to {
        Some(to) => Destination::Agent { agent_id: agent(to) },
        None => Destination::Principal { principal: "ann".parse().unwrap(), proof: Proof::Uid },
    };
    Fact::DeliveryCreated(DeliveryCreated {
        delivery_id: delivery_id(number),
        output_id: OutputId::from_bytes(*turn(1).as_bytes()),
        output_digest: String::new(),
        destination,
        authority: Authority::Advisory,
    })
}

fn failed(number: u8) -> Fact {
    Fact::DeliveryFailed(DeliveryFailed { delivery_id: delivery_id(number), reason: "no".to_owned() })
}

fn acknowledged(number: u8) -> Fact {
    let by = "ann".parse().unwrap();
    Fact::DeliveryAcknowledged(DeliveryAcknowledged { delivery_id: delivery_id(number), by })
}

/// Proves CONV-051, CONV-053.
#[test]
fn delivery_is_undone_until_its_message_is_there_or_it_is_settled() {
    let (_dir, store, maker) = store([declared(1, "one"), handed(1, Some(2)), handed(2, None)]);
    store.append(maker.batch(stream(2), [declared(2, "two")])).unwrap();
    let undone = || store.reader().deliveries_undone(9, 0).unwrap().len();
    assert_eq!(undone(), 1);
    assert!(refused(&store, &maker, 1, handed(1, None)).contains("exists already"));
    assert!(refused(&store, &maker, 2, acknowledged(1)).contains("does not exist"));
    store.append(maker.batch(stream(1), [acknowledged(2), failed(1)])).unwrap();
    assert_eq!(undone(), 0);
    let reader = store.reader();
    assert_eq!(reader.delivery(&delivery_id(1)).unwrap().unwrap().failed.as_deref(), Some("no"));
    let who = reader.delivery(&delivery_id(2)).unwrap().unwrap().acknowledged;
    assert_eq!(who.map(|(by, _)| by.to_string()).as_deref(), Some("ann"));
    assert_eq!(reader.deliveries(Some(&agent(2)), 9, 0).unwrap().len(), 1, "those to it are its own, too");
    assert_eq!(reader.deliveries(None, 9, 0).unwrap().len(), 2);
}

fn any_fact(of: u8) -> impl Strategy<Value = Fact> {
    (0..14_u8, 0..3_u8, 0..4_u8).prop_map(move |(kind, thread, number)| match kind {
        0 => declared(of, &format!("agent-{of}")),
        1 => created(of, thread, None),
        2 => updated(thread, &number.to_string()),
        3 => archived(thread),
        4 => rolled_back(thread_id(thread), u64::from(number), &[number]),
        5 => accepted_with(of, number, |envelope| envelope.thread = Some(thread_id(thread))),
        6 => Fact::MessagePromoted { message_id: message(number) },
        7 => Fact::TurnInterruptRequested(InterruptRequested {
            turn_id: turn(number),
            reason: String::new(),
            keeps_queue: true,
        }),
        8 => completed(number),
        9 => opened(u64::from(number), "s"),
        10 => handed(number, Some(thread)),
        11 => failed(number),
        12 => acknowledged(number),
        _ => Fact::MessageRejected { message_id: message(number), reason: "test".to_owned() },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Proves LIFE-022.
    #[test]
    fn rebuilt_conversations_are_those_that_grew(
        history in prop::collection::vec((1..3_u8).prop_flat_map(|of| (Just(of), any_fact(of))), 1..60)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (store, maker) = (open(dir.path()), Maker::default());
        store.append(maker.batch(stream(1), [declared(1, "agent-1")])).unwrap();
        for (of, fact) in history {
            match store.append(maker.batch(stream(of), [fact])) {
                Ok(_) | Err(AppendError::Refused { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let reader = store.reader();
        for model in [Model::Threads, Model::Deliveries, Model::Messages, Model::Sessions] {
            let grown = reader.model_digest(model).unwrap();
            store.rebuild(model).unwrap();
            prop_assert_eq!(reader.model_digest(model).unwrap(), grown, "{}", model.as_str());
        }
        assert_sound(&reader);
    }
}
