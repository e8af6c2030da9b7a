//! The loop of an attachment: keys to the node, output to the terminal.
//!
//! Owns one `poll` over the keyboard, the node and the signals, on one thread: nothing stands between a key and its way
//! but this loop. It deliberately interprets nothing: the daemon answers the program's questions, and what the viewer's
//! terminal must not see is taken out by the filter.

mod again;

use std::{io, path::PathBuf, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_client::Notification;
use edgeplane_os::{
    Signal,
    fd::{self, Transfer},
    poll::{self, PollFd, PollFlags},
    signals::SignalFd,
    wait::Deadline,
};
use edgeplane_types::{Epoch, ErrorName};
use edgeplane_wire::{
    api::{stream::DAEMON_ENDS, terminal::AttachResult},
    rpc::{self, RpcError},
};

use self::again::Standing;
use super::{
    link::Link,
    wire::{self, Line},
};
use crate::{
    lasting::{Loss, Pauses},
    lines::Filled,
    node::Parts,
    output::{self, OutputError},
    terminal::{
        filter::{Filter, Viewer},
        keys::DetachKey,
        raw::{RawTerminal, Stage},
    },
    token::Token,
};

/// Bytes of keys read at a time: a paste comes in few pieces.
const KEYS_BYTES: usize = 16 << 10;

/// More bytes at a time than this are no single key: they wait for the node's answer before the next are read.
const HAND_BYTES_MAX: usize = 64;

/// Pause before keys are offered again that the agent had no room for.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// How long the node may take to note that we leave; it notices anyway.
const LEAVE_TIME: Duration = Duration::from_millis(300);

/// A window that is dragged changes its size many times a second; only where it comes to rest counts.
const RESIZE_SETTLES: Duration = Duration::from_millis(40);

/// Once the input from a pipe has ended, how long the output must be quiet before we leave.
const QUIET_AT_END: Duration = Duration::from_millis(500);

/// Why an attachment ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The viewer left.
    Left,
    /// The node ended it, for this reason.
    Over(String),
    /// The node is gone.
    NodeGone,
}

/// What arrives by keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Terminal,
    Pipe,
    Ended,
    /// There is nothing to read keys from, or nobody to give them to.
    Unused,
}

/// Keys that the node has and has not answered for.
#[derive(Debug)]
struct Paste {
    request: i64,
    bytes: Vec<u8>,
    /// When to offer them again, if there was no room.
    retry_due: Option<Deadline>,
}

/// What is wanted of an attachment, at this node and at the one that comes after it.
pub(super) struct Plan {
    pub(super) agent: String,
    pub(super) socket: PathBuf,
    pub(super) token: Option<Token>,
    pub(super) detach_key: DetachKey,
    pub(super) loss: Loss,
    pub(super) is_quiet: bool,
}

/// An attachment that is under way.
pub(super) struct Session {
    plan: Plan,
    id: String,
    link: Link,
    standing: Standing,
    pauses: Pauses,
    /// Whether it was said that the node is gone, and not yet that it is back.
    was_lost: bool,
    epoch: Epoch,
    /// Offset of output after the last byte that was played.
    offset: u64,
    pipes: bool,
    paste: Option<Paste>,
    controls: bool,
    breaks_lines: bool,
    filter: Filter,
    input: Input,
    signals: SignalFd,
    /// The size last told to the node, and when a further one is due.
    size: Option<(u16, u16)>,
    resize_due: Option<Deadline>,
    leave_due: Option<Deadline>,
    // In this order on drop: first what the program switched on, then the terminal's modes.
    stage: Stage,
    _raw: Option<RawTerminal>,
}

impl Session {
    /// Switches the terminal and shows the screen as it is.
    pub(super) fn begin(
        mut parts: Parts,
        attached: &AttachResult,
        stage: Stage,
        plan: Plan,
    ) -> anyhow::Result<Self> {
        let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::WINCH];
        let stdin = io::stdin();
        let is_terminal = rustix::termios::isatty(&stdin);
        let viewer = if attached.control { Viewer::Controls } else { Viewer::Watches };
        let held = std::mem::take(&mut parts.held);
        let mut session = Self {
            plan,
            id: attached.attachment.clone(),
            link: Link::new(parts),
            standing: Standing::Live,
            pauses: Pauses::new(),
            was_lost: false,
            epoch: attached.epoch,
            offset: attached.offset,
            pipes: attached.pipes,
            paste: None,
            controls: attached.control,
            breaks_lines: attached.pipes && is_terminal,
            filter: Filter::new(viewer),
            input: match (is_terminal, attached.control) {
                (true, _) => Input::Terminal,
                (false, true) => Input::Pipe,
                (false, false) => Input::Unused,
            },
            signals: SignalFd::open(&signals)?,
            size: stage.size(),
            resize_due: None,
            leave_due: None,
            stage,
            _raw: if is_terminal { Some(RawTerminal::enter(&stdin)?) } else { None },
        };
        session.play(&STANDARD.decode(&attached.screen)?)?;
        for Notification { method, params } in held {
            session.line(&rpc::notification(&method, params))?;
        }
        Ok(session)
    }

    /// Runs until the viewer leaves, the attachment ends, or the node is gone and is not waited for.
    pub(super) fn run(mut self) -> anyhow::Result<End> {
        let end = self.loop_until_end()?;
        if end == End::Left && self.is_attached() {
            self.leave()?;
        }
        Ok(end)
    }

    fn loop_until_end(&mut self) -> anyhow::Result<End> {
        // Lines may have come together with the answer.
        if let Some(end) = self.lines()? {
            return Ok(end);
        }
        loop {
            let ready = self.wait()?;
            if ready.node
                && let Some(end) = self.node()?
            {
                return Ok(end);
            }
            // The node may be gone since the wait: what comes from a pipe then stays there until it is back.
            if ready.keys
                && self.reads_keys()
                && let Some(end) = self.keys()?
            {
                return Ok(end);
            }
            if ready.signal
                && let Some(end) = self.signal()?
            {
                return Ok(end);
            }
            if self.paste.is_none() && self.leave_due.is_some_and(Deadline::has_passed) {
                return Ok(End::Left);
            }
            if self.resize_due.is_some_and(Deadline::has_passed) {
                self.resize();
            }
            self.look_again()?;
            self.offer_again();
            if self.is_connected()
                && !self.link.write()?
                && let Some(end) = self.lost()
            {
                return Ok(end);
            }
        }
    }

    /// Writes what was typed, and lets the node note that we leave.
    fn leave(&mut self) -> anyhow::Result<()> {
        let request = self.link.number();
        self.link.push(wire::leave(request, &self.id));
        let deadline = Deadline::after(LEAVE_TIME);
        while self.link.write()? && !deadline.has_passed() {
            poll::wait(&mut [PollFd::new(&self.link, self.link.flags())], Some(deadline.remaining()))?;
            if self.link.fill()? == Filled::Ended {
                return Ok(());
            }
            let mut incoming = self.link.take_incoming();
            while let Some(line) = incoming.line() {
                if matches!(wire::read(line, &self.id), Ok(Line::Answer(answered, _)) if answered == request)
                {
                    return Ok(());
                }
            }
            self.link.give_back(incoming);
        }
        Ok(())
    }

    fn wait(&self) -> anyhow::Result<Ready> {
        let stdin = io::stdin();
        // Nothing is wanted of a connection that is over, or of a keyboard whose keys nobody has room for.
        let node = if self.is_connected() { self.link.flags() } else { PollFlags::empty() };
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if self.reads_keys() {
            fds.push(PollFd::new(&stdin, PollFlags::IN));
        }
        if !node.is_empty() {
            fds.push(PollFd::new(&self.link, node));
        }
        let retry_due = self.paste.as_ref().and_then(|paste| paste.retry_due);
        let due = [self.resize_due, self.leave_due, retry_due, self.again_due()].into_iter().flatten().min();
        poll::wait(&mut fds, due.map(Deadline::remaining))?;
        let is_ready =
            |index: usize, flags: PollFlags| fds.get(index).is_some_and(|fd| fd.revents().intersects(flags));
        let any = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let node_at = if self.reads_keys() { 2 } else { 1 };
        Ok(Ready {
            signal: is_ready(0, any),
            keys: self.reads_keys() && is_ready(1, any),
            node: is_ready(node_at, any),
        })
    }

    /// Whether keys are looked at. Who waits for the node at a terminal may still leave; what comes from a pipe waits too.
    fn reads_keys(&self) -> bool {
        let has_room = self.link.has_room() && self.paste.is_none();
        match self.input {
            Input::Terminal => has_room || !self.is_attached(),
            Input::Pipe => has_room && self.is_attached(),
            Input::Ended | Input::Unused => false,
        }
    }

    fn node(&mut self) -> anyhow::Result<Option<End>> {
        loop {
            match self.link.fill()? {
                Filled::Some => {}
                Filled::NotReady => return Ok(None),
                Filled::Ended => return Ok(self.lost()),
            }
            if self.leave_due.is_some() {
                self.leave_due = Some(Deadline::after(QUIET_AT_END));
            }
            if let Some(end) = self.lines()? {
                return Ok(Some(end));
            }
            if self.input == Input::Terminal || !self.is_connected() {
                // Keys are looked at between any two pieces of output, so that nothing delays the one that leaves.
                return Ok(None);
            }
        }
    }

    /// Deals with every whole line that is there.
    fn lines(&mut self) -> anyhow::Result<Option<End>> {
        let mut incoming = self.link.take_incoming();
        let mut end = None;
        while let Some(line) = incoming.line() {
            end = self.line(line)?;
            if end.is_some() {
                break;
            }
        }
        self.link.give_back(incoming);
        Ok(end)
    }

    fn line(&mut self, line: &[u8]) -> anyhow::Result<Option<End>> {
        match wire::read(line, &self.id)? {
            Line::Output { offset, bytes, is_whole_screen } => {
                if is_whole_screen {
                    self.resynchronised(offset, &bytes)?;
                } else {
                    self.live(offset, &bytes)?;
                }
                Ok(None)
            }
            Line::State(state) => {
                let reason = state.reason.unwrap_or_else(|| "no reason given".to_owned());
                match state.state.as_str() {
                    "ended" if reason == DAEMON_ENDS => return Ok(self.lost()),
                    "ended" => return Ok(Some(End::Over(reason))),
                    "live" | "resynchronised" => {}
                    // Such as the loss of control.
                    _ => {
                        self.controls = false;
                        output::complain_dimly(&format!("[{}: {reason}]\r", state.state));
                    }
                }
                Ok(None)
            }
            Line::Answer(request, outcome) => self.heard(request, outcome),
            Line::Other => Ok(None),
        }
    }

    /// Keys that were pasted have been taken, or are to be offered again.
    fn answered(&mut self, request: i64, outcome: Result<(), RpcError>) {
        let Some(paste) = self.paste.as_mut().filter(|paste| paste.request == request) else { return };
        match outcome {
            Err(error) if error.name() == ErrorName::Backpressure => {
                paste.retry_due = Some(Deadline::after(RETRY_AFTER));
            }
            Err(error) => {
                self.paste = None;
                output::complain_dimly(&format!("[not typed: {error}]\r"));
            }
            Ok(()) => self.paste = None,
        }
    }

    fn offer_again(&mut self) {
        if !self.is_attached() {
            return;
        }
        let Some(paste) = &mut self.paste else { return };
        if paste.retry_due.is_some_and(Deadline::has_passed) {
            paste.retry_due = None;
            paste.request = self.link.number();
            self.link.push(wire::paste(paste.request, &self.id, &paste.bytes));
        }
    }

    fn play(&mut self, bytes: &[u8]) -> Result<(), OutputError> {
        let mut out = Vec::with_capacity(bytes.len());
        if self.breaks_lines {
            // A terminal in raw mode does not do it, and no terminal of the program's did.
            let lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
            self.filter.feed(&lines.join(b"\r\n".as_slice()), &mut out);
        } else {
            self.filter.feed(bytes, &mut out);
        }
        Ok(self.stage.play(&out)?)
    }

    fn keys(&mut self) -> anyhow::Result<Option<End>> {
        let mut buffer = [0; KEYS_BYTES];
        let count = match fd::read(io::stdin(), &mut buffer)? {
            Transfer::Moved(count) => count,
            Transfer::WouldBlock => return Ok(None),
            Transfer::Ended if self.input == Input::Terminal => return Ok(Some(End::Left)),
            Transfer::Ended => {
                self.input = Input::Ended;
                self.leave_due = Some(Deadline::after(QUIET_AT_END));
                return Ok(None);
            }
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        let leaves_at = self.plan.detach_key.find(bytes);
        let meant = leaves_at.and_then(|at| bytes.get(..at)).unwrap_or(bytes);
        let types = self.controls && self.is_attached();
        if types && !meant.is_empty() {
            self.type_keys(meant);
        }
        // Who only watches, or waits for the node, has no other use for these keys.
        let leaves = leaves_at.is_some()
            || (!types && bytes.contains(&0x03))
            || (!self.controls && bytes.contains(&b'q'));
        Ok(leaves.then_some(End::Left))
    }

    fn type_keys(&mut self, bytes: &[u8]) {
        if bytes.len() <= HAND_BYTES_MAX {
            return self.link.push(wire::keys(&self.id, bytes));
        }
        let request = self.link.number();
        self.link.push(wire::paste(request, &self.id, bytes));
        self.paste = Some(Paste { request, bytes: bytes.to_vec(), retry_due: None });
    }

    fn signal(&mut self) -> anyhow::Result<Option<End>> {
        while let Some(arrived) = self.signals.next()? {
            if arrived.signal != Signal::WINCH.as_raw() {
                return Ok(Some(End::Left));
            }
            if self.controls {
                self.resize_due = Some(Deadline::after(RESIZE_SETTLES));
            }
        }
        Ok(None)
    }

    fn resize(&mut self) {
        self.resize_due = None;
        let size = self.stage.size();
        if let Some(now) = size.filter(|_| self.controls && size != self.size) {
            self.size = size;
            self.link.push(wire::size(&self.id, now));
        }
    }
}

/// What a wait found.
struct Ready {
    node: bool,
    keys: bool,
    signal: bool,
}
