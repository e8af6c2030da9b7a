//! Memory of agents, for operators and for agents themselves.

use edgeplane_types::{ErrorName, MemoryIsolation};
use edgeplane_wire::{
    api::{
        memory::{DeleteParams, KeyParams, KeysParams, PutParams},
        subagent::DEPTH_MAX,
    },
    rpc::RpcError,
};
use serde_json::value::RawValue;

use super::{Session, agent, check_owner};
use crate::{
    agent::{AgentHandle, Command, MemoryAnswer, MemoryRequest},
    record::Origin,
    server::dispatch::raw,
};

type Answer = Result<Box<RawValue>, RpcError>;

async fn ask(session: &Session, request: MemoryRequest) -> Answer {
    let handle = match (request.agent(), &session.caller.agent) {
        (Some(named), _) => agent(session, named)?,
        (None, Some(own)) => agent(session, &own.id.to_string())?,
        (None, None) => {
            return Err(RpcError::new(ErrorName::InvalidParams, "name the agent whose memory is meant"));
        }
    };
    check_owner(session, handle.id)?;
    let handle = keeper(session, handle)?;
    let origin = Origin::actor(session.caller.actor());
    match handle.ask(|reply| Command::Memory(request, origin, reply)).await?? {
        MemoryAnswer::Entry(entry) => raw(entry),
        MemoryAnswer::Entries(entries) => raw(entries),
    }
}

/// In whose engine the memory of an agent is: its own, or that of the one above it that its line shares.
fn keeper(session: &Session, mut handle: AgentHandle) -> Result<AgentHandle, RpcError> {
    for _ in 0..DEPTH_MAX {
        let (Some(parent), id) = (handle.parent, handle.id) else { break };
        let row = session.shared.record.look_up(|reader| reader.subagent(&id))?;
        if row.is_none_or(|row| row.spawned.isolation.memory != MemoryIsolation::Shared) {
            break;
        }
        handle = agent(session, &parent.to_string()).map_err(|_gone| {
            let what = format!("the memory of agent `{}` was its parent's, which is retired", handle.name);
            RpcError::new(ErrorName::NotFound, what)
        })?;
    }
    Ok(handle)
}

pub(in crate::server) async fn get(session: &Session, params: KeyParams) -> Answer {
    ask(session, MemoryRequest::Get(params)).await
}

pub(in crate::server) async fn put(session: &Session, params: PutParams) -> Answer {
    ask(session, MemoryRequest::Put(params)).await
}

pub(in crate::server) async fn list(session: &Session, params: KeysParams) -> Answer {
    ask(session, MemoryRequest::List(params)).await
}

pub(in crate::server) async fn delete(session: &Session, params: DeleteParams) -> Answer {
    ask(session, MemoryRequest::Delete(params)).await
}

pub(in crate::server) async fn history(session: &Session, params: KeyParams) -> Answer {
    ask(session, MemoryRequest::History(params)).await
}
