//! How often and how much: what a rule grants at most, and which of two grants is the lesser.
//!
//! Counts nothing. Whoever counts treats a rate as a bucket that holds `count` and is full again after the window.

use std::{fmt, str::FromStr};

use edgeplane_types::{PolicyLayer, SafeLabel};
use serde::Serialize;

/// Largest count of a rate. More in one window is no limit any more.
const COUNT_MAX: u64 = 1_000_000;

/// Longest window of a rate that a rule may name, in milliseconds: one day.
const WINDOW_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// Largest size that a rule may name: more than any message can have.
const BYTES_MAX: u64 = 1 << 40;

/// The units of a window and their milliseconds.
const WINDOW_UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("min", 60_000), ("h", 3_600_000)];

/// The units of a size and their bytes.
const BYTE_UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
];

/// How often something may happen: so many times at once, and so many times in each window in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Rate {
    /// How many times.
    count: u64,
    /// In which span, in milliseconds.
    window_ms: u64,
}

/// Why a text is no rate or no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// It is no rate.
    #[error("not a count from 1 to 1000000, `/`, and a span such as `s`, `10s`, `min` or `h` of at most 24h")]
    Rate,
    /// It is no size.
    #[error("not a number of bytes from 1, alone or with KiB, MiB or GiB")]
    Bytes,
}

impl Rate {
    /// How many times.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// In which span, in milliseconds.
    #[must_use]
    pub fn window_ms(self) -> u64 {
        self.window_ms
    }

    /// What both rates allow: the smaller count at once, and in the long run the slower of the two.
    #[must_use]
    pub fn at_most(self, limit: Self) -> Self {
        let slower = if self.is_slower_than(limit) { self } else { limit };
        let count = self.count.min(limit.count);
        // Rounded up, so that the result is never faster than the slower one.
        let window = (u128::from(count) * u128::from(slower.window_ms)).div_ceil(u128::from(slower.count));
        Self { count, window_ms: u64::try_from(window).unwrap_or(u64::MAX) }
    }

    /// Whether less of it is allowed in the long run.
    #[must_use]
    pub fn is_slower_than(self, other: Self) -> bool {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        product(self.count, other.window_ms) < product(other.count, self.window_ms)
    }

    /// Whether it allows nothing that `other` does not allow.
    #[must_use]
    pub fn is_within(self, other: Self) -> bool {
        self.count <= other.count && !other.is_slower_than(self)
    }

    /// Whether it is the more generous of two: the faster one, and of equally fast ones that which allows more at once.
    pub(crate) fn is_more_generous_than(self, other: Self) -> bool {
        other.is_slower_than(self) || (!self.is_slower_than(other) && self.count > other.count)
    }
}

impl FromStr for Rate {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let (count, span) = text.split_once('/').ok_or(LimitError::Rate)?;
        let count = digits(count).ok_or(LimitError::Rate)?;
        // `60/min` says the same as `60/1min`.
        let (number, unit) = split_unit(span);
        let number = if number.is_empty() { Some(1) } else { digits(number) };
        let window_ms =
            number.and_then(|number| in_unit(number, unit, WINDOW_UNITS)).ok_or(LimitError::Rate)?;
        let in_bounds = (1..=COUNT_MAX).contains(&count) && (1..=WINDOW_MS_MAX).contains(&window_ms);
        if in_bounds { Ok(Self { count, window_ms }) } else { Err(LimitError::Rate) }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, unit): &&(&str, u64)| self.window_ms.is_multiple_of(*unit);
        let (name, unit) = WINDOW_UNITS.iter().rev().find(fits).unwrap_or(&("ms", 1));
        match self.window_ms / unit {
            1 => write!(f, "{}/{name}", self.count),
            number => write!(f, "{}/{number}{name}", self.count),
        }
    }
}

/// Reads a size, such as `64KiB`.
///
/// # Errors
///
/// Where the text is none.
pub fn bytes(text: &str) -> Result<u64, LimitError> {
    let (number, unit) = split_unit(text);
    digits(number)
        .and_then(|number| in_unit(number, unit, BYTE_UNITS))
        .filter(|bytes| (1..=BYTES_MAX).contains(bytes))
        .ok_or(LimitError::Bytes)
}

fn split_unit(text: &str) -> (&str, &str) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(digits).unwrap_or((text, ""))
}

/// A number in plain digits; `parse` alone would also take a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn in_unit(number: u64, unit: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (_, size) = units.iter().find(|(name, _)| *name == unit)?;
    number.checked_mul(*size)
}

/// A limit and the rule that set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limit<T> {
    /// How much.
    pub value: T,
    /// Who laid down the rule.
    pub layer: PolicyLayer,
    /// The rule.
    pub rule: SafeLabel,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        for (text, count, window_ms, shown) in [
            ("60/min", 60, 60_000, "60/min"),
            ("1/s", 1, 1_000, "1/s"),
            ("1000000/24h", 1_000_000, WINDOW_MS_MAX, "1000000/24h"),
            ("5/10s", 5, 10_000, "5/10s"),
            ("2/72000ms", 2, 72_000, "2/72s"),
            ("7/1500ms", 7, 1_500, "7/1500ms"),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(
                (rate.count(), rate.window_ms(), rate.to_string().as_str()),
                (count, window_ms, shown)
            );
            assert_eq!(shown.parse(), Ok(rate), "{text}");
        }
        for wrong in [
            "",
            "/",
            "60",
            "60/",
            "/min",
            "0/min",
            "-1/min",
            "+1/min",
            "60/day",
            "60/0s",
            "60/25h",
            "1.5/s",
            "60 /min",
            "60/ min",
            "1000001/s",
            "99999999999999999999/s",
            "1/99999999999999999999h",
            "60/min/s",
        ] {
            assert_eq!(wrong.parse::<Rate>(), Err(LimitError::Rate), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read() {
        for (text, expected) in
            [("1", 1), ("64KiB", 65_536), ("64K", 65_536), ("4MiB", 4_194_304), ("1G", 1 << 30)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in
            ["", "0", "-1", "+1", "KiB", "64 KiB", "64kb", "1.5MiB", "9999999999999G", "2048GiB", "é"]
        {
            assert_eq!(bytes(wrong), Err(LimitError::Bytes), "{wrong}");
        }
    }

    #[test]
    fn the_lesser_rate_bounds_both_the_burst_and_the_long_run() {
        let rate = |text: &str| text.parse::<Rate>().unwrap();
        for (left, right, met) in [
            ("2/min", "100/h", "2/72s"),
            ("60/min", "60/min", "60/min"),
            ("60/min", "1/s", "1/s"),
            ("600/min", "60/min", "60/min"),
        ] {
            assert_eq!(rate(left).at_most(rate(right)), rate(met), "{left} {right}");
            assert_eq!(rate(right).at_most(rate(left)), rate(met), "{right} {left}");
        }
    }

    fn any_rate() -> impl Strategy<Value = Rate> {
        (1..=COUNT_MAX, 1..=WINDOW_MS_MAX).prop_map(|(count, window_ms)| Rate { count, window_ms })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Proves POL-005.
        #[test]
        fn what_two_rates_allow_is_within_both(left in any_rate(), right in any_rate()) {
            let met = left.at_most(right);
            prop_assert!(met.is_within(left) && met.is_within(right), "{left} met {right} gave {met}");
            prop_assert_eq!(met, right.at_most(left));
            prop_assert_eq!(met.at_most(left), met);
        }

        #[test]
        fn any_text_is_a_limit_or_refused(text in "[0-9]{0,22}/?[0-9]{0,22}[a-zA-Z]{0,3}") {
            if let Ok(rate) = text.parse::<Rate>() {
                prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
            }
            if let Ok(bytes) = bytes(&text) {
                prop_assert!((1..=BYTES_MAX).contains(&bytes));
            }
        }
    }
}
