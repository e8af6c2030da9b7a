//! Agents, their epochs and their recordings.

use edgeplane_types::{AgentId, AgentName, Epoch, Generation, Phase, SessionId, Tenant};
use rusqlite::{OptionalExtension, Row, params, types::Type};

use super::{ReadError, Reader};
use crate::{
    AgentFilter, AgentRow, EpochRow, GapRow, SegmentRow,
    sqlite::{int, json, maybe_json, maybe_moment, maybe_uint, moment, parsed, uint},
};

/// An agent with what its newest epoch and its stream add.
const AGENTS: &str = "
    SELECT agent.id, agent.tenant, agent.name, agent.session, agent.generation, agent.manifest, agent.desired,
           agent.desired_generation, agent.desired_reason, agent.phase, agent.epoch, agent.process, agent.shim,
           agent.cgroup, agent.continuity, agent.restarts, agent.status, agent.reason, agent.declared_at,
           agent.healthy, epoch.started_at, epoch.output_bytes, epoch.consumed, agent.set_id, agent.removal,
           agent.parent
    FROM agent LEFT JOIN epoch ON epoch.agent = agent.id AND epoch.epoch = agent.epoch";

fn agent(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    let phase: String = row.get(9)?;
    let phase = Phase::from_word(&phase)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(9, phase.clone(), Type::Text))?;
    Ok(AgentRow {
        id: AgentId::from_bytes(row.get(0)?),
        tenant: parsed(row, 1)?,
        name: parsed(row, 2)?,
        session_id: SessionId::from_bytes(row.get(3)?),
        generation: Generation(uint(row, 4)?),
        manifest_digest: row.get(5)?,
        desired: json(row, 6)?,
        desired_generation: Generation(uint(row, 7)?),
        desired_reason: row.get(8)?,
        phase,
        epoch: Epoch(uint(row, 10)?),
        process: maybe_json(row, 11)?,
        shim: maybe_json(row, 12)?,
        cgroup: row.get(13)?,
        continuity: maybe_json(row, 14)?,
        restarts: uint(row, 15)?,
        last_status: maybe_json(row, 16)?,
        last_reason: row.get(17)?,
        declared_at: moment(row, 18)?,
        started_at: maybe_moment(row, 20)?,
        output_bytes: maybe_uint(row, 21)?.unwrap_or(0),
        consumed: maybe_uint(row, 22)?.unwrap_or(0),
        healthy: row.get(19)?,
        events: 0,
        set: row.get::<_, Option<_>>(23)?.map(AgentId::from_bytes),
        removal: row.get(24)?,
        parent: row.get::<_, Option<_>>(25)?.map(AgentId::from_bytes),
    })
}

/// Adds the length of the agent's stream.
fn with_events(conn: &rusqlite::Connection, mut agent: AgentRow) -> rusqlite::Result<AgentRow> {
    agent.events = conn
        .prepare_cached("SELECT seq FROM stream WHERE name = ?1")?
        .query_row([format!("agent/{}", agent.id)], |row| uint(row, 0))
        .optional()?
        .unwrap_or(0);
    Ok(agent)
}

impl Reader {
    /// The retired agents for which messages still wait.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn retired_with_waiting(&self) -> Result<Vec<AgentId>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT id FROM agent WHERE phase = 'retired'
                     AND EXISTS (SELECT 1 FROM waiting_total WHERE target = agent.id AND messages > 0)
                 ORDER BY id",
            )?
            .query_map([], |row| row.get(0).map(AgentId::from_bytes))?
            .collect()
        })
    }

    /// The retired agents of which not all that they owned is gone yet.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn retired_with_removal(&self) -> Result<Vec<AgentId>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT id FROM agent WHERE removal IS NOT NULL AND phase = 'retired' ORDER BY id",
            )?
            .query_map([], |row| row.get(0).map(AgentId::from_bytes))?
            .collect()
        })
    }

    /// The agents that pass `filter`, by tenant and name; the retired ones only if it names their phase.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn agents(&self, filter: &AgentFilter) -> Result<Vec<AgentRow>, ReadError> {
        let passes = |phase: Phase| match filter.phases.as_slice() {
            [] => phase != Phase::Retired,
            phases => phases.contains(&phase),
        };
        self.with(|conn| {
            let sql = format!(
                "{AGENTS} WHERE (?1 IS NULL OR agent.tenant = ?1) ORDER BY agent.tenant, agent.name, agent.id"
            );
            let tenant = filter.tenant.as_ref().map(Tenant::as_str);
            let mut statement = conn.prepare_cached(&sql)?;
            let agents = statement.query_map([tenant], agent)?;
            agents
                .filter(|agent| agent.as_ref().map_or(true, |agent| passes(agent.phase)))
                .map(|agent| with_events(conn, agent?))
                .collect()
        })
    }

    /// The agent that has this name now.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn agent_by_name(&self, tenant: &Tenant, name: &AgentName) -> Result<Option<AgentRow>, ReadError> {
        let condition = "agent.tenant = ?1 AND agent.name = ?2 AND agent.phase <> 'retired'";
        self.one_agent(condition, params![tenant.as_str(), name.as_str()])
    }

    /// The agent with this id, retired or not.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn agent_by_id(&self, id: &AgentId) -> Result<Option<AgentRow>, ReadError> {
        self.one_agent("agent.id = ?1", params![id.as_bytes()])
    }

    /// The agent whose session this is, retired or not.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn agent_by_session(&self, id: &SessionId) -> Result<Option<AgentRow>, ReadError> {
        self.one_agent("agent.session = ?1", params![id.as_bytes()])
    }

    fn one_agent(
        &self,
        condition: &str,
        params: &[&dyn rusqlite::ToSql],
    ) -> Result<Option<AgentRow>, ReadError> {
        self.with(|conn| {
            let found = conn
                .prepare_cached(&format!("{AGENTS} WHERE {condition}"))?
                .query_row(params, agent)
                .optional()?;
            found.map(|agent| with_events(conn, agent)).transpose()
        })
    }

    /// The epochs of an agent, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn epochs(&self, agent: &AgentId) -> Result<Vec<EpochRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT epoch, cause, starting_at, started_at, ended_at, status, tree, output_bytes, consumed,
                        segments
                 FROM epoch WHERE agent = ?1 ORDER BY epoch",
            )?
            .query_map([agent.as_bytes()], |row| {
                Ok(EpochRow {
                    epoch: Epoch(uint(row, 0)?),
                    cause: json(row, 1)?,
                    starting_at: moment(row, 2)?,
                    started_at: maybe_moment(row, 3)?,
                    ended_at: maybe_moment(row, 4)?,
                    status: maybe_json(row, 5)?,
                    tree: maybe_json(row, 6)?,
                    output_bytes: uint(row, 7)?,
                    consumed: uint(row, 8)?,
                    segments: uint(row, 9)?,
                })
            })?
            .collect()
        })
    }

    /// The sealed segments of an epoch's recording, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn segments(&self, agent: &AgentId, epoch: Epoch) -> Result<Vec<SegmentRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT segment, from_offset, to_offset, file_bytes, digest, at
                 FROM segment WHERE agent = ?1 AND epoch = ?2 ORDER BY segment",
            )?
            .query_map(params![agent.as_bytes(), int(epoch.0)], |row| {
                Ok(SegmentRow {
                    epoch,
                    segment: row.get(0)?,
                    from_offset: uint(row, 1)?,
                    to_offset: uint(row, 2)?,
                    file_bytes: uint(row, 3)?,
                    digest: row.get(4)?,
                    at: moment(row, 5)?,
                })
            })?
            .collect()
        })
    }

    /// What is missing from an epoch's recording, by offset.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn gaps(&self, agent: &AgentId, epoch: Epoch) -> Result<Vec<GapRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT from_offset, to_offset, reason, at
                 FROM gap WHERE agent = ?1 AND epoch = ?2 ORDER BY from_offset, pos",
            )?
            .query_map(params![agent.as_bytes(), int(epoch.0)], |row| {
                Ok(GapRow {
                    epoch,
                    from_offset: uint(row, 0)?,
                    to_offset: uint(row, 1)?,
                    reason: row.get(2)?,
                    at: moment(row, 3)?,
                })
            })?
            .collect()
        })
    }
}
