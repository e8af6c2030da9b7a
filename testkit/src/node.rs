//! A node in folders of its own.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use edgeplane_types::{DeliveryMode, Phase, Rung};
use edgeplane_wire::{
    api::{
        Empty,
        agent::{AgentParams, AgentView, ApplyParams, ChangeParams, Document, WaitParams},
        message::{SignalParams, SignalResult},
        stream::{EventView, ReplayParams, Target},
    },
    catalogue::{AgentApply, AgentGet, AgentSignal, AgentStop, AgentWait, AuditVerify, NodeStatus},
    rpc::RpcError,
};

use crate::{
    Connection,
    callers::words,
    wait::{PATIENCE, eventually_some},
};

/// The programs under test, beside each other.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// `edgeplaned`.
    pub daemon: PathBuf,
    /// `edgeplane-shim`.
    pub shim: PathBuf,
    /// `edgeplane`.
    pub cli: PathBuf,
}

impl Binaries {
    /// Those of the build that the running test belongs to.
    ///
    /// # Panics
    /// If they are not built: `cargo build --workspace --bins` does that.
    #[must_use]
    pub fn built() -> Self {
        let test = std::env::current_exe().expect("a test has a file");
        // target/<profile>/deps/<test>
        let dir = test.parent().and_then(Path::parent).expect("tests lie two below their profile").to_owned();
        let found = Self {
            daemon: dir.join("edgeplaned"),
            shim: dir.join("edgeplane-shim"),
            cli: dir.join("edgeplane"),
        };
        for path in [&found.daemon, &found.shim] {
            assert!(
                path.is_file(),
                "`{}` is not built: run `cargo build --workspace --bins`",
                path.display()
            );
        }
        found
    }
}

/// How a node is set up.
#[derive(Debug, Clone, Default)]
pub struct NodeOptions {
    /// No cgroups even where the machine has them.
    pub no_cgroups: bool,
    /// State in this folder instead of a fresh one.
    pub state_dir: Option<PathBuf>,
    /// Further variables of the daemon's environment.
    pub env: Vec<(String, String)>,
}

/// A node. Dropping it ends everything it started.
#[derive(Debug)]
pub struct Node {
    binaries: Binaries,
    options: NodeOptions,
    dir: tempfile::TempDir,
    daemon: Option<Child>,
}

impl Node {
    /// A running node.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(NodeOptions::default())
    }

    /// A running node, set up as told.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start_with(options: NodeOptions) -> Self {
        let dir =
            tempfile::Builder::new().prefix("edgeplane-test-").tempdir().expect("a folder for the node");
        let mut node = Self { binaries: Binaries::built(), options, dir, daemon: None };
        node.up();
        node
    }

    /// Whether the next daemon gives agents cgroups where the machine has them.
    pub fn set_no_cgroups(&mut self, no_cgroups: bool) {
        self.options.no_cgroups = no_cgroups;
    }

    /// Whether agents live in cgroups here.
    #[must_use]
    pub fn has_cgroups(&self) -> bool {
        let status = self.connect().call::<NodeStatus>(&Empty {});
        status.checks.iter().all(|check| check.name != "cgroups in use")
    }

    /// Descriptors that the daemon has open, those of the question included. Only the daemon can tell: nobody else of
    /// its user may look at it.
    #[must_use]
    pub fn open_files(&self) -> u64 {
        self.connect().call::<NodeStatus>(&Empty {}).open_files
    }

    /// A folder for the test's own files.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        let path = self.dir.path().join("scratch");
        std::fs::create_dir_all(&path).expect("a folder for the test's files");
        path
    }

    /// A program of the test's own. It is there whole or not at all, also for an interpreter that begins to read it while
    /// the next agent is given the same one.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let (path, draft) = (self.scratch().join(name), self.scratch().join(format!("{name}.draft")));
        std::fs::write(&draft, text).expect("the program is written");
        std::fs::rename(&draft, &path).expect("the program is put in its place");
        path
    }

    /// Where the record is.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.options.state_dir.clone().unwrap_or_else(|| self.dir.path().join("state"))
    }

    /// Where the sockets are.
    #[must_use]
    pub fn runtime_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    /// The node's socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.runtime_dir().join("edgeplaned.sock")
    }

    /// What the daemon has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("daemon.log")).unwrap_or_default()
    }

    /// The programs it runs.
    #[must_use]
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// The daemon as a command with the node's environment, not yet started.
    #[must_use]
    pub fn daemon_command(&self) -> Command {
        let mut command = Command::new(&self.binaries.daemon);
        self.set_environment(&mut command);
        command
    }

    /// The CLI as a command with the node's environment.
    #[must_use]
    pub fn cli(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binaries.cli);
        self.set_environment(&mut command);
        command.args(args);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        command
            .env_remove("EDGEPLANE_SOCKET")
            .env("EDGEPLANE_STATE_DIR", self.state_dir())
            .env("EDGEPLANE_RUNTIME_DIR", self.runtime_dir())
            .env("EDGEPLANE_SHIM", &self.binaries.shim)
            .envs(self.options.env.iter().map(|(name, value)| (name.as_str(), value.as_str())))
            .stdin(Stdio::null());
        if self.options.no_cgroups {
            command.env("EDGEPLANE_NO_CGROUPS", "true");
        }
    }

    /// Starts the daemon and waits until it answers.
    ///
    /// # Panics
    /// If it ends or does not answer in time.
    pub fn up(&mut self) {
        let ended = self.try_up();
        assert!(ended.is_none(), "the daemon ended with {ended:?}:\n{}", self.log());
    }

    /// Starts the daemon and waits until it answers, or gives the status with which it ended before.
    ///
    /// # Panics
    /// If it cannot be started or does neither in time.
    pub fn try_up(&mut self) -> Option<std::process::ExitStatus> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join("daemon.log"))
            .expect("a log for the daemon");
        let child =
            self.daemon_command().stdout(Stdio::null()).stderr(log).spawn().expect("the daemon starts");
        let pid = child.id();
        self.daemon = Some(child);
        let mut ended = None;
        eventually_some("the daemon answers", || {
            ended = self.daemon.as_mut().and_then(|daemon| daemon.try_wait().ok().flatten());
            if ended.is_some() {
                return Some(());
            }
            // The socket of a daemon that was killed a moment ago may still take connections, and never answers.
            let status = Connection::open(&self.socket()).ok()?.try_call::<NodeStatus>(&Empty {}).ok()?;
            (status.pid == pid).then_some(())
        });
        if ended.is_some() {
            self.daemon = None;
        }
        ended
    }

    /// Whether the daemon has ended by itself; it is reaped then.
    ///
    /// # Panics
    /// If that cannot be known.
    pub fn has_ended(&mut self) -> bool {
        let Some(daemon) = &mut self.daemon else { return true };
        let ended = daemon.try_wait().expect("the daemon is looked at").is_some();
        if ended {
            self.daemon = None;
        }
        ended
    }

    /// Kills the daemon with SIGKILL and waits until it is gone.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill_daemon(&mut self) {
        let mut daemon = self.daemon.take().expect("the daemon runs");
        daemon.kill().expect("the daemon can be killed");
        daemon.wait().expect("the daemon is waited for");
    }

    /// Asks the daemon with SIGTERM to end and waits until it has, without a failure.
    ///
    /// # Panics
    /// If it does not run or reports a failure.
    pub fn stop_daemon(&mut self) {
        let mut daemon = self.daemon.take().expect("the daemon runs");
        crate::signals::send(daemon.id(), edgeplane_os::Signal::TERM);
        let status = daemon.wait().expect("the daemon is waited for");
        assert!(status.success(), "the daemon ended with {status}:\n{}", self.log());
    }

    /// The daemon's pid.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn daemon_pid(&self) -> u32 {
        self.daemon.as_ref().expect("the daemon runs").id()
    }

    /// A conversation with the node.
    ///
    /// # Panics
    /// If it does not answer.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::open(&self.socket()).unwrap_or_else(|error| panic!("{error}\n{}", self.log()))
    }

    /// Applies a manifest.
    ///
    /// # Errors
    /// What the node answers.
    pub fn try_apply(&self, text: &str) -> Result<edgeplane_wire::api::agent::ApplyResult, RpcError> {
        let folder = self.scratch().to_string_lossy().into_owned();
        let document = Document { file: "test.yaml".into(), text: text.into(), folder };
        self.connect().try_call::<AgentApply>(&ApplyParams { documents: vec![document], dry_run: false })
    }

    /// Applies a manifest that must be taken.
    ///
    /// # Panics
    /// If it is not.
    pub fn apply(&self, text: &str) {
        if let Err(error) = self.try_apply(text) {
            panic!("apply: {error}\n{text}");
        }
    }

    /// Applies a manifest and waits until its one agent runs.
    ///
    /// # Panics
    /// If it does not.
    pub fn run(&self, name: &str, text: &str) {
        self.apply(text);
        self.wait(name, Phase::Running);
    }

    /// Waits for a phase.
    ///
    /// # Panics
    /// If it does not come.
    pub fn wait(&self, name: &str, phase: Phase) {
        let timeout_ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        let params = WaitParams { agent: name.into(), phases: vec![phase], timeout_ms };
        if let Err(error) = self.connect().try_call::<AgentWait>(&params) {
            panic!("{error}\nhistory: {:#?}\nlog: {}", self.history(name), self.log());
        }
    }

    /// An agent as others see it.
    ///
    /// # Panics
    /// If there is none of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> AgentView {
        self.connect().call::<AgentGet>(&AgentParams { agent: name.into() })
    }

    /// The pid of an agent's program.
    ///
    /// # Panics
    /// If none runs.
    #[must_use]
    pub fn pid(&self, name: &str) -> u32 {
        let view = self.get(name);
        view.status.process.unwrap_or_else(|| panic!("no process of {name}: {:?}", view.status.phase)).pid
    }

    /// The pid of an agent's shim.
    ///
    /// # Panics
    /// If none runs.
    #[must_use]
    pub fn shim_pid(&self, name: &str) -> u32 {
        self.get(name).status.identities.process.shim.expect("a shim runs").pid
    }

    /// Sends a message.
    ///
    /// # Errors
    /// What the node answers.
    pub fn try_signal(&self, name: &str, text: &str, wait: Option<Rung>) -> Result<SignalResult, RpcError> {
        self.connect().try_call::<AgentSignal>(&signal_params(name, text, wait))
    }

    /// Sends a message that must be taken.
    ///
    /// # Panics
    /// If it is not.
    pub fn signal(&self, name: &str, text: &str, wait: Option<Rung>) -> SignalResult {
        self.try_signal(name, text, wait).unwrap_or_else(|error| panic!("signal {name}: {error}"))
    }

    /// An agent's events, oldest first; of the whole node with an empty name.
    #[must_use]
    pub fn history(&self, name: &str) -> Vec<EventView> {
        let target = if name.is_empty() { Target::node() } else { Target::agent(name) };
        self.events_by(ReplayParams { target, limit: Some(10_000), ..ReplayParams::default() })
    }

    /// How many events of a type an agent has.
    #[must_use]
    pub fn count(&self, name: &str, kind: &str) -> usize {
        self.history(name).iter().filter(|event| event.event["type"] == kind).count()
    }

    /// The whole record verifies.
    ///
    /// # Panics
    /// If it does not.
    pub fn verify(&self) {
        let report = self.connect().call::<AuditVerify>(&Empty {});
        assert!(report.ok, "{report:#?}");
    }

    /// Stops an agent and waits until it has.
    ///
    /// # Panics
    /// If it does not stop.
    pub fn stop(&self, name: &str) {
        self.connect().call::<AgentStop>(&ChangeParams { agent: name.into(), reason: None });
        self.wait(name, Phase::Stopped);
    }
}

/// The parameters of a plain message.
#[must_use]
pub(crate) fn signal_params(name: &str, text: &str, wait: Option<Rung>) -> SignalParams {
    SignalParams { wait, ..words(name, text, DeliveryMode::Queue) }
}

impl Drop for Node {
    /// Ends every agent, then the daemon in good order, then whatever is left of either.
    fn drop(&mut self) {
        if self.daemon.is_none() && !std::thread::panicking() {
            self.up();
        }
        self.retire_all();
        if let Some(mut daemon) = self.daemon.take() {
            if let Ok(fd) = edgeplane_os::pidfd::open(daemon.id()) {
                drop(edgeplane_os::pidfd::send_signal(&fd, edgeplane_os::Signal::TERM));
                drop(edgeplane_os::pidfd::is_exited_within(&fd, Duration::from_secs(5)));
            }
            drop(daemon.kill());
            drop(daemon.wait());
        }
        let own = self.runtime_dir().to_string_lossy().into_owned();
        edgeplane_os::wait::until(edgeplane_os::wait::Deadline::after(Duration::from_secs(5)), || {
            let left = of_node(&own);
            for pid in &left {
                if let Ok(fd) = edgeplane_os::pidfd::open(*pid) {
                    drop(edgeplane_os::pidfd::send_signal(&fd, edgeplane_os::Signal::KILL));
                }
            }
            left.is_empty()
        });
    }
}

impl Node {
    fn retire_all(&self) {
        let Ok(mut connection) = Connection::open(&self.socket()) else { return };
        let empty = edgeplane_os::wait::Deadline::after(Duration::from_secs(10));
        edgeplane_os::wait::until(empty, || {
            let Ok(list) = connection.try_raw("runtime/agent.list", serde_json::json!({})) else {
                return true;
            };
            let items = list["items"].as_array().cloned().unwrap_or_default();
            for item in &items {
                if let Some(name) = item["metadata"]["name"].as_str() {
                    let params = ChangeParams { agent: name.to_owned(), reason: None };
                    let method = if item["status"]["phase"] == "quarantined" { "release" } else { "retire" };
                    let params = serde_json::to_value(params).unwrap_or_default();
                    drop(connection.try_raw(&format!("runtime/agent.{method}"), params));
                }
            }
            items.is_empty()
        });
    }
}

/// Processes whose environment names the node's own folder.
fn of_node(folder: &str) -> Vec<u32> {
    let all = edgeplane_os::proc::all().unwrap_or_default();
    let names_it = |pid: &u32| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.windows(folder.len()).any(|window| window == folder.as_bytes())
    };
    all.into_iter().filter(|pid| *pid != std::process::id()).filter(names_it).collect()
}
