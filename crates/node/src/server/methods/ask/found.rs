//! What the record holds of a question's answer, and how a session is to see it.

use edgeplane_driver::render::{self, Attempt, Bounds};
use edgeplane_store::{CommittedEvent, MessageRow, StoredBody};
use edgeplane_types::{
    Authority, Channel, DeliveryMode, Envelope, Epoch, ErrorName, Fact, Ingress, MessageId, Part, Phase,
    PolicyAction, Priority, Proof, SafeLabel,
};
use edgeplane_wire::{
    api::message::{Answer, AskResult},
    rpc::RpcError,
};

use super::{super::messages::dead_end, Question};
use crate::{
    agent::{Command, Heard},
    caller::{AGENT_AUTHORITY_MAX, Caller, CallingAgent, Living as _},
    gate::Asked,
};

/// Longest answer in bytes of JSON. A result holds it twice, once with a mark before each line, and must fit a line.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Such words are shown whole: there is no message from which the rest could be had.
const WHOLE: Bounds = Bounds { content_bytes: ANSWER_BYTES_MAX, quoted_bytes: 0 };

/// What there is.
pub(super) enum Found {
    /// Nothing yet.
    Nothing,
    /// A message to the one who asked.
    Reply(Box<MessageRow>),
    /// The turn that ended with the question.
    Turn(CommittedEvent),
    /// Nothing comes any more, for this reason.
    DeadEnd(String),
}

impl Found {
    /// Where in the record an answer stands.
    pub(super) fn pos(&self) -> Option<u64> {
        match self {
            Self::Reply(row) => Some(row.accepted_pos),
            Self::Turn(committed) => Some(committed.pos),
            Self::Nothing | Self::DeadEnd(_) => None,
        }
    }
}

/// Words of the asked agent that are no message: the output of a turn, or an item.
pub(super) struct Words {
    pub(super) epoch: Epoch,
    /// What they weighed when they were said.
    pub(super) authority: Authority,
    /// The end of the fence; its bytes did not exist when the words were said.
    pub(super) nonce: [u8; 16],
    pub(super) text: String,
}

/// The same as a session is to see them.
pub(super) struct Shown {
    pub(super) authority: Authority,
    pub(super) rendered: String,
    pub(super) text: String,
}

impl Question<'_> {
    /// Looks for an answer, and only then for a reason why there will be none.
    pub(super) fn look(&self) -> Result<Found, RpcError> {
        let record = &self.session.shared.record;
        let row = self.row()?;
        let agent = record.look_up(|reader| reader.agent_by_id(&self.asked.id))?;
        let turn = record.look_up(|reader| reader.turn_answering(&self.id))?;
        let found = match (self.reply()?, turn) {
            (Some(reply), Some(turn)) if reply.accepted_pos > turn.pos => Found::Turn(turn),
            (Some(reply), _) => Found::Reply(Box::new(reply)),
            (None, Some(turn)) => Found::Turn(turn),
            (None, None) => match dead_end(&row) {
                Some(why) => Found::DeadEnd(why),
                None if agent.is_none_or(|agent| agent.phase == Phase::Retired) => {
                    Found::DeadEnd(format!("agent `{}` is deleted", self.asked.name))
                }
                None => Found::Nothing,
            },
        };
        Ok(found)
    }

    fn row(&self) -> Result<MessageRow, RpcError> {
        let row = self.session.shared.record.look_up(|reader| reader.message(&self.id))?;
        row.ok_or_else(|| RpcError::new(ErrorName::Internal, format!("message {} is missing", self.id)))
    }

    /// The first message of the asked agent to the asking one that names the question. Nobody else's counts, and none
    /// of which it is not proven that it is that agent's.
    fn reply(&self) -> Result<Option<MessageRow>, RpcError> {
        let Some(asker) = self.asker.filter(|id| self.session.caller.is_agent(*id)) else { return Ok(None) };
        // Of a set, the replica that has the question answers it.
        let asked = self.row()?.envelope.target;
        let known = self.session.shared.agent_by_id(asked);
        let principal = SafeLabel::from(known.as_ref().map_or(&self.asked.name, |agent| &agent.name));
        self.session.shared.record.look_up(|reader| {
            reader.first_reply(&self.id, (&asker, &principal), |row| {
                let source = &row.envelope.source;
                let is_proven = !matches!(source.proof, Proof::Disagreement | Proof::CgroupAfterExit);
                source.agent_id == Some(asked) && is_proven
            })
        })
    }

    pub(super) async fn result(self, found: Found) -> Result<AskResult, RpcError> {
        let (answer, reason, timed_out) = match found {
            Found::Nothing => (None, None, true),
            Found::DeadEnd(why) => (None, Some(why), false),
            Found::Reply(row) => (Some(self.by_message(*row)?), None, false),
            Found::Turn(turn) => match self.by_turn(&turn)? {
                Ok(answer) => (Some(answer), None, false),
                Err(refusal) => (None, Some(refusal.message), false),
            },
        };
        if let Some(answer) = &answer {
            self.hand_out(answer.authority).await?;
        }
        Ok(AskResult {
            message_id: self.id,
            agent: self.asked.name.to_string(),
            receipts: self.row()?.receipts,
            answer,
            timed_out,
            reason,
        })
    }

    /// Notes what an agent is handed before it is: what it says next weighs no more. Its own words weigh no more than
    /// some answers anyway.
    pub(super) async fn hand_out(&self, authority: Authority) -> Result<(), RpcError> {
        let Some(asker) = self.session.caller.agent.as_ref().filter(|_| authority > AGENT_AUTHORITY_MAX)
        else {
            return Ok(());
        };
        let handle = self.session.shared.agent(&edgeplane_types::Tenant::default(), &asker.id.to_string())?;
        let answer = Heard { question: self.id, authority };
        handle.ask(|reply| Command::Hear(asker.epoch, answer, reply)).await?
    }

    fn by_message(&self, row: MessageRow) -> Result<Answer, RpcError> {
        let bytes = self.body(&row.envelope.content_digest)?;
        let parts: Vec<Part> = serde_json::from_slice(&bytes).unwrap_or_default();
        let words = parts.iter().map(|part| match part {
            Part::Text { text } => text.clone(),
            Part::Data { data } => data.to_string(),
            Part::Reference { uri, .. } => uri.clone(),
        });
        Ok(Answer {
            text: words.collect::<Vec<_>>().join("\n"),
            rendered: render::render(&row.envelope, &parts, Attempt::First, Bounds::NATIVE).text(),
            source: row.envelope.source.principal,
            authority: row.envelope.authority,
            message_id: Some(row.envelope.id),
        })
    }

    /// The output of a turn, unless a rule keeps it from the one who asked.
    fn by_turn(&self, turn: &CommittedEvent) -> Result<Result<Answer, RpcError>, RpcError> {
        let Fact::TurnCompleted { epoch, authority, output_digest, .. } = &turn.event.fact else {
            return Err(RpcError::new(ErrorName::Internal, "the record names no turn as the answer"));
        };
        let words = Words {
            epoch: *epoch,
            authority: authority.unwrap_or(Authority::Untrusted),
            nonce: *turn.event.id.as_bytes(),
            text: String::from_utf8_lossy(&self.body(output_digest)?).into_owned(),
        };
        Ok(self.show(words)?.map(|shown| Answer {
            source: SafeLabel::from(&self.asked.name),
            authority: shown.authority,
            message_id: None,
            text: shown.text,
            rendered: shown.rendered,
        }))
    }

    /// Words of the asked agent as the one who asked is to see them, or the rule that keeps them back.
    pub(super) fn show(&self, words: Words) -> Result<Result<Shown, RpcError>, RpcError> {
        let shared = &self.session.shared;
        let question = self.row()?.envelope;
        let asked = CallingAgent { id: self.asked.id, name: self.asked.name.clone(), epoch: words.epoch };
        let speaker = Caller::driver(asked, shared.assurance());
        let led = question.authority.at_most(words.authority).at_most(AGENT_AUTHORITY_MAX);
        let text = fitting(words.text, ANSWER_BYTES_MAX);
        let hops = question.hops.saturating_add(1);
        let mut authority = led;
        // What is said to an agent passes its rules, on whatever way; an operator has none.
        if let Some(asker) = self.asker
            && let Ok(target) = shared.agent(&edgeplane_types::Tenant::default(), &asker.to_string())
        {
            let granted = shared.gate.decide(
                shared,
                &Asked {
                    action: PolicyAction::Send,
                    caller: &speaker,
                    target: &target,
                    channel: Channel::Peer,
                    ingress: Ingress::Driver,
                    authority: led,
                    hops,
                    topic: None,
                    capability: None,
                    causation: None,
                    bytes: u64::try_from(text.len()).unwrap_or(u64::MAX),
                },
            );
            match granted {
                Ok(granted) => authority = led.at_most(granted.authority),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        let envelope = Envelope {
            id: MessageId::from_bytes(words.nonce),
            source: speaker.source(None),
            channel: Channel::Peer,
            ingress: Ingress::Driver,
            authority,
            hops,
            mode: DeliveryMode::Queue,
            priority: Priority::Normal,
            on_behalf_of: Vec::new(),
            topic: None,
            origin: None,
            rule: None,
            thread: None,
            into_turn: None,
            fence: None,
            reply_to: Some(self.id),
            causation: Some(self.id),
            expires_at: None,
            idempotency_key: None,
            traceparent: None,
            target: self.asker.unwrap_or(self.asked.id),
            content_digest: String::new(),
            content_bytes: 0,
        };
        let parts = [Part::Text { text }];
        let rendered = render::render(&envelope, &parts, Attempt::First, WHOLE).text();
        let [part] = parts;
        let text = match part {
            Part::Text { text } => text,
            Part::Data { .. } | Part::Reference { .. } => String::new(),
        };
        Ok(Ok(Shown { authority, rendered, text }))
    }

    fn body(&self, digest: &str) -> Result<Vec<u8>, RpcError> {
        let Ok(digest) = digest.parse() else { return Ok(Vec::new()) };
        match self.session.shared.record.look_up(|reader| reader.body(&digest))? {
            Some(StoredBody::Bytes(bytes)) => Ok(bytes),
            Some(StoredBody::Erased { .. }) | None => Ok(Vec::new()),
        }
    }
}

/// As much of a text as fits so many bytes once it is written as JSON.
fn fitting(mut text: String, bytes_max: usize) -> String {
    let mut bytes = 0_usize;
    let over = text.char_indices().find(|(_, c)| {
        let written = match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            '\0'..'\u{20}' => 6,
            c => c.len_utf8(),
        };
        bytes = bytes.saturating_add(written);
        bytes > bytes_max
    });
    if let Some((cut, _)) = over {
        text.truncate(cut);
        tracing::warn!("an answer of more than {bytes_max} bytes was cut");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_fits_a_line_however_it_is_written() {
        let bytes_max = 1_000;
        let check = |text: &str| {
            let cut = fitting(text.repeat(bytes_max), bytes_max);
            let written = serde_json::to_string(&cut).unwrap().len().saturating_sub(2);
            assert!(written <= bytes_max && written > bytes_max - 8, "{text:?}: {written}");
        };
        for text in ["a", "\u{1}", "\n", "\"", "é", "😀", "\u{7f}"] {
            check(text);
        }
        assert_eq!(fitting("short".to_owned(), 5), "short");
    }
}
