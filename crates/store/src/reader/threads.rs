//! Conversations: sessions, threads, the turns of a thread, what is said of turns besides their messages.

use edgeplane_types::{AgentId, Epoch, Fact, MessageId, SessionId, ThreadId, TurnId};
use rusqlite::{OptionalExtension, Row, params};

use super::{
    ReadError, Reader, committed, event_at,
    inbox::{MESSAGES, message},
    limit, misplaced,
};
use crate::{
    CommittedEvent, InterruptRow, MessageRow, TalkRow, ThreadRow,
    sqlite::{int, json, maybe_json, maybe_moment, moment, uint},
};

const TALKS: &str =
    "SELECT id, agent, is_main, title, labels, version, created_pos, created, archived FROM talk";

const THREADS: &str = "
    SELECT id, agent, session, is_main, title, labels, version, created_pos, created, changed, archived, parent,
           removed
    FROM thread";

/// Whose turns are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnsOf {
    /// All of an agent.
    Agent(AgentId),
    /// Those of an agent's first thread: of messages that name none.
    Main(AgentId),
    /// Those of a further thread.
    Thread(ThreadId),
}

impl TurnsOf {
    /// Where the messages are that it was handed itself, by a key that is `?1`.
    fn place(&self) -> (&'static str, &[u8; 16]) {
        match self {
            Self::Agent(agent) => ("target = ?1", agent.as_bytes()),
            Self::Main(agent) => ("target = ?1 AND thread IS NULL", agent.as_bytes()),
            Self::Thread(thread) => ("thread = ?1", thread.as_bytes()),
        }
    }
}

/// In which order to read, from a cursor on; 0 is before the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The oldest behind the cursor first.
    Oldest,
    /// The newest before the cursor first.
    Newest,
}

impl Order {
    fn sql(self, cursor: u64) -> (&'static str, &'static str, i64) {
        match self {
            Self::Oldest => (">", "ASC", int(cursor)),
            Self::Newest => ("<", "DESC", if cursor == 0 { i64::MAX } else { int(cursor) }),
        }
    }
}

/// Which threads to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadFilter {
    /// Those of this agent.
    pub agent: Option<AgentId>,
    /// Those of this session.
    pub session: Option<SessionId>,
    /// Also those that are archived.
    pub archived: bool,
}

fn talk(row: &Row<'_>) -> rusqlite::Result<TalkRow> {
    Ok(TalkRow {
        id: SessionId::from_bytes(row.get(0)?),
        agent: AgentId::from_bytes(row.get(1)?),
        is_main: row.get(2)?,
        title: row.get(3)?,
        labels: json(row, 4)?,
        version: uint(row, 5)?,
        created_pos: uint(row, 6)?,
        created_at: moment(row, 7)?,
        archived_at: maybe_moment(row, 8)?,
    })
}

fn thread(row: &Row<'_>) -> rusqlite::Result<ThreadRow> {
    Ok(ThreadRow {
        id: ThreadId::from_bytes(row.get(0)?),
        agent: AgentId::from_bytes(row.get(1)?),
        session: SessionId::from_bytes(row.get(2)?),
        is_main: row.get(3)?,
        title: row.get(4)?,
        labels: json(row, 5)?,
        version: uint(row, 6)?,
        created_pos: uint(row, 7)?,
        created_at: moment(row, 8)?,
        changed_at: moment(row, 9)?,
        archived_at: maybe_moment(row, 10)?,
        parent: maybe_json(row, 11)?,
        removed: uint(row, 12)?,
    })
}

impl Reader {
    /// The session with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn talk(&self, id: &SessionId) -> Result<Option<TalkRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{TALKS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], talk)
                .optional()
        })
    }

    /// The sessions after position `cursor`, of one agent or of all, in the order in which they began.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn talks(
        &self,
        agent: Option<&AgentId>,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<TalkRow>, ReadError> {
        let of_agent = if agent.is_some() { "agent = ?3" } else { "?3 IS NULL" };
        let sql =
            format!("{TALKS} WHERE created_pos > ?1 AND {of_agent} ORDER BY created_pos, is_main LIMIT ?2");
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows), agent.map(AgentId::as_bytes)], talk)?
                .collect()
        })
    }

    /// The thread with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn thread(&self, id: &ThreadId) -> Result<Option<ThreadRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{THREADS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], thread)
                .optional()
        })
    }

    /// The threads after position `cursor`, in the order in which they began.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn threads(
        &self,
        filter: &ThreadFilter,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<ThreadRow>, ReadError> {
        let ThreadFilter { agent, session, archived } = filter;
        let of_agent = if agent.is_some() { "agent = ?3" } else { "?3 IS NULL" };
        let of_session = if session.is_some() { "session = ?4" } else { "?4 IS NULL" };
        let living = if *archived { "" } else { "AND archived IS NULL" };
        let sql = format!(
            "{THREADS} WHERE created_pos > ?1 AND {of_agent} AND {of_session} {living}
             ORDER BY created_pos LIMIT ?2"
        );
        let (agent, session) =
            (agent.as_ref().map(AgentId::as_bytes), session.as_ref().map(SessionId::as_bytes));
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows), agent, session], thread)?
                .collect()
        })
    }

    /// The messages that are turns, after position `cursor` in the order of their acceptance, or in the other order
    /// before it. What a replica has for its set is the set's.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn turns_in(
        &self,
        of: TurnsOf,
        order: Order,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<MessageRow>, ReadError> {
        let (wheres, key): (&[&str], &[u8; 16]) = match &of {
            TurnsOf::Agent(agent) => {
                (&["target = ?1 AND addressed IS NULL", "addressed = ?1"], agent.as_bytes())
            }
            TurnsOf::Main(agent) => (
                &[
                    "target = ?1 AND addressed IS NULL AND thread IS NULL",
                    "addressed = ?1 AND thread IS NULL",
                ],
                agent.as_bytes(),
            ),
            TurnsOf::Thread(thread) => (&["thread = ?1"], thread.as_bytes()),
        };
        let (beyond, order, cursor) = order.sql(cursor);
        let parts: Vec<String> = wheres
            .iter()
            .map(|part| {
                format!(
                    "SELECT * FROM (SELECT accepted_pos AS pos FROM message
                     WHERE {part} AND into_turn IS NULL AND accepted_pos {beyond} ?2
                     ORDER BY accepted_pos {order} LIMIT ?3)"
                )
            })
            .collect();
        let sql = format!(
            "{MESSAGES} WHERE message.accepted_pos IN ({} ORDER BY pos {order} LIMIT ?3)
             ORDER BY message.accepted_pos {order}",
            parts.join(" UNION ALL ")
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![key, cursor, limit(rows)], message)?.collect()
        })
    }

    /// The messages that went into a turn, in the order of their acceptance.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn steered_into(
        &self,
        agent: &AgentId,
        turn: &TurnId,
        after_pos: u64,
    ) -> Result<Vec<MessageRow>, ReadError> {
        let sql = format!(
            "{MESSAGES} WHERE message.target = ?1 AND message.into_turn = ?2 AND message.accepted_pos > ?3
             ORDER BY message.accepted_pos LIMIT 100"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![agent.as_bytes(), turn.as_bytes(), int(after_pos)], message)?
                .collect()
        })
    }

    /// Where in the record a turn was taken out of its thread's history, if it was.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn removed_turn(&self, turn: &TurnId) -> Result<Option<u64>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT pos FROM turn_removed WHERE turn = ?1")?
                .query_row([turn.as_bytes()], |row| uint(row, 0))
                .optional()
        })
    }

    /// That a turn was to end, if it was.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn interrupt_of(&self, turn: &TurnId) -> Result<Option<InterruptRow>, ReadError> {
        self.at_once(|conn| {
            let pos: Option<i64> = conn
                .prepare_cached("SELECT pos FROM turn_interrupt WHERE turn = ?1")?
                .query_row([turn.as_bytes()], |row| row.get(0))
                .optional()?;
            let Some(pos) = pos else { return Ok(None) };
            let event = event_at(conn, pos)?;
            let at = event.ts;
            match event.fact {
                Fact::TurnInterruptRequested(asked) => {
                    Ok(Some(InterruptRow { pos: u64::try_from(pos).unwrap_or_default(), at, asked }))
                }
                other => Err(misplaced(&other)),
            }
        })
    }

    /// The `turn.completed` of a turn.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn turn_output(&self, turn: &TurnId) -> Result<Option<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash
                 FROM turn_output JOIN event ON event.pos = turn_output.pos WHERE turn_output.turn = ?1",
            )?
            .query_row([turn.as_bytes()], committed)
            .optional()
        })
    }

    /// The newest boundary in a thread.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn compaction(&self, thread: &ThreadId) -> Result<Option<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash
                 FROM thread_compacted JOIN event ON event.pos = thread_compacted.pos
                 WHERE thread_compacted.thread = ?1",
            )?
            .query_row([thread.as_bytes()], committed)
            .optional()
        })
    }

    /// The boundaries in the threads of an agent: of each thread that has any, the newest.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn compactions(&self, agent: &AgentId) -> Result<Vec<CommittedEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.pos, event.body, event.hash
                 FROM thread_compacted JOIN event ON event.pos = thread_compacted.pos
                 WHERE thread_compacted.agent = ?1 ORDER BY thread_compacted.pos",
            )?
            .query_map([agent.as_bytes()], committed)?
            .collect()
        })
    }

    /// The ends of an agent's turns after position `cursor`, or in the other order before it.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn turn_outputs(
        &self,
        agent: &AgentId,
        order: Order,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<CommittedEvent>, ReadError> {
        let (beyond, order, cursor) = order.sql(cursor);
        let sql = format!(
            "SELECT event.pos, event.body, event.hash
             FROM turn_output JOIN event ON event.pos = turn_output.pos
             WHERE turn_output.agent = ?1 AND turn_output.pos {beyond} ?2
             ORDER BY turn_output.pos {order} LIMIT ?3"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![agent.as_bytes(), cursor, limit(rows)], committed)?
                .collect()
        })
    }

    /// Whether the program of an agent was given a message of a thread besides this one: in this epoch, or in any.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn was_thread_given(
        &self,
        of: TurnsOf,
        besides: &MessageId,
        epoch: Option<Epoch>,
    ) -> Result<bool, ReadError> {
        let (wheres, key) = of.place();
        let sql = format!(
            "SELECT 1 FROM message WHERE {wheres} AND id <> ?2 AND epoch IS NOT NULL
                 AND (?3 IS NULL OR epoch = ?3) LIMIT 1"
        );
        let epoch = epoch.map(|epoch| int(epoch.0));
        self.with(|conn| conn.prepare_cached(&sql)?.exists(params![key, besides.as_bytes(), epoch]))
    }

    /// How many living threads an agent has.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn living_threads(&self, agent: &AgentId) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT count(*) FROM thread WHERE agent = ?1 AND archived IS NULL")?
                .query_row([agent.as_bytes()], |row| uint(row, 0))
        })
    }

    /// How many turns of an agent's thread its program was given and that are part of its history.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn surviving_turns(&self, of: TurnsOf) -> Result<u64, ReadError> {
        self.surviving_turns_to(of, u64::MAX)
    }

    /// The same of those that were accepted up to a position.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn surviving_turns_to(&self, of: TurnsOf, pos: u64) -> Result<u64, ReadError> {
        let (wheres, key) = of.place();
        let sql = format!(
            "SELECT count(*) FROM message WHERE {wheres} AND into_turn IS NULL AND epoch IS NOT NULL
                 AND accepted_pos <= ?2
                 AND NOT EXISTS (SELECT 1 FROM turn_removed WHERE turn_removed.turn = message.id)"
        );
        self.with(|conn| conn.prepare_cached(&sql)?.query_row(params![key, int(pos)], |row| uint(row, 0)))
    }
}
