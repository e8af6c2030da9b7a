//! Subagents: agents with a parent, what divides them from it, and how far they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// How far a subagent is.
    SubagentStatus {
        /// It is to begin.
        Queued => "queued",
        /// Its program runs, or the run of its task does.
        Running => "running",
        /// It does not go on until something happens that is not its own doing.
        Blocked => "blocked",
        /// Its task is done.
        Completed => "completed",
        /// Its task failed, or its program does not run any more by itself.
        Failed => "failed",
        /// It was ended before its task was done.
        Cancelled => "cancelled",
        /// It was ended, and had no task.
        Closed => "closed",
    }
}

impl SubagentStatus {
    /// Whether nothing more is to be expected of it by itself.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::Closed)
    }
}

words! {
    /// Which folder a subagent works in.
    WorkspaceIsolation {
        /// One of its own, empty at first.
        Own => "own",
        /// That of its parent.
        Shared => "shared",
        /// One of its own with what its parent's held when it was spawned.
        Forked => "forked",
    }
}

words! {
    /// Which memory a subagent has.
    MemoryIsolation {
        /// One of its own, empty at first.
        Own => "own",
        /// That of its parent.
        Shared => "shared",
    }
}

words! {
    /// What a subagent may do.
    PermissionIsolation {
        /// What its parent may.
        Inherit => "inherit",
        /// Less: none of its parent's secrets and inherited variables, no calls of capabilities, no subagents.
        Narrowed => "narrowed",
    }
}

words! {
    /// What a subagent knows of what its parent was told and said.
    ContextIsolation {
        /// Nothing.
        Fresh => "fresh",
        /// All of it.
        Forked => "forked",
    }
}

words! {
    /// What becomes of a subagent when its parent has ended.
    OnParentExit {
        /// It is closed.
        Close => "close",
        /// It goes on.
        Keep => "keep",
    }
}

/// What divides a subagent from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Isolation {
    /// Which folder it works in.
    #[serde(default = "own_workspace")]
    pub workspace: WorkspaceIsolation,
    /// Which memory it has.
    #[serde(default = "own_memory")]
    pub memory: MemoryIsolation,
    /// What it may do.
    #[serde(default = "inherited")]
    pub permission: PermissionIsolation,
    /// What it knows of what its parent was told and said.
    #[serde(default = "fresh")]
    pub context: ContextIsolation,
}

impl Isolation {
    /// What holds where nobody says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            workspace: WorkspaceIsolation::Own,
            memory: MemoryIsolation::Own,
            permission: PermissionIsolation::Inherit,
            context: ContextIsolation::Fresh,
        }
    }
}

fn own_workspace() -> WorkspaceIsolation {
    WorkspaceIsolation::Own
}

fn own_memory() -> MemoryIsolation {
    MemoryIsolation::Own
}

fn inherited() -> PermissionIsolation {
    PermissionIsolation::Inherit
}

fn fresh() -> ContextIsolation {
    ContextIsolation::Fresh
}
