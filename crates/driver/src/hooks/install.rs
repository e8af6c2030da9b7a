//! How the hooks of a program are installed for one epoch: by its own flags and variables, never in the user's files.

use serde_json::{Map, Value, json};

use super::HookKind;

/// How long a program waits for `edgeplane hook` in seconds; the command gives up before.
const CLAUDE_TIMEOUT_S: u64 = 10;

/// The events of Claude Code that say something.
const CLAUDE_EVENTS: [&str; 10] = [
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "Stop",
    "StopFailure",
];

/// What a program is given beside what its manifest says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// What stands in the file of hooks, if there is one.
    pub file: Option<String>,
    /// Arguments, to be put where [`with_words`] puts them.
    pub words: Vec<String>,
}

/// Hooks are not installed, because somebody has set what would have to be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("left alone: {0}")]
pub struct LeftAlone(pub String);

/// What a program needs so that it runs `cli hook KIND`.
///
/// `file` is where its hooks may be written, `argv` what it is started with, and `own` the text of the user's own
/// configuration where that could be overruled.
///
/// # Errors
/// If its user has set the same.
pub fn set_up(
    kind: HookKind,
    (cli, file): (&str, &str),
    argv: &[String],
    own: Option<&str>,
) -> Result<Setup, LeftAlone> {
    let given = argv.get(1..).unwrap_or_default();
    match kind {
        HookKind::ClaudeCode => {
            if given.iter().any(|word| is_flag(word, "--settings")) {
                return Err(LeftAlone("its arguments give --settings".to_owned()));
            }
            let hook =
                json!({ "type": "command", "command": command(cli, kind), "timeout": CLAUDE_TIMEOUT_S });
            let words = vec!["--settings".to_owned(), file.to_owned()];
            Ok(Setup { file: Some(hooks(&CLAUDE_EVENTS, &hook)), words })
        }
        HookKind::Codex => {
            if given.iter().any(|word| sets_notify(word)) {
                return Err(LeftAlone("its arguments give notify".to_owned()));
            }
            if own.is_some_and(|text| text.parse::<toml::Table>().is_ok_and(|own| own.contains_key("notify")))
            {
                return Err(LeftAlone("its user's configuration gives notify".to_owned()));
            }
            // JSON strings are TOML strings.
            let notify = format!("notify={}", json!([cli, "hook", kind.as_str()]));
            Ok(Setup { file: None, words: vec!["-c".to_owned(), notify] })
        }
    }
}

/// The arguments by which a program goes on with its former session, if it is not told already with which.
#[must_use]
pub fn resume_words(kind: HookKind, session: &str, argv: &[String]) -> Option<Vec<String>> {
    // A name that could pass for an option is none.
    if session.is_empty() || session.starts_with('-') {
        return None;
    }
    let given = argv.get(1..).unwrap_or_default();
    let has = |flags: &[&str]| given.iter().any(|word| flags.iter().any(|flag| is_flag(word, flag)));
    let word = match kind {
        HookKind::ClaudeCode if has(&["--resume", "-r", "--continue", "-c", "--session-id"]) => return None,
        HookKind::Codex if given.iter().any(|word| ["resume", "fork", "exec"].contains(&word.as_str())) => {
            return None;
        }
        HookKind::ClaudeCode => "--resume",
        HookKind::Codex => "resume",
    };
    Some(vec![word.to_owned(), session.to_owned()])
}

/// Arguments with more of them: behind all others, but before what is no option any more.
#[must_use]
pub fn with_words(argv: &[String], words: Vec<String>) -> Vec<String> {
    let at = argv.iter().position(|word| word == "--").unwrap_or(argv.len());
    let (before, after) = argv.split_at(at);
    before.iter().cloned().chain(words).chain(after.iter().cloned()).collect()
}

fn is_flag(word: &str, flag: &str) -> bool {
    word.strip_prefix(flag)
        .is_some_and(|rest| rest.is_empty() || (flag.starts_with("--") && rest.starts_with('=')))
}

/// Whether an argument of Codex sets `notify`: `-c notify=…` as one word or two, `--config=notify=…`.
fn sets_notify(word: &str) -> bool {
    let value = word.strip_prefix("--config=").or_else(|| word.strip_prefix("-c")).unwrap_or(word);
    let value = value.strip_prefix('=').unwrap_or(value).trim_start();
    value.strip_prefix("notify").is_some_and(|rest| rest.trim_start().starts_with('='))
}

fn hooks(events: &[&str], hook: &Value) -> String {
    let all: Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), json!([{ "hooks": [hook] }]))).collect();
    json!({ "hooks": all }).to_string()
}

/// A command as a shell reads it.
fn command(cli: &str, kind: HookKind) -> String {
    format!("'{}' hook {}", cli.replace('\'', r"'\''"), kind.as_str())
}
