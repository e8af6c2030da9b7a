//! A recorded screen as a text file: a head of a few fields, a line of dashes, then the rows.

use super::{Row, ScreenView};

/// What stands between head and rows.
const BORDER: &str = "---";

/// Longest fixture in bytes: a screen of the largest size is far smaller.
const BYTES_MAX: usize = 8 << 20;

/// A recorded screen and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// The program and its version.
    pub program: String,
    /// The screen.
    pub view: ScreenView,
}

/// Why a text is no fixture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FixtureError {
    /// It is longer than any screen.
    #[error("a fixture has at most {BYTES_MAX} bytes")]
    TooLong,
    /// A line of the head is not understood.
    #[error("line {line}: expected {expected}, found `{found}`")]
    Head {
        /// Its number, from 1.
        line: usize,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The rows are missing.
    #[error("no line of three dashes divides head and rows")]
    NoBorder,
}

impl Fixture {
    /// Reads a fixture.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, FixtureError> {
        if text.len() > BYTES_MAX {
            return Err(FixtureError::TooLong);
        }
        let mut program = String::new();
        let mut view = ScreenView::default();
        let mut faint = Vec::new();
        let mut lines = text.lines().enumerate();
        loop {
            let Some((index, line)) = lines.next() else { return Err(FixtureError::NoBorder) };
            if line == BORDER {
                break;
            }
            let wrong = |expected| {
                let found = line.chars().take(80).collect();
                FixtureError::Head { line: index.saturating_add(1), expected, found }
            };
            let Some((key, value)) = line.split_once(':') else { return Err(wrong("`key: value`")) };
            let value = value.trim();
            match key {
                "program" => value.clone_into(&mut program),
                "cursor" => view.cursor = pair(value, ' ').ok_or_else(|| wrong("`cursor: ROW COLUMN`"))?,
                "alternate" => {
                    view.alternate = yes(value).ok_or_else(|| wrong("`alternate: yes` or `no`"))?
                }
                "paste" => view.takes_paste = yes(value).ok_or_else(|| wrong("`paste: yes` or `no`"))?,
                "faint" => faint.push(span(value).ok_or_else(|| wrong("`faint: ROW FROM-TO`"))?),
                _ => return Err(wrong("`program`, `cursor`, `alternate`, `paste` or `faint`")),
            }
        }
        view.rows = lines.map(|(_, line)| Row::plain(line)).collect();
        for (row, from_to) in faint {
            if let Some(row) = view.rows.get_mut(row) {
                row.faint.push(from_to);
            }
        }
        Ok(Self { program, view })
    }

    /// Writes it.
    #[must_use]
    pub fn text(&self) -> String {
        let view = &self.view;
        let word = |is: bool| if is { "yes" } else { "no" };
        let mut out = format!(
            "program: {}\ncursor: {} {}\nalternate: {}\npaste: {}\n",
            self.program,
            view.cursor.0,
            view.cursor.1,
            word(view.alternate),
            word(view.takes_paste)
        );
        for (number, row) in view.rows.iter().enumerate() {
            for (from, to) in &row.faint {
                out.push_str(&format!("faint: {number} {from}-{to}\n"));
            }
        }
        out.push_str(BORDER);
        for row in &view.rows {
            out.push('\n');
            out.push_str(&row.text);
        }
        out.push('\n');
        out
    }
}

fn yes(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn pair<T: std::str::FromStr>(value: &str, between: char) -> Option<(T, T)> {
    let (first, second) = value.split_once(between)?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

fn span(value: &str) -> Option<(usize, (usize, usize))> {
    let (row, from_to) = value.split_once(' ')?;
    Some((row.parse().ok()?, pair(from_to, '-')?))
}
