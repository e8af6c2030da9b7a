//! Locks on paths of workspaces: who may change what, when a lock is over, and in which order those who wait come.
//!
//! Which locks there are stands in the record, so that they outlive the daemon. Who waits is known here only: whoever
//! asked over a connection that is gone waits no more.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use edgeplane_store::LockRow;
use edgeplane_types::{
    AgentId, Epoch, ErrorName, Fact, LockEnd, SafeLabel, StreamName, Timestamp, WorkspaceId,
    fact::{Actor, LockAcquired, LockRefused, LockReleased, LockWaiting},
};
use edgeplane_wire::{api::workspace::LOCKS_MAX, rpc::RpcError};
use edgeplane_workspace::InnerPath;
use tokio::{
    sync::{Notify, futures::Notified},
    time::Instant,
};

use super::{Doing, bindings, commit, queue, suspend::may_work};
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// A lock that somebody wants.
#[derive(Debug)]
pub(crate) struct WantedLock {
    pub(crate) workspace: WorkspaceId,
    pub(crate) paths: Vec<InnerPath>,
    pub(crate) is_shared: bool,
    /// The lock that is to be had for longer.
    pub(crate) token: Option<u64>,
    pub(crate) ttl_ms: u64,
    pub(crate) wait: Duration,
    /// The caller's, if it is an agent.
    pub(crate) epoch: Option<Epoch>,
    /// The number of the caller's binding.
    pub(crate) binding: Option<u64>,
}

/// Those who wait for locks.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    queues: Mutex<Queues>,
    /// Something ended for which somebody may wait.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Queues {
    last_ticket: u64,
    of: HashMap<WorkspaceId, Vec<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    paths: Vec<InnerPath>,
    is_shared: bool,
    who: Actor,
}

impl Waiters {
    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next time that those who wait look again.
    pub(super) fn next_look(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Has those who wait look again.
    pub(super) fn look_again(&self) {
        self.changed.notify_waiters();
    }
}

/// A place among those who wait; given up on drop. Whoever leaves it without a lock is recorded as refused.
struct Place {
    shared: Arc<Shared>,
    workspace: WorkspaceId,
    ticket: u64,
    origin: Origin,
    refused: Option<LockRefused>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let waiters = &self.shared.workspaces.waiters;
        let mut queues = waiters.queues();
        if let Some(queue) = queues.of.get_mut(&self.workspace) {
            queue.retain(|waiter| waiter.ticket != self.ticket);
            if queue.is_empty() {
                queues.of.remove(&self.workspace);
            }
        }
        drop(queues);
        waiters.look_again();
        if let Some(refused) = self.refused.take() {
            let mut draft = Draft::default();
            let stream = StreamName::Workspace(self.workspace);
            self.shared.record.add(&mut draft, stream, &self.origin, Fact::LockRefused(refused));
            // Nobody waits for it any more.
            drop(self.shared.record.submit(draft));
        }
    }
}

/// What is in the way of a lock.
#[derive(Debug, Clone)]
struct Held {
    who: Actor,
    token: Option<u64>,
    epoch: Option<Epoch>,
    /// When it ends by itself.
    expires_at: Option<Timestamp>,
}

impl Held {
    fn by(row: &LockRow) -> Self {
        Self {
            who: row.by.clone(),
            token: Some(row.acquired.token),
            epoch: row.acquired.epoch,
            expires_at: Some(row.acquired.expires_at),
        }
    }

    fn refused(&self, paths: &[InnerPath]) -> LockRefused {
        let (holder, agent_id) = named(&self.who);
        LockRefused { paths: texts(paths), holder, agent_id, token: self.token, cut: false }
    }

    fn error(&self, paths: &[InnerPath], now: Timestamp) -> RpcError {
        let (holder, _) = named(&self.who);
        let what = texts(paths).join("`, `");
        let error = |how: &str| RpcError::new(ErrorName::Locked, format!("`{what}` {how} `{holder}`"));
        match (self.token, self.expires_at) {
            (Some(token), Some(at)) => error(&format!("is locked until {at} under token {token} by"))
                .retry_after(at.millis_since(now).max(1))
                .hint("`edgeplane workspace locks` shows who holds what"),
            _ => error("is waited for or worked on by").hint("try again"),
        }
    }
}

/// How somebody is called, and which agent it is.
fn named(who: &Actor) -> (SafeLabel, Option<AgentId>) {
    let agent = match who {
        Actor::Agent { agent_id, .. } => Some(*agent_id),
        _ => None,
    };
    (who.name().clone(), agent)
}

fn texts(paths: &[InnerPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn overlap(some: &[InnerPath], others: &[InnerPath]) -> bool {
    some.iter().any(|one| others.iter().any(|other| one.is_in(other) || other.is_in(one)))
}

fn paths_of(row: &LockRow) -> Vec<InnerPath> {
    // What the record holds was a path; what is none any more locks everything.
    row.acquired
        .paths
        .iter()
        .map(|text| InnerPath::parse(text).unwrap_or_else(|_bad| InnerPath::root()))
        .collect()
}

/// Why a lock of which no end is recorded is over all the same.
fn over(shared: &Shared, row: &LockRow) -> Option<LockEnd> {
    if row.acquired.expires_at <= shared.record.now() {
        return Some(LockEnd::Expired);
    }
    let (Actor::Agent { agent_id, .. }, Some(epoch)) = (&row.by, row.acquired.epoch) else { return None };
    let lives = shared.agent_by_id(*agent_id).is_some_and(|handle| {
        let summary = handle.summary.borrow();
        summary.epoch == epoch && may_work(summary.phase)
    });
    (!lives).then_some(LockEnd::EpochEnded)
}

/// The locks that hold; the ends of the others come into the draft.
fn live(
    shared: &Shared,
    workspace: WorkspaceId,
    (draft, origin): (&mut Draft, &Origin),
) -> Result<Vec<LockRow>, RpcError> {
    let mut rows = shared.record.look_up(|reader| reader.open_locks(&workspace))?;
    rows.retain(|row| match over(shared, row) {
        None => true,
        Some(reason) => {
            let released = Fact::LockReleased(LockReleased { token: row.acquired.token, reason });
            shared.record.add(draft, StreamName::Workspace(workspace), origin, released);
            false
        }
    });
    Ok(rows)
}

/// The locks of a workspace that hold.
pub(crate) fn held(shared: &Shared, workspace: WorkspaceId) -> Result<Vec<LockRow>, RpcError> {
    live(shared, workspace, (&mut Draft::default(), &Origin::node("workspaces")))
}

fn fenced(token: u64, why: &str) -> RpcError {
    RpcError::new(ErrorName::Fenced, format!("the lock with token {token} {why}"))
        .hint("acquire it again, and look at what was changed meanwhile")
}

/// A lock that somebody says they hold, if they do.
fn own(shared: &Shared, workspace: WorkspaceId, token: u64, who: &Actor) -> Result<LockRow, RpcError> {
    let row = shared.record.look_up(|reader| reader.lock(&workspace, token))?;
    let row = row.ok_or_else(|| fenced(token, "was never held"))?;
    match over(shared, &row) {
        _ if row.by != *who => Err(fenced(token, "is somebody else's")),
        _ if !row.is_open => Err(fenced(token, "was given back or taken")),
        Some(LockEnd::EpochEnded) => Err(fenced(token, "ended with its epoch")),
        Some(_) => Err(fenced(token, "is over by its time")),
        None => Ok(row),
    }
}

/// Refuses a change of paths that somebody else has locked, and one under a lock that is over. In the turn of the
/// workspace, on a thread that may block.
pub(crate) fn permits(
    shared: &Shared,
    workspace: WorkspaceId,
    (paths, token): (&[InnerPath], Option<u64>),
    origin: &Origin,
) -> Result<(), RpcError> {
    let own = token.map(|token| own(shared, workspace, token, &origin.actor)).transpose()?;
    let is_own = |row: &LockRow| {
        own.as_ref().is_some_and(|own| !own.acquired.shared && own.acquired.token == row.acquired.token)
    };
    let rows = held(shared, workspace)?;
    let in_the_way = rows.iter().find(|row| !is_own(row) && overlap(&paths_of(row), paths));
    let Some(row) = in_the_way else { return Ok(()) };
    let held = Held::by(row);
    let mut draft = Draft::default();
    let fact = Fact::LockRefused(held.refused(paths));
    shared.record.add(&mut draft, StreamName::Workspace(workspace), origin, fact);
    commit(shared, draft)?;
    Err(held.error(paths, shared.record.now()))
}

/// What came of trying to take a lock.
enum Attempt {
    Acquired(Box<LockRow>),
    Held(Held),
}

/// Takes a lock, in the order of those who wait for one that would be in the way.
pub(crate) async fn acquire(
    shared: &Arc<Shared>,
    wanted: WantedLock,
    origin: Origin,
) -> Result<LockRow, RpcError> {
    let until = Instant::now() + wanted.wait;
    let mut place: Option<Place> = None;
    loop {
        // From here on no change is missed.
        let changed = shared.workspaces.waiters.next_look();
        tokio::pin!(changed);
        changed.as_mut().enable();
        let held = match attempt(shared, &wanted, place.as_ref().map(|place| place.ticket), &origin).await? {
            Attempt::Acquired(row) => {
                if let Some(place) = &mut place {
                    place.refused = None;
                }
                return Ok(*row);
            }
            Attempt::Held(held) => held,
        };
        let now = shared.record.now();
        if Instant::now() >= until {
            if place.is_none() {
                let fact = Fact::LockRefused(held.refused(&wanted.paths));
                add(shared, wanted.workspace, &origin, vec![fact]).await?;
            }
            return Err(held.error(&wanted.paths, now));
        }
        let mine = match &mut place {
            Some(mine) => mine,
            None => place.insert(line_up(shared, &wanted, &held, &origin).await?),
        };
        mine.refused = Some(held.refused(&wanted.paths));
        let left = held.expires_at.map(|at| Duration::from_millis(at.millis_since(now).max(1)));
        let wake = left.map_or(until, |left| until.min(Instant::now() + left));
        // Whatever of these wins, everything is looked at again.
        tokio::select! {
            () = shared.stopping.cancelled() => {
                return Err(RpcError::new(ErrorName::Unavailable, "the node stops"));
            }
            () = tokio::time::sleep_until(wake) => {}
            () = &mut changed => {}
            () = epoch_over(shared, &held) => {}
        }
    }
}

/// Until the epoch of whoever is in the way is over; for ever if there is none.
async fn epoch_over(shared: &Shared, held: &Held) {
    if let (Actor::Agent { agent_id, .. }, Some(epoch)) = (&held.who, held.epoch)
        && let Some(handle) = shared.agent_by_id(*agent_id)
    {
        let mut summary = handle.summary.clone();
        let ended = summary.wait_for(|summary| summary.epoch != epoch || !may_work(summary.phase)).await;
        // An engine that is gone says nothing more.
        if ended.is_ok() {
            return;
        }
    }
    std::future::pending().await
}

async fn line_up(
    shared: &Arc<Shared>,
    wanted: &WantedLock,
    held: &Held,
    origin: &Origin,
) -> Result<Place, RpcError> {
    let ticket = {
        let mut queues = shared.workspaces.waiters.queues();
        queues.last_ticket = queues.last_ticket.saturating_add(1);
        let ticket = queues.last_ticket;
        let queue = queues.of.entry(wanted.workspace).or_default();
        if queue.len() >= LOCKS_MAX {
            let what = format!("{LOCKS_MAX} wait for locks of workspace {} already", wanted.workspace);
            return Err(RpcError::new(ErrorName::QuotaExhausted, what));
        }
        let (paths, who) = (wanted.paths.clone(), origin.actor.clone());
        queue.push(Waiter { ticket, paths, is_shared: wanted.is_shared, who });
        ticket
    };
    let place = Place {
        shared: Arc::clone(shared),
        workspace: wanted.workspace,
        ticket,
        origin: origin.clone(),
        refused: None,
    };
    let (holder, agent_id) = named(&held.who);
    let waiting = LockWaiting { paths: texts(&wanted.paths), holder, agent_id, token: held.token };
    add(shared, wanted.workspace, origin, vec![Fact::LockWaiting(waiting)]).await?;
    Ok(place)
}

async fn add(shared: &Shared, id: WorkspaceId, origin: &Origin, facts: Vec<Fact>) -> Result<(), RpcError> {
    let mut draft = Draft::default();
    for fact in facts {
        shared.record.add(&mut draft, StreamName::Workspace(id), origin, fact);
    }
    shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
}

/// Takes a lock if nothing is in its way: no lock, nobody who came before, nothing that is done with all of the workspace.
async fn attempt(
    shared: &Arc<Shared>,
    wanted: &WantedLock,
    ticket: Option<u64>,
    origin: &Origin,
) -> Result<Attempt, RpcError> {
    let id = wanted.workspace;
    let _turn = queue(shared, id).lock_owned().await;
    let row = shared.record.look_up(|reader| reader.workspace(&id))?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no workspace {id}")))?;
    let doing = if wanted.is_shared { Doing::Looking } else { Doing::Changing };
    bindings::permits(shared, &row, (wanted.binding, doing), &origin.actor)?;
    let mut draft = Draft::default();
    let rows = live(shared, id, (&mut draft, &Origin::node("workspaces")))?;
    let token = match wanted.token {
        Some(token) => own(shared, id, token, &origin.actor)?.acquired.token,
        None => {
            if let Some(held) = in_the_way(shared, wanted, &rows, ticket) {
                return Ok(Attempt::Held(held));
            }
            if rows.len() >= LOCKS_MAX {
                let what = format!("workspace {id} has {LOCKS_MAX} locks already");
                return Err(RpcError::new(ErrorName::QuotaExhausted, what));
            }
            row.last_token.saturating_add(1)
        }
    };
    let (paths, is_shared) = match rows.iter().find(|row| row.acquired.token == token) {
        Some(row) => (row.acquired.paths.clone(), row.acquired.shared),
        None => (texts(&wanted.paths), wanted.is_shared),
    };
    let expires_at = shared.record.now().plus_millis(wanted.ttl_ms);
    let acquired = LockAcquired { token, paths, shared: is_shared, epoch: wanted.epoch, expires_at };
    shared.record.add(&mut draft, StreamName::Workspace(id), origin, Fact::LockAcquired(acquired));
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    let row = shared.record.look_up(|reader| reader.lock(&id, token))?;
    let row =
        row.ok_or_else(|| RpcError::new(ErrorName::Internal, "a lock is gone as soon as it is taken"))?;
    Ok(Attempt::Acquired(Box::new(row)))
}

fn in_the_way(shared: &Shared, wanted: &WantedLock, rows: &[LockRow], ticket: Option<u64>) -> Option<Held> {
    let meets = |paths: &[InnerPath], is_shared: bool| {
        !(is_shared && wanted.is_shared) && overlap(paths, &wanted.paths)
    };
    if let Some(row) = rows.iter().find(|row| meets(&paths_of(row), row.acquired.shared)) {
        return Some(Held::by(row));
    }
    let nobody = |who: Actor| Held { who, token: None, epoch: None, expires_at: None };
    let queues = shared.workspaces.waiters.queues();
    let before = queues.of.get(&wanted.workspace).into_iter().flatten();
    let mut before = before.take_while(|waiter| Some(waiter.ticket) != ticket);
    if let Some(first) = before.find(|waiter| meets(&waiter.paths, waiter.is_shared)) {
        return Some(nobody(first.who.clone()));
    }
    drop(queues);
    super::is_busy(shared, wanted.workspace).then(|| nobody(Origin::node("workspaces").actor))
}

/// Gives a lock back, or takes it from whoever holds it.
pub(crate) async fn release(
    shared: &Arc<Shared>,
    (workspace, token): (WorkspaceId, u64),
    takes: bool,
    origin: Origin,
) -> Result<LockRow, RpcError> {
    let turn = queue(shared, workspace).lock_owned().await;
    let row = shared.record.look_up(|reader| reader.lock(&workspace, token))?;
    let row = row.ok_or_else(|| {
        RpcError::new(
            ErrorName::NotFound,
            format!("workspace {workspace} never had a lock with token {token}"),
        )
    })?;
    let is_own = row.by == origin.actor;
    if !is_own && !takes {
        let what = format!("the lock with token {token} is held by `{}`: rule lock-holder", named(&row.by).0);
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    }
    if !row.is_open {
        return Err(fenced(token, "is given back or taken already"));
    }
    let reason = over(shared, &row).unwrap_or(if is_own { LockEnd::Released } else { LockEnd::Taken });
    add(shared, workspace, &origin, vec![Fact::LockReleased(LockReleased { token, reason })]).await?;
    drop(turn);
    shared.workspaces.waiters.look_again();
    Ok(row)
}

/// Ends the waits that a former daemon left in the middle, in the requests to which they belong.
pub(super) async fn take_up(shared: &Shared) -> Result<(), RpcError> {
    for event in shared.record.read(edgeplane_store::Reader::open_lock_waits).await? {
        let (Fact::LockWaiting(waiting), StreamName::Workspace(id)) = (event.fact, event.stream) else {
            continue;
        };
        let LockWaiting { paths, holder, agent_id, token } = waiting;
        let refused = LockRefused { paths, holder, agent_id, token, cut: true };
        let node = Origin::node("workspaces");
        let origin =
            Origin { cause: Some(event.id), trace: event.trace.map(|trace| Arc::new(*trace)), ..node };
        add(shared, id, &origin, vec![Fact::LockRefused(refused)]).await?;
    }
    Ok(())
}
