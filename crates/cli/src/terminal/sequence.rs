//! Terminal output taken apart into text and sequences, however it was cut into pieces.
//!
//! Owns the syntax of ECMA-48 and of the strings that xterm added. It deliberately knows no meaning: which sequence does
//! what is the business of its callers. A sequence that is too long to be meant is dropped here.

/// Longest control sequence: the longest in use, a line of colours, is below a hundred bytes.
const CONTROL_BYTES_MAX: usize = 256;

/// Longest operating system command that is kept; titles, links and colours are shorter.
const COMMAND_BYTES_MAX: usize = 4 << 10;

/// A piece of terminal output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Printable bytes; a character may be cut between two pieces.
    Text(&'a [u8]),
    /// A control character of the first set.
    Control(u8),
    /// `ESC`, intermediates, final: the bytes after `ESC`.
    Escape(&'a [u8]),
    /// A control sequence: the bytes after `ESC [`, of which the last is the final.
    Sequence(&'a [u8]),
    /// A whole operating system command: the bytes between `ESC ]` and its end.
    Command(&'a [u8]),
    /// Begin of a device control string: parameters, intermediates and final after `ESC P`.
    DeviceBegin(&'a [u8]),
    /// A part of that string.
    DeviceData(&'a [u8]),
    /// The end of that string.
    DeviceEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    Sequence,
    Command,
    DeviceHead,
    DeviceData,
    /// A string that nobody is told of: privacy message, application command and the like.
    Ignored,
    /// `ESC` inside a string: its end, or the begin of something else.
    StringEscape(StringKind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringKind {
    Command,
    Device,
    Ignored,
}

/// Takes terminal output apart.
#[derive(Debug)]
pub(crate) struct Parser {
    state: State,
    held: Vec<u8>,
    too_long: bool,
    /// Continuation bytes that the current character still lacks.
    lacking: u8,
    /// The least value of the next of them, so that no character can be written the long way.
    least: u8,
}

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

impl Parser {
    pub(crate) fn new() -> Self {
        Self { state: State::Ground, held: Vec::new(), too_long: false, lacking: 0, least: 0x80 }
    }

    /// Takes `bytes` apart and hands each piece to `take`.
    pub(crate) fn feed(&mut self, bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            if self.state == State::Ground && self.held.is_empty() {
                let text = self.text_length(rest);
                if text > 0 {
                    let (text, after) = rest.split_at_checked(text).unwrap_or((rest, &[]));
                    take(Piece::Text(text));
                    rest = after;
                    continue;
                }
            }
            self.step(*byte, take);
            rest = after;
        }
    }

    /// How many bytes at the begin of `bytes` are printable. Stray bytes of the second set of controls are not; `C2`, with
    /// which that set is written in UTF-8, is looked at with what follows it.
    fn text_length(&mut self, bytes: &[u8]) -> usize {
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                0x20..=0x7e => self.lacking = 0,
                0x80..=0xbf if self.lacking > 0 && *byte >= self.least => {
                    self.lacking = self.lacking.saturating_sub(1);
                    self.least = 0x80;
                }
                0xc3..=0xdf => self.lead(1, 0x80),
                0xe0 => self.lead(2, 0xa0),
                0xe1..=0xef => self.lead(2, 0x80),
                0xf0 => self.lead(3, 0x90),
                0xf1..=0xf4 => self.lead(3, 0x80),
                _ => return index,
            }
        }
        bytes.len()
    }

    fn lead(&mut self, lacking: u8, least: u8) {
        self.lacking = lacking;
        self.least = least;
    }

    fn step(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        match self.state {
            State::Ground => self.ground(byte, take),
            State::Escape => self.escape(byte, take),
            State::Sequence => self.sequence(byte, take),
            State::Command => self.command(byte, take),
            State::DeviceHead => self.device_head(byte, take),
            State::DeviceData => self.device_data(byte, take),
            State::Ignored => self.ignored(byte),
            State::StringEscape(kind) => self.string_escape(kind, byte, take),
        }
    }

    fn ground(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        if let Some(0xc2) = self.held.first() {
            self.held.clear();
            self.lacking = 0;
            match byte {
                // A control of the second set.
                0x80..=0x9f => return,
                0xa0..=0xbf => return take(Piece::Text(&[0xc2, byte])),
                _ => {}
            }
        }
        match byte {
            ESC => self.begin(State::Escape),
            0x00..=0x1f | 0x7f => {
                self.lacking = 0;
                take(Piece::Control(byte));
            }
            0xc2 => self.held.push(byte),
            // Printable after all: what stood before it was not.
            _ if self.text_length(&[byte]) == 1 => take(Piece::Text(&[byte])),
            _ => self.lacking = 0,
        }
    }

    fn begin(&mut self, state: State) {
        self.state = state;
        self.held.clear();
        self.too_long = false;
        self.lacking = 0;
    }

    fn hold(&mut self, byte: u8, limit: usize) {
        if self.held.len() < limit {
            self.held.push(byte);
        } else {
            self.too_long = true;
        }
    }

    /// A byte that ends any sequence; whether it was one.
    fn cancels(&mut self, byte: u8) -> bool {
        match byte {
            ESC => self.begin(State::Escape),
            // CAN and SUB.
            0x18 | 0x1a => self.begin(State::Ground),
            _ => return false,
        }
        true
    }

    fn escape(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        if self.cancels(byte) {
            return;
        }
        let first = self.held.is_empty();
        match byte {
            b'[' if first => self.begin(State::Sequence),
            b']' if first => self.begin(State::Command),
            b'P' if first => self.begin(State::DeviceHead),
            b'X' | b'^' | b'_' | b'k' if first => self.begin(State::Ignored),
            0x20..=0x2f => self.hold(byte, CONTROL_BYTES_MAX),
            0x30..=0x7e => {
                self.hold(byte, CONTROL_BYTES_MAX);
                self.finish(|bytes| Piece::Escape(bytes), take);
            }
            0x00..=0x1f => take(Piece::Control(byte)),
            _ => self.begin(State::Ground),
        }
    }

    fn sequence(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        if self.cancels(byte) {
            return;
        }
        match byte {
            0x20..=0x3f => self.hold(byte, CONTROL_BYTES_MAX),
            0x40..=0x7e => {
                self.hold(byte, CONTROL_BYTES_MAX);
                self.finish(|bytes| Piece::Sequence(bytes), take);
            }
            // A terminal obeys these in the middle of a sequence.
            0x00..=0x1f => take(Piece::Control(byte)),
            _ => self.begin(State::Ground),
        }
    }

    fn finish(&mut self, piece: fn(&[u8]) -> Piece<'_>, take: &mut dyn FnMut(Piece<'_>)) {
        if !self.too_long {
            take(piece(&self.held));
        }
        self.begin(State::Ground);
    }

    fn command(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        match byte {
            BEL => self.finish(|bytes| Piece::Command(bytes), take),
            ESC => self.state = State::StringEscape(StringKind::Command),
            0x18 | 0x1a => self.begin(State::Ground),
            0x00..=0x1f | 0x7f => {}
            _ => self.hold(byte, COMMAND_BYTES_MAX),
        }
    }

    fn device_head(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        match byte {
            0x20..=0x3f => self.hold(byte, CONTROL_BYTES_MAX),
            0x40..=0x7e => {
                self.hold(byte, CONTROL_BYTES_MAX);
                if self.too_long {
                    self.begin(State::Ignored);
                } else {
                    take(Piece::DeviceBegin(&self.held));
                    self.begin(State::DeviceData);
                }
            }
            ESC => self.state = State::StringEscape(StringKind::Ignored),
            0x18 | 0x1a => self.begin(State::Ground),
            _ => {}
        }
    }

    fn device_data(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        match byte {
            ESC => self.state = State::StringEscape(StringKind::Device),
            0x18 | 0x1a => {
                take(Piece::DeviceEnd);
                self.begin(State::Ground);
            }
            0x20..=0x7e | b'\r' | b'\n' => take(Piece::DeviceData(&[byte])),
            _ => {}
        }
    }

    fn ignored(&mut self, byte: u8) {
        match byte {
            ESC => self.state = State::StringEscape(StringKind::Ignored),
            0x18 | 0x1a => self.begin(State::Ground),
            _ => {}
        }
    }

    fn string_escape(&mut self, kind: StringKind, byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
        match kind {
            StringKind::Command if byte == b'\\' => return self.finish(|bytes| Piece::Command(bytes), take),
            // Torn off by another sequence: what there is of it is not obeyed.
            StringKind::Command | StringKind::Ignored => {}
            StringKind::Device => take(Piece::DeviceEnd),
        }
        if byte == b'\\' {
            self.begin(State::Ground);
        } else {
            self.begin(State::Escape);
            self.escape(byte, take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(parts: &[&[u8]]) -> String {
        let mut parser = Parser::new();
        let mut out = String::new();
        for part in parts {
            parser.feed(part, &mut |piece| match piece {
                Piece::Text(text) => out.push_str(&String::from_utf8_lossy(text)),
                Piece::Control(byte) => out.push_str(&format!("<{byte:02x}>")),
                Piece::Escape(bytes) => out.push_str(&format!("<ESC {}>", bytes.escape_ascii())),
                Piece::Sequence(bytes) => out.push_str(&format!("<CSI {}>", bytes.escape_ascii())),
                Piece::Command(bytes) => out.push_str(&format!("<OSC {}>", bytes.escape_ascii())),
                Piece::DeviceBegin(bytes) => out.push_str(&format!("<DCS {} ", bytes.escape_ascii())),
                Piece::DeviceData(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
                Piece::DeviceEnd => out.push('>'),
            });
        }
        out
    }

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(pieces(&[bytes]), expected, "{}", bytes.escape_ascii());
        if bytes.is_ascii() {
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(pieces(&single), expected, "byte by byte: {}", bytes.escape_ascii());
        }
    }

    #[test]
    fn sequences_are_taken_apart() {
        check(b"ab\r\n\tc", "ab<0d><0a><09>c");
        check(b"\x1b[31mred\x1b[0m", "<CSI 31m>red<CSI 0m>");
        check(b"\x1b[?2004h\x1b[ q\x1b[>c", "<CSI ?2004h><CSI  q><CSI >c>");
        check(b"\x1b(B\x1b7\x1bZ", "<ESC (B><ESC 7><ESC Z>");
        check(b"\x1b]0;t\x07\x1b]8;;u\x1b\\x", "<OSC 0;t><OSC 8;;u>x");
        check(b"\x1bP1;2q#0abc\x1b\\x", "<DCS 1;2q #0abc>x");
        check(b"\x1b_Gx\x1b\\a\x1b^x\x1b\\b\x1bXx\x1b\\c\x1bkt\x1b\\d", "abcd");
    }

    #[test]
    fn sequences_that_others_cut_short_are_dropped() {
        check(b"\x1b[3\x1b[1mx", "<CSI 1m>x");
        check(b"\x1b]0;t\x1b[1mx", "<CSI 1m>x");
        check(b"\x1b]0;t\x18x", "x");
        check(b"\x1bPq1\x1b[1mx", "<DCS q 1><CSI 1m>x");
        check(b"\x1b[3\n1m", "<0a><CSI 31m>");
        check(&[b"\x1b[".as_slice(), &[b'1'; 300], b"mx"].concat(), "x");
        check(&[b"\x1b]0;".as_slice(), &[b'1'; 5_000], b"\x07x"].concat(), "x");
    }

    #[test]
    fn second_set_of_controls_is_nothing_and_characters_stay() {
        check("aü€😀 \u{a0}\u{bf}b".as_bytes(), "aü€😀 \u{a0}\u{bf}b");
        check("a\u{9b}31mb".as_bytes(), "a31mb");
        check(b"a\x9b31mb\x90", "a31mb");
        check(b"\xc2\x1b[1m", "<CSI 1m>");
        check(b"\xc2\xc2\xa0x", "\u{a0}x");
        check("\u{c0}\u{80}x".as_bytes(), "\u{c0}x");
        check(b"a\xe0\x82\x9b6nb", "a\u{fffd}6nb");
    }

    #[test]
    fn characters_cut_into_bytes_are_whole_again() {
        let text = "aü€😀\u{9b}\u{a0}\u{e9}z\x1b[1m";
        let mut parser = Parser::new();
        let mut bytes = Vec::new();
        for byte in text.as_bytes() {
            parser.feed(&[*byte], &mut |piece| {
                if let Piece::Text(text) = piece {
                    bytes.extend_from_slice(text);
                }
            });
        }
        assert_eq!(String::from_utf8(bytes).unwrap(), "aü€😀\u{a0}\u{e9}z");
    }
}
