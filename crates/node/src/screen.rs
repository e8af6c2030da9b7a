//! The server-side terminal: what a screen shows, and answers to what programs ask their terminal.
//!
//! It may lag behind the bytes, and says how far it has come. It knows nothing of who watches.

mod plain;
mod view;

use std::num::NonZeroU16;

use edgeplane_wire::terminal;

/// Smallest edge of a screen: with less, programs and the model itself misbehave.
const EDGE_MIN: u16 = 2;

/// Most bytes of answers kept for one chunk: a program that only asks cannot fill memory.
const ANSWERS_BYTES_MAX: usize = 4096;

/// What the model noticed beside the cells.
#[derive(Debug, Default)]
struct Noticed {
    title: String,
    answers: Vec<u8>,
}

impl Noticed {
    /// The newest answers are kept: somebody may still wait for them.
    fn answer(&mut self, bytes: &[u8]) {
        if self.answers.len().saturating_add(bytes.len()) > ANSWERS_BYTES_MAX {
            self.answers.clear();
        }
        self.answers.extend_from_slice(bytes);
    }
}

fn first(params: &[&[u16]]) -> u16 {
    params.first().and_then(|p| p.first()).copied().unwrap_or(0)
}

impl vt100::Callbacks for Noticed {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        let title = String::from_utf8_lossy(title);
        self.title = title.chars().filter(|c| !c.is_control()).take(256).collect();
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        i1: Option<u8>,
        i2: Option<u8>,
        params: &[&[u16]],
        c: char,
    ) {
        match (i1, i2, c, first(params)) {
            (None, None, 'n', 5) => self.answer(terminal::WORKS),
            (None, None, 'n', 6) => {
                let (row, col) = screen.cursor_position();
                self.answer(&terminal::cursor(row, col));
            }
            (None, None, 'c', 0) => self.answer(terminal::DEVICE),
            (Some(b'>'), None, 'c', 0) => self.answer(terminal::DEVICE_VERSION),
            (Some(b'>'), None, 'q', 0) => self.answer(terminal::NAME),
            (None, None, 't', 18) => {
                let (rows, cols) = screen.size();
                self.answer(&terminal::size(cols.get(), rows.get()));
            }
            (Some(b'?'), None, 'u', 0) => self.answer(terminal::KEYBOARD),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        match params {
            [b"10", b"?"] => self.answer(terminal::FOREGROUND),
            [b"11", b"?"] => self.answer(terminal::BACKGROUND),
            _ => {}
        }
    }
}

/// A screen and how much output it shows.
pub(crate) struct Screen {
    parser: vt100::Parser<Noticed>,
    offset: u64,
    watch: plain::Watch,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("offset", &self.offset).finish_non_exhaustive()
    }
}

fn edge(size: u16) -> NonZeroU16 {
    NonZeroU16::MIN.saturating_add(size.max(EDGE_MIN).saturating_sub(1))
}

impl Screen {
    /// An empty screen before the output at `offset`.
    pub(crate) fn new(cols: u16, rows: u16, offset: u64) -> Self {
        let parser = vt100::Parser::new_with_callbacks(edge(rows), edge(cols), 0, Noticed::default());
        Self { parser, offset, watch: plain::Watch::new() }
    }

    /// The same screen as one that shows this much output.
    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Bytes of the epoch's output that it shows.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Shows more output, which must be the next.
    pub(crate) fn show(&mut self, bytes: &[u8]) {
        let (_, rows) = self.size();
        let start = self.watch.start(bytes, rows);
        self.parser.process(bytes.get(start..).unwrap_or(bytes));
        self.offset = self.offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    }

    /// Passes over output that is not known.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.offset = self.offset.saturating_add(bytes);
    }

    /// Takes the answers to what the program asked.
    pub(crate) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.parser.callbacks_mut().answers)
    }

    pub(crate) fn resize(&mut self, cols: u16, rows: u16) {
        self.parser.set_size(edge(rows), edge(cols));
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (u16, u16) {
        let (rows, cols) = self.parser.screen().size();
        (cols.get(), rows.get())
    }

    /// Row and column of the cursor.
    pub(crate) fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    pub(crate) fn title(&self) -> &str {
        &self.parser.callbacks().title
    }

    /// The rows as text, blanks at their ends cut.
    pub(crate) fn text(&self) -> String {
        let (cols, _) = self.size();
        let rows: Vec<String> =
            self.parser.screen().rows(0, cols).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Bytes that bring a viewer's terminal to this state: which of its two screens, modes, cells, cursor.
    pub(crate) fn restore(&self) -> Vec<u8> {
        let screen = self.parser.screen();
        let mut out = Vec::with_capacity(4096);
        // Leave whatever mode an earlier restore left behind, then enter the program's own.
        out.extend_from_slice(b"\x1b[!p\x1b[?1049l");
        if screen.alternate_screen() {
            out.extend_from_slice(b"\x1b[?1049h");
        }
        out.extend_from_slice(screen.state_formatted().as_bytes());
        if !self.title().is_empty() {
            out.extend_from_slice(b"\x1b]2;");
            out.extend_from_slice(self.title().as_bytes());
            out.extend_from_slice(b"\x1b\\");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_answered_and_nothing_else_is() {
        let mut screen = Screen::new(80, 24, 0);
        screen.show(b"abc\x1b[6n\x1b[5n\x1b[c");
        assert_eq!(screen.take_answers(), b"\x1b[1;4R\x1b[0n\x1b[?62;22c");
        screen.show(b"plain\x1b[31mred");
        assert!(screen.take_answers().is_empty());
    }

    /// Proves LIFE-028.
    #[test]
    fn restore_shows_a_late_viewer_the_same_screen() {
        let mut screen = Screen::new(40, 10, 0);
        screen.show(b"shell$ vi\r\n\x1b[?1049h\x1b[2J\x1b[5;7H\x1b[1;32mhello\x1b[0m\x1b[?25l\x1b]2;t\x07");
        let mut late = Screen::new(40, 10, 0);
        late.show(&screen.restore());
        assert_eq!(late.text(), screen.text());
        assert_eq!(late.cursor(), screen.cursor());
        assert!(late.parser.screen().alternate_screen() && late.parser.screen().hide_cursor());
        assert_eq!(late.title(), "t");
    }

    #[test]
    fn tiny_sizes_do_no_harm() {
        let mut screen = Screen::new(0, 0, 0);
        screen.show("wide \u{1f600} text\r\n\x1b[99;99Hx".as_bytes());
        screen.resize(1, 1);
        screen.show("\u{1f600}".as_bytes());
    }
}
