//! From text to manifests: all of them, or everything that is wrong with them.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    AutomationManifest, ConnectorManifest, Manifest, ScheduleManifest, WorkflowManifest, documents,
    problem::{Finding, Place, Problem},
    relations,
    set::{self, Declared, Read},
    shape,
    tree::{self, Node},
};

/// Largest file of manifests, in bytes. Beyond it the file is refused unread.
pub const FILE_BYTES_MAX: usize = 1 << 20;

/// Most documents in one file. Beyond it the file is refused.
pub const DOCUMENTS_MAX: usize = 1_000;

/// Most problems that are reported of one file; the rest is only counted.
pub const PROBLEMS_MAX: usize = 1_000;

/// A file of manifests as the caller read it.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Its name, for messages only.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// A manifest and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T = Manifest> {
    /// The name of its file.
    pub file: String,
    /// The line of the file at which it begins, from 1.
    pub line: u32,
    /// The manifest.
    pub manifest: T,
}

/// What several files declare together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// The agents, in the order of the files and their text. Each has its own schedules in its manifest.
    pub agents: Vec<Sourced>,
    /// The schedules in documents of their own, in the same order.
    pub schedules: Vec<Sourced<ScheduleManifest>>,
    /// The connectors, in the same order.
    pub connectors: Vec<Sourced<ConnectorManifest>>,
    /// The automations, in the same order.
    pub automations: Vec<Sourced<AutomationManifest>>,
    /// The workflows, in the same order.
    pub workflows: Vec<Sourced<WorkflowManifest>>,
}

/// Reads the agents of one file. Its schedules are checked too, and left aside.
///
/// # Errors
///
/// Everything that is wrong, in the order of the text. If anything is, nothing is taken.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<Manifest>, Vec<Problem>> {
    let set = parse_set(&[SourceFile { name: file_name, text }])?;
    Ok(set.agents.into_iter().map(|sourced| sourced.manifest).collect())
}

/// Reads the manifests of several files as one set, in which every name occurs once and no dependencies form a
/// circle.
///
/// # Errors
///
/// Everything that is wrong, in the order of the files and their text. If anything is, nothing is taken.
pub fn parse_set(files: &[SourceFile<'_>]) -> Result<Set, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for file in files {
        let mut found = read_file(*file, &mut read);
        if found.len() > PROBLEMS_MAX {
            let rest = found.len().saturating_sub(PROBLEMS_MAX);
            found.truncate(PROBLEMS_MAX);
            let place = found.last().map_or_else(Place::default, |last| last.place);
            found.push(plain(place, format!("{rest} problems more"), "none"));
        }
        problems.extend(found.into_iter().map(|finding| finding.in_file(file.name)));
    }
    problems.extend(set::check(&read));
    if !problems.is_empty() {
        let order = |problem: &Problem| files.iter().position(|file| file.name == problem.file);
        problems.sort_by_cached_key(|problem| (order(problem), problem.line, problem.column));
        return Err(problems);
    }
    let mut set = Set {
        agents: Vec::new(),
        schedules: Vec::new(),
        connectors: Vec::new(),
        automations: Vec::new(),
        workflows: Vec::new(),
    };
    for Read { file, node, declared } in read {
        let (file, line) = (file.to_owned(), node.place.line);
        match declared {
            Some(Declared::Agent(manifest)) => set.agents.push(Sourced { file, line, manifest: *manifest }),
            Some(Declared::Schedule(manifest)) => {
                set.schedules.push(Sourced { file, line, manifest: *manifest });
            }
            Some(Declared::Connector(manifest)) => {
                set.connectors.push(Sourced { file, line, manifest: *manifest });
            }
            Some(Declared::Automation(manifest)) => {
                set.automations.push(Sourced { file, line, manifest: *manifest });
            }
            Some(Declared::Workflow(manifest)) => {
                set.workflows.push(Sourced { file, line, manifest: *manifest });
            }
            None => {}
        }
    }
    Ok(set)
}

fn read_file<'a>(file: SourceFile<'a>, read: &mut Vec<Read<'a>>) -> Vec<Finding> {
    let start = Place { line: 1, column: 1 };
    let SourceFile { name, text } = file;
    if text.len() > FILE_BYTES_MAX {
        let found = format!("{} bytes", text.len());
        return vec![plain(start, found, &format!("at most {FILE_BYTES_MAX} bytes in a file"))];
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let documents: Vec<_> =
        documents::divide(text).into_iter().filter(|document| document.has_content).collect();
    if documents.is_empty() {
        return vec![plain(start, "no document".to_owned(), "at least one manifest")];
    }
    if documents.len() > DOCUMENTS_MAX {
        let found = format!("{} documents", documents.len());
        return vec![plain(start, found, &format!("at most {DOCUMENTS_MAX} documents in a file"))];
    }
    let mut findings = Vec::new();
    for document in documents {
        match tree::read(document.text, document.line_offset) {
            Err(finding) => findings.push(finding),
            Ok(node) => {
                let declared = match read_node(&node) {
                    Ok(declared) => Some(declared),
                    Err(found) => {
                        findings.extend(found);
                        None
                    }
                };
                read.push(Read { file: name, node, declared });
            }
        }
    }
    findings
}

fn read_node(node: &Node) -> Result<Declared, Vec<Finding>> {
    let value = shape::check(node)?;
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (declared, findings) = match kind.as_str() {
        "Schedule" => {
            let manifest: ScheduleManifest = typed(value, node)?;
            let findings = relations::check_schedule(&manifest, node);
            (Declared::Schedule(Box::new(manifest)), findings)
        }
        "Connector" => {
            let manifest: ConnectorManifest = typed(value, node)?;
            let findings = relations::connector::check(&manifest, node);
            (Declared::Connector(Box::new(manifest)), findings)
        }
        "Automation" => {
            let manifest: AutomationManifest = typed(value, node)?;
            let findings = relations::automation::check(&manifest, node);
            (Declared::Automation(Box::new(manifest)), findings)
        }
        "Workflow" => {
            let manifest: WorkflowManifest = typed(value, node)?;
            let findings = relations::workflow::check(&manifest, node);
            (Declared::Workflow(Box::new(manifest)), findings)
        }
        _ => {
            let manifest: Manifest = typed(value, node)?;
            let findings = relations::check(&manifest, node);
            (Declared::Agent(Box::new(manifest)), findings)
        }
    };
    if findings.is_empty() { Ok(declared) } else { Err(findings) }
}

/// The schema and the reader come from the same types, so this holds unless one of them is defective. A refusal is
/// then still better than a wrong agent.
fn typed<T: DeserializeOwned>(value: Value, node: &Node) -> Result<T, Vec<Finding>> {
    serde_json::from_value(value).map_err(|error| {
        vec![plain(node.place, format!("what the types refuse ({error})"), "what the schema describes")]
    })
}

fn plain(place: Place, found: String, expected: &str) -> Finding {
    Finding { place, field: String::new(), found, expected: expected.to_owned(), hint: None }
}

impl Manifest {
    /// Reads a manifest from JSON, such as its canonical form, by the same rules as from text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong. The problems have fields but no lines.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        from_json(value, "Agent", |declared| match declared {
            Declared::Agent(manifest) => Some(*manifest),
            Declared::Schedule(_)
            | Declared::Connector(_)
            | Declared::Automation(_)
            | Declared::Workflow(_) => None,
        })
    }
}

impl ScheduleManifest {
    /// Reads a schedule from JSON, such as its canonical form, by the same rules as from text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong. The problems have fields but no lines.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        from_json(value, "Schedule", |declared| match declared {
            Declared::Agent(_) | Declared::Connector(_) | Declared::Automation(_) | Declared::Workflow(_) => {
                None
            }
            Declared::Schedule(manifest) => Some(*manifest),
        })
    }
}

impl ConnectorManifest {
    /// Reads a connector from JSON, such as its canonical form, by the same rules as from text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong. The problems have fields but no lines.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        from_json(value, "Connector", |declared| match declared {
            Declared::Agent(_) | Declared::Schedule(_) | Declared::Automation(_) | Declared::Workflow(_) => {
                None
            }
            Declared::Connector(manifest) => Some(*manifest),
        })
    }
}

impl AutomationManifest {
    /// Reads an automation from JSON, such as its canonical form, by the same rules as from text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong. The problems have fields but no lines.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        from_json(value, "Automation", |declared| match declared {
            Declared::Agent(_) | Declared::Schedule(_) | Declared::Connector(_) | Declared::Workflow(_) => {
                None
            }
            Declared::Automation(manifest) => Some(*manifest),
        })
    }
}

impl WorkflowManifest {
    /// Reads a workflow from JSON, such as its canonical form, by the same rules as from text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong. The problems have fields but no lines.
    pub fn from_json(value: &Value) -> Result<Self, Vec<Problem>> {
        from_json(value, "Workflow", |declared| match declared {
            Declared::Agent(_) | Declared::Schedule(_) | Declared::Connector(_) | Declared::Automation(_) => {
                None
            }
            Declared::Workflow(manifest) => Some(*manifest),
        })
    }
}

fn from_json<T>(value: &Value, kind: &str, of_kind: fn(Declared) -> Option<T>) -> Result<T, Vec<Problem>> {
    let node = Node::from_json(value);
    let another = || {
        let found = node.get("kind").map_or_else(|| "nothing".to_owned(), Node::shown);
        vec![Finding { field: "kind".to_owned(), ..plain(Place::default(), found, &format!("`{kind}`")) }]
    };
    let read = read_node(&node).and_then(|declared| of_kind(declared).ok_or_else(another));
    read.map_err(|findings| findings.into_iter().map(|finding| finding.in_file("manifest")).collect())
}
