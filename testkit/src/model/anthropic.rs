//! Anthropic's messages.

use serde_json::{Value, json};

use super::{
    Asked, Dialect, Offered, Said,
    asked::{Form, field, items, text},
    speech::{Answer, Part, Speech, arguments_text, named_event},
    tools::Call,
};

/// Reads a request.
pub(super) fn read(body: &Value) -> Asked {
    let mut said = Vec::new();
    for message in items(&body["messages"]) {
        if message["role"] == "assistant" {
            said.push(Said::Model);
            continue;
        }
        match &message["content"] {
            Value::String(text) => said.push(Said::User(text.clone())),
            blocks => said.extend(items(blocks).iter().filter_map(block)),
        }
    }
    let tools = items(&body["tools"]).iter().map(|tool| Offered {
        name: field(tool, "name"),
        namespace: None,
        form: Form::Function(tool["input_schema"].clone()),
    });
    Asked {
        dialect: Dialect::Anthropic,
        model: field(body, "model"),
        stream: body["stream"] == true,
        system: text(&body["system"]),
        tools: tools.collect(),
        said,
        schema: body.pointer("/output_config/format/schema").cloned(),
    }
}

fn block(block: &Value) -> Option<Said> {
    match block["type"].as_str()? {
        "text" => Some(Said::User(field(block, "text"))),
        "tool_result" => {
            Some(Said::Result { call: field(block, "tool_use_id"), text: text(&block["content"]) })
        }
        _ => None,
    }
}

/// The answer to a request that counts tokens.
pub(super) fn count(asked: &Asked) -> Value {
    json!({ "input_tokens": asked.tokens() })
}

/// An answer.
pub(super) struct Anthropic {
    answer: Answer,
}

impl Anthropic {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer }
    }

    fn message(&self, content: &Value, stop: Option<&str>, output_tokens: usize) -> Value {
        json!({
            "id": format!("msg_{}", self.answer.id),
            "type": "message",
            "role": "assistant",
            "model": self.answer.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.answer.input_tokens, "output_tokens": output_tokens,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            },
        })
    }

    fn stop(&self) -> &'static str {
        if self.answer.has_calls() { "tool_use" } else { "end_turn" }
    }

    /// Ends the block of text that is open, if one is.
    fn close_text(&self) -> Option<String> {
        let Some(Part::Text(_)) = self.answer.parts.last() else { return None };
        let index = self.answer.parts.len().saturating_sub(1);
        Some(event("content_block_stop", json!({ "index": index })))
    }
}

impl Speech for Anthropic {
    fn open(&mut self) -> Vec<String> {
        let message = self.message(&json!([]), None, 1);
        vec![event("message_start", json!({ "message": message })), event("ping", json!({}))]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        let begins = self.answer.add_text(text);
        let index = self.answer.parts.len().saturating_sub(1);
        let block = json!({ "index": index, "content_block": { "type": "text", "text": "" } });
        let delta = json!({ "index": index, "delta": { "type": "text_delta", "text": text } });
        let begun = begins.then(|| event("content_block_start", block));
        begun.into_iter().chain([event("content_block_delta", delta)]).collect()
    }

    fn call(&mut self, call: Call) -> Vec<String> {
        let mut events: Vec<String> = self.close_text().into_iter().collect();
        let index = self.answer.parts.len();
        let json = arguments_text(&call.input);
        let block = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        let delta = json!({ "type": "input_json_delta", "partial_json": json });
        events.push(event("content_block_start", json!({ "index": index, "content_block": block })));
        events.push(event("content_block_delta", json!({ "index": index, "delta": delta })));
        events.push(event("content_block_stop", json!({ "index": index })));
        self.answer.parts.push(Part::Call(call));
        events
    }

    fn close(&mut self) -> Vec<String> {
        let mut events: Vec<String> = self.close_text().into_iter().collect();
        let delta = json!({ "stop_reason": self.stop(), "stop_sequence": null });
        let usage = json!({ "output_tokens": self.answer.output_tokens() });
        events.push(event("message_delta", json!({ "delta": delta, "usage": usage })));
        events.push(event("message_stop", json!({})));
        events
    }

    fn whole(&self) -> Value {
        let content = self.answer.parts.iter().map(|part| match part {
            Part::Text(text) => json!({ "type": "text", "text": text }),
            Part::Call(call) => {
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.input.object() })
            }
        });
        self.message(&content.collect(), Some(self.stop()), self.answer.output_tokens())
    }
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    named_event(name, &data)
}
