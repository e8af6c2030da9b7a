//! The neighbours of this node: what it uses and does not own, each behind a trait.
//!
//! Owns which ones there are and what a caller is told when one fails. What one says is checked here before it is
//! given or recorded. The traits, their defaults and their doubles are in `edgeplane-neighbour`.

pub(crate) mod artifacts;
pub(crate) mod contexts;
pub(crate) mod host;
pub(crate) mod lines;
pub(crate) mod surfaces;

use std::{path::Path, sync::Arc};

use edgeplane_connector::{Connectors, ToolServers};
use edgeplane_neighbour::{
    NeighbourError,
    artifact::{ArtifactStore, FolderArtifacts},
    context::{ContextStore, FolderContexts},
    evidence::{EvidenceBackend, FolderEvidence},
    model::{ModelProvider, ReportedModels},
    peer::{NoPeers, Peers},
    surface::{NoInterface, UserInterface},
};
use edgeplane_policy::{Cedar, PolicyEngine};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;

use crate::record::chain;
pub use host::{GivenHost, Host};

/// Whom a node uses: the nine neighbours.
#[derive(Debug, Clone)]
pub struct Neighbours {
    /// Who is told that something waits for a person.
    pub interface: Arc<dyn UserInterface>,
    /// Who knows models.
    pub models: Arc<dyn ModelProvider>,
    /// Who makes the servers of declared connectors.
    pub servers: Arc<dyn ToolServers>,
    /// Who knows agents elsewhere.
    pub peers: Arc<dyn Peers>,
    /// Who decides by the rules in force.
    pub policy: Arc<dyn PolicyEngine>,
    /// Who keeps the bytes of artifacts.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// Who finds and gives texts.
    pub contexts: Arc<dyn ContextStore>,
    /// Who takes packs that do not go back with the answer.
    pub evidence: Arc<dyn EvidenceBackend>,
    /// The process that the node runs in.
    pub host: Arc<dyn Host>,
}

impl Neighbours {
    /// Those that need nothing but the state directory, in this process.
    #[must_use]
    pub fn standard(state: &Path, host: Arc<dyn Host>) -> Self {
        Self {
            interface: Arc::new(NoInterface),
            models: Arc::new(ReportedModels),
            servers: Arc::new(Connectors),
            peers: Arc::new(NoPeers),
            policy: Arc::new(Cedar::default()),
            evidence: Arc::new(FolderEvidence::new(state.join("evidence"))),
            host,
            artifacts: Arc::new(FolderArtifacts::new(state.join("artifacts"))),
            contexts: Arc::new(FolderContexts::new(state.join("contexts"))),
        }
    }
}

/// What a caller is told when a neighbour fails.
pub(crate) fn failed(error: &NeighbourError) -> RpcError {
    let text = chain(error);
    match error {
        _ if error.is_full() => RpcError::new(ErrorName::StorageFull, text),
        NeighbourError::TooLarge { .. } => RpcError::new(ErrorName::TooLarge, text),
        NeighbourError::Name { .. } => RpcError::new(ErrorName::InvalidParams, text),
        NeighbourError::Unavailable { .. } => RpcError::new(ErrorName::Unavailable, text),
        NeighbourError::Unsupported { .. } => RpcError::new(ErrorName::Unsupported, text),
        NeighbourError::Missing { .. } | NeighbourError::Damaged { .. } | NeighbourError::Failed { .. } => {
            RpcError::new(ErrorName::UpstreamFailed, text)
        }
    }
}
