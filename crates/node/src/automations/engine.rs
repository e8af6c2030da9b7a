//! The engine: goes through the record in its order, looks at the clock, and lets what fired act at a bounded rate.
//!
//! It remembers nothing that the record lacks but how often each automation acted within the last minute.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use edgeplane_lifecycle::schedule::{Input, Look, Output, Schedule, State, step};
use edgeplane_manifest::AutomationTrigger;
use edgeplane_store::{CommittedEvent, FiringRow, Reader};
use edgeplane_types::{
    AutomationCause, AutomationSkip, Fact, ResourceKind, StreamName, Timestamp,
    fact::{AutomationFired, AutomationSkipped},
    schedule::{MissReason, SkipReason},
};
use edgeplane_wire::rpc::RpcError;
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    task::JoinSet,
    time::Instant,
};

use super::{HOPS_MAX, InForce, RULE, WAITING_MAX, act, chain, matching};
use crate::{
    record::{Draft, Origin, refused},
    resources,
    shared::Shared,
};

/// Events that are read at one go.
const PAGE: usize = 256;

/// Firings that act at a time.
const ACTS_MAX: usize = 16;

/// How long it takes at most until the clock is looked at again: it may be set meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How long the record is left alone when it took nothing.
const RECORD_RETRY: Duration = Duration::from_secs(1);

/// The span over which acts are counted.
const MINUTE: Duration = Duration::from_secs(60);

/// Changes of automations, which the walk heeds besides the events that they wait for.
const CHANGES: [&str; 2] = ["resource.put", "resource.deleted"];

/// An automation as of where the walk is.
#[derive(Debug)]
struct Entry {
    automation: InForce,
    times: Option<(Schedule, State)>,
    /// When it is to be looked at; never again, if absent.
    wake: Option<Timestamp>,
}

/// What waits to act, of one automation.
#[derive(Debug, Default)]
struct Line {
    waiting: VecDeque<FiringRow>,
    is_acting: bool,
    /// When it acted within the last minute.
    acted: VecDeque<Instant>,
}

/// Looks after automations.
#[derive(Debug)]
pub(crate) struct Engine {
    shared: Arc<Shared>,
    entries: BTreeMap<String, Entry>,
    /// The position up to which the record was gone through.
    walked: u64,
    /// The position of the last firing that is in a line.
    lined_up: u64,
    /// Firings up to here a former daemon made.
    left_behind: u64,
    lines: BTreeMap<String, Line>,
    acts: JoinSet<String>,
    following: Option<Receiver<CommittedEvent>>,
}

impl Engine {
    /// Takes up automations where the last daemon left them: what came meanwhile fires now. Nothing acts yet.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub(crate) async fn open(shared: &Arc<Shared>) -> Result<Self, RpcError> {
        let most = usize::try_from(resources::OF_KIND_MAX).unwrap_or(usize::MAX);
        let read = move |reader: &Reader| {
            let seen = reader.automations_seen()?;
            let mut found = Vec::new();
            for row in reader.automations_at(seen, most)? {
                let Some(automation) = InForce::read(reader, &row)? else { continue };
                let state = automation.state(reader, false)?;
                found.push((automation, state));
            }
            Ok((seen, found))
        };
        let (walked, found) = shared.record.read(read).await?;
        let mut engine = Self {
            shared: Arc::clone(shared),
            entries: BTreeMap::new(),
            walked,
            lined_up: 0,
            left_behind: shared.record.head(),
            lines: BTreeMap::new(),
            acts: JoinSet::new(),
            following: None,
        };
        for (automation, state) in found {
            engine.enter(automation, state);
        }
        if let Err(error) = engine.look().await {
            tracing::warn!(%error, "automations cannot be taken up yet");
        }
        Ok(engine)
    }

    /// Looks after them until the node ends.
    pub(crate) async fn keep(mut self) {
        loop {
            let mut not_before = Duration::ZERO;
            if let Err(error) = self.look().await {
                tracing::debug!(%error, "automations are looked at again later");
                not_before = RECORD_RETRY;
            }
            let next_act = self.begin();
            let wait = self.wait(next_act).max(not_before);
            let shared = Arc::clone(&self.shared);
            // Each arm is cancel-safe: a permit of the notification is kept, events are read from the record anyhow, and
            // an act that is over stays so.
            tokio::select! {
                () = shared.stopping.cancelled() => break,
                () = shared.automations.woken.notified() => {}
                () = heard(&mut self.following, &self.entries) => {}
                Some(over) = self.acts.join_next() => self.over(over.ok()),
                () = tokio::time::sleep(wait) => {}
            }
        }
        // What is on its way goes on under its key with the next daemon.
        self.acts.abort_all();
    }

    /// Fires whatever is to fire by now, and lines up what waits to act.
    async fn look(&mut self) -> Result<(), RpcError> {
        while self.walk().await? {}
        self.look_at_times().await?;
        self.line_up().await
    }

    fn enter(&mut self, automation: InForce, state: Option<State>) {
        let times = automation.schedule().zip(state);
        let wake = times.as_ref().and_then(|(schedule, state)| {
            schedule.due_after(state.accounted_until()).map(|due_at| schedule.fire_at(due_at))
        });
        self.entries.insert(automation.name.to_string(), Entry { automation, times, wake });
    }

    /// The events that some automation waits for.
    fn types(&self) -> BTreeSet<String> {
        let mut types: BTreeSet<String> = CHANGES.iter().map(|kind| (*kind).to_owned()).collect();
        for entry in self.entries.values().filter(|entry| entry.automation.spec.enabled) {
            if let AutomationTrigger::Event(event) = &entry.automation.spec.on {
                types.extend(event.types.iter().map(ToString::to_string));
            }
        }
        types
    }

    fn awaits_events(&self) -> bool {
        let awaits = |entry: &Entry| matches!(entry.automation.spec.on, AutomationTrigger::Event(_));
        self.entries.values().any(|entry| entry.automation.spec.enabled && awaits(entry))
    }

    /// Goes on through the record by one page; says whether there may be more.
    async fn walk(&mut self) -> Result<bool, RpcError> {
        if self.awaits_events() && self.following.is_none() {
            self.following = Some(self.shared.record.follow());
        } else if !self.awaits_events() {
            self.following = None;
        }
        let (walked, types, awaits) = (self.walked, self.types(), self.awaits_events());
        let read = move |reader: &Reader| {
            // First, so that what comes in between is looked at again.
            let head = reader.head_pos()?;
            // What nobody waits for need not be read: from one change to the next there is nothing to do.
            let from = match awaits {
                true => walked.saturating_add(1),
                false => match reader.next_automation_change(walked)? {
                    Some(next) => next,
                    None => return Ok((head, Vec::new())),
                },
            };
            let types: Vec<&str> = types.iter().map(String::as_str).collect();
            Ok((head, reader.events_from_pos(from, PAGE, &types)?))
        };
        let (head, page) = self.shared.record.read(read).await?;
        let is_whole = page.len() < PAGE;
        let mut draft = Draft::default();
        let mut passed_over: BTreeMap<(String, AutomationSkip), AutomationSkipped> = BTreeMap::new();
        let mut fired: BTreeMap<String, u64> = BTreeMap::new();
        for event in &page {
            let changed = match &event.event.fact {
                Fact::ResourcePut(put) if put.uri.kind() == ResourceKind::Automation => Some(put.uri.path()),
                Fact::ResourceDeleted(end) if end.uri.kind() == ResourceKind::Automation => {
                    Some(end.uri.path())
                }
                _ => None,
            };
            self.meets(event, &mut draft, &mut passed_over, &mut fired)?;
            if let Some(name) = changed {
                self.fire(draft, passed_over).await?;
                // What was due until then is accounted for as it was declared.
                self.look_at_times().await?;
                self.change(&name, event)?;
                self.walked = event.pos;
                return Ok(true);
            }
        }
        self.fire(draft, passed_over).await?;
        // Events behind the head that was read first are in the page all the same.
        let last = page.last().map_or(0, |last| last.pos);
        self.walked = if is_whole { head.max(last).max(self.walked) } else { last };
        Ok(!is_whole)
    }

    /// Adds the firings of whichever automations an event concerns.
    fn meets(
        &self,
        event: &CommittedEvent,
        draft: &mut Draft,
        passed_over: &mut BTreeMap<(String, AutomationSkip), AutomationSkipped>,
        fired: &mut BTreeMap<String, u64>,
    ) -> Result<(), RpcError> {
        let mut said = None;
        let mut hops = None;
        for (name, entry) in &self.entries {
            let automation = &entry.automation;
            let look = |reader: &Reader| {
                if !matching::concerns(&self.shared, reader, automation, (event, &mut said))? {
                    return Ok(None);
                }
                let before = match hops {
                    Some(before) => before,
                    None => *hops.insert(chain::hops(reader, event)?),
                };
                Ok(Some((before, reader.open_firings_of(name)?)))
            };
            let Some((before, waiting)) = self.shared.record.look_up(look)? else { continue };
            let new = fired.entry(name.clone()).or_default();
            let refusal = match (before >= HOPS_MAX, waiting.saturating_add(*new) >= WAITING_MAX) {
                (true, _) => Some(AutomationSkip::Hops),
                (false, true) => Some(AutomationSkip::Backlog),
                (false, false) => None,
            };
            let Some(reason) = refusal else {
                *new = new.saturating_add(1);
                let cause = AutomationCause::Event {
                    event_id: event.event.id,
                    pos: event.pos,
                    event_type: event.event.fact.type_name().to_owned(),
                };
                self.add_firing(draft, automation, cause, before);
                continue;
            };
            let skipped = passed_over.entry((name.clone(), reason)).or_insert_with(|| AutomationSkipped {
                automation: automation.name.clone(),
                reason,
                count: 0,
                from: event.event.ts,
                to: event.event.ts,
                pos: Some(event.pos),
            });
            skipped.count = skipped.count.saturating_add(1);
            (skipped.to, skipped.pos) = (event.event.ts, Some(event.pos));
        }
        Ok(())
    }

    fn add_firing(&self, draft: &mut Draft, automation: &InForce, cause: AutomationCause, hops: u32) {
        let fired = AutomationFired {
            firing_id: self.shared.record.mint().id(),
            automation: automation.name.clone(),
            version: automation.version,
            key: cause.key(),
            cause,
            hops,
        };
        self.note(draft, Fact::AutomationFired(Box::new(fired)));
    }

    fn note(&self, draft: &mut Draft, fact: Fact) {
        let stream = StreamName::Node(self.shared.identity.id);
        self.shared.record.add(draft, stream, &Origin::node(RULE), fact);
    }

    async fn fire(
        &self,
        mut draft: Draft,
        passed_over: BTreeMap<(String, AutomationSkip), AutomationSkipped>,
    ) -> Result<(), RpcError> {
        for skipped in passed_over.into_values() {
            self.note(&mut draft, Fact::AutomationSkipped(skipped));
        }
        self.commit(draft).await
    }

    async fn commit(&self, draft: Draft) -> Result<(), RpcError> {
        if draft.is_empty() {
            return Ok(());
        }
        self.shared.failpoint("automation.firing");
        self.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
    }

    /// Heeds a change of an automation.
    fn change(&mut self, name: &str, event: &CommittedEvent) -> Result<(), RpcError> {
        let Fact::ResourcePut(put) = &event.event.fact else {
            self.entries.remove(name);
            return Ok(());
        };
        let (uri, version) = (put.uri.clone(), put.version);
        let found = self.shared.record.look_up(|reader| {
            let Some(row) = reader.resource_at(&uri, version)? else { return Ok(None) };
            let Some(automation) = InForce::read(reader, &row)? else { return Ok(None) };
            let state = automation.state(reader, event.event.ts >= self.shared.started_at)?;
            Ok(Some((automation, state)))
        })?;
        match found {
            Some((automation, state)) => self.enter(automation, state),
            None => drop(self.entries.remove(name)),
        }
        Ok(())
    }

    /// Accounts for everything that came due.
    async fn look_at_times(&mut self) -> Result<(), RpcError> {
        let now = self.shared.record.now();
        let due = self.entries.iter().filter(|(_, entry)| entry.wake.is_some_and(|at| at <= now));
        let due: Vec<String> = due.map(|(name, _)| name.clone()).collect();
        for name in due {
            let Some(entry) = self.entries.get(&name) else { continue };
            let Some((schedule, state)) = &entry.times else { continue };
            let waiting = self.shared.record.look_up(|reader| reader.open_firings_of(&name))?;
            let look = Look { now, serving_since: self.shared.started_at, previous_open: waiting > 0 };
            let step = step(schedule, state, &Input::Looked(look));
            let is_enabled = entry.automation.spec.enabled;
            let mut draft = Draft::default();
            let mut wake = None;
            for output in step.outputs {
                match output {
                    Output::WakeAt(at) => wake = Some(at),
                    // What an automation would have done while it is not enabled is nobody's.
                    _ if !is_enabled => {}
                    output => self.due(&mut draft, &entry.automation, output),
                }
            }
            self.commit(draft).await?;
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.wake = wake;
                if let Some((_, state)) = &mut entry.times {
                    *state = step.state;
                }
            }
        }
        Ok(())
    }

    /// Adds what becomes of times that came due.
    fn due(&self, draft: &mut Draft, automation: &InForce, output: Output) {
        let (reason, count, from, to) = match output {
            Output::Run { due_at, cause } => {
                return self.add_firing(draft, automation, AutomationCause::Schedule { due_at, cause }, 0);
            }
            Output::Skip { due_at, reason } => {
                // It is never paused by itself, and nothing is refused before it acts.
                debug_assert_eq!(reason, SkipReason::Overlap);
                (AutomationSkip::Overlap, 1, due_at, due_at)
            }
            Output::Miss { from, to, count, reason } => {
                let reason = match reason {
                    MissReason::NodeDown => AutomationSkip::NodeDown,
                    MissReason::ClockJump => AutomationSkip::ClockJump,
                    MissReason::Deadline => AutomationSkip::Deadline,
                };
                (reason, count, from, to)
            }
            Output::WakeAt(_) => return,
        };
        let automation = automation.name.clone();
        let skipped = AutomationSkipped { automation, reason, count, from, to, pos: None };
        self.note(draft, Fact::AutomationSkipped(skipped));
    }

    /// Lines up firings that are new in the record.
    async fn line_up(&mut self) -> Result<(), RpcError> {
        loop {
            let cursor = self.lined_up;
            let page = self.shared.record.read(move |reader| reader.open_firings(PAGE, cursor)).await?;
            let Some(last) = page.last() else { return Ok(()) };
            self.lined_up = last.pos;
            for row in page {
                let line = self.lines.entry(row.fired.automation.to_string()).or_default();
                line.waiting.push_back(row);
            }
        }
    }

    /// Lets what waits act, one of each automation at a time. Says when the next one may, if all have to wait.
    fn begin(&mut self) -> Option<Instant> {
        let (now, mut next) = (Instant::now(), None::<Instant>);
        for (name, line) in &mut self.lines {
            while line.acted.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
                line.acted.pop_front();
            }
            if line.is_acting || line.waiting.is_empty() || self.acts.len() >= ACTS_MAX {
                continue;
            }
            // What is withdrawn does nothing any more, and is told so at once.
            let entry = self.entries.get(name).filter(|entry| entry.automation.spec.enabled);
            let most = entry.and_then(|entry| usize::try_from(entry.automation.spec.per_minute).ok());
            if most.is_some_and(|most| line.acted.len() >= most) {
                let free = line.acted.front().map(|at| *at + MINUTE);
                next = [next, free].into_iter().flatten().min();
                continue;
            }
            let Some(row) = line.waiting.pop_front() else { continue };
            line.is_acting = true;
            line.acted.push_back(now);
            let (shared, is_left_behind, name) =
                (Arc::clone(&self.shared), row.pos <= self.left_behind, name.clone());
            self.acts.spawn(async move {
                Box::pin(act::act(shared, row, is_left_behind)).await;
                name
            });
        }
        self.lines.retain(|_, line| line.is_acting || !line.waiting.is_empty() || !line.acted.is_empty());
        next
    }

    fn over(&mut self, name: Option<String>) {
        match name.and_then(|name| self.lines.get_mut(&name)) {
            Some(line) => line.is_acting = false,
            // One that was cut off says no name: whichever it was may go on.
            None => self.lines.values_mut().for_each(|line| line.is_acting = false),
        }
    }

    fn wait(&self, next_act: Option<Instant>) -> Duration {
        let now = self.shared.record.now().as_micros();
        let until = |at: Timestamp| {
            Duration::from_micros(u64::try_from(at.as_micros().saturating_sub(now)).unwrap_or(0))
        };
        let times = self.entries.values().filter_map(|entry| entry.wake).min().map(until);
        let acts = next_act.map(|at| at.saturating_duration_since(Instant::now()));
        [times, acts].into_iter().flatten().min().unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)
    }
}

/// Waits for an event that some automation may wait for.
async fn heard(following: &mut Option<Receiver<CommittedEvent>>, entries: &BTreeMap<String, Entry>) {
    let Some(following) = following else { return std::future::pending().await };
    let is_awaited = |event: &CommittedEvent| {
        let kind = event.event.fact.type_name();
        entries.values().any(|entry| match &entry.automation.spec.on {
            AutomationTrigger::Event(event) => event.types.iter().any(|name| name.as_str() == kind),
            AutomationTrigger::Schedule(_) | AutomationTrigger::Webhook(_) => false,
        })
    };
    loop {
        match following.recv().await {
            Ok(event) if !is_awaited(&event) => {}
            // What was missed is in the record.
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}
