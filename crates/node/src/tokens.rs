//! Who speaks by a token: from the text that a caller shows to the caller that it is from then on, and for how long.
//!
//! Owns the rule that a token makes nobody of an agent: what the kernel says of a caller comes first. What tokens are
//! made of is the proof's, which there are is the record's, what each allows is in [`crate::scopes`].

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_oidc::Identified;
use edgeplane_proof::token::{EpochClaims, NamedTokenError};
use edgeplane_proof::{Digest, KeyRing, NamedToken, SignatureError, SigningKey, TokenError, digest, token};
use edgeplane_store::TokenRow;
use edgeplane_types::{
    Authority, ErrorName, Proof, SafeLabel, Tenant, Timestamp, TokenId, TokenKind, is_nodes_own,
};
use edgeplane_wire::{
    catalogue::{Need, Request},
    rpc::RpcError,
};

use crate::{
    caller::{AGENT_AUTHORITY_MAX, Bears, Caller, CallingAgent, Living as _},
    record::Record,
    scopes::need,
    shared::Shared,
};

/// How long the token of an epoch is good, in seconds. What leaves an agent is of no use for long, and asking for
/// another costs a signature.
const EPOCH_TOKEN_SECONDS: u64 = 15 * 60;

/// What a signed token begins with, and no named one: the base64url of `{"`.
const SIGNED_PREFIX: &str = "eyJ";

/// Refuses a token; the reason is for programs, too.
fn refused(reason: &str, what: &str) -> RpcError {
    RpcError::new(ErrorName::Unauthenticated, format!("{what}: reason {reason}"))
}

/// The caller that whoever shows this token is from here on. `seen` is what the kernel says of them.
pub(crate) async fn bearer(shared: &Shared, seen: &Caller, text: &str) -> Result<Caller, RpcError> {
    // The issuer that it names decides how a signed text is read. None is tried as the other.
    let issuer = if text.starts_with(SIGNED_PREFIX) { shared.issuers.named_by(text) } else { None };
    // An identity provider is asked only about who comes from afar.
    let mut is_remote = true;
    let shown = if let Some(issuer) = issuer {
        let now = shared.record.now().as_millis() / 1_000;
        let found = issuer.verify(text, now).await.map_err(|error| match error {
            edgeplane_oidc::Refused::KeysUnavailable => {
                RpcError::new(ErrorName::Unavailable, error.to_string())
            }
            error => refused(error.reason(), &error.to_string()),
        })?;
        issued(shared, issuer.name(), found)?
    } else if text.starts_with(SIGNED_PREFIX) {
        let claims = epoch_claims(shared, text)?;
        of_epoch(shared, &claims)
    } else {
        let named = NamedToken::parse(text).map_err(|error| {
            let reason = match error {
                NamedTokenError::Form => "no-token",
                NamedTokenError::Mistyped => "mistyped",
            };
            refused(reason, &error.to_string())
        })?;
        let digest = named.digest().to_string();
        let row = shared.record.look_up(|reader| reader.token_by_digest(&digest))?;
        let row = row.ok_or_else(|| refused("unknown", "this node never gave out that token"))?;
        check_row(&row, shared.record.now())?;
        is_remote = row.remote;
        of_name(shared, row)
    };
    meet(seen, shown, is_remote)
}

/// What a client certificate is known by in the record. No digest of a token's secret looks like it, so a fingerprint that
/// is shown as a token is never taken for its certificate.
const CERTIFICATE: &str = "certificate:";

/// Digits in a SHA-256 fingerprint.
const FINGERPRINT_DIGITS: usize = 64;

/// A fingerprint in its one spelling: 64 lower-case hexadecimal digits.
pub(crate) fn fingerprint(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != ':').map(|c| c.to_ascii_lowercase()).collect();
    let is_one = digits.len() == FINGERPRINT_DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_one.then_some(digits)
}

/// The digits of a digest.
pub(crate) fn hexadecimal(sha256: &[u8; 32]) -> String {
    Digest::from_bytes(*sha256).to_string()
}

/// What the certificate with this fingerprint is known by.
pub(crate) fn of_certificate(fingerprint: &str) -> String {
    format!("{CERTIFICATE}{fingerprint}")
}

/// The fingerprint of the certificate that is known by this, if it is one.
pub(crate) fn certificate_of(secret_digest: &str) -> Option<&str> {
    secret_digest.strip_prefix(CERTIFICATE)
}

/// The caller that whoever has proven to have the key of a certificate is. An edge has seen the proof; the kernel has seen
/// nobody.
pub(crate) fn bearer_of_certificate(shared: &Shared, sha256: &[u8; 32]) -> Result<Caller, RpcError> {
    let known_by = of_certificate(&hexadecimal(sha256));
    let row = shared.record.look_up(|reader| reader.token_by_digest(&known_by))?;
    let row = row.ok_or_else(|| refused("unknown", "this node knows no such certificate"))?;
    check_row(&row, shared.record.now())?;
    let note = Some("by a client certificate".to_owned());
    Ok(Caller { note, ..of_name(shared, row) })
}

/// What becomes of a caller that shows a good token. `is_remote`: it counts also where nothing is known of the caller.
fn meet(seen: &Caller, shown: Caller, is_remote: bool) -> Result<Caller, RpcError> {
    let Some(agent) = &seen.agent else {
        let is_person = matches!(seen.proof, Proof::Uid | Proof::OperatorToken);
        if shown.proof == Proof::OperatorToken && !is_person && !is_remote {
            // Whoever stands under a shim that nobody knows may be an agent of whom only the proof is lost.
            let what = "nothing is known of the caller, which may be an agent that found the token";
            return Err(refused("doubtful-caller", what).hint(
                "over the network a person needs a token made with `edgeplane token create --remote`",
            ));
        }
        return Ok(shown);
    };
    let is_own = shown.agent.as_ref().is_some_and(|of| (of.id, of.epoch) == (agent.id, agent.epoch));
    if is_own && seen.is_seen_as_agent() {
        return Ok(shown);
    }
    let whose = if is_own { "its own".to_owned() } else { format!("that of `{}`", shown.principal) };
    let said = format!("a token was shown, {whose}; an agent stays the agent that it is");
    let note = [seen.note.clone(), Some(said)].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Ok(Caller { note: Some(note), ..seen.clone() })
}

pub(crate) fn of_name(shared: &Shared, row: TokenRow) -> Caller {
    let (proof, authority_max) = weight(row.kind);
    Caller {
        agent: None,
        principal: row.principal,
        proof,
        assurance: shared.assurance(),
        authority_max,
        note: None,
        roles: row.roles,
        scopes: Some(row.scopes),
        bears: Some(Bears::Named(row.id)),
        speaks_for: None,
        automation: None,
    }
}

/// The caller that a subject of an identity provider is.
fn issued(shared: &Shared, issuer: &str, found: Identified) -> Result<Caller, RpcError> {
    let Identified { principal, kind, scopes, roles, until } = found;
    let is_agent = shared.agent(&Tenant::default(), principal.as_str()).is_ok();
    if is_agent || is_nodes_own(principal.as_str()) {
        let what = format!("`{principal}` is the name of an agent, or one that the node gives by itself");
        return Err(refused("unusable-subject", &what));
    }
    let (proof, authority_max) = weight(kind);
    let by = digest(issuer.as_bytes());
    let by = by.as_bytes().iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte));
    Ok(Caller {
        agent: None,
        principal,
        proof,
        assurance: shared.assurance(),
        authority_max,
        note: Some(format!("by a token of `{issuer}`")),
        roles,
        scopes: Some(scopes),
        bears: Some(Bears::Issued(by, moment(until))),
        speaks_for: None,
        automation: None,
    })
}

/// How the word of a person and of a program is known and weighed.
fn weight(kind: TokenKind) -> (Proof, Authority) {
    match kind {
        TokenKind::Operator => (Proof::OperatorToken, Authority::Trusted),
        TokenKind::Service => (Proof::ServiceToken, AGENT_AUTHORITY_MAX),
    }
}

fn of_epoch(shared: &Shared, claims: &EpochClaims) -> Caller {
    let agent = CallingAgent { id: claims.sub, name: claims.name.clone(), epoch: claims.epoch };
    Caller {
        proof: Proof::EpochToken,
        bears: Some(Bears::Epoch(moment(claims.exp))),
        ..Caller::driver(agent, shared.assurance())
    }
}

fn moment(seconds: u64) -> Timestamp {
    Timestamp::from_micros(0).plus_millis(seconds.saturating_mul(1_000))
}

fn check_row(row: &TokenRow, now: Timestamp) -> Result<(), RpcError> {
    if let Some(at) = row.revoked_at {
        return Err(refused("revoked", &format!("token {} was revoked at {at}", row.id)));
    }
    match row.expires_at {
        Some(end) if end <= now => Err(refused("expired", &format!("token {} ended at {end}", row.id))),
        _ => Ok(()),
    }
}

fn epoch_claims(shared: &Shared, text: &str) -> Result<EpochClaims, RpcError> {
    let keys: KeyRing = shared.keys.ring();
    let claims = match token::read(text, &keys, shared.identity.id, shared.record.now()) {
        Ok(claims) => claims,
        Err(error) => {
            let reason = match &error {
                TokenError::Signature(SignatureError::UnknownKey { key_id }) => unknown_key(shared, key_id)?,
                TokenError::Node { .. } => "other-node",
                TokenError::NotYetValid { .. } => "not-yet-valid",
                TokenError::Expired { .. } => "expired",
                TokenError::Signature(SignatureError::Mismatch { .. }) => "forged",
                TokenError::Signature(_) | TokenError::Claims { .. } => "no-token",
                TokenError::Span { .. } | TokenError::Canonical(_) => "no-token",
            };
            return Err(refused(reason, &error.to_string()));
        }
    };
    check_epoch(shared, &of_epoch(shared, &claims))?;
    Ok(claims)
}

/// A key that is not the current one is an old one of this node, or of another node.
fn unknown_key(shared: &Shared, key_id: &SafeLabel) -> Result<&'static str, RpcError> {
    let rows = shared.record.look_up(edgeplane_store::Reader::keys)?;
    Ok(if rows.iter().any(|row| row.id == *key_id) { "retired-key" } else { "other-node" })
}

fn check_epoch(shared: &Shared, caller: &Caller) -> Result<(), RpcError> {
    let Some(agent) = &caller.agent else { return Ok(()) };
    if shared.is_alive(agent.id, agent.epoch)
        && shared.agent(&Tenant::default(), &agent.id.to_string()).is_ok()
    {
        return Ok(());
    }
    Err(refused("epoch-over", &format!("epoch {} of `{}` does not live", agent.epoch, agent.name)))
}

/// Refuses a caller whose token counts no more. It does not become what it was before it showed the token: that may
/// have been more.
pub(crate) fn check_alive(shared: &Shared, caller: &Caller) -> Result<(), RpcError> {
    match caller.bears {
        None => Ok(()),
        Some(Bears::Named(id)) => {
            let row = shared.tokens.row(&shared.record, id)?;
            let row = row.ok_or_else(|| refused("unknown", "this node never gave out that token"))?;
            check_row(&row, shared.record.now())
        }
        Some(Bears::Epoch(end)) if end <= shared.record.now() => {
            Err(refused("expired", &format!("the token of the epoch ended at {end}")))
        }
        Some(Bears::Epoch(_)) => check_epoch(shared, caller),
        Some(Bears::Issued(_, end)) if end <= shared.record.now() => {
            Err(refused("expired", &format!("the token of the identity provider ended at {end}")))
        }
        Some(Bears::Issued(..)) => Ok(()),
    }
}

/// Tokens that are kept in mind; with more, all are looked up anew.
const KNOWN_MAX: usize = 1_024;

/// The tokens that were looked up last. Every request of a bearer asks whether its token still counts.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<TokenId, (u64, Arc<TokenRow>)>>);

impl Known {
    /// What the record says of a token now: a revocation that somebody was told of is in it.
    fn row(&self, record: &Record, id: TokenId) -> Result<Option<Arc<TokenRow>>, RpcError> {
        // Read first: what is added during the look-up counts as not seen.
        let changes = record.changes();
        let known = |known: &mut HashMap<TokenId, (u64, Arc<TokenRow>)>| {
            known.get(&id).filter(|(at, _)| *at == changes).map(|(_, row)| Arc::clone(row))
        };
        if let Some(row) = known(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(Some(row));
        }
        let Some(row) = record.look_up(|reader| reader.token(&id))?.map(Arc::new) else { return Ok(None) };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(id, (changes, Arc::clone(&row)));
        Ok(Some(row))
    }
}

/// When a caller's token ends, if it does by itself.
pub(crate) fn end_of(shared: &Shared, caller: &Caller) -> Option<Timestamp> {
    match caller.bears? {
        Bears::Named(id) => shared.record.look_up(|reader| reader.token(&id)).ok()??.expires_at,
        Bears::Epoch(end) | Bears::Issued(_, end) => Some(end),
    }
}

/// Refuses what a caller's token does not allow, and names the scope.
pub(crate) fn check_scope(caller: &Caller, request: &Request) -> Result<(), RpcError> {
    let Some(scopes) = &caller.scopes else { return Ok(()) };
    let rule = match need(request) {
        Need::Nothing => return Ok(()),
        Need::Scope(scope) if scopes.contains(&scope) => return Ok(()),
        Need::Scope(scope) => format!("scope-{}", scope.as_str()),
        Need::Uid => "no-token-is-enough".to_owned(),
    };
    let who = &caller.principal;
    let who = caller.user_id().map_or_else(|| format!("`{who}`"), |user| format!("`{who}` for `{user}`"));
    let what = format!("{who} may not call {}: rule {rule}", request.method());
    Err(RpcError::new(ErrorName::PermissionDenied, what)
        .hint("a token allows what it was made for; `edgeplane token list` shows that"))
}

/// Makes a token of the epoch that a caller is in; the text, and when it ends.
pub(crate) fn issue(
    shared: &Shared,
    caller: &Caller,
    key: &SigningKey,
) -> Result<(String, Timestamp), RpcError> {
    let denied = |what: String, hint: &str| Err(RpcError::new(ErrorName::PermissionDenied, what).hint(hint));
    let Some(agent) = caller.agent.as_ref().filter(|_| caller.is_seen_as_agent()) else {
        if caller.proof == Proof::EpochToken {
            let what = "a token does not make the next one: rule epoch-token-from-a-token".to_owned();
            return denied(what, "ask over the agent's own socket, before a token is shown there");
        }
        let what = format!("`{}` is no agent beyond doubt: rule agents-only", caller.principal);
        return denied(what, "an agent asks, over the socket in EDGEPLANE_SOCKET");
    };
    check_epoch(shared, caller)?;
    let iat = shared.record.now().as_millis() / 1_000;
    let exp = iat.saturating_add(EPOCH_TOKEN_SECONDS);
    let claims = EpochClaims {
        iss: shared.identity.id,
        sub: agent.id,
        name: agent.name.clone(),
        epoch: agent.epoch,
        iat,
        exp,
        jti: shared.record.mint().id(),
    };
    let text = token::issue(key, &claims)
        .map_err(|error| RpcError::new(ErrorName::Internal, format!("no token can be made: {error}")))?;
    Ok((text, moment(exp)))
}

#[cfg(test)]
#[path = "tokens/tests.rs"]
mod tests;
