//! What every engine of a node shares: its places, its record, its agents by name, and who lives where.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use edgeplane_oidc::Issuers;
use edgeplane_os::dirs::StateDirs;
use edgeplane_substrate::{Place, Substrate};
use edgeplane_types::{AgentId, AgentName, Assurance, Epoch, ErrorName, NodeId, NodeName, Tenant, Timestamp};
use edgeplane_wire::{api::core::Check, rpc::RpcError};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    adapters::Adapters,
    agent::AgentHandle,
    automations::Automations,
    caller::{CallingAgent, Living},
    capabilities::Capabilities,
    gate::Gate,
    keys::Keys,
    neighbours::{Neighbours, artifacts::Artifacts},
    observer::Observer,
    overrides::Overrides,
    projections::Projections,
    record::Record,
    resources::Resources,
    server::Calls,
    subagents::Subagents,
    tokens,
    work::Work,
    workspaces::Workspaces,
};

/// Who the node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeIdentity {
    pub(crate) id: NodeId,
    pub(crate) name: NodeName,
}

/// What every engine shares.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) identity: NodeIdentity,
    pub(crate) dirs: StateDirs,
    pub(crate) environment: HashMap<String, String>,
    /// The program that runs others once for each turn.
    pub(crate) runner: PathBuf,
    pub(crate) record: Record,
    pub(crate) substrate: Arc<dyn Substrate>,
    /// The command line's program, if it is there.
    pub(crate) cli: Option<std::path::PathBuf>,
    pub(crate) checks: Vec<Check>,
    pub(crate) boot_id: String,
    /// Whether agents can be suspended here.
    pub(crate) can_freeze: bool,
    pub(crate) started_at: Timestamp,
    pub(crate) stopping: CancellationToken,
    pub(crate) tasks: TaskTracker,
    pub(crate) gate: Gate,
    pub(crate) keys: Keys,
    /// The identity providers whose tokens count.
    pub(crate) issuers: Issuers,
    pub(crate) adapters: Adapters,
    pub(crate) overrides: Overrides,
    pub(crate) resources: Resources,
    pub(crate) capabilities: Capabilities,
    pub(crate) automations: Automations,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) calls: Calls,
    pub(crate) work: Work,
    pub(crate) subagents: Subagents,
    pub(crate) workspaces: Workspaces,
    pub(crate) neighbours: Neighbours,
    pub(crate) artifacts: Artifacts,
    pub(crate) tokens: tokens::Known,
    pub(crate) registry: RwLock<Registry>,
    pub(crate) projections: Arc<Projections>,
    /// Changes whenever somebody may have lost or got the right to speak as who they are.
    pub(crate) standings: watch::Sender<u64>,
}

/// Its agents, and who lives where. Only this module looks into it.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    agents: HashMap<AgentId, AgentHandle>,
    names: HashMap<(Tenant, AgentName), AgentId>,
    shims: HashMap<(u32, u64), CallingAgent>,
    groups: HashMap<u64, CallingAgent>,
}

impl Shared {
    /// Where a test may let the daemon die.
    pub(crate) fn failpoint(&self, name: &str) {
        edgeplane_os::failpoint::pass(&self.dirs.state, name);
    }

    /// Where the recordings of all agents are.
    pub(crate) fn agents_dir(&self) -> PathBuf {
        self.dirs.state.join("agents")
    }

    /// The socket of an epoch's own processes.
    pub(crate) fn epoch_socket(&self, agent: AgentId, epoch: Epoch) -> PathBuf {
        self.dirs.runtime.join("agents").join(format!("{agent}.{epoch}.sock"))
    }

    pub(crate) fn place(&self, agent_id: AgentId, name: &AgentName, epoch: Epoch) -> Place {
        Place {
            agent_id,
            name: name.clone(),
            epoch,
            dir: crate::recordings::epoch_dir(&self.agents_dir(), &agent_id.to_string(), epoch),
            socket: self.dirs.runtime.join("shims").join(format!("{agent_id}.{epoch}.sock")),
        }
    }

    pub(crate) fn register(&self, tenant: Tenant, handle: AgentHandle) {
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        registry.names.insert((tenant, handle.name.clone()), handle.id);
        registry.agents.insert(handle.id, handle);
    }

    /// Frees the name of a retired agent.
    pub(crate) fn unregister(&self, tenant: &Tenant, name: &AgentName, id: AgentId) {
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        registry.agents.remove(&id);
        let key = (tenant.clone(), name.clone());
        if registry.names.get(&key) == Some(&id) {
            registry.names.remove(&key);
        }
    }

    /// Every agent, by name.
    pub(crate) fn agents(&self) -> Vec<AgentHandle> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        let mut agents: Vec<_> = registry.agents.values().cloned().collect();
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        agents
    }

    /// The living agent with this id.
    pub(crate) fn agent_by_id(&self, id: AgentId) -> Option<AgentHandle> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.agents.get(&id).cloned()
    }

    /// The replicas of a set that are not retired, in their order.
    pub(crate) fn replicas_of(&self, set: AgentId) -> Vec<AgentHandle> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        let is_one = |agent: &&AgentHandle| {
            agent.set == Some(set) && agent.summary.borrow().phase != edgeplane_types::Phase::Retired
        };
        let mut found: Vec<_> = registry.agents.values().filter(is_one).cloned().collect();
        // By number, which as text sorts 10 before 2.
        found.sort_by(|a, b| (a.name.as_str().len(), &a.name).cmp(&(b.name.as_str().len(), &b.name)));
        found
    }

    /// The agent of this name or id.
    pub(crate) fn agent(&self, tenant: &Tenant, text: &str) -> Result<AgentHandle, RpcError> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        let id = match text.parse::<AgentId>() {
            Ok(id) => Some(id),
            Err(_) => text
                .parse::<AgentName>()
                .ok()
                .and_then(|name| registry.names.get(&(tenant.clone(), name)).copied()),
        };
        if let Some(handle) = id.and_then(|id| registry.agents.get(&id)) {
            return Ok(handle.clone());
        }
        let shown = edgeplane_driver::render::clean(text).chars().take(80).collect::<String>();
        let error = RpcError::new(ErrorName::NotFound, format!("no agent `{shown}`"));
        let names = registry.names.keys().filter(|(of, _)| of == tenant).map(|(_, name)| name.as_str());
        match nearest(text, names) {
            Some(near) => Err(error.hint(format!("did you mean `{near}`?"))),
            None => Err(error.hint("`edgeplane agent list` shows the agents there are")),
        }
    }

    /// Makes a live epoch known to the proof of callers.
    pub(crate) fn came_alive(&self, agent: &CallingAgent, shim: (u32, u64), groups: &[u64]) {
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        registry.shims.insert(shim, agent.clone());
        for group in groups {
            registry.groups.insert(*group, agent.clone());
        }
        drop(registry);
        self.standings_changed();
    }

    /// Lets those look again whose callers may have lost the right to speak as who they are.
    pub(crate) fn standings_changed(&self) {
        self.standings.send_modify(|changes| *changes = changes.wrapping_add(1));
    }

    /// Whether this epoch lives, as far as is known.
    pub(crate) fn is_alive(&self, agent: AgentId, epoch: Epoch) -> bool {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.shims.values().any(|of| (of.id, of.epoch) == (agent, epoch))
    }

    /// Forgets an epoch that is over.
    pub(crate) fn died(&self, agent: AgentId, epoch: Epoch) {
        let mut registry = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        registry.shims.retain(|_, of| (of.id, of.epoch) != (agent, epoch));
        registry.groups.retain(|_, of| (of.id, of.epoch) != (agent, epoch));
        drop(registry);
        self.standings_changed();
    }
}

impl Living for Shared {
    fn by_shim(&self, pid: u32, start_time: u64) -> Option<CallingAgent> {
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        registry.shims.get(&(pid, start_time)).cloned()
    }

    fn by_group(&self, group_id: u64, pid: Option<u32>) -> Option<CallingAgent> {
        {
            let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(agent) = registry.groups.get(&group_id) {
                return Some(agent.clone());
            }
        }
        // An agent may make groups below its own. Of a live process the path tells; of a dead one, only a search.
        let (id, epoch) = match pid {
            Some(pid) => group_in_path(&std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?)?,
            None => self.substrate.epoch_of_group(group_id)?,
        };
        let registry = self.registry.read().unwrap_or_else(PoisonError::into_inner);
        let name = registry.agents.get(&id)?.name.clone();
        Some(CallingAgent { id, name, epoch })
    }

    fn assurance(&self) -> Assurance {
        Assurance::Open
    }
}

/// The agent and epoch in a process's group path, such as `0::/edgeplane-n/agt_….3/work`.
pub(crate) fn group_in_path(text: &str) -> Option<(AgentId, Epoch)> {
    let components = text.lines().flat_map(|line| line.split('/'));
    components.into_iter().find_map(|component| {
        let (agent, epoch) = component.split_once('.')?;
        Some((agent.parse().ok()?, Epoch(epoch.parse().ok()?)))
    })
}

/// The name that differs from `text` by the fewest letters, if that is few enough.
fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (distance(text, name), name));
    let (score, name) = scored.min()?;
    (score <= 2 && score < text.chars().count()).then_some(name)
}

/// Edit distance, for names of at most 63 letters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut above_left = i;
        let mut left = i.saturating_add(1);
        for (slot, y) in row.iter_mut().skip(1).zip(&b) {
            let best =
                (*slot).min(left).saturating_add(1).min(above_left.saturating_add(usize::from(x != *y)));
            above_left = *slot;
            *slot = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let names = ["alpha", "beta", "reviewer"];
        assert_eq!(nearest("alhpa", names.into_iter()), Some("alpha"));
        assert_eq!(nearest("reviewr", names.into_iter()), Some("reviewer"));
        assert_eq!(nearest("zzz", names.into_iter()), None);
    }

    /// Proves ID-005.
    #[test]
    fn group_is_read_from_any_depth_of_the_path() {
        let id = AgentId::from_parts(1, [1; 10]);
        let text = format!("9:name=systemd:/\n0::/edgeplane-n/{id}.3/work/own/sub\n");
        assert_eq!(group_in_path(&text), Some((id, Epoch(3))));
        assert_eq!(group_in_path("0::/user.slice/user-0.slice\n"), None);
    }
}
