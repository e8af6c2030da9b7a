//! Performing the lifecycle's actions: record the intent, act, report what came of it.

use std::time::Duration;

use edgeplane_lifecycle::{Action, Context, Illegal, Input, Note};
use edgeplane_store::AppendError;
use edgeplane_substrate::Remains;
use edgeplane_types::{
    Desired, Epoch, ErrorName, Fact, Phase,
    fact::{Cause, TreeEvidence},
    life::ExitStatus,
};
use edgeplane_wire::{
    api::agent::ChangeResult,
    rpc::RpcError,
    shim::{EpochState, Exit, SignalScope, Status, ToShim},
};
use tokio::time::Instant;

use super::{Actor, Done, LAUNCH_TIME_MAX, facts::Ended, link::Link};
use crate::record::{Draft, Origin, refused};

/// How long a start that the record had no space for waits before it is tried again.
const NO_SPACE_RETRY: Duration = Duration::from_secs(1);

const SIGHUP: i32 = 1;
const SIGTERM: i32 = 15;

/// How long a shim may outlive the report of its program's end.
const SHIM_END_TIME_MAX: Duration = Duration::from_secs(3);

/// A change somebody asks for.
#[derive(Debug, Clone)]
pub(crate) struct LifeRequest {
    pub(crate) input: Input,
    pub(crate) reason: String,
    /// Digest of the plan by which what it owns is removed, of a retirement.
    pub(crate) plan: Option<String>,
    /// Why its set retires it, if it is a replica.
    pub(crate) by_set: Option<super::replicas::BySet>,
}

impl LifeRequest {
    pub(crate) fn new(input: Input, reason: Option<String>) -> Self {
        Self { input, reason: reason.unwrap_or_default(), plan: None, by_set: None }
    }
}

/// A step of the lifecycle and what it comes to.
#[derive(Debug)]
struct Taken {
    input: Input,
    origin: Origin,
    actions: Vec<Action>,
    ahead: Ahead,
    facts: Vec<Fact>,
}

/// What becomes durable in one commit with a step, ahead of what the step comes to.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) facts: Vec<Fact>,
    /// What one of the facts names by its digest.
    pub(super) body: Option<Vec<u8>>,
}

/// What a hook came to.
#[derive(Debug)]
pub(super) struct Hooked {
    pub(super) hook: &'static str,
    pub(super) status: ExitStatus,
    pub(super) took_ms: u64,
    pub(super) failure: Option<String>,
}

impl Actor {
    /// Does what somebody asks for, or says why not.
    pub(super) async fn request(
        &mut self,
        request: LifeRequest,
        origin: Origin,
    ) -> Result<ChangeResult, RpcError> {
        self.check_held(request.input)?;
        if self.is_set() {
            return self.set_request(request, origin).await;
        }
        self.check_request(&request)?;
        if request.input == Input::Retire {
            self.replicas.is_surplus = request.by_set == Some(super::replicas::BySet::Surplus);
            self.plan_removal(&request, &origin).await?;
        }
        self.apply(request.input, &origin, &request.reason).await?;
        self.publish();
        Ok(self.change_result())
    }

    fn check_request(&self, request: &LifeRequest) -> Result<(), RpcError> {
        self.check_member(request)?;
        if matches!(request.input, Input::Hibernate(_)) {
            self.check_rest()?;
        }
        let by_hand = matches!(request.input, Input::Start(Cause::Request) | Input::Restart(Cause::Request));
        let starts = matches!(request.input, Input::Start(_) | Input::Restart(_));
        if starts && !by_hand && matches!(self.life.desired(), Desired::Stopped | Desired::Retired) {
            // It was stopped while the node waited to start it.
            let what = format!("agent `{}` is meant to be stopped", self.identity.name);
            return Err(RpcError::new(ErrorName::InvalidState, what));
        }
        if matches!(request.input, Input::Start(_) | Input::Restart(_)) {
            let relative = self.manifest.relative_paths();
            if let Some(path) = relative.first() {
                let error = RpcError::new(
                    ErrorName::InvalidState,
                    format!("agent `{}` is not installed: `{path}` is not there yet", self.identity.name),
                );
                return Err(error.hint(format!("run `edgeplane agent install {}`", self.identity.name)));
            }
        }
        Ok(())
    }

    pub(super) fn change_result(&self) -> ChangeResult {
        let state = self.life.state();
        ChangeResult {
            name: self.identity.name.to_string(),
            agent_id: self.identity.id,
            phase: state.phase(),
            desired: self.life.desired(),
            epoch: self.last_epoch,
        }
    }

    /// Takes an input that the node itself found. An input that no longer fits is an answer that came too late.
    pub(super) async fn input(&mut self, input: Input, origin: &Origin) {
        self.input_because(input, origin, "").await;
    }

    pub(super) async fn input_because(&mut self, input: Input, origin: &Origin, why: &str) {
        match self.apply(input, origin, why).await {
            Ok(()) => {}
            Err(error) if error.name() == ErrorName::StorageFull && input == Input::BackoffElapsed => {
                self.backoff = Some((Instant::now() + NO_SPACE_RETRY, self.shared.record.now()));
            }
            Err(error) => {
                tracing::debug!(agent = %self.identity.name, ?input, %error, "input does not apply");
            }
        }
    }

    /// Steps the machine, makes its notes durable, then acts.
    pub(super) async fn step(
        &mut self,
        ahead: Ahead,
        input: Input,
        origin: &Origin,
        why: &str,
    ) -> Result<(), RpcError> {
        let mut chance = [0; 2];
        self.shared.record.mint().entropy.fill(&mut chance);
        let context = Context {
            now_ms: self.shared.record.monotonic_ms(),
            chance_permille: u16::from_le_bytes(chance) % 1_001,
        };
        let step = self.life.step(input, context).map_err(|illegal| self.not_now(input, illegal))?;
        let generation = self.generation;
        let mut first = self.taken(input, origin.clone(), step.actions, why);
        first.ahead = ahead;
        if first.actions.contains(&Action::ArmBackoff(0))
            && let Ok(next) = step.agent.step(Input::BackoffElapsed, context)
        {
            // A restart that waits for nothing is decided with the end that it follows, in one commit.
            let start = self.taken(Input::BackoffElapsed, Origin::node("restart-policy"), next.actions, "");
            let steps = [first, start];
            if self.record_steps(&steps).await.is_ok() {
                self.follow(next.agent, &steps).await;
                self.backoff = None;
                return Ok(());
            }
            // There is no space for a new life: the end is recorded alone, and the start waits.
            let [first, _] = steps;
            self.record_steps(std::slice::from_ref(&first)).await.map_err(|error| refused(&error))?;
            self.follow(step.agent, &[first]).await;
            return Ok(());
        }
        if let Err(error) = self.record_steps(std::slice::from_ref(&first)).await {
            self.generation = generation;
            return Err(refused(&error));
        }
        self.follow(step.agent, &[first]).await;
        Ok(())
    }

    fn taken(&mut self, input: Input, origin: Origin, actions: Vec<Action>, why: &str) -> Taken {
        let facts = self.facts(&actions, why);
        let facts = self.with_closing(input, facts);
        Taken { input, origin, actions, ahead: Ahead::default(), facts }
    }

    /// Becomes what steps that are recorded lead to, and acts.
    async fn follow(&mut self, life: edgeplane_lifecycle::Agent, steps: &[Taken]) {
        self.life = life;
        for step in steps {
            step.facts.iter().for_each(|fact| self.remember_reason(fact));
            self.after_facts(&step.facts).await;
        }
        for step in steps {
            step.actions.iter().for_each(|action| self.act(*action, &step.origin));
        }
    }

    fn facts(&mut self, actions: &[Action], why: &str) -> Vec<Fact> {
        let notes = actions.iter().filter_map(|action| match action {
            Action::Record(note) => Some(*note),
            _ => None,
        });
        let notes: Vec<Note> = notes.collect();
        notes.into_iter().map(|note| self.fact(note, why)).collect()
    }

    /// Makes the notes of steps durable, all or none.
    async fn record_steps(&self, steps: &[Taken]) -> Result<(), AppendError> {
        let mut draft = Draft::default();
        for step in steps {
            let mut origin = step.origin.clone();
            if let Some(body) = &step.ahead.body {
                draft.body(body.clone());
            }
            for fact in step.ahead.facts.iter().chain(&step.facts) {
                let id = self.shared.record.add(&mut draft, self.stream(), &origin, fact.clone());
                origin.cause = Some(id);
                match fact {
                    Fact::AgentRetired { .. } => {
                        self.give_up_waiting(&mut draft, &origin);
                        self.cancel_actions(&mut draft, &origin);
                    }
                    Fact::AgentDesired { desired: Desired::Retired, .. } => {
                        self.draft_removal(&mut draft, &origin);
                    }
                    // What a task left open was over for its agent.
                    Fact::AgentStarting { cause, .. } if *cause != Cause::Task => {
                        self.retry_open_turn(&mut draft).await;
                    }
                    _ => {}
                }
            }
        }
        if draft.is_empty() {
            return Ok(());
        }
        // Only what brings something new to life may be refused for want of space.
        let brings_life = steps.iter().any(|step| {
            let input = step.input;
            matches!(input, Input::Start(_) | Input::Restart(_) | Input::BackoffElapsed | Input::Hold(None))
        });
        let draft = if brings_life { draft } else { draft.critical() };
        self.shared.record.commit(draft).await.map(drop)
    }

    fn not_now(&self, input: Input, illegal: Illegal) -> RpcError {
        let name = &self.identity.name;
        let phase = self.life.state().phase();
        let error = match illegal {
            Illegal::StaleEpoch { .. } => {
                RpcError::new(ErrorName::Fenced, format!("agent `{name}`: {illegal}"))
            }
            Illegal::Held { .. } => return self.held_error(),
            Illegal::Phase { .. } => {
                RpcError::new(ErrorName::InvalidState, format!("agent `{name}` cannot do that: {illegal}"))
            }
        };
        match (input, phase) {
            (Input::Start(_) | Input::Restart(_), Phase::Frozen) => {
                error.hint(format!("let it go on with `edgeplane agent unfreeze {name}`"))
            }
            (_, Phase::Quarantined) => error.hint(format!(
                "make sure that nothing of it runs, then say so with `edgeplane agent release {name}`"
            )),
            (Input::Freeze, _) => error.hint("only a running agent can be frozen"),
            _ => error,
        }
    }

    /// Upkeep that follows what was recorded.
    async fn after_facts(&mut self, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::AgentStarting { epoch, cause } => {
                    self.last_epoch = *epoch;
                    self.last_output_bytes = 0;
                    if matches!(cause, Cause::RestartPolicy | Cause::Probe) {
                        self.restarts = self.restarts.saturating_add(1);
                    }
                }
                Fact::AgentExited { epoch, .. } | Fact::AgentStartFailed { epoch, .. } => {
                    self.epoch_over(*epoch).await;
                    self.give_back("its epoch ended").await;
                }
                Fact::AgentFrozen { .. } => self.give_back("it is suspended").await,
                Fact::AgentStarted { .. } => self.running().await,
                Fact::SessionClosing { epoch, reason, told_by, grace_ms } => {
                    self.closing_noted((*epoch, *reason), *told_by, *grace_ms);
                }
                // A message may have come while it was put to rest.
                Fact::AgentStopped {} => Box::pin(self.wake()).await,
                Fact::AgentAdopted { frozen: false, .. }
                | Fact::AgentThawed { .. }
                | Fact::AgentLetGo {}
                | Fact::AgentDesired { desired: Desired::Running, .. } => self.pump().await,
                _ => {}
            }
        }
    }

    fn act(&mut self, action: Action, origin: &Origin) {
        match action {
            Action::Record(_) => {}
            Action::Launch(epoch, _) => self.launch(epoch),
            Action::Stop(epoch) => self.stop_program(epoch),
            Action::Freeze(epoch) => self.on_worker(epoch, |substrate, place| {
                Done::Froze(place.epoch, substrate.freeze(&place).map_err(|e| crate::record::chain(&e)))
            }),
            Action::Thaw(epoch) => self.on_worker(epoch, |substrate, place| {
                Done::Thawed(place.epoch, substrate.thaw(&place).map_err(|e| crate::record::chain(&e)))
            }),
            Action::ProveEmpty(epoch) => self.prove_empty(epoch),
            Action::ArmBackoff(delay_ms) => {
                let at = Instant::now() + Duration::from_millis(delay_ms);
                self.backoff = Some((at, self.shared.record.now().plus_millis(delay_ms)));
            }
            Action::DisarmBackoff => self.backoff = None,
        }
        tracing::trace!(agent = %self.identity.name, ?action, actor = ?origin.actor, "acted");
    }

    /// Does something slow to an epoch's place and reports it as done.
    fn on_worker(
        &self,
        epoch: Epoch,
        work: impl FnOnce(&dyn edgeplane_substrate::Substrate, edgeplane_substrate::Place) -> Done
        + Send
        + 'static,
    ) {
        let place = self.shared.place(self.identity.id, &self.identity.name, epoch);
        let substrate = std::sync::Arc::clone(&self.shared.substrate);
        let done = self.workers.0.clone();
        let work = self.shared.tasks.spawn_blocking(move || work(substrate.as_ref(), place));
        self.shared.tasks.spawn(async move {
            if let Ok(outcome) = work.await {
                // The engine has ended, and with it whoever wanted to know.
                drop(done.send(outcome).await);
            }
        });
    }

    fn prove_empty(&mut self, epoch: Epoch) {
        let shim = self.live.as_ref().and_then(|live| live.shim.clone());
        let group = self.live.as_ref().and_then(|live| live.group.clone());
        let child = self.live.as_mut().and_then(|live| live.child.take());
        if let Some(live) = &mut self.live {
            live.link = None;
        }
        self.on_worker(epoch, move |substrate, place| {
            let remains = substrate.clear(&place, shim.as_ref(), group.as_deref());
            reap(child);
            Done::Cleared(place.epoch, remains)
        });
    }

    fn stop_program(&mut self, epoch: Epoch) {
        let runs = self.live.as_ref().is_some_and(|live| live.place.epoch == epoch && live.process.is_some());
        // Not running yet: the stop is sent when the shim reports that it does.
        if runs && !self.begin_closing(epoch) {
            self.stop_closed(epoch);
        }
    }

    /// Ends a program that has nothing to save any more.
    pub(super) fn stop_closed(&mut self, epoch: Epoch) {
        if !self.run_hook(super::health::Moment::PreStop) {
            self.send_stop(epoch);
        }
    }

    /// Asks the shim to end the program, now or after the hook that comes before.
    pub(super) fn send_stop(&mut self, epoch: Epoch) {
        let stop = &self.manifest.spec.stop;
        let (signal, grace_ms) = (stop.signal.number(), stop.grace.as_millis());
        let is_native = self.is_native();
        let Some(live) = self.live.as_mut().filter(|live| live.place.epoch == epoch) else { return };
        if let Some(link) = &mut live.link {
            if is_native {
                let line = edgeplane_driver::native::session_stop("stopped", grace_ms);
                let id = super::native::input_id(epoch, u64::MAX);
                link.send(&ToShim::Input { id, kind: edgeplane_wire::shim::InputKind::Keys, bytes: &line });
            }
            link.send(&ToShim::Stop { grace_ms, signal });
            if live.size.is_some() && signal == SIGTERM {
                // An interactive shell ignores the one and ends with the other, as when its terminal closes.
                link.send(&ToShim::Signal { signal: SIGHUP, scope: SignalScope::Program });
            }
        }
    }

    /// What a worker found out.
    pub(super) async fn done(&mut self, done: Done) {
        let origin = Origin::node("supervisor");
        match done {
            Done::Launched(epoch, result) => self.shim_launched(epoch, result, &origin).await,
            Done::Cleared(epoch, Remains::Nothing(tree)) => {
                let bytes = self.recorded_bytes(epoch);
                self.ended.get_or_insert(Ended::unseen(tree, bytes));
                self.settle_in_flight(epoch).await;
                self.input(Input::TreeSeenEmpty(epoch), &origin).await;
            }
            Done::Cleared(epoch, Remains::Doubt(why)) => {
                // Its shim writes no more, whatever else of it lives.
                self.settle_in_flight(epoch).await;
                self.input_because(Input::TreeInDoubt(epoch), &origin, &why).await;
            }
            Done::Froze(epoch, Ok(())) => self.input(Input::Froze(epoch), &origin).await,
            Done::Thawed(epoch, Ok(())) => self.input(Input::Thawed(epoch), &origin).await,
            Done::Froze(_, Err(why)) | Done::Thawed(_, Err(why)) => {
                tracing::warn!(agent = %self.identity.name, %why, "cannot change whether it is frozen");
                self.reason = Some(why);
            }
            Done::HookRan(epoch, hooked) => self.hook_ran(epoch, hooked, &origin).await,
            Done::Probed(epoch, result) => self.probed(epoch, result).await,
            Done::Excess(found) => self.prune(found).await,
            Done::Sealed(epoch, fact) => self.segment_sealed(epoch, *fact, &origin).await,
        }
    }

    async fn shim_launched(
        &mut self,
        epoch: Epoch,
        result: Result<edgeplane_substrate::Launched, String>,
        origin: &Origin,
    ) {
        let launched = match result {
            Ok(launched) => launched,
            Err(why) => return self.launch_failed(epoch, why, origin).await,
        };
        let boot_id = self.shared.boot_id.clone();
        let shim = edgeplane_types::identity::ProcessIdentity {
            pid: launched.shim.pid,
            start_time: launched.shim.start_time,
            boot_id,
        };
        if !launched.unenforced.is_empty() {
            tracing::warn!(agent = %self.identity.name, limits = ?launched.unenforced, "limits are not kept here");
        }
        let link = Link::new(launched.link);
        let Some(live) = self.live.as_mut().filter(|live| live.place.epoch == epoch) else { return };
        live.group = launched.group.as_deref().map(|path| path.to_string_lossy().into_owned());
        live.shim = Some(shim);
        live.child = Some(launched.shim);
        live.launch_deadline = Some(Instant::now() + LAUNCH_TIME_MAX);
        match link {
            Ok(link) => live.link = Some(link),
            Err(error) => return self.link_lost(&error).await,
        }
        self.make_known();
    }

    async fn launch_failed(&mut self, epoch: Epoch, why: String, origin: &Origin) {
        if let Some(live) = &mut self.live {
            live.fail_text = Some(why.clone());
        }
        self.ended = None;
        self.input_because(Input::LaunchFailed(epoch), origin, &why).await;
    }

    /// The shim could not run the program; it ends by itself, with nothing left.
    pub(super) async fn program_refused(&mut self, why: String) {
        let Some(live) = &mut self.live else { return };
        let epoch = live.place.epoch;
        live.link = None;
        let child = live.child.take();
        let (place, group) = (live.place.clone(), live.group.clone());
        let substrate = std::sync::Arc::clone(&self.shared.substrate);
        let cleared = tokio::task::spawn_blocking(move || {
            let remains = substrate.clear(&place, None, group.as_deref());
            reap(child);
            remains
        });
        if let Ok(Remains::Doubt(doubt)) = cleared.await {
            return self.lost(epoch, &doubt).await;
        }
        self.launch_failed(epoch, why, &Origin::node("supervisor")).await;
    }

    pub(super) async fn launch_timed_out(&mut self) {
        if let Some(live) = &mut self.live {
            live.launch_deadline = None;
            let epoch = live.place.epoch;
            self.lost(epoch, "the shim did not report that the program runs").await;
        }
    }

    /// The program runs, says its shim.
    pub(super) async fn program_started(&mut self, status: Status) {
        self.take_status(&status);
        self.recall_hooks();
        let Some(live) = &mut self.live else { return };
        live.started_at = Some(self.shared.record.now());
        self.ended = None;
        let epoch = live.place.epoch;
        self.gather_past(epoch).await;
        self.input(Input::Launched(epoch), &Origin::node("supervisor")).await;
    }

    /// Notes what a shim says of its epoch.
    pub(super) fn take_status(&mut self, status: &Status) {
        let boot_id = self.shared.boot_id.clone();
        let Some(live) = &mut self.live else { return };
        live.launch_deadline = None;
        let identity = |pid, start_time| edgeplane_types::identity::ProcessIdentity {
            pid,
            start_time,
            boot_id: boot_id.clone(),
        };
        live.shim = Some(identity(status.shim_pid, status.shim_start));
        if status.pid != 0 {
            live.process = Some(identity(status.pid, status.start));
        }
        live.size = (status.cols != 0).then_some((status.cols, status.rows));
        if status.state == EpochState::Born {
            live.process = None;
        }
        self.make_known();
    }

    /// The program has ended, says its shim, and nothing of it is left.
    pub(super) async fn program_exited(&mut self, exit: Exit) {
        let Some(live) = &mut self.live else { return };
        let epoch = live.place.epoch;
        live.link = None;
        let child = live.child.take();
        let place = live.place.clone();
        let substrate = std::sync::Arc::clone(&self.shared.substrate);
        // The shim is about to end: its group can be removed only then, and nobody else reaps it.
        let gone = self.shared.tasks.spawn_blocking(move || {
            reap(child);
            substrate.forget(&place);
        });
        drop(gone);
        self.exited(epoch, exit).await;
    }

    pub(super) async fn exited(&mut self, epoch: Epoch, exit: Exit) {
        let status = match exit.signaled {
            true => ExitStatus::Signal(exit.value),
            false => ExitStatus::Code(exit.value),
        };
        let tree = if exit.cgroup_empty { TreeEvidence::Cgroup } else { TreeEvidence::Reaper };
        self.last_output_bytes = exit.output_bytes;
        self.ended = Some(Ended { status, output_bytes: exit.output_bytes, tree, ran_ms: exit.ran_ms });
        self.settle_in_flight(epoch).await;
        let tree =
            if exit.tree_empty { edgeplane_lifecycle::Tree::Empty } else { edgeplane_lifecycle::Tree::Doubt };
        let input = Input::Exited { epoch, success: status.is_success(), ran_ms: exit.ran_ms, tree };
        let why = if exit.tree_empty { "" } else { "processes of it do not end" };
        self.input_because(input, &Origin::node("supervisor"), why).await;
    }

    pub(super) async fn link_lost(&mut self, error: &std::io::Error) {
        let Some(live) = &mut self.live else { return };
        let (epoch, place) = (live.place.epoch, live.place.clone());
        live.link = None;
        // A shim that ended in good order left a record of it, even if its last words did not come through.
        if let Some(exit) = edgeplane_substrate::shim::exit_record(&place.dir) {
            self.settle_in_flight(epoch).await;
            self.finish_output(exit.output_bytes).await;
            return self.program_exited(exit).await;
        }
        let why = format!("the connection to its shim broke: {error}");
        if self.life.state().phase() == Phase::Unobservable {
            // It broke before the shim had answered this daemon: nothing else will say what became of it.
            return self.clear_lost(epoch, &why).await;
        }
        self.lost(epoch, &why).await;
    }

    pub(super) async fn lost(&mut self, epoch: Epoch, why: &str) {
        self.ended = None;
        self.input_because(Input::ShimLost(epoch), &Origin::node("supervisor"), why).await;
    }
}

/// Waits for a shim that is our child to end, so that it does not stay a zombie.
pub(super) fn reap(child: Option<edgeplane_os::process::Spawned>) {
    if let Some(child) = child
        && edgeplane_os::pidfd::is_exited_within(&child.pidfd, SHIM_END_TIME_MAX).unwrap_or(false)
    {
        drop(edgeplane_os::pidfd::wait(&child.pidfd));
    }
}
