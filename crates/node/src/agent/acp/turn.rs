//! Turns: one prompt at a time, its end, and the end that somebody asks for.
//!
//! The protocol has no way to say something within a turn. A message that steers or interrupts therefore ends the running
//! turn first, which its program does in its own time, and is the next one.

use std::{sync::Arc, time::Duration};

use edgeplane_driver::acp::{self, Failure, Usage};
use edgeplane_store::{ReadError, Reader, StoredBody};
use edgeplane_types::{Activity, ActivityReport, Epoch, Evidence, Fact, ItemId, MessageId, Rung, SafeLabel};
use edgeplane_wire::shim::{InputKind, ToShim};
use serde_json::Value;
use tokio::time::Instant;

use super::{Actor, items::OUTPUT_BYTES_MAX, label};

/// How long a program may take to end a turn that it was asked to end. After that the next message is sent all the same.
const CANCEL_TIME_MAX: Duration = Duration::from_secs(30);

/// Events that are looked through for the beginning of the turn's answer.
const EVENTS_AT_ONCE: usize = 2_000;

/// What is known of the running turn, and of the last one.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The message that the text belongs to.
    of: Option<MessageId>,
    /// The answer until now.
    text: String,
    /// The text that goes on, by its kind.
    run: Option<(&'static str, ItemId)>,
    /// The message that its program was seen to act on.
    observed: Option<MessageId>,
    /// The turn that was asked to end, and until when that may take.
    cancelled: Option<(MessageId, Instant)>,
}

impl Turn {
    pub(super) fn said(&mut self, text: &str) {
        let room = OUTPUT_BYTES_MAX.saturating_sub(self.text.len());
        self.text.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    }

    pub(super) fn run(&self, kind: &str) -> Option<ItemId> {
        self.run.filter(|(of, _)| *of == kind).map(|(_, id)| id)
    }

    pub(super) fn runs(&mut self, kind: &'static str, id: ItemId) {
        self.run = Some((kind, id));
    }

    pub(super) fn no_run(&mut self) {
        self.run = None;
    }

    /// The message whose turn is the newest.
    pub(super) fn last(&self) -> Option<MessageId> {
        self.of
    }

    /// Whether its program acts on this message for the first time.
    pub(super) fn observes(&mut self, message_id: MessageId) -> bool {
        self.observed.replace(message_id) != Some(message_id)
    }

    pub(super) fn cancel_until(&self) -> Option<Instant> {
        self.cancelled.map(|(_, until)| until)
    }

    fn begins(&mut self, message_id: MessageId) {
        if self.of != Some(message_id) {
            *self = Self { of: Some(message_id), ..Self::default() };
        }
    }
}

impl Actor {
    /// A message was written: its turn runs.
    pub(in crate::agent) fn acp_turn_began(&mut self, message_id: MessageId) {
        let is_running = self.delivery.turns.running() == Some(message_id);
        let Some(acp) = self.acp_mut() else { return };
        if let Some(of) = &mut acp.one_shots {
            of.is_first = acp.untold;
        }
        acp.untold = false;
        acp.is_replayed = false;
        acp.turn.begins(message_id);
        if is_running {
            self.activity = ActivityReport { state: Activity::Working, evidence: Evidence::Protocol };
        }
    }

    /// The program answers a prompt: its turn is over.
    pub(super) async fn acp_turn_over(
        &mut self,
        (epoch, end): (Epoch, u64),
        message_id: MessageId,
        result: Result<Value, Failure>,
    ) {
        let record = Arc::clone(&self.shared);
        let row = record.record.look_up(|reader| reader.message(&message_id)).ok().flatten();
        let is_given = self.delivery.is_in_flight(message_id)
            || row.as_ref().is_some_and(|row| row.receipts.iter().any(|rung| rung.rung == Rung::Injected));
        let is_over =
            row.as_ref().is_some_and(|row| row.receipts.iter().any(|rung| rung.rung == Rung::TurnEnded));
        let is_own = row.is_some_and(|row| row.envelope.target == self.identity.id);
        if !is_own || !is_given || is_over {
            return self.acp_offence("an answer to a prompt that it was not given, or has answered").await;
        }
        let origin = self.native_origin(epoch, end);
        let authority = Some(self.weight_of_words(epoch));
        let answer = result.as_ref().ok().and_then(super::exec::answer);
        let (outcome, failure, usage) = match result {
            Ok(value) => {
                let reason = value.get("stopReason").and_then(Value::as_str).unwrap_or("end_turn");
                let usage = value.get("usage").and_then(Usage::read);
                (label(reason), None, usage)
            }
            Err(failure) => (label("error"), Some(failure), None),
        };
        if let Some(usage) = usage {
            self.acp_usage(&origin, epoch, usage);
        }
        let turn_id = self.turn_id_of(Some(message_id));
        let (stream, shared) = (self.stream(), Arc::clone(&self.shared));
        let Some(acp) = self.acp_mut() else { return };
        if let Some(failure) = failure {
            let (body_digest, body_bytes) = acp.batch.body(failure.message.into_bytes());
            let kind = label("error");
            let fact = Fact::ItemReported {
                epoch,
                kind,
                body_digest,
                body_bytes,
                message_id: Some(message_id),
                authority,
            };
            shared.record.add(&mut acp.batch, stream, &origin, fact);
        }
        let is_of_it = acp.turn.of == Some(message_id);
        let said = if is_of_it { std::mem::take(&mut acp.turn.text) } else { String::new() };
        let text = answer.filter(|_| acp.one_shots.is_some()).unwrap_or(said);
        acp.turn.no_run();
        acp.turn.cancelled.take_if(|(of, _)| *of == message_id);
        let (output_digest, output_bytes) = acp.batch.body(text.into_bytes());
        let outcome: Option<SafeLabel> = Some(outcome);
        let turn = Fact::TurnCompleted {
            turn_id,
            epoch,
            message_id: Some(message_id),
            output_digest,
            output_bytes,
            authority,
            outcome,
        };
        shared.record.add(&mut acp.batch, stream, &origin, turn);
        let ended = Fact::MessageTurnEnded { message_id, epoch, evidence: Evidence::Protocol };
        shared.record.add(&mut acp.batch, stream, &origin, ended);
        self.shared.failpoint("ended.before");
        self.acp_flush().await;
        self.shared.failpoint("ended.after");
        self.turn_ended(Some(message_id));
        if self.delivery.turns.running().is_none() {
            self.activity = ActivityReport { state: Activity::Idle, evidence: Evidence::Protocol };
        }
        self.cancel_permissions(epoch).await;
        self.pump().await;
    }

    /// Whether a message must wait for the end of the running turn. One that may not wait for it asks for it.
    pub(in crate::agent) async fn acp_waits(&mut self, waits_in_queue: bool) -> bool {
        let Some(running) = self.delivery.turns.running() else { return false };
        if !waits_in_queue {
            self.acp_cancel(running).await;
        }
        true
    }

    /// Asks for the end of the running turn, once. What it asked people for is not wanted any more.
    pub(in crate::agent) async fn acp_cancel(&mut self, running: MessageId) {
        let Some(acp) = self.acp_mut() else { return };
        if acp.turn.cancelled.is_some_and(|(of, _)| of == running) {
            return;
        }
        let Some(session) = acp.session.name().map(str::to_owned) else { return };
        acp.turn.cancelled = Some((running, Instant::now() + CANCEL_TIME_MAX));
        // Made of the message that began the turn: however often it is asked, and by whichever daemon, it is told once.
        let mut id = *running.as_bytes();
        id.iter_mut().for_each(|byte| *byte ^= 0xca);
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: &acp::cancel(&session) });
        }
        if let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch) {
            self.cancel_permissions(epoch).await;
        }
    }

    pub(super) async fn acp_cancel_due(&mut self, now: Instant) {
        let Some(acp) = self.acp_mut() else { return };
        let Some((of, _)) = acp.turn.cancelled.filter(|(_, until)| *until <= now) else { return };
        // It stays noted as cancelled, without a time: it is not asked again.
        acp.turn.cancelled = None;
        tracing::warn!(agent = %self.identity.name, "a turn did not end when it was asked to; the next one begins");
        self.turn_ended(Some(of));
        self.turn_over().await;
    }

    /// Gathers what a former daemon had heard of the turn that runs.
    pub(super) async fn recall_acp_turn(&mut self, epoch: Epoch) {
        let (id, stream) = (self.identity.id, self.stream());
        let read = move |reader: &Reader| {
            let open = reader.open_turns(&id, epoch, 1)?;
            let Some(turn) = open.first() else { return Ok((None, reader.leading(&id, epoch)?.is_some())) };
            let at = reader.events_from_pos(turn.since_pos, 1, &[])?;
            let from = at.first().map_or(1, |committed| committed.event.seq);
            Ok((Some((turn.message_id, said_since(reader, &stream, from, turn.message_id)?)), true))
        };
        let Ok((found, was_told)) = self.shared.record.read(read).await else { return };
        let continuity = self.continuity;
        let Some(acp) = self.acp_mut() else { return };
        let is_former = continuity == edgeplane_types::Continuity::Full;
        (acp.untold, acp.is_replayed) = (!was_told && !is_former, !was_told && is_former);
        if let Some((message_id, (text, acted))) = found {
            acp.turn.begins(message_id);
            acp.turn.text = text;
            acp.turn.observed = acted.then_some(message_id);
        }
    }
}

/// The text of a turn until now, and whether its program did anything in it.
fn said_since(
    reader: &Reader,
    stream: &edgeplane_types::StreamName,
    mut from: u64,
    turn: MessageId,
) -> Result<(String, bool), ReadError> {
    let (mut text, mut acted) = (String::new(), false);
    loop {
        let events = reader.events(stream, from, EVENTS_AT_ONCE)?;
        for committed in &events {
            match &committed.event.fact {
                Fact::ItemUpdated { kind, body_digest, message_id: Some(of), .. } if *of == turn => {
                    acted = true;
                    let is_text = kind.as_str() == "text";
                    let body = body_digest.parse().ok().filter(|_| is_text);
                    if let Some(digest) = body
                        && let Some(StoredBody::Bytes(bytes)) = reader.body(&digest)?
                    {
                        text.push_str(&String::from_utf8_lossy(&bytes));
                    }
                }
                Fact::MessageObserved { message_id, .. } if *message_id == turn => acted = true,
                _ => {}
            }
            from = committed.event.seq.saturating_add(1);
        }
        if events.len() < EVENTS_AT_ONCE || text.len() > OUTPUT_BYTES_MAX {
            text.truncate(text.floor_char_boundary(OUTPUT_BYTES_MAX));
            return Ok((text, acted));
        }
    }
}
