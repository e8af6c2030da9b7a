//! What agents offer: bound to the epoch that registered it, and gone with it.

use edgeplane_types::{AgentId, CapabilityId, Epoch, Fact, SafeLabel, fact::CapabilityRegistered};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE offering (
            agent BLOB PRIMARY KEY,
            epoch INTEGER NOT NULL,
            is_over INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE offer (
            id BLOB PRIMARY KEY,
            agent BLOB NOT NULL,
            name TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            is_gone INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            UNIQUE (agent, name)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("offering", "agent"), ("offer", "id")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::AgentStarting { epoch, .. } => {
            let agent = step.agent()?;
            // What was gone before the epoch that now ends nobody asks for any more.
            step.run(
                "DELETE FROM offer WHERE agent = ?1 AND epoch < (SELECT epoch FROM offering WHERE agent = ?1)",
                [agent.as_bytes()],
            )?;
            step.run("UPDATE offer SET is_gone = 1 WHERE agent = ?1", [agent.as_bytes()])?;
            step.run(
                "INSERT INTO offering (agent, epoch, is_over) VALUES (?1, ?2, 0)
                 ON CONFLICT (agent) DO UPDATE SET epoch = ?2, is_over = 0",
                params![agent.as_bytes(), int(epoch.0)],
            )?;
            Ok(())
        }
        Fact::AgentExited { epoch, .. } => {
            let agent = step.agent()?;
            step.run(
                "UPDATE offering SET is_over = 1 WHERE agent = ?1 AND epoch <= ?2",
                params![agent.as_bytes(), int(epoch.0)],
            )?;
            step.run(
                "UPDATE offer SET is_gone = 1 WHERE agent = ?1 AND epoch <= ?2",
                params![agent.as_bytes(), int(epoch.0)],
            )?;
            Ok(())
        }
        Fact::AgentRetired { .. } => {
            let agent = step.agent()?;
            step.run("DELETE FROM offer WHERE agent = ?1", [agent.as_bytes()])?;
            step.run("DELETE FROM offering WHERE agent = ?1", [agent.as_bytes()])?;
            Ok(())
        }
        Fact::CapabilityRegistered(registered) => register(step, registered),
        Fact::CapabilityWithdrawn(withdrawn) => {
            let agent = step.agent()?;
            let found = step.run(
                "UPDATE offer SET is_gone = 1 WHERE id = ?1 AND agent = ?2 AND epoch = ?3 AND is_gone = 0",
                params![withdrawn.capability_id.as_bytes(), agent.as_bytes(), int(withdrawn.epoch.0)],
            )?;
            known(found, withdrawn.capability_id)
        }
        Fact::CapabilityCalled(called) => {
            let found = step.find(
                "SELECT 1 FROM offer WHERE id = ?1 AND agent = ?2 AND epoch = ?3 AND is_gone = 0",
                params![called.capability_id.as_bytes(), step.agent()?.as_bytes(), int(called.epoch.0)],
                |_row| Ok(()),
            )?;
            found.ok_or(FoldError::NoOffer(called.capability_id))
        }
        _ => Ok(()),
    }
}

fn register(step: &Step<'_>, registered: &CapabilityRegistered) -> Result<(), FoldError> {
    let CapabilityRegistered { capability_id, name, epoch, .. } = registered;
    let agent = step.agent()?;
    let made = step.run(
        "INSERT INTO offer (id, agent, name, epoch, is_gone, pos)
         SELECT ?1, ?2, ?3, ?4, 0, ?5 FROM offering WHERE agent = ?2 AND epoch = ?4 AND is_over = 0
         ON CONFLICT (id) DO UPDATE SET agent = ?2, epoch = ?4, is_gone = 0, pos = ?5",
        params![
            capability_id.as_bytes(),
            agent.as_bytes(),
            SafeLabel::as_str(name),
            int(epoch.0),
            int(step.pos)
        ],
    )?;
    current(made, agent, *epoch)
}

/// What an epoch offers it offers while it lives.
fn current(made: usize, agent: AgentId, epoch: Epoch) -> Result<(), FoldError> {
    if made == 0 { Err(FoldError::StaleEpoch { agent, epoch }) } else { Ok(()) }
}

fn known(found: usize, id: CapabilityId) -> Result<(), FoldError> {
    if found == 0 { Err(FoldError::NoOffer(id)) } else { Ok(()) }
}
