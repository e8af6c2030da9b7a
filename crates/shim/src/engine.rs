//! The loop: one thread, one poll, everything else in turn.
//!
//! Owns the order of things and the time. What a frame does is in [`frames`], how an epoch ends in [`ending`]. It never
//! waits for anybody but in the poll itself, and for the disk.

mod ending;
mod frames;
mod ready;

use std::{os::unix::net::UnixListener, path::PathBuf, time::Duration};

use edgeplane_os::{
    Clock, Signal, SystemClock,
    atomic::Preallocated,
    fd::Transfer,
    lock::DirLock,
    pidfd::{self, Reaped},
    poll,
    signals::SignalFd,
};
use edgeplane_wire::shim::{FromShim, OutputStream, Status};

use crate::{
    clients::Clients,
    command_input::Settled,
    commands::Commands,
    input::Inputs,
    program::Program,
    questions::Questions,
    recording::{Kept, Notice, Recording},
    tree::Tree,
};
use ending::Phase;
use ready::{Ready, poll_list};

/// Bytes of output taken at once.
const READ_BYTES: usize = 8 << 10;

/// The same and the bytes of an unfinished character in front of them.
const BUFFER_BYTES: usize = READ_BYTES + 3;

/// Reads from one output before the others and the clients have their turn.
const READS_IN_TURN: usize = 8;

/// What stays as it is for the whole epoch.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) epoch: u64,
    pub(crate) shim_pid: u32,
    pub(crate) shim_start: u64,
    pub(crate) socket: PathBuf,
    /// What a shutdown of the machine sends to the program.
    pub(crate) stop_signal: Signal,
    pub(crate) grace_ms: u64,
    pub(crate) started_us: u64,
}

/// Everything that is made before the loop begins.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) facts: Facts,
    pub(crate) program: Program,
    pub(crate) commands: Commands,
    pub(crate) tree: Tree,
    pub(crate) recording: Recording,
    pub(crate) clients: Clients,
    pub(crate) signals: SignalFd,
    pub(crate) listener: UnixListener,
    pub(crate) exit_record: Preallocated,
    pub(crate) held: DirLock,
}

/// One epoch at work.
#[derive(Debug)]
pub(crate) struct Engine {
    facts: Facts,
    program: Program,
    commands: Commands,
    tree: Tree,
    recording: Recording,
    clients: Clients,
    inputs: Inputs,
    questions: Questions,
    signals: SignalFd,
    listener: UnixListener,
    exit_record: Option<Preallocated>,
    /// The exit record once it is written.
    exit_written: Option<edgeplane_os::atomic::Written>,
    /// Held until the shim ends: it tells every daemon that this epoch lives.
    _held: DirLock,
    phase: Phase,
    /// Whether a look for children found none at all.
    is_childless: bool,
    buffer: Box<[u8; BUFFER_BYTES]>,
}

/// The time that intervals and deadlines are measured in.
pub(crate) fn now_us() -> u64 {
    SystemClock.monotonic_micros()
}

impl Engine {
    /// Puts the parts together.
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            facts: parts.facts,
            program: parts.program,
            commands: parts.commands,
            tree: parts.tree,
            recording: parts.recording,
            clients: parts.clients,
            inputs: Inputs::default(),
            questions: Questions::default(),
            signals: parts.signals,
            listener: parts.listener,
            exit_record: Some(parts.exit_record),
            exit_written: None,
            _held: parts.held,
            phase: Phase::Running,
            is_childless: false,
            buffer: Box::new([0; BUFFER_BYTES]),
        }
    }

    /// Tells that the program runs, and serves until it has ended and everybody was told.
    pub(crate) fn run(mut self) {
        let started = FromShim::Started(self.status());
        self.clients.tell_controllers(&started);
        // What came behind the launch is waiting already, and a program may have ended before anybody looked.
        self.take_frames_of_all();
        self.reap();
        loop {
            let now = now_us();
            self.tick(now);
            if self.phase.is_over() {
                return;
            }
            let ready = self.wait(now);
            self.serve(&ready);
        }
    }

    /// What a client asks for with a status frame.
    fn status(&self) -> Status {
        let (cols, rows) = self.recording.size();
        Status {
            epoch: self.facts.epoch,
            state: self.phase.state(),
            shim_pid: self.facts.shim_pid,
            shim_start: self.facts.shim_start,
            pid: self.program.pid(),
            start: self.program.start(),
            head: self.recording.head(),
            synced: self.recording.synced(),
            segment: self.recording.segment(),
            cols,
            rows,
        }
    }

    fn wait(&self, now: u64) -> Ready {
        let due = [
            self.recording.due_us(),
            self.clients.due_us(),
            self.program.due_us(),
            self.phase.due_us(),
            self.questions.due_us(),
        ];
        let due = due.into_iter().flatten().min();
        let timeout = due.map(|due| Duration::from_micros(due.saturating_sub(now)));
        let mut list = poll_list(self);
        match poll::wait(&mut list, timeout) {
            Ok(0) => Ready::default(),
            Ok(_) => Ready::read(self, &list),
            // Nothing that polling can fail of lasts; meanwhile everything is tried, which never waits.
            Err(_refused) => Ready::everything(self),
        }
    }

    fn serve(&mut self, ready: &Ready) {
        let now = now_us();
        if ready.signals {
            self.take_signals(now);
        }
        for (is_ready, stream) in ready.outputs.into_iter().zip([OutputStream::Out, OutputStream::Err]) {
            if is_ready {
                self.take_output(now, stream);
            }
        }
        for id in &ready.commands {
            self.commands.take_output(id, self.buffer.as_mut_slice());
        }
        for id in &ready.command_inputs {
            self.write_command(id);
        }
        if ready.listener {
            self.clients.accept(&self.listener, now);
        }
        for client in &ready.clients {
            if client.may_send {
                let head = self.recording.head();
                if let Some(client) = self.clients.get(client.token) {
                    client.go_on(head);
                }
            }
            if client.has_sent {
                self.take_bytes(client.token);
            }
        }
        if ready.input {
            self.write_inputs(now);
        }
    }

    /// Does what time alone makes due.
    fn tick(&mut self, now: u64) {
        self.program.tick(now);
        if let Some((offset, stream, bytes)) = self.recording.retry_waiting(now) {
            self.clients.show(offset, stream, &bytes);
            self.see(now, &bytes);
        }
        while let Some((stream, held)) = self.recording.overdue(now) {
            if let Kept::At(offset) = self.recording.output(now, stream, held.bytes()) {
                self.clients.show(offset, stream, held.bytes());
                self.see(now, held.bytes());
            }
        }
        self.answer(now);
        self.recording.tick(now);
        self.advance(now);
        self.tell_notices();
        self.clients.tick(now);
    }

    fn tell_notices(&mut self) {
        for notice in self.recording.take_notices() {
            let frame = match notice {
                Notice::Sealed { segment, from, to } => FromShim::Sealed { segment, from, to },
                Notice::Gap { from, to, errno } => FromShim::Gap { from, to, errno },
            };
            self.clients.tell_controllers(&frame);
        }
    }

    /// Takes output until there is none, its turn is over, or it must wait for space.
    fn take_output(&mut self, now: u64, stream: OutputStream) {
        for _turn in 0..READS_IN_TURN {
            if !self.take_chunk(now, stream) {
                return;
            }
        }
    }

    /// Takes one chunk of output, and says whether there was one.
    fn take_chunk(&mut self, now: u64, stream: OutputStream) -> bool {
        if self.recording.is_waiting() {
            return false;
        }
        let held = self.recording.held(stream);
        let held_bytes = held.bytes().len();
        let Some((front, rest)) = self.buffer.split_at_mut_checked(held_bytes) else { return false };
        front.copy_from_slice(held.bytes());
        let rest_bytes = rest.len().min(READ_BYTES);
        let Some(room) = rest.get_mut(..rest_bytes) else { return false };
        let Ok(Transfer::Moved(count)) = self.program.read(stream, room, now) else { return false };
        let all = self.buffer.get(..held_bytes.saturating_add(count)).unwrap_or_default();
        let chunk = self.recording.hold_back(now, stream, all);
        if !chunk.is_empty()
            && let Kept::At(offset) = self.recording.output(now, stream, chunk)
        {
            self.clients.show(offset, stream, chunk);
            if !self.program.has_pipes() {
                self.questions.see(now, self.recording.head(), self.recording.size(), chunk);
            }
        }
        true
    }

    /// Looks for questions in output that was shown.
    fn see(&mut self, now: u64, output: &[u8]) {
        if !self.program.has_pipes() {
            self.questions.see(now, self.recording.head(), self.recording.size(), output);
        }
    }

    /// Types the answers that are due to what the program asked its terminal.
    fn answer(&mut self, now: u64) {
        let answers = self.questions.take(now);
        if !answers.is_empty() {
            self.inputs.answer(answers);
            self.write_inputs(now);
        }
    }

    fn write_inputs(&mut self, now: u64) {
        let clients = &mut self.clients;
        self.inputs.pump(now, &mut self.program, &mut self.recording, |settled| {
            clients.send(settled.asked_by, &FromShim::Input { id: settled.id, outcome: settled.outcome });
        });
    }

    fn take_signals(&mut self, now: u64) {
        // A descriptor that cannot be read has nothing; children are looked for in any case.
        while let Ok(Some(arrived)) = self.signals.next() {
            if [Signal::TERM.as_raw(), Signal::INT.as_raw()].contains(&arrived.signal) {
                self.stop(now, self.facts.stop_signal, self.facts.grace_ms);
            }
        }
        self.reap();
    }

    /// Reaps every child that ended, and sees whether the program is among them.
    fn reap(&mut self) {
        loop {
            match pidfd::reap_any() {
                Ok(Reaped::Child { pid, status }) => {
                    if pid == self.program.pid() && self.program.status().is_none() {
                        self.program.ended(status);
                        self.begin_ending();
                        continue;
                    }
                    let clients = &mut self.clients;
                    let mut settled = |id, Settled { id: input, asked_by, outcome }| {
                        clients.send(asked_by, &FromShim::CommandInput { id, input, outcome });
                    };
                    let buffer = self.buffer.as_mut_slice();
                    if let Some(id) = self.commands.reaped((pid, status), buffer, &mut settled) {
                        self.tell_command(id, 0, "");
                    }
                }
                Ok(Reaped::NoneReady) | Err(_) => {
                    self.is_childless = false;
                    return;
                }
                Ok(Reaped::NoChildren) => {
                    self.is_childless = true;
                    return;
                }
            }
        }
    }
}
