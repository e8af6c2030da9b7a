//! Graphs of tasks, whole: many rows at one go, each with no more than is drawn of it.

use std::collections::HashMap;

use edgeplane_types::{EdgeKind, TaskId, TaskState};
use rusqlite::{Connection, Row, params};

use super::{ReadError, Reader};
use crate::{
    row::{GraphEdge, GraphEnd, GraphRows, GraphTask},
    sqlite::word,
};

/// In the order that the index on the root has.
const TASKS: &str = "SELECT pos, id, parent, title, state, attempts FROM task WHERE root = ?1
    ORDER BY pos LIMIT ?2";

/// In the order of the tasks that they begin at. All of an edge is in the index `task_edge_once`, so that the table itself
/// is not looked at for each.
const EDGES: &str = "SELECT task.pos, kind, coalesce(target, x''), coalesce(uri, '') FROM task
    JOIN task_edge ON task_edge.task = task.id WHERE root = ?1 ORDER BY task.pos";

/// A task before the places of all are known.
struct Unplaced {
    pos: i64,
    parent: Option<[u8; 16]>,
    task: GraphTask,
}

fn unplaced(row: &Row<'_>) -> rusqlite::Result<Unplaced> {
    let task = GraphTask {
        id: TaskId::from_bytes(row.get(1)?),
        parent: None,
        title: row.get(3)?,
        state: word(row, 4, TaskState::from_word)?,
        attempts: row.get(5)?,
    };
    Ok(Unplaced { pos: row.get(0)?, parent: row.get(2)?, task })
}

/// What an edge leads to: in the index nothing is empty and not null.
fn end(row: &Row<'_>, place_of: &HashMap<[u8; 16], u32>) -> rusqlite::Result<GraphEnd> {
    Ok(match <[u8; 16]>::try_from(row.get_ref(2)?.as_blob()?) {
        Ok(id) => match place_of.get(&id) {
            Some(place) => GraphEnd::Place(*place),
            None => GraphEnd::Task(TaskId::from_bytes(id)),
        },
        Err(_no_task) => GraphEnd::Uri(row.get(3)?),
    })
}

fn graph(conn: &Connection, root: &TaskId, rows: usize) -> rusqlite::Result<Option<GraphRows>> {
    // One more tells that there are more. A graph is whole or not there, so the bound of lists is none of its own.
    let one_more = i64::try_from(rows.saturating_add(1)).unwrap_or(i64::MAX);
    let found: Vec<Unplaced> = conn
        .prepare_cached(TASKS)?
        .query_map(params![root.as_bytes(), one_more], unplaced)?
        .collect::<rusqlite::Result<_>>()?;
    if found.len() > rows {
        return Ok(None);
    }
    let place_of: HashMap<[u8; 16], u32> =
        found.iter().map(|unplaced| *unplaced.task.id.as_bytes()).zip(0..).collect();
    let mut statement = conn.prepare_cached(EDGES)?;
    let mut of_edges = statement.query([root.as_bytes()])?;
    // Both are in the order of the tasks: each edge begins at the task of the last one, or at a later one.
    let mut begins = found.iter().map(|unplaced| unplaced.pos).zip(0u32..).peekable();
    let mut edges = Vec::new();
    while let Some(row) = of_edges.next()? {
        let pos: i64 = row.get(0)?;
        while begins.next_if(|(at, _)| *at < pos).is_some() {}
        if let Some((_, from)) = begins.peek() {
            let kind = word(row, 1, EdgeKind::from_word)?;
            edges.push(GraphEdge { from: *from, kind, end: end(row, &place_of)? });
        }
    }
    let placed = |Unplaced { parent, task, .. }| {
        let parent = parent.and_then(|parent| place_of.get(&parent).copied());
        GraphTask { parent, ..task }
    };
    Ok(Some(GraphRows { tasks: found.into_iter().map(placed).collect(), edges }))
}

impl Reader {
    /// The tasks of a graph, and the edges that begin at them; `None` if there are more tasks than `rows`.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_graph(&self, root: &TaskId, rows: usize) -> Result<Option<GraphRows>, ReadError> {
        self.at_once(|conn| graph(conn, root, rows))
    }
}
