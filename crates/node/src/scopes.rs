//! What a token must allow so that its bearer may call a method: what the catalogue says, and where parameters decide.

use edgeplane_types::Scope;
use edgeplane_wire::{
    api::terminal::AttachParams,
    catalogue::{self, Need, Request},
};

/// What a token needs for a request.
pub(crate) fn need(request: &Request) -> Need {
    match request {
        Request::AgentAttach(AttachParams { control: true, .. }) => Need::Scope(Scope::Control),
        // Every request has a row; one without could not be served with any token.
        other => catalogue::find(other.method()).map_or(Need::Uid, |row| row.need),
    }
}

#[cfg(test)]
#[path = "scopes/tests.rs"]
mod tests;
