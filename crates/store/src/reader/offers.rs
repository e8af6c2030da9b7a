//! What agents offer.

use edgeplane_types::{AgentId, CapabilityId, Epoch, Fact, SafeLabel};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{row::OfferRow, sqlite::int};

const OFFERS: &str = "SELECT agent, pos, is_gone FROM offer";

fn offer(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<OfferRow> {
    let event = event_at(conn, row.get(1)?)?;
    let Fact::CapabilityRegistered(registered) = event.fact else { return Err(misplaced(&event.fact)) };
    Ok(OfferRow {
        agent: AgentId::from_bytes(row.get(0)?),
        seq: event.seq,
        registered: *registered,
        by: event.actor,
        at: event.ts,
        is_gone: row.get(2)?,
    })
}

impl Reader {
    /// Whether an epoch of an agent lives, and so may offer something.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn offering(&self, agent: &AgentId, epoch: Epoch) -> Result<bool, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT 1 FROM offering WHERE agent = ?1 AND epoch = ?2 AND is_over = 0")?
                .exists(params![agent.as_bytes(), int(epoch.0)])
        })
    }

    /// What an agent offers by this name, or offered in its last epoch.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn offer(&self, agent: &AgentId, name: &SafeLabel) -> Result<Option<OfferRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{OFFERS} WHERE agent = ?1 AND name = ?2"))?
                .query_row(params![agent.as_bytes(), name.as_str()], |row| offer(conn, row))
                .optional()
        })
    }

    /// The same by its id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn offer_by_id(&self, id: &CapabilityId) -> Result<Option<OfferRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{OFFERS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], |row| offer(conn, row))
                .optional()
        })
    }

    /// What agents offer now, or one of them does, in no order that means anything.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn offers(&self, agent: Option<&AgentId>, rows: usize) -> Result<Vec<OfferRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!(
                "{OFFERS} WHERE is_gone = 0 AND (?1 IS NULL OR agent = ?1) ORDER BY id LIMIT ?2"
            ))?
            .query_map(params![agent.map(AgentId::as_bytes), limit(rows)], |row| offer(conn, row))?
            .collect()
        })
    }
}
