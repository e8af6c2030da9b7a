//! What a session sees of a message: where it comes from, before what it says.
//!
//! The first line names channel, sender and ingress, in characters that no shell, terminal or model mistakes.
//! Content of an authority below `delegated` stands in a fence with a nonce of its message and is marked on every
//! line. Content can imitate neither: a line like a header is escaped, and what would move a cursor or reverse
//! the order of reading is taken out.

use edgeplane_types::{Authority, Channel, Envelope, Ingress, MessageId, Part, SafeLabel};

/// What stands before each line of fenced content.
pub const MARK: &str = "| ";

/// Whether a session may have seen a message before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// It has not.
    First,
    /// Nobody knows: a crash cut the first attempt short.
    Again,
}

/// What the header is made of.
#[derive(Debug, Clone, Copy)]
pub struct Heading<'a> {
    /// The message's kind.
    pub channel: Channel,
    /// Who speaks.
    pub principal: &'a SafeLabel,
    /// The way it came in.
    pub ingress: Ingress,
    /// Whether it may have come before.
    pub attempt: Attempt,
}

/// The first line of every message, without a newline.
#[must_use]
pub fn header(heading: Heading<'_>) -> String {
    let channel = heading.channel.as_str().to_uppercase();
    let mark = match heading.attempt {
        Attempt::First => "",
        Attempt::Again => ", perhaps again",
    };
    format!("[{channel} MESSAGE from {} on {}{mark}]", heading.principal, heading.ingress)
}

/// A whole message as a session sees it: header lines first, then content lines, none with a newline in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The header, and the fence's opening if there is one.
    pub head: Vec<String>,
    /// The content.
    pub body: Vec<String>,
    /// The fence's end, if there is one.
    pub tail: Vec<String>,
}

impl Rendered {
    /// The message as one text, lines ended by newlines but the last.
    #[must_use]
    pub fn text(&self) -> String {
        let lines: Vec<&str> =
            self.head.iter().chain(&self.body).chain(&self.tail).map(String::as_str).collect();
        lines.join("\n")
    }
}

/// Renders a message.
#[must_use]
pub fn render(envelope: &Envelope, parts: &[Part], attempt: Attempt) -> Rendered {
    let content = content(parts);
    let head = header(Heading {
        channel: envelope.channel,
        principal: &envelope.source.principal,
        ingress: envelope.ingress,
        attempt,
    });
    if envelope.authority <= Authority::Delegated {
        return Rendered { head: vec![head], body: content, tail: Vec::new() };
    }
    let nonce = nonce(&envelope.id);
    Rendered {
        head: vec![head, format!("<<<{} {nonce}", envelope.authority)],
        body: content.into_iter().map(|line| format!("{MARK}{line}")).collect(),
        tail: vec![format!(">>>{nonce}")],
    }
}

/// A text that no author of content can know: the id is made after the content has been handed in.
fn nonce(id: &MessageId) -> String {
    let text = id.to_string();
    text.get(text.len().saturating_sub(12)..).unwrap_or_default().to_owned()
}

fn content(parts: &[Part]) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts {
        let text = match part {
            Part::Text { text } => text.clone(),
            Part::Data { data } => data.to_string(),
            Part::Reference { uri, digest } => match digest {
                Some(digest) => format!("(reference: {uri} sha256:{digest})"),
                None => format!("(reference: {uri})"),
            },
        };
        lines.extend(clean(&text).split('\n').map(escape_imitation));
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Text without what would act on a terminal or deceive a reader: controls, escapes, direction overrides.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            c if c.is_control() => {}
            '\u{061c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => {}
            c => out.push(c),
        }
    }
    out
}

/// Puts a backslash before the bracket of a line that looks like a header, and before a fence's arrows.
fn escape_imitation(line: &str) -> String {
    let start = line
        .find(|c: char| !c.is_whitespace() && !matches!(c, '#' | '/' | ';' | '-' | '*' | '%' | '"' | '\''));
    let Some(start) = start else { return line.to_owned() };
    let (lead, rest) = line.split_at(start);
    let upper = rest.to_uppercase();
    let like_header = is_open_bracket(rest) && upper.contains("MESSAGE") && upper.contains("FROM");
    if like_header || rest.starts_with("<<<") || rest.starts_with(">>>") {
        format!("{lead}\\{rest}")
    } else {
        line.to_owned()
    }
}

/// Also brackets that only look like ours.
fn is_open_bracket(rest: &str) -> bool {
    rest.starts_with(['[', '\u{ff3b}', '\u{27e6}', '\u{3010}', '\u{3014}', '\u{2045}'])
}

#[cfg(test)]
#[path = "render/tests.rs"]
mod tests;
