//! What a trial saw of a program: what it says of itself, or shows.

use edgeplane_wire::api::report::TranscriptEntry;
use serde::Serialize;
use serde_json::{Map, Value};

/// Names of a list that a line shows.
const NAMES_MAX: usize = 12;

/// What was seen.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seen {
    /// The program and its version, as it says them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol_version: Option<u64>,
    /// How long it took until it could be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ready_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Offer::is_nothing")]
    pub(super) modes: Offer,
    #[serde(skip_serializing_if = "Offer::is_nothing")]
    pub(super) models: Offer,
    /// The ways in which it can be logged in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logins: Vec<Login>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) capabilities: Map<String, Value>,
    /// What a turn answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// What its terminal shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) screen: Option<String>,
    /// What it printed last, where it did not work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) last_lines: Vec<String>,
}

/// What can be chosen, and what is chosen.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Offer {
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    offered: Vec<String>,
}

/// A way to log in.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Login {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl Offer {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn text(&self) -> String {
        let name = |name: &String| {
            if self.current.as_ref() == Some(name) { format!("{name} (now)") } else { name.clone() }
        };
        let mut names: Vec<String> = self.offered.iter().take(NAMES_MAX).map(name).collect();
        let more = self.offered.len().saturating_sub(NAMES_MAX);
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        names.join(", ")
    }
}

fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn items<'a>(value: &'a Value, at: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(at).and_then(Value::as_array).into_iter().flatten()
}

impl Seen {
    /// What a program said when it was greeted.
    pub(super) fn greeting(&mut self, greeting: &Value) {
        self.protocol_version = greeting.get("protocolVersion").and_then(Value::as_u64);
        let info = greeting.get("agentInfo");
        if let Some(name) = info.and_then(|info| text_of(info, "name")) {
            let version = info.and_then(|info| text_of(info, "version")).unwrap_or_default();
            self.program = Some(format!("{name} {version}").trim_end().to_owned());
        }
        if let Some(Value::Object(capabilities)) = greeting.get("agentCapabilities") {
            self.capabilities.clone_from(capabilities);
        }
        self.logins = items(greeting, "/authMethods")
            .filter_map(|login| {
                let description = text_of(login, "description").or_else(|| text_of(login, "name"));
                Some(Login { id: text_of(login, "id")?, description })
            })
            .collect();
    }

    /// What its session offers.
    pub(super) fn session(&mut self, entry: &TranscriptEntry) {
        let Some(data) = &entry.data else { return };
        self.program = text_of(data, "program").or(self.program.take());
        let Some(session) = data.pointer("/details/session") else { return };
        self.modes = offer(session, ("/modes/currentModeId", "/modes/availableModes"), "id", "mode");
        self.models =
            offer(session, ("/models/currentModelId", "/models/availableModels"), "modelId", "model");
    }

    /// What of it a person wants to read.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let logins = self.logins.iter().map(|login| match &login.description {
            Some(description) => format!("{} ({description})", login.id),
            None => login.id.clone(),
        });
        let rows = [
            ("program", self.program.clone().unwrap_or_default()),
            ("ready after", self.ready_after_ms.map(|ms| format!("{ms} ms")).unwrap_or_default()),
            ("modes", self.modes.text()),
            ("models", self.models.text()),
            ("logins", logins.collect::<Vec<_>>().join(", ")),
            ("capabilities", capabilities(&self.capabilities).join(", ")),
            ("answer", self.answer.clone().unwrap_or_default()),
        ];
        rows.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }
}

/// Reads what is offered, where the protocol has it, or among the options of a session, where newer programs have it.
fn offer(session: &Value, (current, all): (&str, &str), id: &str, category: &str) -> Offer {
    let offered: Vec<String> = items(session, all).filter_map(|item| text_of(item, id)).collect();
    if !offered.is_empty() {
        let current = session.pointer(current).and_then(Value::as_str).map(str::to_owned);
        return Offer { current, offered };
    }
    let option = items(session, "/configOptions")
        .find(|option| text_of(option, "category").as_deref() == Some(category));
    option.map_or_else(Offer::default, |option| Offer {
        current: text_of(option, "currentValue"),
        offered: items(option, "/options").filter_map(|item| text_of(item, "value")).collect(),
    })
}

/// The names of what is not false or empty.
fn capabilities(found: &Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    for (name, value) in found.iter().filter(|(name, _)| !name.starts_with('_')) {
        match value {
            Value::Object(inner) => {
                names.extend(
                    inner.iter().filter(|(_, value)| is_on(value)).map(|(key, _)| format!("{name}.{key}")),
                );
            }
            other if is_on(other) => names.push(name.clone()),
            _ => {}
        }
    }
    names
}

fn is_on(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves DRV-054.
    #[test]
    fn what_programs_offer_is_read_in_both_forms() {
        let options = json!({ "configOptions": [
            { "id": "model", "category": "model", "currentValue": "b", "options": [{ "value": "a" }, { "value": "b" }] },
            { "id": "mode", "category": "mode", "options": [{ "value": "build" }] } ] });
        let models =
            offer(&options, ("/models/currentModelId", "/models/availableModels"), "modelId", "model");
        assert_eq!(models.text(), "a, b (now)");
        let lists = json!({ "modes": { "currentModeId": "ask", "availableModes": [{ "id": "ask" }, { "id": "code" }] } });
        let modes = offer(&lists, ("/modes/currentModeId", "/modes/availableModes"), "id", "mode");
        assert_eq!(modes.text(), "ask (now), code");
        let mut seen = Seen::default();
        seen.greeting(&json!({ "protocolVersion": 1, "agentInfo": { "name": "x" }, "authMethods": [{ "id": "key" }, 7],
            "agentCapabilities": { "loadSession": true, "_meta": {}, "p": { "image": true, "audio": false } } }));
        let rows = seen.rows();
        assert_eq!(
            rows,
            [
                ("program", "x".to_owned()),
                ("logins", "key".to_owned()),
                ("capabilities", "loadSession, p.image".to_owned())
            ]
        );
    }
}
