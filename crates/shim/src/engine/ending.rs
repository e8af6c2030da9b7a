//! How an epoch ends: asked, killed, seen empty, drained, recorded, and only then told. The last of the recording
//! becomes durable after that, by the node if it was there to be told.
//!
//! Invariant: `Exited` is sent after the exit record was written, and that after the tree was seen empty or the wait for
//! it was given up, which the record then says.

use edgeplane_os::{Clock, Signal, SystemClock};
use edgeplane_types::{Timestamp, life::ExitStatus};
use edgeplane_wire::{
    cast,
    shim::{EpochState, Exit, FromShim, OutputStream},
};

use super::Engine;
use crate::recording::Kept;

/// How long to wait for a tree that does not die, before that is told instead.
const GIVE_UP_US: u64 = 10_000_000;

/// Pause between attempts to kill what is left; each dead child causes one at once besides.
const KILL_AGAIN_US: u64 = 50_000;

/// How long the rest of the output is listened to once the tree is gone: a stranger who was handed the other end could
/// write for ever.
const DRAIN_US: u64 = 1_000_000;

/// How long clients may take their last frames.
const FAREWELL_US: u64 = 1_000_000;

/// Where the epoch stands.
#[derive(Debug)]
pub(super) enum Phase {
    /// The program runs.
    Running,
    /// It was asked to end.
    Stopping {
        /// When the whole tree is killed, or killed again.
        kill_at_us: u64,
    },
    /// It ended; what is left of the tree is killed and its output drained.
    Ending(Ending),
    /// The end is recorded and told.
    Leaving {
        /// When clients that did not take it are left behind.
        until_us: u64,
    },
    /// Nothing is left to do.
    Over,
}

/// What is known of the end while the tree goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    status: ExitStatus,
    ended_at: Timestamp,
    ran_us: u64,
    give_up_us: u64,
    kill_at_us: u64,
}

impl Phase {
    /// The state to tell.
    pub(super) fn state(&self) -> EpochState {
        match self {
            Self::Running => EpochState::Running,
            Self::Stopping { .. } | Self::Ending(_) => EpochState::Stopping,
            Self::Leaving { .. } | Self::Over => EpochState::Exited,
        }
    }

    /// When [`Engine::advance`] has something to do.
    pub(super) fn due_us(&self) -> Option<u64> {
        match self {
            Self::Running | Self::Over => None,
            Self::Stopping { kill_at_us } => Some(*kill_at_us),
            Self::Ending(ending) => Some(ending.kill_at_us.min(ending.give_up_us)),
            Self::Leaving { until_us } => Some(*until_us),
        }
    }

    /// Whether the program runs and was not asked to end.
    pub(super) fn is_running(&self) -> bool {
        matches!(self, Self::Running)
    }

    /// Whether an empty cgroup is news.
    pub(super) fn awaits_emptiness(&self) -> bool {
        matches!(self, Self::Ending(_))
    }

    /// Whether the shim may end.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }
}

impl Engine {
    /// Asks the program to end, and kills the tree after the grace; asking again can only shorten it.
    pub(super) fn stop(&mut self, now: u64, signal: Signal, grace_ms: u64) {
        let asked_us = now.saturating_add(grace_ms.saturating_mul(1_000));
        let kill_at_us = match self.phase {
            Phase::Running => asked_us,
            Phase::Stopping { kill_at_us } => kill_at_us.min(asked_us),
            Phase::Ending(_) | Phase::Leaving { .. } | Phase::Over => return,
        };
        self.phase = Phase::Stopping { kill_at_us };
        self.program.ask_to_end(signal);
    }

    /// The program was reaped.
    pub(super) fn begin_ending(&mut self) {
        let now = super::now_us();
        let clients = &mut self.clients;
        self.inputs.close(|settled| {
            clients.send(settled.asked_by, &FromShim::Input { id: settled.id, outcome: settled.outcome });
        });
        self.phase = Phase::Ending(Ending {
            status: self.program.status().unwrap_or(ExitStatus::Unknown),
            ended_at: SystemClock.now(),
            ran_us: now.saturating_sub(self.facts.started_us),
            give_up_us: now.saturating_add(GIVE_UP_US),
            kill_at_us: now,
        });
    }

    /// Takes the next step towards the end, if there is one to take.
    pub(super) fn advance(&mut self, now: u64) {
        match self.phase {
            Phase::Running | Phase::Over => {}
            Phase::Stopping { kill_at_us } => {
                if kill_at_us <= now {
                    self.tree.kill();
                    self.phase = Phase::Stopping { kill_at_us: now.saturating_add(KILL_AGAIN_US) };
                }
            }
            Phase::Ending(ending) => self.advance_ending(now, ending),
            Phase::Leaving { until_us } => {
                self.clients.tick(now);
                if until_us <= now || !self.clients.any_wants_to_send() {
                    self.leave();
                }
            }
        }
    }

    fn advance_ending(&mut self, now: u64, mut ending: Ending) {
        let has_given_up = ending.give_up_us <= now;
        if !self.is_tree_empty() && !has_given_up {
            self.tree.kill();
            self.reap();
            if !self.is_tree_empty() {
                ending.kill_at_us = now.saturating_add(KILL_AGAIN_US);
                self.phase = Phase::Ending(ending);
                return;
            }
        }
        if has_given_up {
            self.recording.stop_waiting();
            if let Some((offset, stream, bytes)) = self.recording.retry_waiting(now) {
                self.clients.show(offset, stream, &bytes);
            }
        }
        if self.drain(now) {
            self.end(now, &ending);
        } else {
            ending.kill_at_us = now.saturating_add(KILL_AGAIN_US);
            self.phase = Phase::Ending(ending);
        }
    }

    fn is_tree_empty(&self) -> bool {
        self.is_childless && self.tree.is_cgroup_empty() != Some(false)
    }

    /// Takes all output that is left, and says whether that was all: it is not if the rest must wait for space.
    fn drain(&mut self, now: u64) -> bool {
        let until_us = now.saturating_add(DRAIN_US);
        for stream in [OutputStream::Out, OutputStream::Err] {
            // A terminal that nobody had open for a moment may still hold something.
            self.program.tick(u64::MAX);
            while self.take_chunk(now, stream) {
                if until_us <= super::now_us() {
                    break;
                }
            }
        }
        while let Some((stream, held)) = self.recording.overdue(u64::MAX) {
            if let Kept::At(offset) = self.recording.output(now, stream, held.bytes()) {
                self.clients.show(offset, stream, held.bytes());
            }
        }
        !self.recording.is_waiting()
    }

    fn end(&mut self, now: u64, ending: &Ending) {
        let (value, signaled) = match ending.status {
            ExitStatus::Code(code) => (code, false),
            ExitStatus::Signal(signal) => (signal, true),
            ExitStatus::Unknown => (-1, false),
        };
        self.recording.end(now, &exit_text(value, signaled));
        self.tell_notices();
        let exit = Exit {
            value,
            signaled,
            output_bytes: self.recording.head(),
            cgroup_empty: self.tree.is_cgroup_empty() == Some(true),
            tree_empty: self.is_tree_empty(),
            ended_at: ending.ended_at.as_micros(),
            ran_ms: ending.ran_us / 1_000,
        };
        // A disk that fails leaves an unwritten record; the clients still hear of the end.
        self.exit_written = self.exit_record.take().and_then(|record| record.write(&exit.encode()).ok());
        let head = self.recording.head();
        self.clients.tell_end(&FromShim::Exited(exit), head);
        self.phase = Phase::Leaving { until_us: now.saturating_add(FAREWELL_US) };
        self.advance(now);
    }

    fn leave(&mut self) {
        // Whoever controls was told of the end, records it durably and seals the recording; both at once would only wait
        // for each other. What is written here is for a daemon that died or was not there.
        if !self.clients.any_controls() {
            self.recording.sync(super::now_us());
            drop(self.exit_written.take().map(edgeplane_os::atomic::Written::sync));
        }
        // It is removed by name; that it is gone already is as good.
        drop(std::fs::remove_file(&self.facts.socket));
        self.phase = Phase::Over;
    }
}

/// The exit code, or what shells make of a signal.
fn exit_text(value: i32, signaled: bool) -> String {
    let code = if signaled { value.saturating_add(128) } else { value };
    let mut digits = Vec::with_capacity(12);
    if code < 0 {
        digits.push(b'-');
    }
    cast::put_number(&mut digits, u64::from(code.unsigned_abs()));
    String::from_utf8_lossy(&digits).into_owned()
}
