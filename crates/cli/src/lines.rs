//! Lines out of a stream of bytes that is read when it is ready.
//!
//! Owns the buffer and the limit on a line's length.

use std::{io, ops::Range};

use edgeplane_os::fd::{self, Transfer};
use edgeplane_wire::rpc::LINE_BYTES_MAX;

/// Bytes asked of the stream at a time: enough for a screen, encoded.
const READ_BYTES: usize = 64 << 10;

/// Bytes that were read and not yet taken as lines.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
    searched: usize,
}

/// What an attempt to read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    Some,
    NotReady,
    Ended,
}

impl LineBuffer {
    /// Reads what is there, without waiting.
    pub(crate) fn fill(&mut self, stream: impl std::os::fd::AsFd) -> io::Result<Filled> {
        if self.begin > 0 {
            self.bytes.copy_within(self.begin..self.end, 0);
            self.end = self.end.saturating_sub(self.begin);
            self.searched = self.searched.saturating_sub(self.begin);
            self.begin = 0;
        }
        if self.end > LINE_BYTES_MAX {
            return Err(io::Error::other(format!("a line is longer than {LINE_BYTES_MAX} bytes")));
        }
        if self.bytes.len().saturating_sub(self.end) < READ_BYTES {
            self.bytes.resize(self.end.saturating_add(READ_BYTES), 0);
        }
        let room = self.bytes.get_mut(self.end..).unwrap_or_default();
        match fd::read(stream, room)? {
            Transfer::Moved(count) => {
                self.end = self.end.saturating_add(count);
                Ok(Filled::Some)
            }
            Transfer::WouldBlock => Ok(Filled::NotReady),
            Transfer::Ended => Ok(Filled::Ended),
        }
    }

    /// Takes the next whole line out, without its line end.
    pub(crate) fn line(&mut self) -> Option<&[u8]> {
        let line = self.find()?;
        self.bytes.get(line)
    }

    fn find(&mut self) -> Option<Range<usize>> {
        let from = self.searched.max(self.begin);
        let unread = self.bytes.get(from..self.end)?;
        match unread.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let line = self.begin..from.saturating_add(at);
                self.begin = line.end.saturating_add(1);
                self.searched = self.begin;
                Some(line)
            }
            None => {
                self.searched = self.end;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_are_whole_wherever_the_stream_was_cut() {
        let (ours, mut theirs) = edgeplane_os::sock::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut buffer = LineBuffer::default();
        assert_eq!(buffer.fill(&ours).unwrap(), Filled::NotReady);
        let mut found = Vec::new();
        for byte in b"a\nbc\n\nrest" {
            theirs.write_all(&[*byte]).unwrap();
            assert_eq!(buffer.fill(&ours).unwrap(), Filled::Some);
            while let Some(line) = buffer.line() {
                found.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        assert_eq!(found, ["a", "bc", ""]);
        drop(theirs);
        assert_eq!(buffer.fill(&ours).unwrap(), Filled::Ended);
        assert_eq!(buffer.line(), None);
    }
}
