//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{
    Asked, Dialect, Offered, Said,
    asked::{Form, field, items, text, texts},
    speech::{Answer, Part, Speech, arguments_text, event},
    tools::Call,
};

/// Reads a request.
pub(super) fn read(body: &Value) -> Asked {
    let mut system = String::new();
    let mut said = Vec::new();
    for message in items(&body["messages"]) {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("system" | "developer") => system.push_str(&text(content)),
            Some("assistant") => said.push(Said::Model),
            Some("tool") => {
                said.push(Said::Result { call: field(message, "tool_call_id"), text: text(content) });
            }
            _ => said.extend(texts(content).into_iter().map(Said::User)),
        }
    }
    let tools = items(&body["tools"]).iter().map(|tool| match tool.get("custom") {
        Some(custom) => offered(custom, Form::Freeform),
        None => offered(&tool["function"], Form::Function(tool["function"]["parameters"].clone())),
    });
    Asked {
        dialect: Dialect::Chat,
        model: field(body, "model"),
        stream: body["stream"] == true,
        system,
        tools: tools.collect(),
        said,
        schema: body.pointer("/response_format/json_schema/schema").cloned(),
    }
}

fn offered(tool: &Value, form: Form) -> Offered {
    Offered { name: field(tool, "name"), namespace: None, form }
}

/// An answer.
pub(super) struct Chat {
    answer: Answer,
}

impl Chat {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer }
    }

    fn chunk(&self, delta: &Value, finish: Option<&str>) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.answer.id),
            "object": "chat.completion.chunk",
            "created": self.answer.created,
            "model": self.answer.model,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    }

    fn finish(&self) -> &'static str {
        if self.answer.has_calls() { "tool_calls" } else { "stop" }
    }

    fn usage(&self) -> Value {
        let (input, output) = (self.answer.input_tokens, self.answer.output_tokens());
        json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output })
    }
}

impl Speech for Chat {
    fn open(&mut self) -> Vec<String> {
        vec![event(&self.chunk(&json!({ "role": "assistant", "content": "" }), None))]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        self.answer.add_text(text);
        vec![event(&self.chunk(&json!({ "content": text }), None))]
    }

    fn call(&mut self, call: Call) -> Vec<String> {
        let index = self.answer.calls().count();
        let begun = json!({ "tool_calls": [{
            "index": index, "id": call.id, "type": "function",
            "function": { "name": call.name, "arguments": "" },
        }] });
        let arguments = json!({ "tool_calls": [{
            "index": index, "function": { "arguments": arguments_text(&call.input) },
        }] });
        self.answer.parts.push(Part::Call(call));
        [begun, arguments].map(|delta| event(&self.chunk(&delta, None))).into()
    }

    fn close(&mut self) -> Vec<String> {
        let last = self.chunk(&json!({}), Some(self.finish()));
        let mut usage = self.chunk(&json!({}), None);
        usage["choices"] = json!([]);
        usage["usage"] = self.usage();
        vec![event(&last), event(&usage), "data: [DONE]\n\n".to_owned()]
    }

    fn whole(&self) -> Value {
        let calls = self.answer.calls().map(|call| {
            json!({
                "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": arguments_text(&call.input) },
            })
        });
        let calls: Vec<Value> = calls.collect();
        let mut message = json!({ "role": "assistant", "content": self.answer.text() });
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        json!({
            "id": format!("chatcmpl-{}", self.answer.id),
            "object": "chat.completion",
            "created": self.answer.created,
            "model": self.answer.model,
            "choices": [{ "index": 0, "message": message, "finish_reason": self.finish() }],
            "usage": self.usage(),
        })
    }
}
