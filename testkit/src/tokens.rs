//! Those who are known by a token.

use edgeplane_types::{Scope, TokenKind};
use edgeplane_wire::{
    api::{
        core::InitializeParams,
        security::{CreateParams, CreateResult},
    },
    catalogue::{CoreInitialize, TokenCreate},
};

use crate::{Connection, Node};

impl Node {
    /// A new token that does not expire.
    ///
    /// # Panics
    /// If it is not made.
    #[must_use]
    pub fn token(&self, principal: &str, kind: TokenKind, scopes: &[Scope], roles: &[&str]) -> CreateResult {
        self.made((principal, kind, false), scopes, roles)
    }

    /// The token of a person that also counts over network connections.
    ///
    /// # Panics
    /// If it is not made.
    #[must_use]
    pub fn remote_token(&self, principal: &str, scopes: &[Scope], roles: &[&str]) -> CreateResult {
        self.made((principal, TokenKind::Operator, true), scopes, roles)
    }

    fn made(
        &self,
        (principal, kind, remote): (&str, TokenKind, bool),
        scopes: &[Scope],
        roles: &[&str],
    ) -> CreateResult {
        let label = |text: &str| text.parse().expect("tests use good names");
        self.connect().call::<TokenCreate>(&CreateParams {
            principal: label(principal),
            kind,
            scopes: scopes.to_vec(),
            roles: roles.iter().map(|role| label(role)).collect(),
            expires_in_ms: None,
            remote,
        })
    }

    /// A connection on which a good token was shown.
    ///
    /// # Panics
    /// If the token is refused.
    #[must_use]
    pub fn bearer(&self, token: &str) -> Connection {
        let mut connection = self.connect();
        let params = InitializeParams { token: Some(token.to_owned()), ..InitializeParams::default() };
        connection.call::<CoreInitialize>(&params);
        connection
    }
}
