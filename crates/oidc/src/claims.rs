//! What a token says, and what of it counts.

use edgeplane_types::{SafeLabel, Scope, TokenKind};
use serde::Deserialize;

use crate::{IssuerConfig, Refused};

/// How far the clocks of an issuer and of this machine may be apart, in seconds.
pub const SKEW_SECONDS: u64 = 60;

/// What scopes and roles begin with that are meant for EdgePlane.
const PREFIX: &str = "edgeplane:";

/// Most roles of one subject.
const ROLES_MAX: usize = 16;

/// What a token says.
#[derive(Debug, Deserialize)]
pub(crate) struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    exp: u64,
    nbf: Option<u64>,
    iat: Option<u64>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    roles: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// Whose a token is, and what it allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identified {
    /// The subject.
    pub principal: SafeLabel,
    /// Whether it is a person or a program.
    pub kind: TokenKind,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The roles in which it decides actions.
    pub roles: Vec<SafeLabel>,
    /// Until when, in seconds since 1970.
    pub until: u64,
}

impl Claims {
    /// What counts of it now.
    pub(crate) fn check(&self, config: &IssuerConfig, now: u64) -> Result<Identified, Refused> {
        if self.iss != config.issuer {
            return Err(Refused::Form("it names another issuer"));
        }
        let is_meant = match &self.aud {
            Audience::One(one) => *one == config.audience,
            Audience::Several(several) => several.contains(&config.audience),
        };
        if !is_meant {
            return Err(Refused::Audience);
        }
        let until = self.exp.saturating_add(SKEW_SECONDS);
        if until <= now {
            return Err(Refused::Expired);
        }
        let latest = now.saturating_add(SKEW_SECONDS);
        if self.nbf.is_some_and(|from| from > latest) || self.iat.is_some_and(|at| at > latest) {
            return Err(Refused::NotYetValid);
        }
        let principal: SafeLabel = self.sub.parse().map_err(|_other| Refused::Subject)?;
        let may = |scope: &Scope| match config.kind {
            TokenKind::Operator => true,
            TokenKind::Service => matches!(scope, Scope::Read | Scope::Signal | Scope::Delegate),
        };
        let words = self.scope.split(' ').filter_map(|word| word.strip_prefix(PREFIX));
        let mut scopes: Vec<Scope> = words.filter_map(Scope::from_word).filter(may).collect();
        scopes.sort_unstable();
        scopes.dedup();
        if scopes.is_empty() {
            return Err(Refused::NoScope);
        }
        // A program decides nothing.
        let roles_max = if config.kind == TokenKind::Operator { ROLES_MAX } else { 0 };
        let roles = self.roles.iter().filter_map(|role| role.strip_prefix(PREFIX)?.parse().ok());
        let roles = roles.take(roles_max).collect();
        Ok(Identified { principal, kind: config.kind, scopes, roles, until })
    }
}
