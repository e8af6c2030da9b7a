//! `edgeplane signal`: say something to an agent.

use std::time::Duration;

use clap::Args;
use edgeplane_types::{DeliveryMode, MessageId, Priority, Receipt, Rung};
use edgeplane_wire::{
    api::message::{SignalParams, SignalResult},
    catalogue::{AgentSignal, Call},
};

use super::{
    Outcome,
    content::{Content, words},
};
use crate::{
    context::{Answer, Context},
    node::Patience,
    output::{Color, Output, paint},
    quantity,
};

/// How long `--wait` waits unless `--timeout` says otherwise.
const WAIT_TIME: Duration = Duration::from_secs(30);

/// What the node may take to answer beyond the wait it was asked for.
pub(crate) const WAIT_MARGIN: Duration = Duration::from_secs(5);

/// Say something to an agent
///
/// The message is on disk before this returns, and is delivered once: now, after the agent's turn, or when it runs
/// again. The agent sees who speaks before it sees the words. Inside an agent, the message goes out in that agent's name.
/// Prints the message's id and its receipts.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane signal reviewer --content \"Run /briefing\"
  git diff | edgeplane signal reviewer --stdin --wait injected --timeout 5s
  edgeplane signal planner --file task.md --mode steer --priority high --expires 10m
  edgeplane signal planner --json '[{\"type\":\"data\",\"data\":{\"ticket\":7}}]' --key ticket-7

RECEIPTS:
  accepted     on disk                observed    the program acted on it
  injected     written to the program turn-ended  the turn that it began has ended
  or: rejected, expired, ambiguous (a crash left it unknown), dead_lettered (given up)")]
pub(crate) struct SignalArgs {
    /// The agent's name or id
    name: String,
    #[command(flatten)]
    content: Content,
    /// How it meets a running turn: after it, into it, or ending it
    #[arg(long, value_name = "MODE", default_value = "queue", value_parser = words(&["queue", "steer", "interrupt"], DeliveryMode::from_word))]
    mode: DeliveryMode,
    /// Which waiting message goes first
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// When it is no longer worth delivering, such as 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
    /// Your key against sending it twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The message it answers
    #[arg(long, value_name = "MESSAGE")]
    reply_to: Option<MessageId>,
    /// A name to show to people beside the proven one
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// Return only when it has come this far, at most 30s or `--timeout`; exit code 75 if it has not
    #[arg(long, value_name = "RECEIPT", value_parser = words(&["accepted", "injected", "observed", "turn-ended"], |word| Rung::from_word(&word.replace('-', "_"))))]
    wait: Option<Rung>,
}

pub(crate) fn run(args: SignalArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let parts = args.content.parts()?;
    let wait_time = context.timeout().unwrap_or(WAIT_TIME);
    let wait = args.wait;
    let name = args.name;
    let params = SignalParams {
        agent: name.clone(),
        parts,
        mode: args.mode,
        priority: args.priority,
        expires_in_ms: args.expires.map(millis),
        idempotency_key: args.key,
        reply_to: args.reply_to,
        causation: None,
        on_behalf_of: Vec::new(),
        authority: None,
        display_name: args.display_name,
        wait,
        timeout_ms: wait.map(|_rung| millis(wait_time)),
    };
    let mut node = context.connect()?;
    let patience = match wait {
        Some(_rung) => Patience::within(wait_time.saturating_add(WAIT_MARGIN)),
        None => context.patience(),
    };
    if let Some(rung) = wait {
        node.doing = Some(format!("waiting until the message is {rung}"));
    }
    let answer = Answer::<AgentSignal>::new(node.call(AgentSignal::NAME, &params, patience)?);
    let result = answer.read()?;
    context.show(&answer, |out, result| print(out, &result))?;
    match wait {
        Some(rung) if !has_come(&result.receipts, rung) => {
            context.out.note(&match &result.reason {
                Some(reason) => format!("the message for `{name}` will not be {rung}: {reason}"),
                None => format!(
                    "the message for `{name}` was not {rung} within {}",
                    quantity::human_millis(millis(wait_time))
                ),
            });
            Ok(Outcome::NotInTime)
        }
        _ => Ok(Outcome::Done),
    }
}

/// A time in whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whether a message has come at least so far. The rungs are in the order of its way.
fn has_come(receipts: &[Receipt], wanted: Rung) -> bool {
    receipts.iter().any(|receipt| receipt.rung >= wanted && receipt.rung <= Rung::TurnEnded)
}

pub(crate) fn print(out: &mut Output, result: &SignalResult) -> anyhow::Result<()> {
    let again = if result.duplicate { " (sent before with this key)" } else { "" };
    let way = way(&result.receipts);
    Ok(out.line(&format!("{} to {}: {way}{again}", result.message_id, result.agent))?)
}

/// How far a message has come, rung by rung.
pub(crate) fn way(receipts: &[Receipt]) -> String {
    let rungs = receipts.iter().map(|receipt| {
        let color = if receipt.rung > Rung::TurnEnded { Color::Red } else { Color::Green };
        paint(color, receipt.rung.as_str())
    });
    rungs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use edgeplane_types::{Evidence, Timestamp};

    use super::*;

    #[test]
    fn message_that_was_given_up_has_not_come() {
        let at = |rung| Receipt { rung, evidence: Evidence::Shim, at: Timestamp::from_micros(0) };
        assert!(has_come(&[at(Rung::Accepted), at(Rung::Injected)], Rung::Injected));
        assert!(has_come(&[at(Rung::TurnEnded)], Rung::Observed));
        assert!(!has_come(&[at(Rung::Accepted), at(Rung::Expired)], Rung::Injected));
        assert!(!has_come(&[at(Rung::Accepted)], Rung::Injected));
    }
}
