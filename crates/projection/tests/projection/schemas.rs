//! The schemas of Agent Runtime, as a validator takes them.

use std::{fs, path::Path};

use jsonschema::{Registry, Validator};
use serde_json::Value;

/// Where the strict schemas look for the public ones, which name another host as theirs.
const BASE: &str = "https://limecloud.github.io/agentruntime/schemas/";

pub(crate) fn file(name: &str) -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agent-runtime/vendor").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

/// The schema of this name with the public ones under both of their names.
pub(crate) fn validator(name: &str) -> Validator {
    let mut registry = Registry::new();
    for public in ["agentruntime-event", "agentruntime-snapshot"] {
        let name = format!("{public}.schema.json");
        let schema = file(&format!("schemas/{name}"));
        registry = registry.add(format!("{BASE}{name}"), schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    jsonschema::options()
        .with_registry(&registry)
        .should_validate_formats(true)
        .build(&file(&format!("schemas/{name}.schema.json")))
        .unwrap()
}

pub(crate) fn check(validator: &Validator, value: &Value) {
    let wrong: Vec<_> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{}\n{value:#}", wrong.join("\n"));
}

/// The fixtures of the standard itself meet its schemas by this validator, and what lacks a demanded id does not: so
/// a mistake in the way the schemas refer to each other would be seen.
#[test]
fn the_standards_own_fixtures_are_valid_and_others_are_not() {
    let event = validator("agentruntime-lime-profile-event");
    for name in [
        "evidence-export-event",
        "routing-single-candidate-event",
        "submit-turn-event",
        "task-retry-attempt-failed-event",
        "tool-approval-action-required-event",
    ] {
        check(&event, &file(&format!("fixtures/{name}.json")));
    }
    check(&validator("agentruntime-lime-profile-snapshot"), &file("fixtures/thread-read-snapshot.json"));
    let good = file("fixtures/submit-turn-event.json");
    for member in ["type", "eventId", "timestamp", "sessionId", "turnId", "threadId", "sequence", "payload"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(member);
        assert!(!event.is_valid(&bad), "{member}");
    }
    let mut bad = good;
    bad["actionId"] = Value::from(5);
    assert!(!event.is_valid(&bad), "what only the public schema says is checked, too");
}
