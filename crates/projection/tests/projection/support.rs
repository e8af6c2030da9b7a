//! Subjects and runs, as the node makes them.

use edgeplane_projection::{Definition, Input, Numbered, PROJECTIONS, Running, Subject};
use edgeplane_types::{AgentId, Fact, MessageId, SessionId, StreamName, TaskId, ThreadId};
use edgeplane_wire::api::stream::{Target, TargetKind};

use crate::lives::{Stored, World, traces::trace_id};

pub(crate) fn input(stored: &Stored) -> Input<'_> {
    Input { pos: stored.pos, hash: &stored.hash, event: &stored.event }
}

/// Every agent that was ever declared, with its session.
pub(crate) fn agents(world: &World) -> Vec<(AgentId, SessionId)> {
    let declared = world.record.iter().filter_map(|stored| match &stored.event.fact {
        Fact::AgentDeclared { agent_id, session_id, .. } => Some((*agent_id, *session_id)),
        _ => None,
    });
    declared.collect()
}

pub(crate) fn main_thread(session: SessionId) -> ThreadId {
    ThreadId::from_bytes(*session.as_bytes())
}

fn target(kind: TargetKind, id: Option<String>) -> Target {
    Target { kind, id }
}

pub(crate) fn of_node(world: &World) -> Subject {
    Subject { target: target(TargetKind::Node, None), node: Some(world.node), ..Subject::default() }
}

pub(crate) fn of_trace(world: &World) -> Subject {
    let id = trace_id(0).to_string();
    Subject { target: target(TargetKind::Trace, Some(id.clone())), trace: Some(id), ..of_node(world) }
}

pub(crate) fn of_task(world: &World, id: TaskId) -> Subject {
    Subject { target: target(TargetKind::Task, Some(id.to_string())), task: Some(id), ..of_node(world) }
}

/// The first task of the first graph.
fn task(world: &World) -> Option<TaskId> {
    world.record.iter().find_map(|stored| match stored.event.stream {
        StreamName::Task(root) => Some(root),
        _ => None,
    })
}

pub(crate) fn of_agent(world: &World, (agent, session): (AgentId, SessionId)) -> Subject {
    Subject {
        target: target(TargetKind::Agent, Some(agent.to_string())),
        node: Some(world.node),
        agent: Some(agent),
        session: Some(session),
        ..Subject::default()
    }
}

pub(crate) fn of_session(world: &World, (agent, session): (AgentId, SessionId)) -> Subject {
    let target = target(TargetKind::Session, Some(session.to_string()));
    Subject { target, ..of_agent(world, (agent, session)) }
}

pub(crate) fn of_thread(world: &World, of: (AgentId, SessionId), thread: ThreadId) -> Subject {
    let target = target(TargetKind::Thread, Some(thread.to_string()));
    Subject { target, thread: Some(thread), ..of_agent(world, of) }
}

pub(crate) fn of_turn(world: &World, of: (AgentId, SessionId), message: MessageId) -> Subject {
    let id = edgeplane_projection::turn_of(message).to_string();
    Subject { target: target(TargetKind::Turn, Some(id)), turn: Some(message), ..of_agent(world, of) }
}

/// The messages that were put to an agent.
pub(crate) fn messages(world: &World, agent: AgentId) -> Vec<MessageId> {
    let of = world.record.iter().filter(|stored| stored.event.stream == StreamName::Agent(agent));
    let put = of.filter_map(|stored| match &stored.event.fact {
        Fact::MessageInjected { message_id, .. } | Fact::MessageObserved { message_id, .. } => {
            Some(*message_id)
        }
        _ => None,
    });
    put.collect()
}

/// The threads that the messages of an agent name, the main one first.
pub(crate) fn threads(world: &World, (agent, session): (AgentId, SessionId)) -> Vec<ThreadId> {
    let mut threads = vec![main_thread(session)];
    for stored in &world.record {
        if let Fact::MessageAccepted { envelope } = &stored.event.fact
            && envelope.target == agent
            && let Some(thread) = envelope.thread
            && !threads.contains(&thread)
        {
            threads.push(thread);
        }
    }
    threads
}

/// Each projection with a subject of each kind that it can be about.
pub(crate) fn all(world: &World) -> Vec<(&'static Definition, Subject)> {
    let of = agents(world)[0];
    let message = messages(world, of.0).first().copied();
    let mut all = Vec::new();
    for definition in PROJECTIONS {
        for kind in definition.targets {
            let subject = match kind {
                TargetKind::Node => Some(of_node(world)),
                TargetKind::Agent => Some(of_agent(world, of)),
                TargetKind::Session => Some(of_session(world, of)),
                TargetKind::Thread => threads(world, of).last().map(|thread| of_thread(world, of, *thread)),
                TargetKind::Turn => message.map(|message| of_turn(world, of, message)),
                TargetKind::Trace => Some(of_trace(world)),
                TargetKind::Task => task(world).map(|id| of_task(world, id)),
            };
            all.extend(
                subject.map(|subject| {
                    (definition, Subject { work: definition.is_of_work(&subject), ..subject })
                }),
            );
        }
    }
    all
}

/// Folds a whole record.
pub(crate) fn run(
    definition: &'static Definition,
    subject: &Subject,
    record: &[Stored],
) -> (Running, Vec<Numbered>) {
    let mut running = Running::new(definition, subject);
    let said = record.iter().flat_map(|stored| running.fold(&input(stored))).collect();
    (running, said)
}
