//! The rules of single words and quantities, found by the pattern that the schema shows for them.

use std::{str::FromStr, sync::OnceLock};

use edgeplane_types::{AgentName, SafeLabel};
use schemars::{JsonSchema, SchemaGenerator};

use crate::{
    clock::{CronText, DueTime, Moment, ZoneName, cron_problem, zone_hint},
    quantity::{ByteSize, DurationMs, MilliCpu},
    words::{
        Digest, EnvName, FilePath, Keys, LabelKey, MediaType, Signal, ToolPattern, UserName, has_scheme,
    },
};

/// How one kind of word is checked.
pub(crate) struct Rule {
    /// The pattern in the schema, which names the kind.
    pattern: String,
    /// What a word of this kind is, for a message.
    pub(crate) expected: String,
    /// Whether a text is such a word.
    pub(crate) holds: fn(&str) -> bool,
    /// How much it is, where it is a quantity.
    pub(crate) amount: Option<fn(&str) -> Option<u64>>,
    /// What somebody who wrote something else likely meant.
    pub(crate) hint: fn(&str) -> Option<String>,
}

/// Finds the rule for a pattern of the schema.
pub(crate) fn by_pattern(pattern: &str) -> Option<&'static Rule> {
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    RULES.get_or_init(all).iter().find(|rule| rule.pattern == pattern)
}

fn all() -> Vec<Rule> {
    vec![
        rule::<AgentName>(None, name_hint),
        rule::<SafeLabel>(None, no_hint),
        rule::<EnvName>(None, no_hint),
        rule::<LabelKey>(None, no_hint),
        rule::<FilePath>(None, path_hint),
        rule::<Digest>(None, no_hint),
        rule::<UserName>(None, no_hint),
        rule::<MediaType>(None, no_hint),
        rule::<Keys>(None, no_hint),
        rule::<ToolPattern>(None, no_hint),
        rule::<Signal>(None, signal_hint),
        rule::<CronText>(None, cron_problem),
        rule::<ZoneName>(None, zone_hint),
        rule::<DueTime>(None, no_hint),
        rule::<Moment>(None, moment_hint),
        rule::<DurationMs>(Some(|text| text.parse().ok().map(DurationMs::as_millis)), duration_hint),
        rule::<ByteSize>(Some(|text| text.parse().ok().map(ByteSize::bytes)), size_hint),
        rule::<MilliCpu>(Some(|text| text.parse().ok().map(MilliCpu::as_millis)), no_hint),
    ]
}

fn rule<T: FromStr + JsonSchema>(
    amount: Option<fn(&str) -> Option<u64>>,
    hint: fn(&str) -> Option<String>,
) -> Rule {
    let schema = T::json_schema(&mut SchemaGenerator::default());
    let text = |key: &str| schema.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    Rule {
        pattern: text("pattern"),
        expected: text("description"),
        holds: |word| word.parse::<T>().is_ok(),
        amount,
        hint,
    }
}

fn no_hint(_: &str) -> Option<String> {
    None
}

fn name_hint(text: &str) -> Option<String> {
    let name: String = text
        .to_ascii_lowercase()
        .chars()
        .map(|c| if matches!(c, '_' | '.' | ' ') { '-' } else { c })
        .collect();
    name.parse::<AgentName>().is_ok().then(|| format!("did you mean `{name}`?"))
}

fn path_hint(text: &str) -> Option<String> {
    if text.starts_with('~') {
        return Some("`~` is not expanded: write the folder's name".to_owned());
    }
    has_scheme(text).then(|| "nothing is fetched from the network: name a file of the machine".to_owned())
}

fn signal_hint(text: &str) -> Option<String> {
    let name = text.to_ascii_uppercase();
    (name != text && name.parse::<Signal>().is_ok()).then(|| format!("did you mean `{name}`?"))
}

fn moment_hint(text: &str) -> Option<String> {
    text.parse::<DueTime>().is_ok().then(|| format!("add its offset, such as `{text}Z`"))
}

fn duration_hint(text: &str) -> Option<String> {
    let seconds = format!("{text}s").parse::<DurationMs>().ok()?;
    Some(format!("add a unit, such as `{seconds}`"))
}

fn size_hint(text: &str) -> Option<String> {
    let size = text.strip_suffix(['b', 'B'])?.to_ascii_uppercase().parse::<ByteSize>().ok()?;
    Some(format!("did you mean `{size}`?"))
}
