//! One turn: the process that works on it, and what becomes of its end.

use std::{ffi::OsStr, io::Write as _, time::Duration};

use edgeplane_driver::exec::{self, Piece, Plan, PromptBy, Reader, TurnEnd, Way};
use edgeplane_os::{Entropy as _, SystemEntropy, signals::Signal};
use edgeplane_types::{Traceparent, life::ExitStatus};
use serde_json::Value;

use crate::{
    chain,
    process::{Process, Stream},
};

/// The last bytes of standard error that are told when a turn fails.
const TAIL_BYTES_MAX: usize = 4 << 10;

/// The last bytes of standard error in which words are looked for.
const LOOKED_THROUGH_BYTES_MAX: usize = 64 << 10;

/// How long a process may take to end after it was interrupted. Shorter than the node waits for the end of a turn.
const INTERRUPT_TIME_MAX: Duration = Duration::from_secs(10);

/// The number of JSON-RPC for what could not be done.
const INTERNAL: i64 = -32_603;

/// What the node asks for.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) id: Value,
    pub(crate) former: Option<String>,
    pub(crate) texts: Vec<String>,
    /// The trace that it belongs to.
    pub(crate) trace: Option<Traceparent>,
}

/// A turn that runs.
#[derive(Debug)]
pub(crate) struct Turn {
    prompt: Prompt,
    pub(crate) process: Process,
    reader: Reader,
    /// The end of its standard error.
    tail: Vec<u8>,
    way: Way,
    /// The name that was made for a new session.
    fresh: String,
    /// Why the former session is not gone on with.
    lost: Option<String>,
    left: Duration,
    /// Why it was asked to end, and for how long that may go on.
    ending: Option<(&'static str, Duration)>,
}

/// What follows from the end of a process.
#[derive(Debug)]
pub(crate) enum After {
    /// The turn is over.
    Over,
    /// It goes on with another process.
    Again(Box<Turn>),
}

impl Turn {
    /// Starts a turn; where that fails it is over at once, and the node told.
    pub(crate) fn start(plan: &Plan, path: &OsStr, prompt: Prompt) -> Option<Self> {
        Self::start_in(plan, path, prompt, None)
    }

    fn start_in(plan: &Plan, path: &OsStr, prompt: Prompt, lost: Option<String>) -> Option<Self> {
        let former = prompt.former.as_deref().filter(|_| lost.is_none() && plan.resume.is_some());
        let way = if former.is_some() { Way::Former } else { Way::New };
        // What comes before the message is for a session that knows nothing yet.
        let text = match (way, prompt.texts.split_last()) {
            (Way::Former, Some((last, _))) => last.clone(),
            _ => prompt.texts.join("\n\n"),
        };
        let fresh = fresh_name();
        let command = plan.command(former, &fresh, &text);
        let input = (plan.prompt == PromptBy::Stdin).then_some(text);
        match Process::start(&command, path, input, prompt.trace) {
            Ok(process) => Some(Self {
                prompt,
                process,
                reader: Reader::new(plan),
                tail: Vec::new(),
                way,
                fresh,
                lost,
                left: Duration::from_millis(plan.timeout_ms),
                ending: None,
            }),
            Err(error) => {
                send(&exec::failed(&prompt.id, INTERNAL, &chain(&error)));
                None
            }
        }
    }

    /// How long it may be waited for something to happen.
    pub(crate) fn patience(&self) -> Duration {
        match self.ending {
            // It was ended by force, and its end will show.
            Some((_, Duration::ZERO)) => Duration::MAX,
            Some((_, left)) => left,
            None => self.left,
        }
    }

    /// Time passes in which this process runs. What is frozen does not grow old.
    pub(crate) fn passes(&mut self, time: Duration) {
        match &mut self.ending {
            Some((_, left)) => {
                let was = std::mem::replace(left, left.saturating_sub(time));
                if left.is_zero() && !was.is_zero() {
                    self.process.signal(Signal::KILL);
                }
            }
            None => {
                self.left = self.left.saturating_sub(time);
                if self.left.is_zero() {
                    self.end_for("timeout");
                }
            }
        }
    }

    /// Asks for its end.
    pub(crate) fn end_for(&mut self, reason: &'static str) {
        if self.ending.is_none() {
            self.ending = Some((reason, INTERRUPT_TIME_MAX));
            self.process.signal(Signal::INT);
        }
    }

    /// Takes in what its process has written.
    pub(crate) fn takes(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out => {
                let pieces = self.reader.feed(bytes);
                self.tell(pieces);
            }
            Stream::Err => {
                log(bytes);
                self.tail.extend_from_slice(bytes);
                let excess = self.tail.len().saturating_sub(LOOKED_THROUGH_BYTES_MAX);
                self.tail.drain(..excess);
            }
        }
    }

    fn tell(&self, pieces: Vec<Piece>) {
        for piece in pieces {
            match &piece {
                Piece::Session(name) => send(&exec::session_is(name, self.way, self.lost.as_deref())),
                Piece::Log(bytes) => {
                    log(bytes);
                    log(b"\n");
                }
                _ => drop(exec::piece(&piece).map(|line| send(&line))),
            }
        }
    }

    /// Its process has ended.
    pub(crate) fn over(mut self, plan: &Plan, path: &OsStr) -> After {
        for stream in [Stream::Out, Stream::Err] {
            let bytes = self.process.drain(stream);
            self.takes(stream, &bytes);
        }
        if self.ending.is_some() {
            // Whoever was interrupted with it and did not care.
            self.process.signal(Signal::KILL);
        }
        let status = self.process.reap();
        if let Some(why) = self.is_lost(plan, status) {
            return match Self::start_in(plan, path, self.prompt, Some(why)) {
                Some(turn) => After::Again(Box::new(turn)),
                None => After::Over,
            };
        }
        let reader = std::mem::replace(&mut self.reader, Reader::new(plan));
        let (pieces, end) = reader.finish();
        self.tell(pieces);
        let is_well = status == ExitStatus::Code(0) && end.failure.is_none();
        if plan.names_sessions() && (is_well || self.ending.is_some()) {
            let name =
                self.prompt.former.as_deref().filter(|_| self.way == Way::Former).unwrap_or(&self.fresh);
            send(&exec::session_is(name, self.way, self.lost.as_deref()));
        }
        self.answer(is_well, status, &end);
        After::Over
    }

    fn answer(&self, is_well: bool, status: ExitStatus, end: &TurnEnd) {
        let id = &self.prompt.id;
        if is_well && self.ending.is_none() {
            return send(&exec::answered(id, "end_turn", end));
        }
        let tail = self.tail.get(self.tail.len().saturating_sub(TAIL_BYTES_MAX)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail);
        if !tail.trim().is_empty() {
            send(&exec::report("stderr", tail.trim()));
        }
        match self.ending {
            Some((reason, _)) => send(&exec::answered(id, reason, end)),
            None => {
                let how = match status {
                    ExitStatus::Code(code) => format!("its process ended with code {code}"),
                    ExitStatus::Signal(signal) => format!("its process was ended by signal {signal}"),
                    ExitStatus::Unknown => "how its process ended is not known".to_owned(),
                };
                let why = end.failure.as_ref().map_or_else(|| how.clone(), |said| format!("{how}: {said}"));
                send(&exec::failed(id, INTERNAL, &why));
            }
        }
    }

    /// Whether the program says that it does not know the session that it was told. It has then done nothing.
    fn is_lost(&self, plan: &Plan, status: ExitStatus) -> Option<String> {
        let words = plan.lost.as_ref().filter(|_| self.way == Way::Former && self.ending.is_none())?;
        if status == ExitStatus::Code(0) || self.reader.said_anything() {
            return None;
        }
        let texts = [self.tail.as_slice(), self.reader.head()].map(String::from_utf8_lossy);
        let line = texts.iter().flat_map(|text| text.lines()).find(|line| line.contains(words.as_str()))?;
        let end = line.floor_char_boundary(TAIL_BYTES_MAX);
        Some(line.get(..end).unwrap_or_default().trim().to_owned())
    }
}

/// A name for a session, as programs want them: a UUID.
fn fresh_name() -> String {
    let mut random = [0; 16];
    SystemEntropy.fill(&mut random);
    uuid::Builder::from_random_bytes(random).into_uuid().as_hyphenated().to_string()
}

/// Says a line to the node.
pub(crate) fn send(line: &[u8]) {
    let mut out = std::io::stdout().lock();
    // Without a reader the shim is gone, and this process goes with it.
    drop(out.write_all(line).and_then(|()| out.flush()));
}

/// Passes on what belongs into the log.
fn log(bytes: &[u8]) {
    // As for the lines.
    drop(std::io::stderr().write_all(bytes));
}
