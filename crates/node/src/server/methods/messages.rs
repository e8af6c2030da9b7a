//! Messages: send one, submit content, list them, look at one.

use std::{sync::atomic::Ordering, time::Duration};

use edgeplane_driver::render;
use edgeplane_store::{MessageRow, StoredBody};
use edgeplane_types::{Channel, ContentOrigin, ErrorName, Ingress, MessageId, Proof, Rung};
use edgeplane_wire::{
    api::message::{
        InboxParams, InboxResult, MessageParams, MessageView, SignalParams, SignalResult, SubmitParams,
    },
    rpc::RpcError,
};

use super::{Session, agent, check_owner};
use crate::{
    admission::{self, Saying},
    record::Record,
};

/// How long `--wait` waits when it is not told, in milliseconds.
const WAIT_MS: u64 = 30_000;

/// Longest wait for a rung in milliseconds: an hour.
pub(super) const WAIT_MS_MAX: u64 = 60 * 60 * 1_000;

/// Longest address of submitted content in bytes.
const ORIGIN_BYTES_MAX: usize = 2_048;

/// Most messages in one list.
pub(super) const LIST_MAX: u32 = 10_000;

pub(in crate::server) async fn signal(
    session: &Session,
    params: SignalParams,
) -> Result<SignalResult, RpcError> {
    let agent = agent(session, &params.agent)?;
    let (wait, timeout_ms) = (params.wait, params.timeout_ms.unwrap_or(WAIT_MS).min(WAIT_MS_MAX));
    // Followed from before the message exists, so that no rung can be missed. Whoever waits for none follows nothing:
    // what many send at a time would be gone through by each.
    let awaited =
        wait.filter(|rung| *rung != Rung::Accepted).map(|rung| (rung, session.shared.record.follow()));
    let saying = Saying {
        mode: params.mode,
        priority: params.priority,
        expires_in_ms: params.expires_in_ms,
        idempotency_key: params.idempotency_key,
        reply_to: params.reply_to,
        causation: params.causation,
        on_behalf_of: params.on_behalf_of,
        authority: params.authority,
        display_name: params.display_name,
        ..Saying::plain(params.parts, Ingress::Signal)
    };
    let accepted = admission::say(&session.shared, &session.caller, &agent, saying).await?;
    session.effect.notify_one();
    session.replayed.store(accepted.duplicate, Ordering::Relaxed);
    let mut result = SignalResult {
        message_id: accepted.message_id,
        agent: agent.name.to_string(),
        receipts: accepted.receipts,
        timed_out: false,
        duplicate: accepted.duplicate,
        reason: None,
    };
    if let Some((rung, live)) = awaited {
        let waiting = receipts_until(&session.shared.record, live, result.message_id, rung);
        let waited = tokio::time::timeout(Duration::from_millis(timeout_ms), waiting).await;
        result.timed_out = waited.is_err();
        let id = result.message_id;
        if let Some(row) = session.shared.record.look_up(|reader| reader.message(&id))? {
            result.reason = dead_end(&row);
            result.receipts = row.receipts;
        }
    }
    Ok(result)
}

pub(in crate::server) async fn submit(
    session: &Session,
    params: SubmitParams,
) -> Result<SignalResult, RpcError> {
    if !matches!(params.channel, Channel::Tool | Channel::Document | Channel::Web) {
        let what =
            format!("content is submitted on `tool`, `document` or `web`, not on `{}`", params.channel);
        return Err(RpcError::new(ErrorName::InvalidParams, what)
            .hint("`edgeplane signal` says something in your own name"));
    }
    let agent = agent(session, &params.agent)?;
    let saying = Saying {
        channel: Some(params.channel),
        priority: params.priority,
        expires_in_ms: params.expires_in_ms,
        idempotency_key: params.idempotency_key,
        reply_to: params.reply_to,
        origin: params.origin.map(checked_origin).transpose()?,
        ..Saying::plain(params.parts, Ingress::Submit)
    };
    let accepted = admission::say(&session.shared, &session.caller, &agent, saying).await?;
    session.effect.notify_one();
    session.replayed.store(accepted.duplicate, Ordering::Relaxed);
    Ok(SignalResult {
        message_id: accepted.message_id,
        agent: agent.name.to_string(),
        receipts: accepted.receipts,
        timed_out: false,
        duplicate: accepted.duplicate,
        reason: None,
    })
}

/// Where content was found, in printable characters on one line.
fn checked_origin(origin: ContentOrigin) -> Result<ContentOrigin, RpcError> {
    let uri = match origin.uri {
        Some(uri) => {
            let shown: String = render::clean(&uri).chars().filter(|c| !c.is_control()).collect();
            if shown.is_empty() || shown.len() > ORIGIN_BYTES_MAX {
                let what = format!("`origin.uri` has 1 to {ORIGIN_BYTES_MAX} bytes that can be printed");
                return Err(RpcError::new(ErrorName::InvalidParams, what));
            }
            Some(shown)
        }
        None => None,
    };
    Ok(ContentOrigin { uri, ..origin })
}

/// Why a message comes no further, if that is so: it was given up and does not wait again.
pub(super) fn dead_end(row: &MessageRow) -> Option<String> {
    let why = match row.state {
        _ if row.waiting => return None,
        Rung::Accepted | Rung::Injected | Rung::Observed | Rung::TurnEnded => return None,
        Rung::Expired => "its time was over before it was delivered",
        Rung::Rejected | Rung::Ambiguous | Rung::DeadLettered => {
            row.reason.as_deref().unwrap_or("no reason is known")
        }
    };
    Some(format!("{}: {why}", row.state))
}

/// Waits until a message has come to a rung, or to an end before it.
async fn receipts_until(
    record: &Record,
    mut live: tokio::sync::broadcast::Receiver<edgeplane_store::CommittedEvent>,
    id: MessageId,
    rung: Rung,
) {
    loop {
        let Ok(Some(row)) = record.look_up(|reader| reader.message(&id)) else { return };
        let is_end = |found: Rung| found == rung || found == Rung::TurnEnded;
        if dead_end(&row).is_some() || row.receipts.iter().any(|receipt| is_end(receipt.rung)) {
            return;
        }
        loop {
            match live.recv().await {
                Ok(committed) if !speaks_of(&committed, id) => {}
                Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => break,
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
            }
        }
    }
}

fn speaks_of(committed: &edgeplane_store::CommittedEvent, id: MessageId) -> bool {
    use edgeplane_types::Fact;
    match &committed.event.fact {
        Fact::MessageInjected { message_id, .. }
        | Fact::MessageObserved { message_id, .. }
        | Fact::MessageTurnEnded { message_id, .. }
        | Fact::MessageRejected { message_id, .. }
        | Fact::MessageExpired { message_id }
        | Fact::MessageRequeued { message_id }
        | Fact::MessageAssigned { message_id, .. }
        | Fact::MessageAmbiguous { message_id, .. }
        | Fact::MessageDeadLettered { message_id, .. } => *message_id == id,
        _ => false,
    }
}

pub(in crate::server) async fn inbox(
    session: &Session,
    params: InboxParams,
) -> Result<InboxResult, RpcError> {
    let agent = agent(session, &params.agent)?;
    check_owner(session, agent.id)?;
    let (id, name) = (agent.id, agent.name.to_string());
    let rows = usize::try_from(params.limit.clamp(1, LIST_MAX)).unwrap_or(1);
    let record = &session.shared.record;
    let found = if params.all {
        let is_set = agent.profile().replicas.is_some();
        record
            .read(move |reader| match is_set {
                true => reader.inbox_of_set(&id, rows),
                false => reader.inbox_newest(&id, rows),
            })
            .await?
    } else {
        record.read(move |reader| reader.next_waiting(&id, rows)).await?
    };
    let profile = agent.profile();
    let shown = |row: MessageRow| {
        let held = profile.held(&row).or_else(|| agent.held(&row));
        view(record, MessageRow { reason: held.or(row.reason.clone()), ..row }, &name)
    };
    let items = found.into_iter().map(shown).collect::<Result<_, _>>()?;
    Ok(InboxResult { items })
}

pub(in crate::server) async fn get(
    session: &Session,
    params: MessageParams,
) -> Result<MessageView, RpcError> {
    let record = &session.shared.record;
    let row = visible(session, params.message_id)?;
    let (target, addressed) = (row.envelope.target, row.addressed);
    let found = record.look_up(|reader| reader.agent_by_id(&addressed))?;
    let name = found.map_or_else(|| addressed.to_string(), |agent| agent.name.to_string());
    let held = agent(session, &target.to_string())
        .ok()
        .and_then(|agent| agent.profile().held(&row).or_else(|| agent.held(&row)));
    view(record, MessageRow { reason: held.or(row.reason.clone()), ..row }, &name)
}

/// A message, for those who may see it: operators, the agent that it is for, and its sender, who may see what became
/// of its own words.
pub(super) fn visible(session: &Session, id: MessageId) -> Result<MessageRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.message(&id))?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no message {id}")))?;
    let (caller, source) = (&session.caller, &row.envelope.source);
    let sent_it = match &caller.agent {
        Some(agent) => source.agent_id == Some(agent.id) && caller.is_agent(agent.id),
        // A service speaks by its token alone, which names it wherever it is.
        None => {
            let by_token = caller.proof == Proof::ServiceToken && source.proof == Proof::ServiceToken;
            // What it says for one user is not another's to read.
            let spoken_for = row.envelope.on_behalf_of.first().map(|of| &of.principal);
            let is_users = caller.user_id().is_none_or(|user_id| spoken_for == Some(user_id));
            by_token && source.principal == caller.principal && is_users
        }
    };
    if !sent_it {
        check_owner(session, row.envelope.target)?;
    }
    Ok(row)
}

pub(super) fn view(record: &Record, row: MessageRow, agent: &str) -> Result<MessageView, RpcError> {
    let envelope = row.envelope;
    let digest = envelope.content_digest.parse();
    let body = match digest {
        Ok(digest) => record.look_up(|reader| reader.body(&digest))?,
        Err(_) => None,
    };
    let parts = match body {
        Some(StoredBody::Bytes(bytes)) => serde_json::from_slice(&bytes).ok(),
        Some(StoredBody::Erased { .. }) | None => None,
    };
    let accepted = row.receipts.first().map(|receipt| receipt.at);
    let replica = match envelope.target == row.addressed {
        true => None,
        false => record.look_up(|reader| reader.agent_by_id(&envelope.target))?.map(|of| of.name.to_string()),
    };
    Ok(MessageView {
        message_id: envelope.id,
        agent: agent.to_owned(),
        replica,
        channel: envelope.channel,
        ingress: envelope.ingress,
        source: envelope.source.principal.clone(),
        source_detail: envelope.source,
        authority: envelope.authority,
        accepted_at: accepted.unwrap_or_else(|| record.now()),
        receipts: row.receipts,
        content_digest: envelope.content_digest,
        parts,
        thread_id: envelope.thread,
        into_turn: envelope.into_turn,
        fence: envelope.fence,
        reply_to: envelope.reply_to,
        causation: envelope.causation,
        on_behalf_of: envelope.on_behalf_of,
        topic: envelope.topic,
        origin: envelope.origin,
        rule: envelope.rule,
        mode: envelope.mode,
        priority: envelope.priority,
        hops: envelope.hops,
        expires_at: envelope.expires_at,
        reason: row.reason,
    })
}
