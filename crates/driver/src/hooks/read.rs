//! What a report says. Reports come from programs of many versions: what is not known means nothing.

use serde_json::{Value, json};

use super::HookKind;

/// Longest text of a report that is taken, in bytes; more is cut.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Longest text within what is told of a tool's use, in bytes.
const TOOL_TEXT_BYTES_MAX: usize = 16 << 10;

/// Longest word of a program, such as a reason, in bytes.
const WORD_BYTES_MAX: usize = 1 << 10;

/// Most that is told of a tool's use in bytes; of more, only what it is.
const TOOL_BYTES_MAX: usize = 128 << 10;

/// Why a report is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// It is no JSON object.
    #[error("a report of a hook is a JSON object")]
    NoObject,
    /// It does not say what happened.
    #[error("the report has no `{0}`")]
    Missing(&'static str),
}

/// How a session came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It begins.
    New,
    /// A former one goes on.
    Former,
    /// The report does not say.
    Untold,
}

/// What a report says.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// The program took this text as what it is asked.
    Prompt(String),
    /// The turn is over, by the program's word for why, and with its answer where it says it.
    TurnEnded {
        /// The program's name of what happened.
        outcome: &'static str,
        /// What it answered.
        output: String,
    },
    /// A person is asked something.
    Asks(String),
    /// It waits for something to do.
    Rests,
    /// Its session.
    Session {
        /// The program's own name for it.
        name: String,
        /// How it came about.
        way: Way,
    },
    /// A tool is used.
    Tool {
        /// The program's name for this use.
        call: String,
        /// How far it is.
        status: &'static str,
        /// What it is, as the Agent Client Protocol has it.
        value: Value,
    },
}

/// Whether a prompt is a text that was typed. A program may show line ends its own way and drop blanks at the end.
#[must_use]
pub fn is_same(prompt: &str, typed: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n").trim_end().to_owned();
    let prompt = plain(prompt);
    !prompt.is_empty() && prompt == plain(typed)
}

/// Reads a report.
///
/// # Errors
/// If it is none. One of something unknown is nothing told.
pub fn read(kind: HookKind, report: &Value) -> Result<Vec<Told>, HookError> {
    if !report.is_object() {
        return Err(HookError::NoObject);
    }
    match kind {
        HookKind::ClaudeCode => claude(report),
        HookKind::Codex => codex(report),
    }
}

fn text<'a>(report: &'a Value, key: &str) -> Option<&'a str> {
    report.get(key).and_then(Value::as_str)
}

fn needed(report: &Value, key: &'static str) -> Result<String, HookError> {
    text(report, key).map(|text| cut(text, TEXT_BYTES_MAX)).ok_or(HookError::Missing(key))
}

fn word(report: &Value, key: &str) -> String {
    cut(text(report, key).unwrap_or_default(), WORD_BYTES_MAX)
}

fn cut(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default().to_owned()
}

fn claude(report: &Value) -> Result<Vec<Told>, HookError> {
    let told = match needed(report, "hook_event_name")?.as_str() {
        // What its own timers ask it is nobody's message.
        "UserPromptSubmit" if text(report, "source").is_none_or(|source| source == "user") => {
            Told::Prompt(needed(report, "prompt")?)
        }
        "Stop" => ended("Stop", report, "last_assistant_message"),
        "StopFailure" => ended("StopFailure", report, "error"),
        "PermissionRequest" => Told::Asks(asked_for_tool(report)),
        "Notification" => match text(report, "notification_type") {
            Some("idle_prompt") => Told::Rests,
            Some("permission_prompt" | "elicitation_dialog") => Told::Asks(word(report, "message")),
            _ => return Ok(Vec::new()),
        },
        "PreToolUse" => tool(report, "in_progress")?,
        "PostToolUse" => tool(report, "completed")?,
        "PostToolUseFailure" => tool(report, "failed")?,
        "SessionStart" => session(report)?,
        _ => return Ok(Vec::new()),
    };
    Ok(vec![told])
}

/// Codex reports the end of a turn, and with it everything that its thread was ever asked. Only the last of it belongs
/// to the turn beyond doubt: what was asked before may read like what is asked next.
fn codex(report: &Value) -> Result<Vec<Told>, HookError> {
    if needed(report, "type")? != "agent-turn-complete" {
        return Ok(Vec::new());
    }
    let mut told = Vec::new();
    if let Some(name) = text(report, "thread-id") {
        told.push(Told::Session { name: cut(name, WORD_BYTES_MAX), way: Way::Untold });
    }
    let asked = report.get("input-messages").and_then(Value::as_array).and_then(|all| all.last());
    let asked = asked.and_then(Value::as_str).map(|text| cut(text, TEXT_BYTES_MAX));
    told.extend(asked.map(Told::Prompt));
    told.push(ended("agent-turn-complete", report, "last-assistant-message"));
    Ok(told)
}

fn ended(outcome: &'static str, report: &Value, answer: &str) -> Told {
    let output = cut(text(report, answer).unwrap_or_default(), TEXT_BYTES_MAX);
    Told::TurnEnded { outcome, output }
}

fn session(report: &Value) -> Result<Told, HookError> {
    let name = text(report, "session_id").filter(|name| !name.is_empty());
    let name = cut(name.ok_or(HookError::Missing("session_id"))?, WORD_BYTES_MAX);
    let way = match text(report, "source") {
        Some("resume" | "compact") => Way::Former,
        Some(_) => Way::New,
        None => Way::Untold,
    };
    Ok(Told::Session { name, way })
}

/// What a tool's use is called: the tool, and of what it is given the first text.
fn title(report: &Value) -> String {
    let name = word(report, "tool_name");
    let input = report.get("tool_input");
    let first = |key: &&str| input.and_then(|input| input.get(*key)).and_then(Value::as_str);
    match ["command", "file_path", "path", "url", "query", "pattern", "description"].iter().find_map(first) {
        Some(about) => format!("{name}: {}", cut(about, WORD_BYTES_MAX)),
        None => name,
    }
}

fn asked_for_tool(report: &Value) -> String {
    format!("leave to use {}", title(report))
}

fn tool(report: &Value, status: &'static str) -> Result<Told, HookError> {
    let call = text(report, "tool_use_id").filter(|call| !call.is_empty());
    let call = cut(call.ok_or(HookError::Missing("tool_use_id"))?, WORD_BYTES_MAX);
    let (name, title) = (word(report, "tool_name"), title(report));
    let mut value = json!({ "toolCallId": call, "title": title, "kind": name, "status": status });
    let short = value.clone();
    if let Some(fields) = value.as_object_mut() {
        let said = ["tool_response", "error"].iter().find_map(|key| report.get(*key));
        let parts = [("rawInput", report.get("tool_input")), ("rawOutput", said)];
        for (key, part) in parts {
            if let Some(part) = part {
                fields.insert(key.to_owned(), shortened(part));
            }
        }
    }
    if value.to_string().len() > TOOL_BYTES_MAX {
        value = short;
    }
    Ok(Told::Tool { call, status, value })
}

/// A value whose texts are not long.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text, TOOL_TEXT_BYTES_MAX)),
        Value::Array(items) => Value::Array(items.iter().map(shortened).collect()),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(key, value)| (cut(key, WORD_BYTES_MAX), shortened(value))).collect(),
        ),
        other => other.clone(),
    }
}
