//! Frames between a daemon and a shim.
//!
//! A frame is a length of four bytes (little-endian, of what follows), a type byte and a payload. Types below
//! 0x80 go to the shim, the others come from it. The layout is frozen: a daemon of today speaks to shims two
//! releases back, so fields are only ever added at the end of a payload, behind a higher version.

use crate::bytes::{DecodeError, Reader};

/// Versions that this code speaks, lowest and highest.
pub const VERSIONS: (u16, u16) = (1, OUTPUT_KEPT_SINCE);

/// The version since which a shim runs commands beside its program.
pub const COMMANDS_SINCE: u16 = 2;

/// The version since which a shim writes to commands.
pub const COMMAND_INPUT_SINCE: u16 = 3;

/// The version since which a shim keeps more of a command's output than its program is shown.
pub const OUTPUT_KEPT_SINCE: u16 = 4;

/// First bytes of every conversation.
pub const MAGIC: [u8; 4] = *b"EPSH";

/// Longest payload in bytes: one message of 16 MiB and its head.
pub const FRAME_BYTES_MAX: usize = (16 << 20) + 64;

/// Longest input of one frame in bytes.
pub const INPUT_BYTES_MAX: usize = 16 << 20;

/// Input ids that a shim remembers after it wrote them.
pub const REMEMBERED_INPUTS: usize = 256;

/// Which of a program's outputs bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output, or the terminal.
    Out,
    /// Standard error of a program on pipes.
    Err,
}

/// What a client may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Read.
    Observe,
    /// Read, write, signal, resize, stop.
    Control,
}

/// Whom a signal goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalScope {
    /// The program's process.
    Program,
    /// The foreground process group of its terminal; the program's group on pipes.
    Foreground,
}

/// What the input is, for the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A message of the node: its id is marked in the recording.
    Message,
    /// Keys of a controller, or a reply of the terminal model.
    Keys,
}

/// What a client says to a shim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToShim<'a> {
    /// Opens the conversation.
    Hello {
        /// Lowest version that the client speaks.
        version_min: u16,
        /// Highest version that the client speaks.
        version_max: u16,
        /// The epoch's key.
        key: [u8; 32],
        /// What the client wants to do.
        role: Role,
    },
    /// Asks for output from now on; what came before is in the recording.
    Subscribe,
    /// Writes to the program, once per id.
    Input {
        /// The message's id, or one of the sender's making.
        id: [u8; 16],
        /// What it is.
        kind: InputKind,
        /// What to write.
        bytes: &'a [u8],
    },
    /// Changes the terminal's size.
    Resize {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
    },
    /// Sends a signal.
    Signal {
        /// Its number.
        signal: i32,
        /// To whom.
        scope: SignalScope,
    },
    /// Asks for the state.
    Status,
    /// Makes the recording durable.
    Sync,
    /// Ends the program's input.
    CloseInput,
    /// Asks what became of an input.
    InputState {
        /// Its id.
        id: [u8; 16],
    },
    /// Ends the program with its stop signal, and its whole tree after the grace.
    Stop {
        /// Grace in milliseconds.
        grace_ms: u64,
        /// The signal.
        signal: i32,
    },
    /// Ends the whole tree now.
    Kill,
    /// Runs a command beside the program, once per id. Since version 2.
    Run {
        /// The command's id.
        id: [u8; 16],
        /// An encoded [`crate::command::CommandSpec`].
        spec: &'a [u8],
    },
    /// Ends a command and what came from it. Since version 2.
    EndCommand {
        /// Its id.
        id: [u8; 16],
    },
    /// Writes to a command, once per id of the input. Since version 3.
    CommandInput {
        /// The command's id.
        id: [u8; 16],
        /// The input's id.
        input: [u8; 16],
        /// Whether nothing comes after it.
        closes: bool,
        /// What to write.
        bytes: &'a [u8],
    },
    /// Launches the program. Only on the descriptor that the shim was born with, and only once.
    Launch {
        /// An encoded [`crate::spec::LaunchSpec`].
        spec: &'a [u8],
    },
}

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputOutcome {
    /// Every byte was written.
    Written,
    /// It had been written before; nothing was written now.
    Duplicate,
    /// Waiting or partly written.
    Queued,
    /// Never seen, or longer ago than the shim remembers.
    Unknown,
    /// A line too long for the terminal's line discipline; nothing was written.
    LineTooLong,
    /// The program no longer reads; nothing, or not all, was written.
    Closed,
    /// The queue is full; nothing was written.
    Full,
}

/// Where the epoch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochState {
    /// No program yet.
    Born,
    /// The program runs.
    Running,
    /// Asked to end.
    Stopping,
    /// Ended, its output drained and recorded.
    Exited,
}

/// Everything a new client must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The epoch.
    pub epoch: u64,
    /// Where it stands.
    pub state: EpochState,
    /// The shim's pid.
    pub shim_pid: u32,
    /// The shim's start time in clock ticks since boot.
    pub shim_start: u64,
    /// The program's pid, zero before it runs.
    pub pid: u32,
    /// The program's start time in clock ticks since boot.
    pub start: u64,
    /// Bytes of output so far: the next byte's offset.
    pub head: u64,
    /// Bytes of output that are on stable storage.
    pub synced: u64,
    /// The segment being written, from 1.
    pub segment: u32,
    /// Columns of the terminal, zero on pipes.
    pub cols: u16,
    /// Rows of the terminal, zero on pipes.
    pub rows: u16,
}

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Exit code or signal number.
    pub value: i32,
    /// Whether `value` is a signal.
    pub signaled: bool,
    /// All bytes of output.
    pub output_bytes: u64,
    /// Whether the cgroup was read empty; else the shim, as reaper, had no descendant left.
    pub cgroup_empty: bool,
    /// Whether nothing at all is left of the tree, as far as the shim can know.
    pub tree_empty: bool,
    /// Microseconds since 1970 when the end was seen.
    pub ended_at: i64,
    /// Milliseconds that the program ran.
    pub ran_ms: u64,
}

impl Exit {
    /// Bytes of an encoded exit.
    pub const BYTES: usize = 32;

    /// The form that stands in the exit record and in the frame.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let flags =
            u8::from(self.signaled) | u8::from(self.cgroup_empty) << 1 | u8::from(self.tree_empty) << 2;
        let mut out = [0; Self::BYTES];
        let (value, rest) = out.split_at_mut(4);
        let (flag_bytes, rest) = rest.split_at_mut(4);
        let (output, rest) = rest.split_at_mut(8);
        let (ended, ran) = rest.split_at_mut(8);
        value.copy_from_slice(&self.value.to_le_bytes());
        flag_bytes.copy_from_slice(&[flags, 0, 0, 0]);
        output.copy_from_slice(&self.output_bytes.to_le_bytes());
        ended.copy_from_slice(&self.ended_at.to_le_bytes());
        ran.copy_from_slice(&self.ran_ms.to_le_bytes());
        out
    }

    /// Reads an encoded exit.
    ///
    /// # Errors
    /// If the bytes are not one.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let value = reader.i32()?;
        let [flags, 0, 0, 0] = reader.array()? else { return Err(DecodeError::Value) };
        let exit = Self {
            value,
            signaled: flags & 1 != 0,
            cgroup_empty: flags & 2 != 0,
            tree_empty: flags & 4 != 0,
            output_bytes: reader.u64()?,
            ended_at: i64::from_le_bytes(reader.array()?),
            ran_ms: reader.u64()?,
        };
        reader.end()?;
        Ok(exit)
    }
}

/// Which part of a launch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchStep {
    /// Reading the launch specification.
    Spec,
    /// Preparing the epoch's folder, recording or socket.
    Prepare,
    /// Opening the terminal or pipes.
    Terminal,
    /// Entering the cgroup or applying a limit.
    Containment,
    /// Starting the program.
    Program,
}

/// What a shim says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromShim<'a> {
    /// Accepts a client.
    Hello {
        /// The version to speak from here on.
        version: u16,
        /// Where the epoch stands.
        status: Status,
    },
    /// Answers a subscription: live output follows from here.
    Subscribed {
        /// The next byte's offset.
        head: u64,
    },
    /// Output, appended to the recording before it was sent.
    Output {
        /// Offset of the first byte.
        offset: u64,
        /// Where it came from.
        stream: OutputStream,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// The client was too slow: this range is in the recording only. Live output goes on after it.
    Lagged {
        /// First offset that was not sent.
        from: u64,
        /// Offset after the last one that was not sent.
        to: u64,
    },
    /// What became of an input.
    Input {
        /// Its id.
        id: [u8; 16],
        /// The outcome.
        outcome: InputOutcome,
    },
    /// The program ended.
    Exited(Exit),
    /// The recording is durable up to here.
    Synced {
        /// Offset after the last durable byte.
        offset: u64,
    },
    /// A segment is complete.
    Sealed {
        /// Its number.
        segment: u32,
        /// Offset of its first byte of output.
        from: u64,
        /// Offset after its last.
        to: u64,
    },
    /// Output could not be recorded.
    Gap {
        /// First offset that is missing.
        from: u64,
        /// Offset after the last one that is missing.
        to: u64,
        /// The system's error number.
        errno: i32,
    },
    /// Where the epoch stands.
    Status(Status),
    /// The program runs.
    Started(Status),
    /// The program could not be run; the shim ends.
    LaunchFailed {
        /// Which part failed.
        step: LaunchStep,
        /// The system's error number, zero if none.
        errno: i32,
        /// What to tell a person, in UTF-8.
        text: &'a [u8],
    },
    /// The client's last frame was refused, and the conversation ends.
    Refused {
        /// What to tell a person, in UTF-8.
        text: &'a [u8],
    },
    /// A command has ended, or there is none. Since version 2.
    Command {
        /// Its id.
        id: [u8; 16],
        /// The system's error number if it could not be run, zero else.
        errno: i32,
        /// Why it could not be run, in UTF-8; empty if it ran.
        text: &'a [u8],
    },
    /// What became of an input of a command. Since version 3.
    CommandInput {
        /// The command's id.
        id: [u8; 16],
        /// The input's id.
        input: [u8; 16],
        /// The outcome.
        outcome: InputOutcome,
    },
}

mod codec;

/// The body of the first whole frame in `buffer` and the bytes it takes, or `None` if there is no whole one yet.
///
/// # Errors
/// `Limit` if the frame announces more than [`FRAME_BYTES_MAX`].
pub fn split_frame(buffer: &[u8]) -> Result<Option<(&[u8], usize)>, DecodeError> {
    let Some((head, rest)) = buffer.split_first_chunk::<4>() else { return Ok(None) };
    let len = usize::try_from(u32::from_le_bytes(*head)).map_err(|_beyond| DecodeError::Limit)?;
    if len == 0 || len > FRAME_BYTES_MAX {
        return Err(DecodeError::Limit);
    }
    Ok(rest.get(..len).map(|body| (body, len.saturating_add(4))))
}

#[cfg(test)]
#[path = "shim/tests.rs"]
mod tests;
