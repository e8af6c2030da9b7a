//! The neighbours of this node: what it uses and does not own, each behind a trait.
//!
//! Owns which ones there are and what a caller is told when one fails. What one says is checked here before it is
//! given or recorded. The traits, their defaults and their doubles are in `edgeplane-neighbour`.

pub(crate) mod artifacts;
pub(crate) mod contexts;
pub(crate) mod lines;

use std::{path::Path, sync::Arc};

use edgeplane_neighbour::{
    NeighbourError,
    artifact::{ArtifactStore, FolderArtifacts},
    context::{ContextStore, FolderContexts},
};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;

use crate::record::chain;

/// Whom a node uses.
#[derive(Debug, Clone)]
pub struct Neighbours {
    /// Who keeps the bytes of artifacts.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// Who finds and gives texts.
    pub contexts: Arc<dyn ContextStore>,
}

impl Neighbours {
    /// Those that need nothing but the state directory.
    #[must_use]
    pub fn standard(state: &Path) -> Self {
        Self {
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
