//! An agent's schedules: looked at when they are due, and every occurrence accounted for in the agent's own stream.
//!
//! What runs becomes durable together with its message, so that no crash lets an occurrence run twice or vanish. What
//! is to happen the lifecycle decides; what the message is to its agent, the inbox.

use std::{collections::BTreeMap, time::Duration};

use edgeplane_lifecycle::schedule::{Input, Look, Output, Schedule, State, Step, step};
use edgeplane_manifest::ScheduleBody;
use edgeplane_store::ScheduleRow;
use edgeplane_types::{
    AgentName, Desired, ErrorName, Fact, Ingress, MessageId, Part, Rung, Tenant, Timestamp,
    schedule::{RunCause, SkipReason},
};
use edgeplane_wire::{api::agent::Change, rpc::RpcError};
use tokio::time::Instant;

use super::Actor;
use crate::{
    admission::{self, Saying},
    caller::{Caller, Living as _},
    record::{Draft, Origin, refused},
    schedule::{self, Changed, Declared, Declaring, InForce},
};

/// How long it takes at most until the clock is looked at again: it may be set meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How long schedules are left alone when the record took nothing.
const RECORD_RETRY: Duration = Duration::from_secs(1);

/// The schedules in force.
#[derive(Debug, Default)]
pub(super) struct Schedules {
    all: BTreeMap<AgentName, Entry>,
    look_at: Option<Instant>,
}

#[derive(Debug)]
struct Entry {
    body: ScheduleBody,
    digest: String,
    in_manifest: bool,
    schedule: Schedule,
    state: State,
    /// When it is to be looked at; never again, if absent.
    wake: Option<Timestamp>,
    last_message: Option<MessageId>,
}

/// What somebody asks of a schedule.
#[derive(Debug, Clone)]
pub(crate) struct ScheduleRequest {
    pub(crate) name: AgentName,
    pub(crate) verb: ScheduleVerb,
}

/// What is to be done with a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScheduleVerb {
    Run,
    Pause,
    Resume,
    Remove,
}

impl Schedules {
    pub(super) fn timer(&self) -> Option<Instant> {
        self.look_at
    }
}

impl Actor {
    /// Takes up what the record says is in force.
    pub(super) fn take_up_schedules(&mut self) {
        let id = self.identity.id;
        match self.shared.record.look_up(|reader| reader.schedules_of(&id)) {
            Ok(rows) => rows.iter().for_each(|row| self.take_up(row, false)),
            Err(error) => {
                tracing::error!(agent = %self.identity.name, %error, "its schedules cannot be read");
            }
        }
        self.arm_schedules(Duration::ZERO);
    }

    /// Takes up one schedule as the record has it; a new one was declared while this daemon serves.
    fn take_up(&mut self, row: &ScheduleRow, is_new: bool) {
        let id = self.identity.id;
        let body = self.shared.record.look_up(|reader| Ok(schedule::body(reader, row)));
        let entry = body.map_err(|error| error.message).flatten().and_then(|body| {
            let compiled = schedule::compile(id, &row.name, &body, row.declared_at);
            let compiled = compiled.map_err(|error| error.to_string())?;
            let state = schedule::state(row, is_new.then_some(&compiled)).ok_or("it is not in force")?;
            let due_at = compiled.due_after(state.accounted_until());
            Ok(Entry {
                body,
                digest: row.spec_digest.clone(),
                in_manifest: row.in_manifest,
                wake: due_at.map(|due_at| compiled.fire_at(due_at)),
                schedule: compiled,
                state,
                last_message: row.last_message,
            })
        });
        match entry {
            Ok(entry) => drop(self.schedules.all.insert(row.name.clone(), entry)),
            Err(why) => {
                tracing::error!(agent = %self.identity.name, schedule = %row.name, why, "cannot be taken up");
            }
        }
    }

    /// Sets the timer for the schedule that is due first, not before this time from now.
    fn arm_schedules(&mut self, not_before: Duration) {
        let now = self.shared.record.now().as_micros();
        let next = self.schedules.all.values().filter_map(|entry| entry.wake).min();
        self.schedules.look_at = next.map(|at| {
            let micros = u64::try_from(at.as_micros().saturating_sub(now)).unwrap_or(0);
            Instant::now() + Duration::from_micros(micros).min(LOOK_AGAIN).max(not_before)
        });
    }

    pub(super) async fn schedules_due(&mut self, now: Instant) {
        if self.schedules.look_at.is_some_and(|at| at <= now) {
            self.look_at_schedules().await;
            self.pump().await;
        }
    }

    /// Accounts for everything that came due.
    pub(super) async fn look_at_schedules(&mut self) {
        if self.life.desired() == Desired::Retired {
            self.schedules.look_at = None;
            return;
        }
        let now = self.shared.record.now();
        let due = self.schedules.all.iter().filter(|(_, entry)| entry.wake.is_some_and(|at| at <= now));
        let due: Vec<AgentName> = due.map(|(name, _)| name.clone()).collect();
        let mut not_before = Duration::ZERO;
        for name in due {
            if let Err(error) = self.look_at_schedule(&name, now).await {
                // Once a second until the record takes something; why it does not is told elsewhere.
                tracing::debug!(agent = %self.identity.name, schedule = %name, %error, "cannot be accounted for");
                not_before = RECORD_RETRY;
            }
        }
        self.arm_schedules(not_before);
    }

    /// Accounts for what came due of one schedule. What the record did not take is taken up from the record again.
    async fn look_at_schedule(&mut self, name: &AgentName, now: Timestamp) -> Result<(), RpcError> {
        let Some(entry) = self.schedules.all.get(name) else { return Ok(()) };
        let look = Look {
            now,
            serving_since: self.shared.started_at,
            previous_open: entry.last_message.is_some_and(|message_id| self.is_open(&message_id)),
        };
        let step = step(&entry.schedule, &entry.state, &Input::Looked(look));
        let done = self.perform(name, step).await;
        if done.is_err() {
            self.take_up_again(name, false);
        }
        done
    }

    fn take_up_again(&mut self, name: &AgentName, is_new: bool) {
        let id = self.identity.id;
        if let Ok(Some(row)) = self.shared.record.look_up(|reader| reader.schedule(&id, name))
            && !row.removed
        {
            self.take_up(&row, is_new);
        }
    }

    async fn perform(&mut self, name: &AgentName, step: Step) -> Result<(), RpcError> {
        let origin = Origin::node("scheduler");
        let mut wake = None;
        for output in step.outputs {
            match output {
                Output::Run { due_at, cause } => self.run_occurrence(name, due_at, cause).await?,
                Output::Skip { due_at, reason } => {
                    let detail = self.why_skipped(name, reason);
                    let fact = Fact::ScheduleSkipped { name: name.clone(), due_at, reason, detail };
                    self.note_schedule(fact, &origin).await?;
                }
                Output::Miss { from, to, count, reason } => {
                    let fact = Fact::ScheduleMissed { name: name.clone(), from, to, count, reason };
                    self.note_schedule(fact, &origin).await?;
                }
                Output::WakeAt(at) => wake = Some(at),
            }
        }
        if let Some(entry) = self.schedules.all.get_mut(name) {
            entry.state = step.state;
            entry.wake = wake;
        }
        Ok(())
    }

    fn why_skipped(&self, name: &AgentName, reason: SkipReason) -> String {
        match (reason, self.schedules.all.get(name).and_then(|entry| entry.last_message)) {
            (SkipReason::Overlap, Some(last)) if self.is_structured() => {
                format!("the message before, {last}, has not ended its turn")
            }
            (SkipReason::Overlap, Some(last)) => format!("the message before, {last}, waits to be delivered"),
            _ => "the schedule is paused".to_owned(),
        }
    }

    /// Sends the message of an occurrence, or notes why it could not be sent. Fails if the record takes neither.
    async fn run_occurrence(
        &mut self,
        name: &AgentName,
        due_at: Timestamp,
        cause: RunCause,
    ) -> Result<(), RpcError> {
        let origin = Origin::node("scheduler");
        let Err(error) = self.send_scheduled(name, due_at, cause, &origin).await else { return Ok(()) };
        let reason = match error.name() {
            ErrorName::Backpressure | ErrorName::StorageFull => SkipReason::Backpressure,
            ErrorName::Unavailable | ErrorName::RecordDamaged | ErrorName::NotFound | ErrorName::Internal => {
                return Err(error);
            }
            _ => SkipReason::Refused,
        };
        let fact = Fact::ScheduleSkipped { name: name.clone(), due_at, reason, detail: error.message };
        self.note_schedule(fact, &origin).await
    }

    /// Sends a schedule's message and notes the run, in one commit.
    async fn send_scheduled(
        &mut self,
        name: &AgentName,
        due_at: Timestamp,
        cause: RunCause,
        origin: &Origin,
    ) -> Result<MessageId, RpcError> {
        let Some(entry) = self.schedules.all.get(name) else { return Err(self.no_schedule(name)) };
        let parts = vec![Part::Text { text: entry.body.content.clone() }];
        let saying = Saying { priority: entry.body.priority, ..Saying::plain(parts, Ingress::Schedule) };
        let shared = std::sync::Arc::clone(&self.shared);
        let handle = shared.agent(&Tenant::default(), &self.identity.id.to_string())?;
        let caller = Caller::scheduler(name, shared.assurance());
        let mut admitted = admission::admit(&shared, &caller, &handle, saying)?;
        admitted.actor = origin.actor.clone();
        let ran = |message_id| Fact::ScheduleRan { name: name.clone(), due_at, message_id, cause };
        let accepted = self.accept(admitted, |message_id| vec![ran(message_id)]).await?;
        if let Some(entry) = self.schedules.all.get_mut(name) {
            entry.last_message = Some(accepted.message_id);
        }
        Ok(accepted.message_id)
    }

    async fn note_schedule(&self, fact: Fact, origin: &Origin) -> Result<(), RpcError> {
        let mut draft = Draft::default();
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    /// Whether the message of an earlier occurrence has not ended its turn; for an agent that reports no turns,
    /// whether it waits. A turn of an epoch that is over does not end any more, and hinders nothing.
    fn is_open(&self, message_id: &MessageId) -> bool {
        let Ok(Some(row)) = self.shared.record.look_up(|reader| reader.message(message_id)) else {
            return false;
        };
        let is_given = matches!(row.state, Rung::Injected | Rung::Observed);
        let is_in_turn = is_given && row.epoch == Some(self.last_epoch) && self.life.state().may_live();
        row.waiting || (self.is_structured() && is_in_turn)
    }

    /// Does what somebody asks of a schedule; a run gives its message.
    pub(super) async fn schedule_request(
        &mut self,
        request: &ScheduleRequest,
        origin: &Origin,
    ) -> Result<Option<MessageId>, RpcError> {
        let name = &request.name;
        let Some(entry) = self.schedules.all.get(name) else { return Err(self.no_schedule(name)) };
        let (in_manifest, is_paused) = (entry.in_manifest, entry.state.is_paused());
        let now = self.shared.record.now();
        let fact = match request.verb {
            ScheduleVerb::Run => {
                let sent = self.send_scheduled(name, now, RunCause::Manual, origin).await?;
                return Ok(Some(sent));
            }
            ScheduleVerb::Pause if !is_paused => Fact::SchedulePaused { name: name.clone() },
            ScheduleVerb::Resume if is_paused => Fact::ScheduleResumed { name: name.clone() },
            ScheduleVerb::Pause | ScheduleVerb::Resume => return Ok(None),
            ScheduleVerb::Remove if in_manifest => {
                let what =
                    format!("schedule `{name}` stands in the manifest of agent `{}`", self.identity.name);
                return Err(RpcError::new(ErrorName::InvalidState, what)
                    .hint("take it out of the manifest and apply that, or pause it"));
            }
            ScheduleVerb::Remove => {
                Fact::ScheduleRemoved { name: name.clone(), reason: "asked for".to_owned() }
            }
        };
        // What is due already is accounted for as it stands.
        let accounted = self.look_at_schedule(name, now).await;
        self.arm_schedules(Duration::ZERO);
        accounted?;
        self.note_schedule(fact.clone(), origin).await?;
        let after =
            self.schedules.all.get(name).and_then(|entry| State::after(Some(entry.state), now, &fact));
        match (after, self.schedules.all.get_mut(name)) {
            (Some(after), Some(entry)) => entry.state = after,
            _ => drop(self.schedules.all.remove(name)),
        }
        self.arm_schedules(Duration::ZERO);
        Ok(None)
    }

    fn no_schedule(&self, name: &AgentName) -> RpcError {
        let agent = &self.identity.name;
        let what = format!("agent `{agent}` has no schedule `{name}`");
        RpcError::new(ErrorName::NotFound, what)
            .hint(format!("`edgeplane schedule list {agent}` shows those that it has"))
    }

    /// What a declaration changes about the schedules in force.
    pub(super) fn schedule_changes(&self, declared: &Declared) -> Result<Vec<Changed>, RpcError> {
        let in_force = self.schedules.all.iter().map(|(name, entry)| InForce {
            name: name.clone(),
            digest: entry.digest.clone(),
            in_manifest: entry.in_manifest,
        });
        let in_force: Vec<InForce> = in_force.collect();
        let inline = declared.manifest.as_ref().map(|manifest| manifest.spec.schedules.as_slice());
        schedule::changes(&self.identity.name, &in_force, inline, &declared.schedules)
    }

    /// Adds the facts of changes to a draft.
    pub(super) fn draft_schedules(
        &self,
        draft: &mut Draft,
        changes: &[Changed],
        origin: &Origin,
    ) -> Result<(), RpcError> {
        for Changed { name, change, in_manifest, body } in changes {
            let before = self.schedules.all.get(name).filter(|_| *change == Change::Updated);
            match (change, body) {
                (Change::Removed, _) => {
                    let reason = "the manifest no longer declares it".to_owned();
                    let fact = Fact::ScheduleRemoved { name: name.clone(), reason };
                    self.shared.record.add(draft, self.stream(), origin, fact);
                }
                (Change::Created | Change::Updated, Some(body)) => {
                    let declaring = Declaring {
                        agent: self.identity.id,
                        name,
                        body,
                        in_manifest: *in_manifest,
                        before: before.map(|entry| (&entry.state, &entry.body)),
                    };
                    schedule::draft_declared(&self.shared.record, draft, origin, &declaring)?;
                }
                (Change::Created | Change::Updated, None) | (Change::Unchanged, _) => {}
            }
        }
        Ok(())
    }

    /// Goes on from changes that are recorded.
    pub(super) fn schedules_changed(&mut self, changes: &[Changed]) {
        for Changed { name, change, .. } in changes {
            match change {
                Change::Unchanged => {}
                Change::Removed => drop(self.schedules.all.remove(name)),
                Change::Created | Change::Updated => self.take_up_again(name, true),
            }
        }
        self.arm_schedules(Duration::ZERO);
    }
}
