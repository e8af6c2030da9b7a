//! What a program's output means, as it comes.
//!
//! Of JSON, shapes are read and not programs: a text, a thought, a use of a tool and its result look much the same
//! wherever they come from, and what is unknown is passed over.

use serde_json::{Value, json};

use super::plan::{Output, Plan};
use crate::acp::{ITEM_BYTES_MAX, Usage};

/// Bytes of a program's answer, or of its one document, that are looked at in a turn.
const OUTPUT_BYTES_MAX: usize = 16 << 20;

/// Longest line of JSON; results of tools may hold pictures.
const LINE_BYTES_MAX: usize = 8 << 20;

/// Longest name that a program may give its session, in bytes.
const SESSION_BYTES_MAX: usize = 256;

/// Bytes of the output's beginning that are kept to look for words in.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// White space at the end of a text that is held back until more follows.
const HELD_BYTES_MAX: usize = 4 << 10;

/// A piece of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A part of the answer.
    Text(String),
    /// A part of what it thinks.
    Thought(String),
    /// A use of a tool, as far as it is.
    Tool {
        /// The program's name for this use.
        call: String,
        /// How far it is.
        status: &'static str,
        /// What the program says of it.
        value: Value,
    },
    /// What it calls its session.
    Session(String),
    /// A part of its output that is none of this; it belongs into the log.
    Log(Vec<u8>),
    /// Something about the output that a reader of the turn should know.
    Note(String),
}

/// What there is to say at the end of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnEnd {
    /// The answer, where it is not simply all text.
    pub answer: Option<String>,
    /// What the turn used.
    pub usage: Option<Usage>,
    /// Why the turn failed, if the program says so in its output.
    pub failure: Option<String>,
}

/// Reads the standard output of one turn.
#[derive(Debug)]
pub struct Reader {
    output: Output,
    session: Option<String>,
    answer: Option<String>,
    head: Vec<u8>,
    held: Vec<u8>,
    bytes: usize,
    passing_over: bool,
    said_anything: bool,
    named: Option<String>,
    result: TurnEnd,
}

impl Reader {
    /// Begins with the first byte of a turn.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            output: plan.output,
            session: plan.session.clone(),
            answer: plan.answer.clone(),
            head: Vec::new(),
            held: Vec::new(),
            bytes: 0,
            passing_over: false,
            said_anything: false,
            named: None,
            result: TurnEnd::default(),
        }
    }

    /// Whether the program has said or done anything.
    #[must_use]
    pub fn said_anything(&self) -> bool {
        self.said_anything
    }

    /// The output's beginning.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Takes bytes in.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let room = HEAD_BYTES_MAX.saturating_sub(self.head.len());
        self.head.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        let mut pieces = Vec::new();
        match self.output {
            Output::Text => self.text(bytes, &mut pieces),
            Output::Json => self.document(bytes, &mut pieces),
            Output::StreamJson => self.lines(bytes, &mut pieces),
        }
        self.said_anything |= pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(_) | Piece::Thought(_) | Piece::Tool { .. }));
        pieces
    }

    /// Ends the output.
    pub fn finish(mut self) -> (Vec<Piece>, TurnEnd) {
        let mut pieces = Vec::new();
        let held = std::mem::take(&mut self.held);
        match self.output {
            Output::Text => {
                let rest = String::from_utf8_lossy(&held);
                let rest = rest.trim_end();
                if !rest.is_empty() {
                    pieces.push(Piece::Text(rest.to_owned()));
                }
            }
            Output::Json => self.whole(&held, &mut pieces),
            Output::StreamJson => self.line(&held, &mut pieces),
        }
        (pieces, self.result)
    }

    /// Whether there is room for more of what is kept whole; says once if there is not.
    fn has_room(&mut self, bytes: usize, pieces: &mut Vec<Piece>) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > OUTPUT_BYTES_MAX && !self.passing_over {
            self.passing_over = true;
            let text = format!("of its output, the first {OUTPUT_BYTES_MAX} bytes are kept");
            pieces.push(Piece::Note(text));
        }
        !self.passing_over
    }

    fn text(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        if !self.has_room(bytes.len(), pieces) {
            return;
        }
        self.held.extend_from_slice(bytes);
        // The end of an answer is no part of it, and a character may be cut.
        let solid = self.held.trim_ascii_end().len();
        let solid =
            if self.held.len().saturating_sub(solid) > HELD_BYTES_MAX { self.held.len() } else { solid };
        let whole = whole_characters(self.held.get(..solid).unwrap_or_default());
        let rest = self.held.split_off(whole);
        let text = std::mem::replace(&mut self.held, rest);
        if !text.is_empty() {
            pieces.push(Piece::Text(String::from_utf8_lossy(&text).into_owned()));
        }
    }

    fn document(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        if self.has_room(bytes.len(), pieces) {
            self.held.extend_from_slice(bytes);
        }
    }

    fn whole(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        let last_line = || bytes.trim_ascii_end().rsplit(|byte| *byte == b'\n').next();
        let read = serde_json::from_slice::<Value>(bytes).ok();
        let value = read.or_else(|| serde_json::from_slice(last_line()?).ok());
        match value {
            Some(value) => {
                self.value(&value, pieces);
                let answer = self.result.answer.clone().filter(|_| !has_text(pieces));
                pieces.extend(answer.map(Piece::Text));
            }
            None => {
                let text = String::from_utf8_lossy(bytes);
                if !text.trim().is_empty() {
                    pieces.push(Piece::Note("its output is no JSON document".to_owned()));
                    pieces.push(Piece::Text(cut(text.trim_end())));
                }
            }
        }
    }

    fn lines(&mut self, bytes: &[u8], pieces: &mut Vec<Piece>) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, tail) = rest.split_at(at);
            self.hold(line);
            rest = tail.get(1..).unwrap_or_default();
            let line = std::mem::take(&mut self.held);
            if std::mem::take(&mut self.passing_over) {
                pieces
                    .push(Piece::Note(format!("a line of more than {LINE_BYTES_MAX} bytes was passed over")));
            } else {
                self.line(&line, pieces);
            }
        }
        self.hold(rest);
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.held.len().saturating_add(bytes.len()) > LINE_BYTES_MAX {
            (self.held, self.passing_over) = (Vec::new(), true);
        } else if !self.passing_over {
            self.held.extend_from_slice(bytes);
        }
    }

    fn line(&mut self, line: &[u8], pieces: &mut Vec<Piece>) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if value.is_object() => self.value(&value, pieces),
            _ => pieces.push(Piece::Log(line.to_owned())),
        }
    }

    fn value(&mut self, value: &Value, pieces: &mut Vec<Piece>) {
        let name = self.session.as_ref().and_then(|at| value.pointer(at)).and_then(Value::as_str);
        if let Some(name) = name.filter(|name| is_name(name) && self.named.as_deref() != Some(name)) {
            self.named = Some(name.to_owned());
            pieces.push(Piece::Session(name.to_owned()));
        }
        shapes(value, pieces);
        let answer = self.answer.as_ref().and_then(|at| value.pointer(at));
        match answer {
            Some(Value::String(text)) => self.result.answer = Some(text.clone()),
            Some(Value::Null) | None => {}
            Some(other) => self.result.answer = Some(other.to_string()),
        }
        if let Some(usage) = usage(value) {
            self.result.usage = Some(usage);
        }
        if let Some(failure) = failure(value) {
            self.result.failure = Some(failure);
        }
    }
}

/// Whether a program's name for its session is one: short, and without anything that is not shown.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= SESSION_BYTES_MAX
        && !name.starts_with('-')
        && name.chars().all(|letter| letter.is_ascii_graphic())
}

/// Bytes that end with a whole character, or cannot become one.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

fn has_text(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Text(_)))
}

fn cut(text: &str) -> String {
    text.get(..text.floor_char_boundary(ITEM_BYTES_MAX)).unwrap_or_default().to_owned()
}

/// The texts, thoughts and uses of tools in a value: as blocks of a message, as an item, or by itself.
fn shapes(value: &Value, pieces: &mut Vec<Piece>) {
    let kind = text_at(value, "type").unwrap_or_default();
    if let Some(item) = value.get("item").filter(|item| item.is_object()) {
        return one(item, kind != "item.completed", pieces);
    }
    if let Some(Value::Array(blocks)) = value.pointer("/message/content") {
        let is_own = kind != "user";
        let blocks = blocks.iter().filter(|block| is_own || text_at(block, "type") == Some("tool_result"));
        return blocks.for_each(|block| one(block, false, pieces));
    }
    one(value, false, pieces);
}

fn one(value: &Value, goes_on: bool, pieces: &mut Vec<Piece>) {
    let text =
        |keys: &[&str]| keys.iter().find_map(|key| text_at(value, key)).filter(|text| !text.is_empty());
    match text_at(value, "type") {
        Some("text" | "agent_message") if !goes_on => {
            pieces.extend(text(&["text"]).map(|text| Piece::Text(cut(text))));
        }
        Some("message") if text_at(value, "role") == Some("assistant") => {
            pieces.extend(text(&["content"]).map(|text| Piece::Text(cut(text))));
        }
        Some("thinking" | "reasoning") if !goes_on => {
            pieces.extend(text(&["thinking", "text"]).map(|text| Piece::Thought(cut(text))));
        }
        Some("text" | "agent_message" | "thinking" | "reasoning" | "message" | "error") | None => {}
        Some(kind) => {
            let is_item = kind.starts_with("tool") || value.get("status").is_some();
            let call = text(&["tool_use_id", "tool_id", "id"]).filter(|_| is_item);
            pieces.extend(call.map(|call| Piece::Tool {
                call: call.to_owned(),
                status: status(kind, value, goes_on),
                value: value.clone(),
            }));
        }
    }
}

/// How far the use of a tool is.
fn status(kind: &str, value: &Value, goes_on: bool) -> &'static str {
    let said = text_at(value, "status").unwrap_or_default();
    let has_failed = value.get("is_error") == Some(&Value::Bool(true))
        || matches!(said, "failed" | "error" | "declined" | "cancelled");
    match (kind, goes_on) {
        _ if has_failed => "failed",
        ("tool_use" | "tool_call", _) => "pending",
        (_, true) => "in_progress",
        (_, false) => "completed",
    }
}

fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// What was used, as far as a value that ends a turn says it.
fn usage(value: &Value) -> Option<Usage> {
    let counted = ["usage", "stats"].iter().find_map(|key| value.get(*key)).and_then(Usage::read);
    let cost = value.get("total_cost_usd").filter(|cost| cost.is_number());
    let cost = cost.map(|amount| format!("{amount} USD"));
    if counted.is_none() && cost.is_none() {
        return None;
    }
    let counted = counted.unwrap_or_default();
    Some(Usage { cost: cost.or_else(|| counted.cost.clone()), ..counted })
}

/// Why a turn failed, if a value says that it did.
fn failure(value: &Value) -> Option<String> {
    let kind = text_at(value, "type").unwrap_or_default();
    let says_so = value.get("is_error") == Some(&Value::Bool(true)) && kind != "tool_result";
    if !says_so && kind != "turn.failed" {
        return None;
    }
    let ways = ["/error/message", "/result", "/message", "/subtype"];
    let text = ways.iter().find_map(|at| value.pointer(at)).and_then(Value::as_str);
    Some(cut(text.unwrap_or("it says that its turn failed")))
}

/// A usage as the Agent Client Protocol says it.
pub(super) fn usage_value(usage: &Usage) -> Value {
    let mut value = json!({});
    let numbers = [
        ("inputTokens", usage.input_tokens),
        ("outputTokens", usage.output_tokens),
        ("totalTokens", usage.total_tokens),
    ];
    if let Value::Object(fields) = &mut value {
        for (key, number) in numbers {
            if let Some(number) = number {
                fields.insert(key.to_owned(), json!(number));
            }
        }
        let cost = usage.cost.as_ref().and_then(|cost| cost.split_once(' '));
        if let Some((Ok(amount), currency)) =
            cost.map(|(amount, currency)| (amount.parse::<serde_json::Number>(), currency))
        {
            fields.insert("cost".to_owned(), json!({ "amount": amount, "currency": currency }));
        }
    }
    value
}
