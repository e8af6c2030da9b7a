//! Makes models anew from the events, and proves by a digest that the rows are those the events make.

use edgeplane_proof::digest::{Digest, Digester};
use edgeplane_types::Event;
use rusqlite::{Connection, types::ValueRef};

use super::{FoldError, Model, Step};
use crate::sqlite::{int, known_event, uint};

/// Events read at once while rebuilding: bounds the memory, not the transaction.
const EVENTS_AT_ONCE: u64 = 1_024;

/// Models whose rows were made by another version of their fold, or never.
pub(crate) fn outdated(conn: &Connection) -> rusqlite::Result<Vec<Model>> {
    let mut statement = conn.prepare("SELECT 1 FROM model WHERE name = ?1 AND version = ?2")?;
    let mut found = Vec::new();
    for model in Model::ALL {
        if !statement.exists((model.as_str(), model.definition().version))? {
            found.push(model);
        }
    }
    Ok(found)
}

/// Makes the tables of `model`, empty.
pub(crate) fn create(conn: &Connection, model: Model) -> rusqlite::Result<()> {
    let definition = model.definition();
    for (table, _order) in definition.tables {
        conn.execute_batch(&format!("DROP TABLE IF EXISTS {table};"))?;
    }
    conn.execute_batch(definition.schema)
}

/// Makes `models` anew within the open transaction, so that readers see the old rows or the new, never a part.
pub(crate) fn rebuild(conn: &Connection, models: &[Model]) -> Result<(), FoldError> {
    for model in models {
        create(conn, *model).map_err(FoldError::Database)?;
    }
    let mut pos = 0;
    loop {
        let events = read(conn, pos).map_err(FoldError::Database)?;
        if events.is_empty() {
            break;
        }
        for (at, event) in &events {
            if let Some(event) = event {
                let step = Step { conn, pos: *at, event };
                models.iter().try_for_each(|model| (model.definition().fold)(&step))?;
            }
            pos = *at;
        }
    }
    for model in models {
        conn.execute(
            "INSERT INTO model (name, version) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET version = ?2",
            (model.as_str(), model.definition().version),
        )
        .map_err(FoldError::Database)?;
    }
    Ok(())
}

/// The events after `pos`, some at a time, with those of unknown kinds as `None`; empty at the end.
fn read(conn: &Connection, pos: u64) -> rusqlite::Result<Vec<(u64, Option<Event>)>> {
    let mut statement =
        conn.prepare_cached("SELECT pos, body FROM event WHERE pos > ?1 ORDER BY pos LIMIT ?2")?;
    statement
        .query_map((int(pos), int(EVENTS_AT_ONCE)), |row| Ok((uint(row, 0)?, known_event(row, 1)?)))?
        .collect()
}

/// The digest of a model's rows in the order of their keys. Equal rows give equal digests, whatever the pages of the
/// database look like: every value is written with its kind and its length.
pub(crate) fn digest(conn: &Connection, model: Model) -> rusqlite::Result<Digest> {
    let mut digester = Digester::default();
    let mut line = Vec::new();
    for (table, order) in model.definition().tables {
        digester.update(format!("table {table}\n").as_bytes());
        let mut statement = conn.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            line.clear();
            for column in 0..columns {
                value(&mut line, row.get_ref(column)?);
            }
            line.push(b'\n');
            digester.update(&line);
        }
    }
    Ok(digester.finish())
}

fn value(line: &mut Vec<u8>, value: ValueRef<'_>) {
    let (kind, bytes): (u8, &[u8]) = match value {
        ValueRef::Null => (b'n', b""),
        ValueRef::Integer(number) => return field(line, b'i', number.to_string().as_bytes()),
        ValueRef::Real(number) => return field(line, b'r', number.to_string().as_bytes()),
        ValueRef::Text(text) => (b't', text),
        ValueRef::Blob(bytes) => (b'b', bytes),
    };
    field(line, kind, bytes);
}

fn field(line: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    line.push(kind);
    line.extend_from_slice(bytes.len().to_string().as_bytes());
    line.push(b':');
    line.extend_from_slice(bytes);
}
