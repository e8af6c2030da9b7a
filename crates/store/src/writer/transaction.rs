//! One transaction: batches, their events in the chains, the read models, the heads.

use std::{path::Path, sync::Arc};

use edgeplane_os::failpoint;
use edgeplane_proof::{Canonicalizer, chain};
use rusqlite::{CachedStatement, Connection};

use super::{Unit, Writer};
use crate::{
    batch::{AppendError, EVENT_BYTES_MAX},
    bodies::{self, PutError},
    durable,
    heads::{Head, Heads},
    model::{self, FoldError, Step},
    schema::Meta,
    sqlite::int,
    store::Health,
};

/// Why a transaction came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// A batch does not fit the record, and others were in the same transaction.
    Refused,
    /// The database failed.
    Database(rusqlite::Error),
    /// There is no room for a file.
    NoRoom,
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Why a batch was not applied.
enum NotApplied {
    Refused(AppendError),
    Failed(Failure),
}

impl From<rusqlite::Error> for NotApplied {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(Failure::Database(error))
    }
}

/// Whether each batch is undone alone if it does not fit. That costs, so it is done only after one did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isolation {
    Together,
    Apart,
}

/// Taken once for a transaction: looking the statement up for every event would be felt.
const INSERT: &str = "
    INSERT INTO event (pos, stream, seq, ts, type, body, leaf, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

/// What applying a batch needs.
struct Bench<'a> {
    conn: &'a Connection,
    insert: CachedStatement<'a>,
    heads: &'a mut Heads,
    canonicalizer: &'a mut Canonicalizer,
    bodies_dir: &'a Path,
    inline_body_bytes_max: usize,
}

impl Writer {
    /// Commits what is held and then `units`. Those that do not fit are marked as refused; the others are in.
    pub(super) fn commit(&mut self, units: &mut [Unit]) -> Result<(), Failure> {
        match self.transact(units, Isolation::Together) {
            Err(Failure::Refused) => self.transact(units, Isolation::Apart)?,
            other => other?,
        }
        if !self.held.is_empty() {
            self.reserve.rewind();
        }
        self.shared.set_health(Health::Serving);
        Ok(())
    }

    fn transact(&mut self, units: &mut [Unit], isolation: Isolation) -> Result<(), Failure> {
        let result = self.try_transact(units, isolation);
        match result {
            Ok(()) => self.heads.commit(),
            Err(_) => {
                self.heads.roll_back();
                // SQLite may have rolled back by itself.
                if !self.conn.is_autocommit()
                    && let Err(error) = self.conn.execute_batch("ROLLBACK")
                {
                    tracing::error!(%error, "cannot roll back");
                }
            }
        }
        result
    }

    fn try_transact(&mut self, units: &mut [Unit], isolation: Isolation) -> Result<(), Failure> {
        let mut bench = Bench {
            conn: &self.conn,
            insert: self.conn.prepare_cached(INSERT)?,
            heads: &mut self.heads,
            canonicalizer: &mut self.canonicalizer,
            bodies_dir: &self.bodies_dir,
            inline_body_bytes_max: self.inline_body_bytes_max,
        };
        bench.run("BEGIN IMMEDIATE")?;
        for held in &mut self.held {
            bench.place(&mut held.unit, isolation)?;
            if let Some(error) = &held.unit.refused {
                tracing::error!(number = held.number, %error, "a held batch does not fit the record and is dropped");
            }
        }
        for unit in units {
            bench.place(unit, isolation)?;
        }
        bench.heads.write(bench.conn)?;
        if let Some(last) = self.held.last() {
            Meta::ReserveMerged.write(bench.conn, last.number)?;
        }
        failpoint::pass(&self.dir, "commit.before");
        bench.run("COMMIT")?;
        failpoint::pass(&self.dir, "commit.after");
        Ok(())
    }
}

impl Bench<'_> {
    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute([]).map(drop)
    }

    fn place(&mut self, unit: &mut Unit, isolation: Isolation) -> Result<(), Failure> {
        unit.places.clear();
        unit.refused = None;
        if isolation == Isolation::Together {
            return self.apply(unit).map_err(|error| match error {
                NotApplied::Refused(_) => Failure::Refused,
                NotApplied::Failed(failure) => failure,
            });
        }
        let mark = self.heads.mark();
        self.run("SAVEPOINT batch")?;
        match self.apply(unit) {
            Ok(()) => {}
            Err(NotApplied::Failed(failure)) => return Err(failure),
            Err(NotApplied::Refused(error)) => {
                self.run("ROLLBACK TO batch")?;
                self.heads.return_to(mark);
                unit.places.clear();
                unit.refused = Some(error);
            }
        }
        self.run("RELEASE batch")?;
        Ok(())
    }

    fn apply(&mut self, unit: &mut Unit) -> Result<(), NotApplied> {
        for body in &unit.bodies {
            bodies::put(self.conn, self.bodies_dir, self.inline_body_bytes_max, body).map_err(|error| {
                match error {
                    PutError::Database(error) => NotApplied::from(error),
                    PutError::File(error) if durable::is_full(&error) => NotApplied::Failed(Failure::NoRoom),
                    PutError::File(source) => NotApplied::Refused(AppendError::Body {
                        digest: body.digest(),
                        source: Arc::new(source),
                    }),
                }
            })?;
        }
        for event in &mut unit.events {
            let before = self.heads.head(self.conn, &event.stream)?;
            event.seq = before.seq.saturating_add(1);
            let pos = self.heads.next_pos();
            let kind = event.fact.type_name();
            let bytes = self
                .canonicalizer
                .write(event)
                .map_err(|source| NotApplied::Refused(AppendError::Unwritable { kind, source }))?;
            if bytes.len() > EVENT_BYTES_MAX {
                return Err(NotApplied::Refused(AppendError::TooLarge { kind, bytes: bytes.len() }));
            }
            let hash = chain::link(&before.hash, bytes);
            self.insert.execute((
                int(pos),
                before.row,
                int(event.seq),
                event.ts.as_micros(),
                kind,
                bytes,
                chain::leaf_hash(bytes).as_bytes(),
                hash.as_bytes(),
            ))?;
            self.heads.stage(event.stream, Head { row: before.row, seq: event.seq, hash, pos });
            model::fold(&Step { conn: self.conn, pos, event }).map_err(|error| match error {
                FoldError::Database(error) => NotApplied::from(error),
                other => NotApplied::Refused(AppendError::Refused { kind, source: Arc::new(other) }),
            })?;
            unit.places.push((pos, hash));
        }
        Ok(())
    }
}
