//! What an agent reports over its own socket: facts of its stream, with the agent as their actor.
//!
//! The native driver's lines say the same with the offset that they were read at; here there is a caller, which must
//! be of the epoch that lives. A report never ends a turn: it is made within one.

use edgeplane_types::{Activity, ActivityReport, Epoch, ErrorName, Evidence, Fact, MessageId, SafeLabel};
use edgeplane_wire::{api::report::ReportResult, rpc::RpcError};

use super::Actor;
use crate::record::{Draft, Origin, refused};

/// The kind of an item that says what its agent is doing.
const STATUS: &str = "status";

/// What is reported.
#[derive(Debug)]
pub(crate) enum Report {
    Item { kind: SafeLabel, text: String, message_id: Option<MessageId> },
    Status { activity: Activity, text: String },
}

impl Actor {
    /// Makes a report durable. `epoch` is the one whose program said it.
    pub(super) async fn report(
        &mut self,
        epoch: Epoch,
        report: Report,
        origin: &Origin,
    ) -> Result<ReportResult, RpcError> {
        if self.live.as_ref().map(|live| live.place.epoch) != Some(epoch) {
            let what = format!("epoch {epoch} of `{}` does not live", self.identity.name);
            return Err(RpcError::new(ErrorName::Fenced, what));
        }
        let (kind, text, named) = match report {
            Report::Item { kind, text, message_id } => (kind, text, message_id),
            Report::Status { activity, text } => {
                self.activity = ActivityReport { state: activity, evidence: Evidence::Protocol };
                let word = serde_json::to_value(activity).unwrap_or_default();
                let word = word.as_str().unwrap_or_default();
                let said = if text.is_empty() { word.to_owned() } else { format!("{word}: {text}") };
                (SafeLabel::sanitized(STATUS), said, None)
            }
        };
        if let Some(message_id) = named
            && self.own_message(message_id).is_none()
        {
            let what = format!("`{}` was given no message {message_id}", self.identity.name);
            return Err(RpcError::new(ErrorName::NotFound, what).hint("its inbox lists its messages"));
        }
        let message_id = self.turn_of_item(epoch, named);
        let authority = Some(self.weight_of_words(epoch));
        let mut draft = Draft::default();
        let (body_digest, body_bytes) = draft.body(text.into_bytes());
        let fact = Fact::ItemReported { epoch, kind, body_digest, body_bytes, message_id, authority };
        let event_id = self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        Ok(ReportResult { event_id, epoch, message_id })
    }
}
