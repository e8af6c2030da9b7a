//! The rows of benchmark trials.

/// The catalogue with these rows behind the others, before those of automations.
macro_rules! with_benchmarks {
    ($($before:tt)*) => {
        with_automations! {
            $($before)*

            /// Gives an agent a task to measure it: one run, under a dataset and a configuration.
            "benchmark/trial.start" TrialStart(api::benchmark::TrialStartParams) -> api::benchmark::TrialView,
                Write, Anyone, Signal, Again, [PolicyBlocked, NotFound, InvalidParams, InvalidState, IdempotencyMismatch, StorageFull], "0.6";
            /// Records what a verifier says that a trial is worth, as it is said.
            "benchmark/reward.record" RewardRecord(api::benchmark::RewardRecordParams) -> api::benchmark::RewardView,
                Write, Anyone, Signal, Same, [NotFound, InvalidParams, PermissionDenied, Conflict, QuotaExhausted, StorageFull], "0.6";
            /// Writes a trial out: what was measured, what was said and done, what it is worth, and a signed pack.
            "benchmark/trial.export" TrialExport(api::benchmark::TrialExportParams) -> api::benchmark::TrialExportResult,
                Write, Operator, Supervise, Again, [NotFound, TooLarge, StorageFull], "0.6";
            /// Compares trials that differ in one thing, and records what came of it.
            "benchmark/run.compare" RunCompare(api::benchmark::RunCompareParams) -> api::benchmark::ComparisonView,
                Write, Anyone, Signal, Again, [NotFound, InvalidParams, PermissionDenied, Conflict, StorageFull], "0.6";

        }
    };
}
