//! Programs that end with each turn: what is known of some, and what holds for the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::program::Driver;
use crate::quantity::DurationMs;

/// How long a turn may take unless a manifest says otherwise: half an hour.
pub const EXEC_TIMEOUT: DurationMs = DurationMs::from_secs(1_800);

/// A program whose ways are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// `claude -p`.
    ClaudeCode,
    /// `codex exec`.
    Codex,
    /// `gemini`.
    Gemini,
}

/// How the text of a turn reaches a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptBy {
    /// As an argument, which every process of the machine can read, and of at most 128 KiB.
    Argument,
    /// On standard input, which then ends.
    Stdin,
}

/// What a program writes to its standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExecOutput {
    /// Its answer.
    Text,
    /// One JSON document.
    Json,
    /// JSON, a value a line.
    StreamJson,
}

/// How a program that ends with each turn is called, with everything that a manifest leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneShot {
    /// The arguments of a turn in a new session.
    pub first: Vec<String>,
    /// The arguments of a turn in a session that goes on.
    pub resume: Option<Vec<String>>,
    /// How the text of a turn reaches it.
    pub prompt: PromptBy,
    /// What it writes.
    pub output: ExecOutput,
    /// Where its output names the session.
    pub session: Option<String>,
    /// Where its output has the answer.
    pub answer: Option<String>,
    /// What it says of a session that it does not know.
    pub lost: Option<String>,
    /// How long a turn may take.
    pub timeout: DurationMs,
}

/// What is known of a program.
struct Known {
    first: &'static [&'static str],
    resume: &'static [&'static str],
    session: &'static str,
    answer: Option<&'static str>,
    lost: &'static str,
}

impl Preset {
    /// All of them write JSON lines and read the prompt on standard input, where no other process sees it.
    const fn known(self) -> Known {
        match self {
            Self::ClaudeCode => Known {
                first: &["-p", "--output-format", "stream-json", "--verbose"],
                resume: &["-p", "--output-format", "stream-json", "--verbose", "--resume", "{session}"],
                session: "/session_id",
                answer: Some("/result"),
                lost: "No conversation found with session ID",
            },
            Self::Codex => Known {
                first: &["exec", "--json", "--skip-git-repo-check", "-"],
                resume: &["exec", "--json", "--skip-git-repo-check", "resume", "{session}", "-"],
                session: "/thread_id",
                answer: None,
                lost: "no rollout found for thread id",
            },
            Self::Gemini => Known {
                first: &["--output-format", "stream-json"],
                resume: &["--output-format", "stream-json", "--resume", "{session}"],
                session: "/session_id",
                answer: None,
                lost: "Error resuming session",
            },
        }
    }
}

impl OneShot {
    /// What a driver says of its program; nothing if the program is another kind.
    #[must_use]
    pub fn of(driver: &Driver) -> Option<Self> {
        let Driver::Exec { preset, first, resume, prompt, output, session, answer, lost, timeout } = driver
        else {
            return None;
        };
        let known = preset.map(Preset::known);
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let prompt = prompt.unwrap_or(if known.is_some() { PromptBy::Stdin } else { PromptBy::Argument });
        let standard = || match (&known, prompt) {
            (Some(known), _) => words(known.first),
            (None, PromptBy::Argument) => words(&["{prompt}"]),
            (None, PromptBy::Stdin) => Vec::new(),
        };
        let text =
            |given: &Option<String>, known: Option<&str>| given.clone().or_else(|| known.map(str::to_owned));
        let output =
            output.unwrap_or(if known.is_some() { ExecOutput::StreamJson } else { ExecOutput::Text });
        // What a preset says of JSON is nothing to a program that was asked for text.
        let of_json = known.as_ref().filter(|_| output != ExecOutput::Text);
        Some(Self {
            first: first.clone().unwrap_or_else(standard),
            resume: resume.clone().or_else(|| known.as_ref().map(|known| words(known.resume))),
            prompt,
            output,
            session: text(session, of_json.map(|known| known.session)),
            answer: text(answer, of_json.and_then(|known| known.answer)),
            lost: text(lost, known.as_ref().map(|known| known.lost)),
            timeout: *timeout,
        })
    }
}
