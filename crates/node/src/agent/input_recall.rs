//! What a former daemon, or an epoch that is over, left of a message that was being entered into a terminal.

use std::collections::BTreeMap;

use edgeplane_driver::{render::Attempt, screen::Paste};
use edgeplane_store::MessageRow;
use edgeplane_types::{Epoch, MessageId};
use tokio::time::Instant;

use super::{
    Actor,
    delivery::{self, Mark},
    input_step::{ATTEMPT_AFTER_DOUBT, Entry, Stage, Step},
};

/// The last stage of a message in a recording, and how much of it.
type Last = (u8, Stage, Mark);

impl Actor {
    /// Goes on where a former daemon was in an epoch that lives on. What is to be seen decides, not what is likely.
    pub(super) async fn recall_entry(&mut self, epoch: Epoch) {
        let Some(rows) = self.entering(epoch) else { return };
        for (row, (attempt, stage, mark)) in rows {
            let message_id = row.envelope.id;
            let is_doubted = delivery::is_ambiguous(&row) && row.epoch == Some(epoch);
            if is_doubted && attempt < ATTEMPT_AFTER_DOUBT {
                // That attempt is settled; the next one has not begun.
                self.gate.tried = Some((message_id, ATTEMPT_AFTER_DOUBT.saturating_sub(1)));
                continue;
            }
            let again = if delivery::was_tried(&row) { Attempt::Again } else { Attempt::First };
            let Ok(parts) = self.content(&row.envelope) else { continue };
            let Some((text, bytes)) = self.typed(&row.envelope, &parts, again) else { continue };
            let is_lines = self.adapter().is_some_and(|adapter| adapter.paste == Paste::Lines);
            let step = match (stage, mark) {
                (Stage::Paste, Mark::Begun) => Step::Pasting,
                (Stage::Paste, Mark::Whole) if is_lines => Step::Verifying,
                (Stage::Paste, Mark::Whole) => Step::Checking,
                (Stage::Submit, Mark::Begun) => Step::Submitting,
                (Stage::Submit, Mark::Whole) => Step::Verifying,
                (Stage::Clear, _) => Step::Clearing,
            };
            // What the keys brought about may have been drawn before anybody looked.
            let head = 0;
            self.gate.entry = Some(Entry { message_id, attempt, text, step, since: Instant::now(), head });
            self.delivery.in_flight = Some(message_id);
            let adapter = self.adapter();
            let keys = adapter.as_ref().map(|adapter| match stage {
                Stage::Paste => bytes,
                Stage::Submit => adapter.submit.as_bytes().to_vec(),
                Stage::Clear => adapter.clear.clone().unwrap_or_default().into_bytes(),
            });
            if let (Mark::Begun, Some(keys)) = (mark, keys) {
                // The shim has it and says what becomes of it; it writes nothing twice.
                self.write_stage(stage, &keys);
            }
            return;
        }
    }

    /// The messages of an epoch that is over of which nobody can know whether they were submitted.
    pub(super) fn doubtful(&self, epoch: Epoch) -> Option<Vec<(MessageRow, Mark)>> {
        let is_lines = self.adapter().is_some_and(|adapter| adapter.paste == Paste::Lines);
        let rows = self.entering(epoch)?.into_iter();
        // What was only pasted went with its program; it waits for the next one.
        let is_doubtful = |stage: Stage| stage == Stage::Submit || (stage == Stage::Paste && is_lines);
        Some(
            rows.filter(|(_, (_, stage, _))| is_doubtful(*stage))
                .map(|(row, _)| (row, Mark::Begun))
                .collect(),
        )
    }

    /// The messages that wait as far as the record knows, and how far each has been entered.
    fn entering(&self, epoch: Epoch) -> Option<Vec<(MessageRow, Last)>> {
        let id = self.identity.id;
        if self.shared.record.look_up(|reader| reader.waiting_count(&id)).ok()? == 0 {
            return Some(Vec::new());
        }
        let mut last: BTreeMap<MessageId, Last> = BTreeMap::new();
        for (stage_id, mark) in delivery::marks(&self.shared.place(id, &self.identity.name, epoch).dir) {
            let Some((message_id, attempt, stage)) = Stage::of(*stage_id.as_bytes()) else { continue };
            let is_later =
                last.get(&message_id).is_none_or(|(number, before, _)| (*number, *before) < (attempt, stage));
            if is_later {
                last.insert(message_id, (attempt, stage, mark));
            }
        }
        let ids: Vec<MessageId> = last.keys().copied().collect();
        let rows = self.shared.record.look_up(|reader| reader.waiting_among(&id, &ids)).ok()?;
        let with_last = |row: MessageRow| last.get(&row.envelope.id).map(|last| (row, *last));
        Some(rows.into_iter().filter_map(with_last).collect())
    }
}
