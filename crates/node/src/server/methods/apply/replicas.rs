//! Sets of replicas in a set of manifests: what can become what, and whose name is free.

use edgeplane_manifest::Manifest;
use edgeplane_types::{AgentName, ErrorName, Tenant};
use edgeplane_wire::rpc::RpcError;

use crate::{agent::AgentHandle, server::Session};

/// Refuses what no apply can do: to change a replica by itself, an agent into a set or back, or to take the name of
/// another agent for a replica.
pub(super) fn check(
    session: &Session,
    manifest: &Manifest,
    known: Option<&AgentHandle>,
    in_set: &[AgentName],
) -> Result<(), RpcError> {
    let name = &manifest.metadata.name;
    if let Some(set) = known.and_then(|known| known.set) {
        let set = session.shared.agent_by_id(set).map_or_else(|| set.to_string(), |set| set.name.to_string());
        return Err(taken_by(name, &set));
    }
    // Also of one that its set has not come to declare yet.
    if known.is_none()
        && let Some((set, index)) = name.as_str().rsplit_once('-')
        && let Ok(of) = session.shared.agent(&Tenant::default(), set)
        && let Ok(index) = index.parse::<u32>()
        && index > 0
        && of.profile().replicas.is_some_and(|count| index <= count)
    {
        return Err(taken_by(name, set));
    }
    let replicas = manifest.spec.set_of();
    if let Some(known) = known
        && known.profile().replicas.is_some() != replicas.is_some()
    {
        let (is, wanted) = match replicas {
            Some(_) => ("one agent", "a set"),
            None => ("a set", "one agent"),
        };
        let what = format!("agent `{name}`: spec.replicas: it is {is} and cannot become {wanted}");
        return Err(wrong(what).hint(format!("delete it first: `edgeplane delete {name}`")));
    }
    for index in 1..=replicas.unwrap_or(0) {
        let replica = format!("{name}-{index}");
        let taken = session.shared.agent(&Tenant::default(), &replica).ok();
        let own = known.map(|known| known.id);
        let is_taken = taken.is_some_and(|taken| taken.set.is_none() || taken.set != own);
        if is_taken || in_set.iter().any(|other| other.as_str() == replica) {
            let what =
                format!("agent `{name}`: spec.replicas: the name `{replica}` is that of another agent");
            return Err(wrong(what).hint("give one of them another name"));
        }
    }
    Ok(())
}

fn taken_by(name: &AgentName, set: &str) -> RpcError {
    let what =
        format!("agent `{name}`: metadata.name: found the name of a replica of `{set}`, expected another");
    wrong(what).hint(format!("what is said of `{set}` holds for its replicas"))
}

fn wrong(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidManifest, what)
}
