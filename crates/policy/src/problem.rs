//! What is wrong with a file of rules: where, what was found, what would be right.

use std::fmt;

/// Longest excerpt of a rule or of another's message in a problem, in characters.
const EXCERPT_CHARS_MAX: usize = 240;

/// One thing that is wrong with a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
    /// What is there.
    pub found: String,
    /// What would be right.
    pub expected: String,
    /// What to do about it, where that can be guessed.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, found, expected, hint } = self;
        write!(f, "{file}:{line}:{column}: found {found}, expected {expected}")?;
        match hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

/// A problem at a byte of a text, before its file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) offset: usize,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) hint: Option<String>,
}

impl Finding {
    pub(crate) fn new(offset: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { offset, found: found.into(), expected: expected.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Locates the problem in the file `name`, whose text is `text`.
    pub(crate) fn locate(self, name: &str, text: &str) -> Problem {
        let (line, column) = place(text, self.offset);
        Problem {
            file: excerpt(name),
            line,
            column,
            found: excerpt(&self.found),
            expected: excerpt(&self.expected),
            hint: self.hint.as_deref().map(excerpt),
        }
    }
}

/// Line and column of a byte, both from 1. One that is no beginning of a character counts as the character it is in.
pub(crate) fn place(text: &str, offset: usize) -> (u32, u32) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = text.get(..end).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(line), number(column))
}

/// Cuts `text` to a length fit for a message and makes its control characters visible.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for (index, c) in text.chars().enumerate() {
        if index == EXCERPT_CHARS_MAX {
            shown.push('…');
            break;
        }
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let text = "ab\nä€x\n";
        for (offset, expected) in
            [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (4, (2, 1)), (5, (2, 2)), (8, (2, 3)), (99, (3, 1))]
        {
            assert_eq!(place(text, offset), expected, "{offset}");
        }
    }

    #[test]
    fn messages_carry_no_control_characters_and_end() {
        let problem = Finding::new(0, "\u{1b}[31m".repeat(900), "x").with_hint("y\n").locate("f\r", "");
        let shown = problem.to_string();
        assert!(!shown.chars().any(char::is_control), "{shown}");
        assert!(shown.len() < 2_000, "{}", shown.len());
        assert!(shown.ends_with("expected x (y\\n)"), "{shown}");
    }
}
