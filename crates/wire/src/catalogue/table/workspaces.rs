//! The rows of workspaces, their checkpoints and their files.

/// The catalogue with these rows at its end.
macro_rules! with_workspaces {
    ($($before:tt)*) => {
        catalogue! {
            $($before)*

            /// Makes a folder known as a workspace; one that is known stays as it is.
            "workspace/create" WorkspaceCreate(api::workspace::WorkspaceCreateParams) -> api::workspace::WorkspaceView,
                Write, Anyone, Supervise, Same, [NotFound, PermissionDenied, InvalidParams, InvalidState, StorageFull], "0.6";
            /// Shows a workspace.
            "workspace/get" WorkspaceGet(api::workspace::WorkspaceParams) -> api::workspace::WorkspaceView,
                Read, Anyone, Read, Safe, [NotFound], "0.6";
            /// Lists workspaces.
            "workspace/list" WorkspaceList(api::workspace::WorkspaceListParams) -> api::workspace::WorkspaceListResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams], "0.6";
            /// Ends a workspace and its checkpoints; its folder stays as it is.
            "workspace/delete" WorkspaceDelete(api::workspace::WorkspaceDeleteParams) -> api::workspace::WorkspaceView,
                Write, Operator, Supervise, Again, [NotFound, InvalidParams, Locked, StorageFull], "0.6";
            /// Keeps the state of a workspace. Agents that work in it are suspended for a moment where that is possible.
            "workspace/checkpoint.create" CheckpointCreate(api::workspace::CheckpointCreateParams) -> api::workspace::CheckpointView,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, InvalidState, WrongWorkspace, Fenced, Locked, DeadlineExceeded, StorageFull], "0.6";
            /// Shows a checkpoint, and what is not in it.
            "workspace/checkpoint.get" CheckpointGet(api::workspace::CheckpointParams) -> api::workspace::CheckpointDetail,
                Read, Anyone, Read, Safe, [NotFound], "0.6";
            /// Lists checkpoints, newest first.
            "workspace/checkpoint.list" CheckpointList(api::workspace::CheckpointListParams) -> api::workspace::CheckpointListResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams], "0.6";
            /// Tells what differs between two checkpoints.
            "workspace/checkpoint.diff" CheckpointDiff(api::workspace::CheckpointDiffParams) -> api::workspace::CheckpointDiffResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidState], "0.6";
            /// Brings a workspace back to a checkpoint of it; what was there is kept first.
            "workspace/checkpoint.restore" CheckpointRestore(api::workspace::CheckpointRestoreParams) -> api::workspace::CheckpointRestoreResult,
                Write, Anyone, Supervise, Again, [NotFound, InvalidState, Locked, WrongWorkspace, Fenced, StorageFull], "0.6";
            /// Ends a checkpoint; what nobody else needs of it is removed.
            "workspace/checkpoint.delete" CheckpointDelete(api::workspace::CheckpointDeleteParams) -> api::workspace::CheckpointView,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, InvalidState, Locked, StorageFull], "0.6";
            /// Lists files of a workspace, by path.
            "workspace/file.list" FileList(api::workspace::FileListParams) -> api::workspace::FileListResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, InvalidState], "0.6";
            /// Shows what a file of a workspace is, and its version.
            "workspace/file.stat" FileStat(api::workspace::FileParams) -> api::workspace::FileView,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, InvalidState], "0.6";
            /// Reads a file of a workspace, or a part of it.
            "workspace/file.read" FileRead(api::workspace::FileReadParams) -> api::workspace::FileReadResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, InvalidState], "0.6";
            /// Finds text in the files of a workspace.
            "workspace/file.search" FileSearch(api::workspace::FileSearchParams) -> api::workspace::FileSearchResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, InvalidState], "0.6";
            /// Writes a file of a workspace, whole or not at all.
            "workspace/file.write" FileWrite(api::workspace::FileWriteParams) -> api::workspace::FileChangeView,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, TooLarge, Locked, WrongWorkspace, Fenced, StorageFull], "0.6";
            /// Gives a file, folder or link of a workspace another path.
            "workspace/file.move" FileMove(api::workspace::FileMoveParams) -> api::workspace::FileChangeView,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, InvalidState, Conflict, VersionConflict, Locked, WrongWorkspace, Fenced, StorageFull], "0.6";
            /// Removes a file or link of a workspace, or a folder with nothing in it.
            "workspace/file.delete" FileDelete(api::workspace::FileDeleteParams) -> api::workspace::FileChangeView,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, Locked, WrongWorkspace, Fenced, StorageFull], "0.6";
            /// Takes a lock on paths of a workspace, or has one for longer.
            "workspace/lock.acquire" LockAcquire(api::workspace::LockAcquireParams) -> api::workspace::LockView,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, Locked, WrongWorkspace, Fenced, QuotaExhausted, StorageFull], "0.6";
            /// Gives a lock on paths of a workspace back.
            "workspace/lock.release" LockRelease(api::workspace::LockReleaseParams) -> api::workspace::LockView,
                Write, Anyone, Supervise, Again, [NotFound, PermissionDenied, Fenced, StorageFull], "0.6";
            /// Lists the locks on paths of a workspace.
            "workspace/lock.list" LockList(api::workspace::LockListParams) -> api::workspace::LockListResult,
                Read, Anyone, Read, Safe, [NotFound], "0.6";
            /// Binds a workspace to a run or an agent, to be looked at or to be changed, under a number that only grows.
            "workspace/binding.attach" BindingAttach(api::workspace::BindingAttachParams) -> api::workspace::BindingView,
                Write, Anyone, Supervise, Same, [NotFound, InvalidParams, InvalidState, Unsupported, Locked, QuotaExhausted, StorageFull], "0.6";
            /// Ends a binding of a workspace; what is done under it is fenced from then on.
            "workspace/binding.detach" BindingDetach(api::workspace::BindingDetachParams) -> api::workspace::BindingView,
                Write, Anyone, Supervise, Again, [NotFound, PermissionDenied, WrongWorkspace, Fenced, StorageFull], "0.6";
            /// Keeps bytes in a workspace under their digest.
            "workspace/blob.put" BlobPut(api::workspace::BlobPutParams) -> api::workspace::BlobView,
                Write, Anyone, Supervise, Same, [NotFound, InvalidParams, InvalidState, TooLarge, StorageFull], "0.6";
            /// Reads bytes by their digest, or a part of them.
            "workspace/blob.get" BlobGet(api::workspace::BlobGetParams) -> api::workspace::BlobReadResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, InvalidState], "0.6";
            /// Shows how bytes are kept.
            "workspace/blob.stat" BlobStat(api::workspace::BlobParams) -> api::workspace::BlobView,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams], "0.6";
            /// Waits until what was written has arrived, and gives a receipt.
            "sync/barrier.await" BarrierAwait(api::workspace::BarrierAwaitParams) -> api::workspace::BarrierReceipt,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, Unsupported, ReplayGap, DeadlineExceeded], "0.6";
        }
    };
}
