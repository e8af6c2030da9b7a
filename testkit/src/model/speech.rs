//! What a dialect does with an answer: parts of it as they come, and all of it at the end.

use serde_json::{Value, json};

use super::{
    Asked, Dialect,
    anthropic::Anthropic,
    asked::tokens_of,
    chat::Chat,
    gemini::Gemini,
    responses::Responses,
    tools::{Call, Input},
};

/// A part of an answer.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(String),
    Call(Call),
}

/// An answer as far as it has been given.
#[derive(Debug)]
pub(super) struct Answer {
    /// Unlike that of any other answer.
    pub(super) id: String,
    pub(super) model: String,
    /// Seconds since 1970.
    pub(super) created: i64,
    pub(super) parts: Vec<Part>,
    pub(super) input_tokens: usize,
}

impl Answer {
    pub(super) fn new(asked: &Asked, id: String, created: i64) -> Self {
        let model = asked.model.clone();
        Self { id, model, created, parts: Vec::new(), input_tokens: asked.tokens() }
    }

    /// Adds text to the last part, or begins a new one; says whether it did.
    pub(super) fn add_text(&mut self, text: &str) -> bool {
        if let Some(Part::Text(so_far)) = self.parts.last_mut() {
            so_far.push_str(text);
            return false;
        }
        self.parts.push(Part::Text(text.to_owned()));
        true
    }

    /// Everything that it says.
    pub(super) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Call(_) => None,
        });
        texts.collect()
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text(_) => None,
        })
    }

    pub(super) fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    pub(super) fn output_tokens(&self) -> usize {
        tokens_of(self.text().len())
    }
}

/// An answer in a dialect. What it gives back is to be sent at once when the answer is streamed.
pub(super) trait Speech: Send {
    /// Before anything else.
    fn open(&mut self) -> Vec<String>;
    /// A piece of text.
    fn text(&mut self, text: &str) -> Vec<String>;
    /// A tool call.
    fn call(&mut self, call: Call) -> Vec<String>;
    /// After everything else.
    fn close(&mut self) -> Vec<String>;
    /// All of it, for an answer that is not streamed.
    fn whole(&self) -> Value;
}

/// An answer to a request, in its dialect.
pub(super) fn speak(asked: &Asked, answer: Answer, as_list: bool) -> Box<dyn Speech> {
    match asked.dialect {
        Dialect::Chat => Box::new(Chat::new(answer)),
        Dialect::Responses => Box::new(Responses::new(answer)),
        Dialect::Anthropic => Box::new(Anthropic::new(answer)),
        Dialect::Gemini => Box::new(Gemini::new(answer, as_list)),
    }
}

/// A server-sent event without a name.
pub(super) fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A server-sent event with a name.
pub(super) fn named_event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// The arguments of a call as JSON text.
pub(super) fn arguments_text(input: &Input) -> String {
    input.object().to_string()
}

/// What a provider says when not a moment's but a day's or a month's share is used up. Programs tell the two apart by it.
pub(super) fn quota_body(dialect: Dialect) -> Value {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    match dialect {
        Dialect::Chat | Dialect::Responses => {
            let kind = "insufficient_quota";
            json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
        }
        Dialect::Anthropic => error_body(dialect, 429, "You have hit your usage limit."),
        Dialect::Gemini => {
            let mut body = error_body(dialect, 429, message);
            body["error"]["details"] = json!([{
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [{
                    "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                    "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                    "quotaValue": "250",
                }],
            }]);
            body
        }
    }
}

/// The body of an error in a dialect.
pub(super) fn error_body(dialect: Dialect, status: u16, message: &str) -> Value {
    let limited = status == 429;
    match dialect {
        Dialect::Chat | Dialect::Responses => {
            let kind = if limited { "rate_limit_exceeded" } else { "server_error" };
            json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
        }
        Dialect::Anthropic => {
            let kind = match status {
                429 => "rate_limit_error",
                400 => "invalid_request_error",
                529 => "overloaded_error",
                _ => "api_error",
            };
            json!({ "type": "error", "error": { "type": kind, "message": message } })
        }
        Dialect::Gemini => {
            let kind = match status {
                429 => "RESOURCE_EXHAUSTED",
                400 => "INVALID_ARGUMENT",
                503 => "UNAVAILABLE",
                _ => "INTERNAL",
            };
            json!({ "error": { "code": status, "message": message, "status": kind } })
        }
    }
}
