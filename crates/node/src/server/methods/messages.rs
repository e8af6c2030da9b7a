//! Messages: send one, list them, look at one.

use std::time::Duration;

use edgeplane_store::{MessageRow, StoredBody};
use edgeplane_types::{ErrorName, Ingress, MessageId, Receipt, Rung};
use edgeplane_wire::{
    api::message::{InboxParams, InboxResult, MessageParams, MessageView, SignalParams, SignalResult},
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
const WAIT_MS_MAX: u64 = 60 * 60 * 1_000;

/// Most messages in one list.
const LIST_MAX: u32 = 10_000;

pub(in crate::server) async fn signal(
    session: &Session,
    params: SignalParams,
) -> Result<SignalResult, RpcError> {
    let agent = agent(session, &params.agent)?;
    let (wait, timeout_ms) = (params.wait, params.timeout_ms.unwrap_or(WAIT_MS).min(WAIT_MS_MAX));
    // Followed from before the message exists, so that no rung can be missed.
    let live = session.shared.record.follow();
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
    let mut result = SignalResult {
        message_id: accepted.message_id,
        agent: agent.name.to_string(),
        receipts: accepted.receipts,
        timed_out: false,
        duplicate: accepted.duplicate,
    };
    if let Some(rung) = wait.filter(|rung| *rung != Rung::Accepted) {
        let waiting = receipts_until(&session.shared.record, live, result.message_id, rung);
        let waited = tokio::time::timeout(Duration::from_millis(timeout_ms), waiting).await;
        result.timed_out = waited.is_err();
        result.receipts = receipts(&session.shared.record, result.message_id)?;
    }
    Ok(result)
}

fn receipts(record: &Record, id: MessageId) -> Result<Vec<Receipt>, RpcError> {
    Ok(record.look_up(|reader| reader.message(&id))?.map(|row| row.receipts).unwrap_or_default())
}

/// Waits until a message has come to a rung, or to an end before it.
async fn receipts_until(
    record: &Record,
    mut live: tokio::sync::broadcast::Receiver<edgeplane_store::CommittedEvent>,
    id: MessageId,
    rung: Rung,
) {
    loop {
        let Ok(reached) = receipts(record, id) else { return };
        let is_end = |found: Rung| {
            found == rung
                || matches!(found, Rung::Rejected | Rung::Expired | Rung::DeadLettered)
                || (found == Rung::TurnEnded)
        };
        if reached.iter().any(|receipt| is_end(receipt.rung)) {
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
        record.read(move |reader| reader.inbox_newest(&id, rows)).await?
    } else {
        record.read(move |reader| reader.next_waiting(&id, rows)).await?
    };
    let profile = agent.profile();
    let shown = |row: MessageRow| {
        let held = profile.held(&row);
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
    let row = record.look_up(|reader| reader.message(&params.message_id))?;
    let row =
        row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no message {}", params.message_id)))?;
    // The sender may see what became of its own words, too.
    let sender = session.caller.agent.as_ref().map(|agent| agent.id);
    if row.envelope.source.agent_id.is_none() || row.envelope.source.agent_id != sender {
        check_owner(session, row.envelope.target)?;
    }
    let target = row.envelope.target;
    let found = record.look_up(|reader| reader.agent_by_id(&target))?;
    let name = found.map_or_else(|| target.to_string(), |agent| agent.name.to_string());
    let held = agent(session, &target.to_string()).ok().and_then(|agent| agent.profile().held(&row));
    view(record, MessageRow { reason: held.or(row.reason.clone()), ..row }, &name)
}

fn view(record: &Record, row: MessageRow, agent: &str) -> Result<MessageView, RpcError> {
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
    Ok(MessageView {
        message_id: envelope.id,
        agent: agent.to_owned(),
        channel: envelope.channel,
        ingress: envelope.ingress,
        source: envelope.source.principal.clone(),
        source_detail: envelope.source,
        authority: envelope.authority,
        accepted_at: accepted.unwrap_or_else(|| record.now()),
        receipts: row.receipts,
        content_digest: envelope.content_digest,
        parts,
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
