//! Taps: what happens, live and in words.
//!
//! A tap is a follower that nobody waits for. Steps for which its caller has no room are left out and counted; the
//! record has them.

use edgeplane_store::CommittedEvent;
use edgeplane_types::{AgentId, ErrorName, StreamName, SubscriptionId, ThreadId};
use edgeplane_wire::{
    api::{
        Empty,
        stream::SubscriptionParams,
        trace::{TapParams, TapResult, TapStep},
    },
    rpc::{self, RpcError},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::{Session, terminals::agent_id};
use crate::{
    outbound::NotSent,
    trace::{
        lasting::Lasting,
        steps::{by, step},
    },
};

/// Most methods that one tap names.
const OPERATIONS_MAX: usize = 64;

/// What a tap lets through.
struct Filter {
    agent: Option<AgentId>,
    /// A thread, and the agent whose first one it is.
    thread: Option<(ThreadId, Option<AgentId>)>,
    principal: Option<String>,
    operations: Vec<String>,
}

pub(in crate::server) fn open(session: &Session, params: TapParams) -> Result<TapResult, RpcError> {
    if params.operations.len() > OPERATIONS_MAX {
        let what = format!("a tap names at most {OPERATIONS_MAX} operations");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let agent = params.agent.as_deref().map(|name| agent_id(session, name)).transpose()?;
    let thread = params.thread.map(|thread| {
        let filter = edgeplane_store::AgentFilter::default();
        let agents = session.shared.record.look_up(|reader| reader.agents(&filter)).unwrap_or_default();
        let own = agents.iter().find(|row| row.session_id.as_bytes() == thread.as_bytes());
        (thread, own.map(|row| row.id))
    });
    let filter = Filter { agent, thread, principal: params.principal, operations: params.operations };
    let live = session.shared.record.follow();
    let tap_id: SubscriptionId = session.shared.record.mint().id();
    let until = CancellationToken::new();
    if !session.opened.tapped(tap_id, until.clone()) {
        return Err(
            RpcError::new(ErrorName::QuotaExhausted, "this connection has too many taps").hint("end some")
        );
    }
    let session = session.clone();
    let lasting = Lasting::begin(&session.shared, tap_id);
    session.shared.tasks.clone().spawn(async move {
        tokio::select! {
            () = until.cancelled() => {}
            () = follow(&session, tap_id, &filter, live) => {}
        }
        lasting.end(&session.shared);
    });
    Ok(TapResult { tap_id })
}

pub(in crate::server) fn close(session: &Session, params: &SubscriptionParams) -> Result<Empty, RpcError> {
    if session.opened.untapped(&params.subscription_id) {
        Ok(Empty {})
    } else {
        Err(RpcError::new(ErrorName::NotFound, "no such tap on this connection"))
    }
}

async fn follow(
    session: &Session,
    tap_id: SubscriptionId,
    filter: &Filter,
    mut live: Receiver<CommittedEvent>,
) {
    let mut missed = 0_u64;
    loop {
        match live.recv().await {
            Ok(committed) if filter.takes(&committed) => {
                let Some(step) = told(session, tap_id, &committed, missed) else { continue };
                match session.outbound.offer(rpc::notification("observe/tap", step)) {
                    Ok(()) => missed = 0,
                    Err(NotSent::Full) => missed = missed.saturating_add(1),
                    Err(NotSent::Gone) => return,
                }
            }
            Ok(_) => {}
            // How many of them it would have let through is not known: each may have been one.
            Err(RecvError::Lagged(events)) => missed = missed.saturating_add(events),
            Err(RecvError::Closed) => return,
        }
    }
}

fn told(
    session: &Session,
    tap_id: SubscriptionId,
    committed: &CommittedEvent,
    missed: u64,
) -> Option<TapStep> {
    let event = &committed.event;
    let agent = match event.stream {
        StreamName::Agent(id) => session.shared.agent_by_id(id).map(|agent| agent.name.to_string()),
        StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
    };
    Some(TapStep {
        tap_id,
        pos: committed.pos,
        at: event.ts,
        agent,
        by: by(&event.actor),
        text: step(&event.fact)?,
        kind: event.fact.type_name().to_owned(),
        operation: event.trace.as_ref().map(|trace| trace.operation.clone()),
        trace_id: event.trace.as_ref().map(|trace| trace.traceparent.trace_id),
        missed,
    })
}

impl Filter {
    fn takes(&self, committed: &CommittedEvent) -> bool {
        let event = &committed.event;
        let trace = event.trace.as_deref();
        let of_agent = |id: AgentId| event.stream == StreamName::Agent(id);
        let in_thread =
            |(thread, first): (ThreadId, Option<AgentId>)| match trace.and_then(|trace| trace.thread_id) {
                Some(bound) => bound == thread,
                // What names no thread is of the agent's first.
                None => first.is_some_and(of_agent),
            };
        let by_principal = |wanted: &String| {
            trace.is_some_and(|trace| trace.user_id.as_str() == wanted) || by(&event.actor) == *wanted
        };
        self.agent.is_none_or(of_agent)
            && self.thread.is_none_or(in_thread)
            && self.principal.as_ref().is_none_or(by_principal)
            && (self.operations.is_empty()
                || trace.is_some_and(|trace| self.operations.contains(&trace.operation)))
    }
}
