//! `edgeplane transcript`: what an agent was told, said and did, to be read.

mod print;
mod tool;
mod usage;

use std::convert::Infallible;

use clap::Args;
use edgeplane_client::CallError;
use edgeplane_types::{Epoch, ErrorName, MessageId, TurnId};
use edgeplane_wire::{
    api::{
        report::{Detail, Spoken, TRANSCRIPT_MAX, TranscriptEntry, TranscriptParams},
        stream::{DAEMON_ENDS, ReplayParams, StreamState, SubscribeParams, Target},
    },
    catalogue::{Call as _, StreamReplay, StreamSubscribe, TranscriptRead},
};

use self::print::Printer;
use super::Outcome;
use crate::{
    context::Context,
    failure::Failure,
    lasting::{Lasting, Loss},
    output::Format,
};

/// Events that are asked for at a time when a turn is looked for.
const PAGE: u32 = 1_000;

/// Print what an agent was told, said and did
///
/// Reads the record: messages with the header that the session saw, answers, thoughts, uses of tools with the changes
/// that they make, what people were asked and who decided, plans, errors, what was used and what it cost, how turns
/// ended, and the epochs with what they remembered. What a program only draws on a terminal is in `edgeplane logs`.
/// With `-o json` each entry is one object a line.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane transcript reviewer
  edgeplane transcript reviewer -f --thoughts
  edgeplane transcript reviewer --epoch 3 -o json | jq -r 'select(.spoken == \"piece\") | .kind'
  edgeplane transcript reviewer --limit 20")]
pub(crate) struct TranscriptArgs {
    /// The agent's name or id, also of a retired one by id
    name: String,
    /// Only what belongs to this epoch
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
    /// Only this turn: its id, or that of the message that began it
    #[arg(long, value_name = "ID", value_parser = parse_turn)]
    turn: Option<Turn>,
    /// Only the newest N entries
    #[arg(long, value_name = "N", conflicts_with = "turn")]
    limit: Option<u32>,
    /// Also what the program thinks
    #[arg(long)]
    thoughts: bool,
    /// Go on as it happens, until interrupted; with `--turn` until the turn ends
    #[arg(short, long)]
    follow: bool,
    /// With `-f`, end when the daemon does instead of waiting for the next one
    #[arg(long, requires = "follow")]
    no_reconnect: bool,
}

/// By what a turn is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Own(TurnId),
    Message(MessageId),
}

fn parse_turn(text: &str) -> Result<Turn, String> {
    let of_message = text.parse().map(Turn::Message).ok();
    of_message
        .or_else(|| text.parse().map(Turn::Own).ok())
        .ok_or_else(|| format!("`{text}` is neither the id of a turn (`trn_…`) nor of a message (`msg_…`)"))
}

pub(crate) fn run(args: &TranscriptArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let loss = if args.follow { Loss::of_flag(args.no_reconnect) } else { Loss::Ends };
    let mut node = Lasting::open(context, loss)?;
    let message_id = match args.turn {
        Some(Turn::Message(id)) => Some(id),
        Some(Turn::Own(id)) => Some(message_of(id, &args.name, &mut node, context)?),
        None => None,
    };
    // The beginning of a turn is found by the node; the newest entries are one answer.
    let from_begin = (message_id.is_none() && args.limit.is_none()).then_some(0);
    let mut reader = Reader {
        params: TranscriptParams {
            agent: Some(args.name.clone()),
            after: from_begin,
            limit: Some(args.limit.map_or(TRANSCRIPT_MAX, |limit| limit.min(TRANSCRIPT_MAX))),
            epoch: args.epoch.map(Epoch),
            message_id,
            detail: Detail::Everything,
        },
        printer: Printer::new(args.thoughts),
        is_over: false,
    };
    if args.follow {
        while !reader.is_over {
            match reader.follow(&mut node, context) {
                Ok(None) => {}
                Ok(Some(never)) => match never {},
                Err(lost) => node.survive(lost, context)?,
            }
        }
    } else {
        reader.read(&mut node, context)?;
    }
    reader.printer.finish(context)?;
    Ok(Outcome::Done)
}

/// The message that began a turn.
fn message_of(turn: TurnId, name: &str, node: &mut Lasting, context: &Context) -> anyhow::Result<MessageId> {
    let wanted = turn.to_string();
    let mut params = ReplayParams {
        target: Target::agent(name),
        types: vec!["turn.completed".to_owned()],
        limit: Some(PAGE),
        ..ReplayParams::default()
    };
    loop {
        let page = node.ask::<StreamReplay>(&params, context)?.read()?;
        for event in &page.items {
            let payload = event.event.get("payload");
            let field = |key: &str| payload.and_then(|payload| payload.get(key)).and_then(|id| id.as_str());
            if field("turn_id") == Some(wanted.as_str()) {
                let message = field("message_id").and_then(|id| id.parse().ok());
                return message.ok_or_else(|| {
                    Failure::new(ErrorName::NotFound, format!("no message began turn {wanted}")).into()
                });
            }
        }
        if page.end || Some(page.next) <= params.after {
            let message = format!("`{name}` has ended no turn {wanted}");
            let hint = "an open turn is named by the message that began it";
            return Err(Failure::new(ErrorName::NotFound, message).hint(hint).into());
        }
        params.after = Some(page.next);
    }
}

/// Where the reading of a transcript is.
struct Reader {
    params: TranscriptParams,
    printer: Printer,
    /// Whether nothing that is wanted can follow.
    is_over: bool,
}

impl Reader {
    /// Prints what there is.
    fn read(&mut self, node: &mut Lasting, context: &mut Context) -> anyhow::Result<()> {
        loop {
            let page = context.ask_over::<TranscriptRead>(&mut node.node, &self.params)?.read()?;
            for entry in page.items {
                self.print(&entry, context)?;
            }
            self.params.after = Some(page.next);
            if self.params.limit != Some(TRANSCRIPT_MAX) {
                // The newest were asked for; whatever follows is wanted in full.
                self.params.limit = Some(TRANSCRIPT_MAX);
            }
            if page.end {
                return Ok(());
            }
        }
    }

    fn print(&mut self, entry: &TranscriptEntry, context: &mut Context) -> anyhow::Result<()> {
        self.is_over |= self.params.message_id.is_some() && entry.spoken == Spoken::Turn;
        match context.out.format() {
            Format::Table => self.printer.print(entry, context),
            Format::Json | Format::Yaml => Ok(context.out.item(entry)?),
        }
    }

    /// Prints what there is and what comes, until the turn is over or the connection is no more.
    fn follow(&mut self, node: &mut Lasting, context: &mut Context) -> anyhow::Result<Option<Infallible>> {
        // Subscribed first: what happens while the rest is read is noticed.
        let target = self.params.agent.clone().map(Target::agent).unwrap_or_default();
        let params = SubscribeParams { target, ..SubscribeParams::default() };
        context.ask_over::<StreamSubscribe>(&mut node.node, &params)?;
        loop {
            self.read(node, context)?;
            context.out.flush()?;
            if self.is_over {
                return Ok(None);
            }
            self.await_event(node)?;
        }
    }

    /// Waits until something happens, and takes everything that happened by then for one.
    fn await_event(&self, node: &mut Lasting) -> anyhow::Result<()> {
        loop {
            let Some(notification) = node.node.next_notification(None)? else { continue };
            match notification.method.as_str() {
                "stream/event" if !node.node.has_held() => return Ok(()),
                "stream/state" => {
                    let state: StreamState = serde_json::from_value(notification.params)?;
                    if state.state == "ended" {
                        let reason = state.reason.unwrap_or_else(|| "no reason given".to_owned());
                        if reason == DAEMON_ENDS {
                            return Err(CallError::Closed { method: StreamSubscribe::NAME.to_owned() }.into());
                        }
                        let message = format!("the node ended the subscription: {reason}");
                        return Err(Failure::new(ErrorName::Unavailable, message).into());
                    }
                    if !node.node.has_held() {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_is_named_by_either_id() {
        let id = "01890000-0000-7000-8000-000000000000";
        assert!(matches!(parse_turn(&format!("trn_{id}")), Ok(Turn::Own(_))));
        assert!(matches!(parse_turn(&format!("msg_{id}")), Ok(Turn::Message(_))));
        assert!(parse_turn("reviewer").is_err());
    }
}
