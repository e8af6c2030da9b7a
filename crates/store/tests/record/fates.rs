//! What becomes of messages: given up, dropped, replayed, counted, answered, in an open turn.

use edgeplane_store::{AppendError, NewEvent, Store};
use edgeplane_types::{Authority, Channel, Epoch, Evidence, Fact, MessageId, Rung, Timestamp, fact::Actor};

use crate::support::{Maker, accepted, accepted_with, agent, assert_sound, injected, message, open, stream};

fn store(facts: impl IntoIterator<Item = Fact>) -> (tempfile::TempDir, Store, Maker) {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), facts)).unwrap();
    (dir, store, maker)
}

fn reason() -> String {
    "test".to_owned()
}

fn rejected(number: u8) -> Fact {
    Fact::MessageRejected { message_id: message(number), reason: reason() }
}

fn expired(number: u8) -> Fact {
    Fact::MessageExpired { message_id: message(number) }
}

fn dead_lettered(number: u8) -> Fact {
    Fact::MessageDeadLettered { message_id: message(number), reason: reason() }
}

fn ambiguous(number: u8) -> Fact {
    Fact::MessageAmbiguous { message_id: message(number), epoch: Epoch(1), reason: reason() }
}

fn requeued(number: u8) -> Fact {
    Fact::MessageRequeued { message_id: message(number) }
}

fn dropped(number: u8) -> Fact {
    Fact::MessageDropped { message_id: message(number), reason: "seen".to_owned() }
}

fn observed(number: u8, epoch: u64) -> Fact {
    let epoch = Epoch(epoch);
    Fact::MessageObserved { message_id: message(number), epoch, evidence: Evidence::Protocol }
}

fn turn_ended(number: u8, epoch: u64) -> Fact {
    let epoch = Epoch(epoch);
    Fact::MessageTurnEnded { message_id: message(number), epoch, evidence: Evidence::Protocol }
}

fn dead(store: &Store) -> Vec<MessageId> {
    let rows = store.reader().dead_letters(Some(&agent(1)), 99, 0).unwrap();
    rows.into_iter().map(|row| row.envelope.id).collect()
}

#[track_caller]
fn assert_refused(store: &Store, maker: &Maker, fact: Fact, why: &str) {
    let result = store.append(maker.batch(stream(1), [fact]));
    let Err(AppendError::Refused { source, .. }) = result else { panic!("{result:?}") };
    assert!(source.to_string().contains(why), "{source}");
}

/// Proves MSG-046.
#[test]
fn given_up_messages_are_listed_until_they_wait_again() {
    let (_dir, store, maker) = store((1..=7).map(|number| accepted(1, number)));
    let all = [injected(1, 1), rejected(2), expired(3), dead_lettered(4), ambiguous(5), ambiguous(6)];
    store.append(maker.batch(stream(1), all)).unwrap();
    assert_eq!(dead(&store), [message(2), message(3), message(4), message(5), message(6)]);
    store.append(maker.batch(stream(1), [requeued(4), requeued(6)])).unwrap();
    assert_eq!(dead(&store), [message(2), message(3), message(5)]);
    store.append(maker.batch(stream(1), [injected(4, 2), ambiguous(6)])).unwrap();
    assert_eq!(dead(&store), [message(2), message(3), message(5), message(6)]);

    store.append(maker.batch(stream(2), [accepted(2, 20)])).unwrap();
    let reject = Fact::MessageRejected { message_id: message(20), reason: reason() };
    store.append(maker.batch(stream(2), [reject])).unwrap();
    let reader = store.reader();
    let page = reader.dead_letters(None, 3, 0).unwrap();
    let rest = reader.dead_letters(None, 9, page[2].accepted_pos).unwrap();
    assert_eq!((page.len(), rest.len()), (3, 2));
    assert_eq!((page[0].envelope.id, rest[1].envelope.id), (message(2), message(20)));
    assert!(page.iter().all(|row| row.given_up));
    assert_eq!(dead(&store).len(), 4, "those of one agent only");
    assert_sound(&reader);
}

/// Proves MSG-047.
#[test]
fn dropped_message_is_off_the_list_and_keeps_its_receipts() {
    let (_dir, store, maker) = store([accepted(1, 1), accepted(1, 2), rejected(1)]);
    let read = || store.reader().message(&message(1)).unwrap().unwrap();
    let before = read();
    store.append(maker.batch(stream(1), [dropped(1)])).unwrap();
    let after = read();
    assert_eq!((after.receipts, after.state), (before.receipts, Rung::Rejected));
    assert_eq!((after.given_up, after.dropped.as_deref()), (false, Some("seen")));
    assert!(dead(&store).is_empty());
    for fact in [dropped(1), requeued(1), dropped(2), requeued(2)] {
        assert_refused(&store, &maker, fact, "is not given up");
    }
    assert_refused(&store, &maker, dropped(9), "was not accepted");
    store.append(maker.batch(stream(1), [injected(2, 1), turn_ended(2, 1)])).unwrap();
    assert_refused(&store, &maker, requeued(2), "is not given up");
}

/// Proves MSG-048.
#[test]
fn replay_after_its_time_has_no_end() {
    let until = |number, micros| {
        accepted_with(1, number, |envelope| envelope.expires_at = Some(Timestamp::from_micros(micros)))
    };
    // The maker's clock goes by milliseconds, so that the first is over at once.
    let later = 1_000_000_000;
    let all = [until(1, 1), until(2, 1), until(3, later), expired(1), ambiguous(2), dead_lettered(3)];
    let (_dir, store, maker) = store(all);
    let operator = |fact| NewEvent {
        actor: Actor::Operator { name: "uid-1".parse().unwrap(), user_id: None },
        ..maker.event(stream(1), fact)
    };
    let events = vec![operator(requeued(1)), maker.event(stream(1), requeued(2)), operator(requeued(3))];
    store.append(edgeplane_store::Batch { events, ..Default::default() }).unwrap();
    let ends = |number| {
        let row = store.reader().message(&message(number)).unwrap().unwrap();
        assert!(row.waiting && row.envelope.expires_at.is_some());
        row.expires_at.map(Timestamp::as_micros)
    };
    assert_eq!((ends(1), ends(2), ends(3)), (None, Some(1), Some(later)));
    let over = store.reader().expired(&agent(1), Timestamp::from_micros(later - 1), 9).unwrap();
    assert_eq!(over, [message(2)], "the node's own second attempt ends with the message's time");
    assert_sound(&store.reader());
}

/// Proves MSG-049.
#[test]
fn counts_add_up_to_what_was_accepted() {
    let (_dir, store, maker) = store((1..=9).map(|number| accepted(1, number)));
    let settled = [injected(1, 1), injected(2, 1), observed(2, 1), turn_ended(2, 1), expired(3), rejected(4)];
    store.append(maker.batch(stream(1), settled)).unwrap();
    store.append(maker.batch(stream(1), [expired(5), requeued(5), rejected(6), dropped(6)])).unwrap();
    store.append(maker.batch(stream(2), [accepted(2, 20), accepted(2, 21)])).unwrap();
    let of_one: Vec<_> = store.reader().counts(Some(&agent(1))).unwrap().into_iter().collect();
    let expected = [
        (Rung::Accepted, 3),
        (Rung::Injected, 1),
        (Rung::TurnEnded, 1),
        (Rung::Rejected, 2),
        (Rung::Expired, 2),
    ];
    assert_eq!(of_one, expected);
    assert_eq!(of_one.iter().map(|(_, count)| count).sum::<u64>(), 9);
    let of_all = store.reader().counts(None).unwrap();
    assert_eq!((of_all.get(&Rung::Accepted), of_all.values().sum::<u64>()), (Some(&5), 11));
    assert!(store.reader().counts(Some(&agent(3))).unwrap().is_empty());
}

/// Proves MSG-050.
#[test]
fn open_turns_are_those_of_the_epoch() {
    let weighs = |number, authority, channel| {
        accepted_with(1, number, |envelope| {
            (envelope.authority, envelope.channel) = (authority, channel);
        })
    };
    let (_dir, store, maker) = store([
        weighs(1, Authority::Trusted, Channel::Operator),
        weighs(2, Authority::External, Channel::External),
        weighs(3, Authority::Advisory, Channel::Peer),
        weighs(4, Authority::Untrusted, Channel::Web),
    ]);
    let open_in = |epoch| {
        let turns = store.reader().open_turns(&agent(1), Epoch(epoch), 9).unwrap();
        let leading = store.reader().leading(&agent(1), Epoch(epoch)).unwrap();
        (
            turns.iter().map(|turn| turn.message_id).collect::<Vec<_>>(),
            leading.map(|leading| leading.authority),
        )
    };
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap();
    assert_eq!(open_in(1), (vec![], None));
    append(vec![injected(2, 1), injected(1, 1), observed(1, 1), observed(2, 1)]);
    assert_eq!(open_in(1), (vec![message(2), message(1)], Some(Authority::External)));
    let first = store.reader().open_turns(&agent(1), Epoch(1), 1).unwrap();
    assert_eq!(
        (first.len(), first[0].authority, first[0].channel),
        (1, Authority::External, Channel::External)
    );
    append(vec![turn_ended(2, 1)]);
    assert_eq!(open_in(1), (vec![message(1)], Some(Authority::External)), "it heard the other");

    // Another epoch has its own, and one whose end was heard before its injection was noted does not open.
    append(vec![injected(3, 2), observed(4, 2), turn_ended(4, 2), injected(4, 2)]);
    assert_eq!(open_in(2), (vec![message(3)], Some(Authority::Untrusted)));
    assert_eq!(open_in(1).0, [message(1)]);
    // What was given up in one epoch is open in the one that gets it after all.
    append(vec![ambiguous(1), requeued(1)]);
    assert_eq!(open_in(1).0, []);
    append(vec![injected(1, 2)]);
    assert_eq!(open_in(2), (vec![message(3), message(1)], Some(Authority::Untrusted)));
    assert_sound(&store.reader());
}

#[test]
fn answers_are_found_by_what_they_answer() {
    let answer =
        |target, number, to| accepted_with(target, number, |envelope| envelope.reply_to = Some(message(to)));
    let (_dir, store, maker) = store([accepted(1, 1), answer(1, 2, 1), answer(1, 3, 2), accepted(1, 4)]);
    store.append(maker.batch(stream(2), [answer(2, 5, 1)])).unwrap();
    let replies = |number, rows| {
        let rows = store.reader().replies_to(&message(number), rows).unwrap();
        rows.into_iter().map(|row| row.envelope.id).collect::<Vec<_>>()
    };
    assert_eq!(replies(1, 9), [message(2), message(5)]);
    assert_eq!(replies(1, 1), [message(2)]);
    assert!(replies(4, 9).is_empty());
}

fn completed(number: u8, turn: u8) -> Fact {
    Fact::TurnCompleted {
        turn_id: edgeplane_types::TurnId::from_parts(1, [turn; 10]),
        epoch: Epoch(1),
        message_id: Some(message(number)),
        output_digest: String::new(),
        output_bytes: 0,
        authority: None,
        outcome: None,
    }
}

/// Proves MSG-061.
#[test]
fn only_the_agent_that_a_message_is_for_moves_or_answers_it() {
    let (_dir, store, maker) = store([accepted(1, 1)]);
    let reader = store.reader();
    let row = || reader.message(&message(1)).unwrap().unwrap();
    let answered = || {
        reader.turn_answering(&message(1)).unwrap().map(|committed| match &committed.event.fact {
            Fact::TurnCompleted { turn_id, .. } => *turn_id,
            other => panic!("{other:?}"),
        })
    };
    // A turn may name a message that never was, too.
    let foreign = [observed(1, 1), turn_ended(1, 1), completed(1, 1), completed(9, 1)];
    store.append(maker.batch(stream(2), [accepted(2, 2)])).unwrap();
    store.append(maker.batch(stream(2), foreign)).unwrap();
    assert_eq!((row().state, row().waiting, row().receipts.len()), (Rung::Accepted, true, 1));
    assert_eq!(answered(), None);
    store.append(maker.batch(stream(1), [injected(1, 1), completed(1, 2), completed(1, 3)])).unwrap();
    assert_eq!(answered(), Some(edgeplane_types::TurnId::from_parts(1, [2; 10])), "the first one");
    assert_sound(&reader);
}

/// Proves MSG-060.
#[test]
fn first_fitting_reply_of_one_sender_is_found() {
    let answer = |target, number, principal: &str| {
        accepted_with(target, number, |envelope| {
            envelope.reply_to = Some(message(1));
            envelope.source.principal = principal.parse().unwrap();
        })
    };
    let (_dir, store, maker) = store([answer(1, 2, "other"), answer(1, 3, "one"), answer(1, 4, "one")]);
    store.append(maker.batch(stream(2), [answer(2, 5, "one"), answer(2, 6, "none")])).unwrap();
    let first = |target, principal: &str, not: u8| {
        let from = (&agent(target), &principal.parse().unwrap());
        let found = store.reader().first_reply(&message(1), from, |row| row.envelope.id != message(not));
        found.unwrap().map(|row| row.envelope.id)
    };
    assert_eq!(first(1, "one", 0), Some(message(3)));
    assert_eq!(first(1, "one", 3), Some(message(4)));
    assert_eq!(first(2, "one", 5), None);
    assert_eq!(first(1, "none", 0), None);
}
