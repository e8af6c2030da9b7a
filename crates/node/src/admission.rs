//! What is said to an agent, from the caller's wish to what the agent's engine makes durable.
//!
//! Owns the sender's half: who speaks on which channel, what led to it, what it can weigh at most. Rules are asked at
//! the gate; the inbox, its bounds and the record are the engine's of the agent that is spoken to.

use std::sync::Arc;

use edgeplane_driver::render;
use edgeplane_store::MessageRow;
use edgeplane_types::{
    Authority, Channel, ContentOrigin, DeliveryMode, ErrorName, Ingress, MessageId, OnBehalfOf, Part, Phase,
    PolicyAction, Priority, SafeLabel, ThreadId, TraceContext, TurnId, fact::Actor,
};
use edgeplane_wire::{api::message::BehalfParam, rpc::RpcError};
use serde_json::Value;

use crate::{
    agent::{Accepted, AgentHandle, Command},
    caller::{Caller, CallingAgent},
    gate::Asked,
    shared::Shared,
    trace,
};

/// Longest content of a message in bytes of JSON. A native line holds it twice, with its escapes.
const CONTENT_BYTES_MAX: usize = 4 << 20;

/// Longest idempotency key in bytes.
const KEY_BYTES_MAX: usize = 256;

/// Longest display name in bytes. It stands in the envelope, where no rule about content bounds it.
const DISPLAY_NAME_BYTES_MAX: usize = 256;

/// Most lists and objects of a message's data within each other. A reader of 128 levels, as many are, must be able to
/// read it also where it stands in a list of messages in an answer.
const DATA_DEPTH_MAX: usize = 64;

/// Most principals for whom one message can say that it speaks.
const BEHALF_MAX: usize = 8;

/// More agents than this no message passes through, whatever the rules say.
pub(crate) const HOPS_MAX: u32 = 64;

/// The rule by which submitted content weighs no more than content.
const SUBMITTED_RULE: &str = "submitted-content";

/// What a caller wants to say.
#[derive(Debug, Clone)]
pub(crate) struct Saying {
    pub(crate) parts: Vec<Part>,
    pub(crate) ingress: Ingress,
    /// The kind of submitted content; else the caller's own channel.
    pub(crate) channel: Option<Channel>,
    pub(crate) mode: DeliveryMode,
    pub(crate) priority: Priority,
    pub(crate) expires_in_ms: Option<u64>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) reply_to: Option<MessageId>,
    pub(crate) causation: Option<MessageId>,
    pub(crate) on_behalf_of: Vec<BehalfParam>,
    pub(crate) authority: Option<Authority>,
    pub(crate) topic: Option<SafeLabel>,
    pub(crate) origin: Option<ContentOrigin>,
    pub(crate) display_name: Option<String>,
    /// The thread it belongs to, if that is not the agent's first one.
    pub(crate) thread: Option<ThreadId>,
    /// The open turn it goes into.
    pub(crate) into_turn: Option<TurnId>,
    /// Its id, by the sender's choice.
    pub(crate) message_id: Option<MessageId>,
    /// What it weighs at most, whoever says it: what it repeats weighs no more.
    pub(crate) at_most: Option<Authority>,
    /// The request that says it; of what the node says by itself there is none.
    pub(crate) trace: Option<Arc<TraceContext>>,
}

impl Saying {
    /// Words, with nothing else asked for.
    pub(crate) fn plain(parts: Vec<Part>, ingress: Ingress) -> Self {
        Self {
            parts,
            ingress,
            channel: None,
            mode: DeliveryMode::Queue,
            priority: Priority::Normal,
            expires_in_ms: None,
            idempotency_key: None,
            reply_to: None,
            causation: None,
            on_behalf_of: Vec::new(),
            authority: None,
            topic: None,
            origin: None,
            display_name: None,
            thread: None,
            into_turn: None,
            message_id: None,
            at_most: None,
            trace: trace::current(),
        }
    }
}

/// What may be said, and what it weighs.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    pub(crate) caller: Caller,
    /// Who made it happen: the caller, unless a person let a schedule speak.
    pub(crate) actor: Actor,
    pub(crate) saying: Saying,
    /// The parts as bytes.
    pub(crate) content: Vec<u8>,
    pub(crate) channel: Channel,
    pub(crate) authority: Authority,
    pub(crate) hops: u32,
    pub(crate) causation: Option<MessageId>,
    pub(crate) on_behalf_of: Vec<OnBehalfOf>,
    /// The rule that let it in.
    pub(crate) rule: SafeLabel,
}

/// Says something to an agent: durable when it returns.
pub(crate) async fn say(
    shared: &Arc<Shared>,
    caller: &Caller,
    agent: &AgentHandle,
    saying: Saying,
) -> Result<Accepted, RpcError> {
    let admitted = admit(shared, caller, agent, saying)?;
    agent.ask(|reply| Command::Signal(Box::new(admitted), reply)).await?
}

/// Decides whether something may be said and what it weighs; nothing is written but a refusal.
pub(crate) fn admit(
    shared: &Arc<Shared>,
    caller: &Caller,
    agent: &AgentHandle,
    saying: Saying,
) -> Result<Admitted, RpcError> {
    let content = checked_content(&saying)?;
    let channel = saying.channel.unwrap_or_else(|| caller.channel());
    let led = match (&caller.automation, &caller.agent) {
        // What its agent is busy with when it fires has not led to it; what had when it was declared, its weight says.
        (Some(by), _) => Led { authority: Authority::Trusted, hops: by.hops, causation: None },
        (None, Some(sender)) => led_by(shared, sender, &saying)?,
        (None, None) => {
            Led { authority: Authority::Trusted, hops: 0, causation: saying.causation.or(saying.reply_to) }
        }
    };
    let limit = submitted(channel);
    let limit_of_words =
        limit.unwrap_or(Authority::Trusted).at_most(saying.at_most.unwrap_or(Authority::Trusted));
    let ceiling = caller.authority().at_most(led.authority).at_most(limit_of_words);
    let wanted = saying.authority.unwrap_or(ceiling);
    let asked = Asked {
        action: PolicyAction::Send,
        caller,
        target: agent,
        channel,
        ingress: saying.ingress,
        authority: wanted,
        hops: led.hops,
        topic: saying.topic.as_ref(),
        capability: None,
        causation: None,
        bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
    };
    if led.hops > HOPS_MAX {
        let reason = format!("the message has passed through {HOPS_MAX} agents");
        let error = shared.gate.beyond(shared, &asked, "hop-limit", reason);
        return Err(error.hint("agents answer each other in circles; end the exchange"));
    }
    if wanted < ceiling {
        let reason = format!("`{}` cannot speak as `{wanted}`, at most as `{ceiling}`", caller.principal);
        let error = shared.gate.beyond(shared, &asked, "ceiling", reason);
        return Err(error.hint("leave the authority out, or ask for less"));
    }
    let granted = shared.gate.decide(shared, &asked)?;
    let on_behalf_of = behalf(shared, caller, &saying)?;
    let by_limit = limit.is_some_and(|limit| granted.authority <= limit);
    Ok(Admitted {
        caller: caller.clone(),
        actor: caller.actor(),
        content,
        channel,
        authority: granted.authority.at_most(wanted),
        hops: led.hops,
        causation: led.causation,
        on_behalf_of,
        rule: if by_limit { SafeLabel::sanitized(SUBMITTED_RULE) } else { granted.rule },
        saying,
    })
}

/// What submitted content can weigh at most, whoever submits it: it is not the words of the one who found it.
fn submitted(channel: Channel) -> Option<Authority> {
    match channel {
        Channel::Tool | Channel::Document => Some(Authority::External),
        Channel::Web => Some(Authority::Untrusted),
        Channel::Operator
        | Channel::Peer
        | Channel::Scheduler
        | Channel::System
        | Channel::Workflow
        | Channel::External => None,
    }
}

/// What led to a message of an agent.
pub(crate) struct Led {
    /// What it can weigh at most, by what led to it.
    pub(crate) authority: Authority,
    pub(crate) hops: u32,
    pub(crate) causation: Option<MessageId>,
}

/// A message weighs no more than what led to it: the message that its sender names, every one that the sender is still
/// busy with, or with none the one that it was busy with last, and what it was answered meanwhile. One that came to
/// somebody else is no cause of it.
pub(crate) fn led_by(shared: &Shared, sender: &CallingAgent, saying: &Saying) -> Result<Led, RpcError> {
    let CallingAgent { id, epoch, .. } = sender;
    let leading = shared.record.look_up(|reader| reader.leading(id, *epoch))?;
    let own = |message_id: Option<MessageId>| -> Result<Option<MessageRow>, RpcError> {
        let Some(message_id) = message_id else { return Ok(None) };
        let row = shared.record.look_up(|reader| reader.message(&message_id))?;
        Ok(row.filter(|row| row.envelope.target == *id))
    };
    let named = match own(saying.causation)? {
        Some(row) => Some(row),
        None => own(saying.reply_to)?,
    };
    let busy_with = own(leading.and_then(|leading| leading.message_id))?;
    // Who names an older message is no nearer to the beginning than what it is busy with.
    let hops = named.iter().chain(&busy_with).map(|row| row.envelope.hops.saturating_add(1)).max();
    let cause = named.or(busy_with).map(|row| row.envelope);
    // What it was given and answered in this epoch; without any of it, what it says begins with it.
    let given = leading.map_or(Authority::Trusted, |leading| leading.authority);
    Ok(Led {
        authority: cause.as_ref().map_or(given, |cause| given.at_most(cause.authority)),
        hops: hops.unwrap_or(0),
        causation: cause.map(|cause| cause.id),
    })
}

/// For whom a sender speaks: proven by a message of that one in the sender's own inbox, else a mere claim.
fn behalf(shared: &Shared, caller: &Caller, saying: &Saying) -> Result<Vec<OnBehalfOf>, RpcError> {
    // By its grant the service is believed that it speaks for them; that they asked for it, nobody has proven.
    let users =
        caller.speaks_for.iter().flat_map(|user| [&user.user_id].into_iter().chain(&user.on_behalf_of));
    let users = users.map(|principal| OnBehalfOf {
        principal: principal.clone(),
        authority: Authority::Untrusted,
        message_id: None,
        proven: false,
    });
    let declared = caller.automation.iter().filter(|_| caller.agent.is_none()).map(|_| OnBehalfOf {
        principal: caller.principal.clone(),
        authority: Authority::Untrusted,
        message_id: None,
        proven: false,
    });
    let mut all: Vec<OnBehalfOf> = users.chain(declared).collect();
    if all.len().saturating_add(saying.on_behalf_of.len()) > BEHALF_MAX {
        let what = format!("a message speaks on behalf of at most {BEHALF_MAX}");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    for BehalfParam { principal, message_id } in &saying.on_behalf_of {
        let row = match message_id {
            Some(id) => shared.record.look_up(|reader| reader.message(id))?,
            None => None,
        };
        // One that may be somebody else proves nothing by what came to the agent that it is named as.
        let proof = row.filter(|row| {
            caller.is_agent(row.envelope.target) && row.envelope.source.principal == *principal
        });
        all.push(OnBehalfOf {
            principal: principal.clone(),
            authority: proof.as_ref().map_or(Authority::Untrusted, |row| row.envelope.authority),
            message_id: proof.as_ref().map(|row| row.envelope.id),
            proven: proof.is_some(),
        });
    }
    Ok(all)
}

/// The agents that a message to many goes to, by name: all but its sender and those that are no more. Replicas get what
/// comes to their set.
pub(crate) fn others(shared: &Shared, caller: &Caller) -> Vec<AgentHandle> {
    let own = caller.agent.as_ref().map(|agent| agent.id);
    let is_meant = |agent: &AgentHandle| {
        let is_own = Some(agent.id) == own || agent.set.is_some();
        !is_own && agent.summary.borrow().phase != Phase::Retired
    };
    shared.agents().into_iter().filter(is_meant).collect()
}

/// A display name as it is kept: on one line, with nothing that acts on a terminal.
pub(crate) fn shown_name(name: &str) -> String {
    render::clean(name).chars().filter(|c| !c.is_control()).collect()
}

/// Whether a value has more lists and objects within each other. What is read from a line has at most 128.
fn is_deeper(value: &Value, depth: usize) -> bool {
    let within = |value: &Value| is_deeper(value, depth.saturating_sub(1));
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(within),
        Value::Object(fields) => depth == 0 || fields.values().any(within),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The bytes of a message's parts, if they are fit to be a message.
pub(crate) fn checked_content(saying: &Saying) -> Result<Vec<u8>, RpcError> {
    let invalid = |what: &str| RpcError::new(ErrorName::InvalidParams, what);
    if saying.parts.is_empty() {
        return Err(invalid("a message needs at least one part").hint("give `--content TEXT`"));
    }
    let is_blank = |part: &Part| matches!(part, Part::Text { text } if render::clean(text).trim().is_empty());
    if saying.parts.iter().all(is_blank) {
        return Err(invalid("the message is empty").hint("give `--content TEXT`"));
    }
    if saying.expires_in_ms == Some(0) {
        return Err(invalid("the message has expired already"));
    }
    if saying.idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > KEY_BYTES_MAX) {
        return Err(invalid("an idempotency key has 1 to 256 bytes"));
    }
    if saying.display_name.as_ref().is_some_and(|name| name.len() > DISPLAY_NAME_BYTES_MAX) {
        return Err(invalid(&format!("a display name has at most {DISPLAY_NAME_BYTES_MAX} bytes")));
    }
    let is_too_deep = |part: &Part| matches!(part, Part::Data { data } if is_deeper(data, DATA_DEPTH_MAX));
    if saying.parts.iter().any(is_too_deep) {
        return Err(invalid(&format!("the data of a part is nested deeper than {DATA_DEPTH_MAX}")));
    }
    // Content is any JSON, floats too, so its bytes are what serde makes of it, not the canonical form.
    let content = serde_json::to_vec(&saying.parts)
        .map_err(|error| invalid(&format!("the content cannot be kept: {error}")))?;
    if content.len() > CONTENT_BYTES_MAX {
        let error = RpcError::new(
            ErrorName::TooLarge,
            format!("the message has {} bytes, more than {CONTENT_BYTES_MAX}", content.len()),
        );
        return Err(error.hint("send a reference to a file instead"));
    }
    Ok(content)
}
