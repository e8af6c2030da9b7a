//! What overrides do to a life: nothing begins while one holds it, and what they ended or suspended goes on after the
//! last.
//!
//! What an agent is meant to do is not touched by them: a desire that changes meanwhile decides what becomes of it then.

use edgeplane_types::{Desired, Epoch, OverrideKind, fact::Cause};

use super::{Action, After, Illegal, Input, Note, State, rules::Turn};

impl Turn {
    /// Refuses what would let go on what an override holds. What the node wants by itself is kept for later instead.
    pub(super) fn check_hold(&self, input: Input) -> Result<(), Illegal> {
        let Some(kind) = self.agent.hold else { return Ok(()) };
        let rests = matches!(self.agent.state, State::Hibernated(_));
        match input {
            Input::Start(Cause::Request) | Input::Restart(Cause::Request) | Input::Thaw => {
                Err(Illegal::Held { kind })
            }
            // It stays at rest, and wakes when it may, if something waits for it then.
            Input::Start(_) | Input::Restart(_) if rests => Err(Illegal::Held { kind }),
            _ => Ok(()),
        }
    }

    /// Whether its processes are to be suspended now, by what it is meant to do or by an override.
    pub(super) fn is_to_be_frozen(&self) -> bool {
        self.agent.desired == Desired::Frozen || self.agent.hold == Some(OverrideKind::Pause)
    }

    /// Holds back what was about to begin, if an override holds the agent; it waits ended.
    pub(super) fn is_held_back(&mut self) -> bool {
        let Some(kind) = self.agent.hold else { return false };
        if !self.agent.is_owed {
            self.agent.is_owed = true;
            self.note(Note::Held { kind, resumes: true });
        }
        if let State::Backoff(epoch) | State::Failed(epoch) = self.agent.state {
            self.ended(State::Stopped(epoch));
        }
        true
    }

    pub(super) fn hold_by(&mut self, kind: OverrideKind) -> Result<(), Illegal> {
        if self.agent.state == State::Retired {
            return self.refuse();
        }
        if self.agent.hold == Some(kind) {
            return Ok(());
        }
        self.agent.hold = Some(kind);
        let ends = kind == OverrideKind::Stop;
        let is_under_way = match self.agent.state {
            State::Backoff(_) => true,
            State::Starting(_)
            | State::Running(_)
            | State::Frozen(_)
            | State::Unobservable { stopping: None | Some(After::Restart(_)), .. }
            | State::Stopping { after: After::Restart(_), .. } => ends,
            State::Declared
            | State::Hibernated(_)
            | State::Unobservable { .. }
            | State::Stopping { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => false,
        };
        self.agent.is_owed |= is_under_way;
        self.note(Note::Held { kind, resumes: self.agent.is_owed });
        match self.agent.state {
            State::Backoff(epoch) => {
                self.act(Action::DisarmBackoff);
                self.ended(State::Stopped(epoch));
            }
            _ if ends => self.end_what_is_under_way(),
            State::Running(epoch) => self.act(Action::Freeze(epoch)),
            _ => {}
        }
        Ok(())
    }

    fn end_what_is_under_way(&mut self) {
        match self.agent.state {
            State::Starting(epoch) | State::Running(epoch) | State::Frozen(epoch) => {
                self.begin_stop(epoch, Cause::Override, After::Stop);
            }
            State::Unobservable { epoch, stopping: None | Some(After::Restart(_)) } => {
                self.agent.state = State::Unobservable { epoch, stopping: Some(After::Stop) };
            }
            State::Stopping { epoch, after: After::Restart(_) } => {
                self.agent.state = State::Stopping { epoch, after: After::Stop };
            }
            State::Declared
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopping { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => {}
        }
    }

    pub(super) fn let_go(&mut self) -> Result<(), Illegal> {
        let Some(was) = self.agent.hold.take() else { return Ok(()) };
        let is_owed = std::mem::take(&mut self.agent.is_owed);
        self.note(Note::LetGo);
        let goes_on = is_owed && matches!(self.agent.desired, Desired::Running | Desired::Frozen);
        match self.agent.state {
            State::Frozen(epoch) => self.thaw_unless_meant(epoch),
            // A freeze may be on its way.
            State::Running(epoch) if was == OverrideKind::Pause => self.thaw_unless_meant(epoch),
            State::Declared | State::Stopped(_) if goes_on => self.begin(Cause::Override),
            State::Stopping { epoch, after: After::Stop } if goes_on => {
                self.agent.state = State::Stopping { epoch, after: After::Restart(Cause::Override) };
            }
            State::Unobservable { epoch, stopping: Some(After::Stop) } if goes_on => {
                let stopping = Some(After::Restart(Cause::Override));
                self.agent.state = State::Unobservable { epoch, stopping };
            }
            State::Declared
            | State::Starting(_)
            | State::Running(_)
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopping { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => {}
        }
        Ok(())
    }

    pub(super) fn froze(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        let State::Running(_) = self.agent.state else { return self.refuse() };
        self.agent.state = State::Frozen(epoch);
        self.note(Note::Frozen(epoch));
        if !self.is_to_be_frozen() {
            // Whoever wanted it changed their mind while it was done.
            self.act(Action::Thaw(epoch));
        }
        Ok(())
    }

    pub(super) fn thawed(&mut self, epoch: Epoch) -> Result<(), Illegal> {
        self.current(epoch)?;
        match self.agent.state {
            State::Frozen(_) => {
                self.agent.state = State::Running(epoch);
                self.note(Note::Thawed(epoch));
                if self.is_to_be_frozen() {
                    self.act(Action::Freeze(epoch));
                }
                Ok(())
            }
            // Thawed for its stop, or never frozen: nothing changes.
            State::Stopping { .. } | State::Running(_) => Ok(()),
            State::Declared
            | State::Starting(_)
            | State::Hibernated(_)
            | State::Backoff(_)
            | State::Unobservable { .. }
            | State::Stopped(_)
            | State::Failed(_)
            | State::Quarantined(_)
            | State::Retired => self.refuse(),
        }
    }

    fn thaw_unless_meant(&mut self, epoch: Epoch) {
        if !self.is_to_be_frozen() {
            self.act(Action::Thaw(epoch));
        }
    }
}

#[cfg(test)]
#[path = "hold/tests.rs"]
mod tests;
