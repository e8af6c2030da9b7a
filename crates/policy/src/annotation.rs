//! What the annotations of a rule say: its name, what it grants at most, and why it refuses.

use cedar_policy::Policy;
use edgeplane_types::{Authority, SafeLabel};

use crate::{
    decide::{NO_PERMIT, RULE_ERROR},
    layer::Effect,
    limit::{self, Rate},
    problem::Finding,
    statement::Statement,
};

/// Longest reason that a rule may give, in characters: it goes into an error, a log line and a record.
const REASON_CHARS_MAX: usize = 200;

/// The annotations there are.
const KNOWN: &str = "one of `@id`, `@reason`, `@authority`, `@rate`, `@bytes`";

/// What annotations say.
#[derive(Debug)]
pub(crate) struct Annotations {
    pub(crate) id: SafeLabel,
    pub(crate) reason: Option<String>,
    pub(crate) authority: Option<Authority>,
    pub(crate) rate: Option<Rate>,
    pub(crate) bytes_max: Option<u64>,
}

/// Reads the annotations of `policy`, which is written in `statement`.
pub(crate) fn read(policy: &Policy, statement: &Statement<'_>) -> Result<Annotations, Vec<Finding>> {
    let mut reader = Reader { statement, effect: Effect::of(policy), findings: Vec::new() };
    let (mut id, mut reason, mut authority, mut rate, mut bytes_max) = (None, None, None, None, None);
    // Cedar gives them by name; findings come in the order of the text.
    let mut written: Vec<(&str, &str)> = policy.annotations().collect();
    written.sort_by_key(|(key, _)| reader.key_offset(key));
    for (key, value) in written {
        match key {
            "id" => id = reader.id(value),
            "reason" => reason = reader.reason(value),
            "authority" => authority = reader.grant((key, value), authority_of(value)),
            "rate" => rate = reader.grant((key, value), value.parse::<Rate>().map_err(|_none| RATE)),
            "bytes" => bytes_max = reader.grant((key, value), limit::bytes(value).map_err(|_none| BYTES)),
            other => {
                let found =
                    Finding::new(reader.key_offset(other), format!("the annotation `@{other}`"), KNOWN);
                reader.findings.push(found);
            }
        }
    }
    match id {
        Some(id) if reader.findings.is_empty() => Ok(Annotations { id, reason, authority, rate, bytes_max }),
        _ => Err(reader.missing_id()),
    }
}

const RATE: &str = "a count from 1 to 1000000, `/`, and a span of at most a day, such as `60/min` or `5/10s`";
const BYTES: &str = "a number of bytes from 1, such as `65536`, `64KiB` or `4MiB`";
const AUTHORITY: &str = "one of `trusted`, `delegated`, `advisory`, `external`, `untrusted`";

fn authority_of(value: &str) -> Result<Authority, &'static str> {
    Authority::from_word(value).ok_or(AUTHORITY)
}

/// What stands where, and what is wrong with it.
struct Reader<'a> {
    statement: &'a Statement<'a>,
    effect: Effect,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn key_offset(&self, key: &str) -> usize {
        let written = self.statement.annotations.iter().find(|annotation| annotation.key == key);
        written.map_or(self.statement.offset, |annotation| annotation.key_offset)
    }

    fn refuse(&mut self, key: &str, found: impl Into<String>, expected: impl Into<String>) {
        let written = self.statement.annotations.iter().find(|annotation| annotation.key == key);
        let offset = written.map_or(self.statement.offset, |annotation| annotation.value_offset);
        self.findings.push(Finding::new(offset, found, expected));
    }

    fn id(&mut self, value: &str) -> Option<SafeLabel> {
        if [NO_PERMIT, RULE_ERROR].contains(&value) {
            let found = format!("the name `{value}`, which refusals without a rule have");
            self.refuse("id", found, "another name");
            return None;
        }
        match value.parse() {
            Ok(id) => Some(id),
            Err(_rule) => {
                let expected = "1 to 128 of the characters A-Z a-z 0-9 . _ @ -";
                self.refuse("id", format!("the name `{value}`"), expected);
                None
            }
        }
    }

    fn reason(&mut self, value: &str) -> Option<String> {
        let is_fit =
            (1..=REASON_CHARS_MAX).contains(&value.chars().count()) && !value.chars().any(char::is_control);
        if !is_fit {
            let expected = format!("1 to {REASON_CHARS_MAX} characters on one line");
            self.refuse("reason", format!("the reason `{value}`"), expected);
        }
        is_fit.then(|| value.to_owned())
    }

    /// A limit, which only a permit can have.
    fn grant<T>(&mut self, (key, written): (&str, &str), value: Result<T, &'static str>) -> Option<T> {
        if self.effect == Effect::Forbid {
            let offset = self.key_offset(key);
            let finding =
                Finding::new(offset, format!("`@{key}` on a `forbid`"), "limits on a `permit` only")
                    .with_hint("a forbid refuses whatever it matches");
            self.findings.push(finding);
            return None;
        }
        match value {
            Ok(value) => Some(value),
            Err(expected) => {
                self.refuse(key, format!("`{written}` for `@{key}`"), expected);
                None
            }
        }
    }

    /// Everything that was found; also that the rule has no name, where it has none.
    fn missing_id(mut self) -> Vec<Finding> {
        if !self.statement.annotations.iter().any(|annotation| annotation.key == "id") {
            let finding =
                Finding::new(self.statement.offset, "a rule without a name", "`@id(\"…\")` before it")
                    .with_hint("refusals and records name the rule by it");
            self.findings.insert(0, finding);
        }
        self.findings
    }
}
