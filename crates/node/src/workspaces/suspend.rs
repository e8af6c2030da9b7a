//! Who works in a folder, and having them stand still for a moment.

use std::{path::Path, sync::Arc};

use edgeplane_substrate::Place;
use edgeplane_types::{Phase, fact::Suspended};

use crate::{
    agent::{AgentHandle, Command},
    record::chain,
    shared::Shared,
};

/// Whether an agent may have a live process in this phase.
pub(crate) fn may_work(phase: Phase) -> bool {
    match phase {
        Phase::Starting
        | Phase::Running
        | Phase::Frozen
        | Phase::Stopping
        | Phase::Unobservable
        | Phase::Quarantined => true,
        Phase::Declared
        | Phase::Backoff
        | Phase::Stopped
        | Phase::Failed
        | Phase::Hibernated
        | Phase::Retired => false,
    }
}

/// The agents with a program that may be at work in a folder, or in one that has a part of it.
pub(crate) async fn users(shared: &Arc<Shared>, folder: &str) -> Vec<AgentHandle> {
    let mut found = Vec::new();
    for handle in shared.agents() {
        let phase = handle.summary.borrow().phase;
        if !may_work(phase) {
            continue;
        }
        let Ok((manifest, _generation)) = handle.ask(Command::Manifest).await else { continue };
        let own = match &manifest.spec.cwd {
            Some(cwd) => Path::new(cwd.as_str()).to_owned(),
            None => shared.agents_dir().join(handle.id.to_string()).join("workspace"),
        };
        let own = super::blocking(move || std::fs::canonicalize(&own).unwrap_or(own)).await;
        let Ok(own) = own else { continue };
        if own.starts_with(folder) || Path::new(folder).starts_with(&own) {
            found.push(handle);
        }
    }
    found
}

/// Agents that can be made to stand still, each with its epoch.
#[derive(Debug)]
pub(super) struct Standing {
    shared: Arc<Shared>,
    agents: Vec<(AgentHandle, Place)>,
    /// Whether nobody else may be at work.
    pub(super) is_all: bool,
    still: Vec<usize>,
}

impl Standing {
    pub(super) fn of(shared: &Arc<Shared>, users: Vec<AgentHandle>) -> Self {
        let mut standing =
            Self { shared: Arc::clone(shared), agents: Vec::new(), is_all: true, still: Vec::new() };
        for handle in users {
            let (phase, epoch) = {
                let summary = handle.summary.borrow();
                (summary.phase, summary.epoch)
            };
            match phase {
                Phase::Frozen => {}
                Phase::Running if shared.can_freeze => {
                    let place = shared.place(handle.id, &handle.name, epoch);
                    standing.agents.push((handle, place));
                }
                _ => standing.is_all = false,
            }
        }
        standing
    }

    /// Whom it would suspend.
    pub(super) fn suspends(&self) -> Vec<Suspended> {
        let each =
            |(handle, place): &(AgentHandle, Place)| Suspended { agent_id: handle.id, epoch: place.epoch };
        self.agents.iter().map(each).collect()
    }

    /// Suspends them. Whoever cannot be is read beside its work, and that is said.
    pub(super) fn still(&mut self) {
        for (number, (handle, place)) in self.agents.iter().enumerate() {
            match self.shared.substrate.freeze(place) {
                Ok(()) => self.still.push(number),
                Err(error) => {
                    self.is_all = false;
                    tracing::warn!(agent = %handle.name, error = %chain(&error), "cannot suspend an agent");
                    // A part of it may stand still.
                    let_go(&self.shared, handle, place);
                }
            }
        }
        self.shared.failpoint("checkpoint.frozen");
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        for number in &self.still {
            if let Some((handle, place)) = self.agents.get(*number) {
                let_go(&self.shared, handle, place);
            }
        }
    }
}

/// Lets an agent go on, unless somebody has frozen it meanwhile.
fn let_go(shared: &Shared, handle: &AgentHandle, place: &Place) {
    if handle.summary.borrow().phase == Phase::Frozen {
        return;
    }
    if let Err(error) = shared.substrate.thaw(place) {
        tracing::warn!(agent = %handle.name, error = %chain(&error), "cannot let an agent go on");
    }
}
