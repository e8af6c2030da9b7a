//! What leads an agent's words while none of its turns is open: the turn of its epoch that ended last.

use edgeplane_types::Epoch;
use rusqlite::params;

use super::{FoldError, Place, Step};
use crate::sqlite::int;

/// The turn of a message ended. One that was not open in this epoch was perhaps never given to its program, which can
/// name any of its messages: it leads only where nothing else did.
pub(super) fn over(step: &Step<'_>, place: &Place, epoch: Epoch) -> Result<(), FoldError> {
    let was_open = place.open_in(epoch);
    step.run(
        "INSERT INTO turn_over (target, epoch, message, since) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (target) DO UPDATE SET epoch = ?2, message = ?3, since = ?4
         WHERE epoch < ?2 OR epoch = ?2 AND ?5",
        params![place.target, int(epoch.0), place.pos, was_open.unwrap_or(int(step.pos)), was_open.is_some()],
    )?;
    Ok(())
}
