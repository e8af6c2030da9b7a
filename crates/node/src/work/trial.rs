//! Benchmark trials: tasks with one run each, and what is said that they are worth.
//!
//! A trial, its task and its run are one commit and have one UUID, so there is no trial that was begun by half. It ends
//! with its run, in the commit that says so.

use std::sync::Arc;

use edgeplane_store::{RewardRow, TrialRow};
use edgeplane_types::{
    AgentId, ErrorName, Fact, RunState, StreamName, TaskId, TaskState, TrialId,
    fact::{RewardRecorded, RunEnded, TaskCreated, TrialEnded, TrialStarted},
};
use edgeplane_wire::{api::benchmark::REWARDS_MAX, rpc::RpcError};

use super::admit;
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// A trial that somebody wants to be given.
pub(crate) struct NewTrial {
    pub(crate) created: TaskCreated,
    pub(crate) agent_id: AgentId,
    pub(crate) content: Vec<u8>,
    pub(crate) started: TrialStarted,
}

/// A reward that somebody records, and the one that it is to take the place of.
pub(crate) struct NewReward {
    /// With the number that it gets.
    pub(crate) recorded: RewardRecorded,
    pub(crate) supersedes: Option<u32>,
}

/// The trial that a task is, if it is one.
pub(crate) fn trial_of(task: TaskId) -> TrialId {
    TrialId::from_bytes(*task.as_bytes())
}

pub(super) fn is_trial(shared: &Shared, task: TaskId) -> Result<bool, RpcError> {
    shared.record.look_up(|reader| reader.is_trial(&trial_of(task)))
}

/// Refuses what would make a trial another one than was asked for.
pub(super) fn check_free(shared: &Shared, task: TaskId) -> Result<(), RpcError> {
    if !is_trial(shared, task)? {
        return Ok(());
    }
    let what = format!("task {task} is a trial: one run, as it was asked for");
    Err(RpcError::new(ErrorName::InvalidState, what)
        .hint("cancel it if it is not wanted, and start another trial with `edgeplane benchmark start`"))
}

/// That a trial has ended, if the task of a run is one. The good end of a turn is none of a trial that its agent, or
/// whoever else may, has called failed meanwhile.
pub(super) fn ended(shared: &Shared, run: &RunEnded, task: TaskState) -> Result<Vec<Fact>, RpcError> {
    let is_refuted = run.state == RunState::Completed && task == TaskState::Failed;
    let (state, reason) = match is_refuted {
        true => (RunState::Failed, "its task had been called failed before its turn ended".to_owned()),
        false => (run.state, run.reason.clone()),
    };
    let trial_id = trial_of(run.task_id);
    let trial = shared.record.look_up(|reader| reader.trial(&trial_id))?;
    let is_its = trial.is_some_and(|trial| trial.ended.is_none() && trial.started.run_id == run.run_id);
    let ended = is_its.then_some(TrialEnded {
        trial_id,
        task_id: run.task_id,
        run_id: run.run_id,
        state,
        reason,
        limit: run.limit,
        output_id: run.output_id,
    });
    Ok(ended.map(Fact::TrialEnded).into_iter().collect())
}

/// Gives a trial, or finds the one that was given under the same key.
pub(crate) async fn give(
    shared: &Arc<Shared>,
    new: NewTrial,
    origin: &Origin,
) -> Result<(TrialId, bool), RpcError> {
    let _held = shared.work.changing.lock().await;
    let NewTrial { created, agent_id, content, mut started } = new;
    if let Some(key) = &started.key {
        let known = shared.record.look_up(|reader| reader.trial_by_key(&origin.actor, key))?;
        match known.map(|known| known.started) {
            Some(known) if known.request_hash == started.request_hash => return Ok((known.trial_id, true)),
            Some(known) => {
                let what = format!("key `{key}` is that of trial {}, which is another one", known.trial_id);
                return Err(RpcError::new(ErrorName::IdempotencyMismatch, what)
                    .hint("choose a new key for a new trial"));
            }
            None => {}
        }
    }
    let (knows_dataset, knows_configuration) = shared
        .record
        .look_up(|reader| reader.trials_know(&agent_id, &started.dataset, &started.configuration))?;
    (started.resolves_dataset, started.resolves_configuration) = (!knows_dataset, !knows_configuration);
    let (trial_id, task_id, run_id) = (started.trial_id, started.task_id, started.run_id);
    let mut draft = admit::with_run(shared, (created, agent_id), (content, "it is given as a trial"), origin);
    let fact = Fact::TrialStarted(Box::new(started));
    shared.record.add(&mut draft, StreamName::Task(task_id), origin, fact);
    shared.failpoint("trial.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("trial.after");
    shared.work.look([run_id]);
    Ok((trial_id, false))
}

/// Whether two rewards say the same.
fn says_the_same(one: &RewardRecorded, other: &RewardRecorded) -> bool {
    let said = |reward: &RewardRecorded| RewardRecorded { number: 0, is_early: false, ..reward.clone() };
    said(one) == said(other)
}

/// Records a reward behind those that are there, or finds that the last one says the same.
pub(crate) async fn record_reward(
    shared: &Arc<Shared>,
    new: NewReward,
    origin: &Origin,
) -> Result<bool, RpcError> {
    let _held = shared.work.changing.lock().await;
    let NewReward { mut recorded, supersedes } = new;
    let id = recorded.trial_id;
    let trial = shared.record.look_up(|reader| reader.trial(&id))?;
    let Some(TrialRow { started, ended, reward, .. }) = trial else {
        return Err(RpcError::new(ErrorName::NotFound, format!("no trial {id}")));
    };
    recorded.is_early = ended.is_none();
    if let Some(last) = &reward {
        // What was said before the end counts for nothing, so the same said afterwards is something else.
        let same = says_the_same(&last.recorded, &recorded) && last.recorded.is_early == recorded.is_early;
        if same && supersedes.is_none_or(|number| number.saturating_add(1) == last.recorded.number) {
            return Ok(true);
        }
    }
    let last = reward.as_ref().map_or(0, |last| last.recorded.number);
    check_place(&recorded, reward.as_ref(), supersedes)?;
    if last >= REWARDS_MAX {
        let what = format!("trial {id} has {last} rewards, and no more may be");
        return Err(RpcError::new(ErrorName::QuotaExhausted, what));
    }
    recorded.number = last.saturating_add(1);
    let mut draft = Draft::default();
    let fact = Fact::RewardRecorded(Box::new(recorded));
    shared.record.add(&mut draft, StreamName::Task(started.task_id), origin, fact);
    shared.failpoint("reward.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("reward.after");
    Ok(false)
}

/// Refuses a reward that would take the place of another one, unless whoever says it knows which.
fn check_place(
    recorded: &RewardRecorded,
    last: Option<&RewardRow>,
    supersedes: Option<u32>,
) -> Result<(), RpcError> {
    let id = recorded.trial_id;
    let number = last.map(|last| last.recorded.number);
    // What was said too early is no verdict, so the first that is said in time takes its place unasked.
    let is_first = last.is_none_or(|last| last.recorded.is_early && !recorded.is_early);
    match (supersedes, number) {
        (None, _) if is_first => Ok(()),
        (Some(named), Some(number)) if named == number => Ok(()),
        (Some(named), found) => {
            let found = found.map_or_else(|| "it has none".to_owned(), |n| format!("its last one is {n}"));
            let what = format!("trial {id} has no reward {named} that could be superseded: {found}");
            Err(RpcError::new(ErrorName::Conflict, what).hint("look at it again, then decide"))
        }
        (None, number) => {
            let number = number.unwrap_or_default();
            let what = format!("trial {id} has a reward already, and this one says something else");
            Err(RpcError::new(ErrorName::Conflict, what).hint(format!(
                "a reward is never changed; with `supersedes: {number}` this one counts instead"
            )))
        }
    }
}
