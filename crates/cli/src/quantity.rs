//! Durations, sizes and numbers as people write and read them.
//!
//! Owns the units of the command line: `500ms`, `10s`, `1h30m`, `64KiB`. A number without a unit is refused where it
//! could mean several things.

use std::{collections::BTreeMap, time::Duration};

const DURATION_UNITS: &[(&str, u64)] =
    &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

const SIZE_UNITS: &[(&str, u64)] = &[
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1_000),
    ("kib", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1_000_000),
    ("mib", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1_000_000_000),
    ("gib", 1 << 30),
];

/// Reads a duration such as `500ms`, `10s`, `1.5s` or `1h30m`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration: write for example 500ms, 10s, 5m, 1h30m or 2d");
    let mut millis: u64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let (number, unit, after) = split_quantity(rest).ok_or_else(wrong)?;
        let (_, scale) = DURATION_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let part = scaled(number, *scale).ok_or_else(wrong)?;
        millis = millis.checked_add(part).ok_or_else(wrong)?;
        rest = after;
    }
    Ok(Duration::from_millis(millis))
}

/// Reads a size in bytes such as `4096b`, `64KiB` or `1M`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: write for example 4096b, 64KiB or 1MiB");
    let (number, unit, after) = split_quantity(text.trim()).ok_or_else(wrong)?;
    let unit = unit.to_ascii_lowercase();
    let (_, scale) = SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    if after.is_empty() { scaled(number, *scale).ok_or_else(wrong) } else { Err(wrong()) }
}

/// Reads an amount such as `0.50` as millionths.
pub(crate) fn parse_micros(text: &str) -> Result<u64, String> {
    scaled(text.trim(), 1_000_000).ok_or_else(|| format!("`{text}` is not an amount: write for example 0.50"))
}

/// Millionths as a decimal number.
pub(crate) fn decimal(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Cuts a leading number and its unit off.
fn split_quantity(text: &str) -> Option<(&str, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at_checked(digits)?;
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at_checked(letters)?;
    (!number.is_empty() && !unit.is_empty()).then_some((number, unit, after))
}

/// `number × scale`, where the number may have decimals.
fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let mut total = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    if number.ends_with('.') || decimals.contains('.') || decimals.len() > 9 {
        return None;
    }
    if !decimals.is_empty() {
        let unit = 10_u64.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        total = total.checked_add(decimals.parse::<u64>().ok()?.checked_mul(scale)?.checked_div(unit)?)?;
    }
    Some(total)
}

/// A duration in its two largest units: `3h 12m`, `41s`, `250ms`.
pub(crate) fn human_millis(millis: u64) -> String {
    let seconds = millis / 1_000;
    match seconds {
        0 => format!("{millis}ms"),
        1..60 => format!("{seconds}s"),
        60..3_600 => pair(seconds, 60, "m", 1, "s"),
        3_600..86_400 => pair(seconds, 3_600, "h", 60, "m"),
        _ => pair(seconds, 86_400, "d", 3_600, "h"),
    }
}

fn pair(seconds: u64, large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    let (whole, rest) = (seconds / large, seconds % large / small);
    if rest == 0 { format!("{whole}{large_unit}") } else { format!("{whole}{large_unit} {rest}{small_unit}") }
}

/// A duration that is only known to the second.
pub(crate) fn human_seconds(seconds: u64) -> String {
    if seconds == 0 { "0s".to_owned() } else { human_millis(seconds.saturating_mul(1_000)) }
}

/// A count of things: `1 event`, `2 events`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// That output is missing: `1 byte of output is missing`.
pub(crate) fn missing_output(bytes: u64) -> String {
    format!("{} of output {} missing", counted(bytes, "byte"), if bytes == 1 { "is" } else { "are" })
}

/// A size with one decimal: `812 B`, `1.4 MiB`.
pub(crate) fn human_bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut tenths = bytes.saturating_mul(10) / 1_024;
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    for unit in units {
        if tenths < 10_240 || unit == "PiB" {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        tenths /= 1_024;
    }
    format!("{bytes} B")
}

/// Numbers with what they are of: `3 accepted, 12 injected`; empty if there is none.
pub(crate) fn by_name(counts: &BTreeMap<String, u64>) -> String {
    let all: Vec<_> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit_and_may_have_several() {
        let check = |text: &str, millis: Option<u64>| {
            assert_eq!(parse_duration(text).ok(), millis.map(Duration::from_millis), "{text}");
        };
        check("500ms", Some(500));
        check("10s", Some(10_000));
        check("1.5s", Some(1_500));
        check("1h30m", Some(5_400_000));
        check("2d", Some(172_800_000));
        check("0s", Some(0));
        for wrong in [
            "",
            "10",
            "s",
            "10x",
            "1.s",
            "1..5s",
            "-1s",
            "1s2",
            "99999999999999999999s",
            "9999999999999999999d",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn sizes_need_a_unit() {
        let check = |text: &str, bytes: Option<u64>| assert_eq!(parse_size(text).ok(), bytes, "{text}");
        check("4096b", Some(4_096));
        check("64KiB", Some(65_536));
        check("64k", Some(65_536));
        check("1.5MB", Some(1_500_000));
        check("10", None);
        check("1KiB2", None);
    }

    #[test]
    fn people_read_the_two_largest_units() {
        let times = [
            (0, "0ms"),
            (999, "999ms"),
            (41_900, "41s"),
            (60_000, "1m"),
            (61_000, "1m 1s"),
            (11_520_000, "3h 12m"),
            (90_000_000, "1d 1h"),
        ];
        for (millis, expected) in times {
            assert_eq!(human_millis(millis), expected);
        }
        let sizes = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (1_536, "1.5 KiB"),
            (1_048_576, "1.0 MiB"),
            (5_368_709_120, "5.0 GiB"),
        ];
        for (bytes, expected) in sizes {
            assert_eq!(human_bytes(bytes), expected);
        }
        for (count, expected) in [(0, "0 events"), (1, "1 event"), (2, "2 events")] {
            assert_eq!(counted(count, "event"), expected);
        }
        assert_eq!(missing_output(1), "1 byte of output is missing");
        assert_eq!(missing_output(17), "17 bytes of output are missing");
    }
}
