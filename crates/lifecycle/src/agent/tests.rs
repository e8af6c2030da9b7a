//! Every pair of state and input, and the invariants over random lives.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::backoff::RestartMode;

fn policy(mode: RestartMode) -> Policy {
    Policy {
        mode,
        initial_ms: 10,
        max_ms: 100,
        jitter_percent: 20,
        stable_ms: 1_000,
        breaker_failures: 4,
        breaker_window_ms: 10_000,
    }
}

const CONTEXT: Context = Context { now_ms: 5, chance_permille: 500 };
const E: Epoch = Epoch(3);

fn states() -> Vec<State> {
    vec![
        State::Declared,
        State::Starting(E),
        State::Running(E),
        State::Frozen(E),
        State::Hibernated(E),
        State::Backoff(E),
        State::Unobservable { epoch: E, stopping: None },
        State::Unobservable { epoch: E, stopping: Some(After::Stop) },
        State::Unobservable { epoch: E, stopping: Some(After::Retire) },
        State::Unobservable { epoch: E, stopping: Some(After::Hibernate) },
        State::Stopping { epoch: E, after: After::Stop },
        State::Stopping { epoch: E, after: After::Restart(Cause::Request) },
        State::Stopping { epoch: E, after: After::Retire },
        State::Stopping { epoch: E, after: After::Hibernate },
        State::Stopped(E),
        State::Failed(E),
        State::Quarantined(E),
        State::Retired,
    ]
}

fn exit(tree: Tree) -> Input {
    Input::Exited { epoch: E, success: false, ran_ms: 1, tree }
}

fn inputs() -> Vec<Input> {
    vec![
        Input::Start(Cause::Request),
        Input::Stop(Cause::Request),
        Input::Restart(Cause::Request),
        Input::Freeze,
        Input::Thaw,
        Input::Hibernate(Cause::Idle),
        Input::Retire,
        Input::Release,
        Input::Launched(E),
        Input::LaunchFailed(E),
        exit(Tree::Empty),
        exit(Tree::Doubt),
        Input::ShimLost(E),
        Input::Adopted { epoch: E, frozen: false },
        Input::Adopted { epoch: E, frozen: true },
        Input::TreeSeenEmpty(E),
        Input::TreeInDoubt(E),
        Input::Froze(E),
        Input::Thawed(E),
        Input::BackoffElapsed,
    ]
}

fn agent(state: State) -> Agent {
    Agent {
        state,
        desired: Desired::Running,
        policy: policy(RestartMode::Always),
        book: RestartBook::default(),
        hold: None,
        is_owed: false,
    }
}

/// The whole table: which phase each legal pair leads to. A pair that is not here must be refused.
/// Proves LIFE-005.
#[test]
fn legal_pairs_lead_where_the_table_says_and_all_others_are_refused() {
    let table: BTreeSet<(String, String, &str)> = include_str!("table.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut columns = line.split('|').map(str::trim);
            let mut next = || columns.next().expect("three columns");
            (next().to_owned(), next().to_owned(), next())
        })
        .collect();
    let mut found = BTreeSet::new();
    for state in states() {
        for input in inputs() {
            if let Ok(step) = agent(state).step(input, CONTEXT) {
                found.insert((
                    format!("{state:?}"),
                    format!("{input:?}"),
                    step.agent.state().phase().as_str(),
                ));
            }
        }
    }
    let missing: Vec<_> = table.difference(&found).collect();
    let extra: Vec<_> = found.difference(&table).collect();
    assert!(missing.is_empty() && extra.is_empty(), "missing: {missing:#?}\nextra: {extra:#?}");
}

/// Proves LIFE-005, LIFE-006.
#[test]
fn refused_inputs_name_the_phase_and_old_epochs_are_fenced() {
    let refused = agent(State::Retired).step(Input::Start(Cause::Request), CONTEXT).unwrap_err();
    assert_eq!(refused.to_string(), "not allowed while retired");
    let stale = agent(State::Running(E)).step(Input::ShimLost(Epoch(2)), CONTEXT).unwrap_err();
    assert_eq!(stale, Illegal::StaleEpoch { found: Epoch(2), current: E });
}

/// Proves LIFE-007.
#[test]
fn stop_during_backoff_stays_stopped() {
    let stopped = agent(State::Backoff(E)).step(Input::Stop(Cause::Request), CONTEXT).unwrap().agent;
    assert_eq!(stopped.state(), State::Stopped(E));
    assert!(stopped.step(Input::BackoffElapsed, CONTEXT).is_err());
}

/// Proves LIFE-033.
#[test]
fn retirement_survives_the_daemon_and_a_quarantine() {
    let stopping = agent(State::Running(E)).step(Input::Retire, CONTEXT).unwrap().agent;
    let known = |agent: &Agent| {
        let (state, policy) = (agent.state(), policy(RestartMode::Always));
        Agent::recovered(state.phase(), state.epoch(), agent.desired(), policy)
    };
    let found = known(&stopping);
    assert!(found.step(Input::Start(Cause::Request), CONTEXT).is_err());
    let empty = found.step(Input::TreeSeenEmpty(E), CONTEXT).unwrap().agent;
    assert_eq!(empty.state(), State::Retired);
    let doubt = found.step(Input::TreeInDoubt(E), CONTEXT).unwrap().agent;
    let released = known(&doubt).step(Input::Release, CONTEXT).unwrap().agent;
    assert_eq!(released.state(), State::Retired);
}

/// Proves LIFE-047.
#[test]
fn restart_of_what_nobody_reaches_is_carried_out_later() {
    let unreached = agent(State::Unobservable { epoch: E, stopping: None });
    let step = unreached.step(Input::Restart(Cause::Request), CONTEXT).unwrap();
    let noted = Action::Record(Note::Stopping(E, Cause::Request));
    assert!(step.actions.contains(&noted), "{:?}", step.actions);
    let later = Agent::recovered(Phase::Stopping, E, step.agent.desired(), policy(RestartMode::Always));
    for waiting in [step.agent, later] {
        let found = waiting.step(Input::Adopted { epoch: E, frozen: false }, CONTEXT).unwrap();
        assert!(found.actions.contains(&Action::Stop(E)), "{:?}", found.actions);
        let begun = found.agent.step(exit(Tree::Empty), CONTEXT).unwrap().agent;
        assert_eq!(begun.state(), State::Starting(E.next()));
        let gone = waiting.step(Input::TreeSeenEmpty(E), CONTEXT).unwrap().agent;
        assert_eq!(gone.state(), State::Starting(E.next()));
    }
}

/// Proves LIFE-010.
#[test]
fn sick_agent_waits_and_counts_as_a_failed_one() {
    let stopping = agent(State::Running(E)).step(Input::Restart(Cause::Probe), CONTEXT).unwrap().agent;
    let step = stopping.step(exit(Tree::Empty), CONTEXT).unwrap();
    assert_eq!(step.agent.state(), State::Backoff(E));
    assert!(step.actions.iter().any(|action| matches!(action, Action::ArmBackoff(_))));
}

#[test]
fn crash_loop_ends_in_failed() {
    let mut agent = agent(State::Running(E));
    let mut launches = 0;
    for _ in 0..10 {
        let epoch = agent.state().epoch();
        let input = match agent.state() {
            State::Running(_) => Input::Exited { epoch, success: false, ran_ms: 1, tree: Tree::Empty },
            State::Backoff(_) => Input::BackoffElapsed,
            State::Starting(_) => Input::Launched(epoch),
            _ => break,
        };
        let step = agent.step(input, CONTEXT).unwrap();
        launches += step.actions.iter().filter(|a| matches!(a, Action::Launch(..))).count();
        agent = step.agent;
    }
    assert_eq!((agent.state().phase(), launches), (Phase::Failed, 3));
}

/// What is true outside the machine: which epochs live, and what was last asked for.
#[derive(Default)]
struct World {
    live: BTreeSet<Epoch>,
    stop_wanted: bool,
    retirement_wanted: bool,
}

impl World {
    fn observe(&mut self, input: Input, step: &Step) {
        match input {
            Input::Stop(_) | Input::Release => self.stop_wanted = true,
            Input::Retire => {
                self.stop_wanted = true;
                self.retirement_wanted = true;
            }
            Input::Start(Cause::Request) | Input::Restart(Cause::Request) => self.stop_wanted = false,
            // An epoch is over for the machine only when its tree was seen empty.
            Input::Exited { epoch, tree: Tree::Empty, .. }
            | Input::TreeSeenEmpty(epoch)
            | Input::LaunchFailed(epoch) => {
                self.live.remove(&epoch);
            }
            _ => {}
        }
        if input == Input::Release {
            self.live.clear();
        }
        for action in &step.actions {
            match action {
                Action::Launch(epoch, _) => {
                    // Invariant 1 and 9: one live epoch, and an empty tree before the next.
                    assert!(self.live.is_empty(), "{epoch} launched while {:?} live", self.live);
                    // Invariant 8: stop intent outlives any restart.
                    assert!(!self.stop_wanted, "launched after a stop");
                    self.live.insert(*epoch);
                }
                // Invariant 2: no effect without a current epoch.
                Action::Stop(epoch)
                | Action::Freeze(epoch)
                | Action::Thaw(epoch)
                | Action::ProveEmpty(epoch) => {
                    assert_eq!(*epoch, step.agent.state().epoch());
                }
                Action::Record(Note::Exited(epoch)) => {
                    assert!(!self.live.contains(epoch), "{epoch} exited but lives")
                }
                Action::Record(_) | Action::ArmBackoff(_) | Action::DisarmBackoff => {}
            }
        }
        if self.retirement_wanted {
            // Nothing takes a retirement back, and with the tree gone it is complete.
            assert_eq!(step.agent.desired(), Desired::Retired);
            let state = step.agent.state();
            assert!(state.may_live() || state == State::Retired, "{state:?} instead of retired");
        }
        if !step.agent.state().may_live() {
            assert!(self.live.is_empty(), "{:?} while {:?} live", step.agent.state(), self.live);
        }
    }
}

fn any_input() -> impl Strategy<Value = (usize, u64, bool, bool)> {
    (0..inputs().len() + 1, 0..2_000u64, any::<bool>(), prop::bool::weighted(0.05))
}

fn make_input(agent: &Agent, (kind, ran_ms, success, stale): (usize, u64, bool, bool)) -> Option<Input> {
    let current = agent.state().epoch();
    let epoch = if stale { Epoch(current.0.saturating_sub(1)) } else { current };
    Some(match inputs().get(kind)? {
        Input::Launched(_) => Input::Launched(epoch),
        Input::LaunchFailed(_) => Input::LaunchFailed(epoch),
        Input::Exited { tree, .. } => Input::Exited { epoch, success, ran_ms, tree: *tree },
        Input::ShimLost(_) => Input::ShimLost(epoch),
        Input::Adopted { frozen, .. } => Input::Adopted { epoch, frozen: *frozen },
        Input::TreeSeenEmpty(_) => Input::TreeSeenEmpty(epoch),
        Input::TreeInDoubt(_) => Input::TreeInDoubt(epoch),
        Input::Froze(_) => Input::Froze(epoch),
        Input::Thawed(_) => Input::Thawed(epoch),
        other => *other,
    })
}

proptest! {
    // 100,000 random lives of 60 inputs each, restarts of the daemon among them.
    #![proptest_config(ProptestConfig { cases: 100_000, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    /// Proves LIFE-001, LIFE-002, LIFE-003, LIFE-004, LIFE-033.
    #[test]
    fn random_lives_keep_the_invariants(raw in proptest::collection::vec(any_input(), 60), mode in 0..3usize) {
        let mode = [RestartMode::Always, RestartMode::OnFailure, RestartMode::Never][mode];
        let mut agent = Agent::declared(Desired::Running, policy(mode));
        let mut world = World::default();
        for (now_ms, raw) in raw.into_iter().enumerate() {
            let context = Context { now_ms: now_ms as u64 * 100, chance_permille: 500 };
            match make_input(&agent, raw) {
                Some(input) => match agent.step(input, context) {
                    Ok(step) => {
                        world.observe(input, &step);
                        agent = step.agent;
                    }
                    // A refusal changes nothing, by construction: the agent is not replaced.
                    Err(Illegal::Phase { phase }) => prop_assert_eq!(phase, agent.state().phase()),
                    Err(Illegal::Held { kind }) => prop_assert!(false, "nothing holds it, not {kind:?}"),
                    Err(Illegal::StaleEpoch { found, .. }) => prop_assert_ne!(found, agent.state().epoch()),
                },
                // The daemon dies and comes back with what the record says.
                None => {
                    let state = agent.state();
                    agent = Agent::recovered(state.phase(), state.epoch(), agent.desired(), policy(mode));
                }
            }
        }
    }
}
