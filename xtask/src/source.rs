//! Rust source seen as code and as comments, and which of its lines are tests.
//!
//! Understands just enough of the language for that: comments, literals, attributes and balanced brackets. It
//! does not parse, expand macros or resolve names.

mod scan;

use std::ops::Range;

use scan::Kind;

/// One source file in views of equal length, so that an offset or a line means the same in all of them.
#[derive(Debug)]
pub(crate) struct Source {
    /// The text with comments and literals blanked.
    code: String,
    /// The text with everything but comments blanked.
    comments: String,
    /// Where each line begins.
    line_starts: Vec<usize>,
    attributes: Vec<Attribute>,
    /// The parts that are compiled for tests only.
    tests: Vec<Range<usize>>,
    /// The modules compiled for tests only whose text lies in files of their own.
    test_modules: Vec<String>,
}

/// `#[…]` or `#![…]`.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) span: Range<usize>,
    /// Whether it speaks of what encloses it: `#![…]`.
    pub(crate) inner: bool,
    /// What stands between the brackets, without white space, literals and comments.
    pub(crate) content: String,
}

impl Attribute {
    /// The name before any arguments: `cfg`, `tokio::test`.
    pub(crate) fn path(&self) -> &str {
        self.content.split(['(', '=']).next().unwrap_or_default()
    }

    /// Whether it marks a function as a test.
    pub(crate) fn marks_test(&self) -> bool {
        self.path().rsplit("::").next() == Some("test")
    }

    /// Whether what it applies to is compiled for tests only.
    fn gates_test(&self) -> bool {
        self.marks_test()
            || (self.path() == "cfg"
                && words(&self.content, "test").next().is_some()
                && !self.content.contains("not(test"))
    }
}

impl Source {
    /// Takes a file apart.
    pub(crate) fn new(text: &str) -> Self {
        let spans = scan::spans(text);
        let code = blank(text, spans.iter().map(|(_, span)| span.clone()));
        let comment_spans =
            spans.iter().filter(|(kind, _)| *kind == Kind::Comment).map(|(_, span)| span.clone());
        let comments = blank(text, gaps(text.len(), comment_spans).into_iter());
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let attributes = attributes(&code);
        let (tests, test_modules) = find_tests(&code, &attributes);
        Self { code, comments, line_starts, attributes, tests, test_modules }
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The comments, line by line, each with its number.
    pub(crate) fn comment_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.comments.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The line, counted from one, that holds the byte at `offset`.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Whether the byte at `offset` is compiled for tests only.
    pub(crate) fn is_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|span| span.contains(&offset))
    }

    /// The modules compiled for tests only whose text lies in files of their own.
    pub(crate) fn test_modules(&self) -> &[String] {
        &self.test_modules
    }

    /// The comments directly above the line that holds `offset`, from the nearest up, across attributes.
    pub(crate) fn comments_above(&self, offset: usize) -> impl Iterator<Item = &str> {
        let line = self.line(offset);
        (1..line)
            .rev()
            .map(|number| self.line_span(number))
            .take_while(|span| {
                let commented = !self.comments[span.clone()].trim().is_empty();
                match self.code[span.clone()].trim() {
                    "" => commented,
                    _ => self.inside_attribute(span),
                }
            })
            .map(|span| self.comments[span].trim())
    }

    fn line_span(&self, number: usize) -> Range<usize> {
        let end = self.line_starts.get(number).copied().unwrap_or(self.code.len());
        self.line_starts[number - 1]..end
    }

    /// Whether everything on the line belongs to attributes.
    fn inside_attribute(&self, line: &Range<usize>) -> bool {
        line.clone().all(|at| {
            self.code.as_bytes()[at].is_ascii_whitespace()
                || self.attributes.iter().any(|attribute| attribute.span.contains(&at))
        })
    }
}

/// Finds the places where `word` stands as a whole word.
pub(crate) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let bytes = text.as_bytes();
        !part(at.checked_sub(1).and_then(|before| bytes.get(before))) && !part(bytes.get(at + word.len()))
    })
}

/// Replaces the spans by spaces, byte for byte, and keeps their line ends.
fn blank(text: &str, spans: impl Iterator<Item = Range<usize>>) -> String {
    let mut blanked = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        blanked.push_str(&text[done..span.start]);
        blanked.extend(text[span.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        done = span.end;
    }
    blanked.push_str(&text[done..]);
    blanked
}

/// What lies between the spans and around them.
fn gaps(length: usize, spans: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut done = 0;
    for span in spans {
        gaps.push(done..span.start);
        done = span.end;
    }
    gaps.push(done..length);
    gaps
}

/// Finds the parts compiled for tests only, and the modules among them that lie in files of their own.
fn find_tests(code: &str, attributes: &[Attribute]) -> (Vec<Range<usize>>, Vec<String>) {
    let mut spans = Vec::new();
    let mut modules = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.gates_test()) {
        if attribute.inner {
            spans.push(0..code.len());
            continue;
        }
        let start = skip_attributes(code, attributes, attribute.span.end);
        let end = item_end(code, start);
        spans.push(attribute.span.start..end);
        if let Some(item) = code[start..end].strip_suffix(';')
            && let Some(name) = item.split_whitespace().skip_while(|word| *word != "mod").nth(1)
        {
            modules.push(name.to_owned());
        }
    }
    (spans, modules)
}

fn skip_attributes(code: &str, attributes: &[Attribute], mut at: usize) -> usize {
    loop {
        at = code.len() - code[at..].trim_start().len();
        match attributes.iter().find(|attribute| attribute.span.start == at) {
            Some(attribute) => at = attribute.span.end,
            None => return at,
        }
    }
}

fn attributes(code: &str) -> Vec<Attribute> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = code[from..].find('#').map(|at| from + at) {
        from = at + 1;
        let rest = code[from..].trim_start();
        let (inner, rest) = match rest.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, rest),
        };
        if !rest.starts_with('[') {
            continue;
        }
        let open = code.len() - rest.len();
        let end = balanced_end(code, open);
        let content = code[open + 1..end].strip_suffix(']').unwrap_or_default().split_whitespace().collect();
        found.push(Attribute { span: at..end, inner, content });
        from = end;
    }
    found
}

/// The offset after the bracket that closes the one at `open`, or the end of the code.
fn balanced_end(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// The offset after the item, field, variant or statement that begins at `start`.
fn item_end(code: &str, start: usize) -> usize {
    const KEYWORDS: &[&str] = &[
        "fn", "mod", "struct", "enum", "union", "impl", "use", "const", "static", "async", "unsafe",
        "extern", "trait", "type", "let",
    ];
    let head = code[start..].split(['{', ';', ',', '=', ':']).next().unwrap_or_default();
    // Where none of these opens it, it is a field, a variant or an arm, which a comma ends.
    let ends_at_comma = !KEYWORDS.iter().any(|keyword| words(head, keyword).next().is_some());
    let mut at = start;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b'(' | b'[' => at = balanced_end(code, at),
            b'{' => return balanced_end(code, at),
            b';' => return at + 1,
            b',' if ends_at_comma => return at + 1,
            b'}' => return at,
            _ => at += 1,
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
