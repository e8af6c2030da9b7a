//! Messages: an agent's inbox, what waits there, one message, what answers it.

use edgeplane_types::{AgentId, Epoch, Event, Fact, MessageId, Receipt, Rung, SafeLabel, Timestamp};
use rusqlite::{OptionalExtension, Row, params, types::Type};

use super::{ReadError, Reader, committed, limit, misplaced};
use crate::{
    CommittedEvent, MessageRow, Waiting, WaitingRow, WaitingTotals,
    model::messages::PRIORITIES,
    sqlite::{int, json, maybe_moment, maybe_uint, uint},
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
pub(super) const MESSAGES: &str = "
    SELECT message.accepted_pos, event.body, message.receipts, message.state, message.waiting, message.epoch,
           message.reason, message.expires, message.given_up, message.dropped, message.target
    FROM message JOIN event ON event.pos = message.accepted_pos";

pub(super) fn message(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    let event: Event = json(row, 1)?;
    let Fact::MessageAccepted { envelope } = event.fact else {
        return Err(misplaced(&event.fact));
    };
    let receipts: Vec<Receipt> = serde_json::from_str(&format!("[{}]", row.get_ref(2)?.as_str()?))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(2, Type::Text, Box::new(error)))?;
    let state: String = row.get(3)?;
    let state = Rung::from_word(&state)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(3, state.clone(), Type::Text))?;
    let mut envelope = *envelope;
    let addressed = envelope.target;
    envelope.target = AgentId::from_bytes(row.get(10)?);
    Ok(MessageRow {
        accepted_pos: uint(row, 0)?,
        envelope,
        addressed,
        receipts,
        state,
        waiting: row.get(4)?,
        epoch: maybe_uint(row, 5)?.map(Epoch),
        reason: row.get(6)?,
        expires_at: maybe_moment(row, 7)?,
        given_up: row.get(8)?,
        dropped: row.get(9)?,
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
        // Named, so that a few that wait behind a million that do not are found at once.
        let (index, waiting) = match filter {
            InboxFilter::Waiting => ("message_waiting", "AND message.waiting = 1"),
            InboxFilter::All => ("message_inbox", ""),
        };
        let messages = MESSAGES.replace("FROM message", &format!("FROM message INDEXED BY {index}"));
        let sql = format!(
            "{messages} WHERE message.target = ?1 {waiting} AND message.accepted_pos > ?2
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

    /// The newest messages to a set, those that its replicas have included, in the order of their acceptance: the newest
    /// last.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn inbox_of_set(&self, set: &AgentId, rows: usize) -> Result<Vec<MessageRow>, ReadError> {
        let sql =
            format!("{MESSAGES} WHERE message.addressed = ?1 ORDER BY message.accepted_pos DESC LIMIT ?2");
        let handed: Vec<MessageRow> = self.with(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![set.as_bytes(), limit(rows)], message)?.collect()
        })?;
        // One that came back is listed by both.
        let mut all: std::collections::BTreeMap<u64, MessageRow> =
            self.inbox_newest(set, rows)?.into_iter().map(|row| (row.accepted_pos, row)).collect();
        all.extend(handed.into_iter().map(|row| (row.accepted_pos, row)));
        while all.len() > rows {
            all.pop_first();
        }
        Ok(all.into_values().collect())
    }

    /// The waiting messages of an agent after position `after_pos`, in the order of their acceptance, without their
    /// envelopes.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn waiting_page(
        &self,
        agent: &AgentId,
        after_pos: u64,
        rows: usize,
    ) -> Result<Vec<WaitingRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT accepted_pos, id FROM message INDEXED BY message_waiting
                 WHERE target = ?1 AND waiting = 1 AND accepted_pos > ?2 ORDER BY accepted_pos LIMIT ?3",
            )?
            .query_map(params![agent.as_bytes(), int(after_pos), limit(rows)], |row| {
                let message_id = MessageId::from_bytes(row.get(1)?);
                Ok(WaitingRow { accepted_pos: uint(row, 0)?, message_id })
            })?
            .collect()
        })
    }

    /// Those of the messages with these ids that wait for an agent, in the order of `ids`.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn waiting_among(&self, agent: &AgentId, ids: &[MessageId]) -> Result<Vec<MessageRow>, ReadError> {
        let sql = format!("{MESSAGES} WHERE message.id = ?1 AND message.target = ?2 AND message.waiting = 1");
        self.at_once(|conn| {
            let mut statement = conn.prepare_cached(&sql)?;
            ids.iter()
                .filter_map(|id| {
                    let found = statement.query_row(params![id.as_bytes(), agent.as_bytes()], message);
                    found.optional().transpose()
                })
                .collect()
        })
    }

    /// How many messages of an agent wait. Takes the same time however many there are.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn waiting_count(&self, agent: &AgentId) -> Result<u64, ReadError> {
        self.waiting_totals(agent).map(|totals| totals.all().messages)
    }

    /// How many messages of one sender wait for an agent. Takes the same time however many there are.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn waiting_of(&self, agent: &AgentId, principal: &SafeLabel) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT waiting FROM sender WHERE target = ?1 AND principal = ?2")?
                .query_row(params![agent.as_bytes(), principal.as_str()], |row| uint(row, 0))
                .optional()
                .map(|found| found.unwrap_or(0))
        })
    }

    /// How much waits for an agent, by priority. Takes the same time however much it is.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn waiting_totals(&self, agent: &AgentId) -> Result<WaitingTotals, ReadError> {
        self.with(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT priority, messages, content_bytes FROM waiting_total WHERE target = ?1",
            )?;
            let mut rows = statement.query([agent.as_bytes()])?;
            let mut totals = WaitingTotals::default();
            while let Some(row) = rows.next()? {
                let waiting = Waiting { messages: uint(row, 1)?, content_bytes: uint(row, 2)? };
                let rank: i64 = row.get(0)?;
                let total = match rank.rem_euclid(PRIORITIES) {
                    // Promoted ones are counted with those of high priority.
                    0 | 1 => &mut totals.high,
                    2 => &mut totals.normal,
                    _ => &mut totals.low,
                };
                // Those that wait for no turn's end are counted with the others of their priority.
                total.messages = total.messages.saturating_add(waiting.messages);
                total.content_bytes = total.content_bytes.saturating_add(waiting.content_bytes);
            }
            Ok(totals)
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
        let sql = format!(
            "{MESSAGES} WHERE message.key = ?3 AND message.keyed =
                 (SELECT id FROM sender WHERE target = ?1 AND principal = ?2)"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_row(params![target.as_bytes(), principal.as_str(), key], message)
                .optional()
        })
    }

    /// The first message to `target` from `principal` that says that it answers this one and fits.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn first_reply(
        &self,
        id: &MessageId,
        (target, principal): (&AgentId, &SafeLabel),
        fits: impl Fn(&MessageRow) -> bool,
    ) -> Result<Option<MessageRow>, ReadError> {
        let sql = format!(
            "{MESSAGES} WHERE message.reply_to = ?1 AND message.sender =
                 (SELECT id FROM sender WHERE target = ?2 AND principal = ?3)
             ORDER BY message.accepted_pos"
        );
        self.with(|conn| {
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(params![id.as_bytes(), target.as_bytes(), principal.as_str()])?;
            while let Some(row) = rows.next()? {
                let found = message(row)?;
                if fits(&found) {
                    return Ok(Some(found));
                }
            }
            Ok(None)
        })
    }

    /// The `turn.completed` by which the agent that a message is for answered it first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn turn_answering(&self, id: &MessageId) -> Result<Option<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash
                 FROM message JOIN event ON event.pos = message.answered WHERE message.id = ?1",
            )?
            .query_row([id.as_bytes()], committed)
            .optional()
        })
    }

    /// The messages that say that they answer this one, in the order of their acceptance.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn replies_to(&self, id: &MessageId, rows: usize) -> Result<Vec<MessageRow>, ReadError> {
        let sql = format!("{MESSAGES} WHERE message.reply_to = ?1 ORDER BY message.accepted_pos LIMIT ?2");
        self.with(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![id.as_bytes(), limit(rows)], message)?.collect()
        })
    }
}
