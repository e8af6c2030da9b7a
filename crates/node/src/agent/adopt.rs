//! Taking over what a former daemon left: live shims, ended ones, and those of which nobody knows.

use std::ops::ControlFlow;

use edgeplane_lifecycle::{Input, State};
use edgeplane_store::AgentRow;
use edgeplane_substrate::{Found, Place, Remains};
use edgeplane_types::{
    Desired, Epoch, Phase,
    fact::{Cause, TreeEvidence},
};
use edgeplane_wire::{
    cast::CastEvent,
    shim::{EpochState, Status},
};

use super::{Actor, facts::Ended, link::Link};
use crate::{caller::CallingAgent, record::Origin, recordings};

impl Actor {
    /// Looks at what the record says was there, and goes on from what is.
    pub(super) async fn recover(&mut self, row: &AgentRow, own: super::AgentHandle) {
        let origin = Origin::node("recovery");
        if !self.life.state().may_live() && row.epoch != Epoch(0) {
            // The former daemon may have died before it had sealed all of the last recording.
            self.seal_rest(row.epoch);
        }
        match self.life.state() {
            State::Unobservable { epoch, .. } => self.look_for(epoch, row, &origin).await,
            State::Backoff(_) => self.input(Input::BackoffElapsed, &origin).await,
            State::Hibernated(_) => self.wake().await,
            State::Quarantined(epoch) => {
                let rebooted = row.shim.as_ref().is_some_and(|shim| shim.boot_id != self.shared.boot_id);
                if rebooted {
                    self.ended = Some(Ended::unseen(TreeEvidence::Reboot, row.output_bytes));
                    self.input(Input::TreeSeenEmpty(epoch), &origin).await;
                }
            }
            _ => {}
        }
        // A set goes when its replicas are gone.
        if self.life.desired() == Desired::Retired && !self.life.state().may_live() && !self.is_set() {
            self.input(Input::Retire, &origin).await;
        }
        let waits = matches!(self.life.state().phase(), Phase::Declared | Phase::Stopped);
        let wanted = matches!(self.life.desired(), Desired::Running | Desired::Frozen);
        // An agent that ended by itself and is not restarted stays stopped; one that was never started is started.
        let ended_by_itself = row.phase == Phase::Stopped;
        if waits && wanted && !ended_by_itself {
            crate::server::start_when_ready(&self.shared, own, &self.manifest, Cause::Recovery);
        }
    }

    async fn look_for(&mut self, epoch: Epoch, row: &AgentRow, origin: &Origin) {
        let place = self.shared.place(self.identity.id, &self.identity.name, epoch);
        let mut live = self.unborn(place.clone());
        live.shim.clone_from(&row.shim);
        live.process.clone_from(&row.process);
        live.group.clone_from(&row.cgroup);
        live.started_at = row.started_at;
        live.lines = live.lines.map(|_| edgeplane_driver::lines::Lines::from_offset(row.consumed));
        live.head = row.consumed;
        self.live = Some(live);
        if row.shim.as_ref().is_some_and(|shim| shim.boot_id != self.shared.boot_id) {
            self.last_output_bytes = self.recorded_bytes(epoch);
            self.ended = Some(Ended::unseen(TreeEvidence::Reboot, self.last_output_bytes));
            self.settle_in_flight(epoch).await;
            self.finish_output(self.last_output_bytes).await;
            return self.input(Input::TreeSeenEmpty(epoch), origin).await;
        }
        self.shared.failpoint("adopt.before");
        let substrate = std::sync::Arc::clone(&self.shared.substrate);
        let found = {
            let place = place.clone();
            tokio::task::spawn_blocking(move || substrate.find(&place)).await
        };
        match found {
            Ok(Found::Alive(stream)) => match Link::new(stream) {
                Ok(link) => self.greeted(link),
                Err(error) => self.clear_lost(epoch, &error.to_string()).await,
            },
            Ok(Found::Ended(exit)) => {
                self.settle_in_flight(epoch).await;
                self.finish_output(exit.output_bytes).await;
                self.shared.substrate.forget(&place);
                self.exited(epoch, exit).await;
            }
            Ok(Found::Lost(why)) => self.clear_lost(epoch, &why).await,
            Err(_) => self.clear_lost(epoch, "the search for its shim was cut off").await,
        }
    }

    /// A shim took our connection; its answer to the greeting is its state.
    fn greeted(&mut self, link: Link) {
        let epoch = self.life.state().epoch();
        if let Some(live) = &mut self.live {
            live.link = Some(link);
            live.launch_deadline = Some(tokio::time::Instant::now() + super::LAUNCH_TIME_MAX);
        }
        if let Err(why) = self.serve_epoch(epoch) {
            tracing::warn!(agent = %self.identity.name, %why, "cannot serve the epoch's own socket");
        }
        self.make_known();
    }

    /// Nobody answers: whatever is left is ended, and only then something new begins.
    pub(super) async fn clear_lost(&mut self, epoch: Epoch, why: &str) {
        let Some(live) = &self.live else { return };
        tracing::warn!(agent = %self.identity.name, %epoch, why, "its shim does not answer");
        let (place, shim, group) = (live.place.clone(), live.shim.clone(), live.group.clone());
        let substrate = std::sync::Arc::clone(&self.shared.substrate);
        let clear = move || substrate.clear(&place, shim.as_ref(), group.as_deref());
        let remains = tokio::task::spawn_blocking(clear).await;
        // What was injected is known before the program's words about it.
        self.settle_in_flight(epoch).await;
        let bytes = self.recorded_bytes(epoch);
        self.finish_output(bytes).await;
        let origin = Origin::node("recovery");
        match remains {
            Ok(Remains::Nothing(tree)) => {
                self.ended = Some(Ended::unseen(tree, bytes));
                self.input(Input::TreeSeenEmpty(epoch), &origin).await;
            }
            Ok(Remains::Doubt(why)) => self.input_because(Input::TreeInDoubt(epoch), &origin, &why).await,
            Err(_) => self.input_because(Input::TreeInDoubt(epoch), &origin, "the search was cut off").await,
        }
    }

    /// A shim's answer to our greeting: its epoch goes on under this daemon.
    pub(super) async fn shim_answered(&mut self, status: Status) {
        self.take_status(&status);
        self.recall_hooks();
        let Some(live) = &self.live else { return };
        let (epoch, place) = (live.place.epoch, live.place.clone());
        let origin = Origin::node("recovery");
        if status.state == EpochState::Born {
            // Its program was never started, and whoever was to say so is gone.
            return self.clear_lost(epoch, "its program was never started").await;
        }
        if let Some(live) = &mut self.live {
            live.head = live.lines.as_ref().map_or(status.head, edgeplane_driver::lines::Lines::offset);
            // Who came before the shim did has seen nothing of what is below.
            self.viewers.missed();
        }
        if !self.is_acp() {
            self.greet_again(&place).await;
        }
        if self.is_acp() {
            self.recall_acp(epoch).await;
        }
        self.recall_in_flight(epoch).await;
        if self.is_native() {
            self.answer_again(&place).await;
        }
        if self.is_structured() {
            self.recall_turns(epoch).await;
            self.recall_interrupts(epoch).await;
        }
        self.note_unseen_start(epoch, &origin).await;
        self.recall_closing(epoch).await;
        let frozen = self.shared.substrate.is_frozen(&place);
        self.input(Input::Adopted { epoch, frozen }, &origin).await;
        self.shared.failpoint("adopt.after");
        // Behind what it is asked of messages, so that each is known to be injected before it is answered.
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&edgeplane_wire::shim::ToShim::Subscribe);
        }
    }

    /// Records the start of an epoch whose program the former daemon brought up and did not live to see run.
    async fn note_unseen_start(&mut self, epoch: Epoch, origin: &Origin) {
        let Some(live) = self.live.as_mut().filter(|live| live.started_at.is_none()) else { return };
        live.started_at = Some(self.shared.record.now());
        let fact = self.started(epoch);
        self.note_fact(fact, origin).await;
        self.run_hook(super::health::Moment::PostStart);
    }

    /// Greets a program that was not greeted: its greeting is the first input of its recording.
    async fn greet_again(&mut self, place: &Place) {
        let dir = place.dir.clone();
        let heard = tokio::task::spawn_blocking(move || {
            let first = recordings::Segment::open(&dir, 1)?;
            first.visit(|timed| match timed.event {
                CastEvent::Other { code: 'i' | 'k' | 'm', .. } => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        });
        if matches!(heard.await, Ok(Ok(false))) {
            self.gather_past(place.epoch).await;
            self.greet();
        }
    }

    /// Makes the live epoch known to the proof of callers.
    pub(super) fn make_known(&self) {
        let Some(live) = &self.live else { return };
        let Some(shim) = &live.shim else { return };
        let agent =
            CallingAgent { id: self.identity.id, name: self.identity.name.clone(), epoch: live.place.epoch };
        let groups: Vec<u64> = live.group.iter().flat_map(|group| group_ids(group)).collect();
        self.shared.came_alive(&agent, (shim.pid, shim.start_time), &groups);
    }

    /// Bytes of output in an epoch's recording.
    pub(super) fn recorded_bytes(&self, epoch: Epoch) -> u64 {
        let dir = self.shared.place(self.identity.id, &self.identity.name, epoch).dir;
        let mut end = 0;
        let last = recordings::segments(&dir).ok().and_then(|all| all.last().copied());
        if let Some(segment) = last.and_then(|last| recordings::Segment::open(&dir, last).ok()) {
            if let Ok(Some(header)) = segment.header() {
                end = header.edgeplane.offset;
            }
            let read = segment.visit(|timed| {
                end = timed.end();
                std::ops::ControlFlow::Continue(())
            });
            if let Err(error) = read {
                tracing::warn!(agent = %self.identity.name, %error, "cannot read the end of a recording");
            }
        }
        end
    }
}

/// The kernel's ids of an epoch's groups: the numbers of their directories.
fn group_ids(dir: &str) -> Vec<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let dir = std::path::Path::new(dir);
    let ids = [dir.join("work"), dir.join("shim"), dir.to_owned()];
    ids.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|found| found.ino()).collect()
}
