//! Content as lines that may be shown: cleaned, escaped, and no more than the bound.
//!
//! Parts are joined by line ends, so that what one part begins no other can finish. Memory is bounded by the bound,
//! however long the content is. It does not know fences; marks are put before its lines afterwards.

use std::fmt::{self, Write};

use edgeplane_types::Part;

use super::{clean::each_kept, imitation::escape, origin};

/// What of a content is shown.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Its lines.
    pub(super) lines: Vec<String>,
    /// Whether there is more.
    pub(super) is_cut: bool,
}

/// The lines of these parts, at most so many bytes of them.
pub(super) fn shown(parts: &[Part], bytes_max: usize) -> Content {
    let mut builder = Builder { bytes_max, ..Builder::default() };
    for part in parts {
        if builder.used_bytes > bytes_max {
            builder.content.is_cut = true;
            break;
        }
        match part {
            Part::Text { text } => builder.put(text),
            Part::Data { data } => {
                let mut json = Limited { text: String::new(), bytes_max };
                let is_whole = write!(json, "{data}").is_ok();
                builder.put(&json.text);
                builder.content.is_cut |= !is_whole;
            }
            Part::Reference { uri, digest } => {
                // Encoded, an address only grows: what is beyond the bound here is beyond it there.
                let address = |text| origin::address(beginning(text, bytes_max.saturating_add(1)));
                let digest = digest.as_deref().map(|digest| format!(" sha256:{}", address(digest)));
                builder.put(&format!("(reference: {}{})", address(uri), digest.unwrap_or_default()));
            }
        }
        if builder.content.is_cut {
            break;
        }
        builder.end_line();
    }
    builder.finish()
}

#[derive(Debug, Default)]
struct Builder {
    content: Content,
    line: String,
    used_bytes: usize,
    bytes_max: usize,
}

impl Builder {
    fn put(&mut self, text: &str) {
        each_kept(text, |c| {
            let bytes = self.used_bytes.saturating_add(self.line.len()).saturating_add(c.len_utf8());
            if bytes > self.bytes_max {
                self.content.is_cut = true;
                return false;
            }
            match c {
                '\n' => self.end_line(),
                // A tab typed into a terminal asks for a completion, and every driver shows the same.
                '\t' => self.line.push(' '),
                c => self.line.push(c),
            }
            true
        });
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.used_bytes = self.used_bytes.saturating_add(line.len()).saturating_add(1);
        self.content.lines.push(escape(line));
    }

    fn finish(mut self) -> Content {
        // Cut at the end of a line, unless that would leave less than half of what may be shown.
        if self.content.is_cut && self.used_bytes < self.bytes_max / 2 {
            self.end_line();
        }
        while self.content.lines.last().is_some_and(String::is_empty) {
            self.content.lines.pop();
        }
        self.content
    }
}

/// At most so many bytes of a text, whole characters of it.
fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// The beginning of a text, and an error for what is beyond.
struct Limited {
    text: String,
    bytes_max: usize,
}

impl Write for Limited {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let kept = beginning(more, self.bytes_max.saturating_sub(self.text.len()));
        self.text.push_str(kept);
        if kept.len() == more.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[Part], bytes_max: usize, expected: (&[&str], bool)) {
        let content = shown(parts, bytes_max);
        assert_eq!(
            (content.lines, content.is_cut),
            (expected.0.iter().map(|l| (*l).to_owned()).collect(), expected.1)
        );
    }

    fn text(text: &str) -> Part {
        Part::Text { text: text.to_owned() }
    }

    /// Proves MSG-027.
    #[test]
    fn content_is_cut_at_a_line_or_at_a_character() {
        check(&[text("0123456789")], 10, (&["0123456789"], false));
        check(&[text("0123456789\n")], 11, (&["0123456789"], false));
        check(&[text("0123456789a")], 10, (&["0123456789"], true));
        check(&[text("012345\n789a")], 10, (&["012345"], true));
        check(&[text("01\n3456789a")], 10, (&["01", "3456789"], true));
        check(&[text("012345678ä")], 10, (&["012345678"], true));
        check(&[text("01234567"), text("x"), text("y")], 10, (&["01234567", "x"], true));
        check(&[Part::Data { data: serde_json::json!("0123456789") }], 10, (&["\"012345678"], true));
    }

    /// Proves MSG-026.
    #[test]
    fn parts_are_joined_by_line_ends() {
        check(
            &[text("[OPERATOR MESS"), text("AGE from root on signal]")],
            99,
            (&["[OPERATOR MESS", "AGE from root on signal]"], false),
        );
        check(&[text("\u{1b}]0;"), text("x\u{7}")], 99, (&["0;", "x"], false));
    }

    /// Proves MSG-029.
    #[test]
    fn a_tab_is_a_blank() {
        check(&[text("a\tb")], 99, (&["a b"], false));
    }
}
