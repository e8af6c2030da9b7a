//! Benchmark trials: which there are of what, how they ended, and each reward that was recorded.

use edgeplane_types::{
    Fact,
    fact::{RewardRecorded, TrialEnded, TrialStarted},
};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::{row::TrialRow, sqlite::int};

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE trial (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            agent BLOB NOT NULL,
            dataset TEXT NOT NULL,
            dataset_version TEXT NOT NULL,
            configuration TEXT NOT NULL,
            whole_dataset TEXT NOT NULL,
            whole_configuration TEXT NOT NULL,
            asker TEXT NOT NULL,
            key TEXT,
            ended_pos INTEGER,
            rewards INTEGER NOT NULL,
            reward_pos INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX trial_key ON trial (asker, key) WHERE key IS NOT NULL;
        CREATE INDEX trial_of ON trial (dataset, dataset_version, configuration, pos);
        CREATE INDEX trial_dataset ON trial (agent, whole_dataset);
        CREATE INDEX trial_configuration ON trial (agent, whole_configuration);
        CREATE TABLE trial_reward (
            trial BLOB NOT NULL,
            number INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            PRIMARY KEY (trial, number)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("trial", "pos"), ("trial_reward", "trial, number")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::TrialStarted(started) => start(step, started),
        Fact::TrialEnded(ended) => end(step, ended),
        Fact::RewardRecorded(reward) => record(step, reward),
        _ => Ok(()),
    }
}

fn start(step: &Step<'_>, started: &TrialStarted) -> Result<(), FoldError> {
    if step.of_task()? != started.task_id {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    step.insert(
        "INSERT INTO trial (pos, id, agent, dataset, dataset_version, configuration, whole_dataset,
             whole_configuration, asker, key, rewards)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0)",
        params![
            int(step.pos),
            started.trial_id.as_bytes(),
            started.agent_id.as_bytes(),
            started.dataset.id.as_str(),
            started.dataset.version.as_str(),
            started.configuration.id.as_str(),
            started.dataset.identity(),
            started.configuration.identity(),
            TrialRow::asker(&step.event.actor),
            started.key.as_ref().map(edgeplane_types::SafeLabel::as_str),
        ],
        |_taken| FoldError::TrialTwice(started.trial_id),
    )
}

fn end(step: &Step<'_>, ended: &TrialEnded) -> Result<(), FoldError> {
    step.of_task()?;
    let found = step.run(
        "UPDATE trial SET ended_pos = ?2 WHERE id = ?1 AND ended_pos IS NULL",
        params![ended.trial_id.as_bytes(), int(step.pos)],
    )?;
    if found == 0 { Err(FoldError::NoTrial(ended.trial_id)) } else { Ok(()) }
}

/// A reward with the next number. None is ever written over.
fn record(step: &Step<'_>, reward: &RewardRecorded) -> Result<(), FoldError> {
    step.of_task()?;
    let found = step.run(
        "UPDATE trial SET rewards = ?2, reward_pos = ?3 WHERE id = ?1 AND rewards = ?2 - 1",
        params![reward.trial_id.as_bytes(), reward.number, int(step.pos)],
    )?;
    if found == 0 {
        return Err(FoldError::NoTrial(reward.trial_id));
    }
    step.run(
        "INSERT INTO trial_reward (trial, number, pos) VALUES (?1, ?2, ?3)",
        params![reward.trial_id.as_bytes(), reward.number, int(step.pos)],
    )?;
    Ok(())
}
