//! Whose turn it is: the senders of an inbox, the lanes in which their messages wait, and how much waits.
//!
//! A lane is one sender's messages of one priority and authority. The next message of an inbox is the oldest of the lane whose
//! sender was served longest ago, so each step here touches a few rows however much waits.

use rusqlite::params;

use super::{FoldError, Place, Step};
use crate::sqlite::int;

/// The number of a sender in an inbox: the position of the first message from there. A message that is handed over may
/// bring several senders at one position, but never two of one inbox.
pub(super) fn sender(step: &Step<'_>, target: &[u8; 16], principal: &str) -> Result<i64, FoldError> {
    let known = step.find(
        "SELECT id FROM sender WHERE target = ?1 AND principal = ?2",
        params![target, principal],
        |row| row.get(0),
    )?;
    if let Some(id) = known {
        return Ok(id);
    }
    let id = int(step.pos);
    step.run(
        "INSERT INTO sender (id, target, principal, served, waiting) VALUES (?1, ?2, ?3, 0, 0)",
        params![id, target, principal],
    )?;
    Ok(id)
}

/// A message waits from here on.
pub(super) fn begin(step: &Step<'_>, place: &Place) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO lane (sender, priority, authority, target, served, first_pos)
         VALUES (?1, ?2, ?3, ?4, (SELECT served FROM sender WHERE id = ?1), ?5)
         ON CONFLICT (sender, priority, authority) DO UPDATE SET first_pos = ?5 WHERE first_pos > ?5",
        params![place.sender, place.priority, place.authority, place.target, place.pos],
    )?;
    total(step, place, 1)
}

/// A message waits no more; its row says so already.
pub(super) fn end(step: &Step<'_>, place: &Place) -> Result<(), FoldError> {
    let next = step.find(
        "SELECT min(accepted_pos) FROM message
         WHERE sender = ?1 AND priority = ?2 AND authority = ?3 AND waiting = 1",
        params![place.sender, place.priority, place.authority],
        |row| row.get::<_, Option<i64>>(0),
    )?;
    match next.flatten() {
        None => step.run(
            "DELETE FROM lane WHERE sender = ?1 AND priority = ?2 AND authority = ?3",
            params![place.sender, place.priority, place.authority],
        )?,
        Some(next) => step.run(
            "UPDATE lane SET first_pos = ?4
             WHERE sender = ?1 AND priority = ?2 AND authority = ?3 AND first_pos <> ?4",
            params![place.sender, place.priority, place.authority, next],
        )?,
    };
    total(step, place, -1)
}

/// The sender had its turn. Whatever the message came to, the node was busy with it.
pub(super) fn serve(step: &Step<'_>, place: &Place) -> Result<(), FoldError> {
    for sql in
        ["UPDATE sender SET served = ?2 WHERE id = ?1", "UPDATE lane SET served = ?2 WHERE sender = ?1"]
    {
        step.run(sql, params![place.sender, int(step.pos)])?;
    }
    Ok(())
}

fn total(step: &Step<'_>, place: &Place, messages: i64) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO waiting_total (target, priority, messages, content_bytes) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (target, priority)
         DO UPDATE SET messages = messages + ?3, content_bytes = content_bytes + ?4",
        params![place.target, place.priority, messages, messages.saturating_mul(place.content_bytes)],
    )?;
    step.run("UPDATE sender SET waiting = waiting + ?2 WHERE id = ?1", params![place.sender, messages])?;
    Ok(())
}
