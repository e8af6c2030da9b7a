//! The input gate of terminals with an adapter: a message is entered only where the screen allows it, looked at before
//! it is submitted, and injected when the screen says that it is.
//!
//! One message is entered at a time, step by step: pasted, seen in the composer, submitted, seen gone from there. Each
//! step is an input of its own with an id made of the message's, so a shim writes it once and a daemon that comes back
//! finds the step in the recording. Where the screen does not say what is to be seen, nothing more is typed.

use std::{sync::Arc, time::Duration};

use edgeplane_driver::{
    render::{self, Attempt, Bounds, Rendered},
    screen::{Adapter, Held, Paste, Reading, ScreenState},
    terminal,
};
use edgeplane_lifecycle::State;
use edgeplane_manifest::Driver;
use edgeplane_store::MessageRow;
use edgeplane_types::{Activity, ActivityReport, DeliveryMode, Envelope, Evidence, Fact, MessageId, Part};
use edgeplane_wire::shim::{InputKind, InputOutcome, ToShim};
use tokio::time::Instant;

use super::{
    Actor, delivery,
    input_step::{ATTEMPTS_MAX, Entry, Stage, Step},
};

/// How long a program is quiet before its screen is read: it may draw in several pieces.
const SETTLE: Duration = Duration::from_millis(60);

/// After how long a screen is read that never comes to rest, such as one with a moving sign.
const UNSETTLED_MAX: Duration = Duration::from_millis(500);

/// How long nothing is entered after a program did not take what was submitted.
pub(super) const REST: Duration = Duration::from_secs(30);

/// How long a program may take to show the turn that a message has begun; before, it looks idle.
pub(super) const TURN_SHOWN_TIME: Duration = Duration::from_secs(1);

/// How long nothing is entered after a program showed an error; each one behind it doubles that, up to the longest.
const ERROR_REST: Duration = Duration::from_secs(5);

/// The longest rest after an error: an outage of a provider is not asked about more often.
const ERROR_REST_MAX: Duration = Duration::from_secs(900);

/// Why nothing is entered for a while after an error.
const FAILED: &str = "it shows an error, and is tried again later";

/// Why nothing is entered for a while after a message was not taken.
const NOT_TAKEN: &str = "its program did not take what was submitted";

/// Why nothing is entered for a while after nobody could tell whether a message was taken.
pub(super) const IN_DOUBT: &str = "what became of the message before is not known";

/// Why nothing is entered right after a message was taken.
pub(super) const BEGINNING: &str = "the turn of the message before is about to begin";

/// What is known of a terminal, and what is being entered.
#[derive(Debug, Default)]
pub(super) struct InputGate {
    reading: Option<Reading>,
    /// Whether the reading may be acted on: the program was quiet, or the one before said the same.
    is_certain: bool,
    /// Bytes of output that the reading shows.
    read_head: u64,
    unread_since: Option<Instant>,
    pub(super) entry: Option<Entry>,
    /// The message that was entered in vain, and how often.
    pub(super) tried: Option<(MessageId, u8)>,
    /// Errors that were shown, one behind the other.
    errors: u32,
    /// Whether the last of them is counted.
    pub(super) is_counted: bool,
    /// Until when nothing is entered, and why.
    pub(super) rests: Option<(Instant, &'static str)>,
    /// The message for which the running turn was ended.
    interrupted: Option<MessageId>,
    reason: Option<Arc<str>>,
}

impl InputGate {
    pub(super) fn epoch_over(&mut self) {
        *self = Self::default();
    }

    /// The program has said something that no reading shows yet. One that never rests is read all the same, so the
    /// first of it counts, not the last.
    pub(super) fn unread(&mut self, now: Instant) {
        self.unread_since.get_or_insert(now);
    }

    /// Why nothing is typed now.
    pub(super) fn reason(&self) -> Option<Arc<str>> {
        self.reason.clone()
    }

    /// The message whose submit keys were sent, with its text, while the screen does not say what became of it.
    pub(super) fn submitted(&self) -> Option<(MessageId, &str)> {
        let entry = self.entry.as_ref()?;
        let is_sent = matches!(entry.step, Step::Submitting | Step::Verifying | Step::Clearing);
        is_sent.then_some((entry.message_id, entry.text.as_str()))
    }

    /// The message that was submitted last and was not seen taken.
    pub(super) fn entered_in_vain(&self) -> Option<MessageId> {
        self.tried.map(|(message_id, _)| message_id)
    }

    /// The program says that it took a message; tells whether it was being entered. What may be typed next the screen
    /// says, as always.
    pub(super) fn taken(&mut self, message_id: MessageId) -> bool {
        self.tried.take_if(|(of, _)| *of == message_id);
        let was_entered = self.entry.take_if(|entry| entry.message_id == message_id).is_some();
        if was_entered {
            self.rests = Some((Instant::now() + TURN_SHOWN_TIME, BEGINNING));
        }
        was_entered
    }

    /// Lets a program that shows an error rest. The messages behind would meet the same one: it is of its provider, as
    /// a rule, and lasts longer than the screen needs.
    fn count_errors(&mut self, state: ScreenState, now: Instant) {
        match state {
            ScreenState::Error if !self.is_counted => {
                self.is_counted = true;
                let rest = ERROR_REST.saturating_mul(1 << self.errors.min(16)).min(ERROR_REST_MAX);
                self.errors = self.errors.saturating_add(1);
                self.rests = Some((now + rest, FAILED));
            }
            ScreenState::Idle => {
                (self.errors, self.is_counted) = (0, false);
                self.rests = self.rests.filter(|(_, why)| *why != FAILED);
            }
            ScreenState::Busy => self.is_counted = false,
            ScreenState::Error | ScreenState::Dialog | ScreenState::QuotaPaused | ScreenState::Unknown => {}
        }
    }

    /// What the screen said when it was read last, if it shows this much output and may be acted on.
    fn current(&self, head: u64) -> Option<&Reading> {
        self.reading.as_ref().filter(|_| self.is_certain && self.read_head == head)
    }
}

/// Whether a message may be entered now.
fn opens(reading: Option<&Reading>, mode: DeliveryMode, adapter: &Adapter) -> Result<(), &'static str> {
    let Some(reading) = reading else { return Err("its screen is not read yet") };
    let is_steered = mode == DeliveryMode::Steer && adapter.steers;
    match reading.state {
        // An error that leaves a composer ends one turn, not the program.
        ScreenState::Idle | ScreenState::Error => {}
        ScreenState::Busy if is_steered => {}
        ScreenState::Busy => return Err("a turn runs"),
        ScreenState::Dialog => return Err("a dialog is open"),
        ScreenState::QuotaPaused => return Err("its quota is used up"),
        ScreenState::Unknown => return Err("its screen is not understood"),
    }
    match &reading.composer {
        None => Err("its composer is not seen"),
        Some(composer) if composer.is_empty() => Ok(()),
        Some(_) => Err("somebody's text is in its composer"),
    }
}

/// The text of a message as a composer shows it, and the keys that bring it there.
fn keys(rendered: &Rendered, adapter: &Adapter, comment: Option<&str>) -> (String, Vec<u8>) {
    let comment = comment.unwrap_or_default();
    let marked = |line: &String| format!("{comment}{line}");
    let lines: Vec<String> = rendered
        .head
        .iter()
        .map(marked)
        .chain(rendered.body.iter().cloned())
        .chain(rendered.tail.iter().map(marked))
        .collect();
    let text = lines.join("\n");
    let bytes = match adapter.paste {
        // The line end of a terminal is what the Enter key sends, also in what is pasted.
        Paste::Bracketed => format!("\u{1b}[200~{}\u{1b}[201~", lines.join("\r")).into_bytes(),
        Paste::Lines => {
            let typing = terminal::Typing {
                comment: Some(comment.to_owned()).filter(|comment| !comment.is_empty()),
                submit: adapter.submit.as_bytes().to_vec(),
            };
            terminal::keys(rendered, &typing)
        }
    };
    (text, bytes)
}

impl Actor {
    /// Whether the screen is read before anything is typed.
    pub(super) fn is_gated(&self) -> bool {
        matches!(self.manifest.spec.driver, Driver::Terminal { adapter: Some(_), .. })
    }

    pub(super) fn adapter(&self) -> Option<Arc<Adapter>> {
        let Driver::Terminal { adapter: Some(name), .. } = &self.manifest.spec.driver else { return None };
        self.shared.adapters.get(name.as_str())
    }

    fn head(&self) -> u64 {
        self.live.as_ref().map_or(0, |live| live.head)
    }

    fn is_read(&self) -> bool {
        self.is_gated() && matches!(self.life.state(), State::Running(_)) && self.live.is_some()
    }

    /// When the screen is to be read, or what is being entered looked at.
    pub(super) fn gate_timer(&self) -> Option<Instant> {
        self.gate_at(Instant::now())
    }

    fn gate_at(&self, now: Instant) -> Option<Instant> {
        let live = self.live.as_ref().filter(|_| self.is_read())?;
        let gate = &self.gate;
        let is_unread = live.head > gate.read_head;
        let settled = live.output_at.map_or(now, |at| at + SETTLE);
        let read_at = gate.unread_since.map_or(settled, |since| settled.min(since + UNSETTLED_MAX));
        let entry = gate.entry.as_ref().and_then(Entry::deadline);
        let read = is_unread.then_some(read_at);
        read.into_iter().chain(entry).chain(gate.rests.map(|(until, _)| until)).min()
    }

    pub(super) async fn gate_due(&mut self, now: Instant) {
        if self.gate_at(now).is_none_or(|at| at > now) {
            return;
        }
        let Some(live) = &self.live else { return };
        if live.head > self.gate.read_head {
            let is_settled = live.output_at.is_none_or(|at| at + SETTLE <= now);
            let since = *self.gate.unread_since.get_or_insert(now);
            if is_settled || since + UNSETTLED_MAX <= now {
                self.read_screen(is_settled).await;
            }
        }
        if self.gate.rests.is_some_and(|(until, _)| until <= now) {
            self.gate.rests = None;
            // An error that stands there still after a message was taken is the next one.
            if let Some(state) = self.gate.current(self.head()).map(|reading| reading.state) {
                self.gate.count_errors(state, now);
            }
        }
        self.go_on_entering().await;
        if self.gate.entry.is_none() {
            self.gate.reason = None;
            self.pump().await;
        }
    }

    async fn read_screen(&mut self, is_settled: bool) {
        let Some(adapter) = self.adapter() else {
            self.gate.read_head = self.head();
            self.gate.reading = None;
            return;
        };
        if self.live.as_ref().is_some_and(|live| live.screen.as_ref().is_none_or(|s| s.offset() < live.head))
        {
            self.show_all().await;
        }
        let Some((view, offset)) =
            self.live.as_ref().and_then(|live| live.screen.as_ref()).map(|s| (s.view(), s.offset()))
        else {
            return;
        };
        let reading = adapter.read(&view);
        let is_same = self.gate.reading.as_ref() == Some(&reading);
        self.gate.is_certain = is_settled || is_same;
        self.gate.read_head = offset;
        self.gate.unread_since = None;
        let is_beginning = self.gate.rests.is_some_and(|(_, why)| why == BEGINNING);
        let is_begun = !reading.state.takes_text() && reading.state != ScreenState::Unknown;
        if is_beginning && is_begun {
            self.gate.rests = None;
        }
        if self.gate.is_certain {
            self.gate.count_errors(reading.state, Instant::now());
        }
        self.report_activity(reading.state);
        self.gate.reading = Some(reading);
    }

    /// What the screen says is less than what the program says itself.
    fn report_activity(&mut self, state: ScreenState) {
        if matches!(self.activity.evidence, Evidence::Protocol | Evidence::Hook) {
            return;
        }
        let state = match state {
            ScreenState::Idle => Activity::Idle,
            ScreenState::Busy => Activity::Working,
            ScreenState::Dialog => Activity::AwaitingApproval,
            ScreenState::QuotaPaused => Activity::QuotaPaused,
            ScreenState::Error => Activity::Error,
            ScreenState::Unknown => Activity::Unknown,
        };
        self.activity = ActivityReport { state, evidence: Evidence::Screen };
    }

    /// Whether a message may be entered now; if not, the reason is kept, and the next reading asks again.
    pub(super) fn gate_lets(&mut self, row: &MessageRow) -> bool {
        let (message_id, mode) = (row.envelope.id, row.envelope.mode);
        let Some(adapter) = self.adapter() else {
            self.gate.reason = Some("its adapter is not there".into());
            return false;
        };
        let is_spent = self.gate.tried.is_some_and(|(id, times)| id == message_id && times >= ATTEMPTS_MAX);
        let head = self.head();
        let answer = if is_spent {
            Err("its program did not take the message, however often it was entered")
        } else if let Some((_, why)) = self.gate.rests {
            Err(why)
        } else {
            opens(self.gate.current(head), mode, &adapter)
        };
        let is_busy = self.gate.current(head).is_some_and(|reading| reading.state == ScreenState::Busy);
        if is_busy && mode == DeliveryMode::Interrupt && self.gate.interrupted != Some(message_id) {
            self.gate.interrupted = Some(message_id);
            if let Some(keys) = &adapter.interrupt {
                self.type_keys(keys.as_bytes());
            }
        }
        self.gate.reason = answer.err().map(Into::into);
        answer.is_ok()
    }

    fn type_keys(&mut self, bytes: &[u8]) {
        let mut id = [0; 16];
        self.shared.record.mint().entropy.fill(&mut id);
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes });
        }
    }

    /// Begins to enter a message.
    pub(super) fn enter(&mut self, envelope: &Envelope, parts: &[Part], attempt: Attempt) {
        let Some((text, bytes)) = self.typed(envelope, parts, attempt) else { return };
        let message_id = envelope.id;
        let before = self.gate.tried.filter(|(id, _)| *id == message_id).map_or(0, |(_, times)| times);
        let number = before.saturating_add(1).min(ATTEMPTS_MAX);
        let head = self.head();
        let entry =
            Entry { message_id, attempt: number, text, step: Step::Pasting, since: Instant::now(), head };
        self.delivery.too_long = terminal::check(&bytes).err();
        self.gate.entry = Some(entry);
        self.delivery.in_flight = Some(message_id);
        self.write_stage(Stage::Paste, &bytes);
    }

    /// A message's text and the keys that enter it.
    pub(super) fn typed(
        &self,
        envelope: &Envelope,
        parts: &[Part],
        attempt: Attempt,
    ) -> Option<(String, Vec<u8>)> {
        self.typed_behind(&self.lead_words(), envelope, parts, attempt)
    }

    /// The same with lines of the node ahead of it.
    pub(super) fn typed_behind(
        &self,
        led: &[String],
        envelope: &Envelope,
        parts: &[Part],
        attempt: Attempt,
    ) -> Option<(String, Vec<u8>)> {
        let Driver::Terminal { comment, .. } = &self.manifest.spec.driver else { return None };
        let adapter = self.adapter()?;
        let mut rendered = render::render(envelope, parts, attempt, Bounds::TERMINAL);
        rendered.head.splice(..0, led.iter().cloned());
        Some(keys(&rendered, &adapter, comment.as_deref().or(adapter.comment.as_deref())))
    }

    /// Has the shim write a stage of what is being entered.
    pub(super) fn write_stage(&mut self, stage: Stage, bytes: &[u8]) {
        let (before, after) = match stage {
            Stage::Paste => ("paste.before", "paste.after"),
            Stage::Submit => ("submit.before", "submit.after"),
            Stage::Clear => ("clear.before", "clear.after"),
        };
        let Some(entry) = &self.gate.entry else { return };
        let id = stage.id(entry.message_id, entry.attempt);
        self.shared.failpoint(before);
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::Input { id, kind: InputKind::Message, bytes });
        }
        self.shared.failpoint(after);
    }

    /// Takes what the shim says of a stage; false if it is of nothing that is being entered.
    pub(super) async fn entered(&mut self, id: [u8; 16], outcome: InputOutcome) -> bool {
        let head = self.head();
        let Some((message_id, attempt, stage)) = Stage::of(id) else { return false };
        let Some(entry) = &mut self.gate.entry else { return false };
        if (entry.message_id, entry.attempt) != (message_id, attempt) {
            return false;
        }
        let is_awaited = matches!(
            (stage, entry.step),
            (Stage::Paste, Step::Pasting)
                | (Stage::Submit, Step::Submitting)
                | (Stage::Clear, Step::Clearing)
        );
        if !is_awaited {
            return true;
        }
        match (stage, outcome) {
            (_, InputOutcome::Queued | InputOutcome::Closed | InputOutcome::Unknown) => {}
            (Stage::Paste, InputOutcome::LineTooLong) => {
                let line = self.delivery.too_long.take().map(|line| line.to_string());
                let reason = line.unwrap_or_else(|| "too_large: the terminal would cut a line".to_owned());
                self.settle_entry([Fact::MessageRejected { message_id, reason }]).await;
                self.pump().await;
            }
            // Nothing of it was written: it is entered anew.
            (Stage::Paste, InputOutcome::Full) => {
                self.gate.entry = None;
                self.delivery.in_flight = None;
                self.delivery.retry_at = Some(Instant::now() + delivery::FULL_RETRY);
            }
            (Stage::Submit | Stage::Clear, InputOutcome::Full | InputOutcome::LineTooLong) => {
                // Keys are short and go in as they are; a full shim is asked again when this step is late.
                entry.go_on(if stage == Stage::Submit { Step::Checking } else { Step::Clearing }, head);
            }
            (_, InputOutcome::Written | InputOutcome::Duplicate) => {
                self.stage_written(stage).await;
            }
        }
        true
    }

    async fn stage_written(&mut self, stage: Stage) {
        let head = self.head();
        let is_lines = self.adapter().is_some_and(|adapter| adapter.paste == Paste::Lines);
        let Some(entry) = &mut self.gate.entry else { return };
        match stage {
            Stage::Paste if is_lines => {
                let before = entry.head;
                entry.go_on(Step::Verifying, before);
            }
            Stage::Paste => entry.go_on(Step::Checking, head),
            // What was drawn while the keys were on their way counts.
            Stage::Submit => {
                let before = entry.head;
                entry.go_on(Step::Verifying, before);
            }
            Stage::Clear => {}
        }
        self.go_on_entering().await;
    }

    /// Looks at what is being entered and goes on as far as the screen allows.
    pub(super) async fn go_on_entering(&mut self) {
        let head = self.head();
        let Some(adapter) = self.adapter() else { return };
        let Some(entry) = &self.gate.entry else { return };
        // A program that never comes to rest is late one day, too.
        let reading = self.gate.current(head).or(self.gate.reading.as_ref().filter(|_| entry.is_late()));
        let Some(reading) = reading else { return };
        let held = reading.composer.as_ref().map(|composer| composer.holds(&entry.text));
        let state = reading.state;
        match entry.step {
            Step::Pasting | Step::Submitting => {}
            Step::Checking => self.check_pasted(&adapter, state, held).await,
            Step::Verifying if adapter.paste == Paste::Lines => self.verify_lines(state, held).await,
            Step::Verifying => self.verify_submitted(&adapter, state, held).await,
            Step::Clearing => self.check_cleared(state, held).await,
        }
    }

    async fn check_pasted(&mut self, adapter: &Adapter, state: ScreenState, held: Option<Held>) {
        let head = self.head();
        let Some(entry) = &mut self.gate.entry else { return };
        let may_submit = state.takes_text() || (state == ScreenState::Busy && adapter.steers);
        if may_submit && held == Some(Held::Ours) {
            self.shared.failpoint("shown.before");
            entry.go_on(Step::Submitting, head);
            self.gate.reason = None;
            self.shared.failpoint("shown.after");
            return self.write_stage(Stage::Submit, adapter.submit.as_bytes());
        }
        if !entry.is_late() {
            return;
        }
        let is_gone = held == Some(Held::Nothing) && state != ScreenState::Unknown;
        if is_gone {
            return self
                .doubt_entry("what was pasted is gone from the composer, and nobody submitted it")
                .await;
        }
        // It waits as it is: when the dialog is over or the other text is taken out, it goes on.
        let why = match state {
            ScreenState::Dialog => "a dialog opened while a message was being entered",
            ScreenState::Unknown => "its screen is not understood while a message is being entered",
            _ if held == Some(Held::Other) => "what was pasted is not what its composer shows",
            _ => "a message that was pasted cannot be submitted yet",
        };
        entry.since = Instant::now();
        self.gate.reason = Some(why.into());
    }

    async fn verify_submitted(&mut self, adapter: &Adapter, state: ScreenState, held: Option<Held>) {
        let head = self.head();
        let is_certain = self.gate.current(head).is_some();
        let Some(entry) = &mut self.gate.entry else { return };
        let message_id = entry.message_id;
        let moved = head > entry.head && state != ScreenState::Unknown;
        let is_gone = match held {
            Some(held) => held == Held::Nothing,
            None => !matches!(state, ScreenState::Idle | ScreenState::Unknown),
        };
        if moved && is_gone {
            return self.seen_submitted(message_id).await;
        }
        if !entry.is_late() {
            return;
        }
        match (held, &adapter.clear) {
            // What is still in motion may be about to show that it was taken.
            (Some(Held::Ours), _) if !is_certain => entry.since = Instant::now(),
            (Some(Held::Ours), Some(clear)) if state.takes_text() => {
                entry.go_on(Step::Clearing, head);
                self.write_stage(Stage::Clear, clear.as_bytes());
            }
            _ => self.doubt_entry("it was submitted, and the screen does not say what became of it").await,
        }
    }

    /// Lines were typed into a shell or an interpreter: they are echoed, and then either run or have run.
    async fn verify_lines(&mut self, state: ScreenState, held: Option<Held>) {
        let head = self.head();
        let Some(entry) = &self.gate.entry else { return };
        let (message_id, is_late) = (entry.message_id, entry.is_late());
        let echoed = head.saturating_sub(entry.head);
        let is_echoed = echoed >= u64::try_from(entry.text.len()).unwrap_or(u64::MAX);
        let is_over = state == ScreenState::Idle && held == Some(Held::Nothing);
        // A long line is shown in several rows.
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        let last = letters(entry.text.lines().next_back().unwrap_or_default());
        let shown = || {
            let screen = self.live.as_ref().and_then(|live| live.screen.as_ref());
            screen.is_some_and(|screen| !last.is_empty() && letters(&screen.text()).contains(&last))
        };
        if is_echoed && (is_over || (held.is_none() && shown())) {
            return self.seen_submitted(message_id).await;
        }
        if is_late {
            self.doubt_entry("its lines were typed, and the screen does not say what became of them").await;
        }
    }

    async fn check_cleared(&mut self, state: ScreenState, held: Option<Held>) {
        let Some(entry) = &mut self.gate.entry else { return };
        if state.takes_text() && held == Some(Held::Nothing) {
            self.shared.failpoint("cleared.before");
            self.gate.tried = Some((entry.message_id, entry.attempt));
            self.gate.rests = Some((Instant::now() + REST, NOT_TAKEN));
            self.gate.entry = None;
            self.delivery.in_flight = None;
            self.shared.failpoint("cleared.after");
            return Box::pin(self.pump()).await;
        }
        if entry.is_late() {
            entry.since = Instant::now();
            self.gate.reason = Some("its program took neither the submit key nor the keys that clear".into());
        }
    }
}
