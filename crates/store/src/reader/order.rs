//! The order of delivery: what waits for no turn's end before the rest; by priority; within one, senders take turns;
//! within a sender, the oldest first.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use edgeplane_types::{AgentId, Authority};
use rusqlite::{Connection, Result, params};

use super::{
    ROWS_MAX, ReadError, Reader,
    inbox::{MESSAGES, message},
};
use crate::{
    MessageRow,
    model::messages::{PRIORITIES, lightness},
    sqlite::int,
};

/// The ranks in their order, as the model numbers them.
const RANKS: std::ops::Range<i64> = -PRIORITIES..PRIORITIES;

/// When a sender was served: those served in what is listed already come after all whom the record knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Served {
    /// At this position of the record, 0 for never.
    Before(i64),
    /// With the message that has this place in the list.
    Listed(usize),
}

/// A sender with something waiting of one authority; the least is the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    served: Served,
    /// The oldest of its messages that is not listed yet.
    first_pos: i64,
    sender: i64,
    authority: i64,
}

impl Reader {
    /// The messages to deliver to an agent next, in the order of delivery if no other comes: those that wait for no
    /// turn's end, then the others; by priority, then in turn of their senders, then in the order of their acceptance.
    ///
    /// The first takes the same time however many wait and from however many senders; each further one adds to it.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn next_waiting(&self, agent: &AgentId, rows: usize) -> Result<Vec<MessageRow>, ReadError> {
        self.next_deliverable(agent, Authority::Untrusted, rows)
    }

    /// The same of those messages alone that weigh at least as much as `lightest`. However many lighter ones a sender
    /// has, they are passed over at once.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn next_deliverable(
        &self,
        agent: &AgentId,
        lightest: Authority,
        rows: usize,
    ) -> Result<Vec<MessageRow>, ReadError> {
        let sql = format!("{MESSAGES} WHERE message.accepted_pos = ?1");
        self.at_once(|conn| {
            let positions = order(conn, agent, lightness(lightest), rows.min(ROWS_MAX))?;
            let mut statement = conn.prepare_cached(&sql)?;
            positions.into_iter().map(|pos| statement.query_row([pos], message)).collect()
        })
    }
}

/// The positions of the next `rows` messages.
fn order(conn: &Connection, agent: &AgentId, lightest: i64, rows: usize) -> Result<Vec<i64>> {
    let mut listed: Vec<i64> = Vec::new();
    let mut served: HashMap<i64, usize> = HashMap::new();
    let mut following = conn.prepare_cached(
        "SELECT min(accepted_pos) FROM message
         WHERE sender = ?1 AND priority = ?2 AND authority = ?3 AND waiting = 1 AND accepted_pos > ?4",
    )?;
    for priority in RANKS {
        let missing = rows.saturating_sub(listed.len());
        let mut lanes = lanes(conn, agent, (priority, lightest), missing, &served)?;
        while listed.len() < rows
            && let Some(Reverse(mut lane)) = lanes.pop()
        {
            // Another lane of the same sender may have been served since this one was looked at.
            if let Some(place) =
                served.get(&lane.sender).filter(|place| lane.served < Served::Listed(**place))
            {
                lane.served = Served::Listed(*place);
                lanes.push(Reverse(lane));
                continue;
            }
            listed.push(lane.first_pos);
            served.insert(lane.sender, listed.len());
            if listed.len() == rows {
                break;
            }
            let place = (lane.sender, priority, lane.authority, lane.first_pos);
            let next: Option<i64> = following.query_row(place, |row| row.get(0))?;
            if let Some(first_pos) = next {
                lanes.push(Reverse(Lane { served: Served::Listed(listed.len()), first_pos, ..lane }));
            }
        }
    }
    Ok(listed)
}

/// As many lanes of a priority as it takes to list `missing` messages, given whom the list serves already.
fn lanes(
    conn: &Connection,
    agent: &AgentId,
    (priority, lightest): (i64, i64),
    missing: usize,
    served: &HashMap<i64, usize>,
) -> Result<BinaryHeap<Reverse<Lane>>> {
    if missing == 0 {
        return Ok(BinaryHeap::new());
    }
    // Whoever the list served at a higher priority has moved behind those whom the record serves next, and with each
    // message that is listed so do all lanes of its sender.
    let moved = missing.saturating_add(served.len());
    let wanted = int(moved.saturating_mul(Authority::ALL.len()) as u64);
    conn.prepare_cached(
        "SELECT sender, served, first_pos, authority FROM lane INDEXED BY lane_turn
         WHERE target = ?1 AND priority = ?2 AND authority <= ?4 ORDER BY served, first_pos LIMIT ?3",
    )?
    .query_map(params![agent.as_bytes(), priority, wanted, lightest], |row| {
        let sender = row.get(0)?;
        let before = Served::Before(row.get(1)?);
        let served = served.get(&sender).map_or(before, |place| Served::Listed(*place));
        Ok(Reverse(Lane { served, first_pos: row.get(2)?, sender, authority: row.get(3)? }))
    })?
    .collect()
}
