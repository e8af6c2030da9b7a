//! What leads an agent's words while none of its turns is open, and what makes them lighter than its open turns do.
//!
//! A turn weighs as much as its message and as the lightest that was heard while it was open: an answer to the agent's
//! own question, or a turn that ended meanwhile.

use edgeplane_types::{Authority, Epoch, Rung};
use rusqlite::params;

use super::{FoldError, Place, Step, lightness};
use crate::sqlite::int;

/// An agent hears an answer.
pub(super) fn answered(step: &Step<'_>, epoch: Epoch, authority: Authority) -> Result<(), FoldError> {
    hear(step, step.agent()?.as_bytes(), epoch, lightness(authority))
}

/// The turn of a message ended. One that was not open in this epoch was perhaps never given to its program, which can
/// name any of its messages: it leads only where nothing else did.
pub(super) fn over(step: &Step<'_>, place: &Place, epoch: Epoch) -> Result<(), FoldError> {
    let was_open = place.open_in(epoch);
    if was_open.is_none() && place.state == Rung::TurnEnded.as_str() && place.epoch == Some(int(epoch.0)) {
        return Ok(());
    }
    let since = was_open.unwrap_or(int(step.pos));
    if was_open.is_none() || is_any_open(step, place, epoch)? {
        let weight = place.authority.max(heard(step, place, epoch, since)?);
        hear(step, &place.target, epoch, weight)?;
    }
    step.run(
        "INSERT INTO turn_over (target, epoch, message, since) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (target) DO UPDATE SET epoch = ?2, message = ?3, since = ?4
         WHERE epoch < ?2 OR epoch = ?2 AND ?5",
        params![place.target, int(epoch.0), place.pos, since, was_open.is_some()],
    )?;
    Ok(())
}

/// A program says that it acts on a message of which nobody knows that it was given to it in this epoch. Perhaps it
/// only names it: what it had last weighs on.
pub(super) fn opened_by_its_word(step: &Step<'_>, place: &Place, epoch: Epoch) -> Result<(), FoldError> {
    let last = step.find(
        "SELECT message.authority, turn_over.since
         FROM turn_over JOIN message ON message.accepted_pos = turn_over.message
         WHERE turn_over.target = ?1 AND turn_over.epoch = ?2",
        params![place.target, int(epoch.0)],
        |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)),
    )?;
    let Some((authority, since)) = last else { return Ok(()) };
    let weight = authority.max(heard(step, place, epoch, since)?);
    hear(step, &place.target, epoch, weight)
}

fn is_any_open(step: &Step<'_>, place: &Place, epoch: Epoch) -> Result<bool, FoldError> {
    let found = step.find(
        "SELECT 1 FROM message INDEXED BY message_open
         WHERE target = ?1 AND epoch = ?2 AND open_since IS NOT NULL LIMIT 1",
        params![place.target, int(epoch.0)],
        |_row| Ok(()),
    )?;
    Ok(found.is_some())
}

/// How light the lightest is that an agent has heard since a position, as a number.
fn heard(step: &Step<'_>, place: &Place, epoch: Epoch, since: i64) -> Result<i64, FoldError> {
    let lightest = step.find(
        "SELECT max(authority) FROM heard WHERE target = ?1 AND epoch = ?2 AND pos >= ?3",
        params![place.target, int(epoch.0), since],
        |row| row.get::<_, Option<i64>>(0),
    )?;
    Ok(lightest.flatten().unwrap_or(0))
}

fn hear(step: &Step<'_>, agent: &[u8; 16], epoch: Epoch, weight: i64) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO heard (target, authority, epoch, pos) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (target, authority) DO UPDATE SET epoch = ?3, pos = ?4 WHERE epoch <= ?3",
        params![agent, weight, int(epoch.0), int(step.pos)],
    )?;
    Ok(())
}
