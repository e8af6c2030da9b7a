//! Whose turn it is: senders, modes, priorities, and the order in which an inbox is delivered.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_store::{InboxFilter, Model, Store, Waiting, WaitingTotals};
use edgeplane_types::{AgentId, Authority, DeliveryMode, Epoch, Fact, MessageId, Priority, SafeLabel};
use proptest::prelude::*;

use crate::support::{
    Maker, accepted, accepted_with, agent, assert_sound, declared, injected, message, open, stream,
};

/// The same, into a turn or of another weight.
fn sent_as(
    number: u8,
    sender: &str,
    (mode, priority): (DeliveryMode, Priority),
    authority: Authority,
) -> Fact {
    accepted_with(1, number, |envelope| {
        envelope.source.principal = sender.parse().unwrap();
        envelope.priority = priority;
        envelope.mode = mode;
        envelope.authority = authority;
    })
}

/// Message `number` of a sender.
fn sent(number: u8, sender: &str, priority: Priority) -> Fact {
    accepted_with(1, number, |envelope| {
        envelope.source.principal = sender.parse().unwrap();
        envelope.priority = priority;
    })
}

fn store(facts: impl IntoIterator<Item = Fact>) -> (tempfile::TempDir, Store, Maker) {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), facts)).unwrap();
    (dir, store, maker)
}

fn order(store: &Store, rows: usize) -> Vec<MessageId> {
    let rows = store.reader().next_waiting(&agent(1), rows).unwrap();
    rows.into_iter().map(|row| row.envelope.id).collect()
}

fn messages(numbers: impl IntoIterator<Item = u8>) -> Vec<MessageId> {
    numbers.into_iter().map(message).collect()
}

/// Proves MSG-009, MSG-045.
#[test]
fn one_who_sends_much_does_not_hold_up_the_others() {
    let normal = Priority::Normal;
    let flood = (1..=6).map(|number| sent(number, "flood", normal));
    let (_dir, store, maker) =
        store(flood.chain([sent(11, "a", normal), sent(21, "b", normal), sent(12, "a", normal)]));
    assert_eq!(order(&store, 99), messages([1, 11, 21, 2, 12, 3, 4, 5, 6]));
    assert_eq!(order(&store, 4), messages([1, 11, 21, 2]), "a part is the beginning of the whole");

    store.append(maker.batch(stream(1), [injected(1, 1), injected(11, 1), injected(21, 1)])).unwrap();
    assert_eq!(order(&store, 99), messages([2, 12, 3, 4, 5, 6]));
    // One who comes late and was never served goes first, one who was served waits for those served before.
    store.append(maker.batch(stream(1), [sent(31, "c", normal), sent(22, "b", normal)])).unwrap();
    assert_eq!(order(&store, 99), messages([31, 2, 12, 22, 3, 4, 5, 6]));
    assert_sound(&store.reader());
}

/// Proves MSG-045.
#[test]
fn being_served_counts_at_every_priority() {
    let (high, normal) = (Priority::High, Priority::Normal);
    let (_dir, store, maker) =
        store([sent(1, "a", normal), sent(2, "a", high), sent(3, "b", normal), sent(4, "b", normal)]);
    assert_eq!(order(&store, 99), messages([2, 3, 1, 4]), "the list knows that `a` will have been served");
    assert_eq!(order(&store, 2), messages([2, 3]));
    store.append(maker.batch(stream(1), [injected(2, 1)])).unwrap();
    assert_eq!(order(&store, 99), messages([3, 1, 4]));
}

/// Proves MSG-045.
#[test]
fn refused_message_is_a_turn_and_an_expired_one_is_not() {
    let normal = Priority::Normal;
    let all = [sent(1, "a", normal), sent(2, "a", normal), sent(3, "b", normal), sent(4, "b", normal)];
    let (_dir, store, maker) = store(all);
    let settle = |fact| store.append(maker.batch(stream(1), [fact])).unwrap();
    settle(Fact::MessageExpired { message_id: message(1) });
    assert_eq!(order(&store, 99), messages([2, 3, 4]));
    settle(Fact::MessageRejected { message_id: message(2), reason: "too light".to_owned() });
    settle(sent(5, "a", normal));
    assert_eq!(order(&store, 99), messages([3, 5, 4]));
}

/// Proves MSG-018, MSG-045.
#[test]
fn requeued_message_is_its_senders_first_when_its_turn_comes() {
    let normal = Priority::Normal;
    let all = [sent(1, "a", normal), sent(2, "a", normal), sent(3, "b", normal)];
    let (_dir, store, maker) = store(all);
    let message_id = message(1);
    let cut = Fact::MessageAmbiguous { message_id, epoch: Epoch(1), reason: "cut".to_owned() };
    store.append(maker.batch(stream(1), [cut, Fact::MessageRequeued { message_id }])).unwrap();
    assert_eq!(order(&store, 99), messages([3, 1, 2]));
}

/// Proves MSG-009, MSG-075.
#[test]
fn what_waits_for_no_turn_goes_first() {
    let (queue, steer, interrupt) = (DeliveryMode::Queue, DeliveryMode::Steer, DeliveryMode::Interrupt);
    let (high, normal, low) = (Priority::High, Priority::Normal, Priority::Low);
    let sent = |number, mode, priority| sent_as(number, "a", (mode, priority), Authority::Trusted);
    let (_dir, store, _) = store([
        sent(1, queue, high),
        sent(2, steer, low),
        sent(3, queue, normal),
        sent(4, interrupt, normal),
        sent(5, steer, high),
    ]);
    assert_eq!(order(&store, 99), messages([5, 4, 2, 1, 3]));
    let totals = store.reader().waiting_totals(&agent(1)).unwrap();
    let of = |waiting: Waiting| waiting.messages;
    assert_eq!((of(totals.high), of(totals.normal), of(totals.low)), (2, 2, 1));
}

/// Proves MSG-080.
#[test]
fn lighter_messages_are_passed_over_and_hold_up_nobody() {
    let light = |number| sent_as(number, "a", (DeliveryMode::Queue, Priority::High), Authority::Advisory);
    let mut all: Vec<Fact> = (1..=200).map(light).collect();
    all.push(sent_as(201, "a", (DeliveryMode::Queue, Priority::Low), Authority::Delegated));
    let (_dir, store, _) = store(all);
    let next = |lightest| {
        let rows = store.reader().next_deliverable(&agent(1), lightest, 1).unwrap();
        rows.first().map(|row| row.envelope.id)
    };
    assert_eq!(next(Authority::Advisory), Some(message(1)));
    assert_eq!(next(Authority::Delegated), Some(message(201)));
    assert_eq!(next(Authority::Trusted), None);
}

/// A waiting message as a test knows it.
#[derive(Debug, Clone)]
struct Waits {
    /// Whether it waits for a turn's end.
    queued: bool,
    priority: Priority,
    sender: SafeLabel,
    id: MessageId,
    authority: Authority,
    bytes: u64,
}

/// What a test knows of an inbox: every waiting message with its place, and when each sender was served.
#[derive(Debug, Default)]
struct Known {
    waiting: BTreeMap<u64, Waits>,
    served: BTreeMap<SafeLabel, u64>,
}

impl Known {
    /// The order of delivery, found by looking at everything for each message.
    fn order(&self, lightest: Authority) -> Vec<MessageId> {
        let (mut left, mut served) = (self.waiting.clone(), self.served.clone());
        left.retain(|_, row| row.authority <= lightest);
        let mut now = u64::MAX / 2;
        let mut order = Vec::new();
        while let Some((pos, row)) = left
            .iter()
            .min_by_key(|(pos, row)| {
                (row.queued, row.priority, served.get(&row.sender).copied().unwrap_or(0), **pos)
            })
            .map(|(pos, row)| (*pos, row.clone()))
        {
            now += 1;
            served.insert(row.sender, now);
            left.remove(&pos);
            order.push(row.id);
        }
        order
    }

    fn totals(&self) -> WaitingTotals {
        let of = |wanted| {
            let rows = self.waiting.values().filter(|row| row.priority == wanted);
            rows.fold(Waiting::default(), |sum, row| Waiting {
                messages: sum.messages + 1,
                content_bytes: sum.content_bytes + row.bytes,
            })
        };
        WaitingTotals { high: of(Priority::High), normal: of(Priority::Normal), low: of(Priority::Low) }
    }
}

#[derive(Debug, Clone)]
enum Deed {
    Send(u8, DeliveryMode, Priority, Authority),
    /// Delivers the next one.
    Deliver,
    /// Ends the waiting of the one at this place of the order, by one rung or another.
    End(usize, bool),
    /// Gives the one at this place of the order up, and lets it wait once more.
    Again(usize),
}

fn any_deed() -> impl Strategy<Value = Deed> {
    let priority = prop_oneof![
        1 => Just(Priority::High),
        4 => Just(Priority::Normal),
        1 => Just(Priority::Low),
    ];
    let mode = prop::sample::select(DeliveryMode::ALL.to_vec());
    let authority = prop::sample::select(Authority::ALL.to_vec());
    prop_oneof![
        6 => (0..4_u8, mode, priority, authority)
            .prop_map(|(sender, mode, priority, authority)| Deed::Send(sender, mode, priority, authority)),
        4 => Just(Deed::Deliver),
        1 => (0..9_usize, any::<bool>()).prop_map(|(place, expires)| Deed::End(place, expires)),
        1 => (0..9_usize).prop_map(Deed::Again),
    ]
}

/// Does one deed to the store and to what is known; says how many events that made.
fn perform(store: &Store, maker: &Maker, known: &mut Known, (number, deed): (u8, Deed)) {
    let order = known.order(Authority::Untrusted);
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap().events;
    let end = |known: &mut Known, id: MessageId, served: Option<u64>| {
        let pos = *known.waiting.iter().find(|(_, row)| row.id == id).unwrap().0;
        let row = known.waiting.remove(&pos).unwrap();
        if let Some(served) = served {
            known.served.insert(row.sender.clone(), served);
        }
        (pos, row)
    };
    match deed {
        Deed::Send(sender, mode, priority, authority) => {
            let sender: SafeLabel = format!("sender-{sender}").parse().unwrap();
            let fact = sent_as(number, sender.as_str(), (mode, priority), authority);
            let Fact::MessageAccepted { envelope } = &fact else { unreachable!() };
            let bytes = envelope.content_bytes;
            let pos = append(vec![fact])[0].pos;
            let queued = mode == DeliveryMode::Queue;
            let id = message(number);
            known.waiting.insert(pos, Waits { queued, priority, sender, id, authority, bytes });
        }
        Deed::Deliver => {
            let Some(message_id) = order.first().copied() else { return };
            let evidence = edgeplane_types::Evidence::Shim;
            let pos = append(vec![Fact::MessageInjected { message_id, epoch: Epoch(1), evidence }])[0].pos;
            end(known, message_id, Some(pos));
        }
        Deed::End(place, expires) => {
            let Some(message_id) = order.get(place).copied() else { return };
            let reason = "test".to_owned();
            let fact = if expires {
                Fact::MessageExpired { message_id }
            } else {
                Fact::MessageDeadLettered { message_id, reason }
            };
            let pos = append(vec![fact])[0].pos;
            end(known, message_id, (!expires).then_some(pos));
        }
        Deed::Again(place) => {
            let Some(message_id) = order.get(place).copied() else { return };
            let reason = "test".to_owned();
            let cut = Fact::MessageAmbiguous { message_id, epoch: Epoch(1), reason };
            let events = append(vec![cut, Fact::MessageRequeued { message_id }]);
            let (pos, row) = end(known, message_id, Some(events[0].pos));
            known.waiting.insert(pos, row);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Proves MSG-009, MSG-045, MSG-080, MSG-091.
    #[test]
    fn order_of_delivery_is_what_the_rule_says(deeds in prop::collection::vec(any_deed(), 1..60)) {
        let dir = tempfile::tempdir().unwrap();
        let (store, maker) = (open(dir.path()), Maker::default());
        let mut known = Known::default();
        for (number, deed) in deeds.into_iter().enumerate() {
            perform(&store, &maker, &mut known, (u8::try_from(number).unwrap(), deed));
            let reader = store.reader();
            for lightest in [Authority::Untrusted, Authority::Delegated] {
                let expected = known.order(lightest);
                for rows in [1, 2, 5, 99] {
                    let shown: Vec<_> = expected.iter().take(rows).copied().collect();
                    let found = reader.next_deliverable(&agent(1), lightest, rows).unwrap();
                    let found: Vec<_> = found.into_iter().map(|row| row.envelope.id).collect();
                    prop_assert_eq!(found, shown, "{} rows of {} or more", rows, lightest);
                }
            }
            prop_assert_eq!(reader.waiting_totals(&agent(1)).unwrap(), known.totals());
            prop_assert_eq!(reader.waiting_count(&agent(1)).unwrap(), known.waiting.len() as u64);
            for sender in 0..4 {
                let sender: SafeLabel = format!("sender-{sender}").parse().unwrap();
                let of_it = known.waiting.values().filter(|waits| waits.sender == sender).count();
                prop_assert_eq!(reader.waiting_of(&agent(1), &sender).unwrap(), of_it as u64);
            }
        }
        let grown = store.reader().model_digest(Model::Messages).unwrap();
        store.rebuild(Model::Messages).unwrap();
        prop_assert_eq!(store.reader().model_digest(Model::Messages).unwrap(), grown);
        assert_sound(&store.reader());
    }
}

/// Proves MSG-019.
#[test]
fn what_waits_is_paged_and_found_by_id() {
    let normal = Priority::Normal;
    let all = (1..=7).map(|number| sent(number, ["a", "b"][usize::from(number % 2)], normal));
    let (_dir, store, maker) = store(all);
    store.append(maker.batch(stream(1), [injected(2, 1), injected(5, 1)])).unwrap();
    let reader = store.reader();
    let (mut after, mut found) = (0, Vec::new());
    for _ in 0..5 {
        let page = reader.waiting_page(&agent(1), after, 2).unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        after = last.accepted_pos;
        found.extend(page.into_iter().map(|row| row.message_id));
    }
    assert_eq!(found, messages([1, 3, 4, 6, 7]));
    let whole = reader.inbox(&agent(1), InboxFilter::Waiting, 99, 0).unwrap();
    assert_eq!(whole.iter().map(|row| row.envelope.id).collect::<Vec<_>>(), found);

    let among = |agent: &AgentId, numbers: &[u8]| {
        let ids = messages(numbers.iter().copied());
        let rows = reader.waiting_among(agent, &ids).unwrap();
        rows.into_iter().map(|row| row.envelope.id).collect::<BTreeSet<_>>()
    };
    assert_eq!(among(&agent(1), &[1, 2, 5, 7, 99]), messages([1, 7]).into_iter().collect());
    assert!(among(&agent(2), &[1, 7]).is_empty());
    assert!(reader.waiting_page(&agent(2), 0, 9).unwrap().is_empty());
    assert_eq!(reader.waiting_totals(&agent(2)).unwrap(), WaitingTotals::default());
}

/// Proves MSG-019.
#[test]
fn what_waits_for_a_deleted_agent_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    for number in 1..=3 {
        let facts = [declared(number, &format!("agent-{number}")), accepted(number, number)];
        store.append(maker.batch(stream(number), facts)).unwrap();
    }
    assert!(store.reader().retired_with_waiting().unwrap().is_empty());
    let retired = || Fact::AgentRetired { reason: "asked".to_owned() };
    for number in 1..=2 {
        store.append(maker.batch(stream(number), [retired()])).unwrap();
    }
    assert_eq!(store.reader().retired_with_waiting().unwrap(), [agent(1), agent(2)]);
    let given_up = Fact::MessageDeadLettered { message_id: message(1), reason: "test".to_owned() };
    store.append(maker.batch(stream(1), [given_up])).unwrap();
    assert_eq!(store.reader().retired_with_waiting().unwrap(), [agent(2)]);
}
