//! The machine, and what surrounds an agent's program on it.

use std::collections::BTreeMap;

use edgeplane_manifest::{Driver, EnvValue, Manifest, is_env_passed};
use edgeplane_store::Health;
use edgeplane_types::{ErrorName, OverrideScope, Phase};
use edgeplane_wire::{
    api::{
        agent::AgentParams,
        machine::{
            CapacityView, EnvironmentView, HostParams, HostView, HostsResult, LeftView, LimitView,
            ListHostsParams, LoadView, SandboxView, UserView,
        },
    },
    rpc::RpcError,
};

use super::{Session, agent_itself, check_owner};
use crate::{
    agent::{Command, Shown},
    users,
};

const UNKNOWN: &str = "unknown";
const UNAVAILABLE: &str = "unavailable";

pub(in crate::server) async fn environment(
    session: &Session,
    params: AgentParams,
) -> Result<EnvironmentView, RpcError> {
    let agent = agent_itself(session, &params.agent)?;
    check_owner(session, agent.id)?;
    let view = agent.ask(Command::View).await??;
    let (manifest, _) = agent.ask(Command::Manifest).await?;
    let id = agent.id;
    let row = session.shared.record.look_up(|reader| reader.session(&id))?;
    let pid = view.status.process.as_ref().map(|process| process.pid);
    let place = session.shared.place(agent.id, &agent.name, view.status.epoch);
    let substrate = std::sync::Arc::clone(&session.shared.substrate);
    let lives = pid.is_some();
    let looked = tokio::task::spawn_blocking(move || {
        let in_force = if lives { substrate.limits(&place) } else { Vec::new() };
        (in_force, pid.map(read_status).unwrap_or_default())
    });
    let (in_force, status) =
        looked.await.map_err(|_cut| RpcError::new(ErrorName::Internal, "the look was cut off"))?;
    let uid = view.status.identities.principal.uid;
    let known = users::known(uid);
    let name = known.as_ref().map_or_else(|| UNKNOWN.to_owned(), |known| known.name.clone());
    let spec = &manifest.spec;
    Ok(EnvironmentView {
        agent: agent.name.to_string(),
        agent_id: agent.id,
        epoch: view.status.epoch,
        phase: view.status.phase,
        as_of: session.shared.record.now(),
        source: if lives { "epoch" } else { "manifest" }.to_owned(),
        stale: lives && view.status.observed_generation != view.status.generation,
        cwd: view.status.identities.memory.workspace.clone(),
        additional_roots: Vec::new(),
        shell: known.as_ref().map_or_else(|| UNKNOWN.to_owned(), |known| known.shell.clone()),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        user: UserView { name, uid, gid: known.as_ref().map(|known| known.gid) },
        variables: variables(session, &manifest),
        sandbox: SandboxView {
            profile: "none".to_owned(),
            no_new_privs_asked: spec.no_new_privs,
            no_new_privs: word_of(status.get("NoNewPrivs"), &["no", "yes"]),
            seccomp: word_of(status.get("Seccomp"), &["none", "strict", "filter"]),
            cgroup: cgroup(session, &view),
        },
        limits: limits(session, &manifest, (lives, &in_force)),
        network: "host".to_owned(),
        substrate: "shim".to_owned(),
        driver: driver_word(&spec.driver).to_owned(),
        program: spec.command.first().cloned().unwrap_or_default(),
        version: row.and_then(|row| row.program).unwrap_or_else(|| UNKNOWN.to_owned()),
    })
}

fn cgroup(session: &Session, view: &Shown) -> String {
    match &view.status.identities.process.cgroup {
        Some(dir) => dir.clone(),
        None if session.shared.can_freeze => UNAVAILABLE.to_owned(),
        None => "not_applicable".to_owned(),
    }
}

fn driver_word(driver: &Driver) -> &'static str {
    match driver {
        Driver::Native { .. } => "native",
        Driver::Terminal { .. } => "terminal",
        Driver::Acp { .. } => "acp",
        Driver::Exec { .. } => "exec",
    }
}

/// What the kernel says of a process, by name. Empty if it is gone.
fn read_status(pid: u32) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
}

/// The word for a number that the kernel gave.
fn word_of(found: Option<&String>, words: &[&str]) -> String {
    let index = found.and_then(|text| text.parse::<usize>().ok());
    index.and_then(|index| words.get(index)).map_or(UNAVAILABLE, |word| *word).to_owned()
}

/// The names of the variables that the program has, as its manifest and the daemon's own variables make them.
fn variables(session: &Session, manifest: &Manifest) -> Vec<String> {
    let (shared, spec) = (&session.shared, &manifest.spec);
    let passed = shared.environment.keys().filter(|name| {
        is_env_passed(name) || spec.inherit_env.iter().any(|inherited| inherited.as_str() == name.as_str())
    });
    let mut names: Vec<String> = passed.cloned().collect();
    names.push("PATH".to_owned());
    names.retain(|name| name != "TERM");
    if matches!(spec.driver, Driver::Terminal { .. }) {
        names.push("TERM".to_owned());
    }
    let is_there = |value: &EnvValue| match value {
        EnvValue::Text(_) => true,
        // One that need not be there is not there if its source is not.
        EnvValue::Secret { secret } => spec.secrets.iter().any(|declared| {
            declared.name == *secret
                && (declared.required
                    || match &declared.from {
                        edgeplane_manifest::SecretSource::File(path) => {
                            std::path::Path::new(path.as_str()).exists()
                        }
                        edgeplane_manifest::SecretSource::Env(name) => {
                            shared.environment.contains_key(name.as_str())
                        }
                    })
        }),
    };
    let own = spec.env.iter().filter(|(_, value)| is_there(value)).map(|(name, _)| name.as_str().to_owned());
    names.extend(own);
    let node =
        ["EDGEPLANE_SOCKET", "EDGEPLANE_AGENT", "EDGEPLANE_AGENT_ID", "EDGEPLANE_NODE", "EDGEPLANE_EPOCH"];
    names.extend(node.map(str::to_owned));
    names.sort_unstable();
    names.dedup();
    names
}

fn limits(
    session: &Session,
    manifest: &Manifest,
    (lives, in_force): (bool, &[edgeplane_os::cgroup::InForce]),
) -> Vec<LimitView> {
    let asked = &manifest.spec.limits;
    let of_group = |name: &str, asked: Option<u64>| {
        let found = in_force.iter().find(|limit| limit.name == name);
        let value = found.and_then(|limit| limit.value);
        let is_missing = session
            .shared
            .checks
            .iter()
            .any(|check| check.name == format!("{name} limit") && check.status != "ok");
        let state = match (asked, value) {
            (_, Some(_)) => "in_force",
            (None, None) => "not_asked",
            (Some(_), None) if lives || is_missing => "missing",
            (Some(_), None) => UNAVAILABLE,
        };
        LimitView {
            name: name.to_owned(),
            asked,
            in_force: value,
            state: state.to_owned(),
            path: found.map(|limit| limit.path.to_string_lossy().into_owned()),
        }
    };
    let open_files = asked.open_files.map(u64::from);
    vec![
        of_group("memory", asked.memory.map(edgeplane_manifest::ByteSize::bytes)),
        of_group("pids", asked.pids.map(u64::from)),
        of_group("cpu", asked.cpu.map(edgeplane_manifest::MilliCpu::as_millis)),
        LimitView {
            name: "open_files".to_owned(),
            asked: open_files,
            // Each process has it by itself; the shim sets it before the program is there, or there is no program.
            in_force: open_files.filter(|_| lives),
            state: match (open_files, lives) {
                (None, _) => "not_asked",
                (Some(_), true) => "in_force",
                (Some(_), false) => UNAVAILABLE,
            }
            .to_owned(),
            path: None,
        },
    ]
}

pub(in crate::server) async fn hosts(
    session: &Session,
    params: ListHostsParams,
) -> Result<HostsResult, RpcError> {
    let host = this_host(session).await;
    let is_wanted = params.labels.iter().all(|(key, value)| host.labels.get(key) == Some(value));
    Ok(HostsResult { items: is_wanted.then_some(host).into_iter().collect() })
}

pub(in crate::server) async fn host(session: &Session, params: HostParams) -> Result<HostView, RpcError> {
    let own = &session.shared.identity;
    if params.host == own.name.as_str() || params.host == own.id.to_string() {
        return Ok(this_host(session).await);
    }
    let shown: String = edgeplane_driver::render::clean(&params.host).chars().take(80).collect();
    Err(RpcError::new(ErrorName::NotFound, format!("no host `{shown}`"))
        .hint("a node that belongs to no fleet knows its own machine only: `edgeplane host` shows it"))
}

async fn this_host(session: &Session) -> HostView {
    let shared = &session.shared;
    let (mut agents, mut left) = (BTreeMap::<String, u64>::new(), Promised::default());
    for agent in shared.agents() {
        let phase = agent.summary.borrow().phase;
        let count = agents.entry(phase.as_str().to_owned()).or_default();
        *count = count.saturating_add(1);
        if may_live(phase)
            && agent.profile().replicas.is_none()
            && let Ok((manifest, _)) = agent.ask(Command::Manifest).await
        {
            left.take(&manifest);
        }
    }
    let memory = meminfo("MemTotal:");
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let capacity = CapacityView {
        cpu_milli: u64::try_from(cpus).unwrap_or(1).saturating_mul(1_000),
        memory_bytes: memory,
    };
    let load = loadavg();
    let all = shared.overrides.all();
    let is_held = all.iter().any(|row| row.scope == OverrideScope::Node(true));
    let status = match shared.record.store().health() {
        Health::Damaged(_) => "damaged",
        Health::Degraded { .. } => "storage_full",
        Health::Serving if is_held => "held",
        Health::Serving => "ready",
    };
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    HostView {
        host_id: shared.identity.id,
        name: shared.identity.name.clone(),
        status: status.to_owned(),
        labels: BTreeMap::from([
            label("os", std::env::consts::OS),
            label("arch", std::env::consts::ARCH),
            label("node", shared.identity.name.as_str()),
        ]),
        kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")
            .map_or_else(|_none| UNKNOWN.to_owned(), |text| text.trim().to_owned()),
        boot_id: shared.boot_id.clone(),
        capacity,
        load: LoadView {
            one_minute_milli: load.first().copied(),
            five_minutes_milli: load.get(1).copied(),
            fifteen_minutes_milli: load.get(2).copied(),
            memory_available_bytes: meminfo("MemAvailable:"),
        },
        left: left.of(capacity),
        agents,
        features: shared.checks.clone(),
        as_of: shared.record.now(),
    }
}

/// What agents that may live are allowed to take.
#[derive(Debug, Default)]
struct Promised {
    cpu_milli: u64,
    memory_bytes: u64,
    without_cpu: u64,
    without_memory: u64,
}

impl Promised {
    fn take(&mut self, manifest: &Manifest) {
        let limits = &manifest.spec.limits;
        match limits.cpu {
            Some(cpu) => self.cpu_milli = self.cpu_milli.saturating_add(cpu.as_millis()),
            None => self.without_cpu = self.without_cpu.saturating_add(1),
        }
        match limits.memory {
            Some(memory) => self.memory_bytes = self.memory_bytes.saturating_add(memory.bytes()),
            None => self.without_memory = self.without_memory.saturating_add(1),
        }
    }

    fn of(&self, capacity: CapacityView) -> LeftView {
        LeftView {
            cpu_milli: capacity.cpu_milli.saturating_sub(self.cpu_milli),
            memory_bytes: capacity.memory_bytes.map(|all| all.saturating_sub(self.memory_bytes)),
            without_cpu_limit: self.without_cpu,
            without_memory_limit: self.without_memory,
        }
    }
}

fn may_live(phase: Phase) -> bool {
    !matches!(phase, Phase::Declared | Phase::Hibernated | Phase::Stopped | Phase::Failed | Phase::Retired)
}

fn meminfo(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes.saturating_mul(1_024))
}

/// The three averages of the kernel in thousandths.
fn loadavg() -> Vec<u64> {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let milli = |word: &str| {
        let (whole, part) = word.split_once('.')?;
        let part: u64 = format!("{part:0<3}").get(..3)?.parse().ok()?;
        Some(whole.parse::<u64>().ok()?.saturating_mul(1_000).saturating_add(part))
    };
    text.split_whitespace().take(3).map_while(milli).collect()
}
