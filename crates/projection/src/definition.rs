//! Which projections there are.

use std::fmt;

use edgeplane_wire::api::stream::TargetKind;

use crate::{
    agentruntime,
    fold::{self, AnyFold},
    folds, life, model,
    subject::Subject,
    telling,
};

/// A projection: its name, its version and what it is about.
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Grows whenever the same events give other envelopes or another state.
    pub version: u32,
    /// What it shows, in one sentence.
    pub summary: &'static str,
    /// What it can be about.
    pub targets: &'static [TargetKind],
    /// Whether it takes events of this type. The others need not be read.
    pub takes: fn(&str) -> bool,
    pub(crate) make: fn(&Subject) -> Box<dyn AnyFold>,
    pub(crate) load: fn(&str) -> Option<Box<dyn AnyFold>>,
}

impl Definition {
    /// Whether it is told of the tasks of the subject's agent, too: projections of a session that take them.
    #[must_use]
    pub fn is_of_work(&self, subject: &Subject) -> bool {
        subject.target.kind == TargetKind::Session && (self.takes)("task.created")
    }
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

macro_rules! projections {
    ($($name:literal $version:literal $fold:ty, [$($target:ident),+], $takes:expr, $summary:literal;)+) => {
        /// Every projection.
        pub static PROJECTIONS: &[Definition] = &[$(Definition {
            name: $name,
            version: $version,
            summary: $summary,
            targets: &[$(TargetKind::$target),+],
            takes: $takes,
            make: fold::make::<$fold>,
            load: fold::load::<$fold>,
        },)+];
    };
}

projections! {
    "agentruntime.events" 6 agentruntime::Events, [Session], agentruntime::takes,
        "What happens in a session, as events of Agent Runtime; each payload is one.";
    "agentruntime.lime" 6 agentruntime::Lime, [Session], agentruntime::takes,
        "The same in the standard's strict profile, with the profile's snapshot as its state.";
    "session.snapshot" 5 folds::session::Snapshot, [Session], model::takes,
        "What a session is like now: its threads, their turns, what waits and what went wrong.";
    "thread.read_model" 4 folds::session::ReadModel, [Thread], model::takes,
        "What is happening in a thread now.";
    "thread.transcript" 2 folds::transcript::Transcript, [Thread], telling::takes,
        "What was said and done in a thread, in its order, with what each turn gave.";
    "turn.items" 1 folds::items::Items, [Turn], telling::takes,
        "Everything that happened in one turn, and what it gave.";
    "context.boundary" 1 folds::boundary::Boundary, [Thread], folds::boundary::takes,
        "Up to where a thread is told as a summary, who wrote that, and what went on across it.";
    "task.view" 1 folds::tasks::View, [Task], folds::tasks::takes,
        "One task: what is to be done, where it is, its newest attempt, and what happened to it.";
    "task.graph" 1 folds::tasks::Graph, [Task], folds::tasks::takes,
        "The whole graph that a task belongs to, each task as it is now.";
    "queue" 1 folds::queue::Queue, [Agent, Session, Thread], folds::queue::takes,
        "Which messages wait, and each change of the queue.";
    "actions.pending" 1 folds::actions::Actions, [Node, Agent], folds::actions::takes,
        "What waits for a person, and how what waited was decided.";
    "run.timeline" 2 folds::timeline::Timeline, [Agent], folds::timeline::takes,
        "The epochs of an agent, and in them each attempt at a turn.";
    "agent.status" 1 folds::status::Status, [Node, Agent], life::takes,
        "The phase, the desire and the health of one agent or of all.";
    "governance" 2 folds::governance::Governance, [Node, Agent], folds::governance::takes,
        "What was decided about who may do what: refusals, approvals, rules, keys and tokens.";
    "environment" 1 folds::environment::Environment, [Agent], folds::environment::takes,
        "In what an agent's program runs, epoch by epoch.";
    "usage.cost" 1 folds::usage::Usage, [Agent], folds::usage::takes,
        "What an agent used, as its program says it.";
    "deliveries" 1 folds::deliveries::Deliveries, [Agent], folds::deliveries::takes,
        "Each rung that a message of an agent reached, and how that is known.";
    "artifacts" 1 folds::artifacts::Artifacts, [Node, Agent], folds::artifacts::takes,
        "What was published under which name, version by version, and what ended.";
    "evidence" 1 folds::evidence::Evidence, [Agent], folds::evidence::takes,
        "What of an agent's work can be checked by its digest.";
    "trace.waterfall" 1 folds::waterfall::Waterfall, [Trace], folds::waterfall::takes,
        "The spans of one trace, as its events say them, over all agents.";
    "audit.chain" 1 folds::audit::Audit, [Node, Agent], |_| true,
        "The place and hash of every event, and the newest of each stream.";
}

/// The projection of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Definition> {
    PROJECTIONS.iter().find(|definition| definition.name == name)
}
