//! `evidence`: what of an agent's work can be checked by its digest: recordings, outputs, files, commands.

use std::collections::BTreeMap;

use edgeplane_types::fact::FileWritten;
use edgeplane_types::{Epoch, Fact};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, Step},
    json::Object,
    recent::Recent,
    subject::{Subject, turn_of},
    telling::{agent_of, message_of},
};

pub(crate) fn takes(kind: &str) -> bool {
    matches!(kind, "turn.completed" | "file.written" | "command.started" | "command.ended")
        || kind.starts_with("recording.")
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Evidence {
    counts: BTreeMap<String, u64>,
    sealed_bytes: u64,
    pruned_bytes: u64,
    gaps: u64,
    recent: Recent,
}

impl Evidence {
    fn recording(&mut self, fact: &Fact) -> Option<(&'static str, Epoch, Object)> {
        Some(match fact {
            Fact::RecordingSealed { epoch, segment, from_offset, to_offset, file_bytes, digest } => {
                self.sealed_bytes = self.sealed_bytes.saturating_add(*file_bytes);
                let payload = Object::new()
                    .put("segment", segment)
                    .put("from_offset", from_offset)
                    .put("to_offset", to_offset)
                    .put("file_bytes", file_bytes)
                    .put("digest", digest);
                ("recording.sealed", *epoch, payload)
            }
            Fact::RecordingPruned { epoch, through_segment, file_bytes, reason } => {
                self.pruned_bytes = self.pruned_bytes.saturating_add(*file_bytes);
                let payload = Object::new()
                    .put("through_segment", through_segment)
                    .put("file_bytes", file_bytes)
                    .put("reason", reason);
                ("recording.pruned", *epoch, payload)
            }
            Fact::RecordingGap { epoch, from_offset, to_offset, reason } => {
                self.gaps += 1;
                let payload = Object::new()
                    .put("from_offset", from_offset)
                    .put("to_offset", to_offset)
                    .put("reason", reason);
                ("recording.gap", *epoch, payload)
            }
            _ => return None,
        })
    }

    fn say(&mut self, step: &mut Step<'_>) {
        let fact = step.fact();
        let message_id = message_of(fact);
        let (agent_id, turn_id) = (agent_of(step), message_id.map(turn_of));
        let ids = Ids { agent_id, message_id, turn_id, ..Ids::default() };
        if let Some((kind, epoch, payload)) = self.recording(fact) {
            step.say(kind, Ids { epoch: Some(epoch), ..ids }, payload.done());
            return;
        }
        match fact {
            Fact::TurnCompleted { turn_id: own, epoch, output_digest, output_bytes, authority, .. } => {
                let ids = Ids { epoch: Some(*epoch), turn_id: ids.turn_id.or(Some(*own)), ..ids };
                let payload = Object::new().maybe("authority", authority.as_ref()).done();
                step.say("output.kept", ids, payload).with("output", output_digest, *output_bytes);
            }
            Fact::FileWritten(FileWritten { epoch, path, digest, bytes, .. }) => {
                let ids = Ids { epoch: Some(*epoch), ..ids };
                let payload =
                    Object::new().put("path", path).put("digest", digest).put("bytes", bytes).done();
                step.say("file.written", ids, payload);
            }
            Fact::CommandStarted { epoch, process_id, details_digest, details_bytes, .. } => {
                let ids = Ids { epoch: Some(*epoch), process_id: Some(*process_id), ..ids };
                step.say("command.started", ids, Object::new().done()).with(
                    "details",
                    details_digest,
                    *details_bytes,
                );
            }
            Fact::CommandEnded {
                epoch,
                process_id,
                status,
                output_digest,
                output_bytes,
                written_bytes,
                ..
            } => {
                let ids = Ids { epoch: Some(*epoch), process_id: Some(*process_id), ..ids };
                let payload = Object::new()
                    .put("status", status)
                    .put("written_bytes", written_bytes)
                    .put("is_cut", &(output_bytes < written_bytes))
                    .done();
                step.say("command.ended", ids, payload).with("output", output_digest, *output_bytes);
            }
            _ => {}
        }
    }
}

impl Fold for Evidence {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.say(step);
        for numbered in &step.said {
            match self.counts.get_mut(numbered.entry.kind) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(numbered.entry.kind.to_owned(), 1)),
            }
        }
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        json!({
            "counts": self.counts,
            "sealed_bytes": self.sealed_bytes,
            "pruned_bytes": self.pruned_bytes,
            "gaps": self.gaps,
            "evidence": self.recent.state(),
        })
    }
}
