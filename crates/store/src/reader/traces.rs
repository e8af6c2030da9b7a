//! What a trace is read from: the events that begin it, and stretches of streams.

use edgeplane_types::{MessageId, StreamName, Timestamp, TraceId};
use rusqlite::{OptionalExtension, params, params_from_iter, types::Value};

use super::{ReadError, Reader, committed, limit};
use crate::{
    CommittedEvent,
    sqlite::{int, uint},
};

/// A stretch of a stream by numbers of the stream, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The stream.
    pub stream: StreamName,
    /// From here.
    pub from_seq: u64,
    /// To here.
    pub to_seq: u64,
}

impl Reader {
    /// The events that begin a trace or hand it on, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn trace(&self, id: &TraceId, rows: usize) -> Result<Vec<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash FROM trace JOIN event ON event.pos = trace.pos
                 WHERE trace.id = ?1 ORDER BY trace.pos LIMIT ?2",
            )?
            .query_map(params![id.as_bytes(), limit(rows)], committed)?
            .collect()
        })
    }

    /// When the pieces of a message's turn were made, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn signs_of_life(
        &self,
        stretch: &Stretch,
        message: &MessageId,
        rows: usize,
    ) -> Result<Vec<Timestamp>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.ts FROM event JOIN stream ON stream.id = event.stream
                 WHERE stream.name = ?1 AND event.seq BETWEEN ?2 AND ?3
                 AND event.type IN ('item.updated', 'item.reported', 'usage.reported', 'message.observed')
                 AND instr(event.body, CAST(?4 AS BLOB)) > 0 ORDER BY event.seq LIMIT ?5",
            )?
            .query_map(
                params![
                    stretch.stream.to_string(),
                    int(stretch.from_seq),
                    int(stretch.to_seq),
                    message.to_string(),
                    limit(rows)
                ],
                |row| Ok(Timestamp::from_micros(row.get(0)?)),
            )?
            .collect()
        })
    }

    /// The uses of tools in a message's turn, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn tool_calls(
        &self,
        stretch: &Stretch,
        message: &MessageId,
        rows: usize,
    ) -> Result<Vec<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash FROM event JOIN stream ON stream.id = event.stream
                 WHERE stream.name = ?1 AND event.seq BETWEEN ?2 AND ?3 AND event.type = 'item.updated'
                 AND instr(event.body, CAST(?6 AS BLOB)) > 0
                 AND instr(event.body, CAST(?4 AS BLOB)) > 0 ORDER BY event.seq LIMIT ?5",
            )?
            .query_map(
                params![
                    stretch.stream.to_string(),
                    int(stretch.from_seq),
                    int(stretch.to_seq),
                    message.to_string(),
                    limit(rows),
                    "\"kind\":\"tool_call\""
                ],
                committed,
            )?
            .collect()
        })
    }

    /// The events of a stretch that are of some types, in order. Those of other types cost a look at their type.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn stretch(
        &self,
        stretch: &Stretch,
        types: &[&str],
        rows: usize,
    ) -> Result<Vec<CommittedEvent>, ReadError> {
        let places: Vec<String> = (0..types.len()).map(|index| format!("?{}", index + 5)).collect();
        let sql = format!(
            "SELECT event.pos, event.body, event.hash FROM event JOIN stream ON stream.id = event.stream
             WHERE stream.name = ?1 AND event.seq BETWEEN ?2 AND ?3 AND event.type IN ({})
             ORDER BY event.seq LIMIT ?4",
            places.join(",")
        );
        let values = [
            Value::from(stretch.stream.to_string()),
            Value::from(int(stretch.from_seq)),
            Value::from(int(stretch.to_seq)),
            Value::from(limit(rows)),
        ]
        .into_iter()
        .chain(types.iter().map(|kind| Value::from((*kind).to_owned())));
        self.with(|conn| conn.prepare_cached(&sql)?.query_map(params_from_iter(values), committed)?.collect())
    }

    /// The newest event before a number of a stream that is of one of some types, not looking back further than
    /// `events`.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn newest_before(
        &self,
        stretch: &Stretch,
        types: &[&str],
    ) -> Result<Option<CommittedEvent>, ReadError> {
        let places: Vec<String> = (0..types.len()).map(|index| format!("?{}", index + 4)).collect();
        let sql = format!(
            "SELECT event.pos, event.body, event.hash FROM event JOIN stream ON stream.id = event.stream
             WHERE stream.name = ?1 AND event.seq BETWEEN ?2 AND ?3 AND event.type IN ({})
             ORDER BY event.seq DESC LIMIT 1",
            places.join(",")
        );
        let values = [
            Value::from(stretch.stream.to_string()),
            Value::from(int(stretch.from_seq)),
            Value::from(int(stretch.to_seq)),
        ]
        .into_iter()
        .chain(types.iter().map(|kind| Value::from((*kind).to_owned())));
        self.with(|conn| conn.prepare_cached(&sql)?.query_row(params_from_iter(values), committed).optional())
    }

    /// The number in its stream of the first event at or after a position; the number after the last, if there is none.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn seq_at(&self, stream: &StreamName, pos: u64) -> Result<u64, ReadError> {
        self.at_once(|conn| {
            let found: Option<(i64, u64)> = conn
                .prepare_cached("SELECT id, seq FROM stream WHERE name = ?1")?
                .query_row([stream.to_string()], |row| Ok((row.get(0)?, uint(row, 1)?)))
                .optional()?;
            let Some((id, head)) = found else { return Ok(1) };
            // Both numbers only grow, so a few looks find it, however long the stream is.
            let mut find = conn.prepare_cached("SELECT pos FROM event WHERE stream = ?1 AND seq = ?2")?;
            let (mut low, mut high) = (1, head.saturating_add(1));
            while low < high {
                let middle = low.midpoint(high);
                let at: u64 = find.query_row((id, int(middle)), |row| uint(row, 0))?;
                if at < pos {
                    low = middle.saturating_add(1);
                } else {
                    high = middle;
                }
            }
            Ok(low)
        })
    }

    /// The position of the first event that is not older than a moment, as far as the times of events grow; the one
    /// after the last, if there is none.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn pos_at(&self, at: Timestamp) -> Result<u64, ReadError> {
        self.at_once(|conn| {
            let head: u64 = conn
                .prepare_cached("SELECT coalesce(max(pos), 0) FROM event")?
                .query_row([], |row| uint(row, 0))?;
            let mut find = conn.prepare_cached("SELECT ts FROM event WHERE pos = ?1")?;
            let (mut low, mut high) = (1, head.saturating_add(1));
            while low < high {
                let middle = low.midpoint(high);
                let ts: i64 = find.query_row([int(middle)], |row| row.get(0))?;
                if ts < at.as_micros() {
                    low = middle.saturating_add(1);
                } else {
                    high = middle;
                }
            }
            Ok(low)
        })
    }

    /// The newest message that was accepted into a thread by its sender's word.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn newest_in_thread(&self, thread: &str) -> Result<Option<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT pos, body, hash FROM event
                 WHERE type = 'message.accepted' AND instr(CAST(body AS TEXT), ?1) > 0
                 ORDER BY pos DESC LIMIT 1",
            )?
            .query_row([format!("\"thread\":\"{thread}\"")], committed)
            .optional()
        })
    }
}
