//! Rules among the manifests of one set: names and dependencies.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::AgentName;

use crate::{
    Manifest,
    problem::{Place, Problem, Step},
    relations::locate,
    tree::Node,
};

/// Most names of a circle that a message tells.
const CYCLE_NAMES_MAX: usize = 10;

/// A document that could be read as YAML, whatever else is wrong with it.
pub(crate) struct Read<'a> {
    pub(crate) file: &'a str,
    pub(crate) node: Node,
    pub(crate) manifest: Option<Manifest>,
}

impl Read<'_> {
    fn name_path() -> [Step; 2] {
        ["metadata".into(), "name".into()]
    }

    fn name(&self) -> Option<(AgentName, Place)> {
        let text = self.node.get("metadata")?.get("name")?.text()?;
        Some((text.parse().ok()?, locate(&self.node, &Self::name_path())))
    }

    fn problem(&self, path: &[Step], found: String, expected: &str, hint: Option<String>) -> Problem {
        let place = locate(&self.node, path);
        let field = crate::problem::field(path);
        crate::problem::Finding { place, field, found, expected: expected.to_owned(), hint }
            .in_file(self.file)
    }
}

/// Finds what is wrong among the documents of a set.
pub(crate) fn check(documents: &[Read<'_>]) -> Vec<Problem> {
    let mut problems = repeated_names(documents);
    problems.extend(cycles(documents));
    problems
}

fn repeated_names(documents: &[Read<'_>]) -> Vec<Problem> {
    let mut first: BTreeMap<AgentName, (&str, Place)> = BTreeMap::new();
    let mut problems = Vec::new();
    for document in documents {
        let Some((name, place)) = document.name() else { continue };
        if let Some((file, place)) = first.get(&name) {
            let found = format!("`{name}` a second time");
            let hint = format!("first at {file}:{}:{}", place.line, place.column);
            problems.push(document.problem(&Read::name_path(), found, "each agent's name once", Some(hint)));
        } else {
            first.insert(name, (document.file, place));
        }
    }
    problems
}

/// Finds agents that wait for each other. A dependency outside the set is the node's to check.
fn cycles(documents: &[Read<'_>]) -> Vec<Problem> {
    let mut waiting: BTreeMap<&AgentName, (&Read<'_>, BTreeSet<&AgentName>)> = BTreeMap::new();
    for document in documents {
        if let Some(manifest) = &document.manifest {
            let name = &manifest.metadata.name;
            // An agent that depends on itself is a problem of its own manifest.
            let others = manifest.spec.depends_on.iter().filter(|other| *other != name).collect();
            waiting.entry(name).or_insert((document, others));
        }
    }
    let mut problems = Vec::new();
    loop {
        retain_waiting(&mut waiting);
        let Some(cycle) = walk_cycle(&waiting) else { return problems };
        let mut names: Vec<&str> = cycle.iter().map(|name| name.as_str()).collect();
        if names.len() > CYCLE_NAMES_MAX {
            // The last name is the first again, so the circle still closes.
            names.splice(CYCLE_NAMES_MAX.saturating_sub(1)..names.len().saturating_sub(1), ["…"]);
        }
        let Some((document, _)) = cycle.first().and_then(|name| waiting.get(name)) else { return problems };
        let found = format!("agents that wait for each other: {}", names.join(" -> "));
        problems.push(document.problem(
            &["spec".into(), "dependsOn".into()],
            found,
            "dependencies without a circle",
            None,
        ));
        for name in cycle {
            waiting.remove(name);
        }
    }
}

/// Starts, as it were, every agent whose dependencies are met, until none is left that could be.
fn retain_waiting<'a>(waiting: &mut BTreeMap<&'a AgentName, (&Read<'_>, BTreeSet<&'a AgentName>)>) {
    loop {
        let names: BTreeSet<&AgentName> = waiting.keys().copied().collect();
        let before = waiting.len();
        waiting.retain(|_, (_, others)| others.iter().any(|other| names.contains(other)));
        if waiting.len() == before {
            return;
        }
    }
}

/// Follows dependencies among agents that all wait for another one, until a name comes again.
fn walk_cycle<'a>(
    waiting: &BTreeMap<&'a AgentName, (&Read<'_>, BTreeSet<&'a AgentName>)>,
) -> Option<Vec<&'a AgentName>> {
    let mut path: Vec<&'a AgentName> = vec![waiting.keys().next()?];
    loop {
        let (_, others) = waiting.get(path.last()?)?;
        let next = *others.iter().find(|other| waiting.contains_key(*other))?;
        if let Some(start) = path.iter().position(|name| *name == next) {
            let mut cycle = path.split_off(start);
            // The circle is told from its first name in order, so that the message does not depend on the way there.
            let least = cycle.iter().enumerate().min_by_key(|(_, name)| **name).map_or(0, |(index, _)| index);
            cycle.rotate_left(least);
            let first = *cycle.first()?;
            cycle.push(first);
            return Some(cycle);
        }
        path.push(next);
    }
}
