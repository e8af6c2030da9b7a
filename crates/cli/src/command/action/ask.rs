//! `edgeplane action ask`: how a script inside an agent asks a person.

use std::time::Duration;

use clap::Args;
use edgeplane_client::CallError;
use edgeplane_os::{poll, wait::Deadline};
use edgeplane_types::{
    ErrorName, MessageId, SafeLabel,
    decision::{ActionKind, ActionOutcome, Choice},
};
use edgeplane_wire::{
    api::action::{ActionParams, ActionView, OpenParams},
    catalogue::{ActionGet, ActionOpen},
};
use serde_json::Value;

use super::{outcome_word, parse_json};
use crate::{
    command::Outcome,
    context::{Answer, Context},
    failure::Failure,
    json,
    lasting::is_nobody_there,
    quantity,
};

/// The first pause before an action is looked at again, and the longest.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Ask a person
///
/// Opens an approval; with `--choice`, `--schema` or `--question`, a question. Inside an agent it is asked in that
/// agent's name. Prints the action's id; with `--wait` the answer, or how it was decided. Who asks again with the same
/// `--key` gets the same action, so a script that was interrupted can wait once more.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action ask --prompt \"Delete the build?\" --subject \"rm -r build\" --wait --timeout 10m
  edgeplane action ask --prompt \"Which one?\" --choice red=Red --choice blue=\"The blue one\" --wait
  edgeplane action ask --agent reviewer --prompt \"Merge it?\" --quorum 2 --expires 2h --key merge-7

EXIT CODES:
  0 asked; with --wait: approved or answered    1 with --wait: denied, expired or cancelled
  75 with --wait: not decided within --timeout; it still waits")]
pub(crate) struct AskArgs {
    /// What a person reads
    #[arg(long, value_name = "TEXT")]
    prompt: String,
    /// An answer to choose from: its value, and what a person reads
    #[arg(long = "choice", value_name = "VALUE[=LABEL]", value_parser = parse_choice)]
    choices: Vec<Choice>,
    /// The JSON Schema of the answer
    #[arg(long, value_name = "JSON", conflicts_with = "choices")]
    schema: Option<String>,
    /// Ask for words, not for leave
    #[arg(long)]
    question: bool,
    /// What is to be done, word for word: what is approved is this and nothing else
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// The same as JSON
    #[arg(long, value_name = "JSON", conflicts_with = "subject")]
    subject_json: Option<String>,
    /// Who may decide: any of these roles; none: any operator
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<SafeLabel>,
    /// How many different persons must approve
    #[arg(long, value_name = "N", default_value_t = 1)]
    quorum: u32,
    /// After which time silence is a denial, such as 2h; a day if it is not said
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
    /// The message that led to it
    #[arg(long, value_name = "MESSAGE")]
    because_of: Option<MessageId>,
    /// Your key against asking twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The agent in whose name an operator asks
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Return only when it is decided, or after `--timeout`
    #[arg(long)]
    wait: bool,
}

fn parse_choice(text: &str) -> Result<Choice, String> {
    let (value, label) = text.split_once('=').unwrap_or((text, text));
    let value = value.parse().map_err(|error| format!("`{value}` cannot be a value: {error}"))?;
    Ok(Choice { value, label: label.to_owned() })
}

pub(super) fn run(args: &AskArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let deadline = context.timeout().map(Deadline::after);
    let opened = context.ask::<ActionOpen>(&params(args)?)?;
    if !args.wait {
        context.show(&opened, |out, view| Ok(out.line(&view.action.id.to_string())?))?;
        return Ok(Outcome::Done);
    }
    let action_id = opened.read()?.action.id;
    context.out.note(&format!("{action_id} waits for a person"));
    match decided(&ActionParams { action_id }, deadline, context)? {
        Some(answer) => {
            let view = answer.read()?;
            context.show(&answer, |out, view| print(out, &view))?;
            Ok(match view.outcome {
                Some(ActionOutcome::Approved | ActionOutcome::Answered) => Outcome::Done,
                Some(ActionOutcome::Denied | ActionOutcome::Expired | ActionOutcome::Cancelled) | None => {
                    Outcome::Found
                }
            })
        }
        None => {
            context.out.note(&format!("{action_id} is not decided yet; it still waits"));
            Ok(Outcome::NotInTime)
        }
    }
}

fn params(args: &AskArgs) -> anyhow::Result<OpenParams> {
    let subject = match (&args.subject, &args.subject_json) {
        (Some(text), _) => Some(Value::from(text.as_str())),
        (None, Some(json)) => Some(parse_json("--subject-json", json)?),
        (None, None) => None,
    };
    let is_question = args.question || args.schema.is_some() || !args.choices.is_empty();
    Ok(OpenParams {
        agent: args.agent.clone(),
        kind: if is_question { ActionKind::Question } else { ActionKind::Approval },
        prompt: args.prompt.clone(),
        choices: args.choices.clone(),
        schema: args.schema.as_deref().map(|json| parse_json("--schema", json)).transpose()?,
        subject,
        roles: args.roles.clone(),
        quorum: args.quorum,
        expires_in_ms: args.expires.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        causation: args.because_of,
        idempotency_key: args.key.clone(),
    })
}

/// Waits until an action is decided, also over the end of a daemon; none if it is not in time.
fn decided(
    params: &ActionParams,
    deadline: Option<Deadline>,
    context: &Context,
) -> anyhow::Result<Option<Answer<ActionGet>>> {
    let mut pause = PAUSE_MIN;
    loop {
        // A node that is gone comes back with everything that waits.
        match context.ask::<ActionGet>(params) {
            Ok(answer) if answer.read()?.outcome.is_some() => return Ok(Some(answer)),
            Ok(_) => {}
            Err(error) if is_gone(&error) => {}
            Err(error) => return Err(error),
        }
        let left = deadline.map(Deadline::remaining);
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        poll::wait(&mut [], Some(left.map_or(pause, |left| left.min(pause))))?;
        pause = pause.saturating_mul(2).min(PAUSE_MAX);
    }
}

fn is_gone(error: &anyhow::Error) -> bool {
    let is_closed = matches!(error.downcast_ref::<CallError>(), Some(CallError::Closed { .. }));
    is_closed || is_nobody_there(error)
}

/// The answer alone, for a script to read; of anything else how it was decided.
fn print(out: &mut crate::output::Output, view: &ActionView) -> anyhow::Result<()> {
    match (&view.answer, view.outcome) {
        (Some(Value::String(text)), _) => Ok(out.text(text).and_then(|()| out.line(""))?),
        (Some(other), _) => Ok(out.line(&json::compact(other))?),
        (None, Some(outcome)) => Ok(out.line(&format!(
            "{}: {}",
            outcome_word(outcome),
            view.reason.as_deref().unwrap_or_default()
        ))?),
        (None, None) => {
            Err(Failure::new(ErrorName::Internal, "the node says that it is decided, and not how").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_is_a_value_and_perhaps_a_label() {
        let check = |text: &str, value: &str, label: &str| {
            let choice = parse_choice(text).unwrap();
            assert_eq!((choice.value.as_str(), choice.label.as_str()), (value, label));
        };
        check("yes", "yes", "yes");
        check("yes=Yes, do it", "yes", "Yes, do it");
        check("a=b=c", "a", "b=c");
        assert!(parse_choice("two words=x").is_err());
        assert!(parse_choice("=x").is_err());
    }
}
