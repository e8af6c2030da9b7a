//! What phase an agent is in, as the facts say it one after the other.

use edgeplane_types::{
    AgentName, Continuity, Desired, Epoch, Fact, Generation, Phase, Timestamp, fact::Cause, life::ExitStatus,
};
use serde::{Deserialize, Serialize};

/// Types that a life is read from.
pub(crate) fn takes(kind: &str) -> bool {
    kind.starts_with("agent.")
}

/// An agent's life so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Life {
    pub(crate) name: Option<AgentName>,
    pub(crate) phase: Phase,
    pub(crate) desired: Option<Desired>,
    pub(crate) generation: Generation,
    pub(crate) epoch: Epoch,
    pub(crate) continuity: Option<Continuity>,
    pub(crate) reason: Option<String>,
    pub(crate) restarts: u32,
    pub(crate) healthy: Option<bool>,
    pub(crate) last_end: Option<ExitStatus>,
    pub(crate) since: Timestamp,
    pub(crate) removed: bool,
}

impl Life {
    pub(crate) fn new() -> Self {
        Self {
            name: None,
            phase: Phase::Declared,
            desired: None,
            generation: Generation(0),
            epoch: Epoch(0),
            continuity: None,
            reason: None,
            restarts: 0,
            healthy: None,
            last_end: None,
            since: Timestamp::from_micros(0),
            removed: false,
        }
    }

    /// Takes in a fact of this agent. Says whether anything of its life changed.
    pub(crate) fn follow(&mut self, fact: &Fact, at: Timestamp) -> bool {
        let was = self.phase;
        let changed = self.take(fact);
        if self.phase != was || self.since.as_micros() == 0 {
            self.since = at;
        }
        changed
    }

    fn take(&mut self, fact: &Fact) -> bool {
        match fact {
            Fact::AgentDeclared { name, generation, desired, .. } => {
                self.name = Some(name.clone());
                (self.generation, self.desired) = (*generation, Some(*desired));
            }
            Fact::AgentUpdated { generation, .. } => self.generation = *generation,
            Fact::AgentDesired { desired, generation, .. } => {
                (self.desired, self.generation) = (Some(*desired), *generation);
            }
            Fact::AgentInstallFailed { reason, .. } => self.reason = Some(reason.clone()),
            Fact::AgentStarting { epoch, cause } => {
                self.phase = Phase::Starting;
                (self.epoch, self.continuity, self.healthy) = (*epoch, None, None);
                let by_itself = matches!(cause, Cause::RestartPolicy | Cause::Probe);
                self.restarts = self.restarts.saturating_add(u32::from(by_itself));
            }
            Fact::AgentStarted { epoch, continuity, .. } => {
                self.phase = Phase::Running;
                (self.epoch, self.continuity, self.reason) = (*epoch, Some(*continuity), None);
            }
            Fact::AgentStartFailed { reason, .. } => self.reason = Some(reason.clone()),
            Fact::AgentAdopted { epoch, frozen, .. } => {
                self.phase = if *frozen { Phase::Frozen } else { Phase::Running };
                (self.epoch, self.reason) = (*epoch, None);
            }
            Fact::AgentUnobservable { reason, .. } => self.stand(Phase::Unobservable, Some(reason)),
            Fact::AgentExited { status, .. } => {
                self.last_end = Some(*status);
                self.reason = Some(format!("ended with {status}"));
            }
            Fact::AgentBackedOff { .. } => self.stand(Phase::Backoff, None),
            Fact::AgentFailed { reason } => self.stand(Phase::Failed, Some(reason)),
            Fact::AgentStopping { .. } => self.stand(Phase::Stopping, None),
            // Which of the two ends is meant, the desire says.
            Fact::AgentStopped {} if self.desired == Some(Desired::Hibernated) => {
                self.stand(Phase::Hibernated, None);
            }
            Fact::AgentStopped {} => self.stand(Phase::Stopped, None),
            Fact::AgentFrozen { .. } => self.stand(Phase::Frozen, None),
            Fact::AgentThawed { .. } => self.stand(Phase::Running, None),
            Fact::AgentQuarantined { reason, .. } => self.stand(Phase::Quarantined, Some(reason)),
            Fact::AgentRetired { reason } => self.stand(Phase::Retired, Some(reason)),
            Fact::AgentRemoved { .. } => self.removed = true,
            Fact::AgentProbed { healthy, reason } => {
                self.healthy = Some(*healthy);
                if !healthy {
                    self.reason = Some(reason.clone());
                }
            }
            _ => return false,
        }
        true
    }

    fn stand(&mut self, phase: Phase, reason: Option<&String>) {
        self.phase = phase;
        if let Some(reason) = reason {
            self.reason = Some(reason.clone());
        }
    }
}
