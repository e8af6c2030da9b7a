//! The loop: lines of the node in, one turn at a time.

use std::{collections::VecDeque, ffi::OsStr, io, os::fd::AsFd as _, time::Duration};

use edgeplane_driver::{
    exec::{self, Asked, Plan},
    lines::{Found, Lines},
};
use edgeplane_os::{
    Clock as _, SystemClock,
    fd::{self, Transfer},
    poll::{self, PollFd, PollFlags},
    signals::{self, Signal, SignalError, SignalFd},
};

use crate::{
    process::Stream,
    turn::{After, Prompt, Turn, send},
};

/// Turns that wait for the running one. The node sends one at a time; it sends another only when it gave one up.
const WAITING_MAX: usize = 8;

/// How often the time of a turn is counted. Less often, and a frozen agent would grow old by more than this.
const TICK: Duration = Duration::from_secs(1);

/// Signals by which the shim asks for the end, whichever the manifest names, and that are passed on.
const STOPS: [Signal; 6] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

/// The number of JSON-RPC for a request that is not served.
const NO_METHOD: i64 = -32_601;

/// The number of JSON-RPC for what could not be done.
const INTERNAL: i64 = -32_603;

/// Why the runner cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("cannot receive signals")]
    Signals(#[from] SignalError),
    #[error("cannot wait for the node")]
    Wait(#[source] io::Error),
    #[error("cannot read what the node asks")]
    Read(#[source] io::Error),
}

/// What there is to do.
#[derive(Debug, Default, Clone, Copy)]
struct Ready {
    signal: bool,
    line: bool,
    end: bool,
    out: bool,
    err: bool,
    input: bool,
}

#[derive(Debug)]
struct Engine<'a> {
    plan: &'a Plan,
    path: &'a OsStr,
    signals: SignalFd,
    lines: Lines,
    turn: Option<Turn>,
    waiting: VecDeque<Prompt>,
    /// Whether the end was asked for, or nobody asks for anything any more.
    is_stopping: bool,
}

/// Serves the node until it or the shim asks for the end.
pub(crate) fn serve(plan: &Plan, path: &OsStr) -> Result<(), ServeError> {
    signals::ignore_sigpipe()?;
    let mut engine = Engine {
        plan,
        path,
        signals: SignalFd::open(&STOPS)?,
        lines: Lines::from_offset(0),
        turn: None,
        waiting: VecDeque::new(),
        is_stopping: false,
    };
    while !(engine.is_stopping && engine.turn.is_none()) {
        engine.step()?;
    }
    Ok(())
}

impl Engine<'_> {
    fn step(&mut self) -> Result<(), ServeError> {
        let before = SystemClock.monotonic_micros();
        let ready = self.wait()?;
        let passed = Duration::from_micros(SystemClock.monotonic_micros().saturating_sub(before));
        if let Some(turn) = &mut self.turn {
            // More than that passed only if this process did not run.
            turn.passes(passed.min(TICK.saturating_mul(2)));
            if ready.input {
                turn.process.write();
            }
            for (stream, _) in
                [(Stream::Out, ready.out), (Stream::Err, ready.err)].iter().filter(|(_, is)| *is)
            {
                let bytes = turn.process.read(*stream);
                turn.takes(*stream, &bytes);
            }
        }
        if ready.signal {
            self.signalled()?;
        }
        if ready.end {
            self.ended();
        }
        if ready.line {
            self.listen()?;
        }
        self.next();
        Ok(())
    }

    fn wait(&self) -> Result<Ready, ServeError> {
        let stdin = io::stdin();
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let mut told: Vec<fn(&mut Ready)> = vec![|ready| ready.signal = true];
        if !self.is_stopping {
            fds.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
            told.push(|ready| ready.line = true);
        }
        let mut timeout = None;
        if let Some(turn) = &self.turn {
            timeout = Some(turn.patience().max(Duration::from_millis(1)).min(TICK));
            fds.push(PollFd::from_borrowed_fd(turn.process.end(), PollFlags::IN));
            told.push(|ready| ready.end = true);
            if let Some(out) = turn.process.stream(Stream::Out) {
                fds.push(PollFd::from_borrowed_fd(out, PollFlags::IN));
                told.push(|ready| ready.out = true);
            }
            if let Some(err) = turn.process.stream(Stream::Err) {
                fds.push(PollFd::from_borrowed_fd(err, PollFlags::IN));
                told.push(|ready| ready.err = true);
            }
            if let Some(input) = turn.process.input() {
                fds.push(PollFd::from_borrowed_fd(input, PollFlags::OUT));
                told.push(|ready| ready.input = true);
            }
        }
        poll::wait(&mut fds, timeout).map_err(ServeError::Wait)?;
        let mut ready = Ready::default();
        for (_, tell) in fds.iter().zip(told).filter(|(fd, _)| !fd.revents().is_empty()) {
            tell(&mut ready);
        }
        Ok(ready)
    }

    /// The end is asked for. The running process is told the same way; its turn stays open.
    fn signalled(&mut self) -> Result<(), ServeError> {
        while let Some(arrived) = self.signals.next()? {
            self.is_stopping = true;
            let signal = STOPS.into_iter().find(|stop| stop.as_raw() == arrived.signal);
            if let (Some(turn), Some(signal)) = (&self.turn, signal) {
                turn.process.signal(signal);
            }
        }
        Ok(())
    }

    fn ended(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        if self.is_stopping {
            return;
        }
        if let After::Again(turn) = turn.over(self.plan, self.path) {
            self.turn = Some(*turn);
        }
    }

    fn listen(&mut self) -> Result<(), ServeError> {
        let mut bytes = vec![0; 64 << 10];
        let count = match fd::read(io::stdin(), &mut bytes).map_err(ServeError::Read)? {
            Transfer::Moved(count) => count,
            Transfer::WouldBlock => return Ok(()),
            Transfer::Ended => {
                self.is_stopping = true;
                if let Some(turn) = &self.turn {
                    turn.process.signal(Signal::TERM);
                }
                return Ok(());
            }
        };
        let mut found = Vec::new();
        self.lines.feed(bytes.get(..count).unwrap_or_default(), &mut found);
        for line in found {
            if let Found::Line { bytes, .. } = line {
                self.heard(&bytes);
                // Before the next line, which may ask for the end of the turn that this one begins.
                self.next();
            }
        }
        Ok(())
    }

    fn heard(&mut self, line: &[u8]) {
        match exec::asked(line) {
            Asked::Prompt { id, former, texts, trace } => {
                if self.waiting.len() < WAITING_MAX {
                    self.waiting.push_back(Prompt { id, former, texts, trace });
                } else {
                    send(&exec::failed(&id, INTERNAL, "too many turns wait for the running one"));
                }
            }
            Asked::Cancel => {
                if let Some(turn) = &mut self.turn {
                    turn.end_for("cancelled");
                }
            }
            Asked::Unknown { id: Some(id) } => {
                send(&exec::failed(&id, NO_METHOD, "a runner does not serve this"))
            }
            Asked::Unknown { id: None } => {}
        }
    }

    /// Begins the next turn if none runs.
    fn next(&mut self) {
        while self.turn.is_none() && !self.is_stopping {
            let Some(prompt) = self.waiting.pop_front() else { return };
            self.turn = Turn::start(self.plan, self.path, prompt);
        }
    }
}
