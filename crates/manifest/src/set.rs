//! Rules among the manifests of one set: names and dependencies.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::AgentName;

use crate::{
    AutomationManifest, ConnectorManifest, Manifest, ScheduleManifest, WorkflowManifest,
    problem::{Place, Problem, Step},
    relations::locate,
    tree::{Node, Tree},
};

/// Most names of a circle that a message tells.
const CYCLE_NAMES_MAX: usize = 10;

/// A document that could be read as YAML, whatever else is wrong with it.
pub(crate) struct Read<'a> {
    pub(crate) file: &'a str,
    pub(crate) node: Node,
    pub(crate) declared: Option<Declared>,
}

/// What a document declares.
pub(crate) enum Declared {
    Agent(Box<Manifest>),
    Schedule(Box<ScheduleManifest>),
    Connector(Box<ConnectorManifest>),
    Automation(Box<AutomationManifest>),
    Workflow(Box<WorkflowManifest>),
}

/// What occurs once in a set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Agent(AgentName),
    /// The agent that it is for, and its own name.
    Schedule(AgentName, AgentName),
    Connector(AgentName),
    Automation(AgentName),
    Workflow(AgentName),
}

impl Named {
    fn text(&self) -> &AgentName {
        match self {
            Self::Agent(name)
            | Self::Schedule(_, name)
            | Self::Connector(name)
            | Self::Automation(name)
            | Self::Workflow(name) => name,
        }
    }

    fn expected(&self) -> &'static str {
        match self {
            Self::Agent(_) => "each agent's name once",
            Self::Connector(_) => "each connector's name once",
            Self::Automation(_) => "each automation's name once",
            Self::Workflow(_) => "each workflow's name once",
            Self::Schedule(..) => "each name once among the schedules of an agent",
        }
    }
}

impl Read<'_> {
    /// The names that the document gives, with where they stand.
    fn names(&self) -> Vec<(Named, Vec<Step>)> {
        let parsed = |node: Option<&Node>| node.and_then(Node::text)?.parse::<AgentName>().ok();
        let Some(own) = parsed(self.node.get("metadata").and_then(|metadata| metadata.get("name"))) else {
            return Vec::new();
        };
        let path: Vec<Step> = vec!["metadata".into(), "name".into()];
        let spec = self.node.get("spec");
        match self.node.get("kind").and_then(Node::text) {
            Some("Connector") => return vec![(Named::Connector(own), path)],
            Some("Automation") => return vec![(Named::Automation(own), path)],
            Some("Workflow") => return vec![(Named::Workflow(own), path)],
            _ => {}
        }
        if self.node.get("kind").and_then(Node::text) == Some("Schedule") {
            let agent = parsed(spec.and_then(|spec| spec.get("agent")));
            return agent.map(|agent| (Named::Schedule(agent, own), path)).into_iter().collect();
        }
        let inline = match spec.and_then(|spec| spec.get("schedules")).map(|node| &node.value) {
            Some(Tree::List(items)) => items.as_slice(),
            _ => &[],
        };
        let schedules = inline.iter().enumerate().filter_map(|(index, schedule)| {
            let path = vec!["spec".into(), "schedules".into(), index.into(), "name".into()];
            Some((Named::Schedule(own.clone(), parsed(schedule.get("name"))?), path))
        });
        let mut names: Vec<_> = schedules.collect();
        names.insert(0, (Named::Agent(own), path));
        names
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
    let mut first: BTreeMap<Named, (usize, Place)> = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        for (name, path) in document.names() {
            let Some((before, place)) = first.get(&name) else {
                first.insert(name, (index, locate(&document.node, &path)));
                continue;
            };
            // Two of one name in one manifest are a problem of its own.
            let Some(other) = documents.get(*before).filter(|_| *before != index) else { continue };
            let found = format!("`{}` a second time", name.text());
            let hint = format!("first at {}:{}:{}", other.file, place.line, place.column);
            problems.push(document.problem(&path, found, name.expected(), Some(hint)));
        }
    }
    problems
}

/// Finds agents that wait for each other. A dependency outside the set is the node's to check.
fn cycles(documents: &[Read<'_>]) -> Vec<Problem> {
    let mut waiting: BTreeMap<&AgentName, (&Read<'_>, BTreeSet<&AgentName>)> = BTreeMap::new();
    for document in documents {
        if let Some(Declared::Agent(manifest)) = &document.declared {
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
