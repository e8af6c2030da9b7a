//! Where each stream stands: what is committed, and what the open transaction adds to it.

use std::collections::HashMap;

use edgeplane_proof::{Digest, chain};
use edgeplane_types::StreamName;
use rusqlite::{Connection, Result};

use crate::sqlite::{digest, int, parsed, uint};

/// The end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// The stream's number in the database.
    pub(crate) row: i64,
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
    /// Position of the stream's newest event.
    pub(crate) pos: u64,
}

/// The ends of all streams and of the record.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    committed: HashMap<StreamName, Head>,
    staged: HashMap<StreamName, Head>,
    pos: u64,
    staged_pos: u64,
}

/// What an open transaction had added at some point.
#[derive(Debug)]
pub(crate) struct Mark {
    staged: HashMap<StreamName, Head>,
    pos: u64,
}

impl Heads {
    pub(crate) fn load(conn: &Connection) -> Result<Self> {
        let mut committed = HashMap::new();
        let mut statement = conn.prepare("SELECT name, id, seq, hash, pos FROM stream")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let head =
                Head { row: row.get(1)?, seq: uint(row, 2)?, hash: digest(row, 3)?, pos: uint(row, 4)? };
            committed.insert(parsed(row, 0)?, head);
        }
        let pos = conn.query_row("SELECT coalesce(max(pos), 0) FROM event", [], |row| uint(row, 0))?;
        Ok(Self { committed, staged: HashMap::new(), pos, staged_pos: pos })
    }

    pub(crate) fn streams(&self) -> usize {
        self.committed.len()
    }

    pub(crate) fn committed(&self) -> &HashMap<StreamName, Head> {
        &self.committed
    }

    /// Position of the newest committed event.
    pub(crate) fn pos(&self) -> u64 {
        self.pos
    }

    /// The position that the next event gets.
    pub(crate) fn next_pos(&self) -> u64 {
        self.staged_pos.saturating_add(1)
    }

    /// Where `stream` stands; a new stream gets its row.
    pub(crate) fn head(&self, conn: &Connection, stream: &StreamName) -> Result<Head> {
        if let Some(head) = self.staged.get(stream).or_else(|| self.committed.get(stream)) {
            return Ok(*head);
        }
        let hash = chain::genesis(stream);
        conn.prepare_cached("INSERT INTO stream (name, seq, hash, pos) VALUES (?1, 0, ?2, 0)")?
            .execute((stream.to_string(), hash.as_bytes()))?;
        Ok(Head { row: conn.last_insert_rowid(), seq: 0, hash, pos: 0 })
    }

    /// Notes what the open transaction made of `stream`.
    pub(crate) fn stage(&mut self, stream: StreamName, head: Head) {
        self.staged_pos = head.pos;
        self.staged.insert(stream, head);
    }

    /// Writes what is staged into the open transaction.
    pub(crate) fn write(&self, conn: &Connection) -> Result<()> {
        let mut statement =
            conn.prepare_cached("UPDATE stream SET seq = ?2, hash = ?3, pos = ?4 WHERE id = ?1")?;
        for head in self.staged.values() {
            statement.execute((head.row, int(head.seq), head.hash.as_bytes(), int(head.pos)))?;
        }
        Ok(())
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { staged: self.staged.clone(), pos: self.staged_pos }
    }

    pub(crate) fn return_to(&mut self, mark: Mark) {
        self.staged = mark.staged;
        self.staged_pos = mark.pos;
    }

    /// The open transaction was committed.
    pub(crate) fn commit(&mut self) {
        self.pos = self.staged_pos;
        self.committed.extend(self.staged.drain());
    }

    /// The open transaction came to nothing.
    pub(crate) fn roll_back(&mut self) {
        self.staged_pos = self.pos;
        self.staged.clear();
    }
}
