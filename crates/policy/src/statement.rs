//! A file of rules before Cedar reads it: its statements, their annotations, and how deep they nest.
//!
//! Cedar's parser recurses, and a deep text would overflow the stack and end the process. So the tokens are counted
//! here first, in one pass without recursion, by the same rules for texts and comments as Cedar's own lexer. What a
//! statement means is left to Cedar.

use crate::{
    compile::{DEPTH_MAX, NESTING_MAX},
    problem::Finding,
};

/// One rule as it is written, from its first annotation to its semicolon.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) text: &'a str,
    /// Where it begins in its file, in bytes.
    pub(crate) offset: usize,
    pub(crate) annotations: Vec<Annotation<'a>>,
}

/// Where an annotation stands.
#[derive(Debug)]
pub(crate) struct Annotation<'a> {
    pub(crate) key: &'a str,
    /// Where its name stands in the file, in bytes.
    pub(crate) key_offset: usize,
    /// Where its value stands; its name where it has none.
    pub(crate) value_offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// A text in quotation marks.
    Text,
    Open,
    Close,
    /// Anything else, of one or two characters.
    Mark,
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    offset: usize,
}

/// Takes a file apart. A statement that nests too deeply is a finding instead.
pub(crate) fn split(text: &str) -> Result<Vec<Result<Statement<'_>, Finding>>, Finding> {
    let tokens = tokens(text)?;
    let mut statements = Vec::new();
    for tokens in tokens.split_inclusive(|token| token.text == ";" && token.kind == Kind::Mark) {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { continue };
        let end = last.offset + last.text.len();
        let statement = check_depth(tokens).map(|()| Statement {
            text: text.get(first.offset..end).unwrap_or_default(),
            offset: first.offset,
            annotations: annotations(tokens),
        });
        statements.push(statement);
    }
    Ok(statements)
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Finding> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    while let Some(rest) = text.get(offset..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = next(rest, offset)?;
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: rest.get(..length).unwrap_or_default(), offset });
        }
        offset += length;
    }
    Ok(tokens)
}

/// The kind of what `rest` begins with, none for blanks and comments, and its length in bytes.
fn next(rest: &str, offset: usize) -> Result<(Option<Kind>, usize), Finding> {
    let first = rest.chars().next().unwrap_or(' ');
    let while_ = |keep: fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
    Ok(match first {
        c if c.is_whitespace() => (None, while_(char::is_whitespace)),
        '/' if rest.starts_with("//") => (None, rest.find(['\n', '\r']).unwrap_or(rest.len())),
        '"' => (Some(Kind::Text), text_length(rest, offset)?),
        c if is_word(c) => (Some(Kind::Word), while_(is_word)),
        '(' | '[' | '{' => (Some(Kind::Open), 1),
        ')' | ']' | '}' => (Some(Kind::Close), 1),
        c => {
            let pair = ["&&", "||", "::", "==", "!=", "<=", ">="].iter().any(|pair| rest.starts_with(pair));
            (Some(Kind::Mark), if pair { 2 } else { c.len_utf8() })
        }
    })
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of the text that `rest` begins with, with its quotation marks.
fn text_length(rest: &str, offset: usize) -> Result<usize, Finding> {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok(at + 1),
            // Cedar takes any character behind a backslash but the end of the line.
            '\\' if chars.next().is_some_and(|(_, escaped)| escaped == '\n') => {
                return Err(Finding::new(
                    offset + at,
                    "a backslash at the end of a line",
                    "an escape such as `\\n`",
                ));
            }
            _ => {}
        }
    }
    Err(Finding::new(offset, "a text without end", "a `\"` behind it"))
}

/// What is known of the place between two brackets while its tokens are counted.
#[derive(Debug, Default, Clone, Copy)]
struct Level {
    /// Operators that each put everything before them one deeper: `&&`, `||`, `if`, and clauses.
    joints: usize,
    /// Operators within the operand that is being read.
    operators: usize,
    /// Depth of the deepest bracket within that operand.
    inner: usize,
    /// Depth of the deepest operand so far.
    operand: usize,
    /// Depth of the deepest item so far, where a comma separates items.
    item: usize,
}

impl Level {
    fn end_operand(&mut self) {
        self.operand = self.operand.max(self.operators + self.inner);
        (self.operators, self.inner) = (0, 0);
    }

    fn end_item(&mut self) {
        self.end_operand();
        self.item = self.item.max(self.joints + self.operand);
        (self.joints, self.operand) = (0, 0);
    }

    /// No tree that Cedar makes of it is deeper.
    fn depth(mut self) -> usize {
        self.end_item();
        self.item
    }
}

/// Refuses a statement that nests too deeply, by brackets or by operators.
fn check_depth(tokens: &[Token<'_>]) -> Result<(), Finding> {
    let mut open: Vec<Level> = Vec::new();
    let mut level = Level::default();
    for token in tokens {
        match token.kind {
            Kind::Open => {
                if open.len() == NESTING_MAX {
                    let found = format!("`{}` within {NESTING_MAX} open brackets", token.text);
                    return Err(too_deep(token, found, format!("at most {NESTING_MAX}")));
                }
                open.push(std::mem::take(&mut level));
            }
            Kind::Close => {
                let depth = level.depth() + 1;
                // A bracket that was not opened is for Cedar to complain about.
                level = open.pop().unwrap_or_default();
                level.inner = level.inner.max(depth);
            }
            Kind::Mark => count_mark(&mut level, token.text),
            Kind::Word => count_word(&mut level, token.text),
            Kind::Text => {}
        }
        // What is around this bracket is counted when it closes, or below.
        check_level(token, open.len() + level.depth())?;
    }
    // A statement may end with brackets open; Cedar has recursed into them by then.
    let depth = open.iter().rev().fold(level.depth(), |depth, outer| {
        let mut outer = *outer;
        outer.inner = outer.inner.max(depth + 1);
        outer.depth()
    });
    tokens.last().map_or(Ok(()), |last| check_level(last, depth))
}

fn check_level(token: &Token<'_>, depth: usize) -> Result<(), Finding> {
    if depth > DEPTH_MAX {
        let found = format!("an expression that is {depth} deep");
        return Err(too_deep(token, found, format!("at most {DEPTH_MAX}")));
    }
    Ok(())
}

fn count_mark(level: &mut Level, mark: &str) {
    match mark {
        "&&" | "||" => {
            level.end_operand();
            level.joints += 1;
        }
        "," => level.end_item(),
        "::" | "@" | ";" | ":" => {}
        _ => level.operators += 1,
    }
}

fn count_word(level: &mut Level, word: &str) {
    match word {
        "when" | "unless" => {
            level.end_operand();
            level.joints += 1;
        }
        // Evaluating one takes about twice the stack of an operator.
        "if" => {
            level.end_operand();
            level.joints += 2;
        }
        "then" | "else" => level.end_operand(),
        "in" | "has" | "like" | "is" => level.operators += 1,
        _ => {}
    }
}

fn too_deep(token: &Token<'_>, found: String, expected: String) -> Finding {
    Finding::new(token.offset, found, expected).with_hint("write several rules, or one list with `contains`")
}

/// The annotations at the beginning of a statement. Whatever is wrong with them is for Cedar to complain about.
fn annotations<'a>(tokens: &[Token<'a>]) -> Vec<Annotation<'a>> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [at, key, after @ ..] = rest {
        if at.text != "@" || key.kind != Kind::Word {
            break;
        }
        let mut annotation = Annotation { key: key.text, key_offset: at.offset, value_offset: key.offset };
        rest = after;
        if let [open, value, close, after @ ..] = rest
            && open.text == "("
            && value.kind == Kind::Text
            && close.text == ")"
        {
            annotation.value_offset = value.offset;
            rest = after;
        }
        found.push(annotation);
    }
    found
}

#[cfg(test)]
mod tests;
