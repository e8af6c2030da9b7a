//! Turns and threads as others see them: what the record says, and what is not known.

use edgeplane_store::{CommittedEvent, MessageRow, ReadError, Reader, ThreadRow};
use edgeplane_types::{
    AgentId, AgentName, Continuity, Epoch, ErrorName, Fact, OutputId, Phase, Receipt, RunId, Rung, SafeLabel,
    TaskId, ThreadId, Timestamp, TurnId,
};
use edgeplane_wire::{
    api::conversation::{
        output::OutputRef,
        thread::{AgentState, CompactionView, Context, ParentView, ThreadStatus, ThreadView},
        turn::{InterruptView, TurnState, TurnView},
    },
    rpc::RpcError,
};

use crate::{
    agent::{AgentHandle, turn_of},
    shared::Shared,
};

/// Open turns that are looked at.
const OPEN_MAX: usize = 64;

/// An agent as far as its conversations are shown by it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) id: AgentId,
    pub(super) name: AgentName,
    pub(super) main: ThreadId,
    pub(super) phase: Phase,
    pub(super) epoch: Epoch,
    pub(super) continuity: Continuity,
    pub(super) reason: Option<String>,
    /// Whether its program says when a turn is over.
    pub(super) ends_turns: bool,
    /// The living agent.
    pub(super) handle: Option<AgentHandle>,
}

impl Seen {
    /// As it is now, which the record may not say yet.
    pub(super) fn of(shared: &Shared, id: AgentId) -> Result<Self, RpcError> {
        let mut seen = Self::recorded(shared, id)?;
        if let Some(handle) = &seen.handle {
            let summary = handle.summary.borrow().clone();
            (seen.phase, seen.epoch) = (summary.phase, summary.epoch);
        }
        let is_well =
            matches!(seen.phase, Phase::Running | Phase::Starting | Phase::Declared | Phase::Hibernated);
        seen.reason = seen.reason.filter(|_| !is_well);
        Ok(seen)
    }

    /// As the record says, and nothing else: whoever follows the record sees it change with the events.
    pub(super) fn recorded(shared: &Shared, id: AgentId) -> Result<Self, RpcError> {
        let row = shared.record.look_up(|reader| reader.agent_by_id(&id))?;
        let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no agent {id}")))?;
        let handle = shared.agent_by_id(id);
        Ok(Self {
            id,
            name: row.name,
            main: ThreadId::from_bytes(*row.session_id.as_bytes()),
            phase: row.phase,
            epoch: row.epoch,
            continuity: row.continuity.unwrap_or(Continuity::None),
            reason: row.last_reason,
            ends_turns: handle.as_ref().is_none_or(|handle| handle.profile().ends_turns),
            handle,
        })
    }

    pub(super) fn state(&self) -> AgentState {
        AgentState {
            name: self.name.clone(),
            phase: self.phase,
            epoch: self.epoch,
            continuity: self.continuity,
            reason: self.reason.clone(),
        }
    }

    fn has_epoch(&self) -> bool {
        matches!(
            self.phase,
            Phase::Starting | Phase::Running | Phase::Frozen | Phase::Stopping | Phase::Unobservable
        )
    }

    fn held(&self, row: &MessageRow) -> Option<String> {
        let handle = self.handle.as_ref()?;
        handle.profile().held(row).or_else(|| handle.held(row))
    }

    /// What became of a turn, and why.
    fn became(
        &self,
        row: &MessageRow,
        end: Option<&End>,
        interrupt: Option<u64>,
    ) -> (TurnState, Option<String>) {
        if row.waiting {
            return (TurnState::Queued, self.held(row));
        }
        let because = || row.dropped.clone().or_else(|| row.reason.clone());
        match row.state {
            Rung::Accepted => (TurnState::Queued, None),
            Rung::Injected | Rung::Observed => self.runs(row),
            Rung::TurnEnded => ended(end, interrupt),
            Rung::Rejected => (TurnState::Rejected, because()),
            Rung::Expired => {
                (TurnState::Expired, Some("its time was over before it was delivered".to_owned()))
            }
            Rung::Ambiguous => (TurnState::Ambiguous, because()),
            Rung::DeadLettered => (TurnState::Failed, because()),
        }
    }

    fn runs(&self, row: &MessageRow) -> (TurnState, Option<String>) {
        let why = |words: &str| Some(words.to_owned());
        let is_of_live = self.has_epoch() && row.epoch == Some(self.epoch);
        match (is_of_live, self.ends_turns) {
            (true, true) if self.phase == Phase::Unobservable => {
                (TurnState::Unknown, why("its agent's shim cannot be reached"))
            }
            (true, true) => (TurnState::Running, None),
            (_, false) => (TurnState::Unknown, why("its terminal does not say when a turn is over")),
            (false, true) => (TurnState::Interrupted, why("its epoch ended before it")),
        }
    }
}

/// How a turn ended, as its program says.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) pos: u64,
    pub(super) outcome: Option<SafeLabel>,
    pub(super) output: OutputRef,
    pub(super) at: Timestamp,
    pub(super) epoch: Epoch,
}

impl End {
    pub(super) fn of(committed: &CommittedEvent) -> Option<Self> {
        let Fact::TurnCompleted { turn_id, epoch, output_digest, output_bytes, authority, outcome, .. } =
            &committed.event.fact
        else {
            return None;
        };
        let output = OutputRef {
            output_id: output_of(*turn_id),
            digest: output_digest.clone(),
            bytes: *output_bytes,
            authority: *authority,
        };
        let (pos, at) = (committed.pos, committed.event.ts);
        Some(Self { pos, outcome: outcome.clone(), output, at, epoch: *epoch })
    }
}

/// The output of a turn has the turn's UUID.
pub(super) fn output_of(turn: TurnId) -> OutputId {
    OutputId::from_bytes(*turn.as_bytes())
}

/// The turn that an output is of.
pub(super) fn turn_of_output(output: OutputId) -> TurnId {
    TurnId::from_bytes(*output.as_bytes())
}

fn ended(end: Option<&End>, interrupt: Option<u64>) -> (TurnState, Option<String>) {
    let outcome = end.and_then(|end| end.outcome.as_ref()).map(SafeLabel::as_str);
    let was_asked = interrupt.is_some_and(|asked| end.is_some_and(|end| asked < end.pos));
    match outcome {
        Some("cancelled") => {
            (TurnState::Interrupted, Some("its program ended it as it was asked to".to_owned()))
        }
        Some("error") => (TurnState::Failed, Some("its program says that it failed".to_owned())),
        None if was_asked => {
            (TurnState::Interrupted, Some("its program ended it after it was asked to".to_owned()))
        }
        _ => (TurnState::Completed, None),
    }
}

/// The first moment of a rung.
fn first(receipts: &[Receipt], is_it: impl Fn(Rung) -> bool) -> Option<Timestamp> {
    receipts.iter().find(|receipt| is_it(receipt.rung)).map(|receipt| receipt.at)
}

/// The run that a turn is, and its task: what was written down of them, else they have the turn's UUID.
pub(super) fn work_of(reader: &Reader, turn: TurnId) -> Result<(RunId, TaskId), ReadError> {
    let run = RunId::from_bytes(*turn.as_bytes());
    let task = reader.run(&run)?.map(|row| row.started.task_id);
    Ok((run, task.unwrap_or_else(|| TaskId::from_bytes(*turn.as_bytes()))))
}

/// A turn that a message is.
pub(super) fn turn(reader: &Reader, seen: &Seen, row: &MessageRow) -> Result<TurnView, ReadError> {
    let turn_id = turn_of(row.envelope.id);
    let end = reader.turn_output(&turn_id)?.as_ref().and_then(End::of);
    let interrupt = reader.interrupt_of(&turn_id)?;
    let removed = reader.removed_turn(&turn_id)?.is_some();
    let (state, reason) = seen.became(row, end.as_ref(), interrupt.as_ref().map(|row| row.pos));
    let ended_at = match state {
        TurnState::Completed | TurnState::Interrupted | TurnState::Failed => {
            end.as_ref().map(|end| end.at).or_else(|| first(&row.receipts, |rung| rung == Rung::TurnEnded))
        }
        TurnState::Rejected | TurnState::Expired | TurnState::Ambiguous => {
            row.receipts.last().map(|receipt| receipt.at)
        }
        TurnState::Queued | TurnState::Running | TurnState::Unknown => None,
    };
    let known = row.receipts.len() + usize::from(interrupt.is_some()) + usize::from(removed);
    let (run_id, task_id) = work_of(reader, turn_id)?;
    Ok(TurnView {
        turn_id,
        run_id,
        task_id,
        thread_id: row.envelope.thread.unwrap_or(seen.main),
        agent: seen.name.to_string(),
        message_id: Some(row.envelope.id),
        state,
        reason,
        source: Some(row.envelope.source.principal.clone()),
        channel: Some(row.envelope.channel),
        authority: Some(row.envelope.authority),
        accepted_at: row.receipts.first().map(|receipt| receipt.at),
        started_at: first(&row.receipts, |rung| matches!(rung, Rung::Injected | Rung::Observed)),
        ended_at,
        epoch: row.epoch,
        outcome: end.as_ref().and_then(|end| end.outcome.clone()),
        output: end.map(|end| end.output),
        interrupt: interrupt.map(|row| InterruptView { at: row.at, reason: row.asked.reason }),
        removed,
        version: u64::try_from(known).unwrap_or(u64::MAX),
    })
}

/// A turn that a program began by itself: it is known by its end.
pub(super) fn turn_by_itself(seen: &Seen, turn_id: TurnId, end: End) -> TurnView {
    TurnView {
        turn_id,
        run_id: RunId::from_bytes(*turn_id.as_bytes()),
        task_id: TaskId::from_bytes(*turn_id.as_bytes()),
        thread_id: seen.main,
        agent: seen.name.to_string(),
        message_id: None,
        state: TurnState::Completed,
        reason: Some("its program began it by itself".to_owned()),
        source: None,
        channel: None,
        authority: end.output.authority,
        accepted_at: None,
        started_at: None,
        ended_at: Some(end.at),
        epoch: Some(end.epoch),
        outcome: end.outcome,
        output: Some(end.output),
        interrupt: None,
        removed: false,
        version: 1,
    }
}

/// Whether a message belongs to a thread.
pub(super) fn is_of(thread: &ThreadRow, row: &MessageRow) -> bool {
    let is_theirs = row.envelope.target == thread.agent || row.addressed == thread.agent;
    is_theirs && (row.envelope.thread == Some(thread.id) || thread.is_main && row.envelope.thread.is_none())
}

/// The turn of a thread that runs.
pub(super) fn open_turn(
    reader: &Reader,
    seen: &Seen,
    thread: &ThreadRow,
) -> Result<Option<MessageRow>, ReadError> {
    if !seen.has_epoch() || !seen.ends_turns {
        return Ok(None);
    }
    for open in reader.newest_turns(&seen.id, seen.epoch, OPEN_MAX)? {
        let row = reader.message(&open.message_id)?;
        let own = row.filter(|row| is_of(thread, row) && row.envelope.into_turn.is_none());
        let runs = |row: &MessageRow| matches!(row.state, Rung::Injected | Rung::Observed);
        if let Some(row) = own.filter(runs) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// The messages of a thread that wait, with their places in the order of delivery of the agent.
pub(super) fn queue(
    reader: &Reader,
    thread: &ThreadRow,
    rows: usize,
) -> Result<Vec<(u64, MessageRow)>, ReadError> {
    let waiting = reader.next_waiting(&thread.agent, QUEUE_MAX)?;
    let placed = (1..).zip(waiting).filter(|(_, row)| is_of(thread, row) && row.envelope.into_turn.is_none());
    Ok(placed.take(rows).collect())
}

/// Waiting messages that are looked through for those of a thread.
pub(super) const QUEUE_MAX: usize = 2_000;

/// How it is with a thread.
pub(super) fn status(reader: &Reader, seen: &Seen, thread: &ThreadRow) -> Result<ThreadStatus, ReadError> {
    if thread.archived_at.is_some() {
        return Ok(ThreadStatus::Archived);
    }
    if seen.phase == Phase::Unobservable {
        return Ok(ThreadStatus::Unknown);
    }
    let runs = open_turn(reader, seen, thread)?.is_some();
    let waits = !queue(reader, thread, 1)?.is_empty();
    let is_stuck = matches!(seen.phase, Phase::Stopped | Phase::Failed | Phase::Quarantined | Phase::Frozen);
    Ok(match (runs, waits) {
        (true, _) if asks(reader, seen)? || seen.phase == Phase::Frozen => ThreadStatus::Blocked,
        (true, _) => ThreadStatus::Running,
        (false, true) if is_stuck => ThreadStatus::Blocked,
        (false, true) => ThreadStatus::Queued,
        // Nobody can tell whether what a terminal was given last is done.
        (false, false) if !seen.ends_turns && seen.has_epoch() => ThreadStatus::Unknown,
        (false, false) => ThreadStatus::Idle,
    })
}

fn asks(reader: &Reader, seen: &Seen) -> Result<bool, ReadError> {
    use edgeplane_types::decision::ActionKind;
    let approvals = reader.pending_actions(&seen.id, ActionKind::Approval)?;
    Ok(approvals > 0 || reader.pending_actions(&seen.id, ActionKind::Question)? > 0)
}

/// Whether an agent's program has a context for one thread alone.
pub(super) fn context(reader: &Reader, agent: &AgentId) -> Result<Context, ReadError> {
    let filter = edgeplane_store::ThreadFilter { agent: Some(*agent), session: None, archived: true };
    let several = reader.threads(&filter, 2, 0)?.len() > 1;
    Ok(if several { Context::Shared } else { Context::Own })
}

fn compacted(reader: &Reader, id: ThreadId) -> Result<Option<CompactionView>, ReadError> {
    let Some(committed) = reader.compaction(&id)? else { return Ok(None) };
    let by = committed.event.actor.name().clone();
    let Fact::ThreadCompacted(said) = &committed.event.fact else { return Ok(None) };
    Ok(Some(CompactionView {
        through: said.through,
        turns: said.turns,
        summary_digest: said.summary_digest.clone(),
        summary_bytes: said.summary_bytes,
        by,
        authority: said.authority,
        at: committed.event.ts,
    }))
}

pub(super) fn thread(reader: &Reader, seen: &Seen, row: ThreadRow) -> Result<ThreadView, ReadError> {
    Ok(ThreadView {
        thread_id: row.id,
        session_id: row.session,
        agent: seen.name.to_string(),
        agent_id: seen.id,
        main: row.is_main,
        status: status(reader, seen, &row)?,
        context: context(reader, &seen.id)?,
        title: row.title,
        labels: row.labels,
        parent: row.parent.map(|parent| ParentView {
            agent_id: parent.agent_id,
            thread_id: parent.thread_id,
            through: parent.through,
        }),
        removed_turns: row.removed,
        compacted: compacted(reader, row.id)?,
        version: row.version,
        created_at: row.created_at,
        updated_at: row.changed_at,
        archived_at: row.archived_at,
    })
}
