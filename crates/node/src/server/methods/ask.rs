//! Questions: ask an agent, wait for what it answers, pass on what it says meanwhile.
//!
//! The answer is whatever the record holds first: a message of the asked agent to the asking one that names the
//! question, or the turn that ended with it. Nothing is kept beside the record, so a question that is asked again with
//! its key, also of the next daemon, has the same answer.

mod found;
mod parts;

use std::{sync::atomic::Ordering, time::Duration};

use edgeplane_store::CommittedEvent;
use edgeplane_types::{AgentId, ErrorName, Ingress, MessageId, Proof, StreamName, error::Effect};
use edgeplane_wire::{
    api::message::{AskParams, AskResult},
    rpc::RpcError,
};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::Instant,
};

use self::{found::Found, parts::Parts};
use super::{Session, agent, messages::WAIT_MS_MAX};
use crate::{
    admission::{self, Saying},
    agent::AgentHandle,
};

/// How long an answer is waited for when nobody says, in milliseconds.
const ASK_MS: u64 = 60_000;

/// A question that is durable.
struct Question<'a> {
    session: &'a Session,
    id: MessageId,
    asked: AgentHandle,
    /// The agent that asks, if it is one.
    asker: Option<AgentId>,
}

pub(in crate::server) async fn ask(session: &Session, params: AskParams) -> Result<AskResult, RpcError> {
    let asked = agent(session, &params.agent)?;
    check_can_answer(session, &asked)?;
    let time = Duration::from_millis(params.timeout_ms.unwrap_or(ASK_MS).min(WAIT_MS_MAX));
    // Followed from before the question exists, so that no answer can be missed.
    let live = session.shared.record.follow();
    let saying = Saying {
        priority: params.priority,
        idempotency_key: params.idempotency_key,
        causation: params.causation,
        ..Saying::plain(params.parts, Ingress::Ask)
    };
    let accepted = admission::say(&session.shared, &session.caller, &asked, saying).await?;
    session.effect.notify_one();
    session.replayed.store(accepted.duplicate, Ordering::Relaxed);
    if accepted.duplicate {
        check_same(session)?;
    }
    let asker = session.caller.agent.as_ref().map(|agent| agent.id);
    let question = Question { session, id: accepted.message_id, asked, asker };
    let answered = question.wait(live, Instant::now() + time, params.stream).await;
    answered.map_err(|error| error.effect(Effect::Applied))
}

/// A terminal ends no turns, so it answers only whoever has an inbox for a message of it. Others would wait in vain.
fn check_can_answer(session: &Session, asked: &AgentHandle) -> Result<(), RpcError> {
    let has_inbox = session.caller.agent.as_ref().is_some_and(|own| session.caller.is_agent(own.id));
    if has_inbox || asked.profile().ends_turns {
        return Ok(());
    }
    let name = &asked.name;
    let what = format!("agent `{name}` runs on a terminal and ends no turns: only an agent can ask it");
    let hint = format!(
        "`edgeplane signal {name}` tells it something and `edgeplane logs {name}` shows what it does; \
         to an agent that asks it answers with `edgeplane signal --reply-to`"
    );
    Err(RpcError::new(ErrorName::Unsupported, what).hint(hint))
}

/// Others may say the same words under the same key; what was answered goes to the one who asked.
fn check_same(session: &Session) -> Result<(), RpcError> {
    match session.caller.proof {
        Proof::None | Proof::Disagreement | Proof::CgroupAfterExit => {
            let what = "an answer is given once more only to a caller of which it is proven who it is";
            Err(RpcError::new(ErrorName::PermissionDenied, format!("{what}: rule owner-or-operator")))
        }
        _ => Ok(()),
    }
}

impl Question<'_> {
    /// Whether this agent is a replica of the set that was asked.
    fn is_replica(&self, id: AgentId) -> bool {
        self.session.shared.agent_by_id(id).is_some_and(|agent| agent.set == Some(self.asked.id))
    }

    /// Waits for the answer, or until it is certain that none comes, or until the time is over.
    async fn wait(
        self,
        mut live: Receiver<CommittedEvent>,
        until: Instant,
        stream: bool,
    ) -> Result<AskResult, RpcError> {
        let mut parts = stream.then(|| Parts::of(&self)).transpose()?;
        loop {
            // In this order: what an answer ends was there before it was looked for.
            let head = self.session.shared.record.look_up(|reader| reader.head_pos())?;
            let found = self.look()?;
            if let Some(parts) = &mut parts {
                parts.pass_on(&self, found.pos().map_or(head, |pos| pos.saturating_sub(1))).await?;
            }
            match found {
                Found::Nothing if Instant::now() >= until => return self.result(Found::Nothing).await,
                Found::Nothing => {}
                found => return self.result(found).await,
            }
            let stopping = &self.session.shared.stopping;
            // Losing the race loses no event: all is read from the record again.
            tokio::select! {
                () = stopping.cancelled() => return Err(interrupted()),
                () = tokio::time::sleep_until(until) => {}
                heard = self.hear(&mut live, stream) => heard?,
            }
        }
    }

    /// Waits for an event that may be, or end, an answer; or for a piece of what the agent says, if that is wanted.
    async fn hear(&self, live: &mut Receiver<CommittedEvent>, pieces: bool) -> Result<(), RpcError> {
        let is_near = |committed: &CommittedEvent| match committed.event.stream {
            StreamName::Agent(id) => {
                let is_theirs = id == self.asked.id || Some(id) == self.asker || self.is_replica(id);
                is_theirs && (pieces || !committed.event.fact.is_piece())
            }
            StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => false,
        };
        loop {
            match live.recv().await {
                Ok(committed) if is_near(&committed) => return Ok(()),
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return Ok(()),
                Err(RecvError::Closed) => return Err(interrupted()),
            }
        }
    }
}

fn interrupted() -> RpcError {
    RpcError::new(ErrorName::Unavailable, "the daemon ends; the question stands, and may be answered")
        .hint("ask again with the same key to have the answer")
}
