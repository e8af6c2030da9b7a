//! The rows of what neighbours keep: artifacts and contexts.

/// The catalogue with these rows at its end.
macro_rules! with_neighbours {
    ($($before:tt)*) => {
        with_workspaces! {
            $($before)*

            /// Publishes bytes under a name; what is published already becomes the next version of it.
            "workspace/artifact.publish" ArtifactPublish(api::artifact::ArtifactPublishParams) -> api::artifact::ArtifactView,
                Write, Anyone, Supervise, Same, [NotFound, InvalidParams, InvalidState, VersionConflict, TooLarge, QuotaExhausted, UpstreamFailed, StorageFull], "0.6";
            /// Shows an artifact and its versions.
            "workspace/artifact.get" ArtifactGet(api::artifact::ArtifactParams) -> api::artifact::ArtifactDetail,
                Read, Anyone, Read, Safe, [NotFound], "0.6";
            /// Lists artifacts.
            "workspace/artifact.list" ArtifactList(api::artifact::ArtifactListParams) -> api::artifact::ArtifactListResult,
                Read, Anyone, Read, Safe, [NotFound], "0.6";
            /// Reads an artifact, or a part of it, after its bytes were held against its digest.
            "workspace/artifact.read" ArtifactRead(api::artifact::ArtifactReadParams) -> api::artifact::ArtifactReadResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidState, UpstreamFailed], "0.6";
            /// Tells what differs between two versions of an artifact.
            "workspace/artifact.diff" ArtifactDiff(api::artifact::ArtifactDiffParams) -> api::artifact::ArtifactDiffResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidState, UpstreamFailed], "0.6";
            /// Writes an artifact to a file of a workspace, whole or not at all.
            "workspace/artifact.export" ArtifactExport(api::artifact::ArtifactExportParams) -> api::artifact::ArtifactExportResult,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, InvalidState, VersionConflict, Locked, Fenced, UpstreamFailed, StorageFull], "0.6";
            /// Ends an artifact with all its versions; what was said of them stays.
            "workspace/artifact.delete" ArtifactDelete(api::artifact::ArtifactDeleteParams) -> api::artifact::ArtifactView,
                Write, Anyone, Supervise, Again, [NotFound, VersionConflict, StorageFull], "0.6";
            /// Finds texts in the store of contexts, best first.
            "conversation/context.search" ContextSearch(api::context::ContextSearchParams) -> api::context::ContextSearchResult,
                Read, Anyone, Read, Safe, [InvalidParams, UpstreamFailed], "0.6";
            /// Reads a text of the store of contexts, or a part of it.
            "conversation/context.read" ContextRead(api::context::ContextReadParams) -> api::context::ContextReadResult,
                Read, Anyone, Read, Safe, [NotFound, InvalidParams, UpstreamFailed], "0.6";
            /// Chooses texts for a budget, and records what was chosen and what was left out.
            "conversation/context.resolve" ContextResolve(api::context::ContextResolveParams) -> api::context::ContextResolveResult,
                Write, Anyone, Supervise, Again, [NotFound, InvalidParams, UpstreamFailed, StorageFull], "0.6";
        }
    };
}
