//! The whole record held against itself: bytes, chains, columns, bodies, read models.
//!
//! Looks at one state of the record from beginning to end, while appends go on or with no daemon at all. It trusts
//! nothing but the events' bytes: the models are folded anew beside the record and compared. It cannot see that a
//! whole stream, with its row, its events and what follows from them, was never there: that takes a witness.

mod bodies;
mod walk;

use edgeplane_types::StreamName;
use rusqlite::{Connection, TransactionBehavior};

use crate::{Model, ReadError, Reader, model::rebuild, sqlite};

use walk::Walk;

/// Problems that a report lists; the count goes on.
pub const PROBLEMS_MAX: usize = 1_000;

/// Memory for the models made anew, in KiB. A daemon verifies too, and its agents may have little to themselves.
const SCRATCH_CACHE_KIB: i64 = 8192;

/// How far an audit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditProgress {
    /// Events looked at.
    pub events: u64,
    /// Position of the newest event.
    pub head_pos: u64,
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The stream, if it is about one.
    pub stream: Option<StreamName>,
    /// The event's number in the stream, if it is about one.
    pub seq: Option<u64>,
    /// The event's type, as far as it can be read.
    pub event_type: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditReport {
    /// Whether everything is as it must be.
    pub ok: bool,
    /// Events looked at.
    pub events: u64,
    /// Streams among them.
    pub streams: u64,
    /// Bodies whose bytes were digested.
    pub bodies: u64,
    /// Bodies that were erased.
    pub erased_bodies: u64,
    /// The first problems.
    pub problems: Vec<Problem>,
    /// All problems.
    pub problem_count: u64,
}

impl AuditReport {
    fn add(&mut self, problem: Problem) {
        self.problem_count += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }

    fn add_general(&mut self, what: String) {
        self.add(Problem { stream: None, seq: None, event_type: None, what });
    }
}

/// Verifies the whole record behind `reader`; `progress` is called now and then.
///
/// A database that cannot be read to its end is a problem in the report, not an error.
///
/// # Errors
/// When the audit itself cannot be done: the record cannot be opened, or there is no room for the models.
pub fn verify(reader: &Reader, progress: &mut dyn FnMut(AuditProgress)) -> Result<AuditReport, ReadError> {
    let scratch = scratch()?;
    let mut report = AuditReport::default();
    let walked = reader.with(|conn| {
        let tx = rusqlite::Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
        let sound = audit(&tx, &scratch, reader, &mut report, progress);
        tx.finish()?;
        sound
    });
    match walked {
        Err(ReadError::Query(error)) => report.add_general(format!("the database cannot be read: {error}")),
        other => other?,
    }
    report.ok = report.problem_count == 0;
    Ok(report)
}

/// A database for the models made anew: in memory until it outgrows its cache, then in a file without a name.
fn scratch() -> rusqlite::Result<Connection> {
    let conn = Connection::open("")?;
    conn.set_prepared_statement_cache_capacity(sqlite::STATEMENTS_MAX);
    conn.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    conn.pragma_update(None, "cache_size", -SCRATCH_CACHE_KIB)?;
    for model in Model::ALL {
        rebuild::create(&conn, model)?;
    }
    conn.execute_batch("BEGIN")?;
    Ok(conn)
}

fn audit(
    conn: &Connection,
    scratch: &Connection,
    reader: &Reader,
    report: &mut AuditReport,
    progress: &mut dyn FnMut(AuditProgress),
) -> rusqlite::Result<()> {
    let mut walk = Walk::new(conn, scratch, report)?;
    walk.events(progress)?;
    let foldable = walk.heads()?;
    bodies::check(conn, reader, report)?;
    let outdated = rebuild::outdated(conn)?;
    for model in Model::ALL {
        if outdated.contains(&model) {
            report.add_general(format!("model `{}` was made by another version", model.as_str()));
        } else if !foldable {
            report.add_general(format!("model `{}` cannot be compared", model.as_str()));
        } else if rebuild::digest(conn, model)? != rebuild::digest(scratch, model)? {
            report.add_general(format!("model `{}` is not what the events make", model.as_str()));
        }
    }
    Ok(())
}
