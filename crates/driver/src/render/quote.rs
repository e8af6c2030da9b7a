//! What a session is told when an epoch begins that goes on with an older one: facts, then quotations.
//!
//! No summary is made here: it would be content without a speaker. One that somebody wrote is quoted as theirs. A
//! quotation is the original rendering, each line behind a sign that no live message begins with. Which items are handed
//! in, and from where, is the caller's business.

use edgeplane_types::{
    Authority, Channel, Continuity, Epoch, Ingress, MessageId, Part, SafeLabel, ThreadId, TurnId,
    fact::Cause, life::ExitStatus,
};

use super::{Attempt, Bounds, Heading, MARK, Rendered, content, grouped, header};

/// What stands before each line of a quotation.
pub const QUOTE: &str = "> ";

/// Longest list of ids in one line; the rest is counted.
pub const WAITING_SHOWN_MAX: usize = 16;

/// How much is quoted of one output of the agent's own, in bytes.
pub const OWN_BYTES_MAX: usize = 4 << 10;

/// How much is quoted of a summary, in bytes.
pub const SUMMARY_BYTES_MAX: usize = 16 << 10;

/// What becomes of a turn that an epoch's end cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOpen {
    /// Its message is delivered once more.
    Retried,
    /// Somebody is asked.
    Asked,
    /// It stays interrupted.
    Dropped,
}

/// A turn that had begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenTurn {
    /// The message that began it.
    pub message_id: MessageId,
    /// What becomes of it.
    pub becomes: LeftOpen,
}

/// What is known of the epoch that begins. Words of the glossary, numbers and ids: nothing that anybody has written.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The node, as its messages name it.
    pub principal: &'a SafeLabel,
    /// The epoch that begins.
    pub epoch: Epoch,
    /// Why it begins.
    pub cause: Cause,
    /// How the epoch before it ended, if there was one.
    pub last_end: Option<ExitStatus>,
    /// How much of the former context there is.
    pub continuity: Continuity,
    /// The turn that was open.
    pub open_turn: Option<OpenTurn>,
    /// Messages that wait, the next one first; a caller may leave out what is beyond [`WAITING_SHOWN_MAX`].
    pub waiting: &'a [MessageId],
    /// How many wait in all.
    pub waiting_count: u64,
}

/// One thing that was said before.
#[derive(Debug, Clone, Copy)]
pub enum Quotation<'a> {
    /// A message to the agent.
    Message {
        /// Which.
        id: MessageId,
        /// As the session saw it.
        rendered: &'a Rendered,
    },
    /// The agent's own answer to a message.
    Turn {
        /// Which one it answered, if it said so.
        message_id: Option<MessageId>,
        /// The answer.
        text: &'a str,
    },
    /// What another agent answered to a message, in a thread of its own.
    OutputOf {
        /// Whose words they are.
        agent: &'a SafeLabel,
        /// What they weigh.
        authority: Authority,
        /// The message that they answered.
        message_id: MessageId,
        /// The answer.
        text: &'a str,
    },
    /// What stands for the turns of a thread up to one of them.
    Summary {
        /// Who wrote it.
        by: &'a SafeLabel,
        /// What it weighs.
        authority: Authority,
        /// How many turns it stands for.
        turns: u64,
        /// The last of them.
        through: TurnId,
        /// The words.
        text: &'a str,
    },
    /// Something that the agent told besides.
    Item {
        /// Of which kind.
        kind: &'a SafeLabel,
        /// What.
        text: &'a str,
    },
}

/// The system message with which a session goes on: facts first, then the last of `items`, which are in their order.
///
/// Every line of it is the node's or a quotation, so all of them are head lines and a terminal comments them out. A
/// terminal without a comment sign must not be typed it: to a shell the sign of a quotation is a redirection.
#[must_use]
pub fn rehydration(facts: &Facts<'_>, items: &[Quotation<'_>], bounds: Bounds) -> Rendered {
    behind(fact_lines(facts), items, bounds)
}

/// What is known of a thread that goes on from another one.
#[derive(Debug, Clone, Copy)]
pub struct Fork<'a> {
    /// The node, as its messages name it.
    pub principal: &'a SafeLabel,
    /// The thread that begins.
    pub thread: ThreadId,
    /// The one that it goes on from.
    pub parent: ThreadId,
    /// The agent that the parent belongs to.
    pub agent: &'a SafeLabel,
    /// The last turn of the parent that is part of the fork's history.
    pub through: Option<TurnId>,
}

/// The system message ahead of the first turn of a fork: where it comes from, then its history as quotations.
#[must_use]
pub fn forked(fork: &Fork<'_>, items: &[Quotation<'_>], bounds: Bounds) -> Rendered {
    let head = header(Heading {
        channel: Channel::System,
        principal: fork.principal,
        ingress: Ingress::Node,
        attempt: Attempt::First,
    });
    let lines = vec![
        head,
        format!("thread: {}", fork.thread),
        format!("forked from: {} of {}", fork.parent, fork.agent),
        fork.through.map_or_else(|| "through turn: none".to_owned(), |turn| format!("through turn: {turn}")),
    ];
    behind(lines, items, bounds)
}

/// Facts, and behind them the last of the items as quotations.
fn behind(mut lines: Vec<String>, items: &[Quotation<'_>], bounds: Bounds) -> Rendered {
    let Chosen { summaries, quotations, older, too_long } = choose(items, bounds);
    if !too_long.is_empty() {
        lines.push(format!("too long to be quoted: {}", listed(&too_long, count(too_long.len()))));
    }
    let quoted = match (summaries.len(), quotations.len()) {
        (0, quoted) => items_of(quoted),
        (1, 0) => "a summary".to_owned(),
        (1, quoted) => format!("a summary and {}", items_of(quoted)),
        (summaries, quoted) => format!("{summaries} summaries and {}", items_of(quoted)),
    };
    lines.push(match (summaries.len() + quotations.len(), older) {
        (0, 0) => "quoted: nothing".to_owned(),
        (_, 0) => format!("quoted: {quoted}, oldest first"),
        (_, older) => format!("quoted: {quoted}, oldest first; {} left out", older_of(older)),
    });
    lines.extend(summaries.into_iter().flatten());
    lines.extend(quotations.into_iter().rev().flatten());
    Rendered::written(lines)
}

fn fact_lines(facts: &Facts<'_>) -> Vec<String> {
    let head = header(Heading {
        channel: Channel::System,
        principal: facts.principal,
        ingress: Ingress::Node,
        attempt: Attempt::First,
    });
    let mut lines = vec![
        head,
        format!("epoch: {}", facts.epoch),
        format!("cause: {}", cause_word(facts.cause)),
        format!("continuity: {}", continuity_word(facts.continuity)),
    ];
    lines.extend(facts.last_end.map(|end| format!("end of the epoch before: {end}")));
    lines.push(match &facts.open_turn {
        None => "open turn: none".to_owned(),
        Some(turn) => format!("open turn: {}, {}", turn.message_id, becomes_word(turn.becomes)),
    });
    lines.push(match facts.waiting_count {
        0 => "waiting messages: none".to_owned(),
        waiting => format!("waiting messages: {}: {}", grouped(waiting), listed(facts.waiting, waiting)),
    });
    lines
}

/// Ids in one line, and how many of all are not in it.
fn listed(ids: &[MessageId], all: u64) -> String {
    let shown: Vec<String> = ids.iter().take(WAITING_SHOWN_MAX).map(ToString::to_string).collect();
    let line = shown.join(" ");
    match all.saturating_sub(count(shown.len())) {
        0 => line,
        more => format!("{line} and {} more", grouped(more)).trim_start().to_owned(),
    }
}

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

fn items_of(quoted: usize) -> String {
    if quoted == 0 {
        return "no items".to_owned();
    }
    if quoted == 1 { "the last item".to_owned() } else { format!("the last {quoted} items") }
}

fn older_of(older: usize) -> String {
    if older == 1 { "1 older one is".to_owned() } else { format!("{older} older ones are") }
}

/// What is quoted, newest first, and what is not.
struct Chosen {
    summaries: Vec<Vec<String>>,
    quotations: Vec<Vec<String>>,
    older: usize,
    too_long: Vec<MessageId>,
}

/// The newest items that fit. One that is too long by itself is passed over and named: it is not cut, because a
/// quotation is the original, and it does not take the older ones with it.
fn choose(items: &[Quotation<'_>], bounds: Bounds) -> Chosen {
    let mut left = bounds.quoted_bytes;
    // What stands for many turns is not left out for the sake of one.
    let (summaries, items): (Vec<_>, Vec<_>) =
        items.iter().partition(|item| matches!(item, Quotation::Summary { .. }));
    let summaries: Vec<_> = summaries.into_iter().map(|item| quoted(item, bounds)).collect();
    left = left.saturating_sub(summaries.iter().map(|lines| size(lines)).sum());
    let mut chosen = Chosen { summaries, quotations: Vec::new(), older: 0, too_long: Vec::new() };
    for (place, item) in items.into_iter().enumerate().rev() {
        let lines = quoted(item, bounds);
        let bytes = size(&lines);
        match (left.checked_sub(bytes), item) {
            (Some(rest), _) => {
                left = rest;
                chosen.quotations.push(lines);
            }
            (None, Quotation::Message { id, .. }) if bytes > bounds.quoted_bytes => chosen.too_long.push(*id),
            (None, _) => {
                chosen.older = place.saturating_add(1);
                break;
            }
        }
    }
    chosen
}

fn size(lines: &[String]) -> usize {
    lines.iter().fold(0, |sum, line| sum.saturating_add(line.len()).saturating_add(1))
}

fn quoted(item: &Quotation<'_>, bounds: Bounds) -> Vec<String> {
    let behind_sign = |line: &str| format!("{QUOTE}{line}");
    match item {
        Quotation::Message { rendered, .. } => rendered.lines().map(behind_sign).collect(),
        Quotation::Turn { message_id: Some(id), text } => own(&format!("OWN OUTPUT turn {id}"), text, bounds),
        Quotation::Turn { message_id: None, text } => own("OWN OUTPUT turn", text, bounds),
        Quotation::OutputOf { agent, authority, message_id, text } => {
            own(&format!("OUTPUT of {agent}, {authority}, turn {message_id}"), text, bounds)
        }
        Quotation::Item { kind, text } => own(&format!("OWN OUTPUT item {kind}"), text, bounds),
        Quotation::Summary { by, authority, turns, through, text } => {
            let head = format!("SUMMARY by {by}, {authority}, of {} through {through}", turns_of(*turns));
            words(&head, text, SUMMARY_BYTES_MAX.min(bounds.content_bytes / 2))
        }
    }
}

fn turns_of(turns: u64) -> String {
    if turns == 1 { "1 turn".to_owned() } else { format!("{} turns", grouped(turns)) }
}

/// What an agent said. It may repeat what others told it, so it is cleaned, escaped and marked like theirs.
fn own(what: &str, text: &str, bounds: Bounds) -> Vec<String> {
    words(what, text, OWN_BYTES_MAX.min(bounds.content_bytes))
}

fn words(what: &str, text: &str, bytes_max: usize) -> Vec<String> {
    let content = content::shown(&[Part::Text { text: text.to_owned() }], bytes_max);
    let mut lines = vec![format!("{QUOTE}[{what}]")];
    lines.extend(content.lines.iter().map(|line| format!("{QUOTE}{MARK}{line}")));
    if content.is_cut {
        let bytes = grouped(count(text.len()));
        lines.push(format!("{QUOTE}[… {bytes} bytes in all; the beginning is quoted]"));
    }
    lines
}

fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Request => "request",
        Cause::Manifest => "manifest",
        Cause::RestartPolicy => "restart_policy",
        Cause::Probe => "probe",
        Cause::Update => "update",
        Cause::Recovery => "recovery",
        Cause::Idle => "idle",
        Cause::Message => "message",
        Cause::Task => "task",
        Cause::Override => "override",
    }
}

fn continuity_word(continuity: Continuity) -> &'static str {
    match continuity {
        Continuity::Full => "full",
        Continuity::Partial => "partial",
        Continuity::None => "none",
    }
}

fn becomes_word(becomes: LeftOpen) -> &'static str {
    match becomes {
        LeftOpen::Retried => "retried",
        LeftOpen::Asked => "asked",
        LeftOpen::Dropped => "dropped",
    }
}

#[cfg(test)]
#[path = "quote/tests.rs"]
mod tests;
