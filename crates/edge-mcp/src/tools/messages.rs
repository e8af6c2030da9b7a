//! Tools about messages.

use std::{sync::Arc, time::Duration};

use edgeplane_types::{DeliveryMode, MessageId, Part, Priority, Receipt, Rung, SafeLabel};
use edgeplane_wire::{
    api::message::{AskParams, InboxParams, MessageParams, PublishParams, SignalParams, SpreadResult},
    catalogue::{AgentAsk, AgentSignal, InboxList, MessageGet, MessageVerify, TopicPublish},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{WAIT_MS, WAIT_MS_MAX};
use crate::{
    failure::Failure,
    link::{ANSWER_TIME, Link},
    shown::{Asked, EACH, Message, Messages, ONE, Shown, Verified},
};

/// Messages in one list when nobody says how many.
const LIMIT: u32 = 20;

/// Most messages in one list: a model reads all of it.
const LIMIT_MAX: u32 = 100;

fn normal() -> Priority {
    Priority::Normal
}

fn queue() -> DeliveryMode {
    DeliveryMode::Queue
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalArgs {
    /// The receiver: name or id.
    agent: String,
    /// What to say.
    text: String,
    /// A JSON value that goes along with it.
    #[serde(default)]
    data: Option<Value>,
    /// How it meets what the receiver is doing; `queue` waits for the end of its turn.
    #[serde(default = "queue")]
    mode: DeliveryMode,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    priority: Priority,
    /// The message that this one answers.
    #[serde(default)]
    reply_to: Option<MessageId>,
    /// The message that made you send this one, if it is another.
    #[serde(default)]
    causation: Option<MessageId>,
    /// Milliseconds after which it is no longer worth delivering.
    #[serde(default)]
    expires_in_ms: Option<u64>,
    /// Key against sending it twice.
    #[serde(default)]
    idempotency_key: Option<String>,
    /// Return only when it has come this far.
    #[serde(default)]
    wait: Option<Rung>,
    /// Longest wait in milliseconds, at most ten minutes.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// A message that is on its way.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Sent {
    /// Its id.
    message_id: MessageId,
    /// The agent it is for.
    agent: String,
    /// How far it has come.
    receipts: Vec<Receipt>,
    /// Whether it did not come as far as was waited for.
    timed_out: bool,
    /// Whether the key had been used for the same message before.
    duplicate: bool,
    /// Why it will not come as far as was waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Shown for Sent {
    fn text(&self) -> String {
        let rung = self.receipts.last().map(|receipt| receipt.rung.to_string()).unwrap_or_default();
        let mut text = format!("{} to {}: {rung}", self.message_id, self.agent);
        if self.duplicate {
            text.push_str(", as sent before");
        }
        if self.timed_out {
            text.push_str(", not further in time");
        }
        if let Some(reason) = &self.reason {
            text.push_str("; ");
            text.push_str(reason);
        }
        text
    }
}

fn parts(text: String, data: Option<Value>) -> Vec<Part> {
    [Part::Text { text }].into_iter().chain(data.map(|data| Part::Data { data })).collect()
}

/// How long to wait for an answer that itself waits.
pub(super) fn patience(waits_ms: u64) -> Duration {
    ANSWER_TIME.saturating_add(Duration::from_millis(waits_ms))
}

pub(super) async fn signal(link: &Arc<Link>, args: SignalArgs) -> Result<Sent, Failure> {
    let waits_ms = args.timeout_ms.unwrap_or(WAIT_MS).min(WAIT_MS_MAX);
    let params = SignalParams {
        agent: args.agent,
        parts: parts(args.text, args.data),
        mode: args.mode,
        priority: args.priority,
        expires_in_ms: args.expires_in_ms,
        idempotency_key: args.idempotency_key,
        reply_to: args.reply_to,
        causation: args.causation,
        on_behalf_of: Vec::new(),
        authority: None,
        display_name: None,
        wait: args.wait,
        timeout_ms: args.wait.map(|_rung| waits_ms),
    };
    let result = link.call_within::<AgentSignal>(patience(waits_ms), &params).await?;
    Ok(Sent {
        message_id: result.message_id,
        agent: result.agent,
        receipts: result.receipts,
        timed_out: result.timed_out,
        duplicate: result.duplicate,
        reason: result.reason,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskArgs {
    /// The agent that is asked: name or id.
    agent: String,
    /// The question.
    text: String,
    /// A JSON value that goes along with it.
    #[serde(default)]
    data: Option<Value>,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    priority: Priority,
    /// The message that made you ask.
    #[serde(default)]
    causation: Option<MessageId>,
    /// Longest wait in milliseconds: a minute if left out, at most ten.
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// Key against asking twice; with the same key the answer to the first question comes.
    #[serde(default)]
    idempotency_key: Option<String>,
}

pub(super) async fn ask(link: &Arc<Link>, args: AskArgs) -> Result<Asked, Failure> {
    let waits_ms = args.timeout_ms.unwrap_or(WAIT_MS).min(WAIT_MS_MAX);
    let params = AskParams {
        agent: args.agent,
        parts: parts(args.text, args.data),
        priority: args.priority,
        idempotency_key: args.idempotency_key,
        causation: args.causation,
        timeout_ms: Some(waits_ms),
        stream: false,
    };
    Ok(link.call_within::<AgentAsk>(patience(waits_ms), &params).await?.into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishArgs {
    /// The topic.
    topic: SafeLabel,
    /// What to say.
    text: String,
    /// A JSON value that goes along with it.
    #[serde(default)]
    data: Option<Value>,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    priority: Priority,
    /// Milliseconds after which it is no longer worth delivering.
    #[serde(default)]
    expires_in_ms: Option<u64>,
    /// The message that made you publish it.
    #[serde(default)]
    causation: Option<MessageId>,
    /// Key against publishing it twice.
    #[serde(default)]
    idempotency_key: Option<String>,
}

pub(super) async fn publish(link: &Arc<Link>, args: PublishArgs) -> Result<SpreadResult, Failure> {
    let params = PublishParams {
        topic: args.topic,
        parts: parts(args.text, args.data),
        priority: args.priority,
        expires_in_ms: args.expires_in_ms,
        idempotency_key: args.idempotency_key,
        causation: args.causation,
    };
    Ok(link.call::<TopicPublish>(&params).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InboxArgs {
    /// Also those that no longer wait.
    #[serde(default)]
    all: bool,
    /// Most to list: 20 if left out, at most 100.
    #[serde(default)]
    limit: Option<u32>,
}

pub(super) async fn inbox(link: &Arc<Link>, args: InboxArgs) -> Result<Messages, Failure> {
    let agent = link.own_id().await?.to_string();
    let limit = args.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
    let result = link.call::<InboxList>(&InboxParams { agent, all: args.all, limit }).await?;
    Ok(Messages { items: result.items.into_iter().map(|view| Message::of(view, EACH)).collect() })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageArgs {
    /// Its id, such as `msg_…`.
    message_id: MessageId,
}

pub(super) async fn show(link: &Arc<Link>, args: MessageArgs) -> Result<Message, Failure> {
    let view = link.call::<MessageGet>(&MessageParams { message_id: args.message_id }).await?;
    Ok(Message::of(view, ONE))
}

pub(super) async fn verify(link: &Arc<Link>, args: MessageArgs) -> Result<Verified, Failure> {
    Ok(link.call::<MessageVerify>(&MessageParams { message_id: args.message_id }).await?.into())
}
