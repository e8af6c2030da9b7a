//! What the lifecycle's notes are in the record: the same steps with the details that only the engine has.

use edgeplane_lifecycle::Note;
use edgeplane_types::{
    Desired, Epoch, Fact, fact::TreeEvidence, identity::ProcessIdentity, life::ExitStatus,
};

use super::Actor;

/// How an epoch ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) output_bytes: u64,
    pub(super) tree: TreeEvidence,
    pub(super) ran_ms: u64,
}

impl Ended {
    /// The end of an epoch that nobody saw.
    pub(super) fn unseen(tree: TreeEvidence, output_bytes: u64) -> Self {
        Self { status: ExitStatus::Unknown, output_bytes, tree, ran_ms: 0 }
    }
}

/// Stands for a process that was never seen, so that an event can still be written.
fn unseen_process() -> ProcessIdentity {
    ProcessIdentity { pid: 0, start_time: 0, boot_id: String::new() }
}

impl Actor {
    /// The fact of a note. `why` is what the engine or its caller gives as the reason.
    pub(super) fn fact(&mut self, note: Note, why: &str) -> Fact {
        match note {
            Note::Desired(desired) => {
                self.generation = self.generation.next();
                Fact::AgentDesired { desired, generation: self.generation, reason: why.to_owned() }
            }
            Note::Starting(epoch, cause) => Fact::AgentStarting { epoch, cause },
            Note::Started(epoch) => self.started(epoch),
            Note::StartFailed(epoch) => Fact::AgentStartFailed { epoch, reason: why.to_owned() },
            Note::Adopted(epoch) => Fact::AgentAdopted {
                epoch,
                output_bytes: self.live.as_ref().map_or(0, |live| live.head),
                frozen: self.live.as_ref().is_some_and(|live| self.shared.substrate.is_frozen(&live.place)),
            },
            Note::Stopping(epoch, cause) => {
                let stop = &self.manifest.spec.stop;
                Fact::AgentStopping {
                    epoch,
                    cause,
                    signal: stop.signal.number(),
                    grace_ms: stop.grace.as_millis(),
                }
            }
            Note::Exited(epoch) => {
                let ended = self
                    .ended
                    .unwrap_or_else(|| Ended::unseen(TreeEvidence::Operator, self.last_output_bytes));
                Fact::AgentExited {
                    epoch,
                    status: ended.status,
                    output_bytes: ended.output_bytes,
                    tree: ended.tree,
                    ran_ms: ended.ran_ms,
                }
            }
            Note::BackedOff { delay_ms, attempt } => Fact::AgentBackedOff { delay_ms, restarts: attempt },
            Note::FailedEnd => {
                Fact::AgentFailed { reason: format!("ended with {} and is not restarted", self.end_text()) }
            }
            Note::FailedLoop(times) => Fact::AgentFailed {
                reason: format!("ended {times} times in too short a time, last with {}", self.end_text()),
            },
            Note::Stopped => Fact::AgentStopped {},
            Note::Frozen(epoch) => Fact::AgentFrozen { epoch },
            Note::Thawed(epoch) => Fact::AgentThawed { epoch },
            Note::Unobservable(epoch) => Fact::AgentUnobservable { epoch, reason: why.to_owned() },
            Note::Quarantined(epoch) => Fact::AgentQuarantined { epoch, reason: why.to_owned() },
            Note::Held { kind, resumes } => Fact::AgentHeld { kind, resumes },
            Note::LetGo => Fact::AgentLetGo {},
            Note::Retired => Fact::AgentRetired { reason: why.to_owned() },
        }
    }

    pub(super) fn started(&self, epoch: Epoch) -> Fact {
        let live = self.live.as_ref();
        Fact::AgentStarted {
            epoch,
            process: live.and_then(|live| live.process.clone()).unwrap_or_else(unseen_process),
            shim: live.and_then(|live| live.shim.clone()).unwrap_or_else(unseen_process),
            cgroup: live.and_then(|live| live.group.clone()),
            continuity: self.continuity,
        }
    }

    fn end_text(&self) -> String {
        match (&self.ended, self.live.as_ref().and_then(|live| live.fail_text.clone())) {
            (_, Some(text)) => text,
            (Some(ended), None) => ended.status.to_string(),
            (None, None) => self.reason.clone().unwrap_or_else(|| "an unknown end".to_owned()),
        }
    }

    /// Why the agent is in its phase, for people.
    pub(super) fn remember_reason(&mut self, fact: &Fact) {
        match fact {
            Fact::AgentStartFailed { reason, .. }
            | Fact::AgentFailed { reason }
            | Fact::AgentUnobservable { reason, .. }
            | Fact::AgentQuarantined { reason, .. } => self.reason = Some(reason.clone()),
            Fact::AgentExited { status, .. } => self.reason = Some(format!("ended with {status}")),
            Fact::AgentDesired { desired: Desired::Running, .. } => self.restarts = 0,
            Fact::AgentStarted { .. } | Fact::AgentAdopted { .. } => self.reason = None,
            _ => {}
        }
    }
}
