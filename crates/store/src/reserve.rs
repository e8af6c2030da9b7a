//! The reserve: room that was written in advance, for the batches that must not fail when the disk is full.
//!
//! A file of fixed size holds frames from its start. Each frame has a number that only grows, and the record notes
//! the number merged last in the transaction that merges. So nothing has to be erased: frames that were merged, and
//! the remains of older ones behind the newest, are known by their numbers. On file systems that never overwrite in
//! place the promise is as good as theirs.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::FileExt,
    path::Path,
};

use edgeplane_proof::digest::Digester;
use edgeplane_types::Event;

use crate::{
    batch::{Body, NewEvent},
    durable,
};

/// Name of the file.
pub(crate) const FILE_NAME: &str = "reserve.journal";

const MAGIC: [u8; 4] = *b"EPR1";

/// Magic, length, number, position, checksum.
const HEADER_BYTES: usize = 4 + 4 + 8 + 8 + CHECKSUM_BYTES;

/// Half a SHA-256: against torn writes, not against forgers, who could as well write a frame.
const CHECKSUM_BYTES: usize = 16;

/// A batch in the reserve.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) number: u64,
    /// Where the record ended when the batch was put here.
    pub(crate) head_pos: u64,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) bodies: Vec<Body>,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Reserve {
    file: File,
    bytes: u64,
    offset: u64,
    next_number: u64,
}

impl Reserve {
    /// Opens the reserve in `dir`, makes it if it is missing or smaller than `bytes`, and reads the frames after
    /// number `merged`.
    pub(crate) fn open(dir: &Path, bytes: u64, merged: u64) -> io::Result<(Self, Vec<Frame>)> {
        let mut file = durable::open_private(&dir.join(FILE_NAME))?;
        let length = file.metadata()?.len();
        if length < bytes {
            fill(&mut file, length, bytes)?;
            durable::sync_dir(dir)?;
        }
        let (frames, end, last) = read(&mut file)?;
        let waiting: Vec<Frame> = frames.into_iter().filter(|frame| frame.number > merged).collect();
        let offset = if waiting.is_empty() { 0 } else { end };
        let next_number = last.max(merged).saturating_add(1);
        Ok((Self { file, bytes: bytes.max(length), offset, next_number }, waiting))
    }

    /// Puts a batch behind the others and says under which number; durable when it returns.
    pub(crate) fn append(&mut self, head_pos: u64, events: &[Event], bodies: &[Body]) -> io::Result<u64> {
        let payload = encode(events, bodies)?;
        let number = self.next_number;
        let frame = frame(number, head_pos, &payload)?;
        let end = self.offset.saturating_add(frame.len() as u64);
        if end > self.bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_all_at(&frame, self.offset)?;
        self.file.sync_data()?;
        self.offset = end;
        self.next_number = number.saturating_add(1);
        Ok(number)
    }

    /// Begins at the start again: every frame is in the record.
    pub(crate) fn rewind(&mut self) {
        self.offset = 0;
    }
}

fn fill(file: &mut File, from: u64, to: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(from))?;
    io::copy(&mut io::repeat(0).take(to.saturating_sub(from)), file)?;
    file.sync_all()
}

fn checksum(parts: [&[u8]; 4]) -> [u8; CHECKSUM_BYTES] {
    let mut digester = Digester::default();
    parts.iter().for_each(|part| digester.update(part));
    let mut sum = [0; CHECKSUM_BYTES];
    sum.copy_from_slice(&digester.finish().as_bytes()[..CHECKSUM_BYTES]);
    sum
}

fn frame(number: u64, head_pos: u64, payload: &[u8]) -> io::Result<Vec<u8>> {
    let length = length_of(payload)?;
    let (number, head_pos) = (number.to_le_bytes(), head_pos.to_le_bytes());
    let sum = checksum([&length, &number, &head_pos, payload]);
    Ok([&MAGIC[..], &length, &number, &head_pos, &sum, payload].concat())
}

fn length_of(bytes: &[u8]) -> io::Result<[u8; 4]> {
    u32::try_from(bytes.len())
        .map(u32::to_le_bytes)
        .map_err(|_larger| io::Error::from(io::ErrorKind::StorageFull))
}

/// The events as JSON, then each body, every part behind its length.
fn encode(events: &[Event], bodies: &[Body]) -> io::Result<Vec<u8>> {
    let events: Vec<NewEvent> = events.iter().map(NewEvent::from_event).collect();
    let json = serde_json::to_vec(&events)?;
    let mut payload = Vec::new();
    for part in std::iter::once(json.as_slice()).chain(bodies.iter().map(Body::bytes)) {
        payload.extend_from_slice(&length_of(part)?);
        payload.extend_from_slice(part);
    }
    Ok(payload)
}

fn decode(mut payload: &[u8]) -> Option<(Vec<NewEvent>, Vec<Body>)> {
    let json = take_part(&mut payload)?;
    let events = serde_json::from_slice(json).ok()?;
    let mut bodies = Vec::new();
    while !payload.is_empty() {
        bodies.push(Body::new(take_part(&mut payload)?.to_vec()));
    }
    Some((events, bodies))
}

fn take_part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let (part, behind) = behind.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    *rest = behind;
    Some(part)
}

/// The frames from the start of the file, as long as their numbers follow each other; where they end; the last number.
fn read(file: &mut File) -> io::Result<(Vec<Frame>, u64, u64)> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let mut frames: Vec<Frame> = Vec::new();
    let mut rest = bytes.as_slice();
    let mut last = 0;
    while let Some((frame, behind)) = parse(rest) {
        if !frames.is_empty() && frame.number != last + 1 {
            break;
        }
        last = frame.number;
        frames.push(frame);
        rest = behind;
    }
    let end = (bytes.len() - rest.len()) as u64;
    Ok((frames, end, last))
}

fn parse(bytes: &[u8]) -> Option<(Frame, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let (magic, header) = header.split_first_chunk::<4>()?;
    let (length, header) = header.split_first_chunk::<4>()?;
    let (number, header) = header.split_first_chunk::<8>()?;
    let (head_pos, sum) = header.split_first_chunk::<8>()?;
    let (payload, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    if *magic != MAGIC || checksum([length, number, head_pos, payload]) != *sum {
        return None;
    }
    let (events, bodies) = decode(payload)?;
    let (number, head_pos) = (u64::from_le_bytes(*number), u64::from_le_bytes(*head_pos));
    Some((Frame { number, head_pos, events, bodies }, rest))
}

#[cfg(test)]
mod tests;
