//! The text of terminal output: lines without the sequences that drew them.
//!
//! Owns a simple reading, good for logs: a carriage return begins the line anew, a backspace takes a character back, and
//! whatever moves the cursor elsewhere ends the line. It deliberately keeps no screen; who wants one takes a snapshot.

use super::sequence::{Parser, Piece};
use crate::text;

/// Longest line that is held; a longer one is cut in two.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Reads terminal output as lines of text.
#[derive(Debug)]
pub(crate) struct Plain {
    parser: Parser,
    line: Line,
}

#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    /// The next printable byte begins the line anew.
    returned: bool,
    /// Bytes of the line that were given out before its end was known.
    shown: usize,
}

impl Plain {
    pub(crate) fn new() -> Self {
        Self { parser: Parser::new(), line: Line::default() }
    }

    /// Appends the lines that `bytes` completed to `out`, each with its line end.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut String) {
        let Self { parser, line } = self;
        parser.feed(bytes, &mut |piece| match piece {
            Piece::Text(text) => line.print(text, out),
            Piece::Control(b'\n' | 0x0b | 0x0c) => line.end(out),
            Piece::Control(b'\r') => line.returned = true,
            Piece::Control(b'\t') => line.print(b"\t", out),
            Piece::Control(0x08) => line.backspace(),
            Piece::Sequence([.., b'H' | b'f' | b'A' | b'B' | b'E' | b'F' | b'd']) => line.leave(out),
            Piece::Escape(b"D" | b"E" | b"c") => line.leave(out),
            _ => {}
        });
    }

    /// Appends what the unfinished line shows so far, as far as that was not given out.
    pub(crate) fn flush(&mut self, out: &mut String) {
        let line = &mut self.line;
        let whole = line.bytes.len().saturating_sub(edgeplane_wire::cast::unfinished_tail(&line.bytes));
        if let Some(rest) = line.bytes.get(line.shown..whole) {
            put(rest, out);
            line.shown = whole;
        }
    }

    /// Appends the unfinished line as if it had ended.
    pub(crate) fn finish(&mut self, out: &mut String) {
        if !self.line.bytes.is_empty() {
            self.line.end(out);
        }
    }
}

impl Line {
    fn print(&mut self, bytes: &[u8], out: &mut String) {
        if std::mem::take(&mut self.returned) {
            if self.shown > 0 {
                out.push('\n');
            }
            self.bytes.clear();
            self.shown = 0;
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > LINE_BYTES_MAX {
            self.end(out);
        }
    }

    fn end(&mut self, out: &mut String) {
        put(self.bytes.get(self.shown..).unwrap_or_default(), out);
        out.push('\n');
        *self = Self::default();
    }

    /// The cursor goes elsewhere.
    fn leave(&mut self, out: &mut String) {
        if !self.bytes.is_empty() {
            self.end(out);
        }
        self.returned = false;
    }

    fn backspace(&mut self) {
        while let Some(byte) = self.bytes.pop() {
            if !matches!(byte, 0x80..=0xbf) {
                break;
            }
        }
        self.shown = self.shown.min(self.bytes.len());
    }
}

fn put(bytes: &[u8], out: &mut String) {
    out.push_str(&text::lines(&String::from_utf8_lossy(bytes)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &str, expected: &str) {
        for size in [1, 2, 3, bytes.len().max(1)] {
            let mut plain = Plain::new();
            let mut out = String::new();
            for chunk in bytes.as_bytes().chunks(size) {
                plain.feed(chunk, &mut out);
            }
            plain.finish(&mut out);
            assert_eq!(out, expected, "{bytes:?} in pieces of {size}");
        }
    }

    #[test]
    fn text_is_left_and_sequences_are_gone() {
        check("a\r\nb\r\n", "a\nb\n");
        check("\x1b[31mred\x1b[0m \x1b]0;title\x07text", "red text\n");
        check("10%\r20%\r100%\r\ndone\n", "100%\ndone\n");
        check("ab\x08\x08xy\n", "xy\n");
        check("ü\x08€\n", "€\n");
        check("top\x1b[5;1Hnext\n", "top\nnext\n");
        check("no end", "no end\n");
        check("\u{202e}evil\u{9b}2J\n", "evil2J\n");
        check("", "");
    }

    #[test]
    fn unfinished_line_is_given_out_once() {
        let mut plain = Plain::new();
        let mut out = String::new();
        plain.feed(b"$ l", &mut out);
        plain.flush(&mut out);
        plain.flush(&mut out);
        assert_eq!(out, "$ l");
        plain.feed(b"s\r\n", &mut out);
        assert_eq!(out, "$ ls\n");
        plain.feed(b"10%", &mut out);
        plain.flush(&mut out);
        plain.feed(b"\r20%\xe2\x82", &mut out);
        plain.flush(&mut out);
        assert_eq!(out, "$ ls\n10%\n20%");
        plain.feed(b"\xac\n", &mut out);
        assert_eq!(out, "$ ls\n10%\n20%€\n");
    }
}
