//! What happens in a session, as its program tells it piece by piece.

use serde::Deserialize;
use serde_json::Value;

/// Most bytes of one piece that are kept; of a longer text the beginning, of a longer value a note of its size.
pub const ITEM_BYTES_MAX: usize = 1 << 20;

/// Longest name of something in bytes, such as of a tool call.
const NAME_BYTES_MAX: usize = 256;

/// A piece of what happens in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The program's session.
    pub session: String,
    /// What happens.
    pub kind: UpdateKind,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateKind {
    /// A part of its answer.
    Text(String),
    /// A part of what it thinks.
    Thought(String),
    /// A part of what it was told: a former session is said again, or it repeats what it was asked.
    Told,
    /// A tool is to be used, is being used, or was used.
    Tool {
        /// The program's own name for this use.
        call: String,
        /// How far it is, if that changed.
        status: Option<String>,
        /// Everything that was said of it.
        value: Value,
    },
    /// What it means to do, whole.
    Plan(Value),
    /// A part of its answer that is no text.
    Content(Value),
    /// What the session has used.
    Usage(Usage),
    /// The session's mode is another.
    Mode(String),
    /// Something that changes nothing here.
    Unknown {
        /// Its name, or why it could not be read.
        name: String,
    },
}

/// What a session or a turn has used, as far as its program says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens that were read.
    pub input_tokens: Option<u64>,
    /// Tokens that were written.
    pub output_tokens: Option<u64>,
    /// Tokens in all, or those in the context now.
    pub total_tokens: Option<u64>,
    /// Tokens that fit into the context.
    pub context_tokens: Option<u64>,
    /// The cost, as a number with its currency: `0.0123 USD`.
    pub cost: Option<String>,
}

impl Usage {
    /// Reads what an answer or an update says.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let number = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key).and_then(Value::as_u64));
        let cost = value.get("cost").and_then(|cost| {
            let amount = cost.get("amount").filter(|amount| amount.is_number())?;
            let currency = cost.get("currency").and_then(Value::as_str).unwrap_or("USD");
            Some(format!("{amount} {}", short(currency)))
        });
        let usage = Self {
            input_tokens: number(&["inputTokens", "input_tokens"]),
            output_tokens: number(&["outputTokens", "output_tokens"]),
            total_tokens: number(&["totalTokens", "total_tokens", "used"]),
            context_tokens: number(&["size"]),
            cost,
        };
        (usage != Self::default()).then_some(usage)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    session_id: String,
    update: Value,
}

impl Update {
    pub(super) fn read(Params { session_id, update }: Params) -> Result<Self, String> {
        if session_id.len() > NAME_BYTES_MAX {
            return Err("the name of its session is too long".to_owned());
        }
        Ok(Self { session: session_id, kind: kind(update) })
    }
}

fn kind(mut update: Value) -> UpdateKind {
    let name = update.get("sessionUpdate").and_then(Value::as_str).map(short).unwrap_or_default();
    match name.as_str() {
        "agent_message_chunk" => chunk(&mut update, UpdateKind::Text),
        "agent_thought_chunk" => chunk(&mut update, UpdateKind::Thought),
        "user_message_chunk" => UpdateKind::Told,
        "tool_call" | "tool_call_update" => tool(update),
        "plan" => UpdateKind::Plan(bounded(update.get_mut("entries").map(Value::take).unwrap_or_default())),
        "usage_update" => match Usage::read(&update) {
            Some(usage) => UpdateKind::Usage(usage),
            None => UpdateKind::Unknown { name },
        },
        "current_mode_update" => match update.get("currentModeId").and_then(Value::as_str) {
            Some(mode) => UpdateKind::Mode(short(mode)),
            None => UpdateKind::Unknown { name },
        },
        _ => UpdateKind::Unknown { name },
    }
}

fn chunk(update: &mut Value, of_text: impl Fn(String) -> UpdateKind) -> UpdateKind {
    let content = update.get_mut("content").map(Value::take).unwrap_or_default();
    match content {
        Value::Object(mut fields) if fields.get("type").and_then(Value::as_str) == Some("text") => {
            match fields.get_mut("text").map(Value::take) {
                Some(Value::String(mut text)) => {
                    text.truncate(text.floor_char_boundary(ITEM_BYTES_MAX));
                    of_text(text)
                }
                _ => UpdateKind::Unknown { name: "a text without text".to_owned() },
            }
        }
        Value::Null => UpdateKind::Unknown { name: "a piece without content".to_owned() },
        other => UpdateKind::Content(bounded(other)),
    }
}

pub(super) fn tool(mut update: Value) -> UpdateKind {
    let call = update.get("toolCallId").and_then(Value::as_str).map(short).unwrap_or_default();
    if call.is_empty() {
        return UpdateKind::Unknown { name: "a tool call without a name".to_owned() };
    }
    let status = update.get("status").and_then(Value::as_str).map(short);
    if let Value::Object(fields) = &mut update {
        fields.shift_remove("sessionUpdate");
        fields.shift_remove("_meta");
    }
    UpdateKind::Tool { call, status, value: bounded(update) }
}

/// A value as it is kept: whole, or as a note that it was too large.
fn bounded(value: Value) -> Value {
    let bytes = value.to_string().len();
    if bytes <= ITEM_BYTES_MAX {
        return value;
    }
    let mut note = serde_json::json!({ "tooLarge": bytes });
    for key in ["toolCallId", "title", "kind", "status"] {
        if let (Some(said), Value::Object(fields)) = (value.get(key).and_then(Value::as_str), &mut note) {
            fields.insert(key.to_owned(), Value::String(short(said)));
        }
    }
    note
}

fn short(text: &str) -> String {
    let mut text = crate::render::clean(text).replace('\n', " ");
    text.truncate(text.floor_char_boundary(NAME_BYTES_MAX));
    text
}
