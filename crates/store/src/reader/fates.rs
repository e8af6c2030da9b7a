//! What became of messages: which were given up, which turns are open, how many are on each rung.

use std::collections::BTreeMap;

use edgeplane_types::{AgentId, Authority, Channel, Epoch, MessageId, Rung};
use rusqlite::{Connection, OptionalExtension, Row, params, types::Type};

use super::{
    ReadError, Reader,
    inbox::{MESSAGES, message},
    limit,
};
use crate::{
    Leading, MessageRow, OpenTurn,
    model::messages::lightness,
    sqlite::{int, uint},
};

/// A column that holds an authority, as the model numbers it.
fn authority(row: &Row<'_>, index: usize) -> rusqlite::Result<Authority> {
    numbered(index, row.get(index)?)
}

fn numbered(index: usize, number: i64) -> rusqlite::Result<Authority> {
    let found = usize::try_from(number).ok().and_then(|place| Authority::ALL.get(place));
    found.copied().ok_or(rusqlite::Error::IntegralValueOutOfRange(index, number))
}

/// A column that holds a word.
fn word<T>(row: &Row<'_>, index: usize, read: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    read(&text).ok_or_else(|| rusqlite::Error::InvalidColumnType(index, text, Type::Text))
}

/// A turn that leads words: its message, how light that and all that is open are, and since when.
type Turn = ([u8; 16], i64, i64);

fn turn(row: &Row<'_>) -> rusqlite::Result<Turn> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

/// The newest open turn of an epoch, with what the lightest of the open ones weighs and since when the oldest is open.
fn open_turn(conn: &Connection, agent: &AgentId, epoch: Epoch) -> rusqlite::Result<Option<Turn>> {
    conn.prepare_cached(
        "SELECT id,
                (SELECT max(authority) FROM message INDEXED BY message_open_authority
                 WHERE target = ?1 AND epoch = ?2 AND open_since IS NOT NULL),
                (SELECT min(open_since) FROM message INDEXED BY message_open
                 WHERE target = ?1 AND epoch = ?2 AND open_since IS NOT NULL)
         FROM message INDEXED BY message_open
         WHERE target = ?1 AND epoch = ?2 AND open_since IS NOT NULL ORDER BY open_since DESC LIMIT 1",
    )?
    .query_row(params![agent.as_bytes(), int(epoch.0)], turn)
    .optional()
}

/// The turn of an epoch that ended last.
fn turn_over(conn: &Connection, agent: &AgentId, epoch: Epoch) -> rusqlite::Result<Option<Turn>> {
    conn.prepare_cached(
        "SELECT message.id, message.authority, turn_over.since
         FROM turn_over JOIN message ON message.accepted_pos = turn_over.message
         WHERE turn_over.target = ?1 AND turn_over.epoch = ?2",
    )?
    .query_row(params![agent.as_bytes(), int(epoch.0)], turn)
    .optional()
}

impl Reader {
    /// The messages after position `cursor` that were given up and are neither dropped nor wait again, in the order of
    /// their acceptance: those of one agent or of all. Those are the dead-lettered, rejected and expired ones, and
    /// those of which is unknown whether they were delivered.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn dead_letters(
        &self,
        agent: Option<&AgentId>,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<MessageRow>, ReadError> {
        let (index, of_agent) = match agent {
            Some(_) => ("message_given_up", "message.target = ?3"),
            None => ("message_given_up_anywhere", "?3 IS NULL"),
        };
        let messages = MESSAGES.replace("FROM message", &format!("FROM message INDEXED BY {index}"));
        let sql = format!(
            "{messages} WHERE message.given_up = 1 AND message.accepted_pos > ?1 AND {of_agent}
             ORDER BY message.accepted_pos LIMIT ?2"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows), agent.map(AgentId::as_bytes)], message)?
                .collect()
        })
    }

    /// The messages that an epoch's program was given and whose turn has not ended, longest open first. One whose end
    /// only a hook told leads the agent's words still, and is none of them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_turns(&self, agent: &AgentId, epoch: Epoch, rows: usize) -> Result<Vec<OpenTurn>, ReadError> {
        self.turns(agent, epoch, rows, "ORDER BY open_since LIMIT ?3")
    }

    /// The same, those that were opened last, newest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn newest_turns(
        &self,
        agent: &AgentId,
        epoch: Epoch,
        rows: usize,
    ) -> Result<Vec<OpenTurn>, ReadError> {
        self.turns(agent, epoch, rows, "ORDER BY open_since DESC LIMIT ?3")
    }

    fn turns(
        &self,
        agent: &AgentId,
        epoch: Epoch,
        rows: usize,
        order: &str,
    ) -> Result<Vec<OpenTurn>, ReadError> {
        let sql = format!(
            "SELECT id, open_since, authority, channel FROM message INDEXED BY message_open
             WHERE target = ?1 AND epoch = ?2 AND open_since IS NOT NULL AND state <> 'turn_ended' {order}"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![agent.as_bytes(), int(epoch.0), limit(rows)], |row| {
                    Ok(OpenTurn {
                        message_id: MessageId::from_bytes(row.get(0)?),
                        since_pos: uint(row, 1)?,
                        authority: authority(row, 2)?,
                        channel: word(row, 3, Channel::from_word)?,
                    })
                })?
                .collect()
        })
    }

    /// What leads the words of an agent in an epoch. Takes the same time however many messages there are.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn leading(&self, agent: &AgentId, epoch: Epoch) -> Result<Option<Leading>, ReadError> {
        self.at_once(|conn| {
            let turn = match open_turn(conn, agent, epoch)? {
                Some(turn) => Some(turn),
                None => turn_over(conn, agent, epoch)?,
            };
            let since = turn.map_or(0, |(_, _, since)| since);
            let heard: Option<i64> = conn
                .prepare_cached(
                    "SELECT max(authority) FROM heard WHERE target = ?1 AND epoch = ?2 AND pos >= ?3",
                )?
                .query_row(params![agent.as_bytes(), int(epoch.0), since], |row| row.get(0))?;
            let lightest = turn.map(|(_, lightest, _)| lightest).max(heard);
            lightest
                .map(|lightest| {
                    let message_id = turn.map(|(id, ..)| MessageId::from_bytes(id));
                    Ok(Leading { message_id, authority: numbered(1, lightest)? })
                })
                .transpose()
        })
    }

    /// Whether an agent has heard something so light in the newest of its open turns, or with none open in the one
    /// that ended last: then to hear it again changes nothing.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn has_heard(&self, agent: &AgentId, epoch: Epoch, authority: Authority) -> Result<bool, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM heard WHERE target = ?1 AND epoch = ?2 AND authority >= ?3 AND pos >= coalesce(
                    (SELECT max(open_since) FROM message INDEXED BY message_open
                     WHERE target = ?1 AND epoch = ?2 AND open_since IS NOT NULL),
                    (SELECT since FROM turn_over WHERE target = ?1 AND epoch = ?2), 0)",
            )?
            .exists(params![agent.as_bytes(), int(epoch.0), lightness(authority)])
        })
    }

    /// How many messages are on each rung, those of one agent or of all: each message once, so that the numbers add up
    /// to those that were accepted. One that waits once more is counted on the rung where it is.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn counts(&self, agent: Option<&AgentId>) -> Result<BTreeMap<Rung, u64>, ReadError> {
        let of_agent = if agent.is_some() { "target = ?1" } else { "?1 IS NULL" };
        let sql = format!(
            "SELECT rung, sum(messages) FROM rung_total WHERE {of_agent} GROUP BY rung HAVING sum(messages) > 0"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map([agent.map(AgentId::as_bytes)], |row| {
                    Ok((word(row, 0, Rung::from_word)?, uint(row, 1)?))
                })?
                .collect()
        })
    }
}
