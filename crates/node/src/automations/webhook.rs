//! Deliveries over HTTP: known by their signature, counted once.

use std::sync::Arc;

use edgeplane_manifest::AutomationTrigger;
use edgeplane_proof::webhook;
use edgeplane_types::{
    AutomationCause, ErrorName, Fact, FiringId, StreamName, Timestamp, fact::AutomationFired,
};
use edgeplane_wire::{api::automation::DELIVERY_BYTES_MAX, rpc::RpcError};
use zeroize::Zeroizing;

use super::{InForce, RULE, WAITING_MAX, in_force};
use crate::{
    record::{Draft, Origin, refused},
    resources::secrets,
    shared::Shared,
};

/// How far the time that a delivery names may be from the node's, in milliseconds.
const AGE_MS_MAX: u64 = 5 * 60 * 1_000;

/// Longest id of a delivery in bytes.
const ID_BYTES_MAX: usize = 256;

/// What was delivered, as it came.
#[derive(Debug)]
pub(crate) struct Delivered<'a> {
    pub(crate) id: &'a str,
    pub(crate) timestamp: &'a str,
    pub(crate) signatures: &'a str,
    pub(crate) is_json: bool,
    pub(crate) body: Vec<u8>,
}

/// The same for whatever is wrong: who does not know the secret learns nothing, not even which names there are.
fn unknown() -> RpcError {
    RpcError::new(ErrorName::Unauthenticated, "no webhook of this name takes this signature: reason signature")
        .hint("sign `ID.TIMESTAMP.BODY` with HMAC-SHA256, and send `webhook-id`, `webhook-timestamp`, `webhook-signature`")
}

/// Takes a delivery, and has its automation fire. Says which firing that is, and whether it was delivered before.
///
/// # Errors
/// When it is not signed as it must be, is too old, too large, or as many wait as may: nothing is recorded then.
pub(crate) async fn deliver(
    shared: &Arc<Shared>,
    name: &str,
    delivered: Delivered<'_>,
) -> Result<(FiringId, bool), RpcError> {
    if delivered.body.len() > DELIVERY_BYTES_MAX {
        let what = format!("the delivery has {} bytes, more than {DELIVERY_BYTES_MAX}", delivered.body.len());
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    let Some(automation) = in_force::one(shared, name)?.filter(|found| found.spec.enabled) else {
        return Err(unknown());
    };
    let AutomationTrigger::Webhook(hook) = &automation.spec.on else { return Err(unknown()) };
    let secret = secrets::read(&shared.environment, &hook.secret_ref).map_err(|why| {
        tracing::error!(automation = name, why, "the secret of a webhook cannot be read");
        unknown()
    })?;
    let secret = Zeroizing::new(secret);
    let signed = (delivered.id, delivered.timestamp, delivered.body.as_slice());
    if !webhook::verify(&secret, signed, delivered.signatures) {
        return Err(unknown());
    }
    check_fresh(shared.record.now(), &delivered)?;
    let is_text = std::str::from_utf8(&delivered.body).is_ok();
    let is_json = !delivered.is_json || serde_json::from_slice::<serde_json::Value>(&delivered.body).is_ok();
    if !is_text || !is_json {
        let what = "the delivery is neither the JSON nor the text in UTF-8 that it says it is";
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    fire(shared, &automation, delivered).await
}

fn check_fresh(now: Timestamp, delivered: &Delivered<'_>) -> Result<(), RpcError> {
    let is_named = (1..=ID_BYTES_MAX).contains(&delivered.id.len())
        && delivered.id.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_named {
        let what = format!("the id of a delivery has 1 to {ID_BYTES_MAX} printable letters");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let seconds: Option<u64> = delivered.timestamp.parse().ok();
    let is_fresh =
        seconds.is_some_and(|seconds| now.as_millis().abs_diff(seconds.saturating_mul(1_000)) <= AGE_MS_MAX);
    if is_fresh {
        return Ok(());
    }
    let what = "the delivery is older than five minutes, or from the future: reason timestamp";
    Err(RpcError::new(ErrorName::Unauthenticated, what).hint("sign it anew, with the time of now"))
}

async fn fire(
    shared: &Arc<Shared>,
    automation: &InForce,
    delivered: Delivered<'_>,
) -> Result<(FiringId, bool), RpcError> {
    let mut draft = Draft::default();
    let (body_digest, body_bytes) = draft.body(delivered.body);
    let delivery = delivered.id.to_owned();
    let cause = AutomationCause::Webhook {
        delivery,
        body_digest: body_digest.clone(),
        body_bytes,
        is_json: delivered.is_json,
    };
    let (name, key) = (automation.name.as_str(), cause.key());
    let before = || shared.record.look_up(|reader| reader.firing_by_key(name, &key));
    let again = |found: edgeplane_store::FiringRow| match found.fired.cause.body_digest() {
        Some(digest) if *digest == body_digest => Ok((found.fired.firing_id, true)),
        _ => {
            let what = format!("delivery `{}` was another one before", delivered.id);
            Err(RpcError::new(ErrorName::IdempotencyMismatch, what))
        }
    };
    if let Some(found) = before()? {
        return again(found);
    }
    if shared.record.look_up(|reader| reader.open_firings_of(name))? >= WAITING_MAX {
        let what = format!("{WAITING_MAX} deliveries to `{name}` wait already");
        return Err(RpcError::new(ErrorName::Backpressure, what));
    }
    let firing_id: FiringId = shared.record.mint().id();
    let fired = AutomationFired {
        firing_id,
        automation: automation.name.clone(),
        version: automation.version,
        cause,
        key: key.clone(),
        hops: 0,
    };
    let stream = StreamName::Node(shared.identity.id);
    shared.record.add(&mut draft, stream, &Origin::node(RULE), Fact::AutomationFired(Box::new(fired)));
    if let Err(error) = shared.record.commit(draft).await {
        // Of two at a time the record takes one.
        return match before()? {
            Some(found) => again(found),
            None => Err(refused(&error)),
        };
    }
    shared.automations.wake();
    Ok((firing_id, false))
}
