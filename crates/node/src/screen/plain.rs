//! Passing over text that has scrolled away: of a long run of plain lines a screen keeps only the last ones.
//!
//! Valid only while the whole screen scrolls and no escape sequence is open, so both are watched here, byte by byte,
//! and doubt means that nothing is passed over.

/// Where in an escape sequence the bytes so far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Text,
    Escape,
    Parameters,
    String,
}

/// Watches output for what makes passing over wrong.
#[derive(Debug)]
pub(super) struct Watch {
    at: At,
    /// Whether a part of the screen may scroll alone.
    margins: bool,
    /// Whether the sequence that is open has parameters.
    has_parameters: bool,
    /// Whether the bytes so far end within a character.
    open_character: bool,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { at: At::Text, margins: false, has_parameters: false, open_character: false }
    }

    /// Where in `bytes` showing may begin, given that what comes before leaves nothing on a screen of `rows` rows.
    pub(super) fn start(&mut self, bytes: &[u8], rows: u16) -> usize {
        // From wherever the cursor is, one screen of lines brings it to the bottom, and another one scrolls away all
        // that was there.
        let lines = usize::from(rows).saturating_mul(2).saturating_add(2);
        let clean = self.at == At::Text && !self.margins && !self.open_character;
        self.open_character = edgeplane_wire::cast::unfinished_tail(bytes) > 0;
        let run = bytes.iter().position(|b| !is_plain(*b)).unwrap_or(bytes.len());
        self.take(bytes.get(run..).unwrap_or_default());
        if clean { start_of_last(bytes.get(..run).unwrap_or_default(), lines) } else { 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.at = match (self.at, *byte) {
                (_, 0x1b) => At::Escape,
                (At::Escape, b'[') => {
                    self.has_parameters = false;
                    At::Parameters
                }
                (At::Escape, b']' | b'P' | b'X' | b'^' | b'_') => At::String,
                (At::Escape, 0x20..=0x2f) => At::Escape,
                (At::Escape, _) => At::Text,
                (At::Parameters, 0x20..=0x3f) => {
                    self.has_parameters = true;
                    At::Parameters
                }
                (At::Parameters, b'r') => {
                    self.margins = self.has_parameters;
                    At::Text
                }
                (At::Parameters, 0x40..=0x7e) => At::Text,
                (At::String, 0x07 | 0x9c) => At::Text,
                (at, _) => at,
            };
        }
    }
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
            1 => Just(b"\x1b[r".to_vec()),
            1 => Just(b"\x1b[?1049h\x1b[3;3H".to_vec()),
            1 => Just(b"\x1b[?1049l".to_vec()),
            1 => Just(b"\x1b[2J\x1b[H".to_vec()),
            1 => Just(b"\x1b[".to_vec()),
            1 => Just(b"\x1b]2;title\x07".to_vec()),
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
