//! Dividing a file into documents, so that one that cannot be read does not hide what is wrong with the others.

/// A part of a file that holds one document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    /// Lines of the file before it.
    pub(crate) line_offset: u32,
    /// Whether there is more in it than comments.
    pub(crate) has_content: bool,
}

/// Divides `text` at its `---` lines, which YAML allows nowhere else at the beginning of a line.
pub(crate) fn divide(text: &str) -> Vec<Document<'_>> {
    let mut documents = Vec::new();
    let mut begin = 0;
    let mut begin_line = 0;
    let mut has_content = false;
    let mut has_marker = false;
    let mut offset = 0;
    let mut line_number: u32 = 0;
    for line in text.split_inclusive('\n') {
        let rest = line.strip_prefix("---");
        let marker = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        // What stands before the first marker, such as comments, belongs to the document that the marker opens.
        if marker && (has_content || has_marker) {
            let whole = text.get(begin..offset).unwrap_or_default();
            documents.push(Document { text: whole, line_offset: begin_line, has_content });
            (begin, begin_line, has_content) = (offset, line_number, false);
        }
        has_marker |= marker;
        let shown = if marker { rest.unwrap_or_default() } else { line }.trim();
        let ends = shown == "...";
        let directive = !has_marker && line.starts_with('%');
        has_content |= !(shown.is_empty() || shown.starts_with('#') || ends || directive);
        offset += line.len();
        line_number = line_number.saturating_add(1);
    }
    let whole = text.get(begin..).unwrap_or_default();
    documents.push(Document { text: whole, line_offset: begin_line, has_content });
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, u32, bool)]) {
        let found: Vec<_> = divide(text)
            .iter()
            .map(|document| (document.text, document.line_offset, document.has_content))
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn documents_are_divided_at_their_markers() {
        check("a: 1\n", &[("a: 1\n", 0, true)]);
        check("a: 1\n---\nb: 2\n", &[("a: 1\n", 0, true), ("---\nb: 2\n", 1, true)]);
        check("# c\n---\na: 1\n", &[("# c\n---\na: 1\n", 0, true)]);
        check("---\n---\na: 1", &[("---\n", 0, false), ("---\na: 1", 1, true)]);
        check("--- a\r\n---\r\n", &[("--- a\r\n", 0, true), ("---\r\n", 1, false)]);
        check("a: |\n  ---\n----\n", &[("a: |\n  ---\n----\n", 0, true)]);
        check("", &[("", 0, false)]);
    }
}
