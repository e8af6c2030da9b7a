//! What calls are given and what came of them: held to bounds, and as the record shows them.

use edgeplane_store::{InvocationRow, ReadError, Reader, StoredBody};
use edgeplane_types::ErrorName;
use edgeplane_wire::{api::capability::INPUT_BYTES_MAX, rpc::RpcError};
use serde_json::{Map, Value};

use crate::{resources::secrets, shared::Shared};

/// What a call is given: exactly, and as the record shows it.
pub(super) struct Input {
    pub(super) exact: Vec<u8>,
    pub(super) shown: Value,
    pub(super) has_secrets: bool,
}

pub(super) fn unwritable(error: &serde_json::Error) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, format!("`input` cannot be kept: {error}"))
}

/// What is given must be an object with what is required. All else the server checks, whose schema it is.
pub(super) fn checked(input: &Value, schema: &Map<String, Value>) -> Result<Input, RpcError> {
    let invalid = |what: String| RpcError::new(ErrorName::InvalidParams, what);
    let Some(entries) = input.as_object() else { return Err(invalid("`input` is no object".to_owned())) };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    if let Some(missing) = required.filter_map(Value::as_str).find(|key| !entries.contains_key(*key)) {
        return Err(invalid(format!("`input` lacks `{}`", missing.chars().take(80).collect::<String>()))
            .hint("`edgeplane capability get` shows what it takes"));
    }
    let exact = serde_json::to_vec(input).map_err(|error| unwritable(&error))?;
    if exact.len() > INPUT_BYTES_MAX {
        let what = format!("`input` has {} bytes, more than {INPUT_BYTES_MAX}", exact.len());
        return Err(RpcError::new(ErrorName::TooLarge, what).hint("hand over a file by its path"));
    }
    let (shown, masked) = secrets::masked(input.clone());
    Ok(Input { exact, shown, has_secrets: !masked.is_empty() })
}

pub(super) fn body_of(shared: &Shared, digest: &str) -> Result<Option<Vec<u8>>, RpcError> {
    shared.record.look_up(|reader| body_in(reader, digest))
}

fn body_in(reader: &Reader, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(None) };
    Ok(match reader.body(&digest)? {
        Some(StoredBody::Bytes(bytes)) => Some(bytes),
        Some(StoredBody::Erased { .. }) | None => None,
    })
}

/// What a call was given, as the record shows it.
pub(crate) fn input_of(reader: &Reader, row: &InvocationRow) -> Result<Option<Value>, ReadError> {
    let bytes = body_in(reader, &row.asked.shown_digest)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// What a call's server answered.
pub(crate) fn output_of(reader: &Reader, row: &InvocationRow) -> Result<Option<Value>, ReadError> {
    let digest = row.ended.as_ref().and_then(|(ended, _)| ended.output_digest.as_ref());
    let Some(digest) = digest else { return Ok(None) };
    let bytes = body_in(reader, digest)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}
