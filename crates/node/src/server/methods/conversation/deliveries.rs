//! Deliveries: an output handed over to an agent, by a message, or to whoever comes for it.
//!
//! That it is to be handed over is durable before the message is, and the message has the delivery's UUID. So whoever
//! comes to it after a crash sends the same message, and it is accepted once.

use std::sync::Arc;

use edgeplane_store::{DeliveryRow, MessageRow, ReadError, StoredBody};
use edgeplane_types::{
    AgentId, Authority, DeliveryId, ErrorName, Fact, Ingress, MessageId, Part, Rung,
    fact::{Actor, DeliveryAcknowledged, DeliveryCreated, DeliveryFailed, Destination},
};
use edgeplane_wire::{
    api::conversation::output::{
        DeliveryCreateParams, DeliveryListParams, DeliveryListResult, DeliveryParams, DeliveryState,
        DeliveryView, DestinationParam,
    },
    rpc::RpcError,
};

use super::{
    super::agent, Session, check_chosen, decide, next_of, not_there, outputs, rows, sessions::owned,
    unavailable, view::turn_of_output,
};
use crate::{
    admission::{self, Saying},
    agent::{Command, Deciding, message_of},
    caller::{AGENT_AUTHORITY_MAX, Caller, CallingAgent, Living as _},
    neighbours,
    record::{Origin, Record, chain},
    shared::Shared,
    workspaces::blocking,
};

/// Longest output that is a message's text; a longer one is referred to.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Deliveries that are taken up at one go.
const AT_ONCE: usize = 100;

/// By which rule what a former daemon left is handed over.
const RULE: &str = "deliveries";

/// The message of a delivery to an agent.
fn message_id(id: DeliveryId) -> MessageId {
    MessageId::from_bytes(*id.as_bytes())
}

pub(in crate::server) async fn create(
    session: &Session,
    params: DeliveryCreateParams,
) -> Result<DeliveryView, RpcError> {
    let (committed, from) = outputs::found(session, params.output_id)?;
    if let Some(id) = &params.delivery_id {
        check_chosen(id.as_bytes(), "`delivery_id`")?;
    }
    let Fact::TurnCompleted { output_digest, authority, .. } = &committed.event.fact else {
        return Err(RpcError::new(ErrorName::NotFound, format!("no output {}", params.output_id)));
    };
    let destination = match &params.destination {
        DestinationParam::Agent { agent: name } => {
            Destination::Agent { agent_id: receiver(session, name).await? }
        }
        DestinationParam::Caller {} => Destination::Principal {
            principal: session.caller.principal.clone(),
            proof: session.caller.proof,
        },
    };
    let delivery_id: DeliveryId = params.delivery_id.unwrap_or_else(|| session.shared.record.mint().id());
    let created = DeliveryCreated {
        delivery_id,
        output_id: params.output_id,
        output_digest: output_digest.clone(),
        destination,
        authority: authority.unwrap_or(Authority::Untrusted).at_most(AGENT_AUTHORITY_MAX),
    };
    let handle = agent(session, &from.to_string())?;
    decide(session, &handle, false, move |reader| {
        let read = |error| unavailable(&error);
        if let Some(known) = reader.delivery(&delivery_id).map_err(read)? {
            if known.created == created {
                return Ok(Vec::new());
            }
            let what = format!("delivery {delivery_id} exists already, and is another one");
            return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new delivery"));
        }
        if reader.message(&message_id(delivery_id)).map_err(read)?.is_some() {
            let what = format!("the id {delivery_id} is used for something else");
            return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new delivery"));
        }
        Ok(vec![Fact::DeliveryCreated(created)])
    })
    .await?;
    session.shared.failpoint("delivery.created");
    hand_over(&session.shared, &row(session, delivery_id)?, Some(session.caller.actor())).await?;
    shown(session, row(session, delivery_id)?)
}

/// The agent that is to have it. Of one elsewhere it is said whether there is one: nothing is carried there yet.
async fn receiver(session: &Session, name: &str) -> Result<AgentId, RpcError> {
    let found = agent(session, name).map(|handle| handle.id);
    if found.is_ok() || !name.contains('@') {
        return found;
    }
    let (peers, address) = (Arc::clone(&session.shared.neighbours.peers), name.to_owned());
    let known = blocking(move || peers.knows(&address)).await?;
    if known.map_err(|error| neighbours::failed(&error))? {
        let what = format!("`{}` is at another node, and no link leads there", admission::shown_name(name));
        return Err(RpcError::new(ErrorName::Unavailable, what));
    }
    found
}

fn row(session: &Session, id: DeliveryId) -> Result<DeliveryRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.delivery(&id))?;
    row.ok_or_else(|| not_there(session, &format!("delivery {id}")))
}

/// Sends the message of a delivery to an agent, once. What will never come is a failed delivery.
async fn hand_over(shared: &Arc<Shared>, row: &DeliveryRow, by: Option<Actor>) -> Result<(), RpcError> {
    let Destination::Agent { agent_id } = row.created.destination else { return Ok(()) };
    if row.failed.is_some() || row.acknowledged.is_some() {
        return Ok(());
    }
    match send(shared, row, agent_id, by).await {
        Ok(()) => Ok(()),
        Err(error) => match error.name() {
            ErrorName::PolicyBlocked
            | ErrorName::NotFound
            | ErrorName::InvalidParams
            | ErrorName::Conflict
            | ErrorName::TooLarge => fail(shared, row, error.message).await,
            // It stays pending: whoever asks again, or the next daemon, sends it.
            _ => Err(error.effect(edgeplane_types::error::Effect::Applied)),
        },
    }
}

async fn send(
    shared: &Arc<Shared>,
    row: &DeliveryRow,
    to: AgentId,
    by: Option<Actor>,
) -> Result<(), RpcError> {
    let target = shared.agent(&edgeplane_types::Tenant::default(), &to.to_string())?;
    let turn = turn_of_output(row.created.output_id);
    let (speaker, text) = shared.record.look_up(|reader| {
        let agent = reader.agent_by_id(&row.agent)?;
        let epoch = reader.turn_output(&turn)?.and_then(|committed| match committed.event.fact {
            Fact::TurnCompleted { epoch, .. } => Some(epoch),
            _ => None,
        });
        let text = match row.created.output_digest.parse() {
            Ok(digest) => match reader.body(&digest)? {
                Some(StoredBody::Bytes(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                Some(StoredBody::Erased { .. }) | None => None,
            },
            Err(_) => None,
        };
        let speaker =
            agent.zip(epoch).map(|(agent, epoch)| CallingAgent { id: agent.id, name: agent.name, epoch });
        Ok((speaker, text))
    })?;
    let gone = |what: &str| RpcError::new(ErrorName::NotFound, what);
    let speaker = speaker.ok_or_else(|| gone("the agent whose output it is is not known"))?;
    let text = text.ok_or_else(|| gone("the words of the output were erased"))?;
    let part = match text.len() <= TEXT_BYTES_MAX {
        true => Part::Text { text },
        false => Part::Reference {
            uri: format!("edgeplane:output/{}", row.created.output_id),
            digest: Some(row.created.output_digest.clone()),
        },
    };
    let caller = Caller::driver(speaker, shared.assurance());
    let saying = Saying {
        causation: Some(message_of(turn)),
        message_id: Some(message_id(row.created.delivery_id)),
        at_most: Some(row.created.authority),
        ..Saying::plain(vec![part], Ingress::Driver)
    };
    let mut admitted = admission::admit(shared, &caller, &target, saying)?;
    if let Some(by) = by {
        // The words are the agent's; that they are handed over is somebody else's doing.
        admitted.actor = by;
    }
    target.ask(|reply| Command::Signal(Box::new(admitted), reply)).await?.map(drop)
}

async fn fail(shared: &Arc<Shared>, row: &DeliveryRow, reason: String) -> Result<(), RpcError> {
    let delivery_id = row.created.delivery_id;
    let fact = Fact::DeliveryFailed(DeliveryFailed { delivery_id, reason });
    let handle = shared.agent(&edgeplane_types::Tenant::default(), &row.agent.to_string())?;
    let deciding = Deciding { adds_thread: false, decide: Box::new(move |_record: &Record| Ok(vec![fact])) };
    handle.ask(|reply| Command::Decide(deciding, Origin::node(RULE), reply)).await?
}

/// Hands over what a former daemon had made durable and not sent.
pub(crate) async fn take_up(shared: Arc<Shared>) {
    let mut cursor = 0;
    loop {
        let found = shared.record.read(move |reader| reader.deliveries_undone(AT_ONCE, cursor)).await;
        let Ok(found) = found else { return };
        let Some(last) = found.last() else { return };
        cursor = last.pos;
        for row in &found {
            if shared.stopping.is_cancelled() {
                return;
            }
            if let Err(error) = hand_over(&shared, row, None).await {
                let error = chain(&error);
                tracing::warn!(delivery = %row.created.delivery_id, error, "it is not handed over yet");
            }
        }
    }
}

pub(in crate::server) async fn acknowledge(
    session: &Session,
    params: DeliveryParams,
) -> Result<DeliveryView, RpcError> {
    let row = row(session, params.delivery_id)?;
    let caller = &session.caller;
    let is_theirs = match &row.created.destination {
        Destination::Agent { agent_id } => caller.is_agent(*agent_id),
        Destination::Principal { principal, proof } => {
            caller.principal == *principal && caller.proof == *proof
        }
    };
    if !is_theirs && !caller.is_operator() {
        let what = format!("`{}` is not the one who is to have it: rule owner-or-operator", caller.principal);
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    }
    let id = params.delivery_id;
    let fact = DeliveryAcknowledged { delivery_id: id, by: caller.principal.clone() };
    let handle = agent(session, &row.agent.to_string())?;
    decide(session, &handle, false, move |reader| {
        let row = reader.delivery(&id).map_err(|error| unavailable(&error))?;
        match row {
            Some(row) if row.acknowledged.is_some() => Ok(Vec::new()),
            Some(row) if row.failed.is_some() => {
                Err(RpcError::new(ErrorName::InvalidState, format!("delivery {id} has failed")))
            }
            Some(_) => Ok(vec![Fact::DeliveryAcknowledged(fact)]),
            None => Err(RpcError::new(ErrorName::NotFound, format!("no delivery {id}"))),
        }
    })
    .await?;
    shown(session, self::row(session, id)?)
}

pub(in crate::server) async fn list(
    session: &Session,
    params: DeliveryListParams,
) -> Result<DeliveryListResult, RpcError> {
    let of = owned(session, params.agent.as_deref())?;
    let (rows, cursor) = (rows(params.limit), params.cursor);
    let found =
        session.shared.record.read(move |reader| reader.deliveries(of.as_ref(), rows, cursor)).await?;
    let next = next_of(&found, rows, |row| row.pos);
    let items = found.into_iter().map(|row| shown(session, row)).collect::<Result<_, _>>()?;
    Ok(DeliveryListResult { items, next })
}

fn shown(session: &Session, row: DeliveryRow) -> Result<DeliveryView, RpcError> {
    let DeliveryCreated { delivery_id, output_id, output_digest, destination, authority } = row.created;
    let to = match destination {
        Destination::Agent { agent_id } => Some(agent_id),
        Destination::Principal { .. } => None,
    };
    let (from, to_name, message) = session.shared.record.look_up(|reader| {
        let name = |id: &AgentId| -> Result<String, ReadError> {
            let found = reader.agent_by_id(id)?;
            Ok(found.map_or_else(|| id.to_string(), |agent| agent.name.to_string()))
        };
        let to_name = to.as_ref().map(name).transpose()?;
        Ok((name(&row.agent)?, to_name, reader.message(&message_id(delivery_id))?))
    })?;
    let message = message.filter(|_| to.is_some());
    let (mut state, mut reason) = message.as_ref().map_or((DeliveryState::Pending, None), how_far);
    if let Some(failed) = row.failed {
        (state, reason) = (DeliveryState::Failed, Some(failed));
    }
    let (acknowledged_by, acknowledged_at) = row.acknowledged.unzip();
    if acknowledged_by.is_some() {
        (state, reason) = (DeliveryState::Acknowledged, None);
    }
    Ok(DeliveryView {
        delivery_id,
        output_id,
        output_digest,
        from,
        to_agent: to_name,
        message_id: message.map(|row| row.envelope.id),
        to_principal: match destination {
            Destination::Agent { .. } => None,
            Destination::Principal { principal, .. } => Some(principal),
        },
        authority,
        state,
        reason,
        created_at: row.created_at,
        acknowledged_by,
        acknowledged_at,
    })
}

/// How far the message of a delivery has come.
fn how_far(row: &MessageRow) -> (DeliveryState, Option<String>) {
    if row.waiting {
        return (DeliveryState::Pending, None);
    }
    let because = || Some(row.reason.clone().unwrap_or_else(|| format!("its message is {}", row.state)));
    match row.state {
        Rung::Accepted => (DeliveryState::Pending, None),
        Rung::Injected => (DeliveryState::Delivered, None),
        Rung::Observed | Rung::TurnEnded => (DeliveryState::Acknowledged, None),
        Rung::Rejected | Rung::Expired | Rung::Ambiguous | Rung::DeadLettered => {
            (DeliveryState::Failed, because())
        }
    }
}
