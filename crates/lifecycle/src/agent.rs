//! An agent's life as a state machine.
//!
//! Owns which phase may follow which, what must be done at each step, and the rule that an epoch never begins
//! before the one before it is seen to be empty. It does not know how anything is done.

use edgeplane_types::{Desired, Epoch, OverrideKind, Phase, fact::Cause};

use crate::backoff::{End, Policy, RestartBook, Verdict};

/// What comes after a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Nothing.
    Stop,
    /// The next epoch.
    Restart(Cause),
    /// Rest until a message comes.
    Hibernate,
    /// The end of the name.
    Retire,
}

/// Where an agent is. A state holds only what it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Never started.
    Declared,
    /// The epoch is being brought up.
    Starting(Epoch),
    /// The program runs.
    Running(Epoch),
    /// Its processes are suspended.
    Frozen(Epoch),
    /// Ended until a message comes.
    Hibernated(Epoch),
    /// Waiting for the next start.
    Backoff(Epoch),
    /// The shim is out of reach; the tree has not been seen empty.
    Unobservable {
        /// The epoch in doubt.
        epoch: Epoch,
        /// What was under way, if it was stopping.
        stopping: Option<After>,
    },
    /// Asked to end.
    Stopping {
        /// The epoch that ends.
        epoch: Epoch,
        /// What comes after.
        after: After,
    },
    /// Ended.
    Stopped(Epoch),
    /// Ended, and not to be started again without a person.
    Failed(Epoch),
    /// Doubt remained about its tree.
    Quarantined(Epoch),
    /// Gone.
    Retired,
}

impl State {
    /// The phase that programs see.
    #[must_use]
    pub fn phase(self) -> Phase {
        match self {
            Self::Declared => Phase::Declared,
            Self::Starting(_) => Phase::Starting,
            Self::Running(_) => Phase::Running,
            Self::Frozen(_) => Phase::Frozen,
            Self::Hibernated(_) => Phase::Hibernated,
            Self::Backoff(_) => Phase::Backoff,
            Self::Unobservable { .. } => Phase::Unobservable,
            Self::Stopping { .. } => Phase::Stopping,
            Self::Stopped(_) => Phase::Stopped,
            Self::Failed(_) => Phase::Failed,
            Self::Quarantined(_) => Phase::Quarantined,
            Self::Retired => Phase::Retired,
        }
    }

    /// The newest epoch, zero before the first.
    #[must_use]
    pub fn epoch(self) -> Epoch {
        match self {
            Self::Declared | Self::Retired => Epoch(0),
            Self::Starting(epoch)
            | Self::Running(epoch)
            | Self::Frozen(epoch)
            | Self::Hibernated(epoch)
            | Self::Backoff(epoch)
            | Self::Unobservable { epoch, .. }
            | Self::Stopping { epoch, .. }
            | Self::Stopped(epoch)
            | Self::Failed(epoch)
            | Self::Quarantined(epoch) => epoch,
        }
    }

    /// Whether a process of its epoch may be alive.
    #[must_use]
    pub fn may_live(self) -> bool {
        match self {
            Self::Starting(_)
            | Self::Running(_)
            | Self::Frozen(_)
            | Self::Unobservable { .. }
            | Self::Stopping { .. }
            | Self::Quarantined(_) => true,
            Self::Declared
            | Self::Hibernated(_)
            | Self::Backoff(_)
            | Self::Stopped(_)
            | Self::Failed(_)
            | Self::Retired => false,
        }
    }
}

/// Whether a tree is known to be gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tree {
    /// Seen empty.
    Empty,
    /// Not known.
    Doubt,
}

/// What happens to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// It is to run.
    Start(Cause),
    /// It is to end and to stay so.
    Stop(Cause),
    /// It is to end and begin anew.
    Restart(Cause),
    /// It is to be suspended.
    Freeze,
    /// It is to go on.
    Thaw,
    /// It is to end until a message comes.
    Hibernate(Cause),
    /// Its name is to become free.
    Retire,
    /// A person vouches for an empty tree.
    Release,
    /// Its program runs.
    Launched(Epoch),
    /// Its program could not be run; nothing of the epoch is left.
    LaunchFailed(Epoch),
    /// Its program ended.
    Exited {
        /// Which epoch.
        epoch: Epoch,
        /// Whether the program reported success.
        success: bool,
        /// How long it ran in milliseconds.
        ran_ms: u64,
        /// Whether anything is left of it.
        tree: Tree,
    },
    /// Its shim is out of reach.
    ShimLost(Epoch),
    /// Its live shim was taken over.
    Adopted {
        /// Which epoch.
        epoch: Epoch,
        /// Whether its processes are suspended.
        frozen: bool,
    },
    /// Nothing of the epoch is left.
    TreeSeenEmpty(Epoch),
    /// Whether anything is left could not be found out.
    TreeInDoubt(Epoch),
    /// Its processes are suspended now.
    Froze(Epoch),
    /// Its processes go on now.
    Thawed(Epoch),
    /// Its delay is over.
    BackoffElapsed,
    /// What the overrides that cover it come to: this, or nothing.
    Hold(Option<OverrideKind>),
}

/// What an engine does after a step, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Put this in the record. Notes before an act are its intent and must be durable first.
    Record(Note),
    /// Bring up this epoch.
    Launch(Epoch, Cause),
    /// Send the stop signal, and kill the tree after the grace.
    Stop(Epoch),
    /// Suspend every process of the epoch.
    Freeze(Epoch),
    /// Let them go on.
    Thaw(Epoch),
    /// Kill what is left of the epoch and find out whether it is empty.
    ProveEmpty(Epoch),
    /// Wait this long, then report [`Input::BackoffElapsed`].
    ArmBackoff(u64),
    /// Forget a delay that is running.
    DisarmBackoff,
}

/// What the record is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// What it is meant to do changed.
    Desired(Desired),
    /// An epoch is about to be brought up.
    Starting(Epoch, Cause),
    /// Its program runs.
    Started(Epoch),
    /// Its program could not be run.
    StartFailed(Epoch),
    /// A new daemon took it over.
    Adopted(Epoch),
    /// It is asked to end.
    Stopping(Epoch, Cause),
    /// Its epoch is over and empty.
    Exited(Epoch),
    /// It waits.
    BackedOff {
        /// Milliseconds.
        delay_ms: u64,
        /// Restarts in a row.
        attempt: u32,
    },
    /// It is given up: it ended without success and is not to be started again.
    FailedEnd,
    /// It is given up: it ended this often.
    FailedLoop(u32),
    /// It is ended.
    Stopped,
    /// It is suspended.
    Frozen(Epoch),
    /// It goes on.
    Thawed(Epoch),
    /// Its shim is out of reach.
    Unobservable(Epoch),
    /// Doubt remains.
    Quarantined(Epoch),
    /// Overrides hold it.
    Held {
        /// What the strongest of them does to it.
        kind: OverrideKind,
        /// Whether it goes on when none holds it any more.
        resumes: bool,
    },
    /// No override holds it any more.
    LetGo,
    /// Its name is free.
    Retired,
}

/// Why an input was refused. The agent is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The phase does not allow it.
    #[error("not allowed while {}", .phase.as_str())]
    Phase {
        /// The phase.
        phase: Phase,
    },
    /// An override holds it.
    #[error("not allowed under an override that says {}", .kind.as_str())]
    Held {
        /// What the strongest override does to it.
        kind: OverrideKind,
    },
    /// It speaks of an epoch that is not the current one.
    #[error("epoch {found} is not the current epoch {current}")]
    StaleEpoch {
        /// The epoch it speaks of.
        found: Epoch,
        /// The current one.
        current: Epoch,
    },
}

/// What a step needs beside the state.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Milliseconds of a clock that never goes back.
    pub now_ms: u64,
    /// A random number of 0 to 1,000.
    pub chance_permille: u16,
}

/// An agent: its state, its desire and what is remembered of its restarts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    state: State,
    desired: Desired,
    policy: Policy,
    book: RestartBook,
    hold: Option<OverrideKind>,
    /// Whether it goes on when no override holds it any more: it was under way when one came, or was to be begun since.
    is_owed: bool,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The agent afterwards.
    pub agent: Agent,
    /// What to do, in order.
    pub actions: Vec<Action>,
}

impl Agent {
    /// An agent that was never started.
    #[must_use]
    pub fn declared(desired: Desired, policy: Policy) -> Self {
        Self {
            state: State::Declared,
            desired,
            policy,
            book: RestartBook::default(),
            hold: None,
            is_owed: false,
        }
    }

    /// An agent as a former daemon left it. Whatever may live is unobservable until it is looked at.
    #[must_use]
    pub fn recovered(phase: Phase, epoch: Epoch, desired: Desired, policy: Policy) -> Self {
        let state = match phase {
            Phase::Declared => State::Declared,
            Phase::Starting | Phase::Running | Phase::Frozen | Phase::Unobservable | Phase::Stopping => {
                let stopping = match (desired, phase) {
                    // What was asked for is carried out, however far it had come.
                    (Desired::Retired, _) => Some(After::Retire),
                    (Desired::Stopped, _) => Some(After::Stop),
                    (Desired::Hibernated, _) => Some(After::Hibernate),
                    (_, Phase::Stopping) => Some(After::Restart(Cause::Recovery)),
                    _ => None,
                };
                State::Unobservable { epoch, stopping }
            }
            Phase::Hibernated => State::Hibernated(epoch),
            Phase::Backoff => State::Backoff(epoch),
            Phase::Stopped => State::Stopped(epoch),
            Phase::Failed => State::Failed(epoch),
            Phase::Quarantined => State::Quarantined(epoch),
            Phase::Retired => State::Retired,
        };
        Self { state, desired, policy, book: RestartBook::default(), hold: None, is_owed: false }
    }

    /// The agent as overrides held it when a former daemon left it.
    #[must_use]
    pub fn held(self, hold: Option<OverrideKind>, is_owed: bool) -> Self {
        let state = match self.state {
            // It was ended by one, and its shim went out of reach before it was seen to be gone.
            State::Unobservable { epoch, stopping: None } if hold == Some(OverrideKind::Stop) => {
                State::Unobservable { epoch, stopping: Some(After::Stop) }
            }
            other => other,
        };
        Self { state, hold, is_owed, ..self }
    }

    /// Whether it goes on when no override holds it any more.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// What the overrides that it knows of do to it.
    #[must_use]
    pub fn hold(&self) -> Option<OverrideKind> {
        self.hold
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// What it is meant to do.
    #[must_use]
    pub fn desired(&self) -> Desired {
        self.desired
    }

    /// Takes the policy of a new manifest.
    pub fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }

    /// Takes one step.
    ///
    /// # Errors
    /// If the input is not possible now; nothing has changed then.
    pub fn step(&self, input: Input, context: Context) -> Result<Step, Illegal> {
        let mut turn = Turn { agent: self.clone(), actions: Vec::new(), context };
        turn.take(input)?;
        Ok(Step { agent: turn.agent, actions: turn.actions })
    }
}

mod hold;
mod rules;
use rules::Turn;

#[cfg(test)]
#[path = "agent/tests.rs"]
mod tests;
