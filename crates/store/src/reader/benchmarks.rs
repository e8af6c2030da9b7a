//! Benchmark trials and their rewards.

use edgeplane_types::{
    AgentId, Event, Fact, SafeLabel, TrialConfiguration, TrialDataset, TrialId,
    fact::{Actor, RewardRecorded, TrialStarted},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::row::{RewardRow, TrialRow};

const TRIALS: &str = "SELECT pos, ended_pos, reward_pos FROM trial";

type Places = (i64, Option<i64>, Option<i64>);

fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn started(event: Event) -> rusqlite::Result<TrialStarted> {
    match event.fact {
        Fact::TrialStarted(started) => Ok(*started),
        other => Err(misplaced(&other)),
    }
}

fn recorded(event: Event) -> rusqlite::Result<RewardRow> {
    let Event { actor: by, ts: at, fact, .. } = event;
    let recorded: RewardRecorded = match fact {
        Fact::RewardRecorded(recorded) => *recorded,
        other => return Err(misplaced(&other)),
    };
    Ok(RewardRow { recorded, by, at })
}

fn trial(conn: &Connection, (pos, ended_pos, reward_pos): Places) -> rusqlite::Result<TrialRow> {
    let event = event_at(conn, pos)?;
    let (by, at) = (event.actor.clone(), event.ts);
    let ended = match ended_pos {
        Some(pos) => {
            let event = event_at(conn, pos)?;
            match event.fact {
                Fact::TrialEnded(ended) => Some((ended, event.ts, u64::try_from(pos).unwrap_or_default())),
                other => return Err(misplaced(&other)),
            }
        }
        None => None,
    };
    let reward = reward_pos.map(|pos| event_at(conn, pos).and_then(recorded)).transpose()?;
    let pos = u64::try_from(pos).unwrap_or_default();
    Ok(TrialRow { pos, started: started(event)?, by, at, ended, reward })
}

impl Reader {
    /// The trial with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn trial(&self, id: &TrialId) -> Result<Option<TrialRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{TRIALS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], places)
                .optional()?
                .map(|found| trial(conn, found))
                .transpose()
        })
    }

    /// Whether there is a trial with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn is_trial(&self, id: &TrialId) -> Result<bool, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM trial WHERE id = ?1)")?
                .query_row([id.as_bytes()], |row| row.get(0))
        })
    }

    /// The trial that somebody asked for under a key.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn trial_by_key(&self, by: &Actor, key: &SafeLabel) -> Result<Option<TrialRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{TRIALS} WHERE asker = ?1 AND key = ?2"))?
                .query_row(params![TrialRow::asker(by), key.as_str()], places)
                .optional()?
                .map(|found| trial(conn, found))
                .transpose()
        })
    }

    /// The trials of a configuration with a dataset, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn trials_of(
        &self,
        (dataset, version): (&SafeLabel, &SafeLabel),
        configuration: &SafeLabel,
        rows: usize,
    ) -> Result<Vec<TrialRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Places> = conn
                .prepare_cached(&format!(
                    "{TRIALS} WHERE dataset = ?1 AND dataset_version = ?2 AND configuration = ?3
                     ORDER BY pos LIMIT ?4"
                ))?
                .query_map(
                    params![dataset.as_str(), version.as_str(), configuration.as_str(), limit(rows)],
                    places,
                )?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|found| trial(conn, found)).collect()
        })
    }

    /// Every reward of a trial, in the order in which they were recorded.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn trial_rewards(&self, id: &TrialId) -> Result<Vec<RewardRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<i64> = conn
                .prepare_cached("SELECT pos FROM trial_reward WHERE trial = ?1 ORDER BY number")?
                .query_map([id.as_bytes()], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|pos| event_at(conn, pos).and_then(recorded)).collect()
        })
    }

    /// Whether an agent was given something of a dataset before, and whether it was tried with a configuration.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn trials_know(
        &self,
        agent: &AgentId,
        dataset: &TrialDataset,
        configuration: &TrialConfiguration,
    ) -> Result<(bool, bool), ReadError> {
        self.at_once(|conn| {
            let is_known = |column: &str, identity: String| {
                conn.prepare_cached(&format!(
                    "SELECT 1 FROM trial WHERE agent = ?1 AND {column} = ?2 LIMIT 1"
                ))?
                .exists(params![agent.as_bytes(), identity])
            };
            Ok((
                is_known("whole_dataset", dataset.identity())?,
                is_known("whole_configuration", configuration.identity())?,
            ))
        })
    }
}
