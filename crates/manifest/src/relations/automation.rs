//! Rules of automations: events have known names, a task has somebody, placeholders are closed, nothing is a secret.

use edgeplane_types::fact::TYPE_NAMES;
use serde_json::Value;

use super::{Findings, own_name, timing};
use crate::{
    AutomationAct, AutomationManifest, AutomationTrigger,
    problem::{Finding, Step, nearest, quoted},
    secret::{is_secret_key, looks_secret},
    tree::Node,
};

/// Events of which there may be thousands a second, and those of automations themselves: nothing is done for each.
const NOT_FOR_AUTOMATIONS: [&str; 6] = [
    "item.reported",
    "item.updated",
    "usage.reported",
    "automation.fired",
    "automation.ended",
    "automation.skipped",
];

/// What begins a placeholder.
const PLACEHOLDER: &str = "${";

/// Finds what is wrong between the fields of an automation, which was read from `node`.
pub(crate) fn check(manifest: &AutomationManifest, node: &Node) -> Vec<Finding> {
    let mut findings = Findings { node, all: Vec::new() };
    own_name(&manifest.metadata.name, &["metadata".into(), "name".into()], &mut findings);
    let spec = &manifest.spec;
    match &spec.on {
        AutomationTrigger::Event(event) => {
            let at = path(&["on", "event", "types"]);
            for kind in &event.types {
                if !TYPE_NAMES.contains(&kind.as_str()) {
                    let hint = nearest(kind.as_str(), TYPE_NAMES.iter().copied())
                        .map(|name| format!("did you mean `{name}`?"));
                    findings.add(&at, quoted(kind.as_str()), "the name of an event", hint);
                } else if NOT_FOR_AUTOMATIONS.contains(&kind.as_str()) {
                    let expected = "an event that something is done for";
                    findings.add(&at, quoted(kind.as_str()), expected, None);
                }
            }
        }
        AutomationTrigger::Schedule(schedule) => {
            timing(&schedule.timing, &path(&["on", "schedule"]), &mut findings);
        }
        AutomationTrigger::Webhook(_) => {}
    }
    match &spec.act {
        AutomationAct::Method(method) => {
            let at = path(&["do", "method", "params"]);
            if method.params.0.contains_key("ctx") {
                let expected = "parameters of the method alone";
                findings.add(&at, "the key `ctx`".to_owned(), expected, None);
            }
            for (key, value) in &method.params.0 {
                words(key, value, &at, &mut findings);
            }
        }
        AutomationAct::Task(task) => {
            if task.agent.is_some() != task.for_labels.is_empty() {
                let found = if task.agent.is_some() { "both of them" } else { "none of them" };
                findings.add(
                    &path(&["do", "task"]),
                    found.to_owned(),
                    "one of `agent` and `forLabels`",
                    None,
                );
            }
            let text = task.text.as_ref().map(|text| ("text", text));
            for (key, text) in [("title", &task.title)].into_iter().chain(text) {
                word(text, &path(&["do", "task", key]), &mut findings);
            }
        }
    }
    findings.all
}

fn path(steps: &[&str]) -> Vec<Step> {
    std::iter::once("spec").chain(steps.iter().copied()).map(Step::from).collect()
}

fn words(key: &str, value: &Value, at: &[Step], findings: &mut Findings<'_>) {
    let at: Vec<Step> = at.iter().cloned().chain([Step::from(key)]).collect();
    held(is_secret_key(key), value, &at, findings);
}

/// What stands at a place, perhaps under a key of secrets.
fn held(is_secret: bool, value: &Value, at: &[Step], findings: &mut Findings<'_>) {
    match value {
        Value::String(_) | Value::Number(_) if is_secret => literal(at, findings),
        Value::String(text) => word(text, at, findings),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let at: Vec<Step> = at.iter().cloned().chain([Step::from(index)]).collect();
                held(is_secret, item, &at, findings);
            }
        }
        Value::Object(entries) => entries.iter().for_each(|(key, value)| words(key, value, at, findings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Each placeholder in a text ends.
fn word(text: &str, at: &[Step], findings: &mut Findings<'_>) {
    if looks_secret(text) {
        return literal(at, findings);
    }
    let is_open = |part: &str| !part.contains('}');
    if text.split(PLACEHOLDER).skip(1).any(is_open) {
        findings.add(at, "a placeholder without an end".to_owned(), "`${event.PLACE}`", None);
    }
}

/// Never says the value: whoever reads the message may be another than who wrote it.
fn literal(at: &[Step], findings: &mut Findings<'_>) {
    findings.add(at, "a secret written out".to_owned(), "nothing that is a secret", None);
}
