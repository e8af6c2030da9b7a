//! Reading an epoch's recording: which segments there are, and the events from an offset on.
//!
//! Reads what shims write and never writes there. Blocking: callers that must not wait hand it to a worker.

use std::{
    fs, io,
    ops::{ControlFlow, Range},
    path::{Path, PathBuf},
};

use edgeplane_types::Epoch;
use edgeplane_wire::{
    cast::{CastError, CastEvent, CastReader, Header},
    shim::OutputStream,
};

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    /// The folder or a file in it.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A segment is not one.
    #[error("cannot understand `{}`", path.display())]
    Understand {
        /// Which.
        path: PathBuf,
        /// Where.
        #[source]
        source: CastError,
    },
}

/// The folder of an agent's epoch.
pub(crate) fn epoch_dir(agents: &Path, agent: &str, epoch: Epoch) -> PathBuf {
    agents.join(agent).join(epoch.to_string())
}

/// The file of a segment.
pub(crate) fn segment_path(dir: &Path, segment: u32) -> PathBuf {
    dir.join(format!("{segment:06}.cast"))
}

/// Numbers of the segments in an epoch's folder, in order; none if there is no folder.
pub(crate) fn segments(dir: &Path) -> Result<Vec<u32>, RecordingError> {
    let failed = |source| RecordingError::Read { path: dir.to_owned(), source };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let number: Option<u32> =
            name.to_str().and_then(|name| name.strip_suffix(".cast")).and_then(|n| n.parse().ok());
        found.extend(number);
    }
    found.sort_unstable();
    Ok(found)
}

/// An event of a recording with its moment.
#[derive(Debug)]
pub(crate) struct Timed {
    /// Microseconds since 1970.
    pub(crate) at_us: i64,
    /// Offset of output before it.
    pub(crate) offset: u64,
    /// What happened.
    pub(crate) event: CastEvent,
}

impl Timed {
    /// Offset of output after it.
    pub(crate) fn end(&self) -> u64 {
        let bytes = match &self.event {
            CastEvent::Output { bytes, .. } => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            CastEvent::Gap { bytes, .. } => *bytes,
            CastEvent::Other { .. } => 0,
        };
        self.offset.saturating_add(bytes)
    }
}

/// What stands in a segment, with the file it came from.
pub(crate) struct Segment {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Segment {
    pub(crate) fn open(dir: &Path, segment: u32) -> Result<Self, RecordingError> {
        let path = segment_path(dir, segment);
        match fs::read(&path) {
            Ok(bytes) => Ok(Self { path, bytes }),
            Err(source) => Err(RecordingError::Read { path, source }),
        }
    }

    /// The file's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its header, if it is whole.
    pub(crate) fn header(&self) -> Result<Option<Header>, RecordingError> {
        Ok(self.reader()?.map(|reader| reader.header().clone()))
    }

    fn reader(&self) -> Result<Option<CastReader<'_>>, RecordingError> {
        CastReader::new(&self.bytes).map_err(|source| self.not_understood(source))
    }

    fn not_understood(&self, source: CastError) -> RecordingError {
        RecordingError::Understand { path: self.path.clone(), source }
    }

    /// Gives each event to `visit` until it says stop; tells whether it did.
    pub(crate) fn visit(
        &self,
        mut visit: impl FnMut(Timed) -> ControlFlow<()>,
    ) -> Result<bool, RecordingError> {
        let Some(mut reader) = self.reader()? else { return Ok(false) };
        let mut at_us = reader.header().edgeplane.started_us;
        loop {
            let offset = reader.offset();
            let next = reader.next_event().map_err(|source| self.not_understood(source))?;
            let Some((interval_us, event)) = next else { return Ok(false) };
            at_us = at_us.saturating_add(i64::try_from(interval_us).unwrap_or(i64::MAX));
            if visit(Timed { at_us, offset, event }).is_break() {
                return Ok(true);
            }
        }
    }
}

/// The segments from the one that holds `offset` on.
pub(crate) fn segments_from(dir: &Path, offset: u64) -> Result<Vec<u32>, RecordingError> {
    let all = segments(dir)?;
    let mut first = 0;
    for (index, segment) in all.iter().enumerate() {
        match Segment::open_head(dir, *segment)? {
            Some(header) if header.edgeplane.offset <= offset => first = index,
            _ => break,
        }
    }
    Ok(all.get(first..).unwrap_or_default().to_vec())
}

impl Segment {
    /// Only the header of a segment: reads no more than its first bytes.
    fn open_head(dir: &Path, segment: u32) -> Result<Option<Header>, RecordingError> {
        use std::io::Read as _;
        let path = segment_path(dir, segment);
        let mut head = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(2048).read_to_end(&mut head));
        match read {
            Ok(_) => Self { path, bytes: head }.header(),
            Err(source) => Err(RecordingError::Read { path, source }),
        }
    }
}

/// Gives `visit` the output of a range, in order, cut to that range.
pub(crate) fn output_between(
    dir: &Path,
    range: Range<u64>,
    mut visit: impl FnMut(u64, Chunk<'_>),
) -> Result<(), RecordingError> {
    for segment in segments_from(dir, range.start)? {
        if segment_output(&Segment::open(dir, segment)?, range.clone(), &mut visit)? {
            break;
        }
    }
    Ok(())
}

/// The same for one segment; tells whether the range ended in it.
pub(crate) fn segment_output(
    segment: &Segment,
    range: Range<u64>,
    mut visit: impl FnMut(u64, Chunk<'_>),
) -> Result<bool, RecordingError> {
    segment.visit(|timed| {
        if timed.offset >= range.end {
            return ControlFlow::Break(());
        }
        match timed.event {
            CastEvent::Output { offset, stream, bytes } => {
                let skip = usize::try_from(range.start.saturating_sub(offset)).unwrap_or(usize::MAX);
                let keep = usize::try_from(range.end.saturating_sub(offset)).unwrap_or(usize::MAX);
                let bytes = bytes.get(..keep.min(bytes.len())).unwrap_or_default();
                if let Some(bytes) = bytes.get(skip..).filter(|bytes| !bytes.is_empty()) {
                    visit(offset.max(range.start), Chunk::Output(stream, bytes));
                }
            }
            CastEvent::Gap { offset, bytes } => {
                let end = offset.saturating_add(bytes).min(range.end);
                let start = offset.max(range.start);
                if end > start {
                    visit(start, Chunk::Missing(end.saturating_sub(start)));
                }
            }
            CastEvent::Other { code: 'r', data } => {
                if let Some((cols, rows)) = parse_size(&data).filter(|_| timed.offset >= range.start) {
                    visit(timed.offset, Chunk::Size(cols, rows));
                }
            }
            CastEvent::Other { .. } => {}
        }
        ControlFlow::Continue(())
    })
}

/// A piece of a recording.
#[derive(Debug)]
pub(crate) enum Chunk<'a> {
    /// Output.
    Output(OutputStream, &'a [u8]),
    /// This many bytes of output that are not known.
    Missing(u64),
    /// The terminal's new columns and rows.
    Size(u16, u16),
}

/// Columns and rows of an `r` event.
pub(crate) fn parse_size(data: &str) -> Option<(u16, u16)> {
    let (cols, rows) = data.split_once('x')?;
    Some((cols.parse().ok()?, rows.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use edgeplane_wire::cast::{PlaceRef, put_event, put_header, put_output};

    use super::*;

    fn write(dir: &Path, segment: u32, offset: u64, chunks: &[&[u8]]) {
        let mut out = Vec::new();
        let place = PlaceRef {
            name: "a",
            agent: "agt_x",
            epoch: 1,
            segment,
            offset,
            started_us: 1_000,
            cols: 80,
            rows: 24,
            pipes: false,
        };
        put_header(&mut out, &place);
        for chunk in chunks {
            put_output(&mut out, 5, OutputStream::Out, chunk);
        }
        put_event(&mut out, 5, 'r', "90x30");
        fs::write(segment_path(dir, segment), out).unwrap();
    }

    fn read(dir: &Path, range: Range<u64>) -> Vec<u8> {
        let mut out = Vec::new();
        output_between(dir, range.clone(), |offset, chunk| {
            if let Chunk::Output(_, bytes) = chunk {
                assert_eq!(offset, range.start + out.len() as u64);
                out.extend_from_slice(bytes);
            }
        })
        .unwrap();
        out
    }

    /// Proves LIFE-029.
    #[test]
    fn any_range_is_read_exactly_across_segments() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 1, 0, &[b"hello ", b"wor"]);
        write(dir.path(), 2, 9, &[b"ld, ", b"and on"]);
        let whole = b"hello world, and on";
        for from in 0..=whole.len() {
            for to in from..=whole.len() {
                assert_eq!(read(dir.path(), from as u64..to as u64), &whole[from..to], "{from}..{to}");
            }
        }
    }

    #[test]
    fn missing_folder_is_an_empty_recording() {
        let dir = tempfile::tempdir().unwrap();
        assert!(segments(&dir.path().join("none")).unwrap().is_empty());
    }
}
