//! Every body: its bytes are those that its digest was made of, or it was erased.

use edgeplane_proof::Digest;
use rusqlite::{Connection, Result};

use super::AuditReport;
use crate::{
    Reader, StoredBody,
    bodies::{Kept, get, path_of},
    sqlite::{digest, uint},
};

pub(super) fn check(conn: &Connection, reader: &Reader, report: &mut AuditReport) -> Result<()> {
    let mut statement = conn.prepare("SELECT digest, size, place, bytes FROM body")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let named = digest(row, 0)?;
        let place: i64 = row.get(2)?;
        let size = uint(row, 1)?;
        let bytes = match place {
            0 => row.get::<_, Option<Vec<u8>>>(3)?,
            1 => match std::fs::read(path_of(reader.bodies_dir(), &named)) {
                Ok(bytes) => Some(bytes),
                // It may have been erased since this audit's state of the record.
                Err(_) if is_erased_by_now(reader, &named) => continue,
                Err(error) => {
                    report.add_general(format!("body {named} cannot be read from its file: {error}"));
                    continue;
                }
            },
            _ => {
                report.erased_bodies += 1;
                continue;
            }
        };
        report.bodies += 1;
        let sound =
            bytes.is_some_and(|bytes| bytes.len() as u64 == size && edgeplane_proof::digest(&bytes) == named);
        if !sound {
            report.add_general(format!("body {named} is not what its digest was made of"));
        }
    }
    Ok(())
}

/// Looks again, at the record as it is now.
fn is_erased_by_now(reader: &Reader, digest: &Digest) -> bool {
    let kept = reader.with(|conn| get(conn, reader.bodies_dir(), digest));
    matches!(kept, Ok(Some(Kept::Body(StoredBody::Erased { .. }))))
}
