//! Quantities with their unit in the text: spans of time, sizes, shares of a processor.
//!
//! Each is a whole number inside and a short text outside. There are no fractions of the smallest unit, so that no
//! floating-point number ever reaches the record.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Longest span of time a manifest may name: ten years of 365 days, in milliseconds.
pub const DURATION_MS_MAX: u64 = 3_650 * 24 * 60 * 60 * 1_000;

/// Largest size a manifest may name, in bytes: 2^53 - 1, so that it is exact in every JSON reader.
pub const BYTE_SIZE_MAX: u64 = 9_007_199_254_740_991;

/// Largest share of processors a manifest may name, in thousandths: a thousand million processors.
pub const MILLI_CPU_MAX: u64 = 1_000_000_000_000;

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {expected}")]
pub struct QuantityError {
    found: String,
    expected: &'static str,
}

/// A span of time in milliseconds, written as a whole number and one of `ms`, `s`, `m`, `h`, `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DurationMs(u64);

/// A number of bytes, written alone or with one of `K`, `KiB`, `M`, `MiB`, `G`, `GiB`, `T`, `TiB`: powers of 1,024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

/// Thousandths of one processor, written as `500m` or as a number of processors such as `1.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MilliCpu(u64);

/// Units of time, longest first, with their milliseconds.
const DURATION_UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Units of size, largest first, with their bytes. The first spelling of each value is the one that is printed.
const SIZE_UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("T", 1 << 40),
    ("GiB", 1 << 30),
    ("G", 1 << 30),
    ("MiB", 1 << 20),
    ("M", 1 << 20),
    ("KiB", 1 << 10),
    ("K", 1 << 10),
];

impl DurationMs {
    pub(crate) const RULE: &'static str = "a span of time such as `200ms`, `10s`, `5m`, `1h` or `7d`";
    const PATTERN: &'static str = "^[0-9]+(ms|s|m|h|d)$";
    const JSON_TYPE: &'static [&'static str] = &["string"];

    /// The span of this many milliseconds, at most ten years.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(if millis > DURATION_MS_MAX { DURATION_MS_MAX } else { millis })
    }

    /// The span of this many seconds, at most ten years.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self::from_millis(seconds.saturating_mul(1_000))
    }

    /// Its length in milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    fn read(text: &str) -> Option<u64> {
        let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
        let (digits, unit) = text.split_at(unit_at);
        let (_, millis) = DURATION_UNITS.into_iter().find(|(name, _)| *name == unit)?;
        digits.parse::<u64>().ok()?.checked_mul(millis).filter(|total| *total <= DURATION_MS_MAX)
    }

    fn write(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |size: u64| value != 0 && value.is_multiple_of(size);
        match DURATION_UNITS.into_iter().find(|(_, size)| fits(*size)) {
            Some((unit, size)) => write!(f, "{}{unit}", value / size),
            None => f.write_str("0s"),
        }
    }
}

impl ByteSize {
    pub(crate) const RULE: &'static str =
        "a size such as `65536`, `512KiB`, `64MiB` or `1G`, in powers of 1,024";
    const PATTERN: &'static str = "^[0-9]+([KMGT](iB)?)?$";
    const JSON_TYPE: &'static [&'static str] = &["string", "integer"];

    /// The size of this many bytes, at most 2^53 - 1.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(if bytes > BYTE_SIZE_MAX { BYTE_SIZE_MAX } else { bytes })
    }

    /// The size of this many mebibytes, at most 2^53 - 1 bytes.
    #[must_use]
    pub const fn from_mebibytes(mebibytes: u64) -> Self {
        Self::from_bytes(mebibytes.saturating_mul(1 << 20))
    }

    /// Its number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    fn read(text: &str) -> Option<u64> {
        let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(unit_at);
        let size = if unit.is_empty() {
            1
        } else {
            SIZE_UNITS.into_iter().find(|(name, _)| *name == unit).map(|(_, size)| size)?
        };
        digits.parse::<u64>().ok()?.checked_mul(size).filter(|total| *total <= BYTE_SIZE_MAX)
    }

    fn write(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |size: u64| value != 0 && value.is_multiple_of(size);
        match SIZE_UNITS.into_iter().find(|(_, size)| fits(*size)) {
            Some((unit, size)) => write!(f, "{}{unit}", value / size),
            None => write!(f, "{value}"),
        }
    }
}

impl MilliCpu {
    pub(crate) const RULE: &'static str =
        "a share of processors such as `500m`, `2` or `1.5`, to a thousandth";
    const PATTERN: &'static str = r"^([0-9]+m|[0-9]+(\.[0-9]{1,3})?)$";
    const JSON_TYPE: &'static [&'static str] = &["string", "number"];

    /// This many thousandths of one processor.
    #[must_use]
    pub const fn from_millis(thousandths: u64) -> Self {
        Self(if thousandths > MILLI_CPU_MAX { MILLI_CPU_MAX } else { thousandths })
    }

    /// Its number of thousandths.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    fn read(text: &str) -> Option<u64> {
        let digits_only = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let total = if let Some(thousandths) = text.strip_suffix('m') {
            digits_only(thousandths).then(|| thousandths.parse::<u64>().ok())??
        } else {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
            if !digits_only(whole) || !digits_only(fraction) || fraction.len() > 3 {
                return None;
            }
            let fraction = format!("{fraction:0<3}").parse::<u64>().ok()?;
            whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(fraction)?
        };
        (total <= MILLI_CPU_MAX).then_some(total)
    }

    fn write(value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{value}m")
    }
}

macro_rules! quantities {
    ($($name:ident),+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Self::write(self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = QuantityError;

            fn from_str(text: &str) -> Result<Self, QuantityError> {
                Self::read(text).map(Self).ok_or_else(|| QuantityError {
                    found: text.chars().take(64).collect(),
                    expected: Self::RULE,
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                ScalarText::deserialize(deserializer)?.0.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": Self::JSON_TYPE, "pattern": Self::PATTERN, "description": Self::RULE })
            }
        }
    )+};
}

quantities!(DurationMs, ByteSize, MilliCpu);

/// A scalar as text, whether it was written as text or as a number.
pub(crate) struct ScalarText(pub(crate) String);

impl<'de> Deserialize<'de> for ScalarText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = ScalarText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or a number")
            }

            fn visit_str<E>(self, text: &str) -> Result<ScalarText, E> {
                Ok(ScalarText(text.to_owned()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<ScalarText, E> {
                Ok(ScalarText(number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<ScalarText, E> {
                Ok(ScalarText(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<ScalarText, E> {
                Ok(ScalarText(number.to_string()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr + fmt::Display>(text: &str, expected: Option<&str>) {
        let printed = text.parse::<T>().ok().map(|value| value.to_string());
        assert_eq!(printed.as_deref(), expected, "{text}");
    }

    #[test]
    fn durations_print_in_their_largest_whole_unit() {
        for (text, expected) in [
            ("200ms", Some("200ms")),
            ("1000ms", Some("1s")),
            ("90s", Some("90s")),
            ("120s", Some("2m")),
            ("24h", Some("1d")),
            ("0ms", Some("0s")),
            ("3650d", Some("3650d")),
            ("3651d", None),
            ("10", None),
            ("s", None),
            ("1.5s", None),
            ("-1s", None),
            ("1 s", None),
            ("99999999999999999999s", None),
        ] {
            check::<DurationMs>(text, expected);
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, expected) in [
            ("64MiB", Some("64MiB")),
            ("1G", Some("1GiB")),
            ("1024K", Some("1MiB")),
            ("1000", Some("1000")),
            ("0", Some("0")),
            ("1GB", None),
            ("", None),
            ("1.5G", None),
            ("9007199254740992", None),
        ] {
            check::<ByteSize>(text, expected);
        }
    }

    #[test]
    fn shares_of_a_processor_are_exact() {
        for (text, expected) in [
            ("500m", Some("500m")),
            ("1.5", Some("1500m")),
            ("2", Some("2000m")),
            ("0.001", Some("1m")),
            ("0.0001", None),
            ("1e3", None),
            (".5", None),
            ("m", None),
            ("+1", None),
        ] {
            check::<MilliCpu>(text, expected);
        }
    }
}
