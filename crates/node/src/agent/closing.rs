//! The last words before a planned end: why the epoch ends, and time to save what is to be kept.
//!
//! That an epoch is closing is durable with the intent to end it. A program that has a word for it is told once, by
//! whichever daemon; its answer, or the end of its time, is durable too, so that nobody waits for it again. Ends that
//! nobody planned have no closing, and neither has that of a program that its probe found sick.

use std::time::Duration;

use edgeplane_driver::native as lines;
use edgeplane_lifecycle::{Input, State};
use edgeplane_manifest::Driver;
use edgeplane_types::{
    Epoch, Fact, OverrideKind,
    fact::{Cause, ClosingReason, ToldBy},
};
use edgeplane_wire::shim::{InputKind, ToShim};
use tokio::time::Instant;

use super::{Actor, native, rehydration};
use crate::record::{Draft, Origin};

/// An epoch whose program was told, or is to be told, that it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closing {
    epoch: Epoch,
    reason: ClosingReason,
    grace_ms: u64,
    /// Until when its answer is waited for, once it was told.
    until: Option<Instant>,
}

impl Actor {
    /// Adds to the facts of a step that an epoch whose program runs is closing, where its end is planned.
    pub(super) fn with_closing(&self, input: Input, facts: Vec<Fact>) -> Vec<Fact> {
        let runs = matches!(self.life.state(), State::Running(_) | State::Frozen(_));
        let Some(reason) = self.closing_reason(input).filter(|_| runs) else { return facts };
        let told_by = if self.closing_line(reason, 0).is_some() { ToldBy::Protocol } else { ToldBy::Signal };
        let stop = &self.manifest.spec.stop;
        let grace_ms = match told_by {
            ToldBy::Protocol => stop.close_grace.as_millis(),
            ToldBy::Signal => stop.grace.as_millis(),
        };
        let mut with = Vec::with_capacity(facts.len().saturating_add(1));
        for fact in facts {
            let closing = match &fact {
                Fact::AgentStopping { epoch, .. } => {
                    Some(Fact::SessionClosing { epoch: *epoch, reason, told_by, grace_ms })
                }
                _ => None,
            };
            with.push(fact);
            with.extend(closing);
        }
        with
    }

    fn closing_reason(&self, input: Input) -> Option<ClosingReason> {
        match input {
            Input::Hibernate(Cause::Task) | Input::Restart(Cause::Task) => Some(ClosingReason::Task),
            Input::Hibernate(_) => Some(ClosingReason::Idle),
            Input::Stop(_) | Input::Hold(Some(OverrideKind::Stop)) => Some(ClosingReason::Stop),
            // It does not answer as it should, or not at all.
            Input::Restart(Cause::Probe) => None,
            Input::Restart(Cause::Update) => Some(ClosingReason::Update),
            Input::Restart(_) => Some(ClosingReason::Restart),
            Input::Retire if self.replicas.is_surplus => Some(ClosingReason::ScaleDown),
            Input::Retire => Some(ClosingReason::Retire),
            Input::Start(_)
            | Input::Hold(_)
            | Input::Freeze
            | Input::Thaw
            | Input::Release
            | Input::Launched(_)
            | Input::LaunchFailed(_)
            | Input::Exited { .. }
            | Input::ShimLost(_)
            | Input::Adopted { .. }
            | Input::TreeSeenEmpty(_)
            | Input::TreeInDoubt(_)
            | Input::Froze(_)
            | Input::Thawed(_)
            | Input::BackoffElapsed => None,
        }
    }

    /// The line by which its program is told, if it has a word for it.
    fn closing_line(&self, reason: ClosingReason, grace_ms: u64) -> Option<Vec<u8>> {
        match &self.manifest.spec.driver {
            Driver::Native { .. } => {
                let wants = self.manifest.spec.offers.closing;
                wants.then(|| lines::session_closing(reason.as_str(), grace_ms))
            }
            Driver::Acp { .. } => self.acp()?.closing_line(),
            Driver::Exec { .. } | Driver::Terminal { .. } => None,
        }
    }

    /// It is durable that an epoch is closing.
    pub(super) fn closing_noted(
        &mut self,
        (epoch, reason): (Epoch, ClosingReason),
        told_by: ToldBy,
        grace_ms: u64,
    ) {
        let is_told = told_by == ToldBy::Protocol && grace_ms > 0;
        self.closing = is_told.then_some(Closing { epoch, reason, grace_ms, until: None });
    }

    /// Tells the program of a closing epoch; says whether there is anything to wait for.
    pub(super) fn begin_closing(&mut self, epoch: Epoch) -> bool {
        let Some(closing) = self.closing.filter(|closing| closing.epoch == epoch) else { return false };
        let line = self.closing_line(closing.reason, closing.grace_ms);
        let link = self.live.as_mut().and_then(|live| live.link.as_mut());
        let (Some(line), Some(link)) = (line, link) else {
            self.closing = None;
            return false;
        };
        self.shared.failpoint("closing.before");
        // The id of nothing else: it is told once, however often a daemon comes to this.
        let id = native::input_id(epoch, u64::MAX.saturating_sub(1));
        link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: &line });
        let until = Instant::now() + Duration::from_millis(closing.grace_ms);
        self.closing = Some(Closing { until: Some(until), ..closing });
        true
    }

    pub(super) fn closing_timer(&self) -> Option<Instant> {
        self.closing.and_then(|closing| closing.until)
    }

    pub(super) async fn closing_due(&mut self, now: Instant) {
        if self.closing_timer().is_some_and(|at| at <= now) {
            self.program_closed(None).await;
        }
    }

    /// The program has said that it is ready, with the place of its word, or its time is over.
    pub(super) async fn program_closed(&mut self, said: Option<(Epoch, u64)>) {
        let Some(closing) = self.closing.take_if(|closing| closing.until.is_some()) else { return };
        let epoch = closing.epoch;
        let origin = match said {
            Some((epoch, end)) => self.native_origin(epoch, end),
            None => Origin::node("closing"),
        };
        let mut draft = Draft::default();
        let fact = Fact::SessionClosed { epoch, answered: said.is_some() };
        self.shared.record.add(&mut draft, self.stream(), &origin, fact);
        // Behind what it made durable before, and never in the way of its end.
        self.pending(draft.critical()).await;
        self.shared.failpoint("closing.after");
        self.stop_closed(epoch);
    }

    /// Goes on with a closing that a former daemon began in an epoch that lives on.
    pub(super) async fn recall_closing(&mut self, epoch: Epoch) {
        let (stream, now) = (self.stream(), self.shared.record.now());
        let read =
            move |reader: &edgeplane_store::Reader| reader.last_events(&stream, rehydration::EVENTS_MAX);
        let Ok(events) = self.shared.record.read(read).await else { return };
        for committed in events.iter().rev() {
            match &committed.event.fact {
                Fact::SessionClosed { epoch: of, .. } if *of == epoch => return,
                Fact::SessionClosing { epoch: of, reason, told_by, grace_ms } if *of == epoch => {
                    // What is left of its time; it may have had none of it.
                    let spent = now.millis_since(committed.event.ts);
                    let left = grace_ms.saturating_sub(spent).max(1).min(*grace_ms);
                    return self.closing_noted((epoch, *reason), *told_by, left);
                }
                _ => {}
            }
        }
    }
}
