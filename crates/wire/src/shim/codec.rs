//! Frames as bytes: one type byte each, fields in the order of their declaration.

use super::{
    EpochState, Exit, FRAME_BYTES_MAX, FromShim, INPUT_BYTES_MAX, InputKind, InputOutcome, LaunchStep, MAGIC,
    OutputStream, Role, SignalScope, Status, ToShim,
};
use crate::{
    bytes::{DecodeError, Reader, put_block},
    command::COMMAND_INPUT_BYTES_MAX,
};

impl OutputStream {
    fn to_byte(self) -> u8 {
        match self {
            Self::Out => 1,
            Self::Err => 2,
        }
    }

    fn from_byte(byte: u8) -> Result<Self, DecodeError> {
        match byte {
            1 => Ok(Self::Out),
            2 => Ok(Self::Err),
            _ => Err(DecodeError::Value),
        }
    }
}

macro_rules! byte_enum {
    ($name:ident { $($variant:ident = $byte:literal,)+ }) => {
        impl $name {
            fn to_byte(self) -> u8 {
                match self { $(Self::$variant => $byte,)+ }
            }

            fn from_byte(byte: u8) -> Result<Self, DecodeError> {
                match byte {
                    $($byte => Ok(Self::$variant),)+
                    _ => Err(DecodeError::Value),
                }
            }
        }
    };
}

byte_enum!(Role { Observe = 1, Control = 2, });
byte_enum!(SignalScope { Program = 1, Foreground = 2, });
byte_enum!(InputKind { Message = 1, Keys = 2, });
byte_enum!(InputOutcome { Written = 1, Duplicate = 2, Queued = 3, Unknown = 4, LineTooLong = 5, Closed = 6, Full = 7, });
byte_enum!(EpochState { Born = 1, Running = 2, Stopping = 3, Exited = 4, });
byte_enum!(LaunchStep { Spec = 1, Prepare = 2, Terminal = 3, Containment = 4, Program = 5, });

impl Status {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.epoch.to_le_bytes());
        out.push(self.state.to_byte());
        out.extend_from_slice(&self.shim_pid.to_le_bytes());
        out.extend_from_slice(&self.shim_start.to_le_bytes());
        out.extend_from_slice(&self.pid.to_le_bytes());
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&self.head.to_le_bytes());
        out.extend_from_slice(&self.synced.to_le_bytes());
        out.extend_from_slice(&self.segment.to_le_bytes());
        out.extend_from_slice(&self.cols.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
    }

    fn get(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            epoch: r.u64()?,
            state: EpochState::from_byte(r.u8()?)?,
            shim_pid: r.u32()?,
            shim_start: r.u64()?,
            pid: r.u32()?,
            start: r.u64()?,
            head: r.u64()?,
            synced: r.u64()?,
            segment: r.u32()?,
            cols: r.u16()?,
            rows: r.u16()?,
        })
    }
}

/// Appends a frame: room for the length, the type, what `fill` adds, and then the length itself.
fn frame(out: &mut Vec<u8>, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.push(kind);
    fill(out);
    let len = u32::try_from(out.len().saturating_sub(start).saturating_sub(4)).unwrap_or(u32::MAX);
    if let Some(slot) = out.get_mut(start..start.saturating_add(4)) {
        slot.copy_from_slice(&len.to_le_bytes());
    }
}

impl ToShim<'_> {
    /// Appends the frame to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello { version_min, version_max, key, role } => frame(out, 0x01, |out| {
                out.extend_from_slice(&MAGIC);
                out.extend_from_slice(&version_min.to_le_bytes());
                out.extend_from_slice(&version_max.to_le_bytes());
                out.extend_from_slice(key);
                out.push(role.to_byte());
            }),
            Self::Subscribe => frame(out, 0x02, |_| {}),
            Self::Input { id, kind, bytes } => frame(out, 0x03, |out| {
                out.extend_from_slice(id);
                out.push(kind.to_byte());
                out.extend_from_slice(bytes);
            }),
            Self::Resize { cols, rows } => frame(out, 0x04, |out| {
                out.extend_from_slice(&cols.to_le_bytes());
                out.extend_from_slice(&rows.to_le_bytes());
            }),
            Self::Signal { signal, scope } => frame(out, 0x05, |out| {
                out.extend_from_slice(&signal.to_le_bytes());
                out.push(scope.to_byte());
            }),
            Self::Status => frame(out, 0x06, |_| {}),
            Self::Sync => frame(out, 0x07, |_| {}),
            Self::CloseInput => frame(out, 0x08, |_| {}),
            Self::InputState { id } => frame(out, 0x09, |out| out.extend_from_slice(id)),
            Self::Stop { grace_ms, signal } => frame(out, 0x0a, |out| {
                out.extend_from_slice(&grace_ms.to_le_bytes());
                out.extend_from_slice(&signal.to_le_bytes());
            }),
            Self::Kill => frame(out, 0x0b, |_| {}),
            Self::Launch { spec } => frame(out, 0x0c, |out| put_block(out, spec)),
            Self::Run { id, spec } => frame(out, 0x0d, |out| {
                out.extend_from_slice(id);
                put_block(out, spec);
            }),
            Self::EndCommand { id } => frame(out, 0x0e, |out| out.extend_from_slice(id)),
            Self::CommandInput { id, input, closes, bytes } => frame(out, 0x0f, |out| {
                out.extend_from_slice(id);
                out.extend_from_slice(input);
                out.push(u8::from(*closes));
                out.extend_from_slice(bytes);
            }),
        }
    }
}

impl<'a> ToShim<'a> {
    /// Reads a frame's type and payload.
    ///
    /// # Errors
    /// If they are not a frame to a shim.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(body);
        let frame = match r.u8()? {
            0x01 => {
                if r.array::<4>()? != MAGIC {
                    return Err(DecodeError::Value);
                }
                let frame = Self::Hello {
                    version_min: r.u16()?,
                    version_max: r.u16()?,
                    key: r.array()?,
                    role: Role::from_byte(r.u8()?)?,
                };
                // A later version may say more in its greeting; this one does not read it.
                let _later = r.rest();
                frame
            }
            0x02 => Self::Subscribe,
            0x03 => {
                let (id, kind) = (r.array()?, InputKind::from_byte(r.u8()?)?);
                let bytes = r.rest();
                if bytes.len() > INPUT_BYTES_MAX {
                    return Err(DecodeError::Limit);
                }
                Self::Input { id, kind, bytes }
            }
            0x04 => Self::Resize { cols: r.u16()?, rows: r.u16()? },
            0x05 => Self::Signal { signal: r.i32()?, scope: SignalScope::from_byte(r.u8()?)? },
            0x06 => Self::Status,
            0x07 => Self::Sync,
            0x08 => Self::CloseInput,
            0x09 => Self::InputState { id: r.array()? },
            0x0a => Self::Stop { grace_ms: r.u64()?, signal: r.i32()? },
            0x0b => Self::Kill,
            0x0c => Self::Launch { spec: r.block(FRAME_BYTES_MAX)? },
            0x0d => Self::Run { id: r.array()?, spec: r.block(FRAME_BYTES_MAX)? },
            0x0e => Self::EndCommand { id: r.array()? },
            0x0f => Self::command_input(&mut r)?,
            _ => return Err(DecodeError::Value),
        };
        r.end()?;
        Ok(frame)
    }
}

impl<'a> ToShim<'a> {
    fn command_input(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let (id, input) = (r.array()?, r.array()?);
        let closes = match r.u8()? {
            0 => false,
            1 => true,
            _ => return Err(DecodeError::Value),
        };
        let bytes = r.rest();
        if bytes.len() > COMMAND_INPUT_BYTES_MAX {
            return Err(DecodeError::Limit);
        }
        Ok(Self::CommandInput { id, input, closes, bytes })
    }
}

impl FromShim<'_> {
    /// Appends the frame to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello { version, status } => frame(out, 0x81, |out| {
                out.extend_from_slice(&version.to_le_bytes());
                status.put(out);
            }),
            Self::Subscribed { head } => frame(out, 0x82, |out| out.extend_from_slice(&head.to_le_bytes())),
            Self::Output { offset, stream, bytes } => frame(out, 0x83, |out| {
                out.extend_from_slice(&offset.to_le_bytes());
                out.push(stream.to_byte());
                out.extend_from_slice(bytes);
            }),
            Self::Lagged { from, to } => frame(out, 0x84, |out| put_range(out, *from, *to)),
            Self::Input { id, outcome } => frame(out, 0x85, |out| {
                out.extend_from_slice(id);
                out.push(outcome.to_byte());
            }),
            Self::Exited(exit) => frame(out, 0x86, |out| out.extend_from_slice(&exit.encode())),
            Self::Synced { offset } => frame(out, 0x87, |out| out.extend_from_slice(&offset.to_le_bytes())),
            Self::Sealed { segment, from, to } => frame(out, 0x88, |out| {
                out.extend_from_slice(&segment.to_le_bytes());
                put_range(out, *from, *to);
            }),
            Self::Gap { from, to, errno } => frame(out, 0x89, |out| {
                put_range(out, *from, *to);
                out.extend_from_slice(&errno.to_le_bytes());
            }),
            Self::Status(status) => frame(out, 0x8a, |out| status.put(out)),
            Self::Started(status) => frame(out, 0x8b, |out| status.put(out)),
            Self::LaunchFailed { step, errno, text } => frame(out, 0x8c, |out| {
                out.push(step.to_byte());
                out.extend_from_slice(&errno.to_le_bytes());
                put_block(out, text);
            }),
            Self::Refused { text } => frame(out, 0x8d, |out| put_block(out, text)),
            Self::Command { id, errno, text } => frame(out, 0x8e, |out| {
                out.extend_from_slice(id);
                out.extend_from_slice(&errno.to_le_bytes());
                put_block(out, text);
            }),
            Self::CommandInput { id, input, outcome } => frame(out, 0x8f, |out| {
                out.extend_from_slice(id);
                out.extend_from_slice(input);
                out.push(outcome.to_byte());
            }),
        }
    }
}

fn put_range(out: &mut Vec<u8>, from: u64, to: u64) {
    out.extend_from_slice(&from.to_le_bytes());
    out.extend_from_slice(&to.to_le_bytes());
}

impl<'a> FromShim<'a> {
    /// Reads a frame's type and payload.
    ///
    /// # Errors
    /// If they are not a frame from a shim.
    pub fn decode(body: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(body);
        let frame = match r.u8()? {
            0x81 => {
                let frame = Self::Hello { version: r.u16()?, status: Status::get(&mut r)? };
                let _later = r.rest();
                frame
            }
            0x82 => Self::Subscribed { head: r.u64()? },
            0x83 => {
                let (offset, stream) = (r.u64()?, OutputStream::from_byte(r.u8()?)?);
                Self::Output { offset, stream, bytes: r.rest() }
            }
            0x84 => Self::Lagged { from: r.u64()?, to: r.u64()? },
            0x85 => Self::Input { id: r.array()?, outcome: InputOutcome::from_byte(r.u8()?)? },
            0x86 => Self::Exited(Exit::decode(r.rest())?),
            0x87 => Self::Synced { offset: r.u64()? },
            0x88 => Self::Sealed { segment: r.u32()?, from: r.u64()?, to: r.u64()? },
            0x89 => Self::Gap { from: r.u64()?, to: r.u64()?, errno: r.i32()? },
            0x8a => Self::Status(Status::get(&mut r)?),
            0x8b => Self::Started(Status::get(&mut r)?),
            0x8c => Self::LaunchFailed {
                step: LaunchStep::from_byte(r.u8()?)?,
                errno: r.i32()?,
                text: r.block(FRAME_BYTES_MAX)?,
            },
            0x8d => Self::Refused { text: r.block(FRAME_BYTES_MAX)? },
            0x8e => Self::Command { id: r.array()?, errno: r.i32()?, text: r.block(FRAME_BYTES_MAX)? },
            0x8f => Self::CommandInput {
                id: r.array()?,
                input: r.array()?,
                outcome: InputOutcome::from_byte(r.u8()?)?,
            },
            _ => return Err(DecodeError::Value),
        };
        r.end()?;
        Ok(frame)
    }
}
