//! What control groups can do here, for people.

use serde::Serialize;

use super::detect::{Controller, Hierarchies, Place};

/// What serves a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// The unified hierarchy.
    V2,
    /// A hierarchy of its own.
    V1,
    /// Nothing.
    None,
}

/// What serves a function, and where or why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Backing {
    /// What serves it.
    pub backend: Backend,
    /// The directory it uses, or why there is none.
    pub reason: String,
}

/// What serves each function that an epoch may need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Knowing which processes belong to it.
    pub membership: Backing,
    /// Knowing when none is left.
    pub emptiness: Backing,
    /// Stopping all of them and letting them go on.
    pub freeze: Backing,
    /// Ending all of them.
    pub kill: Backing,
    /// Limiting their memory.
    pub memory: Backing,
    /// Limiting their number.
    pub pids: Backing,
    /// Limiting their time on processors.
    pub cpu: Backing,
}

impl Hierarchies {
    /// Says what serves each function.
    #[must_use]
    pub fn report(&self) -> Report {
        let tree = self.tree();
        Report {
            membership: tree.clone(),
            emptiness: tree.clone(),
            freeze: tree.clone(),
            kill: tree,
            memory: self.limit(Controller::Memory),
            pids: self.limit(Controller::Pids),
            cpu: self.limit(Controller::Cpu),
        }
    }

    /// What serves everything that needs to know the processes.
    pub(super) fn tree(&self) -> Backing {
        backing(&self.v2, &self.v1(Controller::Freezer))
    }

    /// What serves one limit.
    pub(super) fn limit(&self, controller: Controller) -> Backing {
        let v2 = match &self.v2 {
            Place::At(_) if !self.v2_controllers.contains(&controller) => {
                Place::Nowhere(format!("v2 does not offer `{controller}`"))
            }
            other => other.clone(),
        };
        backing(&v2, &self.v1(controller))
    }
}

fn backing(v2: &Place, v1: &Place) -> Backing {
    match (v2, v1) {
        (Place::At(dir), _) => Backing { backend: Backend::V2, reason: dir.display().to_string() },
        (Place::Nowhere(_), Place::At(dir)) => {
            Backing { backend: Backend::V1, reason: dir.display().to_string() }
        }
        (Place::Nowhere(two), Place::Nowhere(one)) => {
            Backing { backend: Backend::None, reason: format!("{two}; {one}") }
        }
    }
}
