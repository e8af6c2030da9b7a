//! A use of a tool in a few lines: what it is, how far it is, and what it changes.

use serde_json::Value;

use crate::{
    output::{Color, paint},
    text,
};

/// Lines that are shown of a change or of what a tool said.
const LINES_MAX: usize = 12;

/// Characters of a line that are shown.
const CHARS_MAX: usize = 160;

/// What is known of a use of a tool by now.
#[derive(Debug, Clone, Default)]
pub(super) struct Tool {
    pub(super) title: String,
    pub(super) status: String,
    shown: Option<String>,
}

impl Tool {
    /// Takes what was said of it last; gives the lines that are new to a reader.
    pub(super) fn hears(&mut self, status: Option<&str>, data: &Value) -> Vec<String> {
        let title = data.get("title").and_then(Value::as_str).filter(|title| !title.trim().is_empty());
        let is_new = self.title.is_empty();
        if let Some(title) = title {
            self.title = text::excerpt(title, CHARS_MAX);
        } else if is_new {
            let call = data.get("toolCallId").and_then(Value::as_str).unwrap_or("a tool");
            self.title = text::excerpt(call, CHARS_MAX);
        }
        let status = status.unwrap_or(if is_new { "pending" } else { self.status.as_str() }).to_owned();
        let mut lines = Vec::new();
        if is_new || status != self.status {
            let kind = data.get("kind").and_then(Value::as_str).map(|kind| format!(" ({kind})"));
            let kind = kind.filter(|_| is_new).unwrap_or_default();
            let line = format!("tool: {}{}: ", self.title, text::excerpt(&kind, CHARS_MAX));
            lines.push(line + &painted(&status));
        }
        self.status = status;
        let content = content(data);
        if !content.is_empty() {
            let digest = content.join("\n");
            if self.shown.as_ref() != Some(&digest) {
                lines.extend(content);
                self.shown = Some(digest);
            }
        }
        lines
    }
}

fn painted(status: &str) -> String {
    match status {
        "completed" => paint(Color::Green, status),
        "failed" => paint(Color::Red, status),
        other => text::excerpt(other, CHARS_MAX),
    }
}

/// What a tool changes or says, shortened.
fn content(data: &Value) -> Vec<String> {
    let items = data.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut lines = Vec::new();
    for item in items {
        let field = |key: &str| item.get(key).and_then(Value::as_str);
        match field("type") {
            Some("diff") => {
                lines
                    .push(format!("  change of {}:", text::excerpt(field("path").unwrap_or("?"), CHARS_MAX)));
                lines
                    .extend(diff(field("oldText").unwrap_or_default(), field("newText").unwrap_or_default()));
            }
            Some("content") => {
                let said = item.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
                lines.extend(shortened(
                    said.lines().map(|line| format!("  | {}", text::excerpt(line, CHARS_MAX))),
                ));
            }
            _ => {}
        }
    }
    lines
}

/// The lines that differ: what is the same at the beginning and at the end is left out.
fn diff(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = |lines: &[&'_ str]| lines.len().saturating_sub(head);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let tail = tail.min(rest(&old)).min(rest(&new));
    let middle = |lines: &[&str], sign: &str, color| -> Vec<String> {
        let kept = lines.iter().skip(head).take(rest(lines).saturating_sub(tail));
        kept.map(|line| format!("  {}", paint(color, &text::excerpt(&format!("{sign}{line}"), CHARS_MAX))))
            .collect()
    };
    let removed = middle(&old, "- ", Color::Red);
    let added = middle(&new, "+ ", Color::Green);
    shortened(removed.into_iter().chain(added))
}

fn shortened(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    let more = lines.len().saturating_sub(LINES_MAX);
    if more > 0 {
        lines.truncate(LINES_MAX);
        lines.push(format!("  … {more} more lines"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(lines: &[String]) -> String {
        lines.join("\n").replace(['\u{2060}', '\u{2061}', '\u{2062}', '\u{2063}', '\u{2064}'], "")
    }

    /// Proves DRV-051.
    #[test]
    fn states_are_told_once_each_and_changes_are_short() {
        let mut tool = Tool::default();
        let call = json!({ "toolCallId": "c", "title": "write a", "kind": "edit", "status": "pending" });
        assert_eq!(plain(&tool.hears(Some("pending"), &call)), "tool: write a (edit): pending");
        assert!(tool.hears(Some("pending"), &call).is_empty(), "a question for leave says it once more");
        let change = json!({ "toolCallId": "c", "content": [{ "type": "diff", "path": "a.txt",
            "oldText": "one\ntwo\nthree", "newText": "one\n2\x1b[2J\nthree" }] });
        let lines = plain(&tool.hears(Some("completed"), &change));
        assert_eq!(lines, "tool: write a: completed\n  change of a.txt:\n  - two\n  + 2[2J");
        let long = json!({ "content": [{ "type": "content", "content": { "type": "text", "text": "x\n".repeat(20) } }] });
        let lines = tool.hears(None, &long);
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (13, "  … 8 more lines"));
        assert_eq!(plain(&diff("", "new")), "  + new");
        assert_eq!(plain(&diff("a\na", "a")), "  - a");
    }
}
