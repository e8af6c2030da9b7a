//! Events: read and follow.

use edgeplane_store::{CommittedEvent, Reader};
use edgeplane_types::{AgentId, ErrorName, StreamName, SubscriptionId};
use edgeplane_wire::{
    api::{
        Empty,
        stream::{ReadParams, ReadResult, SubscribeParams, SubscribeResult, SubscriptionParams},
    },
    rpc::RpcError,
};
use tokio_util::sync::CancellationToken;

use super::{Session, terminals::agent_id};
use crate::{
    server::follow::{Wanted, follow, view},
    trace::lasting::Lasting,
};

/// Events in one answer when the caller does not say how many.
const LIMIT: u32 = 1_000;

/// Most events in one answer.
const LIMIT_MAX: u32 = 10_000;

/// Events that are looked through at one go.
const PAGE: usize = 1_000;

pub(in crate::server) async fn read(session: &Session, params: ReadParams) -> Result<ReadResult, RpcError> {
    let agent = params.agent.as_deref().map(|name| agent_id(session, name)).transpose()?;
    let limit = usize::try_from(params.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX)).unwrap_or(1);
    let wanted = Wanted { agent, types: params.types };
    let (after, newest) = (params.after, params.newest);
    let found = session.shared.record.read(move |reader| {
        if newest { last(reader, &wanted, limit) } else { next(reader, &wanted, after, limit) }
    });
    let (items, next, end) = found.await?;
    Ok(ReadResult { items: items.iter().map(view).collect(), next, end })
}

type Page = (Vec<CommittedEvent>, u64, bool);

fn next(
    reader: &Reader,
    wanted: &Wanted,
    mut after: u64,
    limit: usize,
) -> Result<Page, edgeplane_store::ReadError> {
    let mut items = Vec::new();
    loop {
        let page = match wanted.agent {
            Some(id) => reader.events(&StreamName::Agent(id), after.saturating_add(1), PAGE)?,
            None => reader.events_from_pos(after.saturating_add(1), PAGE, &[])?,
        };
        let end = page.len() < PAGE;
        for committed in page {
            after = if wanted.agent.is_some() { committed.event.seq } else { committed.pos };
            if wanted.takes(&committed) {
                items.push(committed);
            }
            if items.len() >= limit {
                return Ok((items, after, false));
            }
        }
        if end {
            return Ok((items, after, true));
        }
    }
}

fn last(reader: &Reader, wanted: &Wanted, limit: usize) -> Result<Page, edgeplane_store::ReadError> {
    let mut items: Vec<CommittedEvent> = Vec::new();
    let head = reader.head_pos()?;
    if let Some(id) = wanted.agent {
        let rows = if wanted.types.is_empty() { limit } else { PAGE };
        items = reader.last_events(&StreamName::Agent(id), rows)?;
        items.retain(|committed| wanted.takes(committed));
    } else {
        let mut upto = head;
        while items.len() < limit && upto > 0 {
            let from = upto.saturating_sub(u64::try_from(PAGE).unwrap_or(1)).saturating_add(1);
            let mut page = reader.events_from_pos(from.max(1), PAGE, &[])?;
            page.retain(|committed| committed.pos <= upto && wanted.takes(committed));
            page.append(&mut items);
            items = page;
            upto = from.max(1).saturating_sub(1);
        }
    }
    let skip = items.len().saturating_sub(limit);
    Ok((items.split_off(skip), head, true))
}

pub(in crate::server) fn subscribe(
    session: &Session,
    params: SubscribeParams,
) -> Result<SubscribeResult, RpcError> {
    let agent: Option<AgentId> = params.agent.as_deref().map(|name| agent_id(session, name)).transpose()?;
    // Live first, then the head: what is committed in between is in both, and told apart by its position.
    let live = session.shared.record.follow();
    let head = session.shared.record.look_up(Reader::head_pos)?;
    let after = params.after.unwrap_or(head);
    let id: SubscriptionId = session.shared.record.mint().id();
    let token = CancellationToken::new();
    session.opened.subscribed(id.to_string(), token.clone());
    let wanted = Wanted { agent, types: params.types };
    let lasting = Lasting::begin(&session.shared, id);
    let session = session.clone();
    session.shared.tasks.clone().spawn(async move {
        follow(session.clone(), id, wanted, (after, live), token).await;
        lasting.end(&session.shared);
    });
    Ok(SubscribeResult { subscription_id: id, head })
}

pub(in crate::server) fn unsubscribe(
    session: &Session,
    params: &SubscriptionParams,
) -> Result<Empty, RpcError> {
    if session.opened.unsubscribe(&params.subscription_id.to_string()) {
        Ok(Empty {})
    } else {
        Err(RpcError::new(ErrorName::NotFound, "no such subscription on this connection"))
    }
}
