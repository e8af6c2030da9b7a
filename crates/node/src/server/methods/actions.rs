//! Actions: ask a person, list and look at what is asked, decide, take back.
//!
//! Owns who may do which of them. What a vote comes to is the business of the asking agent's engine.

use std::sync::atomic::Ordering;

use edgeplane_lifecycle::action::{AgentVoter, Vote};
use edgeplane_store::{ActionFilter, ActionRow, ReadError, Reader, StoredBody};
use edgeplane_types::{ActionId, AgentId, ErrorName, Ingress, PolicyAction, SafeLabel, Timestamp};
use edgeplane_wire::{
    api::action::{
        ActionParams, ActionView, DecideParams, ListParams, ListResult, OpenParams, OptionView, VoteView,
    },
    rpc::RpcError,
};
use serde_json::Value;

use super::{Session, agent, check_owner};
use crate::{
    admission::{self, Saying},
    agent::{ActionRequest, AgentHandle, Command, Teller},
    caller::Caller,
    gate::Asked,
};

/// Most actions in one list: with all that belongs to them they fit a line.
const LIST_MAX: u32 = 200;

/// The rule by which a caller may what its proof alone allows.
const PROOF_RULE: &str = "proof";

pub(in crate::server) async fn open(session: &Session, params: OpenParams) -> Result<ActionView, RpcError> {
    let handle = match (&params.agent, &session.caller.agent) {
        (Some(named), _) => agent(session, named)?,
        (None, Some(own)) => agent(session, &own.id.to_string())?,
        (None, None) => {
            return Err(RpcError::new(ErrorName::InvalidParams, "name the agent that asks"));
        }
    };
    check_owner(session, handle.id)?;
    let before = session.shared.record.head();
    let request = ActionRequest::Open(Box::new(session.caller.clone()), Box::new(params));
    let row = handle.ask(|reply| Command::Action(request, reply)).await??;
    session.replayed.store(row.opened_pos <= before, Ordering::Relaxed);
    whole_view(session, row)
}

pub(in crate::server) async fn list(session: &Session, params: ListParams) -> Result<ListResult, RpcError> {
    let of = match (&params.agent, &session.caller.agent) {
        (Some(named), _) => Some(agent_id(session, named)?),
        (None, Some(own)) => Some(own.id),
        (None, None) if session.caller.is_operator() => None,
        (None, None) => return Err(refused_to(&session.caller, "list actions", "owner-or-operator")),
    };
    if let Some(id) = of {
        check_owner(session, id)?;
    }
    let rows = usize::try_from(params.limit.clamp(1, LIST_MAX)).unwrap_or(1);
    let found = session
        .shared
        .record
        .read(
            move |reader| if params.all { newest(reader, of, rows) } else { first_to_end(reader, of, rows) },
        )
        .await?;
    // What is to be done may be long: it is looked at one by one.
    let items = found.into_iter().map(|row| view(session, row, None)).collect::<Result<_, _>>()?;
    Ok(ListResult { items })
}

fn newest(reader: &Reader, of: Option<AgentId>, rows: usize) -> Result<Vec<ActionRow>, ReadError> {
    let mut found = reader.actions(ActionFilter::All, of.as_ref(), rows)?;
    found.reverse();
    Ok(found)
}

fn first_to_end(reader: &Reader, of: Option<AgentId>, rows: usize) -> Result<Vec<ActionRow>, ReadError> {
    let ids = reader.expired_actions(of.as_ref(), Timestamp::from_micros(i64::MAX), rows)?;
    let found = ids.iter().map(|id| reader.action(id)).collect::<Result<Vec<_>, _>>()?;
    // One may have been decided since.
    Ok(found.into_iter().flatten().filter(|row| row.resolution.is_none()).collect())
}

/// The id of an agent, also of one that is retired.
fn agent_id(session: &Session, named: &str) -> Result<AgentId, RpcError> {
    match (agent(session, named), named.parse()) {
        (Ok(handle), _) => Ok(handle.id),
        (Err(_), Ok(id)) => Ok(id),
        (Err(error), Err(_)) => Err(error),
    }
}

pub(in crate::server) fn get(session: &Session, params: &ActionParams) -> Result<ActionView, RpcError> {
    let row = row(session, params.action_id)?;
    if let Err(refused) = check_owner(session, row.action.agent_id) {
        // Who may decide may look at what is asked.
        let handle = agent(session, &row.action.agent_id.to_string()).map_err(|_gone| refused.clone())?;
        let may = permitted(session, &handle).map_err(|_refused| refused.clone())?;
        may.agent.and_then(|agent| agent.permitted_by).ok_or(refused)?;
    }
    whole_view(session, row)
}

pub(in crate::server) async fn decide(
    session: &Session,
    params: DecideParams,
) -> Result<ActionView, RpcError> {
    let row = row(session, params.action_id)?;
    let handle = match agent(session, &row.action.agent_id.to_string()) {
        Ok(handle) => handle,
        Err(gone) => return Err(already(&row).unwrap_or(gone)),
    };
    let May { agent, teller } = permitted(session, &handle)?;
    let vote = Vote {
        principal: principal(session),
        agent,
        roles: roles(&session.caller),
        digest: params.digest,
        verdict: params.verdict,
        now: session.shared.record.now(),
    };
    let request = ActionRequest::Vote(params.action_id, Box::new(vote), Box::new(teller));
    ask(session, &handle, request).await
}

pub(in crate::server) async fn cancel(
    session: &Session,
    params: &ActionParams,
) -> Result<ActionView, RpcError> {
    let row = row(session, params.action_id)?;
    check_owner(session, row.action.agent_id)?;
    let handle = match agent(session, &row.action.agent_id.to_string()) {
        Ok(handle) => handle,
        Err(gone) => return Err(already(&row).unwrap_or(gone)),
    };
    let caller = session.caller.clone();
    let teller = Teller {
        authority: caller.authority(),
        hops: 0,
        rule: SafeLabel::sanitized("owner-or-operator"),
        caller,
    };
    let request = ActionRequest::Cancel(params.action_id, principal(session), Box::new(teller));
    ask(session, &handle, request).await
}

/// A caller who may vote as far as the gate is concerned.
struct May {
    /// None: a person.
    agent: Option<AgentVoter>,
    teller: Teller,
}

/// Asks the gate whether the caller may decide actions of an agent, and what its word weighs then.
fn permitted(session: &Session, handle: &AgentHandle) -> Result<May, RpcError> {
    let (shared, caller) = (&session.shared, &session.caller);
    let own = match &caller.agent {
        Some(own) if caller.is_agent(own.id) => Some(own),
        None if caller.is_operator() => None,
        Some(_) | None => return Err(refused_to(caller, "decide actions", PROOF_RULE)),
    };
    let (mut authority, mut hops) = (caller.authority(), 0);
    if let Some(own) = own {
        // What an agent decides weighs no more than what led it there, either.
        let led = admission::led_by(shared, own, &Saying::plain(Vec::new(), Ingress::Action))?;
        (authority, hops) = (authority.at_most(led.authority), led.hops);
    }
    let teller = |authority, rule| Teller { caller: caller.clone(), authority, hops, rule };
    if let Some(own) = own.filter(|own| own.id == handle.id) {
        // No rule lifts that one may not decide what is one's own, so none is asked.
        let agent = Some(AgentVoter { id: own.id, permitted_by: None });
        return Ok(May { agent, teller: teller(authority, SafeLabel::sanitized(PROOF_RULE)) });
    }
    let granted = shared.gate.decide(
        shared,
        &Asked {
            action: PolicyAction::Approve,
            caller,
            target: handle,
            channel: caller.channel(),
            ingress: Ingress::Action,
            authority,
            hops,
            topic: None,
            capability: None,
            causation: None,
            bytes: 0,
        },
    )?;
    // Who it is says nothing about whether an agent may: only a rule that somebody wrote does.
    let permitted_by = (granted.rule.as_str() != PROOF_RULE).then(|| granted.rule.clone());
    let agent = own.map(|own| AgentVoter { id: own.id, permitted_by });
    Ok(May { agent, teller: teller(granted.authority.at_most(authority), granted.rule) })
}

/// As whom a caller decides: an agent as the principal for which it acts, so that two of one principal count as one.
fn principal(session: &Session) -> SafeLabel {
    let own = session.caller.agent.as_ref().and_then(|own| agent(session, &own.id.to_string()).ok());
    own.map_or_else(|| session.caller.principal.clone(), |handle| handle.profile().subject.principal.clone())
}

/// The roles of a caller: those of its token. Who comes without a token has none.
fn roles(caller: &Caller) -> Vec<SafeLabel> {
    caller.roles.clone()
}

fn refused_to(caller: &Caller, what: &str, rule: &str) -> RpcError {
    RpcError::new(ErrorName::PermissionDenied, format!("`{}` may not {what}: rule {rule}", caller.principal))
}

async fn ask(
    session: &Session,
    handle: &AgentHandle,
    request: ActionRequest,
) -> Result<ActionView, RpcError> {
    let row = handle.ask(|reply| Command::Action(request, reply)).await??;
    whole_view(session, row)
}

fn row(session: &Session, id: ActionId) -> Result<ActionRow, RpcError> {
    let found = session.shared.record.look_up(|reader| reader.action(&id))?;
    found.ok_or_else(|| {
        RpcError::new(ErrorName::NotFound, format!("no action {id}"))
            .hint("`edgeplane action list --all` shows the actions there are")
    })
}

/// Why an action of an agent that is gone cannot be decided: it is.
fn already(row: &ActionRow) -> Option<RpcError> {
    let end = row.resolution.as_ref()?;
    let outcome = serde_json::to_value(end.outcome).ok()?;
    let word = outcome.as_str()?;
    Some(RpcError::new(
        ErrorName::InvalidState,
        format!("{}: already_resolved: action is already {word}", row.action.id),
    ))
}

fn whole_view(session: &Session, row: ActionRow) -> Result<ActionView, RpcError> {
    let subject = subject(session, &row)?;
    view(session, row, subject)
}

/// The answers that an agent's program offers, and how far each reaches.
fn offered(subject: &Value) -> Vec<OptionView> {
    let of = |option: &Value| {
        let text = |key: &str| option.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = text("kind").unwrap_or_else(|| "other".to_owned());
        let reach = match kind.as_str() {
            "allow_once" | "reject_once" => "just this once",
            "allow_always" => {
                "as long as the program remembers it, usually for its session; the program alone decides what else \
                 it then does without asking, and EdgePlane does not hear of it"
            }
            "reject_always" => "as long as the program remembers it, usually for its session",
            _ => "only the program knows",
        };
        Some(OptionView { id: text("option")?, name: text("name")?, kind, reach: reach.to_owned() })
    };
    subject.get("offered").and_then(Value::as_array).into_iter().flatten().filter_map(of).collect()
}

/// What is to be done, word for word, unless it was erased.
fn subject(session: &Session, row: &ActionRow) -> Result<Option<Value>, RpcError> {
    let Some(digest) = row.action.subject_digest.as_ref().and_then(|digest| digest.parse().ok()) else {
        return Ok(None);
    };
    match session.shared.record.look_up(|reader| reader.body(&digest))? {
        Some(StoredBody::Bytes(bytes)) => Ok(serde_json::from_slice(&bytes).ok()),
        Some(StoredBody::Erased { .. }) | None => Ok(None),
    }
}

fn view(session: &Session, row: ActionRow, subject: Option<Value>) -> Result<ActionView, RpcError> {
    let ActionRow { action, votes, resolution, .. } = row;
    let id = action.agent_id;
    let found = session.shared.record.look_up(|reader| reader.agent_by_id(&id))?;
    let votes = votes.into_iter();
    let options = subject.as_ref().filter(|_| crate::agent::is_asked_by_program(&action)).map(offered);
    Ok(ActionView {
        options: options.unwrap_or_default(),
        agent: found.map_or_else(|| id.to_string(), |agent| agent.name.to_string()),
        action,
        subject,
        votes: votes
            .map(|vote| VoteView { principal: vote.principal, verdict: vote.verdict, at: vote.at })
            .collect(),
        outcome: resolution.as_ref().map(|end| end.outcome),
        answer: resolution.as_ref().and_then(|end| end.answer.clone()),
        reason: resolution.as_ref().map(|end| end.reason.clone()),
        resolved_at: resolution.as_ref().map(|end| end.at),
        told_by: resolution.and_then(|end| end.told_by),
    })
}
