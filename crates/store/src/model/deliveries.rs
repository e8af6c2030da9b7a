//! What outputs are handed over to whom. How far one to an agent has come its message says.

use edgeplane_types::{DeliveryId, Fact, fact::Destination};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE delivery (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            agent BLOB NOT NULL,
            output BLOB NOT NULL,
            target BLOB,
            failed_pos INTEGER,
            acknowledged_pos INTEGER
        ) STRICT;
        CREATE INDEX delivery_of_agent ON delivery (agent, pos);
        CREATE INDEX delivery_to_agent ON delivery (target, pos) WHERE target IS NOT NULL;
        CREATE INDEX delivery_undone ON delivery (pos)
            WHERE target IS NOT NULL AND failed_pos IS NULL AND acknowledged_pos IS NULL;",
    tables: &[("delivery", "pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::DeliveryCreated(created) => {
            let target = match &created.destination {
                Destination::Agent { agent_id } => Some(agent_id.as_bytes()),
                Destination::Principal { .. } => None,
            };
            step.insert(
                "INSERT INTO delivery (pos, id, agent, output, target) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    int(step.pos),
                    created.delivery_id.as_bytes(),
                    step.agent()?.as_bytes(),
                    created.output_id.as_bytes(),
                    target,
                ],
                |_taken| FoldError::DeliveryTwice(created.delivery_id),
            )
        }
        Fact::DeliveryFailed(failed) => {
            let found = step.run(
                "UPDATE delivery SET failed_pos = coalesce(failed_pos, ?3) WHERE id = ?1 AND agent = ?2",
                params![failed.delivery_id.as_bytes(), step.agent()?.as_bytes(), int(step.pos)],
            )?;
            known(found, failed.delivery_id)
        }
        Fact::DeliveryAcknowledged(acknowledged) => {
            let found = step.run(
                "UPDATE delivery SET acknowledged_pos = coalesce(acknowledged_pos, ?3)
                 WHERE id = ?1 AND agent = ?2",
                params![acknowledged.delivery_id.as_bytes(), step.agent()?.as_bytes(), int(step.pos)],
            )?;
            known(found, acknowledged.delivery_id)
        }
        _ => Ok(()),
    }
}

fn known(found: usize, id: DeliveryId) -> Result<(), FoldError> {
    if found == 0 { Err(FoldError::UnknownDelivery(id)) } else { Ok(()) }
}
