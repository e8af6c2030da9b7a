//! What becomes of batches that could not be committed: the critical ones go into the reserve, the others back.

use rusqlite::ErrorCode;

use super::{Held, OnDone, Unit, Writer, transaction::Failure};
use crate::{
    batch::{AppendError, Committed},
    durable,
    store::Health,
};

impl Writer {
    /// Whether an error says that there is no room.
    pub(super) fn is_full(&self, error: &rusqlite::Error) -> bool {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => true,
            // SQLite reports some failed writes without their cause, so the cause is looked for.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => !durable::has_room(&self.dir),
            _ => false,
        }
    }

    /// A group could not be committed: the batches that can wait are given back, the critical ones tried alone.
    pub(super) fn commit_critical(&mut self, units: Vec<Unit>, callbacks: Vec<OnDone>, failure: Failure) {
        let error = self.explain(failure);
        let (mut critical, mut waiters) = (Vec::new(), Vec::new());
        for (unit, on_done) in units.into_iter().zip(callbacks) {
            if unit.critical {
                critical.push(unit);
                waiters.push(on_done);
            } else {
                on_done(Err(error.clone()));
            }
        }
        if critical.is_empty() {
            return;
        }
        if matches!(error, AppendError::StorageFull) {
            // What the WAL holds may find room in the database, and then the WAL is used again from its start.
            if let Err(error) = self.conn.execute_batch("PRAGMA wal_checkpoint(PASSIVE);") {
                tracing::warn!(%error, "cannot make room by a checkpoint");
            }
        }
        match self.commit(&mut critical) {
            Ok(()) => self.deliver(critical, waiters),
            Err(failure) => {
                let error = self.explain(failure);
                for (unit, on_done) in critical.into_iter().zip(waiters) {
                    on_done(self.hold_unit(unit, &error));
                }
            }
        }
    }

    /// Puts a batch into the reserve; if that fails too, `error` is what is said.
    fn hold_unit(&mut self, mut unit: Unit, error: &AppendError) -> Result<Committed, AppendError> {
        if matches!(error, AppendError::Damaged) {
            return Err(AppendError::Damaged);
        }
        unit.places.clear();
        match self.reserve.append(self.heads.pos(), &unit.events, &unit.bodies) {
            Ok(number) => {
                let held = unit.events.len();
                self.held.push(Held { number, unit });
                self.note_degraded();
                Ok(Committed { events: Vec::new(), held })
            }
            Err(reserve_error) => {
                tracing::error!(error = %reserve_error, "the reserve does not take a critical batch");
                Err(error.clone())
            }
        }
    }

    /// Tries to bring what is held into the record.
    pub(crate) fn merge(&mut self) -> Result<(), AppendError> {
        if let Health::Damaged(_) = self.shared.health() {
            return Err(AppendError::Damaged);
        }
        if self.shared.health() == Health::Serving && self.held.is_empty() {
            return Ok(());
        }
        match self.commit(&mut []) {
            Ok(()) => {
                self.deliver(Vec::new(), Vec::new());
                Ok(())
            }
            Err(failure) => Err(self.explain(failure)),
        }
    }

    /// Says in the words of the store why a transaction failed, and notes how the store is now.
    fn explain(&self, failure: Failure) -> AppendError {
        let error = match failure {
            Failure::NoRoom => AppendError::StorageFull,
            Failure::Database(error) => self.failed(error),
            // The caller commits each batch apart after this, so it never ends here.
            Failure::Refused => AppendError::Closed,
        };
        tracing::warn!(%error, "cannot commit to the record");
        self.note_degraded();
        error
    }

    fn note_degraded(&self) {
        let held_events = self.held.iter().map(|held| held.unit.events.len()).sum();
        self.shared.set_health(Health::Degraded { held_events });
    }
}
