//! Sessions: the first one of an agent, and further ones.

use edgeplane_store::{ReadError, Reader, TalkRow};
use edgeplane_types::{
    AgentId, ErrorName, Fact, SessionId, ThreadId,
    fact::{SessionArchived, SessionCreated, ThreadCreated},
};
use edgeplane_wire::{
    api::conversation::thread::{
        SessionArchiveParams, SessionCreateParams, SessionEntry, SessionListParams, SessionListResult,
        SessionParams,
    },
    rpc::RpcError,
};

use super::{
    super::{agent, terminals::agent_id},
    Session, check_chosen, check_owner, checked_labels, checked_reason, checked_title, decide, meant,
    next_of, rows, unavailable, view,
};

pub(in crate::server) async fn create(
    session: &Session,
    params: SessionCreateParams,
) -> Result<SessionEntry, RpcError> {
    let handle = meant(session, params.agent.as_deref())?;
    check_owner(session, handle.id)?;
    checked_labels(&params.labels)?;
    let title = checked_title(params.title.as_deref())?;
    if let Some(id) = &params.session_id {
        check_chosen(id.as_bytes(), "`session_id`")?;
    }
    let session_id: SessionId = params.session_id.unwrap_or_else(|| session.shared.record.mint().id());
    let created = SessionCreated { session_id, title, labels: params.labels };
    let (agent_id, made) = (handle.id, created.clone());
    decide(session, &handle, true, move |reader| {
        if let Some(known) = reader.talk(&session_id).map_err(|error| unavailable(&error))? {
            return same(&known, agent_id, &made).map(|()| Vec::new());
        }
        let thread_id = ThreadId::from_bytes(*session_id.as_bytes());
        let thread = ThreadCreated {
            thread_id,
            session_id,
            title: made.title.clone(),
            labels: made.labels.clone(),
            parent: None,
        };
        Ok(vec![Fact::SessionCreated(made), Fact::ThreadCreated(thread)])
    })
    .await?;
    one(session, session_id)
}

/// A session under an id that is used.
fn same(known: &TalkRow, agent: AgentId, wanted: &SessionCreated) -> Result<(), RpcError> {
    let is_same = known.agent == agent && known.title == wanted.title && known.labels == wanted.labels;
    if is_same && !known.is_main {
        return Ok(());
    }
    let what = format!("session {} exists already, and is another one", known.id);
    Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new session"))
}

fn row(session: &Session, id: SessionId) -> Result<TalkRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.talk(&id))?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no session {id}")))?;
    check_owner(session, row.agent)?;
    Ok(row)
}

fn one(session: &Session, id: SessionId) -> Result<SessionEntry, RpcError> {
    let row = row(session, id)?;
    session.shared.record.look_up(|reader| shown(reader, row))
}

pub(in crate::server) fn get(session: &Session, params: &SessionParams) -> Result<SessionEntry, RpcError> {
    one(session, params.session_id)
}

fn shown(reader: &Reader, row: TalkRow) -> Result<SessionEntry, ReadError> {
    let name =
        reader.agent_by_id(&row.agent)?.map_or_else(|| row.agent.to_string(), |agent| agent.name.to_string());
    Ok(SessionEntry {
        session_id: row.id,
        agent: name,
        agent_id: row.agent,
        main: row.is_main,
        thread_id: ThreadId::from_bytes(*row.id.as_bytes()),
        context: view::context(reader, &row.agent)?,
        title: row.title,
        labels: row.labels,
        version: row.version,
        created_at: row.created_at,
        archived_at: row.archived_at,
    })
}

pub(in crate::server) async fn list(
    session: &Session,
    params: SessionListParams,
) -> Result<SessionListResult, RpcError> {
    let of = owned(session, params.agent.as_deref())?;
    let (rows, cursor) = (rows(params.limit), params.cursor);
    session
        .shared
        .record
        .read(move |reader| {
            let found = reader.talks(of.as_ref(), rows, cursor)?;
            let next = next_of(&found, rows, |row| row.created_pos);
            let wanted = found.into_iter().filter(|row| params.archived || row.archived_at.is_none());
            let items = wanted.map(|row| shown(reader, row)).collect::<Result<_, _>>()?;
            Ok(SessionListResult { items, next })
        })
        .await
}

/// Whose conversations somebody may list: an operator anybody's, an agent its own.
pub(super) fn owned(session: &Session, named: Option<&str>) -> Result<Option<AgentId>, RpcError> {
    let of = match (named, &session.caller.agent) {
        (Some(name), _) => Some(agent_id(session, name)?),
        (None, Some(own)) => Some(own.id),
        (None, None) => None,
    };
    match of {
        Some(id) => check_owner(session, id)?,
        None if session.caller.is_operator() => {}
        None => {
            let who = &session.caller.principal;
            let what = format!("`{who}` may see only its own: rule owner-or-operator");
            return Err(RpcError::new(ErrorName::PermissionDenied, what));
        }
    }
    Ok(of)
}

pub(in crate::server) async fn archive(
    session: &Session,
    params: SessionArchiveParams,
) -> Result<SessionEntry, RpcError> {
    let known = row(session, params.session_id)?;
    let reason = checked_reason(params.reason.as_deref(), "somebody asked for it")?;
    let handle = agent(session, &known.agent.to_string())?;
    let (id, if_version) = (known.id, params.if_version);
    decide(session, &handle, false, move |reader| {
        let row = reader.talk(&id).map_err(|error| unavailable(&error))?;
        let Some(row) = row else { return Ok(Vec::new()) };
        if row.archived_at.is_some() {
            return Ok(Vec::new());
        }
        if let Some(wanted) = if_version.filter(|wanted| *wanted != row.version) {
            let what = format!("session {id} is at version {}, not {wanted}", row.version);
            return Err(RpcError::new(ErrorName::VersionConflict, what));
        }
        if row.is_main {
            let what = format!("session {id} is the agent's first one, which lives as long as the agent");
            return Err(RpcError::new(ErrorName::InvalidState, what));
        }
        Ok(vec![Fact::SessionArchived(SessionArchived { session_id: id, reason })])
    })
    .await?;
    one(session, id)
}
