//! Messages that did not reach their agent: list them, let one wait once more, let one go.

use edgeplane_store::{AgentRow, MessageRow};
use edgeplane_types::{AgentId, ErrorName, MessageId, Phase, StreamName, Tenant};
use edgeplane_wire::{
    api::{
        Empty,
        message::{DeadLettersParams, DeadLettersResult, DropParams, MessageParams, MessageView},
    },
    rpc::RpcError,
};

use super::{Session, check_owner, messages};
use crate::{
    agent::{Command, LetterRequest},
    record::{Draft, Origin, refused},
};

/// Bytes of contents in one page; what does not fit is on the next one, and one letter always fits.
const PAGE_BYTES_MAX: u64 = 8 << 20;

pub(in crate::server) async fn list(
    session: &Session,
    params: DeadLettersParams,
) -> Result<DeadLettersResult, RpcError> {
    let own = session.caller.agent.as_ref().map(|agent| agent.id);
    let agent = match (&params.agent, own) {
        (Some(name), _) => Some(living_or_not(session, name)?),
        (None, own) => own,
    };
    match agent {
        Some(id) => check_owner(session, id)?,
        None if session.caller.is_operator() => {}
        None => return Err(not_all(session)),
    }
    let record = &session.shared.record;
    let (limit, cursor) = (params.limit.clamp(1, messages::LIST_MAX), params.cursor);
    let limit = usize::try_from(limit).unwrap_or(1);
    // One more than is shown tells whether there is another page.
    let mut rows = record
        .read(move |reader| reader.dead_letters(agent.as_ref(), limit.saturating_add(1), cursor))
        .await?;
    let mut bytes = 0_u64;
    let fits = rows.iter().take(limit).take_while(|row| {
        bytes = bytes.saturating_add(row.envelope.content_bytes);
        bytes <= PAGE_BYTES_MAX
    });
    let shown = fits.count().max(1);
    let next = (rows.len() > shown).then(|| rows.get(shown.saturating_sub(1)).map(|row| row.accepted_pos));
    rows.truncate(shown);
    let items = rows.into_iter().map(|row| named_view(session, row)).collect::<Result<_, _>>()?;
    Ok(DeadLettersResult { items, next: next.flatten() })
}

/// The id of an agent, also of one that is retired if its id is given.
fn living_or_not(session: &Session, name: &str) -> Result<AgentId, RpcError> {
    match super::agent(session, name) {
        Ok(agent) => Ok(agent.id),
        Err(error) => match name.parse::<AgentId>() {
            Ok(id) => agent_row(session, id)?.map(|row| row.id).ok_or(error),
            Err(_) => Err(error),
        },
    }
}

fn agent_row(session: &Session, id: AgentId) -> Result<Option<AgentRow>, RpcError> {
    session.shared.record.look_up(|reader| reader.agent_by_id(&id))
}

fn not_all(session: &Session) -> RpcError {
    let who = &session.caller.principal;
    let what = format!("`{who}` may see only its own: rule owner-or-operator");
    RpcError::new(ErrorName::PermissionDenied, what)
}

fn named_view(session: &Session, row: MessageRow) -> Result<MessageView, RpcError> {
    let target = row.addressed;
    let found = agent_row(session, target)?;
    let name = found.map_or_else(|| target.to_string(), |agent| agent.name.to_string());
    messages::view(&session.shared.record, row, &name)
}

pub(in crate::server) async fn replay(
    session: &Session,
    params: MessageParams,
) -> Result<MessageView, RpcError> {
    let row = message(session, params.message_id)?;
    let target = row.envelope.target;
    match session.shared.agent(&Tenant::default(), &target.to_string()) {
        Ok(agent) => {
            let origin = Origin::actor(session.caller.actor());
            let (id, request) = (params.message_id, LetterRequest::Replay);
            let done = agent.ask(|reply| Command::DeadLetter(id, request, origin, reply)).await;
            match done {
                Ok(done) => done?,
                Err(gone) => return Err(retired(session, target)?.unwrap_or(gone)),
            }
        }
        Err(gone) => return Err(retired(session, target)?.unwrap_or(gone)),
    }
    session.effect.notify_one();
    named_view(session, message(session, params.message_id)?)
}

/// Why nothing can be delivered to an agent that is no more.
fn retired(session: &Session, id: AgentId) -> Result<Option<RpcError>, RpcError> {
    let row = agent_row(session, id)?.filter(|row| row.phase == Phase::Retired);
    Ok(row.map(|row| {
        let what = format!("agent `{}` ({id}) is deleted: nobody can take the message", row.name);
        RpcError::new(ErrorName::InvalidState, what)
            .hint("send its content to another agent, and drop it with `edgeplane message drop`")
    }))
}

pub(in crate::server) async fn drop_for_good(
    session: &Session,
    params: DropParams,
) -> Result<Empty, RpcError> {
    let row = message(session, params.message_id)?;
    let origin = Origin::actor(session.caller.actor());
    let request = LetterRequest::Drop(params.reason);
    match session.shared.agent(&Tenant::default(), &row.envelope.target.to_string()) {
        Ok(agent) => {
            let id = params.message_id;
            agent.ask(|reply| Command::DeadLetter(id, request, origin, reply)).await??;
        }
        // No engine writes the stream of an agent that is no more.
        Err(_) => {
            let stream = StreamName::Agent(row.envelope.target);
            let mut draft = Draft::default();
            session.shared.record.add(&mut draft, stream, &origin, request.fact(&row)?);
            session.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        }
    }
    session.effect.notify_one();
    Ok(Empty {})
}

fn message(session: &Session, id: MessageId) -> Result<MessageRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.message(&id))?;
    row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no message {id}")))
}
