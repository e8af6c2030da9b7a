//! The host application: the process that a node runs in, and what it gives the node.

use std::{collections::HashMap, fmt::Debug, sync::Arc};

use edgeplane_types::NodeName;

use crate::observer::Observer;

/// Gives a node what is its process's.
pub trait Host: Debug + Send + Sync {
    /// The name of a node that has none yet.
    fn name(&self) -> Option<NodeName>;

    /// The environment, from which agents get what their manifests ask for. It is asked once, at the start.
    fn environment(&self) -> HashMap<String, String>;

    /// Who counts and exports what the node does, if somebody does.
    fn observer(&self) -> Option<Arc<dyn Observer>>;
}

/// A host that says what it was told: the default, and the double.
#[derive(Debug, Clone, Default)]
pub struct GivenHost {
    /// The name of a node that has none yet.
    pub name: Option<NodeName>,
    /// The environment.
    pub environment: HashMap<String, String>,
    /// Who looks on.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Host for GivenHost {
    fn name(&self) -> Option<NodeName> {
        self.name.clone()
    }

    fn environment(&self) -> HashMap<String, String> {
        self.environment.clone()
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.observer.clone()
    }
}
