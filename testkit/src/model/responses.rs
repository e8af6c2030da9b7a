//! OpenAI's responses.

use serde_json::{Value, json};

use super::{
    Asked, Dialect, Offered, Said,
    asked::{Form, field, items, text, texts},
    speech::{Answer, Part, Speech, arguments_text, named_event},
    tools::{Call, Input},
};

/// Reads a request.
pub(super) fn read(body: &Value) -> Asked {
    let mut system = field(body, "instructions");
    let mut said = Vec::new();
    match &body["input"] {
        Value::String(text) => said.push(Said::User(text.clone())),
        input => items(input).iter().for_each(|item| read_item(item, &mut system, &mut said)),
    }
    Asked {
        dialect: Dialect::Responses,
        model: field(body, "model"),
        stream: body["stream"] == true,
        system,
        tools: offered(&body["tools"], None),
        said,
        schema: body.pointer("/text/format/schema").cloned(),
    }
}

fn read_item(item: &Value, system: &mut String, said: &mut Vec<Said>) {
    let kind = item["type"].as_str().unwrap_or("message");
    match (kind, item["role"].as_str()) {
        ("message", Some("system" | "developer")) => system.push_str(&text(&item["content"])),
        ("message", Some("user")) => said.extend(texts(&item["content"]).into_iter().map(Said::User)),
        (kind, _) if kind.ends_with("_output") => {
            let output = &item["output"];
            let output = output.get("content").unwrap_or(output);
            said.push(Said::Result { call: field(item, "call_id"), text: text(output) });
        }
        _ => said.push(Said::Model),
    }
}

fn offered(tools: &Value, namespace: Option<&str>) -> Vec<Offered> {
    let mut all = Vec::new();
    for tool in items(tools) {
        let form = match tool["type"].as_str() {
            Some("function") => Form::Function(tool["parameters"].clone()),
            Some("custom") => Form::Freeform,
            Some("local_shell") => Form::LocalShell,
            Some("namespace") => {
                all.extend(offered(&tool["tools"], tool["name"].as_str()));
                continue;
            }
            // The provider's own, such as a web search, which no program answers.
            _ => continue,
        };
        let name = tool["name"].as_str().unwrap_or("local_shell").to_owned();
        all.push(Offered { name, namespace: namespace.map(str::to_owned), form });
    }
    all
}

/// An answer.
pub(super) struct Responses {
    answer: Answer,
    sequence: u64,
    /// The items that are complete.
    output: Vec<Value>,
}

impl Responses {
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, sequence: 0, output: Vec::new() }
    }

    fn event(&mut self, name: &str, mut data: Value) -> String {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        named_event(name, &data)
    }

    fn response(&self, status: &str) -> Value {
        let done = status == "completed";
        let (input, output) = (self.answer.input_tokens, self.answer.output_tokens());
        let usage = json!({
            "input_tokens": input, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": output, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": input + output,
        });
        json!({
            "id": format!("resp_{}", self.answer.id),
            "object": "response",
            "created_at": self.answer.created,
            "status": status,
            "model": self.answer.model,
            "output": self.output,
            "parallel_tool_calls": false,
            "tool_choice": "auto",
            "tools": [],
            "error": null,
            "incomplete_details": null,
            "usage": if done { usage } else { Value::Null },
        })
    }

    fn message_id(&self) -> String {
        format!("msg_{}_{}", self.answer.id, self.output.len())
    }

    fn message(&self, status: &str, content: &Value) -> Value {
        json!({
            "id": self.message_id(), "type": "message", "status": status,
            "role": "assistant", "content": content,
        })
    }

    fn open_text(&mut self) -> Vec<String> {
        let (item_id, output_index) = (self.message_id(), self.output.len());
        let item = self.message("in_progress", &json!([]));
        let part = output_text("");
        vec![
            self.event("response.output_item.added", json!({ "output_index": output_index, "item": item })),
            self.event(
                "response.content_part.added",
                json!({ "item_id": item_id, "output_index": output_index, "content_index": 0, "part": part }),
            ),
        ]
    }

    /// Completes the message that is being said, if one is.
    fn close_text(&mut self) -> Vec<String> {
        let done = self.output.len();
        let Some(Part::Text(text)) = self.answer.parts.get(done).cloned() else { return Vec::new() };
        let (item_id, part) = (self.message_id(), output_text(&text));
        let item = self.message("completed", &json!([part]));
        self.output.push(item.clone());
        let at = json!({ "item_id": item_id, "output_index": done, "content_index": 0 });
        vec![
            self.event("response.output_text.done", with(&at, json!({ "text": text, "logprobs": [] }))),
            self.event("response.content_part.done", with(&at, json!({ "part": part }))),
            self.event("response.output_item.done", json!({ "output_index": done, "item": item })),
        ]
    }
}

impl Speech for Responses {
    fn open(&mut self) -> Vec<String> {
        let response = self.response("in_progress");
        vec![
            self.event("response.created", json!({ "response": response })),
            self.event("response.in_progress", json!({ "response": response })),
        ]
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        let mut events = if self.answer.add_text(text) { self.open_text() } else { Vec::new() };
        let data = json!({
            "item_id": self.message_id(), "output_index": self.output.len(), "content_index": 0,
            "delta": text, "logprobs": [],
        });
        events.push(self.event("response.output_text.delta", data));
        events
    }

    fn call(&mut self, call: Call) -> Vec<String> {
        let mut events = self.close_text();
        let index = self.output.len();
        let id = format!("fc_{}_{index}", self.answer.id);
        let (begun, done) = (call_item(&id, &call, false), call_item(&id, &call, true));
        events
            .push(self.event("response.output_item.added", json!({ "output_index": index, "item": begun })));
        let at = json!({ "item_id": id, "output_index": index });
        let pieces = match &call.input {
            Input::Arguments(_) => {
                Some(("response.function_call_arguments", "arguments", arguments_text(&call.input)))
            }
            Input::Text(text) => Some(("response.custom_tool_call_input", "input", text.clone())),
            Input::Command(_) => None,
        };
        if let Some((name, field, text)) = pieces {
            events.push(self.event(&format!("{name}.delta"), with(&at, json!({ "delta": text }))));
            events.push(self.event(&format!("{name}.done"), with(&at, json!({ field: text }))));
        }
        events.push(self.event("response.output_item.done", json!({ "output_index": index, "item": done })));
        self.output.push(done);
        self.answer.parts.push(Part::Call(call));
        events
    }

    fn close(&mut self) -> Vec<String> {
        let mut events = self.close_text();
        let response = self.response("completed");
        events.push(self.event("response.completed", json!({ "response": response })));
        events
    }

    fn whole(&self) -> Value {
        self.response("completed")
    }
}

fn output_text(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

fn call_item(id: &str, call: &Call, done: bool) -> Value {
    let status = if done { "completed" } else { "in_progress" };
    let mut item = match &call.input {
        Input::Arguments(_) => json!({
            "id": id, "type": "function_call", "status": status, "call_id": call.id, "name": call.name,
            "arguments": if done { arguments_text(&call.input) } else { String::new() },
        }),
        Input::Text(text) => json!({
            "id": id, "type": "custom_tool_call", "status": status, "call_id": call.id, "name": call.name,
            "input": if done { text.as_str() } else { "" },
        }),
        Input::Command(words) => json!({
            "id": id, "type": "local_shell_call", "status": status, "call_id": call.id,
            "action": { "type": "exec", "command": words, "env": {} },
        }),
    };
    if let Some(namespace) = &call.namespace {
        item["namespace"] = json!(namespace);
    }
    item
}

fn with(base: &Value, more: Value) -> Value {
    let mut all = base.clone();
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
}
