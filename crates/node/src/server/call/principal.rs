//! For whom a service speaks. Its own identity and the user's are both there, and neither becomes the other.

use std::collections::BTreeSet;

use edgeplane_types::{ErrorName, SafeLabel, Scope, is_nodes_own};
use edgeplane_wire::rpc::{RequestContext, RpcError};

use super::Session;
use crate::caller::SpeaksFor;

/// Lets the caller of a request speak for the user that its context names, with the rights that both have.
pub(super) fn act(session: &mut Session, context: &RequestContext) -> Result<(), RpcError> {
    let Some(user) = &context.principal else { return Ok(()) };
    let caller = &session.caller;
    let denied = |rule: &str, hint: &str| {
        let what = format!("`{}` may not speak for `{}`: rule {rule}", caller.principal, user.user_id);
        Err(RpcError::new(ErrorName::PermissionDenied, what).hint(hint))
    };
    if caller.agent.is_some() {
        return denied("agents-speak-for-themselves", "leave `ctx.principal` out");
    }
    let Some(granted) = caller.scopes.as_ref().filter(|scopes| scopes.contains(&Scope::Delegate)) else {
        return denied(
            "scope-delegate",
            "show a token with the scope `delegate`, or leave `ctx.principal` out",
        );
    };
    let named = [&user.user_id].into_iter().chain(&user.on_behalf_of);
    if let Some(own) = named.into_iter().find(|name| is_nodes_own(name.as_str())) {
        let what = format!("`ctx`: `{own}` is a name that the node gives by itself, and no user's");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let theirs: BTreeSet<Scope> = user.scopes.iter().filter_map(|scope| Scope::from_word(scope)).collect();
    let both = |scope: &Scope| *scope != Scope::Delegate && theirs.contains(scope);
    let scopes = granted.iter().copied().filter(both).collect();
    session.caller.scopes = Some(scopes);
    // Roles are the service's own: nobody said that the user has them.
    session.caller.roles = Vec::<SafeLabel>::new();
    session.caller.speaks_for =
        Some(SpeaksFor { user_id: user.user_id.clone(), on_behalf_of: user.on_behalf_of.clone() });
    Ok(())
}
