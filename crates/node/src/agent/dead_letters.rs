//! Messages that were given up, and what an operator makes of them: let them wait once more, or let them go.

use edgeplane_store::MessageRow;
use edgeplane_types::{ErrorName, Fact, MessageId};
use edgeplane_wire::rpc::RpcError;

use super::{Actor, accept::Counts};
use crate::record::{Draft, Origin, refused};

/// What is to become of a message that was given up.
#[derive(Debug, Clone)]
pub(crate) enum LetterRequest {
    /// It waits once more.
    Replay,
    /// It is not wanted any more, for this reason.
    Drop(String),
}

impl LetterRequest {
    /// The fact that it comes to, if the message is one that was given up.
    pub(crate) fn fact(self, row: &MessageRow) -> Result<Fact, RpcError> {
        let message_id = row.envelope.id;
        if !row.given_up {
            let state = match (&row.dropped, row.waiting) {
                (Some(_), _) => "is dropped",
                (None, true) => "waits to be delivered",
                (None, false) => "came to its agent",
            };
            let what = format!("message {message_id} {state}: it is no dead letter");
            return Err(RpcError::new(ErrorName::InvalidState, what)
                .hint("`edgeplane message dead` lists the dead letters"));
        }
        Ok(match self {
            Self::Replay => Fact::MessageRequeued { message_id },
            Self::Drop(reason) => Fact::MessageDropped { message_id, reason },
        })
    }
}

impl Actor {
    /// Does with one of the agent's dead letters what is asked for.
    pub(super) async fn dead_letter(
        &mut self,
        id: MessageId,
        request: LetterRequest,
        origin: &Origin,
    ) -> Result<(), RpcError> {
        let own = self.identity.id;
        let row = self.shared.record.look_up(|reader| reader.message(&id))?;
        let row = row.filter(|row| row.envelope.target == own);
        let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no message {id}")))?;
        let fact = request.fact(&row)?;
        let waits = matches!(fact, Fact::MessageRequeued { .. });
        if waits {
            self.check_room(&mut Counts::default())?;
        }
        let mut draft = Draft::default();
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.shared.failpoint("letter.before");
        self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        self.shared.failpoint("letter.after");
        if waits {
            // Its time may not be over yet, and then it still ends.
            self.arm_expiry();
        }
        Ok(())
    }
}
