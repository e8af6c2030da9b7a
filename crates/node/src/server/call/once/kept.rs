//! What is kept of a call under a key, and what a repetition of it hears.

use edgeplane_proof::Digest;
use edgeplane_store::StoredBody;
use edgeplane_types::{
    ErrorName, EventId,
    error::Effect,
    fact::{CallEnd, UnkeptReason},
};
use edgeplane_wire::{catalogue::Request, rpc::RpcError};
use serde_json::value::RawValue;

use super::{Answer, Key, Session};
use crate::{record::Draft, server::methods::capabilities};

/// Longest result in bytes that is kept for repetitions: whoever asks for more reads it anew.
const RESULT_BYTES_MAX: usize = 1 << 20;

/// How a call ended, with the body that goes along.
pub(super) fn ended(key: &Key, answer: &Answer) -> (Draft, CallEnd) {
    let mut draft = Draft::default();
    let end = match answer {
        Ok(_) if key.is_secret() => CallEnd::Unkept { why: UnkeptReason::Secret },
        Ok(result) if result.get().len() > RESULT_BYTES_MAX => {
            CallEnd::Unkept { why: UnkeptReason::TooLarge }
        }
        Ok(result) => {
            let (digest, bytes) = draft.body(result.get().as_bytes().to_vec());
            CallEnd::Done { digest, bytes }
        }
        Err(error) if error.data.effect == Effect::None => CallEnd::Released,
        Err(error) => match serde_json::to_vec(error) {
            Ok(written) => {
                let (digest, bytes) = draft.body(written);
                CallEnd::Failed { digest, bytes }
            }
            Err(_) => CallEnd::Unkept { why: UnkeptReason::TooLarge },
        },
    };
    (draft, end)
}

/// What a repetition hears; none if the key is new.
pub(super) async fn look_up(
    session: &Session,
    request: &Request,
    key: &Key,
) -> Result<Option<Answer>, RpcError> {
    let digest = key.digest.to_string();
    let row = session.shared.record.look_up(|reader| reader.call(&digest))?;
    let Some(row) = row else { return Ok(None) };
    if row.params_digest != key.params.to_string() {
        return Err(key.mismatch());
    }
    Ok(Some(match row.end {
        None => left_behind(session, (request, key), row.began).await,
        Some(CallEnd::Unkept { why }) => Err(unkept(key, why)),
        Some(CallEnd::Done { digest, .. }) => {
            let text = body(session, &digest)?;
            RawValue::from_string(text).map_err(|_damaged| unkept(key, UnkeptReason::TooLarge))
        }
        Some(CallEnd::Failed { digest, .. }) => {
            let text = body(session, &digest)?;
            Err(serde_json::from_str(&text).unwrap_or_else(|_damaged| unknown(key)))
        }
        // Its row is gone as soon as it is released.
        Some(CallEnd::Released) => return Ok(None),
    }))
}

/// What a call came to over which the daemon died. A call of a capability is in the record before it is made, so what
/// became of it is known as far as anybody knows; of others nothing is.
async fn left_behind(session: &Session, (request, key): (&Request, &Key), began: EventId) -> Answer {
    let made = match request {
        Request::CapabilityInvoke(wanted) => capabilities::made_under(session, began, wanted.mode).await?,
        _ => None,
    };
    let made = made.ok_or_else(|| unknown(key))?;
    serde_json::value::to_raw_value(&made).map_err(|_long| unkept(key, UnkeptReason::TooLarge))
}

fn body(session: &Session, digest: &str) -> Result<String, RpcError> {
    let missing =
        || RpcError::new(ErrorName::Internal, "what came of the first call cannot be read any more");
    let digest: Digest = digest.parse().map_err(|_damaged| missing())?;
    match session.shared.record.look_up(|reader| reader.body(&digest))? {
        Some(StoredBody::Bytes(bytes)) => String::from_utf8(bytes).map_err(|_damaged| missing()),
        Some(StoredBody::Erased { .. }) | None => Err(missing()),
    }
}

fn unknown(key: &Key) -> RpcError {
    let what = format!("the daemon died while {} was worked on under this key", key.method);
    RpcError::new(ErrorName::OutcomeUnknown, what)
        .effect(Effect::Unknown)
        .hint("look at what it should have changed, then decide; to do it again use a new key")
}

fn unkept(key: &Key, why: UnkeptReason) -> RpcError {
    let (reason, hint) = match why {
        UnkeptReason::Secret => (
            "its answer held a secret, which is not kept",
            "if the secret is lost, revoke what was made, and make another under a new key",
        ),
        UnkeptReason::TooLarge => ("its answer was too long to be kept", "read what it changed"),
    };
    let what = format!("{} was done under this key, and {reason}", key.method);
    RpcError::new(ErrorName::Conflict, what).effect(Effect::Applied).hint(hint)
}
