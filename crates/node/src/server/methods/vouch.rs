//! What the node vouches for of messages: looked up, looked through, signed on request.
//!
//! Nothing is signed in advance. A signature says that this node wrote the envelope; whether what lies in the record
//! is whole is looked at anew with each question.

use std::collections::HashMap;

use edgeplane_driver::render::{self, Attempt, Heading};
use edgeplane_proof::signature::BATCH_LEAVES_MAX;
use edgeplane_store::{ChainCheck, MessageRow, ReadError, Reader, StoredBody};
use edgeplane_types::{Envelope, ErrorName, MessageId, Rung, StreamName};
use edgeplane_wire::{
    api::message::{MessageParams, SignParams, SignResult, VerifyResult},
    rpc::RpcError,
};

use super::{Session, messages};

/// Events that are looked at behind a message. So many take about a third of a second.
const CHAIN_EVENTS_MAX: usize = 100_000;

/// What the record says of a message's content and of what follows the message.
struct Findings {
    content: Result<bool, String>,
    chain: Option<ChainCheck>,
}

pub(in crate::server) async fn verify(
    session: &Session,
    params: MessageParams,
) -> Result<VerifyResult, RpcError> {
    let row = messages::visible(session, params.message_id)?;
    let record = &session.shared.record;
    let key = session.shared.keys.signing(record).await?;
    let attempt = if is_again(&row) { Attempt::Again } else { Attempt::First };
    let envelope = row.envelope.clone();
    let findings = record.read(move |reader| look(reader, &row)).await?;
    let signature = key.sign(&envelope).map_err(|error| unsigned(&error))?;
    let chain = findings.chain.ok_or_else(|| {
        RpcError::new(ErrorName::RecordDamaged, "the message's event is not where it should be")
    })?;
    let heading = Heading {
        channel: envelope.channel,
        principal: &envelope.source.principal,
        ingress: envelope.ingress,
        attempt,
    };
    Ok(VerifyResult {
        header: render::header(heading),
        envelope,
        content_matches: findings.content == Ok(true),
        content_problem: findings.content.err(),
        chain_verifies: chain.broken.is_none(),
        chain_problem: chain.broken,
        seq: chain.from,
        verified_to: chain.verified_to,
        head: chain.head,
        signature,
        key_id: key.key_id().clone(),
        public_key: key.public().to_string(),
    })
}

fn look(reader: &Reader, row: &MessageRow) -> Result<Findings, ReadError> {
    let envelope = &row.envelope;
    let content = match envelope.content_digest.parse() {
        Err(_) => Err("its digest is no digest".to_owned()),
        Ok(digest) => match reader.body(&digest) {
            Ok(Some(StoredBody::Bytes(bytes))) => Ok(edgeplane_proof::digest(&bytes) == digest),
            Ok(Some(StoredBody::Erased { reason })) => Err(format!("it was erased: {reason}")),
            Ok(None) => Err("it is not there".to_owned()),
            Err(ReadError::BodyDamaged(_)) => Ok(false),
            Err(error) => return Err(error),
        },
    };
    let stream = StreamName::Agent(row.addressed);
    let chain = reader.verify_chain(&stream, row.accepted_pos, CHAIN_EVENTS_MAX)?;
    Ok(Findings { content, chain })
}

/// Whether its program saw it marked as a possible double, or would: it waits again, or was written again, after a
/// crash had left unknown whether it was written.
fn is_again(row: &MessageRow) -> bool {
    let mut rungs =
        row.receipts.iter().map(|receipt| receipt.rung).skip_while(|rung| *rung != Rung::Ambiguous);
    rungs.next().is_some() && (row.waiting || rungs.any(|rung| rung == Rung::Injected))
}

pub(in crate::server) async fn sign(session: &Session, params: SignParams) -> Result<SignResult, RpcError> {
    let ids = params.message_ids;
    if ids.is_empty() {
        return Err(RpcError::new(ErrorName::InvalidParams, "no message is named"));
    }
    if ids.len() > BATCH_LEAVES_MAX {
        let what = format!("{} messages; one signature is over at most {BATCH_LEAVES_MAX}", ids.len());
        return Err(RpcError::new(ErrorName::TooLarge, what).hint("ask for them in several parts"));
    }
    let record = &session.shared.record;
    let key = session.shared.keys.signing(record).await?;
    let wanted = ids.clone();
    let mut found: HashMap<MessageId, Envelope> = record
        .read(move |reader| {
            let rows = wanted.iter().map(|id| reader.message(id)).filter_map(Result::transpose);
            rows.map(|row| row.map(|row| (row.envelope.id, row.envelope))).collect()
        })
        .await?;
    let mut envelopes = Vec::with_capacity(ids.len());
    for id in ids {
        let envelope = found.remove(&id).ok_or_else(|| {
            RpcError::new(ErrorName::NotFound, format!("no message {id}, or it is named twice"))
        })?;
        envelopes.push(envelope);
    }
    let work = tokio::task::spawn_blocking(move || {
        let batch = key.sign_batch(&envelopes);
        (batch, envelopes, key)
    });
    let (batch, envelopes, key) =
        work.await.map_err(|_cut| RpcError::new(ErrorName::Internal, "the signing was cut off"))?;
    let batch = batch.map_err(|error| unsigned(&error))?;
    Ok(SignResult {
        envelopes,
        leaves: batch.leaves.iter().map(ToString::to_string).collect(),
        signature: batch.signature,
        key_id: key.key_id().clone(),
        public_key: key.public().to_string(),
    })
}

fn unsigned(error: &edgeplane_proof::SignatureError) -> RpcError {
    RpcError::new(ErrorName::Internal, format!("it cannot be signed: {error}"))
}
