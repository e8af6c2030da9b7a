//! Lines out of a stream of bytes.
//!
//! Owns the limit on a line's length. It deliberately does not look at what a line says.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// What is asked of the stream at a time; larger pieces save nothing, answers are mostly small.
const READ_BYTES: usize = 16 << 10;

/// Why there is no further line.
#[derive(Debug)]
pub enum LineError {
    /// The stream failed.
    Io(io::Error),
    /// The line is longer than the limit.
    TooLong,
    /// The stream ended inside a line.
    Torn,
}

/// Reads lines, none longer than a limit.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the current line begins in the buffer.
    begin: usize,
    /// Bytes of the current line that are known to hold no newline.
    searched: usize,
    line_bytes_max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads from a stream.
    pub fn new(reader: R, line_bytes_max: usize) -> Self {
        Self { reader, buffer: Vec::new(), begin: 0, searched: 0, line_bytes_max }
    }

    /// The next line without its newline, or `None` if the stream ended between lines.
    ///
    /// Safe to cancel: what was read of a line stays here.
    ///
    /// # Errors
    /// If the stream fails or ends inside a line, or the line is too long.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        let end = loop {
            let unread = self.buffer.get(self.begin..).unwrap_or_default();
            let found = unread.get(self.searched..).and_then(|rest| rest.iter().position(|b| *b == b'\n'));
            if let Some(at) = found {
                break self.begin.saturating_add(self.searched).saturating_add(at);
            }
            self.searched = unread.len();
            if self.searched > self.line_bytes_max {
                return Err(LineError::TooLong);
            }
            if self.begin > 0 {
                self.buffer.drain(..self.begin);
                self.begin = 0;
            }
            self.buffer.reserve(READ_BYTES);
            if self.reader.read_buf(&mut self.buffer).await.map_err(LineError::Io)? == 0 {
                return if self.buffer.is_empty() { Ok(None) } else { Err(LineError::Torn) };
            }
        };
        let line = self.begin..end;
        self.begin = end.saturating_add(1);
        self.searched = 0;
        if line.len() > self.line_bytes_max {
            return Err(LineError::TooLong);
        }
        Ok(Some(self.buffer.get(line).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn line_that_was_given_up_is_whole_the_next_time() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader, 64);
        for part in ["ab", "cd", "\nef"] {
            assert!(tokio::time::timeout(std::time::Duration::ZERO, lines.next()).await.is_err(), "{part}");
            tokio::io::AsyncWriteExt::write_all(&mut writer, part.as_bytes()).await.unwrap();
        }
        assert_eq!(lines.next().await.unwrap(), Some(b"abcd".as_slice()));
        assert!(tokio::time::timeout(std::time::Duration::ZERO, lines.next()).await.is_err());
        tokio::io::AsyncWriteExt::write_all(&mut writer, b"\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap(), Some(b"ef".as_slice()));
    }

    async fn check(bytes: &[u8], limit: usize, expected: &[&str]) {
        // One byte at a time: every way to split the stream is a case of this one.
        let mut whole = Lines::new(bytes, limit);
        let (mut writer, reader) = tokio::io::duplex(1);
        let sent = bytes.to_vec();
        let sender = tokio::spawn(async move {
            // The reader may have given up.
            drop(tokio::io::AsyncWriteExt::write_all(&mut writer, &sent).await);
        });
        let mut split = Lines::new(reader, limit);
        for expected in expected {
            for found in [whole.next().await, split.next().await] {
                let found = match found {
                    Ok(Some(line)) => String::from_utf8_lossy(line).into_owned(),
                    Ok(None) => "END".to_owned(),
                    Err(LineError::TooLong) => "LONG".to_owned(),
                    Err(LineError::Torn) => "TORN".to_owned(),
                    Err(LineError::Io(error)) => error.to_string(),
                };
                assert_eq!(found, *expected, "{bytes:?}");
            }
        }
        drop(split);
        sender.await.unwrap();
    }

    #[tokio::test]
    async fn lines_are_cut_at_newlines_wherever_the_stream_was_cut() {
        check(b"", 9, &["END"]).await;
        check(b"a\nbc\n\nd\n", 9, &["a", "bc", "", "d", "END"]).await;
        check(b"a\nb", 9, &["a", "TORN"]).await;
        check(b"123456789\n", 9, &["123456789", "END"]).await;
        check(b"a\n1234567890\n", 9, &["a", "LONG"]).await;
        check(b"12345678901234567890", 9, &["LONG"]).await;
    }
}
