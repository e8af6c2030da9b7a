//! What every failure says beside its name: who failed at what, and what the request had named.

use std::collections::BTreeMap;

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    catalogue::{self, later},
    rpc::{RequestContext, RpcError},
};
use serde_json::Value;

use super::Session;

/// Most things that a failure names, and the longest name in bytes.
const IDS_MAX: usize = 16;
const ID_BYTES_MAX: usize = 256;

/// After how long a request for which there was no space can be repeated: the record looks for space each second.
const STORAGE_RETRY_MS: u64 = 1_000;

/// What a request names, by its fields.
#[derive(Debug, Default)]
pub(super) struct Named(BTreeMap<String, String>);

impl Named {
    /// What stands in its parameters and its context.
    pub(super) fn of(params: &Value, context: Option<&RequestContext>) -> Self {
        let mut ids = BTreeMap::new();
        let request_id = context.and_then(|context| context.request_id.as_deref());
        let fields = params.as_object().into_iter().flatten();
        let named = fields.filter_map(|(field, value)| Some((field.as_str(), value.as_str()?)));
        let named = named.filter(|(field, _)| *field == "agent" || field.ends_with("_id"));
        for (field, value) in request_id.map(|id| ("request_id", id)).into_iter().chain(named).take(IDS_MAX) {
            if value.len() <= ID_BYTES_MAX && field.len() <= ID_BYTES_MAX {
                ids.insert(field.to_owned(), value.to_owned());
            }
        }
        Self(ids)
    }
}

/// The failure as it is answered.
pub(super) fn complete(session: &Session, method: &str, named: Named, mut error: RpcError) -> RpcError {
    error.data.service = Some(session.shared.identity.name.to_string());
    // A name that nobody gave is not repeated where programs group by it.
    let is_known = catalogue::find(method).is_some() || later::find(method).is_some();
    error.data.operation = is_known.then(|| method.to_owned());
    error.data.ids = named.0;
    if error.name() == ErrorName::StorageFull && error.data.retryable {
        error.data.retry_after_ms.get_or_insert(STORAGE_RETRY_MS);
    }
    error
}
