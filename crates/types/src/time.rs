//! A moment, to the microsecond, in UTC.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment as microseconds since 1970 in UTC; its text form is RFC 3339 with six decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Why a text is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time such as 2026-11-21T09:30:00Z")]
pub struct TimestampError(String);

/// 0001-01-01 and 9999-12-30: what RFC 3339 can write with a margin for any offset.
const MICROS_RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_207_200_000_000;

impl Timestamp {
    /// The moment this many microseconds after 1970, clamped to the years 1 to 9999.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(*MICROS_RANGE.start(), *MICROS_RANGE.end()))
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// Milliseconds since 1970, zero for earlier moments.
    #[must_use]
    pub fn as_millis(self) -> u64 {
        u64::try_from(self.0 / 1_000).unwrap_or(0)
    }

    /// This moment `millis` later.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self::from_micros(
            self.0.saturating_add(i64::try_from(millis).unwrap_or(i64::MAX).saturating_mul(1_000)),
        )
    }

    /// Milliseconds from `earlier` to this moment, zero if it lies after.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0) / 1_000).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time:.6}"),
            // Unreachable by the clamp in the constructor; a number is still better than a panic.
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let time: jiff::Timestamp =
            text.parse().map_err(|_bad| TimestampError(text.chars().take(64).collect()))?;
        Ok(Self::from_micros(time.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_rfc_3339_and_round_trips() {
        let time = Timestamp::from_micros(1_795_253_400_123_456);
        assert_eq!(time.to_string(), "2026-11-21T09:30:00.123456Z");
        assert_eq!(time.to_string().parse(), Ok(time));
        assert_eq!(Timestamp::from_micros(0).to_string(), "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn extreme_values_print() {
        for micros in [i64::MIN, i64::MAX] {
            assert!(Timestamp::from_micros(micros).to_string().ends_with('Z'));
        }
    }
}
