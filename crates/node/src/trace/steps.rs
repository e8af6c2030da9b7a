//! Events in words, for people who follow what happens. No content: only what stands in the facts themselves.

use edgeplane_types::{
    Fact,
    fact::{Actor, FileWritten, MemoryPut, RequestRefused},
};

/// Who made something happen, by name.
pub(crate) fn by(actor: &Actor) -> String {
    match actor {
        Actor::Operator { name, .. }
        | Actor::Agent { name, .. }
        | Actor::Service { name, .. }
        | Actor::Unproven { name } => name.to_string(),
        Actor::Node { rule } => format!("node ({rule})"),
    }
}

/// What happened. Pieces of texts are nothing to tell, tools are.
pub(crate) fn step(fact: &Fact) -> Option<String> {
    let text = match fact {
        Fact::ItemUpdated { kind, status, .. } if kind.as_str() == "tool_call" => {
            format!("uses a tool: {}", status.as_ref().map_or("goes on", |status| status.as_str()))
        }
        piece if piece.is_piece() => return None,
        of_message if of_message.type_name().starts_with("message.") => message(of_message)?,
        of_agent if of_agent.type_name().starts_with("agent.") => agent(of_agent)?,
        Fact::TurnCompleted { outcome, output_bytes, .. } => match outcome {
            Some(outcome) => format!("turn over ({outcome}), {output_bytes} bytes said"),
            None => format!("turn over, {output_bytes} bytes said"),
        },
        Fact::CommandStarted { .. } => "runs a command".to_owned(),
        Fact::CommandEnded { status, .. } => format!("command ended with {status}"),
        Fact::FileWritten(FileWritten { path, bytes, .. }) => format!("wrote {path} ({bytes} bytes)"),
        Fact::ActionOpened { action } => format!("asks a person: {}", action.id),
        Fact::ActionVoted { action_id, principal, .. } => format!("{principal} votes on {action_id}"),
        Fact::ActionResolved { action_id, outcome, .. } => {
            format!("{action_id} is decided: {}", word(outcome))
        }
        Fact::SessionOpened { continuity, .. } => {
            format!("session takes messages, continuity {}", word(continuity))
        }
        Fact::SessionFailed { reason, .. } => format!("has no session: {reason}"),
        Fact::SessionClosing { .. } => "epoch is about to end".to_owned(),
        Fact::RequestRefused(RequestRefused { action, rule, reason, .. }) => {
            format!("refused {}: {reason} (rule {rule})", word(action))
        }
        Fact::ScheduleRan { name, .. } => format!("schedule {name} came due"),
        Fact::ScheduleSkipped { name, detail, .. } => format!("schedule {name} sent nothing: {detail}"),
        Fact::MemoryPut(MemoryPut { key, version, .. }) => format!("memory `{key}` is at version {version}"),
        Fact::ContextResolved(resolved) => format!(
            "was given {} texts ({} bytes), {} left out",
            resolved.selected.len(),
            resolved.used_bytes,
            resolved.left_out.len()
        ),
        Fact::ArtifactPublished(published) => {
            format!("published version {} of artifact `{}`", published.version, published.name)
        }
        Fact::AttachOpened { control, .. } => {
            format!("somebody {}", if *control { "controls" } else { "watches" })
        }
        Fact::RecordingGap { reason, .. } => format!("output is missing from the recording: {reason}"),
        Fact::NodeStarted { version, .. } => format!("node began to serve, version {version}"),
        Fact::NodeStopped { reason } => format!("node ended in good order: {reason}"),
        Fact::NodeStorageFull { detail } => format!("no space for the record: {detail}"),
        other => other.type_name().replace(['.', '_'], " "),
    };
    Some(edgeplane_driver::render::clean(&text).replace('\n', " "))
}

fn message(fact: &Fact) -> Option<String> {
    Some(match fact {
        Fact::MessageAccepted { envelope } => format!(
            "message from {} accepted ({}, {}, {} bytes)",
            envelope.source.principal, envelope.ingress, envelope.authority, envelope.content_bytes
        ),
        Fact::MessageInjected { epoch, .. } => format!("message given to its program (epoch {epoch})"),
        Fact::MessageObserved { .. } => "acts on the message".to_owned(),
        Fact::MessageRejected { reason, .. } => format!("message refused: {reason}"),
        Fact::MessageExpired { .. } => "message's time is over".to_owned(),
        Fact::MessageAmbiguous { reason, .. } => format!("unknown whether delivered: {reason}"),
        Fact::MessageRequeued { .. } => "message waits once more".to_owned(),
        Fact::MessageDeadLettered { reason, .. } => format!("message given up: {reason}"),
        Fact::MessageDropped { reason, .. } => format!("message not wanted any more: {reason}"),
        Fact::MessageAssigned { .. } => "message handed to a replica".to_owned(),
        Fact::MessageReturned { reason, .. } => format!("message given back to its set: {reason}"),
        // The turn's own end says it.
        _ => return None,
    })
}

fn agent(fact: &Fact) -> Option<String> {
    Some(match fact {
        Fact::AgentDeclared { name, .. } => format!("agent {name} declared"),
        Fact::AgentDesired { desired, reason, .. } => format!("is to be {}: {reason}", word(desired)),
        Fact::AgentStarting { epoch, cause } => format!("epoch {epoch} is started ({})", word(cause)),
        Fact::AgentStarted { epoch, process, .. } => format!("epoch {epoch} runs, pid {}", process.pid),
        Fact::AgentStartFailed { epoch, reason } => format!("epoch {epoch} did not start: {reason}"),
        Fact::AgentExited { epoch, status, .. } => format!("epoch {epoch} ended with {status}"),
        Fact::AgentBackedOff { delay_ms, restarts } => {
            format!("is started again in {delay_ms} ms ({restarts} restarts)")
        }
        Fact::AgentFailed { reason } => format!("is not started again: {reason}"),
        Fact::AgentUnobservable { reason, .. } => format!("cannot be observed: {reason}"),
        Fact::AgentQuarantined { reason, .. } => format!("is quarantined: {reason}"),
        Fact::AgentProbed { healthy, reason } => {
            format!("is {}: {reason}", if *healthy { "well" } else { "not well" })
        }
        other => other.type_name().replace("agent.", "is ").replace('_', " "),
    })
}

/// A word of the protocol as programs read it.
fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
