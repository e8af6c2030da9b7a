//! A request to the model, the same whatever dialect it came in.

use serde_json::Value;

/// A protocol between programs and models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// A tool that the request offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// The group of tools it is in, where the dialect has groups.
    pub namespace: Option<String>,
    /// How it is called.
    pub form: Form,
}

/// How a tool is called.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// With arguments of this JSON schema.
    Function(Value),
    /// With one text.
    Freeform,
    /// As the dialect's own shell, which has no schema.
    LocalShell,
}

/// A part of the conversation in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A text of the user, or of the program in the user's name.
    User(String),
    /// Something the model said or called.
    Model,
    /// What a tool gave back.
    Result {
        /// The id of the call.
        call: String,
        /// What it gave.
        text: String,
    },
}

/// A request to the model.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What it came in.
    pub dialect: Dialect,
    /// The model it names.
    pub model: String,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// The instructions beside the conversation.
    pub system: String,
    /// The tools it offers.
    pub tools: Vec<Offered>,
    /// The conversation.
    pub said: Vec<Said>,
    /// The JSON schema that the answer must have, if it names one.
    pub schema: Option<Value>,
}

/// One text of the user that may decide the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) text: &'a str,
    /// How often the model was called since.
    pub(super) calls: usize,
}

impl Asked {
    /// The texts of the user that may decide the answer, newest first.
    ///
    /// Programs add texts of their own in the user's name, before or behind what the user said: they are in angle
    /// brackets. So those behind are looked past, and behind them is one run of texts that are the user's.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate<'_>> {
        let mut calls = 0;
        let mut in_model = false;
        let mut in_run = false;
        let mut over = false;
        self.said.iter().rev().filter_map(move |said| {
            let begins = matches!(said, Said::Model) && !in_model;
            in_model = matches!(said, Said::Model);
            calls += usize::from(begins);
            let candidate = match said {
                Said::User(text) => Some(Candidate { text, calls }),
                Said::Model | Said::Result { .. } => None,
            };
            let own = candidate.filter(|candidate| !is_wrapped(candidate.text));
            over |= in_run && own.is_none();
            in_run |= own.is_some();
            candidate.filter(|_| !over)
        })
    }

    /// What the user said last: the newest text that no program has put into brackets, or the newest of all.
    pub(super) fn last_text(&self) -> Option<Candidate<'_>> {
        let mut all = self.candidates();
        let newest = all.next()?;
        if !is_wrapped(newest.text) {
            return Some(newest);
        }
        Some(all.find(|candidate| !is_wrapped(candidate.text)).unwrap_or(newest))
    }

    /// Roughly how many tokens the conversation has; enough for a program that shows or sums them.
    pub(super) fn tokens(&self) -> usize {
        let said: usize = self
            .said
            .iter()
            .map(|said| match said {
                Said::User(text) | Said::Result { text, .. } => text.len(),
                Said::Model => 0,
            })
            .sum();
        tokens_of(self.system.len() + said)
    }
}

/// Roughly how many tokens a text of this many bytes has.
pub(super) fn tokens_of(bytes: usize) -> usize {
    bytes / 4 + 1
}

fn is_wrapped(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

/// The texts of something that is a text, a block with a text, or a list of such.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().flat_map(texts).collect(),
        Value::Object(block) => block.get("text").map(texts).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The same, as one text.
pub(super) fn text(content: &Value) -> String {
    texts(content).join("\n")
}

/// The elements of a list, or none if it is no list.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text of a field, or an empty one.
pub(super) fn field(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}
