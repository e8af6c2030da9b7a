//! What a manifest says of restarts, in the words of the lifecycle.

use edgeplane_lifecycle::{self as lifecycle, RestartMode};
use edgeplane_manifest::{Manifest, RestartPolicy};

/// A manifest's restart rules as the lifecycle takes them.
pub(crate) fn policy(manifest: &Manifest) -> lifecycle::Policy {
    let restart = &manifest.spec.restart;
    lifecycle::Policy {
        mode: match restart.policy {
            RestartPolicy::Always => RestartMode::Always,
            RestartPolicy::OnFailure => RestartMode::OnFailure,
            RestartPolicy::Never => RestartMode::Never,
        },
        initial_ms: restart.backoff.initial.as_millis(),
        max_ms: restart.backoff.max.as_millis(),
        jitter_percent: restart.backoff.jitter_percent,
        stable_ms: restart.backoff.reset_after.as_millis(),
        breaker_failures: restart.breaker.failures,
        breaker_window_ms: restart.breaker.within.as_millis(),
    }
}
