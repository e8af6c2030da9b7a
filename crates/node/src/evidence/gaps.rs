//! What the record cannot show: gaps of recordings, ends that nobody saw, stretches in which nobody looked.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use edgeplane_proof::{Digest, pack};
use edgeplane_store::{AgentRow, ReadError, Reader};
use edgeplane_types::{Epoch, Event, Fact, MessageId, StreamName, Timestamp, life::ExitStatus};
use edgeplane_wire::api::evidence::GapView;

use crate::{agent::is_unseen, recordings};

/// Most gaps that are told.
pub(crate) const GAPS_MAX: usize = 10_000;

/// Events that are read at once.
const PAGE: usize = 1_000;

/// What is gathered while a stream is walked.
#[derive(Default)]
struct Walk {
    gaps: Vec<GapView>,
    /// The place of the stretch that is open.
    open: Option<usize>,
    ambiguous: BTreeMap<MessageId, usize>,
    sealed: HashSet<(Epoch, u32)>,
    pruned: BTreeMap<Epoch, u32>,
    last_at: Option<Timestamp>,
}

/// The gaps of an agent.
pub(crate) fn of_agent(
    reader: &Reader,
    agents_dir: &Path,
    row: &AgentRow,
) -> Result<Vec<GapView>, ReadError> {
    let stream = StreamName::Agent(row.id);
    let erased: BTreeMap<Digest, String> = reader.erased_bodies()?.into_iter().collect();
    let mut walk = walk(reader, &stream, &erased)?;
    for epoch in reader.epochs(&row.id)? {
        let dir = recordings::epoch_dir(agents_dir, &row.id.to_string(), epoch.epoch);
        for segment in recordings::segments(&dir).unwrap_or_default() {
            let is_let_go = walk.pruned.get(&epoch.epoch).is_some_and(|through| segment <= *through);
            if walk.sealed.contains(&(epoch.epoch, segment)) || is_let_go {
                continue;
            }
            let lives = epoch.ended_at.is_none();
            let why = if lives { "it is being written" } else { "it was not sealed" };
            walk.gaps.push(GapView {
                kind: "unsealed_segment".to_owned(),
                stream: Some(stream.to_string()),
                seq: None,
                from: epoch.started_at,
                to: None,
                epoch: Some(epoch.epoch),
                subject: Some(format!("segment {segment}")),
                reason: format!("{why}: it has no digest yet"),
            });
        }
    }
    Ok(walk.gaps)
}

/// The gaps of the node's own stream.
pub(crate) fn of_node(reader: &Reader, stream: &StreamName) -> Result<Vec<GapView>, ReadError> {
    Ok(walk(reader, stream, &BTreeMap::new())?.gaps)
}

fn walk(reader: &Reader, stream: &StreamName, erased: &BTreeMap<Digest, String>) -> Result<Walk, ReadError> {
    let mut walk = Walk::default();
    let mut next = 1;
    loop {
        let page = reader.events(stream, next, PAGE)?;
        for committed in &page {
            next = committed.event.seq.saturating_add(1);
            walk.take(stream, &committed.event);
            if !erased.is_empty() {
                walk.erased(stream, &committed.event, erased);
            }
            walk.last_at = Some(committed.event.ts);
        }
        if page.len() < PAGE || walk.gaps.len() > GAPS_MAX {
            return Ok(walk);
        }
    }
}

impl Walk {
    fn add(&mut self, stream: &StreamName, event: &Event, kind: &str, gap: (Option<Epoch>, String, &str)) {
        let (epoch, subject, reason) = gap;
        self.gaps.push(GapView {
            kind: kind.to_owned(),
            stream: Some(stream.to_string()),
            seq: Some(event.seq),
            from: Some(event.ts),
            to: None,
            epoch,
            subject: (!subject.is_empty()).then_some(subject),
            reason: reason.to_owned(),
        });
    }

    fn close(&mut self, at: Option<usize>, event: &Event) {
        if let Some(gap) = at.and_then(|at| self.gaps.get_mut(at)) {
            gap.to = Some(event.ts);
        }
    }

    fn erased(&mut self, stream: &StreamName, event: &Event, erased: &BTreeMap<Digest, String>) {
        let value = serde_json::to_value(event).unwrap_or_default();
        for digest in pack::referenced(&value) {
            if let Some(why) = erased.get(&digest) {
                self.add(stream, event, "erased_body", (None, digest.to_string(), why));
            }
        }
    }

    fn take(&mut self, stream: &StreamName, event: &Event) {
        match &event.fact {
            Fact::RecordingGap { epoch, from_offset, to_offset, reason } => {
                let subject = format!("bytes {from_offset} to {to_offset} of the output");
                self.add(stream, event, "recording_gap", (Some(*epoch), subject, reason));
            }
            Fact::RecordingPruned { epoch, through_segment, reason, .. } => {
                self.pruned.insert(*epoch, *through_segment);
                let subject = format!("segments up to {through_segment}");
                self.add(stream, event, "recording_pruned", (Some(*epoch), subject, reason));
            }
            Fact::RecordingSealed { epoch, segment, .. } => {
                self.sealed.insert((*epoch, *segment));
            }
            Fact::MessageAmbiguous { message_id, epoch, reason } => {
                self.ambiguous.insert(*message_id, self.gaps.len());
                let subject = message_id.to_string();
                self.add(stream, event, "ambiguous_message", (Some(*epoch), subject, reason));
            }
            Fact::MessageInjected { message_id, .. }
            | Fact::MessageObserved { message_id, .. }
            | Fact::MessageTurnEnded { message_id, .. }
            | Fact::MessageRequeued { message_id }
            | Fact::MessageDropped { message_id, .. } => {
                let at = self.ambiguous.remove(message_id);
                self.close(at, event);
            }
            Fact::AgentUnobservable { epoch, reason } => {
                self.open = Some(self.gaps.len());
                self.add(stream, event, "unobservable", (Some(*epoch), String::new(), reason));
            }
            Fact::AgentAdopted { .. } | Fact::AgentQuarantined { .. } => {
                let at = self.open.take();
                self.close(at, event);
            }
            Fact::AgentExited { epoch, status, .. } => {
                let at = self.open.take();
                self.close(at, event);
                if *status == ExitStatus::Unknown {
                    let why = "nobody saw how its program ended";
                    self.add(stream, event, "unseen_end", (Some(*epoch), String::new(), why));
                }
            }
            Fact::CommandEnded { process_id, epoch, reason: Some(reason), .. } if is_unseen(reason) => {
                let subject = process_id.to_string();
                self.add(stream, event, "unseen_command_end", (Some(*epoch), subject, reason));
            }
            Fact::NodeStorageFull { detail } => {
                self.open = Some(self.gaps.len());
                self.add(stream, event, "storage_full", (None, String::new(), detail));
            }
            Fact::NodeStorageResumed { .. } => {
                let at = self.open.take();
                self.close(at, event);
            }
            Fact::NodeStarted { .. } if self.last_at.is_some() => {
                let at = self.gaps.len();
                self.add(stream, event, "unobservable", (None, String::new(), "no daemon looked"));
                if let Some(gap) = self.gaps.get_mut(at) {
                    (gap.from, gap.to) = (self.last_at, Some(event.ts));
                }
            }
            _ => {}
        }
    }
}
