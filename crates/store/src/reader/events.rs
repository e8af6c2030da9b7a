//! Events and the ends of streams.

use edgeplane_types::StreamName;
use rusqlite::{OptionalExtension, params_from_iter, types::Value};

use super::{ReadError, Reader, committed, limit};
use crate::{
    CommittedEvent, StreamHead,
    sqlite::{digest, int, parsed, uint},
};

impl Reader {
    /// The events of a stream from number `from_seq` on, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn events(
        &self,
        stream: &StreamName,
        from_seq: u64,
        rows: usize,
    ) -> Result<Vec<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash FROM event JOIN stream ON stream.id = event.stream
                 WHERE stream.name = ?1 AND event.seq >= ?2 ORDER BY event.seq LIMIT ?3",
            )?
            .query_map((stream.to_string(), int(from_seq), limit(rows)), committed)?
            .collect()
        })
    }

    /// The last events of a stream, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn last_events(&self, stream: &StreamName, rows: usize) -> Result<Vec<CommittedEvent>, ReadError> {
        let head = self.stream_head(stream)?.map_or(0, |head| head.seq);
        self.events(stream, (head + 1).saturating_sub(rows as u64).max(1), rows)
    }

    /// The events of the node from position `from_pos` on, in order; only those of `types`, if it names any.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn events_from_pos(
        &self,
        from_pos: u64,
        rows: usize,
        types: &[&str],
    ) -> Result<Vec<CommittedEvent>, ReadError> {
        let places: Vec<String> = (0..types.len()).map(|index| format!("?{}", index + 3)).collect();
        let filter =
            if types.is_empty() { String::new() } else { format!("AND type IN ({})", places.join(",")) };
        let sql = format!("SELECT pos, body, hash FROM event WHERE pos >= ?1 {filter} ORDER BY pos LIMIT ?2");
        let values = [Value::from(int(from_pos)), Value::from(limit(rows))]
            .into_iter()
            .chain(types.iter().map(|kind| Value::from((*kind).to_owned())));
        self.with(|conn| conn.prepare_cached(&sql)?.query_map(params_from_iter(values), committed)?.collect())
    }

    /// Position of the newest event, 0 if there is none.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn head_pos(&self) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT coalesce(max(pos), 0) FROM event")?.query_row([], |row| uint(row, 0))
        })
    }

    /// The end of a stream; `None` if it has no event.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn stream_head(&self, stream: &StreamName) -> Result<Option<StreamHead>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT name, seq, hash, pos FROM stream WHERE name = ?1 AND seq > 0")?
                .query_row([stream.to_string()], |row| {
                    Ok(StreamHead {
                        stream: parsed(row, 0)?,
                        seq: uint(row, 1)?,
                        hash: digest(row, 2)?,
                        pos: uint(row, 3)?,
                    })
                })
                .optional()
        })
    }
}
