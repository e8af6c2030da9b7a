//! Workspaces: folders that agents work in, and their kept states.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Where a checkpoint is.
    CheckpointState {
        /// It is being made.
        Started => "started",
        /// It is kept.
        Created => "created",
        /// It could not be made.
        Failed => "failed",
        /// The node ended while it was made: nothing is kept.
        Lost => "lost",
        /// It is kept no more.
        Deleted => "deleted",
    }
}

words! {
    /// Why a checkpoint is made.
    CheckpointCause {
        /// Somebody asked for it.
        Asked => "asked",
        /// It is what was there before a restore.
        Restore => "restore",
        /// A manifest wants it before a call that may do something.
        BeforeCall => "before_call",
    }
}

words! {
    /// What is done to a file.
    FileChangeKind {
        /// It is written.
        Write => "write",
        /// It gets another path.
        Move => "move",
        /// It is removed.
        Delete => "delete",
    }
}

words! {
    /// What became of a change of a file.
    FileChangeOutcome {
        /// It was made.
        Done => "done",
        /// It was not made: all is as it was.
        Undone => "undone",
        /// It cannot be told from what is there.
        Unknown => "unknown",
    }
}

words! {
    /// Why a lock ended.
    LockEnd {
        /// Its holder gave it back.
        Released => "released",
        /// An operator took it.
        Taken => "taken",
        /// Its time was over.
        Expired => "expired",
        /// The epoch that held it was over.
        EpochEnded => "epoch_ended",
    }
}

words! {
    /// What may be done with a workspace under a binding.
    BindingMode {
        /// It is looked at.
        ReadOnly => "ro",
        /// It is changed.
        ReadWrite => "rw",
    }
}

words! {
    /// Why a binding ended.
    BindingEnd {
        /// Somebody had it ended.
        Detached => "detached",
        /// Its run was over.
        RunEnded => "run_ended",
        /// The epoch of its agent was over.
        EpochEnded => "epoch_ended",
    }
}

/// What there is in a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderCounts {
    /// Files.
    pub files: u64,
    /// Folders, without itself.
    pub folders: u64,
    /// Symbolic links.
    pub links: u64,
    /// Bytes in files.
    pub bytes: u64,
}

/// What a restore did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreCounts {
    /// Files and links that were written, and folders that were made.
    pub written: u64,
    /// Files, links and folders that were removed.
    pub removed: u64,
    /// Things of which the permissions alone were changed.
    pub modes: u64,
    /// Bytes in the files that were written.
    pub bytes: u64,
    /// What was left as it is, because it was changed meanwhile or is not kept.
    pub conflicts: u64,
}
