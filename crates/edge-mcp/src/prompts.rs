//! The prompts: the contract in words, and a form in which to hand work over.

use std::sync::Arc;

use edgeplane_driver::notice::NOTICE;
use edgeplane_types::ErrorName;
use edgeplane_wire::{api::agent::ListParams, catalogue::AgentList};
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::{failure::Failure, link::Link};

/// Longest argument of a prompt in bytes.
const ARGUMENT_BYTES_MAX: usize = 64 << 10;

/// Values that are offered for an argument; the protocol allows no more.
const COMPLETIONS_MAX: usize = 100;

pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str, about: &str, is_required: bool| {
        PromptArgument::new(name).with_description(about).with_required(is_required)
    };
    vec![
        Prompt::new(
            "provenance",
            Some("What the first line of each message means, and which instructions to follow"),
            None,
        )
        .with_title("Who says what"),
        Prompt::new(
            "handoff",
            Some("Hands work to another agent so that it can go on without you"),
            Some(vec![
                argument("agent", "The agent that is to go on: its name", true),
                argument("task", "What is to be done", true),
                argument("done", "What is done already, and where it is", false),
            ]),
        )
        .with_title("Hand over work"),
    ]
}

/// Makes a prompt of its arguments.
pub(crate) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, Failure> {
    match name {
        "provenance" => {
            let text = format!("{NOTICE} The tool message_verify does that here.");
            Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
                .with_description("What the first line of each message means"))
        }
        "handoff" => {
            let agent = required(arguments, "agent")?;
            let task = required(arguments, "task")?;
            let done = argument(arguments, "done")?.unwrap_or("nothing yet");
            let text = format!(
                "Hand the following work over to the agent `{agent}`.\n\nTask: {task}\nDone so far: {done}\n\n\
                 1. Put what the other needs to know into one message: the task, what is done and where it is, what \
                 is left, what you were told not to do, and how one sees that it is finished. It cannot see your \
                 context.\n\
                 2. Send it with the tool `signal` to `{agent}`. If a message made you do this work, give its id as \
                 `causation`.\n\
                 3. Note with `memory_put` under `handoff/{agent}` that the work is there, with the id of the \
                 message.\n\
                 4. Look with `message_show` whether it was injected. Then stop working on it yourself."
            );
            Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
                .with_description("Hand work over to another agent"))
        }
        other => {
            let shown: String = other.chars().take(80).collect();
            Err(Failure::new(ErrorName::InvalidParams, format!("no prompt `{shown}`")))
        }
    }
}

/// Values for an argument that begin as its reader has begun.
pub(crate) async fn complete(
    link: &Arc<Link>,
    prompt: &str,
    argument: &str,
    begun: &str,
) -> Result<Vec<String>, Failure> {
    if (prompt, argument) != ("handoff", "agent") {
        return Ok(Vec::new());
    }
    let agents = link.call::<AgentList>(&ListParams::default()).await?.items;
    let names = agents.iter().filter_map(|agent| agent.metadata["name"].as_str());
    Ok(names.filter(|name| name.starts_with(begun)).take(COMPLETIONS_MAX).map(str::to_owned).collect())
}

fn required<'a>(arguments: &'a JsonObject, name: &str) -> Result<&'a str, Failure> {
    argument(arguments, name)?
        .ok_or_else(|| Failure::new(ErrorName::InvalidParams, format!("the argument `{name}` is missing")))
}

fn argument<'a>(arguments: &'a JsonObject, name: &str) -> Result<Option<&'a str>, Failure> {
    let Some(value) = arguments.get(name) else { return Ok(None) };
    match value.as_str() {
        Some(text) if text.len() <= ARGUMENT_BYTES_MAX => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(_) => {
            let what = format!("the argument `{name}` has more than {ARGUMENT_BYTES_MAX} bytes");
            Err(Failure::new(ErrorName::InvalidParams, what))
        }
        None => Err(Failure::new(ErrorName::InvalidParams, format!("the argument `{name}` is no text"))),
    }
}
