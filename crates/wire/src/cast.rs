//! The lines of a recording: asciicast v3, with codes of our own for what it has no word for.
//!
//! A segment is a header line and event lines `[interval, code, data]`. Of the format's codes we write `o`
//! (terminal or standard output), `i` (input), `r` (resize), `m` (a message's id, before its input) and `x`
//! (exit). Of our own, which players skip: `e` (standard error), `b` (the exact bytes of the chunk before it, in
//! base64, when that chunk was not UTF-8 or held a U+FFFD), `g` (this many bytes of output are missing), `k` (this many keys were
//! typed while the terminal did not echo).
//!
//! Positions are byte offsets of the epoch's output: `o`, `e` and `g` advance them, nothing else does. A line
//! without its newline was never finished, and nothing of it was ever shown to anyone: readers drop it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{base64, shim::OutputStream};

/// The first line of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always 3.
    pub version: u8,
    /// The terminal.
    pub term: Term,
    /// Seconds since 1970 at the segment's start.
    pub timestamp: i64,
    /// The agent's name and epoch, for people.
    pub title: String,
    /// Our own fields.
    pub edgeplane: Place,
}

/// The terminal of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Where a segment belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The agent's id.
    pub agent: String,
    /// The epoch.
    pub epoch: u64,
    /// Number of the segment, from 1.
    pub segment: u32,
    /// Offset of the first byte of output in it.
    pub offset: u64,
    /// Microseconds since 1970 at the segment's start.
    pub started_us: i64,
    /// Whether the program has pipes instead of a terminal.
    pub pipes: bool,
}

/// Terminal kind that programs are told and recordings name.
pub const TERM_KIND: &str = "xterm-256color";

/// Appends the header line. Written by hand, because the shim carries no serializer; checked against [`Header`].
pub fn put_header(out: &mut Vec<u8>, place: &PlaceRef<'_>) {
    out.extend_from_slice(br#"{"version":3,"term":{"cols":"#);
    put_number(out, u64::from(place.cols));
    out.extend_from_slice(br#","rows":"#);
    put_number(out, u64::from(place.rows));
    out.extend_from_slice(br#","type":"xterm-256color"},"timestamp":"#);
    put_number(out, u64::try_from(place.started_us / 1_000_000).unwrap_or(0));
    out.extend_from_slice(br#","title":""#);
    put_escaped(out, place.name);
    out.extend_from_slice(b" epoch ");
    put_number(out, place.epoch);
    out.extend_from_slice(br#"","edgeplane":{"agent":""#);
    put_escaped(out, place.agent);
    out.extend_from_slice(br#"","epoch":"#);
    put_number(out, place.epoch);
    out.extend_from_slice(br#","segment":"#);
    put_number(out, u64::from(place.segment));
    out.extend_from_slice(br#","offset":"#);
    put_number(out, place.offset);
    out.extend_from_slice(br#","started_us":"#);
    put_number(out, u64::try_from(place.started_us).unwrap_or(0));
    out.extend_from_slice(br#","pipes":"#);
    out.extend_from_slice(if place.pipes { b"true" } else { b"false" });
    out.extend_from_slice(b"}}\n");
}

/// What [`put_header`] writes.
#[derive(Debug, Clone, Copy)]
pub struct PlaceRef<'a> {
    /// The agent's name.
    pub name: &'a str,
    /// The agent's id.
    pub agent: &'a str,
    /// The epoch.
    pub epoch: u64,
    /// Number of the segment.
    pub segment: u32,
    /// Offset of its first byte.
    pub offset: u64,
    /// Microseconds since 1970.
    pub started_us: i64,
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
    /// Whether the program has pipes.
    pub pipes: bool,
}

/// Appends an event line whose data is text.
pub fn put_event(out: &mut Vec<u8>, interval_us: u64, code: char, data: &str) {
    put_event_start(out, interval_us, code);
    put_escaped(out, data);
    out.extend_from_slice(b"\"]\n");
}

/// Appends an output chunk: its text, and its exact bytes where the text is not them.
pub fn put_output(out: &mut Vec<u8>, interval_us: u64, stream: OutputStream, bytes: &[u8]) {
    let code = match stream {
        OutputStream::Out => 'o',
        OutputStream::Err => 'e',
    };
    put_event_start(out, interval_us, code);
    // The whole is text almost always, and checking it first is several times as fast as going from chunk to chunk.
    let exact = match std::str::from_utf8(bytes) {
        Ok(text) => {
            put_escaped(out, text);
            // A replacement character that the program itself wrote gets its exact bytes too, so that a reader who
            // sees one without them knows that the line after it was torn off.
            !text.contains('\u{fffd}')
        }
        Err(_) => {
            put_lossy(out, bytes);
            false
        }
    };
    out.extend_from_slice(b"\"]\n");
    if !exact {
        put_event_start(out, 0, 'b');
        base64::encode_into(bytes, out);
        out.extend_from_slice(b"\"]\n");
    }
}

/// Appends bytes as text, with a replacement character for each part that is none.
fn put_lossy(out: &mut Vec<u8>, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        put_escaped(out, chunk.valid());
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// How many bytes at the end of `bytes` begin a character that may still be completed: 0 to 3.
///
/// The writer keeps them back for the next chunk, so that a character split by a read is not torn in the
/// recording.
#[must_use]
pub fn unfinished_tail(bytes: &[u8]) -> usize {
    for back in 1..=3_usize {
        let Some(index) = bytes.len().checked_sub(back) else { return 0 };
        let Some(byte) = bytes.get(index) else { return 0 };
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return 0,
        };
        return if length > back { back } else { 0 };
    }
    0
}

fn put_event_start(out: &mut Vec<u8>, interval_us: u64, code: char) {
    out.push(b'[');
    put_number(out, interval_us / 1_000_000);
    out.push(b'.');
    let micros = interval_us % 1_000_000;
    let mut scale = 100_000;
    while scale > 0 {
        out.push(b'0'.wrapping_add(u8::try_from(micros / scale % 10).unwrap_or(0)));
        scale /= 10;
    }
    out.extend_from_slice(b", \"");
    let mut utf8 = [0; 4];
    out.extend_from_slice(code.encode_utf8(&mut utf8).as_bytes());
    out.extend_from_slice(b"\", \"");
}

/// Appends a number in decimal.
pub fn put_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0_u8; 20];
    let (mut rest, mut used) = (number, 0_usize);
    for slot in digits.iter_mut().rev() {
        *slot = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or(0));
        rest /= 10;
        used = used.saturating_add(1);
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(digits.len().saturating_sub(used)..).unwrap_or_default());
}

fn put_escaped(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let plain =
            rest.iter().position(|b| *b < 0x20 || matches!(*b, b'"' | b'\\' | 0x7f)).unwrap_or(rest.len());
        let (head, tail) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
        out.extend_from_slice(head);
        let Some((special, tail)) = tail.split_first() else { return };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => {
                out.extend_from_slice(b"\\u00");
                for nibble in [byte >> 4, byte & 15] {
                    out.push(HEX.get(usize::from(nibble)).copied().unwrap_or(b'0'));
                }
            }
        }
        rest = tail;
    }
}

/// Why a line of a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CastError {
    /// It is not JSON of the expected shape.
    #[error("line {line} of the segment is not an asciicast v3 line")]
    Shape {
        /// Number of the line, from 1.
        line: u64,
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
    /// Its version is not ours.
    #[error("the segment is of asciicast version {0}, not 3")]
    Version(u8),
    /// Its exact bytes are not base64, or follow no output.
    #[error("line {0} of the segment holds bytes that cannot be read")]
    Bytes(u64),
}

/// One thing that a recording tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastEvent {
    /// Output.
    Output {
        /// Offset of its first byte.
        offset: u64,
        /// Where it came from.
        stream: OutputStream,
        /// The exact bytes.
        bytes: Vec<u8>,
    },
    /// Output that could not be recorded.
    Gap {
        /// Offset of the first missing byte.
        offset: u64,
        /// How many are missing.
        bytes: u64,
    },
    /// Everything else: its code and data.
    Other {
        /// The code.
        code: char,
        /// The data.
        data: String,
    },
}

/// Reads a segment's lines.
#[derive(Debug)]
pub struct CastReader<'a> {
    rest: &'a [u8],
    line: u64,
    offset: u64,
    header: Header,
}

impl<'a> CastReader<'a> {
    /// Begins to read a segment; `None` if not even its header is whole.
    ///
    /// # Errors
    /// If the first line is not a header of ours.
    pub fn new(segment: &'a [u8]) -> Result<Option<Self>, CastError> {
        let Some((line, rest)) = split_line(segment) else { return Ok(None) };
        let header: Header =
            serde_json::from_slice(line).map_err(|source| CastError::Shape { line: 1, source })?;
        if header.version != 3 {
            return Err(CastError::Version(header.version));
        }
        Ok(Some(Self { rest, line: 1, offset: header.edgeplane.offset, header }))
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Offset after the output read so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next event and the microseconds since the one before, or `None` at the end of the whole lines.
    ///
    /// # Errors
    /// If a whole line cannot be read.
    pub fn next_event(&mut self) -> Result<Option<(u64, CastEvent)>, CastError> {
        let Some((interval_us, code, data)) = self.line()? else { return Ok(None) };
        let stream = match code {
            'o' => OutputStream::Out,
            'e' => OutputStream::Err,
            'g' => {
                let bytes = data.parse().map_err(|_bad| CastError::Bytes(self.line))?;
                let event = CastEvent::Gap { offset: self.offset, bytes };
                self.offset = self.offset.saturating_add(bytes);
                return Ok(Some((interval_us, event)));
            }
            'b' => return Err(CastError::Bytes(self.line)),
            code => return Ok(Some((interval_us, CastEvent::Other { code, data: data.into_owned() }))),
        };
        let bytes = if data.contains('\u{fffd}') {
            // Without its exact bytes the chunk was never shown to anyone and counts for nothing.
            let Some(bytes) = self.exact_bytes()? else { return Ok(None) };
            bytes
        } else {
            data.into_owned().into_bytes()
        };
        let event = CastEvent::Output { offset: self.offset, stream, bytes };
        if let CastEvent::Output { bytes, .. } = &event {
            self.offset = self.offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        Ok(Some((interval_us, event)))
    }

    fn exact_bytes(&mut self) -> Result<Option<Vec<u8>>, CastError> {
        let Some((_, code, data)) = self.line()? else { return Ok(None) };
        let bytes = if code == 'b' { base64::decode(&data) } else { None };
        bytes.map(Some).ok_or(CastError::Bytes(self.line))
    }

    fn line(&mut self) -> Result<Option<(u64, char, Cow<'a, str>)>, CastError> {
        let Some((line, rest)) = split_line(self.rest) else { return Ok(None) };
        self.rest = rest;
        self.line = self.line.saturating_add(1);
        parse_line(line, self.line).map(Some)
    }
}

fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|b| *b == b'\n')?;
    Some((bytes.get(..end)?, bytes.get(end.checked_add(1)?..)?))
}

#[derive(Deserialize)]
struct Line<'a>(f64, char, #[serde(borrow)] Cow<'a, str>);

fn parse_line(line: &[u8], number: u64) -> Result<(u64, char, Cow<'_, str>), CastError> {
    let Line(interval, code, data) =
        serde_json::from_slice(line).map_err(|source| CastError::Shape { line: number, source })?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an interval is seconds; the cast saturates"
    )]
    let micros = (interval * 1e6).round() as u64;
    Ok((micros, code, data))
}

#[cfg(test)]
#[path = "cast/tests.rs"]
mod tests;
