//! The read models: pure folds of the events, each with a version, each rebuilt from the events when that changes.
//!
//! A fold sees one event after the other and the rows that it made itself; no clock, no body, no other model. So a
//! model's rows are a function of the record, and [`digest`](rebuild::digest) can prove it.

mod actions;
mod agents;
mod artifacts;
mod automations;
mod benchmarks;
mod calls;
mod commands;
mod deliveries;
mod epochs;
mod invocations;
mod jobs;
mod keys;
mod memory;
pub(crate) mod messages;
mod offers;
mod overrides;
mod policies;
mod recordings;
mod resources;
mod schedules;
mod sessions;
mod subagents;
mod tasks;
mod threads;
mod tokens;
mod traces;
mod workspaces;

pub(crate) mod rebuild;

pub(crate) use actions::kind_word;

use edgeplane_types::{
    ActionId, AgentId, AgentName, ArtifactId, CapabilityId, CheckpointId, DeliveryId, Epoch, Event, FiringId,
    InputId, InvocationId, MessageId, OverrideId, ProcessId, RunId, SafeLabel, SessionId, StreamName, TaskId,
    ThreadId, TokenId, TrialId, WorkspaceId,
};
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::sqlite::is_constraint;

/// A read model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// What each agent is.
    Agents,
    /// The epochs of each agent.
    Epochs,
    /// Messages and their receipts.
    Messages,
    /// The keys of each agent's memory.
    Memory,
    /// Segments and gaps of recordings.
    Recordings,
    /// Schedules and what became of each time they came due.
    Schedules,
    /// Pending actions and what was decided.
    Actions,
    /// Named tokens.
    Tokens,
    /// The node's keys.
    Keys,
    /// The rules in force, and what they refused.
    Policies,
    /// The session that each agent's program had last.
    Sessions,
    /// Commands that were run inside agents.
    Commands,
    /// Operators' overrides, and whom they hold.
    Overrides,
    /// Sessions and threads of conversations, their histories and outputs.
    Threads,
    /// What outputs are handed over to whom.
    Deliveries,
    /// Configuration and administrative state with its versions.
    Resources,
    /// Calls of capabilities.
    Invocations,
    /// What agents offer.
    Offers,
    /// Where each trace begins and is handed on.
    Traces,
    /// Keys that calls were made under.
    Calls,
    /// Tasks, how they are joined, and their runs.
    Tasks,
    /// Which tasks are jobs, and what was reported of their items.
    Jobs,
    /// Workspaces and their kept states.
    Workspaces,
    /// The children of agents.
    Subagents,
    /// Artifacts and their versions.
    Artifacts,
    /// What automations did.
    Automations,
    /// Benchmark trials and what they are worth.
    Benchmarks,
}

impl Model {
    /// Every model, in the order in which they fold.
    pub const ALL: [Self; 27] = [
        Self::Agents,
        Self::Epochs,
        Self::Messages,
        Self::Memory,
        Self::Recordings,
        Self::Schedules,
        Self::Actions,
        Self::Tokens,
        Self::Keys,
        Self::Policies,
        Self::Sessions,
        Self::Commands,
        Self::Overrides,
        Self::Threads,
        Self::Deliveries,
        Self::Resources,
        Self::Invocations,
        Self::Offers,
        Self::Traces,
        Self::Calls,
        Self::Tasks,
        Self::Jobs,
        Self::Workspaces,
        Self::Subagents,
        Self::Artifacts,
        Self::Automations,
        Self::Benchmarks,
    ];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Epochs => "epochs",
            Self::Messages => "messages",
            Self::Memory => "memory",
            Self::Recordings => "recordings",
            Self::Schedules => "schedules",
            Self::Actions => "actions",
            Self::Tokens => "tokens",
            Self::Keys => "keys",
            Self::Policies => "policies",
            Self::Sessions => "sessions",
            Self::Commands => "commands",
            Self::Overrides => "overrides",
            Self::Threads => "threads",
            Self::Deliveries => "deliveries",
            Self::Resources => "resources",
            Self::Invocations => "invocations",
            Self::Offers => "offers",
            Self::Traces => "traces",
            Self::Calls => "calls",
            Self::Tasks => "tasks",
            Self::Jobs => "jobs",
            Self::Workspaces => "workspaces",
            Self::Subagents => "subagents",
            Self::Artifacts => "artifacts",
            Self::Automations => "automations",
            Self::Benchmarks => "benchmarks",
        }
    }

    pub(crate) fn definition(self) -> &'static Definition {
        match self {
            Self::Agents => &agents::DEFINITION,
            Self::Epochs => &epochs::DEFINITION,
            Self::Messages => &messages::DEFINITION,
            Self::Memory => &memory::DEFINITION,
            Self::Recordings => &recordings::DEFINITION,
            Self::Schedules => &schedules::DEFINITION,
            Self::Actions => &actions::DEFINITION,
            Self::Tokens => &tokens::DEFINITION,
            Self::Keys => &keys::DEFINITION,
            Self::Policies => &policies::DEFINITION,
            Self::Sessions => &sessions::DEFINITION,
            Self::Commands => &commands::DEFINITION,
            Self::Overrides => &overrides::DEFINITION,
            Self::Threads => &threads::DEFINITION,
            Self::Deliveries => &deliveries::DEFINITION,
            Self::Resources => &resources::DEFINITION,
            Self::Invocations => &invocations::DEFINITION,
            Self::Offers => &offers::DEFINITION,
            Self::Traces => &traces::DEFINITION,
            Self::Calls => &calls::DEFINITION,
            Self::Tasks => &tasks::DEFINITION,
            Self::Jobs => &jobs::DEFINITION,
            Self::Workspaces => &workspaces::DEFINITION,
            Self::Subagents => &subagents::DEFINITION,
            Self::Artifacts => &artifacts::DEFINITION,
            Self::Automations => &automations::DEFINITION,
            Self::Benchmarks => &benchmarks::DEFINITION,
        }
    }
}

/// Why an event does not fit what came before it. The batch with it is refused; the record never holds it.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// A fact about an agent stands in a stream that is not that agent's.
    #[error("it does not belong into stream `{0}`")]
    WrongStream(StreamName),
    /// The agent was never declared.
    #[error("agent {0} is not declared")]
    UnknownAgent(AgentId),
    /// The agent is declared already.
    #[error("agent {0} is declared already")]
    DeclaredTwice(AgentId),
    /// Another agent that is not retired has the name.
    #[error("name `{name}` is taken in tenant `{tenant}`")]
    NameTaken {
        /// The namespace.
        tenant: String,
        /// The name.
        name: String,
    },
    /// The epoch is not the agent's newest, or for a start not a newer one.
    #[error("epoch {epoch} of agent {agent} is not current")]
    StaleEpoch {
        /// The agent.
        agent: AgentId,
        /// The epoch that the fact names.
        epoch: Epoch,
    },
    /// The message was never accepted.
    #[error("message {0} was not accepted")]
    UnknownMessage(MessageId),
    /// The message was accepted already.
    #[error("message {0} is accepted already")]
    AcceptedTwice(MessageId),
    /// The sender has used the key for another message.
    #[error("idempotency key `{key}` of `{principal}` is used already")]
    KeyUsed {
        /// The sender.
        principal: String,
        /// The key.
        key: String,
    },
    /// The message is not one that was given up, so it cannot be dropped or wait once more.
    #[error("message {0} is not given up")]
    NotGivenUp(MessageId),
    /// The message does not wait, so it cannot be handed over.
    #[error("message {0} does not wait")]
    NotWaiting(MessageId),
    /// The agent has no schedule of this name.
    #[error("schedule `{0}` is not declared")]
    UnknownSchedule(AgentName),
    /// The action was never opened.
    #[error("action {0} was not opened")]
    UnknownAction(ActionId),
    /// The action was opened already.
    #[error("action {0} is opened already")]
    OpenedTwice(ActionId),
    /// The action is decided, once and for all.
    #[error("action {0} is resolved already")]
    ResolvedAlready(ActionId),
    /// The vote is about something else than what is asked.
    #[error("the vote on action {0} names another digest")]
    OtherDigest(ActionId),
    /// The agent has no such session.
    #[error("session {0} does not exist")]
    UnknownSession(SessionId),
    /// There is a session with this id already.
    #[error("session {0} exists already")]
    SessionTwice(SessionId),
    /// The agent has no such thread.
    #[error("thread {0} does not exist")]
    UnknownThread(ThreadId),
    /// There is a thread with this id already.
    #[error("thread {0} exists already")]
    ThreadTwice(ThreadId),
    /// The agent has no such delivery.
    #[error("delivery {0} does not exist")]
    UnknownDelivery(DeliveryId),
    /// There is a delivery with this id already.
    #[error("delivery {0} exists already")]
    DeliveryTwice(DeliveryId),
    /// There is a task with this id already.
    #[error("task {0} exists already")]
    TaskTwice(TaskId),
    /// There is no such task, or it is not where the fact says that it was.
    #[error("task {0} does not exist, or is in another state")]
    UnknownTask(TaskId),
    /// There is a run with this id or of this number already, or another one of its task lives.
    #[error("run {0} is a second one")]
    RunTwice(RunId),
    /// What came of the item was reported already.
    #[error("item {0} is reported already")]
    ReportedTwice(TaskId),
    /// There is a trial with this id or under this key already.
    #[error("trial {0} exists already, or its key is used")]
    TrialTwice(TrialId),
    /// There is no such trial, or it is not where the fact needs it.
    #[error("trial {0} does not exist, or is in another state")]
    NoTrial(TrialId),
    /// There is no such run that lives.
    #[error("run {0} does not live")]
    NoRun(RunId),
    /// There is an invocation with this id already.
    #[error("invocation {0} exists already")]
    InvocationTwice(InvocationId),
    /// There is no such invocation that waits or runs.
    #[error("invocation {0} does not wait or run")]
    NoInvocation(InvocationId),
    /// The automation has fired for this cause already.
    #[error("firing {0} is there already")]
    FiringTwice(FiringId),
    /// There is no such firing that is open.
    #[error("firing {0} is not open")]
    NoFiring(FiringId),
    /// No live epoch offers such a capability.
    #[error("capability {0} is not offered any more")]
    NoOffer(CapabilityId),
    /// There is a workspace with this id or of this folder already.
    #[error("workspace {0} exists already, or its folder has another one")]
    WorkspaceTwice(WorkspaceId),
    /// There is no such workspace, or it is not in the state that the fact needs.
    #[error("workspace {0} does not exist, or is in another state")]
    NoWorkspace(WorkspaceId),
    /// A checkpoint with this id was begun already.
    #[error("checkpoint {0} is begun already")]
    CheckpointTwice(CheckpointId),
    /// There is no such checkpoint of the workspace in the state that the fact needs.
    #[error("checkpoint {0} does not exist, or is in another state")]
    NoCheckpoint(CheckpointId),
    /// There is a subagent with this id already.
    #[error("subagent {0} exists already")]
    SubagentTwice(AgentId),
    /// The agent has no such child, or it is not where the fact needs it.
    #[error("subagent {0} does not exist, or is in another state")]
    NoSubagent(AgentId),
    /// The owner has an artifact of this name already, or there is one with this id.
    #[error("artifact {0} is a second one of its name or id")]
    ArtifactTwice(ArtifactId),
    /// The owner has no such artifact.
    #[error("artifact {0} does not exist")]
    NoArtifact(ArtifactId),
    /// A command with this id was run already.
    #[error("command {0} is started already")]
    CommandTwice(ProcessId),
    /// The agent has no such command that runs.
    #[error("command {0} does not run")]
    NoCommand(ProcessId),
    /// An input with this id was accepted for the command already.
    #[error("input {0} is accepted already")]
    InputTwice(InputId),
    /// No such input waits to be written.
    #[error("input {0} does not wait")]
    NoInput(InputId),
    /// An override with this id was applied already.
    #[error("override {0} is applied already")]
    OverrideTwice(OverrideId),
    /// No such override is in force.
    #[error("override {0} is not in force")]
    NoOverride(OverrideId),
    /// A call under this key was made already.
    #[error("a call under key {0} is there already")]
    CallTwice(String),
    /// The token was never made.
    #[error("token {0} was not created")]
    UnknownToken(TokenId),
    /// A token with this id or this secret was made already.
    #[error("token {0} is created already")]
    TokenTwice(TokenId),
    /// The node never had the key.
    #[error("key `{0}` was not created")]
    UnknownKey(SafeLabel),
    /// The node has the key already.
    #[error("key `{0}` is created already")]
    KeyTwice(SafeLabel),
    /// The version is not newer than the key's newest.
    #[error("version {version} of key `{key}` is not newer")]
    StaleVersion {
        /// The key.
        key: String,
        /// The version that the fact names.
        version: u64,
    },
    /// The segment is sealed already.
    #[error("segment {segment} of epoch {epoch} is sealed already")]
    SealedTwice {
        /// The epoch.
        epoch: Epoch,
        /// The segment.
        segment: u32,
    },
    /// A part of the fact cannot be written as JSON.
    #[error("it cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// The database failed; this says nothing about the event.
    #[error("the database failed")]
    Database(#[source] rusqlite::Error),
}

/// One model.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Grows when the fold or the tables change, so that the rows are made anew.
    pub(crate) version: i64,
    /// Makes the tables.
    pub(crate) schema: &'static str,
    /// Each table with the columns that order its rows.
    pub(crate) tables: &'static [(&'static str, &'static str)],
    pub(crate) fold: fn(&Step<'_>) -> Result<(), FoldError>,
}

/// An event being folded.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) pos: u64,
    pub(crate) event: &'a Event,
}

impl Step<'_> {
    /// The agent whose stream the event is in.
    fn agent(&self) -> Result<AgentId, FoldError> {
        match self.event.stream {
            StreamName::Agent(agent) => Ok(agent),
            other => Err(FoldError::WrongStream(other)),
        }
    }

    /// Holds the event to a node's stream.
    fn of_node(&self) -> Result<(), FoldError> {
        match self.event.stream {
            StreamName::Node(_) => Ok(()),
            other => Err(FoldError::WrongStream(other)),
        }
    }

    fn ts(&self) -> i64 {
        self.event.ts.as_micros()
    }

    /// Reads the row that a query finds, if there is one.
    fn find<T, P: Params>(
        &self,
        sql: &str,
        params: P,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, FoldError> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, read).optional())
            .map_err(FoldError::Database)
    }

    /// Runs a statement and says how many rows it changed.
    fn run<P: Params>(&self, sql: &str, params: P) -> Result<usize, FoldError> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params))
            .map_err(FoldError::Database)
    }

    /// Changes rows that exist. What would bring a retired agent back beside a new one of its name does not fit.
    fn change<P: Params>(&self, sql: &str, params: P) -> Result<usize, FoldError> {
        self.run(sql, params).map_err(|error| match &error {
            FoldError::Database(source)
                if source.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
            {
                self.agent().map_or_else(|other| other, FoldError::UnknownAgent)
            }
            _ => error,
        })
    }

    /// Inserts a row; `taken` says what it means that there is one already.
    fn insert<P: Params>(
        &self,
        sql: &str,
        params: P,
        taken: impl FnOnce(&rusqlite::Error) -> FoldError,
    ) -> Result<(), FoldError> {
        match self.run(sql, params) {
            Ok(_) => Ok(()),
            Err(FoldError::Database(error)) if is_constraint(&error) => Err(taken(&error)),
            Err(error) => Err(error),
        }
    }
}

fn json<T: serde::Serialize>(value: &T) -> Result<String, FoldError> {
    serde_json::to_string(value).map_err(FoldError::Json)
}

/// Folds an event into every model.
pub(crate) fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    Model::ALL.iter().try_for_each(|model| (model.definition().fold)(step))
}
