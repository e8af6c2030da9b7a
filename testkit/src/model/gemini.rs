//! Gemini's `generateContent`.

use serde_json::{Value, json};

use super::{
    Asked, Dialect, Offered, Said,
    asked::{Form, field, items, text},
    speech::{Answer, Part, Speech, event},
    tools::Call,
};

/// Reads a request; the model and whether it is to be streamed stand in its path.
pub(super) fn read(body: &Value, model: &str, stream: bool) -> Asked {
    let mut said = Vec::new();
    for content in items(&body["contents"]) {
        if content["role"] == "model" {
            said.push(Said::Model);
            continue;
        }
        said.extend(items(&content["parts"]).iter().filter_map(part));
    }
    let config = &body["generationConfig"];
    let declared = items(&body["tools"]).iter().flat_map(|tool| items(&tool["functionDeclarations"]));
    let tools = declared.map(|tool| {
        let schema = tool.get("parametersJsonSchema").unwrap_or(&tool["parameters"]);
        Offered { name: field(tool, "name"), namespace: None, form: Form::Function(schema.clone()) }
    });
    Asked {
        dialect: Dialect::Gemini,
        model: model.to_owned(),
        stream,
        system: text(&body["systemInstruction"]["parts"]),
        tools: tools.collect(),
        said,
        schema: config.get("responseJsonSchema").or(config.get("responseSchema")).cloned(),
    }
}

fn part(part: &Value) -> Option<Said> {
    if let Some(text) = part["text"].as_str() {
        return Some(Said::User(text.to_owned()));
    }
    let answer = part.get("functionResponse")?;
    let response = &answer["response"];
    let text = response["output"].as_str().map_or_else(|| response.to_string(), str::to_owned);
    let call = answer["id"].as_str().or(answer["name"].as_str()).unwrap_or_default().to_owned();
    Some(Said::Result { call, text })
}

/// The answer to a request that counts tokens.
pub(super) fn count(asked: &Asked) -> Value {
    json!({ "totalTokens": asked.tokens() })
}

/// An answer.
pub(super) struct Gemini {
    answer: Answer,
    /// Streamed as one JSON list instead of as events.
    as_list: bool,
    sent: usize,
}

impl Gemini {
    pub(super) fn new(answer: Answer, as_list: bool) -> Self {
        Self { answer, as_list, sent: 0 }
    }

    fn content(&self, parts: &Value, finish: Option<&str>) -> Value {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        let (input, output) = (self.answer.input_tokens, self.answer.output_tokens());
        json!({
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output,
            },
            "modelVersion": self.answer.model,
            "responseId": self.answer.id,
        })
    }

    fn chunk(&mut self, parts: &Value, finish: Option<&str>) -> String {
        let content = self.content(parts, finish);
        let first = self.sent == 0;
        self.sent += 1;
        match (self.as_list, first) {
            (false, _) => event(&content),
            (true, true) => format!("[{content}"),
            (true, false) => format!(",\n{content}"),
        }
    }
}

impl Speech for Gemini {
    fn open(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn text(&mut self, text: &str) -> Vec<String> {
        self.answer.add_text(text);
        vec![self.chunk(&json!([{ "text": text }]), None)]
    }

    fn call(&mut self, call: Call) -> Vec<String> {
        let part = call_part(&call);
        self.answer.parts.push(Part::Call(call));
        vec![self.chunk(&json!([part]), None)]
    }

    fn close(&mut self) -> Vec<String> {
        let mut last = vec![self.chunk(&json!([{ "text": "" }]), Some("STOP"))];
        last.extend(self.as_list.then(|| "]".to_owned()));
        last
    }

    fn whole(&self) -> Value {
        let parts = self.answer.parts.iter().map(|part| match part {
            Part::Text(text) => json!({ "text": text }),
            Part::Call(call) => call_part(call),
        });
        self.content(&parts.collect(), Some("STOP"))
    }
}

fn call_part(call: &Call) -> Value {
    json!({ "functionCall": { "id": call.id, "name": call.name, "args": call.input.object() } })
}
