//! Rules of workflows: names mean one step each, nothing leads in a circle, and what is referred to is there.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::AgentName;
use serde_json::Value;

use super::{Findings, own_name};
use crate::{
    StepPiece, WorkflowManifest, WorkflowSpec,
    problem::{Finding, Step, excerpt, quoted},
    tree::Node,
};

/// Finds what is wrong between the fields of a workflow, which was read from `node`.
pub(crate) fn check(manifest: &WorkflowManifest, node: &Node) -> Vec<Finding> {
    let mut findings = Findings { node, all: Vec::new() };
    own_name(&manifest.metadata.name, &["metadata".into(), "name".into()], &mut findings);
    let spec = &manifest.spec;
    let schema = spec.input.as_ref().and_then(|schema| serde_json::to_value(schema).ok());
    if schema.as_ref().is_some_and(|schema| schema.get("type").and_then(Value::as_str) != Some("object")) {
        let at = [Step::from("spec"), "input".into()];
        findings.add(&at, "another schema".to_owned(), "a schema whose `type` is `object`", None);
    }
    let keys = schema.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let names: BTreeSet<&AgentName> = spec.steps.iter().map(|step| &step.name).collect();
    let mut seen = BTreeSet::new();
    for (index, step) in spec.steps.iter().enumerate() {
        let at = |key: &str| [Step::from("spec"), "steps".into(), index.into(), key.into()];
        if !seen.insert(&step.name) {
            let found = format!("`{}` a second time", step.name);
            findings.add(&at("name"), found, "each step's name once", None);
        }
        if step.agent.is_some() != step.labels.is_empty() {
            let found = if step.agent.is_some() { "both of them" } else { "none of them" };
            findings.add(&at("agent"), found.to_owned(), "one of `agent` and `labels`", None);
        }
        for other in &step.depends_on {
            if !names.contains(other) {
                findings.add(&at("dependsOn"), quoted(other.as_str()), "a step of this workflow", None);
            }
        }
        for piece in step.pieces() {
            let (found, expected) = match piece {
                StepPiece::Text(_) | StepPiece::Literal => continue,
                StepPiece::Input(key) if keys.is_none_or(|keys| keys.contains_key(key)) => continue,
                StepPiece::Output(name) if step.depends_on.iter().any(|other| other.as_str() == name) => {
                    continue;
                }
                StepPiece::Input(key) => (key, "a key that `input` describes"),
                StepPiece::Output(name) => (name, "the output of a step that `dependsOn` names"),
                StepPiece::Unknown(text) => (text, "`${input.KEY}` or `${steps.NAME.output}`"),
            };
            let hint = "`$${` stands for `${`".to_owned();
            findings.add(&at("text"), excerpt(found), expected, Some(hint));
        }
    }
    if let Some(index) = circle(spec) {
        let at = [Step::from("spec"), "steps".into(), index.into(), "dependsOn".into()];
        findings.add(&at, "steps that wait for each other".to_owned(), "no circle of steps", None);
    }
    findings.all
}

/// The first step that cannot begin, however long one waits.
fn circle(spec: &WorkflowSpec) -> Option<usize> {
    let all: BTreeMap<&AgentName, _> = spec.steps.iter().map(|step| (&step.name, &step.depends_on)).collect();
    let mut done: BTreeSet<&AgentName> = BTreeSet::new();
    loop {
        let is_free = |needs: &BTreeSet<AgentName>| {
            needs.iter().all(|other| done.contains(other) || !all.contains_key(other))
        };
        let next: Vec<_> = all
            .iter()
            .filter(|(name, needs)| !done.contains(*name) && is_free(needs))
            .map(|(name, _)| *name)
            .collect();
        if next.is_empty() {
            return spec.steps.iter().position(|step| !done.contains(&step.name));
        }
        done.extend(next);
    }
}
