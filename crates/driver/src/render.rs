//! What a session sees of a message: where it comes from, before what it says.
//!
//! The first line names channel, sender and ingress, in characters that no shell, terminal or model mistakes. Lines
//! that say where content was found and for whom it is said follow. Content that is not to be obeyed stands in a
//! fence with a nonce of its message and is marked on every line. Content can imitate none of that: a line like one
//! of the node's is escaped, and what would move a cursor or reverse the order of reading is taken out.
//!
//! The text is the same on every driver. It does not know how it is typed or framed, and nothing of the record.

mod clean;
mod content;
mod imitation;
mod letters;
mod origin;
mod quote;

use edgeplane_types::{Authority, Channel, Envelope, Ingress, Part, SafeLabel};

pub use clean::clean;
pub use origin::{ADDRESS_BYTES_MAX, BEHALF_MAX};
pub use quote::{
    Facts, Fork, LeftOpen, OWN_BYTES_MAX, OpenTurn, QUOTE, Quotation, SUMMARY_BYTES_MAX, WAITING_SHOWN_MAX,
    forked, rehydration,
};

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

/// How much a session is shown at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Content of one message in bytes, without marks and backslashes; of what is longer the beginning is shown.
    pub content_bytes: usize,
    /// All quotations of a rehydration in bytes; the oldest are left out.
    pub quoted_bytes: usize,
}

impl Bounds {
    /// For native programs: about as much as a model reads at one go.
    pub const NATIVE: Self = Self { content_bytes: 256 << 10, quoted_bytes: 256 << 10 };

    /// For terminals, where each line is typed and often answered by an echo.
    pub const TERMINAL: Self = Self { content_bytes: 16 << 10, quoted_bytes: 16 << 10 };
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

/// A whole message as a session sees it: lines of the node, lines of content, lines of the node; none has a newline
/// in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The header, the origin and for whom it is said, and the fence's beginning if there is one.
    pub head: Vec<String>,
    /// The content.
    pub body: Vec<String>,
    /// The fence's end if there is one, and what says that there is more.
    pub tail: Vec<String>,
    /// Whether there is more.
    pub is_preview: bool,
}

impl Rendered {
    /// A text that the node alone wrote.
    #[must_use]
    pub fn written(lines: Vec<String>) -> Self {
        Self { head: lines, body: Vec::new(), tail: Vec::new(), is_preview: false }
    }

    /// Every line in its order.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.head.iter().chain(&self.body).chain(&self.tail).map(String::as_str)
    }

    /// The message as one text, lines ended by newlines but the last.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines().collect::<Vec<_>>().join("\n")
    }
}

/// Words of others that stand where no message does, such as in a description: cleaned, with what imitates the node
/// escaped, and no more than so many bytes of them; and whether there are more.
#[must_use]
pub fn words(text: &str, bytes_max: usize) -> (String, bool) {
    let shown = content::shown(&[Part::Text { text: text.to_owned() }], bytes_max);
    (shown.lines.join("\n"), shown.is_cut)
}

/// Renders a message.
#[must_use]
pub fn render(envelope: &Envelope, parts: &[Part], attempt: Attempt, bounds: Bounds) -> Rendered {
    let content = content::shown(parts, bounds.content_bytes);
    let mut head = vec![header(Heading {
        channel: envelope.channel,
        principal: &envelope.source.principal,
        ingress: envelope.ingress,
        attempt,
    })];
    head.extend(envelope.origin.as_ref().map(origin::origin_line));
    head.extend(origin::behalf_lines(&envelope.on_behalf_of));
    let (mut body, mut tail) = (content.lines, Vec::new());
    if is_fenced(envelope) {
        let nonce = nonce(envelope);
        head.push(format!("<<<{} {nonce}", envelope.authority));
        for line in &mut body {
            line.insert_str(0, MARK);
        }
        tail.push(format!(">>>{nonce}"));
    }
    if content.is_cut {
        tail.push(closing(envelope));
    }
    Rendered { head, body, tail, is_preview: content.is_cut }
}

/// Content of a light authority, and content that was found rather than said: who hands in a page did not write it.
fn is_fenced(envelope: &Envelope) -> bool {
    envelope.authority > Authority::Delegated
        || matches!(envelope.channel, Channel::Tool | Channel::Document | Channel::Web)
}

/// A text that no author of content can know.
///
/// It is the end of the message's id: 48 of the bits that the node takes from the kernel's random source when it
/// makes the id, and it makes the id after the content has been handed in whole. A second delivery has the nonce of
/// the first, but its content is fixed by its digest since then; what a reference leads to may change later, and is
/// not shown here. So whoever writes content guesses at odds of one to 2^48, and even then closes nothing: each line
/// of theirs is marked, and an imitated fence is escaped.
///
/// Where a sender chose the id, the node made other 48 bits when the content was there, and the envelope has them.
fn nonce(envelope: &Envelope) -> String {
    if let Some(fence) = &envelope.fence {
        return fence.to_string();
    }
    let text = envelope.id.to_string();
    text.get(text.len().saturating_sub(12)..).unwrap_or_default().to_owned()
}

/// What the node writes below the beginning of a long content. Without a semicolon: a shell that is typed this line
/// without a comment sign finds one command in it, and does not know it.
fn closing(envelope: &Envelope) -> String {
    let digest: String = envelope.content_digest.chars().filter(char::is_ascii_hexdigit).take(64).collect();
    let (bytes, id) = (grouped(envelope.content_bytes), envelope.id);
    format!("[… {bytes} bytes in all, sha256 {digest}, read it with: edgeplane message show {id}]")
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len().saturating_mul(2));
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
#[path = "render/tests.rs"]
mod tests;
