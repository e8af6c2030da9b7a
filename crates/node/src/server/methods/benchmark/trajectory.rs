//! What an agent was told, said and did in a trial, in the Agent Trajectory Interchange Format (ATIF, v1.4).
//!
//! Made of the entries of its transcript. What a program said of its tools it said in its own words: a name, an input and
//! a result are taken where those words have them, and nothing is made up where they do not.

use std::collections::BTreeMap;

use edgeplane_wire::api::report::{Spoken, TranscriptEntry};
use serde_json::{Map, Value, json};

/// The form that is written.
pub(super) const SCHEMA: &str = "ATIF-v1.4";

/// Most entries of a transcript that a trajectory is made of.
pub(super) const ENTRIES_MAX: usize = 10_000;

/// What stands instead of the value of a secret.
const MASK: &str = "[withheld: a secret]";

/// A trajectory in the making.
#[derive(Default)]
struct Steps {
    steps: Vec<Value>,
    has_words: bool,
    /// Where each use of a tool is.
    calls: BTreeMap<String, usize>,
}

/// The steps of a transcript.
pub(super) fn steps(entries: &[TranscriptEntry]) -> Vec<Value> {
    let mut made = Steps::default();
    for entry in entries {
        made.take(entry);
    }
    made.steps
}

fn word(entry: &TranscriptEntry) -> &str {
    entry.kind.as_ref().map_or("", |kind| kind.as_str())
}

impl Steps {
    /// Adds a step with what it has beside its message.
    fn push(&mut self, entry: &TranscriptEntry, (source, message): (&str, &str), more: Value) {
        let mut step = json!({
            "step_id": self.steps.len().saturating_add(1),
            "timestamp": entry.at, "source": source, "message": message,
        });
        if let (Value::Object(step), Value::Object(more)) = (&mut step, more) {
            step.extend(more);
        }
        self.steps.push(step);
    }

    fn take(&mut self, entry: &TranscriptEntry) {
        let text = entry.text.as_deref().unwrap_or_default();
        match (entry.spoken, word(entry)) {
            (Spoken::Message, _) => self.push(entry, ("user", text), Value::Null),
            (Spoken::Piece, "text") | (Spoken::Item, _) => {
                self.has_words = true;
                self.push(entry, ("agent", text), Value::Null);
            }
            (Spoken::Piece, "thought") => {
                self.push(entry, ("agent", ""), json!({ "reasoning_content": text }))
            }
            (Spoken::Piece, "tool_call") => self.tool(entry),
            (Spoken::Turn, _) if !self.has_words && !text.is_empty() => {
                self.push(entry, ("agent", text), Value::Null);
            }
            (Spoken::Command, _) => self.command(entry),
            (Spoken::Usage, _) => self.usage(entry),
            (Spoken::File, _) => {
                let more = json!({ "extra": entry.data });
                self.push(entry, ("system", "a file was written for the agent"), more);
            }
            (Spoken::Question, _) => {
                self.push(entry, ("system", &format!("leave is asked for: {text}")), Value::Null);
            }
            (Spoken::Decision, _) => {
                let status = entry.status.as_ref().map_or("", |status| status.as_str());
                let reason = if text.is_empty() { String::new() } else { format!(": {text}") };
                self.push(entry, ("system", &format!("it was decided: {status}{reason}")), Value::Null);
            }
            _ => {}
        }
    }

    /// The step that uses a tool, if it is there already.
    fn of_call(&mut self, id: &str) -> Option<&mut Map<String, Value>> {
        let place = *self.calls.get(id)?;
        self.steps.get_mut(place).and_then(Value::as_object_mut)
    }

    fn call(&mut self, entry: &TranscriptEntry, id: &str, (name, arguments): (&str, Value)) {
        let arguments = match arguments {
            object @ Value::Object(_) => object,
            Value::Null => json!({}),
            other => json!({ "input": other }),
        };
        self.calls.insert(id.to_owned(), self.steps.len());
        let call = json!([{ "tool_call_id": id, "function_name": name, "arguments": arguments }]);
        self.push(entry, ("agent", ""), json!({ "tool_calls": call }));
    }

    fn observe(&mut self, id: &str, content: &str) {
        let Some(step) = self.of_call(id) else { return };
        let observed = json!({ "results": [{ "source_call_id": id, "content": content }] });
        step.insert("observation".to_owned(), observed);
    }

    /// A use of a tool, as far as it is: later pieces say more of the same use.
    fn tool(&mut self, entry: &TranscriptEntry) {
        let data = entry.data.clone().unwrap_or_default();
        let id = entry.item_id.map_or_else(|| format!("seq_{}", entry.seq), |id| id.to_string());
        let input = data.get("rawInput").or_else(|| data.get("input")).cloned().unwrap_or_default();
        if self.of_call(&id).is_none() {
            let named =
                ["title", "name", "kind"].iter().find_map(|key| data.get(key).and_then(Value::as_str));
            self.call(entry, &id, (named.unwrap_or("unknown"), input));
        } else if let (Value::Object(_), Some(step)) = (&input, self.of_call(&id))
            && let Some(place) =
                step.get_mut("tool_calls").and_then(|calls| calls.pointer_mut("/0/arguments"))
        {
            *place = input;
        }
        let result = ["rawOutput", "output", "content"].iter().find_map(|key| data.get(key));
        if let Some(result) = result.filter(|result| !is_nothing(result)) {
            let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
            self.observe(&id, &text);
        }
        if let (Some(status), Some(step)) = (&entry.status, self.of_call(&id)) {
            step.insert("extra".to_owned(), json!({ "status": status }));
        }
    }

    fn command(&mut self, entry: &TranscriptEntry) {
        let mut data = entry.data.clone().unwrap_or_default();
        let id = data.get("process_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if word(entry) == "started" {
            data.as_object_mut().and_then(|fields| fields.remove("process_id"));
            return self.call(entry, &id, ("command", data));
        }
        self.observe(&id, entry.text.as_deref().unwrap_or_default());
        if let (Some(status), Some(step)) = (&entry.status, self.of_call(&id)) {
            step.insert("extra".to_owned(), json!({ "status": status }));
        }
    }

    /// What was used stands with the last step of the agent.
    fn usage(&mut self, entry: &TranscriptEntry) {
        let Some(data) = &entry.data else { return };
        let is_agent = |step: &&mut Value| step.get("source").and_then(Value::as_str) == Some("agent");
        let step = self.steps.iter_mut().rev().find(is_agent);
        let Some(step) = step.and_then(Value::as_object_mut) else { return };
        let mut metrics = Map::new();
        for (from, to) in [("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")] {
            if let Some(value) = data.get(from) {
                metrics.insert(to.to_owned(), value.clone());
            }
        }
        metrics.insert("extra".to_owned(), data.clone());
        step.insert("metrics".to_owned(), Value::Object(metrics));
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Takes the values of secrets out of every text; says whether there were any.
pub(super) fn mask(value: &mut Value, secrets: &[String]) -> bool {
    match value {
        Value::String(text) => {
            let held: Vec<_> = secrets.iter().filter(|secret| text.contains(secret.as_str())).collect();
            for secret in &held {
                *text = text.replace(secret.as_str(), MASK);
            }
            !held.is_empty()
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items {
                found |= mask(item, secrets);
            }
            found
        }
        Value::Object(fields) => {
            // A key cannot be renamed in place, and may hold one too.
            let named: Vec<String> = fields
                .keys()
                .filter(|key| secrets.iter().any(|secret| key.contains(secret.as_str())))
                .cloned()
                .collect();
            for key in &named {
                fields.remove(key);
            }
            let mut found = !named.is_empty();
            for value in fields.values_mut() {
                found |= mask(value, secrets);
            }
            found
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves BEN-031.
    #[test]
    fn no_value_of_a_secret_is_left_wherever_it_stands() {
        let secrets = ["hunter2".to_owned(), "s3cret".to_owned()];
        let mut document = json!({
            "steps": [
                { "message": "it is hunter2, hunter2", "tool_calls": [{ "arguments": { "a": "s3cret", "hunter2": 1 } }] },
                { "message": "and s3cret" },
            ],
        });
        assert!(mask(&mut document, &secrets));
        let text = document.to_string();
        assert!(!text.contains("hunter2") && !text.contains("s3cret"), "{text}");
        assert!(!mask(&mut document, &secrets));
    }
}
