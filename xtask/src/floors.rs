//! Which crate may import which: holds the manifests of the workspace to the table in `floors.toml`.
//!
//! Sees the dependencies that a crate names itself. What those bring along it deliberately does not follow: a
//! crate is kept pure by what it can call, and it can only call what it names.

mod table;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use crate::problem::Problem;
use crate::workspace;
use table::Table;

/// Where the table lies.
const TABLE_PATH: &str = "floors.toml";

/// What a package's name adds to the crate's name in the table.
const PACKAGE_PREFIX: &str = "edgeplane-";

/// What matters of a dependency's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// In the crate or in its build script.
    Shipped,
    /// In tests, examples and benchmarks only.
    Development,
}

/// A package that a crate names.
#[derive(Debug)]
struct Dependency {
    /// The package, whatever the crate calls it.
    package: String,
    kind: Kind,
    /// The line of the manifest that names it.
    line: usize,
}

/// A crate of the workspace.
#[derive(Debug)]
struct Member {
    /// As in the table.
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

/// Checks the workspace at `root`.
pub(crate) fn check_workspace(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let text = workspace::read(&root.join(TABLE_PATH))?;
    let table = Table::parse(&text).with_context(|| format!("cannot parse {TABLE_PATH}"))?;
    let members = members_from_metadata(root, &cargo_metadata(root)?)?;
    Ok(check(&table, &members))
}

/// Holds `members` to `table`.
fn check(table: &Table, members: &[Member]) -> Vec<Problem> {
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut problems = check_table(table, &names);
    for member in members {
        if table.is_tool(&member.name) {
            continue;
        }
        if table.row(&member.name).is_none() {
            let message = format!(
                "crate `{}` has no row in {TABLE_PATH}; give it a floor and its imports",
                member.name
            );
            problems.push(Problem::new(&member.manifest_path, 1, message));
            continue;
        }
        for dependency in &member.dependencies {
            if let Some(message) = complaint(table, &names, member, dependency) {
                problems.push(Problem::new(&member.manifest_path, dependency.line, message));
            }
        }
        problems.extend(stale_edges(table, member));
    }
    problems
}

/// Finds what is wrong with the table itself: rows without a crate and edges that cannot be.
fn check_table(table: &Table, members: &BTreeSet<&str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut complain = |line, message: String| problems.push(Problem::new(TABLE_PATH, line, message));
    for tool in table.tools() {
        if !members.contains(tool) {
            complain(table.tools_line(), format!("tool `{tool}` does not exist"));
        }
    }
    for row in table.rows() {
        let (name, line) = (&row.name, row.line);
        match (members.contains(name.as_str()), row.later) {
            (false, false) => {
                complain(
                    line,
                    format!("crate `{name}` does not exist; remove its row or say `later = true`"),
                );
            }
            (true, true) => complain(line, format!("crate `{name}` exists; remove its `later = true`")),
            (true, false) | (false, true) => {}
        }
        for import in row.imports.iter().chain(&row.imports_later) {
            match table.row(import) {
                None => complain(line, format!("crate `{name}` imports `{import}`, which has no row")),
                Some(target) if target.floor > row.floor => complain(
                    line,
                    format!(
                        "crate `{name}` on floor {} must not list `{import}` on floor {}: imports point down",
                        row.floor, target.floor
                    ),
                ),
                Some(_) => {}
            }
        }
    }
    problems
}

/// Says what is wrong with one dependency, if anything is.
fn complaint(
    table: &Table,
    members: &BTreeSet<&str>,
    member: &Member,
    dependency: &Dependency,
) -> Option<String> {
    let row = table.row(&member.name)?;
    let name = &member.name;
    let target = crate_name(&dependency.package);
    if !members.contains(target) {
        let reason = table.ban(row, &dependency.package)?;
        return (dependency.kind == Kind::Shipped)
            .then(|| format!("`{name}` must not depend on `{}`: {reason}", dependency.package));
    }
    if table.is_tool(target) {
        return (dependency.kind == Kind::Shipped).then(|| {
            format!("`{name}` must not import the tool `{target}`; only `[dev-dependencies]` may name it")
        });
    }
    // A crate without a row is reported by itself.
    let target_row = table.row(target)?;
    if target_row.floor > row.floor {
        return Some(format!(
            "`{name}` on floor {} imports `{target}` on floor {}: imports point down; it may import {}",
            row.floor,
            target_row.floor,
            list(&row.imports)
        ));
    }
    let listed = row.imports.iter().chain(&row.imports_later).any(|import| import == target);
    if dependency.kind == Kind::Shipped && !listed {
        return Some(format!(
            "`{name}` imports `{target}`, which its row in {TABLE_PATH} does not list; it may import {}",
            list(&row.imports)
        ));
    }
    None
}

/// Finds the edges that the table lists and the crate does not have, and those that came before their time.
fn stale_edges(table: &Table, member: &Member) -> Vec<Problem> {
    let Some(row) = table.row(&member.name) else { return Vec::new() };
    let used: BTreeSet<&str> = member
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == Kind::Shipped)
        .map(|dependency| crate_name(&dependency.package))
        .collect();
    let unused = row.imports.iter().filter(|import| !used.contains(import.as_str())).map(|import| {
        format!(
            "`{}` no longer imports `{import}`; remove it from `imports` or move it to `imports_later`",
            row.name
        )
    });
    let arrived = row.imports_later.iter().filter(|import| used.contains(import.as_str())).map(|import| {
        format!("`{}` now imports `{import}`; move it from `imports_later` to `imports`", row.name)
    });
    unused.chain(arrived).map(|message| Problem::new(TABLE_PATH, row.line, message)).collect()
}

fn crate_name(package: &str) -> &str {
    package.strip_prefix(PACKAGE_PREFIX).unwrap_or(package)
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing of the workspace".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The part of cargo's own description of the workspace that is read here.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

#[derive(Debug, Deserialize)]
struct MetadataPackage {
    name: String,
    manifest_path: String,
    dependencies: Vec<MetadataDependency>,
}

#[derive(Debug, Deserialize)]
struct MetadataDependency {
    name: String,
    rename: Option<String>,
    kind: Option<String>,
}

/// Lets cargo resolve inheritance, renames and platform sections; nothing is downloaded.
fn cargo_metadata(root: &Path) -> anyhow::Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = std::process::Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot start `cargo metadata`")?;
    anyhow::ensure!(
        output.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).context("`cargo metadata` did not print text")
}

fn members_from_metadata(root: &Path, json: &str) -> anyhow::Result<Vec<Member>> {
    let metadata: Metadata =
        serde_json::from_str(json).context("cannot parse what `cargo metadata` printed")?;
    let mut members = Vec::new();
    for package in metadata.packages {
        let path = Path::new(&package.manifest_path);
        let manifest = workspace::read(path)?;
        let dependencies = package.dependencies.into_iter().map(|dependency| Dependency {
            line: line_naming(&manifest, dependency.rename.as_deref().unwrap_or(&dependency.name)),
            kind: if dependency.kind.as_deref() == Some("dev") { Kind::Development } else { Kind::Shipped },
            package: dependency.name,
        });
        members.push(Member {
            name: crate_name(&package.name).to_owned(),
            manifest_path: workspace::relative(root, path)?,
            dependencies: dependencies.collect(),
        });
    }
    Ok(members)
}

/// Finds the first line of a manifest that opens an entry called `key`, or else its first line.
fn line_naming(manifest: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=', ']']))
            || line.strip_suffix(']').is_some_and(|header| header.ends_with(&format!("dependencies.{key}")))
    };
    manifest.lines().position(|line| is_key(line.trim())).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests;
