//! Contexts: for whom texts are chosen, and how they are shown. Whatever comes out is a document, and says so.

use edgeplane_types::{AgentId, Channel, ErrorName, MessageId, TurnId};
use edgeplane_wire::{
    api::{
        context::{
            BYTES_PER_TOKEN, CONTEXT_BYTES, CONTEXT_BYTES_MAX, ContextChosen, ContextFound, ContextLeftOut,
            ContextReadParams, ContextReadResult, ContextResolveParams, ContextResolveResult,
            ContextSearchParams, ContextSearchResult, QUERY_BYTES_MAX, REFERENCES_MAX,
        },
        workspace::READ_BYTES_MAX,
    },
    rpc::RpcError,
};

use super::{Session, workspaces::named_agent};
use crate::{
    neighbours::contexts::{self, AUTHORITY_MAX, Choosing},
    record::Origin,
};

/// Texts that a query chooses where nobody says how many.
const CHOSEN: u32 = 10;

/// What all of it is.
const CHANNEL: Channel = Channel::Document;

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn checked_query(query: &str) -> Result<(), RpcError> {
    if query.trim().is_empty() || query.len() > QUERY_BYTES_MAX {
        return Err(invalid(format!("`query` has no words, or more than {QUERY_BYTES_MAX} bytes")));
    }
    Ok(())
}

fn count(limit: u32) -> usize {
    usize::try_from(limit.max(1)).unwrap_or(1)
}

pub(in crate::server) async fn search(
    session: &Session,
    params: ContextSearchParams,
) -> Result<ContextSearchResult, RpcError> {
    checked_query(&params.query)?;
    let found = contexts::search(&session.shared, params.query, count(params.limit)).await?;
    let items = found.into_iter().map(|one| ContextFound {
        reference: one.reference,
        title: one.title,
        digest: one.digest.to_string(),
        bytes: one.bytes,
        score: one.score,
        excerpt: one.excerpt,
    });
    Ok(ContextSearchResult { items: items.collect(), channel: CHANNEL, authority: AUTHORITY_MAX })
}

pub(in crate::server) async fn read(
    session: &Session,
    params: ContextReadParams,
) -> Result<ContextReadResult, RpcError> {
    let document = contexts::read(&session.shared, params.reference.clone()).await?;
    let limit = usize::try_from(params.limit.clamp(4, READ_BYTES_MAX)).unwrap_or(4);
    let all = document.text;
    let from = all.floor_char_boundary(usize::try_from(params.offset).unwrap_or(usize::MAX));
    let to = all.floor_char_boundary(from.saturating_add(limit));
    let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(ContextReadResult {
        reference: params.reference,
        title: document.title,
        media_type: document.media_type,
        digest: edgeplane_proof::digest(all.as_bytes()).to_string(),
        bytes: size(all.len()),
        text: all.get(from..to).unwrap_or_default().to_owned(),
        offset: size(from),
        next_offset: (to < all.len()).then(|| size(to)),
        channel: CHANNEL,
        authority: AUTHORITY_MAX,
    })
}

/// For whom it is: the named agent, the calling one, or nobody but the node.
fn owner(session: &Session, named: Option<&str>) -> Result<Option<AgentId>, RpcError> {
    match (named, &session.caller.agent) {
        (Some(name), _) => Ok(Some(named_agent(session, name)?.id)),
        (None, Some(own)) if session.caller.is_agent(own.id) => Ok(Some(own.id)),
        _ => Ok(None),
    }
}

/// The message that began a turn of an agent.
fn message_of(
    session: &Session,
    owner: Option<AgentId>,
    turn: Option<TurnId>,
) -> Result<Option<MessageId>, RpcError> {
    let Some(turn) = turn else { return Ok(None) };
    let id = MessageId::from_bytes(*turn.as_bytes());
    let row = session.shared.record.look_up(|reader| reader.message(&id))?;
    match row.filter(|row| Some(row.envelope.target) == owner) {
        Some(row) => Ok(Some(row.envelope.id)),
        None => Err(RpcError::new(ErrorName::NotFound, format!("the agent has no turn {turn}"))),
    }
}

pub(in crate::server) async fn resolve(
    session: &Session,
    params: ContextResolveParams,
) -> Result<ContextResolveResult, RpcError> {
    let ContextResolveParams { agent, turn_id, query, references, limit, budget_bytes, budget_tokens } =
        params;
    if let Some(query) = &query {
        checked_query(query)?;
    }
    if (query.is_none() && references.is_empty()) || references.len() > REFERENCES_MAX {
        return Err(invalid(format!("give a `query`, or between 1 and {REFERENCES_MAX} `references`")));
    }
    let owner = owner(session, agent.as_deref())?;
    let message_id = message_of(session, owner, turn_id)?;
    let of_tokens = budget_tokens.map(|tokens| tokens.saturating_mul(BYTES_PER_TOKEN));
    let budget_bytes = match (budget_bytes, of_tokens) {
        (None, None) => CONTEXT_BYTES,
        (bytes, tokens) => bytes.unwrap_or(u64::MAX).min(tokens.unwrap_or(u64::MAX)),
    }
    .min(CONTEXT_BYTES_MAX);
    let wanted = Choosing { query, references, limit: count(limit.unwrap_or(CHOSEN)), budget_bytes };
    let origin = Origin::actor(session.caller.actor());
    let done = contexts::resolve(&session.shared, wanted, (owner, message_id), &origin).await;
    let (context_id, choice) = done?;
    session.effect.notify_one();
    let selected = choice.selected.into_iter().map(|chosen| ContextChosen {
        reference: chosen.item.reference,
        title: chosen.title,
        digest: chosen.item.digest,
        bytes: chosen.item.bytes,
        score: chosen.item.score,
        text: chosen.text,
    });
    let left_out = choice.left_out.into_iter().map(|left| ContextLeftOut {
        reference: left.reference,
        bytes: left.bytes,
        score: left.score,
        reason: left.reason,
    });
    Ok(ContextResolveResult {
        context_id,
        selected: selected.collect(),
        left_out: left_out.collect(),
        budget_bytes,
        used_bytes: choice.used_bytes,
        used_tokens: choice.used_bytes.div_ceil(BYTES_PER_TOKEN),
        channel: CHANNEL,
        authority: AUTHORITY_MAX,
    })
}
