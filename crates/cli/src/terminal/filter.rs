//! What of a program's output may be played on the viewer's terminal.
//!
//! Owns one promise: nothing that is played makes the viewer's terminal write into our input, reach the clipboard, run a
//! printer, or answer. The node answers a program's questions itself, so no viewer's terminal must ever see one. What is
//! not known to be harmless is not played, except plain control sequences, which only draw.

use super::sequence::{Parser, Piece};

/// What the viewer may do, which decides what his terminal may report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// Watches: his terminal reports no mouse, no focus, no special keys.
    Watches,
    /// Controls: what the program switches on for its keys and mouse is switched on.
    Controls,
}

/// Modes that make a terminal report something: mouse, focus, colour scheme, size.
const REPORTING_MODES: &[u32] =
    &[9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2031, 2048, 5522];

/// `l` of this private mode turns a terminal into one with another syntax.
const MODE_ANSI: u32 = 2;

/// Operating system commands that only set what is drawn: titles, colours, links, prompts' marks.
const COMMANDS_PLAYED: &[u32] = &[
    0, 1, 2, 4, 5, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 104, 105, 110, 111, 112, 113, 114, 115, 116,
    117, 118, 119, 133,
];

/// Takes out of a program's output what the viewer's terminal must not see.
#[derive(Debug)]
pub(crate) struct Filter {
    parser: Parser,
    viewer: Viewer,
    plays_device: bool,
}

impl Filter {
    pub(crate) fn new(viewer: Viewer) -> Self {
        Self { parser: Parser::new(), viewer, plays_device: false }
    }

    /// Appends what may be played of `bytes` to `out`. A sequence that is not whole yet comes with its rest.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Self { parser, viewer, plays_device } = self;
        parser.feed(bytes, &mut |piece| play(piece, *viewer, plays_device, out));
    }
}

fn play(piece: Piece<'_>, viewer: Viewer, plays_device: &mut bool, out: &mut Vec<u8>) {
    match piece {
        Piece::Text(text) => out.extend_from_slice(text),
        // BEL to SI: what moves the cursor, rings or changes the character set. `ENQ` asks, and the rest is not for
        // terminals.
        Piece::Control(byte @ 0x07..=0x0f) => out.push(byte),
        Piece::Control(_) => {}
        // `ESC Z` asks who the terminal is.
        Piece::Escape(b"Z") => {}
        Piece::Escape(bytes) => put(out, b"\x1b", bytes, b""),
        Piece::Sequence(bytes) => sequence(bytes, viewer, out),
        Piece::Command(bytes) if is_command_played(bytes) => put(out, b"\x1b]", bytes, b"\x1b\\"),
        Piece::Command(_) => {}
        Piece::DeviceBegin(head) => {
            *plays_device = is_picture(head);
            if *plays_device {
                put(out, b"\x1bP", head, b"");
            }
        }
        Piece::DeviceData(bytes) if *plays_device => out.extend_from_slice(bytes),
        Piece::DeviceData(_) => {}
        Piece::DeviceEnd => {
            if std::mem::take(plays_device) {
                out.extend_from_slice(b"\x1b\\");
            }
        }
    }
}

fn put(out: &mut Vec<u8>, lead: &[u8], bytes: &[u8], end: &[u8]) {
    out.extend_from_slice(lead);
    out.extend_from_slice(bytes);
    out.extend_from_slice(end);
}

/// A control sequence in its parts.
struct Parts<'a> {
    /// One of `<`, `=`, `>`, `?`, or zero.
    private: u8,
    parameters: &'a [u8],
    intermediates: &'a [u8],
    last: u8,
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (last, rest) = bytes.split_last()?;
        let (private, rest) = match rest.split_first() {
            Some((mark @ b'<'..=b'?', rest)) => (*mark, rest),
            _ => (0, rest),
        };
        let cut = rest.iter().position(|byte| matches!(byte, 0x20..=0x2f)).unwrap_or(rest.len());
        let (parameters, intermediates) = rest.split_at_checked(cut)?;
        let well_formed = parameters.iter().all(|byte| matches!(byte, b'0'..=b';'))
            && intermediates.iter().all(|byte| matches!(byte, 0x20..=0x2f));
        well_formed.then_some(Self { private, parameters, intermediates, last: *last })
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.parameters.split(|byte| *byte == b';').map(number)
    }
}

fn number(digits: &[u8]) -> u32 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn sequence(bytes: &[u8], viewer: Viewer, out: &mut Vec<u8>) {
    let Some(parts) = Parts::of(bytes) else { return };
    if parts.private == b'?' && parts.intermediates.is_empty() && matches!(parts.last, b'h' | b'l') {
        return modes(&parts, viewer, out);
    }
    if is_sequence_played(&parts, viewer) {
        put(out, b"\x1b[", bytes, b"");
    }
}

fn is_sequence_played(parts: &Parts<'_>, viewer: Viewer) -> bool {
    match (parts.private, parts.intermediates, parts.last) {
        // Who are you; how are you, where is the cursor (but `>n` only switches a key mode off); print; parameters.
        (_, b"", b'c' | b'i' | b'x') => false,
        (b'>', b"", b'n') => viewer == Viewer::Controls,
        (_, b"", b'n') => false,
        // Of the window's commands only the stack of titles: the others move, resize or report.
        (0, b"", b't') => matches!(parts.numbers().next(), Some(22 | 23)),
        (_, b"", b't') => false,
        // Version; keyboard, key modes and graphics queried.
        (b'>', b"", b'q') => false,
        (b'?', b"", b'u' | b'm' | b'S') => false,
        // Keyboard and key modes set: they change what keys report.
        (b'<' | b'=' | b'>', b"", b'u' | b'm') => viewer == Viewer::Controls,
        (_, b"", _) => true,
        // Cursor's looks, soft reset, protection, rectangles, columns, scrolling sideways, colours' stack.
        (0, b" ", b'q' | b'@' | b'A') | (0, b"!", b'p') | (0, b"\"", b'q') => true,
        (0, b"$", b'r' | b't' | b'v' | b'x' | b'z' | b'{') => true,
        (0, b"'", b'}' | b'~') | (0, b"*", b'x') | (0, b"#", b'{' | b'}' | b'p' | b'q') => true,
        // With other intermediates they mostly ask for reports.
        _ => false,
    }
}

/// Sets or resets private modes, less those that the viewer's terminal must not have.
fn modes(parts: &Parts<'_>, viewer: Viewer, out: &mut Vec<u8>) {
    let is_played = |mode: u32| match parts.last {
        b'h' => viewer == Viewer::Controls || !REPORTING_MODES.contains(&mode),
        _ => mode != MODE_ANSI,
    };
    if parts.numbers().all(is_played) {
        return put(out, b"\x1b[?", parts.parameters, &[parts.last]);
    }
    let kept: Vec<String> =
        parts.numbers().filter(|mode| is_played(*mode)).map(|mode| mode.to_string()).collect();
    if !kept.is_empty() {
        put(out, b"\x1b[?", kept.join(";").as_bytes(), &[parts.last]);
    }
}

/// Whether an operating system command only sets what is drawn: it is one of the known ones, and asks nothing.
fn is_command_played(bytes: &[u8]) -> bool {
    let (code, rest) = match bytes.iter().position(|byte| *byte == b';') {
        Some(at) => bytes.split_at_checked(at).unwrap_or((bytes, &[])),
        None => (bytes, [].as_slice()),
    };
    let known = !code.is_empty()
        && code.iter().all(u8::is_ascii_digit)
        && COMMANDS_PLAYED.contains(&number(code))
        && code.len() <= 3;
    let is_color = matches!(number(code), 4 | 5 | 10..=19);
    known && !(is_color && rest.contains(&b'?'))
}

/// Whether a device control string is a sixel picture: all others program keys, ask, or wrap other sequences.
fn is_picture(head: &[u8]) -> bool {
    match head.split_last() {
        Some((b'q', parameters)) => parameters.iter().all(|byte| matches!(byte, b'0'..=b'9' | b';')),
        _ => false,
    }
}

/// What undoes every mode that a played program may have left on: keys, mouse, pasting, cursor, colours, region, screen.
pub(crate) const RESTORE: &[u8] = b"\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\
\x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[?2031l\x1b[?2048l\x1b[?1l\x1b>\x1b[>4m\x1b[<99u\x1b[?7h\x1b[?6l\x1b[?5l\x1b[4l\
\x1b[?1049l\x1b7\x1b[r\x1b8\x1b(B\x0f\x1b[0 q\x1b[?25h\x1b[0m";

#[cfg(test)]
mod tests;
