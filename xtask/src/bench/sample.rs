//! Measured values and what is said of them.

use serde::Serialize;

/// Values of one measurement, in the unit of their row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    sorted: Vec<f64>,
}

/// What is printed and kept of some [`Samples`].
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    pub(crate) n: usize,
    pub(crate) p50: f64,
    /// The 99th percentile of times; of rates the first, since there the low end is the bad one.
    pub(crate) p99: f64,
}

/// Which end of a measurement is the bad one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Less,
    More,
}

impl Samples {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self { sorted: values }
    }

    /// Nanoseconds as milliseconds.
    pub(crate) fn millis(nanos: &[u64]) -> Self {
        Self::new(nanos.iter().map(|ns| *ns as f64 / 1e6).collect())
    }

    /// Nanoseconds as microseconds.
    pub(crate) fn micros(nanos: &[u64]) -> Self {
        Self::new(nanos.iter().map(|ns| *ns as f64 / 1e3).collect())
    }

    /// The same in another unit.
    pub(crate) fn scaled(&self, by: f64) -> Self {
        Self { sorted: self.sorted.iter().map(|value| value * by).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The value below which `percent` of all lie.
    pub(crate) fn at(&self, percent: usize) -> f64 {
        let index = (self.sorted.len() * percent / 100).min(self.sorted.len().saturating_sub(1));
        self.sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn p50(&self) -> f64 {
        self.at(50)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.at(99)
    }

    pub(crate) fn max(&self) -> f64 {
        self.at(100)
    }

    pub(crate) fn summary(&self, better: Better) -> Summary {
        let p99 = match better {
            Better::Less => self.at(99),
            Better::More => self.at(1),
        };
        Summary { n: self.len(), p50: self.p50(), p99 }
    }
}

/// A value with as many digits as carry meaning.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v.is_nan() => "–".to_owned(),
        v if v.abs() < 10.0 => format!("{v:.2}"),
        v if v.abs() < 100.0 => format!("{v:.1}"),
        v => grouped(&format!("{v:.0}")),
    }
}

/// `12345` as `12,345`.
fn grouped(number: &str) -> String {
    let mut out = String::new();
    for (index, digit) in number.chars().enumerate() {
        if index > 0 && (number.len() - index).is_multiple_of(3) && digit.is_ascii_digit() {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let samples = Samples::new((1..=100).rev().map(f64::from).collect());
        assert_eq!((samples.p50(), samples.p99(), samples.max()), (51.0, 100.0, 100.0));
        assert!((samples.summary(Better::More).p99 - 2.0).abs() < f64::EPSILON);
        assert!(Samples::default().p50().is_nan());
    }

    #[test]
    fn digits_follow_the_size() {
        for (value, expected) in
            [(0.123, "0.12"), (12.34, "12.3"), (123.4, "123"), (25_000.0, "25,000"), (f64::NAN, "–")]
        {
            assert_eq!(digits(value), expected);
        }
    }
}
