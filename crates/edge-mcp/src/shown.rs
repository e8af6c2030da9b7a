//! What a model is shown of messages: what a session is shown, with the header of the source and the fence.
//!
//! A result of a tool stands in the same context as a delivered message. So the raw words of others are in none: neither
//! in its text nor in its structured content.

use edgeplane_driver::render::{self, Attempt, Bounds};
use edgeplane_types::{
    AgentId, Authority, Channel, Envelope, MessageId, Priority, Proof, Receipt, SafeLabel, Timestamp,
};
use edgeplane_wire::api::message::{AskResult, MessageView, SpreadResult, VerifyResult};
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes of content that are shown of a message alone.
pub(crate) const ONE: Bounds = Bounds { content_bytes: 256 << 10, quoted_bytes: 256 << 10 };

/// Bytes of content that are shown of each of several messages.
pub(crate) const EACH: Bounds = Bounds { content_bytes: 4 << 10, quoted_bytes: 4 << 10 };

/// A result as a model reads it.
pub(crate) trait Shown: Serialize {
    /// Its text; without anything better, its JSON.
    fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// A message.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Message {
    /// Its id, to verify it by or to answer it.
    pub(crate) message_id: MessageId,
    /// The agent it is for.
    pub(crate) agent: String,
    /// Its kind.
    pub(crate) channel: Channel,
    /// Who speaks, as the node has proven it.
    pub(crate) source: SafeLabel,
    /// How it is to be weighed.
    pub(crate) authority: Authority,
    /// What was said, below the header that the node wrote. Nothing if it was erased.
    pub(crate) rendered: Option<String>,
    /// Whether that is the beginning only.
    pub(crate) is_cut: bool,
    /// How far it has come.
    pub(crate) receipts: Vec<Receipt>,
    /// When it was accepted.
    pub(crate) accepted_at: Timestamp,
    /// Which waiting message goes first.
    pub(crate) priority: Priority,
    /// The message it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply_to: Option<MessageId>,
    /// Why it came no further or is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl Message {
    pub(crate) fn of(view: MessageView, bounds: Bounds) -> Self {
        let rendered = view.parts.as_deref().map(|parts| {
            let bytes = serde_json::to_vec(parts).map_or(0, |bytes| bytes.len());
            render::render(&envelope(&view, bytes), parts, Attempt::First, bounds)
        });
        Self {
            message_id: view.message_id,
            agent: view.agent,
            channel: view.channel,
            source: view.source,
            authority: view.authority,
            is_cut: rendered.as_ref().is_some_and(|rendered| rendered.is_preview),
            rendered: rendered.map(|rendered| rendered.text()),
            receipts: view.receipts,
            accepted_at: view.accepted_at,
            priority: view.priority,
            reply_to: view.reply_to,
            reason: view.reason,
        }
    }
}

impl Shown for Message {
    fn text(&self) -> String {
        let words = self.rendered.as_deref().unwrap_or("(the content was erased)");
        let rungs: Vec<String> = self.receipts.iter().map(|receipt| receipt.rung.to_string()).collect();
        let mut text = format!("{} for {} ({})", self.message_id, self.agent, rungs.join(", "));
        if let Some(reason) = &self.reason {
            text.push_str("; ");
            text.push_str(reason);
        }
        text.push('\n');
        text.push_str(words);
        text
    }
}

/// The envelope that a view was made of, as far as a session sees it.
fn envelope(view: &MessageView, content_bytes: usize) -> Envelope {
    Envelope {
        id: view.message_id,
        // The renderer does not show for whom it is: its reader knows.
        target: view.source_detail.agent_id.unwrap_or_else(nobody),
        channel: view.channel,
        ingress: view.ingress,
        source: view.source_detail.clone(),
        authority: view.authority,
        on_behalf_of: view.on_behalf_of.clone(),
        topic: view.topic.clone(),
        origin: view.origin.clone(),
        rule: view.rule.clone(),
        thread: view.thread_id,
        into_turn: view.into_turn,
        fence: view.fence.clone(),
        reply_to: view.reply_to,
        causation: view.causation,
        hops: view.hops,
        mode: view.mode,
        priority: view.priority,
        expires_at: view.expires_at,
        idempotency_key: None,
        traceparent: None,
        content_digest: view.content_digest.clone(),
        content_bytes: u64::try_from(content_bytes).unwrap_or(u64::MAX),
    }
}

fn nobody() -> AgentId {
    AgentId::from_bytes([0; 16])
}

/// Several messages.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Messages {
    /// The messages.
    pub(crate) items: Vec<Message>,
}

impl Shown for Messages {
    fn text(&self) -> String {
        if self.items.is_empty() {
            return "no messages".to_owned();
        }
        self.items.iter().map(Shown::text).collect::<Vec<_>>().join("\n\n")
    }
}

/// A question and what was answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Asked {
    /// The question.
    pub(crate) message_id: MessageId,
    /// The agent that was asked.
    pub(crate) agent: String,
    /// How far the question came.
    pub(crate) receipts: Vec<Receipt>,
    /// The answer, unless there was none in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Heard>,
    /// Whether the time was over before an answer came. It may still come, as a message.
    pub(crate) timed_out: bool,
    /// Why there is no answer and none will come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// An answer to a question.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Heard {
    /// The agent that gave it.
    pub(crate) source: SafeLabel,
    /// What it weighs.
    pub(crate) authority: Authority,
    /// The message that brought it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message_id: Option<MessageId>,
    /// Its words, below the header of their source.
    pub(crate) rendered: String,
}

impl From<AskResult> for Asked {
    fn from(result: AskResult) -> Self {
        let heard = result.answer.map(|answer| Heard {
            source: answer.source,
            authority: answer.authority,
            message_id: answer.message_id,
            rendered: answer.rendered,
        });
        Self {
            message_id: result.message_id,
            agent: result.agent,
            receipts: result.receipts,
            answer: heard,
            timed_out: result.timed_out,
            reason: result.reason,
        }
    }
}

impl Shown for Asked {
    fn text(&self) -> String {
        match (&self.answer, &self.reason) {
            (Some(answer), _) => answer.rendered.clone(),
            (None, Some(reason)) => format!("no answer to {}: {reason}", self.message_id),
            (None, None) => {
                format!("no answer to {} in time; it may still come as a message", self.message_id)
            }
        }
    }
}

impl Shown for SpreadResult {}

/// What the node vouches for of a message. What its sender chose freely, such as a name to be shown or where the
/// content was found, is not in it: the renderer shows that, on lines of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Verified {
    /// The message.
    message_id: MessageId,
    /// The line that its session was shown first.
    header: String,
    /// Its kind.
    channel: Channel,
    /// Who speaks, as the node has proven it.
    source: SafeLabel,
    /// The agent that the source is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_agent_id: Option<AgentId>,
    /// By what that is known.
    proof: Proof,
    /// How it is to be weighed.
    authority: Authority,
    /// SHA-256 of its content.
    content_digest: String,
    /// Whether its content is what the digest says.
    content_matches: bool,
    /// Why that could not be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_problem: Option<String>,
    /// Whether every event that was looked at is chained to the one before it.
    chain_verifies: bool,
    /// What is wrong with the first that is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    chain_problem: Option<String>,
    /// Number of the message's event in the agent's stream.
    seq: u64,
    /// Number of the last event that was looked at and is right.
    verified_to: u64,
    /// Number of the stream's newest event.
    head: u64,
    /// The key that signs for the node.
    key_id: SafeLabel,
}

impl From<VerifyResult> for Verified {
    fn from(result: VerifyResult) -> Self {
        let envelope = result.envelope;
        Self {
            message_id: envelope.id,
            header: result.header,
            channel: envelope.channel,
            source: envelope.source.principal,
            source_agent_id: envelope.source.agent_id,
            proof: envelope.source.proof,
            authority: envelope.authority,
            content_digest: envelope.content_digest,
            content_matches: result.content_matches,
            content_problem: result.content_problem,
            chain_verifies: result.chain_verifies,
            chain_problem: result.chain_problem,
            seq: result.seq,
            verified_to: result.verified_to,
            head: result.head,
            key_id: result.key_id,
        }
    }
}

impl Shown for Verified {
    fn text(&self) -> String {
        let content = if self.content_matches { "its content is unchanged" } else { "its CONTENT DIFFERS" };
        let chain = if self.chain_verifies { "its chain verifies" } else { "its CHAIN IS BROKEN" };
        let why = self.content_problem.iter().chain(&self.chain_problem);
        let why: Vec<&str> = why.map(String::as_str).collect();
        let who = format!("{} on {}, {}", self.source, self.channel, self.authority);
        let line = format!("{}\nfrom {who}: {content}, {chain}", self.header);
        if why.is_empty() { line } else { format!("{line} ({})", why.join("; ")) }
    }
}
