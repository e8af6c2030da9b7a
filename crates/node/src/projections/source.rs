//! What a projection is made of, and who may see it.
//!
//! Owns the way from a target as a caller names it to the stream that is folded for it. The log is for everybody, as the
//! events are; what a fold makes of an agent's events is for operators and for that agent.

use edgeplane_projection::{Definition, Subject, definition};
use edgeplane_store::{AgentRow, RawEvent, ReadError, Reader};
use edgeplane_types::{
    AgentId, ErrorName, MessageId, SessionId, StreamName, TaskId, Tenant, ThreadId, TurnId,
};
use edgeplane_wire::{
    api::stream::{LOG, Target, TargetKind},
    rpc::RpcError,
};

use crate::{caller::Caller, shared::Shared};

/// Version of the log: the stored bytes, which never change.
const LOG_VERSION: u32 = 1;

/// What the log can be about.
const LOG_TARGETS: &[TargetKind] = &[TargetKind::Node, TargetKind::Agent];

/// Digits of a trace's id.
const TRACE_DIGITS: usize = 32;

/// A projection, whatever it is of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// The events themselves.
    Log,
    /// What a fold makes of them.
    Fold(&'static Definition),
}

impl Kind {
    pub(crate) fn find(name: &str) -> Result<Self, RpcError> {
        if name == LOG {
            return Ok(Self::Log);
        }
        definition::find(name).map(Self::Fold).ok_or_else(|| {
            let shown = shown(name);
            RpcError::new(ErrorName::NotFound, format!("no projection `{shown}`"))
                .hint("`edgeplane projection list` shows them")
        })
    }

    /// Every projection, the log first.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Log).chain(definition::PROJECTIONS.iter().map(Self::Fold))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Log => LOG,
            Self::Fold(definition) => definition.name,
        }
    }

    pub(crate) fn version(self) -> u32 {
        match self {
            Self::Log => LOG_VERSION,
            Self::Fold(definition) => definition.version,
        }
    }

    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::Log => "The events as they were recorded.",
            Self::Fold(definition) => definition.summary,
        }
    }

    pub(crate) fn targets(self) -> &'static [TargetKind] {
        match self {
            Self::Log => LOG_TARGETS,
            Self::Fold(definition) => definition.targets,
        }
    }
}

/// Which events are read, and how they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Every event of the node, by its place there.
    Node,
    /// One stream, by the number in it.
    Stream(StreamName),
    /// An agent's stream and what was recorded of its tasks, by the place on the node.
    AgentAndWork(AgentId),
}

impl Reads {
    /// The number of an event in what is read.
    pub(crate) fn place(self, pos: u64, seq: u64) -> u64 {
        match self {
            Self::Node | Self::AgentAndWork(_) => pos,
            Self::Stream(_) => seq,
        }
    }

    /// The events from a number on, in order.
    pub(crate) fn events(self, reader: &Reader, from: u64, rows: usize) -> Result<Vec<RawEvent>, ReadError> {
        match self {
            Self::Node => reader.raw_events(None, from, rows),
            Self::Stream(stream) => reader.raw_events(Some(&stream), from, rows),
            Self::AgentAndWork(agent) => reader.raw_events_about(&agent, from, rows),
        }
    }

    /// The event at a place. What follows the record live may be at one that is not read again.
    pub(crate) fn event(self, reader: &Reader, place: u64) -> Result<Option<RawEvent>, ReadError> {
        let found = match self {
            Self::Node | Self::AgentAndWork(_) => reader.raw_events(None, place.max(1), 1)?,
            Self::Stream(stream) => reader.raw_events(Some(&stream), place.max(1), 1)?,
        };
        Ok(found.into_iter().next().filter(|event| self.place(event.pos, event.seq) == place))
    }

    /// The newest number, 0 if there is none.
    pub(crate) fn head(self, reader: &Reader) -> Result<u64, ReadError> {
        match self {
            Self::Node => reader.head_pos(),
            Self::Stream(stream) => Ok(reader.stream_head(&stream)?.map_or(0, |head| head.seq)),
            Self::AgentAndWork(agent) => reader.head_about(&agent),
        }
    }
}

/// One projection of one target.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// Whom it is about; its target has the id, however the caller named it.
    pub(crate) subject: Subject,
    /// What is read for it.
    pub(crate) reads: Reads,
}

/// Names a source among all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) projection: &'static str,
    pub(crate) target: Target,
}

impl Source {
    pub(crate) fn new(kind: Kind, mut subject: Subject) -> Self {
        subject.work = match kind {
            Kind::Log => false,
            Kind::Fold(definition) => definition.is_of_work(&subject),
        };
        let reads = match (subject.agent, subject.task) {
            _ if subject.is_node() => Reads::Node,
            (Some(agent), _) if subject.work => Reads::AgentAndWork(agent),
            (Some(agent), _) => Reads::Stream(StreamName::Agent(agent)),
            (None, Some(root)) => Reads::Stream(StreamName::Task(root)),
            (None, None) => Reads::Node,
        };
        Self { kind, subject, reads }
    }

    pub(crate) fn key(&self) -> Key {
        Key { projection: self.kind.name(), target: self.subject.target.clone() }
    }
}

/// One projection of one target, if this caller may see it. What it may not see it cannot tell from what is not there.
pub(crate) fn resolve(
    shared: &Shared,
    caller: &Caller,
    kind: Kind,
    target: &Target,
) -> Result<Source, RpcError> {
    if !kind.targets().contains(&target.kind) {
        let kinds: Vec<&str> = kind.targets().iter().map(|kind| kind.as_str()).collect();
        let what =
            format!("`{}` is about {}, not about {}", kind.name(), kinds.join(", "), target.kind.as_str());
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let own = caller.agent.as_ref().map(|agent| agent.id.to_string());
    let named = match (target.kind, &target.id, own) {
        (TargetKind::Agent, None, Some(own)) => Target::agent(own),
        _ => target.clone(),
    };
    let found = source(shared, &named).map(|subject| Source::new(kind, subject));
    if caller.is_operator() || matches!(kind, Kind::Log) {
        return found;
    }
    match found {
        Ok(source) if source.subject.agent.is_some_and(|agent| caller.is_agent(agent)) => Ok(source),
        Err(error) if error.name() != ErrorName::NotFound => Err(error),
        _ => Err(missing(&named)),
    }
}

/// The subject that a target names.
fn source(shared: &Shared, target: &Target) -> Result<Subject, RpcError> {
    let node = Subject { node: Some(shared.identity.id), ..Subject::default() };
    let id = target.id.as_deref();
    let named = || id.ok_or_else(|| bad(target, "needs an id"));
    Ok(match target.kind {
        TargetKind::Node => {
            let own = shared.identity.id.to_string();
            if id.is_some_and(|id| id != own && id != shared.identity.name.as_str()) {
                return Err(missing(target));
            }
            Subject { target: Target { kind: TargetKind::Node, id: Some(own) }, ..node }
        }
        TargetKind::Agent => of_agent(node, &agent(shared, named()?)?),
        TargetKind::Session => {
            let id: SessionId = parsed(target, named()?)?;
            let row = shared.record.look_up(|reader| reader.agent_by_session(&id))?;
            let row = row.ok_or_else(|| missing(target))?;
            Subject { target: target.clone(), ..of_agent(node, &row) }
        }
        TargetKind::Thread => {
            let id: ThreadId = parsed(target, named()?)?;
            let thread =
                shared.record.look_up(|reader| reader.thread(&id))?.ok_or_else(|| missing(target))?;
            let row = shared.record.look_up(|reader| reader.agent_by_id(&thread.agent))?;
            let row = row.ok_or_else(|| missing(target))?;
            Subject { target: target.clone(), thread: Some(id), ..of_agent(node, &row) }
        }
        TargetKind::Turn => {
            let id: TurnId = parsed(target, named()?)?;
            let message = MessageId::from_bytes(*id.as_bytes());
            let row = shared.record.look_up(|reader| reader.message(&message))?;
            let agent_id = row.ok_or_else(|| missing(target))?.envelope.target;
            let row = shared.record.look_up(|reader| reader.agent_by_id(&agent_id))?;
            let row = row.ok_or_else(|| missing(target))?;
            Subject { target: target.clone(), turn: Some(message), ..of_agent(node, &row) }
        }
        TargetKind::Trace => {
            let id = named()?;
            let is_trace = id.len() == TRACE_DIGITS
                && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
            if !is_trace {
                return Err(bad(target, "is not 32 hexadecimal digits"));
            }
            Subject { target: target.clone(), trace: Some(id.to_owned()), ..node }
        }
        TargetKind::Task => {
            let id: TaskId = parsed(target, named()?)?;
            let row = shared.record.look_up(|reader| reader.task(&id))?.ok_or_else(|| missing(target))?;
            Subject { target: target.clone(), task: Some(row.root), part: Some(id), ..node }
        }
    })
}

fn of_agent(node: Subject, row: &AgentRow) -> Subject {
    Subject {
        target: Target::agent(row.id.to_string()),
        agent: Some(row.id),
        session: Some(row.session_id),
        ..node
    }
}

/// The agent of this name, or of this id if it is retired.
fn agent(shared: &Shared, name: &str) -> Result<AgentRow, RpcError> {
    let (id, unknown) = match shared.agent(&Tenant::default(), name) {
        Ok(handle) => (handle.id, None),
        Err(error) => match name.parse::<AgentId>() {
            Ok(id) => (id, Some(error)),
            Err(_) => return Err(error),
        },
    };
    let row = shared.record.look_up(|reader| reader.agent_by_id(&id))?;
    row.ok_or_else(|| unknown.unwrap_or_else(|| missing(&Target::agent(name))))
}

fn parsed<I: std::str::FromStr>(target: &Target, id: &str) -> Result<I, RpcError> {
    id.parse().map_err(|_bad| missing(target))
}

fn missing(target: &Target) -> RpcError {
    let id = target.id.as_deref().map(shown).unwrap_or_default();
    RpcError::new(
        ErrorName::NotFound,
        format!("no {} `{id}`, or none that you may see", target.kind.as_str()),
    )
}

fn bad(target: &Target, what: &str) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, format!("the target of kind {} {what}", target.kind.as_str()))
}

fn shown(text: &str) -> String {
    edgeplane_driver::render::clean(text).chars().take(80).collect()
}
