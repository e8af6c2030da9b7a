//! What a session is like now: its threads, their turns, what waits and what went wrong. The snapshots show it.

mod governed;
mod shown;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use edgeplane_types::{
    ActionId, AgentId, Event, Fact, InvocationState, MessageId, RunLimit, SessionId, TaskId, ThreadId,
    Timestamp, TurnId, fact::ThreadParent, life::ExitStatus,
};
use serde::{Deserialize, Serialize};

use governed::Governed;
pub(crate) use governed::{SANDBOX_MODE, SANDBOX_REASON};
pub(crate) use shown::Profile;

use crate::{
    actions::{self, Asked, Open},
    fold::SHOWN_MAX,
    life::Life,
    subagents::{Children, child_of},
    subject::{Subject, turn_of},
    telling::reason,
    turns::{Change, Stage, Turns},
    work::Work,
};

/// Incidents of one thread that are shown; the others are counted.
const INCIDENTS_MAX: usize = 50;

/// Traces and pieces of evidence that are shown; the others are counted.
const REFS_MAX: usize = SHOWN_MAX;

/// Types that a session's state is read from.
pub(crate) fn takes(kind: &str) -> bool {
    let (family, name) = kind.split_once('.').unwrap_or((kind, ""));
    match family {
        "agent" | "message" | "turn" | "action" | "thread" | "task" | "run" | "job" | "job_item"
        | "benchmark" | "invocation" | "subagent" => true,
        "request" => name == "refused",
        "usage" | "answer" => false,
        "session" => matches!(name, "opened" | "failed"),
        "recording" => matches!(name, "sealed" | "gap"),
        _ => false,
    }
}

/// A turn as a snapshot shows it.
#[derive(Debug, Serialize, Deserialize)]
struct TurnView {
    status: String,
    native: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<(String, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Incident {
    at: Timestamp,
    kind: String,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
}

/// What a further thread was made as.
#[derive(Debug, Serialize, Deserialize)]
struct Made {
    session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<ThreadParent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    archived: Option<Timestamp>,
}

/// A thread as far as it is known.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Thread {
    /// None: the first thread of its session, or one of which only turns are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
    turns: BTreeMap<TurnId, TurnView>,
    /// The order in which they were met.
    order: VecDeque<TurnId>,
    turns_more: u64,
    running: BTreeSet<TurnId>,
    queued: BTreeSet<MessageId>,
    incidents: VecDeque<Incident>,
    incidents_more: u64,
    outputs: u64,
    /// How often its history was cut.
    #[serde(default)]
    rolled_back: u64,
    last_output: Option<(TurnId, String, u64)>,
    /// Up to where it is told as a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boundary: Option<Boundary>,
}

/// The newest boundary of a thread.
#[derive(Debug, Serialize, Deserialize)]
struct Boundary {
    through: TurnId,
    turns: u64,
    summary: (String, u64),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
    at: Timestamp,
}

impl Thread {
    fn turn(&mut self, id: TurnId) -> &mut TurnView {
        if !self.turns.contains_key(&id) {
            self.order.push_back(id);
            self.make_room();
        }
        self.turns.entry(id).or_insert_with(|| TurnView {
            status: "unknown".to_owned(),
            native: "unknown".to_owned(),
            started: None,
            ended: None,
            output: None,
        })
    }

    fn make_room(&mut self) {
        if self.order.len() > SHOWN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.turns.remove(&oldest);
            self.turns_more += 1;
        }
    }

    /// Takes turns out of what is shown: they are no part of the history any more.
    fn roll_back(&mut self, removed: &[TurnId]) {
        let removed: BTreeSet<&TurnId> = removed.iter().collect();
        self.order.retain(|id| !removed.contains(id));
        self.turns.retain(|id, _| !removed.contains(id));
        if self.last_output.as_ref().is_some_and(|(turn, ..)| removed.contains(turn)) {
            let newest = self.order.iter().rev().find_map(|id| {
                let (digest, bytes) = self.turns.get(id)?.output.clone()?;
                Some((*id, digest, bytes))
            });
            self.last_output = newest;
        }
        self.rolled_back += 1;
    }

    fn incident(&mut self, incident: Incident) {
        if self.incidents.len() == INCIDENTS_MAX {
            self.incidents.pop_front();
            self.incidents_more += 1;
        }
        self.incidents.push_back(incident);
    }
}

/// Something that waits for a person.
#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    thread: Option<ThreadId>,
    turn: Option<TurnId>,
    kind: String,
    prompt: String,
    since: Timestamp,
    expires: Timestamp,
}

/// A session so far.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Model {
    pub(crate) turns: Turns,
    pub(crate) life: Life,
    open: Open,
    threads: BTreeMap<ThreadId, Thread>,
    pending: BTreeMap<ActionId, Pending>,
    evidence: VecDeque<String>,
    evidence_more: u64,
    traces: VecDeque<String>,
    traces_more: u64,
    updated: Timestamp,
    pub(crate) work: Work,
    governed: Governed,
    /// The limit that a run of the agent passed last, with its turn.
    limited: Option<(RunLimit, TurnId, Timestamp)>,
    pub(crate) children: Children,
}

/// What an event changed.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// A thread that was not known.
    pub(crate) thread: Option<ThreadId>,
    /// A thread of which something else was said.
    pub(crate) touched: Option<ThreadId>,
    /// The turn that moved.
    pub(crate) change: Option<Change>,
    /// The turns that ended with their epoch.
    pub(crate) cut: Vec<Change>,
    /// The action that the event is about.
    pub(crate) action: Option<(ActionId, Option<Asked>)>,
    /// Whether the agent's life changed.
    pub(crate) life: bool,
    /// The task of the agent that the event is about.
    pub(crate) task: Option<TaskId>,
    /// The child of the agent that the event is about.
    pub(crate) child: Option<AgentId>,
}

/// What a turn's end is called outside, by the program's own word for it.
pub(crate) fn status_of_end(outcome: Option<&str>) -> &'static str {
    match outcome {
        Some("cancelled" | "canceled" | "interrupted" | "aborted") => "cancelled",
        Some("error" | "failed" | "failure") => "failed",
        _ => "completed",
    }
}

pub(crate) fn status_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Queued => "queued",
        Stage::Started | Stage::Observed => "running",
        Stage::Ended => "completed",
        Stage::Cut | Stage::Failed => "failed",
        // Nobody knows: another stream tells, or none does.
        Stage::Ambiguous | Stage::Moved => "unknown",
    }
}

impl Model {
    pub(crate) fn new(subject: &Subject) -> Self {
        Self {
            turns: Turns::new(subject),
            life: Life::new(),
            open: Open::default(),
            threads: BTreeMap::new(),
            pending: BTreeMap::new(),
            evidence: VecDeque::new(),
            evidence_more: 0,
            traces: VecDeque::new(),
            traces_more: 0,
            updated: Timestamp::from_micros(0),
            work: Work::new(subject.agent),
            governed: Governed::default(),
            limited: None,
            children: Children::new(subject.agent),
        }
    }

    pub(crate) fn follow(&mut self, event: &Event) -> Followed {
        if event.fact.task_id().is_some() {
            let task = self.work.follow(event);
            if task.is_some() {
                self.updated = event.ts;
                self.limit(event);
            }
            return Followed { task, ..Followed::default() };
        }
        if child_of(&event.fact).is_some() {
            let child = self.children.follow(event);
            if child.is_some() {
                self.updated = event.ts;
            }
            return Followed { child, ..Followed::default() };
        }
        let mut followed = Followed { change: self.turns.follow(event), ..Followed::default() };
        let of_agent = matches!(event.stream, edgeplane_types::StreamName::Agent(_));
        followed.life = of_agent && self.life.follow(&event.fact, event.ts);
        self.updated = event.ts;
        if let Some(change) = followed.change {
            let thread = self.turns.thread(Some(change.message));
            followed.thread = thread.filter(|thread| !self.threads.contains_key(thread));
        }
        match &event.fact {
            Fact::AgentDeclared { .. } => followed.thread = self.turns.main(),
            Fact::AgentExited { epoch, status, .. } => {
                followed.cut = self.turns.cut(*epoch);
                for change in &followed.cut {
                    self.moved(event, *change);
                }
                if !status.is_success() && !followed.cut.is_empty() {
                    self.incident(event, None, end_text(*status));
                }
            }
            Fact::AgentFailed { reason }
            | Fact::AgentQuarantined { reason, .. }
            | Fact::AgentUnobservable { reason, .. }
            | Fact::AgentStartFailed { reason, .. }
            | Fact::AgentInstallFailed { reason, .. }
            | Fact::SessionFailed { reason, .. }
            | Fact::RecordingGap { reason, .. } => self.incident(event, None, reason.clone()),
            Fact::RecordingSealed { digest, .. } => self.evidence(digest),
            Fact::ThreadCreated(_)
            | Fact::ThreadUpdated(_)
            | Fact::ThreadArchived(_)
            | Fact::ThreadRolledBack(_)
            | Fact::ThreadCompacted(_) => self.thread(event, &mut followed),
            Fact::ActionOpened { .. } | Fact::ActionVoted { .. } | Fact::ActionResolved { .. } => {
                followed.action = self.open.follow(&event.fact);
                let asked = followed.action.as_ref().and_then(|(_, asked)| asked.as_ref());
                self.governed.decided(&event.fact, asked, (&self.turns, event.ts));
                self.action(event);
            }
            Fact::InvocationRequested(_) | Fact::InvocationBegun(_) | Fact::InvocationEnded(_) => {
                self.call(event);
            }
            Fact::RequestRefused(refused) => self.governed.refused(refused, &self.turns, event.ts),
            _ => {}
        }
        if let Some(thread) = followed.thread {
            self.threads.entry(thread).or_default();
        }
        if let Some(change) = followed.change {
            self.moved(event, change);
        }
        self.ended(event);
        followed
    }

    fn moved(&mut self, event: &Event, change: Change) {
        let (id, message) = (turn_of(change.message), change.message);
        let Some(thread) = self.turns.thread(Some(message)) else { return };
        let trace = self.turns.trace(Some(message)).filter(|_| change.was.is_none()).map(str::to_owned);
        let thread = self.threads.entry(thread).or_default();
        if change.now == Stage::Queued {
            thread.queued.insert(message);
        } else {
            thread.queued.remove(&message);
        }
        if change.now.is_open() {
            thread.running.insert(id);
        } else {
            thread.running.remove(&id);
        }
        let turn = thread.turn(id);
        if change.put {
            (turn.started, turn.ended) = (Some(event.ts), None);
        }
        if !change.now.is_open() && change.now != Stage::Queued && turn.ended.is_none() {
            turn.ended = Some(event.ts);
        }
        // The word for an end that the program gave stays when the node says once more that the turn is over.
        if change.was != Some(Stage::Ended) || change.now != Stage::Ended {
            status_of(change.now).clone_into(&mut turn.status);
            change.now.as_str().clone_into(&mut turn.native);
        }
        if matches!(change.now, Stage::Failed | Stage::Ambiguous | Stage::Cut) {
            let text = reason(&event.fact).unwrap_or_default().to_owned();
            let kind = event.fact.type_name().to_owned();
            thread.incident(Incident { at: event.ts, kind, text, turn: Some(id) });
        }
        if let Some(trace) = trace {
            keep(&mut self.traces, &mut self.traces_more, trace);
        }
    }

    fn ended(&mut self, event: &Event) {
        let Fact::TurnCompleted { turn_id, message_id, output_digest, output_bytes, outcome, .. } =
            &event.fact
        else {
            return;
        };
        let id = message_id.map_or(*turn_id, turn_of);
        let Some(thread) = self.turns.thread(*message_id) else { return };
        let thread = self.threads.entry(thread).or_default();
        thread.outputs += 1;
        thread.last_output = Some((id, output_digest.clone(), *output_bytes));
        let turn = thread.turn(id);
        let outcome = outcome.as_ref().map(edgeplane_types::SafeLabel::as_str);
        status_of_end(outcome).clone_into(&mut turn.status);
        outcome.unwrap_or("ended").clone_into(&mut turn.native);
        turn.output = Some((output_digest.clone(), *output_bytes));
        turn.ended = Some(event.ts);
        self.evidence(output_digest);
    }

    /// Takes in what is said of a thread as a whole.
    fn thread(&mut self, event: &Event, followed: &mut Followed) {
        let id = match &event.fact {
            Fact::ThreadCreated(created) => {
                followed.thread = Some(created.thread_id);
                self.threads.entry(created.thread_id).or_default().made = Some(Made {
                    session: created.session_id,
                    title: created.title.clone(),
                    parent: created.parent,
                    archived: None,
                });
                return;
            }
            Fact::ThreadUpdated(updated) => {
                if let Some(made) = self.made(updated.thread_id) {
                    made.title.clone_from(&updated.title);
                }
                updated.thread_id
            }
            Fact::ThreadArchived(archived) => {
                if let Some(made) = self.made(archived.thread_id) {
                    made.archived = Some(event.ts);
                }
                archived.thread_id
            }
            Fact::ThreadRolledBack(cut) => {
                self.threads.entry(cut.thread_id).or_default().roll_back(&cut.removed);
                cut.thread_id
            }
            Fact::ThreadCompacted(drawn) => {
                self.threads.entry(drawn.thread_id).or_default().boundary = Some(Boundary {
                    through: drawn.through,
                    turns: drawn.turns,
                    summary: (drawn.summary_digest.clone(), drawn.summary_bytes),
                    tokens_before: drawn.tokens_before,
                    at: event.ts,
                });
                drawn.thread_id
            }
            _ => return,
        };
        followed.touched = Some(id);
    }

    fn made(&mut self, id: ThreadId) -> Option<&mut Made> {
        self.threads.get_mut(&id)?.made.as_mut()
    }

    fn action(&mut self, event: &Event) {
        match &event.fact {
            Fact::ActionOpened { action } => {
                let pending = Pending {
                    thread: self.turns.thread(action.causation),
                    turn: action.causation.map(turn_of),
                    kind: actions::kind(action.kind).to_owned(),
                    prompt: action.prompt.clone(),
                    since: event.ts,
                    expires: action.expires_at,
                };
                self.pending.insert(action.id, pending);
            }
            Fact::ActionResolved { action_id, .. } => {
                self.pending.remove(action_id);
            }
            _ => {}
        }
    }

    /// Takes in what is said of a call. One that was not made, or went wrong, is told in its thread.
    fn call(&mut self, event: &Event) {
        let message = self.governed.call(&event.fact, &self.turns, event.ts);
        let Fact::InvocationEnded(ended) = &event.fact else { return };
        if matches!(ended.state, InvocationState::Succeeded | InvocationState::Cancelled) {
            return;
        }
        let Some(thread) = self.turns.thread(message) else { return };
        let kind = format!("invocation.{}", ended.state);
        let text = ended.reason.clone().unwrap_or_default();
        let thread = self.threads.entry(thread).or_default();
        thread.incident(Incident { at: event.ts, kind, text, turn: message.map(turn_of) });
    }

    /// A run of this agent passed a limit.
    fn limit(&mut self, event: &Event) {
        let Fact::RunEnded(ended) = &event.fact else { return };
        let message = MessageId::from_bytes(*ended.run_id.as_bytes());
        if let Some(limit) = ended.limit.filter(|_| self.turns.get(message).is_some()) {
            self.limited = Some((limit, turn_of(message), event.ts));
        }
    }

    fn incident(&mut self, event: &Event, turn: Option<TurnId>, text: String) {
        let Some(main) = self.turns.main() else { return };
        let kind = event.fact.type_name().to_owned();
        self.threads.entry(main).or_default().incident(Incident { at: event.ts, kind, text, turn });
    }

    fn evidence(&mut self, digest: &str) {
        keep(&mut self.evidence, &mut self.evidence_more, format!("sha256:{digest}"));
    }
}

fn keep(newest: &mut VecDeque<String>, more: &mut u64, one: String) {
    if newest.len() == REFS_MAX {
        newest.pop_front();
        *more += 1;
    }
    newest.push_back(one);
}

fn end_text(status: ExitStatus) -> String {
    format!("the program ended with {status}")
}
