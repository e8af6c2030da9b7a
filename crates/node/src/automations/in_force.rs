//! Automations as they are declared, read from the record.

use std::sync::Arc;

use edgeplane_lifecycle::schedule::{Overlap, Schedule, State};
use edgeplane_manifest::{AutomationSpec, AutomationTrigger};
use edgeplane_store::{ReadError, Reader, ResourceFilter, ResourceRow};
use edgeplane_types::{ActsAs, AgentName, Authority, Fact, ResourceKind, ResourceUri, SafeLabel, Timestamp};
use edgeplane_wire::rpc::RpcError;

use crate::{
    caller::Caller,
    resources::{self, value},
    schedule::{self, Timed},
    shared::Shared,
};

/// A version of an automation.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    pub(crate) name: AgentName,
    pub(crate) version: u64,
    pub(crate) spec: Arc<AutomationSpec>,
    pub(crate) acts_as: ActsAs,
    /// When it was declared.
    pub(crate) at: Timestamp,
}

impl InForce {
    /// What a version says; nothing of an end, or of one that cannot be read.
    pub(crate) fn read(reader: &Reader, row: &ResourceRow) -> Result<Option<Self>, ReadError> {
        let Fact::ResourcePut(put) = &row.event.fact else { return Ok(None) };
        let held = match value::held_by(reader, row)? {
            Ok(held) => held,
            Err(error) => {
                tracing::error!(automation = row.path, %error, "it cannot be read");
                return Ok(None);
            }
        };
        let (Ok(name), Ok(spec)) = (row.path.parse(), serde_json::from_value::<AutomationSpec>(held)) else {
            tracing::error!(automation = row.path, "it is not declared as one");
            return Ok(None);
        };
        // One without anybody was written by nobody who could be asked: it weighs nothing.
        let nobody = || ActsAs {
            principal: SafeLabel::sanitized("unknown"),
            agent_id: None,
            token_id: None,
            authority: Authority::Untrusted,
        };
        Ok(Some(Self {
            name,
            version: row.version,
            spec: Arc::new(spec),
            acts_as: put.acts_as.clone().unwrap_or_else(nobody),
            at: row.event.ts,
        }))
    }

    /// Whether it is somebody's business: operators', and the agent's that declared it.
    pub(crate) fn concerns(&self, caller: &Caller) -> bool {
        caller.is_operator() || self.acts_as.agent_id.is_some_and(|agent| caller.is_agent(agent))
    }

    /// Its times, if it fires by the clock.
    pub(super) fn schedule(&self) -> Option<Schedule> {
        let AutomationTrigger::Schedule(schedule) = &self.spec.on else { return None };
        let mut seed = b"automation/".to_vec();
        seed.extend_from_slice(self.name.as_str().as_bytes());
        let timed = Timed { timing: &schedule.timing, overlap: Overlap::Skip, seed };
        match schedule::compile_timing(timed, self.at) {
            Ok(schedule) => Some(schedule),
            Err(error) => {
                tracing::error!(automation = %self.name, %error, "its times cannot be read");
                None
            }
        }
    }

    /// When it is due next after a moment, if it fires by the clock.
    pub(crate) fn due_after(&self, at: Timestamp) -> Option<Timestamp> {
        self.schedule()?.due_after(at)
    }

    /// How far it is accounted for, as the record has it. `is_new`: it was declared while this daemon serves.
    pub(super) fn state(&self, reader: &Reader, is_new: bool) -> Result<Option<State>, ReadError> {
        let Some(schedule) = self.schedule() else { return Ok(None) };
        let Some(row) = reader.automation(self.name.as_str())? else { return Ok(None) };
        Ok(schedule::state_at(row.accounted_until, &self.name, is_new.then_some(&schedule)))
    }
}

fn uri(name: &AgentName) -> Option<ResourceUri> {
    ResourceUri::new(ResourceKind::Automation, name.clone())
}

/// The automation of this name, as it is declared now.
pub(crate) fn one(shared: &Shared, name: &str) -> Result<Option<InForce>, RpcError> {
    let Some(uri) = name.parse().ok().and_then(|name| uri(&name)) else { return Ok(None) };
    shared.record.look_up(|reader| {
        let Some(row) = reader.resource(&uri)? else { return Ok(None) };
        InForce::read(reader, &row)
    })
}

/// Every automation, by name.
pub(crate) async fn all(shared: &Shared) -> Result<Vec<InForce>, RpcError> {
    let most = usize::try_from(resources::OF_KIND_MAX).unwrap_or(usize::MAX);
    let read = move |reader: &Reader| {
        let filter = ResourceFilter { kind: Some(ResourceKind::Automation), ..ResourceFilter::default() };
        let mut found = Vec::new();
        for row in reader.resources(&filter, most)? {
            found.extend(InForce::read(reader, &row)?);
        }
        Ok(found)
    };
    shared.record.read(read).await
}

/// A version of an automation that has fired.
pub(super) fn version(reader: &Reader, name: &AgentName, version: u64) -> Result<Option<InForce>, ReadError> {
    let Some(uri) = uri(name) else { return Ok(None) };
    match reader.resource_at(&uri, version)? {
        Some(row) => InForce::read(reader, &row),
        None => Ok(None),
    }
}
