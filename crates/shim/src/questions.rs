//! What a program asks its terminal, and when each answer is due.
//!
//! Owns the finding of questions in output and their order. What needs no screen is answered at once, whether or not
//! anybody is connected: a program that waits for an answer takes one that comes too late for typed text. Where the
//! cursor stands only a daemon's model knows; its reply is waited for briefly, and everything asked behind it waits
//! with it, since programs ask a second question to learn that there is no answer to the first. It deliberately knows
//! no screen.

use std::{borrow::Cow, collections::VecDeque};

use edgeplane_wire::terminal;

/// How long the place of the cursor is waited for: a busy daemon needs some hundred milliseconds, and programs that ask
/// give up after two seconds, as a rule. Then a late answer would be typed text to them.
const CURSOR_US: u64 = 1_000_000;

/// Questions that wait; a program that only asks is not answered more.
const OPEN_MAX: usize = 64;

/// Longest parameters of a question in bytes.
const ASKED_BYTES_MAX: usize = 8;

/// The longest report of a cursor's place in bytes.
const REPORT_BYTES_MAX: usize = 16;

/// Where in a sequence the output stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In text.
    Text,
    /// Behind ESC.
    Escape,
    /// In a control sequence.
    Control,
    /// In a command of the operating system, such as one about colours.
    Command,
    /// In a string that is no question.
    Other,
}

/// What a sequence asks.
#[derive(Debug)]
enum Asked {
    /// What has this answer.
    Known(Cow<'static, [u8]>),
    /// Where the cursor is.
    Cursor,
}

/// A question that was asked and not answered yet, in its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Answered(Cow<'static, [u8]>),
    /// Where the cursor is: asked in the output before this offset.
    Cursor {
        before: u64,
        until_us: u64,
    },
}

/// The questions of one program.
#[derive(Debug)]
pub(crate) struct Questions {
    place: Place,
    asked: [u8; ASKED_BYTES_MAX],
    len: usize,
    open: VecDeque<Open>,
}

impl Default for Questions {
    fn default() -> Self {
        Self { place: Place::Text, asked: [0; ASKED_BYTES_MAX], len: 0, open: VecDeque::new() }
    }
}

impl Questions {
    /// Looks through output that ends at the offset `head`, on a terminal of this size.
    pub(crate) fn see(&mut self, now_us: u64, head: u64, size: (u16, u16), output: &[u8]) {
        let mut rest = output;
        while let Some((byte, after)) = rest.split_first() {
            if self.place == Place::Text {
                let Some(at) = rest.iter().position(|byte| *byte == 0x1b) else { return };
                rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
                self.place = Place::Escape;
                continue;
            }
            rest = after;
            if let Some(open) = self.step(*byte, size) {
                self.ask(now_us, head, open);
            }
        }
    }

    fn ask(&mut self, now_us: u64, head: u64, open: Asked) {
        if self.open.len() < OPEN_MAX {
            self.open.push_back(match open {
                Asked::Known(answer) => Open::Answered(answer),
                Asked::Cursor => Open::Cursor { before: head, until_us: now_us.saturating_add(CURSOR_US) },
            });
        }
    }

    /// Takes one byte of a sequence, and says what it asked if it ends a question.
    fn step(&mut self, byte: u8, size: (u16, u16)) -> Option<Asked> {
        let asked = match (self.place, byte) {
            (Place::Control, 0x40..=0x7e) => self.kept().and_then(|asked| control(asked, byte, size)),
            (Place::Command, 0x07 | 0x1b) => self.kept().and_then(command),
            _ => None,
        };
        let next = match (self.place, byte) {
            // Cancel and substitute end any sequence.
            (_, 0x18 | 0x1a) => Place::Text,
            (_, 0x1b) => Place::Escape,
            (Place::Escape, b'[') => Place::Control,
            (Place::Escape, b']') => Place::Command,
            (Place::Escape, b'P' | b'X' | b'^' | b'_') => Place::Other,
            (Place::Escape, 0x30..) | (Place::Control, 0x40..=0x7e) | (Place::Command, 0x07) => Place::Text,
            (place @ (Place::Control | Place::Command), 0x20..) => {
                self.keep(byte);
                place
            }
            // Control characters within a sequence are done beside it.
            (place, _) => place,
        };
        if self.place == Place::Escape {
            self.len = 0;
        }
        self.place = next;
        asked
    }

    fn keep(&mut self, byte: u8) {
        if let Some(slot) = self.asked.get_mut(self.len) {
            *slot = byte;
        }
        self.len = self.len.saturating_add(1);
    }

    /// What was kept, unless it was too long to be a question.
    fn kept(&self) -> Option<&[u8]> {
        self.asked.get(..self.len)
    }

    /// Takes the model's reply to the questions in the output before `through`: places of the cursor, of which the last
    /// are those that still wait. What was given up on is not answered any more.
    pub(crate) fn reply(&mut self, through: u64, bytes: &[u8]) {
        let is_meant = |open: &Open| matches!(open, Open::Cursor { before, .. } if *before <= through);
        let reports: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'R').filter_map(report).collect();
        let waiting = self.open.iter().filter(|open| is_meant(open)).count();
        let late = reports.len().saturating_sub(waiting);
        let unknown = waiting.saturating_sub(reports.len());
        let meant = self.open.iter_mut().filter(|open| is_meant(open)).skip(unknown);
        for (open, report) in meant.zip(reports.into_iter().skip(late)) {
            *open = Open::Answered(Cow::Owned(report.to_vec()));
        }
    }

    /// Takes the answers that are due, in their order.
    pub(crate) fn take(&mut self, now_us: u64) -> Vec<u8> {
        let mut answers = Vec::new();
        while let Some(open) = self.open.front() {
            match open {
                Open::Answered(answer) => answers.extend_from_slice(answer),
                Open::Cursor { until_us, .. } if *until_us <= now_us => {}
                Open::Cursor { .. } => break,
            }
            let _taken = self.open.pop_front();
        }
        answers
    }

    /// When [`Questions::take`] has something to do.
    pub(crate) fn due_us(&self) -> Option<u64> {
        match self.open.front()? {
            Open::Answered(_) => Some(0),
            Open::Cursor { until_us, .. } => Some(*until_us),
        }
    }
}

/// What a control sequence asks.
fn control(asked: &[u8], last: u8, (cols, rows): (u16, u16)) -> Option<Asked> {
    let answer = match (asked, last) {
        (b"6", b'n') => return Some(Asked::Cursor),
        (b"5", b'n') => terminal::WORKS,
        (b"" | b"0", b'c') => terminal::DEVICE,
        (b">" | b">0", b'c') => terminal::DEVICE_VERSION,
        (b">" | b">0", b'q') => terminal::NAME,
        (b"?", b'u') => terminal::KEYBOARD,
        (b"18", b't') => return Some(Asked::Known(Cow::Owned(terminal::size(cols, rows)))),
        _ => return None,
    };
    Some(Asked::Known(Cow::Borrowed(answer)))
}

/// What a command of the operating system asks.
fn command(asked: &[u8]) -> Option<Asked> {
    let answer = match asked {
        b"10;?" => terminal::FOREGROUND,
        b"11;?" => terminal::BACKGROUND,
        _ => return None,
    };
    Some(Asked::Known(Cow::Borrowed(answer)))
}

/// The report of a cursor's place that these bytes end with: the model's other answers were given already.
fn report(bytes: &[u8]) -> Option<&[u8]> {
    let start = bytes.iter().rposition(|byte| *byte == 0x1b)?;
    let report = bytes.get(start..)?;
    let inner = report.strip_prefix(b"\x1b[")?.strip_suffix(b"R")?;
    let is_right = report.len() <= REPORT_BYTES_MAX
        && inner.contains(&b';')
        && inner.iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
    is_right.then_some(report)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(output: &[u8]) -> Vec<u8> {
        let mut questions = Questions::default();
        questions.see(0, 0, (80, 24), output);
        questions.take(u64::MAX)
    }

    /// Proves SHIM-041.
    #[test]
    fn what_needs_no_screen_is_answered_and_nothing_else_is() {
        let check = |output: &[u8], expected: &[u8]| {
            assert_eq!(asked(output), expected, "{}", String::from_utf8_lossy(output).escape_debug());
            // However it is cut into pieces.
            let mut questions = Questions::default();
            output.iter().for_each(|byte| questions.see(0, 0, (80, 24), &[*byte]));
            assert_eq!(questions.take(u64::MAX), expected);
        };
        check(b"a\x1b[5nb\x1b[c\x1b[0c", &[terminal::WORKS, terminal::DEVICE, terminal::DEVICE].concat());
        check(
            b"\x1b[>c\x1b[>0q\x1b[?u",
            &[terminal::DEVICE_VERSION, terminal::NAME, terminal::KEYBOARD].concat(),
        );
        check(b"\x1b]10;?\x07\x1b]11;?\x1b\\", &[terminal::FOREGROUND, terminal::BACKGROUND].concat());
        check(b"\x1b]11;?\x1b[c", &[terminal::BACKGROUND, terminal::DEVICE].concat());
        check(b"\x1b[18t", b"\x1b[8;24;80t");
        check(b"\x1b[1\n8t", b"\x1b[8;24;80t");
        let not = [
            "plain",
            "\x1b[31m",
            "\x1b[1c",
            "\x1b[?6n",
            "\x1b[0\x18c",
            "\x1bP+q[c\x1b\\",
            "\x1b]2;\x1b",
            "[c",
        ];
        not.into_iter().for_each(|output| check(output.as_bytes(), b""));
        check(b"\x1b]2;[c\x07\x1b_[c\x1b\\", b"");
        check(b"\x1b[00000000000000000c", b"");
    }

    /// Proves SHIM-042.
    #[test]
    fn the_cursor_is_waited_for_and_then_given_up_with_what_comes_late() {
        let mut questions = Questions::default();
        questions.see(1000, 10, (80, 24), b"\x1b[6n\x1b[c");
        assert_eq!(questions.take(1000), b"");
        assert_eq!(questions.due_us(), Some(1000 + CURSOR_US));
        // A reply that knows nothing of this output answers none of it.
        questions.reply(9, b"\x1b[1;1R");
        assert_eq!(questions.take(1000), b"");
        // All of the model's answers come; what was answered already is left out.
        questions.reply(10, b"\x1b[9;9R\x1b[3;4R\x1b[?62;22c");
        assert_eq!(questions.take(1000), [b"\x1b[3;4R", terminal::DEVICE].concat());
        questions.see(2000, 20, (80, 24), b"\x1b[6n\x1b[5n");
        questions.see(2001 + CURSOR_US, 30, (80, 24), b"\x1b[6n");
        assert_eq!(questions.take(2001 + CURSOR_US), terminal::WORKS);
        questions.reply(30, b"\x1b[5;5R\x1b[6;6R");
        assert_eq!(questions.take(2001 + CURSOR_US), b"\x1b[6;6R");
        questions.reply(30, b"\x1b[7;7R");
        assert_eq!((questions.take(u64::MAX), questions.due_us()), (Vec::new(), None));
        // Nothing but places is taken from a reply.
        questions.see(0, 40, (80, 24), b"\x1b[6n");
        questions.reply(40, b"rm -rf x\r\x1b[1;R;R\x1b[1;1;R\x1b[12R");
        assert_eq!(questions.take(u64::MAX), b"\x1b[1;1;R");
    }

    proptest! {
        /// Any output is looked through, and what waits is bounded.
        #[test]
        fn any_output_is_looked_through(pieces in proptest::collection::vec("[\x00-\x7f]{0,40}|(\x1b\\[[0-9>?]{0,3}[cnqtu]){0,90}", 0..8)) {
            let (mut whole, mut cut) = (Questions::default(), Questions::default());
            whole.see(0, 0, (80, 24), pieces.concat().as_bytes());
            pieces.iter().for_each(|piece| cut.see(0, 0, (80, 24), piece.as_bytes()));
            prop_assert!(whole.open.len() <= OPEN_MAX);
            prop_assert_eq!(whole.take(u64::MAX), cut.take(u64::MAX));
        }
    }
}
