//! Text from outside, made harmless to print.
//!
//! Owns the rule that nothing an agent, a peer or a node said can move the cursor, change the window or hide other text.
//! It deliberately knows no terminal sequence: whatever begins one is simply not printed. What is *played* is the
//! business of [`crate::terminal::filter`].

use std::borrow::Cow;

/// Text on one line: control characters, line ends included, become blanks or nothing.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    clean(text, |c| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if is_harmful(c) => None,
        c => Some(c),
    })
}

/// Text on several lines: line ends and tabs stay.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    clean(text, |c| match c {
        '\n' | '\t' => Some(c),
        c if is_harmful(c) => None,
        c => Some(c),
    })
}

/// At most `chars` characters on one line, with a sign that something was cut.
pub(crate) fn excerpt(text: &str, chars: usize) -> String {
    let clean = one_line(text);
    let mut kept: String = clean.chars().take(chars).collect();
    if clean.chars().nth(chars).is_some() {
        kept.pop();
        kept.push('…');
    }
    kept
}

/// Controls of both sets, and characters that change the direction of other text or cannot be seen at all.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn clean(text: &str, keep: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if text.chars().all(|c| keep(c) == Some(c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().filter_map(keep).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        assert_eq!(one_line("a\x1b[31mb\x07\u{9b}2Jc\u{202e}d"), "a[31mb2Jcd");
        assert_eq!(one_line("a\r\nb\tc"), "a  b c");
        assert_eq!(lines("a\r\nb\tc\x1b\n"), "a\nb\tc\n");
        assert!(matches!(one_line("plain ünïcödé"), Cow::Borrowed(_)));
    }

    #[test]
    fn excerpt_says_that_something_is_missing() {
        assert_eq!(excerpt("abcdef", 6), "abcdef");
        assert_eq!(excerpt("abcdefg", 6), "abcde…");
        assert_eq!(excerpt("a\nb", 6), "a b");
    }
}
