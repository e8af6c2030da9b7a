//! Turns: begun, steered, interrupted, looked at.

use std::sync::atomic::Ordering;

use edgeplane_store::{MessageRow, Order, TurnsOf};
use edgeplane_types::{
    AgentId, BindingMode, DeliveryMode, ErrorName, Ingress, MessageId, RunId, RunLimits, ThreadId, TurnId,
    fact::ThreadCreated,
};
use edgeplane_wire::{
    api::{
        conversation::turn::{
            OnBusy, QueueFate, StreamPlace, ThreadToCreate, TurnInterruptParams, TurnInterruptResult,
            TurnListParams, TurnListResult, TurnParams, TurnStartParams, TurnStartResult, TurnSteerParams,
            TurnView,
        },
        stream::Target,
        workspace::BindingParam,
    },
    rpc::RpcError,
};

use super::{
    super::{
        agent, messages,
        work::{bindings_of, implicit},
        workspaces::bindings,
    },
    Session, check_chosen, check_owner, checked_labels, checked_reason, checked_title, meant, next_of, rows,
    thread, thread_of,
    view::{self, End, Seen},
    whose,
};
use crate::{
    admission::{self, Saying},
    agent::{AgentHandle, Begun, Command, ToBegin, TurnRequest, message_of, turn_of, turns_of},
    record::{Draft, Origin},
    shared::Shared,
    work::is_run_over,
    workspaces,
};

/// Where a turn is to begin.
struct Place {
    handle: AgentHandle,
    /// The thread, if it is not the first one.
    thread: Option<ThreadId>,
    create: Option<ThreadCreated>,
    /// The id that the turn has, if that is settled already.
    message_id: Option<MessageId>,
}

pub(in crate::server) async fn start(
    session: &Session,
    params: TurnStartParams,
) -> Result<TurnStartResult, RpcError> {
    if let Some(id) = &params.turn_id {
        check_chosen(id.as_bytes(), "`turn_id`")?;
    }
    if !params.limits.is_none() && params.on_busy == OnBusy::Steer {
        let what = "a turn that may go into another one has no limits of its own";
        return Err(
            RpcError::new(ErrorName::InvalidParams, what).hint("leave out `limits`, or say `on_busy: queue`")
        );
    }
    if params.workspace_id.is_some() && params.on_busy == OnBusy::Steer {
        let what = "a turn that may go into another one is bound to no workspace of its own";
        return Err(RpcError::new(ErrorName::InvalidParams, what)
            .hint("leave out `workspace_id`, or say `on_busy: queue`"));
    }
    let place = place(session, &params)?;
    let binding = binding(session, &params, place.handle.id)?;
    let saying = Saying {
        priority: params.priority,
        expires_in_ms: params.expires_in_ms,
        idempotency_key: params.idempotency_key,
        reply_to: params.reply_to,
        causation: params.causation,
        on_behalf_of: params.on_behalf_of,
        authority: params.authority,
        display_name: params.display_name,
        thread: place.thread,
        message_id: place.message_id,
        ..Saying::plain(params.input, Ingress::Signal)
    };
    let how = How { on_busy: params.on_busy, create: place.create, limits: params.limits, binding };
    begin(session, &place.handle, saying, how).await
}

/// How a turn is to be begun.
struct How {
    on_busy: OnBusy,
    create: Option<ThreadCreated>,
    limits: RunLimits,
    binding: Option<BindingParam>,
}

/// To what the run of a turn is to be bound.
fn binding(
    session: &Session,
    params: &TurnStartParams,
    agent: AgentId,
) -> Result<Option<BindingParam>, RpcError> {
    match (params.workspace_id, params.workspace_mode) {
        (Some(workspace_id), mode) => {
            bindings::bindable(session, workspace_id, Some(agent))?;
            Ok(Some(BindingParam { workspace_id, mode: mode.unwrap_or(BindingMode::ReadWrite) }))
        }
        (None, Some(_)) => {
            let what =
                "`workspace_mode` says what may be done in the workspace of `workspace_id`: name it too";
            Err(RpcError::new(ErrorName::InvalidParams, what))
        }
        (None, None) => Ok(None),
    }
}

/// Passes the one admission there is, and then the agent's engine.
async fn begin(
    session: &Session,
    handle: &AgentHandle,
    mut saying: Saying,
    how: How,
) -> Result<TurnStartResult, RpcError> {
    let How { on_busy, create, limits, binding } = how;
    if !limits.is_none() || binding.is_some() {
        saying.message_id.get_or_insert_with(|| session.shared.record.mint().id());
    }
    let admitted = admission::admit(&session.shared, &session.caller, handle, saying)?;
    let along = match limits.is_none() {
        true => Draft::default(),
        false => implicit::written_down(session, &admitted, (handle.id, limits)),
    };
    let binding = match binding {
        Some(to) => Some((to, workspaces::to_bind(&session.shared, to.workspace_id).await)),
        None => None,
    };
    let wanted = Box::new(ToBegin { admitted, on_busy, create, along, binding });
    let begun = handle.ask(|reply| Command::Begin(wanted, reply)).await??;
    if !limits.is_none() {
        session.shared.work.look([RunId::from_bytes(*begun.turn_id.as_bytes())]);
    }
    session.effect.notify_one();
    let Begun { message_id, thread, turn_id, disposition, queue_position, next_seq, duplicate } = begun;
    session.replayed.store(duplicate, Ordering::Relaxed);
    let thread_id = match thread {
        Some(id) => id,
        None => super::main_thread(session, handle.id)?.id,
    };
    let stream = StreamPlace { target: Target::agent(handle.id.to_string()), next_seq };
    let (run_id, task_id) = session.shared.record.look_up(|reader| view::work_of(reader, turn_id))?;
    let is_over = is_run_over(&session.shared, run_id)?;
    let bindings = session.shared.record.look_up(|reader| bindings_of(reader, run_id, is_over))?;
    Ok(TurnStartResult {
        turn_id,
        run_id,
        task_id,
        thread_id,
        message_id,
        disposition,
        queue_position,
        stream,
        bindings,
        duplicate,
    })
}

fn place(session: &Session, params: &TurnStartParams) -> Result<Place, RpcError> {
    let message_id = params.turn_id.map(message_of);
    match (params.thread_id, params.agent.as_deref(), &params.create) {
        (Some(id), None, None) => {
            // Anybody whom the rules let may speak in a thread: what it holds they are not told.
            let row = thread(session, id)?;
            let handle = agent(session, &row.agent.to_string())?;
            let thread = (!row.is_main).then_some(id);
            Ok(Place { handle, thread, create: None, message_id })
        }
        (None, Some(name), None) => {
            Ok(Place { handle: agent(session, name)?, thread: None, create: None, message_id })
        }
        (None, None, Some(create)) => to_create(session, create, message_id),
        _ => Err(RpcError::new(
            ErrorName::InvalidParams,
            "name one of `thread_id`, `agent` and `create`: where the turn is to begin",
        )),
    }
}

/// A thread that is made with its first turn; without an id of its own it has the turn's.
fn to_create(
    session: &Session,
    create: &ThreadToCreate,
    message_id: Option<MessageId>,
) -> Result<Place, RpcError> {
    let handle = meant(session, create.agent.as_deref())?;
    check_owner(session, handle.id)?;
    checked_labels(&create.labels)?;
    if let Some(id) = &create.thread_id {
        check_chosen(id.as_bytes(), "`create.thread_id`")?;
    }
    let message_id: MessageId = message_id.unwrap_or_else(|| session.shared.record.mint().id());
    let thread_id = create.thread_id.unwrap_or_else(|| ThreadId::from_bytes(*message_id.as_bytes()));
    let created = ThreadCreated {
        thread_id,
        session_id: super::main_thread(session, handle.id)?.session,
        title: checked_title(create.title.as_deref())?,
        labels: create.labels.clone(),
        parent: None,
    };
    let (thread, create, message_id) = (Some(thread_id), Some(created), Some(message_id));
    Ok(Place { handle, thread, create, message_id })
}

/// A turn's message, for those who may see it.
pub(in crate::server::methods) fn row_of(session: &Session, turn: TurnId) -> Result<MessageRow, RpcError> {
    let none = || RpcError::new(ErrorName::NotFound, format!("no turn {turn}"));
    let id = message_of(turn);
    let known = session.shared.record.look_up(|reader| reader.message(&id))?;
    if known.is_none() {
        return Err(none());
    }
    let row = messages::visible(session, id)?;
    match row.envelope.into_turn {
        Some(into) => Err(none().hint(format!("what has this id went into turn {into}"))),
        None => Ok(row),
    }
}

/// A turn's message, for those who may change it: not whoever sent it.
fn own_row(session: &Session, turn: TurnId) -> Result<MessageRow, RpcError> {
    let row = row_of(session, turn)?;
    check_owner(session, row.envelope.target)?;
    Ok(row)
}

pub(in crate::server::methods) fn shown(session: &Session, row: &MessageRow) -> Result<TurnView, RpcError> {
    shown_as(&session.shared, row, Seen::of)
}

/// The turn that a message is, as the record alone says it.
pub(super) fn recorded(shared: &Shared, row: &MessageRow) -> Result<TurnView, RpcError> {
    shown_as(shared, row, Seen::recorded)
}

fn shown_as(
    shared: &Shared,
    row: &MessageRow,
    see: fn(&Shared, AgentId) -> Result<Seen, RpcError>,
) -> Result<TurnView, RpcError> {
    let mut seen = see(shared, row.envelope.target)?;
    if row.addressed != row.envelope.target {
        // A replica has it; the thread is the set's.
        let set = see(shared, row.addressed)?;
        seen = Seen { main: set.main, ..seen };
    }
    shared.record.look_up(|reader| view::turn(reader, &seen, row))
}

pub(in crate::server) async fn steer(
    session: &Session,
    params: TurnSteerParams,
) -> Result<TurnStartResult, RpcError> {
    let row = own_row(session, params.turn_id)?;
    let now = shown(session, &row)?;
    if now.state.is_over() {
        let why = now.reason.map(|why| format!(": {why}")).unwrap_or_default();
        let what = format!("turn {} is over, {}{why}", params.turn_id, now.state.as_str());
        return Err(RpcError::new(ErrorName::InvalidState, what).hint("begin another turn in its thread"));
    }
    let handle = agent(session, &row.envelope.target.to_string())?;
    let saying = Saying {
        mode: DeliveryMode::Steer,
        idempotency_key: params.idempotency_key,
        authority: params.authority,
        thread: row.envelope.thread,
        into_turn: Some(params.turn_id),
        ..Saying::plain(params.input, Ingress::Signal)
    };
    let how = How { on_busy: OnBusy::Steer, create: None, limits: RunLimits::default(), binding: None };
    begin(session, &handle, saying, how).await
}

pub(in crate::server) async fn interrupt(
    session: &Session,
    params: TurnInterruptParams,
) -> Result<TurnInterruptResult, RpcError> {
    let row = own_row(session, params.turn_id)?;
    if params.queued == QueueFate::Drop && !session.caller.is_operator() {
        let who = &session.caller.principal;
        let what = format!("`{who}` may not drop what waits: rule operators-only");
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    }
    let reason = checked_reason(params.reason.as_deref(), "somebody asked for it")?;
    let handle = agent(session, &row.envelope.target.to_string())?;
    let origin = Origin::actor(session.caller.actor());
    let request = TurnRequest::Interrupt { turn: params.turn_id, reason, queued: params.queued };
    let done = handle.ask(|reply| Command::Turn(request, origin, reply)).await??;
    session.effect.notify_one();
    let turn = shown(session, &own_row(session, params.turn_id)?)?;
    Ok(TurnInterruptResult { outcome: done.outcome, turn, dropped: done.dropped })
}

pub(in crate::server) fn get(session: &Session, params: &TurnParams) -> Result<TurnView, RpcError> {
    let turn = params.turn_id;
    let by_itself = session.shared.record.look_up(|reader| {
        let of_message = reader.message(&message_of(turn))?.is_some();
        if of_message { Ok(None) } else { reader.turn_output(&turn) }
    })?;
    let Some(committed) = by_itself else { return shown(session, &row_of(session, turn)?) };
    let edgeplane_types::StreamName::Agent(id) = committed.event.stream else {
        return Err(RpcError::new(ErrorName::NotFound, format!("no turn {turn}")));
    };
    check_owner(session, id)?;
    let seen = Seen::of(&session.shared, id)?;
    let end = End::of(&committed);
    let end = end.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no turn {turn}")))?;
    Ok(view::turn_by_itself(&seen, turn, end))
}

pub(in crate::server) async fn list(
    session: &Session,
    params: TurnListParams,
) -> Result<TurnListResult, RpcError> {
    let of = match (params.thread_id, params.agent.as_deref()) {
        (Some(id), named) => turns_of(&thread_of(session, Some(id), named)?),
        (None, named) => {
            let id = whose(session, named)?;
            check_owner(session, id)?;
            TurnsOf::Agent(id)
        }
    };
    let (rows, cursor) = (rows(params.limit), params.cursor);
    let order = if params.newest { Order::Newest } else { Order::Oldest };
    let (found, removed) = session
        .shared
        .record
        .read(move |reader| {
            let found = reader.turns_in(of, order, rows, cursor)?;
            let mut removed = Vec::with_capacity(found.len());
            for row in &found {
                removed.push(reader.removed_turn(&turn_of(row.envelope.id))?.is_some());
            }
            Ok((found, removed))
        })
        .await?;
    let next = next_of(&found, rows, |row| row.accepted_pos);
    let wanted = found.iter().zip(removed).filter(|(_, removed)| params.removed || !removed);
    let items = wanted.map(|(row, _)| shown(session, row)).collect::<Result<_, _>>()?;
    Ok(TurnListResult { items, next })
}
