//! How often pairs speak: a bucket each, that fills with time.

use std::collections::HashMap;

use edgeplane_policy::Rate;
use edgeplane_types::{AgentId, Proof, SafeLabel};

/// Pairs that are counted at a time. Beyond it those whose bucket is full again are forgotten, which changes nothing.
const PAIRS_MAX: usize = 65_536;

/// Who speaks, by which proof, and to whom.
pub(super) type Pair = (SafeLabel, Proof, AgentId);

/// The buckets of all pairs.
#[derive(Debug, Default)]
pub(super) struct Rates {
    buckets: HashMap<Pair, Bucket>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    rate: Rate,
    /// What is left: a message takes a window, and each millisecond brings back `count`. Whole numbers, so that slow
    /// rates lose nothing.
    left: u128,
    at_ms: u64,
}

impl Rates {
    /// Takes one from the bucket of a pair; if it is empty, after how many milliseconds there is one again.
    pub(super) fn take(&mut self, pair: Pair, rate: Rate, now_ms: u64) -> Result<(), u64> {
        if self.buckets.len() >= PAIRS_MAX && !self.buckets.contains_key(&pair) {
            self.buckets.retain(|_, bucket| !bucket.is_full(now_ms));
        }
        if self.buckets.len() >= PAIRS_MAX && !self.buckets.contains_key(&pair) {
            // So many different pairs at once are a flood; what cannot be counted is not let through.
            return Err(rate.window_ms());
        }
        let bucket = self.buckets.entry(pair).or_insert_with(|| Bucket::full(rate, now_ms));
        if bucket.rate != rate {
            *bucket = Bucket::full(rate, now_ms);
        }
        bucket.take(now_ms)
    }
}

impl Bucket {
    fn full(rate: Rate, now_ms: u64) -> Self {
        Self { rate, left: Self::room(rate), at_ms: now_ms }
    }

    /// Room for `count` messages.
    fn room(rate: Rate) -> u128 {
        u128::from(rate.count()).saturating_mul(u128::from(rate.window_ms()))
    }

    fn level(&self, now_ms: u64) -> u128 {
        let passed = u128::from(now_ms.saturating_sub(self.at_ms));
        let back = passed.saturating_mul(u128::from(self.rate.count()));
        self.left.saturating_add(back).min(Self::room(self.rate))
    }

    fn is_full(&self, now_ms: u64) -> bool {
        self.level(now_ms) == Self::room(self.rate)
    }

    fn take(&mut self, now_ms: u64) -> Result<(), u64> {
        self.left = self.level(now_ms);
        self.at_ms = now_ms;
        match self.left.checked_sub(u128::from(self.rate.window_ms())) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let missing = u128::from(self.rate.window_ms()).saturating_sub(self.left);
                let wait = missing.div_ceil(u128::from(self.rate.count()).max(1));
                Err(u64::try_from(wait).unwrap_or(u64::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(number: u64) -> Pair {
        (SafeLabel::sanitized(&number.to_string()), Proof::Uid, AgentId::from_parts(1, [1; 10]))
    }

    /// Proves POL-025.
    #[test]
    fn bucket_gives_its_count_at_once_and_then_as_time_passes() {
        let rate: Rate = "3/min".parse().unwrap();
        let mut rates = Rates::default();
        let taken = (0..5).filter(|_| rates.take(pair(1), rate, 0).is_ok()).count();
        assert_eq!(taken, 3);
        assert_eq!(rates.take(pair(1), rate, 19_999), Err(1), "a third of the window is not over");
        assert_eq!(rates.take(pair(1), rate, 20_000), Ok(()));
        assert_eq!(rates.take(pair(1), rate, 20_001), Err(19_999));
        assert_eq!(rates.take(pair(2), rate, 20_001), Ok(()), "another pair has its own");
        let after_a_day = (0..10).filter(|_| rates.take(pair(1), rate, 86_400_000).is_ok()).count();
        assert_eq!(after_a_day, 3, "it never holds more than its count");
    }

    #[test]
    fn pairs_that_have_their_whole_bucket_again_are_forgotten_first() {
        let rate: Rate = "1/s".parse().unwrap();
        let mut rates = Rates::default();
        for number in 0..u64::try_from(PAIRS_MAX).unwrap() {
            assert!(rates.take(pair(number), rate, 0).is_ok());
        }
        assert!(rates.take(pair(u64::MAX), rate, 500).is_err(), "what cannot be counted does not pass");
        assert!(rates.take(pair(u64::MAX), rate, 1_000).is_ok());
        assert!(rates.buckets.len() < 10);
    }
}
