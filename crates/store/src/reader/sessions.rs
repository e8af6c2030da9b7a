//! The session that an agent's program had last.

use edgeplane_types::{AgentId, Fact};
use rusqlite::OptionalExtension;

use super::{ReadError, Reader, event_at, misplaced};
use crate::SessionRow;

impl Reader {
    /// The session that an agent's program had last; `None` if none ever came about or failed to.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn session(&self, agent: &AgentId) -> Result<Option<SessionRow>, ReadError> {
        self.at_once(|conn| {
            let places: Option<(Option<i64>, i64)> = conn
                .prepare_cached("SELECT opened_pos, newest_pos FROM session WHERE agent = ?1")?
                .query_row([agent.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((opened_pos, newest_pos)) = places else { return Ok(None) };
            let mut row = match event_at(conn, newest_pos)?.fact {
                Fact::SessionFailed { epoch, reason } => SessionRow {
                    epoch,
                    native_id: None,
                    opened_in: None,
                    program: None,
                    failure: Some(reason),
                },
                Fact::SessionOpened { epoch, .. } => {
                    SessionRow { epoch, native_id: None, opened_in: None, program: None, failure: None }
                }
                other => return Err(misplaced(&other)),
            };
            if let Some(pos) = opened_pos {
                let Fact::SessionOpened { epoch, native_id, program, .. } = event_at(conn, pos)?.fact else {
                    return Ok(Some(row));
                };
                (row.native_id, row.opened_in, row.program) = (Some(native_id), Some(epoch), program);
            }
            Ok(Some(row))
        })
    }
}
