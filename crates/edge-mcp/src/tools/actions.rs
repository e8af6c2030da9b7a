//! Tools by which an agent asks a person.

use std::{sync::Arc, time::Duration};

use edgeplane_types::{
    ActionId, MessageId, SafeLabel,
    decision::{ActionKind, Choice},
};
use edgeplane_wire::{
    api::action::{ActionParams, ActionView, OpenParams},
    catalogue::{ActionCancel, ActionGet, ActionOpen},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use super::WAIT_MS_MAX;
use crate::{
    failure::Failure,
    link::{Change, Link},
    shown::Shown,
};

impl Shown for ActionView {}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestArgs {
    /// `question` for words or a choice, `approval` for leave.
    kind: ActionKind,
    /// What a person reads.
    prompt: String,
    /// The answers to choose from.
    #[serde(default)]
    choices: Vec<Choice>,
    /// The JSON Schema of an answer.
    #[serde(default)]
    schema: Option<Value>,
    /// What is to be done, word for word: what is approved is this and nothing else.
    #[serde(default)]
    subject: Option<Value>,
    /// Who may decide: any of these roles; none: any operator.
    #[serde(default)]
    roles: Vec<SafeLabel>,
    /// How many different persons must approve.
    #[serde(default = "one")]
    quorum: u32,
    /// Milliseconds after which silence is a denial; a day if left out.
    #[serde(default)]
    expires_in_ms: Option<u64>,
    /// The message that led to it.
    #[serde(default)]
    causation: Option<MessageId>,
    /// Key against asking twice.
    #[serde(default)]
    idempotency_key: Option<String>,
    /// Milliseconds to wait for the decision, at most ten minutes; none if left out.
    #[serde(default)]
    wait_ms: Option<u64>,
}

pub(super) async fn request(link: &Arc<Link>, args: RequestArgs) -> Result<ActionView, Failure> {
    let agent = Some(link.own_id().await?.to_string());
    let params = OpenParams {
        agent,
        kind: args.kind,
        prompt: args.prompt,
        choices: args.choices,
        schema: args.schema,
        subject: args.subject,
        roles: args.roles,
        quorum: args.quorum,
        expires_in_ms: args.expires_in_ms,
        causation: args.causation,
        idempotency_key: args.idempotency_key,
    };
    let view = link.call::<ActionOpen>(&params).await?;
    ended(link, view, args.wait_ms).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowArgs {
    /// Its id, such as `act_…`.
    action_id: ActionId,
    /// Milliseconds to wait for the decision, at most ten minutes; none if left out.
    #[serde(default)]
    wait_ms: Option<u64>,
}

pub(super) async fn show(link: &Arc<Link>, args: ShowArgs) -> Result<ActionView, Failure> {
    let view = link.call::<ActionGet>(&ActionParams { action_id: args.action_id }).await?;
    ended(link, view, args.wait_ms).await
}

/// Waits until an action has ended, and gives how it stands then or when the time is over.
async fn ended(link: &Arc<Link>, view: ActionView, wait_ms: Option<u64>) -> Result<ActionView, Failure> {
    let wait = Duration::from_millis(wait_ms.unwrap_or(0).min(WAIT_MS_MAX));
    if view.outcome.is_some() || wait.is_zero() {
        return Ok(view);
    }
    let params = ActionParams { action_id: view.action.id };
    // Watched from before it is looked at again, so that no end can be missed.
    let mut changes = link.watch().await?;
    let until_ended = async {
        loop {
            let view = link.call::<ActionGet>(&params).await?;
            if view.outcome.is_some() {
                return Ok(view);
            }
            loop {
                match changes.recv().await {
                    Ok(Change::Event(event)) if !is_about_actions(&event) => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Ok(view),
                }
            }
        }
    };
    match tokio::time::timeout(wait, until_ended).await {
        Ok(result) => result,
        Err(_elapsed) => Ok(view),
    }
}

fn is_about_actions(event: &Value) -> bool {
    event["type"].as_str().is_some_and(|kind| kind.starts_with("action."))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActionArgs {
    /// Its id, such as `act_…`.
    action_id: ActionId,
}

pub(super) async fn cancel(link: &Arc<Link>, args: ActionArgs) -> Result<ActionView, Failure> {
    Ok(link.call::<ActionCancel>(&ActionParams { action_id: args.action_id }).await?)
}
