//! What others see of an agent: its manifest, where it stands, its seven identities.

use std::collections::BTreeMap;

use edgeplane_lifecycle::State;
use edgeplane_types::{
    ErrorName, Phase, Rung, Timestamp,
    identity::{
        AuditView, AuthorityView, Identities, MemoryView, NetworkView, PrincipalView, ProcessView,
        SessionView,
    },
};
use edgeplane_wire::{
    api::agent::{AgentStatus, ReplicasView},
    rpc::RpcError,
};
use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{Actor, standing::Standing};
use crate::caller::{AGENT_AUTHORITY_MAX, Living as _};

/// An [`AgentView`](edgeplane_wire::api::agent::AgentView) as it is answered, its longest part as text: every look at an agent carries the whole manifest, and
/// nothing here looks into it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    api_version: &'static str,
    kind: &'static str,
    pub(crate) metadata: Value,
    spec: Box<RawValue>,
    pub(crate) status: AgentStatus,
}

impl Shown {
    pub(crate) fn new(metadata: Value, spec: &impl Serialize, status: AgentStatus) -> Result<Self, RpcError> {
        let spec = to_raw_value(spec).map_err(|error| unwritable(&error))?;
        Ok(Self { api_version: "edgeplane.dev/v1alpha1", kind: "Agent", metadata, spec, status })
    }
}

fn unwritable(error: &serde_json::Error) -> RpcError {
    RpcError::new(ErrorName::Internal, format!("the manifest cannot be written: {error}"))
}

impl Actor {
    pub(super) fn view(&mut self) -> Result<Shown, RpcError> {
        let manifest = &self.manifest;
        let mut metadata = serde_json::to_value(&manifest.metadata).map_err(|error| unwritable(&error))?;
        if let Some(fields) = metadata.as_object_mut() {
            fields.insert("id".to_owned(), Value::String(self.identity.id.to_string()));
            fields.insert("tenant".to_owned(), Value::String(self.identity.tenant.to_string()));
        }
        let status = self.status()?;
        Shown::new(metadata, &self.manifest.spec, status)
    }

    fn status(&mut self) -> Result<AgentStatus, RpcError> {
        let standing = self.standing()?;
        let (waiting_messages, messages) = (standing.waiting, by_name(&standing.messages));
        let state = self.life.state();
        let live = self.live.as_ref();
        let activity = if alive(state) { self.activity_now() } else { self.activity };
        Ok(AgentStatus {
            phase: if self.is_set() { self.phase_of_set() } else { state.phase() },
            desired: self.life.desired(),
            generation: self.generation,
            observed_generation: self.observed_generation,
            activity: activity.state,
            activity_evidence: activity.evidence,
            epoch: self.last_epoch,
            restarts: self.restarts,
            continuity: self.continuity,
            reason: self.reason_now(state),
            process: live.and_then(|live| live.process.clone()).filter(|_| alive(state)),
            started_at: live.and_then(|live| live.started_at),
            next_start_at: self.next_start(),
            waiting_messages,
            messages,
            output_bytes: live.map_or(self.last_output_bytes, |live| live.head),
            healthy: self.healthy,
            hooks: self.hooks_view(),
            overrides: self.overrides().iter().map(|row| crate::overrides::mark(row)).collect(),
            identities: self.identities(standing),
            replicas: self.replicas_now(),
            set: self.set_name(),
            parent: self.identity.parent,
        })
    }

    fn replicas_now(&self) -> Option<ReplicasView> {
        let wanted = self.manifest.spec.set_of()?;
        let members = self.members();
        let running = members.iter().filter(|member| member.summary.borrow().phase == Phase::Running);
        Some(ReplicasView {
            wanted,
            running: u32::try_from(running.count()).unwrap_or(u32::MAX),
            names: members.iter().map(|member| member.name.to_string()).collect(),
        })
    }

    fn set_name(&self) -> Option<String> {
        let set = self.shared.agent_by_id(self.identity.set?)?;
        Some(set.name.to_string())
    }

    /// The program's own name for its session, of this epoch or the one to go on with.
    fn resume_handle(&self, recorded: Option<String>) -> Option<String> {
        self.acp().and_then(|acp| acp.resume_handle()).map(str::to_owned).or(recorded)
    }

    fn next_start(&self) -> Option<Timestamp> {
        self.backoff.map(|(_, at)| at)
    }

    fn reason_now(&self, state: State) -> Option<String> {
        if let Some(why) = self.held_reason().filter(|_| state != State::Retired) {
            return Some(why);
        }
        match state.phase() {
            Phase::Running => match self.acp().and_then(|acp| acp.failure()) {
                Some(why) => Some(why.to_owned()),
                None => self.gate.reason().map(|why| format!("its terminal takes nothing: {why}")),
            },
            Phase::Starting | Phase::Declared => None,
            _ => self.reason.clone(),
        }
    }

    fn identities(&self, standing: Standing) -> Identities {
        let id = self.identity.id;
        let Standing { head, memory, resume_handle, .. } = standing;
        let live = self.live.as_ref().filter(|_| alive(self.life.state()));
        let name = self.identity.name.clone();
        let node = self.shared.identity.name.clone();
        let uid = match &self.manifest.spec.user {
            Some(user) => crate::users::look_up(user.as_str()).map_or(u32::MAX, |found| found.uid),
            None => edgeplane_os::proc::own_uid(),
        };
        Identities {
            process: ProcessView {
                epoch: self.last_epoch,
                executable: self.manifest.spec.command.first().cloned().unwrap_or_default(),
                process: live.and_then(|live| live.process.clone()),
                shim: live.and_then(|live| live.shim.clone()),
                cgroup: live.and_then(|live| live.group.clone()),
                node: self.shared.identity.id,
            },
            session: SessionView {
                session_id: self.identity.session_id,
                resume_handle: self.resume_handle(resume_handle),
            },
            network: NetworkView {
                address: format!("{name}@{node}"),
                name: name.clone(),
                node,
                tenant: self.identity.tenant.clone(),
                socket: live.map(|live| {
                    self.shared.epoch_socket(id, live.place.epoch).to_string_lossy().into_owned()
                }),
            },
            principal: PrincipalView {
                name: self
                    .manifest
                    .spec
                    .principal
                    .as_ref()
                    .map_or_else(|| name.to_string(), ToString::to_string),
                uid,
                on_behalf_of: Vec::new(),
            },
            memory: MemoryView {
                store: format!("memory/{id}"),
                keys: memory.keys,
                workspace: self.workspace().to_string_lossy().into_owned(),
            },
            authority: AuthorityView {
                as_sender: AGENT_AUTHORITY_MAX,
                assurance: self.shared.assurance(),
                decided_by: "channel and proof of origin".to_owned(),
            },
            audit: AuditView {
                agent_id: id,
                stream: self.stream(),
                events: head.as_ref().map_or(0, |head| head.seq),
                head: head.map(|head| head.hash.to_string()).unwrap_or_default(),
                declared_at: self.identity.declared_at,
            },
        }
    }
}

/// Numbers of messages by the names of their rungs.
pub(crate) fn by_name(counts: &BTreeMap<Rung, u64>) -> BTreeMap<String, u64> {
    counts.iter().map(|(rung, count)| (rung.as_str().to_owned(), *count)).collect()
}

fn alive(state: State) -> bool {
    matches!(
        state,
        State::Running(_) | State::Frozen(_) | State::Stopping { .. } | State::Unobservable { .. }
    )
}
