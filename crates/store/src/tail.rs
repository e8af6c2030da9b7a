//! The quick check at open: the end of every stream that grew since the record was last known to be good.

use edgeplane_proof::{Link, Verifier};
use edgeplane_types::StreamName;
use rusqlite::{Connection, Result, Row};

use crate::{
    heads::{Head, Heads},
    sqlite::{digest, int, uint},
    store::Damage,
};

/// Checks the last `events_max` events of each stream that has any after `verified_pos`; returns how many it checked.
pub(crate) fn verify(
    conn: &Connection,
    heads: &Heads,
    verified_pos: u64,
    events_max: u64,
) -> Result<std::result::Result<u64, Damage>> {
    let mut checked = 0;
    for (stream, head) in heads.committed().iter().filter(|(_, head)| head.pos > verified_pos) {
        match verify_stream(conn, *stream, head, events_max)? {
            Ok(events) => checked += events,
            Err(damage) => return Ok(Err(damage)),
        }
    }
    Ok(Ok(checked))
}

fn verify_stream(
    conn: &Connection,
    stream: StreamName,
    head: &Head,
    events_max: u64,
) -> Result<std::result::Result<u64, Damage>> {
    let first = head.seq.saturating_sub(events_max).saturating_add(1);
    let mut statement = conn.prepare_cached(
        "SELECT seq, hash, leaf, body, pos FROM event WHERE stream = ?1 AND seq >= ?2 ORDER BY seq",
    )?;
    let mut verifier = Verifier::new(&stream);
    // The event before the tail is where the tail's chain hangs.
    let mut rows = statement.query((head.row, int(first.saturating_sub(1))))?;
    let (mut checked, mut pos) = (0, 0);
    while let Some(row) = rows.next()? {
        let seq = uint(row, 0)?;
        pos = uint(row, 4)?;
        if seq < first {
            verifier = Verifier::after(seq, digest(row, 1)?);
            continue;
        }
        if let Err(broken) = step(&mut verifier, row, seq)? {
            return Ok(Err(Damage::Event { stream, seq, what: broken.to_string() }));
        }
        checked += 1;
    }
    if verifier.head() != (head.seq, head.hash) || pos != head.pos {
        let what = format!("its last event is {} at position {pos}", verifier.head().0);
        return Ok(Err(Damage::Head { stream, what }));
    }
    Ok(Ok(checked))
}

fn step(
    verifier: &mut Verifier,
    row: &Row<'_>,
    seq: u64,
) -> Result<std::result::Result<(), edgeplane_proof::Broken>> {
    let bytes = row.get_ref(3)?.as_bytes()?;
    Ok(verifier.step(&Link { seq, bytes, leaf: digest(row, 2)?, hash: digest(row, 1)? }))
}
