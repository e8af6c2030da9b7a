//! Hooks and probes: commands that the node runs at turning points and at intervals.

use std::{process::Stdio, time::Duration};

use edgeplane_driver::native;
use edgeplane_lifecycle::{Input, State};
use edgeplane_manifest::{ExecProbe, Hook, OnUnhealthy};
use edgeplane_os::{Signal, group};
use edgeplane_types::{Epoch, Fact, MessageId, fact::Cause, life::ExitStatus};
use edgeplane_wire::{
    shim::{InputKind, ToShim},
    spec::RunAs,
};
use tokio::{process::Command, time::Instant};

use super::{Actor, Done, life::Hooked};
use crate::{
    record::{Origin, chain},
    users,
};

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before the program starts; its failure prevents the start.
    PreStart,
    /// After the program has started.
    PostStart,
    /// Before the stop signal.
    PreStop,
}

impl Moment {
    fn name(self) -> &'static str {
        match self {
            Self::PreStart => "preStart",
            Self::PostStart => "postStart",
            Self::PreStop => PRE_STOP,
        }
    }
}

/// Name of the hook that a stop waits for.
pub(super) const PRE_STOP: &str = "preStop";

/// When a probe of one kind is next due in an epoch, and how it went.
#[derive(Debug, Default)]
struct Schedule {
    next: Option<(Epoch, Instant)>,
    failures: u32,
    running: bool,
}

impl Schedule {
    /// When to look at it: at once in a new epoch, to plan; never while a probe runs.
    fn timer(&self, epoch: Epoch) -> Option<Instant> {
        match self.next {
            _ if self.running => None,
            Some((of, at)) if of == epoch => Some(at),
            _ => Some(Instant::now()),
        }
    }

    /// Whether a probe is to begin now; plans the next one.
    fn begins(&mut self, epoch: Epoch, now: Instant, interval: Duration) -> bool {
        match self.next {
            Some((of, at)) if of == epoch => {
                if at > now || self.running {
                    return false;
                }
                self.running = true;
                self.next = Some((epoch, now + interval));
                true
            }
            _ => {
                *self = Self { next: Some((epoch, now + interval)), failures: 0, running: false };
                false
            }
        }
    }
}

/// What is known of an agent's health.
#[derive(Debug, Default)]
pub(super) struct Health {
    exec: Schedule,
    ping: Schedule,
    /// The ping that waits for its answer, and until when.
    pinged: Option<(u64, Instant)>,
    pings: u64,
    /// Since when a turn is open, by the message that began it.
    turn: Option<(MessageId, Instant)>,
    quiet_reported: bool,
}

impl Health {
    /// A message that begins a turn was written to the program.
    pub(super) fn turn_began(&mut self, message: MessageId) {
        self.turn = Some((message, Instant::now()));
        self.quiet_reported = false;
    }

    /// The program says that a turn is over.
    pub(super) fn turn_ended(&mut self, message: Option<MessageId>) {
        if message.is_none() || self.turn.map(|(of, _)| of) == message {
            self.turn = None;
        }
    }
}

/// A command of a manifest, in the agent's folder and environment, ended when its time is over.
struct Task {
    argv: Vec<String>,
    cwd: std::path::PathBuf,
    env: Vec<(String, String)>,
    /// As whom, or why that is not known.
    run_as: Result<Option<RunAs>, String>,
    timeout: Duration,
}

impl Actor {
    fn task(&self, argv: &[String], timeout_ms: u64) -> Task {
        let own = [
            ("EDGEPLANE_AGENT", self.identity.name.to_string()),
            ("EDGEPLANE_AGENT_ID", self.identity.id.to_string()),
        ];
        let passed =
            self.shared.environment.iter().filter(|(name, _)| edgeplane_manifest::is_env_passed(name));
        let mut env: Vec<_> = passed.map(|(name, value)| (name.clone(), value.clone())).collect();
        env.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let user = self.manifest.spec.user.as_ref();
        let run_as = user.map(|user| users::look_up(user.as_str())).transpose();
        let run_as = run_as.map_err(|error| chain(&error));
        let timeout = Duration::from_millis(timeout_ms);
        Task { argv: argv.to_vec(), cwd: self.workspace(), env, run_as, timeout }
    }

    fn hook(&self, moment: Moment) -> Option<&Hook> {
        let hooks = &self.manifest.spec.hooks;
        match moment {
            Moment::PreStart => hooks.pre_start.as_ref(),
            Moment::PostStart => hooks.post_start.as_ref(),
            Moment::PreStop => hooks.pre_stop.as_ref(),
        }
    }

    /// A hook as something to await; its outcome is reported to this engine, and its failure is given back.
    pub(super) fn hook_work(
        &self,
        moment: Moment,
        epoch: Epoch,
    ) -> Option<impl Future<Output = Option<String>> + Send + 'static> {
        let hook = self.hook(moment)?;
        let task = self.task(&hook.command, hook.timeout.as_millis());
        let done = self.workers.0.clone();
        Some(async move {
            let (status, took, failure) = run(task).await;
            let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            let failure =
                failure.or_else(|| (!status.is_success()).then(|| format!("it ended with {status}")));
            let hooked = Hooked { hook: moment.name(), status, took_ms, failure: failure.clone() };
            // The engine has ended with the daemon, and nobody waits for the outcome.
            drop(done.send(Done::HookRan(epoch, hooked)).await);
            failure
        })
    }

    /// Runs a hook beside the agent, if it has one.
    pub(super) fn run_hook(&self, moment: Moment) -> bool {
        let work = self.hook_work(moment, self.last_epoch);
        let runs = work.is_some();
        if let Some(work) = work {
            self.shared.tasks.spawn(async move { drop(work.await) });
        }
        runs
    }

    pub(super) async fn hook_ran(&mut self, epoch: Epoch, hooked: Hooked, origin: &Origin) {
        if let Some(failure) = &hooked.failure {
            tracing::warn!(agent = %self.identity.name, hook = hooked.hook, failure, "a hook failed");
        }
        let is_pre_stop = hooked.hook == PRE_STOP;
        let fact = Fact::AgentHookRan {
            hook: hooked.hook.to_owned(),
            status: hooked.status,
            took_ms: hooked.took_ms,
        };
        self.note_fact(fact, origin).await;
        if is_pre_stop {
            self.send_stop(epoch);
        }
    }

    /// When a probe is next to be looked at. Suspended agents are not probed.
    pub(super) fn health_timer(&self) -> Option<Instant> {
        let State::Running(epoch) = self.life.state() else { return None };
        let health = self.manifest.spec.health.as_ref()?;
        let exec = health.exec.as_ref().and_then(|_| self.health.exec.timer(epoch));
        let ping = health.ping.as_ref().and_then(|_| self.health.ping.timer(epoch));
        let pong = self.health.pinged.map(|(_, until)| until);
        [exec, ping, pong, self.quiet_at()].into_iter().flatten().min()
    }

    /// When an open turn will have been quiet for too long.
    fn quiet_at(&self) -> Option<Instant> {
        let limit = self.manifest.spec.health.as_ref()?.quiet_for?;
        let (_, began) = self.health.turn.filter(|_| !self.health.quiet_reported)?;
        if self.awaits_a_person() {
            // It has a reason to be quiet, and what is decided begins a turn.
            return None;
        }
        let heard = self.live.as_ref()?.output_at.map_or(began, |at| at.max(began));
        Some(heard + Duration::from_millis(limit.as_millis()))
    }

    pub(super) async fn health_due(&mut self, now: Instant) {
        let State::Running(epoch) = self.life.state() else { return };
        let Some(health) = self.manifest.spec.health.clone() else { return };
        if let Some(probe) = &health.exec
            && self.health.exec.begins(epoch, now, Duration::from_millis(probe.interval.as_millis()))
        {
            self.begin_exec(epoch, probe);
        }
        if let Some(probe) = &health.ping
            && self.health.ping.begins(epoch, now, Duration::from_millis(probe.interval.as_millis()))
        {
            self.begin_ping(now + Duration::from_millis(probe.timeout.as_millis()));
        }
        if self.health.pinged.is_some_and(|(_, until)| until <= now) {
            self.health.pinged = None;
            self.ping_settled(Err("no answer to a ping".to_owned())).await;
        }
        if self.quiet_at().is_some_and(|at| at <= now) {
            self.health.quiet_reported = true;
            self.judged(false, "a turn is open and nothing was heard for too long".to_owned()).await;
        }
    }

    fn begin_exec(&self, epoch: Epoch, probe: &ExecProbe) {
        let task = self.task(&probe.command, probe.timeout.as_millis());
        let done = self.workers.0.clone();
        self.shared.tasks.spawn(async move {
            let (status, _, failure) = run(task).await;
            let result = match failure {
                Some(failure) => Err(failure),
                None if status.is_success() => Ok(()),
                None => Err(format!("the probe ended with {status}")),
            };
            drop(done.send(Done::Probed(epoch, result)).await);
        });
    }

    fn begin_ping(&mut self, until: Instant) {
        self.health.pings = self.health.pings.saturating_add(1);
        let number = self.health.pings;
        self.health.pinged = Some((number, until));
        let mut id = [0; 16];
        self.shared.record.mint().entropy.fill(&mut id);
        let line = native::ping(number);
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            link.send(&ToShim::Input { id, kind: InputKind::Keys, bytes: &line });
        }
    }

    /// The program answered a ping.
    pub(super) async fn ponged(&mut self, number: u64) {
        if self.health.pinged.is_some_and(|(of, _)| of == number) {
            self.health.pinged = None;
            self.ping_settled(Ok(())).await;
        }
    }

    async fn ping_settled(&mut self, result: Result<(), String>) {
        let limit = self
            .manifest
            .spec
            .health
            .as_ref()
            .and_then(|h| h.ping.as_ref())
            .map_or(1, |probe| probe.failures);
        self.health.ping.running = false;
        let failures = &mut self.health.ping.failures;
        *failures = if result.is_ok() { 0 } else { failures.saturating_add(1) };
        let healthy = *failures < limit;
        self.judged(healthy, result.err().unwrap_or_default()).await;
    }

    pub(super) async fn probed(&mut self, epoch: Epoch, result: Result<(), String>) {
        self.health.exec.running = false;
        if self.life.state() != State::Running(epoch) {
            return;
        }
        let limit = self
            .manifest
            .spec
            .health
            .as_ref()
            .and_then(|h| h.exec.as_ref())
            .map_or(1, |probe| probe.failures);
        let failures = &mut self.health.exec.failures;
        *failures = if result.is_ok() { 0 } else { failures.saturating_add(1) };
        let healthy = *failures < limit;
        self.judged(healthy, result.err().unwrap_or_default()).await;
    }

    /// A change of health is recorded, and a sick agent restarted if its manifest says so.
    async fn judged(&mut self, healthy: bool, reason: String) {
        if self.healthy == Some(healthy) {
            return;
        }
        self.healthy = Some(healthy);
        let origin = Origin::node("probe");
        self.note_fact(Fact::AgentProbed { healthy, reason: reason.clone() }, &origin).await;
        let restart =
            self.manifest.spec.health.as_ref().is_some_and(|h| h.on_failure == OnUnhealthy::Restart);
        if !healthy && restart {
            self.input_because(Input::Restart(Cause::Probe), &origin, &reason).await;
        }
    }
}

/// Runs a command to its end or to the end of its time; its output is not kept.
async fn run(task: Task) -> (ExitStatus, Duration, Option<String>) {
    let began = Instant::now();
    let Some((program, args)) = task.argv.split_first() else {
        return (ExitStatus::Unknown, Duration::ZERO, Some("no command".to_owned()));
    };
    let run_as = match task.run_as {
        Ok(run_as) => run_as,
        Err(why) => return (ExitStatus::Unknown, began.elapsed(), Some(why)),
    };
    let mut command = Command::new(program);
    if let Some(user) = run_as {
        command.uid(user.uid).gid(user.gid);
    }
    let child = command
        .args(args)
        .current_dir(&task.cwd)
        .env_clear()
        .envs(task.env)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return (ExitStatus::Unknown, began.elapsed(), Some(format!("cannot run `{program}`: {error}")));
        }
    };
    match tokio::time::timeout(task.timeout, child.wait()).await {
        Ok(Ok(status)) => (exit_status(status), began.elapsed(), None),
        Ok(Err(error)) => (ExitStatus::Unknown, began.elapsed(), Some(error.to_string())),
        Err(_) => {
            if let Some(leader) = child.id() {
                // It leads its group, and unreaped its number is its own.
                drop(group::signal(leader, Signal::KILL));
            }
            drop(child.kill().await);
            (ExitStatus::Unknown, began.elapsed(), Some(format!("not done within {:?}", task.timeout)))
        }
    }
}

fn exit_status(status: std::process::ExitStatus) -> ExitStatus {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Unknown,
    }
}
