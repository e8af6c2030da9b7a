//! How a program is called for a turn.

use serde::{Deserialize, Serialize};

/// What stands in a template for the text of a turn.
const PROMPT: &str = "{prompt}";

/// What stands in a template for the program's own name of its session.
const SESSION: &str = "{session}";

/// How the text of a turn reaches the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptBy {
    /// As an argument.
    Argument,
    /// On standard input, which then ends.
    Stdin,
}

/// What the program writes to its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Its answer.
    Text,
    /// One JSON document.
    Json,
    /// JSON, a value a line.
    StreamJson,
}

/// Everything that is the same for all turns of an epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The program and the arguments that it always has.
    pub program: Vec<String>,
    /// The arguments of a turn in a new session.
    pub first: Vec<String>,
    /// The arguments of a turn in a former session. None: each turn is a session of its own.
    pub resume: Option<Vec<String>>,
    /// How the text of a turn reaches it.
    pub prompt: PromptBy,
    /// What it writes.
    pub output: Output,
    /// Where its output names the session, as a JSON pointer.
    pub session: Option<String>,
    /// Where its output has the answer, as a JSON pointer.
    pub answer: Option<String>,
    /// What it says when it does not know the session that it was told.
    pub lost: Option<String>,
    /// How long a turn may take.
    pub timeout_ms: u64,
}

/// A plan that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the plan of the turns cannot be read")]
pub struct BadPlan(#[source] serde_json::Error);

/// Whether an argument is one that a turn fills in.
#[must_use]
pub fn is_placeholder(argument: &str) -> bool {
    argument == PROMPT || argument == SESSION
}

impl Plan {
    /// Reads what [`Plan::text`] wrote.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Self, BadPlan> {
        serde_json::from_str(text).map_err(BadPlan)
    }

    /// The plan as one argument of the runner.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The command of a turn: in the former session, or with `fresh` as the name of a new one.
    #[must_use]
    pub fn command(&self, former: Option<&str>, fresh: &str, prompt: &str) -> Vec<String> {
        let (template, session) = match (former, &self.resume) {
            (Some(former), Some(resume)) => (resume, former),
            _ => (&self.first, fresh),
        };
        let filled = template.iter().map(|argument| match argument.as_str() {
            PROMPT => prompt.to_owned(),
            SESSION => session.to_owned(),
            _ => argument.clone(),
        });
        self.program.iter().cloned().chain(filled).collect()
    }

    /// Whether the program can go on with a session whose name its output does not say: it is then told a name that
    /// was made for it.
    #[must_use]
    pub fn names_sessions(&self) -> bool {
        self.session.is_none() && self.resume.is_some()
    }
}
