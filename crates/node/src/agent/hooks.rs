//! What the hooks of a terminal program say, as facts.
//!
//! A report is the agent's word about itself: whatever runs inside the agent can make one. It is evidence of what the
//! program took and did, better than the screen's; it opens no gate, answers no dialog, and makes no word of the agent
//! weigh more. A prompt proves something only if it is exactly what was typed and submitted.

mod install;

use std::time::Duration;

use edgeplane_driver::{
    hooks::{self as driver, HookKind, Told, Way},
    render::Attempt,
};
use edgeplane_manifest::Driver;
use edgeplane_store::{MessageRow, SessionRow};
use edgeplane_types::{
    Activity, ActivityReport, Continuity, Epoch, ErrorName, EventId, Evidence, Fact, MessageId, Rung,
    SafeLabel, Timestamp,
};
use edgeplane_wire::{
    api::{agent::HooksView, report::HookResult},
    rpc::RpcError,
};
use serde_json::Value;
use tokio::time::Instant;

use super::Actor;
use crate::record::{Draft, Origin, refused};

pub(super) use install::{Hooking, Installed, install};

/// How long a hook's word holds against a screen that shows something else, which may not be drawn yet.
const HOLDS: Duration = Duration::from_secs(3);

/// Messages of an epoch that a prompt may be; older ones whose prompt was never reported are not looked at.
const TYPED_MAX: usize = 16;

/// Longest text of a prompt that nobody here typed, as it is kept, in bytes.
const FOREIGN_BYTES_MAX: usize = 64 << 10;

/// An epoch that was to go on with a session and failed within this time, in milliseconds, without a word of its hooks:
/// the session is taken for lost.
const LOST_MS: u64 = 60_000;

/// The kind of an item that is a prompt which nobody here typed.
const PROMPT: &str = "prompt";

/// The kind of an item that says what a person is asked.
const DIALOG: &str = "dialog";

/// What is known of the hooks of an epoch.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    installed: Option<Installed>,
    /// What the program is doing as its hooks say, and since when.
    said: Option<(Activity, Instant)>,
    asks: Option<String>,
    heard_at: Option<Timestamp>,
    /// What the program calls the session of this epoch.
    session: Option<String>,
}

/// What one report amounts to: noted all at once or not at all.
#[derive(Default)]
struct Noted {
    draft: Draft,
    events: Vec<EventId>,
    taken: Vec<MessageId>,
    ended: Vec<MessageId>,
    said: Option<Activity>,
    /// What is asked now, or that nothing is any more.
    asks: Option<Option<String>>,
    session: Option<(String, Continuity)>,
}

/// A message that was typed, and what its prompt may look like.
struct Typed {
    message_id: MessageId,
    texts: Vec<String>,
    is_injected: bool,
}

impl Actor {
    /// The hooks that this agent's program has and that its manifest wants.
    pub(super) fn hook_kind(&self) -> Option<HookKind> {
        let Driver::Terminal { hooks: true, .. } = &self.manifest.spec.driver else { return None };
        self.adapter()?.hooks
    }

    /// Takes a report of the program of `epoch`.
    pub(super) async fn hook_report(
        &mut self,
        (epoch, kind): (Epoch, HookKind),
        report: &Value,
        origin: &Origin,
    ) -> Result<HookResult, RpcError> {
        let name = &self.identity.name;
        if self.live.as_ref().map(|live| live.place.epoch) != Some(epoch) {
            return Err(RpcError::new(ErrorName::Fenced, format!("epoch {epoch} of `{name}` does not live")));
        }
        if self.hook_kind() != Some(kind) {
            let what = format!("agent `{name}` has no hooks of {}", kind.as_str());
            return Err(RpcError::new(ErrorName::Unsupported, what)
                .hint("its adapter names the kind, and `hooks: false` of its driver turns them off"));
        }
        let told = driver::read(kind, report)
            .map_err(|error| RpcError::new(ErrorName::InvalidParams, error.to_string()))?;
        let mut noted = Noted::default();
        for word in told {
            self.note_told(&mut noted, (epoch, kind), word, origin)?;
        }
        self.shared.failpoint("hook.before");
        let draft = std::mem::take(&mut noted.draft);
        if !draft.is_empty() {
            self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        }
        self.shared.failpoint("hook.after");
        let result = HookResult {
            epoch,
            events: noted.events.clone(),
            taken: noted.taken.clone(),
            ended: noted.ended.clone(),
        };
        self.keep(noted);
        self.pump().await;
        Ok(result)
    }

    fn note_told(
        &mut self,
        noted: &mut Noted,
        (epoch, kind): (Epoch, HookKind),
        told: Told,
        origin: &Origin,
    ) -> Result<(), RpcError> {
        match told {
            Told::Prompt(text) => self.note_prompt(noted, epoch, &text, origin)?,
            Told::TurnEnded { outcome, output } => self.note_end(noted, epoch, (outcome, output), origin)?,
            Told::Asks(what) => {
                noted.said = Some(Activity::AwaitingApproval);
                let is_new = self.hooks.asks.as_ref() != Some(&what);
                if is_new {
                    self.note_item(noted, (epoch, DIALOG), &what, origin);
                }
                noted.asks = Some(Some(what));
            }
            Told::Rests => (noted.said, noted.asks) = (Some(Activity::Idle), Some(None)),
            Told::Session { name, way } => self.note_session(noted, (epoch, kind), (name, way), origin)?,
            Told::Tool { call, status, value } => {
                let item_id = self.item_id(epoch, &format!("hook {call}"));
                let (body_digest, body_bytes) = noted.draft.body(value.to_string().into_bytes());
                let fact = Fact::ItemUpdated {
                    epoch,
                    item_id,
                    kind: SafeLabel::sanitized("tool_call"),
                    status: Some(SafeLabel::sanitized(status)),
                    body_digest,
                    body_bytes,
                    message_id: self.observed(epoch)?.first().map(|row| row.envelope.id),
                    authority: Some(self.weight_of_words(epoch)),
                };
                self.note(noted, fact, origin);
                noted.said = Some(Activity::Working);
                // What is used up or begins anew is not asked for any more.
                noted.asks = Some(None);
            }
        }
        Ok(())
    }

    fn note(&self, noted: &mut Noted, fact: Fact, origin: &Origin) {
        let event = self.shared.record.add(&mut noted.draft, self.stream(), origin, fact);
        noted.events.push(event);
    }

    fn note_item(&mut self, noted: &mut Noted, (epoch, kind): (Epoch, &str), text: &str, origin: &Origin) {
        let text = text.get(..text.floor_char_boundary(FOREIGN_BYTES_MAX)).unwrap_or_default();
        let (body_digest, body_bytes) = noted.draft.body(text.as_bytes().to_vec());
        let fact = Fact::ItemReported {
            epoch,
            kind: SafeLabel::sanitized(kind),
            body_digest,
            body_bytes,
            message_id: None,
            authority: Some(self.weight_of_words(epoch)),
        };
        self.note(noted, fact, origin);
    }

    /// A prompt that is exactly what was typed shows that the program took it; any other is somebody else's.
    fn note_prompt(
        &mut self,
        noted: &mut Noted,
        epoch: Epoch,
        text: &str,
        origin: &Origin,
    ) -> Result<(), RpcError> {
        noted.said = Some(Activity::Working);
        let typed = self.typed_texts(epoch)?;
        let is_it = |typed: &&Typed| {
            !noted.taken.contains(&typed.message_id) && typed.texts.iter().any(|it| driver::is_same(text, it))
        };
        let Some(found) = typed.iter().find(is_it) else {
            self.note_item(noted, (epoch, PROMPT), text, origin);
            return Ok(());
        };
        let (message_id, evidence) = (found.message_id, Evidence::Hook);
        if !found.is_injected {
            self.note(noted, Fact::MessageInjected { message_id, epoch, evidence }, origin);
        }
        self.note(noted, Fact::MessageObserved { message_id, epoch, evidence }, origin);
        noted.taken.push(message_id);
        Ok(())
    }

    /// What was typed in this epoch and not reported yet, oldest first. What is not submitted yet was typed by nobody.
    fn typed_texts(&self, epoch: Epoch) -> Result<Vec<Typed>, RpcError> {
        let mut typed: Vec<Typed> = self
            .given(epoch)?
            .into_iter()
            .rev()
            .filter(|row| !is_observed(row))
            .filter_map(|row| self.as_typed(&row, true))
            .collect();
        if let Some((message_id, text)) = self.gate.submitted() {
            typed.push(Typed { message_id, texts: vec![text.to_owned()], is_injected: false });
        } else if let Some(message_id) = self.gate.entered_in_vain() {
            let row = self.shared.record.look_up(|reader| reader.message(&message_id))?;
            let waits = row.filter(|row| row.waiting && self.gate.entry.is_none());
            typed.extend(waits.and_then(|row| self.as_typed(&row, false)));
        }
        Ok(typed)
    }

    /// The newest messages that the program of an epoch was given and whose turn is not over, newest first.
    fn given(&self, epoch: Epoch) -> Result<Vec<MessageRow>, RpcError> {
        let id = self.identity.id;
        self.shared.record.look_up(|reader| {
            let turns = reader.newest_turns(&id, epoch, TYPED_MAX)?;
            let rows = turns.into_iter().map(|turn| reader.message(&turn.message_id));
            Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        })
    }

    /// The messages whose turn runs as the program's hooks say, newest first.
    fn observed(&self, epoch: Epoch) -> Result<Vec<MessageRow>, RpcError> {
        Ok(self.given(epoch)?.into_iter().filter(is_observed).collect())
    }

    fn as_typed(&self, row: &MessageRow, is_injected: bool) -> Option<Typed> {
        let parts = self.content(&row.envelope).ok()?;
        let led = self.led_by();
        let mut texts = Vec::new();
        for attempt in [Attempt::First, Attempt::Again] {
            for led in [&[][..], led.as_slice()] {
                texts.extend(self.typed_behind(led, &row.envelope, &parts, attempt).map(|(text, _)| text));
            }
        }
        Some(Typed { message_id: row.envelope.id, texts, is_injected })
    }

    fn note_end(
        &mut self,
        noted: &mut Noted,
        epoch: Epoch,
        (outcome, output): (&'static str, String),
        origin: &Origin,
    ) -> Result<(), RpcError> {
        let before = self.observed(epoch)?.into_iter().rev().map(|row| row.envelope.id);
        let ended: Vec<MessageId> = before.chain(noted.taken.iter().copied()).collect();
        let (output_digest, output_bytes) = noted.draft.body(output.into_bytes());
        let turn_id = self.turn_id_of(ended.last().copied());
        let turn = Fact::TurnCompleted {
            turn_id,
            epoch,
            message_id: ended.last().copied(),
            output_digest,
            output_bytes,
            authority: Some(self.weight_of_words(epoch)),
            outcome: Some(SafeLabel::sanitized(outcome)),
        };
        self.note(noted, turn, origin);
        for message_id in &ended {
            let fact = Fact::MessageTurnEnded { message_id: *message_id, epoch, evidence: Evidence::Hook };
            self.note(noted, fact, origin);
        }
        noted.ended = ended;
        (noted.said, noted.asks) = (Some(Activity::Idle), Some(None));
        Ok(())
    }

    fn note_session(
        &self,
        noted: &mut Noted,
        (epoch, kind): (Epoch, HookKind),
        (name, way): (String, Way),
        origin: &Origin,
    ) -> Result<(), RpcError> {
        let id = self.identity.id;
        let known = self.shared.record.look_up(|reader| reader.session(&id))?;
        let was = known.filter(|row| row.failure.is_none());
        let is_same = |row: &&SessionRow| row.native_id.as_deref() == Some(name.as_str());
        let same = was.as_ref().filter(is_same);
        if same.is_some_and(|row| row.opened_in == Some(epoch)) {
            return Ok(());
        }
        let goes_on = way == Way::Former || (way == Way::Untold && same.is_some_and(|row| !row.is_over));
        let continuity = match goes_on {
            true => Continuity::Full,
            // A session that its user begins anew knows nothing of the one before.
            false if self.hooks.session.is_some() => Continuity::None,
            false => self.continuity,
        };
        let (details_digest, details_bytes) = noted.draft.body(b"{}".to_vec());
        let fact = Fact::SessionOpened {
            epoch,
            native_id: name.clone(),
            continuity,
            program: None,
            lost: None,
            resumable: driver::resume_words(kind, &name, &[]).is_some(),
            closable: false,
            details_digest,
            details_bytes,
        };
        self.note(noted, fact, origin);
        noted.session = Some((name, continuity));
        Ok(())
    }

    /// Keeps what is in the record now.
    fn keep(&mut self, noted: Noted) {
        self.stir();
        self.hooks.heard_at = Some(self.shared.record.now());
        if let Some(said) = noted.said {
            self.hooks.said = Some((said, Instant::now()));
        }
        if let Some(asks) = noted.asks {
            self.hooks.asks = asks;
        }
        if let Some((name, continuity)) = noted.session {
            (self.hooks.session, self.continuity) = (Some(name), continuity);
        }
        for message_id in noted.taken {
            if self.gate.taken(message_id) {
                self.delivery.settled_by_word(message_id);
            }
        }
    }

    /// What the program is doing as its hooks say, while the screen does not show for a while that it is not so.
    pub(super) fn activity_by_hook(&self) -> Option<ActivityReport> {
        let (state, at) = self.hooks.said?;
        let seen = self.activity;
        let is_fresh = at.elapsed() < HOLDS;
        let shows_other =
            seen.evidence == Evidence::Screen && ![state, Activity::Unknown].contains(&seen.state);
        (is_fresh || !shows_other).then_some(ActivityReport { state, evidence: Evidence::Hook })
    }

    /// Whether a turn runs, as the program's hooks say.
    pub(super) fn works_by_hook(&self) -> bool {
        self.activity_by_hook().is_some_and(|report| report.state == Activity::Working)
    }

    /// How the epoch's hooks were installed, as its launch left it.
    pub(super) fn recall_hooks(&mut self) {
        let Some(live) = &self.live else { return };
        if self.hooks.installed.is_none() {
            self.hooks.installed = Installed::read(&live.place.dir);
        }
    }

    /// Whether the program was started so that it goes on with its former session.
    pub(super) fn goes_on_by_hook(&self) -> bool {
        self.hooks.installed.as_ref().is_some_and(|installed| installed.resumes.is_some())
    }

    pub(super) fn hooks_view(&self) -> Option<HooksView> {
        let installed = self.hooks.installed.as_ref()?;
        let asks = self.activity_by_hook().is_some_and(|report| report.state == Activity::AwaitingApproval);
        Some(HooksView {
            kind: SafeLabel::sanitized(&installed.kind),
            state: installed.state,
            reason: installed.reason.clone(),
            heard_at: self.hooks.heard_at,
            asks: self.hooks.asks.clone().filter(|_| asks),
        })
    }

    /// How the program of an epoch that is launched is to be given its hooks.
    pub(super) fn hooking(&self) -> Option<Hooking> {
        let Driver::Terminal { hooks: is_wanted, .. } = &self.manifest.spec.driver else { return None };
        let kind = self.adapter()?.hooks?;
        let spec = &self.manifest.spec;
        let remembers = spec.offers.resume && spec.state == edgeplane_manifest::StateKind::Stateful;
        let id = self.identity.id;
        let former = self.shared.record.look_up(|reader| reader.session(&id)).ok().flatten();
        let former = former.filter(|row| remembers && *is_wanted && row.failure.is_none());
        Some(Hooking {
            kind,
            is_wanted: *is_wanted,
            runs_as_another: spec.user.is_some(),
            cli: self.shared.cli.clone(),
            former: former.and_then(|row| row.handle().map(str::to_owned)),
        })
    }

    /// An epoch is over. If it was to go on with a session and failed at once, the next one begins anew.
    pub(super) async fn hooks_over(&mut self, epoch: Epoch) {
        let hooks = std::mem::take(&mut self.hooks);
        let Some(former) = hooks.installed.and_then(|installed| installed.resumes) else { return };
        let failed = self.ended.as_ref().is_some_and(|end| !end.status.is_success() && end.ran_ms < LOST_MS);
        if failed && hooks.session.is_none() {
            let reason = format!("its program does not go on with session {former}");
            self.note_fact(Fact::SessionFailed { epoch, reason }, &Origin::node("session")).await;
        }
    }
}

/// Whether the program said of its newest injection that it took it.
fn is_observed(row: &MessageRow) -> bool {
    let last = |rung| row.receipts.iter().rposition(|receipt| receipt.rung == rung);
    last(Rung::Observed).is_some_and(|observed| Some(observed) > last(Rung::Injected))
}

/// The kind that a caller names.
pub(crate) fn kind(word: &SafeLabel) -> Result<HookKind, RpcError> {
    HookKind::from_word(word.as_str()).ok_or_else(|| {
        let known = HookKind::ALL.map(HookKind::as_str).join(", ");
        RpcError::new(ErrorName::InvalidParams, format!("`{word}` is no kind of hooks: {known}"))
    })
}
