//! Calls that were made under keys.

use rusqlite::OptionalExtension as _;

use super::{ReadError, Reader, event_at};
use crate::{
    CallRow,
    sqlite::{maybe_json, moment},
};

impl Reader {
    /// The call under the key with this digest, if it is kept.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn call(&self, key_digest: &str) -> Result<Option<CallRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT method, params_digest, began_at, outcome, began_pos FROM call WHERE key_digest = ?1",
            )?
            .query_row([key_digest], |row| {
                Ok(CallRow {
                    method: row.get(0)?,
                    params_digest: row.get(1)?,
                    began_at: moment(row, 2)?,
                    end: maybe_json(row, 3)?,
                    began: event_at(conn, row.get(4)?)?.id,
                })
            })
            .optional()
        })
    }
}
