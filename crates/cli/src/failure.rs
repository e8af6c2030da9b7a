//! How a command fails: what people read, what programs read, and the exit code.
//!
//! Owns the translation of every error into these three. The names are those of `edgeplane_types::ErrorName`, with two of
//! our own for what no node ever says: `usage` and `failed`.

use edgeplane_client::CallError;
use edgeplane_types::{ErrorName, error::Effect};
use serde::Serialize;
use serde_json::Value;

use crate::{output::OutputError, text};

/// Exit code of a command line that makes no sense.
pub(crate) const EXIT_USAGE: u8 = 64;

/// Exit code of a failure without a name of its own.
const EXIT_FAILED: u8 = 1;

/// A failure that this program itself found.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    name: ErrorName,
    message: String,
    hint: Option<String>,
    violations: Vec<Value>,
}

impl Failure {
    pub(crate) fn new(name: ErrorName, message: impl Into<String>) -> Self {
        Self { name, message: message.into(), hint: None, violations: Vec::new() }
    }

    /// The same failure with the next step for people.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure with everything that is wrong.
    pub(crate) fn violations(mut self, violations: Vec<Value>) -> Self {
        self.violations = violations;
        self
    }
}

/// A command line that clap takes and that makes no sense all the same.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(pub(crate) String);

/// The next step for people, put on top of an error by its caller.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{context}")]
pub(crate) struct Advice {
    pub(crate) context: String,
    pub(crate) hint: String,
}

/// An error as it leaves the program.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    name: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    retryable: bool,
    effect: Effect,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Value>,
    #[serde(skip)]
    pub(crate) exit_code: u8,
}

impl Report {
    /// Sorts an error; `None` if the reader of our output went away, which is no error of ours.
    pub(crate) fn of(error: &anyhow::Error) -> Option<Self> {
        if find::<OutputError>(error).is_some_and(|error| matches!(error, OutputError::ReaderGone)) {
            return None;
        }
        let mut report = sorted(error).unwrap_or_else(|| Self::plain("failed", EXIT_FAILED));
        report.message = chain_text(error);
        report.hint = find::<Advice>(error).map(|advice| advice.hint.clone()).or(report.hint);
        Some(report)
    }

    fn plain(name: &str, exit_code: u8) -> Self {
        Self {
            name: name.to_owned(),
            message: String::new(),
            hint: None,
            retryable: false,
            effect: Effect::None,
            violations: Vec::new(),
            exit_code,
        }
    }

    /// The lines for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let violations: Vec<_> = self.violations.iter().map(violation_text).collect();
        // A node's message for several violations is all of them; a list is easier to read.
        let says_all =
            !violations.is_empty() && violations.iter().all(|text| self.message.contains(text.as_str()));
        let message = if says_all { self.name.replace('_', " ") } else { self.message.clone() };
        let mut lines = vec![format!("error: {message}")];
        lines.extend(violations.iter().map(|violation| format!("  {violation}")));
        lines.extend(self.hint.as_ref().map(|hint| format!("hint: {hint}")));
        lines
    }
}

/// An error of this kind in the chain. Context is found only through anyhow, sources only through the chain.
fn find<E: std::error::Error + Send + Sync + 'static>(error: &anyhow::Error) -> Option<&E> {
    error.downcast_ref::<E>().or_else(|| error.chain().find_map(|link| link.downcast_ref::<E>()))
}

fn sorted(error: &anyhow::Error) -> Option<Report> {
    if let Some(failure) = find::<Failure>(error) {
        return Some(Report {
            hint: failure.hint.clone(),
            retryable: failure.name.is_retryable(),
            violations: failure.violations.clone(),
            ..Report::plain(failure.name.as_str(), failure.name.exit_code())
        });
    }
    if find::<Misuse>(error).is_some() {
        return Some(Report::plain("usage", EXIT_USAGE));
    }
    let error = find::<CallError>(error)?;
    let name = error.name();
    let mut report = Report::plain(name.as_str(), name.exit_code());
    match error {
        CallError::Rpc(error) => {
            report.hint.clone_from(&error.data.hint);
            report.retryable = error.data.retryable;
            report.effect = error.data.effect;
            report.violations.clone_from(&error.data.violations);
        }
        _ => {
            report.retryable = name.is_retryable();
            if name == ErrorName::OutcomeUnknown {
                report.effect = Effect::Unknown;
                report.hint =
                    Some("it may have been carried out all the same: look before you repeat it".to_owned());
            }
        }
    }
    Some(report)
}

/// The whole chain on one line. An error that says no more than what stands before it is left out.
fn chain_text(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for link in error.chain() {
        let link = link.to_string();
        let link = text::one_line(&link);
        if !text.ends_with(&*link) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&link);
        }
    }
    text
}

/// A violation as a person reads it: where, what, what would be right.
fn violation_text(violation: &Value) -> String {
    if let Some(text) = violation.as_str() {
        return text.to_owned();
    }
    let field = |name: &str| violation.get(name).and_then(Value::as_str).unwrap_or_default();
    if !field("message").is_empty() {
        return field("message").to_owned();
    }
    let number = |name: &str| violation.get(name).and_then(Value::as_u64).unwrap_or(0);
    if field("found").is_empty() || field("expected").is_empty() {
        return crate::json::compact(violation);
    }
    let mut out = field("file").to_owned();
    if number("line") > 0 {
        out.push_str(&format!(":{}:{}", number("line"), number("column")));
    }
    for part in [field("field"), ""] {
        if !out.is_empty() && !part.is_empty() {
            out.push_str(": ");
        }
        out.push_str(part);
    }
    let lead = if out.is_empty() { "" } else { ": " };
    out.push_str(&format!("{lead}found {}, expected {}", field("found"), field("expected")));
    if !field("hint").is_empty() {
        out.push_str(&format!(" ({})", field("hint")));
    }
    out
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use edgeplane_wire::rpc::RpcError;
    use serde_json::json;

    use super::*;

    fn report(error: impl Into<anyhow::Error>) -> Report {
        Report::of(&error.into()).unwrap()
    }

    #[test]
    fn whole_chain_and_hint_are_shown() {
        let rpc = RpcError::new(ErrorName::NotFound, "no agent `a\x1b[31m`")
            .hint("`edgeplane ps` lists the agents");
        let error = Err::<(), _>(CallError::from(rpc)).context("cannot stop `a`").unwrap_err();
        let report = report(error);
        assert_eq!(report.exit_code, 66);
        assert_eq!(
            report.lines(),
            ["error: cannot stop `a`: no agent `a\u{fffd}[31m`", "hint: `edgeplane ps` lists the agents"]
        );
        let shown = serde_json::to_value(&report).unwrap();
        assert_eq!(shown["name"], "not_found");
        assert_eq!(shown["effect"], "none");
    }

    #[test]
    fn violations_are_one_a_line() {
        let found = json!({ "file": "a.yaml", "line": 3, "column": 5, "field": "spec.run", "found": "`x`",
            "expected": "running or stopped", "hint": "did you mean `stopped`?" });
        let failure =
            Failure::new(ErrorName::InvalidManifest, "wrong").violations(vec![found, json!("plain")]);
        assert_eq!(
            report(failure).lines(),
            [
                "error: wrong",
                "  a.yaml:3:5: spec.run: found `x`, expected running or stopped (did you mean `stopped`?)",
                "  plain"
            ]
        );
    }

    #[test]
    fn violations_are_not_said_twice() {
        let failure = Failure::new(ErrorName::InvalidManifest, "a:1:1: one\nb:2:2: two");
        let lines = report(failure.violations(vec![json!("a:1:1: one"), json!("b:2:2: two")])).lines();
        assert_eq!(lines, ["error: invalid manifest", "  a:1:1: one", "  b:2:2: two"]);
    }

    #[test]
    fn exit_codes_follow_the_names() {
        assert_eq!(report(Misuse("both".to_owned())).exit_code, 64);
        assert_eq!(report(anyhow::anyhow!("odd")).exit_code, 1);
        let closed = CallError::Closed { method: "runtime/agent.stop".to_owned() };
        let report = report(closed);
        assert_eq!((report.exit_code, report.name.as_str()), (75, "outcome_unknown"));
        assert!(report.hint.is_some());
    }

    #[test]
    fn reader_that_went_away_is_no_error() {
        assert!(Report::of(&anyhow::Error::from(OutputError::ReaderGone)).is_none());
    }
}
