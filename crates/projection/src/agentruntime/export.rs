//! `agentruntime.events` and `agentruntime.lime`: the events of a session in the standard's words.

use std::collections::{BTreeMap, VecDeque};

use edgeplane_types::fact::{FileWritten, UsageReported};
use edgeplane_types::{Fact, ItemId, MessageId, ThreadId, TrialId, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    LIME, PUBLIC,
    benchmark::Trial,
    event::{Draft, Frame},
    runtime, system_turn,
};
use crate::{
    entry::Ids,
    fold::{Fold, Step},
    model::{Model, Profile},
    subject::{Subject, turn_of},
};

/// Every type but those that have no name in the standard.
pub(crate) fn takes(kind: &str) -> bool {
    let family = kind.split_once('.').map_or(kind, |(family, _)| family);
    matches!(
        family,
        "agent"
            | "message"
            | "thread"
            | "turn"
            | "item"
            | "usage"
            | "file"
            | "command"
            | "hook"
            | "action"
            | "answer"
            | "session"
            | "recording"
            | "attach"
            | "schedule"
            | "task"
            | "run"
            | "job"
            | "job_item"
            | "benchmark"
            | "invocation"
            | "request"
            | "subagent"
            | "artifact"
            | "context"
    )
}

/// Uses of tools that are still known, so that each begins once. One more, and the oldest would begin again.
const TOOLS_MAX: usize = 1_000;

/// A use of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) message: Option<MessageId>,
    pub(super) is_open: bool,
    /// What a call that has not begun is to be given, as far as it may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<(String, u64)>,
}

/// What is kept between events, whichever the profile.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Export {
    runtime: String,
    pub(super) model: Model,
    pub(super) tools: BTreeMap<ItemId, Tool>,
    tools_order: VecDeque<ItemId>,
    /// Made of the others when it is needed first.
    /// What the newest turn that anything was said of has used.
    pub(super) used: Option<(MessageId, Used)>,
    /// The newest trials that the agent was given.
    #[serde(default)]
    pub(super) trials: BTreeMap<TrialId, Trial>,
    #[serde(skip)]
    frame: Option<Frame>,
}

/// Tokens of a turn, as far as its program said them.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Used {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) total: Option<u64>,
}

/// The export while one event is told.
#[derive(Debug)]
pub(super) struct Telling<'a> {
    pub(super) export: &'a mut Export,
    pub(super) frame: &'a Frame,
}

impl Export {
    fn new(subject: &Subject) -> Self {
        Self {
            runtime: runtime(subject),
            model: Model::new(subject),
            tools: BTreeMap::new(),
            tools_order: VecDeque::new(),
            used: None,
            trials: BTreeMap::new(),
            frame: None,
        }
    }

    fn fold(&mut self, profile: Profile, step: &mut Step<'_>) {
        let followed = self.model.follow(step.event());
        // Without a session there is nothing that the event could be one of.
        let Some(session) = self.model.turns.session() else { return };
        let frame = self.frame.take();
        let frame = frame.unwrap_or_else(|| Frame::new(profile.version, &self.runtime, session));
        let mut telling = Telling { export: self, frame: &frame };
        if step.fact().task_id().is_some() {
            if let Some(id) = followed.task {
                telling.work(step, id);
            }
            self.frame = Some(frame);
            return;
        }
        if let Some(id) = followed.child {
            telling.subagent(step, id);
            self.frame = Some(frame);
            return;
        }
        telling.threads(step, &followed);
        telling.turns(step, &followed);
        match step.fact() {
            Fact::ItemUpdated { .. } | Fact::ItemReported { .. } => telling.item(step),
            Fact::UsageReported(UsageReported { .. })
            | Fact::FileWritten(FileWritten { .. })
            | Fact::AnswerHeard { .. } => {
                telling.beside(step);
            }
            Fact::ContextResolved(resolved) => telling.context(step, resolved),
            Fact::ArtifactPublished(_) | Fact::ArtifactDeleted(_) => telling.artifact(step),
            Fact::CommandStarted { .. }
            | Fact::CommandEnded { .. }
            | Fact::CommandInputAccepted(_)
            | Fact::CommandInputSettled(_) => telling.command(step),
            Fact::ThreadCompacted(drawn) => telling.compacted(step, drawn),
            Fact::ThreadRolledBack(cut) => telling.rolled_back(step, cut),
            Fact::ActionOpened { .. } | Fact::ActionVoted { .. } | Fact::ActionResolved { .. } => {
                telling.action(step, &followed);
            }
            Fact::InvocationRequested(_)
            | Fact::InvocationBegun(_)
            | Fact::InvocationProgressed(_)
            | Fact::InvocationEnded(_) => {
                telling.invocation(step);
            }
            Fact::RequestRefused(refused) => telling.refused(step, refused),
            _ => telling.life(step),
        }
        self.frame = Some(frame);
    }

    /// Notes a use of a tool. Says whether it is a new one.
    pub(super) fn tool(&mut self, item: ItemId, message: Option<MessageId>, is_open: bool) -> bool {
        let was = self.tools.insert(item, Tool { message, is_open, input: None });
        if was.is_none() {
            self.tools_order.push_back(item);
            if self.tools_order.len() > TOOLS_MAX
                && let Some(oldest) = self.tools_order.pop_front()
            {
                self.tools.remove(&oldest);
            }
        }
        was.is_none()
    }
}

impl Telling<'_> {
    pub(super) fn system(&self) -> TurnId {
        system_turn(self.frame.session)
    }

    pub(super) fn main(&self) -> Option<ThreadId> {
        self.export.model.turns.main()
    }

    /// An event of the session as a whole.
    pub(super) fn of_session(&self, step: &Step<'_>, kind: &'static str) -> Draft {
        let ids = Ids { thread_id: None, ..self.export.model.turns.ids(None) };
        self.frame.begin(step, kind, ids)
    }

    /// An event of a turn; of the system turn where there is none.
    pub(super) fn of_turn(&self, step: &Step<'_>, kind: &'static str, message: Option<MessageId>) -> Draft {
        let turns = &self.export.model.turns;
        let ids = turns.ids(message);
        let turn = message.map_or_else(|| self.system(), turn_of);
        let draft = self.frame.begin(step, kind, ids).thread(ids.thread_id).turn(turn);
        draft.run(message, &self.export.model.work).trace(turns.trace(message))
    }
}

/// In this runtime's own form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Events(Export);

/// In the strict form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Lime(Export);

impl Fold for Events {
    fn new(subject: &Subject) -> Self {
        Self(Export::new(subject))
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.0.fold(PUBLIC, step);
    }

    fn state(&self) -> Value {
        self.0.model.snapshot(PUBLIC, &self.0.runtime)
    }
}

impl Fold for Lime {
    fn new(subject: &Subject) -> Self {
        Self(Export::new(subject))
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.0.fold(LIME, step);
    }

    fn state(&self) -> Value {
        self.0.model.snapshot(LIME, &self.0.runtime)
    }
}
