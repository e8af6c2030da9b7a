//! The session that an agent's program had last.

use edgeplane_types::{AgentId, Fact};
use rusqlite::OptionalExtension;

use super::{ReadError, Reader, event_at, misplaced};
use crate::{SessionRow, sqlite::int};

impl Reader {
    /// The session that an agent's program had last; `None` if none ever came about or failed to.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn session(&self, agent: &AgentId) -> Result<Option<SessionRow>, ReadError> {
        self.at_once(|conn| {
            let places: Option<(Option<i64>, i64, Option<i64>)> = conn
                .prepare_cached(
                    "SELECT opened_pos, newest_pos, session_over.epoch
                     FROM session LEFT JOIN session_over USING (agent) WHERE agent = ?1",
                )?
                .query_row([agent.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((opened_pos, newest_pos, over)) = places else { return Ok(None) };
            let (epoch, failure) = match event_at(conn, newest_pos)?.fact {
                Fact::SessionFailed { epoch, reason } => (epoch, Some(reason)),
                Fact::SessionOpened { epoch, .. } => (epoch, None),
                other => return Err(misplaced(&other)),
            };
            let mut row = SessionRow {
                epoch,
                native_id: None,
                opened_in: None,
                is_over: false,
                resumable: false,
                closable: false,
                program: None,
                details_digest: None,
                failure,
            };
            if let Some(pos) = opened_pos {
                let Fact::SessionOpened {
                    epoch,
                    native_id,
                    program,
                    resumable,
                    closable,
                    details_digest,
                    ..
                } = event_at(conn, pos)?.fact
                else {
                    return Ok(Some(row));
                };
                (row.native_id, row.opened_in) = (Some(native_id), Some(epoch));
                row.is_over = over.is_some_and(|over| int(epoch.0) <= over);
                (row.program, row.resumable, row.closable) = (program, resumable, closable);
                row.details_digest = Some(details_digest);
            }
            Ok(Some(row))
        })
    }
}
