//! Commands that a shim runs beside its program: what it is told of one, and the file in which one is known.
//!
//! The file is all that there is to know of a command: what became of it and the end of its output. The shim writes it,
//! and whoever wants to know reads it, also when the shim or the daemon that asked is gone. It holds a head and behind
//! it the last bytes of output as a ring.

use edgeplane_types::life::ExitStatus;

use crate::{
    bytes::{DecodeError, Reader, put_block},
    spec::{self, SPEC_BYTES_MAX},
};

/// The folder of the files, in the epoch's.
pub const FOLDER: &str = "commands";

/// Commands that may run at a time in one epoch.
pub const RUNNING_MAX: usize = 64;

/// Most bytes of output that a program is shown of a command.
pub const OUTPUT_BYTES_MAX: u64 = 2 << 20;

/// Most bytes of output that are kept of a command. Shims before [`OUTPUT_KEPT_SINCE`] keep what the program is shown.
///
/// [`OUTPUT_KEPT_SINCE`]: crate::shim::OUTPUT_KEPT_SINCE
pub const KEPT_BYTES_MAX: u64 = 8 << 20;

/// Room in the ring beyond what is kept: what is read while more is written is not yet overwritten.
pub const SLACK_BYTES: u64 = 256 << 10;

const MAGIC: [u8; 8] = *b"EPCMD\0\0\x01";

/// Most bytes of one input of a command.
pub const COMMAND_INPUT_BYTES_MAX: usize = 256 << 10;

/// The form of a specification that every shim with commands knows.
const FORMAT: u16 = 1;

/// The form with what comes behind it: whether there is an input. Only for shims that write to commands.
const FORMAT_WITH_INPUT: u16 = 2;

/// What a shim is told of a command. As whom it runs, and with which limits, is what holds for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program's path, or a name to be found on the `PATH` of `env`.
    pub program: Vec<u8>,
    /// Its arguments, its own name first.
    pub argv: Vec<Vec<u8>>,
    /// Its whole environment, `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// Its folder.
    pub cwd: Vec<u8>,
    /// Bytes of output that are kept: the last ones.
    pub output_bytes_max: u64,
    /// Whether it can be written to; its input is empty else.
    pub has_input: bool,
}

impl CommandSpec {
    /// The specification as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4096);
        let format = if self.has_input { FORMAT_WITH_INPUT } else { FORMAT };
        out.extend_from_slice(&format.to_le_bytes());
        put_block(&mut out, &self.program);
        spec::put_list(&mut out, &self.argv);
        spec::put_list(&mut out, &self.env);
        put_block(&mut out, &self.cwd);
        out.extend_from_slice(&self.output_bytes_max.to_le_bytes());
        if self.has_input {
            out.push(1);
        }
        out
    }

    /// Reads a specification.
    ///
    /// # Errors
    /// If the bytes are not one, or of a format that this shim does not know.
    pub fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        if encoded.len() > SPEC_BYTES_MAX {
            return Err(DecodeError::Limit);
        }
        let mut reader = Reader::new(encoded);
        let r = &mut reader;
        let format = r.u16()?;
        if ![FORMAT, FORMAT_WITH_INPUT].contains(&format) {
            return Err(DecodeError::Value);
        }
        let mut command = Self {
            program: spec::bytes(r)?,
            argv: spec::list(r)?,
            env: spec::list(r)?,
            cwd: spec::bytes(r)?,
            output_bytes_max: r.u64()?,
            has_input: false,
        };
        if format == FORMAT_WITH_INPUT {
            command.has_input = match r.u8()? {
                1 => true,
                _ => return Err(DecodeError::Value),
            };
        }
        if command.output_bytes_max > KEPT_BYTES_MAX {
            return Err(DecodeError::Limit);
        }
        reader.end()?;
        Ok(command)
    }
}

/// What became of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandState {
    /// It runs, or ran when its shim was killed.
    Running,
    /// It ended.
    Ended(ExitStatus),
    /// It could not be run; why stands in place of its output.
    Failed,
}

/// The head of a command's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the ring behind the head.
    pub capacity: u64,
    /// Bytes of output that were written, or are being written in this moment.
    pub reserved: u64,
    /// Bytes of output that were written, counted from the first.
    pub committed: u64,
    /// Bytes of output for which there was no space on the disk.
    pub missing: u64,
    /// What became of it.
    pub state: CommandState,
    /// Microseconds since 1970 when it began.
    pub started_at: i64,
    /// Microseconds since 1970 when its end was seen, zero before.
    pub ended_at: i64,
    /// Its pid, zero if it never ran.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start: u64,
}

impl Head {
    /// Bytes of an encoded head, behind which the ring begins.
    pub const BYTES: usize = 80;

    /// The head of a command that begins now.
    #[must_use]
    pub fn begin(output_bytes_max: u64, started_at: i64) -> Self {
        Self {
            capacity: output_bytes_max.min(KEPT_BYTES_MAX).saturating_add(SLACK_BYTES),
            reserved: 0,
            committed: 0,
            missing: 0,
            state: CommandState::Running,
            started_at,
            ended_at: 0,
            pid: 0,
            start: 0,
        }
    }

    /// The form that stands in the file.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let (state, value) = match self.state {
            CommandState::Running => (1_u32, 0),
            CommandState::Ended(ExitStatus::Code(code)) => (2, code),
            CommandState::Ended(ExitStatus::Signal(signal)) => (3, signal),
            CommandState::Ended(ExitStatus::Unknown) => (4, 0),
            CommandState::Failed => (5, 0),
        };
        let mut out = Vec::with_capacity(Self::BYTES);
        out.extend_from_slice(&MAGIC);
        for number in [self.capacity, self.reserved, self.committed, self.missing] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&state.to_le_bytes());
        out.extend_from_slice(&value.to_le_bytes());
        out.extend_from_slice(&self.started_at.to_le_bytes());
        out.extend_from_slice(&self.ended_at.to_le_bytes());
        out.extend_from_slice(&u64::from(self.pid).to_le_bytes());
        out.extend_from_slice(&self.start.to_le_bytes());
        out.try_into().unwrap_or([0; Self::BYTES])
    }

    /// Reads a head.
    ///
    /// # Errors
    /// If the bytes are not one.
    pub fn decode(encoded: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(encoded);
        let r = &mut reader;
        if r.array::<8>()? != MAGIC {
            return Err(DecodeError::Value);
        }
        let (capacity, reserved, committed, missing) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?);
        let (state, value) = (r.u32()?, r.i32()?);
        let state = match state {
            1 => CommandState::Running,
            2 => CommandState::Ended(ExitStatus::Code(value)),
            3 => CommandState::Ended(ExitStatus::Signal(value)),
            4 => CommandState::Ended(ExitStatus::Unknown),
            5 => CommandState::Failed,
            _ => return Err(DecodeError::Value),
        };
        let (started_at, ended_at) = (i64::from_le_bytes(r.array()?), i64::from_le_bytes(r.array()?));
        let pid = u32::try_from(r.u64()?).map_err(|_beyond| DecodeError::Value)?;
        let head = Self {
            capacity,
            reserved,
            committed,
            missing,
            state,
            started_at,
            ended_at,
            pid,
            start: r.u64()?,
        };
        reader.end()?;
        let is_sound = capacity >= SLACK_BYTES
            && capacity <= KEPT_BYTES_MAX.saturating_add(SLACK_BYTES)
            && committed <= reserved;
        if is_sound { Ok(head) } else { Err(DecodeError::Limit) }
    }
}

/// The name of a command's file.
#[must_use]
pub fn file_name(id: &[u8; 16]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS.get(usize::from(value & 0xf)).copied().map_or('0', char::from);
    id.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The command whose file this is.
#[must_use]
pub fn id_of(file_name: &str) -> Option<[u8; 16]> {
    let digits = file_name.as_bytes();
    if digits.len() != 32 || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    u128::from_str_radix(file_name, 16).ok().map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spec() -> CommandSpec {
        CommandSpec {
            program: b"make".to_vec(),
            argv: vec![b"make".to_vec(), b"test".to_vec()],
            env: vec![b"PATH=/bin".to_vec()],
            cwd: b"/srv".to_vec(),
            output_bytes_max: 1 << 20,
            has_input: false,
        }
    }

    #[test]
    fn specification_survives_its_bytes_and_no_cut_does() {
        let bytes = spec().encode();
        assert_eq!(CommandSpec::decode(&bytes), Ok(spec()));
        for len in 0..bytes.len() {
            assert!(CommandSpec::decode(&bytes[..len]).is_err(), "{len}");
        }
        let with_input = CommandSpec { has_input: true, ..spec() };
        assert_eq!(CommandSpec::decode(&with_input.encode()), Ok(with_input.clone()));
        assert_eq!(bytes[..2], FORMAT.to_le_bytes(), "what has no input is read by every shim");
        let greedy = CommandSpec { output_bytes_max: KEPT_BYTES_MAX + 1, ..spec() };
        assert_eq!(CommandSpec::decode(&greedy.encode()), Err(DecodeError::Limit));
    }

    #[test]
    fn head_survives_its_bytes() {
        let states = [
            CommandState::Running,
            CommandState::Ended(ExitStatus::Code(-1)),
            CommandState::Ended(ExitStatus::Signal(9)),
            CommandState::Ended(ExitStatus::Unknown),
            CommandState::Failed,
        ];
        for state in states {
            let head = Head { state, pid: 7, committed: 3, reserved: 4, ..Head::begin(100, 5) };
            assert_eq!(Head::decode(&head.encode()), Ok(head));
        }
        let wrong = Head { committed: 5, ..Head::begin(100, 5) };
        assert_eq!(Head::decode(&wrong.encode()), Err(DecodeError::Limit));
    }

    #[test]
    fn file_is_named_by_its_command() {
        let id = *b"\x00\x01\xfe\xff0123456789ab";
        assert_eq!(id_of(&file_name(&id)), Some(id));
        for stranger in ["", "key", "../../../../../../../../etc/shadow", &"A".repeat(32), &"+".repeat(32)] {
            assert_eq!(id_of(stranger), None, "{stranger}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _spec = CommandSpec::decode(&bytes);
            let _head = Head::decode(&bytes);
        }
    }
}
