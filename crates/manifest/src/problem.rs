//! What is wrong with a manifest: where, what was found, what would be right.

use std::fmt;

/// Longest excerpt of a manifest in a message, in characters.
const EXCERPT_CHARS_MAX: usize = 60;

/// One thing that is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1; 0 where the manifest has no text, such as JSON from the wire.
    pub line: u32,
    /// The character in the line, from 1; 0 where the line is.
    pub column: u32,
    /// The field, such as `spec.restart.policy`; empty where it concerns no single field.
    pub field: String,
    /// What is there.
    pub found: String,
    /// What would be right.
    pub expected: String,
    /// What to do about it, where that can be guessed.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        f.write_str(": ")?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

/// A line and a column, from 1; both 0 where there is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A problem before its file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    pub(crate) field: String,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) hint: Option<String>,
}

impl Finding {
    pub(crate) fn in_file(self, file: &str) -> Problem {
        let Self { place, field, found, expected, hint } = self;
        Problem {
            file: printable(file),
            line: place.line,
            column: place.column,
            field,
            found,
            expected,
            hint,
        }
    }
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// Writes a path as people write it: `spec.command[0]`, `spec.env["A B"]`.
pub(crate) fn field(path: &[Step]) -> String {
    use fmt::Write as _;

    let mut text = String::new();
    for step in path {
        let plain = |key: &str| {
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        };
        // Writing to a string cannot fail.
        let _written: fmt::Result = match step {
            Step::Key(key) if plain(key) && text.is_empty() => write!(text, "{}", excerpt(key)),
            Step::Key(key) if plain(key) => write!(text, ".{}", excerpt(key)),
            Step::Key(key) => write!(text, "[\"{}\"]", excerpt(key)),
            Step::Index(index) => write!(text, "[{index}]"),
        };
    }
    text
}

/// Cuts `text` to a length fit for a message and makes its control characters visible.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown = printable(&text.chars().take(EXCERPT_CHARS_MAX).collect::<String>());
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Makes control characters visible.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Writes an excerpt between backticks.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", excerpt(text))
}

/// Writes words with commas between them.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(excerpt).collect::<Vec<_>>().join(", ")
}

/// Finds the word that somebody who wrote `text` most likely meant.
pub(crate) fn nearest<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = folded(text);
    let allowed = (written.len() / 3).max(1);
    words
        .into_iter()
        .map(|word| (distance(&written, &folded(word)), word))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The letters and digits of `text` in lower case, so that `on-failure`, `onFailure` and `on_failure` are the same.
fn folded(text: &str) -> Vec<char> {
    // No key or word is longer than 32 characters; the bound keeps the comparison cheap.
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(64).collect()
}

/// Counts the insertions, deletions, substitutions and swaps of neighbours between two texts.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, a) in left.iter().enumerate() {
        let mut current = vec![row + 1; width];
        for (column, b) in right.iter().enumerate() {
            let changed = last[column] + usize::from(a != b);
            let mut best = changed.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped = row > 0 && column > 0 && left[row - 1] == *b && right[column - 1] == *a;
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            current[column + 1] = best;
        }
        before = std::mem::replace(&mut last, current);
    }
    last[width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_a_likely_one() {
        let words = ["always", "on_failure", "never"];
        for (text, expected) in [
            ("allways", Some("always")),
            ("onFailure", Some("on_failure")),
            ("on-failure", Some("on_failure")),
            ("Never", Some("never")),
            ("neevr", Some("never")),
            ("sometimes", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, words), expected, "{text}");
        }
    }

    #[test]
    fn fields_are_written_as_people_write_them() {
        let path: [Step; 4] = ["spec".into(), "command".into(), 0.into(), "a b\n".into()];
        assert_eq!(field(&path), "spec.command[0][\"a b\\n\"]");
    }

    #[test]
    fn messages_carry_no_control_characters() {
        assert_eq!(quoted("\u{1b}[31m"), "`\\u{1b}[31m`");
        assert_eq!(excerpt(&"x".repeat(100)).chars().count(), EXCERPT_CHARS_MAX + 1);
    }
}
