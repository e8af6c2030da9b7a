//! Agents as their manifests tell of them: no daemon is asked, nothing is started or installed.
//!
//! Owns the looking at this machine for what a manifest needs. What is needed, and what follows from what is found, is
//! the manifest crate's.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    os::unix::fs::PermissionsExt,
    path::Path,
};

use edgeplane_manifest::{
    Description, FilePath, Found, Manifest, Need, Presence, Problem, Readiness, prepared_paths, requirements,
};
use edgeplane_types::{AgentName, ErrorName};
use serde_json::json;

use super::Outcome;
use crate::{
    command::apply,
    context::Context,
    environment::Environment,
    failure::Failure,
    output::{Color, Format, Output, paint},
    table::{Table, cell},
};

/// What was read of a file or folder of manifests.
struct Shelf {
    descriptions: Vec<Description>,
    problems: Vec<Problem>,
}

pub(crate) fn list(
    path: &Path,
    labels: &BTreeMap<String, String>,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let mut shelf = read(path, &context.env)?;
    shelf.descriptions.retain(|agent| {
        let has = |name: &String, value: &String| {
            agent.metadata.labels.iter().any(|(key, held)| key.as_str() == name && held.as_str() == value)
        };
        labels.iter().all(|(name, value)| has(name, value))
    });
    if context.out.format() == Format::Table {
        let mut table = Table::new(&["NAME", "DRIVER", "SKILLS", "STATE", "READY", "MISSING", "DESCRIPTION"]);
        for agent in &shelf.descriptions {
            table.row(row(agent));
        }
        if !table.is_empty() {
            context.out.table(&table)?;
        }
    } else {
        context.out.value(&json!({ "items": shelf.descriptions }))?;
    }
    refuse(shelf.problems)?;
    Ok(Outcome::Done)
}

pub(crate) fn describe(path: &Path, name: Option<&str>, context: &mut Context) -> anyhow::Result<Outcome> {
    let shelf = read(path, &context.env)?;
    refuse(shelf.problems)?;
    let names: Vec<_> = shelf.descriptions.iter().map(|agent| agent.metadata.name.to_string()).collect();
    let wanted: Vec<_> = shelf
        .descriptions
        .into_iter()
        .filter(|agent| name.is_none_or(|name| agent.metadata.name.as_str() == name))
        .collect();
    if let (Some(name), true) = (name, wanted.is_empty()) {
        let failure =
            Failure::new(ErrorName::NotFound, format!("no manifest of `{name}` in `{}`", path.display()));
        return Err(failure.hint(format!("there are: {}", names.join(", "))).into());
    }
    match (context.out.format(), wanted.as_slice()) {
        (Format::Table, all) => {
            for (index, agent) in all.iter().enumerate() {
                if index > 0 {
                    context.out.line("")?;
                }
                print(&mut context.out, agent)?;
            }
        }
        (_, [one]) => context.out.value(one)?,
        (_, several) => context.out.value(&json!({ "items": several }))?,
    }
    Ok(Outcome::Done)
}

fn refuse(problems: Vec<Problem>) -> anyhow::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} wrong in the manifests",
        if problems.len() == 1 { "one thing is" } else { "some things are" }
    );
    let violations = problems.into_iter().map(|problem| {
        json!({ "file": problem.file, "line": problem.line, "column": problem.column, "field": problem.field,
            "found": problem.found, "expected": problem.expected, "hint": problem.hint })
    });
    Err(Failure::new(ErrorName::InvalidManifest, message).violations(violations.collect()).into())
}

/// Reads every file by itself, so that one that is wrong does not hide the others.
fn read(path: &Path, env: &Environment) -> anyhow::Result<Shelf> {
    let mut manifests = Vec::new();
    let mut problems = Vec::new();
    for document in apply::documents(&[path.to_owned()])? {
        match edgeplane_manifest::parse(&document.file, &document.text) {
            Ok(found) => {
                let folder = document.folder.parse::<FilePath>().ok();
                let resolved = |manifest: Manifest| {
                    folder.as_ref().and_then(|folder| manifest.resolved_from(folder).ok()).unwrap_or(manifest)
                };
                manifests.extend(found.into_iter().map(resolved));
            }
            Err(found) => problems.extend(found),
        }
    }
    let names: BTreeSet<AgentName> =
        manifests.iter().map(|manifest| manifest.metadata.name.clone()).collect();
    let describe = |manifest: &Manifest| edgeplane_manifest::describe(manifest, &look(manifest, &names, env));
    Ok(Shelf { descriptions: manifests.iter().map(describe).collect(), problems })
}

/// What a manifest needs and this machine does not have: what it is, whether nothing works without it, what it is for.
pub(super) fn missing(manifest: &Manifest, env: &Environment) -> Vec<(String, bool, Option<String>)> {
    let description = edgeplane_manifest::describe(manifest, &look(manifest, &BTreeSet::new(), env));
    let absent = description.configuration.into_iter().filter(|item| item.presence == Presence::Missing);
    absent
        .map(|item| {
            (need_text(&item.requirement.need), item.requirement.required, item.requirement.description)
        })
        .collect()
}

/// Looks for everything that a manifest needs and this machine can show.
fn look(manifest: &Manifest, names: &BTreeSet<AgentName>, env: &Environment) -> Found {
    let mut found = Found::nothing();
    let needs = requirements(manifest).into_iter().map(|requirement| requirement.need);
    for need in needs.chain(prepared_paths(manifest).into_iter().map(|(_step, need)| need)) {
        let presence = match &need {
            Need::Executable(program) => program_presence(program, env),
            Need::Variable(name) => known(env.get(name.as_str()).is_some()),
            // That it can be opened is all that is asked; nothing is read.
            Need::SecretFile(path) => path_presence(path.as_str(), |path| File::open(path).is_ok()),
            Need::Path(path) => path_presence(path.as_str(), Path::exists),
            Need::Agent(name) if names.contains(name) => Presence::Present,
            Need::Agent(_) | Need::Model(_) | Need::McpServer(_) | Need::Service(_) => Presence::Unknown,
        };
        found.note(need, presence);
    }
    found
}

fn known(is_there: bool) -> Presence {
    if is_there { Presence::Present } else { Presence::Missing }
}

/// What is still relative lies in an artifact that is not unpacked here.
fn path_presence(path: &str, is_there: impl Fn(&Path) -> bool) -> Presence {
    if path.starts_with('/') { known(is_there(Path::new(path))) } else { Presence::Unknown }
}

fn program_presence(program: &str, env: &Environment) -> Presence {
    if program.contains('/') {
        return path_presence(program, is_executable);
    }
    let search = env.get("PATH").unwrap_or_default();
    known(
        std::env::split_paths(&search)
            .filter(|dir| dir.is_absolute())
            .any(|dir| is_executable(&dir.join(program))),
    )
}

/// Whether there is a file that somebody may run.
pub(crate) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn readiness(agent: &Description) -> String {
    match agent.readiness {
        Readiness::Ready => paint(Color::Green, "yes"),
        Readiness::NeedsInstall => paint(Color::Yellow, "needs install"),
        Readiness::Incomplete => paint(Color::Red, "incomplete"),
    }
}

fn need_text(need: &Need) -> String {
    match need {
        Need::Executable(name) => format!("program {name}"),
        Need::Variable(name) => format!("variable {name}"),
        Need::SecretFile(path) => format!("secret file {path}"),
        Need::Path(path) => format!("path {path}"),
        Need::Agent(name) => format!("agent {name}"),
        Need::Model(name) => format!("model {name}"),
        Need::McpServer(name) => format!("MCP server {name}"),
        Need::Service(name) => format!("service {name}"),
    }
}

fn driver(agent: &Description) -> String {
    let value = serde_json::to_value(&agent.driver).unwrap_or_default();
    value.get("type").and_then(|kind| kind.as_str()).unwrap_or_default().to_owned()
}

fn row(agent: &Description) -> [String; 7] {
    let skills: Vec<_> = agent.skills.iter().map(|skill| skill.id.to_string()).collect();
    let missing: Vec<_> = agent.missing().map(|requirement| need_text(&requirement.need)).collect();
    [
        agent.metadata.name.to_string(),
        cell(driver(agent)),
        cell(skills.join(", ")),
        super::word(agent.state),
        readiness(agent),
        cell(missing.join(", ")),
        crate::text::excerpt(agent.metadata.description.as_deref().unwrap_or_default(), 60),
    ]
}

fn print(out: &mut Output, agent: &Description) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let metadata = &agent.metadata;
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            table.row([name.to_owned(), value]);
        }
    };
    let optional = |value: &Option<String>| cell(value.as_deref().unwrap_or_default());
    row("name", metadata.name.to_string());
    row("description", optional(&metadata.description));
    row("version", optional(&metadata.version));
    row("author", optional(&metadata.author));
    row("license", optional(&metadata.license));
    row("driver", cell(driver(agent)));
    row("command", cell(agent.command.join(" ")));
    row("state", super::word(agent.state));
    row(
        "gains rights",
        if agent.no_new_privs { "never (no_new_privs)" } else { "may, by setuid programs" }.to_owned(),
    );
    for skill in &agent.skills {
        row("skill", cell(format!("{}: {}", skill.id, skill.description.as_deref().unwrap_or_default())));
    }
    for (kind, ports) in [("input", &agent.inputs), ("output", &agent.outputs)] {
        for port in ports {
            let required = if port.required { "" } else { " (optional)" };
            row(
                kind,
                cell(format!("{}{required}: {}", port.name, port.description.as_deref().unwrap_or_default())),
            );
        }
    }
    row("depends on", agent.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    for schedule in &agent.schedules {
        row("schedule", cell(format!("{}: {}", schedule.name, schedule.body.timing.when())));
    }
    row("ready", readiness(agent));
    out.table(&table)?;
    configuration(out, agent)
}

fn configuration(out: &mut Output, agent: &Description) -> anyhow::Result<()> {
    if agent.configuration.is_empty() && agent.prepare.is_empty() {
        return Ok(());
    }
    let presence = |presence: Presence, is_bad: bool| match presence {
        Presence::Present => paint(Color::Green, "present"),
        Presence::Missing if is_bad => paint(Color::Red, "missing"),
        Presence::Missing => paint(Color::Yellow, "missing"),
        Presence::Unknown => paint(Color::Dim, "unknown"),
    };
    out.line("")?;
    let mut table = Table::new(&["NEEDS", "HERE", "REQUIRED", "FIELD", "FOR"]);
    for item in &agent.configuration {
        let requirement = &item.requirement;
        let required = match (requirement.required, requirement.prepared) {
            (true, false) => "yes",
            (true, true) => "after install",
            (false, _) => "no",
        };
        let is_bad = requirement.required && !requirement.prepared;
        table.row([
            cell(need_text(&requirement.need)),
            presence(item.presence, is_bad),
            required.to_owned(),
            cell(&requirement.field),
            cell(requirement.description.as_deref().unwrap_or_default()),
        ]);
    }
    for (index, step) in agent.prepare.iter().enumerate() {
        let name = cell(format!("preparation {}", step.step.name()));
        let field = format!("spec.prepare[{index}]");
        table.row([name, presence(step.done, false), "by install".to_owned(), field, String::new()]);
    }
    Ok(out.table(&table)?)
}
