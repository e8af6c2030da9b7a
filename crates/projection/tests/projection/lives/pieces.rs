//! What may happen within a turn: words, uses of tools, questions, commands, what it used, files.

use edgeplane_proof::digest;
use edgeplane_types::fact::{CommandInputSettled, FileWritten, InputFate, UsageReported};
use edgeplane_types::{
    ActionId, Authority, Fact, InputId, ItemId, MessageId, ProcessId,
    decision::{Action, ActionKind, ActionOutcome, Choice, Verdict},
    life::ExitStatus,
};

use super::{World, label};

impl World {
    pub(super) fn speak(&mut self, which: usize, message_id: Option<MessageId>) {
        let epoch = self.lives[which].epoch;
        let (body_digest, body_bytes) = self.body();
        let authority = Some(self.chance.pick(Authority::ALL));
        if self.chance.one_in(12) {
            let kind = label(self.chance.pick(&["note", "error", "finding"]));
            let fact = Fact::ItemReported { epoch, kind, body_digest, body_bytes, message_id, authority };
            return self.add(which, fact);
        }
        // Programs go on speaking of a turn that is over.
        let late = self.lives[which].over.last().copied().filter(|_| message_id.is_none());
        let known = self.lives[which].text.filter(|_| !self.chance.one_in(15));
        let item_id = known.unwrap_or_else(|| self.id(ItemId::from_parts));
        self.lives[which].text = Some(item_id);
        let fact = Fact::ItemUpdated {
            epoch,
            item_id,
            kind: label(self.chance.pick(&["text", "text", "text", "thought", "plan", "content"])),
            status: None,
            body_digest,
            body_bytes,
            message_id: message_id.or(late),
            authority,
        };
        self.add(which, fact);
    }

    pub(super) fn tool(&mut self, which: usize, message: MessageId) {
        let (epoch, tools) = (self.lives[which].epoch, self.lives[which].tools.len());
        let (body_digest, body_bytes) = self.body();
        let (item_id, message_id, status) = if tools == 0 || self.chance.one_in(2) {
            let item_id = self.id(ItemId::from_parts);
            self.lives[which].tools.push((item_id, Some(message)));
            (item_id, Some(message), self.chance.pick(&[Some("pending"), None, Some("completed")]))
        } else {
            let (item_id, message_id) = self.lives[which].tools[self.chance.below(tools)];
            (item_id, message_id, self.chance.pick(&[Some("in_progress"), Some("completed"), Some("failed")]))
        };
        let fact = Fact::ItemUpdated {
            epoch,
            item_id,
            kind: label("tool_call"),
            status: status.map(label),
            body_digest,
            body_bytes,
            message_id,
            authority: None,
        };
        self.add(which, fact);
    }

    pub(super) fn action(&mut self, which: usize, message: MessageId) {
        let open = self.lives[which].actions.len();
        if open > 0 && !self.chance.one_in(3) {
            let at = self.chance.below(open);
            return self.decide(which, at);
        }
        let kind = self.chance.pick(&[ActionKind::Approval, ActionKind::Question]);
        let id = self.id(ActionId::from_parts);
        let action = Action {
            id,
            kind,
            agent_id: self.lives[which].agent,
            epoch: self.lives[which].epoch,
            principal: label("reviewer"),
            prompt: "may I \"do\" this?\n".to_owned(),
            choices: vec![Choice { value: label("allow"), label: "Allow".to_owned() }],
            schema: self.chance.one_in(2).then(|| serde_json::json!({ "type": "string" })),
            digest: digest(b"asked").to_string(),
            subject_digest: self.chance.one_in(2).then(|| digest(b"subject").to_string()),
            roles: vec![label("lead")],
            quorum: 1,
            expires_at: self.at.plus_millis(60_000),
            causation: self.chance.one_in(2).then_some(message),
            idempotency_key: None,
        };
        self.lives[which].actions.push((id, kind));
        self.add(which, Fact::ActionOpened { action: Box::new(action) });
    }

    pub(super) fn decide(&mut self, which: usize, at: usize) {
        let (action_id, kind) = self.lives[which].actions[at];
        let (verdict, outcome) = match (kind, self.chance.below(4)) {
            (_, 0) => (None, ActionOutcome::Expired),
            (_, 1) => (None, ActionOutcome::Cancelled),
            (ActionKind::Approval, 2) => (Some(Verdict::DENY), ActionOutcome::Denied),
            (ActionKind::Approval, _) => (Some(Verdict::APPROVE), ActionOutcome::Approved),
            (ActionKind::Question, _) => {
                (Some(Verdict::Answer { value: "yes".into() }), ActionOutcome::Answered)
            }
        };
        let answered = verdict.is_some();
        if let Some(verdict) = verdict {
            let digest = digest(b"asked").to_string();
            self.add(which, Fact::ActionVoted { action_id, principal: label("lead"), digest, verdict });
        }
        self.lives[which].actions.remove(at);
        let fact = Fact::ActionResolved {
            action_id,
            outcome,
            answer: answered.then(|| "yes".into()),
            by: answered.then(|| label("lead")).into_iter().collect(),
            reason: String::new(),
            told_by: None,
        };
        self.add(which, fact);
    }

    pub(super) fn command(&mut self, which: usize, message: MessageId) {
        let epoch = self.lives[which].epoch;
        let (digest, bytes) = self.body();
        if let Some((process_id, message_id)) = self.lives[which].commands.pop() {
            let input_id = self.id(InputId::from_parts);
            let fate = self.chance.pick(&[InputFate::Written, InputFate::Closed]);
            let settled = CommandInputSettled { process_id, epoch, input_id, fate };
            self.add(which, Fact::CommandInputSettled(settled));
            let fact = Fact::CommandEnded {
                process_id,
                epoch,
                message_id,
                status: self.chance.pick(&[ExitStatus::Code(0), ExitStatus::Code(1), ExitStatus::Signal(9)]),
                output_digest: digest,
                output_bytes: bytes,
                written_bytes: bytes + self.chance.next() % 2 * 50,
                reason: None,
            };
            return self.add(which, fact);
        }
        let process_id = self.id(ProcessId::from_parts);
        let message_id = Some(message);
        self.lives[which].commands.push((process_id, message_id));
        let fact = Fact::CommandStarted {
            process_id,
            epoch,
            message_id,
            authority: Authority::Trusted,
            details_digest: digest,
            details_bytes: bytes,
        };
        self.add(which, fact);
    }

    pub(super) fn usage(&mut self, which: usize, message: MessageId) {
        let number = self.chance.next() % 10_000;
        let fact = Fact::UsageReported(UsageReported {
            epoch: self.lives[which].epoch,
            message_id: self.chance.one_in(2).then_some(message),
            input_tokens: Some(number),
            output_tokens: self.chance.one_in(2).then_some(number / 2),
            total_tokens: None,
            context_tokens: Some(number * 2),
            cost: self.chance.one_in(2).then(|| format!("0.{number} USD")),
        });
        self.add(which, fact);
    }

    pub(super) fn file(&mut self, which: usize, message: MessageId) {
        let (digest, bytes) = self.body();
        let fact = Fact::FileWritten(FileWritten {
            epoch: self.lives[which].epoch,
            path: "src/a \"b\".rs".to_owned(),
            digest,
            bytes,
            message_id: Some(message),
        });
        self.add(which, fact);
    }
}
