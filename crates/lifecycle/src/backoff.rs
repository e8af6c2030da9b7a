//! When to start again after an end: delay, doubling, jitter, and the breaker that gives up.

use serde::{Deserialize, Serialize};

/// Which ends are followed by a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestartMode {
    /// Every end.
    Always,
    /// Ends that were not a success.
    OnFailure,
    /// None.
    Never,
}

/// How restarts are spaced and when they cease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Which ends are followed by a start.
    pub mode: RestartMode,
    /// Delay before the first restart, in milliseconds.
    pub initial_ms: u64,
    /// Longest delay, in milliseconds.
    pub max_ms: u64,
    /// How far a delay may be moved in each direction, in percent.
    pub jitter_percent: u8,
    /// Running this long, in milliseconds, forgets all earlier ends.
    pub stable_ms: u64,
    /// This many early ends within `breaker_window_ms` cease the restarts; zero means never.
    pub breaker_failures: u32,
    /// The breaker's window, in milliseconds.
    pub breaker_window_ms: u64,
}

/// Most early ends that are remembered; a breaker can count no further.
pub const ENDS_REMEMBERED: usize = 64;

/// What is remembered of the recent ends of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestartBook {
    /// Early ends in a row.
    attempt: u32,
    /// When they were, in milliseconds of the caller's clock, oldest first.
    ends: Vec<u64>,
}

/// What follows an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A start after this many milliseconds.
    Again {
        /// The delay.
        delay_ms: u64,
        /// Restarts in a row so far, this one included.
        attempt: u32,
    },
    /// No start: it ended as it may.
    Done,
    /// No start: it failed, and the policy does not start it again.
    Failed,
    /// No start: it ended too often.
    Tripped {
        /// Early ends in the breaker's window.
        failures: u32,
    },
}

/// What the rule needs to know of an end.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Whether the program reported success.
    pub success: bool,
    /// How long it ran, in milliseconds.
    pub ran_ms: u64,
    /// When it ended, in milliseconds of the caller's clock.
    pub now_ms: u64,
    /// A random number of 0 to 1,000 for the jitter.
    pub chance_permille: u16,
}

impl RestartBook {
    /// Forgets everything: somebody started it by hand.
    pub fn clear(&mut self) {
        self.attempt = 0;
        self.ends.clear();
    }

    /// Books an end and says what follows.
    pub fn end(&mut self, policy: &Policy, end: End) -> Verdict {
        let again = match policy.mode {
            RestartMode::Always => true,
            RestartMode::OnFailure => !end.success,
            RestartMode::Never => false,
        };
        if !again {
            return if end.success { Verdict::Done } else { Verdict::Failed };
        }
        if end.ran_ms >= policy.stable_ms {
            self.clear();
        } else {
            self.ends.push(end.now_ms);
            if self.ends.len() > ENDS_REMEMBERED {
                self.ends.remove(0);
            }
        }
        let since = end.now_ms.saturating_sub(policy.breaker_window_ms);
        let failures = u32::try_from(self.ends.iter().filter(|at| **at >= since).count()).unwrap_or(u32::MAX);
        if policy.breaker_failures > 0 && failures >= policy.breaker_failures {
            return Verdict::Tripped { failures };
        }
        let delay_ms = jittered(policy, self.attempt, end.chance_permille);
        self.attempt = self.attempt.saturating_add(1);
        Verdict::Again { delay_ms, attempt: self.attempt }
    }
}

fn jittered(policy: &Policy, attempt: u32, chance_permille: u16) -> u64 {
    let doubled = policy.initial_ms.saturating_mul(1_u64.checked_shl(attempt).unwrap_or(u64::MAX));
    let base = doubled.min(policy.max_ms);
    let reach = base.saturating_mul(u64::from(policy.jitter_percent.min(100))) / 100;
    let moved = reach.saturating_mul(2).saturating_mul(u64::from(chance_permille.min(1_000))) / 1_000;
    base.saturating_sub(reach).saturating_add(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(mode: RestartMode) -> Policy {
        Policy {
            mode,
            initial_ms: 200,
            max_ms: 60_000,
            jitter_percent: 20,
            stable_ms: 30_000,
            breaker_failures: 10,
            breaker_window_ms: 600_000,
        }
    }

    fn end(success: bool, ran_ms: u64, now_ms: u64) -> End {
        End { success, ran_ms, now_ms, chance_permille: 500 }
    }

    /// Proves LIFE-008.
    #[test]
    fn delays_double_to_the_limit_and_reset_when_stable() {
        let mut book = RestartBook::default();
        let policy = Policy { breaker_failures: 0, ..policy(RestartMode::Always) };
        let mut delays = Vec::new();
        for now in 0..10 {
            if let Verdict::Again { delay_ms, .. } = book.end(&policy, end(false, 5, now)) {
                delays.push(delay_ms);
            }
        }
        assert_eq!(delays, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000]);
        let stable = book.end(&policy, end(false, 30_000, 99));
        assert_eq!(stable, Verdict::Again { delay_ms: 200, attempt: 1 });
    }

    /// Proves LIFE-008.
    #[test]
    fn jitter_stays_in_its_reach() {
        let policy = policy(RestartMode::Always);
        for chance in [0, 1, 499, 1_000, u16::MAX] {
            let delay = jittered(&policy, 3, chance);
            assert!((1_280..=1_920).contains(&delay), "{chance}: {delay}");
        }
        assert_eq!(jittered(&Policy { initial_ms: 0, ..policy }, 63, 1_000), 0);
    }

    /// Proves LIFE-009.
    #[test]
    fn mode_decides_who_starts_again() {
        let verdict = |mode, success| RestartBook::default().end(&policy(mode), end(success, 1, 1));
        assert!(matches!(verdict(RestartMode::Always, true), Verdict::Again { .. }));
        assert!(matches!(verdict(RestartMode::OnFailure, false), Verdict::Again { .. }));
        assert_eq!(verdict(RestartMode::OnFailure, true), Verdict::Done);
        assert_eq!(verdict(RestartMode::Never, true), Verdict::Done);
        assert_eq!(verdict(RestartMode::Never, false), Verdict::Failed);
    }

    /// Proves LIFE-010.
    #[test]
    fn breaker_trips_on_early_ends_in_its_window_only() {
        let policy = Policy { breaker_failures: 3, breaker_window_ms: 1_000, ..policy(RestartMode::Always) };
        let mut book = RestartBook::default();
        assert!(matches!(book.end(&policy, end(false, 1, 0)), Verdict::Again { .. }));
        assert!(matches!(book.end(&policy, end(false, 1, 500)), Verdict::Again { .. }));
        assert!(matches!(book.end(&policy, end(false, 1, 1_200)), Verdict::Again { .. }));
        assert_eq!(book.end(&policy, end(true, 1, 1_400)), Verdict::Tripped { failures: 3 });
    }
}
