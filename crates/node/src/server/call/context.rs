//! The context of a request: taken off its parameters and held to bounds.

use edgeplane_types::{ErrorName, Tenant};
use edgeplane_wire::rpc::{RequestContext, RpcError};
use serde_json::Value;

/// Longest name of a request and longest key against doing it twice, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// Longest reference to claims and address of a resource, in bytes.
const TEXT_BYTES_MAX: usize = 2_048;

/// Most scopes that a user is said to have, and the longest in bytes: services have scopes that this node never heard of.
const SCOPES_MAX: usize = 256;

/// Most principals in the chain behind a user.
const BEHALF_MAX: usize = 7;

/// Takes the context off the parameters of a request.
pub(super) fn take(params: &mut Value) -> Result<Option<RequestContext>, RpcError> {
    let Some(context) = params.as_object_mut().and_then(|fields| fields.remove("ctx")) else {
        return Ok(None);
    };
    serde_json::from_value(context).map(Some).map_err(|error| invalid(format!("`ctx`: {error}")))
}

fn invalid(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

/// Holds a context to its bounds, and to the one tenant there is here: what belongs to another is not found.
pub(super) fn check(context: &RequestContext) -> Result<(), RpcError> {
    for (name, text) in [("request_id", &context.request_id), ("idempotency_key", &context.idempotency_key)] {
        if text.as_ref().is_some_and(|text| text.is_empty() || text.len() > NAME_BYTES_MAX) {
            return Err(invalid(format!("`ctx`: `{name}` has 1 to {NAME_BYTES_MAX} bytes")));
        }
    }
    let claims = context.principal.as_ref().and_then(|principal| principal.claims_ref.as_ref());
    let uri = context.selectors.as_ref().and_then(|selectors| selectors.resource_uri.as_ref());
    for (name, text) in [("claims_ref", claims), ("resource_uri", uri)] {
        if text.is_some_and(|text| text.len() > TEXT_BYTES_MAX) {
            return Err(invalid(format!("`ctx`: `{name}` has at most {TEXT_BYTES_MAX} bytes")));
        }
    }
    if let Some(principal) = &context.principal {
        let is_long = |scope: &String| scope.len() > NAME_BYTES_MAX;
        if principal.scopes.len() > SCOPES_MAX || principal.scopes.iter().any(is_long) {
            let what = format!("`ctx`: at most {SCOPES_MAX} scopes, each of at most {NAME_BYTES_MAX} bytes");
            return Err(invalid(what));
        }
        if principal.on_behalf_of.len() > BEHALF_MAX {
            return Err(invalid(format!("`ctx`: `on_behalf_of` names at most {BEHALF_MAX}")));
        }
    }
    match &context.tenant {
        Some(tenant) if tenant != Tenant::default().as_str() => {
            Err(RpcError::new(ErrorName::NotFound, "no such tenant on this node"))
        }
        _ => Ok(()),
    }
}
