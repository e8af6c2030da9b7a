//! The schemas of the standard, as a validator takes them.
//!
//! The strict schemas look for the public ones beside themselves, which name another host as theirs; so the public ones
//! are known under both of their names.

use jsonschema::{Registry, Validator};
use serde_json::Value;

const BASE: &str = "https://limecloud.github.io/agentruntime/schemas/";
const EVENT: &str = include_str!("../vendor/schemas/agentruntime-event.schema.json");
const SNAPSHOT: &str = include_str!("../vendor/schemas/agentruntime-snapshot.schema.json");
const LIME_EVENT: &str = include_str!("../vendor/schemas/agentruntime-lime-profile-event.schema.json");
const LIME_SNAPSHOT: &str = include_str!("../vendor/schemas/agentruntime-lime-profile-snapshot.schema.json");

/// Why a schema cannot be used: it is not what was copied.
#[derive(Debug, thiserror::Error)]
#[error("the schema `{name}` cannot be used: {why}")]
pub struct SchemaError {
    name: &'static str,
    why: String,
}

/// The four of them.
#[derive(Debug)]
pub struct Schemas {
    event: Validator,
    snapshot: Validator,
    strict_event: Validator,
    strict_snapshot: Validator,
}

/// In which form something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What everybody has to keep to.
    Public,
    /// What the strict profile demands.
    Strict,
}

impl Schemas {
    /// Reads them.
    ///
    /// # Errors
    /// If one of them is none.
    pub fn load() -> Result<Self, SchemaError> {
        Ok(Self {
            event: validator("event", EVENT)?,
            snapshot: validator("snapshot", SNAPSHOT)?,
            strict_event: validator("strict event", LIME_EVENT)?,
            strict_snapshot: validator("strict snapshot", LIME_SNAPSHOT)?,
        })
    }

    /// What is wrong with an event.
    #[must_use]
    pub fn event(&self, form: Form, event: &Value) -> Vec<String> {
        problems(if form == Form::Strict { &self.strict_event } else { &self.event }, event)
    }

    /// What is wrong with a snapshot.
    #[must_use]
    pub fn snapshot(&self, form: Form, snapshot: &Value) -> Vec<String> {
        problems(if form == Form::Strict { &self.strict_snapshot } else { &self.snapshot }, snapshot)
    }
}

fn validator(name: &'static str, text: &str) -> Result<Validator, SchemaError> {
    let wrong = |why: String| SchemaError { name, why };
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| wrong(error.to_string()));
    let mut registry = Registry::new();
    for (public, text) in [("agentruntime-event", EVENT), ("agentruntime-snapshot", SNAPSHOT)] {
        registry = registry
            .add(format!("{BASE}{public}.schema.json"), json(text)?)
            .map_err(|error| wrong(error.to_string()))?;
    }
    let registry = registry.prepare().map_err(|error| wrong(error.to_string()))?;
    jsonschema::options()
        .with_registry(&registry)
        .should_validate_formats(true)
        .build(&json(text)?)
        .map_err(|error| wrong(error.to_string()))
}

fn problems(validator: &Validator, value: &Value) -> Vec<String> {
    let all = validator.iter_errors(value);
    all.map(|error| format!("at `{}`: {error}", error.instance_path())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Form, Schemas};

    fn fixture(name: &str) -> Value {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor/fixtures").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn what_edgeplane_publishes_is_valid() {
        let schemas = Schemas::load().unwrap();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("published");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let example: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let wrong = match path.ends_with("snapshot.json") {
                true => schemas.snapshot(Form::Strict, &example),
                false => schemas.event(Form::Strict, &example),
            };
            assert_eq!(wrong, Vec::<String>::new(), "{}", path.display());
            count += 1;
        }
        assert_eq!(count, 6);
    }

    /// So a mistake in how the schemas refer to each other would be seen.
    #[test]
    fn the_standards_own_fixtures_are_valid_and_others_are_not() {
        let schemas = Schemas::load().unwrap();
        for name in [
            "evidence-export-event",
            "routing-single-candidate-event",
            "submit-turn-event",
            "task-retry-attempt-failed-event",
            "tool-approval-action-required-event",
        ] {
            let event = fixture(&format!("{name}.json"));
            assert_eq!(schemas.event(Form::Strict, &event), Vec::<String>::new(), "{name}");
        }
        let snapshot = fixture("thread-read-snapshot.json");
        assert_eq!(schemas.snapshot(Form::Strict, &snapshot), Vec::<String>::new());
        let mut bad = fixture("submit-turn-event.json");
        bad["actionId"] = Value::from(5);
        assert!(!schemas.event(Form::Strict, &bad).is_empty(), "what only the public schema says is checked");
        bad["type"] = Value::from("vendor.specific");
        assert!(!schemas.event(Form::Public, &bad).is_empty());
    }
}
