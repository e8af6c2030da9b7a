//! Bringing a node up: places, record, what a former daemon left, sockets; and down again in good order.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::Duration,
};

use edgeplane_lifecycle as lifecycle;
use edgeplane_manifest::Manifest;
use edgeplane_oidc::Issuers;
use edgeplane_os::{
    Mint,
    cgroup::{Hierarchies, NodeGroup, Sources},
    dirs::{DirsError, StateDirs, create_private_dir},
    lock::{DirLock, LockError},
    proc, sock,
};
use edgeplane_store::{AgentFilter, AgentRow, NewEvent, OpenError, Options, Store, StoredBody};
use edgeplane_substrate::shim::OwnShim;
use edgeplane_types::{Fact, NodeName, Phase, StreamName};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    adapters::Adapters,
    agent::{self, AgentIdentity, Birth},
    caller::CallingAgent,
    checks,
    gate::{self, Gate},
    held,
    identity::{self, IdentityError},
    keys::Keys,
    left_behind,
    neighbours::{Neighbours, artifacts, surfaces},
    overrides,
    overrides::Overrides,
    projections::Projections,
    record::{Draft, Origin, Record, chain},
    resources::Resources,
    server::{self, Presented},
    shared::{NodeIdentity, Registry, Shared},
    storage, tokens, trace,
    workspaces::Workspaces,
};

/// How long engines may take to end when the daemon does.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// How long after its start a node verifies its whole record.
const SETTLING: Duration = Duration::from_secs(60);

/// What a node is told.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where its things are.
    pub dirs: StateDirs,
    /// The shim's program.
    pub shim: PathBuf,
    /// The command line's program, which agents' programs start for EdgePlane's own tools. Where it is not there, they
    /// have none.
    pub cli: PathBuf,
    /// Whether agents live in cgroups where the machine allows it.
    pub cgroups: bool,
    /// The identity providers whose tokens count.
    pub issuers: Issuers,
    /// Whom the node uses for what it does not own.
    pub neighbours: Neighbours,
}

/// Why a node cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The daemon itself runs inside an agent.
    #[error("this process belongs to an agent, and a node inside an agent would supervise itself")]
    InsideAgent,
    /// Its folders.
    #[error("cannot use the node's folders")]
    Dirs(#[from] DirsError),
    /// Another daemon has the state directory.
    #[error("cannot take the state directory")]
    Lock(#[from] LockError),
    /// The shim is not where it should be.
    #[error("no shim at `{}`", .0.display())]
    NoShim(PathBuf),
    /// The record.
    #[error("cannot open the record")]
    Record(#[from] OpenError),
    /// A file of the node.
    #[error("cannot use `{}`", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Who it is.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Its socket.
    #[error("cannot listen")]
    Listen(#[from] sock::SockError),
    /// The store of checkpoints.
    #[error("cannot open the store of checkpoints")]
    Checkpoints(#[source] edgeplane_workspace::WorkspaceError),
    /// What cannot be read from the record.
    #[error("cannot read what a former daemon left: {0}")]
    Read(String),
    /// The machine does not say who it is.
    #[error("cannot identify this machine")]
    Machine(#[from] proc::ProcError),
}

/// A running node.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    // Held for as long as the node runs: one daemon a state directory.
    _lock: DirLock,
}

/// The way to a node for edges in its process.
#[derive(Debug, Clone)]
pub struct Edge {
    shared: Arc<Shared>,
}

impl Edge {
    /// Begins a conversation. Its caller is nobody; an agent's or a service's token makes it their bearer's. An
    /// operator's does not, because behind an edge may be an agent that found one, and the kernel says nothing of it.
    #[must_use]
    pub fn converse(&self) -> tokio::io::DuplexStream {
        self.converse_presenting(Presented::Nothing)
    }

    /// The same for somebody of whom the edge has seen something. What they present counts only here: shown as a token it
    /// is none.
    #[must_use]
    pub fn converse_presenting(&self, presented: Presented) -> tokio::io::DuplexStream {
        server::converse(&self.shared, presented)
    }
}

impl Node {
    /// Brings a node up. When it returns, the node answers, and every live shim is being taken over.
    ///
    /// # Errors
    /// If anything that it stands on is not there; nothing is left behind then.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let own_group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let host = Arc::clone(&config.neighbours.host);
        let environment = host.environment();
        let inside = environment.contains_key("EDGEPLANE_AGENT_ID");
        if inside || crate::shared::group_in_path(&own_group).is_some() {
            return Err(StartError::InsideAgent);
        }
        if !config.shim.is_file() {
            return Err(StartError::NoShim(config.shim));
        }
        let uid = proc::own_uid();
        config.dirs.create(uid)?;
        for name in ["agents", "shims"] {
            create_private_dir(&config.dirs.runtime.join(name), uid)?;
        }
        create_private_dir(&config.dirs.state.join("agents"), uid)?;
        let lock = DirLock::acquire(&config.dirs.state)?;
        let mint = Mint::system();
        let identity =
            identity::establish(&config.dirs.state, &mint, || host.name().unwrap_or_else(host_name))?;
        let (store, opening) = Store::open(&config.dirs.state.join("record"), &Options::STANDARD)?;
        tracing::info!(events = opening.head_pos, verified = opening.verified_events, "record is open");
        if let Some(damage) = &opening.damaged {
            tracing::error!(%damage, "the record is damaged and read-only");
        }
        let shared = Arc::new(share(&config, environment, identity, Record::new(store, mint))?);
        let node = Self { shared, _lock: lock };
        let stream = StreamName::Node(node.shared.identity.id);
        let was_full = storage::was_full(&node.shared.record.store().reader(), &stream, &opening.held);
        node.record_start().await;
        node.shared.keys.establish(&node.shared.record).await;
        crate::subagents::remove_unfinished(&node.shared).await;
        let taken_up = crate::workspaces::take_up(&node.shared).await;
        taken_up.map_err(|error| StartError::Read(error.message))?;
        node.take_over(&opening.held).await?;
        // Before anybody can change them: what is due is accounted for as it was declared.
        let automations = crate::automations::Engine::open(&node.shared).await;
        let automations = automations.map_err(|error| StartError::Read(error.message))?;
        node.listen(&config.dirs.socket)?;
        let held_events = opening.held.len().max(opening.merged_events).try_into().unwrap_or(u64::MAX);
        node.shared.tasks.spawn(storage::keep(Arc::clone(&node.shared), was_full, held_events));
        node.shared.tasks.spawn(verify_in_background(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(overrides::keep(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(gate::watch(Arc::clone(&node.shared)));
        if let Some(observer) = &node.shared.observer {
            node.shared.tasks.spawn(trace::feed::run(Arc::clone(&node.shared), Arc::clone(observer)));
        }
        node.shared.tasks.spawn(left_behind::take_up(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(crate::work::keep(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(crate::subagents::keep(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(crate::capabilities::keep(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(artifacts::take_up(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(surfaces::keep(Arc::clone(&node.shared)));
        node.shared.tasks.spawn(automations.keep());
        node.shared.tasks.spawn(crate::server::take_up_deliveries(Arc::clone(&node.shared)));
        Ok(node)
    }

    /// The way to this node for edges in its process.
    #[must_use]
    pub fn edge(&self) -> Edge {
        Edge { shared: Arc::clone(&self.shared) }
    }

    async fn record_start(&self) {
        let shared = &self.shared;
        let fact = Fact::NodeStarted {
            name: shared.identity.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            boot_id: shared.boot_id.clone(),
            pid: std::process::id(),
        };
        self.note(fact).await;
    }

    async fn note(&self, fact: Fact) {
        let mut draft = Draft::default();
        let stream = StreamName::Node(self.shared.identity.id);
        self.shared.record.add(&mut draft, stream, &Origin::node("node"), fact);
        if let Err(error) = self.shared.record.commit(draft.critical()).await {
            tracing::warn!(error = %chain(&error), "cannot record");
        }
    }

    fn listen(&self, path: &Path) -> Result<(), StartError> {
        let listener = sock::bind_listener(path, None)?;
        let until = self.shared.stopping.clone();
        server::serve(&self.shared, listener, None, until)
            .map_err(|source| StartError::File { path: path.to_owned(), source })
    }

    /// Brings up an engine for every agent that is not retired; each finds out by itself what is left of it.
    async fn take_over(&self, held: &[NewEvent]) -> Result<(), StartError> {
        let read = self.shared.record.read(|reader| reader.agents(&AgentFilter::default())).await;
        let rows = read.map_err(|error| StartError::Read(error.message))?;
        let standing = self.shared.record.read(|reader| reader.overrides(false)).await;
        let standing = standing.map_err(|error| StartError::Read(error.message))?;
        self.shared.overrides.take_up(standing, held);
        for mut row in rows {
            held::apply(&mut row, held);
            if row.phase == Phase::Retired {
                continue;
            }
            // Nothing is awaited here: no engine runs before every agent can be found by those that speak to it.
            self.bring_up(row, held)?;
        }
        Ok(())
    }

    fn bring_up(&self, row: AgentRow, held: &[NewEvent]) -> Result<(), StartError> {
        let manifest = Arc::new(self.manifest(&row)?);
        let policy = agent::policy(&manifest);
        let id = row.id;
        let hold = self.shared.record.look_up(|reader| reader.hold(&id));
        let hold = hold.map_err(|error| StartError::Read(error.message))?;
        let hold = held::hold(id, hold, held);
        let life = lifecycle::Agent::recovered(row.phase, row.epoch, row.desired, policy)
            .held(hold.map(|hold| hold.kind), hold.is_some_and(|hold| hold.resumes));
        let identity = AgentIdentity {
            id: row.id,
            name: row.name.clone(),
            tenant: row.tenant.clone(),
            session_id: row.session_id,
            declared_at: row.declared_at,
            set: row.set,
            parent: row.parent,
        };
        // Known before the node listens, so that nobody under it is taken for an operator meanwhile.
        if let Some(shim) = row.shim.as_ref().filter(|shim| shim.boot_id == self.shared.boot_id) {
            let agent = CallingAgent { id: row.id, name: row.name.clone(), epoch: row.epoch };
            self.shared.came_alive(&agent, (shim.pid, shim.start_time), &[]);
        }
        let tenant = row.tenant.clone();
        let generation = row.generation.max(row.desired_generation);
        let birth = Birth { identity, manifest, generation, life, left: Some(Box::new(row)) };
        let handle = agent::start(&self.shared, birth);
        self.shared.register(tenant, handle);
        Ok(())
    }

    fn manifest(&self, row: &AgentRow) -> Result<Manifest, StartError> {
        let damaged = |what: String| StartError::Read(format!("manifest of agent `{}`: {what}", row.name));
        let digest =
            row.manifest_digest.parse().map_err(|_bad| damaged("its digest is damaged".to_owned()))?;
        let body = self.shared.record.look_up(|reader| reader.body(&digest));
        match body.map_err(|error| damaged(error.message))? {
            Some(StoredBody::Bytes(bytes)) => {
                let value = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
                Manifest::from_json(&value).map_err(|problems| {
                    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
                    damaged(texts.join("; "))
                })
            }
            Some(StoredBody::Erased { reason }) => Err(damaged(format!("it was erased: {reason}"))),
            None => Err(damaged("it is missing".to_owned())),
        }
    }

    /// Waits until somebody asks the node to end.
    pub async fn ended(&self) {
        self.shared.stopping.cancelled().await;
    }

    /// Ends the daemon in good order. Agents run on, and the next daemon takes them over.
    pub async fn stop(self, reason: &str) {
        self.note(Fact::NodeStopped { reason: reason.to_owned() }).await;
        self.shared.stopping.cancel();
        self.shared.tasks.close();
        if tokio::time::timeout(END_TIME_MAX, self.shared.tasks.wait()).await.is_err() {
            tracing::warn!("some engines did not end in time");
        }
        drop(fs::remove_file(&self.shared.dirs.socket));
        self.shared.substrate.close();
        let store = self.shared.record.store().clone();
        drop(tokio::task::spawn_blocking(move || store.close()).await);
    }
}

fn share(
    config: &Config,
    environment: HashMap<String, String>,
    identity: NodeIdentity,
    record: Record,
) -> Result<Shared, StartError> {
    let hierarchies = Hierarchies::detect(&Sources::live());
    let group = group_name(&identity);
    let groups = match config.cgroups.then(|| NodeGroup::create(&hierarchies, &group)) {
        Some(Ok(groups)) => Some(groups),
        Some(Err(error)) => {
            tracing::warn!(error = %chain(&error), "agents get no cgroups");
            None
        }
        None => None,
    };
    let mut checks = checks::machine(&hierarchies, groups.is_some());
    checks.retain(|check| config.cgroups || check.name != "freeze" || check.status != "ok");
    let (started_at, state) = (record.now(), &config.dirs.state);
    Ok(Shared {
        started_at,
        gate: Gate::open(state.join("policy"), started_at, Arc::clone(&config.neighbours.policy)),
        keys: Keys::new(state, identity.id),
        issuers: config.issuers.clone(),
        adapters: Adapters::new(state),
        calls: server::Calls::default(),
        work: crate::work::Work::default(),
        subagents: crate::subagents::Subagents::default(),
        workspaces: workspaces(state, &record)?,
        neighbours: config.neighbours.clone(),
        artifacts: artifacts::Artifacts::default(),
        tokens: tokens::Known::default(),
        stopping: CancellationToken::new(),
        tasks: TaskTracker::new(),
        overrides: Overrides::default(),
        resources: Resources::default(),
        capabilities: crate::capabilities::Capabilities::default(),
        automations: crate::automations::Automations::default(),
        observer: config.neighbours.host.observer(),
        registry: RwLock::new(Registry::default()),
        projections: Arc::new(Projections::new(state)),
        standings: tokio::sync::watch::Sender::new(0),
        identity,
        dirs: config.dirs.clone(),
        environment,
        runner: config.shim.with_file_name("edgeplane-exec"),
        record,
        can_freeze: groups.is_some(),
        substrate: Arc::new(OwnShim::new(config.shim.clone(), groups)),
        cli: config.cli.is_file().then(|| config.cli.clone()),
        checks,
        boot_id: proc::boot_id()?,
    })
}

/// The store of checkpoints.
fn workspaces(state: &Path, record: &Record) -> Result<Workspaces, StartError> {
    let dir = crate::workspaces::store_dir(state);
    let store = edgeplane_workspace::Store::new(&dir, record.mint().clock.clone());
    Ok(Workspaces::new(store.map_err(StartError::Checkpoints)?))
}

/// Two nodes of one name may share a machine; their groups may not.
fn group_name(identity: &NodeIdentity) -> String {
    let id = identity.id.to_string();
    let tail = id.get(id.len().saturating_sub(8)..).unwrap_or_default();
    format!("{}-{tail}", identity.name)
}

/// The machine's name as a node's, or `node` if it cannot be one.
fn host_name() -> NodeName {
    let read = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let label: String = read
        .trim()
        .split('.')
        .next()
        .unwrap_or_default()
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(50)
        .collect();
    let label = label.trim_matches('-');
    #[expect(clippy::expect_used, reason = "the text is constant and follows the rule for names")]
    label.parse().unwrap_or_else(|_bad| "node".parse().expect("`node` is a name"))
}

/// Verifies the whole record once the node has settled; a record that fails takes no more events.
async fn verify_in_background(shared: Arc<Shared>) {
    tokio::select! {
        () = shared.stopping.cancelled() => return,
        () = tokio::time::sleep(SETTLING) => {}
    }
    let report = shared.record.read(|reader| edgeplane_store::verify(reader, &mut |_| {})).await;
    edgeplane_os::memory::give_back();
    match report {
        Ok(report) if report.ok => tracing::info!(events = report.events, "the record verifies"),
        Ok(report) => {
            let what =
                report.problems.first().map_or_else(|| "unnamed".to_owned(), |problem| problem.what.clone());
            tracing::error!(
                problems = report.problem_count,
                what,
                "the record fails verification and is read-only"
            );
            shared.record.store().mark_damaged(&what);
        }
        Err(error) => tracing::warn!(%error, "cannot verify the record"),
    }
}
