//! Events and the ends of streams.

use edgeplane_proof::Digest;
use edgeplane_types::{AgentId, Event, StreamName};
use rusqlite::{
    OptionalExtension, Rows, params, params_from_iter,
    types::{Type, Value},
};

use super::{ReadError, Reader, committed, limit};
use crate::{
    CommittedEvent, StreamHead, known,
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

    /// Every stream that has an event, by name.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn streams(&self) -> Result<Vec<StreamName>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT name FROM stream WHERE seq > 0 ORDER BY name")?
                .query_map([], |row| parsed(row, 0))?
                .collect()
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

/// Bytes of events in one answer of [`Reader::raw_events`], unless the first alone has more: what a list may take of the
/// machine's memory however long its events are.
pub const RAW_BYTES_MAX: usize = 1 << 20;

/// An event as the bytes that were stored, for whoever hands it on without looking into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    /// Its number in the record of the node.
    pub pos: u64,
    /// Its number in its stream.
    pub seq: u64,
    /// Its type.
    pub kind: String,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// Its hash in the chain of its stream.
    pub hash: Digest,
}

impl RawEvent {
    /// The event; `None` if it is of a kind that this program does not know.
    ///
    /// # Errors
    /// When the bytes are no event.
    pub fn event(&self) -> Result<Option<Event>, ReadError> {
        known::event(&self.bytes).map_err(|error| {
            ReadError::Query(rusqlite::Error::FromSqlConversionFailure(1, Type::Blob, Box::new(error)))
        })
    }
}

impl Reader {
    /// Events as they are stored, in order: of one stream from its number `from` on, or of the node from that position
    /// on. Whether there are more, an empty answer tells, because it may end before `rows` for its bytes.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn raw_events(
        &self,
        stream: Option<&StreamName>,
        from: u64,
        rows: usize,
    ) -> Result<Vec<RawEvent>, ReadError> {
        self.with(|conn| match stream {
            Some(stream) => raw(conn
                .prepare_cached(
                    "SELECT event.pos, event.seq, event.type, event.body, event.hash
                     FROM event JOIN stream ON stream.id = event.stream
                     WHERE stream.name = ?1 AND event.seq >= ?2 ORDER BY event.seq LIMIT ?3",
                )?
                .query((stream.to_string(), int(from), limit(rows)))?),
            None => raw(conn
                .prepare_cached(
                    "SELECT pos, seq, type, body, hash FROM event WHERE pos >= ?1 ORDER BY pos LIMIT ?2",
                )?
                .query((int(from), limit(rows)))?),
        })
    }

    /// The same of an agent's stream together with what was recorded of its tasks, from a position on the node.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn raw_events_about(
        &self,
        agent: &AgentId,
        from_pos: u64,
        rows: usize,
    ) -> Result<Vec<RawEvent>, ReadError> {
        let stream = StreamName::Agent(*agent);
        let from_seq = self.seq_at(&stream, from_pos)?;
        self.with(|conn| {
            raw(conn
                .prepare_cached(
                    "SELECT pos, seq, type, body, hash FROM event WHERE pos IN (
                         SELECT pos FROM (
                             SELECT event.pos FROM event JOIN stream ON stream.id = event.stream
                             WHERE stream.name = ?1 AND event.seq >= ?2 ORDER BY event.seq LIMIT ?5)
                         UNION ALL
                         SELECT pos FROM (
                             SELECT pos FROM task_concern WHERE agent = ?3 AND pos >= ?4 ORDER BY pos LIMIT ?5))
                     ORDER BY pos LIMIT ?5",
                )?
                .query(params![
                    stream.to_string(),
                    int(from_seq),
                    agent.as_bytes(),
                    int(from_pos),
                    limit(rows)
                ])?)
        })
    }

    /// Position of the newest event of an agent's stream or of its tasks; 0 if there is none.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn head_about(&self, agent: &AgentId) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT max(coalesce((SELECT pos FROM stream WHERE name = ?1), 0),
                            coalesce((SELECT max(pos) FROM task_concern WHERE agent = ?2), 0))",
            )?
            .query_row(params![StreamName::Agent(*agent).to_string(), agent.as_bytes()], |row| uint(row, 0))
        })
    }
}

fn raw(mut rows: Rows<'_>) -> rusqlite::Result<Vec<RawEvent>> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let event = RawEvent {
            pos: uint(row, 0)?,
            seq: uint(row, 1)?,
            kind: row.get(2)?,
            bytes: row.get(3)?,
            hash: digest(row, 4)?,
        };
        bytes += event.bytes.len();
        found.push(event);
        if bytes >= RAW_BYTES_MAX {
            break;
        }
    }
    Ok(found)
}
