//! What each agent is: identity, desire, phase, newest epoch.
//!
//! The phase follows the fact that moves an agent. `agent.exited` and `agent.start_failed` do not: the fact that
//! says what becomes of the agent comes with them or after them.

use edgeplane_types::{AgentId, Desired, Epoch, Fact, Phase, fact::Cause};
use rusqlite::{Params, ffi, params};

use super::{Definition, FoldError, Step, json};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 4,
    schema: "
        CREATE TABLE agent (
            id BLOB PRIMARY KEY,
            tenant TEXT NOT NULL,
            name TEXT NOT NULL,
            session BLOB NOT NULL,
            generation INTEGER NOT NULL,
            manifest TEXT NOT NULL,
            desired TEXT NOT NULL,
            desired_generation INTEGER NOT NULL,
            desired_reason TEXT,
            phase TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            process TEXT,
            shim TEXT,
            cgroup TEXT,
            continuity TEXT,
            restarts INTEGER NOT NULL,
            status TEXT,
            reason TEXT,
            declared_at INTEGER NOT NULL,
            healthy INTEGER,
            set_id BLOB,
            removal TEXT,
            parent BLOB
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX agent_name ON agent (tenant, name) WHERE phase <> 'retired';
        CREATE INDEX agent_removal ON agent (id) WHERE removal IS NOT NULL;",
    tables: &[("agent", "id")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::AgentDeclared { .. } => declare(step),
        Fact::AgentUpdated { generation, manifest_digest } => set(
            step,
            "UPDATE agent SET generation = ?2, manifest = ?3 WHERE id = ?1",
            params![step.agent()?.as_bytes(), int(generation.0), manifest_digest],
        ),
        Fact::AgentDesired { desired, generation, reason } => set(
            step,
            "UPDATE agent SET desired = ?2, desired_generation = ?3, desired_reason = ?4 WHERE id = ?1",
            params![step.agent()?.as_bytes(), json(desired)?, int(generation.0), reason],
        ),
        Fact::AgentStarting { .. }
        | Fact::AgentStarted { .. }
        | Fact::AgentAdopted { .. }
        | Fact::AgentExited { .. } => fold_epoch(step),
        // How much of the former context a program has may only show when its session has come about.
        Fact::SessionOpened { epoch, continuity, .. } => in_epoch(
            step,
            *epoch,
            "UPDATE agent SET continuity = ?3 WHERE id = ?1 AND epoch = ?2",
            &json(continuity)?,
        ),
        Fact::AgentFrozen { epoch } => phase_in_epoch(step, *epoch, Phase::Frozen, None),
        Fact::AgentThawed { epoch } => phase_in_epoch(step, *epoch, Phase::Running, None),
        Fact::AgentStopping { epoch, .. } => phase_in_epoch(step, *epoch, Phase::Stopping, None),
        Fact::AgentUnobservable { epoch, reason } => {
            phase_in_epoch(step, *epoch, Phase::Unobservable, Some(reason))
        }
        Fact::AgentQuarantined { epoch, reason } => {
            phase_in_epoch(step, *epoch, Phase::Quarantined, Some(reason))
        }
        Fact::AgentStartFailed { epoch, reason } => {
            in_epoch(step, *epoch, "UPDATE agent SET reason = ?3 WHERE id = ?1 AND epoch = ?2", reason)
        }
        Fact::AgentInstallFailed { reason, .. } => {
            set_reason(step, "UPDATE agent SET reason = ?2 WHERE id = ?1", reason)
        }
        Fact::AgentBackedOff { .. } => set_phase(step, "UPDATE agent SET phase = 'backoff' WHERE id = ?1"),
        Fact::AgentFailed { reason } => {
            set_reason(step, "UPDATE agent SET phase = 'failed', reason = ?2 WHERE id = ?1", reason)
        }
        Fact::AgentRetired { reason } => {
            set_reason(step, "UPDATE agent SET phase = 'retired', reason = ?2 WHERE id = ?1", reason)
        }
        Fact::AgentRemovalPlanned { body_digest, .. } => {
            set_reason(step, "UPDATE agent SET removal = ?2 WHERE id = ?1", body_digest)
        }
        Fact::AgentRemoved { .. } => {
            set(step, "UPDATE agent SET removal = NULL WHERE id = ?1", params![step.agent()?.as_bytes()])
        }
        Fact::AgentStopped {} => stop(step),
        Fact::AgentProbed { healthy, reason } => set(
            step,
            "UPDATE agent SET healthy = ?2, reason = CASE WHEN ?2 THEN reason ELSE ?3 END WHERE id = ?1",
            params![step.agent()?.as_bytes(), healthy, reason],
        ),
        _ => Ok(()),
    }
}

fn declare(step: &Step<'_>) -> Result<(), FoldError> {
    let Fact::AgentDeclared {
        agent_id,
        session_id,
        tenant,
        name,
        generation,
        manifest_digest,
        desired,
        set: set_id,
        parent,
    } = &step.event.fact
    else {
        return Ok(());
    };
    if step.agent()? != *agent_id {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    step.insert(
        "INSERT INTO agent (id, tenant, name, session, generation, manifest, desired, desired_generation,
                            phase, epoch, restarts, declared_at, set_id, parent)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?5, 'declared', 0, 0, ?8, ?9, ?10)",
        params![
            agent_id.as_bytes(),
            tenant.as_str(),
            name.as_str(),
            session_id.as_bytes(),
            int(generation.0),
            manifest_digest,
            json(desired)?,
            step.ts(),
            set_id.as_ref().map(AgentId::as_bytes),
            parent.as_ref().map(AgentId::as_bytes),
        ],
        |error| match error.sqlite_error() {
            Some(error) if error.extended_code == ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                FoldError::DeclaredTwice(*agent_id)
            }
            _ => FoldError::NameTaken { tenant: tenant.to_string(), name: name.to_string() },
        },
    )
}

fn fold_epoch(step: &Step<'_>) -> Result<(), FoldError> {
    let agent = step.agent()?;
    match &step.event.fact {
        Fact::AgentStarting { epoch, cause } => {
            let by_itself = matches!(cause, Cause::RestartPolicy | Cause::Probe);
            let changed = step.change(
                "UPDATE agent SET phase = 'starting', epoch = ?2, process = NULL, shim = NULL, cgroup = NULL,
                                  continuity = NULL, healthy = NULL, restarts = restarts + ?3
                 WHERE id = ?1 AND epoch < ?2",
                params![agent.as_bytes(), int(epoch.0), by_itself],
            )?;
            current(step, agent, *epoch, changed)
        }
        Fact::AgentStarted { epoch, process, shim, cgroup, continuity } => {
            let changed = step.change(
                "UPDATE agent SET phase = 'running', process = ?3, shim = ?4, cgroup = ?5, continuity = ?6
                 WHERE id = ?1 AND epoch = ?2",
                params![
                    agent.as_bytes(),
                    int(epoch.0),
                    json(process)?,
                    json(shim)?,
                    cgroup,
                    json(continuity)?
                ],
            )?;
            current(step, agent, *epoch, changed)
        }
        Fact::AgentAdopted { epoch, frozen, .. } => {
            let phase = if *frozen { Phase::Frozen } else { Phase::Running };
            phase_in_epoch(step, *epoch, phase, None)
        }
        Fact::AgentExited { epoch, status, .. } => {
            let changed = step.change(
                "UPDATE agent SET process = NULL, shim = NULL, cgroup = NULL, status = ?3
                 WHERE id = ?1 AND epoch = ?2",
                params![agent.as_bytes(), int(epoch.0), json(status)?],
            )?;
            current(step, agent, *epoch, changed)
        }
        _ => Ok(()),
    }
}

/// Ended as it is meant to be: which of the two ends is meant, the desire says.
fn stop(step: &Step<'_>) -> Result<(), FoldError> {
    set(
        step,
        "UPDATE agent SET phase = CASE WHEN desired = ?2 THEN 'hibernated' ELSE 'stopped' END WHERE id = ?1",
        params![step.agent()?.as_bytes(), json(&Desired::Hibernated)?],
    )
}

fn set<P: Params>(step: &Step<'_>, sql: &str, params: P) -> Result<(), FoldError> {
    match step.change(sql, params)? {
        0 => Err(FoldError::UnknownAgent(step.agent()?)),
        _ => Ok(()),
    }
}

fn set_phase(step: &Step<'_>, sql: &str) -> Result<(), FoldError> {
    set(step, sql, params![step.agent()?.as_bytes()])
}

fn set_reason(step: &Step<'_>, sql: &str, reason: &str) -> Result<(), FoldError> {
    set(step, sql, params![step.agent()?.as_bytes(), reason])
}

fn in_epoch(step: &Step<'_>, epoch: Epoch, sql: &str, reason: &str) -> Result<(), FoldError> {
    let agent = step.agent()?;
    let changed = step.change(sql, params![agent.as_bytes(), int(epoch.0), reason])?;
    current(step, agent, epoch, changed)
}

fn phase_in_epoch(
    step: &Step<'_>,
    epoch: Epoch,
    phase: Phase,
    reason: Option<&str>,
) -> Result<(), FoldError> {
    let agent = step.agent()?;
    let changed = step.change(
        "UPDATE agent SET phase = ?3, reason = coalesce(?4, reason) WHERE id = ?1 AND epoch = ?2",
        params![agent.as_bytes(), int(epoch.0), phase.as_str(), reason],
    )?;
    current(step, agent, epoch, changed)
}

/// Invariant: no effect without a current epoch. Finds out why an update met no row.
fn current(step: &Step<'_>, agent: AgentId, epoch: Epoch, changed: usize) -> Result<(), FoldError> {
    if changed > 0 {
        return Ok(());
    }
    let found = step
        .conn
        .prepare_cached("SELECT 1 FROM agent WHERE id = ?1")
        .and_then(|mut statement| statement.exists([agent.as_bytes()]))
        .map_err(FoldError::Database)?;
    Err(if found { FoldError::StaleEpoch { agent, epoch } } else { FoldError::UnknownAgent(agent) })
}
