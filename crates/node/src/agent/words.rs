//! What a program's own words belong to and weigh, decided when they are said: later the turns that were open then
//! are not to be told from others any more.

use edgeplane_types::{AgentId, Authority, Epoch, Fact, MessageId};
use edgeplane_wire::rpc::RpcError;

use super::Actor;
use crate::{
    caller::AGENT_AUTHORITY_MAX,
    record::{Draft, Origin, refused},
};

/// What an agent's words weigh, and what that was made of: as of which change of the record, in which epoch, with which
/// message on its way.
pub(super) type WeightKnown = ((u64, Epoch, Option<MessageId>), Authority);

/// An answer that an agent is handed, whole or in part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    pub(crate) question: MessageId,
    pub(crate) authority: Authority,
}

impl Actor {
    /// A message that the program names, if it is one of its own: of another's nobody but its agent can say anything.
    pub(super) fn own_message(&self, named: MessageId) -> Option<MessageId> {
        match self.shared.record.look_up(|reader| reader.message(&named)) {
            Ok(row) => {
                let own = row.filter(|row| row.envelope.target == self.identity.id);
                if own.is_none() {
                    tracing::info!(agent = %self.identity.name, message = %named, "it names no message of its own");
                }
                own.map(|_| named)
            }
            // What cannot be looked up is believed; the record's own rules hold all the same.
            Err(_) => Some(named),
        }
    }

    /// The message whose turn an item belongs to: the one that it names, or the only one that the program has.
    pub(super) fn turn_of_item(&self, epoch: Epoch, named: Option<MessageId>) -> Option<MessageId> {
        if let Some(named) = named {
            return self.own_message(named);
        }
        let id: AgentId = self.identity.id;
        let open = self.shared.record.look_up(|reader| reader.newest_turns(&id, epoch, 2)).ok()?;
        let mut has = open.into_iter().map(|turn| turn.message_id).chain(self.delivery.in_flight());
        let first = has.next()?;
        has.all(|other| other == first).then_some(first)
    }

    /// Notes that the agent is handed an answer, or a part of one: what it says next weighs no more.
    pub(super) async fn heard(&self, epoch: Epoch, answer: Heard) -> Result<(), RpcError> {
        let (id, Heard { question, authority }) = (self.identity.id, answer);
        if self.shared.record.look_up(|reader| reader.has_heard(&id, epoch, authority))? {
            return Ok(());
        }
        let mut draft = Draft::default();
        let fact = Fact::AnswerHeard { epoch, message_id: question, authority };
        self.shared.record.add(&mut draft, self.stream(), &Origin::node("answers"), fact);
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    /// What the program's words weigh now: no more than the lightest message that it has, or with none had last.
    pub(super) fn weight_of_words(&mut self, epoch: Epoch) -> Authority {
        let id: AgentId = self.identity.id;
        let in_flight = self.delivery.in_flight();
        // Read before what is looked up: a change in between makes the next look a new one.
        let known_by = (self.shared.record.changes(), epoch, in_flight);
        if let Some((by, weight)) = self.weight_known
            && by == known_by
        {
            return weight;
        }
        let lightest = self.shared.record.look_up(|reader| {
            let leading = reader.leading(&id, epoch)?.map(|leading| leading.authority);
            let on_its_way = match in_flight {
                Some(message_id) => reader.message(&message_id)?.map(|row| row.envelope.authority),
                None => None,
            };
            Ok([leading, on_its_way].into_iter().flatten().fold(AGENT_AUTHORITY_MAX, Authority::at_most))
        });
        self.weight_known = lightest.as_ref().ok().map(|weight| (known_by, *weight));
        lightest.unwrap_or(Authority::Untrusted)
    }
}
