//! What leads an agent's words: its open turns, and with none open the turn that ended last.

use std::collections::BTreeMap;

use edgeplane_store::{Leading, Model, Store};
use edgeplane_types::{Authority, Epoch, Evidence, Fact, MessageId};
use proptest::prelude::*;

use crate::support::{Maker, accepted_with, agent, assert_sound, injected, message, open, stream};

fn ended(number: u8, epoch: u64) -> Fact {
    let evidence = Evidence::Protocol;
    Fact::MessageTurnEnded { message_id: message(number), epoch: Epoch(epoch), evidence }
}

fn weighs(target: u8, number: u8, authority: Authority, hops: u32) -> Fact {
    accepted_with(target, number, |envelope| (envelope.authority, envelope.hops) = (authority, hops))
}

fn leading(store: &Store, target: u8, epoch: u64) -> Option<Leading> {
    store.reader().leading(&agent(target), Epoch(epoch)).unwrap()
}

fn by(number: u8, authority: Authority) -> Option<Leading> {
    Some(Leading { message_id: Some(message(number)), authority })
}

fn heard(epoch: u64, authority: Authority) -> Fact {
    Fact::AnswerHeard { epoch: Epoch(epoch), message_id: message(99), authority }
}

fn observed(number: u8, epoch: u64) -> Fact {
    let evidence = Evidence::Protocol;
    Fact::MessageObserved { message_id: message(number), epoch: Epoch(epoch), evidence }
}

/// Proves MSG-087.
#[test]
fn turn_that_ended_last_leads_where_none_is_open() {
    use Authority::{Advisory, External, Trusted};
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap();
    append(vec![weighs(1, 1, External, 0), weighs(1, 2, Trusted, 0), weighs(1, 3, Advisory, 0)]);
    assert_eq!(leading(&store, 1, 1), None, "what waits leads nothing");
    append(vec![injected(1, 1), ended(1, 1)]);
    assert_eq!(leading(&store, 1, 1), by(1, External));
    append(vec![injected(2, 1)]);
    assert_eq!(leading(&store, 1, 1), by(2, Trusted), "the open turn goes first");
    append(vec![ended(2, 1)]);
    assert_eq!(leading(&store, 1, 1), by(2, Trusted));
    // Neither what ended before nor what was never given ends last because its agent says so.
    append(vec![injected(3, 1), ended(3, 1), ended(2, 1)]);
    assert_eq!(leading(&store, 1, 1), by(3, Advisory));
    append(vec![weighs(1, 4, Trusted, 0), ended(4, 1)]);
    assert_eq!(leading(&store, 1, 1), by(3, Advisory));

    assert_eq!(leading(&store, 1, 2), None, "another epoch begins anew");
    append(vec![weighs(1, 5, Advisory, 0), injected(5, 2), ended(5, 2), ended(1, 1)]);
    assert_eq!((leading(&store, 1, 2), leading(&store, 2, 2)), (by(5, Advisory), None));
    // Its end may be known before its injection is.
    append(vec![weighs(1, 6, External, 0), ended(6, 3), injected(6, 3)]);
    assert_eq!(leading(&store, 1, 3), by(6, External));
    assert_sound(&store.reader());
}

/// Proves TERM-019.
#[test]
fn a_turn_that_only_a_hook_ended_weighs_on() {
    use Authority::{External, Trusted};
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap();
    let by_hook = |number| {
        let (message_id, evidence) = (message(number), Evidence::Hook);
        Fact::MessageTurnEnded { message_id, epoch: Epoch(1), evidence }
    };
    let again = Fact::MessageObserved { message_id: message(1), epoch: Epoch(1), evidence: Evidence::Hook };
    append(vec![weighs(1, 1, External, 0), weighs(1, 2, Trusted, 0), injected(1, 1), by_hook(1)]);
    append(vec![injected(2, 1), again.clone()]);
    assert_eq!(leading(&store, 1, 1).map(|leading| leading.authority), Some(External));
    append(vec![by_hook(1), by_hook(2), again]);
    assert_eq!(leading(&store, 1, 1).map(|leading| leading.authority), Some(External));
    let row = store.reader().message(&message(2)).unwrap().unwrap();
    assert_eq!(row.state, edgeplane_types::Rung::TurnEnded, "and for everybody else it is over");
    assert!(
        store
            .reader()
            .open_turns(&agent(1), Epoch(1), 9)
            .unwrap()
            .iter()
            .all(|turn| turn.message_id != message(2))
    );
    assert_eq!(leading(&store, 1, 2), None, "another epoch begins anew");
    assert_sound(&store.reader());
}

/// Proves MSG-088.
#[test]
fn what_was_heard_in_a_turn_weighs_on_until_it_is_over() {
    use Authority::{Advisory, External, Trusted, Untrusted};
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap();
    append(vec![heard(1, External)]);
    assert_eq!(leading(&store, 1, 1), Some(Leading { message_id: None, authority: External }));
    let given = |number| [weighs(1, number, Trusted, 0), injected(number, 1)];
    append(given(1).to_vec());
    assert_eq!(leading(&store, 1, 1), by(1, Trusted), "a turn begins anew");
    append(vec![heard(1, External), heard(1, Advisory)]);
    assert_eq!(leading(&store, 1, 1), by(1, External));
    append(given(2).to_vec());
    assert_eq!(leading(&store, 1, 1), by(2, External), "the other turn is open");
    append(vec![ended(1, 1)]);
    assert_eq!(leading(&store, 1, 1), by(2, External), "what ends meanwhile was heard");
    append(vec![ended(2, 1)]);
    assert_eq!(leading(&store, 1, 1), by(2, External));
    append(given(3).to_vec());
    assert_eq!(leading(&store, 1, 1), by(3, Trusted));
    append(vec![ended(3, 1), heard(1, Advisory)]);
    assert_eq!(leading(&store, 1, 1), by(3, Advisory), "as if it were heard in the turn before");
    append(vec![heard(2, Untrusted)]);
    assert_eq!(leading(&store, 1, 2), Some(Leading { message_id: None, authority: Untrusted }));
    append(vec![heard(1, Untrusted)]);
    assert_eq!(leading(&store, 1, 2).unwrap().authority, Untrusted, "a late word changes no newer epoch");
    assert_sound(&store.reader());
}

/// Proves MSG-087.
#[test]
fn message_that_its_agent_only_names_lifts_nothing() {
    use Authority::{Trusted, Untrusted};
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap();
    append(vec![weighs(1, 1, Untrusted, 0), weighs(1, 2, Trusted, 0), injected(1, 1), ended(1, 1)]);
    append(vec![observed(2, 1)]);
    assert_eq!(leading(&store, 1, 1), by(2, Untrusted));
    append(vec![ended(2, 1)]);
    assert_eq!(leading(&store, 1, 1), by(2, Untrusted));
}

/// Proves MSG-088.
#[test]
fn what_would_change_nothing_is_known_as_heard() {
    use Authority::{Advisory, External, Trusted};
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |facts: Vec<Fact>| store.append(maker.batch(stream(1), facts)).unwrap();
    let has_heard = |authority| store.reader().has_heard(&agent(1), Epoch(1), authority).unwrap();
    assert!(!has_heard(Advisory));
    append(vec![heard(1, External)]);
    assert!(has_heard(Advisory) && has_heard(External) && !has_heard(Authority::Untrusted));
    append(vec![weighs(1, 1, Trusted, 0), injected(1, 1)]);
    assert!(!has_heard(External), "not in this turn");
    append(vec![heard(1, External), ended(1, 1)]);
    assert!(has_heard(External));
    append(vec![weighs(1, 2, Trusted, 0), injected(2, 1)]);
    assert!(!has_heard(External));
}

#[test]
fn newest_of_very_many_open_turns_leads() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    for number in 1..=100 {
        let facts = [weighs(1, number, Authority::Trusted, 0), injected(number, 1)];
        store.append(maker.batch(stream(1), facts)).unwrap();
    }
    assert_eq!(leading(&store, 1, 1), by(100, Authority::Trusted));
}

/// How many agents there are, by numbers from 1.
const AGENTS: u8 = 3;

#[derive(Debug, Clone)]
enum Deed {
    /// Somebody from elsewhere says something to an agent.
    Begin(u8, Authority),
    /// An agent ends one of its open turns.
    End(u8, usize),
    /// An agent says that a turn has ended that is open no more.
    EndAgain(u8, usize),
    /// An agent tells another what it knows, without naming a cause.
    Forward(u8, u8),
    /// An agent gets an answer.
    Hear(u8, Authority),
    /// An agent begins anew.
    Restart(u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let one = || 1..=AGENTS;
    prop_oneof![
        2 => (one(), prop::sample::select(Authority::ALL)).prop_map(|(agent, weight)| Deed::Begin(agent, weight)),
        4 => (one(), 0..3_usize).prop_map(|(agent, place)| Deed::End(agent, place)),
        1 => (one(), 0..9_usize).prop_map(|(agent, place)| Deed::EndAgain(agent, place)),
        4 => (one(), one()).prop_map(|(from, to)| Deed::Forward(from, to)),
        1 => (one(), prop::sample::select(Authority::ALL)).prop_map(|(agent, weight)| Deed::Hear(agent, weight)),
        1 => one().prop_map(Deed::Restart),
    ]
}

/// A message as a test knows it.
#[derive(Debug, Clone, Copy)]
struct Told {
    number: u8,
    authority: Authority,
    hops: u32,
}

/// A program between two moments at which it has nothing to do: what it was told meanwhile weighs on all that it says.
#[derive(Debug, Default)]
struct Session {
    epoch: u64,
    open: Vec<Told>,
    last: Option<Told>,
    over: Vec<u8>,
    weight: Option<Authority>,
}

impl Session {
    fn begin(&mut self, told: Told) {
        if self.open.is_empty() {
            self.weight = None;
        }
        self.open.push(told);
        self.hear(told.authority);
    }

    fn hear(&mut self, authority: Authority) {
        self.weight = Some(self.weight.map_or(authority, |weight| weight.at_most(authority)));
    }

    /// What leads its words, and what they weigh.
    fn leading(&self) -> (Option<MessageId>, Option<Authority>) {
        let newest = self.open.last().or(self.last.as_ref());
        (newest.map(|told| message(told.number)), self.weight)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Agents forward without naming what led to it, in their turns and after them.
    ///
    /// Proves MSG-087, MSG-088, POL-004.
    #[test]
    fn no_chain_of_forwards_gains_weight_or_loses_hops(deeds in prop::collection::vec(deed(), 1..60)) {
        let dir = tempfile::tempdir().unwrap();
        let (store, maker) = (open(dir.path()), Maker::default());
        let mut sessions: BTreeMap<u8, Session> =
            (1..=AGENTS).map(|number| (number, Session { epoch: 1, ..Session::default() })).collect();
        let mut all: BTreeMap<MessageId, Told> = BTreeMap::new();
        let give = |sessions: &mut BTreeMap<u8, Session>, to: u8, told: Told| {
            let session = sessions.get_mut(&to).unwrap();
            let Told { number, authority, hops } = told;
            let facts = [weighs(to, number, authority, hops), injected(number, session.epoch)];
            store.append(maker.batch(stream(to), facts)).unwrap();
            session.begin(told);
        };
        for (number, deed) in (1_u8..).zip(deeds) {
            match deed {
                Deed::Begin(to, authority) => {
                    let told = Told { number, authority, hops: 0 };
                    all.insert(message(number), told);
                    give(&mut sessions, to, told);
                }
                Deed::Forward(from, to) => {
                    let session = &sessions[&from];
                    let found = leading(&store, from, session.epoch);
                    let of_found = (found.and_then(|led| led.message_id), found.map(|led| led.authority));
                    prop_assert_eq!(of_found, session.leading());
                    let cause = of_found.0.map(|message_id| all[&message_id]);
                    let authority = found.map_or(Authority::Trusted, |led| led.authority);
                    let told = Told { number, authority, hops: cause.map_or(0, |cause| cause.hops + 1) };
                    if let Some(cause) = cause {
                        prop_assert!(told.authority >= cause.authority && told.hops > cause.hops);
                    }
                    all.insert(message(number), told);
                    give(&mut sessions, to, told);
                }
                Deed::End(of, place) => {
                    let session = sessions.get_mut(&of).unwrap();
                    if place < session.open.len() {
                        let told = session.open.remove(place);
                        store.append(maker.batch(stream(of), [ended(told.number, session.epoch)])).unwrap();
                        session.over.push(told.number);
                        session.last = Some(told);
                    }
                }
                Deed::EndAgain(of, place) => {
                    let session = &sessions[&of];
                    if let Some(number) = session.over.get(place) {
                        store.append(maker.batch(stream(of), [ended(*number, session.epoch)])).unwrap();
                    }
                }
                Deed::Hear(of, authority) => {
                    let session = sessions.get_mut(&of).unwrap();
                    store.append(maker.batch(stream(of), [heard(session.epoch, authority)])).unwrap();
                    session.hear(authority);
                }
                Deed::Restart(of) => {
                    let session = sessions.get_mut(&of).unwrap();
                    *session = Session { epoch: session.epoch + 1, ..Session::default() };
                }
            }
        }
        let grown = store.reader().model_digest(Model::Messages).unwrap();
        store.rebuild(Model::Messages).unwrap();
        prop_assert_eq!(store.reader().model_digest(Model::Messages).unwrap(), grown);
        assert_sound(&store.reader());
    }
}
