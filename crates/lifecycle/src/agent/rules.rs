//! What each input does in each state. Every pair is written out.

use edgeplane_types::{Desired, Epoch, fact::Cause};

use super::{Action, After, Agent, Context, End, Illegal, Input, Note, State, Tree, Verdict};

/// One step in the making.
pub(super) struct Turn {
    pub(super) agent: Agent,
    pub(super) actions: Vec<Action>,
    pub(super) context: Context,
}

impl Turn {
    pub(super) fn take(&mut self, input: Input) -> Result<(), Illegal> {
        self.check_hold(input)?;
        match input {
            Input::Start(cause) => self.start(cause),
            Input::Stop(cause) => self.stop(cause),
            Input::Restart(cause) => self.restart(cause),
            Input::Freeze => self.freeze(),
            Input::Thaw => self.thaw(),
            Input::Hibernate(cause) => self.hibernate(cause),
            Input::Retire => self.retire(),
            Input::Release => self.release(),
            Input::Launched(epoch) => self.launched(epoch),
            Input::LaunchFailed(epoch) => self.launch_failed(epoch),
            Input::Exited { epoch, success, ran_ms, tree } => self.exited(epoch, success, ran_ms, tree),
            Input::ShimLost(epoch) => self.shim_lost(epoch),
            Input::Adopted { epoch, frozen } => self.adopted(epoch, frozen),
            Input::TreeSeenEmpty(epoch) => self.tree_seen_empty(epoch),
            Input::TreeInDoubt(epoch) => self.tree_in_doubt(epoch),
            Input::Froze(epoch) => self.froze(epoch),
            Input::Thawed(epoch) => self.thawed(epoch),
            Input::BackoffElapsed => self.backoff_elapsed(),
            Input::Hold(Some(kind)) => self.hold_by(kind),
            Input::Hold(None) => self.let_go(),
        }
    }

    pub(super) fn note(&mut self, note: Note) {
        self.actions.push(Action::Record(note));
    }

    pub(super) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    pub(super) fn refuse(&self) -> Result<(), Illegal> {
        Err(Illegal::Phase { phase: self.agent.state.phase() })
    }

    pub(super) fn current(&self, found: Epoch) -> Result<(), Illegal> {
        let current = self.agent.state.epoch();
        if found == current { Ok(()) } else { Err(Illegal::StaleEpoch { found, current }) }
    }

    fn desire(&mut self, desired: Desired) {
        if self.agent.desired != desired {
            self.agent.desired = desired;
            self.note(Note::Desired(desired));
        }
    }

    /// A retirement is more than a stop, and no stop takes it back.
    fn desire_ended(&mut self) {
        if self.agent.desired != Desired::Retired {
            self.desire(Desired::Stopped);
        }
    }

    /// Begins the next epoch, unless an override holds it. Invariant: nothing of an earlier epoch may live.
    pub(super) fn begin(&mut self, cause: Cause) {
        assert!(!self.agent.state.may_live(), "an epoch may only begin after an empty tree");
        if self.is_held_back() {
            return;
        }
        let epoch = self.agent.state.epoch().next();
        self.agent.state = State::Starting(epoch);
        self.note(Note::Starting(epoch, cause));
        self.act(Action::Launch(epoch, cause));
    }

    fn start(&mut self, cause: Cause) -> Result<(), Illegal> {
        match self.agent.state {
            State::Declared | State::Stopped(_) | State::Hibernated(_) | State::Failed(_) => {
                self.agent.book.clear();
                self.desire_running_unless_frozen(cause);
                self.begin(cause);
            }
            State::Backoff(_) => {
                self.agent.book.clear();
                self.desire_running_unless_frozen(cause);
                self.act(Action::DisarmBackoff);
                self.begin(cause);
            }
            State::Starting(_) | State::Running(_) | State::Unobservable { stopping: None, .. } => {
                self.desire(Desired::Running);
            }
            State::Stopping { after: After::Retire, .. }
            | State::Unobservable { stopping: Some(After::Retire), .. } => return self.refuse(),
            State::Unobservable { epoch, stopping: Some(_) } => {
                self.desire(Desired::Running);
                self.agent.state = State::Unobservable { epoch, stopping: Some(After::Restart(cause)) };
            }
            State::Stopping { epoch, .. } => {
                self.desire(Desired::Running);
                self.agent.state = State::Stopping { epoch, after: After::Restart(cause) };
            }
            State::Frozen(_) | State::Quarantined(_) | State::Retired => return self.refuse(),
        }
        Ok(())
    }

    /// A start that the node makes on its own keeps the desire to be frozen; a start by hand means running.
    fn desire_running_unless_frozen(&mut self, cause: Cause) {
        let keep = self.agent.desired == Desired::Frozen && cause != Cause::Request;
        if !keep {
            self.desire(Desired::Running);
        }
    }

    fn stop(&mut self, cause: Cause) -> Result<(), Illegal> {
        match self.agent.state {
            State::Declared | State::Stopped(_) | State::Failed(_) | State::Quarantined(_) => {
                self.desire_ended();
            }
            State::Hibernated(epoch) => {
                self.desire_ended();
                self.ended(State::Stopped(epoch));
            }
            State::Backoff(epoch) => {
                self.desire_ended();
                self.act(Action::DisarmBackoff);
                self.ended(State::Stopped(epoch));
            }
            State::Starting(epoch) | State::Running(epoch) => {
                self.desire_ended();
                self.begin_stop(epoch, cause, After::Stop);
            }
            State::Frozen(epoch) => {
                self.desire_ended();
                self.begin_stop(epoch, cause, After::Stop);
            }
            State::Unobservable { epoch, stopping } => {
                self.desire_ended();
                let after = if stopping == Some(After::Retire) { After::Retire } else { After::Stop };
                self.agent.state = State::Unobservable { epoch, stopping: Some(after) };
            }
            State::Stopping { after: After::Retire, .. } => self.desire_ended(),
            State::Stopping { epoch, .. } => {
                self.desire_ended();
                self.agent.state = State::Stopping { epoch, after: After::Stop };
            }
            State::Retired => return self.refuse(),
        }
        Ok(())
    }

    pub(super) fn begin_stop(&mut self, epoch: Epoch, cause: Cause, after: After) {
        let was_frozen = matches!(self.agent.state, State::Frozen(_));
        self.agent.state = State::Stopping { epoch, after };
        self.note(Note::Stopping(epoch, cause));
        if was_frozen {
            // A suspended program cannot act on its stop signal.
            self.act(Action::Thaw(epoch));
        }
        self.act(Action::Stop(epoch));
    }

    fn restart(&mut self, cause: Cause) -> Result<(), Illegal> {
        match self.agent.state {
            State::Starting(epoch) | State::Running(epoch) | State::Frozen(epoch) => {
                // The end of a task is no failure, and no reason to forget those before.
                if !matches!(cause, Cause::Probe | Cause::Task) {
                    self.agent.book.clear();
                }
                self.desire_running_unless_frozen(cause);
                self.begin_stop(epoch, cause, After::Restart(cause));
                Ok(())
            }
            State::Unobservable { epoch, stopping: None } => {
                // It is carried out as soon as somebody reaches the epoch, whichever daemon that is.
                self.agent.book.clear();
                self.desire_running_unless_frozen(cause);
                self.agent.state = State::Unobservable { epoch, stopping: Some(After::Restart(cause)) };
                self.note(Note::Stopping(epoch, cause));
                Ok(())
            }
            State::Declared
            | State::Stopped(_)
            | State::Hibernated(_)
            | State::Failed(_)
            | State::Backoff(_)
            | State::Unobservable { stopping: Some(_), .. }
            | State::Stopping { .. }
            | State::Quarantined(_)
            | State::Retired => self.start(cause),
        }
    }

    fn freeze(&mut self) -> Result<(), Illegal> {
        match self.agent.state {
            State::Running(epoch) => {
                self.desire(Desired::Frozen);
                self.act(Action::Freeze(epoch));
                Ok(())
            }
            State::Starting(_) | State::Frozen(_) | State::Unobservable { stopping: None, .. } => {
                self.desire(Desired::Frozen);
                Ok(())
            }
            State::Declared
            | State::Stopped(_)
            | State::Hibernated(_)
            | State::Failed(_)
            | State::Backoff(_)
            | State::Unobservable { stopping: Some(_), .. }
            | State::Stopping { .. }
            | State::Quarantined(_)
            | State::Retired => self.refuse(),
        }
    }

    fn thaw(&mut self) -> Result<(), Illegal> {
        match self.agent.state {
            State::Frozen(epoch) | State::Running(epoch) => {
                // Also while running: a freeze may be on its way.
                self.desire(Desired::Running);
                self.act(Action::Thaw(epoch));
                Ok(())
            }
            State::Starting(_) | State::Backoff(_) | State::Unobservable { stopping: None, .. } => {
                self.desire(Desired::Running);
                Ok(())
            }
            State::Declared
            | State::Stopped(_)
            | State::Hibernated(_)
            | State::Failed(_)
            | State::Unobservable { stopping: Some(_), .. }
            | State::Stopping { .. }
            | State::Quarantined(_)
            | State::Retired => self.refuse(),
        }
    }

    /// Only what runs is put to rest: whatever else it is doing comes first.
    fn hibernate(&mut self, cause: Cause) -> Result<(), Illegal> {
        match self.agent.state {
            State::Running(epoch) if self.agent.desired == Desired::Running => {
                self.desire(Desired::Hibernated);
                self.begin_stop(epoch, cause, After::Hibernate);
                Ok(())
            }
            State::Hibernated(_)
            | State::Stopping { after: After::Hibernate, .. }
            | State::Unobservable { stopping: Some(After::Hibernate), .. } => Ok(()),
            State::Running(_)
            | State::Declared
            | State::Starting(_)
            | State::Frozen(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopping { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => self.refuse(),
        }
    }

    fn retire(&mut self) -> Result<(), Illegal> {
        match self.agent.state {
            State::Declared | State::Stopped(_) | State::Failed(_) | State::Hibernated(_) => {
                self.desire(Desired::Retired);
                self.ended(State::Retired);
            }
            State::Backoff(_) => {
                self.desire(Desired::Retired);
                self.act(Action::DisarmBackoff);
                self.note(Note::Stopped);
                self.ended(State::Retired);
            }
            State::Starting(epoch) | State::Running(epoch) | State::Frozen(epoch) => {
                self.desire(Desired::Retired);
                self.begin_stop(epoch, Cause::Request, After::Retire);
            }
            State::Stopping { epoch, .. } => {
                self.desire(Desired::Retired);
                self.agent.state = State::Stopping { epoch, after: After::Retire };
            }
            State::Unobservable { epoch, .. } => {
                self.desire(Desired::Retired);
                self.agent.state = State::Unobservable { epoch, stopping: Some(After::Retire) };
            }
            State::Quarantined(_) | State::Retired => return self.refuse(),
        }
        Ok(())
    }

    fn release(&mut self) -> Result<(), Illegal> {
        let State::Quarantined(epoch) = self.agent.state else { return self.refuse() };
        self.desire_ended();
        self.note(Note::Exited(epoch));
        self.at_rest(epoch);
        Ok(())
    }

    /// Ends what is kept ended; a retirement that was asked for before is completed.
    fn at_rest(&mut self, epoch: Epoch) {
        self.ended(State::Stopped(epoch));
        if self.agent.desired == Desired::Retired {
            self.ended(State::Retired);
        }
    }

    /// Enters a state that has an end and no tree.
    pub(super) fn ended(&mut self, state: State) {
        self.agent.state = state;
        match state {
            State::Stopped(_) | State::Hibernated(_) => self.note(Note::Stopped),
            State::Retired => self.note(Note::Retired),
            State::Declared
            | State::Starting(_)
            | State::Running(_)
            | State::Frozen(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopping { .. }
            | State::Failed(_)
            | State::Quarantined(_) => {}
        }
    }

    fn launched(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        match self.agent.state {
            State::Starting(_) => {
                self.agent.state = State::Running(epoch);
                self.note(Note::Started(epoch));
                if self.is_to_be_frozen() {
                    self.act(Action::Freeze(epoch));
                }
                Ok(())
            }
            State::Stopping { .. } => {
                // The stop came while it was being brought up: nobody could be signalled then.
                self.note(Note::Started(epoch));
                self.note(Note::Stopping(epoch, Cause::Request));
                self.act(Action::Stop(epoch));
                Ok(())
            }
            State::Declared
            | State::Running(_)
            | State::Frozen(_)
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => self.refuse(),
        }
    }

    fn launch_failed(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        match self.agent.state {
            State::Starting(_) => {
                self.note(Note::StartFailed(epoch));
                self.after_end(epoch, false, 0);
                Ok(())
            }
            State::Stopping { after, .. } => {
                self.note(Note::StartFailed(epoch));
                self.after_stop(epoch, after, 0);
                Ok(())
            }
            State::Declared
            | State::Running(_)
            | State::Frozen(_)
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => self.refuse(),
        }
    }

    fn exited(&mut self, epoch: Epoch, success: bool, ran_ms: u64, tree: Tree) -> Result<(), Illegal> {
        self.current(epoch)?;
        match (self.agent.state, tree) {
            (
                State::Running(_) | State::Frozen(_) | State::Unobservable { stopping: None, .. },
                Tree::Empty,
            ) => {
                self.note(Note::Exited(epoch));
                self.after_end(epoch, success, ran_ms);
                Ok(())
            }
            (
                State::Stopping { after, .. } | State::Unobservable { stopping: Some(after), .. },
                Tree::Empty,
            ) => {
                self.note(Note::Exited(epoch));
                self.after_stop(epoch, after, ran_ms);
                Ok(())
            }
            (State::Running(_) | State::Frozen(_) | State::Stopping { .. }, Tree::Doubt) => {
                self.shim_lost(epoch)
            }
            (State::Unobservable { .. }, Tree::Doubt) => {
                self.act(Action::ProveEmpty(epoch));
                Ok(())
            }
            (
                State::Declared
                | State::Starting(_)
                | State::Hibernated(_)
                | State::Backoff(_)
                | State::Stopped(_)
                | State::Failed(_)
                | State::Quarantined(_)
                | State::Retired,
                Tree::Empty | Tree::Doubt,
            ) => self.refuse(),
        }
    }

    /// What follows an end that nobody asked for.
    fn after_end(&mut self, epoch: Epoch, success: bool, ran_ms: u64) {
        let end = End {
            success,
            ran_ms,
            now_ms: self.context.now_ms,
            chance_permille: self.context.chance_permille,
        };
        if matches!(self.agent.desired, Desired::Stopped | Desired::Retired) {
            return self.at_rest(epoch);
        }
        match self.agent.book.end(&self.agent.policy, end) {
            // What would come back after its delay comes back when no override holds it.
            Verdict::Again { .. } if self.agent.hold.is_some() => {
                self.agent.state = State::Backoff(epoch);
                self.begin(Cause::RestartPolicy);
            }
            Verdict::Again { delay_ms, attempt } => {
                self.agent.state = State::Backoff(epoch);
                self.note(Note::BackedOff { delay_ms, attempt });
                self.act(Action::ArmBackoff(delay_ms));
            }
            Verdict::Done => self.ended(State::Stopped(epoch)),
            Verdict::Failed => {
                self.agent.state = State::Failed(epoch);
                self.note(Note::FailedEnd);
            }
            Verdict::Tripped { failures } => {
                self.agent.state = State::Failed(epoch);
                self.note(Note::FailedLoop(failures));
            }
        }
    }

    /// What follows an end that was asked for.
    fn after_stop(&mut self, epoch: Epoch, after: After, ran_ms: u64) {
        match after {
            After::Stop => self.at_rest(epoch),
            After::Hibernate => self.ended(State::Hibernated(epoch)),
            After::Retire => {
                self.ended(State::Stopped(epoch));
                self.ended(State::Retired);
            }
            // An agent that its probe finds sick has failed, and waits and counts as any that did.
            After::Restart(Cause::Probe) => self.after_end(epoch, false, ran_ms),
            After::Restart(cause) => {
                self.ended(State::Stopped(epoch));
                self.begin(cause);
            }
        }
    }

    fn shim_lost(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        let stopping = match self.agent.state {
            State::Starting(_) | State::Running(_) | State::Frozen(_) => None,
            State::Stopping { after, .. } => Some(after),
            State::Declared
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => return self.refuse(),
        };
        self.agent.state = State::Unobservable { epoch, stopping };
        self.note(Note::Unobservable(epoch));
        self.act(Action::ProveEmpty(epoch));
        Ok(())
    }

    fn adopted(&mut self, epoch: Epoch, frozen: bool) -> Result<(), Illegal> {
        self.current(epoch)?;
        let State::Unobservable { stopping, .. } = self.agent.state else { return self.refuse() };
        self.note(Note::Adopted(epoch));
        match (stopping, frozen) {
            (Some(after), _) => {
                self.agent.state = State::Stopping { epoch, after };
                self.note(Note::Stopping(epoch, Cause::Recovery));
                if frozen {
                    self.act(Action::Thaw(epoch));
                }
                self.act(Action::Stop(epoch));
            }
            (None, true) => {
                self.agent.state = State::Frozen(epoch);
                if !self.is_to_be_frozen() {
                    self.act(Action::Thaw(epoch));
                }
            }
            (None, false) => {
                self.agent.state = State::Running(epoch);
                if self.is_to_be_frozen() {
                    self.act(Action::Freeze(epoch));
                }
            }
        }
        Ok(())
    }

    fn tree_seen_empty(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        match self.agent.state {
            State::Unobservable { stopping, .. } => {
                self.note(Note::Exited(epoch));
                match stopping {
                    Some(after) => self.after_stop(epoch, after, 0),
                    // How it ended is not known, and an end that is not known is no success.
                    None => self.after_end(epoch, false, 0),
                }
                Ok(())
            }
            State::Quarantined(_) => {
                self.note(Note::Exited(epoch));
                self.at_rest(epoch);
                Ok(())
            }
            State::Declared
            | State::Starting(_)
            | State::Running(_)
            | State::Frozen(_)
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Stopping { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Retired => self.refuse(),
        }
    }

    fn tree_in_doubt(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        let State::Unobservable { .. } = self.agent.state else { return self.refuse() };
        self.agent.state = State::Quarantined(epoch);
        self.note(Note::Quarantined(epoch));
        Ok(())
    }

    fn backoff_elapsed(&mut self) -> Result<(), Illegal> {
        let State::Backoff(_) = self.agent.state else { return self.refuse() };
        self.begin(Cause::RestartPolicy);
        Ok(())
    }
}
