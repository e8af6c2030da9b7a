//! Named tokens and the node's keys.

use edgeplane_types::{Fact, TokenId, fact::TokenCreated};
use rusqlite::{Connection, OptionalExtension, Row};

use super::{ReadError, Reader, event_at, misplaced};
use crate::{
    KeyRow, TokenRow,
    sqlite::{maybe_moment, moment, parsed},
};

/// Where a token and its end stand in the record.
type Places = (i64, Option<i64>);

fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok((row.get(0)?, row.get(1)?))
}

fn token(conn: &Connection, (created_pos, revoked_pos): Places) -> rusqlite::Result<TokenRow> {
    let created = event_at(conn, created_pos)?;
    let Fact::TokenCreated(made) = created.fact else { return Err(misplaced(&created.fact)) };
    let TokenCreated { token_id, kind, principal, scopes, roles, secret_digest, expires_at, remote } = *made;
    let revoked = revoked_pos.map(|pos| event_at(conn, pos)).transpose()?;
    let (revoked_at, revoked_reason) = match revoked.map(|event| (event.ts, event.fact)) {
        None => (None, None),
        Some((at, Fact::TokenRevoked { reason, .. })) => (Some(at), Some(reason)),
        Some((_, other)) => return Err(misplaced(&other)),
    };
    let (id, created_at) = (token_id, created.ts);
    Ok(TokenRow {
        id,
        kind,
        principal,
        scopes,
        roles,
        secret_digest,
        created_at,
        expires_at,
        remote,
        revoked_at,
        revoked_reason,
    })
}

impl Reader {
    /// The token whose secret has this digest, also if it is revoked or its time is over.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn token_by_digest(&self, secret_digest: &str) -> Result<Option<TokenRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT created_pos, revoked_pos FROM token WHERE secret_digest = ?1")?
                .query_row([secret_digest], places)
                .optional()?
                .map(|places| token(conn, places))
                .transpose()
        })
    }

    /// The token with this id, likewise.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn token(&self, id: &TokenId) -> Result<Option<TokenRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT created_pos, revoked_pos FROM token WHERE id = ?1")?
                .query_row([id.as_bytes()], places)
                .optional()?
                .map(|places| token(conn, places))
                .transpose()
        })
    }

    /// Every token that was ever made, in the order in which they were.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn tokens(&self) -> Result<Vec<TokenRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT created_pos, revoked_pos FROM token ORDER BY created_pos")?
                .query_map([], places)?
                .map(|places| token(conn, places?))
                .collect()
        })
    }

    /// Every key that the node ever had, in the order in which it got them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn keys(&self) -> Result<Vec<KeyRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT id, public_key, created_at, retired_at FROM node_key ORDER BY created_pos",
            )?
            .query_map([], |row| {
                Ok(KeyRow {
                    id: parsed(row, 0)?,
                    public_key: row.get(1)?,
                    created_at: moment(row, 2)?,
                    retired_at: maybe_moment(row, 3)?,
                })
            })?
            .collect()
        })
    }
}
