//! An agent's engine: one task that owns everything about it and performs what its rules say.
//!
//! Others reach it through its mailbox only. It is the single writer of its agent's stream, so what it decides is
//! decided in one order.

mod accept;
mod acp;
mod actions;
mod adopt;
mod begin;
mod closing;
mod compaction;
mod dead_letters;
mod delivery;
mod expiry;
mod facts;
mod handle;
mod health;
mod hibernation;
mod history;
mod holding;
mod hooks;
mod input_fate;
mod input_gate;
mod input_lead;
mod input_recall;
mod input_step;
mod interrupt;
mod life;
mod link;
mod memory;
mod native;
mod output;
mod program;
mod rehydration;
mod replicas;
mod reports;
mod restart;
mod retention;
mod retirement;
mod schedules;
mod share;
mod standing;
mod tasks;
mod terminal;
mod threads;
mod turns;
mod update;
mod view;
mod viewers;
mod words;

use std::{collections::HashMap, sync::Arc, time::Duration};

use edgeplane_lifecycle as lifecycle;
use edgeplane_manifest::{Driver, Manifest};
use edgeplane_substrate::{Launched, Place, Remains};
use edgeplane_types::{
    ActivityReport, AgentId, AgentName, Continuity, Desired, Epoch, Fact, Generation, SessionId, StreamName,
    Tenant, Timestamp, identity::ProcessIdentity,
};
use edgeplane_wire::{api::stream::DAEMON_ENDS, rpc::RpcError};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    left_behind, profile::Profile, record::Origin, removal, schedule::Declared, screen::Screen,
    shared::Shared,
};

pub(crate) use accept::Accepted;
pub(crate) use acp::{
    commands::{WantedInput, is_unseen},
    is_asked_by_program,
};
pub(crate) use actions::{ActionRequest, Teller};
pub(crate) use begin::{Begun, ToBegin, message_of, turn_of};
pub(crate) use compaction::Compacted;
pub(crate) use dead_letters::LetterRequest;
pub(crate) use handle::{AgentHandle, Command, MemoryAnswer, Summary};
pub(crate) use history::{newest_given, turns_of};
pub(crate) use hooks::kind as hook_kind;
pub(crate) use interrupt::{TurnChanged, TurnRequest};
pub(crate) use life::LifeRequest;
pub(crate) use memory::MemoryRequest;
pub(crate) use program::runner_problem;
pub(crate) use reports::Report;
pub(crate) use restart::policy;
pub(crate) use schedules::{ScheduleRequest, ScheduleVerb};
pub(crate) use threads::{Deciding, RolledBack, check_version};
pub(crate) use view::{Shown, by_name};
pub(crate) use words::Heard;

/// Commands that wait for a busy agent; more are refused with `backpressure`.
const MAILBOX_MAX: usize = 256;

/// How long a shim may take to report that its program runs.
const LAUNCH_TIME_MAX: Duration = Duration::from_secs(15);

/// Who an agent is, unchanged for its whole life.
#[derive(Debug, Clone)]
pub(crate) struct AgentIdentity {
    pub(crate) id: AgentId,
    pub(crate) name: AgentName,
    pub(crate) tenant: Tenant,
    pub(crate) session_id: SessionId,
    pub(crate) declared_at: Timestamp,
    /// The set whose replica it is.
    pub(crate) set: Option<AgentId>,
    /// The agent whose child it is.
    pub(crate) parent: Option<AgentId>,
}

impl AgentIdentity {
    /// That it is there from now on, in its first generation.
    pub(crate) fn declared(&self, manifest_digest: String, desired: Desired) -> Fact {
        Fact::AgentDeclared {
            agent_id: self.id,
            session_id: self.session_id,
            tenant: self.tenant.clone(),
            name: self.name.clone(),
            generation: Generation(1),
            manifest_digest,
            desired,
            set: self.set,
            parent: self.parent,
        }
    }
}

/// A live epoch, or one that is being brought up or ended.
#[derive(Debug)]
struct Live {
    place: Place,
    link: Option<link::Link>,
    shim: Option<ProcessIdentity>,
    process: Option<ProcessIdentity>,
    /// The shim as our child, if it is.
    child: Option<edgeplane_os::process::Spawned>,
    group: Option<String>,
    started_at: Option<Timestamp>,
    /// Offset after the last byte of output taken in.
    head: u64,
    /// When output last came.
    output_at: Option<Instant>,
    /// Until when the program must run.
    launch_deadline: Option<Instant>,
    lines: Option<edgeplane_driver::lines::Lines>,
    screen: Option<Screen>,
    size: Option<(u16, u16)>,
    /// Ends the task that serves the epoch's own socket.
    serving: CancellationToken,
    /// What its program is told of former epochs, and behind it the same without quotations.
    past: Vec<edgeplane_driver::render::Rendered>,
    fail_text: Option<String>,
    /// The version that is spoken with its shim. One that this daemon launched is of its own release.
    shim_version: u16,
    /// Its session, if its program speaks the Agent Client Protocol.
    acp: Option<Box<acp::Acp>>,
}

/// What a worker has done for the engine.
#[derive(Debug)]
enum Done {
    Launched(Epoch, Result<Launched, String>),
    Cleared(Epoch, Remains),
    Froze(Epoch, Result<(), String>),
    Thawed(Epoch, Result<(), String>),
    HookRan(Epoch, life::Hooked),
    Probed(Epoch, Result<(), String>),
    Sealed(Epoch, Box<edgeplane_types::Fact>),
    Excess(Vec<retention::Excess>),
}

/// The engine.
struct Actor {
    shared: Arc<Shared>,
    identity: AgentIdentity,
    manifest: Arc<Manifest>,
    generation: Generation,
    observed_generation: Generation,
    life: lifecycle::Agent,
    live: Option<Live>,
    last_epoch: Epoch,
    last_output_bytes: u64,
    backoff: Option<(Instant, Timestamp)>,
    restarts: u32,
    continuity: Continuity,
    reason: Option<String>,
    activity: ActivityReport,
    healthy: Option<bool>,
    health: health::Health,
    idleness: hibernation::Idleness,
    holding: holding::Holding,
    closing: Option<closing::Closing>,
    replicas: replicas::Replicas,
    removal: Option<retirement::Removal>,
    /// Whether what it owns goes with it when it is retired.
    removes: bool,
    delivery: delivery::Delivery,
    weight_known: Option<words::WeightKnown>,
    gate: input_gate::InputGate,
    hooks: hooks::Hooks,
    expiry: expiry::Expiry,
    pending: actions::Pending,
    schedules: schedules::Schedules,
    viewers: viewers::Viewers,
    known: standing::Known,
    ended: Option<facts::Ended>,
    /// Facts that found no space, in their order.
    unrecorded: std::collections::VecDeque<crate::record::Draft>,
    unrecorded_at: Option<Instant>,
    /// Ends the engine in the middle of what it does.
    is_cut_off: CancellationToken,
    summary: watch::Sender<Summary>,
    profile: watch::Sender<Arc<Profile>>,
    mailbox: mpsc::Receiver<Command>,
    workers: (mpsc::Sender<Done>, mpsc::Receiver<Done>),
}

/// What an agent's engine begins with.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) identity: AgentIdentity,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) generation: Generation,
    pub(crate) life: lifecycle::Agent,
    /// What the record knows, of an agent that a former daemon left.
    pub(crate) left: Option<Box<edgeplane_store::AgentRow>>,
}

/// Starts an agent's engine.
pub(crate) fn start(shared: &Arc<Shared>, birth: Birth) -> AgentHandle {
    let (sender, mailbox) = mpsc::channel(MAILBOX_MAX);
    let state = birth.life.state();
    let first = Summary {
        closed: None,
        phase: state.phase(),
        desired: birth.life.desired(),
        epoch: state.epoch(),
        is_free: false,
    };
    let (summary, watch) = watch::channel(first);
    let (profile, its_profile) = watch::channel(Arc::new(Profile::of(&birth.manifest)));
    let handle = AgentHandle {
        id: birth.identity.id,
        name: birth.identity.name.clone(),
        set: birth.identity.set,
        parent: birth.identity.parent,
        summary: watch,
        profile: its_profile,
        mailbox: sender,
    };
    let left = birth.left.as_deref();
    let actor = Actor {
        shared: Arc::clone(shared),
        last_epoch: left.map_or(Epoch(0), |row| row.epoch),
        last_output_bytes: left.map_or(0, |row| row.output_bytes),
        restarts: left.map_or(0, |row| u32::try_from(row.restarts).unwrap_or(u32::MAX)),
        continuity: left.and_then(|row| row.continuity).unwrap_or(Continuity::None),
        reason: left.and_then(|row| row.last_reason.clone()),
        identity: birth.identity,
        manifest: birth.manifest,
        generation: birth.generation,
        observed_generation: birth.generation,
        life: birth.life,
        live: None,
        backoff: None,
        activity: ActivityReport::UNKNOWN,
        healthy: left.and_then(|row| row.healthy),
        health: health::Health::default(),
        idleness: hibernation::Idleness::default(),
        holding: holding::Holding::default(),
        closing: None,
        replicas: replicas::Replicas::default(),
        removal: None,
        removes: left.is_some_and(|row| row.removal.is_some()),
        delivery: delivery::Delivery::default(),
        weight_known: None,
        gate: input_gate::InputGate::default(),
        hooks: hooks::Hooks::default(),
        expiry: expiry::Expiry::default(),
        pending: actions::Pending::default(),
        schedules: schedules::Schedules::default(),
        viewers: viewers::Viewers::default(),
        known: standing::Known::default(),
        ended: None,
        unrecorded: std::collections::VecDeque::new(),
        unrecorded_at: None,
        is_cut_off: CancellationToken::new(),
        summary,
        profile,
        mailbox,
        workers: mpsc::channel(16),
    };
    let left = birth.left;
    shared.tasks.spawn(actor.run(left, handle.clone()));
    handle
}

enum Woken {
    Command(Command),
    Done(Done),
    Link(std::io::Result<()>),
    Timer,
    Stop,
}

impl Actor {
    fn stream(&self) -> StreamName {
        StreamName::Agent(self.identity.id)
    }

    fn is_native(&self) -> bool {
        matches!(self.manifest.spec.driver, Driver::Native { .. })
    }

    /// Whether its program's output is read line by line and says what it does.
    fn is_structured(&self) -> bool {
        !matches!(self.manifest.spec.driver, Driver::Terminal { .. })
    }

    async fn run(mut self, left: Option<Box<edgeplane_store::AgentRow>>, own: AgentHandle) {
        let is_cut_off = self.is_cut_off.clone();
        // Losing the race loses what the engine was about to do, and only when the daemon ends.
        tokio::select! {
            () = is_cut_off.cancelled() => {}
            () = self.go_on(left, own) => {}
        }
        self.close();
    }

    async fn go_on(&mut self, left: Option<Box<edgeplane_store::AgentRow>>, own: AgentHandle) {
        // Before anything is looked for or begun: an override may have come that the former daemon did not tell it of.
        if let Err(error) = self.look_at_holds(&Origin::node("override")).await {
            tracing::warn!(agent = %self.identity.name, %error, "what holds it cannot be noted yet");
        }
        if let Some(row) = left {
            self.recover(&row, own).await;
            self.arm_expiry();
            self.arm_actions();
        }
        self.take_up_schedules();
        self.take_up_replicas().await;
        loop {
            self.publish();
            if self.life.state() == lifecycle::State::Retired {
                break;
            }
            match self.wait().await {
                Woken::Command(command) => self.command(command).await,
                Woken::Done(done) => self.done(done).await,
                Woken::Link(Ok(())) => self.frames().await,
                Woken::Link(Err(error)) => self.link_lost(&error).await,
                Woken::Timer => self.timers().await,
                Woken::Stop => break,
            }
        }
    }

    /// Waits for the next thing to do. Every arm only waits or takes one whole message, so losing a race loses
    /// nothing.
    async fn wait(&mut self) -> Woken {
        let timer = self.next_timer();
        let stopping = self.shared.stopping.clone();
        let takes_output = self.unrecorded.len() < native::UNRECORDED_MAX;
        let link = self.live.as_mut().and_then(|live| live.link.as_mut()).filter(|_| takes_output);
        tokio::select! {
            biased;
            () = stopping.cancelled() => Woken::Stop,
            Some(done) = self.workers.1.recv() => Woken::Done(done),
            command = self.mailbox.recv() => command.map_or(Woken::Stop, Woken::Command),
            // Before the output: what is due must not wait for a program that never stops talking.
            () = sleep_until(timer), if timer.is_some() => Woken::Timer,
            result = link_ready(link) => Woken::Link(result),
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let launch = self.live.as_ref().and_then(|live| live.launch_deadline);
        let times = [
            self.backoff.map(|(at, _)| at),
            launch,
            self.screen_timer(),
            self.gate_timer(),
            self.health_timer(),
            self.viewers.timer(),
            self.delivery_timer(),
            self.expiry.timer(),
            self.pending.timer(),
            self.schedules.timer(),
            self.unrecorded_timer(),
            self.acp_timer(),
            self.rest_timer(),
            self.closing_timer(),
            self.replicas.timer(),
            self.holding.timer(),
        ];
        times.into_iter().flatten().min()
    }

    async fn timers(&mut self) {
        let now = Instant::now();
        if self.backoff.is_some_and(|(at, _)| at <= now) {
            self.backoff = None;
            self.input(lifecycle::Input::BackoffElapsed, &Origin::node("restart-policy")).await;
        }
        if self.live.as_ref().and_then(|live| live.launch_deadline).is_some_and(|at| at <= now) {
            self.launch_timed_out().await;
        }
        self.screen_due(now).await;
        self.gate_due(now).await;
        self.health_due(now).await;
        self.resynchronise_viewers().await;
        self.delivery_due(now).await;
        self.expiry_due(now).await;
        self.actions_due(now).await;
        self.schedules_due(now).await;
        self.unrecorded_due(now).await;
        self.acp_due(now).await;
        self.rest_due(now).await;
        self.closing_due(now).await;
        self.replicas_due(now).await;
        self.holding_due(now).await;
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Life(wanted, origin, reply) => drop(reply.send(self.request(wanted, origin).await)),
            Command::Hold(origin, reply) => drop(reply.send(self.look_at_holds(&origin).await)),
            Command::Update(declared, origin, reply) => {
                drop(reply.send(self.update(declared, &origin).await))
            }
            Command::Schedule(request, origin, reply) => {
                drop(reply.send(self.schedule_request(&request, &origin).await));
                self.pump().await;
            }
            Command::Terminate(id, wish, by, reply) => drop(reply.send(self.terminate(id, wish, &by).await)),
            Command::WriteProcess(wanted, origin, reply) => self.write_command(wanted, &origin, reply).await,
            Command::EndProcess(id) => self.grace_is_over(id),
            Command::Manifest(reply) => drop(reply.send((Arc::clone(&self.manifest), self.generation))),
            Command::Balance => self.balance_again().await,
            Command::Removal(reply) => drop(reply.send(self.removal_plan().await)),
            Command::View(reply) => drop(reply.send(self.view())),
            Command::Signal(admitted, reply) => self.accept_waiting(*admitted, reply).await,
            Command::Hear(epoch, answer, reply) => drop(reply.send(self.heard(epoch, answer).await)),
            Command::Action(request, reply) => {
                let result = self.action(request).await;
                drop(reply.send(result));
                self.pump().await;
            }
            Command::DeadLetter(id, request, origin, reply) => {
                drop(reply.send(self.dead_letter(id, request, &origin).await));
                self.pump().await;
            }
            Command::Begin(wanted, reply) => drop(reply.send(self.begin(*wanted).await)),
            Command::Turn(request, origin, reply) => {
                drop(reply.send(self.change_turn(request, &origin).await));
                self.pump().await;
            }
            Command::Decide(deciding, origin, reply) => {
                drop(reply.send(self.decide(deciding, &origin).await))
            }
            Command::Compact(params, authority, origin, reply) => {
                drop(reply.send(self.compact(*params, authority, &origin).await));
            }
            Command::RollBack(params, origin, reply) => {
                drop(reply.send(self.roll_back(params, &origin).await));
            }
            Command::Memory(request, origin, reply) => drop(reply.send(self.memory(request, &origin).await)),
            Command::Report(epoch, report, origin, reply) => {
                drop(reply.send(self.report(epoch, report, &origin).await));
            }
            Command::Hook(epoch, kind, report, origin, reply) => {
                drop(reply.send(self.hook_report((epoch, kind), &report, &origin).await));
            }
            Command::Attach(params, origin, outbound, reply) => {
                let result = self.attach(&params, origin, outbound).await;
                if let Err(Ok(unwanted)) = reply.send(result) {
                    self.detach(&unwanted.attachment, "nobody waited for it").await;
                }
            }
            Command::Detach(attachment, reason) => self.detach(&attachment, reason).await,
            Command::Write(attachment, bytes, reply) => {
                let result = self.write_keys(&attachment, &bytes);
                answer(reply, result);
            }
            Command::Resize(attachment, size, reply) => {
                let result = self.resize(&attachment, size);
                answer(reply, result);
            }
            Command::Snapshot(reply) => drop(reply.send(self.snapshot().await)),
            Command::NativeReply(epoch, end, line) => self.reply_native(epoch, end, &line),
        }
    }

    /// Tells everyone who waits where the agent is now.
    fn publish(&mut self) {
        let state = self.life.state();
        let epoch = if state.epoch() == Epoch(0) { self.last_epoch } else { state.epoch() };
        let phase = if self.is_set() { self.phase_of_set() } else { state.phase() };
        let (desired, is_free) = (self.life.desired(), self.is_free());
        let now = Summary { closed: self.gate.reason(), phase, desired, epoch, is_free };
        let changed = self.summary.send_if_modified(|was| {
            let changed = *was != now;
            *was = now;
            changed
        });
        if changed {
            self.tell_set();
        }
    }

    /// Tells everyone who decides by it what the manifest says now.
    fn show_profile(&self) {
        self.profile.send_replace(Arc::new(Profile::of(&self.manifest)));
    }

    fn close(&mut self) {
        if let Some(live) = &self.live {
            live.serving.cancel();
        }
        self.viewers.end_all(DAEMON_ENDS);
        if self.life.state() == lifecycle::State::Retired {
            self.shared.unregister(&self.identity.tenant, &self.identity.name, self.identity.id);
            let (shared, id) = (Arc::clone(&self.shared), self.identity.id);
            self.shared.tasks.spawn(async move {
                left_behind::settle(Arc::clone(&shared), id).await;
                removal::settle(shared, id).await;
            });
        }
    }

    fn child_environment(&self) -> &HashMap<String, String> {
        &self.shared.environment
    }
}

fn answer(reply: Option<oneshot::Sender<Result<(), RpcError>>>, result: Result<(), RpcError>) {
    if let Some(reply) = reply {
        // Whoever asked has gone; what was done is done.
        drop(reply.send(result));
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn link_ready(link: Option<&mut link::Link>) -> std::io::Result<()> {
    match link {
        Some(link) => link.ready().await,
        None => std::future::pending().await,
    }
}
