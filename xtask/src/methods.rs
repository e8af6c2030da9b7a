//! The page of the methods: `spec/methods.md`, made from the catalogue in `wire`, and held to it.
//!
//! Knows how JSON Schemas are told to people. What a method is it deliberately does not know: every word of the page
//! stands in the catalogue or in the types it names.

mod schema;

use std::{collections::BTreeMap, fmt::Write as _, path::Path, process::ExitCode};

use anyhow::Context;
use edgeplane_wire::catalogue::{Audience, METHODS, Method, MethodEffect};
use serde_json::Value;

use crate::workspace;

/// Where the page lies.
const PAGE_PATH: &str = "spec/methods.md";

/// What stands before the methods.
const OPENING: &str = "# Methods

<!-- Made by `cargo xtask methods` from crates/wire/src/catalogue.rs. A change of this file is lost. -->

Every verb of every client is one of these methods: one JSON-RPC 2.0 request, one object a line, over the node's socket \
or an epoch's own. Parameters that are not in the list of a method are refused. Each method may also fail with \
`invalid_params`, `permission_denied`, `unavailable`, `internal` and the other [errors](errors/README.md) that belong to \
no method; with a [context](calls.md) also with `not_found` for what it names, `cancelled` and `deadline_exceeded`; under \
a key with `idempotency_mismatch`, `outcome_unknown`, and `conflict` where the first result was not kept. The result of \
a request that came with a context has one more field, `meta` (`request_id`, `as_of_seq`, `trace_id`, `replayed`). `edgeplane describe-api -o json` gives the same as JSON Schemas.

A read changes nothing. Where an agent may call a method for itself, that is its own memory, inbox, screen and recording.
";

/// Writes the page, or with `--check` tells whether it is what it would be.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<ExitCode> {
    let path = root.join(PAGE_PATH);
    let page = page(METHODS)?;
    match arguments {
        [] => {
            edgeplane_os::atomic::write_atomic(&path, page.as_bytes(), 0o644)
                .with_context(|| format!("cannot write {PAGE_PATH}"))?;
            println!("methods: wrote {PAGE_PATH}");
            Ok(ExitCode::SUCCESS)
        }
        [check] if check == "--check" => {
            // A page that is not there is one that says nothing.
            let found = if path.exists() { workspace::read(&path)? } else { String::new() };
            let Some(line) = first_difference(&found, &page) else {
                println!("methods: no problems");
                return Ok(ExitCode::SUCCESS);
            };
            println!("{PAGE_PATH}:{line}: not what the catalogue says; run `cargo xtask methods`");
            Ok(ExitCode::FAILURE)
        }
        _ => anyhow::bail!("`methods` takes `--check` or nothing"),
    }
}

/// The first line, from 1, in which two texts differ.
fn first_difference(found: &str, expected: &str) -> Option<usize> {
    if found == expected {
        return None;
    }
    let same = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    Some(same.saturating_add(1))
}

/// The whole page.
fn page(methods: &[Method]) -> anyhow::Result<String> {
    let mut page = OPENING.to_owned();
    let mut types = BTreeMap::new();
    page.push_str("\n| method | kind | who may call it | |\n|---|---|---|---|\n");
    for method in methods {
        let name = method.name;
        let row = format!(
            "| [{name}](#{}) | {} | {} | {} |",
            anchor(name),
            kind(method),
            audience(method),
            method.summary.trim()
        );
        writeln!(page, "{row}")?;
    }
    for method in methods {
        write_method(&mut page, method)?;
        collect(&mut types, method.params_schema())?;
        collect(&mut types, method.result_schema())?;
    }
    page.push_str("\n## Types\n");
    for (name, schema) in &types {
        write!(page, "\n### {name}\n\n{}", schema::definition(schema))?;
    }
    Ok(page)
}

fn write_method(page: &mut String, method: &Method) -> anyhow::Result<()> {
    let errors: Vec<String> =
        method.errors.iter().map(|error| format!("[{0}](errors/{0}.md)", error.as_str())).collect();
    let errors = if errors.is_empty() { "none of its own".to_owned() } else { errors.join(", ") };
    write!(
        page,
        "\n## {}\n\n{}\n\n- kind: {}\n- who: {}\n- since: {}\n- errors: {errors}\n",
        method.name,
        method.summary.trim(),
        kind(method),
        audience(method),
        method.since,
    )?;
    write!(page, "\nParameters:{}", schema::fields(&method.params_schema()))?;
    write!(page, "\nResult:{}", schema::fields(&method.result_schema()))?;
    Ok(())
}

/// Adds the types that a schema names. One name is one type on the whole page.
fn collect(types: &mut BTreeMap<String, Value>, mut schema: Value) -> anyhow::Result<()> {
    let Some(Value::Object(found)) = schema.get_mut("$defs").map(Value::take) else { return Ok(()) };
    for (name, definition) in found {
        if let Some(known) = types.insert(name.clone(), definition.clone()) {
            anyhow::ensure!(known == definition, "two types of the catalogue are called `{name}`");
        }
    }
    Ok(())
}

fn kind(method: &Method) -> &'static str {
    match method.effect {
        MethodEffect::Read => "read",
        MethodEffect::Write => "write",
    }
}

fn audience(method: &Method) -> &'static str {
    match method.audience {
        Audience::Anyone => "anyone",
        Audience::OwnerOrOperator => "operators, an agent for itself",
        Audience::Governed => {
            "whom the rules let (`supervise`, `attach`, `control`); the shipped ones: operators"
        }
        Audience::Operator => "operators",
    }
}

/// What a heading of these words is called in a link.
fn anchor(heading: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    heading.to_lowercase().chars().filter(|c| kept(*c)).collect()
}

#[cfg(test)]
#[path = "methods/tests.rs"]
mod tests;
