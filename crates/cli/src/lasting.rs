//! A connection that outlives the daemon it was made to.
//!
//! Owns the waiting for a node that is gone and the asking again. It deliberately keeps no place in any stream: whoever
//! asks says from where, so a question that is repeated goes on exactly there. Only what changes nothing may be asked
//! through it.

use std::{io, time::Duration};

use edgeplane_client::CallError;
use edgeplane_os::{poll, sock::SockError, wait::Deadline};
use edgeplane_wire::catalogue::Call;

use crate::{
    context::{Answer, Context},
    node::Node,
    output,
};

/// The first pause before a node that is gone is looked for: a watchdog needs about as long to start the next.
const PAUSE_MIN: Duration = Duration::from_millis(20);

/// The longest pause: a node that stays away for hours costs two failed connections a second.
const PAUSE_MAX: Duration = Duration::from_millis(500);

/// A connection that held for less says nothing about the node's health, and the pauses go on growing.
const SETTLES: Duration = Duration::from_secs(2);

/// What is said when the node goes, and when it is back.
pub(crate) const GONE: &str = "the node is gone; waiting for it";
pub(crate) const BACK: &str = "the node is back";

/// What to do when the node goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Wait for it and go on.
    Waits,
    /// Fail.
    Ends,
}

impl Loss {
    /// As `--no-reconnect` says.
    pub(crate) fn of_flag(no_reconnect: bool) -> Self {
        if no_reconnect { Self::Ends } else { Self::Waits }
    }
}

/// A connection to the node, and to the one that comes after it.
#[derive(Debug)]
pub(crate) struct Lasting {
    pub(crate) node: Node,
    loss: Loss,
    pauses: Pauses,
    is_away: bool,
}

impl Lasting {
    /// Connects. A node that is not there at the beginning is not waited for.
    pub(crate) fn open(context: &Context, loss: Loss) -> anyhow::Result<Self> {
        Ok(Self { node: context.connect()?, loss, pauses: Pauses::new(), is_away: false })
    }

    /// Calls a method that changes nothing, at the next node if this one goes.
    pub(crate) fn ask<C: Call>(
        &mut self,
        params: &C::Params,
        context: &Context,
    ) -> anyhow::Result<Answer<C>> {
        loop {
            match context.ask_over::<C>(&mut self.node, params) {
                Ok(answer) => {
                    if std::mem::take(&mut self.is_away) {
                        say(BACK, context);
                    }
                    return Ok(answer);
                }
                Err(error) => self.survive(error, context)?,
            }
        }
    }

    /// Waits for the next node if an error means that this one is gone; gives any other error back.
    pub(crate) fn survive(&mut self, error: anyhow::Error, context: &Context) -> anyhow::Result<()> {
        let is_loss = matches!(error.downcast_ref::<CallError>(), Some(CallError::Closed { .. }));
        if !is_loss || self.loss == Loss::Ends {
            return Err(error);
        }
        if !std::mem::replace(&mut self.is_away, true) {
            say(GONE, context);
        }
        loop {
            poll::wait(&mut [], Some(self.pauses.take_next()))?;
            match context.connect() {
                Ok(node) => {
                    self.node = node;
                    self.pauses.connected();
                    return Ok(());
                }
                Err(error) if is_nobody_there(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A line about the node, where somebody looks; programs see a stream without a seam.
fn say(text: &str, context: &Context) {
    if context.out.manner.stderr_is_terminal && !context.out.manner.quiet {
        output::complain(&format!("edgeplane: {text}"));
    }
}

/// Whether a connection failed because no daemon runs now; everything else stays as it is however long one waits.
pub(crate) fn is_nobody_there(error: &anyhow::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, NotFound, WouldBlock};

    match error.downcast_ref::<SockError>() {
        Some(SockError::Connect { source, .. }) => {
            matches!(source.kind(), NotFound | ConnectionRefused | ConnectionReset | WouldBlock)
        }
        _ => false,
    }
}

/// The pauses between looks for a node, each longer than the one before.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
    settled: Option<Deadline>,
}

impl Pauses {
    pub(crate) fn new() -> Self {
        Self { next: PAUSE_MIN, settled: None }
    }

    /// How long to wait before the next look.
    pub(crate) fn take_next(&mut self) -> Duration {
        if self.settled.take().is_some_and(Deadline::has_passed) {
            self.next = PAUSE_MIN;
        }
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(PAUSE_MAX);
        pause
    }

    /// A node took the connection.
    pub(crate) fn connected(&mut self) {
        self.settled = Some(Deadline::after(SETTLES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_flapping_does_not_shorten_them() {
        let mut pauses = Pauses::new();
        let first: Vec<_> = (0..8).map(|_| pauses.take_next().as_millis()).collect();
        assert_eq!(first, [20, 40, 80, 160, 320, 500, 500, 500]);
        pauses.connected();
        assert_eq!(pauses.take_next(), PAUSE_MAX);
        pauses.settled = Some(Deadline::after(Duration::ZERO));
        assert_eq!(pauses.take_next(), PAUSE_MIN);
    }
}
