//! Scripts in files, for a server that a person starts.

use std::{fs, path::Path};

use serde::Deserialize;
use serde_json::Value;

use super::{Action, Fault, Reply, Rule, Script, Step};

/// Why a file is no script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("cannot read script `{path}`")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It is not what a script is.
    #[error("cannot parse script `{path}`")]
    Parse {
        /// The file.
        path: String,
        /// What is wrong and where.
        #[source]
        source: serde_json::Error,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    rules: Vec<RuleFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    /// What the prompt contains.
    on: String,
    /// Also for requests that offer no tools.
    #[serde(default)]
    anywhere: bool,
    /// One list of steps for each call of the model in the turn.
    replies: Vec<Vec<StepFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StepFile {
    Text(String),
    Shell(String),
    ShellWithLeave(String),
    Write {
        path: String,
        content: String,
    },
    Call {
        tool: String,
        arguments: Value,
    },
    Cut {},
    /// One request fails before the reply is given.
    TooManyRequests {
        retry_after_s: u32,
    },
    QuotaUsedUp {},
    Status(u16),
    Stall {},
}

impl Script {
    /// Reads a script from a JSON file:
    /// `{"rules": [{"on": "make a file", "replies": [[{"shell": "touch made"}], [{"text": "It is made."}]]}]}`.
    ///
    /// Further steps are `shell_with_leave`, `write` with `path` and `content`, `call` with `tool` and `arguments`, `cut`; and for a request
    /// that fails before the reply `too_many_requests` with `retry_after_s`, `quota_used_up`,
    /// `status`, `stall`.
    ///
    /// # Errors
    /// If the file cannot be read or is none.
    pub fn read(path: &Path) -> Result<Self, ScriptError> {
        let named = || path.display().to_string();
        let text = fs::read_to_string(path).map_err(|source| ScriptError::Read { path: named(), source })?;
        let file: ScriptFile =
            serde_json::from_str(&text).map_err(|source| ScriptError::Parse { path: named(), source })?;
        Ok(Self { rules: file.rules.into_iter().map(rule).collect() })
    }
}

fn rule(file: RuleFile) -> Rule {
    let rule = if file.anywhere { Rule::anywhere(file.on) } else { Rule::on(file.on) };
    file.replies.into_iter().fold(rule, |rule, steps| rule.reply(steps.into_iter().fold(Reply::new(), add)))
}

fn add(reply: Reply, step: StepFile) -> Reply {
    match step {
        StepFile::Text(text) => reply.text(text),
        StepFile::Shell(command) => reply.shell(command),
        StepFile::ShellWithLeave(command) => reply.shell_with_leave(command),
        StepFile::Write { path, content } => reply.write(path, content),
        StepFile::Call { tool, arguments } => reply.step(Step::Call(Action::Tool { name: tool, arguments })),
        StepFile::Cut {} => reply.step(Step::Cut),
        StepFile::TooManyRequests { retry_after_s } => reply.after(Fault::TooManyRequests { retry_after_s }),
        StepFile::QuotaUsedUp {} => reply.after(Fault::QuotaUsedUp),
        StepFile::Status(status) => reply.after(Fault::Status(status)),
        StepFile::Stall {} => reply.after(Fault::Stall),
    }
}
