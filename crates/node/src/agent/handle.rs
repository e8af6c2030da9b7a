//! The way to an agent's engine: what it can be asked, and what is known of it without asking.

use std::sync::Arc;

use edgeplane_driver::hooks::HookKind;
use edgeplane_manifest::Manifest;
use edgeplane_store::ActionRow;
use edgeplane_types::{
    AgentId, AgentName, Authority, Desired, Epoch, Generation, MessageId, Phase, ProcessId, fact::InputFate,
};
use edgeplane_wire::{
    api::{
        agent::{ChangeResult, RetirementPlan},
        conversation::thread::{ThreadCompactParams, ThreadRollbackParams},
        memory::{EntriesResult, Entry},
        report::{HookResult, ReportResult},
        terminal::{AttachParams, AttachResult, SnapshotResult},
    },
    rpc::RpcError,
};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    Accepted, ActionRequest, Begun, Compacted, Deciding, Declared, Heard, LetterRequest, LifeRequest,
    MemoryRequest, Report, RolledBack, ScheduleRequest, Shown, ToBegin, TurnChanged, TurnRequest,
    WantedInput,
};
use crate::{admission::Admitted, outbound::Outbound, profile::Profile, record::Origin};

/// What others know of an agent at any time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Why nothing is typed into its terminal now, if an adapter says so.
    pub(crate) closed: Option<Arc<str>>,
    pub(crate) phase: Phase,
    pub(crate) desired: Desired,
    pub(crate) epoch: Epoch,
    /// Whether it is a replica that could begin a task now.
    pub(crate) is_free: bool,
}

/// The way to an agent.
#[derive(Debug, Clone)]
pub(crate) struct AgentHandle {
    pub(crate) id: AgentId,
    pub(crate) name: AgentName,
    /// The set whose replica it is.
    pub(crate) set: Option<AgentId>,
    /// The agent whose child it is.
    pub(crate) parent: Option<AgentId>,
    pub(crate) summary: watch::Receiver<Summary>,
    pub(super) profile: watch::Receiver<Arc<Profile>>,
    pub(super) mailbox: mpsc::Sender<Command>,
}

/// What an agent's engine is asked.
#[derive(Debug)]
pub(crate) enum Command {
    Life(LifeRequest, Origin, oneshot::Sender<Result<ChangeResult, RpcError>>),
    /// What holds it has changed.
    Hold(Origin, oneshot::Sender<Result<(), RpcError>>),
    Update(Declared, Origin, oneshot::Sender<Result<Generation, RpcError>>),
    Schedule(ScheduleRequest, Origin, oneshot::Sender<Result<Option<MessageId>, RpcError>>),
    /// A command is to end: after how many milliseconds, and why.
    Terminate(ProcessId, (u64, String), Origin, oneshot::Sender<Result<(), RpcError>>),
    /// Something is to be written to a command.
    WriteProcess(WantedInput, Origin, oneshot::Sender<Result<InputFate, RpcError>>),
    /// The grace of a command is over.
    EndProcess(ProcessId),
    Manifest(oneshot::Sender<(Arc<Manifest>, Generation)>),
    /// A replica has a message, or a replica of the set has changed.
    Balance,
    Removal(oneshot::Sender<Result<RetirementPlan, RpcError>>),
    View(oneshot::Sender<Result<Shown, RpcError>>),
    Signal(Box<Admitted>, oneshot::Sender<Result<Accepted, RpcError>>),
    Hear(Epoch, Heard, oneshot::Sender<Result<(), RpcError>>),
    Action(ActionRequest, oneshot::Sender<Result<ActionRow, RpcError>>),
    DeadLetter(MessageId, LetterRequest, Origin, oneshot::Sender<Result<(), RpcError>>),
    Begin(Box<ToBegin>, oneshot::Sender<Result<Begun, RpcError>>),
    Turn(TurnRequest, Origin, oneshot::Sender<Result<TurnChanged, RpcError>>),
    Decide(Deciding, Origin, oneshot::Sender<Result<(), RpcError>>),
    Compact(Box<ThreadCompactParams>, Authority, Origin, oneshot::Sender<Result<Compacted, RpcError>>),
    RollBack(ThreadRollbackParams, Origin, oneshot::Sender<Result<RolledBack, RpcError>>),
    Memory(MemoryRequest, Origin, oneshot::Sender<Result<MemoryAnswer, RpcError>>),
    Report(Epoch, Report, Origin, oneshot::Sender<Result<ReportResult, RpcError>>),
    Hook(Epoch, HookKind, serde_json::Value, Origin, oneshot::Sender<Result<HookResult, RpcError>>),
    Attach(AttachParams, Origin, Outbound, oneshot::Sender<Result<AttachResult, RpcError>>),
    Detach(String, &'static str),
    Write(String, Vec<u8>, Option<oneshot::Sender<Result<(), RpcError>>>),
    Resize(String, (u16, u16), Option<oneshot::Sender<Result<(), RpcError>>>),
    Snapshot(oneshot::Sender<Result<SnapshotResult, RpcError>>),
    NativeReply(Epoch, u64, Vec<u8>),
}

/// What a memory request gives.
#[derive(Debug)]
pub(crate) enum MemoryAnswer {
    Entry(Entry),
    Entries(EntriesResult),
}

impl AgentHandle {
    /// What its manifest says that others decide by.
    pub(crate) fn profile(&self) -> Arc<Profile> {
        Arc::clone(&self.profile.borrow())
    }

    /// Why a message that waits is held back by what its terminal shows, if it is.
    pub(crate) fn held(&self, row: &edgeplane_store::MessageRow) -> Option<String> {
        let summary = self.summary.borrow();
        summary.closed.as_ref().filter(|_| row.waiting).map(|why| format!("held: {why}"))
    }

    /// Asks the agent's engine and waits for its answer.
    pub(crate) async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, RpcError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(command(reply)).await.map_err(|_gone| self.gone())?;
        answer.await.map_err(|_gone| self.gone())
    }

    /// Tells the agent's engine something and waits for nothing; lost if its mailbox is full.
    pub(crate) fn tell(&self, command: Command) -> bool {
        self.mailbox.try_send(command).is_ok()
    }

    /// Tells the agent's engine something and waits for room in its mailbox, not for an answer.
    pub(crate) async fn hand(&self, command: Command) -> Result<(), RpcError> {
        self.mailbox.send(command).await.map_err(|_gone| self.gone())
    }

    /// Hands an answer to the agent's program.
    pub(crate) async fn tell_native(&self, epoch: Epoch, end: u64, line: Vec<u8>) {
        // An engine that has ended has no program to answer.
        drop(self.mailbox.send(Command::NativeReply(epoch, end, line)).await);
    }

    fn gone(&self) -> RpcError {
        RpcError::new(edgeplane_types::ErrorName::NotFound, format!("agent `{}` is gone", self.name))
    }
}
