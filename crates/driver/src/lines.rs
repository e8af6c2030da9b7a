//! Lines out of a byte stream, each with the offset after it.
//!
//! Bounded: a line beyond the limit is passed over and reported once, so that a program without newlines cannot
//! fill the node's memory.

use edgeplane_wire::rpc::LINE_BYTES_MAX;

/// What was found in the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A whole line, without its newline.
    Line {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Offset after its newline.
        end: u64,
    },
    /// A line longer than the limit, which was passed over.
    TooLong {
        /// Offset after its newline.
        end: u64,
    },
}

/// Cuts a stream into lines.
#[derive(Debug)]
pub struct Lines {
    held: Vec<u8>,
    passing_over: bool,
    offset: u64,
    line_bytes_max: usize,
}

impl Lines {
    /// Begins at this offset, which must be the start of a line.
    #[must_use]
    pub fn from_offset(offset: u64) -> Self {
        Self { held: Vec::new(), passing_over: false, offset, line_bytes_max: LINE_BYTES_MAX }
    }

    /// Offset after the last byte taken in.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Takes bytes in and gives the lines that they complete.
    pub fn feed(&mut self, bytes: &[u8], found: &mut Vec<Found>) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|b| *b == b'\n') {
            let (line, tail) = rest.split_at(at);
            self.hold(line);
            rest = tail.get(1..).unwrap_or_default();
            self.offset = self.offset.saturating_add(1);
            let held = std::mem::take(&mut self.held);
            found.push(if std::mem::take(&mut self.passing_over) {
                Found::TooLong { end: self.offset }
            } else {
                Found::Line { bytes: held, end: self.offset }
            });
        }
        self.hold(rest);
    }

    /// Counts bytes of the same stream that belong to no line.
    pub fn pass(&mut self, bytes: usize) {
        self.offset = self.offset.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    fn hold(&mut self, bytes: &[u8]) {
        self.offset = self.offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if self.passing_over {
            return;
        }
        if self.held.len().saturating_add(bytes.len()) > self.line_bytes_max {
            self.held = Vec::new();
            self.passing_over = true;
            return;
        }
        self.held.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Found> {
        let mut splitter = Lines { line_bytes_max: 5, ..Lines::from_offset(10) };
        let mut found = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, &mut found);
        }
        found
    }

    /// Proves MSG-014.
    #[test]
    fn lines_carry_the_offset_after_them_however_they_are_cut() {
        let expected =
            vec![Found::Line { bytes: b"ab".to_vec(), end: 13 }, Found::Line { bytes: Vec::new(), end: 14 }];
        assert_eq!(lines(&[b"ab\n\nrest"]), expected);
        assert_eq!(lines(&[b"a", b"b", b"\n", b"\n"]), expected);
    }

    /// Proves MSG-014.
    #[test]
    fn endless_line_is_passed_over_and_the_next_one_is_read() {
        let expected = vec![Found::TooLong { end: 22 }, Found::Line { bytes: b"ok".to_vec(), end: 25 }];
        assert_eq!(lines(&[b"0123456", b"789a\nok\n"]), expected);
    }
}
