//! Passing over text that has scrolled away: of a long run of plain lines a screen keeps only the last ones.
//!
//! Valid only while the whole screen scrolls and no escape sequence is open, so both are watched here, byte by byte,
//! and doubt means that nothing is passed over.

/// Most bytes of a sequence's parameters that are read; a longer list is treated as not understood.
const PARAMETERS_MAX: usize = 24;

/// Where in an escape sequence the bytes so far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Text,
    Escape,
    Parameters,
    String,
}

/// The two screens of a terminal. Each scrolls by its own margins.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    main: bool,
    alternate: bool,
}

/// Watches output for what makes passing over wrong.
#[derive(Debug)]
pub(super) struct Watch {
    at: At,
    /// Whether a part of each screen may scroll alone.
    margins: Pair,
    alternate: bool,
    parameters: Vec<u8>,
    /// Whether the bytes so far end within a character.
    open_character: bool,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            at: At::Text,
            margins: Pair::default(),
            alternate: false,
            parameters: Vec::new(),
            open_character: false,
        }
    }

    /// Where in `bytes` showing may begin, given that what comes before leaves nothing on a screen of `rows` rows.
    pub(super) fn start(&mut self, bytes: &[u8], rows: u16) -> usize {
        // From wherever the cursor is, one screen of lines brings it to the bottom, and another one scrolls away all
        // that was there.
        let lines = usize::from(rows).saturating_mul(2).saturating_add(2);
        let margins = if self.alternate { self.margins.alternate } else { self.margins.main };
        let clean = self.at == At::Text && !margins && !self.open_character;
        self.open_character = edgeplane_wire::cast::unfinished_tail(bytes) > 0;
        let run = bytes.iter().position(|b| !is_plain(*b)).unwrap_or(bytes.len());
        self.take(bytes.get(run..).unwrap_or_default(), rows);
        if clean { start_of_last(bytes.get(..run).unwrap_or_default(), lines) } else { 0 }
    }

    fn take(&mut self, bytes: &[u8], rows: u16) {
        for byte in bytes {
            self.at = match (self.at, *byte) {
                (_, 0x1b) => At::Escape,
                // Both end whatever is open.
                (_, 0x18 | 0x1a) => At::Text,
                (At::Escape, b'[') => {
                    self.parameters.clear();
                    At::Parameters
                }
                (At::Escape, b']' | b'P' | b'X' | b'^' | b'_') => At::String,
                (At::Escape, 0x20..=0x2f) => At::Escape,
                (At::Escape, b'c') => {
                    (self.margins, self.alternate) = (Pair::default(), false);
                    At::Text
                }
                (At::Escape, 0x30..=0x7e) => At::Text,
                (At::Parameters, 0x20..=0x3f) => {
                    if self.parameters.len() <= PARAMETERS_MAX {
                        self.parameters.push(*byte);
                    }
                    At::Parameters
                }
                (At::Parameters, 0x40..=0x7e) => {
                    self.end(*byte, rows);
                    At::Text
                }
                (At::String, 0x07) => At::Text,
                (at, _) => at,
            };
        }
    }

    /// A control sequence is complete.
    fn end(&mut self, last: u8, rows: u16) {
        match last {
            b'r' => {
                let parts = !is_whole_screen(&self.parameters, rows);
                *(if self.alternate { &mut self.margins.alternate } else { &mut self.margins.main }) = parts;
            }
            b'h' | b'l' if self.parameters.len() > PARAMETERS_MAX => {
                // It may have switched screens: whatever holds for one then counts for both.
                let either = self.margins.main || self.margins.alternate;
                self.margins = Pair { main: either, alternate: either };
            }
            b'h' | b'l' => {
                let modes = self.parameters.strip_prefix(b"?").unwrap_or_default();
                if modes.split(|b| *b == b';').any(|mode| matches!(mode, b"47" | b"1047" | b"1049")) {
                    self.alternate = last == b'h';
                }
            }
            _ => {}
        }
    }
}

/// Whether margins of these parameters hold all rows. What is not understood does not.
fn is_whole_screen(parameters: &[u8], rows: u16) -> bool {
    if parameters.is_empty() {
        return true;
    }
    let Some((top, bottom)) = std::str::from_utf8(parameters).ok().and_then(|text| text.split_once(';'))
    else {
        return false;
    };
    matches!(top, "" | "0" | "1") && bottom.parse::<u16>().is_ok_and(|bottom| bottom >= rows)
}

/// Bytes that only write and move down: printable ASCII, tabs, line ends, and UTF-8 but for what may be a control.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..=0xc1 | 0xc3..=0xff)
}

/// Where the last `lines` lines of a run begin, right after a line end that also returns to the first column.
fn start_of_last(run: &[u8], lines: usize) -> usize {
    let mut left = lines;
    let mut at = run.len();
    while let Some(end) = run.get(..at).and_then(|head| head.iter().rposition(|b| *b == b'\n')) {
        let returns = end.checked_sub(1).and_then(|before| run.get(before)) == Some(&b'\r');
        if !returns {
            return 0;
        }
        left = left.saturating_sub(1);
        if left == 0 {
            return end.saturating_add(1);
        }
        at = end;
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Screen;

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            6 => "[a-zé漢\u{1f600} \t]{0,50}".prop_map(|text| format!("{text}\r\n").into_bytes()),
            1 => "[a-z]{0,30}".prop_map(|text| format!("{text}\n").into_bytes()),
            1 => Just(b"\x1b[31m".to_vec()),
            1 => Just(b"\x1b[2;5r".to_vec()),
            1 => Just(b"\x1b[1;6r".to_vec()),
            1 => Just(b"\x1b[\x18r".to_vec()),
            1 => Just(b"\x1b[?25;1049h".to_vec()),
            1 => Just(b"\x1b[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;47h".to_vec()),
            1 => Just(b"\x1bc".to_vec()),
            1 => Just(b"\x1b[r".to_vec()),
            1 => Just(b"\x1b[?1049h\x1b[3;3H".to_vec()),
            1 => Just(b"\x1b[?1049l".to_vec()),
            1 => Just(b"\x1b[2J\x1b[H".to_vec()),
            1 => Just(b"\x1b[".to_vec()),
            1 => Just(b"\x1b]2;title\x07".to_vec()),
            1 => Just("\x1b]2;open \u{671c} ".as_bytes().to_vec()),
            1 => Just(b"\x1bPdevice\x07\x1b\\".to_vec()),
            1 => Just("\u{85}\u{9b}2J".as_bytes().to_vec()),
            1 => Just(b"\x1bM\x0e\x0f\x08".to_vec()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn passing_over_changes_nothing_that_is_seen(
            pieces in proptest::collection::vec(piece(), 0..80),
            repeated in proptest::collection::vec((0..80usize, 1..30usize), 0..4),
        ) {
            let mut all: Vec<Vec<u8>> = pieces.clone();
            for (at, times) in repeated {
                let at = at.min(all.len());
                for _ in 0..times {
                    all.insert(at, b"a plain line of text\r\n".to_vec());
                }
            }
            let whole = all.concat();
            let (mut one, mut quick) = (Screen::new(20, 6, 0), Screen::new(20, 6, 0));
            for chunk in whole.chunks(700) {
                one.parser.process(chunk);
                quick.show(chunk);
            }
            prop_assert!(quick.restore() == one.restore(), "{:?}", String::from_utf8_lossy(&whole));
        }
    }
}
