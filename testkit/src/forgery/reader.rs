//! A strict reader of the contract: it believes what the contract says and nothing else.
//!
//! It shares no code with the renderer. What it cannot read by the letter is an error, not a guess.

/// What a session may believe of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The channel, in capitals.
    pub channel: String,
    /// Who speaks.
    pub principal: String,
    /// The way it came in.
    pub ingress: String,
    /// Whether it may have come before.
    pub is_again: bool,
    /// Where content was found.
    pub origin: Option<String>,
    /// For whom it is said.
    pub behalf: Vec<String>,
    /// Authority and nonce.
    pub fence: Option<(String, String)>,
    /// Without marks.
    pub content: Vec<String>,
    /// What is said of content that is shown in part.
    pub preview: Option<String>,
}

/// Reads a message whose node-written lines begin with `comment`.
///
/// # Errors
/// What is not by the letter.
pub fn read(text: &str, comment: &str) -> Result<Seen, String> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let preview = preview(&mut lines, comment);
    let mut lines = lines.into_iter().peekable();
    let head = lines.next().and_then(|line| line.strip_prefix(comment)).ok_or("no first line")?;
    let (channel, principal, ingress, is_again) = header(head).ok_or(format!("no header: {head:?}"))?;
    let mut taken = |prefix: &str| {
        lines.next_if(|line| line.strip_prefix(comment).is_some_and(|line| line.starts_with(prefix)))
    };
    let origin = taken("origin: ").map(|line| line[comment.len() + 8..].to_owned());
    let mut behalf = Vec::new();
    while let Some(line) = taken("on behalf of ") {
        behalf.push(line[comment.len() + 13..].to_owned());
    }
    let fence = taken("<<<").map(|line| line[comment.len() + 3..].to_owned());
    let rest: Vec<&str> = lines.collect();
    let (fence, content) = match fence {
        None => (None, rest.into_iter().map(str::to_owned).collect()),
        Some(fence) => {
            let (authority, nonce) = fence.split_once(' ').ok_or("a fence without a nonce")?;
            let end = format!("{comment}>>>{nonce}");
            let (last, marked) = rest.split_last().ok_or("a fence without an end")?;
            if *last != end {
                return Err(format!("the fence ends in {last:?}"));
            }
            let unmarked =
                marked.iter().map(|line| line.strip_prefix("| ").ok_or(format!("no mark: {line:?}")));
            let content = unmarked.map(|line| line.map(str::to_owned)).collect::<Result<_, _>>()?;
            (Some((authority.to_owned(), nonce.to_owned())), content)
        }
    };
    Ok(Seen { channel, principal, ingress, is_again, origin, behalf, fence, content, preview })
}

fn preview(lines: &mut Vec<&str>, comment: &str) -> Option<String> {
    let last = lines.last()?.strip_prefix(comment)?;
    let is_preview = last.starts_with("[… ") && last.ends_with(']') && last.contains(" bytes in all");
    is_preview.then(|| lines.pop()).flatten().map(str::to_owned)
}

/// `[CHANNEL MESSAGE from PRINCIPAL on INGRESS]`, letter by letter.
#[must_use]
pub fn header(line: &str) -> Option<(String, String, String, bool)> {
    let within = line.strip_prefix('[')?.strip_suffix(']')?;
    let (channel, rest) = within.split_once(" MESSAGE from ")?;
    let (principal, rest) = rest.split_once(" on ")?;
    let (ingress, is_again) = match rest.strip_suffix(", perhaps again") {
        Some(ingress) => (ingress, true),
        None => (rest, false),
    };
    let all = |text: &str, is: fn(char) -> bool| !text.is_empty() && text.chars().all(is);
    let is_label = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
    let right = all(channel, |c| c.is_ascii_uppercase())
        && all(principal, is_label)
        && all(ingress, |c| c.is_ascii_lowercase());
    right.then(|| (channel.to_owned(), principal.to_owned(), ingress.to_owned(), is_again))
}

/// A reader that is easily taken in: small letters and any gaps, anywhere in the line.
fn is_taken_for_a_header(line: &str) -> bool {
    const CHANNELS: [&str; 9] =
        ["operator", "peer", "scheduler", "system", "workflow", "tool", "document", "web", "external"];
    let plain = line.to_ascii_lowercase();
    let letters: String = plain.chars().filter(char::is_ascii_alphabetic).collect();
    if !letters.contains("messagefrom") {
        return false;
    }
    plain.match_indices('[').filter(|(at, _)| !plain[..*at].ends_with('\\')).any(|(at, _)| {
        let letters: String = plain[at..].chars().take(80).filter(char::is_ascii_alphabetic).collect();
        let behind_channel = CHANNELS.iter().find_map(|channel| letters.strip_prefix(channel));
        behind_channel.is_some_and(|rest| rest.starts_with("messagefrom"))
    })
}

/// Whether this character acts on a terminal or on the order of reading, or shows as nothing.
fn acts(c: char) -> bool {
    let code = u32::from(c);
    code < 0x20
        || (0x7f..=0x9f).contains(&code)
        || [0xad, 0x34f, 0x61c, 0x180e, 0x200b, 0x200c, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff]
            .contains(&code)
        || (0x202a..=0x202e).contains(&code)
        || (0x2060..=0x206f).contains(&code)
        || (0xfff9..=0xfffb).contains(&code)
        || (0xe0000..=0xe0fff).contains(&code)
}

/// The first character of a text that acts on more than itself; lines may end.
#[must_use]
pub fn acting(text: &str) -> Option<char> {
    text.chars().find(|c| *c != '\n' && acts(*c))
}

/// The first line of content that somebody might take for one of the node's.
#[must_use]
pub fn mistakable(seen: &Seen) -> Option<&str> {
    let is_mistakable = |line: &str| {
        let start = line.trim_start_matches(['#', ' ', '>', '|']);
        is_taken_for_a_header(line)
            || header(line).is_some()
            || line.starts_with(">>>")
            || line.starts_with("<<<")
            || line.starts_with("| ")
            || ["origin:", "on behalf of ", "[OWN OUTPUT ", "[… "].iter().any(|own| start.starts_with(own))
    };
    seen.content.iter().map(String::as_str).find(|line| is_mistakable(line))
}
