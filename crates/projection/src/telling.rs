//! What an event says to somebody who reads along: the entries that a transcript and the items of a turn have in common.

use edgeplane_types::fact::{FileWritten, UsageReported};
use edgeplane_types::{AgentId, Fact, MessageId, decision::Action};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    actions::{self, Open},
    entry::{Entry, Ids},
    fold::Step,
    json::{Json, Object},
    subject::Subject,
    turns::{Change, Stage, Turns},
};

/// Types that say something to a reader, or that must be known for it.
pub(crate) fn takes(kind: &str) -> bool {
    let (family, name) = kind.split_once('.').unwrap_or((kind, ""));
    match family {
        "message" | "turn" | "item" | "usage" | "file" | "command" | "action" | "answer" | "thread"
        | "context" => true,
        "session" => matches!(name, "opened" | "failed" | "closing"),
        "agent" => matches!(name, "declared" | "started" | "start_failed" | "exited"),
        _ => false,
    }
}

/// Follows turns and actions, and tells what is said of those that a reader wants.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Teller {
    pub(crate) turns: Turns,
    actions: Open,
}

/// A reader: which of the things that are told it wants.
pub(crate) trait Reader {
    /// Whether it wants what is about these. What is about no turn belongs to the session as a whole.
    fn wants(&self, ids: &Ids, of_session: bool) -> bool;
}

impl Teller {
    pub(crate) fn new(subject: &Subject) -> Self {
        Self { turns: Turns::new(subject), actions: Open::default() }
    }

    pub(crate) fn tell(&mut self, step: &mut Step<'_>, reader: &impl Reader) -> Option<Change> {
        let event = step.event();
        let change = self.turns.follow(event);
        match &event.fact {
            Fact::ActionOpened { .. } | Fact::ActionVoted { .. } | Fact::ActionResolved { .. } => {
                self.action(step, reader);
            }
            Fact::AgentStarted { .. }
            | Fact::AgentStartFailed { .. }
            | Fact::AgentExited { .. }
            | Fact::SessionOpened { .. }
            | Fact::SessionFailed { .. }
            | Fact::SessionClosing { .. } => self.of_session(step, reader),
            Fact::ThreadCreated(_)
            | Fact::ThreadUpdated(_)
            | Fact::ThreadArchived(_)
            | Fact::ThreadRolledBack(_)
            | Fact::ThreadCompacted(_) => self.of_thread(step, reader),
            _ => self.of_turn(step, reader, change),
        }
        change
    }

    fn say<'s>(&self, step: &'s mut Step<'_>, kind: &'static str, ids: Ids, payload: Json) -> &'s mut Entry {
        let entry = step.say(kind, ids, payload);
        entry.trace = self.turns.trace(ids.message_id).map(str::to_owned);
        entry
    }

    fn of_turn(&self, step: &mut Step<'_>, reader: &impl Reader, change: Option<Change>) {
        if let Some(change) = change {
            let ids = self.turns.ids(Some(change.message));
            if reader.wants(&ids, false) {
                self.moved(step, ids, change);
            }
        }
        let fact = step.fact();
        match fact {
            Fact::TurnCompleted { turn_id, epoch, message_id, .. } => {
                let ids = Ids { epoch: Some(*epoch), ..self.turns.ids_of_end(*turn_id, *message_id) };
                if reader.wants(&ids, false) {
                    self.ended(step, ids);
                }
            }
            Fact::ItemUpdated { epoch, message_id, item_id, .. } => {
                let ids = Ids { epoch: Some(*epoch), ..self.turns.ids(*message_id) };
                if reader.wants(&ids, false) {
                    self.item(step, Ids { item_id: Some(*item_id), ..ids });
                }
            }
            Fact::CommandStarted { epoch, message_id, process_id, .. }
            | Fact::CommandEnded { epoch, message_id, process_id, .. } => {
                let ids = Ids { epoch: Some(*epoch), ..self.turns.ids(*message_id) };
                if reader.wants(&ids, false) {
                    self.command(step, Ids { process_id: Some(*process_id), ..ids });
                }
            }
            Fact::ItemReported { epoch, message_id, .. }
            | Fact::UsageReported(UsageReported { epoch, message_id, .. })
            | Fact::FileWritten(FileWritten { epoch, message_id, .. }) => {
                let ids = Ids { epoch: Some(*epoch), ..self.turns.ids(*message_id) };
                if reader.wants(&ids, false) {
                    self.beside(step, ids);
                }
            }
            Fact::ContextResolved(resolved) => {
                let ids = self.turns.ids(resolved.message_id);
                if reader.wants(&ids, false) {
                    let of =
                        |reference: &str, digest: Option<&str>| json!({ "ref": reference, "digest": digest });
                    let selected =
                        resolved.selected.iter().map(|item| of(&item.reference, Some(&item.digest)));
                    let payload = Object::new()
                        .put("context_id", &resolved.context_id)
                        .put("authority", resolved.authority.as_str())
                        .put("selected", &selected.collect::<Vec<_>>())
                        .put("left_out", &resolved.left_out.len())
                        .put("used_bytes", &resolved.used_bytes)
                        .done();
                    self.say(step, "context.resolved", ids, payload);
                }
            }
            Fact::AnswerHeard { epoch, message_id, authority } => {
                let ids = Ids { epoch: Some(*epoch), ..self.turns.ids(None) };
                if reader.wants(&ids, false) {
                    let payload =
                        Object::new().put("question", message_id).put("authority", authority.as_str()).done();
                    self.say(step, "answer.heard", ids, payload);
                }
            }
            _ => {}
        }
    }

    /// Where a thread begins, what is not part of its history any more, and where it ends.
    fn of_thread(&self, step: &mut Step<'_>, reader: &impl Reader) {
        let (thread, kind, payload) = match step.fact() {
            Fact::ThreadCreated(created) => {
                let payload = Object::new()
                    .maybe("title", created.title.as_ref())
                    .maybe("parent", created.parent.as_ref().map(|parent| &parent.thread_id))
                    .maybe("through", created.parent.as_ref().and_then(|parent| parent.through.as_ref()));
                (created.thread_id, "thread.created", payload)
            }
            Fact::ThreadUpdated(updated) => {
                let payload = Object::new().maybe("title", updated.title.as_ref());
                (updated.thread_id, "thread.updated", payload)
            }
            Fact::ThreadArchived(archived) => {
                (archived.thread_id, "thread.archived", Object::new().put("reason", &archived.reason))
            }
            Fact::ThreadRolledBack(cut) => {
                let payload = Object::new()
                    .maybe("to_turn", cut.to_turn.as_ref())
                    .put("removed", &cut.removed)
                    .put("surviving", &cut.surviving)
                    .put("reason", &cut.reason);
                (cut.thread_id, "thread.rolled_back", payload)
            }
            Fact::ThreadCompacted(drawn) => {
                let payload = Object::new()
                    .put("through", &drawn.through)
                    .put("turns", &drawn.turns)
                    .put("by", step.event().actor.name().as_str())
                    .put("authority", drawn.authority.as_str())
                    .put("reason", &drawn.reason);
                (drawn.thread_id, "thread.compacted", payload)
            }
            _ => return,
        };
        let ids = Ids { thread_id: Some(thread), ..self.turns.ids(None) };
        if !reader.wants(&ids, false) {
            return;
        }
        let summary = match step.fact() {
            Fact::ThreadCompacted(drawn) => Some((drawn.summary_digest.clone(), drawn.summary_bytes)),
            _ => None,
        };
        let entry = self.say(step, kind, ids, payload.done());
        if let Some((digest, bytes)) = summary {
            entry.with("summary", &digest, bytes);
        }
    }

    /// A message was put to the agent, or will never be.
    fn moved(&self, step: &mut Step<'_>, ids: Ids, change: Change) {
        let Some(turn) = self.turns.get(change.message) else { return };
        if change.put {
            let payload = Object::new().put("role", "user").put("attempt", &turn.attempts);
            let Some(words) = &turn.words else {
                // Honest: the message stands in the stream of the one that handed it over.
                let payload = payload.put("gaps", &["envelope"]).done();
                self.say(step, "turn.started", Ids { epoch: Some(turn.epoch), ..ids }, payload);
                return;
            };
            let payload = payload
                .put("from", words.principal.as_str())
                .put("channel", words.channel.as_str())
                .put("authority", words.authority.as_str())
                .put("mode", words.mode.as_str())
                .done();
            self.say(step, "turn.started", Ids { epoch: Some(turn.epoch), ..ids }, payload).with(
                "input",
                &words.content_digest,
                words.content_bytes,
            );
            return;
        }
        let fact = step.fact();
        match (fact, change.now) {
            (Fact::MessageTurnEnded { .. }, Stage::Ended)
                if !turn.answered && change.was != Some(Stage::Ended) =>
            {
                let payload = Object::new().put("gaps", &["output"]).done();
                self.say(step, "turn.ended", Ids { epoch: Some(turn.epoch), ..ids }, payload);
            }
            (_, Stage::Failed | Stage::Ambiguous) => {
                let payload = Object::new()
                    .put("status", change.now.as_str())
                    .put("kind", fact.type_name())
                    .maybe("reason", reason(fact))
                    .done();
                self.say(step, "turn.failed", ids, payload);
            }
            _ => {}
        }
    }

    /// Invariant: what a turn gave is told with its end, whatever was told of the turn before.
    fn ended(&self, step: &mut Step<'_>, ids: Ids) {
        let Fact::TurnCompleted { output_digest, output_bytes, authority, outcome, .. } = step.fact() else {
            return;
        };
        let payload = Object::new()
            .put("role", "agent")
            .maybe("outcome", outcome.as_ref())
            .maybe("authority", authority.map(|authority| authority.as_str()))
            .json(
                "final_output",
                &Object::new().put("digest", output_digest).put("bytes", output_bytes).done(),
            )
            .done();
        self.say(step, "turn.completed", ids, payload).with("output", output_digest, *output_bytes);
    }

    fn item(&self, step: &mut Step<'_>, ids: Ids) {
        let Fact::ItemUpdated { kind, status, body_digest, body_bytes, authority, .. } = step.fact() else {
            return;
        };
        let payload = Object::new()
            .put("kind", kind.as_str())
            .maybe("status", status.as_ref())
            .maybe("authority", authority.map(|authority| authority.as_str()))
            .done();
        self.say(step, "item.updated", ids, payload).with("body", body_digest, *body_bytes);
    }

    fn command(&self, step: &mut Step<'_>, ids: Ids) {
        match step.fact() {
            Fact::CommandStarted { authority, details_digest, details_bytes, .. } => {
                let payload = Object::new().put("authority", authority.as_str()).done();
                self.say(step, "command.started", ids, payload).with(
                    "details",
                    details_digest,
                    *details_bytes,
                );
            }
            Fact::CommandEnded { status, output_digest, output_bytes, written_bytes, reason, .. } => {
                let payload = Object::new()
                    .put("status", status)
                    .put("written_bytes", written_bytes)
                    .put("is_cut", &(output_bytes < written_bytes))
                    .maybe("reason", reason.as_ref())
                    .done();
                self.say(step, "command.ended", ids, payload).with("output", output_digest, *output_bytes);
            }
            _ => {}
        }
    }

    fn beside(&self, step: &mut Step<'_>, ids: Ids) {
        match step.fact() {
            Fact::ItemReported { kind, body_digest, body_bytes, authority, .. } => {
                let payload = Object::new()
                    .put("kind", kind.as_str())
                    .maybe("authority", authority.map(|authority| authority.as_str()))
                    .done();
                self.say(step, "item.reported", ids, payload).with("body", body_digest, *body_bytes);
            }
            Fact::UsageReported(UsageReported {
                input_tokens,
                output_tokens,
                total_tokens,
                context_tokens,
                cost,
                ..
            }) => {
                let payload = Object::new()
                    .maybe("input_tokens", *input_tokens)
                    .maybe("output_tokens", *output_tokens)
                    .maybe("total_tokens", *total_tokens)
                    .maybe("context_tokens", *context_tokens)
                    .maybe("cost", cost.as_ref())
                    .done();
                self.say(step, "usage.reported", ids, payload);
            }
            Fact::FileWritten(FileWritten { path, digest, bytes, .. }) => {
                let payload =
                    Object::new().put("path", path).put("digest", digest).put("bytes", bytes).done();
                self.say(step, "file.written", ids, payload);
            }
            _ => {}
        }
    }

    fn action(&mut self, step: &mut Step<'_>, reader: &impl Reader) {
        let Some((action_id, asked)) = self.actions.follow(step.fact()) else { return };
        let message = asked.as_ref().and_then(|asked| asked.message);
        let ids = Ids { action_id: Some(action_id), ..self.turns.ids(message) };
        if !reader.wants(&ids, false) {
            return;
        }
        match step.fact() {
            Fact::ActionOpened { action } => {
                let ids = Ids { epoch: Some(action.epoch), ..ids };
                let entry = self.say(step, "action.opened", ids, opened(action));
                if let Some(digest) = &action.subject_digest {
                    // How long the subject is does not stand in the record.
                    entry.with("subject", digest, 0);
                }
            }
            Fact::ActionVoted { principal, verdict, digest, .. } => {
                let payload = Object::new()
                    .put("by", principal.as_str())
                    .put("verdict", actions::verdict(verdict))
                    .maybe("option", verdict.option())
                    .put("digest", digest)
                    .done();
                self.say(step, "action.voted", ids, payload);
            }
            Fact::ActionResolved { outcome, answer, by, reason, .. } => {
                let payload = Object::new()
                    .put("outcome", actions::outcome(*outcome))
                    .maybe("answer", answer.as_ref())
                    .put("by", by)
                    .put("reason", reason)
                    .done();
                self.say(step, "action.resolved", ids, payload);
            }
            _ => {}
        }
    }

    fn of_session(&mut self, step: &mut Step<'_>, reader: &impl Reader) {
        let ids = self.turns.ids(None);
        let about = |epoch| Ids { epoch: Some(epoch), ..ids };
        if let Fact::AgentExited { epoch, .. } = step.fact() {
            for change in self.turns.cut(*epoch) {
                let ids = self.turns.ids(Some(change.message));
                if reader.wants(&ids, false) {
                    let payload = Object::new().put("status", "cut").put("reason", "its epoch ended").done();
                    self.say(step, "turn.failed", Ids { epoch: Some(*epoch), ..ids }, payload);
                }
            }
        }
        if !reader.wants(&ids, true) {
            return;
        }
        match step.fact() {
            Fact::AgentStarted { epoch, continuity, .. } => {
                let payload = Object::new().put("continuity", continuity).done();
                self.say(step, "epoch.started", about(*epoch), payload);
            }
            Fact::AgentStartFailed { epoch, reason } => {
                let payload = Object::new().put("reason", reason).done();
                self.say(step, "epoch.start_failed", about(*epoch), payload);
            }
            Fact::AgentExited { epoch, status, .. } => {
                let payload = Object::new().put("status", status).done();
                self.say(step, "epoch.exited", about(*epoch), payload);
            }
            Fact::SessionOpened {
                epoch,
                native_id,
                continuity,
                program,
                lost,
                details_digest,
                details_bytes,
                ..
            } => {
                let payload = Object::new()
                    .put("native_id", native_id)
                    .put("continuity", continuity)
                    .maybe("program", program.as_ref())
                    .maybe("lost", lost.as_ref())
                    .done();
                self.say(step, "session.opened", about(*epoch), payload).with(
                    "details",
                    details_digest,
                    *details_bytes,
                );
            }
            Fact::SessionFailed { epoch, reason } => {
                let payload = Object::new().put("reason", reason).done();
                self.say(step, "session.failed", about(*epoch), payload);
            }
            Fact::SessionClosing { epoch, reason, grace_ms, .. } => {
                let payload = Object::new().put("reason", reason.as_str()).put("grace_ms", grace_ms).done();
                self.say(step, "session.closing", about(*epoch), payload);
            }
            _ => {}
        }
    }
}

/// What is asked for, without the choices' schema: that stands in the record.
pub(crate) fn opened(action: &Action) -> Json {
    let choices: Vec<_> = action.choices.iter().map(|choice| choice.value.as_str()).collect();
    Object::new()
        .put("kind", actions::kind(action.kind))
        .put("by", action.principal.as_str())
        .put("prompt", &action.prompt)
        .put("choices", &choices)
        .put("roles", &action.roles)
        .put("quorum", &action.quorum)
        .put("expires_at", &action.expires_at)
        .put("digest", &action.digest)
        .done()
}

/// Why a message came no further.
pub(crate) fn reason(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::MessageRejected { reason, .. }
        | Fact::MessageAmbiguous { reason, .. }
        | Fact::MessageDeadLettered { reason, .. }
        | Fact::MessageDropped { reason, .. }
        | Fact::MessageReturned { reason, .. } => Some(reason),
        _ => None,
    }
}

/// The agent of a stream that is an agent's.
pub(crate) fn agent_of(step: &Step<'_>) -> Option<AgentId> {
    match step.event().stream {
        edgeplane_types::StreamName::Agent(agent) => Some(agent),
        _ => None,
    }
}

/// The message that a fact about an agent's work belongs to.
pub(crate) fn message_of(fact: &Fact) -> Option<MessageId> {
    match fact {
        Fact::TurnCompleted { message_id, .. }
        | Fact::ItemUpdated { message_id, .. }
        | Fact::ItemReported { message_id, .. }
        | Fact::UsageReported(UsageReported { message_id, .. })
        | Fact::FileWritten(FileWritten { message_id, .. })
        | Fact::CommandStarted { message_id, .. }
        | Fact::CommandEnded { message_id, .. } => *message_id,
        _ => None,
    }
}
