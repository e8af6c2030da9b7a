//! What happens in a session, as facts: texts piece by piece, uses of tools, plans, what was used.

use std::sync::Arc;

use edgeplane_driver::acp::{Update, UpdateKind, Usage};
use edgeplane_types::fact::UsageReported;
use edgeplane_types::{Epoch, Evidence, Fact, ItemId, MessageId, SafeLabel};

use super::{Actor, label};
use crate::record::Origin;

/// Bytes of an answer that are kept as the turn's output; what is beyond stands in its pieces.
pub(super) const OUTPUT_BYTES_MAX: usize = 4 << 20;

/// A piece on its way into the record.
struct Piece {
    kind: SafeLabel,
    item_id: ItemId,
    status: Option<SafeLabel>,
    bytes: Vec<u8>,
}

impl Actor {
    /// A piece of what happens. Before the session takes messages it is what a former session said, and is known.
    pub(super) fn acp_update(&mut self, (epoch, end): (Epoch, u64), update: Update) {
        let Some(acp) = self.acp_mut() else { return };
        let is_own = acp.session.name() == Some(update.session.as_str());
        if !is_own || acp.is_replayed {
            return;
        }
        let origin = self.native_origin(epoch, end);
        match update.kind {
            UpdateKind::Text(text) => {
                if let Some(acp) = self.acp_mut() {
                    acp.turn.said(&text);
                }
                self.acp_run((epoch, end), &origin, "text", text.into_bytes());
            }
            UpdateKind::Thought(text) => {
                self.acp_run((epoch, end), &origin, "thought", text.into_bytes());
            }
            UpdateKind::Content(value) => {
                self.acp_run((epoch, end), &origin, "content", value.to_string().into_bytes());
            }
            tool @ UpdateKind::Tool { .. } => self.acp_tool(&origin, epoch, tool),
            UpdateKind::Plan(value) => {
                let turn = self.acp_turn_of_piece().map_or_else(String::new, |id| id.to_string());
                let item_id = self.item_id(epoch, &format!("plan {turn}"));
                let bytes = value.to_string().into_bytes();
                self.acp_piece(&origin, Piece { kind: label("plan"), item_id, status: None, bytes });
            }
            UpdateKind::Usage(usage) => self.acp_usage(&origin, epoch, usage),
            UpdateKind::Told | UpdateKind::Mode(_) => {}
            UpdateKind::Unknown { name } => {
                tracing::debug!(agent = %self.identity.name, name, "an update that means nothing here");
            }
        }
    }

    /// A use of a tool, as far as it is.
    pub(super) fn acp_tool(&mut self, origin: &Origin, epoch: Epoch, tool: UpdateKind) {
        let UpdateKind::Tool { call, status, value } = tool else { return };
        let item_id = self.item_id(epoch, &format!("tool {call}"));
        let status = status.as_deref().map(label);
        let bytes = value.to_string().into_bytes();
        self.acp_piece(origin, Piece { kind: label("tool_call"), item_id, status, bytes });
    }

    /// A part of a text. Parts of one kind that follow each other are one item.
    fn acp_run(&mut self, (epoch, end): (Epoch, u64), origin: &Origin, kind: &'static str, bytes: Vec<u8>) {
        let Some(known) = self.acp().map(|acp| acp.turn.run(kind)) else { return };
        let item_id = known.unwrap_or_else(|| self.item_id(epoch, &format!("{kind} {end}")));
        self.acp_piece(origin, Piece { kind: label(kind), item_id, status: None, bytes });
        if let Some(acp) = self.acp_mut() {
            acp.turn.runs(kind, item_id);
        }
    }

    /// The message whose turn a piece belongs to: the running one, or the last one if its program goes on.
    pub(super) fn acp_turn_of_piece(&self) -> Option<MessageId> {
        let running = self.delivery.turns.running().or_else(|| self.delivery.in_flight());
        running.or_else(|| self.acp().and_then(|acp| acp.turn.last()))
    }

    fn acp_piece(&mut self, origin: &Origin, piece: Piece) {
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) else { return };
        let message_id = self.acp_turn_of_piece();
        let authority = Some(self.weight_of_words(epoch));
        self.acp_observed(origin, epoch);
        let (stream, shared) = (self.stream(), Arc::clone(&self.shared));
        let Some(acp) = self.acp_mut() else { return };
        acp.turn.no_run();
        let (body_digest, body_bytes) = acp.batch.body(piece.bytes);
        let fact = Fact::ItemUpdated {
            epoch,
            item_id: piece.item_id,
            kind: piece.kind,
            status: piece.status,
            body_digest,
            body_bytes,
            message_id,
            authority,
        };
        shared.record.add(&mut acp.batch, stream, origin, fact);
    }

    /// The first thing that a program does in a turn shows that it acts on the turn's message.
    pub(super) fn acp_observed(&mut self, origin: &Origin, epoch: Epoch) {
        let Some(message_id) = self.delivery.turns.running() else { return };
        if self.acp_mut().is_some_and(|acp| acp.turn.observes(message_id)) {
            let fact = Fact::MessageObserved { message_id, epoch, evidence: Evidence::Protocol };
            self.acp_note(origin, fact);
        }
    }

    pub(super) fn acp_usage(&mut self, origin: &Origin, epoch: Epoch, usage: Usage) {
        let message_id = self.acp_turn_of_piece();
        let Usage { input_tokens, output_tokens, total_tokens, context_tokens, cost } = usage;
        let fact = Fact::UsageReported(UsageReported {
            epoch,
            message_id,
            input_tokens,
            output_tokens,
            total_tokens,
            context_tokens,
            cost,
        });
        self.acp_note(origin, fact);
    }

    /// The id of an item: the same for whoever makes it of the same words again.
    pub(in crate::agent) fn item_id(&self, epoch: Epoch, what: &str) -> ItemId {
        let (ms, chance) = self.id_parts(epoch, what);
        ItemId::from_parts(ms, chance)
    }

    /// What an id is made of that is the same for whoever makes it of the same words again.
    pub(super) fn id_parts(&self, epoch: Epoch, what: &str) -> (u64, [u8; 10]) {
        let digest = edgeplane_proof::digest(format!("{} {epoch} {what}", self.identity.id).as_bytes());
        let mut chance = [0; 10];
        for (to, from) in chance.iter_mut().zip(digest.as_bytes()) {
            *to = *from;
        }
        let started = self.live.as_ref().and_then(|live| live.started_at);
        let ms = started.map_or(0, |at| u64::try_from(at.as_micros() / 1_000).unwrap_or(0));
        (ms, chance)
    }
}
