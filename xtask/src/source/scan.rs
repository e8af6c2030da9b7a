//! Finds the comments and the literals in Rust source.

use std::ops::Range;

/// What a span of text is when it is not code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Comment,
    /// A string, character or byte literal, with its prefix and quotes.
    Literal,
}

/// Finds every comment and literal, in order. What is never closed reaches to the end.
pub(super) fn spans(text: &str) -> Vec<(Kind, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let bytes = &text.as_bytes()[at..];
        let (kind, length) = match bytes {
            [b'/', b'/', ..] => (Some(Kind::Comment), line_comment(bytes)),
            [b'/', b'*', ..] => (Some(Kind::Comment), block_comment(bytes)),
            [b'"', ..] => (Some(Kind::Literal), quoted(bytes, b'"')),
            [b'\'', ..] => match character(&text[at..]) {
                Some(length) => (Some(Kind::Literal), length),
                None => (None, 1),
            },
            [first, ..] if is_word(*first) => word_or_prefixed(&text[at..]),
            _ => (None, 1),
        };
        if let Some(kind) = kind {
            found.push((kind, at..at + length));
        }
        at += length;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn line_comment(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len())
}

/// Block comments nest.
fn block_comment(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A literal that opens with `quote` and in which a backslash escapes.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A character literal, unless the quote opens a lifetime or a label.
fn character(text: &str) -> Option<usize> {
    let first = text[1..].chars().next()?;
    if first == '\\' {
        return Some(quoted(text.as_bytes(), b'\''));
    }
    let end = 1 + first.len_utf8();
    text[end..].starts_with('\'').then_some(end + 1)
}

/// A word, which is code, or a literal that a word prefixes: `b"…"`, `br#"…"#`, `b'…'`.
fn word_or_prefixed(text: &str) -> (Option<Kind>, usize) {
    let bytes = text.as_bytes();
    let word = bytes.iter().position(|byte| !is_word(*byte)).unwrap_or(bytes.len());
    let rest = &bytes[word..];
    let literal = match (&text[..word], rest.first()) {
        ("b" | "c", Some(b'"')) => Some(quoted(rest, b'"')),
        ("b", Some(b'\'')) => Some(quoted(rest, b'\'')),
        ("r" | "br" | "cr", Some(b'"' | b'#')) => raw(rest),
        _ => None,
    };
    match literal {
        Some(length) => (Some(Kind::Literal), word + length),
        None => (None, word),
    }
}

/// A raw literal from its hashes on, unless these make a raw identifier.
fn raw(bytes: &[u8]) -> Option<usize> {
    let hashes = bytes.iter().position(|byte| *byte != b'#')?;
    if bytes[hashes] != b'"' {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = &bytes[hashes + 1..];
    let end = body.windows(close.len()).position(|window| window == close).map(|at| at + close.len());
    Some(hashes + 1 + end.unwrap_or(body.len()))
}
