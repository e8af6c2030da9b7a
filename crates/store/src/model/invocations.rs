//! Calls of capabilities: where each is, and the events that say all else.

use edgeplane_types::{Fact, InvocationId, InvocationState, Permission, StreamName};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 3,
    schema: "
        CREATE TABLE invocation (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            agent BLOB,
            server BLOB,
            state TEXT NOT NULL,
            begun_pos INTEGER,
            progressed_pos INTEGER,
            ended_pos INTEGER
        ) STRICT;
        CREATE INDEX invocation_open ON invocation (pos) WHERE ended_pos IS NULL;
        CREATE INDEX invocation_served ON invocation (server, pos) WHERE ended_pos IS NULL AND server IS NOT NULL;",
    tables: &[("invocation", "pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::InvocationRequested(asked) => {
            let agent = match step.event.stream {
                StreamName::Agent(agent) => Some(agent),
                _ => {
                    step.of_node()?;
                    None
                }
            };
            let state = match asked.permission {
                Permission::Allow => InvocationState::Running,
                Permission::Ask => InvocationState::Waiting,
                Permission::Deny => InvocationState::Denied,
            };
            let made = step.run(
                "INSERT INTO invocation (pos, id, agent, state, server) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (id) DO NOTHING",
                params![
                    int(step.pos),
                    asked.invocation_id.as_bytes(),
                    agent.as_ref().map(|agent| *agent.as_bytes()),
                    state.as_str(),
                    asked.offered_by.as_ref().map(|offered_by| *offered_by.agent_id.as_bytes())
                ],
            )?;
            if made == 0 { Err(FoldError::InvocationTwice(asked.invocation_id)) } else { Ok(()) }
        }
        Fact::InvocationBegun(begun) => {
            let found = step.run(
                "UPDATE invocation SET begun_pos = ?2, state = 'running'
                 WHERE id = ?1 AND begun_pos IS NULL AND ended_pos IS NULL",
                params![begun.invocation_id.as_bytes(), int(step.pos)],
            )?;
            known(found, begun.invocation_id)
        }
        Fact::InvocationProgressed(progressed) => {
            let found = step.run(
                "UPDATE invocation SET progressed_pos = ?2
                 WHERE id = ?1 AND begun_pos IS NOT NULL AND ended_pos IS NULL",
                params![progressed.invocation_id.as_bytes(), int(step.pos)],
            )?;
            known(found, progressed.invocation_id)
        }
        Fact::InvocationEnded(ended) => {
            let found = step.run(
                "UPDATE invocation SET ended_pos = ?2, state = ?3 WHERE id = ?1 AND ended_pos IS NULL",
                params![ended.invocation_id.as_bytes(), int(step.pos), ended.state.as_str()],
            )?;
            known(found, ended.invocation_id)
        }
        _ => Ok(()),
    }
}

/// What is made or ended waits or runs: a call is made once, and its end is its end.
fn known(found: usize, id: InvocationId) -> Result<(), FoldError> {
    if found == 0 { Err(FoldError::NoInvocation(id)) } else { Ok(()) }
}
