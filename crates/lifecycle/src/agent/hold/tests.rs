//! Overrides over random lives, against a world that answers as real processes do.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::super::{Agent, Context, Step, Tree};
use super::*;
use crate::backoff::{Policy, RestartMode};

const CONTEXT: Context = Context { now_ms: 5, chance_permille: 500 };

fn policy() -> Policy {
    Policy {
        mode: RestartMode::Always,
        initial_ms: 10,
        max_ms: 100,
        jitter_percent: 0,
        stable_ms: 1_000,
        breaker_failures: 1_000,
        breaker_window_ms: 10,
    }
}

/// An agent, and what is true of its processes.
struct World {
    agent: Agent,
    /// What its processes do to its actions, in their order.
    answers: VecDeque<Input>,
    launches: usize,
}

impl World {
    fn new(desired: Desired) -> Self {
        Self { agent: Agent::declared(desired, policy()), answers: VecDeque::new(), launches: 0 }
    }

    fn take(&mut self, input: Input) -> bool {
        let held = self.agent.hold();
        let Ok(Step { agent, actions }) = self.agent.step(input, CONTEXT) else { return false };
        let held = held.filter(|_| agent.hold().is_some());
        for action in actions {
            match action {
                Action::Launch(epoch, _) => {
                    assert!(held.is_none(), "{epoch} begun while {held:?} holds it");
                    self.launches += 1;
                    self.answers.push_back(Input::Launched(epoch));
                }
                Action::Stop(epoch) => {
                    let tree = Tree::Empty;
                    self.answers.push_back(Input::Exited { epoch, success: false, ran_ms: 1, tree });
                }
                Action::Freeze(epoch) => self.answers.push_back(Input::Froze(epoch)),
                Action::Thaw(epoch) => self.answers.push_back(Input::Thawed(epoch)),
                Action::ProveEmpty(epoch) => self.answers.push_back(Input::TreeSeenEmpty(epoch)),
                Action::ArmBackoff(_) => self.answers.push_back(Input::BackoffElapsed),
                Action::DisarmBackoff => self.answers.retain(|answer| *answer != Input::BackoffElapsed),
                Action::Record(_) => {}
            }
        }
        self.agent = agent;
        true
    }

    /// Lets everything come that is under way.
    fn settle(&mut self) {
        for _step in 0..200 {
            let Some(answer) = self.answers.pop_front() else { return };
            self.take(answer);
        }
        panic!("it does not come to rest: {:?}", self.agent);
    }

    /// The daemon dies, with what was under way, and comes back with what the record says.
    fn recover(&mut self) {
        let (state, desired) = (self.agent.state(), self.agent.desired());
        let (hold, is_owed) = (self.agent.hold(), self.agent.is_owed());
        self.answers.clear();
        self.agent = Agent::recovered(state.phase(), state.epoch(), desired, policy()).held(hold, is_owed);
        match self.agent.state() {
            State::Unobservable { epoch, .. } => {
                let frozen = state.phase() == edgeplane_types::Phase::Frozen;
                self.answers.push_back(match state {
                    State::Starting(_) => Input::TreeSeenEmpty(epoch),
                    _ => Input::Adopted { epoch, frozen },
                });
            }
            State::Backoff(_) => self.answers.push_back(Input::BackoffElapsed),
            _ => {}
        }
    }
}

/// The ways to a state that is at rest.
fn begun(way: usize) -> World {
    let mut world = World::new(Desired::Running);
    let steps: &[Input] = match way {
        0 => &[],
        1 => &[Input::Start(Cause::Manifest)],
        2 => &[Input::Start(Cause::Manifest), Input::Freeze],
        3 => &[Input::Start(Cause::Manifest), Input::Stop(Cause::Request)],
        4 => &[Input::Start(Cause::Manifest), Input::Hibernate(Cause::Request)],
        _ => &[Input::Start(Cause::Manifest), Input::Restart(Cause::Request)],
    };
    for step in steps {
        world.take(*step);
        world.settle();
    }
    world
}

const STOP: Option<OverrideKind> = Some(OverrideKind::Stop);
const PAUSE: Option<OverrideKind> = Some(OverrideKind::Pause);

/// Proves OVR-005.
#[test]
fn what_an_override_did_is_undone_and_nothing_else() {
    for way in 0..6 {
        for holds in [&[STOP][..], &[PAUSE], &[STOP, PAUSE], &[PAUSE, STOP], &[PAUSE, STOP, PAUSE]] {
            for with_daemon in [false, true] {
                let mut world = begun(way);
                let before = world.agent.state().phase();
                for hold in holds {
                    world.take(Input::Hold(*hold));
                    world.settle();
                    if with_daemon {
                        world.recover();
                        world.settle();
                    }
                    let phase = world.agent.state().phase();
                    assert_ne!(phase, edgeplane_types::Phase::Running, "{way} {holds:?}");
                    assert!(*hold != STOP || !world.agent.state().may_live(), "{way} {holds:?}");
                }
                world.take(Input::Hold(None));
                world.settle();
                assert_eq!(world.agent.state().phase(), before, "{way} {holds:?} {with_daemon}");
            }
        }
    }
}

/// Proves OVR-003, OVR-005.
#[test]
fn start_by_hand_is_refused_and_what_the_node_wants_waits() {
    for hold in [STOP, PAUSE] {
        let mut world = begun(3);
        world.take(Input::Hold(hold));
        let refused = world.agent.step(Input::Start(Cause::Request), CONTEXT).unwrap_err();
        assert_eq!(refused, Illegal::Held { kind: hold.unwrap() });
        world.take(Input::Hold(None));
        world.settle();
        assert_eq!(world.agent.state().phase(), edgeplane_types::Phase::Stopped, "stopped before");

        let mut world = World::new(Desired::Running);
        world.take(Input::Hold(hold));
        assert!(world.take(Input::Start(Cause::Manifest)) && world.launches == 0);
        world.recover();
        world.take(Input::Hold(None));
        world.settle();
        assert_eq!((world.agent.state().phase().as_str(), world.launches), ("running", 1));
    }
}

/// Proves OVR-003.
#[test]
fn stopped_meanwhile_stays_stopped_and_a_dead_one_comes_back_after() {
    let mut world = begun(1);
    world.take(Input::Hold(STOP));
    world.take(Input::Stop(Cause::Request));
    world.settle();
    world.take(Input::Hold(None));
    world.settle();
    assert_eq!(world.agent.state().phase().as_str(), "stopped");

    let mut world = begun(1);
    world.take(Input::Hold(PAUSE));
    world.settle();
    let epoch = world.agent.state().epoch();
    world.take(Input::Exited { epoch, success: false, ran_ms: 1, tree: Tree::Empty });
    world.settle();
    assert_eq!(world.agent.state().phase().as_str(), "stopped", "it is not begun while it is held");
    world.take(Input::Hold(None));
    world.settle();
    assert_eq!(world.agent.state().phase().as_str(), "running");
}

fn any_input() -> impl Strategy<Value = usize> {
    0..16usize
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    /// Proves OVR-003: whatever is asked and whatever dies, nothing is begun while it is held (the world asserts it),
    /// and at rest it is ended under a stop and not running under a pause.
    #[test]
    fn nothing_begins_in_random_lives_that_are_held(raw in proptest::collection::vec((any_input(), any::<bool>()), 40)) {
        let mut world = World::new(Desired::Running);
        for (kind, is_patient) in raw {
            let epoch = world.agent.state().epoch();
            let input = match kind {
                0 => Input::Start(Cause::Request),
                1 => Input::Start(Cause::Manifest),
                2 => Input::Start(Cause::Message),
                3 => Input::Stop(Cause::Request),
                4 => Input::Restart(Cause::Request),
                5 => Input::Restart(Cause::Probe),
                6 => Input::Freeze,
                7 => Input::Thaw,
                8 => Input::Hibernate(Cause::Idle),
                9 => Input::Exited { epoch, success: false, ran_ms: 1, tree: Tree::Empty },
                10 => Input::ShimLost(epoch),
                11 => Input::Hold(None),
                12 => Input::Hold(PAUSE),
                13 => Input::Hold(STOP),
                14 => Input::BackoffElapsed,
                _ => {
                    world.recover();
                    continue;
                }
            };
            world.take(input);
            if is_patient {
                world.settle();
                let (state, hold) = (world.agent.state(), world.agent.hold());
                prop_assert!(hold != STOP || !state.may_live(), "{:?} under a stop", state);
                prop_assert!(hold != PAUSE || !matches!(state, State::Running(_) | State::Starting(_)), "{:?}", state);
            }
        }
    }
}
