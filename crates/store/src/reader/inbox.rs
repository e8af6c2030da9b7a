//! Messages: an agent's inbox, what is to be delivered next, one message.

use edgeplane_types::{AgentId, Epoch, Event, Fact, MessageId, Receipt, Rung, SafeLabel, Timestamp};
use rusqlite::{OptionalExtension, Row, params, types::Type};

use super::{ReadError, Reader, limit};
use crate::{
    MessageRow,
    sqlite::{int, json, maybe_uint, uint},
};

/// Which messages of an inbox to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxFilter {
    /// Those still to be delivered.
    Waiting,
    /// Every one.
    All,
}

/// A message with the event that holds its envelope.
const MESSAGES: &str = "
    SELECT message.accepted_pos, event.body, message.receipts, message.state, message.waiting, message.epoch,
           message.reason
    FROM message JOIN event ON event.pos = message.accepted_pos";

fn message(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    let event: Event = json(row, 1)?;
    let Fact::MessageAccepted { envelope } = event.fact else {
        return Err(rusqlite::Error::InvalidColumnType(1, event.fact.type_name().to_owned(), Type::Blob));
    };
    let receipts: Vec<Receipt> = serde_json::from_str(&format!("[{}]", row.get_ref(2)?.as_str()?))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(2, Type::Text, Box::new(error)))?;
    let state: String = row.get(3)?;
    let state = Rung::from_word(&state)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(3, state.clone(), Type::Text))?;
    Ok(MessageRow {
        accepted_pos: uint(row, 0)?,
        envelope: *envelope,
        receipts,
        state,
        waiting: row.get(4)?,
        epoch: maybe_uint(row, 5)?.map(Epoch),
        reason: row.get(6)?,
    })
}

impl Reader {
    /// The messages of an agent after position `cursor`, in the order of their acceptance.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn inbox(
        &self,
        agent: &AgentId,
        filter: InboxFilter,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<MessageRow>, ReadError> {
        let waiting = match filter {
            InboxFilter::Waiting => "AND message.waiting = 1",
            InboxFilter::All => "",
        };
        let sql = format!(
            "{MESSAGES} WHERE message.target = ?1 {waiting} AND message.accepted_pos > ?2
             ORDER BY message.accepted_pos LIMIT ?3"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![agent.as_bytes(), int(cursor), limit(rows)], message)?
                .collect()
        })
    }

    /// The newest messages of an agent, in the order of their acceptance: the newest last.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn inbox_newest(&self, agent: &AgentId, rows: usize) -> Result<Vec<MessageRow>, ReadError> {
        let sql = format!("{MESSAGES} WHERE message.target = ?1 ORDER BY message.accepted_pos DESC LIMIT ?2");
        let mut found: Vec<MessageRow> = self.with(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![agent.as_bytes(), limit(rows)], message)?.collect()
        })?;
        found.reverse();
        Ok(found)
    }

    /// The messages to deliver to an agent next: by priority, then in the order of their acceptance.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn next_waiting(&self, agent: &AgentId, rows: usize) -> Result<Vec<MessageRow>, ReadError> {
        let sql = format!(
            "{MESSAGES} WHERE message.target = ?1 AND message.waiting = 1
             ORDER BY message.priority, message.accepted_pos LIMIT ?2"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![agent.as_bytes(), limit(rows)], message)?.collect()
        })
    }

    /// How many messages of an agent wait.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn waiting_count(&self, agent: &AgentId) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT count(*) FROM message WHERE target = ?1 AND waiting = 1")?
                .query_row([agent.as_bytes()], |row| uint(row, 0))
        })
    }

    /// When the time of a waiting message of an agent is over first, if any has an end.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn next_expiry(&self, agent: &AgentId) -> Result<Option<Timestamp>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT min(expires) FROM message WHERE target = ?1 AND waiting = 1 AND expires IS NOT NULL",
            )?
            .query_row([agent.as_bytes()], |row| row.get::<_, Option<i64>>(0))
            .map(|micros| micros.map(Timestamp::from_micros))
        })
    }

    /// The waiting messages of an agent whose time is over at `now`, those first that waited longest beyond it.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn expired(&self, agent: &AgentId, now: Timestamp, rows: usize) -> Result<Vec<MessageId>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT id FROM message WHERE target = ?1 AND waiting = 1 AND expires <= ?2
                 ORDER BY expires, accepted_pos LIMIT ?3",
            )?
            .query_map(params![agent.as_bytes(), now.as_micros(), limit(rows)], |row| {
                row.get(0).map(MessageId::from_bytes)
            })?
            .collect()
        })
    }

    /// The message with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn message(&self, id: &MessageId) -> Result<Option<MessageRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{MESSAGES} WHERE message.id = ?1"))?
                .query_row([id.as_bytes()], message)
                .optional()
        })
    }

    /// The message that `principal` sent to `target` under this idempotency key.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn message_by_idempotency(
        &self,
        target: &AgentId,
        principal: &SafeLabel,
        key: &str,
    ) -> Result<Option<MessageRow>, ReadError> {
        let sql =
            format!("{MESSAGES} WHERE message.target = ?1 AND message.principal = ?2 AND message.key = ?3");
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_row(params![target.as_bytes(), principal.as_str(), key], message)
                .optional()
        })
    }
}
