//! A transcript for people: who said and did what, in the order in which it happened.

use std::collections::BTreeMap;

use edgeplane_types::{ItemId, MessageId};
use edgeplane_wire::api::report::{Spoken, TranscriptEntry};
use serde_json::Value;

use super::{
    tool::Tool,
    usage::{Meter, Used},
};
use crate::{
    command::inbox::short_time,
    context::Context,
    output::{Color, Format, paint},
    text,
};

/// Uses of tools of which the state is remembered; those beyond are told as if they were new.
const TOOLS_MAX: usize = 1_000;

/// Last lines of a command's output that are shown; the whole is in `-o json`.
const OUTPUT_LINES: usize = 10;

/// Characters of a reason or a name in a line.
const CHARS_MAX: usize = 400;

/// Prints entry after entry.
pub(super) struct Printer {
    thoughts: bool,
    /// The text that is being printed, and whether it is in the middle of a line.
    open: Option<(ItemId, bool)>,
    /// A thought until it is whole: it is printed line by line.
    thought: Option<(ItemId, String)>,
    tools: BTreeMap<ItemId, Tool>,
    /// The message whose answer was printed in pieces.
    answered: Option<MessageId>,
    meter: Meter,
    turn: Used,
    all: Used,
    turns: u64,
    entries: u64,
}

impl Printer {
    pub(super) fn new(thoughts: bool) -> Self {
        Self {
            thoughts,
            open: None,
            thought: None,
            tools: BTreeMap::new(),
            answered: None,
            meter: Meter::default(),
            turn: Used::default(),
            all: Used::default(),
            turns: 0,
            entries: 0,
        }
    }

    pub(super) fn print(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        self.entries = self.entries.saturating_add(1);
        if entry.spoken == Spoken::Piece {
            return self.piece(entry, context);
        }
        self.close(context)?;
        match entry.spoken {
            Spoken::Message => self.message(entry, context),
            Spoken::Turn => self.turn(entry, context),
            Spoken::Item => self.item(entry, context),
            Spoken::Usage => {
                let used = self.meter.used(entry.data.as_ref().unwrap_or(&Value::Null));
                self.turn.add(&used);
                Ok(())
            }
            Spoken::File => {
                let path = of(entry, "path").unwrap_or("?");
                let bytes = entry.data.as_ref().and_then(|data| data.get("bytes")).and_then(Value::as_u64);
                line(context, &format!("file: {} written, {} bytes", short(path), bytes.unwrap_or(0)))
            }
            Spoken::Command => command(entry, context),
            Spoken::Question => {
                let prompt = entry.text.as_deref().unwrap_or("(erased)");
                let kind = entry.kind.as_ref().map_or("question", |kind| kind.as_str());
                line(context, &paint(Color::Yellow, &format!("asks people, {kind}: {}", short(prompt))))
            }
            Spoken::Vote | Spoken::Decision => decision(entry, context),
            Spoken::Session | Spoken::Epoch => {
                if entry.spoken == Spoken::Session {
                    self.meter.session(entry);
                }
                life(entry, context)
            }
            Spoken::Piece => Ok(()),
        }
    }

    /// Ends what is in the middle of a line.
    fn close(&mut self, context: &mut Context) -> anyhow::Result<()> {
        if let Some((_, true)) = self.open.take() {
            context.out.text("\n")?;
        }
        if let Some((_, thought)) = self.thought.take() {
            for words in thought.lines() {
                context.out.line(&paint(Color::Dim, &format!("~ {words}")))?;
            }
        }
        Ok(())
    }

    fn message(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        let weight = entry.authority.map(|authority| format!(", {}", authority.as_str())).unwrap_or_default();
        let id = entry.message_id.map(|id| id.to_string()).unwrap_or_default();
        let head = format!("--- {} message {id}{weight}", short_time(&entry.at));
        context.out.line("")?;
        context.out.line(&paint(Color::Dim, &head))?;
        self.words(entry, context)
    }

    /// What was said, as whole lines.
    fn words(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        let Some(text) = &entry.text else { return Ok(context.out.line("(erased)")?) };
        if !text.is_empty() {
            context.out.text(text)?;
            if !text.ends_with('\n') {
                context.out.text("\n")?;
            }
        }
        cut(entry, context)
    }

    fn item(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        let kind = entry.kind.as_ref().map_or("item", |kind| kind.as_str());
        let text = entry.text.as_deref().unwrap_or("(erased)");
        if kind == "error" {
            return line(context, &paint(Color::Red, &format!("error: {}", text::one_line(text))));
        }
        if !text.trim_end().contains('\n') {
            line(context, &format!("{kind}: {}", text::one_line(text.trim_end())))?;
            return cut(entry, context);
        }
        line(context, &format!("{kind}:"))?;
        self.words(entry, context)
    }

    fn turn(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        let was_told = entry.message_id.is_some() && self.answered == entry.message_id;
        if !was_told {
            self.words(entry, context)?;
        }
        self.answered = None;
        let outcome = entry.status.as_ref().map_or("over", |status| status.as_str());
        let is_good = matches!(outcome, "over" | "end_turn");
        let turn = entry.turn_id.map(|id| id.to_string()).unwrap_or_default();
        let used = std::mem::take(&mut self.turn);
        let cost = if used.is_nothing() { String::new() } else { format!("; {used}") };
        let end = format!("--- {} turn {turn} {outcome}{cost}", short_time(&entry.at));
        context.out.line(&paint(if is_good { Color::Dim } else { Color::Yellow }, &end))?;
        self.all.add(&used);
        self.turns = self.turns.saturating_add(1);
        Ok(())
    }

    fn piece(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        let kind = entry.kind.as_ref().map_or("", |kind| kind.as_str());
        match (kind, entry.item_id) {
            ("text", Some(item)) => self.text(entry, item, context),
            ("thought", _) if !self.thoughts => Ok(()),
            ("thought", Some(item)) => {
                if self.thought.as_ref().is_none_or(|(of, _)| *of != item) {
                    self.close(context)?;
                }
                let (_, thought) = self.thought.get_or_insert_with(|| (item, String::new()));
                thought.push_str(entry.text.as_deref().unwrap_or("(erased)"));
                Ok(())
            }
            ("tool_call", Some(item)) => {
                self.close(context)?;
                if self.tools.len() >= TOOLS_MAX {
                    self.tools.pop_first();
                }
                let status = entry.status.as_ref().map(|status| status.as_str());
                let data = entry.data.as_ref().unwrap_or(&Value::Null);
                for words in self.tools.entry(item).or_default().hears(status, data) {
                    line(context, &words)?;
                }
                Ok(())
            }
            ("plan", _) => {
                self.close(context)?;
                plan(entry, context)
            }
            (other, _) => {
                self.close(context)?;
                let what = of(entry, "type").unwrap_or("something that is no text");
                line(context, &format!("{}: {}", short(other), short(what)))
            }
        }
    }

    fn text(&mut self, entry: &TranscriptEntry, item: ItemId, context: &mut Context) -> anyhow::Result<()> {
        if self.open.is_none_or(|(open, _)| open != item) {
            self.close(context)?;
        }
        self.answered = entry.message_id;
        let text = entry.text.as_deref().unwrap_or("(erased)");
        context.out.text(text)?;
        let is_within_line = match text.chars().last() {
            Some(last) => last != '\n',
            None => self.open.is_some_and(|(_, is_within_line)| is_within_line),
        };
        self.open = Some((item, is_within_line));
        if entry.is_cut {
            self.close(context)?;
        }
        cut(entry, context)
    }

    /// What all of it has used, when there is no more of it.
    pub(super) fn finish(&mut self, context: &mut Context) -> anyhow::Result<()> {
        self.close(context)?;
        if context.out.format() != Format::Table {
            return Ok(());
        }
        if self.entries == 0 {
            context.out.note("nothing was said or done");
        }
        self.all.add(&std::mem::take(&mut self.turn));
        if self.turns > 0 && !self.all.is_nothing() {
            context.out.line("")?;
            let turns = if self.turns == 1 { "1 turn".to_owned() } else { format!("{} turns", self.turns) };
            context.out.line(&paint(Color::Dim, &format!("{turns}: {}", self.all)))?;
        }
        Ok(())
    }
}

fn line(context: &mut Context, text: &str) -> anyhow::Result<()> {
    Ok(context.out.line(text)?)
}

fn short(words: &str) -> String {
    text::excerpt(words, CHARS_MAX)
}

/// Says that something is missing.
fn cut(entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
    if !entry.is_cut {
        return Ok(());
    }
    line(context, &paint(Color::Dim, "(there is more of this than is shown)"))
}

/// A text field of an entry's data.
fn of<'a>(entry: &'a TranscriptEntry, key: &str) -> Option<&'a str> {
    entry.data.as_ref()?.get(key)?.as_str()
}

/// A command that began or ended. Of its output the end is shown.
fn command(entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
    if entry.kind.as_ref().is_none_or(|kind| kind.as_str() == "started") {
        let args = entry.data.as_ref().and_then(|data| data.get("args")).and_then(Value::as_array);
        let args = args.into_iter().flatten().filter_map(Value::as_str);
        let words: Vec<&str> = of(entry, "command").into_iter().chain(args).collect();
        let place = of(entry, "cwd").map(|cwd| format!(" (in {})", short(cwd))).unwrap_or_default();
        return line(context, &format!("command: {}{place}", short(&words.join(" "))));
    }
    let how = entry.status.as_ref().map_or("unknown", |status| status.as_str());
    let bytes = entry.data.as_ref().and_then(|data| data.get("written_bytes")).and_then(Value::as_u64);
    let why = of(entry, "reason").map(|why| format!(": {}", short(why))).unwrap_or_default();
    let color = if how == "code-0" { Color::Dim } else { Color::Yellow };
    line(
        context,
        &paint(color, &format!("command ended: {how}, {} bytes of output{why}", bytes.unwrap_or(0))),
    )?;
    let text = entry.text.as_deref().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    for words in lines.iter().skip(lines.len().saturating_sub(OUTPUT_LINES)) {
        context.out.line(&paint(Color::Dim, &format!("| {}", text::one_line(words))))?;
    }
    Ok(())
}

fn decision(entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
    let by = entry.data.as_ref().and_then(|data| data.get("by")).and_then(Value::as_array);
    let by: Vec<&str> = by.into_iter().flatten().filter_map(Value::as_str).collect();
    let status = entry.status.as_ref().map_or("decided", |status| status.as_str());
    let who = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    let why = entry.text.as_deref().map(|why| format!(": {}", short(why))).unwrap_or_default();
    let verb = if entry.spoken == Spoken::Vote { "voted" } else { "decided" };
    let color = if matches!(status, "approved" | "answered" | "approve" | "answer") {
        Color::Green
    } else {
        Color::Yellow
    };
    line(context, &paint(color, &format!("{verb}: {status}{who}{why}")))
}

fn plan(entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
    line(context, "plan:")?;
    for step in entry.data.as_ref().and_then(Value::as_array).into_iter().flatten() {
        let field = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        let mark = match field("status") {
            "completed" => "x",
            "in_progress" => ">",
            _ => " ",
        };
        line(context, &format!("  [{mark}] {}", short(field("content"))))?;
    }
    cut(entry, context)
}

/// What became of an epoch or its session.
fn life(entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
    let kind = entry.kind.as_ref().map_or("", |kind| kind.as_str());
    let what = if entry.spoken == Spoken::Session { "session" } else { "epoch" };
    let number = if entry.spoken == Spoken::Session { String::new() } else { format!(" {}", entry.epoch) };
    let program = of(entry, "program").map(|program| format!(" by {}", short(program))).unwrap_or_default();
    let continuity = entry.status.as_ref().map(|status| format!(", continuity {}", status.as_str()));
    let why = entry.text.as_deref().map(|why| format!(": {}", short(why))).unwrap_or_default();
    let head = format!(
        "=== {} {what}{number} {kind}{program}{}{why}",
        short_time(&entry.at),
        continuity.unwrap_or_default()
    );
    if entry.spoken == Spoken::Epoch && kind == "started" {
        context.out.line("")?;
    }
    line(context, &paint(if kind == "failed" { Color::Red } else { Color::Dim }, &head))
}
