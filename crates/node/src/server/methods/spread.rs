//! Messages to many: to those that subscribe to a topic, or whose labels are as asked for.
//!
//! Each recipient gets a message of its own, which passes admission alone: what becomes of one says nothing of the
//! others, and is told for each.

use std::sync::{Arc, atomic::Ordering};

use edgeplane_types::Ingress;
use edgeplane_wire::{
    api::message::{BroadcastParams, PublishParams, SpreadItem, SpreadResult},
    rpc::RpcError,
};
use tokio::task::JoinSet;

use super::Session;
use crate::{
    admission::{self, Saying},
    agent::{Accepted, AgentHandle},
};

/// Recipients that are written to at a time: each message holds its content in memory until it is durable.
const AT_ONCE: usize = 16;

pub(in crate::server) async fn publish(
    session: &Session,
    params: PublishParams,
) -> Result<SpreadResult, RpcError> {
    let saying = Saying {
        priority: params.priority,
        expires_in_ms: params.expires_in_ms,
        idempotency_key: params.idempotency_key,
        causation: params.causation,
        topic: Some(params.topic.clone()),
        ..Saying::plain(params.parts, Ingress::Topic)
    };
    spread(session, saying, |agent| agent.profile().subscriptions.contains(&params.topic)).await
}

pub(in crate::server) async fn broadcast(
    session: &Session,
    params: BroadcastParams,
) -> Result<SpreadResult, RpcError> {
    let saying = Saying {
        priority: params.priority,
        expires_in_ms: params.expires_in_ms,
        idempotency_key: params.idempotency_key,
        causation: params.causation,
        ..Saying::plain(params.parts, Ingress::Broadcast)
    };
    spread(session, saying, |agent| {
        let labels = &agent.profile().labels;
        params.selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    })
    .await
}

/// Says the same to every agent that is meant but the one that says it.
async fn spread(
    session: &Session,
    saying: Saying,
    is_meant: impl Fn(&AgentHandle) -> bool,
) -> Result<SpreadResult, RpcError> {
    // What is wrong for all is said once, also if nobody is meant.
    admission::checked_content(&saying)?;
    let mut agents = admission::others(&session.shared, &session.caller);
    agents.retain(is_meant);
    let mut items: Vec<Option<SpreadItem>> = agents.iter().map(|_| None).collect();
    let saying = Arc::new(saying);
    let mut waiting = agents.into_iter().enumerate();
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < AT_ONCE
            && let Some((place, agent)) = waiting.next()
        {
            let (shared, caller) = (Arc::clone(&session.shared), session.caller.clone());
            let saying = Arc::clone(&saying);
            under_way.spawn(async move {
                let said = admission::say(&shared, &caller, &agent, saying.as_ref().clone()).await;
                (place, item(agent.name.to_string(), said))
            });
        }
        match under_way.join_next().await {
            None => break,
            Some(Ok((place, item))) => {
                if let Some(found) = items.get_mut(place) {
                    *found = Some(item);
                }
            }
            Some(Err(error)) => tracing::error!(%error, "a message to many was cut off for one"),
        }
    }
    session.effect.notify_one();
    let items: Vec<SpreadItem> = items.into_iter().flatten().collect();
    let replayed = !items.is_empty() && items.iter().all(|item| item.duplicate);
    session.replayed.store(replayed, Ordering::Relaxed);
    Ok(SpreadResult { items })
}

fn item(agent: String, said: Result<Accepted, RpcError>) -> SpreadItem {
    match said {
        Ok(accepted) => SpreadItem {
            agent,
            message_id: Some(accepted.message_id),
            duplicate: accepted.duplicate,
            error: None,
            detail: None,
        },
        Err(error) => SpreadItem {
            agent,
            message_id: None,
            duplicate: false,
            error: Some(error.name()),
            detail: Some(error.message),
        },
    }
}
