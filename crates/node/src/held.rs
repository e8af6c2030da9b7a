//! Facts that a full disk kept out of the record: a new daemon goes on from the record and these.

use edgeplane_store::{AgentRow, Hold, NewEvent};
use edgeplane_types::{AgentId, Fact, Phase, StreamName};

/// How overrides hold an agent, by the record and by the facts that no reader sees yet.
pub(crate) fn hold(agent: AgentId, recorded: Option<Hold>, held: &[NewEvent]) -> Option<Hold> {
    let stream = StreamName::Agent(agent);
    let own = held.iter().filter(|event| event.stream == stream);
    own.fold(recorded, |hold, event| match &event.fact {
        Fact::AgentHeld { kind, resumes } => Some(Hold { kind: *kind, resumes: *resumes }),
        Fact::AgentLetGo {} => None,
        _ => hold,
    })
}

/// Moves an agent's row on by the facts of its stream that no reader sees yet.
pub(crate) fn apply(row: &mut AgentRow, held: &[NewEvent]) {
    let stream = StreamName::Agent(row.id);
    for event in held.iter().filter(|event| event.stream == stream) {
        fold(row, &event.fact);
    }
}

fn fold(row: &mut AgentRow, fact: &Fact) {
    match fact {
        Fact::AgentDesired { desired, generation, .. } => {
            row.desired = *desired;
            row.desired_generation = *generation;
        }
        Fact::AgentStarted { process, shim, cgroup, continuity, .. } => {
            row.phase = Phase::Running;
            row.process = Some(process.clone());
            row.shim = Some(shim.clone());
            row.cgroup.clone_from(cgroup);
            row.continuity = Some(*continuity);
        }
        Fact::AgentAdopted { frozen, .. } => row.phase = if *frozen { Phase::Frozen } else { Phase::Running },
        Fact::AgentFrozen { .. } => row.phase = Phase::Frozen,
        Fact::AgentThawed { .. } => row.phase = Phase::Running,
        Fact::AgentStopping { .. } => row.phase = Phase::Stopping,
        Fact::AgentUnobservable { .. } => row.phase = Phase::Unobservable,
        Fact::AgentQuarantined { .. } => row.phase = Phase::Quarantined,
        Fact::AgentBackedOff { .. } => row.phase = Phase::Backoff,
        Fact::AgentStopped {} => row.phase = Phase::Stopped,
        Fact::AgentRetired { .. } => row.phase = Phase::Retired,
        Fact::AgentFailed { reason } => {
            row.phase = Phase::Failed;
            row.last_reason = Some(reason.clone());
        }
        Fact::AgentExited { status, .. } => {
            row.process = None;
            row.shim = None;
            row.cgroup = None;
            row.last_status = Some(*status);
        }
        // What begins something new is never held, and the rest does not move an agent.
        _ => {}
    }
}
