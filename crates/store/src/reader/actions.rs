//! Pending actions and what was decided.

use edgeplane_types::{ActionId, AgentId, Fact, Timestamp, decision::ActionKind};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{ActionRow, Resolution, VoteRow, model::kind_word, sqlite::uint};

/// Which actions to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionFilter {
    /// Those still to be decided.
    Pending,
    /// Every one.
    All,
}

/// Where an action and its decision stand in the record.
type Places = (i64, Option<i64>);

fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok((row.get(0)?, row.get(1)?))
}

fn action(conn: &Connection, (opened_pos, resolved_pos): Places) -> rusqlite::Result<ActionRow> {
    let opened = event_at(conn, opened_pos)?;
    let Fact::ActionOpened { action } = opened.fact else { return Err(misplaced(&opened.fact)) };
    let votes = conn
        .prepare_cached("SELECT pos FROM vote WHERE action = ?1 ORDER BY pos")?
        .query_map([opened_pos], |row| row.get(0))?
        .map(|pos| vote(conn, pos?))
        .collect::<rusqlite::Result<_>>()?;
    let resolution = resolved_pos.map(|pos| resolution(conn, pos)).transpose()?;
    let opened_pos = u64::try_from(opened_pos).unwrap_or(0);
    Ok(ActionRow { opened_pos, opened_at: opened.ts, action: *action, votes, resolution })
}

fn vote(conn: &Connection, pos: i64) -> rusqlite::Result<VoteRow> {
    let event = event_at(conn, pos)?;
    match event.fact {
        Fact::ActionVoted { principal, verdict, .. } => Ok(VoteRow { principal, verdict, at: event.ts }),
        other => Err(misplaced(&other)),
    }
}

fn resolution(conn: &Connection, pos: i64) -> rusqlite::Result<Resolution> {
    let event = event_at(conn, pos)?;
    match event.fact {
        Fact::ActionResolved { outcome, answer, by, reason, told_by, .. } => {
            Ok(Resolution { outcome, answer, by, reason, told_by, at: event.ts })
        }
        other => Err(misplaced(&other)),
    }
}

impl Reader {
    /// The action with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn action(&self, id: &ActionId) -> Result<Option<ActionRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT opened_pos, resolved_pos FROM action WHERE id = ?1")?
                .query_row([id.as_bytes()], places)
                .optional()?
                .map(|places| action(conn, places))
                .transpose()
        })
    }

    /// The action that an agent opened under this idempotency key.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn action_by_key(&self, agent: &AgentId, key: &str) -> Result<Option<ActionRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT opened_pos, resolved_pos FROM action WHERE agent = ?1 AND key = ?2")?
                .query_row(params![agent.as_bytes(), key], places)
                .optional()?
                .map(|places| action(conn, places))
                .transpose()
        })
    }

    /// How many actions of a kind an agent has that are not decided.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn pending_actions(&self, agent: &AgentId, kind: ActionKind) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT count(*) FROM action WHERE agent = ?1 AND resolved_pos IS NULL AND kind = ?2",
            )?
            .query_row(params![agent.as_bytes(), kind_word(kind)], |row| uint(row, 0))
        })
    }

    /// The newest actions, of one agent or of all, in the order in which they were opened: the newest last.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn actions(
        &self,
        filter: ActionFilter,
        agent: Option<&AgentId>,
        rows: usize,
    ) -> Result<Vec<ActionRow>, ReadError> {
        let pending = match filter {
            ActionFilter::Pending => "resolved_pos IS NULL",
            ActionFilter::All => "TRUE",
        };
        let of_agent = if agent.is_some() { "agent = ?1" } else { "?1 IS NULL" };
        let sql = format!(
            "SELECT opened_pos, resolved_pos FROM action WHERE {of_agent} AND {pending}
             ORDER BY opened_pos DESC LIMIT ?2"
        );
        self.at_once(|conn| {
            let mut found = conn
                .prepare_cached(&sql)?
                .query_map(params![agent.map(AgentId::as_bytes), limit(rows)], places)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            found.reverse();
            found.into_iter().map(|places| action(conn, places)).collect()
        })
    }

    /// When the time of a pending action, of one agent or of any, is over first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn next_action_expiry(&self, agent: Option<&AgentId>) -> Result<Option<Timestamp>, ReadError> {
        let of_agent = if agent.is_some() { "agent = ?1" } else { "?1 IS NULL" };
        let sql = format!("SELECT min(expires) FROM action WHERE {of_agent} AND resolved_pos IS NULL");
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_row([agent.map(AgentId::as_bytes)], |row| row.get::<_, Option<i64>>(0))
                .map(|micros| micros.map(Timestamp::from_micros))
        })
    }

    /// The pending actions, of one agent or of all, whose time is over at `now`, those first that are longest beyond it.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn expired_actions(
        &self,
        agent: Option<&AgentId>,
        now: Timestamp,
        rows: usize,
    ) -> Result<Vec<ActionId>, ReadError> {
        let of_agent = if agent.is_some() { "agent = ?1" } else { "?1 IS NULL" };
        let sql = format!(
            "SELECT id FROM action WHERE {of_agent} AND resolved_pos IS NULL AND expires <= ?2
             ORDER BY expires, opened_pos LIMIT ?3"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![agent.map(AgentId::as_bytes), now.as_micros(), limit(rows)], |row| {
                    row.get(0).map(ActionId::from_bytes)
                })?
                .collect()
        })
    }
}
