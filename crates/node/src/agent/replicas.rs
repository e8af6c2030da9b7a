//! A set of replicas: one name, several agents that forget, each with one task at a time.
//!
//! The set is an agent without a program: its engine takes the messages to its name, makes each durable once, and hands
//! it to a replica that is free. Whoever has a message is its only writer. One that a replica did not come to write to
//! its program goes back to the set. Which replicas there are follows from the manifest: their declarations are made and
//! taken back by this engine alone, and whatever a daemon leaves undone the next one finds undone.

use std::{collections::HashMap, sync::Arc, time::Duration};

use edgeplane_lifecycle::{self as lifecycle, Input, State};
use edgeplane_manifest::Manifest;
use edgeplane_store::MessageRow;
use edgeplane_types::{
    AgentId, AgentName, Desired, Epoch, ErrorName, Fact, Generation, MessageId, Phase, Rung, SafeLabel,
    StreamName, fact::Cause,
};
use edgeplane_wire::{api::agent::ChangeResult, rpc::RpcError};
use tokio::time::Instant;

use super::{Actor, AgentHandle, AgentIdentity, Birth, Command, LifeRequest};
use crate::{
    record::{Draft, Origin, refused},
    schedule::Declared,
};

/// How long a set leaves what could not be done alone. Word of every change comes at once; this is for word that was
/// lost, because a mailbox was full, and for a record that took nothing.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Messages that a replica gives back in one commit.
const AT_ONCE: usize = 64;

/// What a set knows of its replicas, and a replica of itself in its set.
#[derive(Debug, Default)]
pub(super) struct Replicas {
    /// To whom something was handed last, in which epoch, and what.
    handed: HashMap<AgentId, (Epoch, MessageId)>,
    look_at: Option<Instant>,
    /// Whether this replica goes because there is to be one less.
    pub(super) is_surplus: bool,
    /// Whether the replicas of this set are to be started when they are declared: those that it depends on run.
    is_started: bool,
}

impl Replicas {
    pub(super) fn timer(&self) -> Option<Instant> {
        self.look_at
    }
}

/// What a replica is meant to be: its set under its own name, without what comes to the name of the set.
fn manifest_of(set: &Manifest, index: u32) -> Option<Manifest> {
    let mut manifest = set.clone();
    let name: AgentName = format!("{}-{index}", set.metadata.name).parse().ok()?;
    let principal = manifest.spec.principal.take();
    manifest.spec.principal = principal.or_else(|| Some(SafeLabel::from(&set.metadata.name)));
    manifest.metadata.name = name;
    manifest.spec.replicas = None;
    manifest.spec.schedules.clear();
    manifest.spec.subscriptions.clear();
    manifest.spec.depends_on.clear();
    Some(manifest)
}

/// The number in a replica's name.
fn index_of(name: &AgentName) -> u32 {
    name.as_str().rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

fn phase_of(agent: &AgentHandle) -> Phase {
    agent.summary.borrow().phase
}

impl Actor {
    /// Whether it is a set of replicas and has no program itself.
    pub(super) fn is_set(&self) -> bool {
        self.manifest.spec.set_of().is_some()
    }

    /// Its replicas that are not retired, in order.
    pub(super) fn members(&self) -> Vec<AgentHandle> {
        self.shared.replicas_of(self.identity.id)
    }

    fn wanted(&self) -> u32 {
        if self.life.desired() == Desired::Retired { 0 } else { self.manifest.spec.set_of().unwrap_or(0) }
    }

    /// The phase of a set: that of the replica that is furthest.
    pub(super) fn phase_of_set(&self) -> Phase {
        let own = self.life.state().phase();
        let phases: Vec<Phase> = self.members().iter().map(phase_of).collect();
        let order = [
            Phase::Running,
            Phase::Starting,
            Phase::Backoff,
            Phase::Frozen,
            Phase::Hibernated,
            Phase::Unobservable,
            Phase::Stopping,
            Phase::Quarantined,
            Phase::Failed,
            Phase::Stopped,
        ];
        let found = order.into_iter().find(|phase| phases.contains(phase));
        if own == Phase::Retired { own } else { found.unwrap_or(own) }
    }

    /// Whether it is a replica that could begin a task now.
    pub(super) fn is_free(&self) -> bool {
        if self.identity.set.is_none() || self.hold_now().is_some() {
            return false;
        }
        let id = self.identity.id;
        let is_up = match self.life.state() {
            State::Running(_) => {
                let linked = self.live.as_ref().is_some_and(|live| live.link.is_some());
                let wanted = self.life.desired() == Desired::Running;
                linked && wanted && self.session_takes_messages() && !self.has_begun_a_task()
            }
            // What it is handed wakes it.
            State::Hibernated(_) => self.life.desired() == Desired::Hibernated,
            _ => false,
        };
        is_up && self.shared.record.look_up(|reader| reader.waiting_count(&id)).is_ok_and(|count| count == 0)
    }

    /// Tells the set of a replica that something changed.
    pub(super) fn tell_set(&self) {
        if let Some(set) = self.identity.set.and_then(|set| self.shared.agent_by_id(set)) {
            // A set whose mailbox is full looks again by itself.
            set.tell(Command::Balance);
        }
    }

    /// Begins with what the record says of the set, or of what a replica had.
    pub(super) async fn take_up_replicas(&mut self) {
        if self.identity.set.is_some() {
            let may_take = matches!(self.life.state(), State::Running(_) | State::Unobservable { .. });
            if !may_take && !matches!(self.life.state(), State::Hibernated(_)) {
                self.give_back("it does not run").await;
            }
        }
        if self.is_set() {
            self.settle_members().await;
        }
    }

    pub(super) async fn replicas_due(&mut self, now: Instant) {
        if self.replicas.look_at.is_some_and(|at| at <= now) {
            self.replicas.look_at = None;
            for member in self.members() {
                // Its mailbox may have been full when it was told.
                member.tell(Command::Balance);
            }
            self.balance_again().await;
        }
    }

    /// A replica was handed something, or the set heard of a change.
    pub(super) async fn balance_again(&mut self) {
        if self.is_set() {
            self.reconcile().await;
            return self.balance().await;
        }
        if self.identity.set.is_some() {
            let can_take = matches!(
                self.life.state(),
                State::Running(_)
                    | State::Starting(_)
                    | State::Hibernated(_)
                    | State::Stopping { .. }
                    | State::Unobservable { .. }
            );
            if !can_take {
                return self.give_back("it does not run").await;
            }
            self.arm_expiry();
            self.pump().await;
        }
    }

    /// Hands what waits for the set to replicas that are free.
    pub(super) async fn balance(&mut self) {
        let (id, lightest) = (self.identity.id, self.lightest());
        self.replicas.look_at = None;
        loop {
            let next = self.shared.record.look_up(|reader| reader.next_deliverable(&id, lightest, 1));
            let Some(row) = next.ok().and_then(|rows| rows.into_iter().next()) else { return };
            if row.expires_at.is_some_and(|at| at <= self.shared.record.now()) {
                return self.expire().await;
            }
            let Some((member, epoch)) = self.free_member() else {
                return self.look_again();
            };
            if !self.hand(&row, &member, epoch).await {
                return self.look_again();
            }
        }
    }

    fn look_again(&mut self) {
        self.replicas.look_at = Some(Instant::now() + LOOK_AGAIN);
    }

    /// A replica that is free and stays one: first one that runs.
    fn free_member(&self) -> Option<(AgentHandle, Epoch)> {
        let wanted = self.wanted();
        let free = self.members().into_iter().filter_map(|member| {
            let (is_free, epoch, phase) = {
                let summary = member.summary.borrow();
                (summary.is_free, summary.epoch, summary.phase)
            };
            let is_meant = is_free && index_of(&member.name) <= wanted;
            (is_meant && !self.is_taken(&member, epoch)).then_some((phase != Phase::Running, member, epoch))
        });
        let free = free.min_by_key(|(is_asleep, ..)| *is_asleep);
        free.map(|(_, member, epoch)| (member, epoch))
    }

    /// Whether a replica has something from this set that it may not have said yet: what it says of itself is older than
    /// what the record says of the message.
    fn is_taken(&self, member: &AgentHandle, epoch: Epoch) -> bool {
        let Some((of, message_id)) = self.replicas.handed.get(&member.id).filter(|(of, _)| *of == epoch)
        else {
            return false;
        };
        let row = self.shared.record.look_up(|reader| reader.message(message_id)).ok().flatten();
        let Some(row) = row.filter(|row| row.envelope.target == member.id) else { return false };
        let was_given = |row: &MessageRow| row.receipts.iter().any(|receipt| receipt.rung == Rung::Injected);
        // One that rests takes it in the epoch that the message begins.
        row.waiting || (was_given(&row) && row.epoch >= Some(*of))
    }

    async fn hand(&mut self, row: &MessageRow, member: &AgentHandle, epoch: Epoch) -> bool {
        let message_id = row.envelope.id;
        let mut draft = Draft::default();
        let fact = Fact::MessageAssigned { message_id, member: member.id };
        self.shared.record.add(&mut draft, self.stream(), &Origin::node("balance"), fact);
        self.shared.failpoint("assign.before");
        if self.shared.record.commit(draft).await.is_err() {
            return false;
        }
        self.shared.failpoint("assign.after");
        self.replicas.handed.insert(member.id, (epoch, message_id));
        if !member.tell(Command::Balance) {
            self.look_again();
        }
        true
    }

    /// Gives what this replica was handed and did not begin to write back to its set.
    pub(super) async fn give_back(&mut self, why: &str) {
        let Some(set) = self.identity.set else { return };
        let id = self.identity.id;
        loop {
            let rows = self.shared.record.look_up(|reader| reader.next_waiting(&id, AT_ONCE));
            let mut rows = rows.unwrap_or_default();
            rows.retain(|row| row.addressed == set && !self.delivery.is_in_flight(row.envelope.id));
            if rows.is_empty() {
                return;
            }
            let mut draft = Draft::default();
            for row in &rows {
                let (message_id, reason) = (row.envelope.id, why.to_owned());
                let fact = Fact::MessageReturned { message_id, set, reason };
                self.shared.record.add(&mut draft, self.stream(), &Origin::node("balance"), fact);
            }
            self.shared.failpoint("return.before");
            if let Err(error) = self.shared.record.commit(draft).await {
                let error = crate::record::chain(&error);
                tracing::warn!(agent = %self.identity.name, error, "what it has not begun stays with it");
                return;
            }
            self.shared.failpoint("return.after");
            self.tell_set();
        }
    }

    /// Says why somebody cannot do this to a replica by itself.
    pub(super) fn check_member(&self, request: &LifeRequest) -> Result<(), RpcError> {
        match (self.identity.set, request.input) {
            (Some(set), Input::Retire) if request.by_set.is_none() => {
                let name =
                    self.shared.agent_by_id(set).map_or_else(|| set.to_string(), |of| of.name.to_string());
                let what = format!("agent `{}` is a replica of `{name}`", self.identity.name);
                Err(RpcError::new(ErrorName::InvalidState, what)
                    .hint(format!("apply `{name}` with fewer `replicas`, or retire `{name}`")))
            }
            _ => Ok(()),
        }
    }

    /// What somebody asks of a set is asked of its replicas, and of those to come.
    pub(super) async fn set_request(
        &mut self,
        request: LifeRequest,
        origin: Origin,
    ) -> Result<ChangeResult, RpcError> {
        if self.life.desired() == Desired::Retired && request.input != Input::Retire {
            let what = format!("agent `{}` is being retired", self.identity.name);
            return Err(RpcError::new(ErrorName::InvalidState, what));
        }
        match request.input {
            Input::Start(cause) | Input::Restart(cause) => {
                let by_hand = cause == Cause::Request;
                if !by_hand && self.life.desired() == Desired::Stopped {
                    let what = format!("agent `{}` is meant to be stopped", self.identity.name);
                    return Err(RpcError::new(ErrorName::InvalidState, what));
                }
                self.set_desire(Desired::Running, &request, &origin).await?;
                self.replicas.is_started = true;
                self.reconcile().await;
                if by_hand {
                    self.forward(&request, &origin).await?;
                } else {
                    // Those that ran before find by themselves what is left of them.
                    for member in self.members().iter().filter(|of| phase_of(of) == Phase::Declared) {
                        self.ask_later(member, LifeRequest::new(Input::Start(cause), None));
                    }
                }
            }
            Input::Stop(_) => {
                self.set_desire(Desired::Stopped, &request, &origin).await?;
                self.forward(&request, &origin).await?;
            }
            Input::Retire => {
                self.plan_removal(&request, &origin).await?;
                self.set_desire(Desired::Retired, &request, &origin).await?;
                self.reconcile().await;
            }
            _ => self.forward(&request, &origin).await?,
        }
        self.publish();
        Ok(ChangeResult { phase: self.phase_of_set(), ..self.change_result() })
    }

    async fn set_desire(
        &mut self,
        desired: Desired,
        request: &LifeRequest,
        origin: &Origin,
    ) -> Result<(), RpcError> {
        if self.life.desired() == desired {
            return Ok(());
        }
        let generation = self.generation.next();
        let mut draft = Draft::default();
        let fact = Fact::AgentDesired { desired, generation, reason: request.reason.clone() };
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        if desired == Desired::Retired {
            self.draft_removal(&mut draft, origin);
        }
        self.shared.record.commit(draft.critical()).await.map_err(|error| refused(&error))?;
        self.generation = generation;
        // A set has no epochs: it is what the record would bring up again.
        let policy = super::policy(&self.manifest);
        self.life = lifecycle::Agent::recovered(Phase::Declared, Epoch(0), desired, policy);
        Ok(())
    }

    /// Asks the same of every replica; fails with the first failure if none could do it.
    async fn forward(&self, request: &LifeRequest, origin: &Origin) -> Result<(), RpcError> {
        let (mut done, mut failure) = (0_usize, None);
        for member in self.members() {
            let (request, origin) = (request.clone(), origin.clone());
            match member.ask(|reply| Command::Life(request, origin, reply)).await {
                Ok(Ok(_)) => done = done.saturating_add(1),
                Ok(Err(error)) | Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) if done == 0 => Err(error),
            _ => Ok(()),
        }
    }

    /// Brings the replicas to what the manifest says of them.
    pub(super) async fn settle_members(&mut self) {
        for member in self.members() {
            let Some(wanted) = manifest_of(&self.manifest, index_of(&member.name)) else { continue };
            let Ok((current, _)) = member.ask(Command::Manifest).await else { continue };
            if *current == wanted {
                continue;
            }
            let (declared, origin) = (Declared::manifest(Arc::new(wanted)), Origin::node("replicas"));
            let updated = member.ask(|reply| Command::Update(declared, origin, reply)).await;
            if let Ok(Err(error)) | Err(error) = updated {
                tracing::warn!(agent = %member.name, %error, "a replica has not the manifest of its set");
                self.look_again();
                continue;
            }
            // One with a task takes it up with its next epoch; one that waits for a task loses nothing now.
            if member.summary.borrow().is_free && phase_of(&member) == Phase::Running {
                let request = LifeRequest::new(Input::Restart(Cause::Update), None);
                let origin = Origin::node("replicas");
                drop(member.ask(|reply| Command::Life(request, origin, reply)).await);
            }
        }
        self.reconcile().await;
    }

    /// Declares the replicas that are missing and lets those go that are too many, each when it has nothing to do.
    async fn reconcile(&mut self) {
        let (wanted, members) = (self.wanted(), self.members());
        for member in &members {
            let is_surplus = index_of(&member.name) > wanted;
            let retires = self.life.desired() == Desired::Retired;
            let summary = member.summary.borrow().clone();
            if summary.desired == Desired::Retired {
                continue;
            }
            if retires || (is_surplus && self.is_drained(member, &summary)) {
                let (by, reason) = match retires {
                    true => (BySet::Retired { with_belongings: self.removes }, "its set is retired"),
                    false => (BySet::Surplus, "its set has fewer replicas"),
                };
                let request = LifeRequest::new(Input::Retire, Some(reason.to_owned()));
                self.ask_later(member, LifeRequest { by_set: Some(by), ..request });
            } else if self.life.desired() == Desired::Stopped && summary.desired == Desired::Running {
                self.ask_later(member, LifeRequest::new(Input::Stop(Cause::Request), None));
            }
        }
        let missing: Vec<u32> = (1..=wanted)
            .filter(|index| !members.iter().any(|member| index_of(&member.name) == *index))
            .collect();
        if !missing.is_empty()
            && let Err(error) = self.declare_members(&missing).await
        {
            tracing::warn!(agent = %self.identity.name, %error, "replicas of it cannot be declared");
            self.reason = Some(error.message);
            self.look_again();
        }
        if self.life.desired() == Desired::Retired && self.members().is_empty() {
            let (why, origin) = ("its replicas are gone", Origin::node("replicas"));
            Box::pin(self.input_because(Input::Retire, &origin, why)).await;
        }
    }

    /// Whether a replica has nothing to do, and nothing of its set.
    fn is_drained(&self, member: &AgentHandle, summary: &super::Summary) -> bool {
        use Phase::{Backoff, Declared, Failed, Hibernated, Stopped};
        let rests = matches!(summary.phase, Backoff | Declared | Failed | Hibernated | Stopped);
        let waits = self.shared.record.look_up(|reader| reader.waiting_count(&member.id));
        (summary.is_free || rests)
            && waits.is_ok_and(|count| count == 0)
            && !self.is_taken(member, summary.epoch)
    }

    fn ask_later(&mut self, member: &AgentHandle, request: LifeRequest) {
        let (reply, _unread) = tokio::sync::oneshot::channel();
        if !member.tell(Command::Life(request, Origin::node("replicas"), reply)) {
            self.look_again();
        }
    }

    /// Makes replicas durable in one step, then brings up their engines.
    async fn declare_members(&mut self, indexes: &[u32]) -> Result<(), RpcError> {
        let shared = Arc::clone(&self.shared);
        let desired = match self.life.desired() {
            Desired::Running => Desired::Running,
            _ => Desired::Stopped,
        };
        let mut draft = Draft::default();
        let mut births = Vec::with_capacity(indexes.len());
        for index in indexes {
            let Some(manifest) = manifest_of(&self.manifest, *index) else { continue };
            let identity = AgentIdentity {
                id: shared.record.mint().id(),
                name: manifest.metadata.name.clone(),
                tenant: self.identity.tenant.clone(),
                session_id: shared.record.mint().id(),
                declared_at: shared.record.now(),
                set: Some(self.identity.id),
                parent: None,
            };
            let (manifest_digest, _) = draft.body(manifest.canonical_text().into_bytes());
            let fact = identity.declared(manifest_digest, desired);
            let stream = StreamName::Agent(identity.id);
            shared.record.add(&mut draft, stream, &Origin::node("replicas"), fact);
            let life = lifecycle::Agent::declared(desired, super::policy(&manifest));
            let manifest = Arc::new(manifest);
            births.push(Birth { identity, manifest, generation: Generation(1), life, left: None });
        }
        shared.failpoint("replicas.before");
        shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        shared.failpoint("replicas.after");
        for birth in births {
            let tenant = birth.identity.tenant.clone();
            let handle = super::start(&shared, birth);
            shared.register(tenant, handle.clone());
            if desired == Desired::Running && self.replicas.is_started {
                self.ask_later(&handle, LifeRequest::new(Input::Start(Cause::Manifest), None));
            }
        }
        Ok(())
    }
}

/// Why a set lets a replica go. Nobody else can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BySet {
    /// There is to be one less.
    Surplus,
    /// The whole set goes.
    Retired {
        /// With all that its replicas own.
        with_belongings: bool,
    },
}
