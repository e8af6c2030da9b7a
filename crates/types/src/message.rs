//! The message envelope: who speaks, on which channel, with which authority, in which words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{AgentId, Evidence, MessageId, SafeLabel, SpanId, ThreadId, Timestamp, Traceparent, TurnId};

words! {
    /// The kind of an inbound message.
    Channel {
        /// A person who runs the node.
        Operator => "operator",
        /// Another agent.
        Peer => "peer",
        /// A schedule.
        Scheduler => "scheduler",
        /// The node or its control plane.
        System => "system",
        /// A workflow engine.
        Workflow => "workflow",
        /// What a tool returned.
        Tool => "tool",
        /// A retrieved document.
        Document => "document",
        /// A web page.
        Web => "web",
        /// Anything whose origin is not proven.
        External => "external",
    }
}

words! {
    /// How an instruction is to be weighed, weightiest first.
    Authority {
        /// From one who may instruct.
        Trusted => "trusted",
        /// From one who acts for such a one.
        Delegated => "delegated",
        /// Worth considering.
        Advisory => "advisory",
        /// From outside.
        External => "external",
        /// Not to be followed.
        Untrusted => "untrusted",
    }
}

impl Authority {
    /// The lighter of two authorities: authority never rises in transit.
    #[must_use]
    pub fn at_most(self, limit: Self) -> Self {
        // Declared weightiest first, so the greater value is the lighter authority.
        self.max(limit)
    }
}

words! {
    /// The way a message came in.
    Ingress {
        /// `edgeplane signal` or the method behind it.
        Signal => "signal",
        /// An agent's own words over its driver.
        Driver => "driver",
        /// The node itself.
        Node => "node",
        /// A question whose answer is waited for.
        Ask => "ask",
        /// Published on a topic that the agent subscribes to.
        Topic => "topic",
        /// Sent to every agent that a selector names.
        Broadcast => "broadcast",
        /// A schedule came due.
        Schedule => "schedule",
        /// Content that somebody submits as such: a tool's result, a document, a page.
        Submit => "submit",
        /// The answer to a pending action.
        Action => "action",
        /// A run of a task.
        Task => "task",
    }
}

words! {
    /// How a message meets a running turn.
    DeliveryMode {
        /// After the turn.
        Queue => "queue",
        /// Into the turn.
        Steer => "steer",
        /// Ends the turn.
        Interrupt => "interrupt",
    }
}

words! {
    /// Which waiting message goes first.
    Priority {
        /// Before the others.
        High => "high",
        /// In order of arrival.
        Normal => "normal",
        /// After the others.
        Low => "low",
    }
}

words! {
    /// How strong the separation is that a proof of origin rests on.
    Assurance {
        /// The agent has the daemon's uid: resists confusion and accident, not an attacker.
        Open => "open",
        /// State directory, cgroup filesystem and other sockets are hidden from the agent.
        Guarded => "guarded",
        /// The kernel makes it true that no process in the agent speaks as another.
        Sealed => "sealed",
    }
}

words! {
    /// By what the node knows who speaks.
    Proof {
        /// The peer's uid, and nothing naming an agent.
        Uid => "uid",
        /// The socket belongs to one epoch.
        EpochSocket => "epoch_socket",
        /// The peer's cgroup is the agent's.
        Cgroup => "cgroup",
        /// The peer descends from the agent's shim.
        Ancestry => "ancestry",
        /// Cgroup and ancestry agree.
        CgroupAndAncestry => "cgroup_and_ancestry",
        /// Socket, cgroup and ancestry do not name the same agent.
        Disagreement => "disagreement",
        /// The peer had ended; the kernel kept its cgroup.
        CgroupAfterExit => "cgroup_after_exit",
        /// The agent's own output, read by its shim.
        Driver => "driver",
        /// The node speaks.
        Node => "node",
        /// A token that the node gave to one epoch.
        EpochToken => "epoch_token",
        /// A token that an operator made for a person.
        OperatorToken => "operator_token",
        /// A token that an operator made for a program, such as a workflow engine.
        ServiceToken => "service_token",
        /// Nothing could be proven.
        None => "none",
    }
}

words! {
    /// How far a message has come.
    Rung {
        /// In the record, on stable storage.
        Accepted => "accepted",
        /// Written to the program.
        Injected => "injected",
        /// The program acted on it.
        Observed => "observed",
        /// The turn it began has ended.
        TurnEnded => "turn_ended",
        /// Refused after acceptance.
        Rejected => "rejected",
        /// Its time ran out before injection.
        Expired => "expired",
        /// A crash left unknown whether it was injected.
        Ambiguous => "ambiguous",
        /// Given up.
        DeadLettered => "dead_lettered",
    }
}

/// Who speaks, as far as the node can prove it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Name that the header shows: proven, never chosen by the sender.
    pub principal: SafeLabel,
    /// The speaking agent, if it is one of this node's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// A name that the sender gave itself. Shown to people, never in the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// By what the node knows.
    pub proof: Proof,
    /// What the proof is worth.
    pub assurance: Assurance,
}

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Words.
    Text {
        /// The words, in UTF-8.
        text: String,
    },
    /// A value.
    Data {
        /// Any JSON value.
        data: serde_json::Value,
    },
    /// Something kept elsewhere.
    Reference {
        /// Where it is.
        uri: String,
        /// SHA-256 of it as lower-case hexadecimal, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
    },
}

/// One for whom a source says that it speaks.
///
/// It never raises what a message weighs: it is shown, and where it is proven it can only lower.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnBehalfOf {
    /// For whom.
    pub principal: SafeLabel,
    /// What that one's own message weighed; where it is not proven, `untrusted`.
    pub authority: Authority,
    /// The message by which that one asked for it, if it came to the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Whether the node found that message in the source's own inbox.
    pub proven: bool,
}

/// Where content was found that somebody submits: never who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentOrigin {
    /// Its address, such as the page's URL or the document's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The tool that returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<SafeLabel>,
    /// When it was fetched, as the one who submits it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_at: Option<Timestamp>,
}

/// Everything about a message but its content, which stands in the body store under `content_digest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// Its id.
    pub id: MessageId,
    /// The agent it is for.
    pub target: AgentId,
    /// Its kind.
    pub channel: Channel,
    /// The way it came in.
    pub ingress: Ingress,
    /// Who speaks.
    pub source: Source,
    /// How it is to be weighed; decided by the node.
    pub authority: Authority,
    /// For whom the source speaks, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<OnBehalfOf>,
    /// The topic it was published on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<SafeLabel>,
    /// Where its content was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ContentOrigin>,
    /// The rule that let it in, and by which its authority was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<SafeLabel>,
    /// The thread it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The open turn it goes into. It is part of that turn and none of its own, and comes to nothing if that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into_turn: Option<TurnId>,
    /// What its fence ends with, by the node's choice, where its sender chose its id. Else its id says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<SafeLabel>,
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The message that made its sender send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// How many agents it has passed through.
    pub hops: u32,
    /// How it meets a running turn.
    pub mode: DeliveryMode,
    /// Which waiting message goes first.
    pub priority: Priority,
    /// When it is no longer worth delivering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The sender's key against doubles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// W3C trace context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// SHA-256 of the canonical JSON of its parts, lower-case hexadecimal.
    pub content_digest: String,
    /// Size of that canonical JSON in bytes.
    pub content_bytes: u64,
}

impl Envelope {
    /// The trace as whoever works on the message is to go on with it: at the span of the turn that it begins.
    #[must_use]
    pub fn handed_on(&self) -> Option<Traceparent> {
        let own: Traceparent = self.traceparent.as_deref()?.parse().ok()?;
        Some(own.at(SpanId::of_turn(&self.id)))
    }
}

/// One rung of a message's way, and how it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// How far it came.
    pub rung: Rung,
    /// How that is known.
    pub evidence: Evidence,
    /// When.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MSG-007.
    #[test]
    fn authority_only_falls() {
        for a in Authority::ALL {
            for b in Authority::ALL {
                let met = a.at_most(*b);
                assert!(met >= *a && met >= *b, "{a} met {b} gave {met}");
            }
        }
    }

    #[test]
    fn words_are_what_serde_writes() {
        for channel in Channel::ALL {
            assert_eq!(serde_json::to_value(channel).unwrap(), channel.as_str());
            assert_eq!(Channel::from_word(channel.as_str()), Some(*channel));
        }
    }
}
