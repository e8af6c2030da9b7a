//! What is kept of a caller's folder before a call is made, where its manifest wants that.

use std::sync::Arc;

use edgeplane_manifest::OnNotKept;
use edgeplane_types::{CheckpointId, fact::InvocationRequested};

use crate::{agent::AgentHandle, record::Origin, shared::Shared, workspaces};

/// Keeps the state of the folder of the agent that calls, if that is wanted before such calls; why the call is not to be
/// made, if that cannot be.
pub(super) async fn before(
    shared: &Arc<Shared>,
    agent: Option<&AgentHandle>,
    asked: &InvocationRequested,
    origin: &Origin,
) -> Result<Option<CheckpointId>, String> {
    let Some(agent) = agent else { return Ok(None) };
    let profile = agent.profile();
    let wanted = profile.keeping.as_ref().filter(|keeping| keeping.checkpoint_before.contains(&asked.effect));
    let Some(keeping) = wanted else { return Ok(None) };
    let about = (asked.invocation_id, keeping.keep);
    match Box::pin(workspaces::before_call(shared, agent, about, origin.clone())).await {
        Ok(id) => Ok(Some(id)),
        Err(error) if keeping.on_failure == OnNotKept::Proceed => {
            tracing::warn!(agent = %agent.name, error = %error.message, "a call is made without a checkpoint");
            Ok(None)
        }
        Err(error) => Err(format!("no checkpoint could be made before it: {}", error.message)),
    }
}
