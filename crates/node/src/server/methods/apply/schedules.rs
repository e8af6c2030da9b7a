//! The schedules of a set of manifests: those in documents of their own are put beside their agents', and what all of
//! them change is found out before anything is.

use edgeplane_manifest::{Manifest, ScheduleBody, ScheduleManifest, Sourced};
use edgeplane_types::{AgentName, ErrorName, Tenant};
use edgeplane_wire::{
    api::agent::{AppliedSchedule, Change},
    rpc::RpcError,
};

use super::Plan;
use crate::{
    agent::AgentHandle,
    record::{Draft, Origin},
    schedule::{self, Changed, Declaring, InForce},
    server::Session,
    shared::Shared,
};

/// What becomes of the schedules of one agent.
pub(super) struct SchedulePlan {
    pub(super) agent: AgentName,
    /// The agent, if the node knows it.
    pub(super) known: Option<AgentHandle>,
    /// Those in documents of their own.
    pub(super) alone: Vec<(AgentName, ScheduleBody)>,
    pub(super) changes: Vec<Changed>,
}

impl SchedulePlan {
    pub(super) fn is_unchanged(&self) -> bool {
        self.changes.iter().all(|changed| changed.change == Change::Unchanged)
    }

    pub(super) fn describe(&self) -> impl Iterator<Item = AppliedSchedule> {
        self.changes.iter().map(|changed| AppliedSchedule {
            agent: self.agent.clone(),
            name: changed.name.clone(),
            change: changed.change,
        })
    }
}

/// Plans the schedules of every agent that the set speaks of: first the agents of the set, then others.
pub(super) fn plan(
    session: &Session,
    agents: &[Plan],
    documents: Vec<Sourced<ScheduleManifest>>,
) -> Result<Vec<SchedulePlan>, RpcError> {
    let mut plans: Vec<(SchedulePlan, Option<&Manifest>)> = agents
        .iter()
        .map(|plan| {
            let known = plan.known.as_ref().map(|(handle, _)| handle.clone());
            (empty(plan.manifest.metadata.name.clone(), known), Some(plan.manifest.as_ref()))
        })
        .collect();
    for Sourced { file, line, manifest } in documents {
        let ScheduleManifest { metadata, spec, .. } = manifest;
        let one = (metadata.name, spec.body);
        if let Some((plan, _)) = plans.iter_mut().find(|(plan, _)| plan.agent == spec.agent) {
            plan.alone.push(one);
            continue;
        }
        let known = session.shared.agent(&Tenant::default(), spec.agent.as_str());
        let Ok(handle) = known else {
            let what = format!(
                "{file}:{line}: spec.agent: found `{}`, expected an agent of the same files or of this node",
                spec.agent
            );
            return Err(
                RpcError::new(ErrorName::InvalidManifest, what).hint("apply that agent first, or together")
            );
        };
        let mut plan = empty(spec.agent, Some(handle));
        plan.alone.push(one);
        plans.push((plan, None));
    }
    plans.into_iter().map(|(plan, manifest)| planned(session, plan, manifest)).collect()
}

fn empty(agent: AgentName, known: Option<AgentHandle>) -> SchedulePlan {
    SchedulePlan { agent, known, alone: Vec::new(), changes: Vec::new() }
}

fn planned(
    session: &Session,
    mut plan: SchedulePlan,
    manifest: Option<&Manifest>,
) -> Result<SchedulePlan, RpcError> {
    let in_force: Vec<InForce> = match &plan.known {
        Some(handle) => {
            let rows = session.shared.record.look_up(|reader| reader.schedules_of(&handle.id))?;
            rows.into_iter().map(InForce::from).collect()
        }
        None => Vec::new(),
    };
    let inline = manifest.map(|manifest| manifest.spec.schedules.as_slice());
    plan.changes = schedule::changes(&plan.agent, &in_force, inline, &plan.alone)?;
    Ok(plan)
}

/// Adds the schedules of an agent that is new to what makes it durable.
pub(super) fn draft(
    shared: &Shared,
    draft: &mut Draft,
    origin: &Origin,
    agent: edgeplane_types::AgentId,
    plan: &SchedulePlan,
) -> Result<(), RpcError> {
    for Changed { name, in_manifest, body, .. } in &plan.changes {
        let Some(body) = body else { continue };
        let declaring = Declaring { agent, name, body, in_manifest: *in_manifest, before: None };
        schedule::draft_declared(&shared.record, draft, origin, &declaring)?;
    }
    Ok(())
}
