//! Delivery: accept durably, inject once, and say how far each message has come.
//!
//! One message is on its way at a time. Its id is the input's id, so a shim that has written it says so however
//! often it is asked, and a daemon that comes back asks instead of guessing.

use std::{collections::BTreeMap, time::Duration};

use edgeplane_driver::{
    native,
    render::{self, Attempt, Bounds},
    terminal,
};
use edgeplane_lifecycle::State;
use edgeplane_manifest::{Ambiguous, Driver};
use edgeplane_store::MessageRow;
use edgeplane_types::{
    Authority, DeliveryMode, Desired, Envelope, Epoch, Evidence, Fact, MessageId, Part, Rung,
};
use edgeplane_wire::{
    cast::CastEvent,
    shim::{InputKind, InputOutcome, ToShim},
};
use tokio::time::Instant;

use super::{Actor, history, turns::Turns};
use crate::{
    left_behind,
    profile::Profile,
    record::{Draft, Origin},
    recordings,
};

/// How long a full shim is left alone before it is offered a message again.
pub(super) const FULL_RETRY: Duration = Duration::from_millis(50);

/// What is on its way.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) in_flight: Option<MessageId>,
    /// The line of it that a terminal would cut, if it collects lines.
    pub(super) too_long: Option<terminal::LineTooLong>,
    pub(super) turns: Turns,
    /// The epoch whose recording was asked what it holds. What it said may stand in the reserve, where no reader
    /// sees it, so it is asked once.
    settled: Option<Epoch>,
    pub(super) retry_at: Option<Instant>,
    /// A message that is on its way behind a history, and the lightest of what that quotes.
    quoted: Option<(MessageId, Authority)>,
    /// A message that was just accepted into an empty inbox: what is next, without looking it up.
    pub(super) fresh: Option<Fresh>,
}

/// A message as it was accepted, with its content; without content it may not be what is next.
#[derive(Debug)]
pub(super) struct Fresh {
    pub(super) row: MessageRow,
    pub(super) parts: Vec<Part>,
}

impl Fresh {
    /// Whether it can be delivered now to who takes nothing lighter than this.
    fn is_next(&self, lightest: Authority) -> bool {
        !self.parts.is_empty() && self.row.envelope.authority <= lightest
    }
}

impl Delivery {
    pub(super) fn in_flight(&self) -> Option<MessageId> {
        self.in_flight
    }

    pub(super) fn is_in_flight(&self, message_id: MessageId) -> bool {
        self.in_flight == Some(message_id)
    }

    /// The program says that it took a message that was on its way.
    pub(super) fn settled_by_word(&mut self, message_id: MessageId) {
        self.in_flight.take_if(|of| *of == message_id);
    }

    pub(super) fn epoch_over(&mut self) {
        self.in_flight = None;
        self.retry_at = None;
        self.turns = Turns::default();
    }
}

impl Actor {
    /// Sends the next waiting message on its way, if the agent can take one.
    pub(super) async fn pump(&mut self) {
        self.stir();
        // What wakes it waits for its session like any other message.
        Box::pin(self.wake()).await;
        if self.is_set() {
            return Box::pin(self.balance()).await;
        }
        if self.task_is_over() {
            return Box::pin(self.end_task("its task is over")).await;
        }
        // It holds for this moment only: whatever happens next may settle it, or put another before it.
        let mut fresh = self.delivery.fresh.take();
        while self.delivery.in_flight.is_none() && self.can_take() {
            let (id, lightest) = (self.identity.id, self.lightest());
            let (row, parts) = match fresh.take().filter(|fresh| fresh.is_next(lightest)) {
                Some(Fresh { row, parts }) => (row, Some(parts)),
                None => {
                    let found =
                        self.shared.record.look_up(|reader| reader.next_deliverable(&id, lightest, 1));
                    let Some(row) = found.ok().and_then(|rows| rows.into_iter().next()) else { return };
                    (row, None)
                }
            };
            let waits_in_queue = row.envelope.mode == DeliveryMode::Queue;
            if row.envelope.mode == DeliveryMode::Interrupt && self.is_busy_with_its_task() {
                return Box::pin(self.end_task("a message interrupts its task")).await;
            }
            if self.has_missed_its_turn(&row.envelope) {
                if self.settle(missed(row.envelope.id)).await {
                    continue;
                }
                return;
            }
            let is_apart = self.delivery.turns.is_apart(&row.envelope);
            if is_apart && row.envelope.mode == DeliveryMode::Interrupt {
                self.ask_for_end_of_running("a message of another thread interrupts it").await;
            }
            let waits = match self.is_acp() {
                true => self.acp_waits(waits_in_queue || is_apart).await,
                false => (waits_in_queue || is_apart) && self.waits_for_turn(is_apart),
            };
            if waits {
                return;
            }
            if self.is_gated() && !self.gate_lets(&row) {
                return;
            }
            if !self.send(row, parts).await {
                return;
            }
        }
    }

    /// The lightest authority of what the program is given; what is lighter is held.
    pub(super) fn lightest(&self) -> Authority {
        Profile::lightest(&self.manifest)
    }

    fn can_take(&self) -> bool {
        let linked = self.live.as_ref().is_some_and(|live| live.link.is_some() && live.process.is_some());
        // One that is about to be suspended takes no more, either.
        let runs_on = self.life.desired() != Desired::Frozen;
        linked
            && runs_on
            && self.hold_now().is_none()
            && matches!(self.life.state(), State::Running(_))
            && self.delivery.retry_at.is_none()
            && self.session_takes_messages()
    }

    /// Sends one message, or settles it without; tells whether another may follow.
    async fn send(&mut self, row: MessageRow, parts: Option<Vec<Part>>) -> bool {
        // One that waits although it was on its way before is waiting for its second attempt.
        let attempt = if was_tried(&row) { Attempt::Again } else { Attempt::First };
        let (envelope, expires_at) = (row.envelope, row.expires_at);
        let message_id = envelope.id;
        if expires_at.is_some_and(|at| at <= self.shared.record.now()) {
            // Its timer is due; a shim may have to be asked, and what waits behind it goes on with the answer.
            self.expire().await;
            return false;
        }
        let parts = match parts.map_or_else(|| self.content(&envelope), Ok) {
            Ok(parts) => parts,
            Err(reason) => return self.settle([Fact::MessageDeadLettered { message_id, reason }]).await,
        };
        if self.is_gated() {
            self.enter(&envelope, &parts, attempt);
            return false;
        }
        let history = self.history_ahead(&envelope).await;
        self.delivery.quoted = history.as_ref().map(|history| (message_id, history.lightest));
        let history = history.as_ref().map(|history| history.text.as_str());
        let bytes = self.as_input(history, &envelope, &parts, attempt);
        if bytes.is_empty() {
            // No session takes it yet.
            return false;
        }
        self.delivery.too_long = terminal::check(&bytes).err();
        let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) else { return false };
        self.shared.failpoint("send.before");
        link.send(&ToShim::Input { id: *message_id.as_bytes(), kind: InputKind::Message, bytes: &bytes });
        self.shared.failpoint("send.after");
        self.delivery.in_flight = Some(message_id);
        false
    }

    /// What is written for a message. What ends the running turn is part of it: it is written with it or not at all.
    /// Ahead of it stands the history of its thread, where the program does not have that.
    fn as_input(
        &self,
        history: Option<&str>,
        envelope: &Envelope,
        parts: &[Part],
        attempt: Attempt,
    ) -> Vec<u8> {
        let interrupts = envelope.mode == DeliveryMode::Interrupt;
        let (interrupt, message) = match &self.manifest.spec.driver {
            Driver::Native { .. } => {
                let running = self.delivery.turns.running().filter(|_| interrupts);
                let interrupt = running.map(|turn| native::turn_interrupt(turn, envelope.id));
                (interrupt, native::deliver_behind(history, envelope, parts, attempt, Bounds::NATIVE))
            }
            Driver::Acp { .. } | Driver::Exec { .. } => {
                let text = render::render(envelope, parts, attempt, Bounds::NATIVE).text();
                (None, self.acp_prompt(envelope, history, &text).unwrap_or_default())
            }
            Driver::Terminal { comment, submit, interrupt, .. } => {
                let typing = terminal::Typing {
                    comment: comment.clone(),
                    submit: submit.as_str().as_bytes().to_vec(),
                };
                let rendered = render::render(envelope, parts, attempt, Bounds::TERMINAL);
                let interrupt = interrupts.then(|| interrupt.as_str().as_bytes().to_vec());
                (interrupt, terminal::keys(&rendered, &typing))
            }
        };
        let mut bytes = interrupt.unwrap_or_default();
        bytes.extend_from_slice(&message);
        bytes
    }

    pub(super) fn content(&self, envelope: &Envelope) -> Result<Vec<Part>, String> {
        let digest = envelope.content_digest.parse().map_err(|_bad| "its digest is damaged".to_owned())?;
        let body =
            self.shared.record.look_up(|reader| reader.body(&digest)).map_err(|error| error.message)?;
        match body {
            Some(edgeplane_store::StoredBody::Bytes(bytes)) => {
                serde_json::from_slice(&bytes).map_err(|error| format!("its content cannot be read: {error}"))
            }
            Some(edgeplane_store::StoredBody::Erased { reason }) => {
                Err(format!("its content was erased: {reason}"))
            }
            None => Err("its content is missing".to_owned()),
        }
    }

    /// Records what became of messages, all or nothing; says whether that was possible.
    pub(super) async fn settle(&self, facts: impl IntoIterator<Item = Fact>) -> bool {
        let draft = self.settlement(facts);
        draft.is_empty() || self.shared.record.commit(draft).await.is_ok()
    }

    /// Gives up what waits, as much of it as one commit takes: nobody will ever take it. The rest follows when this
    /// engine has ended.
    pub(super) fn give_up_waiting(&self, draft: &mut Draft, origin: &Origin) {
        let (id, at_once) = (self.identity.id, left_behind::AT_ONCE);
        let page = self.shared.record.look_up(|reader| reader.waiting_page(&id, 0, at_once));
        for row in page.unwrap_or_default() {
            self.shared.record.add(draft, self.stream(), origin, left_behind::given_up(&row));
        }
    }

    fn settlement(&self, facts: impl IntoIterator<Item = Fact>) -> Draft {
        let mut draft = Draft::default();
        for fact in facts {
            self.shared.record.add(&mut draft, self.stream(), &Origin::node("delivery"), fact);
        }
        draft
    }

    /// What a shim says became of an input.
    pub(super) async fn input_done(&mut self, id: [u8; 16], outcome: InputOutcome) {
        let message_id = MessageId::from_bytes(id);
        if self.entered(id, outcome).await {
            return;
        }
        if self.expiry_answered(message_id, outcome).await {
            return self.pump().await;
        }
        if self.delivery.in_flight != Some(message_id) {
            return;
        }
        let epoch = self.live.as_ref().map_or(self.last_epoch, |live| live.place.epoch);
        let fact = match outcome {
            InputOutcome::Written | InputOutcome::Duplicate => injected(message_id, epoch),
            InputOutcome::LineTooLong => {
                let line = self.delivery.too_long.take().map(|line| line.to_string());
                let reason =
                    line.unwrap_or_else(|| "too_large: the terminal would cut a line of it".to_owned());
                Fact::MessageRejected { message_id, reason }
            }
            InputOutcome::Full => {
                self.delivery.in_flight = None;
                self.delivery.retry_at = Some(Instant::now() + FULL_RETRY);
                return;
            }
            InputOutcome::Queued => return,
            // The program reads no more; its end is about to be known, and the message waits for the next epoch.
            InputOutcome::Closed | InputOutcome::Unknown => return,
        };
        let mut facts = vec![fact];
        if matches!(facts.first(), Some(Fact::MessageInjected { .. })) {
            let quoted = self.delivery.quoted.take_if(|(of, _)| *of == message_id);
            facts.extend(quoted.and_then(|(_, lightest)| history::heard(message_id, epoch, lightest)));
        }
        let injected = matches!(facts.first(), Some(Fact::MessageInjected { .. }));
        self.shared.failpoint("injected.before");
        if self.settle(facts).await {
            self.shared.failpoint("injected.after");
            if injected && self.is_structured() {
                self.turn_began(message_id);
                self.acp_turn_began(message_id);
                self.interrupt_again(message_id).await;
            }
            self.delivery.in_flight = None;
            self.pump().await;
        } else {
            // No space to note it: the shim remembers, and is asked again.
            self.delivery.in_flight = None;
            self.delivery.retry_at = Some(Instant::now() + Duration::from_secs(1));
        }
    }

    pub(super) async fn delivery_due(&mut self, now: Instant) {
        if self.delivery.retry_at.is_some_and(|at| at <= now) {
            self.delivery.retry_at = None;
            self.pump().await;
        }
        self.turn_due(now).await;
    }

    pub(super) fn delivery_timer(&self) -> Option<Instant> {
        self.delivery.retry_at.into_iter().chain(self.turn_timer()).min()
    }

    /// Finds out what became of messages that were on their way when an epoch ended without its shim's word.
    ///
    /// The shim marks a message in the recording before it writes the first byte and again after the last. Any that
    /// waits may have been on its way: one that came later may go first.
    pub(super) async fn settle_in_flight(&mut self, epoch: Epoch) {
        if self.delivery.settled == Some(epoch) {
            return;
        }
        let marked = if self.is_gated() { self.doubtful(epoch) } else { self.marked_waiting(epoch) };
        let Some(marked) = marked else { return };
        let mut facts = Vec::new();
        for (row, mark) in marked {
            // A former daemon may have settled the same end, and let the message wait again.
            if !(is_ambiguous(&row) && row.epoch == Some(epoch)) {
                facts.extend(self.marked(&row, epoch, mark));
            }
        }
        // What belongs to an end must be known before the next epoch, also without space: else it is written twice.
        let draft = self.settlement(facts).critical();
        self.shared.failpoint("settle.before");
        if draft.is_empty() || self.shared.record.commit(draft).await.is_ok() {
            self.shared.failpoint("settle.after");
            self.delivery.settled = Some(epoch);
        }
    }

    /// Finds out what a former daemon had on its way in an epoch that lives on. What was written is noted before anything
    /// that its program says of it; what is being written goes before all else.
    pub(super) async fn recall_in_flight(&mut self, epoch: Epoch) {
        if self.is_gated() {
            return self.recall_entry(epoch).await;
        }
        let mut begun = None;
        let mut written = Vec::new();
        for (row, mark) in self.marked_waiting(epoch).unwrap_or_default() {
            match mark {
                Mark::Whole => {
                    written.push(injected(row.envelope.id, epoch));
                    let history = self.history_ahead(&row.envelope).await;
                    written.extend(
                        history.and_then(|history| history::heard(row.envelope.id, epoch, history.lightest)),
                    );
                }
                Mark::Begun => begun = Some(row),
            }
        }
        self.settle(written).await;
        if let Some(row) = begun {
            self.send(row, None).await;
        }
    }

    /// The messages that wait as far as the record knows, and of which the recording of an epoch says more.
    fn marked_waiting(&self, epoch: Epoch) -> Option<Vec<(MessageRow, Mark)>> {
        let id = self.identity.id;
        if self.shared.record.look_up(|reader| reader.waiting_count(&id)).ok()? == 0 {
            return Some(Vec::new());
        }
        let found = marks(&self.shared.place(id, &self.identity.name, epoch).dir);
        let ids: Vec<MessageId> = found.keys().copied().collect();
        let rows = self.shared.record.look_up(|reader| reader.waiting_among(&id, &ids)).ok()?;
        let with_mark = |row: MessageRow| found.get(&row.envelope.id).map(|mark| (row, *mark));
        Some(rows.into_iter().filter_map(with_mark).collect())
    }

    /// What a mark in the recording of an epoch that is over means for a message.
    fn marked(&self, row: &MessageRow, epoch: Epoch, mark: Mark) -> Vec<Fact> {
        let message_id = row.envelope.id;
        if mark == Mark::Whole {
            return vec![injected(message_id, epoch)];
        }
        self.doubt(row, epoch, "the epoch ended while the message was being written".to_owned())
    }

    /// What follows of a message of which nobody can know whether it was written.
    pub(super) fn doubt(&self, row: &MessageRow, epoch: Epoch, reason: String) -> Vec<Fact> {
        let message_id = row.envelope.id;
        let ambiguous = Fact::MessageAmbiguous { message_id, epoch, reason };
        match self.manifest.spec.delivery.ambiguous {
            // Once more, not for ever: a message whose second attempt ends so too may be what ends the program.
            Ambiguous::Redeliver if is_ambiguous(row) => vec![ambiguous],
            Ambiguous::Redeliver => vec![ambiguous, Fact::MessageRequeued { message_id }],
            Ambiguous::Hold => vec![ambiguous],
            Ambiguous::Drop => {
                let reason = "ambiguous, and the manifest says drop".to_owned();
                vec![ambiguous, Fact::MessageDeadLettered { message_id, reason }]
            }
        }
    }
}

/// A message that was to go into a turn that is over: it is nothing by itself.
fn missed(message_id: MessageId) -> [Fact; 2] {
    let reason = "the turn that it was to go into is over".to_owned();
    [
        Fact::MessageRejected { message_id, reason: reason.clone() },
        Fact::MessageDropped { message_id, reason },
    ]
}

/// Whether a crash left unknown, in this epoch or one before, whether the message was written.
pub(super) fn is_ambiguous(row: &MessageRow) -> bool {
    row.receipts.iter().any(|receipt| receipt.rung == Rung::Ambiguous)
}

/// Whether a message was on its way before: it was written to a program whose turn was cut short, or may have been.
pub(super) fn was_tried(row: &MessageRow) -> bool {
    is_ambiguous(row) || row.receipts.iter().any(|receipt| receipt.rung == Rung::Injected)
}

/// A message was written, as its shim says or left in the recording.
pub(super) fn injected(message_id: MessageId, epoch: Epoch) -> Fact {
    Fact::MessageInjected { message_id, epoch, evidence: Evidence::Shim }
}

/// What a recording says of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Begun,
    Whole,
}

/// What a recording says of the messages in it, by their ids.
pub(super) fn marks(dir: &std::path::Path) -> BTreeMap<MessageId, Mark> {
    let mut found = BTreeMap::new();
    let all = recordings::segments(dir).unwrap_or_default();
    let mut begun: Option<MessageId> = None;
    // A message is on its way for moments: the newest two segments hold every trace of it.
    for segment in all.iter().skip(all.len().saturating_sub(2)) {
        let Ok(segment) = recordings::Segment::open(dir, *segment) else { continue };
        drop(segment.visit(|timed| {
            match timed.event {
                CastEvent::Other { code: 'm', data } => {
                    // A mark that is no id is none of a message.
                    begun = data.parse().ok();
                    if let Some(id) = begun {
                        found.entry(id).or_insert(Mark::Begun);
                    }
                }
                CastEvent::Other { code: 'i', .. } => {
                    if let Some(id) = begun.take() {
                        found.insert(id, Mark::Whole);
                    }
                }
                _ => {}
            }
            std::ops::ControlFlow::Continue(())
        }));
    }
    found
}
