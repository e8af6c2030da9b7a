//! What came of the scenarios, for people and for programs.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::{
    scenarios::Scenario,
    world::{Stop, World},
};

/// What came of one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not, for these reasons.
    Failed(Vec<String>),
    /// The implementation declares that it does not serve what it needs.
    NotServed(String),
    /// What it needs was not brought.
    NotApplicable(String),
}

impl Outcome {
    /// In one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::NotServed(_) => "not served",
            Self::NotApplicable(_) => "not applicable",
        }
    }

    fn reasons(&self) -> Vec<String> {
        match self {
            Self::Passed => Vec::new(),
            Self::Failed(why) => why.clone(),
            Self::NotServed(why) | Self::NotApplicable(why) => vec![why.clone()],
        }
    }
}

/// A scenario with what came of it.
#[derive(Debug)]
pub struct Line {
    /// Which.
    pub scenario: Scenario,
    /// What came of it.
    pub outcome: Outcome,
}

/// Plays a scenario, and holds everything that was said meanwhile to the rules: what breaks one fails the scenario.
pub fn play(world: &mut World, scenario: Scenario) -> Line {
    let stop = (scenario.play)(world).err();
    world.leave_nobody_waiting();
    let mut wrong = world.settle();
    let outcome = match stop {
        Some(Stop::Failed(why)) => {
            wrong.insert(0, why);
            Outcome::Failed(wrong)
        }
        _ if !wrong.is_empty() => Outcome::Failed(wrong),
        None => Outcome::Passed,
        Some(Stop::NotServed(why)) => Outcome::NotServed(why),
        Some(Stop::NotApplicable(why)) => Outcome::NotApplicable(why),
    };
    Line { scenario, outcome }
}

/// Writes what came of one as a line, and the reasons below it.
///
/// # Errors
/// If nobody reads it.
pub fn tell(out: &mut impl Write, line: &Line) -> io::Result<()> {
    writeln!(out, "{:<6} {:<14} {}", line.scenario.id, line.outcome.word(), line.scenario.title)?;
    for reason in line.outcome.reasons() {
        writeln!(out, "       - {reason}")?;
    }
    Ok(())
}

/// All of it as JSON.
#[must_use]
pub fn json_of(implementation: &str, lines: &[Line]) -> Value {
    let scenarios: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "id": line.scenario.id,
                "title": line.scenario.title,
                "outcome": line.outcome.word(),
                "reasons": line.outcome.reasons(),
            })
        })
        .collect();
    json!({ "standard": "agentruntime 0.4.0", "implementation": implementation, "scenarios": scenarios })
}

/// In one line, how many of each.
#[must_use]
pub fn sum(lines: &[Line]) -> String {
    let count = |word: &str| lines.iter().filter(|line| line.outcome.word() == word).count();
    format!(
        "{} passed, {} failed, {} not served, {} not applicable",
        count("passed"),
        count("failed"),
        count("not served"),
        count("not applicable")
    )
}
