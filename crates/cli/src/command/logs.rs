//! `edgeplane logs`: what an agent's program printed, as text.

use std::time::Duration;

use clap::Args;
use edgeplane_client::CallError;
use edgeplane_os::poll;
use edgeplane_types::{Epoch, ErrorName};
use serde_json::json;

use super::{
    Outcome,
    recording::{self, Reader},
};
use crate::{
    context::Context,
    lasting::{Lasting, Loss},
    output::Format,
    quantity,
    terminal::plain::Plain,
};

/// Pause between two looks for more output. A recording grows by writes of the shim that nobody announces; ten looks a
/// second are not felt by the node and hardly by the reader.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Bytes looked through for each of the last lines that are asked for; longer lines mean fewer of them.
const BYTES_PER_LINE: u64 = 512;

/// Print what an agent's program printed
///
/// Reads the recording, so it works for every epoch, also of an agent that is gone, and never disturbs it. Colours,
/// cursor movements and everything else that steers a terminal are taken out; `edgeplane replay` plays them. With `-f`
/// it goes on into the next epochs, and where it was when a daemon that died is back.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane logs reviewer --tail 50
  edgeplane logs reviewer -f
  edgeplane logs reviewer --epoch 3 --tail 64KiB")]
pub(crate) struct LogsArgs {
    /// The agent's name or id, also of a retired one by id
    name: String,
    /// Go on as output comes, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// With `-f`, end when the daemon does instead of waiting for the next one
    #[arg(long, requires = "follow")]
    no_reconnect: bool,
    /// The epoch; the newest if not given
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
    /// Only the end: a number of lines, or a size such as 64KiB
    #[arg(short = 'n', long, value_name = "LINES|SIZE", value_parser = parse_tail)]
    tail: Option<Tail>,
}

/// How much of the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Lines(u64),
    Bytes(u64),
}

fn parse_tail(text: &str) -> Result<Tail, String> {
    match text.parse() {
        Ok(lines) => Ok(Tail::Lines(lines)),
        Err(_) => quantity::parse_size(text)
            .map(Tail::Bytes)
            .map_err(|_not_a_size| format!("`{text}` is neither a number of lines nor a size such as 64KiB")),
    }
}

pub(crate) fn run(args: &LogsArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let loss = if args.follow { Loss::of_flag(args.no_reconnect) } else { Loss::Ends };
    let mut node = Lasting::open(context, loss)?;
    let mut reader = Reader::whole(&args.name, args.epoch);
    reader.last_bytes = args.tail.map(|tail| match tail {
        Tail::Lines(lines) => lines.saturating_add(1).saturating_mul(BYTES_PER_LINE),
        Tail::Bytes(bytes) => bytes,
    });
    let mut printer = Printer { plain: Plain::new(), epoch: Epoch(0) };
    let mut lines_left = match args.tail {
        Some(Tail::Lines(lines)) => Some(lines),
        _ => None,
    };
    loop {
        let (over, mut text) =
            read_to_end(&mut reader, &mut printer, lines_left.is_some(), &mut node, context)?;
        if args.follow {
            printer.plain.flush(&mut text);
        } else {
            printer.plain.finish(&mut text);
        }
        let wanted = lines_left.take().map_or(text.as_str(), |lines| last_lines(&text, lines));
        printer.print(wanted, context)?;
        if !args.follow {
            return Ok(Outcome::Done);
        }
        context.out.flush()?;
        if !(over && next_epoch(&mut reader, &mut printer, &mut node, context)?) {
            poll::wait(&mut [], Some(LOOK_EVERY))?;
        }
    }
}

/// Reads until there is no more for now. Says whether the epoch is over, and gives the text back instead of printing it
/// if it `is_held`.
fn read_to_end(
    reader: &mut Reader,
    printer: &mut Printer,
    is_held: bool,
    node: &mut Lasting,
    context: &mut Context,
) -> anyhow::Result<(bool, String)> {
    let mut held = String::new();
    loop {
        let page = reader.page(node, context)?;
        printer.epoch = page.epoch;
        let mut text = String::new();
        for item in &page.items {
            match recording::output(item)? {
                Some(bytes) => printer.plain.feed(&bytes, &mut text),
                None if item.code == 'g' => {
                    let bytes = item.data.parse().unwrap_or(0);
                    context.out.note(&format!("-- {} --", quantity::missing_output(bytes)))
                }
                None => {}
            }
        }
        if is_held {
            held.push_str(&text);
        } else {
            printer.print(&text, context)?;
        }
        if page.end {
            return Ok((page.over, held));
        }
    }
}

/// Goes to the next epoch if it has begun.
fn next_epoch(
    reader: &mut Reader,
    printer: &mut Printer,
    node: &mut Lasting,
    context: &mut Context,
) -> anyhow::Result<bool> {
    let Some(epoch) = reader.epoch else { return Ok(false) };
    let mut next = Reader::whole(&reader.agent, Some(epoch.next().0));
    match next.page(node, context) {
        Ok(_first_page) => {}
        Err(error) if is_not_there(&error) => return Ok(false),
        Err(error) => return Err(error),
    }
    let mut rest = String::new();
    printer.plain.finish(&mut rest);
    printer.print(&rest, context)?;
    context.out.flush()?;
    context.out.note(&format!("-- epoch {} --", epoch.next()));
    *reader = Reader::whole(&reader.agent, Some(epoch.next().0));
    Ok(true)
}

fn is_not_there(error: &anyhow::Error) -> bool {
    let name = error.downcast_ref::<CallError>().map(CallError::name);
    matches!(name, Some(ErrorName::NotFound | ErrorName::InvalidState | ErrorName::InvalidParams))
}

fn last_lines(text: &str, lines: u64) -> &str {
    let count = usize::try_from(lines).unwrap_or(usize::MAX);
    if count == 0 {
        return "";
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let end_before = body.rmatch_indices('\n').nth(count.saturating_sub(1));
    end_before.and_then(|(at, _)| text.get(at.saturating_add(1)..)).unwrap_or(text)
}

/// Prints text as it is for people, and as objects for programs.
struct Printer {
    plain: Plain,
    epoch: Epoch,
}

impl Printer {
    fn print(&self, text: &str, context: &mut Context) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        match context.out.format() {
            Format::Table => Ok(context.out.text(text)?),
            Format::Json | Format::Yaml => {
                Ok(context.out.item(&json!({ "epoch": self.epoch, "text": text }))?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_is_lines_or_bytes() {
        assert_eq!(parse_tail("50"), Ok(Tail::Lines(50)));
        assert_eq!(parse_tail("64KiB"), Ok(Tail::Bytes(65_536)));
        assert!(parse_tail("many").is_err());
    }

    #[test]
    fn last_lines_are_whole() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc\n");
        assert_eq!(last_lines("a\nb\nc\n", 3), "a\nb\nc\n");
        assert_eq!(last_lines("a\nb\nc", 2), "b\nc");
        assert_eq!(last_lines("\n\n", 1), "\n");
        assert_eq!(last_lines("a\nb\n", 9), "a\nb\n");
        assert_eq!(last_lines("a\nb\n", 0), "");
    }
}
