//! Words of time: cron expressions, time zones, moments.
//!
//! Says whether each can be read and what is wrong with it. When an expression is due is not decided here. The zones
//! are those of a database inside the program, so that a manifest is right on one machine if it is on another.

use std::{borrow::Cow, fmt, str::FromStr};

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use edgeplane_types::Timestamp;
use jiff::{
    civil::{self, DateTime},
    tz::TimeZoneDatabase,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    problem::{excerpt, nearest},
    quantity::ScalarText,
    words::WordError,
};

words! {
    /// A cron expression.
    CronText, is_cron,
        "a cron expression such as `0 9 * * mon-fri`: minute, hour, day, month, weekday, with the second before them or without",
        "^ *[0-9A-Za-z*,/?#+-]+( +[0-9A-Za-z*,/?#+-]+){4,5} *$";
    /// A time zone.
    ZoneName, is_zone, "a time zone of the IANA database such as `Europe/Berlin`", "^[A-Za-z0-9_+/-]{1,64}$";
    /// A moment, by a local clock or by its offset.
    DueTime, is_due_time,
        "a local time such as `2026-12-01T09:00:00`, or a moment with its offset such as `2026-12-01T09:00:00+01:00`",
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?$";
    /// A moment with its offset.
    Moment, is_moment, "a moment with its offset such as `2026-12-01T09:00:00+01:00`",
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})$";
}

/// The zone of a schedule that names none.
const UTC: &str = "UTC";

impl ZoneName {
    /// The zone unless a manifest says otherwise: UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self(UTC.to_owned())
    }
}

impl Moment {
    /// The moment itself.
    ///
    /// # Panics
    ///
    /// Never: the text was read before.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        #[expect(clippy::expect_used, reason = "the rule of the word is that this can be read")]
        self.0.parse().expect("a moment is an RFC 3339 time")
    }
}

/// A field of a cron expression.
struct Field {
    name: &'static str,
    /// What may stand in it, for a message.
    values: &'static str,
    /// The words that may stand in it, in capitals.
    words: &'static [&'static str],
    /// The greatest step that makes a difference.
    step_max: u16,
}

const FIELDS: [Field; 6] = [
    Field { name: "second", values: "0 to 59", words: &[], step_max: 59 },
    Field { name: "minute", values: "0 to 59", words: &[], step_max: 59 },
    Field { name: "hour", values: "0 to 23", words: &[], step_max: 23 },
    Field { name: "day", values: "1 to 31, or L for the last", words: &["L", "W", "LW"], step_max: 31 },
    Field {
        name: "month",
        values: "1 to 12 or jan to dec",
        words: &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
        step_max: 12,
    },
    Field {
        name: "weekday",
        values: "0 to 7 or sun to sat",
        words: &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "L"],
        step_max: 7,
    },
];

/// The last 400 years that a search covers. The calendar repeats after as many, so an expression that is not due in
/// them never is.
const SEARCHED_FROM: DateTime = civil::date(4_600, 1, 1).at(0, 0, 0, 0);

/// Says what is wrong with a cron expression.
pub(crate) fn cron_problem(text: &str) -> Option<String> {
    if text.contains('@') {
        return Some("write its fields: `@daily` is `0 0 * * *`".to_owned());
    }
    let parts: Vec<&str> = text.split(' ').filter(|part| !part.is_empty()).collect();
    let fields = match parts.len() {
        5 => FIELDS.get(1..).unwrap_or_default(),
        6 => &FIELDS,
        count => return Some(format!("it has {count} fields instead of 5 or 6")),
    };
    for (index, (part, field)) in parts.iter().zip(fields).enumerate() {
        if let Some(problem) = field.problem(part, index, parts.len()) {
            return Some(problem);
        }
    }
    let Some(cron) = read(text) else { return Some("its fields do not go together".to_owned()) };
    let never = cron.find_next_occurrence(&SEARCHED_FROM, true).is_err();
    never.then(|| "it never comes due: no month that it names has such a day".to_owned())
}

impl Field {
    fn problem(&self, part: &str, index: usize, count: usize) -> Option<String> {
        let wrong = || Some(format!("its {} `{}` is wrong: {}", self.name, excerpt(part), self.values));
        let upper = part.to_ascii_uppercase();
        let mut words = upper.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        if !words.all(|word| self.words.contains(&word)) || part.split(',').any(str::is_empty) {
            return wrong();
        }
        let step = part
            .split(',')
            .filter_map(|item| item.split_once('/'))
            .find_map(|(_, step)| step.parse::<u16>().ok().filter(|step| *step > self.step_max));
        if let Some(step) = step {
            let said = format!("its {} has a step of {step}: at most {}", self.name, self.step_max);
            return Some(format!("{said}; longer spans are written with `every`"));
        }
        // Alone among stars a field can only be wrong by itself.
        let mut alone = vec!["*"; count];
        *alone.get_mut(index)? = part;
        if read(&alone.join(" ")).is_none() { wrong() } else { None }
    }
}

fn read(text: &str) -> Option<Cron> {
    CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build().parse(text).ok()
}

fn is_cron(text: &str) -> bool {
    cron_problem(text).is_none()
}

fn is_zone(text: &str) -> bool {
    // The database also takes other spellings, but a node and a person should see one.
    text == UTC || TimeZoneDatabase::bundled().get(text).is_ok_and(|zone| zone.iana_name() == Some(text))
}

/// Says which zone somebody most likely meant.
pub(crate) fn zone_hint(text: &str) -> Option<String> {
    let database = TimeZoneDatabase::bundled();
    let names: Vec<_> = database.available().collect();
    // Who names the city alone means the zone that ends in it.
    let city = text.replace(' ', "_");
    let of_city = names
        .iter()
        .map(|name| name.as_str())
        .find(|name| name.rsplit_once('/').is_some_and(|(_, last)| last.eq_ignore_ascii_case(&city)));
    let name = of_city.or_else(|| nearest(text, names.iter().map(|name| name.as_str())))?;
    Some(format!("did you mean `{name}`?"))
}

fn is_moment(text: &str) -> bool {
    has_form(text) && text.parse::<Timestamp>().is_ok()
}

fn is_due_time(text: &str) -> bool {
    has_form(text) && (text.parse::<Timestamp>().is_ok() || text.parse::<DateTime>().is_ok())
}

/// Whether it is a date, a `T` and a time, whatever they are: the readers behind it take other forms too.
fn has_form(text: &str) -> bool {
    text.as_bytes().get(10) == Some(&b'T')
        && text.as_bytes().get(13) == Some(&b':')
        && text.bytes().all(|b| b.is_ascii_digit() || b"-+:.TZ".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves SCH-018.
    #[test]
    fn a_wrong_expression_names_its_field() {
        for (text, part) in [
            ("", "0 fields"),
            ("0 9 * *", "4 fields"),
            ("0 0 0 1 1 * 2026", "7 fields"),
            ("@daily", "write its fields"),
            ("60 9 * * *", "its minute `60` is wrong: 0 to 59"),
            ("0 24 * * *", "its hour `24` is wrong: 0 to 23"),
            ("0 9 0 * *", "its day `0` is wrong: 1 to 31"),
            ("0 9 * 13 *", "its month `13` is wrong: 1 to 12 or jan to dec"),
            ("0 9 * mon *", "its month `mon` is wrong"),
            ("0 9 * * 8", "its weekday `8` is wrong: 0 to 7 or sun to sat"),
            ("0 9 * * monday", "its weekday `monday` is wrong"),
            ("0 9 * * fri-mon", "its weekday `fri-mon` is wrong"),
            ("60 0 9 * * *", "its second `60` is wrong"),
            ("0 60 9 * * *", "its minute `60` is wrong"),
            ("0,,5 9 * * *", "its minute `0,,5` is wrong"),
            ("0/5 9 * * *", "its minute `0/5` is wrong"),
            (
                "*/90 * * * *",
                "its minute has a step of 90: at most 59; longer spans are written with `every`",
            ),
            ("*/0 * * * *", "its minute `*/0` is wrong"),
            ("0 9\t* * *", "4 fields"),
            ("0 9 * * ä", "its weekday `ä` is wrong"),
            ("0 0 30 2 *", "it never comes due"),
            ("0 0 31 4,6,9,11 *", "it never comes due"),
        ] {
            let problem = cron_problem(text).unwrap_or_default();
            assert!(problem.contains(part), "{text:?}: {problem:?} should contain {part:?}");
        }
        for text in [
            "* * * * *",
            "0 9 * * mon-fri",
            "0 9 * JAN,jul Sun",
            "*/20 0 9 L * *",
            "0 9 15W * *",
            "0 9 * * 5L",
            "0 9 * * mon#2",
            "0 0 29 2 *",
            " 0  9 * * 7 ",
            "5,35 8-18/2 ? * 1-5",
        ] {
            assert_eq!(cron_problem(text), None, "{text:?}");
        }
    }

    /// Proves SCH-019.
    #[test]
    fn zones_have_one_spelling() {
        for zone in ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "America/Argentina/Ushuaia"] {
            assert!(is_zone(zone), "{zone}");
        }
        for (zone, meant) in [
            ("europe/berlin", "`Europe/Berlin`"),
            ("Berlin", "`Europe/Berlin`"),
            ("new york", "`America/New_York`"),
            ("Europe/Berln", "`Europe/Berlin`"),
        ] {
            assert!(!is_zone(zone), "{zone}");
            assert!(
                zone_hint(zone).is_some_and(|hint| hint.contains(meant)),
                "{zone}: {:?}",
                zone_hint(zone)
            );
        }
        assert!(["", "CET+1", "+01:00", "Mars/Olympus"].iter().all(|zone| !is_zone(zone)));
    }

    #[test]
    fn times_have_few_forms() {
        for text in
            ["2026-12-01T09:00:00", "2026-12-01T09:00", "2026-12-01T09:00:00Z", "2026-12-01T09:00:00+01:00"]
        {
            assert!(is_due_time(text), "{text}");
            assert_eq!(is_moment(text), text.ends_with("Z") || text.contains('+'), "{text}");
        }
        for text in [
            "",
            "2026-12-01",
            "2026-12-01 09:00:00",
            "09:00",
            "2026-13-01T09:00:00",
            "2026-12-01T25:00:00",
            "tomorrow",
            "2026-12-01T09:00:00[Europe/Berlin]",
            "20261201T090000",
        ] {
            assert!(!is_due_time(text) && !is_moment(text), "{text}");
        }
        assert_eq!(
            "2026-12-01T09:00:00+01:00".parse().map(|at: Moment| at.timestamp()),
            Ok("2026-12-01T08:00:00Z".parse().unwrap())
        );
    }
}
