//! What outputs are handed over to whom.

use edgeplane_types::{AgentId, DeliveryId, Fact};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{DeliveryRow, sqlite::int};

const DELIVERIES: &str = "SELECT pos, agent, failed_pos, acknowledged_pos FROM delivery";

/// Where the facts of a delivery stand.
type Places = (i64, [u8; 16], Option<i64>, Option<i64>);

fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn delivery(conn: &Connection, places: Places) -> rusqlite::Result<DeliveryRow> {
    let (pos, agent, failed_pos, acknowledged_pos) = places;
    let event = event_at(conn, pos)?;
    let created_at = event.ts;
    let Fact::DeliveryCreated(created) = event.fact else { return Err(misplaced(&event.fact)) };
    let failed = match failed_pos.map(|pos| event_at(conn, pos)).transpose()?.map(|event| event.fact) {
        Some(Fact::DeliveryFailed(failed)) => Some(failed.reason),
        Some(other) => return Err(misplaced(&other)),
        None => None,
    };
    let acknowledged = match acknowledged_pos.map(|pos| event_at(conn, pos)).transpose()? {
        Some(event) => match event.fact {
            Fact::DeliveryAcknowledged(acknowledged) => Some((acknowledged.by, event.ts)),
            other => return Err(misplaced(&other)),
        },
        None => None,
    };
    let pos = u64::try_from(pos).unwrap_or_default();
    Ok(DeliveryRow { pos, agent: AgentId::from_bytes(agent), created_at, created, failed, acknowledged })
}

impl Reader {
    /// The delivery with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn delivery(&self, id: &DeliveryId) -> Result<Option<DeliveryRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{DELIVERIES} WHERE id = ?1"))?
                .query_row([id.as_bytes()], places)
                .optional()?
                .map(|places| delivery(conn, places))
                .transpose()
        })
    }

    /// The deliveries after position `cursor` of an agent's outputs, or to it, or of all; oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn deliveries(
        &self,
        agent: Option<&AgentId>,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<DeliveryRow>, ReadError> {
        let of_agent = if agent.is_some() { "(agent = ?3 OR target = ?3)" } else { "?3 IS NULL" };
        let sql = format!("{DELIVERIES} WHERE pos > ?1 AND {of_agent} ORDER BY pos LIMIT ?2");
        self.at_once(|conn| {
            let found: Vec<Places> = conn
                .prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows), agent.map(AgentId::as_bytes)], places)?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|places| delivery(conn, places)).collect()
        })
    }

    /// The deliveries to agents after position `cursor` of whose message the record knows nothing, and that did not
    /// fail.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn deliveries_undone(&self, rows: usize, cursor: u64) -> Result<Vec<DeliveryRow>, ReadError> {
        let sql = format!(
            "{DELIVERIES} WHERE pos > ?1 AND target IS NOT NULL AND failed_pos IS NULL
                 AND acknowledged_pos IS NULL
                 AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = delivery.id)
             ORDER BY pos LIMIT ?2"
        );
        self.at_once(|conn| {
            let found: Vec<Places> = conn
                .prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows)], places)?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|places| delivery(conn, places)).collect()
        })
    }
}
