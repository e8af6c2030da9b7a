//! Threads, turns, what happens in them, and what waits for a person.

use edgeplane_types::{
    Channel, Fact, MessageId,
    decision::{Action, ActionKind, ActionOutcome, Verdict},
    fact::{FileWritten, InputFate, UsageReported},
    life::ExitStatus,
};

use super::{
    event::Draft,
    export::{Telling, Used},
    names,
};
use crate::{
    actions::{self, Asked},
    fold::Step,
    json::Object,
    model::{Followed, status_of, status_of_end},
    subject::turn_of,
    telling::reason,
    turns::{Change, Stage, Words},
};

impl Telling<'_> {
    /// A session begins with its declaration, a thread when it is first met.
    pub(super) fn threads(&self, step: &mut Step<'_>, followed: &Followed) {
        if let Fact::AgentDeclared { agent_id, name, tenant, desired, .. } = step.fact() {
            let payload = Object::new()
                .put("agentId", agent_id)
                .put("name", name)
                .put("tenant", tenant)
                .put("desired", desired);
            self.of_session(step, names::SESSION_CREATED).slot("status", "idle").say(step, payload);
        }
        if let Some(thread) = followed.thread {
            let is_main = Some(thread) == self.main();
            let draft = self.of_session(step, names::THREAD_STARTED).thread(Some(thread));
            draft.slot("status", "idle").say(step, Object::new().put("main", &is_main));
        }
    }

    /// What became of turns: of the one that the event is about, and of those that ended with an epoch.
    pub(super) fn turns(&mut self, step: &mut Step<'_>, followed: &Followed) {
        for change in &followed.cut {
            self.close_tools(step, change.message);
            let payload = Object::new().put("category", "interrupted").put("reason", "its epoch ended");
            let draft = self.of_turn(step, names::TURN_FAILED, Some(change.message));
            draft.slot("status", "failed").slot("nativeStatus", "cut").say(step, payload);
        }
        if let Fact::TurnCompleted { .. } = step.fact() {
            self.completed(step);
        }
        let Some(change) = followed.change else { return };
        if change.joined_queue() {
            self.submitted(step, change);
        }
        if change.joined_queue() || change.left_queue() {
            self.queue(step, change);
        }
        if change.put {
            self.started(step, change);
        }
        match (step.fact(), change.now) {
            (Fact::MessageObserved { .. }, Stage::Observed) if !change.put => {
                let payload = Object::new().put("phase", "observed");
                let draft = self.of_turn(step, names::RUN_STATUS, Some(change.message));
                draft.slot("status", "running").say(step, payload);
            }
            (Fact::MessageTurnEnded { .. }, Stage::Ended) if change.was != Some(Stage::Ended) => {
                self.ended_silently(step, change);
            }
            (fact, Stage::Failed | Stage::Ambiguous) => {
                let payload = Object::new()
                    .put("category", fact.type_name().trim_start_matches("message."))
                    .maybe("reason", reason(fact));
                let draft = self.of_turn(step, names::TURN_FAILED, Some(change.message));
                let draft = draft.slot("status", status_of(change.now));
                draft.slot("nativeStatus", change.now.as_str()).say(step, payload);
            }
            _ => {}
        }
    }

    fn submitted(&self, step: &mut Step<'_>, change: Change) {
        let draft = self.of_turn(step, names::TURN_SUBMITTED, Some(change.message)).slot("status", "queued");
        let turn = self.export.model.turns.get(change.message);
        let Some(words) = turn.and_then(|turn| turn.words.as_ref()) else {
            let payload = Object::new().put("status", "queued").put("gaps", &["input"]);
            return draft.say(step, payload);
        };
        let payload = Object::new()
            .put("status", "queued")
            .put("source", words.principal.as_str())
            .put("channel", words.channel.as_str())
            .put("authority", words.authority.as_str())
            .put("mode", words.mode.as_str())
            .put("priority", words.priority.as_str());
        draft.body("input", &words.content_digest, words.content_bytes).say(step, payload);
        self.heard(step, words, change.message);
    }

    /// What another agent says comes over the channel between the two.
    fn heard(&self, step: &mut Step<'_>, words: &Words, message: MessageId) {
        if words.channel != Channel::Peer {
            return;
        }
        let channel = Object::new()
            .put("transport", "edgeplane")
            .put("peerRole", "peer_agent")
            .put("accountRef", words.principal.as_str());
        let payload = Object::new().put("messageRef", &message).put("authority", words.authority.as_str());
        let draft = self.of_turn(step, names::CHANNEL_MESSAGE, Some(message));
        let draft = draft.slot("channelId", &format!("peer/{}", words.principal)).object("channel", channel);
        draft.body("input", &words.content_digest, words.content_bytes).say(step, payload);
    }

    fn queue(&self, step: &mut Step<'_>, change: Change) {
        let turns = &self.export.model.turns;
        let ids = turns.ids(Some(change.message));
        let draft = self.frame.begin(step, names::QUEUE_CHANGED, ids).thread(ids.thread_id);
        let draft = draft.turn(turn_of(change.message));
        let verb = if change.joined_queue() { "added" } else { "removed" };
        let payload = Object::new()
            .put("change", verb)
            .put("because", step.fact().type_name())
            .put("depth", &turns.depth());
        let queue = ids.agent_id.map(|agent| agent.to_string());
        let draft = draft.trace(turns.trace(Some(change.message)));
        draft.maybe("queueId", queue.as_deref()).say(step, payload);
    }

    fn started(&self, step: &mut Step<'_>, change: Change) {
        let draft = self.of_turn(step, names::TURN_STARTED, Some(change.message)).slot("status", "running");
        let Some(turn) = self.export.model.turns.get(change.message) else { return };
        let payload = Object::new().put("attempt", &turn.attempts).put("epoch", &turn.epoch);
        let payload = match &turn.words {
            Some(words) => payload.put("mode", words.mode.as_str()),
            // It was accepted in another stream, which is said instead of what it said.
            None => payload.put("gaps", &["turn.submitted"]),
        };
        draft.say(step, payload);
        if turn.attempts <= 1 {
            self.routed(step, change.message);
        }
    }

    /// The node chooses no model: the agent's own is the only candidate, and which that is its program knows.
    fn routed(&self, step: &mut Step<'_>, message: MessageId) {
        let payload = Object::new()
            .put("mode", "single_candidate")
            .put("candidateCount", &1_u32)
            .put("source", "agent")
            .put("reason", "single_candidate")
            .put("gaps", &["selectedModel"]);
        self.of_turn(step, names::ROUTING_SINGLE_CANDIDATE, Some(message)).say(step, payload);
    }

    /// Its program said what models were given and gave in a turn that is over; of single requests it says nothing.
    fn model_completed(&self, step: &mut Step<'_>, message: MessageId) {
        let Some((_, used)) = self.export.used.filter(|(of, _)| *of == message) else { return };
        let usage = Object::new()
            .maybe("inputTokens", used.input)
            .maybe("outputTokens", used.output)
            .maybe("totalTokens", used.total)
            .done();
        let payload = Object::new()
            .json("usage", &usage)
            .put("granularity", "turn")
            .put("source", "program")
            .put("gaps", &["model.requested", "stopReason"]);
        self.of_turn(step, names::MODEL_COMPLETED, Some(message)).say(step, payload);
    }

    /// Invariant: whatever the end of a turn is called outside, it names what the turn gave.
    fn completed(&mut self, step: &mut Step<'_>) {
        let Fact::TurnCompleted {
            turn_id,
            message_id,
            output_digest,
            output_bytes,
            authority,
            outcome,
            epoch,
        } = step.fact()
        else {
            return;
        };
        let outcome = outcome.as_ref().map(edgeplane_types::SafeLabel::as_str);
        let status = status_of_end(outcome);
        if let Some(message) = message_id {
            self.forget_tools(step, *message, status);
            self.model_completed(step, *message);
        }
        let kind = if status == "completed" { names::TURN_COMPLETED } else { names::TURN_FAILED };
        let turns = &self.export.model.turns;
        let ids = turns.ids_of_end(*turn_id, *message_id);
        let output = Object::new()
            .put("ref", &format!("sha256:{output_digest}"))
            .put("digest", output_digest)
            .put("sizeBytes", output_bytes)
            .done();
        let payload = Object::new()
            .json("finalOutput", &output)
            .put("epoch", epoch)
            .maybe("authority", authority.map(|authority| authority.as_str()));
        let payload = match message_id {
            Some(_) => payload,
            // The program spoke of its own accord: nothing was submitted, and no beginning is known.
            None => payload.put("gaps", &["turn.submitted", "turn.started"]),
        };
        let draft = self.frame.begin(step, kind, ids).thread(ids.thread_id);
        let draft = draft.turn(ids.turn_id.unwrap_or(*turn_id)).trace(turns.trace(*message_id));
        let draft = draft.slot("status", status).maybe("nativeStatus", outcome);
        draft.output(output_digest, *output_bytes).say(step, payload);
    }

    /// The node knows that a turn is over, and nobody said what it gave.
    fn ended_silently(&mut self, step: &mut Step<'_>, change: Change) {
        self.forget_tools(step, change.message, "completed");
        let draft = self.of_turn(step, names::TURN_COMPLETED, Some(change.message));
        let payload = Object::new().put("gaps", &["finalOutput"]);
        draft.slot("status", "completed").slot("nativeStatus", "turn_ended").say(step, payload);
    }

    /// A turn was cut: what its tools were doing has no end of its own.
    fn close_tools(&mut self, step: &mut Step<'_>, message: MessageId) {
        let tools = self.export.tools.iter_mut();
        let open = tools.filter(|(_, tool)| tool.is_open && tool.message == Some(message));
        let open: Vec<_> = open
            .map(|(item, tool)| {
                tool.is_open = false;
                *item
            })
            .collect();
        for item in open {
            let payload = Object::new().put("category", "interrupted").put("retryable", &false);
            let draft = self.of_turn(step, names::TOOL_FAILED, Some(message)).tool(item);
            draft.slot("status", "failed").say(step, payload);
        }
    }

    fn forget_tools(&mut self, step: &mut Step<'_>, message: MessageId, status: &str) {
        if status == "cancelled" {
            self.close_tools(step, message);
        }
    }

    pub(super) fn item(&mut self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::ItemUpdated { item_id, kind, message_id, body_digest, body_bytes, .. } => {
                if kind.as_str() == "tool_call" {
                    return self.tool(step);
                }
                let name = match kind.as_str() {
                    "thought" => names::REASONING_DELTA,
                    // A plan is a hint: it says nothing of any task.
                    "plan" => names::REASONING_SUMMARY,
                    _ => names::MODEL_DELTA,
                };
                let draft = self.of_turn(step, name, *message_id).step(*item_id);
                let draft = draft.body("body", body_digest, *body_bytes);
                draft.say(step, Object::new().put("kind", kind.as_str()).put("sizeBytes", body_bytes));
            }
            Fact::ItemReported { kind, message_id, body_digest, body_bytes, .. } => {
                let name = match kind.as_str() {
                    "error" => names::RUNTIME_ERROR,
                    _ => names::MODEL_DELTA,
                };
                let draft = self.of_turn(step, name, *message_id);
                let draft = draft.body("body", body_digest, *body_bytes);
                let payload = Object::new().put("kind", kind.as_str()).put("beside", &true);
                draft.say(step, payload.put("sizeBytes", body_bytes));
            }
            _ => {}
        }
    }

    fn tool(&mut self, step: &mut Step<'_>) {
        let Fact::ItemUpdated { item_id, status, message_id, body_digest, body_bytes, .. } = step.fact()
        else {
            return;
        };
        let status = status.as_ref().map(edgeplane_types::SafeLabel::as_str);
        let end = match status {
            Some("completed") => Some(names::TOOL_RESULT),
            Some("failed" | "cancelled" | "error") => Some(names::TOOL_FAILED),
            _ => None,
        };
        let is_new = self.export.tool(*item_id, *message_id, end.is_none());
        let mut say = |kind: &'static str, status: &str| {
            let draft = self.of_turn(step, kind, *message_id).tool(*item_id).slot("status", status);
            let draft = match end {
                Some(end) if end == kind => tool_output(draft, body_digest, *body_bytes),
                _ => draft.body("body", body_digest, *body_bytes),
            };
            draft.say(step, Object::new().put("sizeBytes", body_bytes));
        };
        if is_new {
            say(names::TOOL_STARTED, "running");
        }
        match end {
            Some(kind) => say(kind, status.unwrap_or("unknown")),
            None if is_new => {}
            None => say(names::TOOL_PROGRESS, status.unwrap_or("unknown")),
        }
    }

    pub(super) fn beside(&mut self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::UsageReported(UsageReported {
                message_id,
                input_tokens,
                output_tokens,
                total_tokens,
                context_tokens,
                cost,
                ..
            }) => {
                if let Some(message) = message_id {
                    let was = self.export.used.filter(|(of, _)| of == message).map(|(_, used)| used);
                    let was = was.unwrap_or_default();
                    let used = Used {
                        input: input_tokens.or(was.input),
                        output: output_tokens.or(was.output),
                        total: total_tokens.or(was.total),
                    };
                    self.export.used = Some((*message, used));
                }
                let state = Object::new()
                    .maybe("inputTokens", *input_tokens)
                    .maybe("outputTokens", *output_tokens)
                    .maybe("totalTokens", *total_tokens)
                    .maybe("contextTokens", *context_tokens)
                    .put("sessionCost", cost.as_deref().unwrap_or("unknown"))
                    .put("source", "program");
                let draft = self.of_turn(step, names::COST_RECORDED, *message_id).object("costState", state);
                draft.say(step, Object::new());
            }
            Fact::FileWritten(FileWritten { path, digest, bytes, message_id, .. }) => {
                let uri = format!("sha256:{digest}");
                let payload = Object::new().put("path", path).put("ref", &uri).put("sizeBytes", bytes);
                let draft = self.of_turn(step, names::ARTIFACT_CHANGED, *message_id);
                draft.slot("artifactId", &format!("file:{path}")).say(step, payload);
            }
            Fact::AnswerHeard { message_id, authority, .. } => {
                let payload = Object::new()
                    .put("included", &[message_id])
                    .put("authority", authority.as_str())
                    .put("omitted", "not_recorded");
                self.of_turn(step, names::CONTEXT_RESOLVED, None).say(step, payload);
            }
            _ => {}
        }
    }

    pub(super) fn command(&self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::CommandStarted {
                process_id, message_id, authority, details_digest, details_bytes, ..
            } => {
                let draft = self.of_turn(step, names::PROCESS_STARTED, *message_id);
                let draft = draft.slot("processId", &process_id.to_string()).slot("status", "running");
                let draft = draft.body("details", details_digest, *details_bytes);
                draft.say(step, Object::new().put("authority", authority.as_str()));
            }
            // What is wanted is no input yet; what was refused or came too late never became one.
            Fact::CommandInputSettled(end) if end.fate == InputFate::Written => {
                let draft = self.of_turn(step, names::PROCESS_INPUT, None);
                let draft = draft.slot("processId", &end.process_id.to_string());
                let payload = Object::new().put("inputId", &end.input_id).put("content", "not_recorded");
                draft.say(step, payload);
            }
            Fact::CommandEnded {
                process_id,
                message_id,
                status,
                output_digest,
                output_bytes,
                written_bytes,
                reason,
                ..
            } => {
                let process = process_id.to_string();
                let (kind, word) = process_end(*status);
                let draft = self.of_turn(step, kind, *message_id);
                let draft = draft.slot("processId", &process).slot("status", word);
                let draft = draft.output(output_digest, *output_bytes);
                let payload = Object::new().put("exit", status).maybe("reason", reason.as_ref());
                draft.say(step, payload.put("writtenBytes", written_bytes));
                self.wrote(step, *message_id, &process, (output_digest, *output_bytes, *written_bytes));
            }
            _ => {}
        }
    }

    /// What a command wrote is kept elsewhere and named: no event holds any of it. The record has it whole, once the
    /// command is over.
    fn wrote(
        &self,
        step: &mut Step<'_>,
        message: Option<MessageId>,
        process: &str,
        (digest, kept, written): (&str, u64, u64),
    ) {
        if written == 0 {
            return;
        }
        let begin = |step: &Step<'_>, kind| self.of_turn(step, kind, message).slot("processId", process);
        let lost = written.saturating_sub(kept);
        let payload = Object::new().put("fromOffset", &lost).put("toOffset", &written);
        begin(step, names::PROCESS_OUTPUT).output(digest, kept).say(step, payload.put("gaps", &["pieces"]));
        let output = |truncation: &str| {
            Object::new()
                .put("ref", &format!("sha256:{digest}"))
                .put("truncation", truncation)
                .put("sizeBytes", &kept)
        };
        if kept > 0 {
            let truncation = if lost > 0 { "tail" } else { "none" };
            let draft = begin(step, names::OUTPUT_SPILLED).output(digest, kept);
            draft.object("output", output(truncation)).say(step, Object::new().put("reason", "by_reference"));
        }
        if lost > 0 {
            let draft = begin(step, names::OUTPUT_TRUNCATED).object("output", output("tail"));
            draft.say(step, Object::new().put("writtenBytes", &written));
        }
    }

    pub(super) fn action(&self, step: &mut Step<'_>, followed: &Followed) {
        let Some((action_id, asked)) = &followed.action else { return };
        let message = asked.as_ref().and_then(|asked| asked.message);
        let id = action_id.to_string();
        let is_approval = asked.as_ref().is_some_and(|asked: &Asked| asked.kind == ActionKind::Approval);
        let begin = |step: &Step<'_>, kind| self.of_turn(step, kind, message).slot("actionId", &id);
        match step.fact() {
            Fact::ActionOpened { action } => {
                begin(step, names::ACTION_REQUIRED).slot("status", "blocked").say(step, required(action));
                if is_approval {
                    let decision = decision("ask", "tool_contract", &id);
                    let draft =
                        begin(step, names::PERMISSION_REQUESTED).object("permissionDecision", decision);
                    draft.say(step, Object::new().put("digest", &action.digest));
                }
            }
            Fact::ActionVoted { principal, verdict, digest, .. } => {
                // An answer to a question is no permission; it is told when the question is decided.
                let word = match verdict {
                    Verdict::Approve { .. } => "allow",
                    Verdict::Deny { .. } => "deny",
                    Verdict::Answer { .. } => return,
                };
                let draft = begin(step, names::PERMISSION_EVALUATED);
                let draft = draft.object("permissionDecision", decision(word, "human", &id));
                draft.say(step, Object::new().put("by", principal.as_str()).put("digest", digest));
            }
            Fact::ActionResolved { outcome, answer, by, reason, .. } => {
                let payload = Object::new()
                    .put("decision", actions::outcome(*outcome))
                    .maybe("answer", answer.as_ref())
                    .put("by", by)
                    .put("reason", reason);
                begin(step, names::ACTION_RESOLVED).slot("status", "completed").say(step, payload);
                if is_approval {
                    let (word, source) = match outcome {
                        ActionOutcome::Approved | ActionOutcome::Answered => ("allow", "human"),
                        ActionOutcome::Denied => ("deny", "human"),
                        // Silence and withdrawal are never leave.
                        ActionOutcome::Expired | ActionOutcome::Cancelled => ("deny", "host_policy"),
                    };
                    let draft = begin(step, names::PERMISSION_RESOLVED);
                    let draft = draft.object("permissionDecision", decision(word, source, &id));
                    draft.say(step, Object::new().put("outcome", actions::outcome(*outcome)));
                }
            }
            _ => {}
        }
    }
}

/// What a use of a tool gave: named, and never held, so that it can be erased.
pub(super) fn tool_output(draft: Draft, digest: &str, bytes: u64) -> Draft {
    let preview = Object::new()
        .put("status", "unavailable")
        .put("reason", "what can be erased stands in no event; the item shows its beginning");
    let output = Object::new()
        .put("ref", &format!("sha256:{digest}"))
        .put("sizeBytes", &bytes)
        .put("truncation", "none")
        .json("preview", &preview.done());
    draft.output(digest, bytes).object("output", output)
}

fn required(action: &Action) -> Object {
    let choices = action.choices.iter().map(|choice| choice.value.as_str());
    let (kind, decisions): (_, Vec<&str>) = match action.kind {
        ActionKind::Question if action.choices.is_empty() => ("question", vec!["answer"]),
        ActionKind::Question => ("question", choices.collect()),
        ActionKind::Approval => ("tool_permission", vec!["approve", "deny"]),
    };
    Object::new()
        .put("actionType", kind)
        .put("prompt", &action.prompt)
        .put("decisions", &decisions)
        .maybe("schema", action.schema.as_ref())
        .put("policy", &serde_json::json!({ "roles": action.roles, "quorum": action.quorum }))
        .put("expiresAt", &action.expires_at)
        .put("onTimeout", "deny")
        .put("digest", &action.digest)
}

fn decision(word: &str, source: &str, action: &str) -> Object {
    Object::new().put("decision", word).put("source", source).put("approvalActionId", action)
}

/// What the end of a process is called.
pub(super) fn process_end(status: ExitStatus) -> (&'static str, &'static str) {
    match status {
        ExitStatus::Code(0) => (names::PROCESS_COMPLETED, "exited"),
        ExitStatus::Code(_) => (names::PROCESS_FAILED, "failed"),
        ExitStatus::Signal(_) => (names::PROCESS_TERMINATED, "exited"),
        ExitStatus::Unknown => (names::PROCESS_FAILED, "unknown"),
    }
}
