//! What the poll is asked, and what it answered.

use edgeplane_os::poll::{PollFd, PollFlags};

use super::Engine;
use crate::client::{Client, Token};

/// What is ready.
#[derive(Debug, Default)]
pub(super) struct Ready {
    pub(super) signals: bool,
    pub(super) listener: bool,
    /// Standard output or the terminal; standard error.
    pub(super) outputs: [bool; 2],
    pub(super) input: bool,
    pub(super) clients: Vec<ReadyClient>,
    /// Commands that have said something.
    pub(super) commands: Vec<[u8; 16]>,
    /// Commands that may be written to.
    pub(super) command_inputs: Vec<[u8; 16]>,
}

/// A connection that is ready.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadyClient {
    pub(super) token: Token,
    pub(super) has_sent: bool,
    pub(super) may_send: bool,
}

/// The descriptors to wait for, in the order in which [`Ready::read`] takes the answers.
pub(super) fn poll_list(engine: &Engine) -> Vec<PollFd<'_>> {
    let mut list = Vec::with_capacity(16);
    list.push(PollFd::new(&engine.signals, PollFlags::IN));
    list.push(PollFd::new(&engine.listener, PollFlags::IN));
    if !engine.recording.is_waiting() {
        for (_stream, fd) in engine.program.outputs().into_iter().flatten() {
            list.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
    }
    if let Some(fd) = engine.program.input().filter(|_fd| engine.inputs.is_waiting()) {
        list.push(PollFd::from_borrowed_fd(fd, PollFlags::OUT));
    }
    for client in engine.clients.iter() {
        let out = if client.wants_to_send() { PollFlags::OUT } else { PollFlags::empty() };
        list.push(PollFd::new(client.stream(), PollFlags::IN | out));
    }
    for (_id, fd) in engine.commands.outputs() {
        list.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
    }
    for (_id, fd) in engine.commands.inputs() {
        list.push(PollFd::from_borrowed_fd(fd, PollFlags::OUT));
    }
    if let Some(fd) = engine.tree.emptiness_events().filter(|_fd| engine.phase.awaits_emptiness()) {
        list.push(PollFd::from_borrowed_fd(fd, PollFlags::PRI));
    }
    list
}

impl Ready {
    /// Takes the answers.
    pub(super) fn read(engine: &Engine, list: &[PollFd<'_>]) -> Self {
        let mut answers = list.iter().map(PollFd::revents);
        let mut next = || answers.next().unwrap_or(PollFlags::empty());
        let mut ready = Self { signals: !next().is_empty(), listener: !next().is_empty(), ..Self::default() };
        if !engine.recording.is_waiting() {
            for (slot, output) in ready.outputs.iter_mut().zip(engine.program.outputs()) {
                *slot = output.is_some() && !next().is_empty();
            }
        }
        if engine.inputs.is_waiting() && engine.program.input().is_some() {
            ready.input = !next().is_empty();
        }
        for client in engine.clients.iter() {
            let answer = next();
            if !answer.is_empty() {
                ready.clients.push(ReadyClient::new(client, answer));
            }
        }
        for (id, _fd) in engine.commands.outputs() {
            if !next().is_empty() {
                ready.commands.push(id);
            }
        }
        for (id, _fd) in engine.commands.inputs() {
            if !next().is_empty() {
                ready.command_inputs.push(id);
            }
        }
        ready
    }

    /// As if everything were ready.
    pub(super) fn everything(engine: &Engine) -> Self {
        let all = PollFlags::IN | PollFlags::OUT;
        let clients = engine.clients.iter().map(|client| ReadyClient::new(client, all)).collect();
        let commands = engine.commands.outputs().map(|(id, _fd)| id).collect();
        let command_inputs = engine.commands.inputs().map(|(id, _fd)| id).collect();
        let (signals, listener, input) = (true, true, true);
        Self { signals, listener, outputs: [true; 2], input, clients, commands, command_inputs }
    }
}

impl ReadyClient {
    fn new(client: &Client, answer: PollFlags) -> Self {
        Self {
            token: client.token,
            // An end or an error is found by reading.
            has_sent: answer.intersects(!PollFlags::OUT),
            may_send: answer.contains(PollFlags::OUT),
        }
    }
}
