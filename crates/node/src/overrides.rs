//! Overrides in force: what an operator decided over agents, above everything that they are meant to do.
//!
//! Owns the set of them, and making it come true for each agent that one covers. What an override does to a life is
//! the lifecycle's business; each agent's engine looks at this set before each of its steps, so nothing here has to reach
//! an agent for it to be held.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use edgeplane_lifecycle::overrides::{Covered, covers, strongest};
use edgeplane_store::{Lift, NewEvent, OverrideRow};
use edgeplane_types::{
    Desired, ErrorName, Fact, OverrideId, OverrideKind, OverrideScope, Phase, StreamName, Timestamp,
    fact::{Actor, OverrideApplied},
};
use edgeplane_wire::{
    api::{
        core::Check,
        overrides::{Affected, AffectedError, OverrideMark},
    },
    rpc::RpcError,
};
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
};

use crate::{
    agent::{AgentHandle, Command, Summary},
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// Overrides in force at a time; each step of each agent looks at all of them. More are refused.
pub(crate) const STANDING_MAX: usize = 256;

/// Agents on which an override acts at a time.
const AT_ONCE: usize = 64;

/// How long an agent's engine may take to answer. It goes on with what it was told after that.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

/// How long the clock is left alone at most: it may be set while an override waits for its end.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// By which rule an override that has expired is lifted.
const EXPIRY: &str = "override-expiry";

/// The overrides in force.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    /// Oldest first.
    standing: RwLock<Vec<Arc<OverrideRow>>>,
    changed: Notify,
    /// Held by whoever puts one in force or lifts one, from the record to the set.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

impl Overrides {
    /// Takes what the record says is in force, and what a full disk kept out of it.
    pub(crate) fn take_up(&self, mut rows: Vec<OverrideRow>, held: &[NewEvent]) {
        rows.reverse();
        for event in held {
            match &event.fact {
                Fact::OverrideApplied(applied) => {
                    rows.push(OverrideRow {
                        id: applied.override_id,
                        scope: applied.scope.clone(),
                        kind: applied.kind,
                        reason: applied.reason.clone(),
                        by: event.actor.clone(),
                        applied_at: event.ts,
                        expires_at: applied.expires_at,
                        lifted: None,
                    });
                }
                Fact::OverrideLifted { override_id, .. } => rows.retain(|row| row.id != *override_id),
                _ => {}
            }
        }
        *self.standing.write().unwrap_or_else(PoisonError::into_inner) =
            rows.into_iter().map(Arc::new).collect();
    }

    /// Those in force, newest first.
    pub(crate) fn all(&self) -> Vec<Arc<OverrideRow>> {
        self.standing.read().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }

    /// Those that cover an agent, newest first.
    pub(crate) fn on(&self, agent: &Covered<'_>) -> Vec<Arc<OverrideRow>> {
        let standing = self.standing.read().unwrap_or_else(PoisonError::into_inner);
        standing.iter().rev().filter(|row| covers(&row.scope, agent)).cloned().collect()
    }

    /// What they come to for an agent.
    pub(crate) fn hold_on(&self, agent: &Covered<'_>) -> Option<OverrideKind> {
        let standing = self.standing.read().unwrap_or_else(PoisonError::into_inner);
        strongest(standing.iter().filter(|row| covers(&row.scope, agent)).map(|row| row.kind))
    }

    fn insert(&self, row: OverrideRow) {
        self.standing.write().unwrap_or_else(PoisonError::into_inner).push(Arc::new(row));
        self.changed.notify_one();
    }

    fn remove(&self, id: OverrideId) -> Option<Arc<OverrideRow>> {
        let mut standing = self.standing.write().unwrap_or_else(PoisonError::into_inner);
        let at = standing.iter().position(|row| row.id == id)?;
        Some(standing.remove(at))
    }

    fn next_expiry(&self) -> Option<(Timestamp, OverrideId)> {
        let standing = self.standing.read().unwrap_or_else(PoisonError::into_inner);
        standing.iter().filter_map(|row| Some((row.expires_at?, row.id))).min_by_key(|(at, _)| *at)
    }

    /// What `doctor` shows.
    pub(crate) fn check(&self) -> Check {
        let all = self.all();
        let (status, detail, hint) = match all.first() {
            None => ("ok", "none in force".to_owned(), None),
            Some(newest) => {
                let detail = format!(
                    "{} in force, the newest {} ({}): {}",
                    all.len(),
                    newest.id,
                    newest.kind.as_str(),
                    newest.reason
                );
                let hint =
                    "agents under them are held; `edgeplane override list` shows them, `lift` ends one";
                ("warn", detail, Some(hint.to_owned()))
            }
        };
        Check { name: "overrides".to_owned(), status: status.to_owned(), detail, hint }
    }
}

/// How an override shows in the status of who is held.
pub(crate) fn mark(row: &OverrideRow) -> OverrideMark {
    OverrideMark {
        override_id: row.id,
        kind: row.kind,
        reason: row.reason.clone(),
        by: word(&row.by),
        since: row.applied_at,
        expires_at: row.expires_at,
    }
}

/// Who did something, in one word.
pub(crate) fn word(actor: &Actor) -> String {
    match actor {
        Actor::Operator { name, .. }
        | Actor::Agent { name, .. }
        | Actor::Service { name, .. }
        | Actor::Unproven { name } => name.to_string(),
        Actor::Node { rule } => format!("node:{rule}"),
    }
}

/// What an operator wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) scope: OverrideScope,
    pub(crate) kind: OverrideKind,
    pub(crate) reason: String,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Makes an override durable, then true.
pub(crate) async fn apply(
    shared: &Arc<Shared>,
    wanted: Wanted,
    by: Actor,
    wait: Duration,
) -> Result<(OverrideId, Vec<Affected>), RpcError> {
    let Wanted { scope, kind, reason, expires_at } = wanted;
    let id = {
        let _one_at_a_time = shared.overrides.changing.lock().await;
        if shared.overrides.all().len() >= STANDING_MAX {
            let what = format!("{STANDING_MAX} overrides are in force");
            return Err(RpcError::new(ErrorName::QuotaExhausted, what).hint("lift some first"));
        }
        let id: OverrideId = shared.record.mint().id();
        let (mut draft, origin) = (Draft::default(), Origin::actor(by.clone()));
        let fact = Fact::OverrideApplied(OverrideApplied {
            override_id: id,
            scope: scope.clone(),
            kind,
            reason: reason.clone(),
            expires_at,
        });
        shared.record.add(&mut draft, StreamName::Node(shared.identity.id), &origin, fact);
        shared.failpoint("override.before");
        // A brake is never refused for want of space.
        shared.record.commit(draft.critical()).await.map_err(|error| refused(&error))?;
        shared.failpoint("override.applied");
        let applied_at = shared.record.now();
        let row =
            OverrideRow { id, scope, kind, reason, by: by.clone(), applied_at, expires_at, lifted: None };
        shared.overrides.insert(row.clone());
        drop(row);
        id
    };
    let covered: Vec<AgentHandle> = match shared.overrides.all().iter().find(|row| row.id == id) {
        Some(row) => covered(shared, row),
        None => Vec::new(),
    };
    Ok((id, act(shared, covered, &Origin::actor(by), (Some(kind), wait)).await))
}

/// Makes it durable that an override is lifted, then lets go on what nothing else holds.
pub(crate) async fn lift(
    shared: &Arc<Shared>,
    id: OverrideId,
    reason: String,
    origin: Origin,
    wait: Duration,
) -> Result<Vec<Affected>, RpcError> {
    let row = {
        let _one_at_a_time = shared.overrides.changing.lock().await;
        if !shared.overrides.all().iter().any(|row| row.id == id) {
            // Lifted already: that stays true. One that never was is another matter.
            let known = shared.record.look_up(|reader| reader.override_by_id(&id))?;
            return match known {
                Some(_) => Ok(Vec::new()),
                None => Err(unknown(id)),
            };
        }
        let mut draft = Draft::default();
        let fact = Fact::OverrideLifted { override_id: id, reason };
        shared.record.add(&mut draft, StreamName::Node(shared.identity.id), &origin, fact);
        shared.failpoint("override.lifting");
        shared.record.commit(draft.critical()).await.map_err(|error| refused(&error))?;
        shared.failpoint("override.lifted");
        shared.overrides.remove(id)
    };
    let Some(row) = row else { return Ok(Vec::new()) };
    Ok(act(shared, covered(shared, &row), &origin, (None, wait)).await)
}

pub(crate) fn unknown(id: OverrideId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no override {id}"))
        .hint("`edgeplane override list --lifted` shows the overrides there were")
}

/// An override of the record, in force or lifted.
pub(crate) fn find(shared: &Shared, id: OverrideId) -> Result<OverrideRow, RpcError> {
    if let Some(row) = shared.overrides.all().iter().find(|row| row.id == id) {
        return Ok((**row).clone());
    }
    let row = shared.record.look_up(|reader| reader.override_by_id(&id))?.ok_or_else(|| unknown(id))?;
    if row.lifted.is_some() {
        return Ok(row);
    }
    // Its end stands in the reserve, where no reader sees it.
    let lifted = Some(Lift { reason: String::new(), by: row.by.clone(), at: shared.record.now() });
    Ok(OverrideRow { lifted, ..row })
}

/// The agents with a program that an override covers now, by name.
pub(crate) fn covered(shared: &Shared, row: &OverrideRow) -> Vec<AgentHandle> {
    let mut agents = shared.agents();
    agents.retain(|agent| {
        let profile = agent.profile();
        let set = agent.set.and_then(|set| shared.agent_by_id(set)).map(|set| set.name);
        let agent = Covered { name: &agent.name, set: set.as_ref(), labels: &profile.labels };
        profile.replicas.is_none() && covers(&row.scope, &agent)
    });
    agents
}

/// The overrides that cover an agent, newest first.
fn on_agent(shared: &Shared, agent: &AgentHandle) -> Vec<Arc<OverrideRow>> {
    let profile = agent.profile();
    let set = agent.set.and_then(|set| shared.agent_by_id(set)).map(|set| set.name);
    shared.overrides.on(&Covered { name: &agent.name, set: set.as_ref(), labels: &profile.labels })
}

/// Tells agents to look at what holds them, many at a time, and waits until each has come to rest. One that is stuck
/// holds up none of the others.
async fn act(
    shared: &Arc<Shared>,
    agents: Vec<AgentHandle>,
    origin: &Origin,
    (kind, wait): (Option<OverrideKind>, Duration),
) -> Vec<Affected> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut work = JoinSet::new();
    let can_freeze = shared.can_freeze;
    for agent in agents {
        let (shared, places, origin) = (Arc::clone(shared), Arc::clone(&places), origin.clone());
        work.spawn(async move {
            let before = agent.summary.borrow().phase;
            let told = {
                let _place = places.acquire().await;
                let told = agent.ask(|reply| Command::Hold(origin, reply));
                tokio::time::timeout(ANSWER_TIME_MAX, told).await
            };
            let (name, agent_id) = (agent.name.to_string(), agent.id);
            let failed = |error: &RpcError| Affected {
                agent: name.clone(),
                agent_id,
                before,
                after: None,
                error: Some(AffectedError {
                    name: error.name().as_str().to_owned(),
                    message: error.message.clone(),
                }),
            };
            match told {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error)) | Err(error)) => return failed(&error),
                Err(_late) => {
                    let what = "it has not answered yet; it is told, and nothing of it is begun";
                    return failed(&RpcError::new(ErrorName::DeadlineExceeded, what));
                }
            }
            let is_held = !on_agent(&shared, &agent).is_empty();
            // At rest or not: what it says when the time is over is the answer.
            let mut summary = agent.summary.clone();
            let rests = summary.wait_for(|now| is_at_rest(kind, now, (can_freeze, is_held)));
            drop(tokio::time::timeout(wait, rests).await);
            let after = agent.summary.borrow().phase;
            let runs_on = kind == Some(OverrideKind::Pause) && !can_freeze && may_live(after);
            let error = runs_on.then(|| AffectedError {
                name: ErrorName::Unsupported.as_str().to_owned(),
                message:
                    "this machine has no freezer: its processes run on, but it is given no messages and \
                          is not begun again"
                        .to_owned(),
            });
            Affected { agent: name, agent_id, before, after: Some(after), error }
        });
    }
    let mut affected = Vec::new();
    while let Some(done) = work.join_next().await {
        // A task that was cut off with the daemon has nobody to tell.
        affected.extend(done);
    }
    affected.sort_by(|a: &Affected, b: &Affected| a.agent.cmp(&b.agent));
    affected
}

fn may_live(phase: Phase) -> bool {
    match phase {
        Phase::Starting | Phase::Running | Phase::Frozen | Phase::Unobservable | Phase::Stopping => true,
        Phase::Declared
        | Phase::Hibernated
        | Phase::Backoff
        | Phase::Stopped
        | Phase::Failed
        | Phase::Quarantined
        | Phase::Retired => false,
    }
}

fn is_at_rest(kind: Option<OverrideKind>, now: &Summary, (can_freeze, stays): (bool, bool)) -> bool {
    let is_frozen = now.phase == Phase::Frozen;
    match kind {
        Some(OverrideKind::Stop) => !may_live(now.phase),
        Some(OverrideKind::Pause) => !can_freeze || !may_live(now.phase) || is_frozen,
        // Another override holds it still, or it was frozen by hand.
        None if is_frozen => stays || now.desired == Desired::Frozen,
        None => !matches!(now.phase, Phase::Starting | Phase::Stopping),
    }
}

/// Lifts overrides whose time is over, until the daemon ends.
pub(crate) async fn keep(shared: Arc<Shared>) {
    loop {
        let (wait, due) = match shared.overrides.next_expiry() {
            None => (LOOK_AGAIN, None),
            Some((at, id)) => {
                let left = Duration::from_millis(at.millis_since(shared.record.now()));
                (left.min(LOOK_AGAIN), (at <= shared.record.now()).then_some(id))
            }
        };
        let Some(id) = due else {
            tokio::select! {
                () = shared.stopping.cancelled() => return,
                () = shared.overrides.changed.notified() => {}
                () = tokio::time::sleep(wait.max(Duration::from_millis(1))) => {}
            }
            continue;
        };
        let origin = Origin::node(EXPIRY);
        let lifted = lift(&shared, id, "its time is over".to_owned(), origin, Duration::ZERO).await;
        if let Err(error) = lifted {
            tracing::warn!(%id, %error, "an override that has expired cannot be lifted");
            tokio::select! {
                () = shared.stopping.cancelled() => return,
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }
}
