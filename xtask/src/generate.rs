//! What is made from the catalogue in `wire`, checked in, and held to it: pages, OpenAPI, schemas and clients.
//!
//! Owns which files there are, and how one that says something else is found. What a method is it deliberately does not
//! know: every word of these files stands in the catalogue or in the types it names.

mod bundle;
mod later;
mod model;
mod openapi;
mod page;
mod python;
mod schema;
mod typescript;

use std::{path::Path, process::ExitCode};

use anyhow::Context;
use edgeplane_wire::catalogue::{METHODS, later::LATER, notices::NOTICES};

use crate::workspace;
use model::Model;

/// A file that is made, relative to the root of the workspace.
#[derive(Debug)]
struct Output {
    path: &'static str,
    text: String,
}

/// Every file.
fn outputs() -> anyhow::Result<Vec<Output>> {
    let model = Model::new(METHODS, NOTICES)?;
    let output = |path, text| Output { path, text };
    Ok(vec![
        output("spec/methods.md", page::page(METHODS)?),
        output("spec/not-served.md", later::page(LATER)),
        output("spec/openapi.json", openapi::document(&model, LATER)?),
        output("spec/schemas/edgeplane.schema.json", bundle::bundle(&model)?),
        output("clients/python/src/edgeplane/types.py", python::types(&model)?),
        output("clients/python/src/edgeplane/methods.py", python::methods(&model)?),
        output("clients/python/src/edgeplane/names.py", python::names(&model)?),
        output("clients/typescript/src/types.ts", typescript::types(&model)?),
        output("clients/typescript/src/methods.ts", typescript::methods(&model)?),
    ])
}

/// Writes the files, or with `--check` tells whether they are what they would be.
pub(crate) fn run(root: &Path, arguments: &[String]) -> anyhow::Result<ExitCode> {
    let outputs = outputs()?;
    match arguments {
        [] => write(root, &outputs),
        [check] if check == "--check" => check_all(root, &outputs),
        _ => anyhow::bail!("`generate` takes `--check` or nothing"),
    }
}

fn write(root: &Path, outputs: &[Output]) -> anyhow::Result<ExitCode> {
    let mut written = 0_u32;
    for Output { path, text } in outputs {
        let file = root.join(path);
        if found(&file)? == *text {
            continue;
        }
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        edgeplane_os::atomic::write_atomic(&file, text.as_bytes(), 0o644)
            .with_context(|| format!("cannot write {path}"))?;
        println!("generate: wrote {path}");
        written = written.saturating_add(1);
    }
    if written == 0 {
        println!("generate: nothing to write");
    }
    Ok(ExitCode::SUCCESS)
}

fn check_all(root: &Path, outputs: &[Output]) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for Output { path, text } in outputs {
        if let Some(line) = first_difference(&found(&root.join(path))?, text) {
            println!("{path}:{line}: not what the catalogue says; run `cargo xtask generate`");
            code = ExitCode::FAILURE;
        }
    }
    if code == ExitCode::SUCCESS {
        println!("generate: no problems");
    }
    Ok(code)
}

/// A file's text. One that is not there says nothing.
fn found(path: &Path) -> anyhow::Result<String> {
    if path.exists() { workspace::read(path) } else { Ok(String::new()) }
}

/// The first line, from 1, in which two texts differ.
fn first_difference(found: &str, expected: &str) -> Option<usize> {
    if found == expected {
        return None;
    }
    let same = found.lines().zip(expected.lines()).take_while(|(a, b)| a == b).count();
    Some(same.saturating_add(1))
}

/// A JSON document as a file: indented, in the order of its fields, with an end of line.
fn pretty(value: &serde_json::Value) -> anyhow::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

#[cfg(test)]
mod tests;
