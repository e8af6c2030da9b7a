//! What happens in a thread now, and what a crash or a stop left in it.

use edgeplane_store::{ActionFilter, MessageRow, Order, ReadError, Reader, ThreadRow};
use edgeplane_types::{Phase, StreamName, TurnId};
use edgeplane_wire::{
    api::conversation::{
        output::OutputRef,
        thread::{
            Incident, Marker, MarkerWord, Repair, RepairKind, ThreadParams, ThreadReadResult,
            ThreadResumeResult,
        },
        turn::{QueuedTurn, TurnState, TurnView},
    },
    rpc::RpcError,
};

use super::{
    Session, thread_of,
    view::{self, Seen},
};
use crate::agent::turns_of;

/// Turns that wait and are shown.
const QUEUE_SHOWN_MAX: usize = 50;

/// The newest turns, among which what went wrong is looked for.
const NEWEST_MAX: usize = 100;

/// Actions that are looked through.
const ACTIONS_MAX: usize = 200;

/// Incidents that are shown.
const INCIDENTS_MAX: usize = 10;

/// What both answers are made of, of one state of the record.
struct Now {
    open_turn: Option<TurnView>,
    queue: Vec<QueuedTurn>,
    queued: u64,
    newest: Vec<TurnView>,
}

fn now(reader: &Reader, seen: &Seen, thread: &ThreadRow) -> Result<Now, ReadError> {
    let show = |row: &MessageRow| view::turn(reader, seen, row);
    let open = view::open_turn(reader, seen, thread)?;
    let queue = view::queue(reader, thread, usize::MAX)?;
    let queued = u64::try_from(queue.len()).unwrap_or(u64::MAX);
    let shown = queue.iter().take(QUEUE_SHOWN_MAX);
    let queue = shown
        .map(|(position, row)| Ok(QueuedTurn { position: *position, turn: show(row)? }))
        .collect::<Result<_, ReadError>>()?;
    let newest = reader.turns_in(turns_of(thread), Order::Newest, NEWEST_MAX, 0)?;
    let newest = newest.iter().map(show).collect::<Result<_, _>>()?;
    Ok(Now { open_turn: open.as_ref().map(show).transpose()?, queue, queued, newest })
}

pub(in crate::server) async fn read(
    session: &Session,
    params: ThreadParams,
) -> Result<ThreadReadResult, RpcError> {
    let thread = thread_of(session, params.thread_id, params.agent.as_deref())?;
    let seen = Seen::of(&session.shared, thread.agent)?;
    session
        .shared
        .record
        .read(move |reader| {
            let as_of_seq = reader.stream_head(&StreamName::Agent(seen.id))?.map_or(0, |head| head.seq);
            let Now { open_turn, queue, queued, newest } = now(reader, &seen, &thread)?;
            let pending = reader.actions(ActionFilter::Pending, Some(&seen.id), ACTIONS_MAX)?;
            let mut pending_actions = Vec::new();
            for row in pending {
                let cause = match row.action.causation {
                    Some(id) => reader.message(&id)?,
                    None => None,
                };
                // What nothing led to belongs to the agent's first conversation.
                if cause.map_or(thread.is_main, |cause| view::is_of(&thread, &cause)) {
                    pending_actions.push(row.action.id);
                }
            }
            Ok(ThreadReadResult {
                agent_state: seen.state(),
                open_turn,
                queue,
                queued,
                pending_actions,
                last_output: last_output(&newest),
                incidents: incidents(&newest),
                markers: markers(&seen),
                as_of_seq,
                thread: view::thread(reader, &seen, thread)?,
            })
        })
        .await
}

/// The output of the turn that ended last.
fn last_output(newest: &[TurnView]) -> Option<OutputRef> {
    let ended = newest.iter().filter(|turn| !turn.removed && turn.output.is_some());
    ended.max_by_key(|turn| turn.ended_at)?.output.clone()
}

fn incidents(newest: &[TurnView]) -> Vec<Incident> {
    use TurnState::{Ambiguous, Expired, Failed, Interrupted, Rejected};
    let wrong = |turn: &&TurnView| {
        !turn.removed && matches!(turn.state, Failed | Interrupted | Ambiguous | Expired | Rejected)
    };
    let shown = newest.iter().filter(wrong).take(INCIDENTS_MAX);
    shown
        .map(|turn| Incident { turn_id: turn.turn_id, state: turn.state, reason: turn.reason.clone() })
        .collect()
}

/// What is not known of a thread.
fn markers(seen: &Seen) -> Vec<Marker> {
    let marker =
        |of: &str, marker, reason: &str| Marker { of: of.to_owned(), marker, reason: reason.to_owned() };
    let mut markers = vec![
        marker("tasks", MarkerWord::Unavailable, "this version has no tasks"),
        marker("runs", MarkerWord::Unavailable, "this version has no runs"),
    ];
    if !seen.ends_turns {
        let why = "its terminal does not say when a turn is over";
        markers.push(marker("open_turn", MarkerWord::Unknown, why));
        markers.push(marker("last_output", MarkerWord::Unavailable, why));
    }
    if seen.phase == Phase::Unobservable {
        let why = "the agent's shim cannot be reached";
        markers.push(marker("status", MarkerWord::Unknown, why));
        markers.push(marker("open_turn", MarkerWord::Stale, why));
    }
    markers
}

pub(in crate::server) async fn resume(
    session: &Session,
    params: ThreadParams,
) -> Result<ThreadResumeResult, RpcError> {
    let thread = thread_of(session, params.thread_id, params.agent.as_deref())?;
    let seen = Seen::of(&session.shared, thread.agent)?;
    session
        .shared
        .record
        .read(move |reader| {
            let found = now(reader, &seen, &thread)?;
            let repairs = repairs(&seen, &found);
            Ok(ThreadResumeResult {
                agent_state: seen.state(),
                open_turn: found.open_turn,
                repairs,
                thread: view::thread(reader, &seen, thread)?,
            })
        })
        .await
}

fn repairs(seen: &Seen, now: &Now) -> Vec<Repair> {
    let repair = |kind, turn_id: Option<TurnId>, reason: Option<&String>, do_next: String| Repair {
        kind,
        turn_id,
        reason: reason.cloned().unwrap_or_else(|| "no reason is known".to_owned()),
        do_next,
    };
    let mut repairs = Vec::new();
    let name = &seen.name;
    let down = match seen.phase {
        Phase::Stopped | Phase::Failed => Some(format!("edgeplane agent start {name}")),
        Phase::Frozen => Some(format!("edgeplane agent unfreeze {name}")),
        Phase::Quarantined => Some(format!("edgeplane agent release {name}")),
        Phase::Backoff => Some("wait: it is started again by itself".to_owned()),
        Phase::Unobservable => Some("wait until its shim can be reached, or stop it".to_owned()),
        Phase::Retired => Some("nothing: the agent is deleted".to_owned()),
        _ => None,
    };
    if let Some(do_next) = down {
        let reason = seen.reason.clone().unwrap_or_else(|| format!("it is {}", seen.phase));
        repairs.push(repair(RepairKind::Agent, None, Some(&reason), do_next));
    }
    for turn in now.newest.iter().filter(|turn| !turn.removed) {
        let message = turn.message_id.map(|id| id.to_string()).unwrap_or_default();
        let (kind, do_next) = match turn.state {
            TurnState::Ambiguous => (
                RepairKind::Ambiguous,
                format!("edgeplane message replay {message}, or edgeplane message drop {message}"),
            ),
            TurnState::Interrupted => (
                RepairKind::Interrupted,
                "begin another turn; `delivery.openTurn: retry` does it by itself".to_owned(),
            ),
            TurnState::Failed | TurnState::Expired => {
                (RepairKind::GivenUp, format!("edgeplane message replay {message}, or begin another turn"))
            }
            TurnState::Queued if turn.reason.is_some() => (
                RepairKind::Held,
                "what holds it back says the reason; or take it out of the queue".to_owned(),
            ),
            _ => continue,
        };
        repairs.push(repair(kind, Some(turn.turn_id), turn.reason.as_ref(), do_next));
    }
    repairs
}
