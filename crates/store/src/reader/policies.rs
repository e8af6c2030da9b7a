//! The rules in force, and what they refused.

use edgeplane_types::fact::RequestRefused;
use edgeplane_types::{AgentId, Event, Fact};
use rusqlite::{OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    PolicyRow, RefusalRow,
    sqlite::{int, json, uint},
};

fn refusal(row: &Row<'_>) -> rusqlite::Result<RefusalRow> {
    let event: Event = json(row, 1)?;
    let (pos, at) = (uint(row, 0)?, event.ts);
    match event.fact {
        Fact::RequestRefused(RequestRefused {
            action,
            agent_id,
            principal,
            channel,
            layer,
            rule,
            reason,
            count,
            ..
        }) => {
            let agent = agent_id;
            Ok(RefusalRow { pos, at, action, agent, principal, channel, layer, rule, reason, count })
        }
        other => Err(misplaced(&other)),
    }
}

impl Reader {
    /// The rules in force, as the node said last; `None` if it never said anything of rules.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn policy(&self) -> Result<Option<PolicyRow>, ReadError> {
        self.at_once(|conn| {
            let newest = |kind: &str| {
                conn.prepare_cached("SELECT pos FROM policy WHERE kind = ?1")?
                    .query_row([kind], |row| row.get(0))
                    .optional()?
                    .map(|pos| event_at(conn, pos))
                    .transpose()
            };
            let (loaded, rejected) = (newest("loaded")?, newest("rejected")?);
            if loaded.is_none() && rejected.is_none() {
                return Ok(None);
            }
            let mut policy =
                PolicyRow { digest: None, rules: 0, files: Vec::new(), loaded_at: None, rejected: None };
            for event in loaded.into_iter().chain(rejected) {
                match event.fact {
                    Fact::PolicyLoaded { digest, rules, files } => {
                        (policy.digest, policy.rules, policy.files) = (Some(digest), rules, files);
                        policy.loaded_at = Some(event.ts);
                    }
                    Fact::PolicyRejected { file, problem } => policy.rejected = Some((file, problem)),
                    other => return Err(misplaced(&other)),
                }
            }
            Ok(Some(policy))
        })
    }

    /// What was refused, of one agent or at all, newest first; only what stands before position `before`, if it names
    /// one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn refusals(
        &self,
        agent: Option<&AgentId>,
        rows: usize,
        before: Option<u64>,
    ) -> Result<Vec<RefusalRow>, ReadError> {
        let before = before.map_or(i64::MAX, int);
        let of_agent = if agent.is_some() { "refusal.agent = ?3" } else { "?3 IS NULL" };
        let sql = format!(
            "SELECT refusal.pos, event.body FROM refusal JOIN event ON event.pos = refusal.pos
             WHERE refusal.pos < ?1 AND {of_agent} ORDER BY refusal.pos DESC LIMIT ?2"
        );
        self.with(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![before, limit(rows), agent.map(AgentId::as_bytes)], refusal)?
                .collect()
        })
    }
}
