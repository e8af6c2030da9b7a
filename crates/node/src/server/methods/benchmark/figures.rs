//! The figures of comparisons: shares with their intervals, percentiles, means. Pure.

use edgeplane_wire::api::benchmark::Share;

/// How many standard deviations 95 % of a normal distribution lie within.
const Z: f64 = 1.959_963_984_540_054;

/// A share of so many, with the interval after Wilson; none of nothing.
#[expect(clippy::cast_precision_loss, reason = "there are at most a thousand")]
pub(super) fn share(successes: u64, all: u64) -> Option<Share> {
    if all == 0 {
        return None;
    }
    let (n, rate) = (all as f64, successes as f64 / all as f64);
    let square = Z * Z;
    let center = (rate + square / (2.0 * n)) / (1.0 + square / n);
    let spread = Z / (1.0 + square / n) * (rate * (1.0 - rate) / n + square / (4.0 * n * n)).sqrt();
    // At the ends rounding alone could leave the interval outside of what a share can be.
    let low = if successes == 0 { 0.0 } else { (center - spread).max(0.0) };
    let high = if successes == all { 1.0 } else { (center + spread).min(1.0) };
    Some(Share { rate, low, high })
}

/// The smallest of the values that so many hundredths of them do not exceed.
pub(super) fn percentile(values: &[u64], hundredths: usize) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = sorted.len().saturating_mul(hundredths).div_ceil(100).max(1);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The mean; none of nothing.
#[expect(clippy::cast_precision_loss, reason = "there are at most a thousand")]
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What part of the whole it is; none of nothing is nothing.
#[expect(clippy::cast_precision_loss, reason = "there are at most a thousand")]
pub(super) fn part(some: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { some as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(successes: u64, all: u64, expected: (f64, f64, f64)) {
        let found = share(successes, all).unwrap();
        for (found, expected) in [(found.rate, expected.0), (found.low, expected.1), (found.high, expected.2)]
        {
            assert!((found - expected).abs() < 1e-4, "{successes} of {all}: {found} is not {expected}");
        }
    }

    /// Proves BEN-020: the values are those of the published formula, computed by hand and by another program.
    #[test]
    fn intervals_are_those_of_wilson() {
        check(5, 10, (0.5, 0.236_593, 0.763_407));
        check(8, 10, (0.8, 0.490_162, 0.943_318));
        check(0, 10, (0.0, 0.0, 0.277_533));
        check(10, 10, (1.0, 0.722_467, 1.0));
        check(1, 1, (1.0, 0.206_549, 1.0));
        check(50, 100, (0.5, 0.403_832, 0.596_168));
        assert_eq!(share(0, 0), None);
    }

    #[test]
    fn percentiles_are_values_that_were_there() {
        let values = [50, 10, 40, 20, 30];
        assert_eq!(percentile(&values, 50), Some(30));
        assert_eq!(percentile(&values, 95), Some(50));
        assert_eq!(percentile(&[7], 50), Some(7));
        assert_eq!(percentile(&[1, 2], 50), Some(1));
        assert_eq!(percentile(&(1..=100).collect::<Vec<_>>(), 95), Some(95));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn what_there_is_none_of_has_no_mean() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 0.0, 0.5]), Some(0.5));
        assert!(part(0, 0).abs() < f64::EPSILON);
    }
}
