//! Keys and tokens.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_proof::{NamedToken, token::SECRET_BYTES};
use edgeplane_store::{KeyRow, Reader, TokenRow};
use edgeplane_types::{
    ErrorName, Fact, Scope, StreamName, Tenant, Timestamp, TokenId, TokenKind, fact::TokenCreated,
    is_nodes_own,
};
use edgeplane_wire::{
    api::{
        Empty,
        core::Check,
        security::{
            AddCertificateParams, AddCertificateResult, CreateParams, CreateResult, EpochTokenResult,
            KeyView, KeysResult, RevokeParams, TokenView, TokensResult,
        },
    },
    rpc::RpcError,
};

use super::Session;
use crate::{
    record::{Draft, Origin, refused},
    tokens,
};

/// Tokens that may be good at the same time. Each is somebody's, and nobody keeps track of more.
const LIVE_TOKENS_MAX: usize = 1_000;

/// Roles that one token may have.
const ROLES_MAX: usize = 16;

/// Longest reason of a revocation in bytes.
const REASON_BYTES_MAX: usize = 1_024;

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

pub(in crate::server) async fn create(
    session: &Session,
    params: CreateParams,
) -> Result<CreateResult, RpcError> {
    let scopes = checked(&params)?;
    let shared = &session.shared;
    let now = shared.record.now();
    check_room(session, &params, now).await?;
    let mut secret = zeroize::Zeroizing::new([0; SECRET_BYTES]);
    shared.record.mint().entropy.fill(secret.as_mut_slice());
    let token = NamedToken::from_random(*secret);
    let token_id: TokenId = shared.record.mint().id();
    let expires_at = params.expires_in_ms.map(|millis| now.plus_millis(millis));
    let created = TokenCreated {
        token_id,
        kind: params.kind,
        principal: params.principal,
        scopes,
        roles: params.roles,
        secret_digest: token.digest().to_string(),
        expires_at,
        remote: params.remote,
    };
    commit(session, Fact::TokenCreated(Box::new(created))).await?;
    Ok(CreateResult { token_id, token: token.reveal().to_owned(), expires_at })
}

/// Refuses a credential for an agent, and one more than anybody keeps track of.
async fn check_room(session: &Session, params: &CreateParams, now: Timestamp) -> Result<(), RpcError> {
    let shared = &session.shared;
    if shared.agent(&Tenant::default(), params.principal.as_str()).is_ok() {
        let what = format!("`{}` is an agent, and an agent needs no token", params.principal);
        return Err(invalid(what).hint("name the person or the program that will bear the token"));
    }
    let live = shared.record.read(Reader::tokens).await?.iter().filter(|row| is_live(row, now)).count();
    if live >= LIVE_TOKENS_MAX {
        let what = format!("{live} tokens are good now, and no more than {LIVE_TOKENS_MAX} may be");
        return Err(RpcError::new(ErrorName::QuotaExhausted, what).hint("revoke those that nobody uses"));
    }
    Ok(())
}

pub(in crate::server) async fn add_certificate(
    session: &Session,
    params: AddCertificateParams,
) -> Result<AddCertificateResult, RpcError> {
    let AddCertificateParams { fingerprint, principal, kind, scopes, roles, expires_in_ms } = params;
    let Some(fingerprint) = tokens::fingerprint(&fingerprint) else {
        return Err(invalid("a fingerprint is 64 hexadecimal digits, with or without colons")
            .hint("`openssl x509 -noout -fingerprint -sha256 -in CERTIFICATE` shows it"));
    };
    // It is only ever shown over a network connection.
    let params = CreateParams { principal, kind, scopes, roles, expires_in_ms, remote: true };
    let scopes = checked(&params)?;
    let shared = &session.shared;
    let now = shared.record.now();
    check_room(session, &params, now).await?;
    let secret_digest = tokens::of_certificate(&fingerprint);
    if let Some(row) = shared.record.look_up(|reader| reader.token_by_digest(&secret_digest))? {
        let what = format!("the certificate is known already, as {} of `{}`", row.id, row.principal);
        return Err(RpcError::new(ErrorName::Conflict, what)
            .hint("one that was revoked stays worth nothing; make a new certificate"));
    }
    let token_id: TokenId = shared.record.mint().id();
    let expires_at = params.expires_in_ms.map(|millis| now.plus_millis(millis));
    let CreateParams { principal, kind, roles, remote, .. } = params;
    let created =
        TokenCreated { token_id, kind, principal, scopes, roles, secret_digest, expires_at, remote };
    commit(session, Fact::TokenCreated(Box::new(created))).await?;
    Ok(AddCertificateResult { token_id, expires_at })
}

async fn commit(session: &Session, fact: Fact) -> Result<(), RpcError> {
    let record = &session.shared.record;
    let mut draft = Draft::default();
    let stream = StreamName::Node(session.shared.identity.id);
    record.add(&mut draft, stream, &Origin::actor(session.caller.actor()), fact);
    record.commit(draft).await.map_err(|error| refused(&error))?;
    session.effect.notify_one();
    Ok(())
}

/// The scopes of a token that may be made, each once.
fn checked(params: &CreateParams) -> Result<Vec<Scope>, RpcError> {
    let CreateParams { principal, kind, scopes, roles, expires_in_ms, remote: _ } = params;
    if is_nodes_own(principal.as_str()) {
        let what = format!("`{principal}` is a name that the node gives by itself");
        return Err(invalid(what).hint("name the person or the program that will bear the token"));
    }
    let scopes: BTreeSet<Scope> = scopes.iter().copied().collect();
    if scopes.is_empty() {
        return Err(invalid("a token without a scope allows nothing"));
    }
    if *kind == TokenKind::Service {
        let may = |scope: &Scope| matches!(scope, Scope::Read | Scope::Signal | Scope::Delegate);
        if let Some(more) = scopes.iter().find(|scope| !may(scope)) {
            let what =
                format!("a service has the scopes read, signal and delegate only, not {}", more.as_str());
            return Err(invalid(what).hint("what a person is answerable for needs a token of a person"));
        }
        if !roles.is_empty() {
            return Err(invalid("a service decides nothing, so it has no roles"));
        }
    }
    if roles.len() > ROLES_MAX {
        return Err(invalid(format!("a token has at most {ROLES_MAX} roles")));
    }
    if *expires_in_ms == Some(0) {
        return Err(invalid("the token would have ended already"));
    }
    Ok(scopes.into_iter().collect())
}

fn is_live(row: &TokenRow, now: Timestamp) -> bool {
    row.revoked_at.is_none() && row.expires_at.is_none_or(|end| end > now)
}

pub(in crate::server) async fn list(session: &Session) -> Result<TokensResult, RpcError> {
    let rows = session.shared.record.read(Reader::tokens).await?;
    let items = rows.into_iter().map(|row| TokenView {
        revoked: row.revoked_at.map(|at| match row.revoked_reason.as_deref().unwrap_or_default() {
            "" => at.to_string(),
            reason => format!("{at}: {reason}"),
        }),
        token_id: row.id,
        principal: row.principal,
        kind: row.kind,
        scopes: row.scopes,
        roles: row.roles,
        certificate: tokens::certificate_of(&row.secret_digest).map(str::to_owned),
        created_at: row.created_at,
        expires_at: row.expires_at,
        remote: row.remote,
    });
    Ok(TokensResult { items: items.collect() })
}

pub(in crate::server) async fn revoke(session: &Session, params: RevokeParams) -> Result<Empty, RpcError> {
    let RevokeParams { token_id, reason } = params;
    if reason.len() > REASON_BYTES_MAX {
        return Err(RpcError::new(
            ErrorName::TooLarge,
            format!("a reason has at most {REASON_BYTES_MAX} bytes"),
        ));
    }
    let row = session.shared.record.look_up(|reader| reader.token(&token_id))?;
    let row = row.ok_or_else(|| {
        RpcError::new(ErrorName::NotFound, format!("no token {token_id}"))
            .hint("`edgeplane token list` shows the tokens there are")
    })?;
    if row.revoked_at.is_none() {
        commit(session, Fact::TokenRevoked { token_id, reason }).await?;
        session.shared.standings_changed();
    }
    Ok(Empty {})
}

pub(in crate::server) async fn epoch(session: &Session) -> Result<EpochTokenResult, RpcError> {
    let key = session.shared.keys.signing(&session.shared.record).await?;
    let (token, expires_at) = tokens::issue(&session.shared, &session.caller, &key)?;
    Ok(EpochTokenResult { token, expires_at })
}

pub(in crate::server) async fn keys(session: &Session) -> Result<KeysResult, RpcError> {
    let rows = session.shared.record.read(Reader::keys).await?;
    Ok(KeysResult { items: rows.into_iter().map(view).collect() })
}

fn view(row: KeyRow) -> KeyView {
    let KeyRow { id, public_key, created_at, retired_at } = row;
    KeyView { key_id: id, public_key, created_at, retired_at }
}

pub(in crate::server) async fn rotate(session: &Session) -> Result<KeyView, RpcError> {
    let shared = Arc::clone(&session.shared);
    let origin = Origin::actor(session.caller.actor());
    // Goes on if the caller's time is over: the record and what signs must not come apart.
    let work = shared.tasks.clone().spawn(async move { shared.keys.rotate(&shared.record, &origin).await });
    let row = work.await.map_err(|_cut| RpcError::new(ErrorName::Internal, "the rotation was cut off"))??;
    session.effect.notify_one();
    Ok(view(row))
}

/// What `doctor` shows of the tokens.
pub(super) fn check(rows: &[TokenRow], now: Timestamp) -> Check {
    let live: Vec<&TokenRow> = rows.iter().filter(|row| is_live(row, now)).collect();
    let endless = live.iter().filter(|row| row.expires_at.is_none()).count();
    let detail = format!("{} good, {endless} of them without an end", live.len());
    Check { name: "tokens".to_owned(), status: "ok".to_owned(), detail, hint: None }
}
